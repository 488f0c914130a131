"""Query: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/query.py``; the vectors of
multi-attribute keys in ``tests/engine/test_multi_attribute_vectors.py``.
"""

import pytest

from emulator.operations.query import SHAPE
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
    NOT_THE_SCHEMA,
    OF_VALUES,
    SELECT_ENUM,
    START,
    compare,
    constraint,
    detected,
    filled,
    put,
    value_of,
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
    wrapped,
)


def asking(text, **values):
    """Return a key condition with its values."""
    return {
        "KeyConditionExpression": text,
        "ExpressionAttributeValues": wire({f":{name}": value for name, value in values.items()}),
    }


VALID = {"TableName": "indexed", **asking("pk = :p", p="a")}

# Shape


def test_the_members_are_those_of_the_service():
    """QRY-2."""
    assert list(SHAPE.members) == [
        "ConditionalOperator",
        "ReturnConsumedCapacity",
        "TableName",
        "Select",
        "Limit",
        "IndexName",
        "AttributesToGet",
        "ConsistentRead",
        "KeyConditions",
        "QueryFilter",
        "ScanIndexForward",
        "ExclusiveStartKey",
        "ProjectionExpression",
        "FilterExpression",
        "KeyConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Limit": "5"}, "STRING_VALUE cannot be converted to Integer"),
        ({"ScanIndexForward": "no"}, "STRING_VALUE cannot be converted to Boolean"),
        ({"KeyConditions": []}, "Unexpected field type"),
        ({"ExclusiveStartKey": {"pk": {"S": 5}}}, "NUMBER_VALUE cannot be converted to String"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, ORD-1."""
    request = {"TableName": "", "ReturnConsumedCapacity": "X", **members}
    assert answer("Query", request) == ("SerializationException", message)


def test_what_is_missing_is_reported_with_the_other_members():
    """TBL-5, ERR-QUERY-17, QRY-3."""
    limit = (
        "Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )
    assert answer("Query", {"Limit": 0}) == (
        "ValidationException",
        detected(f"{constraint('null', 'tableName', NOT_NULL)}; {limit}", 2),
    )


# Rules that need no table, in the order of ERR-QUERY-1

FILTER, KEY_CONDITION = "FilterExpression", "KeyConditionExpression"
BAD_KEY = asking("pk = = :p", p="a")
MEMBERS = {
    "TableName": "none",
    "ReturnConsumedCapacity": "X",
    "Select": "X",
    "Limit": 0,
    "IndexName": "a!",
}
PROBLEMS = (
    constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
    constraint("'X'", "select", SELECT_ENUM),
    "Value at 'Limit' failed to satisfy constraint: "
    "Member must have value greater than or equal to 1",
    constraint("'a!'", "indexName", NAME_PATTERN),
    constraint("'a!'", "indexName", AT_LEAST.format(3)),
)
GOOD_MEMBERS = dict.fromkeys(("ReturnConsumedCapacity", "Select", "Limit", "IndexName"))


def key_condition(rules, text, message, **values):
    """Return a fault of the key condition."""
    fault = {
        **asking(text, **values),
        FILTER: None,
        "ProjectionExpression": None,
        "ExpressionAttributeNames": None,
        "Select": None,
        "IndexName": None,
    }
    return step(f"ERR-QUERY-1 (12) {rules}", fault, message)


PREFIX = "Invalid KeyConditionExpression: "
ORDER = ladder(
    VALID,
    *table_name_steps("ERR-QUERY-1 (1)"),
    members_step(
        "ERR-QUERY-1 (2) the operator alone, LEG-11;",
        {**MEMBERS, "ConditionalOperator": "X"},
        constraint("'X'", "conditionalOperator", "Member must satisfy enum value set: [OR, AND]"),
        *PROBLEMS,
        alone="Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
    ),
    members_step(
        "ERR-QUERY-1 (3), SEL-1, QRY-8;", {**MEMBERS, "ConditionalOperator": None}, *PROBLEMS
    ),
    step(
        "ERR-QUERY-1 (4) legacy and current parameters, LEG-1, ERR-EXP-25",
        {
            **GOOD_MEMBERS,
            "AttributesToGet": ["a", "a"],
            "QueryFilter": {"a": compare("NULL")},
            "ConditionalOperator": "OR",
            "KeyConditions": {"pk": compare("EQ")},
            "ProjectionExpression": "",
            FILTER: "",
            KEY_CONDITION: "",
        },
        MIXED
        % (
            "AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions",
            "ProjectionExpression, FilterExpression, KeyConditionExpression",
        ),
    ),
    *placeholder_steps(
        "ERR-QUERY-1 (5)",
        (KEY_CONDITION, FILTER, "ProjectionExpression"),
        "",
        make=step,
        values=": FilterExpression is null and KeyConditionExpression is null",
    ),
    step(
        "ERR-QUERY-1 (8) a value of the start key, ESK-3",
        {
            "ExclusiveStartKey": {"pk": {"N": "x"}},
            KEY_CONDITION: "",
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-QUERY-1 (9) an expression value, PRO-6, ERR-VAL-2",
        {
            "ExclusiveStartKey": {},
            KEY_CONDITION: "",
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        NOT_A_NUMBER.format("y"),
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    step(
        "ERR-QUERY-1 (10) an empty key condition, EXP-3, KEY-20, ERR-EXP-1",
        {KEY_CONDITION: "", FILTER: "", "ExpressionAttributeNames": None},
        PREFIX + "The expression can not be empty;",
    ),
    *expression_steps(
        "ERR-QUERY-1 (10), ERR-EXP-30",
        FILTER,
        step,
        KeyConditionExpression="pk = = :p",
        ProjectionExpression="",
    ),
    step(
        "ERR-QUERY-1 (10) the projection, ERR-EXP-30, PRJ-3",
        {**BAD_KEY, FILTER: "a = b", "ProjectionExpression": "a, a.b", "Select": "COUNT"},
        "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
        "rewrite one of these paths; path one: [a], path two: [a, b]",
    ),
    wrapped(
        "ERR-QUERY-1 (11) no projection for SPECIFIC_ATTRIBUTES, SEL-2, ERR-QUERY-15",
        {**BAD_KEY, FILTER: None, "ProjectionExpression": None, "Select": "SPECIFIC_ATTRIBUTES"},
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES",
    ),
    wrapped(
        "ERR-QUERY-1 (11) a projection of a count, SEL-3",
        {**BAD_KEY, "ProjectionExpression": "a", "Select": "COUNT"},
        "Cannot specify the ProjectionExpression when choosing to get only the Count",
    ),
    wrapped(
        "ERR-QUERY-1 (11) a projection of everything, SEL-3",
        {**BAD_KEY, "ProjectionExpression": "a", "Select": "ALL_ATTRIBUTES"},
        "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
    ),
    wrapped(
        "ERR-QUERY-1 (11) what an index projects, without one, SEL-4",
        {**BAD_KEY, "ProjectionExpression": None, "Select": "ALL_PROJECTED_ATTRIBUTES"},
        "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
    ),
    key_condition("syntax, LEX-8, KEY-20, ERR-EXP-3", "pk = = :p",
                  PREFIX + 'Syntax error; token: "=", near: "= = :p"', p="a"),
    key_condition("a reserved word, LEX-7, KEY-20", "name = :p",
                  PREFIX + "Attribute name is a reserved keyword; reserved keyword: name", p="a"),
    key_condition("redundant parentheses, EXP-2, KEY-20, ERR-EXP-5", "((pk = :p))",
                  PREFIX + "The expression has redundant parentheses;", p="a"),
    *(
        key_condition(f"{operator}, KEY-7, ERR-QUERY-7", text,
                      f"Invalid operator used in KeyConditionExpression: {operator}", p="a")
        for operator, text in (
            ("OR", "pk = :p OR sk = :p"),
            ("NOT", "NOT pk = :p"),
            ("IN", "pk IN (:p)"),
            ("<>", "pk <> :p"),
            ("contains", "contains(pk, :p)"),
            ("attribute_exists", "pk = :p AND attribute_exists(sk)"),
            ("size", "size(pk) = :p"),
        )
    ),
    key_condition("a nested path, KEY-8, ERR-QUERY-8", "pk.a = :p",
                  PREFIX + "KeyConditionExpressions cannot have conditions on nested attributes",
                  p="a"),
    key_condition("two paths, KEY-9, ERR-QUERY-9", "pk = sk AND sk = :p",
                  PREFIX + "Invalid condition in KeyConditionExpression: "
                  "Multiple attribute names used in one condition", p="a"),
    key_condition("no path, KEY-10", ":p = :p",
                  PREFIX + "Invalid condition in KeyConditionExpression: No key attribute "
                  "specified", p="a"),
    key_condition("an undefined value, KEY-16, PLH-1", "pk = :gone AND begins_with(sk, :p)",
                  PREFIX + "An expression attribute value used in expression is not defined; "
                  "attribute value: :gone", p=1),
    key_condition("begins_with of a number, KEY-12, ERR-QUERY-11",
                  "pk = :p AND begins_with(sk, :n)",
                  PREFIX + "Incorrect operand type for operator or function; "
                  "operator or function: begins_with, operand type: N", p="a", n=1),
    key_condition("an order of booleans, KEY-12", "pk = :p AND :t <= sk",
                  PREFIX + "Incorrect operand type for operator or function; "
                  "operator or function: <=, operand type: BOOL", p="a", t=True),
    key_condition("bounds of two types, KEY-14, CND-5, ERR-EXP-13",
                  "pk = :p AND sk BETWEEN :p AND :n",
                  PREFIX + "The BETWEEN operator requires same data type for lower and upper "
                  "bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: "
                  "AttributeValue: {N:1}", p="a", n=1),
    key_condition("bounds the wrong way round, KEY-14, CND-5, ERR-EXP-14",
                  "pk = :a AND sk BETWEEN :b AND :a",
                  PREFIX + "The BETWEEN operator requires upper bound to be greater than or equal "
                  "to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound "
                  "operand: AttributeValue: {S:a}", a="a", b="b"),
    key_condition("two conditions on one attribute, KEY-5, ERR-QUERY-5",
                  "pk = :a AND sk > :a AND sk < :b",
                  PREFIX + "KeyConditionExpressions must only contain one condition per key",
                  a="a", b="b"),
    step(
        "ERR-QUERY-1 (12) an unused name, PLH-2, ERR-EXP-19",
        {**asking("pk = :p", p="a", u=1), "ExpressionAttributeNames": {"#u": "u"}},
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
    ),
    step(
        "ERR-QUERY-1 (12) an unused value, PLH-2, ERR-EXP-20",
        {**asking("pk = :p", p="a", u=1), "ExpressionAttributeNames": None},
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
    ),
    step(
        "ERR-QUERY-1 (13) no key condition, KEY-18, ERR-QUERY-2",
        {KEY_CONDITION: None, "ExpressionAttributeValues": None},
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
        "request.",
    ),
    step(
        "ERR-QUERY-1 (14) no such table, ERR-QUERY-18",
        {"TableName": "none", "IndexName": "nope", **asking("x = :p", p=True)},
        NOT_FOUND,
    ),
)  # fmt: skip

# Rules that need the schema


def of_index(rules, index, text, message, classic=None, **values):
    """Return a fault of the key condition of an index."""
    fault = {"IndexName": index, **asking(text, **values)}
    return step(f"ERR-QUERY-1 {rules}", fault, message, classic)


STARTING = wire({"pk": "a", "sk": "b", "g": "x", "n": 1})
SCHEMA_ORDER = ladder(
    VALID,
    step(
        "ERR-QUERY-1 (15) no such index, QRY-8, ERR-QUERY-14",
        {"IndexName": "nope", "ConsistentRead": True},
        "The table does not have the specified index: nope",
    ),
    step(
        "ERR-QUERY-1 (16) a consistent read of a global index, QRY-12, ERR-QUERY-14",
        {"IndexName": "all", "ConsistentRead": True},
        "Consistent reads are not supported on global secondary indexes",
    ),
    step(
        "ERR-QUERY-1 (17) a start key of too few attributes, ESK-1, ERR-QUERY-16",
        {
            "IndexName": "all",
            "ConsistentRead": None,
            "ExclusiveStartKey": wire({"pk": "a", "sk": "b", "g": "x"}),
        },
        START,
    ),
    step(
        "ERR-QUERY-1 (17) a start key without an index key, ESK-1",
        {"ExclusiveStartKey": wire({"pk": 1, "sk": "b", "g": "x", "other": 1})},
        START,
    ),
    step(
        "ERR-QUERY-1 (17) a start key with an index key of another type, ESK-2",
        {"ExclusiveStartKey": wire({"pk": 1, "sk": "b", "g": "x", "n": "1"})},
        START,
        NOT_THE_SCHEMA,
    ),
    step(
        "ERR-QUERY-1 (17) a start key with a table key of another type, ESK-2",
        {"ExclusiveStartKey": wire({"pk": 1, "sk": "b", "g": "x", "n": 1})},
        START,
        MISFIT,
    ),
    of_index(
        "(18) too many conditions, KEY-6, KEY-17, ERR-QUERY-6",
        "all",
        "g = :g AND n = :n AND x = :g",
        "The number of query conditions (3) exceeds the number of key attributes defined in the "
        "schema (2)",
        g="x",
        n=1,
    ),
    of_index(
        "(18) no partition key, KEY-3, ERR-QUERY-3",
        "all",
        "n > :n AND x = :n",
        "Query condition missed key schema element: g",
        n=1,
    ),
    of_index(
        "(18) another attribute for the sort key, KEY-4",
        "all",
        "g > :g AND x = :g",
        "Query condition missed key schema element: n",
        g="x",
    ),
    of_index(
        "(18) a range of the partition key, KEY-2, ERR-QUERY-4",
        "all",
        "g > :g AND n = :g",
        "Query key condition not supported",
        g="x",
    ),
    of_index(
        "(18) a value of another type, KEY-13, ERR-QUERY-10",
        "all",
        "g = :e AND begins_with(n, :e)",
        INVALID + "Condition parameter type does not match schema type",
        e="",
    ),
    of_index(
        "(18) an empty value, KEY-15",
        "all",
        "g = :e",
        EMPTY_KEY.format("string", "g"),
        e="",
    ),
    of_index(
        "(18) a value of 2,049 bytes, KEY-15, KV-2",
        "all",
        "g = :long",
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        long="x" * 2049,
    ),
    step(
        "ESK-5 a start key of another partition",
        {"ExclusiveStartKey": STARTING, **asking("g = :g AND n > :n", g="y", n=5)},
        "The provided starting key is outside query boundaries based on provided conditions",
    ),
    step(
        "ESK-5 a start key outside the range",
        {"ExclusiveStartKey": STARTING, **asking("g = :g AND n > :n", g="x", n=5)},
        "The provided starting key does not match the range key predicate",
    ),
    step(
        "ERR-QUERY-1 (19) a projection below a key, QRY-7, ERR-QUERY-13",
        {
            "ExclusiveStartKey": None,
            "ProjectionExpression": "l.a",
            "Select": None,
            "FilterExpression": "attribute_exists(n)",
            **asking("g = :g", g="x"),
        },
        NOT_SCALAR.format("IndexKey: l"),
    ),
    step(
        "ERR-QUERY-1 (19) a filter on a key, QRY-6, MAK-42",
        {
            "ProjectionExpression": None,
            "FilterExpression": "attribute_exists(sk.a) AND attribute_exists(n)",
            "IndexName": "all",
            **asking("g = :g", g="x"),
        },
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: n",
    ),
    step(
        "ERR-QUERY-1 (19) a filter below a key, QRY-7",
        {"FilterExpression": "attribute_exists(sk.a) AND attribute_exists(y)"},
        NOT_SCALAR.format("Key: sk"),
    ),
    step(
        "ERR-QUERY-1 (20) everything of a lean index, SEL-5",
        {
            "IndexName": "some",
            **asking("n = :n", n=1),
            "FilterExpression": "attribute_exists(y)",
            "ProjectionExpression": None,
            "Select": "ALL_ATTRIBUTES",
        },
        INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index some "
        "because its projection type is not ALL",
    ),
    step(
        "ERR-QUERY-1 (20) what an index does not project, SEL-6",
        {"Select": None, "ProjectionExpression": "x, y, z.a"},
        INVALID + "Global secondary index some does not project [y, z]",
    ),
    step(
        "QRY-10 a filter on what an index does not project",
        {
            "IndexName": "some",
            **asking("n = :n", n=1),
            "ProjectionExpression": None,
            "FilterExpression": "attribute_exists(y) OR attribute_exists(a)",
        },
        INVALID + "Secondary index some does not project one or more filter attributes: [a, y]",
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-QUERY-1."""
    assert misjudged("Query", ORDER + SCHEMA_ORDER) == {}


LEGACY_ORDER = ladder(
    {"TableName": "none", "KeyConditions": {"a": compare("EQ", 1)}},
    step(
        "ERR-QUERY-1 (6) a value of a filter",
        {"QueryFilter": {"a": compare("EQ", {"N": "x"})}},
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-QUERY-1 (6) a value of a key condition",
        {"QueryFilter": {"a": compare("EQ")}, "KeyConditions": {"a": compare("EQ", {"N": "y"})}},
        NOT_A_NUMBER.format("y"),
    ),
    step(
        "ERR-QUERY-1 (6) too few arguments, LEG-2",
        {"QueryFilter": {"a": compare("EQ")}, "KeyConditions": {"a": compare("BETWEEN", 1)}},
        INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
    ),
    step(
        "ERR-QUERY-1 (6) a type that has no order, LEG-3",
        {"QueryFilter": {"a": compare("LT", True)}, "KeyConditions": {"a": compare("BETWEEN", 1)}},
        INVALID + "ComparisonOperator LT is not valid for BOOL AttributeValue type",
    ),
    step(
        "ERR-QUERY-1 (7) the same name twice, PRJ-5",
        {
            "QueryFilter": None,
            "KeyConditions": {"a": compare("EQ", 1)},
            "AttributesToGet": ["a", "a"],
        },
        INVALID + "Duplicate value in attribute name: a",
    ),
    step(
        "ERR-QUERY-1 (8) a value of the start key",
        {"AttributesToGet": None, "ExclusiveStartKey": {"pk": {"N": "z"}}},
        NOT_A_NUMBER.format("z"),
    ),
    step("ERR-QUERY-1 (14) no such table", {"ExclusiveStartKey": None}, NOT_FOUND),
)


def test_legacy_faults_come_before_the_table():
    """ERR-QUERY-1 (6) to (8)."""
    assert misjudged("Query", LEGACY_ORDER) == {}


# Behaviour

ROWS = [put("pair", pk="a", sk=number, v=number % 3) for number in (5, -1, 10, 100, 0, -10)]
PAIRS = {"TableName": "pair", **asking("pk = :p", p="a"), "ProjectionExpression": "sk"}


def sort_keys(response):
    """Return the sort keys of a page."""
    return [int(item["sk"]["N"]) for item in response["Items"]]


@pytest.mark.parametrize(
    ("text", "values", "numbers"),
    [
        ("pk = :p", {}, [-10, -1, 0, 5, 10, 100]),
        ("pk = :p AND sk = :x", {"x": 5}, [5]),
        ("pk = :p AND sk < :x", {"x": 0}, [-10, -1]),
        ("pk = :p AND sk <= :x", {"x": 0}, [-10, -1, 0]),
        ("pk = :p AND sk > :x", {"x": 5}, [10, 100]),
        ("pk = :p AND sk >= :x", {"x": 5}, [5, 10, 100]),
        ("pk = :p AND sk BETWEEN :x AND :y", {"x": -1, "y": 5}, [-1, 0, 5]),
        ("pk = :p AND sk BETWEEN :x AND :x", {"x": 5}, [5]),
        (":x < sk AND :p = pk", {"x": 5}, [10, 100]),
        ("(pk = :p AND (sk > :x))", {"x": 5}, [10, 100]),
        ("pk = :p AND sk = :x", {"x": 6}, []),
    ],
)
def test_a_key_condition_selects_a_range(text, values, numbers):
    """KEY-1, KEY-4, KEY-11, KEY-14, QRY-1, QRY-9, VEC-7, VEC-11, CMP-2."""
    request = {**PAIRS, **asking(text, p="a", **values)}
    assert answer("Query", request, given=ROWS) == {
        "Items": [wire({"sk": number}) for number in numbers],
        "Count": len(numbers),
        "ScannedCount": len(numbers),
    }


@pytest.mark.parametrize(
    ("texts", "condition", "expected"),
    [
        (["-1", "-10", "0", "10", "100", "5"], "pk = :p", ["-1", "-10", "0", "10", "100", "5"]),
        (["ab", "a", "b", "abc"], "pk = :p AND begins_with(sk, :x)", ["ab", "abc"]),
        (["\U00010000", "\uffff"], "pk = :p", ["\uffff", "\U00010000"]),
    ],
)
def test_texts_are_ordered_by_their_bytes(texts, condition, expected):
    """VEC-7, CMP-3, TXT-1."""
    values = {"p": "a", "x": "ab"} if ":x" in condition else {"p": "a"}
    request = {"TableName": "indexed", **asking(condition, **values)}
    given = [put("indexed", pk="a", sk=text) for text in texts]
    found = answer("Query", request, given=given)["Items"]
    assert [item["sk"]["S"] for item in found] == expected


def test_binaries_are_ordered_as_unsigned_bytes():
    """TXT-2: 0x01 before 0x01 0x00 before 0x80."""
    ordered = [{"B": text} for text in ("AQ==", "AQA=", "gA==")]
    given = [put("blob", pk={"B": "AA=="}, sk=value) for value in reversed(ordered)]
    request = {"TableName": "blob", **asking("pk = :p", p={"B": "AA=="})}
    assert [item["sk"] for item in answer("Query", request, given=given)["Items"]] == ordered


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 5, 7])
def test_pages_concatenate_to_the_whole(forward, limit):
    """QRY-1, QRY-4, SCN-5, ESK-4, CAP-207: the last key is there iff the limit ended the page."""
    emulator = filled("2026-10")
    for one in ROWS:
        emulator.call(*one)
    request = {**PAIRS, "ScanIndexForward": forward, "Limit": limit}
    seen, pages = [], 0
    while True:
        page = emulator.call("Query", request)
        pages += 1
        seen += sort_keys(page)
        assert ("LastEvaluatedKey" in page) == (page["ScannedCount"] == limit)
        if "LastEvaluatedKey" not in page:
            break
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    assert seen == sorted(seen, reverse=not forward)
    assert (len(seen), pages) == (6, 6 // limit + 1)


def test_a_start_key_need_not_exist():
    """ESK-4."""
    request = {**PAIRS, "ExclusiveStartKey": wire({"pk": "a", "sk": 6})}
    assert sort_keys(answer("Query", request, given=ROWS)) == [10, 100]
    backwards = {**request, "ScanIndexForward": False}
    assert sort_keys(answer("Query", backwards, given=ROWS)) == [5, 0, -1, -10]


def test_a_filter_changes_the_count_alone():
    """CND-15, QRY-3, CAP-204, CAP-208: not what is scanned, paid for, or where the page ends."""
    request = {
        **PAIRS,
        **asking("pk = :p", p="a", zero=0),
        "FilterExpression": "v = :zero",
        "Limit": 4,
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert answer("Query", request, given=ROWS) == {
        "Items": [wire({"sk": 0})],
        "Count": 1,
        "ScannedCount": 4,
        "LastEvaluatedKey": wire({"pk": "a", "sk": 5}),
        "ConsumedCapacity": {"TableName": "pair", "CapacityUnits": 0.5},
    }


def test_a_count_has_no_items():
    """SEL-7."""
    request = {"TableName": "pair", **asking("pk = :p", p="a"), "Select": "COUNT"}
    assert answer("Query", request, given=ROWS) == {"Count": 6, "ScannedCount": 6}


@pytest.mark.parametrize(
    ("number", "count", "more"), [(9, 9, False), (10, 10, False), (11, 11, True), (12, 11, True)]
)
def test_a_page_ends_with_the_item_that_crosses_a_megabyte(number, count, more):
    """SIZ-6, CAP-206, QRY-4: ten items of 100,000 bytes stay below 1,048,576."""
    given = [put("indexed", pk="a", sk=f"{n:02}", v="x" * 99_994) for n in range(number)]
    request = {**VALID, "Select": "COUNT"}
    page = answer("Query", request, given=given)
    assert (page["Count"], "LastEvaluatedKey" in page) == (count, more)


@pytest.mark.parametrize(
    ("sizes", "consistent", "units"),
    [
        ([], False, 0.5),
        ([], True, 1.0),
        ([2000, 2000], False, 0.5),
        ([2000, 2097], False, 1.0),
        ([2000, 2096], True, 1.0),
        ([4096, 1], True, 2.0),
    ],
)
def test_a_page_is_rounded_once(sizes, consistent, units):
    """RCC-1, CAP-204, CAP-205: the bytes of all items evaluated, together."""
    given = [
        put("indexed", pk="a", sk=f"{n}", v="x" * (size - 7)) if size > 7 else
        put("indexed", pk="a", sk=f"{n}")
        for n, size in enumerate(sizes)
    ]  # fmt: skip
    request = {**VALID, "ConsistentRead": consistent, "ReturnConsumedCapacity": "TOTAL"}
    assert answer("Query", request, given=given)["ConsumedCapacity"] == {
        "TableName": "indexed",
        "CapacityUnits": units,
    }


ITEM = {"pk": "a", "sk": "b", "g": "x", "n": 1, "l": "y", "x": "1", "z": "2"}


@pytest.mark.parametrize(
    ("index", "text", "value", "shown"),
    [
        ("all", "g = :v", "x", set(ITEM)),
        ("keys", "g = :v", "x", {"pk", "sk", "g"}),
        ("some", "n = :v", 1, {"pk", "sk", "n", "x"}),
        ("local", "pk = :v", "a", set(ITEM)),
        ("lean", "pk = :v", "a", {"pk", "sk", "l"}),
    ],
)
def test_an_index_shows_what_it_projects(index, text, value, shown):
    """QRY-11, IDX-2, SEL-1, CAP-209, CAP-403: the table's part of the price is 0."""
    request = {
        "TableName": "indexed",
        "IndexName": index,
        **asking(text, v=value),
        "ReturnConsumedCapacity": "INDEXES",
    }
    kind = "Local" if index in ("local", "lean") else "Global"
    assert answer("Query", request, given=[put("indexed", **ITEM)]) == {
        "Items": [wire({name: value for name, value in ITEM.items() if name in shown})],
        "Count": 1,
        "ScannedCount": 1,
        "ConsumedCapacity": {
            "TableName": "indexed",
            "CapacityUnits": 0.5,
            "Table": {"CapacityUnits": 0.0},
            f"{kind}SecondaryIndexes": {index: {"CapacityUnits": 0.5}},
        },
    }


@pytest.mark.parametrize("members", [{"Select": "ALL_ATTRIBUTES"}, {"ProjectionExpression": "z"}])
def test_a_local_index_fetches_what_it_lacks(members):
    """SEL-5, SEL-6, CAP-210: half a unit for the entries, half for each item fetched."""
    request = {
        "TableName": "indexed",
        "IndexName": "lean",
        **asking("pk = :p", p="a"),
        **members,
        "ReturnConsumedCapacity": "INDEXES",
    }
    shown = ITEM if "Select" in members else {"z": "2"}
    page = answer("Query", request, given=[put("indexed", **ITEM)])
    assert page["Items"] == [wire(shown)]
    assert page["ConsumedCapacity"] == {
        "TableName": "indexed",
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 0.5},
        "LocalSecondaryIndexes": {"lean": {"CapacityUnits": 0.5}},
    }


def test_a_page_of_an_index_ends_with_the_keys_of_both():
    """QRY-5, IDX-3: equal index keys come in the order of the table's."""
    emulator = filled("2026-10")
    for pk, sk in (("b", "1"), ("a", "2"), ("a", "1")):
        emulator.call(*put("indexed", pk=pk, sk=sk, g="x", n=1))
    request = {
        "TableName": "indexed",
        "IndexName": "all",
        **asking("g = :g", g="x"),
        "Limit": 2,
        "ProjectionExpression": "pk, sk",
    }
    first = emulator.call("Query", request)
    last = first["LastEvaluatedKey"]
    second = emulator.call("Query", {**request, "ExclusiveStartKey": last})
    assert first["Items"] + second["Items"] == [
        wire({"pk": "a", "sk": "1"}),
        wire({"pk": "a", "sk": "2"}),
        wire({"pk": "b", "sk": "1"}),
    ]
    assert last == wire({"pk": "a", "sk": "2", "g": "x", "n": 1})


def test_a_table_key_may_be_filtered_on_an_index():
    """QRY-6: only the effective key is out of bounds."""
    request = {
        "TableName": "indexed",
        "IndexName": "keys",
        **asking("g = :g", g="x", b="b"),
        "FilterExpression": "sk = :b",
        "Select": "COUNT",
    }
    assert answer("Query", request, given=[put("indexed", **ITEM)]) == {
        "Count": 1,
        "ScannedCount": 1,
    }


def test_legacy_conditions_find_what_expressions_find():
    """LEG-9, VEC-8."""
    words = ("alpha", "beta", "gamma", "delta", "epsilon")
    given = [put("indexed", pk="a", sk=word) for word in words]

    def found(*operands, **members):
        conditions = {"pk": compare("EQ", "a")}
        if operands:
            conditions["sk"] = compare(*operands)
        request = {"TableName": "indexed", "KeyConditions": conditions, **members}
        return [item["sk"]["S"] for item in answer("Query", request, given=given)["Items"]]

    assert found("BETWEEN", "beta", "epsilon") == ["beta", "delta", "epsilon"]
    assert found("GT", "delta") == ["epsilon", "gamma"]
    assert found("BEGINS_WITH", "e") == ["epsilon"]
    assert found(ScanIndexForward=False) == ["gamma", "epsilon", "delta", "beta", "alpha"]


def test_values_in_wire_form_are_taken_as_they_are():
    """NUM-9: 5.0 finds 5."""
    request = {
        **PAIRS,
        "KeyConditionExpression": "pk = :p AND sk = :n",
        "ExpressionAttributeValues": {":p": value_of("a"), ":n": {"N": "5.0"}},
    }
    assert sort_keys(answer("Query", request, given=ROWS)) == [5]
