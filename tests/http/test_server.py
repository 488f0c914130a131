"""The HTTP server over real sockets on the loopback, with a stand-in for the emulator."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import http.client
import json
import logging
import signal
import socket
import sys
import threading
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator, ManualClock
from emulator.api import LongAnswer
from emulator.clock import NANOSECONDS
from emulator.engine import minutes
from emulator.http import server as server_module
from emulator.http.server import HttpServer, ServerOptions, ServerThread, serve
from tests.tables import table

FIELDS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.ListTables",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=00",
}
QUICK = ServerOptions(
    idle_seconds=0.3,
    head_seconds=0.2,
    body_seconds=0.3,
    linger_seconds=0.2,
    grace_seconds=0.5,
    drain_seconds=0.02,
    sweep_seconds=0.02,
)


class StandIn:
    """Answers every operation with its request, or with a long text."""

    region = "us-east-1"

    def call_in_pieces(self, operation, request, *, region=None):
        if "Bytes" in request:
            return {"text": "x" * request["Bytes"]}
        return {"operation": operation, "region": region, **request}

    def catch_up_in_turns(self):
        return iter(())


def stand_in() -> Any:
    return StandIn()


@pytest.fixture(scope="module")
def server():
    with ServerThread(stand_in()) as running:
        yield running


@pytest.fixture
def quick():
    with ServerThread(stand_in(), options=QUICK) as running:
        yield running


def message(body=b"{}", fields=FIELDS, *, version=b"1.1") -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    return b"POST / HTTP/%b\r\n%bContent-Length: %d\r\n\r\n%b" % (version, lines, len(body), body)


@contextlib.contextmanager
def connected(server):
    with socket.create_connection((server.host, server.port), timeout=10) as client:
        yield client


def receive_all(client) -> bytes:
    """Return everything until the server closes."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65536):
            received += piece
    return received


def pause():
    threading.Event().wait(0.01)


def send_slowly(client, data):
    for byte in data:
        client.sendall(bytes([byte]))
        pause()


def flood(client):
    """Ask for answers and fetch none, until nothing more can be sent."""
    client.settimeout(0.1)
    with contextlib.suppress(TimeoutError):
        while True:
            client.sendall(message(b'{"Bytes": 1000000}') * 20)
    client.settimeout(10)


def read_answers(client, count):
    """Return status and JSON of the next answers on a connection."""
    answers = []
    stream = client.makefile("rb")
    for _ in range(count):
        status = int(stream.readline().split()[1])
        fields = http.client.parse_headers(stream)
        answers.append((status, json.loads(stream.read(int(fields["Content-Length"])))))
    return answers


def ask(server, method="POST", target="/", body=b"{}", fields=FIELDS, **options):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    try:
        connection.request(method, target, body, fields, **options)
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


LISTED = (200, {"operation": "ListTables", "region": "eu-west-1"})


def test_a_connection_serves_one_request_after_the_other(server):
    with connected(server) as client:
        for _ in range(3):
            client.sendall(message())
            assert read_answers(client, 1) == [LISTED]


def test_pipelined_requests_are_answered_in_order(server):
    bodies = [b'{"n": %d}' % number for number in range(50)]
    with connected(server) as client:
        client.sendall(b"".join(message(body) for body in bodies))

        assert [answer["n"] for _, answer in read_answers(client, 50)] == list(range(50))


def test_a_request_may_come_byte_by_byte(server):
    with connected(server) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in message():
            client.sendall(bytes([byte]))

        assert read_answers(client, 1) == [LISTED]


def test_the_connection_ends_when_the_client_says_so(server):
    for sent in (message(fields=FIELDS | {"Connection": "close"}), message(version=b"1.0")):
        with connected(server) as client:
            client.sendall(sent)
            received = receive_all(client)

        assert received.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\nConnection: close\r\n" in received


def test_a_client_that_sends_nothing_more_still_gets_its_answers(server):
    with connected(server) as client:
        client.sendall(message() + message())
        client.shutdown(socket.SHUT_WR)

        assert receive_all(client).count(b"HTTP/1.1 200 OK") == 2


def test_chunks_and_compression_are_read(server):
    pieces = iter([gzip.compress(b'{"a": "b"}')[:5], gzip.compress(b'{"a": "b"}')[5:]])
    fields = FIELDS | {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}

    status, _, body = ask(server, body=pieces, fields=fields, encode_chunked=True)

    assert (status, json.loads(body)["a"]) == (200, "b")


def test_a_client_that_waits_is_told_to_go_on(server):
    head, _, body = message(fields=FIELDS | {"Expect": "100-continue"}).partition(b"\r\n\r\n")
    with connected(server) as client:
        client.sendall(head + b"\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"

        client.sendall(body)
        assert read_answers(client, 1) == [LISTED]


def test_head_is_answered_without_a_body(server):
    with connected(server) as client:
        client.sendall(b"HEAD / HTTP/1.1\r\n\r\n" + message())
        received = client.makefile("rb")
        assert received.readline() == b"HTTP/1.1 404 Not Found\r\n"
        assert http.client.parse_headers(received)["Content-Length"] == "29"
        assert received.readline() == b"HTTP/1.1 200 OK\r\n"


def test_health_is_told_on_get(server):
    """WIR-3."""
    status, fields, body = ask(server, "GET", body=None, fields={})

    assert (status, body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert fields["Server"] == "Server"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\n\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000,
    ],
    ids=lambda sent: repr(sent[:12]),
)
def test_what_is_not_http_is_told_so_and_the_connection_ends(server, sent):
    """WIR-8."""
    with connected(server) as client:
        client.sendall(sent)
        received = receive_all(client)

    assert received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert received.endswith(
        b'\r\n\r\n{"__type":"com.amazon.coral.service#SerializationException"}'
    )


