"""The wire form of tables: what DescribeTable and its kin answer (DS-1 to DS-9)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from emulator.capacity import READ, WRITE
from emulator.clock import NANOSECONDS
from emulator.engine import Account, Index, Resource, Table, Throughput
from emulator.model import IndexSchema, Projection
from emulator.model.wire import dump_key, dump_types

Wire: TypeAlias = dict[str, Any]


def seconds(time_ns: int) -> float:
    """Return a time as the wire writes it: epoch seconds, to the millisecond."""
    return round(time_ns / NANOSECONDS, 3)


def describe_table(
    account: Account,
    table: Table,
    *,
    status: str | None = None,
    changed: Mapping[str, str] | None = None,
) -> Wire:
    """Return a TableDescription.

    An answer to a change runs ahead of the clock: it shows the state that the change brings,
    even where that lasts no time at all (CT-15, UT-16).

    Args:
        account: Whose moment it is described at.
        table: The table.
        status: The state to report, if not the table's own.
        changed: The state to report of indexes that this request changes, by name.
    """
    now_ns = account.now_ns
    status = status or table.status(now_ns)
    changed = changed or {}
    leaving = [
        index
        for index in table.leaving
        if index.schema.name in changed or (index.deleted_at_ns or 0) > now_ns
    ]
    described: Wire = {
        "TableName": table.name,
        "TableArn": table.arn,
        "TableId": table.id,
        "TableStatus": status,
        "CreationDateTime": seconds(table.created_ns),
        "KeySchema": dump_key(table.key),
        "AttributeDefinitions": dump_types(_types(table, leaving)),
        "ItemCount": len(table.store),
        "TableSizeBytes": table.store.size_bytes,
        "DeletionProtectionEnabled": table.options.deletion_protection,
        **describe_throughput(table.resource, account.now_seconds),
    }
    described |= _billing(table)
    described |= _indexes(account, table, leaving, status, changed)
    described |= _stream(table)
    described |= _options(table)
    if "RestoreSummary" in described:
        described["RestoreSummary"] |= {"RestoreInProgress": status == "CREATING"}
    return described


def _types(table: Table, leaving: list[Index]) -> dict[str, str]:
    """Return the definitions of every key, those of indexes being deleted included (UT-9)."""
    types = dict(table.attribute_types)
    for index in leaving:
        types |= {attribute.name: attribute.type for attribute in index.schema.key.attributes}
    return types


def describe_projection(projection: Projection) -> Wire:
    """Return a Projection; its names are in order already (DS-2)."""
    described: Wire = {"ProjectionType": projection.kind}
    if projection.names:
        described["NonKeyAttributes"] = list(projection.names)
    return described


def describe_throughput(resource: Resource, now_s: float) -> Wire:
    """Return the throughput members of a table or global index (DS-3, DS-6, CAP-509)."""
    throughput, warm = resource.throughput, resource.growth.warm
    described: Wire = {
        "ProvisionedThroughput": _provisioned(resource, now_s),
        "WarmThroughput": {
            "ReadUnitsPerSecond": warm[READ],
            "WriteUnitsPerSecond": warm[WRITE],
            "Status": "ACTIVE" if resource.prewarm is None else "UPDATING",
        },
    }
    maxima = {
        "MaxReadRequestUnits": throughput.max_read,
        "MaxWriteRequestUnits": throughput.max_write,
    }
    limited = {member: n for member, n in maxima.items() if n is not None}
    if limited:
        described["OnDemandThroughput"] = limited
    return described


def describe_units(throughput: Throughput) -> Wire:
    """Return the provisioned units of a table or global index."""
    return {"ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write}


def _provisioned(resource: Resource, now_s: float) -> Wire:
    history = resource.decreases
    described: Wire = {"NumberOfDecreasesToday": history.today(now_s)}
    described |= describe_units(resource.throughput)
    if history.last_increase_s is not None:
        described["LastIncreaseDateTime"] = round(history.last_increase_s, 3)
    if history.last_decrease_s is not None:
        described["LastDecreaseDateTime"] = round(history.last_decrease_s, 3)
    return described


def _billing(table: Table) -> Wire:
    """Return the billing summary of a table that was ever on demand (DS-4)."""
    if table.on_demand_since_ns is None:
        return {}
    return {
        "BillingModeSummary": {
            "BillingMode": table.resource.throughput.billing,
            "LastUpdateToPayPerRequestDateTime": seconds(table.on_demand_since_ns),
        }
    }


def _indexes(
    account: Account,
    table: Table,
    leaving: list[Index],
    table_status: str,
    changed: Mapping[str, str],
) -> Wire:
    described: Wire = {}
    present = [*table.global_indexes, *leaving]
    if present:
        described["GlobalSecondaryIndexes"] = [
            _global_index(account, table, index, table_status, changed) for index in present
        ]
    if table.local_indexes:
        described["LocalSecondaryIndexes"] = [_index(table, index) for index in table.local_indexes]
    return described


def describe_index(schema: IndexSchema) -> Wire:
    """Return what defines an index: name, key and projection."""
    return {
        "IndexName": schema.name,
        "KeySchema": dump_key(schema.key),
        "Projection": describe_projection(schema.projection),
    }


def _index(table: Table, index: Index) -> Wire:
    return describe_index(index.schema) | {
        "IndexSizeBytes": index.store.size_bytes,
        "ItemCount": len(index.store),
        "IndexArn": f"{table.arn}/index/{index.schema.name}",
    }


def _global_index(
    account: Account, table: Table, index: Index, table_status: str, changed: Mapping[str, str]
) -> Wire:
    """Return a global index; one made with its table has the table's state (DS-5, UT-10)."""
    described = _index(table, index) | describe_throughput(index.resource, account.now_seconds)
    status = changed.get(index.schema.name) or index.status(account.now_ns)
    if table_status == "CREATING":
        status = "CREATING"
    elif status == "CREATING":
        waits = index.schema.name in changed or account.now_ns < index.backfill_at_ns
        described["Backfilling"] = not waits
    return described | {"IndexStatus": status}


def _stream(table: Table) -> Wire:
    stream = table.stream
    if stream is None:
        return {}
    described: Wire = {"LatestStreamArn": stream.arn, "LatestStreamLabel": stream.label}
    if stream.is_open:
        described["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream.view}
    return described


def _options(table: Table) -> Wire:
    """Return what is reported only once it was set (DS-4, DS-7)."""
    described = deepcopy(table.options.extra)
    if table.options.sse is not None:
        described["SSEDescription"] = dict(table.options.sse)
    if table.options.table_class is not None:
        summary: Wire = {"TableClass": table.options.table_class}
        if table.options.table_class_changed_ns is not None:
            summary["LastUpdateDateTime"] = seconds(table.options.table_class_changed_ns)
        described["TableClassSummary"] = summary
    return described
