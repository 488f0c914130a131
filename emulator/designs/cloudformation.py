"""CloudFormation and SAM: the DynamoDB tables of a template, YAML or JSON.

Parameters with defaults are filled in. Other intrinsic functions stay what they are; where a
table needs their value, the file's own name or a stated assumption stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from emulator.designs.declared import INDEX_MEMBERS, UNITS, DeclaredTable, Notes, expecting, kept

_TABLE: Final = "AWS::DynamoDB::Table"
_GLOBAL: Final = "AWS::DynamoDB::GlobalTable"
_SIMPLE: Final = "AWS::Serverless::SimpleTable"
_SCALING: Final = "AWS::ApplicationAutoScaling::ScalableTarget"
_NO_VALUE: Final = {"Ref": "AWS::NoValue"}
_MEMBERS: Final = (
    "KeySchema",
    "AttributeDefinitions",
    "LocalSecondaryIndexes",
    "GlobalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "TableClass",
)
_TYPES: Final = {"String": "S", "Number": "N", "Binary": "B"}


def is_template(document: Any) -> bool:
    """Return whether a document has the form of a template."""
    return isinstance(document, Mapping) and isinstance(document.get("Resources"), Mapping)


def read_template(document: Mapping[str, Any], source: str) -> list[DeclaredTable]:
    """Return the tables that a template declares.

    Raises:
        DocumentError: A table has no key, or a member of the wrong kind.
    """
    with expecting(f"{source}: Parameters", "a map of parameters"):
        values = {
            name: parameter["Default"]
            for name, parameter in (document.get("Parameters") or {}).items()
            if isinstance(parameter, Mapping) and "Default" in parameter
        }
    resources = resolved(document["Resources"], values)
    scaled = set(_scaled_tables(resources))
    made = []
    for name, resource in resources.items():
        kind = resource.get("Type") if isinstance(resource, Mapping) else None
        if isinstance(kind, str) and kind in _READERS:
            where = f"{source}: Resources.{name}.Properties"
            with expecting(where, f"the properties of {kind}"):
                table = _READERS[kind](name, resource.get("Properties") or {})
                made.append(replace(table, scaled=table.scaled or name in scaled))
    return made


def resolved(node: Any, values: Mapping[str, Any]) -> Any:
    """Fill in parameters, drop what has no value, and take the first branch of conditions.

    >>> resolved({"a": {"Ref": "Size"}, "b": {"Fn::Sub": "x-${Env}"}, "c": {"Ref": "AWS::NoValue"}},
    ...          {"Size": 5, "Env": "test"})
    {'a': 5, 'b': 'x-test'}
    """
    if isinstance(node, list):
        return [resolved(child, values) for child in node if child != _NO_VALUE]
    if not isinstance(node, Mapping):
        return node
    if len(node) == 1:
        (name, inner), *_ = node.items()
        if name == "Ref" and isinstance(inner, str) and inner in values:
            return values[inner]
        if name == "Fn::Sub" and isinstance(inner, str):
            return re.sub(r"\$\{(\w+)\}", lambda m: str(values.get(m[1], m[0])), inner)
        if name == "Fn::If" and isinstance(inner, list) and len(inner) == 3:
            first = inner[2] if inner[1] == _NO_VALUE else inner[1]
            return resolved(first, values)
    return {
        name: resolved(child, values)
        for name, child in node.items()
        if child != _NO_VALUE and not _is_absent(child)
    }


def _is_absent(node: Any) -> bool:
    """Return whether a condition leaves nothing in either branch."""
    branches = node.get("Fn::If") if isinstance(node, Mapping) else None
    return isinstance(branches, list) and branches[1:] == [_NO_VALUE, _NO_VALUE]


def _scaled_tables(resources: Mapping[str, Any]) -> Iterator[str]:
    """Yield the logical names that an auto scaling target mentions."""
    for resource in resources.values():
        if isinstance(resource, Mapping) and resource.get("Type") == _SCALING:
            target = str((resource.get("Properties") or {}).get("ResourceId"))
            yield from (name for name in resources if re.search(rf"\b{re.escape(name)}\b", target))


# Tables


def _table(name: str, properties: Mapping[str, Any]) -> DeclaredTable:
    notes = Notes(name)
    request: dict[str, Any] = {"TableName": notes.name(properties.get("TableName"), name)}
    request |= kept(properties, _MEMBERS)
    request["KeySchema"] = list(properties["KeySchema"])
    provisioned = _is_provisioned(notes, request)
    request["BillingMode"] = "PROVISIONED" if provisioned else "PAY_PER_REQUEST"
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if member in request:
            request[member] = [kept(index, INDEX_MEMBERS) for index in request[member]]
    for target in (request, *request.get("GlobalSecondaryIndexes", ())):
        _settle_throughput(notes, target, provisioned=provisioned)
    _add_options(properties, request)
    return DeclaredTable(
        resource=name,
        request=request,
        ttl_attribute=_ttl(properties),
        findings=tuple(notes.findings),
    )


def _is_provisioned(notes: Notes, request: Mapping[str, Any]) -> bool:
    mode = request.get("BillingMode", "PROVISIONED")
    if isinstance(mode, str):
        return mode != "PAY_PER_REQUEST"
    provisioned = "ProvisionedThroughput" in request
    notes.unknown("BillingMode", "PROVISIONED" if provisioned else "PAY_PER_REQUEST")
    return provisioned


def _settle_throughput(notes: Notes, target: dict[str, Any], *, provisioned: bool) -> None:
    throughput = target.pop("ProvisionedThroughput", {})
    where = f"{target['IndexName']}: " if "IndexName" in target else ""
    units = notes.units(throughput, UNITS, where) if provisioned else {}
    if units:
        target["ProvisionedThroughput"] = units


def _add_options(properties: Mapping[str, Any], request: dict[str, Any]) -> None:
    stream = properties.get("StreamSpecification")
    if isinstance(stream, Mapping):
        view = kept(stream, ("StreamViewType",))
        request["StreamSpecification"] = {"StreamEnabled": True} | view
    if properties.get("DeletionProtectionEnabled") is True:
        request["DeletionProtectionEnabled"] = True


def _ttl(properties: Mapping[str, Any]) -> str | None:
    specification = properties.get("TimeToLiveSpecification") or {}
    name = specification.get("AttributeName") if specification.get("Enabled", True) else None
    return name if isinstance(name, str) else None


def _global_table(name: str, properties: Mapping[str, Any]) -> DeclaredTable:
    """Read a global table: its writes scale for all replicas, its reads for each."""
    replica = (properties.get("Replicas") or [{}])[0]
    plain = dict(properties)
    plain["ProvisionedThroughput"] = _global_units(properties, replica)
    by_name = {index["IndexName"]: index for index in replica.get("GlobalSecondaryIndexes") or ()}
    plain["GlobalSecondaryIndexes"] = [
        dict(index)
        | {"ProvisionedThroughput": _global_units(index, by_name.get(index.get("IndexName"), {}))}
        for index in properties.get("GlobalSecondaryIndexes") or ()
    ] or None
    plain["TableClass"] = replica.get("TableClass")
    scaled = properties.get("BillingMode") != "PAY_PER_REQUEST"
    return replace(_table(name, plain), scaled=scaled)


def _global_units(writes: Mapping[str, Any], reads: Mapping[str, Any]) -> dict[str, Any]:
    write = writes.get("WriteProvisionedThroughputSettings") or {}
    read = reads.get("ReadProvisionedThroughputSettings") or {}
    least = (write.get("WriteCapacityAutoScalingSettings") or {}).get("MinCapacity")
    scaling = read.get("ReadCapacityAutoScalingSettings") or {}
    return {
        "WriteCapacityUnits": least,
        "ReadCapacityUnits": read.get("ReadCapacityUnits", scaling.get("MinCapacity")),
    }


def _simple_table(name: str, properties: Mapping[str, Any]) -> DeclaredTable:
    """Read a SAM table: one key, on demand unless it says otherwise.

    Source: SAM, AWS::Serverless::SimpleTable; the key defaults to ``id``, a string.
    """
    key = properties.get("PrimaryKey") or {"Name": "id", "Type": "String"}
    plain = {
        "TableName": properties.get("TableName"),
        "KeySchema": [{"AttributeName": key["Name"], "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": key["Name"], "AttributeType": _TYPES[key["Type"]]}
        ],
        "BillingMode": "PROVISIONED"
        if "ProvisionedThroughput" in properties
        else "PAY_PER_REQUEST",
        "ProvisionedThroughput": properties.get("ProvisionedThroughput"),
    }
    return _table(name, plain)


_Reader: TypeAlias = Callable[[str, Mapping[str, Any]], DeclaredTable]
_READERS: Final[dict[str, _Reader]] = {
    _TABLE: _table,
    _GLOBAL: _global_table,
    _SIMPLE: _simple_table,
}
