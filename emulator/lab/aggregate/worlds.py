"""Many worlds under one design: what each leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from emulator.lab.aggregate.block import Block
from emulator.lab.aggregate.plan import Plan
from emulator.lab.aggregate.played_world import PlayedWorld
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World

#: Called with the steps done and the steps in all.
WorldsProgress: TypeAlias = Callable[[int, int], None]


class WorldsEngine:
    """Plays worlds under one design; what is the same in all of them is worked out once.

    Worlds that are played together take what is stored, and so what reads cost, from the first
    of them.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._plan: Plan | None = None

    def play(
        self,
        worlds: Sequence[World],
        *,
        stop_over: float | None = None,
        progress: WorldsProgress | None = None,
    ) -> list[WorldOutcome]:
        """Return the outcome of every world, in their order.

        Args:
            worlds: Which.
            stop_over: End a world as soon as its refused first attempts surely exceed this
                share of all its calls.
            progress: Called with the steps done and the steps in all.
        """
        if not worlds:
            return []
        emulators = [self._emulator(world) for world in worlds]
        plan = self._plan_for(emulators[0])
        outcomes: dict[int, WorldOutcome] = {}
        # With and without queues calls meet other limits, so these worlds are played apart.
        by_queues = [
            [
                at
                for at, world in enumerate(worlds)
                if bool(world.settings.gsi_buffer_seconds) is has
            ]
            for has in (True, False)
        ]
        for chosen in filter(None, by_queues):
            played = [PlayedWorld(worlds[at], emulators[at], plan.context) for at in chosen]
            block = Block(plan, played, stop_over=stop_over)
            outcomes.update(zip(chosen, block.play(progress), strict=True))
        return [outcomes[at] for at in range(len(worlds))]

    def log(
        self,
        world: World,
        *,
        stop_over: float | None = None,
        progress: WorldsProgress | None = None,
    ) -> RunLog:
        """Return everything that one world leaves behind; for the rest see ``play``."""
        emulator = self._emulator(world)
        plan = self._plan_for(emulator)
        played = PlayedWorld(world, emulator, plan.context)
        block = Block(plan, [played], RunLog(emulator), stop_over=stop_over)
        block.play(progress)
        return block.finish_log()

    def _emulator(self, world: World) -> RunEmulator:
        return RunEmulator(self._layout, world.settings, warm_up=self._layout.workload.warm_up)

    def _plan_for(self, emulator: RunEmulator) -> Plan:
        if self._plan is None:
            self._plan = Plan(self._layout, emulator)
        return self._plan
