"""What time does while nobody asks: nothing is passed over. CAP-509, CAP-510, CAP-614."""

from tests.engine.conftest import Bench


def warm(bench, name="tab"):
    return bench.emu.call("DescribeTable", {"TableName": name})["Table"]["WarmThroughput"]


def test_warm_throughput_that_was_asked_for_comes_to_an_idle_table():
    """CAP-509: however long the clock jumps."""
    bench = Bench()
    bench.table()
    wanted = {"ReadUnitsPerSecond": 30_000, "WriteUnitsPerSecond": 10_000}
    bench.emu.call("UpdateTable", {"TableName": "tab", "WarmThroughput": wanted})
    assert warm(bench)["Status"] == "UPDATING"
    bench.clock.advance(30 * 24 * 3600)
    assert warm(bench) == {**wanted, "Status": "ACTIVE"}


def test_warm_throughput_on_its_way_survives_a_snapshot():
    """CAP-509."""
    bench = Bench()
    bench.table()
    wanted = {"ReadUnitsPerSecond": 30_000, "WriteUnitsPerSecond": 10_000}
    bench.emu.call("UpdateTable", {"TableName": "tab", "WarmThroughput": wanted})
    saved = bench.emu.snapshot()
    bench.emu.restore(saved)
    bench.clock.advance(24 * 3600)
    assert warm(bench) == {**wanted, "Status": "ACTIVE"}


def test_one_idle_table_does_not_stop_the_growth_of_another():
    """CAP-510: the busy one doubles its peak after half an hour, in one jump of the clock."""
    bench = Bench()
    bench.table("idle")
    bench.table("busy", read=None)
    resource = bench.emu.account().tables["busy"].resource
    start = resource.growth.warm
    for second in range(60):
        for partition in resource.partitions:
            resource.meter.traffic.consume(partition.id, 1, 900.0, None, second)
    bench.clock.advance(60)
    bench.emu.call("ListTables", {})
    bench.clock.advance(3600)
    bench.emu.call("ListTables", {})
    assert start == (12_000, 4_000)
    assert resource.growth.warm == (12_000, 2 * 900 * 4)
