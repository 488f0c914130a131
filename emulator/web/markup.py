"""Pieces of markup that several pages use: explanations, tables that sort, frames that scroll."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple


class TableColumn(NamedTuple):
    """The head of a column; numbers stand at the right, and long texts take room."""

    name: str
    is_number: bool = False
    is_long: bool = False

    @property
    def classes(self) -> str:
        """The attribute of its cells."""
        return ' class="n"' if self.is_number else ' class="long"' if self.is_long else ""


class Value(NamedTuple):
    """A cell that is sorted by its number."""

    text: str
    number: float


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


def table(
    label: str,
    columns: Sequence[TableColumn],
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


def _head(column: TableColumn) -> str:
    return f'<th scope="col"{column.classes}>{escape(column.name)}</th>'


def _row(row: Sequence[str | Value], columns: Sequence[TableColumn]) -> str:
    cells = (_cell(cell, column) for cell, column in zip(row, columns, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: str | Value, column: TableColumn) -> str:
    if isinstance(cell, Value):
        return f'<td{column.classes} data-value="{cell.number:.6g}">{escape(cell.text)}</td>'
    return f"<td{column.classes}>{cell}</td>"
