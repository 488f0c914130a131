"""Risk: the chance that a design throttles, from the worlds in which it did.

Worlds are looked at when 20 are played, then 100, 400 and 1,600. Playing ends at the first look
at which the grade is decided; the interval is corrected for all four looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from emulator.lab.outcome.result_types import Risk
from emulator.lab.outcome.thresholds import CERTAIN, LOOKS, UNLIKELY

#: Of the normal distribution, two-sided 95 %.
NORMAL: Final = 1.959964
#: The chance, at one look, that the interval leaves the truth out on one side.
_MISSED: Final = 0.05 / len(LOOKS) / 2
_STEPS: Final = 50


def risk_of(throttles: Iterable[bool]) -> Risk:
    """Return the share of worlds that throttle, with its interval.

    >>> risk = risk_of([False] * 100)
    >>> risk.chance, risk.low, round(risk.high, 4), risk.worlds
    (0.0, 0.0, 0.0495, 100)
    """
    outcomes = list(throttles)
    worlds, hits = len(outcomes), sum(outcomes)
    low, high = interval(hits, worlds)
    return Risk(chance=hits / worlds, low=low, high=high, worlds=worlds)


@lru_cache(maxsize=1024)
def interval(hits: int, worlds: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson, 95 % over all looks.

    >>> [round(bound, 2) for bound in interval(0, 20)], [round(b, 2) for b in interval(10, 20)]
    ([0.0, 0.22], [0.22, 0.78])
    """
    low = 0.0 if hits == 0 else 1.0 - _highest(worlds - hits, worlds)
    return low, 1.0 if hits == worlds else _highest(hits, worlds)


def _highest(hits: int, worlds: int) -> float:
    """Return the chance with which ``hits`` or fewer are as rare as an interval may miss."""
    low, high = hits / worlds, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if at_most(hits, worlds, middle) > _MISSED:
            low = middle
        else:
            high = middle
    return high


def at_most(hits: int, worlds: int, chance: float) -> float:
    """Return the probability of ``hits`` or fewer.

    >>> round(at_most(1, 2, 0.5), 6)
    0.75
    """
    log_of, log_other = math.log(chance), math.log1p(-chance)
    whole = math.lgamma(worlds + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(number + 1)
            - math.lgamma(worlds - number + 1)
            + number * log_of
            + (worlds - number) * log_other
        )
        for number in range(hits + 1)
    )


def is_near_the_line(risk: Risk) -> bool:
    """Return whether the interval has a threshold of the grades in it.

    >>> is_near_the_line(risk_of([False] * 20)), is_near_the_line(risk_of([False] * 100))
    (True, False)
    """
    return risk.low <= UNLIKELY <= risk.high or risk.low <= CERTAIN <= risk.high


def is_decided(first: Risk, lived: Risk) -> bool:
    """Return whether no further world can be expected to change the grade.

    >>> often, never = risk_of([True] * 50 + [False] * 50), risk_of([False] * 100)
    >>> is_decided(often, never), is_decided(never, often), is_decided(risk_of([False]), never)
    (True, True, False)
    """
    if is_near_the_line(lived):
        return False
    return lived.chance >= UNLIKELY or not first.low <= UNLIKELY <= first.high


def next_look(worlds: int) -> int:
    """Return how many worlds are played at the next look, or at the last one.

    >>> next_look(0), next_look(20), next_look(1_600)
    (20, 100, 1600)
    """
    return next((look for look in LOOKS if look > worlds), LOOKS[-1])
