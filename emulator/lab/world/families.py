"""Families: the keys that one template makes on a table or index, and where they lie.

A key that could come to fill a stated share of a partition is followed by itself: it is hashed in
every world as the emulator hashes it. All others are taken together, in groups of like popularity.
Of a group each world knows how many of its keys lie in each partition, drawn as hashing would
place them. What follows from it costs followed keys and partitions, and not keys.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.key_traits import fixed_parts, is_in_order, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.lab.world.bins import NEW_VALUE, Cells
from emulator.lab.world.contents import JOINT, EntryKey
from emulator.storage import HASH_SPACE, Position, hashed_bytes, placement_digests

WorldColumn: TypeAlias = Annotated[Floats, "world", "column"]
WorldSlot: TypeAlias = Annotated[Floats, "world", "slot"]
Templates: TypeAlias = tuple[KeyTemplate, ...]

#: A key is followed by itself if its demand can reach this share of what a partition serves.
#: ``python -m benchmarks.followed_keys`` measures what this leaves out (decision 71).
FOLLOWED_SHARE: Final = 0.01
#: The most popular keys are followed in any case, for the report.
REPORTED_KEYS: Final = 10
#: Groups of the other keys, at most.
MOST_GROUPS: Final = 64
#: Positions that the items of one key are told apart by, when it is asked where to cut.
_PROFILE: Final = 64
#: Items that stand for all that a heavy cell writes: each write makes another one.
_WRITTEN: Final = 8
_HEAVY: Final = 0.1


class Placement:
    """By which key the cells of a pattern fall on one table or index.

    Attributes:
        resource: The number of the table or index among those of the design.
        axis: Reads or writes.
        cells: The cells.
        partition: The templates of the partition key.
        is_spread: Whether the partition key is new every time, so that keys fall anywhere.
        in_order: Whether sort keys within one partition key are written in ascending order.
        is_unbounded: Whether a cell can stand for any number of items.
        step: How many seconds the partition keys stay where they are; None for ever.
        moves: Whether other values become popular in that time.
    """

    def __init__(
        self,
        resource: int,
        axis: int,
        key: KeyLayout,
        cells: Cells,
        workload: Workload,
        *,
        is_spread: bool,
        ages: Floats | None = None,
        ties: Templates = (),
    ) -> None:
        """Place cells.

        Args:
            resource: See above, and so for ``axis``, ``cells`` and ``is_spread``.
            axis: Reads or writes.
            key: The key.
            cells: The cells.
            workload: Their workload.
            is_spread: Whether the partition key is new every time.
            ages: Of requests that range over time, how many seconds ago each cell's stretch is.
            ties: The order of entries with the same key: the key of their items.
        """
        self.resource = resource
        self.axis = axis
        self.cells = cells
        self.partition = key.partition
        self.is_spread = is_spread
        ordered = KeyLayout(key.partition, (*key.sort, *ties))
        self.in_order = is_in_order(ordered, workload)
        self.is_unbounded = is_unbounded(ordered, workload)
        steps = [own.step_seconds for own in key.partition if own.step_seconds is not None]
        moves = [
            own
            for name in {name for template in key.partition for name in template.names}
            if name != TIMESTAMP and (own := workload.moves_of(name)) is not None
        ]
        self.step = None if is_spread else min([*steps, *moves], default=None)
        self.moves = bool(moves)
        self._sort = ordered.sort
        self._fixed_sort = _fixed_templates(key, workload)
        self._start = float(workload.start)
        self._ages = ages

    @property
    def signature(self) -> object:
        """The mark that tells families of keys apart."""
        parts = tuple(template.parts for template in self.partition)
        ages = None if self._ages is None else len(np.unique(self._ages))
        return self.resource, parts, self.is_spread, ages

    def step_at(self, moment: float) -> float | None:
        """Return which step of time the partition keys are of."""
        return None if self.step is None else moment // max(self.step, 1.0)

    def partitions(self, moment: float) -> list[tuple[str, ...]]:
        """Return the partition key of each cell at a moment."""
        cells = self.cells
        if self.is_spread:
            return [(NEW_VALUE,)] * len(cells)
        if self._ages is None:
            return _rendered(self.partition, cells.columns, cells.rows, moment)
        keys: list[tuple[str, ...]] = [()] * len(cells)
        for age in np.unique(self._ages).tolist():
            own = np.flatnonzero(self._ages == age).tolist()
            rows = [cells.rows[cell] for cell in own]
            texts = _rendered(self.partition, cells.columns, rows, moment - age)
            for cell, text in zip(own, texts, strict=True):
                keys[cell] = text
        return keys

    def identities(self, moment: float) -> list[tuple[str, ...]]:
        """Return by what the partition key of each cell is placed, however values are spelled."""
        own = self.cells.identified
        if own is self.cells or self.is_spread:
            return self.partitions(moment)
        if self._ages is None:
            return _rendered(self.partition, own.columns, own.rows, moment)
        return [
            _rendered(self.partition, own.columns, [row], moment - age)[0]
            for row, age in zip(own.rows, self._ages.tolist(), strict=True)
        ]

    def rendered(self, rows: Sequence[tuple[str, ...]], moment: float) -> list[tuple[str, ...]]:
        """Return the partition keys of combinations at a moment."""
        return _rendered(self.partition, self.cells.columns, rows, moment)

    def entry_keys(self, partitions: Sequence[tuple[str, ...]]) -> list[EntryKey]:
        """Return by what the items of each cell are found."""
        cells = self.cells
        sorts = _rendered(self._fixed_sort, cells.columns, cells.rows, self._start)
        new = self.is_spread
        return [
            (JOINT.join(text), new, JOINT.join(sort))
            for text, sort in zip(partitions, sorts, strict=True)
        ]

    @cached_property
    def collections(self) -> Floats:
        """How many item collections each cell stands for."""
        return self.cells.multiples(self.partition)

    @cached_property
    def entries(self) -> Floats:
        """How many entries each cell stands for."""
        return self.cells.multiples((*self.partition, *self._fixed_sort))

    def profile(self, own: Integers) -> tuple[list[tuple[str, ...]], Floats]:
        """Return some sort keys of cells with one partition key, in order, and their shares.

        Args:
            own: The cells.
        """
        cells, weights = self.cells, self.cells.shares[own] / self.cells.shares[own].sum()
        alike = cells.multiples(self._sort)
        is_random = any(
            field is not None and field.unique == "random" and field.name in template.fields
            for template in self._sort
            for field in cells.fields
        )
        shares: dict[tuple[str, ...], float] = {}
        for cell, weight in zip(own.tolist(), weights.tolist(), strict=True):
            points = 1
            if is_random or alike[cell] > 1:
                points = max(1, round(_PROFILE * weight))
            rows = cells.members(cell, points)
            for text in _rendered(self._sort, cells.columns, rows, self._start):
                shares[text] = shares.get(text, 0.0) + weight / points
        sorts = sorted(shares)
        return _merged(sorts, np.asarray([shares[text] for text in sorts]))


def _merged(sorts: list[tuple[str, ...]], shares: Floats) -> tuple[list[tuple[str, ...]], Floats]:
    """Return sort keys in order with light neighbours as one, where there are many."""
    if len(sorts) <= 2 * _PROFILE:
        return sorts, shares
    piece = np.floor((np.cumsum(shares) - shares / 2) * _PROFILE)
    starts = np.flatnonzero(np.diff(piece, prepend=-1))
    return [sorts[at] for at in starts.tolist()], np.add.reduceat(shares, starts)


def _rendered(
    templates: Templates,
    columns: Mapping[str, int],
    rows: Sequence[tuple[str, ...]],
    moment: float,
) -> list[tuple[str, ...]]:
    texts = [template.texts(columns, rows, moment) for template in templates]
    return list(zip(*texts, strict=True)) if texts else [()] * len(rows)


def _fixed_templates(key: KeyLayout, workload: Workload) -> Templates:
    """Return the beginning of the sort key that no moment or new value changes."""
    templates = []
    for template in key.sort:
        parts, whole = fixed_parts(template, workload)
        if parts:
            templates.append(KeyTemplate("", parts))
        if not whole:
            break
    return tuple(templates)


@dataclass(frozen=True, eq=False)
class Columns:
    """The followed keys and the groups of a family: the columns of its arrays, keys first.

    Attributes:
        keys: The followed keys.
        hashed: By what each of them is placed.
        sizes: How many keys each group has; infinite where keys are new every time.
        of_cells: By placement, the column of each cell.
        partitions: By placement, the partition key of each cell.
        moment: When keys that have a time were written.
    """

    keys: list[tuple[str, ...]]
    hashed: list[bytes]
    sizes: Annotated[Floats, "group"]
    of_cells: dict[Placement, Integers]
    partitions: dict[Placement, list[tuple[str, ...]]]
    moment: float
    #: By placement and key, some of its sort keys and their shares.
    profiles: dict[tuple[Placement, int], tuple[list[tuple[str, ...]], Floats]] = field(
        default_factory=dict
    )
    _masses: dict[Placement, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys) + len(self.sizes)

    def sums(self, placement: Placement, amounts: Floats) -> Floats:
        """Return amounts by cell as amounts by column; the last axis is cells."""
        at = self.of_cells[placement]
        if amounts.ndim == 1:
            return sums(at, amounts, len(self))
        return np.stack([sums(at, own, len(self)) for own in amounts])

    def mass(self, placement: Placement) -> Annotated[Floats, "column"]:
        """Return the share of a placement's requests that each column has."""
        if placement not in self._masses:
            self._masses[placement] = self.sums(placement, placement.cells.shares)
        return self._masses[placement]

    def some_of(self, group: int, most: int) -> list[tuple[str, ...]]:
        """Return some keys of a group."""
        found: dict[tuple[str, ...], None] = {}
        column = len(self.keys) + group
        for placement, at in self.of_cells.items():
            for cell in np.flatnonzero(at == column)[:most].tolist():
                if placement.is_spread or len(found) >= most:
                    return list(found)
                count = min(most - len(found), int(placement.collections[cell]))
                rows = placement.cells.members(cell, count)
                found.update(dict.fromkeys(placement.rendered(rows, self.moment)))
        return list(found)

    @classmethod
    def of(cls, demands: Mapping[Placement, float], moment: float) -> Columns:
        """Return the columns of a family at a moment.

        Args:
            demands: Its placements, with what all calls of the pattern ask for at most, as a
                multiple of what a partition serves.
            moment: In seconds since the epoch.
        """
        numbers: dict[tuple[str, ...], int] = {}
        partitions = {placement: placement.partitions(moment) for placement in demands}
        of_keys = {
            placement: np.asarray([numbers.setdefault(text, len(numbers)) for text in texts])
            for placement, texts in partitions.items()
        }
        if next(iter(demands)).is_spread:
            zeros = {placement: np.zeros_like(at) for placement, at in of_keys.items()}
            return cls([], [], np.asarray([np.inf]), zeros, partitions, moment)
        alike, asked = np.ones(len(numbers)), np.zeros(len(numbers))
        for placement, at in of_keys.items():
            np.maximum.at(alike, at, placement.collections)
            asked += sums(at, placement.cells.shares * demands[placement], len(numbers))
        is_single = alike == 1
        single = np.flatnonzero(is_single)
        popular = single[np.argsort(-asked[single], kind="stable")[:REPORTED_KEYS]]
        is_followed = is_single & (asked >= FOLLOWED_SHARE)
        is_followed[popular] = True
        column = np.empty(len(numbers), dtype=np.int64)
        followed = np.flatnonzero(is_followed)
        column[followed] = np.arange(len(followed))
        others = np.flatnonzero(~is_followed)
        group, sizes = _grouped(asked[others] / alike[others], alike[others])
        column[others] = len(followed) + group
        texts = list(numbers)
        identities: dict[tuple[str, ...], tuple[str, ...]] = {}
        for placement, own in partitions.items():
            for text, identity in zip(own, placement.identities(moment), strict=True):
                identities.setdefault(text, identity)
        keys = [texts[number] for number in followed.tolist()]
        return cls(
            keys,
            [hashed_bytes(identities[key]) for key in keys],
            sizes,
            {placement: column[at] for placement, at in of_keys.items()},
            partitions,
            moment,
        )


