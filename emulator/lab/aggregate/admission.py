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
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.bunched import decays, passed_together, passed_when_queued
from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.retries import RowPolicies
from emulator.lab.inputs.distributions import Floats, Integers, sums

#: Rounds of fitting at most, and how close is close enough.
_ROUNDS: Final = 40
_CLOSE: Final = 2e-3
#: In so many of them batches follow what is found; then they stay, and the shares settle.
_FOLLOWED: Final = 4
_LEAST: Final = 1e-6
#: Seconds that differ by less are alike, rounding aside.
_SAME: Final = 1e-11
#: Of calls that begin anew, the share that does so again within the second, at most.
_MOST_REPEATED: Final = 0.98


@dataclass(slots=True)
class Admitted:
    """What becomes of the attempts of crowded rows in a second.

    Attributes:
        by_number: Attempts, by number of the attempt and row.
        total: All attempts of each row.
        accepted: Those of them that pass.
        passed: The share of a row's attempts that pass, by row, or by attempt and row where
            clients queue or send batches.
        again: The share that is refused and tried again, likewise.
        wanted: The share that would be tried again if clients had no quotas, likewise.
        open_shares: By column and row, the share of attempts that the bucket lets pass.
        restarted: By attempt and row, the share of attempts after which calls begin anew, if
            clients queue or send batches.
        paid: And by attempt and row, the share for which clients pay from their quotas.
        unanswered: And by attempt and row, the share that is answered with an error: a batch
            that is done in part is not.
    """

    by_number: Floats
    total: Floats
    accepted: Floats
    passed: Floats
    again: Floats
    wanted: Floats
    open_shares: Floats
    restarted: Floats | None = None
    paid: Floats | None = None
    unanswered: Floats | None = None

    @property
    def errors(self) -> Floats:
        """Attempts that are answered with an error, by row."""
        if self.unanswered is None:
            return self.total - self.accepted
        return _sum_rows(self.by_number * self.unanswered)

    @property
    def first_passed(self) -> Floats:
        """The share of first attempts that pass, by row."""
        return self.passed if self.passed.ndim == 1 else self.passed[0]

    def retried(self, by_number: Floats, policies: RowPolicies) -> Floats:
        """Return which of some attempts, by number, are refused and tried again."""
        return np.asarray(by_number[:-1] * self.again * policies.may_retry)

    def begun_anew(self, by_number: Floats, policies: RowPolicies) -> Floats | None:
        """Return after which of some attempts calls begin anew, if any do."""
        if self.restarted is None:
            return None
        return np.asarray(by_number * self.restarted * policies.may_retry[0])

    def follow(self, arriving: Floats, policies: RowPolicies) -> Floats:
        """Return what some of the attempts become, by number, with retries within the second."""
        by_number = _with_retries_at_once(arriving, self.again, policies)
        if self.restarted is not None:
            by_number = self._with_restarts(by_number, self.restarted, policies)
        return by_number

    def _with_restarts(self, by_number: Floats, restarted: Floats, policies: RowPolicies) -> Floats:
        """Return attempts by number and row, with those of calls that begin anew in the second.

        These come as second attempts, and may begin anew again.
        """
        second = np.zeros_like(by_number)
        second[1] = policies.same_second[0]
        second = _with_retries_at_once(second, self.again, policies)
        coming = (by_number * restarted).sum(axis=0)
        repeated = np.minimum((second * restarted).sum(axis=0), _MOST_REPEATED)
        return np.asarray(by_number + second * (coming / (1 - repeated)))


