"""When tables and indexes are created, changed and deleted."""

from __future__ import annotations

from typing import Literal

Status = Literal["CREATING", "ACTIVE", "UPDATING", "DELETING"]


class Lifetime:
    """When a table or index is created, changed and deleted.

    Attributes:
        created_ns: When it was asked for.
        active_at_ns: When it can be used.
        updated_at_ns: When its last change is complete.
        deleted_at_ns: When it is gone, or None if it was not deleted.
    """

    __slots__ = (
        "active_at_ns",
        "created_ns",
        "deleted_at_ns",
        "updated_at_ns",
    )

    def __init__(self, now_ns: int) -> None:
        self.created_ns = self.active_at_ns = self.updated_at_ns = now_ns
        self.deleted_at_ns: int | None = None

    def status(self, now_ns: int) -> Status:
        """Return the state at a moment (DS-9, UT-10)."""
        if self.deleted_at_ns is not None:
            return "DELETING"
        if now_ns < self.active_at_ns:
            return "CREATING"
        return "UPDATING" if now_ns < self.updated_at_ns else "ACTIVE"