def test_a_refused_client_may_not_stay(quick):
    with connected(quick) as client:
        client.sendall(b"nonsense\n")
        receive_all(client)
        with pytest.raises(ConnectionError):
            send_slowly(client, b"more" * 500)


def test_a_body_over_the_limit_is_refused_and_the_client_hears_it(server):
    """WIR-8, WIR-16: the answer must survive a client that sends all before it listens."""
    status, fields, body = ask(server, body=b"x" * (16 * 1024 * 1024 + 1))

    assert (status, fields["Connection"]) == (413, "close")
    assert json.loads(body) == {"__type": "com.amazon.coral.service#RequestEntityTooLargeException"}


def test_a_body_of_the_limit_is_read(server):
    """WIR-16."""
    status, _, body = ask(server, body=b'{"a": "' + b"x" * (16 * 1024 * 1024 - 9) + b'"}')

    assert (status, len(json.loads(body)["a"])) == (200, 16 * 1024 * 1024 - 9)


def test_an_idle_connection_is_closed_without_a_word(quick):
    with connected(quick) as client:
        assert receive_all(client) == b""


@pytest.mark.parametrize("sent", [b"POST / HT", message()[:-1]])
def test_a_request_that_does_not_end_is_told_so(quick, sent):
    with connected(quick) as client:
        client.sendall(sent)
        received = receive_all(client)

    assert received.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert received.endswith(b'{"__type":"com.amazon.coral.service#RequestTimeoutException"}')


def test_a_trickle_buys_no_time(quick):
    def trickle(client):
        with contextlib.suppress(OSError):
            send_slowly(client, b"A" * 500)

    with connected(quick) as client:
        client.sendall(b"GET / HTTP/1.1\r\nX: ")
        sender = threading.Thread(target=trickle, args=(client,))
        sender.start()
        received = receive_all(client)
    sender.join()

    assert received.startswith(b"HTTP/1.1 408 ")


def test_a_stream_of_requests_may_go_on(quick):
    """Each request has its own time, also when it begins in the packet that ends another."""
    shifted = message() * 60
    with connected(quick) as client:
        client.sendall(shifted[:10])
        answered = 0
        for at in range(10, len(shifted) - len(message()), len(message())):
            client.sendall(shifted[at : at + len(message())])
            answered += len(read_answers(client, 1))
            pause()

    assert answered == 59


def test_a_page_of_a_stranger_may_not_steer(server):
    fields = {"Origin": "http://evil.example"}

    status, _, body = ask(server, "POST", "/_emulator/reset", fields=fields)

    assert (status, json.loads(body)) == (
        403,
        {
            "error": "a page of http://evil.example may not call this; "
            "if it is yours, start the server with --cors http://evil.example"
        },
    )


def test_a_page_that_was_named_may_steer():
    options = ServerOptions(cors="http://mine.example", grace_seconds=0.1)
    with ServerThread(stand_in(), options=options) as server:
        mine = {"Origin": "http://mine.example"}
        before = mine | {"Access-Control-Request-Method": "DELETE"}

        allowed = ask(server, "OPTIONS", "/_emulator/faults", body=None, fields=before)
        status, fields, body = ask(server, "GET", "/_emulator/health", body=None, fields=mine)

    assert (allowed[0], allowed[1]["Access-Control-Allow-Methods"]) == (200, "DELETE")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    assert fields["Access-Control-Allow-Origin"] == "http://mine.example"


def test_a_client_that_fetches_no_answers_is_dropped(quick):
    with connected(quick) as client:
        flood(client)
        with pytest.raises(ConnectionError):
            send_slowly(client, b" " * 500)

    assert ask(quick)[0] == 200


def test_answers_larger_than_the_buffers_arrive_whole(server):
    with connected(server) as client:
        client.sendall(message(b'{"Bytes": 3000000}') * 4 + message())
        client.shutdown(socket.SHUT_WR)

        answers = read_answers(client, 5)

    assert [len(answer.get("text", "")) for _, answer in answers] == [3_000_000] * 4 + [0]


def test_stopping_lets_a_request_that_has_begun_finish():
    server = ServerThread(stand_in(), options=ServerOptions(grace_seconds=5)).start()
    with connected(server) as busy, connected(server) as idle:
        busy.sendall(message()[:-1])
        busy.sendall(b"")
        ask(server)  # the server has read the beginning by now
        stopper = threading.Thread(target=server.stop)
        stopper.start()

        assert receive_all(idle) == b""
        busy.sendall(message()[-1:])
        received = receive_all(busy)

        assert received.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\nConnection: close\r\n" in received
    stopper.join()  # waits no longer for a client that has gone
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((server.host, server.port))


def test_stopping_does_not_wait_for_ever():
    server = ServerThread(stand_in(), options=QUICK).start()
    with connected(server) as client:
        client.sendall(message()[:-1])
        ask(server)
        server.stop()

        assert receive_all(client).startswith(b"HTTP/1.1 408 ")


def test_stopping_does_not_wait_for_a_client_that_fetches_nothing():
    patient = ServerOptions(body_seconds=60, grace_seconds=0.1, sweep_seconds=0.02)
    server = ServerThread(stand_in(), options=patient).start()
    with connected(server) as client:
        flood(client)
        server.stop()


def test_stopping_answers_what_was_sent_before_and_resets_nobody():
    """Each client asks again and again: its last answer says that the connection ends."""
    server = ServerThread(stand_in(), options=ServerOptions(drain_seconds=5)).start()
    failures = []

    def keep_asking(number):
        try:
            with connected(server) as client:
                while True:
                    client.sendall(message(b'{"n": %d}' % number) * 3)
                    answers = http_answers(client, 3)
                    failures.extend(answer for answer in answers if answer[1] != number)
                    if answers[-1][0] == "close":
                        assert client.recv(1) == b""
                        return
        except Exception as failure:
            failures.append(failure)

    clients = [threading.Thread(target=keep_asking, args=(number,)) for number in range(16)]
    for client in clients:
        client.start()
    ask(server)
    server.stop()
    for client in clients:
        client.join()

    assert failures == []


