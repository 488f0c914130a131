"""Call rows: the call groups of all patterns in all worlds, and the buckets that they meet.

A row is a call group; its columns are the buckets that its calls are asked by, in the order of
the limits of a request. A world is a block of rows, a pattern a region in it, with room for the
rows that splits will add. All arithmetic of admission is on these arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import READ, throttle_error
from emulator.capacity.refusal import Reason
from emulator.engine.resource import Resource
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.grouping import TINY, Grouping, Moves
from emulator.lab.aggregate.pattern_model import (
    CallPrices,
    PatternKeys,
    PatternModel,
    PerGroup,
    WeighedPrices,
)
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.service.errors import TransactionCanceledException
from emulator.service.throttling import ThrottlingLimit


@dataclass(frozen=True)
class LimitColumn:
    """One limit that the calls of a pattern meet; the same in every world.

    Attributes:
        resource: Whose limit it is.
        axis: Reads or writes.
        placements: Whose units it takes; none for the gate of a table.
        above: Which of the limits above partitions it is; None for the partition's own.
        is_final: Whether a refusal is never tried again.
    """

    resource: int
    axis: int
    placements: tuple[int, ...]
    above: int | None
    is_final: bool = False

    @property
    def is_gate(self) -> bool:
        """Return whether it is the gate of a table, and no limit of its own."""
        return not self.placements

    @property
    def is_partition(self) -> bool:
        """Return whether it is the partition's own limit."""
        return self.above is None and not self.is_gate


@dataclass(frozen=True)
class PatternColumns:
    """The limits that a pattern's calls meet.

    Attributes:
        model: The pattern.
        met: Those that admission asks.
        arms: Those that what a write changes in indexes takes from, behind its queues.
        is_patient: Whether a refusal is tried again.
        is_eventual: Whether reads take less of their partition (CAP2-6).
    """

    model: PatternModel
    met: tuple[LimitColumn, ...]
    arms: tuple[LimitColumn, ...]
    is_patient: bool
    is_eventual: bool

    def is_spared(self, limit: LimitColumn) -> bool:
        """Return whether calls take less of a limit than they are metered for."""
        return self.is_eventual and limit.is_partition

    @classmethod
    def of(
        cls,
        model: PatternModel,
        keys: PatternKeys,
        resources: Sequence[Resource],
        queued: Collection[int],
    ) -> PatternColumns:
        """Return the limits in the order they are asked.

        Those above the partitions may be shared by table and indexes; they are asked once.

        Args:
            model: The pattern.
            keys: For the resources that its calls draw on.
            resources: The engine's side of them, in any world.
            queued: The indexes that have a queue, in which writes wait; reads do not.
        """
        columns: list[LimitColumn] = []
        first = keys.placed[0].placement
        if first.axis == READ:
            queued = ()
        if model.pattern.is_write:
            columns.append(LimitColumn(first.resource, first.axis, (), None))
        shared: dict[int, int] = {}
        is_quota_final = not _is_retried(model, resources, ThrottlingLimit.ACCOUNT)
        for number, placed in enumerate(keys.placed):
            resource, axis = placed.placement.resource, placed.placement.axis
            meter = resources[resource].meter
            for above, (bucket, reason) in enumerate(
                zip(meter.limits[axis], meter.reasons[axis], strict=False)
            ):
                at = shared.get(id(bucket))
                if at is not None and resource not in queued:
                    old = columns[at]
                    columns[at] = LimitColumn(
                        old.resource, axis, (*old.placements, number), old.above, old.is_final
                    )
                    continue
                shared[id(bucket)] = len(columns)
                is_account = ThrottlingLimit.of(reason.reason) is ThrottlingLimit.ACCOUNT
                final = is_account and is_quota_final
                columns.append(LimitColumn(resource, axis, (number,), above, final))
            columns.append(LimitColumn(resource, axis, (number,), None))
        return cls(
            model,
            tuple(column for column in columns if column.resource not in queued),
            tuple(column for column in columns if column.resource in queued),
            _is_retried(model, resources, ThrottlingLimit.KEY_RANGE),
            first.axis == READ and not model.pattern.consistent,
        )


