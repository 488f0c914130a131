"""Entries: what a population counts items by, numbered and in the order of their keys.

An entry is a partition key with the fixed beginning of the sort key: what comes before the first
moment or unique value.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_texts import EntryKey
from emulator.lab.inputs.distributions import Floats, Integers, sums, weighted

#: Above every character of a key.
_LAST: Final = "\U0010ffff"
#: The number of a key that is no entry's.
_NONE: Final = -1


class EntryRanges:
    """Ranges of entries, in the order of their keys.

    Args:
        order: The entries in that order.
        low: Where each range begins.
        high: And where it ends.
    """

    def __init__(self, order: Integers, low: Integers, high: Integers) -> None:
        self._order = order
        self._low = low
        self._high = high
        #: The entry that each range has, where all have one.
        self._single = order[low] if len(order) and (high - low == 1).all() else None
        #: How often ranges are asked for, and how often therefore each entry.
        self._weights: tuple[Floats, Floats] | None = None

    def sums(self, column: Floats) -> Floats:
        """Return the sum over each range of what there is a number of for every entry."""
        if self._single is not None:
            return column[self._single]
        summed = np.concatenate([[0.0], np.cumsum(column[self._order])])
        return np.asarray(summed[self._high] - summed[self._low])

    def weighed(self, column: Floats, weights: Floats, most: float = math.inf) -> float:
        """Return the sum over all ranges, each as often as it is asked and with ``most`` at most.

        Args:
            column: What there is a number of for every entry.
            weights: How often each range is asked.
            most: Of the sum over a range no more than this counts.
        """
        if self._single is None:
            values = self.sums(column)
        else:
            values, weights = column, self._entry_weights(self._single, weights, len(column))
        return weighted(values if most == math.inf else np.minimum(values, most), weights)

    def _entry_weights(self, single: Integers, weights: Floats, count: int) -> Floats:
        """Return how often each of so many entries is asked for; the last answer is kept."""
        known = self._weights
        if known is None or known[0] is not weights or len(known[1]) != count:
            self._weights = known = weights, sums(single, weights, count)
        return known[1]


@dataclass(frozen=True)
class Collected:
    """All entries by partition key.

    Attributes:
        keys: The partition keys, and whether each stands for such that are new every time.
        order: The numbers of the entries, in the order of their keys.
        starts: Where the entries of each partition key begin.
    """

    keys: list[tuple[str, bool]]
    order: Integers
    starts: Integers

    def sums(self, column: Floats) -> list[float]:
        """Return for each partition key the sum of what there is a number of for every entry."""
        if not self.keys:
            return []
        summed: list[float] = np.add.reduceat(column[self.order], self.starts).tolist()
        return summed


@dataclass(frozen=True)
class GroupEntries:
    """The entries of some key groups.

    Attributes:
        numbers: For each key group that of its entry.
        are_in_turn: Whether these are 0, 1, 2 and so on.
    """

    numbers: Integers
    are_in_turn: bool

    def sums(self, amounts: Floats, count: int) -> Floats:
        """Return for each of so many entries the sum over its key groups."""
        if not self.are_in_turn:
            return sums(self.numbers, amounts, count)
        summed = np.zeros(count)
        summed[: len(amounts)] = amounts
        return summed

    def of(self, column: Floats) -> Floats:
        """Return for each key group what there is a number of for its entry."""
        return column[: len(self.numbers)] if self.are_in_turn else column[self.numbers]


class EntryNumbers:
    """The number of each entry, in the order they came; copies of a population share them.

    Attributes:
        is_new: Whether each entry stands for keys that are new every time.

    >>> numbers = EntryNumbers()
    >>> numbers.of([("d1", False, "a"), ("d1", False, "b"), ("d1", False, "a")]).numbers.tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._numbers: dict[EntryKey, int] = {}
        self.is_new: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._order = _Order({})

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, keys: Sequence[EntryKey]) -> GroupEntries:
        """Return the numbers of keys, giving one to those that have none."""
        known = self._numbers
        before = len(known)
        numbers = np.asarray([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
        if len(known) > before:
            is_added = numbers >= before
            new = np.zeros(len(known) - before, dtype=np.bool_)
            new[numbers[is_added] - before] = [
                keys[at][1] for at in np.flatnonzero(is_added).tolist()
            ]
            self.is_new = np.concatenate([self.is_new, new])
        return GroupEntries(numbers, bool((numbers == np.arange(len(numbers))).all()))

    def keys(self) -> list[EntryKey]:
        """Return the key of every entry, in the order of their numbers."""
        return list(self._numbers)

    def ranges(self, keys: Sequence[EntryKey]) -> EntryRanges:
        """Return for each partition key and sort prefix the range of entries it covers."""
        return self._ordered().ranges(keys)

    def collections(self) -> Collected:
        """Return the entries by partition key."""
        order = self._ordered()
        starts = [first for first, _ in order.collections.values()]
        return Collected(list(order.collections), order.numbers, np.asarray(starts, dtype=np.int64))

    def _ordered(self) -> _Order:
        if len(self._order) != len(self):
            self._order = _Order(self._numbers)
        return self._order


class _Order:
    """Entries in the order of their keys.

    Attributes:
        numbers: The numbers of the entries in that order.
        collections: By partition key, and whether it is new, where its entries begin and end.
    """

    def __init__(self, numbers: dict[EntryKey, int]) -> None:
        self._numbers = numbers
        self._keys = sorted(numbers)
        self.numbers: Integers = np.asarray([numbers[key] for key in self._keys], dtype=np.int64)
        #: By number of the entry its place, and where those end that begin like it; the last
        #: is for a key that has no number.
        self._places: Integers = np.zeros(len(self._keys) + 1, dtype=np.int64)
        self._places[self.numbers] = np.arange(len(self._keys))
        self._ends = np.zeros_like(self._places)
        self._ends[self.numbers] = self._find_ends()
        self.collections = self._find_collections()

    def __len__(self) -> int:
        return len(self._keys)

    def _find_ends(self) -> Integers:
        """Return for each place where the entries end that begin like the one there."""
        ends = np.arange(1, len(self._keys) + 1)
        for place, (own, after) in enumerate(pairwise(self._keys)):
            if after[2].startswith(own[2]) and own[0] == after[0] and own[1] == after[1]:
                ends[place] = self._end(place, own)
        return ends

    def _find_collections(self) -> dict[tuple[str, bool], tuple[int, int]]:
        starts = [
            place
            for place, (before, own) in enumerate(pairwise(self._keys), 1)
            if before[0] != own[0] or before[1] != own[1]
        ]
        bounds = pairwise([0, *starts, len(self._keys)]) if self._keys else ()
        return {self._keys[first][:2]: (first, last) for first, last in bounds}

    def ranges(self, keys: Sequence[EntryKey]) -> EntryRanges:
        """Return for each partition key and sort prefix the range of entries it covers."""
        numbers = np.asarray(list(map(self._numbers.get, keys, repeat(_NONE))), dtype=np.int64)
        others = np.flatnonzero(numbers == _NONE)
        low, high = self._places[numbers], self._ends[numbers]
        if len(others):
            bounds = np.asarray([self._range(keys[at]) for at in others.tolist()])
            low[others], high[others] = bounds.T
        return EntryRanges(self.numbers, low, high)

    def _range(self, key: EntryKey) -> tuple[int, int]:
        """Return the range of a key that is no entry's; most are those of whole collections."""
        text, is_new, sort = key
        first, last = self.collections.get((text, is_new), (0, 0))
        if sort and last:
            first = bisect_left(self._keys, key, first, last)
            last = self._end(first, key)
        return first, last

    def _end(self, first: int, key: EntryKey) -> int:
        """Return the first place from one on that does not begin like a key."""
        text, is_new, sort = key
        end = text, is_new, sort + _LAST
        step = 1  # most ranges are short
        while first + step < len(self._keys) and self._keys[first + step] < end:
            step *= 2
        return bisect_left(self._keys, end, first, min(first + step, len(self._keys)))
