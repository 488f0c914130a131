"""The command ``dynamometer check``.

Exit codes: 0 fine, 1 findings at or above ``--fail-on``, 2 wrong usage or nothing that can be
read, said in one sentence, 130 interrupted (ICH-80).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from emulator.check.findings_of import check
from emulator.command_line import FAILED, FINE, answered
from emulator.designs import ignores
from emulator.designs.catalogue import RULES
from emulator.designs.findings import SEVERITIES, Severity
from emulator.designs.formats import FORMATS, FindingsReport, render
from emulator.service.errors import DocumentError

NEVER: Final = "never"
#: What SARIF and GitHub call a problem.
_ERROR: Final = "error"
_NOTHING: Final = "name the files or directories to check; see 'dynamometer check --help'"
_EPILOG: Final = """\
examples:
  dynamometer check .                  every design below this directory
  dynamometer check main.tf            the tables of a Terraform file
  terraform show -json plan.out > plan.json; dynamometer check plan.json
  dynamometer check template.yaml      CloudFormation, SAM or serverless.yml
  dynamometer check cdk.out            what 'cdk synth' wrote
  dynamometer check model.json         a NoSQL Workbench or dynamodb_data_model.json
  aws dynamodb describe-table --table-name orders > orders.json; dynamometer check orders.json
  dynamometer check comparison.yaml    the designs of a lab file, under its workload
  dynamometer check . --format sarif --output check.sarif --fail-on warning

A finding is ignored by '# dynamometer: ignore[rule] reason' on its line, above it or above its
block, by '# dynamometer: ignore-file[rule] reason' at the top of a file, by Metadata of a
CloudFormation resource, or by [tool.dynamometer.check] ignore in pyproject.toml.

Exit codes: 0 fine, 1 findings at or above --fail-on, 2 wrong usage or nothing that can be read,
130 interrupted.
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer check``."""
    parser.description = "Check the tables that design files declare, and give advice."
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="files or directories")
    add("--format", choices=FORMATS, default=FORMATS[0], help="default: %(default)s")
    add("--output", metavar="FILE", help="write to FILE instead of standard output")
    add(
        "--fail-on",
        choices=(*SEVERITIES, _ERROR, NEVER),
        default=SEVERITIES[0],
        help="fail on findings at or above this; error means problem; default: %(default)s",
    )
    add(
        "--ignore",
        metavar="RULE[@ADDRESS]",
        action="append",
        default=[],
        help="ignore a rule, everywhere or for one table; may be repeated",
    )
    add(
        "--allow-none",
        action="store_true",
        help="skip files that declare no table, and succeed if none does",
    )
    add("--list-rules", action="store_true", help="print every rule and its severity")


def run_check(arguments: argparse.Namespace) -> int:
    """Print the findings about designs; 1 if one of them is as grave as --fail-on says."""
    run = _rules if arguments.list_rules else _check
    return answered(run, arguments, what="checking a lab file")


def _rules(_: argparse.Namespace) -> int:
    for rule in RULES.values():
        sys.stdout.write(f"{rule.id:<27} {rule.severity:<8} {rule.title}\n")
    return FINE


def _check(arguments: argparse.Namespace) -> int:
    if not arguments.paths:
        raise DocumentError(_NOTHING)
    ignored = [
        *map(ignores.from_argument, arguments.ignore),
        *ignores.from_settings(Path.cwd()),
    ]
    report = check(arguments.paths, ignored, allow_none=arguments.allow_none)
    colour = arguments.output is None and sys.stdout.isatty()
    text = render(report, arguments.format, colour=colour)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        Path(arguments.output).write_text(text, encoding="utf-8")
    return FAILED if fails(report, arguments.fail_on) else FINE


def fails(report: FindingsReport, threshold: Severity | str) -> bool:
    """Return whether a report has a finding of a severity, or a graver one.

    >>> fails(FindingsReport(()), "info")
    False
    """
    if threshold == NEVER:
        return False
    least = SEVERITIES.index("problem" if threshold == _ERROR else threshold)
    return any(SEVERITIES.index(finding.severity) <= least for finding in report.findings)
