"""What the conditions of policies can ask about a request: its context keys (OTH-23).

A request is looked at before it is judged, so it may be malformed: what cannot be read is left
out, and the request is refused later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from emulator import partiql
from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.expressions import ast, legacy_key_condition, parse_key_condition
from emulator.expressions.resolve import read
from emulator.model import KeySchema, Value
from emulator.model.wire import dump_value, load_value
from emulator.operations.policies import Caller
from emulator.operations.policy_conditions import Context
from emulator.operations.rules.conditions import load_conditions
from emulator.operations.rules.expressions import load_placeholders
from emulator.service.errors import ApiError

#: The address of calls that never were on a network.
LOCAL_ADDRESS: Final = "127.0.0.1"
#: What a malformed request can raise before it is judged.
_MALFORMED: Final = (ApiError, RecursionError, TypeError, ValueError, KeyError, AttributeError)

_PARTITION_KEYS: Final = tuple(
    f"dynamodb:{place}partitionkeyvalues" for place in ("first", "second", "third", "fourth")
)
_EXPRESSIONS: Final = (
    *("ConditionExpression", "UpdateExpression", "FilterExpression"),
    *("KeyConditionExpression", "ProjectionExpression"),
)
#: Members that are maps by attribute name.
_BY_NAME: Final = (
    *("Key", "Item", "Expected", "AttributeUpdates", "QueryFilter", "ScanFilter"),
    "KeyConditions",
)
_RETURNS_ITEMS: Final = frozenset(("GetItem", "BatchGetItem", "Query", "Scan", "PartiQLSelect"))
#: Source: Service Authorization Reference: the actions that have ReturnValues.
_RETURNS_VALUES: Final = frozenset(("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"))


def of_request(
    account: Account, caller: Caller, request: Mapping[str, Any], source_ip: str | None
) -> dict[str, tuple[str, ...]]:
    """Return what is known of a request whatever it is on.

    Assumed: a user's unique id is its access key, and in-process calls come from this machine
    over a secure transport.
    """
    seconds = account.now_ns / NANOSECONDS
    moment = datetime.fromtimestamp(int(seconds), UTC)
    context = {
        "aws:currenttime": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "aws:epochtime": str(int(seconds)),
        "aws:principalaccount": caller.account_id,
        "aws:principalarn": caller.arn,
        "aws:principalisawsservice": "false",
        "aws:principaltype": "User",
        "aws:requestedregion": account.region,
        "aws:resourceaccount": account.account_id,
        "aws:securetransport": str(source_ip is None).lower(),
        "aws:sourceip": source_ip or LOCAL_ADDRESS,
        "aws:userid": caller.access_key,
        "aws:username": caller.access_key,
        "aws:viaawsservice": "false",
    }
    keys: dict[str, tuple[str, ...]] = {name: (value,) for name, value in context.items()}
    tags = request.get("Tags")
    sent = [tag for tag in tags if isinstance(tag, Mapping)] if isinstance(tags, list) else []
    for tag in sent:
        keys[f"aws:requesttag/{tag.get('Key')}".lower()] = (str(tag.get("Value")),)
    removed = request.get("TagKeys")
    named = [tag.get("Key") for tag in sent] + (removed if isinstance(removed, list) else [])
    if named:
        keys["aws:tagkeys"] = tuple(map(str, named))
    return keys


def of_tags(tags: Mapping[str, str]) -> Context:
    """Return the tags of the resource that a request is on."""
    return {f"aws:resourcetag/{name}".lower(): (value,) for name, value in tags.items()}


def of_body(action: str, body: Any, table: Table, index: object = None) -> Context:
    """Return what a request, an action of a transaction or a batch does to the items of a table.

    Source: Developer Guide, condition keys of fine-grained access control. Assumed: a read
    without Select counts as the Select that it amounts to, a write as ReturnValues NONE.
    """
    bodies = [body] if isinstance(body, Mapping) else list(_writes(body))
    key = _key_of(table, index)
    context: dict[str, tuple[str, ...]] = {}
    for member in bodies:
        for name, value in (("ReturnConsumedCapacity", None), ("ReturnValues", "NONE")):
            sent = member.get(name, value if action in _RETURNS_VALUES else None)
            if isinstance(sent, str):
                context[f"dynamodb:{name}".lower()] = (sent,)
    keys = [values for member in bodies for values in _partition_keys(member, key)]
    names = [name for member in bodies for name in _attribute_names(member)]
    context.update(_of_keys(keys))
    if names:
        context["dynamodb:attributes"] = tuple(dict.fromkeys(names))
    if action in _RETURNS_ITEMS and bodies:
        context["dynamodb:select"] = (_select(bodies[0], index),)
    return context


def of_statement(text: str, parameters: Any, table: Table, index: object = None) -> Context:
    """Return what a PartiQL statement does to the items of a table."""
    try:
        bound = partiql.bind(text, partiql.load_parameters(parameters))
        statement = bound.statement
        if isinstance(statement, partiql.Exists):
            statement = statement.select
        names = list(_statement_names(bound.parsed))
        key = _key_of(table, index)
        ranges = None
        context: dict[str, tuple[str, ...]] = {}
        if isinstance(statement, partiql.Insert):
            assert bound.item is not None, "an INSERT has an item"
            names = list(bound.item.attributes)
            keys = list(_keys_of_items([bound.item.attributes], key))
        else:
            branches = partiql.branches_of(bound.parsed, key.names)
            if branches is not None:
                ranges = partiql.ranges_of(branches, bound.values, key)
            keys = [(span.partition,) for span in ranges or ()]
        if isinstance(statement, partiql.Select):
            specific = "ALL_ATTRIBUTES" if statement.columns is None else "SPECIFIC_ATTRIBUTES"
            context["dynamodb:select"] = (specific,)
            context["dynamodb:fulltablescan"] = (str(ranges is None).lower(),)
        context.update(_of_keys(keys))
        if names:
            context["dynamodb:attributes"] = tuple(dict.fromkeys(names))
    except _MALFORMED:
        return {}
    return context


def _statement_names(parsed: partiql.Parsed) -> Iterator[str]:
    """Yield the top-level attributes that a statement names."""
    statement = parsed.statement
    if isinstance(statement, partiql.Exists):
        statement = statement.select
    if isinstance(statement, partiql.Select) and statement.columns is not None:
        projection = statement.columns.projection
        yield from () if projection is None else projection.names
    trees: list[ast.Node] = [] if parsed.where is None else [parsed.where]
    if isinstance(statement, partiql.UpdateStatement):
        trees.append(statement.actions)
    for tree in trees:
        yield from _roots(tree, parsed.names)


def _roots(tree: ast.Node, names: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Path):
            root = str(node.parts[0])
            yield names.get(root, root)


def _key_of(table: Table, index: object) -> KeySchema:
    indexed = table.indexes.get(index) if isinstance(index, str) else None
    return table.key if indexed is None else indexed.schema.key


def _writes(body: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the puts and deletes of a BatchWriteItem on one table."""
    for write in body if isinstance(body, list) else ():
        for request in write.values() if isinstance(write, Mapping) else ():
            if isinstance(request, Mapping):
                yield request


