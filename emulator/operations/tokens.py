"""Opaque tokens: what a client hands back to go on, and should not look into."""

from __future__ import annotations

from typing import Final

from emulator.service.errors import ValidationException

#: Assumed: the text.
BAD_TOKEN: Final = "Invalid NextToken provided"
#: Tokens are groups of sixteen hexadecimal digits, as the service model has them for imports.
_GROUP_BYTES: Final = 8


def seal(*parts: str) -> str:
    """Return a token that carries these texts.

    >>> open_token(seal("a", ""))
    ('a', '')
    """
    text = "\n".join(parts).encode()
    return text.ljust(-(-len(text) // _GROUP_BYTES) * _GROUP_BYTES, b"\0").hex()


def open_token(token: str, message: str = BAD_TOKEN) -> tuple[str, ...]:
    """Return the texts that a token carries.

    Raises:
        ValidationException: it was not issued here.
    """
    try:
        return tuple(bytes.fromhex(token).decode().rstrip("\0").split("\n"))
    except ValueError:
        raise ValidationException(message) from None
