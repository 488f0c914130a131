"""Terraform: the ``aws_dynamodb_table`` resources of a file.

Variables with defaults and locals of the same directory are filled in, values of
``terraform.tfvars`` too. Keys of an index are read as repeated ``key_schema`` blocks, as
``hash_key`` and ``range_key``, and as lists of those, which no provider accepts.

Source: Terraform AWS provider, aws_dynamodb_table; ICH-43 on the two forms of keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from emulator.designs import declared
from emulator.service.errors import DocumentError

_REFERENCE: Final = re.compile(r"\$\{\s*(var|local)\.([A-Za-z0-9_-]+)\s*\}")
_SCALING: Final = "aws_appautoscaling_target"
_DEPTH: Final = 8
_UNITS: Final = {"ReadCapacityUnits": "read_capacity", "WriteCapacityUnits": "write_capacity"}
_MAKING_KEYS: Final = frozenset(
    {"attribute", "key_schema", "global_secondary_index", "local_secondary_index"}
)
_LISTS: Final = (
    "The key is written as a list; the provider accepts repeated key_schema blocks only.",
    "Write one key_schema { attribute_name key_type } block for each attribute.",
)


def read_terraform(path: Path) -> list[declared.DeclaredTable]:
    """Return the tables that a Terraform file declares.

    Raises:
        DocumentError: The file is not Terraform, or a table in it has no key.
    """
    document = parse(path)
    scope = Scope.beside(path, document)
    scaled = set(_scaled_tables(document))
    lines = _lines(path)
    tables = []
    for label, body in _resources(document, "aws_dynamodb_table"):
        where = f"{path}{lines.get(label, '')}: aws_dynamodb_table.{label}"
        with declared.expecting(where, "a table"):
            table = _table(where, label, scope.filled(body))
        tables.append(replace(table, scaled=label in scaled))
    return tables


def parse(path: Path) -> dict[str, Any]:
    """Return a file as dictionaries and lists.

    Raises:
        DocumentError: It is not HCL, or not JSON for a ``.tf.json`` file.
    """
    text = declared.read_text(path)
    if path.name.endswith(".json"):
        try:
            return _as_blocks(json.loads(text))
        except ValueError as error:
            raise DocumentError(f"{path}: not JSON: {error}") from error
    try:
        import hcl2
        from lark.exceptions import LarkError
    except ModuleNotFoundError as missing:
        raise DocumentError(declared.NEEDS.format(path=path, module=missing.name)) from None

    try:
        document: dict[str, Any] = _unquoted(hcl2.loads(text))
    except LarkError as error:
        line = getattr(error, "line", None)
        where = f":{line}" if isinstance(line, int) and line > 0 else ""
        reason = str(error).splitlines()[0]
        raise DocumentError(f"{path}{where}: not Terraform: {reason}") from error
    return document


def _as_blocks(document: Any) -> dict[str, Any]:
    """Return Terraform's JSON syntax in the form of its own: every block in a list."""
    if not isinstance(document, dict):
        return {}
    return {name: child if isinstance(child, list) else [child] for name, child in document.items()}


def _unquoted(node: Any) -> Any:
    """Drop the quotes that newer versions of the reader keep around texts and labels."""
    if isinstance(node, dict):
        return {_unquoted(name): _unquoted(child) for name, child in node.items()}
    if isinstance(node, list):
        return [_unquoted(child) for child in node]
    if isinstance(node, str) and len(node) > 1 and node[0] == node[-1] == '"':
        return node[1:-1]
    return node


