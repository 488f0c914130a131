"""Population: how many items lie under each key, as the aggregate engine expects it.

An entry is a partition key with as much of the sort key as can be told: up to the first moment
or unique value. Entries whose key can be told whole hold one item at most; others grow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_groups import FRESH
from emulator.lab.inputs.distributions import Floats, Integers, sums, weighted
from emulator.lab.outcome.run_log import Collections

#: Above every character of a key.
_LAST = "\U0010ffff"


#: What there is a number of for every entry.
_COLUMNS = (
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
    """The items of one table, or the entries of one index.

    >>> population = Population()
    >>> places = population.entries([("d1", "a"), ("d1", "b"), ("d2", "a")])
    >>> population.add(places, np.array([2.0, 1.0, 5.0]), np.array([20.0, 10.0, 50.0]))
    >>> population.counts(population.ranges([("d1", ""), ("d1", "b"), ("d3", "")]), None).tolist()
    [3.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self.items: Floats = np.zeros(0)
        self.sizes: Floats = np.zeros(0)
        #: When the first and the last of an entry's items came, in seconds into the run.
        self._first: Floats = np.zeros(0)
        self._last: Floats = np.zeros(0)
        self._loaded: Floats = np.zeros(0)
        self._loaded_first: Floats = np.zeros(0)
        self._loaded_last: Floats = np.zeros(0)
        self._loaded_sizes: Floats = np.zeros(0)
        self._sorted: list[tuple[str, str]] = []
        self._order: Integers = np.zeros(0, dtype=np.int64)
        self._fresh: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        #: The hash of each entry's partition key, in the order of entries.
        self.hashes: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._places)

    def entries(
        self, keys: Sequence[tuple[str, str]], hashes: NDArray[np.uint64] | None = None
    ) -> Integers:
        """Return the places of entries, making those that are new, with the hashes given."""
        places = self._places
        known = len(places)
        found = np.asarray([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
        if hashes is not None and len(places) > known:
            fresh = found >= known
            added = np.zeros(len(places) - known, dtype=np.uint64)
            added[found[fresh] - known] = hashes[fresh]
            self.hashes = np.concatenate([self.hashes, added])
        if len(places) > len(self.items):
            grown = max(len(places), 2 * len(self.items))
            for name in _COLUMNS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros(grown - len(old))]))
        return found

    def add(
        self,
        places: Integers,
        items: Floats,
        sizes: Floats,
        during: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Add items (or take them away) and their bytes, written within some seconds."""
        length = len(self.items)
        touched = places[items > 0]
        new = touched[self._last[touched] == self._first[touched]]
        self._first[new] = during[0]
        self._last[touched] = during[1]
        self.items += sums(places, items, length)
        self.sizes += sums(places, sizes, length)
        np.maximum(self.items, 0.0, out=self.items)
        np.maximum(self.sizes, 0.0, out=self.sizes)

    def resize(self, places: Integers, writes: Floats, size_bytes: float) -> None:
        """Let updates give the items they meet another size."""
        met = sums(places, writes, len(self.items))
        changed = -np.expm1(-met / np.maximum(1.0, self.items))
        self.sizes += changed * (self.items * size_bytes - self.sizes)

    def settle(self) -> None:
        """Note that all items so far were there before the run."""
        self._loaded = self.items.copy()
        self._loaded_sizes = self.sizes.copy()
        self._loaded_first, self._loaded_last = self._first, self._last
        self._first, self._last = np.zeros(len(self.items)), np.zeros(len(self.items))

    def ranges(self, keys: Sequence[tuple[str, str]]) -> tuple[Integers, Integers]:
        """Return for each partition key and sort prefix the stretch of entries it covers."""
        if len(self._sorted) != len(self._places):
            self._sorted = sorted(self._places)
            self._order = np.asarray([self._places[key] for key in self._sorted], dtype=np.int64)
        low = [bisect_left(self._sorted, key) for key in keys]
        high = [bisect_left(self._sorted, (key, prefix + _LAST)) for key, prefix in keys]
        return np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)

    def counts(
        self, ranges: tuple[Integers, Integers], recent: tuple[float, float] | None
    ) -> Floats:
        """Return the items in each stretch.

        Args:
            ranges: From ``ranges``.
            recent: Only the items of the last so many seconds, so many seconds into the run.
        """
        items = self.items
        if recent is not None:
            span, elapsed = recent
            live = _share_since(elapsed - span, self._first, self._last)
            loaded = _share_since(elapsed - span, self._loaded_first, self._loaded_last)
            items = (self.items - self._loaded) * live + self._loaded * loaded
        summed = np.concatenate([[0.0], np.cumsum(items[self._order])])
        return np.asarray(summed[ranges[1]] - summed[ranges[0]])

    def mean_bytes(self, ranges: tuple[Integers, Integers], weights: Floats) -> float:
        """Return the mean size of the items in stretches that are asked so often."""
        items, sizes = (
            np.concatenate([[0.0], np.cumsum(column[self._order])])
            for column in (self.items, self.sizes)
        )
        low, high = ranges
        count = weighted(items[high] - items[low], weights)
        return weighted(sizes[high] - sizes[low], weights) / count if count else 0.0

    def keys(self) -> list[tuple[str, str]]:
        """Return the partition key and told sort key of every entry, in the order of entries."""
        return list(self._places)

    @property
    def is_fresh(self) -> NDArray[np.bool_]:
        """For each entry, whether it stands for keys that are new every time."""
        known = len(self._fresh)
        if known < len(self._places):
            added = [key.startswith(FRESH) for key, _ in list(self._places)[known:]]
            self._fresh = np.concatenate([self._fresh, np.asarray(added, dtype=np.bool_)])
        return self._fresh

    @property
    def total_items(self) -> float:
        """All items."""
        return float(self.items.sum())

    @property
    def total_bytes(self) -> float:
        """The bytes of all items, without overhead."""
        return float(self.sizes.sum())

    def collections(self) -> Collections:
        """Return the item collections, one for each partition key."""
        found = Collections([], [], [], [])
        keys = sorted(self._places)
        starts = [0, *(n + 1 for n, (a, b) in enumerate(pairwise(keys)) if a[0] != b[0])]
        for first, last in pairwise([*starts, len(keys)]):
            places = [self._places[key] for key in keys[first:last]]
            items, size = float(self.items[places].sum()), float(self.sizes[places].sum())
            if items <= 0:
                continue
            loaded = sum(self._loaded_sizes[one] for one in places if one < len(self._loaded_sizes))
            count = max(1.0, items) if keys[first][0].startswith(FRESH) else 1.0
            found.keys.append(keys[first][0])
            found.counts.append(count)
            found.items.append(items / count)
            found.sizes.append(size / count)
            found.growth.append(max(0.0, size - float(loaded)) / count)
        return found
