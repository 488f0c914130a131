"""Results in a notebook: as markup that needs no script, and as a frame of pandas.

A notebook has its own colours, so the markup sets few: a sign and a word tell the grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from emulator.lab.outcome import rows, words

if TYPE_CHECKING:
    import pandas

    from emulator.lab.outcome.result_types import Comparison, DesignResult

NEEDS_PANDAS: Final = "to_frame() needs pandas: pip install pandas"
_COLORS: Final = {
    "throttles": "#c53a1e",
    "risky": "#c05a00",
    "heals": "#a87400",
    "tight": "#a87400",
    "fine": "#2a8f60",
}
_LEFT: Final = "text-align:left;vertical-align:top;white-space:normal"
_RIGHT: Final = "text-align:right;vertical-align:top"


# As markup


def comparison_markup(comparison: Comparison) -> str:
    """Return a comparison for a notebook: the verdicts, and folded under them every measure."""
    verdicts = "".join(f"<li>{_verdict(design)}</li>" for design in comparison.designs)
    return (
        f"<div><b>{escape(comparison.title)}</b><br>"
        f"<small>{escape(rows.summary(comparison))}</small>"
        f'<ul style="margin:.5em 0">{verdicts}</ul>{_figures(comparison.designs)}'
        f"<details><summary>All measures</summary>{_measures(comparison)}</details></div>"
    )


def design_markup(design: DesignResult) -> str:
    """Return one design for a notebook."""
    return f"<div>{_verdict(design)}{_figures([design])}</div>"


def _verdict(design: DesignResult) -> str:
    fix = f"<br>Smallest fix: {escape(words.sentence(design.fix))}" if design.fix else ""
    return (
        f'<b>{escape(design.name)}</b> <b style="color:{_COLORS[design.grade]}">{design.grade}</b>'
        f"<br>{escape(words.sentence(design.verdict))}{fix}"
    )


def _figures(designs: Sequence[DesignResult]) -> str:
    """Return the few figures that decide, one line for each design."""
    heads = ("design", "worlds that throttle", "", "calls throttled", "headroom", "a month")
    lines = [
        (
            escape(design.name),
            escape(rows.risk(design).text),
            _bar(design),
            words.percent(design.throttled_share),
            rows.headroom(design).text,
            rows.month_cell(design).text,
        )
        for design in designs
    ]
    return _table(heads, lines)


def _bar(design: DesignResult) -> str:
    """Return the chance of throttling as a bar."""
    if design.risk is None:
        return ""
    return (
        '<div style="width:100px;height:8px;background:rgba(127,127,127,.25)">'
        f'<div style="width:{design.risk.chance:.0%};height:8px;'
        f'background:{_COLORS[design.grade]}"></div></div>'
    )


def _measures(comparison: Comparison) -> str:
    heads = ("", *(design.name for design in comparison.designs))
    lines: list[tuple[str, ...]] = []
    for group in rows.groups(comparison):
        lines.append((f"<b>{escape(group.title)}</b>", *("" for _ in comparison.designs)))
        lines += [(escape(row.label), *_cells(row)) for row in group.rows]
    return _table(tuple(escape(head) for head in heads), lines)


def _cells(row: rows.FigureRow) -> Iterator[str]:
    best = rows.best(row.cells, row.better)
    for index, cell in enumerate(row.cells):
        yield escape(cell.text) + (" \u2713" if index in best else "")


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        styles = (_LEFT, *(_RIGHT for _ in cells[1:]))
        pairs = zip(cells, styles, strict=True)
        return "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell, style in pairs)

    body = "".join(f"<tr>{line(cells, 'td')}</tr>" for cells in lines)
    return f"<table><thead><tr>{line(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"


# As text

#: Columns of a terminal that a table at a prompt may take.
_WIDTH: Final = 80


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as a table of a line for each design."""
    return _text([((), design) for design in comparison.designs], ())


def sweep_text(points: Sequence[tuple[dict[str, float], DesignResult]]) -> str:
    """Return a sweep as a table of a line for each point and design."""
    names = tuple(points[0][0]) if points else ()
    return _text([(tuple(point.values()), design) for point, design in points], names)


def _text(lines: Sequence[tuple[Sequence[float], DesignResult]], parameters: Sequence[str]) -> str:
    heads = [*parameters, "design", "grade", "throttles in", "refused", "headroom", "a month"]
    table = [heads]
    for values, design in lines:
        risk = words.NONE if design.risk is None else words.percent(design.risk.chance)
        table.append(
            [
                *map(words.significant, values),
                design.name,
                design.grade,
                risk,
                words.percent(design.throttled_share),
                rows.headroom(design).text,
                rows.month_cell(design).text,
            ]
        )
    widths = [max(len(line[at]) for line in table) for at in range(len(heads))]
    spare = _WIDTH - sum(widths) - 2 * (len(widths) - 1)
    name = len(parameters)
    widths[name] = max(8, widths[name] + min(0, spare))
    texts = (
        "  ".join(
            cell[: widths[at]].ljust(widths[at]) if at <= name + 1 else cell.rjust(widths[at])
            for at, cell in enumerate(line)
        ).rstrip()
        for line in table
    )
    return "\n".join(texts).replace(words.SPACE, " ")


def sweep_markup(points: Sequence[tuple[dict[str, float], DesignResult]]) -> str:
    """Return a sweep for a notebook."""
    names = tuple(points[0][0]) if points else ()
    heads = (*map(escape, names), "design", "grade", "worlds that throttle", "", "a month")
    lines = [
        (
            *map(words.significant, point.values()),
            escape(design.name),
            design.grade,
            escape(rows.risk(design).text),
            _bar(design),
            rows.month_cell(design).text,
        )
        for point, design in points
    ]
    return f"<div>{_table(heads, lines)}</div>"


# As a frame


def comparison_frame(comparison: Comparison) -> pandas.DataFrame:
    """Return the measures of a comparison, a row for each design.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    records = [_record(design) for design in comparison.designs]
    return _pandas().DataFrame.from_records(records, index="design")


def sweep_frame(points: Sequence[tuple[dict[str, float], DesignResult]]) -> pandas.DataFrame:
    """Return the measures of a sweep, a row for each point and design.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    return _pandas().DataFrame.from_records([point | _record(own) for point, own in points])


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError(NEEDS_PANDAS, name="pandas") from None
    return pandas


def _record(design: DesignResult) -> dict[str, Any]:
    risk, room, month = design.risk, design.headroom, rows.month(design)
    axes = [axis for resource in design.resources for axis in (resource.read, resource.write)]
    return {
        "design": design.name,
        "grade": design.grade,
        "risk": risk and risk.chance,
        "risk_low": risk and risk.low,
        "risk_high": risk and risk.high,
        "worlds": risk and risk.worlds,
        "throttled_share": design.throttled_share,
        "given_up_share": design.given_up_share,
        "first_throttle_seconds": design.time_to_first_throttle,
        "headroom": room and room.multiple,
        "hottest_partition_share": max(r.hottest_partition_share for r in design.resources),
        "hottest_key_share": max(r.hottest_key_share for r in design.resources),
        "partitions": sum(p.died is None for r in design.resources for p in r.heat.partitions),
        "splits": sum(1 for split in design.splits if split.children),
        "consumed_units": sum(axis.consumed_units for axis in axes),
        "refused_units": sum(axis.throttled_units for axis in axes),
        "month_usd": month and month.total,
        "usd_per_million_served": month and month.per_million_served,
        "is_month_complete": not rows.is_incomplete(design),
        "verdict": design.verdict,
        "fix": design.fix,
    }
