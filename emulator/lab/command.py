"""The command ``dynamometer lab``.

Exit codes: 0 fine, 1 a verdict that the file asks for failed, 2 wrong usage or a broken file, said
in one sentence, 130 interrupted. Reports go to standard output, progress and complaints to
standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emulator.command_line import FAILED, FINE, answered, whole_number
from emulator.designs import Finding
from emulator.designs.files import declares_tables
from emulator.lab.declared_tables import (
    StatedRun,
    add_load_arguments,
    check_flags,
    check_saving,
    stated_run,
)
from emulator.lab.inputs import agent_models
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.workload import AGES
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.progress import shown_progress
from emulator.service.errors import DocumentError
from emulator.step_summary import append_to_step_summary

if TYPE_CHECKING:
    from emulator.lab.files import LabFile

#: Simulated seconds, over all designs, from which processes of their own pay.
_WORTH_PROCESSES: Final = 200

DEFAULT_PAGE: Final = "report.html"
_NOT_COMPARED: Final = (
    "\nNo pattern of the workload is of an operation whose refusals were measured, so there is "
    "nothing to compare.\n"
)
_RUN_ONLY: Final = {"headroom": False, "fix": False, "sensitivity": False}
#: A check of a lab file runs no longer than this.
_CHECK_SECONDS: Final = 600

_SEVERAL: Final = (
    "several files at a time take --no-html and no --json; to compare two results: diff A.json "
    "B.json"
)
_LAB_DESCRIPTION: Final = (
    "Compare designs under a workload: what throttles, why, and what it costs.\n"
    "Without PATH, it compares the hour and the device as partition keys for device events."
)
_LAB_EPILOG: Final = """\
examples:
  dynamometer lab                            the built-in comparison; open report.html
  dynamometer lab infra --rate 500           the tables of a Terraform folder, at 500 requests/s
  dynamometer lab infra --keys orders.byStatus=5 --save lab.yaml
  dynamometer lab shop.yaml --html shop.html
  dynamometer lab shop.yaml --duration 10m --quick
  dynamometer lab shop.yaml --json shop.json --svg pictures
  dynamometer diff before.json after.json
  dynamometer lab dynamodb_data_model.json --perf-summary perf_summary.json
  dynamometer lab shop.yaml --traffic metrics.json --traffic insights.json

The first verdict comes after 20 worlds; more are played until the chance is known well enough.
Exit codes: 0 fine, 1 a promise under 'expect' in FILE is broken, 2 wrong usage or a broken FILE,
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
        metavar="PATH",
        nargs="*",
        help="what declares tables (Terraform, CloudFormation, SAM, serverless.yml, cdk.out, "
        "Workbench, describe-table; a folder of these), or a lab file, as 'dynamometer schema lab' "
        "describes; several need --no-html",
    )
    page = f"write the report as a page to OUT; default: {DEFAULT_PAGE}"
    add("--html", metavar="OUT", default=DEFAULT_PAGE, help=page)
    add("--no-html", action="store_true", help="write no page")
    add("--json", metavar="OUT", help="write the data, for emulator.lab.Comparison.from_json")
    add("--junit", metavar="OUT", help="write JUnit XML: a suite per design, a case per promise")
    add("--svg", metavar="DIR", help="write every picture as a file in DIR")
    add("--shrink", metavar="OUT", help="write the smallest workload that still throttles to OUT")
    add("--age", choices=AGES, help="tables that meet the load first, or have lived with it")
    add("--lesson", metavar="NAME", help="play a figure that is often quoted, and nothing else")
    add("--lessons", action="store_true", help="list these figures")
    add("--engine", choices=("auto", "exact", "aggregate"), help="default: auto, or what FILE says")
    add(
        "--worlds",
        type=whole_number(1),
        metavar="N",
        help="play N worlds and no more; default: 20, 100, 400 or 1,600",
    )
    add("--seed", type=whole_number(0), metavar="N", help="the seed of the first world; default: 0")
    add("--duration", metavar="TIME", help="how long the run is, such as 90s, 15m or 1h")
    add("--quick", action="store_true", help="20 worlds only: no headroom, no fix, no sensitivity")
    for search in _RUN_ONLY:
        add(f"--no-{search}", action="store_true", help=f"leave out the {search}")
    add(
        "--time-limit",
        metavar="TIME",
        default="60s",
        help="stop after this time with what is known; the first 20 worlds of each design are "
        "played anyway; default: %(default)s",
    )
    add(
        "--memory",
        metavar="SIZE",
        default="2 GB",
        help="refuse a run that would take more memory at once; default: %(default)s",
    )
    add_load_arguments(parser.add_argument_group("the load of declared tables").add_argument)
    _add_input_arguments(parser.add_argument_group("models and traffic").add_argument)


