"""One ``aws_dynamodb_table``: the values of a resource become a CreateTable request.

The values come from files, from a plan or from the inputs of a module, all in the form of a
plan: blocks are lists (ICH-42).

Source: Terraform AWS provider, aws_dynamodb_table; ICH-43 on the two forms of keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from emulator.designs import declared
from emulator.designs.declared import UndecidedError
from emulator.designs.findings import Position
from emulator.designs.hcl_values import UnknownValue, as_text
from emulator.service.errors import DocumentError

#: What helps when files do not tell a value.
USE_A_PLAN: Final = (
    "Give it a default, or check the plan: terraform show -json plan.out > plan.json."
)
_UNITS: Final = {"ReadCapacityUnits": "read_capacity", "WriteCapacityUnits": "write_capacity"}
_LISTS: Final = (
    "The key is written as a list; the provider accepts repeated key_schema blocks only.",
    "Write one key_schema { attribute_name key_type } block for each attribute.",
)
_TABLE_CLASSES: Final = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
#: Where members of a request stand in a resource; the first that is there.
_MEMBERS: Final = {
    "KeySchema": ("key_schema", "hash_key"),
    "Projection": ("projection_type", "non_key_attributes"),
    "ProvisionedThroughput": ("write_capacity", "read_capacity"),
    "BillingMode": ("billing_mode",),
    "StreamSpecification": ("stream_view_type", "stream_enabled"),
    "LocalSecondaryIndexes": ("local_secondary_index", "local_secondary_indexes"),
    "GlobalSecondaryIndexes": ("global_secondary_index", "global_secondary_indexes"),
    "TableName": ("name",),
}


class Body(dict[str, Any]):
    """The values of a block, which know where they stand."""

    def __init__(self, values: Mapping[str, Any], position: Position | None = None) -> None:
        super().__init__(values)
        self.position = position
        #: Of its members.
        self.places: dict[str, Position] = {}


def table_of(
    address: str, values: Mapping[str, Any], file: str | None = None
) -> declared.DeclaredTable:
    """Return the table that a resource declares.

    Raises:
        DocumentError: It has no key.
        UndecidedError: Its key depends on what is decided elsewhere.
    """
    notes = declared.Notes(address)
    key = _key(notes, values)
    if not key and "hash_key" in values and isinstance(values, Body):
        raise UndecidedError("hash_key", "it is null here")
    if not key:
        raise DocumentError("expected hash_key or key_schema, found neither")
    provisioned = _is_provisioned(notes, values)
    request: dict[str, Any] = {
        "TableName": notes.name(values.get("name"), address.rsplit(".", 1)[-1]),
        "KeySchema": key,
        "AttributeDefinitions": [
            {
                "AttributeName": _known("attribute.name", block.get("name")),
                "AttributeType": _known("attribute.type", block.get("type")),
            }
            for block in blocks(values, "attribute")
        ],
        "BillingMode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
    }
    _add_throughput(notes, "", values, request, provisioned=provisioned)
    _add_indexes(notes, values, request, provisioned=provisioned)
    _add_options(values, request)
    return declared.DeclaredTable(
        resource=address,
        request=request,
        ttl_attribute=_ttl(values),
        tells_ttl=not isinstance(values.get("ttl"), UnknownValue),
        findings=tuple(notes.findings),
        file=file,
        places=dict(_places(values)),
    )


def with_index(table: declared.DeclaredTable, body: Body) -> declared.DeclaredTable:
    """Return a table with one more global index, whose attributes the index itself declares."""
    provisioned = table.request["BillingMode"] == "PROVISIONED"
    probe = table_of(
        table.resource,
        {
            "hash_key": "-",
            "global_secondary_index": [body],
            "billing_mode": table.request["BillingMode"],
        },
    )
    [index] = probe.request["GlobalSecondaryIndexes"]
    if provisioned and "ProvisionedThroughput" in table.request:
        index.setdefault("ProvisionedThroughput", table.request["ProvisionedThroughput"])
    declared_names = {entry["AttributeName"] for entry in table.request["AttributeDefinitions"]}
    added = [
        {"AttributeName": block["attribute_name"], "AttributeType": block.get("attribute_type")}
        for block in body.get("key_schema") or ()
        if block.get("attribute_name") not in declared_names
    ]
    request = {
        **table.request,
        "AttributeDefinitions": [*table.request["AttributeDefinitions"], *added],
        "GlobalSecondaryIndexes": [*table.request.get("GlobalSecondaryIndexes", ()), index],
    }
    return replace(table, request=request)


def blocks(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the blocks of a name.

    Raises:
        UndecidedError: How many there are is decided elsewhere.
    """
    content = values.get(name)
    _known(name, content)
    listed = content if isinstance(content, list) else [content] if content else []
    return [_known(name, block) for block in listed if isinstance(block, Mapping | UnknownValue)]


def _known(name: str, value: Any) -> Any:
    """Return a value that is no unknown one, nor a list with one in it."""
    if isinstance(value, UnknownValue):
        raise UndecidedError(name, value)
    if isinstance(value, list):
        for element in value:
            _known(name, element)
    return value


def _is_provisioned(notes: declared.Notes, values: Mapping[str, Any]) -> bool:
    mode = values.get("billing_mode") or "PROVISIONED"
    if not isinstance(mode, UnknownValue):
        return bool(mode != "PAY_PER_REQUEST")
    provisioned = values.get("write_capacity") is not None
    notes.assumed("billing_mode", "PROVISIONED" if provisioned else "PAY_PER_REQUEST")
    return provisioned


