"""What is reported to the real engine of a world, so that it grows, splits and scales by itself.

The engine decides on splits for heat from the positions that were accessed. For a partition whose
split is due it is shown a position for each key group, neighbours as one where there are many,
several for a group that stands for many items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.clock import NANOSECONDS
from emulator.engine.feed import ReportedAccess
from emulator.engine.resource import Resource
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.grouping import Grouping, Pieces
from emulator.lab.aggregate.pattern_model import ModelContext, PatternModel
from emulator.lab.aggregate.placement import PlacedKeys
from emulator.lab.aggregate.played_world import PlayedWorld
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE
from emulator.service.limits import PARTITION_UNITS
from emulator.storage import Position

#: Positions that the traffic of one partition is told apart by, about.
_MOST_POSITIONS: Final = 64
#: A key group with more than this share of its partition's traffic is never merged, and is
#: shown as several items where it stands for many.
_HEAVY_SHARE: Final = 0.1
_HEAVY_POSITIONS: Final = 8
#: Keys of equal weight are cut at the same place, however their weights were added up.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class PatternTraffic:
    """What a pattern's calls in one world did lately, by row.

    Attributes:
        model: The pattern.
        grouping: Its call groups.
        accepted: Calls.
        hot: For each resource that a call draws on, units that its partition refused.
        units: For each of them, the units of a call, by key group or for all.
        calls: Calls per request, likewise.
    """

    model: PatternModel
    grouping: Grouping
    accepted: Floats
    hot: Sequence[Floats]
    units: Sequence[float | Floats]
    calls: float | Floats

    @cached_property
    def _key_shares(self) -> Floats:
        return self.grouping.key_shares(self.calls)

    def key_shares(self, groups: Integers) -> Floats:
        """Return for some key groups the share of each in the calls of its row."""
        if isinstance(self.calls, float):
            return self.grouping.request_shares(groups)
        return self._key_shares[groups]


#: Answers what the calls of each pattern in a world did lately.
Traffic: TypeAlias = Callable[[], Sequence[PatternTraffic]]


class EngineFeed:
    """Reports what happens in one world to its engine."""

    def __init__(
        self, number: int, world: PlayedWorld, buckets: Buckets, context: ModelContext
    ) -> None:
        self._number = number
        self._world = world
        self._buckets = buckets
        self._context = context
        self._feed = world.emulator.feed
        self._settings = world.world.settings

    def advance(self, now_ns: int) -> None:
        """Move to a moment."""
        self._feed.advance(now_ns)

    def is_asleep(self, busiest: float) -> bool:
        """Return whether a minute changes nothing in the engine, and need not be reported.

        So it is where capacity is fixed, no partition is or was hot, and none waits for a split:
        such a minute is to the engine as one without traffic.

        Args:
            busiest: The largest share of a partition's minute that was asked for.
        """
        return busiest < self._nearly_hot and all(
            resource.heat.is_idle and _is_fixed(resource) and resource.prewarm is None
            for resource in self._world.resources
        )

    @property
    def _nearly_hot(self) -> float:
        """The share of a partition's minute below which it is cold, whatever the rounding."""
        return self._settings.heat_threshold - _ROUNDING

    def report_minute(self, *, is_shown: bool) -> None:
        """Report what partitions gave and refused in a minute, and what reached them.

        Of capacity that is fixed the engine asks only which partitions are hot. Only these are
        reported, and the one that gave most, so that the minute is one with traffic.

        Args:
            is_shown: Whether somebody looks at all of them.
        """
        buckets = self._buckets
        for number, resource in enumerate(self._world.resources):
            ids, slots = buckets.partitions(self._number, number)
            if not is_shown and _is_fixed(resource):
                is_told = self._share_used(number, slots) >= self._nearly_hot
                is_told[self._gave_most(number, slots)] = True
                ids, slots = ids[is_told], slots[is_told]
            told = ids.tolist()
            for axis in (READ, WRITE):
                own = buckets.of_slots(self._number, number, axis, slots)
                self._feed.report_loads(
                    resource,
                    axis,
                    buckets.consumed[own].tolist(),
                    buckets.refused[own].tolist(),
                    buckets.demand[own].tolist(),
                    partitions=told,
                )

    def _share_used(self, number: int, slots: Integers) -> Floats:
        """Return for some partitions of a resource the share of their minute that was asked for."""
        use = np.zeros(len(slots))
        for axis, rate in enumerate(PARTITION_UNITS):
            own = self._buckets.of_slots(self._number, number, axis, slots)
            use = np.maximum(use, self._buckets.demand[own] / (rate * MINUTE))
        return use

    def _gave_most(self, number: int, slots: Integers) -> int:
        """Return which of some partitions of a resource gave the most units in a minute."""
        reads, writes = (
            self._buckets.consumed[self._buckets.of_slots(self._number, number, axis, slots)]
            for axis in (READ, WRITE)
        )
        return int(np.argmax(reads + writes))

    # Heat

    def show_due(self, traffic: Traffic, now_ns: int, *, closes: bool) -> None:
        """Show where the traffic of partitions went that are split by a moment.

        Args:
            traffic: Answers what happened to the calls.
            now_ns: The moment.
            closes: Whether a minute ends then, so that splits may be decided and due at once.
        """
        now_s = now_ns // NANOSECONDS
        for number, resource in enumerate(self._world.resources):
            pending = resource.heat.pending
            due = [partition for partition, due_s in pending.items() if due_s <= now_s]
            if closes and self._may_split_at_once:
                due += self._hot_partitions(number, resource)
            self._show(traffic, number, due)

    def show_pending(self, traffic: Traffic) -> None:
        """Show where the traffic of all hot partitions went, before keys change."""
        for number, resource in enumerate(self._world.resources):
            self._show(traffic, number, list(resource.heat.pending))

    @property
    def _may_split_at_once(self) -> bool:
        delay = self._settings.split_delay
        least = delay if isinstance(delay, int | float) else min(delay)
        return least <= MINUTE * self._settings.heat_minutes

    def _hot_partitions(self, number: int, resource: Resource) -> list[int]:
        """Return the partitions that are hot in the minute that ends."""
        slots = self._buckets.slots(self._number, number)
        hot = self._share_used(number, slots) >= self._settings.heat_threshold
        return [p.id for p, is_hot in zip(resource.partitions, hot, strict=True) if is_hot]

    def _show(self, traffic: Traffic, number: int, partitions: Sequence[int]) -> None:
        if not partitions:
            return
        patterns = traffic()
        resource = self._world.resources[number]
        accesses: list[ReportedAccess] = []
        for partition_id in partitions:
            slot = self._buckets.slot(self._number, number, partition_id)
            for own in patterns:
                for placement, placed in enumerate(own.grouping.keys.placed):
                    is_scan = own.model.path.kind == "scan"
                    if placed.placement.resource == number and not is_scan:
                        accesses += self._accesses(own, placement, slot)
        self._feed.report_accesses(resource, accesses)

    def _accesses(self, traffic: PatternTraffic, number: int, slot: int) -> list[ReportedAccess]:
        """Return a pattern's accesses to one partition of one placement."""
        placed = traffic.grouping.keys.placed[number]
        placement = placed.placement
        moment, salt = self._context.moment, self._world.salt
        shown, amounts = _amounts(traffic, number, slot, salt)
        by_position: dict[Position, list[float]] = {}
        positions = placed.positions(shown, salt, moment)
        for position, own in zip(positions, amounts.T.tolist(), strict=True):
            others = by_position.setdefault(position, own)
            if others is not own:
                by_position[position] = [a + b for a, b in zip(others, own, strict=True)]
        heavy = _HEAVY_SHARE * float(amounts[:2].sum())
        is_write = placement.axis == WRITE
        accesses = []
        for position, (consumed, refused, calls) in by_position.items():
            stands_for_many = placement.is_unbounded and is_write and consumed + refused > heavy
            items = _items(position) if stands_for_many else [position]
            count = len(items)
            each = consumed / count, refused / count, calls / count if is_write else 0.0
            accesses += [ReportedAccess(item, *each, placement.in_order) for item in items]
        return accesses


