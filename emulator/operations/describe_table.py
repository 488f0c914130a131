"""DescribeTable (DS-1 to DS-9, ERR-OTH-2)."""

from __future__ import annotations

from emulator.engine import Account
from emulator.operations.definitions import table_request
from emulator.operations.descriptions import describe_table
from emulator.operations.registry import Request, Response, operation


@operation("DescribeTable", shape=table_request())
def describe(account: Account, request: Request) -> Response:
    """Return the table as it stands, in whatever state."""
    table = account.described_table(request["TableName"])
    return {"Table": describe_table(account, table)}
