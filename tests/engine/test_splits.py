"""Splits for size: where a partition is cut, and what lies in its children. CAP-504, CAP-505."""

import pytest

from emulator.engine.events import Split
from emulator.engine.splits import divide
from emulator.storage import HASH_SPACE, placement_hash
from tests.engine.conftest import Bench, gsi, lsi, sized

LOCAL = [lsi("local", "pk", "l")]


def filled(partition_bytes, collections, **table):
    """Return a bench whose items, ten to a collection, have filled partitions."""
    bench = Bench(capacity="enforce", partition_bytes=partition_bytes)
    bench.splits = []
    bench.emu.events.subscribe(
        lambda event: bench.splits.append(event) if isinstance(event, Split) else None
    )
    bench.table(key=("pk", "sk"), **table)
    for collection in range(collections):
        for number in range(10):
            bench.put(pk=f"p{collection}", sk=f"{number}", l=f"{number}", g="g", v="x" * 200)
    return bench, bench.emu.account().tables["tab"]


def held(resource):
    return [(partition.low, partition.items, partition.size_bytes) for partition in resource]


@pytest.mark.parametrize("indexes", [{}, {"LocalSecondaryIndexes": LOCAL}])
def test_partitions_hold_what_lies_in_them_and_no_more_than_they_may(indexes):
    """CAP-504, CAP-110: items, and local entries with them, 100 bytes more each."""
    _, table = filled(4_000, 12, **indexes)
    table.resource.check()
    assert len(table.resource.partitions) > 4
    counted = {partition.id: [0, 0] for partition in table.resource.partitions}
    for position, item in table.store.walk((0,), (2**64,)):
        entries = [item] * (2 if indexes else 1)
        own = counted[table.resource.partitions.at(position).id]
        own[0] += len(entries)
        own[1] += sum(entry.size_bytes + 100 for entry in entries)
    assert counted == {
        partition.id: [partition.items, partition.size_bytes]
        for partition in table.resource.partitions
    }
    if not indexes:
        assert max(partition.size_bytes for partition in table.resource.partitions) < 4_000


def test_a_local_index_keeps_a_collection_in_one_partition():
    """CAP-504: the cut lies between collections; one alone is not cut at all."""
    bench, table = filled(4_000, 12, LocalSecondaryIndexes=LOCAL)
    first_of = {}
    for position, _ in table.store.walk((0,), (2**64,)):
        partition = table.resource.partitions.at(position).id
        assert first_of.setdefault(position[:2], partition) == partition
    assert all(split.cause == "size" for split in bench.splits)
    _, alone = filled(2_000, 1, LocalSecondaryIndexes=LOCAL)
    [partition] = [one for one in alone.resource.partitions if one.items]
    assert partition.size_bytes >= 2_000


def test_without_one_a_collection_may_be_cut():
    _, table = filled(2_000, 1)
    assert len([one for one in table.resource.partitions if one.items]) > 1


def test_a_global_index_is_cut_where_its_bytes_halve():
    """CAP-504: its collections may be cut, whatever local indexes the table has."""
    indexes = {"GlobalSecondaryIndexes": [gsi("global", "g")], "LocalSecondaryIndexes": LOCAL}
    _, table = filled(2_500, 2, **indexes)
    index = table.indexes["global"]
    index.resource.check()
    sizes = [one.size_bytes for one in index.resource.partitions if one.items]
    assert len(sizes) > 2
    assert sum(sizes) == sum(item.size_bytes + 100 for _, item in index.store.walk((0,), (2**64,)))


def test_the_cut_halves_the_bytes_to_the_byte():
    """CAP-504: 151 and 101 bytes lie closer to halves than 100 and 152."""
    bench = Bench(capacity="off", partition_bytes=3 * 100 + 252)
    bench.table(read=1, write=1)
    keys = sorted("abc", key=lambda key: placement_hash((key,), 0))
    for key, size in zip(keys, (100, 51, 101), strict=True):
        bench.put(**sized(size, value=key))
    partitions = bench.emu.account().tables["tab"].resource.partitions
    assert [(one.items, one.size_bytes) for one in partitions] == [(2, 351), (1, 201)]


def test_growth_leaves_no_range_wider_than_its_share():
    """CAP2-1: whatever was split before, and in whatever order the ranges lie."""
    bench = Bench()
    bench.table(read=10, write=10)
    account = bench.emu.account()
    table = account.tables["tab"]
    resource = table.resource
    for _ in range(3):
        first = next(iter(resource.partitions))
        middle = resource.partitions.width(first) // 2
        divide(account, table, resource, first, [(middle,)], "heat", account.now_ns)
    units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 4_000}
    bench.emu.call("UpdateTable", {"TableName": "tab", "ProvisionedThroughput": units})
    resource.check()
    widths = [resource.partitions.width(partition) for partition in resource.partitions]
    assert max(widths) <= resource.widest_range
    assert sum(widths) == 2**64


@pytest.mark.parametrize("capacity", ["enforce", "off"])
@pytest.mark.parametrize(("spare_bytes", "partitions"), [(0, 2), (1, 1)])
def test_a_partition_splits_when_it_reaches_its_size(capacity, spare_bytes, partitions):
    """CAP-504: table and index alike."""
    bench = Bench(capacity=capacity, partition_bytes=2 * 300 + spare_bytes)
    bench.table(read=1, write=5, GlobalSecondaryIndexes=[gsi("global", "g", read=1, write=5)])
    for key in "ab":
        bench.put(pk=key, g="g", v="x" * (200 - len("pkaggv")))
    counts = [len(bench.emu.partitions("tab", index)) for index in (None, "global")]
    assert counts == [partitions, partitions]


def test_an_index_added_to_a_full_table_is_split_at_once():
    """CAP-504."""
    bench, table = filled(4_000, 5)
    bench.emu.call(
        "UpdateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": gsi("late", "g")}],
        },
    )
    index = table.indexes["late"]
    index.resource.check()
    assert max(one.size_bytes for one in index.resource.partitions) < 4_000


def test_only_more_than_ever_before_makes_partitions():
    """CAP-508, CAP-507: raising grows the table, lowering and raising again do not."""
    bench = Bench()
    bench.table(read=1, write=500)
    counts = []
    for units in (2500, 100, 2500, 2600, 4500):
        throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": units}
        bench.emu.call("UpdateTable", {"TableName": "tab", "ProvisionedThroughput": throughput})
        counts.append(len(bench.emu.partitions("tab")))
    assert counts == [4, 4, 4, 4, 8]


@pytest.mark.parametrize(
    ("warm", "slices"), [((12_000, 4_000), 4), ((24_000, 4_000), 8), ((12_000, 16_000), 16)]
)
def test_a_partition_covers_what_it_can_serve_of_either_axis(warm, slices):
    """CAP2-1."""
    bench = Bench()
    units = dict(zip(("ReadUnitsPerSecond", "WriteUnitsPerSecond"), warm, strict=True))
    bench.table(WarmThroughput=units)
    resource = bench.emu.account().tables["tab"].resource
    assert resource.widest_range == HASH_SPACE // slices + 1
