"""The report as one page: no network, no library, readable in light and dark.

Pictures and tables are plain markup and need no script; the script draws the pictures again at the
width they have, with values under the pointer, zoom and sorting. The data is in the page, as
``--json`` writes it but to six digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any, Final

from emulator import __version__, web
from emulator.designs import Finding
from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.rows import (
    INCOMPLETE,
    Cell,
    FigureRow,
    Group,
    best,
    groups,
    headroom,
    is_incomplete,
    month,
    risk,
    summary,
)
from emulator.lab.outcome.thresholds import HEALTHY
from emulator.lab.report import pictures
from emulator.lab.report.design_section import DesignSection, anchor, keys
from emulator.lab.report.heat_map import hottest, thumbnail
from emulator.lab.report.markup import badge, figure, sentence
from emulator.lab.report.side_by_side import comparison_charts
from emulator.lab.report.text import explanations
from emulator.web.markup import TableColumn, Value, hint, scrolling, table

#: What is shown has three digits; lines are not seen to differ in a fifth.
_CHART_DIGITS: Final = 4
#: Designs that fit side by side on a phone.
_FEW: Final = 3
_STYLES: Final = ("kit/chart.css", "kit/base.css", "report/report.css")


def html_page(comparison: result_types.Comparison) -> str:
    """Return the whole report as one HTML file.

    >>> empty = result_types.Comparison(title="A < B", workload={}, engine="exact",
    ...                                 duration_seconds=60.0, seeds=(0,), designs=())
    >>> "<title>A &lt; B</title>" in html_page(empty)
    True
    """
    shown: dict[str, pictures.Picture] = {}
    body = _body(comparison, shown)
    charts = {identity: pictures.as_data(picture) for identity, picture in shown.items()}
    results = rounded(result_types.to_document(comparison))
    return web.page(
        title=comparison.title,
        generator=f"dynamometer {__version__}",
        body=body,
        data={"results": results, "charts": rounded(charts, _CHART_DIGITS)},
        styles=_STYLES,
        module="report/report.js",
    )


def rounded(value: Any, digits: int = 6) -> Any:
    """Return data with its numbers rounded to ``digits`` digits.

    >>> rounded({"share": (0.12345678, 2.0)})
    {'share': [0.123457, 2]}
    """
    if isinstance(value, float):
        short = float(f"{value:.{digits}g}")
        return int(short) if short.is_integer() else short
    if isinstance(value, dict):
        return {name: rounded(child, digits) for name, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(child, digits) for child in value]
    return value


def _body(comparison: result_types.Comparison, shown: dict[str, pictures.Picture]) -> str:
    parts = [_header(comparison), _navigation(comparison), "<main>", _verdicts(comparison)]
    if comparison.designs:
        parts += [_side_by_side(comparison, shown), _comparison_table(comparison)]
    for index, design in enumerate(comparison.designs):
        is_open = design.grade not in HEALTHY or len(comparison.designs) == 1
        section = DesignSection(index, design, is_open=is_open)
        parts.append(section.render())
        shown.update(section.pictures)
    parts += [_checks(comparison), _assumptions(comparison), _inputs(comparison), "</main>"]
    parts.append(_footer())
    return "\n".join(parts)


# Top


def _header(comparison: result_types.Comparison) -> str:
    return (
        '<header><div class="in"><p class="brand">dynamometer lab</p>'
        f"<h1>{escape(comparison.title)}</h1>"
        f'<p class="meta">{escape(summary(comparison))}</p></div></header>'
    )


def _navigation(comparison: result_types.Comparison) -> str:
    links = [("verdicts", "Verdicts")]
    if comparison.designs:
        links += [("side-by-side", "Side by side"), ("comparison", "Comparison")]
    links += [(anchor(n), design.name) for n, design in enumerate(comparison.designs)]
    links += [("checks", "Checks"), ("assumptions", "Unknowns"), ("inputs", "Workload")]
    items = "".join(f'<a href="#{place}">{escape(name)}</a>' for place, name in links)
    return f'<nav aria-label="Sections"><div class="in">{items}</div></nav>'


def _verdicts(comparison: result_types.Comparison) -> str:
    cards = "".join(_card(n, design) for n, design in enumerate(comparison.designs))
    return f'<section id="verdicts"><div class="cards">{cards}</div></section>'


def _card(index: int, design: result_types.DesignResult) -> str:
    notes = "".join(
        f'<p class="fix"><b>{label.capitalize()}</b>{escape(text)}</p>'
        for label, text in explanations(design)
    )
    figures = "".join(
        f"<div><b{_mark(cell)}>{escape(cell.text)}</b><span>{name}</span></div>"
        for cell, name in _key_figures(design)
    )
    return (
        f'<article class="card {design.grade}"><h2><a href="#{anchor(index)}">'
        f"{escape(design.name)}</a>{badge(design)}</h2>"
        f'<p class="keys">{keys(design.design)}</p><div class="figures">{figures}</div>'
        f'<p class="verdict">{sentence(design.verdict)}</p>'
        f'{notes}<a class="thumb" href="#{anchor(index)}">{thumbnail(hottest(design))}'
        "<span>partitions over time</span></a></article>"
    )


def _key_figures(design: result_types.DesignResult) -> Iterator[tuple[Cell, str]]:
    if design.risk is not None:
        cell = risk(design)
        chance, _, bounds = cell.text.partition(" (")
        yield Cell(chance, cell.mark), f"of worlds throttle ({bounds}"
    else:
        yield Cell(words.percent(design.throttled_share)), "throttled"
    if design.headroom is not None:
        yield headroom(design), "headroom"
    bill = month(design)
    if bill is not None:
        sign = INCOMPLETE if is_incomplete(design) else ""
        label = "a month, without calls given up" if sign else "a month"
        yield Cell(f"{words.dollars(bill.total)}{sign}"), label


# Side by side


def _side_by_side(comparison: result_types.Comparison, shown: dict[str, pictures.Picture]) -> str:
    figures = []
    for chart in comparison_charts(comparison):
        identity = f"comparison-{chart.name}"
        shown[identity] = chart.picture
        figures.append(figure(chart, identity, is_wide=chart.name == "over-time"))
    return (
        '<section id="side-by-side" class="panel"><h2>Side by side</h2>'
        '<p class="quiet handling">Point at a chart, tap it or use the arrow keys for values; drag '
        "across one over time to zoom in; names in a legend switch lines on and off.</p>"
        f'<div class="charts">{"".join(figures)}</div></section>'
    )


def _comparison_table(comparison: result_types.Comparison) -> str:
    names = "".join(f'<th scope="col">{escape(design.name)}</th>' for design in comparison.designs)
    made = groups(comparison)
    body = "".join(
        _group(number, group, len(comparison.designs)) for number, group in enumerate(made)
    )
    few = " few" if len(comparison.designs) <= _FEW else ""
    inside = (
        f'<table class="compare{few}" style="--designs:{len(comparison.designs)}">'
        f"<thead><tr><th></th>{names}</tr></thead><tbody>{body}</tbody></table>"
    )
    return (
        '<section id="comparison" class="panel"><h2>Comparison</h2>'
        f"{scrolling('Comparison', inside)}{_reading(made)}</section>"
    )


def _group(number: int, group: Group, designs: int) -> str:
    head = (
        f'<tr class="group"><th colspan="{designs + 1}" scope="rowgroup">{escape(group.title)}'
        "</th></tr>"
    )
    rows = (_row(f"{number}-{place}", row) for place, row in enumerate(group.rows))
    return head + "".join(rows)


def _row(identity: str, row: FigureRow) -> str:
    label = hint(identity, row.label, row.hint) if row.hint else escape(row.label)
    good = best(row.cells, row.better)
    cells = "".join(
        f"<td{_mark(cell)}>{escape(cell.text)}{_BEST if index in good else ''}</td>"
        for index, cell in enumerate(row.cells)
    )
    kind = ' class="detail"' if row.detail else ""
    return f'<tr{kind}><th scope="row">{label}</th>{cells}</tr>'


_BEST: Final = (
    '<span class="best" aria-hidden="true"> \u2713</span><span class="unseen"> best</span>'
)


def _mark(cell: Cell) -> str:
    return f' class="m-{cell.mark}"' if cell.mark else ""


#: What a compact cell looks like, an example of it, and how it is read.
_READING: Final = (
    ("\u2713", '<span class="best">\u2713</span>', "the best of its row"),
    (r" \+ ", "6 + 6", "the table, then each index"),
    (rf"\d{words.TIMES}\d", f"3{words.TIMES}4", "three indexes with 4 each"),
    (" refused$", "0, 6 refused", "no split was made; six more were wanted, and would not help"),
    (" / ", "1 / 9", "median and 99th percentile"),
    (r"\(\d+ to \d+\)", "60 % (39 to 78)", "the 95 % interval, in percent"),
    (r"% of \d", "20 % of 5", "an even share among five partitions"),
    (" used", "49 % used", "share of what is provisioned"),
    (r"\*$", f"$914{INCOMPLETE}", "calls that were given up are not included"),
    (f"^{words.NONE}$", words.NONE, "not there, or not known"),
)


def _reading(made: list[Group]) -> str:
    """Return how compact cells are read, for those forms that the table has."""
    rows = [row for group in made for row in group.rows]
    texts = [cell.text for row in rows for cell in row.cells]
    if any(best(row.cells, row.better) for row in rows):
        texts.append("\u2713")
    entries = "".join(
        f"<div><dt>{example}</dt><dd>{meaning}</dd></div>"
        for form, example, meaning in _READING
        if any(re.search(form, text) for text in texts)
    )
    return f'<dl class="reading" aria-label="How cells are read">{entries}</dl>'


# Checks, assumptions, inputs

_CHECK_COLUMNS: Final = (
    TableColumn("severity"),
    TableColumn("design"),
    TableColumn("about"),
    TableColumn("finding"),
    TableColumn("remedy"),
)


def _checks(comparison: result_types.Comparison) -> str:
    rows = [
        _finding(f"{number}-{place}", design, finding)
        for number, design in enumerate(comparison.designs)
        for place, finding in enumerate(design.findings)
    ]
    body = (
        table("Checks", _CHECK_COLUMNS, rows, filter_label="Filter the checks")
        if rows
        else '<p class="quiet">The checks found nothing.</p>'
    )
    return f'<section id="checks" class="panel"><h2>Checks</h2>{body}</section>'


def _finding(identity: str, design: result_types.DesignResult, finding: Finding) -> list[str]:
    return [
        f'<span class="sev {finding.severity}">{finding.severity}</span>',
        escape(design.name),
        escape(finding.subject),
        f"{hint(f'check-{identity}', finding.check, _check_hint(finding))} "
        f"{sentence(finding.message)}",
        sentence(finding.fix),
    ]


def _check_hint(finding: Finding) -> str:
    return f"Found on {finding.subject} by the rule {finding.check} of dynamometer check."


def _assumptions(comparison: result_types.Comparison) -> str:
    """Return the section on unknowns, which differ by world, and on assumed constants."""
    intro = (
        "The service does not say where keys are stored, when partitions split or how far an index "
        "may fall behind. For each row, one of these is drawn again in ten worlds and everything "
        "else stays the same; the range is that of the share of throttled calls."
    )
    effects = [
        _unknown(design, effect) for design in comparison.designs for effect in design.unknowns
    ]
    columns = (
        TableColumn("design"),
        TableColumn("unknown"),
        TableColumn("calls throttled", is_number=True),
        TableColumn("worlds that throttle", is_number=True),
    )
    tables = table("What the answers depend on", columns, effects) if effects else ""
    constants = [
        _assumption(design, assumption)
        for design in comparison.designs
        for assumption in design.assumptions
    ]
    if constants:
        heads = (
            TableColumn("design"),
            TableColumn("setting"),
            TableColumn("assumed", is_number=True),
        )
        tables += (
            '<p class="quiet">These constants are assumed, too, and the same in every world; each '
            "is a setting.</p>" + table("Assumed constants", heads, constants)
        )
    return (
        '<section id="assumptions" class="panel"><h2>What the answers depend on</h2>'
        f'<p class="quiet">{intro}</p>{tables}</section>'
    )


def _unknown(
    design: result_types.DesignResult, effect: result_types.UnknownEffect
) -> list[str | Value]:
    return [
        escape(design.name),
        f'{escape(effect.name)} <span class="quiet">{escape(effect.rule)}</span>',
        Value(f"{words.percent(effect.low)} to {words.percent(effect.high)}", effect.high),
        Value(f"{words.percent(effect.chance)} of {effect.worlds}", effect.chance),
    ]


def _assumption(
    design: result_types.DesignResult, assumption: result_types.Assumption
) -> list[str | Value]:
    return [
        escape(design.name),
        f"<code>{escape(assumption.setting)}</code> "
        f'<span class="quiet">{escape(assumption.rule)}</span><br>{escape(assumption.meaning)}',
        Value(words.significant(assumption.value), assumption.value),
    ]


def _inputs(comparison: result_types.Comparison) -> str:
    documents = [("Workload", comparison.workload)]
    documents += [(f"Design: {design.name}", design.design) for design in comparison.designs]
    blocks = "".join(
        f'<details class="more"><summary>{escape(name)}</summary>'
        f"<pre>{escape(json.dumps(document, indent=2))}</pre></details>"
        for name, document in documents
    )
    return f'<section id="inputs" class="panel"><h2>What was run</h2>{blocks}</section>'


def _footer() -> str:
    return (
        f'<footer><div class="in"><p>Made by dynamometer {__version__}. Prices are those of '
        "us-east-1. The model follows what the service documents and what others have measured; "
        "what nobody has published is drawn in many worlds.</p>"
        '<p class="data"><button type="button" data-save="json">Download the data (JSON)</button>'
        "</p></div></footer>"
    )
