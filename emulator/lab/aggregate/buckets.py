"""The token buckets of all worlds of a block, as arrays.

Every world has the same places: first the limits above partitions and the gates of tables, then
room for so many partitions of each table and index, a read and a write bucket each. A partition
keeps its slot as long as it lives, so a split rewrites its own slots and no others. Bucket
number 0 is always open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.capacity import ONE, READ, WRITE, TokenBucket
from emulator.lab.aggregate.played_world import PartitionSplit, PlayedWorld
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import MINUTE
from emulator.service.limits import PARTITION_UNITS

#: What a bucket that is always open has.
PLENTY: Final = 1e18
_AXES: Final = (READ, WRITE)
#: What there is a number of for every bucket.
_COLUMNS: Final = (
    "rates",
    "base",
    "burst",
    "burst_caps",
    "demand",
    "consumed",
    "refused",
    "lanes",
    "shares",
)


class TokenArrays:
    """Token buckets in numbers: a rate, a second of base tokens, and a reserve above them.

    The rules are those of ``TokenBucket`` (CAP-603), a second at a time.

    >>> tokens = TokenArrays(np.array([5.0]), np.array([300 * 5.0]))
    >>> tokens.take(np.array([12.0]))
    >>> tokens.base.tolist(), tokens.available().tolist()
    ([-2.0], [3.0])
    """

    def __init__(self, rates: Floats, burst_caps: Floats) -> None:
        self.rates = rates
        self.base = rates.copy()
        self.burst = np.zeros(len(rates))
        self.burst_caps = burst_caps

    @property
    def is_full(self) -> bool:
        """Return whether every bucket is full, reserves aside."""
        return bool((self.base >= self.rates).all())

    def available(self) -> Floats:
        """Return what each bucket can give within the next second.

        That is what it holds and what comes in meanwhile.
        """
        return self.base + self.burst + self.rates

    def take(self, consumed: Floats) -> None:
        """Draw a second's consumption and let the second pass.

        What is left of the second is kept in reserve; what is missing is owed by the next.
        """
        left = self.base + self.burst
        left -= consumed
        self.burst = np.minimum(np.maximum(left, 0.0), self.burst_caps)
        self.base = np.minimum(left, 0.0) + self.rates

    def pass_calm(self, consumed: Floats, seconds: int) -> None:
        """Let seconds pass in none of which a full bucket gives more than its rate."""
        base = self.base - consumed + self.rates * seconds
        over = np.maximum(base - self.rates, 0.0)
        self.burst = np.minimum(self.burst + over, self.burst_caps)
        self.base = np.minimum(base, self.rates)


class Buckets(TokenArrays):
    """All buckets of all worlds, with what was asked of them in the running minute.

    Attributes:
        demand: Units that reached each partition (CAP2-2).
        consumed: Units that each partition gave, as they are metered.
        refused: Units that were refused for its sake, or wait for an index.
        lanes: Of an index's partition, the units that wait for it (CAP2-4).
        shares: The share of attempts that it let pass when it was last short.
        worlds: The world of each.
        axes: Of a partition's, its world, resource and axis as one number; else -1.
        reasons: What a refusal by each is called, as a number.
        reason_names: The names of these numbers.
    """

    def __init__(self, worlds: Sequence[PlayedWorld]) -> None:
        self._worlds = worlds
        first = worlds[0].resources
        self._shared = [_limits_above(world) for world in worlds]
        self._tables = [number for number, resource in enumerate(first) if resource.is_table]
        self._fixed = len(self._shared[0]) + len(self._tables)
        self._above = _above_numbers(worlds[0], self._shared[0])
        #: For each table and index, room for so many partitions.
        self._room = [
            _with_spare(max(len(world.resources[number].partitions) for world in worlds))
            for number in range(len(first))
        ]
        self._slots: list[list[dict[int, int]]] = []
        self._free: list[list[list[int]]] = []
        self.reason_names: list[str] = []
        count = 1 + len(worlds) * self._size
        super().__init__(np.full(count, PLENTY), np.zeros(count))
        self.demand = np.zeros(count)
        self.consumed = np.zeros(count)
        self.refused = np.zeros(count)
        self.lanes = np.zeros(count)
        self.shares = np.ones(count)
        self.worlds, self.axes = self._owners()
        self.reasons = np.zeros(count, dtype=np.int64)
        self._closed_gates: list[int] = []
        for world in range(len(worlds)):
            self._open_world(world)

    def __len__(self) -> int:
        return len(self.rates)

    @property
    def _size(self) -> int:
        """Places per world."""
        return self._fixed + 2 * sum(self._room)

    # Numbers

    def above(self, world: int, resource: int, axis: int) -> list[int]:
        """Return the buckets that all calls of a resource meet before a partition's."""
        first = 1 + world * self._size
        return [first + number for number in self._above[resource, axis]]

    def gate(self, world: int, table: int) -> int:
        """Return the bucket that lets all writes to a table through, or none of them."""
        offset = len(self._shared[0]) + self._tables.index(table)
        return 1 + world * self._size + offset

    def of_slots(self, world: int, resource: int, axis: int, slots: Integers) -> Integers:
        """Return the buckets of partitions."""
        return self._of_slot(world, resource, axis, 0) + 2 * slots

    def _of_slot(self, world: int, resource: int, axis: int, slot: int) -> int:
        """Return the bucket of a partition."""
        before = self._fixed + 2 * sum(self._room[:resource])
        return 1 + world * self._size + before + 2 * slot + axis

    def slot(self, world: int, resource: int, partition_id: int) -> int:
        """Return the slot of a partition."""
        return self._slots[world][resource][partition_id]

    def slots(self, world: int, resource: int) -> Integers:
        """Return the slots of all partitions, in key order."""
        slots = self._slots[world][resource]
        partitions = self._worlds[world].resources[resource].partitions
        return np.asarray([slots[partition.id] for partition in partitions], dtype=np.int64)

    def partitions(self, world: int, resource: int) -> tuple[Integers, Integers]:
        """Return the ids of all partitions and their slots, in the order in which they came."""
        slots = self._slots[world][resource]
        count = len(slots)
        ids = np.fromiter(slots.keys(), dtype=np.int64, count=count)
        return ids, np.fromiter(slots.values(), dtype=np.int64, count=count)

    def of_partitions(self, world: int, resource: int, axis: int) -> Integers:
        """Return the buckets of all partitions, in key order."""
        return self.of_slots(world, resource, axis, self.slots(world, resource))

    def _owners(self) -> tuple[Integers, Integers]:
        """Return for each bucket its world, and its world, resource and axis as one number."""
        worlds = np.repeat(np.arange(len(self._worlds)), self._size)
        resources = np.repeat(np.arange(len(self._room)), self._room)
        local = (resources[:, None] * len(_AXES) + np.arange(len(_AXES))).ravel()
        local = np.concatenate([np.full(self._fixed, -1), local])
        axes = np.tile(local, len(self._worlds))
        per_world = len(self._room) * len(_AXES)
        axes = np.where(axes < 0, -1, worlds * per_world + axes)
        return np.concatenate([[0], worlds]), np.concatenate([[-1], axes])

    def units_by_axis(self, units: Floats) -> Floats:
        """Return units of partitions summed by world, resource and axis."""
        count = len(self._worlds) * len(self._room) * len(_AXES)
        summed = sums(self.axes + 1, units, count + 1)
        return summed[1:].reshape(len(self._worlds), len(self._room), len(_AXES))

    def busiest(self) -> Floats:
        """Return for each world the largest share of a partition's minute that was asked for."""
        use = np.where(self.axes >= 0, self.demand / (self.rates * MINUTE), 0.0)
        return np.asarray(use[1:].reshape(len(self._worlds), -1).max(axis=1))

    # Who is there

    def _open_world(self, world: int) -> None:
        resources = self._worlds[world].resources
        self._slots.append([{} for _ in resources])
        self._free.append([list(range(room))[::-1] for room in self._room])
        self.follow_limits(world)
        first = 1 + world * self._size
        for number, bucket in enumerate(self._shared[world]):
            self.base[first + number] = bucket.base / ONE
            self.burst[first + number] = bucket.burst / ONE
        for number, resource in enumerate(resources):
            for partition in resource.partitions:
                self._open(world, number, partition.id)

    def follow_limits(self, world: int) -> None:
        """Take over the rates of the limits above partitions; tokens above caps are lost."""
        first = 1 + world * self._size
        own = slice(first, first + len(self._shared[world]))
        buckets = self._shared[world]
        self.rates[own] = [float(bucket.rate) for bucket in buckets]
        self.burst_caps[own] = [bucket.burst_cap / ONE for bucket in buckets]
        self.base[own] = np.minimum(self.base[own], self.rates[own])
        self.burst[own] = np.minimum(self.burst[own], self.burst_caps[own])
        # What table and indexes share is called by the table's name for it: it comes last here.
        for number, resource in reversed(list(enumerate(self._worlds[world].resources))):
            for axis in _AXES:
                names = [reason.reason for reason in resource.meter.reasons[axis]]
                above = self.above(world, number, axis)
                for bucket, name in zip(above, names, strict=False):
                    self.reasons[bucket] = self._reason(name)

    def _reason(self, name: str) -> int:
        if name not in self.reason_names:
            self.reason_names.append(name)
        return self.reason_names.index(name)

    def _open(self, world: int, resource: int, partition_id: int) -> int:
        """Give a new partition its slot, with full buckets."""
        slot = self._free[world][resource].pop()
        self._slots[world][resource][partition_id] = slot
        reasons = self._worlds[world].resources[resource].meter.reasons
        for axis in _AXES:
            number = self._of_slot(world, resource, axis, slot)
            self.rates[number] = self.base[number] = PARTITION_UNITS[axis]
            self.burst_caps[number] = self.burst[number] = 0.0
            self.reasons[number] = self._reason(reasons[axis][-1].reason)
            self.shares[number] = 1.0
            for column in (self.demand, self.consumed, self.refused, self.lanes):
                column[number] = 0.0
        return slot

    def has_room(self, world: int, split: PartitionSplit) -> bool:
        """Return whether there are slots for the children of a split."""
        return len(self._free[world][split.resource]) >= len(split.children)

    def split(self, world: int, split: PartitionSplit) -> tuple[int, list[int]]:
        """Give the children of a split their slots; return the parent's and theirs.

        What waits for the parent waits for its children, evenly.
        """
        parent = self._slots[world][split.resource].pop(split.parent)
        children = [self._open(world, split.resource, child) for child in split.children]
        old = self._of_slot(world, split.resource, WRITE, parent)
        new = self.of_slots(world, split.resource, WRITE, np.asarray(children))
        self.lanes[new] = self.lanes[old] / len(children)
        self.lanes[old] = 0.0
        for axis in _AXES:
            number = self._of_slot(world, split.resource, axis, parent)
            self.base[number] = self.rates[number]
        self._free[world][split.resource].append(parent)
        return parent, children

    def grow(self, resource: int) -> Integers:
        """Make room for more partitions; return for each old number its new one."""
        old_size, old_room = self._size, self._room[resource]
        cut = self._fixed + 2 * sum(self._room[: resource + 1])
        self._room[resource] = _with_spare(old_room + 1)
        added = 2 * (self._room[resource] - old_room)
        local = np.arange(old_size)
        local = np.where(local >= cut, local + added, local)
        worlds = np.arange(len(self._worlds))[:, None] * self._size
        number_of = np.concatenate([[0], (1 + worlds + local).ravel()])
        count = 1 + len(self._worlds) * self._size
        for name in (*_COLUMNS, "reasons"):
            old = getattr(self, name)
            filler = PLENTY if name in ("rates", "base") else 0  # no call meets a free slot
            new = np.full(count, filler, dtype=old.dtype)
            new[number_of] = old
            setattr(self, name, new)
        self._closed_gates = [int(number_of[gate]) for gate in self._closed_gates]
        self.worlds, self.axes = self._owners()
        for free in self._free:
            free[resource][:0] = range(old_room, self._room[resource])[::-1]
        return number_of

    # Gates

    @property
    def has_closed_gate(self) -> bool:
        """Return whether some table's writes are refused."""
        return bool(self._closed_gates)

    def close_gates(self, gates: Sequence[tuple[int, int]]) -> bool:
        """Refuse all writes through some gates, each for the reason of a number; open others.

        Returns:
            Whether some gate has another reason now.
        """
        self._closed_gates = [gate for gate, _ in gates]
        has_changed = False
        for gate, reason in gates:
            has_changed = has_changed or self.reasons[gate] != reason
            self.reasons[gate] = reason
        return has_changed

    def available(self) -> Floats:
        """Return what each bucket can give within the next second."""
        units = super().available()
        if self._closed_gates:
            units[self._closed_gates] = 0.0
        return units

    def begin_minute(self) -> None:
        """Count a minute anew."""
        for column in (self.demand, self.consumed, self.refused):
            column[:] = 0.0


def _with_spare(partitions: int) -> int:
    return partitions + max(8, partitions // 4)


def _limits_above(world: PlayedWorld) -> list[TokenBucket]:
    """Return the distinct buckets above partitions; table and indexes may share some."""
    distinct: dict[int, TokenBucket] = {}
    for resource in world.resources:
        for axis in _AXES:
            for bucket in resource.meter.limits[axis]:
                distinct.setdefault(id(bucket), bucket)
    return list(distinct.values())


def _above_numbers(
    world: PlayedWorld, distinct: Sequence[TokenBucket]
) -> dict[tuple[int, int], list[int]]:
    number_of = {id(bucket): number for number, bucket in enumerate(distinct)}
    return {
        (number, axis): [number_of[id(bucket)] for bucket in resource.meter.limits[axis]]
        for number, resource in enumerate(world.resources)
        for axis in _AXES
    }
