"""The comparison as a table: one row per measure, one cell per design.

The page and the terminal show the same rows. A cell is marked where a measure is bad by the
lab's own limits; nothing is marked for being merely worse than its neighbour. The page also says
which cell is best in a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from emulator.lab.inputs.clients import held_back
from emulator.lab.inputs.workload import PERIODS
from emulator.lab.outcome import result_types, words
from emulator.lab.outcome.thresholds import AT_RISK, THRESHOLD, TIGHT
from emulator.lab.outcome.throttled import typical_throttling
from emulator.service.throttling import ThrottlingLimit

Mark: TypeAlias = Literal["", "good", "tight", "bad", "chosen"]
Better: TypeAlias = Literal["", "low", "high"]


class Cell(NamedTuple):
    """The cell of one design in a row."""

    text: str
    mark: Mark = ""
    #: Between which numbers the measure lies, to be compared; None if it cannot be.
    bounds: tuple[float, float] | None = None


class FigureRow(NamedTuple):
    """One measure; ``detail`` rows explain the row above them."""

    label: str
    cells: tuple[Cell, ...]
    detail: bool = False
    #: The wire name or a longer explanation, for a hint.
    hint: str = ""
    #: Which end of the measure is the good one.
    better: Better = ""


class Group(NamedTuple):
    """Rows that belong together."""

    title: str
    rows: tuple[FigureRow, ...]


def best(cells: Sequence[Cell], better: Better) -> set[int]:
    """Return which cells are the best of a row; none if all are, or none can be told apart.

    >>> cells = [Cell("1", bounds=(1, 1)), Cell("2", bounds=(2, 2)), Cell("?")]
    >>> best(cells, "low"), best(cells, "high"), best(cells[:1], "low")
    ({0}, {1}, set())
    """
    compared = {index: cell.bounds for index, cell in enumerate(cells) if cell.bounds is not None}
    if not better or not compared:
        return set()
    if better == "low":
        limit = min(high for _, high in compared.values())
        winners = {index for index, (low, _) in compared.items() if low <= limit}
    else:
        limit = max(low for low, _ in compared.values())
        winners = {index for index, (_, high) in compared.items() if high >= limit}
    return winners if len(winners) < len(cells) else set()


def _at(value: float | None) -> tuple[float, float] | None:
    """Return the bounds of a measure that is known."""
    return None if value is None else (value, value)


def summary(comparison: result_types.Comparison) -> str:
    """Return in one line what was run."""
    requests = max((design.requests for design in comparison.designs), default=0.0)
    worlds = words.counted(len(comparison.seeds), "world")
    first = f", from seed {comparison.seeds[0]}" if comparison.seeds and comparison.seeds[0] else ""
    return (
        f"{words.counted(len(comparison.designs), 'design')} under {words.count(requests)} "
        f"requests in {words.duration(comparison.duration_seconds)}; {comparison.engine} engine, "
        f"up to {worlds}{first}; {_beginning(comparison)}{_clients_played(comparison)}"
        f"{''.join(f'; {note}' for note in comparison.notes)}"
    )


def _clients_played(comparison: result_types.Comparison) -> str:
    """Return the words on client settings that the aggregate engine left out."""
    names = " and ".join(held_back(comparison.workload))
    if comparison.engine == "exact" or not names:
        return ""
    windows = {design.window for design in comparison.designs if design.window}
    spans = " and ".join(
        f"{words.duration(first)} to {words.duration(last)}" for first, last in sorted(windows)
    )
    waits = f": waits and calls given up are those of {spans}, request by request" if spans else ""
    return f"; risk without the clients' {names}{waits}"


def _beginning(comparison: result_types.Comparison) -> str:
    """Return in what state the tables began (CAP2-10)."""
    age = comparison.workload.get("age", "first")
    began = "new tables" if age == "first" else "tables that have lived with the load"
    lived = [design.name for design in comparison.designs if _has_history(design.design)]
    return f"{began}, with a history: {', '.join(lived)}" if lived else began


def _has_history(document: Mapping[str, Any]) -> bool:
    """Return whether a design's tables or indexes are said to have lived."""
    tables = document.get("tables", {"": document}).values()
    return any(
        "history" in resource for table in tables for resource in (table, *table.get("indexes", ()))
    )


