"""Verdict: one sentence on a design, and the smallest change that makes it fine.

A change is only named after the aggregate engine has run the changed design and found it fine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Literal

from emulator.capacity import READ, WRITE
from emulator.capacity.refusal import ACCOUNT_LIMIT, KEY_RANGE, MAX_ON_DEMAND, PROVISIONED
from emulator.lab import aggregate
from emulator.lab.analysis.headroom import is_over, throttled_share
from emulator.lab.analysis.offered_load import ROUNDING, Offered, offered
from emulator.lab.inputs.design import Capacity, Design, Index, Table
from emulator.lab.outcome.result_types import Headroom, PatternResult, ResourceResult
from emulator.lab.outcome.run_log import RunLog, Stop
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.thresholds import THRESHOLD, TIGHT, UNEVEN
from emulator.lab.planning.layout import Layout
from emulator.service.limits import PARTITION_READ_UNITS, PARTITION_WRITE_UNITS
from emulator.settings import Settings

Grade = Literal["fine", "tight", "throttles"]

#: Spare capacity that a proposed setting leaves.
_SPARE: Final = 1.15
_SHARDS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 200)
_MOST_TRIES: Final = 24
#: Runs with more and more capacity, to see what would be asked for if nothing were refused.
_ROUNDS: Final = 3
_RATES: Final = (PARTITION_READ_UNITS, PARTITION_WRITE_UNITS)
_WORDS: Final = ("read", "write")


@dataclass(frozen=True)
class Evidence:
    """What a run has shown of a design."""

    layout: Layout
    patterns: Sequence[PatternResult]
    resources: Sequence[ResourceResult]
    offered: dict[str, Offered]
    headroom: Headroom | None
    first_throttle: float | None

    @property
    def share(self) -> float:
        """The share of calls refused at least once."""
        calls = sum(one.calls for one in self.patterns)
        return sum(one.throttled for one in self.patterns) / calls if calls else 0.0

    @property
    def reasons(self) -> list[str]:
        """The reasons of refusals, the most frequent first."""
        totals: dict[str, float] = {}
        for one in self.patterns:
            for reason, count in one.throttled_by_reason.items():
                totals[reason] = totals.get(reason, 0.0) + count
        return sorted(totals, key=lambda reason: -totals[reason])


@dataclass(frozen=True)
class Fix:
    """A change that was tried and helps."""

    sentence: str
    design: Design


def grade(evidence: Evidence) -> Grade:
    """Return how the design does."""
    if evidence.share >= THRESHOLD:
        return "throttles"
    room = evidence.headroom
    if room is not None and not room.at_least and room.multiple < TIGHT:
        return "tight"
    return "fine"


def sentence(evidence: Evidence) -> str:
    """Return the verdict in one sentence."""
    name = evidence.layout.design.name
    found = grade(evidence)
    room = evidence.headroom
    if not any(one.requests for one in evidence.patterns):
        return f"{name} is fine: it is asked for nothing."
    if found == "fine":
        spare = "" if room is None else f", and it carries {_multiple(room)} times this load"
        little = f"only {evidence.share:.2g} of all calls" if evidence.share else "nothing"
        return f"{name} is fine: {little} is throttled{spare}."
    if found == "tight" and room is not None:
        limit = f", then {room.limited_by} begins" if room.limited_by else ""
        return f"{name} is tight: it carries only {_multiple(room)} times this load{limit}."
    return f"{name} throttles {evidence.share:.1%} of calls: {_cause(evidence)}."


def _multiple(room: Headroom) -> str:
    return f"{'at least ' if room.at_least else ''}{room.multiple:.3g}"


def _cause(evidence: Evidence) -> str:
    """Return why calls are refused, in the words of the leading reason."""
    reason = evidence.reasons[0]
    resource = _resource_of(evidence, reason)
    axis = READ if "Read" in reason else WRITE
    result = resource.read if axis == READ else resource.write
    word = _WORDS[axis]
    asked = evidence.offered[resource.name].axis(axis)
    if reason.endswith(KEY_RANGE):
        return _full_partition(resource, axis, asked)
    provided = max(result.per_minute.provisioned, default=0.0)
    if reason.endswith(ACCOUNT_LIMIT):
        return f"{resource.name} is asked for {asked:,.0f} {word} units a second, over its quota"
    return (
        f"{resource.name} is asked for up to {asked:,.0f} {word} units a second and has "
        f"{provided:,.0f}"
    )


def _full_partition(resource: ResourceResult, axis: int, asked: float) -> str:
    """Return what fills a partition: one key, several that lie together, or the whole load."""
    result = resource.read if axis == READ else resource.write
    word, rate = _WORDS[axis], _RATES[axis]
    count = min(resource.partitions_per_minute, default=1)
    key, partition = resource.hottest_key_share, resource.hottest_partition_share
    if partition * count < UNEVEN and asked > count * rate:
        return (
            f"{resource.name} is asked for up to {asked:,.0f} {word} units a second, and its "
            f"{count} partitions carry {count * rate:,}"
        )
    if key > 0.5 and resource.top_keys:
        who, share = f"the key {resource.top_keys[0].key!r}", key
    else:
        who, share = f"one partition of {resource.name}", partition
    unused = ""
    if result.utilisation is not None and result.utilisation < 0.8:
        unused = f" while {1 - result.utilisation:.0%} of the {word} capacity is unused"
    return (
        f"{who} gets {share:.0%} of the traffic of {resource.name}, and a partition stops at "
        f"{rate:,} {word} units a second{unused}"
    )


def _resource_of(evidence: Evidence, reason: str) -> ResourceResult:
    """Return the resource that a reason is most likely about: that which refused most."""
    kind = "table" if reason.startswith("Table") else "index"
    axis = "read" if "Read" in reason else "write"
    candidates = [one for one in evidence.resources if one.kind == kind]
    return max(candidates, key=lambda one: float(getattr(one, axis).throttled_units))


# The smallest change


def find_fix(evidence: Evidence, *, seed: int, settings: Settings) -> Fix | None:
    """Return the first of the candidate changes, smallest first, that makes the design fine."""
    if grade(evidence) != "throttles":
        return None

    def run(design: Design, stop: Stop | None) -> RunLog | None:
        try:
            changed = Layout(design, evidence.layout.workload)
            return aggregate.run(changed, seed=seed, settings=settings, stop=stop)
        except ValueError:
            return None  # beyond a quota: no change to propose

    known = _with_all_offered(evidence, run)
    for fix in islice(_candidates(known), _MOST_TRIES):
        log = run(fix.design, is_over)
        if log is not None and throttled_share(log) < THRESHOLD:
            return fix
    return None


def _with_all_offered(
    evidence: Evidence, run: Callable[[Design, Stop | None], RunLog | None]
) -> Evidence:
    """Return the evidence with the load that shows once nothing waits for capacity.

    Reads cost little while writes are refused and there is nothing to find; with more
    capacity they may cost more, so what is to be provisioned is known only after a run with it.
    """
    for _ in range(_ROUNDS):
        design, words = _raised(evidence)
        log = run(design, None) if words else None
        if log is None or throttled_share(log) < THRESHOLD:
            break
        workload = evidence.layout.workload
        found = offered(pattern_results(log), resource_results(log), workload)
        larger = {name: one.larger(found[name]) for name, one in evidence.offered.items()}
        if larger == evidence.offered:
            break
        evidence = replace(evidence, offered=larger)
    return evidence


def _candidates(evidence: Evidence) -> Iterator[Fix]:
    reason = evidence.reasons[0]
    if reason.endswith((PROVISIONED, MAX_ON_DEMAND)):
        yield from _more_capacity(evidence)
    if reason.endswith((KEY_RANGE, MAX_ON_DEMAND)):
        yield from _warmer(evidence)
    if reason.endswith(KEY_RANGE):
        yield from _other_key(evidence, reason)
        yield from _suffixes(evidence, reason)
    if reason.endswith(ACCOUNT_LIMIT):
        return
    yield from _more_capacity(evidence, suffix=True)


def _more_capacity(evidence: Evidence, *, suffix: bool = False) -> Iterator[Fix]:
    """Yield the design with enough capacity on every axis of every resource that lacks it."""
    design, words = _raised(evidence)
    if not words:
        return
    if not suffix:
        yield Fix(f"provision {', '.join(words)}", design)
        return
    for reason in evidence.reasons:
        if reason.endswith(KEY_RANGE):
            for fix in _suffixes(evidence, reason, design):
                yield Fix(f"{fix.sentence}, and provision {', '.join(words)}", fix.design)


def _raised(evidence: Evidence) -> tuple[Design, list[str]]:
    words: list[str] = []
    layout = evidence.layout
    tables = []
    for table in layout.tables:
        own = layout.resource_name(table, None)
        capacity = _capacity(evidence, own, table.design.capacity, words)
        indexes = []
        for index in table.indexes:
            if not index.is_global:
                indexes.append(index.design)
                continue
            name = layout.resource_name(table, index.name)
            present = table.index_capacity(index)
            raised = _capacity(evidence, name, present, words)
            kept = index.design.capacity if raised == present else raised
            indexes.append(replace(index.design, capacity=kept))
        tables.append(replace(table.design, capacity=capacity, indexes=tuple(indexes)))
    return layout.design.with_tables(*tables), words


def _capacity(evidence: Evidence, name: str, capacity: Capacity, words: list[str]) -> Capacity:
    """Return the capacity that the offered load needs, saying what was raised."""
    changes: dict[str, Any] = {}
    for axis, word in enumerate(_WORDS):
        asked = math.ceil(evidence.offered[name].axis(axis) * _SPARE - ROUNDING)
        for member in (word, f"max_{word}"):
            present = getattr(capacity, member)
            if present is not None and present < asked:
                changes[member] = asked
                what = "units" if member == word else "units as maximum"
                words.append(f"{asked:,} {word} {what} on {name}")
    return replace(capacity, **changes)


def _warmer(evidence: Evidence) -> Iterator[Fix]:
    """Yield the design with on-demand tables warmed for the offered load.

    If a maximum is in the way, then with that raised too.
    """
    layout = evidence.layout
    if any(table.design.capacity.is_provisioned for table in layout.tables):
        return
    yield _warmed(evidence, layout.design)
    raised, words = _raised(evidence)
    if words:
        fix = _warmed(evidence, raised)
        yield Fix(f"{fix.sentence}, and provision {', '.join(words)}", fix.design)


def _warmed(evidence: Evidence, design: Design) -> Fix:
    tables, words = [], []
    for layout, table in zip(evidence.layout.tables, design.tables, strict=True):
        load = evidence.offered[evidence.layout.resource_name(layout, None)]
        warm: dict[str, Any] = {
            "warm_read": max(12_000, math.ceil(load.read * _SPARE - ROUNDING)),
            "warm_write": max(4_000, math.ceil(load.write * _SPARE - ROUNDING)),
        }
        words.append(f"{warm['warm_read']:,} reads and {warm['warm_write']:,} writes a second")
        tables.append(replace(table, capacity=replace(table.capacity, **warm)))
    return Fix(f"pre-warm the table for {' and '.join(words)}", design.with_tables(*tables))


def _target(evidence: Evidence, reason: str) -> tuple[Table, Index | None]:
    """Return the table, and the index if it is one, whose key is too hot."""
    name = _resource_of(evidence, reason).name
    for table in evidence.layout.tables:
        if evidence.layout.resource_name(table, None) == name:
            return table.design, None
        for index in table.indexes:
            if evidence.layout.resource_name(table, index.name) == name:
                return table.design, index.design
    raise AssertionError(name)


def _with_key(design: Design, table: Table, index: Index | None, partition: str) -> Design:
    """Return the design with another partition key on a table or index."""
    if index is None:
        entities = {name: replace(key, partition=partition) for name, key in table.entities.items()}
        changed = replace(table, partition=partition if table.partition else "", entities=entities)
    else:
        narrowed = replace(index, partition=(partition, *index.partition_texts[1:]))
        indexes = tuple(narrowed if one is index else one for one in table.indexes)
        changed = replace(table, indexes=indexes)
    same = [changed if one.name == table.name else one for one in design.tables]
    return design.with_tables(*same)


def _other_key(evidence: Evidence, reason: str) -> Iterator[Fix]:
    """Yield the design with a field for its key, where the key is made of time alone."""
    table, index = _target(evidence, reason)
    design = evidence.layout.design
    text = table.partition if index is None else index.partition_texts[0]
    if not text:
        return
    template = design.template(text)
    if template.fields or not template.times:
        return
    fields = [one for one in evidence.layout.workload.fields if not one.unique]
    for one in sorted(fields, key=lambda field: -field.size)[:2]:
        changed = _with_key(design, table, index, f"{{{one.name}}}")
        where = table.name if index is None else index.name
        yield Fix(f"make {{{one.name}}} the partition key of {where}", changed)


def _suffixes(evidence: Evidence, reason: str, design: Design | None = None) -> Iterator[Fix]:
    """Yield the design with calculated suffixes on the hot key, as few as may do."""
    table, index = _target(evidence, reason)
    resource = _resource_of(evidence, reason)
    axis = READ if "Read" in reason else WRITE
    hottest = evidence.offered[resource.name].axis(axis) * resource.hottest_key_share
    least = math.ceil(hottest / _RATES[axis])
    base = design or evidence.layout.design
    present = next(one for one in base.tables if one.name == table.name)
    current = index
    if index is not None:
        current = next(one for one in present.indexes if one.name == index.name)
    text = present.partition if current is None else current.partition_texts[0]
    if not text:
        return
    source = _suffix_source(evidence, text, base)
    where = present.name if current is None else current.name
    for count in [one for one in _SHARDS if one >= max(2, least)]:
        part = f"hash({source}) % {count}" if source else f"random({count})"
        key = f"{text}#{{{part}}}"
        changed = _with_key(base, present, current, key)
        yield Fix(f"add {count} suffixes to the partition key of {where}: {key}", changed)


def _suffix_source(evidence: Evidence, text: str, design: Design) -> str | None:
    """Return the field with most values that the key does not have yet."""
    used = design.template(text).names
    fields = [one for one in evidence.layout.workload.fields if one.name not in used]
    if not fields:
        return None
    best = max(fields, key=lambda one: (one.unique is not None, one.size))
    return best.name if best.unique or best.size >= 100 else None
