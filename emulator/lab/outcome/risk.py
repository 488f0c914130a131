"""Risk: the chance that a design throttles, from the worlds in which it did.

A design is played in 20 worlds, and in more until the interval of the chance lies on one side of
both thresholds, or 200 are played.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from emulator.lab.outcome.result_types import Risk
from emulator.lab.outcome.thresholds import CERTAIN, FIRST_WORLDS, MOST_WORLDS, UNLIKELY

#: Of the normal distribution, two-sided 95 %.
NORMAL: Final = 1.959964


def risk_of(throttles: Iterable[bool]) -> Risk:
    """Return the share of worlds that throttle, with Wilson's interval.

    >>> risk = risk_of([False] * 73)
    >>> risk.chance, risk.low, round(risk.high, 4), risk.worlds
    (0.0, 0.0, 0.05, 73)
    """
    outcomes = list(throttles)
    worlds, hits = len(outcomes), sum(outcomes)
    low, high = interval(hits, worlds)
    return Risk(chance=hits / worlds, low=low, high=high, worlds=worlds)


def interval(hits: int, worlds: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a chance.

    >>> [round(bound, 2) for bound in interval(0, 20)], [round(b, 2) for b in interval(10, 20)]
    ([0.0, 0.16], [0.3, 0.7])
    """
    share = hits / worlds
    square = NORMAL**2
    middle = (share + square / (2 * worlds)) / (1 + square / worlds)
    spread = math.sqrt(share * (1 - share) / worlds + square / (4 * worlds**2))
    half = NORMAL * spread / (1 + square / worlds)
    low = 0.0 if hits == 0 else middle - half
    high = 1.0 if hits == worlds else middle + half
    return low, high


def is_decided(hits: int, worlds: int) -> bool:
    """Return whether the interval lies on one side of 0.05, and on one side of 0.95.

    >>> is_decided(0, 72), is_decided(0, 73), is_decided(10, 20), is_decided(73, 73)
    (False, True, True, True)
    """
    return not _has_threshold(*interval(hits, worlds))


def _has_threshold(low: float, high: float) -> bool:
    return low <= UNLIKELY <= high or low <= CERTAIN <= high


def is_near_the_line(risk: Risk) -> bool:
    """Return whether the interval still has a threshold in it.

    >>> is_near_the_line(risk_of([False] * 20)), is_near_the_line(risk_of([False] * 73))
    (True, False)
    """
    return _has_threshold(risk.low, risk.high)


def next_worlds(hits: int, worlds: int) -> int:
    """Return how many worlds to have played before the question is asked again.

    That is as many as could decide it, if the worlds to come are like most of those before.

    >>> next_worlds(0, 20), next_worlds(20, 20), next_worlds(10, 20), next_worlds(0, 0)
    (73, 73, 20, 20)
    """
    if worlds < FIRST_WORLDS:
        return FIRST_WORLDS
    if is_decided(hits, worlds):
        return worlds
    more = hits * 2 > worlds
    for total in range(worlds + 1, MOST_WORLDS):
        if is_decided(hits + (total - worlds if more else 0), total):
            return total
    return MOST_WORLDS
