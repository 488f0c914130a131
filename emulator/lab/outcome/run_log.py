"""The run log: what a run leaves behind, in one form for both engines.

It listens to the emulator of the run and samples it; engines add what they let pass and what
they refuse.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from emulator.capacity import ONE, READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.clock import NANOSECONDS
from emulator.engine.events import (
    Event,
    IndexApplied,
    IndexClosed,
    IndexDelayed,
    Scaled,
    Split,
    SplitRefused,
)
from emulator.engine.resource import Resource
from emulator.lab.inputs.distributions import Floats
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.outcome.result_types import PartitionSpan, SplitResult
from emulator.lab.outcome.throttled import throttled_share
from emulator.lab.planning.layout import IndexLayout, TableLayout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.service.limits import PARTITION_UNITS
from emulator.storage import HASH_SPACE, Partition, Position

MINUTE: int = 60
#: Points of a series at most, and cells of time of the partitions.
MOST_POINTS: Final = 2_000
MOST_CELLS: Final = 240
_HEARD: Final = (Split, SplitRefused, Scaled, IndexApplied, IndexDelayed, IndexClosed)

#: Called with the seconds done and the seconds in all.
Progress: TypeAlias = Callable[[int, int], None]
#: Read and write units admitted, then refused, of one partition in one minute.
Cell = tuple[float, float, float, float]


@dataclass(slots=True)
class KeyTally:
    """The units asked of one partition key."""

    #: Units admitted, and units of refused attempts.
    consumed: float = 0.0
    throttled: float = 0.0
    #: Units of first attempts, as Contributor Insights weighs them: retries stand apart.
    offered: float = 0.0

    def offer(self, axis: int, units: float) -> None:
        """Count the units of a first attempt, whether it passes or not."""
        self.offered += units * WEIGHTS[axis]


@dataclass(slots=True)
class Collections:
    """Item collections at the end: key texts, items and bytes, in the same order."""

    keys: list[str]
    items: list[float]
    #: Bytes of their items, and of their entries in local indexes (CAP-111).
    sizes: list[float]
    #: Bytes that each gained during the run.
    growth: list[float]
    #: How many collections alike each row stands for.
    counts: list[float] = field(default_factory=list)
    #: Whether a row stands for keys that are new every time; no rows if none does.
    is_new: list[bool] = field(default_factory=list)
    #: Entries in local indexes; no rows if the table has none.
    entries: list[float] = field(default_factory=list)

    def add_local(self, index: Collections) -> None:
        """Add the entries that a local index keeps in these collections."""
        own = {
            key: (items * count, size * count, growth * count)
            for key, items, size, growth, count in zip(
                index._rows(), index.items, index.sizes, index.growth, index.counts, strict=True
            )
        }
        self.entries = self.entries or [0.0] * len(self.keys)
        for row, key in enumerate(self._rows()):
            items, size, growth = own.get(key, (0.0, 0.0, 0.0))
            self.entries[row] += items / self.counts[row]
            self.sizes[row] += size / self.counts[row]
            self.growth[row] += growth / self.counts[row]

    def _rows(self) -> list[tuple[str, bool]]:
        """Return the key of each row, and whether it is new."""
        return list(zip(self.keys, self.is_new or [False] * len(self.keys), strict=True))

    @property
    def new_count(self) -> float:
        """How many collections have a key that was new when it was written."""
        return sum(count for count, new in zip(self.counts, self.is_new, strict=False) if new)


@dataclass(frozen=True)
class KeyTotals:
    """The totals of partition keys, those that are taken together after the named ones.

    Attributes:
        texts: The named keys.
        counts: How many keys each row stands for: 1 for a named key.
        consumed: Units admitted; this and the rest for all keys of a row.
        throttled: Units of refused attempts.
        offered: Units of first attempts, as Contributor Insights weighs them.
        examples: Some keys of each row after the named ones.
    """

    texts: Sequence[str]
    counts: Floats
    consumed: Floats
    throttled: Floats
    offered: Floats
    examples: Sequence[Sequence[str]] = ()


class ResourceRecord:
    """One table or global index during a run; series have a value for each point of time.

    Attributes:
        table: The table that it is, or belongs to.
        resource: The engine's side of it.
        step: How many seconds are one point.
        consumed: By axis, units admitted.
        throttled: By axis, units of refused attempts.
        provisioned: By axis, what it may use in a second.
        burst: By axis, the reserve at the end of the point.
        backlog: Of a global index, the write units that wait for it then (CAP2-4).
        closed_at: When it first closed its table's writes, in seconds, or None.
        waiting_reason: Why something last had to wait for it, or None.
        minutes: For each cell of time (see ``RunLog``), its partitions' cells by id.
        offered: Likewise, what first attempts asked of each partition by id, as Contributor
            Insights weighs it.
        spans: Every partition that ever was, by id.
    """

    def __init__(
        self, name: str, table: TableLayout, resource: Resource, seconds: int, step: int
    ) -> None:
        self.name = name
        self.table = table
        self.resource = resource
        self.step = step
        points = -(-seconds // step)
        self.consumed = ([0.0] * points, [0.0] * points)
        self.throttled = ([0.0] * points, [0.0] * points)
        self.provisioned = ([0.0] * points, [0.0] * points)
        self.burst = ([0.0] * points, [0.0] * points)
        self.backlog = [0.0] * points
        self.closed_at: float | None = None
        self.waiting_reason: str | None = None
        self.minutes: list[dict[int, Cell]] = []
        self.offered: list[dict[int, float]] = []
        self.partition_counts: list[int] = []
        self.spans: dict[int, PartitionSpan] = {}
        #: Answers the item collections at the end of the run.
        self.collect: Callable[[], Collections] = lambda: Collections([], [], [], [])
        #: Keys that are counted one by one; ``key`` makes those that are missing.
        self.named_keys: dict[str, KeyTally] = {}
        #: Keys that are counted together: how many, what they were asked for, and some of them.
        self._groups: list[tuple[float, KeyTally, Sequence[str]]] = []
        #: Calls that write keys which are new every time, and that ask for such keys.
        self.new_written = self.new_read = 0.0
        #: What first attempts of the running minute ask of each partition.
        self.offered_now: defaultdict[int, float] = defaultdict(float)
        for partition in resource.partitions:
            self.open(partition, 0.0)

    @property
    def is_table(self) -> bool:
        """Return whether it is a table."""
        return self.resource.is_table

    def open(self, partition: Partition, time: float) -> None:
        """Note a new partition."""
        low, high = self.resource.partitions.range_of(partition)
        self.spans[partition.id] = PartitionSpan(
            partition_id=partition.id,
            low=_fraction(low),
            high=_fraction(high),
            born=time,
            died=None,
            size_bytes=0.0,
            items=0.0,
        )

    def close(self, partition_id: int, time: float) -> None:
        """Note that a partition is gone."""
        span = self.spans[partition_id]
        self.spans[partition_id] = replace(span, died=time)

    def measure(self) -> None:
        """Note what every live partition holds."""
        for partition in self.resource.partitions:
            self.spans[partition.id] = replace(
                self.spans[partition.id],
                size_bytes=float(partition.size_bytes),
                items=float(partition.items),
            )

    def sample(self, point: int, now_ns: int) -> None:
        """Note the limits in force at a moment."""
        throughput = self.resource.throughput
        meter = self.resource.meter
        rates = (throughput.read, throughput.write)
        for axis in (READ, WRITE):
            own = meter.own[axis]
            if throughput.on_demand:
                most = len(meter.partitions) * PARTITION_UNITS[axis]
                quota = meter.quota.buckets[axis].rate if meter.quota is not None else most
                rate = min(most, quota, quota if own is None else own.rate)
            else:
                rate = rates[axis]
            self.provisioned[axis][point] = float(rate)
            if own is not None:
                own.refill(now_ns)
                self.burst[axis][point] = own.burst / ONE

    def offer(self, partition_id: int, axis: int, units: float) -> None:
        """Count the units that first attempts of the running minute ask of a partition."""
        self.offered_now[partition_id] += units * WEIGHTS[axis]

    def close_minute(self) -> None:
        """Note the running minute's loads; to be called before the engine closes it."""
        self.offered.append(dict(self.offered_now))
        self.offered_now.clear()
        self.minutes.append(
            {
                partition_id: (read.consumed, write.consumed, read.throttled, write.throttled)
                for partition_id, (read, write) in self.resource.meter.traffic.loads.items()
            }
        )
        self.partition_counts.append(len(self.resource.partitions))

    def key(self, text: str) -> KeyTally:
        """Return the tally of a partition key."""
        tally = self.named_keys.get(text)
        if tally is None:
            tally = self.named_keys[text] = KeyTally()
        return tally

    def add_group(self, count: float, tally: KeyTally, examples: Sequence[str]) -> None:
        """Count the units asked of some keys together.

        Args:
            count: How many; infinite for keys that are new every time.
            tally: The units asked of all of them.
            examples: Some of them.
        """
        self._groups.append((count, tally, examples))

    def keys(self) -> KeyTotals:
        """Return the totals of partition keys, of those that were asked for."""
        named = {
            text: own
            for text, own in self.named_keys.items()
            if own.consumed or own.throttled or own.offered
        }
        groups = [own for own in self._groups if 0 < own[0] < math.inf]
        new = KeyTally()
        for count, own, _ in self._groups:
            if count == math.inf:
                new.consumed += own.consumed
                new.throttled += own.throttled
                new.offered += own.offered
        if new.offered:
            there = max(self.collections.new_count, self.new_written, 1.0)
            asked = -math.expm1(-self.new_read / there)
            used = self.new_written + (there - self.new_written) * asked
            groups.append((max(1.0, used), new, ()))
        rows = [(1.0, own) for own in named.values()] + [own[:2] for own in groups]
        columns = [(count, own.consumed, own.throttled, own.offered) for count, own in rows]
        counted = np.asarray(columns, dtype=np.float64).reshape(-1, 4).T
        counts, consumed, throttled, offered = counted
        examples = [own for _, _, own in groups]
        return KeyTotals(list(named), counts, consumed, throttled, offered, examples)

    @cached_property
    def collections(self) -> Collections:
        """The item collections at the end of the run."""
        return self.collect()


