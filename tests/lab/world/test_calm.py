"""Calm: what passes in closed form is what its seconds add up to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import ONE, WRITE, TokenBucket
from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Pattern,
    Sequential,
    Spikes,
    Workload,
    Zipf,
)
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds, calm
from emulator.lab.world.calm import pass_reserves
from emulator.lab.world.limits import Tokens
from emulator.settings import Settings
from tests.lab.world.worlds import close, run_of, seconds_played

rates = st.integers(1, 5_000)


class Buckets:
    """What is asked of a state here."""

    def __init__(self, tokens):
        self.tokens = tokens


@given(rates, st.integers(0, 300), st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_calm_seconds_are_as_good_as_one_by_one(rate, burst_seconds, shares):
    """CAP-603: what is below the rate fills the reserve."""
    demands = [round(share * rate) for share in shares]
    bucket = TokenBucket(rate, now_ns=0, burst_seconds=burst_seconds)
    tokens = Tokens(np.array([[float(rate)]]), np.array([[float(rate * burst_seconds)]]))

    for second, demand in enumerate(demands):
        bucket.refill(second * ONE)
        bucket.take(demand * ONE)
        bucket.refill((second + 1) * ONE)
    total = np.array([[float(sum(demands))]])
    pass_reserves(Buckets(tokens), np.array([0]), np.array([len(demands)]), total)

    assert (tokens.base[0, 0], tokens.burst[0, 0]) == (bucket.base / ONE, bucket.burst / ONE)


def devices(rate, write, *, in_turn=True, duration=130, warm_up=0, arrivals="even", **options):
    """Return devices that write in turn, so that nothing is left to chance."""
    put = Pattern("put", "PutItem", rate=rate, arrivals=arrivals)
    shape = Sequential() if in_turn else Zipf(1.2)
    workload = Workload(
        fields=[Field("deviceId", count=300, distribution=shape), Field("kind", count=4)],
        patterns=[put],
        duration=duration,
        warm_up=warm_up,
        retry="standard",
    )
    capacity = Capacity(read=5, write=write)
    key = {"partition": "{deviceId}", "sort": "{timestamp}"} | options
    return Layout(Design("d", capacity=capacity, **key), workload)


def by_kind(write):
    return Index("byKind", partition="{kind}", capacity=Capacity(read=5, write=write))


CALM = {
    "enough room": devices(10.5, 100),
    "partitions": devices(3_000, 6_000, duration=70),
    "reserves that fill and serve a peak": devices(
        Spikes(base=50, peak=600, every=60, lasting=10), 150, duration=250, warm_up=60
    ),
    "an index": devices(50, 100, indexes=(by_kind(80),)),
    "keys of an hour": devices(500, 1_000, partition="{timestamp:hour}", sort="{deviceId}"),
}


@pytest.mark.parametrize("name", CALM)
def test_a_calm_stretch_is_its_seconds(name, monkeypatch):
    """Nothing is certain to whoever wants a margin without end: every second is played."""
    worlds, seconds = (
        draw_worlds(0, 2, Known(Settings(burst_start=1.0))),
        seconds_played(monkeypatch),
    )
    passed = Worlds(CALM[name]).play(worlds)
    assert not seconds

    monkeypatch.setattr(calm, "MARGIN", 1e12)
    one_by_one = Worlds(CALM[name]).play(worlds)

    assert all(map(close, passed, one_by_one))
    assert passed[0].throttled_share == 0


def test_a_reserve_is_used_up_in_the_second_in_which_it_is_empty():
    """CAP2-5: 250 units a second are above the rate; a second may use tokens of the next."""
    layout, worlds = devices(400, 150), draw_worlds(0, 12, Known(Settings()))

    outcomes = Worlds(layout).play(worlds)

    for world, outcome in zip(worlds, outcomes, strict=True):
        empty = (world.settings.burst_start * 300 * 150 + 150) / 250
        if empty < 129:
            assert empty <= outcome.first_throttle + 1 <= empty + 2
        else:
            assert outcome.throttled_share == 0


def test_drawn_arrivals_have_their_mean_and_variance_in_every_partition(monkeypatch):
    """A calm minute against its seconds, in 100 worlds; all but its last second."""
    layout = devices(300, 5_000, in_turn=False, duration=59, arrivals="poisson")
    worlds, found = draw_worlds(0, 100, Known(Settings(placement_salt=7))), []
    for margin in (calm.MARGIN, 1e12):
        monkeypatch.setattr(calm, "MARGIN", margin)
        run = run_of(layout, worlds)
        run.play()
        own = run.state.numbers.partitions(0, WRITE)
        found.append(run.state.minute.consumed[:, own][:, :6])

    passed, one_by_one = found
    assert passed.sum(axis=1) == pytest.approx(one_by_one.sum(axis=1))
    assert passed.mean(axis=0) == pytest.approx(one_by_one.mean(axis=0), rel=0.01)
    assert passed.std(axis=0).mean() == pytest.approx(one_by_one.std(axis=0).mean(), rel=0.15)
