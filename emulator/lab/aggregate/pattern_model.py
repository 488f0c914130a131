"""Pattern models: one access pattern under a design, in numbers.

A model knows which keys its calls ask for, how many calls a request makes, what each costs at the
moment, and what its writes leave behind. It decides nothing about admission, and where keys lie
is the business of each world.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from emulator.engine.resource import Resource
from emulator.lab.aggregate.call_prices import SizeMix, WritePricer
from emulator.lab.aggregate.key_groups import (
    SORT_STRATA,
    Existing,
    KeyGroups,
    latest_weights,
    sort_label,
)
from emulator.lab.aggregate.placement import PlacedKeys
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import Floats, Zipf
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import Collections
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.layout import IndexLayout, KeyLayout, Layout, TableLayout
from emulator.lab.planning.sampling import LATEST_WINDOW
from emulator.model import IndexSchema

#: A number for each key group, or one for all of them.
PerGroup: TypeAlias = float | Floats
#: By table, the schemas of its indexes by name.
Schemas: TypeAlias = Mapping[str, Mapping[str, IndexSchema]]


class LastWriters:
    """For each pattern the share of some items that it wrote last.

    >>> writers = LastWriters()
    >>> writers.write("put", 300.0), writers.write("update", 100.0)
    (None, None)
    >>> writers.shares(items=1.0)
    {'put': 0.75, 'update': 0.25}
    """

    def __init__(self) -> None:
        self._shares: dict[str, float] = {}
        self._writes: dict[str, float] = {}

    def write(self, pattern: str, writes: float) -> None:
        """Note writes; those since somebody last asked have come in no particular order."""
        self._writes[pattern] = self._writes.get(pattern, 0.0) + writes

    def shares(self, items: float) -> dict[str, float]:
        """Return the shares, where there are so many items."""
        total = sum(self._writes.values())
        if total:
            changed = -math.expm1(-total / max(items, 1.0))
            shares = {name: share * (1 - changed) for name, share in self._shares.items()}
            for name, writes in self._writes.items():
                shares[name] = shares.get(name, 0.0) + changed * writes / total
            self._shares, self._writes = shares, {}
        return self._shares

    def copy(self) -> LastWriters:
        """Return an independent record of the same writes."""
        twin = LastWriters()
        twin._shares, twin._writes = dict(self._shares), dict(self._writes)
        return twin


class ModelContext:
    """What the models of a design share: the time, and what is stored where.

    Attributes:
        elapsed: Seconds into the run at the beginning of the present stretch; negative during
            the warm-up (CAP2-10).
        until: And at its end.
        created: By unique field, how many values exist.
        creation_rate: By unique field, how many values come per second.
        mean_bytes: By table and index, the mean size of what is written there.
        pricers: By write pattern, what prices its items.
    """

    def __init__(self, layout: Layout, schemas: Schemas) -> None:
        self.layout = layout
        self.workload = layout.workload
        self.schemas = schemas
        self.resources: list[tuple[TableLayout, IndexLayout | None]] = [
            (table, index) for table in layout.tables for index in (None, *table.global_indexes)
        ]
        self.elapsed = self.until = -float(self.workload.warm_up)
        self.created: dict[str, float] = {}
        self.creation_rate: dict[str, float] = {}
        self.mean_bytes: dict[tuple[str, str | None], float] = {}
        self._last_writers: dict[tuple[str, str | None], LastWriters] = {}
        self.pricers: dict[str, WritePricer] = {}
        self._populations: dict[tuple[str, str | None], Population] = {}

    @property
    def moment(self) -> float:
        """Epoch seconds."""
        return self.workload.start + self.elapsed

    def resource_number(self, table: TableLayout, index: IndexLayout | None) -> int:
        """Return the number of a table or global index; a local index has its table's."""
        name = index.name if index is not None and index.is_global else None
        for number, (other, own) in enumerate(self.resources):
            if other is table and (None if own is None else own.name) == name:
                return number
        raise KeyError(name)

    def population(self, table: TableLayout, index: str | None) -> Population:
        """Return what lies in a table or index."""
        key = table.name, index
        population = self._populations.get(key)
        if population is None:
            population = self._populations[key] = Population()
        return population

    def population_of(self, resource: int) -> Population:
        """Return what lies in a table or global index, by its number."""
        table, index = self.resources[resource]
        return self.population(table, None if index is None else index.name)

    def local_populations(self, resource: int) -> list[Population]:
        """Return what lies in the local indexes of a table, by its number."""
        table, index = self.resources[resource]
        local = [own for own in table.indexes if index is None and not own.is_global]
        return [self.population(table, own.name) for own in local]

    def collections_of(self, resource: int) -> Collections:
        """Return the item collections of a table or global index, by its number."""
        collections = self.population_of(resource).collections()
        for local in self.local_populations(resource):
            collections.add_local(local.collections())
        return collections

    def last_writers(self, family: tuple[str, str | None]) -> LastWriters:
        """Return who wrote the items of a table and entity last."""
        return self._last_writers.setdefault(family, LastWriters())

    def last_shares(
        self, table: TableLayout, entity: str | None, *, newest: bool
    ) -> dict[str, float]:
        """Return by pattern the share of a table's items that it wrote last.

        Args:
            table: Which.
            entity: Of its items, those of one.
            newest: Only the newest item under each key counts.
        """
        held = self.population(table, None).items
        items = float((np.minimum(1.0, held) if newest else held).sum())
        return self.last_writers((table.name, entity)).shares(items)

    def size_of(self, table: TableLayout, index: str | None) -> float:
        """Return the mean size of what lies in a table or index, as far as known."""
        population = self.population(table, index)
        if population.total_items:
            return population.total_bytes / population.total_items
        return self.mean_bytes.get((table.name, index), 0.0)

    def size_mix(self, table: TableLayout, index: str | None, mean: float) -> SizeMix:
        """Return the sizes of items with a mean in a table or index, of those that are written."""
        own = [
            pricer.item_bytes if index is None else pricer.entry_bytes(index)
            for name, pricer in self.pricers.items()
            if self._leaves_items(name, table) and (index is None or pricer.entry_sizes(index))
        ]
        return SizeMix.of(mean, own)

    def _leaves_items(self, name: str, table: TableLayout) -> bool:
        pattern = self.workload.pattern(name)
        return pattern.operation != "DeleteItem" and self.layout.table_of(pattern) is table

    def settle_rewrites(self) -> None:
        """Let items have the sizes that writes of all patterns have given them."""
        for population in self._populations.values():
            population.settle_rewrites()

    def settle(self) -> None:
        """Note that all items so far were there before the run."""
        for population in self._populations.values():
            population.settle()

    def start_counting(self) -> None:
        """Note what is there when the warm-up ends."""
        for population in self._populations.values():
            population.start_counting()

    def copy_contents(self) -> Contents:
        """Return what is stored, for ``restore_contents``."""
        populations = {key: population.copy() for key, population in self._populations.items()}
        writers = {key: writers.copy() for key, writers in self._last_writers.items()}
        return Contents(populations, dict(self.created), writers)

    def restore_contents(self, contents: Contents) -> None:
        """Go back to what was stored, and to the beginning of the run."""
        self._populations = {
            key: population.copy() for key, population in contents.populations.items()
        }
        self.created = dict(contents.created)
        self._last_writers = {key: writers.copy() for key, writers in contents.last_writers.items()}
        self.elapsed = self.until = -float(self.workload.warm_up)


