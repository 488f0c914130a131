"""The service's JSON 1.0 protocol: which request is answered, and how the others are refused.

The order of rejection is observable (WIR-2): method and content type, JSON, target,
credentials, empty body; member types and everything after them belong to the operation.

Observed: the order, the bodies and the checksums, in the connection tests of a Node emulator
that were recorded against the service; by a Rust emulator again in 2026.
"""

from __future__ import annotations

import logging
import math
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from emulator import protocol
from emulator.api import LongAnswer
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.origins import Origins, preflight_lines
from emulator.service import errors, limits
from emulator.service.catalogue import DYNAMODB, OPERATIONS, UNSERVED_OPERATIONS

PLAIN_JSON: Final = "application/json"
#: Observed: ScyllaDB's tests, run against the service (WIR-22).
COMPRESSED_FROM_BYTES: Final = 4 * limits.KIB
#: Assumed: no client compresses a body more than twice, or in more parts than this.
_MOST_ENCODINGS: Final = 2
_MOST_MEMBERS: Final = 1024
_PIECE_BYTES: Final = 64 * limits.KIB

INTERNAL_FAULT = (
    "The request processing has failed because of an unknown error, exception or failure."
)

#: By what ``X-Amz-Target`` says; those that are not served are refused by name.
_OPERATIONS: Final = {
    **{f"{DYNAMODB}_20120810.{name}": name for name in UNSERVED_OPERATIONS},
    **{f"{row.api}_20120810.{name}": name for name, row in OPERATIONS.items()},
}

_log = logging.getLogger(__name__)

_QUALITY = re.compile(r"q=([^;]*)")


