"""The HTTP parser and writer. Rules WIR-8, WIR-11, WIR-16; RFC 9112."""

from __future__ import annotations

import itertools
import zlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.http import http_protocol
from emulator.http.http_protocol import (
    HttpRequest,
    HttpResponse,
    Phase,
    RequestParser,
    ResponseWriter,
)
from emulator.service.errors import (
    ApiError,
    RequestEntityTooLargeException,
    RequestLineTooLongException,
    SerializationException,
)
from tests.each import each

POST = b"POST / HTTP/1.1\r\nX-Amz-Target: a.b\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nT: v\r\n\r\n"
WITHOUT_TRAILER = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
GET = b"GET / HTTP/1.1\r\n\r\n"
TLS_GREETING = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
LIMIT = 64


def described(request: HttpRequest):
    return request.method, request.target, request.fields, request.body, request.keep_alive


def read(pieces, *, body_bytes=LIMIT, head_bytes=256):
    """Return every request in the pieces, then the error that ended the stream, if any."""
    parser = RequestParser(body_bytes=body_bytes, head_bytes=head_bytes)
    seen = []
    try:
        for piece in pieces:
            parser.feed(piece)
            while (request := parser.take()) is not None:
                seen.append(described(request))
    except ApiError as error:
        seen.append(type(error))
    return seen


def cut(data: bytes, places) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def test_a_request_is_read_with_its_fields():
    head = b"POST /x HTTP/1.1\r\nHost: h\r\nx-AMZ-target:  t \r\nContent-Length: 3\r\n\r\nabc"

    assert read([head]) == [
        ("POST", "/x", {"host": "h", "x-amz-target": "t", "content-length": "3"}, b"abc", True)
    ]


def test_fields_that_came_twice_are_joined():
    lines = [b"Via: a", b"Accept: x", b"ACCEPT: y", b"Via: b"]
    head = b"GET / HTTP/1.1\r\n" + b"\r\n".join(lines) + b"\r\n\r\n"

    assert read([head]) == [("GET", "/", {"via": "a, b", "accept": "x, y"}, b"", True)]


def test_only_short_lines_that_repeat_are_remembered(monkeypatch):
    """Nobody can fill the memory: neither by long lines nor by many."""
    remembered = http_protocol._FieldLines()
    monkeypatch.setattr(http_protocol, "_field_lines", remembered)
    lines = [b"Host: h", b"Authorization: x", b"Other: y"]
    head = b"POST / HTTP/1.1\r\n" + b"\r\n".join([*lines, b"Accept: " + b"a" * 300]) + b"\r\n\r\n"

    first = read([head], head_bytes=1000)
    assert remembered == {b"Host: h": ("host", "h")}
    assert read([head], head_bytes=1000) == first
    most = 0
    for number in range(600):
        read([b"GET / HTTP/1.1\r\nHost: %d\r\n\r\n" % number])
        most = max(most, len(remembered))
    assert most == 512
    assert remembered[b"Host: 599"] == ("host", "599"), "those that come late are remembered, too"
    assert b"Host: h" not in remembered


def test_pipelined_requests_come_out_in_order():
    assert read([POST + CHUNKED + POST]) == read([POST]) + read([CHUNKED]) + read([POST])
    assert len(read([POST + CHUNKED + POST])) == 3
    assert read([WITHOUT_TRAILER + POST]) == read([WITHOUT_TRAILER]) + read([POST])
    assert read([POST[:53], POST[53:] + GET]) == read([POST]) + read([GET])


def test_chunks_join_to_the_body_and_the_trailer_is_skipped():
    [request] = read([CHUNKED])

    assert request == ("POST", "/", {"transfer-encoding": "chunked"}, b"{}", True)


def test_an_empty_line_before_a_request_is_skipped():
    assert read([b"\r\n\r\n" + POST]) == read([POST])


@pytest.mark.parametrize(
    ("head", "keep_alive"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: x\r\nConnection: close\r\n\r\n", False),
    ],
)
def test_the_version_and_the_connection_field_say_whether_more_follows(head, keep_alive):
    assert [request[-1] for request in read([head])] == [keep_alive]


@each(
    "data",
    [
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\n\n",
        b"GET / HTTP/1.1\r\nA: b\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET / HTTP/1.1\r\nA\r\n\r\n",
        b"GET / HTTP/1.1\r\n: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nX-Amz-Target: a\r\nX-Amz-Target: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 300,
        b"GET / HTTP/1.1\r\nA: " + b"b" * 300,
        b"X" * 40,
        TLS_GREETING,
    ],
)
def test_what_is_not_http_is_refused_as_not_serialized(data):
    assert read([data]) == [SerializationException]


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 65\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 40 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3f\r\n%b\r\n2\r\n" % (b"x" * 63),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    ],
)
def test_a_body_over_the_limit_is_refused_before_it_is_read(data):
    """WIR-8, WIR-16."""
    assert read([data]) == [RequestEntityTooLargeException]


def test_a_body_of_exactly_the_limit_is_read():
    """WIR-16."""
    head = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % LIMIT

    assert [request[3] for request in read([head + b"x" * LIMIT])] == [b"x" * LIMIT]
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"3c\r\n%b\r\n4\r\n%b\r\n0\r\n\r\n" % (b"x" * 60, b"x" * 4)

    assert [request[3] for request in read([head + chunks])] == [b"x" * LIMIT]


