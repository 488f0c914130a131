"""Prices: what one call of a pattern is expected to cost, from the capacity room's formulas.

Sizes come from items made as the exact engine makes them, so both engines price the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
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

#: Sizes with the share of items that have them; None where there is no item.
Mixed = Sequence[tuple[float, int]]
_Sizes = Sequence[tuple[float, int]] | Sequence[tuple[float, None]]
#: The units of a write, given the sizes before and after.
_Arm = Callable[[int | None, int | None], int]

#: Where there is no item.
_NO_ITEM: Final = ((1.0, None),)
#: The units of an index whose entry moves, and of one whose entry changes in its place.
_MOVING: Final = partial(index_arm, moved=True, identical=False)
_STAYING: Final = partial(index_arm, moved=False, identical=False)
#: Bytes that are none.
_ROUNDING: Final = 1e-9
#: Of more items than these the bytes are hardly uncertain.
_FEW_ITEMS: Final = 64
#: Digits of the share of one of two sizes.
_SHARE_DIGITS: Final = 3


@dataclass(frozen=True)
class Overwritten:
    """The items that are written over: sizes in a table, and in its indexes by name."""

    items: Mixed
    entries: Mapping[str, Mixed]


@dataclass(frozen=True)
class WritePrice:
    """The units of a write, if it meets no item and if it meets one: of both the first is fresh.

    Attributes:
        table: Units that it takes of the table, local indexes with it.
        indexes: Units that it takes of each global index, by name.
        touches: How likely it changes an entry of each of these at all: one whose entry stays as
            it is cannot hold it back (CAP-609).
    """

    table: tuple[float, float]
    indexes: dict[str, tuple[float, float]]
    touches: dict[str, tuple[float, float]]


def between(pair: tuple[float, float], exists: Floats) -> Floats:
    """Return the mean of two amounts, by how likely there is an item already.

    >>> between((1.0, 3.0), np.array([0.0, 0.5])).tolist()
    [1.0, 2.0]
    """
    fresh, over = pair
    return fresh + (over - fresh) * exists


class WritePricer:
    """Prices the writes of one pattern."""

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
        moment = float(layout.workload.start)
        self._items: list[tuple[float, Item]] = [
            (share, maker.make(row, moment, size)[1])
            for size, share in zip(pattern.sizes.sizes, pattern.sizes.shares, strict=True)
        ]
        #: The sizes of items, and of their entries in each index.
        self.item_sizes: Mixed = [(share, item.size_bytes) for share, item in self._items]
        self._entries = {
            index.name: [
                (share, _entry_bytes(schemas[index.name], item)) for share, item in self._items
            ]
            for index in self._indexes
        }
        identity = table.key(pattern.entity).names
        self._changed = frozenset(pattern.changes)
        if pattern.is_put:
            self._changed = layout.item_fields(pattern) - identity

    @property
    def item_bytes(self) -> float:
        """The mean size of an item."""
        return mean_size(self.item_sizes)

    def entry_sizes(self, index: str) -> Mixed:
        """Return the sizes of index entries; none if the pattern's items have none there."""
        return self._entries.get(index, [])

    def price(self, stored: Overwritten | None = None) -> WritePrice:
        """Return the units of a write.

        Args:
            stored: The sizes of an item that is met; those of items written, if None.
        """
        old = stored or Overwritten(self.item_sizes, self._entries)
        factor = TRANSACTIONAL if self._pattern.is_transaction else 1
        new = _NO_ITEM if self._removes else self.item_sizes
        fresh, over = (factor * _expected(table_arm, own, new) for own in (_NO_ITEM, old.items))
        arms = {index: self._arms(index, old.entries[index.name]) for index in self._indexes}
        local = [arm for index, arm in arms.items() if not index.is_global]
        return WritePrice(
            (fresh + sum(arm[0] for arm in local), over + sum(arm[1] for arm in local)),
            {index.name: arm for index, arm in arms.items() if index.is_global},
            {index.name: self._touches(index) for index in arms if index.is_global},
        )

    @property
    def _removes(self) -> bool:
        return self._pattern.operation == "DeleteItem"

    def _arms(self, index: IndexLayout, old: Mixed) -> tuple[float, float]:
        """Return the units that a write takes of an index, without an item before and with one."""
        if self._removes:
            return 0.0, _expected(_STAYING, old, _NO_ITEM)
        new, moves = self._entries[index.name], self._move_chance(index)
        over = moves * _expected(_MOVING, old, new)
        if self._shows_change(index):
            over += (1 - moves) * _expected(_STAYING, old, new)
        return _expected(_STAYING, _NO_ITEM, new), over

    def _touches(self, index: IndexLayout) -> tuple[float, float]:
        if self._removes:
            return 0.0, 1.0
        return 1.0, 1.0 if self._shows_change(index) else self._move_chance(index)

    def _move_chance(self, index: IndexLayout) -> float:
        """Return how likely a write over an item changes its place in an index."""
        stays = 1.0
        for name in index.key.names & self._changed:
            if name == TIMESTAMP or self._layout.workload.field(name).unique:
                return 1.0
            field = self._layout.workload.field(name)
            pick = self._pattern.pick(field)
            if name in self._pattern.changes and field.size > 1:
                return 1.0
            if not isinstance(pick, Sequential):
                stays *= pick.repeated(field.size)
        return 1 - stays

    def _shows_change(self, index: IndexLayout) -> bool:
        """Return whether an index entry shows what a write over an item changes."""
        projection = index.design.projection
        if projection == "ALL":
            return True
        included = set() if isinstance(projection, str) else set(projection)
        stored = set(stored_fields(self._layout, self._pattern)) | {PAYLOAD}
        return bool(included & stored & (self._changed | {PAYLOAD}))


