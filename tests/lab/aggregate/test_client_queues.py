"""Clients in the aggregate engine: queues, retry_times, rates, and what comes bunched."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.capacity.client_rate import ClientRate
from emulator.capacity.retries import LEGACY, STANDARD
from emulator.lab import Capacity, Clients, Design, Field, Pattern, Workload, aggregate
from emulator.lab.aggregate.bunched import (
    decays,
    passed_together,
    passed_when_queued,
    unevenness,
)
from emulator.lab.aggregate.client_rates import ClientRates, State
from emulator.lab.aggregate.retries import delay_offsets
from emulator.lab.aggregate.retry_times import ATTEMPT_SECONDS, RetryTimes, _overlaps, _waits
from emulator.lab.aggregate.waiting_line import LEAVING, WaitingLine
from emulator.lab.planning.layout import Layout

# Lines


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 40), st.floats(0, 1), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_a_line_is_left_in_the_order_of_coming(seconds):
    """Against a list of those who wait, each with the time at which it came."""
    second = -4
    line = WaitingLine(1, second, second + 3 * len(seconds) + 1)
    naive = []
    for passed, calls, share, is_earlier in seconds:
        second += passed - 1  # in some seconds nobody comes
        line.come(second, np.asarray([float(calls)]), np.asarray([float(calls * is_earlier)]))
        naive += [(second + (own + 0.5) / calls, is_earlier) for own in range(calls)]
        assert line.length[0] == pytest.approx(len(naive))
        leaving = int(share * len(naive))
        assert line.came_before(second)[0] == pytest.approx(sum(time < second for time, _ in naive))
        before_half = sum(time < second + 0.5 for time, _ in naive)
        assert line.came_before(second + 0.5)[0] == pytest.approx(before_half, abs=0.51)

        gone = line.leave(second, np.asarray([float(leaving)]))

        left, naive = naive[:leaving], naive[leaving:]
        assert gone.earlier[0] == pytest.approx(sum(earlier for _, earlier in left), abs=1e-6)
        assert line.earlier[0] == pytest.approx(sum(earlier for _, earlier in naive), abs=1e-6)
        for point, wait in zip(LEAVING if left else (), gone.waits[:, 0], strict=False):
            came, _ = left[min(int(point * leaving), leaving - 1)]
            # The line is even, so each of its second's calls stands for a part of that second.
            assert wait == pytest.approx(max(0.0, second + point - came), abs=0.51)
        second += 1


# RetryTimes


def test_callers_come_again_as_long_as_they_wait():
    """Waits of 50, 100 and 200 ms fit into half a second, 400 ms do not."""
    retry_times = RetryTimes(LEGACY, 0.5)

    assert retry_times.chances[0].sum(axis=1).round(9).tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    # Who has waited for half of it already comes again once.
    assert retry_times.chances[8].sum(axis=1).round(9).tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert not retry_times.chances[-1].any()


@pytest.mark.parametrize("policy", [LEGACY, STANDARD], ids=lambda policy: policy.name)
def test_who_waits_long_enough_comes_as_if_there_were_no_timeout(policy):
    assert RetryTimes(policy, 1e6).chances[0] == pytest.approx(delay_offsets(policy), abs=0.01)


@pytest.mark.parametrize("policy", [LEGACY, STANDARD], ids=lambda policy: policy.name)
def test_the_waits_that_are_looked_at_have_the_mean_of_the_policy(policy):
    means = [policy.delay(retry) for retry in range(1, policy.attempts)]
    assert _waits(policy).mean(axis=1) == pytest.approx(means, rel=1e-9)


def test_the_parts_of_a_wait_in_all_seconds_are_the_wait():
    waits = np.asarray([0.0, 0.3, 1.0, 1.5, 2.7])
    parts = _overlaps(waits, 6)
    assert parts.sum(axis=1) == pytest.approx(waits)
    assert parts[1] == pytest.approx([0.3 - 0.045, 0.045, 0, 0, 0, 0])


def test_a_call_is_under_way_while_it_waits():
    none, short = RetryTimes(STANDARD, None), RetryTimes(STANDARD, 0.25)

    assert none.held[0].sum(axis=1) == pytest.approx(none.waits, rel=0.01)
    # Half of a wait of up to a second goes beyond a quarter: they hold their places until then.
    left = 0.25 - ATTEMPT_SECONDS
    assert short.held[0, 0].sum() == pytest.approx(left - left**2 / 2, rel=0.01)
    assert short.chances[0, 0].sum() == pytest.approx(left, rel=0.01)


# Rates


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.001, 1.5), st.booleans()), min_size=1, max_size=60),
)
def test_rates_in_arrays_are_those_of_a_client(answers):
    """CAP-708: whatever is answered when."""
    client, now = ClientRate(), 0.0
    state = State.of((1, 1))
    for passed, throttled in answers:
        now += passed
        client.answered(now, throttled=throttled)
        state.hear(now, np.ones((1, 1)), np.full((1, 1), float(throttled)))

        expected = np.inf if client.limit is None else client.limit
        assert state.limit[0, 0] == pytest.approx(expected)


def test_a_client_sends_everything_until_the_first_throttled_answer():
    rates = ClientRates(Clients(count=3), [7])
    for second in range(5):
        rates.begin_second(second)
        assert rates.sent(np.asarray([30.0]), np.zeros(1)).tolist() == [1.0]
        assert not rates.end_second().any()

    rates.begin_second(5)
    assert rates.sent(np.asarray([30.0]), np.full(1, 0.5))[0] < 0.8


# What comes bunched


ONE = np.ones(1)
#: Calls in a second, the items of each, and what an item costs.
BESIDE = ((1.5, 20, 1.0), (7.5, 1, 3.0))
MIXES = {
    "batches": (10.0, ((6.0, 5, 1.0),)),
    "batches beside dear calls": (31.0, BESIDE),
    "batches beside dear calls, short": (21.0, BESIDE),
    "batches beside many calls": (40.0, ((6.0, 5, 1.0), (30.0, 1, 1.0))),
    "dear batches": (20.0, ((6.0, 5, 2.0), (3.0, 1, 9.0))),
}


def simulated(room, mix, *, seconds=4_000):
    """Return of each kind how often a first item passes, and the share of items that do."""
    draws = np.random.default_rng(5)
    rates = np.asarray([rate for rate, _, _ in mix])
    count = int(rates.sum() * seconds)
    gaps = draws.exponential(1 / rates.sum(), count)
    kinds = draws.choice(len(mix), count, p=rates / rates.sum())
    level, seen, first, items = 0.0, [0] * len(mix), [0] * len(mix), [0] * len(mix)
    for gap, kind in zip(gaps.tolist(), kinds.tolist(), strict=True):
        level += gap * room
        _, most, cost = mix[kind]
        done = 0
        while done < most and level >= 1:
            level -= cost
            done += 1
        seen[kind] += 1
        first[kind] += done > 0
        items[kind] += done
    return [
        (began / all_of, done / all_of / most)
        for began, done, all_of, (_, most, _) in zip(first, items, seen, mix, strict=True)
    ]


@pytest.mark.parametrize(("room", "mix"), MIXES.values(), ids=MIXES)
def test_batches_and_single_calls_pass_as_often_as_the_law_says(room, mix):
    """CAP-603, CAP-610: a first item passes like any call, the next ones if there is more."""
    rates, items, costs = (np.asarray(column) for column in zip(*mix, strict=True))
    bucket = np.zeros(len(mix), dtype=np.int64)
    own = decays(rates, items * costs, bucket, np.asarray([room]), np.ones(1))[0]
    parts = passed_together(items, own * costs)
    first = room / (rates * items * costs * parts).sum()

    for part, (began, done) in zip(parts, simulated(room, mix), strict=True):
        assert began == pytest.approx(first, abs=0.02)
        assert done == pytest.approx(first * part, abs=0.02)


def test_a_bucket_that_is_not_short_holds_more_than_any_batch_takes():
    own = decays(np.ones(1), np.full(1, 5.0), np.zeros(1, dtype=np.int64), np.full(1, 9.0), ONE)

    assert passed_together(np.full(1, 5.0), own)[0] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("clients", [2, 5, 20])
def test_clients_that_send_at_an_even_pace_come_more_evenly_the_fewer_they_are(clients):
    begins = np.random.default_rng(7).random((4_000, clients))
    begins.sort(axis=1)
    gaps = np.diff(begins, axis=1, append=begins[:, :1] + 1)

    assert unevenness(clients, ONE)[0] == pytest.approx(gaps.var() / gaps.mean() ** 2, abs=0.02)
    assert unevenness(clients, np.zeros(1))[0] == 1


def test_who_begins_when_another_ends_passes_less_often():
    passed = np.linspace(0.05, 0.95, 10)
    none, all_of = np.zeros(10, dtype=np.bool_), np.ones(10, dtype=np.bool_)

    single, cut = passed_when_queued(passed, none), passed_when_queued(passed, all_of)

    assert (single < passed).all()
    assert (cut < single).all()
    assert passed_when_queued(np.ones(1), none[:1]).tolist() == [1.0]


# The engine

USERS = [Field("user", count=200)]
PUT = Pattern("put", "PutItem", rate=60, size=300)


def run(clients=None, *, retry="legacy", write=30, patterns=(PUT,), warm_up=0, duration=40):
    workload = Workload(
        fields=USERS,
        patterns=patterns,
        duration=duration,
        warm_up=warm_up,
        retry=retry,
        clients=clients or Clients(),
    )
    capacity = Capacity(read=10, write=write)
    design = Design("d", partition="{user}", sort="{timestamp}", capacity=capacity)
    return aggregate.run(Layout(design, workload), seed=3)


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


@pytest.mark.parametrize("retry", ["legacy", "standard"])
def test_enough_room_in_the_clients_changes_nothing(retry):
    free, bound = (
        run(Clients(count=5, concurrency=places), retry=retry) for places in (None, 10_000)
    )

    assert figures(bound) == pytest.approx(figures(free))


def test_a_client_has_no_more_calls_under_way_than_it_may():
    """What arrives meanwhile waits, and counts only when it is sent."""
    free, bound = figures(run()), figures(run(Clients(count=1, concurrency=2)))

    assert bound[0] < 0.7 * free[0]
    assert bound[1] < 0.6 * free[1]
    assert bound[5] == pytest.approx(free[5], rel=0.02)


def test_places_limit_calls_that_nobody_refuses():
    """Two places, and a call takes 6 ms: 333 a second pass, whatever arrives."""
    crowd = replace(PUT, rate=500)
    log = run(Clients(count=2, concurrency=1), write=40_000, patterns=[crowd], duration=30)

    assert log.patterns["put"].calls == pytest.approx(30 * 2 / ATTEMPT_SECONDS, rel=0.02)
    assert log.patterns["put"].throttled == 0


def test_a_call_that_waits_beyond_the_timeout_is_never_sent():
    put = run(Clients(count=1, concurrency=1, timeout=1.0)).patterns["put"]

    assert put.failed > 200
    assert sum(put.histogram) < put.calls - 20
    assert max(put.latencies) <= 1.0


def test_an_adaptive_client_slows_down_to_what_is_served():
    """CAP-708: fewer refusals than without the limit, and as much work done."""
    standard, adaptive = (
        run(Clients(count=1), retry=retry, duration=90) for retry in ("standard", "adaptive")
    )

    plain, slowed = standard.patterns["put"], adaptive.patterns["put"]
    assert slowed.refusals < 0.5 * plain.refusals
    assert figures(adaptive)[5] > 0.8 * figures(standard)[5]


def test_adaptive_clients_that_nobody_throttles_are_standard_ones():
    standard, adaptive = (run(retry=retry, write=200) for retry in ("standard", "adaptive"))

    assert figures(adaptive) == figures(standard)


def test_what_waited_before_the_run_counts_for_nothing_in_it():
    """CAP2-10: what the warm-up left in the clients is sent first."""
    clients = Clients(count=1, concurrency=1)
    newborn, warmed = (run(clients, warm_up=seconds).patterns["put"] for seconds in (0, 20))

    assert warmed.calls < newborn.calls - 200
    assert warmed.requests == newborn.requests


BATCH = Pattern("put", "BatchWriteItem", rate=6, actions=10, size=300)


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
