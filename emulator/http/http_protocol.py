"""HTTP/1.1 as bytes: requests are read out of a stream, responses are written into one.

Nothing here waits, opens or closes anything; ``server.py`` moves the bytes. The parser is
strict: lines end with CRLF, one request has one length, and whatever is not HTTP is refused
with the service's own error instead of being guessed at.

Source: RFC 9112 (message syntax), RFC 9110 (fields); rules WIR-2, WIR-8, WIR-11, WIR-16.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final
from zlib import crc32

from emulator.protocol import request_ids, response_lines
from emulator.service import errors, limits

#: Observed: ScyllaDB's tests, run against the service, March 2025 (WIR-21).
HEAD_BYTES: Final = 16 * limits.KIB
#: Assumed: a chunk's size line carries a number and, rarely, an extension.
CHUNK_LINE_BYTES: Final = 256

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb"{1,32}) ([\x21-\x7e]+) HTTP/1\.([01])")
_REQUEST_LINE_START = re.compile(rb"\r?\Z|" + _TOKEN + rb"{1,32}(?: |\Z)")
_FIELD_NAME = re.compile(_TOKEN + rb"+")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_STRAY_LINE_END = re.compile(rb"(?<!\r)\n|\r(?=[^\n])")
_LINE_END: Final = re.compile(rb"[\r\n]")
_CONTROLS: Final = bytes(range(9)) + bytes(range(10, 32)) + b"\x7f"
_LENGTH_DIGITS: Final = 18

#: Fields that count once: a second length, target or credential makes a request ambiguous.
_SINGLE_FIELDS: Final = frozenset(
    {
        "access-control-request-headers",
        "access-control-request-method",
        "access-control-request-private-network",
        "authorization",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "host",
        "origin",
        "sec-fetch-site",
        "transfer-encoding",
        "x-amz-date",
        "x-amz-target",
    }
)
#: Fields whose lines clients repeat: each is read once and remembered whole.
_REPEATED_FIELDS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "amz-sdk-request",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "origin",
        "user-agent",
        "x-amz-date",
        "x-amz-target",
        "x-amz-user-agent",
    }
)
_MEMORIES_KEPT: Final = 512
_FIELD_LINE_BYTES: Final = 256  # of the longest line that is remembered


class HttpRequest:
    """One whole request: method, target, fields by their names in lower case, and the body."""

    __slots__ = ("body", "fields", "keep_alive", "method", "target")

    def __init__(self, method: str, target: str, fields: dict[str, str]) -> None:
        self.method = method
        self.target = target
        self.fields = fields
        self.body: bytes = b""
        self.keep_alive = True


class Phase(Enum):
    """How much of a request has arrived: nothing, a part of its head, the head."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()


# Python 3.11 calls a function to look up a member, and a request would do so ten times.
IDLE: Final = Phase.IDLE
_HEAD: Final = Phase.HEAD
_BODY: Final = Phase.BODY


