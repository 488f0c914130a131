"""Vector indexes: what they are defined by, and vectors as 32-bit numbers (VIX-1, VIX-30).

An item keeps its vector as it was written, a list of decimal numbers; an index keeps the nearest
32-bit numbers. ``array("f")`` holds them, with numpy or without it.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, NamedTuple, TypeAlias

from emulator.model.items import Item
from emulator.model.keys import is_empty
from emulator.model.schema import KeyAttribute, KeySchema, KeyType, Projection
from emulator.model.sizes import text_size
from emulator.model.values import KeyValue, Value

Vector: TypeAlias = "array[float]"
DistanceFunction = Literal["DOT_PRODUCT", "COSINE", "EUCLIDEAN"]
SearchRole = Literal["HASH", "INLINE_FILTER"]

#: The largest number of 32 bits; what is larger is none, or saturates there (VIX-42).
LARGEST_FLOAT: Final = 3.4028234663852886e38
#: What is nearer to the next power of two than to the largest number.
_TOO_LARGE: Final = (2 - 2.0**-24) * 2.0**127
FLOAT_BYTES: Final = 4
#: Digits that write every number of 32 bits so that it is read back the same.
_MOST_DIGITS: Final = 9
_SINGLE: Final = struct.Struct("f")


def single(number: float) -> float:
    """Return the nearest number of 32 bits; what is too large for one is the largest.

    >>> single(16777217), single(0.1), single(-1e60)
    (16777216.0, 0.10000000149011612, -3.4028234663852886e+38)
    """
    if not -LARGEST_FLOAT <= number <= LARGEST_FLOAT:
        return LARGEST_FLOAT if number > 0 else -LARGEST_FLOAT
    rounded: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    return rounded


def to_vector(numbers: Iterable[Decimal]) -> Vector:
    """Return decimal numbers as 32-bit numbers; one outside their range becomes infinite."""
    return array("f", map(float, numbers))


def is_single(number: Decimal) -> bool:
    """Return whether a number, rounded to 32 bits, is a finite one.

    >>> is_single(Decimal("3.4028235E38")), is_single(Decimal("3.5E38"))
    (True, False)
    """
    return abs(float(number)) < _TOO_LARGE


def vector_value(vector: Vector) -> tuple[Decimal, ...]:
    """Return a vector as an answer shows it: shortest decimals, with a fraction (VIX-41).

    >>> [str(number) for number in vector_value(array("f", [1, 0.1, -2.5]))]
    ['1.0', '0.1', '-2.5']
    """
    return tuple(map(_shortest, vector))


def _shortest(number: float) -> Decimal:
    for digits in range(1, _MOST_DIGITS + 1):
        text = f"{number:.{digits}g}"
        if array("f", (float(text),))[0] == number:
            break
    plain = format(Decimal(text), "f")
    return Decimal(plain if "." in plain else plain + ".0")


class SearchAttribute(NamedTuple):
    """An attribute that searches may name: the partition of an index, or a filter."""

    name: str
    type: KeyType
    role: SearchRole

    @property
    def key(self) -> KeyAttribute:
        """The attribute with its type."""
        return KeyAttribute(self.name, self.type)


class VectorEntry(NamedTuple):
    """The part of an item in a vector index: attributes without the vector, and the vector."""

    item: Item
    vector: Vector
    size_bytes: int
    partition: KeyValue | None

    def same_as(self, other: VectorEntry) -> bool:
        """Return whether both hold the same."""
        return self.vector == other.vector and self.item.same_as(other.item)


@dataclass(frozen=True, slots=True)
class VectorSchema:
    """The definition of a vector index (VIX-1).

    ``entry_names`` are the attributes of its entries beside the vector, None for all.

    >>> key = KeySchema((KeyAttribute("pk", "S"),))
    >>> schema = VectorSchema("v", "emb", 2, "COSINE", Projection("KEYS_ONLY"), (), key)
    >>> entry = schema.entry(Item.of({"pk": "a", "emb": (Decimal(1), Decimal(0)), "x": "y"}))
    >>> entry.item, entry.vector
    (Item({'pk': 'a'}), array('f', [1.0, 0.0]))
    """

    name: str
    attribute: str
    dimensions: int
    distance: DistanceFunction
    projection: Projection
    search: tuple[SearchAttribute, ...]
    table_key: KeySchema
    partition: KeyAttribute | None = field(init=False, compare=False)
    entry_names: tuple[str, ...] | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        hashed = [element.key for element in self.search if element.role == "HASH"]
        object.__setattr__(self, "partition", hashed[0] if hashed else None)
        searched = (element.name for element in self.search)
        carried = dict.fromkeys((*self.table_key.names, *searched, *self.projection.names))
        names = tuple(name for name in carried if name != self.attribute)
        object.__setattr__(self, "entry_names", None if self.projection.kind == "ALL" else names)

    @property
    def projects_vector(self) -> bool:
        """Whether an answer can show the vector (VIX-41)."""
        return self.projection.kind == "ALL" or self.attribute in self.projection.names

    @property
    def vector_bytes(self) -> int:
        """The bytes that the vector counts for, with its name (VIX-63, VIX-64)."""
        return text_size(self.attribute) + FLOAT_BYTES * self.dimensions

    def entry(self, item: Item) -> VectorEntry | None:
        """Return the entry of an item, or None if the index does not hold it (VIX-30, VIX-24)."""
        attributes = item.attributes
        value = attributes.get(self.attribute)
        if not isinstance(value, tuple) or len(value) != self.dimensions:
            return None
        partition: KeyValue | None = None
        for name, letters, role in self.search:
            searched = attributes.get(name)
            if name not in attributes:
                if role == "HASH":
                    return None
            elif not KeyAttribute(name, letters).accepts(searched):
                return None
            elif role == "HASH":
                if is_empty(searched):
                    return None
                partition = searched  # type: ignore[assignment]  # it has the type of a key
        vector = _vector(value)
        if vector is None:
            return None
        names = self.entry_names
        if names is None:
            names = tuple(name for name in attributes if name != self.attribute)
        rest = item.pick(names)
        return VectorEntry(rest, vector, self.vector_bytes + rest.size_bytes, partition)


def _vector(value: tuple[Value, ...]) -> Vector | None:
    """Return the vector that a list is, or None if it is none."""
    for number in value:
        if type(number) is not Decimal:
            return None
    vector = to_vector(value)  # type: ignore[arg-type]  # all are numbers
    return None if max(map(abs, vector)) > LARGEST_FLOAT else vector
