"""Values: the ten types as plain immutable Python objects.

    S str    N Decimal (canonical)    B bytes    BOOL bool    NULL None
    L tuple  M dict (never changed once it is a value)
    SS StringSet    NS NumberSet    BS BinarySet

The class of the object is its type, so nothing carries a tag. ``==`` is not the service's
equality (Python takes ``True`` for ``Decimal(1)``): use ``equal``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
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
#: The types that hold other values.
CONTAINER_TYPES: Final = frozenset((tuple, dict))
#: Types whose values may be equal to those of others, to Python.
_TAGGED: Final = frozenset((bool, *SET_TYPES))


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
    # Whatever the service takes for equal Python does, and finds it out much sooner.
    if type(left) is not type(right) or left != right:
        return False
    return type(left) not in CONTAINER_TYPES or _are_alike(left, right)


def _are_alike(left: Value | Missing, right: Value | Missing) -> bool:
    """Return whether values that are equal to Python have the same types throughout."""
    if left is right:
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        types = list(map(type, left))
        if types != list(map(type, right)):
            return False
        return CONTAINER_TYPES.isdisjoint(types) or all(map(_are_alike, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return all(_are_alike(value, right[name]) for name, value in left.items())
    return type(left) is type(right)


def frozen(value: Value) -> Hashable:
    """Return a hashable stand-in: alike for equal values, and for no others.

    >>> frozen((True, {"a": ()})) == frozen((True, {"a": ()}))
    True
    >>> frozen(True) == frozen(Decimal(1))
    False
    """
    if isinstance(value, tuple):
        return tuple, tuple(map(frozen, value))
    if isinstance(value, dict):
        return dict, frozenset((name, frozen(member)) for name, member in value.items())
    return (type(value), value) if type(value) in _TAGGED else value


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
