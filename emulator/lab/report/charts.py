"""The pictures of a report: which there are, and how each is drawn from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from emulator.lab.outcome import result_types, words
from emulator.lab.report import svg
from emulator.lab.report.heat_map import heat_map

WIDTH: Final = 520.0
HEIGHT: Final = 300.0
#: What is provisioned leaves the picture when it would press the demand against the floor.
_OFF_THE_CHART: Final = 5.0
#: Retries of what is refused multiply; the picture keeps to what can be served, and some more.
_HEADROOM: Final = 1.8
_BAR: Final = 20.0
#: Less than this share of calls is rounding.
_NO_SHARE: Final = 1e-9
_MAX_ATTEMPTS: Final = 8
_LEAST_SHARE: Final = 0.0001
#: Under a hundred keys one percent of them is not even one.
_FEW_KEYS: Final = 100


class Chart(NamedTuple):
    """A picture: the name of its file, what it is called, what it shows, and the drawing."""

    name: str
    title: str
    caption: str
    svg: str


def charts(comparison: result_types.Comparison) -> Iterator[Chart]:
    """Yield every picture of a comparison, design by design."""
    for design in comparison.designs:
        yield from design_charts(design)


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


def resource_charts(resource: result_types.ResourceResult) -> Iterator[Chart]:
    """Yield the pictures of one table or index."""
    yield Chart("heat", "Partitions over time", _heat_caption(resource), heat_map(resource))
    for name, axis in (("write", resource.write), ("read", resource.read)):
        if axis.consumed_units or axis.throttled_units:
            title = f"{name.capitalize()} throughput"
            yield Chart(f"{name}s", title, _axis_caption(axis), throughput(axis.fine, name))
    yield Chart(
        "concentration",
        "Concentration of traffic",
        _concentration_caption(resource),
        concentration(resource),
    )


def summary_charts(design: result_types.DesignResult) -> Iterator[Chart]:
    """Yield the pictures of a design as a whole."""
    yield Chart(
        "attempts", "Attempts per call", "How often a call was sent until it was answered.",
        attempts(design),
    )  # fmt: skip
    if design.costs:
        caption = "The same traffic under every billing mode, and in the other table class."
        yield Chart("cost", "Cost of a month", caption, costs(design.costs))
    if design.headroom is not None:
        caption = _headroom_caption(design.headroom)
        yield Chart("headroom", "Headroom", caption, headroom(design.headroom))


# Throughput over time


def _axis_caption(axis: result_types.AxisResult) -> str:
    used = (
        "" if axis.utilisation is None else f", {words.percent(axis.utilisation)} of what is paid"
    )
    peak = words.count(axis.peak)
    text = f"{words.count(axis.consumed_units)} units consumed{used}; at most {peak} in a second."
    if axis.throttled_units:
        text += f" Refused attempts asked for {words.count(axis.throttled_units)} more."
    return text


def throughput(series: result_types.Series, axis: str) -> str:
    """Draw what was consumed and refused per second, and under it the burst reserve."""
    drawing = svg.Drawing(WIDTH, HEIGHT, f"{axis} throughput over time")
    has_reserve = any(series.burst)
    lower = svg.Frame(drawing, 52, 216, WIDTH - 24, 248)
    upper = svg.Frame(drawing, 52, 30, WIDTH - 24, 190 if has_reserve else lower.bottom)
    seconds = len(series.consumed) * series.step_seconds
    x = svg.over_time(seconds, upper.left, upper.right, most=6)
    demand = [a + b for a, b in zip(series.consumed, series.throttled, strict=True)]
    peak, provided = max(demand, default=0.0), max(series.provisioned, default=0.0)
    shown = provided <= peak * _OFF_THE_CHART
    served = max(max(series.consumed, default=0.0), provided if shown else 0.0)
    y = svg.from_zero(min(max(peak, served), served * _HEADROOM) or peak, upper.bottom, upper.top)
    upper.y_axis(y, words.count, f"{axis} units per second")
    _draw_demand(upper, series, demand, x, y)
    entries = [("soft-blue", "consumed")]
    notes = [] if shown else [f"{words.count(provided)} available"]
    if any(series.throttled):
        entries.append(("soft-red", "refused attempts"))
    if peak > y.high:
        notes.append(f"refused attempts up to {words.count(peak)}")
    if shown:
        line = svg.stairs(series.provisioned, series.step_seconds, x, y)
        drawing.curve(line, "line-dash")
        entries.append(("line-dash", "available"))
    if notes:
        text = f"off the chart: {', '.join(notes)}"
        drawing.text(upper.right, upper.top - 9, text, "note end")
    if has_reserve:
        _draw_reserve(lower, series, x)
        entries.append(("soft-teal", "burst reserve"))
    lower.x_axis(x, words.duration)
    svg.legend(drawing, upper.left, HEIGHT - 6, entries)
    return drawing.render(_hover(upper, lower, axis))


def _draw_demand(
    frame: svg.Frame,
    series: result_types.Series,
    demand: Sequence[float],
    x: svg.Linear,
    y: svg.Linear,
) -> None:
    """Draw the consumed area, and on top of it what was refused."""
    step = series.step_seconds
    floor = [(frame.left, frame.bottom), (frame.right, frame.bottom)]
    served = svg.stairs(series.consumed, step, x, y)
    if any(series.throttled):
        wanted = svg.stairs([min(units, y.high) for units in demand], step, x, y)
        frame.drawing.area(wanted, served, "soft-red")
        if max(demand) <= y.high:
            frame.drawing.curve(wanted, "line-red")
    frame.drawing.area(served, floor, "soft-blue")
    frame.drawing.curve(served, "line-blue")
    frame.drawing.line((frame.left, frame.bottom), (frame.right, frame.bottom), "axis")


def _draw_reserve(frame: svg.Frame, series: result_types.Series, x: svg.Linear) -> None:
    most = max(series.burst)
    y = svg.Linear(0.0, most, frame.bottom, frame.top, most)
    line = svg.stairs(series.burst, series.step_seconds, x, y)
    frame.drawing.text(frame.left, frame.top - 7, "burst reserve, units", "title")
    frame.drawing.text(frame.left - 6, frame.top + 4, words.count(most), "tick end")
    frame.drawing.text(frame.left - 6, frame.bottom + 3, "0", "tick end")
    floor = [(frame.left, frame.bottom), (frame.right, frame.bottom)]
    frame.drawing.area(line, floor, "soft-teal")
    frame.drawing.curve(line, "line-teal")


def _hover(upper: svg.Frame, lower: svg.Frame, axis: str) -> str:
    """Return what the page's script needs to read values under the pointer."""
    box = ",".join(svg.number(v) for v in (upper.left, upper.top, upper.right, lower.bottom))
    return f'<metadata data-kind="series" data-box="{box}" data-axis="{axis}"></metadata>'


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
    before: svg.Point = (0.0, 0.0)
    for x, y in zip(curve.population, curve.traffic, strict=True):
        if x >= population:
            if x == before[0]:
                return y
            return before[1] + (y - before[1]) * (population - before[0]) / (x - before[0])
        before = (x, y)
    return 1.0


