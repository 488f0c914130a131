"""The headline figure: the share of calls that were refused at least once, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class PatternCalls(Protocol):
    """What is known of one pattern's calls, during a run or after it."""

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
