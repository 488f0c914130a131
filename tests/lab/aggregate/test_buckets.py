"""Token buckets as arrays keep the rules of the engine's own."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.capacity import ONE, TokenBucket
from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload
from emulator.lab.aggregate.buckets import Buckets, TokenArrays
from emulator.lab.aggregate.plan import Plan
from emulator.lab.aggregate.played_world import PartitionSplit, PlayedWorld
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.service.limits import PARTITION_UNITS
from emulator.settings import Settings
from tests.lab.aggregate.worlds import close, events, played

rates = st.integers(1, 5_000)
units = st.integers(0, 20_000)


def draw(bucket, cost, second):
    """Take some units within a second of the engine's own bucket."""
    bucket.refill(second * ONE)
    bucket.take(cost * ONE)
    bucket.refill((second + 1) * ONE)


@given(rates, st.integers(0, 300), st.lists(units, max_size=40))
@example(rate=5, burst_seconds=300, demands=[400, 0, 0])  # a debt, repaid before anything else
@example(rate=5, burst_seconds=0, demands=[0, 5, 6, 0])
def test_arrays_hold_what_the_bucket_holds(rate, burst_seconds, demands):
    """CAP-603, second by second."""
    bucket = TokenBucket(rate, now_ns=0, burst_seconds=burst_seconds)
    arrays = TokenArrays(np.array([float(rate)]), np.array([float(rate * burst_seconds)]))

    for second, demand in enumerate(demands):
        draw(bucket, demand, second)
        arrays.take(np.array([float(demand)]))

        assert (arrays.base[0], arrays.burst[0]) == (bucket.base / ONE, bucket.burst / ONE)
        assert arrays.available()[0] == bucket.tokens + rate


