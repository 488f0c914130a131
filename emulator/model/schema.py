"""Schemas: what the keys of a table and of its indexes are, and what an index holds.

A key has one to four partition attributes and none to four sort attributes; tables and
local indexes use at most one of each. Everything that follows treats all of them alike
(MAK-7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from emulator.model.items import Item
from emulator.model.sizes import value_size
from emulator.model.values import KeyValue, Value
from emulator.service import limits
from emulator.service.attribute_types import BY_LETTERS, ORDERED

KeyType = Literal["S", "N", "B"]
KEY_CLASSES: Final[dict[str, type[KeyValue]]] = {
    letters: BY_LETTERS[letters].python_class for letters in ORDERED
}
_CHARACTER_BYTES: Final = 4  # the longest character of UTF-8


class KeyAttribute(NamedTuple):
    """One attribute of a key, with its declared type."""

    name: str
    type: KeyType

    def accepts(self, value: object) -> bool:
        """Return whether a value has the declared type."""
        return type(value) is KEY_CLASSES[self.type]


def key_bytes(item: Item, attributes: tuple[KeyAttribute, ...]) -> int:
    """Return the bytes of those key attributes that an item has, all together (MAK-27)."""
    return sum(
        value_size(item.attributes[attribute.name])
        for attribute in attributes
        if attribute.name in item.attributes
    )


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The attributes of a key: partition attributes first, then sort attributes.

    Values of up to ``short`` characters keep the size limits, whatever their characters are.

    >>> KeySchema((KeyAttribute("pk", "S"),), (KeyAttribute("sk", "N"),)).names
    ('pk', 'sk')
    """

    partition: tuple[KeyAttribute, ...]
    sort: tuple[KeyAttribute, ...] = ()
    attributes: tuple[KeyAttribute, ...] = field(init=False, compare=False)
    names: tuple[str, ...] = field(init=False, compare=False)
    classes: tuple[tuple[str, type[KeyValue]], ...] = field(init=False, compare=False)
    _pick: itemgetter[Any] = field(init=False, compare=False, repr=False)
    short: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        attributes = self.partition + self.sort
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "names", tuple(attribute.name for attribute in attributes))
        classes = tuple((attribute.name, KEY_CLASSES[attribute.type]) for attribute in attributes)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "_pick", itemgetter(*self.names))
        sharing = max(1, len(self.sort), (len(self.partition) + 1) // 2)
        short = limits.SORT_KEY_BYTES // (_CHARACTER_BYTES * sharing)
        object.__setattr__(self, "short", short)

    def holds(self, item: Item) -> bool:
        """Return whether the item has every key attribute with the declared type (MAK-20)."""
        present = item.attributes
        for name, key_class in self.classes:  # noqa: SIM110 - asked of every write, twice a tuple
            if type(present.get(name)) is not key_class:
                return False
        return True

    def admits(self, item: Item) -> bool:
        """Return whether an index has an entry for the item (MAK-20, IXV-6).

        Observed: ScyllaDB's tests, run against the service: an index added later passes over
        an item whose key attribute is empty or too long, as over one of another type.
        """
        return self.is_plain(item.attributes) or self._fits(item)

    def is_plain(self, attributes: Mapping[str, Value]) -> bool:
        """Return quickly whether a key is beyond doubt: of its types, not empty, not long."""
        short = self.short
        for name, key_class in self.classes:
            value = attributes.get(name)
            if type(value) is not key_class:
                return False
            if key_class is not Decimal and (not value or len(value) > short):  # type: ignore[arg-type]  # text or bytes
                return False
        return True

    def _fits(self, item: Item) -> bool:
        """Return whether a key in doubt is whole, has no empty value and is not too long."""
        if not self.holds(item) or not all(value or value == 0 for value in self.values(item)):
            return False
        return (
            key_bytes(item, self.partition) <= limits.PARTITION_KEY_BYTES
            and key_bytes(item, self.sort) <= limits.SORT_KEY_BYTES
        )

    def values(self, item: Item) -> tuple[KeyValue, ...]:
        """Return the key values of an item that ``holds``, in schema order."""
        if len(self.names) == 1:
            return (item.attributes[self.names[0]],)  # type: ignore[return-value]  # holds()
        picked: tuple[KeyValue, ...] = self._pick(item.attributes)
        return picked


class Projection(NamedTuple):
    """Which attributes an index entry carries beside the keys."""

    kind: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """A secondary index: its key, its projection, and the names of its entries.

    ``entry_names`` is None when entries carry everything; ``key_names`` are the attributes
    of a LastEvaluatedKey: table key, then the index key attributes that are not in it.
    """

    name: str
    key: KeySchema
    projection: Projection
    is_global: bool
    table_key: KeySchema
    key_names: tuple[str, ...] = field(init=False, compare=False)
    entry_names: tuple[str, ...] | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        key_names = tuple(dict.fromkeys(self.table_key.names + self.key.names))
        object.__setattr__(self, "key_names", key_names)
        entry_names = tuple(dict.fromkeys(key_names + self.projection.names))
        object.__setattr__(
            self, "entry_names", None if self.projection.kind == "ALL" else entry_names
        )

    def entry(self, item: Item) -> Item | None:
        """Return the index entry of an item, or None if the index does not hold it (IDX-1)."""
        if not self.key.admits(item):
            return None
        return item if self.entry_names is None else item.pick(self.entry_names)

    def projects(self, name: str) -> bool:
        """Return whether entries carry the attribute (IDX-2)."""
        return self.entry_names is None or name in self.entry_names