class RequestParser:
    r"""Reads requests out of a stream that arrives in pieces of any size.

    >>> parser = RequestParser()
    >>> parser.feed(b"GET / HT")
    >>> parser.take() is None
    True
    >>> parser.feed(b"TP/1.1\r\n\r\n")
    >>> request = parser.take()
    >>> request.method, request.target, request.body
    ('GET', '/', b'')
    """

    __slots__ = (
        "_buffer",
        "_chunked",
        "_head_bytes",
        "_left_bytes",
        "_max_body_bytes",
        "_request",
        "_searched",
        "_start",
        "phase",
    )

    def __init__(
        self, *, body_bytes: int = limits.REQUEST_BYTES, head_bytes: int = HEAD_BYTES
    ) -> None:
        self.phase: Phase = IDLE  # how much of the next request has arrived
        self._max_body_bytes = body_bytes
        self._head_bytes = head_bytes
        self._buffer: bytes | bytearray = b""
        self._start = 0  # what lies before it is consumed
        self._searched = 0  # bytes after start that hold no end of the head
        self._request: HttpRequest | None = None  # its head is read, its body is not
        self._left_bytes = 0  # of a body with a length; of the limit when chunked
        self._chunked: bytearray | None = None

    @property
    def held_bytes(self) -> int:
        """How much of requests that are not yet whole has arrived."""
        chunked = 0 if self._chunked is None else len(self._chunked)
        return len(self._buffer) - self._start + chunked

    def feed(self, data: bytes) -> None:
        """Append what the connection received."""
        rest = self._buffer
        if self._start == len(rest):
            self._buffer = data
        elif isinstance(rest, bytearray):
            del rest[: self._start]
            rest += data
        else:
            self._buffer = bytearray(rest[self._start :])
            self._buffer += data
        self._start = 0
        if self.phase is IDLE:
            self.phase = _HEAD

    def take(self) -> HttpRequest | None:
        """Return the next whole request, or None until more has arrived.

        Raises:
            SerializationException: the bytes are not HTTP; nothing more can be read.
            RequestLineTooLongException: the request line is over the limit of a head; likewise.
            RequestEntityTooLargeException: the body is over the limit; likewise.
        """
        request = self._request
        if request is None:
            request = self._read_head()
            if request is None:
                return None
            self.phase = _BODY
            self._request = request
        if self._chunked is not None:
            if not self._read_chunks(request):
                return None
        else:
            end = self._start + self._left_bytes
            if len(self._buffer) < end:
                return None
            request.body = bytes(self._buffer[self._start : end])
            self._start = end
        self._request = None
        self.phase = IDLE if self._start == len(self._buffer) else _HEAD
        return request

    def awaits_continue(self) -> bool:
        """Return, once per request, whether the client waits for leave to send its body."""
        if self._request is None or self._request.fields.pop("expect", "").lower() != (
            "100-continue"
        ):
            return False
        return self._start == len(self._buffer)

    def _read_head(self) -> HttpRequest | None:
        buffer, start = self._buffer, self._start
        while buffer.startswith(b"\r\n", start):  # Source: RFC 9112 2.2, an empty line before
            start += 2
            self._searched = 0
        self._start = start
        if start == len(buffer):
            self.phase = IDLE
            return None
        try:
            end = self._find(b"\r\n\r\n", start + self._searched, start + self._head_bytes)
        except errors.SerializationException:
            self._check_request_line()
            raise
        if end < 0:
            self._check_partial_head()
            return None
        request = self._parse_head(bytes(buffer[start:end]))
        self._start = end + 4
        self._searched = 0
        return request

    def _check_request_line(self) -> None:
        """Refuse a request line that takes up the whole of a head that is too long."""
        start, end = self._start, self._start + self._head_bytes + 4
        is_one = _REQUEST_LINE_START.match(self._buffer, start, start + 33)
        if is_one and not _LINE_END.search(self._buffer, start, end):
            raise errors.RequestLineTooLongException

    def _check_partial_head(self) -> None:
        """Refuse at once what can no longer become a head, such as a TLS greeting."""
        buffer, start = self._buffer, self._start
        if not _REQUEST_LINE_START.match(buffer, start, start + 33) or _STRAY_LINE_END.search(
            buffer, start + self._searched
        ):
            raise errors.SerializationException
        self._searched = max(0, len(buffer) - start - 3)

    def _parse_head(self, head: bytes) -> HttpRequest:
        lines = head.split(b"\r\n")
        method, target, is_current = _request_lines[lines.pop(0)]
        fields = _parse_fields(lines)
        request = HttpRequest(method, target, fields)
        if "connection" in fields:
            wish = fields["connection"].lower()
            request.keep_alive = "close" not in wish if is_current else "keep-alive" in wish
        else:
            request.keep_alive = is_current
        self._expect_body(fields, chunks_allowed=is_current)
        return request

    def _expect_body(self, fields: dict[str, str], *, chunks_allowed: bool) -> None:
        length = fields.get("content-length")
        if "transfer-encoding" in fields:
            chunked = fields["transfer-encoding"].lower() == "chunked"
            if length is not None or not chunks_allowed or not chunked:
                raise errors.SerializationException
            self._chunked = bytearray()
            self._left_bytes = self._max_body_bytes
        elif length is None:
            self._left_bytes = 0
        elif not (length.isascii() and length.isdigit()):
            raise errors.SerializationException
        else:
            self._left_bytes = int(length[:_LENGTH_DIGITS])
            if self._left_bytes > self._max_body_bytes or len(length) > _LENGTH_DIGITS:
                raise errors.RequestEntityTooLargeException

    def _read_chunks(self, request: HttpRequest) -> bool:
        """Read chunks until the last.

        Source: RFC 9112 7.1, ``chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF``.
        """
        body = self._chunked
        assert body is not None
        while True:
            size_line_end = self._find(b"\r\n", self._start, self._start + CHUNK_LINE_BYTES)
            if size_line_end < 0:
                return False
            size = _CHUNK_SIZE.fullmatch(self._buffer, self._start, size_line_end)
            if size is None:
                raise errors.SerializationException
            size_bytes = int(size[1], 16)
            if size_bytes > self._left_bytes:
                raise errors.RequestEntityTooLargeException
            if size_bytes == 0:
                return self._read_trailer(request, size_line_end + 2)
            end = size_line_end + 2 + size_bytes
            if len(self._buffer) < end + 2:
                return False
            if not self._buffer.startswith(b"\r\n", end):
                raise errors.SerializationException
            body += self._buffer[size_line_end + 2 : end]
            self._left_bytes -= size_bytes
            self._start = end + 2

    def _read_trailer(self, request: HttpRequest, at: int) -> bool:
        """Skip the trailer fields after the last chunk and finish the body."""
        buffer = self._buffer
        if buffer.startswith(b"\r\n", at):
            end = at - 2
        else:
            end = self._find(b"\r\n\r\n", at, at + self._head_bytes)
            if end < 0:
                return False
            _parse_fields(bytes(buffer[at:end]).split(b"\r\n"))
        assert self._chunked is not None
        request.body = bytes(self._chunked)
        self._chunked = None
        self._start = end + 4
        return True

    def _find(self, mark: bytes, at: int, latest: int) -> int:
        """Return where ``mark`` comes, or -1; refuse once it cannot come in time."""
        mark_at = self._buffer.find(mark, at)
        if mark_at > latest or (mark_at < 0 and len(self._buffer) - len(mark) + 1 > latest):
            raise errors.SerializationException
        return mark_at


