"""Workbench models and table descriptions become CreateTable requests."""

import json

import pytest

from emulator import Emulator
from emulator.designs import create_table_requests, read_tables
from emulator.service.errors import DocumentError


def attribute(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def model(**members):
    table = {
        "TableName": "Catalog",
        "KeyAttributes": {"PartitionKey": attribute("PK"), "SortKey": attribute("SK")},
        "NonKeyAttributes": [attribute("GSI1PK"), attribute("price", "N")],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeyAttributes": {
                    "PartitionKey": attribute("GSI1PK"),
                    "SortKey": attribute("price", "N"),
                },
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]},
            }
        ],
        "TableData": [{"PK": {"S": "a"}, "SK": {"S": "b"}}],
        "DataAccess": {"MySql": {}},
    }
    document = {"ModelName": "m", "ModelMetadata": {}, "DataModel": [table | members]}
    return json.dumps(document)


REQUEST = {
    "TableName": "Catalog",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "price", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]},
        }
    ],
    "AttributeDefinitions": [
        attribute("PK"),
        attribute("SK"),
        attribute("GSI1PK"),
        attribute("price", "N"),
    ],
}


def read(directory, text):
    path = directory / "model.json"
    path.write_text(text, encoding="utf-8")
    return read_tables(path)


def test_a_model_without_a_billing_mode_is_on_demand(tmp_path):
    [table] = read(tmp_path, model())
    assert table.request == REQUEST
    assert table.samples == ({"PK": {"S": "a"}, "SK": {"S": "b"}},)
    Emulator().call("CreateTable", table.request)


def test_a_provisioned_model_gives_its_indexes_what_the_table_has(tmp_path):
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
    settings = {"ProvisionedThroughput": units, "AutoScalingWrite": {}}
    [table] = read(tmp_path, model(BillingMode="PROVISIONED", ProvisionedCapacitySettings=settings))
    assert table.scaled
    assert table.request["ProvisionedThroughput"] == units
    assert table.request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == units
    Emulator().call("CreateTable", table.request)


def test_a_key_of_several_attributes_may_be_a_list(tmp_path):
    index = {
        "IndexName": "both",
        "KeyAttributes": {"PartitionKey": [attribute("a"), attribute("b")]},
    }
    [table] = read(tmp_path, model(GlobalSecondaryIndexes=[index]))
    assert table.request["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "both",
            "KeySchema": [
                {"AttributeName": "a", "KeyType": "HASH"},
                {"AttributeName": "b", "KeyType": "HASH"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ]


def test_a_table_without_a_key_is_named(tmp_path):
    with pytest.raises(
        DocumentError, match=r"DataModel\[0\]: It cannot be read: expected a table with TableName"
    ):
        read(tmp_path, model(KeyAttributes={}))


# Descriptions


@pytest.mark.parametrize("mode", ["PROVISIONED", "PAY_PER_REQUEST"])
def test_a_description_makes_the_table_again(tmp_path, mode):
    request = json.loads(json.dumps(REQUEST)) | {"BillingMode": mode}
    if mode == "PROVISIONED":
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
        request["ProvisionedThroughput"] = units
        request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] = units
    request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    first = Emulator()
    first.call("CreateTable", request)
    described = first.call("DescribeTable", {"TableName": "Catalog"})
    path = tmp_path / "table.json"
    path.write_text(json.dumps(described, default=float), encoding="utf-8")

    second = Emulator()
    for one in create_table_requests(path):
        second.call("CreateTable", one)
    again = second.call("DescribeTable", {"TableName": "Catalog"})["Table"]
    for member in ("KeySchema", "GlobalSecondaryIndexes", "StreamSpecification"):
        kept = json.dumps(described["Table"][member], default=str)
        assert json.dumps(again[member], default=str) == kept
    assert again.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED") == mode


def test_requests_may_come_in_a_list(tmp_path):
    path = tmp_path / "tables.json"
    path.write_text(json.dumps([REQUEST, REQUEST | {"TableName": "Other"}]), encoding="utf-8")
    assert create_table_requests(path) == [REQUEST, REQUEST | {"TableName": "Other"}]
