"""The study of one design, in steps: its worlds, the searches, and what follows from them.

Each step takes and returns plain values, so that steps of several designs run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Final, TypeAlias

from emulator.lab.analysis.advice import advise
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.costs import break_even, costs, usages, year
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.fixes import Search, find_fix, find_launch
from emulator.lab.analysis.headroom import find_headroom, likely_headroom, outcomes_at
from emulator.lab.analysis.margin import is_short_by_hash, margin_of
from emulator.lab.analysis.offered_load import offered
from emulator.lab.analysis.sensitivity import assumptions_of, effects_of
from emulator.lab.analysis.verdict import Judged, grade, sentence
from emulator.lab.analysis.window import busiest_window, with_waits
from emulator.lab.analysis.world_runs import Engine, WorldCount, WorldRuns
from emulator.lab.inputs.workload import Age
from emulator.lab.outcome import result_types
from emulator.lab.outcome.risk import NORMAL
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.thresholds import CLEAR, HEALTHY, UNLIKELY
from emulator.lab.outcome.throttled import median_world, typical_throttling
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known
from emulator.service.throttling import ThrottlingLimit
from emulator.settings import Settings

#: Called with what is being done, how much of it is done, and how much there is.
Progress: TypeAlias = Callable[[str, float, int], None]

#: Of Student's distribution, two-sided 95 %, by degrees of freedom.
_STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


@dataclass(frozen=True)
class StudyOptions:
    """How designs are studied.

    >>> StudyOptions(count=WorldCount(exactly=5)).headroom
    False

    Attributes:
        engine: What plays the worlds.
        first: The seed of the first world.
        count: How many worlds are played.
        known: What is known of the service.
        headroom: Search for the largest load that passes.
        sensitivity: Find out which unknown moves the answer.
        fix: Look for the smallest change that helps.
        deadline: When to stop; the worlds of the first verdict are played anyway.
    """

    engine: Engine = "aggregate"
    first: int = 0
    count: WorldCount = field(default_factory=WorldCount)
    known: Known = field(default_factory=Known)
    headroom: bool = False
    sensitivity: bool = False
    fix: bool = False
    deadline: Deadline = field(default_factory=lambda: Deadline(None))

    def runs(self, layout: Layout, outcomes: Sequence[WorldOutcome] = ()) -> WorldRuns:
        """Return the worlds of a design, some of which may have been played."""
        return WorldRuns(layout, self.engine, self.first, self.known, list(outcomes))


def first_outcomes(
    layout: Layout, options: StudyOptions, progress: Progress | None = None
) -> list[WorldOutcome]:
    """Play the worlds that the first verdict rests on."""
    return options.runs(layout).play(options.count.after(0), _named(progress, layout, "worlds"))


@dataclass(frozen=True)
class Played:
    """What the worlds of a design have shown.

    Attributes:
        outcomes: Of all that were played.
        ages: How new tables do, and tables that have lived with the load.
        horizon: How the design does over the time that it is to hold for.
        is_at_the_line: Whether it is refused calls only because even keys are hashed unevenly,
            and none at a slightly smaller load.
        shown: The median one, whose figures are shown.
        case: What it has shown.
        typical: The typical one of those that throttle, if any does.
        throttling: What that one has shown.
        first_throttle: When the first call was refused in the world that is shown.
        splits: The splits in it.
        assumptions: The constants that had a say in it.
        year: What twelve months of it cost, if the workload grows.
        window: The seconds that were played request by request, where clients hold calls back.
        keys_followed: How many keys were followed one by one.
        needed: About how many seconds the worlds of the next look would have taken, where the
            deadline left the grade undecided.
    """

    outcomes: Sequence[WorldOutcome]
    ages: result_types.Ages
    horizon: result_types.Horizon
    is_at_the_line: bool
    shown: WorldOutcome
    case: Case
    typical: WorldOutcome | None
    throttling: Case | None
    first_throttle: float | None
    splits: Sequence[result_types.SplitResult]
    assumptions: tuple[result_types.Assumption, ...]
    year: tuple[result_types.MonthCost, ...]
    window: tuple[int, int] | None
    keys_followed: int | None
    needed: float | None


def play_on(
    layout: Layout,
    options: StudyOptions,
    outcomes: Sequence[WorldOutcome],
    progress: Progress | None = None,
) -> Played:
    """Play on from the first outcomes of a design until the chance is known."""
    runs = options.runs(layout, outcomes)
    tell = _named(progress, layout, "worlds")
    needed = runs.play_until_known(options.count, tell, options.deadline)
    _tell(progress, layout, "the median world")
    typical, age = _typical(runs)
    shown = median_world(runs.outcomes)
    log, settings = runs.log(shown.world, "first"), shown.world.settings
    case, window = _case(layout, settings, log), None
    if options.engine == "aggregate":
        window = busiest_window(layout.workload, case.patterns)
    if window is not None:
        _tell(progress, layout, "the busiest window, request by request")
        waiting = with_waits(layout, shown.world, case.patterns, window)
        case = replace(case, patterns=waiting)
    throttling = None
    if typical is not None:
        throttling = case
        if typical is not shown:
            throttling = _case(layout, settings, runs.log(typical.world, age))
    return Played(
        outcomes=tuple(runs.outcomes),
        ages=(ages := _ages(runs)),
        horizon=_horizon(runs),
        is_at_the_line=_is_at_the_line(runs, ages, throttling),
        shown=shown,
        case=case,
        typical=typical,
        throttling=throttling,
        first_throttle=log.first_throttle,
        splits=tuple(log.splits),
        assumptions=assumptions_of(log, settings),
        year=year(usages(log, settings), layout, settings),
        window=window,
        keys_followed=runs.keys_followed,
        needed=needed,
    )


def _typical(runs: WorldRuns) -> tuple[WorldOutcome | None, Age]:
    """Return the typical world of those that throttle, if any does, and at which age it does."""
    first = typical_throttling(runs.outcomes)
    if first is not None:
        return first, "first"
    return typical_throttling(outcome.at("lived") for outcome in runs.outcomes), "lived"


def _ages(runs: WorldRuns) -> result_types.Ages:
    """Return how new tables do, and tables that have lived with the load."""
    return result_types.Ages(first=_at_age(runs, "first"), lived=_at_age(runs, "lived"))


def _at_age(runs: WorldRuns, age: Age) -> result_types.AgeResult:
    outcomes = [outcome.at(age) for outcome in runs.outcomes]
    typical = typical_throttling(outcomes)
    calm = None
    if typical is not None and age == "first":
        calm = typical.calm_after
    return result_types.AgeResult(
        risk=runs.risk(age),
        throttled=0.0 if typical is None else typical.throttled_share,
        calm_after_seconds=calm,
    )


def _horizon(runs: WorldRuns) -> result_types.Horizon:
    """Return how the design does over the time that it is to hold for."""
    own = [outcome.buckets for outcome in runs.outcomes if outcome.buckets is not None]
    horizon = runs.layout.workload.horizon
    assert horizon is not None, "set when the workload was made"
    if not own:
        return result_types.Horizon(
            seconds=horizon,
            bucket_seconds=None,
            buckets=1,
            risk_per_bucket=runs.risk("first").chance,
            throttled_minutes_a_month=0.0,
            refused_calls_a_month=0.0,
        )
    return result_types.Horizon(
        seconds=horizon,
        bucket_seconds=own[0].step,
        buckets=own[0].count,
        risk_per_bucket=fmean(buckets.share for buckets in own),
        throttled_minutes_a_month=fmean(buckets.minutes_a_month for buckets in own),
        refused_calls_a_month=fmean(buckets.refused_a_month for buckets in own),
    )


def _is_at_the_line(runs: WorldRuns, ages: result_types.Ages, throttling: Case | None) -> bool:
    """Return whether only the unevenness of the hash stands between the load and its limit."""
    if throttling is None or ages.first.risk.chance < UNLIKELY or not is_short_by_hash(throttling):
        return False
    outcomes = outcomes_at(runs, CLEAR)
    return sum(outcome.throttles for outcome in outcomes) <= UNLIKELY * len(outcomes)


def _case(layout: Layout, settings: Settings, log: RunLog) -> Case:
    """Return the answer of one world."""
    patterns, resources = pattern_results(log), resource_results(log)
    used = usages(log, settings)
    return Case(
        layout,
        settings,
        patterns,
        resources,
        offered(patterns, resources, layout.workload),
        costs(used, layout, settings, log.patterns.values()),
        break_even(used, layout),
    )


def headroom_of(
    layout: Layout, options: StudyOptions, played: Played, progress: Progress | None = None
) -> result_types.Headroom | None:
    """Return how much more a design carries, if that is asked."""
    if not options.headroom:
        return None
    _tell(progress, layout, "searching headroom")
    runs = options.runs(layout, played.outcomes)
    return find_headroom(runs, likely_headroom(played.case), options.deadline)


def fix_of(
    layout: Layout, options: StudyOptions, played: Played, progress: Progress | None = None
) -> Search:
    """Return the smallest change that helps a design which throttles, if that is asked."""
    case, typical = played.throttling, played.typical
    graded = grade(played.ages, None, is_at_the_line=played.is_at_the_line)
    if not options.fix or case is None or typical is None or graded in HEALTHY:
        return Search()
    _tell(progress, layout, "looking for a fix")
    runs, deadline = options.runs(layout, played.outcomes), options.deadline
    limit = ThrottlingLimit.of(case.reasons[0])
    if graded == "heals" and limit is ThrottlingLimit.KEY_RANGE:
        return find_launch(case, runs, typical.world, deadline)
    return find_fix(case, runs, typical.world, deadline)


def unknowns_of(
    layout: Layout,
    options: StudyOptions,
    played: Played,
    progress: Progress | None = None,
) -> tuple[result_types.UnknownEffect, ...]:
    """Return how far each unknown moves the answer, if that is asked."""
    if not options.sensitivity:
        return ()
    _tell(progress, layout, "drawing each unknown alone")
    return tuple(effects_of(options.runs(layout, played.outcomes), options.deadline))


def conclude(
    layout: Layout,
    played: Played,
    headroom: result_types.Headroom | None,
    search: Search,
    unknowns: tuple[result_types.UnknownEffect, ...],
) -> result_types.DesignResult:
    """Return everything there is to say about a design."""
    case, ages = played.case, played.ages
    graded = grade(ages, headroom, is_at_the_line=played.is_at_the_line)
    margin = margin_of(case)
    if margin is not None and played.is_at_the_line:
        margin = replace(margin, percent=max(0.0, margin.percent))
    age = layout.workload.age
    return result_types.DesignResult(
        name=layout.design.name,
        design=layout.design.to_document(),
        resources=tuple(case.resources),
        patterns=tuple(case.patterns),
        time_to_first_throttle=played.first_throttle,
        splits=tuple(played.splits),
        costs=tuple(case.costs),
        break_even=tuple(case.break_even),
        headroom=headroom,
        confidence=_confidence(played.outcomes),
        grade=graded,
        verdict=sentence(
            Judged(
                case,
                graded,
                ages,
                played.throttling,
                headroom,
                played.horizon,
                None if played.typical is None else played.typical.first_throttle,
            )
        ),
        fix=search.fix,
        fix_note=search.note,
        findings=advise(case),
        assumptions=played.assumptions,
        risk=(ages.first if age == "first" else ages.lived).risk,
        worlds=tuple(_world_result(outcome) for outcome in played.outcomes),
        shown_world=played.shown.world.seed,
        unknowns=unknowns,
        year=played.year,
        window=played.window,
        keys_followed=played.keys_followed,
        ages=ages,
        margin=margin,
        horizon=played.horizon,
    )


def _named(
    progress: Progress | None, layout: Layout, what: str
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    text = f"{layout.design.name}: {what}"
    return lambda done, total: progress(text, done, total)


def _tell(progress: Progress | None, layout: Layout, what: str) -> None:
    if progress is not None:
        progress(f"{layout.design.name}: {what}", 0, 1)


def _world_result(outcome: WorldOutcome) -> result_types.WorldResult:
    return result_types.WorldResult(
        seed=outcome.world.seed,
        throttled_share=outcome.throttled_share,
        failed_share=outcome.failed_share,
        closes_after=outcome.closes_after,
    )


def _confidence(outcomes: Sequence[WorldOutcome]) -> tuple[result_types.Confidence, ...]:
    """Return the main measures over the worlds, with the bounds of their means."""
    rows = {
        "throttled share": [outcome.throttled_share for outcome in outcomes],
        "failed share": [outcome.failed_share for outcome in outcomes],
        "consumed write units": [_consumed(outcome, 1) for outcome in outcomes],
        "consumed read units": [_consumed(outcome, 0) for outcome in outcomes],
    }
    return tuple(_bounded(measure, values) for measure, values in rows.items())


def _consumed(outcome: WorldOutcome, axis: int) -> float:
    return sum(units[axis] for units in outcome.units.values())


def _bounded(measure: str, values: Sequence[float]) -> result_types.Confidence:
    mean = fmean(values)
    half = 0.0
    if len(values) > 1:
        freedom = len(values) - 2
        factor = _STUDENT[freedom] if freedom < len(_STUDENT) else NORMAL
        half = factor * stdev(values) / len(values) ** 0.5
    return result_types.Confidence(
        measure=measure, mean=mean, low=mean - half, high=mean + half, values=tuple(values)
    )
