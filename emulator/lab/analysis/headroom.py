"""Headroom: the largest multiple of the load under which hardly anything is throttled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from emulator.lab import aggregate
from emulator.lab.outcome.result_types import Headroom, LoadPoint
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.thresholds import MOST_HEADROOM, THRESHOLD
from emulator.lab.outcome.throttled import throttled_by_reason
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

#: The smallest multiple that the search tries, and how closely it looks.
LEAST: Final = 1 / 64
_CLOSE: Final = 1.03


def try_load(
    layout: Layout, multiple: float, *, seed: int, settings: Settings
) -> tuple[float, str | None]:
    """Return the throttled share at a multiple of the load, and the reason that leads.

    A run that is over the threshold ends early; its share is that of the part that ran.
    """
    scaled = Layout(layout.design, layout.workload.scaled(multiple))
    return _outcome(aggregate.run(scaled, seed=seed, settings=settings, stop_over=THRESHOLD))


def _outcome(log: RunLog) -> tuple[float, str | None]:
    """Return the throttled share of a run, and the reason that leads."""
    share, reason = (
        log.throttled_share,
        next(iter(throttled_by_reason(log.patterns.values())), None),
    )
    if share < THRESHOLD and log.falls_behind:
        waiting = (record.waiting_reason for record in log.resources.values())
        return THRESHOLD, next(filter(None, waiting))
    return share, reason


def find_headroom(
    layout: Layout, *, seed: int, settings: Settings, known: RunLog | None = None
) -> Headroom:
    """Search for the headroom: bracket by doubling or halving, then bisect.

    Args:
        layout: A design under a workload.
        seed: For every run.
        settings: For every run.
        known: The aggregate engine's run at the load itself, if there was one.
    """
    points: dict[float, float] = {}
    reasons: dict[float, str | None] = {}

    def passes(multiple: float) -> bool:
        if multiple == 1.0 and known is not None:
            points[multiple], reasons[multiple] = _outcome(known)
        else:
            points[multiple], reasons[multiple] = try_load(
                layout, multiple, seed=seed, settings=settings
            )
        return points[multiple] < THRESHOLD

    low, high = _bracket(passes)
    if low < high:
        while high / low > _CLOSE:
            middle = math.sqrt(low * high)
            if passes(middle):
                low = middle
            else:
                high = middle
    curve = tuple(
        LoadPoint(multiple=multiple, throttled_share=share)
        for multiple, share in sorted(points.items())
    )
    return Headroom(
        multiple=low if points.get(low, 1.0) < THRESHOLD else 0.0,
        at_least=low >= MOST_HEADROOM,
        threshold=THRESHOLD,
        limited_by=None if low >= MOST_HEADROOM else reasons.get(high),
        curve=curve,
    )


def _bracket(passes: Callable[[float], bool]) -> tuple[float, float]:
    """Return a multiple that passes and one that does not; the same twice at either end."""
    if passes(1.0):
        low = 1.0
        while low < MOST_HEADROOM:
            if not passes(low * 2):
                return low, low * 2
            low *= 2
        return MOST_HEADROOM, MOST_HEADROOM
    high = 1.0
    while high > LEAST:
        if passes(high / 2):
            return high / 2, high
        high /= 2
    return LEAST, LEAST
