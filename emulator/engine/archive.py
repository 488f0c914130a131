"""What outlives its table: backups, exports, imports and bulk puts (OTH-3 to OTH-12, BLK-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.table import Table

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.bulk_puts import BulkPut


class Backup(NamedTuple):
    """A table as it was; ``table`` is a copy that is never written.

    ``expires_ns`` is None for one that a user made; the service's own go by themselves (S3X-31).
    """

    arn: str
    name: str
    table: Table
    created_ns: int
    expires_ns: int | None = None


class Transfer(NamedTuple):
    """An export or an import: its work is done at the start, and reported at the end.

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
    """The backups, exports, imports and bulk puts of an account, by ARN, the oldest first.

    Attributes:
        running_puts: The bulk puts that have something left to do.
    """

    __slots__ = ("backups", "bulk_puts", "exports", "imports", "running_puts")

    def __init__(self) -> None:
        self.backups: dict[str, Backup] = {}
        self.exports: dict[str, Transfer] = {}
        self.imports: dict[str, Transfer] = {}
        self.bulk_puts: dict[str, BulkPut] = {}
        self.running_puts: list[BulkPut] = []

    def begin(self, job: BulkPut) -> None:
        """Add a bulk put; it goes on with the clock unless it has failed already."""
        self.bulk_puts[job.arn] = job
        if job.is_running:
            self.running_puts.append(job)

    def advance(self, account: Account, until_ns: int) -> None:
        """Let bulk puts go on until a moment."""
        # Loaded by the first account that has one: most never do.
        from emulator.engine.bulk_puts import advance

        advance(account, until_ns)

    def copy(self) -> Archive:
        """Return an independent archive of the same content."""
        twin = Archive()
        twin.backups |= self.backups
        twin.exports |= self.exports
        twin.imports |= self.imports
        for job in self.bulk_puts.values():
            twin.begin(job.copy())
        return twin
