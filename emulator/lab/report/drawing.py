"""Pictures as SVG, without a script: for the page before it is alive, and for files."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from itertools import accumulate
from typing import Final

from emulator.lab.report import svg
from emulator.lab.report.heat_map import heat_map
from emulator.lab.report.pictures import (
    FORMATS,
    Axis,
    Bar,
    Bars,
    ChartSeries,
    Curve,
    Distribution,
    Guide,
    Histogram,
    Interval,
    Intervals,
    Line,
    OverTime,
    Panel,
    Partitions,
    Picture,
)

WIDTH: Final = 520.0
_ROW: Final = 38.0
_BESIDE_ROW: Final = 22.0
_HISTOGRAM_ROW: Final = 70.0
_HISTOGRAM: Final = 38.0
_BINS: Final = 40
_BEST: Final = "\u2713 best"


@singledispatch
def draw(picture: Picture) -> str:
    """Return a picture as an ``svg`` element."""
    raise AssertionError(picture)


# Bars and intervals


@draw.register
def _(picture: Bars) -> str:
    top = 18.0 if picture.guides else 0.0
    step = _BESIDE_ROW if picture.is_beside else _ROW
    drawing = svg.Drawing(WIDTH, top + 30 + step * len(picture.rows), picture.label)
    lengths = [row.total for row in picture.rows]
    most = max([*lengths, *(guide.x or 0.0 for guide in picture.guides)], default=0.0) or 1.0
    left = 96.0 if picture.is_beside else 0.0
    right = WIDTH - 20 - max((svg.text_width(row.text) for row in picture.rows), default=0.0)
    scale = _bar_scale(picture, most, left, right)
    for guide in picture.guides:
        _draw_bar_guide(drawing, guide, scale, top)
    for index, row in enumerate(picture.rows):
        y = top + index * step
        if picture.is_beside:
            drawing.text(left - 8, y + 12, row.name, "legend end")
            _draw_bar(drawing, row, y + 1, left, scale)
        else:
            _draw_name(drawing, row.name, y, best=row.is_best, strong=row.is_strong)
            _draw_bar(drawing, row, y + 18, left, scale)
    parts = [part for row in picture.rows for part in row.parts if part.value > 0]
    names = dict.fromkeys((f"fill {part.color}", part.name) for part in parts)
    if len({name for _, name in names}) > 1:
        svg.legend(drawing, 0, drawing.height - 6, names)
    return drawing.render()


def _bar_scale(picture: Bars, most: float, left: float, right: float) -> Callable[[float], float]:
    if picture.scale == "linear":
        return svg.Linear(0.0, most, left, right, most)
    return svg.Logarithmic(picture.low, most, left, right)


def _draw_bar_guide(
    drawing: svg.Drawing, guide: Guide, scale: Callable[[float], float], top: float
) -> None:
    x = scale(guide.x or 0.0)
    drawing.line((x, top), (x, drawing.height - 30), "level")
    drawing.text(max(x, svg.text_width(guide.text) / 2), 11, guide.text, "title mid")


def _draw_name(drawing: svg.Drawing, name: str, y: float, *, best: bool, strong: bool) -> None:
    drawing.text(0, y + 12, name, "strong" if strong else "legend")
    if best:
        drawing.text(svg.text_width(name) * 1.1 + 10, y + 12, _BEST, "best")


def _draw_bar(
    drawing: svg.Drawing, row: Bar, y: float, left: float, scale: Callable[[float], float]
) -> None:
    ends = accumulate(part.value for part in row.parts)
    edges = [left, *(scale(end) for end in ends)]
    for part, start, end in zip(row.parts, edges, edges[1:], strict=False):
        if part.value > 0:
            width = max(1.0, end - start)
            drawing.add(
                "rect", x=start, y=y, width=width, height=13, rx=1.5, cls=f"fill {part.color}"
            )
    drawing.text((edges[-1] if row.total else left) + 7, y + 11, row.text, "note")


@draw.register
def _(picture: Intervals) -> str:
    drawing = svg.Drawing(WIDTH, 4 + _ROW * len(picture.rows), picture.label)
    scale = svg.Linear(0.0, picture.most or 1.0, 6.0, WIDTH - 6, picture.most or 1.0)
    for index, row in enumerate(picture.rows):
        _draw_interval(drawing, row, index * _ROW, scale)
    return drawing.render()


def _draw_interval(drawing: svg.Drawing, row: Interval, y: float, scale: svg.Scale) -> None:
    _draw_name(drawing, row.name, y, best=row.is_best, strong=True)
    middle = y + 24
    drawing.line((6, middle), (WIDTH - 6, middle), "grid")
    drawing.line((scale(row.low), middle), (scale(row.high), middle), f"whisker {row.color}")
    if row.value is not None:
        drawing.add("circle", cx=scale(row.value), cy=middle, r=5.5, cls=f"dot {row.color}")
    drawing.text(WIDTH, y + 12, row.text, "note end")


# Distributions


@draw.register
def _(picture: Distribution) -> str:
    bottom = _HISTOGRAM_ROW * len(picture.rows)
    drawing = svg.Drawing(WIDTH, bottom + 40, picture.label)
    frame = svg.Frame(drawing, 4, 0, WIDTH - 20, bottom)
    most = max((value for row in picture.rows for value in row.values), default=0.0)
    x = svg.from_zero(most, frame.left, frame.right, most=6)
    frame.x_axis(x, FORMATS[picture.format], picture.title)
    for index, row in enumerate(picture.rows):
        _draw_histogram(frame, row, (index + 1) * _HISTOGRAM_ROW - 6, x)
    return drawing.render()


def _draw_histogram(frame: svg.Frame, row: Histogram, base: float, x: svg.Linear) -> None:
    drawing = frame.drawing
    drawing.line((frame.left, base), (frame.right, base), "grid")
    drawing.text(frame.left, base - _HISTOGRAM - 11, row.name, "strong")
    drawing.text(frame.right, base - _HISTOGRAM - 11, row.text, "note end")
    counts = [0] * _BINS
    for value in row.values:
        counts[min(_BINS - 1, math.floor(value / x.high * _BINS))] += 1
    width = (frame.right - frame.left) / _BINS
    for number, count in enumerate(counts):
        if count:
            height = max(2.0, count / max(counts) * _HISTOGRAM)
            left = frame.left + number * width
            drawing.add(
                "rect",
                x=left, y=base - height, width=width - 1, height=height, cls=f"fill {row.color}",
            )  # fmt: skip


# Curves


@draw.register
def _(picture: Curve) -> str:
    height = 300.0
    drawing = svg.Drawing(WIDTH, height, picture.label)
    frame = svg.Frame(drawing, 52, 30, WIDTH - 24, 232)
    x = _axis_scale(picture.x, frame.left, frame.right)
    y = _axis_scale(picture.y, frame.bottom, frame.top)
    frame.y_axis(y, _axis_format(picture.y), picture.y.title)
    frame.x_axis(x, _axis_format(picture.x), picture.x.title)
    for guide in picture.guides:
        _draw_guide(frame, guide, x, y)
    for line in picture.series:
        _draw_line(drawing, line, x, y)
    names = [(_swatch(line), line.name) for line in picture.series]
    svg.legend(drawing, frame.left, height - 6, names)
    return drawing.render()


def _axis_format(axis: Axis) -> svg.Formatter:
    form = FORMATS[axis.format]
    if not axis.low_text:
        return form
    return lambda value: axis.low_text if value <= axis.low * 1.01 else form(value)


def _axis_scale(axis: Axis, start: float, end: float) -> svg.Linear | svg.Logarithmic:
    if axis.scale == "ratio":
        return svg.Logarithmic(axis.low, axis.high, start, end, axis.base)
    step = svg.nice_step(axis.high - axis.low, 4)
    return svg.Linear(axis.low, axis.high, start, end, step)


def _draw_guide(frame: svg.Frame, guide: Guide, x: svg.Scale, y: svg.Scale) -> None:
    if guide.y is not None:
        frame.level(y(guide.y), guide.text)
    if guide.x is not None:
        left = x(guide.x)
        frame.drawing.line((left, frame.top), (left, frame.bottom), "even")
        frame.drawing.text(left + 4, frame.bottom - 8, guide.text, "note")


def _draw_line(drawing: svg.Drawing, line: Line, x: svg.Scale, y: svg.Scale) -> None:
    points = [(x(a), y(b)) for a, b in line.points]
    drawing.curve(points, _swatch(line))
    if line.dots:
        for left, top in points:
            drawing.add("circle", cx=left, cy=top, r=3.4, cls=f"dot {line.color}")


def _swatch(line: Line) -> str:
    return "even" if line.is_guide else f"stroke {line.color}"


# Over time


@draw.register
def _(picture: OverTime) -> str:
    shown = picture.panels[:1] if picture.is_choice else picture.panels
    heights = [panel.height + 14 for panel in shown]
    entries = [(_shape(series), series.name) for panel in shown for series in panel.series]
    below = len(svg.legend_lines(WIDTH - 52, entries)) * svg.LEGEND_LINE
    drawing = svg.Drawing(WIDTH, sum(heights) + 18 + below, picture.label)
    top = 0.0
    for panel, height in zip(shown, heights, strict=True):
        frame = svg.Frame(drawing, 52, top + 30, WIDTH - 24, top + height - 10)
        x = svg.over_time(picture.seconds or 1.0, frame.left, frame.right, most=6)
        _draw_panel(frame, panel, picture.step, x)
        top += height
        if panel is shown[-1]:
            frame.x_axis(x, FORMATS["duration"])
    svg.legend(drawing, 52, drawing.height - 6, entries)
    return drawing.render()


def _draw_panel(frame: svg.Frame, panel: Panel, step: float, x: svg.Linear) -> None:
    layers = _layers(panel)
    highest = max((value for _, _, roof in layers for value in roof), default=0.0)
    limit = highest if panel.ceiling is None else min(highest, panel.ceiling)
    y = svg.from_zero(
        limit or highest, frame.bottom, frame.top, most=4 if panel.height > 120 else 1
    )
    frame.y_axis(y, FORMATS[panel.format], panel.title)
    if panel.note and highest > y.high:
        frame.drawing.text(frame.right, frame.top - 9, panel.note, "note end")
    for series, floor, roof in layers:
        line = svg.stairs([min(value, y.high) for value in roof], step, x, y)
        if series.shape in ("area", "stack"):
            ground = [(frame.left, frame.bottom), (frame.right, frame.bottom)]
            base = ground if floor is None else svg.stairs(floor, step, x, y)
            frame.drawing.area(line, base, f"soft {series.color}")
        dash = "dash " if series.shape == "dash" else ""
        frame.drawing.curve(line, f"stroke {dash}{series.color}")
    frame.drawing.line((frame.left, frame.bottom), (frame.right, frame.bottom), "axis")


def _layers(panel: Panel) -> list[tuple[ChartSeries, list[float] | None, list[float]]]:
    """Return each series with where it begins, if on top of another, and where it ends."""
    layers: list[tuple[ChartSeries, list[float] | None, list[float]]] = []
    below: list[float] | None = None
    for series in panel.series:
        floor = below if series.shape == "stack" else None
        ground = floor or [0.0] * len(series.values)
        roof = [value + base for value, base in zip(series.values, ground, strict=True)]
        layers.append((series, floor, roof))
        if series.shape in ("area", "stack"):
            below = roof
    return layers


def _shape(series: ChartSeries) -> str:
    if series.shape in ("area", "stack"):
        return f"soft {series.color}"
    return f"stroke {'dash ' if series.shape == 'dash' else ''}{series.color}"


@draw.register
def _(picture: Partitions) -> str:
    return heat_map(picture.resource)
