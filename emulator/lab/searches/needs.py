"""Needs: a workload with nothing left unsaid, and what tells its items apart.

A search has to know what a person leaves out: that a read wants the whole item and the newest
first, which fields an item has, and which of them no other item shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from emulator.lab.inputs.patterns import NEWEST_FIRST, POINT_READS, TIMESTAMP, Pattern
from emulator.lab.inputs.workload import Workload

#: Reads of several items.
_PAGES: Final = ("Query", "Scan")


@dataclass(frozen=True)
class Entity:
    """One kind of item.

    Attributes:
        name: As patterns call it; None where they name none.
        patterns: All that is about it.
        identity: The fields that tell its items apart.
    """

    name: str | None
    patterns: tuple[Pattern, ...]
    identity: tuple[str, ...]

    @property
    def creates(self) -> bool:
        """Return whether any pattern creates such items."""
        return any(pattern.creates for pattern in self.patterns)

    @property
    def changing(self) -> frozenset[str]:
        """The fields that get new values: no key of a table has them."""
        return frozenset(name for pattern in self.patterns for name in pattern.changes)

    @property
    def label(self) -> str:
        """What keys and tables call it."""
        return self.name or "item"


def completed(workload: Workload) -> Workload:
    """Return the workload with the defaults of a search written out.

    A read wants the whole item, and the newest first where it wants some; a write knows ``by``
    and nothing else of a key. A Scan that knows fields is a Query of many.

    >>> from emulator.lab import Field
    >>> last = Pattern("last", "Query", rate=1, by=("userId",), items=3)
    >>> users = Workload(fields=[Field("userId", count=9)], patterns=[last], duration=60)
    >>> completed(users).pattern("last").reads, completed(users).pattern("last").order
    ('all', ('-timestamp',))
    """
    kinds = {pattern.entity for pattern in workload.patterns if pattern.creates}
    patterns = []
    for pattern in workload.patterns:
        if pattern.is_write and pattern.fields is None and len(kinds) > 1:
            pattern = replace(pattern, fields=_mentioned(workload, pattern.entity))
        if not pattern.is_put and pattern.reads is None and (pattern.by or not pattern.is_write):
            pattern = replace(pattern, reads=() if pattern.is_write else "all")
        if pattern.operation in _PAGES and pattern.items is not None and not pattern.order:
            pattern = replace(pattern, order=NEWEST_FIRST)
        if pattern.operation == "Scan" and (pattern.by or pattern.span or pattern.items):
            pattern = replace(pattern, operation="Query")
        patterns.append(pattern)
    return replace(workload, patterns=tuple(patterns))


def entities_of(workload: Workload) -> list[Entity]:
    """Return the kinds of items of a workload, in the order of their first pattern."""
    names = dict.fromkeys(pattern.entity for pattern in workload.patterns)
    return [_entity(workload, name) for name in names]


def of_entity(workload: Workload, name: str | None) -> Workload:
    """Return the part of a workload that is about one kind of item."""
    patterns = [pattern for pattern in workload.patterns if pattern.entity == name]
    kept = {pattern.name for pattern in patterns}
    preload = [own for own in workload.preload if own.pattern in kept]
    return replace(workload, patterns=tuple(patterns), preload=tuple(preload))


def known_by(workload: Workload, names: Iterable[str]) -> frozenset[str]:
    """Return fields with those that they belong to."""
    names = tuple(names)
    parents = (workload.field(name).per for name in names if name != TIMESTAMP)
    return frozenset((*names, *(parent for parent in parents if parent)))


def _mentioned(workload: Workload, entity: str | None) -> tuple[str, ...]:
    """Return the fields that any pattern of a kind of item names."""
    found: dict[str, None] = {}
    for pattern in workload.patterns:
        if pattern.entity == entity:
            reads = () if pattern.reads in (None, "all") else tuple(pattern.reads or ())
            for name in (*pattern.by, *pattern.changes, *pattern.ordered_by, *reads):
                found[name] = None
            found |= dict.fromkeys(pattern.fields or ())
    own = {field.name for field in workload.fields}
    return tuple(name for name in found if name in own)


def _entity(workload: Workload, name: str | None) -> Entity:
    patterns = tuple(pattern for pattern in workload.patterns if pattern.entity == name)
    return Entity(name, patterns, _identity(workload, name, patterns))


def _identity(workload: Workload, name: str | None, patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Return the fields that tell items apart.

    They are a unique field; else what reads and writes of one item know of it; else, since
    every write makes a new item, its moment and the field with the most values.
    """
    single = [
        pattern.by
        for pattern in patterns
        if pattern.by and (pattern.operation in POINT_READS or pattern.is_write)
    ]
    fields = _mentioned(workload, name)
    if name is None and all(pattern.fields is None for pattern in patterns):
        fields = tuple(field.name for field in workload.fields)
    unique = [own for own in fields if workload.field(own).unique]
    if single:
        known = min(single, key=len)
        return tuple(own for own in known if own in unique) or known
    if unique:
        return (unique[0],)
    largest = sorted(fields, key=lambda own: -workload.field(own).size)
    return (*largest[:1], TIMESTAMP)
