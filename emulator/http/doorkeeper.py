"""The doorkeeper: which requests are let in, before any of them is read.

A browser runs pages of strangers on the machine that the server is for, so a request is judged by
what a page cannot forge: the name it was sent to (``Host``), the page it comes from (``Origin``)
and whether another site made it (``Sec-Fetch-Site``). Programs send no origin and are never asked
for one (docs/decisions/0023-browsers.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emulator.http.hosts import Hosts, host_name
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.origins import Origins, is_same_origin
from emulator.protocol import AMZ_JSON, encode_json
from emulator.service import errors

PRIVATE_ROUTES: Final = "/_emulator/"

OTHER_NAME: Final = (
    "this server does not answer to the name {name}; if it is yours, start it with "
    "--allow-host {name}"
)
OTHER_PAGE: Final = (
    "a page of {origin} may not call this; if it is yours, start the server with --cors {origin}"
)
OTHER_SITE: Final = "a page of another site may not call this"
_FORBIDDEN: Final = 403
_CROSS_SITE: Final = "cross-site"
_OTHER_SITES: Final = frozenset((_CROSS_SITE, "same-site"))
_PAGE_FIELDS: Final = frozenset(("origin", "sec-fetch-site"))


class Doorkeeper:
    """Refuses requests that a stranger's page has made.

    Args:
        origins: Whose pages may call.
        allow_hosts: Names to answer to, beside the machine's own and the address listened on.
    """

    def __init__(self, origins: Origins, allow_hosts: Iterable[str] = ()) -> None:
        self.origins = origins
        self._allow_hosts = tuple(allow_hosts)
        self._hosts = Hosts((), self._allow_hosts)

    def listen_on(self, addresses: Iterable[str]) -> None:
        """Note where the server listens: its own machine, or also others."""
        self._hosts = Hosts(addresses, self._allow_hosts)

    def trusts(self, host: str | None) -> bool:
        """Return whether pages of this server are given out under a Host field."""
        return self._hosts.trusts(host)

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        """Return why a request is not answered, or None if it is."""
        fields = request.fields
        is_usual = request.target == "/" and _PAGE_FIELDS.isdisjoint(fields)
        if is_usual and self._hosts.answers_to(fields.get("host")):
            return None
        is_private = request.target.startswith(PRIVATE_ROUTES)
        sentence = self._host_fault(fields.get("host"), is_private=is_private)
        if sentence is None and "origin" in fields:
            sentence = self._origin_fault(fields, is_private=is_private)
        elif sentence is None and _hides_its_page(request, is_private=is_private):
            sentence = OTHER_SITE
        return None if sentence is None else _refused(sentence, is_private=is_private)

    def _host_fault(self, host: str | None, *, is_private: bool) -> str | None:
        is_known = self._hosts.trusts(host) if is_private else self._hosts.answers_to(host)
        return None if is_known else OTHER_NAME.format(name=host_name(host or ""))

    def _origin_fault(self, fields: dict[str, str], *, is_private: bool) -> str | None:
        """Say why a page may not call: it is neither this server's own nor allowed.

        Private routes change things without credentials, so ``*`` and ``local`` do not open them.
        """
        origin, host = fields["origin"], fields.get("host")
        if is_same_origin(origin, host) and self._hosts.trusts(host):
            return None
        may_call = self.origins.names(origin) if is_private else self.origins.allows(origin)
        return None if may_call else OTHER_PAGE.format(origin=origin)


def _hides_its_page(request: HttpRequest, *, is_private: bool) -> bool:
    """Return whether a page of another site asks and does not say which.

    The service's protocol does something by POST only, and a link may lead to the console. Other
    ports of this machine are the same site: their pages may call, but not steer.
    """
    site = request.fields.get("sec-fetch-site")
    return site in _OTHER_SITES if is_private else site == _CROSS_SITE and request.method == "POST"


def _refused(sentence: str, *, is_private: bool) -> HttpResponse:
    if is_private:
        return HttpResponse(_FORBIDDEN, "application/json", encode_json({"error": sentence}))
    body = encode_json(errors.AccessDeniedException(sentence).body())
    return HttpResponse(_FORBIDDEN, AMZ_JSON, body, "Vary: Origin\r\n")
