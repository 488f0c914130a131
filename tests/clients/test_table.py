from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from emulator import Emulator, ManualClock
from emulator.clients import Attr, Client, Key, Table
from emulator.clients.client import snake_case
from emulator.clients.table import DESCRIPTION_MEMBERS


@pytest.fixture
def emulator():
    return Emulator(clock=ManualClock())


@pytest.fixture
def table(emulator):
    Client(emulator.call).create_table(
        TableName="music",
        AttributeDefinitions=[
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "year", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "artist", "KeyType": "HASH"},
            {"AttributeName": "year", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    return Table(emulator.call, "music", clock=emulator.clock)


ITEM = {
    "artist": "Nina",
    "year": 1958,
    "price": Decimal("9.99"),
    "cover": b"\0\xff",
    "live": False,
    "producer": None,
    "tags": {"jazz", "piano"},
    "ratings": {4, 5},
    "keys": {b"a"},
    "tracks": ["one", 2, {"three": [3]}],
    "label": {"name": "Bethlehem"},
}


def without_metadata(response):
    assert response.pop("ResponseMetadata")["HTTPStatusCode"] == 200
    return response


def test_an_item_comes_back_as_it_was_put(table):
    assert without_metadata(table.put_item(Item=ITEM)) == {}
    read = without_metadata(table.get_item(Key={"artist": "Nina", "year": 1958}))
    assert read == {"Item": ITEM}
    assert type(read["Item"]["year"]) is Decimal


def test_floats_are_refused(table):
    with pytest.raises(TypeError, match=r"^Float types are not supported\. Use Decimal types"):
        table.put_item(Item={"artist": "Nina", "year": 1958, "price": 9.99})


def test_a_missing_item_has_no_item_member(table):
    assert without_metadata(table.get_item(Key={"artist": "x", "year": 1})) == {}


def test_updates_and_deletes_answer_with_natural_attributes(table):
    table.put_item(Item={"artist": "Nina", "year": 1958, "plays": 1})
    updated = table.update_item(
        Key={"artist": "Nina", "year": 1958},
        UpdateExpression="ADD plays :more",
        ExpressionAttributeValues={":more": 2},
        ReturnValues="ALL_NEW",
    )
    whole = {"artist": "Nina", "year": Decimal(1958), "plays": Decimal(3)}
    assert without_metadata(updated) == {"Attributes": whole}
    deleted = table.delete_item(Key={"artist": "Nina", "year": 1958}, ReturnValues="ALL_OLD")
    assert without_metadata(deleted) == {"Attributes": whole}


def test_legacy_conditions_take_natural_values(table):
    table.put_item(Item={"artist": "Nina", "year": 1958}, Expected={"artist": {"Exists": False}})
    table.update_item(
        Key={"artist": "Nina", "year": 1958},
        AttributeUpdates={"plays": {"Value": 5, "Action": "PUT"}},
        Expected={"year": {"AttributeValueList": [1958], "ComparisonOperator": "EQ"}},
    )
    found = table.query(
        KeyConditions={"artist": {"AttributeValueList": ["Nina"], "ComparisonOperator": "EQ"}},
        QueryFilter={"plays": {"AttributeValueList": [4], "ComparisonOperator": "GT"}},
    )
    assert found["Items"] == [{"artist": "Nina", "year": 1958, "plays": 5}]


def fill(table, count=30):
    with table.batch_writer() as batch:
        for year in range(count):
            batch.put_item(Item={"artist": "Nina", "year": year, "parity": year % 2})


def test_queries_take_condition_objects(table):
    fill(table)
    response = table.query(
        KeyConditionExpression=Key("artist").eq("Nina") & Key("year").between(10, 20),
        FilterExpression=Attr("parity").eq(1),
        ProjectionExpression="#y",
        ExpressionAttributeNames={"#y": "year"},
    )
    assert [item["year"] for item in response["Items"]] == [11, 13, 15, 17, 19]
    assert (response["Count"], response["ScannedCount"]) == (5, 11)


def test_queries_take_boto3s_condition_objects(table):
    conditions = pytest.importorskip("boto3.dynamodb.conditions")
    fill(table)
    response = table.query(
        KeyConditionExpression=conditions.Key("artist").eq("Nina") & conditions.Key("year").lt(3),
        FilterExpression=conditions.Attr("parity").is_in([0]),
    )
    assert [item["year"] for item in response["Items"]] == [0, 2]


def test_queries_take_strings(table):
    fill(table)
    response = table.query(
        KeyConditionExpression="artist = :a AND #y > :y",
        ExpressionAttributeNames={"#y": "year"},
        ExpressionAttributeValues={":a": "Nina", ":y": 27},
    )
    assert [item["year"] for item in response["Items"]] == [28, 29]


def test_a_condition_object_guards_a_write(table, emulator):
    table.put_item(Item={"artist": "Nina", "year": 1958})
    exceptions = Client(emulator.call).exceptions
    with pytest.raises(exceptions.ConditionalCheckFailedException) as refusal:
        table.put_item(
            Item={"artist": "Nina", "year": 1958},
            ConditionExpression=Attr("artist").not_exists(),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    # As in boto3, what an error carries is in the client's form.
    assert refusal.value.response["Item"] == {"artist": {"S": "Nina"}, "year": {"N": "1958"}}


def test_the_errors_are_those_of_the_tables_client(emulator):
    missing = emulator.table("missing", region="eu-west-1")
    with pytest.raises(missing.meta.client.exceptions.ResourceNotFoundException):
        missing.scan()
    assert missing.meta.client.meta.region_name == "eu-west-1"


def test_the_caller_keeps_the_request_he_made(table):
    names, values = {"#y": "year"}, {":y": 5}
    request = {
        "KeyConditionExpression": Key("artist").eq("Nina"),
        "FilterExpression": Attr("parity").eq(1),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
        "ProjectionExpression": "#y",
    }
    with pytest.raises(Exception, match=r"unused in expressions: keys: \{:y\}"):
        table.query(**request)
    assert (names, values) == ({"#y": "year"}, {":y": 5})


def test_pages_are_walked_to_the_end(table):
    fill(table)
    key = Key("artist").eq("Nina")
    page = table.query(KeyConditionExpression=key, Limit=7)
    assert page["LastEvaluatedKey"] == {"artist": "Nina", "year": 6}
    assert [item["year"] for item in table.query_all(KeyConditionExpression=key, Limit=7)] == list(
        range(30)
    )
    assert sorted(item["year"] for item in table.scan_all(Limit=11)) == list(range(30))
    assert table.scan(Select="COUNT")["Count"] == 30


# Batches


class Batches:
    """A call that leaves the first write of each batch unprocessed, once."""

    def __init__(self):
        self.batches = []

    def __call__(self, operation, request, *, region=None):
        assert operation == "BatchWriteItem"
        [(name, writes)] = request["RequestItems"].items()
        self.batches.append(list(writes))
        left = writes[:1] if len(self.batches) == 1 else []
        return {"UnprocessedItems": {name: left} if left else {}}


def test_a_batch_writer_sends_twenty_five_at_a_time_and_the_rest_at_the_end():
    """CAP-709: what comes back unprocessed is sent again, without back-off."""
    call = Batches()
    with Table(call, "t").batch_writer() as batch:
        for number in range(30):
            batch.put_item(Item={"pk": number})
        batch.delete_item(Key={"pk": "x"})
    assert [len(writes) for writes in call.batches] == [25, 7]
    assert call.batches[1][0] == {"PutRequest": {"Item": {"pk": {"N": "0"}}}}
    assert call.batches[1][-1] == {"DeleteRequest": {"Key": {"pk": {"S": "x"}}}}


def test_a_later_write_to_a_key_replaces_one_that_waits():
    call = Batches()
    with Table(call, "t").batch_writer(overwrite_by_pkeys=["pk"]) as batch:
        batch.put_item(Item={"pk": 1, "version": 1})
        batch.put_item(Item={"pk": 2, "version": 1})
        batch.put_item(Item={"pk": 1, "version": 2})
        batch.delete_item(Key={"pk": 2})
    assert call.batches[0] == [
        {"PutRequest": {"Item": {"pk": {"N": "1"}, "version": {"N": "2"}}}},
        {"DeleteRequest": {"Key": {"pk": {"N": "2"}}}},
    ]


def test_what_waits_is_sent_even_if_the_block_fails():
    call = Batches()

    def fail():
        with Table(call, "t").batch_writer() as batch:
            batch.put_item(Item={"pk": 1})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [len(writes) for writes in call.batches] == [1, 1]


# The table itself


def test_the_description_is_read_when_first_asked_for(table):
    assert table.name == table.table_name == "music"
    assert table.table_status == "ACTIVE"
    assert table.creation_date_time == datetime(2026, 1, 1, tzinfo=UTC)
    assert table.item_count == 0
    assert table.key_schema == [
        {"AttributeName": "artist", "KeyType": "HASH"},
        {"AttributeName": "year", "KeyType": "RANGE"},
    ]
    assert table.latest_stream_arn is None
    with pytest.raises(AttributeError, match="a table has no attribute 'colour'"):
        _ = table.colour
    assert {"item_count", "put_item"} < set(dir(table))


def test_the_description_is_kept_until_reloaded():
    counts = iter([1, 2])

    def call(operation, request, *, region=None):
        assert (operation, request) == ("DescribeTable", {"TableName": "t"})
        return {"Table": {"ItemCount": next(counts)}}

    table = Table(call, "t")
    assert (table.item_count, table.item_count) == (1, 1)
    table.reload()
    assert table.item_count == 2


def test_a_table_is_updated_waited_for_and_deleted(table, emulator):
    updated = table.update(
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
    )
    assert updated == table
    assert len({updated, table}) == 1
    table.wait_until_exists()
    table.reload()
    assert table.provisioned_throughput["WriteCapacityUnits"] == 6
    assert table.delete()["TableDescription"]["TableName"] == "music"
    table.wait_until_not_exists()
    assert emulator.call("ListTables", {}) == {"TableNames": []}
    assert repr(table) == "Table(name='music')"


def test_the_attributes_are_those_of_boto3s_table():
    boto3 = pytest.importorskip("boto3")
    resource = boto3.resource(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    model = resource.Table("t").meta.resource_model
    shape = resource.meta.client.meta.service_model.shape_for(model.shape)
    theirs = set(model.get_attributes(shape)) | {"table_name"}
    assert {snake_case(member) for member in DESCRIPTION_MEMBERS} == theirs
