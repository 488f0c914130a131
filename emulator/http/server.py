"""The HTTP server: moves bytes between connections and the protocol, and keeps the limits.

One event loop, no threads: an operation in memory takes microseconds, less than handing it
to a thread does (docs/decisions/0005-http-server.md). Time here is real whatever clock the
emulator runs on; it limits how long a connection may idle or a request may trickle in.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import errno
import gc
import logging
import secrets
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from emulator.http import console, http_protocol
from emulator.http.console import Console, ConsoleMode
from emulator.http.control import ControlRoutes, Parameters, Route, Routes
from emulator.http.doorkeeper import PRIVATE_ROUTES, Doorkeeper
from emulator.http.http_protocol import IDLE, HttpRequest, HttpResponse, Phase
from emulator.http.json_protocol import JsonProtocol, LaterResponse, PageResponse, not_found
from emulator.http.namespaces import CallerNamespaces, NamespaceKeeper
from emulator.http.origins import LOCAL, Origins
from emulator.http.request_log import RequestLog
from emulator.http.served_session import ServedSession
from emulator.protocol import AMZ_JSON, encode_json
from emulator.service import errors, limits

if TYPE_CHECKING:
    from emulator.api import Emulator

_BACKLOG: Final = 512
_READ_BYTES: Final = 16 * limits.KIB
_UNSET: Final = 0.0  # the sweep gives the phase its time: no clock is read per request
#: With more than this unfetched, a client is not read until it has fetched everything.
_WRITE_BUFFER_BYTES: Final = 64 * limits.KIB
#: When clients have let go of so much, the memory is given back to the system.
_TRIMMED_BYTES: Final = 16 * limits.MIB
#: What a large block is for the allocator, and how many are kept apart; Linux has 65,530 maps.
_LARGE_BLOCK_BYTES: Final = 32 * limits.KIB
_LARGE_BLOCKS: Final = 16_384
_M_MMAP_THRESHOLD: Final = -3  # their numbers in glibc's malloc.h
_M_MMAP_MAX: Final = -4
#: What a system answers when it has no descriptor, or no memory, for one connection more.
_OUT_OF_ROOM: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
_OUT_OF_ROOM_SECONDS: Final = 60.0  # between two lines in the log that say so
_DESCRIPTORS_LEFT: Final = 64  # of what a process may have open, for all but connections
_OBJECTS_BETWEEN_COLLECTIONS: Final = 100_000
#: With no more connections than this, each request is answered at once: few come together.
_FEW_CONNECTIONS: Final = 8
#: The most requests that are answered together.
_TOGETHER: Final = 16
#: How long answers wait for others that are made together with them; the last may take longer.
_TOGETHER_SECONDS: Final = 0.001
#: How long pages are written at a time, while others wait.
_TURN_SECONDS: Final = 0.002
#: After the time that stopping may take, how long until the process is interrupted.
_PATIENCE_SECONDS: Final = 2.0
_NO_MORE: Final = object()

TOO_MANY_CONNECTIONS: Final = "This server has {count} connections and takes no more"
TOO_MANY_BYTES: Final = "This server holds {count} bytes of unfinished requests and takes no more"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How the server treats its clients; the times are seconds."""

    #: Origins whose pages may call, separated by commas: ``local`` are those of this machine, ``*``
    #: is any, ``none`` is none.
    cors: str = LOCAL
    #: Names to answer to, beside those of this machine and the address listened on.
    allow_hosts: tuple[str, ...] = ()
    #: Signatures of more than 15 minutes ago or ahead are refused.
    check_times: bool = False
    #: Requests without a signature are answered as DynamoDB Local does (WIR-26).
    as_local: bool = False
    #: All regions are one, as with DynamoDB Local's ``-sharedDb``.
    shared: bool = False
    #: The data of different access keys is apart, unless all is shared.
    keys_apart: bool = False
    #: A key's namespace that is unused for this time is dropped; 0 keeps all.
    namespace_idle_seconds: float = 0.0
    #: What may be kept, by estimate, before namespaces are dropped and writes refused; 0 is any.
    memory_bytes: int = 0
    #: Whether ``GET /`` gives a browser the console, and whether that may change things.
    console: ConsoleMode = "on"
    #: Takes a line for each request.
    log: Callable[[str], None] | None = None
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
    #: On shutdown, how long connections without a request are waited for: one may be on its way.
    drain_seconds: float = 0.25
    #: How often these times are looked at.
    sweep_seconds: float = 0.5
    #: The most connections at a time, as Redis has it; fewer where descriptors are scarce.
    connections: int = 10_000
    #: The most bytes of unfinished requests, and of answers not fetched, over all connections.
    held_bytes: int = 256 * limits.MIB


