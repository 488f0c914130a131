"""Findings as others read them: a terminal, CI systems, a pull request (ICH-80 to ICH-85).

``render`` is the one way in; ``FORMATS`` names what it knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import path as paths
from pathlib import Path
from textwrap import wrap
from typing import Any, Final
from xml.etree import ElementTree

from emulator import __version__
from emulator.designs.catalogue import RULES
from emulator.designs.findings import (
    Finding,
    Severity,
    counted,
    gravest_first,
    in_words,
    sentence,
)

_WIDTH: Final = 100
_INDENT: Final = " " * 9
_STYLES: Final[dict[Severity, str]] = {
    "problem": "\x1b[31m",
    "warning": "\x1b[33m",
    "info": "\x1b[2m",
}
_SARIF_LEVELS: Final[dict[Severity, str]] = {
    "problem": "error",
    "warning": "warning",
    "info": "note",
}
_GITHUB_LEVELS: Final[dict[Severity, str]] = {
    "problem": "error",
    "warning": "warning",
    "info": "notice",
}
_GITLAB_LEVELS: Final[dict[Severity, str]] = {
    "problem": "critical",
    "warning": "minor",
    "info": "info",
}
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: What stands for a file where a format wants one and a finding has none.
_NO_FILE: Final = "."


@dataclass(frozen=True)
class FindingsReport:
    """Findings, and the files that were looked at, those without findings included."""

    findings: Sequence[Finding]
    files: Sequence[str] = ()


def render(
    report: FindingsReport | Iterable[Finding], format_name: str = "text", *, colour: bool = False
) -> str:
    """Return findings in one of ``FORMATS``, ending with a line break if there is any text.

    Args:
        report: The findings, with or without the files that were looked at.
        format_name: One of ``FORMATS``.
        colour: Colour the severities, in text only.

    Raises:
        ValueError: There is no such format.

    >>> finding = Finding(check="time-key", severity="warning", subject="events",
    ...                   message="The key follows the clock.", fix="Change it.")
    >>> print(render([finding]), end="")
    warning  events: The key follows the clock. [time-key]
             Change it.
    1 warning
    """
    if format_name not in FORMATS:
        raise ValueError(f"a format is one of {', '.join(FORMATS)}, not {format_name!r}")
    if not isinstance(report, FindingsReport):
        report = FindingsReport(tuple(report))
    if format_name == "text":
        return _text(report, colour=colour)
    return _RENDERERS[format_name](report)


# Text


def _text(report: FindingsReport, *, colour: bool) -> str:
    lines = [
        line
        for finding in gravest_first(report.findings)
        for line in _text_lines(finding, colour=colour)
    ]
    return "\n".join([*lines, in_words(counted(report.findings))]) + "\n"


def _text_lines(finding: Finding, *, colour: bool) -> Iterator[str]:
    text = f"{finding.subject}: {sentence(finding.message)} [{finding.rule}]"
    first, *rest = wrap(text, _WIDTH - len(_INDENT), break_on_hyphens=False)
    label = f"{finding.severity:<9}"
    yield f"{_STYLES[finding.severity]}{label}\x1b[0m{first}" if colour else f"{label}{first}"
    fix = wrap(sentence(finding.fix), _WIDTH - len(_INDENT), break_on_hyphens=False)
    for line in (*rest, *fix):
        yield f"{_INDENT}{line}"
    if finding.file is not None:
        line_number = "" if finding.line is None else f":{finding.line}"
        yield f"{_INDENT}{finding.file}{line_number}"


# JSON


def as_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON has it (ICH-103).

    >>> as_document(Finding("a", "info", "t", "m", "f"))["rule"]
    'a'
    """
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "subject": finding.subject,
        "attribute": finding.attribute,
        "message": sentence(finding.message),
        "fix": sentence(finding.fix),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
    }


def _json(report: FindingsReport) -> str:
    document = {
        "version": 1,
        "files": list(report.files),
        "counts": counted(report.findings),
        "findings": [as_document(finding) for finding in gravest_first(report.findings)],
    }
    return json.dumps(document, indent=1) + "\n"


# SARIF


def _sarif(report: FindingsReport) -> str:
    findings = gravest_first(report.findings)
    ids = list(dict.fromkeys(finding.rule for finding in findings))
    driver = {
        "name": "dynamometer",
        "version": __version__,
        "rules": [_sarif_rule(rule, findings) for rule in ids],
    }
    results = [
        _sarif_result(finding, ids.index(finding.rule), fingerprint)
        for finding, fingerprint in _with_fingerprints(findings)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1) + "\n"


def _sarif_rule(rule: str, findings: Sequence[Finding]) -> dict[str, Any]:
    known = RULES.get(rule)
    if known is not None:
        title, severity = known.title, known.severity
    else:  # a rule of another command, such as those of the pytest plugin
        title = sentence(rule.replace("-", " "))
        severity = next(finding.severity for finding in findings if finding.rule == rule)
    return {
        "id": rule,
        "shortDescription": {"text": title},
        "defaultConfiguration": {"level": _SARIF_LEVELS[severity]},
    }


def _sarif_result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    region = {
        name: value
        for name, value in (
            ("startLine", finding.line or 1),
            ("startColumn", finding.column),
            ("endLine", finding.end_line),
            ("endColumn", finding.end_column),
        )
        if value is not None
    }
    location = {"artifactLocation": {"uri": _uri(finding)}, "region": region}
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": _whole_text(finding)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"dynamometer/v1": fingerprint},
    }


