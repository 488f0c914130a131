"""The models of reads: single items, Queries and Scans."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from emulator.capacity import READ
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.key_templates import DAY, KeyTemplate, ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.key_traits import is_new_every_time, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.lab.world.bins import Cells, Existing, cells_of
from emulator.lab.world.contents import JOINT, Contents, EntryKey, Ranges
from emulator.lab.world.families import Placement
from emulator.lab.world.patterns import Context, PatternModel, PerWorld, Price, unlisted_shards
from emulator.lab.world.prices import point_units, price_pages, read_factor, units_of_pages
from emulator.service import limits

#: Most stretches of time that the cells of a request are told apart by.
_MOST_STRETCHES: Final = 400
_STRETCH: Final = "(stretch of time)"

Keys = Sequence[Sequence[tuple[str, ...]]]


class _Found:
    """The entries that reads cover, looked up again when keys or entries are others."""

    def __init__(self) -> None:
        self._known: tuple[Keys, Contents, int] | None = None
        self._ranges: Ranges | None = None

    def ranges(
        self, keys: Keys, held: Contents, asked: Callable[[], tuple[list[EntryKey], Floats]]
    ) -> Ranges:
        """Return the ranges of keys and prefixes.

        Args:
            keys: The keys that are asked for.
            held: The contents that are asked.
            asked: Tells keys and prefixes, and how many reads alike each stands for.
        """
        known = self._known
        is_same = known is not None and known[0] is keys and known[1] is held
        if self._ranges is None or known is None or not is_same or known[2] != len(held):
            self._known = keys, held, len(held)
            self._ranges = held.ranges(*asked())
        return self._ranges


class GetModel(PatternModel):
    """Reads of single items."""

    def __init__(self, context: Context, path: AccessPath) -> None:
        super().__init__(context, path)
        self._names = sorted(path.key.names - {TIMESTAMP})
        self._found = _Found()
        self._existing: dict[str, Existing] = {}
        self._until = -math.inf
        self.refresh()

    def begin(self) -> None:
        """Go back to the beginning of the run."""
        self._until = -math.inf
        self.refresh()

    def refresh(self) -> bool:
        """Follow what is popular where the newest values are."""
        if self.context.elapsed < self._until:
            return False
        before, self._existing = self._existing, self.existing(self._names)
        self._until = math.inf
        if any(self.is_newest(name) for name in self._names):
            self._until = (self.context.elapsed // MINUTE + 1) * MINUTE
        if self.placements and not before and not self._existing:
            return False
        self.placements = (self._place(),)
        return True

    @property
    def until(self) -> float:
        """The next second at which popularity may have changed."""
        return self._until

    def _place(self) -> Placement:
        """Place the cells of the values that are asked for now."""
        workload, key, known = self.context.workload, self.path.key, self._existing
        is_new = is_new_every_time(key, workload, creates=False) or any(
            workload.field(name).unique and name not in known
            for template in key.partition
            for name in template.fields
        )
        parts = [part for template in (*key.partition, *key.sort) for part in template.shards]
        calculated = [part for part in parts if part.fields]
        if known:
            calculated = [part for part in calculated if not unlisted_shards([part], workload)]
        shards = list({part.label: part for part in (*self.path.shards, *calculated)}.values())
        cells = cells_of(workload, self.context.bins, self.pattern, self._names, shards, known)
        return Placement(self.resource, READ, key, cells, workload, is_spread=is_new)

    def price(self, keys: Keys) -> Price:
        """Return the units of a read from how likely it finds an item."""
        context, table = self.context, self.path.table
        [placed] = self.placements
        held, shares = context.contents(table, None), placed.cells.shares
        size = context.mean_bytes(table, None)
        hits = np.minimum(1.0, held.total_items)
        if not placed.is_spread and not self._existing:
            ranges = self._found.ranges(
                keys, held, lambda: (placed.entry_keys(keys[0]), placed.entries)
            )
            items, sizes = ranges.sums(held.items), ranges.sums(held.sizes)
            met = (items * shares).sum(axis=1)
            own = np.divide((sizes * shares).sum(axis=1), met, out=size.copy(), where=met > 0)
            hits = np.where(
                held.total_items > 0, (np.minimum(1.0, items) * shares).sum(axis=1), 0.0
            )
            size = np.where(met > 0, self._newest_bytes() or own, size)
        units = self._units(size, hits / self.path.shard_count)
        calls = float(self.pattern.actions if self.per_request > 1 else 1) * self.path.shard_count
        return Price(
            calls=np.full((1, 1), calls),
            units=(units[:, None],),
            touches=(np.ones(1),),
            evaluated=(size * hits)[:, None],
            filtered=np.zeros((1, 1)),
        )

    def _units(self, size: PerWorld, hits: PerWorld) -> PerWorld:
        priced: dict[tuple[float, float], float] = {}
        for own in zip(size.tolist(), hits.tolist(), strict=True):
            if own not in priced:
                sizes = self.context.size_mix(self.path.table, None, own[0])
                priced[own] = point_units(self.pattern, sizes, own[1])
        return np.asarray([priced[own] for own in zip(size.tolist(), hits.tolist(), strict=True)])

    def _newest_bytes(self) -> float:
        """Return the mean size of the newest items, where a read is of the newest one; else 0."""
        context, path = self.context, self.path
        if TIMESTAMP not in path.key.names or not is_unbounded(path.key, context.workload):
            return 0.0
        shares = context.last_shares(path.table, self.pattern.entity, newest=True)
        size = sum(share * context.pricers[name].item_bytes for name, share in shares.items())
        return size / sum(shares.values()) if size else 0.0


class QueryModel(PatternModel):
    """Queries of a table or index."""

    def __init__(self, context: Context, path: AccessPath) -> None:
        super().__init__(context, path)
        # Filters decide what is found and not where: their fields make no cells.
        templates = (*path.key.partition, *path.key.sort)
        names = {name for template in templates for name in template.names} & _key_fields(path)
        self._names = sorted(names - {TIMESTAMP})
        self._existing = self.existing(self._names)
        self._index = None if path.index is None else path.index.name
        self._found = _Found()
        self._stretches = self._stretches_now()
        self.placements = (self._place(),)

    def refresh(self) -> bool:
        """Follow the number of stretches of time that a request asks for."""
        stretches = self._stretches_now()
        is_other = len(stretches) != len(self._stretches)
        self._stretches = stretches
        if is_other:
            self.placements = (self._place(),)
        return is_other

    @property
    def until(self) -> float:
        """The next second at which a request may ask for more or fewer stretches."""
        if not self.path.times:
            return math.inf
        step = min(DAY, *(part.step_seconds for part in self.path.times))
        now, span = self.context.moment, self.pattern.span or self._history
        return self.context.elapsed + min(step - now % step, step - (now - span) % step)

    def _stretches_now(self) -> list[float]:
        """Return a moment in each stretch of time that a request asks for."""
        if not self.path.times:
            return [self.context.moment]
        return self.path.stretches(self.context.moment, self._history)[-_MOST_STRETCHES:]

    @property
    def _history(self) -> float:
        """How far back in time there may be items, in seconds."""
        return self.context.workload.history + self.context.workload.duration

    def _place(self) -> Placement:
        path, workload, count = self.path, self.context.workload, len(self._stretches)
        calculated = [
            part
            for template in path.key.partition
            for part in template.shards
            if part.fields and part not in path.shards
        ]
        shards = [*path.shards, *calculated]
        if count > 1:
            shards.append(ShardPart((), count, _STRETCH))
        distinct = list({part.label: part for part in shards}.values())
        cells = cells_of(
            workload, self.context.bins, self.pattern, self._names, distinct, self._existing
        )
        is_new = any(
            workload.field(name).unique and name not in self._existing
            for template in path.key.partition
            for name in template.fields
        )
        return Placement(
            self.resource,
            READ,
            KeyLayout(path.key.partition, ()),
            cells,
            workload,
            is_spread=is_new,
            ages=self._ages(cells),
        )

    def _ages(self, cells: Cells) -> Floats | None:
        """Return how long ago the stretch of each cell is, if requests ask for several."""
        if len(self._stretches) == 1:
            return None
        ages = np.asarray([self.context.moment - moment for moment in self._stretches])
        return np.asarray(ages[cells.firsts[cells.columns[_STRETCH]]])

    def _asked(self, placed: Placement, keys: Keys) -> tuple[list[EntryKey], Floats]:
        """Return the key and sort prefix that each cell asks for, and how many it stands for."""
        cells, moment = placed.cells, self.context.moment
        templates = [KeyTemplate("", parts) for parts in self.path.sort_parts]
        sorts = [own.texts(cells.columns, cells.rows, moment) for own in templates]
        prefixes = map(JOINT.join, zip(*sorts, strict=True)) if sorts else [""] * len(cells)
        asked = [
            (JOINT.join(text), placed.is_spread, prefix)
            for text, prefix in zip(keys[0], prefixes, strict=True)
        ]
        return asked, cells.multiples((*placed.partition, *templates))

    def price(self, keys: Keys) -> Price:
        """Return pages and units from what lies under each key."""
        context, path = self.context, self.path
        [placed] = self.placements
        held, shares = context.contents(path.table, self._index), placed.cells.shares
        mean = context.mean_bytes(path.table, self._index)
        if placed.is_spread:
            items = np.repeat(np.minimum(1.0, held.total_items)[:, None], len(shares), axis=1)
        else:
            ranges = self._found.ranges(keys, held, lambda: self._asked(placed, keys))
            counted = held.items
            if path.by_time:
                counted = held.recent(path.pattern.span or 0.0, context.elapsed)
            items = ranges.sums(counted)
            met, total = ((ranges.sums(own) * shares).sum(1) for own in (held.items, held.sizes))
            mean = np.divide(total, met, out=mean.copy(), where=(met > 0) & (total > 0))
        base = context.mean_bytes(path.table, None) if path.fetches_items else np.zeros(len(mean))
        return self._priced(items, mean, base)

    def _priced(self, items: Floats, mean: PerWorld, base: PerWorld) -> Price:
        """Return the price of reading items of a mean size, alike worlds once."""
        kinds: dict[tuple[float, float], list[int]] = {}
        for world, own in enumerate(zip(mean.tolist(), base.tolist(), strict=True)):
            kinds.setdefault(own, []).append(world)
        calls, units, evaluated = (np.empty(items.shape) for _ in range(3))
        for (size, base_bytes), worlds in kinds.items():
            sizes = self.context.size_mix(self.path.table, self._index, size)
            price = price_pages(self.path, items[worlds], sizes, base_bytes)
            calls[worlds], units[worlds] = price.calls, price.units
            evaluated[worlds] = price.evaluated
        asked = float(len(self._stretches) * self.path.shard_count)
        kept = self.pattern.selectivity * self._matching_share()
        return Price(
            calls=_alike(asked * calls),
            units=(_alike(units),),
            touches=(np.ones(1),),
            evaluated=evaluated,
            filtered=evaluated * (1 - kept),
        )

    def _matching_share(self) -> float:
        """Return the share of what is read that the known fields match."""
        share = 1.0
        for name in self.path.filters:
            field = self.context.workload.field(name)
            if not field.unique:
                bins = self.context.bins[name]
                asked, stored = (
                    bins.shares(self.pattern.pick(field)),
                    bins.shares(field.distribution),
                )
                share *= float((asked * stored / bins.counts).sum())
        return share


def _alike(values: Floats) -> Floats:
    """Return one column in place of those that are all the same."""
    return values[:, :1] if (values == values[:, :1]).all() else values


def _key_fields(path: AccessPath) -> set[str]:
    """Return the fields that a Query's key conditions use."""
    used = {name for template in path.key.partition for name in template.fields}
    for template in path.key.partition:
        for part in template.shards:
            if part not in path.shards:
                used.update(part.fields)
    for parts in path.sort_parts:
        used |= set(KeyTemplate("", parts).names)
    return used