@dataclass(frozen=True)
class Contents:
    """What is stored in tables and indexes, how many unique values exist, and who wrote last."""

    populations: dict[tuple[str, str | None], Population]
    created: dict[str, float]
    last_writers: dict[tuple[str, str | None], LastWriters]


def alike(values: Floats) -> PerGroup:
    """Return the one number that all key groups have, where they have the same.

    >>> alike(np.array([0.5, 0.5])), alike(np.array([0.5, 1.0])).tolist()
    (0.5, [0.5, 1.0])
    """
    first = float(values[0])
    return first if (values == first).all() else values


@dataclass(frozen=True, eq=False)
class PatternKeys:
    """The keys that a pattern's requests ask for, until they change.

    Attributes:
        groups: The key groups.
        placed: Where they fall on each resource that a call draws on, the table first.
    """

    groups: KeyGroups
    placed: tuple[PlacedKeys, ...]


@dataclass(frozen=True)
class CallPrices:
    """What the calls of a pattern are like at a moment; equal if they take the same units.

    Attributes:
        calls: Calls per request.
        units: For each resource that a call draws on, the units of one call.
        chances: For each of them, how likely a call draws on it at all.
        evaluated: Bytes read per call; of a transaction, per item.
        filtered: Of those the bytes that a filter throws away.
    """

    calls: PerGroup
    units: tuple[PerGroup, ...]
    chances: tuple[float, ...]
    evaluated: PerGroup = field(default=0.0, compare=False)
    filtered: PerGroup = field(default=0.0, compare=False)

    def weighed(self, weights: Floats) -> WeighedPrices:
        """Return the prices times the share of requests that each key group has."""
        calls = weights * self.calls
        return WeighedPrices(
            calls, tuple(own if isinstance(own, float) else calls * own for own in self.units)
        )


