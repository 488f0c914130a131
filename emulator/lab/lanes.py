"""Lanes: the flows of one pattern on their way through a design, in numbers.

A lane knows where its calls fall (spots), how many calls a request makes, what each costs at
the moment, and what its writes leave behind. It decides nothing about admission.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from emulator import limits
from emulator.capacity import READ, WRITE
from emulator.capacity.units import page_units
from emulator.lab.distributions import Floats, Integers, Sequential, Zipf, sums
from emulator.lab.draws import LATEST_WINDOW
from emulator.lab.flows import (
    SORT_STRATA,
    Existing,
    Flows,
    flows_of,
    latest_weights,
    sort_label,
)
from emulator.lab.holdings import hold
from emulator.lab.items import ItemMaker, needed_fields, random_shards
from emulator.lab.layout import IndexLayout, KeyLayout, Layout, TableLayout
from emulator.lab.paths import Path, find
from emulator.lab.patterns import TIMESTAMP, Pattern
from emulator.lab.population import Population
from emulator.lab.pricing import Stored, WritePricer, point_units, price_pages, read_factor
from emulator.lab.recording import PatternRecord, Recording, Stage
from emulator.lab.spots import JOINT, Spot, is_fresh, is_unbounded
from emulator.lab.templates import ShardPart, Template
from emulator.lab.workload import Workload

#: Most stretches of time that a request's flows are told apart by.
_MOST_SLOTS: Final = 400


class Ground:
    """What the lanes of a run share: the stage, the recording, what is stored where."""

    def __init__(self, stage: Stage, recording: Recording, seed: int) -> None:
        self.stage = stage
        self.recording = recording
        self.layout: Layout = stage.layout
        self.workload: Workload = stage.layout.workload
        self.seed = seed
        #: Seconds into the run.
        self.elapsed = 0.0
        self._populations: dict[tuple[str, str | None], Population] = {}
        #: By unique field, how many values exist, and how many come per second.
        self.created: dict[str, float] = {}
        self.creation_rate: dict[str, float] = {}
        #: By table and index, the mean size of what lies there.
        self.mean_bytes: dict[tuple[str, str | None], float] = {}

    @property
    def moment(self) -> float:
        """Epoch seconds."""
        return self.workload.start + self.elapsed

    def population(self, table: TableLayout, index: str | None) -> Population:
        """Return what lies in a table or index."""
        return self._populations.setdefault((table.name, index), Population())

    def lane(self, pattern: Pattern) -> Lane:
        """Return the lane of a pattern."""
        path = find(self.layout, pattern)
        kinds: dict[str, type[Lane]] = {
            "write": WriteLane,
            "get": GetLane,
            "query": QueryLane,
            "scan": ScanLane,
        }
        return kinds[path.kind](self, path)

    def size_of(self, table: TableLayout, index: str | None) -> float:
        """Return the mean size of what lies in a table or index, as far as known."""
        found = self.population(table, index)
        if found.total_items:
            return found.total_bytes / found.total_items
        return self.mean_bytes.get((table.name, index), 0.0)


class Lane(ABC):
    """One pattern in numbers.

    Attributes:
        flows: Its combinations of values.
        spots: The resources that each call draws on, the table first.
        calls: Calls per request, for each flow.
        actions: Items per call that are admitted all or none.
    """

    def __init__(self, ground: Ground, path: Path) -> None:
        self.ground = ground
        self.path = path
        self.pattern = path.pattern
        self.policy = ground.workload.policy(path.pattern)
        record = ground.recording.record_of(path.table, path.index)
        self.record = PatternRecord(path.pattern, record.name)
        ground.recording.patterns[path.pattern.name] = self.record
        self.actions = self.pattern.actions if self.pattern.is_transaction else 1
        self.per_request = 1 if self.pattern.is_transaction else self.pattern.actions
        self.flows: Flows
        self.spots: list[Spot] = []
        self.calls: Floats
        #: Bytes read, and thrown away again, per call of each flow.
        self.evaluated: Floats = np.zeros(1)
        self.filtered: Floats = np.zeros(1)

    @abstractmethod
    def refresh(self) -> bool:
        """Render what depends on the ground's moment; return whether flows moved."""

    @abstractmethod
    def price(self) -> None:
        """Set calls and units as they are at the ground's moment."""

    def absorb(self, accepted: Floats) -> None:  # noqa: B027 - reads leave nothing
        """Store what the accepted calls of each flow have written."""

    def _existing(self) -> dict[str, Existing]:
        """Return which values of unique fields are asked for, if popularity tells them apart."""
        found: dict[str, Existing] = {}
        for one in self.ground.workload.fields:
            if not one.unique:
                continue
            pick = self.pattern.distributions.get(one.name, one.distribution)
            count = self.ground.created.get(one.name, 0.0)
            if isinstance(pick, Zipf) and count >= 1:
                window = int(min(count, LATEST_WINDOW))
                found[one.name] = Existing(np.arange(window), pick.probabilities(window))
            arrivals = self.ground.creation_rate.get(one.name, 0.0) * 60
            shares = latest_weights(pick, count, arrivals)
            if shares is not None:
                newest = int(count) + max(1, round(arrivals)) - 2
                found[one.name] = Existing(newest - np.arange(len(shares)), shares)
        return found


