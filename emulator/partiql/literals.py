"""Values written in a statement: texts, numbers, lists, maps and sets. Rules PQL-12, PQL-21.

A fault in a value names its place inside it, from ``root``: ``root.x``, ``root[1]``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Container
from decimal import Decimal
from typing import Final

from emulator.expressions import Token
from emulator.expressions import ast as trees
from emulator.model import NumberSet, StringSet, Value, parse_number, wire
from emulator.partiql.cursor import EMPTY_PART, Cursor
from emulator.partiql.lexer import ION, NUMBER, STRING, not_well_formed
from emulator.service import errors, limits

UNDER: Final = "{message} under {path}"
UNSUPPORTED_TYPE: Final = "Unsupported data type: {what} under key {path}"
EMPTY_BAG: Final = "Empty bags are not supported"
MIXED_BAG: Final = (
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
)
NUMBER_DUPLICATES: Final = wire.INVALID + "Input collection [{members}] contains duplicates!"
# Source: the list of validation messages of DynamoDB Local.
MISSING_VALUE: Final = "MISSING must be compared using IS operator"
ION_VALUE: Final = "Ion Literals are not supported: {text} under key {path}"
KEY_TYPE: Final = "Tuple keys must be of type String. Actual type: {kind} under {path}"
REPEATED_KEY: Final = "Duplicate keys in tuple. Key: {key} under {path}"

ROOT: Final = "root"
_JAVA_INTEGER: Final = range(-(2**31), 2**31)
_LONG_DIGITS: Final = 20

SIGNS: Final = frozenset("+-")
#: What can begin a value; a sign can, if a number follows.
BEGINNINGS: Final = frozenset(
    (STRING, NUMBER, ION, "TRUE", "FALSE", "NULL", "MISSING", "[", "{", "<<")
)


class LiteralParser(Cursor):
    """Reads the values of a statement."""

    def _begins_value(self) -> bool:
        tokens, ahead = self._tokens, self._position
        while tokens[ahead].kind in SIGNS:  # the last token is none
            ahead += 1
        kind = tokens[ahead].kind
        return kind == NUMBER if ahead > self._position else kind in BEGINNINGS

    def _value(self, path: str = ROOT, level: int = 1) -> Value:
        """Read one value at a level of nesting.

        Observed: another emulator's capture of eu-west-2, September 2026: a value in 32
        containers is refused, with the path that leads to it.
        """
        if level > limits.NESTING_LEVELS:
            raise errors.ValidationException(UNDER.format(message=wire.TOO_NESTED, path=path))
        if self._peek("-") or self._peek("+"):
            return self._signed(path)
        token = self._next()
        reader = _READERS.get(token.kind)
        if reader is not None:
            return reader(self, path, level)
        if token.kind == STRING:
            return token.text
        if token.kind == NUMBER:
            return self._number(token.text, path)
        return self._odd(token, path)

    def _odd(self, token: Token, path: str) -> Value:
        """Return the value of a word, or note that there is none."""
        if token.kind == "MISSING":
            self._note(MISSING_VALUE)
        elif token.kind == ION:
            self._note(ION_VALUE.format(text=token.text, path=path), token)
        return {"TRUE": True, "FALSE": False}.get(token.kind)

    def _signed(self, path: str) -> Value:
        """Read a number behind any count of signs.

        Observed: another emulator's capture of eu-west-2, September 2026: ``- - 1`` is 1.
        """
        negative = False
        while self._peek("-") or self._peek("+"):
            negative ^= self._next().kind == "-"
        text = self._expect(NUMBER).text
        return self._number(f"-{text}" if negative else text, path)

    def _number(self, text: str, path: str) -> Value:
        """Read a number as Java does, then as the service does (PQL-12).

        Observed: the public suite, October 2026: an exponent or a scale beyond 32 bits leaves
        nothing to say, everything else is reported with its place.
        """
        mantissa, _, exponent = text.replace("E", "e").partition("e")
        if exponent and not fits_java(exponent, len(mantissa.partition(".")[2])):
            raise not_well_formed()
        try:
            return parse_number(text)
        except errors.RequestFault as fault:
            self._note(UNDER.format(message=fault.message, path=path))
            return Decimal(0)

    # Containers

    def _list(self, path: str, level: int) -> Value:
        """Read the rest of ``"[" [ value { "," value } ] "]"``."""
        members: list[Value] = []
        self._delimited(
            "]", lambda: members.append(self._member(f"{path}[{len(members)}]", level + 1))
        )
        return tuple(members)

    def _map(self, path: str, level: int) -> Value:
        """Read the rest of ``"{" [ string ":" value { "," string ":" value } ] "}"``."""
        members: dict[str, Value] = {}

        def read() -> None:
            key = self._key(path, members)
            members[key] = self._member(f"{path}.{key}", level + 1)

        self._delimited("}", read)
        return members

    def _key(self, path: str, taken: Container[str]) -> str:
        """Read ``string ":"``."""
        token = self._next()
        if token.kind != STRING:
            self._note(KEY_TYPE.format(kind=token.kind, path=path))
        elif not token.text:
            self._note(EMPTY_PART)
        elif token.text in taken:
            self._note(REPEATED_KEY.format(key=token.text, path=path))
        self._expect(":")
        return token.text

    def _member(self, path: str, level: int) -> Value:
        """Read a member of a container: a value, and nothing that must be worked out."""
        if self._begins_value():
            return self._value(path, level)
        token = self._token
        node = self._expression()
        self._note(UNSUPPORTED_TYPE.format(what=_called(node, token), path=path), token)
        return None

    def _bag(self, path: str, _level: int) -> Value:
        """Read the rest of ``"<<" [ value { "," value } ] ">>"``: a set."""
        members: list[Value] = []
        texts: list[str] = []

        def read() -> None:
            start = self._token
            members.append(self._bag_member(path))
            end = self._tokens[self._position - 1].end
            texts.append(start.text if start.kind == STRING else self._text[start.start : end])

        self._delimited(">>", read)
        if not members:
            self._note(EMPTY_BAG)
            return None
        return self._set_of(members, texts, path)

    def _bag_member(self, path: str) -> Value:
        if self._begins_value() and self._token.kind in (STRING, NUMBER, "-", "+"):
            return self._value(path)
        self._note(MIXED_BAG, self._token)
        self._expression()
        return None

    def _set_of(self, members: list[Value], texts: list[str], path: str) -> Value:
        """Return the set of members of one type, each once (SET-4, SET-5).

        Observed: the public suite, October 2026, for texts; another emulator's capture of
        eu-west-2, September 2026, for numbers and for the mixture.
        """
        shown = ", ".join(texts)
        if all(isinstance(member, str) for member in members):
            strings = StringSet(str(member) for member in members)
            if len(strings) < len(members):
                self._note(wire.DUPLICATES.format(quoted="", plain=shown).text("older"))
            return strings
        numbers = NumberSet(member for member in members if isinstance(member, Decimal))
        if any(isinstance(member, str) for member in members):
            self._note(MIXED_BAG)
        elif len(numbers) < len(members):
            repeated = NUMBER_DUPLICATES.format(members=shown)
            self._note(UNDER.format(message=repeated, path=path))
        return numbers

    @abstractmethod
    def _expression(self, floor: int = 0) -> trees.Node:
        """Read an expression; the next floor of the parser does."""


def fits_java(exponent_text: str, fraction_digits: int = 0) -> bool:
    """Return whether exponent and scale of a number are integers of Java's (PQL-12).

    The scale is the exponent with the other sign, so that -2^31 is none that fits.
    """
    digits = exponent_text.lstrip("+-").lstrip("0")
    if len(digits) > _LONG_DIGITS:
        return False
    exponent = int(f"0{digits}") * (-1 if exponent_text.startswith("-") else 1)
    return exponent in _JAVA_INTEGER and fraction_digits - exponent in _JAVA_INTEGER


def _called(node: trees.Node, token: Token) -> str:
    """Return how a message calls what is no value."""
    if isinstance(node, trees.LiteralValue):
        return "Parameter"
    return node.name if isinstance(node, trees.Function) else token.text


_READERS: Final[dict[str, Callable[[LiteralParser, str, int], Value]]] = {
    "[": LiteralParser._list,
    "{": LiteralParser._map,
    "<<": LiteralParser._bag,
}
