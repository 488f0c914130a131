"""The tree of an expression: nodes that hold what was written, and nothing else.

A path part is an attribute name, a ``#placeholder`` or a list position; a literal is a
``:placeholder``. Parentheses leave no node: the shape of the tree says where they stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Path(NamedTuple):
    """A document path as written; placeholders keep their ``#``."""

    parts: tuple[str | int, ...]


class LiteralValue(NamedTuple):
    """A value placeholder, with its ``:``."""

    name: str


class Function(NamedTuple):
    """A function call; some are conditions, some are operands."""

    name: str
    operands: tuple[Node, ...]


class Arithmetic(NamedTuple):
    """A sum or difference on the right side of SET."""

    operator: str
    left: Node
    right: Node


class ComparisonTest(NamedTuple):
    """One of ``= <> < <= > >=`` between two operands."""

    operator: str
    left: Node
    right: Node


class Between(NamedTuple):
    """An inclusive range test."""

    operand: Node
    lower: Node
    upper: Node


class In(NamedTuple):
    """Membership in a list of operands."""

    operand: Node
    choices: tuple[Node, ...]


class Not(NamedTuple):
    """A negation."""

    term: Node


class And(NamedTuple):
    """Two or more conditions that must all hold."""

    terms: tuple[Node, ...]


class Or(NamedTuple):
    """Two or more conditions of which one must hold."""

    terms: tuple[Node, ...]


class UpdateAction(NamedTuple):
    """One action of an update; REMOVE has no value, ADD and DELETE have a literal."""

    keyword: str
    path: Path
    value: Node | None = None


class UpdateExpression(NamedTuple):
    """An update expression: the actions of each section, in the order written."""

    sections: tuple[tuple[UpdateAction, ...], ...]


class ProjectionExpression(NamedTuple):
    """A projection expression."""

    paths: tuple[Path, ...]


#: What can stand where an operand is wanted.
Operand: TypeAlias = Path | LiteralValue | Function | Arithmetic
#: What can stand where a condition is wanted.
Condition: TypeAlias = ComparisonTest | Between | In | Not | And | Or | Function
Node: TypeAlias = Operand | Condition | UpdateAction | UpdateExpression | ProjectionExpression


def walk(root: Node) -> Iterator[Node]:
    """Yield every node, children before their parent, in the order of the source.

    It keeps its own stack: an expression can be nested deeper than Python calls.

    >>> tree = ComparisonTest(operator="=", left=Path(parts=("a",)), right=LiteralValue(name=":v"))
    >>> [type(node).__name__ for node in walk(tree)]
    ['Path', 'LiteralValue', 'ComparisonTest']
    """
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, is_open = pending.pop()
        below = () if is_open else children(node)
        if below:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(below))
        else:
            yield node


def fold(root: Node, combine: Callable[[Node, list[T]], T]) -> T:
    """Return the result of a tree: each node combined with the results of its children.

    >>> tree = Not(term=Function(name="f", operands=(Path(parts=("a",)), LiteralValue(name=":v"))))
    >>> fold(tree, lambda node, below: 1 + sum(below))
    4
    """
    results: list[T] = []
    for node in walk(root):
        below = len(results) - len(children(node))
        results[below:] = [combine(node, results[below:])]
    return results.pop()


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below, in the order of the source."""
    return _CHILDREN[type(node)](node)


def _of_action(node: UpdateAction) -> tuple[Node, ...]:
    return (node.path,) if node.value is None else (node.path, node.value)


# A table by class; each function takes the class it stands under.
_CHILDREN: Final[dict[type, Callable[..., tuple[Node, ...]]]] = {
    Path: lambda _: (),
    LiteralValue: lambda _: (),
    Function: lambda node: node.operands,
    Arithmetic: lambda node: (node.left, node.right),
    ComparisonTest: lambda node: (node.left, node.right),
    Between: lambda node: (node.operand, node.lower, node.upper),
    In: lambda node: (node.operand, *node.choices),
    Not: lambda node: (node.term,),
    And: lambda node: node.terms,
    Or: lambda node: node.terms,
    UpdateAction: _of_action,
    UpdateExpression: lambda node: tuple(chain.from_iterable(node.sections)),
    ProjectionExpression: lambda node: node.paths,
}
