"""Pieces of the page that several sections use: figures, tables, explanations, badges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple

from emulator.lab.outcome import result_types, words
from emulator.lab.report.charts import Chart

SIGNS: Final = {"fine": "\u2713", "tight": "!", "risky": "?", "throttles": "\u2715"}


class Column(NamedTuple):
    """The head of a column; numbers stand at the right."""

    name: str
    is_number: bool = False


class Value(NamedTuple):
    """A cell that is sorted by its number."""

    text: str
    number: float


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop, for a page."""
    return escape(words.sentence(text))


def badge(design: result_types.DesignResult) -> str:
    """Return a design's grade as a sign and a word."""
    sign = f'<span aria-hidden="true">{SIGNS[design.grade]}</span>'
    return f'<span class="badge {design.grade}">{sign} {design.grade}</span>'


def hint(identity: str, label: str, text: str) -> str:
    """Return a label that explains itself to a pointer, a finger and a key.

    >>> print(hint("a", "p50", "half of all"))
    <button type="button" class="hint" popovertarget="hint-a">p50</button><span popover
    id="hint-a" class="explanation">half of all</span>
    """
    return (
        f'<button type="button" class="hint" popovertarget="hint-{identity}">{escape(label)}'
        f'</button><span popover id="hint-{identity}" class="explanation">{escape(text)}</span>'
    )


def figure(chart: Chart, identity: str, *, is_wide: bool = False) -> str:
    """Return a picture with its title; the page's script finds what it shows by its id."""
    kind = ' class="wide"' if is_wide else ""
    return (
        f'<figure id="{identity}" data-chart{kind}>'
        f"<figcaption><b>{escape(chart.title)}</b>{escape(chart.caption)}</figcaption>"
        '<div class="export"><button type="button" data-save="svg">SVG</button>'
        '<button type="button" data-save="png">PNG</button></div>'
        f'<div class="picture">{chart.svg}</div></figure>'
    )


def table(
    label: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | Value]],
    *,
    filter_label: str = "",
) -> str:
    """Return a table whose heads sort it; texts in ``rows`` are markup.

    One with a ``filter_label`` also gets a field that hides rows.
    """
    heads = "".join(_head(column) for column in columns)
    lines = "".join(_row(row, columns) for row in rows)
    filtered = f' data-filter="{escape(filter_label)}"' if filter_label else ""
    return scrolling(
        label,
        f'<table class="sortable"{filtered}><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table>",
    )


def scrolling(label: str, inside: str) -> str:
    """Return something wide in a frame that scrolls sideways, by keys as well, and shows it."""
    return (
        '<p class="scroll-note" aria-hidden="true">more to the right \u2192</p>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"{inside}</div>"
    )


def _head(column: Column) -> str:
    kind = ' class="n"' if column.is_number else ""
    return f'<th scope="col"{kind}>{escape(column.name)}</th>'


def _row(row: Sequence[str | Value], columns: Sequence[Column]) -> str:
    cells = (_cell(cell, column) for cell, column in zip(row, columns, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: str | Value, column: Column) -> str:
    kind = ' class="n"' if column.is_number else ""
    if isinstance(cell, Value):
        return f'<td{kind} data-value="{cell.number:.6g}">{escape(cell.text)}</td>'
    return f"<td{kind}>{cell}</td>"
