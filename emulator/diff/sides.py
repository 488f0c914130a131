"""The two sides of a difference: the tables, findings and results below a path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from emulator.check.findings_of import check, is_lab_file
from emulator.designs import DeclaredTable, Finding, ignores
from emulator.designs.declared import NothingDeclaredError, unreadable
from emulator.designs.files import read_design
from emulator.files import is_file, is_folder, open_file
from emulator.lab.files import LabFile, load
from emulator.lab.outcome.result_types import Comparison
from emulator.service.errors import DocumentError

NOT_THERE: Final = "{path}: cannot be read: No such file or directory"
NOT_A_RESULT: Final = "{path}: not a result that 'lab --json' wrote"
NOT_A_PLAN: Final = (
    "{path}: one file is compared with itself only if it is a Terraform plan as JSON ('terraform "
    "show -json'); else name two: diff BASE HEAD"
)
#: What stands for the one file in a difference of two files, whatever they are called.
ONLY: Final = "."

#: Runs a lab file; its second argument names it in complaints.
RunLab = Callable[[LabFile, str], Comparison]


@dataclass(frozen=True, kw_only=True)
class Side:
    """The tables, findings, results and lab files below one path.

    Attributes:
        tables: Declared tables.
        findings: Findings of the rules, without those that the project ignores.
        results: Saved results by relative path.
        lab_files: Lab files by relative path, not run yet.
    """

    tables: Sequence[DeclaredTable] = ()
    findings: Sequence[Finding] = ()
    results: Mapping[str, Comparison] = field(default_factory=dict)
    lab_files: Mapping[str, LabFile] = field(default_factory=dict)

    def below(self, place: Path, own: Path) -> Side:
        """Return this side as if it had been read below ``own`` and not ``place``."""
        return replace(
            self,
            findings=[
                replace(finding, file=str(own / Path(finding.file).relative_to(place)))
                if finding.file is not None and Path(finding.file).is_relative_to(place)
                else finding
                for finding in self.findings
            ],
        )

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare."""
        return not (self.tables or self.findings or self.results or self.lab_files)


def read_side(path: Path) -> Side:
    """Read a file or folder; a folder may hold nothing.

    Raises:
        DocumentError: It is not there, or is a file of another kind.
    """
    if not path.exists():
        raise DocumentError(NOT_THERE.format(path=path))
    if is_folder(path):
        return _read_folder(path)
    if is_lab_file(path):
        return Side(lab_files={ONLY: load(path)})
    result = _result(path)
    return Side(results={ONLY: result}) if result is not None else _designs(path)


def read_plan(path: Path) -> tuple[Side, Side]:
    """Return the tables before and after a Terraform plan (ICH-41).

    Raises:
        DocumentError: It is no plan.
    """
    plan = _json(path) if is_file(path) else None
    if not isinstance(plan, dict) or "resource_changes" not in plan:
        raise DocumentError(NOT_A_PLAN.format(path=path))
    resources = [
        {
            **{name: change.get(name) for name in ("address", "mode", "type", "name", "index")},
            "values": change["change"]["before"],
        }
        for change in plan["resource_changes"]
        if isinstance((change.get("change") or {}).get("before"), dict)
    ]
    before = {
        "format_version": plan.get("format_version", "1.0"),
        "values": {"root_module": {"resources": resources}},
    }
    with TemporaryDirectory() as directory:
        file = Path(directory, path.name)
        file.write_text(json.dumps(before), encoding="utf-8")
        return _designs(file), _designs(path)


def _read_folder(path: Path) -> Side:
    """Read a folder; a file that cannot be read is a finding, and the others go on (ICH-3)."""
    failures: list[Finding] = []
    lab_files = dict(_below(path, (".yaml", ".yml"), _lab_file, failures))
    results = dict(_below(path, (".json",), _result, failures))
    designs = _designs(path)
    return Side(
        tables=designs.tables,
        findings=(*designs.findings, *failures),
        results=results,
        lab_files=lab_files,
    )


def _designs(path: Path) -> Side:
    """Return the tables below a path, and the findings about them; a folder may have none."""
    try:
        reading = read_design(path)
    except NothingDeclaredError:
        if path.is_dir():
            return Side()
        raise
    except DocumentError as error:
        if path.is_dir():  # nothing in it can be read, which is a finding like any other
            return Side(findings=(unreadable(path.name, error),))
        raise
    if not reading.tables and not reading.findings:
        return Side()
    report = check([path], ignores.from_settings(Path.cwd()))
    return Side(tables=reading.tables, findings=report.findings)


def _below(
    folder: Path,
    suffixes: tuple[str, ...],
    read: Callable[[Path], Any],
    failures: list[Finding],
) -> Iterator[tuple[str, Any]]:
    """Yield by relative path what can be read of the files below a folder."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in suffixes and is_file(path) and not hidden:
            name = path.relative_to(folder).as_posix()
            try:
                value = read(path)
            except DocumentError as error:
                reason = str(error).replace(str(path), name)
                failures.append(unreadable(name, reason).at(str(path)))
                continue
            if value is not None:
                yield name, value


def _lab_file(path: Path) -> LabFile | None:
    return load(path) if is_lab_file(path) else None


def _result(path: Path) -> Comparison | None:
    """Return a saved result, or None for a file that looks like something else."""
    if path.suffix.lower() != ".json":
        return None
    document = _json(path)
    if not isinstance(document, dict) or not {"designs", "workload", "engine"} <= set(document):
        return None
    try:
        return Comparison.from_json(json.dumps(document))
    except (ValueError, TypeError, KeyError) as error:
        raise DocumentError(NOT_A_RESULT.format(path=path)) from error


def _json(path: Path) -> Any:
    """Return a document, or None for what is no JSON: the readers of designs complain of it."""
    try:
        with open_file(path) as file:
            return json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
