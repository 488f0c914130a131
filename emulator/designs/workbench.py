"""NoSQL Workbench: the tables of an exported data model, with their sample items.

Observed: models exported by versions 2 and 3 (public examples, 2023): ``DataModel`` holds the
tables; keys are ``KeyAttributes``; capacity is under ``ProvisionedCapacitySettings``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from emulator.designs.declared import (
    UNITS,
    DeclaredTable,
    Notes,
    Reading,
    expecting,
    key_schema,
    request_places,
    unreadable,
)
from emulator.designs.documents import Document
from emulator.designs.findings import Finding
from emulator.service.errors import DocumentError


def is_model(document: Any) -> bool:
    """Return whether a document has the form of a data model."""
    return isinstance(document, Mapping) and isinstance(document.get("DataModel"), list)


def read_model(document: Document) -> Reading:
    """Return the tables of a data model; one without name or key is reported."""
    tables: list[DeclaredTable] = []
    findings: list[Finding] = []
    for number, table in enumerate(document.value["DataModel"]):
        path = ("DataModel", number)
        try:
            with expecting("", "a table with TableName and KeyAttributes"):
                places = dict(request_places(document, path, table))
                places["", "KeySchema"] = document.position((*path, "KeyAttributes"))
                tables.append(replace(_table(table), file=document.source, places=places))
        except DocumentError as error:
            finding = unreadable(f"DataModel[{number}]", error)
            findings.append(finding.at(document.source, document.position(path)))
    return Reading(tables=tuple(tables), findings=tuple(findings))


def _table(table: Mapping[str, Any]) -> DeclaredTable:
    name = table["TableName"]
    notes = Notes(name)
    types: dict[str, str] = {}
    units = _units(notes, table)
    request: dict[str, Any] = {
        "TableName": notes.name(name, name),
        "KeySchema": _key(table["KeyAttributes"], types),
        "BillingMode": "PAY_PER_REQUEST" if units is None else "PROVISIONED",
    }
    if units is not None:
        request["ProvisionedThroughput"] = units
    for member, with_units in (("GlobalSecondaryIndexes", True), ("LocalSecondaryIndexes", False)):
        indexes = [_index(index, types) for index in table.get(member) or ()]
        for index in indexes:
            if with_units and units is not None:
                index["ProvisionedThroughput"] = units
        if indexes:
            request[member] = indexes
    request["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
    ]
    return DeclaredTable(
        resource=name,
        request=request,
        scaled="AutoScalingWrite" in (table.get("ProvisionedCapacitySettings") or {}),
        samples=tuple(table.get("TableData") or ()),
        findings=tuple(notes.findings),
    )


def _units(notes: Notes, table: Mapping[str, Any]) -> dict[str, int] | None:
    """Return provisioned units, or None for a table on demand."""
    if table.get("BillingMode") == "PAY_PER_REQUEST":
        return None
    settings = table.get("ProvisionedCapacitySettings") or {}
    throughput = settings.get("ProvisionedThroughput")
    if throughput is None and table.get("BillingMode") is None:
        return None
    return notes.units(throughput or {}, UNITS)


def _key(key: Mapping[str, Any], types: dict[str, str]) -> list[dict[str, str]]:
    """Return a key schema and note the types of its attributes."""
    parts = []
    for role in ("PartitionKey", "SortKey"):
        attributes = list(_attributes(key.get(role)))
        types.update(attributes)
        parts.append([name for name, _ in attributes])
    if not parts[0]:
        raise KeyError("PartitionKey")
    return key_schema(*parts)


def _attributes(attributes: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, type) of one key attribute, or of several."""
    for attribute in (
        attributes if isinstance(attributes, list) else [attributes] if attributes else []
    ):
        yield attribute["AttributeName"], attribute["AttributeType"]


def _index(index: Mapping[str, Any], types: dict[str, str]) -> dict[str, Any]:
    return {
        "IndexName": index["IndexName"],
        "KeySchema": _key(index["KeyAttributes"], types),
        "Projection": dict(index.get("Projection") or {"ProjectionType": "ALL"}),
    }
