"""The traffic of one table or index, minute by minute.

The running minute has one entry per accessed position, in the order of first writes (a position
that is only read stands where it was first read), and one load per partition and axis. At the
end of the minute insights and heat read it; a window of closed minutes is kept only while some
partition is hot.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import pairwise
from typing import Any, Final

#: ``(hash, partition values..., sort values..., tie...)``; comparable within one resource.
Position = tuple[Any, ...]

#: Assumed: how many positions are counted in a minute; with more, neighbours are merged.
MAX_POSITIONS: Final = 8192
#: Assumed: how many neighbours become one, which is named after the heaviest.
MERGED_NEIGHBOURS: Final = 4

#: Weight of a unit by axis. Source: CAP-805, ConsumedThroughputUnits = 3 * write + read.
WEIGHTS: Final = (1, 3)

# An access is a list, because the hot path updates it in place.
CONSUMED: Final = 0  # weight of what was admitted
THROTTLED: Final = 1  # weight of what the partition itself refused
WRITES: Final = 2  # admitted writes
THROTTLES: Final = 3  # refused operations

Access = list[float]


class PartitionLoad:
    """Throughput of one partition on one axis, in units.

    Attributes:
        consumed: Admitted in the running minute.
        throttled: Refused in the running minute.
        heat: Units of the running minute's demand on the partition beyond ``consumed``: those that
            its bucket refused, less those spared by eventually consistent reads (CAP2-2, CAP2-6).
        last_demand: Units that reached the partition in the last closed minute.
        total_consumed: Admitted in all closed minutes.
        total_throttled: Refused in all closed minutes.
        second: The last second in which something was admitted.
        in_second: Admitted in that second.
    """

    __slots__ = (
        "_earlier_peak",
        "consumed",
        "heat",
        "in_second",
        "last_demand",
        "second",
        "throttled",
        "total_consumed",
        "total_throttled",
    )

    def __init__(self) -> None:
        self.consumed = self.throttled = self.heat = 0.0
        self.last_demand = 0.0
        self.total_consumed = self.total_throttled = 0.0
        self._earlier_peak = self.in_second = 0.0
        self.second = -1

    @property
    def peak(self) -> float:
        """The most admitted within one second, ever."""
        return max(self._earlier_peak, self.in_second)

    def begin_second(self, second: int, units: float) -> None:
        """Begin to count another second, with what is admitted first."""
        self._earlier_peak = self.peak
        self.second, self.in_second = second, units

    def close(self) -> None:
        """End the running minute."""
        self.last_demand = self.consumed + self.heat
        self.total_consumed += self.consumed
        self.total_throttled += self.throttled
        self.consumed = self.throttled = self.heat = 0.0


class Minute:
    """One minute's accesses.

    Attributes:
        start_s: Epoch seconds of its beginning.
        accesses: Position to access, in first-write order; merged positions come first.
        records: For merged positions, how many of their first writes lay above, and how many
            below, everything written before in their collection.
    """

    __slots__ = ("_ordered", "accesses", "records", "start_s")

    def __init__(self, start_s: int = 0) -> None:
        self.start_s = start_s
        self.accesses: dict[Position, Access] = {}
        self.records: dict[Position, tuple[int, int]] = {}
        self._ordered: list[Position] = []

    def between(self, low: Position, high: Position) -> list[Position]:
        """Return the accessed positions in ``[low, high)``, in position order.

        They are sorted once, so the minute must have ended.

        >>> minute = Minute()
        >>> minute.accesses = {(7, "b"): [1.0, 0.0, 1, 0], (3, "a"): [1.0, 0.0, 1, 0]}
        >>> minute.between((3,), (7, "b"))
        [(3, 'a')]
        """
        ordered = self._in_order()
        return ordered[bisect_left(ordered, low) : bisect_left(ordered, high)]

    def within(self, collection: Position) -> list[Position]:
        """Return the accessed positions that begin like a collection, in position order."""
        ordered, length = self._in_order(), len(collection)
        first = last = bisect_left(ordered, collection)
        while last < len(ordered) and ordered[last][:length] == collection:
            last += 1
        return ordered[first:last]

    def _in_order(self) -> list[Position]:
        if len(self._ordered) != len(self.accesses):
            self._ordered = sorted(self.accesses)
        return self._ordered


class Traffic:
    """The traffic of one resource; a meter owns it.

    Args:
        prefix_length: How many leading elements of a position name its item collection.

    >>> from emulator.capacity import WRITE
    >>> traffic = Traffic(prefix_length=2)
    >>> traffic.consume(0, WRITE, 2.0, (17, "d1", "10:00"), second=0)
    >>> traffic.refuse(0, WRITE, 1.0, (17, "d1", "10:00"), heat_units=1.0)
    >>> traffic.running.accesses
    {(17, 'd1', '10:00'): [6.0, 3.0, 1, 1]}
    >>> traffic.consumed(WRITE), traffic.throttled(WRITE)
    (2.0, 1.0)
    """

    __slots__ = ("loads", "prefix_length", "running")

    def __init__(self, prefix_length: int = 2) -> None:
        self.prefix_length = prefix_length
        self.running = Minute()
        #: By partition and axis; they begin with the first access at the latest.
        self.loads: defaultdict[int, tuple[PartitionLoad, PartitionLoad]] = defaultdict(_new_loads)

    @property
    def is_idle(self) -> bool:
        """Whether nothing has happened in the running minute."""
        return not self.running.accesses and not any(
            load.consumed or load.throttled for loads in self.loads.values() for load in loads
        )

    def open(self, partition_id: int) -> tuple[PartitionLoad, PartitionLoad]:
        """Start the loads of a partition."""
        return self.loads[partition_id]

    def close(self, partition_id: int) -> None:
        """Forget the loads of a partition that is gone."""
        self.loads.pop(partition_id, None)

    def consume(
        self, partition_id: int, axis: int, units: float, position: Position | None, second: int
    ) -> None:
        """Record an admitted access; ``position`` is None for a Scan (CAP-805)."""
        load = self.loads[partition_id][axis]
        load.consumed += units
        if load.second == second:
            load.in_second += units
        else:
            load.begin_second(second, units)
        if position is None:
            return
        access = self.running.accesses.get(position)
        if access is None:
            self._enter(position, [units * WEIGHTS[axis], 0.0, axis, 0])
        else:
            access[CONSUMED] += units * WEIGHTS[axis]
            if axis:
                if not access[WRITES]:
                    del self.running.accesses[position]
                    self.running.accesses[position] = access
                access[WRITES] += 1

    def spare(self, partition_id: int, axis: int, units: float) -> None:
        """Take back from a partition's heat what an access did not ask of it (CAP2-6)."""
        self.loads[partition_id][axis].heat -= units

    def refuse(
        self,
        partition_id: int,
        axis: int,
        units: float,
        position: Position | None,
        heat_units: float,
    ) -> None:
        """Record an access that was refused; ``heat_units`` is what reached the partition."""
        load = self.loads[partition_id][axis]
        load.throttled += units
        load.heat += heat_units
        if position is None:
            return
        access = self.running.accesses.get(position)
        if access is None:
            self._enter(position, [0.0, heat_units * WEIGHTS[axis], 0, 1])
        else:
            access[THROTTLED] += heat_units * WEIGHTS[axis]
            access[THROTTLES] += 1

    def consumed(self, axis: int) -> float:
        """Return the units admitted in the running minute."""
        return sum([loads[axis].consumed for loads in self.loads.values()])

    def throttled(self, axis: int) -> float:
        """Return the units refused in the running minute."""
        return sum([loads[axis].throttled for loads in self.loads.values()])

    def demands(self) -> dict[int, tuple[float, float]]:
        """Return the read and write units that reached each partition in the last minute."""
        return {
            partition_id: (read.last_demand, write.last_demand)
            for partition_id, (read, write) in self.loads.items()
        }

    def end_minute(self, start_s: int) -> Minute:
        """Close the running minute, which began at ``start_s``, and return it."""
        minute, self.running = self.running, Minute()
        minute.start_s = start_s
        for loads in self.loads.values():
            for load in loads:
                if load.consumed or load.throttled or load.heat or load.last_demand:
                    load.close()
        return minute

    def _enter(self, position: Position, access: Access) -> None:
        if len(self.running.accesses) >= MAX_POSITIONS:
            merge_neighbours(self.running, self.prefix_length)
        self.running.accesses[position] = access

    def check(self) -> None:
        """Assert the invariants."""
        assert len(self.running.accesses) <= MAX_POSITIONS, len(self.running.accesses)
        assert self.running.records.keys() <= self.running.accesses.keys()


