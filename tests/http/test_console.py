"""The console's page and routes: what they tell, what they refuse, and to whom."""

from __future__ import annotations

import http.client
import json
import sys
import urllib.parse
from types import SimpleNamespace

import pytest

from emulator import Emulator, ManualClock
from emulator.http import ServerOptions, ServerThread
from emulator.http import console as console_module
from emulator.http.console import READ_ONLY

START = 1_767_225_600
HERE = "*/us-east-1"
PAGE = {"Accept": "text/html,application/xhtml+xml"}
TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byKind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        }
    ],
}


def put(key):
    return {"TableName": "orders", "Item": {"pk": {"S": key}, "kind": {"S": "open"}}}


def served(mode="on", **options):
    quick = {"grace_seconds": 1.0, "drain_seconds": 0.02, "sweep_seconds": 0.02}
    emulator = Emulator(clock=ManualClock(START))
    emulator.call("CreateTable", TABLE)
    return ServerThread(emulator, options=ServerOptions(console=mode, **quick, **options))


@pytest.fixture(scope="module")
def server():
    with served() as running:
        yield running


def send(server, method, target, members=None, **fields):
    """Return status, fields and body of an answer."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    body = None if members is None else json.dumps(members)
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    connection.request(method, target, body, named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def ask(server, route, method="GET", members=None, query=None, **fields):
    """Return status and JSON of a private route."""
    target = f"/_emulator/{route}"
    if query:
        target += f"?{urllib.parse.urlencode(query)}"
    status, _, body = send(server, method, target, members, **fields)
    return status, json.loads(body)


def of_page(server):
    """Return the fields that a browser sends with a request of the console's own page."""
    return {"Origin": server.endpoint_url, "Sec_Fetch_Site": "same-origin"}


# The page


def test_a_browser_gets_the_console_and_others_what_they_always_got(server):
    status, fields, page = send(server, "GET", "/", **PAGE)
    assert status == 200
    assert fields["Content-Type"] == "text/html; charset=utf-8"
    assert b"/_emulator/console/web/console/main.js" in page
    assert send(server, "GET", "/")[2] == b"healthy: dynamodb.us-east-1.amazonaws.com "
    assert send(server, "GET", "/", Accept="*/*")[2].startswith(b"healthy")


