"""What waits for global indexes, in units by partition (CAP2-4).

The exact engine has a change in its queue for every entry; here a lane is a number. What a base
write changes in an index passes as the index's buckets let it, and closes the table's writes when
too much of it waits, by the emulator's own rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import WRITE, IndexGate
from emulator.engine.table import Table
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.played_world import PlayedWorld
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.run_log import closing_second

Flags: TypeAlias = NDArray[np.bool_]

#: Fewer units than this are rounding.
_NOTHING: Final = 1e-6
_NO_REASON: Final = -1


class QueueArrays:
    """What waits for one global index, in every world.

    Attributes:
        resource: The number of the index.
        waiting_reason: By world, the number of the reason why something last had to wait, or -1.
        closed_at: By world, when it first closed its table's writes, in seconds, or None.
    """

    def __init__(
        self,
        resource: int,
        tables: Sequence[Table],
        table: int,
        buckets: Buckets,
        workload: Workload,
    ) -> None:
        self.resource = resource
        self._tables = tables
        self._table = table
        self._buckets = buckets
        count = len(tables)
        self._gates = [IndexGate(own.settings.gsi_closed_seconds) for own in tables]
        self._closed: list[int] = []
        self._warm_up = workload.warm_up
        self._backlog = np.zeros((count, workload.warm_up + workload.duration))
        self.waiting_reason: Integers = np.full(count, _NO_REASON)
        self.closed_at: list[float | None] = [None] * count
        self._own: Integers = np.zeros(0, dtype=np.int64)
        self._worlds: Integers = np.zeros(0, dtype=np.int64)
        self._first: Integers = np.zeros(0, dtype=np.int64)
        self._above: Integers = np.zeros((0, count), dtype=np.int64)
        self._buffers = np.zeros(count)
        self.follow()

    def follow(self) -> None:
        """Follow partitions and limits as they are now."""
        buckets, worlds = self._buckets, range(len(self._tables))
        own = [buckets.of_partitions(world, self.resource, WRITE) for world in worlds]
        self._own = np.concatenate(own)
        self._worlds = np.repeat(np.arange(len(own)), [len(numbers) for numbers in own])
        self._first = np.asarray([numbers[0] for numbers in own])
        self._above = np.asarray(
            [buckets.above(world, self.resource, WRITE) for world in worlds], dtype=np.int64
        ).T
        self._buffers = np.asarray([table.index_buffer for table in self._tables])

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits in any world."""
        return not self._buckets.lanes[self._own].any()

    def backlog(self, world: int, second: int) -> float:
        """Return the units that wait at the end of a second of the run."""
        return float(self._backlog[world, second + self._warm_up])

    def start_counting(self) -> None:
        """Forget what happened in the warm-up; what waits goes on waiting."""
        self.waiting_reason[:] = _NO_REASON
        self.closed_at = [None] * len(self.closed_at)

    def closed_gates(self, second: int, now_ns: int) -> list[tuple[int, int]]:
        """Return the gates of the tables whose writes are refused now, with the reason's number."""
        gates = []
        for world in list(self._closed):
            backlog = self.backlog(world, second - 1)
            if not self._gates[world].is_closed(backlog, float(self._buffers[world]), now_ns):
                self._closed.remove(world)
            elif self.waiting_reason[world] != _NO_REASON:
                gate = self._buckets.gate(world, self._table)
                gates.append((gate, int(self.waiting_reason[world])))
        return gates

    def let_pass(
        self, entering: Floats, available: Floats, second: int, end_ns: int
    ) -> tuple[Floats, Floats]:
        """Apply what has room in a second; return by bucket what was applied, and what waits.

        Args:
            entering: What base writes add, by bucket.
            available: What each bucket has left; what is applied is taken from it.
            second: Of the run.
            end_ns: When it ends.
        """
        buckets, own, count = self._buckets, self._own, len(self._tables)
        before, new = buckets.lanes[own], entering[own]
        wanted = before + new
        applied = np.minimum(wanted, np.maximum(available[own], 0.0))
        room = np.full(count, np.inf)
        for numbers in self._above:
            room = np.minimum(room, available[numbers])
        total = sums(self._worlds, applied, count)
        is_over = total > room
        scale = np.ones(count)
        np.divide(np.maximum(room, 0.0), total, out=scale, where=is_over)
        applied *= scale[self._worlds]
        left = wanted - applied
        buckets.lanes[own] = np.where(left > _NOTHING, left, 0.0)
        self._note_reasons(sums(self._worlds, left, count) > _NOTHING, is_over, room, available)
        taken, delayed = np.zeros(len(buckets)), np.zeros(len(buckets))
        taken[own] = applied
        # A lane keeps its order: behind what waits, everything has to wait.
        delayed[own] = np.where(before > _NOTHING, new, np.minimum(left, new))
        total = sums(self._worlds, applied, count)
        for numbers in self._above:
            taken[numbers] += total
            available[numbers] -= total
        self._close(sums(self._worlds, buckets.lanes[own], count), second, end_ns)
        return taken, delayed

    def _note_reasons(self, waits: Flags, is_over: Flags, room: Floats, available: Floats) -> None:
        """Note why what waits has to."""
        reasons = self._buckets.reasons
        for world in np.flatnonzero(waits).tolist():
            short = int(self._first[world])
            if is_over[world]:
                above = self._above[:, world]
                short = int(above[np.flatnonzero(available[above] <= room[world])[0]])
            self.waiting_reason[world] = reasons[short]

    def _close(self, backlog: Floats, second: int, end_ns: int) -> None:
        """Close the table's writes where the buffer is full."""
        self._backlog[:, second + self._warm_up] = backlog
        for world in np.flatnonzero(backlog >= self._buffers).tolist():
            full = float(backlog[world]), float(self._buffers[world])
            if self._gates[world].close_if_full(*full, end_ns):
                self._closed.append(world)
                if self.closed_at[world] is None:
                    self.closed_at[world] = float(second + 1)

    def closes_after(self, world: int) -> float | None:
        """Return when the index closes: as it did, or would if the load went on."""
        if self.waiting_reason[world] == _NO_REASON:
            return None
        backlog = self._backlog[world, self._warm_up :].tolist()
        return closing_second(backlog, float(self._buffers[world]), self.closed_at[world])


