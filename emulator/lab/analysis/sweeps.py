"""Sweeps: the same comparison at every point of a grid, on as many cores as there are.

Any object with ``submit(function, *arguments)`` that answers futures will do as executor: a
``ProcessPoolExecutor`` (the default), a thread pool, Dask's ``client.get_executor()``, or Ray
through ``RayExecutor``. Points that the result file has already are not run again, and a part of
the points can be run by itself: ``sweep_files.merged`` joins the files of all parts.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from emulator.lab.analysis.comparison import Executor, compare
from emulator.lab.analysis.sweep_files import SweepFile, SweepRow, id_of
from emulator.lab.inputs.design import Design
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.result_types import Comparison, from_document, to_document
from emulator.lab.outcome.sweep import Sweep as Sweep
from emulator.lab.outcome.sweep import SweepResult as SweepResult
from emulator.settings import Settings

#: One point of the grid: parameter to value.
Point: TypeAlias = Mapping[str, float]
Designs: TypeAlias = Sequence[Design] | Callable[[Point], Sequence[Design]]
Load: TypeAlias = Workload | Callable[[Point], Workload]
#: Called with how many points are done and how many there are.
Progress: TypeAlias = Callable[[int, int], None]

#: Parameters of a workload that a grid may set by name.
WORKLOAD_PARAMETERS: Final[Mapping[str, Callable[[Workload, float], Workload]]] = {
    "load": lambda workload, value: workload.scaled(value),
    "skew": lambda workload, value: workload.skewed(value),
    "seed": lambda workload, value: replace(workload, seed=int(value)),
    "duration": lambda workload, value: replace(workload, duration=int(value)),
}


@dataclass(frozen=True)
class SweepPart:
    """One of several parts of a sweep: every ``count``-th point, from the ``number``-th on.

    >>> [SweepPart(2, 3).has(number) for number in range(1, 6)]
    [False, True, False, False, True]
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise ValueError(f"a part is one of 1 to {self.count}, not {self.number}")

    def has(self, number: int) -> bool:
        """Return whether the part has a point, numbered from 1."""
        return (number - self.number) % self.count == 0


WHOLE: Final = SweepPart(1, 1)
WRONG_ORDER: Final = (
    "sweep() takes a workload first and then a list of designs, or functions that return them; "
    "not {first} and {second}"
)
OLD_ORDER: Final = "sweep() takes the workload first and then the designs, as compare() does"


def sweep(
    workload: Load | Designs,
    designs: Designs | Load,
    *,
    over: Mapping[str, Sequence[float]],
    executor: Executor | None = None,
    results: Path | str | None = None,
    part: SweepPart = WHOLE,
    progress: Progress | None = None,
    engine: Literal["auto", "exact", "aggregate"] = "auto",
    worlds: int | None = None,
    seeds: Sequence[int] | None = None,
    quick: bool = False,
    settings: Settings | None = None,
    known: Collection[str] = (),
    headroom: bool = False,
    sensitivity: bool = False,
    fix: bool = False,
) -> Sweep:
    """Compare at every point of a grid.

    A name in ``over`` is a parameter of the designs' templates (``{hash(orderId) % shards}``),
    or one of the workload's: ``load`` (a multiple), ``skew`` (of every Zipf distribution),
    ``seed``, ``duration``. For anything else give designs, or the workload, as a function of
    the point; it runs here, and only its answer is sent to the executor.

    Args:
        workload: The workload, or a function from the point to it.
        designs: The designs, or a function from the point to them.
        over: Parameter to values; all combinations are run.
        executor: Where to run; processes of this machine by default.
        results: A file of JSON lines that keeps every point as it is done. A sweep that was
            interrupted goes on from there.
        part: Which of the points to run; all of them by default.
        progress: Called with how many points are done, and how many there are.
        engine: As in ``compare``.
        worlds: As in ``compare``.
        seeds: As in ``compare``.
        quick: As in ``compare``.
        settings: As in ``compare``.
        known: As in ``compare``.
        headroom: As in ``compare``.
        sensitivity: As in ``compare``.
        fix: As in ``compare``.

    Returns:
        The points of the part, in the order of the grid.

    Raises:
        TypeError: Designs and workload are not what is expected.
        ValueError: A name in ``over`` is no parameter of the designs or the workload.

    >>> from emulator.lab import Capacity, Design, Field, Pattern, Workload
    >>> workload = Workload(
    ...     fields=[
    ...         Field("status", values=["open", "done"]),
    ...         Field("orderId", unique="sequential"),
    ...     ],
    ...     patterns=[Pattern("place order", "PutItem", rate=50)],
    ...     duration=30,
    ...     warm_up=0,
    ... )
    >>> design = Design(
    ...     "by status",
    ...     partition="{status}#{hash(orderId) % shards}",
    ...     sort="{orderId}",
    ...     capacity=Capacity(read=10, write=100),
    ...     parameters={"shards": 1},
    ... )
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as executor:
    ...     grid = sweep(workload, [design], over={"shards": [1, 4]}, executor=executor, worlds=1)
    >>> [result.point for result in grid]
    [{'shards': 1}, {'shards': 4}]
    """
    load, variants = _in_order(workload, designs)
    options: dict[str, Any] = {
        "engine": engine,
        "worlds": worlds,
        "seeds": None if seeds is None else tuple(seeds),
        "quick": quick,
        "settings": settings,
        "known": tuple(sorted(known)),
        "headroom": headroom,
        "sensitivity": sensitivity,
        "fix": fix,
    }
    grid = [dict(zip(over, values, strict=True)) for values in product(*over.values())]
    tasks = _Tasks([_task(variants, load, point) for point in grid], options)
    file = SweepFile(None if results is None else Path(results))
    mine = [number for number in tasks.by_number if part.has(number)]
    done: dict[int, Comparison] = {}
    for number in mine:
        row = file.find(tasks.ids[number])
        if row is not None:
            done[number] = from_document(Comparison, row.comparison)
            file.keep(tasks.row(number, row.comparison))
    _tell(progress, len(done), len(mine))
    missing = [number for number in mine if number not in done]
    if missing:
        own: AbstractContextManager[Any] = (
            nullcontext(executor) if executor else ProcessPoolExecutor()
        )
        with own as pool:
            for number, comparison in _run(pool, tasks.by_number, missing, options):
                done[number] = comparison
                file.keep(tasks.row(number, to_document(comparison)))
                _tell(progress, len(done), len(mine))
    return Sweep(
        [SweepResult(dict(tasks.by_number[number].point), done[number]) for number in mine]
    )


