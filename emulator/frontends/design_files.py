"""Design files: the tables that a project's own infrastructure code declares.

Read are Terraform (``.tf``), CloudFormation and SAM (YAML or JSON), the output of
``aws dynamodb describe-table``, and plain CreateTable requests, one or a list of them. All of
them become CreateTable requests, which the engine judges as it judges any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from emulator.errors import EmulatorError
from emulator.operations import snapshot_file

UNKNOWN_SUFFIX: Final = "{path}: a design is a .tf, .json, .yaml, .yml or .template file"
NOT_READABLE: Final = "{path}: not a readable {kind} file: {error}"
NEEDS: Final = "{path}: reading it needs {package}: pip install 'dynamometer[lab]'"
NO_TABLES: Final = "{path}: no DynamoDB table is declared in it"
NOT_A_NUMBER: Final = "{path}: {table}.{field} is a number, not {value!r}"
MISSING: Final = "{path}: {table} has no {field}"

_KEPT: Final = (
    "TableName",
    "KeySchema",
    "AttributeDefinitions",
    "LocalSecondaryIndexes",
    "GlobalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "StreamSpecification",
    "OnDemandThroughput",
    "DeletionProtectionEnabled",
)


class TableDesign(NamedTuple):
    """A declared table: the request that creates it, and its TTL attribute if it has one."""

    request: dict[str, Any]
    ttl_attribute: str | None = None


def read_designs(path: str | Path) -> list[TableDesign]:
    """Return the tables that a file declares, in its order.

    Raises:
        EmulatorError: naming the file, and what is wrong with it.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise EmulatorError(UNKNOWN_SUFFIX.format(path=path))
    designs = reader(path)
    if not designs:
        raise EmulatorError(NO_TABLES.format(path=path))
    return designs


def _read_json(path: Path) -> list[TableDesign]:
    return _documents(path, _parsed(path, "JSON", json.loads))


def _read_yaml(path: Path) -> list[TableDesign]:
    yaml = _package(path, "yaml", "PyYAML")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]  # loaded when needed
        """YAML with CloudFormation's short intrinsic functions, which stay unresolved."""

    Loader.add_multi_constructor("!", lambda _loader, suffix, _node: {f"!{suffix}": None})
    return _documents(path, _parsed(path, "YAML", lambda text: yaml.load(text, Loader)))


def _read_terraform(path: Path) -> list[TableDesign]:
    hcl2 = _package(path, "hcl2", "python-hcl2")
    document = _unquoted(_parsed(path, "Terraform", hcl2.loads))
    return [
        _terraform_table(path, label, body)
        for resource in document.get("resource", ())
        for label, body in resource.get("aws_dynamodb_table", {}).items()
    ]


_READERS: Final[dict[str, Callable[[Path], list[TableDesign]]]] = {
    ".json": _read_json,
    ".template": _read_json,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    ".tf": _read_terraform,
}


