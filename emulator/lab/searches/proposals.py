"""Proposals: designs that answer a workload, cheapest first by their bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from emulator.lab.inputs.design import Design, Index, Key, Table
from emulator.lab.inputs.patterns import TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.access_paths import AccessPath, find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.searches.bounds import floor_of, popularity, prewarmed
from emulator.lab.searches.keys import MOST_SHARDS, Shape, base_shapes, index_shapes
from emulator.lab.searches.needs import Entity, entities_of, of_entity

#: A filter that keeps less than this of what it reads is no answer.
_KEPT: Final = 0.7
#: Designs of one kind of item that are combined with those of others, by how many kinds there are.
_KEPT_OPTIONS: Final = {1: 40, 2: 8, 3: 4}
_LEAST_OPTIONS: Final = 3
#: Choices of indexes that are looked at for one key of a table.
_MOST_COVERS: Final = 24
#: A table whose key nobody knows: an index beside it answers all by itself.
_PROBE: Final = Key(partition=f"{{{TIMESTAMP}}}")
NO_KEY: Final = "no key follows from {by}: name the fields that the caller knows"
WHOLE_TABLE: Final = "it reads the whole table: give it `class: analytics` to accept a Scan"
STRONG: Final = (
    "strongly consistent reads are not possible on a global index, and the table's key is another"
)
NO_COMMON_KEY: Final = "no one key holds every kind of item that it asks for"


@dataclass(frozen=True)
class Candidate:
    """A design, and the workload as it is asked to serve it."""

    design: Design
    workload: Workload

    @property
    def layout(self) -> Layout:
        """The design under the workload."""
        return Layout(self.design, self.workload)


@dataclass(frozen=True)
class Proposals:
    """Designs, cheapest first, and the patterns that no design can answer, with the reason."""

    candidates: tuple[Candidate, ...]
    unanswered: Mapping[str, str]


@dataclass(frozen=True)
class _Option:
    """A key of the table for one kind of item, with indexes."""

    base: Shape
    indexes: tuple[Index, ...]


def is_answered(layout: Layout, pattern: Pattern) -> bool:
    """Return whether a pattern is answered in order, without a Scan, and little is thrown away."""
    path = find_path(layout, pattern)
    if path.kind == "scan" or path.shard_count > MOST_SHARDS:
        return False
    if _kept(layout.workload, path) < _KEPT:
        return False
    if path.kind == "query" and (not path.is_in_order or pattern.actions > 1):
        return False
    return path.then is None or is_answered(layout, path.then)


def _kept(workload: Workload, path: AccessPath) -> float:
    """Return the share of what is read that filters on known fields keep."""
    fields = [workload.field(name) for name in path.filters]
    return math.prod(
        0.0 if field.unique else field.distribution.repeated(field.size) for field in fields
    )


def proposals(workload: Workload) -> Proposals:
    """Return designs that answer a workload, as its completed patterns say."""
    entities = entities_of(workload)
    kinds = [entity for entity in entities if entity.creates or len(entities) == 1]
    spanning = [entity for entity in entities if entity not in kinds]
    unanswered: dict[str, str] = {}
    options = [_options(entity, workload, unanswered) for entity in kinds]
    most = max(_LEAST_OPTIONS, _KEPT_OPTIONS.get(len(kinds), 0))
    combined = list(product(*(own[:most] for own in options)))
    found = _fitting(kinds, combined, workload, unanswered)
    if not found and spanning:
        names = {pattern.name for entity in spanning for pattern in entity.patterns}
        unanswered |= dict.fromkeys(names, NO_COMMON_KEY)
        kept = [pattern for pattern in workload.patterns if pattern.name not in names]
        found = _fitting(kinds, combined, replace(workload, patterns=tuple(kept)), unanswered)
    return Proposals(tuple(found), unanswered)


def _fitting(
    kinds: Sequence[Entity],
    combined: Iterable[Sequence[_Option]],
    workload: Workload,
    unanswered: Mapping[str, str],
) -> list[Candidate]:
    """Return the designs of some options that answer all they have to, cheapest first."""
    priced: list[tuple[float, int, int, float, int, Candidate]] = []
    for options in combined:
        for tables in _tables(kinds, options, workload):
            try:
                design = Design(_name(tables), tables=tables)
                layout = Layout(design, workload)
            except ValueError:
                continue  # a kind of item has no table
            if all(
                pattern.class_ == "analytics"
                or pattern.name in unanswered
                or is_answered(layout, pattern)
                for pattern in workload.patterns
            ):
                indexes = len(_all_indexes(tables))
                candidate = Candidate(prewarmed(design, workload), workload)
                price = round(floor_of(layout).monthly, 2)
                plainness = _plainness(kinds, options, workload)
                priced.append((price, len(tables), indexes, *plainness, candidate))
    return [own[-1] for own in sorted(priced, key=lambda own: own[:-1])]


def _plainness(
    kinds: Sequence[Entity], options: Sequence[_Option], workload: Workload
) -> tuple[float, int]:
    """Return the largest share of requests that one key of a table takes, and how long keys are.

    Of designs that cost the same, the one whose keys are even and short is the first.
    """
    pairs = list(zip(kinds, options, strict=True))
    hottest = max(
        popularity(workload, pattern, option.base.partition) / option.base.shards
        for kind, option in pairs
        for pattern in kind.patterns
    )
    length = sum(len(option.base.names) + (option.base.shards > 1) for option in options)
    return round(hottest, 3), length


def _tables(
    kinds: Sequence[Entity], options: Sequence[_Option], workload: Workload
) -> Iterator[tuple[Table, ...]]:
    """Yield the tables of some kinds of items: one for all, where that can be, and one for each."""
    if len(kinds) == 1:
        key = options[0].base.key()
        yield (Table(partition=key.partition, sort=key.sort, indexes=options[0].indexes),)
        return
    if not _is_mixed_up(kinds, options, workload):
        yield (_one_table(kinds, options),)
    several = []
    for entity, option in zip(kinds, options, strict=True):
        key = option.base.key()
        keys = {} if entity.name is None else {entity.name: key}
        general = {} if keys else {"partition": key.partition, "sort": key.sort}
        several.append(
            Table(name=entity.label, entities=keys, indexes=option.indexes, **general)  # type: ignore[arg-type]  # partition and sort are texts
        )
    yield tuple(several)


def _one_table(kinds: Sequence[Entity], options: Sequence[_Option]) -> Table:
    partitions = {option.base.partition_texts() for option in options}
    differ = len(partitions) > 1
    keys = {
        entity.name: option.base.key(entity.label, tags_partition=differ)
        for entity, option in zip(kinds, options, strict=True)
    }
    general = keys.pop(None, None)
    if general is None and not differ:
        [first, *_] = keys.values()
        general = Key(partition=first.partition, sort=f"{{{TIMESTAMP}}}")
    indexes = {index.name: index for option in options for index in option.indexes}
    return Table(
        partition="" if general is None else general.partition,
        sort=None if general is None else general.sort,
        entities={name: key for name, key in keys.items() if name is not None},
        indexes=tuple(indexes.values()),
    )


def _is_mixed_up(kinds: Sequence[Entity], options: Sequence[_Option], workload: Workload) -> bool:
    """Return whether in one table an index of one kind of item would hold others as well."""
    probe = Design("probe", partition=_PROBE.partition)
    fields = [
        frozenset().union(
            *(Layout(probe, workload).item_fields(own) for own in kind.patterns if own.creates)
        )
        for kind in kinds
    ]
    names = [index.name for option in options for index in option.indexes]
    if len(set(names)) < len(names):
        return True
    for number, option in enumerate(options):
        for index in option.indexes:
            needed = _names(probe, index)
            if any(needed <= held for other, held in enumerate(fields) if other != number):
                return True
    return False


def _names(design: Design, index: Index) -> frozenset[str]:
    texts = (*index.partition_texts, *index.sort_texts)
    return frozenset().union(*(design.template(text).names for text in texts))


def _name(tables: Sequence[Table]) -> str:
    """Return the name of a design: its keys, and its indexes with their projections.

    >>> index = Index("byUser", partition="{userId}", projection="KEYS_ONLY")
    >>> _name([Table(partition="{orderId}", indexes=(index,))])
    '{orderId} + byUser (KEYS_ONLY)'
    """
    keys = [
        " and ".join(dict.fromkeys(key.partition for key in table.all_keys())) for table in tables
    ]
    return " + ".join(["; ".join(keys), *map(_index_title, _all_indexes(tables))])


def _all_indexes(tables: Iterable[Table]) -> list[Index]:
    return [index for table in tables for index in table.indexes]


def _index_title(index: Index) -> str:
    if index.projection == "ALL":
        return index.name
    included = index.projection
    copied = included if isinstance(included, str) else ", ".join(included)
    return f"{index.name} ({copied})"


# One kind of item


def _options(entity: Entity, workload: Workload, unanswered: dict[str, str]) -> list[_Option]:
    """Return keys and indexes for one kind of item, cheapest first."""
    own = of_entity(workload, entity.name)
    asked = [
        pattern
        for pattern in own.patterns
        if not pattern.is_write or (pattern.by and not pattern.is_put)
    ]
    bases = {base: _answered(own, base.key(), (), asked) for base in base_shapes(entity, own)}
    beside = {
        shape: _answered(own, _PROBE, [shape.index("probe", "ALL")], asked)
        for shape in index_shapes(entity, own)
    }
    possible = frozenset().union(*bases.values(), *beside.values())
    for pattern in asked:
        if pattern.name not in possible and pattern.class_ != "analytics":
            unanswered[pattern.name] = _reason(pattern)
    priced = []
    for base, answered in bases.items():
        local = _local(own, base, beside, asked)
        missing = [pattern for pattern in asked if pattern.name in possible - answered]
        for shapes in _covers(missing, beside | local):
            for indexes in _projected(shapes, missing, beside | local, set(local)):
                option = _Option(base, indexes)
                key = base.key()
                design = Design("d", partition=key.partition, sort=key.sort, indexes=indexes)
                price = round(floor_of(Layout(design, own)).monthly, 2)
                plainness = _plainness([entity], [option], own)
                priced.append((price, len(indexes), *plainness, option))
    return [option for *_, option in sorted(priced, key=lambda own: own[:-1])]


def _reason(pattern: Pattern) -> str:
    """Return why no design answers a pattern without a Scan."""
    if pattern.operation == "Scan":
        return WHOLE_TABLE
    if pattern.consistent:
        return STRONG
    return NO_KEY.format(by=", ".join(pattern.by) or "nothing")


def _answered(
    workload: Workload, key: Key, indexes: Sequence[Index], asked: Iterable[Pattern]
) -> frozenset[str]:
    """Return the names of the patterns that a key with indexes answers."""
    design = Design("d", partition=key.partition, sort=key.sort, indexes=indexes)
    layout = Layout(design, workload)
    return frozenset(own.name for own in asked if is_answered(layout, own))


def _local(
    workload: Workload, base: Shape, shapes: Iterable[Shape], asked: Sequence[Pattern]
) -> dict[Shape, frozenset[str]]:
    """Return the keys that a local index could have, which alone answers strong reads."""
    if not any(pattern.consistent for pattern in asked) or base.shards > 1 or not base.sort:
        return {}
    return {
        shape: _answered(workload, base.key(), [shape.index("l", "ALL", local=True)], asked)
        for shape in shapes
        if shape.partition == base.partition and shape.shards == 1 and shape.sort
    }


def _covers(
    missing: Sequence[Pattern], reach: Mapping[Shape, frozenset[str]]
) -> list[tuple[Shape, ...]]:
    """Return choices of indexes that together answer what the table's key does not."""
    found = dict.fromkeys(tuple(sorted(own, key=repr)) for own in _choices(missing, reach))
    return sorted(found, key=len)[:_MOST_COVERS]


