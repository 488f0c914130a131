"""Tables and items in the service's own forms: descriptions, and DynamoDB JSON lines.

Items travel in the service's export form (``{"Item": {...}}``), tables as DescribeTable
answers them.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from emulator.engine import Account, Table, writes
from emulator.files import replace_file
from emulator.model import Item
from emulator.model.wire import dump_item, load_item
from emulator.operations.put_item import position_to_put
from emulator.operations.rules.items import item_fits
from emulator.service.errors import ApiError, EmulatorError
from emulator.storage import HASH_SPACE, Position

#: What a description shows of an index and CreateTable takes back.
_INDEX_MEMBERS: Final = ("IndexName", "KeySchema", "Projection")
#: What it shows of a vector index and CreateTable takes back; a search schema may be absent.
_VECTOR_MEMBERS: Final = (
    *("IndexName", "VectorAttribute", "Dimensions", "DistanceFunction", "Projection"),
    "SearchSchema",
)
_UNITS: Final = ("ReadCapacityUnits", "WriteCapacityUnits")


def create_request(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the CreateTable request that makes a table as described.

    >>> create_request({"Table": {"TableName": "t", "KeySchema": [], "AttributeDefinitions": []}})
    {'TableName': 't', 'KeySchema': [], 'AttributeDefinitions': [],
     'BillingMode': 'PAY_PER_REQUEST'}
    """
    described = description.get("Table", description)
    for member in ("TableName", "KeySchema", "AttributeDefinitions"):
        if member not in described:
            raise EmulatorError(f"a table description needs {member}: pass DescribeTable's answer")
    request = {
        member: described[member] for member in ("TableName", "KeySchema", "AttributeDefinitions")
    }
    units = _provisioned(described)
    request["BillingMode"] = "PAY_PER_REQUEST" if units is None else "PROVISIONED"
    if units is not None:
        request["ProvisionedThroughput"] = units
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if described.get(member):
            request[member] = [_index_request(index, member, units) for index in described[member]]
    if described.get("VectorIndexes"):
        request["VectorIndexes"] = [
            {member: index[member] for member in _VECTOR_MEMBERS if member in index}
            for index in described["VectorIndexes"]
        ]
    return request | _option_members(described)


def _provisioned(described: Mapping[str, Any]) -> dict[str, int] | None:
    throughput = described.get("ProvisionedThroughput") or {}
    units = {member: throughput.get(member, 0) for member in _UNITS}
    return units if all(units.values()) else None


def _index_request(
    index: Mapping[str, Any], kind: str, table_units: dict[str, int] | None
) -> dict[str, Any]:
    request = {member: index[member] for member in _INDEX_MEMBERS}
    if kind == "GlobalSecondaryIndexes" and table_units is not None:
        request["ProvisionedThroughput"] = _provisioned(index) or table_units
    if index.get("OnDemandThroughput"):
        request["OnDemandThroughput"] = index["OnDemandThroughput"]
    return request


def _option_members(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a request that a description has under other names."""
    options: dict[str, Any] = {}
    stream = described.get("StreamSpecification")
    if stream and stream.get("StreamEnabled"):
        options["StreamSpecification"] = stream
    if described.get("TableClassSummary"):
        options["TableClass"] = described["TableClassSummary"]["TableClass"]
    if described.get("DeletionProtectionEnabled"):
        options["DeletionProtectionEnabled"] = True
    if described.get("OnDemandThroughput"):
        options["OnDemandThroughput"] = described["OnDemandThroughput"]
    encryption = described.get("SSEDescription")
    if encryption and encryption.get("SSEType") == "KMS":
        options["SSESpecification"] = {"Enabled": True, "SSEType": "KMS"}
    return options


def export_items(path: str | os.PathLike[str], table: Table) -> int:
    """Write a table's items as DynamoDB JSON lines; return how many."""
    lines = (
        json.dumps({"Item": dump_item(item.attributes)}, separators=(",", ":")).encode() + b"\n"
        for _, item in table.store.walk((0,), (HASH_SPACE,))
    )
    replace_file(path, b"".join(lines))
    return len(table.store)


def import_items(path: str | os.PathLike[str], account: Account, table: Table) -> int:
    """Put the items of a DynamoDB JSON lines file, all or none; return how many.

    A line is an item, bare or under ``Item``; a file whose name ends in ``.gz`` is compressed, as
    the service's exports are.

    Raises:
        EmulatorError: a line is not an item of this table; it names file and line.
    """
    items: list[tuple[Position, Item]] = []
    for number, line in enumerate(_text(Path(path)).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            written = json.loads(line)
            item = load_item(written.get("Item", written))
            item_fits(item)
            position = position_to_put(table, item)
        except (ValueError, AttributeError, RecursionError) as error:
            raise EmulatorError(f"{path}:{number}: not a line of DynamoDB JSON: {error}") from None
        except ApiError as error:
            raise EmulatorError(f"{path}:{number}: {error.message}") from None
        items.append((position, item))
    for position, item in items:
        writes.place(account, table, position, item)
    return len(items)


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (ValueError, EOFError, OSError, zlib.error) as error:
        raise EmulatorError(f"{path}: not a file of DynamoDB JSON lines: {error}") from None