class _Connection(asyncio.BufferedProtocol):
    """One client's connection: requests in order, answers in the same order.

    It brings the buffer it is read into: asyncio would allocate 256 KiB for every read, which
    takes longer than answering (docs/decisions/0005-http-server.md).
    """

    __slots__ = (
        "_awaits_answer",
        "_deadline",
        "_held_bytes",
        "_lingering",
        "_page",
        "_parser",
        "_paused",
        "_received",
        "_server",
        "_transport",
        "_unfetched_bytes",
    )

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._parser = server.parser()
        self._transport: asyncio.Transport
        self._paused = False  # the client does not fetch its answers
        self._lingering = False  # refused: what still arrives is thrown away
        self._awaits_answer = False  # a request was read; what comes after it waits
        self._page: LaterResponse | None = None  # is being written; what comes after it waits
        self._deadline = _UNSET
        self._held_bytes = 0  # what the server counts for this connection
        self._unfetched_bytes = 0  # the memory that answers take until all of them are fetched
        self._received = bytearray(_READ_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Other loops bring transports that do not inherit from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES, low=0)
        server = self._server
        server.connections.add(self)
        excess = len(server.connections) - server.most_connections
        if server.is_closed:
            transport.close()
        elif excess > server.most_connections:
            self._transport.abort()
        elif excess > 0:
            sentence = TOO_MANY_CONNECTIONS.format(count=server.most_connections)
            self._refuse(errors.ServiceUnavailableException(sentence))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._server.held_bytes -= self._held_bytes
        self._held_bytes = 0
        self._server.forget(self)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - asyncio's signature
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        if self._lingering:
            return
        before = self._parser.phase
        self._parser.feed(bytes(self._received[:nbytes]))
        self._answer_all()
        phase = self._parser.phase
        if phase is not before:  # a trickle within one phase buys no more time for it
            self._deadline = _UNSET
        if self._held_bytes or phase is not IDLE:
            self._hold()

    def pause_writing(self) -> None:
        self._paused = True
        self._deadline = _UNSET
        self._transport.pause_reading()
        self._hold()

    def resume_writing(self) -> None:
        self._paused = False
        self._deadline = _UNSET
        self._hold()
        self._read_on()

    def _answer_all(self) -> None:
        server, parser = self._server, self._parser
        while parser.phase is not IDLE and not self._is_held_up():
            if self._transport.is_closing():
                return
            try:
                request = parser.take()
            except errors.ApiError as fault:
                self._refuse(fault)
                return
            if request is None:
                if parser.awaits_continue():
                    self._transport.write(http_protocol.CONTINUE)
                return
            self._deadline = _UNSET
            if len(server.connections) > _FEW_CONNECTIONS:
                self._awaits_answer = True
                server.together.answer(self, request)
            else:
                self._take_response(request, server.respond(request))

    def _is_held_up(self) -> bool:
        """Return whether the next request has to wait for an answer to be made or fetched."""
        return self._paused or self._awaits_answer or self._page is not None

    def take_answer(self, request: HttpRequest, response: HttpResponse) -> None:
        """Send the answer to a request that waited for it, and answer those that came after it."""
        self._awaits_answer = False
        if not (self._lingering or self._transport.is_closing()):
            self._take_response(request, response)
            if self._parser.phase is not IDLE:
                self._answer_all()
                self._hold()

    def _take_response(self, request: HttpRequest, response: HttpResponse) -> None:
        if isinstance(response, LaterResponse) and not response.is_whole:
            self._send_later(request, response)
        else:
            self._send(request, response)

    def _send(
        self, request: HttpRequest, response: HttpResponse, *, body_apart: bool = False
    ) -> None:
        server, transport = self._server, self._transport
        is_last = server.is_closing and self._parser.phase is IDLE
        keep_alive = request.keep_alive and not is_last
        transport.write(
            server.render(request, response, keep_alive=keep_alive, body_apart=body_apart)
        )
        if body_apart:
            transport.write(response.body)
        if transport.get_write_buffer_size():
            self._hold()
        if is_last:
            self._linger()
        elif not keep_alive:
            transport.close()

    def _send_later(self, request: HttpRequest, page: LaterResponse) -> None:
        """Have a page written while others are served; answers stay in order."""

        def send() -> None:
            self._page = None
            if not self._transport.is_closing():
                self._send(request, page, body_apart=True)
                self._read_on()
                self._hold()

        self._page = page
        self._transport.pause_reading()
        server = self._server
        # A page does not wait for an advance of the clock.
        (server.pages if isinstance(page, PageResponse) else server.advances).write(page, send)

    def _read_on(self) -> None:
        """Answer what has been read, and read on if nothing is in the way."""
        self._answer_all()
        if not self._paused and self._page is None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _refuse(self, fault: errors.ApiError) -> None:
        """Answer what cannot be read on, and throw away the rest.

        Closing at once would reset the connection under a client that is still sending, and
        it would never see the answer.
        """
        self._transport.write(self._server.refuse(fault))
        self._linger()

    def _linger(self) -> None:
        """Say no more, and read on until the client has heard the last answer."""
        self._lingering = True
        self._deadline = _UNSET
        self._parser = self._server.parser()
        self._hold()
        self._transport.write_eof()

    def _hold(self) -> None:
        """Count what is held for this client, and refuse it if it is too much for all.

        A client that has yet to fetch answers would not see a refusal: it is cut off.
        """
        server = self._server
        unfetched = self._transport.get_write_buffer_size()
        # A buffer that is fetched in part keeps the memory of the whole.
        self._unfetched_bytes = max(unfetched, self._unfetched_bytes) if unfetched else 0
        held_bytes = self._parser.held_bytes + self._unfetched_bytes
        grows = held_bytes > self._held_bytes
        server.held_bytes += held_bytes - self._held_bytes
        self._held_bytes = held_bytes
        if not grows or server.held_bytes <= server.options.held_bytes:
            return
        if self._unfetched_bytes:
            self._transport.abort()
        else:
            sentence = TOO_MANY_BYTES.format(count=server.options.held_bytes)
            self._refuse(errors.ServiceUnavailableException(sentence))

    def check_time(self, now: float) -> None:
        """Close the connection when its time is over; say so to a request that has begun."""
        if self._held_bytes:
            self._hold()
        if self._awaits_answer or self._page is not None:  # it waits for us
            self._deadline = _UNSET
        elif self._deadline == _UNSET:
            self._deadline = now + self._phase_seconds()
        elif now < self._deadline:
            return
        elif self._paused or self._lingering or self._unfetched_bytes:
            self._transport.abort()
        else:
            if self._parser.phase is not IDLE:
                self._transport.write(self._server.refuse(errors.RequestTimeoutException()))
            self._transport.close()

    def _phase_seconds(self) -> float:
        options = self._server.options
        if self._lingering:
            return options.linger_seconds
        if self._paused or self._parser.phase is Phase.BODY:
            return options.body_seconds
        return options.idle_seconds if self._parser.phase is IDLE else options.head_seconds

    def close_gently(self, deadline: float) -> None:
        """Close now, or when the request that has begun is answered.

        A request that the system has received and we have not read has begun, too.
        """
        is_idle = self._parser.phase is IDLE and not (self._is_held_up() or self._lingering)
        if is_idle and not _has_unread(self._transport):
            self._transport.close()
        else:
            self._deadline = deadline

    def fail(self, failure: Exception) -> None:
        """Close after a fault of our own, as asyncio does with what it has called itself."""
        self._transport.abort()
        context = {"message": "a request failed", "exception": failure, "protocol": self}
        asyncio.get_running_loop().call_exception_handler(context)

    def abort(self) -> None:
        """Close without waiting for anything."""
        self._transport.abort()


