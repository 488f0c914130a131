"""Retries: when refused calls come again, which give up, and the quota for retries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.capacity.retries import RetryPolicy, RetryQuota
from emulator.lab.inputs.clients import CALL_SECONDS
from emulator.lab.inputs.distributions import Floats, Integers

#: The retries of a call, and the seconds after its refusal.
RetryAhead: TypeAlias = Annotated[Floats, "retry", "ahead"]
RetryRow: TypeAlias = Annotated[Floats, "retry", "row"]
ByWorld: TypeAlias = Annotated[Floats, "world"]
WorldPattern: TypeAlias = Annotated[Floats, "world", "pattern"]

#: How long an attempt takes on average.
ATTEMPT_SECONDS: Final = sum(CALL_SECONDS) / 2
#: Points at which a jittered delay is looked at, and sequences of such delays.
_JITTER_POINTS: Final = 16
_SEQUENCES: Final = 1024


class FixedChance:
    """The same number every time, where a policy asks for a random one."""

    def __init__(self, value: float) -> None:
        self._value = value

    def random(self) -> float:
        """Return it."""
        return self._value


@dataclass(frozen=True)
class RetryTimes:
    """When the calls of one policy come again.

    Attributes:
        chances: By retry and second ahead, the chance that a refused attempt comes again then.
            They sum to less than 1 where callers have given up.
        waits: By retry, how long the wait before it is on average.
        still_waiting: By attempt, the share of callers who still wait.
    """

    chances: RetryAhead
    waits: tuple[float, ...]
    still_waiting: Annotated[Floats, "attempt"]


@lru_cache(maxsize=32)
def retry_times(policy: RetryPolicy, timeout: float | None, *, resends: bool) -> RetryTimes:
    """Return the retry times of a policy.

    Args:
        policy: The policy.
        timeout: When callers give up, if they do.
        resends: Whether callers send the unprocessed items of a batch again after the waits of
            the policy, besides the SDK's own retries: each wait may come twice.

    >>> from emulator.capacity.retries import LEGACY
    >>> retry_times(LEGACY, None, resends=False).chances[0, :2].round(3).tolist()
    [0.95, 0.05]
    """
    times = 2 if resends else 1
    waits = [policy.delay(1 + retry // times) for retry in range(times * (policy.attempts - 1))]
    over = np.cumsum([ATTEMPT_SECONDS, *waits]) / (timeout or np.inf)
    if timeout is None:
        chances = np.repeat(_offsets(policy), times, axis=0)
    else:
        chances = _within(np.repeat(_sequences(policy), times, axis=0), timeout, policy)
    return RetryTimes(chances, tuple(waits), np.exp(-over))


def _offsets(policy: RetryPolicy) -> RetryAhead:
    """Return the chances if no caller gives up; an attempt falls anywhere within its second."""
    offsets = np.zeros((policy.attempts - 1, int(policy.longest) + 3))
    points = (np.arange(_JITTER_POINTS) + 0.5) / _JITTER_POINTS if policy.jitter else [0.5]
    for retry in range(1, policy.attempts):
        for point in points:
            delay = policy.delay(retry, FixedChance(float(point)))  # type: ignore[arg-type]  # random() is all it asks
            _add(offsets[retry - 1], np.asarray([delay]), 1 / len(points))
    return offsets


def _add(chances: Floats, delays: Floats, weight: float) -> None:
    """Add delays after a moment anywhere within second 0."""
    whole = delays.astype(np.int64)
    rest = delays - whole
    np.add.at(chances, whole, (1 - rest) * weight)
    np.add.at(chances, whole + 1, rest * weight)


def _sequences(policy: RetryPolicy) -> Annotated[Floats, "retry", "sequence"]:
    """Return the waits of a policy: all parts of a schedule are as likely.

    Each wait of a schedule with jitter goes through its range, in an order of its own.
    """
    order = np.random.default_rng(0)
    points = (np.arange(_SEQUENCES) + 0.5) / _SEQUENCES
    waits = np.zeros((policy.attempts - 1, _SEQUENCES))
    for retry in range(1, policy.attempts):
        whole = policy.delay(retry, FixedChance(1.0))  # type: ignore[arg-type]  # random() is all it asks
        waits[retry - 1] = whole * order.permutation(points) if policy.jitter else whole
    return waits


def _within(
    waits: Annotated[Floats, "retry", "sequence"], timeout: float, policy: RetryPolicy
) -> RetryAhead:
    """Return the chances among callers who give up after a time."""
    chances = np.zeros((len(waits), int(policy.longest) + 3))
    left = np.full(waits.shape[1], timeout)
    for retry in range(len(waits)):
        left = left - ATTEMPT_SECONDS - waits[retry]
        comes = left >= 0
        if not comes.any():
            break
        _add(chances[retry], waits[retry, comes], 1 / len(comes))
        left, waits = left[comes], waits[:, comes]
    return chances


@dataclass(frozen=True)
class RowPolicies:
    """The retry policies of some rows.

    Attributes:
        same_second: The chance that a retry comes in the second of the refusal.
        may_retry: The chance that it comes at all: less than 1 if callers give up.
    """

    same_second: RetryRow
    may_retry: RetryRow

    @classmethod
    def of(cls, times: Sequence[RetryTimes], patterns: Integers) -> RowPolicies:
        """Return the policies of rows, given those of all patterns and the pattern of each row."""
        retries = max(len(own.waits) for own in times)
        same, may = np.zeros((2, retries, len(times)))
        for number, own in enumerate(times):
            same[: len(own.waits), number] = own.chances[:, 0]
            may[: len(own.waits), number] = own.chances.sum(axis=1)
        return cls(same[:, patterns], may[:, patterns])

    @property
    def attempts(self) -> int:
        """How often a call is tried at most."""
        return len(self.may_retry) + 1


class Quotas:
    """The tokens left to the clients of each world for retries (CAP-708).

    Args:
        clients: In each world.
        policies: Of each pattern.
        items: Of each pattern, how many items go in one call of a client.
        worlds: How many worlds there are.

    Attributes:
        is_used: Whether any policy has a quota.
        tokens: By world.
        change: By world, how many the last second gave, or took if it is negative.
    """

    def __init__(
        self, clients: int, policies: Sequence[RetryPolicy], items: Sequence[int], worlds: int
    ) -> None:
        self._most = float(RetryQuota().tokens * clients)
        self.tokens: ByWorld = np.full(worlds, self._most)
        self.change: ByWorld = np.zeros(worlds)
        self._costs = np.asarray([float(policy.cost()) for policy in policies]) / items
        #: What the answer to a call gives back that was not retried, by pattern.
        self._gains = (self._costs > 0) / np.asarray(items, dtype=np.float64)
        self.is_used = bool(self._costs.any())
        #: In the last second in which something was refused: tokens asked for, and given back.
        self._wanted: ByWorld = np.zeros(worlds)
        self._given_back: ByWorld = np.zeros(worlds)

    def affordable(self, worlds: Integers, patterns: Integers) -> Annotated[Floats, "row"]:
        """Return by row the share of retries that the quotas allow."""
        share = np.ones(len(self.tokens))
        there = np.minimum(self.tokens + self._given_back, self._most)
        np.divide(there, self._wanted, out=share, where=self._wanted > there)
        return np.where(self._costs[patterns] > 0, share[worlds], 1.0)

    def settle(
        self,
        worlds: Integers,
        amounts: Sequence[WorldPattern],
        seconds: int | Integers = 1,
    ) -> None:
        """Take the tokens of retries that wait, and give back what answers give.

        Args:
            worlds: The worlds that the rows of the other arguments are about.
            amounts: Of a second: the calls that wait for another attempt, those that would if
                tokens were no matter, those answered at the first attempt, and at a later one.
            seconds: How many seconds are alike.
        """
        waits, wanted, first, later = amounts
        spent = (waits * self._costs).sum(axis=1)
        back = (first * self._gains + later * self._costs).sum(axis=1)
        wanted_tokens = (wanted * self._costs).sum(axis=1)
        asked = wanted_tokens > 0
        self._wanted[worlds[asked]] = wanted_tokens[asked]
        self._given_back[worlds[asked]] = back[asked]
        self.change[worlds] = back - spent
        after = self.tokens[worlds] + (back - spent) * seconds
        self.tokens[worlds] = np.clip(after, 0.0, self._most)

    def calm(self, worlds: Integers, calls: WorldPattern) -> None:
        """Give back what calls give that are all answered at once."""
        nothing = np.zeros_like(calls)
        self.settle(worlds, (nothing, nothing, calls, nothing))