def _new_loads() -> tuple[PartitionLoad, PartitionLoad]:
    return PartitionLoad(), PartitionLoad()


class AccessRun:
    """How the sort keys written to one item collection followed each other (CAP-506)."""

    __slots__ = ("bottom", "top")

    def __init__(self) -> None:
        self.bottom: Position | None = None
        self.top: Position | None = None

    def follow(self, position: Position) -> tuple[int, int]:
        """Return whether a first write lies above, or below, everything written before.

        >>> run = AccessRun()
        >>> [run.follow((7, "d", sort)) for sort in "bca"]
        [(0, 0), (1, 0), (0, 1)]
        """
        if self.top is None or self.bottom is None:
            self.top = self.bottom = position
            return 0, 0
        if position > self.top:
            self.top = position
            return 1, 0
        if position < self.bottom:
            self.bottom = position
            return 0, 1
        return 0, 0


def merge_neighbours(minute: Minute, prefix_length: int) -> None:
    """Merge each few neighbouring positions into the heaviest of them.

    Heavy hitters keep their names, the distribution keeps its shape, and the order of writes
    survives as counts. Assumed: the service's own sampling is not published.
    """
    ordered = sorted(minute.accesses)
    records = _records(minute, ordered, prefix_length)
    accesses, minute.accesses, minute.records = minute.accesses, {}, {}
    for first in range(0, len(ordered), MERGED_NEIGHBOURS):
        group = ordered[first : first + MERGED_NEIGHBOURS]
        heaviest = group[0]
        most = consumed = throttled = 0.0
        writes = throttles = 0.0
        above = below = 0
        for position in group:
            access = accesses[position]
            if access[CONSUMED] + access[THROTTLED] > most:
                most = access[CONSUMED] + access[THROTTLED]
                heaviest = position
            consumed += access[CONSUMED]
            throttled += access[THROTTLED]
            writes += access[WRITES]
            throttles += access[THROTTLES]
            if position in records:
                up, down = records[position]
                above += up
                below += down
        minute.accesses[heaviest] = [consumed, throttled, writes, throttles]
        if records:
            minute.records[heaviest] = above, below


def weight(access: Access) -> float:
    """Return all weight of an access, admitted and refused."""
    return access[CONSUMED] + access[THROTTLED]


def _records(
    minute: Minute, ordered: list[Position], prefix_length: int
) -> dict[Position, tuple[int, int]]:
    """Return how many writes of each position extended the range of its collection."""
    runs: dict[Position, AccessRun] = {}
    for position, following in pairwise(ordered):
        if position[0] == following[0] and position[:prefix_length] == following[:prefix_length]:
            runs[position[:prefix_length]] = AccessRun()
    records = dict(minute.records)
    if runs:
        for position, access in minute.accesses.items():
            run = runs.get(position[:prefix_length])
            if run is not None and access[WRITES]:
                records.setdefault(position, run.follow(position))
    return records
