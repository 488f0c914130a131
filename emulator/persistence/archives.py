"""Backups with their items, exports and imports, in a snapshot file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from emulator.engine import Account, Backup, Table, Transfer
from emulator.persistence.written import Moments, text

Written = Mapping[str, Any]


def dump_backup(backup: Backup) -> dict[str, Any]:
    """Return a backup; its table follows as tables do."""
    return {
        "backup": backup.arn,
        "name": backup.name,
        "created": backup.created_ns,
        "expires": backup.expires_ns,
    }


def load_backup(account: Account, written: Written, table: Table, moments: Moments) -> None:
    """Keep a table as a backup, and take it out of the account's tables."""
    expires = written["expires"]
    backup = Backup(
        text(written["backup"]),
        text(written["name"]),
        account.tables.pop(table.name),
        moments.ns(written["created"]),
        None if expires is None else moments.ns(expires),
    )
    account.archive.backups[backup.arn] = backup


def dump_transfers(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the exports and the imports of an account."""
    archive = account.archive
    for kind, transfers in (("export", archive.exports), ("import", archive.imports)):
        for transfer in transfers.values():
            yield {"transfer": kind, **transfer._asdict()}


def load_transfers(account: Account, lines: Iterable[Written], moments: Moments) -> None:
    """Give an account its exports and imports."""
    archive = account.archive
    for line in lines:
        transfers = archive.exports if line["transfer"] == "export" else archive.imports
        transfers[text(line["arn"])] = Transfer(
            text(line["arn"]),
            text(line["table_arn"]),
            text(line["table_id"]),
            dict(line["asked"]),
            moments.description(line["described"]),
            moments.description(line["outcome"]),
            moments.ns(line["started_ns"]),
            moments.ns(line["ends_ns"]),
            tuple(line["errors"]),
        )
