"""Comparison: designs side by side under one workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, Literal, TypeAlias

from emulator.lab import aggregate, exact
from emulator.lab.analysis.advice import advise
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.costs import break_even, costs, usages
from emulator.lab.analysis.fixes import find_fix
from emulator.lab.analysis.headroom import find_headroom
from emulator.lab.analysis.offered_load import offered
from emulator.lab.analysis.sensitivity import ASSUMED, assumption
from emulator.lab.analysis.verdict import grade, sentence
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import result_types
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

Engine: TypeAlias = Literal["exact", "aggregate"]
#: Called with what is being done, how much of it is done, and how much there is.
Progress: TypeAlias = Callable[[str, int, int], None]

#: ``auto`` runs request by request up to so many requests over all designs and seeds.
EXACT_REQUESTS: Final = 50_000
_RUNNERS: Final[dict[str, Callable[..., RunLog]]] = {"exact": exact.run, "aggregate": aggregate.run}
#: Of Student's distribution, two-sided 95 %, by degrees of freedom.
_STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
_NORMAL: Final = 1.96


def compare(
    workload: Workload,
    designs: Sequence[Design],
    *,
    engine: Literal["auto", "exact", "aggregate"] = "auto",
    seeds: Sequence[int] | None = None,
    settings: Settings | None = None,
    title: str = "",
    headroom: bool = True,
    sensitivity: bool = True,
    fix: bool = True,
    progress: Progress | None = None,
) -> result_types.Comparison:
    """Run every design under the workload and say how each does.

    Args:
        workload: What is asked.
        designs: One or more ways to lay out the data.
        engine: ``exact`` runs the real emulator request by request, ``aggregate`` works in
            numbers; ``auto`` takes the first for small workloads and the second for others.
        seeds: One run for each; the first is shown, all of them give the confidence.
        settings: The adjustable constants.
        title: For reports.
        headroom: Search for the largest load that passes.
        sensitivity: Run again under other values of the assumed constants that matter.
        fix: Look for the smallest change that helps a design which throttles.
        progress: Called with what is being done, how far it is, and how much there is.

    Raises:
        ValueError: A design does not fit the workload.

    >>> from emulator.lab import Capacity, Field, Pattern
    >>> workload = Workload(
    ...     fields=[Field("userId", count=50)],
    ...     patterns=[Pattern("save", "PutItem", rate=20)],
    ...     duration=10,
    ... )
    >>> small = Design("small", partition="{userId}", capacity=Capacity(read=5, write=10))
    >>> result = compare(workload, [small], headroom=False, sensitivity=False, fix=False)
    >>> result.engine, result.design("small").throttled_share > 0.4
    ('exact', True)
    """
    if not designs:
        raise ValueError("compare() needs at least one design")
    if len({design.name for design in designs}) < len(designs):
        raise ValueError("two designs have the same name")
    chosen = tuple(seeds) if seeds else (workload.seed,)
    constants = settings or Settings()
    layouts = [Layout(design, workload) for design in designs]
    total = workload.requests * len(designs) * len(chosen)
    suited: Engine = "exact" if total <= EXACT_REQUESTS else "aggregate"
    which = suited if engine == "auto" else engine
    options = _Options(which, chosen, constants, headroom, sensitivity, fix, progress)
    return result_types.Comparison(
        title=title,
        workload=workload.to_document(),
        engine=which,
        duration_seconds=float(workload.duration),
        seeds=chosen,
        designs=tuple(_study(layout, options) for layout in layouts),
    )


@dataclass(frozen=True)
class _Options:
    engine: Engine
    seeds: tuple[int, ...]
    settings: Settings
    headroom: bool
    sensitivity: bool
    fix: bool
    progress: Progress | None

    def tell(self, what: str, done: int = 0, total: int = 1) -> None:
        if self.progress is not None:
            self.progress(what, done, total)


def _study(layout: Layout, options: _Options) -> result_types.DesignResult:
    """Run one design on every seed and draw the conclusions."""
    name, seed = layout.design.name, options.seeds[0]
    logs = _logs(layout, options)
    first = logs[0]
    patterns, resources = pattern_results(first), resource_results(first)
    used = usages(first, options.settings)
    bill = costs(used, layout, options.settings)
    even = break_even(used, layout)
    loads = offered(patterns, resources, layout.workload)
    room = None
    if options.headroom:
        options.tell(f"{name}: searching headroom")
        known = first if options.engine == "aggregate" else None
        room = find_headroom(layout, seed=seed, settings=options.settings, known=known)
    case = Case(layout, patterns, resources, loads, bill, even, room)
    fixed = None
    if options.fix:
        options.tell(f"{name}: looking for a fix")
        fixed = find_fix(case, seed=seed, settings=options.settings)
    return result_types.DesignResult(
        name=name,
        design=layout.design.to_document(),
        resources=resources,
        patterns=patterns,
        time_to_first_throttle=first.first_throttle,
        splits=tuple(first.splits),
        costs=bill,
        break_even=even,
        headroom=room,
        confidence=_confidence(logs, options.settings),
        grade=grade(case),
        verdict=sentence(case),
        fix=None if fixed is None else fixed.sentence,
        findings=advise(case),
        assumptions=_assumptions(layout, first, options),
    )


def _logs(layout: Layout, options: _Options) -> list[RunLog]:
    """Run a design once for every seed."""

    def running(done: int, total: int) -> None:
        options.tell(f"{layout.design.name}: running", done, total)

    run = _RUNNERS[options.engine]
    return [
        run(layout, seed=seed, settings=options.settings, progress=running)
        for seed in options.seeds
    ]


def _confidence(logs: Sequence[RunLog], settings: Settings) -> tuple[result_types.Confidence, ...]:
    """Return the main measures over the seeds, with the bounds of their means."""
    rows: dict[str, list[float]] = {
        "throttled share": [log.throttled_share for log in logs],
        "failed share": [_failed_share(log) for log in logs],
        "consumed write units": [_consumed(log, 1) for log in logs],
        "consumed read units": [_consumed(log, 0) for log in logs],
        "monthly cost": [_monthly_cost(log, settings) for log in logs],
    }
    return tuple(_bounded(measure, values) for measure, values in rows.items())


def _failed_share(log: RunLog) -> float:
    calls = sum(record.calls for record in log.patterns.values())
    failed = sum(record.failed for record in log.patterns.values())
    return failed / calls if calls else 0.0


def _consumed(log: RunLog, axis: int) -> float:
    return float(sum(sum(record.consumed[axis]) for record in log.resources.values()))


def _monthly_cost(log: RunLog, settings: Settings) -> float:
    made = costs(usages(log, settings), log.layout, settings)
    return next(cost.total for cost in made if cost.chosen)


def _bounded(measure: str, values: Sequence[float]) -> result_types.Confidence:
    mean = fmean(values)
    half = 0.0
    if len(values) > 1:
        freedom = len(values) - 2
        factor = _STUDENT[freedom] if freedom < len(_STUDENT) else _NORMAL
        half = factor * stdev(values) / len(values) ** 0.5
    return result_types.Confidence(
        measure=measure, mean=mean, low=mean - half, high=mean + half, values=tuple(values)
    )


def _assumptions(
    layout: Layout, log: RunLog, options: _Options
) -> tuple[result_types.Assumption, ...]:
    """Return the assumed constants that had a say, with the answer under other values."""
    assumptions = []
    for assumed in ASSUMED:
        if assumed.matters(log):
            if options.sensitivity:
                options.tell(f"{layout.design.name}: trying another {assumed.setting}")
            assumptions.append(
                assumption(
                    assumed,
                    layout,
                    options.settings,
                    seed=options.seeds[0],
                    tries=options.sensitivity,
                )
            )
    return tuple(assumptions)
