"""The search: what the bounds propose is played, in few worlds first, and what is left is judged.

Worlds that choose are never those that judge: the figures of a design come from worlds in which
nothing was decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

from emulator.capacity import READ, WRITE, ScalingPolicy
from emulator.capacity.prices import STANDARD_IA, TABLE_CLASSES
from emulator.lab.analysis.comparison import Executor
from emulator.lab.analysis.costs import AUTO_SCALED, ON_DEMAND, costs, usages
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.study import (
    Progress,
    StudyOptions,
    conclude,
    first_outcomes,
    fix_of,
    headroom_of,
    play_on,
    unknowns_of,
)
from emulator.lab.analysis.world_runs import WorldCount
from emulator.lab.inputs.design import Capacity, Design, Table
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, Cost, DesignResult
from emulator.lab.planning.layout import Layout, TableLayout
from emulator.lab.planning.worlds import draw_worlds
from emulator.lab.searches.answers import Answer, answers_of, lab_text, way_there
from emulator.lab.searches.bounds import SPARE, floor_of, prewarmed
from emulator.lab.searches.needs import completed
from emulator.lab.searches.proposals import Candidate, Proposals, is_answered, proposals
from emulator.lab.searches.splits import split_up
from emulator.lab.world import Worlds

MOST_DESIGNS: Final = 7
#: Grades, best first.
GRADES: Final = ("fine", "tight", "heals", "risky", "throttles")
#: Designs that are played at all, and of those with the same answers.
_PLAYED: Final = 16
_ALIKE: Final = 2
#: Designs whose billing modes are compared.
_PRICED: Final = 9
#: Worlds that judge at most, where nothing else is asked for.
MOST_WORLDS: Final = 100
#: Worlds that choose, and how far their seeds are from those of the worlds that judge.
_FEW: Final = 8
_ELSEWHERE: Final = 1_000_000
#: By the end of a stage this share of the time has passed at most.
_CHOOSING, _REPAIRING, _PAYING = 0.4, 0.15, 0.15
#: The shares of what is provisioned that the busiest minute may take.
_USED: Final = (0.7, 0.5)
#: What costs less than this part of something else is cheaper, whatever chance does.
_CHEAPER: Final = 0.97

NO_ANSWER: Final = (
    "{name} does not compete: its only answer to {missed!r} is a Scan, or a read that throws away "
    "most of what it reads"
)

_In = TypeVar("_In")
_Out = TypeVar("_Out")


@dataclass(frozen=True)
class Found:
    """A design that a search came to.

    Attributes:
        candidate: The design, and the workload as it serves it.
        result: Its figures, from worlds that chose nothing.
        answers: How it answers each pattern.
        lab: The workload and this design, as the text of a lab file.
        note: Why it is not the first; "" for the first.
        way: What it takes to get there from what exists; None where nothing was given.
    """

    candidate: Candidate
    result: DesignResult
    answers: tuple[Answer, ...]
    lab: str
    note: str = ""
    way: str | None = None

    @property
    def name(self) -> str:
        """The design's name."""
        return self.candidate.design.name

    @property
    def risk(self) -> float:
        """The share of worlds in which it throttles, new, lived or over the horizon."""
        ages, horizon = self.result.ages, self.result.horizon
        assert ages is not None, "of a result of this version"
        assert horizon is not None, "of a result of this version"
        chances = (ages.first.risk.chance, ages.lived.risk.chance, horizon.risk_per_bucket)
        return max(chances)

    @property
    def measures(self) -> tuple[float, ...]:
        """Risk, dollars a month, indexes, and calls of each pattern: less is better."""
        operations = [float(answer.operations) for answer in self.answers]
        return (self.risk, _rounded(self.result.cost.total), float(self.index_count), *operations)

    @property
    def index_count(self) -> int:
        """How many indexes it has."""
        return sum(len(table.indexes) for table in self.candidate.design.tables)

    @property
    def rank(self) -> tuple[float, ...]:
        """Grade, cost and indexes: less is better."""
        return (GRADES.index(self.result.grade), *self.measures[1:3])

    def to_document(self) -> dict[str, Any]:
        """Return it as dictionaries, lists and scalars."""
        tables = [table.to_document() for table in self.candidate.design.tables]
        names = [table.name for table in self.candidate.design.tables]
        indexes = [index for table in tables for index in table.pop("indexes", [])]
        return {
            "name": self.name,
            "table": tables[0] if len(tables) == 1 else dict(zip(names, tables, strict=True)),
            "indexes": indexes,
            "grade": self.result.grade,
            "risk": None if self.result.risk is None else asdict(self.result.risk),
            "monthly_cost": round(self.result.cost.total, 2),
            "patterns": [asdict(answer) for answer in self.answers],
            "lab": self.lab,
        }


