"""Call prices: what one call of a pattern is expected to cost, from the capacity room's formulas.

Sizes come from items made as the exact engine makes them, so both engines price the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from emulator.capacity.units import (
    EVENTUAL,
    STRONG,
    TRANSACTIONAL,
    fetch_units,
    index_arm,
    page_units,
    read_units,
    table_arm,
)
from emulator.lab.inputs.distributions import Floats, Sequential
from emulator.lab.inputs.patterns import TIMESTAMP, Pattern
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.items import ItemMaker, stored_fields
from emulator.lab.planning.layout import PAYLOAD, IndexLayout, Layout
from emulator.model import IndexSchema, Item
from emulator.service import limits
from emulator.storage import entry_of

#: Bytes that are none.
_ROUNDING: Final = 1e-9
#: Of more items than these the bytes are hardly uncertain.
_FEW_ITEMS: Final = 64


@dataclass(frozen=True)
class WritePrice:
    """The write units of one call: the table's (local indexes with it) and each global index's.

    ``chances`` says how likely a call touches each global index at all: one whose entry does
    not change cannot hold it back (CAP-609).
    """

    table: float
    indexes: dict[str, float]
    chances: dict[str, float]


@dataclass(frozen=True)
class Stored:
    """What is written over: sizes with their shares, in a table and in its indexes by name."""

    items: list[tuple[float, int]]
    entries: dict[str, list[tuple[float, int]]]


class WritePricer:
    """Prices the writes of one pattern, given how likely there is an item already."""

    def __init__(
        self,
        layout: Layout,
        pattern: Pattern,
        maker: ItemMaker,
        row: Sequence[str],
        schemas: Mapping[str, IndexSchema],
    ) -> None:
        self._layout = layout
        self._pattern = pattern
        table = layout.table_of(pattern)
        fields = layout.item_fields(pattern)
        self._indexes = [index for index in table.indexes if index.holds(fields)]
        sizes = pattern.sizes
        moment = float(layout.workload.start)
        self._items: list[tuple[float, Item]] = [
            (share, maker.make(row, moment, size)[1])
            for size, share in zip(sizes.sizes, sizes.shares, strict=True)
        ]
        self._entries = {
            index.name: [
                (share, _entry_bytes(schemas[index.name], item)) for share, item in self._items
            ]
            for index in self._indexes
        }
        self._stored: Stored | None = None
        identity = table.key(pattern.entity).names
        self._changed = (
            frozenset(pattern.changes)
            if not pattern.is_put
            else layout.item_fields(pattern) - identity
        )

    @property
    def item_bytes(self) -> float:
        """The mean size of an item."""
        return sum(share * item.size_bytes for share, item in self._items)

    @property
    def item_sizes(self) -> list[tuple[float, int]]:
        """The sizes of items, with their shares."""
        return [(share, item.size_bytes) for share, item in self._items]

    def entry_sizes(self, index: str) -> list[tuple[float, int]]:
        """The sizes of index entries, with their shares; none if it has no entries there."""
        return self._entries.get(index, [])

    def entry_bytes(self, index: str) -> float:
        """The mean size of an index entry."""
        return sum(share * size for share, size in self._entries[index])

    def price(self, exists: float, stored: Stored | None = None) -> WritePrice:
        """Return the expected units.

        Args:
            exists: The chance that there is an item already.
            stored: What such an item is like; like those written, if None.
        """
        self._stored = stored
        factor = TRANSACTIONAL if self._pattern.is_transaction else 1
        removes = self._pattern.operation == "DeleteItem"
        arms = {
            index.name: self._removal(index, exists) if removes else self._arm(index, exists)
            for index in self._indexes
        }
        local = sum(arms[index.name] for index in self._indexes if not index.is_global)
        table = self._table_units(exists, removes=removes) * factor
        own = [index for index in self._indexes if index.is_global]
        return WritePrice(
            table + local,
            {index.name: arms[index.name] for index in own},
            {index.name: self._chance(index, exists, removes=removes) for index in own},
        )

    def _chance(self, index: IndexLayout, exists: float, *, removes: bool) -> float:
        """Return how likely a write changes an index's entry."""
        if removes:
            return exists
        changes = 1.0 if self._shows_change(index) else self._move_chance(index)
        return exists * changes + (1 - exists)

    def _table_units(self, exists: float, *, removes: bool) -> float:
        fresh = sum(
            share * table_arm(None, None if removes else item.size_bytes)
            for share, item in self._items
        )
        over = sum(
            share * other * table_arm(old, None if removes else new.size_bytes)
            for share, old in self._old_items()
            for other, new in self._items
        )
        return exists * over + (1 - exists) * fresh

    def _old_items(self) -> list[tuple[float, int]]:
        """Return the sizes of items that are written over, with their shares."""
        if self._stored is not None:
            return self._stored.items
        return self.item_sizes

    def _old_entries(self, index: str) -> list[tuple[float, int]]:
        if self._stored is not None:
            return self._stored.entries[index]
        return self._entries[index]

    def _removal(self, index: IndexLayout, exists: float) -> float:
        entries = self._old_entries(index.name)
        return exists * sum(
            share * index_arm(size, None, moved=False, identical=False) for share, size in entries
        )

    def _arm(self, index: IndexLayout, exists: float) -> float:
        entries = self._entries[index.name]
        inserted = sum(
            share * index_arm(None, size, moved=False, identical=False) for share, size in entries
        )
        moves = self._move_chance(index)
        shows = self._shows_change(index)
        over = sum(
            share
            * other
            * (
                moves * index_arm(old, new, moved=True, identical=False)
                + (1 - moves) * index_arm(old, new, moved=False, identical=not shows)
            )
            for share, old in self._old_entries(index.name)
            for other, new in entries
        )
        return exists * over + (1 - exists) * inserted

    def _move_chance(self, index: IndexLayout) -> float:
        """Return how likely a write over an item changes its place in an index."""
        stays = 1.0
        for name in index.key.names & self._changed:
            if name == TIMESTAMP:
                return 1.0
            field = self._layout.workload.field(name)
            if field.unique:
                return 1.0
            pick = self._pattern.pick(field)
            if not isinstance(pick, Sequential):
                stays *= float((pick.probabilities(field.size) ** 2).sum())
        return 1 - stays

    def _shows_change(self, index: IndexLayout) -> bool:
        """Return whether an index entry shows what a write over an item changes."""
        projection = index.design.projection
        if projection == "ALL":
            return True
        included = set() if isinstance(projection, str) else set(projection)
        stored = set(stored_fields(self._layout, self._pattern)) | {PAYLOAD}
        return bool(included & stored & (self._changed | {PAYLOAD}))


