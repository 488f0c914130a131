"""Splits: what changes often as an item of its own, so that a small write stays a small one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from emulator.capacity.units import write_units
from emulator.lab.inputs.patterns import Pattern, Sizes
from emulator.lab.inputs.workload import Workload
from emulator.lab.searches.bounds import ATTRIBUTE_BYTES, KEY_BYTES

#: A split is tried where it makes the writes of an update this many times cheaper.
_WORTH: Final = 2


def split_up(workload: Workload) -> Workload | None:
    """Return a workload whose small updates of large items are of items of their own.

    Who reads fields of both reads both items; who creates one creates the other.

    >>> from emulator.lab import Field
    >>> users = Workload(
    ...     fields=[Field("userId", count=9), Field("views", count=99)],
    ...     patterns=[
    ...         Pattern("save", "PutItem", rate=1, by=("userId",), size=10_000),
    ...         Pattern("count", "UpdateItem", rate=9, by=("userId",), changes=("views",),
    ...                 size=10_000),
    ...     ],
    ...     duration=60,
    ... )
    >>> split = split_up(users)
    >>> [(own.name, own.entity, own.sizes.mean) for own in split.patterns]
    [('save', None, 10000.0), ('save: views', 'item-views', 132.0), ('count', 'item-views', 132.0)]
    """
    for update in workload.patterns:
        apart = update.changes
        size = KEY_BYTES + ATTRIBUTE_BYTES * len(apart)
        is_small = write_units(size) * _WORTH <= write_units(round(update.sizes.mean))
        if update.operation == "UpdateItem" and apart and update.by and is_small:
            return _Split(workload, update, size).made()
    return None


class _Split:
    """One kind of item in two parts."""

    def __init__(self, workload: Workload, update: Pattern, size_bytes: int) -> None:
        self._workload = workload
        self._update = update
        self._apart = frozenset(update.changes)
        self._name = f"{update.entity or 'item'}-{'-'.join(update.changes)}"
        self._size = Sizes.constant(size_bytes)

    def made(self) -> Workload:
        patterns = [own for pattern in self._workload.patterns for own in self._parts(pattern)]
        names = {pattern.name for pattern in patterns}
        preload = [
            replace(own, pattern=name)
            for own in self._workload.preload
            for name in (own.pattern, self._second_name(own.pattern))
            if name in names
        ]
        # Attributes are of every item, the small ones too; sizes say how large the others are.
        return replace(
            self._workload, patterns=tuple(patterns), preload=tuple(preload), attributes={}
        )

    def _second_name(self, name: str) -> str:
        return f"{name}: {', '.join(self._update.changes)}"

    def _parts(self, pattern: Pattern) -> Iterator[Pattern]:
        """Yield what a pattern becomes: of one part, of the other, or of both."""
        if pattern.entity != self._update.entity:
            yield pattern
            return
        touched = self._touched(pattern)
        if touched and touched <= self._apart:
            yield self._of_part(pattern, pattern.name)
            return
        changes = tuple(name for name in pattern.changes if name not in self._apart)
        fields, reads = pattern.fields, pattern.reads
        if pattern.is_write:
            fields = tuple(sorted(self._fields(pattern) - self._apart))
        if reads is not None and not self._workload.attributes.keys().isdisjoint(reads):
            reads = "all"
        yield replace(pattern, changes=changes, fields=fields, reads=reads)
        if touched is None or touched & self._apart:
            yield self._of_part(pattern, self._second_name(pattern.name))

    def _fields(self, pattern: Pattern) -> frozenset[str]:
        """Return the fields of an item that a pattern writes."""
        return frozenset(pattern.fields or (field.name for field in self._workload.fields))

    def _touched(self, pattern: Pattern) -> frozenset[str] | None:
        """Return the fields a pattern reads or changes besides its known ones; None for all."""
        if pattern.operation == "UpdateItem":
            return frozenset(pattern.changes)
        if pattern.is_write or pattern.reads is None or pattern.reads == "all":
            return None
        return frozenset(pattern.reads) - set(pattern.by)

    def _of_part(self, pattern: Pattern, name: str) -> Pattern:
        """Return the request of a pattern for the part that changes often."""
        fields = pattern.fields
        if pattern.is_write:
            fields = tuple(sorted({*self._update.by, *self._apart}))
        return replace(pattern, name=name, entity=self._name, size=self._size, fields=fields)