@dataclass(frozen=True)
class Search:
    """What a search came to.

    >>> Search(designs=(), unanswered=(("export", "it reads the whole table"),)).to_json()
    '{"designs": [], "unanswered": [{"name": "export", "reason": "it reads the whole table"}]}'

    Attributes:
        designs: The short list, best first.
        unanswered: Patterns that no design answers without a Scan, with the reason.
        notes: What was looked at and what was not, a sentence each.
        interrupted: Whether it was ended before its time.
    """

    designs: tuple[Found, ...]
    unanswered: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return it as dictionaries, lists and scalars."""
        return {
            "designs": [found.to_document() for found in self.designs],
            "unanswered": [{"name": name, "reason": reason} for name, reason in self.unanswered],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON text."""
        return json.dumps(self.to_document(), indent=indent, allow_nan=False)

    def comparison(self, title: str = "") -> Comparison:
        """Return the designs side by side, as ``compare`` does."""
        first = self.designs[0]
        worlds = [found.result.worlds for found in self.designs]
        sentences = [
            f"{found.name}: {answer.name}: {answer.how}"
            for found in self.designs
            for answer in found.answers
        ]
        return Comparison(
            title=title,
            workload=first.candidate.workload.to_document(),
            engine="aggregate",
            duration_seconds=float(first.candidate.workload.duration),
            seeds=tuple(world.seed for world in max(worlds, key=len)),
            designs=tuple(found.result for found in self.designs),
            notes=(*sentences, *(f"{name}: {reason}" for name, reason in self.unanswered)),
        )


def search(
    workload: Workload,
    options: StudyOptions | None = None,
    *,
    given: Sequence[Design] = (),
    time_limit: float | None = 60.0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Search:
    """Look for the designs that serve a workload best.

    Args:
        workload: The access patterns.
        options: How the designs that are left in the end are studied.
        given: Designs that exist: they compete, and the way from the first one is priced.
        time_limit: Seconds in all; the best so far is returned then. None for no limit.
        executor: Where designs are played; in this process by default.
        progress: Called with what is being done, how far it is, and how much there is.

    Raises:
        ValueError: A given design does not fit the workload.

    >>> from emulator.lab import Field, Pattern
    >>> workload = Workload(
    ...     fields=[Field("deviceId", count=1_000)],
    ...     patterns=[
    ...         Pattern("record", "PutItem", rate=50),
    ...         Pattern("last events", "Query", rate=1, by=("deviceId",), items=10),
    ...     ],
    ...     duration=60,
    ... )
    >>> best = search(workload, StudyOptions(count=WorldCount(exactly=3))).designs[0]
    >>> best.candidate.design.tables[0].partition, [answer.how for answer in best.answers]
    ('{deviceId}', ['one PutItem on the table', 'one Query on the table'])
    """
    options = options or StudyOptions(first=workload.seed, count=WorldCount(most=MOST_WORLDS))
    work = _Work(executor, Deadline(time_limit), time_limit, progress)
    return _Searcher(completed(workload), options, given, work).run()


class _Work:
    """Does many things alike, here or on an executor, until the time is up or Ctrl-C."""

    def __init__(
        self,
        executor: Executor | None,
        deadline: Deadline,
        seconds: float | None,
        progress: Progress | None,
    ) -> None:
        self._executor = executor
        self._seconds = seconds
        self._progress = progress
        self.deadline = deadline
        self.interrupted = False

    def until(self, share: float) -> Deadline:
        """Return the end of a stage that has a share of the time."""
        return Deadline(None if self._seconds is None else self._seconds * share)

    def each(
        self,
        what: str,
        function: Callable[[_In], _Out],
        inputs: Sequence[_In],
        deadline: Deadline,
    ) -> list[tuple[_In, _Out]]:
        """Return inputs with what a function makes of them, as many as there is time for.

        The first one is always done, unless all is interrupted.
        """
        if self.interrupted:
            return []
        done: list[tuple[_In, _Out]] = []
        try:
            if self._executor is None:
                for one in inputs:
                    if done and deadline.has_passed():
                        break
                    self._tell(what, len(done), len(inputs))
                    done.append((one, function(one)))
            else:
                self._on_executor(what, function, inputs, deadline, done)
        except KeyboardInterrupt:
            self.interrupted = True
        return done

    def _on_executor(
        self,
        what: str,
        function: Callable[[_In], _Out],
        inputs: Sequence[_In],
        deadline: Deadline,
        done: list[tuple[_In, _Out]],
    ) -> None:
        assert self._executor is not None, "asked before"
        submit = self._executor.submit
        found: dict[int, _Out] = {}
        numbers = {submit(_called, function, one): at for at, one in enumerate(inputs)}
        waiting: set[Future[Any]] = set(numbers)
        try:
            while waiting and not (found and deadline.has_passed()):
                self._tell(what, len(found), len(inputs))
                ended, waiting = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ended:
                    found[numbers[future]] = future.result()
        finally:
            for future in waiting:
                future.cancel()
            done += [(inputs[at], found[at]) for at in sorted(found)]

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)


