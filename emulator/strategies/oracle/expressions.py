"""The meaning of expressions: conditions and updates judged by plain recursion, nothing cached.

Half of the oracle; ``tables`` applies them. ``expression_trees`` says how the trees are built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any, Final, TypeAlias

from emulator.model import type_name, wire
from emulator.service import errors, limits
from emulator.strategies.expression_trees import Action, Tree

Attributes: TypeAlias = dict[str, Any]
Stored: TypeAlias = Attributes | None

ABSENT: Final[Any] = object()


def at(item: Any, path: Sequence[Any]) -> Any:
    """Return the value at a path, or ABSENT."""
    for step in path:
        if not isinstance(item, dict if isinstance(step, str) else tuple):
            return ABSENT
        item = item.get(step, ABSENT) if isinstance(item, dict) else [*item[step:], ABSENT][0]
    return item


def holds(tree: Tree, item: Attributes) -> bool:
    """Return whether an item fulfils a condition (CND-1 to CND-13)."""
    kind, *rest = tree
    if kind in ("and", "or", "not"):
        verdicts = [holds(operand, item) for operand in rest]
        return not verdicts[0] if kind == "not" else (all if kind == "and" else any)(verdicts)
    return bool(_TESTS[kind](at(item, rest[0]), *rest[1:]))


def _same(first: Any, second: Any) -> bool:
    return ABSENT not in (first, second) and wire.dump_value(first) == wire.dump_value(second)


def _order(first: Any, second: Any) -> int | None:
    alike = type(first) is type(second) and isinstance(first, str | Decimal | bytes)
    return (first > second) - (first < second) if alike else None


def _contains(value: Any, other: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(_same(member, other) for member in value)
    return type(value) is type(other) and isinstance(value, str | bytes) and other in value


def _size(value: Any) -> Any:
    if isinstance(value, str):
        return Decimal(len(value.encode("utf-16-le")) // 2)
    return Decimal(len(value)) if isinstance(value, bytes | tuple | dict | frozenset) else ABSENT


_TESTS: Final[dict[str, Callable[..., bool]]] = {
    "=": _same,
    "<>": lambda value, other: not _same(value, other),
    "<": lambda value, other: _order(value, other) == -1,
    "<=": lambda value, other: _order(value, other) in (-1, 0),
    ">": lambda value, other: _order(value, other) == 1,
    ">=": lambda value, other: _order(value, other) in (0, 1),
    "between": lambda value, low, high: _TESTS[">="](value, low) and _TESTS["<="](value, high),
    "in": lambda value, others: any(_same(value, other) for other in others),
    "exists": lambda value: value is not ABSENT,
    "missing": lambda value: value is ABSENT,
    "type": lambda value, letters: value is not ABSENT and type_name(value) == letters,
    "begins": lambda value, start: type(value) is type(start) and value[: len(start)] == start,
    "contains": _contains,
    "size": lambda value, operator, other: _TESTS[operator](_size(value), other),
}


def updated(actions: Sequence[Action], old: Stored, key: Attributes) -> Stored:
    """Return an item after an update (UPD-1 to UPD-20)."""
    if old is None and actions and all(kind in ("remove", "delete") for kind, *_ in actions):
        return None
    new = key if old is None else old
    for kind, path, *operand in actions:
        new = _placed(new, path, _result(kind, at(old or {}, path), *operand))
    return new


def _placed(container: Any, path: Sequence[Any], value: Any) -> Any:
    """Return a container with a value put at a path, or removed from it."""
    step, *rest = path
    if not isinstance(container, dict if isinstance(step, str) else tuple):
        raise errors.ValidationException
    if rest:
        value = _placed(at(container, [step]), rest, value)
    if isinstance(container, tuple):
        placed = () if value is ABSENT else (value,)
        return (*container[:step], *placed, *container[step + 1 :])
    kept = {name: member for name, member in container.items() if name != step}
    return kept if value is ABSENT else kept | {step: value}


def _result(kind: str, value: Any, operand: Any = ABSENT) -> Any:
    """Return a value after one action; ABSENT is none."""
    if kind in ("set", "remove") or (value is ABSENT and kind in ("default", "add")):
        return operand
    if kind == "default" or (value is ABSENT and kind == "delete"):
        return value
    if type(value) is not type(operand) or not isinstance(value, _CHANGED[kind]):
        raise errors.ValidationException
    if isinstance(value, frozenset):
        members = value | operand if kind == "add" else value - operand
        return type(value)(members) if members else ABSENT
    if isinstance(value, Decimal):
        return Decimal(f"{_EXACT.add(value, operand).normalize(_EXACT):f}")
    return value + operand


_EXACT: Final = Context(prec=2 * limits.NUMBER_DIGITS)
_CHANGED: Any = {"plus": Decimal, "append": tuple, "add": Decimal | frozenset, "delete": frozenset}