def _add_input_arguments(add: Callable[..., object]) -> None:
    add("--tables", metavar="PATH", help="the file that declares the tables if a model has no keys")
    add(
        "--traffic",
        metavar="FILE",
        action="append",
        default=[],
        help="CloudWatch metrics, a Contributor Insights report, CloudTrail events, a trace, or "
        "counts by minute; may be repeated",
    )
    add(
        "--map",
        metavar="ID=METRIC",
        action="append",
        default=[],
        help="which metric an id in the metrics file stands for, such as m1=requests_PutItem; may "
        "be repeated",
    )
    add("--anonymise", action="store_true", help="rename the keys of a Contributor Insights report")
    add("--perf-summary", metavar="OUT", help="write the agent toolkit's perf_summary.json")
    add("--design-findings", metavar="OUT", help="write the agent toolkit's design_findings.json")


def run_lab(arguments: argparse.Namespace) -> int:
    """Compare the designs of a file, or the built-in ones; 1 if a promise of the file fails."""
    return answered(_lab, arguments)


def _lab(arguments: argparse.Namespace) -> int:
    from emulator.lab.report.junit import JudgedPromise, junit_report

    if arguments.lessons or arguments.lesson is not None:
        sys.stdout.write(_lessons(arguments.lesson))
        return FINE
    if arguments.shrink is not None:
        return _shrunk(arguments)
    _check_places(arguments)
    results = []
    failed: list[str] = []
    for name in arguments.files or [None]:
        if name is not None and declares_tables(Path(name)):
            run = stated_run(Path(name), arguments)
            sys.stdout.write(run.opening)
            sys.stdout.flush()
            if run.text:
                results.append(JudgedPromise(_of_declared(run, arguments, name), []))
            continue
        check_flags(name or "the built-in comparison", arguments)
        file = _built_in() if name is None else _read(Path(name), arguments)
        file = _with_traffic(file, arguments)
        comparison = _reported(file, arguments, name)
        results.append(JudgedPromise(comparison, file.judgements(comparison)))
        failed += file.failures(comparison)
    if arguments.junit is not None:
        Path(arguments.junit).write_text(junit_report(results), encoding="utf-8")
        sys.stdout.write(f"wrote {arguments.junit}\n")
    for complaint in failed:
        sys.stderr.write(f"dynamometer: {complaint}\n")
    return FAILED if failed else FINE


def _shrunk(arguments: argparse.Namespace) -> int:
    """Write the smallest workload that still throttles a design, and a test beside it."""
    from emulator.lab.analysis.shrinking import shrink, test_of

    if len(arguments.files) > 1:
        raise DocumentError("--shrink takes one file")
    name = arguments.files[0] if arguments.files else None
    file = _built_in() if name is None else _read(Path(name), arguments)
    found = shrink(file.workload, file.designs, file.settings)
    if found is None:
        raise DocumentError(f"{name or 'built-in comparison'}: no design throttles at first")
    out = Path(arguments.shrink)
    document = {
        "title": f"{file.title}, shrunk",
        "workload": found[0].to_document(),
        "designs": [found[1].to_document()],
    }
    out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    test = out.with_name(f"test_{out.stem.replace('-', '_')}.py")
    test.write_text(test_of(out.name), encoding="utf-8")
    sys.stdout.write(f"wrote {out}\nwrote {test}\n")
    return FINE