def _called(
    function: Callable[[_In], _Out],
    one: _In,
    progress: Progress | None = None,  # noqa: ARG001 - of executors that tell how far tasks are
) -> _Out:
    return function(one)


@dataclass(frozen=True)
class _Few:
    """What a few worlds say of a design.

    Attributes:
        throttling: The share of them that throttle.
        costs: A month in each billing mode and table class.
        peaks: By table and index, read and write units a second in the busiest minute.
    """

    throttling: float
    costs: tuple[Cost, ...]
    peaks: dict[str, tuple[float, float]]

    @property
    def total(self) -> float:
        """Dollars a month, as designed."""
        return next(cost.total for cost in self.costs if cost.chosen)


@dataclass(frozen=True)
class _Play:
    """Plays a design in a few worlds; it can be sent to another process."""

    options: StudyOptions

    def __call__(self, candidate: Candidate) -> _Few:
        layout, known = candidate.layout, self.options.known
        drawn = draw_worlds(self.options.first + _ELSEWHERE, _FEW, known)
        worlds = Worlds(layout)
        outcomes = worlds.play(drawn)
        log = worlds.log(drawn[0])
        used = usages(log, known.settings)
        return _Few(
            sum(outcome.throttles for outcome in outcomes) / len(outcomes),
            costs(used, layout, known.settings, log.patterns.values()),
            {use.index or use.table: use.peaks for use in used},
        )


@dataclass(frozen=True)
class _Judge:
    """Studies a design in full; it can be sent to another process."""

    options: StudyOptions

    def __call__(self, candidate: Candidate) -> DesignResult:
        layout, options = candidate.layout, self.options
        played = play_on(layout, options, first_outcomes(layout, options))
        return conclude(
            layout,
            played,
            headroom_of(layout, options, played),
            fix_of(layout, options, played),
            unknowns_of(layout, options, played),
        )


