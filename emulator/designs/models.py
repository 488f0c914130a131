"""Data models of AWS's agent tools: tables with access patterns and their rates.

Two formats share the file name ``dynamodb_data_model.json`` and are told apart by their members
(ICH-1): that of the agent toolkit (ICH-10), whose tables have ``table_name``, and that of the
DynamoDB MCP server (ICH-30), whose tables are CreateTable requests. The input of the server's cost
calculation (ICH-31) has rates and no keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from emulator.designs import declared
from emulator.designs.declared import (
    NOT_STATED,
    DeclaredPattern,
    DeclaredTable,
    Notes,
    Reading,
    expecting,
    key_schema,
)
from emulator.designs.documents import Document, Path
from emulator.designs.findings import Finding
from emulator.service.errors import DocumentError

#: Assumed: the toolkit's own default for a size or count that is not stated (ICH-10).
ITEM_BYTES: Final = 1024
_TABLE_MEMBERS: Final = frozenset(
    {
        *("table_name", "key_schema", "attribute_definitions", "table_class", "global_tables"),
        *("provisioned_capacity", "entities", "gsis", "vector_indexes"),
    }
)
_PATTERN_MEMBERS: Final = frozenset(
    {
        *("pattern_id", "description", "operation", "table", "index", "peak_rps", "avg_rps"),
        *("estimated_item_size_bytes", "item_sizes", "items_per_request", "consistency"),
        *("attributes_written", "entities_written", "retention_days", "write_action", "top_k"),
    }
)
#: Members of a pattern that the model knows and no run can show.
NOT_SIMULATED: Final = (
    "filter",
    "projection",
    "previous_item_size_bytes",
    "conditional_fail_rate",
    "non_existent_rate",
    "source_requirement",
)
_IGNORED: Final = "The check does not need it; remove it if it is a mistake."


def is_toolkit_model(document: Any) -> bool:
    """Return whether a document is the agent toolkit's data model."""
    return _has_tables(document, "table_name") and isinstance(document.get("access_patterns"), list)


def is_server_model(document: Any) -> bool:
    """Return whether a document is the MCP server's data model."""
    return _has_tables(document, "TableName")


def is_performance_input(document: Any) -> bool:
    """Return whether a document is what the MCP server computes costs from."""
    return isinstance(document, Mapping) and {"access_pattern_list", "table_list"} <= set(document)


def _has_tables(document: Any, member: str) -> bool:
    tables = document.get("tables") if isinstance(document, Mapping) else None
    return isinstance(tables, list) and any(
        isinstance(table, Mapping) and member in table for table in tables
    )


# The agent toolkit


def read_toolkit_model(document: Document) -> Reading:
    """Return the tables and access patterns of the agent toolkit's model."""
    tables: list[DeclaredTable] = []
    patterns: list[DeclaredPattern] = []
    findings: list[Finding] = []
    for number, entry in enumerate(document.value["tables"]):
        path: Path = ("tables", number)
        try:
            with expecting("", "a table with table_name and key_schema"):
                tables.append(_toolkit_table(document, path, entry))
        except DocumentError as error:
            name = entry.get("table_name") if isinstance(entry, Mapping) else None
            finding = declared.unreadable(str(name or f"tables[{number}]"), error)
            findings.append(finding.at(document.source, document.position(path)))
    for number, entry in enumerate(document.value["access_patterns"]):
        path = ("access_patterns", number)
        try:
            with expecting("", "a pattern with pattern_id"):
                patterns.append(_toolkit_pattern(entry))
                notes = list(_pattern_notes(entry))
        except DocumentError as error:
            notes = [declared.unreadable(f"access_patterns[{number}]", error)]
        findings += [finding.at(document.source, document.position(path)) for finding in notes]
    return Reading(tables=tuple(tables), patterns=tuple(patterns), findings=tuple(findings))