@given(rates, st.integers(0, 300), st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_calm_seconds_are_as_good_as_one_by_one(rate, burst_seconds, shares):
    demands = [round(share * rate) for share in shares]
    bucket = TokenBucket(rate, now_ns=0, burst_seconds=burst_seconds)
    arrays = TokenArrays(np.array([float(rate)]), np.array([float(rate * burst_seconds)]))

    for second, demand in enumerate(demands):
        draw(bucket, demand, second)
    arrays.pass_calm(np.array([float(sum(demands))]), len(demands))

    assert (arrays.base[0], arrays.burst[0]) == (bucket.base / ONE, bucket.burst / ONE)


def test_more_partitions_than_there_is_room_for_leave_everything_as_it_is():
    """A table that splits beyond the room, at once; with and without a world beside it."""
    layout = Layout(*events(rate=12_000, duration=300))
    at_once = Known(Settings(heat_minutes=1, split_delay=60))

    [alone], [first, _] = played(layout, [3], at_once), played(layout, [3, 2], at_once)

    assert close(first, alone)
    assert alone.splits > 8


def two_worlds(*, provisioned=200):
    """Return the buckets of two worlds of a table with an index, and the worlds."""
    index = Index("byShop", partition="{shop}", capacity=Capacity(read=50, write=60))
    design = Design(
        "d",
        partition="{user}",
        indexes=[index],
        capacity=Capacity(read=100, write=provisioned),
    )
    workload = Workload(
        fields=[Field("user", count=50), Field("shop", count=5)],
        patterns=[Pattern("put", "PutItem", rate=10)],
        duration=60,
        warm_up=0,
    )
    layout = Layout(design, workload)
    drawn = draw_worlds(0, 2, Known(Settings(burst_start=0.5)))
    emulators = [RunEmulator(layout, world.settings, warm_up=0) for world in drawn]
    context = Plan(layout, emulators[0]).context
    worlds = [
        PlayedWorld(world, emulator, context)
        for world, emulator in zip(drawn, emulators, strict=True)
    ]
    return Buckets(worlds), worlds


def partitions_of(buckets, world, resource, axis):
    return buckets.of_partitions(world, resource, axis).tolist()


def test_buckets_begin_with_what_the_engine_gives():
    """CAP2-5: half of the burst, as the setting says; partitions are full and have none."""
    buckets, worlds = two_worlds()
    for number, world in enumerate(worlds):
        for resource in (0, 1):
            for axis in (0, 1):
                limits = world.resources[resource].meter.limits[axis]
                above = buckets.above(number, resource, axis)
                assert [buckets.rates[at] for at in above] == [float(own.rate) for own in limits]
                assert [buckets.base[at] for at in above] == [own.base / ONE for own in limits]
                assert [buckets.burst[at] for at in above] == [own.burst / ONE for own in limits]
                assert any(buckets.burst[at] > 0 for at in above)
                own = partitions_of(buckets, number, resource, axis)
                assert buckets.base[own].tolist() == [float(PARTITION_UNITS[axis])] * len(own)
                assert not buckets.burst[own].any()
                assert set(buckets.worlds[own].tolist()) == {number}
    assert (buckets.is_full, buckets.has_closed_gate) == (True, False)


def test_every_bucket_has_one_number_and_its_own_reason():
    buckets, worlds = two_worlds()
    numbers = [
        at
        for world in range(2)
        for resource in (0, 1)
        for axis in (0, 1)
        for at in partitions_of(buckets, world, resource, axis)
    ]
    assert len(numbers) == len(set(numbers))
    assert 0 not in numbers
    for world in range(2):
        for resource in (0, 1):
            for axis in (0, 1):
                reason = worlds[world].resources[resource].meter.reasons[axis][-1].reason
                for at in partitions_of(buckets, world, resource, axis):
                    assert buckets.reason_names[buckets.reasons[at]] == reason
    units = np.zeros(len(buckets))
    units[numbers] = 1.0
    by_axis = buckets.units_by_axis(units)
    assert by_axis.shape == (2, 2, 2)
    assert by_axis.sum() == len(numbers)


def test_what_is_above_partitions_counts_for_no_table_or_index():
    """Neither the bucket that is always open nor limits and gates."""
    buckets, _ = two_worlds()
    units = np.zeros(len(buckets))
    above = [
        at
        for world in range(2)
        for resource in (0, 1)
        for axis in (0, 1)
        for at in buckets.above(world, resource, axis)
    ]
    others = [0, *above, buckets.gate(0, 0), buckets.gate(1, 0)]
    units[others] = 1.0
    assert not buckets.units_by_axis(units).any()
    assert set(buckets.axes[others].tolist()) == {-1}


def test_arrays_are_full_if_every_bucket_is():
    arrays = TokenArrays(np.array([5.0, 5.0]), np.zeros(2))
    assert arrays.is_full
    arrays.take(np.array([0.0, 6.0]))
    assert not arrays.is_full


def test_a_split_hands_on_what_waits_and_nothing_else():
    """CAP2-4: half to each child; a slot that is used again begins anew."""
    buckets, worlds = two_worlds()
    parent = next(iter(worlds[1].resources[1].partitions)).id
    old = int(buckets.of_partitions(1, 1, 1)[0])
    buckets.lanes[old], buckets.demand[old], buckets.shares[old] = 9.0, 5.0, 0.25
    split = PartitionSplit(1, parent, (901, 902), ((0,), (1,)))

    slot, children = buckets.split(1, split)

    new = buckets.of_slots(1, 1, 1, np.asarray(children))
    assert buckets.lanes[new].tolist() == [4.5, 4.5]
    assert (buckets.lanes[old], buckets.base[old]) == (0.0, buckets.rates[old])
    assert buckets.demand[new].tolist() == [0.0, 0.0]
    assert buckets.shares[new].tolist() == [1.0, 1.0]
    again = buckets.split(1, PartitionSplit(1, 901, (903, 904), ((0,), (1,))))[1]
    assert slot in again
    used = buckets.of_slots(1, 1, 1, np.asarray([slot]))
    assert (buckets.demand[used][0], buckets.shares[used][0]) == (0.0, 1.0)


def test_more_room_gives_every_bucket_its_new_number():
    buckets, _ = two_worlds()
    names = ("rates", "base", "burst", "burst_caps", "demand", "consumed", "lanes", "shares")
    buckets.demand[:] = np.arange(len(buckets))
    before = {name: getattr(buckets, name).copy() for name in names}
    reasons, partitions = buckets.reasons.copy(), partitions_of(buckets, 1, 1, 1)
    gate = buckets.gate(1, 0)
    buckets.close_gates([(gate, 2)])

    number_of = buckets.grow(0)

    assert len(buckets) > len(before["rates"])
    for name in names:
        assert getattr(buckets, name)[number_of].tolist() == before[name].tolist()
    assert number_of[partitions].tolist() == partitions_of(buckets, 1, 1, 1)
    assert buckets.reasons[partitions_of(buckets, 1, 1, 1)].tolist() == [
        int(reasons[at]) for at in partitions
    ]
    assert buckets.gate(1, 0) == number_of[gate]
    assert buckets.has_closed_gate
    assert buckets.available()[number_of[gate]] == 0.0
    assert buckets.reasons[number_of[gate]] == 2


def test_free_slots_count_for_nothing():
    buckets, _ = two_worlds()
    for at in partitions_of(buckets, 1, 0, 1):
        buckets.demand[at] = buckets.consumed[at] = 3.0
    before = buckets.units_by_axis(buckets.demand)

    buckets.grow(0)

    for column in (buckets.demand, buckets.consumed):
        assert buckets.units_by_axis(column).tolist() == before.tolist()
    for column in (buckets.refused, buckets.lanes):
        assert not column.any()


def test_a_lowered_limit_takes_what_is_above_it():
    buckets, worlds = two_worlds()
    [at] = [
        number
        for number, limit in zip(
            buckets.above(0, 0, 1), worlds[0].resources[0].meter.limits[1], strict=True
        )
        if limit.rate == 200
    ]
    buckets.base[at], buckets.burst[at] = 500.0, 1e9

    buckets.follow_limits(0)

    assert buckets.base[at] == 200.0
    assert buckets.burst[at] == buckets.burst_caps[at]