def _package(path: Path, name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise EmulatorError(NEEDS.format(path=path, package=package)) from None


def _parsed(path: Path, kind: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror}") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise EmulatorError(NOT_READABLE.format(path=path, kind=kind, error=reason)) from None


# CloudFormation, DescribeTable and CreateTable


def _documents(path: Path, document: Any) -> list[TableDesign]:
    if isinstance(document, list):
        return [design for one in document for design in _documents(path, one)]
    if not isinstance(document, dict):
        return []
    if isinstance(document.get("Resources"), dict):
        return list(_stack(path, document["Resources"]))
    described = document.get("Table", document.get("TableDescription"))
    if isinstance(described, dict):
        return [TableDesign(snapshot_file.create_request(described))]
    return [TableDesign(document)] if "KeySchema" in document else []


def _stack(path: Path, resources: Mapping[str, Any]) -> Iterator[TableDesign]:
    for name, resource in resources.items():
        kind = resource.get("Type") if isinstance(resource, dict) else None
        if kind not in ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"):
            continue
        properties = resource.get("Properties", {})
        request = {member: properties[member] for member in _KEPT if member in properties}
        if not isinstance(request.get("TableName"), str):
            request["TableName"] = name
        if "StreamSpecification" in request:
            view = request["StreamSpecification"]
            request["StreamSpecification"] = {"StreamEnabled": True, **view}
        for target in (request, *request.get("GlobalSecondaryIndexes", ())):
            if "ProvisionedThroughput" in target:
                target["ProvisionedThroughput"] = {
                    field: _number(path, name, field, value)
                    for field, value in target["ProvisionedThroughput"].items()
                }
        ttl = properties.get("TimeToLiveSpecification", {})
        yield TableDesign(request, ttl.get("AttributeName") if ttl.get("Enabled", True) else None)


# Terraform


def _unquoted(node: Any) -> Any:
    """Drop the quotes that newer readers keep around strings and labels."""
    if isinstance(node, dict):
        return {_unquoted(key): _unquoted(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_unquoted(one) for one in node]
    if isinstance(node, str) and len(node) > 1 and node[0] == node[-1] == '"':
        return node[1:-1]
    return node


def _terraform_table(path: Path, label: str, body: Mapping[str, Any]) -> TableDesign:
    name = body.get("name", "")
    request: dict[str, Any] = {
        # A name that is put together elsewhere is not known here; the label is.
        "TableName": label if "${" in name or not name else name,
        "KeySchema": list(_key(body)),
        "AttributeDefinitions": [
            {"AttributeName": one.get("name"), "AttributeType": one.get("type")}
            for one in body.get("attribute", ())
        ],
    }
    if not request["KeySchema"]:
        raise EmulatorError(MISSING.format(path=path, table=label, field="hash_key"))
    provisioned = body.get("billing_mode", "PROVISIONED") == "PROVISIONED"
    request["BillingMode"] = "PROVISIONED" if provisioned else "PAY_PER_REQUEST"
    global_indexes = [_terraform_index(one) for one in body.get("global_secondary_index", ())]
    local_indexes = [_terraform_index(one) for one in body.get("local_secondary_index", ())]
    for index in local_indexes:
        index["KeySchema"] = [request["KeySchema"][0], index["KeySchema"][-1]]
    if provisioned:
        bodies = (body, *body.get("global_secondary_index", ()))
        for target, given in zip((request, *global_indexes), bodies, strict=True):
            target["ProvisionedThroughput"] = _terraform_throughput(path, label, given)
    if global_indexes:
        request["GlobalSecondaryIndexes"] = global_indexes
    if local_indexes:
        request["LocalSecondaryIndexes"] = local_indexes
    if body.get("stream_enabled"):
        view = body.get("stream_view_type", "NEW_AND_OLD_IMAGES")
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    ttl: Any = next((one for one in body.get("ttl", ()) if one.get("enabled", True)), {})
    return TableDesign(request, ttl.get("attribute_name"))


def _key(body: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a key schema: key_schema blocks, or hash_key and range_key, one or several each."""
    blocks = body.get("key_schema", ())
    if blocks:
        for block in blocks:
            yield {"AttributeName": block["attribute_name"], "KeyType": block["key_type"]}
        return
    for field, kind in (("hash_key", "HASH"), ("range_key", "RANGE")):
        for name in _several(body.get(field)):
            yield {"AttributeName": name, "KeyType": kind}


def _several(value: Any) -> Iterable[str]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _terraform_index(body: Mapping[str, Any]) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": body.get("projection_type", "ALL")}
    if projection["ProjectionType"] == "INCLUDE":
        projection["NonKeyAttributes"] = body.get("non_key_attributes", [])
    return {
        "IndexName": body.get("name"),
        "KeySchema": list(_key(body)),
        "Projection": projection,
    }


def _terraform_throughput(path: Path, label: str, body: Mapping[str, Any]) -> dict[str, int]:
    fields = {"ReadCapacityUnits": "read_capacity", "WriteCapacityUnits": "write_capacity"}
    return {
        member: _number(path, label, field, body.get(field, 1)) for member, field in fields.items()
    }


def _number(path: Path, table: str, field: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise EmulatorError(
            NOT_A_NUMBER.format(path=path, table=table, field=field, value=value)
        ) from None
