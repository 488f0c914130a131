"""DeleteItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/delete_item.py``; conditions, which
all writes share, are proved there by deleting.
"""

import pytest

from emulator import ApiError
from emulator.operations.delete_item import SHAPE
from tests.operations.cases.case import (
    CAPACITY_ENUM,
    FAILED,
    INDEXED_KEY,
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
    key_steps,
    ladder,
    members_step,
    misjudged,
    placeholder_steps,
    step,
    table_name_steps,
    unused_steps,
    wrapped,
)

VALID = {"TableName": "indexed", "Key": INDEXED_KEY}
STORED = put("indexed", pk="a", sk="b", g="x", n=1)

# Shape


def test_the_members_are_those_of_the_service():
    """DEL-2."""
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "TableName",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
        "ConditionalOperator",
        "Key",
        "Expected",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Key": "a"}, "Unexpected field type"),
        ({"Key": {"pk": {"S": False}}}, "FALSE_VALUE cannot be converted to String"),
        ({"Expected": {"a": "b"}}, "Unexpected field type"),
        ({"Expected": {"a": {"Exists": 1}}}, "NUMBER_VALUE cannot be converted to Boolean"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, ORD-1."""
    request = {"TableName": "", "Key": {}, "ReturnConsumedCapacity": "X", **members}
    assert answer("DeleteItem", request) == ("SerializationException", message)


def test_what_is_missing_is_reported_with_the_other_members():
    """ERR-DEL-1, TBL-5, ERR-SHAPE-6."""
    assert answer("DeleteItem", {"ReturnValues": "X"}) == (
        "ValidationException",
        detected(
            "; ".join(
                [
                    constraint("null", "tableName", NOT_NULL),
                    constraint("'X'", "returnValues", RETURN_ENUM),
                    constraint("null", "key", NOT_NULL),
                ]
            ),
            3,
        ),
    )


# Rules, in the order of ERR-DEL-1

ORDER = ladder(
    VALID,
    *table_name_steps("ERR-DEL-1"),
    members_step(
        "ERR-DEL-1, ERR-SHAPE-6",
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
        "ERR-DEL-1 legacy and current parameters, LEG-1",
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
        "ERR-DEL-1", ("ConditionExpression",), "", values=": ConditionExpression is null"
    ),
    wrapped(
        "ERR-DEL-1 a value of the key, NUM-2",
        {
            "Key": {"pk": {"N": "x"}},
            "ExpressionAttributeNames": None,
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        NOT_A_NUMBER.format("x"),
    ),
    wrapped(
        "ERR-DEL-1 ReturnValues that only an update has, ERR-DEL-2",
        {
            "Key": {"pk": nested(32)},
            "ReturnValues": "UPDATED_OLD",
            "ExpressionAttributeValues": {":v": {"N": "y"}},
        },
        "ReturnValues can only be ALL_OLD or NONE",
    ),
    step(
        "ERR-DEL-1 an expression value, PRO-6",
        {"ReturnValues": None, "ExpressionAttributeValues": {":v": {"N": "y"}}},
        detected(NOT_A_NUMBER.format("y")),
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    *expression_steps("ERR-DEL-1", "ConditionExpression"),
    *unused_steps("ERR-DEL-1", "ConditionExpression", "attribute_exists(pk.a)"),
    wrapped(
        "ERR-DEL-1 a key of 32 levels, TYP-5",
        {"Key": {"pk": nested(32)}, "ExpressionAttributeValues": None},
        TOO_DEEP,
    ),
    step("ERR-DEL-1 no such table, TBL-4", {"TableName": "none", "Key": {}}, NOT_FOUND),
    *key_steps("ERR-DEL-1"),
    step(
        "QRY-7 a condition below a key",
        {
            "TableName": "indexed",
            "Key": INDEXED_KEY,
            "ConditionExpression": "attribute_exists(pk.a)",
        },
        NOT_SCALAR.format("Key: pk"),
    ),
    step(
        "ERR-DEL-1 the condition, DEL-3, CND-14",
        {"ConditionExpression": "attribute_exists(pk)"},
        FAILED,
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-DEL-1."""
    assert misjudged("DeleteItem", ORDER) == {}


def test_the_structure_of_expected_is_judged_after_the_key():
    """ERR-DEL-1, LEG-4."""
    request = {**VALID, "TableName": "none", "Expected": {"a": {"Exists": True}}}
    assert answer("DeleteItem", {**request, "Key": {"pk": {"N": "x"}}}) == (
        "ValidationException",
        detected(NOT_A_NUMBER.format("x")),
    )
    assert answer("DeleteItem", request) == (
        "ValidationException",
        detected(INVALID + "Value must be provided when Exists is true for Attribute: a"),
    )


# Behaviour


def test_a_delete_removes_the_item_from_the_table_and_its_indexes():
    """DEL-1, WIR-17."""
    emulator = filled("2026-10")
    emulator.call(*STORED)
    assert emulator.call("DeleteItem", VALID) == {}
    sources = [{}, {"IndexName": "all"}, {"IndexName": "keys"}]
    assert [emulator.call("Scan", {"TableName": "indexed", **one})["Count"] for one in sources] == [
        0,
        0,
        0,
    ]


def test_other_items_of_the_partition_stay():
    """DEL-1."""
    emulator = filled("2026-10")
    emulator.call(*STORED)
    emulator.call(*put("indexed", pk="a", sk="c"))
    emulator.call("DeleteItem", VALID)
    assert emulator.call("Scan", {"TableName": "indexed"})["Items"] == [
        wire({"pk": "a", "sk": "c"})
    ]


def test_removing_nothing_succeeds():
    """DEL-1, DEL-2."""
    assert answer("DeleteItem", {**VALID, "ReturnValues": "ALL_OLD"}) == {}


def test_the_old_item_is_answered_if_asked_for():
    """DEL-2, OPC-4."""
    old = {"Attributes": STORED[1]["Item"]}
    asked = {"ALL_OLD": old, "NONE": {}}
    assert {
        values: answer("DeleteItem", {**VALID, "ReturnValues": values}, given=[STORED])
        for values in asked
    } == asked


@pytest.mark.parametrize(
    ("text", "passes"), [("attribute_not_exists(pk)", True), ("attribute_exists(pk)", False)]
)
def test_a_condition_on_no_item_sees_nothing(text, passes):
    """DEL-3, CND-14."""
    expected = {} if passes else FAILED
    assert answer("DeleteItem", {**VALID, "ConditionExpression": text}) == expected


@pytest.mark.parametrize(
    ("asked", "members"), [("ALL_OLD", {"Item": STORED[1]["Item"]}), ("NONE", {}), (None, {})]
)
def test_a_failed_condition_keeps_the_item_and_shows_it_if_asked_for(asked, members):
    """OPC-3, ORD-3, CAP-408."""
    emulator = filled("2026-10")
    emulator.call(*STORED)
    request = {
        **VALID,
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnConsumedCapacity": "TOTAL",
    }
    if asked is not None:
        request["ReturnValuesOnConditionCheckFailure"] = asked
    with pytest.raises(ApiError) as caught:
        emulator.call("DeleteItem", request)
    assert caught.value.members == members
    assert emulator.call("GetItem", VALID) == {"Item": STORED[1]["Item"]}


@pytest.mark.parametrize(("size_bytes", "units"), [(None, 1.0), (1024, 1.0), (1025, 2.0)])
def test_a_delete_costs_what_it_removes(size_bytes, units):
    """RCC-2, CAP-301, CAP-302: and a unit if there is nothing."""
    given = [put("indexed", pk="a", sk="b", v="x" * (size_bytes - 7))] if size_bytes else []
    request = {**VALID, "ReturnConsumedCapacity": "TOTAL", "ReturnValues": "ALL_OLD"}
    assert answer("DeleteItem", request, given=given)["ConsumedCapacity"] == {
        "TableName": "indexed",
        "CapacityUnits": units,
    }


def test_each_index_entry_removed_costs_a_unit():
    """RCC-4, RCC-5, CAP-309."""
    request = {**VALID, "ReturnConsumedCapacity": "INDEXES"}
    given = [put("indexed", pk="a", sk="b", g="x", l="y")]
    assert answer("DeleteItem", request, given=given) == {
        "ConsumedCapacity": {
            "TableName": "indexed",
            "CapacityUnits": 4.0,
            "Table": {"CapacityUnits": 1.0},
            "GlobalSecondaryIndexes": {"keys": {"CapacityUnits": 1.0}},
            "LocalSecondaryIndexes": {
                "local": {"CapacityUnits": 1.0},
                "lean": {"CapacityUnits": 1.0},
            },
        }
    }


def test_collection_metrics_are_those_of_tables_with_a_local_index():
    """ICM-1, CAP-407."""
    asked = {"ReturnItemCollectionMetrics": "SIZE"}
    assert answer("DeleteItem", {**VALID, **asked}, given=[STORED]) == {
        "ItemCollectionMetrics": {
            "ItemCollectionKey": wire({"pk": "a"}),
            "SizeEstimateRangeGB": [0.0, 1.0],
        }
    }
    assert answer("DeleteItem", {"TableName": "hash", "Key": wire({"pk": "a"}), **asked}) == {}