@dataclass(frozen=True)
class WeighedPrices:
    """Prices by key group, in proportion to its share of the requests.

    Attributes:
        calls: Calls per request.
        units: For each resource, the units of these calls, or what one takes if all cost the same.
    """

    calls: Floats
    units: tuple[PerGroup, ...]


class PatternModel(ABC):
    """One pattern in numbers.

    Attributes:
        resource: The number of the table or index that it asks.
        actions: Items per call that are admitted all or none.
        per_request: Calls per request, pages and suffixes aside.
        differs_by_world: Whether its keys and prices depend on a world's partitions.
    """

    differs_by_world = False

    def __init__(self, context: ModelContext, path: AccessPath) -> None:
        self.context = context
        self.path = path
        self.pattern = path.pattern
        self.policy = context.workload.policy(path.pattern)
        self.resource = context.resource_number(path.table, path.index)
        self.actions = self.pattern.actions if self.pattern.is_transaction else 1
        self.per_request = 1 if self.pattern.is_transaction else self.pattern.actions

    @abstractmethod
    def keys(self, resource: Resource) -> PatternKeys:
        """Return the keys as of the context's moment; the same object while they are the same.

        Args:
            resource: The engine's side of the table or index that it asks, in the world that
                the keys are for.
        """

    @abstractmethod
    def price(self, keys: PatternKeys, resource: Resource) -> CallPrices:
        """Return what calls for these keys cost at the context's moment."""

    def absorb(self, accepted: Floats) -> None:  # noqa: B027 - reads leave nothing
        """Store what the accepted calls of each key group have written."""

    def existing_values(self) -> dict[str, Existing]:
        """Return which values of unique fields are asked for, if popularity tells them apart."""
        existing: dict[str, Existing] = {}
        for own in self.context.workload.fields:
            if not own.unique:
                continue
            pick = self.pattern.pick(own)
            count = self.context.created.get(own.name, 0.0)
            if isinstance(pick, Zipf) and count >= 1:
                window = int(min(count, LATEST_WINDOW))
                existing[own.name] = Existing(np.arange(window), pick.probabilities(window))
            arrivals = self.context.creation_rate.get(own.name, 0.0) * 60
            shares = latest_weights(pick, count, arrivals)
            if shares is not None:
                newest = int(count) + max(1, round(arrivals)) - 2
                existing[own.name] = Existing(newest - np.arange(len(shares)), shares)
        return existing


def unlisted_shards(shards: Sequence[ShardPart], workload: Workload) -> list[ShardPart]:
    """Return the calculated suffixes whose fields are new every time: as good as drawn."""
    return [shard for shard in shards if any(workload.field(name).unique for name in shard.fields)]


def sort_shards(key: KeyLayout, workload: Workload, known: Container[str] = ()) -> list[ShardPart]:
    """Return what tells random unique values in a sort key apart, those known aside."""
    names = {
        name
        for template in key.sort
        for name in template.fields
        if workload.field(name).unique == "random" and name not in known
    }
    return [ShardPart((), SORT_STRATA, sort_label(name)) for name in sorted(names)]
