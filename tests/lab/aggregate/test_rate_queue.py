"""Clients that limit their own rate (CAP-708), beside others that do not."""

import numpy as np
import pytest

from emulator.lab import Clients
from emulator.lab.aggregate.client_rates import ClientRates, State
from emulator.lab.aggregate.rate_queue import RateQueue, _by_attempt
from tests.lab.aggregate.waiting_clients import all_served, context

# One client


def state(**members):
    own = State.of((1, 1))
    for name, value in members.items():
        getattr(own, name)[...] = value
    return own


def test_a_slow_client_saves_up_one_token():
    own = state(limit=0.5)
    for _ in range(200):
        own.send(np.zeros((1, 1)), np.inf)
    assert own.send(np.full((1, 1), 3), np.inf) == [[1.0]]


def test_a_client_without_answers_keeps_its_limit():
    own = state(limit=5.0, tokens=3.0, measured=4.0)
    own.hear(7.3, np.zeros((1, 1)), np.zeros((1, 1)))
    assert (own.limit, own.tokens) == (5.0, 3.0)


@pytest.mark.parametrize(("limit", "tokens"), [(20.0, 14.0), (2.0, 1.4), (1.0, 1.0)])
def test_tokens_over_a_limit_that_has_fallen_are_lost(limit, tokens):
    """One is kept, however low the limit is."""
    own = state(limit=limit, tokens=limit, measured=limit, last_step=0.0)
    own.hear(0.1, np.ones((1, 1)), np.ones((1, 1)))
    assert own.tokens[0, 0] == pytest.approx(tokens)


@pytest.mark.parametrize(
    ("waiting", "limit", "share"), [(1, 2.0, 0.0), (1, 0.5, 1.0), (6, 2.0, 4 / 6)]
)
def test_callers_give_up_what_would_wait_too_long(waiting, limit, share):
    rates = ClientRates(Clients(count=1, timeout=1.0), [7])
    rates._next.waiting[...] = waiting
    rates._next.limit[...] = limit
    assert rates.end_second() == pytest.approx([share])
    assert rates._state.waiting[0, 0] == waiting * (1 - share)


# The queue


def queue(**options):
    return RateQueue(context(**options))


def send(own, second, arriving, due=None, earlier=None, attempt=all_served):
    return own.send(second, np.asarray(arriving, dtype=np.float64), due, earlier, attempt)


def limited_to(own, rate):
    own._rates._state.limit[...] = rate


def retries(own, *rows):
    """Return retries by number and row: those given are second attempts."""
    due = np.zeros((len(own._waiting) - 1, len(own._rows)))
    due[0] = rows
    return due


def test_first_attempts_come_apart_from_the_others():
    sent = np.asarray([[1.0, 2.0], [3.0, 0.0], [0.0, 4.0]])
    new, others = _by_attempt(sent)
    assert new.tolist() == [1.0, 2.0]
    assert others is not None
    assert others.tolist() == [[3.0, 0.0], [0.0, 4.0]]
    assert _by_attempt(np.asarray([[1.0], [0.0]]))[1] is None


def test_patterns_of_other_clients_pass():
    own = queue(items=(1, 1), limited=(True, False))
    limited_to(own, 10.0)
    sent = send(own, 0, [100.0, 100.0])

    assert sent.new[0] < 20
    assert sent.new[1] == 100.0
    assert own.left()[0].round(6).tolist() == [pytest.approx(100 - sent.new[0]), 0.0]


def test_retries_from_before_the_run_stay_what_they_are():
    """CAP2-10: sent in the run, whether they waited for the limit or not."""
    own = queue(items=(1, 1), limited=(True, False))
    due = retries(own, 8.0, 6.0)
    earlier = np.zeros_like(own._waiting)
    earlier[1] = 4.0, 3.0
    sent = send(own, 0, [0.0, 0.0], due, earlier)

    assert sent.due is not None
    assert sent.due[0].tolist() == [8.0, 6.0]
    assert sent.earlier is not None
    assert sent.earlier[1] == pytest.approx([4.0, 3.0])
    assert own.left().sum() == pytest.approx(0.0, abs=1e-6)


def test_nothing_of_the_run_is_from_before_it():
    own = queue(items=(1, 1), limited=(True, False))
    sent = send(own, 0, [8.0, 6.0], retries(own, 2.0, 2.0))
    assert sent.earlier is not None
    assert not sent.earlier.any()
    assert send(own, -1 + 2, [8.0, 6.0]).due is None


def test_how_long_retries_wait_for_the_limit_is_told():
    """Eight come at once and leave one by one; first attempts that wait do not count."""
    own = queue()
    limited_to(own, 4.0)
    send(own, 0, [0.0], retries(own, 8.0))
    for second in range(1, 5):
        limited_to(own, 4.0)
        send(own, second, [0.0])
    assert own.left().sum() == pytest.approx(0.0, abs=1e-6)
    waited = own.later_wait
    assert 0.4 < waited < 4.0, "the limit falls as less is measured"
    for second in range(5, 9):
        limited_to(own, 1.0)
        send(own, second, [4.0])
    assert own.later_wait == waited
