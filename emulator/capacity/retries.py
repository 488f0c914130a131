"""How the SDKs retry: schedules as data, for the lab and for clients on a virtual clock."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Final

from emulator.service.throttling import THROTTLE_CODES

#: Source: CAP-707.
LEGACY_CODES: Final = (THROTTLE_CODES - {"RequestLimitExceeded"}) | frozenset(
    {
        "Throttling",
        "ThrottledException",
        "RequestThrottledException",
        "TransactionInProgressException",
        "ReplicatedWriteConflictException",
    }
)
#: Source: CAP-708.
STANDARD_CODES: Final = LEGACY_CODES | THROTTLE_CODES | {"LimitExceededException"}
#: Source: CAP-707.
RETRYABLE_STATUSES: Final = frozenset({429, 500, 502, 503, 504, 509})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """One retry mode of an SDK.

    >>> [LEGACY.delay(retry) for retry in range(1, LEGACY.attempts)]
    [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8]
    """

    name: str
    #: Calls in all, the first included.
    attempts: int
    codes: frozenset[str]
    #: Seconds before the first retry after throttling; each further one waits twice as long.
    throttling_base: float
    #: The same after other failures.
    failure_base: float
    #: The longest wait, before jitter.
    longest: float
    #: Whether a wait is a random part of its schedule.
    jitter: bool
    #: Tokens of the client's retry quota that a retry takes, or None without a quota.
    throttling_cost: int | None = None
    failure_cost: int | None = None
    #: Whether the client limits its own rate after throttling: ``ClientRate``.
    limits_rate: bool = False

    def is_retryable(self, code: str, status: int = 400) -> bool:
        """Return whether an answer with this error is asked again.

        >>> LEGACY.is_retryable("RequestLimitExceeded")
        False
        >>> LEGACY.is_retryable("InternalServerError", 500)
        True
        """
        return code in self.codes or status in RETRYABLE_STATUSES

    def delay(
        self, retry: int, rng: random.Random | None = None, *, throttled: bool = True
    ) -> float:
        """Return the seconds to sleep before retry ``retry``, counted from 1.

        Without a generator a jittered wait is half of its schedule.

        >>> STANDARD.delay(3), STANDARD_2026.delay(1, throttled=False)
        (2.0, 0.0125)
        """
        base = self.throttling_base if throttled else self.failure_base
        seconds = min(base * (1 << (retry - 1)), self.longest)
        if not self.jitter:
            return seconds
        return seconds * (0.5 if rng is None else rng.random())

    def cost(self, *, throttled: bool = True) -> int:
        """Return the tokens that a retry takes from the client's quota."""
        return (self.throttling_cost if throttled else self.failure_cost) or 0


#: Source: CAP-707, botocore's default for DynamoDB.
LEGACY: Final = RetryPolicy(
    name="legacy",
    attempts=10,
    codes=LEGACY_CODES,
    throttling_base=0.05,
    failure_base=0.05,
    longest=0.05 * 2**8,
    jitter=False,
)
#: Source: CAP-708.
STANDARD: Final = RetryPolicy(
    name="standard",
    attempts=3,
    codes=STANDARD_CODES,
    throttling_base=1.0,
    failure_base=1.0,
    longest=20.0,
    jitter=True,
    throttling_cost=5,
    failure_cost=5,
)
#: Source: CAP-708, with AWS_NEW_RETRIES_2026=true.
STANDARD_2026: Final = RetryPolicy(
    name="standard-2026",
    attempts=4,
    codes=STANDARD_CODES,
    throttling_base=1.0,
    failure_base=0.025,
    longest=20.0,
    jitter=True,
    throttling_cost=5,
    failure_cost=14,
)

#: Source: CAP-708.
ADAPTIVE: Final = replace(STANDARD, name="adaptive", limits_rate=True)
#: An SDK with its retries switched off.
NONE: Final = replace(LEGACY, name="none", attempts=1)

POLICIES: Final = {
    policy.name: policy for policy in (NONE, LEGACY, STANDARD, ADAPTIVE, STANDARD_2026)
}


class RetryQuota:
    """The retry tokens of one client: an empty quota means no retry.

    Source: CAP-708.

    >>> quota = RetryQuota(capacity=12)
    >>> quota.take(5), quota.take(5), quota.take(5)
    (True, True, False)
    >>> quota.refund(5)
    >>> quota.tokens
    7
    """

    __slots__ = ("_capacity", "tokens")

    def __init__(self, capacity: int = 500) -> None:
        self._capacity = capacity
        self.tokens = capacity

    def take(self, cost: int) -> bool:
        """Take the tokens of a retry if there are enough."""
        if cost > self.tokens:
            return False
        self.tokens -= cost
        return True

    def refund(self, cost: int = 1) -> None:
        """Give back a retry's tokens after success, or one after a success without retry."""
        self.tokens = min(self._capacity, self.tokens + cost)