def _choices(
    missing: Sequence[Pattern], reach: Mapping[Shape, frozenset[str]]
) -> Iterator[frozenset[Shape]]:
    if not missing:
        yield frozenset()
        return
    first, names = missing[0], {pattern.name for pattern in missing}
    alone = None
    for shape, answered in reach.items():
        if first.name not in answered:
            continue
        if len(answered & names) == 1:
            if alone is not None:
                continue
            alone = shape
        rest = [pattern for pattern in missing if pattern.name not in answered]
        for others in _choices(rest, reach):
            yield others | {shape}
    if first.class_ == "analytics":
        yield from _choices(missing[1:], reach)


def _projected(
    shapes: Sequence[Shape],
    missing: Sequence[Pattern],
    reach: Mapping[Shape, frozenset[str]],
    local: set[Shape],
) -> Iterator[tuple[Index, ...]]:
    """Yield indexes with what they copy: all that is read there, or the keys alone."""
    waiting = {pattern.name: pattern for pattern in missing}
    choices = []
    for number, shape in enumerate(shapes):
        mine = [waiting.pop(name) for name in sorted(reach[shape]) if name in waiting]
        names = [other.index_name for other in shapes]
        name = (
            shape.index_name
            if names.count(shape.index_name) == 1
            else f"{shape.index_name}{number}"
        )
        choices.append(
            [
                shape.index(name, projection, local=shape in local)
                for projection in _projections(shape, mine)
            ]
        )
    yield from product(*choices)


def _projections(shape: Shape, patterns: Sequence[Pattern]) -> list[str | tuple[str, ...]]:
    if any(pattern.reads == "all" for pattern in patterns):
        return ["ALL", "KEYS_ONLY"]
    read = {name for pattern in patterns for name in pattern.reads or ()}
    more = tuple(sorted(read - set(shape.names) - {TIMESTAMP}))
    return [more, "KEYS_ONLY"] if more else ["KEYS_ONLY"]
