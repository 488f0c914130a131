"""Groups of replicas: how a replica joins, leaves, and has settings of its own (GTB-5, GTB-10).

The accounts of all regions of a group are held while it changes; what may change is judged before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Replica, ReplicaMember, Resource, Table, Witness, updates
from emulator.engine.replicas import Consistency
from emulator.regions import replication

Wire: TypeAlias = Mapping[str, Any]

#: The stream that a table gets with its first replica (GTB-2).
STREAM_VIEW: Final = "NEW_AND_OLD_IMAGES"


def join(
    owner: Account, table: Table, peer: Account, wanted: Consistency | None, until_ns: int
) -> None:
    """Build a replica in another region, with all items that there are."""
    if table.replica is None:
        members = {owner.region: ReplicaMember(until_ns, is_new=False, overrides={})}
        table.replica = Replica(owner.region, members, wanted or "EVENTUAL")
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


def set_overrides(table: Table, peer: Account, body: Wire, until_ns: int, *, is_new: bool) -> None:
    """Set the read units and the table class that a replica has of its own (GTB-5)."""
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


def add_witness(name: str, group: Mapping[str, Account], region: str, until_ns: int) -> None:
    """Let every replica know the region that counts for strong consistency (GTB-8)."""
    for replica in _replicas(name, group):
        replica.witness = Witness(region, until_ns)


def leave(region: str, name: str, group: Mapping[str, Account]) -> None:
    """Take a replica out of its group, once every write on its way has arrived (GTB-10).

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


def delete(account: Account, name: str) -> None:
    """Delete the table of a former replica, if its region still has one."""
    table = account.tables.get(name)
    if table is not None:
        table.deleted_at_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
        if table.stream is not None and table.stream.is_open:
            table.stream.close(account.now_ns)


def share_members(table: Table, group: Mapping[str, Account]) -> None:
    """Let every replica know the same group."""
    for replica in _replicas(table.name, group):
        if table.replica is not None:
            replica.members = dict(table.replica.members)
    for account in group.values():
        account.network.note(account)
