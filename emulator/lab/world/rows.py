"""Rows: the calls of each pattern by the partitions that they meet, and what they meet there.

To admission all calls of a row are alike. A row is a pattern and a partition of what it asks;
where worlds have no queues between tables and indexes, also a partition of each index. Rows have
the same numbers in every world; what falls on them differs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import READ, WRITE, throttle_error
from emulator.capacity.refusal import Reason
from emulator.engine.resource import Resource
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.world.families import Columns, Placement, Places, WorldSlot
from emulator.lab.world.limits import SHARED, Numbers, WorldBucket
from emulator.lab.world.patterns import PatternModel, Price
from emulator.service.errors import TransactionCanceledException
from emulator.service.limits import PARTITION_UNITS
from emulator.service.throttling import ThrottlingLimit

WorldRow: TypeAlias = Annotated[Floats, "world", "row"]
WorldPatternBucket: TypeAlias = Annotated[Floats, "world", "pattern", "bucket"]

#: Keeps a share of nothing from being a division by zero.
TINY: Final = 1e-300
#: Two keys that share no field are independent; so are two that differ by less.
_INDEPENDENT: Final = 1e-9


@dataclass(frozen=True)
class Column:
    """One limit that the calls of a pattern meet.

    Attributes:
        resource: The table or index whose limit it is.
        axis: Reads or writes.
        placements: The placements whose units it takes; none for the gate of a table.
        above: Which of the limits above partitions it is; None for the partition's own.
        is_final: Whether a refusal is never tried again.
        is_shared: Whether it is the bucket that reads and writes of a partition share.
    """

    resource: int
    axis: int
    placements: tuple[int, ...]
    above: int | None
    is_final: bool = False
    is_shared: bool = False

    @property
    def is_partition(self) -> bool:
        """Return whether it is the partition's own limit."""
        return self.above is None and bool(self.placements) and not self.is_shared


def columns_of(
    model: PatternModel, resources: Sequence[Resource], queued: Collection[int]
) -> tuple[Column, ...]:
    """Return the limits that a pattern's calls meet, in the order in which they are asked.

    Those above the partitions may be shared by table and indexes; they are asked once.

    Args:
        model: The pattern.
        resources: The tables and indexes, in any world.
        queued: The indexes in whose queues writes wait; these are not asked.
    """
    first = model.placements[0] if model.placements else None
    axis = WRITE if model.pattern.is_write else READ
    placed = [model.resource] if first is None else [own.resource for own in model.placements]
    columns: list[Column] = []
    if axis == WRITE:
        columns.append(Column(model.resource, axis, (), None))
    shared: dict[int, int] = {}
    is_quota_final = not _is_retried(model, resources, ThrottlingLimit.ACCOUNT)
    for number, resource in enumerate(placed):
        if axis == WRITE and resource in queued:
            continue
        meter = resources[resource].meter
        reasons = zip(meter.limits[axis], meter.reasons[axis], strict=False)
        for above, (bucket, reason) in enumerate(reasons):
            at = shared.setdefault(id(bucket), len(columns))
            if at < len(columns):
                old = columns[at]
                own = (*old.placements, number)
                columns[at] = Column(old.resource, axis, own, old.above, old.is_final)
                continue
            is_account = ThrottlingLimit.of(reason.reason) is ThrottlingLimit.ACCOUNT
            columns.append(Column(resource, axis, (number,), above, is_account and is_quota_final))
        columns.append(Column(resource, axis, (number,), None))
        if meter.is_combined:
            columns.append(Column(resource, axis, (number,), None, is_shared=True))
    return tuple(columns)


def _is_retried(model: PatternModel, resources: Sequence[Resource], limit: ThrottlingLimit) -> bool:
    """Return whether the policy tries again after a refusal by a limit."""
    policy = model.context.workload.policy(model.pattern)
    if model.pattern.is_transaction:
        return policy.is_retryable(TransactionCanceledException.__name__)
    on_demand = resources[model.resource].throughput.on_demand
    reason = Reason(limit.reason("Write", is_index=False), "")
    return policy.is_retryable(throttle_error((reason,), on_demand=on_demand).code)


@dataclass(frozen=True, eq=False)
class PatternRows:
    """The rows of one pattern.

    Attributes:
        model: The pattern.
        columns: The limits that they meet.
        asked: The placements whose partitions tell its rows apart.
        rooms: By such a placement, how many slots it has.
        first: The number of the first row.
        patience: 1 where a refusal is tried again, else 0.
    """

    model: PatternModel
    columns: tuple[Column, ...]
    asked: tuple[int, ...]
    rooms: tuple[int, ...]
    first: int
    patience: float

    @property
    def all(self) -> slice:
        """The rows."""
        return slice(self.first, self.first + int(np.prod(self.rooms)))

    def slots(self, placement: int) -> Integers:
        """Return for each row its slot on one of the asked placements."""
        grid = np.unravel_index(np.arange(np.prod(self.rooms)), self.rooms)
        return np.asarray(grid[self.asked.index(placement)])

    def partition_column(self, placement: int) -> int:
        """Return the column that has the partitions of one of the asked placements."""
        return next(
            at
            for at, limit in enumerate(self.columns)
            if limit.is_partition and limit.placements == (placement,)
        )

    @property
    def is_eventual(self) -> bool:
        """Whether reads take less of their partition (CAP2-6)."""
        return not self.model.pattern.is_write and not self.model.pattern.consistent


