"""The fast lane, held against the slow one."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import boto3
import botocore.session
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError
from botocore.loaders import JSONFileLoader, create_loader

from emulator import ManualClock, Settings, errors, mock_dynamodb
from emulator.sdk import scopes

SCHEMA = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
ITEM = {
    "pk": {"S": "a"},
    "sk": {"N": "1"},
    "binary": {"B": b"\0\xff"},
    "text": {"B": "as text"},
    "binaries": {"BS": [b"x", b"y"]},
    "nested": {"L": [{"M": {"b": {"B": b"deep"}}}]},
}
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def create(client):
    return client.create_table(TableName="table", **SCHEMA)


def describe(client):
    create(client)
    return client.describe_table(TableName="table")


def put_and_get(client):
    create(client)
    client.put_item(TableName="table", Item=ITEM)
    return client.get_item(TableName="table", Key=KEY, ReturnConsumedCapacity="TOTAL")


def query(client):
    create(client)
    client.put_item(TableName="table", Item=ITEM)
    return client.query(
        TableName="table",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "a"}},
    )


def batch(client):
    create(client)
    return client.batch_write_item(RequestItems={"table": [{"PutRequest": {"Item": ITEM}}]})


def transact(client):
    create(client)
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "table", "Item": ITEM}}])
    return client.transact_get_items(TransactItems=[{"Get": {"TableName": "table", "Key": KEY}}])


def page(client):
    create(client)
    pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 1})
    return pages.build_full_result()


def missing_table(client):
    return client.get_item(TableName="none", Key=KEY)


def failed_condition(client):
    put_and_get(client)
    return client.put_item(
        TableName="table",
        Item=ITEM,
        ConditionExpression="attribute_not_exists(pk)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )


def cancelled_transaction(client):
    put_and_get(client)
    check = {
        "TableName": "table",
        "Key": KEY,
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return client.transact_write_items(TransactItems=[{"ConditionCheck": check}])


def invalid(client):
    create(client)
    return client.put_item(TableName="table", Item={"pk": {"S": "a"}})


def outcome(scenario, *, fast):
    """What a client gets, without what differs from call to call."""
    with mock_dynamodb(clock=ManualClock(), fast=fast):
        client = boto3.client("dynamodb", region_name="eu-west-1")
        try:
            response = scenario(client)
        except ClientError as error:
            response = {
                **error.response,
                "class": type(error).__name__,
                "text": str(error),
                "operation": error.operation_name,
            }
        metadata = response.pop("ResponseMetadata", None)
        if metadata is not None:
            response["status"] = metadata["HTTPStatusCode"]
            response["retries"] = metadata["RetryAttempts"]
            assert len(metadata["RequestId"]) == 52
        for name in ("Table", "TableDescription"):
            if name in response:
                response[name] = comparable(client, response[name])
        return response


def comparable(client, description):
    """A description without its random id, and without members that the SDK has yet to learn."""
    known = client.meta.service_model.shape_for("TableDescription").members
    names = description.keys() & known.keys() - {"TableId"}
    return {name: description[name] for name in names}


SCENARIOS = [
    create,
    describe,
    put_and_get,
    query,
    batch,
    transact,
    page,
    missing_table,
    failed_condition,
    cancelled_transaction,
    invalid,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_fast_lane_answers_as_the_slow_one(scenario):
    fast, slow = outcome(scenario, fast=True), outcome(scenario, fast=False)
    assert fast == slow


def test_the_scenarios_hold_what_is_worth_comparing():
    assert outcome(put_and_get, fast=True)["Item"]["text"] == {"B": b"as text"}
    created = outcome(describe, fast=True)["Table"]["CreationDateTime"]
    assert created == datetime(2026, 1, 1, tzinfo=UTC)
    assert outcome(failed_condition, fast=True)["class"] == "ConditionalCheckFailedException"
    reasons = outcome(cancelled_transaction, fast=True)["CancellationReasons"]
    assert reasons[0]["Item"]["binary"] == {"B": b"\0\xff"}


def test_a_resource_takes_the_fast_lane():
    with mock_dynamodb(fast=True):
        resource = boto3.resource("dynamodb", region_name="us-east-1")
        table = resource.create_table(TableName="table", **SCHEMA)
        table.wait_until_exists()
        with table.batch_writer() as batch:
            for number in range(30):
                batch.put_item(Item={"pk": "a", "sk": number, "tags": {"x"}, "data": b"b"})
        found = table.query(
            KeyConditionExpression=Key("pk").eq("a") & Key("sk").lt(3),
            FilterExpression=Attr("tags").contains("x"),
        )
        assert found["Items"][2] == {"pk": "a", "sk": 2, "tags": {"x"}, "data": b"b"}
        assert found["Count"] == 3


def test_a_client_made_before_takes_the_fast_lane():
    client = boto3.client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    sent = []
    client.meta.events.register("before-send", lambda **_: sent.append(1))
    with mock_dynamodb(fast=True):
        assert client.list_tables()["TableNames"] == []
    assert sent == []


def test_hooks_on_parameters_and_responses_still_run():
    events = []
    with mock_dynamodb(fast=True):
        client = boto3.client("dynamodb", region_name="us-east-1")
        client.meta.events.register(
            "provide-client-params.dynamodb.ListTables", lambda params, **_: {**params, "Limit": 1}
        )
        client.meta.events.register(
            "after-call.dynamodb.ListTables",
            lambda http_response, parsed, **_: events.append((http_response.status_code, parsed)),
        )
        for name in ("one-table", "two-table"):
            client.create_table(TableName=name, **SCHEMA)
        response = client.list_tables()
        assert response["TableNames"] == ["one-table"]
        assert events == [(200, response)]


def test_there_are_no_retries_in_the_fast_lane():
    calls = []

    class Throttling:
        clock, region, account_id = ManualClock(start=0), "us-east-1", "000000000000"

        def call(self, operation, request, *, region=None):
            calls.append((operation, request, region))
            raise errors.ProvisionedThroughputExceededException("slow down")

    with mock_dynamodb(Throttling(), fast=True) as emulator:
        client = boto3.client("dynamodb", region_name="eu-west-1")
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as refusal:
            client.list_tables(Limit=5)
    assert calls == [("ListTables", {"Limit": 5}, "eu-west-1")]
    assert refusal.value.response["ResponseMetadata"]["RetryAttempts"] == 0
    assert emulator.clock.now() == 0


def test_an_inner_slow_scope_is_slow():
    with mock_dynamodb(fast=True), mock_dynamodb(fast=False):
        client = boto3.client("dynamodb", region_name="us-east-1")
        assert client.list_tables()["ResponseMetadata"]["HTTPHeaders"]["server"] == "Server"


@pytest.mark.parametrize("fast", [False, True])
def test_the_scope_is_asked_for_once_per_call(fast, monkeypatch):
    asked = []
    ask = scopes.innermost

    def innermost():
        asked.append(None)
        return ask()

    monkeypatch.setattr(scopes, "innermost", innermost)
    with mock_dynamodb(fast=fast):
        client = boto3.client("dynamodb", region_name="eu-west-1")
        asked.clear()
        client.list_tables()

    assert len(asked) == 1


@pytest.mark.parametrize("fast", [False, True])
def test_a_client_s_region_is_that_of_its_replica(fast):
    """GTB-1, GTB-5: with boto3's waiters."""
    settings = Settings(table_delay=20, replication_lag=5)
    with mock_dynamodb(clock=ManualClock(), settings=settings, fast=fast) as emu:
        virginia = boto3.client("dynamodb", region_name="us-east-1")
        ireland = boto3.client("dynamodb", region_name="eu-west-1")
        create(virginia)
        virginia.get_waiter("table_exists").wait(TableName="table")
        virginia.put_item(TableName="table", Item=ITEM)
        updates = [{"Create": {"RegionName": "eu-west-1"}}]
        virginia.update_table(TableName="table", ReplicaUpdates=updates)
        ireland.get_waiter("table_exists").wait(TableName="table")
        pages = ireland.get_paginator("scan").paginate(
            TableName="table", PaginationConfig={"PageSize": 1}
        )
        assert sum(page["Count"] for page in pages) == 1
        virginia.delete_item(TableName="table", Key=KEY)
        assert ireland.scan(TableName="table")["Count"] == 1
        emu.clock.advance(5)
        assert ireland.scan(TableName="table")["Count"] == 0
        virginia.get_waiter("table_exists").wait(TableName="table")
        virginia.update_table(
            TableName="table", ReplicaUpdates=[{"Delete": {"RegionName": "eu-west-1"}}]
        )
        ireland.get_waiter("table_not_exists").wait(TableName="table")


