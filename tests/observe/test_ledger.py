"""The ledger: what calls cost, where they were made, what filters threw away."""

import inspect
import threading
from pathlib import Path

import pytest

from emulator import ApiError, Emulator, ManualClock
from emulator.observe.findings import CallHistory
from emulator.observe.ledger import Ledger, as_table
from emulator.observe.places import ELSEWHERE

HERE = str(Path(__file__))


@pytest.fixture
def emu():
    emu = Emulator(clock=ManualClock())
    emu.call(
        "CreateTable",
        {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "status", "AttributeType": "S"},
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by_status",
                    "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                }
            ],
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        },
    )
    return emu


def put(emu, key, **attributes):
    emu.call("PutItem", {"TableName": "orders", "Item": {"pk": {"S": key}, **attributes}})


def listen(emu):
    ledger = Ledger()
    emu.events.subscribe(ledger.hear)
    return ledger


def shown(entry):
    return (entry.operation, entry.resource, entry.calls, entry.read_units, entry.write_units)


def test_calls_from_one_line_are_one_entry(emu):
    ledger = listen(emu)
    for number in range(3):
        put(emu, str(number))
    line = inspect.getsourcelines(put)[1] + 1
    (entry,) = ledger.entries
    assert shown(entry) == ("PutItem", "orders", 3, 0.0, 3.0)
    assert entry.place is not None
    assert entry.place[:2] == (HERE, line)
    assert (ledger.calls, ledger.read_units, ledger.write_units) == (3, 0.0, 3.0)


def test_index_arms_are_counted_with_the_table(emu):
    ledger = listen(emu)
    put(emu, "a", status={"S": "open"})
    assert ledger.write_units == 2.0  # CAP-304: one for the table, one for the index


def test_what_a_filter_throws_away_is_counted_by_items_and_bytes(emu):
    for number in range(4):
        put(emu, str(number), status={"S": "open"}, size={"N": str(number)})
    ledger = listen(emu)
    emu.call(
        "Query",
        {
            "TableName": "orders",
            "IndexName": "by_status",
            "KeyConditionExpression": "#s = :s",
            "FilterExpression": "#z = :z",
            "ExpressionAttributeNames": {"#s": "status", "#z": "size"},
            "ExpressionAttributeValues": {":s": {"S": "open"}, ":z": {"N": "1"}},
        },
    )
    (entry,) = ledger.entries
    assert shown(entry) == ("Query", "orders.by_status", 1, 0.5, 0.0)
    assert (entry.items_evaluated, entry.items_returned, entry.filtered) == (4, 1, 3)
    assert entry.bytes_evaluated > entry.bytes_returned > 0
    assert ledger.filtered == 3


def test_a_missing_item_is_not_filtered(emu):
    ledger = listen(emu)
    emu.call("GetItem", {"TableName": "orders", "Key": {"pk": {"S": "none"}}})
    assert (ledger.read_units, ledger.filtered) == (0.5, 0)


def test_scans_are_counted_by_page(emu):
    put(emu, "a")
    put(emu, "b")
    ledger = listen(emu)
    for _ in range(2):
        emu.call("Scan", {"TableName": "orders", "Limit": 1})
    assert ledger.scans == 2


def test_a_batch_on_one_table_is_one_call(emu):
    ledger = listen(emu)
    puts = [{"PutRequest": {"Item": {"pk": {"S": key}}}} for key in "abc"]
    emu.call("BatchWriteItem", {"RequestItems": {"orders": puts}})
    (entry,) = ledger.entries
    assert shown(entry) == ("BatchWriteItem", "orders", 1, 0.0, 3.0)


@pytest.mark.parametrize("capacity", ["observe", "enforce"])
def test_refusals_are_counted_whether_or_not_they_are_carried_out(emu, capacity):
    enforced = Emulator(clock=emu.clock, capacity=capacity)
    enforced.restore(emu.snapshot())
    ledger = listen(enforced)
    for number in range(7):
        try:
            put(enforced, str(number))
        except Exception as error:
            assert error.code == "ProvisionedThroughputExceededException"
    assert ledger.throttles == 2
    ((reason, times),) = ledger.reasons.items()
    assert (reason.reason, times) == ("TableWriteProvisionedThroughputExceeded", 2)
    assert ledger.write_units == (5.0 if capacity == "enforce" else 7.0)


def test_a_throttled_query_is_entered_under_its_index(emu):
    enforced = Emulator(clock=emu.clock, capacity="enforce")
    enforced.restore(emu.snapshot())
    ledger = listen(enforced)
    request = {
        "TableName": "orders",
        "IndexName": "by_status",
        "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": {"#s": "status"},
        "ExpressionAttributeValues": {":s": {"S": "open"}},
    }
    for _ in range(10):
        enforced.call("Query", request)
    with pytest.raises(ApiError):
        enforced.call("Query", request)
    assert sorted((one.resource, one.calls, one.throttles) for one in ledger.entries) == [
        ("orders.by_status", 0, 1),
        ("orders.by_status", 10, 0),
    ]


def test_a_call_without_a_frame_of_the_callers_is_made_elsewhere(emu):
    ledger = listen(emu)
    thread = threading.Thread(
        target=emu.call, args=("GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}})
    )
    thread.start()
    thread.join()
    (entry,) = ledger.entries
    assert (entry.place, entry.where) == (None, ELSEWHERE)


def test_places_are_shown_from_the_present_directory(emu, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    ledger = listen(emu)
    put(emu, "a")
    line = inspect.getsourcelines(put)[1] + 1
    assert ledger.entries[0].where == f"test_ledger.py:{line}"


def test_the_table_lists_the_dearest_first(emu):
    ledger = listen(emu)
    emu.call("GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}})
    put(emu, "a")
    assert [line.split()[:5] for line in ledger.table().splitlines()] == [
        ["rcu", "wcu", "calls", "throttled", "what"],
        ["0", "1", "1", "0", "PutItem"],
        ["0.5", "0", "1", "0", "GetItem"],
    ]


def test_the_table_lists_every_call_that_is_counted(emu):
    with emu.budget(rcu=10) as ledger:
        put(emu, "a")
        emu.call("ListTables", {})
        for _ in range(2):
            with pytest.raises(ApiError):
                emu.call("Scan", {"TableName": "absent"})
    lines = [line.split() for line in ledger.table().splitlines()[1:]]
    assert [(line[2], line[4]) for line in lines] == [
        ("1", "PutItem"),
        ("2", "Scan"),
        ("1", "ListTables"),
    ]
    assert (ledger.calls, ledger.scans) == (4, 0)  # a Scan that is refused read no page


def test_columns_of_numbers_are_aligned_to_the_right():
    assert as_table(("n", "name"), [("1.5", "a"), ("10", "bc")]) == "  n  name\n1.5  a\n 10  bc"


def test_what_consumes_nothing_is_no_part_of_what_calls_have_in_common(emu):
    ledger = listen(emu)
    before = vars(CallHistory())
    harm = vars(before.pop("_harm"))
    emu.call("DescribeTable", {"TableName": "orders"})
    after = dict(vars(ledger.history))
    assert vars(after.pop("_harm")) == harm
    assert after == before