def _fraction(position: Position) -> float:
    return float(position[0] / HASH_SPACE)


def key_text(position: Position, prefix_length: int) -> str:
    """Return the partition key in a position as text."""
    if prefix_length == 2:
        return str(position[1])
    return " / ".join(str(value) for value in position[1:prefix_length])


@dataclass(slots=True)
class PatternRecord:
    """One pattern during a run; what results call these things, they are here."""

    pattern: Pattern
    resource: str
    fan_out: float = 0.0
    requests: float = 0.0
    calls: float = 0.0
    attempts: float = 0.0
    throttled_by_reason: dict[str, float] = field(default_factory=dict)
    refusals: float = 0.0
    failed: float = 0.0
    #: Calls that were neither answered nor given up when the run ended.
    waiting: float = 0.0
    #: Calls that took 1, 2, 3, ... attempts.
    histogram: list[float] = field(default_factory=lambda: [0.0] * 16)
    #: Of those the calls that were given up.
    failed_histogram: list[float] = field(default_factory=lambda: [0.0] * 16)
    #: Added latency of calls that were answered after retries, with how many calls each.
    latencies: array[float] = field(default_factory=lambda: array("d"))
    latency_weights: array[float] = field(default_factory=lambda: array("d"))
    #: By resource name, read and write units.
    units: dict[str, list[float]] = field(default_factory=dict)
    evaluated_bytes: float = 0.0
    filtered_bytes: float = 0.0

    @property
    def throttled(self) -> float:
        """Calls refused at least once."""
        return sum(self.throttled_by_reason.values())

    @property
    def answered(self) -> float:
        """Calls that were answered before the run ended."""
        return max(0.0, self.calls - self.failed - self.waiting)

    def consume(self, resource: str, axis: int, units: float) -> None:
        """Count units admitted."""
        self.units.setdefault(resource, [0.0, 0.0])[axis] += units


