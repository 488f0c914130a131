"""BatchWriteItem: up to twenty-five puts and deletes, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from emulator.capacity import WRITE, Reason, Receipt, batch_write_error
from emulator.engine import Account, Table
from emulator.engine.writes import Planned, Write, apply, plan
from emulator.model import Item, KeySchema, KeyValue, wire
from emulator.operations import responses, shapes
from emulator.operations.batch_get_item import DUPLICATES, BatchRequest
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import items, keys, vectors
from emulator.service import errors, limits
from emulator.service.wording import Wording
from emulator.storage import Position

# Observed: the public suite's sweeps, September and October 2026: the regions that use the newer
# words for an empty request come and go; us-east-1 and most others kept these (ERR-BWRITE-2).
NOTHING: Final = Wording("The requestItems parameter is required for BatchWriteItem")
TOO_MANY: Final = "Too many items requested for the BatchWriteItem call"
TOO_LARGE: Final = "The request exceeded the maximum size of 16777216 bytes"
COUNT_RULE: Final = (
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
    "Member must have length greater than or equal to 1]"
)

_WRITE_REQUESTS: Final = shapes.List(
    shapes.structure(
        "WriteRequest",
        PutRequest=shapes.structure("PutRequest", Item=shapes.ATTRIBUTE_MAP.required),
        DeleteRequest=shapes.structure("DeleteRequest", Key=shapes.ATTRIBUTE_MAP.required),
    )
)
#: The names of tables are judged apart, after the other members (ERR-BWRITE-1).
NAMED_TABLES: Final = shapes.Map(_WRITE_REQUESTS, key=shapes.TABLE_NAME)
SHAPE = BatchRequest(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ReturnItemCollectionMetrics": shapes.RETURN_ITEM_COLLECTION_METRICS,
        "RequestItems": shapes.Map(_WRITE_REQUESTS).required,
    },
    NOTHING,
)


class _WantedWrites(NamedTuple):
    """One request of the batch: an item to put, or the key of one to delete."""

    name: str
    written: Mapping[str, Any]
    item: Item
    is_put: bool


@operation("BatchWriteItem", shape=SHAPE)
def batch_write_item(account: Account, request: Request) -> Response:
    """Write the items that can be written; the rest come back as UnprocessedItems."""
    # The order is observable (ERR-BWRITE-1). All is validated before anything is applied.
    requested = request["RequestItems"]
    _tables_are_well_formed(requested)
    wanted = [_load(name, written) for name, requests in requested.items() for written in requests]
    for write_request in wanted:
        if write_request.is_put:
            items.item_fits(write_request.item)
    if sum(write_request.item.size_bytes for write_request in wanted) > limits.BATCH_WRITE_BYTES:
        raise errors.ValidationException(TOO_LARGE)
    tables = {name: account.table(name) for name in requested}
    writes = _writes(wanted, tables)

    written, undone, reasons = _serve(account, request, wanted, writes)
    if reasons and len(undone) == len(wanted):
        raise batch_write_error(reasons)
    response: Response = {"UnprocessedItems": {}}
    for write_request in undone:
        response["UnprocessedItems"].setdefault(write_request.name, []).append(
            write_request.written
        )
    # A table of which nothing was written is reported, too.
    receipts = [(name, Receipt(WRITE)) for name in requested]
    receipts += [(name, planned.receipt) for name, planned in written]
    mode = request.get("ReturnConsumedCapacity")
    response |= responses.consumed_by_table(mode, receipts)
    places = ((planned.write.table, planned.write.position) for _, planned in written)
    return response | responses.collection_metrics_by_table(request, places)


def _tables_are_well_formed(requested: Mapping[str, Any]) -> None:
    """Refuse bad table names, a table without requests, and more than 25 (ERR-BWRITE-2).

    Observed: dynalite's tests, run against the service: names and numbers are reported together.
    """
    problems: list[str] = []
    if not all(map(shapes.TABLE_NAME.accepts, requested)):
        problems += NAMED_TABLES.problems(requested, "requestItems")
    if not all(
        1 <= len(requests) <= limits.BATCH_WRITE_REQUESTS for requests in requested.values()
    ):
        shown = f"'{shapes.java_text(requested, NAMED_TABLES)}'"
        problems.append(shapes.CONSTRAINT.format(value=shown, path="requestItems", rule=COUNT_RULE))
    if problems:
        raise errors.RequestFault(shapes.envelope(*problems), is_final=True)
    if sum(map(len, requested.values())) > limits.BATCH_WRITE_REQUESTS:
        raise errors.ValidationException(TOO_MANY)


def _load(name: str, written: Mapping[str, Any]) -> _WantedWrites:
    """Load one request, which must be a put or a delete and not both (BWI-5).

    Assumed: neither is answered with the text for both, as by two other emulators.
    """
    put, delete = written.get("PutRequest"), written.get("DeleteRequest")
    if (put is None) == (delete is None):
        raise errors.ValidationException(wire.SEVERAL_TYPES)
    if put is not None:
        return _WantedWrites(name, written, wire.load_item(put["Item"]), is_put=True)
    assert delete is not None, "it is one of the two"
    return _WantedWrites(name, written, wire.load_item(delete["Key"]), is_put=False)


def _writes(wanted: list[_WantedWrites], tables: Mapping[str, Table]) -> list[Write]:
    """Return the writes, keys checked against the schema; no item twice (BWI-2, BWI-6).

    Assumed: one request after another is checked, as by three other emulators, DynamoDB Local
    among them.
    """
    touched: dict[tuple[str, Position], None] = {}
    for write_request in wanted:
        table = tables[write_request.name]
        item_at = table.name, table.position(_key_of(write_request, table.key))
        if item_at in touched:
            raise errors.ValidationException(DUPLICATES)
        touched[item_at] = None
    writes = []
    for write_request, (_, position) in zip(wanted, touched, strict=True):
        table = tables[write_request.name]
        new = write_request.item if write_request.is_put else None
        if new is not None and table.indexes:
            keys.index_keys_can_be_put(new, table.index_schemas)
        if new is not None and table.vectors is not None:
            vectors.vectors_can_be_put(table, new)
        writes.append(Write(table, position, _becomes(new), new=new))
    return writes


def _key_of(write_request: _WantedWrites, schema: KeySchema) -> tuple[KeyValue, ...]:
    """Return the key values of a request, or say what is wrong with them."""
    item = write_request.item
    if not write_request.is_put:
        return keys.key_of(item, schema)
    if schema.is_plain(item.attributes):
        return schema.values(item)
    return keys.key_of(item.pick(schema.names), schema)


def _becomes(new: Item | None) -> Callable[[Item | None], Item | None]:
    return lambda _: new


def _serve(
    account: Account,
    request: Request,
    wanted: list[_WantedWrites],
    writes: list[Write],
) -> tuple[list[tuple[str, Planned]], list[_WantedWrites], list[Reason]]:
    """Apply write after write; return those applied, those undone, and the reasons (CAP-610)."""
    written: list[tuple[str, Planned]] = []
    undone: list[_WantedWrites] = []
    reasons: list[Reason] = []
    skipped = account.faults.unprocessed(account, "BatchWriteItem", request, len(wanted))
    for number, (write_request, write) in enumerate(zip(wanted, writes, strict=True)):
        # Assumed: an item that a transaction holds is unprocessed: a batch has no such error.
        if number in skipped or account.holds.holds(account, write.table, write.position):
            undone.append(write_request)
            continue
        if write.table.replica is not None:
            account.network.regions.check_write(account, write.table.replica, write.position)
        planned = plan(write)
        refused = account.try_admit_write(planned)
        if refused:
            undone.append(write_request)
            reasons.extend(refused)
            continue
        apply(account, planned)
        written.append((write_request.name, planned))
    return written, undone, reasons
