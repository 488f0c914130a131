"""The baseline: findings that a project had when it began to fail on them (ICH-112).

The file names kind, table, file and function, and neither lines nor counts, so that it changes
only when a finding comes or goes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from emulator.sessions import Fault

VERSION: Final = 1
_NOT_A_BASELINE: Final = (
    "{path} is not a baseline of findings: expected JSON with version {version} and findings of "
    "kind, label, file and function"
)
_NOT_THERE: Final = "there is no baseline {path}; create it: pytest --ddb-update-baseline"


class Accepted(NamedTuple):
    """A finding that may stay; ``label`` is the table, or the table and its index."""

    kind: str
    label: str
    file: str
    function: str


def read_baseline(path: Path) -> frozenset[Accepted]:
    """Return the findings that a file accepts.

    Raises:
        Fault: it is not there, or something else.
    """
    if not path.exists():
        raise Fault(_NOT_THERE.format(path=path))
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] == VERSION:
            return frozenset(Accepted(**finding) for finding in document["findings"])
    except (ValueError, TypeError, KeyError):
        pass
    raise Fault(_NOT_A_BASELINE.format(path=path, version=VERSION))


def write_baseline(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Accept what a session found; what it accepted of code that did not run stays.

    Args:
        path: The file.
        records: What tests did, as the session's report has it.
    """
    reported = {accepted_of(finding) for record in records for finding in record["findings"]}
    ran = {entry["file"] for record in records for entry in record["entries"]}
    before = read_baseline(path) if path.exists() else frozenset()
    kept = {accepted for accepted in before if accepted.file not in ran}
    document = {
        "version": VERSION,
        "findings": [accepted._asdict() for accepted in sorted(reported | kept)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def accepted_of(finding: Mapping[str, Any]) -> Accepted:
    """Return the accepted form of a finding in a session's report."""
    label = finding["table"] if not finding["index"] else f"{finding['table']}.{finding['index']}"
    return Accepted(finding["kind"], label, finding["file"], finding["function"])


def sarif(records: Iterable[Mapping[str, Any]], fail_on: frozenset[str]) -> str:
    """Return the findings of a session as SARIF, each place once (ICH-82).

    Args:
        records: What tests did, as the session's report has it.
        fail_on: The kinds that fail a test; they are problems, others are warnings.
    """
    from emulator.designs import Finding
    from emulator.designs.formats import FindingsReport, render

    findings: dict[tuple[Accepted, int | None], Finding] = {}
    for record in records:
        for finding in record["findings"]:
            accepted = accepted_of(finding)
            findings.setdefault(
                (accepted, finding["line"]),
                Finding(
                    accepted.kind,
                    "problem" if accepted.kind in fail_on else "warning",
                    accepted.label,
                    finding["what"],
                    finding["cure"],
                    attribute=f"{accepted.file} {accepted.function}",
                    file=None if finding["line"] is None else accepted.file,
                    line=finding["line"],
                ),
            )
    return render(FindingsReport(tuple(findings.values())), "sarif")