def groups(comparison: result_types.Comparison) -> list[Group]:
    """Return the comparison's rows by subject."""
    designs = comparison.designs
    made = [
        Group("Throttling", tuple(_throttling(designs))),
        Group(
            "Attempts refused, beside what was measured",
            tuple(measured_rows(comparison.measured, designs)),
        ),
        Group("Waiting", tuple(_waiting(designs))),
        Group("Heat", tuple(_heat(designs))),
        Group("Capacity consumed", tuple(_capacity(designs, comparison.duration_seconds))),
        Group(_cost_title(comparison), tuple(_costs(designs))),
    ]
    return [group for group in made if group.rows]


def measured_rows(
    measured: result_types.MeasuredRefusals | None, designs: Sequence[result_types.DesignResult]
) -> Iterator[FigureRow]:
    """Yield the refusals of operations and limits that CloudWatch counted, too (ICH-61).

    Shares are of attempts, as CloudWatch counts them; those of limits are of all refusals.
    """
    if measured is None:
        return
    for operation in measured.refused:
        shares = [refused_shares(design).get(operation) for design in designs]
        if any(share is not None for share in shares):
            label = f"{operation} (measured: {words.percent(measured.share(operation))})"
            texts = (words.NONE if share is None else words.percent(share) for share in shares)
            yield FigureRow(label, tuple(map(Cell, texts)))
    counted = [measured.by_limit, *map(_refusals_by_limit, designs)]
    for limit in ThrottlingLimit:
        name = limit.suffix
        if name in measured.by_limit and any(counts.get(name) for counts in counted):
            part, *parts = (_part(counts, name) for counts in counted)
            label = f"of these: {limit.words} (measured: {part})"
            yield FigureRow(label, tuple(map(Cell, parts)))


def refused_shares(design: result_types.DesignResult) -> dict[str, float]:
    """Return the share of attempts that were refused, by operation."""
    sums: dict[str, tuple[float, float]] = {}
    for pattern in design.patterns:
        refusals, attempts = sums.get(pattern.operation, (0.0, 0.0))
        sums[pattern.operation] = (refusals + pattern.refusals, attempts + pattern.attempts)
    return {
        operation: refusals / attempts
        for operation, (refusals, attempts) in sums.items()
        if attempts
    }


def _refusals_by_limit(design: result_types.DesignResult) -> dict[str, float]:
    counts: dict[str, float] = {}
    for pattern in design.patterns:
        for reason, count in pattern.throttled_by_reason.items():
            limit = ThrottlingLimit.of(reason).suffix
            counts[limit] = counts.get(limit, 0.0) + count
    return counts


def _part(counts: Mapping[str, float], limit: str) -> str:
    total = sum(counts.values())
    return words.percent(counts.get(limit, 0.0) / total) if total else words.NONE


def _row(
    label: str,
    designs: Sequence[result_types.DesignResult],
    cell: Callable[[result_types.DesignResult], Cell],
    *,
    detail: bool = False,
    hint: str = "",
    better: Better = "",
) -> FigureRow:
    return FigureRow(label, tuple(cell(design) for design in designs), detail, hint, better)


# Throttling