def _sort_shards(key: KeyLayout, workload: Workload, flows: int) -> list[ShardPart]:
    """Return what tells random unique values in a sort key apart."""
    names = {
        name
        for template in key.sort
        for name in template.fields
        if workload.field(name).unique == "random"
    }
    if flows > 10_000:
        return []
    return [ShardPart((), SORT_STRATA, sort_label(name)) for name in sorted(names)]


def _unlisted_shards(parts: Sequence[ShardPart], workload: Workload) -> list[ShardPart]:
    """Return the calculated suffixes whose fields are new every time: as good as drawn."""
    return [part for part in parts if any(workload.field(name).unique for name in part.fields)]


class WriteLane(Lane):
    """Puts, updates and deletes."""

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        layout, workload = ground.layout, ground.workload
        key = path.key
        fields = layout.item_fields(self.pattern)
        held = [one for one in path.table.indexes if one.holds(fields)]
        keys = [key, *(one.key for one in held)]
        creates = self.pattern.is_put
        fresh = [is_fresh(one, workload, creates=creates) for one in keys]
        templates = [t for one in keys for t in (*one.partition, *one.sort)]
        shards = [
            *random_shards(layout, self.pattern),
            *_unlisted_shards([part for t in templates for part in t.shards], workload),
        ]
        names = needed_fields(layout, self.pattern)
        finite = [workload.field(name).size for name in names]
        shards += _sort_shards(key, workload, int(np.prod([float(n) for n in finite])))
        self.flows = flows_of(
            workload,
            self.pattern,
            names,
            list({part.label: part for part in shards}.values()),
            fresh=any(fresh),
            seed=ground.seed,
        )
        self.calls = np.full(len(self.flows), float(self.per_request))
        record = ground.recording.record_of(path.table, None)
        self._table_spot = Spot(record, WRITE, key, self.flows, workload, fresh=fresh[0])
        self.spots = [self._table_spot]
        self._index_spots: list[tuple[IndexLayout, Spot]] = []
        for number, index in enumerate(held, 1):
            index_record = ground.recording.record_of(path.table, index)
            spot = Spot(
                index_record,
                WRITE,
                index.key,
                self.flows,
                workload,
                fresh=fresh[number],
                number=number,
            )
            self._index_spots.append((index, spot))
            if index.is_global:
                self.spots.append(spot)
        table = ground.stage.table(path.table)
        schemas = {name: one.schema for name, one in table.indexes.items()}
        maker = ItemMaker(layout, self.pattern, self.flows.columns)
        self._pricer = WritePricer(layout, self.pattern, maker, self.flows.rows[0], schemas)
        ground.mean_bytes[path.table.name, None] = self._pricer.item_bytes
        self._unbounded = is_unbounded(key, workload)
        self._places: dict[str | None, Integers] = {}
        if creates:
            mean = float(workload.rates(self.pattern).mean()) * self.pattern.actions
            for name in names:
                if workload.field(name).unique:
                    ground.creation_rate[name] = ground.creation_rate.get(name, 0.0) + mean

    def refresh(self) -> bool:
        """Render the keys; new ones get entries of their own."""
        moment = self.ground.moment
        spots = [self._table_spot, *(spot for _, spot in self._index_spots)]
        moved = [spot.refresh(moment) for spot in spots]
        if not any(moved):
            return False
        ground, table = self.ground, self.path.table
        spot = self._table_spot
        self._places[None] = ground.population(table, None).entries(spot.told(), spot.hashes)
        for index, spot in self._index_spots:
            population = ground.population(table, index.name)
            self._places[index.name] = population.entries(spot.told(), spot.hashes)
        return True

    def price(self) -> None:
        """Set the units of a write from how likely it meets an item."""
        price = self._pricer.price(self._exists(), self._stored())
        self._table_spot.units = np.full(len(self.flows), price.table)
        for index, spot in self._index_spots:
            if index.is_global:
                spot.units = np.full(len(self.flows), price.indexes[index.name])
                spot.chance = price.chances[index.name]

    def _stored(self) -> Stored | None:
        """Return what updates and deletes meet; a put meets what puts have left."""
        if self.pattern.is_put:
            return None
        item_bytes = self._size_met(None)
        if not item_bytes:
            return None
        names = [index.name for index, _ in self._index_spots]
        return Stored(item_bytes, {name: self._size_met(name) for name in names})

    def _size_met(self, index: str | None) -> float:
        """Return the mean size of what lies under the lane's own keys."""
        population = self.ground.population(self.path.table, index)
        places, weights = self._places[index], self.flows.weights
        items = float(population.items[places] @ weights)
        return float(population.sizes[places] @ weights) / items if items else 0.0

    def _exists(self) -> float:
        population = self.ground.population(self.path.table, None)
        there = np.minimum(1.0, population.items[self._places[None]])
        if self._unbounded and self.pattern.is_put:
            return 0.0
        return min(1.0, float(there @ self.flows.weights))

    def load(self, count: int) -> None:
        """Store items that are there before the run."""
        self._store(self.flows.weights * count, steady=self._in_turn())

    def _in_turn(self) -> bool:
        """Say whether the values that make an item's key come one after the other."""
        names = self.path.key.names - {TIMESTAMP}
        fields = [self.ground.workload.field(name) for name in names]
        picks = [self.pattern.distributions.get(one.name, one.distribution) for one in fields]
        return bool(picks) and all(isinstance(pick, Sequential) for pick in picks)

    def absorb(self, accepted: Floats) -> None:
        """Store what the accepted calls of each flow have written."""
        self._store(accepted * self.actions, steady=False)

    def _store(self, writes: Floats, *, steady: bool) -> None:
        ground, table = self.ground, self.path.table
        population = ground.population(table, None)
        changed = self._changed_items(population, writes, steady=steady)
        if self.pattern.is_put:
            total = float(writes.sum())
            for name in self.flows.columns:
                if name in ground.creation_rate:
                    ground.created[name] = ground.created.get(name, 0.0) + total
        self._count(None, changed, self._pricer.item_bytes, writes)
        for index, _ in self._index_spots:
            self._count(index.name, changed, self._pricer.entry_bytes(index.name), writes)

    def _count(self, index: str | None, changed: Floats, size: float, writes: Floats) -> None:
        """Add items of a size, or take away some of those that are there."""
        population = self.ground.population(self.path.table, index)
        places = self._places[index]
        if self.pattern.operation == "DeleteItem":
            size = self._size_met(index)
        population.add(places, changed, changed * size)
        if self.pattern.operation == "UpdateItem":
            population.resize(places, writes, size)

    def _changed_items(self, population: Population, writes: Floats, *, steady: bool) -> Floats:
        """Return for each flow how many items come into being, or go."""
        places = self._places[None]
        if self._unbounded and self.pattern.is_put:
            return writes
        at_entry = sums(places, writes, len(population.items))
        there = population.items
        if self.pattern.operation == "DeleteItem":
            gone = np.minimum(there, at_entry) if self._unbounded else there * -np.expm1(-at_entry)
            change = -gone
        elif self._unbounded:
            change = np.where(there < 1, np.minimum(1.0 - there, at_entry), 0.0)
        else:
            met = np.minimum(1.0, at_entry) if steady else -np.expm1(-at_entry)
            change = (1.0 - np.minimum(1.0, there)) * met
        share = np.divide(writes, at_entry[places], out=np.zeros_like(writes), where=writes > 0)
        return np.asarray(change[places] * share)


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
            part for part in _unlisted_shards(hashed, ground.workload) if not existing
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
            hits = float(found @ self.flows.weights)
        units = point_units(self.pattern, size, hits / self.path.shard_count)
        self.spots[0].units = np.full(len(self.flows), units)
        self.evaluated = np.full(len(self.flows), size * hits)
        self.filtered = np.zeros(len(self.flows))


