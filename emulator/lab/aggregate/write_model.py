"""Lanes: the flows of one pattern on their way through a design, in numbers.

A lane knows where its calls fall (spots), how many calls a request makes, what each costs at
the moment, and what its writes leave behind. It decides nothing about admission.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.capacity import WRITE
from emulator.lab.aggregate.call_prices import Stored, WritePricer
from emulator.lab.aggregate.key_groups import (
    MOST_FLOWS,
    SORT_STRATA,
    Existing,
    Flows,
    flows_of,
    latest_weights,
    sort_label,
)
from emulator.lab.aggregate.placement import Spot
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import Floats, Integers, Sequential, Zipf, sums, weighted
from emulator.lab.inputs.key_templates import DAY, ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import PatternRecord, Recording
from emulator.lab.planning.access_paths import Path
from emulator.lab.planning.items import ItemMaker, needed_fields, random_shards
from emulator.lab.planning.key_traits import is_fresh, is_unbounded
from emulator.lab.planning.layout import KeyLayout, Layout, TableLayout
from emulator.lab.planning.run_emulator import Stage
from emulator.lab.planning.sampling import LATEST_WINDOW

#: What was written before the run is told apart by so many times at most.
_MOST_PIECES: Final = 400


class Ground:
    """What the lanes of a run share: the stage, the recording, what is stored where."""

    def __init__(self, stage: Stage, recording: Recording, seed: int) -> None:
        self.stage = stage
        self.recording = recording
        self.layout: Layout = stage.layout
        self.workload: Workload = stage.layout.workload
        self.seed = seed
        #: Seconds into the run, at the beginning and at the end of the present stretch.
        self.elapsed = 0.0
        self.until = 0.0
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


def unlisted_shards(parts: Sequence[ShardPart], workload: Workload) -> list[ShardPart]:
    """Return the calculated suffixes whose fields are new every time: as good as drawn."""
    return [part for part in parts if any(workload.field(name).unique for name in part.fields)]


class WriteLane(Lane):
    """Puts, updates and deletes."""

    def __init__(self, ground: Ground, path: Path) -> None:
        super().__init__(ground, path)
        layout, workload = ground.layout, ground.workload
        fields = layout.item_fields(self.pattern)
        held = [one for one in path.table.indexes if one.holds(fields)]
        keys = [path.key, *(one.key for one in held)]
        fresh = [is_fresh(one, workload, creates=self.pattern.is_put) for one in keys]
        self.flows = self._make_flows(keys, fresh=any(fresh))
        self.calls = np.full(len(self.flows), float(self.per_request))
        self._table_spot, *index_spots = (
            Spot(
                ground.recording.record_of(path.table, index),
                WRITE,
                key,
                self.flows,
                workload,
                fresh=is_new,
                number=number,
            )
            for number, (index, key, is_new) in enumerate(
                zip((None, *held), keys, fresh, strict=True)
            )
        )
        self._index_spots = list(zip(held, index_spots, strict=True))
        shared = [spot for index, spot in self._index_spots if index.is_global]
        self.spots = [self._table_spot, *shared]
        self._pricer = self._make_pricer()
        ground.mean_bytes[path.table.name, None] = self._pricer.item_bytes
        self._unbounded = is_unbounded(path.key, workload)
        self._places: dict[str | None, Integers] = {}
        if self.pattern.is_put:
            self._note_creation()

    def _make_flows(self, keys: Sequence[KeyLayout], *, fresh: bool) -> Flows:
        """Return the combinations of values that the keys of table and indexes tell apart."""
        layout, workload = self.ground.layout, self.ground.workload
        templates = [t for one in keys for t in (*one.partition, *one.sort)]
        names = needed_fields(layout, self.pattern)
        combinations = math.prod(float(workload.field(name).size) for name in names)
        shards = [
            *random_shards(layout, self.pattern),
            *unlisted_shards([part for t in templates for part in t.shards], workload),
            *_sort_shards(self.path.key, workload, int(combinations)),
        ]
        distinct = list({part.label: part for part in shards}.values())
        seed = self.ground.seed
        return flows_of(workload, self.pattern, names, distinct, fresh=fresh, seed=seed)

    def _make_pricer(self) -> WritePricer:
        ground = self.ground
        table = ground.stage.table(self.path.table)
        schemas = {name: one.schema for name, one in table.indexes.items()}
        maker = ItemMaker(ground.layout, self.pattern, self.flows.columns)
        return WritePricer(ground.layout, self.pattern, maker, self.flows.rows[0], schemas)

    def _note_creation(self) -> None:
        """Tell the ground how fast new values of unique fields come."""
        ground = self.ground
        mean = float(ground.workload.rates(self.pattern).mean()) * self.pattern.actions
        for name in needed_fields(ground.layout, self.pattern):
            if ground.workload.field(name).unique:
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
        items = weighted(population.items[places], weights)
        return weighted(population.sizes[places], weights) / items if items else 0.0

    def _exists(self) -> float:
        if self._unbounded and self.pattern.is_put:
            return 0.0
        population = self.ground.population(self.path.table, None)
        there = np.minimum(1.0, population.items[self._places[None]])
        return min(1.0, weighted(there, self.flows.weights))

    def load(self, count: int, span: float) -> None:
        """Store items that are there before the run, written over ``span`` seconds.

        Where keys have a time they are stored in pieces, each under the keys of its time.
        """
        ground = self.ground
        pieces = self._pieces(span)
        for piece in range(pieces):
            ground.elapsed = -span * (pieces - piece) / pieces
            ground.until = -span * (pieces - piece - 1) / pieces
            self.refresh()
            self._store(self.flows.weights * (count / pieces), steady=self._in_turn())
        ground.elapsed = ground.until = 0.0
        self.refresh()

    def _pieces(self, span: float) -> int:
        """Return in how many pieces of time items are told apart by their keys."""
        spots = [self._table_spot, *(spot for _, spot in self._index_spots)]
        steps = [min(spot.step, DAY) for spot in spots if spot.step and not spot.fresh]
        if not steps:
            return 1
        most = max(1, min(_MOST_PIECES, MOST_FLOWS // len(self.flows)))
        return min(most, math.ceil(span / min(steps)) or 1)

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
        during = self.ground.elapsed, self.ground.until
        population.add(places, changed, changed * size, during)
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
