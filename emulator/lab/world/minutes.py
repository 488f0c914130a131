"""Minutes: every world's own emulator, fed the traffic, so that it grows, splits and scales.

Under every world lies a real emulator whose tables are empty. Once a minute it is given the load of
its partitions, and its own code finds the hot ones, grows tables on demand and scales. It
sleeps through minutes that change nothing. Before a partition is split it is shown where the
traffic of that partition went, followed keys by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.clock import NANOSECONDS
from emulator.engine.events import Event, Scaled, Split
from emulator.engine.feed import ReportedAccess
from emulator.engine.resource import Resource
from emulator.engine.table import Table
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.planning.layout import IndexLayout, TableLayout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World
from emulator.lab.world.families import Placement, Places
from emulator.lab.world.limits import AXES
from emulator.lab.world.state import Minute
from emulator.service.limits import PARTITION_UNITS
from emulator.storage import HASH_SPACE, Position

#: Positions that the keys of a group, or new keys, of one partition are told apart by.
_SPREAD: Final = 32
#: A key with more than this share of a partition's traffic is shown as its items.
_HEAVY_SHARE: Final = 0.1
#: Rounding, where something is at a threshold.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class PartitionSplit:
    """A partition of one world that became several.

    Attributes:
        resource: The number of its table or index.
        parent: Its id.
        children: The ids of those that took its place, in key order.
        lows: Where each of them begins.
        high: Where the last one ends.
    """

    resource: int
    parent: int
    children: tuple[int, ...]
    lows: tuple[Position, ...]
    high: Position


@dataclass(frozen=True)
class Shown:
    """The calls of one pattern to one partition lately.

    Attributes:
        placement: Whose calls.
        places: Where its keys lie.
        columns: The columns of the family that they ask for.
        accepted: Of each, calls accepted.
        consumed: The weight of their units.
        refused: The weight of the units that the partition refused.
    """

    placement: Placement
    places: Places
    columns: Integers
    accepted: Floats
    consumed: Floats
    refused: Floats


class PlayedWorld:
    """One world: its emulator, and what has become of it.

    Attributes:
        world: Which.
        emulator: Its emulator, with the design's tables.
        resources: The engine's side of every table and global index, by number.
        shift: How many seconds later than in the first run keys are that have a time.
        splits: How many partitions were split since the run began.
        new_splits: Splits that are not followed yet.
        has_scaled: Whether capacity has changed and is not followed yet.
    """

    def __init__(
        self,
        world: World,
        emulator: RunEmulator,
        layouts: Sequence[tuple[TableLayout, IndexLayout | None]],
        shift: int = 0,
    ) -> None:
        self.world = world
        self.shift = shift
        self.emulator = emulator
        self.resources: list[Resource] = [emulator.resource(*layout) for layout in layouts]
        self.splits = 0
        self.new_splits: list[PartitionSplit] = []
        self.has_scaled = False
        self._layouts = layouts
        self._start_ns = emulator.account.now_ns
        self._feed = emulator.feed
        self._numbers = {resource.arn: number for number, resource in enumerate(self.resources)}
        #: For each resource the bytes from which a partition may be too large.
        self._check_bytes = [float(world.settings.partition_bytes)] * len(self.resources)
        self._leave = emulator.emulator.events.subscribe(self._hear, (Split, Scaled))

    def _hear(self, event: Event) -> None:
        if isinstance(event, Scaled):
            self.has_scaled = True
        elif isinstance(event, Split):
            self.splits += 1
            number = self._numbers[event.resource]
            partitions = self.resources[number].partitions
            children = [partitions.by_id(child) for child in event.children]
            own = [child for child in children if child is not None]
            _, high = partitions.range_of(own[-1])
            lows = tuple(child.low for child in own)
            self.new_splits.append(
                PartitionSplit(number, event.partition_id, event.children, lows, high)
            )

    @property
    def has_changed(self) -> bool:
        """Whether partitions or capacity have changed and are not followed yet."""
        return bool(self.new_splits) or self.has_scaled

    def leave(self) -> None:
        """Stop listening to the emulator, and answering it."""
        self._leave()
        for resource in self.resources:
            self._feed.answer_for_accesses(resource, None)

    def table_of(self, number: int) -> Table:
        """Return the engine's table that a resource is, or belongs to."""
        return self.emulator.table(self._layouts[number][0])

    def advance(self, second: int) -> None:
        """Move the emulator to a second of the run."""
        self._feed.advance(self._start_ns + second * NANOSECONDS)

    def fit_partitions(self) -> None:
        """Give the tables partitions for what they hold."""
        self._feed.fit_partitions()

    def fill(self, number: int, held: float, items: float) -> bool:
        """Split the partitions of a resource for what it holds, if that lies evenly.

        Returns:
            Whether some were split.
        """
        resource = self.resources[number]
        before = len(resource.partitions)
        widths = np.asarray(resource.partitions.widths(), dtype=np.float64) / HASH_SPACE
        if self.report_contents(number, held * widths, items * widths):
            stand_ins = [
                (position, held * width / _SPREAD)
                for partition, width in zip(resource.partitions, widths.tolist(), strict=True)
                for position in spread_positions(*resource.partitions.range_of(partition))
            ]
            self.report_contents(number, held * widths, items * widths, stand_ins)
        return len(resource.partitions) > before

    # When something is due

    @property
    def split_due(self) -> float:
        """The second of the run in which a partition is split next, or infinity."""
        due_s = min(resource.heat.next_due_s for resource in self.resources)
        return due_s - self._start_ns // NANOSECONDS

    @property
    def is_fixed(self) -> bool:
        """Whether capacity neither grows nor scales."""
        return not any(
            own.scalers or own.prewarm is not None or own.throughput.on_demand
            for own in self.resources
        )

    @property
    def hot_from(self) -> float:
        """From which share of a partition's limit on a minute makes it hot."""
        return self.world.settings.heat_threshold - _ROUNDING

    def sleeps(
        self,
        most: Sequence[Floats],
        rates: Sequence[tuple[float, float]],
        ids: Sequence[dict[int, int]],
    ) -> bool:
        """Return whether minutes change nothing in the emulator, and need not be reported.

        So it is where no partition gets hot but those that wait for their split, and capacity
        neither grows nor scales.

        Args:
            most: By resource and slot, the largest share of a partition's limit that is asked for.
            rates: By resource, the most read and write units that it serves in a second.
            ids: By resource, the slots of its partitions, by id.
        """
        for number, resource in enumerate(self.resources):
            if resource.scalers or resource.prewarm is not None or resource.heat.has_streaks:
                return False
            if resource.throughput.on_demand and not resource.growth.is_settled(*rates[number]):
                return False
            slots = ids[number]
            hot = np.flatnonzero(most[number] >= self.hot_from)
            waiting = {slots[partition] for partition in resource.heat.pending}
            if not waiting.issuperset(hot.tolist()):
                return False
        return True

    # What is reported

    def report_minute(
        self,
        row: int,
        minute: Minute,
        slots: Sequence[Mapping[int, int]],
        buckets: Sequence[slice],
    ) -> None:
        """Report what partitions gave in a minute, and what reached them.

        Of capacity that is fixed the engine asks only which partitions are hot. Only these are
        reported, and the one that gave most, so that the minute is one with traffic.

        Args:
            row: Where the figures of this world are.
            minute: The load of all partitions.
            slots: By resource, those of its partitions, by id.
            buckets: Of each resource and axis.
        """
        for at, resource in enumerate(self.resources):
            ids = slots[at]
            partitions = np.fromiter(ids.keys(), dtype=np.int64, count=len(ids))
            places = np.fromiter(ids.values(), dtype=np.int64, count=len(ids))
            own = [
                [
                    column[row, buckets[2 * at + axis]][places]
                    for column in (minute.consumed, minute.demand)
                ]
                for axis in AXES
            ]
            chosen = np.arange(len(ids))
            if not resource.throughput.on_demand and not resource.scalers:
                use = np.maximum(
                    *(own[axis][1] / (PARTITION_UNITS[axis] * MINUTE) for axis in AXES)
                )
                is_told = use >= self.hot_from
                is_told[np.argmax(own[READ][0] + own[WRITE][0])] = True
                chosen = np.flatnonzero(is_told)
            told = partitions[chosen].tolist()
            for axis in AXES:
                taken, reached = (column[chosen].tolist() for column in own[axis])
                self._feed.report_loads(resource, axis, taken, [0.0] * len(told), reached, told)

    def answer_for_accesses(self, shown: Callable[[int, int], Sequence[Shown]], world: int) -> None:
        """Show where the traffic of a partition went lately when it is to be split.

        Args:
            shown: Tells the calls to a partition, given the numbers of resource and partition.
            world: The number of this world.
        """
        for number, resource in enumerate(self.resources):
            self._feed.answer_for_accesses(
                resource,
                lambda partition, number=number: self._accesses(  # type: ignore[misc]
                    number, partition, shown(number, partition), world
                ),
            )

    def keep_accesses(self, shown: Callable[[int, int], Sequence[Shown]], world: int) -> None:
        """Show where the traffic went of partitions whose split comes later, with other keys."""
        for number, resource in enumerate(self.resources):
            accesses = [
                access
                for partition in resource.heat.pending
                for access in self._accesses(number, partition, shown(number, partition), world)
            ]
            if accesses:
                self._feed.report_accesses(resource, accesses)

    def _accesses(
        self, number: int, partition_id: int, shown: Sequence[Shown], world: int
    ) -> list[ReportedAccess]:
        """Return the accesses to a partition of a resource."""
        partitions = self.resources[number].partitions
        partition = partitions.by_id(partition_id)
        assert partition is not None, partition_id
        low, high = partitions.range_of(partition)
        total = sum(float((own.consumed + own.refused).sum()) for own in shown)
        return [access for own in shown for access in _accesses(own, low, high, total, world)]

    # What is held

    def may_be_full(self, number: int, held: float) -> bool:
        """Return whether a partition of a resource may be too large with the bytes held."""
        return held >= self._check_bytes[number]

    def report_contents(
        self,
        number: int,
        sizes: Floats,
        items: Floats,
        stand_ins: Iterable[tuple[Position, float]] | None = None,
    ) -> bool:
        """Report what the partitions of a resource hold, and let those split that hold too much.

        Args:
            number: Of the resource.
            sizes: The billed bytes of every partition, in key order.
            items: And the items.
            stand_ins: Positions and bytes that lie as the items do; None to report only.

        Returns:
            Whether some partition holds too much, and was not split for lack of stand-ins.
        """
        resource, most = self.resources[number], self.world.settings.partition_bytes
        whole = [np.rint(column).astype(np.int64).tolist() for column in (sizes, items)]
        self._feed.report_contents(resource, *whole)
        self._check_bytes[number] = float(sizes.sum()) + max(1.0, most - float(sizes.max()))
        if sizes.max() < most:
            return False
        if stand_ins is None:
            return True
        self._feed.split_for_size(self.table_of(number), resource, list(stand_ins))
        return False