def http_answers(client, count):
    """Return the Connection field and the number of the next answers."""
    answers = []
    stream = client.makefile("rb")
    for _ in range(count):
        assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
        fields = http.client.parse_headers(stream)
        body = json.loads(stream.read(int(fields["Content-Length"])))
        answers.append((fields["Connection"], body["n"]))
    return answers


def test_a_client_over_the_limit_of_connections_is_told_so():
    options = ServerOptions(connections=2, grace_seconds=0.1, drain_seconds=0.01)
    with (
        ServerThread(stand_in(), options=options) as server,
        connected(server) as first,
        connected(server) as second,
    ):
        for client in (first, second):
            client.sendall(message())
            assert read_answers(client, 1) == [LISTED]
        with connected(server) as third:
            refused = receive_all(third)
        with connected(server), connected(server), connected(server) as late:
            assert receive_all(late) == b"", "more are cut off without a word"
        first.sendall(message())
        assert read_answers(first, 1) == [LISTED]

    assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert refused.endswith(b'"message":"This server has 2 connections and takes no more"}')


def test_bytes_under_way_have_a_limit_over_all_connections():
    options = ServerOptions(held_bytes=100_000, grace_seconds=0.1, drain_seconds=0.01)
    whole = message(b'{"text": "' + b"x" * 80_000 + b'"}')
    with ServerThread(stand_in(), options=options) as server:
        with connected(server) as first, connected(server) as second:
            first.sendall(whole[:-1])
            ask(server)
            second.sendall(whole[:-1])
            refused = receive_all(second)
            first.sendall(whole[-1:])
            assert read_answers(first, 1)[0][0] == 200
            second.close()
        with connected(server) as third:
            third.sendall(whole)
            assert read_answers(third, 1)[0][0] == 200

    assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert refused.endswith(
        b'"message":"This server holds 100000 bytes of unfinished requests and takes no more"}'
    )


def test_answers_that_are_not_fetched_count_too():
    options = ServerOptions(held_bytes=5_000_000, grace_seconds=0.1, drain_seconds=0.01)
    with ServerThread(stand_in(), options=options) as server:
        with connected(server) as client:
            flood_once = message(b'{"Bytes": 30000000}')
            client.sendall(flood_once)
            with pytest.raises(ConnectionError):
                send_slowly(client, b" " * 500)
        assert ask(server)[0] == 200


def test_running_out_of_descriptors_is_logged_once(caplog):
    async def scenario():
        server = HttpServer(stand_in(), ServerOptions())
        await server.start("127.0.0.1", 0)
        loop = asyncio.get_running_loop()
        full = OSError(errno.EMFILE, "Too many open files")
        for _ in range(500):
            loop.call_exception_handler({"message": "accept", "exception": full})
        loop.call_exception_handler({"message": "another failure"})
        await server.stop()

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    assert [record.getMessage() for record in caplog.records] == [
        "no more connections can be taken: Too many open files; others wait until some close",
        "another failure",
    ]


@pytest.mark.parametrize(("token_bytes", "status"), [(15_000, 200), (16_384, 400)])
def test_a_head_of_sixteen_kilobytes_is_read(server, token_bytes, status):
    """WIR-21."""
    fields = FIELDS | {"X-Amz-Security-Token": "t" * token_bytes}

    assert ask(server, fields=fields)[0] == status


@pytest.mark.parametrize(("path_bytes", "status"), [(16_000, 200), (16_384, 404), (100_000, 404)])
def test_a_request_line_that_is_too_long_leads_nowhere(server, path_bytes, status):
    """WIR-21, WIR-3."""
    answer = ask(server, target="/" + "a" * path_bytes)

    assert answer[0] == status
    if status == 404:
        assert answer[2] == b"<UnknownOperationException/>\n"


@pytest.mark.parametrize(
    ("first", "second", "encoding"),
    [("gzip", "identity", "gzip"), ("deflate", "gzip", "deflate"), ("identity", "gzip", None)],
)
def test_of_several_accept_encoding_headers_the_first_counts(server, first, second, encoding):
    """WIR-22."""
    accepted = {"Accept-Encoding": f"{first}\r\nAccept-Encoding: {second}", "Connection": "close"}
    with connected(server) as client:
        client.sendall(message(b'{"Bytes": 5000}', FIELDS | accepted))
        head = receive_all(client).partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    assert head[0] == "HTTP/1.1 200 OK"
    found = [line for line in head if line.startswith("Content-Encoding")]
    assert found == ([] if encoding is None else [f"Content-Encoding: {encoding}"])


@pytest.mark.parametrize("check_times", [True, False])
def test_a_server_judges_the_times_of_signatures_where_asked(check_times):
    """WIR-23: by real time, which SDKs take from the Date of an answer."""
    options = ServerOptions(check_times=check_times, grace_seconds=0.1, drain_seconds=0.01)
    old = FIELDS | {"X-Amz-Date": "20200101T000000Z"}
    with ServerThread(stand_in(), options=options) as server:
        status, fields, body = ask(server, fields=old)
        assert (status, b"Signature expired: 20200101T000000Z" in body) == (
            (400, True) if check_times else (200, False)
        )
        now = parsedate_to_datetime(fields["Date"]).strftime("%Y%m%dT%H%M%SZ")
        assert ask(server, fields=FIELDS | {"X-Amz-Date": now})[0] == 200


