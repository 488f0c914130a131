"""What time does while nobody asks: nothing is passed over. CAP-509, CAP-510, CAP-614."""

import itertools
import threading
from collections import Counter
from functools import partial

import pytest

from emulator import Emulator, ManualClock, Settings, clock
from emulator.capacity import Minute, ScalingPolicy
from emulator.clock import DEFAULT_START as START
from emulator.clock import NANOSECONDS, PacedClock
from emulator.engine import minutes
from emulator.engine.events import Scaled
from tests.engine.conftest import Bench, gsi, wire
from tests.tables import table


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
    made.table("calm")  # which will never split
    account.look_ahead()
    assert account.minutes.next_ns == (start_s + 7) * NANOSECONDS


# Turns: what expires is deleted in slices, and others are served in between


class Moving:
    """A clock that runs by itself: it stands where a test has put it."""

    def __init__(self, seconds):
        self.seconds = seconds

    def now(self):
        return self.seconds

    def now_ns(self):
        return self.seconds * NANOSECONDS


def expiring(clock, count=10, **options):
    """Return an emulator with items that expire in ten seconds, and their order of deletion."""
    emu = Emulator(clock=clock, **options)
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    emu.call("CreateTable", table(StreamSpecification=stream))
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    for number in range(count):
        item = {"pk": {"S": str(number)}, "ttl": {"N": str(clock.now_ns() // NANOSECONDS + 10)}}
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    return emu, [item["pk"]["S"] for item in emu.call("Scan", {"TableName": "tab"})["Items"]]


def left(emu, call=None):
    return (call or emu.call)("Scan", {"TableName": "tab"})["Count"]


def removed(emu):
    """Return the deletions in the stream: key and moment."""
    (stream,) = emu.account().streams.values()
    return [(r.keys.attributes["pk"], r.created_ns) for r in stream.records if r.by_service]


@pytest.fixture
def no_time(monkeypatch):
    """Make a slice as short as can be: one deletion."""
    monkeypatch.setattr(minutes, "_SLICE_SECONDS", 0)


def test_others_are_served_while_an_advance_deletes_what_has_expired(no_time, monkeypatch):
    """CAP-1101: and it returns when all is gone, in the order of positions, at the minute."""
    emu, order = expiring(ManualClock(START))
    seen = []

    def other_thread():
        thread = threading.Thread(target=lambda: seen.append((left(emu), emu.account().now_ns)))
        thread.start()
        thread.join(timeout=10)

    monkeypatch.setattr(clock, "give_way", other_thread)
    emu.clock.advance(3_600)
    minute_ns = (START + 60) * NANOSECONDS
    # Finding them takes one turn, and the last deletion is only known to be it afterwards.
    assert seen == [(count, minute_ns) for count in [10, *range(9, -1, -1)]]
    assert left(emu) == 0
    assert removed(emu) == [(key, minute_ns) for key in order]
    assert emu.account().now_ns == (START + 3_600) * NANOSECONDS


def test_a_slice_lasts_for_five_milliseconds(monkeypatch):
    """CAP-1101: as the processor's clock says, of which every deletion takes one here."""
    milliseconds = itertools.count()
    monkeypatch.setattr(minutes.time, "perf_counter", lambda: next(milliseconds) / 1_000)
    emu, _ = expiring(Moving(START), count=20)
    emu.clock.seconds += 100
    assert [left(emu, emu.call_in_pieces) for _ in range(4)] == [16, 11, 6, 1]


@pytest.mark.parametrize("access_key", [None, "ann"])
def test_a_call_comes_after_all_that_has_expired(no_time, access_key):
    emu, _ = expiring(Moving(START))
    emu.clock.seconds += 100
    assert emu.call("Scan", {"TableName": "tab"}, access_key=access_key)["Count"] == 0


def test_a_server_answers_in_between_and_deletes_the_rest_in_turns(no_time):
    emu, order = expiring(Moving(START))
    emu.clock.seconds += 100
    assert [left(emu, emu.call_in_pieces) for _ in range(4)] == [10, 9, 8, 7]
    turns = emu.catch_up_in_turns()
    next(turns)
    assert [left(emu, emu.call_in_pieces) for _ in range(2)] == [6, 6]
    assert left(emu) == 6  # what the server does is left to it
    assert list(turns)
    assert left(emu, emu.call_in_pieces) == 0
    assert [key for key, _ in removed(emu)] == order


def test_turns_that_are_given_up_leave_the_rest_to_calls(no_time):
    emu, _ = expiring(Moving(START))
    emu.clock.seconds += 100
    turns = emu.catch_up_in_turns()
    next(turns)
    turns.close()
    assert left(emu) == 0


def test_what_is_rewritten_in_between_stays(no_time):
    """CAP-1101: an update rescues an item."""
    emu, order = expiring(Moving(START))
    emu.clock.seconds += 100
    assert left(emu, emu.call_in_pieces) == 10
    item = {"pk": {"S": order[-1]}}
    emu.call_in_pieces("PutItem", {"TableName": "tab", "Item": item})
    assert emu.call("Scan", {"TableName": "tab"})["Items"] == [item]


@pytest.mark.parametrize("change", ["DeleteTable", "UpdateTimeToLive", "restore"])
def test_a_table_that_changes_in_between_is_left_alone(no_time, change):
    emu, _ = expiring(Moving(START))
    before = emu.snapshot()
    emu.clock.seconds += 100
    assert left(emu, emu.call_in_pieces) == 10
    assert left(emu, emu.call_in_pieces) == 9
    if change == "restore":
        emu.restore(before)
        assert left(emu) == 10
        return
    request = {"TableName": "tab"}
    if change == "UpdateTimeToLive":
        request["TimeToLiveSpecification"] = {"Enabled": False, "AttributeName": "ttl"}
    emu.call_in_pieces(change, request)
    if change == "DeleteTable":
        emu.call("CreateTable", table())
    assert left(emu) == (0 if change == "DeleteTable" else 8)


# Real time where requests arrive at a pace: what goes by the calendar


class Standing(PacedClock):
    """A paced clock whose real time stands where a test has put it."""

    def __init__(self, seconds, rate=None):
        super().__init__(rate)
        self.seconds = seconds

    def now_ns(self):
        return self.seconds * NANOSECONDS


@pytest.mark.parametrize("made_clock", [Moving, Standing, partial(Standing, rate=100)])
@pytest.mark.parametrize("delay", [0, 90])
def test_items_expire_at_their_own_minutes_however_far_time_has_jumped(made_clock, delay):
    """CAP-1101, CAP-801: and each is counted in the minute that ends with it."""
    clock_made = made_clock(START)
    emu, _ = expiring(clock_made, count=0, settings=Settings(ttl_delay=delay))
    for key, seconds in (("a", 10), ("b", 200), ("c", 3_000)):
        item = {"pk": {"S": key}, "ttl": {"N": str(START + seconds)}}
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    clock_made.seconds += 7_200
    emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "d"}}})
    at = [((seconds + delay) // 60 + 1) * 60 for seconds in (10, 200, 3_000)]
    assert sorted(removed(emu)) == [
        (key, (START + seconds) * NANOSECONDS) for key, seconds in zip("abc", at, strict=True)
    ]
    counted = Counter(START + seconds - 60 for seconds in at)
    assert emu.metrics.get("TimeToLiveDeletedItemCount", table="tab") == list(counted.items())
    written = emu.metrics.get("ConsumedWriteCapacityUnits", table="tab")
    assert written == [(START, 3.0), (START + 7_200, 1.0)]


# The work of a minute


def test_what_waits_for_an_index_is_told_in_every_minute_until_it_is_written():
    """CAP2-4.5: also in those in which the index has no room for anything."""
    made = Bench("observe")
    made.table(read=1, write=400, GlobalSecondaryIndexes=[gsi("gsi", "g", read=1, write=1)])
    for key in "ab":
        made.put(pk=key, g="x", pad="x" * 300_000)
    made.clock.advance(3_600)
    waited = made.emu.metrics.get("IndexBacklogSeconds", table="tab", index="gsi")
    assert waited == [(START + 60 * number, 60.0 * (number + 1)) for number in range(len(waited))]
    assert 4 <= len(waited) <= 10


def test_what_waits_for_an_index_at_a_pace_is_told_in_its_minutes():
    """CAP2-4.5: a minute of throughput is one of requests."""
    emu = Emulator(clock=Standing(START, rate=1))
    index = gsi("gsi", "g", read=1, write=1)
    emu.call("CreateTable", table(provisioned=(1, 400), GlobalSecondaryIndexes=[index]))
    for key in "ab":
        item = wire({"pk": key, "g": "x", "pad": "x" * 300_000})
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    for _ in range(180):
        emu.call("GetItem", {"TableName": "tab", "Key": wire({"pk": "a"})})
    (units,) = emu.metrics.get("IndexBacklogUnits", table="tab", index="gsi", stat="SampleCount")
    assert units == (START, 3)


def test_a_minute_that_is_over_is_among_the_insights():
    """CAP-804."""
    made = Bench("observe")
    made.table()
    made.put(pk="a")
    made.clock.advance(60)
    (found,) = made.emu.insights("tab").accessed_partition_keys
    assert found.key == ("a",)
    assert made.emu.account().tables["tab"].resource.meter.traffic.running.accesses == {}


def test_tables_expire_each_at_its_own_minute():
    """CAP-1101: the first of them ends what is passed over."""
    made = Bench("observe")
    for name, seconds in (("far", 30_000), ("near", 10_000)):
        made.table(name)
        ttl = {"Enabled": True, "AttributeName": "ttl"}
        request = {"TableName": name, "TimeToLiveSpecification": ttl}
        made.emu.call("UpdateTimeToLive", request)
        made.put(name, pk="a", ttl={"N": str(START + seconds)})
    made.clock.advance(40_000)
    for name, minute in (("far", 30_000), ("near", 9_960)):
        counted = made.emu.metrics.get("TimeToLiveDeletedItemCount", table=name)
        assert counted == [(START + minute, 1.0)]


def test_what_scales_is_left_alone_once_it_is_paid_on_demand(bench):
    """CAP-904: there is nothing to set."""
    made = bench()
    made.table(read=100, write=1)
    made.emu.auto_scale("tab", read=ScalingPolicy(target=70))
    scaled = []
    made.emu.events.subscribe(
        lambda event: scaled.append(event) if isinstance(event, Scaled) else None
    )
    made.emu.call("UpdateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST"})
    made.clock.advance(2 * 3_600)
    assert scaled == []