def _uri(finding: Finding) -> str:
    from urllib.parse import quote

    return quote(repository_path(finding.file or _NO_FILE))


def _whole_text(finding: Finding) -> str:
    """Return the fault and its cure, for a place that shows one text."""
    return f"{finding.subject}: {sentence(finding.message)} {sentence(finding.fix)}"


def _with_fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield findings with fingerprints of which no two are equal (ICH-84)."""
    seen: dict[str, int] = {}
    for finding in findings:
        first = finding.fingerprint
        seen[first] = seen.get(first, 0) + 1
        yield finding, first if seen[first] == 1 else f"{first}-{seen[first]}"


def repository_path(name: str) -> str:
    """Return a file's path from the root of its repository, or from here, with ``/``.

    A file outside of both keeps its path.
    """
    full = Path(name).absolute()
    root = next((folder for folder in full.parents if (folder / ".git").exists()), Path.cwd())
    relative = paths.relpath(full, root)
    return Path(name).as_posix() if relative.startswith("..") else Path(relative).as_posix()


# GitHub and GitLab


def _github(report: FindingsReport) -> str:
    """Return workflow commands; only ten of a level are shown, so the gravest come first."""
    return "".join(f"{_github_line(finding)}\n" for finding in gravest_first(report.findings))


def _github_line(finding: Finding) -> str:
    properties: list[tuple[str, object]] = []
    if finding.file is not None:
        properties.append(("file", repository_path(finding.file)))
        # Columns are only shown of what stands on one line.
        on_one_line = finding.end_line in (None, finding.line)
        places = (
            (("col", finding.column), ("endColumn", finding.end_column))
            if on_one_line
            else (("endLine", finding.end_line),)
        )
        properties += [
            (name, value) for name, value in (("line", finding.line), *places) if value is not None
        ]
    properties.append(("title", finding.rule))
    shown = ",".join(f"{name}={_escaped_property(str(value))}" for name, value in properties)
    return f"::{_GITHUB_LEVELS[finding.severity]} {shown}::{_escaped(_whole_text(finding))}"


def _escaped(text: str) -> str:
    r"""Return text as the message of a workflow command.

    >>> _escaped("100 %, and\nmore")
    '100 %25, and%0Amore'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _gitlab(report: FindingsReport) -> str:
    entries = [
        {
            "description": _whole_text(finding),
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _GITLAB_LEVELS[finding.severity],
            "location": {
                "path": repository_path(finding.file or _NO_FILE),
                "lines": {"begin": finding.line or 1},
            },
        }
        for finding, fingerprint in _with_fingerprints(gravest_first(report.findings))
    ]
    return json.dumps(entries, indent=1) + "\n"


# JUnit


def _junit(report: FindingsReport) -> str:
    """Return a suite for each file; a file without findings has one case, which passes."""
    root = ElementTree.Element("testsuites", name="dynamometer check")
    for file, findings in _by_file(report):
        failing = [finding for finding in findings if finding.severity != "info"]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=repository_path(file),
            tests=str(len(findings) or 1),
            failures=str(len(failing)),
            errors="0",
            skipped="0",
        )
        for finding in findings:
            _junit_case(suite, finding)
        if not findings:
            ElementTree.SubElement(suite, "testcase", classname=file, name="check", time="0")
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(suite: ElementTree.Element, finding: Finding) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=finding.subject, name=finding.rule, time="0"
    )
    properties = ElementTree.SubElement(case, "properties")
    for name in ("severity", "file", "line"):
        value = getattr(finding, name)
        if value is not None:
            ElementTree.SubElement(properties, "property", name=name, value=str(value))
    if finding.severity == "info":
        ElementTree.SubElement(case, "system-out").text = _whole_text(finding)
    else:
        failure = ElementTree.SubElement(
            case, "failure", type=finding.severity, message=sentence(finding.message)
        )
        failure.text = sentence(finding.fix)


def _by_file(report: FindingsReport) -> Iterator[tuple[str, list[Finding]]]:
    files = dict.fromkeys(
        [*report.files, *(finding.file or _NO_FILE for finding in report.findings)]
    )
    for file in files:
        yield file, [finding for finding in report.findings if (finding.file or _NO_FILE) == file]


# Markdown


def _markdown(report: FindingsReport) -> str:
    lines = [f"**dynamometer check**: {in_words(counted(report.findings))}"]
    findings = gravest_first(report.findings)
    if findings:
        lines += ["", "| | where | what | remedy |", "|---|---|---|---|"]
    lines += [
        f"| {finding.severity} | {_markdown_place(finding)} | {_cell(finding.message)} "
        f"`{finding.rule}` | {_cell(finding.fix)} |"
        for finding in findings
    ]
    return "\n".join(lines) + "\n"


def _markdown_place(finding: Finding) -> str:
    if finding.file is None:
        return f"`{finding.subject}`"
    line = "" if finding.line is None else f":{finding.line}"
    return f"`{finding.subject}`<br>{repository_path(finding.file)}{line}"


def _cell(text: str) -> str:
    """Return text that neither ends a cell of a table nor begins a tag."""
    plain = sentence(text).replace("\n", " ").replace("|", "\\|")
    return plain.replace("<", "&lt;")


_RENDERERS: Final[dict[str, Callable[[FindingsReport], str]]] = {
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "markdown": _markdown,
}
FORMATS: Final = ("text", *_RENDERERS)