def _throttling(designs: Sequence[result_types.DesignResult]) -> Iterator[FigureRow]:
    if any(design.risk is not None for design in designs):
        hint = "in how many of the worlds that were played, with the 95 % interval"
        yield _row("worlds that throttle", designs, risk, hint=hint, better="low")
        yield _row("calls throttled there", designs, _when_it_does, detail=True)
    if any(design.ages is not None for design in designs):
        hint = "the same tables after the whole run again and again, until nothing splits or scales"
        yield _row("once tables have lived", designs, _lived, detail=True, hint=hint, better="low")
        hint = "how far the load is from the nearest limit"
        yield _row("margin", designs, _margin, hint=hint, better="high")
    if any(design.horizon is not None and design.horizon.bucket_seconds for design in designs):
        hint = "of the times that keys with a time, or moving heat, are placed over the horizon"
        yield _row("each time keys are placed", designs, _per_bucket, detail=True, hint=hint)
    shares = [design.throttled_share for design in designs]
    hint = "of first attempts; this row and those below are of the median world"
    cells = tuple(_share(share, THRESHOLD) for share in shares)
    yield FigureRow("calls throttled, median world", cells, hint=hint, better="low")
    for reason in _reasons(designs):
        shares = [design.throttled_share_by_reason.get(reason, 0.0) for design in designs]
        cells = tuple(Cell(words.percent(share) if share else words.NONE) for share in shares)
        yield FigureRow(words.reason(reason), cells, detail=True, hint=reason)
    if any(design.given_up_share for design in designs):
        hint = "calls that were refused at every attempt"
        yield _row(
            "calls given up",
            designs,
            lambda design: _share(design.given_up_share),
            hint=hint,
            better="low",
        )
    yield _row("first throttled after", designs, _first_throttle, better="high")
    if any(resource.backlog is not None for design in designs for resource in design.resources):
        hint = "from then on every write to the table is refused, if the load goes on"
        yield _row("an index closes after", designs, _closes, hint=hint, better="high")
    if any(_ages(design) for design in designs):
        hint = "how long ago the oldest record was written that the stream's consumer has not read"
        yield _row("iterator age, longest", designs, _iterator_age, hint=hint, better="low")
    if any(design.headroom is not None for design in designs):
        hint = "the largest multiple of this load that does not throttle"
        yield _row("headroom", designs, headroom, hint=hint, better="high")


def risk(design: result_types.DesignResult) -> Cell:
    """Return in how many worlds a design throttles, with the interval."""
    if design.risk is None:
        return Cell(words.NONE)
    mark: Mark = "bad" if design.grade in AT_RISK else ""
    bounds = f"{design.risk.low * 100:.0f} to {design.risk.high * 100:.0f}"
    text = f"{words.percent(design.risk.chance)} ({bounds})"
    return Cell(text, mark, (design.risk.low, design.risk.high))


def _lived(design: result_types.DesignResult) -> Cell:
    """Return in how many worlds a design throttles once its tables have lived with the load."""
    if design.ages is None:
        return Cell(words.NONE)
    chance = design.ages.lived.risk.chance
    return Cell(words.percent(chance), "bad" if design.grade in AT_RISK else "", _at(chance))


def _margin(design: result_types.DesignResult) -> Cell:
    """Return the margin to the nearest limit."""
    own = design.margin
    if own is None:
        return Cell(words.NONE)
    if own.percent < 0:
        times = words.multiple(1 - own.percent / 100)
        return Cell(f"{times} the limit", "bad", _at(own.percent))
    return Cell(words.percent(own.percent / 100), bounds=_at(own.percent))


def _per_bucket(design: result_types.DesignResult) -> Cell:
    """Return the risk of throttling each time that the keys of a design are placed."""
    own = design.horizon
    if own is None or own.bucket_seconds is None:
        return Cell(words.NONE)
    return Cell(words.percent(own.risk_per_bucket), bounds=_at(own.risk_per_bucket))


def certainty(design: result_types.DesignResult) -> str:
    """Return how sure the verdict is: worlds, interval and, where keys have a time, the horizon."""
    if design.risk is None:
        return ""
    played = words.counted(design.risk.worlds, "world")
    text = (
        f"throttles in {round(design.risk.chance * design.risk.worlds)} of {played}, each a draw "
        f"of what AWS does not publish; 95 % sure that it is {design.risk.low * 100:.0f} to "
        f"{design.risk.high * 100:.0f} of 100"
    )
    own = design.horizon
    if own is not None and own.bucket_seconds is not None:
        text += (
            f"; over {words.duration(own.seconds)} keys are placed {words.count(own.buckets)} times"
        )
    return text