def _toolkit_table(document: Document, path: Path, table: Mapping[str, Any]) -> DeclaredTable:
    name = table["table_name"]
    notes = Notes(name, remedy="State it in the model.", assumption=NOT_STATED)
    partition, sort = _key_names(table["key_schema"])
    indexes = [_toolkit_index(index) for index in table.get("gsis") or ()]
    request: dict[str, Any] = {
        "TableName": notes.name(name, name),
        "KeySchema": key_schema(partition, sort),
        "AttributeDefinitions": [],
        "BillingMode": "PAY_PER_REQUEST",
    }
    units = table.get("provisioned_capacity")
    throughput = notes.units(
        units or {}, {"ReadCapacityUnits": "read", "WriteCapacityUnits": "write"}
    )
    if throughput:
        request |= {"BillingMode": "PROVISIONED", "ProvisionedThroughput": throughput}
        for index in indexes:
            index["ProvisionedThroughput"] = throughput
    if indexes:
        request["GlobalSecondaryIndexes"] = indexes
    if table.get("table_class") == "STANDARD_INFREQUENT_ACCESS":
        request["TableClass"] = table["table_class"]
    names = [
        entry["AttributeName"] for holder in (request, *indexes) for entry in holder["KeySchema"]
    ]
    types = attribute_types(table)
    request["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": types.get(attribute, "S")}
        for attribute in dict.fromkeys(names)
    ]
    for attribute in dict.fromkeys(names):
        if attribute not in types:
            notes.assumed(f"the type of {attribute}", "S")
    _note_rest(notes, table)
    return DeclaredTable(
        resource=name,
        request=request,
        findings=tuple(notes.findings),
        file=document.source,
        places=dict(_toolkit_places(document, path, table)),
    )


def _note_rest(notes: Notes, table: Mapping[str, Any]) -> None:
    notes.unread(set(table) - _TABLE_MEMBERS, _IGNORED)
    for index in table.get("vector_indexes") or ():
        message = f"The vector index {index.get('index_name')} is not simulated."
        notes.warn(
            "vector-index-not-simulated", message, "Its searches and writes are costed nowhere."
        )


def attribute_types(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the types of attributes: declared ones win over those of entities (ICH-10)."""
    types: dict[str, str] = {}
    for entity in table.get("entities") or ():
        for attribute in entity.get("attributes") or ():
            types.setdefault(str(attribute.get("name")), str(attribute.get("type", "S")))
    for attribute in table.get("attribute_definitions") or ():
        name = attribute.get("attribute_name", attribute.get("name"))
        types[str(name)] = str(attribute.get("attribute_type", attribute.get("type", "S")))
    return {name: kind for name, kind in types.items() if kind in ("S", "N", "B")}


def _key_names(key: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the attributes of a key under any of its names."""
    partition = key.get("partition_key", key.get("hash_key"))
    if not partition:
        raise KeyError("partition_key")
    return _names(partition), _names(key.get("sort_key", key.get("range_key")))


def _names(value: Any) -> list[str]:
    if not value:
        return []
    return [str(name) for name in value] if isinstance(value, list) else [str(value)]


def _toolkit_index(index: Mapping[str, Any]) -> dict[str, Any]:
    projection = index.get("projection") or {}
    if isinstance(projection, str):
        projection = {"type": projection}
    kind = projection.get("type", "ALL")
    listed = projection.get("attributes", projection.get("non_key_attributes"))
    made: dict[str, Any] = {"ProjectionType": kind}
    if kind == "INCLUDE" and listed:
        made["NonKeyAttributes"] = list(listed)
    return {
        "IndexName": index["index_name"],
        "KeySchema": key_schema(*_key_names(index)),
        "Projection": made,
    }


def _toolkit_places(
    document: Document, path: Path, table: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], Any]]:
    yield ("", ""), document.position(path)
    yield ("", "KeySchema"), document.position((*path, "key_schema"))
    for number, index in enumerate(table.get("gsis") or ()):
        inner = (*path, "gsis", number)
        name = str(index.get("index_name"))
        yield (name, ""), document.position(inner)
        yield (name, "KeySchema"), document.position((*inner, "partition_key"))
        yield (name, "Projection"), document.position((*inner, "projection"))


def _toolkit_pattern(entry: Mapping[str, Any]) -> DeclaredPattern:
    peak = stated_number(entry, "peak_rps", 0)
    kept = "retention_days" in entry
    retention = stated_number(entry, "retention_days", 0) if kept else None
    return DeclaredPattern(
        name=str(entry["pattern_id"]),
        operation=str(entry.get("operation")),
        table=str(entry.get("table")),
        index=entry.get("index"),
        rate=peak,
        average=stated_number(entry, "avg_rps", peak),
        size_bytes=int(stated_number(entry, "estimated_item_size_bytes", ITEM_BYTES) or ITEM_BYTES),
        items=int(stated_number(entry, "items_per_request", 1) or 1),
        consistent=entry.get("consistency") in ("strong", "transactional"),
        has_filter=bool(entry.get("filter")),
        changes=tuple(entry.get("attributes_written") or ()),
        updates=entry.get("write_action") == "update",
        retention_days=retention,
        entities=tuple(map(_written_entity, entry.get("entities_written") or ())),
    )


