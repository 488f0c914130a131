"""Answers: how a design answers each pattern, in a sentence, and what the way to it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from emulator.capacity import EVENTUAL
from emulator.capacity.prices import STANDARD
from emulator.capacity.units import read_units, write_units
from emulator.lab.inputs.design import Design, Table
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome import words
from emulator.lab.planning.access_paths import AccessPath, find_path, stored_items
from emulator.lab.planning.layout import Layout
from emulator.lab.searches.bounds import entry_bytes
from emulator.lab.searches.proposals import Candidate

#: Requests a second as people say them: in the shortest time that has one.
_PERIODS: Final = (("second", 1.0), ("minute", 60.0), ("hour", 3_600.0), ("day", 86_400.0))


@dataclass(frozen=True)
class Answer:
    """How a design answers a pattern.

    Attributes:
        name: The pattern.
        how: A sentence.
        operations: Calls per request.
        scan: Whether it reads a whole table.
    """

    name: str
    how: str
    operations: int
    scan: bool


def answers_of(candidate: Candidate, names: Sequence[str]) -> tuple[Answer, ...]:
    """Return how a design answers some patterns, with their further reads and writes."""
    layout = candidate.layout
    steps: dict[str, list[AccessPath]] = {name: [] for name in names}
    for pattern in layout.workload.patterns:
        asked = pattern.name if pattern.name in steps else pattern.name.rpartition(": ")[0]
        asked = asked if asked in steps else asked.rpartition(": ")[0]
        if asked in steps:
            steps[asked].append(find_path(layout, pattern))
    return tuple(_answer(name, paths, layout) for name, paths in steps.items() if paths)


def _answer(name: str, paths: Sequence[AccessPath], layout: Layout) -> Answer:
    searches = [path for path in paths if path.pattern.name.endswith(": key")]
    others = [path for path in paths if path not in searches]
    ordered = [*searches, *others]
    return Answer(
        name,
        "; then ".join(_how(path, layout) for path in ordered),
        sum(_calls(path, layout) for path in ordered),
        any(path.kind == "scan" for path in ordered),
    )


def _calls(path: AccessPath, layout: Layout) -> int:
    """Return how many calls a request of the pattern that is asked takes there."""
    workload, batches = layout.workload, 1
    if path.pattern.name.endswith(": items"):
        asked = workload.pattern(path.pattern.name.removesuffix(": items"))
        batches = round(path.pattern.pace.highest / asked.pace.highest)
    history = workload.history + workload.duration
    stretches = path.stretches(workload.start + workload.duration, history)
    return batches * path.shard_count * len(stretches)


def _how(path: AccessPath, layout: Layout) -> str:
    """Return the operation of an access path, and its table or index."""
    pattern, calls = path.pattern, _calls(path, layout)
    if path.kind == "scan":
        return f"Scan, accepted: {how_often(layout.workload, pattern)}"
    where = "the table" if len(layout.tables) == 1 else f"the table {path.table.name}"
    if path.index is not None:
        where = f"{'GSI' if path.index.is_global else 'LSI'} {path.index.name}"
    operation = pattern.operation if path.kind != "query" else "Query"
    items = f" of {words.counted(pattern.actions, 'item')}" if pattern.actions > 1 else ""
    if calls == 1:
        return f"one {operation}{items} on {where}"
    suffixes = f", {path.shard_count} suffixes" if path.shard_count > 1 else ""
    return f"{operation}{items} on {where}{suffixes}, {calls} reads"


def how_often(workload: Workload, pattern: Pattern) -> str:
    """Return the rate of a pattern in words.

    >>> report = Pattern("report", "Scan", rate=1 / 86_400)
    >>> how_often(Workload(patterns=[report], duration=60), report)
    'once a day'
    """
    rate = float(workload.rates(pattern).mean())
    for period, seconds in _PERIODS:
        if rate * seconds >= 0.95:
            times = round(rate * seconds)
            return f"once a {period}" if times == 1 else f"{times:,} times a {period}"
    return "less than once a day"


# The way from what exists


def way_there(given: Candidate, candidate: Candidate) -> str:
    """Return the steps from an existing design to another one, with their price.

    A new index is filled from the table (CAP-1106); a new key takes a new table, into which
    every item is written after a Scan of the old one.
    """
    layout = candidate.layout
    steps = []
    for table in layout.tables:
        old = next((own for own in given.design.tables if _has_same_keys(own, table.design)), None)
        puts = [own for own in layout.workload.patterns if own.is_put]
        held = [put for put in puts if layout.table_of(put) is table]
        if old is None:
            dollars = sum(_moved(layout, put) for put in held)
            steps.append(f"migrate every item to {table.name}, about {words.dollars(dollars)}")
            continue
        there = [index.to_document() | {"history": None} for index in old.indexes]
        for index in table.indexes:
            if not any(_is_same_index(own, index.design.to_document()) for own in there):
                dollars = sum(
                    _written(layout, put, index.design.projection)
                    for put in held
                    if index.holds(layout.item_fields(put))
                )
                steps.append(f"backfill {index.name}, about {words.dollars(dollars)}")
        kept = [index.design.to_document() for index in table.indexes]
        steps += [
            f"drop {own['name']}"
            for own in there
            if not any(_is_same_index(own, other) for other in kept)
        ]
    return "; ".join(steps) or "nothing to do: it is what exists"


def _is_same_index(one: dict[str, Any], other: dict[str, Any]) -> bool:
    names = ("partition", "sort", "projection", "local")
    return all(one.get(name) == other.get(name) for name in names)


def _has_same_keys(one: Table, other: Table) -> bool:
    return one.all_keys() == other.all_keys() or (
        not one.entities and not other.entities and one.key(None) == other.key(None)
    )


def _written(layout: Layout, put: Pattern, projection: str | tuple[str, ...]) -> float:
    """Return the dollars of writing an index entry for every stored item."""
    size = round(put.sizes.mean)
    if projection != "ALL":
        size = entry_bytes(layout.workload, projection)
    return STANDARD.on_demand(writes=stored_items(layout.workload, put) * write_units(size))


def _moved(layout: Layout, put: Pattern) -> float:
    """Return the dollars of reading every stored item and writing it to another table."""
    table, stored = layout.table_of(put), stored_items(layout.workload, put)
    reads = stored * read_units(round(put.sizes.mean)) * EVENTUAL
    entries = sum(
        _written(layout, put, index.design.projection)
        for index in table.indexes
        if index.holds(layout.item_fields(put))
    )
    return STANDARD.on_demand(reads=reads) + _written(layout, put, "ALL") + entries


def lab_text(design: Design, workload: Workload, settings: dict[str, Any]) -> str:
    """Return a complete lab file: the workload and one design."""
    import yaml

    document: dict[str, Any] = {"title": design.name}
    if settings:
        document["settings"] = settings
    members = workload.to_document()
    document["workload"] = {name: value for name, value in members.items() if value is not None}
    document["designs"] = [design.to_document()]
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
