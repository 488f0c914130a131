"""What waits for global indexes, in units by partition (CAP2-4).

The exact engine has a change in its queue for every entry; here a lane is a number. What a base
write changes in an index passes as the index's buckets let it, and closes the table's writes when
too much of it waits, by the emulator's own rule.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emulator.capacity import WRITE, IndexGate
from emulator.engine import Table
from emulator.lab.aggregate.bucket_shares import BucketTable
from emulator.lab.inputs.distributions import Floats
from emulator.lab.outcome.run_log import ResourceRecord, RunLog

#: Fewer units than this are rounding.
_NOTHING: Final = 1e-6


class _IndexQueue:
    """What waits for one global index.

    Attributes:
        record: The index.
        table: The engine's table that it belongs to.
        gate: Whether writes to the table are let through.
        waiting: By partition, in units.
    """

    def __init__(self, record: ResourceRecord, table: Table) -> None:
        self.record = record
        self.table = table
        self.gate = IndexGate(table.settings.gsi_closed_seconds)
        self.waiting: dict[int, float] = {}

    @property
    def backlog(self) -> float:
        """The units that wait."""
        return sum(self.waiting.values())

    def is_closed(self, now_ns: int) -> bool:
        """Return whether writes to the table are refused now."""
        return self.gate.is_closed(self.backlog, self.table.index_buffer, now_ns)

    def inherit(self, parent: int, children: tuple[int, ...]) -> None:
        """Let what waits for a partition that was split wait for its children, evenly."""
        units = self.waiting.pop(parent, 0.0)
        if units:
            for child in children:
                self.waiting[child] = self.waiting.get(child, 0.0) + units / len(children)

    def let_pass(
        self, buckets: BucketTable, entering: Floats, available: Floats
    ) -> tuple[Floats, Floats]:
        """Apply what has room; return what each partition applies, and what of the new waits.

        Args:
            buckets: All buckets.
            entering: What base writes add, by bucket.
            available: What each bucket has left in this second.
        """
        arn, partitions = self.record.resource.arn, self.record.resource.partitions
        own = buckets.partitions[arn, WRITE]
        before = np.asarray([self.waiting.get(partition.id, 0.0) for partition in partitions])
        wanted = before + entering[own]
        applied = np.minimum(wanted, np.maximum(available[own], 0.0))
        room, shortest = min(
            ((float(available[number]), number) for number in buckets.above[arn, WRITE]),
            default=(np.inf, int(own[0])),
        )
        total = float(applied.sum())
        if total > room:
            applied *= max(room, 0.0) / total
        left = wanted - applied
        if left.sum() > _NOTHING:
            short = shortest if total > room else int(own[0])
            self.record.waiting_reason = buckets.reasons[short]
        self.waiting = {
            partition.id: units
            for partition, units in zip(partitions, left.tolist(), strict=True)
            if units > _NOTHING
        }
        # A lane keeps its order: behind what waits, everything has to wait.
        delayed = np.where(before > _NOTHING, entering[own], np.minimum(left, entering[own]))
        return applied, delayed


class IndexQueues:
    """The queues of all global indexes of a run; none where the settings ask for no buffer."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._splits_seen = 0
        self._queues: dict[str, _IndexQueue] = {}
        for arn, record in log.resources.items():
            table = log.emulator.table(record.table)
            if not record.is_table and table.settings.gsi_buffer_seconds:
                self._queues[arn] = _IndexQueue(record, table)

    def __contains__(self, arn: str) -> bool:
        return arn in self._queues

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return not any(queue.waiting for queue in self._queues.values())

    def follow_splits(self) -> None:
        """Move what waits to the partitions that are there now."""
        splits = self._log.splits[self._splits_seen :]
        self._splits_seen += len(splits)
        names = {queue.record.name: queue for queue in self._queues.values()}
        for split in splits:
            if split.resource in names and split.children:
                names[split.resource].inherit(split.partition_id, split.children)

    def closed_tables(self, now_ns: int) -> dict[str, str]:
        """Return the tables whose writes are refused now, each with the reason of its index."""
        closed = {}
        for queue in self._queues.values():
            reason = queue.record.waiting_reason
            if reason is not None and queue.is_closed(now_ns):
                closed[queue.table.arn] = reason
        return closed

    def run_second(
        self, buckets: BucketTable, entering: Floats, available: Floats, second: int, end_ns: int
    ) -> tuple[Floats, Floats]:
        """Let a second pass.

        Returns:
            What each bucket gave, and by partition what has to wait of what entered.
        """
        applied, delayed = np.zeros(len(buckets)), np.zeros(len(buckets))
        if not self._queues:
            return applied, delayed
        available = available.copy()
        for arn, queue in self._queues.items():
            passed, waits = queue.let_pass(buckets, entering, available)
            own = buckets.partitions[arn, WRITE]
            applied[own] = passed
            delayed[own] = waits
            for number in buckets.above[arn, WRITE]:
                applied[number] += passed.sum()
                available[number] -= passed.sum()
            backlog = queue.backlog
            queue.record.backlog[second] = backlog
            if queue.gate.close_if_full(backlog, queue.table.index_buffer, end_ns):
                self._log.note_closing(queue.record, end_ns)
        return applied, delayed
