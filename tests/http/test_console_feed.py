"""What an open console hears, and that a closed one hears nothing."""

from __future__ import annotations

import threading

import pytest

from emulator import Emulator, ManualClock
from emulator.http import console_feed
from emulator.http.console_feed import ConsoleFeed
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.namespaces import CallerNamespaces
from emulator.protocol import encode_json
from emulator.service.errors import ApiError

TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
}
CREDENTIAL = "AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/dynamodb/aws4_request"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Clock()


@pytest.fixture
def emu():
    emulator = Emulator(clock=ManualClock(), capacity="enforce")
    emulator.call("CreateTable", TABLE)
    return emulator


@pytest.fixture
def feed(emu, time):
    return ConsoleFeed(emu, CallerNamespaces(emu, keys_apart=True, shared=False), time)


def served(feed, emu, operation, request, *, key="local", attempt="attempt=1; max=3"):
    """Let the server's own thread serve a request, as the server does."""
    fields = {
        "x-amz-target": f"DynamoDB_20120810.{operation}",
        "authorization": CREDENTIAL.format(key=key),
        "amz-sdk-request": attempt,
    }
    asked = HttpRequest("POST", "/", fields)
    asked.body = encode_json(request)
    try:
        emu.call(operation, request, access_key=key)
        answer = HttpResponse(200, "", b"{}")
    except ApiError as error:
        answer = HttpResponse(error.status, "", encode_json(error.body()))
    feed.note(asked, answer, 0.002)


def put(key):
    return {"TableName": "orders", "Item": {"pk": {"S": key}}}


def lines(feed, since=0):
    return feed.requests_since(since)[0]


def test_nobody_listens_until_a_console_is_open_and_after_it_is_closed(feed, emu, time):
    assert not emu.events.wanted
    feed.renew("a")
    feed.renew("b")
    assert emu.events.wanted
    served(feed, emu, "PutItem", put("x"))
    time.now = 5.0
    feed.renew("b")
    time.now = 12.0
    feed.sweep()
    assert (feed.consoles, feed.is_open) == (1, True)
    feed.release("b")
    assert (feed.consoles, feed.is_open, emu.events.wanted) == (0, False, False)
    assert lines(feed) == []
    assert feed.traffic_kept()["requests"] == 0


def test_a_console_that_asks_no_more_is_closed(feed, emu, time):
    feed.renew("a")
    time.now = console_feed.LEASE_SECONDS - 0.1
    feed.sweep()
    assert feed.is_open
    time.now = console_feed.LEASE_SECONDS
    feed.sweep()
    assert not feed.is_open
    feed.sweep()
    assert not emu.events.wanted


def test_invented_consoles_make_nothing_grow(feed):
    for number in range(1000):
        feed.renew(str(number))
    assert feed.consoles == console_feed.CONSOLES


def test_a_line_has_the_receipt_attempt_latency_and_caller(feed, emu):
    feed.renew("a")
    served(feed, emu, "PutItem", put("x"), attempt="ttl=1; attempt=2; max=3")
    [line] = lines(feed)
    assert line["operation"] == "PutItem"
    assert (line["tables"], line["key"]) == (["orders"], ["x"])
    assert (line["read_units"], line["write_units"]) == (0.0, 1.0)
    assert (line["attempt"], line["seconds"]) == (2, 0.002)
    assert line["namespace"] == "local/us-east-1"
    assert "error" not in line


def test_a_throttled_line_names_key_reason_and_the_services_error(feed, emu):
    feed.renew("a")
    served(feed, emu, "PutItem", put("x"))
    served(feed, emu, "PutItem", put("y"))
    line = lines(feed)[-1]
    assert line["error"] == "ProvisionedThroughputExceededException"
    assert line["message"].startswith("The level of configured provisioned throughput")
    assert line["key"] == ["y"]
    assert line["reasons"] == [
        {
            "reason": "TableWriteProvisionedThroughputExceeded",
            "words": "provisioned capacity is used up",
            "table": "orders",
            "index": None,
        }
    ]
    [event] = feed.events_since(0)
    assert (event["kind"], event["key"]) == ("Throttled", ["y"])


