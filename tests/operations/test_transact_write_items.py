"""TransactWriteItems: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/transact_write_items.py``.
"""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.operations.transact_write_items import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    BIG,
    CANCELLED,
    CAPACITY_ENUM,
    EMPTY_KEY,
    INDEXED_KEY,
    INVALID,
    KEY,
    METRICS_ENUM,
    NAME_PATTERN,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
    NOT_SCALAR,
    NOT_THE_SCHEMA,
    OF_VALUES,
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
from tests.operations.ladders import answer, ladder, members_step, misjudged, step
from tests.tables import table

SAME_ITEM = "Transaction request cannot include multiple operations on one item"
TOO_LARGE = "Transaction payload size cannot exceed 4 MB"
CONDITION_FAILED = "The conditional request failed"


def putting(item, table="hash", **members):
    """Return a put."""
    return {"Put": {"TableName": table, "Item": item, **members}}


def deleting(key, table="hash", **members):
    """Return a delete."""
    return {"Delete": {"TableName": table, "Key": key, **members}}


def updating(key, text, table="hash", **members):
    """Return an update."""
    return {"Update": {"TableName": table, "Key": key, "UpdateExpression": text, **members}}


def checking(key, text="attribute_exists(pk)", table="hash", **members):
    """Return a check."""
    return {
        "ConditionCheck": {"TableName": table, "Key": key, "ConditionExpression": text, **members}
    }


def of(*actions):
    """Return a transaction."""
    return {"TransactItems": list(actions)}


VALID = of(putting(KEY))

# Shape


def test_the_members_are_those_of_the_service():
    """TXW-4: no ReturnValues; Update and ConditionCheck need their expression."""
    of_action = SHAPE.members["TransactItems"].member.members
    shared = [
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ReturnValuesOnConditionCheckFailure",
    ]
    assert {name: list(member.members) for name, member in of_action.items()} == {
        "ConditionCheck": ["TableName", "Key", "ConditionExpression", *shared],
        "Put": ["TableName", "Item", "ConditionExpression", *shared],
        "Delete": ["TableName", "Key", "ConditionExpression", *shared],
        "Update": ["TableName", "Key", "UpdateExpression", "ConditionExpression", *shared],
    }
    assert list(SHAPE.members) == [
        "ClientRequestToken",
        "ReturnConsumedCapacity",
        "ReturnItemCollectionMetrics",
        "TransactItems",
    ]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({}, "Start of structure or map found where not expected"),
        ([{"Put": {"Item": {"pk": {"N": 1}}}}], "NUMBER_VALUE cannot be converted to String"),
        ([{"Put": []}],
         "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Put"),
    ],
)  # fmt: skip
def test_a_wrong_json_type_is_reported_before_everything(actions, message):
    """WIR-12, ORD-1."""
    request = {"TransactItems": actions, "ReturnConsumedCapacity": "X"}
    assert answer("TransactWriteItems", request) == ("SerializationException", message)


@pytest.mark.parametrize(
    ("request_", "problems"),
    [
        ({}, [constraint("null", "transactItems", NOT_NULL)]),
        (of(), [constraint("'[]'", "transactItems", AT_LEAST.format(1))]),
        (of({"Update": {"TableName": "hash", "Key": KEY}}),
         [constraint("null", "transactItems.1.member.update.updateExpression", NOT_NULL)]),
        (of(putting(KEY), {"ConditionCheck": {"TableName": "hash", "Key": KEY}}),
         [constraint("null", "transactItems.2.member.conditionCheck.conditionExpression",
                     NOT_NULL)]),
        (of(putting(KEY, "a!b")),
         [constraint("'a!b'", "transactItems.1.member.put.tableName", NAME_PATTERN)]),
        ({**VALID, "ClientRequestToken": ""},
         [constraint("''", "clientRequestToken", AT_LEAST.format(1))]),
        ({**VALID, "ClientRequestToken": "x" * 37},
         [constraint(f"'{'x' * 37}'", "clientRequestToken", AT_MOST.format(36))]),
    ],
)  # fmt: skip
def test_faults_of_members_are_named_by_their_path(request_, problems):
    """ERR-TX-1, ERR-TX-2, ERR-SHAPE-3, TXW-4, TXW-9."""
    assert answer("TransactWriteItems", request_) == (
        "ValidationException",
        detected("; ".join(problems), len(problems)),
    )