class JsonProtocol:
    """Answers one HTTP request after the other from an emulator.

    Args:
        call: Answers the operations.
        region: The region the health text names.
        shared: All regions are one, whatever a client's credentials are scoped to.
        keys_apart: The data of different access keys is apart; not if all is shared.
        origins: Whose pages may read the answers.
        now: Tells the time by which signatures expire; without it they do not.
        as_local: Requests without a signature are answered as by DynamoDB Local.
    """

    def __init__(
        self,
        call: protocol.Call,
        *,
        region: str = "us-east-1",
        shared: bool = False,
        keys_apart: bool = False,
        origins: Origins | None = None,
        now: Callable[[], float] | None = None,
        as_local: bool = False,
    ) -> None:
        self._call = call
        self._as_local = as_local
        self._now = now
        self._health = f"healthy: dynamodb.{region}.amazonaws.com ".encode()
        self._shared = shared
        self._tells_keys = keys_apart and not shared
        self._origins = Origins() if origins is None else origins

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to ``request``; a client's mistake is never a 500."""
        fields = request.fields
        if self._as_local and _lacks_a_signature(request):
            response = HttpResponse(400, protocol.AMZ_JSON, _LOCAL_MISSING_TOKEN)
        elif request.method != "POST":
            response = self._answer_other_method(request)
        else:
            sent_type = fields.get("content-type", "")
            content_type = _CONTENT_TYPES.get(sent_type) or _media_type(sent_type)
            if content_type is None and request.body:
                response = not_found()
            else:
                response = self._answer_operation(request, content_type or PLAIN_JSON)
        if "origin" in fields:
            response.field_lines += self._origins.lines(fields["origin"])
        return response

    def _answer_operation(self, request: HttpRequest, content_type: str) -> HttpResponse:
        status = 200
        accepted = request.fields.get("accept-encoding")
        try:
            answer = self._operate(request)
            if isinstance(answer, LongAnswer):
                return PageResponse(content_type, answer, accepted)
            body = b"" if answer is None else protocol.encode_json(answer)
        except errors.ApiError as error:
            status, body = error.status, protocol.encode_json(error.body())
        except RecursionError:  # nested deeper than any reader, ours or the service's, goes
            status, body = 400, protocol.encode_json(errors.SerializationException().body())
        except Exception:
            _log.exception("the emulator failed on %s", request.fields.get("x-amz-target"))
            status, body = (
                500,
                protocol.encode_json(errors.InternalServerError(INTERNAL_FAULT).body()),
            )
        response = HttpResponse(status, content_type, body)
        if accepted is not None and len(body) >= COMPRESSED_FROM_BYTES:
            _compress(response, accepted)
        return response

    def _operate(self, request: HttpRequest) -> dict[str, Any] | None:
        """Return the answer of an operation; None if it has no output."""
        fields, body = request.fields, request.body
        if "content-encoding" in fields:
            body = _decompressed(body, fields["content-encoding"])
        members = protocol.decode_json(body) if body else None
        operation = _OPERATIONS.get(fields.get("x-amz-target", ""))
        if operation is None:
            raise errors.UnknownOperationException
        target = request.target
        query = "" if target == "/" else target.partition("?")[2]
        key, region = protocol.credentials_of(fields, query)
        if self._now is not None:
            protocol.check_signing_time(fields, self._now())
        if members is None:
            raise errors.SerializationException
        if self._shared:
            region = None
        if not self._tells_keys:
            answer = self._call(operation, members, region=region)
        else:
            answer = self._call(operation, members, region=region, access_key=key)
        return answer if OPERATIONS[operation].has_output else None

    def _answer_other_method(self, request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS" and "origin" in request.fields:
            return HttpResponse(200, PLAIN_JSON, b"", preflight_lines(request.fields))
        if request.method == "GET" and request.target == "/":
            return HttpResponse(200, "text/plain", self._health)
        return not_found()


class LaterResponse(HttpResponse):
    """An answer that is made piece by piece, while others are served.

    Args:
        content_type: Of the body.
        body: Yields after each piece of work, and returns the body.
    """

    __slots__ = ("_steps", "is_whole")

    def __init__(self, content_type: str, body: Generator[None, None, bytes]) -> None:
        super().__init__(200, content_type, b"")
        self._steps = self._make(body)
        self.is_whole = False

    def _make(self, body: Generator[None, None, bytes]) -> Iterator[None]:
        self.body = yield from body
        self.is_whole = True

    def write_piece(self) -> None:
        """Write one piece more."""
        next(self._steps, None)

    def write_all(self) -> None:
        """Write the remaining pieces."""
        for _ in self._steps:
            pass


class PageResponse(LaterResponse):
    """A long answer, which is written into the body piece by piece.

    Args:
        content_type: Of the body.
        answer: The members of the answer.
        accepted: The compression that the client accepts.
    """

    __slots__ = ()

    def __init__(self, content_type: str, answer: LongAnswer, accepted: str | None) -> None:
        super().__init__(content_type, self._write(answer, accepted))

    def _write(self, answer: LongAnswer, accepted: str | None) -> Generator[None, None, bytes]:
        pieces: list[bytes | memoryview] = []
        for piece in protocol.encode_in_pieces(answer):
            pieces.append(piece)
            yield
        encoding = None if accepted is None else accepted_encoding(accepted)
        if encoding is not None and sum(map(len, pieces)) >= COMPRESSED_FROM_BYTES:
            stream = zlib.compressobj(level=1, wbits=_ANSWERS[encoding])
            for number, piece in enumerate(pieces):
                pieces[number] = stream.compress(piece)
                yield
            pieces.append(stream.flush())
            self.field_lines += f"Content-Encoding: {encoding}\r\n"
        return b"".join(pieces)


_CONTENT_TYPES: Final = {protocol.AMZ_JSON: protocol.AMZ_JSON, PLAIN_JSON: PLAIN_JSON}


def _media_type(content_type: str) -> str | None:
    return _CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())


#: Observed: DynamoDB Local 2.6.1, November 2026 (WIR-26).
_LOCAL_MISSING_TOKEN: Final = protocol.encode_json(
    {
        "__type": "com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken",
        "Message": "Request must contain either a valid (registered) AWS access key ID or X.509 "
        "certificate.",
    }
)


def _lacks_a_signature(request: HttpRequest) -> bool:
    """Return whether a request should be signed and is not; a browser's preflight never is."""
    is_preflight = request.method == "OPTIONS" and "origin" in request.fields
    return not is_preflight and not protocol.is_signed(request.fields, request.target)


def not_found() -> HttpResponse:
    """Return the answer to what is no request of the protocol."""
    return HttpResponse(404, "application/xml", b"<UnknownOperationException/>\n")  # WIR-3


# Compression


_GZIP: Final = 31  # what zlib calls the formats
_ZLIB: Final = 15
_RAW: Final = -15
_GZIP_MARK: Final = b"\x1f\x8b"  # what a member begins with
_ENCODINGS: Final = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (_ZLIB, _RAW)}
#: What leaves a body as it is; AWS's own clients have sent the second.
_NO_ENCODINGS: Final = frozenset({"", "identity", "amz-1.0"})
#: What an answer may be compressed with; the first is the service's own choice.
_ANSWERS: Final = {"gzip": _GZIP, "deflate": _ZLIB}


