"""Results as Markdown, for the summary of a build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.outcome.rows import groups, summary
from emulator.lab.report.text import explanations

_HEADINGS: Final = "|---|"


def markdown_report(comparison: Comparison, failures: Sequence[str]) -> str:
    """Return verdicts with what the text says of them, broken promises, and the measures.

    >>> empty = Comparison(title="t", workload={}, engine="exact", duration_seconds=60.0,
    ...                    seeds=(0,), designs=())
    >>> print(markdown_report(empty, []).splitlines()[0])
    ### t
    """
    lines = [f"### {comparison.title}", "", summary(comparison), ""]
    lines += [f"- ❌ {failure}" for failure in failures]
    for design in comparison.designs:
        lines.append(f"- **{design.grade}**: {words.sentence(design.verdict)}")
        lines += [f"  - {label}: {text}" for label, text in explanations(design)]
    names = " | ".join(design.name for design in comparison.designs)
    lines += ["", f"| | {names} |", _HEADINGS + "---:|" * len(comparison.designs)]
    for group in groups(comparison):
        for row in group.rows:
            if not row.detail:
                cells = " | ".join(cell.text for cell in row.cells)
                lines.append(f"| {row.label} | {cells} |")
    return "\n".join(lines).replace(words.SPACE, " ") + "\n"
