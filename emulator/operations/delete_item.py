"""DeleteItem: remove an item by its key; removing nothing succeeds."""

from __future__ import annotations

from emulator.engine import Account
from emulator.engine.writes import Write, execute
from emulator.model.wire import check_levels, load_item
from emulator.operations import responses, shapes
from emulator.operations.put_item import CURRENT, LEGACY
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items, keys

SHAPE = shapes.write_request(Key=shapes.ATTRIBUTE_MAP.required)


@operation("DeleteItem", shape=SHAPE)
def delete_item(account: Account, request: Request) -> Response:
    """Remove the item; ReturnValues=ALL_OLD returns what it was."""
    expressions.parameters_are_legacy_or_current(request, LEGACY, CURRENT)
    expressions.placeholders_come_with_expressions(request, CURRENT)
    key = load_item(request["Key"])
    items.old_item_at_most(request.get("ReturnValues"))
    condition = conditions.load_condition(request)
    check_levels(key.levels)

    table = account.table(request["TableName"])
    position = table.position(keys.key_of(key, table.key))
    conditions.keys_are_scalars(condition, table)
    shows_old = responses.shows_old(request)
    write = Write(table, position, lambda _: None, condition, None, shows_old)
    planned = execute(account, write)

    old = planned.old if request.get("ReturnValues") == "ALL_OLD" else None
    return responses.written(request, planned, None if old is None else responses.item(old))