def _key(notes: declared.Notes, values: Mapping[str, Any], where: str = "") -> list[dict[str, str]]:
    """Return a key: key_schema blocks win over hash_key and range_key, which may be lists."""
    schema = [
        {
            "AttributeName": _known(f"{where}key_schema", block.get("attribute_name", "")),
            "KeyType": _known(f"{where}key_schema", block.get("key_type", "")),
        }
        for block in blocks(values, "key_schema")
    ]
    if schema:
        return sorted(schema, key=lambda element: element["KeyType"] != "HASH")
    partition = _known(f"{where}hash_key", values.get("hash_key"))
    sort = _known(f"{where}range_key", values.get("range_key"))
    if isinstance(partition, list) or isinstance(sort, list):
        notes.warn("key-as-list", f"{values.get('name', '')}: {_LISTS[0]}", _LISTS[1])
    return declared.key_schema(_several(partition), _several(sort))


def _several(value: Any) -> list[str]:
    """Return the attributes of a key; Terraform takes a number as its text.

    >>> _several("id"), _several(["a", 5.0]), _several("")
    (['id'], ['a', '5'], [])
    """
    if value is None or value == "":
        return []
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str | int | float):
            raise DocumentError(f"the name of a key attribute is a text, not {name!r}")
    return [as_text(name) for name in names]


def _add_throughput(
    notes: declared.Notes,
    where: str,
    values: Mapping[str, Any],
    target: dict[str, Any],
    *,
    provisioned: bool,
) -> None:
    for block in blocks(values, "warm_throughput"):
        warm = {
            member: int(block[name])
            for member, name in (
                ("ReadUnitsPerSecond", "read_units_per_second"),
                ("WriteUnitsPerSecond", "write_units_per_second"),
            )
            if str(block.get(name, "")).isdecimal()
        }
        if warm:
            target["WarmThroughput"] = warm
    if provisioned:
        units = notes.units(values, _UNITS, where)
        if units:
            target["ProvisionedThroughput"] = units
        return
    for block in blocks(values, "on_demand_throughput"):
        limits = {
            member: int(block[name])
            for member, name in (
                ("MaxReadRequestUnits", "max_read_request_units"),
                ("MaxWriteRequestUnits", "max_write_request_units"),
            )
            if str(block.get(name, "")).isdecimal() and int(block[name]) > 0
        }
        if limits:
            target["OnDemandThroughput"] = limits


def _add_indexes(
    notes: declared.Notes,
    values: Mapping[str, Any],
    request: dict[str, Any],
    *,
    provisioned: bool,
) -> None:
    made = []
    for block in blocks(values, "global_secondary_index"):
        index = _index(notes, block)
        where = f"{index['IndexName']}: "
        _add_throughput(notes, where, block, index, provisioned=provisioned)
        made.append(index)
    if made:
        request["GlobalSecondaryIndexes"] = made
    local = [_index(notes, block) for block in blocks(values, "local_secondary_index")]
    for index in local:
        sort = [element for element in index["KeySchema"] if element["KeyType"] == "RANGE"]
        index["KeySchema"] = [request["KeySchema"][0], *sort]
    if local:
        request["LocalSecondaryIndexes"] = local


def _index(notes: declared.Notes, values: Mapping[str, Any]) -> dict[str, Any]:
    name = _known("the name of an index", values.get("name"))
    kind = values.get("projection_type")
    if isinstance(kind, UnknownValue):
        kind = "ALL"
        notes.assumed(f"{name}: projection_type", kind)
    projection: dict[str, Any] = {"ProjectionType": kind}
    if values.get("non_key_attributes"):
        projection["NonKeyAttributes"] = _known(
            f"{name}: non_key_attributes", values["non_key_attributes"]
        )
    return {
        "IndexName": name,
        "KeySchema": _key(notes, values, f"{name}: "),
        "Projection": declared.kept(projection, projection),
    }


def _add_options(values: Mapping[str, Any], request: dict[str, Any]) -> None:
    if values.get("stream_enabled") is True:
        view = values.get("stream_view_type")
        request["StreamSpecification"] = {"StreamEnabled": True}
        if isinstance(view, str) and view:
            request["StreamSpecification"]["StreamViewType"] = view
    if values.get("table_class") in _TABLE_CLASSES:
        request["TableClass"] = values["table_class"]
    if values.get("deletion_protection_enabled") is True:
        request["DeletionProtectionEnabled"] = True


def _ttl(values: Mapping[str, Any]) -> str | None:
    for block in () if isinstance(values.get("ttl"), UnknownValue) else blocks(values, "ttl"):
        if block.get("enabled", True) and isinstance(block.get("attribute_name"), str):
            return block["attribute_name"] or None
    return None


def _places(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Position]]:
    """Yield where the table, its indexes and their members stand."""
    yield from _block_places("", values)
    for kind in ("global_secondary_index", "local_secondary_index"):
        around = values.places.get(kind) if isinstance(values, Body) else None
        for block in blocks(values, kind):
            if around is not None and not isinstance(block, Body):  # an element of a list
                yield (str(block.get("name")), ""), around
            yield from _block_places(str(block.get("name")), block)
    for block in () if isinstance(values.get("ttl"), UnknownValue) else blocks(values, "ttl"):
        if isinstance(block, Body) and block.position is not None:
            yield ("", "TimeToLiveSpecification"), block.position


def _block_places(
    index: str, values: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], Position]]:
    if not isinstance(values, Body):
        return
    if values.position is not None:
        yield (index, ""), values.position
    for member, names in _MEMBERS.items():
        position = next((values.places[name] for name in names if name in values.places), None)
        if position is not None:
            yield (index, member), position
