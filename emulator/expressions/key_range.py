"""Key conditions: what a query says about its keys, and the range of keys that it means.

A key condition is first a condition like any other, with all its faults; then every clause
must be one the store can follow (KEY-5, KEY-7 to KEY-11). That needs no schema. Against the
schema of table or index it becomes a ``KeyRange`` (KEY-17, MAK-30 to MAK-40).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from emulator import model
from emulator.expressions import ast, resolve
from emulator.expressions.checks import Check, Names, always, condition_checks, document_path
from emulator.expressions.parser import KEY_CONDITION, fault
from emulator.service import limits
from emulator.service.errors import RequestFault, ValidationException

INVALID_OPERATOR: Final = "Invalid operator used in KeyConditionExpression: {operator}"
REPEATED_KEY: Final = "KeyConditionExpressions must only contain one condition per key"
NESTED_KEY: Final = "KeyConditionExpressions cannot have conditions on nested attributes"
SEVERAL_NAMES: Final = (
    "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
)
NO_NAME: Final = "Invalid condition in KeyConditionExpression: No key attribute specified"
NAME_FIRST: Final = (
    "Invalid condition in KeyConditionExpression: "
    "{operator} operator must have the key attribute as its first operand"
)
TOO_MANY: Final = (
    "The number of query conditions ({given}) exceeds "
    "the number of key attributes defined in the schema ({defined})"
)
MISSED: Final = "Query condition missed key schema element: {name}"
NOT_SUPPORTED: Final = "Query key condition not supported"
LOOSE_PARTITION: Final = (
    "HASH key attributes {lacking} must have equality conditions specified in the query"
)
NOT_INDEXABLE: Final = "Attempted conditional constraint is not an indexable operation"
BROKEN_PREFIX: Final = (
    "RANGE key attributes {lacking} must have equality conditions specified in the query "
    "because a condition is present on key attribute {name}"
)
WRONG_TYPE: Final = (
    "One or more parameter values were invalid: Condition parameter type does not match schema type"
)

EQUALITY: Final = "="
#: What a comparison means with its sides exchanged (KEY-11).
EXCHANGED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: How many schemas one key condition keeps plans for.
_PLANS: Final = 16
_INDEXABLE: Final = frozenset((*EXCHANGED, "BETWEEN", "begins_with"))


class KeyClause(NamedTuple):
    """One condition on one key attribute: its operator and the keys of its values."""

    operator: str
    literals: tuple[str, ...]


class KeyCondition:
    """A key condition with its values.

    Attributes:
        names: The attributes it puts conditions on, in the order of the source.

    >>> placeholders = resolve.Placeholders(None, {":p": "d1", ":s": "2026-"})
    >>> condition = parse_key_condition("pk = :p AND begins_with(sk, :s)", placeholders)
    >>> pk, sk = model.KeyAttribute("pk", "S"), model.KeyAttribute("sk", "S")
    >>> key = model.KeySchema((pk,), (sk,))
    >>> condition.range(key).holds(("2026-11-16",)), condition.range(key).holds(("2025-",))
    (True, False)
    """

    __slots__ = ("_clauses", "_values", "names")

    def __init__(self, clauses: Clauses, values: resolve.Values) -> None:
        self._clauses = clauses
        self._values = values
        self.names = clauses.names

    def range(self, key: model.KeySchema) -> model.KeyRange:
        """Return the range of keys that the condition means under a schema.

        Raises:
            ValidationException: the condition does not suit the schema; the checks run in
                the order of KEY-17.
        """
        plan = self._clauses.plan(key)
        operands = self._values
        values = []
        are_short = True
        for literal, wanted in plan.operands:
            value = operands[literal]
            if type(value) is not wanted:
                raise ValidationException(WRONG_TYPE)
            if wanted is not Decimal and not 0 < len(value) <= key.short:  # type: ignore[arg-type]  # text or bytes
                are_short = False
            values.append(value)
        if not are_short:
            _check_values(
                plan.partition, operands, limits.PARTITION_KEY_BYTES, model.LONG_PARTITION_KEY
            )
            _check_values(plan.sort, operands, limits.SORT_KEY_BYTES, model.LONG_SORT_KEY)
        partition = tuple(values[: plan.fixed_from])
        fixed = tuple(values[plan.fixed_from : plan.bounds_from])
        return plan.build(partition, fixed, *values[plan.bounds_from :])


class KeyPlan(NamedTuple):
    """How a key condition is read under one schema: all that does not depend on values.

    The operands, literals with their types, stand in the order of the schema: those of the
    partition attributes, of the leading sort attributes that are fixed, then of the last one.
    """

    key: model.KeySchema
    partition: tuple[tuple[model.KeyAttribute, KeyClause], ...]
    sort: tuple[tuple[model.KeyAttribute, KeyClause], ...]
    operands: tuple[tuple[str, type[model.KeyValue]], ...]
    fixed_from: int
    bounds_from: int
    build: Callable[..., model.KeyRange]


class Clauses:
    """The clauses of a key condition, by attribute, with their plans for recent schemas."""

    __slots__ = ("_by_name", "_plans", "names")

    def __init__(self, by_name: Mapping[str, KeyClause]) -> None:
        self.names = tuple(by_name)
        self._by_name = by_name
        self._plans: dict[int, KeyPlan] = {}

    def plan(self, key: model.KeySchema) -> KeyPlan:
        """Return the plan for a schema.

        Raises:
            ValidationException: names or operators do not suit the schema.
        """
        # By identity: a schema has no cheap hash, and its plan keeps it alive.
        plan = self._plans.get(id(key))
        if plan is None:
            plan = _plan(key, self._by_name)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[id(key)] = plan
        return plan


def parse_key_condition(text: str, placeholders: resolve.Placeholders) -> KeyCondition:
    """Return the key condition that a text writes, its values checked.

    Raises:
        RequestFault: any fault that needs no schema to be seen.
    """
    parsed = resolve.read(KEY_CONDITION, text)
    checks, clauses = _program(parsed, placeholders.use(parsed))
    values = placeholders.values
    for check in checks:
        check(values)
    return KeyCondition(clauses, values)


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _program(
    parsed: resolve.ParsedExpression, targets: resolve.Targets
) -> tuple[tuple[Check, ...], Clauses]:
    names = parsed.names(targets)
    checks, can_pass = condition_checks(KEY_CONDITION, parsed.root, names)
    if not can_pass:
        return checks, Clauses({})
    try:
        return checks, Clauses(_clauses(parsed.root, names))
    except RequestFault as certain:
        return (*checks, always(certain)), Clauses({})


# What needs no schema


def _clauses(root: ast.Node, names: Names) -> dict[str, KeyClause]:
    clauses: dict[str, KeyClause] = {}
    for node in _terms(root):
        name, clause = _clause(node, names)
        if name in clauses:
            raise fault(KEY_CONDITION, REPEATED_KEY)
        clauses[name] = clause
    return clauses


def _terms(root: ast.Node) -> Iterator[ast.Node]:
    """Yield the clauses of a conjunction, from left to right (KEY-1)."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.And):
            pending.extend(reversed(node.terms))
        else:
            yield node


