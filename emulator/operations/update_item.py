"""UpdateItem: change attributes of an item, or create it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulator.engine import Account, Table
from emulator.engine.writes import Planned, Write, execute
from emulator.expressions import Placeholders, Update, fragment, legacy_update, parse_update
from emulator.model import MISSING, IndexSchema, Item, Missing, Value, check_name, equal, wire
from emulator.operations import responses, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items, keys, vectors
from emulator.service import limits
from emulator.service.errors import ValidationException

KEY_CHANGE: Final = (
    wire.INVALID + "Cannot update attribute {name}. This attribute is part of the key"
)

SHAPE = shapes.write_request(
    # The misspelt value is the service's own (ERR-SHAPE-5).
    shapes.RETURN_VALUES.reworded(
        shapes.Rewording(
            "Failed to satisfy constraint: Member must satisfy enum value set: "
            "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
            hides_others=True,
        )
    ),
    Key=shapes.ATTRIBUTE_MAP.required,
    AttributeUpdates=shapes.Map(
        shapes.structure(
            "AttributeValueUpdate",
            Value=shapes.VALUE,
            Action=shapes.String(enum=("ADD", "PUT", "DELETE")),
        )
    ),
    Expected=shapes.EXPECTED,
    UpdateExpression=shapes.STRING,
)
LEGACY = ("AttributeUpdates", "Expected", "ConditionalOperator")
CURRENT = ("UpdateExpression", "ConditionExpression")


@operation("UpdateItem", shape=SHAPE)
def update_item(account: Account, request: Request) -> Response:
    """Change the item, and return the attributes that ReturnValues asks for."""
    expressions.parameters_are_legacy_or_current(request, LEGACY, CURRENT)
    expressions.placeholders_come_with_expressions(request, CURRENT)
    key = wire.load_item(request["Key"])
    placeholders = expressions.load_placeholders(request)
    updates = _load_updates(request)
    expected = conditions.load_expected(request)
    update = _parse(request, updates, placeholders)
    condition = conditions.write_condition(request, expected, placeholders)
    placeholders.check_unused()
    wire.check_levels(key.levels)

    table = account.table(request["TableName"])
    position = table.position(keys.key_of(key, table.key))
    conditions.keys_are_scalars(condition, table)
    if update is not None:
        key_attributes_stay(update, table)
    change = change_of(update, key, table, standalone=True)
    shows_old = responses.shows_old(request)
    planned = execute(account, Write(table, position, change, condition, None, shows_old))

    attributes = returned(request.get("ReturnValues"), planned, update)
    return responses.written(request, planned, attributes or None)


def _load_updates(request: Mapping[str, Any]) -> dict[str, tuple[str, Value | Missing]] | None:
    """Return AttributeUpdates with their values loaded."""
    written = request.get("AttributeUpdates")
    if written is None:
        return None
    for name in written:
        check_name(name)
    return {
        name: (
            entry.get("Action") or "PUT",
            MISSING if entry.get("Value") is None else wire.load_value(entry["Value"]),
        )
        for name, entry in written.items()
    }


def _parse(
    request: Mapping[str, Any],
    updates: dict[str, tuple[str, Value | Missing]] | None,
    placeholders: Placeholders,
) -> Update | None:
    text = request.get("UpdateExpression")
    if text is not None:
        return parse_update(text, placeholders)
    return legacy_update(updates) if updates else None


def key_attributes_stay(update: Update, table: Table) -> None:
    """Refuse an update that names a key attribute, even to its present value (UPD-5, QRY-7)."""
    for path in update.paths:
        if path[0] in table.key.names:
            raise ValidationException(KEY_CHANGE.format(name=path[0]))
    keys.keys_are_scalars(update.mentioned, table.key, table.index_schemas)


def change_of(
    update: Update | None,
    key: Item,
    table: Table,
    *,
    standalone: bool,
) -> Callable[[Item | None], Item | None]:
    """Return the function from the stored item to the updated one (UPD-19 to UPD-21).

    Observed: ScyllaDB's tests, run against the service: an update that only removes passes over
    an item that does not exist, whatever its paths are; one that says nothing creates it. The
    Java SDK's team saw the same of an UpdateExpression with only REMOVE (decision 32).

    Args:
        update: The update, or None for one that only makes sure that the item exists.
        key: The item's key attributes.
        table: The table.
        standalone: Whether the statement's own size counts as well (SIZ-5).
    """

    def change(old: Item | None) -> Item | None:
        if update is None:
            return key if old is None else old
        if old is None and not (update.creates or table.settings.removal_creates_item):
            return None
        base = key if old is None else old
        attributes = update.apply(base.attributes)
        new = base.replace(attributes, update.names)
        schemas = table.index_schemas
        if schemas:
            _index_keys_are_right(old, new, schemas, check=table.settings.index_key_check)
        if table.vectors is not None:
            vectors.vectors_can_be_updated(table, old, new)
        request_bytes = 0
        is_measured = standalone and table.settings.update_size_rule == "request"
        if is_measured and new.size_bytes <= limits.ITEM_BYTES:
            request_bytes = update.request_bytes(base.attributes, attributes)
        items.updated_item_fits(new, request_bytes)
        return new

    return change


def _index_keys_are_right(
    old: Item | None, new: Item, schemas: list[IndexSchema], *, check: str
) -> None:
    """Hold the rules of index keys for those that the update changes (IXV-3, IXV-4)."""
    if check == "changed" and old is not None:
        changed = {
            name for schema in schemas for name in schema.key.names if _changes(name, old, new)
        }
        if not changed:
            return
        schemas = [schema for schema in schemas if not changed.isdisjoint(schema.key.names)]
        judged = new.pick(changed)
    else:
        judged = new
    keys.index_key_types_match(judged, schemas)
    keys.index_keys_are_not_empty(judged, schemas, keys.EMPTY_INDEX_KEY_UPDATE)
    keys.index_keys_are_not_too_long(new, schemas)


def _changes(name: str, old: Item, new: Item) -> bool:
    before, after = old.attributes.get(name, MISSING), new.attributes.get(name, MISSING)
    return before is not after and not equal(before, after)


def returned(
    return_values: str | None, planned: Planned, update: Update | None
) -> wire.WireItem | None:
    """Return the attributes that ReturnValues asks for (UIT-2 to UIT-5)."""
    if return_values is None or return_values == "NONE":
        return None
    image = planned.old if return_values.endswith("OLD") else planned.new
    if image is None:
        return None
    if return_values.startswith("ALL"):
        return responses.item(image)
    return wire.dump_item(fragment(image.attributes, update.paths)) if update is not None else None
