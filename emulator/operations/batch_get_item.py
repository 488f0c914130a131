"""BatchGetItem: up to a hundred items by key, from any number of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from emulator.capacity import EVENTUAL, STRONG, Reason, Receipt, throttle_error
from emulator.engine import Account, Table
from emulator.engine.reads import Found, find
from emulator.expressions import PathProjection
from emulator.model import Item, wire
from emulator.operations import responses, shapes
from emulator.operations.get_item import CURRENT, LEGACY, load_projection
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import expressions, items, keys
from emulator.service import errors, limits
from emulator.service.wording import Wording
from emulator.storage import Position

NO_REQUEST_ITEMS: Final = shapes.envelope(
    shapes.NEWER_CONSTRAINT.format(path="RequestItems", rule=shapes.MIN_LENGTH.format(n=1))
)
NOTHING: Final = Wording(
    NO_REQUEST_ITEMS, older="The requestItems parameter is required for BatchGetItem"
)
TOO_MANY: Final = "Too many items requested for the BatchGetItem call"
DUPLICATES: Final = "Provided list of item keys contains duplicates"

REQUEST_ITEMS: Final = shapes.Map(
    shapes.structure(
        "KeysAndAttributes",
        Keys=shapes.List(shapes.ATTRIBUTE_MAP).required,
        AttributesToGet=shapes.ATTRIBUTES_TO_GET,
        ConsistentRead=shapes.BOOLEAN,
        ProjectionExpression=shapes.STRING,
        ExpressionAttributeNames=shapes.STRING_MAP,
    ),
    key=shapes.TABLE_NAME,
)


class BatchRequest(shapes.Structure):
    """A request for several tables; naming none is reported before any other fault.

    Args:
        members: As of a structure.
        nothing: The message for that (ERR-BGET-2, ERR-BWRITE-3).
    """

    def __init__(self, members: Mapping[str, shapes.Member], nothing: Wording) -> None:
        super().__init__(members)
        self._nothing = nothing

    def accepts(self, value: Any) -> bool:
        """Return whether all types and constraints hold, and a table is named."""
        return super().accepts(value) and value["RequestItems"] != {}

    def check(self, request: Any) -> Sequence[str]:
        """Refuse a faulty request: types, no table at all, then all broken constraints."""
        if request.get("RequestItems") == {}:
            self.check_types(request)
            raise errors.RequestFault(self._nothing, is_final=True)
        return super().check(request)


class _BatchGetRequest(BatchRequest):
    """A request whose tables the current layer echoes as JSON (ERR-BGET-4)."""

    def _refuse(self, request: Any, problems: list[tuple[shapes.Member, list[str]]]) -> None:
        texts = [text for _, own in problems for text in own]
        tables = request.get("RequestItems") or {}
        echo = json.dumps(tables, separators=(",", ":"), ensure_ascii=False, default=str)
        shown = shapes.java_text(tables, REQUEST_ITEMS)
        newer = [text.replace(shown, echo) for text in texts]
        wording = Wording(shapes.envelope(*newer), older=shapes.envelope(*texts))
        raise errors.RequestFault(wording, is_final=True)


SHAPE = _BatchGetRequest(
    {
        "RequestItems": REQUEST_ITEMS.required,
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
    },
    NOTHING,
)


class _WantedKeys(NamedTuple):
    """The keys wanted of one table."""

    name: str
    request: Mapping[str, Any]
    keys: list[Item]
    projection: PathProjection | None

    def shown(self, found: list[Item]) -> list[wire.WireItem]:
        """Return the projected attributes of items, in wire form."""
        pick = None if self.projection is None else self.projection.pick
        return [
            wire.dump_item(item.attributes if pick is None else pick(item.attributes))
            for item in found
        ]


class _Lookup(NamedTuple):
    """One key, with its table found."""

    wanted: _WantedKeys
    written_key: Any
    table: Table
    position: Position


@operation("BatchGetItem", shape=SHAPE)
def batch_get_item(account: Account, request: Request) -> Response:
    """Return the items found; keys that were not served come back as UnprocessedKeys."""
    # The order is observable (ERR-BGET-1).
    requested = request["RequestItems"]
    some_but_not_too_many(requested)
    _legacy_or_current_across_tables(requested)
    wanted = [_load(name, table_request) for name, table_request in requested.items()]
    tables = [account.table(of_table.name) for of_table in wanted]
    lookups = _look_up(wanted, tables)

    found: dict[str, list[Item]] = {name: [] for name in requested}
    receipts = {of_table.name: Receipt(0) for of_table in wanted}
    undone, reasons = _serve(account, request, lookups, found, receipts)
    if reasons and len(undone) == len(lookups):
        on_demand = tables[0].resource.throughput.on_demand
        raise throttle_error(tuple(dict.fromkeys(reasons)), on_demand=on_demand)
    response = _answer(wanted, found, sum(each.bytes_returned for each in receipts.values()))
    for lookup in undone:
        _unprocessed(response["UnprocessedKeys"], lookup)
    mode = request.get("ReturnConsumedCapacity")
    response.update(responses.consumed_by_table(mode, receipts.items()))
    return response


def some_but_not_too_many(requested: Mapping[str, Any]) -> None:
    """Refuse no keys of a table, and more than a hundred (ERR-BGET-3)."""
    for name, table_request in requested.items():
        count = len(table_request["Keys"])
        if 1 <= count <= limits.BATCH_GET_KEYS:
            continue
        rule = shapes.MIN_LENGTH.format(n=1)
        if count:
            rule = shapes.MAX_LENGTH.format(n=limits.BATCH_GET_KEYS)
        # Observed: the public suite, May 2026; both layers word it so.
        path = f"RequestItems.{name}.member.Keys"
        problem = shapes.NEWER_CONSTRAINT.format(path=path, rule=rule)
        raise errors.RequestFault(shapes.envelope(problem), is_final=True)
    if (
        sum(len(table_request["Keys"]) for table_request in requested.values())
        > limits.BATCH_GET_KEYS
    ):
        raise errors.ValidationException(TOO_MANY)


def _legacy_or_current_across_tables(requested: Mapping[str, Any]) -> None:
    """Refuse legacy parameters beside expressions, also of different tables (ERR-BGET-1)."""
    together: dict[str, Any] = {}
    for table_request in requested.values():
        together.update(table_request)
    expressions.parameters_are_legacy_or_current(together, LEGACY, CURRENT)


def _load(name: str, table_request: Mapping[str, Any]) -> _WantedKeys:
    expressions.placeholders_come_with_expressions(table_request, CURRENT, ())
    items.names_are_distinct(table_request.get("AttributesToGet"))
    projection = load_projection(table_request)
    loaded = [wire.load_item(key) for key in table_request["Keys"]]
    for key in loaded:
        wire.check_levels(key.levels)
    _no_key_twice(loaded)
    return _WantedKeys(name, table_request, loaded, projection)


def _no_key_twice(loaded: list[Item]) -> None:
    """Refuse the same key twice in a table (BGI-3), before the table is looked for.

    Assumed: the order, in which three other emulators agree, DynamoDB Local among them.
    """
    try:
        distinct = {frozenset(key.attributes.items()) for key in loaded}
    except TypeError:
        return  # a list or map is no key value: the schema refuses it
    if len(distinct) < len(loaded):
        raise errors.ValidationException(DUPLICATES)


def _look_up(wanted: list[_WantedKeys], tables: list[Table]) -> list[_Lookup]:
    """Find the position of every key, and hold the projection to the schema (QRY-7)."""
    lookups = []
    for of_table, table in zip(wanted, tables, strict=True):
        for key, written in zip(of_table.keys, of_table.request["Keys"], strict=True):
            position = table.position(keys.key_of(key, table.key))
            lookups.append(_Lookup(of_table, written, table, position))
        if of_table.projection is not None:
            keys.keys_are_scalars(of_table.projection.paths, table.key, table.index_schemas)
    return lookups


def _serve(
    account: Account,
    request: Request,
    lookups: list[_Lookup],
    found: dict[str, list[Item]],
    receipts: dict[str, Receipt],
) -> tuple[list[_Lookup], list[Reason]]:
    """Serve key after key; return those left undone, and why (CAP-610, CAP-213)."""
    undone: list[_Lookup] = []
    reasons: list[Reason] = []
    skipped = account.faults.unprocessed(account, "BatchGetItem", request, len(lookups))
    size_bytes = 0
    by_partition: dict[int, int] = {}
    for number, lookup in enumerate(lookups):
        read = _find(account, lookup)
        found_bytes = read.receipt.bytes_returned
        partition_bytes = by_partition.get(read.charge.partition_id, 0)
        if (
            number in skipped
            or size_bytes + found_bytes > limits.BATCH_GET_BYTES
            or (account.settings.batch_get_partition_limit and partition_bytes >= limits.MIB)
        ):
            undone.append(lookup)
            continue
        refused = account.try_admit(lookup.table, [read.charge], read.receipt)
        if refused:
            undone.append(lookup)
            reasons.extend(refused)
            continue
        size_bytes += found_bytes
        by_partition[read.charge.partition_id] = partition_bytes + found_bytes
        receipts[lookup.wanted.name].merge(read.receipt)
        if read.item is not None:
            found[lookup.wanted.name].append(read.item)
    return undone, reasons


def _answer(wanted: list[_WantedKeys], found: dict[str, list[Item]], size_bytes: int) -> Response:
    """Return the answer with the items found, in pieces if they are long."""
    if size_bytes <= responses.LONG_BYTES:
        shown = {each.name: each.shown(found[each.name]) for each in wanted}
        return {"Responses": shown, "UnprocessedKeys": {}}
    pieces = {each.name: responses.in_pieces(found[each.name], each.shown) for each in wanted}
    return responses.LongAnswer(Responses=pieces, UnprocessedKeys={})


def _find(account: Account, lookup: _Lookup) -> Found:
    consistent = lookup.wanted.request.get("ConsistentRead", False)
    return find(
        account,
        lookup.table,
        lookup.position,
        consistent=consistent,
        factor=STRONG if consistent else EVENTUAL,
    )


def _unprocessed(answer: dict[str, Any], lookup: _Lookup) -> None:
    """Give a key back in the form it came, with the table's other parameters (BGI-5)."""
    wanted = lookup.wanted
    if wanted.name not in answer:
        answer[wanted.name] = {**wanted.request, "Keys": []}
    answer[wanted.name]["Keys"].append(lookup.written_key)
