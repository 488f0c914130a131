"""The headline figure: the share of calls that were refused at least once, and why.

From it follows whether a world throttles, and what a design does in the worlds that do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Protocol, TypeVar

from emulator.lab.outcome.thresholds import THRESHOLD


class PatternCalls(Protocol):
    """The counts of one pattern's calls, during a run or after it."""

    @property
    def calls(self) -> float:
        """Calls in all."""

    @property
    def throttled(self) -> float:
        """Calls refused at least once."""

    @property
    def throttled_by_reason(self) -> Mapping[str, float]:
        """The same by the reason of their first refusal."""


def throttled_share(patterns: Iterable[PatternCalls]) -> float:
    """Return the share of all calls that were refused at least once, 0 to 1."""
    calls = throttled = 0.0
    for pattern in patterns:
        calls += pattern.calls
        throttled += pattern.throttled
    return throttled / calls if calls else 0.0


def throttled_by_reason(patterns: Iterable[PatternCalls]) -> dict[str, float]:
    """Return how many calls were refused for each reason, the most frequent first."""
    totals: dict[str, float] = {}
    for pattern in patterns:
        for reason, count in pattern.throttled_by_reason.items():
            totals[reason] = totals.get(reason, 0.0) + count
    return dict(sorted(totals.items(), key=lambda entry: -entry[1]))


class WorldShare(Protocol):
    """The figures that decide whether one world throttles."""

    @property
    def throttled_share(self) -> float:
        """First attempts refused, of all calls."""

    @property
    def closes_after(self) -> float | None:
        """When an index closes its table's writes if the load goes on, or None."""


_WorldShare = TypeVar("_WorldShare", bound=WorldShare)


def throttles(world: WorldShare) -> bool:
    """Return whether a world throttles, or would if the load went on (CAP2-4)."""
    return world.throttled_share >= THRESHOLD or world.closes_after is not None


def median_world(worlds: Sequence[_WorldShare]) -> _WorldShare:
    """Return the world in the middle by throttled share; of equals the first one.

    A world in which an index closes after the run lies above those in which none does.
    """

    def rank(world: _WorldShare) -> tuple[float, bool]:
        return world.throttled_share, throttles(world)

    middle = median_low(sorted(rank(world) for world in worlds))
    return next(world for world in worlds if rank(world) == middle)


def typical_throttling(worlds: Iterable[_WorldShare]) -> _WorldShare | None:
    """Return the median of the worlds that throttle, if any does."""
    throttling = [world for world in worlds if throttles(world)]
    return median_world(throttling) if throttling else None