class Scope:
    """The variables and locals that expressions may name.

    >>> scope = Scope({"var": {"env": "test", "read": 5}, "local": {"prefix": "${var.env}-app"}})
    >>> scope.filled(["${local.prefix}-events", "${var.read}", "${var.other}"])
    ['test-app-events', 5, '${var.other}']
    """

    def __init__(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        self._values = values

    @classmethod
    def beside(cls, path: Path, document: Mapping[str, Any]) -> Scope:
        """Return what the file and those beside it define."""
        variables: dict[str, Any] = {}
        local: dict[str, Any] = {}
        for file in (*_neighbours(path), document):
            for block in file.get("variable", ()):
                for name, body in block.items():
                    if isinstance(body, Mapping) and "default" in body:
                        variables[name] = body["default"]
            for block in file.get("locals", ()):
                local.update(block)
        values_file = path.parent / "terraform.tfvars"
        if values_file.is_file():
            variables.update(parse(values_file))
        return cls({"var": variables, "local": local})

    def filled(self, node: Any, depth: int = 0) -> Any:
        """Return a value with the known references in it replaced."""
        if isinstance(node, dict):
            return {name: self.filled(child, depth) for name, child in node.items()}
        if isinstance(node, list):
            return [self.filled(child, depth) for child in node]
        if not isinstance(node, str) or "${" not in node or depth > _DEPTH:
            return node
        whole = _REFERENCE.fullmatch(node)
        if whole is not None:
            value = self._values[whole[1]].get(whole[2], node)
            return value if value is node else self.filled(value, depth + 1)
        return _REFERENCE.sub(lambda match: str(self.filled(match[0], depth + 1)), node)


def _neighbours(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the other files of the directory that can be read; they only lend values."""
    for other in sorted(path.parent.glob("*.tf")):
        if other.name != path.name:
            try:
                yield parse(other)
            except DocumentError:
                continue


def _resources(document: Mapping[str, Any], kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for block in document.get("resource", ()):
        named = block.get(kind) or {}
        for label, body in named.items():
            yield label, body[0] if isinstance(body, list) else body


def _scaled_tables(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the labels of tables that an auto scaling target names."""
    for _, body in _resources(document, _SCALING):
        match = re.search(r"aws_dynamodb_table\.([A-Za-z0-9_-]+)\.", str(body.get("resource_id")))
        if match is not None:
            yield match[1]


def _lines(path: Path) -> dict[str, str]:
    """Return where each table's block begins, as ``:line``."""
    lines: dict[str, str] = {}
    for number, line in enumerate(declared.read_text(path).splitlines(), 1):
        match = re.match(r'\s*resource\s+"?aws_dynamodb_table"?\s+"?([\w-]+)"?', line)
        if match is not None:
            lines[match[1]] = f":{number}"
    return lines


# One table


def _table(where: str, label: str, body: dict[str, Any]) -> declared.DeclaredTable:
    resource = f"aws_dynamodb_table.{label}"
    notes = declared.Notes(resource)
    key = _key(notes, body)
    if not key:
        raise DocumentError(f"{where}: expected hash_key or key_schema, found neither")
    _note_dynamic(notes, body)
    provisioned = body.get("billing_mode", "PROVISIONED") != "PAY_PER_REQUEST"
    request: dict[str, Any] = {
        "TableName": notes.name(body.get("name"), label),
        "KeySchema": key,
        "AttributeDefinitions": [
            {"AttributeName": attribute.get("name"), "AttributeType": attribute.get("type")}
            for attribute in _blocks(body, "attribute")
        ],
        "BillingMode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
    }
    _add_throughput(notes, "", body, request, provisioned=provisioned)
    _add_indexes(notes, body, request, provisioned=provisioned)
    _add_options(body, request)
    ttl = next((ttl for ttl in _blocks(body, "ttl") if ttl.get("enabled", True)), {})
    return declared.DeclaredTable(
        resource=resource,
        request=request,
        ttl_attribute=ttl.get("attribute_name"),
        findings=tuple(notes.findings),
    )


def _blocks(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    content = body.get(name) or []
    blocks = content if isinstance(content, list) else [content]
    return [block for block in blocks if isinstance(block, dict)]


def _note_dynamic(notes: declared.Notes, body: Mapping[str, Any]) -> None:
    for block in _blocks(body, "dynamic"):
        for name in block:
            if name in _MAKING_KEYS:
                notes.warn(
                    "dynamic-block",
                    f'The dynamic "{name}" blocks are made when Terraform runs; they are not read.',
                    "Check what aws dynamodb describe-table prints of the table.",
                )


def _key(notes: declared.Notes, body: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a key: key_schema blocks, or hash_key and range_key, one or several each."""
    blocks = _blocks(body, "key_schema")
    if blocks:
        return [
            {"AttributeName": block.get("attribute_name", ""), "KeyType": block.get("key_type", "")}
            for block in blocks
        ]
    partition, sort = body.get("hash_key"), body.get("range_key")
    if isinstance(partition, list) or isinstance(sort, list):
        name = body.get("name", "")
        notes.warn("key-as-list", f"{name}: {_LISTS[0]}", _LISTS[1])
    return declared.key_schema(_several(partition), _several(sort))


def _several(value: Any) -> list[str]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _add_throughput(
    notes: declared.Notes,
    where: str,
    body: Mapping[str, Any],
    target: dict[str, Any],
    *,
    provisioned: bool,
) -> None:
    if provisioned:
        units = notes.units(body, _UNITS, where)
        if units:
            target["ProvisionedThroughput"] = units
        return
    for block in _blocks(body, "on_demand_throughput"):
        limits = {
            member: int(block[name])
            for member, name in (
                ("MaxReadRequestUnits", "max_read_request_units"),
                ("MaxWriteRequestUnits", "max_write_request_units"),
            )
            if str(block.get(name, "")).isdecimal()
        }
        if limits:
            target["OnDemandThroughput"] = limits


def _add_indexes(
    notes: declared.Notes, body: Mapping[str, Any], request: dict[str, Any], *, provisioned: bool
) -> None:
    made = []
    for block in _blocks(body, "global_secondary_index"):
        index = _index(notes, block)
        where = f"{index['IndexName']}: "
        _add_throughput(notes, where, block, index, provisioned=provisioned)
        made.append(index)
    if made:
        request["GlobalSecondaryIndexes"] = made
    local = [_index(notes, block) for block in _blocks(body, "local_secondary_index")]
    for index in local:
        sort = [element for element in index["KeySchema"] if element["KeyType"] == "RANGE"]
        index["KeySchema"] = [request["KeySchema"][0], *sort]
    if local:
        request["LocalSecondaryIndexes"] = local


def _index(notes: declared.Notes, body: Mapping[str, Any]) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": body.get("projection_type")}
    if body.get("non_key_attributes"):
        projection["NonKeyAttributes"] = body["non_key_attributes"]
    return {
        "IndexName": body.get("name"),
        "KeySchema": _key(notes, body),
        "Projection": declared.kept(projection, projection),
    }


def _add_options(body: Mapping[str, Any], request: dict[str, Any]) -> None:
    if body.get("stream_enabled") is True:
        view = body.get("stream_view_type")
        request["StreamSpecification"] = {"StreamEnabled": True}
        if view:
            request["StreamSpecification"]["StreamViewType"] = view
    if body.get("table_class") in ("STANDARD", "STANDARD_INFREQUENT_ACCESS"):
        request["TableClass"] = body["table_class"]
    if body.get("deletion_protection_enabled") is True:
        request["DeletionProtectionEnabled"] = True
