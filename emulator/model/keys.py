"""Key values and key ranges: what no key may be, and what a key condition asks of a store.

Expressions make ranges, storage walks them; neither knows the other.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emulator.model.items import Item
from emulator.model.schema import KeySchema, key_bytes
from emulator.model.values import KeyValue, Value
from emulator.service import limits
from emulator.service.errors import ValidationException

NOT_THE_SCHEMA: Final = "The provided key element does not match the schema"
EMPTY_KEY: Final = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty {kind} value. Key: {name}"
)
# The missing blank is the service's own (KV-2).
LONG_PARTITION_KEY: Final = (
    "One or more parameter values were invalid: "
    "Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
LONG_SORT_KEY: Final = (
    "One or more parameter values were invalid: "
    "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
)

_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def key_values_are_not_empty(item: Item, schema: KeySchema) -> None:
    """Refuse an empty string or binary in a key attribute (KV-3)."""
    for attribute in schema.attributes:
        value = item.attributes.get(attribute.name)
        if is_empty(value):
            raise ValidationException(EMPTY_KEY.format(kind=kind_of(value), name=attribute.name))


def key_values_are_not_too_long(item: Item, schema: KeySchema) -> None:
    """Refuse key values beyond 2,048 and 1,024 bytes, each side in total (KV-2, MAK-27)."""
    if key_bytes(item, schema.partition) > limits.PARTITION_KEY_BYTES:
        raise ValidationException(LONG_PARTITION_KEY)
    if key_bytes(item, schema.sort) > limits.SORT_KEY_BYTES:
        raise ValidationException(LONG_SORT_KEY)


def is_empty(value: Value) -> bool:
    """Return whether a value is the empty string or binary."""
    return value == "" or value == b""


def kind_of(value: Value) -> str:
    """Return how messages call an empty key value's type."""
    return "binary" if isinstance(value, bytes) else "string"


class KeyRange(NamedTuple):
    """A contiguous run of keys within one item collection.

    Attributes:
        partition: One value per partition attribute.
        equal: Values of the leading sort attributes that are fixed.
        lower: Bound on the next sort attribute, or None.
        upper: Bound on the next sort attribute, or None.
        lower_inclusive: Whether ``lower`` itself belongs to the range.
        upper_inclusive: Whether ``upper`` itself belongs to the range.

    >>> months = KeyRange(("d1",), ("2026",), lower="03", upper="05", upper_inclusive=False)
    >>> months.holds(("2026", "04", "x")), months.holds(("2026", "05"))
    (True, False)
    """

    partition: tuple[KeyValue, ...]
    equal: tuple[KeyValue, ...] = ()
    lower: KeyValue | None = None
    upper: KeyValue | None = None
    lower_inclusive: bool = True
    upper_inclusive: bool = True

    def holds(self, sort: tuple[KeyValue, ...]) -> bool:
        """Return whether a collection's item with these sort values lies in the range."""
        depth = len(self.equal)
        if sort[:depth] != self.equal:
            return False
        if self.lower is not None:
            value = sort[depth]
            if value < self.lower or (value == self.lower and not self.lower_inclusive):  # type: ignore[operator]  # one type per position (MAK-72)
                return False
        if self.upper is not None:
            value = sort[depth]
            if value > self.upper or (value == self.upper and not self.upper_inclusive):  # type: ignore[operator]  # one type per position (MAK-72)
                return False
        return True


def successor(prefix: str | bytes) -> str | bytes | None:
    r"""Return the least value above everything that begins with ``prefix``, or None (MAK-71).

    >>> successor("ab"), successor(b"a\xff"), successor("")
    ('ac', b'b', None)
    """
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept_text = prefix.rstrip(chr(_MAX_CODE_POINT))
    if not kept_text:
        return None
    following = ord(kept_text[-1]) + 1
    if following in _SURROGATES:
        following = _SURROGATES.stop
    return kept_text[:-1] + chr(following)
