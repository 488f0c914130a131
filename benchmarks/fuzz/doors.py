"""The server's two doors: bytes of HTTP on a connection, and the private routes."""

import contextlib
import gzip
import json
import logging
import re
import time

from benchmarks.fuzz.requests import RequestMaker
from benchmarks.fuzz.spoil import replacement, spoilt, spoilt_bytes
from benchmarks.fuzz.tables import TABLE_NAMES, filled
from emulator import ApiError
from emulator.http.control import ControlRoutes
from emulator.http.http_protocol import HttpRequest
from emulator.http.server import HttpServer, ServerOptions
from emulator.service.catalogue import OPERATIONS

_SIGNED = (
    "AWS4-HMAC-SHA256 Credential=K/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0"
)
_STATUS = re.compile(rb"^HTTP/1\.1 ([0-9]{3}) ", re.MULTILINE)
#: How many requests are made of one state.
_REQUESTS = 500


class Failures(logging.Handler):
    """Keeps what the server logs as a failure of its own, and keeps it from being shown.

    An answer 500 is no failure by itself: a body that is not compressed as it says gets one from
    the service, too (WIR-20).
    """

    def __init__(self):
        super().__init__(logging.ERROR)
        self.seen = []
        self._log = logging.getLogger("emulator")
        self._propagated = self._log.propagate

    def emit(self, record):
        self.seen.append(record.getMessage())

    def __enter__(self):
        self._log.addHandler(self)
        self._log.propagate = False
        return self

    def __exit__(self, *_):
        self._log.removeHandler(self)
        self._log.propagate = self._propagated


class Transport:
    """A connection without a network: what is written is kept."""

    def __init__(self):
        self.written = bytearray()
        self.is_over = False

    def write(self, data):
        self.written += data

    def write_eof(self):
        self.is_over = True

    def close(self):
        self.is_over = True

    abort = close

    def is_closing(self):
        return self.is_over

    def get_write_buffer_size(self):
        return 0

    def set_write_buffer_limits(self, high, low):
        pass

    def pause_reading(self):
        pass


def statuses(answers):
    """Return the statuses of the answers on a connection; no body has such a line in it."""
    return [int(status) for status in _STATUS.findall(answers)]


class _Door:
    """A door of a server, which begins anew after some requests."""

    def __init__(self, random, tally):
        self._random = random
        self._tally = tally
        self._maker = RequestMaker(random)
        self._played = 0
        self._begin()

    def play(self):
        """Make one request."""
        self._played += 1
        if self._played % _REQUESTS == 0:
            self._begin()
        self._play()


