"""Rendering: a tree becomes the text that parses to it.

The law is ``parse(kind, render(tree)) == tree``. Parentheses are written only where the shape
of the tree needs them, so none is ever redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from emulator.expressions import ast


def render(root: ast.Node) -> str:
    """Return the text of a tree.

    >>> path, literal = ast.Path(parts=("a", 0)), ast.LiteralValue(name=":v")
    >>> a = ast.ComparisonTest(operator="=", left=path, right=literal)
    >>> render(ast.Not(term=ast.Or(terms=(a, a))))
    'NOT (a[0] = :v OR a[0] = :v)'
    """
    return ast.fold(root, _written)


def _written(node: ast.Node, parts: list[str]) -> str:
    return _WRITERS[type(node)](node, parts)


def _path(node: ast.Path, _parts: list[str]) -> str:
    first, *rest = node.parts
    steps = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
    return str(first) + "".join(steps)


def _joined(node: ast.And | ast.Or, parts: list[str]) -> str:
    """Keep apart what would otherwise merge with its neighbours."""
    separator, loose = (
        (" AND ", (ast.And, ast.Or)) if isinstance(node, ast.And) else (" OR ", (ast.Or,))
    )
    return separator.join(
        f"({part})" if isinstance(term, loose) else part
        for term, part in zip(node.terms, parts, strict=True)
    )


def _not(node: ast.Not, parts: list[str]) -> str:
    return f"NOT ({parts[0]})" if isinstance(node.term, ast.And | ast.Or) else f"NOT {parts[0]}"


def _grouped(operands: tuple[ast.Node, ...], parts: list[str]) -> list[str]:
    """Write operands of an update; one that calculates needs brackets (UPD-12, UPD-13)."""
    return [
        f"({part})" if isinstance(operand, ast.Arithmetic) else part
        for operand, part in zip(operands, parts, strict=True)
    ]


def _arithmetic(node: ast.Arithmetic, parts: list[str]) -> str:
    left, right = _grouped((node.left, node.right), parts)
    return f"{left} {node.operator} {right}"


def _function(node: ast.Function, parts: list[str]) -> str:
    return f"{node.name}({', '.join(_grouped(node.operands, parts))})"


def _update(node: ast.UpdateExpression, parts: list[str]) -> str:
    actions = iter(parts)
    return " ".join(
        f"{section[0].keyword} " + ", ".join(islice(actions, len(section)))
        for section in node.sections
    )


# Each writer takes the class it stands under.
_WRITERS: Final[dict[type, Callable[..., str]]] = {
    ast.Path: _path,
    ast.LiteralValue: lambda node, _: node.name,
    ast.Function: _function,
    ast.Arithmetic: _arithmetic,
    ast.ComparisonTest: lambda node, parts: f"{parts[0]} {node.operator} {parts[1]}",
    ast.Between: lambda _, parts: f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}",
    ast.In: lambda _, parts: f"{parts[0]} IN ({', '.join(parts[1:])})",
    ast.Not: _not,
    ast.And: _joined,
    ast.Or: _joined,
    ast.UpdateAction: lambda node, parts: (" = " if node.keyword == "SET" else " ").join(parts),
    ast.UpdateExpression: _update,
    ast.ProjectionExpression: lambda _, parts: ", ".join(parts),
}