def _clause(node: ast.Node, names: Names) -> tuple[str, KeyClause]:
    operator = _operator(node)
    if operator not in _INDEXABLE:
        raise RequestFault(INVALID_OPERATOR.format(operator=operator))
    operands = ast.children(node)
    if operator in ("BETWEEN", "begins_with") and isinstance(operands[0], ast.LiteralValue):
        raise fault(KEY_CONDITION, NAME_FIRST.format(operator=operator))
    name = _key_name(operands, names)
    if isinstance(operands[0], ast.LiteralValue):
        operator = EXCHANGED[operator]
    literals = tuple(operand.name for operand in operands if isinstance(operand, ast.LiteralValue))
    return name, KeyClause(operator, literals)


def _operator(node: ast.Node) -> str:
    if isinstance(node, ast.ComparisonTest):
        return node.operator
    if isinstance(node, ast.Function):
        return node.name
    return _OPERATORS[type(node)]


def _key_name(operands: tuple[ast.Node, ...], names: Names) -> str:
    """Return the one top-level attribute among the operands (KEY-8 to KEY-10)."""
    key_name: str | None = None
    for operand in operands:
        if isinstance(operand, ast.Function):
            raise RequestFault(INVALID_OPERATOR.format(operator=operand.name))
        if isinstance(operand, ast.Path):
            if key_name is not None:
                raise fault(KEY_CONDITION, SEVERAL_NAMES)
            if len(operand.parts) > 1:
                raise fault(KEY_CONDITION, NESTED_KEY)
            key_name = str(document_path(KEY_CONDITION, operand, names)[0])
    if key_name is None:
        raise fault(KEY_CONDITION, NO_NAME)
    return key_name


_OPERATORS: Final[dict[type, str]] = {
    ast.Between: "BETWEEN",
    ast.In: "IN",
    ast.Not: "NOT",
    ast.Or: "OR",
}


# What needs the schema


def _check_names(key: model.KeySchema, clauses: Mapping[str, KeyClause]) -> None:
    """Refuse too many conditions, then missing key attributes (KEY-6, KEY-3, KEY-4)."""
    if len(clauses) > len(key.names):
        raise ValidationException(TOO_MANY.format(given=len(clauses), defined=len(key.names)))
    if len(key.partition) > 1 or len(key.sort) > 1:
        _check_partition(key, clauses)
    for attribute in key.partition:
        if attribute.name not in clauses:
            raise ValidationException(MISSED.format(name=attribute.name))
    for name in clauses:
        if name not in key.names:
            missed = next(a.name for a in key.sort if a.name not in clauses)
            raise ValidationException(MISSED.format(name=missed))


