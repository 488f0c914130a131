"""Lanes of reads: single items, Queries and Scans, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from emulator.capacity import READ
from emulator.capacity.units import page_units
from emulator.lab.aggregate.call_prices import point_units, price_pages, read_factor
from emulator.lab.aggregate.key_groups import Flows, flows_of
from emulator.lab.aggregate.placement import JOINT, Spot
from emulator.lab.aggregate.population import Population
from emulator.lab.aggregate.size_feed import hold
from emulator.lab.aggregate.write_model import Ground, Lane, unlisted_shards
from emulator.lab.inputs.distributions import Integers, weighted
from emulator.lab.inputs.key_templates import ShardPart, Template
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import Path
from emulator.lab.planning.key_traits import is_fresh
from emulator.lab.planning.layout import KeyLayout
from emulator.service import limits

#: Most stretches of time that a request's flows are told apart by.
_MOST_SLOTS: Final = 400


class _Ranges:
    """The stretches of entries that a lane's keys cover, found anew when either changes."""

    def __init__(self) -> None:
        self._known: tuple[int, object] | None = None
        self._found: tuple[Integers, Integers] = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def of(
        self, keys: Callable[[], list[tuple[str, str]]], population: Population, texts: object
    ) -> tuple[Integers, Integers]:
        """Return the stretches; ``texts`` is another object whenever the keys are others."""
        if self._known is None or self._known[0] != len(population) or self._known[1] is not texts:
            self._found = population.ranges(keys())
            self._known = len(population), texts
        return self._found


