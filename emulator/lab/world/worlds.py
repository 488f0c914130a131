"""Many worlds under one design: what each leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emulator.capacity import WRITE
from emulator.capacity.units import write_units
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World
from emulator.lab.world.log import LogWriter
from emulator.lab.world.minutes import PlayedWorld
from emulator.lab.world.plan import Plan
from emulator.lab.world.run import Progress, Run
from emulator.service.limits import PARTITION_UNITS
from emulator.settings import Settings

#: Bytes of a row of a world and of a second of a pattern, as ``benchmarks.lab_engines`` shows them.
_ROW_BYTES: Final = 2_500
_SECOND_BYTES: Final = 64


def expected_bytes(layout: Layout, worlds: int) -> float:
    """Return the memory that worlds under a design take at once, roughly.

    Args:
        layout: The design under its workload.
        worlds: How many.
    """
    workload = layout.workload
    seconds = workload.duration * len(workload.patterns)
    units = 0.0
    for table in layout.tables:
        capacity = table.design.capacity
        units += max(own or 0 for own in (capacity.write, capacity.warm_write, capacity.max_write))
    for pattern in workload.patterns:
        blocks = write_units(round(pattern.sizes.mean)) if pattern.is_write else 1
        units = max(units, pattern.pace.highest * workload.load * blocks * pattern.actions)
    partitions = 4 + 2 * units / PARTITION_UNITS[WRITE]  # twice as many once they have split
    rows = worlds * partitions * len(workload.patterns)
    return seconds * _SECOND_BYTES + rows * _ROW_BYTES


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> RunLog:
    """Return everything that a workload on a design leaves behind in one world.

    Args:
        layout: A design under a workload.
        seed: For the requests that arrive.
        settings: The constants that hold.
        progress: Called with the seconds done and the seconds in all.
    """
    return Worlds(layout).log(World(seed, seed, settings or Settings()), progress=progress)


class Worlds:
    """Plays worlds under one design; what is the same in all of them is worked out once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._plan: Plan | None = None

    def play(
        self,
        worlds: Sequence[World],
        *,
        stop_over: float | None = None,
        progress: Progress | None = None,
    ) -> list[WorldOutcome]:
        """Return the outcome of every world, in their order.

        Args:
            worlds: Which.
            stop_over: End a world as soon as its refused first attempts surely exceed this
                share of all its calls.
            progress: Called with the seconds done and the seconds in all.
        """
        outcomes: dict[int, WorldOutcome] = {}
        # With and without queues calls meet other limits, so these worlds are played apart.
        for has_queues in (True, False):
            chosen = [
                at
                for at, world in enumerate(worlds)
                if bool(world.settings.gsi_buffer_seconds) is has_queues
            ]
            if chosen:
                run = self._run([worlds[at] for at in chosen], stop_over)
                outcomes.update(zip(chosen, run.play(progress), strict=True))
        return [outcomes[at] for at in range(len(worlds))]

    def log(self, world: World, *, progress: Progress | None = None) -> RunLog:
        """Return everything that one world leaves behind."""
        run = self._run([world], None)
        log = RunLog(run.emulator)
        writer = LogWriter(log, run)
        run.watch = writer
        run.play(progress)
        return writer.finish()

    @property
    def keys_followed(self) -> int | None:
        """How many keys are followed one by one; None before anything was played."""
        return None if self._plan is None else self._plan.keys_followed

    def _run(self, worlds: Sequence[World], stop_over: float | None) -> Run:
        emulators = [RunEmulator(self._layout, world.settings) for world in worlds]
        if self._plan is None:
            self._plan = Plan(self._layout, emulators[0])
        resources = self._plan.context.resources
        played = [
            PlayedWorld(world, emulator, resources)
            for world, emulator in zip(worlds, emulators, strict=True)
        ]
        return Run(self._plan, played, stop_over=stop_over)