def _decompressed(body: bytes, field: str) -> bytes:
    """Undo the encodings of a body, the last first.

    Source: WIR-20: ``x-gzip`` is gzip, some senders of ``deflate`` leave out its wrapping, and what
    is compressed with gzip may come in several members.

    Raises:
        InternalServerError: it is not compressed as the field says, or the encoding is unknown.
    """
    encodings = [encoding.strip().lower() for encoding in field.split(",")]
    if len(encodings) > _MOST_ENCODINGS:
        raise _not_compressed()
    for encoding in reversed(encodings):
        formats = _ENCODINGS.get(encoding)
        if formats is not None:
            body = _inflated(body, formats)
        elif encoding not in _NO_ENCODINGS:
            raise _not_compressed()
    return body


def _not_compressed() -> errors.InternalServerError:
    """Return the fault of a body that cannot be read.

    Observed: ScyllaDB's tests, run against the service: HTTP 500. Assumed: the words.
    """
    return errors.InternalServerError(INTERNAL_FAULT)


def _inflated(body: bytes, formats: tuple[int, ...]) -> bytes:
    """Return a body decompressed, by the first of the formats that fits."""
    for wbits in formats:
        try:
            return _members_joined(body, wbits)
        except zlib.error:
            continue
    raise _not_compressed()


def _members_joined(body: bytes, wbits: int) -> bytes:
    """Return the members of a compressed body, decompressed and joined, up to the limit.

    Observed: ScyllaDB's tests, run against the service: bytes after the last gzip member are
    ignored if they are not a member themselves.
    """
    plain = bytearray()
    members = 1
    stream = zlib.decompressobj(wbits)
    for start in range(0, len(body), _PIECE_BYTES):
        piece = body[start : start + _PIECE_BYTES]
        while piece:
            if stream.eof:
                members += 1
                if wbits != _GZIP or members > _MOST_MEMBERS:
                    raise _not_compressed()
                if not _GZIP_MARK.startswith(piece[: len(_GZIP_MARK)]):
                    return bytes(plain)
                stream = zlib.decompressobj(wbits)
            plain += stream.decompress(piece, limits.REQUEST_BYTES + 1 - len(plain))
            if len(plain) > limits.REQUEST_BYTES:
                raise errors.RequestEntityTooLargeException
            piece = stream.unused_data
    if not stream.eof:
        raise _not_compressed()
    return bytes(plain)


def _compress(response: HttpResponse, accepted: str) -> None:
    """Compress what is to be sent to a client that accepts this."""
    encoding = accepted_encoding(accepted)
    if encoding is None:
        return
    stream = zlib.compressobj(level=1, wbits=_ANSWERS[encoding])
    response.body = stream.compress(response.body) + stream.flush()
    response.field_lines += f"Content-Encoding: {encoding}\r\n"


def accepted_encoding(accepted: str) -> str | None:
    """Return how an answer is compressed for a client that accepts this (WIR-22).

    Observed: ScyllaDB's tests, run against the service, say all of this of odd fields, too: the
    highest quality wins, of equal ones the first; a star stands for what is not named, and gives
    way to what is; a quality that is no number counts as none.

    >>> [accepted_encoding(accepted) for accepted in ("br, deflate, gzip;q=0.5", "*", "x-gzip")]
    ['deflate', 'gzip', None]
    """
    named: dict[str, float] = {}
    for element in accepted.lower().split(","):
        name, _, parameters = element.partition(";")
        name = name.strip()
        if name == "*" or name in _ANSWERS:
            named[name] = max(named.get(name, 0.0), _quality(parameters))
    star = named.pop("*", 0.0)
    unnamed = {name: star for name in _ANSWERS if name not in named}
    best, quality = max((named | unnamed).items(), key=lambda pair: pair[1])
    return best if quality > 0 else None


def _quality(parameters: str) -> float:
    """Return the quality among an element's parameters, at most 1."""
    written = _QUALITY.search(parameters)
    try:
        quality = 1.0 if written is None else float(written[1])
    except ValueError:
        return 1.0
    return min(quality, 1.0) if math.isfinite(quality) else 1.0
