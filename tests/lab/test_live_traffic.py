"""A live table and its traffic as a lab file: what it says, and that the lab can run it."""

import json

import pytest

from emulator.lab.files import loads
from emulator.lab.live_traffic import lab_document
from emulator.service.errors import DocumentError

DESCRIPTION = {
    "TableName": "orders",
    "AttributeDefinitions": [
        {"AttributeName": "user-id", "AttributeType": "S"},
        {"AttributeName": "timestamp", "AttributeType": "S"},
        {"AttributeName": "status", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "user-id", "KeyType": "HASH"},
        {"AttributeName": "timestamp", "KeyType": "RANGE"},
    ],
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    "OnDemandThroughput": {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 40},
    "TableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byStatus",
            "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
        }
    ],
}


def put(number, **attributes):
    item = {
        "user-id": {"S": f"u{number % 3}"},
        "timestamp": {"S": str(number)},
        "total": {"N": "1"},
        **attributes,
    }
    return float(number), "PutItem", {"TableName": "orders", "Item": item}


def test_the_table_is_a_design_and_what_is_in_no_key_is_left_out():
    document = lab_document([put(0), put(1, status={"S": "open"})], DESCRIPTION)
    file = loads(json.dumps(document))
    [design] = file.designs
    [table] = design.tables
    assert (table.partition, table.sort) == ("{attribute_1}", "{attribute_2}")
    assert table.table_class == "STANDARD_INFREQUENT_ACCESS"
    assert (table.capacity.max_read, table.capacity.max_write) == (None, 40)
    assert table.indexes[0].projection == ("total",)
    assert file.workload.attributes == {"total": 2}
    assert [field.name for field in file.workload.fields] == [
        "attribute_1",
        "attribute_2",
        "status",
    ]


def test_an_attribute_that_an_index_includes_has_its_mean_size_or_is_left_out():
    calls = [put(0, total={"S": "a" * 10}), put(1, total={"S": "a" * 40}, status={"S": "open"})]
    seen = loads(json.dumps(lab_document(calls, DESCRIPTION)))
    for _, _, request in calls:
        del request["Item"]["total"]
    unseen = loads(json.dumps(lab_document(calls, DESCRIPTION)))

    assert seen.workload.attributes == {"total": 25}
    assert unseen.workload.attributes == {}
    assert unseen.designs[0].tables[0].indexes[0].projection == "KEYS_ONLY"


def test_an_item_without_the_attribute_of_an_index_is_not_in_it():
    calls = [put(number) for number in range(4)] + [put(4, status={"S": "open"})]
    file = loads(json.dumps(lab_document(calls, DESCRIPTION)))
    by_fields = {
        pattern.fields: pattern.rate.per_second(5).sum() for pattern in file.workload.patterns
    }
    assert by_fields == {
        ("attribute_1", "attribute_2"): 4.0,
        ("attribute_1", "attribute_2", "status"): 1.0,
    }


def test_a_key_attribute_that_nobody_named_has_one_value():
    query = {
        "TableName": "orders",
        "KeyConditionExpression": "#n0 = :v0",
        "ExpressionAttributeNames": {"#n0": "user-id"},
        "ExpressionAttributeValues": {":v0": {"S": "u1"}},
    }
    file = loads(json.dumps(lab_document([(0.0, "Query", query)], DESCRIPTION)))
    assert file.workload.field("status").values == ("unseen",)


def test_capacity_that_is_provisioned_stays_so():
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 9}
    index = DESCRIPTION["GlobalSecondaryIndexes"][0] | {"ProvisionedThroughput": units}
    provisioned = {
        **DESCRIPTION,
        "BillingModeSummary": {"BillingMode": "PROVISIONED"},
        "ProvisionedThroughput": units,
        "GlobalSecondaryIndexes": [index],
    }
    document = lab_document([put(0)], provisioned)
    assert document["designs"][0]["read"] == 7
    assert document["designs"][0]["indexes"][0]["write"] == 9


def test_traffic_of_other_tables_is_none():
    with pytest.raises(DocumentError, match="no traffic on table orders was seen"):
        lab_document([(0.0, "Scan", {"TableName": "another"})], DESCRIPTION)
