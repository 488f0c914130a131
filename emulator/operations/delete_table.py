"""DeleteTable (DT-1 to DT-4, S3X-31, ERR-OTH-1)."""

from __future__ import annotations

from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.operations.backups import keep_deleted_table
from emulator.operations.definitions import table_request
from emulator.operations.descriptions import describe_table
from emulator.operations.registry import Request, Response, operation
from emulator.service.errors import ResourceInUseException, ValidationException

PROTECTED: Final = (
    "Resource cannot be deleted as it is currently protected against deletion. "
    "Disable deletion protection first."
)
IN_USE: Final = "Attempt to change a resource which is still in use: "
BEING_CREATED: Final = IN_USE + "Table is being created: {name}"
BEING_UPDATED: Final = IN_USE + "Table is being updated: {name}"
BEING_DELETED: Final = IN_USE + "Table is being deleted: {name}"
INDEXES_CHANGING: Final = (
    IN_USE + "Cannot delete table while indexes are being created, updated, or deleted."
)

#: What the description of a table that goes does not say (DT-1).
#: Observed: ScyllaDB's tests, run against the service.
_LEFT_OUT: Final = frozenset(
    (
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
    )
)


@operation("DeleteTable", shape=table_request())
def delete_table(account: Account, request: Request) -> Response:
    """Delete a table; its stream stays readable for a day (DT-1)."""
    table = account.described_table(request["TableName"])
    if table.options.deletion_protection:
        raise ValidationException(PROTECTED)
    no_index_is_changing(table, account.now_ns)
    table_is_active(table, account.now_ns)

    keep_deleted_table(account, table)
    table.deleted_at_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
    described = describe_table(account, table)  # before the stream closes, which it still names
    if table.stream is not None and table.stream.is_open:
        table.stream.close(account.now_ns)
    return {"TableDescription": {k: v for k, v in described.items() if k not in _LEFT_OUT}}


def no_index_is_changing(table: Table, now_ns: int) -> None:
    """Refuse to delete a table while an index of it comes or goes (DT-3)."""
    table.forget_deleted_indexes(now_ns)
    if table.leaving or any(index.status(now_ns) != "ACTIVE" for index in table.global_indexes):
        raise ResourceInUseException(INDEXES_CHANGING)


def table_is_active(table: Table, now_ns: int) -> None:
    """Refuse a change to a table that is not ACTIVE (DT-4, UT-3).

    Assumed: the texts.
    """
    messages = {"CREATING": BEING_CREATED, "UPDATING": BEING_UPDATED, "DELETING": BEING_DELETED}
    message = messages.get(table.status(now_ns))
    if message is not None:
        raise ResourceInUseException(message.format(name=table.name))