# Names and pages


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:1", 200),
        ("my.localhost", 200),
        ("evil.example:8000", 403),
        ("localhost.evil.example", 403),
        ("169.254.169.254", 403),
        ("dynamodb:8000", 403),
    ],
)
def test_a_server_for_its_own_machine_answers_to_its_names(server, host, status):
    fields = FIELDS | {"Host": host}

    assert ask(server, fields=fields)[0] == status
    assert ask(server, "GET", "/_emulator/health", body=None, fields={"Host": host})[0] == status


def test_a_refused_name_says_what_to_do(server):
    """SDKs show the message of an error in the service's form."""
    _, fields, body = ask(server, fields=FIELDS | {"Host": "dynamodb:8000"})

    assert fields["Content-Type"] == "application/x-amz-json-1.0"
    assert json.loads(body) == {
        "__type": "com.amazon.coral.service#AccessDeniedException",
        "message": "this server does not answer to the name dynamodb; if it is yours, start it "
        "with --allow-host dynamodb",
    }


def test_a_container_answers_the_service_to_any_name_and_private_routes_to_few():
    """Bound to all addresses, as in a container that others call ``dynamodb``."""
    health = {"body": None, "method": "GET", "target": "/_emulator/health"}
    for allowed, status in (((), 403), (("dynamodb",), 200)):
        options = ServerOptions(allow_hosts=allowed, grace_seconds=0.1, drain_seconds=0.01)
        with ServerThread(stand_in(), host="0.0.0.0", options=options) as server:
            server.host = "127.0.0.1"
            named = {"Host": "dynamodb:8000"}
            assert ask(server, fields=FIELDS | named)[0] == 200
            assert ask(server, fields=named, **health)[0] == status
            assert ask(server, fields={"Host": "127.0.0.1"}, **health)[0] == 200
            page = FIELDS | named | {"Origin": "http://dynamodb:8000"}
            assert ask(server, fields=page)[0] == status, "a rebound name is no page of ours"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("*", 403),
        ("file://localhost", 403),
        ("http://[", 403),
    ],
)
def test_pages_of_this_machine_may_call_and_no_other(server, origin, status):
    asked = ask(server, fields=FIELDS | {"Origin": origin})

    assert asked[0] == status
    assert asked[1].get("Access-Control-Allow-Origin") == (origin if status == 200 else None)


def test_a_page_of_this_machine_may_not_steer_unless_it_is_ours(server):
    """A front end under development loads scripts of others."""
    own = f"http://127.0.0.1:{server.port}"
    for origin, status in (("http://localhost:3000", 403), (own, 200), ("*", 403)):
        fields = {"Origin": origin}
        assert ask(server, "GET", "/_emulator/health", body=None, fields=fields)[0] == status


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-origin", 200)])
def test_a_page_that_hides_its_origin_may_not_steer(server, site, status):
    fields = {"Sec-Fetch-Site": site}

    assert ask(server, "GET", "/_emulator/health", body=None, fields=fields)[0] == status


@pytest.mark.parametrize(
    ("site", "status"),
    [("cross-site", 403), ("same-site", 200), ("same-origin", 200), ("none", 200)],
)
def test_a_page_of_another_site_that_hides_its_origin_may_not_call(server, site, status):
    answer = ask(server, fields=FIELDS | {"Sec-Fetch-Site": site})

    assert answer[0] == status
    if status != 200:
        assert json.loads(answer[2]) == {
            "__type": "com.amazon.coral.service#AccessDeniedException",
            "message": "a page of another site may not call this",
        }


def test_a_link_of_another_site_may_lead_here_and_its_origin_is_judged_by_the_option(server):
    fields = {"Sec-Fetch-Site": "cross-site"}
    assert ask(server, "GET", body=None, fields=fields)[0] == 200
    page = FIELDS | fields | {"Origin": "http://localhost:3000"}
    assert ask(server, fields=page)[0] == 200


@pytest.mark.parametrize(("cors", "status"), [("*", 200), ("none", 403), ("null", 200)])
def test_the_option_decides_about_pages(cors, status):
    options = ServerOptions(cors=cors, grace_seconds=0.1, drain_seconds=0.01)
    with ServerThread(stand_in(), options=options) as server:
        origin = "null" if cors == "null" else "http://localhost:3000"
        assert ask(server, fields=FIELDS | {"Origin": origin})[0] == status


class RecordingTransport:
    """A transport that notes what is written, and whether the client is read."""

    def __init__(self):
        self.written = []
        self.head = b""  # of an answer whose body comes apart
        self.is_reading = True
        self.is_closed = False

    def set_write_buffer_limits(self, high, low):
        pass

    def get_extra_info(self, name):
        return None

    def is_closing(self):
        return self.is_closed

    def get_write_buffer_size(self):
        return 0

    def pause_reading(self):
        self.is_reading = False

    def resume_reading(self):
        self.is_reading = True

    def write(self, data):
        head, _, body = (self.head + data).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        self.head = b"" if body else data
        if body:
            self.written.append(json.loads(body))

    def write_eof(self):
        self.written.append("end")

    def close(self):
        self.is_closed = True

    abort = close


def tell(connection, data):
    connection.get_buffer(-1)[: len(data)] = data
    connection.buffer_updated(len(data))


class Librarian(StandIn):
    """Answers with a page of so many items, a hundred in each piece."""

    def call_in_pieces(self, operation, request, *, region=None):
        items = [{"n": {"N": str(number)}} for number in range(request.get("Items", 1))]
        if len(items) == 1:
            return {"Items": items, "Count": 1}
        pieces = (items[start : start + 100] for start in range(0, len(items), 100))
        return LongAnswer(Items=pieces, Count=len(items))


LONG_PAGE = message(b'{"Items": 1000}')


def counts(transport):
    return [answer if answer == "end" else answer["Count"] for answer in transport.written]


@pytest.fixture
def single_pieces(monkeypatch):
    """Let each turn of a page be as short as can be."""
    monkeypatch.setattr(server_module, "_TURN_SECONDS", 0.0)


