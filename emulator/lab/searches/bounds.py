"""Bounds: what a key must carry and what it costs at least, before anything is played."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from emulator.capacity import EVENTUAL, READ, WRITE
from emulator.capacity.prices import STANDARD
from emulator.capacity.units import on_demand_start, read_units, write_units
from emulator.lab.inputs.design import Capacity, Design
from emulator.lab.inputs.patterns import TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.access_paths import AccessPath, find_path, stored_items
from emulator.lab.planning.layout import IndexLayout, Layout, TableLayout
from emulator.lab.world import most_popular
from emulator.service.limits import PARTITION_UNITS, READ_BLOCK_BYTES
from emulator.settings import DEFAULT_SETTINGS

#: Assumed: of what a partition serves, a key is to take at most this much, since others lie
#: beside it.
_KEY_SHARE: Final = 0.25
#: Of what is asked for, so many times as much is served from the start: less is tight.
SPARE: Final = 1.5
#: Assumed: the bytes of a key, and of each attribute beside it.
KEY_BYTES: Final = 100
ATTRIBUTE_BYTES: Final = 32
#: Assumed: what a Query finds that takes all there is.
_SOME_ITEMS: Final = 10


def popularity(workload: Workload, pattern: Pattern, names: Iterable[str]) -> float:
    """Return the share of a pattern's requests that the most popular values of fields take.

    >>> from emulator.lab import Field
    >>> fields = [Field("tenant", count=4), Field("user", count=5, per="tenant")]
    >>> save = Pattern("save", "PutItem", rate=1)
    >>> users = Workload(fields=fields, patterns=[save], duration=60)
    >>> round(popularity(users, save, ["user"]), 3), popularity(users, save, ["tenant"])
    (0.05, 0.25)
    """
    wanted = {name for name in names if name != TIMESTAMP}
    wanted |= {parent for name in wanted if (parent := workload.field(name).per)}
    share = 1.0
    for name in wanted:
        field = workload.field(name)
        share *= 0.0 if field.unique else most_popular(pattern.pick(field), field.size)
    return share


def shards_for(workload: Workload, writes: Sequence[Pattern], names: Sequence[str]) -> int:
    """Return how many suffixes a partition key of some fields needs, to carry its writes."""
    hottest = sum(
        _peak(workload, pattern) * _item_units(pattern) * popularity(workload, pattern, names)
        for pattern in writes
    )
    return max(1, math.ceil(hottest / (PARTITION_UNITS[WRITE] * _KEY_SHARE)))


@dataclass(frozen=True)
class Floor:
    """What a design takes at least.

    Attributes:
        peaks: By table and index, the read and write units a second at the busiest moment.
        monthly: Dollars a month on demand, storage apart.
    """

    peaks: dict[str, list[float]]
    monthly: float


def floor_of(layout: Layout) -> Floor:
    """Return the least price of a design."""
    workload = layout.workload
    peaks: dict[str, list[float]] = {name: [0.0, 0.0] for name in layout.capacities}
    totals = [0.0, 0.0]
    for pattern in workload.patterns:
        path = find_path(layout, pattern)
        for name, axis, units in _units(layout, path):
            peaks[name][axis] += units * _peak(workload, pattern)
            totals[axis] += units * float(workload.rates(pattern).mean()) * pattern.actions
    seconds = DEFAULT_SETTINGS.hours_per_month * 3600
    share = 1.0 if workload.every is None else workload.duration / workload.every
    reads, writes = (units * seconds * share for units in totals)
    return Floor(peaks, STANDARD.on_demand(reads=reads, writes=writes))


def prewarmed(design: Design, workload: Workload, *, spare: float = SPARE) -> Design:
    """Return a design on demand, warmed where its tables would be too small when they are new.

    Args:
        design: The design.
        workload: What is asked of it.
        spare: How many times as much as is asked for it serves from the start.
    """
    layout = Layout(design, workload)
    peaks = floor_of(layout).peaks
    tables = []
    for table in layout.tables:
        indexes = tuple(
            replace(
                index.design, capacity=_warm(peaks[layout.resource_name(table, index.name)], spare)
            )
            if index.is_global
            else index.design
            for index in table.indexes
        )
        capacity = _warm(peaks[layout.resource_name(table, None)], spare)
        tables.append(replace(table.design, indexes=indexes, capacity=capacity))
    return design.with_tables(*tables)


def _warm(peaks: Sequence[float], spare: float) -> Capacity:
    start = on_demand_start(DEFAULT_SETTINGS.on_demand_partitions)
    wanted = [min(round(peak * spare), int(DEFAULT_SETTINGS.table_quota)) for peak in peaks]
    if all(own <= least for own, least in zip(wanted, start, strict=True)):
        return Capacity()
    return Capacity(
        warm_read=max(wanted[READ], start[READ]), warm_write=max(wanted[WRITE], start[WRITE])
    )


def _units(layout: Layout, path: AccessPath) -> Iterator[tuple[str, int, float]]:
    """Yield by table or index and axis the units that an item or request takes at least."""
    pattern, table = path.pattern, path.table
    if path.kind == "write":
        yield layout.resource_name(table, None), WRITE, _item_units(pattern)
        fields = layout.item_fields(pattern)
        for held in table.indexes:
            if held.holds(fields):
                name = held.name if held.is_global else None
                yield layout.resource_name(table, name), WRITE, _entry_units(layout, pattern, held)
        return
    name = None if path.index is None or not path.index.is_global else path.index.name
    units = _read_units(layout, path) * (1.0 if pattern.consistent else EVENTUAL)
    yield layout.resource_name(table, name), READ, units


def _entry_units(layout: Layout, pattern: Pattern, index: IndexLayout) -> float:
    """Return the write units of an index for one item that a pattern writes."""
    projection, changed = index.design.projection, set(pattern.changes)
    moves = bool(index.key.names & changed)
    if pattern.operation == "UpdateItem" and not moves:
        if projection == "KEYS_ONLY":
            return 0.0
        if projection != "ALL" and not changed & set(projection):
            return 0.0
    entry = _item_units(pattern)
    if projection != "ALL":
        entry = write_units(entry_bytes(layout.workload, projection))
    return entry * (2 if moves else 1)


def entry_bytes(workload: Workload, projection: str | Sequence[str]) -> int:
    """Return the bytes of an index entry that is no whole item, roughly."""
    included = () if isinstance(projection, str) else projection
    return KEY_BYTES + sum(workload.attributes.get(name, ATTRIBUTE_BYTES) for name in included)


def _read_units(layout: Layout, path: AccessPath) -> float:
    """Return the strongly consistent units of a request."""
    pattern, size = path.pattern, round(path.pattern.sizes.mean)
    if path.kind == "get":
        return float(read_units(size) * path.shard_count)
    if path.kind == "scan":
        return _stored_bytes(layout, path.table) / READ_BLOCK_BYTES
    entry = size
    if path.index is not None and path.index.design.projection != "ALL":
        entry = entry_bytes(layout.workload, path.index.design.projection)
    items = pattern.items if path.has_limit and pattern.items else _SOME_ITEMS
    units = float(read_units(items * entry)) * path.shard_count
    return units + (items * read_units(size) if path.fetches_items else 0)


def _stored_bytes(layout: Layout, table: TableLayout) -> float:
    """Return the bytes that a table holds in the middle of a run."""
    workload, held = layout.workload, 0.0
    for put in workload.patterns:
        if put.is_put and layout.table_of(put) is table:
            held += stored_items(workload, put) * put.sizes.mean
    return held


def _peak(workload: Workload, pattern: Pattern) -> float:
    """Return the most requests or items a second of a pattern."""
    return pattern.pace.highest * workload.load * pattern.actions


def _item_units(pattern: Pattern) -> float:
    """Return the write units of an item, on average."""
    sizes = zip(pattern.sizes.sizes, pattern.sizes.shares, strict=True)
    factor = 2 if pattern.is_transaction else 1
    return factor * sum(write_units(size) * share for size, share in sizes)
