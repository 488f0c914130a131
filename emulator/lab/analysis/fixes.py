"""Fixes: the smallest change that makes a design hold in 95 % of worlds.

A change is only named after the aggregate engine has played the changed design in as many worlds
as it takes to know. Changes of one kind form a family, the smallest first; of a family the
smallest member that holds is looked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from emulator.capacity.units import on_demand_start
from emulator.lab import aggregate
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.offered_load import ROUNDING, offered
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.inputs.design import Capacity, Design, Index, Table
from emulator.lab.outcome import words
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.thresholds import FIRST_WORLDS, THRESHOLD, UNLIKELY
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World
from emulator.service import limits
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason

#: Spare capacity that a proposed setting leaves.
_SPARE: Final = 1.15
_SHARDS: Final = (
    2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400, 512, 800
)  # fmt: skip
#: Runs with more and more capacity, to see what would be asked for if nothing were refused.
_ROUNDS: Final = 3
#: Of the first worlds, in how many a change may throttle to be looked at closely.
_HARDLY_ANY: Final = int(UNLIKELY * FIRST_WORLDS)
#: Of many changes, each is tried in so many worlds before the others: enough to rule it out.
_FEW: Final = _HARDLY_ANY + 1
_AXIS_WORDS: Final = ("read", "write")

NOTHING_HELPS: Final = "no change that was tried holds in 95 % of worlds"
NO_TIME: Final = "the time limit was reached before one was found"


@dataclass(frozen=True)
class Fix:
    """A change to a design.

    Attributes:
        sentence: What to do.
        design: The changed design.
        size: Of a number of suffixes, how many; None for other changes.
    """

    sentence: str
    design: Design
    size: int | None = None


#: Changes of one kind, the smallest first.
Family = Sequence[Fix]


@dataclass(frozen=True)
class Search:
    """What a search for a fix came to: a change that holds, or why there is none."""

    fix: str | None = None
    note: str | None = None


def find_fix(case: Case, runs: WorldRuns, world: World, deadline: Deadline) -> Search:
    """Return the first change, smallest first, that holds in 95 % of worlds.

    Args:
        case: A world in which the design throttles.
        runs: The worlds of the design.
        world: That world.
        deadline: When to stop looking.
    """
    trial = _Trial(runs, deadline)
    for family in _families(_with_all_offered(case, world)):
        if deadline.has_passed():
            return Search(note=NO_TIME)
        held = trial.smallest(family)
        if held is not None:
            return Search(fix=held)
    return Search(note=NO_TIME if deadline.has_passed() else NOTHING_HELPS)


class _Trial:
    """Plays changed designs in the worlds of the original."""

    def __init__(self, runs: WorldRuns, deadline: Deadline) -> None:
        self._runs_before = runs
        self._deadline = deadline
        #: By change, its worlds as far as they were played.
        self._runs: dict[str, WorldRuns] = {}

    def smallest(self, family: Family) -> str | None:
        """Return the sentence of the smallest change of a family that holds, or None.

        More of the same never throttles in more worlds, give or take, so the family is halved;
        what is found is then played until it is known well enough.
        """
        low, high = 0, len(family)
        while low < high and not self._deadline.has_passed():
            middle = (low + high) // 2
            if self._may_hold(family[middle], few=_FEW if len(family) > 1 else FIRST_WORLDS):
                high = middle
            else:
                low = middle + 1
        while low < len(family) and not self._deadline.has_passed():
            if self._holds(family[low]):
                return self._sentence(family, low)
            low += 1
        return None

    def _runs_of(self, fix: Fix) -> WorldRuns:
        """Return the worlds of a changed design."""
        if fix.sentence not in self._runs:
            before = self._runs_before
            changed = Layout(fix.design, before.layout.workload)
            runs = WorldRuns(changed, "aggregate", before.first, before.known, whole=0)
            self._runs[fix.sentence] = runs
        return self._runs[fix.sentence]

    def _may_hold(self, fix: Fix, few: int) -> bool:
        """Return whether a changed design throttles in hardly any of the first worlds.

        If it throttles in the first few, the others are not played.
        """
        try:
            runs = self._runs_of(fix)
            for count in (few, FIRST_WORLDS):
                runs.play(count)
                if runs.hits > _HARDLY_ANY:
                    return False
        except ValueError:
            return False  # beyond a quota
        return True

    def _holds(self, fix: Fix) -> bool:
        """Return whether a changed design throttles in at most 5 % of worlds."""
        try:
            runs = self._runs_of(fix)
            outcomes = runs.play_until_known(WorldCount())
        except ValueError:
            return False
        return runs.hits <= UNLIKELY * len(outcomes)

    def _sentence(self, family: Family, number: int) -> str:
        """Return what to do, what it costs, and how often the next smaller change would not do."""
        fix = family[number]
        price = "".join(_prices(self._runs_before.layout, self._runs_of(fix).layout))
        return f"{fix.sentence}{price}{self._smaller(family, number)}"

    def _smaller(self, family: Family, number: int) -> str:
        """Return how often the next smaller change would not do, if that is known."""
        if family[number].size is None or not number:
            return ""
        smaller = family[number - 1]
        try:
            runs = self._runs_of(smaller)
            runs.play(FIRST_WORLDS)
        except ValueError:
            return ""
        if not runs.hits:
            return ""
        worlds = len(runs.outcomes)
        return f"; {smaller.size} would throttle in {runs.hits} of {worlds} worlds"


def _prices(before: Layout, after: Layout) -> Iterator[str]:
    """Yield which reads a change makes dearer: more queries for the same answer, or a Scan."""
    names: dict[str, list[str]] = {}
    for pattern in before.workload.patterns:
        if pattern.is_write:
            continue
        old, new = find_path(before, pattern), find_path(after, pattern)
        if new.kind == "scan" and old.kind != "scan":
            names.setdefault("a Scan", []).append(pattern.name)
        elif new.shard_count > old.shard_count:
            queries = f"{new.shard_count} queries instead of {old.shard_count}"
            names.setdefault(queries, []).append(pattern.name)
    for what, patterns in names.items():
        verb = "takes" if len(patterns) == 1 else "take"
        yield f"; {' and '.join(patterns)} then {verb} {what}"


def _with_all_offered(case: Case, world: World) -> Case:
    """Return the case with the load that shows once nothing waits for capacity.

    Reads cost little while writes are refused and there is nothing to find; with more
    capacity they may cost more, so what is to be provisioned is known only after a run with it.
    """
    for _ in range(_ROUNDS):
        design, changed = _raised(case)
        log = _run(design, case, world) if changed else None
        if log is None or (log.throttled_share < THRESHOLD and not log.falls_behind):
            break
        workload = case.layout.workload
        loads = offered(pattern_results(log), resource_results(log), workload)
        larger = {name: load.larger(loads[name]) for name, load in case.offered.items()}
        if larger == case.offered:
            break
        case = replace(case, offered=larger)
    return case


def _run(design: Design, case: Case, world: World) -> RunLog | None:
    """Return the run of a changed design in a world; None beyond a quota."""
    try:
        changed = Layout(design, case.layout.workload)
        return aggregate.run(changed, seed=world.arrivals, settings=world.settings)
    except ValueError:
        return None


def _families(case: Case) -> Iterator[Family]:
    reason = case.reasons[0]
    limit = ThrottlingLimit.of(reason)
    if limit in (ThrottlingLimit.PROVISIONED, ThrottlingLimit.MAX_ON_DEMAND):
        yield from _more_capacity(case)
    if limit in (ThrottlingLimit.KEY_RANGE, ThrottlingLimit.MAX_ON_DEMAND):
        yield from _warmer(case)
    if limit is ThrottlingLimit.KEY_RANGE:
        yield from _other_key(case, reason)
        yield _suffixes(case, reason, case.layout.design)
    if limit is ThrottlingLimit.ACCOUNT:
        return
    yield from _suffixes_and_capacity(case)


def _more_capacity(case: Case) -> Iterator[Family]:
    """Yield the design with enough capacity on every axis of every resource that lacks it."""
    design, changed = _raised(case)
    if changed:
        yield [Fix(f"provision {', '.join(changed)}", design)]


def _suffixes_and_capacity(case: Case) -> Iterator[Family]:
    """Yield suffixes on a hot key together with enough capacity."""
    design, changed = _raised(case)
    if not changed:
        return
    for reason in case.reasons:
        if ThrottlingLimit.of(reason) is ThrottlingLimit.KEY_RANGE:
            yield [
                replace(fix, sentence=f"{fix.sentence}, and provision {', '.join(changed)}")
                for fix in _suffixes(case, reason, design)
            ]


def _raised(case: Case) -> tuple[Design, list[str]]:
    changed: list[str] = []
    layout = case.layout
    tables = []
    for table in layout.tables:
        own = layout.resource_name(table, None)
        capacity = _capacity(case, own, table.design.capacity, changed)
        indexes = []
        for index in table.indexes:
            if not index.is_global:
                indexes.append(index.design)
                continue
            name = layout.resource_name(table, index.name)
            present = table.index_capacity(index)
            raised = _capacity(case, name, present, changed)
            kept = index.design.capacity if raised == present else raised
            indexes.append(replace(index.design, capacity=kept))
        tables.append(replace(table.design, capacity=capacity, indexes=tuple(indexes)))
    return layout.design.with_tables(*tables), changed


def _capacity(case: Case, name: str, capacity: Capacity, changed: list[str]) -> Capacity:
    """Return the capacity that the offered load needs, saying what was raised."""
    changes: dict[str, Any] = {}
    for axis, word in enumerate(_AXIS_WORDS):
        asked = math.ceil(case.offered[name].axis(axis) * _SPARE - ROUNDING)
        for member in (word, f"max_{word}"):
            present = getattr(capacity, member)
            if present is not None and present < asked:
                changes[member] = asked
                what = "units" if member == word else "units as maximum"
                changed.append(f"{asked:,} {word} {what} on {words.resource(name)}")
    return replace(capacity, **changes)


def _warmer(case: Case) -> Iterator[Family]:
    """Yield the design with on-demand tables warmed for the offered load.

    If a maximum is in the way, then with that raised too.
    """
    layout = case.layout
    if any(table.design.capacity.is_provisioned for table in layout.tables):
        return
    yield [_warmed(case, layout.design)]
    raised, changed = _raised(case)
    if changed:
        fix = _warmed(case, raised)
        yield [Fix(f"{fix.sentence}, and provision {', '.join(changed)}", fix.design)]


def _warmed(case: Case, design: Design) -> Fix:
    tables, rates = [], []
    read, write = on_demand_start(case.settings.on_demand_partitions)
    for layout, table in zip(case.layout.tables, design.tables, strict=True):
        load = case.offered[case.layout.resource_name(layout, None)]
        warm: dict[str, Any] = {
            "warm_read": max(read, math.ceil(load.read * _SPARE - ROUNDING)),
            "warm_write": max(write, math.ceil(load.write * _SPARE - ROUNDING)),
        }
        rates.append(f"{warm['warm_read']:,} reads and {warm['warm_write']:,} writes a second")
        tables.append(replace(table, capacity=replace(table.capacity, **warm)))
    return Fix(f"pre-warm the table for {' and '.join(rates)}", design.with_tables(*tables))


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


def _other_key(case: Case, reason: str) -> Iterator[Family]:
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
        where = words.resource(table.name if index is None else index.name)
        yield [Fix(f"make {{{field.name}}} the partition key of {where}", changed)]


def _suffixes(case: Case, reason: str, design: Design) -> Family:
    """Return the design with more suffixes on the hot key, as few as may do first.

    A key that has suffixes already gets more of these; a parameter that says how many is set.
    """
    table, index = _target(case, reason)
    table = next(other for other in design.tables if other.name == table.name)
    if index is not None:
        index = next(other for other in table.indexes if other.name == index.name)
    text = table.partition if index is None else index.partition_texts[0]
    if not text:
        return []
    counts = [count for count in _SHARDS if count >= max(2, _least_suffixes(case, reason))]
    where = words.resource(table.name if index is None else index.name)
    counted = _COUNTED.search(text)
    if counted is None:
        source = _suffix_source(case, text, design)
        fixes = []
        for count in counts:
            suffix = f"hash({source}) % {count}" if source else f"random({count})"
            key = f"{text}#{{{suffix}}}"
            sentence = f"add {count} suffixes to the partition key of {where}: {key}"
            fixes.append(Fix(sentence, _with_key(design, table, index, key), count))
        return fixes
    parameter = counted["count"]
    if parameter in design.parameters:
        now = design.parameters[parameter]
        return [
            Fix(f"set {parameter} to {count}", design.with_parameter(parameter, count), count)
            for count in counts
            if count > now
        ]
    fixes = []
    for count in counts:
        if count > int(parameter):
            key = text[: counted.start("count")] + str(count) + text[counted.end("count") :]
            sentence = f"use {count} suffixes in the partition key of {where}: {key}"
            fixes.append(Fix(sentence, _with_key(design, table, index, key), count))
    return fixes


#: The number of suffixes in a key template, or the parameter that says it.
_COUNTED: Final = re.compile(r"(?:%\s*|random\(\s*)(?P<count>\w+)")


def _least_suffixes(case: Case, reason: str) -> int:
    """Return how many suffixes spread the hottest key's load over enough partitions."""
    resource = case.refusing_resource(reason)
    axis = AXES.index(parse_reason(reason).axis)
    hottest = case.offered[resource.name].axis(axis) * resource.hottest_key_share
    return math.ceil(hottest / limits.PARTITION_UNITS[axis])


def _suffix_source(case: Case, text: str, design: Design) -> str | None:
    """Return the field with most values that the key does not have yet."""
    used = design.template(text).names
    fields = [field for field in case.layout.workload.fields if field.name not in used]
    if not fields:
        return None
    best = max(fields, key=lambda field: (field.unique is not None, field.size))
    return best.name if best.unique or best.size >= 100 else None
