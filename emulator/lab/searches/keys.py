"""Keys: every key that could answer an access pattern, as fields; and keys as templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from emulator.lab.inputs.design import Index, Key
from emulator.lab.inputs.patterns import POINT_READS, TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.searches.bounds import shards_for
from emulator.lab.searches.needs import Entity, known_by

#: Source: MAK-1, the most attributes of one part of an index key.
_MOST_ATTRIBUTES: Final = 4
#: A read of more keys than this is no answer.
MOST_SHARDS: Final = 100
#: A stretch of time in a partition key, by the least span that is asked for.
_BUCKETS: Final = ((86_400.0, "day"), (3_600.0, "hour"), (0.0, "minute"))


@dataclass(frozen=True)
class Shape:
    """The fields of a key.

    Attributes:
        partition: Those of the partition key.
        sort: Those of the sort key, in order.
        bucket: The unit of time in the partition key, if there is one.
        shards: How many suffixes the partition key has.
        spread_by: What suffixes are calculated from; nothing: they are drawn.
    """

    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    bucket: str | None = None
    shards: int = 1
    spread_by: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every field whose value is in the key."""
        return (*self.partition, *self.sort)

    def partition_texts(self) -> tuple[str, ...]:
        """Return the templates of the partition key, one for each attribute."""
        texts = [f"{{{name}}}" for name in self.partition]
        if self.bucket is not None:
            texts.append(f"{{{TIMESTAMP}:{self.bucket}}}")
        if self.shards > 1:
            by = ", ".join(self.spread_by)
            suffix = f"hash({by}) % {self.shards}" if by else f"random({self.shards})"
            texts.append(f"{{{suffix}}}")
        return tuple(texts) or ("all",)

    def key(self, tag: str | None = None, *, tags_partition: bool = False) -> Key:
        """Return the key of a table.

        Args:
            tag: What its sort keys begin with, in a table of several kinds of items.
            tags_partition: Whether its partition keys begin with their field.
        """
        partition = "#".join(self.partition_texts())
        if tags_partition and self.partition:
            partition = f"{self.partition[0].upper()}#{partition}"
        sort = "#".join(f"{{{name}}}" for name in self.sort)
        if tag is not None:
            sort = f"{tag.upper()}#{sort}"
        return Key(partition=partition, sort=sort or None)

    def index(self, name: str, projection: str | tuple[str, ...], *, local: bool = False) -> Index:
        """Return a secondary index."""
        partition = self.partition_texts()
        if len(partition) > _MOST_ATTRIBUTES or local:
            partition = ("#".join(partition),)
        sort = tuple(f"{{{name}}}" for name in self.sort)
        if len(sort) > _MOST_ATTRIBUTES or (local and sort):
            sort = ("#".join(sort),)
        return Index(name, partition=partition, sort=sort, projection=projection, local=local)

    @property
    def index_name(self) -> str:
        """What an index with this key is called.

        >>> Shape(("tenantId", "status"), ("timestamp",)).index_name
        'byTenantIdStatus'
        """
        names = [name for name in self.partition if name] or ["time"]
        return "by" + "".join(name[:1].upper() + name[1:] for name in names)


def base_shapes(entity: Entity, workload: Workload) -> list[Shape]:
    """Return keys of a table for a kind of item.

    Each tells its items apart, and has no field that changes: a key stays as it is.
    """
    wanted = [shape for pattern in _askers(entity) for shape in _answering(entity, pattern)]
    wanted += [
        Shape(tuple(partition), _without(pattern.by, partition))
        for pattern in _singles(entity)
        for partition in _parts(pattern.by)
    ]
    moments = [name for name in entity.identity if name == TIMESTAMP]
    wanted.append(Shape(_without(entity.identity, moments), tuple(moments)))
    whole = [_telling_apart(shape, entity, workload) for shape in wanted if shape.partition]
    lasting = [shape for shape in whole if not entity.changing & set(shape.names)]
    spread = [own for shape in lasting for own in _spread(shape, entity, workload)]
    return list(dict.fromkeys(spread))


def index_shapes(entity: Entity, workload: Workload) -> list[Shape]:
    """Return keys of indexes that could answer reads of a kind of item."""
    wanted = [shape for pattern in _askers(entity) for shape in _answering(entity, pattern)]
    wanted += [Shape(pattern.by) for pattern in _singles(entity)]
    spread = [own for shape in wanted for own in _spread(shape, entity, workload)]
    return list(dict.fromkeys(spread))


def _askers(entity: Entity) -> list[Pattern]:
    return [pattern for pattern in entity.patterns if pattern.operation == "Query"]


def _singles(entity: Entity) -> list[Pattern]:
    """Return the reads and writes of one item that know something of it."""
    return [
        pattern
        for pattern in entity.patterns
        if pattern.by and (pattern.operation in POINT_READS or pattern.is_write)
    ]


def _parts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every choice of some names, the largest first."""
    for count in range(len(names), 0, -1):
        yield from combinations(names, count)


def _answering(entity: Entity, pattern: Pattern) -> Iterator[Shape]:
    """Yield keys that answer a Query, and on the way those that know less.

    What a key needs to answer all of them stands in the order in which they know it: first what
    the one with the fewest fields knows, then what the next one adds.
    """
    if not pattern.by:
        bucket = None
        if pattern.span is not None:
            bucket = next(unit for least, unit in _BUCKETS if pattern.span >= least)
        order = pattern.ordered_by or (TIMESTAMP,)
        yield Shape((), order, bucket)
        return
    for partition in _parts(pattern.by):
        less = [
            other.by
            for other in _askers(entity)
            if set(partition) <= set(other.by) < set(pattern.by)
        ]
        order = pattern.ordered_by or ((TIMESTAMP,) if pattern.span is not None else ())
        for chain in ([], sorted(less, key=len)):
            names = dict.fromkeys(name for by in (*chain, pattern.by) for name in by)
            known = _without(names, partition)
            yield Shape(tuple(partition), (*known, *_without(order, names)))


def _without(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    gone = set(others)
    return tuple(name for name in names if name not in gone)


def _telling_apart(shape: Shape, entity: Entity, workload: Workload) -> Shape:
    """Return a key with as many more fields as tell items apart."""
    missing = set(entity.identity) - known_by(workload, shape.names)
    more = tuple(name for name in entity.identity if name in missing)
    return Shape(shape.partition, (*shape.sort, *more), shape.bucket)


def _spread(shape: Shape, entity: Entity, workload: Workload) -> Iterator[Shape]:
    """Yield a key with as many suffixes as its writes need, if these are not too many."""
    writes = [pattern for pattern in entity.patterns if pattern.is_write]
    shards = shards_for(workload, writes, shape.partition)
    by = tuple(name for name in entity.identity if name != TIMESTAMP)
    by = _without(by, shape.partition)
    # Drawn suffixes are for items that are all new: one with an identity would be kept many times.
    if shards == 1 or not (by or TIMESTAMP in entity.identity):
        yield shape
    elif shards <= MOST_SHARDS:
        yield Shape(shape.partition, shape.sort, shape.bucket, shards, by)
