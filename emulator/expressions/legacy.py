"""The parameters from before expressions: Expected, filters, KeyConditions, AttributeUpdates.

They become the same conditions, key conditions and updates as expressions do; only their
faults are worded differently. Rules LEG-2 to LEG-9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from emulator import model
from emulator.expressions import ast
from emulator.expressions.condition import Condition, Evaluate, program_of
from emulator.expressions.key_range import Clauses, KeyClause, KeyCondition
from emulator.expressions.resolve import Values
from emulator.expressions.update import Update, added, program, without
from emulator.service.attribute_types import ORDERED, SETS
from emulator.service.errors import RequestFault

_INVALID: Final = "One or more parameter values were invalid: "
ARGUMENT_COUNT: Final = (
    _INVALID + "Invalid number of argument(s) for the {operator} ComparisonOperator"
)
ARGUMENT_TYPE: Final = (
    _INVALID + "ComparisonOperator {operator} is not valid for {type} AttributeValue type"
)
MIXED_TYPES: Final = _INVALID + "AttributeValues inside AttributeValueList must be of same type"
REVERSED_BOUNDS: Final = (
    "The BETWEEN condition was provided a range "
    "where the lower bound is greater than the upper bound"
)
# Observed: dynalite's test of query against the service, for an empty map.
NO_KEY_CONDITIONS: Final = "Conditions can be of length 1 or 2 only"
NO_VALUE: Final = _INVALID + "Only DELETE action is allowed when no attribute value is specified"
DELETE_TYPE: Final = _INVALID + "DELETE action with value is not supported for the type {type}"
ADD_TYPE: Final = _INVALID + "ADD action is not supported for the type {type}"
TYPE_MISMATCH: Final = "Type mismatch for attribute to update"

NO_ARGUMENTS: Final = frozenset(("NULL", "NOT_NULL"))
_ARGUMENT_TYPES: Final = {
    **dict.fromkeys(("LT", "LE", "GT", "GE", "BETWEEN", "IN"), ORDERED),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), (*ORDERED, "BOOL", "NULL")),
    "BEGINS_WITH": ("S", "B"),
}
_ADDABLE: Final = (*SETS, "N", "L")


class LegacyCondition(NamedTuple):
    """One entry: a comparison operator and its arguments."""

    operator: str
    values: tuple[model.Value, ...]


def check_arguments(entry: LegacyCondition) -> None:
    """Refuse a wrong number or wrong types of arguments (LEG-2, LEG-3).

    Raises:
        RequestFault: number, types, equality of types, order of bounds, in this order.
    """
    operator, values = entry
    if not _count_fits(operator, len(values)):
        raise RequestFault(ARGUMENT_COUNT.format(operator=operator))
    types = [model.type_name(value) for value in values]
    allowed = _ARGUMENT_TYPES.get(operator)
    for argument_type in types:
        if allowed is not None and argument_type not in allowed:
            raise RequestFault(ARGUMENT_TYPE.format(operator=operator, type=argument_type))
    if len(set(types)) > 1:
        raise RequestFault(MIXED_TYPES)
    if operator == "BETWEEN" and model.is_below(values[1], values[0]):
        raise RequestFault(REVERSED_BOUNDS)


def _count_fits(operator: str, count: int) -> bool:
    if operator == "IN":
        return count >= 1
    if operator == "BETWEEN":
        return count == 2
    return count == (operator not in NO_ARGUMENTS)


# Conditions


def legacy_condition(entries: Mapping[str, LegacyCondition], *, any_of: bool = False) -> Condition:
    """Return the condition that Expected, QueryFilter or ScanFilter writes.

    Args:
        entries: Attribute name to condition.
        any_of: Whether one of them suffices (ConditionalOperator OR).

    Raises:
        RequestFault: LEG-2, LEG-3.

    >>> condition = legacy_condition({"n": LegacyCondition("BEGINS_WITH", ("ab",))})
    >>> condition.holds({"n": "abc"}), condition.holds({})
    (True, False)
    """
    for entry in entries.values():
        check_arguments(entry)
    values: dict[str, model.Value] = {}
    terms: list[ast.Node] = []
    for name, (operator, arguments) in entries.items():
        literals = [ast.LiteralValue(f":{len(values) + place}") for place in range(len(arguments))]
        values.update(
            (literal.name, value) for literal, value in zip(literals, arguments, strict=True)
        )
        terms.append(_TESTS[operator](ast.Path((name,)), *literals))
    root = ast.Or(tuple(terms)) if any_of else ast.And(tuple(terms))
    return program_of(root, {ast.Path((name,)): (name,) for name in entries}).condition(values)


def _compared(operator: str) -> Test:
    return lambda path, value: ast.ComparisonTest(operator, path, value)


def _called(function: str) -> Test:
    return lambda path, *arguments: ast.Function(function, (path, *arguments))


def _not_contains(path: ast.Path, sought: ast.LiteralValue) -> ast.Node:
    """Assumed: a missing attribute does not pass (LEG-5)."""
    contains = ast.Function("contains", (path, sought))
    return ast.And((ast.Function("attribute_exists", (path,)), ast.Not(contains)))


Test: TypeAlias = Callable[..., ast.Node]
_TESTS: Final[dict[str, Test]] = {
    "EQ": _compared("="),
    "NE": _compared("<>"),
    "IN": lambda path, *choices: ast.In(path, choices),
    "LT": _compared("<"),
    "LE": _compared("<="),
    "GT": _compared(">"),
    "GE": _compared(">="),
    "BETWEEN": ast.Between,
    "NULL": _called("attribute_not_exists"),
    "NOT_NULL": _called("attribute_exists"),
    "CONTAINS": _called("contains"),
    "NOT_CONTAINS": _not_contains,
    "BEGINS_WITH": _called("begins_with"),
}


# Key conditions

_KEY_OPERATORS: Final = {
    "EQ": "=",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "BETWEEN": "BETWEEN",
    "BEGINS_WITH": "begins_with",
}


def legacy_key_condition(entries: Mapping[str, LegacyCondition]) -> KeyCondition:
    """Return the key condition that KeyConditions writes (LEG-9, MAK-45).

    Raises:
        RequestFault: LEG-2, LEG-3, or no entry at all.
    """
    for entry in entries.values():
        check_arguments(entry)
    if not entries:
        raise RequestFault(NO_KEY_CONDITIONS)
    values: dict[str, model.Value] = {}
    clauses: dict[str, KeyClause] = {}
    for name, (operator, arguments) in entries.items():
        literals = tuple(f":{len(values) + offset}" for offset in range(len(arguments)))
        values.update(zip(literals, arguments, strict=True))
        clauses[name] = KeyClause(_KEY_OPERATORS.get(operator, operator), literals)
    return KeyCondition(Clauses(clauses), values)


# Updates


def legacy_update(entries: Mapping[str, tuple[str, model.Value | model.Missing]]) -> Update:
    """Return the update that AttributeUpdates writes (LEG-7).

    Args:
        entries: Attribute name to action (PUT, ADD or DELETE) and value, or MISSING.

    Raises:
        RequestFault: an action without a value, or with one of a wrong type (LEG-8).

    >>> legacy_update({"a": ("PUT", "x"), "b": ("DELETE", model.MISSING)}).apply({"b": "y"})
    {'a': 'x'}
    """
    actions = tuple(_action(name, *entry) for name, entry in entries.items())
    paths = tuple((name,) for name in entries)
    creates = any(action != "DELETE" for action, _ in entries.values())
    computed = tuple(
        number for number, (action, _) in enumerate(entries.values()) if action == "ADD"
    )
    return Update(program(paths, actions, creates=creates, computed=computed), {})


def _action(name: str, action: str, value: model.Value | model.Missing) -> Evaluate:
    if isinstance(value, model.Missing):
        if action != "DELETE":
            raise RequestFault(NO_VALUE)
        return lambda _attributes, _values: model.MISSING
    if action == "PUT":
        return lambda _attributes, _values: value
    if action == "ADD":
        return _add(name, value)
    return _delete(name, value)


def _add(name: str, value: model.Value) -> Evaluate:
    if model.type_name(value) not in _ADDABLE:
        raise RequestFault(ADD_TYPE.format(type=model.type_name(value)))

    def evaluate(attributes: model.Attributes, _values: Values) -> model.Value:
        stored = attributes.get(name, model.MISSING)
        if isinstance(stored, tuple) and isinstance(value, tuple):
            return stored + value
        return added(stored, value, TYPE_MISMATCH)

    return evaluate


def _delete(name: str, value: model.Value) -> Evaluate:
    if model.type_name(value) not in SETS:
        raise RequestFault(DELETE_TYPE.format(type=model.type_name(value)))
    return lambda attributes, _: without(attributes.get(name, model.MISSING), value, TYPE_MISMATCH)
