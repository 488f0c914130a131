"""The model of writes: puts, updates and deletes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.capacity import WRITE
from emulator.engine.resource import Resource
from emulator.lab.aggregate.call_prices import Stored, WritePricer
from emulator.lab.aggregate.entries import EntryNumbers, GroupEntries
from emulator.lab.aggregate.key_groups import (
    FEW_GROUPS,
    MOST_GROUPS,
    KeyGroups,
    key_groups_of,
)
from emulator.lab.aggregate.pattern_model import (
    CallPrices,
    ModelContext,
    PatternKeys,
    PatternModel,
    sort_shards,
    unlisted_shards,
)
from emulator.lab.aggregate.placement import PlacedKeys, Placement
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import Floats, Sequential, weighted
from emulator.lab.inputs.key_templates import DAY
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.items import ItemMaker, needed_fields, random_shards
from emulator.lab.planning.key_traits import is_new_every_time, is_unbounded
from emulator.lab.planning.layout import IndexLayout, KeyLayout

#: What was written before the run is told apart by so many times at most.
_MOST_PIECES: Final = 400


class WriteModel(PatternModel):
    """Puts, updates and deletes of one pattern."""

    def __init__(self, context: ModelContext, path: AccessPath) -> None:
        super().__init__(context, path)
        workload = context.workload
        fields = context.layout.item_fields(self.pattern)
        self._indexes = [index for index in path.table.indexes if index.holds(fields)]
        keys = [path.key, *(index.key for index in self._indexes)]
        are_new = [is_new_every_time(key, workload, creates=True) for key in keys]
        self._groups = self._make_groups(keys, is_new=any(are_new))
        #: On the table, and on every index that holds the pattern's items.
        self._placements: dict[str | None, Placement] = {}
        for number, (index, key) in enumerate(zip((None, *self._indexes), keys, strict=True)):
            self._placements[None if index is None else index.name] = Placement(
                context.resource_number(path.table, index),
                WRITE,
                key,
                self._groups,
                workload,
                is_spread=are_new[number],
                number=number,
                ties=() if index is None else (*path.key.partition, *path.key.sort),
            )
        self._placed: dict[str | None, PlacedKeys] = {}
        self._keys: PatternKeys | None = None
        self._entries_of: tuple[PatternKeys, EntryNumbers] | None = None
        #: For each key group its entry in the population of the table and of each index.
        self._entries: dict[str | None, GroupEntries] = {}
        self._pricer = self._make_pricer()
        context.mean_bytes[path.table.name, None] = self._pricer.item_bytes
        context.pricers[self.pattern.name] = self._pricer
        self._unbounded = is_unbounded(path.key, workload)
        if self.pattern.is_put:
            self._note_creation()

    @property
    def _is_growing(self) -> bool:
        """Whether every write makes an item, and none is written over."""
        return self._unbounded and self.pattern.is_put

    @property
    def _global_indexes(self) -> list[IndexLayout]:
        return [index for index in self._indexes if index.is_global]

    def _make_groups(self, keys: Sequence[KeyLayout], *, is_new: bool) -> KeyGroups:
        """Return the combinations of values that the keys of table and indexes tell apart."""
        layout, workload = self.context.layout, self.context.workload
        templates = [template for key in keys for template in (*key.partition, *key.sort)]
        names = needed_fields(layout, self.pattern)
        combinations = math.prod(float(workload.field(name).size) for name in names)
        shards = [
            *random_shards(layout, self.pattern),
            *unlisted_shards([part for t in templates for part in t.shards], workload),
        ]
        if int(combinations) <= FEW_GROUPS and not is_new:  # new keys are told apart anyway
            shards += [shard for key in keys for shard in sort_shards(key, workload)]
        distinct = list({shard.label: shard for shard in shards}.values())
        return key_groups_of(
            workload, self.pattern, names, distinct, is_new=is_new, seed=workload.seed
        )

    def _make_pricer(self) -> WritePricer:
        context, groups = self.context, self._groups
        # Only sizes are asked for, and those are the same wherever an item lies.
        maker = ItemMaker(context.layout, self.pattern, groups.columns, placement_salt=0)
        schemas = context.schemas[self.path.table.name]
        return WritePricer(context.layout, self.pattern, maker, groups.rows[0], schemas)

    def _note_creation(self) -> None:
        """Let the context know how fast new values of unique fields come."""
        context = self.context
        mean = float(context.workload.rates(self.pattern).mean()) * self.pattern.actions
        for name in needed_fields(context.layout, self.pattern):
            if context.workload.field(name).unique:
                context.creation_rate[name] = context.creation_rate.get(name, 0.0) + mean

    def keys(self, resource: Resource) -> PatternKeys:  # noqa: ARG002 - the same in every world
        """Return the keys; new ones get entries of their own."""
        return self._render()

    def _render(self) -> PatternKeys:
        moment = self.context.moment
        last = self._placed
        placed = {
            index: placement.render(moment, last.get(index))
            for index, placement in self._placements.items()
        }
        if self._keys is None or any(placed[index] is not last[index] for index in placed):
            drawn_on = [None, *(index.name for index in self._global_indexes)]
            self._keys = PatternKeys(self._groups, tuple(placed[index] for index in drawn_on))
            self._placed = placed
        numbers = self.context.population(self.path.table, None).numbers
        if self._entries_of != (self._keys, numbers):
            self._entries_of = self._keys, numbers
            for index, keys in placed.items():
                own = self.context.population(self.path.table, index)
                self._entries[index] = own.entries(keys.entry_keys)
        return self._keys

    def price(self, keys: PatternKeys, resource: Resource) -> CallPrices:  # noqa: ARG002 - likewise
        """Return the units of a write from how likely it meets an item."""
        price = self._pricer.price(self._exists(), self._stored())
        names = [index.name for index in self._global_indexes]
        return CallPrices(
            calls=float(self.per_request),
            units=(price.table, *(price.indexes[name] for name in names)),
            chances=(1.0, *(price.chances[name] for name in names)),
        )

    def _stored(self) -> Stored | None:
        """Return what writes meet: where keys are fixed or have a time, what was written last."""
        names = [index.name for index in self._indexes]
        if self._meets_last_written:
            table, entity = self.path.table, self.pattern.entity
            shares = self.context.last_shares(table, entity, newest=self._unbounded)
            pricers = self.context.pricers
            left = [(share, pricers[name]) for name, share in shares.items()]
            if not left:
                return None
            return Stored(
                _mixed([(share, pricer.item_sizes) for share, pricer in left]),
                {
                    name: _mixed([(share, pricer.entry_sizes(name)) for share, pricer in left])
                    for name in names
                },
            )
        item_bytes = 0.0 if self.pattern.is_put else self._size_met(None)
        if not item_bytes:
            return None
        sizes = {name: [(1.0, round(self._size_met(name)))] for name in names}
        return Stored([(1.0, round(item_bytes))], sizes)

    @property
    def _meets_last_written(self) -> bool:
        """Whether writes meet the item under their keys that was written last.

        Where keys have a time, updates and deletes meet the newest item.
        """
        return not self._unbounded or (not self.pattern.is_put and TIMESTAMP in self.path.key.names)

    def _size_met(self, index: str | None) -> float:
        """Return the mean size of what lies under the pattern's own keys."""
        population = self.context.population(self.path.table, index)
        entries, weights = self._entries[index], self._groups.weights
        items = weighted(entries.of(population.items), weights)
        return weighted(entries.of(population.sizes), weights) / items if items else 0.0

    def _exists(self) -> float:
        """Return the chance that there is an item already."""
        if self._is_growing:
            return 0.0
        population = self.context.population(self.path.table, None)
        there = np.minimum(1.0, self._entries[None].of(population.items))
        return min(1.0, weighted(there, self._groups.weights))

    def load(self, count: int, span: float) -> None:
        """Store items that are there before the warm-up, written over ``span`` seconds.

        Where keys have a time they are stored in pieces, each under the keys of its time.
        """
        context = self.context
        pieces = self._pieces(span)
        begin = context.elapsed
        for piece in range(pieces):
            context.elapsed = begin - span * (pieces - piece) / pieces
            context.until = begin - span * (pieces - piece - 1) / pieces
            self._render()
            self._store(self._groups.weights * (count / pieces), in_turn=self._is_in_turn())
            context.settle_rewrites()
        context.elapsed = context.until = begin
        self._render()

    def _pieces(self, span: float) -> int:
        """Return in how many pieces of time items are told apart by their keys."""
        placements = self._placements.values()
        steps = [
            min(placement.step, DAY)
            for placement in placements
            if placement.step and not placement.is_spread
        ]
        if not steps:
            return 1
        most = max(1, min(_MOST_PIECES, MOST_GROUPS // len(self._groups)))
        return min(most, math.ceil(span / min(steps)) or 1)

    def _is_in_turn(self) -> bool:
        """Return whether the values that make an item's key come one after the other."""
        names = self.path.key.names - {TIMESTAMP}
        picks = [self.pattern.pick(self.context.workload.field(name)) for name in names]
        return bool(picks) and all(isinstance(pick, Sequential) for pick in picks)

    def absorb(self, accepted: Floats) -> None:
        """Store what the accepted calls of each key group have written."""
        self._store(accepted * self.actions, in_turn=False)

    def _store(self, writes: Floats, *, in_turn: bool) -> None:
        context = self.context
        population = context.population(self.path.table, None)
        changed = self._changed_items(population, writes, in_turn=in_turn)
        if self.pattern.operation != "DeleteItem":
            writers = context.last_writers((self.path.table.name, self.pattern.entity))
            writers.write(self.pattern.name, float(writes.sum()))
        if self.pattern.is_put:
            total = float(writes.sum())
            for name in self._groups.columns:
                if name in context.creation_rate:
                    context.created[name] = context.created.get(name, 0.0) + total
        self._count(None, changed, self._pricer.item_bytes, writes)
        for index in self._indexes:
            self._count(index.name, changed, self._pricer.entry_bytes(index.name), writes)

    def _count(self, index: str | None, changed: Floats, size: float, writes: Floats) -> None:
        """Add items of a size, or take away some of those that are there."""
        population = self.context.population(self.path.table, index)
        entries = self._entries[index]
        if self.pattern.operation == "DeleteItem":
            size = self._size_met(index)
        during = self.context.elapsed, self.context.until
        population.add(entries, changed, changed * size, during)
        if self.pattern.operation != "DeleteItem" and not self._is_growing:
            population.rewrite(entries, writes, size)

    def _changed_items(self, population: Population, writes: Floats, *, in_turn: bool) -> Floats:
        """Return for each key group how many items come into being, or go."""
        entries = self._entries[None]
        if self._is_growing:
            return writes
        at_entry = entries.sums(writes, len(population.items))
        there = population.items
        if self.pattern.operation == "DeleteItem":
            gone = np.minimum(there, at_entry) if self._unbounded else there * -np.expm1(-at_entry)
            change = -gone
        elif self._unbounded:
            change = np.where(there < 1, np.minimum(1.0 - there, at_entry), 0.0)
        else:
            met = np.minimum(1.0, at_entry) if in_turn else -np.expm1(-at_entry)
            change = (1.0 - np.minimum(1.0, there)) * met
        if entries.are_in_turn:
            return entries.of(change)
        at_entry = entries.of(at_entry)
        share = np.divide(writes, at_entry, out=np.zeros_like(writes), where=writes > 0)
        return np.asarray(entries.of(change) * share)


def _mixed(left: list[tuple[float, list[tuple[float, int]]]]) -> list[tuple[float, int]]:
    """Return sizes with their shares, from what several patterns have left.

    >>> _mixed([(0.25, [(1.0, 300)]), (0.5, [(1.0, 900)])])
    [(0.3333333333333333, 300), (0.6666666666666666, 900)]
    """
    total = sum(share for share, sizes in left if sizes)
    return [(share * own / total, size) for share, sizes in left for own, size in sizes]