class Crowd:
    """The rows that meet a bucket which is short, now or a little earlier.

    A bucket that is not short now is open to all; so a crowd serves as long as no other bucket
    is short.

    Attributes:
        short: Of all buckets, which are or were short.
        numbers: The numbers of these, after 0, which is always open.
        rows: The rows that meet them, in ascending order.
        columns: Of the columns of all rows, those in which some bucket is short.
        buckets: By column and row, a bucket by its place in ``numbers``.
        units: By column and row, what a call takes of a short bucket.
        chosen: The index of these columns and rows among all.
        worlds: The world of each row.
        segments: The world and pattern of each row, as one number.
        patterns: The pattern of each row.
        distinct_segments: The segments that have rows here, in ascending order.
    """

    def __init__(self, rows: CallRows, short: NDArray[np.bool_], bucket_worlds: Integers) -> None:
        meets = short[rows.buckets]
        self.short = short
        self.numbers: Integers = np.concatenate([[0], np.flatnonzero(short)])
        self.rows: Integers = np.flatnonzero(meets.any(axis=0))
        self.columns: Integers = np.flatnonzero(meets.any(axis=1))
        place_of = np.zeros(len(short), dtype=np.int64)
        place_of[self.numbers] = np.arange(len(self.numbers))
        chosen = np.ix_(self.columns, self.rows)
        self.chosen = chosen
        self.buckets: Integers = place_of[rows.buckets[chosen]]
        self.patterns: Integers = rows.pattern[self.rows]
        self.worlds: Integers = rows.world[self.rows]
        self.segments: Integers = rows.segment[self.rows]
        self._segment_starts: Integers = np.flatnonzero(np.diff(self.segments, prepend=-1))
        self.distinct_segments: Integers = self.segments[self._segment_starts]
        self.units = np.where(self.buckets > 0, rows.units[chosen], 0.0)
        is_partition = rows.is_partition[chosen]
        #: What a call takes of a short partition.
        self._partition_units = np.where(is_partition, self.units, 0.0)
        self._above: Integers = np.flatnonzero(~is_partition.all(axis=1))
        self._is_above = ~is_partition[self._above]
        chance = rows.chance[chosen]
        self._chance = None if (chance == 1.0).all() else chance
        self._final = rows.final[chosen] if rows.has_final else None
        self._patience = rows.patience[self.rows]
        self._row_shares = rows.shares[self.rows]
        self._actions = rows.actions[self.rows] if rows.has_many else None
        self._levels = _levels(self.buckets, len(self.numbers))
        self._flat = self.buckets.ravel()
        _, worlds = np.unique(bucket_worlds[self.numbers[1:]], return_inverse=True)
        #: The world of each bucket, among the worlds that have short ones; 0 for the open one.
        self._bucket_worlds: Integers = np.concatenate([[0], worlds.reshape(-1)])
        #: What the last second asked and had, and its answer.
        self._last: tuple[tuple[Any, ...], tuple[Admitted, Floats]] | None = None

    def forget_last(self) -> None:
        """Note that the next second is to be answered anew, whatever it asks."""
        self._last = None

    def by_segment(self, amounts: Floats) -> Floats:
        """Return the sums over the rows of each of the distinct segments."""
        return np.add.reduceat(amounts, self._segment_starts, axis=-1)

    def open_shares(self, shares: Floats) -> Floats:
        """Return, by column and row, the share of attempts that the bucket lets pass."""
        own: Floats = shares[self.buckets]
        return own if self._chance is None else np.asarray(1 - self._chance * (1 - own))

    @cached_property
    def together(self) -> Floats:
        """By column and row, the share of the pattern's calls that meet the same bucket."""
        keys = self.segments * len(self.numbers) + self.buckets
        _, places = np.unique(keys, return_inverse=True)
        places = places.reshape(-1)
        own = np.broadcast_to(self._row_shares, keys.shape).ravel()
        return np.minimum(sums(places, own, int(places.max()) + 1)[places], 1.0).reshape(keys.shape)

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
        if len(open_shares) == 1:
            return np.asarray(1 - passed)[None]
        reached = np.ones_like(open_shares)
        np.cumprod(open_shares[:-1], axis=0, out=reached[1:])
        refused = reached * (1 - open_shares)
        total = _sum_rows(refused)
        scale = np.divide(1 - passed, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(refused * scale)

    def heat(self, arriving: Floats, open_shares: Floats) -> Floats:
        """Return the units that partitions themselves refuse, of calls that reach them.

        A call that comes again within the minute counts once (CAP2-2).
        """
        hot = (1 - open_shares) * self._partition_units
        hot *= arriving
        if len(self._above):
            hot *= _product(np.where(self._is_above, open_shares[self._above], 1.0))
        return np.asarray(hot)

    def by_bucket(self, amounts: Floats) -> Floats:
        """Return amounts by column and row, summed for each of the buckets in ``numbers``."""
        return sums(self._flat, amounts.ravel(), len(self.numbers))

    def admit(
        self,
        arriving: Floats,
        policies: RowPolicies,
        affordable: Floats | float,
        room: Floats,
        start: Floats,
        short: NDArray[np.bool_],
        behaviour: RowBehaviour | None = None,
    ) -> tuple[Admitted, Floats]:
        """Let pass what the buckets have.

        Args:
            arriving: Attempts that did not begin in this second as another's retry, by number
                of the attempt and row.
            policies: What the retry policies of the rows say.
            affordable: The share of retries that the clients' quotas allow, by row.
            room: What each bucket can give, by its place in ``numbers``.
            start: Where to begin, such as the shares of the second before.
            short: Which of them are short in this second.
            behaviour: What clients do besides, if anything.

        Returns:
            What becomes of the attempts, and the share of attempts that each bucket lets pass.
            A second that asks and has what the last one did is answered like it.
        """
        asked: tuple[Any, ...] = (room, arriving, short * 1.0, affordable)
        if behaviour is not None:
            asked = (*asked, behaviour.queued, behaviour.unevenness)
        if self._last is None or not all(map(_is_same, asked, self._last[0])):
            attempts = _Attempts(arriving, policies, affordable, behaviour)
            self._last = asked, self._fit(attempts, room, start, short)
        return self._last[1]

    def _fit(
        self, attempts: _Attempts, room: Floats, start: Floats, short: NDArray[np.bool_]
    ) -> tuple[Admitted, Floats]:
        shares = np.where(short, np.minimum(np.maximum(start, _LEAST), 1.0), 1.0)
        shares[room <= 0.0] = 0.0
        moves = short & (room > 0.0)
        log_room = np.log(np.maximum(room, _LEAST))
        levels = [own for own in (level & moves for level in self._levels) if np.count_nonzero(own)]
        steps = [_Steps(level, log_room) for level in levels]
        bunches = self._bunches(attempts, room)
        for number in range(_ROUNDS):
            before = shares
            # One level after the other: if all were corrected at once, two that are short on
            # the same calls would both make up for the whole of it.
            for step in steps:
                admitted = self._admitted(shares, attempts, bunches)
                loads = self.by_bucket(admitted.accepted * self.units)
                shares = step.correct(shares, loads, moves)
            if bunches is not None and steps and number < _FOLLOWED:
                bunches.follow(admitted)
            far = np.abs(shares - before) > _CLOSE * np.maximum(shares, _CLOSE)
            if not np.count_nonzero(far):
                break
            moving = np.bincount(self._bucket_worlds[far], minlength=len(self.numbers))
            moves = moving[self._bucket_worlds] > 0
        return self._admitted(shares, attempts, bunches), shares

    def _bunches(self, attempts: _Attempts, room: Floats) -> _Bunches | None:
        """Return how calls come together, if any do."""
        behaviour = attempts.behaviour
        if behaviour is None or not (behaviour.items > 1).any():
            return None
        return _Bunches(self, behaviour, room, _sum_rows(attempts.arriving))

    def _admitted(self, shares: Floats, attempts: _Attempts, bunches: _Bunches | None) -> Admitted:
        open_shares = self.open_shares(shares)
        refused_batches: Floats | None = None
        if bunches is not None:
            refused_batches = bunches.refused(open_shares)
            open_shares = open_shares * bunches.parts
        passed = self.passed(open_shares)
        again = wanted = self.again(open_shares, passed)
        affordable, behaviour = attempts.affordable, attempts.behaviour
        if behaviour is not None:
            return behaviour.admitted(attempts, open_shares, passed, wanted, refused_batches)
        if not isinstance(affordable, float):
            again = wanted * affordable
        by_number = _with_retries_at_once(attempts.arriving, again, attempts.policies)
        total = _sum_rows(by_number)
        return Admitted(by_number, total, total * passed, passed, again, wanted, open_shares)


@dataclass(frozen=True, slots=True)
class _Attempts:
    """What is asked for in a second: see ``Crowd.admit``."""

    arriving: Floats
    policies: RowPolicies
    affordable: Floats | float
    behaviour: RowBehaviour | None


class _Bunches:
    """The items of batches, which come together.

    Args:
        crowd: Whose.
        behaviour: What the clients do.
        room: What each bucket can give.
        calls: By row, attempts as far as they are known.

    Attributes:
        parts: By column and row, the share of a batch's items that passes if the first one does.
    """

    def __init__(self, crowd: Crowd, behaviour: RowBehaviour, room: Floats, calls: Floats) -> None:
        self._crowd = crowd
        self._room = room
        #: By column and row, how many items of a batch meet the same bucket, and how many such
        #: parts a batch has.
        self._items = 1 + (behaviour.items - 1) * crowd.together
        self._groups = behaviour.items / self._items
        self._unevenness = np.ones(len(room))
        self._unevenness[crowd.buckets] = behaviour.unevenness
        self.parts = self._parts(np.broadcast_to(calls, self._items.shape))

    def follow(self, admitted: Admitted) -> None:
        """Take the attempts of a second as they are found by now.

        More refusals make more attempts, which leave less for batches: half a step at a time, so
        that the two do not swing.
        """
        open_shares = np.maximum(admitted.open_shares, _LEAST)
        reached = admitted.total * _product(open_shares) / open_shares
        self.parts = np.sqrt(self.parts * self._parts(reached))

    def _parts(self, calls: Floats) -> Floats:
        units, buckets, items = self._crowd.units, self._crowd.buckets, self._items
        own = decays(calls / items, items * units, buckets, self._room, self._unevenness)
        return passed_together(items, own[buckets] * units)

    def refused(self, open_shares: Floats) -> Floats:
        """Return by row the share of batches of which nothing passes."""
        return 1 - _product(1 - (1 - open_shares) ** self._groups)


@dataclass(frozen=True)
class RowBehaviour:
    """What clients do that makes attempts differ, by row.

    Attributes:
        queued: The share of calls that begin when another one ends.
        unevenness: How uneven the gaps between calls are: see ``bunched``.
        items: How many a call of a client sends together; 1 where it is no batch.
        is_cut: Whether a batch that is done in part ends, and another call begins.
        resent: Of the items of such a batch, the share that is sent again after a wait.
        restarted: By attempt and row, the share that is sent again at once, as a new batch, by
            callers who still wait (CAP2-9).
    """

    queued: Floats
    unevenness: Floats
    items: Floats
    is_cut: NDArray[np.bool_]
    resent: Floats
    restarted: Floats

    def admitted(
        self,
        attempts: _Attempts,
        open_shares: Floats,
        passed: Floats,
        wanted: Floats,
        refused_batches: Floats | None,
    ) -> Admitted:
        """Return what becomes of attempts.

        Args:
            attempts: Which.
            open_shares: By column and row, the share of attempts that the bucket lets pass.
            passed: The share of attempts that passes, by row.
            wanted: The share that is refused and tried again if clients are patient, by row.
            refused_batches: The share of batches of which nothing passes, by row, if there are
                batches.
        """
        # Of the items that are refused, those whose whole batch is: the SDK tries it again.
        whole = np.ones_like(passed)
        if refused_batches is not None:
            is_partial = (self.items > 1) & (passed < 1)
            np.divide(refused_batches, 1 - passed, out=whole, where=is_partial)
        numbers = len(attempts.arriving)
        by_attempt = np.tile(passed, (numbers, 1))
        by_attempt[0] += self.queued * (passed_when_queued(passed, self.is_cut) - passed)
        refused = 1 - by_attempt
        refused *= np.divide(wanted, 1 - passed, out=np.zeros_like(wanted), where=passed < 1)
        in_part = refused * (1 - whole)
        paid = refused * whole * attempts.affordable
        again = (paid + in_part * self.resent)[:-1]
        restarted = in_part * self.restarted * attempts.affordable
        asked = (refused * whole + in_part * self.restarted)[:-1]
        admitted = Admitted(
            attempts.arriving,
            passed,
            passed,
            by_attempt,
            again,
            asked,
            open_shares,
            restarted if numbers > 1 and self.restarted.any() else None,
            (paid + restarted)[:-1],
            (1 - by_attempt) * whole,
        )
        admitted.by_number = admitted.follow(attempts.arriving, attempts.policies)
        admitted.total = _sum_rows(admitted.by_number)
        admitted.accepted = _sum_rows(admitted.by_number * by_attempt)
        return admitted


def _is_same(now: Floats | float, before: Floats | float) -> bool:
    """Return whether amounts are as good as those of the second before."""
    return now is before or not np.count_nonzero(np.abs(now - before) > _SAME * now)


def _with_retries_at_once(arriving: Floats, again: Floats, policies: RowPolicies) -> Floats:
    """Return attempts by number and row, with those that come again in the same second."""
    by_number = arriving.copy()
    at_once = policies.at_once
    chances = (again if again.ndim == 1 else again[: len(at_once)]) * at_once
    for own, after, chance in zip(by_number, by_number[1:], chances, strict=False):
        after += own * chance
    return by_number


class _Steps:
    """The corrections of one level's buckets.

    A bucket that lets more pass sees fewer retries, so its load grows less than its share does.
    How much less is learned from the last correction and made up for in the next.
    """

    def __init__(self, level: NDArray[np.bool_], log_room: Floats) -> None:
        self._level = level
        self._log_room = log_room
        self._last: tuple[Floats, Floats] | None = None

    def correct(self, shares: Floats, loads: Floats, moves: NDArray[np.bool_]) -> Floats:
        """Return the shares with those of this level brought closer to what there is."""
        log_own = np.log(np.maximum(shares, _LEAST))
        log_load = np.log(np.maximum(loads, _LEAST))
        wanted = self._log_room - log_load
        if self._last is not None:
            moved = log_own - self._last[0]
            growth = np.ones(len(shares))
            known = np.abs(moved) > _CLOSE / 10
            np.divide(log_load - self._last[1], moved, out=growth, where=known)
            wanted /= np.clip(growth, 0.25, 1.0)
        self._last = log_own, log_load
        better = np.maximum(np.exp(np.minimum(log_own + wanted, 0.0)), _LEAST)
        better[loads <= 0.0] = 1.0
        return np.where(self._level & moves, better, shares)


def _levels(buckets: Integers, count: int) -> list[NDArray[np.bool_]]:
    """Return for each column which buckets it has that no earlier one has, where there are any."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[0] = True
    levels = []
    for column in buckets:
        level = np.zeros(count, dtype=np.bool_)
        level[column] = True
        level &= ~seen
        seen |= level
        if level.any():
            levels.append(level)
    return levels


def _product(columns: Floats) -> Floats:
    """Return the product over columns; one after the other, so that no grouping changes it."""
    product: Floats = columns[0]
    for column in columns[1:]:
        product = product * column
    return product


def _sum_rows(amounts: Floats) -> Floats:
    """Return the sum over rows; one after the other, so that no grouping changes it."""
    return np.asarray(np.add.accumulate(amounts, axis=0)[-1])