class Http(_Door):
    """Requests as bytes, whole or damaged, in pieces of any size, some on one connection."""

    def _begin(self):
        self._server = HttpServer(filled("observe"), ServerOptions(connections=10_000))

    def _play(self):
        chance = self._random.random()
        sent = b"".join(self._message() for _ in range(self._random.choice((1, 1, 1, 2, 3))))
        self.play_bytes(spoilt_bytes(self._random, sent) if chance < 0.6 else sent)

    def play_bytes(self, sent):
        """Send bytes on a connection and judge what comes back."""
        start = time.thread_time()
        try:
            with Failures() as failures:
                answered = self._exchange(sent)
            seen = statuses(answered)
        except Exception as failure:  # what the fuzzer is for
            self._tally.escaped(failure, sent)
            self._begin()
            return
        seconds = time.thread_time() - start
        self._tally.outcomes[str(seen[0]) if seen else "no answer"] += 1
        if failures.seen:
            self._tally.find("500", failures.seen[0], sent)
        self._tally.time(seconds, sent, lambda: self._exchange(sent))

    def _exchange(self, sent):
        connection, transport = self._server.accept(), Transport()
        connection.connection_made(transport)
        while sent and not transport.is_over:
            count = self._random.choice((len(sent), 1, 7, 1000))
            buffer = connection.get_buffer(-1)
            count = min(count, len(sent), len(buffer))
            buffer[:count] = sent[:count]
            connection.buffer_updated(count)
            sent = sent[count:]
        connection.connection_lost(None)
        return bytes(transport.written)

    def _message(self):
        random = self._random
        operation = self._maker.operation()
        body = json.dumps(
            spoilt(random, self._maker.request(operation), self._maker.value)
        ).encode()
        fields = {
            "Host": "localhost:8000",
            "Content-Type": random.choice(
                ("application/x-amz-json-1.0",) * 4 + ("application/json", "text/plain")
            ),
            "X-Amz-Target": f"{OPERATIONS[operation].api}_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": _SIGNED,
        }
        if random.random() < 0.1:
            body, fields["Content-Encoding"] = (
                gzip.compress(body),
                random.choice(("gzip", "deflate", "x-gzip")),
            )
        if random.random() < 0.3:
            name = random.choice(
                (*fields, "Origin", "Expect", "Accept-Encoding", "Connection", "Sec-Fetch-Site")
            )
            fields[name] = random.choice(_FIELD_VALUES)
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        if random.random() < 0.2:
            half = len(body) // 2
            pieces = b"".join(
                b"%x\r\n%b\r\n" % (len(piece), piece)
                for piece in (body[:half], body[half:])
                if piece
            )
            return (
                f"POST / HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode()
                + pieces
                + b"0\r\n\r\n"
            )
        target = random.choice(
            ("/",) * 6 + ("/?X-Amz-Algorithm=a&X-Amz-Credential=b", "/_emulator/health", "/x")
        )
        method = random.choice(("POST",) * 8 + ("GET", "OPTIONS", "HEAD", "PUT"))
        return (
            f"{method} {target} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )


_FIELD_VALUES = (
    "",
    "close",
    "100-continue",
    "gzip",
    "gzip;q=0",
    "http://localhost",
    "null",
    "evil.example",
    "chunked",
    "cross-site",
    "AWS4-HMAC-SHA256 Credential=K",
    "AWS4-",
    "Credential=a/" * 200,
    "a" * 5000,
    "\u00e9",
    "x, y; z=1",
    "[::1]",
    "[",
    "http://[",
)


class Control(_Door):
    """The private routes, with parameters that are spoilt, and an operation after each."""

    def _begin(self):
        self._emulator = filled("observe")
        self._routes = ControlRoutes(self._emulator)
        self._asked = [
            (method, route) for route, methods in self._routes.routes.items() for method in methods
        ]

    def _play(self):
        random = self._random
        method, route = random.choice(self._asked)
        parameters = {
            name: random.choice(
                (make(random), make(random), replacement(random, self._maker.value))
            )
            for name, make in _PARAMETERS.items()
            if random.random() < _WANTED.get(name, 0.15)
        }
        query = (
            "&".join(f"{name}={value}" for name, value in parameters.items())
            if random.random() < 0.2
            else ""
        )
        body = b"" if query else json.dumps(parameters).encode()
        if random.random() < 0.1:
            body = spoilt_bytes(random, body)
        self.play_route(method, f"/_emulator/{route}?{query}", body)

    def play_route(self, method, target, body):
        """Ask for a route, then for an operation, and judge both answers."""
        request = HttpRequest(method, target, {})
        request.body = body
        start = time.thread_time()
        try:
            with Failures():
                response = self._routes.answer(request)
                self._ask_after()
        except Exception as failure:  # what the fuzzer is for
            self._tally.escaped(failure, (method, target, body))
            self._begin()
            return
        seconds = time.thread_time() - start
        self._tally.outcomes[str(response.status)] += 1
        if response.status >= 500:
            self._tally.find("500", target.partition("?")[0], (method, target, body))
        self._tally.time(seconds, (method, target, body), lambda: self._routes.answer(request))

    def _ask_after(self):
        """Ask for something that fault rules may hit; what they inject is an ApiError."""
        operation = self._maker.operation()
        with contextlib.suppress(ApiError):
            self._emulator.call(operation, self._maker.request(operation))


#: What routes take, by name, and how to make it.
_PARAMETERS = {
    "table": lambda random: random.choice(TABLE_NAMES),
    "index": lambda random: random.choice(("wide", "gsi", "local")),
    "metric": lambda random: random.choice(("ConsumedReadCapacityUnits", "UserErrors", "x")),
    "stat": lambda random: random.choice(("Sum", "Average", "Maximum", "p99")),
    "operation": lambda random: random.choice(("PutItem", "x")),
    "start": lambda random: random.choice((0, 1_767_225_600, "1", "x")),
    "end": lambda random: random.choice((0, 1_767_325_600, "inf")),
    "advance": lambda random: random.choice((0, 1, 60, 86_400, 0.5, 10**6, 1e12, 10**400)),
    "id": lambda random: random.choice((1, 2, "1", "x")),
    "namespace": lambda random: random.choice(("*", "*/us-east-1", "K", "K/us-east-1", "x")),
    "kind": lambda random: random.choice(
        ("throttle", "internal_error", "latency", "unprocessed", "conflict", "x")
    ),
    "operations": lambda random: random.choice((["PutItem"], "Query", "x", [])),
    "tables": lambda random: random.choice((["tab"], "tab", [], 5)),
    "key": lambda random: random.choice(({"pk": {"S": "x"}}, {}, None)),
    "share": lambda random: random.choice((0, 0.5, 1, 2)),
    "times": lambda random: random.choice((0, 1, None, 10**30)),
    "after": lambda random: random.choice((0, 1_767_225_600, None, 1e300)),
    "until": lambda random: random.choice((0, 1_867_225_600, None)),
    "latency": lambda random: random.choice((0, 0.5, 3600, 1e9)),
    "seed": lambda random: random.choice((0, 1, -1, 1.5)),
}
_WANTED = {"table": 0.6, "kind": 0.5, "advance": 0.5, "id": 0.4}
