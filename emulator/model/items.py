"""Items: attributes with their size, never changed once made.

A reference to an item stays valid: a write makes a new item. So reads share, index entries
share values with their item, and a snapshot is a reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emulator.model.sizes import attributes_size, text_size, value_size
from emulator.model.values import MISSING, Missing, Value, equal, nesting_levels
from emulator.service import errors, limits

EMPTY_NAME: Final = "Empty attribute name"
# Observed: ScyllaDB's tests, run against the service, for the number; DynamoDB Local for the text.
LONG_NAME: Final = "Attribute name is too large, must be less than 65536 bytes"
ITEM_TOO_LARGE: Final = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE: Final = "Item size to update has exceeded the maximum allowed size"
#: The most characters that are never too long a name, whatever they are.
SHORT_NAME: Final = limits.ATTRIBUTE_NAME_BYTES // 4


def check_name(name: str) -> None:
    """Refuse an attribute name that is empty or too long (TYP-6)."""
    if not name:
        raise errors.ValidationException(EMPTY_NAME)
    if len(name) > SHORT_NAME and text_size(name) > limits.ATTRIBUTE_NAME_BYTES:
        raise errors.ValidationException(LONG_NAME)


class Item:
    """An item or an index entry.

    Attributes:
        attributes: Name to value; shared, so never to be changed.
        size_bytes: CAP-101 of the attributes.
        levels: The deepest nesting among them.
    """

    __slots__ = ("attributes", "levels", "size_bytes")

    def __init__(self, attributes: dict[str, Value], size_bytes: int, levels: int = 1) -> None:
        self.attributes = attributes
        self.size_bytes = size_bytes
        self.levels = levels

    def __repr__(self) -> str:
        return f"Item({self.attributes!r})"

    @classmethod
    def of(cls, attributes: dict[str, Value]) -> Item:
        """Return an item of these attributes, measured.

        >>> Item.of({"pk": "é"}).size_bytes
        4
        """
        levels = max(map(nesting_levels, attributes.values()), default=1)
        return cls(attributes, attributes_size(attributes), levels)

    def pick(self, names: Iterable[str]) -> Item:
        """Return the item reduced to these attributes, where present, each once."""
        attributes = self.attributes
        picked = {name: attributes[name] for name in names if name in attributes}
        return Item(picked, attributes_size(picked), self.levels)

    def replace(self, attributes: dict[str, Value], names: Iterable[str]) -> Item:
        """Return an item of these attributes, which differ from its own under ``names`` only.

        An item that is larger than one may be is not measured to its end: its size says no more
        than that it cannot be stored.
        """
        size_bytes, levels = self.size_bytes, self.levels
        written: list[tuple[str, Value]] = []
        for name in names:
            old, new = self.attributes.get(name, MISSING), attributes.get(name, MISSING)
            if old is new:
                continue
            if not isinstance(old, Missing):
                size_bytes -= text_size(name) + value_size(old)
            if not isinstance(new, Missing):
                written.append((name, new))
        for name, value in written:
            if size_bytes > limits.ITEM_BYTES:
                break
            size_bytes += text_size(name) + value_size(value)
            levels = max(levels, nesting_levels(value))
        return Item(attributes, size_bytes, levels)

    def same_as(self, other: Item) -> bool:
        """Return whether both hold equal attributes (CMP-1)."""
        # What Python takes for different is different; not the other way round.
        return self is other or (
            self.attributes == other.attributes and equal(self.attributes, other.attributes)
        )
