"""The study of one design: its worlds, the one that is shown, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Final, TypeAlias

from emulator.lab.analysis.advice import advise
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.costs import break_even, costs, usages, year
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.fixes import Search, find_fix
from emulator.lab.analysis.headroom import find_headroom, likely_headroom
from emulator.lab.analysis.offered_load import offered
from emulator.lab.analysis.sensitivity import assumptions_of, effects_of
from emulator.lab.analysis.verdict import Judged, grade, sentence
from emulator.lab.analysis.world_runs import Engine, WorldCount, WorldRuns
from emulator.lab.outcome import result_types
from emulator.lab.outcome.risk import NORMAL, risk_of
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.throttled import median_world, typical_throttling
from emulator.lab.outcome.world_outcome import WorldOutcome, outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known

#: Called with what is being done, how much of it is done, and how much there is.
Progress: TypeAlias = Callable[[str, int, int], None]

#: Of Student's distribution, two-sided 95 %, by degrees of freedom.
_STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


@dataclass(frozen=True)
class StudyOptions:
    """How designs are studied.

    Attributes:
        engine: What plays the worlds.
        first: The seed of the first world.
        count: How many worlds are played.
        known: What is known of the service.
        headroom: Search for the largest load that passes.
        sensitivity: Find out which unknown moves the answer.
        fix: Look for the smallest change that helps.
        time_limit: Seconds for each of these three; None for no limit.
    """

    engine: Engine
    first: int
    count: WorldCount
    known: Known
    headroom: bool
    sensitivity: bool
    fix: bool
    time_limit: float | None

    def runs(self, layout: Layout, outcomes: Sequence[WorldOutcome] = ()) -> WorldRuns:
        """Return the worlds of a design, some of which may have been played."""
        return WorldRuns(
            layout, self.engine, self.first, self.known, list(outcomes), whole=self.count.whole
        )


def first_outcomes(
    layout: Layout, options: StudyOptions, progress: Progress | None = None
) -> list[WorldOutcome]:
    """Play the worlds that the first verdict rests on."""
    count = options.count.next(hits=0, played=0)
    return options.runs(layout).play(count, _named(progress, layout, "worlds"))


def study(
    layout: Layout,
    options: StudyOptions,
    outcomes: Sequence[WorldOutcome],
    progress: Progress | None = None,
) -> result_types.DesignResult:
    """Play on from the first outcomes of a design, and draw the conclusions."""
    return _Study(layout, options, outcomes, progress).result()


def _named(
    progress: Progress | None, layout: Layout, what: str
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    text = f"{layout.design.name}: {what}"
    return lambda done, total: progress(text, done, total)


class _Study:
    def __init__(
        self,
        layout: Layout,
        options: StudyOptions,
        outcomes: Sequence[WorldOutcome],
        progress: Progress | None,
    ) -> None:
        self._layout = layout
        self._options = options
        self._progress = progress
        self._runs = options.runs(layout, outcomes)

    def _tell(self, what: str) -> None:
        if self._progress is not None:
            self._progress(f"{self._layout.design.name}: {what}", 0, 1)

    def result(self) -> result_types.DesignResult:
        """Return everything there is to say about the design."""
        options, runs = self._options, self._runs
        outcomes = runs.play_until_known(
            options.count, _named(self._progress, self._layout, "worlds")
        )
        risk = risk_of(outcome.throttles for outcome in outcomes)
        self._tell("the median world")
        typical = self._typical()
        shown = median_world(runs.whole_outcomes)
        log = runs.log(shown.world)
        case = self._case(log)
        room = self._headroom(case)
        case = replace(case, headroom=room)
        throttling = None
        if typical is not None:
            throttling = case if typical is shown else self._case(runs.log(typical.world))
        judged = Judged(case, risk, throttling, room)
        graded = grade(risk, room)
        search = Search()
        if options.fix and throttling is not None and graded in ("throttles", "risky"):
            assert typical is not None, "it is the world of the case"
            self._tell("looking for a fix")
            search = find_fix(throttling, runs, typical.world, Deadline(options.time_limit))
        return result_types.DesignResult(
            name=self._layout.design.name,
            design=self._layout.design.to_document(),
            resources=tuple(case.resources),
            patterns=tuple(case.patterns),
            time_to_first_throttle=log.first_throttle,
            splits=tuple(log.splits),
            costs=tuple(case.costs),
            break_even=tuple(case.break_even),
            headroom=room,
            confidence=_confidence(runs.whole_outcomes),
            grade=graded,
            verdict=sentence(judged),
            fix=search.fix,
            fix_note=search.note,
            findings=advise(case),
            assumptions=assumptions_of(log, options.known.settings),
            risk=risk,
            worlds=tuple(_world_result(outcome) for outcome in outcomes),
            shown_world=shown.world.seed,
            unknowns=self._unknowns(),
            year=year(usages(log, options.known.settings), self._layout, options.known.settings),
        )

    def _typical(self) -> WorldOutcome | None:
        """Return the typical world of those that throttle, if any does.

        Where no world that was played to the end does, it is the first of the others, which is
        now played to the end as well.
        """
        outcomes = self._runs.outcomes
        typical = typical_throttling(self._runs.whole_outcomes)
        if typical is None:
            for number, outcome in enumerate(outcomes):
                if outcome.throttles:
                    typical = outcome_of(outcome.world, self._runs.log(outcome.world))
                    outcomes[number] = typical
                    break
        return typical

    def _case(self, log: RunLog) -> Case:
        """Return what one world has shown."""
        layout, settings = self._layout, self._options.known.settings
        patterns, resources = pattern_results(log), resource_results(log)
        used = usages(log, settings)
        return Case(
            layout,
            patterns,
            resources,
            offered(patterns, resources, layout.workload),
            costs(used, layout, settings, log.patterns.values()),
            break_even(used, layout),
            None,
        )

    def _headroom(self, case: Case) -> result_types.Headroom | None:
        if not self._options.headroom:
            return None
        self._tell("searching headroom")
        return find_headroom(self._runs, likely_headroom(case), Deadline(self._options.time_limit))

    def _unknowns(self) -> tuple[result_types.UnknownEffect, ...]:
        if not self._options.sensitivity:
            return ()
        deadline = Deadline(self._options.time_limit)
        return tuple(effects_of(self._runs, deadline, self._tell))


def _world_result(outcome: WorldOutcome) -> result_types.WorldResult:
    return result_types.WorldResult(
        seed=outcome.world.seed,
        throttled_share=outcome.throttled_share,
        failed_share=outcome.failed_share,
        closes_after=outcome.closes_after,
        whole=outcome.is_whole,
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
