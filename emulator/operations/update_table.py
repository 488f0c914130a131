"""UpdateTable (UT-1 to UT-16, ERR-UT-1 to ERR-UT-8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from emulator.clock import NANOSECONDS
from emulator.engine import Account, BillingMode, Replaced, Resource, Table, Throughput
from emulator.engine import updates as engine
from emulator.model import wire
from emulator.operations import definitions, descriptions, shapes
from emulator.operations.create_table import key_arn, load_encryption
from emulator.operations.registry import Request, Response, operation
from emulator.operations.replica_updates import (
    other_replicas,
    shared_request,
    sharing_replicas,
    update_replicas,
)
from emulator.operations.replicas import REPLICA_UPDATES, SETTINGS_MODE, WITNESS_UPDATES
from emulator.operations.rules import replicas as replica_rules
from emulator.operations.rules import tables as table_rules
from emulator.operations.rules import updates as rules
from emulator.operations.rules import vectors
from emulator.operations.rules.states import table_is_active, table_is_not_being_filled

Wire: TypeAlias = Mapping[str, Any]
#: What a table and its global indexes are to have, the table first.
Wanted: TypeAlias = list[tuple[Resource, Throughput]]

_INDEX_UPDATE = shapes.structure(
    "GlobalSecondaryIndexUpdate",
    Update=shapes.structure(
        "UpdateGlobalSecondaryIndexAction",
        IndexName=shapes.INDEX_NAME.required,
        ProvisionedThroughput=definitions.PROVISIONED_THROUGHPUT,
        OnDemandThroughput=definitions.ON_DEMAND_THROUGHPUT,
        WarmThroughput=definitions.WARM_THROUGHPUT,
    ),
    Create=definitions.GLOBAL_INDEX,
    Delete=shapes.structure(
        "DeleteGlobalSecondaryIndexAction", IndexName=shapes.INDEX_NAME.required
    ),
)
_VECTOR_UPDATE = shapes.structure(
    "VectorIndexUpdate",
    Create=definitions.VECTOR_INDEX,
    Delete=shapes.structure("DeleteVectorIndexAction", IndexName=shapes.INDEX_NAME.required),
)
SHAPE = definitions.table_request(
    BillingMode=definitions.BILLING_MODE,
    ProvisionedThroughput=definitions.PROVISIONED_THROUGHPUT,
    AttributeDefinitions=definitions.ATTRIBUTE_DEFINITIONS,
    GlobalSecondaryIndexUpdates=shapes.List(_INDEX_UPDATE),
    VectorIndexUpdates=shapes.List(_VECTOR_UPDATE),
    StreamSpecification=definitions.STREAM_SPECIFICATION,
    SSESpecification=definitions.SSE_SPECIFICATION,
    ReplicaUpdates=REPLICA_UPDATES,
    TableClass=shapes.STRING,
    DeletionProtectionEnabled=shapes.BOOLEAN,
    MultiRegionConsistency=shapes.String(enum=("EVENTUAL", "STRONG")),
    OnDemandThroughput=definitions.ON_DEMAND_THROUGHPUT,
    WarmThroughput=definitions.WARM_THROUGHPUT,
    GlobalTableWitnessUpdates=WITNESS_UPDATES,
    GlobalTableSettingsReplicationMode=SETTINGS_MODE,
    DisassociationProtectionEnabled=shapes.BOOLEAN,
)


@operation("UpdateTable", shape=SHAPE)
def update_table(account: Account, request: Request) -> Response:
    """Change a table; whatever is refused leaves it as it was.

    Settings that replicas share are changed in all of them (GTB-5).
    """
    return _change(account, request, is_shared=True)


def _change(account: Account, request: Request, *, is_shared: bool) -> Response:
    rules.something_changes(request)
    rules.changes_go_together(request)
    rules.index_updates_are_well_formed(request)
    table_rules.encryption_is_consistent(request)
    table_rules.table_class_exists(request)
    table = account.described_table(request["TableName"])
    vectors.indexes_are_not_in_the_making(request, table, account.now_ns)
    table_is_active(table, account.now_ns)
    table.forget_deleted_indexes(account.now_ns)
    rules.one_index_comes_or_goes(request)
    vectors.mode_stays(request, table)
    vectors.global_indexes_fit(request, table)
    vectors.updates_fit(request, table)

    wanted = _throughput(account, request, table)
    rules.stream_changes(request, table)
    _judge_replicas(account, request, table)
    specification = request.get("SSESpecification")
    rules.encryption_changes(
        request, table, None if specification is None else key_arn(account, specification)
    )
    rules.index_changes_are_few(request, table, account.now_ns)
    peers = sharing_replicas(account, table, request) if is_shared else []
    _verify(account, table, request, wanted)

    is_instant = _set_options(account, request, table)
    _set_throughput(account, request, table, wanted)
    _set_stream(account, request, table)
    changed = _set_indexes(account, request, table)
    for peer in peers:
        shared = shared_request(request, peer.tables[table.name])
        if shared:
            _change(peer, {"TableName": table.name, **shared}, is_shared=False)
    changed |= _set_vector_indexes(account, request, table)
    if is_instant:
        return {"TableDescription": descriptions.describe_table(account, table)}
    table.begin_update(account.now_ns)
    if table.vectors is not None:
        table.updated_at_ns = max(table.updated_at_ns, table.vectors.allocated_at_ns)
    described = descriptions.describe_table(account, table, status="UPDATING", changed=changed)
    return {"TableDescription": described}


def _judge_replicas(account: Account, request: Request, table: Table) -> None:
    """Refuse changes that the replicas of a table do not allow, before anything changes."""
    replica_rules.stream_stays(request, table)
    if request.get("DisassociationProtectionEnabled") is not None:
        replica_rules.is_a_replica(table)
    members = ("ReplicaUpdates", "GlobalTableWitnessUpdates", "MultiRegionConsistency")
    if any(request.get(member) for member in members):
        replica_rules.replicas_can_change(account, table, request)
        table_is_not_being_filled(account, table)
        other_replicas(account, table, request)


def _throughput(account: Account, request: Request, table: Table) -> Wanted:
    """Return the throughput wanted of a table and its indexes, or refuse it (ERR-UT-5)."""
    quota = account.settings.table_quota
    mode = request.get("BillingMode") or table.resource.throughput.billing
    rules.throughput_fits(request, table, mode)
    rules.maximum_fits(request, mode, quota)
    rules.warm_throughput_rises(request, table.resource.growth.warm, quota)
    wanted = [(table.resource, _wanted(table.resource.throughput, request, mode))]
    if request.get("ProvisionedThroughput") is not None:
        rules.units_change(table.resource.throughput, wanted[0][1])
    rules.indexes_fit_the_table(request, table, mode)
    updates = {action["IndexName"]: action for action in rules.actions_of(request, "Update")}
    for name, action in updates.items():
        resource = table.indexes[name].resource
        rules.maximum_fits(action, mode, quota)
        rules.warm_throughput_rises(action, resource.growth.warm, quota)
        if action.get("ProvisionedThroughput") is not None:
            change = _wanted(resource.throughput, action, mode)
            rules.units_change(resource.throughput, change, index=name)
    for resource in table.resources()[1:]:
        action = updates.get(resource.name, {})
        wanted.append((resource, _wanted(resource.throughput, action, mode)))
    return wanted


def _wanted(current: Throughput, holder: Wire, mode: str) -> Throughput:
    """Return the throughput after a change; -1 clears a maximum (UT-6)."""
    billing = cast(BillingMode, mode)
    if billing == "PROVISIONED":
        units = holder.get("ProvisionedThroughput") or {}
        return current._replace(
            billing=billing,
            read=units.get("ReadCapacityUnits", current.read),
            write=units.get("WriteCapacityUnits", current.write),
            max_read=None,
            max_write=None,
        )
    maxima = holder.get("OnDemandThroughput") or {}
    return current._replace(
        billing=billing,
        read=0,
        write=0,
        max_read=_maximum(maxima.get("MaxReadRequestUnits"), current.max_read),
        max_write=_maximum(maxima.get("MaxWriteRequestUnits"), current.max_write),
    )


def _maximum(wanted: int | None, current: int | None) -> int | None:
    if wanted is None:
        return current
    return None if wanted == -1 else wanted


def _verify(account: Account, table: Table, request: Request, wanted: Wanted) -> None:
    """Refuse what quotas and the limits on decreases and switches forbid (CAP-615 to CAP-618)."""
    throughputs = [throughput for _, throughput in wanted]
    created = [
        definitions.load_throughput(throughputs[0].billing, action)
        for action in rules.actions_of(request, "Create")
    ]
    table_rules.units_are_within_the_quotas(account, table.name, [*throughputs, *created])
    for resource, throughput in wanted:
        engine.verify_throughput(account, resource, throughput)
    if throughputs[0].on_demand and not table.resource.throughput.on_demand:
        table.switches.to_on_demand(account.now_seconds)
        table.on_demand_since_ns = account.now_ns


def _set_throughput(account: Account, request: Request, table: Table, wanted: Wanted) -> None:
    until_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
    for resource, throughput in wanted:
        resource.replaced = _replaced(account, resource, throughput)
        if throughput != resource.throughput:
            engine.change_throughput(account, table, resource, throughput)
            if not resource.is_table:
                table.indexes[resource.name].updated_at_ns = until_ns
    _prewarm(account, table, table.resource, request)
    for action in rules.actions_of(request, "Update"):
        _prewarm(account, table, table.indexes[action["IndexName"]].resource, action)


def _replaced(account: Account, resource: Resource, wanted: Throughput) -> Replaced | None:
    """Return the units that a change of units replaces; a change of mode shows at once (UT-17)."""
    current = resource.throughput
    if current == wanted or current.on_demand or wanted.on_demand:
        return None
    return Replaced(current.read, current.write, resource.decreases.today(account.now_seconds))


def _prewarm(account: Account, table: Table, resource: Resource, holder: Wire) -> None:
    warm = holder.get("WarmThroughput")
    if warm:
        read, write = resource.growth.warm
        read = warm.get("ReadUnitsPerSecond") or read
        write = warm.get("WriteUnitsPerSecond") or write
        engine.prewarm(account, table, resource, read, write)


def _set_stream(account: Account, request: Request, table: Table) -> None:
    specification = request.get("StreamSpecification")
    if specification is None:
        return
    if specification["StreamEnabled"]:
        account.open_stream(table, specification["StreamViewType"])
    else:
        assert table.stream is not None, "the rules leave a stream to disable"
        table.stream.close(account.now_ns)


def _set_indexes(account: Account, request: Request, table: Table) -> dict[str, str]:
    """Carry out index changes, and return the states that the answer reports of them."""
    changed = {action["IndexName"]: "UPDATING" for action in rules.actions_of(request, "Update")}
    for action in rules.actions_of(request, "Create"):
        _add_index(account, table, request, action)
        changed[action["IndexName"]] = "CREATING"
    for action in rules.actions_of(request, "Delete"):
        table.drop_index(action["IndexName"], now_ns=account.now_ns)
        changed[action["IndexName"]] = "DELETING"
    return changed


def _add_index(account: Account, table: Table, request: Request, action: Wire) -> None:
    """Add an index; attributes that are defined already keep their type (UT-8, MAK-17)."""
    types = wire.load_types(request["AttributeDefinitions"]) | table.attribute_types
    schema = definitions.load_index(action, types, table.key, is_global=True)
    table.attribute_types |= {name: types[name] for name in schema.key.names}
    billing = table.resource.throughput.billing
    throughput = definitions.load_throughput(billing, action)
    index = table.add_index(schema, throughput, now_ns=account.now_ns)
    engine.build_index(account, table, index)
    account.watch(table)


def _set_vector_indexes(account: Account, request: Request, table: Table) -> dict[str, str]:
    """Carry out changes of vector indexes, and return the states that the answer reports."""
    changed = {}
    for action in vectors.actions_of(request, "Create"):
        types = wire.load_types(request.get("AttributeDefinitions") or ()) | table.attribute_types
        schema = definitions.load_vector_index(action, types, table.key)
        table.attribute_types |= {element.name: element.type for element in schema.search}
        table.add_vector_index(schema, now_ns=account.now_ns)
        assert table.vectors is not None, "it has one now"
        table.vectors.build(table, schema.name, account.now_ns)
        changed[schema.name] = "CREATING"
    for action in vectors.actions_of(request, "Delete"):
        table.drop_vector_index(action["IndexName"], now_ns=account.now_ns)
        changed[action["IndexName"]] = "DELETING"
    return changed


def _set_options(account: Account, request: Request, table: Table) -> bool:
    """Set what is stored and described; return whether the change takes no time (UT-16)."""
    options = table.options
    if request.get("TableClass") is not None:
        options.table_class = request["TableClass"]
        options.table_class_changed_ns = account.now_ns
    options.sse_while_updating = None
    if request.get("SSESpecification") is not None:
        before, options.sse = options.sse, load_encryption(account, request["SSESpecification"])
        shown = options.sse or before
        options.sse_while_updating = None if shown is None else shown | {"Status": "UPDATING"}
    if request.get("ReplicaUpdates") or request.get("GlobalTableWitnessUpdates"):
        update_replicas(account, table, request)
    if request.get("GlobalTableSettingsReplicationMode") is not None:
        mode = request["GlobalTableSettingsReplicationMode"]
        options.extra["GlobalTableSettingsReplicationMode"] = mode
    if request.get("DisassociationProtectionEnabled") is not None and table.replica is not None:
        table.replica.is_protected = request["DisassociationProtectionEnabled"]
        return True
    if request.get("DeletionProtectionEnabled") is None:
        return False
    options.deletion_protection = request["DeletionProtectionEnabled"]
    return True
