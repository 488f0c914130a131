"""The routes under /_emulator/, over a real emulator on a manual clock."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from emulator import Emulator, ManualClock, Settings, SystemClock, __version__
from emulator.http.control import SNAPSHOTS_KEPT, ControlRoutes, plain
from emulator.http.http_protocol import HttpRequest
from emulator.service.errors import InternalServerError
from emulator.testing.table_notation import create_request

START = 1_767_225_600
PUT = {"TableName": "orders", "Item": {"pk": {"S": "a"}}}
GET = {"TableName": "orders", "Key": {"pk": {"S": "a"}}, "ConsistentRead": True}


@pytest.fixture
def emu():
    emulator = Emulator(clock=ManualClock(START))
    emulator.call(
        "CreateTable",
        {
            "TableName": "orders",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        },
    )
    return emulator


@pytest.fixture
def routes(emu):
    return ControlRoutes(emu)


def ask(routes, method, target, members=None):
    request = HttpRequest(method, f"/_emulator/{target}", {})
    request.body = b"" if members is None else json.dumps(members).encode()
    response = routes.answer(request)
    assert response.content_type == "application/json"
    return response.status, json.loads(response.body)


def test_health_tells_the_version(routes):
    assert ask(routes, "GET", "health") == (200, {"status": "ok", "version": __version__})


def test_metrics_are_listed_with_their_sums(routes, emu):
    emu.call("PutItem", PUT)
    emu.call("GetItem", GET)

    status, answer = ask(routes, "GET", "metrics")

    assert status == 200
    consumed = [entry for entry in answer["series"] if entry["metric"].startswith("Consumed")]
    common = {"table": "orders", "sum": 1.0, "namespace": "*/us-east-1"}
    assert consumed == [
        {"metric": "ConsumedReadCapacityUnits", **common},
        {"metric": "ConsumedWriteCapacityUnits", **common},
    ]


def test_one_metric_is_read_minute_by_minute(routes, emu):
    emu.call("PutItem", PUT)
    emu.clock.advance(60)
    emu.call("PutItem", PUT)
    emu.call("PutItem", PUT)
    target = "metrics?metric=ConsumedWriteCapacityUnits&table=orders"

    assert ask(routes, "GET", target) == (200, {"points": [[START, 1.0], [START + 60, 2.0]]})
    assert ask(routes, "GET", f"{target}&start={START + 1}&stat=SampleCount") == (
        200,
        {"points": [[START + 60, 2.0]]},
    )


@pytest.mark.parametrize(
    "target",
    [
        "metrics?metric=Nonsense",
        "metrics?metric=UserErrors&stat=No",
        "metrics?metric=UserErrors&start=x",
    ],
)
def test_a_metric_that_is_not_there_is_an_error(routes, target):
    status, answer = ask(routes, "GET", target)

    assert (status, list(answer)) == (400, ["error"])


def test_partitions_are_shown(routes, emu):
    emu.call("PutItem", PUT)

    status, answer = ask(routes, "GET", "partitions?table=orders")

    assert status == 200
    assert [partition["items"] for partition in answer["partitions"]] == [1]


def test_a_store_is_nobody_s_business(tmp_path):
    """The folder of a server, or a client, is no setting to show."""
    emu = Emulator(settings=Settings(s3=tmp_path))
    emu.call("CreateTable", create_request("orders"))
    status, answer = ask(ControlRoutes(emu), "GET", "partitions?table=orders")
    assert status == 200
    assert "s3" not in answer["settings"]


def test_the_errors_of_an_import_are_shown(tmp_path):
    """S3X-23."""
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "data.json").write_text("{garbage")
    emu = Emulator(settings=Settings(s3=tmp_path))
    request = {
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": create_request("orders"),
    }
    arn = emu.call("ImportTable", request)["ImportTableDescription"]["ImportArn"]
    routes = ControlRoutes(emu)
    assert ask(routes, "GET", f"import-errors?import={arn}") == (
        200,
        {"errors": emu.import_errors(arn)},
    )
    assert ask(routes, "GET", "import-errors?import=none") == (
        400,
        {"error": "there is no import 'none'"},
    )


def test_insights_are_shown(routes, emu):
    emu.call("PutItem", PUT)

    status, answer = ask(routes, "GET", "insights?table=orders")

    assert status == 200
    assert answer["accessed_partition_keys"][0]["key"] == ["a"]


@pytest.mark.parametrize("route", ["partitions", "insights"])
def test_a_view_needs_a_table_that_exists(routes, route):
    assert ask(routes, "GET", route) == (400, {"error": "this route needs 'table'"})
    status, answer = ask(routes, "GET", f"{route}?table=none")
    assert (status, list(answer)) == (400, ["error"])


def test_a_manual_clock_is_read_and_advanced(routes, emu):
    assert ask(routes, "GET", "clock") == (200, {"kind": "manual", "now": float(START)})
    assert ask(routes, "POST", "clock", {"advance": 2.5}) == (
        200,
        {"kind": "manual", "now": START + 2.5},
    )
    assert emu.clock.now() == START + 2.5


@pytest.mark.parametrize("advance", [True, "1", None, -1, [1], 1e300, 10**400])
def test_time_passes_by_a_number_of_seconds(routes, emu, advance):
    status, answer = ask(routes, "POST", "clock", {"advance": advance})

    assert (status, list(answer), emu.clock.now()) == (400, ["error"], START)


def test_a_system_clock_cannot_be_advanced():
    routes = ControlRoutes(Emulator(clock=SystemClock()))

    assert ask(routes, "GET", "clock")[1]["kind"] == "system"
    assert ask(routes, "POST", "clock", {"advance": 1}) == (
        400,
        {"error": "this clock runs by itself; start with --clock manual to advance"},
    )


def test_reset_forgets_the_tables(routes, emu):
    assert ask(routes, "POST", "reset") == (200, {})
    assert emu.call("ListTables", {}) == {"TableNames": []}


def test_a_snapshot_is_taken_and_restored(routes, emu):
    assert ask(routes, "POST", "snapshot") == (200, {"id": "1"})
    emu.call("PutItem", PUT)
    assert ask(routes, "POST", "snapshot") == (200, {"id": "2"})

    assert ask(routes, "POST", "snapshot/restore", {"id": "1"}) == (200, {})
    assert emu.call("GetItem", GET) == {}
    assert ask(routes, "POST", "snapshot/restore", {"id": "2"}) == (200, {})
    assert emu.call("GetItem", GET) == {"Item": PUT["Item"]}


def test_snapshots_are_listed_and_dropped(routes):
    for _ in range(3):
        ask(routes, "POST", "snapshot")

    assert ask(routes, "DELETE", "snapshot", {"id": "2"}) == (200, {})
    assert ask(routes, "GET", "snapshot") == (200, {"ids": ["1", "3"]})
    assert ask(routes, "DELETE", "snapshot") == (200, {})
    assert ask(routes, "GET", "snapshot") == (200, {"ids": []})


def test_a_snapshot_that_is_not_there_is_an_error(routes):
    assert ask(routes, "POST", "snapshot/restore", {"id": "7"}) == (
        400,
        {"error": "there is no snapshot '7'"},
    )


def test_snapshots_do_not_fill_the_memory(routes):
    for _ in range(SNAPSHOTS_KEPT):
        ask(routes, "POST", "snapshot")

    assert ask(routes, "POST", "snapshot") == (
        400,
        {"error": f"{SNAPSHOTS_KEPT} snapshots are kept; delete some first"},
    )


def test_faults_are_added_listed_and_cleared(routes, emu):
    status, answer = ask(routes, "POST", "faults", {"kind": "internal_error", "times": 1})

    assert (status, answer["rule"]["kind"], answer["rule"]["times"]) == (200, "internal_error", 1)
    with pytest.raises(Exception, match="unknown error"):
        emu.call("ListTables", {})
    assert ask(routes, "GET", "faults")[1]["rules"][0]["hits"] == 1
    assert ask(routes, "DELETE", "faults") == (200, {})
    assert ask(routes, "GET", "faults") == (200, {"rules": []})


@pytest.mark.parametrize("rule", [{}, {"kind": "flood"}, {"kind": "throttle", "nonsense": 1}])
def test_a_rule_that_is_none_is_an_error(routes, emu, rule):
    status, answer = ask(routes, "POST", "faults", rule)

    assert (status, list(answer), emu.faults.rules) == (400, ["error"], [])


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [("GET", "nonsense", 404), ("GET", "", 404), ("DELETE", "clock", 405), ("GET", "reset", 405)],
)
def test_a_wrong_address_is_told_so(routes, method, target, status):
    answered, answer = ask(routes, method, target)

    assert (answered, list(answer)) == (status, ["error"])


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff"])
def test_a_body_must_be_an_object(routes, body):
    request = HttpRequest("POST", "/_emulator/clock", {})
    request.body = body

    response = routes.answer(request)

    assert (response.status, json.loads(response.body)) == (
        400,
        {"error": "the body must be a JSON object"},
    )


def test_a_bug_is_told_and_logged(routes, emu, caplog, monkeypatch):
    monkeypatch.setattr(emu, "reset", lambda: {}["missing"])

    assert ask(routes, "POST", "reset") == (
        500,
        {"error": "the emulator failed; the server's log says how"},
    )
    assert "POST /_emulator/reset" in caplog.text


def test_values_of_ours_become_json():
    assert plain({"a": (Decimal("1.5"), b"x", frozenset({"s"}), None, True)}) == {
        "a": [1.5, "eA==", ["s"], None, True]
    }


# Namespaces


@pytest.fixture
def keys(emu):
    """Two keys with a table of the same name as the one that both see in another region."""
    table = {
        "TableName": "events",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    for access_key in ("one", "two"):
        emu.call("CreateTable", table, access_key=access_key)
        emu.call("PutItem", {**PUT, "TableName": "events"}, access_key=access_key)
    return emu


def names(answer):
    return [view["namespace"] for view in answer["namespaces"]]


def test_namespaces_are_listed(routes, keys):
    status, answer = ask(routes, "GET", "namespaces")
    assert status == 200
    assert names(answer) == ["*/us-east-1", "one/us-east-1", "two/us-east-1"]
    assert answer["namespaces"][1] == {
        "namespace": "one/us-east-1",
        "access_key": "one",
        "region": "us-east-1",
        "tables": ["events"],
        "entries": 1,
        "size_bytes": 103,
    }
    assert names(ask(routes, "GET", "namespaces?namespace=one")[1]) == ["one/us-east-1"]


def test_a_namespace_that_is_not_there_is_refused(routes, keys):
    assert ask(routes, "POST", "reset?namespace=three") == (
        400,
        {
            "error": "there is no namespace 'three' with anything in it: "
            "*/us-east-1, one/us-east-1, two/us-east-1"
        },
    )


def test_figures_are_of_all_namespaces_or_of_one(routes, keys):
    metric = "metrics?metric=ConsumedWriteCapacityUnits&table=events"
    assert ask(routes, "GET", metric)[1] == {"points": [[START, 2.0]]}
    assert ask(routes, "GET", f"{metric}&namespace=two/us-east-1")[1] == {"points": [[START, 1.0]]}
    assert ask(routes, "GET", f"{metric}&stat=Maximum")[1] == {"points": [[START, 1.0]]}
    assert ask(routes, "GET", f"{metric}&stat=Average")[1] == {
        "error": "Average of several namespaces is meaningless: choose one with namespace="
    }
    for route, member in (("partitions", "partitions"), ("insights", "accessed_partition_keys")):
        rows = ask(routes, "GET", f"{route}?table=events")[1][member]
        assert {row["namespace"] for row in rows} == {"one/us-east-1", "two/us-east-1"}
        rows = ask(routes, "GET", f"{route}?table=events&namespace=one")[1][member]
        assert {row["namespace"] for row in rows} == {"one/us-east-1"}
    assert ask(routes, "GET", "partitions?table=events&namespace=*") == (
        400,
        {"error": "there is no table 'events': create it first"},
    )


def test_errors_are_counted_even_where_nothing_is_kept():
    emulator = Emulator(clock=ManualClock(START))
    with pytest.raises(Exception, match="not found"):
        emulator.call("DescribeTable", {"TableName": "nothing"})
    points = ask(ControlRoutes(emulator), "GET", "metrics?metric=UserErrors")[1]["points"]
    assert points == [[START, 1.0]]


def test_reset_and_snapshots_are_of_all_namespaces_or_of_one(routes, keys):
    ask(routes, "POST", "snapshot")
    ask(routes, "POST", "reset?namespace=one")
    assert names(ask(routes, "GET", "namespaces")[1]) == ["*/us-east-1", "two/us-east-1"]
    ask(routes, "POST", "reset")
    assert names(ask(routes, "GET", "namespaces")[1]) == []
    ask(routes, "POST", "snapshot/restore?namespace=one", {"id": "1"})
    assert names(ask(routes, "GET", "namespaces")[1]) == ["one/us-east-1"]
    ask(routes, "POST", "snapshot/restore", {"id": "1"})
    assert len(names(ask(routes, "GET", "namespaces")[1])) == 3


def test_a_namespace_can_be_dropped(routes, keys):
    assert ask(routes, "DELETE", "namespaces?namespace=one/us-east-1") == (200, {})
    assert names(ask(routes, "GET", "namespaces")[1]) == ["*/us-east-1", "two/us-east-1"]
    assert ask(routes, "DELETE", "namespaces") == (
        400,
        {"error": "this route needs 'namespace'"},
    )


def test_a_fault_may_be_for_one_namespace(routes, keys):
    fault = {"kind": "internal_error", "operations": ["PutItem"]}
    rule = ask(routes, "POST", "faults?namespace=one", fault)[1]["rule"]
    ask(routes, "POST", "faults", {"kind": "throttle", "operations": ["Scan"]})
    request = {**PUT, "TableName": "events"}
    with pytest.raises(InternalServerError):
        keys.call("PutItem", request, access_key="one")
    keys.call("PutItem", request, access_key="two")
    assert rule["namespace"] == "one"
    assert len(ask(routes, "GET", "faults")[1]["rules"]) == 2
    assert len(ask(routes, "GET", "faults?namespace=one")[1]["rules"]) == 1
    ask(routes, "DELETE", "faults?namespace=one")
    keys.call("PutItem", request, access_key="one")
    assert len(ask(routes, "GET", "faults")[1]["rules"]) == 1
    ask(routes, "DELETE", "faults")
    assert ask(routes, "GET", "faults")[1] == {"rules": []}
