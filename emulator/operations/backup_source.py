"""The table that a backup, restore or export names, with errors of their own (OTH-3, OTH-10)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account, Table
from emulator.service import errors

TABLE_NOT_FOUND: Final = "Table not found: {name}"
#: Assumed: the text.
TABLE_NOT_ACTIVE: Final = "Table is not in ACTIVE state: {name}"


def source_table(account: Account, name: str) -> Table:
    """Return a table by name or ARN, to be read as a whole.

    Raises:
        TableNotFoundException: it does not exist; the message names it as the caller did.
        TableInUseException: it is being made or deleted.
    """
    try:
        table = account.described_table(name)
    except errors.ResourceNotFoundException:
        raise errors.TableNotFoundException(TABLE_NOT_FOUND.format(name=name)) from None
    if table.status(account.now_ns) in ("CREATING", "DELETING"):
        raise errors.TableInUseException(TABLE_NOT_ACTIVE.format(name=table.name))
    return table
