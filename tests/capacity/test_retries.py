"""Retry schedules of the SDKs."""

import random

import pytest

from emulator.capacity.retries import LEGACY, POLICIES, STANDARD, STANDARD_2026, RetryQuota


def delays(policy, rng=None, *, throttled=True):
    """Return the sleeps between the attempts of a call that keeps failing."""
    retries = range(1, policy.attempts)
    return [policy.delay(retry, rng, throttled=throttled) for retry in retries]


def test_the_legacy_schedule_sleeps_25_seconds_in_all():
    """CAP-707."""
    assert delays(LEGACY) == [0.05 * 2**n for n in range(9)]
    assert sum(delays(LEGACY)) == pytest.approx(25.55)


def test_the_standard_schedule_is_a_random_part_of_a_doubling_one():
    """CAP-708, CAP-710: half of it without a generator, repeatable with one."""
    assert delays(STANDARD) == [0.5, 1.0]
    drawn = delays(STANDARD, random.Random(1))
    generator = random.Random(1)
    assert drawn == [generator.random() * 1.0, generator.random() * 2.0]
    assert STANDARD.delay(50) == 10.0


def test_the_schedule_of_2026():
    """CAP-708."""
    assert delays(STANDARD_2026) == [0.5, 1.0, 2.0]
    assert delays(STANDARD_2026, throttled=False) == [0.0125, 0.025, 0.05]
    assert (STANDARD_2026.cost(), STANDARD_2026.cost(throttled=False)) == (5, 14)
    assert (STANDARD.cost(), LEGACY.cost(), LEGACY.cost(throttled=False)) == (5, 0, 0)


@pytest.mark.parametrize(
    ("code", "status", "legacy", "standard"),
    [
        ("ProvisionedThroughputExceededException", 400, True, True),
        ("ThrottlingException", 400, True, True),
        ("TransactionInProgressException", 400, True, True),
        ("ReplicatedWriteConflictException", 409, True, True),
        ("InternalServerError", 500, True, True),
        ("RequestLimitExceeded", 400, False, True),
        ("LimitExceededException", 400, False, True),
        ("TransactionCanceledException", 400, False, False),
        ("ConditionalCheckFailedException", 400, False, False),
        ("ValidationException", 400, False, False),
    ],
)
def test_what_is_retried(code, status, legacy, standard):
    """CAP-707, CAP-708, CAP-709."""
    assert LEGACY.is_retryable(code, status) == legacy
    assert STANDARD.is_retryable(code, status) == standard
    assert STANDARD_2026.is_retryable(code, status) == standard


def test_policies_go_by_name():
    assert {name: policy.attempts for name, policy in POLICIES.items()} == {
        "none": 1,
        "legacy": 10,
        "standard": 3,
        "adaptive": 3,
        "standard-2026": 4,
    }


def test_an_empty_quota_ends_retries():
    """CAP-708: 500 tokens, 5 per retry, one back per success without retry."""
    quota = RetryQuota()
    assert sum(quota.take(5) for _ in range(200)) == 100
    quota.refund()
    assert (quota.take(5), quota.tokens) == (False, 1)
    quota.refund(1_000)
    assert quota.tokens == 500