def _when_it_does(design: result_types.DesignResult) -> Cell:
    """Return the median share of throttled calls in the worlds that throttle."""
    typical = typical_throttling(design.whole_worlds)
    if typical is None:
        return Cell(words.NONE)
    share = words.percent(typical.throttled_share)
    return Cell(
        share if typical.throttled_share >= THRESHOLD else f"{share} before an index closes"
    )


def _closes(design: result_types.DesignResult) -> Cell:
    """Return when the first index to fall behind refuses every write to its table (CAP2-4)."""
    backlogs = [resource.backlog for resource in design.resources if resource.backlog is not None]
    times = [backlog.closes_after for backlog in backlogs if backlog.closes_after is not None]
    if times:
        return Cell(words.duration(min(times)), "bad", _at(min(times)))
    worlds = design.whole_worlds
    elsewhere = sum(world.closes_after is not None for world in worlds)
    text = f"never (it does in {elsewhere} of {len(worlds)})" if elsewhere else "never"
    return Cell(text, bounds=_at(math.inf))


def _ages(design: result_types.DesignResult) -> list[result_types.IteratorAge]:
    ages = (resource.iterator_age for resource in design.resources)
    return [age for age in ages if age is not None]


def _iterator_age(design: result_types.DesignResult) -> Cell:
    """Return how far the slowest consumer was behind; it is lost if it still falls behind."""
    ages = _ages(design)
    if not ages:
        return Cell(words.NONE)
    slowest = max(ages, key=lambda age: age.longest)
    text = words.duration(slowest.longest) if slowest.longest >= 1 else "none"
    is_behind = slowest.longest > 0 and slowest.at_the_end >= slowest.longest
    if is_behind:
        text += ", and growing"
    return Cell(text, "bad" if is_behind else "", _at(slowest.longest))


def _share(share: float, limit: float = 0.0) -> Cell:
    return Cell(words.percent(share), "bad" if share > limit else "", _at(share))


def _reasons(designs: Sequence[result_types.DesignResult]) -> list[str]:
    reasons = [reason for design in designs for reason in design.throttled_share_by_reason]
    return list(dict.fromkeys(reasons))


def _first_throttle(design: result_types.DesignResult) -> Cell:
    seconds = design.time_to_first_throttle
    if seconds is None:
        return Cell("never", bounds=_at(math.inf))
    text = words.duration(seconds) if seconds >= 1 else "at once"
    return Cell(text, bounds=_at(seconds))


def headroom(design: result_types.DesignResult) -> Cell:
    """Return a design's headroom, marked if it is small."""
    room = design.headroom
    if room is None:
        return Cell(words.NONE)
    if not room.multiple:
        return Cell("none", "bad", _at(0.0))
    text = words.multiple(room.multiple, at_least=room.at_least)
    mark: Mark = "bad" if room.multiple < 1 else "tight" if room.multiple < TIGHT else ""
    return Cell(text, mark, _at(room.multiple))


# Waiting


def _waiting(designs: Sequence[result_types.DesignResult]) -> Iterator[FigureRow]:
    hint = "p50 / p99: half and 99 % of the calls stay under it; of the worst access pattern"
    yield _row(
        "attempts per call, p50 / p99",
        designs,
        lambda design: _worst(design, lambda pattern: pattern.attempts_per_call, words.significant),
        hint=hint,
        better="low",
    )
    yield _row(
        "latency added by retries, p50 / p99",
        designs,
        lambda design: _worst(
            design, lambda pattern: pattern.added_latency_seconds, words.duration
        ),
        hint=hint,
        better="low",
    )
    if any(pattern.filtered_bytes for design in designs for pattern in design.patterns):
        hint = "share of the bytes that were read and paid for"
        yield _row("read and then filtered away", designs, _waste, hint=hint, better="low")


