"""Access paths: how a design answers an access pattern, and what that takes.

The best way is the one whose key conditions use most of what is known: a read of one item, a
Query, or, where no key fits, a Scan. What is known and no key can use is filtered away after
reading, and paid for. A partition key with suffixes that the caller cannot know is asked once
per suffix; one with a time, once per stretch of time. A pattern that says what it reads may take
a second step: the items of entries that have too little, or a key that the caller does not know.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from emulator.lab.inputs import key_templates
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.key_templates import FieldPart, Part, ShardPart, Text, TimePart
from emulator.lab.inputs.patterns import POINT_READS, TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.layout import IndexLayout, KeyLayout, Layout, TableLayout
from emulator.service import limits

Kind = Literal["write", "get", "query", "scan"]

TABLE: Final = "table"
SCAN: Final = "scan"


@dataclass(frozen=True)
class AccessPath:
    """The way to the items of a pattern.

    Attributes:
        pattern: The pattern.
        table: Where its items lie.
        index: The index that is asked, or None for the table.
        kind: What is done there.
        key: The templates of the key that is asked.
        shards: Suffixes that every request has to try.
        times: Times in the partition key over which a request has to range.
        sort_parts: For each sort attribute in turn, the parts that are known.
        by_time: Whether a range of time follows them.
        filters: Known fields that no key condition could use.
        is_in_order: Whether entries come in the order that the pattern wants.
        then: The pattern of a further read that the answer takes, if it takes one: the items
            that entries of an index stand for; or, of a write, the read that finds its key.
    """

    pattern: Pattern
    table: TableLayout
    index: IndexLayout | None
    kind: Kind
    key: KeyLayout
    shards: tuple[ShardPart, ...] = ()
    times: tuple[TimePart, ...] = ()
    sort_parts: tuple[tuple[Part, ...], ...] = ()
    by_time: bool = False
    filters: tuple[str, ...] = ()
    is_in_order: bool = True
    then: Pattern | None = None

    @property
    def shard_count(self) -> int:
        """How many suffixes a request has to try."""
        count = 1
        for part in self.shards:
            count *= part.count
        return count

    def stretches(self, now: float, history: float) -> list[float]:
        """Return a moment in each stretch of time to ask for, of a request made ``now``."""
        if not self.times:
            return [now]
        span = self.pattern.span if self.pattern.span is not None else history
        return key_templates.stretches(self.times, now - span, now)

    @property
    def fetches_items(self) -> bool:
        """Return whether every index entry makes the service read the table's item, too."""
        return self.index is not None and not self.index.is_global and self.has_too_little

    @property
    def has_too_little(self) -> bool:
        """Return whether entries of the index lack something that the pattern needs."""
        index, reads = self.index, self.pattern.reads
        if index is None or index.design.projection == "ALL":
            return False
        if reads is None:
            return not index.is_global
        if reads == "all":
            return True
        held = set() if isinstance(index.design.projection, str) else {*index.design.projection}
        keys = (*self.key.partition, *self.key.sort, *index.key.partition, *index.key.sort)
        tables = self.table.key(self.pattern.entity)
        for template in (*keys, *tables.partition, *tables.sort):
            held |= {part.name for part in template.times if not part.format}
            held |= {template.single_field} if template.single_field else set()
        return not held.issuperset(reads)

    @property
    def has_limit(self) -> bool:
        """Return whether reading can stop at the wanted number of items."""
        return self.pattern.items is not None and not self.filters and self.is_in_order

    @property
    def needs_filter(self) -> bool:
        """Return whether something read is thrown away."""
        return bool(self.filters) or self.pattern.selectivity < 1


def find_path(layout: Layout, pattern: Pattern) -> AccessPath:
    """Return how the design answers a pattern.

    Raises:
        ValueError: ``Design.answers`` asks for a way that there is not.
    """
    path = _first_step(layout, pattern)
    if path.kind == "write" and pattern.reads is not None and not pattern.is_put:
        known = _known_fields(layout, pattern)
        return path if _is_whole(path.key, known) else replace(path, then=_key_search(pattern))
    if path.kind == "query" and path.has_too_little and not path.fetches_items:
        return replace(path, then=_items_read(layout, pattern))
    return path


def further_reads(layout: Layout) -> list[Pattern]:
    """Return the patterns of the further reads that a design's answers take."""
    paths = (find_path(layout, pattern) for pattern in layout.workload.patterns)
    return [path.then for path in paths if path.then is not None]


