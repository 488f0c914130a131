"""The lexer of PartiQL statements. Rule PQL-3.

Keywords are case-insensitive and their own kind, in upper case; names keep their case, and a
name in double quotes is never a keyword. Comments are white space.
"""

from __future__ import annotations

import re
from typing import Final

from emulator.expressions import END, NAME, Token
from emulator.partiql.reserved import KEYWORDS
from emulator.service.errors import ValidationException

#: Kinds of token; keywords and signs are their own kind.
STRING: Final = "string"
NUMBER: Final = "number"
ION: Final = "ion"
PARAMETER: Final = "?"
_QUOTED: Final = "quoted"
_SKIPPED: Final = "skipped"
_SIGN: Final = "sign"

NOT_WELL_FORMED: Final = "Statement wasn't well formed, can't be processed: {detail}"

_TOKEN: Final = re.compile(
    rf"(?P<{_SKIPPED}>[ \t\r\n\f\v]+|--[^\n]*|/\*.*?\*/)"
    rf"|(?P<{NAME}>[A-Za-z_$][A-Za-z0-9_$]*)"
    rf"|(?P<{_QUOTED}>\"(?:[^\"]|\"\")*\")"
    rf"|(?P<{STRING}>'(?:[^']|'')*')"
    rf"|(?P<{NUMBER}>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<{ION}>`[^`]*`)"
    rf"|(?P<{_SIGN}><<|>>|<=|>=|<>|!=|\|\||(?!/\*)[?()\[\]{{}}.,:;=<>+\-*/%])",
    re.DOTALL,
)


def not_well_formed(detail: str = "") -> ValidationException:
    """Return the error of a statement that cannot be read, to be raised (PQL-11)."""
    return ValidationException(NOT_WELL_FORMED.format(detail=detail))


def tokenize(statement: str) -> list[Token]:
    """Return the tokens of a statement, an end token last.

    Raises:
        ValidationException: a character starts no token, or a quote or comment stays open.

    >>> [token.kind for token in tokenize("select a, 'b' FROM t -- all")]
    ['SELECT', 'name', ',', 'string', 'FROM', 'name', 'end']
    """
    tokens: list[Token] = []
    position = 0
    while position < len(statement):
        match = _TOKEN.match(statement, position)
        if match is None:
            raise not_well_formed()
        position = match.end()
        if match.lastgroup != _SKIPPED:
            tokens.append(_token(match))
    tokens.append(Token(END, "", position, position))
    return tokens


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup or END, match[0]
    if kind == _SIGN:
        kind = text
    elif kind == NAME and text.upper() in KEYWORDS:
        kind = text.upper()
    elif kind == STRING:
        text = text[1:-1].replace("''", "'")
    elif kind == _QUOTED:
        kind, text = NAME, text[1:-1].replace('""', '"')
    return Token(kind, text, match.start(), match.end())
