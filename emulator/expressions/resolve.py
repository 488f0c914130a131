"""Placeholders, and the two caches that make a repeated expression cheap.

A text is parsed and checked once; what it becomes under given names is compiled once. Both
are kept in bounded caches, shared by all threads. A request then only looks its values up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from emulator.expressions.ast import LiteralValue, Node, Path, walk
from emulator.expressions.checks import check_text
from emulator.expressions.parser import parse
from emulator.model import SHORT_NAME, Value, check_name
from emulator.service.errors import RequestFault, ValidationException

#: How many texts, and how many compiled forms of each kind, are kept.
CACHE_ENTRIES: Final = 1024

NAMES: Final = "ExpressionAttributeNames"
VALUES: Final = "ExpressionAttributeValues"
EMPTY_MAP: Final = "{member} must not be empty"
INVALID_KEY: Final = '{member} contains invalid key: Syntax error; key: "{key}"'
BAD_TARGET: Final = "ExpressionAttributeNames contains invalid value: {message} for key {key}"
UNUSED: Final = "Value provided in {member} unused in expressions: keys: {{{keys}}}"

_KEYS: Final = {
    NAMES: re.compile(r"#[A-Za-z0-9_]{1,254}"),
    VALUES: re.compile(r":[A-Za-z0-9_]{1,254}"),
}

Values: TypeAlias = Mapping[str, Value]
#: The attribute names behind an expression's name placeholders; None where undefined.
Targets: TypeAlias = tuple[str | None, ...]


class ParsedExpression:
    """A parsed text: its tree and the placeholders it uses, each in order of first use."""

    __slots__ = ("aliases", "kind", "literals", "root")

    def __init__(self, kind: str, root: Node) -> None:
        self.kind = kind
        self.root = root
        self.aliases = _distinct(
            part
            for node in walk(root)
            if isinstance(node, Path)
            for part in node.parts
            if isinstance(part, str) and part.startswith("#")
        )
        self.literals = _distinct(
            node.name for node in walk(root) if isinstance(node, LiteralValue)
        )

    def names(self, targets: Targets) -> dict[str, str]:
        """Return the attribute name of each defined placeholder."""
        pairs = zip(self.aliases, targets, strict=True)
        return {alias: target for alias, target in pairs if target is not None}


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=CACHE_ENTRIES)
def read(kind: str, text: str) -> ParsedExpression:
    """Return the parsed text, from the cache if it was read before.

    Raises:
        RequestFault: whatever the text alone shows to be wrong.
    """
    root = parse(kind, text)
    check_text(kind, root)
    return ParsedExpression(kind, root)


class Placeholders:
    """The names and values of one request, and which of them have been used.

    Args:
        names: ExpressionAttributeNames.
        values: ExpressionAttributeValues, loaded.
        checked: Whether ``check_placeholder_keys`` has seen them already.

    >>> from emulator.expressions import parse_condition
    >>> placeholders = Placeholders({"#s": "status"}, {":v": "open", ":w": "shut"})
    >>> parse_condition("#s = :v", placeholders).holds({"status": "open"})
    True
    >>> placeholders.check_unused()
    Traceback (most recent call last):
    emulator.service.errors.RequestFault: Value provided in ExpressionAttributeValues unused in
    expressions: keys: {:w}
    """

    __slots__ = ("_used_names", "_used_values", "names", "values")

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Values | None = None,
        *,
        checked: bool = False,
    ) -> None:
        if not checked:
            check_placeholder_keys(names, values)
        self.names: Mapping[str, str] = {} if names is None else names
        self.values: Values = {} if values is None else values
        self._used_names: set[str] = set()
        self._used_values: set[str] = set()

    def use(self, parsed: ParsedExpression) -> Targets:
        """Note the placeholders of an expression; return the names that its aliases stand for."""
        self._used_values.update(parsed.literals)
        aliases = parsed.aliases
        if not aliases:
            return ()
        self._used_names.update(aliases)
        get = self.names.get
        return tuple([get(alias) for alias in aliases])

    def check_unused(self) -> None:
        """Refuse placeholders that no expression of the request uses (PLH-2, PLH-9).

        Raises:
            RequestFault: names are reported before values.
        """
        if not self.names.keys() <= self._used_names:
            raise _unused(NAMES, self.names, self._used_names)
        if not self.values.keys() <= self._used_values:
            raise _unused(VALUES, self.values, self._used_values)


def _unused(member: str, defined: Mapping[str, object], used: set[str]) -> RequestFault:
    unused = [key for key in defined if key not in used]
    return RequestFault(UNUSED.format(member=member, keys=", ".join(unused)))


def check_placeholder_keys(
    names: Mapping[str, str] | None, values: Mapping[str, object] | None
) -> None:
    """Refuse empty maps, malformed keys and empty targets (PLH-4, LEX-4, PLH-7).

    Of ``values`` only the keys are looked at, so it may still be in wire form.

    Assumed: a key longer than 255 characters is reported as any other malformed one.
    """
    if names is not None:
        if not names:
            raise RequestFault(EMPTY_MAP.format(member=NAMES))
        for key in names:
            _check_key(NAMES, key)
        for key, target in names.items():
            if not 0 < len(target) <= SHORT_NAME:
                _check_target(key, target)
    if values is not None:
        if not values:
            raise RequestFault(EMPTY_MAP.format(member=VALUES))
        for key in values:
            _check_key(VALUES, key)


def _check_target(key: str, target: str) -> None:
    try:
        check_name(target)
    except ValidationException as bad:
        raise RequestFault(BAD_TARGET.format(message=bad.message, key=key)) from None


@lru_cache(maxsize=CACHE_ENTRIES)
def _check_key(member: str, key: str) -> None:
    """Refuse a malformed key; one that is well formed is not judged again."""
    if _KEYS[member].fullmatch(key) is None:
        raise RequestFault(INVALID_KEY.format(member=member, key=key))
