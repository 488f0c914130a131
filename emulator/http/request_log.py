"""One line for each request: what ``serve --log`` prints.

``12:00:01 PutItem orders 200 0.3 ms local/us-east-1``; of a refused request also why, and where
else a table is that is missing here: under another key, or in another region.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.namespaces import CallerNamespaces
from emulator.observe import tables_of

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
        emulator: The emulator that answered; asked where else a missing table is.
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
        self._callers = CallerNamespaces(emulator, keys_apart=keys_apart, shared=shared)
        self.write = write

    def record(self, request: HttpRequest, response: HttpResponse, seconds: float) -> None:
        """Write the line of a request that was answered."""
        target = request.fields.get("x-amz-target")
        now = time.strftime("%H:%M:%S")
        timing = f"{response.status} {seconds * _MILLISECONDS:.1f} ms"
        if target is None or request.method != "POST":
            self.write(f"{now} {request.method} {_shown(request.target)} {timing}")
            return
        here = self._callers.of(request.fields.get("authorization", ""))
        tables = tables_named(request.body)
        words = [now, _shown(target.rpartition(".")[2]), *map(_shown, tables), timing, _shown(here)]
        line = " ".join(words)
        if response.status >= _REFUSED:
            line += f" {_reason(response.body)}"
            if b"ResourceNotFoundException" in response.body:
                for table, holders in self._callers.elsewhere(tables, here):
                    listed = ", ".join(map(_shown, holders))
                    hint = ELSEWHERE.format(
                        table=_shown(table), namespaces=listed, here=_shown(here)
                    )
                    line += f"; {hint}"
        self.write(line)


def tables_named(body: bytes) -> list[str]:
    """Return the tables that a request names, in its statements too."""
    members = members_of(body)
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


def members_of(body: bytes) -> dict[str, Any]:
    """Return the members of a body, none if it is no JSON object."""
    try:
        members = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _reason(body: bytes) -> str:
    members = members_of(body)
    code = str(members.get("__type", "")).rpartition("#")[2]
    message = members.get("message") or members.get("Message")
    return _shown(f"{code}: {message}" if message else code)


def _shown(value: object) -> str:
    """Return text that stays on its line, whatever a client has sent."""
    text = str(value)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
