"""Pages: where they end, and what they say about it. CAP-206, CAP-207, CAP-210."""

import pytest

from tests.engine.conftest import Bench, lsi, sized

PAGE_BYTES = 1024 * 1024


def scan(bench, **request):
    return bench.emu.call("Scan", {"TableName": "tab", **request})


def quarters(count):
    """Return a bench with so many items of a quarter of a page."""
    bench = Bench(capacity="off")
    bench.table()
    for number in range(count):
        bench.put(**sized(PAGE_BYTES // 4, value=f"{number}"))
    return bench


@pytest.mark.parametrize(("key", "returned"), [("a", 1), ("nobody", 0)])
def test_a_receipt_says_what_a_lookup_met(key, returned):
    """CAP-201, CAP-205: one key is looked up, whether or not an item lies there."""
    bench = Bench(capacity="off")
    bench.table()
    bench.put(pk="a", v="x" * 97)
    bench.emu.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": key}}})
    receipt = bench.emu.last_receipt
    assert (receipt.items_evaluated, receipt.items_returned) == (1, returned)
    assert receipt.bytes_evaluated == receipt.bytes_returned == 101 * returned


@pytest.mark.parametrize("count", [4, 5])
def test_a_page_of_exactly_a_megabyte_is_full(count):
    """CAP-206, CAP-207: the page ends at its size, whether or not anything remains."""
    page = scan(quarters(count))
    assert (page["Count"], "LastEvaluatedKey" in page) == (4, True)


def test_a_page_under_a_megabyte_is_not_full():
    page = scan(quarters(3))
    assert (page["Count"], "LastEvaluatedKey" in page) == (3, False)


@pytest.mark.parametrize(("spare_blocks", "read"), [(0, 3), (1, 4)])
def test_a_page_that_fetches_counts_entries_and_items_in_blocks(spare_blocks, read):
    """CAP-210: three entries in a block and three items of 85 blocks are 1 MiB."""
    bench = Bench(capacity="off")
    local = lsi("local", "pk", "l", kind="KEYS_ONLY")
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[local])
    for number in range(4):
        blocks = 85 - spare_blocks if number == 0 else 85
        bench.put(pk="p", sk=f"{number}", l="x", v="x" * (blocks * 4096 - 9))
    query = {
        "TableName": "tab",
        "IndexName": "local",
        "Select": "ALL_ATTRIBUTES",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "p"}},
    }
    page = bench.emu.call("Query", query)
    assert (page["Count"], "LastEvaluatedKey" in page) == (read, True)


@pytest.mark.parametrize("consistent", [True, False])
def test_a_scan_pays_for_the_bytes_of_each_partition(consistent):
    """CAP-212, CAP-204: each partition's bytes in blocks of 4 KB, an empty one like one block."""
    bench = Bench(capacity="off")
    bench.table()
    for number in range(20):
        bench.put(**sized(2000, value=f"{number}"))
    table = bench.emu.account().tables["tab"]
    sizes = [one.size_bytes - 100 * one.items for one in table.resource.partitions]
    page = scan(bench, ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL")
    units = sum(max(1, -(-size // 4096)) for size in sizes) * (1 if consistent else 0.5)
    assert len(sizes) == 4
    assert page["ConsumedCapacity"]["CapacityUnits"] == units