class GetLane(Lane):
    """Reads of single items."""

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        self._fresh = is_fresh(path.key, ground.workload, creates=False)
        self._made = -1
        self._ranges = _Ranges()
        self._make()

    def _make(self) -> None:
        ground, path = self.ground, self.path
        existing = self._existing()
        unique = any(
            ground.workload.field(name).unique and name not in existing
            for template in path.key.partition
            for name in template.fields
        )
        names = sorted(path.key.names - {TIMESTAMP})
        hashed = [part for template in path.key.partition for part in template.shards]
        shards = list(path.shards) + [
            part for part in unlisted_shards(hashed, ground.workload) if not existing
        ]
        self.flows = flows_of(
            ground.workload,
            self.pattern,
            names,
            shards,
            fresh=self._fresh or unique,
            seed=ground.seed,
            existing={name: one for name, one in existing.items() if name in names},
        )
        record = ground.recording.record_of(path.table, None)
        self.spots = [
            Spot(
                record,
                READ,
                path.key,
                self.flows,
                ground.workload,
                fresh=self._fresh or unique,
            )
        ]
        per_item = self.per_request * path.shard_count
        self.calls = np.full(len(self.flows), float(per_item))

    def refresh(self) -> bool:
        """Render the keys; where the newest values are popular, those of now."""
        moment = self.ground.moment
        minute = int(moment // 60)
        if minute != self._made:
            first = self._made < 0
            self._made = minute
            if self._existing() or first:
                self._make()
        return self.spots[0].refresh(moment)

    def price(self) -> None:
        """Set the units of a read from how likely it finds an item."""
        ground, table = self.ground, self.path.table
        population = ground.population(table, None)
        size = ground.size_of(table, None)
        hits = min(1.0, population.total_items)
        if population.total_items and not self.spots[0].fresh and not self._existing():
            ranges = self._ranges.of(self.spots[0].told, population, self.spots[0].texts)
            found = np.minimum(1.0, population.counts(ranges, None))
            hits = weighted(found, self.flows.weights)
            size = population.mean_bytes(ranges, self.flows.weights) or size
        units = point_units(self.pattern, size, hits / self.path.shard_count)
        self.spots[0].units = np.full(len(self.flows), units)
        self.evaluated = np.full(len(self.flows), size * hits)
        self.filtered = np.zeros(len(self.flows))


class QueryLane(Lane):
    """Queries of a table or index."""

    _SLOT: Final = "(stretch of time)"

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        names = {name for template in path.key.partition for name in template.names}
        names |= {name for template in path.key.sort for name in template.names}
        names |= set(path.filters)
        self._wanted = [name for name in sorted(names & _known(path)) if name != TIMESTAMP]
        self._existed = {
            name: one for name, one in self._existing().items() if name in self._wanted
        }
        self._index = None if path.index is None else path.index.name
        self._ranges = _Ranges()
        self._slots: list[float] = []
        self._make(self._slots_now())

    def _slots_now(self) -> list[float]:
        """Return a moment in each stretch of time that a request asks for."""
        if not self.path.times:
            return [self.ground.moment]
        workload = self.ground.workload
        history = workload.history + workload.duration
        return self.path.slots(self.ground.moment, history)[-_MOST_SLOTS:]

    def _make(self, slots: list[float]) -> None:
        """Make the flows of requests that ask for so many stretches of time."""
        ground, path, workload = self.ground, self.path, self.ground.workload
        self._slots = slots
        ages = [ground.moment - slot for slot in slots]
        shards = list(path.shards)
        if len(slots) > 1:
            shards.append(ShardPart((), len(slots), self._SLOT))
        existing = self._existed
        fresh = any(
            workload.field(name).unique and name not in existing
            for template in path.key.partition
            for name in template.fields
        )
        self.flows = flows_of(
            workload,
            self.pattern,
            self._wanted,
            shards,
            fresh=fresh,
            seed=ground.seed,
            existing=existing,
        )
        moments = None
        if len(slots) > 1:
            column = self.flows.columns[self._SLOT]
            moments = np.asarray([ages[int(row[column])] for row in self.flows.rows])
        record = ground.recording.record_of(path.table, path.index)
        asked = KeyLayout(path.key.partition, ())
        self.spots = [Spot(record, READ, asked, self.flows, workload, fresh=fresh, moments=moments)]
        self._per_request = float(len(slots) * path.shard_count)
        self.calls = np.full(len(self.flows), self._per_request)
        self._prefixes = [Template("", p).bind(self.flows.columns) for p in path.sort_parts]

    def refresh(self) -> bool:
        """Render the keys that are asked; they may be more or fewer where keys have a time."""
        slots = self._slots_now()
        if len(slots) != len(self._slots):
            self._make(slots)
        return self.spots[0].refresh(self.ground.moment)

    def _keys(self) -> list[tuple[str, str]]:
        """Return the partition key and the sort prefix that each flow asks for."""
        moment = self.ground.moment
        told = self.spots[0].told()
        return [
            (key, JOINT.join([render(row, moment) for render in self._prefixes]))
            for (key, _), row in zip(told, self.flows.rows, strict=True)
        ]

    def price(self) -> None:
        """Set pages and units from what lies under each key."""
        ground, path = self.ground, self.path
        population = ground.population(path.table, self._index)
        ranges = self._ranges.of(self._keys, population, self.spots[0].texts)
        recent = (path.pattern.span or 0.0, ground.elapsed) if path.by_time else None
        items = population.counts(ranges, recent)
        size = population.mean_bytes(ranges, self.flows.weights)
        if self.spots[0].fresh or not size:
            size = ground.size_of(path.table, self._index)
        if self.spots[0].fresh:
            items = np.full(len(self.flows), min(1.0, population.total_items))
        base = 0.0
        if path.index is not None and not path.index.is_global:
            base = (
                0.0 if path.index.design.projection == "ALL" else ground.size_of(path.table, None)
            )
        price = price_pages(path, items, size, base)
        self.calls = self._per_request * price.calls
        self.spots[0].units = price.units
        self.evaluated = price.evaluated / price.calls
        kept = self.pattern.selectivity * self._matching()
        self.filtered = self.evaluated * (1 - kept)

    def _matching(self) -> float:
        """Return the share of what is read that the known fields match."""
        share = 1.0
        for name in self.path.filters:
            one = self.ground.workload.field(name)
            if not one.unique:
                shares = self.pattern.distributions.get(name, one.distribution)
                stored = one.distribution.probabilities(one.size)
                share *= float((shares.probabilities(one.size) * stored).sum())
        return share


def _known(path: Path) -> set[str]:
    """Return the fields that a Query's key conditions and filters use."""
    used = {name for template in path.key.partition for name in template.fields}
    for template in path.key.partition:
        for part in template.shards:
            if part not in path.shards:
                used.update(part.fields)
    for parts in path.sort_parts:
        used |= set(Template("", parts).names)
    return used | set(path.filters)


class ScanLane(Lane):
    """Scans: whole tables, or a limited page from some key on."""

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        self._record = ground.recording.record_of(path.table, None)
        self._lay()

    def _lay(self) -> None:
        """Make one flow for each partition."""
        partitions = list(self._record.resource.partitions)
        spans = [self._record.spans[partition.id] for partition in partitions]
        widths = np.asarray([span.high - span.low for span in spans])
        self._widths = widths / widths.sum()
        even = np.full(len(partitions), 1.0 / len(partitions))
        weights = self._widths if self.path.has_limit else even
        middles = np.asarray([(span.low + span.high) / 2 for span in spans])
        self.flows = Flows({}, weights, [()] * len(partitions), middles, steady=True, sampled=False)
        key = KeyLayout((), ())
        spot = Spot(self._record, READ, key, self.flows, self.ground.workload, fresh=True)
        spot.refresh(0.0)
        self.spots = [spot]
        self.calls = np.ones(len(partitions))

    def refresh(self) -> bool:
        """Follow the partitions."""
        if len(self.flows) == len(self._record.resource.partitions):
            return False
        self._lay()
        return True

    def price(self) -> None:
        """Set pages and units from what lies in each partition."""
        population = self.ground.population(self.path.table, None)
        size = self.ground.size_of(self.path.table, None)
        factor = read_factor(self.pattern)
        count = len(self.flows)
        if self.path.has_limit and self.pattern.items is not None:
            wanted = min(float(self.pattern.items), population.total_items)
            evaluated = np.full(count, wanted * size)
            units = page_units(round(wanted * size), factor)
            self.spots[0].units = np.full(count, units)
        else:
            hold(self.ground.stage.feed, self._record, population)
            sizes = np.asarray([float(one.size_bytes) for one in self._record.resource.partitions])
            shares = sizes / sizes.sum() if sizes.sum() else self._widths
            held = population.total_bytes * shares
            pages = np.maximum(1.0, np.ceil(held / limits.PAGE_BYTES))
            self.calls = pages * count
            evaluated = held / pages
            self.spots[0].units = np.asarray(
                [page_units(round(one), factor) for one in evaluated.tolist()]
            )
        self.evaluated = evaluated
        kept = self.pattern.selectivity
        for name in self.path.filters:
            one = self.ground.workload.field(name)
            if not one.unique:
                kept *= float((one.distribution.probabilities(one.size) ** 2).sum())
        self.filtered = evaluated * (1 - kept)
