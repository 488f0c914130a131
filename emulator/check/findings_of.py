"""The findings about files and directories, without those that a project lives with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from emulator.api import Emulator
from emulator.designs import ignores
from emulator.designs.declared import NothingDeclaredError, Reading, unreadable
from emulator.designs.documents import MOST_BYTES, read_text
from emulator.designs.files import UnknownKindError, read_design
from emulator.designs.findings import Finding
from emulator.designs.formats import FindingsReport
from emulator.designs.ignores import Ignore, Ignores
from emulator.designs.pattern_rules import check_patterns
from emulator.designs.rules import check_table
from emulator.files import is_file, open_file
from emulator.service.errors import DocumentError

_LAB_MEMBERS: Final = (b"workload:", b"designs:")


def check(
    paths: Iterable[str | Path], ignored: Iterable[Ignore] = (), *, allow_none: bool = False
) -> FindingsReport:
    """Return the findings about files and directories.

    Args:
        paths: Design files, directories of them, or lab files.
        ignored: What is not wanted, besides what files themselves say.
        allow_none: Pass over files that are no designs, and say nothing if none is.

    Raises:
        DocumentError: Nothing of it can be read, or there is no table in it.
    """
    readings: list[tuple[Reading, list[Finding]]] = []
    failures: list[DocumentError] = []
    empty: list[DocumentError] = []
    for path in map(Path, paths):
        try:
            readings.append(_read(path))
        except NothingDeclaredError as error:  # beside others: a file of variables, say
            empty.append(error)
        except UnknownKindError as error:
            (empty if allow_none else failures).append(error)
        except DocumentError as error:
            failures.append(error)
    if not readings and (failures or (empty and not allow_none)):
        raise [*failures, *empty][0]
    wishes = Ignores([*ignored, *(ignore for reading, _ in readings for ignore in reading.ignores)])
    findings = [finding for reading, more in readings for finding in _kept(reading, more, wishes)]
    findings += [unreadable(str(error).partition(":")[0], error) for error in failures]
    findings += wishes.complaints()
    files = dict.fromkeys(file for reading, _ in readings for file in reading.files)
    return FindingsReport(tuple(findings), tuple(files))


def _read(path: Path) -> tuple[Reading, list[Finding]]:
    """Return the design that a path declares, and the lab's findings if it is a lab file."""
    if is_lab_file(path):
        from emulator.lab.command import lab_findings

        text = read_text(path)
        reading = Reading(files=(str(path),), ignores=tuple(ignores.in_text(text, str(path))))
        return reading, [finding.at(str(path)) for finding in lab_findings(path)]
    reading = read_design(path)
    if not reading.tables and not reading.findings:
        raise NothingDeclaredError(path)
    return reading, []


def is_lab_file(path: Path) -> bool:
    """Return whether a YAML file has the members of a lab file and not those of a template."""
    if path.suffix.lower() not in (".yaml", ".yml") or not is_file(path):
        return False
    with open_file(path) as file:
        lines = file.read(MOST_BYTES).splitlines()
    return any(line.startswith(_LAB_MEMBERS) for line in lines)


def _kept(reading: Reading, more: list[Finding], wishes: Ignores) -> Iterator[Finding]:
    """Yield the findings about the design that no setting ignores."""
    call = Emulator(capacity="off").call
    names: set[str] = set()
    for table in reading.tables:
        name = str(table.request.get("TableName"))
        if name in names:  # two stacks may use one name
            call = Emulator(capacity="off").call
            names.clear()
        names.add(name)
        for finding in check_table(table, call):
            located = table.located(finding)
            if not wishes.covers(located, table.lines_around(located)):
                yield located
    for finding in (*reading.findings, *check_patterns(reading), *more):
        if not wishes.covers(finding):
            yield finding