def _worst(
    design: result_types.DesignResult,
    spread: Callable[[result_types.PatternResult], result_types.Spread],
    form: Callable[[float], str],
) -> Cell:
    spreads = [spread(pattern) for pattern in design.patterns]
    p50 = max((spread.p50 for spread in spreads), default=0.0)
    p99 = max((spread.p99 for spread in spreads), default=0.0)
    return Cell(f"{form(p50)} / {form(p99)}", bounds=_at(p99))


def _waste(design: result_types.DesignResult) -> Cell:
    read = sum(pattern.evaluated_bytes for pattern in design.patterns)
    wasted = sum(pattern.filtered_bytes for pattern in design.patterns)
    return (
        Cell(words.percent(wasted / read), bounds=_at(wasted / read)) if read else Cell(words.NONE)
    )


# Heat


def _heat(designs: Sequence[result_types.DesignResult]) -> Iterator[FigureRow]:
    yield _row(
        "hottest partition",
        designs,
        lambda design: _hottest(design, lambda resource: resource.hottest_partition_share),
        hint="its share of the offered traffic of its table or index",
        better="low",
    )
    yield _row(
        "if they were even",
        designs,
        _even_share,
        detail=True,
        hint="a rule of thumb wants 10 % at most, which takes ten partitions",
    )
    yield _row(
        "hottest key",
        designs,
        lambda design: _hottest(design, lambda resource: resource.hottest_key_share),
        hint="its share of the offered traffic of its table or index",
        better="low",
    )
    yield _row("partition keys used", designs, _keys, hint=_SUM_HINT)
    yield _row("partitions at the end", designs, _partitions, hint=_SUM_HINT)
    hint = "how many partitions were split; refused: a hot partition that a split could not help"
    yield _row("splits", designs, _splits, hint=hint)
    if any(split.children for design in designs for split in design.splits):
        yield _row("first split after", designs, _first_split, detail=True)


_SUM_HINT: Final = (
    f"of the table, then + each index; 3{words.TIMES}4 means three indexes with 4 each"
)


def _even_share(design: result_types.DesignResult) -> Cell:
    """Return the even share of a partition at the start, in the resource with the hottest one."""
    worst = max(design.resources, key=lambda resource: resource.hottest_partition_share)
    count = next(iter(worst.partitions_per_minute), 0)
    return Cell(f"{words.percent(1 / count)} of {count}" if count else words.NONE)


def _first_split(design: result_types.DesignResult) -> Cell:
    """Return when the first partition with traffic was split, and why."""
    done = [
        split for resource in design.resources for split in resource.busy_splits if split.children
    ]
    if not done:
        return Cell(words.NONE)
    first = min(done, key=lambda split: split.time)
    when = words.duration(first.time) if first.time >= 0 else "before the run"
    return Cell(f"{when} ({first.cause})")


def _hottest(
    design: result_types.DesignResult, share: Callable[[result_types.ResourceResult], float]
) -> Cell:
    """Return the share on the table, and of the worst index if that is worse."""
    worst = max(design.resources, key=share)
    where = "" if worst.kind == "table" else f" of {worst.name}"
    return Cell(f"{words.percent(share(worst))}{where}", bounds=_at(share(worst)))


def _keys(design: result_types.DesignResult) -> Cell:
    return Cell(_sum(words.count(resource.distinct_keys) for resource in design.resources))


def _partitions(design: result_types.DesignResult) -> Cell:
    return Cell(_sum(str(resource.partitions_at_the_end) for resource in design.resources))


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


def _capacity(designs: Sequence[result_types.DesignResult], seconds: float) -> Iterator[FigureRow]:
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
                yield FigureRow(f"{unit}/s on {name}", cells, hint="average; share of provisioned")


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


def _cost_title(comparison: result_types.Comparison) -> str:
    """Return the title of the costs, with the load of their month."""
    every = comparison.workload.get("every")
    mean = comparison.workload.get("mean", 1)
    if every is None and mean < 1:
        return f"Cost of a month at a mean of {words.percent(mean)} of this load"
    if every is None:
        return "Cost of a month with this load all the time"
    names = {seconds: name for name, seconds in PERIODS.items()}
    return f"Cost of a month with this run every {names.get(every) or words.duration(every)}"


