"""A resource: what it serves at once, and with what it begins. CAP-502, CAP-509, CAP2-5."""

import pytest

from emulator.engine.resource import Throughput
from emulator.settings import Settings
from tests.engine.conftest import gsi
from tests.tables import table


@pytest.mark.parametrize(
    ("throughput", "warm"),
    [
        (Throughput("PROVISIONED", 5, 6), (5, 6)),
        (Throughput("PROVISIONED", 5, 6, warm_read=20, warm_write=30), (20, 30)),
        (Throughput("PROVISIONED", 50, 60, warm_read=20, warm_write=30), (50, 60)),
        (Throughput("PAY_PER_REQUEST"), (12_000, 4_000)),
        (
            Throughput("PAY_PER_REQUEST", warm_read=13_000, warm_write=5_000),
            (13_000, 5_000),
        ),
        (Throughput("PAY_PER_REQUEST", warm_read=20, warm_write=30), (12_000, 4_000)),
    ],
)
def test_warm_is_the_larger_of_what_was_asked_and_what_the_mode_gives(throughput, warm):
    """CAP-509, DS-6."""
    assert throughput.warm(Settings()) == warm


@pytest.mark.parametrize("count", [1, 2, 6])
def test_the_start_of_on_demand_is_a_setting(bench, count):
    """CAP-502, CAP-509: what is described, what is admitted, from where it grows; an index too."""
    made = bench(on_demand_partitions=count)
    made.table(names="pk g", GlobalSecondaryIndexes=[gsi("by_g", "g")])
    made.table("fixed", read=1, write=1)
    described = made.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
    tables = made.emu.account().tables
    for resource, shown in zip(
        tables["tab"].resources(),
        (described, *described["GlobalSecondaryIndexes"]),
        strict=True,
    ):
        start = (3_000 * count, 1_000 * count)
        buckets = resource.meter.partitions.values()
        assert len(buckets) == count
        assert tuple(sum(pair[axis].rate for pair in buckets) for axis in (0, 1)) == start
        assert resource.growth.warm == start
        warm = shown["WarmThroughput"]
        assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == start
    assert len(tables["fixed"].resource.partitions) == 1


@pytest.mark.parametrize("count", [1, 4, 8])
def test_a_table_that_is_switched_to_on_demand_grows_to_its_start(bench, count):
    """CAP-502, CAP-617, on_demand_partitions."""
    made = bench(on_demand_partitions=count)
    made.table(read=1, write=1)
    made.emu.call("UpdateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST"})
    assert len(made.emu.partitions("tab")) == count


@pytest.mark.parametrize(("units", "passes"), [(1_999, False), (2_000, True)])
def test_what_is_asked_for_is_not_below_the_start_of_the_setting(bench, units, passes):
    """CAP-509, on_demand_partitions."""
    made = bench(on_demand_partitions=2)
    request = table("pk", TableName="tab", WarmThroughput={"WriteUnitsPerSecond": units})
    error = made.attempt("CreateTable", **request)
    assert (error is None) == passes
    assert passes or "is lower than initial throughput for OnDemand" in str(error)


@pytest.mark.parametrize(("share", "passed"), [(0.0, 2), (0.5, 2 + 300), (1.0, 2 + 600)])
def test_a_new_table_has_its_share_of_the_reserve(bench, share, passed):
    """CAP2-5: of 300 seconds' units, besides those of the running second."""
    made = bench(burst_start=share)
    made.table(read=1, write=2)
    count = 0
    while made.try_put(pk=f"k{count}") is None:
        count += 1
    assert count == passed
