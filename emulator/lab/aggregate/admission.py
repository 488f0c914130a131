"""Admission: how much of a second's demand passes, over all limits at once.

Within a second every bucket is open for a share of the attempts; a call passes where all its
buckets are open. The shares are such that no bucket gives more than it has, found by proportional
fitting. Only calls that meet a bucket that is short are looked at: a call passes once, so a bucket
that could serve all who come is open to all. Worlds have no bucket in common, and each is fitted
until it is close, whatever the others do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.retries import RowPolicies
from emulator.lab.inputs.distributions import Floats, Integers, sums

#: Rounds of fitting at most, and how close is close enough.
_ROUNDS: Final = 40
_CLOSE: Final = 2e-3
_LEAST: Final = 1e-6


@dataclass(frozen=True)
class Admitted:
    """What becomes of the attempts of crowded rows in a second.

    Attributes:
        by_number: Attempts, by number of the attempt and row.
        passed: The share of a row's attempts that pass.
        again: The share that is refused and tried again.
        wanted: The share that would be tried again if clients had no quotas.
        open_shares: By column and row, the share of attempts that the bucket lets pass.
    """

    by_number: Floats
    passed: Floats
    again: Floats
    wanted: Floats
    open_shares: Floats

    def follow(self, arriving: Floats, policies: RowPolicies) -> Floats:
        """Return what some of the attempts become, by number, with retries within the second."""
        return _with_retries_at_once(arriving, self.again, policies)

    @cached_property
    def total(self) -> Floats:
        """All attempts of each row."""
        return _sum_rows(self.by_number)


class Crowd:
    """The rows that meet a short bucket in some second.

    Attributes:
        rows: Which, in ascending order.
        columns: Of the columns of all rows, those in which some bucket is short.
        short: The numbers of the short buckets.
        buckets: By column and row, a bucket by its number among the short ones plus 1; else 0.
        units: By column and row, what a call takes of a short bucket.
        is_partition: By column and row, whether the bucket is a partition's.
        chosen: The index of these columns and rows among all.
        worlds: The world of each row.
        segments: The world and pattern of each row, as one number.
        patterns: The pattern of each row.
        distinct_segments: The segments that have rows here, in ascending order.
    """

    def __init__(self, rows: CallRows, short: NDArray[np.bool_], bucket_worlds: Integers) -> None:
        meets = short[rows.buckets]
        self.rows: Integers = np.flatnonzero(meets.any(axis=0))
        self.columns: Integers = np.flatnonzero(meets.any(axis=1))
        self.short: Integers = np.flatnonzero(short)
        number_of = np.zeros(len(short), dtype=np.int64)
        number_of[self.short] = np.arange(1, len(self.short) + 1)
        chosen = np.ix_(self.columns, self.rows)
        self.chosen = chosen
        self.buckets: Integers = number_of[rows.buckets[chosen]]
        self.is_partition: NDArray[np.bool_] = rows.is_partition[chosen]
        self.patterns: Integers = rows.pattern[self.rows]
        self.worlds: Integers = rows.world[self.rows]
        self.segments: Integers = rows.segment[self.rows]
        self._segment_starts: Integers = np.flatnonzero(np.diff(self.segments, prepend=-1))
        self.distinct_segments: Integers = self.segments[self._segment_starts]
        self.units = np.where(self.buckets > 0, rows.units[chosen], 0.0)
        self._chance = rows.chance[chosen]
        self._final = rows.final[chosen] if rows.has_final else None
        self._patience = rows.patience[self.rows]
        self._actions = rows.actions[self.rows] if rows.has_many else None
        self._levels = _levels(self.buckets, len(self.short) + 1)
        _, worlds = np.unique(bucket_worlds[self.short], return_inverse=True)
        #: The world of each short bucket, among the worlds that have some.
        self._bucket_worlds: Integers = worlds.reshape(-1)
        self._world_count = int(self._bucket_worlds.max()) + 1
        self._flat = self.buckets.ravel()

    def by_segment(self, amounts: Floats) -> Floats:
        """Return the sums over the rows of each of the distinct segments."""
        return np.add.reduceat(amounts, self._segment_starts, axis=-1)

    def open_shares(self, shares: Floats) -> Floats:
        """Return, by column and row, the share of attempts that the bucket lets pass."""
        return np.asarray(1 - self._chance * (1 - shares[self.buckets]))

    def passed(self, open_shares: Floats) -> Floats:
        """Return the share of attempts that pass in each row."""
        passed = _product(open_shares)
        return passed if self._actions is None else np.asarray(passed**self._actions)

    def again(self, open_shares: Floats, passed: Floats) -> Floats:
        """Return the share of attempts that are refused and may be tried again."""
        if self._final is None:
            return np.asarray((1 - passed) * self._patience)
        patient = _product(np.where(self._final, open_shares, 1.0))
        return np.asarray(np.maximum(0.0, patient - passed) * self._patience)

    def first_refusals(self, open_shares: Floats, passed: Floats) -> Floats:
        """Return, by column and row, the share of attempts that it is first to refuse."""
        reached = np.ones_like(open_shares)
        np.cumprod(open_shares[:-1], axis=0, out=reached[1:])
        refused = reached * (1 - open_shares)
        total = _sum_rows(refused)
        scale = np.divide(1 - passed, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(refused * scale)

    def by_bucket(self, amounts: Floats) -> Floats:
        """Return amounts by column and row, summed for each short bucket, after that of none."""
        return sums(self._flat, amounts.ravel(), len(self.short) + 1)

    def admit(
        self,
        arriving: Floats,
        policies: RowPolicies,
        affordable: Floats | float,
        available: Floats,
        start: Floats,
    ) -> tuple[Admitted, Floats]:
        """Let pass what the buckets have.

        Args:
            arriving: Attempts that did not begin in this second as another's retry, by number
                of the attempt and row.
            policies: What the retry policies of the rows say.
            affordable: The share of retries that the clients' quotas allow, by row.
            available: What each short bucket can give.
            start: Where to begin, such as the shares of the second before.

        Returns:
            What becomes of the attempts, and the share of attempts that each bucket lets pass.
        """
        room = np.concatenate([[1.0], available])
        shares = np.where(room > 0, np.clip(np.concatenate([[1.0], start]), _LEAST, 1.0), 0.0)
        steps = [_Steps(level[room[level] > 0], room) for level in self._levels]
        moves = np.ones(len(self.short), dtype=np.bool_)
        for _ in range(_ROUNDS):
            before = shares
            # One level after the other: if all were corrected at once, two that are short on
            # the same calls would both make up for the whole of it.
            for step in steps:
                admitted = self._admitted(shares, arriving, policies, affordable)
                loads = self.by_bucket(admitted.total * admitted.passed * self.units)
                shares = step.correct(shares, loads, moves)
            far = np.abs(shares - before) > _CLOSE * np.maximum(shares, _CLOSE)
            if not far.any():
                break
            moving = np.bincount(self._bucket_worlds[far[1:]], minlength=self._world_count)
            moves = moving[self._bucket_worlds] > 0
        return self._admitted(shares, arriving, policies, affordable), shares[1:]

    def _admitted(
        self, shares: Floats, arriving: Floats, policies: RowPolicies, affordable: Floats | float
    ) -> Admitted:
        open_shares = self.open_shares(shares)
        passed = self.passed(open_shares)
        wanted = self.again(open_shares, passed)
        again = wanted * affordable
        by_number = _with_retries_at_once(arriving, again, policies)
        return Admitted(by_number, passed, again, wanted, open_shares)


def _with_retries_at_once(arriving: Floats, again: Floats, policies: RowPolicies) -> Floats:
    """Return attempts by number and row, with those that come again in the same second."""
    by_number = arriving.copy()
    for number in policies.at_once:
        by_number[number + 1] += by_number[number] * again * policies.same_second[number]
    return by_number


class _Steps:
    """The corrections of one level's buckets.

    A bucket that lets more pass sees fewer retries, so its load grows less than its share does.
    How much less is learned from the last correction and made up for in the next.
    """

    def __init__(self, level: Integers, available: Floats) -> None:
        self._level = level
        self._log_available = np.log(available[level])
        self._last: tuple[Floats, Floats] | None = None

    def correct(self, shares: Floats, loads: Floats, moves: NDArray[np.bool_]) -> Floats:
        """Return the shares with those of this level brought closer to what there is."""
        level = self._level
        load = loads[level]
        log_own = np.log(shares[level])
        log_load = np.log(np.maximum(load, _LEAST))
        wanted = self._log_available - log_load
        if self._last is not None:
            moved = log_own - self._last[0]
            growth = np.ones(len(level))
            known = np.abs(moved) > _CLOSE / 10
            np.divide(log_load - self._last[1], moved, out=growth, where=known)
            wanted = wanted / np.clip(growth, 0.25, 1.0)
        self._last = log_own, log_load
        better = np.exp(np.minimum(0.0, log_own + wanted))
        better = np.where(load > 0, np.maximum(better, _LEAST), 1.0)
        corrected = shares.copy()
        corrected[level] = np.where(moves[level - 1], better, shares[level])
        return corrected


def _levels(buckets: Integers, count: int) -> list[Integers]:
    """Return for each column its buckets that no earlier column has, where there are any."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[0] = True
    levels = []
    for column in buckets:
        level = np.zeros(count, dtype=np.bool_)
        level[column] = True
        level &= ~seen
        seen |= level
        if level.any():
            levels.append(np.flatnonzero(level))
    return levels


def _product(columns: Floats) -> Floats:
    """Return the product over columns; one after the other, so that no grouping changes it."""
    product: Floats = columns[0].copy()
    for column in columns[1:]:
        product *= column
    return product


def _sum_rows(amounts: Floats) -> Floats:
    """Return the sum over rows; one after the other, so that no grouping changes it."""
    return np.asarray(np.add.accumulate(amounts, axis=0)[-1])