# What sessions and clients share


def new_client():
    return boto3.Session().client("dynamodb", region_name="us-east-1")


@pytest.fixture
def files_read(monkeypatch):
    """The names of the files that sessions read, each with a loader of its own, as in life."""
    monkeypatch.setattr(botocore.session, "create_loader", create_loader)
    names = []
    original = JSONFileLoader.load_file

    def load_file(self, file_path):
        found = original(self, file_path)
        if found is not None:
            names.append(Path(file_path).name)
        return found

    monkeypatch.setattr(JSONFileLoader, "load_file", load_file)
    return names


def test_sessions_of_a_test_suite_read_the_files_of_the_sdk_once(files_read):
    with mock_dynamodb():
        new_client().list_tables()
        files_read.clear()
        new_client().list_tables()
    with mock_dynamodb():
        new_client().list_tables()
    assert files_read == []


def test_models_of_the_users_own_are_read_by_every_session(files_read, monkeypatch, tmp_path):
    model = Path(botocore.__file__).parent / "data" / "dynamodb"
    shutil.copytree(model, tmp_path / "dynamodb")
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    with mock_dynamodb():
        new_client()
        files_read.clear()
        new_client()
    assert "service-2" in files_read


def test_outside_of_a_mock_sessions_read_for_themselves(files_read):
    with mock_dynamodb():
        new_client()
    files_read.clear()
    boto3.Session().client("s3", region_name="us-east-1")
    assert "service-2" in files_read


def test_clients_share_the_model_and_nothing_that_changes():
    with mock_dynamodb():
        one, other = new_client(), new_client()
        assert one.meta.service_model is other.meta.service_model
        assert type(one) is not type(other)
        heard = []
        one.meta.events.register("before-call.dynamodb", lambda **_: heard.append("one"))
        other.list_tables()
        assert heard == []
        one.list_tables()
        assert heard == ["one"]
