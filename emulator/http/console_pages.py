"""The files of the console, and the headers that they are sent with.

Nothing that a page is sent may be taken for a script: scripts and styles come as files of this
server, the policy allows no others, and no other page may put the console into a frame.
"""

from __future__ import annotations

from typing import Final

from emulator.http.http_protocol import HttpResponse
from emulator.web import read

#: What is under this address has the names of the files of ``emulator/web``.
FILES: Final = "/_emulator/console/web/"
PAGE: Final = "console/index.html"

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: A report has its script and styles inside. In a sandbox it is of no origin, so whatever it holds
#: can read and call nothing here.
_REPORT_POLICY: Final = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_FIELDS: Final = (
    "Content-Security-Policy: {policy}\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n"
)
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def page_file(name: str) -> HttpResponse | None:
    """Return a file of the front end as an answer, or None if there is none of that name."""
    try:
        text = read(name)
    except FileNotFoundError:
        return None
    kind = _TYPES[name.rpartition(".")[2]]
    return HttpResponse(200, kind, text.encode(), _FIELDS.format(policy=_POLICY))


def report_page(page: bytes) -> HttpResponse:
    """Return a report of the lab as an answer."""
    return HttpResponse(200, _TYPES["html"], page, _FIELDS.format(policy=_REPORT_POLICY))


def download(name: str, content_type: str, body: bytes) -> HttpResponse:
    """Return a file to be saved under a name."""
    fields = f'Content-Disposition: attachment; filename="{name}"\r\n'
    return HttpResponse(200, content_type, body, fields + _FIELDS.format(policy=_POLICY))
