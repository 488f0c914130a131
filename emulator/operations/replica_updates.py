"""Replicas come, change, leave and share settings: what UpdateTable does in other regions.

The accounts of all regions of a group are held while it changes (GTB-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.engine import (
    Account,
    Namespace,
    RegionsNeeded,
    Replica,
    ReplicaMember,
    Resource,
    Table,
    Witness,
    replication,
    updates,
)
from emulator.engine.expiry import ExpiryQueue
from emulator.engine.replicas import Consistency
from emulator.operations.rules import replicas as rules
from emulator.operations.rules.states import PROTECTED, table_is_active
from emulator.service.errors import ValidationException

Wire: TypeAlias = Mapping[str, Any]

#: The stream that a table gets with its first replica (GTB-2).
STREAM_VIEW: Final = "NEW_AND_OLD_IMAGES"
#: What is the same in every replica (GTB-5).
_SHARED: Final = (
    "AttributeDefinitions",
    "BillingMode",
    "ProvisionedThroughput",
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "SSESpecification",
    "OnDemandThroughput",
    "WarmThroughput",
)


def other_replicas(account: Account, table: Table, joining: Wire | None = None) -> list[Account]:
    """Return the accounts of the other replicas of a table, held, in the order of joining.

    Args:
        account: Whose request it is.
        table: The table, a replica or not yet.
        joining: The request that may name more regions.

    Raises:
        RegionsNeeded: they are not held yet.
    """
    regions = {} if table.replica is None else dict.fromkeys(table.replica.others)
    for action in [] if joining is None else rules.actions_of(joining):
        if action.region != account.region:
            regions[action.region] = None
    owner = account.owner_of(table)
    names = [Namespace(owner.namespace.access_key, region) for region in regions]
    if not all(name in account.held for name in names):
        raise RegionsNeeded([owner.namespace, *names])
    return [account.held[name] for name in names]


def update_replicas(account: Account, table: Table, request: Wire) -> None:
    """Add, change and remove replicas, as the rules have allowed (OTH-14, GTB-5)."""
    owner = account.owner_of(table)
    peers = {peer.region: peer for peer in other_replicas(account, table, request)}
    group = {owner.region: owner, **peers}
    actions, witness = rules.actions_of(request), rules.witness_of(request)
    _tables_can_come_and_go(table, actions, peers)
    until_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
    for action in actions:
        member = group[action.region]
        if action.kind == "Create":
            _join(owner, table, member, request, until_ns)
        if action.kind in ("Create", "Update"):
            is_new = action.kind == "Create"
            _set_overrides(table, member, action.body, until_ns, is_new=is_new)
        else:
            _leave(member.region, table.name, group)
            if action.kind == "Delete":
                _delete(member, table.name)
    if witness is not None and witness.kind == "Create":
        for replica in _replicas(table.name, group):
            replica.witness = Witness(witness.region, until_ns)
    _share_members(table, group)


def _tables_can_come_and_go(
    table: Table, actions: Iterable[rules.ReplicaAction], peers: Mapping[str, Account]
) -> None:
    """Refuse replicas where there is a table already, and to delete a protected one."""
    for action in actions:
        if action.kind == "Create":
            rules.no_table_is_in_the_way(peers[action.region], table.name)
        elif action.kind == "Delete":
            twin = peers[action.region].replicated.get(table.name)
            if twin is not None and twin.options.deletion_protection:
                raise ValidationException(PROTECTED)


def _join(owner: Account, table: Table, peer: Account, request: Wire, until_ns: int) -> None:
    """Build a replica in another region, with all items that there are."""
    consistency: Consistency = request.get("MultiRegionConsistency") or "EVENTUAL"
    if table.replica is None:
        members = {owner.region: ReplicaMember(until_ns, is_new=False, overrides={})}
        table.replica = Replica(owner.region, members, consistency)
    if not table.replica.is_strong and (table.stream is None or not table.stream.is_open):
        owner.open_stream(table, STREAM_VIEW)
    twin = replication.build(peer, table)
    twin.active_at_ns = until_ns
    table.replica.members[peer.region] = ReplicaMember(until_ns, is_new=True, overrides={})
    twin.replica = Replica(peer.region, table.replica.members, table.replica.consistency)
    # What is on its way to the source is not among the items that were copied.
    twin.replica.follow(table.replica)
    peer.tables[table.name] = twin
    peer.watch(twin)
    if not twin.replica.is_strong:
        view = STREAM_VIEW if table.stream is None else table.stream.view
        peer.open_stream(twin, view)


def _set_overrides(table: Table, peer: Account, body: Wire, until_ns: int, *, is_new: bool) -> None:
    """Give a replica what it has of its own: units for reads, its class (GTB-5)."""
    assert table.replica is not None, "a replica has joined before"
    members, twin = table.replica.members, peer.tables.get(table.name)
    if twin is None:
        return
    overrides = {name: value for name, value in body.items() if name != "RegionName"}
    if "TableClassOverride" in overrides:
        twin.options.table_class = overrides.pop("TableClassOverride")
        overrides["ReplicaTableClassSummary"] = {"TableClass": twin.options.table_class}
    known = members[peer.region].overrides
    members[peer.region] = ReplicaMember(until_ns, is_new=is_new, overrides={**known, **overrides})
    if not is_new:
        twin.updated_at_ns = until_ns
    _set_reads(peer, twin, twin.resource, body)
    for index in body.get("GlobalSecondaryIndexes") or ():
        if index["IndexName"] in twin.indexes:
            _set_reads(peer, twin, twin.indexes[index["IndexName"]].resource, index)


def _set_reads(peer: Account, twin: Table, resource: Resource, holder: Wire) -> None:
    throughput = resource.throughput
    units = (holder.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits")
    most = (holder.get("OnDemandThroughputOverride") or {}).get("MaxReadRequestUnits")
    if units is not None and not throughput.on_demand:
        throughput = throughput._replace(read=units)
    if most is not None and throughput.on_demand:
        throughput = throughput._replace(max_read=None if most == -1 else most)
    if throughput != resource.throughput:
        updates.change_throughput(peer, twin, resource, throughput)


def _replicas(name: str, group: Mapping[str, Account]) -> list[Replica]:
    """Return the replicas of a table that there are in some regions."""
    tables = (account.tables.get(name) for account in group.values())
    return [t.replica for t in tables if t is not None and t.replica is not None]


def _leave(region: str, name: str, group: Mapping[str, Account]) -> None:
    """Let a replica go its own way; first everything arrives that is on its way (GTB-10).

    Assumed: that takes no time. If only one replica is left, it becomes an ordinary table.
    """
    members = [
        (account, table)
        for account in group.values()
        if (table := account.tables.get(name)) is not None and table.replica is not None
    ]
    for account, table in members:
        replication.settle(account, table)
    for account, table in members:
        if table.replica is not None:
            table.replica.members.pop(region, None)
            if account.region == region or len(table.replica.members) == 1:
                table.replica = None
        account.network.note(account)


def _delete(account: Account, name: str) -> None:
    """Delete what was a replica; where a region was emptied on its own, there is none."""
    table = account.tables.get(name)
    if table is not None:
        table.deleted_at_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
        if table.stream is not None and table.stream.is_open:
            table.stream.close(account.now_ns)


def _share_members(table: Table, group: Mapping[str, Account]) -> None:
    """Let every replica know the same group."""
    for replica in _replicas(table.name, group):
        if table.replica is not None:
            replica.members = dict(table.replica.members)
    for account in group.values():
        account.network.note(account)


def leave_group(account: Account, table: Table) -> None:
    """Take a table that is to be deleted out of its group, which goes on without it."""
    rules.is_not_strong([table], "the deletion of a replica by DeleteTable")
    accounts = [account.owner_of(table), *other_replicas(account, table)]
    group = {member.region: member for member in accounts}
    _leave(account.region, table.name, group)


def sharing_replicas(account: Account, table: Table, request: Wire) -> list[Account]:
    """Return where else a change is to be made: where settings are shared that it has (GTB-5)."""
    if table.replica is None or not any(request.get(member) for member in _SHARED):
        return []
    peers = [peer for peer in other_replicas(account, table) if table.name in peer.replicated]
    for peer in peers:
        table_is_active(peer.replicated[table.name], peer.now_ns)
    return peers


def shared_request(request: Wire, twin: Table) -> dict[str, Any]:
    """Return what another replica changes with this request; its reads are its own."""
    shared = {member: request[member] for member in _SHARED if request.get(member) is not None}
    units = shared.get("ProvisionedThroughput")
    if units is not None:
        shared["ProvisionedThroughput"] = _with_own_reads(units, twin.resource)
        if shared["ProvisionedThroughput"] == _units(twin.resource) and "BillingMode" not in shared:
            del shared["ProvisionedThroughput"]
    indexes = []
    for entry in shared.get("GlobalSecondaryIndexUpdates") or ():
        update = entry.get("Update")
        if update is not None and update.get("ProvisionedThroughput") is not None:
            resource = twin.indexes[update["IndexName"]].resource
            units = _with_own_reads(update["ProvisionedThroughput"], resource)
            if units == _units(resource):
                continue
            indexes.append({"Update": {**update, "ProvisionedThroughput": units}})
        else:
            indexes.append(entry)
    if indexes:
        shared["GlobalSecondaryIndexUpdates"] = indexes
    else:
        shared.pop("GlobalSecondaryIndexUpdates", None)
    return shared


def _units(resource: Resource) -> dict[str, int]:
    throughput = resource.throughput
    return {"ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write}


def _with_own_reads(units: Wire, resource: Resource) -> dict[str, int]:
    read = resource.throughput.read or units["ReadCapacityUnits"]
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": units["WriteCapacityUnits"]}


def share_time_to_live(account: Account, table: Table) -> None:
    """Let items of every replica expire as those of this one do (GTB-2)."""
    for peer in other_replicas(account, table):
        twin = peer.replicated.get(table.name)
        if twin is None:
            continue
        twin.expiry = None
        if table.expiry is not None:
            items = twin.store.walk(*updates.EVERYWHERE)
            twin.expiry = ExpiryQueue(table.expiry.attribute, items)
        twin.expiry_changed_ns = peer.now_ns
