"""The command ``dynamometer design``: access patterns in, the best key designs out.

Exit codes: 0 fine, 1 a pattern is answered by no design, 2 wrong usage or a broken file, said in
one sentence, 130 interrupted; the best so far is printed then.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator.command_line import FAILED, FINE, INTERRUPTED, answered, whole_number
from emulator.designs import create_table_requests, written
from emulator.lab.analysis.study import StudyOptions
from emulator.lab.analysis.world_runs import WorldCount
from emulator.lab.files import LabFile, load
from emulator.lab.inputs.design import Design, Index, Table
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import words
from emulator.lab.planning.layout import TableLayout
from emulator.lab.planning.worlds import Known
from emulator.lab.progress import shown_progress
from emulator.lab.searches import Search, search
from emulator.lab.searches.short_list import MOST_WORLDS, Found
from emulator.service.errors import DocumentError

_FORMATS: Final = ("terraform", "cloudformation", "cdk-json", "lab")
_NO_FIELD: Final = (
    "{path}: {attribute!r} is no field of the workload, which has {known}: give the design as a "
    "lab file, whose templates say what the attribute is made of"
)
_EPILOG: Final = """\
examples:
  dynamometer design shop.yaml
  dynamometer design shop.yaml --out terraform > main.tf
  dynamometer design shop.yaml --json shop.json --html shop.html
  dynamometer design shop.yaml --given main.tf

FILE is a lab file; its 'designs' are not needed, and not looked at without --given. Of each pattern
'reads', 'order' and 'class' say what it needs. With --out the best design is all that is printed.
Exit codes: 0 fine, 1 no design answers some pattern, 2 wrong usage or a broken FILE, 130
interrupted; the best so far is printed then.
"""


def add_design_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer design``."""
    parser.description = "Look for the designs that serve access patterns best."
    parser.epilog = _EPILOG
    add = parser.add_argument
    add(
        "file", metavar="FILE", help="a lab file, a data model or a trace; its designs are left out"
    )
    add(
        "--given",
        metavar="DESIGN",
        help="a lab file or declared tables that exist: they compete, and the way there is priced",
    )
    add("--out", choices=_FORMATS, help="print the best design alone, in this form")
    add("--json", metavar="OUT", help="write the short list as data")
    add("--html", metavar="OUT", help="write the short list as a page, side by side")
    add(
        "--time-limit",
        metavar="TIME",
        default="60s",
        help="return the best so far after this time; default: %(default)s",
    )
    add("--worlds", type=whole_number(1), metavar="N", help="judge by N worlds; default: 20 or 100")
    add("--seed", type=whole_number(0), metavar="N", help="the seed of the first world")
    add("--duration", metavar="TIME", help="how long the run is, such as 90s, 15m or 1h")


def run_design(arguments: argparse.Namespace) -> int:
    """Print a short list of designs; 1 if some pattern is answered by none."""
    return answered(_design, arguments, what="dynamometer design")


def _design(arguments: argparse.Namespace) -> int:
    file = _read(Path(arguments.file))
    workload = _with_changes(file.workload, arguments)
    given = [] if arguments.given is None else _given(Path(arguments.given), workload)
    options = StudyOptions(
        first=workload.seed,
        count=WorldCount(most=MOST_WORLDS, exactly=arguments.worlds or file.worlds),
        known=Known(file.settings, file.known),
    )
    limit = Entry(arguments.time_limit, field="--time-limit", source="command line").seconds()
    with _cores() as executor, shown_progress(sys.stderr) as shown:
        try:
            found = search(
                workload,
                options,
                given=given,
                time_limit=limit,
                executor=executor,
                progress=shown.tell,
            )
        except ValueError as error:
            raise DocumentError(f"{arguments.file}: {error}") from error
    _write(found, file.title or Path(arguments.file).stem, arguments)
    if found.interrupted:
        return INTERRUPTED
    return FAILED if found.unanswered or not found.designs else FINE


def _read(path: Path) -> LabFile:
    """Read a lab file with or without designs, a data model, or a trace."""
    if path.suffixes[:1] == [".jsonl"]:
        return LabFile(workload=Workload.from_trace(path), designs=())
    return load(path, needs_designs=False)


def _with_changes(workload: Workload, arguments: argparse.Namespace) -> Workload:
    """Return the workload as the command line wants it."""
    if arguments.seed is not None:
        workload = replace(workload, seed=arguments.seed)
    if arguments.duration is not None:
        seconds = Entry(arguments.duration, field="--duration", source="command line").seconds()
        workload = replace(workload, duration=round(seconds))
    return workload


