"""The state: its arrays have the axes that their types name; what waits comes when it is due."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity.retries import LEGACY, STANDARD
from emulator.lab import Pattern
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import draw_worlds
from emulator.lab.world.retries import retry_times
from emulator.lab.world.state import Waiting, check
from tests.lab.world.worlds import KNOWN, events, orders, run_of, splitting

TIMES = [retry_times(policy, None, resends=False) for policy in (LEGACY, STANDARD)]


@pytest.mark.parametrize("case", [orders, splitting, lambda: events(rate=9_000, duration=180)])
def test_arrays_have_the_axes_of_their_types_throughout_a_run(case):
    run = run_of(Layout(*case()), draw_worlds(0, 3, KNOWN))
    seen = []

    def look(_done, _total):
        sizes = check(run.tally, check(run.state))
        seen.append(sizes)
        assert sizes["world"] == 3
        assert sizes["pattern"] == len(run.plan.models)
        assert sizes["row"] == run.routing.table.shares.shape[1]
        assert sizes["bucket"] == run.state.numbers.count

    run.play(look)

    assert len(seen) > 1


def test_an_array_of_other_axes_is_found():
    run = run_of(Layout(*orders()), draw_worlds(0, 2, KNOWN))
    run.state.tokens.burst = run.state.tokens.burst[:, 1:]
    with pytest.raises(AssertionError, match="burst"):
        check(run.state)


amounts = st.floats(0.5, 100)


@given(st.lists(st.lists(amounts, min_size=2, max_size=2), min_size=1, max_size=30))
def test_what_is_refused_comes_when_it_is_due(seconds):
    """Against a counter of calls by second, retry and row; the first row is legacy's."""
    waiting = Waiting(TIMES, 2)
    rows, shares = np.arange(2), waiting.shares[:, np.arange(2)]
    naive = Counter()
    for second, refused in enumerate(seconds, start=-5):
        at = np.full(2, second)
        due = waiting.take(rows, at)
        for (retry, row), calls in np.ndenumerate(due):
            assert calls == pytest.approx(naive.pop((second, retry, row), 0.0), abs=1e-6)
        waits = np.zeros((waiting.retries, 2))
        for row, calls in enumerate(refused):
            chances = TIMES[row].chances
            retry = second % len(chances)
            waits[retry, row] = calls
            ahead = chances[retry, 1:]
            for after, chance in enumerate(ahead, start=1):
                if chance:
                    part = calls * chance / chances[retry].sum()
                    naive[second + after, retry, row] += part
        waiting.put(rows, at, shares, waits)
        left = waiting.of_rows(slice(0, 2)).sum()
        assert left == pytest.approx(sum(naive.values()), abs=1e-6)


def test_as_much_comes_as_goes_while_steady_seconds_are_passed():
    """A ring that is turned by some seconds is the ring of so many seconds later."""
    one, other = Waiting(TIMES, 1), Waiting(TIMES, 1)
    row, shares = np.zeros(1, dtype=np.int64), one.shares[:, :1]
    waits = np.full((one.retries, 1), 7.0)

    def second(ring, number):
        ring.take(row, np.array([number]))
        ring.put(row, np.array([number]), shares, waits)

    for number in range(2 * one.longest):
        second(one, number)
        second(other, number)
    passed = 2 * one.longest + 13
    for number in range(2 * one.longest, passed):
        second(one, number)
    other.turn(slice(0, 1), passed - 2 * other.longest)
    assert other.calls == pytest.approx(one.calls)


def test_what_is_never_refused_does_not_wait():
    design, workload = orders(patterns=[Pattern("put", "PutItem", rate=10)])
    run = run_of(Layout(design, workload), draw_worlds(0, 1, KNOWN))
    run.play()
    assert not run.state.waiting.calls.any()
