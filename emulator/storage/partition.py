"""Partitions: half-open intervals of positions that tile the key space (CAP-501, CAP-503).

The map knows where each partition begins and how much lies in it; it never merges
(CAP-507). Throughput belongs to the capacity room.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise

from emulator.service.limits import STORAGE_OVERHEAD_BYTES
from emulator.storage.routing import HASH_SPACE, Position, slice_position

_START: Position = (0,)


class Partition:
    """One partition: where it begins, and what it holds.

    Attributes:
        id: Unique within its map, in order of creation.
        low: The first position that belongs to it.
        size_bytes: Billed bytes of what it holds (CAP-110).
        items: How many items and local index entries it holds.
        splits: How many splits lie between it and the first partitions of its map.
    """

    __slots__ = ("id", "items", "low", "size_bytes", "splits")

    def __init__(self, partition_id: int, low: Position, splits: int = 0) -> None:
        self.id = partition_id
        self.low = low
        self.size_bytes = 0
        self.items = 0
        self.splits = splits

    def __repr__(self) -> str:
        return f"Partition({self.id}, low={self.low!r}, items={self.items})"


class PartitionMap:
    """The partitions of one table or global index.

    >>> partitions = PartitionMap(4)
    >>> partitions.at((2**62, "x")).id
    1
    """

    __slots__ = ("_by_id", "_last_partition", "_last_position", "_lows", "_next_id", "_partitions")

    def __init__(self, count: int) -> None:
        self._lows = [slice_position(number, count) for number in range(count)]
        self._partitions = [Partition(number, low) for number, low in enumerate(self._lows)]
        self._by_id = {partition.id: partition for partition in self._partitions}
        self._next_id = count
        #: The last answer of ``at``: a write asks for the same position several times.
        self._last_position: Position | None = None
        self._last_partition = self._partitions[0]

    @classmethod
    def of(cls, partitions: Sequence[Partition], next_id: int) -> PartitionMap:
        """Return a map of these partitions, in position order; the next one has this id.

        Raises:
            ValueError: they do not tile the key space, or an id is used twice.
        """
        lows = [partition.low for partition in partitions]
        ids = {partition.id for partition in partitions}
        if not lows or lows[0] != _START or any(low >= high for low, high in pairwise(lows)):
            raise ValueError("partitions do not tile the key space")
        if len(ids) != len(lows) or not all(0 <= number < next_id for number in ids):
            raise ValueError("partitions share an id")
        made = cls(1)
        made._lows, made._partitions, made._next_id = lows, list(partitions), next_id
        made._by_id = {partition.id: partition for partition in partitions}
        return made

    @property
    def next_id(self) -> int:
        """The id that the next partition will have."""
        return self._next_id

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions)

    def at(self, position: Position) -> Partition:
        """Return the partition that holds a position. O(log partitions)."""
        if position is not self._last_position:
            self._last_partition = self._partitions[bisect_right(self._lows, position) - 1]
            self._last_position = position
        return self._last_partition

    def by_id(self, partition_id: int) -> Partition | None:
        """Return the live partition with this id, if any."""
        return self._by_id.get(partition_id)

    def between(self, low: Position, high: Position) -> list[Partition]:
        """Return the partitions that overlap ``[low, high)``, in position order."""
        first = bisect_right(self._lows, low) - 1
        last = bisect_right(self._lows, high)
        if last > first + 1 and self._lows[last - 1] == high:
            last -= 1
        return self._partitions[first:last]

    def range_of(self, partition: Partition) -> tuple[Position, Position]:
        """Return the half-open interval of a partition."""
        after = bisect_right(self._lows, partition.low)
        return partition.low, self._lows[after] if after < len(self._lows) else (HASH_SPACE,)

    def width(self, partition: Partition) -> int:
        """Return how many hashes a partition covers; one inside an item collection has none."""
        low, high = self.range_of(partition)
        width: int = high[0] - low[0]
        return width

    def widths(self) -> list[int]:
        """Return the width of every partition, in key order. O(partitions)."""
        firsts = [low[0] for low in self._lows]
        return [high - low for low, high in pairwise([*firsts, HASH_SPACE])]

    def count(self, position: Position, size_change: int, item_change: int) -> None:
        """Note a change of stored bytes, overhead included per item."""
        partition = self.at(position)
        partition.size_bytes += size_change + item_change * STORAGE_OVERHEAD_BYTES
        partition.items += item_change

    def split(self, partition: Partition, lows: list[Position]) -> list[Partition]:
        """Replace a partition by children that begin at its low end and at each of ``lows``.

        The children are empty: the caller counts what lies in them.
        """
        number = bisect_left(self._lows, partition.low)
        children = []
        for low in [partition.low, *lows]:
            children.append(Partition(self._next_id, low, partition.splits + 1))
            self._next_id += 1
        self._partitions[number : number + 1] = children
        del self._by_id[partition.id]
        self._by_id.update((child.id, child) for child in children)
        for low in lows:
            insort(self._lows, low)
        self._last_position = None
        return children

    def copy(self) -> PartitionMap:
        """Return an independent map of the same partitions."""
        twin = PartitionMap(1)
        twin._lows, twin._next_id = self._lows.copy(), self._next_id
        twin._partitions = []
        for partition in self._partitions:
            copied = Partition(partition.id, partition.low, partition.splits)
            copied.size_bytes, copied.items = partition.size_bytes, partition.items
            twin._partitions.append(copied)
        twin._by_id = {partition.id: partition for partition in twin._partitions}
        return twin

    def check(self) -> None:
        """Assert that the partitions tile the key space in order."""
        assert self._lows[0] == _START, f"the first partition begins at {self._lows[0]}"
        assert self._lows == sorted(set(self._lows)), f"boundaries out of order: {self._lows}"
        assert self._lows == [partition.low for partition in self._partitions], (
            "lows and partitions differ"
        )
        ids = [partition.id for partition in self._partitions]
        assert len(ids) == len(set(ids)), f"an id is used twice: {ids}"
        assert set(self._by_id.values()) == set(self._partitions), "an id leads elsewhere"