def _of_declared(run: StatedRun, arguments: argparse.Namespace, path: str) -> Comparison:
    """Play declared tables under their stated load, and save the lab file if that is asked."""
    from emulator.lab.files import loads

    comparison = _reported(loads(run.text, path), arguments, path)
    if arguments.save is not None:
        Path(arguments.save).write_text(run.text, encoding="utf-8")
        sys.stdout.write(f"wrote {arguments.save}\n")
    return comparison


def _lessons(name: str | None) -> str:
    """Return a lesson, or the list of all."""
    from emulator.lab.analysis import lessons

    if name is not None:
        return f"{lessons.lesson(name)}\n"
    return "".join(f"{own.name:<20}{own.told}\n" for own in lessons.LESSONS)


def _reported(file: LabFile, arguments: argparse.Namespace, name: str | None) -> Comparison:
    """Run a file, write and print its report, and add it to the summary of a build."""
    from emulator.lab.outcome.rows import measured_rows
    from emulator.lab.report import print_report
    from emulator.lab.report.markdown import markdown_report

    played = _compared(file, arguments, name or "built-in comparison")
    comparison = _with_measured(played, arguments)
    written = [*_written(comparison, arguments), *_written_for_agents(comparison, arguments)]
    print_report(comparison, sys.stdout)
    if name is not None and agent_models.is_model(Path(name)):
        sys.stdout.write(f"\n{_at_average_rates(comparison, arguments)}\n{file.about}\n")
    measured = comparison.measured
    if measured is not None and not any(measured_rows(measured, comparison.designs)):
        sys.stdout.write(_NOT_COMPARED)
    sys.stdout.write("".join(f"\nwrote {path}" for path in written) + "\n")
    append_to_step_summary(markdown_report(comparison, file.failures(comparison)))
    return comparison


def _check_places(arguments: argparse.Namespace) -> None:
    """Complain before a long run about files that could not be written after it."""
    check_saving(arguments)
    if len(arguments.files) > 1 and not (arguments.no_html and not arguments.json):
        raise DocumentError(_SEVERAL)
    for name in (None if arguments.no_html else arguments.html, arguments.json, arguments.junit):
        if name is not None and not Path(name).absolute().parent.is_dir():
            raise DocumentError(f"{name}: there is no directory to write it in")


def _built_in() -> LabFile:
    from emulator.lab.files import LabFile
    from emulator.lab.inputs.builtin import TITLE, device_events, hour_and_device

    return LabFile(title=TITLE, workload=device_events(), designs=hour_and_device())


def _read(path: Path, arguments: argparse.Namespace | None = None) -> LabFile:
    """Read a lab file or a data model; without a title it is called by its name."""
    from emulator.lab.files import load

    tables = None if arguments is None or arguments.tables is None else Path(arguments.tables)
    file = load(path, tables=tables, skew=None if arguments is None else _skew(arguments))
    return file if file.title else replace(file, title=path.stem)


def _skew(arguments: argparse.Namespace) -> str | None:
    """Return the skew of a data model's keys, if it is given."""
    return next(reversed(arguments.skew), None)


def _with_traffic(file: LabFile, arguments: argparse.Namespace) -> LabFile:
    """Return a file whose workload has the traffic that --traffic names."""
    if not arguments.traffic:
        return file
    from emulator.lab.inputs.traffic import with_traffic

    names = _metric_names(arguments)
    paths = [Path(name) for name in arguments.traffic]
    try:
        workload = with_traffic(file.workload, paths, names=names, anonymous=arguments.anonymise)
    except ValueError as error:
        raise DocumentError(f"{', '.join(arguments.traffic)}: {error}") from error
    return replace(file, workload=workload)


