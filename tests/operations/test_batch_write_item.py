"""BatchWriteItem: its shape, its rules in order, its behaviour.

Further requests with their whole answers stand in ``cases/batch_write_item.py``.
"""

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.operations.batch_write_item import SHAPE
from tests.operations.cases.case import (
    AT_LEAST,
    AT_MOST,
    CAPACITY_ENUM,
    DUPLICATES,
    EMPTY_KEY,
    INVALID,
    KEY,
    METRICS_ENUM,
    NAME_PATTERN,
    NOT_A_NUMBER,
    NOT_FOUND,
    NOT_NULL,
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
from tests.operations.ladders import answer, ladder, members_step, misjudged, step
from tests.tables import table


def putting(item):
    """Return a put of an item."""
    return {"PutRequest": {"Item": item}}


def deleting(key):
    """Return a delete of a key."""
    return {"DeleteRequest": {"Key": key}}


def of(*requests, **others):
    """Return a batch on the table ``hash``, and on other tables."""
    return {"RequestItems": {"hash": list(requests), **others}}


VALID = of(putting(KEY))

# Shape


def test_the_members_are_those_of_the_service():
    """BWI-1: no condition, no ReturnValues."""
    of_request = SHAPE.members["RequestItems"].member.member.members
    assert {name: list(member.members) for name, member in of_request.items()} == {
        "PutRequest": ["Item"],
        "DeleteRequest": ["Key"],
    }
    assert list(SHAPE.members) == [
        "ReturnConsumedCapacity",
        "ReturnItemCollectionMetrics",
        "RequestItems",
    ]


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ("hash", "Unexpected field type"),
        ({"hash": {}}, "Start of structure or map found where not expected"),
        ({"hash": [5]}, "Unexpected field type"),
        ({"hash": [putting({"pk": {"N": 5}})]}, "NUMBER_VALUE cannot be converted to String"),
        # Found by fuzzing: the echo of the whole request met it first.
        ({"hash": [putting({"pk": 5})], "other": []}, "Unexpected field type"),
        ({"hash": [{"DeleteRequest": {"Key": {"pk": "x"}}}], "other": []}, "Unexpected field type"),
    ],
)
def test_a_wrong_json_type_is_reported_before_everything(requested, message):
    """WIR-12, ORD-1."""
    request = {"RequestItems": requested, "ReturnConsumedCapacity": "X"}
    assert answer("BatchWriteItem", request) == ("SerializationException", message)


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({}, "requestItems"),
        (of({"PutRequest": {}}), "requestItems.hash.member.1.member.putRequest.item"),
        (of(putting(KEY), {"DeleteRequest": {}}),
         "requestItems.hash.member.2.member.deleteRequest.key"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_by_its_path(request_, path):
    """ERR-SHAPE-3."""
    assert answer("BatchWriteItem", request_) == (
        "ValidationException",
        detected(constraint("null", path, NOT_NULL)),
    )


# Rules, in the order of ERR-BWRITE-1: the older wording, in no envelope (PRO-2)

SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes"
)
COUNTS = f"Map value must satisfy constraint: [{AT_MOST.format(25)}, {AT_LEAST.format(1)}]"
ORDER = ladder(
    VALID,
    step(
        "ERR-BWRITE-3 nothing",
        {
            "RequestItems": {},
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        "The requestItems parameter is required for BatchWriteItem",
    ),
    members_step(
        "ERR-BWRITE-1, OPC-2;",
        {
            "RequestItems": {"none": [putting(KEY), putting(KEY)]},
            "ReturnConsumedCapacity": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        constraint("'X'", "returnConsumedCapacity", CAPACITY_ENUM),
        constraint("'X'", "returnItemCollectionMetrics", METRICS_ENUM),
    ),
    step(
        "ERR-BWRITE-1 a table name of wrong characters",
        {
            "RequestItems": {"a!b": []},
            "ReturnConsumedCapacity": None,
            "ReturnItemCollectionMetrics": None,
        },
        detected(
            constraint(
                "'{a!b=[]}'",
                "requestItems",
                f"Map keys must satisfy constraint: [{AT_MOST.format(255)}, {AT_LEAST.format(3)}, "
                f"{NAME_PATTERN}]",
            )
            + "; "
            + constraint("'{a!b=[]}'", "requestItems", COUNTS),
            2,
        ),
    ),
    step(
        "ERR-BWRITE-2 an empty list",
        of(none=[{}]),
        detected(constraint("'{hash=[], none=[WriteRequest()]}'", "requestItems", COUNTS)),
    ),
    step(
        "ERR-BWRITE-2 26 requests of two tables",
        of(*map(putting, keys(25)), none=[{}]),
        "Too many items requested for the BatchWriteItem call",
    ),
    step("BWI-5 neither put nor delete", of({}, putting({"pk": {"N": "x"}})), SEVERAL),
    step(
        "BWI-5 put and delete",
        of({**putting({"pk": {"N": "x"}}), **deleting(KEY)}, none=[putting(KEY)]),
        SEVERAL,
    ),
    step(
        "ERR-BWRITE-1 a value, NUM-2, ERR-VAL-2",
        of(putting(wire({"pk": "a", "v": "x" * 409_600})), deleting({"pk": {"N": "x"}})),
        NOT_A_NUMBER.format("x"),
    ),
    step(
        "BWI-4 an item of 409,601 bytes, SIZ-3",
        of(putting(wire({"pk": "a", "v": "x" * 409_598})), none=[putting(KEY)]),
        "Item size has exceeded the maximum allowed size",
    ),
    step(
        "TYP-5 an item of 32 levels",
        of(putting({"pk": {"S": "a"}, "d": nested(32)}), none=[putting(KEY)]),
        TOO_DEEP,
    ),
    step(
        "ERR-BWRITE-1 no such table",
        of(putting(PAIR), putting({}), none=[putting(KEY)]),
        NOT_FOUND,
    ),
    step(
        "ERR-BWRITE-4, BWI-6 a put without its key, KV-6",
        of(putting({}), putting(KEY), putting(KEY)),
        NOT_THE_SCHEMA,
    ),
    step(
        "ERR-BWRITE-4, BWI-6 a put with a key of another type, KV-6",
        of(putting(wire({"pk": 1})), putting(KEY), putting(KEY)),
        NOT_THE_SCHEMA,
    ),
    step(
        "ERR-BWRITE-4 a delete with more than its key, KV-6",
        of(deleting(PAIR), putting(KEY), putting(KEY)),
        NOT_THE_SCHEMA,
    ),
    step(
        "KV-3 an empty key",
        of(putting(wire({"pk": ""})), putting(KEY), putting(KEY)),
        EMPTY_KEY.format("string", "pk"),
    ),
    step(
        "ERR-BWRITE-4, BWI-2 two puts of one key",
        of(putting(KEY), putting(wire({"pk": "a", "x": 1})),
           indexed=[putting(wire({"pk": "a", "sk": "b", "g": 1}))]),
        DUPLICATES,
    ),
    step(
        "ERR-BWRITE-4, BWI-2 a put and a delete of one key",
        of(putting(KEY), deleting(KEY), indexed=[putting(wire({"pk": "a", "sk": "b", "g": 1}))]),
        DUPLICATES,
    ),
    step(
        "ERR-BWRITE-1 an index key of another type, IXV-1",
        {"RequestItems": {"indexed": [putting(wire({"pk": "a", "sk": "b", "g": 1}))]}},
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: all",
    ),
)  # fmt: skip


def test_a_fault_is_reported_before_those_that_come_after_it():
    """ERR-BWRITE-1."""
    assert misjudged("BatchWriteItem", ORDER) == {}


@pytest.mark.parametrize("profile", ["2026-10", "classic"])
def test_twenty_six_requests_are_echoed(profile):
    """ERR-BWRITE-2."""
    code, message = answer("BatchWriteItem", of(*map(putting, keys(26))), profile)
    shown = ", ".join(
        f"WriteRequest(putRequest=PutRequest(item={{pk=AttributeValue(S={number})}}))"
        for number in range(26)
    )
    expected = detected(constraint(f"'{{hash=[{shown}]}}'", "requestItems", COUNTS))
    assert (code, message) == ("ValidationException", expected)


def test_a_batch_has_at_most_sixteen_megabytes():
    """BWI-4: which twenty-five of the largest items do not reach."""
    largest = [wire({"pk": f"{n:02}", "v": "x" * 409_595}) for n in range(25)]
    assert answer("BatchWriteItem", of(*map(putting, largest))) == {"UnprocessedItems": {}}


# Behaviour


def contents(emulator, name):
    """Return the items of a table in the order of their keys."""
    items = emulator.call("Scan", {"TableName": name})["Items"]
    return sorted(items, key=lambda item: item["pk"]["S"])


def test_a_batch_puts_and_deletes_in_several_tables():
    """BWI-1, BWI-3, PUT-1, DEL-1: removing nothing succeeds."""
    emulator = filled("2026-10")
    emulator.call(*put("hash", pk="old", x=1))
    emulator.call(*put("hash", pk="gone"))
    request = of(
        putting(wire({"pk": "old", "y": 2})),
        putting(wire({"pk": "new"})),
        deleting(wire({"pk": "gone"})),
        deleting(wire({"pk": "never"})),
        pair=[putting(PAIR)],
    )
    assert emulator.call("BatchWriteItem", request) == {"UnprocessedItems": {}}
    assert contents(emulator, "hash") == [wire({"pk": "new"}), wire({"pk": "old", "y": 2})]
    assert contents(emulator, "pair") == [PAIR]


def test_a_refused_batch_writes_nothing():
    """BWI-4, ORD-3: all requests are judged before any is applied."""
    emulator = filled("2026-10")
    with pytest.raises(ApiError):
        emulator.call("BatchWriteItem", of(putting(KEY), putting({})))
    assert contents(emulator, "hash") == []


def test_indexes_follow():
    """MAK-60, IXV-5."""
    emulator = filled("2026-10")
    items = [wire({"pk": "a", "sk": f"{n}", "g": "x"}) for n in range(3)]
    request = {"RequestItems": {"indexed": [*map(putting, items[:2]), putting(items[2])]}}
    emulator.call("BatchWriteItem", request)
    scan = {"TableName": "indexed", "IndexName": "keys"}
    assert emulator.call("Scan", scan)["Items"] == items
    emulator.call("BatchWriteItem", {"RequestItems": {"indexed": [
        deleting(wire({"pk": "a", "sk": "0"}))]}})  # fmt: skip
    assert emulator.call("Scan", scan)["Items"] == items[1:]


def test_each_item_is_rounded_on_its_own():
    """RCC-2, RCC-6, CAP-304, CAP-404, CAP-405."""
    request = {
        **of(
            putting(wire({"pk": "a", "v": "x" * 1100})),
            putting(wire({"pk": "b"})),
            deleting(wire({"pk": "none"})),
            indexed=[putting(wire({"pk": "a", "sk": "b", "g": "x"}))],
        ),
        "ReturnConsumedCapacity": "INDEXES",
    }
    assert answer("BatchWriteItem", request)["ConsumedCapacity"] == [
        {"TableName": "hash", "CapacityUnits": 4.0, "Table": {"CapacityUnits": 4.0}},
        {
            "TableName": "indexed",
            "CapacityUnits": 2.0,
            "Table": {"CapacityUnits": 1.0},
            "GlobalSecondaryIndexes": {"keys": {"CapacityUnits": 1.0}},
        },
    ]


def test_collection_metrics_come_by_table():
    """ICM-1, CAP-407: one for each collection of tables with a local index."""
    request = {
        **of(
            putting(KEY),
            indexed=[putting(wire({"pk": pk, "sk": sk})) for pk, sk in ("a1", "a2", "b1")],
        ),
        "ReturnItemCollectionMetrics": "SIZE",
    }
    metrics = [
        {"ItemCollectionKey": wire({"pk": pk}), "SizeEstimateRangeGB": [0.0, 1.0]} for pk in "ab"
    ]
    assert answer("BatchWriteItem", request) == {
        "UnprocessedItems": {},
        "ItemCollectionMetrics": {"indexed": metrics},
    }


def throttling(write):
    """Return an emulator that enforces so many write units."""
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", table(provisioned=(1, write)))
    return emulator


def test_a_throttled_request_comes_back_unprocessed():
    """CAP-610, CAP-304: unpaid, in the form it came."""
    emulator = throttling(write=2)
    requests = [putting(key) for key in keys(4)]
    request = {"RequestItems": {"tab": requests}, "ReturnConsumedCapacity": "TOTAL"}
    assert emulator.call("BatchWriteItem", request) == {
        "UnprocessedItems": {"tab": requests[2:]},
        "ConsumedCapacity": [{"TableName": "tab", "CapacityUnits": 2.0}],
    }
    assert contents(emulator, "tab") == keys(2)


def test_a_batch_of_which_nothing_is_written_is_throttled():
    """CAP-610, ERR-TYPE-16."""
    emulator = throttling(write=1)
    emulator.call("BatchWriteItem", {"RequestItems": {"tab": [putting(KEY)]}})
    with pytest.raises(ApiError) as caught:
        emulator.call("BatchWriteItem", {"RequestItems": {"tab": [putting(keys(1)[0])]}})
    assert caught.value.code == "ProvisionedThroughputExceededException"


def test_an_item_in_a_transaction_comes_back_unprocessed():
    """CAP-610, ERR-TYPE-11: the others are written."""
    emulator = Emulator(clock=ManualClock(), settings=Settings(transaction_seconds=1.0))
    emulator.call("CreateTable", table())
    held, free = keys(2)
    action = {"Put": {"TableName": "tab", "Item": held}}
    emulator.call("TransactWriteItems", {"TransactItems": [action]})
    request = {"RequestItems": {"tab": [deleting(held), putting(free)]}}
    assert emulator.call("BatchWriteItem", request) == {
        "UnprocessedItems": {"tab": [deleting(held)]}
    }
    assert contents(emulator, "tab") == [held, free]
