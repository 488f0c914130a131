"""The models of reads: single items, Queries and Scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from emulator.capacity import READ
from emulator.capacity.units import page_units
from emulator.lab.aggregate.call_prices import point_units, price_pages, read_factor
from emulator.lab.aggregate.key_groups import KeyGroups, key_groups_of
from emulator.lab.aggregate.pattern_model import PatternModel, RunContext, unlisted_shards
from emulator.lab.aggregate.placement import JOINT, EntryKey, Placement
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import Floats, Integers, weighted
from emulator.lab.inputs.key_templates import KeyTemplate, ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.key_traits import is_new_every_time
from emulator.lab.planning.layout import KeyLayout
from emulator.service import limits

#: Most stretches of time that the key groups of a request are told apart by.
_MOST_STRETCHES: Final = 400
_STRETCH: Final = "(stretch of time)"


class _Ranges:
    """The entries that a model's keys cover, found anew when either changes."""

    def __init__(self) -> None:
        self._known: tuple[int, object] | None = None
        self._ranges: tuple[Integers, Integers] = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def of(
        self, keys: Callable[[], list[EntryKey]], population: Population, texts: object
    ) -> tuple[Integers, Integers]:
        """Return the ranges; ``texts`` is another object whenever the keys are others."""
        if self._known is None or self._known[0] != len(population) or self._known[1] is not texts:
            self._ranges = population.ranges(keys())
            self._known = len(population), texts
        return self._ranges


