"""Replicas: their group, the writes on their way to them, and the last write of each item.

This is state alone, as tables have it; ``regions`` decides with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from emulator.model import Item
    from emulator.storage import Position

Consistency = Literal["EVENTUAL", "STRONG"]

#: The refusal of a write that conflicts with one elsewhere. Source: the service model (GTB-7).
CONFLICT: Final = (
    "The request was rejected because one or more items in the request are being modified by a "
    "request in another Region."
)


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
        overrides: Its own settings, by wire name.
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
    """The replica side of a table: its group, and the writes on their way to it.

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

    def follow(self, source: Replica) -> None:
        """Expect the writes on their way to the replica that this one was copied from."""
        self.inbox = list(source.inbox)
        self.versions = dict(source.versions)

    def copy(self) -> Replica:
        """Return an independent replica in the same state."""
        twin = copy(self)
        twin.members = dict(self.members)
        twin.inbox = list(self.inbox)
        twin.versions = dict(self.versions)
        return twin
