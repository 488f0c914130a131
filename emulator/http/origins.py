"""Origins: which web pages may call, and the headers for their browsers (WIR-4).

By default a page of this machine may (``http://localhost:3000``, where a front end is being
developed), and no other: the service itself lets every page call, but it asks for credentials,
and a server for tests takes any. A page that may not is refused, not merely kept from reading
the answer (docs/decisions/0023-browsers.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from emulator.http.hosts import is_loopback

#: Stand in a list of origins for the pages of this machine, for any page, for none.
LOCAL: Final = "local"
ANY: Final = "*"
NONE: Final = "none"

MAX_AGE_SECONDS: Final = 172_800  # Observed: in the connection tests of a Node emulator
#: Observed: what the sister service Kinesis names, in the tests of an emulator of it.
#: Assumed: that this service exposes the same fields.
EXPOSED_FIELDS: Final = (
    "x-amzn-RequestId,x-amzn-ErrorType,x-amz-request-id,x-amz-id-2,x-amzn-ErrorMessage,Date"
)
_ECHOED: Final = (
    ("access-control-request-headers", "Access-Control-Allow-Headers"),
    ("access-control-request-method", "Access-Control-Allow-Methods"),
    ("access-control-request-private-network", "Access-Control-Allow-Private-Network"),
)


class Origins:
    """The origins whose pages may call.

    Args:
        cors: Origins separated by commas; among them ``local``, or ``*`` or ``none`` alone.

    >>> origins = Origins("local, https://app.example")
    >>> [origins.allows(page) for page in ("http://localhost:3000", "https://evil.example")]
    [True, False]
    """

    def __init__(self, cors: str = LOCAL) -> None:
        listed = {origin.strip() for origin in cors.split(",")} - {"", NONE}
        self._any = ANY in listed
        self._local = LOCAL in listed
        self._named = frozenset(listed - {ANY, LOCAL})

    def allows(self, origin: str) -> bool:
        """Return whether a page of ``origin`` may call the service."""
        return self._any or origin in self._named or (self._local and _is_local(origin))

    def names(self, origin: str) -> bool:
        """Return whether ``origin`` itself was listed: private routes ask for that."""
        return origin in self._named

    def lines(self, origin: str) -> str:
        """Return the field lines that let a page that may call read the answer."""
        allowed = "*\r\n" if self._any else f"{origin}\r\nVary: Origin\r\n"
        return (
            f"Access-Control-Allow-Origin: {allowed}"
            f"Access-Control-Expose-Headers: {EXPOSED_FIELDS}\r\n"
        )


def is_same_origin(origin: str, host: str | None) -> bool:
    """Return whether a page came from the very host and port that it asks.

    >>> is_same_origin("http://localhost:8000", "localhost:8000")
    True
    >>> is_same_origin("http://localhost:3000", "localhost:8000")
    False
    """
    return host is not None and origin.lower() == f"http://{host.lower()}"


def preflight_lines(fields: Mapping[str, str]) -> str:
    """Return the header lines that answer a browser's preflight request."""
    lines = [f"Access-Control-Max-Age: {MAX_AGE_SECONDS}\r\n"]
    lines += [f"{name}: {fields[asked]}\r\n" for asked, name in _ECHOED if asked in fields]
    return "".join(lines)


def _is_local(origin: str) -> bool:
    try:
        url = urlsplit(origin)
        return url.scheme in ("http", "https") and is_loopback((url.hostname or "").lower())
    except ValueError:
        return False