def _entry_bytes(schema: IndexSchema, item: Item) -> int:
    entry = entry_of(schema, item, 0)  # its size is the same wherever it lies
    assert entry is not None, "an index that holds the pattern's items has their entries"
    return entry.item.size_bytes


@dataclass(frozen=True)
class PagePrice:
    """What reading some items of a collection takes, per key group.

    Attributes:
        calls: Pages.
        units: Units per page.
        evaluated: Bytes read over all pages.
    """

    calls: Floats
    units: Floats
    evaluated: Floats


def read_factor(pattern: Pattern) -> float:
    """Return what a read unit's worth of bytes costs a pattern."""
    if pattern.is_transaction:
        return TRANSACTIONAL
    return STRONG if pattern.consistent else EVENTUAL


@dataclass(frozen=True)
class SizeMix:
    """The sizes of items that are read: of two kinds, such as what puts and updates leave.

    Attributes:
        low: The size of one kind.
        high: The size of the other.
        share: Of the items that are of the other kind.
    """

    low: float
    high: float
    share: float

    @classmethod
    def of(cls, mean: float, sizes: Sequence[float]) -> SizeMix:
        """Return the sizes of items with a mean, of those that are written.

        >>> SizeMix.of(1000.0, [500.0, 2500.0]).share, SizeMix.of(1000.0, [500.0]).low
        (0.25, 1000.0)
        """
        low, high = min(sizes, default=mean), max(sizes, default=mean)
        if not low < mean < high:
            return cls(mean, mean, 0.0)
        return cls(low, high, (mean - low) / (high - low))

    @property
    def mean(self) -> float:
        """The mean size."""
        return self.low + (self.high - self.low) * self.share

    def units_together(self, items: float, price: Callable[[int], float]) -> float:
        """Return the expected price of the bytes of so many items, drawn one by one.

        >>> SizeMix(300.0, 3000.0, 0.5).units_together(2, lambda size: size / 1000)
        3.3
        """
        whole = math.floor(items)
        rest = items - whole
        units = (1 - rest) * self._units_of(whole, price)
        return units + (rest * self._units_of(whole + 1, price) if rest else 0.0)

    def _units_of(self, items: int, price: Callable[[int], float]) -> float:
        units, odds = 0.0, self.share / (1 - self.share)
        chance = (1 - self.share) ** items
        for number in range(items + 1):
            size = self.low * (items - number) + self.high * number
            units += chance * price(math.ceil(size - _ROUNDING))
            chance *= odds * (items - number) / (number + 1)
        return units


def point_units(pattern: Pattern, sizes: SizeMix, hits: float) -> float:
    """Return the units of reading one item that is there with chance ``hits``."""
    miss = read_units(0)
    own = (1 - sizes.share) * read_units(round(sizes.low))
    own += sizes.share * read_units(round(sizes.high))
    return (hits * own + (1 - hits) * miss) * read_factor(pattern)


def price_pages(path: AccessPath, items: Floats, sizes: SizeMix, base_bytes: float) -> PagePrice:
    """Return what it takes to read ``items`` items from one collection each.

    Args:
        path: The way they are read.
        items: How many, per key group.
        sizes: The sizes of the items or index entries.
        base_bytes: The size of the items that a local index has to fetch besides; 0 for none.
    """
    if path.has_limit and path.pattern.items is not None:
        items = np.minimum(items, path.pattern.items)
    evaluated = items * sizes.mean
    page_items = max(1.0, np.ceil(limits.PAGE_BYTES / max(sizes.mean, 1.0)))
    calls = np.maximum(1.0, np.ceil(items / page_items))
    price = partial(page_units, factor=read_factor(path.pattern))
    if 0 < sizes.share < 1 and items.max(initial=0.0) <= _FEW_ITEMS:
        distinct, number_of = np.unique(items, return_inverse=True)
        own = [sizes.units_together(number, price) for number in distinct.tolist()]
        units = np.asarray(own)[number_of]
    else:
        units = _by_value(evaluated / calls, price)
    if base_bytes:
        per_item = fetch_units((round(base_bytes),), read_factor(path.pattern))
        units = units + items / calls * per_item
    return PagePrice(calls, units, evaluated)


def _by_value(sizes: Floats, price: Callable[[int], float]) -> Floats:
    """Apply a price of whole bytes, which more bytes never lower, once per distinct size."""
    whole = np.ceil(sizes - _ROUNDING).astype(np.int64)
    least, most = (price(int(size)) for size in (whole.min(), whole.max()))
    if least == most:
        return np.full(len(whole), least)
    distinct, number_of = np.unique(whole, return_inverse=True)
    return np.asarray([price(int(size)) for size in distinct.tolist()])[number_of]
