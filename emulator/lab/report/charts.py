"""The pictures of a report: which there are, and what each shows of a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.rows import cost_name
from emulator.lab.report import pictures
from emulator.lab.report.drawing import draw

#: What is provisioned leaves the picture when it would press the demand against the floor.
_OFF_THE_CHART: Final = 5.0
#: Retries of what is refused multiply; the picture keeps to what can be served, and some more.
_HEADROOM: Final = 1.8
#: Less than this share of calls is rounding.
_NO_SHARE: Final = 1e-9
_MAX_ATTEMPTS: Final = 8
_LEAST_SHARE: Final = 0.0001
#: Under a hundred keys one percent of them is not even one.
_FEW_KEYS: Final = 100


class Chart(NamedTuple):
    """A picture: the name of its file, what it is called, what it says, and what it shows."""

    name: str
    title: str
    caption: str
    picture: pictures.Picture

    @property
    def svg(self) -> str:
        """The drawing, as an element of a page."""
        return draw(self.picture)


def design_charts(design: result_types.DesignResult) -> Iterator[Chart]:
    """Yield the pictures of one design: those of each table and index, then those of the whole."""
    for resource in design.resources:
        for chart in resource_charts(resource):
            yield chart._replace(name=f"{slug(design.name)}-{slug(resource.name)}-{chart.name}")
    for chart in summary_charts(design):
        yield chart._replace(name=f"{slug(design.name)}-{chart.name}")


def slug(name: str) -> str:
    """Return a name as a part of a file name.

    >>> slug("by device, index on type")
    'by-device-index-on-type'
    """
    kept = "".join(letter if letter.isalnum() else " " for letter in name)
    return "-".join(kept.lower().split()) or "design"


def resource_charts(resource: result_types.ResourceResult, source: str = "") -> Iterator[Chart]:
    """Yield the pictures of one table or index; ``source`` is where the page has its data."""
    heat = pictures.Partitions(resource=resource, source=source)
    yield Chart("heat", "Partitions over time", _heat_caption(resource), heat)
    for name, axis in (("write", resource.write), ("read", resource.read)):
        if axis.consumed_units or axis.throttled_units:
            title = f"{name.capitalize()} throughput"
            where = f"{source}/{name}/fine" if source else ""
            picture = throughput(axis.fine, name, where)
            yield Chart(f"{name}s", title, _axis_caption(axis), picture)
    yield Chart(
        "concentration",
        "Concentration of traffic",
        _concentration_caption(resource),
        concentration(resource),
    )


def summary_charts(design: result_types.DesignResult) -> Iterator[Chart]:
    """Yield the pictures of a design as a whole."""
    caption = "How often a call was sent until it was answered."
    yield Chart("attempts", "Attempts per call", caption, attempts(design))
    if design.costs:
        caption = "The same traffic under every billing mode, and in the other table class."
        yield Chart("cost", "Cost of a month", caption, costs(design.costs))
    if design.headroom is not None:
        caption = _headroom_caption(design.headroom)
        yield Chart("headroom", "Headroom", caption, headroom(design.headroom))


def _heat_caption(resource: result_types.ResourceResult) -> str:
    share = words.percent(resource.hottest_partition_share)
    text = f"The hottest partition gets {share} of the demand."
    split = sum(1 for split in resource.splits if split.children)
    refused = [split for split in resource.splits if not split.children]
    if split:
        text += f" {words.counted(split, 'split')}."
    if refused:
        causes = ", ".join(sorted({units.cause for units in refused}))
        text += f" {words.counted(len(refused), 'split')} did not happen: {causes}."
    return text


# Throughput over time


def _axis_caption(axis: result_types.AxisResult) -> str:
    used = (
        ""
        if axis.utilisation is None
        else f", {words.percent(axis.utilisation)} of what is paid for"
    )
    peak = words.count(axis.peak)
    text = f"{words.count(axis.consumed_units)} units consumed{used}; at most {peak} in a second."
    if axis.throttled_units:
        text += f" Refused attempts asked for {words.count(axis.throttled_units)} more."
    return text


def throughput(series: result_types.MinuteSeries, axis: str, source: str = "") -> pictures.OverTime:
    """Show the units consumed and refused per second, and under them the burst reserve."""

    def line(name: str, field: str, color: str, shape: str) -> pictures.ChartSeries:
        return pictures.ChartSeries(
            name=name,
            values=getattr(series, field),
            color=color,
            shape=shape,  # type: ignore[arg-type]
            source=f"{source}/{field}" if source else "",
        )

    demand = [a + b for a, b in zip(series.consumed, series.throttled, strict=True)]
    peak, provided = max(demand, default=0.0), max(series.provisioned, default=0.0)
    is_shown = provided <= peak * _OFF_THE_CHART
    served = max(max(series.consumed, default=0.0), provided if is_shown else 0.0)
    lines = [line("consumed", "consumed", "blue", "area")]
    if any(series.throttled):
        lines.append(line("refused attempts", "throttled", "red", "stack"))
    notes = [] if is_shown else [f"{words.count(provided)} available"]
    if is_shown:
        lines.append(line("available", "provisioned", "ink", "dash"))
    if peak > served * _HEADROOM:
        notes.append(f"refused attempts up to {words.count(peak)}")
    panels = [
        pictures.Panel(
            name="throughput",
            title=f"{axis} units per second",
            series=tuple(lines),
            format="count",
            height=190,
            ceiling=served * _HEADROOM or None,
            note=f"off the chart: {', '.join(notes)}" if notes else "",
        )
    ]
    if any(series.burst):
        reserve = line("burst reserve", "burst", "teal", "area")
        panels.append(
            pictures.Panel(
                name="reserve",
                title="units",
                series=(reserve,),
                format="count",
                height=80,
            )
        )
    return pictures.OverTime(
        label=f"{axis} throughput over time", step=series.step_seconds, panels=tuple(panels)
    )


# Concentration


def _concentration_caption(resource: result_types.ResourceResult) -> str:
    if resource.distinct_keys < _FEW_KEYS:
        return f"The busiest key takes {words.percent(resource.hottest_key_share)} of the traffic."
    share = traffic_of(resource.key_concentration, 0.01)
    return f"The busiest 1{words.SPACE}% of keys take {words.percent(share)} of the traffic."


def traffic_of(curve: result_types.Concentration, population: float) -> float:
    """Return the traffic of the busiest part of the population.

    >>> curve = result_types.Concentration(population=(0, 0.5, 1), traffic=(0, 0.8, 1))
    >>> traffic_of(curve, 0.25)
    0.4
    """
    before = (0.0, 0.0)
    for x, y in zip(curve.population, curve.traffic, strict=True):
        if x >= population:
            if x == before[0]:
                return y
            return before[1] + (y - before[1]) * (population - before[0]) / (x - before[0])
        before = (x, y)
    return 1.0


def concentration(resource: result_types.ResourceResult) -> pictures.Curve:
    """Show how much of the traffic falls on the busiest keys and partitions."""
    living = sum(1 for partition in resource.heat.partitions if partition.died is None)
    named = (
        (words.counted(resource.distinct_keys, "key"), resource.key_concentration, "blue"),
        (words.counted(living, "partition"), resource.partition_concentration, "amber"),
    )
    lines = [
        pictures.Line(
            name=name,
            points=((0.0, 0.0), *zip(curve.population, curve.traffic, strict=True)),
            color=color,
        )
        for name, curve, color in named
    ]
    diagonal = ((0.0, 0.0), (1.0, 1.0))
    lines.append(pictures.Line(name="perfectly even", points=diagonal, color="grey", is_guide=True))
    return pictures.Curve(
        label=f"Concentration of traffic on {resource.name}",
        series=tuple(lines),
        x=pictures.Axis(
            low=0.0, high=1.0, format="percent", title="busiest first", name="the busiest"
        ),
        y=pictures.Axis(
            low=0.0, high=1.0, format="percent", title="share of traffic", name="of the traffic"
        ),
    )


# Attempts


def attempts_shares(design: result_types.DesignResult) -> tuple[list[tuple[str, float]], float]:
    """Return the share of calls answered by number of attempts, and the share given up."""
    calls = sum(pattern.calls for pattern in design.patterns) or 1.0
    longest = max((len(pattern.attempts_histogram) for pattern in design.patterns), default=0)
    totals = [0.0] * max(longest, 1)
    for pattern in design.patterns:
        for index, value in enumerate(pattern.attempts_histogram):
            totals[index] += value / calls
        for index, value in enumerate(pattern.failed_histogram):
            totals[index] -= value / calls
    totals = [max(0.0, share) for share in totals]
    while len(totals) > 1 and totals[-1] < _NO_SHARE:
        totals.pop()
    rows = [(str(index + 1), share) for index, share in enumerate(totals[:_MAX_ATTEMPTS])]
    if len(totals) > _MAX_ATTEMPTS:
        rows.append((f"{_MAX_ATTEMPTS + 1} or more", sum(totals[_MAX_ATTEMPTS:])))
    return rows, sum(pattern.failed for pattern in design.patterns) / calls


def attempts(design: result_types.DesignResult) -> pictures.Bars:
    """Show the share of calls answered at the first attempt, the second, and of those given up."""
    rows, failed = attempts_shares(design)
    shares = [
        (f"{name} attempt{'' if name == '1' else 's'}", share, "blue") for name, share in rows
    ]
    if failed:
        shares.append(("given up", failed, "red"))
    return pictures.Bars(
        label="Attempts per call",
        rows=tuple(
            pictures.Bar(
                name=name,
                parts=(pictures.BarPart(name="share of calls", value=share, color=color),),
                text=words.percent(share),
                is_strong=False,
            )
            for name, share, color in shares
        ),
        format="percent",
        is_beside=True,
    )


# Headroom


def _headroom_caption(searched: result_types.Headroom) -> str:
    limit = words.percent(searched.threshold)
    text = f"Up to {words.multiple(searched.multiple, at_least=searched.at_least)} this load "
    text += f"throttles less than {limit} of calls."
    if searched.limited_by is not None:
        text += f" Then {words.reason(searched.limited_by)}."
    return text


def headroom(searched: result_types.Headroom) -> pictures.Curve:
    """Show the throttled share over multiples of the load, both on ratio scales."""
    curve = sorted(searched.curve, key=lambda point: point.multiple)
    multiples = [point.multiple for point in curve] + [1.0, searched.multiple]
    low, high = min(m for m in multiples if m > 0) / 1.15, max(multiples) * 1.15
    points = tuple((point.multiple, point.throttled_share) for point in curve)
    return pictures.Curve(
        label="Throttled share by multiple of the load",
        series=(pictures.Line(name="calls throttled", points=points, color="blue", dots=True),),
        x=pictures.Axis(
            low=low,
            high=high,
            format="multiple",
            title="multiple of the load",
            scale="ratio",
            base=2.0,
        ),
        y=pictures.Axis(
            low=_LEAST_SHARE,
            high=1.0,
            format="percent",
            title="calls throttled",
            scale="ratio",
            low_text="0",
        ),
        guides=(
            pictures.Guide(y=searched.threshold, text=f"limit {words.percent(searched.threshold)}"),
            pictures.Guide(x=1.0, text="this load"),
        ),
    )


# Cost

_COST_PARTS: Final = (
    ("write", "blue", "writes"),
    ("read", "teal", "reads"),
    ("storage", "amber", "storage"),
    ("", "violet", "other"),
)


def cost_parts(cost: result_types.Cost) -> tuple[pictures.BarPart, ...]:
    """Return the parts of a bill for writes, reads, storage and the rest."""
    amounts = dict.fromkeys((part for part, _, _ in _COST_PARTS), 0.0)
    for line in cost.lines:
        part = next(part for part in amounts if part in line.item)
        amounts[part] += line.amount
    return tuple(
        pictures.BarPart(name=name, value=amounts[part], color=color)
        for part, color, name in _COST_PARTS
        if amounts[part]
    )


def costs(bills: Sequence[result_types.Cost]) -> pictures.Bars:
    """Show a bar for every way to pay, divided into writes, reads and storage."""
    return pictures.Bars(
        label="Monthly cost by billing mode",
        rows=tuple(
            pictures.Bar(
                name=cost_name(cost) + (" (this design)" if cost.chosen else ""),
                parts=cost_parts(cost),
                text=words.dollars(cost.total),
                is_strong=cost.chosen,
            )
            for cost in bills
        ),
        format="dollars",
    )
