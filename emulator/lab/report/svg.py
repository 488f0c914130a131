"""Drawing: scales, axes and shapes as SVG text, without a library.

Shapes carry a class and no colour; ``chart.css`` gives the colours, in light and in dark. A
drawing is a fragment for the page; ``standalone`` makes a file of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Protocol, TypeAlias

from emulator import web

Point: TypeAlias = tuple[float, float]
Formatter: TypeAlias = Callable[[float], str]

_NICE: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_NICE_SECONDS: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
)  # fmt: skip
_PAD: Final = 6.0
LEGEND_LINE: Final = 16.0


class Scale(Protocol):
    """Where a value lies along an axis."""

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        ...

    def ticks(self) -> Sequence[float]:
        """Return the values worth a mark."""
        ...


@dataclass(frozen=True)
class Linear:
    """Equal steps for equal differences.

    >>> scale = Linear(0, 10, 0, 100, step=5)
    >>> scale(2.5), scale.ticks()
    (25.0, [0, 5, 10])
    """

    low: float
    high: float
    start: float
    end: float
    step: float

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the multiples of the step."""
        first = math.ceil(self.low / self.step - 1e-9)
        last = math.floor(self.high / self.step + 1e-9)
        return [number * self.step for number in range(first, last + 1)]


@dataclass(frozen=True)
class Logarithmic:
    """Equal steps for equal ratios; what is below the low end lies on it.

    >>> scale = Logarithmic(1, 100, 0, 100)
    >>> scale(10), scale(0), scale.ticks()
    (50.0, 0.0, [1.0, 10.0, 100.0])
    """

    low: float
    high: float
    start: float
    end: float
    base: float = 10.0

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the powers of the base."""
        first = math.ceil(math.log(self.low, self.base) - 1e-9)
        last = math.floor(math.log(self.high, self.base) + 1e-9)
        return [self.base**power for power in range(first, last + 1)]


def nice_step(span: float, most: int) -> float:
    """Return a round step that divides a span into ``most`` parts at most.

    >>> nice_step(4800, 5), nice_step(0.7, 4)
    (1000.0, 0.2)
    """
    rough = span / most
    power: float = 10.0 ** math.floor(math.log10(rough))
    factor = next(nice for nice in _NICE if nice * power >= rough * (1 - 1e-9))
    return factor * power


def from_zero(high: float, start: float, end: float, most: int = 4) -> Linear:
    """Return a scale from zero to a round number that is not below ``high``."""
    step = nice_step(high or 1.0, most)
    return Linear(0.0, math.ceil((high or 1.0) / step - 1e-9) * step, start, end, step)


def over_time(seconds: float, start: float, end: float, most: int = 8) -> Linear:
    """Return a scale over a run, with marks at round times.

    >>> over_time(5400, 0, 100).ticks()
    [0, 900, 1800, 2700, 3600, 4500, 5400]
    """
    step = next((step for step in _NICE_SECONDS if seconds / step <= most), 0)
    if not step:
        step = math.ceil(seconds / most / 86_400) * 86_400
    return Linear(0.0, seconds, start, end, step)


def number(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel.

    >>> number(3.0), number(2.25), number(-0.01)
    ('3', '2.2', '0')
    """
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