class _Searcher:
    """One search, stage by stage."""

    def __init__(
        self, workload: Workload, options: StudyOptions, given: Sequence[Design], work: _Work
    ) -> None:
        self._workload = workload
        self._options = options
        self._given = [Candidate(design, workload) for design in given]
        self._work = work
        self._notes: list[str] = []

    def run(self) -> Search:
        """Return the short list."""
        found = self._proposed()
        tried = self._chosen(found.candidates)
        paid = self._paid(self._repaired(tried))
        designs = self._short_list(self._judged(paid, found.unanswered))
        return Search(
            designs,
            tuple(found.unanswered.items()),
            tuple(self._notes),
            interrupted=self._work.interrupted,
        )

    def _proposed(self) -> Proposals:
        """Return designs for the items as they are and, where that may pay, split up."""
        whole, split = proposals(self._workload), split_up(self._workload)
        candidates = [*whole.candidates]
        if split is not None:
            candidates += proposals(split).candidates
        candidates.sort(key=lambda own: floor_of(own.layout).monthly)
        return Proposals(tuple(candidates), whole.unanswered)

    def _names(self) -> list[str]:
        return [pattern.name for pattern in self._workload.patterns]

    def _chosen(self, candidates: Sequence[Candidate]) -> list[tuple[Candidate, _Few]]:
        """Play the cheapest designs in a few worlds, and return the best of them."""
        kept: list[Candidate] = []
        bounds: list[tuple[float, ...]] = []
        alike: dict[tuple[Answer, ...], int] = {}
        for candidate in candidates:
            answers = answers_of(candidate, self._names())
            alike[answers] = alike.get(answers, 0) + 1
            own = _bounds(candidate, answers)
            if alike[answers] <= _ALIKE and not any(_is_beaten(own, other) for other in bounds):
                kept.append(candidate)
                bounds.append(own)
        kept = [*self._competing(), *kept[:_PLAYED]]
        played = self._work.each(
            "few worlds", _Play(self._options), kept, self._work.until(_CHOOSING)
        )
        self._notes.append(
            f"{words.counted(len(candidates), 'design')} answer the patterns; of these "
            f"{len(played)} were played, the cheapest by their bounds"
        )
        return sorted(played, key=_promise)[:_PRICED]

    def _competing(self) -> list[Candidate]:
        """Return the designs that exist and answer what has to be answered."""
        competing = []
        for candidate in self._given:
            layout = candidate.layout
            missed = [
                pattern.name
                for pattern in self._workload.patterns
                if pattern.class_ != "analytics" and not is_answered(layout, pattern)
            ]
            if missed:
                self._notes.append(NO_ANSWER.format(name=candidate.design.name, missed=missed[0]))
            else:
                competing.append(candidate)
        return competing

    def _repaired(self, tried: Sequence[tuple[Candidate, _Few]]) -> list[tuple[Candidate, _Few]]:
        """Return the designs, those that throttle with more suffixes or warmer tables."""
        wanted = [
            (number, stronger)
            for number, (candidate, few) in enumerate(tried)
            if few.throttling and candidate not in self._given
            for stronger in _stronger(candidate)
        ]
        return self._best_of("repairs", tried, wanted, _REPAIRING)

    def _best_of(
        self,
        what: str,
        tried: Sequence[tuple[Candidate, _Few]],
        wanted: Sequence[tuple[int, Candidate]],
        share: float,
    ) -> list[tuple[Candidate, _Few]]:
        """Return each design, or the one of its variants that does best in a few worlds."""
        best = list(tried)
        play = _OfPair(_Play(self._options))
        for (number, variant), few in self._work.each(what, play, wanted, self._work.until(share)):
            best[number] = min(best[number], (variant, few), key=_promise)
        return best

    def _paid(self, tried: Sequence[tuple[Candidate, _Few]]) -> list[Candidate]:
        """Return the designs, each with the cheapest way to pay that does not throttle."""
        wanted = [
            (number, paid)
            for number, (candidate, few) in enumerate(tried)
            if candidate not in self._given
            for paid in _cheaper(candidate, few)
        ]
        best = self._best_of("billing modes", tried, wanted, _PAYING)
        promising: dict[tuple[Answer, ...], Candidate] = {}
        for candidate, _ in sorted(best, key=_promise):
            answers = answers_of(candidate, self._names())
            promising.setdefault(answers, candidate)
        return list(promising.values())[:MOST_DESIGNS]

    def _judged(self, candidates: Sequence[Candidate], unanswered: Iterable[str]) -> list[Found]:
        """Study designs in worlds that did not choose them."""
        judged = self._work.each("worlds", _Judge(self._options), candidates, self._work.deadline)
        if self._work.interrupted and not judged and candidates:
            few = replace(self._options, count=WorldCount(exactly=_FEW), headroom=False)
            judged = [(candidates[0], _Judge(few)(candidates[0]))]
        if len(judged) < len(candidates):
            self._notes.append(
                f"{words.counted(len(candidates) - len(judged), 'design')} more could not be "
                "judged in time"
            )
        asked = [name for name in self._names() if name not in set(unanswered)]
        return [self._found(candidate, result, asked) for candidate, result in judged]

    def _found(self, candidate: Candidate, result: DesignResult, asked: Sequence[str]) -> Found:
        known = self._options.known
        settings = {name: getattr(known.settings, name) for name in sorted(known.named)}
        return Found(
            candidate,
            result,
            answers_of(candidate, asked),
            lab_text(candidate.design, candidate.workload, settings),
            way=way_there(self._given[0], candidate) if self._given else None,
        )

    def _short_list(self, judged: Iterable[Found]) -> tuple[Found, ...]:
        """Return the best, each of which answers otherwise and better than those before it."""
        kept: list[Found] = []
        for found in sorted(judged, key=lambda own: own.rank):
            is_scanned = any(
                answer.scan and self._workload.pattern(answer.name).class_ != "analytics"
                for answer in found.answers
            )
            if is_scanned or len(kept) == MOST_DESIGNS:
                continue
            if all(_adds(found, other) for other in kept):
                kept.append(replace(found, note=_lost(found, kept[0])) if kept else found)
        return tuple(kept)


@dataclass(frozen=True)
class _OfPair:
    """Plays the second of a pair."""

    play: _Play

    def __call__(self, pair: tuple[int, Candidate]) -> _Few:
        return self.play(pair[1])


def _promise(played: tuple[Candidate, _Few]) -> tuple[float, float]:
    """Return how a design does in a few worlds: less is better."""
    _, few = played
    return few.throttling, _rounded(few.total)


def _bounds(candidate: Candidate, answers: Sequence[Answer]) -> tuple[float, ...]:
    """Return dollars at least, indexes and calls."""
    indexes = sum(len(table.indexes) for table in candidate.design.tables)
    dollars = floor_of(candidate.layout).monthly
    return (dollars, float(indexes), *(float(answer.operations) for answer in answers))