def reading(server):
    """Return a connection of a client, and its transport."""
    connection, transport = server.accept(), RecordingTransport()
    connection.connection_made(cast("Any", transport))
    return connection, transport


async def turns(count):
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.usefixtures("single_pieces")
def test_others_are_served_while_a_long_page_is_written():
    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions())
        (reader, page), (other, single) = reading(server), reading(server)
        tell(reader, LONG_PAGE + message())
        assert (counts(page), page.is_reading) == ([], False)
        for answered in range(1, 10):
            await turns(1)
            tell(other, message())
            assert (counts(page), counts(single)) == ([], [1] * answered)
        await turns(20)
        assert counts(page) == [1000, 1], "in the order of the requests"
        assert page.is_reading
        assert [item["n"]["N"] for item in page.written[0]["Items"]] == list(map(str, range(1000)))

    asyncio.run(scenario())


@pytest.mark.usefixtures("single_pieces")
def test_long_pages_are_written_one_after_the_other(caplog):
    """A page whose client has gone, and one that follows another, hold up nobody."""

    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions())
        (first, gone), (second, page) = reading(server), reading(server)
        tell(first, LONG_PAGE)
        tell(second, LONG_PAGE + LONG_PAGE)
        await turns(5)
        gone.is_closed = True
        await turns(80)
        assert (counts(gone), counts(page)) == ([], [1000, 1000])

    asyncio.run(scenario())
    assert not caplog.records, "no turn is taken without a page"


ADVANCE = (
    b"POST /_emulator/clock HTTP/1.1\r\nHost: localhost\r\n"
    b'Content-Length: 17\r\n\r\n{"advance": 3600}'
)
SCAN = message(
    b'{"TableName": "tab"}',
    FIELDS | {"X-Amz-Target": "DynamoDB_20120810.Scan", "Host": "localhost"},
)


@pytest.fixture
def expiring(monkeypatch):
    """Return an emulator with ten items that are about to expire, one by one."""
    emu = Emulator(clock=ManualClock(0), region="eu-west-1")
    emu.call("CreateTable", table())
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    for number in range(10):
        item = {"pk": {"S": str(number)}, "ttl": {"N": "10"}}
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    monkeypatch.setattr(minutes, "_SLICE_SECONDS", 0)
    return emu


@pytest.mark.usefixtures("single_pieces")
def test_others_are_served_while_the_clock_is_advanced(expiring):
    """CAP-1101: the answer to the advance comes when all that has expired is gone."""

    async def scenario():
        server = HttpServer(expiring, ServerOptions())
        (owner, told), (other, scans) = reading(server), reading(server)
        tell(owner, ADVANCE)
        for answered in range(1, 6):
            tell(other, SCAN)
            await turns(1)
            assert (told.written, len(scans.written)) == ([], answered)
        await turns(30)
        tell(other, SCAN)
        assert told.written == [{"kind": "manual", "now": 3600.0}]
        assert [answer["Count"] for answer in scans.written] == [10, 9, 8, 7, 6, 0]

    asyncio.run(scenario())


def test_what_is_due_is_done_in_turns_without_a_request(expiring):
    """CAP-1101."""

    async def scenario():
        expiring.clock._now_ns += 3600 * NANOSECONDS  # as time passes by itself
        server = HttpServer(expiring, ServerOptions())
        await server.start("127.0.0.1", 0)
        store = expiring.account().tables["tab"].store
        seen = []
        for _ in range(15):
            seen.append(len(store))
            await turns(1)
        server.cut_off()
        assert seen[0] == 10
        assert seen == sorted(seen, reverse=True)
        assert len(set(seen)) > 5
        assert seen[-1] == 0

    asyncio.run(scenario())


@pytest.mark.usefixtures("single_pieces")
def test_stopping_and_time_wait_for_a_long_page():
    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions(drain_seconds=0.0))
        connection, transport = reading(server)
        tell(connection, LONG_PAGE)
        connection.check_time(0.0)
        connection.check_time(1e9)
        connection.close_gently(deadline=1e9)
        assert not transport.is_closed
        server.is_closing = True
        await turns(30)
        return counts(transport)

    assert asyncio.run(scenario()) == [1000, "end"]


@pytest.mark.usefixtures("single_pieces")
@pytest.mark.parametrize("looks_on", ["log", "console"])
def test_a_long_page_is_written_in_pieces_whoever_looks_on(looks_on):
    """Both are told of it at once, in the order of the requests, and others are served."""
    lines: list[str] = []

    async def scenario():
        options = ServerOptions(log=lines.append if looks_on == "log" else None)
        server = HttpServer(Emulator(), options)
        server._protocol._call = cast("Any", Librarian().call_in_pieces)
        if looks_on == "console":
            server._feed.renew("a console")
        (reader, page), (other, single) = reading(server), reading(server)
        tell(reader, LONG_PAGE)
        tell(other, message())
        assert (counts(page), counts(single)) == ([], [1])
        told = len(lines) or server._feed.last_number
        await turns(40)
        server.cut_off()
        return told, counts(page)

    assert asyncio.run(scenario()) == (2, [1000])
    for line in lines:
        assert 0 <= float(line.split()[3]) < 60_000, "milliseconds"


@pytest.mark.usefixtures("single_pieces")
def test_a_client_is_not_read_while_a_page_is_written_or_after_the_last():
    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions())
        connection, transport = reading(server)
        tell(connection, LONG_PAGE + message(b'{"Items": 1000}', FIELDS | {"Connection": "close"}))
        while not transport.written:
            await turns(1)
        assert not transport.is_reading, "the second is being written"
        await turns(60)
        return counts(transport), transport.is_closed, transport.is_reading

    assert asyncio.run(scenario()) == ([1000, 1000], True, False)


