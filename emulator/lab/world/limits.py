"""Limits: the token buckets of all worlds, as arrays.

Every world has the same places: bucket 0, which is always open; the limits above partitions; the
gates of tables; and room for the partitions of each table and index, a read and a write bucket
each. A partition keeps its slot as long as it lives, so a split changes its own slots and no
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.capacity import ONE, READ, WRITE, TokenBucket
from emulator.engine.resource import Resource
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.service.limits import PARTITION_UNITS

WorldBucket: TypeAlias = Annotated[Floats, "world", "bucket"]

#: What a bucket holds that is always open.
PLENTY: Final = 1e18
AXES: Final = (READ, WRITE)
#: The bucket of a partition that reads and writes share, where they do (CAP2-15).
SHARED: Final = 2


@dataclass(frozen=True)
class Numbers:
    """Which bucket has which number; the same in every world.

    Attributes:
        above: By resource and axis, the buckets that calls meet before the partition's.
        gates: By table, the bucket that lets its writes through, or none of them.
        rooms: By resource, for how many partitions there is room.
        kinds: The buckets of a partition.
    """

    above: dict[tuple[int, int], tuple[int, ...]]
    gates: dict[int, int]
    rooms: tuple[int, ...]
    kinds: tuple[int, ...] = AXES

    @classmethod
    def of(cls, resources: Sequence[Resource], rooms: Sequence[int]) -> Numbers:
        """Return the numbers for tables and indexes, some of which may share a limit."""
        number_of: dict[int, int] = {}
        above = {}
        for number, resource in enumerate(resources):
            for axis in AXES:
                own = [id(bucket) for bucket in resource.meter.limits[axis]]
                at = [number_of.setdefault(bucket, 1 + len(number_of)) for bucket in own]
                above[number, axis] = tuple(at)
        tables = [number for number, resource in enumerate(resources) if resource.is_table]
        gates = {table: 1 + len(number_of) + at for at, table in enumerate(tables)}
        kinds = (*AXES, SHARED) if resources[0].meter.is_combined else AXES
        return cls(above, gates, tuple(rooms), kinds)

    @cached_property
    def fixed(self) -> int:
        """How many buckets there are that no partition has."""
        return 1 + len({bucket for own in self.above.values() for bucket in own}) + len(self.gates)

    @cached_property
    def count(self) -> int:
        """How many buckets a world has."""
        return self.fixed + len(self.kinds) * sum(self.rooms)

    @cached_property
    def levels(self) -> Integers:
        """How far out each bucket lies: 0 for partitions, 1 for the limit right above them."""
        levels = np.zeros(self.count, dtype=np.int64)
        for buckets in self.above.values():
            for level, bucket in enumerate(buckets, 1):
                levels[bucket] = max(levels[bucket], level)
        return levels

    @cached_property
    def _partitions(self) -> dict[tuple[int, int], slice]:
        found, start = {}, self.fixed
        for resource, room in enumerate(self.rooms):
            for axis in self.kinds:
                found[resource, axis] = slice(start, start + room)
                start += room
        return found

    def partitions(self, resource: int, axis: int) -> slice:
        """Return the buckets of the partitions of a table or index, by slot."""
        return self._partitions[resource, axis]

    def with_room(self, resource: int, room: int) -> tuple[Numbers, Integers]:
        """Return numbers with more room for one resource, and the new number of every old one."""
        rooms = (*self.rooms[:resource], room, *self.rooms[resource + 1 :])
        grown = Numbers(self.above, self.gates, rooms, self.kinds)
        places = [np.arange(self.fixed)]
        for number, old in enumerate(self.rooms):
            for axis in self.kinds:
                start = grown.partitions(number, axis).start
                places.append(np.arange(start, start + old))
        return grown, np.concatenate(places)


class Slots:
    """The slots of the partitions of one table or index, in every world.

    Args:
        resources: By world, the engine's side of it.
        room: How many slots there are.
    """

    def __init__(self, resources: Sequence[Resource], room: int) -> None:
        self._resources = resources
        self._ids: list[dict[int, int]] = []
        self._free: list[list[int]] = []
        for resource in resources:
            ids = {partition.id: slot for slot, partition in enumerate(resource.partitions)}
            self._ids.append(ids)
            self._free.append(list(range(len(ids), room))[::-1])

    def of(self, world: int, partition_id: int) -> int:
        """Return the slot of a partition."""
        return self._ids[world][partition_id]

    def ids(self, world: int) -> dict[int, int]:
        """Return the slots of a world's partitions, by id."""
        return self._ids[world]

    def in_order(self, world: int) -> Integers:
        """Return the slots of a world's partitions, in key order."""
        ids = self._ids[world]
        partitions = self._resources[world].partitions
        return np.asarray([ids[partition.id] for partition in partitions], dtype=np.int64)

    def has_room(self, world: int, partitions: int) -> bool:
        """Return whether some more partitions have a slot."""
        return len(self._free[world]) >= partitions

    def grow(self, old: int, room: int) -> None:
        """Make room for more partitions."""
        for free in self._free:
            free[:0] = range(old, room)[::-1]

    def split(self, world: int, parent: int, children: Sequence[int]) -> tuple[int, list[int]]:
        """Give children their slots; return the parent's, which is free again, and theirs."""
        gone = self._ids[world].pop(parent)
        taken = [self._free[world].pop() for _ in children]
        self._ids[world].update(zip(children, taken, strict=True))
        self._free[world].append(gone)
        return gone, taken