def _is_beaten(own: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether another design is surely cheaper, and no worse in anything else."""
    is_dearer = own[0] * _CHEAPER > other[0]
    return is_dearer and all(mine >= its for mine, its in zip(own[1:], other[1:], strict=True))


def _rounded(dollars: float) -> float:
    """Return dollars as far as they tell designs apart: what differs less is drawn by chance."""
    return float(f"{dollars:.3g}")


def _adds(found: Found, other: Found) -> bool:
    """Return whether a design answers a pattern otherwise, and is better in some measure."""
    if [own.how for own in found.answers] == [own.how for own in other.answers]:
        return False
    pairs = zip(found.measures, other.measures, strict=True)
    return any(own < its for own, its in pairs)


def _lost(found: Found, best: Found) -> str:
    """Return why a design is not the first."""
    own, first = found.result.risk, best.result.risk
    is_equal = own is not None and first is not None and own.low <= first.high
    if found.result.grade != best.result.grade and not is_equal:
        return f"its grade is {found.result.grade}, that of {best.name} {best.result.grade}"
    more = found.result.cost.total - best.result.cost.total
    equal = "its risk is equal within the intervals; " if is_equal else ""
    if round(more, 2) > 0:
        return f"{equal}it costs {words.dollars(more)} a month more than {best.name}"
    return f"{equal}it has {words.counted(found.index_count - best.index_count, 'index')} more"


# Variants


def _stronger(candidate: Candidate) -> list[Candidate]:
    """Return a design with twice the suffixes, with warmer tables, and with both."""
    spread = _spread_wider(candidate.design)
    designs = [_warmed(candidate.layout)]
    if spread is not None:
        designs += [spread, _warmed(Layout(spread, candidate.workload))]
    return [replace(candidate, design=design) for design in designs]


def _warmed(layout: Layout) -> Design:
    """Return a design on demand whose tables serve twice what is asked for from the start."""
    return prewarmed(layout.design, layout.workload, spare=2 * SPARE)


def _spread_wider(design: Design) -> Design | None:
    """Return a design with twice the suffixes; None if it has none."""
    text = json.dumps(design.to_document())
    wider = _SUFFIXES.sub(lambda match: f"{match[1]}{2 * int(match[2])}{match[3]}", text)
    return None if wider == text else Design.from_document(json.loads(wider))


#: The number of suffixes in a template.
_SUFFIXES: Final = re.compile(r"(\) % |random\()(\d+)(\)?\})")


def _cheaper(candidate: Candidate, few: _Few) -> list[Candidate]:
    """Return a design with cheaper ways to pay, where a few worlds say that there are any."""
    totals = {(cost.billing, cost.table_class): cost.total for cost in few.costs}
    made = []
    if totals[ON_DEMAND, STANDARD_IA.name] < few.total * _CHEAPER:
        made.append(_paying(candidate, few, STANDARD_IA.name, None))
    scaled = {name: totals[AUTO_SCALED, name] for name in TABLE_CLASSES}
    name = min(scaled, key=lambda own: scaled[own])
    if scaled[name] < few.total * _CHEAPER:
        made += [_paying(candidate, few, name, used) for used in _USED]
    return made


def _paying(candidate: Candidate, few: _Few, table_class: str, used: float | None) -> Candidate:
    """Return a design that pays otherwise: for what is provisioned, if it says how much of it."""
    layout, tables = candidate.layout, []
    for table in layout.tables:
        changed = replace(table.design, table_class=table_class)
        tables.append(changed if used is None else _scaled(layout, table, changed, few, used))
    return replace(candidate, design=candidate.design.with_tables(*tables))


def _scaled(layout: Layout, table: TableLayout, design: Table, few: _Few, used: float) -> Table:
    indexes = tuple(
        replace(
            index.design,
            capacity=_provisioned(few.peaks[layout.resource_name(table, index.name)], used),
        )
        if index.is_global
        else index.design
        for index in table.indexes
    )
    capacity = _provisioned(few.peaks[layout.resource_name(table, None)], used)
    return replace(design, capacity=capacity, indexes=indexes)


def _provisioned(peaks: Sequence[float], used: float) -> Capacity:
    """Return capacity that auto scaling adjusts to what is used."""
    read, write = (max(1, round(peaks[axis] / used)) for axis in (READ, WRITE))
    most = 2 * max(read, write)
    return Capacity(read=read, write=write, scaling=ScalingPolicy(minimum=1, maximum=most))