class IndexQueues:
    """The queues of all global indexes in all worlds.

    Args:
        worlds: The worlds.
        queued: The numbers of the indexes that have a queue.
        buckets: All buckets.
        workload: How long the run is, and its warm-up.
    """

    def __init__(
        self,
        worlds: Sequence[PlayedWorld],
        queued: Collection[int],
        buckets: Buckets,
        workload: Workload,
    ) -> None:
        self._buckets = buckets
        self.queues = []
        for number in sorted(queued):
            tables = [world.table_of(number) for world in worlds]
            table = worlds[0].number_of(tables[0].resource)
            self.queues.append(QueueArrays(number, tables, table, buckets, workload))

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return all(queue.is_empty for queue in self.queues)

    def start_counting(self) -> None:
        """Forget what happened in the warm-up; what waits goes on waiting."""
        for queue in self.queues:
            queue.start_counting()

    def follow(self) -> None:
        """Follow partitions and limits as they are now."""
        for queue in self.queues:
            queue.follow()

    def close_gates(self, second: int, now_ns: int) -> bool:
        """Refuse the writes of tables whose index is closed, and let those of others through.

        Returns:
            Whether some table's are now refused for another reason.
        """
        gates = [gate for queue in self.queues for gate in queue.closed_gates(second, now_ns)]
        return self._buckets.close_gates(gates)

    def run_second(
        self, entering: Floats, available: Floats, second: int, end_ns: int
    ) -> tuple[Floats, Floats]:
        """Let a second pass.

        Returns:
            What each bucket gave, and by partition what has to wait of what entered.
        """
        applied, delayed = np.zeros(len(self._buckets)), np.zeros(len(self._buckets))
        for queue in self.queues:
            passed, waits = queue.let_pass(entering, available, second, end_ns)
            applied += passed
            delayed += waits
        return applied, delayed
