"""The report for a terminal: verdicts, the comparison, and a small heat map of each design.

With rich on a terminal it has colours; in a pipe it is plain text, the same words in the same
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import groupby
from textwrap import wrap
from typing import Final, TextIO

from emulator.lab.outcome import words
from emulator.lab.outcome.result_types import (
    Comparison,
    DesignResult,
    ResourceResult,
    UnknownEffect,
)
from emulator.lab.outcome.rows import Group, certainty, groups, summary
from emulator.lab.outcome.thresholds import HEALTHY, MOVES, THRESHOLD
from emulator.lab.report.heat_map import Cells, MapLayout, hottest

PLAIN_WIDTH: Final = 100
MAP_ROWS: Final = 10
#: What stands where a fix would, if none was looked for (``--quick``).
NOT_SOUGHT: Final = "Not looked for in this run."
MAP_COLUMNS: Final = 60
#: Signs for a cell from idle to full; the last is for throttled.
SHADES: Final = "·░░▒▒▓▓█X"
ASCII_SHADES: Final = ".::--==#X"
_COLOURS: Final = {
    "fine": "green",
    "tight": "yellow",
    "heals": "yellow",
    "risky": "dark_orange",
    "throttles": "red",
}
_MARKS: Final = {"bad": "bold red", "tight": "bold yellow", "good": "green", "chosen": "bold"}
#: Above, right, below and left of a line that explains the one before.
_INDENTED: Final = (0, 0, 0, 2)
_ASCII: Final = {
    words.SPACE: " ", words.NONE: "-", words.TIMES: "x", "≥": ">=", "·": ".",
}  # fmt: skip


def print_report(comparison: Comparison, stream: TextIO) -> None:
    """Write the report as the stream can show it."""
    if stream.isatty() and find_spec("rich") is not None:
        _print_rich(comparison, stream)
    else:
        stream.write(text_report(comparison, unicode=_can_show(stream)))


def _can_show(stream: TextIO) -> bool:
    try:
        (SHADES + words.TIMES).encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


# Plain


def text_report(comparison: Comparison, *, unicode: bool = True) -> str:
    """Return the report as plain text.

    >>> empty = Comparison(title="t", workload={}, engine="exact", duration_seconds=60.0,
    ...                    seeds=(0,), designs=())
    >>> print(text_report(empty, unicode=False))
    t
    0 designs under 0 requests in 1 min; exact engine, up to 1 world; new tables
    """
    lines = [comparison.title, summary(comparison), ""]
    for design in comparison.designs:
        lines += [*_verdict(design), ""]
    if comparison.designs:
        lines += [*_table(comparison), *_maps(comparison, unicode=unicode)]
    return _plain("\n".join(lines).rstrip() + "\n", unicode=unicode)


def _plain(text: str, *, unicode: bool) -> str:
    text = text.replace(words.SPACE, " ")
    if not unicode:
        for sign, plain in _ASCII.items():
            text = text.replace(sign, plain)
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text


def _verdict(design: DesignResult) -> Iterator[str]:
    verdict = words.sentence(design.verdict)
    yield from wrap(f"[{design.grade}] {verdict}", PLAIN_WIDTH, subsequent_indent="  ")
    for label, text in explanations(design):
        line = f"{label}: {text}"
        yield from wrap(line, PLAIN_WIDTH, initial_indent="  ", subsequent_indent="  ")


def explanations(design: DesignResult) -> Iterator[tuple[str, str]]:
    """Yield the lines under a verdict: its fix, its certainty, its unknowns, its problems."""
    if design.fix or design.fix_note:
        yield "smallest fix", words.sentence(design.fix or design.fix_note or "")
    elif design.grade not in HEALTHY:
        yield "smallest fix", NOT_SOUGHT
    if how_sure := certainty(design):
        yield "how sure", words.sentence(how_sure)
    if design.unknowns:
        yield "depends on", words.sentence(dependence(design))
    if named := problems(design):
        yield "problems", named


def dependence(design: DesignResult) -> str:
    """Return which unknowns move the answer, and by how much."""
    moved = [text for effect in design.unknowns if (text := _movement(effect))]
    if moved:
        return ", ".join(moved)
    if design.risk is not None and 0 < design.risk.chance < 1:
        return "no unknown by itself changes the share of throttled calls"
    return "no unknown changes the share of throttled calls"


def _movement(effect: UnknownEffect) -> str:
    """Return how far an unknown moves the answer, "" if it does not."""
    is_decisive = effect.low < THRESHOLD <= effect.high
    if is_decisive or effect.high - effect.low >= MOVES:
        low, high = (words.significant(100 * share, 2) for share in (effect.low, effect.high))
        return f"{effect.name} ({low} to {high} of 100 calls)"
    if 0 < effect.chance < 1:  # calls are refused once the index has closed, after the run
        closes = round(effect.chance * effect.worlds)
        return f"{effect.name} (an index closes in {closes} of {effect.worlds} worlds)"
    return ""


def problems(design: DesignResult) -> str:
    """Return the names of the problems that the page explains, with what they are about."""
    subjects: dict[str, list[str]] = {}
    for finding in design.findings:
        if finding.severity == "problem":
            subjects.setdefault(words.resource(finding.subject), []).append(finding.check)
    return "; ".join(f"{', '.join(checks)} ({subject})" for subject, checks in subjects.items())


def _table(comparison: Comparison) -> Iterator[str]:
    """Yield the comparison in aligned columns."""
    made = groups(comparison)
    labels = [len(row.label) + 4 for group in made for row in group.rows]
    first = max(labels, default=0)
    widths = [_column_width(made, n, design.name) for n, design in enumerate(comparison.designs)]
    names = [design.name for design in comparison.designs]
    yield _line("", names, first, widths)
    for group in made:
        yield group.title
        for row in group.rows:
            label = ("    " if row.detail else "  ") + row.label
            yield _line(label, [cell.text for cell in row.cells], first, widths)
    yield ""


def _column_width(made: Sequence[Group], column: int, name: str) -> int:
    cells = [len(row.cells[column].text) for group in made for row in group.rows]
    return max([len(name), *cells])


def _line(label: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return (label.ljust(first) + "".join(f"  {cell:>{width}}" for cell, width in pairs)).rstrip()


def _maps(comparison: Comparison, *, unicode: bool) -> Iterator[str]:
    shades = SHADES if unicode else ASCII_SHADES
    idle, full, refused = shades[0], shades[-2], shades[-1]
    meaning = _refused_means(comparison)
    yield f"Load of partitions over time: {idle} idle, {full} full, {refused} {meaning}"
    for design in comparison.designs:
        resource = hottest(design)
        yield f"{design.name} ({resource.name})"
        cells = map_cells(resource)
        for row in range(len(cells.load)):
            yield "  " + signs(cells, row, shades)
        yield "  " + _time_axis(cells)


def _refused_means(comparison: Comparison) -> str:
    """Return the name of refusals: writes of a global index wait instead (CAP2-4)."""
    has_index = any(hottest(design).kind == "index" for design in comparison.designs)
    return "throttled (in an index: writes wait)" if has_index else "throttled"


def map_cells(resource: ResourceResult) -> Cells:
    """Return a heat map small enough for a terminal."""
    layout = MapLayout.of(resource)
    return Cells.of(resource.heat, layout, max_rows=MAP_ROWS, max_columns=MAP_COLUMNS)


def signs(cells: Cells, row: int, shades: str) -> str:
    """Return a row of the map as signs, each repeated until the row is wide enough."""
    repeated = _repeated(cells)
    return "".join(_sign(cells.shade(row, n), shades) * repeated for n in range(cells.columns))


def _repeated(cells: Cells) -> int:
    return max(1, MAP_COLUMNS // cells.columns)


def _sign(shade: str, shades: str) -> str:
    if not shade:
        return " "
    return shades[-1] if shade.startswith("t") else shades[int(shade[1])]


def _time_axis(cells: Cells) -> str:
    width = cells.columns * _repeated(cells)
    return f"0{words.duration(cells.seconds):>{width - 1}}"


# With colours


def _print_rich(comparison: Comparison, stream: TextIO) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding

    console = Console(file=stream, highlight=False)
    console.print(f"\n[bold]{escape(comparison.title)}[/]")
    console.print(f"[dim]{escape(summary(comparison))}[/]\n")
    for design in comparison.designs:
        colour = _COLOURS[design.grade]
        verdict = escape(words.sentence(design.verdict))
        console.print(f"[reverse {colour}] {design.grade} [/] {verdict}")
        for label, text in explanations(design):
            console.print(Padding(f"[{colour}]{label}:[/] {escape(text)}", _INDENTED))
        console.print()
    if comparison.designs:
        console.print(_rich_table(comparison))
        for line in _rich_maps(comparison):
            console.print(line)


def _rich_table(comparison: Comparison) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    for design in comparison.designs:
        table.add_column(Text(design.name), justify="right")
    for group in groups(comparison):
        table.add_row(Text(group.title, style="bold dim"))
        for row in group.rows:
            label = Text(("    " if row.detail else "  ") + row.label, "dim" if row.detail else "")
            cells = [Text(cell.text, style=_MARKS.get(cell.mark, "")) for cell in row.cells]
            table.add_row(label, *cells)
    return table


def _rich_maps(comparison: Comparison) -> Iterator[object]:
    from rich.text import Text

    for design in comparison.designs:
        resource = hottest(design)
        cells = map_cells(resource)
        yield Text.assemble((design.name, "bold"), (f"  partitions of {resource.name}", "dim"))
        for row in range(len(cells.load)):
            line = Text("  ")
            for refused, run in groupby(signs(cells, row, SHADES), SHADES[-1].__eq__):
                line.append("".join(run), "red" if refused else "blue")
            yield line
        yield Text(f"  {_time_axis(cells)}", "dim")
    yield Text(f"  · idle   █ full   X {_refused_means(comparison)}", "dim")
