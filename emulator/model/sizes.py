"""Sizes: the bytes that limits and units are counted in. Rules SIZ-1, CAP-101 to CAP-104."""

from __future__ import annotations

from decimal import Decimal

from emulator.model.numbers import number_size
from emulator.model.values import Attributes, Value
from emulator.service.attribute_types import NumberSet, StringSet

#: What a list or map costs beside its members.
CONTAINER_BYTES = 3
#: What each member of a list or map costs beside its own size.
MEMBER_BYTES = 1


def text_size(text: str) -> int:
    """Return the UTF-8 length of a text.

    >>> text_size("é")
    2
    """
    return len(text) if text.isascii() else len(text.encode())


def value_size(value: Value) -> int:
    """Return the bytes of a value, without its name (CAP-102).

    >>> value_size(("ab", Decimal(5)))
    9
    """
    if isinstance(value, str):
        return text_size(value)
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, Decimal):
        return number_size(value)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, tuple):
        return CONTAINER_BYTES + sum(MEMBER_BYTES + value_size(member) for member in value)
    if isinstance(value, dict):
        return CONTAINER_BYTES + sum(
            MEMBER_BYTES + text_size(name) + value_size(member) for name, member in value.items()
        )
    if isinstance(value, StringSet):
        return sum(map(text_size, value))
    if isinstance(value, NumberSet):
        return sum(map(number_size, value))
    return sum(map(len, value))


def attributes_size(attributes: Attributes) -> int:
    """Return the bytes of an item or index entry (CAP-101).

    >>> attributes_size({"shirt-color": "R", "shirt-size": "M"})
    23
    """
    return sum(text_size(name) + value_size(value) for name, value in attributes.items())