class RowTable:
    """The rows of all patterns, in all worlds.

    Args:
        models: The patterns.
        resources: The tables and indexes, in any world.
        queued: The indexes that have a queue.
        numbers: Of the buckets.
        read_factors: By world, what eventual reads take of a partition is divided by (CAP2-6).

    Attributes:
        patterns: The rows of each pattern.
        pattern: The pattern of each row.
        buckets: By column and row the bucket that it meets, 0 for none.
        final: By column and row, whether a refusal there is never tried again.
        is_partition: By column and row, whether the bucket is a partition's.
        owners: By column and row, the first placement whose units it takes; -1 for none.
        shares: The share of a pattern's requests.
        calls: Calls per request.
        units: By column, the units that a call takes of the bucket.
        chance: By column, how likely a call draws on it at all.
        metering: The metered part of a partition's unit.
        recorded: The rows of patterns whose requests were recorded: no second is like another.
    """

    def __init__(
        self,
        models: Sequence[PatternModel],
        resources: Sequence[Resource],
        queued: Collection[int],
        numbers: Numbers,
        read_factors: Annotated[Floats, "world"],
    ) -> None:
        self.patterns = tuple(self._lay_out(models, resources, queued, numbers))
        count, worlds = self.patterns[-1].all.stop, len(read_factors)
        width = max(len(own.columns) for own in self.patterns)
        self.pattern = np.zeros(count, dtype=np.int64)
        self.buckets: Annotated[Integers, "column", "row"] = np.zeros(
            (width, count), dtype=np.int64
        )
        self.final: NDArray[np.bool_] = np.zeros((width, count), dtype=np.bool_)
        self.is_partition: NDArray[np.bool_] = np.zeros((width, count), dtype=np.bool_)
        self.owners: Annotated[Integers, "column", "row"] = np.full((width, count), -1)
        self.shares: WorldRow = np.zeros((worlds, count))
        self.calls: WorldRow = np.ones((worlds, count))
        self.units: Annotated[Floats, "column", "world", "row"] = np.zeros((width, worlds, count))
        self.chance: Annotated[Floats, "column", "world", "row"] = np.ones((width, worlds, count))
        self.metering: WorldRow = np.ones((worlds, count))
        self.recorded: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        for number, own in enumerate(self.patterns):
            self._fill(number, own, numbers)
            self.recorded[own.all] = own.model.pattern.recorded is not None
            if own.is_eventual:
                self.metering[:, own.all] = read_factors[:, None]

    @staticmethod
    def _lay_out(
        models: Sequence[PatternModel],
        resources: Sequence[Resource],
        queued: Collection[int],
        numbers: Numbers,
    ) -> list[PatternRows]:
        rows: list[PatternRows] = []
        for model in models:
            columns = columns_of(model, resources, queued)
            parts = [column for column in columns if column.is_partition]
            asked = tuple(column.placements[0] for column in parts)
            rooms = tuple(numbers.rooms[column.resource] for column in parts)
            first = rows[-1].all.stop if rows else 0
            patience = float(_is_retried(model, resources, ThrottlingLimit.KEY_RANGE))
            rows.append(PatternRows(model, columns, asked, rooms, first, patience))
        return rows

    def _fill(self, number: int, own: PatternRows, numbers: Numbers) -> None:
        self.pattern[own.all] = number
        for at, column in enumerate(own.columns):
            if column.is_partition:
                first = numbers.partitions(column.resource, column.axis).start
                buckets: int | Integers = first + own.slots(column.placements[0])
            elif column.is_shared:
                first = numbers.partitions(column.resource, SHARED).start
                buckets = first + own.slots(column.placements[0])
            elif column.above is not None:
                buckets = numbers.above[column.resource, column.axis][column.above]
            else:
                buckets = numbers.gates[column.resource]
            self.buckets[at, own.all] = buckets
            self.final[at, own.all] = column.is_final
            self.owners[at, own.all] = column.placements[0] if column.placements else -1
            self.is_partition[at, own.all] = column.is_partition

    def write(
        self,
        number: int,
        price: Price,
        shares: WorldRow,
        weights: Sequence[WorldRow],
        worlds: Integers,
    ) -> None:
        """Set the shares and prices of the rows of a pattern in some worlds.

        Args:
            number: The pattern.
            price: The price of its calls.
            shares: Of its requests.
            weights: Its calls per request, then by placement the units of these.
            worlds: The worlds.
        """
        own = self.patterns[number]
        at = np.ix_(worlds, np.arange(own.all.start, own.all.stop))
        calls = weights[0]
        self.shares[at] = shares
        self.calls[at] = np.divide(calls, shares, out=np.ones_like(calls), where=shares > 0)
        units = [
            np.divide(each, calls, out=np.zeros_like(each), where=calls > 0) * own.model.actions
            for each in weights[1:]
        ]
        for column, limit in enumerate(own.columns):
            taken = sum((units[placement] for placement in limit.placements), np.zeros_like(calls))
            if not limit.placements:
                taken = np.ones_like(calls)
            elif (limit.is_partition or limit.is_shared) and own.is_eventual:
                taken = taken / self.metering[at]
            elif limit.is_shared and limit.axis == WRITE:
                taken = taken * (PARTITION_UNITS[READ] / PARTITION_UNITS[WRITE])
            self.units[column][at] = taken
            if limit.placements:
                touches = price.touches[limit.placements[0]]
                chance = touches[worlds] if len(touches) > 1 else touches
                self.chance[column][at] = chance[:, None]

    def by_pattern(self, amounts: WorldRow) -> Annotated[Floats, "world", "pattern"]:
        """Return the sums over the rows of each pattern."""
        return np.asarray(np.add.reduceat(amounts, [own.first for own in self.patterns], axis=1))

    def loads(self, calls: WorldRow, worlds: Integers, count: int) -> WorldBucket:
        """Return the units that calls take of each bucket.

        Args:
            calls: By world and row.
            worlds: The worlds that the calls are of.
            count: How many buckets a world has.
        """
        units = self.units[:, worlds]
        return _by_bucket(self.buckets, units * calls, count)

    def metered(self, calls: WorldRow, worlds: Integers, count: int) -> WorldBucket:
        """Return the units that calls take of each partition, as it is metered."""
        units = np.where(self.is_partition[:, None], self.units[:, worlds], 0.0)
        return _by_bucket(self.buckets, units * (calls * self.metering[worlds]), count)