def _grouped(popularity: Floats, counts: Floats) -> tuple[Integers, Floats]:
    """Return the group of each kind of key, and how many keys each group has.

    Args:
        popularity: Of one key of each kind.
        counts: How many keys each kind has.
    """
    if not len(counts):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    logs = np.log(np.maximum(popularity, np.finfo(np.float64).tiny))
    width = max((logs.max() - logs.min()) / MOST_GROUPS, 1e-6)
    steps = np.minimum((logs - logs.min()) // width, MOST_GROUPS - 1)
    _, group = np.unique(steps, return_inverse=True)
    total = sums(group, counts * popularity, int(group.max()) + 1)
    squares = sums(group, counts * popularity**2, int(group.max()) + 1)
    # As many even keys as vary as much from partition to partition.
    even = np.divide(total**2, squares, out=sums(group, counts, len(total)), where=squares > 0)
    return group, np.maximum(1.0, np.round(even))


class Family:
    """The keys of one template on one table or index.

    Attributes:
        number: Tells its draws from those of others.
        placements: Whose keys they are.
        resource: The number of the table or index.
    """

    def __init__(self, number: int, demands: Mapping[Placement, float]) -> None:
        self.number = number
        self.demands = dict(demands)
        self.placements = tuple(demands)
        self.resource = self.placements[0].resource
        self._known: tuple[float | None, Columns] | None = None

    @property
    def step(self) -> float | None:
        """How many seconds its keys stay the same; None for ever."""
        return self.placements[0].step

    def periods(self, moment: float, shift: int) -> int:
        """Return how many times its keys have been placed again since the first run.

        Args:
            moment: In seconds since the epoch.
            shift: How many seconds later than in the first run its keys are.
        """
        if self.step is None:
            return 0
        step = max(self.step, 1.0)
        return int(shift // step) + (int(moment // step) if self.placements[0].moves else 0)

    def columns(self, moment: float) -> Columns:
        """Return the columns at a moment; the same object while keys are the same."""
        step = self.placements[0].step_at(moment)
        if self._known is None or self._known[0] != step:
            self._known = step, Columns.of(self.demands, moment)
        return self._known[1]


@dataclass(frozen=True)
class Cut:
    """A partition of one world that became several.

    Attributes:
        world: The world.
        resource: The number of the table or index.
        parent: The slot of the partition that is gone.
        children: The slots of those that took its place, in key order.
        lows: Where each of them begins.
        high: Where the last one ends.
    """

    world: int
    resource: int
    parent: int
    children: Sequence[int]
    lows: Sequence[Position]
    high: Position

    @property
    def widths(self) -> Floats:
        """The share of the parent's hashes that each child has."""
        firsts = [low[0] for low in (*self.lows, self.high)]
        widths = np.diff(np.asarray(firsts, dtype=np.float64))
        total = widths.sum()
        return np.asarray(widths / total) if total else np.eye(len(widths))[0]


#: Returns the slots of a world's partitions in key order, and where these begin.
SlotsOf: TypeAlias = Callable[[int], tuple[Integers, Sequence[Position]]]


@dataclass(eq=False)
class Places:
    """Where the columns of a family lie, in every world.

    Attributes:
        family: The family.
        columns: Its columns.
        salts: By world, the salt of the hash.
        periods: By world, how many periods later than in the first run its keys are.
        hashes: By world and key.
        slots: By world and key, the slot of the partition where the key begins.
        parts: By world, group and slot, the share of the group's keys that lies there.
        divided: By world and key, where the parts of a key begin that lies in several partitions.
    """

    family: Family
    columns: Columns
    salts: Sequence[int]
    periods: Sequence[int]
    hashes: Annotated[Integers, "world", "key"]
    slots: Annotated[Integers, "world", "key"]
    parts: Annotated[Floats, "world", "group", "slot"]
    divided: dict[tuple[int, int], list[tuple[Position, int]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        family: Family,
        columns: Columns,
        salts: Sequence[int],
        shifts: Sequence[int],
        slots_of: SlotsOf,
        room: int,
    ) -> Places:
        """Place the columns of a family in every world.

        Args:
            family: The family.
            columns: Its columns.
            salts: By world, the salt of the hash.
            shifts: By world, how many seconds later than in the first run its keys are.
            slots_of: Tells the partitions of a world.
            room: How many slots there are.
        """
        worlds, hashed = len(salts), columns.hashed
        hashes = np.zeros((worlds, len(hashed)), dtype=np.uint64)
        parts = np.zeros((worlds, len(columns.sizes), room))
        slots = np.zeros((worlds, len(hashed)), dtype=np.int64)
        periods = [family.periods(columns.moment, shift) for shift in shifts]
        places = cls(family, columns, salts, periods, hashes.view(np.int64), slots, parts)
        for world, (salt, period) in enumerate(zip(salts, periods, strict=True)):
            hashes[world] = hashes_in(hash_keys(hashed, salt), period)
            own, lows = slots_of(world)
            firsts = np.asarray([low[0] for low in lows], dtype=np.uint64)
            slots[world] = own[np.searchsorted(firsts, hashes[world], side="right") - 1]
            places._find_divided(world, own, lows)
            widths = np.diff(np.asarray([*(low[0] for low in lows), HASH_SPACE], dtype=np.float64))
            later = [period] if period else []
            rng = np.random.default_rng([salt, family.number, _PLACES, *later])
            for group, size in enumerate(columns.sizes.tolist()):
                parts[world, group, own] += _drawn(size, widths / widths.sum(), rng)
        return places

    def _find_divided(self, world: int, own: Integers, lows: Sequence[Position]) -> None:
        """Find the keys that bounds lie in, which have more than a hash."""
        for low in lows:
            if len(low) > 1:
                length = 1 + len(self.family.placements[0].partition)
                for key in np.flatnonzero(self._unsigned[world] == np.uint64(low[0])).tolist():
                    begin = (low[0], *self.columns.keys[key])
                    at = bisect_right(lows, begin) - 1
                    self.slots[world, key] = own[at]
                    inside = [n for n, bound in enumerate(lows) if bound[:length] == begin]
                    parts = [(lows[n], int(own[n])) for n in inside if len(lows[n]) > length]
                    if parts:
                        self.divided[world, key] = parts

    @property
    def _unsigned(self) -> Annotated[Integers, "world", "key"]:
        return self.hashes.view(np.uint64)

    def position(self, world: int, key: int) -> Position:
        """Return where a followed key begins."""
        return (int(self._unsigned[world, key]), *self.columns.keys[key])

    def by_slot(self, placement: Placement, amounts: WorldColumn, worlds: Integers) -> WorldSlot:
        """Return amounts by column as amounts by slot.

        Args:
            placement: Whose they are: a key that lies in several partitions is divided as the
                sort keys of its cells are.
            amounts: By world, or one row for all of them, and column.
            worlds: The worlds that are wanted.
        """
        keys, room = len(self.columns.keys), self.parts.shape[2]
        slots = self.slots[worlds]
        own = np.broadcast_to(amounts[:, :keys], slots.shape)
        at = (np.arange(len(worlds))[:, None] * room + slots).ravel()
        found = sums(at, own.ravel(), len(worlds) * room).reshape(len(worlds), room)
        if len(self.columns.sizes):
            found += np.einsum(
                "wg,wgs->ws",
                np.broadcast_to(amounts[:, keys:], (len(worlds), self.parts.shape[1])),
                self.parts[worlds],
            )
        for world, key in self.divided:
            for row in np.flatnonzero(worlds == world).tolist():
                found[row, self.slots[world, key]] -= own[row, key]
                for slot, share in self.shares_of(placement, world, key):
                    found[row, slot] += own[row, key] * share
        return found

    def in_slot(self, placement: Placement, world: int, slot: int) -> tuple[Integers, Floats]:
        """Return the columns that a slot of a world has some of, and of each its share there."""
        keys = np.flatnonzero(self.slots[world] == slot)
        share = dict.fromkeys(keys.tolist(), 1.0)
        for other, key in self.divided:
            if other == world:
                share[key] = dict(self.shares_of(placement, world, key)).get(slot, 0.0)
        groups = np.flatnonzero(self.parts[world, :, slot])
        columns = [*share, *(groups + len(self.columns.keys)).tolist()]
        parts = [*share.values(), *self.parts[world, groups, slot].tolist()]
        return np.asarray(columns, dtype=np.int64), np.asarray(parts)

    def by_column(self, ratios: WorldSlot, worlds: Integers) -> WorldColumn:
        """Return for each column the mean of what there is a figure of for every slot."""
        followed = np.take_along_axis(ratios, self.slots[worlds], axis=1)
        groups = np.einsum("wgs,ws->wg", self.parts[worlds], ratios)
        return np.concatenate([followed, groups], axis=1)

    def shares_of(self, placement: Placement, world: int, key: int) -> Iterable[tuple[int, float]]:
        """Return the slots that a divided key lies in, with their shares of a pattern's calls."""
        parts = self.divided[world, key]
        slots = [int(self.slots[world, key]), *(slot for _, slot in parts)]
        lows, begin = [low for low, _ in parts], self.position(world, key)
        sorts, shares = self.profile(placement, key)
        at = [bisect_right(lows, (*begin, *sort)) for sort in sorts]
        return list(zip(slots, sums(np.asarray(at), shares, len(slots)).tolist(), strict=True))

    def profile(self, placement: Placement, key: int) -> tuple[list[tuple[str, ...]], Floats]:
        """Return some sort keys of a followed key in a pattern's calls, and their shares."""
        known = self.columns.profiles
        if (placement, key) not in known:
            cells = np.flatnonzero(self.columns.of_cells[placement] == key)
            known[placement, key] = placement.profile(cells) if len(cells) else ([()], np.ones(1))
        return known[placement, key]

    def items(self, placement: Placement, key: int) -> tuple[list[tuple[str, ...]], Floats]:
        """Return the profile of a key that is written, a heavy cell as several items."""
        sorts, shares = self.profile(placement, key)
        if not placement.is_unbounded or not sorts[0]:
            return sorts, shares
        count = np.where(shares > _HEAVY, _WRITTEN, 1)
        texts = [
            sort if times == 1 else (*sort[:-1], f"{sort[-1]}{number:03d}")
            for sort, times in zip(sorts, count.tolist(), strict=True)
            for number in range(times)
        ]
        return texts, np.repeat(shares / count, count)

    def divide(self, cut: Cut) -> None:
        """Let the children of a partition have its keys."""
        world, lows = cut.world, list(cut.lows)
        for key in np.flatnonzero(self.slots[world] == cut.parent).tolist():
            begin = self.position(world, key)
            self.slots[world, key] = cut.children[max(0, bisect_right(lows, begin) - 1)]
        moved = self.parts[world, :, cut.parent].copy()
        self.parts[world, :, cut.parent] = 0.0
        rng = np.random.default_rng([self.salts[world], self.family.number, *_words(lows[-1][0])])
        for group, share in enumerate(moved.tolist()):
            if share:
                size = float(self.columns.sizes[group]) * share
                own = _drawn(round(size) if np.isfinite(size) else size, cut.widths, rng)
                self.parts[world, group, list(cut.children)] = share * own
        self._divide_keys(cut)

    def _divide_keys(self, cut: Cut) -> None:
        """Note the keys that the cut has divided, and follow those that were divided before."""
        world, length = cut.world, 1 + len(self.family.placements[0].partition)
        for low, slot in zip(cut.lows, cut.children, strict=True):
            if len(low) > length:
                for key in np.flatnonzero(self._unsigned[world] == np.uint64(low[0])).tolist():
                    if self.columns.keys[key] == low[1:length]:
                        parts = self.divided.setdefault((world, key), [])
                        parts[:] = sorted([own for own in parts if own[0] != low] + [(low, slot)])
        for (other, _), parts in self.divided.items():
            if other == world:
                parts[:] = [
                    (low, cut.children[0] if slot == cut.parent else slot) for low, slot in parts
                ]

    def grow(self, room: int) -> None:
        """Make room for more slots."""
        added = np.zeros((*self.parts.shape[:2], room - self.parts.shape[2]))
        self.parts = np.concatenate([self.parts, added], axis=2)


_PLACES: Final = 1


def _words(number: int) -> tuple[int, int]:
    return number >> 32, number & 0xFFFFFFFF


def _drawn(size: float, widths: Floats, rng: np.random.Generator) -> Floats:
    """Return the share of some keys that hashing places in stretches of these widths."""
    if not np.isfinite(size) or size <= 0:
        return widths
    return np.asarray(rng.multinomial(int(size), widths) / size)


def hashes_in(hashes: Integers, period: Integers | int) -> Integers:
    """Return the hashes of keys that are other keys in every period, from those in the first.

    >>> hashes = hash_keys([b"Sabc"], 0)
    >>> hashes_in(hashes, 0) == hashes, hashes_in(hashes, 1).tolist()
    (array([ True]), [2015159966987531458])
    """
    number = np.asarray(period, dtype=np.uint64)
    mixed = hashes.astype(np.uint64) + number * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.where(number > 0, mixed ^ (mixed >> np.uint64(31)), hashes)


def hash_keys(hashed: Iterable[bytes], salt: int) -> Integers:
    """Return the hash of each partition key in worlds with that salt, given what is hashed.

    >>> hash_keys([b"Sabc"], 0).tolist()
    [16748430526252140965]
    """
    return np.frombuffer(placement_digests(hashed, salt), dtype="<u8")[::2].astype(np.uint64)
