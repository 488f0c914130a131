"""Findings of what hurts later: expiry times, large items, pages read to the end."""

import pytest

from emulator import Emulator, ManualClock
from emulator.observe import Ledger, expiries_of, findings_of
from emulator.testing.table_notation import create_request

SECONDS = 1_800_000_000
LATER = {"expiry-format", "large-item", "all-pages"}


@pytest.fixture
def orders():
    """A table whose items expire by ``ttl``, with a ledger."""
    emulator = Emulator(clock=ManualClock())
    emulator.call("CreateTable", create_request("orders", "pk"))
    specification = {"Enabled": True, "AttributeName": "ttl"}
    expiry = {"TableName": "orders", "TimeToLiveSpecification": specification}
    emulator.call("UpdateTimeToLive", expiry)
    emulator.ledger = Ledger()
    emulator.events.subscribe(emulator.ledger.hear)
    table = emulator.table("orders")
    table.emulator = emulator
    return table


def found(table):
    """Return the findings of what hurts later."""
    emulator = table.emulator
    findings = findings_of(emulator.ledger, expiries=expiries_of(emulator.snapshot()))
    return [finding for finding in findings if finding.kind in LATER]


@pytest.mark.parametrize(
    ("value", "unit"), [(SECONDS * 1000, "in milliseconds"), (str(SECONDS), "as text")]
)
def test_an_expiry_time_that_is_no_number_of_seconds_is_found_at_its_line(orders, value, unit):
    """TTL-4: items with anything else never expire."""
    orders.put_item(Item={"pk": "a", "ttl": value})
    [finding] = found(orders)
    assert (finding.kind, finding.count, finding.place[0]) == ("expiry-format", 1, __file__)
    assert finding.what == f"ttl, by which items of orders expire, is written {unit}"


WRITES = {
    "update": lambda table, value: table.update_item(
        Key={"pk": "a"},
        UpdateExpression="SET #t = :t",
        ExpressionAttributeNames={"#t": "ttl"},
        ExpressionAttributeValues={":t": value},
    ),
    "batch": lambda table, value: table.emulator.call(
        "BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": wire(value)}}]}}
    ),
    "transaction": lambda table, value: table.emulator.call(
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "orders", "Item": wire(value)}}]},
    ),
}


def wire(value):
    """Return an item with an expiry time in wire form."""
    return {"pk": {"S": "a"}, "ttl": {"N": str(value)}}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_every_way_to_write_an_expiry_time_is_looked_at(orders, write):
    write(orders, SECONDS)
    assert found(orders) == []
    write(orders, SECONDS * 1000)
    assert [finding.kind for finding in found(orders)] == ["expiry-format"]


def test_seconds_and_other_attributes_are_fine(orders):
    orders.put_item(Item={"pk": "a", "ttl": SECONDS, "at": SECONDS * 1000, "name": "ttl"})
    orders.put_item(Item={"pk": "b"})
    assert found(orders) == []


KB = 1024


def put(table, size_kb, key="a"):
    """Write an item of about this size."""
    table.put_item(Item={"pk": key, "data": "x" * (size_kb * KB - 10)})


@pytest.mark.parametrize(
    ("sizes", "what"),
    [
        ((301,), "PutItem orders writes an item of 301 KB"),
        ((50, 120), "PutItem orders writes an item of 120 KB, 50 KB before"),
        ((101, 130, 150), "PutItem orders writes an item of 150 KB, 130 KB before"),
    ],
)
def test_items_that_are_large_or_grow_large_are_found(orders, sizes, what):
    for size in sizes:
        put(orders, size)
    [finding] = found(orders)
    assert (finding.kind, finding.what) == ("large-item", what)


def test_items_that_stay_or_shrink_or_are_deleted_are_fine(orders):
    for size in (200, 200, 150):
        put(orders, size)
    put(orders, 120, key="b")
    orders.delete_item(Key={"pk": "a"})
    assert found(orders) == []


def pages(table, **options):
    """Read all pages of a Scan."""
    answer = table.scan(**options)
    while "LastEvaluatedKey" in answer:
        answer = table.scan(ExclusiveStartKey=answer["LastEvaluatedKey"], **options)


def filled(table, items):
    for number in range(items):
        put(table, 90, key=str(number))


def test_pages_that_are_followed_to_the_end_are_found(orders):
    filled(orders, 30)
    pages(orders)
    [finding] = found(orders)
    assert (finding.kind, finding.count) == ("all-pages", 3)
    assert finding.what == "Scan orders follows 3 pages to the end without a Limit"


def test_one_page_or_a_limit_or_a_walk_that_stops_is_fine(orders):
    filled(orders, 5)
    orders.scan()
    pages(orders, Limit=2)
    filled(orders, 40)
    first = orders.scan()
    orders.scan(ExclusiveStartKey=first["LastEvaluatedKey"])
    assert found(orders) == []
