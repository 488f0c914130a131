"""Groupings: which call group each key group of a pattern belongs to in a world.

Key groups that meet the same partitions form a call group: to admission its calls are all alike.
A call group is a row; a split gives rows to the key groups of the partition that is gone, and
leaves all others where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.pattern_model import PatternKeys
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.storage import Position

AnyIntegers: TypeAlias = NDArray[np.integer[Any]]

#: Keeps a share of nothing from being a division by zero.
TINY: Final = 1e-300
#: Combinations of partitions are counted, and not sorted, if there are so many times as many as
#: key groups at most.
_FEW_COMBINATIONS: Final = 8


@dataclass(frozen=True)
class Moves:
    """How what belonged to old rows is shared among new ones.

    Attributes:
        old: For each pair of an old and a new row, the old one; pairs are in order of the new.
        new: And the new one.
        shares: And the share of the old row's amounts that goes to the new one.
    """

    old: Integers
    new: Integers
    shares: Floats

    @cached_property
    def _starts(self) -> Integers:
        """Where the pairs of each new row begin."""
        return np.flatnonzero(np.diff(self.new, prepend=-1))

    @property
    def taken(self) -> Integers:
        """The new rows, each once."""
        return self.new[self._starts]

    def apply(self, amounts: Floats) -> None:
        """Move amounts in place; the last axis is rows."""
        if len(self.new):
            starts = self._starts
            moved = amounts[..., self.old] * self.shares
            amounts[..., self.old] = 0.0
            amounts[..., self.taken] += np.add.reduceat(moved, starts, axis=-1)


@dataclass(frozen=True)
class Pieces:
    """The key groups of a partition whose calls are all alike, neighbours as one.

    Attributes:
        groups: The first key group of each piece.
        shares: The share of each piece in the calls of the partition.
    """

    groups: Integers
    shares: Floats


class Grouping:
    """The call groups of one pattern in one world.

    Attributes:
        keys: The keys of the pattern.
        slots: For each resource that a call draws on, the slot of each key group's partition.
        rows: For each key group the row of its call group.
        row_slots: For each resource, the slot of each row's partition.
        row_shares: For each row its share of the pattern's requests.
        live: The rows that have key groups, in ascending order.
        pieces: By resource and slot, the pieces of a partition that were worked out since it has
            these key groups.
    """

    def __init__(self, keys: PatternKeys, slots: Sequence[Integers]) -> None:
        self.keys = keys
        self.slots: list[NDArray[np.int32]] = [own.astype(np.int32) for own in slots]
        distinct, rows = _distinct(self.slots)
        self.rows = rows
        self.row_slots = distinct
        self.row_shares = self.sums(self.weights)
        self.live: Integers = np.arange(len(distinct[0]))
        self.pieces: dict[tuple[int, int], Pieces] = {}
        self._free: list[int] = []
        #: The shares where all calls are alike, until a split.
        self._key_shares: Floats | None = None

    @property
    def size(self) -> int:
        """How many rows it takes, those that are free again included."""
        return len(self.row_slots[0])

    @property
    def weights(self) -> Floats:
        """For each key group its share of the pattern's requests."""
        return self.keys.groups.weights

    def sums(self, values: Floats) -> Floats:
        """Return the sum over the key groups of each row."""
        if self.size == 1:
            return np.asarray([values.sum()])
        return sums(self.rows, values, self.size)

    def key_shares(self, calls: float | Floats) -> Floats:
        """Return for each key group its share of the calls of its row."""
        if not isinstance(calls, float):
            by_group = self.weights * calls
            return np.asarray(by_group / np.maximum(self.sums(by_group)[self.rows], TINY))
        if self._key_shares is None:
            self._key_shares = self.request_shares(slice(None))
        return self._key_shares

    def request_shares(self, groups: slice | Integers) -> Floats:
        """Return for some key groups the share of each in the requests of its row."""
        return np.asarray(
            self.weights[groups] / np.maximum(self.row_shares[self.rows[groups]], TINY)
        )

    def row_of(self, number: int, slot: int) -> int | None:
        """Return the row of a partition's key groups, if all of them are in one.

        Then the row has no others: those of a row meet the same partitions.
        """
        rows = self.live[self.row_slots[number][self.live] == slot]
        return int(rows[0]) if len(rows) == 1 else None

    def moves_from(self, old: Grouping) -> Moves:
        """Return how what waits under an older grouping goes to this one's rows."""
        if len(old.rows) != len(self.rows):
            shares = self.row_shares
            live_old, live_new = np.meshgrid(old.live, self.live, indexing="ij")
            order = np.argsort(live_new.ravel(), kind="stable")
            new = live_new.ravel()[order]
            return Moves(live_old.ravel()[order], new, shares[new] / shares.sum())
        return _moves(old.rows, self.rows, old.weights, old.row_shares)

    def split(
        self, placements: Sequence[int], parent: int, children: Sequence[int], cuts: Cuts
    ) -> Moves:
        """Let the key groups of a partition go to its children; return what moves.

        Args:
            placements: Which of the resources that a call draws on was split.
            parent: The slot of the partition that is gone.
            children: The slots of those that took its place.
            cuts: Tells for each key group of the parent which child it goes to.
        """
        self._key_shares = None
        moved = [self._send(number, parent, children, cuts) for number in placements]
        groups = moved[0] if len(moved) == 1 else np.unique(np.concatenate(moved))
        old_rows, weights = self.rows[groups], self.weights[groups]
        totals = sums(old_rows, weights, self.size)
        distinct, among = _distinct([own[groups] for own in self.slots])
        gone, _ = _numbered(old_rows.astype(np.int64))
        new_rows = self._take_rows(distinct)
        self.rows[groups] = new_rows[among]
        self.row_shares[gone] = 0.0
        self.row_shares[new_rows] = sums(among, weights, len(new_rows))
        self._free.extend(gone.tolist())
        is_live = np.zeros(self.size, dtype=np.bool_)
        is_live[self.live] = True
        is_live[gone] = False
        is_live[new_rows] = True
        self.live = np.flatnonzero(is_live)
        return _moves(old_rows, self.rows[groups], weights, totals)

    def _send(self, number: int, parent: int, children: Sequence[int], cuts: Cuts) -> Integers:
        """Let the key groups of a partition go to its children, and return them."""
        for slot in (parent, *children):
            self.pieces.pop((number, slot), None)
        groups = np.flatnonzero(self.slots[number] == parent)
        child = cuts.child_of(number, groups)
        self.slots[number][groups] = np.asarray(children, dtype=np.int32)[child]
        return groups

    def _take_rows(self, distinct: Sequence[Integers]) -> Integers:
        """Give rows to new combinations of partitions."""
        count = len(distinct[0])
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        rows = np.asarray(
            [*reused, *range(self.size, self.size + count - len(reused))], dtype=np.int64
        )
        added = int(rows.max(initial=-1)) + 1 - self.size
        if added > 0:
            self.row_shares = np.concatenate([self.row_shares, np.zeros(added)])
            more = np.zeros(added, dtype=np.int64)
            self.row_slots = [np.concatenate([own, more]) for own in self.row_slots]
        for own, slots in zip(self.row_slots, distinct, strict=True):
            own[rows] = slots
        return rows


