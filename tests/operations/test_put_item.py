"""PutItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/put_item.py``.
"""

import pytest

from emulator import ApiError, Emulator
from emulator.operations.put_item import SHAPE
from tests.operations.cases.case import (
    CAPACITY_ENUM,
    EMPTY_KEY,
    FAILED,
    INVALID,
    METRICS_ENUM,
    MIXED,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    OF_VALUES,
    RETURN_ENUM,
    TOO_DEEP,
    constraint,
    detected,
    filled,
    nested,
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
    wrapped,
)
from tests.tables import table

VALID = {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "b"})}


def sized(size_bytes, **others):
    """Return an item {pk: a, sk: b, v: ...} of so many bytes."""
    return wire({"pk": "a", "sk": "b", "v": "x" * (size_bytes - 7), **others})


def stored(emulator, name="indexed", **key):
    """Return the item under a key, or None."""
    request = {"TableName": name, "Key": wire(key or {"pk": "a", "sk": "b"})}
    return emulator.call("GetItem", {**request, "ConsistentRead": True}).get("Item")


# Shape


def test_the_members_are_those_of_the_service():
    """PUT-2."""
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "TableName",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
        "ConditionalOperator",
        "Item",
        "Expected",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"TableName": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"Item": "text"}, "Unexpected field type"),
        (
            {"Item": []},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ({"Item": {"pk": {"S": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ({"Item": {"pk": {"N": 1.5}}}, "DECIMAL_VALUE cannot be converted to String"),
        ({"Item": {"pk": {"BOOL": "true"}}}, "STRING_VALUE cannot be converted to Boolean"),
        ({"ReturnValues": True}, "TRUE_VALUE cannot be converted to String"),
        ({"ExpressionAttributeNames": "#a"}, "Unexpected field type"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, WIR-13, ORD-1."""
    request = {"TableName": "", "Item": {}, "ReturnConsumedCapacity": "X", **members}
    assert answer("PutItem", request) == ("SerializationException", message)


def test_what_is_missing_is_reported_with_the_other_members():
    """ERR-PUT-3, TBL-5, ERR-SHAPE-6."""
    assert answer("PutItem", {"ReturnConsumedCapacity": "X"}) == (
        "ValidationException",
        detected(
            "; ".join(
                [
                    constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
                    constraint("null", "tableName", NOT_NULL),
                    constraint("null", "item", NOT_NULL),
                ]
            ),
            3,
        ),
    )


@pytest.mark.parametrize("member", ["ConditionalOperator", "ReturnValuesOnConditionCheckFailure"])
def test_the_other_enumerations(member):
    """LEG-11, OPC-3."""
    values = {
        "ConditionalOperator": "OR, AND",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD, NONE",
    }[member]
    path = member[0].lower() + member[1:]
    rule = f"Member must satisfy enum value set: [{values}]"
    assert answer("PutItem", {**VALID, member: "X"}) == (
        "ValidationException",
        detected(constraint("'X'", path, rule)),
    )


# Rules, in the order of ERR-PUT-1

ORDER = ladder(
    VALID,
    *table_name_steps("ERR-PUT-1 (1)"),
    members_step(
        "ERR-PUT-1 (2), ERR-SHAPE-6",
        {
            "TableName": "none",
            "ReturnValues": "X",
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'X'", "returnItemCollectionMetrics", METRICS_ENUM),
        constraint("'X'", "returnValues", RETURN_ENUM),
    ),
    wrapped(
        "ERR-PUT-1 (3) legacy and current parameters, LEG-1",
        {
            "ReturnConsumedCapacity": None,
            "ReturnItemCollectionMetrics": None,
            "Expected": {"a": {"Exists": False}},
            "ConditionalOperator": "OR",
            "ConditionExpression": "",
        },
        MIXED % ("Expected, ConditionalOperator", "ConditionExpression"),
    ),
    *placeholder_steps(
        "ERR-PUT-1 (4)", ("ConditionExpression",), "", values=": ConditionExpression is null"
    ),
    wrapped(
        "ERR-PUT-1 (5) a value of the item, NUM-2",
        {
            "Item": {"pk": {"N": "x"}},
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-PUT-1 (5) an expression value, PRO-6",
        {"Item": {}, "ExpressionAttributeValues": {":v": {"N": "y"}}, "ConditionExpression": ""},
        detected(NOT_A_NUMBER.format("y")),
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    *expression_steps("ERR-PUT-1 (6)", "ConditionExpression"),
    *unused_steps("ERR-PUT-1 (6)", "ConditionExpression", "attribute_exists(pk)"),
    wrapped(
        "ERR-PUT-1 (7) ReturnValues that only an update has, PUT-3, ERR-PUT-2",
        {"ReturnValues": "ALL_NEW", "ExpressionAttributeValues": None},
        "ReturnValues can only be ALL_OLD or NONE",
    ),
    step(
        "ERR-PUT-1 (8) an item of 409,601 bytes, SIZ-3",
        {"ReturnValues": None, "Item": sized(409_601)},
        "Item size has exceeded the maximum allowed size",
    ),
    wrapped("ERR-PUT-1 (8) an item of 32 levels, TYP-5", {"Item": {"d": nested(32)}}, TOO_DEEP),
    step("ERR-PUT-1 (9) no such table, TBL-4", {"TableName": "none", "Item": {}}, NOT_FOUND),
    step(
        "ERR-PUT-1 (10) no partition key, KV-4",
        {"TableName": "indexed", "Item": wire({"sk": 1})},
        INVALID + "Missing the key pk in the item",
    ),
    step(
        "ERR-PUT-1 (10) a partition key of another type, KV-5",
        {"Item": wire({"pk": 1, "sk": ""})},
        INVALID + "Type mismatch for key pk expected: S actual: N",
    ),
    step(
        "ERR-PUT-1 (10) no sort key, KV-4",
        {"Item": wire({"pk": "a", "g": 1})},
        INVALID + "Missing the key sk in the item",
    ),
    step(
        "ERR-PUT-1 (10) an empty key, KV-3",
        {"Item": wire({"pk": "", "sk": "b", "g": 1})},
        EMPTY_KEY.format("string", "pk"),
    ),
    step(
        "ERR-PUT-1 (10) a partition key of 2,049 bytes, KV-2",
        {"Item": wire({"pk": "x" * 2049, "sk": "b", "g": 1})},
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    step(
        "ERR-PUT-1 (10) a sort key of 1,025 bytes, KV-2",
        {"Item": wire({"pk": "a", "sk": "x" * 1025, "g": 1})},
        INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    ),
    step(
        "ERR-PUT-1 (11) an index key of another type, IXV-1, IXV-9",
        {"Item": wire({"pk": "a", "sk": "b", "g": 1, "l": ""})},
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all",
    ),
    step(
        "ERR-PUT-1 (11) an empty index key, IXV-2",
        {"Item": wire({"pk": "a", "sk": "b", "l": ""})},
        "One or more parameter values are not valid. A value specified for a secondary index "
        "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
        "string value. IndexName: lean, IndexKey: l",
    ),
    step(
        "ERR-PUT-1 (11) an index key of 2,049 bytes, IXV-7",
        {"Item": wire({"pk": "a", "sk": "b", "g": "x" * 2049})},
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    step(
        "QRY-7 a condition below a key",
        {"Item": wire({"pk": "a", "sk": "b"}), "ConditionExpression": "attribute_exists(g.a)"},
        NOT_SCALAR.format("IndexKey: g"),
    ),
    step(
        "ERR-PUT-1 (12) the condition, CND-14",
        {"Item": wire({"pk": "a", "sk": "b"}), "ConditionExpression": "attribute_exists(pk)"},
        FAILED,
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-PUT-1."""
    assert misjudged("PutItem", ORDER) == {}


def test_the_structure_of_expected_is_judged_after_all_values():
    """ERR-PUT-1 (5), LEG-4."""
    request = {**VALID, "TableName": "none", "Expected": {"a": {"Exists": True}}}
    assert answer("PutItem", {**request, "Item": {"pk": {"N": "x"}}}) == (
        "ValidationException",
        detected(NOT_A_NUMBER.format("x")),
    )
    assert answer("PutItem", request) == (
        "ValidationException",
        detected(INVALID + "Value must be provided when Exists is true for Attribute: a"),
    )


# Behaviour


def test_a_put_stores_the_whole_item_and_answers_nothing():
    """PUT-1, WIR-17, TYP-4: also empty texts, empty containers and every type."""
    emulator = filled("2026-10")
    item = {
        **wire(
            {"pk": "a", "sk": "b", "n": -1, "yes": True, "empty": "", "list": [], "deep": [[1]]}
        ),
        "map": {"M": {}},
        "null": {"NULL": True},
        "blob": {"B": ""},
        "texts": {"SS": ["", "x"]},
        "numbers": {"NS": ["1", "2"]},
        "blobs": {"BS": ["AA=="]},
    }
    assert emulator.call("PutItem", {"TableName": "indexed", "Item": item}) == {}
    assert stored(emulator) == item


def test_a_put_replaces_every_attribute():
    """PUT-1."""
    emulator = filled("2026-10")
    emulator.call("PutItem", {"TableName": "indexed", "Item": sized(100, x=1)})
    emulator.call("PutItem", {"TableName": "indexed", "Item": wire({"pk": "a", "sk": "b", "y": 2})})
    assert stored(emulator) == wire({"pk": "a", "sk": "b", "y": 2})


def test_an_item_may_be_its_key_alone():
    """PUT-6."""
    emulator = filled("2026-10")
    emulator.call("PutItem", VALID)
    assert stored(emulator) == VALID["Item"]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("00042", "42"), ("1.50", "1.5"), ("-0", "0"), ("1.5E2", "150"), ("+1E6", "1000000"),
     ("1e-003", "0.001"), (".5", "0.5"), ("5.", "5"), ("1E125", "1" + "0" * 125)],
)  # fmt: skip
def test_numbers_are_stored_in_canonical_form(written, canonical):
    """NUM-8, VEC-1."""
    emulator = filled("2026-10")
    emulator.call("PutItem", {"TableName": "hash", "Item": {"pk": {"S": "a"}, "n": {"N": written}}})
    assert stored(emulator, "hash", pk="a")["n"] == {"N": canonical}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e126", "Number overflow. Attempting to store a number with magnitude larger than "
                  "supported range"),
        ("1e-131", "Number underflow. Attempting to store a number with magnitude smaller than "
                   "supported range"),
        ("0e126", "Number overflow. Attempting to store a number with magnitude larger than "
                  "supported range"),
        ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
        (" 1", NOT_A_NUMBER.format(" 1")),
        ("0x10", NOT_A_NUMBER.format("0x10")),
        ("1.2.3", NOT_A_NUMBER.format("1.2.3")),
        ("NaN", NOT_A_NUMBER.format("NaN")),
        ("", NOT_A_NUMBER.format("")),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_refused(text, message):
    """NUM-2 to NUM-5, VEC-2."""
    item = {"pk": {"S": "a"}, "n": {"N": text}}
    assert answer("PutItem", {"TableName": "hash", "Item": item}) == (
        "ValidationException",
        detected(message),
    )


@pytest.mark.parametrize(
    ("value", "message", "classic"),
    [
        ({"SS": []}, "An string set  may not be empty", None),
        ({"NS": []}, "An number set  may not be empty", None),
        ({"BS": []}, "Binary sets should not be empty", None),
        (
            {"SS": ["b", "a", "b"]},
            'Input collection ["a", "b", "b"] contains duplicates.',
            "Input collection [b, a, b] contains duplicates.",
        ),
        (
            {"BS": ["AA==", "/w==", "AA=="]},
            'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
            "Input collection [AA==, /w==, AA==]of type BS contains duplicates.",
        ),
    ],
)
def test_a_set_has_members_and_none_twice(value, message, classic):
    """SET-1, SET-3, SET-4."""
    request = {"TableName": "hash", "Item": {"pk": {"S": "a"}, "s": value}}
    assert [answer("PutItem", request, profile)[1] for profile in ("2026-10", "classic")] == [
        detected(INVALID + message),
        INVALID + (classic or message),
    ]


def test_equal_numbers_are_a_duplicate_in_a_set():
    """SET-5, SET-3, SET-4."""
    request = {"TableName": "hash", "Item": {"pk": {"S": "a"}, "s": {"NS": ["1", "1.0"]}}}
    assert [answer("PutItem", request, profile)[1] for profile in ("2026-10", "classic")] == [
        detected(INVALID + "Input collection contains duplicates."),
        "Input collection contains duplicates",
    ]


def test_the_largest_item_and_the_deepest_value_are_taken():
    """SIZ-3, TYP-5: 409,600 bytes; 31 containers."""
    assert answer("PutItem", {"TableName": "hash", "Item": sized(409_600)}) == {}
    item = {"pk": {"S": "a"}, "d": nested(31)}
    assert answer("PutItem", {"TableName": "hash", "Item": item}) == {}


def test_an_attribute_name_is_never_empty():
    """TYP-6, TYP-7."""
    for item in (wire({"pk": "a", "": "x"}), {"pk": {"S": "a"}, "m": {"M": wire({"": "x"})}}):
        code, message = answer("PutItem", {"TableName": "hash", "Item": item})
        assert (code, message.removeprefix("1 validation error detected: ")) == (
            "ValidationException",
            "Empty attribute name",
        )


def test_the_old_item_is_answered_if_asked_for():
    """PUT-4, OPC-4."""
    request = {**VALID, "ReturnValues": "ALL_OLD"}
    given = [put("indexed", pk="a", sk="b", x=1)]
    assert answer("PutItem", request, given=given) == {
        "Attributes": wire({"pk": "a", "sk": "b", "x": 1})
    }
    assert answer("PutItem", request) == {}
    assert answer("PutItem", {**VALID, "ReturnValues": "NONE"}, given=given) == {}


@pytest.mark.parametrize(
    ("given", "asked", "members"),
    [
        ({"x": 1}, "ALL_OLD", {"Item": wire({"pk": "a", "sk": "b", "x": 1})}),
        ({"x": 1}, "NONE", {}),
        ({"x": 1}, None, {}),
        (None, "ALL_OLD", {}),
    ],
)
def test_a_failed_condition_shows_the_stored_item_if_asked_for(given, asked, members):
    """OPC-3, CND-14, CAP-408: the error never carries consumed capacity."""
    emulator = filled("2026-10")
    if given is not None:
        emulator.call(*put("indexed", pk="a", sk="b", **given))
    request = {
        **VALID,
        "ConditionExpression": "x = :two",
        "ExpressionAttributeValues": wire({":two": 2}),
        "ReturnConsumedCapacity": "TOTAL",
    }
    if asked is not None:
        request["ReturnValuesOnConditionCheckFailure"] = asked
    with pytest.raises(ApiError) as caught:
        emulator.call("PutItem", request)
    assert (caught.value.code, caught.value.message) == FAILED
    assert caught.value.members == members


def test_an_item_without_an_index_key_is_not_in_that_index():
    """IXV-5, IDX-1, CAP-108: a sparse index."""
    emulator = filled("2026-10")
    emulator.call(*put("indexed", pk="a", sk="b", g="x"))

    def scanned(index):
        return emulator.call("Scan", {"TableName": "indexed", "IndexName": index})["Items"]

    assert {index: scanned(index) for index in ("all", "keys", "some", "local")} == {
        "all": [],
        "keys": [wire({"pk": "a", "sk": "b", "g": "x"})],
        "some": [],
        "local": [],
    }


@pytest.mark.parametrize(
    ("old_bytes", "new_bytes", "units"),
    [
        (None, 1024, 1.0),
        (None, 1025, 2.0),
        (3000, 100, 3.0),
        (100, 3000, 3.0),
        (1024, 1024, 1.0),
    ],
)
def test_a_put_costs_the_larger_of_both_images(old_bytes, new_bytes, units):
    """RCC-2, CAP-301, CAP-302, CAP-402."""
    given = [] if old_bytes is None else [("PutItem", {**VALID, "Item": sized(old_bytes)})]
    request = {**VALID, "Item": sized(new_bytes), "ReturnConsumedCapacity": "TOTAL"}
    assert answer("PutItem", request, given=given) == {
        "ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": units}
    }


@pytest.mark.parametrize(
    ("old", "new", "table_units", "index_units"),
    [
        (None, {"g": "x"}, 1.0, 1.0),  # inserted
        ({"g": "x"}, {}, 1.0, 1.0),  # removed
        ({"g": "x"}, {"g": "y"}, 1.0, 2.0),  # moved
        ({"g": "x"}, {"g": "x", "v": 1}, 1.0, None),  # nothing projected changed
        (None, {"v": 1}, 1.0, None),  # never there
    ],
)
def test_an_index_entry_has_its_own_price(old, new, table_units, index_units):
    """RCC-4, RCC-5, CAP-309: insert 1, removal 1, move 2, nothing 0."""
    emulator = Emulator()
    request = table(indexes={"gsi": "g"}, projections={"gsi": "KEYS_ONLY"})
    emulator.call("CreateTable", request)
    if old is not None:
        emulator.call(*put("tab", pk="a", **old))
    consumed = emulator.call(
        "PutItem",
        {"TableName": "tab", "Item": wire({"pk": "a", **new}), "ReturnConsumedCapacity": "INDEXES"},
    )
    expected = {
        "TableName": "tab",
        "CapacityUnits": table_units + (index_units or 0.0),
        "Table": {"CapacityUnits": table_units},
    }
    if index_units is not None:
        expected["GlobalSecondaryIndexes"] = {"gsi": {"CapacityUnits": index_units}}
    assert consumed == {"ConsumedCapacity": expected}


def test_collection_metrics_are_those_of_tables_with_a_local_index():
    """ICM-1, CAP-407."""
    asked = {"ReturnItemCollectionMetrics": "SIZE"}
    assert answer("PutItem", {**VALID, **asked}) == {
        "ItemCollectionMetrics": {
            "ItemCollectionKey": wire({"pk": "a"}),
            "SizeEstimateRangeGB": [0.0, 1.0],
        }
    }
    assert answer("PutItem", {"TableName": "hash", "Item": wire({"pk": "a"}), **asked}) == {}
    assert answer("PutItem", {**VALID, "ReturnItemCollectionMetrics": "NONE"}) == {}


@pytest.mark.parametrize(("maps", "message"), [(40, detected(TOO_DEEP)), (63, TOO_DEEP)])
def test_what_is_nested_far_too_deep_is_refused_in_older_words(maps, message):
    """ERR-UPD-3, TYP-5: the current layer does not read so far."""
    value = {"S": "x"}
    for _ in range(maps):
        value = {"M": {"m": value}}
    request = {"TableName": "hash", "Item": {"pk": {"S": "a"}, "v": value}}
    assert answer("PutItem", request) == ("ValidationException", message)