def stated_number(entry: Mapping[str, Any], name: str, default: float) -> float:
    """Return a number of a model, or what stands for it; null is zero.

    >>> stated_number({"peak_rps": 5}, "peak_rps", 0), stated_number({}, "peak_rps", 1)
    (5.0, 1.0)

    Raises:
        ValueError: It is none, or negative.
    """
    value = entry.get(name, default)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name}: expected a number of 0 or more, found {value!r}")
    return float(value)


def _written_entity(element: Any) -> tuple[str, float]:
    named = element if isinstance(element, Mapping) else {"entity": element}
    return str(named.get("entity")), float(named.get("count", 1))


def _pattern_notes(entry: Mapping[str, Any]) -> Iterator[Finding]:
    notes = Notes(str(entry["pattern_id"]), remedy="State it in the model.", assumption=NOT_STATED)
    if not entry.get("peak_rps"):
        notes.warn(
            "no-rate",
            "It has no peak_rps, so no load of it is known.",
            "State how many requests a second come at the peak.",
        )
    if "estimated_item_size_bytes" not in entry and "item_sizes" not in entry:
        notes.assumed("estimated_item_size_bytes", ITEM_BYTES)
    shown = [name for name in NOT_SIMULATED if name != "filter" and entry.get(name) is not None]
    notes.unread(shown, "It changes nothing here: the lab works without it.")
    unknown = set(entry) - _PATTERN_MEMBERS - set(NOT_SIMULATED)
    notes.unread(unknown, _IGNORED)
    yield from notes.findings


# The MCP server


def read_server_model(document: Document) -> Reading:
    """Return the tables, sample items and patterns of the MCP server's model (ICH-30)."""
    model = document.value
    tables: list[DeclaredTable] = []
    findings: list[Finding] = []
    for number, entry in enumerate(model["tables"]):
        path: Path = ("tables", number)
        try:
            with expecting("", "a CreateTable request"):
                request = declared.from_description(entry)
                name = request["TableName"]
                request["KeySchema"]
                places = dict(declared.request_places(document, path, entry))
                samples = tuple(_samples(model.get("items"), name))
        except DocumentError as error:
            finding = declared.unreadable(f"tables[{number}]", error)
            findings.append(finding.at(document.source, document.position(path)))
            continue
        tables.append(
            DeclaredTable(
                resource=name,
                request=request,
                samples=samples,
                file=document.source,
                places=places,
            )
        )
    with expecting(f"{document.source}: access_patterns", "a list of patterns"):
        patterns = tuple(_server_patterns(model.get("access_patterns") or ()))
    return Reading(tables=tuple(tables), patterns=patterns, findings=tuple(findings))


def _samples(items: Any, table: str) -> Iterator[Mapping[str, Any]]:
    requests = items.get(table) if isinstance(items, Mapping) else None
    for request in requests or ():
        item = (
            (request.get("PutRequest") or {}).get("Item") if isinstance(request, Mapping) else None
        )
        if isinstance(item, Mapping):
            yield item


def _server_patterns(entries: Iterable[Any]) -> Iterator[DeclaredPattern]:
    """Yield the patterns that DynamoDB answers; others give a reason."""
    for entry in entries:
        if entry.get("dynamodb_operation") and not entry.get("reason"):
            command = str(entry.get("implementation"))
            yield DeclaredPattern(
                name=str(entry.get("pattern")),
                operation=str(entry["dynamodb_operation"]),
                table=str(entry.get("table")),
                index=entry.get("index"),
                has_filter="--filter-expression" in command,
            )


def read_performance_input(document: Document) -> Reading:
    """Return the patterns of the server's cost calculation; it has no keys (ICH-32)."""
    with expecting(f"{document.source}: access_pattern_list", "a list of patterns"):
        patterns = tuple(
            DeclaredPattern(
                name=str(entry["pattern"]),
                operation=str(entry["operation"]),
                table=str(entry["table"]),
                index=entry.get("gsi"),
                rate=float(entry["rps"]),
                average=float(entry["rps"]),
                size_bytes=int(entry["item_size_bytes"]),
                items=int(entry.get("item_count") or 1),
                consistent=entry.get("strongly_consistent") is True,
                indexes=tuple(map(str, entry.get("gsi_list") or ())) or None,
            )
            for entry in document.value["access_pattern_list"]
        )
    message = "It states rates and sizes, but no keys."
    fix = "Check it together with the tables: dynamometer lab FILE --tables main.tf."
    finding = Finding("unreadable", "problem", "table_list", message, fix)
    position = document.position(("table_list",))
    return Reading(patterns=patterns, findings=(finding.at(document.source, position),))