def _is_fixed(resource: Resource) -> bool:
    """Return whether no traffic changes what a resource may consume."""
    return not resource.throughput.on_demand and not resource.scalers


def _amounts(traffic: PatternTraffic, number: int, slot: int, salt: int) -> tuple[Integers, Floats]:
    """Return key groups of a partition; weight consumed and refused, and calls, of each.

    Light neighbours are one, where there are many.
    """
    units = traffic.units[number]
    row = traffic.grouping.row_of(number, slot)
    pieces = None
    if row is not None and isinstance(units, float) and isinstance(traffic.calls, float):
        pieces = _pieces(traffic.grouping, number, slot, salt)
        groups, shares, rows = pieces.groups, pieces.shares, np.asarray(row)
    else:
        groups = np.flatnonzero(traffic.grouping.slots[number] == slot)
        shares, rows = traffic.key_shares(groups), traffic.grouping.rows[groups]
        if not isinstance(units, float):
            units = units[groups]
    placed = traffic.grouping.keys.placed[number]
    weigh = WEIGHTS[placed.placement.axis]
    amounts = np.empty((3, len(groups)))
    consumed, refused, accepted = amounts
    np.multiply(traffic.accepted[rows], shares, out=accepted)
    np.multiply(accepted, units * (traffic.model.actions * weigh), out=consumed)
    np.multiply(traffic.hot[number][rows] * weigh, shares, out=refused)
    used = consumed + refused > 0
    if not used.all():
        groups, amounts = groups[used], amounts[:, used]
    if pieces is not None:
        return groups, amounts
    return _neighbours(placed, groups, amounts, amounts[0] + amounts[1], salt)


