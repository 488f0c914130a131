"""Designs side by side: the pictures that hold all of them against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.rows import (
    INCOMPLETE,
    best,
    headroom,
    is_incomplete,
    month,
    month_cell,
    risk,
)
from emulator.lab.report import pictures
from emulator.lab.report.charts import Chart, cost_parts, design_charts

_COLORS: Final = ("d1", "d2", "d3", "d4", "d5", "d6")


def charts(comparison: result_types.Comparison) -> Iterator[Chart]:
    """Yield every picture of a comparison: side by side, then design by design."""
    for chart in comparison_charts(comparison):
        yield chart._replace(name=f"comparison-{chart.name}")
    for design in comparison.designs:
        yield from design_charts(design)


def comparison_charts(comparison: result_types.Comparison) -> Iterator[Chart]:
    """Yield the pictures that show every design, if there are any designs."""
    designs = comparison.designs
    if not designs:
        return
    if all(design.risk is not None for design in designs):
        caption = "The share of worlds in which a design throttles, with its 95 % interval."
        yield Chart("risk", "Risk", caption, risks(designs))
    if all(design.headroom is not None for design in designs):
        caption = "The largest multiple of this load that a design carries."
        yield Chart("headrooms", "Headroom", caption, headrooms(designs))
    caption = "Share of the demand in each step, over reads and writes of all tables and indexes."
    yield Chart("over-time", "Throttling over time", caption, over_time(comparison))
    caption = "Capacity units over the whole run; each retry counts again."
    yield Chart("units", "Consumed and refused", caption, units(designs))
    if all(month(design) is not None for design in designs):
        yield Chart("costs", "Cost of a month", _cost_caption(designs), costs(designs))
    if all(design.worlds for design in designs):
        caption = "Number of worlds by the share of calls that they throttle."
        yield Chart("worlds", "Distribution over worlds", caption, worlds(designs))
    if any(design.unknowns for design in designs):
        caption = (
            "How much the share of throttled calls changes when one unknown is drawn again in "
            "ten worlds and everything else stays the same."
        )
        yield Chart("unknowns", "Which unknown matters", caption, unknowns(designs))


def color(index: int) -> str:
    """Return the colour of a design.

    >>> color(0), color(6)
    ('d1', 'd1')
    """
    return _COLORS[index % len(_COLORS)]


def risks(designs: Sequence[result_types.DesignResult]) -> pictures.Intervals:
    """Show the chance that a design throttles."""
    cells = [risk(design) for design in designs]
    good = best(cells, "low")
    rows = [
        pictures.Interval(
            name=design.name,
            low=design.risk.low,
            value=design.risk.chance,
            high=design.risk.high,
            text=cells[index].text,
            color=color(index),
            range_name="95 % interval",
            is_best=index in good,
        )
        for index, design in enumerate(designs)
        if design.risk is not None
    ]
    return pictures.Intervals(
        label="Chance of throttling by design", rows=tuple(rows), format="percent", most=1.0
    )


def headrooms(designs: Sequence[result_types.DesignResult]) -> pictures.Bars:
    """Show how much more of the load each design carries, on a ratio scale."""
    multiples = [design.headroom.multiple if design.headroom else 0.0 for design in designs]
    cells = [headroom(design) for design in designs]
    good = best(cells, "high")
    rows = [
        pictures.Bar(
            name=design.name,
            parts=(pictures.BarPart(name="headroom", value=multiple, color=color(index)),),
            text=cells[index].text,
            is_best=index in good,
        )
        for index, (design, multiple) in enumerate(zip(designs, multiples, strict=True))
    ]
    lowest = min([1.0, *(multiple for multiple in multiples if multiple)])
    return pictures.Bars(
        label="Headroom by design",
        rows=tuple(rows),
        format="multiple",
        scale="ratio",
        low=lowest / 2,
        guides=(pictures.Guide(x=1.0, text="this load"),),
    )


# Over time


def over_time(comparison: result_types.Comparison) -> pictures.OverTime:
    """Show the refused share of each design over time; or what was consumed or refused."""
    flows = [_flow(design) for design in comparison.designs]
    step = comparison.designs[0].resources[0].write.fine.step_seconds
    names = [design.name for design in comparison.designs]
    measures: tuple[tuple[str, str, pictures.Format, list[tuple[float, ...]]], ...] = (
        ("throttled share", "share of requested units that was refused", "percent", []),
        ("consumed", "units consumed per second", "count", []),
        ("refused", "units refused per second", "count", []),
    )
    for consumed, refused in flows:
        pairs = list(zip(consumed, refused, strict=True))
        measures[0][3].append(tuple(b / (a + b) if a + b else 0.0 for a, b in pairs))
        measures[1][3].append(tuple(consumed))
        measures[2][3].append(tuple(refused))
    return pictures.OverTime(
        label="Throttling over time by design",
        step=step,
        is_choice=True,
        panels=tuple(
            pictures.Panel(
                name=name,
                title=title,
                format=form,
                height=220,
                series=tuple(
                    pictures.ChartSeries(
                        name=design, values=values, color=color(index), shape="line"
                    )
                    for index, (design, values) in enumerate(zip(names, lines, strict=True))
                ),
            )
            for name, title, form, lines in measures
        ),
    )


def _flow(design: result_types.DesignResult) -> tuple[list[float], list[float]]:
    """Return the units consumed and refused per second, by step, over tables and indexes."""
    axes = [axis.fine for resource in design.resources for axis in (resource.read, resource.write)]
    consumed = [sum(step) for step in zip(*(axis.consumed for axis in axes), strict=True)]
    refused = [sum(step) for step in zip(*(axis.throttled for axis in axes), strict=True)]
    return consumed, refused


# Units and costs


def units(designs: Sequence[result_types.DesignResult]) -> pictures.Bars:
    """Show the units that each design consumed and refused."""
    rows = []
    for design in designs:
        axes = [axis for resource in design.resources for axis in (resource.read, resource.write)]
        consumed = sum(axis.consumed_units for axis in axes)
        refused = sum(axis.throttled_units for axis in axes)
        said = f"{words.count(consumed)} consumed"
        if refused:
            said += f", {words.count(refused)} refused"
        parts = (
            pictures.BarPart(name="consumed", value=consumed, color="blue"),
            pictures.BarPart(name="refused", value=refused, color="red"),
        )
        rows.append(pictures.Bar(name=design.name, parts=parts, text=said))
    return pictures.Bars(label="Consumed and refused by design", rows=tuple(rows), format="count")


def _cost_caption(designs: Sequence[result_types.DesignResult]) -> str:
    text = "As each design is billed."
    if any(is_incomplete(design) for design in designs):
        text += f" {INCOMPLETE} Calls that were given up are not included, so the cost is too low."
    return text


def costs(designs: Sequence[result_types.DesignResult]) -> pictures.Bars:
    """Show the monthly cost of each design; one that did not serve its load cannot be the best."""
    cells = [month_cell(design) for design in designs]
    good = best(cells, "low")
    rows = [
        pictures.Bar(
            name=design.name,
            parts=cost_parts(bill),
            text=cells[index].text,
            is_best=index in good,
        )
        for index, design in enumerate(designs)
        if (bill := month(design)) is not None
    ]
    return pictures.Bars(label="Cost of a month by design", rows=tuple(rows), format="dollars")


# Worlds


def worlds(designs: Sequence[result_types.DesignResult]) -> pictures.Distribution:
    """Show how the share of throttled calls is spread over the worlds of each design."""
    rows = tuple(
        pictures.Histogram(
            name=design.name,
            values=tuple(world.throttled_share for world in design.whole_worlds),
            text=words.counted(len(design.whole_worlds), "world"),
            color=color(index),
        )
        for index, design in enumerate(designs)
    )
    return pictures.Distribution(
        label="Share of throttled calls by world",
        rows=rows,
        format="percent",
        title="calls throttled",
        noun="worlds",
    )


def unknowns(designs: Sequence[result_types.DesignResult]) -> pictures.Intervals:
    """Show how far each unknown moves each design, the widest first."""
    effects = [
        (index, design, effect)
        for index, design in enumerate(designs)
        for effect in design.unknowns
    ]
    effects.sort(key=lambda entry: entry[2].low - entry[2].high)
    rows = tuple(
        pictures.Interval(
            name=f"{design.name}: {effect.name}",
            low=effect.low,
            high=effect.high,
            text=_range(effect),
            color=color(index),
            range_name="calls throttled",
        )
        for index, design, effect in effects
    )
    most = max((effect.high for _, _, effect in effects), default=1.0)
    return pictures.Intervals(
        label="Calls throttled by unknown", rows=rows, format="percent", most=most or 1.0
    )


def _range(effect: result_types.UnknownEffect) -> str:
    low, high = words.percent(effect.low), words.percent(effect.high)
    return low if low == high else f"{low} to {high}"
