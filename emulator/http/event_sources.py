"""The server's event sources: batches are posted to functions of other languages (EVS-33).

A table is looked for in every namespace, some times a second, so it may be created later, deleted
and created again. Each source polls in a thread of its own; the event loop waits for none.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from emulator.observe import Namespace, table_of
from emulator.service.errors import EmulatorError
from emulator.streams import EventSource, InvocationRefused

if TYPE_CHECKING:
    from emulator.api import Emulator

#: Where local Lambda runtimes take events, if a URL names no path.
INVOCATIONS: Final = "/2015-03-31/functions/function/invocations"
TOO_MANY_REQUESTS: Final = 429
_LOOKS_PER_SECOND: Final = 4

NOT_A_SOURCE: Final = (
    "an event source is TABLE=URL, such as orders=http://localhost:9000, not {text!r}"
)
NOT_JSON: Final = "{url} answered what is not JSON: {body!r}"
_SHOWN_BYTES: Final = 200


class FunctionError(Exception):
    """A function that was posted a batch answered with an error."""


class UrlFunction:
    """A handler that posts events to a URL and returns the answer.

    >>> UrlFunction("http://localhost:9000").url
    'http://localhost:9000/2015-03-31/functions/function/invocations'
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url = url if parts.path.strip("/") else parts._replace(path=INVOCATIONS).geturl()
        self.__name__ = parts.netloc
        # A runtime on this machine is not behind a proxy.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        """Post an event.

        Raises:
            InvocationRefused: the address is not listened on, or the function has no room.
            FunctionError: the answer is an error, or no JSON.
        """
        fields = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(event).encode(), fields)
        try:
            with self._opener.open(request, timeout=context.timeout) as response:
                body = response.read()
        except urllib.error.HTTPError as error:
            if error.code == TOO_MANY_REQUESTS:
                raise InvocationRefused from error
            raise FunctionError(f"{self.url} answered {error.code}") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, ConnectionError):
                raise InvocationRefused from error
            raise
        return self._answer(body)

    def _answer(self, body: bytes) -> Any:
        try:
            answer = json.loads(body) if body else None
        except ValueError:
            text = NOT_JSON.format(url=self.url, body=body[:_SHOWN_BYTES])
            raise FunctionError(text) from None
        if isinstance(answer, dict) and ("errorType" in answer or "errorMessage" in answer):
            raise FunctionError(f"{answer.get('errorType')}: {answer.get('errorMessage')}")
        return answer


def table_and_url(text: str) -> tuple[str, str]:
    """Return the table and the URL that an option names.

    >>> table_and_url("orders=http://localhost:9000/on-change")
    ('orders', 'http://localhost:9000/on-change')

    Raises:
        ValueError: it has another form.
    """
    table, _, url = text.partition("=")
    parts = urlsplit(url)
    if not table or parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(NOT_A_SOURCE.format(text=text))
    return table, url


class ServedSources:
    """Delivers the streams of tables to URLs until it is closed.

    >>> from emulator import Emulator
    >>> sources = ServedSources(Emulator(), [("orders", "http://localhost:9000")])
    >>> sources.close()
    """

    def __init__(self, emulator: Emulator, wanted: list[tuple[str, str]]) -> None:
        self._emulator = emulator
        self._wanted = wanted
        self._open: dict[tuple[Namespace, str, str], tuple[str, EventSource]] = {}
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None
        if wanted:
            self._watcher = threading.Thread(target=self._watch, name="event sources", daemon=True)
            self._watcher.start()

    def close(self) -> None:
        """Deliver no more."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join()
        for _, source in self._open.values():
            source.__exit__(None, None, None)

    def _watch(self) -> None:
        while not self._closing.wait(1 / _LOOKS_PER_SECOND):
            for view in self._emulator.namespaces():
                for table, url in self._wanted:
                    if table in view.tables:
                        self._look(view.namespace, table, url)

    def _look(self, namespace: Namespace, table: str, url: str) -> None:
        """Open a source for the stream that a table has now, and close that of one before."""
        emulator, place = self._emulator.within(namespace), (namespace, table, url)
        try:
            stream = table_of(emulator.account(), table).stream
            known, source = self._open.get(place, (None, None))
            if stream is None or stream.arn == known:
                return
            opened = emulator.event_source(table, UrlFunction(url)).__enter__()
        except EmulatorError:  # it was deleted meanwhile, or its stream is being switched off
            return
        self._open[place] = (stream.arn, opened)
        if source is not None:
            source.__exit__(None, None, None)
