"""The command ``dynamometer diff``, which is ``dynamometer lab diff`` too.

Exit codes: 0 no worse, 1 worse (a grade fell, a new finding at ``--fail-on``, a cost past
``--max-increase``), 2 wrong usage or nothing to read, 130 interrupted (ICH-86).
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator.command_line import FAILED, FINE, answered, whole_number
from emulator.designs.findings import SEVERITIES
from emulator.diff import comment
from emulator.diff.changes import NEVER, changes
from emulator.diff.revision import at_revision
from emulator.diff.sides import RunLab, Side, read_plan, read_side
from emulator.lab.command import run_comparison
from emulator.lab.files import LabFile
from emulator.lab.inputs.documents import Entry
from emulator.lab.outcome.result_types import Comparison
from emulator.service.errors import DocumentError
from emulator.step_summary import append_to_step_summary

_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?) ?%")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]+")
_FORMATS: Final = ("text", "markdown", "json")
_TWO: Final = "name two paths, BASE and HEAD, or one plan; see 'dynamometer diff --help'"
_ONE: Final = "--base REVISION goes with one path, which is compared with what it was"
_NOTHING: Final = "{base} and {head}: no table, lab file or saved result is in them"
_EPILOG: Final = """\
examples:
  dynamometer diff --base origin/main infra            a folder against a git revision
  dynamometer diff base/infra infra                    two folders of designs and lab files
  dynamometer diff main.json pull-request.json         two results of 'lab --json'
  terraform show -json plan.out > plan.json; dynamometer diff plan.json
  dynamometer diff base . --format markdown --output comment.markdown --json diff.json
  dynamometer diff base . --fail-on warning --max-increase 10%

Lab files that differ are run on both sides; those that are the same are not. The comment begins
with a marker by which the previous one is found and replaced; --tag distinguishes several.

Exit codes: 0 no worse, 1 a grade fell, a finding at --fail-on is new, or the monthly cost grew
by more than --max-increase; 2 wrong usage or nothing to read, 130 interrupted.
"""


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dynamometer diff``."""
    parser.description = "Say what a change does to designs: keys, findings, throttling, cost."
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="*", help="BASE and HEAD: files or folders; or one plan")
    add("--base", metavar="REVISION", help="compare one path with a git revision, such as main")
    add("--format", choices=_FORMATS, default=_FORMATS[0], help="default: %(default)s")
    add(
        "--markdown",
        dest="format",
        action="store_const",
        const="markdown",
        help="short for --format markdown",
    )
    add("--output", metavar="FILE", help="write to FILE instead of standard output")
    add("--json", metavar="FILE", help="also write the data to FILE")
    add(
        "--fail-on",
        choices=(*SEVERITIES, "error", NEVER),
        default=SEVERITIES[0],
        help="fail on a new finding of at least this severity; default: %(default)s",
    )
    add(
        "--max-increase",
        metavar="PERCENT",
        type=_percent,
        help="by how much the monthly cost may grow, such as 10%%; default: any amount",
    )
    add(
        "--tag",
        default=comment.DEFAULT_TAG,
        type=_tag,
        help="distinguishes several comments on one pull request",
    )
    add("--worlds", type=whole_number(1), metavar="N", help="play exactly N worlds")
    add("--duration", metavar="TIME", help="how long runs are, such as 90s, 15m or 1h")
    add("--quick", action="store_true", help="20 worlds only: no headroom, no fix")
    add(
        "--time-limit",
        metavar="TIME",
        default="1m",
        help="limit for each comparison; default: %(default)s",
    )


def _percent(text: str) -> float:
    percent = _PERCENT.fullmatch(text)
    if percent is None:
        raise argparse.ArgumentTypeError(f"a rise is written as 10%, not {text!r}")
    return float(percent[1]) / 100


def _tag(text: str) -> str:
    if not _TAG.fullmatch(text):
        raise argparse.ArgumentTypeError(f"a tag has letters, digits and . _ -, not {text!r}")
    return text


def run_diff(arguments: argparse.Namespace) -> int:
    """Print the changes; 1 if they are worse."""
    return answered(_diff, arguments)


def _diff(arguments: argparse.Namespace) -> int:
    base, head = _sides([Path(name) for name in arguments.paths], arguments.base)
    changed = changes(base, head, _runner(arguments))
    failures = changed.failures(arguments.fail_on, arguments.max_increase)
    marked = comment.markdown(changed, failures, arguments.tag)
    written = {
        "text": lambda: comment.text(changed, failures),
        "markdown": lambda: marked,
        "json": lambda: comment.json_text(changed, failures, arguments.tag),
    }[arguments.format]()
    if arguments.output is None:
        sys.stdout.write(written)
    else:
        Path(arguments.output).write_text(written, encoding="utf-8")
    if arguments.json is not None:
        data = comment.json_text(changed, failures, arguments.tag)
        Path(arguments.json).write_text(data, encoding="utf-8")
    append_to_step_summary(marked)
    for reason in failures:
        sys.stderr.write(f"dynamometer: {reason}\n")
    return FAILED if failures else FINE


def _sides(paths: list[Path], revision: str | None) -> tuple[Side, Side]:
    if revision is not None:
        return _since(paths, revision)
    if len(paths) == 1:
        return read_plan(paths[0])
    if len(paths) != 2:
        raise DocumentError(_TWO)
    return _both(paths[0], paths[1])


def _since(paths: list[Path], revision: str) -> tuple[Side, Side]:
    """Return a path in another revision, and as it is."""
    if len(paths) > 1:
        raise DocumentError(_ONE)
    path = paths[0] if paths else Path()
    with at_revision(path, revision) as before:
        try:
            base, head = _both(before, path)
        except DocumentError as error:
            told = str(error).replace(str(before), f"{revision}:{path}")
            raise DocumentError(told) from error
        return base.below(before, path), head


def _both(base_path: Path, head_path: Path) -> tuple[Side, Side]:
    base, head = read_side(base_path), read_side(head_path)
    if base.is_empty and head.is_empty:
        raise DocumentError(_NOTHING.format(base=base_path, head=head_path))
    return base, head


def _runner(arguments: argparse.Namespace) -> RunLab:
    """Return a function that runs a lab file with the options of the command line.

    Raises:
        DocumentError: An option is no time.
    """
    limit = _seconds(arguments.time_limit, "--time-limit")
    duration = None if arguments.duration is None else _seconds(arguments.duration, "--duration")

    def run(file: LabFile, name: str) -> Comparison:
        options: dict[str, Any] = file.arguments() | {"sensitivity": False}
        if duration is not None:
            options["workload"] = replace(options["workload"], duration=duration)
        if arguments.worlds is not None:
            options["worlds"] = arguments.worlds
        if arguments.quick:
            options |= {"quick": True, "headroom": False, "fix": False}
        return run_comparison(options | {"time_limit": limit}, name)

    return run


def _seconds(text: str, option: str) -> float:
    return Entry(text, field=option, source="command line").seconds()