def _expected(arm: _Arm, old: _Sizes, new: _Sizes) -> float:
    """Return the mean units of writes over items of some sizes by items of others."""
    units = _units_of_pairs(arm, tuple(size for _, size in old), tuple(size for _, size in new))
    return float(np.asarray([own for own, _ in old]) @ units @ np.asarray([own for own, _ in new]))


@lru_cache(maxsize=256)
def _units_of_pairs(arm: _Arm, old: tuple[int | None, ...], new: tuple[int | None, ...]) -> Floats:
    return np.asarray([[float(arm(before, after)) for after in new] for before in old])


def mean_size(sizes: Mixed) -> float:
    """Return the mean of sizes with their shares.

    >>> mean_size([(0.25, 400), (0.75, 800)])
    700.0
    """
    return sum(share * size for share, size in sizes)


def _entry_bytes(schema: IndexSchema, item: Item) -> int:
    entry = entry_of(schema, item, 0)  # its size is the same wherever it lies
    assert entry is not None, "an index that holds the pattern's items has their entries"
    return entry.item.size_bytes


def read_factor(pattern: Pattern) -> float:
    """Return the units that a pattern pays for a read unit's worth of bytes."""
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

    def units_together(self, items: Floats, factor: float) -> Floats:
        """Return the expected units of a page with some items, drawn one by one.

        >>> SizeMix(300.0, 3000.0, 0.5).units_together(np.array([0.0, 1.0, 2.5]), 1).tolist()
        [1.0, 1.0, 1.4375]
        """
        share = round(self.share, _SHARE_DIGITS)
        table = _units_of_few(self.low, self.high, share, factor)
        return np.interp(items, np.arange(len(table)), table)


@lru_cache(maxsize=1024)
def _units_of_few(low: float, high: float, share: float, factor: float) -> Floats:
    """Return the expected units of a page with 0, 1, 2, ... items of two sizes."""
    items, of_high, ways = _drawn_of_few()
    chances = ways * share**of_high * (1 - share) ** (items - of_high)
    table: Floats = (chances * _units_by_count(low, high, factor)).sum(axis=1)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=1)
def _drawn_of_few() -> tuple[Floats, Floats, Floats]:
    """Return items, how many of them are of one kind, and in how many ways: 0 for impossible."""
    items, of_high = np.indices((_FEW_ITEMS + 2, _FEW_ITEMS + 2)).astype(np.float64)
    ways = np.vectorize(math.comb, otypes=[float])(items.astype(int), of_high.astype(int))
    return items, np.minimum(of_high, items), ways


@lru_cache(maxsize=64)
def _units_by_count(low: float, high: float, factor: float) -> Floats:
    """Return the units of a page by its items, and how many of them are of one kind."""
    items, of_high, _ = _drawn_of_few()
    sizes = np.ceil(low * (items - of_high) + high * of_high - _ROUNDING)
    return units_of_pages(sizes, factor)


def point_units(pattern: Pattern, sizes: SizeMix, hits: float) -> float:
    """Return the units of reading one item that is there with chance ``hits``."""
    own = (1 - sizes.share) * read_units(round(sizes.low))
    own += sizes.share * read_units(round(sizes.high))
    return (hits * own + (1 - hits) * read_units(0)) * read_factor(pattern)


@dataclass(frozen=True)
class PagePrice:
    """The price of reading some items of a collection, by read.

    Attributes:
        calls: Pages.
        units: Units per page.
        evaluated: Bytes read per page.
    """

    calls: Floats
    units: Floats
    evaluated: Floats


def price_pages(path: AccessPath, items: Floats, sizes: SizeMix, base_bytes: float) -> PagePrice:
    """Return the price of reading items from one collection each.

    Args:
        path: The way they are read.
        items: How many, by read.
        sizes: The sizes of the items or index entries.
        base_bytes: The size of the items that a local index has to fetch besides; 0 for none.
    """
    if path.has_limit and path.pattern.items is not None:
        items = np.minimum(items, path.pattern.items)
    evaluated = items * sizes.mean
    page_items = max(1.0, np.ceil(limits.PAGE_BYTES / max(sizes.mean, 1.0)))
    calls = np.maximum(1.0, np.ceil(items / page_items))
    if 0 < sizes.share < 1 and items.max(initial=0.0) <= _FEW_ITEMS:
        units = sizes.units_together(items, read_factor(path.pattern))
    else:
        units = units_of_pages(np.ceil(evaluated / calls - _ROUNDING), read_factor(path.pattern))
    if base_bytes:
        per_item = fetch_units((round(base_bytes),), read_factor(path.pattern))
        units = units + items / calls * per_item
    return PagePrice(calls, units, evaluated / calls)


def units_of_pages(sizes: Floats, factor: float) -> Floats:
    """Return the units of pages, whose price is the same within a block.

    >>> units_of_pages(np.array([0.0, 4096.0, 4097.0]), 0.5).tolist()
    [0.5, 0.5, 1.0]
    """
    blocks = np.ceil(sizes / limits.READ_BLOCK_BYTES).astype(np.int64)
    known, place = np.unique(blocks, return_inverse=True)
    units = [page_units(block * limits.READ_BLOCK_BYTES, factor) for block in known.tolist()]
    return np.asarray(units, dtype=np.float64)[place.reshape(sizes.shape)]
