"""Headroom: the largest multiple of the load under which hardly anything is throttled.

It is that of the median world: at this multiple at most half of twenty worlds throttle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.world_runs import WorldRuns
from emulator.lab.outcome.result_types import Headroom, LoadPoint
from emulator.lab.outcome.thresholds import FIRST_WORLDS, MOST_HEADROOM, THRESHOLD
from emulator.lab.outcome.throttled import median_world
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout

#: The smallest multiple that the search tries, and how closely it looks.
LEAST: Final = 1 / 64
_CLOSE: Final = 1.05


def outcomes_at(runs: WorldRuns, multiple: float) -> list[WorldOutcome]:
    """Return how the first worlds do at a multiple of the load.

    A world that is over the threshold ends early; its share is that of the part that ran.
    """
    layout = Layout(runs.layout.design, runs.layout.workload.scaled(multiple))
    scaled = WorldRuns(layout, "aggregate", runs.first, runs.known)
    return scaled.play_to_the_threshold(FIRST_WORLDS)


def find_headroom(runs: WorldRuns, deadline: Deadline) -> Headroom:
    """Search for the headroom: bracket by doubling or halving, then bisect.

    Args:
        runs: The worlds of the design, as far as they were played.
        deadline: When to stop looking; what is known by then is the answer.
    """
    points: dict[float, LoadPoint] = {}
    reasons: dict[float, str | None] = {}
    carried: set[float] = set()

    def passes(multiple: float) -> bool:
        if multiple == 1.0 and runs.engine == "aggregate" and runs.outcomes:
            outcomes = runs.outcomes
        else:
            outcomes = outcomes_at(runs, multiple)
        middle = median_world(outcomes)
        chance = sum(outcome.throttles for outcome in outcomes) / len(outcomes)
        points[multiple] = LoadPoint(
            multiple=multiple, throttled_share=middle.throttled_share, chance=chance
        )
        if middle.throttles:
            reasons[multiple] = middle.reason
        else:
            carried.add(multiple)
        return multiple in carried

    low, high = _bracket(passes, deadline)
    if low < high:
        while high / low > _CLOSE and not deadline.has_passed():
            middle = math.sqrt(low * high)
            if passes(middle):
                low = middle
            else:
                high = middle
    return Headroom(
        multiple=low if low in carried else 0.0,
        at_least=low >= MOST_HEADROOM or high == math.inf,
        threshold=THRESHOLD,
        limited_by=reasons.get(high),
        curve=tuple(point for _, point in sorted(points.items())),
    )


def _bracket(passes: Callable[[float], bool], deadline: Deadline) -> tuple[float, float]:
    """Return a multiple that passes and one that does not; the same twice at either end.

    Infinity stands for a multiple that there was no time to find.
    """
    if passes(1.0):
        low = 1.0
        while low < MOST_HEADROOM:
            if deadline.has_passed():
                return low, math.inf
            if not passes(low * 2):
                return low, low * 2
            low *= 2
        return MOST_HEADROOM, MOST_HEADROOM
    high = 1.0
    while high > LEAST and not deadline.has_passed():
        if passes(high / 2):
            return high / 2, high
        high /= 2
    return LEAST, LEAST
