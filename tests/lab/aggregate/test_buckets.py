"""Token buckets as arrays keep the rules of the engine's own."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from emulator.capacity import ONE, TokenBucket
from emulator.lab.aggregate.buckets import TokenArrays
from emulator.lab.planning.layout import Layout
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
    at_once = {"heat_minutes": 1, "split_delay": 60}

    [alone], [first, _] = played(layout, [3], **at_once), played(layout, [3, 2], **at_once)

    assert close(first, alone)
    assert alone.splits > 8