def _is_retried(model: PatternModel, resources: Sequence[Resource], limit: ThrottlingLimit) -> bool:
    """Return whether the policy tries again after a refusal by a limit."""
    if model.pattern.is_transaction:
        return model.policy.is_retryable(TransactionCanceledException.__name__)
    on_demand = resources[model.resource].throughput.on_demand
    reason = Reason(limit.reason("Write", is_index=False), "")
    return model.policy.is_retryable(throttle_error((reason,), on_demand=on_demand).code)


@dataclass(frozen=True)
class LiveRows:
    """The rows of a pattern in a world that have key groups.

    Attributes:
        at: Where they are, in ascending order.
        shares: Of all requests that fall on them.
        only: Where the row is, if it is only one.
    """

    at: slice | Integers
    shares: Floats
    only: int | None = None


_NO_ROWS: Final = LiveRows(slice(0, 0), np.zeros(0))


class CallRows:
    """The call groups of all patterns in all worlds.

    Attributes:
        patterns: The limits of each pattern.
        groupings: By world and pattern, the call groups.
        live: By world and pattern, as one, the rows that have key groups.
        starts: By world and pattern, the first row, one after the other.
        world: For each row the world that it belongs to.
        segment: For each row its world and pattern, as one number.
        shares: Of the pattern's requests.
        calls: Calls per request.
        actions: Items of a call that are admitted all or none.
        patience: 1 where a refusal is tried again, else 0.
        metering: What is metered of a partition's unit (CAP2-6).
        buckets: By column and row the number of a bucket, 0 where there is none.
        units: What a call takes of it.
        chance: How likely a call draws on the bucket at all.
        final: Whether a refusal there is never tried again.
        is_partition: Whether it is a partition's.
        arm_buckets: By column and row the bucket that queued index changes draw on.
        arm_units: What a call's changes take of it.
    """

    def __init__(
        self, patterns: Sequence[PatternColumns], groupings: list[list[Grouping]], buckets: Buckets
    ) -> None:
        self.patterns = patterns
        self.groupings = groupings
        self._buckets = buckets
        self._worlds = len(groupings)
        self._factors = np.ones(self._worlds)
        self._priced: list[CallPrices | None] = [None] * len(patterns)
        self._room = [
            _with_spare(max(groupings[world][number].size for world in range(self._worlds)))
            for number in range(len(patterns))
        ]
        self._make_arrays()

    def _make_arrays(self) -> None:
        """Lay out the regions, and write what belongs to a pattern whatever its rows are."""
        worlds, patterns = self._worlds, self.patterns
        block = sum(self._room)
        count = worlds * block
        met = max(len(pattern.met) for pattern in patterns)
        arms = max(len(pattern.arms) for pattern in patterns)
        offsets = np.cumsum([0, *self._room[:-1]])
        self.live = [_NO_ROWS] * (worlds * len(patterns))
        self.starts: Integers = (np.arange(worlds)[:, None] * block + offsets).ravel()
        self.world: Integers = np.repeat(np.arange(worlds), block)
        of_pattern = np.repeat(np.arange(len(patterns)), self._room)
        self.pattern: Integers = np.tile(of_pattern, worlds)
        self.segment: Integers = self.world * len(patterns) + self.pattern
        self.shares, self.calls = np.zeros(count), np.ones(count)
        self.actions = self._by_pattern([float(own.model.actions) for own in patterns])
        self.patience = self._by_pattern([float(own.is_patient) for own in patterns])
        self.metering = np.ones(count)
        self.buckets: Integers = np.zeros((met, count), dtype=np.int64)
        self.units, self.chance = np.zeros((met, count)), np.ones((met, count))
        self.final: NDArray[np.bool_] = np.zeros((met, count), dtype=np.bool_)
        self.is_partition: NDArray[np.bool_] = np.zeros((met, count), dtype=np.bool_)
        self.arm_buckets: Integers = np.zeros((arms, count), dtype=np.int64)
        self.arm_units = np.zeros((arms, count))
        for number, own in enumerate(patterns):
            for column, limit in enumerate(own.met):
                self._region(self.final[column], number)[:] = limit.is_final
                self._region(self.is_partition[column], number)[:] = limit.is_partition
        self.has_many = bool((self.actions > 1).any())
        self.has_final = bool(self.final.any())
        for world in range(worlds):
            for number in range(len(patterns)):
                self.write(world, number)

    def __len__(self) -> int:
        return len(self.shares)

    def _by_pattern(self, values: Sequence[float]) -> Floats:
        return np.asarray(values)[self.pattern]

    def _region(self, column: NDArray[np.generic], pattern: int) -> NDArray[np.generic]:
        """Return the rows of a pattern in all worlds, as a view: worlds by rows."""
        offset = sum(self._room[:pattern])
        return column.reshape(self._worlds, -1)[:, offset : offset + self._room[pattern]]

    def rows(self, world: int, pattern: int) -> slice:
        """Return the rows of a pattern in a world that have call groups."""
        start = int(self.starts[world * len(self.patterns) + pattern])
        return slice(start, start + self.groupings[world][pattern].size)

    def region(self, world: int, pattern: int) -> slice:
        """Return all rows of a pattern in a world, the free ones too."""
        start = int(self.starts[world * len(self.patterns) + pattern])
        return slice(start, start + self._room[pattern])

    def world_rows(self, world: int) -> slice:
        """Return all rows of a world."""
        block = sum(self._room)
        return slice(world * block, (world + 1) * block)

    # Where they lie

    def has_room(self, world: int, pattern: int) -> bool:
        """Return whether a pattern's region still holds its call groups."""
        return self.groupings[world][pattern].size <= self._room[pattern]

    def grow(self, pattern: int) -> Integers:
        """Make room for more rows of a pattern; return for each old row its new number."""
        old_room = list(self._room)
        most = max(self.groupings[world][pattern].size for world in range(self._worlds))
        self._room[pattern] = _with_spare(most)
        local = np.concatenate(
            [np.arange(room) + sum(self._room[:number]) for number, room in enumerate(old_room)]
        )
        blocks = np.arange(self._worlds)[:, None] * sum(self._room)
        number_of = np.asarray((blocks + local).ravel())
        old = self.calls, self.units, self.chance, self.arm_units
        priced, self._priced = self._priced, [None] * len(self.patterns)
        self._make_arrays()
        self.set_read_factors(self._factors)
        for amounts, before in zip(
            (self.calls, self.units, self.chance, self.arm_units), old, strict=True
        ):
            amounts[..., number_of] = before
        for number, prices in enumerate(priced):
            if prices is not None:
                self.price(number, prices)
        return number_of

    def write(self, world: int, pattern: int) -> None:
        """Write the shares and buckets of a pattern's call groups in a world."""
        live = self.groupings[world][pattern].live
        self._write_rows(world, pattern, self.region(world, pattern), live)

    def follow_split(self, world: int, pattern: int, moves: Moves) -> None:
        """Write the shares and buckets of the rows that a split has taken and given."""
        if len(moves.new):
            gone = self.region(world, pattern).start + moves.old
            self._write_rows(world, pattern, gone, moves.taken)

    def _write_rows(
        self, world: int, pattern: int, gone: slice | Integers, taken: Integers
    ) -> None:
        """Empty some rows, and write those that the pattern's grouping has given."""
        grouping, own = self.groupings[world][pattern], self.patterns[pattern]
        start = self.region(world, pattern).start
        self.shares[gone] = 0.0
        self.buckets[:, gone] = 0
        self.arm_buckets[:, gone] = 0
        at = _as_slice(start + taken)
        self.shares[at] = grouping.row_shares[taken]
        for limits, columns in ((own.met, self.buckets), (own.arms, self.arm_buckets)):
            for column, limit in enumerate(limits):
                columns[column, at] = self._numbers(limit, world, grouping, taken)
        numbers = start + grouping.live
        live, only = _as_slice(numbers), int(numbers[0]) if len(numbers) == 1 else None
        shares = self.shares[live]
        segment = world * len(self.patterns) + pattern
        self.live[segment] = LiveRows(live, shares / shares.sum(), only)

    def _numbers(
        self, limit: LimitColumn, world: int, grouping: Grouping, rows: Integers
    ) -> int | Integers:
        """Return the bucket that a limit is, for some rows of a grouping in a world."""
        if limit.is_gate:
            return self._buckets.gate(world, limit.resource)
        if limit.above is not None:
            return self._buckets.above(world, limit.resource, limit.axis)[limit.above]
        slots = grouping.row_slots[limit.placements[0]][rows]
        return self._buckets.of_slots(world, limit.resource, limit.axis, slots)

    def renumber(self, number_of: Integers) -> None:
        """Follow buckets that have other numbers now."""
        self.buckets = number_of[self.buckets]
        self.arm_buckets = number_of[self.arm_buckets]

    # What they cost

    def set_read_factors(self, factors: Floats) -> None:
        """Say for each world what eventual reads take of a partition's bucket (CAP2-6)."""
        self._factors = factors
        for number, own in enumerate(self.patterns):
            if own.is_eventual:
                self._region(self.metering, number)[:] = factors[:, None]

    def price(self, pattern: int, prices: CallPrices) -> None:
        """Set what the calls of a pattern cost, where that is the same in every world."""
        if not is_uniform(prices):
            weighed = prices.weighed(self.groupings[0][pattern].weights)
            for world in range(self._worlds):
                self._price_rows(world, pattern, prices, weighed)
            return
        if self._priced[pattern] == prices:
            return
        self._priced[pattern] = prices
        own = self.patterns[pattern]
        self._region(self.calls, pattern)[:] = prices.calls
        for column, limit in enumerate(own.met):
            self._region(self.chance[column], pattern)[:] = _chance(limit, prices)
        for limit, units in self._unit_columns(own):
            taken = _units(limit, prices.units) * own.model.actions
            factors = self._factors[:, None] if own.is_spared(limit) else 1.0
            self._region(units, pattern)[:] = taken / factors

    def price_in(self, world: int, pattern: int, prices: CallPrices) -> None:
        """Set what the calls of a pattern cost in one world, for each of its key groups."""
        weighed = prices.weighed(self.groupings[world][pattern].weights)
        self._price_rows(world, pattern, prices, weighed)

    def _price_rows(
        self, world: int, pattern: int, prices: CallPrices, weighed: WeighedPrices
    ) -> None:
        own, grouping = self.patterns[pattern], self.groupings[world][pattern]
        rows = self.rows(world, pattern)
        shares = self.shares[rows]
        self._priced[pattern] = None
        calls = grouping.sums(weighed.calls)
        self.calls[rows] = np.divide(calls, shares, out=np.ones_like(calls), where=shares > 0)
        means = [
            units if isinstance(units, float) else grouping.sums(units) / np.maximum(calls, TINY)
            for units in weighed.units
        ]
        for column, limit in enumerate(own.met):
            self.chance[column, rows] = _chance(limit, prices)
        for limit, units in self._unit_columns(own):
            taken = _units(limit, means) * own.model.actions
            units[rows] = taken / (self._factors[world] if own.is_spared(limit) else 1.0)

    def _unit_columns(self, own: PatternColumns) -> list[tuple[LimitColumn, Floats]]:
        return [
            *zip(own.met, self.units, strict=False),
            *zip(own.arms, self.arm_units, strict=False),
        ]

    # What they take

    def loads(self, calls: Floats) -> Floats:
        """Return what so many calls per row take of each bucket."""
        return _loads(self.buckets, calls * self.units, len(self._buckets))

    def arm_loads(self, calls: Floats) -> Floats:
        """Return what so many calls per row add to the queues of indexes, by bucket."""
        return _loads(self.arm_buckets, calls * self.arm_units, len(self._buckets))

    def metered(self, calls: Floats) -> Floats:
        """Return what so many calls per row take of each partition, as it is metered."""
        units = np.where(self.is_partition, self.units * (calls * self.metering), 0.0)
        return _loads(self.buckets, units, len(self._buckets))

    def by_segment(self, amounts: Floats) -> Floats:
        """Return the sum over the rows of each world and pattern."""
        return np.add.reduceat(amounts, self.starts, axis=-1)


def _loads(buckets: Integers, units: Floats, count: int) -> Floats:
    return sums(buckets.ravel(), units.ravel(), count)


def _as_slice(rows: Integers) -> slice | Integers:
    """Return rows as a slice, which is cheaper to index by, where they have no gaps."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _with_spare(rows: int) -> int:
    return rows + max(4, rows // 4)


def is_uniform(prices: CallPrices) -> bool:
    """Return whether calls for all keys cost the same."""
    return all(isinstance(value, float) for value in (prices.calls, *prices.units))


def _units(limit: LimitColumn, units: Sequence[PerGroup]) -> PerGroup:
    """Return what a call takes of a limit."""
    if limit.is_gate:
        return 1.0
    return sum((units[number] for number in limit.placements[1:]), units[limit.placements[0]])


def _chance(limit: LimitColumn, prices: CallPrices) -> float:
    """Return how likely a call meets a limit at all."""
    return 1.0 if limit.is_gate else prices.chances[limit.placements[0]]
