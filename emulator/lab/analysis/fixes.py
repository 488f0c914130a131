"""Fixes: the smallest change that makes a design hold in 95 % of worlds.

A change is only named after the aggregate engine has played the changed design in as many worlds
as it takes to know. Changes of one kind form a family, the smallest first; of a family the
smallest member that holds is looked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from emulator.capacity import READ
from emulator.capacity.units import on_demand_start
from emulator.lab import aggregate
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.offered_load import ROUNDING, offered, units_per_request
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.inputs.design import DEFAULT_UNITS, Capacity, Design, Index, Table
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
#: How often over a table is warmed at most: with more partitions, fewer hot keys meet on one.
_WARMER: Final = (1, 2, 4)
#: The most queries that a read is split into.
_MOST_QUERIES: Final = 64
#: How many times a quota is so far off that it is not looked at closely.
_FAR: Final = 2
_TOO_SMALL, _MAY_HOLD, _TOO_LARGE = range(3)
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


class Family:
    """Changes of one kind, the smallest first.

    Args:
        fixes: The changes.
        complete: Returns a change with what else may go with it, the least of it first; nothing
            if no quota allows as much as it and all larger ones take. Asked only of changes that
            are tried.
    """

    def __init__(
        self, fixes: Sequence[Fix], complete: Callable[[Fix], Sequence[Fix]] | None = None
    ) -> None:
        self._fixes = fixes
        self._complete = complete
        self._completed: dict[int, Sequence[Fix]] = {}

    def __len__(self) -> int:
        return len(self._fixes)

    def surest(self, number: int) -> Fix | None:
        """Return a change with all that may go with it; None if that is beyond a quota."""
        variants = self.variants(number)
        return variants[-1] if variants else None

    def variants(self, number: int) -> Sequence[Fix]:
        """Return a change with what may go with it, the least of it first."""
        fix = self._fixes[number]
        if self._complete is None:
            return [fix]
        if number not in self._completed:
            self._completed[number] = self._complete(fix)
        return self._completed[number]


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
    trial = _Trial(runs, deadline, was_about_reads=_is_about_reads(case.reasons[0]))
    for family in _families(_with_all_offered(case, world), world):
        if deadline.has_passed():
            return Search(note=NO_TIME)
        held = trial.smallest(family)
        if held is not None:
            return Search(fix=held)
    return Search(note=NO_TIME if deadline.has_passed() else NOTHING_HELPS)


class _Trial:
    """Plays changed designs in the worlds of the original."""

    def __init__(self, runs: WorldRuns, deadline: Deadline, *, was_about_reads: bool) -> None:
        self._runs_before = runs
        self._was_about_reads = was_about_reads
        self._deadline = deadline
        #: By change, its worlds as far as they were played.
        self._runs: dict[str, WorldRuns] = {}

    def smallest(self, family: Family) -> str | None:
        """Return the sentence of the smallest change of a family that holds, or None.

        The smallest are tried first, in growing steps; then what lies between the last that is too
        small and the first that may hold or is too large. What is found is played until it is
        known well enough.
        """
        low, high, step = 0, 0, 1
        while high < len(family) and not self._deadline.has_passed():
            fit = self._fit(family.surest(high), few=_FEW if len(family) > 1 else FIRST_WORLDS)
            if fit != _TOO_SMALL:
                break
            low = high + 1
            step *= 2
            is_last = high == len(family) - 1
            high += step if is_last else min(step, len(family) - 1 - high)
        while low < high < len(family) and not self._deadline.has_passed():
            middle = (low + high) // 2
            if self._fit(family.surest(middle), few=_FEW) == _TOO_SMALL:
                low = middle + 1
            else:
                high = middle
        for number in range(low, len(family)):
            if self._deadline.has_passed() or self._fit(family.surest(number), _FEW) == _TOO_LARGE:
                break
            for fix in family.variants(number):
                if self._may_hold(fix, few=_FEW) and self._holds(fix):
                    return self._sentence(family, number, fix)
        return None

    def _fit(self, fix: Fix | None, few: int) -> int:
        """Return whether a change is too small, too large, or may be right.

        Too large is what no quota allows, and what makes reads so dear that they are refused
        where writes were.
        """
        if fix is None:
            return _TOO_LARGE
        if self._may_hold(fix, few=few):
            return _MAY_HOLD
        if self._was_about_reads or not _makes_reads_dearer(self._runs_before.layout, fix):
            return _TOO_SMALL
        reasons = [outcome.reason for outcome in self._runs_of(fix).outcomes if outcome.reason]
        return _TOO_LARGE if any(map(_is_about_reads, reasons)) else _TOO_SMALL

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

    def _sentence(self, family: Family, number: int, fix: Fix) -> str:
        """Return what to do, what it costs, and how often the next smaller change would not do."""
        price = "".join(_prices(self._runs_before.layout, self._runs_of(fix).layout))
        return f"{fix.sentence}{price}{self._smaller(family, number)}"

    def _smaller(self, family: Family, number: int) -> str:
        """Return how often the next smaller change would not do, if that is known."""
        if not number:
            return ""
        smaller = family.surest(number - 1)
        if smaller is None:
            return ""
        try:
            runs = self._runs_of(smaller)
            runs.play(FIRST_WORLDS)
        except ValueError:
            return ""
        if smaller.size is None or not runs.hits:
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


def _is_about_reads(reason: str) -> bool:
    return parse_reason(reason).axis == "Read"


def _makes_reads_dearer(before: Layout, fix: Fix) -> bool:
    """Return whether some read takes more queries, or a Scan, for a change."""
    return any(_prices(before, Layout(fix.design, before.workload)))


def _with_all_offered(case: Case, world: World) -> Case:
    """Return the case with the load that shows once nothing waits for capacity.

    Reads cost little while writes are refused and there is nothing to find; with more
    capacity they may cost more, so what is to be provisioned is known only after a run with it.
    """
    for _ in range(_ROUNDS):
        design, changes = _enlarged(case)
        log = _run(design, case, world) if changes else None
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


def _families(case: Case, world: World) -> Iterator[Family]:
    reason = case.reasons[0]
    limit = ThrottlingLimit.of(reason)
    if limit is ThrottlingLimit.ACCOUNT:
        return
    if limit is not ThrottlingLimit.KEY_RANGE:
        yield _sizes([_raised(case)])
    if limit is not ThrottlingLimit.PROVISIONED:
        design = case.layout.design
        warmer = _WARMER if _is_on_demand(design) else _WARMER[:1]
        yield _sizes([_warmed(case, design, times) for times in warmer])
        yield _sizes([_enlarged(case, times) for times in warmer])
    if limit is ThrottlingLimit.KEY_RANGE:
        yield from _other_key(case, reason)
        yield from map(Family, _suffixes(case, reason))
    by_resource = {
        case.refusing_resource(hot).name: hot
        for hot in reversed(case.reasons)
        if ThrottlingLimit.of(hot) is ThrottlingLimit.KEY_RANGE
    }
    for hot in reversed(by_resource.values()):
        for fixes in _suffixes(case, hot):
            yield Family(fixes, partial(_with_throughput, case, world))


def _is_on_demand(design: Design) -> bool:
    """Return whether all tables are on demand."""
    return not any(table.capacity.is_provisioned for table in design.tables)


#: A changed design, and what was changed, one clause each; none if nothing was.
_Changed: TypeAlias = tuple[Design, list[str]]


def _sizes(changes: Sequence[_Changed]) -> Family:
    """Return the changes that change anything."""
    return Family([Fix(_and(clauses), design) for design, clauses in changes if clauses])


def _and(clauses: Sequence[str]) -> str:
    *others, last = clauses
    return f"{', '.join(others)}, and {last}" if others else last


def _with_throughput(case: Case, world: World, fix: Fix) -> Sequence[Fix]:
    """Return a change with the throughput that its load takes: more keys may mean more reads."""
    workload = case.layout.workload
    after = replace(case, layout=Layout(fix.design, workload))
    if _asks_far_too_much(case, after.layout):
        return []
    log = _run(fix.design, case, world)
    if log is not None:
        loads = offered(pattern_results(log), resource_results(log), workload)
        after = _with_all_offered(replace(after, offered=loads), world)
    if any(
        max(load.read, load.write) > case.settings.table_quota for load in after.offered.values()
    ):
        return []
    enlarged = [_enlarged(after, times) for times in _WARMER]
    return [
        replace(fix, sentence=_and([fix.sentence, *clauses]), design=design)
        for design, clauses in enlarged
    ]


def _asks_far_too_much(case: Case, after: Layout) -> bool:
    """Return whether reads of so many suffixes each are far beyond the quota, without a run."""
    for resource in case.resources:
        units = 0.0
        for result in case.patterns:
            pattern = case.pattern(result)
            peak = float(case.layout.workload.rates(pattern).max(initial=0.0))
            asked = peak * units_per_request(result, resource.name, READ)
            if pattern.items is not None:
                before = find_path(case.layout, pattern).shard_count
                asked *= find_path(after, pattern).shard_count / before
            units += asked
        if units > _FAR * case.settings.table_quota:
            return True
    return False


def _enlarged(case: Case, times: int = 1) -> _Changed:
    """Return the design with throughput for the offered load: provisioned, warm, as maximum."""
    raised, clauses = _raised(case)
    design, warmed = _warmed(case, raised, times)
    return design, warmed + clauses


def _raised(case: Case) -> _Changed:
    """Return the design with enough capacity on every axis of every resource that lacks it."""
    layout = case.layout
    tables = []
    provisioned: list[str] = []
    maxima: list[str] = []
    for table in layout.tables:
        own = layout.resource_name(table, None)
        capacity = _capacity(case, own, table.design.capacity, provisioned, maxima)
        indexes = []
        for index in table.indexes:
            if not index.is_global:
                indexes.append(index.design)
                continue
            name = layout.resource_name(table, index.name)
            present = table.index_capacity(index)
            raised = _capacity(case, name, present, provisioned, maxima)
            kept = index.design.capacity if raised == present else raised
            indexes.append(replace(index.design, capacity=kept))
        tables.append(replace(table.design, capacity=capacity, indexes=tuple(indexes)))
    clauses = [f"provision {', '.join(provisioned)}"] if provisioned else []
    if maxima:
        clauses.append(f"raise the maximum {', '.join(maxima)}")
    return layout.design.with_tables(*tables), clauses


def _capacity(
    case: Case, name: str, capacity: Capacity, provisioned: list[str], maxima: list[str]
) -> Capacity:
    """Return the capacity that the offered load needs, saying what was raised."""
    changes: dict[str, Any] = {}
    where = words.resource(name)
    for axis, word in enumerate(_AXIS_WORDS):
        asked = _asked(case, name, axis)
        present, maximum = getattr(capacity, word), getattr(capacity, f"max_{word}")
        if present is not None and present < asked:
            changes[word] = asked
            provisioned.append(f"{asked:,} {word} units on {where}")
        if maximum is not None and maximum < asked:
            changes[f"max_{word}"] = asked
            maxima.append(f"of {where} to {asked:,} {word} units")
    return replace(capacity, **changes)


def _warmed(case: Case, design: Design, times: int) -> _Changed:
    """Return the design with tables and indexes warmed for so many times the offered load.

    What is provisioned is warm for its capacity, so for once the load nothing is done there.
    """
    tables = []
    clauses: list[str] = []
    for layout, table in zip(case.layout.tables, design.tables, strict=True):
        name = case.layout.resource_name(layout, None)
        capacity = _warm_capacity(case, name, table.capacity, times, clauses)
        indexes = []
        for present, index in zip(layout.indexes, table.indexes, strict=True):
            if not present.is_global:
                indexes.append(index)
                continue
            own = index.capacity
            if table.capacity.is_provisioned and not own.is_provisioned:
                own = layout.index_capacity(present)
            name = case.layout.resource_name(layout, index.name)
            warm = _warm_capacity(case, name, own, times, clauses)
            indexes.append(index if warm == own else replace(index, capacity=warm))
        tables.append(replace(table, capacity=capacity, indexes=tuple(indexes)))
    return design.with_tables(*tables), clauses


def _warm_capacity(
    case: Case, name: str, capacity: Capacity, times: int, clauses: list[str]
) -> Capacity:
    """Return capacity that is warm for the offered load, unless its start is warm enough."""
    start = on_demand_start(case.settings.on_demand_partitions)
    if capacity.is_provisioned:
        if times == 1:
            return capacity
        start = (capacity.read or DEFAULT_UNITS, capacity.write or DEFAULT_UNITS)
    read, write = (
        max(least, min(_asked(case, name, axis) * times, case.settings.table_quota))
        for axis, least in enumerate(start)
    )
    if (read, write) == start and not any(_refuses(case, reason, name) for reason in case.reasons):
        return capacity
    clauses.append(
        f"pre-warm {words.resource(name)} for {read:,} reads and {write:,} writes a second"
    )
    return replace(capacity, warm_read=read, warm_write=write)


def _refuses(case: Case, reason: str, name: str) -> bool:
    """Return whether a reason is that of a table or index."""
    return case.refusing_resource(reason).name == name


def _asked(case: Case, name: str, axis: int) -> int:
    """Return the units a second that are set for the offered load, with some to spare."""
    return math.ceil(case.offered[name].axis(axis) * _SPARE - ROUNDING)


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
        yield Family([Fix(f"make {{{field.name}}} the partition key of {where}", changed)])


def _suffixes(case: Case, reason: str) -> Iterator[Sequence[Fix]]:
    """Yield the design with more suffixes on the hot key, as few as may do first.

    A key that is hot by reads which try all its suffixes may have too many: then also with fewer.
    """
    table, index = _target(case, reason)
    text = table.partition if index is None else index.partition_texts[0]
    if not text:
        return
    counted = _COUNTED.search(text)
    now = 1
    if counted is not None:
        number = counted["count"]
        now = case.layout.design.parameters.get(number) or int(number)
    with_count = partial(_with_suffixes, case, table, index, counted)
    least = max(now + 1, _least_suffixes(case, reason))
    yield _bearable(case, [with_count(count) for count in _SHARDS if count >= least])
    if _is_about_reads(reason) and _reads_all_suffixes(case, reason):
        yield [with_count(count) for count in reversed(_SHARDS) if count < now]


def _reads_all_suffixes(case: Case, reason: str) -> bool:
    """Return whether a read of the table or index that refuses has to try all suffixes."""
    layout, name = case.layout, case.refusing_resource(reason).name
    for pattern in layout.workload.patterns:
        path = find_path(layout, pattern)
        index = None if path.index is None else path.index.name
        if path.shard_count > 1 and layout.resource_name(path.table, index) == name:
            return True
    return False


def _bearable(case: Case, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """Return the changes that do not split a read into too many queries."""
    if not fixes or not _makes_reads_dearer(case.layout, fixes[0]):
        return fixes
    return [fix for fix in fixes if fix.size is not None and fix.size <= _MOST_QUERIES]


def _with_suffixes(
    case: Case, table: Table, index: Index | None, counted: re.Match[str] | None, count: int
) -> Fix:
    """Return the design with so many suffixes on a key.

    A key that has suffixes already gets as many of these; a parameter that says how many is set.
    """
    design = case.layout.design
    where = words.resource(table.name if index is None else index.name)
    if counted is None:
        text = table.partition if index is None else index.partition_texts[0]
        source = _suffix_source(case, text, design)
        key = f"{text}#{{{f'hash({source}) % {count}' if source else f'random({count})'}}}"
        sentence = f"add {count} suffixes to the partition key of {where}: {key}"
    elif (parameter := counted["count"]) in design.parameters:
        changed = design.with_parameter(parameter, count)
        return Fix(f"set {parameter} to {count}", changed, count)
    else:
        text = counted.string
        key = text[: counted.start("count")] + str(count) + text[counted.end("count") :]
        sentence = f"use {count} suffixes in the partition key of {where}: {key}"
    return Fix(sentence, _with_key(design, table, index, key), count)


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
