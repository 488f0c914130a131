"""JSON and YAML documents that know where each of their values stands (ICH-5)."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, Final, TypeAlias

from emulator.designs.findings import Position
from emulator.service.errors import DocumentError

NEEDS: Final = "{path}: reading it needs the module {module}: pip install 'dynamometer[designs]'"
#: Names of members and numbers of elements, from the outermost in.
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A document as dictionaries, lists and scalars, with the places of its values."""

    value: Any
    source: str
    text: str = ""
    places: dict[Path, Position] = field(default_factory=dict)

    def position(self, path: Path) -> Position:
        r"""Return where a value stands, or the nearest around it that is known.

        >>> parse_json('{"a":\n  {"b": 1}}', "x").position(("a", "b", 0)).line
        2
        """
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Position(1))

    def below(self, path: Path) -> Document:
        r"""Return what stands at a path as a document of its own, with the places it has here.

        >>> parse_json('{"a":\n {"b": 1}}', "x").below(("a",)).position(("b",)).line
        2
        """
        value = self.value
        for step in path:
            holds = isinstance(value, dict | list)
            try:
                value = value[step] if holds else None
            except (KeyError, IndexError, TypeError):
                value = None
        depth = len(path)
        places = {
            inner[depth:]: position
            for inner, position in self.places.items()
            if inner[:depth] == path
        }
        return Document(value, self.source, self.text, places)

    def under(self, name: str) -> Document:
        """Return the document as the only member of another."""
        places = {(name, *path): position for path, position in self.places.items()}
        return Document({name: self.value}, self.source, self.text, places)


def parse_json(text: str, source: str) -> Document:
    """Read JSON.

    Raises:
        DocumentError: It is not JSON; the message says where.
    """
    try:
        value = json.loads(text)
        places = _Scanner(text).places()
    except json.JSONDecodeError as error:
        raise DocumentError(f"{source}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise DocumentError(f"{source}: nested too deeply") from error
    except ValueError as error:
        raise DocumentError(f"{source}: not JSON: {error}") from error
    return Document(value, source, text, places)


def parse_json_values(text: str, source: str) -> Document:
    """Read JSON, or several values one after another as a list of them.

    >>> parse_json_values('{"a": 1} {"a": 2}', "x").value
    [{'a': 1}, {'a': 2}]

    Raises:
        DocumentError: It is not JSON; the message says where.
    """
    try:
        return parse_json(text, source)
    except DocumentError as error:
        if not isinstance(error.__cause__, json.JSONDecodeError):
            raise
        values = list(_values(text))
        if len(values) < 2:
            raise
        return Document(values, source, text, _Scanner(text).places_of(len(values)))


def _values(text: str) -> Iterator[Any]:
    """Yield the values of a text; none, if it is not JSON to its end."""
    decoder = json.JSONDecoder()
    values = []
    at = 0
    try:
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    except (ValueError, RecursionError):
        return
    yield from values


_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


class _Scanner:
    """Walks over a text that is known to be JSON and notes where values begin and end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._places: dict[Path, Position] = {}

    def places(self) -> dict[Path, Position]:
        self._value(self._space(0), ())
        return self._places

    def places_of(self, count: int) -> dict[Path, Position]:
        at = 0
        for number in range(count):
            at = self._value(self._space(at), (number,))
        return self._places

    def _space(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return at if space is None else space.end()

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def _value(self, at: int, path: Path, start: int | None = None) -> int:
        """Note a value; one with a name begins with its name."""
        begun = at if start is None else start
        sign = self._text[at]
        if sign == "{":
            end = self._members(at + 1, path)
        elif sign == "[":
            end = self._elements(at + 1, path)
        elif sign == '"':
            _, end = scanstring(self._text, at + 1)
        else:
            scalar = _SCALAR.match(self._text, at)
            end = at + 1 if scalar is None else scalar.end()
        self._places[path] = Position(*self._place(begun), *self._place(end))
        return end

    def _members(self, at: int, path: Path) -> int:
        at = self._space(at)
        while self._text[at] != "}":
            start = at
            name, at = scanstring(self._text, at + 1)
            at = self._space(self._space(at) + 1)
            at = self._space(self._value(at, (*path, name), start))
            if self._text[at] == ",":
                at = self._space(at + 1)
        return at + 1

    def _elements(self, at: int, path: Path) -> int:
        at = self._space(at)
        number = 0
        while self._text[at] != "]":
            at = self._space(self._value(at, (*path, number)))
            number += 1
            if self._text[at] == ",":
                at = self._space(at + 1)
        return at + 1


def parse_yaml(text: str, source: str) -> Document:
    """Read YAML in which ``!Ref x`` stands for ``{"Ref": x}``, as in CloudFormation.

    Raises:
        DocumentError: It is not YAML, or PyYAML is not installed.
    """
    try:
        import yaml
    except ModuleNotFoundError as missing:
        raise DocumentError(NEEDS.format(path=source, module=missing.name)) from None

    class Loader(yaml.SafeLoader):
        """YAML with short intrinsic functions."""

    Loader.add_multi_constructor("!", _intrinsic)
    places: dict[Path, Position] = {}
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        if node is None:
            return Document(None, source, text)
        if unfolded_size(node) > MOST_VALUES:
            raise DocumentError(f"{source}: its aliases refer to themselves, or unfold too far")
        _note(node, (), places, 0)
        return Document(loader.construct_document(node), source, text, places)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise DocumentError(f"{source}{line}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DocumentError(f"{source}: not YAML: {str(error).splitlines()[0]}") from error


def _intrinsic(loader: Any, suffix: str, node: Any) -> Any:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if node.id == "scalar":
        return {name: loader.construct_scalar(node)}
    construct = loader.construct_sequence if node.id == "sequence" else loader.construct_mapping
    return {name: construct(node, deep=True)}


#: How many values a file may unfold to.
MOST_VALUES: Final = 1_000_000


def unfolded_size(node: Any) -> float:
    """Return how many values a node of YAML unfolds to; one that is in itself has no end."""
    return _size(node, {})


def _size(node: Any, sizes: dict[Any, float]) -> float:
    if node not in sizes:
        sizes[node] = math.inf
        children = () if node.id == "scalar" else node.value
        sizes[node] = 1 + sum(
            _size(child, sizes)
            for entry in children
            for child in (entry if isinstance(entry, tuple) else (entry,))
        )
    return sizes[node]


_DEEPEST: Final = 60
_MOST_PLACES: Final = 50_000


def _note(
    node: Any, path: Path, places: dict[Path, Position], depth: int, start: Any = None
) -> None:
    """Note where a node and those in it stand; a member begins with its name."""
    begin, end = start or node.start_mark, node.end_mark
    # A block ends where the next thing begins, which says nothing about its own last line.
    is_block = node.id != "scalar" and not node.flow_style
    ends = () if is_block else (end.line + 1, end.column + 1)
    places[path] = Position(begin.line + 1, begin.column + 1, *ends)
    if depth > _DEEPEST or len(places) > _MOST_PLACES:
        return  # many aliases
    if node.id == "mapping":
        for key, value in node.value:
            if key.id == "scalar":
                _note(value, (*path, key.value), places, depth + 1, key.start_mark)
    elif node.id == "sequence":
        for number, value in enumerate(node.value):
            _note(value, (*path, number), places, depth + 1)