def _has_unread(transport: asyncio.Transport) -> bool:
    """Return whether the system holds bytes of a client that the loop has not read yet."""
    connection = transport.get_extra_info("socket")
    if connection is None or not hasattr(select, "poll"):
        return False
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


class _RequestsTogether:
    """Requests of one turn of the loop, which are answered some at a time, step by step.

    A step that is repeated finds its code in the processor's nearest cache, which has no room for
    all that a request passes through. No client waits for the whole turn, or for several long
    requests of others.
    """

    def __init__(self, respond: Callable[[HttpRequest], HttpResponse]) -> None:
        self._respond = respond
        self._waiting: list[tuple[_Connection, HttpRequest]] = []

    def answer(self, connection: _Connection, request: HttpRequest) -> None:
        """Answer a request, at the latest in the next turn of the loop."""
        self._waiting.append((connection, request))
        if len(self._waiting) >= _TOGETHER:
            self._answer_all()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._answer_all)

    def _answer_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        answered: list[tuple[_Connection, HttpRequest, HttpResponse]] = []
        ends_at = time.perf_counter() + _TOGETHER_SECONDS
        for connection, request in waiting:
            try:
                answered.append((connection, request, self._respond(request)))
            except Exception as failure:
                connection.fail(failure)
            if time.perf_counter() > ends_at:
                _send_all(answered)
                ends_at = time.perf_counter() + _TOGETHER_SECONDS
        _send_all(answered)


