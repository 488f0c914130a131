"""Parts of answers that several operations share: items, costs, what a failure shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from emulator.capacity import Receipt, units
from emulator.model import Item, wire
from emulator.service import limits
from emulator.service.errors import ApiError
from emulator.storage import Position

if TYPE_CHECKING:
    from emulator.engine import Table
    from emulator.engine.writes import Planned

Part = TypeVar("Part")

#: An answer with more bytes of items is a long one: it takes milliseconds to write.
LONG_BYTES: Final = 64 * limits.KIB
#: About the bytes of each piece in which the items of a long answer come.
PIECE_BYTES: Final = 16 * limits.KIB


class LongAnswer(dict[str, Any]):
    """An answer whose lists of items come in pieces: each is an iterator of lists, to use once.

    A piece is brought into wire form when it is asked for. Stored items never change, so that may
    be at any later time, and others can be served between two pieces.

    >>> LongAnswer(Items=iter([["a", "b"], ["c"]]), Count=3).whole()
    {'Items': ['a', 'b', 'c'], 'Count': 3}
    """

    def whole(self) -> dict[str, Any]:
        """Return the answer with whole lists; the pieces are used up then."""
        return {name: _whole(value) for name, value in self.items()}


def _whole(value: Any) -> Any:
    if isinstance(value, Iterator):
        return list(chain.from_iterable(value))
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    return value


def in_pieces(
    stored: Iterable[Item], show: Callable[[list[Item]], list[wire.WireItem]]
) -> Iterator[list[wire.WireItem]]:
    """Yield items as ``show`` brings them into wire form, some at a time."""
    return measured_in_pieces(((each, each.size_bytes) for each in stored), show)


def measured_in_pieces(
    measured: Iterable[tuple[Part, int]], show: Callable[[list[Part]], list[dict[str, Any]]]
) -> Iterator[list[dict[str, Any]]]:
    """Yield parts of an answer, each given with its bytes, as ``show`` brings them into form."""
    piece: list[Part] = []
    size_bytes = 0
    for each, each_bytes in measured:
        piece.append(each)
        size_bytes += each_bytes
        if size_bytes >= PIECE_BYTES:
            yield show(piece)
            piece, size_bytes = [], 0
    if piece:
        yield show(piece)


def listing(
    member: str,
    parts: list[Part],
    sizes: list[int],
    show: Callable[[list[Part]], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return an answer that is one list: in pieces if its parts, given with their bytes, are many.

    >>> listing("Records", ["a"], [1], lambda some: [{"name": each} for each in some])
    {'Records': [{'name': 'a'}]}
    """
    if sum(sizes) > LONG_BYTES:
        return LongAnswer({member: measured_in_pieces(zip(parts, sizes, strict=True), show)})
    return {member: show(parts)}


def item(stored: Item) -> wire.WireItem:
    """Return an item in wire form."""
    return wire.dump_item(stored.attributes)


def shows_old(request: Mapping[str, Any]) -> bool:
    """Return whether a failed condition is to show the stored item (OPC-3)."""
    return request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


def dump_items(error: ApiError) -> None:
    """Bring the items that an error carries into wire form (OPC-3, TXW-7)."""
    for members in (error.members, *error.members.get("CancellationReasons", ())):
        stored = members.get("Item")
        if isinstance(stored, Item):
            members["Item"] = item(stored)


def written(
    request: Mapping[str, Any], planned: Planned, attributes: wire.WireItem | None
) -> dict[str, Any]:
    """Return the answer to a single write: attributes, if any, and costs where asked for."""
    response: dict[str, Any] = {} if attributes is None else {"Attributes": attributes}
    mode = request.get("ReturnConsumedCapacity")
    if mode is not None:
        response.update(consumed(mode, request["TableName"], planned.receipt))
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        table = planned.write.table
        if table.has_local_indexes:
            metrics = collection_metrics(table, planned.write.position)
            response["ItemCollectionMetrics"] = metrics
    return response


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
        "ItemCollectionKey": {table.key.names[0]: wire.dump_value(value)},
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
