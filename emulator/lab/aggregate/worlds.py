"""Many worlds under one design: what each leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from emulator.lab.aggregate.engine import run
from emulator.lab.outcome.run_log import Stop
from emulator.lab.outcome.world_outcome import WorldOutcome, outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World

#: Called with the steps done and the steps in all.
WorldsProgress: TypeAlias = Callable[[int, int], None]


class WorldsEngine:
    """Plays worlds under one design; what is the same in all of them is worked out once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def play(
        self,
        worlds: Sequence[World],
        *,
        stop: Stop | None = None,
        progress: WorldsProgress | None = None,
    ) -> list[WorldOutcome]:
        """Return the outcome of every world, in their order.

        Args:
            worlds: Which.
            stop: Asked of each world after every stretch; True ends that world early.
            progress: Called with the steps done and the steps in all.
        """
        outcomes = []
        for number, world in enumerate(worlds):
            log = run(self._layout, seed=world.arrivals, settings=world.settings, stop=stop)
            outcomes.append(outcome_of(world, log))
            if progress is not None:
                progress(number + 1, len(worlds))
        return outcomes
