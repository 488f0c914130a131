"""``Key`` and ``Attr``: conditions written in Python, rendered as expressions.

Any object with boto3's condition protocol is rendered, whatever library made it: a condition has
``get_expression()``, which answers ``format``, ``operator`` and ``values``; an attribute has a
``name``. Conditions of boto3 and of this module may stand in one request; to join them with
``&`` or ``|``, one of this module stands on the left (boto3's own refuse other types).

>>> placeholders = PlaceholderNames()
>>> placeholders.render(Key("pk").eq("a") & Key("sk").begins_with("x"), key_condition=True)
'(#n0 = :v0 AND begins_with(#n1, :v1))'
>>> placeholders.names, placeholders.values
({'#n0': 'pk', '#n1': 'sk'}, {':v0': 'a', ':v1': 'x'})
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Any, Final

NEEDS_CONDITION: Final = (
    "{value!r} is not a condition: compare an attribute first, as in Attr('name').eq(1)"
)
NEEDS_KEY: Final = "a key condition compares Key({name!r}), not {kind}({name!r})"
CANNOT_JOIN: Final = (
    "{operation} joins conditions, not {value!r}: compare an attribute first, "
    "as in Attr('name').eq(1)"
)

_BETWEEN_DOTS: Final = re.compile(r"[^.]+")

_COMPARISON: Final = "{0} {operator} {1}"
_FUNCTION_OF_ONE: Final = "{operator}({0})"
_FUNCTION_OF_TWO: Final = "{operator}({0}, {1})"
_JOINED: Final = "({0} {operator} {1})"


class Condition:
    """A condition: an operator, its values, and how they are written."""

    has_grouped_values = False

    def __init__(self, operator: str, layout: str, *values: object) -> None:
        self._operator = operator
        self._layout = layout
        self._values = values

    def get_expression(self) -> dict[str, Any]:
        """Return the condition in the protocol that boto3 defines."""
        return {"format": self._layout, "operator": self._operator, "values": self._values}

    def __and__(self, other: object) -> Condition:
        return _join("AND", self, other)

    def __or__(self, other: object) -> Condition:
        return _join("OR", self, other)

    def __invert__(self) -> Condition:
        return Condition("NOT", "({operator} {0})", self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.get_expression() == other.get_expression()

    def __hash__(self) -> int:
        return hash((self._operator, self._layout))

    def __repr__(self) -> str:
        return self._layout.format(*map(repr, self._values), operator=self._operator)


class _Membership(Condition):
    """``IN``: its right side is a group of values."""

    has_grouped_values = True


class _Comparable:
    """An operand of comparisons: an attribute, or the size of one."""

    def eq(self, value: object) -> Condition:
        """Equal to the value."""
        return Condition("=", _COMPARISON, self, value)

    def lt(self, value: object) -> Condition:
        """Less than the value."""
        return Condition("<", _COMPARISON, self, value)

    def lte(self, value: object) -> Condition:
        """Less than the value or equal to it."""
        return Condition("<=", _COMPARISON, self, value)

    def gt(self, value: object) -> Condition:
        """Greater than the value."""
        return Condition(">", _COMPARISON, self, value)

    def gte(self, value: object) -> Condition:
        """Greater than the value or equal to it."""
        return Condition(">=", _COMPARISON, self, value)

    def begins_with(self, value: object) -> Condition:
        """Begins with the value."""
        return Condition("begins_with", _FUNCTION_OF_TWO, self, value)

    def between(self, low_value: object, high_value: object) -> Condition:
        """Not less than the one and not greater than the other."""
        return Condition("BETWEEN", "{0} {operator} {1} AND {2}", self, low_value, high_value)


class _Attribute(_Comparable):
    """An attribute, by its path."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __and__(self, _other: object) -> Condition:
        raise _cannot_join("AND", self)

    def __or__(self, _other: object) -> Condition:
        raise _cannot_join("OR", self)

    def __invert__(self) -> Condition:
        raise _cannot_join("NOT", self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.name == getattr(other, "name", None)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Key(_Attribute):
    """A key attribute: the only kind that a KeyConditionExpression takes.

    >>> from emulator import Emulator
    >>> from emulator.strategies import create_request
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", create_request("orders", "customer", "id"))
    >>> condition = Key("customer").eq("c1") & Key("id").begins_with("2026-")
    >>> emu.table("orders").query(KeyConditionExpression=condition)["Items"]
    []
    """


class Attr(_Attribute):
    """Any attribute, or a path into one: ``Attr("address.city")``, ``Attr("tags[0]")``.

    >>> from emulator import Emulator
    >>> from emulator.strategies import create_request
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", create_request("orders", "id"))
    >>> emu.table("orders").scan(FilterExpression=Attr("total").gte(10))["Items"]
    []
    """

    def ne(self, value: object) -> Condition:
        """Different from the value."""
        return Condition("<>", _COMPARISON, self, value)

    def is_in(self, value: Iterable[object]) -> Condition:
        """Equal to one of the values."""
        return _Membership("IN", _COMPARISON, self, value)

    def exists(self) -> Condition:
        """The item has the attribute."""
        return Condition("attribute_exists", _FUNCTION_OF_ONE, self)

    def not_exists(self) -> Condition:
        """The item does not have the attribute."""
        return Condition("attribute_not_exists", _FUNCTION_OF_ONE, self)

    def contains(self, value: object) -> Condition:
        """A string that has the value in it, or a set or list that has it as a member."""
        return Condition("contains", _FUNCTION_OF_TWO, self, value)

    def size(self) -> Size:
        """The size of the attribute, to be compared: ``Attr("a").size().gt(3)``."""
        return Size(self)

    def attribute_type(self, value: str) -> Condition:
        """The attribute has this type, such as ``"S"``."""
        return Condition("attribute_type", _FUNCTION_OF_TWO, self, value)


class Size(Condition, _Comparable):
    """The size of an attribute; it becomes a condition by a comparison."""

    def __init__(self, attribute: Attr) -> None:
        super().__init__("size", _FUNCTION_OF_ONE, attribute)
        self.name = attribute.name


def is_condition(value: object) -> bool:
    """Return whether a value follows the condition protocol."""
    return hasattr(value, "get_expression")


class PlaceholderNames:
    """The names and values that the conditions of one request stand for.

    A placeholder that the request already uses is passed over.
    """

    def __init__(self, taken: Container[str] = ()) -> None:
        self._taken = taken
        self.names: dict[str, str] = {}
        self.values: dict[str, object] = {}

    def render(self, condition: Any, *, key_condition: bool = False) -> str:
        """Return the expression of a condition and keep what its placeholders stand for.

        Raises:
            TypeError: not a condition, or an ``Attr`` where only a ``Key`` may stand.
        """
        if not is_condition(condition):
            raise TypeError(NEEDS_CONDITION.format(value=condition))
        expression = condition.get_expression()
        grouped = getattr(condition, "has_grouped_values", False)
        parts = [
            self._part(value, grouped=grouped, key_condition=key_condition)
            for value in expression["values"]
        ]
        text: str = expression["format"].format(*parts, operator=expression["operator"])
        return text

    def _part(self, value: Any, *, grouped: bool, key_condition: bool) -> str:
        if is_condition(value):
            return self.render(value, key_condition=key_condition)
        if _is_attribute(value):
            if key_condition and type(value).__name__ != "Key":
                raise TypeError(NEEDS_KEY.format(name=value.name, kind=type(value).__name__))
            return self._path(value.name)
        if grouped:
            return f"({', '.join(map(self._value, value))})"
        return self._value(value)

    def _path(self, path: str) -> str:
        """Return a path with a placeholder for each name: what is between dots, not in brackets."""
        segments = []
        for segment in path.split("["):
            position, bracket, names = segment.rpartition("]")
            placed = _BETWEEN_DOTS.sub(lambda match: self._name(match[0]), names)
            segments.append(position + bracket + placed)
        return "[".join(segments)

    def _name(self, name: str) -> str:
        return self._place("#n", self.names, name)

    def _value(self, value: object) -> str:
        return self._place(":v", self.values, value)

    def _place(self, prefix: str, places: dict[str, Any], value: object) -> str:
        number = len(places)
        while (placeholder := f"{prefix}{number}") in self._taken or placeholder in places:
            number += 1
        places[placeholder] = value
        return placeholder


def _is_attribute(value: object) -> bool:
    """Return whether a value is an attribute of this module or of boto3."""
    return hasattr(value, "name") and hasattr(value, "begins_with")


def _join(operator: str, left: object, right: object) -> Condition:
    for side in (left, right):
        if not is_condition(side):
            raise _cannot_join(operator, side)
    return Condition(operator, _JOINED, left, right)


def _cannot_join(operation: str, value: object) -> TypeError:
    return TypeError(CANNOT_JOIN.format(operation=operation, value=value))
