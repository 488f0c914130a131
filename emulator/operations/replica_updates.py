"""Replicas come, change, leave and share settings: what UpdateTable asks of other regions (GTB-5).

How a group then changes is in ``regions``, which is loaded only where there are replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Namespace, RegionsNeeded, Resource, Table, updates
from emulator.engine.expiry import ExpiryQueue
from emulator.operations.rules import replicas as rules
from emulator.operations.rules.states import PROTECTED, table_is_active
from emulator.service.errors import ValidationException

Wire: TypeAlias = Mapping[str, Any]

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
    from emulator.regions import groups  # most tables have no replicas

    owner = account.owner_of(table)
    peers = {peer.region: peer for peer in other_replicas(account, table, request)}
    group = {owner.region: owner, **peers}
    actions, witness = rules.actions_of(request), rules.witness_of(request)
    _tables_can_come_and_go(table, actions, peers)
    until_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
    for action in actions:
        member = group[action.region]
        if action.kind == "Create":
            groups.join(owner, table, member, request.get("MultiRegionConsistency"), until_ns)
        if action.kind in ("Create", "Update"):
            is_new = action.kind == "Create"
            groups.set_overrides(table, member, action.body, until_ns, is_new=is_new)
        else:
            groups.leave(member.region, table.name, group)
            if action.kind == "Delete":
                groups.delete(member, table.name)
    if witness is not None and witness.kind == "Create":
        groups.add_witness(table.name, group, witness.region, until_ns)
    groups.share_members(table, group)


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


def leave_group(account: Account, table: Table) -> None:
    """Take a table that is to be deleted out of its group, which goes on without it."""
    from emulator.regions import groups

    rules.is_not_strong([table], "the deletion of a replica by DeleteTable")
    accounts = [account.owner_of(table), *other_replicas(account, table)]
    group = {member.region: member for member in accounts}
    groups.leave(account.region, table.name, group)


def sharing_replicas(account: Account, table: Table, request: Wire) -> list[Account]:
    """Return where else a change is to be made: where settings are shared that it has (GTB-5)."""
    if table.replica is None or not any(request.get(member) for member in _SHARED):
        return []
    peers = [peer for peer in other_replicas(account, table) if table.name in peer.replicated]
    for peer in peers:
        table_is_active(peer.replicated[table.name], peer.now_ns)
    return peers


def shared_request(request: Wire, twin: Table) -> dict[str, Any]:
    """Return the part of a request that another replica applies; its reads are its own."""
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