def test_the_page_runs_no_script_but_its_own_files_and_is_in_no_frame(server):
    _, fields, page = send(server, "GET", "/", **PAGE)
    rules = dict(rule.split(" ", 1) for rule in fields["Content-Security-Policy"].split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert b"<script>" not in page
    assert b"style=" not in page


@pytest.mark.parametrize(
    ("name", "kind"),
    [("console/main.js", "text/javascript"), ("console/console.css", "text/css")],
)
def test_its_files_are_given_out_with_their_types(server, name, kind):
    status, fields, _ = send(server, "GET", f"/_emulator/console/web/{name}")
    assert (status, fields["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert "script-src 'self'" in fields["Content-Security-Policy"]


@pytest.mark.parametrize(
    "name", ["../api.py", "files.py", "console", "console/%2e%2e/files.py", ""]
)
def test_nothing_else_is_given_out(server, name):
    assert send(server, "GET", f"/_emulator/console/web/{name}")[0] == 404


# Whose page


def test_a_page_of_another_origin_reads_and_changes_nothing(server):
    for origin in ("https://evil.example", "http://localhost:3000", "null"):
        strange = {"Origin": origin}
        assert ask(server, "console/state", **strange)[0] == 403
        assert ask(server, "capacity", "POST", {"capacity": "off"}, **strange)[0] == 403
        members = {"namespace": HERE, "operation": "PutItem", "request": put("evil")}
        assert ask(server, "console/call", "POST", members, **strange)[0] == 403
    assert ask(server, "console/state", Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "capacity") == (200, {"capacity": "observe"})


def test_a_rebound_name_gets_neither_page_nor_answers(server):
    rebound = {"Host": "evil.example"}
    assert send(server, "GET", "/", **PAGE, **rebound)[0] == 403
    assert ask(server, "console/state", **rebound)[0] == 403
    assert send(server, "GET", "/_emulator/console/web/console/main.js", **rebound)[0] == 403


def test_bound_to_all_addresses_a_strange_name_gets_no_page():
    emulator = Emulator()
    with ServerThread(emulator, "0.0.0.0") as running:
        assert send(running, "GET", "/", **PAGE, Host="evil.example")[2].startswith(b"healthy")
        assert send(running, "GET", "/", **PAGE, Host="localhost")[2].startswith(b"<!doctype")


# Modes


def test_read_only_shows_and_lets_the_page_change_nothing():
    with served("read-only") as running:
        page = of_page(running)
        assert send(running, "GET", "/", **PAGE)[0] == 200
        assert ask(running, "console/state", **page)[1]["console"] == "read-only"
        for route, members in (
            ("reset", {}),
            ("clock", {"advance": 1}),
            ("capacity", {"capacity": "off"}),
            ("snapshot", {}),
            ("faults", {"kind": "throttle"}),
            ("console/report", {"namespace": HERE, "table": "orders"}),
        ):
            assert ask(running, route, "POST", members, **page) == (403, {"error": READ_ONLY})
        members = {"namespace": HERE, "operation": "PutItem", "request": put("a")}
        assert ask(running, "console/call", "POST", members, **page) == (400, {"error": READ_ONLY})
        members = {"namespace": HERE, "operation": "Scan", "request": {"TableName": "orders"}}
        assert ask(running, "console/call", "POST", members, **page)[1]["answer"]["Count"] == 0
        assert ask(running, "clock", "POST", {"advance": 1})[0] == 200  # a program is no page


def test_off_has_no_page_and_no_routes():
    with served("off") as running:
        assert send(running, "GET", "/", **PAGE)[2].startswith(b"healthy")
        assert ask(running, "console/state")[0] == 404
        assert send(running, "GET", "/_emulator/console/web/console/main.js")[0] == 404
        assert ask(running, "reset", "POST", {}, **of_page(running))[0] == 403
        assert ask(running, "health")[0] == 200


# What it tells


def test_the_state_has_every_table_and_counts_nothing(server):
    status, state = ask(server, "console/state")
    assert status == 200
    assert (state["capacity"], state["clock"], state["now"]) == ("observe", "manual", START)
    assert state["partition_units"] == [3000, 1000]
    [namespace] = state["namespaces"]
    assert namespace["namespace"] == HERE
    [described] = namespace["tables"]
    assert described["TableName"] == "orders"
    assert described["GlobalSecondaryIndexes"][0]["IndexName"] == "byKind"
    assert "SuccessfulRequestLatency" not in server.emulator.metrics.names()


def test_the_state_leaves_the_receipts_of_a_test_alone():
    with served() as running:
        running.emulator.call("PutItem", put("a"))
        before = running.emulator.last_receipt
        ask(running, "console/state")
        assert running.emulator.last_receipt is before


def test_the_feed_tells_partitions_keys_backlog_and_spending():
    with served() as running:
        query = {"console": "c", "namespace": HERE, "table": "orders", "index": "byKind"}
        ask(running, "console/feed", query=query)
        for _ in range(8):
            running.emulator.call("PutItem", put("a"))
        answer = ask(running, "console/feed", query=query | {"spending": 1})[1]

    watched = answer["watched"]
    assert [(each["id"], each["consumed_write"]) for each in watched["partitions"]] == [(0, 1.0)]
    assert (watched["partitions"][0]["low"], watched["partitions"][0]["high"]) == (0.0, 1.0)
    assert watched["keys"] == [{"key": ["open"], "accessed": 3.0, "throttled": 0.0}]
    assert watched["backlog"]["units"] == 0.0
    table, index = answer["spending"]
    assert (table["index"], table["write_units"]) == (None, 5.0)
    assert table["throttles"] == {"TableWriteProvisionedThroughputExceeded": 3}
    assert (index["index"], index["write_units"]) == ("byKind", 1.0)
    throttled = [event for event in answer["events"] if event["kind"] == "Throttled"]
    assert throttled[0]["key"] == ["a"]
    assert throttled[0]["reasons"][0]["words"] == "provisioned capacity is used up"


def test_keys_of_the_last_two_minutes_give_way_to_those_of_all_time():
    with served() as running:
        query = {"console": "c", "namespace": HERE, "table": "orders"}
        hottest = lambda span: [  # noqa: E731
            row["key"]
            for row in ask(running, "console/feed", query=query | {"keys": span})[1]["watched"][
                "keys"
            ]
        ]
        running.emulator.call("PutItem", put("old"))
        assert hottest("recent") == [["old"]]
        running.emulator.clock.advance(60)
        running.emulator.call("PutItem", put("new"))
        assert sorted(hottest("recent")) == [["new"], ["old"]]
        running.emulator.clock.advance(60)
        assert hottest("recent") == [["new"]]
        assert sorted(hottest("all")) == [["new"], ["old"]]


def test_a_console_asks_less_often_the_longer_an_answer_takes(server, monkeypatch):
    assert ask(server, "console/feed", query={"console": "c"})[1]["again"] == 1.0
    times = iter((100.0, 100.5))
    monkeypatch.setattr(console_module, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    assert ask(server, "console/feed", query={"console": "c"})[1]["again"] == 25.0


def test_a_table_that_is_elsewhere_is_pointed_at():
    with served(keys_apart=True) as running:
        query = {"console": "c", "namespace": "k/eu-west-1", "table": "orders"}
        answer = ask(running, "console/feed", query=query)[1]
        assert answer["watched"]["error"] == (
            "there is no table orders in k/eu-west-1; it is in */us-east-1"
        )
        members = {"operation": "Scan", "request": {"TableName": "orders"}}
        members["namespace"] = "k/eu-west-1"
        answer = ask(running, "console/call", "POST", members)[1]
        assert answer["error"]["__type"].endswith("ResourceNotFoundException")
        assert answer["elsewhere"] == {"orders": [HERE]}


# What it does


def test_a_call_is_answered_as_the_service_does(server):
    def call(operation, request, namespace=HERE):
        members = {"namespace": namespace, "operation": operation, "request": request}
        return ask(server, "console/call", "POST", members)[1]

    assert call("PutItem", put("x")) == {"status": 200, "answer": {}}
    found = call("GetItem", {"TableName": "orders", "Key": {"pk": {"S": "x"}}})
    assert found["answer"]["Item"] == put("x")["Item"]
    refused = call("PutItem", {"TableName": "orders", "Item": {}})
    assert refused["status"] == 400
    assert "Missing the key pk in the item" in refused["error"]["message"]
    assert call("Nonsense", {})["error"].startswith("a call names an operation")
    assert call("Scan", {}, "nowhere")["error"].startswith("a namespace is written as KEY/REGION")


def test_the_traffic_just_seen_is_a_workload_of_the_lab():
    pytest.importorskip("numpy")
    pytest.importorskip("yaml")
    from emulator.lab.files import loads

    with served() as running:
        query = {"namespace": HERE, "table": "orders"}
        ask(running, "console/feed", query={"console": "c"})
        status, answer = ask(running, "console/workload", query=query)
        assert (status, answer["error"]) == (
            400,
            "no traffic on table orders was seen while the console was open",
        )
        for number in range(6):
            running.emulator.call("PutItem", put(f"key{number % 2}"))
            running.emulator.clock.advance(1)
        status, fields, body = send(
            running, "GET", f"/_emulator/console/workload?{urllib.parse.urlencode(query)}"
        )
    assert status == 200
    assert fields["Content-Disposition"] == 'attachment; filename="orders-traffic.yaml"'
    file = loads(body.decode())
    assert file.workload.requests == 6.0
    assert file.workload.field("pk").values == ("key0", "key1")
    assert file.designs[0].tables[0].capacity.write == 5


def test_without_the_lab_one_sentence_says_what_is_missing(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    for name in [name for name in sys.modules if name.startswith("emulator.lab")]:
        monkeypatch.delitem(sys.modules, name)
    status, answer = ask(server, "console/workload", query={"namespace": HERE, "table": "orders"})
    assert status == 400
    assert answer["error"] == "a workload needs the module numpy: pip install 'dynamometer[lab]'"
