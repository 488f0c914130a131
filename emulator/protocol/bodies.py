"""Bodies: the JSON that requests and answers are written in.

Answers are written by orjson if it is installed (the extra ``fast``), which takes a tenth of the
time. Requests are read by Python's own decoder either way, which is stricter.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from emulator.service.errors import SerializationException

#: What JSON can write; the members of an answer are.
Json: TypeAlias = Mapping[str, Any] | list[Any] | str | int | float | None

AMZ_JSON: Final = "application/x-amz-json-1.0"

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


def encode_json(members: Json) -> bytes:
    """Return compact JSON in UTF-8 (WIR-16).

    >>> encode_json({"TableNames": ["a", "b"]})
    b'{"TableNames":["a","b"]}'
    """
    return _encoder()(members)


def encode_in_pieces(members: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the JSON of a long answer, in the bytes of ``encode_json``.

    Args:
        members: Those that are iterators of lists are written as one list each. A piece is written
            as it comes and gone when the next is asked for, so that a page of 60,000 objects is
            not taken apart in one go either.

    >>> b"".join(encode_in_pieces({"Items": iter([[1, 2], [3]]), "Count": 3}))
    b'{"Items":[1,2,3],"Count":3}'
    """
    opening = b"{"
    for name, value in members.items():
        yield opening + encode_json(name) + b":"
        if isinstance(value, Iterator):
            yield from _list_in_pieces(value)
        elif isinstance(value, Mapping):
            yield from encode_in_pieces(value)
        else:
            yield encode_json(value)
        opening = b","
    yield b"}" if members else b"{}"


def _list_in_pieces(pieces: Iterator[list[Any]]) -> Iterator[bytes | memoryview]:
    opening = b"["
    for piece in pieces:
        yield opening
        yield memoryview(encode_json(piece))[1:-1]  # without its brackets, and without a copy
        opening = b","
    yield b"]" if opening == b"," else b"[]"


@functools.cache
def _encoder() -> Callable[[Json], bytes]:
    """Return the JSON encoder; chosen at the first answer, so that importing costs nothing."""
    try:
        from orjson import dumps
    except ImportError:
        return encode_plainly

    def encode(members: Json) -> bytes:
        try:
            encoded: bytes = dumps(members)
        except TypeError:  # a number of more than 64 bits, or half of a surrogate pair
            return encode_plainly(members)
        return encoded

    return encode


def encode_plainly(members: Json) -> bytes:
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
