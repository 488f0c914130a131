"""Queues of global indexes, in units by partition (CAP2-4).

The exact engine has a change in its queue for every entry; here the units that wait for a
partition are a number. What a base write changes in an index passes as the index's buckets let
it, and closes the table's writes when too much of it waits, by the emulator's own rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import WRITE, IndexGate
from emulator.clock import NANOSECONDS
from emulator.engine.table import Table
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.world.families import Cut, WorldSlot
from emulator.lab.world.limits import Numbers, WorldBucket
from emulator.lab.world.rows import TINY, WorldRow

ByWorld: TypeAlias = Annotated[Floats, "world"]
Flags: TypeAlias = NDArray[np.bool_]

#: Fewer units than this are rounding.
_NOTHING: Final = 1e-6
_NO_REASON: Final = -1


@dataclass(eq=False)
class Entering:
    """The units that writes of one pattern bring to an index, by partition of the index.

    Attributes:
        pattern: The number of the pattern.
        rows: Its rows.
        units: By world, the units of one call.
        parts: By world and slot, the share of the calls, if it is the same for all rows.
        pairs: By world, row and slot, the share of the pattern's requests; None if ``parts`` say
            it all.
    """

    pattern: int
    rows: slice
    units: ByWorld
    parts: WorldSlot
    pairs: Annotated[Floats, "world", "row", "slot"] | None

    def of(self, accepted: WorldRow, shares: WorldRow, worlds: Integers) -> WorldSlot:
        """Return the units that accepted calls of all rows bring to each partition.

        Args:
            accepted: Calls, by some worlds and all rows.
            shares: The shares of requests of all rows in all worlds.
            worlds: The worlds of ``accepted``.
        """
        own, units = accepted[:, self.rows], self.units[worlds, None]
        if self.pairs is None:
            return np.asarray(own.sum(axis=1, keepdims=True) * self.parts[worlds] * units)
        ratios = own / np.maximum(shares[worlds, self.rows], TINY)
        return np.asarray(np.einsum("wr,wrs->ws", ratios, self.pairs[worlds]) * units)


class IndexQueue:
    """The queue of one global index, in every world.

    Args:
        resource: The number of the index.
        table: The number of its table.
        tables: By world, the engine's table.
        numbers: Of the buckets.

    Attributes:
        waits: By world and slot, the units that wait.
        reason: By world, the number of the reason why something last had to wait, or -1.
        closed_at: By world, the second in which the index first closed its table's writes.
        is_closed: By world, whether it is closed now.
        entering: The units that the writes of each pattern bring.
    """

    def __init__(
        self, resource: int, table: int, tables: Sequence[Table], numbers: Numbers
    ) -> None:
        self.resource = resource
        self.table = table
        self._tables = tables
        count = len(tables)
        self._gates = [IndexGate(own.settings.gsi_closed_seconds) for own in tables]
        self.waits: WorldSlot = np.zeros((count, numbers.rooms[resource]))
        self.reason: Integers = np.full(count, _NO_REASON)
        self.closed_at: ByWorld = np.full(count, np.inf)
        self.is_closed: Flags = np.zeros(count, dtype=np.bool_)
        #: What waited a minute before the end of the run.
        self._marked: ByWorld = np.zeros(count)
        self.entering: list[Entering] = []

    @property
    def buffers(self) -> ByWorld:
        """The units that may wait before the index closes."""
        return np.asarray([table.index_buffer for table in self._tables])

    @property
    def backlog(self) -> ByWorld:
        """The units that wait."""
        return np.asarray(self.waits.sum(axis=1))

    def mark(self) -> None:
        """Note what waits a minute before the end."""
        self._marked = self.backlog

    def open_gates(self, worlds: Integers, starts_ns: Integers) -> None:
        """Open the index to the table's writes where it was closed for long enough."""
        for world, now_ns in zip(worlds.tolist(), starts_ns.tolist(), strict=True):
            if self.is_closed[world]:
                backlog, buffer = float(self.waits[world].sum()), self._tables[world].index_buffer
                self.is_closed[world] = self._gates[world].is_closed(backlog, buffer, now_ns)

    def let_pass(
        self, worlds: Integers, entering: WorldSlot, room: WorldSlot, above: WorldSlot
    ) -> tuple[WorldSlot, WorldSlot, Flags]:
        """Let a second pass.

        Args:
            worlds: The worlds that the other arguments are about.
            entering: Units that base writes bring to each partition.
            room: Units that each partition can give.
            above: By world and limit, units that the limits above partitions can give.

        Returns:
            What passes and what has to wait of what entered, by partition; and where a limit
            above partitions was short.
        """
        before = self.waits[worlds]
        wanted = before + entering
        passed = np.minimum(wanted, np.maximum(room, 0.0))
        most = above.min(axis=1, initial=np.inf)
        total = passed.sum(axis=1)
        is_over = total > most
        scale = np.ones(len(worlds))
        np.divide(np.maximum(most, 0.0), total, out=scale, where=is_over)
        passed *= scale[:, None]
        left = wanted - passed
        self.waits[worlds] = np.where(left > _NOTHING, left, 0.0)
        # The order stays: behind what waits, everything has to wait.
        delayed = np.where(before > _NOTHING, entering, np.minimum(left, entering))
        return passed, delayed, is_over

    def close(self, worlds: Integers, seconds: Integers, ends_ns: Integers) -> None:
        """Close the table's writes where the buffer is full."""
        backlog, buffers = self.waits[worlds].sum(axis=1), self.buffers[worlds]
        for at in np.flatnonzero(backlog >= buffers).tolist():
            world = int(worlds[at])
            full = float(backlog[at]), float(buffers[at])
            if self._gates[world].close_if_full(*full, int(ends_ns[at])):
                self.is_closed[world] = True
                self.closed_at[world] = min(self.closed_at[world], float(seconds[at] + 1))

    def closes_after(self, world: int, duration: int) -> float | None:
        """Return when the index closes: as it did, or would if the load went on."""
        if self.reason[world] == _NO_REASON:
            return None
        if np.isfinite(self.closed_at[world]):
            return float(self.closed_at[world])
        units, span = float(self.waits[world].sum()), min(MINUTE, duration - 1)
        growth = units - float(self._marked[world])
        if growth <= 0:
            return None
        return duration + max(0.0, float(self.buffers[world]) - units) * span / growth

    def split(self, cut: Cut) -> None:
        """Let the children of a partition have, evenly, what waits for it."""
        waits = self.waits[cut.world, cut.parent]
        self.waits[cut.world, cut.parent] = 0.0
        self.waits[cut.world, list(cut.children)] = waits / len(cut.children)

    def grow(self, room: int) -> None:
        """Make room for more partitions."""
        added = np.zeros((len(self.waits), room - self.waits.shape[1]))
        self.waits = np.concatenate([self.waits, added], axis=1)

    def buckets(self, numbers: Numbers) -> tuple[slice, tuple[int, ...]]:
        """Return the buckets of the partitions, and those of the limits above them."""
        return numbers.partitions(self.resource, WRITE), numbers.above[self.resource, WRITE]


def entering_of(
    queues: Sequence[IndexQueue],
    numbers: Numbers,
    accepted: WorldRow,
    shares: WorldRow,
    worlds: Integers,
) -> WorldBucket:
    """Return the units that accepted calls bring to the buckets of indexes.

    Args:
        queues: Of the indexes.
        numbers: Of the buckets.
        accepted: Calls, by some worlds and all rows.
        shares: The shares of requests of all rows in all worlds.
        worlds: The worlds of ``accepted``.
    """
    found = np.zeros((len(worlds), numbers.count))
    for queue in queues:
        partitions, above = queue.buckets(numbers)
        for entering in queue.entering:
            brought = entering.of(accepted, shares, worlds)
            found[:, partitions] += brought
            for bucket in above:
                found[:, bucket] += brought.sum(axis=1)
    return found


def seconds_ns(seconds: Integers) -> Integers:
    """Return seconds since the epoch in nanoseconds."""
    return np.asarray(seconds.astype(np.int64) * NANOSECONDS)
