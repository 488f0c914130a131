"""Changes to a design that may keep it from throttling, by kind and size.

Changes of one kind form a family, the smallest first: capacity, pre-warming, another key, suffixes,
and suffixes with the throughput that they take. Whether one holds, the search for a fix finds out.
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
from emulator.lab.analysis.case import Case, Hot
from emulator.lab.analysis.costs import prewarming
from emulator.lab.analysis.offered_load import ROUNDING, offered, units_per_request
from emulator.lab.inputs.design import DEFAULT_UNITS, Capacity, Design, Index, Table
from emulator.lab.outcome import words
from emulator.lab.outcome.run_log import RunLog
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.outcome.thresholds import THRESHOLD
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import World
from emulator.lab.world import run
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
_SHARDS: Final = (
    2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400, 512, 800
)  # fmt: skip
#: Runs with more and more capacity, to see what would be asked for if nothing were refused.
_ROUNDS: Final = 3
_AXIS_WORDS: Final = ("read", "write")


@dataclass(frozen=True)
class Change:
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
        changes: The changes.
        complete: Returns a change with what else may go with it, the least of it first; nothing
            if no quota allows as much as it and all larger ones take. Asked only of changes that
            are tried.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        complete: Callable[[Change], Sequence[Change]] | None = None,
    ) -> None:
        self._changes = changes
        self._complete = complete
        self._completed: dict[int, Sequence[Change]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def surest(self, number: int) -> Change | None:
        """Return a change with all that may go with it; None if that is beyond a quota."""
        variants = self.variants(number)
        return variants[-1] if variants else None

    def variants(self, number: int) -> Sequence[Change]:
        """Return a change with what may go with it, the least of it first."""
        change = self._changes[number]
        if self._complete is None:
            return [change]
        if number not in self._completed:
            self._completed[number] = self._complete(change)
        return self._completed[number]


def prices(before: Layout, after: Layout) -> Iterator[str]:
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


def is_about_reads(reason: str) -> bool:
    """Return whether it is reads that a reason refuses."""
    return parse_reason(reason).axis == "Read"


def makes_reads_dearer(before: Layout, change: Change) -> bool:
    """Return whether some read takes more queries, or a Scan, for a change."""
    return any(prices(before, Layout(change.design, before.workload)))


def _with_all_offered(case: Case, world: World) -> tuple[Case, list[Hot]]:
    """Return the case with the load that shows once nothing waits for capacity, and its heat.

    Reads cost little while writes are refused and there is nothing to find; with more
    capacity they may cost more, so the throughput that it takes is known only after a run with
    it. Such a run also shows partitions that are too hot for the load that then reaches them.
    """
    hottest = case.hot
    for _ in range(_ROUNDS):
        design, changes = _enlarged(case)
        log = _run(design, case, world) if changes else None
        if log is None or (log.throttled_share < THRESHOLD and not log.falls_behind):
            break
        enlarged = replace(case, patterns=pattern_results(log), resources=resource_results(log))
        hottest = [*hottest, *enlarged.hot]
        loads = offered(enlarged.patterns, enlarged.resources, case.layout.workload)
        larger = {name: load.larger(loads[name]) for name, load in case.offered.items()}
        if larger == case.offered:
            break
        case = replace(case, offered=larger)
    return case, list({hot.resource.name: hot for hot in reversed(hottest)}.values())[::-1]


def _run(design: Design, case: Case, world: World) -> RunLog | None:
    """Return the run of a changed design in a world; None beyond a quota."""
    try:
        changed = Layout(design, case.layout.workload)
        return run(changed, seed=world.arrivals, settings=world.settings)
    except ValueError:
        return None


def families(case: Case, world: World) -> Iterator[Family]:
    """Yield the changes that may help, those that ask least of their owner first.

    Args:
        case: A world in which the design throttles.
        world: That world.
    """
    case, hottest = _with_all_offered(case, world)
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
        yield from _other_key(case, hottest[0])
        yield from map(Family, _suffixes(case, hottest[0]))
    for hot in hottest:
        for changes in _suffixes(case, hot):
            yield Family(changes, partial(_with_throughput, case, world, hot.resource.name))


def warmings(case: Case, world: World) -> Iterator[Change]:
    """Yield pre-warmings of the present design, the least first."""
    case, _ = _with_all_offered(case, world)
    for times in _WARMER:
        design, clauses = _warmed(case, case.layout.design, times)
        if clauses:
            yield Change(_and(clauses), design)


def warming_price(before: Layout, design: Design) -> float:
    """Return the dollars, once, for the warm throughput that a changed design adds."""
    own, after = (prewarming(layout) for layout in (before, Layout(design, before.workload)))
    return math.fsum(after.values()) - math.fsum(own.values())


def _is_on_demand(design: Design) -> bool:
    """Return whether all tables are on demand."""
    return not any(table.capacity.is_provisioned for table in design.tables)


#: A changed design, and what was changed, one clause each; none if nothing was.
_Changed: TypeAlias = tuple[Design, list[str]]


def _sizes(changes: Sequence[_Changed]) -> Family:
    """Return the changes that change anything."""
    return Family([Change(_and(clauses), design) for design, clauses in changes if clauses])


def _and(clauses: Sequence[str]) -> str:
    *others, last = clauses
    return f"{', '.join(others)}, and {last}" if others else last


def _with_throughput(case: Case, world: World, resource: str, change: Change) -> Sequence[Change]:
    """Return a change with the throughput that its load takes: more keys may mean more reads.

    What is warmed for more than that is first the table or index whose key is changed, then all.
    """
    workload = case.layout.workload
    after = replace(case, layout=Layout(change.design, workload))
    if _asks_far_too_much(case, after.layout):
        return []
    log = _run(change.design, case, world)
    if log is not None:
        loads = offered(pattern_results(log), resource_results(log), workload)
        after, _ = _with_all_offered(replace(after, offered=loads), world)
    if any(
        max(load.read, load.write) > case.settings.table_quota for load in after.offered.values()
    ):
        return []
    enlarged = [_enlarged(after, times, only) for only in (resource, None) for times in _WARMER]
    variants = [
        replace(change, sentence=_and([change.sentence, *clauses]), design=design)
        for design, clauses in enlarged
    ]
    return list({variant.sentence: variant for variant in variants}.values())


def _asks_far_too_much(case: Case, after: Layout) -> bool:
    """Return whether reads of this many suffixes are far beyond the quota, without a run."""
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


def _enlarged(case: Case, times: int = 1, only: str | None = None) -> _Changed:
    """Return the design with throughput for the offered load: provisioned, warm, as maximum."""
    raised, clauses = _raised(case)
    design, warmed = _warmed(case, raised, times, only)
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
    if provisioned and layout.is_scaled:
        clauses = [f"{clauses[0]} before the load comes (auto scaling is minutes late)"]
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
    scaling, highest = capacity.scaling, max(changes.get(word, 0) for word in _AXIS_WORDS)
    if scaling is not None and scaling.maximum < highest:
        changes["scaling"] = replace(scaling, maximum=highest)
        maxima.append(f"of auto scaling on {where} to {highest:,} units")
    return replace(capacity, **changes)


def _warmed(case: Case, design: Design, times: int, only: str | None = None) -> _Changed:
    """Return the design with tables and indexes warmed for a multiple of the offered load.

    What is provisioned is warm for its capacity, so for once the load nothing is done there.

    Args:
        case: What was offered.
        design: The design.
        times: How often the offered load is warmed for.
        only: If given, all others than this are warmed for once the load.
    """
    tables = []
    clauses: list[str] = []
    for layout, table in zip(case.layout.tables, design.tables, strict=True):
        name = case.layout.resource_name(layout, None)
        share = times if only in (None, name) else 1
        capacity = _warm_capacity(case, name, table.capacity, share, clauses)
        indexes = []
        for present, index in zip(layout.indexes, table.indexes, strict=True):
            if not present.is_global:
                indexes.append(index)
                continue
            own = index.capacity
            if table.capacity.is_provisioned and not own.is_provisioned:
                own = layout.index_capacity(present)
            name = case.layout.resource_name(layout, index.name)
            share = times if only in (None, name) else 1
            warm = _warm_capacity(case, name, own, share, clauses)
            indexes.append(index if warm == own else replace(index, capacity=warm))
        tables.append(replace(table, capacity=capacity, indexes=tuple(indexes)))
    return design.with_tables(*tables), clauses


def _warm_capacity(
    case: Case, name: str, capacity: Capacity, times: int, clauses: list[str]
) -> Capacity:
    """Return capacity that is warm for the offered load, and never less than it was."""
    start = on_demand_start(case.settings.on_demand_partitions)
    if capacity.is_provisioned:
        if times == 1:
            return capacity
        start = (capacity.read or DEFAULT_UNITS, capacity.write or DEFAULT_UNITS)
    present = (capacity.warm_read or 0, capacity.warm_write or 0)
    read, write = (
        max(least, warm, min(_asked(case, name, axis) * times, case.settings.table_quota))
        for axis, (least, warm) in enumerate(zip(start, present, strict=True))
    )
    if (read, write) in (present, start):
        return capacity
    clauses.append(
        f"pre-warm {words.resource(name)} for {read:,} reads and {write:,} writes a second"
    )
    return replace(capacity, warm_read=read, warm_write=write)


def _asked(case: Case, name: str, axis: int) -> int:
    """Return the units a second that are set for the offered load, with some to spare."""
    return math.ceil(case.offered[name].axis(axis) * _SPARE - ROUNDING)


@dataclass(frozen=True)
class _HotKey:
    """A partition key of a table or index that is too hot.

    Attributes:
        where: What reports call the table or index.
        table: The table.
        index: The index, if it is one's.
        text: The template of the key; kinds of items that share it are kept together.
    """

    where: str
    table: Table
    index: Index | None
    text: str

    def replaced(self, design: Design, partition: str) -> Design:
        """Return the design with another partition key in its place."""
        table, index = self.table, self.index
        if index is None:
            entities = {
                name: replace(key, partition=partition) if key.partition == self.text else key
                for name, key in table.entities.items()
            }
            general = partition if table.partition == self.text else table.partition
            changed = replace(table, partition=general, entities=entities)
        else:
            narrowed = replace(index, partition=(partition, *index.partition_texts[1:]))
            indexes = tuple(narrowed if other is index else other for other in table.indexes)
            changed = replace(table, indexes=indexes)
        same = [changed if other.name == table.name else other for other in design.tables]
        return design.with_tables(*same)


def _hot_keys(case: Case, hot: Hot) -> list[_HotKey]:
    """Return the partition keys of what is too hot: of a table one for all kinds of items alike."""
    name = hot.resource.name
    where = words.resource(name)
    for layout in case.layout.tables:
        table = layout.design
        if case.layout.resource_name(layout, None) == name:
            texts = [table.partition, *(key.partition for key in table.entities.values())]
            return [_HotKey(where, table, None, text) for text in dict.fromkeys(texts) if text]
        for index in layout.indexes:
            if case.layout.resource_name(layout, index.name) == name:
                text = index.design.partition_texts[0]
                return [_HotKey(where, table, index.design, text)]
    raise AssertionError(name)


def _other_key(case: Case, hot: Hot) -> Iterator[Family]:
    """Yield the design with a field for its key, where the key is made of time alone."""
    design = case.layout.design
    fields = [field for field in case.layout.workload.fields if not field.unique]
    largest = sorted(fields, key=lambda field: -field.size)[:2]
    for key in _hot_keys(case, hot):
        template = design.template(key.text)
        if template.fields or not template.times:
            continue
        for field in largest:
            changed = key.replaced(design, f"{{{field.name}}}")
            sentence = f"make {{{field.name}}} the partition key of {key.where}"
            yield Family([Change(sentence, changed)])


def _suffixes(case: Case, hot: Hot) -> Iterator[Sequence[Change]]:
    """Yield the design with more suffixes on the hot key, as few as may do first.

    A key that is hot by reads which try all its suffixes may have too many: then also with fewer.
    """
    for key in _hot_keys(case, hot):
        counted = _COUNTED.search(key.text)
        now = 1
        if counted is not None:
            number = counted["count"]
            now = case.layout.design.parameters.get(number) or int(number)
        with_count = partial(_with_suffixes, case, key, counted)
        least = max(now + 1, _least_suffixes(case, hot))
        yield _bearable(case, [with_count(count) for count in _SHARDS if count >= least])
        if is_about_reads(hot.reason) and _reads_all_suffixes(case, hot):
            yield [with_count(count) for count in reversed(_SHARDS) if count < now]


def _reads_all_suffixes(case: Case, hot: Hot) -> bool:
    """Return whether a read of the table or index that refuses has to try all suffixes."""
    layout, name = case.layout, hot.resource.name
    for pattern in layout.workload.patterns:
        path = find_path(layout, pattern)
        index = None if path.index is None else path.index.name
        if path.shard_count > 1 and layout.resource_name(path.table, index) == name:
            return True
    return False


def _bearable(case: Case, changes: Sequence[Change]) -> Sequence[Change]:
    """Return the changes that do not split a read into too many queries."""
    if not changes or not makes_reads_dearer(case.layout, changes[0]):
        return changes
    return [
        change for change in changes if change.size is not None and change.size <= _MOST_QUERIES
    ]


def _with_suffixes(case: Case, key: _HotKey, counted: re.Match[str] | None, count: int) -> Change:
    """Return the design with a number of suffixes on a key.

    A key that has suffixes already gets as many of these; a parameter that says how many is set.
    """
    design, text = case.layout.design, key.text
    if counted is None:
        source = _suffix_source(case, text, design)
        suffixed = f"{text}#{{{f'hash({source}) % {count}' if source else f'random({count})'}}}"
        sentence = f"add {count} suffixes to the partition key of {key.where}: {suffixed}"
    elif (parameter := counted["count"]) in design.parameters:
        changed = design.with_parameter(parameter, count)
        return Change(f"set {parameter} to {count}", changed, count)
    else:
        suffixed = text[: counted.start("count")] + str(count) + text[counted.end("count") :]
        sentence = f"use {count} suffixes in the partition key of {key.where}: {suffixed}"
    return Change(sentence, key.replaced(design, suffixed), count)


#: The number of suffixes in a key template, or the parameter that says it.
_COUNTED: Final = re.compile(r"(?:%\s*|random\(\s*)(?P<count>\w+)")


def _least_suffixes(case: Case, hot: Hot) -> int:
    """Return how many suffixes spread the hottest key's load over enough partitions."""
    resource, reason = hot
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
