"""Contents: how many items lie under which keys, as numbers, in every world.

An *entry* is a partition key with the fixed beginning of the sort key: what comes before the first
moment or unique value. Entries that are alike, because their values are of one bin, are one; it
knows how many it stands for, and all its figures are those of one of them. An entry whose whole
key is fixed holds one item at most; others grow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.capacity.units import billed_bytes
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import Collections

#: A partition key, whether it stands for keys that are new every time, and the fixed beginning
#: of the sort key.
EntryKey: TypeAlias = tuple[str, bool, str]
WorldEntry: TypeAlias = Annotated[Floats, "world", "entry"]
WorldCell: TypeAlias = Annotated[Floats, "world", "cell"]
ByEntry: TypeAlias = Annotated[Floats, "entry"]

#: Between the attributes of one key.
JOINT: Final = "\x1f"
#: Above every character of a key.
_LAST: Final = "\U0010ffff"


class Entries:
    """The entries of some cells: which entry each cell has, and how to add up over cells.

    Args:
        numbers: For each cell that of its entry.
        counts: How many entries alike each entry stands for.

    Attributes:
        distinct: The entries, each once.
    """

    def __init__(self, numbers: Integers, counts: ByEntry) -> None:
        self._numbers = numbers
        self._order = np.argsort(numbers, kind="stable")
        ordered = numbers[self._order]
        self._starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self.distinct: Integers = ordered[self._starts]
        self._place = np.searchsorted(self.distinct, numbers)
        self._is_in_turn = bool((self._order == np.arange(len(numbers))).all()) and len(
            self.distinct
        ) == len(numbers)
        self._counts = counts[self.distinct]

    def each(self, amounts: WorldCell) -> WorldEntry:
        """Return the amount for one of each of these entries."""
        if self._is_in_turn:
            return amounts / self._counts
        summed = np.add.reduceat(amounts[..., self._order], self._starts, axis=-1)
        return np.asarray(summed / self._counts)

    def touched(self, column: WorldEntry) -> WorldEntry:
        """Return the figures of these entries, of those of all entries."""
        return column[..., self.distinct]

    def by_cell(self, column: WorldEntry) -> WorldCell:
        """Return for each cell the figure of its entry, of those of these entries."""
        return column if self._is_in_turn else column[..., self._place]

    def of(self, column: WorldEntry) -> WorldCell:
        """Return for each cell the figure of its entry, of those of all entries."""
        return column[..., self._numbers]


class Ranges:
    """The entries that each of some reads covers.

    Args:
        order: Entries in the order of their keys.
        low: Where each range begins in it.
        high: And where it ends.
        counts: How many entries alike each entry stands for.
        reads: How many reads alike each range stands for.
    """

    def __init__(
        self, order: Integers, low: Integers, high: Integers, counts: ByEntry, reads: Floats
    ) -> None:
        self._order = order
        self._low = low
        self._high = high
        self._counts = counts[order]
        self._reads = reads

    def sums(self, column: WorldEntry) -> WorldCell:
        """Return the sum over the entries that one read of each range covers."""
        ordered = column[..., self._order] * self._counts
        reached = np.concatenate(
            [np.zeros((*column.shape[:-1], 1)), np.cumsum(ordered, axis=-1)], axis=-1
        )
        return np.asarray((reached[..., self._high] - reached[..., self._low]) / self._reads)


@dataclass(frozen=True)
class Stored:
    """A copy of contents, to go back to."""

    items: WorldEntry
    sizes: WorldEntry
    first: ByEntry
    last: ByEntry


class Contents:
    """The items of one table, or the entries of one index.

    Attributes:
        counts: How many entries alike each entry stands for.
        items: How many items each of them holds.
        sizes: Their bytes, without overhead.
        first: When the first of its items came, in seconds into the run.
        last: And the last.
        loaded: Items that were there before the warm-up.
        grown_from: Bytes that were there before the run.

    >>> contents = Contents(worlds=1)
    >>> entries = contents.entries([("d1", False, "a"), ("d1", False, "b")], np.array([1.0, 5.0]),
    ...     collections=np.ones(2))
    >>> contents.add(entries, np.array([[2.0, 50.0]]), np.array([[20.0, 500.0]]), (0.0, 1.0))
    >>> asked = contents.ranges([("d1", False, ""), ("d1", False, "b"), ("d2", False, "")],
    ...     np.array([1.0, 5.0, 1.0]))
    >>> asked.sums(contents.items).tolist(), contents.total_items.tolist()
    ([[52.0, 10.0, 0.0]], [52.0])
    """

    def __init__(self, worlds: int) -> None:
        self._numbers: dict[EntryKey, int] = {}
        #: By partition key, how many item collections are alike.
        self._alike: dict[tuple[str, bool], float] = {}
        self._sorted: _Sorted | None = None
        self.counts: ByEntry = np.zeros(0)
        self.items: WorldEntry = np.zeros((worlds, 0))
        self.sizes: WorldEntry = np.zeros((worlds, 0))
        self.first: ByEntry = np.zeros(0)
        self.last: ByEntry = np.zeros(0)
        self.loaded = Stored(self.items, self.sizes, self.first, self.last)
        self.grown_from: WorldEntry = self.sizes
        #: Writes that give the items they meet another size, and their bytes.
        self._rewrites: list[tuple[Integers, WorldEntry, float | Floats]] = []

    def __len__(self) -> int:
        return len(self.counts)

    def copy(self, worlds: int) -> Contents:
        """Return an independent copy of what one world holds, for some worlds."""
        twin = Contents(worlds)
        twin._numbers, twin._alike = dict(self._numbers), dict(self._alike)
        twin.counts, twin._sorted = self.counts.copy(), self._sorted
        for name in ("items", "sizes", "grown_from"):
            setattr(twin, name, np.repeat(getattr(self, name)[:1], worlds, axis=0))
        twin.first, twin.last = self.first.copy(), self.last.copy()
        loaded = self.loaded
        twin.loaded = Stored(
            np.repeat(loaded.items[:1], worlds, axis=0),
            np.repeat(loaded.sizes[:1], worlds, axis=0),
            loaded.first,
            loaded.last,
        )
        return twin

    @property
    def keys(self) -> list[EntryKey]:
        """The key of every entry, in the order of their numbers."""
        return list(self._numbers)

    def entries(self, keys: Sequence[EntryKey], counts: Floats, collections: Floats) -> Entries:
        """Return the entries of cells, making those that are missing.

        Args:
            keys: Of each cell.
            counts: How many entries alike each cell stands for.
            collections: And how many item collections.
        """
        known, before = self._numbers, len(self._numbers)
        numbers = np.asarray([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
        added = len(known) - before
        if added:
            self.counts = _longer(self.counts, added)
            self.items, self.sizes = _longer(self.items, added), _longer(self.sizes, added)
            self.first, self.last = _longer(self.first, added), _longer(self.last, added)
            is_new = numbers >= before
            self.counts[numbers[is_new]] = counts[is_new]
            for at in np.flatnonzero(is_new).tolist():
                self._alike[keys[at][:2]] = float(collections[at])
        return Entries(numbers, self.counts)

    def ranges(self, asked: Sequence[EntryKey], reads: Floats) -> Ranges:
        """Return the entries that reads of a partition key and sort prefix cover.

        Args:
            asked: The keys and prefixes.
            reads: How many reads alike each stands for.
        """
        ordered = self._ordered()
        bounds = np.asarray([ordered.range(key) for key in asked], dtype=np.int64).reshape(-1, 2)
        return Ranges(ordered.numbers, bounds[:, 0], bounds[:, 1], self.counts, reads)

    def _ordered(self) -> _Sorted:
        if self._sorted is None or len(self._sorted.keys) != len(self._numbers):
            self._sorted = _Sorted(self._numbers)
        return self._sorted

    # What is written

    def add(
        self, entries: Entries, items: WorldCell, sizes: WorldCell, during: tuple[float, float]
    ) -> None:
        """Add items, or take them away, and their bytes, written within some seconds."""
        at, added = entries.distinct, entries.each(items)
        is_touched = (added > 0).any(axis=0)
        new = at[is_touched & (self.last[at] == self.first[at])]
        self.first[new] = during[0]
        self.last[at[is_touched]] = during[1]
        self.items[:, at] = np.maximum(self.items[:, at] + added, 0.0)
        self.sizes[:, at] = np.maximum(self.sizes[:, at] + entries.each(sizes), 0.0)

    def rewrite(self, entries: Entries, writes: WorldCell, size_bytes: float | Floats) -> None:
        """Note writes that give the items they meet another size, until ``settle``."""
        self._rewrites.append((entries.distinct, entries.each(writes), size_bytes))

    def settle(self) -> None:
        """Give items the sizes of what was noted, which came in no particular order."""
        if not self._rewrites:
            return
        at = np.unique(np.concatenate([own for own, _, _ in self._rewrites]))
        met, met_bytes = np.zeros((2, len(self.items), len(at)))
        for own, writes, size_bytes in self._rewrites:
            places = np.searchsorted(at, own)
            met[:, places] += writes
            met_bytes[:, places] += writes * size_bytes
        items, sizes = self.items[:, at], self.sizes[:, at]
        changed = -np.expm1(-met / np.maximum(1.0, items))
        mean = np.divide(met_bytes, met, out=np.zeros_like(met), where=met > 0)
        self.sizes[:, at] = sizes + changed * (items * mean - sizes)
        self._rewrites.clear()

    def close_preload(self) -> None:
        """Note that all items so far were there before the warm-up."""
        self.loaded = Stored(self.items.copy(), self.sizes.copy(), self.first, self.last)
        self.first, self.last = np.zeros_like(self.first), np.zeros_like(self.last)
        self.start_counting()

    def start_counting(self) -> None:
        """Note that the bytes so far were there before the run."""
        self.grown_from = self.sizes.copy()

    # What is there

    def recent(self, span: float, elapsed: float) -> WorldEntry:
        """Return the items of the last ``span`` seconds, at a moment of the run."""
        since = elapsed - span
        loaded = _longer(self.loaded.items, len(self) - self.loaded.items.shape[1])
        before = np.zeros(len(self))
        before[: len(self.loaded.first)] = _share_since(since, self.loaded.first, self.loaded.last)
        return (self.items - loaded) * _share_since(since, self.first, self.last) + loaded * before

    @property
    def total_items(self) -> Annotated[Floats, "world"]:
        """All items."""
        return np.asarray((self.items * self.counts).sum(axis=1))

    @property
    def total_bytes(self) -> Annotated[Floats, "world"]:
        """The bytes of all items, without overhead."""
        return np.asarray((self.sizes * self.counts).sum(axis=1))

    def collections(self, world: int) -> Collections:
        """Return the item collections of a world, those of one kind as one row."""
        order = self._ordered()
        keys = list(order.collections)
        starts = np.asarray([low for low, _ in order.collections.values()], dtype=np.int64)
        if not keys:
            return Collections([], [], [], [])
        grown = self.sizes[world] - _longer(
            self.grown_from[world], len(self) - self.grown_from.shape[1]
        )
        alike = np.asarray([self._alike[key] for key in keys])
        items, sizes, growth = (
            np.add.reduceat((column * self.counts)[order.numbers], starts) / alike
            for column in (self.items[world], self.sizes[world], grown)
        )
        is_new = np.asarray([new for _, new in keys])
        # Where there are fewer items than keys, some keys have one and the others none.
        counts = np.where(is_new, np.maximum(1.0, items), alike * np.minimum(1.0, items))
        per = np.where(is_new, counts, np.minimum(1.0, items))
        per[items <= 0] = 1.0
        held = items > 0
        return Collections(
            keys=[text.replace(JOINT, " / ") for text, _ in compress(keys, held.tolist())],
            items=(items / per)[held].tolist(),
            sizes=(sizes / per)[held].tolist(),
            growth=(np.maximum(0.0, growth) / per)[held].tolist(),
            counts=counts[held].tolist(),
            is_new=is_new[held].tolist(),
        )

    def billed(self) -> WorldEntry:
        """Return the billed bytes of all entries alike, by kind (CAP-110)."""
        return np.asarray((self.sizes + self.items * billed_bytes(0)) * self.counts)


def _share_since(moment: float, first: ByEntry, last: ByEntry) -> ByEntry:
    """Return the share of items written since a moment, if they came evenly from first to last.

    >>> _share_since(5.0, np.array([0.0, 8.0]), np.array([10.0, 10.0])).tolist()
    [0.5, 1.0]
    """
    return np.clip((last - moment) / np.maximum(last - first, 1.0), 0.0, 1.0)


def _longer(column: Floats, added: int) -> Floats:
    """Return a column with zeros for more entries, which are its last axis."""
    if not added:
        return column
    return np.concatenate([column, np.zeros((*column.shape[:-1], added))], axis=-1)


class _Sorted:
    """Entries in the order of their keys.

    Attributes:
        keys: The keys.
        numbers: Their entries.
        collections: By partition key, and whether it is new, where its entries begin and end.
    """

    def __init__(self, numbers: dict[EntryKey, int]) -> None:
        self.keys = sorted(numbers)
        self.numbers: Integers = np.asarray([numbers[key] for key in self.keys], dtype=np.int64)
        starts = [
            place
            for place, (before, own) in enumerate(pairwise(self.keys), 1)
            if before[:2] != own[:2]
        ]
        bounds = pairwise([0, *starts, len(self.keys)]) if self.keys else ()
        self.collections = {self.keys[first][:2]: (first, last) for first, last in bounds}

    def range(self, key: EntryKey) -> tuple[int, int]:
        """Return where the entries begin and end that a partition key and sort prefix cover."""
        text, is_new, sort = key
        first, last = self.collections.get((text, is_new), (0, 0))
        if sort and last:
            first = bisect_left(self.keys, key, first, last)
            last = bisect_left(self.keys, (text, is_new, sort + _LAST), first, last)
        return first, last
