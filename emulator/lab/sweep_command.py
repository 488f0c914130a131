"""The command ``dynamometer sweep``: the designs of a lab file at every point of a grid.

Parts of a sweep run on any number of machines; their files are merged. Exit codes: 0 fine, 1 the
merged parts lack points, 2 wrong usage or a broken file, 130 interrupted.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from socket import create_connection
from typing import Any, Final
from urllib.parse import urlsplit

from emulator.command_line import FAILED, FINE, answered, whole_number
from emulator.lab.analysis.sweep_files import SweepRow, merged
from emulator.lab.analysis.sweeps import WORKLOAD_PARAMETERS, RayExecutor, SweepPart, sweep
from emulator.lab.inputs.documents import Entry
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison, from_document
from emulator.lab.progress import shown_progress
from emulator.service.errors import DocumentError

_PART: Final = re.compile(r"(\d+)/(\d+)")
_KEPT: Final = "interrupted; finished points are kept; run the same command to continue"
_NO_FILE: Final = (
    "name a lab file and --over; or --merge OUT PART...; see 'dynamometer sweep --help'"
)
_LACKING: Final = "{count} of {of} points are missing: {numbers}; run their parts, then merge again"
_MOST_NAMED: Final = 20
PROCESSES: Final = "processes"
_INSTALLED_BY: Final = {"dask": "distributed"}
#: How long a Dask scheduler may take to answer.
_DASK_SECONDS: Final = 10
#: Until a cluster of Ray has to answer at its port.
_RAY_SECONDS: Final = 10.0
_EPILOG: Final = """\
examples:
  dynamometer sweep shop.yaml --over shards=1,2,4,8 --over load=0.5,1,2 --out shop.jsonl
  dynamometer sweep shop.yaml --over shards=1,2,4,8 --part 3/16 --out part-3.jsonl
  dynamometer sweep --merge shop.jsonl part-*.jsonl
  dynamometer sweep shop.yaml --over shards=1,2,4,8 --executor ray --address auto
  dynamometer sweep shop.yaml --over shards=1,2,4,8 --executor dask --address tcp://scheduler:8786

A name under --over is a parameter of the designs' templates, or one of the workload's: load (a
multiple), skew (of every Zipf distribution), seed, duration. Part I of N has every N-th point,
from the I-th on, so a CI matrix, a batch array or Slurm (--part $SLURM_ARRAY_TASK_ID/16) can run
them side by side. Points that OUT already has are not run again. Ray and Dask have to be installed
separately; without --address they run on this machine.

Exit codes: 0 fine, 1 points are missing after a merge, 2 wrong usage or a broken file, 130
interrupted.
"""


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer sweep``."""
    parser.description = "Compare the designs of a lab file at every point of a grid."
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("files", metavar="FILE", nargs="*", help="a lab file; with --merge, the files of the parts")
    add(
        "--over",
        metavar="NAME=V1,V2,...",
        action="append",
        default=[],
        help="a parameter and its values; may be repeated, and all combinations are run",
    )
    add("--part", metavar="I/N", type=_part, default=SweepPart(1, 1), help="run part I of N only")
    add("--out", metavar="OUT", help="a file of JSON lines to which every finished point is added")
    add("--merge", metavar="OUT", help="join the files of all parts into OUT")
    add("--jobs", metavar="N", type=whole_number(1), help="processes; default: one per core")
    add(
        "--executor",
        choices=tuple(_EXECUTORS),
        default=PROCESSES,
        help="what runs the points; default: %(default)s",
    )
    add("--address", metavar="ADDRESS", help="the address of the cluster, for ray or dask")
    add("--engine", choices=("auto", "exact", "aggregate"), help="default: auto, or what FILE says")
    add("--worlds", metavar="N", type=whole_number(1), help="play exactly N worlds at every point")
    add("--duration", metavar="TIME", help="how long each run is, such as 90s, 15m or 1h")
    add("--quick", action="store_true", help="at most 20 worlds at every point")
    add("--headroom", action="store_true", help="also search for the headroom at every point")


def _part(text: str) -> SweepPart:
    match = _PART.fullmatch(text)
    try:
        if match is not None:
            return SweepPart(int(match[1]), int(match[2]))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    raise argparse.ArgumentTypeError(f"a part is written as 3/16, not {text!r}")


def run_sweep(arguments: argparse.Namespace) -> int:
    """Run a part of a sweep, or merge the parts; print a line for every point and design."""
    return answered(_merge if arguments.merge is not None else _sweep, arguments, _KEPT)


def _sweep(arguments: argparse.Namespace) -> int:
    if len(arguments.files) != 1 or not arguments.over:
        raise DocumentError(_NO_FILE)
    path = Path(arguments.files[0])
    with shown_progress(sys.stderr) as shown, _executor(arguments) as executor:
        try:
            results = sweep(
                **_options(path, arguments),
                over=_grid(arguments.over),
                part=arguments.part,
                results=arguments.out,
                executor=executor,
                progress=lambda done, total: shown.tell("points", done, total),
            )
        except ValueError as error:
            raise DocumentError(f"{path}: {error}") from error
    _print((result.point, result.comparison) for result in results)
    if arguments.out is not None:
        sys.stdout.write(f"\nwrote {arguments.out}\n")
    return FINE