def _by_bucket(
    buckets: Integers, units: Annotated[Floats, "column", "world", "row"], count: int
) -> WorldBucket:
    worlds = units.shape[1]
    at = np.arange(worlds)[:, None] * count + buckets[:, None]
    return sums(at.ravel(), units.ravel(), worlds * count).reshape(worlds, count)


# Keys on several resources


@dataclass(frozen=True, eq=False)
class Joint:
    """How the columns of two placements of one pattern go together.

    Attributes:
        first: A column of the first placement.
        second: A column of the second.
        shares: The share of the pattern's requests that have both.
    """

    first: Integers
    second: Integers
    shares: Floats

    @classmethod
    def of(cls, one: Columns, other: Columns, first: Placement, second: Placement) -> Joint | None:
        """Return how two placements go together; None if their keys are independent."""
        at = one.of_cells[first], other.of_cells[second]
        code, place = np.unique(at[0] * len(other) + at[1], return_inverse=True)
        shares = sums(place.reshape(-1), first.cells.shares, len(code))
        rows, columns = np.divmod(code, len(other))
        totals = sums(rows, shares, len(one)), sums(columns, shares, len(other))
        if len(code) == np.count_nonzero(totals[0]) * np.count_nonzero(totals[1]):
            expected = totals[0][rows] * totals[1][columns]
            if np.abs(shares - expected).max() < _INDEPENDENT:
                return None
        return cls(rows, columns, shares)

    def by_slots(
        self, one: Places, other: Places, world: int
    ) -> Annotated[Floats, "first slot", "second slot"]:
        """Return the share of requests that fall on each pair of slots in a world."""
        rows, height = _lines(one, self.first, world)
        columns, width = _lines(other, self.second, world)
        room, other_room = one.parts.shape[2], other.parts.shape[2]
        pairs = sums(rows * width + columns, self.shares, height * width).reshape(height, width)
        by_slot = pairs[:, :other_room] + pairs[:, other_room:] @ other.parts[world]
        return np.asarray(by_slot[:room] + one.parts[world].T @ by_slot[room:])


def _lines(places: Places, columns: Integers, world: int) -> tuple[Integers, int]:
    """Return the slot of each followed key, or a line after all slots for each group of others."""
    room, keys = places.parts.shape[2], len(places.columns.keys)
    slots = np.concatenate([places.slots[world], room + np.arange(places.parts.shape[1])])
    return slots[columns], room + len(slots) - keys


def joint_shares(
    placements: Sequence[Placement], places: Sequence[Places], worlds: Integers
) -> WorldSlot:
    """Return the share of requests on each combination of slots, as one axis after the world's.

    With more than two placements, those after the second are taken as independent of the first.
    """
    first = placements[0]
    alone = [
        place.by_slot(own, place.columns.sums(own, own.cells.shares)[None], worlds)
        for own, place in zip(placements, places, strict=True)
    ]
    found = alone[0]
    for number in range(1, len(placements)):
        joint = Joint.of(places[0].columns, places[number].columns, first, placements[number])
        width = alone[number].shape[1]
        if joint is None or number > 1:
            found = (found[:, :, None] * alone[number][:, None, :]).reshape(len(found), -1)
        else:
            pairs = [joint.by_slots(places[0], places[1], world) for world in worlds.tolist()]
            found = np.stack(pairs).reshape(len(found), -1)
        assert found.shape[1] % width == 0, found.shape
    return found
