"""Rules of the states in which a table can be changed or deleted (DT-2, DT-4, UT-3)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account, Table
from emulator.service.errors import ResourceInUseException

PROTECTED: Final = (
    "Resource cannot be deleted as it is currently protected against deletion. "
    "Disable deletion protection first."
)
IN_USE: Final = "Attempt to change a resource which is still in use: "
BEING_CREATED: Final = IN_USE + "Table is being created: {name}"
BEING_UPDATED: Final = IN_USE + "Table is being updated: {name}"
BEING_DELETED: Final = IN_USE + "Table is being deleted: {name}"
# Assumed: the text.
BEING_FILLED: Final = IN_USE + "A bulk operation is in progress. Table: {name}"


def table_is_active(table: Table, now_ns: int) -> None:
    """Refuse a change to a table that is not ACTIVE (DT-4, UT-3).

    Assumed: the texts.
    """
    messages = {"CREATING": BEING_CREATED, "UPDATING": BEING_UPDATED, "DELETING": BEING_DELETED}
    message = messages.get(table.status(now_ns))
    if message is not None:
        raise ResourceInUseException(message.format(name=table.name))


def is_being_filled(account: Account, table: Table) -> bool:
    """Return whether a bulk put writes to a table."""
    running = account.owner_of(table).archive.running_puts
    return any(job.table_id == table.id for job in running)


def table_is_not_being_filled(account: Account, table: Table) -> None:
    """Refuse to add a replica to a table while a bulk put writes to it (BLK-5)."""
    if is_being_filled(account, table):
        raise ResourceInUseException(BEING_FILLED.format(name=table.name))
