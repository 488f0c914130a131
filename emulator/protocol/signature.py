"""Signatures: nobody checks them, but they name the region that a request is for (WIR-7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from emulator.service import errors

MISSING_TOKEN = "Request is missing Authentication Token"
PARAMETER_REQUIRED = "Authorization header requires '{name}' parameter. "
DATE_REQUIRED = (
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
)

_PARAMETERS: Final = ("Credential", "Signature", "SignedHeaders")
# A key, which may have strokes of its own; a date, the region, the service, and how it ends.
_CREDENTIAL: Final = r"Credential=(?:[^/,\s]+/)+?[^/,\s]*/([^/,\s]+)/[^/,\s]+/[^/,\s]+(?![^,\s])"
_SIGNED = re.compile(_CREDENTIAL)
_USUAL = re.compile(rf"AWS4-[0-9A-Z-]+ +{_CREDENTIAL}, *SignedHeaders=[^,\s]+, *Signature=[^,\s]+")


def signed_region(authorization: str) -> str | None:
    """Return the region that an Authorization field's credentials are scoped to, if any.

    >>> signed_region("AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/aws4_request")
    'eu-west-1'
    """
    signed = _SIGNED.search(authorization)
    return None if signed is None else signed[1]


def region_of_credentials(fields: Mapping[str, str]) -> str | None:
    """Return the region of a request's credentials; any key and signature will do.

    Raises:
        MissingAuthenticationTokenException: there is no signature.
        IncompleteSignatureException: it lacks something.
    """
    authorization = fields.get("authorization", "")
    usual = _USUAL.fullmatch(authorization)
    if usual is not None and "x-amz-date" in fields:
        return usual[1]
    if not authorization.startswith("AWS4-"):
        raise errors.MissingAuthenticationTokenException(MISSING_TOKEN)
    parameters = dict(
        parameter.strip().partition("=")[::2]
        for parameter in authorization.partition(" ")[2].split(",")
    )
    faults = [
        PARAMETER_REQUIRED.format(name=name) for name in _PARAMETERS if not parameters.get(name)
    ]
    if "x-amz-date" not in fields and "date" not in fields:
        faults.append(DATE_REQUIRED)
    if faults:
        raise errors.IncompleteSignatureException(f"{''.join(faults)}Authorization={authorization}")
    return signed_region(authorization)
