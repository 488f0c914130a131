"""What conditions and updates mean, as plainly as it can be said; see ``phrases`` for trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

from emulator.errors import ValidationException
from emulator.frontends.phrases import Action, Tree
from emulator.model import type_name
from emulator.model.wire import dump_value

Attributes: TypeAlias = dict[str, Any]

ABSENT: Final = object()
_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def at(item: Any, path: Sequence[Any]) -> Any:
    """Return the value at a path, or ABSENT."""
    for part in path:
        is_there = (
            part in item
            if isinstance(part, str) and isinstance(item, dict)
            else isinstance(part, int) and isinstance(item, tuple) and part < len(item)
        )
        if not is_there:
            return ABSENT
        item = item[part]
    return item


def same(one: Any, other: Any) -> bool:
    """Say whether two values look the same on the wire."""
    return ABSENT not in (one, other) and dump_value(one) == dump_value(other)


def holds(tree: Tree, item: Attributes) -> bool:
    """Say whether an item fulfils a condition (CND-1 to CND-13)."""
    kind, *rest = tree
    if kind in ("and", "or"):
        return (all if kind == "and" else any)(holds(one, item) for one in rest)
    if kind == "not":
        return not holds(rest[0], item)
    return _TESTS[kind](at(item, rest[0]), *rest[1:])


def _ordered(operator: str) -> Callable[[Any, Any], bool]:
    def test(value: Any, other: Any) -> bool:
        alike = type(value) is type(other) and isinstance(value, str | Decimal | bytes)
        return alike and _ORDERS[operator](value, other)

    return test


def _contains(value: Any, other: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(same(member, other) for member in value)
    return type(value) is type(other) and isinstance(value, str | bytes) and other in value


def _sized(value: Any, operator: str, other: Decimal) -> bool:
    if not isinstance(value, str | bytes | tuple | dict | frozenset):
        return operator == "<>"
    units = value.encode("utf-16-le")[::2] if isinstance(value, str) else value
    return _TESTS[operator](Decimal(len(units)), other)


_TESTS: Final[dict[str, Callable[..., bool]]] = {
    "=": same,
    "<>": lambda value, other: not same(value, other),
    **{operator: _ordered(operator) for operator in _ORDERS},
    "between": lambda value, low, high: _TESTS[">="](value, low) and _TESTS["<="](value, high),
    "in": lambda value, others: any(same(value, other) for other in others),
    "exists": lambda value: value is not ABSENT,
    "missing": lambda value: value is ABSENT,
    "type": lambda value, letters: value is not ABSENT and type_name(value) == letters,
    "begins": lambda value, start: type(value) is type(start) and value[: len(start)] == start,
    "contains": _contains,
    "size": _sized,
}


def updated(
    actions: Sequence[Action], old: Attributes | None, key: Attributes
) -> Attributes | None:
    """Return what an update makes of an item (UPD-1 to UPD-20)."""
    new = key if old is None else old
    for kind, path, *operands in actions:
        new = _placed(new, path, _RESULTS[kind](at(old or {}, path), *operands))
    only_removes = actions and all(kind in ("remove", "delete") for kind, *_ in actions)
    return None if old is None and only_removes else new


def _placed(container: Any, path: Sequence[Any], value: Any) -> Any:
    """Return a container with a value put at a path, or removed from it."""
    part, *rest = path
    if not isinstance(container, dict if isinstance(part, str) else tuple):
        raise ValidationException
    if rest:
        value = _placed(at(container, [part]), rest, value)
    if isinstance(container, tuple):
        members = list(container)
        members[part : part + 1] = [] if value is ABSENT else [value]
        return tuple(members)
    kept = {name: one for name, one in container.items() if name != part}
    return kept if value is ABSENT else {**kept, part: value}


def _of_one_type(combine: Callable[[Any, Any], Any], *types: type) -> Callable[[Any, Any], Any]:
    def result(value: Any, operand: Any) -> Any:
        if type(value) is not type(operand) or not isinstance(value, types):
            raise ValidationException
        return combine(value, operand)

    return result


def _unless_absent(result: Callable[[Any, Any], Any], otherwise: Callable[[Any], Any]) -> Any:
    return lambda value, operand: otherwise(operand) if value is ABSENT else result(value, operand)


def _union(value: Any, operand: Any) -> Any:
    return value + operand if isinstance(value, Decimal) else type(value)(value | operand)


def _difference(value: Any, operand: Any) -> Any:
    return type(value)(value - operand) if value - operand else ABSENT


_RESULTS: Final[dict[str, Callable[..., Any]]] = {
    "set": lambda _value, operand: operand,
    "default": lambda value, operand: operand if value is ABSENT else value,
    "plus": _of_one_type(lambda value, operand: value + operand, Decimal),
    "append": _of_one_type(lambda value, operand: value + operand, tuple),
    "remove": lambda _value: ABSENT,
    "add": _unless_absent(_of_one_type(_union, Decimal, frozenset), lambda operand: operand),
    "delete": _unless_absent(_of_one_type(_difference, frozenset), lambda _: ABSENT),
}
