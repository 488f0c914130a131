"""The HTTP server: moves bytes between connections and the protocol, and keeps the limits.

One event loop, no threads: an operation in memory takes microseconds, less than handing it
to a thread does (docs/decisions/0005-http-server.md). Time here is real whatever clock the
emulator runs on; it limits how long a connection may idle or a request may trickle in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, cast

from emulator.http import http_protocol
from emulator.http.control import ControlRoutes
from emulator.http.json_protocol import JsonProtocol
from emulator.protocol import AMZ_JSON, encode_json
from emulator.service import errors, limits

if TYPE_CHECKING:
    from emulator.api import Emulator

_BACKLOG: Final = 512
_READ_BYTES: Final = 16 * limits.KIB
_UNSET: Final = 0.0  # the sweep gives the phase its time: no clock is read per request
_WRITE_BUFFER_BYTES: Final = limits.MIB

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How the server treats its clients; the times are seconds."""

    #: Origins a browser may call from, separated by commas; ``*`` is any, as in the service.
    cors: str = "*"
    #: All regions are one, as with DynamoDB Local's ``-sharedDb``.
    shared: bool = False
    #: The longest request body; the service's own limit. Rule WIR-16.
    body_bytes: int = limits.REQUEST_BYTES
    #: The longest request line with its fields.
    head_bytes: int = http_protocol.HEAD_BYTES
    #: A connection without a request is closed after this time.
    idle_seconds: float = 75.0
    #: A request's head must arrive within this time of its first byte.
    head_seconds: float = 10.0
    #: A request's body must arrive, and an answer be fetched, within this time.
    body_seconds: float = 60.0
    #: After a refusal, how long to read on so that the client sees the answer.
    linger_seconds: float = 5.0
    #: On shutdown, how long requests that have begun may take to finish.
    grace_seconds: float = 5.0
    #: How often these times are looked at.
    sweep_seconds: float = 0.5


class _Connection(asyncio.BufferedProtocol):
    """One client's connection: requests in order, answers in the same order.

    It brings the buffer it is read into: asyncio would allocate 256 KiB for every read, which
    takes longer than answering (docs/decisions/0005-http-server.md).
    """

    __slots__ = (
        "_deadline",
        "_lingering",
        "_parser",
        "_paused",
        "_received",
        "_server",
        "_transport",
    )

    def __init__(self, server: HttpServer) -> None:
        options = server.options
        self._server = server
        self._parser = http_protocol.RequestParser(
            body_bytes=options.body_bytes, head_bytes=options.head_bytes
        )
        self._transport: asyncio.Transport
        self._paused = False  # the client does not fetch its answers
        self._lingering = False  # refused: what still arrives is thrown away
        self._deadline = _UNSET
        self._received = bytearray(_READ_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Other loops bring transports that do not inherit from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES)
        self._server.connections.add(self)
        if self._server.is_closing:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._server.forget(self)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - asyncio's signature
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        if self._lingering:
            return
        had_head = self._parser.has_head
        was_idle = self._parser.is_idle
        self._parser.feed(bytes(memoryview(self._received)[:nbytes]))
        self._answer_all()
        # A trickle within one phase buys no more time for it.
        if was_idle or self._parser.has_head != had_head:
            self._deadline = _UNSET

    def pause_writing(self) -> None:
        self._paused = True
        self._deadline = _UNSET
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        self._deadline = _UNSET
        self._answer_all()
        if not self._paused:
            self._transport.resume_reading()

    def _answer_all(self) -> None:
        parser, transport, answer = self._parser, self._transport, self._server.answer
        while not self._paused and not transport.is_closing():
            try:
                request = parser.take()
            except errors.ApiError as fault:
                self._refuse(fault)
                return
            if request is None:
                break
            self._deadline = _UNSET
            keep_alive = request.keep_alive and not self._server.is_closing
            transport.write(answer(request, keep_alive=keep_alive))
            if not keep_alive:
                transport.close()
        if parser.awaits_continue():
            transport.write(http_protocol.CONTINUE)

    def _refuse(self, fault: errors.ApiError) -> None:
        """Answer what cannot be read on, and throw away the rest.

        Closing at once would reset the connection under a client that is still sending, and
        it would never see the answer.
        """
        self._transport.write(self._server.refuse(fault))
        self._lingering = True
        self._deadline = _UNSET
        self._transport.write_eof()

    def check_time(self, now: float) -> None:
        """Close the connection when its time is over; say so to a request that has begun."""
        if self._deadline == _UNSET:
            self._deadline = now + self._phase_seconds()
        elif now < self._deadline:
            return
        elif self._paused or self._lingering:
            self._transport.abort()
        else:
            if not self._parser.is_idle:
                self._transport.write(self._server.refuse(errors.RequestTimeoutException()))
            self._transport.close()

    def _phase_seconds(self) -> float:
        options = self._server.options
        if self._lingering:
            return options.linger_seconds
        if self._paused or self._parser.has_head:
            return options.body_seconds
        return options.idle_seconds if self._parser.is_idle else options.head_seconds

    def close_gently(self, deadline: float) -> None:
        """Close now, or when the request that has begun is answered."""
        if self._parser.is_idle and not self._paused:
            self._transport.close()
        else:
            self._deadline = deadline

    def abort(self) -> None:
        """Close without waiting for anything."""
        self._transport.abort()


