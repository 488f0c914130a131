"""One line for each request: what ``serve --log`` prints.

``12:00:01 PutItem orders 200 0.3 ms local/us-east-1``; of a refused request also why, and where
else a table is that is missing here: under another key, or in another region.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.observe import Namespace, tables_of
from emulator.protocol import signed_access_key, signed_region

if TYPE_CHECKING:
    from emulator.api import Emulator

ELSEWHERE: Final = "table {table} is in {namespaces}, not in {here}"

_REFUSED: Final = 400
_MILLISECONDS: Final = 1000
_LONGEST: Final = 200
_STATEMENT_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?([A-Za-z0-9_.-]+)', re.IGNORECASE)


class RequestLog:
    """Writes a line for each request.

    Args:
        emulator: Who answered; asked where else a missing table is.
        write: Takes each line.
        keys_apart: Whether the data of different access keys is apart.
        shared: Whether all regions are one.
    """

    def __init__(
        self,
        emulator: Emulator,
        write: Callable[[str], None],
        *,
        keys_apart: bool = False,
        shared: bool = False,
    ) -> None:
        self._emulator = emulator
        self._keys_apart = keys_apart
        self._shared = shared
        self.write = write

    def record(self, request: HttpRequest, response: HttpResponse, seconds: float) -> None:
        """Write the line of a request that was answered."""
        target = request.fields.get("x-amz-target")
        now = time.strftime("%H:%M:%S")
        timing = f"{response.status} {seconds * _MILLISECONDS:.1f} ms"
        if target is None or request.method != "POST":
            self.write(f"{now} {request.method} {_shown(request.target)} {timing}")
            return
        here = self._namespace(request.fields.get("authorization", ""))
        tables = _tables(request.body)
        words = [now, _shown(target.rpartition(".")[2]), *map(_shown, tables), timing, _shown(here)]
        line = " ".join(words)
        if response.status >= _REFUSED:
            line += f" {_reason(response.body)}"
            if b"ResourceNotFoundException" in response.body:
                line += "".join(f"; {hint}" for hint in self._elsewhere(tables, here))
        self.write(line)

    def _namespace(self, authorization: str) -> Namespace:
        own = self._emulator.region
        region = own if self._shared else signed_region(authorization) or own
        return Namespace(signed_access_key(authorization) if self._keys_apart else None, region)

    def _elsewhere(self, tables: Iterable[str], here: Namespace) -> Iterable[str]:
        """Yield where tables are that are not here."""
        views = self._emulator.namespaces()
        seen = {Namespace(None, here.region), here}
        for table in tables:
            holders = {view.namespace for view in views if table in view.tables}
            if holders and not holders & seen:
                listed = ", ".join(sorted(map(_shown, holders)))
                yield ELSEWHERE.format(table=_shown(table), namespaces=listed, here=_shown(here))


def _tables(body: bytes) -> list[str]:
    """Return the tables that a request names, in its statements too."""
    members = _members(body)
    written = members.get("TransactStatements") or members.get("Statements") or [members]
    statements = [
        statement.get("Statement") for statement in written if isinstance(statement, dict)
    ]
    named = [
        table
        for statement in statements
        if isinstance(statement, str)
        for table in _STATEMENT_TABLE.findall(statement)
    ]
    return list(dict.fromkeys([*tables_of(members), *named]))


def _members(body: bytes) -> dict[str, Any]:
    try:
        members = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _reason(body: bytes) -> str:
    members = _members(body)
    message = members.get("message") or members.get("Message") or ""
    return _shown(f"{str(members.get('__type', '')).rpartition('#')[2]}: {message}")


def _shown(value: object) -> str:
    """Return text that stays on its line, whatever a client has sent."""
    text = str(value)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