def _accesses(
    shown: Shown, low: Position, high: Position, total: float, world: int
) -> list[ReportedAccess]:
    """Return the accesses of a pattern's calls to a partition."""
    placement, places, in_order = shown.placement, shown.places, shown.placement.in_order
    is_write, keys = placement.axis == WRITE, len(places.columns.keys)
    writes = shown.accepted if is_write else np.zeros_like(shown.accepted)
    amounts = np.stack([shown.consumed, shown.refused, writes], axis=1)
    found: list[ReportedAccess] = []

    def add(position: Position, amounts: Sequence[float], share: float) -> None:
        taken, lost, written = amounts
        access = ReportedAccess(position, taken * share, lost * share, written * share, in_order)
        found.append(access)

    for column, own in zip(shown.columns.tolist(), amounts.tolist(), strict=True):
        weight = own[0] + own[1]
        if column >= keys or weight <= 0:
            continue
        begin = places.position(world, column)
        if weight <= _HEAVY_SHARE * total and low <= begin:
            add(begin, own, 1.0)
            continue
        sorts, shares = (places.items if is_write else places.profile)(placement, column)
        inside = [
            ((*begin, *sort), share)
            for sort, share in zip(sorts, shares.tolist(), strict=True)
            if low <= (*begin, *sort) < high
        ]
        whole = sum(share for _, share in inside)
        for position, share in inside:
            add(position, own, share / whole)
    spread = amounts[shown.columns >= keys].sum(axis=0).tolist()
    if spread[0] + spread[1] > 0:
        for position in spread_positions(low, high):
            add(position, spread, 1 / _SPREAD)
    return found


def spread_positions(low: Position, high: Position) -> list[Position]:
    """Return positions of keys that lie anywhere in a partition."""
    width = high[0] - low[0]
    return [
        (low[0] + (2 * place + 1) * width // (2 * _SPREAD), f"(others) {place:02d}", "")
        for place in range(_SPREAD)
    ]
