"""GetItem: one item by its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.engine import Account
from emulator.engine.reads import get
from emulator.expressions import PathProjection, Placeholders, parse_projection
from emulator.model.wire import check_levels, dump_item, load_item
from emulator.operations import responses, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import expressions, items, keys

SHAPE = shapes.item_request(
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    TableName=shapes.TABLE_NAME.required,
    Key=shapes.ATTRIBUTE_MAP.required,
    AttributesToGet=shapes.ATTRIBUTES_TO_GET,
    ConsistentRead=shapes.BOOLEAN,
    ProjectionExpression=shapes.STRING,
    ExpressionAttributeNames=shapes.STRING_MAP,
)
LEGACY = ("AttributesToGet",)
CURRENT = ("ProjectionExpression",)
_OF_A_PROJECTION = (*LEGACY, *CURRENT, "ExpressionAttributeNames")


@operation("GetItem", shape=SHAPE)
def get_item(account: Account, request: Request) -> Response:
    """Return the item under the key, or no ``Item`` member when there is none."""
    is_projected = not request.keys().isdisjoint(_OF_A_PROJECTION)
    if is_projected:
        expressions.parameters_are_legacy_or_current(request, LEGACY, CURRENT)
        expressions.placeholders_come_with_expressions(request, CURRENT, ())
        items.names_are_distinct(request.get("AttributesToGet"))
    key = load_item(request["Key"])
    projection = load_projection(request) if is_projected else None
    check_levels(key.levels)

    table = account.table(request["TableName"])
    position = table.position(keys.key_of(key, table.key))
    if projection is not None:
        keys.keys_are_scalars(projection.paths, table.key, table.index_schemas)
    read = get(account, table, position, consistent=request.get("ConsistentRead", False))

    response: Response = {}
    if read.item is not None:
        attributes = read.item.attributes
        response["Item"] = dump_item(
            attributes if projection is None else projection.pick(attributes)
        )
    mode = request.get("ReturnConsumedCapacity")
    if mode is not None:
        response.update(responses.consumed(mode, request["TableName"], read.receipt))
    return response


def load_projection(request: Mapping[str, Any]) -> PathProjection | None:
    """Return the projection of a read by key, legacy or current, or None."""
    listed = request.get("AttributesToGet")
    if listed is not None:
        return PathProjection.of_names(listed)
    return written_projection(request) if "ProjectionExpression" in request else None


def written_projection(request: Mapping[str, Any]) -> PathProjection | None:
    """Return the projection of ProjectionExpression, or None without one."""
    text = request.get("ProjectionExpression")
    if text is None:
        return None
    names = request.get("ExpressionAttributeNames")
    expressions.placeholders_fit(names, None)
    placeholders = Placeholders(names, checked=True)
    projection = parse_projection(text, placeholders)
    placeholders.check_unused()
    return projection
