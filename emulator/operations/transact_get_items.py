"""TransactGetItems: up to a hundred items at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from emulator.capacity import TRANSACTIONAL
from emulator.engine import Account, Table, transactions
from emulator.engine.reads import Found, find
from emulator.expressions import PathProjection
from emulator.model import Item, key_values_are_not_empty, wire
from emulator.operations import responses, shapes
from emulator.operations.get_item import CURRENT, written_projection
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import expressions, keys
from emulator.operations.rules.replicas import is_not_strong
from emulator.operations.transact_write_items import TOO_LARGE, no_item_twice
from emulator.service import errors, limits

SHAPE = shapes.structure(
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    TransactItems=shapes.List(
        shapes.structure(
            "TransactGetItem",
            Get=shapes.structure(
                "Get",
                TableName=shapes.TABLE_NAME.required,
                Key=shapes.ATTRIBUTE_MAP.required,
                ProjectionExpression=shapes.STRING,
                ExpressionAttributeNames=shapes.STRING_MAP,
            ).required,
        ),
        1,
        limits.TRANSACTION_ACTIONS,
    ).required,
)


class _WantedItem(NamedTuple):
    """One key to read."""

    body: Mapping[str, Any]
    key: Item
    projection: PathProjection | None


@operation("TransactGetItems", shape=SHAPE)
def transact_get_items(account: Account, request: Request) -> Response:
    """Return every item in request order, an empty object for a missing one."""
    wanted = [_load(action["Get"]) for action in request["TransactItems"]]
    tables = [account.table(action.body["TableName"]) for action in wanted]
    is_not_strong(tables, "transactions")
    for action, table in zip(wanted, tables, strict=True):
        key_values_are_not_empty(action.key, table.key)
    no_item_twice(zip(tables, (action.key for action in wanted), strict=True))

    actions = [
        transactions.TransactionAction(
            table,
            table.position_of(action.key) if table.key.holds(action.key) else None,
            partial(_find, account, table, action),
        )
        for action, table in zip(wanted, tables, strict=True)
    ]
    done = [read for read in transactions.execute(account, actions) if isinstance(read, Found)]
    sizes = [read.receipt.bytes_returned for read in done]
    if sum(sizes) > limits.TRANSACTION_BYTES:
        raise errors.ValidationException(TOO_LARGE)

    found = list(zip(wanted, done, strict=True))
    response = responses.listing("Responses", found, sizes, _shown)
    receipts = ((action.body["TableName"], read.receipt) for action, read in found)
    mode = request.get("ReturnConsumedCapacity")
    response.update(responses.consumed_by_table(mode, receipts))
    return response


def _load(body: Mapping[str, Any]) -> _WantedItem:
    expressions.placeholders_come_with_expressions(body, CURRENT, ())
    key = wire.load_item(body["Key"])
    projection = written_projection(body)
    wire.check_levels(key.levels)
    return _WantedItem(body, key, projection)


def _find(account: Account, table: Table, wanted: _WantedItem) -> Found:
    position = table.position(keys.key_of(wanted.key, table.key))
    if wanted.projection is not None:
        keys.keys_are_scalars(wanted.projection.paths, table.key, table.index_schemas)
    return find(account, table, position, consistent=True, factor=TRANSACTIONAL)


def _shown(found: list[tuple[_WantedItem, Found]]) -> list[dict[str, Any]]:
    return [_part_shown(wanted, read) for wanted, read in found]


def _part_shown(wanted: _WantedItem, read: Found) -> dict[str, Any]:
    """Return the part of an item that is shown; without one there is no item (TXG-1).

    Observed: the public suite in October 2026, unlike GetItem (PRJ-4).
    """
    if read.item is None:
        return {}
    attributes = read.item.attributes
    projection = wanted.projection
    shown = attributes if projection is None else projection.pick(attributes)
    return {"Item": wire.dump_item(shown)} if shown else {}
