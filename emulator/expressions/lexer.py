"""The lexer: one set of tokens for all four kinds of expression. Rules LEX-1 to LEX-6.

Keywords are tokens of their own in every kind, so ``set`` or ``and`` is never an attribute
name. A character that starts no token becomes a token by itself, for the parser to refuse.

Source: the token rules of the grammar that Amazon publishes with its DAX clients.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Kinds of token; keywords and signs are their own kind, in upper case.
NAME: Final = "name"
ALIAS: Final = "alias"
LITERAL: Final = "literal"
INDEX: Final = "index"
UNKNOWN: Final = "unknown"
SIGN: Final = "sign"
END: Final = "end"

#: How messages write the end of the expression (LEX-8).
END_TEXT: Final = "<EOF>"

KEYWORDS: Final = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"))

_TOKEN: Final = re.compile(
    rf"(?P<{NAME}>[A-Za-z][A-Za-z0-9_]*)"
    rf"|(?P<{ALIAS}>\#[A-Za-z0-9_]+)"
    rf"|(?P<{LITERAL}>:[A-Za-z0-9_]+)"
    rf"|(?P<{INDEX}>0|[1-9][0-9]*)"
    rf"|(?P<{SIGN}><>|<=|>=|[()\[\].,=<>+-])"
    rf"|(?P<{UNKNOWN}>[^ \t\r\n])"
)


class Token(NamedTuple):
    """One token, with its place in the source."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Return the tokens of an expression, an end token last.

    >>> [token.kind for token in tokenize("a <> :v and #b[0]")]
    ['name', '<>', 'literal', 'AND', 'alias', '[', 'index', ']', 'end']
    """
    tokens = [_token(match) for match in _TOKEN.finditer(text)]
    end = tokens[-1].end if tokens else 0
    tokens.append(Token(END, END_TEXT, end, end))
    return tokens


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or UNKNOWN
    text = match[0]
    if kind == SIGN:
        kind = text
    elif kind == NAME and text.upper() in KEYWORDS:
        kind = text.upper()
    return Token(kind, text, match.start(), match.end())
