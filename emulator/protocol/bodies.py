"""Bodies: the JSON that requests and answers are written in.

Answers are written by orjson if it is installed (the extra ``fast``), which takes a tenth of the
time. Requests are read by Python's own decoder either way, which is stricter.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn

from emulator.service.errors import SerializationException

AMZ_JSON: Final = "application/x-amz-json-1.0"
#: Written at a time of a long page, in less than a millisecond if they are small.
_PIECE_ITEMS: Final = 64

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is too long for a number")
    return number


_decoder: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_COMPACT: Final = (",", ":")
_encode = json.JSONEncoder(separators=_COMPACT, check_circular=False, ensure_ascii=False).encode
_encode_ascii = json.JSONEncoder(separators=_COMPACT, check_circular=False).encode


def encode_json(members: Mapping[str, Any] | list[Any]) -> bytes:
    """Return compact JSON in UTF-8 (WIR-16).

    >>> encode_json({"TableNames": ["a", "b"]})
    b'{"TableNames":["a","b"]}'
    """
    return _encoder()(members)


def encode_page(items: list[Any], others: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the JSON of an answer with many items, in pieces of about equal work.

    Args:
        items: The member ``Items``; each is gone when it is written, so that a page of 60,000
            objects is not taken apart in one go either.
        others: The members that come after it.

    >>> b"".join(encode_page([{"a": {"N": "1"}}], {"Count": 1}))
    b'{"Items":[{"a":{"N":"1"}}],"Count":1}'
    """
    yield b'{"Items":['
    while items:
        piece, items[:_PIECE_ITEMS] = items[:_PIECE_ITEMS], []
        written = encode_json(piece)[1:-1]
        yield written + b"," if items else written
    closing = encode_json(others)[1:]
    yield b"]," + closing if others else b"]" + closing


@functools.cache
def _encoder() -> Callable[[Mapping[str, Any] | list[Any]], bytes]:
    """Return what encodes here; looked for at the first answer, so that importing costs nothing."""
    try:
        from orjson import dumps
    except ImportError:
        return encode_plainly

    def encode(members: Mapping[str, Any] | list[Any]) -> bytes:
        try:
            encoded: bytes = dumps(members)
        except TypeError:  # a number of more than 64 bits, or half of a surrogate pair
            return encode_plainly(members)
        return encoded

    return encode


def encode_plainly(members: Mapping[str, Any] | list[Any]) -> bytes:
    """Return compact JSON in UTF-8, written by Python's own encoder."""
    try:
        return _encode(members).encode()
    except UnicodeEncodeError:
        return _encode_ascii(members).encode()


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
        members, end = _decoder.raw_decode(text) if text[:1] == "{" else (None, 0)
        if end != len(text):  # hardly ever: there is white space around it, or more
            members = _decoder.decode(text)
        if "\\u" in text and _SURROGATE_ESCAPE.search(text):
            json.dumps(members, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise SerializationException from None
    if not isinstance(members, dict):
        raise SerializationException
    return members