class ScanModel(PatternModel):
    """Scans: whole tables, or a limited page from some key on. A cell is a partition's slot."""

    def price(self, keys: Keys) -> Price:  # noqa: ARG002 - it asks no key
        """Return nothing: see ``price_parts``."""
        nothing = np.zeros((1, 1))
        return Price(nothing, (nothing,), (np.ones(1),), nothing, nothing)

    def price_parts(self, worlds: Integers, held: Floats, widths: Floats) -> tuple[Floats, Price]:
        """Return by world and slot the share of requests, and what calls cost there.

        Args:
            worlds: The worlds that the other arguments are about.
            held: The bytes of each partition.
            widths: The share of the hashes of each partition; 0 for free slots.
        """
        there = widths > 0
        counts = there.sum(axis=1, keepdims=True)
        contents, factor = self.context.contents(self.path.table, None), read_factor(self.pattern)
        if self.path.has_limit and self.pattern.items is not None:
            size = self.context.mean_bytes(self.path.table, None)[worlds]
            items = contents.total_items[worlds]
            wanted = np.minimum(float(self.pattern.items), items) * size
            evaluated = np.repeat(wanted[:, None], held.shape[1], axis=1)
            units = units_of_pages(np.rint(wanted), factor)
            price = self._made(np.ones((1, 1)), units[:, None], evaluated)
            return widths / widths.sum(axis=1, keepdims=True), price
        total = held.sum(axis=1, keepdims=True)
        parts = np.where(total > 0, held / np.maximum(total, 1.0), widths)
        bytes_held = contents.total_bytes[worlds, None] * parts
        pages = np.maximum(1.0, np.ceil(bytes_held / limits.PAGE_BYTES))
        evaluated = bytes_held / pages
        units = units_of_pages(np.rint(evaluated), factor)
        return there / counts, self._made(pages * counts, units, evaluated)

    def _made(self, calls: Floats, units: Floats, evaluated: Floats) -> Price:
        filtered = evaluated * (1 - self._kept_share())
        return Price(calls, (units,), (np.ones(1),), evaluated, filtered)

    def _kept_share(self) -> float:
        """Return the share of what is read that filters keep."""
        share = self.pattern.selectivity
        for name in self.path.filters:
            field = self.context.workload.field(name)
            if not field.unique:
                share *= field.distribution.repeated(field.size)
        return share


MODELS: Final[Mapping[str, type[PatternModel]]] = {
    "get": GetModel,
    "query": QueryModel,
    "scan": ScanModel,
}
