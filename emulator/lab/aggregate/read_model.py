"""The models of reads: single items, Queries and Scans."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Final

import numpy as np

from emulator.capacity import READ
from emulator.capacity.units import page_units
from emulator.engine.resource import Resource
from emulator.lab.aggregate.call_prices import point_units, price_pages, read_factor
from emulator.lab.aggregate.entries import EntryNumbers, EntryRanges
from emulator.lab.aggregate.key_groups import FEW_GROUPS, Existing, KeyGroups, key_groups_of
from emulator.lab.aggregate.key_texts import JOINT, EntryKey, KeyTexts
from emulator.lab.aggregate.partition_keys import PartitionKeys
from emulator.lab.aggregate.pattern_model import (
    CallPrices,
    ModelContext,
    PatternKeys,
    PatternModel,
    alike,
    sort_shards,
    unlisted_shards,
)
from emulator.lab.aggregate.placement import Placement, WholePartitions
from emulator.lab.aggregate.population import Population, hash_shares
from emulator.lab.inputs.distributions import Floats
from emulator.lab.inputs.key_templates import KeyTemplate, ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.key_traits import is_new_every_time, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.service import limits

#: Most stretches of time that the key groups of a request are told apart by.
_MOST_STRETCHES: Final = 400
_STRETCH: Final = "(stretch of time)"


class _Ranges:
    """The entries that a model's keys cover, found anew when either changes."""

    def __init__(self) -> None:
        self._known: tuple[PatternKeys, EntryNumbers, int] | None = None
        self._ranges: EntryRanges | None = None

    def of(
        self, keys: PatternKeys, population: Population, asked: Callable[[], list[EntryKey]]
    ) -> EntryRanges:
        """Return the ranges; ``asked`` gives the keys and sort prefixes that are asked for."""
        known = keys, population.numbers, len(population)
        if self._ranges is None or self._known != known:
            self._ranges = population.numbers.ranges(asked())
            self._known = known
        return self._ranges


