"""Parts of answers that several operations share: items, costs, what a failure shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from emulator.capacity import Receipt, units
from emulator.engine.table import Table
from emulator.engine.writes import Planned
from emulator.errors import ConditionalCheckFailedException
from emulator.model import Item
from emulator.model.wire import WireItem, dump_item, dump_value
from emulator.storage import Position


def item(stored: Item) -> WireItem:
    """Return an item in wire form."""
    return dump_item(stored.attributes)


@contextmanager
def stored_item_on_failure(
    request: Mapping[str, Any], table: Table, position: Position
) -> Iterator[None]:
    """Add the stored item to a failed condition, if the request asks for it (OPC-3)."""
    try:
        yield
    except ConditionalCheckFailedException as failure:
        if request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
            stored = table.store.get(position)
            if stored is not None:
                failure.members["Item"] = item(stored)
        raise


def costs(request: Mapping[str, Any], planned: Planned) -> dict[str, Any]:
    """Return ConsumedCapacity and ItemCollectionMetrics of a single write, where asked for."""
    answer: dict[str, Any] = {}
    mode = request.get("ReturnConsumedCapacity")
    if mode is not None:
        answer.update(consumed(mode, request["TableName"], planned.receipt))
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        table = planned.write.table
        if table.has_local_indexes:
            metrics = collection_metrics(table, planned.write.position)
            answer["ItemCollectionMetrics"] = metrics
    return answer


def consumed(mode: str | None, table_name: str, receipt: Receipt) -> dict[str, Any]:
    """Return the ConsumedCapacity member of a single-table answer, or nothing (CAP-402)."""
    report = receipt.report(mode, table_name)
    return {} if report is None else {"ConsumedCapacity": report}


def consumed_by_table(mode: str | None, receipts: Iterable[tuple[str, Receipt]]) -> dict[str, Any]:
    """Return the ConsumedCapacity list of a batch or transaction, or nothing (CAP-404).

    Tables come in the order of their first appearance.
    """
    if mode is None or mode == "NONE":
        return {}
    by_table: dict[str, Receipt] = {}
    for table_name, receipt in receipts:
        total = by_table.get(table_name)
        if total is None:
            total = Receipt(receipt.axis, transactional=receipt.transactional)
            by_table[table_name] = total
        total.merge(receipt)
    reports = [total.report(mode, table_name) for table_name, total in by_table.items()]
    return {"ConsumedCapacity": reports}


def collection_metrics(table: Table, position: Position) -> dict[str, Any]:
    """Return the ItemCollectionMetrics of one collection (CAP-407, ICM-1)."""
    value = position[1]
    size_bytes = table.collection_bytes.get(value, 0)
    return {
        "ItemCollectionKey": {table.key.names[0]: dump_value(value)},
        "SizeEstimateRangeGB": units.collection_range_gb(size_bytes),
    }


def collection_metrics_by_table(
    request: Mapping[str, Any], written: Iterable[tuple[Table, Position]]
) -> dict[str, Any]:
    """Return the ItemCollectionMetrics map of a batch or transaction, or nothing (CAP-407)."""
    if request.get("ReturnItemCollectionMetrics") != "SIZE":
        return {}
    by_table: dict[str, dict[Any, dict[str, Any]]] = {}
    for table, position in written:
        if table.has_local_indexes:
            collections = by_table.setdefault(table.name, {})
            collections[position[1]] = collection_metrics(table, position)
    if not by_table:
        return {}
    return {
        "ItemCollectionMetrics": {
            name: list(collections.values()) for name, collections in by_table.items()
        }
    }
