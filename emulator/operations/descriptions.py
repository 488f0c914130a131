"""The wire form of tables: what DescribeTable and its kin answer (DS-1 to DS-9)."""

from __future__ import annotations

from typing import Any, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.engine.account import Account
from emulator.engine.resource import Resource
from emulator.engine.table import Index, Table
from emulator.model import KeySchema, Projection

Wire: TypeAlias = dict[str, Any]


def seconds(time_ns: int) -> float:
    """Return a time as the wire writes it: epoch seconds, to the millisecond."""
    return round(time_ns / NANOSECONDS, 3)


def describe_key(key: KeySchema) -> list[Wire]:
    """Return a key schema in its own order (MAK-19)."""
    return [
        {"AttributeName": attribute.name, "KeyType": role}
        for role, attributes in (("HASH", key.partition), ("RANGE", key.sort))
        for attribute in attributes
    ]


def describe_table(account: Account, table: Table, *, status: str | None = None) -> Wire:
    """Return a TableDescription.

    Args:
        account: Whose moment it is described at.
        table: The table.
        status: The state to report, where the answer runs ahead of the clock (CT-15).
    """
    now_ns = account.now_ns
    status = status or table.status(now_ns)
    described: Wire = {
        "TableName": table.name,
        "TableArn": table.arn,
        "TableId": table.id,
        "TableStatus": status,
        "CreationDateTime": seconds(table.created_ns),
        "KeySchema": describe_key(table.key),
        "AttributeDefinitions": describe_types(table.attribute_types),
        "ItemCount": len(table.store),
        "TableSizeBytes": table.store.size_bytes,
        "DeletionProtectionEnabled": table.options.deletion_protection,
        **describe_throughput(table.resource),
    }
    described |= _indexes(table, now_ns, status)
    described |= _stream(table)
    described |= _options(table)
    return described


def describe_types(types: dict[str, str]) -> list[Wire]:
    """Return AttributeDefinitions, by name (DS-2)."""
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in sorted(types.items())]


def describe_projection(projection: Projection) -> Wire:
    """Return a Projection; its names are in order already (DS-2)."""
    described: Wire = {"ProjectionType": projection.kind}
    if projection.names:
        described["NonKeyAttributes"] = list(projection.names)
    return described


def describe_throughput(resource: Resource) -> Wire:
    """Return the throughput members of a table or global index (DS-3, DS-6, CAP-509)."""
    throughput = resource.throughput
    read, write = throughput.warm
    described: Wire = {
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": throughput.read,
            "WriteCapacityUnits": throughput.write,
        },
        "WarmThroughput": {
            "ReadUnitsPerSecond": read,
            "WriteUnitsPerSecond": write,
            "Status": "ACTIVE",
        },
    }
    maxima = {
        "MaxReadRequestUnits": throughput.max_read,
        "MaxWriteRequestUnits": throughput.max_write,
    }
    given = {member: n for member, n in maxima.items() if n is not None}
    if given:
        described["OnDemandThroughput"] = given
    return described


def _indexes(table: Table, now_ns: int, status: str) -> Wire:
    described: Wire = {}
    if table.global_indexes:
        described["GlobalSecondaryIndexes"] = [
            _global_index(table, index, now_ns, status) for index in table.global_indexes
        ]
    if table.local_indexes:
        described["LocalSecondaryIndexes"] = [_index(table, index) for index in table.local_indexes]
    return described


def _index(table: Table, index: Index) -> Wire:
    return {
        "IndexName": index.schema.name,
        "KeySchema": describe_key(index.schema.key),
        "Projection": describe_projection(index.schema.projection),
        "IndexSizeBytes": index.store.size_bytes,
        "ItemCount": len(index.store),
        "IndexArn": f"{table.arn}/index/{index.schema.name}",
    }


def _global_index(table: Table, index: Index, now_ns: int, table_status: str) -> Wire:
    """Return a global index; one made with its table has the table's state (DS-5, UT-10)."""
    assert index.resource is not None, "a global index has throughput"
    described = _index(table, index) | describe_throughput(index.resource)
    status = index.status(now_ns)
    if table_status == "CREATING":
        status = "CREATING"
    elif status == "CREATING":
        described["Backfilling"] = now_ns >= index.backfill_at_ns
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
    described = dict(table.options.extra)
    if table.options.sse is not None:
        described["SSEDescription"] = table.options.sse
    if table.options.table_class is not None:
        described["TableClassSummary"] = {"TableClass": table.options.table_class}
    return described
