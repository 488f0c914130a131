from __future__ import annotations

from datetime import UTC, datetime

import pytest

from emulator import Emulator, ManualClock
from emulator.clients import Client
from emulator.clients.client import snake_case
from emulator.service.catalogue import OPERATIONS, UNSERVED_OPERATIONS

KEYS = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def emulator():
    return Emulator(clock=ManualClock())


@pytest.fixture
def client(emulator):
    return Client(emulator.call, region=emulator.region, clock=emulator.clock)


def test_every_operation_is_a_method_with_the_sdks_name():
    session = pytest.importorskip("botocore.session").get_session()
    botocore = pytest.importorskip("botocore")
    theirs = {
        botocore.xform_name(name): name
        for service in ("dynamodb", "dynamodbstreams")
        for name in session.get_service_model(service).operation_names
    }
    ours = {snake_case(name): name for name in OPERATIONS}
    assert {method: ours.get(method) for method in theirs} == {
        method: None if name in UNSERVED_OPERATIONS else name for method, name in theirs.items()
    }


def test_a_method_calls_its_operation_in_the_clients_region():
    calls = []

    def call(operation, request, *, region=None):
        calls.append((operation, request, region))
        return {"TableNames": []}

    client = Client(call, region="eu-north-1")
    response = client.list_tables(Limit=5)
    assert calls == [("ListTables", {"Limit": 5}, "eu-north-1")]
    metadata = response.pop("ResponseMetadata")
    assert response == {"TableNames": []}
    assert (metadata["HTTPStatusCode"], metadata["RetryAttempts"]) == (200, 0)
    assert client.list_tables is client.list_tables


def test_binary_is_bytes_in_and_out(client):
    client.create_table(TableName="bin", **KEYS)
    item = {"pk": {"S": "a"}, "b": {"B": b"\0\xff"}, "bs": {"BS": [b"x"]}, "t": {"B": "text"}}
    client.put_item(TableName="bin", Item=item)
    assert client.get_item(TableName="bin", Key={"pk": {"S": "a"}})["Item"] == {
        **item,
        "t": {"B": b"text"},
    }


def test_times_are_datetimes(client):
    client.create_table(TableName="time", **KEYS)
    described = client.describe_table(TableName="time")["Table"]
    assert described["CreationDateTime"] == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_refusal_is_the_clients_exception(client):
    with pytest.raises(client.exceptions.ResourceNotFoundException) as refusal:
        client.get_item(TableName="none", Key={"pk": {"S": "a"}})
    assert refusal.value.response["Error"] == {
        "Code": "ResourceNotFoundException",
        "Message": "Requested resource not found",
    }
    assert refusal.value.operation_name == "GetItem"


def test_positional_arguments_are_refused_as_the_sdk_refuses_them(client):
    with pytest.raises(TypeError, match=r"^put_item\(\) only accepts keyword arguments\.$"):
        client.put_item("table")


def test_an_unknown_method_says_so(client):
    with pytest.raises(AttributeError, match="the client has no method 'put_thing'"):
        client.put_thing()
    assert {"put_item", "get_records", "get_paginator"} < set(dir(client))


def test_the_client_describes_itself(client):
    assert client.meta.region_name == "us-east-1"
    assert client.meta.endpoint_url == "https://dynamodb.us-east-1.amazonaws.com"
    assert client.meta.method_to_api_mapping["put_item"] == "PutItem"
    assert client.close() is None
    assert Client(lambda *_, **__: {}).meta.region_name == "us-east-1"


def test_unknown_paginators_and_waiters_say_what_there_is(client):
    assert client.can_paginate("scan")
    assert not client.can_paginate("put_item")
    with pytest.raises(ValueError, match="'put_item' has no pages; these have: list_backups, "):
        client.get_paginator("put_item")
    with pytest.raises(ValueError, match="there is no waiter 'rain'; there are: "):
        client.get_waiter("rain")
    assert "table_exists" in client.waiter_names