class QueryLane(Lane):
    """Queries of a table or index."""

    _SLOT: Final = "(stretch of time)"

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        workload = ground.workload
        history = workload.history + workload.duration
        middle = workload.start + workload.duration / 2
        slots = path.slots(middle, history)[-_MOST_SLOTS:]
        ages = [middle - slot for slot in slots]
        names = {name for template in path.key.partition for name in template.names}
        names |= {name for template in path.key.sort for name in template.names}
        names |= set(path.filters)
        wanted = [name for name in sorted(names & _known(path)) if name != TIMESTAMP]
        shards = list(path.shards)
        if len(slots) > 1:
            shards.append(ShardPart((), len(slots), self._SLOT))
        existing = {name: one for name, one in self._existing().items() if name in wanted}
        fresh = any(
            workload.field(name).unique and name not in existing
            for template in path.key.partition
            for name in template.fields
        )
        self.flows = flows_of(
            workload,
            self.pattern,
            wanted,
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
        self._index = None if path.index is None else path.index.name
        self._ranges = _Ranges()

    def refresh(self) -> bool:
        """Render the keys that are asked."""
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
        if self.spots[0].fresh:
            items = np.full(len(self.flows), min(1.0, population.total_items))
        size = ground.size_of(path.table, self._index)
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
            units = page_units((round(wanted * size),), factor)
            self.spots[0].units = np.full(count, units)
        else:
            hold(self._record, population)
            sizes = np.asarray([float(one.size_bytes) for one in self._record.resource.partitions])
            shares = sizes / sizes.sum() if sizes.sum() else self._widths
            held = population.total_bytes * shares
            pages = np.maximum(1.0, np.ceil(held / limits.PAGE_BYTES))
            self.calls = pages * count
            evaluated = held / pages
            self.spots[0].units = np.asarray(
                [page_units((round(one),), factor) for one in evaluated.tolist()]
            )
        self.evaluated = evaluated
        kept = self.pattern.selectivity
        for name in self.path.filters:
            one = self.ground.workload.field(name)
            if not one.unique:
                kept *= float((one.distribution.probabilities(one.size) ** 2).sum())
        self.filtered = evaluated * (1 - kept)