def _key_search(pattern: Pattern) -> Pattern:
    """Return the read that finds the key of an item to write."""
    return replace(
        pattern,
        name=f"{pattern.name}: key",
        operation="Query",
        items=1,
        actions=1,
        changes=(),
        reads=(),
        order=(),
        size=300,
    )


def _items_read(layout: Layout, pattern: Pattern) -> Pattern:
    """Return the read of the items that entries of an index stand for, in as many batches."""
    wanted = pattern.items if pattern.items is not None else _expected_items(layout, pattern)
    wanted = max(1, round(wanted * pattern.selectivity))
    batches = -(-wanted // limits.BATCH_GET_KEYS)
    rate = pattern.pace
    if batches > 1:
        workload = layout.workload
        rates = workload.rates(pattern) / workload.load * batches
        rate = Series(tuple(rates.tolist()))
    return replace(
        pattern,
        name=f"{pattern.name}: items",
        operation="BatchGetItem",
        rate=rate,
        items=None,
        by=(),
        span=None,
        actions=-(-wanted // batches),
        selectivity=1.0,
        reads=None,
        order=(),
        recorded=None,
    )


def _expected_items(layout: Layout, pattern: Pattern) -> float:
    """Return how many items a Query finds that takes all: what is stored, evenly spread.

    Assumed: no popular value has more than others.
    """
    workload, found = layout.workload, 0.0
    for put in workload.patterns:
        if put.is_put and put.entity == pattern.entity:
            stored = stored_items(workload, put)
            if pattern.span is not None:
                stored = min(stored, workload.warm_up_rate(put) * put.actions * pattern.span)
            found += stored
    fields = [workload.field(name) for name in _known_fields(layout, pattern) - {TIMESTAMP}]
    return found / math.prod(field.size for field in fields)


def stored_items(workload: Workload, put: Pattern) -> float:
    """Return how many items of a pattern there are in the middle of a run, if all are new."""
    loaded = sum(own.items for own in workload.preload if own.pattern == put.name)
    written = workload.warm_up_rate(put) * put.actions
    return loaded + written * (workload.warm_up + workload.duration / 2)


def _first_step(layout: Layout, pattern: Pattern) -> AccessPath:
    """Return how the design answers a pattern, apart from further reads."""
    table = layout.table_of(pattern)
    key = table.key(pattern.entity)
    if pattern.is_write:
        return AccessPath(pattern, table, None, "write", key)
    known_fields = _known_fields(layout, pattern)
    asked = layout.design.answers.get(pattern.name)
    if asked == SCAN or pattern.operation == "Scan":
        return _scan(pattern, table, key, known_fields)
    if pattern.operation in POINT_READS and asked in (None, TABLE):
        path = _point(pattern, table, key, known_fields)
        if path is not None:
            return path
    if pattern.operation in POINT_READS and pattern.items is None:
        pattern = replace(pattern, items=1)
    candidates = [
        path
        for index in (None, *table.indexes)
        if asked in (None, TABLE if index is None else index.name)
        and (path := _query(pattern, table, index, key, known_fields)) is not None
    ]
    if candidates:
        return min(candidates, key=_effort)
    if asked is not None:
        raise ValueError(
            f"design {layout.design.name!r}: {asked!r} cannot answer pattern {pattern.name!r}"
        )
    return _scan(pattern, table, key, known_fields)


def _known_fields(layout: Layout, pattern: Pattern) -> frozenset[str]:
    """Return the fields known when asking: the fields named, and their owners."""
    if not pattern.by and pattern.operation in POINT_READS:
        return frozenset((*layout.table_of(pattern).names, TIMESTAMP))
    parents = (layout.workload.field(name).per for name in pattern.by if name != TIMESTAMP)
    return frozenset((*pattern.by, *(name for name in parents if name)))


def _effort(path: AccessPath) -> tuple[int, ...]:
    return (
        len(path.filters),
        not path.is_in_order,
        path.shard_count * (2 if path.times else 1),
        -sum(len(parts) for parts in path.sort_parts),
        0 if path.index is None else 1,
    )


def _scan(
    pattern: Pattern, table: TableLayout, key: KeyLayout, known_fields: frozenset[str]
) -> AccessPath:
    filters = tuple(sorted(known_fields - {TIMESTAMP})) if pattern.by else ()
    in_order = not pattern.order
    return AccessPath(pattern, table, None, "scan", key, filters=filters, is_in_order=in_order)


def _is_whole(key: KeyLayout, known: frozenset[str]) -> bool:
    """Return whether every part of a key follows from what is known, but for random suffixes."""
    templates = (*key.partition, *key.sort)
    return all(template.names <= known for template in templates)


def _point(
    pattern: Pattern, table: TableLayout, key: KeyLayout, known_fields: frozenset[str]
) -> AccessPath | None:
    """Return the way to one item by its key, where every part of the key is known.

    A moment or suffix of the item's own counts as known: whoever asks for one item knows it,
    unless the pattern says exactly what it knows and what it reads.
    """
    known = known_fields if pattern.reads is not None else known_fields | {TIMESTAMP}
    needed = {name for template in (*key.partition, *key.sort) for name in template.names}
    if not needed <= known:
        return None
    shards = tuple(
        part for template in key.partition for part in template.shards if not part.fields
    )
    return AccessPath(pattern, table, None, "get", key, shards=shards)


def _query(
    pattern: Pattern,
    table: TableLayout,
    index: IndexLayout | None,
    table_key: KeyLayout,
    known_fields: frozenset[str],
) -> AccessPath | None:
    if pattern.consistent and index is not None and index.is_global:
        return None
    key = table_key if index is None or not index.is_global else index.key
    reach = _reach(key, known_fields)
    if reach is None:
        return None
    shards, times = reach
    sort = key.sort if index is None else index.key.sort
    sort_parts, by_time = _conditions(sort, known_fields)
    used = {name for template in key.partition for name in template.names}
    if pattern.reads is not None:  # a suffix calculated from a field does not find its value
        used = {name for template in key.partition for name in template.fields}
    in_order = _is_in_order(sort, sort_parts, known_fields, pattern.ordered_by)
    used |= {part.name for parts in sort_parts for part in parts if isinstance(part, FieldPart)}
    return AccessPath(
        pattern,
        table,
        index,
        "query",
        KeyLayout(key.partition, sort),
        shards,
        times,
        sort_parts,
        by_time and pattern.span is not None,
        tuple(sorted(known_fields - used - {TIMESTAMP})),
        in_order,
    )


def _is_in_order(
    sort: Sequence[key_templates.KeyTemplate],
    known_parts: Sequence[Sequence[Part]],
    known_fields: frozenset[str],
    order: Sequence[str],
) -> bool:
    """Return whether entries that share the known parts of a sort key come in an order."""
    parts = [part for template in sort for part in template.parts]
    rest = [
        part
        for part in parts[sum(map(len, known_parts)) :]
        if not isinstance(part, Text)
        and not (isinstance(part, FieldPart) and part.name in known_fields)
    ]
    names = [name for name in order if name not in known_fields]
    if len(names) > len(rest):
        return False
    return all(
        isinstance(part, FieldPart | TimePart)
        and part.name == name
        and not getattr(part, "format", None)
        for part, name in zip(rest, names, strict=False)
    )


def _reach(
    key: KeyLayout, known_fields: frozenset[str]
) -> tuple[tuple[ShardPart, ...], tuple[TimePart, ...]] | None:
    """Return the suffixes and times to range over, or None if the key cannot be known."""
    shards: list[ShardPart] = []
    times: list[TimePart] = []
    for template in key.partition:
        for part in template.parts:
            if isinstance(part, FieldPart) and part.name not in known_fields:
                return None
            if isinstance(part, TimePart):
                if not part.step_seconds:
                    return None
                times.append(part)
            if isinstance(part, ShardPart) and not (
                part.fields and known_fields >= set(part.fields)
            ):
                shards.append(part)
    return tuple(shards), tuple(times)


def _conditions(
    sort: Sequence[key_templates.KeyTemplate], known_fields: frozenset[str]
) -> tuple[tuple[tuple[Part, ...], ...], bool]:
    """Return the known parts of each sort attribute in turn, and whether time comes next."""
    conditions: list[tuple[Part, ...]] = []
    for template in sort:
        parts, whole = template.prefix(known_fields)
        if whole:
            conditions.append(parts)
            continue
        following = template.parts[len(parts)]
        if any(not isinstance(part, Text) or part.text for part in parts):
            conditions.append(parts)
        return tuple(conditions), isinstance(following, TimePart)
    return tuple(conditions), False
