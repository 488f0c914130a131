"""What holds of every resource, whatever its history (CAP2-1 to CAP2-3)."""

import math
from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.capacity import READ, WRITE, admit, record
from emulator.clock import NANOSECONDS
from emulator.engine import Split
from emulator.engine.feed import TrafficFeed
from emulator.storage import HASH_SPACE
from tests.tables import table

MINUTE = 60


def made(*, on_demand, read=100, write=100, **adjusted):
    emu = Emulator(clock=ManualClock(), capacity="enforce", settings=Settings(**adjusted))
    units = None if on_demand else (read, write)
    emu.call("CreateTable", table("pk", "sk", TableName="tab", provisioned=units))
    return emu


def resource_of(emu):
    return emu.account().tables["tab"].resource


def even_positions(count):
    return [(number * HASH_SPACE // count, "k", "s") for number in range(count)]


def served(emu, axis, rate, seconds=3):
    """Return the share of evenly spread one-unit requests that a resource serves."""
    account, resource = emu.account(), resource_of(emu)
    account.catch_up(account.now_ns + NANOSECONDS)
    charges = [[resource.charge(axis, 1.0, position)] for position in even_positions(rate)]
    partitions = list(resource.partitions)
    passed = 0
    for _ in range(seconds):
        passed += sum(not admit(charge, account.now_ns) for charge in charges)
        account.catch_up(account.now_ns + NANOSECONDS)
    assert list(resource.partitions) == partitions  # so that every second has the same charges
    return passed / (rate * seconds)


def promise(emu):
    """Return the read and write units a second that the table says it serves (CAP2-1)."""
    described = emu.call("DescribeTable", {"TableName": "tab"})["Table"]["WarmThroughput"]
    return described["ReadUnitsPerSecond"], described["WriteUnitsPerSecond"]


def play(emu, step):
    kind, amount = step
    account, resource = emu.account(), resource_of(emu)
    request = {"TableName": "tab"}
    if kind == "provision":
        units = {"ReadCapacityUnits": amount, "WriteCapacityUnits": amount}
        request |= {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    elif kind == "on demand":
        request |= {"BillingMode": "PAY_PER_REQUEST"}
    elif kind == "warm":
        read, write = promise(emu)
        warm = {"ReadUnitsPerSecond": read + amount, "WriteUnitsPerSecond": write + amount}
        request |= {"WarmThroughput": warm}
    elif kind == "peak":
        count = len(resource.partitions)
        feed = TrafficFeed(account)
        share = amount * MINUTE / count
        feed.report_loads(resource, WRITE, [share] * count, [0.0] * count, [share] * count)
        emu.clock.advance(31 * MINUTE)
        return
    else:
        hot = min(resource.partitions, key=lambda partition: partition.low)
        low, high = resource.partitions.range_of(hot)
        middle = (low[0] + (high[0] - low[0]) // 5, "k", "m")
        if low < middle < high:
            resource.partitions.split(hot, [middle])
            resource.meter.close_partition(hot.id)
            for partition in resource.partitions:
                if partition.id not in resource.meter.partitions:
                    resource.meter.open_partition(partition.id, account.now_ns)
        return
    with suppress(ApiError):
        emu.call("UpdateTable", request)
    emu.clock.advance(10 * MINUTE)


steps = st.lists(
    st.tuples(
        st.sampled_from(["provision", "on demand", "warm", "peak", "split"]),
        st.sampled_from([50, 900, 1_700, 4_100, 6_000]),
    ),
    max_size=6,
)


@settings(max_examples=12)
@given(st.booleans(), steps)
@example(on_demand=True, history=[("warm", 2_000)])  # 6,000 of writes; 860 a second were refused
@example(on_demand=False, history=[("provision", 4_100), ("provision", 6_000)])
def test_a_resource_serves_what_it_says_of_evenly_spread_keys(on_demand, history):
    """CAP2-1: within one percent, whatever its history."""
    emu = made(on_demand=on_demand)
    for step in history:
        play(emu, step)
    resource = resource_of(emu)
    resource.partitions.check()
    units = promise(emu)
    if not resource.throughput.on_demand:
        units = resource.throughput.read, resource.throughput.write
    for axis, rate in zip((READ, WRITE), units, strict=True):
        assert served(emu, axis, math.floor(rate * 0.99)) == 1


def test_what_the_table_refused_leaves_its_partitions_as_they_were():
    """CAP2-2: 100 units a second under 2,000 of demand, for an hour."""
    emu = made(on_demand=False)
    account, resource = emu.account(), resource_of(emu)
    positions = even_positions(10)
    for _ in range(3_600):
        account.catch_up(account.now_ns + NANOSECONDS)
        for position in positions:
            charge = [resource.charge(WRITE, 200.0, position)]
            record(charge, account.now_ns, admit(charge, account.now_ns))
    assert len(resource.partitions) == 1
    assert resource.heat.is_idle
    assert resource.meter.traffic.throttled(WRITE) > 0


def hot_collection(seed, *, minutes, rate=4_000, ascending=False):
    """Write to one collection for so long; return the seconds of its splits."""
    emu = made(on_demand=True, seed=seed)
    account, resource = emu.account(), resource_of(emu)
    splits = []
    emu.events.subscribe(lambda event: splits.append(event) if type(event) is Split else None)
    began_ns = account.now_ns
    for second in range(minutes * MINUTE):
        account.catch_up(account.now_ns + NANOSECONDS)
        for number in range(rate // 400):
            tick = second * (rate // 400) + number
            sort = f"{tick:09}" if ascending else f"{tick * 7_919 % 100_000:05}"
            charge = [resource.charge(WRITE, 400.0, (HASH_SPACE // 3, "k", sort))]
            record(charge, account.now_ns, admit(charge, account.now_ns))
    for split in splits:
        assert len(split.children) == 2
    return [(split.time_ns - began_ns) / NANOSECONDS for split in splits]


def test_a_hot_collection_gains_one_partition_at_a_time():
    """CAP2-3, MEA-9: at its own times by seed, never twice the capacity at once."""
    runs = [hot_collection(seed, minutes=25) for seed in range(3)]
    for times in runs:
        assert len(times) == len(set(times)) >= 3
        assert 180 <= times[0] <= 720
        assert all(time == int(time) for time in times)
    assert len({tuple(times) for times in runs}) == 3
    assert hot_collection(0, minutes=25) == runs[0]


def test_a_collection_written_in_order_is_never_split():
    """CAP-506, MEA-12."""
    assert hot_collection(0, minutes=15, ascending=True) == []
