"""Search conditions: which partition and which filters a vector search names (VIX-43, VIX-44).

A search condition is first a condition like any other, with all its faults; then every clause
must be an equality. Against the search schema of an index it becomes values by attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from emulator import model
from emulator.expressions import ast, resolve
from emulator.expressions.checks import Check, Names, always, condition_checks, document_path
from emulator.expressions.parser import fault
from emulator.model.vectors import VectorSchema
from emulator.service.errors import RequestFault, ValidationException

SEARCH_CONDITION: Final = "SearchConditionExpression"

COMPARATOR: Final = "Invalid comparator used in SearchConditionExpression"
OPERATOR: Final = "Invalid operator used in SearchConditionExpression"
# Assumed: the next two texts follow those of key conditions.
SEVERAL_NAMES: Final = (
    "Invalid condition in SearchConditionExpression: Multiple attribute names used in one condition"
)
NO_NAME: Final = "Invalid condition in SearchConditionExpression: No attribute specified"
OUTSIDE: Final = (
    "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
    "Invalid attribute: {name}"
)
NESTED: Final = "SearchConditionExpression cannot have conditions on nested attributes"
REPEATED: Final = "SearchConditionExpression must only contain one condition per attribute"
NO_PARTITION: Final = (
    "SearchConditionExpression must have all HASH attributes in configured SearchSchema"
)
WRONG_TYPE: Final = (
    "Type of '{name}' attribute in SearchConditionExpression ({given}) does not match type in "
    "search schema ({wanted})"
)


class SearchClause(NamedTuple):
    """One equality: a path, and the placeholder of its value."""

    path: model.Path
    literal: str


class SearchCondition(NamedTuple):
    """A search condition with its values."""

    clauses: tuple[SearchClause, ...]
    values: resolve.Values

    def under(self, schema: VectorSchema) -> dict[str, model.Value]:
        """Return the values that attributes of the search schema must have.

        Raises:
            RequestFault: the condition does not suit the schema; the checks run in the order of
                VIX-44.
        """
        types = {element.name: element for element in schema.search}
        for clause in self.clauses:
            if clause.path[0] not in types:
                raise ValidationException(OUTSIDE.format(name=clause.path[0]))
        if any(len(clause.path) > 1 for clause in self.clauses):
            raise fault(SEARCH_CONDITION, NESTED)
        wanted = {str(clause.path[0]): self.values[clause.literal] for clause in self.clauses}
        if len(wanted) < len(self.clauses):
            raise fault(SEARCH_CONDITION, REPEATED)
        partition = schema.partition
        if partition is not None and partition.name not in wanted:
            raise ValidationException(NO_PARTITION)
        for name, value in wanted.items():
            if not types[name].key.accepts(value):
                actual = model.type_name(value)
                raise ValidationException(
                    WRONG_TYPE.format(name=name, given=actual, wanted=types[name].type)
                )
        if partition is not None and model.is_empty(wanted[partition.name]):
            kind = model.kind_of(wanted[partition.name])
            raise ValidationException(model.EMPTY_KEY.format(kind=kind, name=partition.name))
        return wanted


def parse_search_condition(text: str, placeholders: resolve.Placeholders) -> SearchCondition:
    """Return the search condition that a text writes, its values checked.

    Raises:
        RequestFault: any fault that needs no schema to be seen.

    >>> placeholders = resolve.Placeholders(None, {":t": "acme"})
    >>> parse_search_condition("tenant = :t", placeholders).clauses
    (SearchClause(path=('tenant',), literal=':t'),)
    """
    parsed = resolve.read(SEARCH_CONDITION, text)
    checks, clauses = _program(parsed, placeholders.use(parsed))
    for check in checks:
        check(placeholders.values)
    return SearchCondition(clauses, placeholders.values)


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _program(
    parsed: resolve.ParsedExpression, targets: resolve.Targets
) -> tuple[tuple[Check, ...], tuple[SearchClause, ...]]:
    names = parsed.names(targets)
    try:
        clauses = tuple(_clauses(parsed.root, names))
    except RequestFault as certain:
        return (always(certain),), ()
    checks, _ = condition_checks(SEARCH_CONDITION, parsed.root, names)
    return checks, clauses


def _clauses(root: ast.Node, names: Mapping[str, str]) -> Iterator[SearchClause]:
    """Yield the clauses of a conjunction, from left to right."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.And):
            pending.extend(reversed(node.terms))
        elif not isinstance(node, ast.ComparisonTest):
            raise fault(SEARCH_CONDITION, OPERATOR)
        elif node.operator != "=":
            raise fault(SEARCH_CONDITION, COMPARATOR)
        else:
            yield _clause(node, names)


def _clause(node: ast.ComparisonTest, names: Names) -> SearchClause:
    """Return the clause of an equality, whichever side comes first."""
    operands = (node.left, node.right)
    paths = [operand for operand in operands if isinstance(operand, ast.Path)]
    literals = [operand.name for operand in operands if isinstance(operand, ast.LiteralValue)]
    if len(paths) + len(literals) < len(operands):
        raise fault(SEARCH_CONDITION, OPERATOR)
    if not paths:
        raise fault(SEARCH_CONDITION, NO_NAME)
    if len(paths) > 1:
        raise fault(SEARCH_CONDITION, SEVERAL_NAMES)
    return SearchClause(document_path(SEARCH_CONDITION, paths[0], names), literals[0])
