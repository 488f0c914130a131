"""Designs, written: CreateTable requests as Terraform, CloudFormation and its JSON.

The readers in this room read what is written here, and find the same requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

#: What a request has that a table in CloudFormation has under the same name.
_SAME: Final = (
    "TableName",
    "AttributeDefinitions",
    "KeySchema",
    "BillingMode",
    "TableClass",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "WarmThroughput",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
)
_TERRAFORM_UNITS: Final = {
    "ProvisionedThroughput": {
        "ReadCapacityUnits": "read_capacity",
        "WriteCapacityUnits": "write_capacity",
    },
    "OnDemandThroughput": {
        "MaxReadRequestUnits": "max_read_request_units",
        "MaxWriteRequestUnits": "max_write_request_units",
    },
    "WarmThroughput": {
        "ReadUnitsPerSecond": "read_units_per_second",
        "WriteUnitsPerSecond": "write_units_per_second",
    },
}
_BLOCKS: Final = {
    "OnDemandThroughput": "on_demand_throughput",
    "WarmThroughput": "warm_throughput",
}


def cloudformation(requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a template that creates tables.

    >>> request = {"TableName": "my-events", "KeySchema": []}
    >>> cloudformation([request])["Resources"]["MyEvents"]["Type"]
    'AWS::DynamoDB::Table'
    """
    resources = {
        _logical_id(request["TableName"]): {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {name: request[name] for name in _SAME if name in request},
        }
        for request in requests
    }
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def _logical_id(name: str) -> str:
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words)


def terraform(requests: Sequence[Mapping[str, Any]]) -> str:
    """Return Terraform that creates tables.

    >>> request = {
    ...     "TableName": "events",
    ...     "BillingMode": "PAY_PER_REQUEST",
    ...     "KeySchema": [{"AttributeName": "deviceId", "KeyType": "HASH"}],
    ...     "AttributeDefinitions": [{"AttributeName": "deviceId", "AttributeType": "S"}],
    ... }
    >>> print(terraform([request]))
    resource "aws_dynamodb_table" "events" {
      name = "events"
      billing_mode = "PAY_PER_REQUEST"
      hash_key = "deviceId"
      attribute {
        name = "deviceId"
        type = "S"
      }
    }
    <BLANKLINE>
    """
    return "\n".join(_resource(request) for request in requests)


def _resource(request: Mapping[str, Any]) -> str:
    label = re.sub(r"[^A-Za-z0-9_-]", "_", request["TableName"])
    lines = [_setting("name", request["TableName"])]
    lines.append(_setting("billing_mode", request["BillingMode"]))
    if "TableClass" in request:
        lines.append(_setting("table_class", request["TableClass"]))
    lines += _throughput(request)
    lines += _plain_key(request["KeySchema"])
    for attribute in request["AttributeDefinitions"]:
        name = _setting("name", attribute["AttributeName"])
        lines += _block("attribute", [name, _setting("type", attribute["AttributeType"])])
    for index in request.get("GlobalSecondaryIndexes", ()):
        key = [line for element in index["KeySchema"] for line in _key_schema(element)]
        body = [_setting("name", index["IndexName"]), *key, *_projection(index)]
        lines += _block("global_secondary_index", [*body, *_throughput(index)])
    for index in request.get("LocalSecondaryIndexes", ()):
        sort = [line for line in _plain_key(index["KeySchema"]) if line.startswith("range_key")]
        body = [_setting("name", index["IndexName"]), *sort, *_projection(index)]
        lines += _block("local_secondary_index", body)
    return "\n".join(_block(f'resource "aws_dynamodb_table" "{label}"', lines)) + "\n"


def _setting(name: str, value: Any) -> str:
    return f"{name} = {json.dumps(value)}"


def _block(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title} {{", *(f"  {line}" for line in lines), "}"]


def _plain_key(schema: Sequence[Mapping[str, str]]) -> list[str]:
    names = {"HASH": "hash_key", "RANGE": "range_key"}
    return [_setting(names[element["KeyType"]], element["AttributeName"]) for element in schema]


def _key_schema(element: Mapping[str, str]) -> list[str]:
    name = _setting("attribute_name", element["AttributeName"])
    return _block("key_schema", [name, _setting("key_type", element["KeyType"])])


def _projection(index: Mapping[str, Any]) -> list[str]:
    projection = index["Projection"]
    lines = [_setting("projection_type", projection["ProjectionType"])]
    if "NonKeyAttributes" in projection:
        lines.append(_setting("non_key_attributes", projection["NonKeyAttributes"]))
    return lines


def _throughput(holder: Mapping[str, Any]) -> list[str]:
    """Return the settings of a table's or an index's throughput."""
    lines = []
    for member, names in _TERRAFORM_UNITS.items():
        units = [_setting(names[name], value) for name, value in holder.get(member, {}).items()]
        lines += _block(_BLOCKS[member], units) if units and member in _BLOCKS else units
    return lines