@dataclass(frozen=True)
class _Task:
    """One point, with documents and not objects, so that any executor can carry it."""

    point: Point
    workload: dict[str, Any]
    designs: list[dict[str, Any]]

    @property
    def key(self) -> str:
        """What tells this task from every other."""
        return json.dumps([dict(self.point), self.workload, self.designs], sort_keys=True)


class _Tasks:
    """All tasks of a sweep by number, from 1, with their ids."""

    def __init__(self, tasks: Sequence[_Task], options: dict[str, Any]) -> None:
        stated = repr(sorted(options.items(), key=lambda entry: entry[0]))
        self.by_number = dict(enumerate(tasks, start=1))
        self.ids = {number: id_of(stated, task.key) for number, task in self.by_number.items()}
        self._sweep = id_of(*self.ids.values())

    def row(self, number: int, comparison: dict[str, Any]) -> SweepRow:
        """Return the line that keeps a result."""
        return SweepRow(
            id=self.ids[number],
            sweep=self._sweep,
            number=number,
            of=len(self.by_number),
            point=dict(self.by_number[number].point),
            comparison=comparison,
        )


def _in_order(workload: Any, designs: Any) -> tuple[Load, Designs]:
    """Return workload and designs, which 0.2.0 took the other way round."""
    if isinstance(workload, Sequence) or (callable(workload) and isinstance(designs, Workload)):
        workload, designs = designs, workload
        warnings.warn(OLD_ORDER, DeprecationWarning, stacklevel=3)
    are_designs = callable(designs) or isinstance(designs, Sequence)
    if not are_designs or not (callable(workload) or isinstance(workload, Workload)):
        first, second = type(workload).__name__, type(designs).__name__
        raise TypeError(WRONG_ORDER.format(first=first, second=second))
    return workload, designs


def _task(designs: Designs, workload: Load, point: Point) -> _Task:
    variants = list(designs(point)) if callable(designs) else list(designs)
    load = workload(point) if callable(workload) else workload
    for name, value in point.items():
        used = callable(designs) or callable(workload)
        if name in WORKLOAD_PARAMETERS and not callable(workload):
            load = WORKLOAD_PARAMETERS[name](load, value)
            used = True
        if not callable(designs) and any(name in design.parameters for design in variants):
            variants = [
                design.with_parameter(name, int(value)) if name in design.parameters else design
                for design in variants
            ]
            used = True
        if not used:
            known = sorted({*WORKLOAD_PARAMETERS, *(n for d in variants for n in d.parameters)})
            raise ValueError(
                f"{name!r} is not a parameter of this sweep; it has {', '.join(known)}"
            )
    documents = [design.to_document() for design in variants]
    return _Task(point, load.to_document(), documents)


def run_task(
    workload: dict[str, Any], designs: Iterable[dict[str, Any]], options: dict[str, Any]
) -> dict[str, Any]:
    """Compare at one point; documents in and out, so that it can run anywhere."""
    comparison = compare(
        Workload.from_document(workload),
        [Design.from_document(design) for design in designs],
        **options,
    )
    document: dict[str, Any] = to_document(comparison)
    return document


def _run(
    pool: Executor, tasks: Mapping[int, _Task], missing: Sequence[int], options: dict[str, Any]
) -> Iterator[tuple[int, Comparison]]:
    """Yield points as they are done."""
    futures = {
        pool.submit(run_task, tasks[number].workload, tasks[number].designs, options): number
        for number in missing
    }
    waiting = set(futures)
    while waiting:
        finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            yield futures[future], from_document(Comparison, future.result())


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


class RayExecutor:
    """Runs a sweep on Ray: on this machine, or on the cluster that ``ray.init`` joined.

    ``pip install ray`` first. A Ray object reference is turned into the future that a sweep
    waits for.

    Args:
        address: Of the cluster to join, unless ``ray.init`` was called before.
        processes: How many to run at once on this machine; one per core by default.

    >>> sweep(workload, designs, over={"shards": [1, 10]}, executor=RayExecutor())
    ... # doctest: +SKIP
    """

    def __init__(self, *, address: str | None = None, processes: int | None = None) -> None:
        import ray

        self._ray = ray
        self._begun = not ray.is_initialized()
        if self._begun:
            here = {"num_cpus": processes, "include_dashboard": False}
            options = here if address is None else {"address": address}
            ray.init(ignore_reinit_error=True, logging_level=logging.WARNING, **options)

    def close(self) -> None:
        """Leave the cluster, or end the one of this machine, if this executor started it."""
        if self._begun:
            self._ray.shutdown()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Run a function as a Ray task and return its future."""
        future: Future[Any] = self._ray.remote(function).remote(*arguments).future()
        return future
