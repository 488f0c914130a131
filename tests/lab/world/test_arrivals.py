"""Arrivals: draws are those of the world and second, however seconds are asked for."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Pattern,
    Spikes,
    Workload,
    exact,
    world,
)
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.patterns import Recorded
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world.arrivals import Arrivals, Recording, Requests
from tests.lab.world.worlds import run_of

DURATION, WARM_UP = 130, 20
cuts = st.lists(st.integers(1 - WARM_UP, DURATION - 1), unique=True).map(sorted)


def requests_of(arrivals, rate=40.3):
    put = Pattern("put", "PutItem", rate=rate, arrivals=arrivals)
    load = Workload(fields=(), patterns=[put], duration=DURATION, warm_up=WARM_UP)
    return Requests.of(load, put)


def drawn(requests, stops, seeds):
    """Return what arrives in each second of each world, drawn in stretches."""
    arrivals, found = Arrivals([requests], seeds), []
    for first, last in pairwise([-WARM_UP, *stops, DURATION]):
        arrivals.draw(first, last)
        found.append([arrivals.counts(world, 0, first, last) for world in range(len(seeds))])
    return np.concatenate(found, axis=1)


@pytest.mark.parametrize("arrivals", ["even", "poisson"])
@settings(max_examples=30)
@given(stops=cuts)
def test_draws_do_not_depend_on_where_stretches_end_or_on_other_worlds(arrivals, stops):
    requests = requests_of(arrivals)
    every_second = drawn(requests, range(1 - WARM_UP, DURATION), [7, 8])

    assert (drawn(requests, stops, [7, 8]) == every_second).all()
    assert (drawn(requests, stops, [8])[0] == every_second[1]).all()


def test_even_arrivals_are_as_many_as_the_rate_says():
    """Whole requests; the run's begin anew after the warm-up."""
    [counts] = drawn(requests_of("even"), [], [7])
    assert set(counts.tolist()) == {40.0, 41.0}
    assert counts[WARM_UP:].sum() == pytest.approx(40.3 * DURATION, abs=1)


def test_drawn_arrivals_have_the_mean_and_variance_of_chance():
    counts = drawn(requests_of("poisson"), [], list(range(60)))
    assert counts.mean() == pytest.approx(40.3, rel=0.01)
    assert counts.var() == pytest.approx(40.3, rel=0.05)


def test_what_falls_on_rows_adds_up_to_what_arrives():
    arrivals = Arrivals([requests_of("even")], [7])
    shares, counts = np.array([0.5, 0.3, 0.2]), np.full(2_000, 40.0)
    rows = arrivals.among(0, 0, counts, shares)
    assert rows.sum(axis=1).tolist() == counts.tolist()
    assert rows.mean(axis=0) == pytest.approx(40 * shares, rel=0.02)
    assert rows.var(axis=0) == pytest.approx(40 * shares * (1 - shares), rel=0.1)


def test_a_rate_that_changes_now_and_then_has_breaks():
    requests = requests_of("even", Spikes(base=10, peak=60, every=60, lasting=20))
    starts = np.flatnonzero(np.diff(requests.at(0, DURATION))) + 1
    breaks = [requests.next_breaks(np.array([second]))[0] for second in range(DURATION)]
    expected = [min(starts[starts > second], default=np.inf) for second in range(DURATION)]
    assert breaks == expected
    largest, mean = requests.most(np.array([0, 30]), np.array([10, 40]))
    assert largest.tolist() == mean.tolist()


def one_after_the_other(rate, seconds, load=1):
    """Return a recording of one user, then of another one, on a table with room for half of it."""
    count = rate * seconds
    recorded = Recorded(
        tuple((number + 0.5) / rate for number in range(2 * count)),
        {"user": (0,) * count + (1,) * count},
        (100,) * 2 * count,
    )
    series = Series((float(rate),) * 2 * seconds)
    workload = Workload(
        fields=[Field("user", values=("a", "b"))],
        patterns=[Pattern("put", "PutItem", rate=series, recorded=recorded)],
        duration=2 * seconds,
        warm_up=0,
        retry="none",
    )
    capacity = Capacity(read=1, write=5_000)
    design = Design("d", partition="{user}", sort="{timestamp}", capacity=capacity)
    return Layout(design, workload.scaled(load))


def test_recorded_requests_are_counted_by_second_and_user():
    model = run_of(one_after_the_other(2, 60), draw_worlds(0, 1, Known())).plan.models[0]
    cells = model.placements[0].cells

    recording = Recording.of(model.pattern, cells, 1)

    assert recording.counts(0, 120, 2).sum(axis=1).tolist() == [2.0] * 120
    assert recording.counts(0, 60, 2).sum(axis=0).tolist() == [120.0, 0.0]
    assert recording.counts(60, 120, 2).sum(axis=0).tolist() == [0.0, 120.0]
    assert Recording.of(model.pattern, cells, 2) is None


def test_recorded_users_that_come_one_after_the_other_each_fill_a_partition():
    """CAP-501: on average each of them asks for less than a partition serves."""
    shares = [
        engine.run(one_after_the_other(1_500, 5)).throttled_share for engine in (world, exact)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
    assert shares[1] > 0.1
