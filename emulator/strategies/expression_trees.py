"""Expression trees: conditions and updates as plain tuples, and their text with placeholders.

A strategy draws a tree; it is written out for the service, and judged by the naive model, so the
model needs no parser. Values are those of ``emulator.model``; a path is a tuple of names and list
positions.

    ("and", left, right)  ("or", left, right)  ("not", tree)
    ("=", path, value), and so "<>", "<", "<=", ">", ">="
    ("between", path, low, high)  ("in", path, (value, ...))
    ("exists", path)  ("missing", path)  ("type", path, letters)
    ("begins", path, value)  ("contains", path, value)  ("size", path, operator, value)

    ("set", path, value)  ("default", path, value)  ("plus", path, value)  ("append", path, value)
    ("remove", path)  ("add", path, value)  ("delete", path, value)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from emulator.expressions import is_reserved
from emulator.model import Path, Value, wire

Tree: TypeAlias = tuple[Any, ...]
Action: TypeAlias = tuple[Any, ...]
#: Members of a request: an expression, with its names and values.
Fragment: TypeAlias = dict[str, Any]

COMPARISONS: Final = ("=", "<>", "<", "<=", ">", ">=")
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_JOINERS: Final = ("and", "or", "not")


class ExpressionWriter:
    """Writes trees as text; the placeholders of all of them have one prefix.

    >>> writer = ExpressionWriter("f")
    >>> writer.condition(("and", ("=", ("status",), "open"), ("exists", ("doc", "x", 0))))
    '#f0 = :f0 AND attribute_exists(doc.x[0])'
    >>> writer.names, writer.values
    ({'#f0': 'status'}, {':f0': {'S': 'open'}})
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def path(self, path: Path) -> str:
        """Write a path; a name that cannot stand by itself gets a placeholder."""
        text = ""
        for step in path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += f".{self._name(step)}" if text else self._name(step)
        return text

    def _name(self, name: str) -> str:
        if _IDENTIFIER.fullmatch(name) and not is_reserved(name):
            return name
        for alias, target in self.names.items():
            if target == name:
                return alias
        alias = f"#{self._prefix}{len(self.names)}"
        self.names[alias] = name
        return alias

    def value(self, value: Value) -> str:
        """Write a value as a placeholder."""
        alias = f":{self._prefix}{len(self.values)}"
        self.values[alias] = wire.dump_value(value)
        return alias

    def condition(self, tree: Tree) -> str:
        """Write a condition."""
        return _CONDITIONS[tree[0]](self, *tree)

    def part(self, tree: Tree) -> str:
        """Write a condition inside another one."""
        text = self.condition(tree)
        return f"({text})" if tree[0] in _JOINERS else text

    def update(self, actions: Iterable[Action]) -> str:
        """Write an update, its sections in the order of their first action."""
        sections: dict[str, list[str]] = {}
        for kind, path, *operands in actions:
            section = kind.upper() if kind in ("remove", "add", "delete") else "SET"
            text = _ACTIONS[kind](self, self.path(path), *operands)
            sections.setdefault(section, []).append(text)
        return " ".join(f"{name} {', '.join(texts)}" for name, texts in sections.items())

    def fragment(self, member: str, text: str) -> Fragment:
        """Return a text as a member of a request, with its names and values."""
        fragment: Fragment = {member: text}
        if self.names:
            fragment["ExpressionAttributeNames"] = self.names
        if self.values:
            fragment["ExpressionAttributeValues"] = self.values
        return fragment


def condition_fragment(tree: Tree, member: str, prefix: str) -> Fragment:
    """Return a condition as part of a request."""
    writer = ExpressionWriter(prefix)
    return writer.fragment(member, writer.condition(tree))


def update_fragment(actions: Iterable[Action], prefix: str = "u") -> Fragment:
    """Return an update as part of a request."""
    writer = ExpressionWriter(prefix)
    return writer.fragment("UpdateExpression", writer.update(actions))


def merged(*fragments: Fragment) -> Fragment:
    """Return fragments of different prefixes as one.

    >>> merged({"ExpressionAttributeNames": {"#a": "x"}}, {"ExpressionAttributeNames": {"#b": "y"}})
    {'ExpressionAttributeNames': {'#a': 'x', '#b': 'y'}}
    """
    together: Fragment = {}
    for fragment in fragments:
        for member, value in fragment.items():
            is_map = member in ("ExpressionAttributeNames", "ExpressionAttributeValues")
            together[member] = together.get(member, {}) | value if is_map else value
    return together


def _compared(writer: ExpressionWriter, operator: str, path: Path, value: Value) -> str:
    return f"{writer.path(path)} {operator} {writer.value(value)}"


def _joined(writer: ExpressionWriter, operator: str, left: Tree, right: Tree) -> str:
    return f"{writer.part(left)} {operator.upper()} {writer.part(right)}"


def _in(writer: ExpressionWriter, _in: str, path: Path, values: Iterable[Value]) -> str:
    return f"{writer.path(path)} IN ({', '.join(map(writer.value, values))})"


_CONDITIONS: Final[dict[str, Callable[..., str]]] = {
    **dict.fromkeys(COMPARISONS, _compared),
    "and": _joined,
    "or": _joined,
    "not": lambda writer, _, tree: f"NOT {writer.part(tree)}",
    "between": lambda writer, _, path, low, high: (
        f"{writer.path(path)} BETWEEN {writer.value(low)} AND {writer.value(high)}"
    ),
    "in": _in,
    "exists": lambda writer, _, path: f"attribute_exists({writer.path(path)})",
    "missing": lambda writer, _, path: f"attribute_not_exists({writer.path(path)})",
    "type": lambda writer, _, path, letters: (
        f"attribute_type({writer.path(path)}, {writer.value(letters)})"
    ),
    "begins": lambda writer, _, path, value: (
        f"begins_with({writer.path(path)}, {writer.value(value)})"
    ),
    "contains": lambda writer, _, path, value: (
        f"contains({writer.path(path)}, {writer.value(value)})"
    ),
    "size": lambda writer, _, path, operator, value: (
        f"size({writer.path(path)}) {operator} {writer.value(value)}"
    ),
}
_ACTIONS: Final[dict[str, Callable[..., str]]] = {
    "set": lambda writer, path, value: f"{path} = {writer.value(value)}",
    "default": lambda writer, path, value: f"{path} = if_not_exists({path}, {writer.value(value)})",
    "plus": lambda writer, path, value: f"{path} = {path} + {writer.value(value)}",
    "append": lambda writer, path, value: f"{path} = list_append({path}, {writer.value(value)})",
    "remove": lambda _, path: path,
    "add": lambda writer, path, value: f"{path} {writer.value(value)}",
    "delete": lambda writer, path, value: f"{path} {writer.value(value)}",
}
