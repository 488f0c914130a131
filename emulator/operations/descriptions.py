"""The wire form of tables: what DescribeTable and its kin answer (DS-1 to DS-9)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Index, Resource, Table, Throughput
from emulator.model import IndexSchema, Projection
from emulator.model.wire import dump_key, dump_types

if TYPE_CHECKING:
    from emulator.engine.vector_indexes import VectorIndex
    from emulator.model.vectors import VectorSchema

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
    leaving_vectors = _leaving_vectors(table, now_ns, changed)
    described: Wire = {
        "TableName": table.name,
        "TableArn": table.arn,
        "TableId": table.id,
        "TableStatus": status,
        "CreationDateTime": seconds(table.created_ns),
        "KeySchema": dump_key(table.key),
        "AttributeDefinitions": dump_types(_types(table, leaving, leaving_vectors)),
        "ItemCount": len(table.store),
        "TableSizeBytes": table.size_bytes,
        "DeletionProtectionEnabled": table.options.deletion_protection,
        **describe_throughput(table.resource, account.now_seconds, status),
    }
    described |= _billing(table, status)
    described |= _indexes(account, table, leaving, status, changed)
    described |= _vector_indexes(table, leaving_vectors, now_ns, status, changed)
    described |= _stream(table)
    described |= _options(table, status)
    described |= _group(account, table, status)
    if "RestoreSummary" in described:
        described["RestoreSummary"] |= {"RestoreInProgress": True}
        if status != "CREATING":
            del described["RestoreSummary"]
    return described


def _group(account: Account, table: Table, status: str) -> Wire:
    """Return the members that describe the global table of a replica (GTB-4, GTB-8)."""
    replica = table.replica
    if replica is None or status == "DELETING":
        return {}
    described: Wire = {
        "Replicas": describe_replicas(account, table, is_changing=status == "UPDATING"),
        "GlobalTableVersion": "2019.11.21",
        "MultiRegionConsistency": replica.consistency,
        "DisassociationProtectionEnabled": replica.is_protected,
    }
    # Source: GTB-9, of one account.
    mode = table.options.extra.get("GlobalTableSettingsReplicationMode", "ENABLED_WITH_OVERRIDES")
    described["GlobalTableSettingsReplicationMode"] = mode
    if replica.witness is not None:
        is_ready = account.now_ns >= replica.witness.active_at_ns and status != "UPDATING"
        described["GlobalTableWitnesses"] = [
            {
                "RegionName": replica.witness.region,
                "WitnessStatus": "ACTIVE" if is_ready else "CREATING",
            }
        ]
    return described


def describe_replicas(account: Account, table: Table, *, is_changing: bool = False) -> list[Wire]:
    """Return the other replicas of a table (GTB-4).

    Assumed: a replica does not list itself.

    Args:
        account: Whose moment they are described at.
        table: The table.
        is_changing: Whether the answer shows the change that it answers (UT-16).
    """
    if table.replica is None:
        return []
    now_ns, described = account.now_ns, []
    for region in table.replica.others:
        member = table.replica.members[region]
        is_under_way = is_changing and member.active_at_ns == table.updated_at_ns
        status = member.status(member.active_at_ns - 1 if is_under_way else now_ns)
        arn = table.arn.replace(f":{account.region}:", f":{region}:", 1)
        shown = {"RegionName": region, "ReplicaStatus": status, "ReplicaArn": arn}
        described.append(shown | deepcopy(dict(member.overrides)))
    return described


def _types(
    table: Table, leaving: list[Index], leaving_vectors: list[VectorIndex]
) -> dict[str, str]:
    """Return the definitions of every key, those of indexes being deleted included (UT-9)."""
    types = dict(table.attribute_types)
    for index in leaving:
        types |= {attribute.name: attribute.type for attribute in index.schema.key.attributes}
    for vector_index in leaving_vectors:
        types |= {element.name: element.type for element in vector_index.schema.search}
    return types


def describe_projection(projection: Projection) -> Wire:
    """Return a Projection; its names are in order already (DS-2)."""
    described: Wire = {"ProjectionType": projection.kind}
    if projection.names:
        described["NonKeyAttributes"] = list(projection.names)
    return described


def describe_throughput(resource: Resource, now_s: float, table_status: str) -> Wire:
    """Return the throughput members of a table or global index (DS-3, DS-6, CAP-509)."""
    throughput = resource.throughput
    described: Wire = {
        "ProvisionedThroughput": _provisioned(resource, now_s, table_status),
        **_warm(resource, table_status),
    }
    limited = describe_maxima(throughput)
    if limited:
        described["OnDemandThroughput"] = limited
    return described


def describe_maxima(throughput: Throughput) -> Wire:
    """Return the on-demand maxima that are set."""
    maxima = {
        "MaxReadRequestUnits": throughput.max_read,
        "MaxWriteRequestUnits": throughput.max_write,
    }
    return {member: units for member, units in maxima.items() if units is not None}


def _warm(resource: Resource, table_status: str) -> Wire:
    """Return the warm throughput; of a table that comes or goes, only if asked for (DS-10)."""
    throughput, (read, write) = resource.throughput, resource.growth.warm
    was_asked_for = throughput.warm_read is not None or throughput.warm_write is not None
    if table_status in ("CREATING", "DELETING") and not was_asked_for:
        return {}
    is_ready = resource.prewarm is None and table_status != "CREATING"
    return {
        "WarmThroughput": {
            "ReadUnitsPerSecond": read,
            "WriteUnitsPerSecond": write,
            "Status": "ACTIVE" if is_ready else "UPDATING",
        }
    }


def describe_units(throughput: Throughput) -> Wire:
    """Return the provisioned units of a table or global index."""
    return {"ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write}


def _provisioned(resource: Resource, now_s: float, table_status: str) -> Wire:
    """Return the units and their history; until a change is complete, the old ones (UT-17)."""
    history, replaced = resource.decreases, resource.replaced
    described: Wire = {"NumberOfDecreasesToday": history.today(now_s)}
    described |= describe_units(resource.throughput)
    if table_status == "UPDATING" and replaced is not None:
        described = {
            "NumberOfDecreasesToday": replaced.decreases_today,
            "ReadCapacityUnits": replaced.read,
            "WriteCapacityUnits": replaced.write,
        }
    if history.last_increase_s is not None:
        described["LastIncreaseDateTime"] = round(history.last_increase_s, 3)
    if history.last_decrease_s is not None:
        described["LastDecreaseDateTime"] = round(history.last_decrease_s, 3)
    return described


def _billing(table: Table, status: str) -> Wire:
    """Return the billing summary of a table that was ever on demand (DS-4).

    It has no date before the table is made, or the switch complete (DS-11).
    """
    since_ns = table.on_demand_since_ns
    if since_ns is None:
        return {}
    summary: Wire = {"BillingMode": table.resource.throughput.billing}
    is_switching = status == "UPDATING" and table.is_updating_since(since_ns)
    if status != "CREATING" and not is_switching:
        summary["LastUpdateToPayPerRequestDateTime"] = seconds(since_ns)
    return {"BillingModeSummary": summary}


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
    """Return the definition of an index: name, key and projection."""
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
    described = _index(table, index)
    described |= describe_throughput(index.resource, account.now_seconds, table_status)
    status = changed.get(index.schema.name) or index.status(account.now_ns)
    if table_status == "CREATING":
        status = "CREATING"
    elif status == "CREATING":
        waits = index.schema.name in changed or account.now_ns < index.backfill_at_ns
        described["Backfilling"] = not waits
    return described | {"IndexStatus": status}


def _leaving_vectors(table: Table, now_ns: int, changed: Mapping[str, str]) -> list[VectorIndex]:
    return [
        index
        for index in (() if table.vectors is None else table.vectors.leaving)
        if index.schema.name in changed or (index.deleted_at_ns or 0) > now_ns
    ]


def _vector_indexes(
    table: Table,
    leaving: list[VectorIndex],
    now_ns: int,
    table_status: str,
    changed: Mapping[str, str],
) -> Wire:
    """Return the vector indexes, none of which is no member at all (VIX-3, VIX-20, VIX-21)."""
    if table.vectors is None:
        return {}
    described = []
    for index in (*table.vectors, *leaving):
        status = changed.get(index.schema.name) or index.status(now_ns)
        if table_status == "CREATING":
            status = "CREATING"
        described.append(
            describe_vector_index(index.schema)
            | {
                "IndexSizeBytes": index.store.size_bytes,
                "ItemCount": len(index.store),
                "IndexArn": index.arn,
                "IndexStatus": status,
            }
        )
        if status == "CREATING" and index.backfill_at_ns is not None:
            waits = index.schema.name in changed or now_ns < index.backfill_at_ns
            described[-1]["Backfilling"] = not waits
    return {"VectorIndexes": described} if described else {}


def describe_vector_index(schema: VectorSchema) -> Wire:
    """Return the definition of a vector index (VIX-1)."""
    described: Wire = {
        "IndexName": schema.name,
        "VectorAttribute": {"AttributeName": schema.attribute},
        "Dimensions": schema.dimensions,
        "DistanceFunction": schema.distance,
        "Projection": describe_projection(schema.projection),
    }
    if schema.search:
        described["SearchSchema"] = [
            {"AttributeName": element.name, "SearchSchemaElementType": element.role}
            for element in schema.search
        ]
    return described


def _stream(table: Table) -> Wire:
    stream = table.stream
    if stream is None:
        return {}
    described: Wire = {"LatestStreamArn": stream.arn, "LatestStreamLabel": stream.label}
    if stream.is_open:
        described["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream.view}
    return described


def _options(table: Table, status: str) -> Wire:
    """Return the members that are reported once they were set (DS-4, DS-7, UT-18)."""
    described = deepcopy(table.options.extra)
    sse = table.options.sse
    if status == "UPDATING" and table.options.sse_while_updating is not None:
        sse = table.options.sse_while_updating
    if sse is not None:
        described["SSEDescription"] = dict(sse)
    if table.options.table_class is not None:
        summary: Wire = {"TableClass": table.options.table_class}
        if table.options.table_class_changed_ns is not None:
            summary["LastUpdateDateTime"] = seconds(table.options.table_class_changed_ns)
        described["TableClassSummary"] = summary
    return described
