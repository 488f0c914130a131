"""Token buckets as arrays keep the rules of the engine's own."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.capacity import ONE, TokenBucket
from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world.limits import AXES, PLENTY, Slots, Tokens
from emulator.service.limits import PARTITION_UNITS
from emulator.settings import Settings
from tests.lab.world.worlds import close, events, played, run_of

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
    tokens = Tokens(np.array([[float(rate)]]), np.array([[float(rate * burst_seconds)]]))

    for second, demand in enumerate(demands):
        draw(bucket, demand, second)
        tokens.take(np.array([[float(demand)]]))

        assert (tokens.base[0, 0], tokens.burst[0, 0]) == (bucket.base / ONE, bucket.burst / ONE)
        assert tokens.available()[0, 0] == bucket.tokens + rate


def two_worlds(*, burst_start=0.5):
    """Return a run of two worlds of a table with an index, and the engine's side of them."""
    index = Index("byShop", partition="{shop}", capacity=Capacity(read=50, write=60))
    design = Design(
        "d", partition="{user}", indexes=[index], capacity=Capacity(read=100, write=200)
    )
    workload = Workload(
        fields=[Field("user", count=50), Field("shop", count=5)],
        patterns=[Pattern("put", "PutItem", rate=10)],
        duration=60,
        warm_up=0,
    )
    drawn = draw_worlds(0, 2, Known(Settings(burst_start=burst_start)))
    run = run_of(Layout(design, workload), drawn)
    return run, [world.resources for world in run._worlds]


def test_buckets_begin_with_what_the_engine_gives():
    """CAP2-5, CAP-602: half of the burst, as the setting says; partitions are full."""
    run, worlds = two_worlds()
    tokens, numbers = run.state.tokens, run.state.numbers
    for world, resources in enumerate(worlds):
        for number, resource in enumerate(resources):
            for axis in AXES:
                above = list(numbers.above[number, axis])
                limits = resource.meter.limits[axis]
                assert tokens.rates[world, above].tolist() == [float(own.rate) for own in limits]
                assert tokens.base[world, above].tolist() == [own.base / ONE for own in limits]
                assert tokens.burst[world, above].tolist() == [own.burst / ONE for own in limits]
                assert tokens.burst[world, above].any()
                slots = run.state.slots[number].in_order(world)
                own = numbers.partitions(number, axis).start + slots
                assert set(tokens.base[world, own].tolist()) == {float(PARTITION_UNITS[axis])}
                assert not tokens.burst[world, own].any()


def test_every_bucket_has_one_number_and_its_own_reason():
    run, worlds = two_worlds()
    numbers, names = run.state.numbers, run.reason_names
    partitions = [
        bucket
        for number in range(2)
        for axis in AXES
        for bucket in range(numbers.count)[numbers.partitions(number, axis)]
    ]
    above = {bucket for own in numbers.above.values() for bucket in own}
    gates = set(numbers.gates.values())

    assert sorted([0, *above, *gates, *partitions]) == list(range(numbers.count))
    for world, resources in enumerate(worlds):
        for number, resource in enumerate(resources):
            for axis in AXES:
                own = run.state.reasons[world, numbers.partitions(number, axis)]
                wanted = resource.meter.reasons[axis][-1].reason
                assert {names[reason] for reason in own.tolist()} == {wanted}


def test_more_room_gives_every_bucket_its_new_number():
    run, _ = two_worlds()
    state, numbers = run.state, run.state.numbers
    state.minute.demand[:] = np.arange(numbers.count)
    state.tokens.burst[:, 3] = 7.0
    before = {name: getattr(state.tokens, name).copy() for name in ("rates", "base", "burst")}
    room = numbers.rooms[0] + 5

    state.widen(0, room)

    _, number_of = numbers.with_room(0, room)
    assert state.numbers.rooms == (room, numbers.rooms[1])
    assert len(set(number_of.tolist())) == numbers.count
    for name, column in before.items():
        assert getattr(state.tokens, name)[:, number_of].tolist() == column.tolist()
    assert state.minute.demand[0, number_of].tolist() == list(range(numbers.count))
    fresh = np.setdiff1d(np.arange(state.numbers.count), number_of)
    assert set(state.tokens.rates[:, fresh].ravel().tolist()) == {PLENTY}
    assert not state.minute.demand[:, fresh].any()
    for (number, axis), old in numbers.above.items():
        assert number_of[list(old)].tolist() == list(state.numbers.above[number, axis])
        own = numbers.partitions(number, axis)
        moved = number_of[own]
        assert moved.tolist() == list(range(moved[0], moved[0] + numbers.rooms[number]))
        assert moved[0] == state.numbers.partitions(number, axis).start


_, RESOURCES = two_worlds()


@settings(max_examples=40)
@given(st.lists(st.integers(0, 50), max_size=30))
def test_no_two_partitions_have_one_slot_and_free_ones_are_used_again(splits):
    """Against a set; room is made when there is too little."""
    slots, room, last = Slots([resources[0] for resources in RESOURCES], 4), 4, 1_000
    for split in splits:
        if not slots.has_room(1, 2):
            slots.grow(room, room + 3)
            room += 3
        ids = slots.ids(1)
        parent = list(ids)[split % len(ids)]
        others = {own: slot for own, slot in ids.items() if own != parent}
        old = ids[parent]

        gone, children = slots.split(1, parent, [last, last + 1])

        last += 2
        assert gone == old
        assert old not in children
        assert others.items() <= slots.ids(1).items()
        assert len(set(slots.ids(1).values())) == len(slots.ids(1)) == len(others) + 2
        assert set(slots.ids(1).values()) <= set(range(room))
    assert room <= 4 + len(splits) + 4


def test_a_lowered_limit_takes_what_is_above_it():
    tokens = Tokens(np.array([[500.0]]), np.array([[1e9]]))
    tokens.burst[:] = 1e8
    own = TokenBucket(200, now_ns=0, burst_seconds=300)

    tokens.follow(0, 0, own, keep=True)

    assert (tokens.rates[0, 0], tokens.base[0, 0]) == (200.0, 200.0)
    assert tokens.burst[0, 0] == tokens.caps[0, 0] == 60_000.0


def test_more_partitions_than_there_is_room_for_leave_everything_as_it_is():
    """A table that splits beyond the room, at once; with and without a world beside it."""
    layout = Layout(*events(rate=12_000, duration=300))
    at_once = Known(Settings(heat_minutes=1, split_delay=60))

    [alone], [first, _] = played(layout, [3], at_once), played(layout, [3, 2], at_once)

    assert close(first, alone)
    assert alone.splits > 8


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_the_reserve_at_the_start_is_what_can_be_taken(start):
    """CAP2-5: two minutes of twice what is provisioned need 120 seconds of reserve."""
    layout = Layout(*events(rate=200, duration=120, capacity=Capacity(read=5, write=100)))

    known = Known(Settings(burst_start=start), frozenset({"burst_start"}))
    [outcome] = played(layout, [0], known)

    assert (outcome.throttled_share > 0.4) == (start == 0.0)
    assert (outcome.throttled_share == 0.0) == (start == 1.0)
