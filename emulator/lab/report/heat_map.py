"""The heat map: time from left to right, partitions from top to bottom, in key order.

Every partition that lived to the end has a row; one that was split has the rows of those that
came from it, so a split shows as a row that divides. What does not fit is grouped, and a group
shows its hottest cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import DesignResult, HeatMap, PartitionSpan, ResourceResult
from emulator.lab.report.svg import Drawing, Frame, number, over_time

WIDTH: Final = 1060.0
MAX_ROWS: Final = 96
MAX_COLUMNS: Final = 240
_LEVELS: Final = 7
_LEFT: Final = 58.0
_RIGHT: Final = 104.0
_MARGIN: Final = 24.0
_TOP: Final = 26.0
_LABELLED: Final = 24
#: Rows that are not higher than this show no gap between them in a thumbnail.
_EDGED: Final = 6.0
_HATCH: Final = (
    '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="5"/>'
    "</pattern></defs>"
)


@dataclass(frozen=True)
class MapLayout:
    """Which rows each partition takes: ``first[i]`` and how many, ``height[i]``."""

    first: tuple[int, ...]
    height: tuple[int, ...]
    rows: int

    @classmethod
    def of(cls, resource: ResourceResult) -> MapLayout:
        """Give every last descendant a row, in key order, and ancestors the rows of theirs."""
        spans = resource.heat.partitions
        children = {split.partition_id: split.children for split in resource.splits}
        index = {span.partition_id: position for position, span in enumerate(spans)}
        inherited = {child for born in children.values() for child in born}
        first, height = [0] * len(spans), [0] * len(spans)

        def place(partition_id: int, row: int) -> int:
            position, start = index[partition_id], row
            for child in _in_key_order(children.get(partition_id, ()), spans, index):
                row = place(child, row)
            row = max(row, start + 1)
            first[position], height[position] = start, row - start
            return row

        rows = 0
        roots = [span.partition_id for span in spans if span.partition_id not in inherited]
        for root in _in_key_order(roots, spans, index):
            rows = place(root, rows)
        return cls(tuple(first), tuple(height), rows)


def _in_key_order(
    ids: Sequence[int], spans: Sequence[PartitionSpan], index: dict[int, int]
) -> list[int]:
    known = [id for id in ids if id in index]
    return sorted(known, key=lambda number: (spans[index[number]].low, number))


@dataclass(frozen=True)
class Cells:
    """The map as drawn: the hottest load and refused demand of each row and column."""

    columns: int
    seconds: float
    load: list[list[float | None]]
    refused: list[list[float]]
    owner: list[list[int]]

    @classmethod
    def of(
        cls,
        heat: HeatMap,
        layout: MapLayout,
        *,
        max_rows: int = MAX_ROWS,
        max_columns: int = MAX_COLUMNS,
    ) -> Cells:
        """Group rows and columns until they fit."""
        steps = len(heat.load)
        rows, columns = min(layout.rows, max_rows), min(steps, max_columns)
        cells = cls(
            columns,
            steps * heat.step_seconds,
            [[None] * columns for _ in range(rows)],
            [[0.0] * columns for _ in range(rows)],
            [[-1] * columns for _ in range(rows)],
        )
        for step in range(steps):
            column = step * columns // steps
            for position, load in enumerate(heat.load[step]):
                if load is not None:
                    refused = heat.throttled[step][position] or 0.0
                    for row in _band(layout, position, rows):
                        cells.heat(row, column, load, refused, position)
        return cells

    def heat(self, row: int, column: int, load: float, refused: float, position: int) -> None:
        """Let a cell show this load and refusal if it shows less."""
        before = self.load[row][column]
        self.load[row][column] = load if before is None else max(before, load)
        self.refused[row][column] = max(self.refused[row][column], refused)
        self.owner[row][column] = position

    def shade(self, row: int, column: int) -> str:
        """Return the class of a cell: ``h0`` to ``h7``, ``t0`` to ``t2``, or nothing."""
        return shade(self.load[row][column], self.refused[row][column])


def _band(layout: MapLayout, position: int, rows: int) -> range:
    first, height = layout.first[position], layout.height[position]
    last = (first + height - 1) * rows // layout.rows
    return range(first * rows // layout.rows, last + 1)


def shade(load: float | None, refused: float) -> str:
    """Return the class of a cell: its load in seven steps, or how much was refused in three.

    >>> shade(None, 0), shade(0, 0), shade(0.01, 0), shade(1.0, 0), shade(1.0, 0.3)
    ('', 'h0', 'h1', 'h7', 't1')
    """
    if load is None:
        return ""
    if refused > 1e-9:
        return "t0" if refused < 0.25 else "t1" if refused < 1 else "t2"
    return f"h{min(_LEVELS, math.ceil(load * _LEVELS - 1e-9))}"


def heat_map(resource: ResourceResult) -> str:
    """Return the picture of one table's or index's partitions over time."""
    layout = MapLayout.of(resource)
    cells = Cells.of(resource.heat, layout)
    rows = len(cells.load)
    row_height = min(26.0, max(3.5, 300.0 / rows))
    bottom = _TOP + rows * row_height
    drawing = Drawing(WIDTH, bottom + 66, f"Heat map of the partitions of {resource.name}")
    has_shares = rows <= _LABELLED and rows == len(resource.heat.partitions)
    frame = Frame(drawing, _LEFT, _TOP, WIDTH - (_RIGHT if has_shares else _MARGIN), bottom)
    _draw_cells(frame, cells, row_height)
    if rows == layout.rows:
        _draw_edges(frame, cells, row_height)
        _draw_labels(frame, resource.heat.partitions, layout, row_height)
    if has_shares:
        _draw_shares(frame, resource.heat, layout, row_height)
    _draw_splits(frame, resource, layout)
    x = over_time(cells.seconds, frame.left, frame.right, most=10)
    frame.x_axis(x, words.duration)
    drawing.text(frame.left, _TOP - 9, _title(layout.rows, rows), "title")
    _draw_key(drawing, bottom + 54)
    return drawing.render(_HATCH)


def thumbnail(resource: ResourceResult) -> str:
    """Return the map without axes, small enough for a card."""
    width, height, most_rows, most_columns = 300.0, 64.0, 16, 90
    cells = Cells.of(
        resource.heat, MapLayout.of(resource), max_rows=most_rows, max_columns=most_columns
    )
    label = f"Load of the partitions of {resource.name} over time"
    drawing = Drawing(width, height, label)
    frame = Frame(drawing, 0, 0, width, height)
    row_height = height / len(cells.load)
    _draw_cells(frame, cells, row_height)
    if row_height > _EDGED:
        _draw_edges(frame, cells, row_height)
    return drawing.render(_HATCH)


def hottest(design: DesignResult) -> ResourceResult:
    """Return the table or index with the most refused units, the table if none has any."""
    return max(
        design.resources,
        key=lambda resource: resource.write.throttled_units + resource.read.throttled_units,
    )


def _title(partitions: int, rows: int) -> str:
    if rows == partitions:
        return "partitions, in key order"
    return f"{partitions} partitions, in key order; each row shows the hottest of a few"


def _draw_cells(frame: Frame, cells: Cells, row_height: float) -> None:
    """Draw one path per shade, so that a map of many cells stays a small file."""
    runs: dict[str, list[str]] = {}
    width = (frame.right - frame.left) / cells.columns
    edges = [round(frame.left + column * width, 1) for column in range(cells.columns + 1)]
    for row in range(len(cells.load)):
        y = frame.top + row * row_height
        for start, length, cls in _runs(cells, row):
            left, wide = edges[start], edges[start + length] - edges[start]
            runs.setdefault(cls, []).append(
                f"M{number(left)} {number(y)}h{number(wide)}v{number(row_height)}h{number(-wide)}z"
            )
    for cls in sorted(runs):
        path = "".join(runs[cls])
        drawing = frame.drawing
        drawing.add("path", d=path, cls=cls, shape_rendering="crispEdges")
        if cls.startswith("t"):
            drawing.add("path", d=path, fill="url(#hatch)")


def _runs(cells: Cells, row: int) -> Iterator[tuple[int, int, str]]:
    """Yield (start, length, class) of the stretches of one shade in a row."""
    start = 0
    for cls, run in groupby(cells.shade(row, column) for column in range(cells.columns)):
        length = sum(1 for _ in run)
        if cls:
            yield start, length, cls
        start += length


def _draw_edges(frame: Frame, cells: Cells, row_height: float) -> None:
    """Draw a gap between rows wherever two partitions meet."""
    width = (frame.right - frame.left) / cells.columns
    pieces = []
    for row in range(1, len(cells.owner)):
        y = number(frame.top + row * row_height)
        above, below = cells.owner[row - 1], cells.owner[row]
        start = 0
        for apart, run in groupby(a != b for a, b in zip(above, below, strict=True)):
            length = sum(1 for _ in run)
            if apart:
                left = number(frame.left + start * width)
                pieces.append(f"M{left} {y}h{number(length * width)}")
            start += length
    if pieces:
        frame.drawing.add("path", d="".join(pieces), cls="edge")


def _draw_labels(
    frame: Frame, spans: Sequence[PartitionSpan], layout: MapLayout, row_height: float
) -> None:
    if layout.rows > _LABELLED:
        return
    for position, span in enumerate(spans):
        if layout.height[position] == 1:
            y = frame.top + (layout.first[position] + 0.5) * row_height + 4
            frame.drawing.text(frame.left - 8, y, f"P{span.partition_id}", "tick end")


def _draw_shares(frame: Frame, heat: HeatMap, layout: MapLayout, row_height: float) -> None:
    """Draw each partition's share of the demand at the right; none of them was split."""
    demand = _demand(heat)
    total, most = sum(demand) or 1.0, max(demand) or 1.0
    frame.drawing.text(frame.right + 10, frame.top - 9, "share of demand", "title")
    for position, units in enumerate(demand):
        y = frame.top + layout.first[position] * row_height
        share = units / total
        frame.drawing.add(
            "rect",
            x=frame.right + 10,
            y=y + row_height / 2 - 4,
            width=max(1.0, 36 * units / most),
            height=8,
            rx=1.5,
            cls="fill grey",
        )
        label = words.percent(share)
        frame.drawing.text(frame.right + 51, y + row_height / 2 + 4, label, "tick")


