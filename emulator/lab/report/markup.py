"""Pieces of the report that several sections use: figures, grades, sentences."""

from __future__ import annotations

from html import escape
from typing import Final

from emulator.lab.outcome import result_types, words
from emulator.lab.report.charts import Chart

SIGNS: Final = {
    "fine": "\u2713",
    "tight": "!",
    "heals": "\u21bb",
    "risky": "?",
    "throttles": "\u2715",
}


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop, for a page."""
    return escape(words.sentence(text))


def badge(design: result_types.DesignResult) -> str:
    """Return a design's grade as a sign and a word."""
    sign = f'<span aria-hidden="true">{SIGNS[design.grade]}</span>'
    return f'<span class="badge {design.grade}">{sign} {design.grade}</span>'


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
