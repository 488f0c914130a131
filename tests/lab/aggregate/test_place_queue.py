"""Clients that have so many calls under way at most, and what every queue of clients does."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emulator.lab import Clients
from emulator.lab.aggregate.place_queue import PlaceQueue, _Search
from emulator.lab.aggregate.retry_times import ATTEMPT_SECONDS
from tests.lab.aggregate.waiting_clients import all_served, context

#: What one place serves in a second if nothing is refused.
SERVED = 1 / ATTEMPT_SECONDS


def queue(places=1, **options):
    clients = options.pop("clients", None)
    return PlaceQueue(context(clients, **options), places)


def send(own, second, *arriving, due=None, earlier=None, attempt=all_served):
    return own.send(second, np.asarray(arriving, dtype=np.float64), due, earlier, attempt)


def refusing(count):
    """Return what tells that so many first attempts are refused, each of which comes again."""

    def attempt(new, _due):
        attempts = np.zeros((3, len(new)))
        attempts[0] = new
        crowd = SimpleNamespace(
            rows=np.arange(len(new)),
            distinct_segments=np.arange(len(new)),
            by_segment=lambda calls: np.asarray(calls).copy(),
        )
        again = np.zeros((2, len(new)))
        again[0] = count / np.maximum(new, 1e-9)
        admitted = SimpleNamespace(
            by_number=attempts, again=again, restarted=None, total=new, errors=count + 0 * new
        )
        return SimpleNamespace(crowd=crowd), admitted

    return attempt


def test_what_finds_no_place_waits_and_is_sent_first():
    own = queue()
    sent = [send(own, second, calls).new[0] for second, calls in enumerate((SERVED, 400.0, 0.0))]

    assert sent == pytest.approx([SERVED, SERVED, SERVED], rel=0.02)
    assert own.left()[0, 0] == pytest.approx(400 - 2 * SERVED, rel=0.1)


@pytest.mark.parametrize(("calls", "passes"), [(500.0, True), (500.1, False)])
def test_nobody_waits_if_there_are_places_for_all(calls, passes):
    own = queue(3)
    assert own.lets_pass(np.asarray([calls])) is passes


def test_nobody_passes_those_who_wait():
    own = queue()
    send(own, 0, 400.0)
    assert not own.lets_pass(np.zeros(1))


def test_a_batch_takes_one_place():
    """CAP2-9: ten items in a call."""
    own = queue(items=(10,))
    assert send(own, 0, 10_000.0).new[0] == pytest.approx(10 * SERVED, rel=0.02)
    assert own.lets_pass(np.zeros(1)) is False


def test_calls_of_a_second_of_the_run_are_the_runs():
    """CAP2-10: from second 0 on."""
    own = queue()
    assert send(own, 0, 400.0).earlier is None
    assert own.left()[0, 0] == pytest.approx(400 - SERVED, rel=0.02)


def test_calls_from_before_the_run_are_told_when_they_are_sent_in_it():
    """CAP2-10."""
    own = queue()
    before = send(own, -1, 250.0)
    assert before.earlier is None
    waiting = 250 - before.new[0]
    assert own.left()[0, 0] == pytest.approx(0.0, abs=1e-6)

    first = send(own, 0, 200.0)

    assert first.earlier is not None
    assert first.earlier[0, 0] == pytest.approx(waiting, rel=0.01)
    assert own.left()[0, 0] == pytest.approx(waiting + 200 - first.new[0], rel=0.01)
    assert send(own, 1, 0.0).earlier is None


def test_places_are_held_while_calls_wait_and_free_again():
    """Fifty refused calls wait for half a second on average."""
    own = queue(40)
    beside = send(own, 0, 40 * SERVED, attempt=refusing(50.0)).new[0]
    after = [send(own, second, 40 * SERVED).new[0] for second in range(1, 9)]

    assert beside == pytest.approx((40 - 50 / 3) * SERVED, rel=0.05), "a third of that now"
    assert after[0] == pytest.approx((40 - 50 / 6) * SERVED, rel=0.05), "and the rest"
    assert after[1:] == pytest.approx([40 * SERVED] * 7, rel=0.02)
    assert not own._held.any()


def test_who_gives_up_holds_a_place_only_until_then():
    """The part of the timeout that was over at the first attempt counts."""
    own = queue(40, clients=Clients(count=1, timeout=0.4))
    held = []
    for used in (0.0, 0.5, 1.0):
        own.timeout_used[:] = used
        held.append(own._waits_held(refusing(50.0)(np.asarray([100.0]), None)).sum())
    assert held[0] > held[1] > held[2] == 0.0


def test_a_batch_that_begins_anew_holds_a_place():
    """CAP2-9: each of the restarted attempts waits as one after its first."""
    own = queue(40, items=(10,))
    refusals, admitted = refusing(50.0)(np.asarray([100.0]), None)
    once = own._waits_held((refusals, admitted)).sum()
    admitted.restarted = np.asarray([[0.25], [0.0], [0.0]])
    assert own._waits_held((refusals, admitted)).sum() == pytest.approx(once * 1.5)


# What all queues do


@pytest.mark.parametrize("timeout", [None, 2.0])
def test_callers_with_a_timeout_give_up(timeout):
    own = queue(clients=Clients(count=1, timeout=timeout), worlds=2)
    assert own.has_timeout is (timeout is not None)
    for second in range(6):
        send(own, second, 400.0 if second < 2 else 0.0, 0.0)
    given_up = own._tally.never_sent

    assert given_up[1] == 0
    sent = 6 * SERVED if timeout is None else 4 * SERVED
    assert given_up[0] + own.left()[0, 0] == pytest.approx(max(0.0, 800 - sent), abs=0.1 * SERVED)
    assert bool(given_up[0] > 0) is (timeout is not None)


def test_who_gives_up_a_call_from_before_the_run_is_not_counted():
    """CAP2-10: half of those who wait came before."""
    own = queue(clients=Clients(count=1, timeout=1.0))
    own._line.come(-1, np.asarray([100.0]), np.asarray([50.0]))
    own._waiting[0] = 100.0
    own._give_up(0, np.asarray([40.0]))

    assert own._tally.never_sent[0] == pytest.approx(20.0)
    assert own.left()[0, 0] == pytest.approx(30.0)


# The search for a share


def test_a_search_is_over_when_all_worlds_are_close():
    search = _Search(np.asarray([0.5, 0.5]))
    assert not search.judge(np.asarray([-0.9, 50.0]), 100.0), "one of two"
    assert search.share[0] == 1.0
    assert search.share[1] == 0.5, "the guess comes first"
    assert search.judge(np.asarray([-0.9, -0.9]), 100.0), "within a hundredth of the places"
    search = _Search(np.asarray([0.5]))
    search.judge(np.asarray([50.0]), 100.0)
    assert not search.judge(np.asarray([-1.1]), 100.0)


def test_a_guess_that_was_tried_is_not_tried_again():
    search = _Search(np.ones(1))
    search.judge(np.asarray([50.0]), 100.0)
    assert 0.0 < search.share[0] < 1.0


def test_a_search_finds_what_fills_the_places():
    def excess(share):
        return 300.0 * share**2 - 100.0

    search: Any = _Search(np.asarray([0.9]))
    for _ in range(8):
        if search.judge(excess(search.share), 100.0):
            break
    assert search.share[0] == pytest.approx(3**-0.5, rel=0.02)
