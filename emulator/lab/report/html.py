"""The report as one page: no network, no library, readable in light and dark.

Pictures and tables are plain markup and need no script; the script adds values under the
pointer and downloads. The data is in the page, as ``--json`` writes it but to six digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

from emulator import __version__
from emulator.designs import Finding
from emulator.lab.outcome import result_types, words
from emulator.lab.report.charts import Chart, resource_charts, slug, summary_charts
from emulator.lab.report.heat_map import hottest, thumbnail
from emulator.lab.report.rows import (
    INCOMPLETE,
    Cell,
    Group,
    Row,
    groups,
    headroom,
    is_incomplete,
    month,
    risk,
    summary,
)
from emulator.lab.report.svg import stylesheet
from emulator.lab.report.text import explanations

SIGNS: Final = {"fine": "\u2713", "tight": "!", "risky": "?", "throttles": "\u2715"}
_DIGITS: Final = 6


def html_page(comparison: result_types.Comparison) -> str:
    """Return the whole report as one HTML file.

    >>> empty = result_types.Comparison(title="A < B", workload={}, engine="exact",
    ...                                 duration_seconds=60.0, seeds=(0,), designs=())
    >>> "<title>A &lt; B</title>" in html_page(empty)
    True
    """
    return Template(_resource("page.html")).substitute(
        version=__version__,
        title=escape(comparison.title),
        chart_style=stylesheet(),
        page_style=_resource("page.css"),
        body=_body(comparison),
        data=embedded(comparison),
        script=_resource("page.js"),
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def embedded(comparison: result_types.Comparison) -> str:
    """Return the data as JSON that can stand inside a script element."""
    text = json.dumps(
        _rounded(result_types.to_document(comparison)), separators=(",", ":"), allow_nan=False
    )
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        short = float(f"{value:.{_DIGITS}g}")
        return int(short) if short.is_integer() else short
    if isinstance(value, dict):
        return {name: _rounded(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_rounded(child) for child in value]
    return value


def _body(comparison: result_types.Comparison) -> str:
    parts = [_header(comparison), _navigation(comparison), "<main>", _verdicts(comparison)]
    if comparison.designs:
        parts.append(_comparison_table(comparison))
    for index, design in enumerate(comparison.designs):
        parts.append(_design(index, design))
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
    links = [("verdicts", "Verdicts"), ("comparison", "Comparison")]
    links += [(_anchor(n), design.name) for n, design in enumerate(comparison.designs)]
    links += [("checks", "Checks"), ("assumptions", "Unknowns"), ("inputs", "Workload")]
    items = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name in links)
    return f'<nav aria-label="Sections"><div class="in">{items}</div></nav>'


def _anchor(index: int) -> str:
    return f"design-{index + 1}"


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
        f'<article class="card {design.grade}"><h2><a href="#{_anchor(index)}">'
        f"{escape(design.name)}</a>{_badge(design)}</h2>"
        f'<p class="keys">{keys(design.design)}</p>'
        f'<p class="verdict">{_sentence(design.verdict)}</p>'
        f'{notes}<a class="thumb" href="#{_anchor(index)}">{thumbnail(hottest(design))}'
        f'<span>partitions over time</span></a><div class="figures">{figures}</div></article>'
    )


def _sentence(text: str) -> str:
    return escape(words.sentence(text))


def _badge(design: result_types.DesignResult) -> str:
    grade = design.grade
    sign = f'<span aria-hidden="true">{SIGNS[grade]}</span>'
    return f'<span class="badge {grade}">{sign} {grade}</span>'


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


def keys(document: Mapping[str, Any]) -> str:
    """Return the keys of a design document as markup.

    >>> keys({"partition": "{user}", "sort": "{time}", "write": 10})
    '<code>{user}</code> / <code>{time}</code><br>provisioned: 10 WCU'
    """
    tables = document.get("tables") or {"": document}
    return "<br>".join(
        (f"<b>{escape(name)}</b> " if name else "") + "<br>".join(_table_lines(table))
        for name, table in tables.items()
    )


def _table_lines(table: Mapping[str, Any]) -> Iterator[str]:
    schemas = [table] if table.get("partition") else []
    schemas += table.get("entities", {}).values()
    yield ", ".join(_key(schema) for schema in schemas)
    for index in table.get("indexes", ()):
        yield f"index {escape(index['name'])}: {_key(index)}"
    units = ((table.get("read"), "RCU"), (table.get("write"), "WCU"))
    provided = [f"{amount:,} {unit}" for amount, unit in units if amount]
    yield f"provisioned: {', '.join(provided)}" if provided else "on-demand"


def _key(schema: Mapping[str, Any]) -> str:
    parts = [_templates(schema.get(name)) for name in ("partition", "sort")]
    return " / ".join(part for part in parts if part)


def _templates(templates: Any) -> str:
    texts = [templates] if isinstance(templates, str) else templates or []
    return " + ".join(f"<code>{escape(text)}</code>" for text in texts)


# The comparison


def _comparison_table(comparison: result_types.Comparison) -> str:
    names = "".join(f"<th>{escape(design.name)}</th>" for design in comparison.designs)
    body = "".join(_group(group, len(comparison.designs)) for group in groups(comparison))
    return (
        '<section id="comparison" class="panel"><h2>Comparison</h2><div class="scroll">'
        f'<table class="compare"><thead><tr><th></th>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _group(group: Group, designs: int) -> str:
    head = f'<tr class="group"><th colspan="{designs + 1}">{escape(group.title)}</th></tr>'
    return head + "".join(_row(row) for row in group.rows)


def _row(row: Row) -> str:
    label = escape(row.label)
    if row.hint:
        label = f'<span class="hint" title="{escape(row.hint)}">{label}</span>'
    cells = "".join(f"<td{_mark(cell)}>{escape(cell.text)}</td>" for cell in row.cells)
    kind = ' class="detail"' if row.detail else ""
    return f'<tr{kind}><th scope="row">{label}</th>{cells}</tr>'


def _mark(cell: Cell) -> str:
    return f' class="m-{cell.mark}"' if cell.mark else ""


# One design


def _design(index: int, design: result_types.DesignResult) -> str:
    several = len(design.resources) > 1
    blocks = "".join(
        _resource_block(index, number, design, titled=several)
        for number in range(len(design.resources))
    )
    whole = "".join(_figure(chart, design, index) for chart in summary_charts(design))
    return (
        f'<section id="{_anchor(index)}" class="panel {design.grade}">'
        f"<h2>{escape(design.name)} {_badge(design)}</h2>"
        f'<p class="keys">{keys(design.design)}</p>{_shown_world(design)}{blocks}'
        f'<h3>The design as a whole</h3><div class="charts">{whole}</div>'
        f"{_break_even(design)}{_patterns(design.patterns)}{_confidence(design)}</section>"
    )


def _shown_world(design: result_types.DesignResult) -> str:
    """Return which world the pictures and figures of a design are of."""
    if design.shown_world is None:
        return ""
    count = words.counted(len(design.worlds), "world")
    return (
        f'<p class="quiet">Pictures and figures are those of the median of {count} by the share '
        f"of throttled calls, the one of seed {design.shown_world}.</p>"
    )


def _resource_block(
    index: int, number: int, design: result_types.DesignResult, *, titled: bool
) -> str:
    resource = design.resources[number]
    name = "" if resource.name == resource.kind else f" {escape(resource.name)}"
    head = f"<h3>{resource.kind.capitalize()}{name}</h3>" if titled else ""
    heat, *others = (_figure(chart, design, index, number) for chart in resource_charts(resource))
    return (
        f'{head}{heat}<div class="charts">{"".join(others)}'
        f"{_top_keys(resource)}</div>{_collections(resource.collections)}"
    )


def _figure(
    chart: Chart, design: result_types.DesignResult, index: int, number: int | None = None
) -> str:
    where = "" if number is None else f"-{slug(design.resources[number].name)}"
    data = "" if number is None else f' data-resource="{number}"'
    wide = ' class="wide"' if chart.name == "heat" else ""
    return (
        f'<figure id="{slug(design.name)}{where}-{chart.name}" data-design="{index}"{data}{wide}>'
        f"<figcaption><b>{escape(chart.title)}</b>{escape(chart.caption)}</figcaption>"
        '<div class="export"><button data-save="svg">SVG</button>'
        f'<button data-save="png">PNG</button></div>{chart.svg}</figure>'
    )


def _top_keys(resource: result_types.ResourceResult) -> str:
    if not resource.top_keys:
        return ""
    most = resource.top_keys[0].share or 1.0
    rows = "".join(_top_key(key, most) for key in resource.top_keys[:10])
    return (
        "<figure><figcaption><b>Busiest partition keys</b>Share of the demand"
        "; red where requests were refused.</figcaption>"
        f"<table><tbody>{rows}</tbody></table></figure>"
    )


def _top_key(key: result_types.KeyShare, most: float) -> str:
    kind = "bar refused" if key.throttled_units else "bar"
    return (
        f'<tr><th scope="row"><code>{escape(key.key)}</code></th>'
        f'<td class="bars"><span class="{kind}" style="width:{key.share / most:.1%}"></span></td>'
        f'<td class="n">{words.percent(key.share)}</td></tr>'
    )


def _collections(sizes: result_types.CollectionSizes) -> str:
    if not sizes.count:
        return ""
    text = (
        f"{words.counted(sizes.count, 'item collection')} with "
        f"{words.counted(sizes.items, 'item')} and "
        f"{words.size(sizes.total_bytes)}; the largest ({sizes.largest_key}) has "
        f"{words.size(sizes.largest_bytes)} and grows by "
        f"{words.size(sizes.largest_growth_bytes_per_day)} a day."
    )
    return f'<p class="quiet">{escape(text)}</p>'


def _break_even(design: result_types.DesignResult) -> str:
    lines = "".join(
        f"<li>{escape(row.resource)} {row.axis}s: {words.percent(row.utilisation)} used on "
        f"average; provisioned pays from {words.percent(row.break_even)}, so {row.cheaper} is "
        "cheaper.</li>"
        for row in design.break_even
    )
    return f'<ul class="quiet">{lines}</ul>' if lines else ""


_PATTERN_HEAD: Final = (
    ("access pattern", ""),
    ("operation", ""),
    ("answered by", ""),
    ("requests", "n"),
    ("calls each", "n"),
    ("throttled", "n"),
    ("attempts p50 / p99", "n"),
    ("added latency p50 / p99", "n"),
    ("units each", "n"),
    ("filtered away", "n"),
)


def _patterns(patterns: Sequence[result_types.PatternResult]) -> str:
    head = "".join(f'<th class="{cls}">{name}</th>' for name, cls in _PATTERN_HEAD)
    rows = "".join(
        _table_row(_pattern(pattern), (cls for _, cls in _PATTERN_HEAD)) for pattern in patterns
    )
    return (
        '<h3>Access patterns</h3><div class="scroll"><table class="patterns">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _pattern(pattern: result_types.PatternResult) -> list[str]:
    wait = pattern.added_latency_seconds
    tries = pattern.attempts_per_call
    return [
        pattern.name,
        pattern.operation,
        pattern.resource,
        words.count(pattern.requests),
        words.significant(pattern.fan_out),
        words.percent(pattern.throttled_share),
        f"{words.significant(tries.p50)} / {words.significant(tries.p99)}",
        f"{words.duration(wait.p50)} / {words.duration(wait.p99)}",
        units_each(pattern),
        words.percent(pattern.filter_waste_share) if pattern.filtered_bytes else words.NONE,
    ]


def units_each(pattern: result_types.PatternResult) -> str:
    """Return what one request of a pattern costs, over its table and indexes."""
    if not pattern.requests:
        return words.NONE
    read = sum(units.read for units in pattern.units) / pattern.requests
    write = sum(units.write for units in pattern.units) / pattern.requests
    parts = [
        f"{words.significant(amount)} {name}"
        for amount, name in ((read, "RCU"), (write, "WCU"))
        if amount
    ]
    return " + ".join(parts) or "0"


def _table_row(cells: Iterable[str], classes: Iterable[str]) -> str:
    pairs = zip(cells, classes, strict=True)
    return "<tr>" + "".join(f'<td class="{c}">{escape(text)}</td>' for text, c in pairs) + "</tr>"


def _confidence(design: result_types.DesignResult) -> str:
    if not design.confidence or len(design.confidence[0].values) < 2:
        return ""
    rows = "".join(
        _table_row(
            (
                row.measure.replace("_", " "),
                words.significant(row.mean),
                f"{words.significant(row.low)} to {words.significant(row.high)}",
            ),
            ("", "n", "n"),
        )
        for row in design.confidence
    )
    worlds = len(design.confidence[0].values)
    return (
        f"<details><summary>Over {worlds} worlds</summary><table><thead><tr><th>measure</th>"
        '<th class="n">mean</th><th class="n">95 % interval of the mean</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></details>"
    )


# Checks, assumptions, inputs


def _checks(comparison: result_types.Comparison) -> str:
    findings = [(design, finding) for design in comparison.designs for finding in design.findings]
    if findings:
        rows = "".join(_finding(design, finding) for design, finding in findings)
        body = (
            '<div class="scroll"><table><thead><tr><th></th><th>design</th><th>about</th>'
            f"<th>finding</th><th>cure</th></tr></thead><tbody>{rows}</tbody></table></div>"
        )
    else:
        body = '<p class="quiet">The checks found nothing to object to.</p>'
    return f'<section id="checks" class="panel"><h2>Checks</h2>{body}</section>'


def _finding(design: result_types.DesignResult, finding: Finding) -> str:
    return (
        f'<tr><td><span class="sev {finding.severity}">{finding.severity}</span></td>'
        f"<td>{escape(design.name)}</td><td>{escape(finding.subject)}</td>"
        f'<td><span class="hint" title="{escape(finding.check)}">'
        f"{_sentence(finding.message)}</span></td>"
        f"<td>{_sentence(finding.fix)}</td></tr>"
    )


def _assumptions(comparison: result_types.Comparison) -> str:
    """Return what the answers depend on: the unknowns by world, and what is assumed besides."""
    intro = (
        "The service does not tell where keys lie, when partitions split or how far an index may "
        "fall behind. Each row draws one of these anew in twenty worlds and leaves all else as it "
        "was: the range is that of the share of throttled calls."
    )
    rows = "".join(
        _unknown(design, effect) for design in comparison.designs for effect in design.unknowns
    )
    tables = _headed_table(("design", "unknown", "calls throttled", "worlds that throttle"), rows)
    constants = "".join(
        _assumption(design, assumption)
        for design in comparison.designs
        for assumption in design.assumptions
    )
    if constants:
        tables += (
            '<p class="quiet">These constants are assumed, too, and the same in every world; each '
            "is a setting.</p>" + _headed_table(("design", "setting", "assumed"), constants)
        )
    return (
        '<section id="assumptions" class="panel"><h2>What the answers depend on</h2>'
        f'<p class="quiet">{intro}</p>{tables}</section>'
    )


def _headed_table(heads: Sequence[str], rows: str) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _unknown(design: result_types.DesignResult, effect: result_types.UnknownEffect) -> str:
    return (
        f"<tr><td>{escape(design.name)}</td><td>{escape(effect.name)} "
        f'<span class="quiet">{escape(effect.rule)}</span></td>'
        f"<td>{words.percent(effect.low)} to {words.percent(effect.high)}</td>"
        f"<td>{words.percent(effect.chance)} of {effect.worlds}</td></tr>"
    )


def _assumption(design: result_types.DesignResult, assumption: result_types.Assumption) -> str:
    return (
        f"<tr><td>{escape(design.name)}</td><td><code>{escape(assumption.setting)}</code> "
        f'<span class="quiet">{escape(assumption.rule)}</span><br>{escape(assumption.meaning)}</td>'
        f"<td>{words.significant(assumption.value)}</td></tr>"
    )


def _inputs(comparison: result_types.Comparison) -> str:
    documents = [("Workload", comparison.workload)]
    documents += [(f"Design: {design.name}", design.design) for design in comparison.designs]
    blocks = "".join(
        f"<details><summary>{escape(name)}</summary>"
        f"<pre>{escape(json.dumps(document, indent=2))}</pre></details>"
        for name, document in documents
    )
    return f'<section id="inputs" class="panel"><h2>What was run</h2>{blocks}</section>'


def _footer() -> str:
    return (
        f'<footer><div class="in"><p>Made by dynamometer {__version__}. Prices are those of '
        "us-east-1. The model follows what the service documents and what others have measured; "
        "what nobody has published is drawn in many worlds.</p>"
        '<p class="data"><button data-save="json">Download the data (JSON)</button></p>'
        "</div></footer>"
    )
