"""A line for each request, and where else a missing table is."""

from __future__ import annotations

import json
import re

import pytest

from emulator import Emulator
from emulator.http.http_protocol import HttpRequest, HttpResponse
from emulator.http.request_log import RequestLog

TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
SIGNED = (
    "AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0"
)
MISSING = {
    "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
    "message": "Requested resource not found",
}


@pytest.fixture
def emulator():
    emulator = Emulator()
    emulator.call("CreateTable", TABLE, access_key="one")
    return emulator


def line_of(emulator, operation, members, *, key="two", status=200, answer=None, **options):
    lines = []
    fields = {
        "x-amz-target": f"DynamoDB_20120810.{operation}",
        "authorization": SIGNED.format(key=key),
    }
    request = HttpRequest("POST", "/", fields)
    request.body = members if isinstance(members, bytes) else json.dumps(members).encode()
    response = HttpResponse(status, "application/json", json.dumps(answer or {}).encode())
    log = RequestLog(emulator, lines.append, **{"keys_apart": True, **options})
    log.record(request, response, 0.00125)
    (line,) = lines
    assert re.match(r"\d\d:\d\d:\d\d ", line)
    return line[9:]


def test_an_answer_is_told_with_its_tables_time_and_namespace(emulator):
    assert line_of(emulator, "PutItem", {"TableName": "orders"}) == (
        "PutItem orders 200 1.2 ms two/us-east-1"
    )
    batch = {"RequestItems": {"orders": [], "events": []}}
    assert line_of(emulator, "BatchGetItem", batch, keys_apart=False) == (
        "BatchGetItem orders events 200 1.2 ms */us-east-1"
    )


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("PutItem", {"TableName": "orders"}),
        ("ExecuteStatement", {"Statement": 'select * from "orders" where pk = 1'}),
        ("BatchExecuteStatement", {"Statements": [{"Statement": "UPDATE orders SET a = 1"}]}),
        ("ExecuteTransaction", {"TransactStatements": [{"Statement": 'INSERT INTO "orders" x'}]}),
    ],
)
def test_a_table_that_is_under_another_key_is_named(emulator, operation, members):
    line = line_of(emulator, operation, members, status=400, answer=MISSING)
    assert line == (
        f"{operation} orders 400 1.2 ms two/us-east-1 ResourceNotFoundException: Requested "
        "resource not found; table orders is in one/us-east-1, not in two/us-east-1"
    )


def test_an_error_without_a_message_is_told_by_its_name(emulator):
    answer = {"__type": "com.amazon.coral.service#SerializationException"}
    assert line_of(emulator, "ListTables", b"{", status=400, answer=answer) == (
        "ListTables 400 1.2 ms two/us-east-1 SerializationException"
    )


def test_a_table_that_is_nowhere_or_here_is_not(emulator):
    line = line_of(emulator, "PutItem", {"TableName": "nothing"}, status=400, answer=MISSING)
    assert line.endswith("Requested resource not found")
    line = line_of(emulator, "X", {"TableName": "orders"}, key="one", status=400, answer=MISSING)
    assert line.endswith("Requested resource not found")


def test_a_line_stays_a_line_whatever_is_sent(emulator):
    line = line_of(emulator, "PutItem", {"TableName": "a\nb" + "c" * 1000})
    assert "\n" not in line
    assert len(line) < 300
    assert line_of(emulator, "PutItem", b"\xff[") == "PutItem 200 1.2 ms two/us-east-1"
    assert line_of(emulator, "PutItem", b"[]") == "PutItem 200 1.2 ms two/us-east-1"


def test_other_requests_are_told_by_their_path(emulator):
    lines = []
    request = HttpRequest("GET", "/_emulator/health", {})
    RequestLog(emulator, lines.append).record(request, HttpResponse(200, "a/b", b""), 0.001)
    assert lines[0][9:] == "GET /_emulator/health 200 1.0 ms"
