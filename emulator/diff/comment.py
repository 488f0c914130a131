"""A difference as text, as JSON, and as a comment in a pull request (ICH-86)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from emulator.designs import Finding
from emulator.designs.findings import sentence
from emulator.designs.formats import as_document, repository_path
from emulator.diff.changes import Changes, DesignChange, Difference, TableChange
from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import DesignResult, to_document
from emulator.lab.outcome.rows import measured_rows, refused_shares
from emulator.lab.report.diff import FigureChange, changes_of

#: The first line of a comment, by which it is found again and replaced.
MARKER: Final = "<!-- dynamometer:diff:{tag} -->"
DEFAULT_TAG: Final = "default"
#: Characters of a comment; GitHub takes 65,536.
MOST_CHARACTERS: Final = 65_000
_CUT: Final = "\n\n*The rest is cut; the JSON beside it has everything.*\n"
_ARROW: Final = "→"


def text(changes: Changes, failures: Sequence[str]) -> str:
    """Return the changes as text for a terminal."""
    lines = [_verdict(changes, failures), ""]
    for table in changes.tables:
        lines.append(f"{table.name}: {table.status}")
        lines += [f"  {_plain(difference)}" for difference in _shown(table)]
    for change in changes.designs:
        lines += _design_lines(change)
    for title, findings in _finding_groups(changes):
        lines += [title, *(f"  {_finding_line(finding)}" for finding in findings)]
    lines += [f"failed: {reason}" for reason in failures]
    return "\n".join(lines).replace(words.SPACE, " ").rstrip() + "\n"


def markdown(changes: Changes, failures: Sequence[str], tag: str) -> str:
    """Return a comment: marker, verdict, tables, and details to open."""
    blocks = [
        MARKER.format(tag=tag),
        f"### {'❌' if failures else '✅'} DynamoDB designs: {_verdict(changes, failures)}",
        "\n".join(f"- **{_cell(reason)}**" for reason in failures),
        _table_block(changes.tables),
        _design_block(changes.designs),
        *(_finding_block(title, findings) for title, findings in _finding_groups(changes)),
        *(_details(change) for change in changes.designs),
        _unchanged(changes),
    ]
    comment = "\n\n".join(block for block in blocks if block).replace(words.SPACE, " ") + "\n"
    if len(comment) <= MOST_CHARACTERS:
        return comment
    return comment[: MOST_CHARACTERS - len(_CUT)].rpartition("\n")[0] + _CUT


def document(changes: Changes, failures: Sequence[str], tag: str) -> dict[str, Any]:
    """Return everything as JSON has it."""
    return {
        "version": 1,
        "tag": tag,
        "failed": bool(failures),
        "failures": list(failures),
        "tables": [
            {
                "name": table.name,
                "status": table.status,
                "differences": [vars(difference) for difference in table.differences],
            }
            for table in changes.tables
        ],
        "designs": [
            {
                "file": change.file,
                "name": change.name,
                "differences": [vars(difference) for difference in change.differences],
                "before": _figures(change.before),
                "after": _figures(change.after),
                "measured": to_document(change.measured),
            }
            for change in changes.designs
        ],
        "new_findings": [as_document(finding) for finding in changes.new_findings],
        "resolved_findings": [as_document(finding) for finding in changes.resolved_findings],
        "unchanged": list(changes.unchanged),
    }


def json_text(changes: Changes, failures: Sequence[str], tag: str) -> str:
    """Return the document as text."""
    return json.dumps(document(changes, failures, tag), indent=1) + "\n"


def _verdict(changes: Changes, failures: Sequence[str]) -> str:
    if changes.is_nothing:
        return "nothing changed"
    counts = [
        (len(changes.tables), "table", "changed"),
        (sum(1 for change in changes.designs if change.is_worse), "design", "worse"),
        (len(changes.new_findings), "finding", "new"),
        (len(changes.resolved_findings), "finding", "resolved"),
    ]
    counted = [f"{words.counted(count, noun)} {what}" for count, noun, what in counts if count]
    is_doubtful = bool(changes.new_findings) or any(design.is_worse for design in changes.designs)
    judged = "worse" if failures else "changed" if is_doubtful else "no worse"
    return f"{judged} ({', '.join(counted)})" if counted else judged


# Tables


def _shown(table: TableChange) -> list[Difference]:
    """Return the differences worth a line: of a new table its keys and indexes only."""
    if table.status == "changed":
        return list(table.differences)
    return [
        difference
        for difference in table.differences
        if difference.what == "key" or difference.what.startswith("index ")
    ]


def _plain(difference: Difference) -> str:
    before, after = difference.before, difference.after
    if before is None or after is None:
        return f"{difference.what}: {after if before is None else f'no longer {before}'}"
    return f"{difference.what}: {before} {_ARROW} {after}"


def _table_block(tables: Sequence[TableChange]) -> str:
    if not tables:
        return ""
    lines = ["| table | | before | after |", "|---|---|---|---|"]
    for table in tables:
        for number, difference in enumerate(_shown(table)):
            name = f"`{table.name}` {table.status}" if not number else ""
            cells = [name, difference.what, _code(difference.before), _code(difference.after)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _code(value: str | None) -> str:
    return "" if value is None else f"`{_cell(value)}`"


def _cell(value: str) -> str:
    """Return text that ends no cell of a table and begins no tag."""
    return value.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


# Designs

_GIVEN_UP: Final = " \\*"
_FOOTNOTE: Final = "\\* Calls that were given up are not in this bill."
_COLUMNS: Final[dict[str, Callable[[DesignResult], str]]] = {
    "grade": lambda design: design.grade,
    "worlds that throttle": lambda design: (
        words.NONE if design.risk is None else words.percent(design.risk.chance)
    ),
    "calls throttled": lambda design: words.percent(design.throttled_share),
    "month": lambda design: (
        words.dollars(design.cost.total) + (_GIVEN_UP if design.given_up_share else "")
    ),
}


def _design_block(designs: Sequence[DesignChange]) -> str:
    if not designs:
        return ""
    lines = [f"| design | {' | '.join(_COLUMNS)} |", f"|---|{'---|' * len(_COLUMNS)}"]
    for change in designs:
        cells = [_before_and_after(change, column) for column in _COLUMNS.values()]
        lines.append(f"| {_design_name(change)} | {' | '.join(cells)} |")
    if any(_GIVEN_UP in line for line in lines):
        lines += ["", _FOOTNOTE]
    return "\n".join(lines)


def _design_name(change: DesignChange) -> str:
    state = " added" if change.before is None else " removed" if change.after is None else ""
    file = "" if change.file == "." else f"<br>{change.file}"
    return f"{_cell(change.name)}{state}{file}"


def _before_and_after(change: DesignChange, column: Callable[[DesignResult], str]) -> str:
    sides = [side for side in (change.before, change.after) if side is not None]
    before, after = column(sides[0]), column(sides[-1])
    if before == after:
        return after
    return f"{before} {_ARROW} **{after}**"


def _details(change: DesignChange) -> str:
    """Return the rest about a design, to be opened."""
    rows = _measures(change)
    lines = ["| measure | before | after |", "|---|---:|---:|"]
    lines += [f"| {row.measure} | {row.before} | {row.after} |" for row in rows]
    notes = [f"- {_cell(_plain(difference))}" for difference in change.differences]
    if change.after is not None:
        notes.append(f"- {_cell(sentence(change.after.verdict))}")
        if change.after.fix:
            notes.append(f"- Smallest fix: {_cell(sentence(change.after.fix))}")
    body = "\n".join([*notes, "", *(lines if rows else ())])
    return f"<details><summary>{_cell(change.name)}</summary>\n\n{body}\n\n</details>"


def _measures(change: DesignChange) -> list[FigureChange]:
    if change.before is None or change.after is None:
        return []
    sides = (change.before, change.after)
    measured = (
        FigureChange(row.label, *(cell.text for cell in row.cells))
        for row in measured_rows(change.measured, sides)
    )
    return [*changes_of(*sides), *measured]


def _design_lines(change: DesignChange) -> Iterator[str]:
    """Yield a design for a terminal: what differs, and its measures side by side."""
    if change.before is None or change.after is None:
        side = "second" if change.before is None else "first"
        yield f"{change.name}: only in the {side}"
        return
    grades = (change.before.grade, change.after.grade)
    arrow = grades[0] if grades[0] == grades[1] else f"{grades[0]} {_ARROW} {grades[1]}"
    yield f"{change.name}: {arrow}"
    yield from (f"  {_plain(difference)}" for difference in change.differences)
    rows = _measures(change)
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        mark = "  " if row.before == row.after else "* "
        yield (
            f"  {mark}{row.measure:<{widths[0]}}  {row.before:>{widths[1]}}  "
            f"{row.after:>{widths[2]}}"
        )
    yield ""


def _figures(design: DesignResult | None) -> dict[str, Any] | None:
    """Return the figures of a design; shares are 0 to 1, costs dollars, unknown is None."""
    if design is None:
        return None
    return {
        "grade": design.grade,
        "risk": None if design.risk is None else design.risk.chance,
        "throttled_share": design.throttled_share,
        "refused_share": refused_shares(design),
        "headroom": None if design.headroom is None else design.headroom.multiple,
        "monthly_cost": design.cost.total,
        "fix": design.fix,
        "units": {
            resource.name: {
                "read": resource.read.consumed_units,
                "write": resource.write.consumed_units,
            }
            for resource in design.resources
        },
    }


# Findings


def _finding_groups(changes: Changes) -> Iterator[tuple[str, Sequence[Finding]]]:
    if changes.new_findings:
        yield "New findings", changes.new_findings
    if changes.resolved_findings:
        yield "Resolved findings", changes.resolved_findings


def _finding_line(finding: Finding) -> str:
    return (
        f"{finding.severity} {finding.rule}: {finding.subject}: {sentence(finding.message)} "
        f"{sentence(finding.fix)}"
    )


def _finding_block(title: str, findings: Sequence[Finding]) -> str:
    lines = [f"**{title}**", "", "| | where | what | remedy |", "|---|---|---|---|"]
    for finding in findings:
        line = "" if finding.line is None else f":{finding.line}"
        file = "" if finding.file is None else f"<br>{repository_path(finding.file)}{line}"
        cells = [
            finding.severity,
            f"`{finding.subject}`{file}",
            f"{_cell(sentence(finding.message))} `{finding.rule}`",
            _cell(sentence(finding.fix)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _unchanged(changes: Changes) -> str:
    if not changes.unchanged:
        return ""
    return f"Unchanged, not run: {', '.join(changes.unchanged)}"
