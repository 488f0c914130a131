"""Scan: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/scan.py``.
"""

import pytest

from emulator import Emulator
from emulator.operations.scan import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    CAPACITY_ENUM,
    EMPTY_KEY,
    INVALID,
    MISFIT,
    MIXED,
    NAME_PATTERN,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    OF_VALUES,
    SELECT_ENUM,
    START,
    compare,
    constraint,
    detected,
    filled,
    put,
    wire,
)
from tests.operations.ladders import (
    answer,
    expression_steps,
    ladder,
    members_step,
    misjudged,
    placeholder_steps,
    step,
    table_name_steps,
    unused_steps,
)
from tests.tables import table

VALID = {"TableName": "indexed"}

# Shape


def test_the_members_are_those_of_the_service():
    """SCN-4."""
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "TableName",
        "Select",
        "Limit",
        "ConditionalOperator",
        "Segment",
        "TotalSegments",
        "IndexName",
        "AttributesToGet",
        "ScanFilter",
        "ConsistentRead",
        "ExclusiveStartKey",
        "ProjectionExpression",
        "FilterExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Limit": "5"}, "STRING_VALUE cannot be converted to Integer"),
        ({"Segment": True}, "TRUE_VALUE cannot be converted to Integer"),
        ({"ScanFilter": "a"}, "Unexpected field type"),
        ({"ConsistentRead": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, ORD-1."""
    request = {"TableName": "", "ReturnConsumedCapacity": "X", **members}
    assert answer("Scan", request) == ("SerializationException", message)


@pytest.mark.parametrize(
    ("members", "value", "path", "rule"),
    [
        ({"Segment": 1_000_000}, 1_000_000, "segment", "less than or equal to 999999"),
        ({"TotalSegments": 1_000_001}, 1_000_001, "totalSegments", "less than or equal to 1000000"),
        ({"Limit": 0}, 0, "limit", "greater than or equal to 1"),
    ],
)
def test_numbers_have_bounds(members, value, path, rule):
    """SCN-2, ERR-SCAN-5, QRY-3."""
    assert answer("Scan", {**VALID, **members}) == (
        "ValidationException",
        detected(constraint(f"'{value}'", path, f"Member must have value {rule}")),
    )


def test_a_table_name_is_required():
    """TBL-5."""
    assert answer("Scan", {}) == (
        "ValidationException",
        detected(constraint("null", "tableName", NOT_NULL)),
    )


# Rules, in the order of ERR-SCAN-1: the older wording, in no envelope (PRO-2)

FILTER = "FilterExpression"
NO_MEMBERS = dict.fromkeys(
    ("ReturnConsumedCapacity", "Select", "Limit", "IndexName", "Segment", "TotalSegments")
)
ORDER = ladder(
    VALID,
    *table_name_steps("ERR-SCAN-1", older=True),
    members_step(
        "ERR-SCAN-1, SEL-1;",
        {
            "TableName": "none",
            "ReturnConsumedCapacity": "X",
            "Select": "X",
            "Limit": 0,
            "Segment": -1,
            "TotalSegments": 0,
            "IndexName": "a!",
        },
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'X'", "select", SELECT_ENUM),
        constraint("'0'", "limit", "Member must have value greater than or equal to 1"),
        constraint("'-1'", "segment", "Member must have value greater than or equal to 0"),
        constraint("'0'", "totalSegments", "Member must have value greater than or equal to 1"),
        constraint("'a!'", "indexName", NAME_PATTERN),
        constraint("'a!'", "indexName", AT_LEAST.format(3)),
    ),
    step(
        "ERR-SCAN-1 legacy and current parameters, LEG-1",
        {
            **NO_MEMBERS,
            "AttributesToGet": ["a", "a"],
            "ScanFilter": {"a": compare("EQ")},
            "ConditionalOperator": "OR",
            "ProjectionExpression": "",
            FILTER: "",
        },
        MIXED
        % (
            "AttributesToGet, ScanFilter, ConditionalOperator",
            "ProjectionExpression, FilterExpression",
        ),
    ),
    *placeholder_steps(
        "ERR-SCAN-1",
        (FILTER, "ProjectionExpression"),
        "",
        make=step,
        values=": FilterExpression is null",
    )[:1],
    step(
        "ERR-SCAN-1 values beside a projection alone, PLH-5, ERR-EXP-22",
        {
            "AttributesToGet": None,
            "ScanFilter": None,
            "ConditionalOperator": None,
            FILTER: None,
            "ProjectionExpression": "",
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": wire({":v": 1}),
        },
        "ExpressionAttributeValues can only be specified when using expressions: "
        "FilterExpression is null",
    ),
    *placeholder_steps("ERR-SCAN-1", (FILTER, "ProjectionExpression"), "", make=step, values="")[
        2:
    ],
    step(
        "ERR-SCAN-1 a value of the start key, ESK-3",
        {
            "ExclusiveStartKey": {"pk": {"NULL": False}},
            FILTER: "",
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        START + ": " + INVALID + "Null attribute value types must have the value of true",
    ),
    step(
        "ERR-SCAN-1 an expression value, PRO-6, ERR-VAL-2",
        {
            "ExclusiveStartKey": {},
            FILTER: "",
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    *expression_steps("ERR-SCAN-1, ERR-EXP-30", FILTER, step, ProjectionExpression=""),
    step(
        "ERR-SCAN-1 the projection, ERR-EXP-30",
        {
            FILTER: "a = b",
            "ExpressionAttributeValues": None,
            "ProjectionExpression": "a,",
            "Select": "COUNT",
            "Segment": 1,
        },
        'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
    ),
    step(
        "ERR-SCAN-1 a projection of a count, SEL-3",
        {"ProjectionExpression": "a", "Select": "COUNT"},
        "Cannot specify the ProjectionExpression when choosing to get only the Count",
    ),
    step(
        "ERR-SCAN-1 no projection for SPECIFIC_ATTRIBUTES, SEL-2",
        {"ProjectionExpression": None, "Select": "SPECIFIC_ATTRIBUTES"},
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES",
    ),
    step(
        "ERR-SCAN-1 what an index projects, without one, SEL-4",
        {"ProjectionExpression": None, "Select": "ALL_PROJECTED_ATTRIBUTES", "IndexName": None},
        "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
    ),
    # Captures of October 2026 have the segments here, where ERR-SCAN-1 lists them earlier.
    step(
        "ERR-SCAN-2 a segment without its total, SCN-2",
        {"Select": None, "Segment": 1, "TotalSegments": None},
        "The TotalSegments parameter is required but was not present in the request "
        "when Segment parameter is present",
    ),
    step(
        "ERR-SCAN-3 a total without a segment, SCN-2",
        {"Segment": None, "TotalSegments": 1},
        "The Segment parameter is required but was not present in the request "
        "when parameter TotalSegments is present",
    ),
    step(
        "ERR-SCAN-4 a segment beyond its total, SCN-2",
        {"Segment": 2, "TotalSegments": 2},
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
        "Segment: 2 is not less than TotalSegments: 2",
    ),
    *unused_steps("ERR-SCAN-1", FILTER, "a = b", step, Segment=None, TotalSegments=None),
    step(
        "ERR-SCAN-1 no such table, TBL-4",
        {"TableName": "none", "IndexName": "nope", "ExpressionAttributeValues": None},
        NOT_FOUND,
    ),
    step(
        "ERR-SCAN-1 no such index, QRY-8",
        {"TableName": "indexed", "IndexName": "nope", "ConsistentRead": True},
        "The table does not have the specified index: nope",
    ),
    step(
        "ERR-SCAN-1 a consistent read of a global index, QRY-12",
        {"IndexName": "some", "ConsistentRead": True},
        "Consistent reads are not supported on global secondary indexes",
    ),
    step(
        "ERR-SCAN-1 a start key of too few attributes, ESK-1",
        {"ConsistentRead": None, "ExclusiveStartKey": {}},
        START,
    ),
    step(
        "ERR-SCAN-1 a start key with a table key of another type, ESK-2",
        {"ExclusiveStartKey": wire({"pk": 1, "sk": "b", "n": 1})},
        MISFIT,
    ),
    step(
        "ERR-SCAN-1 an empty start key, KV-3",
        {"ExclusiveStartKey": wire({"pk": "", "sk": "b", "n": 1})},
        EMPTY_KEY.format("string", "pk"),
    ),
    step(
        "QRY-7 a projection below a key",
        {
            "ExclusiveStartKey": None,
            "Select": None,
            "ProjectionExpression": "l[0]",
            FILTER: "attribute_exists(pk.a)",
        },
        NOT_SCALAR.format("IndexKey: l"),
    ),
    step(
        "QRY-7 a filter below a key",
        {"Select": None, "ProjectionExpression": "y", FILTER: "attribute_exists(pk.a)"},
        NOT_SCALAR.format("Key: pk"),
    ),
    step(
        "ERR-SCAN-1 everything of a lean index, SEL-5",
        {
            "IndexName": "some",
            FILTER: None,
            "ProjectionExpression": None,
            "Select": "ALL_ATTRIBUTES",
        },
        INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index some "
        "because its projection type is not ALL",
    ),
    step(
        "ERR-SCAN-1 what an index does not project, SEL-6",
        {"IndexName": "some", "Select": None, "ProjectionExpression": "x, y"},
        INVALID + "Global secondary index some does not project [y]",
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-SCAN-1."""
    assert misjudged("Scan", ORDER) == {}


LEGACY_ORDER = ladder(
    {"TableName": "none"},
    step(
        "ERR-SCAN-1 a value of a filter",
        {"ScanFilter": {"a": compare("EQ", {"N": "x"})}, "ConditionalOperator": "OR"},
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-SCAN-1 an operator for one, LEG-6",
        {"ScanFilter": {"a": compare("NULL", 1)}, "ConditionalOperator": "OR"},
        "ConditionalOperator can only be used when Filter or Expected has two or more elements",
    ),
    step(
        "ERR-SCAN-1 too many arguments, LEG-2",
        {"ScanFilter": {"a": compare("NULL", 1)}, "ConditionalOperator": None},
        INVALID + "Invalid number of argument(s) for the NULL ComparisonOperator",
    ),
    step(
        "ERR-SCAN-1 texts of several types, LEG-3",
        {"ScanFilter": {"a": compare("IN", 1, "b")}, "ConditionalOperator": None},
        INVALID + "AttributeValues inside AttributeValueList must be of same type",
    ),
    step(
        "ERR-SCAN-1 the same name twice, PRJ-5",
        {"ScanFilter": None, "ConditionalOperator": None, "AttributesToGet": ["a", "a"]},
        INVALID + "Duplicate value in attribute name: a",
    ),
    step(
        "ERR-SCAN-1 a value of the start key, ESK-3",
        {"AttributesToGet": None, "ExclusiveStartKey": {"pk": {"N": "z"}}},
        NOT_A_NUMBER.format("z"),
    ),
    step("ERR-SCAN-1 no such table", {"ExclusiveStartKey": None}, NOT_FOUND),
)


def test_legacy_faults_come_before_the_table():
    """ERR-SCAN-1."""
    assert misjudged("Scan", LEGACY_ORDER) == {}


# Behaviour

ROWS = [put("indexed", pk=f"p{number}", sk="b", n=number, x=f"{number}") for number in range(20)]


def loaded():
    """Return an emulator with twenty items."""
    emulator = filled("2026-10")
    for one in ROWS:
        emulator.call(*one)
    return emulator


def read(emulator, **request):
    """Return the items of a scan, page after page, and how many pages it took."""
    items, pages = [], 0
    while True:
        page = emulator.call("Scan", {"TableName": "indexed", **request})
        items += page["Items"]
        pages += 1
        if "LastEvaluatedKey" not in page:
            return items, pages
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def by_key(items):
    """Return items in the order of their keys."""
    return sorted(items, key=lambda item: int(item["pk"]["S"][1:]))


def test_a_scan_finds_every_item_in_the_same_order_each_time():
    """SCN-1."""
    emulator = loaded()
    items, pages = read(emulator)
    assert by_key(items) == [one[1]["Item"] for one in ROWS]
    assert (items, pages) == read(loaded())


@pytest.mark.parametrize("source", [{}, {"IndexName": "all"}, {"IndexName": "some"}])
@pytest.mark.parametrize("limit", [1, 7, 20, 21])
def test_pages_concatenate_to_the_whole(source, limit):
    """SCN-5, QRY-4, QRY-5, ESK-4."""
    emulator = loaded()
    if source.get("IndexName") == "all":
        for number in range(20):
            emulator.call(*put("indexed", pk=f"p{number}", sk="b", g="x", n=number))
    whole, _ = read(emulator, **source)
    assert (len(whole), read(emulator, **source, Limit=limit)) == (20, (whole, 20 // limit + 1))


@pytest.mark.parametrize("total", [1, 2, 3, 8])
def test_segments_partition_the_items(total):
    """SCN-3, CAP-211."""
    emulator = loaded()
    parts = [read(emulator, Segment=n, TotalSegments=total)[0] for n in range(total)]
    assert by_key([item for part in parts for item in part]) == by_key(read(emulator)[0])


def test_a_segment_goes_on_where_it_ended():
    """SCN-3."""
    emulator = loaded()
    whole = read(emulator, Segment=1, TotalSegments=2)[0]
    assert read(emulator, Segment=1, TotalSegments=2, Limit=1)[0] == whole


def test_any_attribute_may_be_filtered():
    """QRY-6, CND-15, CAP-208: keys too, after the items were read and paid for."""
    request = {
        **VALID,
        "FilterExpression": "pk = :p OR n = :n",
        "ExpressionAttributeValues": wire({":p": "p3", ":n": 5}),
        "Select": "COUNT",
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert answer("Scan", request, given=ROWS) == {
        "Count": 2,
        "ScannedCount": 20,
        "ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": 2.0},
    }


@pytest.mark.parametrize(
    ("index", "shown"),
    [("some", {"pk", "sk", "n", "x"}), (None, {"pk", "sk", "n", "x"})],
)
def test_an_index_shows_what_it_projects(index, shown):
    """SCN-4, QRY-11, IDX-2."""
    source = {} if index is None else {"IndexName": index}
    items = answer("Scan", {**VALID, **source}, given=ROWS[:1])["Items"]
    assert [set(item) for item in items] == [shown]


def test_an_item_without_an_index_key_is_not_scanned():
    """IDX-1, IXV-5."""
    request = {**VALID, "IndexName": "all", "Select": "COUNT"}
    assert answer("Scan", request, given=ROWS) == {"Count": 0, "ScannedCount": 0}


def test_a_projection_prunes_the_items():
    """PRJ-1, PRJ-4: an item of which nothing is shown still counts."""
    request = {**VALID, "ProjectionExpression": "gone"}
    assert answer("Scan", request, given=ROWS[:2]) == {
        "Items": [{}, {}],
        "Count": 2,
        "ScannedCount": 2,
    }


@pytest.mark.parametrize(("consistent", "units"), [(False, 0.5), (True, 1.0)])
def test_an_empty_table_costs_the_least(consistent, units):
    """RCC-1, CAP-205, CAP-212: the smallest charge, for each partition."""
    emulator = Emulator()
    emulator.call("CreateTable", table(provisioned=(1, 1)))
    request = {"TableName": "tab", "ConsistentRead": consistent, "ReturnConsumedCapacity": "TOTAL"}
    assert emulator.call("Scan", request)["ConsumedCapacity"] == {
        "TableName": "tab",
        "CapacityUnits": units,
    }


def test_a_page_ends_with_the_item_that_crosses_a_megabyte():
    """SIZ-6, CAP-206, CAP-207."""
    emulator = filled("2026-10")
    for number in range(12):
        emulator.call(*put("pair", pk="a", sk=number, v="x" * 99_994))
    request = {"TableName": "pair", "Select": "COUNT"}
    first = emulator.call("Scan", request)
    second = emulator.call("Scan", {**request, "ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert (first["Count"], second) == (11, {"Count": 1, "ScannedCount": 1})


def test_a_scan_of_an_index_is_charged_to_the_index():
    """CAP-209, CAP-403."""
    emulator = Emulator()
    request = table(indexes={"gsi": "g"}, provisioned=(1, 1))
    emulator.call("CreateTable", request)
    emulator.call(*put("tab", pk="a", g="x"))
    asked = {"TableName": "tab", "IndexName": "gsi", "ReturnConsumedCapacity": "INDEXES"}
    assert emulator.call("Scan", asked)["ConsumedCapacity"] == {
        "TableName": "tab",
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 0.5}},
    }


@pytest.mark.parametrize(
    ("entries", "operator", "count"),
    [
        ({"n": compare("LT", 5), "x": compare("EQ", "3")}, None, 1),
        ({"n": compare("LT", 5), "x": compare("EQ", "9")}, "OR", 6),
        ({"n": compare("BETWEEN", 5, 9)}, None, 5),
        ({"gone": compare("NULL")}, None, 20),
        ({"x": compare("CONTAINS", "1")}, None, 11),
        ({"pk": compare("BEGINS_WITH", "p1")}, None, 11),
    ],
)
def test_a_legacy_filter_selects_as_expressions_do(entries, operator, count):
    """LEG-5, LEG-6."""
    request = {**VALID, "ScanFilter": entries, "Select": "COUNT"}
    if operator is not None:
        request["ConditionalOperator"] = operator
    assert answer("Scan", request, given=ROWS) == {"Count": count, "ScannedCount": 20}
