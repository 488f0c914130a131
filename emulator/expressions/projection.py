"""Projections: parts of an item, cut out along document paths. Rules PRJ-1 to PRJ-5.

The same cut makes the answers UPDATED_OLD and UPDATED_NEW of an update (UIT-3, UIT-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from emulator.expressions import resolve
from emulator.expressions.ast import Path, walk
from emulator.expressions.checks import document_path, paths_are_separate
from emulator.expressions.parser import PROJECTION
from emulator.model import MISSING, Attributes, Missing, Value
from emulator.model import Path as DocumentPath

#: What to keep below each part of a path; nothing below means all of it.
_Cut: TypeAlias = "dict[str | int, _Cut]"


class PathProjection:
    """Document paths to keep of an item.

    Attributes:
        paths: The paths, in the order given.
        names: The distinct top-level names.

    >>> projection = parse_projection("a.b, l[2], l[0]", resolve.Placeholders())
    >>> projection.pick({"a": {"b": "x", "c": "y"}, "l": ("p", "q", "r")})
    {'a': {'b': 'x'}, 'l': ('p', 'r')}
    """

    __slots__ = ("_cut", "names", "paths")

    def __init__(self, paths: tuple[DocumentPath, ...]) -> None:
        self.paths = paths
        self.names = tuple(dict.fromkeys(str(path[0]) for path in paths))
        self._cut = None if len(paths) == sum(map(len, paths)) else _cut(paths)

    @classmethod
    def of_names(cls, names: Sequence[str]) -> PathProjection:
        """Return the projection of distinct top-level names, as of AttributesToGet (LEG-10)."""
        return cls(tuple((name,) for name in names))

    def pick(self, attributes: Attributes) -> dict[str, Value]:
        """Return an item's values under the paths; missing ones are left out."""
        if self._cut is None:
            return {name: attributes[name] for name in self.names if name in attributes}
        return _pick(attributes, self._cut)


def parse_projection(text: str, placeholders: resolve.Placeholders) -> PathProjection:
    """Return the projection that a text writes.

    Raises:
        RequestFault: the text, a name placeholder, or two paths are at fault.
    """
    parsed = resolve.read(PROJECTION, text)
    return _projection(parsed, placeholders.use(parsed))


@lru_cache(maxsize=resolve.CACHE_ENTRIES)
def _projection(parsed: resolve.ParsedExpression, targets: resolve.Targets) -> PathProjection:
    names = parsed.names(targets)
    paths = tuple(
        document_path(PROJECTION, node, names)
        for node in walk(parsed.root)
        if isinstance(node, Path)
    )
    paths_are_separate(PROJECTION, paths)
    return PathProjection(paths)


def fragment(attributes: Attributes, paths: Sequence[DocumentPath]) -> dict[str, Value]:
    """Return an item's values under the paths, as pruned fragments.

    >>> fragment({"m": {"a": "x", "b": "y"}, "n": "z"}, [("m", "a")])
    {'m': {'a': 'x'}}
    """
    return _pick(attributes, _cut(paths))


def _cut(paths: Sequence[DocumentPath]) -> _Cut:
    root: _Cut = {}
    for path in paths:
        below = root
        for part in path:
            below = below.setdefault(part, {})
    return root


def _pick(attributes: Attributes, cut: _Cut) -> dict[str, Value]:
    picked = {
        str(name): _prune(attributes[str(name)], below)
        for name, below in cut.items()
        if name in attributes
    }
    return {name: value for name, value in picked.items() if not isinstance(value, Missing)}


def _prune(value: Value, cut: _Cut) -> Value | Missing:
    """Return the part of a value that is kept, or MISSING if there is none (PRJ-2)."""
    if not cut:
        return value
    if isinstance(value, dict):
        return _pick(value, cut) or MISSING
    if isinstance(value, tuple):
        kept = [
            _prune(value[index], cut[index])
            for index in sorted(part for part in cut if isinstance(part, int))
            if index < len(value)
        ]
        return tuple([member for member in kept if not isinstance(member, Missing)]) or MISSING
    return MISSING
