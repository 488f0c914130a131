"""What set-ups made for DynamoDB Local ask of the server they wait for, each as it asks it.

Their command lines and the lines that they wait for are in ``test_local_command_line.py``; set-ups
that start a process or an image are in ``tests/drop_in``. Read in their sources, November 2026.
"""

import http.client
import json
import socket

import pytest

from emulator import Emulator
from emulator.http import ServerOptions, ServerThread

SIGNED = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=fakeMyKeyId/20260101/local-env/dynamodb/"
    "aws4_request, SignedHeaders=host, Signature=00",
}
#: Observed: DynamoDB Local 2.6.1 (WIR-26).
MISSING_TOKEN = {
    "__type": "com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken",
    "Message": "Request must contain either a valid (registered) AWS access key ID or X.509 "
    "certificate.",
}
TABLE = {
    "TableName": "files",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
}


@pytest.fixture(scope="module")
def server():
    options = ServerOptions(as_local=True, keys_apart=True, drain_seconds=0.02, grace_seconds=1.0)
    with ServerThread(Emulator(), options=options) as running:
        yield running


def ask(server, method, target, body=None, **fields):
    """Return status, body and fields of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, target, body, fields)
    response = connection.getresponse()
    answer = response.status, response.read(), response.headers
    connection.close()
    return answer


def call(server, target, members):
    fields = SIGNED | {"X-Amz-Target": target}
    status, body, _ = ask(server, "POST", "/", json.dumps(members), **fields)
    assert status == 200, body
    return json.loads(body)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("target", ["/", "/shell", "/shell/", "/anything?at=all"])
def test_a_request_without_a_signature_misses_a_token(server, method, target):
    """WIR-26; testcontainers-dotnet and jest-dynamodb wait until ``GET /`` is answered with 400."""
    status, body, fields = ask(server, method, target)
    assert (status, json.loads(body)) == (400, MISSING_TOKEN)
    assert fields["Content-Type"] == "application/x-amz-json-1.0"


def test_an_operation_that_is_not_signed_misses_a_token(server):
    fields = {name: value for name, value in SIGNED.items() if name != "Authorization"}
    fields["X-Amz-Target"] = "DynamoDB_20120810.ListTables"
    status, body, _ = ask(server, "POST", "/", "{}", **fields)
    assert (status, json.loads(body)) == (400, MISSING_TOKEN)


def test_a_compose_file_asks_for_the_head(server):
    """``curl -I http://localhost:8000``, which is healthy if it is 400."""
    status, body, fields = ask(server, "HEAD", "/", Accept="*/*")
    assert (status, body) == (400, b"")
    assert int(fields["Content-Length"]) == len(json.dumps(MISSING_TOKEN, separators=(",", ":")))


def test_the_private_routes_need_no_signature(server):
    status, body, _ = ask(server, "GET", "/_emulator/health")
    assert (status, json.loads(body)["status"]) == (200, "ok")


@pytest.mark.parametrize("target", ["/", "/shell", "/shell/"])
def test_a_browser_gets_the_console(server, target):
    status, body, _ = ask(server, "GET", target, Accept="text/html,*/*;q=0.8")
    assert status == 200
    assert b"<title>dynamometer console</title>" in body


def test_a_page_of_this_machine_may_ask_before_it_signs(server):
    """A browser asks by OPTIONS, which carries no credentials, before a page may call (WIR-4)."""
    fields = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    status, _, answered = ask(server, "OPTIONS", "/", **fields)
    assert (status, answered["Access-Control-Allow-Methods"]) == (200, "POST")


def test_jest_dynamodb_joins_a_server_that_runs(server):
    """It lists tables and waits for 400, deletes the tables that it finds and creates its own."""
    for _ in range(2):
        found = call(server, "DynamoDB_20120810.ListTables", {})["TableNames"]
        assert ask(server, "GET", "/", Connection="close")[0] == 400
        for name in found:
            call(server, "DynamoDB_20120810.DeleteTable", {"TableName": name})
        call(server, "DynamoDB_20120810.CreateTable", TABLE)
    assert found == ["files"]
    call(server, "DynamoDB_20120810.DeleteTable", {"TableName": "files"})


def test_aspire_polls_streams(server):
    made = call(server, "DynamoDB_20120810.CreateTable", TABLE | {"TableName": "polled"})
    arn = made["TableDescription"]["LatestStreamArn"]
    item = {"TableName": "polled", "Item": {"id": {"S": "a"}}}
    call(server, "DynamoDB_20120810.PutItem", item)
    described = call(server, "DynamoDBStreams_20120810.DescribeStream", {"StreamArn": arn})
    shard = described["StreamDescription"]["Shards"][0]["ShardId"]
    whence = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = call(server, "DynamoDBStreams_20120810.GetShardIterator", whence)["ShardIterator"]
    read = call(server, "DynamoDBStreams_20120810.GetRecords", {"ShardIterator": iterator})
    assert [record["eventName"] for record in read["Records"]] == ["INSERT"]


def test_testcontainers_for_go_waits_for_the_port(server):
    socket.create_connection(("127.0.0.1", server.port), timeout=10).close()


def test_a_server_that_is_not_local_tells_its_health():
    """Only the command line of DynamoDB Local changes what strangers get."""
    with ServerThread(Emulator()) as ours:
        assert ask(ours, "GET", "/")[0] == 200