class HttpServer:
    """Listens, answers from one emulator, and ends in good order; lives on one event loop."""

    def __init__(self, emulator: Emulator, options: ServerOptions) -> None:
        self.options = options
        self.connections: set[_Connection] = set()
        self.is_closing = False
        self.time: Callable[[], float] = time.monotonic
        self._control = ControlRoutes(emulator)
        self._protocol = JsonProtocol(
            emulator.call,
            region=emulator.region,
            shared=options.shared,
            cors=options.cors,
        )
        self._writer = http_protocol.ResponseWriter(now=time.time, seed=secrets.randbits(100))
        self._all_closed = asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        self.time = loop.time
        self._listener = await loop.create_server(self.accept, host, port, backlog=_BACKLOG)
        self._sweep()
        return int(self._listener.sockets[0].getsockname()[1])

    def accept(self) -> asyncio.BufferedProtocol:
        """Return what serves one connection."""
        return _Connection(self)

    async def stop(self) -> None:
        """Stop listening, let requests that have begun finish, and close everything."""
        self.is_closing = True
        if self._listener is not None:
            self._listener.close()
        deadline = self.time() + self.options.grace_seconds
        for connection in tuple(self.connections):
            connection.close_gently(deadline)
        self._note_all_closed()
        with contextlib.suppress(TimeoutError):
            patience = self.options.grace_seconds + 2 * self.options.sweep_seconds
            await asyncio.wait_for(self._all_closed.wait(), patience)
        for connection in tuple(self.connections):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()

    def answer(self, request: http_protocol.HttpRequest, *, keep_alive: bool) -> bytes:
        """Return the bytes that answer ``request``."""
        if request.target.startswith("/_emulator/"):
            response = self._answer_control(request)
        else:
            response = self._protocol.answer(request)
        return self._writer.render(
            response, keep_alive=keep_alive, without_body=request.method == "HEAD"
        )

    def refuse(self, fault: errors.ApiError) -> bytes:
        """Return the bytes that say to a client why its connection ends."""
        response = http_protocol.HttpResponse(fault.status, AMZ_JSON, encode_json(fault.body()))
        return self._writer.render(response, keep_alive=False)

    def forget(self, connection: _Connection) -> None:
        """Drop a connection that is closed."""
        self.connections.discard(connection)
        self._note_all_closed()

    def _answer_control(self, request: http_protocol.HttpRequest) -> http_protocol.HttpResponse:
        origin = request.fields.get("origin")
        if origin is None:
            return self._control.answer(request)
        if not self._protocol.allows_origin(origin):
            return self._control.refuse_origin(origin)
        if request.method == "OPTIONS":
            return self._protocol.answer(request)
        response = self._control.answer(request)
        response.field_lines = self._protocol.origin_lines(origin)
        return response

    def _note_all_closed(self) -> None:
        if self.is_closing and not self.connections:
            self._all_closed.set()

    def _sweep(self) -> None:
        now = self.time()
        for connection in tuple(self.connections):
            connection.check_time(now)
        self._sweeper = asyncio.get_running_loop().call_later(
            self.options.sweep_seconds, self._sweep
        )


def serve(
    emulator: Emulator,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    options: ServerOptions | None = None,
    on_ready: Callable[[str], None] = lambda _url: None,
) -> None:
    """Serve ``emulator`` over HTTP until SIGINT or SIGTERM.

    Args:
        emulator: Who answers.
        host: The address to listen on; the default is reachable from this machine only.
        port: The port, or 0 for a free one.
        options: Limits and origins; see ``ServerOptions``.
        on_ready: Called with the endpoint's URL as soon as it answers.

    Raises:
        OSError: the address cannot be listened on.
    """
    asyncio.run(_serve(emulator, host, port, options or ServerOptions(), on_ready))


async def _serve(
    emulator: Emulator,
    host: str,
    port: int,
    options: ServerOptions,
    on_ready: Callable[[str], None],
) -> None:
    server = HttpServer(emulator, options)
    with _stop_signals() as stopped:
        port = await server.start(host, port)
        on_ready(_url(host, port))
        await stopped.wait()
        await server.stop()


@contextlib.contextmanager
def _stop_signals() -> Iterator[asyncio.Event]:
    """Set the event on the first SIGINT or SIGTERM; a second one ends the process as usual."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        stopped.set()
        for number in numbers:
            loop.remove_signal_handler(number)

    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield stopped
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class ServerThread:
    """A server in a thread of its own, for tests: a real endpoint, gone with the block.

    >>> import urllib.request
    >>> from emulator import Emulator
    >>> with ServerThread(Emulator()) as server:
    ...     urllib.request.urlopen(server.endpoint_url).read()
    b'healthy: dynamodb.us-east-1.amazonaws.com '
    """

    def __init__(
        self,
        emulator: Emulator,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        options: ServerOptions | None = None,
    ) -> None:
        self.emulator = emulator
        self.host = host
        self.port = port
        self._options = options or ServerOptions(grace_seconds=1.0)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], Any] = lambda: None

    @property
    def endpoint_url(self) -> str:
        """What a client's ``endpoint_url`` is set to."""
        return _url(self.host, self.port)

    def start(self) -> Self:
        """Start, and return when the endpoint answers.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._thread = threading.Thread(target=self._run, name="dynamometer", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def stop(self) -> None:
        """End in good order and wait for the end; a second call does nothing."""
        if self._thread is not None:
            self._end()
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failure:  # handed to the thread that waits in start()
            self._failure = failure
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        server = HttpServer(self.emulator, self._options)
        self.port = await server.start(self.host, self.port)
        self._end = lambda: loop.call_soon_threadsafe(ended.set)
        self._ready.set()
        await ended.wait()
        await server.stop()
