"""Iterator age: how far a consumer of a table's stream is behind (STM-12).

A stream has a shard for each partition. A consumer reads every shard at one rate, the records in
the order of their writes, and begins with the shards of a split when it has read their parent to
its end. The age is how long ago the next record that it reads was written.

Assumed: a write unit is a record, and the writes of a minute are spread evenly over it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_MINUTE: Final = 60.0


@dataclass(slots=True)
class _Shard:
    """The records written to a shard and not yet read, minute by minute.

    Attributes:
        waiting: When each minute began, its length, its records, and how many are left of them.
    """

    waiting: deque[tuple[float, float, float, float]] = field(default_factory=deque)

    def read(self, records: float) -> float:
        """Read the oldest ``records``, or fewer; return how many were there."""
        left = records
        while self.waiting and left > 0:
            start, length, written, unread = self.waiting.popleft()
            taken = min(unread, left)
            left -= taken
            if unread > taken:
                self.waiting.appendleft((start, length, written, unread - taken))
        return records - left

    def age(self, now: float) -> float:
        """Return how long ago the next record was written, 0 if there is none."""
        if not self.waiting:
            return 0.0
        start, length, written, unread = self.waiting[0]
        return now - (start + length * (1 - unread / written))


def iterator_ages(
    minutes: Sequence[Mapping[int, float]],
    parents: Mapping[int, int],
    *,
    records_per_second: float,
    seconds: float,
    length: float = _MINUTE,
) -> list[float]:
    """Return the age of the slowest shard at the end of each minute, in seconds.

    Args:
        minutes: The records written in each minute, by partition.
        parents: Which partition each one was split from.
        records_per_second: Records that the consumer reads of a shard.
        seconds: How long it all takes; the last minute may be shorter.
        length: How long a minute is, if it stands for more than one.

    >>> iterator_ages([{1: 600.0}, {1: 0.0}], {}, records_per_second=5, seconds=120)
    [30.0, 0.0]
    """
    shards: dict[int, _Shard] = {}
    ages = []
    for number, written in enumerate(minutes):
        start = number * length
        lasts = min(length, seconds - start)
        for partition_id, records in written.items():
            shard = shards.setdefault(partition_id, _Shard())
            if records > 0:
                shard.waiting.append((start, lasts, records, records))
        left = dict.fromkeys(shards, lasts)
        for partition_id in sorted(shards, key=lambda name: _depth(name, parents)):
            free = _time_left(partition_id, parents, shards, left)
            read = shards[partition_id].read(free * records_per_second)
            # What arrives while it is read keeps a shard busy; one that ended is done earlier.
            is_open = partition_id in written
            left[partition_id] = lasts if is_open else free - read / records_per_second
        ages.append(max((shard.age(start + lasts) for shard in shards.values()), default=0.0))
    return ages


def _depth(partition_id: int, parents: Mapping[int, int]) -> int:
    """Return how many splits a partition comes after."""
    depth = 0
    while partition_id in parents:
        partition_id, depth = parents[partition_id], depth + 1
    return depth


def _time_left(
    partition_id: int,
    parents: Mapping[int, int],
    shards: Mapping[int, _Shard],
    left: Mapping[int, float],
) -> float:
    """Return for how many seconds of the minute a shard can be read: after its parent."""
    parent = parents.get(partition_id)
    if parent is None or parent not in shards:
        return left[partition_id]
    return 0.0 if shards[parent].waiting else max(0.0, left[parent])