def concentration(resource: result_types.ResourceResult) -> str:
    """Draw how much of the traffic falls on the busiest keys and partitions."""
    drawing = svg.Drawing(WIDTH, HEIGHT, f"Concentration of traffic on {resource.name}")
    frame = svg.Frame(drawing, 52, 30, WIDTH - 24, 232)
    x = svg.Linear(0.0, 1.0, frame.left, frame.right, 0.25)
    y = svg.Linear(0.0, 1.0, frame.bottom, frame.top, 0.25)
    frame.y_axis(y, words.percent, "share of traffic")
    frame.x_axis(x, words.percent, "busiest first")
    drawing.curve([(x(0), y(0)), (x(1), y(1))], "line-even")
    for curve, cls in (
        (resource.partition_concentration, "line-amber"),
        (resource.key_concentration, "line-blue"),
    ):
        points = zip(curve.population, curve.traffic, strict=True)
        drawing.curve([(x(0), y(0)), *((x(a), y(b)) for a, b in points)], cls)
    living = sum(1 for partition in resource.heat.partitions if partition.died is None)
    keys = words.counted(resource.distinct_keys, "key")
    partitions = words.counted(living, "partition")
    names = [("line-blue", keys), ("line-amber", partitions), ("line-even", "perfectly even")]
    svg.legend(drawing, frame.left, HEIGHT - 6, names)
    return drawing.render()


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


def attempts(design: result_types.DesignResult) -> str:
    """Draw the share of calls answered at the first attempt, the second, and of those given up."""
    rows, failed = attempts_shares(design)
    bars = [(name, share, "fill-blue") for name, share in rows]
    if failed:
        bars.append(("given up", failed, "fill-red"))
    drawing = svg.Drawing(WIDTH, 40 + _BAR * len(bars), "Attempts per call")
    drawing.text(0, 12, "attempts", "title")
    drawing.text(76, 12, "share of calls", "title")
    for index, (name, share, cls) in enumerate(bars):
        y = 24 + index * _BAR
        drawing.text(62, y + 11, name, "tick end")
        width = (WIDTH - 76 - 70) * share
        drawing.add("rect", x=76, y=y, width=max(1.0, width), height=14, rx=2, cls=cls)
        drawing.text(76 + width + 7, y + 11, words.percent(share), "note")
    return drawing.render()


# Headroom


