"""What time does while nobody asks: nothing is passed over. CAP-509, CAP-510, CAP-614."""

from emulator.capacity import Minute
from emulator.clock import NANOSECONDS
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


def test_a_split_that_is_far_away_holds_up_no_minute(bench):
    """CAP-613, CAP2-3: the work of minutes comes before it; one that is near comes first."""
    made = bench(split_delay=500)
    made.table()
    account = made.emu.account()
    resource = account.tables["tab"].resource
    hot = next(iter(resource.partitions)).id
    minute_ns, start_s = account.minutes.next_ns, account.now_ns // NANOSECONDS
    for number in range(2):
        resource.heat.on_minute(Minute(start_s + 60 * number), {hot: (0.0, 60_000.0)})
    account.look_ahead()
    assert account.minutes.next_ns == minute_ns
    resource.heat.pending[hot] = start_s + 7
    account.look_ahead()
    assert account.minutes.next_ns == (start_s + 7) * NANOSECONDS
