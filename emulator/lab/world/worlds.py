"""Many worlds under one design: how each meets the load first, and once it has lived with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emulator.capacity import WRITE
from emulator.capacity.units import write_units
from emulator.lab.inputs.workload import Age
from emulator.lab.outcome.lives import SHORT, Life
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.world_outcome import Buckets, WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import World
from emulator.lab.world.horizon import busy_buckets, step_of
from emulator.lab.world.log import LogWriter
from emulator.lab.world.minutes import PlayedWorld
from emulator.lab.world.plan import Plan
from emulator.lab.world.run import Progress, Run
from emulator.service.limits import PARTITION_UNITS
from emulator.settings import Settings

#: Bytes of a row of a world and of a second of a pattern, as ``benchmarks.lab_engines`` shows them.
_ROW_BYTES: Final = 2_500
_SECOND_BYTES: Final = 64
#: How often a run is repeated at most, whatever its length.
_MOST_RUNS: Final = 1440
#: The most buckets to play of those in which a partition is asked for too much; none is played
#: once one has throttled.
_MOST_BUCKETS: Final = 6


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
        """Return how every world meets the load first, in their order.

        Args:
            worlds: Which.
            stop_over: End a world as soon as its refused first attempts surely exceed this
                share of all its calls.
            progress: Called with the seconds done and the seconds in all.
        """
        return self._played(worlds, self._emulators(worlds), None, stop_over, progress)

    def live(
        self, worlds: Sequence[World], *, progress: Progress | None = None
    ) -> list[WorldOutcome]:
        """Return the same, with how every world does once it has lived, and over the horizon.

        Args:
            worlds: Which.
            progress: Called with the seconds done and the seconds in all.
        """
        emulators = self._emulators(worlds)
        firsts = self._played(worlds, emulators, None, None, progress)
        lives = [Life.begun(*own) for own in zip(emulators, firsts, strict=True)]
        plan = self._planned(emulators[0])
        step = step_of(plan)
        count = self._layout.workload.buckets_of(step)
        self._live_on(lives, step, count)
        if step is None or count == 1:
            return [life.outcome() for life in lives]
        buckets = self._over_the_horizon(plan, lives, step, count)
        return [life.outcome(own) for life, own in zip(lives, buckets, strict=True)]

    def _live_on(self, lives: Sequence[Life], step: float | None, number: int) -> None:
        """Repeat the run until tables have settled.

        Args:
            lives: The worlds after their first run.
            step: How long keys stay the same. Those with a time never settle, so their run is
                repeated once: what further buckets of them do is the answer of the horizon.
            number: How many buckets of time the horizon has: keys are others than in any of them.
        """
        restless = [life for life in lives if life.goes_on]
        times = -(-SHORT // self._layout.workload.duration)
        several = self if times == 1 else Worlds(self._layout.repeated(times))
        most = number + (_MOST_RUNS if step is None else 1)
        while number < most and (going := [life for life in restless if life.goes_on]):
            several._repeat(going, [round(number * step) if step else 0] * len(going))
            number += 1
        if restless and several is not self:
            self._repeat(restless, [round(number * step) if step else 0] * len(restless))

    def _repeat(self, lives: Sequence[Life], shifts: Sequence[int]) -> list[WorldOutcome]:
        """Play the run again in some worlds, on the tables as they are."""
        for life in lives:
            life.begin_again()
        outcomes = self._played(
            [life.first.world for life in lives], [life.emulator for life in lives], shifts
        )
        for life, outcome in zip(lives, outcomes, strict=True):
            life.note(outcome, self._layout.workload.duration)
        return outcomes

    def _over_the_horizon(
        self, plan: Plan, lives: Sequence[Life], step: float, count: int
    ) -> list[Buckets]:
        """Return how the buckets of the horizon after the first do in every world.

        Only buckets in which a partition is asked for too much are played, and of those few.
        """
        emulators = [life.emulator for life in lives]
        salts = [life.first.world.settings.placement_salt for life in lives]
        busy = busy_buckets(plan, emulators, salts, step, count)
        shown = [[life.first] if life.first.refuses else [] for life in lives]
        for number in range(_MOST_BUCKETS):
            chosen = [
                at
                for at, own in enumerate(busy)
                if number < len(own) and not any(outcome.refuses for outcome in shown[at])
            ]
            if not chosen:
                break
            shifts = [round(busy[at][number] * step) for at in chosen]
            lived = [lives[at].lived for at in chosen]
            outcomes = self._repeat([lives[at] for at in chosen], shifts)
            for at, outcome, before in zip(chosen, outcomes, lived, strict=True):
                shown[at].append(outcome)
                lives[at].lived = before
        return [
            Buckets.of(len(own), count, step, self._layout.workload.duration, played)
            for own, played in zip(busy, shown, strict=True)
        ]

    def log(self, world: World, *, age: Age = "first", progress: Progress | None = None) -> RunLog:
        """Return everything that one run of a world leaves behind.

        Args:
            world: The world.
            age: Whether its tables meet the load first, or have lived with it.
            progress: Called with the seconds done and the seconds in all.
        """
        [emulator] = self._emulators([world])
        if age == "lived":
            life = Life.begun(emulator, *self._played([world], [emulator]))
            self._live_on([life], None, 0)
            life.begin_again()
        run = self._run([world], [emulator], [0], None)
        log = RunLog(emulator)
        writer = LogWriter(log, run)
        run.watch = writer
        run.play(progress)
        return writer.finish()

    @property
    def keys_followed(self) -> int | None:
        """How many keys are followed one by one; None before anything was played."""
        return None if self._plan is None else self._plan.keys_followed

    def _emulators(self, worlds: Sequence[World]) -> list[RunEmulator]:
        return [RunEmulator(self._layout, world.settings) for world in worlds]

    def _played(
        self,
        worlds: Sequence[World],
        emulators: Sequence[RunEmulator],
        shifts: Sequence[int] | None = None,
        stop_over: float | None = None,
        progress: Progress | None = None,
    ) -> list[WorldOutcome]:
        """Play a run in some worlds, on the tables of their emulators."""
        outcomes: dict[int, WorldOutcome] = {}
        # With and without queues calls meet other limits, so these worlds are played apart.
        for has_queues in (True, False):
            chosen = [
                at
                for at, world in enumerate(worlds)
                if bool(world.settings.gsi_buffer_seconds) is has_queues
            ]
            if chosen:
                run = self._run(
                    [worlds[at] for at in chosen],
                    [emulators[at] for at in chosen],
                    [0 if shifts is None else shifts[at] for at in chosen],
                    stop_over,
                )
                outcomes.update(zip(chosen, run.play(progress), strict=True))
        return [outcomes[at] for at in range(len(worlds))]

    def _planned(self, emulator: RunEmulator) -> Plan:
        if self._plan is None:
            self._plan = Plan(self._layout, emulator)
        return self._plan

    def _run(
        self,
        worlds: Sequence[World],
        emulators: Sequence[RunEmulator],
        shifts: Sequence[int],
        stop_over: float | None,
    ) -> Run:
        plan = self._planned(emulators[0])
        resources = plan.context.resources
        played = [
            PlayedWorld(world, emulator, resources, shift)
            for world, emulator, shift in zip(worlds, emulators, shifts, strict=True)
        ]
        return Run(plan, played, stop_over=stop_over)
