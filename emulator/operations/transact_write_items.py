"""TransactWriteItems: up to a hundred writes and checks, all or none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from emulator.engine import Account, Table, transactions
from emulator.engine.writes import Planned, Write, plan
from emulator.expressions import Condition, Update, parse_condition, parse_update
from emulator.model import Item, key_values_are_not_empty, wire
from emulator.operations import responses, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import conditions, expressions, items, keys, vectors
from emulator.operations.rules.replicas import is_not_strong
from emulator.operations.update_item import change_of, key_attributes_stay
from emulator.service import errors, limits
from emulator.storage import Position

NOTHING_TO_DO: Final = (
    "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
)
SEVERAL_MEMBERS: Final = "TransactItems can only contain one of Check, Put, Update or Delete"
SAME_ITEM: Final = "Transaction request cannot include multiple operations on one item"
#: Observed: ScyllaDB's tests, run against the service, look for "size cannot exceed" and say that
#: the message speaks of the transaction's payload. Assumed: the other words.
PAYLOAD_TOO_LARGE: Final = "Transaction payload size cannot exceed 4 MB"
#: Of the other transactions (ERR-TX-5).
TOO_LARGE: Final = (
    "Collection size of items exceeded, which can also be caused by the aggregate size "
    "of the items in the transaction exceeding the 4MB limit"
)


def _action(
    name: str, condition: shapes.Member = shapes.STRING, /, **own: shapes.Member
) -> shapes.Structure:
    """Return the shape of one kind of action; its own members come after the table."""
    return shapes.structure(
        name,
        TableName=shapes.TABLE_NAME.required,
        **own,
        ConditionExpression=condition,
        ExpressionAttributeNames=shapes.STRING_MAP,
        ExpressionAttributeValues=shapes.ATTRIBUTE_MAP,
        ReturnValuesOnConditionCheckFailure=shapes.RETURN_ON_FAILURE,
    )


_KEY = shapes.ATTRIBUTE_MAP.required
SHAPE = shapes.structure(
    ClientRequestToken=shapes.String(1, 36),
    ReturnConsumedCapacity=shapes.RETURN_CONSUMED_CAPACITY,
    ReturnItemCollectionMetrics=shapes.RETURN_ITEM_COLLECTION_METRICS,
    TransactItems=shapes.List(
        shapes.structure(
            "TransactWriteItem",
            ConditionCheck=_action("ConditionCheck", shapes.STRING.required, Key=_KEY),
            Put=_action("Put", Item=_KEY),
            Delete=_action("Delete", Key=_KEY),
            Update=_action("Update", Key=_KEY, UpdateExpression=shapes.STRING.required),
        ),
        1,
        limits.TRANSACTION_ACTIONS,
    ).required,
)
MEMBERS = ("ConditionCheck", "Put", "Delete", "Update")
CURRENT = ("UpdateExpression", "ConditionExpression")


class Wanted(NamedTuple):
    """One action, loaded and judged as far as the request alone allows."""

    kind: str
    body: Mapping[str, Any]
    item: Item
    condition: Condition | None
    update: Update | None


@operation("TransactWriteItems", shape=SHAPE)
def transact_write_items(account: Account, request: Request) -> Response:
    """Carry out every action, or cancel with one reason per action."""
    # The order is observable (ERR-TX-1).
    wanted = [load_action(action) for action in request["TransactItems"]]
    if sum(action.item.size_bytes for action in wanted) > limits.TRANSACTION_BYTES:
        raise errors.ValidationException(PAYLOAD_TOO_LARGE)
    tables = [account.table(action.body["TableName"]) for action in wanted]
    is_not_strong(tables, "transactions")
    for action, table in zip(wanted, tables, strict=True):
        no_key_is_empty(action, table)
    no_item_twice(zip(tables, (action.item for action in wanted), strict=True))

    token = request.get("ClientRequestToken")
    fingerprint = transactions.fingerprint_of(token, request["TransactItems"])
    mode = request.get("ReturnConsumedCapacity")
    replay = account.tokens.replay(token, fingerprint, account.now_ns)
    if replay is not None:
        return responses.consumed_by_table(mode, replay)

    _suit_their_tables(wanted, tables)
    actions = [action_of(action, table) for action, table in zip(wanted, tables, strict=True)]
    done = transactions.execute(account, actions)
    planned = [write for write in done if isinstance(write, Planned)]
    account.tokens.keep(token, fingerprint, planned, account.now_ns)
    named = {
        table.name: action.body["TableName"] for action, table in zip(wanted, tables, strict=True)
    }
    response = responses.consumed_by_table(
        mode, ((named[done.write.table.name], done.receipt) for done in planned)
    )
    written = ((done.write.table, done.write.position) for done in planned)
    return response | responses.collection_metrics_by_table(request, written)


def load_action(action: Mapping[str, Any]) -> Wanted:
    """Load one action completely; its first fault wins (ERR-TX-1)."""
    kinds = [kind for kind in MEMBERS if action.get(kind) is not None]
    if not kinds:
        raise errors.ValidationException(NOTHING_TO_DO)
    if len(kinds) > 1:
        raise errors.ValidationException(SEVERAL_MEMBERS)
    kind = kinds[0]
    body = action[kind]
    expressions.placeholders_come_with_expressions(body, CURRENT)
    item = wire.load_item(body["Item" if kind == "Put" else "Key"])
    placeholders = expressions.load_placeholders(body, limits.TRANSACTION_VALUE_LEVELS)
    update = None
    if kind == "Update":
        update = parse_update(body["UpdateExpression"], placeholders)
    text = body.get("ConditionExpression")
    condition = None if text is None else parse_condition(text, placeholders)
    placeholders.check_unused()
    if kind == "Put":
        items.item_fits(item)
    wire.check_levels(item.levels)
    return Wanted(kind, body, item, condition, update)


def no_key_is_empty(wanted: Wanted, table: Table) -> None:
    """Refuse an empty key or index key at once: it never cancels (KV-8, IXV-8)."""
    key_values_are_not_empty(wanted.item, table.key)
    schemas = table.index_schemas
    if wanted.kind == "Put":
        keys.index_keys_are_not_empty(wanted.item, schemas)
    elif wanted.update is not None and schemas:
        assigned = Item.of(wanted.update.assigned())
        keys.index_keys_are_not_empty(assigned, schemas, keys.EMPTY_INDEX_KEY_UPDATE)


def no_item_twice(touched: Any) -> None:
    """Refuse two actions on one item (TXW-2); keys in doubt are judged later."""
    seen = set()
    for table, item in touched:
        if not table.key.holds(item):
            continue
        key = (table.name, table.key.values(item))
        if key in seen:
            raise errors.ValidationException(SAME_ITEM)
        seen.add(key)


def _suit_their_tables(wanted: list[Wanted], tables: list[Table]) -> None:
    """Cancel for the first action that its table's schema rules out (KV-8, IXV-8, TXW-12).

    Observed: ScyllaDB's tests, run against the service: the others are not looked at.
    """
    failures: list[transactions.Failure | None] = [None] * len(wanted)
    for number, (action, table) in enumerate(zip(wanted, tables, strict=True)):
        try:
            _suits(action, table)
        except errors.ValidationException as fault:
            failures[number] = transactions.Failure("ValidationError", str(fault.message))
            raise transactions.cancelled(failures) from None


def _suits(wanted: Wanted, table: Table) -> None:
    conditions.keys_are_scalars(wanted.condition, table)
    if wanted.kind == "Put":
        keys.key_of_item(wanted.item, table.key)
        keys.index_key_types_match(wanted.item, table.index_schemas)
        keys.index_keys_are_not_too_long(wanted.item, table.index_schemas)
        vectors.vectors_can_be_put(table, wanted.item)
        return
    keys.key_of(wanted.item, table.key)
    if wanted.update is not None:
        key_attributes_stay(wanted.update, table)


def action_of(wanted: Wanted, table: Table) -> transactions.TransactionAction:
    """Return the action that the engine judges when its turn comes."""
    position = table.position_of(wanted.item)
    returns_item = wanted.body.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    prepare = partial(_prepare, wanted, table, position)
    return transactions.TransactionAction(table, position, prepare, returns_item)


def _prepare(wanted: Wanted, table: Table, position: Position) -> Planned:
    """Plan one action, or raise what cancels the transaction (TXW-12)."""
    item = wanted.item
    if wanted.kind == "Put":
        write = Write(table, position, lambda _: item, wanted.condition, new=item)
    elif wanted.kind == "Delete":
        write = Write(table, position, lambda _: None, wanted.condition)
    elif wanted.kind == "ConditionCheck":
        write = Write(table, position, lambda old: old, wanted.condition)
    else:
        change = change_of(wanted.update, item, table, standalone=False)
        write = Write(table, position, change, wanted.condition)
    return plan(write, factor=limits.TRANSACTION_FACTOR)
