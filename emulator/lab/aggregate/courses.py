"""What many worlds consume second by second, and when their partitions split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from emulator.clock import NANOSECONDS
from emulator.engine.events import Event, Scaled, Split
from emulator.lab.aggregate.block import Block
from emulator.lab.aggregate.plan import Plan
from emulator.lab.aggregate.played_world import PlayedWorld
from emulator.lab.inputs.distributions import Floats
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World


@dataclass
class WorldCourse:
    """The course of one world.

    Attributes:
        world: Which.
        start: When the run began, in seconds since 1970.
        consumed: Units by resource, axis (read, write) and second of the run.
        splits: The splits of partitions, in their order.
        scalings: The changes of provisioned capacity, in their order.
    """

    world: World
    start: int
    consumed: Floats
    splits: list[Split] = field(default_factory=list)
    scalings: list[Scaled] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        """Keep an event of the run that changes partitions or capacity."""
        if event.time_ns < self.start * NANOSECONDS:
            return
        if isinstance(event, Split):
            self.splits.append(event)
        elif isinstance(event, Scaled):
            self.scalings.append(event)

    def second_of(self, event: Event) -> float:
        """Return when an event was, in seconds since the run began."""
        return event.time_ns / NANOSECONDS - self.start


def courses(layout: Layout, worlds: Sequence[World]) -> list[WorldCourse]:
    """Play worlds under a design together, and return the course of each."""
    workload = layout.workload
    emulators = [RunEmulator(layout, world.settings, warm_up=workload.warm_up) for world in worlds]
    plan = Plan(layout, emulators[0])
    shape = (len(worlds), len(plan.context.resources), 2, workload.duration)
    consumed = np.zeros(shape)
    played_courses = [
        WorldCourse(world, workload.start, own) for world, own in zip(worlds, consumed, strict=True)
    ]
    for emulator, own in zip(emulators, played_courses, strict=True):
        emulator.emulator.events.subscribe(own.hear)
    played = [
        PlayedWorld(world, emulator, plan.context)
        for world, emulator in zip(worlds, emulators, strict=True)
    ]

    def watch(second: int, units: Floats) -> None:
        consumed[..., second] = units

    Block(plan, played, watch=watch).play()
    return played_courses
