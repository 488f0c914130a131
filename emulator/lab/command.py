"""The commands ``dynamometer lab`` and ``dynamometer check``.

Exit codes: 0 fine, 1 a verdict that the file asks for failed or a check found a problem, 2 wrong
usage or a broken file, said in one sentence. Reports go to standard output, progress and
complaints to standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final, TextIO

from emulator.lab.documents import DocumentError
from emulator.lab.measures import Finding, Severity

FINE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2

_ORDER: Final[tuple[Severity, ...]] = ("problem", "warning", "info")
_STYLES: Final[dict[Severity, str]] = {
    "problem": "\x1b[31m",
    "warning": "\x1b[33m",
    "info": "\x1b[2m",
}
_WIDTH: Final = 100
_INDENT: Final = " " * 9

_CHECK_EPILOG: Final = """\
examples:
  dynamometer check main.tf            the aws_dynamodb_table resources of a Terraform file
  dynamometer check infra/             of all Terraform files of a directory
  dynamometer check template.yaml      a CloudFormation or SAM template
  dynamometer check model.json         a NoSQL Workbench model
  aws dynamodb describe-table --table-name orders > orders.json; dynamometer check orders.json
  dynamometer check comparison.yaml    the designs of a lab file, under its workload

Exit codes: 0 fine or only warnings, 1 a problem was found, 2 the file cannot be used.
"""


def _answered(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Turn what is wrong with a file into one sentence and the exit code of wrong usage."""

    def running(given: argparse.Namespace) -> int:
        try:
            return run(given)
        except (DocumentError, OSError) as error:
            sys.stderr.write(f"dynamometer: {_sentence(error)}\n")
            return WRONG_USAGE

    return running


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


# check


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer check``."""
    parser.description = "Advise on the tables that a design file declares."
    parser.epilog = _CHECK_EPILOG
    parser.add_argument("design", metavar="DESIGN", help="the file, or a directory of .tf files")


def run_check(given: argparse.Namespace) -> int:
    """Print the findings about a design; 1 if one of them is a problem."""
    return _answered(_check)(given)


def _check(given: argparse.Namespace) -> int:
    findings = _findings(Path(given.design))
    write_findings(findings, sys.stdout)
    return FAILED if any(one.severity == "problem" for one in findings) else FINE


def _findings(path: Path) -> list[Finding]:
    from emulator.lab.designs import read_tables
    from emulator.lab.designs.rules import check_table

    return [finding for table in read_tables(path) for finding in check_table(table)]


def write_findings(findings: Sequence[Finding], stream: TextIO) -> None:
    """Write findings, the gravest first, each with its cure.

    >>> finding = Finding(check="time-key", severity="warning", subject="events",
    ...                   message="The key follows the clock.", fix="Change it.")
    >>> write_findings([finding], sys.stdout)
    warning  events: The key follows the clock. [time-key]
             Change it.
    1 warning
    """
    for severity in _ORDER:
        for finding in findings:
            if finding.severity == severity:
                _write_finding(finding, stream)
    counts = [
        f"{count} {severity if severity == 'info' or count == 1 else severity + 's'}"
        for severity in _ORDER
        if (count := sum(1 for one in findings if one.severity == severity))
    ]
    stream.write(f"{', '.join(counts) or 'nothing to object to'}\n")


def _write_finding(finding: Finding, stream: TextIO) -> None:
    text = f"{finding.subject}: {finding.message} [{finding.check}]"
    first, *rest = wrap(text, _WIDTH - len(_INDENT))
    label = f"{finding.severity:<9}"
    if stream.isatty():
        label = f"{_STYLES[finding.severity]}{label}\x1b[0m"
    stream.write(f"{label}{first}\n")
    for line in [*rest, *wrap(finding.fix, _WIDTH - len(_INDENT))]:
        stream.write(f"{_INDENT}{line}\n")
