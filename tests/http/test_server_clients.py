"""Real clients against the server and the real emulator. Rules WIR-1, WIR-10, WIR-11."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.config import Config

from emulator import Emulator, ManualClock
from emulator.http.server import ServerThread
from tests.tables import vector, vector_table

AWS_CLI = shutil.which("aws")
NOT_AWS = {
    "AWS_ACCESS_KEY_ID": "any",
    "AWS_SECRET_ACCESS_KEY": "any",
    "AWS_DEFAULT_REGION": "eu-west-1",
}
ORDERS = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def server():
    with ServerThread(Emulator()) as running:
        yield running


def client_of(server, region="eu-west-1", key="any"):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint_url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key="any",
        config=Config(retries={"max_attempts": 0}, max_pool_connections=16),
    )


@pytest.fixture
def client(server):
    client = client_of(server)
    client.create_table(**ORDERS)
    return client


def test_boto3_writes_and_reads(client):
    item = {
        "pk": {"S": "käse \U0001f9c0"},
        "n": {"N": "1.5"},
        "b": {"B": b"\x00\xff"},
        "deep": {"L": [{"M": {"set": {"SS": ["a"]}}}, {"NULL": True}, {"BOOL": False}]},
    }
    client.put_item(TableName="orders", Item=item)

    read = client.get_item(TableName="orders", Key={"pk": item["pk"]}, ConsistentRead=True)

    assert read["Item"] == item
    metadata = read["ResponseMetadata"]
    assert (metadata["HTTPStatusCode"], metadata["RetryAttempts"]) == (200, 0)
    assert len(metadata["RequestId"]) == 52


def test_boto3_pages_and_waits(client):
    client.get_waiter("table_exists").wait(TableName="orders")
    for number in range(30):
        client.put_item(TableName="orders", Item={"pk": {"S": f"{number:03}"}})

    pages = client.get_paginator("scan").paginate(
        TableName="orders", PaginationConfig={"PageSize": 7}
    )

    assert sorted(item["pk"]["S"] for page in pages for item in page["Items"]) == [
        f"{number:03}" for number in range(30)
    ]


def test_boto3_reads_the_errors(client):
    """WIR-8, WIR-10."""
    with pytest.raises(client.exceptions.ResourceNotFoundException) as missing:
        client.get_item(TableName="none", Key={"pk": {"S": "a"}})
    assert missing.value.response["Error"] == {
        "Code": "ResourceNotFoundException",
        "Message": "Requested resource not found",
    }

    put = {"TableName": "orders", "Item": {"pk": {"S": "a"}}}
    condition = {"ConditionExpression": "attribute_exists(pk)"}
    with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
        client.transact_write_items(TransactItems=[{"Put": put | condition}])
    assert cancelled.value.response["Error"]["Message"].startswith("Transaction cancelled")
    assert cancelled.value.response["CancellationReasons"] == [
        {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    ]


def test_regions_are_apart(server, client):
    elsewhere = client_of(server, region="us-west-2")

    assert client.list_tables()["TableNames"] == ["orders"]
    assert elsewhere.list_tables()["TableNames"] == []


def test_a_replica_is_in_the_region_of_its_clients():
    """GTB-1."""
    clock = ManualClock()
    with ServerThread(Emulator(clock=clock)) as server:
        client, elsewhere = client_of(server), client_of(server, region="us-west-2")
        client.create_table(**ORDERS)
        updates = [{"Create": {"RegionName": "us-west-2"}}]
        client.update_table(TableName="orders", ReplicaUpdates=updates)
        client.put_item(TableName="orders", Item={"pk": {"S": "a"}})
        assert elsewhere.scan(TableName="orders")["Count"] == 0
        clock.advance(1)
        assert elsewhere.scan(TableName="orders")["Count"] == 1


def test_threads_share_a_client(client):
    def count(_number):
        client.update_item(
            TableName="orders",
            Key={"pk": {"S": "counter"}},
            UpdateExpression="ADD hits :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(200)))

    read = client.get_item(TableName="orders", Key={"pk": {"S": "counter"}}, ConsistentRead=True)
    assert read["Item"]["hits"] == {"N": "200"}


@pytest.mark.skipif(AWS_CLI is None, reason="the AWS CLI is not installed")
def test_the_aws_cli_lists_tables(server, client):
    done = subprocess.run(
        [str(AWS_CLI), "dynamodb", "list-tables", "--endpoint-url", server.endpoint_url],
        env={"PATH": os.environ["PATH"], "HOME": os.devnull, **NOT_AWS},
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert json.loads(done.stdout) == {"TableNames": ["orders"]}


def test_a_server_answers_searches_under_its_own_host(server):
    """VIX-40, VIX-52, VIX-60."""
    client = client_of(server)
    if "SearchVectors" not in client.meta.service_model.operation_names:
        pytest.skip("this SDK has no vector search")
    client.create_table(**vector_table())
    client.put_item(TableName="tab", Item={"pk": {"S": "a"}, "emb": vector(1, 1)})
    answer = client.search_vectors(
        TableName="tab",
        IndexName="vix",
        SearchVector=[{"N": "1"}, {"N": "1"}],
        TopK=1,
        ProjectionExpression="emb",
        ReturnConsumedCapacity="INDEXES",
    )
    shown = {"emb": {"L": [{"N": "1.0"}, {"N": "1.0"}]}}
    assert answer["SearchResults"] == [{"Item": shown, "Score": 0.0}]
    assert answer["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024}
