"""Fixes: the smallest change that makes a design fine.

A change is only named after the aggregate engine has run the changed design and found it fine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from emulator.lab import aggregate
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.offered_load import ROUNDING, offered
from emulator.lab.analysis.verdict import grade
from emulator.lab.inputs.design import Capacity, Design, Index, Table
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.thresholds import THRESHOLD
from emulator.lab.planning.layout import Layout
from emulator.service import limits
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason
from emulator.settings import Settings

#: Spare capacity that a proposed setting leaves.
_SPARE: Final = 1.15
_SHARDS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 200)
_MOST_TRIES: Final = 24
#: Runs with more and more capacity, to see what would be asked for if nothing were refused.
_ROUNDS: Final = 3
_AXIS_WORDS: Final = ("read", "write")


@dataclass(frozen=True)
class Fix:
    """A change that was tried and helps."""

    sentence: str
    design: Design


def find_fix(case: Case, *, seed: int, settings: Settings) -> Fix | None:
    """Return the first of the candidate changes, smallest first, that makes the design fine."""
    if grade(case) != "throttles":
        return None

    def run(design: Design, stop_over: float | None) -> RunLog | None:
        try:
            changed = Layout(design, case.layout.workload)
            return aggregate.run(changed, seed=seed, settings=settings, stop_over=stop_over)
        except ValueError:
            return None  # beyond a quota: no change to propose

    known = _with_all_offered(case, run)
    for fix in islice(_candidates(known), _MOST_TRIES):
        log = run(fix.design, THRESHOLD)
        if log is not None and log.throttled_share < THRESHOLD and not log.falls_behind:
            return fix
    return None


def _with_all_offered(case: Case, run: Callable[[Design, float | None], RunLog | None]) -> Case:
    """Return the case with the load that shows once nothing waits for capacity.

    Reads cost little while writes are refused and there is nothing to find; with more
    capacity they may cost more, so what is to be provisioned is known only after a run with it.
    """
    for _ in range(_ROUNDS):
        design, words = _raised(case)
        log = run(design, None) if words else None
        if log is None or (log.throttled_share < THRESHOLD and not log.falls_behind):
            break
        workload = case.layout.workload
        loads = offered(pattern_results(log), resource_results(log), workload)
        larger = {name: load.larger(loads[name]) for name, load in case.offered.items()}
        if larger == case.offered:
            break
        case = replace(case, offered=larger)
    return case


def _candidates(case: Case) -> Iterator[Fix]:
    reason = case.reasons[0]
    limit = ThrottlingLimit.of(reason)
    if limit in (ThrottlingLimit.PROVISIONED, ThrottlingLimit.MAX_ON_DEMAND):
        yield from _more_capacity(case)
    if limit in (ThrottlingLimit.KEY_RANGE, ThrottlingLimit.MAX_ON_DEMAND):
        yield from _warmer(case)
    if limit is ThrottlingLimit.KEY_RANGE:
        yield from _other_key(case, reason)
        yield from _suffixes(case, reason)
    if limit is ThrottlingLimit.ACCOUNT:
        return
    yield from _more_capacity(case, suffix=True)


def _more_capacity(case: Case, *, suffix: bool = False) -> Iterator[Fix]:
    """Yield the design with enough capacity on every axis of every resource that lacks it."""
    design, words = _raised(case)
    if not words:
        return
    if not suffix:
        yield Fix(f"provision {', '.join(words)}", design)
        return
    for reason in case.reasons:
        if ThrottlingLimit.of(reason) is ThrottlingLimit.KEY_RANGE:
            for fix in _suffixes(case, reason, design):
                yield Fix(f"{fix.sentence}, and provision {', '.join(words)}", fix.design)


def _raised(case: Case) -> tuple[Design, list[str]]:
    words: list[str] = []
    layout = case.layout
    tables = []
    for table in layout.tables:
        own = layout.resource_name(table, None)
        capacity = _capacity(case, own, table.design.capacity, words)
        indexes = []
        for index in table.indexes:
            if not index.is_global:
                indexes.append(index.design)
                continue
            name = layout.resource_name(table, index.name)
            present = table.index_capacity(index)
            raised = _capacity(case, name, present, words)
            kept = index.design.capacity if raised == present else raised
            indexes.append(replace(index.design, capacity=kept))
        tables.append(replace(table.design, capacity=capacity, indexes=tuple(indexes)))
    return layout.design.with_tables(*tables), words


def _capacity(case: Case, name: str, capacity: Capacity, words: list[str]) -> Capacity:
    """Return the capacity that the offered load needs, saying what was raised."""
    changes: dict[str, Any] = {}
    for axis, word in enumerate(_AXIS_WORDS):
        asked = math.ceil(case.offered[name].axis(axis) * _SPARE - ROUNDING)
        for member in (word, f"max_{word}"):
            present = getattr(capacity, member)
            if present is not None and present < asked:
                changes[member] = asked
                what = "units" if member == word else "units as maximum"
                words.append(f"{asked:,} {word} {what} on {name}")
    return replace(capacity, **changes)


def _warmer(case: Case) -> Iterator[Fix]:
    """Yield the design with on-demand tables warmed for the offered load.

    If a maximum is in the way, then with that raised too.
    """
    layout = case.layout
    if any(table.design.capacity.is_provisioned for table in layout.tables):
        return
    yield _warmed(case, layout.design)
    raised, words = _raised(case)
    if words:
        fix = _warmed(case, raised)
        yield Fix(f"{fix.sentence}, and provision {', '.join(words)}", fix.design)


def _warmed(case: Case, design: Design) -> Fix:
    tables, words = [], []
    for layout, table in zip(case.layout.tables, design.tables, strict=True):
        load = case.offered[case.layout.resource_name(layout, None)]
        warm: dict[str, Any] = {
            "warm_read": max(limits.ON_DEMAND_READ_UNITS, math.ceil(load.read * _SPARE - ROUNDING)),
            "warm_write": max(
                limits.ON_DEMAND_WRITE_UNITS, math.ceil(load.write * _SPARE - ROUNDING)
            ),
        }
        words.append(f"{warm['warm_read']:,} reads and {warm['warm_write']:,} writes a second")
        tables.append(replace(table, capacity=replace(table.capacity, **warm)))
    return Fix(f"pre-warm the table for {' and '.join(words)}", design.with_tables(*tables))


def _target(case: Case, reason: str) -> tuple[Table, Index | None]:
    """Return the table, and the index if it is one, whose key is too hot."""
    name = case.refusing_resource(reason).name
    for table in case.layout.tables:
        if case.layout.resource_name(table, None) == name:
            return table.design, None
        for index in table.indexes:
            if case.layout.resource_name(table, index.name) == name:
                return table.design, index.design
    raise AssertionError(name)


def _with_key(design: Design, table: Table, index: Index | None, partition: str) -> Design:
    """Return the design with another partition key on a table or index."""
    if index is None:
        entities = {name: replace(key, partition=partition) for name, key in table.entities.items()}
        changed = replace(table, partition=partition if table.partition else "", entities=entities)
    else:
        narrowed = replace(index, partition=(partition, *index.partition_texts[1:]))
        indexes = tuple(narrowed if other is index else other for other in table.indexes)
        changed = replace(table, indexes=indexes)
    same = [changed if other.name == table.name else other for other in design.tables]
    return design.with_tables(*same)


def _other_key(case: Case, reason: str) -> Iterator[Fix]:
    """Yield the design with a field for its key, where the key is made of time alone."""
    table, index = _target(case, reason)
    design = case.layout.design
    text = table.partition if index is None else index.partition_texts[0]
    if not text:
        return
    template = design.template(text)
    if template.fields or not template.times:
        return
    fields = [field for field in case.layout.workload.fields if not field.unique]
    for field in sorted(fields, key=lambda field: -field.size)[:2]:
        changed = _with_key(design, table, index, f"{{{field.name}}}")
        where = table.name if index is None else index.name
        yield Fix(f"make {{{field.name}}} the partition key of {where}", changed)


def _suffixes(case: Case, reason: str, design: Design | None = None) -> Iterator[Fix]:
    """Yield the design with calculated suffixes on the hot key, as few as may do."""
    table, index = _target(case, reason)
    resource = case.refusing_resource(reason)
    axis = AXES.index(parse_reason(reason).axis)
    hottest = case.offered[resource.name].axis(axis) * resource.hottest_key_share
    least = math.ceil(hottest / limits.PARTITION_UNITS[axis])
    base = design or case.layout.design
    present = next(own for own in base.tables if own.name == table.name)
    current = index
    if index is not None:
        current = next(own for own in present.indexes if own.name == index.name)
    text = present.partition if current is None else current.partition_texts[0]
    if not text:
        return
    source = _suffix_source(case, text, base)
    where = present.name if current is None else current.name
    for count in [count for count in _SHARDS if count >= max(2, least)]:
        part = f"hash({source}) % {count}" if source else f"random({count})"
        key = f"{text}#{{{part}}}"
        changed = _with_key(base, present, current, key)
        yield Fix(f"add {count} suffixes to the partition key of {where}: {key}", changed)


def _suffix_source(case: Case, text: str, design: Design) -> str | None:
    """Return the field with most values that the key does not have yet."""
    used = design.template(text).names
    fields = [field for field in case.layout.workload.fields if field.name not in used]
    if not fields:
        return None
    best = max(fields, key=lambda field: (field.unique is not None, field.size))
    return best.name if best.unique or best.size >= 100 else None