class GetModel(PatternModel):
    """Reads of single items."""

    def __init__(self, context: ModelContext, path: AccessPath) -> None:
        super().__init__(context, path)
        self._is_new = is_new_every_time(path.key, context.workload, creates=False)
        self._ranges = _Ranges()
        self._minute = -1
        self._existing = self.existing_values()
        self._placement = self._place(self._existing)
        self._keys = PatternKeys(self._placement.groups, (self._placement.render(context.moment),))

    def _place(self, existing: dict[str, Existing]) -> Placement:
        """Make the key groups of the values that are asked for now, and place them."""
        context, path = self.context, self.path
        workload = context.workload
        is_new = self._is_new or any(
            workload.field(name).unique and name not in existing
            for template in path.key.partition
            for name in template.fields
        )
        names = sorted(path.key.names - {TIMESTAMP})
        asked = {name: values for name, values in existing.items() if name in names}
        hashed = [part for template in path.key.partition for part in template.shards]
        shards = list(path.shards) + [
            part for part in unlisted_shards(hashed, workload) if not existing
        ]
        combinations = float(np.prod([float(workload.field(name).size) for name in names]))
        if not is_new and not asked and combinations <= FEW_GROUPS:
            shards += sort_shards(path.key, workload, asked)
        groups = key_groups_of(
            workload,
            self.pattern,
            names,
            shards,
            is_new=is_new,
            seed=workload.seed,
            existing=asked,
        )
        return Placement(self.resource, READ, path.key, groups, workload, is_spread=is_new)

    def keys(self, resource: Resource) -> PatternKeys:  # noqa: ARG002 - the same in every world
        """Return the keys; where the newest values are popular, those of now."""
        moment = self.context.moment
        minute = int(moment // 60)
        if minute != self._minute:
            self._minute = minute
            before, self._existing = self._existing, self.existing_values()
            if before or self._existing:
                self._placement = self._place(self._existing)
        placed = self._placement.render(moment, self._keys.placed[0])
        if placed is not self._keys.placed[0]:
            self._keys = PatternKeys(self._placement.groups, (placed,))
        return self._keys

    def price(self, keys: PatternKeys, resource: Resource) -> CallPrices:  # noqa: ARG002 - likewise
        """Return the units of a read from how likely it finds an item."""
        context, table = self.context, self.path.table
        [placed] = keys.placed
        weights = keys.groups.weights
        population = context.population(table, None)
        size = context.size_of(table, None)
        hits = min(1.0, population.total_items)
        is_spread = placed.placement.is_spread
        if population.total_items and not is_spread and not self.existing_values():
            ranges = self._ranges.of(keys, population, lambda: placed.entry_keys)
            hits = population.chance_of_item(ranges, weights)
            size = self._newest_bytes() or population.mean_bytes(ranges, weights) or size
        sizes = context.size_mix(table, None, size)
        units = point_units(self.pattern, sizes, hits / self.path.shard_count)
        calls = float(self.per_request * self.path.shard_count)
        return CallPrices(calls, (units,), (1.0,), evaluated=size * hits)

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

    def __init__(self, context: ModelContext, path: AccessPath) -> None:
        super().__init__(context, path)
        templates = (*path.key.partition, *path.key.sort)
        # Filters decide what is found and not where: their fields make no key groups.
        names = {name for template in templates for name in template.names} & _key_fields(path)
        self._names = sorted(names - {TIMESTAMP})
        self._existing = {
            name: values for name, values in self.existing_values().items() if name in self._names
        }
        self._index = None if path.index is None else path.index.name
        self._ranges = _Ranges()
        self._stretches = self._stretches_now()
        #: By how many stretches a request asks for.
        self._groups: dict[int, KeyGroups] = {}
        self._placement = self._place()
        self._keys = PatternKeys(self._placement.groups, (self._placement.render(context.moment),))

    def _stretches_now(self) -> list[float]:
        """Return a moment in each stretch of time that a request asks for."""
        if not self.path.times:
            return [self.context.moment]
        workload = self.context.workload
        history = workload.history + workload.duration
        return self.path.stretches(self.context.moment, history)[-_MOST_STRETCHES:]

    def _place(self) -> Placement:
        """Make the key groups of requests that ask for so many stretches of time."""
        path, workload = self.path, self.context.workload
        count = len(self._stretches)
        shards = list(path.shards)
        if count > 1:
            shards.append(ShardPart((), count, _STRETCH))
        is_new = any(
            workload.field(name).unique and name not in self._existing
            for template in path.key.partition
            for name in template.fields
        )
        if count not in self._groups:
            self._groups[count] = key_groups_of(
                workload,
                self.pattern,
                self._names,
                shards,
                is_new=is_new,
                seed=workload.seed,
                existing=self._existing,
            )
        groups = self._groups[count]
        return Placement(
            self.resource,
            READ,
            KeyLayout(path.key.partition, ()),
            groups,
            workload,
            is_spread=is_new,
            ages=self._ages(groups),
        )

    def _ages(self, groups: KeyGroups) -> Floats | None:
        """Return how long ago the stretch of each key group is, if requests ask for several."""
        if len(self._stretches) == 1:
            return None
        ages = [self.context.moment - moment for moment in self._stretches]
        column = groups.columns[_STRETCH]
        return np.asarray([ages[int(row[column])] for row in groups.rows])

    @property
    def _calls_per_request(self) -> float:
        return float(len(self._stretches) * self.path.shard_count)

    def keys(self, resource: Resource) -> PatternKeys:  # noqa: ARG002 - the same in every world
        """Return the keys that are asked; more or fewer where keys have a time."""
        stretches = self._stretches_now()
        if len(stretches) != len(self._stretches):
            self._stretches = stretches
            self._placement = self._place()
        placed = self._placement.render(self.context.moment, self._keys.placed[0])
        if placed is not self._keys.placed[0]:
            self._keys = PatternKeys(self._placement.groups, (placed,))
        return self._keys

    def _asked_keys(self, keys: PatternKeys) -> list[EntryKey]:
        """Return the partition key and the sort prefix that each key group asks for."""
        moment, groups = self.context.moment, keys.groups
        sorts = [
            KeyTemplate("", parts).texts(groups.columns, groups.rows, moment)
            for parts in self.path.sort_parts
        ]
        prefixes = map(JOINT.join, zip(*sorts, strict=True)) if sorts else repeat("")
        own = keys.placed[0].entry_keys
        return [
            (text, is_new, prefix) for (text, is_new, _), prefix in zip(own, prefixes, strict=False)
        ]

    def price(self, keys: PatternKeys, resource: Resource) -> CallPrices:  # noqa: ARG002 - likewise
        """Return pages and units from what lies under each key."""
        context, path = self.context, self.path
        is_spread = keys.placed[0].placement.is_spread
        population = context.population(path.table, self._index)
        ranges = self._ranges.of(keys, population, lambda: self._asked_keys(keys))
        recent = (path.pattern.span or 0.0, context.elapsed) if path.by_time else None
        items = population.counts(ranges, recent)
        size = population.mean_bytes(ranges, keys.groups.weights)
        if is_spread or not size:
            size = context.size_of(path.table, self._index)
        if is_spread:
            items = np.full(len(keys.groups), min(1.0, population.total_items))
        base_bytes = 0.0
        if path.fetches_items:
            base_bytes = context.size_of(path.table, None)
        sizes = context.size_mix(path.table, self._index, size)
        price = price_pages(path, items, sizes, base_bytes)
        evaluated = price.evaluated / price.calls
        kept = self.pattern.selectivity * self._matching_share()
        return CallPrices(
            calls=alike(self._calls_per_request * price.calls),
            units=(alike(price.units),),
            chances=(1.0,),
            evaluated=evaluated,
            filtered=evaluated * (1 - kept),
        )

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
    """Scans: whole tables, or a limited page from some key on."""

    differs_by_world = True

    def keys(self, resource: Resource) -> PatternKeys:
        """Return one key group for each partition."""
        count = len(resource.partitions)
        weights = np.full(count, 1.0 / count)
        if self.path.has_limit:
            weights = hash_shares(resource)
            weights /= weights.sum()
        groups = KeyGroups({}, weights, [()] * count, None, steady=True, sampled=False)
        key, workload = KeyLayout((), ()), self.context.workload
        placement = Placement(self.resource, READ, key, groups, workload, is_spread=True)
        texts = KeyTexts(groups, PartitionKeys([()] * count), (), (), 0.0)
        return PatternKeys(groups, (WholePartitions(placement, texts, None),))

    def price(self, keys: PatternKeys, resource: Resource) -> CallPrices:
        """Return pages and units from what lies in each partition."""
        population = self.context.population(self.path.table, None)
        factor = read_factor(self.pattern)
        if self.path.has_limit and self.pattern.items is not None:
            size = self.context.size_of(self.path.table, None)
            wanted = min(float(self.pattern.items), population.total_items)
            calls, evaluated = np.ones(len(keys.groups)), np.full(len(keys.groups), wanted * size)
            units = np.full(len(keys.groups), page_units(round(wanted * size), factor))
        else:
            held = population.total_bytes * _content_shares(population, resource)
            pages = np.maximum(1.0, np.ceil(held / limits.PAGE_BYTES))
            calls, evaluated = pages * len(keys.groups), held / pages
            units = np.asarray([page_units(round(size), factor) for size in evaluated.tolist()])
        filtered = evaluated * (1 - self._kept_share())
        return CallPrices(calls, (units,), (1.0,), evaluated, filtered)

    def _kept_share(self) -> float:
        """Return the share of what is read that filters keep."""
        share = self.pattern.selectivity
        for name in self.path.filters:
            field = self.context.workload.field(name)
            if not field.unique:
                share *= float((field.distribution.probabilities(field.size) ** 2).sum())
        return share


def _content_shares(population: Population, resource: Resource) -> Floats:
    """Return the share of the table's bytes that lies in each partition."""
    billed, _ = population.by_partition(resource, resource.settings.placement_salt)
    sizes = billed if billed.any() else hash_shares(resource)
    return np.asarray(sizes / sizes.sum())