def _costs(designs: Sequence[result_types.DesignResult]) -> Iterator[FigureRow]:
    names = dict.fromkeys(cost_name(cost) for design in designs for cost in design.costs)
    for name in names:
        yield _row(name, designs, lambda design, name=name: _cost(design, name), better="low")  # type: ignore[misc]
    if any(is_incomplete(design) for design in designs):
        hint = "calls that were given up are not paid for, so these costs are too low"
        label = f"{INCOMPLETE} not paid for: calls given up"
        yield _row(label, designs, _not_paid, detail=True, hint=hint)
        label = "on-demand, if all calls were served"
        yield _row(label, designs, _whole_load, better="low")
    if any(_per_million(design) != Cell(words.NONE) for design in designs):
        label = "as designed, per million requests served"
        yield _row(label, designs, _per_million, better="low")
    if any(design.year for design in designs):
        yield _row("a year of growing load", designs, _year, better="low")
        yield _row("stored in its last month", designs, _year_stored, detail=True)
        yield _row("partitions after it", designs, _year_partitions, detail=True)


def cost_name(cost: result_types.Cost) -> str:
    """Return a billing mode and table class in words.

    >>> cost_name(result_types.Cost(billing="on-demand", table_class="STANDARD", lines=(),
    ...                             total=0, chosen=True))
    'on-demand'
    """
    rare = "" if cost.table_class == "STANDARD" else ", Standard-IA"
    return f"{cost.billing}{rare}"


#: Stands at the costs of a design that did not serve its whole load.
INCOMPLETE: Final = "*"


def is_incomplete(design: result_types.DesignResult) -> bool:
    """Return whether calls were given up, so that a month's costs are too low."""
    return design.given_up_share >= THRESHOLD


def _cost(design: result_types.DesignResult, name: str) -> Cell:
    cost = next((cost for cost in design.costs if cost_name(cost) == name), None)
    return _bill(design, cost)


def month_cell(design: result_types.DesignResult) -> Cell:
    """Return the cost of a month as designed; one that leaves out calls cannot be compared."""
    return _bill(design, month(design))


def _bill(design: result_types.DesignResult, cost: result_types.Cost | None) -> Cell:
    if cost is None:
        return Cell(words.NONE)
    mark: Mark = "chosen" if cost.chosen else ""
    if is_incomplete(design):
        return Cell(f"{words.dollars(cost.total)}{INCOMPLETE}", mark)
    return Cell(words.dollars(cost.total), mark, _at(cost.total))


def _not_paid(design: result_types.DesignResult) -> Cell:
    if not is_incomplete(design):
        return Cell(words.NONE)
    return Cell(words.percent(design.given_up_share), "bad")


def _whole_load(design: result_types.DesignResult) -> Cell:
    for cost in design.costs:
        if cost_name(cost) == "on-demand":
            whole = cost.whole_load if is_incomplete(design) else cost.total
            return Cell(words.NONE if whole is None else words.dollars(whole), bounds=_at(whole))
    return Cell(words.NONE)


def _per_million(design: result_types.DesignResult) -> Cell:
    cost = month(design)
    if cost is None or cost.per_million_served is None:
        return Cell(words.NONE)
    return Cell(words.dollars(cost.per_million_served), bounds=_at(cost.per_million_served))


def _year(design: result_types.DesignResult) -> Cell:
    total = sum(cost.total for cost in design.year)
    return Cell(words.dollars(total), bounds=_at(total)) if design.year else Cell(words.NONE)


def _year_stored(design: result_types.DesignResult) -> Cell:
    return Cell(words.size(design.year[-1].stored_bytes) if design.year else words.NONE)


def _year_partitions(design: result_types.DesignResult) -> Cell:
    return Cell(str(design.year[-1].partitions) if design.year else words.NONE)


def month(design: result_types.DesignResult) -> result_types.Cost | None:
    """Return the bill that the design asks for, if costs were worked out."""
    return next((cost for cost in design.costs if cost.chosen), None)