def test_a_head_of_exactly_the_limit_is_read_however_it_comes():
    """WIR-21."""
    start = b"GET / HTTP/1.1\r\nA: "
    for length, outcome in ((256, tuple), (257, type)):
        head = start + b"b" * (length - len(start)) + b"\r\n\r\n"
        for pieces in ([head], [head[:-1], head[-1:]], [head[at : at + 1] for at in range(261)]):
            assert [type(seen) for seen in read(pieces)] == [outcome], (length, len(pieces))


@pytest.mark.parametrize(
    ("head", "refusal"),
    [
        (b"GET /" + b"a" * 300, RequestLineTooLongException),
        (b"GET /" + b"a" * 300 + b" HTTP/1.1\r\n\r\n", RequestLineTooLongException),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 300, SerializationException),
        (b"G" * 300, SerializationException),
    ],
)
def test_a_long_request_line_is_told_from_a_long_head(head, refusal):
    """WIR-21."""
    for pieces in ([head], [head[at : at + 1] for at in range(len(head))]):
        assert read(pieces) == [refusal]


def test_what_has_arrived_of_a_request_is_counted():
    parser = RequestParser()
    for piece, held in (
        (b"POST / HT", 9),
        (b"TP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 0),
        (b"5\r\nhello\r\n5\r\nhe", 10),  # a chunk without its frame, and what is not a chunk yet
        (b"llo\r\n0\r\n\r\nPO", 2),
    ):
        parser.feed(piece)
        parser.take()
        assert parser.held_bytes == held


def test_a_client_that_waits_to_go_on_is_told_once():
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
    assert parser.take() is None

    assert [parser.awaits_continue(), parser.awaits_continue()] == [True, False]

    parser.feed(b"{}")
    request = parser.take()
    assert request is not None
    assert request.body == b"{}"


def test_a_client_that_did_not_wait_is_not_told():
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{")
    assert parser.take() is None

    assert not parser.awaits_continue()


def test_the_parser_knows_whether_a_request_has_begun():
    parser = RequestParser()
    phases = [parser.phase]
    for piece in (b"POST / HTTP/1.1\r\nContent-Le", b"ngth: 2\r\n\r\n{", b"}"):
        parser.feed(piece)
        parser.take()
        phases.append(parser.phase)

    assert phases == [Phase.IDLE, Phase.HEAD, Phase.BODY, Phase.IDLE]


fragments = st.sampled_from(
    [
        POST,
        CHUNKED,
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 70\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"\r\n",
        b"\r",
        b"\n",
        b"\r\n\r\n",
        b"5\r\nhello\r\n",
        b"40\r\n" + b"x" * 64 + b"\r\n",
        b"0\r\n\r\n",
        b"A: b\r\n",
        b"A: " + b"b" * 250,
        b"\x00",
        TLS_GREETING,
    ]
)
streams = st.lists(fragments | st.binary(max_size=12), max_size=8).map(b"".join)


@given(data=streams, places=st.lists(st.integers(min_value=0, max_value=2000), max_size=12))
@example(data=b"\r\n" + POST, places=[1])  # an empty line, cut in two
@example(data=CHUNKED + POST, places=[75])  # the end of the trailer, with a request behind it
@example(data=POST + GET + GET, places=[53])  # a head that came in two, and shorter ones
@example(data=WITHOUT_TRAILER + POST, places=[])
def test_how_a_stream_is_cut_makes_no_difference(data, places):
    assert read(cut(data, places)) == read([data])


@given(data=streams)
@settings(max_examples=50)
def test_byte_by_byte_makes_no_difference(data):
    assert read([data[at : at + 1] for at in range(len(data))]) == read([data])


@given(pieces=st.lists(st.binary(max_size=300), max_size=6))
def test_any_bytes_end_in_requests_or_one_of_three_errors(pieces):
    outcomes = read(pieces)

    assert all(
        isinstance(outcome, tuple)
        or outcome
        in (
            SerializationException,
            RequestEntityTooLargeException,
            RequestLineTooLongException,
        )
        for outcome in outcomes
    )


def test_a_response_has_the_fields_of_the_service():
    """WIR-11."""
    writer = ResponseWriter(now=lambda: 1_767_225_600.7, seed=255)

    lines = writer.render(HttpResponse(400, "application/json", b"{}")).split(b"\r\n")

    assert lines == [
        b"HTTP/1.1 400 Bad Request",
        b"Server: Server",
        b"Date: Thu, 01 Jan 2026 00:00:00 GMT",
        b"Content-Type: application/json",
        b"Content-Length: 2",
        b"Connection: keep-alive",
        b"x-amzn-RequestId: 000000000000000000000000FFVV4KQNSO5AEMVJF66Q9ASUAAJG",
        b"x-amz-crc32: %d" % zlib.crc32(b"{}"),
        b"",
        b"{}",
    ]


def test_an_answer_to_head_has_the_length_and_no_body():
    writer = ResponseWriter(now=lambda: 0.0, seed=1)

    sent = writer.render(HttpResponse(404, "text/plain", b"gone"), without_body=True)

    assert b"Content-Length: 4\r\n" in sent
    assert sent.endswith(b"\r\n\r\n")


def test_the_date_follows_the_clock():
    now = [0.0]
    writer = ResponseWriter(now=lambda: now[0], seed=1)
    dates = []
    for now[0] in (0.2, 0.9, 61.0):
        dates.append(writer.render(HttpResponse(200, "", b"")).split(b"\r\n")[2])

    assert dates == [
        b"Date: Thu, 01 Jan 1970 00:00:00 GMT",
        b"Date: Thu, 01 Jan 1970 00:00:00 GMT",
        b"Date: Thu, 01 Jan 1970 00:01:01 GMT",
    ]
