"""Shards: the parts of a stream, each in the order of its writes (STM-3, STM-12).

A stream has one shard, or one for each partition of its table (``Settings.stream_shards``). When a
partition splits, its shard is closed and each child has a shard that names it as its parent. A
shard that has come of age is closed likewise, and one child goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from emulator.clock import NANOSECONDS
from emulator.service import limits

#: Sequence numbers have at least 21 digits (STM-6).
SEQUENCE_BASE: Final = 10**20
#: Assumed: how far apart the sequence numbers of a shard and of its children are at the least.
SHARD_GAP: Final = 1000
_RETENTION_NS: Final = limits.STREAM_RETENTION_SECONDS * NANOSECONDS


@dataclass(slots=True)
class Shard:
    """A part of a stream.

    Attributes:
        id: Its name on the wire.
        number: Which one it is, in the order in which they were opened.
        parent: The number of the shard that was split, if one was.
        partition_id: Whose writes it has; None for those of all partitions.
        first_number: The number of the stream's record that came next when it was opened.
        last_number: That of its own last record, or the one before ``first_number``.
        trimmed_number: That of the last of its records that have left, or as ``last_number``.
        opened_ns: When it was opened.
        closed_ns: When its partition was split, its time was over or its stream was closed, or
            None.
    """

    id: str
    number: int
    parent: int | None
    partition_id: int | None
    first_number: int
    last_number: int
    trimmed_number: int
    opened_ns: int
    closed_ns: int | None = None

    def sequence_number(self, number: int) -> str:
        """Return the sequence number of a record, of 21 digits or more (STM-6).

        Between those of a shard and of its children there is a gap.
        """
        return str(SEQUENCE_BASE + self.number * SHARD_GAP + number)

    def record_number(self, written: int) -> int:
        """Return the number of the record that a sequence number of this shard names."""
        return written - SEQUENCE_BASE - self.number * SHARD_GAP


class Shards:
    """The shards of one stream, in the order in which they were opened.

    Attributes:
        follows_partitions: Whether each partition has a shard of its own.
        next_roll_ns: When the next one comes of age.

    >>> shards = Shards("arn", [7, 8], first_number=1, now_ns=0)
    >>> shards.split(7, [9, 10], next_number=5, now_ns=1)
    >>> [(shard.number, shard.parent, shard.closed_ns) for shard in shards]
    [(0, None, 1), (1, None, None), (2, 0, None), (3, 0, None)]
    """

    __slots__ = (
        "_arn",
        "_by_number",
        "_lifetime_ns",
        "_of_partition",
        "_opened",
        "follows_partitions",
        "next_roll_ns",
    )

    def __init__(
        self,
        arn: str,
        partition_ids: Iterable[int] | None,
        *,
        first_number: int,
        now_ns: int,
        lifetime_ns: int = 0,
    ) -> None:
        self._arn = arn
        self._by_number: dict[int, Shard] = {}
        self._of_partition: dict[int | None, Shard] = {}
        self._opened = 0
        self._lifetime_ns = lifetime_ns
        self.follows_partitions = partition_ids is not None
        for partition_id in [None] if partition_ids is None else partition_ids:
            self._open(partition_id, None, first_number, now_ns)
        self.next_roll_ns: float = math.inf
        self._look_ahead()

    def __iter__(self) -> Iterator[Shard]:
        return iter(self._by_number.values())

    def of_partition(self, partition_id: int | None) -> Shard:
        """Return the open shard of a partition."""
        return self._of_partition[partition_id]

    def by_number(self, number: int) -> Shard | None:
        """Return a shard by its number, or None if it is gone."""
        return self._by_number.get(number)

    def by_id(self, shard_id: str) -> Shard | None:
        """Return a shard by its name, or None if there is none."""
        return next((shard for shard in self if shard.id == shard_id), None)

    def split(
        self, partition_id: int, children: Iterable[int], *, next_number: int, now_ns: int
    ) -> None:
        """Close the shard of a partition and open one for each of its children."""
        parent = self._of_partition.pop(partition_id)
        parent.closed_ns = now_ns
        for child in children:
            self._open(child, parent.number, next_number, now_ns)
        self._look_ahead()

    def roll(self, next_number: int, now_ns: int) -> None:
        """Close every shard that has come of age by a moment, and open its one child (STM-12).

        It is as if each had been looked at when its time was over; of a time that is longer than
        the retention, only the end can be seen.
        """
        long_ns = _RETENTION_NS + 2 * self._lifetime_ns
        if now_ns - self.next_roll_ns > long_ns:
            for shard in self._by_age():
                self._renew(shard, next_number)
            self._look_ahead()
            self._pass_over(int(now_ns - long_ns - self.next_roll_ns) // self._lifetime_ns)
        while self.next_roll_ns <= now_ns:
            self._renew(self._by_age()[0], next_number)
            self._look_ahead()
        self.forget_before(now_ns - _RETENTION_NS)

    def _by_age(self) -> list[Shard]:
        """Return the open shards, the oldest first."""
        return sorted(self._of_partition.values(), key=lambda s: (s.opened_ns, s.number))

    def _renew(self, shard: Shard, next_number: int) -> None:
        """Close a shard at the end of its time, and open its child."""
        shard.closed_ns = end_ns = shard.opened_ns + self._lifetime_ns
        self._open(shard.partition_id, shard.number, next_number, end_ns)

    def _pass_over(self, times: int) -> None:
        """Renew every shard ``times`` over; the shards in between are gone."""
        if times <= 0:
            return
        renewed = len(self._of_partition)
        self._opened += (times - 1) * renewed
        for shard in self._by_age():
            end_ns = shard.opened_ns + times * self._lifetime_ns
            del self._by_number[shard.number]
            self._open(shard.partition_id, self._opened - renewed, shard.first_number, end_ns)
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Recompute when the next shard reaches its age."""
        if self._lifetime_ns and self.follows_partitions:
            oldest_ns = min((s.opened_ns for s in self._of_partition.values()), default=math.inf)
            self.next_roll_ns = oldest_ns + self._lifetime_ns

    def close(self, now_ns: int) -> None:
        """Close all that are open."""
        for shard in self._of_partition.values():
            shard.closed_ns = now_ns
        self.next_roll_ns = math.inf

    def forget_before(self, horizon_ns: int) -> None:
        """Forget the shards that were closed so long ago that no record is left in them."""
        gone = [
            shard.number
            for shard in self
            if shard.closed_ns is not None and shard.closed_ns < horizon_ns
        ]
        for number in gone if len(gone) < len(self._by_number) else ():
            del self._by_number[number]

    def restore(self, shards: Iterable[Shard], opened: int) -> None:
        """Replace all shards by these; ``opened`` counts every shard opened so far."""
        self._by_number = {shard.number: shard for shard in shards}
        self._of_partition = {
            shard.partition_id: shard for shard in self if shard.closed_ns is None
        }
        self._opened = opened
        self.follows_partitions = None not in {shard.partition_id for shard in self}
        self._look_ahead()

    @property
    def opened(self) -> int:
        """How many were opened so far."""
        return self._opened

    def _open(
        self, partition_id: int | None, parent: int | None, first_number: int, now_ns: int
    ) -> None:
        import uuid  # only for tables with a stream

        number, self._opened = self._opened, self._opened + 1
        name = self._arn if number == 0 else f"{self._arn}/{number}"
        mark = uuid.uuid5(uuid.NAMESPACE_URL, name).hex[:8]
        shard_id = f"shardId-{now_ns // 1_000_000:020}-{mark}"
        before = first_number - 1
        shard = Shard(shard_id, number, parent, partition_id, first_number, before, before, now_ns)
        self._by_number[number] = self._of_partition[partition_id] = shard

    def copy(self) -> Shards:
        """Return independent shards in the same state."""
        lifetime_ns = self._lifetime_ns
        twin = Shards(self._arn, (), first_number=1, now_ns=0, lifetime_ns=lifetime_ns)
        twin.restore((replace(shard) for shard in self), self._opened)
        twin.follows_partitions = self.follows_partitions
        twin.next_roll_ns = self.next_roll_ns
        return twin
