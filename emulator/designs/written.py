"""Designs, written: CreateTable requests as Terraform, CloudFormation and its JSON.

The readers in this room read what is written here, and find the same requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emulator.capacity import ScalingPolicy

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


@dataclass(frozen=True)
class Scaling:
    """Auto scaling of a table's or an index's provisioned capacity, on both axes.

    >>> Scaling("orders", "byUser", ScalingPolicy()).targets[0]
    ('dynamodb:index:ReadCapacityUnits', 'DynamoDBReadCapacityUtilization')
    """

    table: str
    index: str | None
    policy: ScalingPolicy

    @property
    def resource_id(self) -> str:
        """What Application Auto Scaling calls it."""
        return f"table/{self.table}" + ("" if self.index is None else f"/index/{self.index}")

    @property
    def targets(self) -> list[tuple[str, str]]:
        """The scalable dimension and the metric of each axis."""
        kind = "table" if self.index is None else "index"
        return [
            (f"dynamodb:{kind}:{axis}CapacityUnits", f"DynamoDB{axis}CapacityUtilization")
            for axis in ("Read", "Write")
        ]

    def name(self, dimension: str) -> str:
        """Return the name of a target in its template."""
        axis = "read" if "Read" in dimension else "write"
        return "_".join(own for own in (self.table, self.index, axis) if own)


def cloudformation(
    requests: Sequence[Mapping[str, Any]], scalings: Iterable[Scaling] = ()
) -> dict[str, Any]:
    """Return a template that creates tables.

    Args:
        requests: The tables, as CreateTable requests.
        scalings: Whose capacity is scaled.

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
    for scaling in scalings:
        for dimension, metric in scaling.targets:
            name = _logical_id(scaling.name(dimension))
            resources |= _scaled(name, scaling, dimension, metric)
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def _scaled(name: str, scaling: Scaling, dimension: str, metric: str) -> dict[str, Any]:
    """Return the resources that scale one axis."""
    target = {
        "ServiceNamespace": "dynamodb",
        "ResourceId": scaling.resource_id,
        "ScalableDimension": dimension,
        "MinCapacity": scaling.policy.minimum,
        "MaxCapacity": scaling.policy.maximum,
    }
    policy = {
        "PolicyName": f"{name}Scaling",
        "PolicyType": "TargetTrackingScaling",
        "ScalingTargetId": {"Ref": f"{name}Target"},
        "TargetTrackingScalingPolicyConfiguration": {
            "TargetValue": scaling.policy.target,
            "PredefinedMetricSpecification": {"PredefinedMetricType": metric},
        },
    }
    kind = "AWS::ApplicationAutoScaling"
    return {
        f"{name}Target": {
            "Type": f"{kind}::ScalableTarget",
            "DependsOn": _logical_id(scaling.table),
            "Properties": target,
        },
        f"{name}Policy": {"Type": f"{kind}::ScalingPolicy", "Properties": policy},
    }


def _logical_id(name: str) -> str:
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words)


def terraform(requests: Sequence[Mapping[str, Any]], scalings: Iterable[Scaling] = ()) -> str:
    """Return Terraform that creates tables.

    Args:
        requests: The tables, as CreateTable requests.
        scalings: Whose capacity is scaled.

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
    scaled = [
        _scaling_blocks(scaling, dimension, metric)
        for scaling in scalings
        for dimension, metric in scaling.targets
    ]
    return "\n".join([*(_resource(request) for request in requests), *scaled])


def _scaling_blocks(scaling: Scaling, dimension: str, metric: str) -> str:
    """Return the resources that scale one axis."""
    name = _label(scaling.name(dimension))
    target = f"aws_appautoscaling_target.{name}"
    lines = _block(
        f'resource "aws_appautoscaling_target" "{name}"',
        [
            _setting("service_namespace", "dynamodb"),
            _setting("resource_id", scaling.resource_id),
            _setting("scalable_dimension", dimension),
            _setting("min_capacity", scaling.policy.minimum),
            _setting("max_capacity", scaling.policy.maximum),
            f"depends_on = [aws_dynamodb_table.{_label(scaling.table)}]",
        ],
    )
    metrics = _block(
        "predefined_metric_specification", [_setting("predefined_metric_type", metric)]
    )
    tracking = [_setting("target_value", scaling.policy.target), *metrics]
    lines += _block(
        f'resource "aws_appautoscaling_policy" "{name}"',
        [
            _setting("name", name),
            _setting("policy_type", "TargetTrackingScaling"),
            *(
                f"{own} = {target}.{own}"
                for own in ("service_namespace", "resource_id", "scalable_dimension")
            ),
            *_block("target_tracking_scaling_policy_configuration", tracking),
        ],
    )
    return "\n".join(lines) + "\n"


def _label(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _resource(request: Mapping[str, Any]) -> str:
    label = _label(request["TableName"])
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
