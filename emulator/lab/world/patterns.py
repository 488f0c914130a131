"""Pattern models: one access pattern under a design, in numbers.

A model knows which keys its calls ask for, how many calls a request makes, what each costs at the
moment, and what its writes leave behind. It decides nothing about admission, and where keys lie
is the business of each world.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias, cast

import numpy as np

from emulator.lab.inputs.distributions import Floats, Latest, Zipf
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.items import needed_fields
from emulator.lab.planning.layout import IndexLayout, Layout, TableLayout
from emulator.lab.planning.sampling import LATEST_WINDOW
from emulator.lab.world.arrivals import Requests
from emulator.lab.world.bins import Bins, Existing
from emulator.lab.world.contents import Contents, WorldCell
from emulator.lab.world.families import Placement
from emulator.lab.world.prices import SizeMix, WritePricer, mean_size
from emulator.model import IndexSchema

#: By world and cell; one column, or one row, stands for all.
PerCell: TypeAlias = Annotated[Floats, "world", "cell"]
PerWorld: TypeAlias = Annotated[Floats, "world"]
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
        """Note writes, which come in no particular order until shares are asked for."""
        self._writes[pattern] = self._writes.get(pattern, 0.0) + writes

    def shares(self, items: float) -> dict[str, float]:
        """Return the share of each pattern among ``items`` items."""
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


class Context:
    """The common ground of the models of a design: the time, and the stored items.

    Attributes:
        layout: The design under its workload.
        schemas: Of its indexes.
        bins: The values of every field, in bins.
        worlds: How many worlds there are. What is stored has a row for each, and one more for a
            world in which nothing is refused: what holds for all worlds is asked of it, so that
            none depends on those beside it.
        elapsed: Seconds into the run at the beginning of the present stretch; negative while
            what the warm-up writes is stored (CAP2-10).
        until: And at its end.
        requests: Of every pattern, by name.
        least: A value that is picked with this probability may be followed.
        pricers: By write pattern, what prices its items.
    """

    def __init__(
        self,
        layout: Layout,
        schemas: Schemas,
        bins: Mapping[str, Bins],
        least: float,
        worlds: int,
    ) -> None:
        self.layout = layout
        self.schemas = schemas
        self.bins = bins
        self.least = least
        self.worlds = worlds
        self.elapsed = self.until = -float(self.workload.warm_up)
        self.requests = {
            pattern.name: Requests.of(self.workload, pattern) for pattern in self.workload.patterns
        }
        self.pricers: dict[str, WritePricer] = {}
        self._contents: dict[tuple[str, str | None], Contents] = {}
        self._last_writers: dict[tuple[str, str | None], LastWriters] = {}

    @property
    def workload(self) -> Workload:
        """The workload."""
        return self.layout.workload

    @property
    def moment(self) -> float:
        """Epoch seconds."""
        return self.workload.start + self.elapsed

    @property
    def resources(self) -> list[tuple[TableLayout, IndexLayout | None]]:
        """The tables and global indexes, by number."""
        return [
            (table, index)
            for table in self.layout.tables
            for index in (None, *table.global_indexes)
        ]

    def number_of(self, table: TableLayout, index: IndexLayout | None) -> int:
        """Return the number of a table or global index; a local index has its table's."""
        name = index.name if index is not None and index.is_global else None
        for number, (other, own) in enumerate(self.resources):
            if other is table and (None if own is None else own.name) == name:
                return number
        raise KeyError(name)

    def contents(self, table: TableLayout, index: str | None) -> Contents:
        """Return the contents of a table or index."""
        key = table.name, index
        if key not in self._contents:
            self._contents[key] = Contents(self.worlds + 1)
        return self._contents[key]

    def all_of(self, resource: int) -> list[Contents]:
        """Return the contents of a table and its local indexes, or of a global index."""
        table, index = self.resources[resource]
        local = [own.name for own in table.indexes if index is None and not own.is_global]
        names = [None if index is None else index.name, *local]
        return [self.contents(table, name) for name in names]

    def save(self) -> Saved:
        """Return the contents and last writers, for ``restore``."""
        held = {key: contents.copy(self.worlds + 1) for key, contents in self._contents.items()}
        writers = {key: own.copy() for key, own in self._last_writers.items()}
        return Saved(held, writers)

    def restore(self, saved: Saved, worlds: int) -> None:
        """Go back to the contents stored in one world, in some worlds, and to the beginning."""
        self.worlds = worlds
        self.elapsed = self.until = 0.0
        self._contents = {
            key: contents.copy(worlds + 1) for key, contents in saved.contents.items()
        }
        self._last_writers = {key: own.copy() for key, own in saved.last_writers.items()}

    def every(self) -> list[Contents]:
        """Return the contents of every table and index."""
        return list(self._contents.values())

    def last_writers(self, table: TableLayout, entity: str | None) -> LastWriters:
        """Return which patterns wrote the items of a table and entity last."""
        return self._last_writers.setdefault((table.name, entity), LastWriters())

    def last_shares(
        self, table: TableLayout, entity: str | None, *, newest: bool
    ) -> dict[str, float]:
        """Return by pattern the share of a table's items that it wrote last.

        Args:
            table: The table.
            entity: Of its items, those of one.
            newest: Only the newest item under each key counts.
        """
        held = self.contents(table, None)
        items = np.minimum(1.0, held.items) if newest else held.items
        return self.last_writers(table, entity).shares(float((items[-1] * held.counts).sum()))

    def mean_bytes(self, table: TableLayout, index: str | None) -> PerWorld:
        """Return the mean size of what lies in a table or index, or is written there at least."""
        held = self.contents(table, index)
        items = held.total_items
        sizes = [
            pricer.item_bytes if index is None else mean_size(pricer.entry_sizes(index))
            for pricer in self._writers(table, index)
        ]
        written = np.full(len(items), sizes[-1] if sizes else 0.0)
        np.divide(held.total_bytes, items, out=written, where=items > 0)
        return written

    def size_mix(self, table: TableLayout, index: str | None, mean: float) -> SizeMix:
        """Return the sizes of items with a mean in a table or index, of those that are written."""
        leaving = [
            pricer.item_bytes if index is None else mean_size(pricer.entry_sizes(index))
            for pricer in self._writers(table, index)
        ]
        return SizeMix.of(mean, leaving)

    def _writers(self, table: TableLayout, index: str | None) -> list[WritePricer]:
        """Return the pricers of the items that patterns leave in a table or index."""
        patterns = {name: self.workload.pattern(name) for name in self.pricers}
        return [
            self.pricers[name]
            for name, pattern in patterns.items()
            if pattern.operation != "DeleteItem"
            and self.layout.table_of(pattern) is table
            and (index is None or self.pricers[name].entry_sizes(index))
        ]

    def _creators(self, name: str) -> list[Pattern]:
        """Return the patterns whose puts make new values of a unique field."""
        return [
            pattern
            for pattern in self.workload.patterns
            if pattern.is_put and name in needed_fields(self.layout, pattern)
        ]

    def created(self, name: str) -> float:
        """Return how many values of a unique field exist by now."""
        creators = self._creators(name)
        loaded = {preload.pattern: preload.items for preload in self.workload.preload}
        begin = -self.workload.warm_up
        return sum(
            loaded.get(pattern.name, 0)
            + self.requests[pattern.name].expected(begin, int(self.elapsed)) * pattern.actions
            for pattern in creators
        )

    def creation_rate(self, name: str) -> float:
        """Return how many values of a unique field come in a second, on average."""
        return (
            sum(
                self.requests[pattern.name].expected(0, self.workload.duration) * pattern.actions
                for pattern in self._creators(name)
            )
            / self.workload.duration
        )


