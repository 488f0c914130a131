"""Fields: what the head of every answer says (WIR-11)."""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Iterator
from email.utils import formatdate
from typing import Final

#: Observed: request ids quoted in public bug reports end with these 26 characters.
_REQUEST_ID_END: Final = "VV4KQNSO5AEMVJF66Q9ASUAAJG"
_REQUEST_ID_DIGITS: Final = 52 - len(_REQUEST_ID_END)
_GAP: Final = "\0"  # in no field
_REQUEST_ID: Final = f"%0{_REQUEST_ID_DIGITS}X{_REQUEST_ID_END}"


def request_ids(first: int) -> Iterator[str]:
    """Yield request ids of 52 characters, numbered from ``first``.

    >>> next(request_ids(255))
    '000000000000000000000000FFVV4KQNSO5AEMVJF66Q9ASUAAJG'
    """
    numbers = itertools.count(first % 16 ** (_REQUEST_ID_DIGITS - 1))
    return map(_REQUEST_ID.__mod__, numbers)


#: The request ids of this process; they begin with 1, so that runs repeat.
_ids: Final = request_ids(1)


def next_request_id() -> str:
    """Return the next request id of this process."""
    return next(_ids)


def response_fields(
    body: bytes,
    *,
    content_type: str,
    seconds: int,
    request_id: str,
    connection: str | None = None,
) -> dict[str, str]:
    """Return the fields of an answer; the checksum is of the body as sent.

    Args:
        body: The body to send.
        content_type: Of the body.
        seconds: The time of the answer, since the epoch.
        request_id: One of ``request_ids``.
        connection: Whether more may follow: ``keep-alive``, ``close``, or None without a network.
    """
    return _fields(
        content_type, seconds, connection, str(len(body)), request_id, str(zlib.crc32(body))
    )


@functools.lru_cache(maxsize=16)
def response_lines(content_type: str, seconds: int, connection: str) -> list[str]:
    r"""Return the lines of all answers of one second, in four pieces.

    Between them come the length of the body, the request id and the checksum.

    >>> response_lines("text/plain", 0, "close")[1:]
    ['\r\nConnection: close\r\nx-amzn-RequestId: ', '\r\nx-amz-crc32: ', '\r\n']
    """
    fields = _fields(content_type, seconds, connection, _GAP, _GAP, _GAP)
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).split(_GAP)


def _fields(
    content_type: str,
    seconds: int,
    connection: str | None,
    length: str,
    request_id: str,
    checksum: str,
) -> dict[str, str]:
    """Return the fields of an answer, in the service's order."""
    fields = {
        "Server": "Server",
        "Date": _http_date(seconds),
        "Content-Type": content_type,
        "Content-Length": length,
    }
    if connection is not None:
        fields["Connection"] = connection
    fields["x-amzn-RequestId"] = request_id
    fields["x-amz-crc32"] = checksum
    return fields


@functools.lru_cache(maxsize=2)  # a server's real time and an emulator's virtual one
def _http_date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)
