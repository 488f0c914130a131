"""The ten types of attributes: one row each, with all that is asked of a type.

Values are plain immutable Python objects, and the class of the object is its type. Code that wants
the sets, or the types that have an order, asks here; only what is *done* with a type (loading,
measuring, drawing examples) stands where it is done.
"""

from decimal import Decimal
from typing import Final, NamedTuple


class StringSet(frozenset[str]):
    """An SS value."""

    __slots__ = ()


class NumberSet(frozenset[Decimal]):
    """An NS value."""

    __slots__ = ()


class BinarySet(frozenset[bytes]):
    """A BS value."""

    __slots__ = ()


class AttributeType(NamedTuple):
    """The facts of a type.

    Attributes:
        letters: Its name on the wire and in messages (TYP-3).
        python_class: The class of its values.
        older_name: Its name in the older wording of a wrong ADD or DELETE.
        current_name: Its name in the current wording.
        contained: The class that ``contains`` looks for in it, if there is only one (CND-10).
        is_ordered: Whether its values have an order; those are the types of keys (CMP-2).
        is_sized: Whether ``size`` takes it (CND-12).
        partiql_names: Its names after ``IS`` (PQL-24).
    """

    letters: str
    python_class: type
    older_name: str
    current_name: str
    contained: type | None = None
    is_ordered: bool = False
    is_sized: bool = True
    partiql_names: tuple[str, ...] = ()

    @property
    def is_set(self) -> bool:
        """Whether it is a set of another type."""
        return issubclass(self.python_class, frozenset)


# Source: TYP-1, TYP-3.
# Observed: captures of eu-west-2 by two other emulators, September and October 2026, of the
# current names.
ATTRIBUTE_TYPES: Final = (
    AttributeType(
        "S", str, "STRING", "STRING", contained=str, is_ordered=True, partiql_names=("STRING",)
    ),
    AttributeType(
        "N", Decimal, "NUMBER", "NUMBER", is_ordered=True, is_sized=False,
        partiql_names=("NUMERIC",),
    ),
    AttributeType(
        "B", bytes, "BINARY", "Binary", contained=bytes, is_ordered=True, partiql_names=("BLOB",)
    ),
    AttributeType(
        "BOOL", bool, "BOOLEAN", "BOOL", is_sized=False, partiql_names=("BOOLEAN", "BOOL")
    ),
    AttributeType("NULL", type(None), "NULL", "NULL", is_sized=False, partiql_names=("NULL",)),
    AttributeType("SS", StringSet, "STRING_SET", "STRING_SET", contained=str),
    AttributeType("NS", NumberSet, "NUMBER_SET", "NUMBER_SET", contained=Decimal),
    AttributeType("BS", BinarySet, "BINARY_SET", "BINARY_SET", contained=bytes),
    AttributeType("L", tuple, "LIST", "LIST", partiql_names=("LIST",)),
    AttributeType("M", dict, "MAP", "MAP", partiql_names=("STRUCT", "TUPLE")),
)  # fmt: skip
BY_LETTERS: Final = {row.letters: row for row in ATTRIBUTE_TYPES}
#: The letters of the types that have an order, of the sets, and of what ``size`` takes.
ORDERED: Final = tuple(row.letters for row in ATTRIBUTE_TYPES if row.is_ordered)
SETS: Final = tuple(row.letters for row in ATTRIBUTE_TYPES if row.is_set)
SIZED: Final = tuple(row.letters for row in ATTRIBUTE_TYPES if row.is_sized)
