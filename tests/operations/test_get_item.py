"""GetItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/get_item.py``.
"""

import pytest

from emulator import Emulator, ManualClock, Settings
from emulator.operations.get_item import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    CAPACITY_ENUM,
    INDEXED_KEY,
    INVALID,
    MIXED,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    TOO_DEEP,
    constraint,
    detected,
    nested,
    put,
    wire,
)
from tests.operations.ladders import (
    answer,
    key_steps,
    ladder,
    members_step,
    misjudged,
    placeholder_steps,
    step,
    table_name_steps,
)
from tests.tables import table

VALID = {"TableName": "indexed", "Key": INDEXED_KEY}

# Shape


def test_the_members_are_those_of_the_service():
    """GET-2."""
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "TableName",
        "Key",
        "AttributesToGet",
        "ConsistentRead",
        "ProjectionExpression",
        "ExpressionAttributeNames",
    ]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Key": 1}, "Unexpected field type"),
        ({"Key": {"pk": {"N": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ({"ConsistentRead": "true"}, "STRING_VALUE cannot be converted to Boolean"),
        ({"AttributesToGet": "a"}, "Unexpected field type"),
        ({"AttributesToGet": {}}, "Start of structure or map found where not expected"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(members, message):
    """WIR-12, WIR-13, ORD-1."""
    request = {"TableName": "", "Key": {}, "ReturnConsumedCapacity": "X", **members}
    assert answer("GetItem", request) == ("SerializationException", message)


def test_what_is_missing_is_reported_with_the_other_members():
    """GET-4, TBL-5."""
    assert answer("GetItem", {"AttributesToGet": []}) == (
        "ValidationException",
        detected(
            "; ".join(
                [
                    constraint("null", "tableName", NOT_NULL),
                    constraint("null", "key", NOT_NULL),
                    constraint("'[]'", "attributesToGet", AT_LEAST.format(1)),
                ]
            ),
            3,
        ),
    )


# Rules, in the order of ERR-GET-1: the current layer wraps none of them (PRO-2)

PREFIX = "Invalid ProjectionExpression: "
NO_NAMES = {"ExpressionAttributeNames": None}


def projecting(rules, text, message):
    """Return a fault of the projection, beside names that come later."""
    names = {"#u": "u", "#v": "u"}
    fault = {"ProjectionExpression": text, "ExpressionAttributeNames": names}
    return step(f"ERR-GET-1 {rules}", fault, message)


ORDER = ladder(
    VALID,
    *table_name_steps("ERR-GET-1"),
    members_step(
        "ERR-GET-1",
        {"TableName": "none", "ReturnConsumedCapacity": "X", "AttributesToGet": []},
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'[]'", "attributesToGet", AT_LEAST.format(1)),
    ),
    step(
        "ERR-GET-1 legacy and current parameters, LEG-1",
        {
            "ReturnConsumedCapacity": None,
            "AttributesToGet": ["a", "a"],
            "ProjectionExpression": "",
        },
        MIXED % ("AttributesToGet", "ProjectionExpression"),
    ),
    *placeholder_steps("ERR-GET-1", ("ProjectionExpression", "AttributesToGet"), "", make=step)[:1],
    step(
        "ERR-GET-1 the same name twice, PRJ-5",
        {"AttributesToGet": ["a", "b", "a"], "ProjectionExpression": None, **NO_NAMES},
        INVALID + "Duplicate value in attribute name: a",
    ),
    *placeholder_steps("ERR-GET-1", ("ProjectionExpression",), "", make=step)[1:],
    step(
        "ERR-GET-1 a value of the key, NUM-2",
        {
            "AttributesToGet": None,
            "Key": {"pk": {"N": "x"}},
            "ProjectionExpression": "",
            **NO_NAMES,
        },
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-GET-1 an empty projection, EXP-3",
        {"Key": {"pk": nested(32)}, "ProjectionExpression": "", **NO_NAMES},
        PREFIX + "The expression can not be empty;",
    ),
    projecting(
        "a projection of 4,097 bytes, EXP-4",
        "," * 4097,
        PREFIX + "Expression size has exceeded the maximum allowed size; expression size: 4097",
    ),
    projecting(
        "syntax, LEX-8, ERR-GET-2",
        "!!! INVALID !!!",
        PREFIX + 'Syntax error; token: "!", near: "!!"',
    ),
    projecting(
        "a reserved word, LEX-7",
        "a, name",
        PREFIX + "Attribute name is a reserved keyword; reserved keyword: name",
    ),
    projecting(
        "an undefined name, PLH-1",
        "#gone, #u, #v",
        PREFIX + "An expression attribute name used in the document path is not defined; "
        "attribute name: #gone",
    ),
    projecting(
        "overlapping paths, PRJ-3, PLH-8",
        "#u, #v",
        PREFIX + "Two document paths overlap with each other; must remove or rewrite one of these "
        "paths; path one: [u], path two: [u]",
    ),
    projecting(
        "an unused name, PLH-2",
        "#u",
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#v}",
    ),
    step(
        "ERR-GET-1 a key of 32 levels, TYP-5",
        {"Key": {"pk": nested(32)}, "ProjectionExpression": "pk.a", **NO_NAMES},
        TOO_DEEP,
    ),
    step("ERR-GET-1 no such table, TBL-4", {"TableName": "none", "Key": {}}, NOT_FOUND),
    *key_steps("ERR-GET-1"),
    step(
        "QRY-7 a path below a key",
        {"TableName": "indexed", "Key": INDEXED_KEY, "ProjectionExpression": "pk.a"},
        NOT_SCALAR.format("Key: pk"),
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-GET-1, ERR-VAL-2."""
    assert misjudged("GetItem", ORDER) == {}


# Behaviour

ITEM = put(
    "indexed", pk="a", sk="b", n=1, m={"M": wire({"x": 1, "y": [1, 2, 3]})}, q=["0", "1", "2"]
)  # fmt: skip


def test_the_item_is_answered_whole():
    """GET-1."""
    assert answer("GetItem", VALID, given=[ITEM]) == {"Item": ITEM[1]["Item"]}


def test_no_item_is_no_member():
    """GET-1, WIR-17."""
    assert answer("GetItem", VALID) == {}


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("n", {"n": 1}),
        ("m.x", {"m": {"M": wire({"x": 1})}}),
        ("m.y[2], m.y[0]", {"m": {"M": wire({"y": [1, 3]})}}),
        ("q[2], q[0]", {"q": ["0", "2"]}),
        ("#n, m.x, gone", {"n": 1, "m": {"M": wire({"x": 1})}}),
        ("m[0], q.x", {}),
        ("gone", {}),
    ],
)
def test_a_projection_prunes_the_item(text, item):
    """PRJ-1, PRJ-2, PRJ-4: keys are not added, and nothing of an item is an empty one."""
    request = {**VALID, "ProjectionExpression": text}
    if "#n" in text:
        request["ExpressionAttributeNames"] = {"#n": "n"}
    assert answer("GetItem", request, given=[ITEM]) == {"Item": wire(item)}


def test_an_alias_names_one_component():
    """PLH-7: a dot in it does not split."""
    request = {
        **VALID,
        "ProjectionExpression": "#d",
        "ExpressionAttributeNames": {"#d": "a.b"},
    }
    given = [put("indexed", pk="a", sk="b", **{"a.b": "dotted", "a": {"M": wire({"b": "nested"})}})]
    assert answer("GetItem", request, given=given) == {"Item": wire({"a.b": "dotted"})}


def test_attributes_to_get_are_names_at_the_top():
    """LEG-10, PRJ-5."""
    request = {**VALID, "AttributesToGet": ["n", "m.x", "gone"]}
    assert answer("GetItem", request, given=[ITEM]) == {"Item": wire({"n": 1})}


def sized(size_bytes):
    """Return a put of an item of so many bytes."""
    return put("indexed", pk="a", sk="b", v="x" * (size_bytes - 7))


@pytest.mark.parametrize(
    ("size_bytes", "consistent", "units"),
    [
        (None, False, 0.5),
        (None, True, 1.0),
        (4096, False, 0.5),
        (4096, True, 1.0),
        (4097, False, 1.0),
        (4097, True, 2.0),
        (409_600, True, 100.0),
    ],
)
def test_a_read_costs_a_unit_for_each_four_kilobytes(size_bytes, consistent, units):
    """RCC-1, CAP-201, CAP-402: half if eventually consistent; a miss like the smallest hit."""
    given = [] if size_bytes is None else [sized(size_bytes)]
    request = {
        **VALID,
        "ProjectionExpression": "gone",
        "ConsistentRead": consistent,
        "ReturnConsumedCapacity": "TOTAL",
    }
    consumed = answer("GetItem", request, given=given)["ConsumedCapacity"]
    assert consumed == {"TableName": "indexed", "CapacityUnits": units}


def test_consumed_capacity_x_in_three_ways():
    """OPC-1, CAP-401, CAP-402, RCC-5."""

    def consumed(mode):
        return answer("GetItem", {**VALID, "ReturnConsumedCapacity": mode})

    assert [consumed(mode) for mode in ("NONE", "TOTAL", "INDEXES")] == [
        {},
        {"ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": 0.5}},
        {
            "ConsumedCapacity": {
                "TableName": "indexed",
                "CapacityUnits": 0.5,
                "Table": {"CapacityUnits": 0.5},
            }
        },
    ]


def test_a_consistent_read_sees_what_an_eventual_one_may_not():
    """GET-2: under ``ec_lag`` an eventual read may be stale."""
    emulator = Emulator(clock=ManualClock(), settings=Settings(ec_lag=60.0))
    emulator.call("CreateTable", table())
    emulator.call(*put("tab", pk="a"))
    request = {"TableName": "tab", "Key": wire({"pk": "a"})}
    assert emulator.call("GetItem", {**request, "ConsistentRead": True}) == {
        "Item": wire({"pk": "a"})
    }
    assert emulator.call("GetItem", request) == {}
