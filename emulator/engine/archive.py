"""What outlives its table: backups, exports and imports (OTH-3 to OTH-12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from emulator.engine.table import Table


class Backup(NamedTuple):
    """A table as it was; ``table`` is a copy that nobody writes.

    ``expires_ns`` is None for one that a user made; the service's own go by themselves (S3X-31).
    """

    arn: str
    name: str
    table: Table
    created_ns: int
    expires_ns: int | None = None


class Transfer(NamedTuple):
    """An export or an import, whose work is done when it is begun, and told when it ends.

    Attributes:
        arn: Its resource name.
        table_arn: The table that is exported, or made.
        table_id: Its id.
        asked: The request, by wire name.
        described: The members of its description from its beginning on.
        outcome: Those that it has beside them, or instead of them, from its end on.
        started_ns: When it began.
        ends_ns: When it ends; until then it is IN_PROGRESS.
        errors: What an import has to say of records that it refused (S3X-23).
    """

    arn: str
    table_arn: str
    table_id: str
    asked: Mapping[str, Any]
    described: Mapping[str, Any]
    outcome: Mapping[str, Any]
    started_ns: int
    ends_ns: int
    errors: tuple[Mapping[str, Any], ...] = ()


class Archive:
    """The backups, exports and imports of an account, by ARN, the oldest first."""

    __slots__ = ("backups", "exports", "imports")

    def __init__(self) -> None:
        self.backups: dict[str, Backup] = {}
        self.exports: dict[str, Transfer] = {}
        self.imports: dict[str, Transfer] = {}

    def copy(self) -> Archive:
        """Return an independent archive of the same content, which itself never changes."""
        twin = Archive()
        twin.backups |= self.backups
        twin.exports |= self.exports
        twin.imports |= self.imports
        return twin
