"""Access paths: how a design answers an access pattern, and what that takes.

The best way is the one whose key conditions use most of what is known: a read of one item, a
Query, or, where no key fits, a Scan. What is known and no key can use is filtered away after
reading, and paid for. A partition key with suffixes that the caller cannot know is asked once
per suffix; one with a time, once per stretch of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from emulator.lab.inputs import key_templates
from emulator.lab.inputs.key_templates import FieldPart, Part, ShardPart, Text, TimePart
from emulator.lab.inputs.patterns import POINT_READS, TIMESTAMP, Pattern
from emulator.lab.planning.layout import IndexLayout, KeyLayout, Layout, TableLayout

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
        index = self.index
        return index is not None and not index.is_global and index.design.projection != "ALL"

    @property
    def has_limit(self) -> bool:
        """Return whether reading can stop at the wanted number of items."""
        return self.pattern.items is not None and not self.filters

    @property
    def needs_filter(self) -> bool:
        """Return whether something read is thrown away."""
        return bool(self.filters) or self.pattern.selectivity < 1


def find_path(layout: Layout, pattern: Pattern) -> AccessPath:
    """Return how the design answers a pattern.

    Raises:
        ValueError: ``Design.answers`` asks for a way that there is not.
    """
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
    """Return what is known when asking: the fields named, and those they belong to."""
    if not pattern.by and pattern.operation in POINT_READS:
        return frozenset((*layout.table_of(pattern).names, TIMESTAMP))
    parents = (layout.workload.field(name).per for name in pattern.by if name != TIMESTAMP)
    return frozenset((*pattern.by, *(name for name in parents if name)))


def _effort(path: AccessPath) -> tuple[int, int, int, int]:
    return (
        len(path.filters),
        path.shard_count * (2 if path.times else 1),
        -sum(len(parts) for parts in path.sort_parts),
        0 if path.index is None else 1,
    )


def _scan(
    pattern: Pattern, table: TableLayout, key: KeyLayout, known_fields: frozenset[str]
) -> AccessPath:
    filters = tuple(sorted(known_fields - {TIMESTAMP})) if pattern.by else ()
    return AccessPath(pattern, table, None, "scan", key, filters=filters)


def _point(
    pattern: Pattern, table: TableLayout, key: KeyLayout, known_fields: frozenset[str]
) -> AccessPath | None:
    """Return the way to one item by its key, where every part of the key is known.

    A moment or suffix of the item's own counts as known: whoever asks for one item knows it.
    """
    known = known_fields | {TIMESTAMP}
    needed = {
        name
        for template in (*key.partition, *key.sort)
        for name in (*template.fields, *(name for part in template.shards for name in part.fields))
    }
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
