"""What a condition says about keys: the branches that it reads. Rules PQL-5, PQL-9, PQL-15.

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

from emulator.expressions.ast import (
    And,
    Between,
    Comparison,
    Function,
    In,
    Literal,
    Node,
    Not,
    Or,
    Path,
    walk,
)
from emulator.partiql.ast import Parsed
from emulator.partiql.parser import CACHE_ENTRIES
from emulator.service.errors import ValidationException

# Observed: another emulator's capture of eu-west-2, September 2026: fifty are served.
TOO_MANY_READS: Final = "Too many decomposed read operations for a given query."
MOST_READS: Final = 50

#: What a comparison means with its sides exchanged.
_EXCHANGED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition on one key attribute: an operator and the placeholders of its values."""

    name: str
    operator: str
    literals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One alternative of a condition.

    Attributes:
        clauses: What it says about keys.
        filters: The attributes that its other conditions name, each once.
        negates: Whether it says what the sort key must not be; such a branch has no range.
    """

    clauses: tuple[Clause, ...] = ()
    filters: tuple[str, ...] = ()
    negates: bool = False

    def joined(self, other: Branch) -> Branch:
        """Return the branch that says what both say."""
        return Branch(
            self.clauses + other.clauses,
            tuple(dict.fromkeys(self.filters + other.filters)),
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
    found = reader.branches(where)
    _check_count(found)
    return found


class _Reader:
    def __init__(self, parsed: Parsed, names: tuple[str, ...]) -> None:
        self._aliases = parsed.names
        self._names = names

    def is_keyed(self, node: Node) -> bool:
        """Say whether every alternative of a condition fixes the partition key."""
        if isinstance(node, And):
            return any(map(self.is_keyed, node.terms))
        if isinstance(node, Or):
            return all(map(self.is_keyed, node.terms))
        clause = self._clause(node)
        return (
            clause is not None and clause.name == self._names[0] and clause.operator in ("=", "IN")
        )

    def branches(self, node: Node) -> Branches:
        """Return the alternatives of a condition, no more than are read."""
        if isinstance(node, And):
            found: Branches = (Branch(),)
            for term in node.terms:
                joined = self.branches(term)
                found = tuple(one.joined(two) for one in found for two in joined)
                _check_count(found)
            return found
        if isinstance(node, Or) and any(name in self._names for name in self._roots(node)):
            found = tuple(chain.from_iterable(map(self.branches, node.terms)))
            _check_count(found)
            return found
        clause = self._clause(node)
        if clause is None:
            return (Branch(filters=tuple(self._roots(node)), negates=self._negates(node)),)
        if clause.operator != "IN":
            return (self._keyed(clause),)
        each = (Clause(clause.name, "=", (literal,)) for literal in clause.literals)
        return tuple(map(self._keyed, each))

    def _keyed(self, clause: Clause) -> Branch:
        """Return the branch of a clause; only equality narrows a partition key."""
        if clause.name == self._names[0] and clause.operator != "=":
            return Branch(filters=(clause.name,))
        return Branch((clause,))

    def _roots(self, node: Node) -> Iterator[str]:
        """Yield the distinct attributes that a condition names."""
        paths = (node for node in walk(node) if isinstance(node, Path))
        return iter(dict.fromkeys(self._aliases[str(path.parts[0])] for path in paths))

    def _negates(self, node: Node) -> bool:
        negative = isinstance(node, Not) or (isinstance(node, Comparison) and node.operator == "<>")
        return negative and any(name in self._names[1:] for name in self._roots(node))

    def _clause(self, node: Node) -> Clause | None:
        return clause_of(node, self._aliases, self._names)


def clause_of(node: Node, aliases: Mapping[str, str], names: tuple[str, ...]) -> Clause | None:
    """Return what a node says about one key attribute, or None if it does not.

    Args:
        node: A condition.
        aliases: What its name placeholders stand for.
        names: The key attributes.
    """
    operator, operands = _comparing(node)
    path = operands[0]
    literals = tuple(value.name for value in operands[1:] if isinstance(value, Literal))
    if not isinstance(path, Path) or len(path.parts) > 1 or len(literals) < len(operands) - 1:
        return None
    name = aliases[str(path.parts[0])]
    return Clause(name, operator, literals) if name in names else None


def _comparing(node: Node) -> tuple[str, tuple[Node, ...]]:
    """Return the operator and operands of a condition that can narrow a key."""
    if isinstance(node, Comparison) and node.operator in _EXCHANGED:
        if isinstance(node.left, Literal):
            return _EXCHANGED[node.operator], (node.right, node.left)
        return node.operator, (node.left, node.right)
    if isinstance(node, Between):
        return "BETWEEN", (node.operand, node.lower, node.upper)
    if isinstance(node, In):
        return "IN", (node.operand, *node.choices)
    if isinstance(node, Function) and node.name == "begins_with":
        return node.name, node.operands
    return "", (node,)


def _check_count(branches: Branches) -> None:
    if len(branches) > MOST_READS:
        raise ValidationException(TOO_MANY_READS)