@dataclass(frozen=True)
class Saved:
    """The contents of tables and indexes, and which patterns wrote them last."""

    contents: dict[tuple[str, str | None], Contents]
    last_writers: dict[tuple[str, str | None], LastWriters]


@dataclass(frozen=True, eq=False)
class Price:
    """The price of the calls of a pattern at a moment.

    Attributes:
        calls: Calls per request.
        units: For each placement, the units of one call.
        touches: For each placement, by world, how likely a call draws on it at all.
        evaluated: Bytes read per call; of a transaction, per item.
        filtered: Of those the bytes that a filter throws away.
    """

    calls: PerCell
    units: tuple[PerCell, ...]
    touches: tuple[PerWorld, ...]
    evaluated: PerCell
    filtered: PerCell


class PatternModel(ABC):
    """One pattern in numbers.

    Attributes:
        context: The common ground with the others.
        path: How the design answers the pattern.
        pattern: The pattern.
        resource: The number of the table or index that it asks.
        placements: Where its cells fall on each resource that a call draws on, the table first.
    """

    placements: tuple[Placement, ...] = ()

    def __init__(self, context: Context, path: AccessPath) -> None:
        self.context = context
        self.path = path
        self.pattern = path.pattern
        self.resource = context.number_of(path.table, path.index)

    @property
    def actions(self) -> int:
        """Items per call that are admitted all or none."""
        return self.pattern.actions if self.pattern.is_transaction else 1

    @property
    def per_request(self) -> int:
        """Calls per request, pages and suffixes aside."""
        return 1 if self.pattern.is_transaction else self.pattern.actions

    @property
    def is_fixed(self) -> bool:
        """Whether calls cost the same, whatever is stored."""
        return False

    def begin(self) -> None:
        """Go back to the beginning of the run."""
        self.refresh()

    def refresh(self) -> bool:
        """Follow the time; return whether the cells are others now."""
        return False

    @property
    def until(self) -> float:
        """The next second at which ``refresh`` may have other cells."""
        return math.inf

    @abstractmethod
    def price(self, keys: Sequence[Sequence[tuple[str, ...]]]) -> Price:
        """Return the price of calls at the context's moment.

        Args:
            keys: By placement, the partition key of each cell.
        """

    def absorb(self, accepted: WorldCell, keys: Sequence[Sequence[tuple[str, ...]]]) -> None:  # noqa: B027 - reads leave nothing
        """Store what accepted calls have written.

        Args:
            accepted: Calls.
            keys: By placement, the partition key of each cell.
        """

    def is_newest(self, name: str) -> bool:
        """Return whether values of a unique field are told apart by their popularity."""
        field = self.context.workload.field(name)
        return field.unique is not None and isinstance(self.pattern.pick(field), Zipf | Latest)

    def existing(self, names: Sequence[str]) -> dict[str, Existing]:
        """Return which values of unique fields are asked for, if popularity tells them apart."""
        found: dict[str, Existing] = {}
        least = self.context.least
        for name in names:
            if not self.is_newest(name) or self.context.created(name) < 1:
                continue
            pick = cast("Zipf | Latest", self.pattern.pick(self.context.workload.field(name)))
            count = self.context.created(name)
            arrivals = self.context.creation_rate(name) * MINUTE
            shares = latest_weights(pick, count, arrivals)
            numbers = int(count) + max(1, round(arrivals)) - 2 - np.arange(len(shares))
            if isinstance(pick, Zipf):
                shares = pick.probabilities(int(min(count, LATEST_WINDOW)))
                numbers = np.arange(len(shares))
            if shares.max() >= least:
                found[name] = Existing.of(numbers, shares, least)
        return found


def latest_weights(distribution: Zipf | Latest, existing: float, arrivals: float) -> Floats:
    """Return the shares of the newest values, newest first, averaged over some time.

    While ``arrivals`` new values come in, each takes its turn at being the newest; the first
    share is that of the last one to come.
    """
    window = int(min(existing, LATEST_WINDOW))
    shares = Zipf(distribution.s).probabilities(window)
    turns = max(1, round(arrivals))
    summed = np.concatenate([[0.0], np.cumsum(shares)])
    ages = np.arange(window + turns - 1)
    high = np.minimum(ages + 1, window)
    low = np.clip(ages + 1 - turns, 0, window)
    return np.asarray((summed[high] - summed[low]) / turns)


def unlisted_shards(shards: Sequence[ShardPart], workload: Workload) -> list[ShardPart]:
    """Return the calculated suffixes whose fields are new every time: as good as drawn."""
    return [shard for shard in shards if any(workload.field(name).unique for name in shard.fields)]
