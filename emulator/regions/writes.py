"""Writes and other regions: a write may be refused, it is sent, and the last one wins.

Every replica is a table of its own in the account of its region, under that account's lock. A write
is acknowledged where it was made and lies in the inboxes of the others until it is due; each takes
its own in when its time moves on (GTB-1). So no region ever waits for the lock of another.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush
from typing import TYPE_CHECKING, Final

from emulator.clock import NANOSECONDS
from emulator.engine import Namespace
from emulator.engine.replicas import CONFLICT, Message, Replica, Version
from emulator.service.errors import InternalServerError, ReplicatedWriteConflictException

if TYPE_CHECKING:
    from emulator.engine import Account, Table
    from emulator.model import Item
    from emulator.storage import Position

#: Assumed: the text, and that strong consistency needs two of its three regions.
NO_QUORUM: Final = "The request could not reach a majority of the Regions of the global table."
_QUORUM: Final = 2


def expires_here(account: Account, replica: Replica) -> bool:
    """Return whether expired items are deleted by this replica: only one of them does.

    Assumed: it is the oldest replica that can be reached.
    """
    reached = _reached(account, replica.members)
    return not reached or reached[0] == replica.region


def check_write(account: Account, replica: Replica, position: Position) -> None:
    """Refuse a write that another region's write of the item has not let through (GTB-7).

    Raises:
        ReplicatedWriteConflictException: the item was written elsewhere a moment ago.
        InternalServerError: most regions cannot be reached.
    """
    if not replica.is_strong:
        return
    version = replica.versions.get(position)
    if version is not None and version.region != replica.region:
        lag_ns = round(account.settings.replication_lag * NANOSECONDS)
        if account.now_ns < version.written_ns + lag_ns:
            raise ReplicatedWriteConflictException(CONFLICT)
    regions = [*replica.members, *([] if replica.witness is None else [replica.witness.region])]
    if len(_reached(account, regions)) < _QUORUM:
        raise InternalServerError(NO_QUORUM)


def send(account: Account, table: Table, position: Position, new: Item | None) -> None:
    """Note a write that was made here, and put it on its way to the other replicas.

    Assumed: how long it is on its way (``Settings.replication_lag``, GTB-1).
    """
    replica, now_ns = table.replica, account.now_ns
    assert replica is not None, "only replicas send their writes"
    known = replica.versions.get(position)
    earliest_ns = 0 if known is None else known.time_ns + 1
    version = Version(max(now_ns, earliest_ns), replica.region, now_ns)
    lag = 0.0 if replica.is_strong else account.settings.replication_lag
    message = Message(now_ns + round(lag * NANOSECONDS), version, position, new)
    network = account.network
    with network.lock:
        replica.versions[position] = version
        for peer in _peers(replica, account.owner_of(table), table.name):
            heappush(peer.inbox, message)


def forget_versions(replica: Replica, owner: Account, table_name: str) -> None:
    """Forget in every replica when items were written, if no write is on its way.

    Then every write to come is later than all that is known; of strong ones, those that could
    still be in conflict are kept.
    """
    group = (replica, *_peers(replica, owner, table_name))
    if any(member.inbox for member in group):
        return
    horizon_ns = owner.now_ns - round(owner.settings.replication_lag * NANOSECONDS)
    for member in group:
        member.versions = {
            position: version
            for position, version in member.versions.items()
            if replica.is_strong and version.written_ns > horizon_ns
        }


def _peers(replica: Replica, owner: Account, table_name: str) -> list[Replica]:
    key, accounts = owner.namespace.access_key, owner.network.accounts
    peers = []
    for region in replica.others:
        account = accounts.get(Namespace(key, region))
        table = None if account is None else account.replicated.get(table_name)
        if table is not None and table.replica is not None:
            peers.append(table.replica)
    return peers


def _reached(account: Account, regions: Iterable[str]) -> list[str]:
    """Return the regions that have no outage now."""
    faults, now_ns = account.faults, account.now_ns
    return [region for region in regions if faults.reachable_ns((region,), now_ns) == now_ns]