def test_a_transaction_has_at_most_a_hundred_actions():
    """TXW-1, ERR-TX-2."""
    assert answer("TransactWriteItems", of(*map(putting, keys(100)))) == {}
    code, message = answer("TransactWriteItems", of(*map(putting, keys(101))))
    assert code == "ValidationException"
    assert message.endswith(
        f"at 'transactItems' failed to satisfy constraint: {AT_MOST.format(100)}"
    )


# Rules, in the order of ERR-TX-1: the older wording, in no envelope (PRO-2)

LAST = putting(KEY, "none")
PREFIX = "Invalid ConditionExpression: "
BAD_NUMBER = {"pk": {"N": "x"}}


def cancelled(*codes):
    """Return the error of a cancelled transaction."""
    return "TransactionCanceledException", CANCELLED.format(", ".join(codes))


ORDER = ladder(
    VALID,
    members_step(
        "ERR-TX-1, OPC-2;",
        {
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
            **of({}, putting(BAD_NUMBER), LAST),
        },
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'X'", "returnItemCollectionMetrics", METRICS_ENUM),
    ),
    step(
        "ERR-TX-3 nothing to do",
        {
            "ReturnConsumedCapacity": None,
            "ReturnItemCollectionMetrics": None,
            **of({}, putting(BAD_NUMBER), LAST),
        },
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
    ),
    step(
        "TXW-1, ERR-TX-3 two things to do",
        of({**putting(BAD_NUMBER), **deleting(KEY)}, LAST),
        "TransactItems can only contain one of Check, Put, Update or Delete",
    ),
    step(
        "ERR-TX-1 names without an expression, PLH-3",
        of(putting(BAD_NUMBER, ExpressionAttributeNames={"#a": "a"}), LAST),
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    step(
        "ERR-TX-1 a value, NUM-2",
        of(putting(BAD_NUMBER, ConditionExpression="a ="), LAST),
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "ERR-TX-1 an expression value, PRO-6",
        of(checking(KEY, "a =", ExpressionAttributeValues={":v": {"N": "y"}}), LAST),
        OF_VALUES.format(NOT_A_NUMBER.format("y"), ":v"),
    ),
    step(
        "ERR-TX-1 the update, before its condition, ERR-EXP-30",
        of(updating(KEY, "SET a", ConditionExpression="a ="), LAST),
        'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "a"',
    ),
    step(
        "ERR-TX-1 the condition, ERR-TX-7",
        of(deleting({"pk": nested(32)}, ConditionExpression="a ="), LAST),
        PREFIX + 'Syntax error; token: "<EOF>", near: "="',
    ),
    step(
        "ERR-TX-1 an unused value, PLH-2",
        of(deleting({"pk": nested(32)}, ConditionExpression="a = b",
                    ExpressionAttributeValues=wire({":v": 1})), LAST),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
    ),
    step(
        "SIZ-4, CAP-107, ERR-TX-7 a put of 409,601 bytes",
        of(putting(wire({"pk": "a", "v": "x" * 409_598})), LAST),
        "Item size has exceeded the maximum allowed size",
    ),
    step("ERR-TX-7 a key of 32 levels, TYP-5", of(deleting({"pk": nested(32)}), LAST), TOO_DEEP),
    step(
        "TXW-10, ERR-TX-5 more than four megabytes",
        of(*(putting(wire({"pk": f"{n}", "v": BIG})) for n in range(15)), LAST),
        TOO_LARGE,
    ),
    step(
        "TXW-11, ERR-TX-7 no such table",
        of(putting(KEY), deleting(KEY), putting(wire({"pk": ""})), LAST),
        NOT_FOUND,
    ),
    step(
        "KV-8, ERR-TX-7 an empty key, KV-3",
        of(putting(KEY), deleting(KEY), putting(wire({"pk": ""}))),
        EMPTY_KEY.format("string", "pk"),
    ),
    step(
        "IXV-8 an empty index key, IXV-2",
        of(putting(KEY), deleting(KEY),
           putting(wire({"pk": "a", "sk": "b", "l": ""}), "indexed")),
        "One or more parameter values are not valid. A value specified for a secondary index "
        "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
        "string value. IndexName: lean, IndexKey: l",
    ),
    step(
        "IXV-8 an update that empties an index key, IXV-3",
        of(putting(KEY), deleting(KEY),
           updating(INDEXED_KEY, "SET g = :e", "indexed",
                    ExpressionAttributeValues=wire({":e": ""}))),
        "One or more parameter values are not valid. The update expression attempted to update "
        "a secondary index key to a value that is not supported. The AttributeValue for a key "
        "attribute cannot contain an empty string value.",
    ),
    step(
        "TXW-2, ERR-TX-4 two actions on one item",
        of(putting(wire({"pk": 1})), putting(KEY), checking(KEY)),
        SAME_ITEM,
    ),
    step(
        "KV-8, TXW-12 the first key of another type cancels alone",
        of(checking(wire({"pk": "none"})), putting(wire({"pk": 1})), deleting(PAIR)),
        cancelled("None", "ValidationError", "None"),
    ),
    step(
        "TXW-8 every failing action has its code",
        of(checking(KEY), putting(wire({"pk": "b"})), updating(wire({"pk": "c"}), "SET a = gone")),
        cancelled("ConditionalCheckFailed", "None", "ValidationError"),
    ),
)  # fmt: skip


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-TX-1."""
    assert misjudged("TransactWriteItems", ORDER) == {}


def test_the_first_fault_of_the_first_faulty_action_wins():
    """ERR-TX-1: each action is judged completely before the next."""
    actions = [deleting(KEY, ConditionExpression="a ="), putting(BAD_NUMBER)]
    assert [answer("TransactWriteItems", of(*order))[1] for order in (actions, actions[::-1])] == [
        PREFIX + 'Syntax error; token: "<EOF>", near: "="',
        NOT_A_NUMBER.format("x"),
    ]


# Behaviour


def contents(emulator, name="hash"):
    """Return the items of a table in the order of their keys."""
    items = emulator.call("Scan", {"TableName": name})["Items"]
    return sorted(items, key=lambda item: item["pk"]["S"])


def refused(emulator, *actions):
    """Return message and reasons of a transaction that is cancelled."""
    with pytest.raises(ApiError) as caught:
        emulator.call("TransactWriteItems", of(*actions))
    assert caught.value.code == "TransactionCanceledException"
    return caught.value.message, caught.value.members["CancellationReasons"]


def with_items():
    """Return an emulator with three items in ``hash``."""
    emulator = filled("2026-10")
    for pk in "abc":
        emulator.call(*put("hash", pk=pk, x=1))
    return emulator


def test_every_action_is_carried_out():
    """TXW-3, TXW-13, WIR-17."""
    emulator = with_items()
    request = of(
        putting(wire({"pk": "new"})),
        deleting(wire({"pk": "a"})),
        updating(
            wire({"pk": "b"}), "SET x = x + :one", ExpressionAttributeValues=wire({":one": 1})
        ),
        checking(wire({"pk": "c"})),
        putting(PAIR, "pair"),
    )
    assert emulator.call("TransactWriteItems", request) == {}
    assert (contents(emulator), contents(emulator, "pair")) == (
        [wire({"pk": "b", "x": 2}), wire({"pk": "c", "x": 1}), wire({"pk": "new"})],
        [PAIR],
    )


def test_a_cancelled_transaction_changes_nothing_and_names_every_reason():
    """TXW-3, TXW-5, TXW-8, ERR-TX-6, VEC-10, ORD-3."""
    emulator = with_items()
    before = contents(emulator)
    message, reasons = refused(
        emulator,
        putting(wire({"pk": "new"})),
        checking(wire({"pk": "none"})),
        deleting(wire({"pk": "a"}), ConditionExpression="attribute_not_exists(pk)"),
    )
    failed = {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED}
    assert reasons == [{"Code": "None"}, failed, failed]
    assert message == CANCELLED.format("None, ConditionalCheckFailed, ConditionalCheckFailed")
    assert contents(emulator) == before


@pytest.mark.parametrize(
    ("asked", "shown"), [("ALL_OLD", {"Item": wire({"pk": "a", "x": 1})}), ("NONE", {}), (None, {})]
)
def test_a_failed_condition_shows_the_stored_item_if_asked_for(asked, shown):
    """TXW-7: if there is one."""
    members = {} if asked is None else {"ReturnValuesOnConditionCheckFailure": asked}
    _, reasons = refused(
        with_items(),
        checking(KEY, "attribute_not_exists(pk)", **members),
        checking(wire({"pk": "none"}), **members),
    )
    failed = {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED}
    assert reasons == [{**failed, **shown}, failed]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (putting(wire({"pk": 1})), INVALID + "Type mismatch for key pk expected: S actual: N"),
        (putting({}), INVALID + "Missing the key pk in the item"),
        (deleting(wire({"pk": 1})), NOT_THE_SCHEMA),
        (checking(PAIR), NOT_THE_SCHEMA),
        (
            putting(wire({"pk": "a", "sk": "b", "g": 1}), "indexed"),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all",
        ),
        (
            putting(wire({"pk": "a", "sk": "b", "g": "x" * 2049}), "indexed"),
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        (checking(KEY, "attribute_exists(pk.a)"), NOT_SCALAR.format("Key: pk")),
        (
            updating(INDEXED_KEY, "SET g = :n", "indexed",
                     ExpressionAttributeValues=wire({":n": 1})),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all",
        ),
        (
            updating(KEY, "SET pk = :v", ExpressionAttributeValues=wire({":v": "b"})),
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            updating(KEY, "SET y = gone"),
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            updating(KEY, "SET gone.y = x"),
            "The document path provided in the update expression is invalid for update",
        ),
        (
            updating(KEY, "SET x = list_append(x, x)"),
            "An operand in the update expression has an incorrect data type",
        ),
        (
            updating(KEY, "SET v = :v", ExpressionAttributeValues=wire({":v": "x" * 409_600})),
            "Item size to update has exceeded the maximum allowed size",
        ),
    ],
)  # fmt: skip
def test_what_the_single_operation_refuses_cancels(action, message):
    """TXW-6, TXW-12, KV-8, IXV-8, SIZ-4, CAP-107."""
    _, reasons = refused(with_items(), putting(wire({"pk": "new"})), action)
    assert reasons == [{"Code": "None"}, {"Code": "ValidationError", "Message": message}]


@pytest.mark.parametrize(("extra_bytes", "fits"), [(0, True), (1, False)])
def test_a_transaction_writes_at_most_four_megabytes(extra_bytes, fits):
    """TXW-10, SIZ-7, ERR-TX-5: 4,194,304 bytes, inclusive."""
    sizes = [400_000] * 10 + [194_304 + extra_bytes]
    items = [wire({"pk": f"{n:02}", "v": "x" * (size - 5)}) for n, size in enumerate(sizes)]
    assert answer("TransactWriteItems", of(*map(putting, items))) == (
        {} if fits else ("ValidationException", TOO_LARGE)
    )


def test_the_items_that_a_transaction_deletes_are_not_its_payload():
    """TXW-10: observed in ScyllaDB's tests, run against the service; 5 MB are deleted."""
    emulator = Emulator()
    emulator.call("CreateTable", table(TableName="hash"))
    keys = [wire({"pk": str(number)}) for number in range(13)]
    for key in keys:
        emulator.call("PutItem", {"TableName": "hash", "Item": key | wire({"v": "x" * 400_000})})
    deletes = [{"Delete": {"TableName": "hash", "Key": key}} for key in keys]
    assert emulator.call("TransactWriteItems", {"TransactItems": deletes}) == {}


def test_an_update_is_measured_without_its_statement():
    """SIZ-5: in a transaction the finished item alone counts."""
    value = wire({":v": "x" * (409_600 - 5)})
    action = updating(KEY, "SET vv = :v", ExpressionAttributeValues=value)
    assert answer("TransactWriteItems", of(action)) == {}


TOKEN = {"ClientRequestToken": "token"}


def adding(**members):
    """Return a transaction that adds one to the item."""
    one = wire({":one": 1})
    return {**of(updating(KEY, "ADD x :one", ExpressionAttributeValues=one)), **TOKEN, **members}


def on_a_clock():
    """Return an emulator on virtual time, with an item."""
    emulator = Emulator(clock=ManualClock())
    emulator.call("CreateTable", table(TableName="hash"))
    emulator.call(*put("hash", pk="a", x=1))
    return emulator


def test_a_token_makes_a_repeat_harmless_and_priced_as_a_read():
    """TXW-9, CAP-307: whatever it asks to be shown."""
    emulator = on_a_clock()
    emulator.call("TransactWriteItems", adding())
    repeat = emulator.call("TransactWriteItems", adding(ReturnConsumedCapacity="TOTAL"))
    assert contents(emulator) == [wire({"pk": "a", "x": 2})]
    assert repeat == {
        "ConsumedCapacity": [{"TableName": "hash", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]
    }


@pytest.mark.parametrize(("seconds", "result"), [(599, 2), (601, 3)])
def test_a_token_holds_for_ten_minutes(seconds, result):
    """TXW-9."""
    emulator = on_a_clock()
    emulator.call("TransactWriteItems", adding())
    emulator.clock.advance(seconds)
    emulator.call("TransactWriteItems", adding())
    assert contents(emulator) == [wire({"pk": "a", "x": result})]


def test_a_token_is_bound_to_its_parameters():
    """TXW-9, ERR-TX-8, ERR-TYPE-13."""
    emulator = on_a_clock()
    emulator.call("TransactWriteItems", adding())
    with pytest.raises(ApiError) as caught:
        emulator.call("TransactWriteItems", {**of(putting(KEY)), **TOKEN})
    assert caught.value.code == "IdempotentParameterMismatchException"


def test_a_cancelled_transaction_does_not_bind_its_token():
    """TXW-9, ORD-3."""
    emulator = on_a_clock()
    with pytest.raises(ApiError):
        emulator.call("TransactWriteItems", {**of(checking(wire({"pk": "none"}))), **TOKEN})
    assert emulator.call("TransactWriteItems", adding()) == {}


def test_each_action_costs_twice_and_an_index_once():
    """RCC-3, RCC-6, CAP-305, CAP-306, CAP-404, CAP-406."""
    request = {
        **of(
            putting(wire({"pk": "a", "v": "x" * 1100})),
            deleting(wire({"pk": "none"})),
            checking(wire({"pk": "nothing"}), "attribute_not_exists(pk)"),
            putting(wire({"pk": "a", "sk": "b", "g": "x"}), "indexed"),
        ),
        "ReturnConsumedCapacity": "INDEXES",
    }

    def both(units):
        return {"CapacityUnits": units, "WriteCapacityUnits": units}

    assert answer("TransactWriteItems", request)["ConsumedCapacity"] == [
        {"TableName": "hash", **both(8.0), "Table": both(8.0)},
        {
            "TableName": "indexed",
            **both(3.0),
            "Table": both(2.0),
            "GlobalSecondaryIndexes": {"keys": both(1.0)},
        },
    ]


def test_collection_metrics_come_by_table():
    """ICM-1, CAP-407."""
    request = {
        **of(putting(KEY), putting(wire({"pk": "a", "sk": "b"}), "indexed")),
        "ReturnItemCollectionMetrics": "SIZE",
    }
    metrics = {"ItemCollectionKey": KEY, "SizeEstimateRangeGB": [0.0, 1.0]}
    assert answer("TransactWriteItems", request) == {
        "ItemCollectionMetrics": {"indexed": [metrics]}
    }


def test_a_transaction_in_progress_conflicts():
    """TXW-6, ERR-TYPE-11."""
    emulator = Emulator(clock=ManualClock(), settings=Settings(transaction_seconds=1.0))
    emulator.call("CreateTable", table(TableName="hash"))
    emulator.call("TransactWriteItems", VALID)
    message, reasons = refused(emulator, putting(KEY), putting(wire({"pk": "b"})))
    assert message == CANCELLED.format("TransactionConflict, None")
    assert reasons == [
        {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"},
        {"Code": "None"},
    ]


def test_a_throttled_transaction_is_cancelled_whole():
    """CAP-611, TXW-6, CAP-308."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", table(TableName="hash", provisioned=(5, 3)))
    emulator.call("TransactWriteItems", VALID)
    _, reasons = refused(emulator, *map(putting, keys(2)))
    assert "ProvisionedThroughputExceeded" in [reason["Code"] for reason in reasons]
    assert contents(emulator) == [KEY]
