"""Documents: what a person wrote, each part knowing its file, line and field.

A workload or design is read from YAML or from plain dictionaries through the same entries, so
every complaint names the place and what was expected there.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO, TypeVar

from emulator.designs.documents import compose_yaml, read_text, yaml_complaints
from emulator.files import open_file
from emulator.service.errors import DocumentError

_T = TypeVar("_T")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)")
_BYTES: Final = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}
#: The texts that ``Entry.seconds`` and ``Entry.size_bytes`` read, as a JSON Schema has them.
DURATION_PATTERN: Final = rf"^\s*({_DURATION.pattern}\s*)+$"
SIZE_PATTERN: Final = f"^{_SIZE.pattern}$"
#: Where every field of a lab file is described.
SEE_SCHEMA: Final = "'dynamometer schema lab' describes them"


class Entry:
    """One value of a document, with where it stands.

    Attributes:
        value: A scalar, a list of entries, or a dictionary of entries.
        field: The path to it, such as ``designs[0].partition``.
        line: Its line in the file, from 1; None if it was not read from a file.
        source: The file's name, or what else it came from.

    >>> entry = Entry.of({"rate": 5, "name": "put"}, "workload")
    >>> entry.value["rate"].number()
    5.0
    >>> entry.value["name"].number()
    Traceback (most recent call last):
    emulator.service.errors.DocumentError: workload: name: expected a number, found 'put'
    """

    __slots__ = ("field", "line", "source", "value")

    def __init__(self, value: Any, *, field: str, source: str, line: int | None = None) -> None:
        self.value = value
        self.field = field
        self.source = source
        self.line = line

    @classmethod
    def of(cls, value: Any, source: str, field: str = "") -> Entry:
        """Wrap plain dictionaries, lists and scalars."""
        if isinstance(value, Mapping):
            inner: Any = {
                str(key): cls.of(child, source, _member(field, str(key)))
                for key, child in value.items()
            }
        elif isinstance(value, Sequence) and not isinstance(value, str):
            inner = [cls.of(child, source, f"{field}[{n}]") for n, child in enumerate(value)]
        else:
            inner = value
        return cls(inner, field=field, source=source)

    @classmethod
    def read(cls, path: Path) -> Entry:
        """Read a YAML file.

        Raises:
            DocumentError: The file cannot be read or is not YAML.
        """
        return cls.parse(read_text(path), str(path))

    @classmethod
    def parse(cls, text: str, source: str) -> Entry:
        """Read YAML text, keeping its lines.

        Raises:
            DocumentError: The text is not YAML.
        """
        with yaml_complaints(source):
            loader, node = compose_yaml(text, source)
            if node is None:
                raise DocumentError(f"{source}: the file is empty; expected workload and designs")
            return _Composer(loader, source).entry(node, "")

    def fail(self, expected: str, names: Iterable[str] = ()) -> NoReturn:
        """Raise the complaint that something else was expected here, perhaps one of these names."""
        self.complain(f"expected {expected}, found {self._shown()}{nearest(self.value, names)}")

    def complain(self, problem: str) -> NoReturn:
        """Raise a complaint about this entry."""
        line = "" if self.line is None else f":{self.line}"
        field = f" {self.field}:" if self.field else ""
        raise DocumentError(f"{self.source}{line}:{field} {problem}")

    def _shown(self) -> str:
        if isinstance(self.value, dict):
            return f"a mapping of {', '.join(map(repr, self.value))}" if self.value else "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return "nothing" if self.value is None else repr(self.value)

    # What an entry may be

    def members(
        self,
        required: Iterable[str] = (),
        optional: Iterable[str] = (),
        inner: Mapping[str, str] | None = None,
    ) -> dict[str, Entry]:
        """Return the members of a mapping, of which none is unknown or missing.

        Args:
            required: The names that must be there.
            optional: The names that may be there.
            inner: Names that belong further in, with their paths.
        """
        if not isinstance(self.value, dict):
            self.fail("a mapping")
        required = list(required)
        known = [*required, *optional]
        for name, entry in self.value.items():
            if name not in known:
                path = (inner or {}).get(name)
                hint = f"; did you mean {path!r}?" if path else nearest(name, known) or "."
                entry.complain(f"unknown field{hint} Known here: {', '.join(known)}; {SEE_SCHEMA}")
        for name in required:
            if name not in self.value:
                self.complain(f"the field {name!r} is missing")
        return self.value

    def mapping(self) -> dict[str, Entry]:
        """Return a mapping whose names are free."""
        if not isinstance(self.value, dict):
            self.fail("a mapping")
        return self.value

    def items(self, *, least: int = 0) -> list[Entry]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            self.fail("a list")
        if len(self.value) < least:
            self.complain(f"expected at least {least} entries, found {len(self.value)}")
        return self.value

    def text(self) -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            self.fail("a text")
        return self.value

    def number(
        self, *, least: float | None = None, above: float | None = None, most: float | None = None
    ) -> float:
        """Return a number within bounds."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            self.fail("a number")
        if least is not None and value < least:
            self.fail(f"a number of at least {least:g}")
        if above is not None and value <= above:
            self.fail(f"a number above {above:g}")
        if most is not None and value > most:
            self.fail(f"a number of at most {most:g}")
        return float(value)

    def integer(self, *, least: int = 0, most: int | None = None) -> int:
        """Return a whole number within bounds."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail("a whole number")
        if self.value < least:
            self.fail(f"a whole number of at least {least}")
        if most is not None and self.value > most:
            self.fail(f"a whole number of at most {most:,}")
        return int(self.value)

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def choice(self, choices: Mapping[str, _T]) -> _T:
        """Return the value that one of several words stands for."""
        if not isinstance(self.value, str) or self.value not in choices:
            self.fail(f"one of {', '.join(choices)}", choices)
        return choices[self.value]

    def seconds(self, *, above: float | None = 0, least: float | None = None) -> float:
        """Return a duration: a number of seconds, or a text such as ``1h30m``.

        >>> Entry.of("1h30m", "doc").seconds()
        5400.0
        """
        if isinstance(self.value, str):
            match = _DURATION.findall(self.value)
            if not match or _DURATION.sub("", self.value).strip():
                self.fail("a duration such as 90s, 15m, 1h or 30d")
            seconds = sum(float(number) * _SECONDS[unit] for number, unit in match)
            return Entry(seconds, field=self.field, source=self.source, line=self.line).number(
                above=above, least=least
            )
        return self.number(above=above, least=least)

    def size_bytes(self) -> int:
        """Return a size: a number of bytes, or a text such as ``10 KB``.

        >>> Entry.of("1.5 KB", "doc").size_bytes()
        1536
        """
        if isinstance(self.value, str):
            match = _SIZE.fullmatch(self.value)
            if match is None:
                self.fail("a size such as 300, 1.5 KB or 2 MB")
            size = float(match[1]) * _BYTES[match[2]]
            if size == inf:
                self.fail("a size that a number can tell")
            return round(size)
        return self.integer(least=1)


@contextmanager
def traffic_lines(path: Path) -> Iterator[TextIO]:
    """Open a file of traffic, to be read line by line: it may be of any size.

    Raises:
        DocumentError: It cannot be read.
    """
    try:
        with open_file(path) as file:
            yield io.TextIOWrapper(file, encoding="utf-8", newline="")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DocumentError(f"{path}: cannot be read: {reason}") from error


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the known one it resembles, if any.

    >>> nearest("userid", ["status", "userId"]), nearest("x", ["status", "userId"])
    ("; did you mean 'userId'?", '')
    """
    by_letters = {one.casefold(): one for one in known}
    near = get_close_matches(str(name).casefold(), by_letters, n=1)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""