# Time, and clients that do not fetch their answers


def test_nobody_is_answered_who_does_not_fetch_his_answers():
    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions())
        connection, transport = reading(server)
        connection.pause_writing()
        tell(connection, message())
        assert counts(transport) == []
        connection.resume_writing()
        return counts(transport), transport.is_reading

    assert asyncio.run(scenario()) == ([1], True)


def test_time_begins_anew_with_what_a_client_does():
    """It may take 60 s to fetch an answer, 75 s to ask for another, 5 s to hear a refusal."""

    async def scenario():
        server = HttpServer(cast("Any", Librarian()), ServerOptions())
        closed = []
        for act, seconds in (("pause_writing", 60), ("resume_writing", 75), ("_linger", 5)):
            connection, transport = reading(server)
            if act == "resume_writing":
                connection.pause_writing()
            connection.check_time(0.0)
            getattr(connection, act)()
            connection.check_time(30.0)
            connection.check_time(30.0 + seconds - 0.1)
            assert not transport.is_closed, act
            connection.check_time(30.0 + seconds)
            closed.append(transport.is_closed)
        return closed

    assert asyncio.run(scenario()) == [True] * 3


class UnreadTransport(RecordingTransport):
    """A transport whose client fetches nothing by itself."""

    def __init__(self, connection):
        super().__init__()
        self.unfetched = 0
        self._connection = connection

    def get_write_buffer_size(self):
        return self.unfetched

    def write(self, data):
        self.unfetched += len(data)
        if self.unfetched > server_module._WRITE_BUFFER_BYTES:
            self._connection.pause_writing()

    def fetch(self, size=None):
        self.unfetched -= self.unfetched if size is None else size
        if not self.unfetched:
            self._connection.resume_writing()


@pytest.fixture(params=["few", "many"])
def unread(request):
    """Return a server with a limit of 1 MB, and clients that fetch nothing."""

    def connect():
        server = HttpServer(stand_in(), ServerOptions(held_bytes=1_000_000))
        clients = []
        for _ in range(4 if request.param == "few" else server_module._FEW_CONNECTIONS + 1):
            connection = server.accept()
            transport = UnreadTransport(connection)
            connection.connection_made(cast("Any", transport))
            clients.append((connection, transport))
        return server, clients

    return connect


def asking_for(size):
    return message(b'{"Bytes": %d}' % size)


def test_answers_count_until_they_are_fetched(unread):
    """Also where several requests are answered together, and where the client is still read."""

    async def scenario():
        server, [(connection, transport), (other, small), *_] = unread()
        tell(connection, asking_for(400_000) * 2)
        tell(other, asking_for(1_000))
        await turns(3)
        answers, waiting = transport.unfetched + small.unfetched, len(asking_for(400_000))
        assert answers > 401_000
        assert server.held_bytes == answers + waiting
        transport.fetch(300_000)
        connection.check_time(0.0)
        assert server.held_bytes == answers + waiting, "a buffer keeps its memory to its end"
        transport.fetch()
        await turns(3)
        assert server.held_bytes == answers, "of the second answer"
        connection.connection_lost(None)
        assert server.held_bytes == small.unfetched
        small.unfetched = 0
        other.check_time(0.0)
        assert server.held_bytes == 0

    asyncio.run(scenario())


def test_who_exceeds_what_is_held_for_all_is_cut_off(unread):
    async def scenario():
        server, clients = unread()
        most = 0
        for connection, _ in clients[:4]:
            tell(connection, asking_for(400_000) * 6)
            await turns(3)
            most = max(most, server.held_bytes)
            for each, transport in clients:
                if transport.is_closed:
                    each.connection_lost(None)
        kept = [not transport.is_closed for _, transport in clients[:4]]
        for connection, transport in clients[:4]:
            if not transport.is_closed:
                connection.connection_lost(None)
        return kept, most < 1_500_000, server.held_bytes

    assert asyncio.run(scenario()) == ([True, True, False, False], True, 0)


def test_a_last_answer_that_is_not_fetched_ends_with_its_time(unread):
    """A transport that closes waits for its client; of a short answer it is still read."""

    async def scenario():
        _, [(connection, transport), *_] = unread()
        aborted = []
        transport.abort = lambda: aborted.append(True)
        tell(connection, message(b'{"Bytes": 1000}', FIELDS | {"Connection": "close"}))
        await turns(3)
        assert transport.is_closed
        connection.check_time(0.0)
        connection.check_time(80.0)
        return aborted

    assert asyncio.run(scenario()) == [True]


def test_memory_is_given_back_when_most_of_what_was_held_is_gone():
    trims = []
    memory = server_module._Memory()
    memory._calls = trims.append, fail_to_set
    mib = 1024 * 1024
    for held, given_back in (
        (100, 0),
        (30, 0),
        (20, 1),
        (10, 1),
        (200, 1),
        (0, 2),
        (15, 2),
        (0, 2),
    ):
        memory.look(held * mib)
        assert len(trims) == given_back, held


def fail_to_set(*_):
    raise AssertionError("only a server that has its process for itself sets options")


# Who looks after the server


def test_a_console_that_asks_no_more_is_forgotten():
    async def scenario():
        server = HttpServer(Emulator(), ServerOptions())
        now = [0.0]
        server.time = lambda: now[0]
        seen = []
        server._feed.renew("a console")
        for now[0] in (9.0, 11.0):
            server._sweep()
            seen.append(server._feed.is_open)
        server._feed.renew("another")
        server.cut_off()
        return [*seen, server._feed.is_open]

    assert asyncio.run(scenario()) == [True, False, False]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, "*/eu-west-1"),
        ({"keys_apart": True}, "K/eu-west-1"),
        ({"keys_apart": True, "shared": True}, "*/us-east-1"),
    ],
)
def test_the_log_names_the_namespace_of_a_request(options, shown):
    lines: list[str] = []

    async def scenario():
        server = HttpServer(Emulator(), ServerOptions(log=lines.append, **options))
        connection, _ = reading(server)
        tell(connection, message())

    asyncio.run(scenario())
    assert [line.split()[-1] for line in lines] == [shown]