def closing_second(
    backlog: Sequence[float], buffer: float, closed_at: float | None, step: int = 1
) -> float | None:
    """Return when an index closes, in seconds: as it did, or would if the load went on (CAP2-4).

    Args:
        backlog: For each point of the run, the write units that wait for it.
        buffer: The units that may wait.
        closed_at: When it closed, if it did.
        step: How many seconds are one point.

    >>> closing_second([10.0, 20.0, 30.0], buffer=100.0, closed_at=None)
    10.0
    """
    if closed_at is not None:
        return closed_at
    span = min(max(1, MINUTE // step), len(backlog) - 1)
    units = backlog[-1]
    growth = units - backlog[-1 - span]
    if growth <= 0:
        return None
    return (len(backlog) + max(0.0, buffer - units) * span / growth) * step


def step_of(seconds: int, most: int = MOST_POINTS) -> int:
    """Return how many seconds are one point of a series that has ``most`` points at most.

    A minute has a whole number of points, or a point a whole number of minutes.

    >>> step_of(900), step_of(3_600), step_of(86_400), step_of(30 * 86_400)
    (1, 2, 60, 1320)
    """
    least = -(-seconds // most)
    parts = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, MINUTE)
    return next((part for part in parts if part >= least), -(-least // MINUTE) * MINUTE)


class RunLog:
    """Everything one run leaves behind.

    Attributes:
        seconds: How many seconds it has room for.
        step: How many seconds are one point of a series.
        cell: How many seconds of partitions are one cell.
        start_ns: When its time is 0.
    """

    def __init__(self, emulator: RunEmulator) -> None:
        self.layout = emulator.layout
        self.emulator = emulator
        workload = self.layout.workload
        self.seconds = workload.duration
        self.step, self.cell = step_of(self.seconds), MINUTE
        self.start_ns = emulator.account.now_ns
        self.first_throttle: float | None = None
        self.last_throttle: float | None = None
        self.splits: list[SplitResult] = []
        self.scalings: list[Scaled] = []
        self.resources = self._new_records()
        self.patterns: dict[str, PatternRecord] = {}
        self._leave = emulator.emulator.events.subscribe(self._hear, _HEARD)

    def _new_records(self) -> dict[str, ResourceRecord]:
        records: dict[str, ResourceRecord] = {}
        for table in self.layout.tables:
            for index in (None, *table.global_indexes):
                resource = self.emulator.resource(table, index)
                name = self.layout.resource_name(table, None if index is None else index.name)
                records[resource.arn] = ResourceRecord(
                    name, table, resource, self.seconds, self.step
                )
        return records

    @property
    def throttled_share(self) -> float:
        """The share of calls, so far, that were refused at least once."""
        return throttled_share(self.patterns.values())

    @property
    def falls_behind(self) -> bool:
        """Return whether an index closed, or will if the load goes on as it ended (CAP2-4)."""
        return any(
            self.closes_after(record) is not None
            for record in self.resources.values()
            if record.waiting_reason is not None
        )

    def closes_after(self, record: ResourceRecord) -> float | None:
        """Return when an index closes, in seconds: as it did, or would if the load went on."""
        buffer = self.emulator.table(record.table).index_buffer
        return closing_second(record.backlog, buffer, record.closed_at, self.step)

    def record_of(self, table: TableLayout, index: IndexLayout | None) -> ResourceRecord:
        """Return the record of a table or global index."""
        return self.resources[self.emulator.resource(table, index).arn]

    def _hear(self, event: Event) -> None:
        if isinstance(event, Split):
            record = self.resources[event.resource]
            time = self._time(event.time_ns)
            record.close(event.partition_id, time)
            for child in record.resource.partitions:
                if child.id in event.children:
                    record.open(child, time)
            self._note_split(event, event.children)
        elif isinstance(event, SplitRefused):
            self._note_split(event, ())
        elif isinstance(event, Scaled):
            self.scalings.append(event)
        elif isinstance(event, IndexApplied):
            self._add(self.resources[event.resource].consumed[WRITE], event.time_ns, event.units)
        elif isinstance(event, IndexDelayed):
            record = self.resources[event.resource]
            record.waiting_reason = event.reasons[0].reason
            self._add(record.throttled[WRITE], event.time_ns, event.units)
        elif isinstance(event, IndexClosed):
            self.note_closing(self.resources[event.resource], event.time_ns)

    def _add(self, series: list[float], time_ns: int, units: float) -> None:
        second = int(self._time(time_ns))
        if second < self.seconds:
            series[second // self.step] += units

    def note_closing(self, record: ResourceRecord, time_ns: int) -> None:
        """Note that an index refuses its table's writes from now on."""
        if record.closed_at is None:
            record.closed_at = self._time(time_ns)

    def _note_split(self, event: Split | SplitRefused, children: tuple[int, ...]) -> None:
        self.splits.append(
            SplitResult(
                time=self._time(event.time_ns),
                resource=self.resources[event.resource].name,
                partition_id=event.partition_id,
                children=children,
                cause=event.cause,
            )
        )

    def _time(self, time_ns: int) -> float:
        return (time_ns - self.start_ns) / NANOSECONDS

    def sample(self, second: int, now_ns: int) -> None:
        """Note the limits in force at the end of a second."""
        point = second // self.step
        for record in self.resources.values():
            record.sample(point, now_ns)
            if not record.is_table:
                queue = self.emulator.table(record.table).indexes[record.resource.name].queue
                record.backlog[point] = queue.backlog

    def close_minute(self) -> None:
        """Note the running minute; to be called before the engine closes it."""
        for record in self.resources.values():
            record.close_minute()

    def finish(self) -> None:
        """Note the end state and stop listening."""
        for record in self.resources.values():
            record.measure()
        self._leave()


#: Asked after every second; True ends the run.
Stop: TypeAlias = Callable[[RunLog], bool]
