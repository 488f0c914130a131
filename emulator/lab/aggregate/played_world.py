"""A world that is played: its emulator, real and empty, and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.engine.events import Event, Scaled, Split
from emulator.engine.resource import Resource
from emulator.engine.table import Table
from emulator.lab.aggregate.pattern_model import ModelContext
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World
from emulator.storage import Position


@dataclass(frozen=True)
class PartitionSplit:
    """A partition that became several.

    Attributes:
        resource: The number of its table or index.
        parent: Its id.
        children: The ids of those that took its place, in key order.
        lows: Where each of them begins.
    """

    resource: int
    parent: int
    children: tuple[int, ...]
    lows: tuple[Position, ...]


class PlayedWorld:
    """One world: buckets, partitions, growth, heat, splits and scaling are the engine's own.

    Attributes:
        world: Which.
        emulator: Its emulator, with the design's tables.
        resources: The engine's side of every table and global index, by number.
        salt: Where keys lie.
        splits: How many partitions were split.
        new_splits: Splits since somebody last looked.
        has_scaled: Whether capacity has changed since somebody last looked.
    """

    def __init__(self, world: World, emulator: RunEmulator, context: ModelContext) -> None:
        self.world = world
        self.emulator = emulator
        self.resources: list[Resource] = [
            emulator.resource(table, index) for table, index in context.resources
        ]
        self.salt = world.settings.placement_salt
        self.splits = 0
        self.new_splits: list[PartitionSplit] = []
        self.has_scaled = False
        self._layouts = context.resources
        #: For each resource where its partitions begin, by id.
        self._lows = [
            {partition.id: partition.low for partition in resource.partitions}
            for resource in self.resources
        ]
        self._numbers = {resource.arn: number for number, resource in enumerate(self.resources)}
        self._leave = emulator.emulator.events.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Split):
            self.splits += 1
            number = self._numbers[event.resource]
            lows = self._lows[number]
            self._note_children(number, lows.pop(event.partition_id), len(event.children))
            children = tuple(lows[child] for child in event.children)
            self.new_splits.append(
                PartitionSplit(number, event.partition_id, event.children, children)
            )
        elif isinstance(event, Scaled):
            self.has_scaled = True

    def _note_children(self, number: int, low: Position, count: int) -> None:
        """Note where the children of a partition begin that began at ``low``."""
        partitions = self.resources[number].partitions
        for _ in range(count):
            child = partitions.at(low)
            self._lows[number][child.id] = child.low
            _, low = partitions.range_of(child)

    def start_counting(self) -> None:
        """Forget the splits of the warm-up."""
        self.splits = 0

    def table_of(self, number: int) -> Table:
        """Return the engine's table that a resource is, or belongs to."""
        layout, _ = self._layouts[number]
        return self.emulator.table(layout)

    def number_of(self, resource: Resource) -> int:
        """Return the number of a table or global index."""
        return self._numbers[resource.arn]

    def due_second(self, second: int, start: int) -> float:
        """Return the second of the next split after one of the run, or infinity."""
        due = min(resource.heat.next_due_s for resource in self.resources) - start
        return due if due > second else float("inf")

    def is_due(self, now_s: int) -> bool:
        """Return whether a split is due by a moment."""
        return any(resource.heat.next_due_s <= now_s for resource in self.resources)

    def leave(self) -> None:
        """Stop listening to the emulator."""
        self._leave()
