"""The branches of keys that a condition reads. Rules PQL-5, PQL-9, PQL-15.

A condition whose every alternative fixes the partition key is answered by queries, one per
branch; any other by a scan. AND joins, OR and IN branch; an OR that names no key is a filter
like any other. What a branch says is symbolic here: placeholders, not values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from emulator.expressions import CACHE_ENTRIES, EXCHANGED
from emulator.expressions import ast as trees
from emulator.partiql.ast import Parsed
from emulator.service.errors import ValidationException

# Observed: another emulator's capture of eu-west-2, September 2026: fifty are served.
TOO_MANY_READS: Final = "Too many decomposed read operations for a given query."
MOST_READS: Final = 50


@dataclass(frozen=True, slots=True)
class BranchClause:
    """One condition on one key attribute: an operator and the placeholders of its values."""

    name: str
    operator: str
    literals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One alternative of a condition.

    Attributes:
        clauses: Its clauses on keys.
        filters: The attributes that its other conditions name, each once.
        is_filtered: Whether it has other conditions; ``1 = 2`` names no attribute.
        negates: Whether it says what the sort key must not be; such a branch has no range.
    """

    clauses: tuple[BranchClause, ...] = ()
    filters: tuple[str, ...] = ()
    is_filtered: bool = False
    negates: bool = False

    def joined(self, other: Branch) -> Branch:
        """Return the branch that says what both say."""
        return Branch(
            self.clauses + other.clauses,
            tuple(dict.fromkeys(self.filters + other.filters)),
            self.is_filtered or other.is_filtered,
            self.negates or other.negates,
        )


Branches: TypeAlias = tuple[Branch, ...]


@lru_cache(maxsize=CACHE_ENTRIES)
def branches_of(parsed: Parsed, names: tuple[str, ...]) -> Branches | None:
    """Return the branches of a statement's condition under a key, or None for a scan.

    Args:
        parsed: The statement.
        names: The partition key attribute, then the sort key attribute if there is one.

    Raises:
        ValidationException: more reads than the service does for one statement.
    """
    where = parsed.where
    reader = _Reader(parsed, names)
    if where is None or not reader.is_keyed(where):
        return None
    branches = reader.branches(where)
    _check_count(branches)
    return branches


class _Reader:
    def __init__(self, parsed: Parsed, names: tuple[str, ...]) -> None:
        self._aliases = parsed.names
        self._names = names

    def is_keyed(self, node: trees.Node) -> bool:
        """Return whether every alternative of a condition fixes the partition key."""
        if isinstance(node, trees.And):
            return any(map(self.is_keyed, node.terms))
        if isinstance(node, trees.Or):
            return all(map(self.is_keyed, node.terms))
        clause = self._clause(node)
        return (
            clause is not None and clause.name == self._names[0] and clause.operator in ("=", "IN")
        )

    def branches(self, node: trees.Node) -> Branches:
        """Return the alternatives of a condition, no more than are read."""
        if isinstance(node, trees.And):
            joined_branches: Branches = (Branch(),)
            for term in node.terms:
                joined = self.branches(term)
                joined_branches = tuple(
                    left.joined(right) for left in joined_branches for right in joined
                )
                _check_count(joined_branches)
            return joined_branches
        if isinstance(node, trees.Or) and any(name in self._names for name in self._roots(node)):
            alternatives = tuple(chain.from_iterable(map(self.branches, node.terms)))
            _check_count(alternatives)
            return alternatives
        clause = self._clause(node)
        if clause is None:
            return (self._filtering(node),)
        if clause.operator != "IN":
            return (self._keyed(clause),)
        each = (BranchClause(clause.name, "=", (literal,)) for literal in clause.literals)
        return tuple(map(self._keyed, each))

    def _filtering(self, node: trees.Node) -> Branch:
        """Return the branch of a condition that narrows no key."""
        roots = tuple(self._roots(node))
        return Branch(filters=roots, is_filtered=True, negates=self._negates(node))

    def _keyed(self, clause: BranchClause) -> Branch:
        """Return the branch of a clause; only equality narrows a partition key."""
        if clause.name == self._names[0] and clause.operator != "=":
            return Branch(filters=(clause.name,), is_filtered=True)
        return Branch((clause,))

    def _roots(self, node: trees.Node) -> Iterator[str]:
        """Yield the distinct attributes that a condition names."""
        paths = (node for node in trees.walk(node) if isinstance(node, trees.Path))
        return iter(dict.fromkeys(self._aliases[str(path.parts[0])] for path in paths))

    def _negates(self, node: trees.Node) -> bool:
        negative = isinstance(node, trees.Not) or (
            isinstance(node, trees.ComparisonTest) and node.operator == "<>"
        )
        return negative and any(name in self._names[1:] for name in self._roots(node))

    def _clause(self, node: trees.Node) -> BranchClause | None:
        return clause_of(node, self._aliases, self._names)


def clause_of(
    node: trees.Node, aliases: Mapping[str, str], names: tuple[str, ...]
) -> BranchClause | None:
    """Return the clause of a node on one key attribute, or None if it has none.

    Args:
        node: A condition.
        aliases: The names that its placeholders stand for.
        names: The key attributes.
    """
    operator, operands = _comparing(node)
    path = operands[0]
    literals = tuple(value.name for value in operands[1:] if isinstance(value, trees.LiteralValue))
    if not isinstance(path, trees.Path) or len(path.parts) > 1 or len(literals) < len(operands) - 1:
        return None
    name = aliases[str(path.parts[0])]
    return BranchClause(name, operator, literals) if name in names else None


def _comparing(node: trees.Node) -> tuple[str, tuple[trees.Node, ...]]:
    """Return the operator and operands of a condition that can narrow a key."""
    if isinstance(node, trees.ComparisonTest) and node.operator in EXCHANGED:
        if isinstance(node.left, trees.LiteralValue):
            return EXCHANGED[node.operator], (node.right, node.left)
        return node.operator, (node.left, node.right)
    if isinstance(node, trees.Between):
        return "BETWEEN", (node.operand, node.lower, node.upper)
    if isinstance(node, trees.In):
        return "IN", (node.operand, *node.choices)
    if isinstance(node, trees.Function) and node.name == "begins_with":
        return node.name, node.operands
    return "", (node,)


def _check_count(branches: Branches) -> None:
    if len(branches) > MOST_READS:
        raise ValidationException(TOO_MANY_READS)