class Drawing:
    """A picture under construction.

    >>> drawing = Drawing(20, 10, "a square")
    >>> drawing.add("rect", x=1, y=1, width=8, height=8, cls="mark")
    >>> print(drawing.render())
    <svg class="chart" viewBox="0 0 20 10" role="img" aria-label="a square">
    <rect x="1" y="1" width="8" height="8" class="mark"/></svg>
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width = width
        self.height = height
        self.label = label
        self._parts: list[str] = []

    def add(self, tag: str, content: str | None = None, **attributes: str | float) -> None:
        """Add an element; ``cls`` is its class and ``_`` in a name stands for a hyphen."""
        written = "".join(
            f' {_attribute(name)}="{_value(value)}"' for name, value in attributes.items()
        )
        closed = "/>" if content is None else f">{escape(content, quote=False)}</{tag}>"
        self._parts.append(f"<{tag}{written}{closed}")

    def text(self, x: float, y: float, content: str, cls: str = "tick") -> None:
        """Add a text; its class says how it is aligned."""
        self.add("text", content, x=x, y=y, cls=cls)

    def line(self, start: Point, end: Point, cls: str) -> None:
        """Add a straight line."""
        self.add("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], cls=cls)

    def curve(self, points: Iterable[Point], cls: str) -> None:
        """Add a line through points."""
        self.add("path", d=_path(points), cls=cls)

    def area(self, upper: Sequence[Point], lower: Sequence[Point], cls: str) -> None:
        """Add the area between two lines over the same stretch."""
        self.add("path", d=_path([*upper, *reversed(lower)]) + "z", cls=cls)

    def render(self, markup: str = "") -> str:
        """Return the drawing as an element of a page, ``markup`` first in it."""
        box = f"0 0 {number(self.width)} {number(self.height)}"
        label = escape(self.label)
        return (
            f'<svg class="chart" viewBox="{box}" role="img" aria-label="{label}">{markup}\n'
            + "\n".join(self._parts)
            + "</svg>"
        )


def _attribute(name: str) -> str:
    return "class" if name == "cls" else name.replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def _path(points: Iterable[Point]) -> str:
    """Return a line through points, in as few characters as it takes.

    >>> _path([(0, 0), (5, 0), (5, 2), (6, 3)])
    'M0 0H5V2L6 3'
    """
    parts: list[str] = []
    before = ("", "")
    for x, y in points:
        here = (number(x), number(y))
        if not parts:
            parts.append(f"M{here[0]} {here[1]}")
        elif here[1] == before[1]:
            parts.append(f"H{here[0]}")
        elif here[0] == before[0]:
            parts.append(f"V{here[1]}")
        else:
            parts.append(f"L{here[0]} {here[1]}")
        before = here
    return "".join(parts)


def stairs(values: Sequence[float], step: float, x: Scale, y: Scale) -> list[Point]:
    """Return a line that holds each value for one step of time."""
    line: list[Point] = []
    for index, value in enumerate(values):
        height = y(value)
        if line and line[-1][1] == height:
            line[-1] = (x((index + 1) * step), height)
        else:
            line += [(x(index * step), height), (x((index + 1) * step), height)]
    return line


@dataclass(frozen=True)
class Frame:
    """The rectangle between two axes of a drawing."""

    drawing: Drawing
    left: float
    top: float
    right: float
    bottom: float

    def x_axis(self, scale: Scale, form: Formatter, title: str = "") -> None:
        """Draw the lower axis: a base line, marks and what they mean."""
        self.drawing.line((self.left, self.bottom), (self.right, self.bottom), "axis")
        for value in scale.ticks():
            x = scale(value)
            self.drawing.line((x, self.bottom), (x, self.bottom + 4), "axis")
            self.drawing.text(x, self.bottom + 16, form(value), "tick mid")
        if title:
            middle = (self.left + self.right) / 2
            self.drawing.text(middle, self.bottom + 32, title, "title mid")

    def y_axis(self, scale: Scale, form: Formatter, title: str = "") -> None:
        """Draw grid lines with their values at the left, and a title above them."""
        for value in scale.ticks():
            y = scale(value)
            self.drawing.line((self.left, y), (self.right, y), "grid")
            self.drawing.text(self.left - _PAD, y + 3.5, form(value), "tick end")
        if title:
            self.drawing.text(self.left, self.top - 9, title, "title")

    def level(self, y: float, text: str, cls: str = "level") -> None:
        """Draw a line across, with its name at the right end above it."""
        self.drawing.line((self.left, y), (self.right, y), cls)
        self.drawing.text(self.right, y - 4, text, "note end")


def legend(drawing: Drawing, x: float, y: float, entries: Iterable[tuple[str, str]]) -> None:
    """Draw swatches with their names; ``entries`` are (class, name), and ``y`` is the last line."""
    lines = legend_lines(drawing.width - x, entries)
    for number, line in enumerate(lines):
        left, height = x, y - (len(lines) - 1 - number) * LEGEND_LINE
        for cls, name in line:
            if cls.startswith(("stroke", "even")):
                drawing.line((left, height - 4), (left + 16, height - 4), cls)
            else:
                drawing.add("rect", x=left, y=height - 9, width=12, height=10, rx=2, cls=cls)
            drawing.text(left + 20, height, name, "legend")
            left += _entry_width(name)


def legend_lines(width: float, entries: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return the entries of a legend by lines that fit.

    >>> legend_lines(120, [("fill blue", "one"), ("fill red", "two"), ("fill teal", "three")])
    [[('fill blue', 'one')], [('fill red', 'two')], [('fill teal', 'three')]]
    """
    lines: list[list[tuple[str, str]]] = [[]]
    left = 0.0
    for entry in entries:
        if lines[-1] and left + _entry_width(entry[1]) > width:
            lines.append([])
            left = 0.0
        lines[-1].append(entry)
        left += _entry_width(entry[1])
    return lines


def _entry_width(name: str) -> float:
    return 44 + text_width(name)


def text_width(text: str) -> float:
    """Return about how wide a text of the legend's size is."""
    return 6.3 * len(text)


def stylesheet() -> str:
    """Return the rules that give charts their colours."""
    return web.style("kit/chart.css")


def standalone(fragment: str, title: str) -> str:
    """Return a drawing as a file of its own.

    >>> print(standalone(Drawing(1, 1, "x").render(), "A & B").partition(" viewBox")[0])
    <?xml version="1.0" encoding="UTF-8"?>
    <svg xmlns="http://www.w3.org/2000/svg" class="chart"
    """
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg"'
    opening, _, rest = fragment.removeprefix("<svg").partition(">")
    inside = f"<title>{escape(title)}</title><style>{stylesheet()}</style>"
    backdrop = '<rect class="surface" width="100%" height="100%"/>'
    return f"{head}{opening}>{inside}{backdrop}{rest}\n"
