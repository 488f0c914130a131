"""Admission: how much of a second's demand passes, over all limits at once.

Within a second every bucket lets at most some share of the attempts pass that meet it. Limits of
one table or index lie within each other, so of its calls the smallest of these shares passes; of
calls that meet several, the product. The shares are such that no bucket gives more than it has.
They are found from the inside out: those of partitions as if nothing else were short, then those
of the limits above them. Worlds have no bucket in common, and none decides how long another is
worked on.

A call passes if the bucket holds one unit, whatever it costs (CAP-603). So the first item of a
batch passes as often as a single call, and the next ones only if the bucket holds more. How much
more it holds follows an exponential law: the chance of at least x is exp(-d x). What flows in
lifts the level and what calls take lowers it; the two are in balance for the d for which
inflow d = sum of calls (1 - exp(-d cost)), where a batch is one call with the cost of its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.world.retries import RetryRow, RowPolicies

ByRow: TypeAlias = Annotated[Floats, "row"]
ByBucket: TypeAlias = Annotated[Floats, "bucket"]
ColumnRow: TypeAlias = Annotated[Floats, "column", "row"]
AttemptRow: TypeAlias = Annotated[Floats, "attempt", "row"]
Flags: TypeAlias = NDArray[np.bool_]

#: Corrections of one level at most, and how close is close enough, in the logarithm of a share.
_CORRECTIONS: Final = 30
_CLOSE: Final = 1e-3
#: How often levels follow each other where they are no nest: batches, and calls that meet the
#: partitions of several tables and indexes.
_ROUNDS: Final = 4
_LEAST: Final = 1e-6
#: A load grows at least by this part of what its share does.
_LEAST_GROWTH: Final = 0.02
#: A share that has moved by less than this tells nothing of it.
_KNOWN: Final = 1e-5
#: Of calls that start over, the largest share that does so again within the second.
_MOST_REPEATED: Final = 0.98
#: Steps towards the decay of a bucket's level, and what is too little to divide by.
_STEPS: Final = 8
_LITTLE: Final = 1e-9


@dataclass(frozen=True)
class Rows:
    """Calls of one world and pattern that meet the same buckets, and what they meet.

    Attributes:
        worlds: The world of each row.
        patterns: Its pattern.
        shares: Its share of the pattern's calls.
        actions: Items of a call that are admitted all or none.
        patience: 1 where a refusal is tried again, else 0.
        buckets: The number of each bucket that a row meets, 0 for none: in the order in which a
            request is asked.
        units: Units that a call takes of it.
        chance: How likely a call draws on it at all.
        final: Whether a refusal there is never tried again.
        is_partition: Whether it is a partition's.
        owners: The placement whose limit it is; -1 for the gate of a table.
        levels: Of each bucket, how far out it lies: 0 for partitions.
        batches: How the items of batches are tried again; None where there are none.
    """

    worlds: Annotated[Integers, "row"]
    patterns: Annotated[Integers, "row"]
    shares: ByRow
    actions: ByRow
    patience: ByRow
    buckets: Annotated[Integers, "column", "row"]
    units: ColumnRow
    chance: ColumnRow
    final: Annotated[Flags, "column", "row"]
    is_partition: Annotated[Flags, "column", "row"]
    owners: Annotated[Integers, "column", "row"]
    levels: Annotated[Integers, "bucket"]
    batches: Batches | None = None

    def __len__(self) -> int:
        return len(self.worlds)

    @cached_property
    def flat(self) -> Integers:
        """The buckets as one row."""
        return self.buckets.ravel()

    @cached_property
    def _has_chance(self) -> bool:
        return bool((self.chance != 1.0).any())

    @cached_property
    def _has_final(self) -> bool:
        return bool(self.final.any())

    @cached_property
    def _final_buckets(self) -> Integers:
        """The buckets that refuse for good."""
        return np.unique(self.buckets[self.final])

    def may_be_final(self, shares: ByBucket) -> bool:
        """Return whether some refusals are never tried again."""
        return self._has_final and bool((shares[self._final_buckets] < 1.0).any())

    @cached_property
    def _has_actions(self) -> bool:
        return bool((self.actions > 1).any())

    @cached_property
    def partition_units(self) -> ColumnRow:
        """The units that a call takes of its partitions."""
        return np.where(self.is_partition, self.units, 0.0)

    @cached_property
    def _above(self) -> Integers:
        """The columns that have limits above partitions."""
        return np.flatnonzero(~(self.is_partition | (self.buckets == 0)).all(axis=1))

    @cached_property
    def _same_bucket(self) -> ColumnRow:
        """The share of the pattern's calls in a world that meet the same bucket."""
        segment = self.worlds * (int(self.patterns.max()) + 1) + self.patterns
        keys = segment * (int(self.buckets.max()) + 1) + self.buckets
        _, places = np.unique(keys, return_inverse=True)
        own = np.broadcast_to(self.shares, keys.shape).ravel()
        together = sums(places.reshape(-1), own, int(places.max()) + 1)
        return np.asarray(np.minimum(together[places.reshape(-1)], 1.0).reshape(keys.shape))

    def loads(self, calls: ByRow, count: int) -> ByBucket:
        """Return the units that calls take of each of ``count`` buckets."""
        return sums(self.flat, (calls * self.units).ravel(), count)

    @cached_property
    def _chains(self) -> list[list[tuple[int, Flags]]]:
        """By placement, the columns that may be its limits, from the outermost to the innermost.

        With each column the rows in which it is.
        """
        chains = []
        for owner in np.unique(self.owners[self.buckets > 0]).tolist():
            own = (self.owners == owner) & (self.buckets > 0)
            levels = np.where(own, self.levels[self.buckets], -1)
            chains.append(
                [
                    (at, levels[at] == level)
                    for level in range(int(levels.max()), -1, -1)
                    for at in np.flatnonzero((levels == level).any(axis=1)).tolist()
                ]
            )
        return chains

    @property
    def is_nest(self) -> bool:
        """Return whether all buckets that calls meet lie within each other."""
        return len(np.unique(self.owners[self.is_partition])) <= 1 and self.batches is None

    def open_columns(self, shares: ByBucket) -> ColumnRow:
        """Return the share of attempts that each bucket lets pass of those that others let pass.

        Args:
            shares: The share that each bucket lets pass of all that meet it.
        """
        own: Floats = shares[self.buckets]
        found = np.ones_like(own)
        for chain in self._chains:
            passed: Floats = np.ones(len(self))
            for at, is_own in chain:
                inner = np.where(is_own, np.minimum(own[at], passed), passed)
                np.divide(inner, passed, out=found[at], where=is_own & (passed > 0))
                passed = inner
        return 1 - self.chance * (1 - found) if self._has_chance else found

    def passed(self, open_columns: ColumnRow) -> ByRow:
        """Return the share of attempts that pass."""
        passed = _product(open_columns)
        return passed**self.actions if self._has_actions else passed

    @cached_property
    def _limits(self) -> list[Annotated[Integers, "column", "row"]]:
        """By placement, the buckets that are its limits; 0 for none."""
        owners = np.unique(self.owners[self.buckets > 0]).tolist()
        found = [np.where(self.owners == owner, self.buckets, 0) for owner in owners]
        return [own[(own > 0).any(axis=1)] for own in found]

    def passed_by(self, shares: ByBucket) -> ByRow:
        """Return the share of attempts that pass, given what each bucket lets pass of all."""
        if self._has_chance:
            return self.passed(self.open_columns(shares))
        passed = _product([shares[own].min(axis=0) for own in self._limits])
        return passed**self.actions if self._has_actions else passed

    def tried_again(self, open_columns: ColumnRow, passed: ByRow) -> ByRow:
        """Return the share of attempts that are refused and may be tried again."""
        if not self._has_final or (open_columns[self.final] == 1.0).all():
            return (1 - passed) * self.patience
        patient = _product(np.where(self.final, open_columns, 1.0))
        return np.maximum(0.0, patient - passed) * self.patience

    def first_refusals(self, open_columns: ColumnRow, passed: ByRow) -> ColumnRow:
        """Return the share of attempts that each bucket is the first to refuse."""
        reached = np.ones_like(open_columns)
        np.cumprod(open_columns[:-1], axis=0, out=reached[1:])
        refused = reached * (1 - open_columns)
        total = refused.sum(axis=0)
        scale = np.divide(1 - passed, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(refused * scale)

    def heat(self, arriving: ByRow, open_columns: ColumnRow) -> ColumnRow:
        """Return the units that partitions themselves refuse, of calls that reach them.

        A call that comes again within the minute counts once (CAP2-2).
        """
        hot = (1 - open_columns) * self.partition_units * arriving
        if len(self._above):
            above = np.where(self.is_partition[self._above], 1.0, open_columns[self._above])
            hot *= _product(above)
        return hot


@dataclass(frozen=True)
class Batches:
    """How the items of batches come, and come again (CAP-610, CAP2-9).

    Attributes:
        items: How many items a call of a client sends together; 1 where it is no batch.
        resent: Of the items of a batch that is done in part, the share sent again after a wait.
        restarted: The share sent again at once, as a new batch, by callers who still wait.
    """

    items: ByRow
    resent: ByRow
    restarted: AttemptRow

    def chosen(self, rows: Integers) -> Batches:
        """Return the batches of some of the rows."""
        return Batches(self.items[rows], self.resent[rows], self.restarted[:, rows])


@dataclass(frozen=True)
class Admitted:
    """The outcome of the attempts of a second.

    Attributes:
        by_number: Attempts, by number of the attempt.
        accepted: Attempts that pass.
        passed: The share of attempts that pass.
        again: The share that is refused and tried again, by retry.
        wanted: The share that would be if clients had no quotas, by retry.
        open_columns: The share of attempts that each bucket lets pass.
        paid: The share for which clients pay from their quotas, by retry.
        restarted: The share after which items are sent again at once; None if there are no such.
    """

    by_number: AttemptRow
    accepted: ByRow
    passed: ByRow
    again: RetryRow
    wanted: RetryRow
    open_columns: ColumnRow
    paid: RetryRow
    restarted: AttemptRow | None

    def follow(self, arriving: AttemptRow, policies: RowPolicies) -> AttemptRow:
        """Return the attempts with their retries within the second."""
        by_number = _with_retries_at_once(arriving, self.again, policies)
        if self.restarted is None:
            return by_number
        # Items that are sent again at once come as second attempts, and may be again.
        second = np.zeros_like(by_number)
        second[1] = policies.same_second[0]
        second = _with_retries_at_once(second, self.again, policies)
        coming = (by_number * self.restarted).sum(axis=0)
        repeated = np.minimum((second * self.restarted).sum(axis=0), _MOST_REPEATED)
        return np.asarray(by_number + second * (coming / (1 - repeated)))

    def retried(self, by_number: AttemptRow, policies: RowPolicies) -> RetryRow:
        """Return which of some attempts are refused and tried again, by retry."""
        return np.asarray(by_number[:-1] * self.again * policies.may_retry)

    def begun_anew(self, by_number: AttemptRow, policies: RowPolicies) -> AttemptRow | None:
        """Return after which of some attempts items are sent again at once, if any are."""
        if self.restarted is None:
            return None
        return np.asarray(by_number * self.restarted * policies.may_retry[0])

    def waiting(self, by_number: AttemptRow, policies: RowPolicies) -> RetryRow:
        """Return the attempts that come again, by retry: an item sent again as the first."""
        waits = self.retried(by_number, policies)
        anew = self.begun_anew(by_number, policies)
        if anew is not None:
            waits[0] += anew.sum(axis=0)
        return waits


@dataclass(frozen=True)
class _Demand:
    """The demand of a second: see ``admit``."""

    rows: Rows
    arriving: AttemptRow
    policies: RowPolicies
    affordable: ByRow | float

    @cached_property
    def _at_once(self) -> int:
        """How many retries may come in the second of the refusal."""
        return int(np.flatnonzero(self.policies.same_second.any(axis=1)).max(initial=-1)) + 1

    @cached_property
    def _later(self) -> ByRow:
        """The attempts after these."""
        return np.asarray(self.arriving[self._at_once :].sum(axis=0))

    def accepted(self, shares: ByBucket, parts: _Parts | None) -> ByRow:
        """Return how many attempts pass if buckets are open for these shares of them."""
        if parts is not None or self.rows.may_be_final(shares):
            return self.admitted(shares, parts).accepted
        passed = self.rows.passed_by(shares)
        again = (1 - passed) * self.rows.patience * self.affordable
        attempts, each = self._later, 1.0
        for retry in reversed(range(self._at_once)):
            each = 1.0 + again * self.policies.same_second[retry] * each
            attempts = attempts + self.arriving[retry] * each
        return np.asarray(attempts * passed)

    def admitted(self, shares: ByBucket, parts: _Parts | None) -> Admitted:
        """Return the outcome of the attempts if buckets are open for these shares of them."""
        rows = self.rows
        open_columns = rows.open_columns(shares)
        whole: ByRow | float = 1.0
        if parts is not None:
            refused_batches = parts.refused(open_columns)
            open_columns = open_columns * parts.shares
        passed = rows.passed(open_columns)
        wanted = rows.tried_again(open_columns, passed)
        retries = len(self.arriving) - 1
        shape = (retries, len(rows))
        restarted = None
        paid: Floats = wanted * self.affordable
        again, asked = paid, wanted
        if parts is not None and rows.batches is not None:
            # Of the items that are refused, those whose whole batch is: the SDK tries it again.
            is_partial = (rows.batches.items > 1) & (passed < 1)
            whole = np.ones_like(passed)
            np.divide(refused_batches, 1 - passed, out=whole, where=is_partial)
            in_part = wanted * (1 - whole)
            paid = wanted * whole * self.affordable
            again = paid + in_part * rows.batches.resent
            asked = wanted * whole + in_part * rows.batches.restarted[:-1]
            if retries and rows.batches.restarted.any():
                restarted = in_part * rows.batches.restarted * self.affordable
                paid = paid + restarted[:-1]
        answer = Admitted(
            by_number=self.arriving,
            accepted=passed,
            passed=passed,
            again=np.broadcast_to(again, shape),
            wanted=np.broadcast_to(asked, shape),
            open_columns=open_columns,
            paid=np.broadcast_to(paid, shape),
            restarted=restarted,
        )
        by_number = answer.follow(self.arriving, self.policies)
        accepted = by_number.sum(axis=0) * passed
        return Admitted(
            by_number,
            accepted,
            passed,
            answer.again,
            answer.wanted,
            open_columns,
            answer.paid,
            restarted,
        )


def admit(
    rows: Rows,
    arriving: AttemptRow,
    policies: RowPolicies,
    affordable: ByRow | float,
    room: ByBucket,
    start: ByBucket,
    short: Flags,
) -> tuple[Admitted, ByBucket]:
    """Let pass what the buckets have.

    Args:
        rows: The calls.
        arriving: Attempts that did not begin in this second as another's retry.
        policies: The retry policies of the rows.
        affordable: The share of retries that the clients' quotas allow.
        room: Units that each bucket can give.
        start: Where to begin, such as the shares of the second before.
        short: Which buckets are short.

    Returns:
        The outcome of the attempts, and the share that each bucket lets pass of all that meet it.
    """
    demand = _Demand(rows, arriving, policies, affordable)
    shares = np.where(short, np.clip(start, _LEAST, 1.0), 1.0)
    shares[short & (room <= 0.0)] = 0.0
    moves = short & (room > 0.0)
    levels = _levels(rows, moves)
    parts = None
    if rows.batches is not None:
        parts = _Parts(rows, rows.batches, room, arriving.sum(axis=0))
    for _ in range(1 if rows.is_nest else _ROUNDS):
        for number, level in enumerate(levels):
            outer = [own for own in levels[number + 1 :] if rows.is_nest]
            shares = _solved(demand, shares, level, outer, room, parts)
        if parts is not None:
            parts.follow(demand.admitted(shares, parts))
    return demand.admitted(shares, parts), shares


def _solved(
    demand: _Demand,
    shares: ByBucket,
    level: Flags,
    outer: list[Flags],
    room: ByBucket,
    parts: _Parts | None,
) -> ByBucket:
    """Return the shares with those of one level such that its buckets give what they have.

    A bucket that lets more pass sees fewer retries, so its load grows less than its share does.
    How much less is learned from each correction and made up for in the next, which never goes
    beyond a share that is known to be too large or too small.

    Args:
        demand: The demand.
        shares: Of all buckets.
        level: The buckets of the level.
        outer: The levels further out, which are taken as open.
        room: Units that each bucket can give.
        parts: Of batches.
    """
    at = np.flatnonzero(level)
    trial = shares.copy()
    for level_above in outer:
        trial[level_above] = 1.0
    log_room: ByBucket = np.log(room[at])
    own: ByBucket = np.log(trial[at])
    least, most = np.full(len(at), np.log(_LEAST)), np.zeros(len(at))
    growth, is_moving = np.ones(len(at)), np.ones(len(at), dtype=np.bool_)
    before: tuple[ByBucket, ByBucket] | None = None
    rows, place = demand.rows, np.cumsum(level) - 1
    met = np.flatnonzero(level[rows.flat])
    place, units, met = place[rows.flat[met]], rows.units.ravel()[met], met % len(rows)
    for _ in range(_CORRECTIONS):
        trial[at] = np.exp(own)
        accepted = demand.accepted(trial, parts)
        load = np.log(np.maximum(sums(place, accepted[met] * units, len(at)), _LEAST))
        wanted = log_room - load
        np.copyto(least, own, where=wanted > 0)
        np.copyto(most, own, where=wanted < 0)
        if before is not None:
            moved = own - before[0]
            known = np.abs(moved) > _KNOWN
            np.divide(load - before[1], moved, out=growth, where=known)
            np.clip(growth, _LEAST_GROWTH, 1.0, out=growth)
        before = own, load
        better = own + wanted / growth
        better = np.where((better < least) | (better > most), (least + most) / 2, better)
        # A bucket that is open and has room to spare is not short after all.
        better = np.where((own >= 0.0) & (wanted >= 0), 0.0, better)
        better = np.where(is_moving, better, own)
        is_moving &= np.abs(better - own) > _CLOSE
        own = better
        if not is_moving.any():
            break
    found = shares.copy()
    found[at] = np.exp(own)
    return found


def _levels(rows: Rows, moves: Flags) -> list[Flags]:
    """Return the buckets of each level, from the inside out, where there are any.

    Partitions of several tables and indexes that the same calls meet are levels of their own.
    """
    found = []
    seen = np.zeros(len(moves), dtype=np.bool_)
    partitions = [
        np.where(own, column, 0)
        for own, column in zip(rows.is_partition, rows.buckets, strict=True)
    ]
    for column in partitions:
        level = np.zeros(len(moves), dtype=np.bool_)
        level[column] = True
        level &= moves & ~seen
        seen |= level
        found.append(level)
    most = int(rows.levels.max(initial=0))
    found += [moves & (rows.levels == number) for number in range(1, most + 1)]
    return [level for level in found if level.any()]


def _with_retries_at_once(
    arriving: AttemptRow, again: RetryRow, policies: RowPolicies
) -> AttemptRow:
    """Return attempts by number, with those that come again in the same second."""
    by_number = arriving.copy()
    chances = again * policies.same_second
    for own, after, chance in zip(by_number, by_number[1:], chances, strict=False):
        after += own * chance
    return by_number


class _Parts:
    """The items of batches that pass, for they come together.

    Attributes:
        shares: By column and row, the share of a batch's items that passes if the first one does.
    """

    def __init__(self, rows: Rows, batches: Batches, room: ByBucket, calls: ByRow) -> None:
        self._rows = rows
        self._room = room
        #: By column and row, how many items of a batch meet the same bucket, and how many such
        #: parts a batch has.
        self._items = 1 + (batches.items - 1) * rows._same_bucket
        self._groups = batches.items / self._items
        self.shares = self._found(np.broadcast_to(calls, self._items.shape))

    def follow(self, admitted: Admitted) -> None:
        """Take the attempts of a second as they are found by now.

        More refusals make more attempts, which leave less for batches: half a step at a time, so
        that the two do not swing.
        """
        open_columns = np.maximum(admitted.open_columns, _LEAST)
        total = admitted.by_number.sum(axis=0)
        reached = total * _product(open_columns) / open_columns
        self.shares = np.sqrt(self.shares * self._found(reached))

    def _found(self, calls: ColumnRow) -> ColumnRow:
        units, buckets, items = self._rows.units, self._rows.buckets, self._items
        own = decays(calls / items, items * units, buckets, self._room)
        return passed_together(items, own[buckets] * units)

    def refused(self, open_columns: ColumnRow) -> ByRow:
        """Return the share of batches of which nothing passes."""
        return 1 - _product(1 - (1 - open_columns) ** self._groups)


def decays(calls: Floats, costs: Floats, buckets: Integers, room: ByBucket) -> ByBucket:
    """Return for each bucket how fast the chance falls that it holds more: d in exp(-d x).

    Args:
        calls: In a second; of any shape.
        costs: Units that each of them would take, likewise.
        buckets: The number of the bucket that they meet, likewise.
        room: By bucket, what it can give in the second.

    >>> calls, costs = np.array([1.5, 7.5]), np.array([20.0, 3.0])
    >>> decays(calls, costs, np.zeros(2, dtype=np.int64), np.array([31.0])).round(3)
    array([0.113])
    """
    flat, costs = buckets.ravel(), costs.ravel()
    calls = np.where(costs > 0, calls.ravel(), 0.0)
    count = len(room)
    total = np.maximum(sums(flat, calls, count), _LITTLE)
    inflow = np.maximum(room, _LITTLE) / total
    # The logarithm of the mean: it bends upwards, so that Newton's steps come from above once they
    # are there, and it has no end below the highest decay.
    low, high = np.zeros(count), 1 / inflow
    found = 0.5 / inflow
    for _ in range(_STEPS):
        left = calls * np.exp(-found[flat] * costs)
        staying = np.maximum(sums(flat, left, count), np.finfo(np.float64).tiny)
        filled = 1 - found * inflow
        excess = np.log(staying / total) - np.log(filled)
        slope = inflow / filled - sums(flat, left * costs, count) / staying
        low, high = np.where(excess < 0, found, low), np.where(excess < 0, high, found)
        step = np.divide(excess, slope, out=np.full(count, np.inf), where=slope > 0)
        better = found - step
        is_inside = (better >= low) & (better <= high)
        found = np.where(is_inside, better, (low + high) / 2)
    return found


def passed_together(items: Floats, decay: Floats) -> Floats:
    """Return the share of a batch's items that pass, if the first one does.

    Args:
        items: In a batch.
        decay: Of what the bucket holds, for the cost of an item.

    >>> passed_together(np.array([1.0, 20.0, 20.0]), np.array([0.113, 0.113, 0.0])).round(2)
    array([1.  , 0.42, 1.  ])
    """
    falls = np.maximum(decay, _LITTLE)
    return np.asarray(np.expm1(-falls * items) / (items * np.expm1(-falls)))


def _product(columns: Floats | Sequence[Floats]) -> Floats:
    """Return the product over columns; one after the other, so that no grouping changes it."""
    product: Floats = columns[0]
    for column in columns[1:]:
        product = product * column
    return product
