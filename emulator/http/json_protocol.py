"""The service's JSON 1.0 protocol: which request is answered, and how the others are refused.

The order of rejection is observable (WIR-2): method and content type, JSON, target,
credentials, empty body; member types and everything after them belong to the operation.

Observed: the order, the bodies and the checksums, in the connection tests of a Node emulator
that were recorded against the service; by a Rust emulator again in 2026.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Mapping
from typing import Final

from emulator import protocol
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.service import errors, limits
from emulator.service.catalogue import OPERATIONS

PLAIN_JSON: Final = "application/json"
#: Assumed: shorter answers gain nothing by compression.
GZIP_FROM_BYTES: Final = 4 * limits.KIB
CORS_MAX_AGE_SECONDS: Final = 172_800  # Observed: with the connection tests above

INTERNAL_FAULT = (
    "The request processing has failed because of an unknown error, exception or failure."
)

#: By what ``X-Amz-Target`` says.
_OPERATIONS: Final = {f"{row.api}_20120810.{name}": name for name, row in OPERATIONS.items()}

_log = logging.getLogger(__name__)

_GZIP_REFUSED = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|\Z)")


class JsonProtocol:
    """Answers one HTTP request after the other from an emulator.

    Args:
        call: Who answers the operations.
        region: The region the health text names.
        shared: All regions are one, whatever a client's credentials are scoped to.
        cors: The origins a browser may call from, separated by commas; ``*`` is any, as in
            the service itself.
    """

    def __init__(
        self,
        call: protocol.Call,
        *,
        region: str = "us-east-1",
        shared: bool = False,
        cors: str = "*",
    ) -> None:
        self._call = call
        self._health = f"healthy: dynamodb.{region}.amazonaws.com ".encode()
        self._shared = shared
        self._origins = frozenset(origin.strip() for origin in cors.split(","))

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to ``request``; a client's mistake is never a 500."""
        fields = request.fields
        if request.method != "POST":
            response = self._answer_other_method(request)
        else:
            sent_type = fields.get("content-type", "")
            content_type = _CONTENT_TYPES.get(sent_type) or _media_type(sent_type)
            if content_type is None and request.body:
                response = _not_found()
            else:
                response = self._answer_operation(request, content_type or PLAIN_JSON)
        if "origin" in fields:
            response.field_lines += self.origin_lines(fields["origin"])
        return response

    def allows_origin(self, origin: str) -> bool:
        """Return whether ``origin`` was named, not merely covered by ``*``."""
        return origin in self._origins

    def origin_lines(self, origin: str) -> str:
        """Return the field lines that let a page of ``origin`` read the answer, or not."""
        if "*" in self._origins:
            return "Access-Control-Allow-Origin: *\r\n"
        if origin in self._origins:
            return f"Access-Control-Allow-Origin: {origin}\r\nVary: Origin\r\n"
        return "Vary: Origin\r\n"

    def _answer_operation(self, request: HttpRequest, content_type: str) -> HttpResponse:
        status = 200
        try:
            body = self._operate(request)
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
        if len(body) >= GZIP_FROM_BYTES and "accept-encoding" in request.fields:
            return _compressed(status, content_type, body, request.fields["accept-encoding"])
        return HttpResponse(status, content_type, body)

    def _operate(self, request: HttpRequest) -> bytes:
        fields, body = request.fields, request.body
        if "content-encoding" in fields:
            body = _decompressed(body, fields["content-encoding"])
        members = protocol.decode_json(body) if body else None
        operation = _OPERATIONS.get(fields.get("x-amz-target", ""))
        if operation is None:
            raise errors.UnknownOperationException
        region = protocol.region_of_credentials(fields)
        if members is None:
            raise errors.SerializationException
        answer = self._call(operation, members, region=None if self._shared else region)
        return protocol.encode_json(answer) if OPERATIONS[operation].has_output else b""

    def _answer_other_method(self, request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS" and "origin" in request.fields:
            return HttpResponse(200, PLAIN_JSON, b"", _preflight_lines(request.fields))
        if request.method == "GET" and request.target == "/":
            return HttpResponse(200, "text/plain", self._health)
        return _not_found()


_CONTENT_TYPES: Final = {protocol.AMZ_JSON: protocol.AMZ_JSON, PLAIN_JSON: PLAIN_JSON}


def _media_type(content_type: str) -> str | None:
    return _CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())


def _not_found() -> HttpResponse:
    return HttpResponse(404, "application/xml", b"<UnknownOperationException/>\n")  # WIR-3


def _preflight_lines(fields: Mapping[str, str]) -> str:
    """Return what a browser asks before a call from another origin (WIR-4)."""
    lines = [f"Access-Control-Max-Age: {CORS_MAX_AGE_SECONDS}\r\n"]
    for requested, allowed in (
        ("access-control-request-headers", "Access-Control-Allow-Headers"),
        ("access-control-request-method", "Access-Control-Allow-Methods"),
    ):
        if requested in fields:
            lines.append(f"{allowed}: {fields[requested]}\r\n")
    return "".join(lines)


# Compression


def _decompressed(body: bytes, encoding: str) -> bytes:
    """Undo gzip, never past the limit; another encoding is left to fail as JSON."""
    if encoding.lower() != "gzip":
        return body
    stream = zlib.decompressobj(wbits=31)
    try:
        plain = stream.decompress(body, limits.REQUEST_BYTES + 1)
    except zlib.error:
        raise errors.SerializationException from None
    if len(plain) > limits.REQUEST_BYTES:
        raise errors.RequestEntityTooLargeException
    if not stream.eof:
        raise errors.SerializationException
    return plain


def _compressed(status: int, content_type: str, body: bytes, accepted: str) -> HttpResponse:
    accepted = accepted.lower()
    if "gzip" not in accepted or _GZIP_REFUSED.search(accepted):
        return HttpResponse(status, content_type, body)
    stream = zlib.compressobj(level=1, wbits=31)
    packed = stream.compress(body) + stream.flush()
    return HttpResponse(status, content_type, packed, "Content-Encoding: gzip\r\n")