@pytest.mark.parametrize(
    ("failure", "logged"),
    [
        (OSError(errno.EIO, "input"), "something failed"),
        (ValueError("x"), "something failed"),
        (OSError(errno.EMFILE, "too many files"), "no more connections can be taken"),
    ],
)
def test_only_a_lack_of_descriptors_is_told_as_one(failure, logged, caplog):
    async def scenario():
        server = HttpServer(stand_in(), ServerOptions())
        loop = asyncio.get_running_loop()
        server._note_failure(loop, {"message": "something failed", "exception": failure})

    asyncio.run(scenario())
    [record] = caplog.records
    assert record.getMessage().startswith(logged)


class Recorder(StandIn):
    """Notes what it is asked."""

    def __init__(self):
        self.asked: list[object] = []

    def call_in_pieces(self, operation, request, *, region=None):
        self.asked.append(request["N"])
        return {"Count": request["N"]}


def asking(number):
    return message(b'{"N": %d}' % number)


@pytest.fixture
def patient(monkeypatch):
    """Let answers wait for all that are made together with them."""
    monkeypatch.setattr(server_module, "_TOGETHER_SECONDS", 1e9)


@pytest.fixture
def many():
    """Return an emulator, its server, and more connections than are answered together."""

    def connect():
        recorder = Recorder()
        server = HttpServer(cast("Any", recorder), ServerOptions())
        return recorder, server, [reading(server) for _ in range(server_module._TOGETHER + 2)]

    return connect


@pytest.mark.usefixtures("patient")
def test_requests_that_come_together_are_answered_together(many):
    """So many at once, and the rest of a turn when it is over."""

    async def scenario():
        recorder, _, clients = many()
        together = server_module._TOGETHER
        for number, (connection, _) in enumerate(clients):
            assert len(recorder.asked) == (together if number >= together else 0)
            tell(connection, asking(number))
        assert recorder.asked == list(range(together))
        assert [counts(transport) for _, transport in clients[-2:]] == [[], []]
        await turns(1)
        return recorder.asked, [counts(transport) for _, transport in clients]

    asked, answers = asyncio.run(scenario())
    assert asked == list(range(server_module._TOGETHER + 2))
    assert answers == [[number] for number in asked]


@pytest.mark.parametrize("seconds", [1e9, -1.0])
def test_a_long_request_holds_up_no_answer_that_is_made(many, monkeypatch, seconds):
    monkeypatch.setattr(server_module, "_TOGETHER_SECONDS", seconds)

    async def scenario():
        recorder, _, clients = many()
        for number, (connection, transport) in enumerate(clients[:3], 1):
            monkeypatch.setattr(transport, "write", lambda _, n=number: recorder.asked.append(-n))
            tell(connection, asking(number))
        await turns(1)
        return recorder.asked

    apart, together = [1, -1, 2, -2, 3, -3], [1, 2, 3, -1, -2, -3]
    assert asyncio.run(scenario()) == (apart if seconds < 0 else together)


@pytest.mark.usefixtures("patient")
def test_requests_of_one_client_are_answered_in_order_among_many(many):
    async def scenario():
        _, _, clients = many()
        connection, transport = clients[0]
        tell(connection, asking(1) + asking(2) + asking(3)[:9])
        tell(connection, asking(3)[9:] + asking(4))
        assert counts(transport) == []
        await turns(5)
        return counts(transport)

    assert asyncio.run(scenario()) == [1, 2, 3, 4]


@pytest.mark.usefixtures("patient")
def test_what_has_arrived_is_counted_as_requests_are_answered(many):
    async def scenario():
        _, server, clients = many()
        connection, _ = clients[0]
        tell(connection, asking(1) + asking(2) + asking(3)[:9])
        held = [server.held_bytes]
        await turns(5)
        return [*held, server.held_bytes]

    assert asyncio.run(scenario()) == [len(asking(2)) + 9, 9]


@pytest.mark.usefixtures("patient")
def test_a_failure_ends_one_connection_of_those_answered_together(many, caplog):
    async def scenario():
        _, server, clients = many()
        (first, unanswered), (second, unsent), (third, transport) = clients[:3]
        respond = server.respond
        server.together._respond = lambda request: (
            fail() if b"fails" in request.body else respond(request)
        )
        unsent.write = fail
        tell(first, message(b'{"fails": true}'))
        tell(second, asking(1))
        tell(third, asking(2))
        await turns(1)
        return unanswered.is_closed, unsent.is_closed, counts(transport), transport.is_closed

    def fail(*_arguments):
        raise OSError("the log is full")

    assert asyncio.run(scenario()) == (True, True, [2], False)
    assert [record.message.partition("\n")[0] for record in caplog.records] == [
        "a request failed"
    ] * 2


@pytest.mark.usefixtures("patient")
def test_who_waits_for_an_answer_is_not_closed(many):
    """Neither time nor the end of the server ends a connection before its answer."""

    async def scenario():
        _, server, clients = many()
        connection, transport = clients[0]
        tell(connection, asking(1))
        connection.check_time(0.0)
        connection.check_time(1e9)
        connection.close_gently(deadline=1e9)
        assert (counts(transport), transport.is_closed) == ([], False)
        server.is_closing = True
        await turns(1)
        return counts(transport)

    assert asyncio.run(scenario()) == [1, "end"]


