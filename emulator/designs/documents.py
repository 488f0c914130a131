"""JSON and YAML documents that know where each of their values stands (ICH-5).

How large a file may be, and how deep what is in it, is decided here for all designs and lab files.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias, cast

from emulator import files
from emulator.designs.findings import Position
from emulator.service.errors import DocumentError

#: The largest design or lab file (ICH-6).
MOST_BYTES: Final = 10_000_000
#: How many lists, objects and blocks may lie in each other (ICH-6).
MOST_DEPTH: Final = 100
#: How many values a file may unfold to.
MOST_VALUES: Final = 1_000_000

TOO_LARGE: Final = "{path}: a design or lab file has at most {most:,} bytes"
TOO_DEEP: Final = "{place}: nested too deeply: at most {most} levels"
ENDLESS: Final = "{place}: an alias refers to what it is in"
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
        r"""Return the part at a path as a document of its own, with its positions in this one.

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


def read_text(path: FilePath) -> str:
    """Return the text of a design or lab file.

    Raises:
        DocumentError: It cannot be read, or is too large.
    """
    try:
        with files.open_file(path) as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DocumentError(f"{path}: cannot be read: {reason}") from error
    if len(data) > MOST_BYTES:
        raise DocumentError(TOO_LARGE.format(path=path, most=MOST_BYTES))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def too_deep(source: str, line: int) -> DocumentError:
    """Return the complaint about a text that is nested too deeply."""
    return DocumentError(TOO_DEEP.format(place=f"{source}:{line}", most=MOST_DEPTH))


_NESTING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def check_depth(text: str, source: str) -> None:
    """Look how deep JSON is nested, before anything reads it.

    Raises:
        DocumentError: It is nested too deeply.
    """
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return
    depth = 0
    for token in _NESTING.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise too_deep(source, text.count("\n", 0, token.start()) + 1)
        elif token[0] in "]}":
            depth -= 1


def load_json(text: str, source: str) -> Any:
    """Return a JSON value.

    Raises:
        DocumentError: It is not JSON, or nested too deeply.
    """
    check_depth(text, source)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(f"{source}:{error.lineno}: not JSON: {error.msg}") from error
    except ValueError as error:  # a number with more digits than Python reads
        raise DocumentError(f"{source}: not JSON: {error}") from error


def parse_json(text: str, source: str) -> Document:
    """Read JSON.

    Raises:
        DocumentError: It is not JSON; the message says where.
    """
    value = load_json(text, source)
    return Document(value, source, text, _Scanner(text).places())


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
    at = _end_of_space(text, 0)
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
            at = _end_of_space(text, at)
    except ValueError:
        return
    yield from values


_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


def _end_of_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


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
        return _end_of_space(self._text, at)

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
    places: dict[Path, Position] = {}
    try:
        with yaml_complaints(source):
            loader, node = compose_yaml(text, source, {"!": _intrinsic})
            if node is None:
                return Document(None, source, text)
            _note(node, (), places, 0)
            return Document(loader.construct_document(node), source, text, places)
    except ModuleNotFoundError as missing:
        raise DocumentError(NEEDS.format(path=source, module=missing.name)) from None


@contextmanager
def yaml_complaints(source: str) -> Iterator[None]:
    """Turn what PyYAML complains of into a DocumentError."""
    import yaml

    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise DocumentError(f"{source}{line}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:  # or a number with more digits than Python reads
        raise DocumentError(f"{source}: not YAML: {str(error).splitlines()[0]}") from error


def compose_yaml(
    text: str, source: str, constructors: Mapping[str, Callable[..., Any]] = {}
) -> tuple[Any, Any]:
    """Return a loader of YAML and the root of a text's nodes, or None for an empty one.

    Args:
        text: The text.
        source: What complaints call it.
        constructors: What makes values of nodes whose tags begin so.

    Raises:
        DocumentError: It is nested too deeply, by itself or with its aliases unfolded.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        """PyYAML's safe loader, which composes no node that lies too deep.

        Its scanner takes time by the square of the depth, so it must not see the rest.
        """

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.depth > MOST_DEPTH:
                mark = cast("Any", self).peek_event().start_mark
                raise too_deep(source, mark.line + 1)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    for prefix, constructor in constructors.items():
        Loader.add_multi_constructor(prefix, constructor)
    loader = Loader(text)
    node = loader.get_single_node()
    if node is not None and _Unfolded(source).extent(node, 0)[0] > MOST_VALUES:
        raise DocumentError(f"{source}: its aliases unfold too far")
    return loader, node


def _intrinsic(loader: Any, suffix: str, node: Any) -> Any:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if node.id == "scalar":
        return {name: loader.construct_scalar(node)}
    construct = loader.construct_sequence if node.id == "sequence" else loader.construct_mapping
    return {name: construct(node, deep=True)}


class _Unfolded:
    """What nodes of YAML are with their aliases unfolded; each node is looked at once."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._extents: dict[Any, tuple[int, int] | None] = {}

    def extent(self, node: Any, depth: int) -> tuple[int, int]:
        """Return how many values a node has, and how many levels.

        Raises:
            DocumentError: It is in itself, or reaches too deep below ``depth`` levels.
        """
        line = node.start_mark.line + 1
        if node not in self._extents:
            self._extents[node] = None
            children = () if node.id == "scalar" else node.value
            inner = [
                self.extent(child, depth + 1)
                for entry in children
                for child in (entry if isinstance(entry, tuple) else (entry,))
            ]
            levels = 0 if node.id == "scalar" else 1 + max((below for _, below in inner), default=0)
            self._extents[node] = 1 + sum(size for size, _ in inner), levels
        extent = self._extents[node]
        if extent is None:
            raise DocumentError(ENDLESS.format(place=f"{self._source}:{line}"))
        if depth + extent[1] > MOST_DEPTH:
            raise too_deep(self._source, line)
        return extent


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
