"""ListTables (LT-1, ERR-OTH-3)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account
from emulator.operations import shapes
from emulator.operations.registry import Request, Response, operation

_PAGE: Final = 100

SHAPE = shapes.structure(
    ExclusiveStartTableName=shapes.INDEX_NAME,
    Limit=shapes.Integer(least=1, most=_PAGE),
)


@operation("ListTables", shape=SHAPE)
def list_tables(account: Account, request: Request) -> Response:
    """Return the names of a page of tables, in byte order, including those being deleted."""
    account.forget_deleted()
    after = request.get("ExclusiveStartTableName", "")
    most = request.get("Limit", _PAGE)
    names = sorted(name for name in account.visible_tables() if name > after)
    response: Response = {"TableNames": names[:most]}
    if len(names) > most:
        response["LastEvaluatedTableName"] = names[most - 1]
    return response
