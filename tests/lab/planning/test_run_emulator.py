"""The emulator of a run: tables as their lives so far have left them."""

from emulator.lab import Capacity, Design, Field, History, Index, Pattern, Units, Workload
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

WORKLOAD = Workload(
    fields=[Field("userId", count=5), Field("orderId", count=5)],
    patterns=[Pattern("put", "PutItem", rate=1)],
)


def created(history, *, capacity=None, index_history=None, **settings):
    """Return table and index of a design whose table has a history."""
    index = Index("byOrder", partition="{orderId}", history=index_history or History())
    design = Design(
        "d",
        partition="{userId}",
        indexes=[index],
        capacity=capacity or Capacity(),
        history=history,
    )
    emulator = RunEmulator(Layout(design, WORKLOAD), Settings(**settings))
    [table] = emulator.account.tables.values()
    return table.resource, table.indexes["byOrder"].resource


def test_a_table_has_the_partitions_of_its_history():
    """CAP2-10; the widest are cut in the middle (CAP2-1)."""
    table, index = created(History(partitions=12), index_history=History(partitions=5))

    assert (len(table.partitions), len(index.partitions)) == (12, 5)
    widths = [table.partitions.width(partition) for partition in table.partitions]
    assert max(widths) == 2 * min(widths)
    assert table.growth.warm == (12_000, 4_000)


def test_a_table_that_needs_more_partitions_than_it_had_has_them():
    table, _ = created(History(partitions=2), capacity=Capacity(read=3_000, write=5_000))

    assert len(table.partitions) == 6


def test_twice_the_previous_peak_is_promised():
    """CAP-510, CAP2-1: every partition can serve its share."""
    table, index = created(History(previous_peak=Units(write=6_000)))

    assert table.growth.warm == (12_000, 12_000)
    assert len(table.partitions) == 16
    assert index.growth.warm == (12_000, 4_000)


def test_warm_throughput_stays_with_a_table_that_is_provisioned_now():
    table, _ = created(History(warm=Units(6_000, 8_000)), capacity=Capacity(read=100, write=100))

    assert table.growth.warm == (6_000, 8_000)
    assert len(table.partitions) == 8
    assert table.throughput.write == 100


def test_the_reserve_is_that_of_the_history():
    """CAP2-5."""
    capacity = Capacity(read=100, write=200)
    table, index = created(History(burst_start=0.5), capacity=capacity, burst_start=0.25)

    assert [bucket.tokens - bucket.rate for bucket in table.meter.own] == [15_000, 30_000]
    assert [bucket.tokens - bucket.rate for bucket in index.meter.own] == [7_500, 15_000]
