"""The contents of a picture, as plain data: the same for the drawing and for the page's script.

Drawing knows nothing of results, and the choice of contents draws nothing. Colours and formats
are names: ``chart.css`` has the colours, ``words`` and ``kit/format.js`` have the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal, TypeAlias

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import ResourceResult

Format: TypeAlias = Literal["count", "percent", "dollars", "duration", "multiple"]
FORMATS: Final[Mapping[Format, Callable[[float], str]]] = {
    "count": words.count,
    "percent": words.percent,
    "dollars": words.dollars,
    "duration": words.duration,
    "multiple": words.multiple,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """A line across a picture at one value, with its name."""

    text: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """One piece of a bar."""

    name: str
    value: float
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row of bars, with what stands at its end."""

    name: str
    parts: tuple[BarPart, ...]
    text: str
    is_best: bool = False
    is_strong: bool = True

    @property
    def total(self) -> float:
        """How long it is."""
        return sum(part.value for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Bars one under the other; on a ratio scale the left end is ``low``."""

    label: str
    rows: tuple[Bar, ...]
    format: Format
    scale: Literal["linear", "ratio"] = "linear"
    low: float = 0.0
    guides: tuple[Guide, ...] = ()
    #: Whether names stand at the left of the bars, not above them.
    is_beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A value with what it may be; or a range, without a value."""

    name: str
    low: float
    high: float
    text: str
    color: str
    value: float | None = None
    #: What the range is called.
    range_name: str = ""
    is_best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Intervals one under the other on one scale from zero to ``most``."""

    label: str
    rows: tuple[Interval, ...]
    format: Format
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Values of which the picture shows how many are where."""

    name: str
    values: tuple[float, ...]
    text: str
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Histograms one under the other on one scale."""

    label: str
    rows: tuple[Histogram, ...]
    format: Format
    title: str
    #: What is counted, such as ``worlds``.
    noun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One direction of a curve."""

    low: float
    high: float
    format: Format
    title: str
    #: What a value is called where the title would be too short.
    name: str = ""
    scale: Literal["linear", "ratio"] = "linear"
    base: float = 10.0
    #: What the lowest mark says, if not its value.
    low_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points."""

    name: str
    points: tuple[tuple[float, float], ...]
    color: str
    dots: bool = False
    is_guide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Lines between two axes."""

    label: str
    series: tuple[Line, ...]
    x: Axis
    y: Axis
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSeries:
    """Values over time."""

    name: str
    values: tuple[float, ...]
    color: str
    shape: Literal["line", "dash", "area", "stack"]
    #: Where the page's data has the values already, such as ``designs/0/resources/0/write/fine``.
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Series on one scale; what is higher than ``ceiling`` is cut off, and ``note`` says so."""

    name: str
    title: str
    series: tuple[ChartSeries, ...]
    format: Format
    height: float
    ceiling: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime:
    """Panels over the same time: one under the other, or one at a time if it ``is_choice``."""

    label: str
    step: float
    panels: tuple[Panel, ...]
    is_choice: bool = False

    @property
    def seconds(self) -> float:
        """How long the time is."""
        series = [series for panel in self.panels for series in panel.series]
        return self.step * max((len(line.values) for line in series), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """The heat map of a table or index."""

    resource: ResourceResult
    #: Where the page's data has the resource, such as ``designs/0/resources/0``.
    source: str = ""


Picture: TypeAlias = Bars | Intervals | Distribution | Curve | OverTime | Partitions


def as_data(value: Any) -> Any:
    """Return a picture, or a piece of one, for the page's script; what is at its default is left.

    >>> as_data(BarPart(name="writes", value=2.0, color="blue"))
    {'name': 'writes', 'value': 2.0, 'color': 'blue'}
    """
    if isinstance(value, Partitions):
        return {"kind": "Partitions", "source": value.source}
    if is_dataclass(value) and not isinstance(value, type):
        left_out = {"values"} if isinstance(value, ChartSeries) and value.source else set()
        named = {
            _camel(entry.name): as_data(getattr(value, entry.name))
            for entry in fields(value)
            if entry.name not in left_out and getattr(value, entry.name) != entry.default
        }
        return {"kind": type(value).__name__, **named} if isinstance(value, _DRAWN) else named
    if isinstance(value, tuple):
        return [as_data(entry) for entry in value]
    return value


_DRAWN: Final = (Bars, Intervals, Distribution, Curve, OverTime)


def _camel(name: str) -> str:
    """Return a name as JavaScript writes it.

    >>> _camel("is_best")
    'isBest'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
