"""TransactGetItems: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/transact_get_items.py``.
"""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.errors import UnservedMemberWarning
from emulator.operations.transact_get_items import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    CANCELLED,
    CAPACITY_ENUM,
    EMPTY_KEY,
    INDEXED_KEY,
    KEY,
    NAME_PATTERN,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    PAIR,
    TOO_DEEP,
    constraint,
    detected,
    filled,
    keys,
    nested,
    put,
    wire,
)
from tests.operations.ladders import answer, ladder, misjudged, step
from tests.tables import table

SAME_ITEM = "Transaction request cannot include multiple operations on one item"
TOO_LARGE = (
    "Collection size of items exceeded, which can also be caused by the aggregate size of the "
    "items in the transaction exceeding the 4MB limit"
)


def get(key, table="hash", **members):
    """Return one read."""
    return {"Get": {"TableName": table, "Key": key, **members}}


def of(*actions):
    """Return a transaction."""
    return {"TransactItems": list(actions)}


VALID = of(get(KEY))

# Shape


def test_the_members_are_those_of_the_service():
    """TXG-1."""
    of_get = SHAPE.members["TransactItems"].member.members["Get"].members
    assert (list(SHAPE.members), list(of_get)) == (
        ["ReturnConsumedCapacity", "TransactItems"],
        ["TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"],
    )


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({}, "Start of structure or map found where not expected"),
        (["Get"], "Unexpected field type"),
        ([{"Get": {"Key": {"pk": {"S": 1}}}}], "NUMBER_VALUE cannot be converted to String"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(actions, message):
    """WIR-12, ORD-1."""
    request = {"TransactItems": actions, "ReturnConsumedCapacity": "X"}
    assert answer("TransactGetItems", request) == ("SerializationException", message)


@pytest.mark.parametrize(
    ("request_", "problems"),
    [
        ({}, [constraint("null", "transactItems", NOT_NULL)]),
        (of({}), [constraint("null", "transactItems.1.member.get", NOT_NULL)]),
        (of(get(KEY), {"Get": {}}), [
            constraint("null", "transactItems.2.member.get.tableName", NOT_NULL),
            constraint("null", "transactItems.2.member.get.key", NOT_NULL),
        ]),
        (of(get(KEY, "a!b")), [
            constraint("'a!b'", "transactItems.1.member.get.tableName", NAME_PATTERN),
        ]),
        (of(), [constraint("'[]'", "transactItems", AT_LEAST.format(1))]),
    ],
)  # fmt: skip
def test_faults_of_members_are_named_by_their_path(request_, problems):
    """ERR-TX-1, ERR-TX-2, ERR-SHAPE-3."""
    assert answer("TransactGetItems", request_) == (
        "ValidationException",
        detected("; ".join(problems), len(problems)),
    )


def test_a_transaction_has_at_most_a_hundred_actions():
    """TXG-1, ERR-TX-2."""
    assert answer("TransactGetItems", of(*map(get, keys(100)))) == {"Responses": [{}] * 100}
    code, message = answer("TransactGetItems", of(*map(get, keys(101))))
    assert code == "ValidationException"
    assert message.endswith(
        f"at 'transactItems' failed to satisfy constraint: {AT_MOST.format(100)}"
    )


# Rules, in the order of ERR-TX-1: the older wording, in no envelope (PRO-2)

CANCELLED_FIRST = ("TransactionCanceledException", CANCELLED.format("ValidationError, None"))
LAST = get(KEY, "none")
PREFIX = "Invalid ProjectionExpression: "
NAMES = {"#a": "a"}
ORDER = ladder(
    VALID,
    step(
        "ERR-TX-1 an enumeration, OPC-1",
        {"ReturnConsumedCapacity": "X", **of(get({}, ProjectionExpression=""), LAST)},
        detected(constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM)),
    ),
    step(
        "ERR-TX-1 names without an expression, PLH-3",
        {
            "ReturnConsumedCapacity": None,
            **of(get({"pk": {"N": "x"}}, ExpressionAttributeNames=NAMES), LAST),
        },
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    step(
        "ERR-TX-1 a value of a key, NUM-2",
        of(get({"pk": {"N": "x"}}, ProjectionExpression=""), LAST),
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-TX-1 the projection, EXP-3, ERR-TX-7",
        of(get({"pk": nested(32)}, ProjectionExpression=""), LAST),
        PREFIX + "The expression can not be empty;",
    ),
    step(
        "ERR-TX-1 an unused name, PLH-2",
        of(get({"pk": nested(32)}, ProjectionExpression="a", ExpressionAttributeNames=NAMES), LAST),
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    ),
    step(
        "ERR-TX-1, ERR-TX-7 a key of 32 levels, TYP-5", of(get({"pk": nested(32)}), LAST), TOO_DEEP
    ),
    step("ERR-TX-1, ERR-TX-7 no such table, TXW-11", of(get(KEY), get(KEY), LAST), NOT_FOUND),
    step(
        "TXG-3, ERR-TX-7 an empty key, KV-3",
        of(get(KEY), get(KEY), get(wire({"pk": ""}))),
        EMPTY_KEY.format("string", "pk"),
    ),
    step("TXG-2, ERR-TX-4 the same item twice", of(get({}), get(KEY), get(KEY)), SAME_ITEM),
    step("TXG-3 no key cancels, ERR-TX-6", of(get({}), get(KEY)), CANCELLED_FIRST),
    step("TXG-3 another attribute cancels", of(get(PAIR), get(wire({"pk": "b"}))), CANCELLED_FIRST),
    step("TXG-3 another type cancels", of(get(wire({"pk": 1})), get(KEY)), CANCELLED_FIRST),
    step(
        "QRY-7, TXW-12 a path below a key cancels",
        of(get(KEY, ProjectionExpression="pk.a"), get(wire({"pk": "b"}))),
        CANCELLED_FIRST,
    ),
)


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-TX-1."""
    assert misjudged("TransactGetItems", ORDER) == {}


def test_the_first_fault_of_the_first_faulty_action_wins():
    """ERR-TX-1: each action is judged completely before the next."""
    actions = [get(KEY, ProjectionExpression="a,"), get({"pk": {"N": "x"}})]
    assert [answer("TransactGetItems", of(*order))[1] for order in (actions, actions[::-1])] == [
        PREFIX + 'Syntax error; token: "<EOF>", near: ","',
        NOT_A_NUMBER.format("x"),
    ]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (get(PAIR), NOT_THE_SCHEMA),
        (get(wire({"pk": 1})), NOT_THE_SCHEMA),
        (get(KEY, ProjectionExpression="pk.a"), NOT_SCALAR.format("Key: pk")),
    ],
)
def test_a_reason_says_what_was_wrong(action, message):
    """TXG-3, TXW-5, TXW-6: one reason for each action, with a message if it failed."""
    emulator = filled("2026-10")
    with pytest.raises(ApiError) as caught:
        emulator.call("TransactGetItems", of(get(wire({"pk": "b"})), action))
    assert caught.value.members == {
        "CancellationReasons": [{"Code": "None"}, {"Code": "ValidationError", "Message": message}]
    }


# Behaviour


def test_items_come_in_the_order_of_the_request():
    """TXG-1: an empty object for a missing one."""
    request = of(get(PAIR, "pair"), get(wire({"pk": "none"})), get(KEY))
    given = [put("hash", pk="a", x=1), put("pair", pk="a", sk=1)]
    assert answer("TransactGetItems", request, given=given) == {
        "Responses": [{"Item": PAIR}, {}, {"Item": wire({"pk": "a", "x": 1})}]
    }


def test_a_projection_is_that_of_its_action():
    """TXG-1, PRJ-1: nothing of an item is no item."""
    request = of(
        get(KEY, ProjectionExpression="#x", ExpressionAttributeNames={"#x": "x"}),
        get(INDEXED_KEY, "indexed", ProjectionExpression="gone"),
    )
    given = [put("hash", pk="a", x=1, y=2), put("indexed", pk="a", sk="b")]
    assert answer("TransactGetItems", request, given=given) == {
        "Responses": [{"Item": wire({"x": 1})}, {}]
    }


@pytest.mark.parametrize(("extra_bytes", "fits"), [(0, True), (1, False)])
def test_a_transaction_reads_at_most_four_megabytes(extra_bytes, fits):
    """TXG-4, SIZ-7, ERR-TX-5: 4,194,304 bytes, inclusive, whatever is shown of them."""
    sizes = [400_000] * 10 + [194_304 + extra_bytes]
    keys = [wire({"pk": f"{number:02}"}) for number in range(len(sizes))]
    given = [put("hash", pk=f"{n:02}", v="x" * (size - 5)) for n, size in enumerate(sizes)]
    request = of(*(get(key, ProjectionExpression="pk") for key in keys))
    expected = {"Responses": [{"Item": key} for key in keys]}
    assert answer("TransactGetItems", request, given=given) == (
        expected if fits else ("ValidationException", TOO_LARGE)
    )


def test_each_read_costs_twice():
    """RCC-3, RCC-6, CAP-203, CAP-404, CAP-406: missing items too, one entry for each table."""
    request = {
        **of(get(KEY), get(wire({"pk": "none"})), get(PAIR, "pair")),
        "ReturnConsumedCapacity": "INDEXES",
    }
    given = [put("hash", pk="a", v="x" * 5000), put("pair", pk="a", sk=1)]

    def entry(name, units):
        both = {"CapacityUnits": units, "ReadCapacityUnits": units}
        return {"TableName": name, **both, "Table": both}

    consumed = answer("TransactGetItems", request, given=given)["ConsumedCapacity"]
    assert consumed == [entry("hash", 6.0), entry("pair", 2.0)]


def test_a_throttled_transaction_is_cancelled_whole():
    """CAP-611, TXW-6, CAP-308."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", table(provisioned=(3, 10)))
    first = {"TransactItems": [get(key, "tab") for key in keys(1)]}
    emulator.call("TransactGetItems", first)
    with pytest.raises(ApiError) as caught:
        emulator.call("TransactGetItems", {"TransactItems": [get(key, "tab") for key in keys(2)]})
    assert caught.value.code == "TransactionCanceledException"
    codes = [reason["Code"] for reason in caught.value.members["CancellationReasons"]]
    assert "ProvisionedThroughputExceeded" in codes


def test_attributes_to_get_is_no_member_and_passed_over():
    """WIR-15: it is a parameter of GetItem and BatchGetItem alone."""
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table())
    item = {"pk": {"S": "a"}, "b": {"S": "c"}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    requests = [
        {"Get": {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "AttributesToGet": listed}}
        for listed in (["pk"], {"BS": ["x"]}, 5)
    ]
    with pytest.warns(UnservedMemberWarning, match="TransactItems.Get.AttributesToGet"):
        answers = [emu.call("TransactGetItems", {"TransactItems": [get]}) for get in requests]
    assert [answer["Responses"] for answer in answers] == [[{"Item": item}]] * 3


def test_what_was_just_written_is_seen():
    """CAP-1105: however far eventually consistent reads are behind."""
    emu = Emulator(clock=ManualClock(), settings=Settings(ec_lag=60))
    emu.call("CreateTable", table())
    emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "a"}}})
    one = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
    assert emu.call("GetItem", one) == {}
    answered = emu.call("TransactGetItems", {"TransactItems": [{"Get": one}]})
    assert answered["Responses"] == [{"Item": {"pk": {"S": "a"}}}]
