"""The command ``dynamometer lab``.

Exit codes: 0 fine, 1 a verdict that the file asks for failed, 2 wrong usage or a broken file, said
in one sentence, 130 interrupted. Reports go to standard output, progress and complaints to
standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emulator.designs import Finding
from emulator.lab.command_line import FAILED, FINE, answered, whole_number
from emulator.lab.inputs.documents import Entry
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.progress import shown_progress
from emulator.service.errors import DocumentError

if TYPE_CHECKING:
    from emulator.lab.analysis.comparison import Executor
    from emulator.lab.files import LabFile

#: What stands in the place of FILE to compare two results.
DIFF: Final = "diff"
#: Simulated seconds, over all designs, from which processes of their own pay.
_WORTH_PROCESSES: Final = 3_000

DEFAULT_PAGE: Final = "report.html"
_RUN_ONLY: Final = {"headroom": False, "fix": False, "sensitivity": False}
#: A check of a lab file runs no longer than this.
_CHECK_SECONDS: Final = 600

_LAB_DESCRIPTION: Final = (
    "Compare designs under a workload: what throttles, why, and what it costs. "
    "Without FILE: device events, the hour as partition key against the device."
)
_LAB_EPILOG: Final = """\
examples:
  dynamometer lab                            the built-in comparison; open report.html
  dynamometer lab shop.yaml --html shop.html
  dynamometer lab shop.yaml --duration 10m --quick
  dynamometer lab shop.yaml --json shop.json --svg pictures
  dynamometer lab diff before.json after.json

The first verdict comes after 20 worlds; more are played until the chance is known well enough.
Exit codes: 0 fine, 1 a promise under 'expect' in FILE is not kept, 2 wrong usage or a broken FILE,
130 interrupted.
"""


# lab


def add_lab_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer lab``."""
    parser.description = _LAB_DESCRIPTION
    parser.epilog = _LAB_EPILOG
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="*",
        help="a workload and its designs; see docs/how-to/lab.md; or: diff A.json B.json",
    )
    add("--html", metavar="OUT", default=DEFAULT_PAGE, help=f"the page; default: {DEFAULT_PAGE}")
    add("--no-html", action="store_true", help="write no page")
    add("--json", metavar="OUT", help="the data, as emulator.lab.Comparison.from_json reads it")
    add("--svg", metavar="DIR", help="every picture as a file of its own")
    add("--engine", choices=("auto", "exact", "aggregate"), help="default: auto, or what FILE says")
    add(
        "--worlds",
        type=whole_number(1),
        metavar="N",
        help="play exactly N worlds; default: 20 to 200",
    )
    add("--seed", type=whole_number(0), metavar="N", help="the seed of the first world; default: 0")
    add("--duration", metavar="TIME", help="how long the run is, such as 90s, 15m or 1h")
    add("--quick", action="store_true", help="20 worlds only: no headroom, no fix, no sensitivity")
    for search in _RUN_ONLY:
        add(f"--no-{search}", action="store_true", help=f"leave out the {search}")
    add(
        "--time-limit",
        metavar="TIME",
        default="2m",
        help="for headroom, fix and sensitivity of a design, each; default: %(default)s",
    )
    add("--markdown", action="store_true", help="of diff: a table for a pull request")


def run_lab(arguments: argparse.Namespace) -> int:
    """Compare the designs of a file, or the built-in ones; 1 if a promise of the file fails."""
    return answered(_lab, arguments)


def _lab(arguments: argparse.Namespace) -> int:
    from emulator.lab.report import print_report

    if arguments.files[:1] == [DIFF]:
        return _diff(arguments)
    if len(arguments.files) > 1:
        raise DocumentError("one FILE at a time; to compare two results: lab diff A.json B.json")
    _check_places(arguments)
    name = arguments.files[0] if arguments.files else None
    file = _built_in() if name is None else _read(Path(name))
    comparison = _compared(file, arguments, name or "built-in comparison")
    written = list(_written(comparison, arguments))
    print_report(comparison, sys.stdout)
    sys.stdout.write("".join(f"\nwrote {path}" for path in written) + "\n")
    failed = file.failures(comparison)
    for complaint in failed:
        sys.stderr.write(f"dynamometer: {complaint}\n")
    return FAILED if failed else FINE


def _check_places(arguments: argparse.Namespace) -> None:
    """Complain before a long run about files that could not be written after it."""
    for name in (None if arguments.no_html else arguments.html, arguments.json):
        if name is not None and not Path(name).absolute().parent.is_dir():
            raise DocumentError(f"{name}: there is no directory to write it in")


def _built_in() -> LabFile:
    from emulator.lab.files import LabFile
    from emulator.lab.inputs.builtin import TITLE, device_events, hour_and_device

    return LabFile(title=TITLE, workload=device_events(), designs=hour_and_device())