def _metric_names(arguments: argparse.Namespace) -> dict[str, str]:
    """Return our ids of metrics by those of the caller."""
    names = {}
    for text in arguments.map:
        metric_id, separator, ours = text.partition("=")
        if not separator:
            raise DocumentError(
                f"--map: expected ID=METRIC, such as m1=requests_PutItem, not {text!r}"
            )
        names[metric_id] = ours
    return names


def _with_measured(comparison: Comparison, arguments: argparse.Namespace) -> Comparison:
    """Return a result with the refusals that --traffic counts, if it counts any."""
    if not arguments.traffic:
        return comparison
    from emulator.lab.inputs.traffic import measured_throttles
    from emulator.lab.measured import with_measured

    paths = [Path(name) for name in arguments.traffic]
    measured = measured_throttles(paths, _metric_names(arguments))
    return comparison if measured is None else with_measured(comparison, measured)


def _compared(file: LabFile, arguments: argparse.Namespace, source: str) -> Comparison:
    """Run the comparison as the command line wants it."""
    options = file.arguments()
    if arguments.duration is not None:
        seconds = Entry(arguments.duration, field="--duration", source="command line").seconds()
        options["workload"] = replace(options["workload"], duration=seconds)
    if arguments.age is not None:
        options["workload"] = replace(options["workload"], age=arguments.age)
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
    memory = Entry(arguments.memory, field="--memory", source="command line").size_bytes()
    options |= {"time_limit": limit, "memory": memory}
    return run_comparison(options, source, announces=True)


def run_comparison(options: dict[str, Any], source: str, *, announces: bool = False) -> Comparison:
    """Run a comparison, telling how far it is; complain of what does not fit."""
    from emulator.lab.analysis.comparison import compare

    # Processes first: they may be forked only while there is no thread that shows progress.
    with _cores(options) as executor, shown_progress(sys.stderr) as shown:
        announce = shown.announce if announces else None
        try:
            return compare(**options, executor=executor, progress=shown.tell, announce=announce)
        except ValueError as error:
            raise DocumentError(f"{source}: {error}") from error


def _cores(options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Return processes to study designs in, or nothing where they would not pay."""
    designs, seconds = len(options["designs"]), options["workload"].duration
    cores = min(2 * designs, os.cpu_count() or 1)  # of a design, two steps run side by side
    if cores < 2 or designs * seconds < _WORTH_PROCESSES or options["engine"] == "exact":
        return nullcontext()
    from emulator.lab.processes import processes

    return processes(cores)


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


def _written_for_agents(comparison: Comparison, arguments: argparse.Namespace) -> Iterator[str]:
    """Write what AWS's agent toolkit reads, and yield the names of the files."""
    from emulator.lab.analysis import agent_results

    documents: dict[str, Any] = {}
    if arguments.perf_summary is not None:
        documents[arguments.perf_summary] = agent_results.perf_summary(comparison)
    if arguments.design_findings is not None:
        averages = _averages(arguments)
        documents[arguments.design_findings] = agent_results.design_findings(comparison, averages)
    for name, document in documents.items():
        Path(name).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        yield name


def _at_average_rates(comparison: Comparison, arguments: argparse.Namespace) -> str:
    """Return the price of a month at the rates that a model states as average (ICH-13)."""
    from emulator.lab.analysis import agent_results

    drivers = agent_results.cost_drivers(comparison.designs[0], _averages(arguments))
    cost = sum(driver["monthly"] for driver in drivers)
    return f"at average rates: ${cost:,.2f} a month on demand"


def _averages(arguments: argparse.Namespace) -> Mapping[str, float]:
    """Return the average rates that a model states."""
    path = Path(arguments.files[0]) if arguments.files else None
    if path is None or not agent_models.is_model(path):
        raise DocumentError("--design-findings is for a data model, which states average rates")
    tables = None if arguments.tables is None else Path(arguments.tables)
    return agent_models.read_model(path, tables=tables, skew=_skew(arguments)).averages


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
        for design in run_comparison(file.arguments() | changes | _RUN_ONLY, str(path)).designs
        for finding in design.findings
    ]
