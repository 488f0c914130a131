"""Comparison: designs side by side under one workload."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeAlias

from emulator.capacity.units import read_units
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
from emulator.lab.analysis.world_runs import AT_ONCE, WorldCount
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.thresholds import FIRST_WORLDS, MOST_WORLDS, THRESHOLD
from emulator.lab.outcome.throttled import typical_throttling
from emulator.lab.outcome.world_outcome import WorldOutcome
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known
from emulator.lab.world import expected_bytes
from emulator.settings import Settings

#: Called with a sentence that is known before the end, such as the first verdict on a design.
Announce: TypeAlias = Callable[[str], None]

#: Seconds between two reports of progress while others work.
_LOOK: Final = 1.0
WRONG_ORDER: Final = (
    "compare() takes a workload first and then a list of designs, not {first} and {second}"
)
NEEDS_MEMORY: Final = (
    "design {design!r}: {worlds} of this load would take about {needed} of memory, and {most} are "
    "allowed: play fewer worlds or a shorter run, or allow more with --memory"
)
#: A pattern that finds an item in a smaller share of its reads is mentioned in the report.
_FOUND: Final = 0.5


class _Step(Enum):
    """A step of the study of a design, as progress calls it."""

    FIRST = "first worlds"
    WORLDS = "worlds"
    UNKNOWNS = "unknowns"
    HEADROOM = "headroom"
    FIX = "fixes"


#: A step, and the number of a design.
_Task: TypeAlias = tuple[_Step, int]
_DOES: Final[Mapping[_Step, Callable[..., Any]]] = {
    _Step.FIRST: first_outcomes,
    _Step.WORLDS: play_on,
    _Step.UNKNOWNS: unknowns_of,
    _Step.HEADROOM: headroom_of,
    _Step.FIX: fix_of,
}
#: The step whose result each of the others needs.
_NEEDS: Final[Mapping[_Step, _Step]] = {
    _Step.WORLDS: _Step.FIRST,
    _Step.UNKNOWNS: _Step.WORLDS,
    _Step.HEADROOM: _Step.WORLDS,
    _Step.FIX: _Step.WORLDS,
}


class Executor(Protocol):
    """What runs tasks somewhere else: ``concurrent.futures`` has several."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run a function with arguments somewhere, and return its future."""


