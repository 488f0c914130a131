"""The service's JSON 1.0 protocol: which request is answered, and what the others are told.

The order of rejection is observable (WIR-2): method and content type, JSON, target,
credentials, empty body; member types and everything after them belong to the operation.

Observed: the order, the bodies and the checksums, in the connection tests of a Node emulator
that were recorded against the service; by a Rust emulator again in 2026.
"""

from __future__ import annotations

import json
import logging
import re
import zlib
from collections.abc import Mapping
from typing import Any, Final, NoReturn, Protocol

from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.service import limits
from emulator.service.catalogue import OPERATIONS
from emulator.service.errors import (
    ApiError,
    IncompleteSignatureException,
    InternalServerError,
    MissingAuthenticationTokenException,
    RequestEntityTooLargeException,
    SerializationException,
    UnknownOperationException,
)

AMZ_JSON: Final = "application/x-amz-json-1.0"
PLAIN_JSON: Final = "application/json"
#: Assumed: shorter answers gain nothing by compression.
GZIP_FROM_BYTES: Final = 4 * limits.KIB
CORS_MAX_AGE_SECONDS: Final = 172_800  # Observed: with the connection tests above

MISSING_TOKEN = "Request is missing Authentication Token"
PARAMETER_REQUIRED = "Authorization header requires '{name}' parameter. "
DATE_REQUIRED = (
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
)
INTERNAL_FAULT = (
    "The request processing has failed because of an unknown error, exception or failure."
)

#: By what ``X-Amz-Target`` says.
_OPERATIONS: Final = {f"{row.api}_20120810.{name}": name for name, row in OPERATIONS.items()}

_log = logging.getLogger(__name__)

_SIGNATURE_PARAMETERS: Final = ("Credential", "Signature", "SignedHeaders")
_USUAL_AUTHORIZATION = re.compile(
    r"AWS4-[0-9A-Z-]+ +Credential=[^/,\s]+/\d*/([^/,\s]+)/[^/,\s]+/aws4_request, *"
    r"SignedHeaders=[^,\s]+, *Signature=[^,\s]+"
)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
_GZIP_REFUSED = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|\Z)")


class Answerer(Protocol):
    """What the protocol needs of an emulator."""

    def call(
        self, operation: str, request: dict[str, Any], *, region: str | None = None
    ) -> Mapping[str, Any]:
        """Answer one operation, or raise the service's error."""


class JsonProtocol:
    """Answers one HTTP request after the other from an emulator.

    Args:
        emulator: Who answers the operations.
        region: The region the health text names.
        shared: All regions are one, whatever a client's credentials are scoped to.
        cors: The origins a browser may call from, separated by commas; ``*`` is any, as in
            the service itself.
    """

    def __init__(
        self,
        emulator: Answerer,
        *,
        region: str = "us-east-1",
        shared: bool = False,
        cors: str = "*",
    ) -> None:
        self._call = emulator.call
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
        """Tell whether ``origin`` was named, not merely covered by ``*``."""
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
            body = encode_json(self._operate(request))
        except ApiError as error:
            status, body = error.status, encode_json(error.body())
        except RecursionError:  # nested deeper than any reader, ours or the service's, goes
            status, body = 400, encode_json(SerializationException().body())
        except Exception:
            _log.exception("the emulator failed on %s", request.fields.get("x-amz-target"))
            status, body = 500, encode_json(InternalServerError(INTERNAL_FAULT).body())
        if len(body) >= GZIP_FROM_BYTES and "accept-encoding" in request.fields:
            return _compressed(status, content_type, body, request.fields["accept-encoding"])
        return HttpResponse(status, content_type, body)

    def _operate(self, request: HttpRequest) -> Mapping[str, Any]:
        fields, body = request.fields, request.body
        if "content-encoding" in fields:
            body = _decompressed(body, fields["content-encoding"])
        members = decode_json(body) if body else None
        operation = _OPERATIONS.get(fields.get("x-amz-target", ""))
        if operation is None:
            raise UnknownOperationException
        region = region_of_credentials(fields)
        if members is None:
            raise SerializationException
        return self._call(operation, members, region=None if self._shared else region)

    def _answer_other_method(self, request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS" and "origin" in request.fields:
            return HttpResponse(200, PLAIN_JSON, b"", _preflight_lines(request.fields))
        if request.method == "GET" and request.target == "/":
            return HttpResponse(200, "text/plain", self._health)
        return _not_found()


_CONTENT_TYPES: Final = {AMZ_JSON: AMZ_JSON, PLAIN_JSON: PLAIN_JSON}


def _media_type(content_type: str) -> str | None:
    return _CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())


def _not_found() -> HttpResponse:
    return HttpResponse(404, "application/xml", b"<UnknownOperationException/>\n")  # WIR-3


def _preflight_lines(fields: Mapping[str, str]) -> str:
    """Return what a browser asks before a call from another origin (WIR-4)."""
    lines = [f"Access-Control-Max-Age: {CORS_MAX_AGE_SECONDS}\r\n"]
    for asked, allowed in (
        ("access-control-request-headers", "Access-Control-Allow-Headers"),
        ("access-control-request-method", "Access-Control-Allow-Methods"),
    ):
        if asked in fields:
            lines.append(f"{allowed}: {fields[asked]}\r\n")
    return "".join(lines)


# Credentials


def region_of_credentials(fields: Mapping[str, str]) -> str | None:
    """Return the region the credentials are scoped to; any key and signature will do (WIR-7).

    >>> region_of_credentials({
    ...     "authorization": "AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/"
    ...     "aws4_request, SignedHeaders=host, Signature=0", "x-amz-date": "20260101T000000Z"})
    'eu-west-1'
    """
    authorization = fields.get("authorization", "")
    usual = _USUAL_AUTHORIZATION.fullmatch(authorization)
    if usual is not None and "x-amz-date" in fields:
        return usual[1]
    if not authorization.startswith("AWS4-"):
        raise MissingAuthenticationTokenException(MISSING_TOKEN)
    parameters = dict(
        parameter.strip().partition("=")[::2]
        for parameter in authorization.partition(" ")[2].split(",")
    )
    faults = [
        PARAMETER_REQUIRED.format(name=name)
        for name in _SIGNATURE_PARAMETERS
        if not parameters.get(name)
    ]
    if "x-amz-date" not in fields and "date" not in fields:
        faults.append(DATE_REQUIRED)
    if faults:
        raise IncompleteSignatureException(f"{''.join(faults)}Authorization={authorization}")
    scope = parameters["Credential"].split("/")
    return scope[-3] if len(scope) >= 5 and scope[-3] else None


# Bodies


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


def _decompressed(body: bytes, encoding: str) -> bytes:
    """Undo gzip, never past the limit; another encoding is left to fail as JSON."""
    if encoding.lower() != "gzip":
        return body
    stream = zlib.decompressobj(wbits=31)
    try:
        plain = stream.decompress(body, limits.REQUEST_BYTES + 1)
    except zlib.error:
        raise SerializationException from None
    if len(plain) > limits.REQUEST_BYTES:
        raise RequestEntityTooLargeException
    if not stream.eof:
        raise SerializationException
    return plain


def _compressed(status: int, content_type: str, body: bytes, accepted: str) -> HttpResponse:
    accepted = accepted.lower()
    if "gzip" not in accepted or _GZIP_REFUSED.search(accepted):
        return HttpResponse(status, content_type, body)
    stream = zlib.compressobj(level=1, wbits=31)
    packed = stream.compress(body) + stream.flush()
    return HttpResponse(status, content_type, packed, "Content-Encoding: gzip\r\n")