@dataclass
class Tokens:
    """Token buckets in numbers: a second of base tokens, and a reserve above them.

    The rules are those of ``TokenBucket`` (CAP-603), a second at a time; a property test holds
    them together.

    Attributes:
        rates: Tokens that flow into each bucket in a second.
        caps: The most tokens that the reserve of each bucket holds.
        base: Tokens of the running second; negative for debt.
        burst: Tokens of the reserve.

    >>> tokens = Tokens(np.array([[5.0]]), np.array([[1500.0]]))
    >>> tokens.take(np.array([[12.0]]))
    >>> tokens.base.tolist(), tokens.available().tolist()
    ([[-2.0]], [[3.0]])
    """

    rates: WorldBucket
    caps: WorldBucket
    base: WorldBucket = field(init=False)
    burst: WorldBucket = field(init=False)

    def __post_init__(self) -> None:
        self.base = self.rates.copy()
        self.burst = np.zeros_like(self.rates)

    def of_worlds(self, worlds: Integers) -> Tokens:
        """Return a copy of the buckets of some worlds."""
        own = Tokens(self.rates[worlds], self.caps[worlds])
        own.base, own.burst = self.base[worlds], self.burst[worlds]
        return own

    def put_back(self, worlds: Integers, own: Tokens) -> None:
        """Take over the tokens in the buckets of some worlds."""
        self.base[worlds], self.burst[worlds] = own.base, own.burst

    def available(self) -> WorldBucket:
        """Return the units that each bucket can give in the next second, its refill included."""
        return self.base + self.burst + self.rates

    def take(self, consumed: WorldBucket) -> None:
        """Draw a second's consumption and let the second pass.

        Tokens left of the second are kept in reserve; missing ones are owed by the next.
        """
        left = self.base + self.burst - consumed
        self.burst = np.minimum(np.maximum(left, 0.0), self.caps)
        self.base = np.minimum(left, 0.0) + self.rates

    def follow(self, world: int, bucket: int, own: TokenBucket, *, keep: bool) -> None:
        """Take over the rate of a bucket of the emulator, and its tokens unless they are kept.

        Tokens above the new caps are lost.
        """
        rate, cap = float(own.rate), own.burst_cap / ONE
        self.rates[world, bucket], self.caps[world, bucket] = rate, cap
        base = self.base[world, bucket] if keep else own.base / ONE
        burst = self.burst[world, bucket] if keep else own.burst / ONE
        self.base[world, bucket], self.burst[world, bucket] = min(base, rate), min(burst, cap)

    def open_partition(self, world: int, buckets: Sequence[int]) -> None:
        """Fill the buckets of a new partition: for reads, for writes, and for both."""
        for bucket, rate in zip(buckets, (*PARTITION_UNITS, PARTITION_UNITS[READ]), strict=False):
            self.rates[world, bucket] = self.base[world, bucket] = rate
            self.caps[world, bucket] = self.burst[world, bucket] = 0.0

    def moved(self, number_of: Integers, count: int) -> Tokens:
        """Return the buckets under other numbers; those that are new are always open."""
        shape = len(self.rates), count
        twin = Tokens(np.full(shape, PLENTY), np.zeros(shape))
        for name in ("rates", "caps", "base", "burst"):
            getattr(twin, name)[:, number_of] = getattr(self, name)
        return twin
