"""Findings (ICH-112): what calls could be made better, at which line, and how."""

import inspect

import pytest

from emulator import Emulator, ManualClock
from emulator.clients import ClientError
from emulator.observe import KINDS, Ledger, findings_of
from emulator.observe.places import function_of
from emulator.testing.table_notation import create_request


@pytest.fixture
def orders():
    emulator = Emulator(clock=ManualClock())
    emulator.call("CreateTable", create_request("orders", "customer", "id"))
    for number in range(10):
        key = {"customer": "c" if number < 5 else str(number), "id": str(number)}
        emulator.table("orders").put_item(Item=key)
    emulator.ledger = Ledger()
    emulator.events.subscribe(emulator.ledger.hear)
    table = emulator.table("orders")
    table.emulator = emulator
    return table


def found(table, **options):
    return findings_of(table.emulator.ledger, **options)


def key(number):
    return {"customer": "c" if number < 5 else str(number), "id": str(number)}


def kinds(table, **options):
    return [finding.kind for finding in found(table, **options)]


@pytest.mark.parametrize(
    ("numbers", "cure"),
    [
        ([1, 1, 1, 1, 1], "read it once"),
        ([0, 1, 2, 3, 4], "one Query"),
        ([4, 5, 6, 7, 8], "BatchGetItem reads up to 100"),
    ],
)
def test_a_get_that_is_repeated_at_one_line(orders, numbers, cure):
    for number in numbers:
        orders.get_item(Key=key(number))
    line = inspect.currentframe().f_lineno - 1
    [finding] = found(orders)
    assert (finding.kind, finding.count) == ("repeated-get", 5)
    assert finding.place[:2] == (__file__, line)
    assert finding.cure.startswith(cure)
    assert str(finding).startswith("repeated-get at ")


def test_four_gets_are_not_repeated_unless_the_threshold_says_so(orders):
    for number in range(4):
        orders.get_item(Key=key(number))
    assert kinds(orders) == []
    assert kinds(orders, threshold=4) == ["repeated-get"]


def test_gets_at_different_lines_are_not_repeated(orders):
    for number in range(3):
        orders.get_item(Key=key(number))
    for number in range(3):
        orders.get_item(Key=key(number))
    assert kinds(orders) == []


def test_puts_one_by_one(orders):
    for number in range(20, 25):
        orders.put_item(Item=key(number))
    [finding] = found(orders)
    assert (finding.kind, finding.what) == ("write-loop", "PutItem orders 5 times, one by one")
    assert "BatchWriteItem" in finding.cure


@pytest.mark.parametrize(
    "write",
    [
        lambda table, k: table.put_item(Item=k, ConditionExpression="attribute_not_exists(id)"),
        lambda table, k: table.put_item(Item=k, ReturnValues="ALL_OLD"),
        lambda table, k: table.update_item(Key=k, UpdateExpression="SET a = id"),
    ],
    ids=["conditional", "returns the old item", "update"],
)
def test_what_a_batch_cannot_do_is_no_loop(orders, write):
    for number in range(20, 26):
        write(orders, key(number))
    assert "write-loop" not in kinds(orders)


def test_a_read_before_a_write(orders):
    orders.get_item(Key=key(1))
    orders.put_item(Item=key(1))
    [finding] = found(orders)
    assert (finding.kind, finding.count) == ("read-before-write", 1)
    assert "ConditionExpression" in finding.cure


def test_a_condition_or_another_item_makes_a_read_before_a_write_right(orders):
    orders.get_item(Key=key(1))
    orders.put_item(Item=key(1), ConditionExpression="attribute_exists(id)")
    orders.put_item(Item=key(1))
    orders.get_item(Key=key(2))
    orders.put_item(Item=key(3))
    assert kinds(orders) == []


def test_a_scan_and_a_filter_that_throws_most_away(orders):
    orders.scan()
    condition = {"KeyConditionExpression": "customer = :c", "FilterExpression": "attr > :c"}
    orders.query(**condition, ExpressionAttributeValues={":c": "c"})
    assert kinds(orders) == ["scan", "filter-waste"]


def test_a_filter_that_keeps_half_wastes_little(orders):
    orders.query(
        KeyConditionExpression="customer = :c",
        FilterExpression="attribute_not_exists(closed)",
        ExpressionAttributeValues={":c": "c"},
    )
    assert kinds(orders) == []


def test_a_strongly_consistent_read_of_what_was_not_written(orders):
    orders.get_item(Key=key(1), ConsistentRead=True)
    values = {":c": "c"}
    orders.query(
        KeyConditionExpression="customer = :c",
        ExpressionAttributeValues=values,
        ConsistentRead=True,
    )
    assert kinds(orders) == ["consistent-read"] * 2


def test_a_strongly_consistent_read_of_what_was_written_is_needed(orders):
    orders.put_item(Item=key(1))
    orders.get_item(Key=key(1), ConsistentRead=True)
    orders.query(
        KeyConditionExpression="customer = :c",
        ExpressionAttributeValues={":c": "c"},
        ConsistentRead=True,
    )
    assert "consistent-read" not in kinds(orders)


def test_what_was_refused_did_nothing(orders):
    for number in range(6):
        with pytest.raises(ClientError, match="key element"):
            orders.get_item(Key={"customer": str(number)})
    assert kinds(orders) == []


def test_places_can_be_exempt_except_from_throttles():
    emulator = Emulator(clock=ManualClock())
    emulator.call("CreateTable", create_request("orders", provisioned=(1, 1)))
    ledger = Ledger()
    emulator.events.subscribe(ledger.hear)
    for _ in range(6):
        emulator.table("orders").put_item(Item={"pk": "a"})
    found = findings_of(ledger, is_exempt=lambda place: function_of(place).startswith("test_"))
    assert [finding.kind for finding in found] == ["would-throttle"]
    assert found[0].what == "PutItem orders, 5 times of 6 calls"
    assert found[0].cure.startswith("raise the provisioned write units of orders")


def test_findings_come_by_kind_then_by_place(orders):
    orders.scan()
    orders.get_item(Key=key(1), ConsistentRead=True)
    orders.get_item(Key=key(2))
    orders.put_item(Item=key(2))
    orders.scan()
    met = found(orders)
    order = [(KINDS.index(finding.kind), finding.place) for finding in met]
    assert order == sorted(order)
    assert len(met) == 4


def load_all(table, numbers):
    for number in numbers:
        load(table, number)


def load(table, number):
    table.get_item(Key=key(number))


def save(table, number):
    table.put_item(Item=key(number))


def replace(table, number):
    load(table, number)
    save(table, number)


def test_calls_are_repeated_within_one_call_of_the_code_under_test(orders):
    for number in range(6):
        load(orders, number)
        save(orders, number)
    assert kinds(orders) == []
    load_all(orders, range(6))
    replace(orders, 1)
    assert kinds(orders) == ["repeated-get", "read-before-write"]
    assert [function_of(finding.place) for finding in found(orders)] == ["load", "load"]