def _headroom_caption(searched: result_types.Headroom) -> str:
    limit = words.percent(searched.threshold)
    text = f"Up to {words.multiple(searched.multiple, at_least=searched.at_least)} this load "
    text += f"throttles less than {limit} of calls."
    if searched.limited_by is not None:
        text += f" Then {words.reason(searched.limited_by)}."
    return text


def headroom(searched: result_types.Headroom) -> str:
    """Draw the throttled share over multiples of the load, both on ratio scales."""
    drawing = svg.Drawing(WIDTH, HEIGHT, "Throttled share by multiple of the load")
    frame = svg.Frame(drawing, 52, 30, WIDTH - 24, 232)
    curve = sorted(searched.curve, key=lambda point: point.multiple)
    multiples = [point.multiple for point in curve] + [1.0, searched.multiple]
    low, high = min(m for m in multiples if m > 0) / 1.15, max(multiples) * 1.15
    x = svg.Logarithmic(low, high, frame.left, frame.right, 2.0)
    y = svg.Logarithmic(_LEAST_SHARE, 1.0, frame.bottom, frame.top)
    frame.y_axis(y, _share_tick, "calls throttled")
    frame.x_axis(x, words.multiple, "multiple of the load")
    frame.level(y(searched.threshold), f"limit {words.percent(searched.threshold)}")
    drawing.line((x(1.0), frame.top), (x(1.0), frame.bottom), "line-even")
    drawing.text(x(1.0) + 4, frame.bottom - 8, "this load", "note")
    points = [(x(point.multiple), y(point.throttled_share)) for point in curve]
    drawing.curve(points, "line-blue")
    for point, (left, top) in zip(curve, points, strict=True):
        over = point.throttled_share >= searched.threshold
        drawing.add("circle", cx=left, cy=top, r=3.4, cls="dot-red" if over else "dot-blue")
    names = [("fill-blue", "under the limit"), ("fill-red", "over it")]
    svg.legend(drawing, frame.left, HEIGHT - 6, names)
    return drawing.render()


def _share_tick(share: float) -> str:
    return "0" if share <= _LEAST_SHARE * 1.01 else words.percent(share)


# Cost

_COST_CLASSES: Final = (
    ("write", "fill-blue", "writes"),
    ("read", "fill-teal", "reads"),
    ("storage", "fill-amber", "storage"),
    ("", "fill-violet", "other"),
)


def cost_name(cost: result_types.Cost) -> str:
    """Return a billing mode and table class in words.

    >>> cost_name(result_types.Cost(billing="on-demand", table_class="STANDARD", lines=(),
    ...                             total=0, chosen=True))
    'on-demand'
    """
    rare = "" if cost.table_class == "STANDARD" else ", Standard-IA"
    return f"{cost.billing}{rare}"


def cost_parts(cost: result_types.Cost) -> list[tuple[str, str, float]]:
    """Return (class, name, amount) of writes, reads, storage and the rest of a bill."""
    amounts = dict.fromkeys((part for part, _, _ in _COST_CLASSES), 0.0)
    for line in cost.lines:
        part = next(part for part in amounts if part in line.item)
        amounts[part] += line.amount
    return [(cls, name, amounts[part]) for part, cls, name in _COST_CLASSES]


def costs(bills: Sequence[result_types.Cost]) -> str:
    """Draw a bar for every way to pay, divided into writes, reads and storage."""
    row = 38.0
    drawing = svg.Drawing(WIDTH, 30 + row * len(bills), "Monthly cost by billing mode")
    most = max((cost.total for cost in bills), default=0.0) or 1.0
    used = set()
    for index, cost in enumerate(bills):
        y = index * row
        name = cost_name(cost) + (" (this design)" if cost.chosen else "")
        drawing.text(0, y + 12, name, "strong" if cost.chosen else "legend")
        left = 0.0
        for cls, part, amount in cost_parts(cost):
            if amount > 0:
                width = (WIDTH - 80) * amount / most
                drawing.add("rect", x=left, y=y + 18, width=width, height=13, cls=cls)
                left += width
                used.add(part)
        drawing.text(left + 7, y + 29, words.dollars(cost.total), "note")
    names = [(cls, name) for _, cls, name in _COST_CLASSES if name in used]
    svg.legend(drawing, 0, 24 + row * len(bills), names)
    return drawing.render()


def _heat_caption(resource: result_types.ResourceResult) -> str:
    share = words.percent(resource.hottest_partition_share)
    text = f"The hottest partition takes {share} of the demand."
    split = sum(1 for split in resource.splits if split.children)
    refused = [split for split in resource.splits if not split.children]
    if split:
        text += f" {words.counted(split, 'split')}."
    if refused:
        causes = ", ".join(sorted({units.cause for units in refused}))
        text += f" {words.counted(len(refused), 'split')} did not happen: {causes}."
    return text
