"""Replicas of a global table: who they are, what is on its way to each, whose write is the last.

Every replica is a table of its own in the account of its region, under that account's lock. A write
is acknowledged where it was made and lies in the inboxes of the others until it is due; each takes
its own in when its time moves on (GTB-1). So no region ever waits for the lock of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from heapq import heappush
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from emulator.clock import NANOSECONDS
from emulator.engine.namespaces import Namespace
from emulator.service.errors import InternalServerError, ReplicatedWriteConflictException

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table
    from emulator.model import Item
    from emulator.storage import Position

Consistency = Literal["EVENTUAL", "STRONG"]

#: Source: the service model (GTB-7).
CONFLICT: Final = (
    "The request was rejected because one or more items in the request are being modified by a "
    "request in another Region."
)
#: Assumed: the text, and that strong consistency needs two of its three regions.
NO_QUORUM: Final = "The request could not reach a majority of the Regions of the global table."
_QUORUM: Final = 2


class Version(NamedTuple):
    """When an item was written, and where: the later version wins (GTB-1).

    Assumed: of two writes in the same nanosecond, the region whose name sorts last wins.

    Attributes:
        time_ns: The moment, or just after the last version that its region had seen of the item.
        region: Where.
        written_ns: The moment by the clock.
    """

    time_ns: int
    region: str
    written_ns: int


class Message(NamedTuple):
    """A write on its way to another region; the earliest is taken in first."""

    due_ns: int
    version: Version
    position: Position
    new: Item | None


class ReplicaMember(NamedTuple):
    """One replica as every replica of its table describes it.

    Attributes:
        active_at_ns: When it is no longer CREATING or UPDATING.
        is_new: Whether it is CREATING until then.
        overrides: What it has of its own, by wire name.
    """

    active_at_ns: int
    is_new: bool
    overrides: Mapping[str, Any]

    def status(self, now_ns: int) -> str:
        """Return its ReplicaStatus at a moment (GTB-4)."""
        if now_ns >= self.active_at_ns:
            return "ACTIVE"
        return "CREATING" if self.is_new else "UPDATING"


class Witness(NamedTuple):
    """A region that stores no items and counts for strong consistency (GTB-8)."""

    region: str
    active_at_ns: int


class Replica:
    """What makes a table a replica: its group, and what is on its way to it.

    Attributes:
        region: The region that it is in.
        members: All replicas by region, this one included, in the order in which they joined.
        consistency: ``EVENTUAL`` or ``STRONG``.
        witness: The third region of a strong group of two.
        is_protected: Whether it may not be disassociated (GTB-10).
        inbox: A heap of writes of other regions that are not here yet.
        versions: When recent writes were made, by item, deletions included.
    """

    __slots__ = (
        "consistency",
        "inbox",
        "is_protected",
        "members",
        "region",
        "versions",
        "witness",
    )

    def __init__(
        self,
        region: str,
        members: Mapping[str, ReplicaMember],
        consistency: Consistency = "EVENTUAL",
        witness: Witness | None = None,
    ) -> None:
        self.region = region
        self.members = dict(members)
        self.consistency: Consistency = consistency
        self.witness = witness
        self.is_protected = True
        self.inbox: list[Message] = []
        self.versions: dict[Position, Version] = {}

    @property
    def is_strong(self) -> bool:
        """Whether a write is in every region once it is acknowledged (GTB-6)."""
        return self.consistency == "STRONG"

    @property
    def others(self) -> list[str]:
        """The regions of the other replicas."""
        return [region for region in self.members if region != self.region]

    def expires_here(self, account: Account) -> bool:
        """Return whether expired items are deleted by this replica: only one of them does.

        Assumed: it is the oldest replica that can be reached.
        """
        reached = _reached(account, self.members)
        return not reached or reached[0] == self.region

    def check(self, account: Account, position: Position) -> None:
        """Refuse a write that another region's write of the item has not let through (GTB-7).

        Raises:
            ReplicatedWriteConflictException: the item was written elsewhere a moment ago.
            InternalServerError: most regions cannot be reached.
        """
        if not self.is_strong:
            return
        version = self.versions.get(position)
        if version is not None and version.region != self.region:
            lag_ns = round(account.settings.replication_lag * NANOSECONDS)
            if account.now_ns < version.written_ns + lag_ns:
                raise ReplicatedWriteConflictException(CONFLICT)
        regions = [*self.members, *([] if self.witness is None else [self.witness.region])]
        if len(_reached(account, regions)) < _QUORUM:
            raise InternalServerError(NO_QUORUM)

    def send(self, account: Account, table: Table, position: Position, new: Item | None) -> None:
        """Note a write that was made here, and put it on its way to the other replicas.

        Assumed: how long it is on its way (``Settings.replication_lag``, GTB-1).
        """
        now_ns = account.now_ns
        known = self.versions.get(position)
        earliest_ns = 0 if known is None else known.time_ns + 1
        version = Version(max(now_ns, earliest_ns), self.region, now_ns)
        lag = 0.0 if self.is_strong else account.settings.replication_lag
        message = Message(now_ns + round(lag * NANOSECONDS), version, position, new)
        network = account.network
        with network.lock:
            self.versions[position] = version
            for replica in self._peers(account.owner_of(table), table.name):
                heappush(replica.inbox, message)

    def forget_versions(self, owner: Account, table_name: str) -> None:
        """Let every replica forget when items were written, if nothing is on its way.

        Then every write to come is later than all that is known; of strong ones, those that could
        still be in conflict are kept.
        """
        group = (self, *self._peers(owner, table_name))
        if any(replica.inbox for replica in group):
            return
        horizon_ns = owner.now_ns - round(owner.settings.replication_lag * NANOSECONDS)
        for replica in group:
            replica.versions = {
                position: version
                for position, version in replica.versions.items()
                if self.is_strong and version.written_ns > horizon_ns
            }

    def _peers(self, owner: Account, table_name: str) -> list[Replica]:
        key, accounts = owner.namespace.access_key, owner.network.accounts
        peers = []
        for region in self.others:
            account = accounts.get(Namespace(key, region))
            table = None if account is None else account.replicated.get(table_name)
            if table is not None and table.replica is not None:
                peers.append(table.replica)
        return peers

    def follow(self, source: Replica) -> None:
        """Expect whatever is on its way to the replica that this one was copied from."""
        self.inbox = list(source.inbox)
        self.versions = dict(source.versions)

    def copy(self) -> Replica:
        """Return an independent replica in the same state."""
        twin = copy(self)
        twin.members = dict(self.members)
        twin.inbox = list(self.inbox)
        twin.versions = dict(self.versions)
        return twin


def _reached(account: Account, regions: Iterable[str]) -> list[str]:
    """Return the regions that have no outage now."""
    faults, now_ns = account.faults, account.now_ns
    return [region for region in regions if faults.reachable_ns((region,), now_ns) == now_ns]