def _options(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of ``sweep``, of the file and of the command line."""
    from emulator.lab.files import load

    options = load(path).arguments()
    del options["title"]
    if arguments.duration is not None:
        seconds = Entry(arguments.duration, field="--duration", source="command line").seconds()
        options["workload"] = replace(options["workload"], duration=seconds)
    for name in ("engine", "worlds"):
        if getattr(arguments, name) is not None:
            options[name] = getattr(arguments, name)
    return options | {"quick": arguments.quick, "headroom": arguments.headroom}


def _grid(texts: Sequence[str]) -> dict[str, list[float]]:
    """Return parameters with their values.

    >>> _grid(["shards=1,2", "load=0.5"])
    {'shards': [1, 2], 'load': [0.5]}
    """
    grid: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or name in grid:
            complaint = "is given twice" if name in grid else "is written as NAME=V1,V2"
            raise DocumentError(f"--over {text}: a parameter {complaint}")
        grid[name] = [_value(name, value) for value in values.split(",")]
    return grid


def _value(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf or (number != int(number) and name not in WORKLOAD_PARAMETERS):
        raise DocumentError(f"--over {name}: expected numbers, found {text!r}")
    return int(number) if number == int(number) else number


def _executor(arguments: argparse.Namespace) -> AbstractContextManager[Any]:
    """Return the executor that plays the points.

    Raises:
        DocumentError: It is not installed, cannot be reached, or has no address.
    """
    name, address = arguments.executor, arguments.address
    if name == PROCESSES:
        if address is not None:
            raise DocumentError("--address goes with --executor ray or dask")
    elif address is not None and arguments.jobs is not None:
        raise DocumentError("--jobs is for this machine; a cluster at --address has its own size")
    try:
        executor: AbstractContextManager[Any] = _EXECUTORS[name](arguments.jobs, address)
    except ModuleNotFoundError as missing:
        needed = _INSTALLED_BY.get(name, name)
        raise DocumentError(
            f"--executor {name} needs the module {missing.name}: pip install {needed}"
        ) from missing
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DocumentError(f"--executor {name}: {reason}") from error
    return executor


def _processes(jobs: int | None, _address: str | None) -> AbstractContextManager[Any]:
    """Return processes, or what runs here if one is enough."""
    count = jobs or os.cpu_count() or 1
    if count == 1:
        return nullcontext(_Inline())
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"))


def _ray(jobs: int | None, address: str | None) -> AbstractContextManager[Any]:
    if address is not None:
        _reach(address)
    return closing(RayExecutor(address=address, processes=jobs))


def _reach(address: str) -> None:
    """See that a port answers: Ray itself waits for minutes for one that does not.

    Raises:
        OSError: Nothing listens there. An address without a port is left to Ray.
    """
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname is None or place.port is None:
        return
    try:
        create_connection((place.hostname, place.port), timeout=_RAY_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"nothing answers at {place.hostname}:{place.port}: {reason}") from error


def _dask(jobs: int | None, address: str | None) -> AbstractContextManager[Any]:
    from distributed import Client

    client = (
        Client(address, timeout=_DASK_SECONDS)
        if address is not None
        else Client(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    )
    return _DaskExecutor(client)


class _DaskExecutor(AbstractContextManager[Any]):
    """The executor of a Dask client, which ends with it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __enter__(self) -> Any:
        return self._client.get_executor()

    def __exit__(self, *_: object) -> None:
        self._client.close()


#: What makes an executor: of a number of processes, and of a cluster's address.
_EXECUTORS: Final[dict[str, Callable[[int | None, str | None], AbstractContextManager[Any]]]] = {
    PROCESSES: _processes,
    "ray": _ray,
    "dask": _dask,
}


class _Inline:
    """Runs in this process when its future is asked for: one point after the other."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # as any executor: it is the caller's
            future.set_exception(error)
        return future


def _merge(arguments: argparse.Namespace) -> int:
    parts = [Path(name) for name in arguments.files]
    if not parts:
        raise DocumentError(_NO_FILE)
    joined = merged(parts)
    Path(arguments.merge).write_text("".join(row.line() for row in joined.rows), encoding="utf-8")
    _print(_results(joined.rows))
    sys.stdout.write(f"\nwrote {arguments.merge}\n")
    if not joined.missing:
        return FINE
    numbers = ", ".join(map(str, joined.missing[:_MOST_NAMED]))
    more = ", ..." if len(joined.missing) > _MOST_NAMED else ""
    total = len(joined.rows) + len(joined.missing)
    sentence = _LACKING.format(count=len(joined.missing), of=total, numbers=f"{numbers}{more}")
    sys.stderr.write(f"dynamometer: {sentence}\n")
    return FAILED


def _results(rows: Iterable[SweepRow]) -> Iterator[tuple[dict[str, float], Comparison]]:
    for row in rows:
        yield dict(row.point), from_document(Comparison, row.comparison)


def _print(results: Iterable[tuple[dict[str, float], Comparison]]) -> None:
    """Print a line for every point and design."""
    lines = [("point", "design", "grade", "worlds that throttle", "calls throttled", "month")]
    for point, comparison in results:
        shown = " ".join(f"{name}={value:g}" for name, value in point.items())
        for design in comparison.designs:
            chance = words.NONE if design.risk is None else words.percent(design.risk.chance)
            share = words.percent(design.throttled_share)
            month = words.dollars(design.cost.total)
            lines.append((shown, design.name, design.grade, chance, share, month))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        text = "  ".join(
            f"{cell:<{width}}" if column < 3 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        sys.stdout.write(f"{text.rstrip()}\n".replace(words.SPACE, " "))
