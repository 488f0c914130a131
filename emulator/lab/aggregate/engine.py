"""One world, with its whole log."""

from __future__ import annotations

from emulator.lab.aggregate.worlds import WorldsEngine
from emulator.lab.outcome.run_log import Progress, RunLog
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World
from emulator.settings import Settings


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    stop_over: float | None = None,
) -> RunLog:
    """Run a workload on a design, in numbers.

    Args:
        layout: A design under a workload.
        seed: For the requests that arrive.
        settings: The constants that hold.
        progress: Called with the seconds done and the seconds in all.
        stop_over: End the run as soon as the refused first attempts surely exceed this share
            of all calls.
    """
    world = World(seed, seed, settings or Settings())
    return WorldsEngine(layout).log(world, stop_over=stop_over, progress=progress)