def _pieces(grouping: Grouping, number: int, slot: int, salt: int) -> Pieces:
    """Return the pieces of a partition whose calls are all alike."""
    pieces = grouping.pieces.get((number, slot))
    if pieces is None:
        groups = np.flatnonzero(grouping.slots[number] == slot)
        shares = grouping.request_shares(groups)
        placed = grouping.keys.placed[number]
        groups, merged = _neighbours(placed, groups, shares[None], shares, salt)
        pieces = grouping.pieces[number, slot] = Pieces(groups, merged[0])
    return pieces


def _items(position: Position) -> list[Position]:
    """Return some items of a key group that stands for many, in ascending order."""
    if len(position) < 3:
        return [position]
    *rest, last = position
    return [(*rest, f"{last}{number:03d}") for number in range(_HEAVY_POSITIONS)]


def _in_order(groups: Integers, order: Integers) -> Integers:
    """Return the places of some key groups, in an order of all."""
    if len(groups) == len(order):
        return order
    number_of = np.full(len(order), -1)
    number_of[groups] = np.arange(len(groups))
    numbers = number_of[order]
    return numbers[numbers >= 0]


def _neighbours(
    placed: PlacedKeys, groups: Integers, amounts: Floats, weight: Floats, salt: int
) -> tuple[Integers, Floats]:
    """Return key groups and the amounts of each; light neighbours as one, where there are many.

    Merged neighbours weigh about the same, and the first gives its name: half of the weight is
    found where it is.
    """
    if len(groups) <= _MOST_POSITIONS:
        return groups, amounts
    begins = np.zeros(len(groups), dtype=np.bool_)
    if placed.count_keys(groups) <= _MOST_POSITIONS:
        order = _in_order(groups, placed.by_place(salt))
        hashes = placed.hashes(salt, groups[order])
        np.not_equal(hashes[1:], hashes[:-1], out=begins[1:])
    else:
        order = _in_order(groups, placed.by_hash(salt))
    weight = weight[order]
    reached = (np.cumsum(weight) - weight) / weight.sum()
    piece = np.floor(reached * (_MOST_POSITIONS - 16) + _ROUNDING)
    begins[0] = True
    begins[1:] |= piece[1:] != piece[:-1]
    is_heavy = weight > _HEAVY_SHARE * weight.sum()
    begins |= is_heavy
    begins[1:] |= is_heavy[:-1]
    starts = np.flatnonzero(begins)
    merged = np.add.reduceat(amounts.take(order, axis=1), starts, axis=1)
    return groups[order[starts]], merged