@pytest.mark.usefixtures("patient")
def test_who_left_or_was_refused_is_sent_no_answer(many):
    async def scenario():
        _, _, clients = many()
        (leaving, gone), (refused, transport) = clients[:2]
        tell(leaving, asking(1))
        gone.is_closed = True
        tell(refused, asking(2))
        refused._linger()
        await turns(1)
        return counts(gone), counts(transport)

    assert asyncio.run(scenario()) == ([], ["end"])


class DeafTransport:
    """A transport whose client neither reads nor goes away."""

    def __init__(self):
        self.calls = []

    def set_write_buffer_limits(self, high, low):
        pass

    def get_extra_info(self, name):
        return None

    def close(self):
        self.calls.append("close")

    def abort(self):
        self.calls.append("abort")


def test_what_does_not_close_by_itself_is_cut_off():
    async def scenario():
        quick = ServerOptions(grace_seconds=0.01, drain_seconds=0.01, sweep_seconds=0.01)
        server = HttpServer(stand_in(), quick)
        early, late = DeafTransport(), DeafTransport()
        server.accept().connection_made(cast("Any", early))
        await server.stop()
        server.accept().connection_made(cast("Any", late))
        return early.calls, late.calls

    assert asyncio.run(scenario()) == (["close", "abort"], ["close"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_ends_with_a_signal(number):
    urls = []

    def end(url):
        urls.append(url)
        signal.raise_signal(number)

    serve(stand_in(), port=0, on_ready=end)

    assert [url.rpartition(":")[0] for url in urls] == ["http://127.0.0.1"]


def test_serving_ends_with_a_signal_that_comes_later(monkeypatch):
    """When the server waits for requests, which its timer does not interrupt."""
    monkeypatch.setattr(server_module, "_PATIENCE_SECONDS", 600.0)
    answers = []

    def ask_and_end(url):
        running = SimpleNamespace(host="127.0.0.1", port=int(url.rpartition(":")[2]))
        answers.append(ask(running)[0])
        signal.pthread_kill(cast("int", threading.main_thread().ident), signal.SIGTERM)

    def ready(url):
        threading.Thread(target=ask_and_end, args=(url,), daemon=True).start()

    serve(stand_in(), port=0, options=QUICK, on_ready=ready)
    assert answers == [200]


class Busy(StandIn):
    """Never comes to an end with a request."""

    def __init__(self):
        self.begun = threading.Event()

    def call_in_pieces(self, operation, request, *, region=None):
        self.begun.set()
        while True:
            pause()


@pytest.mark.parametrize("signals", [1, 2])
def test_a_request_without_end_does_not_hold_up_a_signal(signals, monkeypatch):
    """A second signal interrupts it at once, and the first one when its time is over."""
    monkeypatch.setattr(server_module, "_PATIENCE_SECONDS", 0.0 if signals == 1 else 60.0)
    busy: Any = Busy()
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    heard = threading.Event()
    note = server_module._StopSignals._note

    def note_and_tell(self, number, frame):
        heard.set()
        note(self, number, frame)

    monkeypatch.setattr(server_module._StopSignals, "_note", note_and_tell)

    def ask_and_end(port):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(message())
            busy.begun.wait()
            for _ in range(signals):  # two that come before the first was heard are one
                signal.pthread_kill(main_thread, signal.SIGTERM)
                heard.wait()
            receive_all(client)

    def ready(url):
        port = int(url.rpartition(":")[2])
        threading.Thread(target=ask_and_end, args=(port,), daemon=True).start()

    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt):
        serve(busy, port=0, options=QUICK, on_ready=ready)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_timer_outlives_neither_the_server_nor_the_process():
    with server_module._StopSignals(600.0) as signals:
        signal.raise_signal(signal.SIGTERM)
        assert signals._timer.is_alive()
    assert signals._timer.daemon
    assert signals._timer.finished.is_set(), "cancelled"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of descriptors")
@pytest.mark.parametrize(
    ("limit", "most"), [(0, 1), (1, 1), (100, 75), (65_536, 65_472), (None, 2**31)]
)
def test_some_descriptors_are_left_for_files(monkeypatch, limit, most):
    """A quarter of few, and 64 of many."""
    import resource

    found = resource.RLIM_INFINITY if limit is None else limit
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (found, found))
    assert server_module._most_descriptors() == most


def test_a_server_stops_once():
    server = ServerThread(stand_in()).start()
    server.stop()
    server.stop()


def test_a_taken_port_is_an_error_of_who_starts(server):
    with pytest.raises(OSError, match="address already in use"):
        ServerThread(stand_in(), port=server.port).start()


def test_the_endpoint_is_a_url(server):
    assert server.endpoint_url == f"http://127.0.0.1:{server.port}"
    assert ServerThread(stand_in(), host="::1", port=8000).endpoint_url == "http://[::1]:8000"


def test_sixty_four_connections_are_served_at_once(server):
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(64)]
        for number, client in enumerate(clients):
            client.sendall(message(b'{"n": %d}' % number))

        answers = [read_answers(client, 1)[0] for client in clients]

    assert [answer["n"] for _, answer in answers] == list(range(64))


pieces = st.sampled_from(
    [
        message(),
        b"POST / HTTP/1.1\r\n",
        b"GET /_emulator/health HTTP/1.1\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\n",
        b"\r\n\r\n",
        b'{"a": ',
        b"5\r\n",
        b"\xff\xfe",
    ]
)


@given(sent=st.lists(pieces | st.binary(max_size=40), max_size=6).map(b"".join))
@settings(max_examples=60, deadline=None)
def test_no_bytes_harm_the_server(server, sent):
    with connected(server) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        received = receive_all(client)

    statuses = [line.split()[1] for line in received.splitlines() if line.startswith(b"HTTP/1.1 ")]
    assert set(statuses) <= {b"100", b"200", b"400", b"404", b"405", b"413"}
    assert ask(server)[0] == 200