class Cuts:
    """Where a partition was cut, for the key groups of one pattern in one world."""

    def __init__(
        self, keys: PatternKeys, lows: Sequence[Position], salt: int, moment: float
    ) -> None:
        self._keys = keys
        self._lows = lows
        self._salt = salt
        self._moment = moment

    def child_of(self, placement: int, groups: Integers) -> Integers:
        """Return for key groups of the parent the number of the child that has them."""
        placed = self._keys.placed[placement]
        return placed.bounds_below(self._lows[1:], groups, self._salt, self._moment)


def _distinct(
    slots: Sequence[AnyIntegers],
) -> tuple[list[Integers], NDArray[np.int32]]:
    """Return the distinct combinations of slots, and for each key group which one it has."""
    code = slots[0].astype(np.int64)
    widths = [int(own.max(initial=0)) + 1 for own in slots]
    for own, width in zip(slots[1:], widths[1:], strict=True):
        code = code * width + own
    most = prod(widths)
    if most <= _FEW_COMBINATIONS * len(code):
        present = np.bincount(code, minlength=most) > 0
        distinct = np.flatnonzero(present)
        rows = (np.cumsum(present) - 1)[code]
    else:
        distinct, rows = _numbered(code)
    combinations: list[Integers] = []
    for width in widths[:0:-1]:
        combinations.insert(0, distinct % width)
        distinct = distinct // width
    return [distinct, *combinations], rows.astype(np.int32)


def _numbered(values: Integers) -> tuple[Integers, Integers]:
    """Return the distinct values in ascending order, and for each value its number among them.

    As ``np.unique`` does, in a third of its time where there are few.

    >>> [own.tolist() for own in _numbered(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    distinct = ordered[is_first]
    return distinct, np.searchsorted(distinct, values)


def _moves(old: AnyIntegers, new: AnyIntegers, weights: Floats, totals: Floats) -> Moves:
    """Return the pairs of old and new rows that key groups make, with their shares."""
    shares = weights / np.maximum(totals[old], TINY)
    (new_rows, old_rows), pair_of = _distinct([new, old])
    return Moves(old_rows, new_rows, sums(pair_of, shares, len(new_rows)))