class _RequestLines(dict[bytes, tuple[str, str, bool]]):
    """Request lines that were read: method, target, and whether it is HTTP/1.1."""

    def __missing__(self, line: bytes) -> tuple[str, str, bool]:
        match = _REQUEST_LINE.fullmatch(line)
        if match is None:
            raise errors.SerializationException
        read = match[1].decode(), match[2].decode(), match[3] == b"1"
        _remember(self, line, read)
        return read


class _FieldLines(dict[bytes, tuple[str, str]]):
    """Field lines that were read: name and value."""

    def __missing__(self, line: bytes) -> tuple[str, str]:
        spelling, colon, value = line.partition(b":")
        if not colon or len(line.translate(None, _CONTROLS)) != len(line):
            raise errors.SerializationException
        name = _spellings[spelling]
        field = name, value.strip().decode("latin-1")
        if name in _REPEATED_FIELDS:
            _remember(self, line, field)
        return field


class _Spellings(dict[bytes, str]):
    """Names of fields as clients write them, each in one spelling."""

    def __missing__(self, spelling: bytes) -> str:
        if not _FIELD_NAME.fullmatch(spelling):
            raise errors.SerializationException
        name = spelling.decode().lower()
        _remember(self, spelling, name)
        return name


def _remember(memory: dict[bytes, Any], line: bytes, read: object) -> None:
    """Keep a line as it was read; a full memory is emptied, so that no client can spoil it."""
    if len(line) > _FIELD_LINE_BYTES:
        return
    if len(memory) >= _MEMORIES_KEPT:
        memory.clear()
    memory[line] = read


_request_lines: Final = _RequestLines()
_field_lines: Final = _FieldLines()
_spellings: Final = _Spellings()


def _parse_fields(lines: list[bytes]) -> dict[str, str]:
    """Check every field line, and return the fields by name."""
    fields = dict(map(_field_lines.__getitem__, lines))
    return fields if len(fields) == len(lines) else _joined_fields(lines)


def _joined_fields(lines: list[bytes]) -> dict[str, str]:
    """Return the fields by name, where some came more than once.

    Observed: ScyllaDB's tests, run against the service: of several
    Accept-Encoding fields only the first counts (WIR-22).
    """
    fields: dict[str, str] = {}
    for line in lines:
        name, value = _field_lines[line]
        if name not in fields:
            fields[name] = value
        elif name in _SINGLE_FIELDS:
            raise errors.SerializationException
        elif name != "accept-encoding":
            fields[name] += f", {value}"
    return fields


_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    413: "Request Entity Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_STATUS_LINES: Final = {
    status: f"HTTP/1.1 {status} {reason}\r\n" for status, reason in _REASONS.items()
}


class HttpResponse:
    """A response to send: status, content type, body, and further field lines."""

    __slots__ = ("body", "content_type", "field_lines", "status")

    def __init__(self, status: int, content_type: str, body: bytes, field_lines: str = "") -> None:
        self.status = status
        self.content_type = content_type
        self.body = body
        self.field_lines = field_lines


class ResponseWriter:
    r"""Turns responses into bytes, with the fields every answer of the service has.

    Args:
        now: Returns seconds since the epoch; SDKs correct their clocks by the Date field, so
            this is real time whatever clock the emulator runs on.
        seed: Where the sequence of request ids starts.

    >>> writer = ResponseWriter(now=lambda: 0.0, seed=1)
    >>> print(writer.render(HttpResponse(200, "text/plain", b"hi")).decode())
    HTTP/1.1 200 OK
    Server: Server
    Date: Thu, 01 Jan 1970 00:00:00 GMT
    Content-Type: text/plain
    Content-Length: 2
    Connection: keep-alive
    x-amzn-RequestId: 00000000000000000000000001VV4KQNSO5AEMVJF66Q9ASUAAJG
    x-amz-crc32: 3633523372
    <BLANKLINE>
    hi
    """

    def __init__(self, *, now: Callable[[], float], seed: int) -> None:
        self._now = now
        self._ids = request_ids(seed)

    def render(
        self, response: HttpResponse, *, keep_alive: bool = True, without_body: bool = False
    ) -> bytes:
        """Return the bytes of ``response``."""
        body = response.body
        connection = "keep-alive" if keep_alive else "close"
        status = response.status
        status_line = _STATUS_LINES.get(status) or f"HTTP/1.1 {status} Error\r\n"
        to_length, to_id, to_checksum, end = response_lines(
            response.content_type, int(self._now()), connection
        )
        head = (
            f"{status_line}{to_length}{len(body)}{to_id}{next(self._ids)}{to_checksum}"
            f"{crc32(body)}{end}{response.field_lines}\r\n"
        ).encode("latin-1")
        return head if without_body else head + body
