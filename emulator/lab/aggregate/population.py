"""Population: how many items lie under each key, as the aggregate engine expects it.

An entry whose whole key is fixed holds one item at most; others grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final

import numpy as np

from emulator.capacity.units import billed_bytes
from emulator.engine.resource import Resource
from emulator.lab.aggregate.entries import EntryNumbers, EntryRanges, GroupEntries
from emulator.lab.aggregate.key_texts import JOINT, EntryKey
from emulator.lab.aggregate.partition_keys import Hashes, hash_keys
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import Collections
from emulator.storage import HASH_SPACE, hashed_bytes

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


class Population:
    """The items of one table, or the entries of one index, in columns.

    Attributes:
        items: How many items each entry holds; the columns may be longer than there are entries.
        sizes: Their bytes, without overhead.
        numbers: The number of each entry.

    >>> population = Population()
    >>> keys = [("d1", False, "a"), ("d1", False, "b"), ("d2", False, "a")]
    >>> entries = population.entries(keys)
    >>> population.add(entries, np.array([2.0, 1.0, 5.0]), np.array([20.0, 10.0, 50.0]))
    >>> asked = [("d1", False, ""), ("d1", False, "b"), ("d3", False, "")]
    >>> population.counts(population.numbers.ranges(asked), None).tolist()
    [3.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self.numbers = EntryNumbers()
        self.items: Floats = np.zeros(0)
        self.sizes: Floats = np.zeros(0)
        #: When the first and the last of an entry's items came, in seconds into the run.
        self._first: Floats = np.zeros(0)
        self._last: Floats = np.zeros(0)
        self._loaded: Floats = np.zeros(0)
        self._loaded_first: Floats = np.zeros(0)
        self._loaded_last: Floats = np.zeros(0)
        self._loaded_sizes: Floats = np.zeros(0)
        #: Who writes to items that are there, how often, and the size that they have then.
        self._rewrites: list[tuple[GroupEntries, Floats, float]] = []
        #: By salt, the hash of each entry's partition key, as far as somebody asked.
        self._hashes: dict[int, Hashes] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def copy(self) -> Population:
        """Return an independent population of the same items, under the same numbers."""
        twin = Population()
        twin.numbers = self.numbers
        for name in _COLUMNS:
            setattr(twin, name, getattr(self, name).copy())
        twin._make_room()
        return twin

    def entries(self, keys: Sequence[EntryKey]) -> GroupEntries:
        """Return the numbers of entries, making those that are missing."""
        numbers = self.numbers.of(keys)
        self._make_room()
        return numbers

    def _make_room(self) -> None:
        """Let every column have a place for every entry."""
        if len(self) > len(self.items):
            length = max(len(self), 2 * len(self.items))
            for name in _COLUMNS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros(length - len(old))]))

    def add(
        self,
        entries: GroupEntries,
        items: Floats,
        sizes: Floats,
        during: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Add items (or take them away) and their bytes, written within some seconds."""
        if entries.are_in_turn:
            count = len(items)
            first, last, is_touched = self._first[:count], self._last[:count], items > 0
            first[is_touched & (last == first)] = during[0]
            last[is_touched] = during[1]
            self.items[:count] += items
            self.sizes[:count] += sizes
        else:
            length = len(self.items)
            touched = entries.numbers[items > 0]
            begun = touched[self._last[touched] == self._first[touched]]
            self._first[begun] = during[0]
            self._last[touched] = during[1]
            self.items += entries.sums(items, length)
            self.sizes += entries.sums(sizes, length)
        np.maximum(self.items, 0.0, out=self.items)
        np.maximum(self.sizes, 0.0, out=self.sizes)

    def rewrite(self, entries: GroupEntries, writes: Floats, size_bytes: float) -> None:
        """Note writes that give the items they meet another size, until ``settle_rewrites``."""
        self._rewrites.append((entries, writes, size_bytes))

    def settle_rewrites(self) -> None:
        """Let items have the sizes of what was noted: it came in no particular order."""
        length = len(self.items)
        met, met_bytes = np.zeros(length), np.zeros(length)
        for entries, writes, size_bytes in self._rewrites:
            own = entries.sums(writes, length)
            met += own
            met_bytes += own * size_bytes
        if self._rewrites:
            changed = -np.expm1(-met / np.maximum(1.0, self.items))
            mean = np.divide(met_bytes, met, out=np.zeros(length), where=met > 0)
            self.sizes += changed * (self.items * mean - self.sizes)
        self._rewrites.clear()

    def start_counting(self) -> None:
        """Note that the bytes so far were there before the run."""
        self._loaded_sizes = self.sizes.copy()

    def settle(self) -> None:
        """Note that all items so far were there before the run."""
        self._loaded = self.items.copy()
        self._loaded_sizes = self.sizes.copy()
        self._loaded_first, self._loaded_last = self._first, self._last
        self._first, self._last = np.zeros(len(self.items)), np.zeros(len(self.items))

    def counts(self, ranges: EntryRanges, recent: tuple[float, float] | None) -> Floats:
        """Return the items in each range.

        Args:
            ranges: From its ``numbers``.
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
        count = ranges.weighed(self.items, weights)
        return ranges.weighed(self.sizes, weights) / count if count else 0.0

    def chance_of_item(self, ranges: EntryRanges, weights: Floats) -> float:
        """Return how likely there is an item in ranges that are asked so often."""
        return ranges.weighed(self.items, weights, most=1.0)

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
            new = self.numbers.keys()[len(hashes) :]
            hashed = [hashed_bytes(tuple(text.split(JOINT))) for text, _, _ in new]
            hashes = np.concatenate([hashes, hash_keys(hashed, salt)])
            self._hashes[salt] = hashes
        return hashes

    def partitions_of(self, resource: Resource, salt: int) -> Integers:
        """Return for each entry the number of its partition, in key order."""
        lows = np.asarray([partition.low[0] for partition in resource.partitions], dtype=np.uint64)
        return np.asarray(np.searchsorted(lows, self.hashes(salt), side="right") - 1)

    def by_partition(self, resource: Resource, salt: int) -> tuple[Integers, Integers]:
        """Return the billed bytes and the items of every partition, in key order."""
        count, partitions = len(self), len(resource.partitions)
        numbers = self.partitions_of(resource, salt)
        new = self.numbers.is_new
        columns = self.sizes[:count], self.items[:count]
        if new.any():
            widths = hash_shares(resource)
            held = [
                sums(numbers[~new], column[~new], partitions) + widths * float(column[new].sum())
                for column in columns
            ]
        else:
            held = [sums(numbers, column, partitions) for column in columns]
        sizes, items = (np.rint(amounts).astype(np.int64) for amounts in held)
        return sizes + items * billed_bytes(0), items

    def collections(self) -> Collections:
        """Return the item collections, one for each partition key."""
        self._make_room()  # numbers are shared with copies that may have more by now
        collected = self.numbers.collections()
        grown = self.sizes - self._loaded_sizes
        columns = np.asarray([collected.sums(own) for own in (self.items, self.sizes, grown)])
        held = columns[0] > 0
        keys = list(compress(collected.keys, held.tolist()))
        items, sizes, growth = columns[:, held]
        is_new = [new for _, new in keys]
        counts = np.where(is_new, np.maximum(1.0, items), 1.0)
        return Collections(
            keys=[text.replace(JOINT, " / ") for text, _ in keys],
            items=(items / counts).tolist(),
            sizes=(sizes / counts).tolist(),
            growth=(np.maximum(0.0, growth) / counts).tolist(),
            counts=counts.tolist(),
            is_new=is_new,
        )


def hash_shares(resource: Resource) -> Floats:
    """Return the share of the hash space of every partition, in key order."""
    return np.asarray([width / HASH_SPACE for width in resource.partitions.widths()])