def _check_partition(key: model.KeySchema, clauses: Mapping[str, KeyClause]) -> None:
    """Refuse a partition of several attributes that is not fixed (MAK-30, MAK-31).

    Observed: ScyllaDB's tests, run against the service; another emulator for the whole text, and
    for an index with several sort attributes but one partition attribute.
    """
    lacking = [
        name
        for name, _ in key.partition
        if name not in clauses or clauses[name].operator != EQUALITY
    ]
    if lacking:
        raise ValidationException(LOOSE_PARTITION.format(lacking=", ".join(lacking)))


def _check_operators(key: model.KeySchema, clauses: Mapping[str, KeyClause]) -> None:
    """Refuse what is no equality where one is due (KEY-2, MAK-31, MAK-34)."""
    for clause in clauses.values():
        if clause.operator not in _INDEXABLE:
            raise ValidationException(NOT_INDEXABLE)
    for attribute in key.partition:
        if clauses[attribute.name].operator != EQUALITY:
            raise ValidationException(NOT_SUPPORTED)
    _check_prefix([attribute.name for attribute in key.sort], clauses)


def _check_prefix(names: list[str], clauses: Mapping[str, KeyClause]) -> None:
    """Refuse a sort attribute before the last one given that is not fixed (MAK-32 to MAK-36).

    Assumed: all that lack an equality are named, and the last one given, as another emulator
    does. Recorded are requests in which one lacks it.
    """
    while names and names[-1] not in clauses:
        names.pop()
    if not names:
        return
    *earlier, last = names
    lacking = [
        name for name in earlier if name not in clauses or clauses[name].operator != EQUALITY
    ]
    if lacking:
        raise ValidationException(BROKEN_PREFIX.format(lacking=", ".join(lacking), name=last))


def _plan(key: model.KeySchema, clauses: Mapping[str, KeyClause]) -> KeyPlan:
    _check_names(key, clauses)
    _check_operators(key, clauses)
    partition = tuple((attribute, clauses[attribute.name]) for attribute in key.partition)
    sort = tuple(
        (attribute, clauses[attribute.name]) for attribute in key.sort if attribute.name in clauses
    )
    operands = tuple(
        (literal, model.KEY_CLASSES[attribute.type])
        for attribute, clause in partition + sort
        for literal in clause.literals
    )
    return KeyPlan(
        key=key,
        partition=partition,
        sort=sort,
        operands=operands,
        fixed_from=len(partition),
        bounds_from=len(partition) + max(len(sort) - 1, 0),
        build=_RANGES[sort[-1][1].operator] if sort else model.KeyRange,
    )


def _check_values(
    pairs: tuple[tuple[model.KeyAttribute, KeyClause], ...],
    operands: resolve.Values,
    limit: int,
    message: str,
) -> None:
    """Refuse empty and oversized values (KEY-15, KV-2, KV-3).

    The limit holds for all the attributes together (MAK-27); of two bounds the longer counts.
    """
    size = 0
    for attribute, clause in pairs:
        values = [operands[literal] for literal in clause.literals]
        for value in values:
            if not value and attribute.type != "N":
                kind = "string" if attribute.type == "S" else "binary"
                raise ValidationException(model.EMPTY_KEY.format(kind=kind, name=attribute.name))
        size += max(map(model.value_size, values))
        if size > limit:
            raise ValidationException(message)


_Values: TypeAlias = tuple[model.KeyValue, ...]


def _prefixed(partition: _Values, fixed: _Values, prefix: str | bytes) -> model.KeyRange:
    """MAK-71: what begins with a prefix lies between it and the next possible one."""
    return model.KeyRange(partition, fixed, prefix, model.successor(prefix), True, False)  # noqa: FBT003  # positions cost less


_RANGES: Final[dict[str, Callable[..., model.KeyRange]]] = {
    "=": lambda partition, fixed, value: model.KeyRange(partition, (*fixed, value)),
    "<": lambda partition, fixed, value: model.KeyRange(
        partition, fixed, upper=value, upper_inclusive=False
    ),
    "<=": lambda partition, fixed, value: model.KeyRange(partition, fixed, upper=value),
    ">": lambda partition, fixed, value: model.KeyRange(
        partition, fixed, value, lower_inclusive=False
    ),
    ">=": lambda partition, fixed, value: model.KeyRange(partition, fixed, value),
    "BETWEEN": model.KeyRange,
    "begins_with": _prefixed,
}
