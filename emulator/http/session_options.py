"""``serve --report --budget --fail-on --rate``: what the tests that use a server are held to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emulator.command_line import FAILED, FINE, WRONG_USAGE

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.http.served_session import ServedSession
    from emulator.sessions.session_report import Record

_SUFFIXES: Final = (".html", ".json", ".junit", ".xml")
NOT_A_REPORT: Final = "--report: {path} does not end in one of {suffixes}"
NOT_WRITABLE: Final = "--report: {path} cannot be written"
PACED: Final = "--rate goes with --capacity observe and --clock system only"
UNUSED: Final = "no test was called {name}: its budget was not looked at"


def add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what becomes of the tests that use the server."""
    add = parser.add_argument_group("tests that use the server").add_argument
    add(
        "--report",
        type=Path,
        metavar="FILE",
        help="write what each test consumed when stopped: .html, .json or JUnit as .xml, .junit",
    )
    add("--budget", type=Path, metavar="FILE", help="limits by test, YAML or JSON; more fails it")
    add(
        "--fail-on",
        metavar="KINDS",
        default="",
        help="findings that fail a test, such as throttle,scan; finding is any, budget needs "
        "--budget; a failed test ends the server with 1",
    )
    add(
        "--rate",
        type=_rate,
        metavar="NUMBER",
        help="judge throttling as if calls arrived at this many a second; default: as they come",
    )


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise argparse.ArgumentTypeError(f"a rate is a number of calls a second, not {text!r}")
    return rate


def check_session_arguments(arguments: argparse.Namespace) -> None:
    """Refuse arguments that would fail only at the end.

    Raises:
        Fault: a rate has no use, or the report could not be written.
    """
    from emulator.sessions import Fault

    if arguments.rate and (arguments.capacity, arguments.clock) != ("observe", "system"):
        raise Fault(PACED)
    path: Path | None = arguments.report
    if path is None:
        return
    if path.suffix.lower() not in _SUFFIXES:
        raise Fault(NOT_A_REPORT.format(path=path, suffixes=", ".join(_SUFFIXES)))
    place = path if path.exists() else path.parent
    if path.is_dir() or not os.access(place, os.W_OK):
        raise Fault(NOT_WRITABLE.format(path=path))


def session_of(emulator: Emulator, arguments: argparse.Namespace) -> ServedSession:
    """Return the session that keeps the records of tests.

    Raises:
        Fault: ``--fail-on`` names what there is not.
        DocumentError: the budgets cannot be used.
    """
    from emulator.http.served_session import ServedSession
    from emulator.sessions.session_rules import rules_of

    rules = rules_of(arguments.fail_on, arguments.budget)
    wanted = (arguments.report, arguments.budget, arguments.fail_on, arguments.rate)
    return ServedSession(emulator, rules, is_on=any(wanted))


def end_session(session: ServedSession, report: Path | None) -> tuple[list[str], int]:
    """Write the report; return the lines of the end and the exit code.

    The code is 1 if a test has failed, and 2 if a budget is of no test, so that a misspelt name
    does not hide one.

    Raises:
        OSError: the report cannot be written any more.
    """
    from emulator.sessions.markdown_summary import markdown_summary
    from emulator.sessions.session_report import write
    from emulator.step_summary import append_to_step_summary

    if not session.is_on:
        return [], FINE
    records = session.records()
    append_to_step_summary(markdown_summary(records))
    unused = [UNUSED.format(name=name) for name in session.unused_budgets()]
    lines = [*_lines(records), *unused]
    if report is not None:
        write(report, records)
        lines.append(f"report: {report}")
    if any(record["failures"] for record in records):
        return lines, FAILED
    return lines, WRONG_USAGE if unused else FINE


def _lines(records: list[Record]) -> Iterator[str]:
    from emulator.sessions.session_report import summary

    yield from summary(records, with_costs=True)
    for record in records:
        for sentence in record["failures"]:
            yield f"FAILED {record['test']}"
            yield from (f"  {line}" for line in sentence.splitlines())
