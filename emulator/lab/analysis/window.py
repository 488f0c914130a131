"""The busiest window of a world, request by request: what waits in clients, and is given up.

The many worlds play ``concurrency`` as unlimited and ``adaptive`` as ``standard`` (CAP2-9). What
either does to waits and to calls that are given up is then taken from the exact engine, at the
rates of the workload: a part of them would not throttle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from emulator.lab import exact
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.result_types import PatternResult
from emulator.lab.outcome.run_log import MINUTE
from emulator.lab.outcome.summarise import pattern_results
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World

#: Attempts that are played request by request at most.
MOST_ATTEMPTS: Final = 250_000


def is_limited(workload: Workload, pattern: Pattern) -> bool:
    """Return whether the clients of a pattern hold calls back."""
    return workload.callers.concurrency is not None or workload.policy(pattern).limits_rate


def busiest_window(workload: Workload, patterns: Sequence[PatternResult]) -> tuple[int, int] | None:
    """Return the seconds of the run with the most attempts; None if no client holds calls back.

    Args:
        workload: The workload.
        patterns: What its patterns have shown.
    """
    if not any(is_limited(workload, pattern) for pattern in workload.patterns):
        return None
    attempts = np.zeros(workload.duration)
    for pattern, result in zip(workload.patterns, patterns, strict=True):
        attempts += workload.rates(pattern) * (result.attempts / max(result.requests, 1.0))
    reached = np.concatenate([[0.0], np.cumsum(attempts)])
    best = 0, 1
    for first in range(0, workload.duration, MINUTE):
        last = int(np.searchsorted(reached, reached[first] + MOST_ATTEMPTS, side="right")) - 1
        last = max(min(last, workload.duration), first + 1)
        if reached[last] - reached[first] > reached[best[1]] - reached[best[0]]:
            best = first, last
    return best


def with_waits(
    layout: Layout, world: World, patterns: Sequence[PatternResult], window: tuple[int, int]
) -> tuple[PatternResult, ...]:
    """Return the results of patterns with the waits of a window, and what is given up in it."""
    workload = _between(layout.workload, *window)
    log = exact.run(Layout(layout.design, workload), seed=world.arrivals, settings=world.settings)
    return tuple(
        _with_waits(own, played) if is_limited(workload, pattern) and played.calls else own
        for pattern, own, played in zip(
            workload.patterns, patterns, pattern_results(log), strict=True
        )
    )


def _with_waits(own: PatternResult, played: PatternResult) -> PatternResult:
    factor = own.calls / played.calls
    return replace(
        own,
        failed=played.failed * factor,
        attempts_per_call=played.attempts_per_call,
        added_latency_seconds=played.added_latency_seconds,
        attempts_histogram=tuple(calls * factor for calls in played.attempts_histogram),
        failed_histogram=tuple(calls * factor for calls in played.failed_histogram),
    )


def _between(workload: Workload, first: int, last: int) -> Workload:
    """Return a workload from one second of the run up to another."""
    patterns = []
    for pattern in workload.patterns:
        rates = workload.rates(pattern)[first:last] / workload.load
        recorded = pattern.recorded and pattern.recorded.between(first, last)
        patterns.append(replace(pattern, rate=Series(tuple(rates.tolist())), recorded=recorded))
    return replace(
        workload,
        patterns=patterns,
        start=workload.start + first,
        duration=last - first,
        warm_up=0 if first else workload.warm_up,
        every=None,
    )