def _send_all(answered: list[tuple[_Connection, HttpRequest, HttpResponse]]) -> None:
    """Send answers to requests that waited for them; none is left."""
    for connection, request, response in answered:
        try:
            connection.take_answer(request, response)
        except Exception as failure:
            connection.fail(failure)
    answered.clear()


class _PagesInWriting:
    """Long pages, which are written one after the other, some pieces in each turn of the loop.

    Other requests are served in between: no client waits for a whole page of another.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[LaterResponse, Callable[[], None]]] = deque()
        self._has_turn = False

    def write(self, page: LaterResponse, send: Callable[[], None]) -> None:
        """Write a page, and call ``send`` when it is whole."""
        self._waiting.append((page, send))
        self._take_turns()

    def _take_turns(self) -> None:
        if self._waiting and not self._has_turn:
            self._has_turn = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._has_turn = False
        page, send = self._waiting.popleft()
        ends_at = time.perf_counter() + _TURN_SECONDS
        try:
            page.write_piece()
            while not page.is_whole and time.perf_counter() < ends_at:
                page.write_piece()
            if page.is_whole:
                send()
            else:
                self._waiting.appendleft((page, send))
        finally:
            self._take_turns()


class HttpServer:
    """Listens, answers from one emulator, and ends in good order; lives on one event loop."""

    def __init__(
        self,
        emulator: Emulator,
        options: ServerOptions,
        *,
        session: ServedSession | None = None,
        stop: Callable[[], object] | None = None,
    ) -> None:
        self.options = options
        self._emulator = emulator
        self._callers = CallerNamespaces(
            emulator,
            keys_apart=options.keys_apart and not options.shared,
            shared=options.shared,
        )
        self._session = ServedSession(emulator) if session is None else session
        self._due_work: Iterator[None] = iter(())
        self._has_due_work = False
        self.connections: set[_Connection] = set()
        self.most_connections = min(options.connections, _most_descriptors())
        self.held_bytes = 0
        self.together = _RequestsTogether(self.respond)
        self.pages = _PagesInWriting()
        self.advances = _PagesInWriting()
        self.memory = _Memory()
        self.is_closing = False  # requests are answered, and their connections end
        self.is_closed = False  # nobody new is served
        self.time: Callable[[], float] = time.monotonic
        origins = Origins(options.cors)
        self._request_log = (
            None
            if options.log is None
            else RequestLog(
                emulator,
                options.log,
                keys_apart=options.keys_apart and not options.shared,
                shared=options.shared,
            )
        )
        self._keeper = NamespaceKeeper(
            emulator,
            idle_seconds=options.namespace_idle_seconds,
            memory_bytes=options.memory_bytes,
            time=lambda: self.time(),
            note=_log.warning if options.log is None else options.log,
        )
        is_kept = options.memory_bytes or (options.keys_apart and options.namespace_idle_seconds)
        call = self._keeper.call if is_kept else emulator.call_in_pieces
        self._protocol = JsonProtocol(
            call,
            region=emulator.region,
            shared=options.shared,
            keys_apart=options.keys_apart,
            origins=origins,
            now=time.time if options.check_times else None,
            as_local=options.as_local,
        )
        self._doorkeeper = Doorkeeper(origins, options.allow_hosts)
        self._console = Console(
            emulator,
            options.console,
            call=call,
            doorkeeper=self._doorkeeper,
            callers=self._callers,
            time=lambda: self.time(),
        )
        self._feed = self._console.feed
        self._control = ControlRoutes(
            emulator, {**self._session.routes, **_routes_to_stop(stop), **self._console.routes}
        )
        self._writer = http_protocol.ResponseWriter(now=time.time, seed=secrets.randbits(100))
        self._all_closed = asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._out_of_room_at: float | None = None  # when the log said so last

    def parser(self) -> http_protocol.RequestParser:
        """Return a parser for the requests of one connection."""
        return http_protocol.RequestParser(
            body_bytes=self.options.body_bytes, head_bytes=self.options.head_bytes
        )

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        self.time = loop.time
        self._listener = await loop.create_server(self.accept, host, port, backlog=_BACKLOG)
        loop.set_exception_handler(self._note_failure)
        addresses = [listening.getsockname()[0] for listening in self._listener.sockets]
        self._doorkeeper.listen_on([host, *addresses])
        self._sweep()
        return int(self._listener.sockets[0].getsockname()[1])

    def accept(self) -> asyncio.BufferedProtocol:
        """Return the protocol that serves one connection."""
        return _Connection(self)

    async def stop(self) -> None:
        """Stop listening, let requests that have begun finish, and close everything."""
        self.is_closing = True
        if self._listener is not None:
            await asyncio.sleep(0)  # takes over who has connected, once more
            self._listener.close()
        self._note_all_closed()
        await self._wait_until_closed(self.options.drain_seconds)
        self.is_closed = True
        deadline = self.time() + self.options.grace_seconds
        for connection in tuple(self.connections):
            connection.close_gently(deadline)
        await self._wait_until_closed(self.options.grace_seconds + 2 * self.options.sweep_seconds)
        self.cut_off()

    def cut_off(self) -> None:
        """Close everything without waiting for anything."""
        if self._listener is not None:
            self._listener.close()
        for connection in tuple(self.connections):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._console.close()

    async def _wait_until_closed(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._all_closed.wait(), seconds)

    def answer(self, request: HttpRequest, *, keep_alive: bool) -> bytes:
        """Return the bytes that answer ``request``."""
        response = self.respond(request)
        if isinstance(response, LaterResponse):
            response.write_all()
        return self.render(request, response, keep_alive=keep_alive)

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Return the response to ``request``; a long page may have to be written yet."""
        if self._request_log is None and not self._feed.is_open:
            return self._respond(request)
        started = time.perf_counter()
        response = self._respond(request)
        # Of a long page, its time is that of the operation: it is written while others are served.
        self._note(request, response, time.perf_counter() - started)
        return response

    def render(
        self,
        request: HttpRequest,
        response: HttpResponse,
        *,
        keep_alive: bool,
        body_apart: bool = False,
    ) -> bytes:
        """Return the bytes of the response to ``request``; a long body need not be copied."""
        without_body = body_apart or request.method == "HEAD"
        return self._writer.render(response, keep_alive=keep_alive, without_body=without_body)

    def _respond(self, request: HttpRequest) -> HttpResponse:
        response = self._doorkeeper.refusal(request)
        if response is not None:
            return response
        is_private = request.target.startswith(PRIVATE_ROUTES) and request.method != "OPTIONS"
        if not is_private and request.method == "POST":
            return self._answer_operation(request)
        page = self._console.page(request) or self._console.refusal(request)
        response = page or (self._control if is_private else self._protocol).answer(request)
        if is_private and "origin" in request.fields:
            response.field_lines += self._doorkeeper.origins.lines(request.fields["origin"])
        return response

    def _answer_operation(self, request: HttpRequest) -> HttpResponse:
        if not self._session.is_on:
            return self._protocol.answer(request)
        namespace = self._callers.of(request.fields.get("authorization", ""))
        return self._session.answer(request, namespace, self._protocol.answer)

    def _note(
        self,
        request: HttpRequest,
        response: HttpResponse,
        seconds: float,
    ) -> None:
        """Tell the log and an open console of a request; what the console asks is not told."""
        if request.target.startswith(console.PREFIX):
            return
        if self._request_log is not None:
            self._request_log.record(request, response, seconds)
        if self._feed.is_open:
            self._feed.note(request, response, seconds)

    def refuse(self, fault: errors.ApiError) -> bytes:
        """Return the bytes that say to a client why its connection ends."""
        if isinstance(fault, errors.RequestLineTooLongException):
            response = not_found()
        else:
            response = HttpResponse(fault.status, AMZ_JSON, encode_json(fault.body()))
        return self._writer.render(response, keep_alive=False)

    def forget(self, connection: _Connection) -> None:
        """Drop a connection that is closed."""
        self.connections.discard(connection)
        self._note_all_closed()

    def _note_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log what went wrong in the loop; that there is no room for connections, once a minute."""
        failure = context.get("exception")
        if not isinstance(failure, OSError) or failure.errno not in _OUT_OF_ROOM:
            loop.default_exception_handler(context)
            return
        now = self.time()
        if self._out_of_room_at is None or now >= self._out_of_room_at + _OUT_OF_ROOM_SECONDS:
            self._out_of_room_at = now
            _log.warning(
                "no more connections can be taken: %s; others wait until some close",
                failure.strerror,
            )

    def _note_all_closed(self) -> None:
        if self.is_closing and not self.connections:
            self._all_closed.set()

    def _sweep(self) -> None:
        now = self.time()
        for connection in tuple(self.connections):
            connection.check_time(now)
        self.memory.look(self.held_bytes)
        if self.options.keys_apart or self.options.memory_bytes:
            self._keeper.sweep()
        self._feed.sweep()
        if not self._has_due_work:
            self._due_work = self._emulator.catch_up_in_turns()
            self._work()
        self._sweeper = asyncio.get_running_loop().call_later(
            self.options.sweep_seconds, self._sweep
        )

    def _work(self) -> None:
        """Have the emulator do what is due, some in each turn of the loop."""
        self._has_due_work = next(self._due_work, _NO_MORE) is not _NO_MORE
        if self._has_due_work and not self.is_closed:
            asyncio.get_running_loop().call_soon(self._work)


def _routes_to_stop(stop: Callable[[], object] | None) -> Routes:
    """Return the route that stops a server, where it can be stopped."""
    if stop is None:
        return {}

    def answer(_parameters: Parameters) -> dict[str, Any]:
        stop()
        return {}

    return {"stop": {"POST": Route(answer, "Stop in good order, as by SIGTERM")}}


def serve(
    emulator: Emulator,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    options: ServerOptions | None = None,
    session: ServedSession | None = None,
    on_ready: Callable[[str], None] = lambda _url: None,
) -> None:
    """Serve ``emulator`` over HTTP until SIGINT, SIGTERM or ``POST /_emulator/stop``.

    Args:
        emulator: The emulator that answers.
        host: The address to listen on; the default is reachable from this machine only.
        port: The port, or 0 for a free one.
        options: Limits and origins; see ``ServerOptions``.
        session: Keeps the records of the tests that call.
        on_ready: Called with the endpoint's URL as soon as it answers.

    Raises:
        OSError: the address cannot be listened on.
    """
    chosen = options or ServerOptions()
    stopping_seconds = chosen.drain_seconds + chosen.grace_seconds + 2 * chosen.sweep_seconds
    with _rare_collections(), _StopSignals(stopping_seconds + _PATIENCE_SECONDS) as signals:
        server = HttpServer(emulator, chosen, session=session, stop=signals.ask)
        server.memory.keep_large_blocks_apart()
        asyncio.run(_serve(server, host, port, on_ready, signals))


class _Memory:
    """Gives back to the system what clients had, where the allocator is glibc's.

    By itself glibc keeps blocks of a size of which one was freed, and all that lies below anything
    still used: after 1,000 answers of 1 MB that were not fetched, and gone, the process had 1 GB.
    """

    def __init__(self) -> None:
        self._most_bytes = 0  # that were held since memory was given back
        self._calls: tuple[Callable[..., int], Callable[..., int]] | None = None
        with contextlib.suppress(AttributeError, OSError, TypeError):
            import ctypes

            library = ctypes.CDLL(None)
            self._calls = library.malloc_trim, library.mallopt

    def keep_large_blocks_apart(self) -> None:
        """Have every large block, up to a number of them, returned when it is freed."""
        if self._calls is not None:
            _, set_option = self._calls
            set_option(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)
            set_option(_M_MMAP_MAX, _LARGE_BLOCKS)

    def look(self, held_bytes: int) -> None:
        """Give memory back once most of what was held is not held any more."""
        self._most_bytes = max(self._most_bytes, held_bytes)
        freed_bytes = self._most_bytes - held_bytes
        if freed_bytes > max(_TRIMMED_BYTES, 3 * held_bytes):
            self._most_bytes = held_bytes
            gc.collect(0)  # asyncio's transports refer to themselves
            if self._calls is not None:
                trim, _ = self._calls
                trim(0)


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Let a page of results be built without looking for cycles, of which it has none.

    A page of 1 MB is some 60,000 objects. By Python's defaults they are searched again and again
    while they come, and all tables with them: half of the page's time, while all clients wait.
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def _serve(
    server: HttpServer,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    signals: _StopSignals,
) -> None:
    try:
        port = await server.start(host, port)
        on_ready(_url(host, port))
        await signals.first()
        await server.stop()
    finally:
        server.cut_off()


class _StopSignals:
    """SIGINT and SIGTERM while it stands: the first is waited for, the second interrupts.

    So does the time, if it runs out after the first. To be asked to stop is like the first. The
    handlers are Python's and not the loop's: those wait for the loop, which may be inside of one
    long request.
    """

    def __init__(self, patience_seconds: float) -> None:
        self._timer = threading.Timer(patience_seconds, _interrupt_main_thread)
        self._timer.daemon = True
        self._before: dict[signal.Signals, Any] = {}
        self._has_come = False
        self._tell: Callable[[], Any] = lambda: None

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_raised: object) -> None:
        self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    async def first(self) -> None:
        """Return when the first signal has come."""
        loop = asyncio.get_running_loop()
        has_come = asyncio.Event()
        self._tell = lambda: loop.call_soon_threadsafe(has_come.set)
        if self._has_come:
            has_come.set()
        await has_come.wait()

    def ask(self) -> None:
        """Do what the first signal does; to be asked again does nothing."""
        if not self._has_come:
            self._has_come = True
            self._timer.start()
            self._tell()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self._has_come:
            raise KeyboardInterrupt
        self.ask()


def _interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:  # on Windows, where a sleep goes on to its end
        _thread.interrupt_main()


def _most_descriptors() -> int:
    """Return how many connections the system lets this process have."""
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return 2**31
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most == resource.RLIM_INFINITY:
        return 2**31
    return max(1, most - min(_DESCRIPTORS_LEFT, most // 4))


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
        self._options = options or ServerOptions(grace_seconds=1.0, drain_seconds=0.02)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], Any] = lambda: None

    @property
    def endpoint_url(self) -> str:
        """The ``endpoint_url`` for clients."""
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
        server = HttpServer(self.emulator, self._options, stop=ended.set)
        self.port = await server.start(self.host, self.port)
        self._end = lambda: loop.call_soon_threadsafe(ended.set)
        self._ready.set()
        await ended.wait()
        await server.stop()