def _is_finite(value: float) -> bool:
    """Return whether a number can be reckoned with; a whole one may be larger than any float."""
    return -inf < value < inf and abs(value) <= sys.float_info.max


def _member(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


class _Composer:
    """Turns YAML nodes into entries."""

    def __init__(self, loader: Any, source: str) -> None:
        self._loader = loader
        self._source = source

    def entry(self, node: Any, field: str) -> Entry:
        line = node.start_mark.line + 1
        if node.id == "mapping":
            value: Any = self._mapping(node, field)
        elif node.id == "sequence":
            value = [
                self.entry(child, f"{field}[{number}]") for number, child in enumerate(node.value)
            ]
        else:
            value = self._scalar(node)
        return Entry(value, field=field, source=self._source, line=line)

    def _mapping(self, node: Any, field: str) -> dict[str, Entry]:
        members: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key_node, value_node in node.value:
            name = str(key_node.value) if key_node.id == "scalar" else "?"
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged = self._merged(value_node, field) | merged
                continue
            if name in members:
                line = key_node.start_mark.line + 1
                raise DocumentError(
                    f"{self._source}:{line}: {_member(field, name)}: the field is given twice"
                )
            members[name] = self.entry(value_node, _member(field, name))
        return merged | members

    def _merged(self, node: Any, field: str) -> dict[str, Entry]:
        """Return the members that ``<<`` takes over from another mapping, or from several."""
        sources = node.value if node.id == "sequence" else [node]
        members: dict[str, Entry] = {}
        for source in sources:
            entry = self.entry(source, field)
            members = entry.mapping() | members
        return members

    def _scalar(self, node: Any) -> Any:
        if node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        return self._loader.construct_object(node)
