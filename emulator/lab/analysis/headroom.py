"""Headroom: the largest multiple of the load under which hardly anything is throttled.

It is that of the median world: at this multiple at most half of twenty worlds throttle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from emulator.lab.analysis.case import Case
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.offered_load import ROUNDING
from emulator.lab.analysis.world_runs import WorldRuns
from emulator.lab.outcome.result_types import Headroom, LoadPoint
from emulator.lab.outcome.thresholds import FIRST_WORLDS, MOST_HEADROOM, THRESHOLD
from emulator.lab.outcome.throttled import median_world
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import draw_worlds
from emulator.lab.world import Worlds
from emulator.service.limits import PARTITION_UNITS

#: The smallest multiple that the search tries, and how closely it looks.
LEAST: Final = 1 / 64
CLOSE: Final = 1.05
_ROUNDING: Final = 1 + 1e-9


def outcomes_at(runs: WorldRuns, multiple: float) -> list[WorldOutcome]:
    """Return how the first worlds do at a multiple of the load.

    A world that is over the threshold ends early; its share is that of the part that ran.
    """
    layout = Layout(runs.layout.design, runs.layout.workload.scaled(multiple))
    worlds = draw_worlds(runs.first, FIRST_WORLDS, runs.known)
    return Worlds(layout).play(worlds, stop_over=THRESHOLD)


def find_headroom(runs: WorldRuns, likely: float, deadline: Deadline) -> Headroom:
    """Search for the headroom: from where it is likely outwards, then between.

    Args:
        runs: The worlds of the design, as far as they were played.
        likely: Where to begin, such as ``likely_headroom`` says.
        deadline: When to stop looking; what is known by then is the answer.
    """
    points: dict[float, LoadPoint] = {}
    reasons: dict[float, str | None] = {}
    carried: set[float] = set()

    def passes(multiple: float) -> bool:
        if multiple == 1.0 and runs.engine == "aggregate" and runs.outcomes:
            outcomes: Sequence[WorldOutcome] = runs.outcomes[:FIRST_WORLDS]
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

    low, high = _bracket(passes, likely, deadline)
    while low and low * CLOSE * _ROUNDING < high < math.inf and not deadline.has_passed():
        middle = math.sqrt(low * high)
        if passes(middle):
            low = middle
        else:
            high = middle
    return Headroom(
        multiple=low,
        at_least=low >= MOST_HEADROOM or high == math.inf,
        threshold=THRESHOLD,
        limited_by=reasons.get(high),
        curve=tuple(point for _, point in sorted(points.items())),
    )


def likely_headroom(case: Case) -> float:
    """Return the multiple at which the busiest second would fill a limit, before any burst.

    A key is in one partition until that is split.
    """
    multiples = [MOST_HEADROOM]
    for resource in case.resources:
        for axis, result in enumerate((resource.read, resource.write)):
            asked = case.offered[resource.name].axis(axis)
            if asked <= ROUNDING:
                continue
            share = max(resource.hottest_partition_share, resource.hottest_key_share)
            hottest = max(share, 1 / PARTITION_UNITS[axis])
            multiples.append(PARTITION_UNITS[axis] / (asked * hottest))
            provisioned = [units for units in result.per_minute.provisioned if units > 0]
            multiples += [units / asked for units in provisioned[:1]]
    return min(multiples)


def _bracket(
    passes: Callable[[float], bool], likely: float, deadline: Deadline
) -> tuple[float, float]:
    """Return a multiple that passes and one that does not: near the likely one, if it is right.

    0 stands for none that passes, and infinity for none that does not.
    """
    low, high = (1.0, math.inf) if passes(1.0) else (0.0, 1.0)
    step = CLOSE
    multiple = min(max(likely, LEAST), MOST_HEADROOM)
    if not low < multiple < high:
        multiple = low * step or high / step
    goes_up: bool | None = None
    while low < multiple < high and not deadline.has_passed():
        is_carried = passes(multiple)
        if is_carried:
            low, multiple = multiple, multiple * step
        else:
            high, multiple = multiple, multiple / step
        if goes_up is not None and is_carried is not goes_up:
            break
        goes_up, step = is_carried, min(step**2, 2.0)
        multiple = min(max(multiple, LEAST), MOST_HEADROOM)
    return low, high
