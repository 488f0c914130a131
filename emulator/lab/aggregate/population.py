"""Population: how many items lie under each key, as the aggregate engine expects it.

An entry is a partition key with the fixed beginning of the sort key: what comes before the first
moment or unique value. An entry whose whole key is fixed holds one item at most; others grow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity.units import billed_bytes
from emulator.engine.resource import Resource
from emulator.lab.aggregate.placement import JOINT, EntryKey, Hashes, hash_keys
from emulator.lab.inputs.distributions import Floats, Integers, sums, weighted
from emulator.lab.outcome.run_log import Collections
from emulator.storage import HASH_SPACE, hashed_bytes

#: Above every character of a key.
_LAST: Final = "\U0010ffff"

#: What there is a number of for every entry.
_COLUMNS: Final = (
    "items",
    "sizes",
    "_first",
    "_last",
    "_loaded",
    "_loaded_sizes",
    "_loaded_first",
    "_loaded_last",
)


def _share_since(moment: float, first: Floats, last: Floats) -> Floats:
    """Return the share of items written since a moment, if they came evenly from first to last.

    >>> _share_since(5.0, np.array([0.0, 8.0]), np.array([10.0, 10.0])).tolist()
    [0.5, 1.0]
    """
    return np.clip((last - moment) / np.maximum(last - first, 1.0), 0.0, 1.0)


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

    def sums(self, column: Floats) -> Floats:
        """Return the sum over each range of what there is a number of for every entry."""
        if self._single is not None:
            return column[self._single]
        summed = np.concatenate([[0.0], np.cumsum(column[self._order])])
        return np.asarray(summed[self._high] - summed[self._low])


class Population:
    """The items of one table, or the entries of one index, in columns.

    Attributes:
        items: How many items each entry holds; the columns may be longer than there are entries.
        sizes: Their bytes, without overhead.
        is_new: Whether each entry stands for keys that are new every time.

    >>> population = Population()
    >>> keys = [("d1", False, "a"), ("d1", False, "b"), ("d2", False, "a")]
    >>> entries = population.entries(keys)
    >>> population.add(entries, np.array([2.0, 1.0, 5.0]), np.array([20.0, 10.0, 50.0]))
    >>> asked = [("d1", False, ""), ("d1", False, "b"), ("d3", False, "")]
    >>> population.counts(population.ranges(asked), None).tolist()
    [3.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self._entries: dict[EntryKey, int] = {}
        self.items: Floats = np.zeros(0)
        self.sizes: Floats = np.zeros(0)
        #: When the first and the last of an entry's items came, in seconds into the run.
        self._first: Floats = np.zeros(0)
        self._last: Floats = np.zeros(0)
        self._loaded: Floats = np.zeros(0)
        self._loaded_first: Floats = np.zeros(0)
        self._loaded_last: Floats = np.zeros(0)
        self._loaded_sizes: Floats = np.zeros(0)
        self._sorted: list[EntryKey] = []
        self._order: Integers = np.zeros(0, dtype=np.int64)
        self._place_of: dict[EntryKey, int] = {}
        self.is_new: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        #: By salt, the hash of each entry's partition key, as far as somebody asked.
        self._hashes: dict[int, Hashes] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def copy(self) -> Population:
        """Return an independent population of the same items."""
        twin = Population()
        twin._entries = self._entries.copy()
        for name in _COLUMNS:
            setattr(twin, name, getattr(self, name).copy())
        twin._sorted, twin._order, twin.is_new = self._sorted, self._order, self.is_new
        twin._place_of = self._place_of
        return twin

    def entries(self, keys: Sequence[EntryKey]) -> Integers:
        """Return the numbers of entries, making those that are missing."""
        entries = self._entries
        known = len(entries)
        numbers = np.asarray(
            [entries.setdefault(key, len(entries)) for key in keys], dtype=np.int64
        )
        if len(entries) > known:
            is_added = numbers >= known
            new = np.zeros(len(entries) - known, dtype=np.bool_)
            new[numbers[is_added] - known] = [
                keys[at][1] for at in np.flatnonzero(is_added).tolist()
            ]
            self.is_new = np.concatenate([self.is_new, new])
        if len(entries) > len(self.items):
            length = max(len(entries), 2 * len(self.items))
            for name in _COLUMNS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros(length - len(old))]))
        return numbers

    def add(
        self,
        entries: Integers,
        items: Floats,
        sizes: Floats,
        during: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Add items (or take them away) and their bytes, written within some seconds."""
        length = len(self.items)
        touched = entries[items > 0]
        begun = touched[self._last[touched] == self._first[touched]]
        self._first[begun] = during[0]
        self._last[touched] = during[1]
        self.items += sums(entries, items, length)
        self.sizes += sums(entries, sizes, length)
        np.maximum(self.items, 0.0, out=self.items)
        np.maximum(self.sizes, 0.0, out=self.sizes)

    def resize(self, entries: Integers, writes: Floats, size_bytes: float) -> None:
        """Let updates give the items they meet another size."""
        met = sums(entries, writes, len(self.items))
        changed = -np.expm1(-met / np.maximum(1.0, self.items))
        self.sizes += changed * (self.items * size_bytes - self.sizes)

    def start_counting(self) -> None:
        """Note that the bytes so far were there before the run."""
        self._loaded_sizes = self.sizes.copy()

    def settle(self) -> None:
        """Note that all items so far were there before the run."""
        self._loaded = self.items.copy()
        self._loaded_sizes = self.sizes.copy()
        self._loaded_first, self._loaded_last = self._first, self._last
        self._first, self._last = np.zeros(len(self.items)), np.zeros(len(self.items))

    def ranges(self, keys: Sequence[EntryKey]) -> EntryRanges:
        """Return for each partition key and sort prefix the range of entries it covers."""
        if len(self._sorted) != len(self._entries):
            self._sorted = sorted(self._entries)
            self._order = np.asarray([self._entries[key] for key in self._sorted], dtype=np.int64)
            self._place_of = {key: place for place, key in enumerate(self._sorted)}
        low = [self._place(key) for key in keys]
        high = [
            self._end(place, (text, is_new, sort + _LAST))
            for place, (text, is_new, sort) in zip(low, keys, strict=True)
        ]
        return EntryRanges(self._order, np.asarray(low, np.int64), np.asarray(high, np.int64))

    def _place(self, key: EntryKey) -> int:
        """Return how many entries lie below a key; most keys are those of entries."""
        place = self._place_of.get(key)
        return bisect_left(self._sorted, key) if place is None else place

    def _end(self, first: int, end: EntryKey) -> int:
        """Return the first place from one on that is not below a key; most ranges are short."""
        step = 1
        while first + step < len(self._sorted) and self._sorted[first + step] < end:
            step *= 2
        return bisect_left(self._sorted, end, first, min(first + step, len(self._sorted)))

    def counts(self, ranges: EntryRanges, recent: tuple[float, float] | None) -> Floats:
        """Return the items in each range.

        Args:
            ranges: From ``ranges``.
            recent: Only the items of the last so many seconds, so many seconds into the run.
        """
        items = self.items
        if recent is not None:
            span, elapsed = recent
            live = _share_since(elapsed - span, self._first, self._last)
            items = (self.items - self._loaded) * live
            if self._loaded.any():
                loaded = _share_since(elapsed - span, self._loaded_first, self._loaded_last)
                items += self._loaded * loaded
        return ranges.sums(items)

    def mean_bytes(self, ranges: EntryRanges, weights: Floats) -> float:
        """Return the mean size of the items in ranges that are asked so often."""
        count = weighted(ranges.sums(self.items), weights)
        return weighted(ranges.sums(self.sizes), weights) / count if count else 0.0

    def keys(self) -> list[EntryKey]:
        """Return the key of every entry, in the order of entries."""
        return list(self._entries)

    @property
    def total_items(self) -> float:
        """All items."""
        return float(self.items.sum())

    @property
    def total_bytes(self) -> float:
        """The bytes of all items, without overhead."""
        return float(self.sizes.sum())

    def hashes(self, salt: int) -> Hashes:
        """Return the hash of each entry's partition key in worlds with that salt."""
        hashes = self._hashes.get(salt, np.zeros(0, dtype=np.uint64))
        if len(hashes) < len(self):
            new = self.keys()[len(hashes) :]
            hashed = [hashed_bytes(tuple(text.split(JOINT))) for text, _, _ in new]
            hashes = np.concatenate([hashes, hash_keys(hashed, salt)])
            self._hashes[salt] = hashes
        return hashes

    def partitions_of(self, resource: Resource, salt: int) -> Integers:
        """Return for each entry the number of its partition, in key order."""
        lows = np.asarray([partition.low[0] for partition in resource.partitions], dtype=np.uint64)
        return np.asarray(np.searchsorted(lows, self.hashes(salt), side="right") - 1)

    def by_partition(self, resource: Resource, salt: int) -> tuple[list[float], list[float]]:
        """Return the billed bytes and the items of every partition, in key order."""
        count = len(self)
        numbers = self.partitions_of(resource, salt)
        widths = hash_shares(resource)
        new = self.is_new
        held = []
        for column in (self.sizes[:count], self.items[:count]):
            fixed = sums(numbers[~new], column[~new], len(widths))
            held.append((fixed + widths * float(column[new].sum())).tolist())
        sizes, items = held
        billed = [
            float(billed_bytes(round(size), round(number)))
            for size, number in zip(sizes, items, strict=True)
        ]
        return billed, items

    def collections(self) -> Collections:
        """Return the item collections, one for each partition key."""
        collections = Collections([], [], [], [])
        keys = sorted(self._entries)
        starts = [0, *(n + 1 for n, (a, b) in enumerate(pairwise(keys)) if a[:2] != b[:2])]
        for first, last in pairwise([*starts, len(keys)]):
            entries = [self._entries[key] for key in keys[first:last]]
            items, size = float(self.items[entries].sum()), float(self.sizes[entries].sum())
            if items <= 0:
                continue
            before = [entry for entry in entries if entry < len(self._loaded_sizes)]
            loaded = sum(self._loaded_sizes[entry] for entry in before)
            text, is_new, _ = keys[first]
            count = max(1.0, items) if is_new else 1.0
            collections.keys.append(text.replace(JOINT, " / "))
            collections.is_new.append(is_new)
            collections.counts.append(count)
            collections.items.append(items / count)
            collections.sizes.append(size / count)
            collections.growth.append(max(0.0, size - float(loaded)) / count)
        return collections


def hash_shares(resource: Resource) -> Floats:
    """Return the share of the hash space of every partition, in key order."""
    return np.asarray([width / HASH_SPACE for width in resource.partitions.widths()])
