"""Refusals as CloudWatch counted them, beside those of a run under the same load (ICH-61)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from emulator.lab.inputs.cloudwatch import MeasuredThrottles
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, DesignResult
from emulator.service.throttling import ThrottlingLimit

_TITLE: Final = "requests refused, measured beside simulated"
_NONE: Final = (
    "No pattern of the workload is of an operation whose refusals were measured, so there is "
    "nothing to compare."
)


def beside(measured: MeasuredThrottles, comparison: Comparison) -> str:
    """Return a table: a line for each operation and limit, a column for each design.

    Shares are of attempts, as CloudWatch counts them; those of limits are of all refusals.
    """
    lines = [*_operations(measured, comparison), *_limits(measured, comparison)]
    if not lines:
        return f"{_TITLE}\n  {_NONE}\n"
    heading = ("", "measured", *(design.name for design in comparison.designs))
    rows = [heading, *lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    text = "".join(
        f"  {row[0]:<{widths[0]}}  "
        + "  ".join(
            f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)
        ).rstrip()
        + "\n"
        for row in rows
    )
    return f"{_TITLE}\n{text}".replace(words.SPACE, " ")


def _operations(measured: MeasuredThrottles, comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for operation in measured.refused:
        shares = [_share(design, operation) for design in comparison.designs]
        if any(share is not None for share in shares):
            shown = (words.NONE if share is None else words.percent(share) for share in shares)
            yield operation, words.percent(measured.share(operation)), *shown


def _share(design: DesignResult, operation: str) -> float | None:
    own = [pattern for pattern in design.patterns if pattern.operation == operation]
    attempts = sum(pattern.attempts for pattern in own)
    return sum(pattern.refusals for pattern in own) / attempts if attempts else None


def _limits(measured: MeasuredThrottles, comparison: Comparison) -> Iterator[tuple[str, ...]]:
    simulated = [_by_limit(design) for design in comparison.designs]
    counted = [measured.by_limit, *simulated]
    for limit in ThrottlingLimit:
        if limit in measured.by_limit and any(counts.get(limit) for counts in counted):
            yield f"of these: {limit.words}", *(_part(counts, limit) for counts in counted)


def _by_limit(design: DesignResult) -> dict[ThrottlingLimit, float]:
    counts: dict[ThrottlingLimit, float] = {}
    for pattern in design.patterns:
        for reason, count in pattern.throttled_by_reason.items():
            limit = ThrottlingLimit.of(reason)
            counts[limit] = counts.get(limit, 0.0) + count
    return counts


def _part(counts: Mapping[ThrottlingLimit, float], limit: ThrottlingLimit) -> str:
    total = sum(counts.values())
    return words.percent(counts.get(limit, 0.0) / total) if total else words.NONE
