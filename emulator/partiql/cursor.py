"""The kit that the productions of the PartiQL parser are written in.

A syntax error ends the reading at once. What is wrong with a statement that can be read is
noted, and reported when it was read to its end, the first fault first (ERR-PQL-1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from emulator.expressions import END, INDEX_RANGE, MAX_INDEX, NAME, TOO_DEEP, Token
from emulator.expressions import ast as trees
from emulator.model import Value
from emulator.partiql.lexer import NUMBER, STRING, not_well_formed, tokenize
from emulator.partiql.reserved import KEYWORDS
from emulator.service.errors import ValidationException
from emulator.service.limits import PATH_COMPONENTS

PLACED: Final = "{message} at {line}:{column}:{length}"
EMPTY_PART: Final = "Path component cannot be an empty string"
UNPIVOT: Final = "Unpivot path component like a.*.b are not supported"
WILDCARD: Final = "Wildcard path component like a[*].b are not supported"
_OPERATORS: Final = frozenset((
    "AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "UNION", "EXCEPT", "INTERSECT",
    "=", "<>", "!=", "<", "<=", ">", ">=", "*", "/", "%", "||",
))  # fmt: skip


class Cursor:
    """A place among the tokens of a statement, and what was found on the way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0
        self._faults: list[str] = []
        self._aliases: dict[str, str] = {}
        self._constants: dict[str, Value] = {}
        self._parameters = 0

    # Tokens

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _peek(self, kind: str, ahead: int = 0) -> bool:
        position = min(self._position + ahead, len(self._tokens) - 1)
        return self._tokens[position].kind == kind

    def _optional(self, kind: str) -> bool:
        is_there = self._peek(kind)
        self._position += is_there
        return is_there

    def _next(self) -> Token:
        token = self._token
        self._position += token.kind != END
        return token

    def _expect(self, kind: str, detail: str | None = None) -> Token:
        if not self._peek(kind):
            self._refuse(detail)
        return self._next()

    def _delimited(self, close: str, read: Callable[[], None]) -> None:
        """Read ``[ item { "," item } ] close``."""
        if self._optional(close):
            return
        read()
        while not self._optional(close):
            self._expect(",")
            read()

    def _refuse(self, detail: str | None = None) -> NoReturn:
        """Raise the error of a token that cannot stand here (PQL-11)."""
        if detail is None:
            detail = "Unexpected term"
            if self._token.kind in _OPERATORS:
                detail = "Unexpected operator"
            elif self._token.kind in KEYWORDS:
                detail = "Unexpected keyword"
        raise not_well_formed(detail)

    # Faults

    def _note(self, fault: str, at: Token | None = None) -> None:
        """Note what is wrong with a statement that can be read."""
        self._faults.append(fault if at is None else self._placed(fault, at))

    def _placed(self, message: str, token: Token) -> str:
        """Add a place to a message: line, column and length, all from one.

        Observed: the public suite, October 2026, function and path messages.
        """
        start = token.start
        return PLACED.format(
            message=message,
            line=self._text.count("\n", 0, start) + 1,
            column=start - self._text.rfind("\n", 0, start),
            length=token.end - start,
        )

    def _tell_faults(self) -> None:
        if self._faults:
            raise ValidationException(self._faults[0])

    # Placeholders

    def _constant(self, value: Value) -> trees.LiteralValue:
        name = f":c{len(self._constants)}"
        self._constants[name] = value
        return trees.LiteralValue(name=name)

    def _parameter(self) -> trees.LiteralValue:
        name = f":p{self._parameters}"
        self._parameters += 1
        return trees.LiteralValue(name=name)

    def _alias(self, name: str) -> str:
        return self._aliases.setdefault(name, f"#{len(self._aliases)}")

    def _path_of(self, parts: list[str | int]) -> trees.Path:
        """Return a path with its names as placeholders."""
        if len(parts) > PATH_COMPONENTS:
            self._note(TOO_DEEP.format(count=len(parts)))
        return trees.Path(parts=tuple(p if isinstance(p, int) else self._alias(p) for p in parts))

    # Paths

    def _parts(self) -> list[str | int]:
        """Read ``name { "." name | "[" index "]" | "[" string "]" }``."""
        parts: list[str | int] = [self._part(self._expect(NAME).text)]
        while True:
            if self._optional("."):
                parts.append(self._dotted())
            elif self._optional("["):
                parts.append(self._indexed())
                self._expect("]")
            else:
                return parts

    def _dotted(self) -> str:
        if self._optional("*"):
            self._note(UNPIVOT)
            return "*"
        return self._part(self._expect(NAME, "Invalid path dot component").text)

    def _indexed(self) -> str | int:
        if self._optional("*"):
            self._note(WILDCARD)
            return 0
        if self._peek(STRING):
            return self._part(self._next().text)
        negative = self._optional("-")
        token = self._expect(NUMBER)
        if not token.text.isdigit():
            raise not_well_formed("Unexpected term")
        index = -int(token.text[:_INDEX_DIGITS]) if negative else int(token.text[:_INDEX_DIGITS])
        if not 0 <= index <= MAX_INDEX:
            shown = f"-{token.text}" if negative else token.text
            self._note(INDEX_RANGE.format(index=shown), token)
            return 0
        return index

    def _part(self, name: str) -> str:
        if not name:
            self._note(EMPTY_PART)
        return name


# More digits are out of range, whatever they are; Python refuses to read very many.
_INDEX_DIGITS: Final = 100