def _cores() -> AbstractContextManager[Any]:
    """Return processes to play designs in, or nothing where there is one core."""
    cores = os.cpu_count() or 1
    if cores < 2:
        return nullcontext()
    from emulator.lab.processes import processes

    return processes(cores)


def _given(path: Path, workload: Workload) -> list[Design]:
    """Read designs that exist: those of a lab file, or tables that are declared."""
    if path.suffix.lower() in (".yaml", ".yml"):
        try:
            return list(load(path).designs)
        except DocumentError:
            if "workload:" in path.read_text(encoding="utf-8"):
                raise
    tables = [_table(request, workload, path) for request in create_table_requests(path)]
    return [Design(path.stem, tables=tables)]


def _table(request: dict[str, Any], workload: Workload, path: Path) -> Table:
    """Return a declared table whose attributes are fields."""
    known = [*(field.name for field in workload.fields), TIMESTAMP]

    def templates(schema: Sequence[dict[str, str]], kind: str) -> tuple[str, ...]:
        names = [element["AttributeName"] for element in schema if element["KeyType"] == kind]
        for name in names:
            if name not in known:
                raise DocumentError(
                    _NO_FIELD.format(path=path, attribute=name, known=", ".join(known))
                )
        return tuple(f"{{{name}}}" for name in names)

    [partition] = templates(request["KeySchema"], "HASH")
    indexes = []
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in request.get(member, ()):
            projection = index["Projection"]
            indexes.append(
                Index(
                    index["IndexName"],
                    partition=templates(index["KeySchema"], "HASH"),
                    sort=templates(index["KeySchema"], "RANGE"),
                    projection=tuple(projection.get("NonKeyAttributes", ()))
                    or projection["ProjectionType"],
                    local=member == "LocalSecondaryIndexes",
                )
            )
    return Table(
        name=request["TableName"],
        partition=partition,
        sort=next(iter(templates(request["KeySchema"], "RANGE")), None),
        indexes=tuple(indexes),
    )


# What is written


def _write(found: Search, title: str, arguments: argparse.Namespace) -> None:
    if arguments.json is not None:
        Path(arguments.json).write_text(found.to_json(indent=1) + "\n", encoding="utf-8")
    if arguments.html is not None and found.designs:
        from emulator.lab.report import html_page

        page = html_page(found.comparison(title))
        Path(arguments.html).write_text(page, encoding="utf-8")
    if arguments.out is not None and found.designs:
        sys.stdout.write(emitted(found.designs[0], arguments.out))
    else:
        sys.stdout.write(shown_list(found))
    for name, reason in found.unanswered:
        sys.stderr.write(f"dynamometer: {name} is answered by no design: {reason}\n")


def emitted(found: Found, form: str) -> str:
    """Return a design as a text that creates its tables, or as a lab file."""
    if form == "lab":
        return found.lab
    tables = found.candidate.layout.tables
    requests = [table.create_request() for table in tables]
    scalings = [scaling for table in tables for scaling in _scalings(table)]
    if form == "terraform":
        return written.terraform(requests, scalings)
    template = written.cloudformation(requests, scalings)
    if form == "cdk-json":
        return json.dumps(template, indent=1) + "\n"
    import yaml

    text: str = yaml.safe_dump(template, sort_keys=False)
    return text


def _scalings(table: TableLayout) -> Iterator[written.Scaling]:
    """Yield what is scaled of a table and its global indexes."""
    if table.design.capacity.scaling is not None:
        yield written.Scaling(table.name, None, table.design.capacity.scaling)
    for index in table.global_indexes:
        scaling = table.index_capacity(index).scaling
        if scaling is not None:
            yield written.Scaling(table.name, index.name, scaling)


def shown_list(found: Search) -> str:
    """Return the short list as a text."""
    lines = []
    for number, own in enumerate(found.designs, 1):
        risk = own.result.risk
        chance = words.NONE if risk is None else words.percent(risk.chance)
        bounds = (
            "" if risk is None else f" ({words.percent(risk.low)} to {words.percent(risk.high)})"
        )
        lines.append(f"{number}. [{own.result.grade}] {own.name}")
        lines.append(
            f"   throttles in {chance} of worlds{bounds}, "
            f"{words.dollars(own.result.cost.total)} a month {own.result.cost.billing}, "
            f"{own.index_count} indexes"
        )
        lines += [f"   - {answer.name}: {answer.how}" for answer in own.answers]
        lines += [f"   {own.note}"] if own.note else []
        lines += [f"   from what exists: {own.way}"] if own.way is not None else []
        lines.append("")
    lines += [f"no design answers {name}: {reason}" for name, reason in found.unanswered]
    return "\n".join([*lines, *found.notes]).replace(words.SPACE, " ") + "\n"
