"""DeleteTable (DT-1 to DT-4, S3X-31, ERR-OTH-1)."""

from __future__ import annotations

from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.operations.backups import keep_deleted_table
from emulator.operations.definitions import table_request
from emulator.operations.descriptions import describe_table
from emulator.operations.registry import Request, Response, operation
from emulator.operations.replica_updates import leave_group
from emulator.operations.rules.states import IN_USE, PROTECTED, table_is_active
from emulator.service.errors import ResourceInUseException, ValidationException

INDEXES_CHANGING: Final = (
    IN_USE + "Cannot delete table while indexes are being created, updated, or deleted."
)

#: What the description of a table that is being deleted leaves out (DT-1).
#: Observed: ScyllaDB's tests, run against the service.
_LEFT_OUT: Final = frozenset(
    (
        "AttributeDefinitions",
        "CreationDateTime",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "LocalSecondaryIndexes",
        "VectorIndexes",
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

    if table.replica is not None:
        leave_group(account, table)
    keep_deleted_table(account, table)
    table.deleted_at_ns = account.now_ns + round(account.settings.table_delay * NANOSECONDS)
    described = describe_table(account, table)  # before the stream closes, which it still names
    if table.stream is not None and table.stream.is_open:
        table.stream.close(account.now_ns)
    return {"TableDescription": {k: v for k, v in described.items() if k not in _LEFT_OUT}}


def no_index_is_changing(table: Table, now_ns: int) -> None:
    """Refuse to delete a table while an index of it comes or goes (DT-3, VIX-23)."""
    table.forget_deleted_indexes(now_ns)
    changing = table.vectors is not None and table.vectors.changing(now_ns)
    if (
        table.leaving
        or changing
        or any(index.status(now_ns) != "ACTIVE" for index in table.global_indexes)
    ):
        raise ResourceInUseException(INDEXES_CHANGING)
