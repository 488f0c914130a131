"""Signatures: they are not checked, but they name the region that a request is for (WIR-7).

Nor are their times, unless a server is asked to: tests freeze the clocks of their clients (WIR-23).

A signature comes in the Authorization field or, of a request signed beforehand, in the query.
Observed: the sentences and their order, in the connection tests of a Node emulator that were
recorded against the service, and in the code of a Rust one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import parse_qsl, unquote

from emulator.service import errors

MISSING_TOKEN = "Request is missing Authentication Token"
PARAMETER_REQUIRED = "Authorization header requires '{name}' parameter. "
DATE_REQUIRED = (
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
)
QUERY_REQUIRED = "AWS query-string parameters must include '{name}'. "
REEXAMINE_QUERY = "Re-examine the query-string parameters."
EXPIRED = "Signature expired: {signed} is now earlier than {bound} ({now} - 15 min.)"
NOT_YET_CURRENT = (
    "Signature not yet current: {signed} is still later than {bound} ({now} + 15 min.)"
)
SIGNED_TWICE = (
    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
)

_ALGORITHM: Final = "X-Amz-Algorithm"
_TIME_FORM: Final = "%Y%m%dT%H%M%SZ"
_APART: Final = timedelta(minutes=15)
_CREDENTIAL_IN_QUERY: Final = "X-Amz-Credential"
_PARAMETERS: Final = ("Credential", "Signature", "SignedHeaders")
_QUERY_PARAMETERS: Final = (
    _ALGORITHM,
    _CREDENTIAL_IN_QUERY,
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
)
#: More parameters than any signed request has are not looked at.
_MOST_QUERY_PARAMETERS: Final = 64
_BETWEEN_PARAMETERS: Final = re.compile(r"[,\s]+")
# Nothing in these is tried twice: a field of 64 KiB costs what its length costs.
_CREDENTIAL = re.compile(r"Credential=([^,\s]*)")
_SIGNATURE: Final = "Signature="
_USUAL = re.compile(
    r"AWS4-[0-9A-Z-]+ +Credential=([^,\s]+)(?:, *| +)SignedHeaders=[^,\s]+(?:, *| +)"
)
#: Longer ones are read again each time.
_LONGEST_REMEMBERED: Final = 1024


def is_signed(fields: Mapping[str, str], target: str) -> bool:
    """Return whether a request carries a signature, whatever it is like.

    >>> is_signed({}, "/"), is_signed({}, "/?X-Amz-Algorithm=AWS4-HMAC-SHA256")
    (False, True)
    """
    return "authorization" in fields or _ALGORITHM in target


def signed_region(authorization: str) -> str | None:
    """Return the region that an Authorization field's credentials are scoped to, if any.

    >>> signed_region("AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/aws4_request")
    'eu-west-1'
    """
    credential = _CREDENTIAL.search(authorization)
    return None if credential is None else _scoped_region(credential[1])


def _scoped_region(credential: str) -> str | None:
    """Return the region of a credential.

    It is a key, which may have strokes of its own; a date, the region, the service, and how it
    ends.
    """
    scope = credential.rsplit("/", 4)
    key, _date, region, service, end = scope if len(scope) == 5 else ("",) * 5
    return region if key and region and service and end else None


def credentials_of(fields: Mapping[str, str], query: str = "") -> tuple[str | None, str | None]:
    """Return access key and region of a request's credentials; any key and signature will do.

    Raises:
        MissingAuthenticationTokenException, IncompleteSignatureException,
        InvalidSignatureException: as ``region_of_credentials``.

    >>> signed = "Credential=K/1/eu-west-1/dynamodb/aws4_request, SignedHeaders=h, Signature=0"
    >>> credentials_of({"authorization": f"AWS4-HMAC-SHA256 {signed}", "x-amz-date": "now"})
    ('K', 'eu-west-1')
    """
    usual = None if query else _usual_credentials(fields)
    if usual is not None:
        return usual
    region = region_of_credentials(fields, query)
    return signed_access_key(fields.get("authorization", ""), query), region


def _usual_credentials(fields: Mapping[str, str]) -> tuple[str | None, str | None] | None:
    """Return key and region of an Authorization field as SDKs write it.

    All that differs from one request of a client to the next is the signature, at the end.
    """
    before, _, signature = fields.get("authorization", "").rpartition(_SIGNATURE)
    if not signature.isalnum() or "x-amz-date" not in fields:
        return None
    read = _usual_scope if len(before) <= _LONGEST_REMEMBERED else _usual_scope.__wrapped__
    return read(before)


@functools.lru_cache(maxsize=256)
def _usual_scope(before: str) -> tuple[str | None, str | None] | None:
    """Return key and region of what comes before a signature."""
    usual = _USUAL.fullmatch(before)
    return None if usual is None else (_key_of(usual[1]), _scoped_region(usual[1]))


def region_of_credentials(fields: Mapping[str, str], query: str = "") -> str | None:
    """Return the region of a request's credentials; any key and signature will do.

    Raises:
        MissingAuthenticationTokenException: there is no signature.
        IncompleteSignatureException: it lacks something.
        InvalidSignatureException: there are two.
    """
    authorization = fields.get("authorization", "")
    if query and _ALGORITHM in query:
        return _region_of_query(query, is_signed="authorization" in fields)
    usual = _usual_credentials(fields)
    if usual is not None:
        return usual[1]
    if not authorization.startswith("AWS4-"):
        raise errors.MissingAuthenticationTokenException(MISSING_TOKEN)
    parameters = dict(
        parameter.partition("=")[::2]
        for parameter in _BETWEEN_PARAMETERS.split(authorization.partition(" ")[2])
    )
    faults = [
        PARAMETER_REQUIRED.format(name=name) for name in _PARAMETERS if not parameters.get(name)
    ]
    if "x-amz-date" not in fields and "date" not in fields:
        faults.append(DATE_REQUIRED)
    if faults:
        raise errors.IncompleteSignatureException(f"{''.join(faults)}Authorization={authorization}")
    return signed_region(authorization)


def check_signing_time(fields: Mapping[str, str], now: float) -> None:
    """Refuse a signature of more than 15 minutes ago or ahead (WIR-23).

    Args:
        fields: Of the request; what they have as a time and cannot be read is not judged.
        now: Seconds since the epoch.

    Raises:
        InvalidSignatureException: it is too old, or of the future.
    """
    signed = _signing_time(fields)
    if signed is None:
        return
    current = datetime.fromtimestamp(int(now), UTC)
    for sentence, bound, is_outside in (
        (EXPIRED, current - _APART, signed < current - _APART),
        (NOT_YET_CURRENT, current + _APART, signed > current + _APART),
    ):
        if is_outside:
            times = {"signed": signed, "bound": bound, "now": current}
            shown = {name: time.strftime(_TIME_FORM) for name, time in times.items()}
            raise errors.InvalidSignatureException(sentence.format(**shown))


def _signing_time(fields: Mapping[str, str]) -> datetime | None:
    """Return when a request was signed, if it says so: ``X-Amz-Date`` wins over ``Date``."""
    try:
        if "x-amz-date" in fields:
            return datetime.strptime(fields["x-amz-date"], _TIME_FORM).replace(tzinfo=UTC)
        signed = parsedate_to_datetime(fields["date"])
    except (KeyError, ValueError, OverflowError):
        return None
    return signed.replace(tzinfo=UTC) if signed.tzinfo is None else signed.astimezone(UTC)


def _region_of_query(query: str, *, is_signed: bool) -> str | None:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_QUERY_PARAMETERS)
    except ValueError:
        pairs = []
    parameters = dict(pairs)
    if is_signed and _ALGORITHM in parameters:
        raise errors.InvalidSignatureException(SIGNED_TWICE)
    if _ALGORITHM not in parameters:
        raise errors.MissingAuthenticationTokenException(MISSING_TOKEN)
    missing = [name for name in _QUERY_PARAMETERS if not parameters.get(name)]
    if missing:
        sentences = "".join(QUERY_REQUIRED.format(name=name) for name in missing)
        raise errors.IncompleteSignatureException(sentences + REEXAMINE_QUERY)
    return _scoped_region(parameters[_CREDENTIAL_IN_QUERY])


def signed_access_key(authorization: str, query: str = "") -> str | None:
    """Return the access key of a request's credentials, if any, wherever it is signed.

    >>> signed_access_key("AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/aws4_request")
    'K'
    """
    is_in_query = _CREDENTIAL_IN_QUERY in query
    credential = _CREDENTIAL.search(
        unquote(query).replace("&", " ") if is_in_query else authorization
    )
    return None if credential is None else _key_of(credential[1])


def _key_of(credential: str) -> str | None:
    return credential.rsplit("/", 4)[0] or None