def _demand(heat: HeatMap) -> list[float]:
    """Return the load asked of each partition over the whole run, served or refused."""
    totals = [0.0] * len(heat.partitions)
    for loads, refusals in zip(heat.load, heat.throttled, strict=True):
        for position, (load, refused) in enumerate(zip(loads, refusals, strict=True)):
            totals[position] += (load or 0.0) + (refused or 0.0)
    return totals


def _draw_splits(frame: Frame, resource: ResourceResult, layout: MapLayout) -> None:
    """Mark where a partition became several: a bar over its rows and a dot between them."""
    index = {span.partition_id: n for n, span in enumerate(resource.heat.partitions)}
    seconds = len(resource.heat.load) * resource.heat.step_seconds
    row_height = (frame.bottom - frame.top) / layout.rows
    for split in resource.splits:
        born = [index[child] for child in split.children if child in index]
        if split.partition_id not in index or not born:
            continue
        parent = index[split.partition_id]
        x = frame.left + split.time / seconds * (frame.right - frame.left)
        top = frame.top + layout.first[parent] * row_height
        bottom = top + layout.height[parent] * row_height
        lower = max(born, key=lambda position: layout.first[position])
        middle = frame.top + layout.first[lower] * row_height
        frame.drawing.line((x, top), (x, bottom), "split")
        frame.drawing.add("circle", cx=x, cy=middle, r=3.2, cls="splitdot")


def _draw_key(drawing: Drawing, y: float) -> None:
    x = _LEFT
    drawing.text(x, y, "load of a partition: idle", "legend")
    x += 132
    for level in range(_LEVELS + 1):
        drawing.add("rect", x=x + level * 16, y=y - 9, width=16, height=10, cls=f"h{level}")
    drawing.text(x + 16 * (_LEVELS + 1) + 6, y, "full", "legend")
    x += 16 * (_LEVELS + 1) + 56
    drawing.text(x, y, "throttled: a little", "legend")
    x += 96
    for level in range(3):
        left = x + level * 18
        drawing.add("rect", x=left, y=y - 9, width=18, height=10, cls=f"t{level}")
        drawing.add("rect", x=left, y=y - 9, width=18, height=10, fill="url(#hatch)")
    drawing.text(x + 60, y, "more than a whole partition", "legend")
    drawing.add("circle", cx=x + 238, cy=y - 4, r=3.2, cls="splitdot")
    drawing.line((x + 238, y - 11), (x + 238, y - 7), "split")
    drawing.line((x + 238, y - 1), (x + 238, y + 3), "split")
    drawing.text(x + 248, y, "split", "legend")
