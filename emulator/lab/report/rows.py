"""The comparison as a table: one row per measure, one cell per design.

The page and the terminal show the same rows. A cell is marked where a measure is bad by the
lab's own limits; nothing is marked for being merely worse than its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.thresholds import THRESHOLD, TIGHT
from emulator.lab.report.charts import cost_name

Mark: TypeAlias = Literal["", "good", "tight", "bad", "chosen"]


class Cell(NamedTuple):
    """What one design has in a row."""

    text: str
    mark: Mark = ""


class Row(NamedTuple):
    """One measure; ``detail`` rows explain the row above them."""

    label: str
    cells: tuple[Cell, ...]
    detail: bool = False
    #: The wire name or a longer explanation, for a hint.
    hint: str = ""


class Group(NamedTuple):
    """Rows that belong together."""

    title: str
    rows: tuple[Row, ...]


def summary(comparison: result_types.Comparison) -> str:
    """Return in one line what was run."""
    requests = max((design.requests for design in comparison.designs), default=0.0)
    seeds = ", ".join(str(seed) for seed in comparison.seeds)
    return (
        f"{words.counted(len(comparison.designs), 'design')} under {words.count(requests)} "
        f"requests in "
        f"{words.duration(comparison.duration_seconds)}; {comparison.engine} engine, "
        f"seed{'' if len(comparison.seeds) == 1 else 's'} {seeds}"
    )


def groups(comparison: result_types.Comparison) -> list[Group]:
    """Return the comparison's rows by subject."""
    designs = comparison.designs
    made = [
        Group("Throttling", tuple(_throttling(designs))),
        Group("Waiting", tuple(_waiting(designs))),
        Group("Heat", tuple(_heat(designs))),
        Group("Capacity consumed", tuple(_capacity(designs, comparison.duration_seconds))),
        Group("Cost of a month", tuple(_costs(designs))),
    ]
    return [group for group in made if group.rows]


def _row(
    label: str,
    designs: Sequence[result_types.DesignResult],
    cell: Callable[[result_types.DesignResult], Cell],
    *,
    detail: bool = False,
    hint: str = "",
) -> Row:
    return Row(label, tuple(cell(design) for design in designs), detail, hint)


# Throttling


def _throttling(designs: Sequence[result_types.DesignResult]) -> Iterator[Row]:
    shares = [design.throttled_share for design in designs]
    yield Row("calls throttled", tuple(_share(share, THRESHOLD) for share in shares))
    for reason in _reasons(designs):
        shares = [design.throttled_share_by_reason.get(reason, 0.0) for design in designs]
        cells = tuple(Cell(words.percent(share) if share else words.NONE) for share in shares)
        yield Row(words.reason(reason), cells, detail=True, hint=reason)
    if any(_failed(design) for design in designs):
        yield _row("calls given up", designs, lambda design: _share(_failed(design)))
    yield _row("first throttled after", designs, _first_throttle)
    if any(one.backlog is not None for design in designs for one in design.resources):
        hint = "from then on every write to the table is refused, if the load goes on"
        yield _row("an index closes after", designs, _closes, hint=hint)
    if any(design.headroom is not None for design in designs):
        yield _row("headroom", designs, headroom, hint="largest multiple of this load without")


def _closes(design: result_types.DesignResult) -> Cell:
    """Return when the first index to fall behind refuses every write to its table (CAP2-4)."""
    backlogs = [resource.backlog for resource in design.resources if resource.backlog is not None]
    times = [backlog.closes_after for backlog in backlogs if backlog.closes_after is not None]
    return Cell(words.duration(min(times)), "bad") if times else Cell("never")


def _share(share: float, limit: float = 0.0) -> Cell:
    return Cell(words.percent(share), "bad" if share > limit else "")


def _reasons(designs: Sequence[result_types.DesignResult]) -> list[str]:
    reasons = [reason for design in designs for reason in design.throttled_share_by_reason]
    return list(dict.fromkeys(reasons))


def _failed(design: result_types.DesignResult) -> float:
    calls = sum(pattern.calls for pattern in design.patterns)
    return sum(pattern.failed for pattern in design.patterns) / calls if calls else 0.0


def _first_throttle(design: result_types.DesignResult) -> Cell:
    seconds = design.time_to_first_throttle
    if seconds is None:
        return Cell("never")
    return Cell(words.duration(seconds) if seconds >= 1 else "at once")


def headroom(design: result_types.DesignResult) -> Cell:
    """Return a design's headroom, marked if it is small."""
    room = design.headroom
    if room is None:
        return Cell(words.NONE)
    if not room.multiple:
        return Cell("none", "bad")
    text = words.multiple(room.multiple, at_least=room.at_least)
    return Cell(text, "bad" if room.multiple < 1 else "tight" if room.multiple < TIGHT else "")


# Waiting


