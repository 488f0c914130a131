"""Clients: when refused calls come again, who gives up, and what retries may cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity.retries import LEGACY, STANDARD, RetryQuota
from emulator.lab import Capacity, Clients, Design, Field, Pattern, Workload, world
from emulator.lab.planning.layout import Layout
from emulator.lab.world.retries import ATTEMPT_SECONDS, Quotas, RowPolicies, retry_times

EACH = pytest.mark.parametrize("policy", [LEGACY, STANDARD], ids=lambda policy: policy.name)

# Times


@EACH
def test_every_retry_comes_some_time(policy):
    chances = retry_times(policy, None, resends=False).chances

    assert chances.sum(axis=1) == pytest.approx(np.ones(policy.attempts - 1))
    mean = chances @ np.arange(chances.shape[1])
    assert mean == pytest.approx([policy.delay(retry) for retry in range(1, policy.attempts)])


def test_callers_come_again_as_long_as_they_wait():
    """Waits of 50, 100 and 200 ms fit into half a second, 400 ms do not."""
    sums = retry_times(LEGACY, 0.5, resends=False).chances.sum(axis=1)
    assert sums.round(9).tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]


@EACH
def test_who_waits_long_enough_comes_as_if_there_were_no_timeout(policy):
    patient, endless = (retry_times(policy, timeout, resends=False) for timeout in (1e6, None))
    assert patient.chances == pytest.approx(endless.chances, abs=0.01)
    assert patient.waits == endless.waits


@EACH
def test_a_longer_timeout_lets_no_fewer_calls_come_again(policy):
    sums = [
        retry_times(policy, timeout, resends=False).chances.sum(axis=1)
        for timeout in (ATTEMPT_SECONDS / 2, 0.1, 0.5, 2.0, 10.0, 60.0)
    ]
    assert (np.diff(sums, axis=0) >= -1e-12).all()
    assert not sums[0].any()


@EACH
def test_who_sends_a_batch_again_has_each_wait_twice(policy):
    """CAP2-9: the SDK's own retries besides."""
    once, twice = (retry_times(policy, None, resends=resends) for resends in (False, True))
    assert twice.waits == tuple(np.repeat(once.waits, 2).tolist())
    assert twice.chances.tolist() == np.repeat(once.chances, 2, axis=0).tolist()


def test_each_row_has_the_policy_of_its_pattern():
    times = [retry_times(policy, None, resends=False) for policy in (LEGACY, STANDARD)]
    rows = RowPolicies.of(times, np.array([1, 0, 1]))
    assert rows.attempts == LEGACY.attempts
    assert rows.may_retry.sum(axis=0).round(9).tolist() == [
        STANDARD.attempts - 1,
        LEGACY.attempts - 1,
        STANDARD.attempts - 1,
    ]
    assert (rows.same_second <= rows.may_retry).all()


# Quotas

amounts = st.floats(0, 400)


@given(st.lists(st.tuples(amounts, amounts, amounts), min_size=1, max_size=30))
def test_no_quota_is_overdrawn_or_filled_beyond_its_size(seconds):
    """CAP-708: against a plain number, of one pattern."""
    quotas = Quotas(2, [STANDARD], [1], 1)
    left = most = 2.0 * RetryQuota().tokens
    one, first_pattern = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for wanted, passed, later in seconds:
        [share] = quotas.affordable(one, first_pattern)
        assert 0 <= share <= 1
        spent = 5 * wanted * share
        left = min(max(left + passed + 5 * later - spent, 0.0), most)

        own = [np.array([[calls]]) for calls in (wanted * share, wanted, passed, later)]
        quotas.settle(one, own)

        assert quotas.tokens[0] == pytest.approx(left, abs=1e-6)


def test_policies_without_a_quota_afford_everything():
    quotas = Quotas(1, [LEGACY, STANDARD], [1, 1], 2)
    worlds = np.arange(2)
    lost = np.array([[0.0, 900.0]] * 2)
    quotas.settle(worlds, (lost, lost, np.zeros((2, 2)), np.zeros((2, 2))))
    quotas.settle(worlds, (lost, lost, np.zeros((2, 2)), np.zeros((2, 2))))
    assert quotas.is_used
    assert quotas.affordable(worlds, np.array([0, 1])).tolist() == [1.0, 0.0]
    assert not Quotas(1, [LEGACY], [1], 2).is_used


# Clients in a run

USERS = [Field("user", count=200)]
PUT = Pattern("put", "PutItem", rate=60, size=300)
BATCH = Pattern("put", "BatchWriteItem", rate=6, actions=10, size=300)


def run(clients=None, *, retry="legacy", write=30, patterns=(PUT,), duration=40):
    workload = Workload(
        fields=USERS,
        patterns=patterns,
        duration=duration,
        warm_up=0,
        retry=retry,
        clients=clients or Clients(),
    )
    capacity = Capacity(read=10, write=write)
    design = Design("d", partition="{user}", sort="{timestamp}", capacity=capacity)
    return world.run(Layout(design, workload), seed=3)


def figures(log):
    record = log.patterns["put"]
    return [
        record.calls,
        record.attempts,
        record.failed,
        record.throttled,
        sum(record.histogram),
        sum(map(sum, next(iter(log.resources.values())).consumed)),
    ]


def test_a_limited_number_of_calls_is_played_as_unlimited():
    """How many calls a client has under way is the exact engine's to know."""
    free, bound = (run(Clients(count=1, concurrency=places)) for places in (None, 2))
    assert figures(bound) == figures(free)


def test_adaptive_clients_are_played_as_standard_ones():
    """CAP-708: the limit of their rate is the exact engine's to know."""
    standard, adaptive = (run(Clients(count=5), retry=retry) for retry in ("standard", "adaptive"))
    assert figures(adaptive) == figures(standard)
    assert standard.throttled_share > 0


@pytest.mark.parametrize("retry", ["none", "legacy", "standard"])
@pytest.mark.parametrize("timeout", [None, 0.2, 3.0])
def test_every_call_is_answered_given_up_or_waits(retry, timeout):
    """CAP-708: and nobody waits for longer than the timeout."""
    record = run(Clients(count=5, timeout=timeout), retry=retry).patterns["put"]
    assert sum(record.histogram) == pytest.approx(record.calls)
    assert sum(record.failed_histogram) == pytest.approx(record.failed)
    assert max(record.latencies, default=0.0) <= (timeout or np.inf)
    answered = record.calls - record.failed - record.waiting
    assert record.attempts - record.refusals == pytest.approx(answered)


def test_a_shorter_timeout_gives_up_more_calls():
    lost = [run(Clients(timeout=timeout)).patterns["put"].failed for timeout in (0.1, 1.0, None)]
    assert lost[0] > lost[1] > lost[2]


@pytest.mark.parametrize("retry", ["legacy", "standard"])
def test_what_becomes_of_unprocessed_items_is_the_callers_choice(retry):
    """CAP2-9: lost, sent again at once, or after the waits of the retry mode."""
    lost, requeued, waited = (
        run(Clients(count=20, batch_retry=how), retry=retry, patterns=[BATCH]).patterns["put"]
        for how in ("none", "requeue", "backoff")
    )

    assert lost.attempts < 1.3 * lost.calls
    assert lost.failed == pytest.approx(lost.calls - 30 * 40, rel=0.1)
    assert requeued.attempts > waited.attempts > 2 * lost.attempts
    assert requeued.failed < lost.failed
    assert waited.failed < lost.failed