class GetModel(PatternModel):
    """Reads of single items."""

    def __init__(self, context: RunContext, path: AccessPath) -> None:
        super().__init__(context, path)
        self._is_new = is_new_every_time(path.key, context.workload, creates=False)
        self._minute = -1
        self._ranges = _Ranges()
        self._regroup()

    def _regroup(self) -> None:
        """Make the key groups anew, of the values that are asked for now."""
        context, path = self.context, self.path
        existing = self.existing_values()
        is_new = self._is_new or any(
            context.workload.field(name).unique and name not in existing
            for template in path.key.partition
            for name in template.fields
        )
        names = sorted(path.key.names - {TIMESTAMP})
        hashed = [part for template in path.key.partition for part in template.shards]
        shards = list(path.shards) + [
            part for part in unlisted_shards(hashed, context.workload) if not existing
        ]
        self.groups = key_groups_of(
            context.workload,
            self.pattern,
            names,
            shards,
            is_new=is_new,
            seed=context.seed,
            existing={name: values for name, values in existing.items() if name in names},
        )
        record = context.log.record_of(path.table, None)
        self.placements = [
            Placement(record, READ, path.key, self.groups, context.workload, is_spread=is_new)
        ]
        self.calls = np.full(len(self.groups), float(self.per_request * path.shard_count))

    def refresh(self) -> bool:
        """Render the keys; where the newest values are popular, those of now."""
        moment = self.context.moment
        minute = int(moment // 60)
        if minute != self._minute:
            is_first = self._minute < 0
            self._minute = minute
            if self.existing_values() or is_first:
                self._regroup()
        return self.placements[0].refresh(moment)

    def price(self) -> None:
        """Set the units of a read from how likely it finds an item."""
        context, table = self.context, self.path.table
        [placement] = self.placements
        population = context.population(table, None)
        size = context.size_of(table, None)
        hits = min(1.0, population.total_items)
        if population.total_items and not placement.is_spread and not self.existing_values():
            ranges = self._ranges.of(placement.entry_keys, population, placement.texts)
            there = np.minimum(1.0, population.counts(ranges, None))
            hits = weighted(there, self.groups.weights)
            size = population.mean_bytes(ranges, self.groups.weights) or size
        units = point_units(self.pattern, size, hits / self.path.shard_count)
        placement.units = np.full(len(self.groups), units)
        self.evaluated = np.full(len(self.groups), size * hits)
        self.filtered = np.zeros(len(self.groups))


class QueryModel(PatternModel):
    """Queries of a table or index."""

    def __init__(self, context: RunContext, path: AccessPath) -> None:
        super().__init__(context, path)
        templates = (*path.key.partition, *path.key.sort)
        names = {name for template in templates for name in template.names} | set(path.filters)
        self._names = [name for name in sorted(names & _known_fields(path)) if name != TIMESTAMP]
        self._existing = {
            name: values for name, values in self.existing_values().items() if name in self._names
        }
        self._index = None if path.index is None else path.index.name
        self._ranges = _Ranges()
        self._stretches = self._stretches_now()
        self._regroup()

    def _stretches_now(self) -> list[float]:
        """Return a moment in each stretch of time that a request asks for."""
        if not self.path.times:
            return [self.context.moment]
        workload = self.context.workload
        history = workload.history + workload.duration
        return self.path.stretches(self.context.moment, history)[-_MOST_STRETCHES:]

    def _regroup(self) -> None:
        """Make the key groups of requests that ask for so many stretches of time."""
        context, path, workload = self.context, self.path, self.context.workload
        count = len(self._stretches)
        shards = list(path.shards)
        if count > 1:
            shards.append(ShardPart((), count, _STRETCH))
        is_new = any(
            workload.field(name).unique and name not in self._existing
            for template in path.key.partition
            for name in template.fields
        )
        self.groups = key_groups_of(
            workload,
            self.pattern,
            self._names,
            shards,
            is_new=is_new,
            seed=context.seed,
            existing=self._existing,
        )
        self.placements = [
            Placement(
                context.log.record_of(path.table, path.index),
                READ,
                KeyLayout(path.key.partition, ()),
                self.groups,
                workload,
                is_spread=is_new,
                ages=self._ages(),
            )
        ]
        self.calls = np.full(len(self.groups), self._calls_per_request)

    def _ages(self) -> Floats | None:
        """Return how long ago the stretch of each key group is, if requests ask for several."""
        if len(self._stretches) == 1:
            return None
        ages = [self.context.moment - moment for moment in self._stretches]
        column = self.groups.columns[_STRETCH]
        return np.asarray([ages[int(row[column])] for row in self.groups.rows])

    @property
    def _calls_per_request(self) -> float:
        return float(len(self._stretches) * self.path.shard_count)

    def refresh(self) -> bool:
        """Render the keys that are asked; they may be more or fewer where keys have a time."""
        stretches = self._stretches_now()
        if len(stretches) != len(self._stretches):
            self._stretches = stretches
            self._regroup()
        return self.placements[0].refresh(self.context.moment)

    def _asked_keys(self) -> list[EntryKey]:
        """Return the partition key and the sort prefix that each key group asks for."""
        moment = self.context.moment
        renders = [
            KeyTemplate("", parts).bind(self.groups.columns) for parts in self.path.sort_parts
        ]
        return [
            (text, is_new, JOINT.join([render(row, moment) for render in renders]))
            for (text, is_new, _), row in zip(
                self.placements[0].entry_keys(), self.groups.rows, strict=True
            )
        ]

    def price(self) -> None:
        """Set pages and units from what lies under each key."""
        context, path = self.context, self.path
        [placement] = self.placements
        population = context.population(path.table, self._index)
        ranges = self._ranges.of(self._asked_keys, population, placement.texts)
        recent = (path.pattern.span or 0.0, context.elapsed) if path.by_time else None
        items = population.counts(ranges, recent)
        size = population.mean_bytes(ranges, self.groups.weights)
        if placement.is_spread or not size:
            size = context.size_of(path.table, self._index)
        if placement.is_spread:
            items = np.full(len(self.groups), min(1.0, population.total_items))
        base_bytes = 0.0
        if path.fetches_items:
            base_bytes = context.size_of(path.table, None)
        price = price_pages(path, items, size, base_bytes)
        self.calls = self._calls_per_request * price.calls
        placement.units = price.units
        self.evaluated = price.evaluated / price.calls
        kept = self.pattern.selectivity * self._matching_share()
        self.filtered = self.evaluated * (1 - kept)

    def _matching_share(self) -> float:
        """Return the share of what is read that the known fields match."""
        share = 1.0
        for name in self.path.filters:
            field = self.context.workload.field(name)
            if not field.unique:
                asked = self.pattern.pick(field).probabilities(field.size)
                stored = field.distribution.probabilities(field.size)
                share *= float((asked * stored).sum())
        return share


def _known_fields(path: AccessPath) -> set[str]:
    """Return the fields that a Query's key conditions and filters use."""
    used = {name for template in path.key.partition for name in template.fields}
    for template in path.key.partition:
        for part in template.shards:
            if part not in path.shards:
                used.update(part.fields)
    for parts in path.sort_parts:
        used |= set(KeyTemplate("", parts).names)
    return used | set(path.filters)


class ScanModel(PatternModel):
    """Scans: whole tables, or a limited page from some key on."""

    def __init__(self, context: RunContext, path: AccessPath) -> None:
        super().__init__(context, path)
        self._resource = context.log.record_of(path.table, None)
        self._regroup()

    def _partition_widths(self) -> Floats:
        """Return the share of the hash space of every partition, in key order."""
        spans = [
            self._resource.spans[partition.id] for partition in self._resource.resource.partitions
        ]
        widths = np.asarray([span.high - span.low for span in spans])
        return np.asarray(widths / widths.sum())

    def _regroup(self) -> None:
        """Make one key group for each partition."""
        spans = [
            self._resource.spans[partition.id] for partition in self._resource.resource.partitions
        ]
        count = len(spans)
        even = np.full(count, 1.0 / count)
        weights = self._partition_widths() if self.path.has_limit else even
        middles = np.asarray([(span.low + span.high) / 2 for span in spans])
        self.groups = KeyGroups({}, weights, [()] * count, middles, steady=True, sampled=False)
        workload = self.context.workload
        key = KeyLayout((), ())
        placement = Placement(self._resource, READ, key, self.groups, workload, is_spread=True)
        placement.refresh(0.0)
        self.placements = [placement]
        self.calls = np.ones(count)

    def refresh(self) -> bool:
        """Follow the partitions."""
        if len(self.groups) == len(self._resource.resource.partitions):
            return False
        self._regroup()
        return True

    def price(self) -> None:
        """Set pages and units from what lies in each partition."""
        population = self.context.population(self.path.table, None)
        factor = read_factor(self.pattern)
        count = len(self.groups)
        if self.path.has_limit and self.pattern.items is not None:
            size = self.context.size_of(self.path.table, None)
            wanted = min(float(self.pattern.items), population.total_items)
            self.evaluated = np.full(count, wanted * size)
            units = page_units(round(wanted * size), factor)
            self.placements[0].units = np.full(count, units)
        else:
            held = population.total_bytes * self._content_shares(population)
            pages = np.maximum(1.0, np.ceil(held / limits.PAGE_BYTES))
            self.calls = pages * count
            self.evaluated = held / pages
            self.placements[0].units = np.asarray(
                [page_units(round(size), factor) for size in self.evaluated.tolist()]
            )
        self.filtered = self.evaluated * (1 - self._kept_share())

    def _content_shares(self, population: Population) -> Floats:
        """Return the share of the table's bytes that lies in each partition."""
        billed, _ = population.by_partition(self._resource)
        sizes = np.asarray([float(round(size)) for size in billed])
        return np.asarray(sizes / sizes.sum()) if sizes.sum() else self._partition_widths()

    def _kept_share(self) -> float:
        """Return the share of what is read that filters keep."""
        share = self.pattern.selectivity
        for name in self.path.filters:
            field = self.context.workload.field(name)
            if not field.unique:
                share *= float((field.distribution.probabilities(field.size) ** 2).sum())
        return share