def test_a_missing_table_is_said_to_be_elsewhere(feed, emu):
    feed.renew("a")
    emu.call("CreateTable", TABLE | {"TableName": "own"}, access_key="local")
    served(feed, emu, "Scan", {"TableName": "own"}, key="other")
    [line] = lines(feed)
    assert line["error"] == "ResourceNotFoundException"
    assert line["tables"] == ["own"]
    assert line["elsewhere"] == [{"table": "own", "namespaces": ["local/us-east-1"]}]


def test_what_is_refused_before_the_engine_is_a_line_too(feed):
    feed.renew("a")
    asked = HttpRequest("POST", "/", {"x-amz-target": "DynamoDB_20120810.Nonsense"})
    body = encode_json({"__type": "com.amazon.coral.service#UnknownOperationException"})
    feed.note(asked, HttpResponse(400, "", body), 0.001)
    [line] = lines(feed)
    assert (line["operation"], line["error"]) == ("Nonsense", "UnknownOperationException")


def test_only_what_is_new_is_told_and_no_more_than_fits(feed, emu, monkeypatch):
    monkeypatch.setattr(console_feed, "LINES_PER_ANSWER", 3)
    feed.renew("a")
    served(feed, emu, "ListTables", {})
    assert len(lines(feed)) == 1
    for number in range(5):
        served(feed, emu, "GetItem", {"TableName": "orders", "Key": {"pk": {"S": str(number)}}})
    assert feed.requests_since(0)[1] == 0  # a page that has just been opened misses nothing
    shown, left_out = feed.requests_since(1)
    assert ([line["key"] for line in shown], left_out) == ([["0"], ["1"], ["2"]], 2)
    assert feed.requests_since(feed.last_number) == ([], 0)
    served(feed, emu, "GetItem", {"TableName": "orders", "Key": {"pk": {"S": "next"}}})
    assert [line["key"] for line in lines(feed, since=6)] == [["next"]]


def test_traffic_is_first_attempts_on_items_and_bounded(feed, emu, monkeypatch):
    monkeypatch.setattr(console_feed, "TRAFFIC_REQUESTS", 3)  # of which 2 stay
    feed.renew("a")
    get = {"TableName": "orders", "Key": {"pk": {"S": "x"}}}
    served(feed, emu, "ListTables", {})
    served(feed, emu, "GetItem", get, attempt="attempt=2")
    served(feed, emu, "PutItem", {"TableName": "orders", "Item": {}})
    assert list(feed.traffic("orders")) == []
    for key in "abcd":
        served(
            feed, emu, "PutItem", put(key)
        )  # all but one throttled: they are wanted all the same
    kept = [request["Item"]["pk"]["S"] for _, _, request in feed.traffic("orders")]
    assert kept == ["b", "c", "d"]
    monkeypatch.setattr(console_feed, "TRAFFIC_BYTES", 70)
    served(feed, emu, "PutItem", put("e"))
    assert feed.traffic_kept()["requests"] == 1
    assert list(feed.traffic("another")) == []


def test_a_call_within_the_process_is_heard_from_any_thread(feed, emu):
    feed.renew("a")
    caller = threading.Thread(target=emu.call, args=("PutItem", put("x")))
    caller.start()
    caller.join()
    [line] = lines(feed)
    assert (line["key"], line["seconds"], line["namespace"]) == (["x"], None, None)
    assert [operation for _, operation, _ in feed.traffic("orders")] == ["PutItem"]


def test_a_long_body_is_not_kept_for_the_log(feed, emu):
    feed.renew("a")
    served(feed, emu, "PutItem", put("x") | {"Item": {"pk": {"S": "x"}, "a": {"S": "y" * 20_000}}})
    seen = feed._log[0]
    assert len(seen.body) < 20_000
    assert seen.served.request == {}
    assert lines(feed)[0]["key"] == ["x"]


def test_a_call_of_the_console_is_marked_and_is_no_traffic(feed, emu):
    feed.renew("a")
    emu.call("PutItem", put("x"))
    feed.note_own(0.001)
    [line] = lines(feed)
    assert line["is_own"]
    assert feed.traffic_kept()["requests"] == 0