def compare(
    workload: Workload,
    designs: Sequence[Design],
    *,
    engine: Literal["auto", "exact", "aggregate"] = "auto",
    worlds: int | None = None,
    seeds: Sequence[int] | None = None,
    quick: bool = False,
    settings: Settings | None = None,
    known: Collection[str] = (),
    title: str = "",
    headroom: bool = True,
    sensitivity: bool = True,
    fix: bool = True,
    time_limit: float | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> result_types.Comparison:
    """Play every design in many worlds and say how likely each throttles, why, and at what cost.

    A world is one draw of what AWS does not publish. Without ``worlds`` 20 are played, then 100,
    400 and 1,600, until the grade is decided; every design meets the same worlds.

    Args:
        workload: The requests, and how often they are made.
        designs: One or more ways to lay out the data.
        engine: ``exact`` runs the real emulator request by request; ``aggregate``, which is what
            ``auto`` means, plays many worlds at once, in numbers.
        worlds: The number of worlds, and no more.
        seeds: As many worlds as there are seeds, from the first one on; ``workload.seed``
            is the first by default.
        quick: Stop after 20 worlds.
        settings: What is known of the service; a setting other than its default is the same
            in every world.
        known: Settings that are the same in every world even if they have their default.
        title: For reports.
        headroom: Search for the largest load that passes.
        sensitivity: Find out which unknown moves the answer, and by how much.
        fix: Look for the smallest change that helps a design that throttles.
        time_limit: Seconds for all of it, None for no limit; the first 20 worlds of each design
            are played anyway, and the notes name what is left.
        memory: Refuse what would take more bytes than this at once; None for no limit.
        executor: Where designs are studied; in this process by default.
        progress: Called with what is being done, how far it is, and how much there is.
        announce: Called with the first verdict on each design, long before the end.

    Raises:
        ValueError: A design does not fit the workload.

    >>> from emulator.lab import Capacity, Field, Pattern
    >>> workload = Workload(
    ...     fields=[Field("userId", count=50)],
    ...     patterns=[Pattern("save", "PutItem", rate=20)],
    ...     duration=10,
    ...     warm_up=60,
    ... )
    >>> small = Design("small", partition="{userId}", capacity=Capacity(read=5, write=2))
    >>> quickly = {"headroom": False, "sensitivity": False, "fix": False}
    >>> result = compare(workload, [small], worlds=3, **quickly)
    >>> result.design("small").grade, result.design("small").ages.lived.risk.chance
    ('throttles', 1.0)
    """
    _check_order(workload, designs)
    _check(designs, worlds)
    count = WorldCount(
        most=FIRST_WORLDS if quick else MOST_WORLDS,
        exactly=len(seeds) if seeds and worlds is None else worlds,
    )
    layouts = [Layout(design, workload) for design in designs]
    if memory is not None and engine != "exact":
        _check_memory(layouts, count, memory)
    options = StudyOptions(
        engine="exact" if engine == "exact" else "aggregate",
        first=seeds[0] if seeds else workload.seed,
        count=count,
        known=Known(settings or Settings(), frozenset(known)),
        headroom=headroom,
        sensitivity=sensitivity,
        fix=fix,
        deadline=Deadline(time_limit),
    )
    results, undecided = _studied(layouts, options, _Crew(executor, progress), announce)
    most = max(len(result.worlds) for result in results)
    return result_types.Comparison(
        title=title,
        workload=workload.to_document(),
        engine=options.engine,
        duration_seconds=float(workload.duration),
        seeds=tuple(range(options.first, options.first + most)),
        designs=results,
        notes=(
            *_left_undone(undecided, options.deadline, time_limit),
            *_missed_peaks(workload),
            *_guessed_tables(layouts),
            *_missed_items(layouts, results),
        ),
    )


def _missed_peaks(workload: Workload) -> Iterator[str]:
    """Yield which patterns never reach their peak in the run: nothing is said of that hour."""
    for name, (reached, highest) in workload.missed_peaks().items():
        yield (
            f"{name} reaches {words.count(reached)} requests a second in this run and never its "
            f"peak of {words.count(highest)}: choose a start or a duration that has it"
        )


def _guessed_tables(layouts: Sequence[Layout]) -> Iterator[str]:
    """Yield which patterns were played on a table that nothing says is theirs."""
    for layout in layouts:
        for pattern in layout.guessed:
            names = ", ".join(table.name for table in layout.tables)
            yield (
                f"{pattern.name} is played on {layout.table_of(pattern).name}, the first table of "
                f"{layout.design.name}: name its table as its entity ({names})"
            )


def _missed_items(
    layouts: Sequence[Layout], results: Sequence[result_types.DesignResult]
) -> Iterator[str]:
    """Yield which patterns ask for large items that are mostly not there: a miss costs little."""
    found: dict[str, float] = {}
    for layout, result in zip(layouts, results, strict=True):
        for read in result.patterns:
            pattern = layout.workload.pattern(read.name)
            size = pattern.sizes.mean
            items = (read.attempts - read.refusals) * (
                pattern.actions if pattern.is_transaction else 1
            )
            costs_more = read_units(round(size)) > read_units(0)
            if find_path(layout, pattern).kind == "get" and costs_more and items > 0:
                share = read.evaluated_bytes / (items * size)
                found[read.name] = min(share, found.get(read.name, 1.0))
    for name, share in found.items():
        if share < _FOUND:
            yield (
                f"{name} finds no item in most of its reads, and such a read costs little: "
                "preload what is stored in production"
            )


def _check_order(workload: object, designs: object) -> None:
    """Refuse designs in place of the workload, which is where ``sweep`` has them."""
    if not isinstance(workload, Workload) or not isinstance(designs, Sequence):
        first, second = type(workload).__name__, type(designs).__name__
        raise TypeError(WRONG_ORDER.format(first=first, second=second))


def _check_memory(layouts: Sequence[Layout], count: WorldCount, most: int) -> None:
    """Refuse designs whose worlds would take too much memory at once."""
    worlds = min(AT_ONCE, count.exactly or count.most)
    for layout in layouts:
        needed = expected_bytes(layout, worlds)
        if needed > most:
            raise ValueError(
                NEEDS_MEMORY.format(
                    design=layout.design.name,
                    worlds=words.counted(worlds, "world"),
                    needed=words.size(needed),
                    most=words.size(most),
                )
            )


def _check(designs: Sequence[Design], worlds: int | None) -> None:
    if not designs:
        raise ValueError("compare() needs at least one design")
    if len({design.name for design in designs}) < len(designs):
        raise ValueError("two designs have the same name")
    if worlds is not None and worlds < 1:
        raise ValueError("compare() plays at least one world")


def _studied(
    layouts: Sequence[Layout], options: StudyOptions, crew: _Crew, announce: Announce | None
) -> tuple[tuple[result_types.DesignResult, ...], dict[str, float]]:
    """Return the result of every design, and the seconds that undecided ones would still need.

    The first verdict on each is announced as soon as it is known.
    """
    done: dict[_Task, Any] = {}
    numbers = range(len(layouts))

    def begin(step: _Step, number: int) -> Callable[..., Any]:
        """Return a step of the study of a design, with what it needs of one before."""
        known = [done[_NEEDS[step], number]] if step in _NEEDS else []
        return partial(_DOES[step], layouts[number], options, *known)

    def follow(task: _Task, result: Any) -> list[_Task]:
        """Take a step's result, and return the steps of that design which can begin now."""
        done[task] = result
        step, number = task
        if step is _Step.FIRST and announce is not None:
            announce(first_verdict(layouts[number].design.name, result))
        return [(after, number) for after, needed in _NEEDS.items() if needed is step]

    crew.run([(_Step.FIRST, number) for number in numbers], begin, follow)
    undecided = {
        layouts[number].design.name: needed
        for number in numbers
        if (needed := done[_Step.WORLDS, number].needed) is not None
    }
    results = tuple(
        conclude(
            layouts[number],
            done[_Step.WORLDS, number],
            done[_Step.HEADROOM, number],
            done[_Step.FIX, number],
            done[_Step.UNKNOWNS, number],
        )
        for number in numbers
    )
    return results, undecided


def _left_undone(
    undecided: Mapping[str, float], deadline: Deadline, time_limit: float | None
) -> Iterator[str]:
    """Yield what the time limit left undone, and what that would have needed."""
    if time_limit is None or not (undecided or deadline.has_passed()):
        return
    names = [
        f"{name} (more worlds need up to {words.duration(needed)})"
        for name, needed in undecided.items()
    ]
    of = f"; the grade is not decided of {', '.join(names)}" if names else ""
    yield (
        f"the time limit of {words.duration(time_limit)} was reached, and the searches for "
        f"headroom, fixes and unknowns ended there{of}: --time-limit allows more"
    )


def first_verdict(name: str, outcomes: Sequence[WorldOutcome]) -> str:
    """Return the verdict of the first worlds on a design."""
    hits = sum(outcome.throttles for outcome in outcomes)
    typical = typical_throttling(outcomes)
    if typical is None:
        return f"{name} holds in all of the first {words.counted(len(outcomes), 'world')}"
    of = f"{hits} of the first {words.counted(len(outcomes), 'world')}"
    return f"{name} throttles in {of}; {_how(typical)}"


def _how(outcome: WorldOutcome) -> str:
    """Return how a world throttles: now, or once an index has fallen behind too far (CAP2-4)."""
    if outcome.throttled_share < THRESHOLD and outcome.closes_after is not None:
        return (
            "if this load goes on, an index closes after "
            f"{words.duration(outcome.closes_after)} and every write is refused"
        )
    return f"{words.of_calls(outcome.throttled_share)} are refused then"


def _tell_of_all(
    progress: Progress, finished: int, tasks: int, what: str, done: float, total: int
) -> None:
    """Say how far all tasks are, given how far one of them is."""
    progress(what, finished + done / total, tasks)


class _Crew:
    """Does tasks one after the other here, or several at once on an executor."""

    def __init__(self, executor: Executor | None, progress: Progress | None) -> None:
        self._executor = executor
        self._progress = progress

    def run(
        self,
        tasks: Sequence[_Task],
        begin: Callable[[_Step, int], Callable[..., Any]],
        follow: Callable[[_Task, Any], list[_Task]],
    ) -> None:
        """Do tasks, and those that follow from their results.

        Args:
            tasks: The first ones.
            begin: Returns what a task does.
            follow: Takes a result, and returns the tasks that can begin now.
        """
        total = len(tasks) * len(_Step)
        if self._executor is None:
            waiting = deque(tasks)
            for finished in range(total):
                task = waiting.popleft()
                tell = self._progress and partial(_tell_of_all, self._progress, finished, total)
                waiting += follow(task, begin(*task)(progress=tell))
            return
        share_done = getattr(self._executor, "share_done", lambda _: 0.0)
        running = {self._executor.submit(begin(*task)): task for task in tasks}
        finished = 0
        while running:
            if self._progress is not None:
                step, _ = next(iter(running.values()))
                self._progress(step.value, finished + sum(map(share_done, running)), total)
            ended, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in [own for own in running if own in ended]:
                finished += 1
                for task in follow(running.pop(future), future.result()):
                    running[self._executor.submit(begin(*task))] = task
