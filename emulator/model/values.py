"""Values: the ten types as plain immutable Python objects.

    S str    N Decimal (canonical)    B bytes    BOOL bool    NULL None
    L tuple  M dict (never changed once it is a value)
    SS StringSet    NS NumberSet    BS BinarySet

The class of the object is its type, so nothing carries a tag. ``==`` is not the service's
equality (Python takes ``True`` for ``Decimal(1)``): use ``equal``.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, TypeAlias

from emulator.service.attribute_types import ATTRIBUTE_TYPES, BinarySet, NumberSet, StringSet

Value: TypeAlias = (
    str
    | Decimal
    | bytes
    | bool
    | tuple["Value", ...]
    | dict[str, "Value"]
    | StringSet
    | NumberSet
    | BinarySet
    | None
)
#: A value that can be a key.
KeyValue: TypeAlias = str | Decimal | bytes
Attributes: TypeAlias = Mapping[str, Value]

TYPE_NAMES: Final = {row.python_class: row.letters for row in ATTRIBUTE_TYPES}
SET_TYPES: Final = tuple(row.python_class for row in ATTRIBUTE_TYPES if row.is_set)
#: The types that have an order: those of keys.
ORDERED_TYPES: Final = tuple(row.python_class for row in ATTRIBUTE_TYPES if row.is_ordered)


class _Missing:
    """The absence of a value: a path that leads nowhere."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
Missing: TypeAlias = _Missing


def type_name(value: Value) -> str:
    """Return the type letters of a value, as messages write them (TYP-3).

    >>> type_name(None), type_name(Decimal(1)), type_name(StringSet({"a"}))
    ('NULL', 'N', 'SS')
    """
    return TYPE_NAMES[type(value)]


def equal(left: Value | Missing, right: Value | Missing) -> bool:
    """Return whether two values are the same to the service (CMP-1).

    >>> equal((True,), (Decimal(1),))
    False
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            equal(value, right.get(name, MISSING)) for name, value in left.items()
        )
    return left == right


def is_below(left: Value | Missing, right: Value | Missing) -> bool:
    """Return whether ``left < right``: false between types and for types without order (CMP-2)."""
    if type(left) is not type(right) or not isinstance(left, ORDERED_TYPES):
        return False
    return left < right  # type: ignore[operator]  # both are of one ordered type


def nesting_levels(value: Value) -> int:
    """Return how many levels deep a value goes: 1 for a scalar, one more per container.

    >>> nesting_levels(({"a": ()},))
    3
    """
    if isinstance(value, tuple):
        return 1 + max(map(nesting_levels, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(nesting_levels, value.values()), default=0)
    return 1
