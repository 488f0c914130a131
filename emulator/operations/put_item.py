"""PutItem: replace the whole item under a key, or insert it."""

from __future__ import annotations

from emulator.engine import Account, Table
from emulator.engine.writes import Write, execute
from emulator.model import Item, wire
from emulator.operations import responses, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items, keys, vectors
from emulator.storage import Position

SHAPE = shapes.write_request(Item=shapes.ATTRIBUTE_MAP.required)
LEGACY = ("Expected", "ConditionalOperator")
CURRENT = ("ConditionExpression",)


@operation("PutItem", shape=SHAPE)
def put_item(account: Account, request: Request) -> Response:
    """Store the item; ReturnValues=ALL_OLD returns what it replaces."""
    # The order is observable: a request with two faults is answered with the first (ERR-PUT-1).
    expressions.parameters_are_legacy_or_current(request, LEGACY, CURRENT)
    expressions.placeholders_come_with_expressions(request, CURRENT)
    item = wire.load_item(request["Item"])
    condition = conditions.load_condition(request)
    items.old_item_at_most(request.get("ReturnValues"))
    items.item_fits(item)

    table = account.table(request["TableName"])
    position = position_to_put(table, item)
    conditions.keys_are_scalars(condition, table)

    shows_old = responses.shows_old(request)
    write = Write(table, position, lambda _: item, condition, item, shows_old)
    planned = execute(account, write)

    old = planned.old if request.get("ReturnValues") == "ALL_OLD" else None
    return responses.written(request, planned, None if old is None else responses.item(old))


def position_to_put(table: Table, item: Item) -> Position:
    """Return where an item belongs, or say what is wrong with its keys (KV-*, IXV-*, VIX-31)."""
    key = keys.key_of_item(item, table.key)
    schemas = table.index_schemas
    if schemas:
        keys.index_keys_can_be_put(item, schemas)
    if table.vectors is not None:
        vectors.vectors_can_be_put(table, item)
    return table.position(key)
