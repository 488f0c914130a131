"""Retries: whose calls wait for another attempt, and what clients may spend on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy, RetryQuota
from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.grouping import Moves
from emulator.lab.inputs.distributions import Floats, Integers

#: Points at which a jittered delay is looked at.
_JITTER_POINTS: Final = 16
#: Fewer calls than this are rounding.
_NO_CALLS: Final = 1e-9


class FixedChance:
    """The same number every time, where a policy asks for a random one."""

    def __init__(self, value: float) -> None:
        self._value = value

    def random(self) -> float:
        """Return it."""
        return self._value


def delay_offsets(policy: RetryPolicy) -> Floats:
    """Return the chance that retry r comes so many seconds later: rows are retries.

    An attempt falls anywhere within its second.

    >>> from emulator.capacity.retries import LEGACY
    >>> delay_offsets(LEGACY)[0, :2].round(3).tolist()
    [0.95, 0.05]
    """
    longest = int(policy.longest) + 3
    offsets = np.zeros((policy.attempts - 1, longest))
    points = (np.arange(_JITTER_POINTS) + 0.5) / _JITTER_POINTS if policy.jitter else [0.5]
    for retry in range(1, policy.attempts):
        for point in points:
            delay = policy.delay(retry, FixedChance(float(point)))  # type: ignore[arg-type]  # random() is all it asks
            whole = int(delay)
            rest = delay - whole
            offsets[retry - 1, whole] += (1 - rest) / len(points)
            offsets[retry - 1, whole + 1] += rest / len(points)
    return offsets


@dataclass(frozen=True)
class RowPolicies:
    """What the retry policies of some rows say.

    Attributes:
        same_second: By retry and row, the chance that it comes in the second of the refusal.
        may_retry: By retry and row, 1 where the policy has it, else 0; less if callers give up.
        later: By retry and second ahead, as one, and row: the chance that it comes then, if it
            comes.
    """

    same_second: Floats
    may_retry: Floats
    later: Floats

    @cached_property
    def at_once(self) -> Floats:
        """The chances in ``same_second``, up to the last retry that has one."""
        last = np.flatnonzero(self.same_second.any(axis=1)).max(initial=-1)
        return self.same_second[: last + 1]


class WaitingCalls:
    """The calls of all rows that wait for a retry.

    Attributes:
        attempts: How often a call is tried at most, over all policies.
    """

    def __init__(self, rows: CallRows, chances: Sequence[Floats]) -> None:
        """Begin with nobody.

        Args:
            rows: Whose calls.
            chances: Of each pattern: by share of the timeout that was over at the first attempt
                (see ``RetryTimes``), retry and second ahead, the chance that the retry comes then.
        """
        self.attempts = max(own.shape[1] for own in chances) + 1
        #: Seconds that are looked ahead; a ring, so that no second has to be moved.
        self._ring = max(own.shape[2] for own in chances)
        #: The chances of all patterns; they are the last axis.
        self._chances = np.zeros((len(chances[0]), self.attempts - 1, self._ring, len(chances)))
        for number, own in enumerate(chances):
            self._chances[:, : own.shape[1], : own.shape[2], number] = own
        is_sure = len(self._chances) == 1
        self._may_retry: Floats = np.asarray(
            self._chances[0].any(axis=1) if is_sure else self._chances[0].sum(axis=1),
            dtype=np.float64,
        )
        #: The retries, and the seconds ahead in which they may come, after that of the refusal.
        retries, ahead = np.nonzero(self._chances[:, :, 1:].any(axis=(0, 3)))
        self._later_retries: Integers = retries
        self._later_seconds: Integers = ahead + 1
        #: By second of the ring, retry and row: calls that come then.
        self._calls = np.zeros((self._ring, self.attempts - 1, len(rows)))
        self._is_used = np.zeros(self._ring, dtype=np.bool_)
        #: Of these the calls that began before the run; None when there are none left.
        self._earlier: Floats | None = None

    def start_counting(self) -> None:
        """Note that all who wait began before the run (CAP2-10)."""
        self._earlier = None if self.is_empty else self._calls.copy()

    @property
    def is_empty(self) -> bool:
        """Return whether no call waits."""
        return not self._is_used.any()

    def policies_of(self, patterns: Integers) -> RowPolicies:
        """Return what the policies of rows say, given the pattern of each row."""
        return self._row_policies(self._chances[0], self._may_retry, patterns)

    def policies_within_timeout(
        self, over: Floats, worlds: Integers, patterns: Integers
    ) -> RowPolicies:
        """Return what policies say to callers who have waited before their first attempts.

        Args:
            over: By world, the share of the timeout that was over then.
            worlds: The world of each row.
            patterns: The pattern of each row.
        """
        at = over * (len(self._chances) - 1)
        low = np.minimum(at.astype(np.int64), len(self._chances) - 2)
        part = (at - low)[:, None, None, None]
        between = (1 - part) * self._chances[low] + part * self._chances[low + 1]
        #: By retry, second ahead, world and pattern, as one.
        chances = np.moveaxis(between, 0, 2).reshape(*self._chances.shape[1:3], -1)
        segments = worlds * self._chances.shape[3] + patterns
        return self._row_policies(chances, chances.sum(axis=1), segments)

    def _row_policies(self, chances: Floats, may_retry: Floats, columns: Integers) -> RowPolicies:
        """Return chances, by retry, second ahead and column, of rows that have these columns."""
        later = chances[self._later_retries, self._later_seconds]
        if len(self._chances) > 1:
            later = later / np.maximum(may_retry, _NO_CALLS)[self._later_retries]
        return RowPolicies(chances[:, 0][:, columns], may_retry[:, columns], later[:, columns])

    def due(self, second: int) -> Floats | None:
        """Take out and return who comes again in a second, by retry and row, if any."""
        at = second % self._ring
        if not self._is_used[at]:
            return None
        own = self._calls[at]
        due = own * (own > _NO_CALLS)
        own[...] = 0.0
        self._is_used[at] = False
        return due if np.count_nonzero(due) else None

    def due_earlier(self, second: int) -> Floats | None:
        """Take out and return those of the due that began before the run, if there are any.

        By attempt and row; nobody comes for the first time.
        """
        if self._earlier is None:
            return None
        if not self._earlier.any():
            self._earlier = None
            return None
        at = second % self._ring
        due = np.concatenate([np.zeros((1, self._earlier.shape[2])), self._earlier[at]])
        self._earlier[at] = 0.0
        return due

    def push_earlier(
        self, second: int, rows: Integers, policies: RowPolicies, waits: Floats
    ) -> None:
        """Note who of those that wait began before the run."""
        if self._earlier is None:
            self._earlier = np.zeros_like(self._calls)
        self._add(self._earlier, self._coming(second), rows, policies, waits)

    def push(self, second: int, rows: Integers, policies: RowPolicies, waits: Floats) -> None:
        """Let refused calls wait, by retry and row; those of the same second have come already."""
        coming = self._coming(second)
        self._add(self._calls, coming, rows, policies, waits)
        self._is_used[coming] = True

    def _coming(self, second: int) -> Integers:
        """Return the places in the ring where later retries come, after a refusal in a second."""
        return np.asarray((second + self._later_seconds) % self._ring)

    def _add(
        self, calls: Floats, coming: Integers, rows: Integers, policies: RowPolicies, waits: Floats
    ) -> None:
        retries = self._later_retries
        numbers = (coming * calls.shape[1] + retries)[:, None] * calls.shape[2] + rows
        calls.reshape(-1)[numbers] += waits[retries] * policies.later

    def carry(self, moves: Moves, region: slice) -> None:
        """Let those who wait in a region of rows go where their keys lie now."""
        if not self.is_empty:
            moves.apply(self._calls[:, :, region])
            if self._earlier is not None:
                moves.apply(self._earlier[:, :, region])

    def drop(self, rows: slice) -> None:
        """Forget who waits in some rows."""
        self._calls[:, :, rows] = 0.0
        if self._earlier is not None:
            self._earlier[:, :, rows] = 0.0

    def renumber(self, number_of: Integers, count: int) -> None:
        """Follow rows that have other numbers now."""
        self._calls = renumbered(self._calls, number_of, count)
        if self._earlier is not None:
            self._earlier = renumbered(self._earlier, number_of, count)

    def left(self) -> Floats:
        """Return how many calls of the run wait, by retry and row."""
        left = self._calls.sum(axis=0)
        return np.asarray(left if self._earlier is None else left - self._earlier.sum(axis=0))


def renumbered(amounts: Floats, number_of: Integers, count: int) -> Floats:
    """Return amounts by row, which is the last axis, in rows of other numbers."""
    moved = np.zeros((*amounts.shape[:-1], count))
    moved[..., number_of] = amounts
    return moved


class RetryTokens:
    """What the clients of each world may still spend on retries (CAP-708).

    Args:
        clients: In each world.
        policies: Of each pattern.
        items: Of each pattern, how many items go in one call of a client.
        worlds: How many worlds there are.

    Attributes:
        is_used: Whether any policy has a quota.
    """

    def __init__(
        self, clients: int, policies: Sequence[RetryPolicy], items: Sequence[int], worlds: int
    ) -> None:
        self._most = float(RetryQuota().tokens * clients)
        self._tokens = np.full(worlds, self._most)
        self._costs = np.asarray([float(policy.cost()) for policy in policies]) / items
        #: What the answer to a call gives back that was not retried, by pattern.
        self._gains = (self._costs > 0) / np.asarray(items, dtype=np.float64)
        self.is_used = bool(self._costs.any())
        #: In the last second in which something was refused: tokens asked for, and given back.
        self._wanted = np.zeros(worlds)
        self._given_back = np.zeros(worlds)

    def affordable(self, worlds: Integers, patterns: Integers) -> Floats:
        """Return by row the share of retries that the quotas allow."""
        share = np.ones(len(self._tokens))
        there = np.minimum(self._tokens + self._given_back, self._most)
        np.divide(there, self._wanted, out=share, where=self._wanted > there)
        return np.where(self._costs[patterns] > 0, share[worlds], 1.0)

    def settle(
        self, waits: Floats, wanted: Floats, first: Floats, later: Floats, crowded: Integers
    ) -> None:
        """Take the tokens of retries that wait, and give back what answers give.

        Args:
            waits: By world and pattern, calls that wait for another attempt.
            wanted: And those that would, if tokens were no matter.
            first: And those answered at the first attempt.
            later: And those answered at a later one.
            crowded: The worlds in which something was refused.
        """
        spent = (waits * self._costs).sum(axis=1)
        back = (first * self._gains + later * self._costs).sum(axis=1)
        self._wanted[crowded] = (wanted * self._costs).sum(axis=1)[crowded]
        self._given_back[crowded] = back[crowded]
        self._tokens = np.clip(self._tokens - spent + back, 0.0, self._most)