def _waiting(designs: Sequence[result_types.DesignResult]) -> Iterator[Row]:
    hint = "the worst access pattern"
    yield _row(
        "attempts per call, p50 / p99",
        designs,
        lambda design: _worst(design, lambda one: one.attempts_per_call, words.significant),
        hint=hint,
    )
    yield _row(
        "latency added by retries, p50 / p99",
        designs,
        lambda design: _worst(design, lambda one: one.added_latency_seconds, words.duration),
        hint=hint,
    )
    if any(pattern.filtered_bytes for design in designs for pattern in design.patterns):
        yield _row("read and then filtered away", designs, _waste, hint="share of bytes read")


def _worst(
    design: result_types.DesignResult,
    spread: Callable[[result_types.PatternResult], result_types.Spread],
    form: Callable[[float], str],
) -> Cell:
    spreads = [spread(pattern) for pattern in design.patterns]
    p50 = max((spread.p50 for spread in spreads), default=0.0)
    p99 = max((spread.p99 for spread in spreads), default=0.0)
    return Cell(f"{form(p50)} / {form(p99)}")


def _waste(design: result_types.DesignResult) -> Cell:
    read = sum(pattern.evaluated_bytes for pattern in design.patterns)
    wasted = sum(pattern.filtered_bytes for pattern in design.patterns)
    return Cell(words.percent(wasted / read) if read else words.NONE)


# Heat


def _heat(designs: Sequence[result_types.DesignResult]) -> Iterator[Row]:
    yield _row(
        "hottest partition",
        designs,
        lambda design: _hottest(design, lambda one: one.hottest_partition_share),
        hint="its share of the traffic of its table or index",
    )
    yield _row(
        "hottest key",
        designs,
        lambda design: _hottest(design, lambda one: one.hottest_key_share),
        hint="its share of the traffic of its table or index",
    )
    yield _row("partition keys used", designs, _keys)
    yield _row("partitions at the end", designs, _partitions)
    yield _row("splits", designs, _splits)


def _hottest(
    design: result_types.DesignResult, share: Callable[[result_types.ResourceResult], float]
) -> Cell:
    """Return the share on the table, and of the worst index if that is worse."""
    worst = max(design.resources, key=share)
    where = "" if worst.kind == "table" else f" of {worst.name}"
    return Cell(f"{words.percent(share(worst))}{where}")


def _keys(design: result_types.DesignResult) -> Cell:
    return Cell(_sum(words.count(resource.distinct_keys) for resource in design.resources))


def _partitions(design: result_types.DesignResult) -> Cell:
    ends = [resource.partitions_per_minute[-1:] for resource in design.resources]
    return Cell(_sum(str(end[0]) for end in ends if end))


def _sum(numbers: Iterable[str]) -> str:
    """Return numbers of tables and indexes as a sum; a run of the same as one term.

    >>> _sum(["100", "50", "50", "50", "4"]).replace(words.TIMES, " x ")
    '100 + 3 x 50 + 4'
    """
    terms: list[str] = []
    for number, run in groupby(numbers):
        length = len(list(run))
        terms += [number] * length if length < 3 else [f"{length}{words.TIMES}{number}"]
    return " + ".join(terms)


def _splits(design: result_types.DesignResult) -> Cell:
    done = sum(1 for split in design.splits if split.children)
    refused = len(design.splits) - done
    return Cell(f"{done}, {refused} refused" if refused else str(done))


# Capacity


def _capacity(designs: Sequence[result_types.DesignResult], seconds: float) -> Iterator[Row]:
    """Yield units per second of every table and index that any design has."""
    names = dict.fromkeys(resource.name for design in designs for resource in design.resources)
    for name in names:
        named = [_named(design, name) for design in designs]
        for unit, axes in (
            ("WCU", [resource.write if resource else None for resource in named]),
            ("RCU", [resource.read if resource else None for resource in named]),
        ):
            if any(axis is not None and axis.consumed_units for axis in axes):
                cells = tuple(_units(axis, seconds) for axis in axes)
                yield Row(f"{unit}/s on {name}", cells, hint="average; share of provisioned")


def _named(design: result_types.DesignResult, name: str) -> result_types.ResourceResult | None:
    return next((resource for resource in design.resources if resource.name == name), None)


def _units(axis: result_types.AxisResult | None, seconds: float) -> Cell:
    if axis is None:
        return Cell(words.NONE)
    text = words.count(axis.consumed_units / seconds)
    if axis.utilisation is not None:
        text += f" ({words.percent(axis.utilisation)} used)"
    return Cell(text)


# Cost


def _costs(designs: Sequence[result_types.DesignResult]) -> Iterator[Row]:
    names = dict.fromkeys(cost_name(cost) for design in designs for cost in design.costs)
    for name in names:
        yield _row(name, designs, lambda design, name=name: _cost(design, name))  # type: ignore[misc]


def _cost(design: result_types.DesignResult, name: str) -> Cell:
    cost = next((cost for cost in design.costs if cost_name(cost) == name), None)
    if cost is None:
        return Cell(words.NONE)
    return Cell(words.dollars(cost.total), "chosen" if cost.chosen else "")


def month(design: result_types.DesignResult) -> result_types.Cost | None:
    """Return the bill that the design asks for, if costs were worked out."""
    return next((cost for cost in design.costs if cost.chosen), None)
