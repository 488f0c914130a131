"""The emulator of one world: the design's tables with their histories, and nothing in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from emulator.api import Emulator
from emulator.clock import NANOSECONDS, ManualClock
from emulator.engine.events import Event, Scaled, Split
from emulator.engine.feed import TrafficFeed
from emulator.engine.resource import Resource
from emulator.engine.table import Table
from emulator.lab.inputs.history import History
from emulator.lab.planning.layout import IndexLayout, Layout, TableLayout
from emulator.service.errors import LimitExceededException, ValidationException
from emulator.service.throttling import AXES
from emulator.settings import Settings

#: By table and index, read and write units.
UnitsByName: TypeAlias = Mapping[str, tuple[float, float]]

_MINUTE_NS: Final = 60 * NANOSECONDS
#: A limit of which so much is used on average is used up in the end.
_ALL: Final = 0.97


class RunEmulator:
    """The emulator of one world, with the design's tables.

    A run may be followed by others on the same tables, which then have lived.

    Args:
        layout: The design under its workload.
        settings: The constants that hold.

    Raises:
        ValueError: The design asks for more than the settings' quotas allow.
    """

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self.layout = layout
        self.clock = ManualClock(start=layout.workload.start)
        self.emulator = Emulator(clock=self.clock, capacity="enforce", settings=settings)
        self.account = self.emulator.account()
        self.feed = TrafficFeed(self.account)
        for table in layout.tables:
            self._create(table)
        self.feed.leave_metrics_out()
        self._changes = 0
        self.emulator.events.subscribe(self._note_change, (Split, Scaled))

    def _note_change(self, event: Event) -> None:
        if isinstance(event, Scaled) or event.cause != "size":  # type: ignore[union-attr]
            self._changes += 1

    @property
    def has_changed(self) -> bool:
        """Whether partitions have split for heat or growth, or capacity has scaled, in this run."""
        return self._changes > 0

    @property
    def is_restless(self) -> bool:
        """Whether a partition is hot, so that it may be split soon."""
        return any(own.heat.pending or own.heat.has_streaks for own in self._resources())

    @property
    def will_grow(self) -> bool:
        """Whether traffic so far raises what a table on demand serves, half an hour later."""
        return any(
            own.throughput.on_demand and not own.growth.is_settled(0.0, 0.0)
            for own in self._resources()
        )

    def overdrawn(self, units: UnitsByName, seconds: float) -> set[tuple[str, int]]:
        """Return the limits above partitions that a run has used up, or will if it goes on.

        Args:
            units: By table and index, the read and write units that the run consumed.
            seconds: How long it was.

        Returns:
            By the name of the table or index, and the axis.
        """
        found = set()
        for name, resource in self._named():
            for axis, bucket in enumerate(resource.meter.own):
                if bucket is not None and units[name][axis] >= _ALL * bucket.rate * seconds:
                    found.add((name, axis))
        return found

    def begin_again(self, units: UnitsByName, seconds: float) -> None:
        """Begin another run on the same tables, at the next whole minute.

        Reserves are what runs like the last leave: nothing where they take all there is, else all.
        """
        now_ns = self.account.now_ns
        self.feed.advance(now_ns + -now_ns % _MINUTE_NS)
        empty = self.overdrawn(units, seconds)
        for name, resource in self._named():
            for axis in range(len(AXES)):
                self.feed.set_reserve(resource, axis, 0.0 if (name, axis) in empty else 1.0)
        self._changes = 0

    def _named(self) -> Iterator[tuple[str, Resource]]:
        for table in self.layout.tables:
            for index in (None, *table.global_indexes):
                name = self.layout.resource_name(table, None if index is None else index.name)
                yield name, self.resource(table, index)

    def _resources(self) -> Iterator[Resource]:
        return (resource for _, resource in self._named())

    def _create(self, table: TableLayout) -> None:
        try:
            self.emulator.call("CreateTable", table.create_request())
        except (LimitExceededException, ValidationException) as error:
            raise ValueError(f"design {self.layout.design.name!r}: {error.message}") from error
        self._give_history(table, None, table.design.history)
        for index in table.global_indexes:
            self._give_history(table, index, index.design.history)
        capacity = table.design.capacity
        if capacity.scaling is not None:
            scaling = capacity.scaling
            self.emulator.auto_scale(table.name, read=scaling, write=scaling)
        for index in table.indexes:
            own = table.index_capacity(index).scaling if index.is_global else None
            if own is not None:
                self.emulator.auto_scale(table.name, index.name, read=own, write=own)

    def _give_history(
        self, table: TableLayout, index: IndexLayout | None, history: History
    ) -> None:
        if not history.is_newborn:
            self.feed.give_history(
                self.table(table),
                self.resource(table, index),
                partitions=history.partitions,
                warm=history.promised,
                burst_share=history.burst_start,
            )

    def table(self, layout: TableLayout) -> Table:
        """Return the engine's table."""
        return self.account.tables[layout.name]

    def resource(self, table: TableLayout, index: IndexLayout | None) -> Resource:
        """Return the engine's resource of a table or global index."""
        engine_table = self.table(table)
        if index is None or not index.is_global:
            return engine_table.resource
        return engine_table.indexes[index.name].resource