def _attribute_names(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the top-level attributes that a body names."""
    for member in _BY_NAME:
        if isinstance(body.get(member), Mapping):
            yield from body[member]
    keys = body.get("Keys")
    for key in keys if isinstance(keys, list) else ():
        yield from key if isinstance(key, Mapping) else ()
    listed = body.get("AttributesToGet")
    for name in listed if isinstance(listed, list) else ():
        yield str(name)
    names = body.get("ExpressionAttributeNames")
    for member in _EXPRESSIONS:
        try:
            if body.get(member) is not None:
                yield from _roots(read(member, body[member]).root, names or {})
        except _MALFORMED:
            continue


def _partition_keys(body: Mapping[str, Any], key: KeySchema) -> Iterator[tuple[Value, ...]]:
    """Yield the partition keys of the items that a body is about."""
    keys = body.get("Keys")
    written = [body.get("Key"), body.get("Item"), *(keys if isinstance(keys, list) else ())]
    loaded = [_loaded(item, key) for item in written if isinstance(item, Mapping)]
    yield from _keys_of_items(loaded, key)
    if "KeyConditionExpression" in body or "KeyConditions" in body:
        try:
            entries = load_conditions(body.get("KeyConditions"))
            condition = (
                parse_key_condition(body["KeyConditionExpression"], load_placeholders(body))
                if entries is None
                else legacy_key_condition(entries)
            )
            yield condition.range(key).partition
        except _MALFORMED:
            return


def _loaded(item: Mapping[str, Any], key: KeySchema) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for attribute in key.partition:
        try:
            values[attribute.name] = load_value(item[attribute.name])
        except _MALFORMED:
            continue
    return values


def _keys_of_items(
    items: Iterable[Mapping[str, Value]], key: KeySchema
) -> Iterator[tuple[Value, ...]]:
    names = [attribute.name for attribute in key.partition]
    for item in items:
        if all(name in item for name in names):
            yield tuple(item[name] for name in names)


def _of_keys(keys: Sequence[tuple[Value, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the context keys that partition keys have: the first of them under two names."""
    for place, values in enumerate(zip(*keys, strict=False)):
        texts = tuple(dict.fromkeys(str(next(iter(dump_value(v).values()))) for v in values))
        yield _PARTITION_KEYS[place], texts
        if not place:
            yield "dynamodb:leadingkeys", texts


def _select(body: Mapping[str, Any], index: object) -> str:
    sent = body.get("Select")
    if isinstance(sent, str):
        return sent
    if body.get("ProjectionExpression") is not None or body.get("AttributesToGet") is not None:
        return "SPECIFIC_ATTRIBUTES"
    return "ALL_ATTRIBUTES" if index is None else "ALL_PROJECTED_ATTRIBUTES"