def _read(path: Path) -> LabFile:
    """Read a lab file; without a title it is called by its name."""
    from emulator.lab.files import load

    file = load(path)
    return file if file.title else replace(file, title=path.stem)


def _compared(file: LabFile, arguments: argparse.Namespace, source: str) -> Comparison:
    """Run the comparison as the command line wants it."""
    options = file.arguments()
    if arguments.duration is not None:
        seconds = Entry(arguments.duration, field="--duration", source="command line").seconds()
        options["workload"] = replace(options["workload"], duration=seconds)
    if arguments.engine is not None:
        options["engine"] = arguments.engine
    if arguments.worlds is not None:
        options["worlds"] = arguments.worlds
    if arguments.seed is not None:
        options["workload"] = replace(options["workload"], seed=arguments.seed)
        if options["seeds"]:
            options |= {"seeds": None, "worlds": options["worlds"] or len(options["seeds"])}
    if arguments.quick:
        options |= {"quick": True, **_RUN_ONLY}
    for search in _RUN_ONLY:
        if getattr(arguments, f"no_{search}"):
            options[search] = False
    limit = Entry(arguments.time_limit, field="--time-limit", source="command line").seconds()
    return _run(options | {"time_limit": limit}, source, announces=True)


def _run(options: dict[str, Any], source: str, *, announces: bool = False) -> Comparison:
    """Run a comparison, telling how far it is; complain of what does not fit."""
    from emulator.lab.analysis.comparison import compare

    with shown_progress(sys.stderr) as shown, _cores(options) as executor:
        announce = shown.announce if announces else None
        try:
            return compare(**options, executor=executor, progress=shown.tell, announce=announce)
        except ValueError as error:
            raise DocumentError(f"{source}: {error}") from error


def _cores(options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Return processes to study designs in, or nothing where they would not pay."""
    designs, seconds = len(options["designs"]), options["workload"].duration
    cores = min(designs, os.cpu_count() or 1)
    if cores < 2 or designs * seconds < _WORTH_PROCESSES or options["engine"] == "exact":
        return nullcontext()
    return _processes(cores)


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    """Yield processes that end with this one, also when it is interrupted."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    pool = ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=_leave_interrupts
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.terminate()
        raise
    pool.shutdown()


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the process that waits for this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _diff(arguments: argparse.Namespace) -> int:
    """Print what changed between two saved results."""
    from emulator.lab.report.diff import diff_report

    names = arguments.files[1:]
    if len(names) != 2:
        raise DocumentError("diff takes two files that --json wrote: lab diff A.json B.json")
    before, after = (_saved(Path(name)) for name in names)
    sys.stdout.write(diff_report(before, after, markdown=arguments.markdown))
    return FINE


def _saved(path: Path) -> Comparison:
    """Read a result that ``--json`` wrote."""
    try:
        return Comparison.from_json(path.read_text(encoding="utf-8"))
    except (ValueError, TypeError, KeyError) as error:
        raise DocumentError(f"{path}: not a result that 'lab --json' wrote") from error


def _written(comparison: Comparison, arguments: argparse.Namespace) -> Iterator[str]:
    """Write the files that were asked for and yield their names."""
    from emulator.lab.report import charts, html_page, standalone

    if not arguments.no_html:
        Path(arguments.html).write_text(html_page(comparison), encoding="utf-8")
        yield arguments.html
    if arguments.json is not None:
        Path(arguments.json).write_text(comparison.to_json(indent=1) + "\n", encoding="utf-8")
        yield arguments.json
    if arguments.svg is not None:
        directory = Path(arguments.svg)
        directory.mkdir(parents=True, exist_ok=True)
        for chart in charts(comparison):
            picture = standalone(chart.svg, f"{chart.title}: {chart.caption}")
            directory.joinpath(f"{chart.name}.svg").write_text(picture, encoding="utf-8")
        yield f"{arguments.svg}/*.svg"


# What 'dynamometer check' asks of a lab file


def lab_findings(path: Path) -> list[Finding]:
    """Return the advice on every design of a lab file, after a short run of its workload.

    Raises:
        DocumentError: The file cannot be used.
    """
    file = _read(path)
    workload = replace(file.workload, duration=min(file.workload.duration, _CHECK_SECONDS))
    changes = {
        "workload": workload,
        "seeds": None,
        "worlds": None,
        "quick": True,
        "engine": "aggregate",
    }
    return [
        finding
        if finding.subject == design.name
        else replace(finding, subject=f"{design.name}: {finding.subject}")
        for design in _run(file.arguments() | changes | _RUN_ONLY, str(path)).designs
        for finding in design.findings
    ]
