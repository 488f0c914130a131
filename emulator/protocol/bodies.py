"""Bodies: the JSON that requests and answers are written in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from emulator.service.errors import SerializationException

AMZ_JSON: Final = "application/x-amz-json-1.0"

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is not a number anyone can hold")
    return number


_decode = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite).decode
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def encode_json(members: Mapping[str, Any]) -> bytes:
    """Return compact JSON in ASCII, which is UTF-8 (WIR-16).

    >>> encode_json({"TableNames": ["a", "b"]})
    b'{"TableNames":["a","b"]}'
    """
    return _encode(members).encode()


def decode_json(body: bytes) -> dict[str, Any]:
    r"""Return the JSON object in ``body``; of a member given twice the last one counts.

    Raises:
        SerializationException: it is not UTF-8, not JSON, not an object, or holds half of a
            surrogate pair, which no UTF-8 text can hold.

    >>> decode_json(b'{"a": 1, "a": 2}')
    {'a': 2}
    """
    try:
        text = body.decode()
        members = _decode(text)
        if "\\u" in text and _SURROGATE_ESCAPE.search(text):
            json.dumps(members, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise SerializationException from None
    if not isinstance(members, dict):
        raise SerializationException
    return members
