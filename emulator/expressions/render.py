"""Rendering: a tree becomes the text that parses to it.

The law is ``parse(kind, render(tree)) == tree``. Parentheses are written only where the shape
of the tree needs them, so none is ever redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from emulator.expressions.ast import (
    Action,
    And,
    Arithmetic,
    Between,
    Comparison,
    Function,
    In,
    Literal,
    Node,
    Not,
    Or,
    Path,
    ProjectionExpression,
    UpdateExpression,
    fold,
)


def render(root: Node) -> str:
    """Return the text of a tree.

    >>> a = Comparison(operator="=", left=Path(parts=("a", 0)), right=Literal(name=":v"))
    >>> render(Not(term=Or(terms=(a, a))))
    'NOT (a[0] = :v OR a[0] = :v)'
    """
    return fold(root, _written)


def _written(node: Node, parts: list[str]) -> str:
    return _WRITERS[type(node)](node, parts)


def _path(node: Path, _parts: list[str]) -> str:
    first, *rest = node.parts
    steps = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
    return str(first) + "".join(steps)


def _joined(node: And | Or, parts: list[str]) -> str:
    """Keep apart what would otherwise merge with its neighbours."""
    separator, loose = (" AND ", (And, Or)) if isinstance(node, And) else (" OR ", (Or,))
    return separator.join(
        f"({part})" if isinstance(term, loose) else part
        for term, part in zip(node.terms, parts, strict=True)
    )


def _not(node: Not, parts: list[str]) -> str:
    return f"NOT ({parts[0]})" if isinstance(node.term, And | Or) else f"NOT {parts[0]}"


def _grouped(operands: tuple[Node, ...], parts: list[str]) -> list[str]:
    """Write operands of an update; one that calculates needs brackets (UPD-12, UPD-13)."""
    return [
        f"({part})" if isinstance(operand, Arithmetic) else part
        for operand, part in zip(operands, parts, strict=True)
    ]


def _arithmetic(node: Arithmetic, parts: list[str]) -> str:
    left, right = _grouped((node.left, node.right), parts)
    return f"{left} {node.operator} {right}"


def _function(node: Function, parts: list[str]) -> str:
    return f"{node.name}({', '.join(_grouped(node.operands, parts))})"


def _update(node: UpdateExpression, parts: list[str]) -> str:
    actions = iter(parts)
    return " ".join(
        f"{section[0].keyword} " + ", ".join(islice(actions, len(section)))
        for section in node.sections
    )


# Each writer takes the class it stands under.
_WRITERS: Final[dict[type, Callable[..., str]]] = {
    Path: _path,
    Literal: lambda node, _: node.name,
    Function: _function,
    Arithmetic: _arithmetic,
    Comparison: lambda node, parts: f"{parts[0]} {node.operator} {parts[1]}",
    Between: lambda _, parts: f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}",
    In: lambda _, parts: f"{parts[0]} IN ({', '.join(parts[1:])})",
    Not: _not,
    And: _joined,
    Or: _joined,
    Action: lambda node, parts: (" = " if node.keyword == "SET" else " ").join(parts),
    UpdateExpression: _update,
    ProjectionExpression: lambda _, parts: ", ".join(parts),
}
