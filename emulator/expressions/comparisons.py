"""Comparisons of values: for each test, a table of the two types it takes.

Types that a table does not name fail the test, and so does what is missing. Rules CMP-1, CMP-2,
CND-2, CND-9, CND-10, CND-12.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sized
from decimal import Decimal
from typing import Any, Final, TypeAlias

from emulator import model
from emulator.service.attribute_types import ATTRIBUTE_TYPES

Test: TypeAlias = Callable[[Any, Any], bool]
Comparison: TypeAlias = dict[tuple[type, type], Test]


def passes(
    comparison: Comparison, left: model.Value | model.Missing, right: model.Value | model.Missing
) -> bool:
    """Return whether two values pass a test.

    >>> passes(COMPARISONS["="], Decimal(1), Decimal(1)), passes(COMPARISONS["="], Decimal(1), True)
    (True, False)
    >>> passes(COMPARISONS["contains"], "abc", "bc"), passes(COMPARISONS["<"], (), ())
    (True, False)
    """
    test = comparison.get((type(left), type(right)))
    return test is not None and test(left, right)


def size(value: model.Value | model.Missing) -> Decimal | model.Missing:
    """Return the characters of S, the bytes of B, the members of the rest (CND-12)."""
    if isinstance(value, str):
        return Decimal(_utf16_units(value))
    if isinstance(value, _SIZED):
        return Decimal(len(value))
    return model.MISSING


def _utf16_units(text: str) -> int:
    """Assumed: strings are measured as Java measures them (CND-12)."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_member(members: tuple[model.Value, ...], sought: model.Value) -> bool:
    """Return whether a list has a member (CND-10).

    >>> is_member((Decimal(1),), Decimal(1)), is_member((Decimal(1),), True)
    (True, False)
    """
    # Whatever the service takes for equal, Python does, and much sooner.
    return sought in members and any(model.equal(member, sought) for member in members)


_TYPES: Final = tuple(row.python_class for row in ATTRIBUTE_TYPES)
_SIZED: Final[tuple[type[Sized], ...]] = tuple(
    row.python_class for row in ATTRIBUTE_TYPES if row.is_sized
)
_ORDERINGS: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: By operator or function; what ``<>`` passes is what ``=`` does not, the missing included.
COMPARISONS: Final[dict[str, Comparison]] = {
    "=": {
        (each, each): model.equal if each in model.CONTAINER_TYPES else operator.eq
        for each in _TYPES
    },
    **{
        symbol: {(each, each): ordering for each in model.ORDERED_TYPES}
        for symbol, ordering in _ORDERINGS.items()
    },
    "begins_with": {(str, str): str.startswith, (bytes, bytes): bytes.startswith},
    "contains": {
        (row.python_class, row.contained): operator.contains
        for row in ATTRIBUTE_TYPES
        if row.contained is not None
    }
    | {(tuple, each): is_member for each in _TYPES},
}
