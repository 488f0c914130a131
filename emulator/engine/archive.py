"""Backups, exports, imports and bulk puts, which outlive their table (OTH-3 to OTH-12, BLK-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.archived import Backup, Transfer
    from emulator.engine.bulk_puts import BulkPut


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

    def advance(self, account: Account, until_ns: int) -> bool:
        """Let bulk puts go on until a moment; return whether they have got there."""
        # Loaded by the first account that has one: most never do.
        from emulator.engine.bulk_puts import advance

        return advance(account, until_ns)

    def copy(self) -> Archive:
        """Return an independent archive of the same content."""
        twin = Archive()
        twin.backups |= self.backups
        twin.exports |= self.exports
        twin.imports |= self.imports
        for job in self.bulk_puts.values():
            twin.begin(job.copy())
        return twin
