"""Opaque tokens: what a client hands back to go on, and should not look into."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from emulator.errors import ValidationException

#: Assumed: the text.
BAD_TOKEN: Final = "Invalid NextToken provided"


def seal(*parts: str) -> str:
    """Return a token that carries these texts.

    >>> open_token(seal("a", "b"))
    ('a', 'b')
    """
    return base64.urlsafe_b64encode("\n".join(parts).encode()).decode()


def open_token(token: str, message: str = BAD_TOKEN) -> tuple[str, ...]:
    """Return the texts that a token carries.

    Raises:
        ValidationException: it is none of ours.
    """
    try:
        return tuple(base64.b64decode(token, altchars=b"-_", validate=True).decode().split("\n"))
    except (binascii.Error, ValueError):
        raise ValidationException(message) from None
