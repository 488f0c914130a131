"""Reads: single items and pages.

A page is walked first and priced by the bytes evaluated, before any filter (CAP-204); then
it is admitted whole or not at all (CAP-612).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from emulator.capacity import EVENTUAL, READ, STRONG, Charge, Receipt
from emulator.capacity.units import fetch_units, read_cost, whole_blocks
from emulator.model import Item
from emulator.service import limits
from emulator.storage import TOP, OrderedStore, Partition, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.resource import Resource
    from emulator.engine.table import Index, Table


#: How many items are taken from the store at a time.
_STEP: Final = 256
_size_of: Final = attrgetter("size_bytes")


class Found(NamedTuple):
    """The item under a key, or None, with its receipt and its charge."""

    item: Item | None
    receipt: Receipt
    charge: Charge


def find(
    account: Account, table: Table, position: Position, *, consistent: bool, factor: float
) -> Found:
    """Look an item up and price the read; nothing is admitted yet."""
    store = table.store
    if table.view is not None:
        store = table.visible(account.now_ns, consistent=consistent)
    item = store.get(position)
    size_bytes, returned = (0, 0) if item is None else (item.size_bytes, 1)
    blocks, loss = read_cost(size_bytes)
    units = blocks * factor
    receipt = Receipt(READ, units, size_bytes, size_bytes, 1, returned, loss)
    if factor > STRONG:
        receipt.transactional = True
    charge = table.resource.charge(READ, units, position)
    if factor == EVENTUAL and table.settings.eventual_read_factor != 1:
        [charge] = _spread([charge], table)
    receipt.charges = (charge,)
    return Found(item, receipt, charge)


def get(account: Account, table: Table, position: Position, *, consistent: bool) -> Found:
    """Read one item (CAP-201)."""
    factor = STRONG if consistent else EVENTUAL
    reading = find(account, table, position, consistent=consistent, factor=factor)
    account.admit(table, reading.receipt.charges, reading.receipt)
    return reading


class PageRequest(NamedTuple):
    """Which page of a table or index to read.

    Attributes:
        table: The table.
        secondary: The index, or None for the table itself.
        low: First position of the range.
        high: First position after the range.
        start: The position after which to go on, or None.
        reverse: Read towards lower positions.
        limit: Most items to evaluate, or None.
        consistent: Strongly consistent.
        fetch: Also read the base item of each local index entry (CAP-210).
        key: The position prefix that a Query names, None for a Scan (CAP-805).
    """

    table: Table
    secondary: Index | None
    low: Position
    high: Position
    start: Position | None = None
    reverse: bool = False
    limit: int | None = None
    consistent: bool = False
    fetch: bool = False
    key: Position | None = None


class Page(NamedTuple):
    """The items evaluated, before any filter, and where to go on."""

    items: list[Item]
    last: Item | None
    receipt: Receipt


def read_page(account: Account, request: PageRequest) -> Page:
    """Walk one page, price it, and ask for admission (CAP-206, CAP-612)."""
    page, charges = plan_page(account, request)
    account.admit(request.table, charges, page.receipt)
    return page


def plan_page(account: Account, request: PageRequest) -> tuple[Page, list[Charge]]:
    """Walk one page and price it; the charges have to be admitted before it is handed over."""
    table, index = request.table, request.secondary
    if index is None:
        store = table.visible(account.now_ns, consistent=request.consistent)
    elif request.consistent:
        store = index.store
    else:
        store = index.visible(account.now_ns)
    base = table.visible(account.now_ns, consistent=request.consistent) if request.fetch else None
    walked = _walk(store, request, base)
    receipt, charges = _price(account, request, walked)
    receipt.charges = charges
    last = walked.items[-1] if walked.cut else None
    items = walked.base_items if request.fetch else walked.items
    return Page(items, last, receipt), charges


class _Walked(NamedTuple):
    """The items that a walk met."""

    positions: list[Position]
    items: list[Item]
    base_items: list[Item]
    size_bytes: int
    cut: bool


def _walk(store: OrderedStore, request: PageRequest, base: OrderedStore | None) -> _Walked:
    """Walk a page: to the limit, to the page size, or to the end (CAP-206)."""
    low, high = request.low, request.high
    if request.start is not None:
        if request.reverse:
            high = min(high, request.start)
        else:
            low = max(low, after(request.start))
    if base is not None:
        return _walk_fetching(store.walk(low, high, reverse=request.reverse), request, base)
    positions: list[Position] = []
    items: list[Item] = []
    size_bytes = 0
    left = request.limit if request.limit is not None else sys.maxsize
    coming = store.positions(low, high, reverse=request.reverse)
    while left:
        step = min(left, _STEP)
        next_positions = list(islice(coming, step))
        next_items = store.items_at(next_positions)
        next_bytes = sum(map(_size_of, next_items))
        if size_bytes + next_bytes >= limits.PAGE_BYTES:
            kept, next_bytes = _up_to_the_page(next_items, limits.PAGE_BYTES - size_bytes)
            positions += next_positions[:kept]
            items += next_items[:kept]
            return _Walked(positions, items, [], size_bytes + next_bytes, cut=True)
        positions += next_positions
        items += next_items
        size_bytes += next_bytes
        left -= len(next_items)
        if len(next_items) < step:
            return _Walked(positions, items, [], size_bytes, cut=False)
    return _Walked(positions, items, [], size_bytes, cut=True)


def _up_to_the_page(items: list[Item], room: int) -> tuple[int, int]:
    """Return how many items fill the room, the one that crosses it included, and their bytes."""
    size_bytes = 0
    for number, item in enumerate(items, start=1):
        size_bytes += item.size_bytes
        if size_bytes >= room:
            return number, size_bytes
    raise AssertionError("the items do not fill the page")


def _walk_fetching(
    entries: Iterator[tuple[Position, Item]], request: PageRequest, base: OrderedStore
) -> _Walked:
    """Walk a local index with its base items; both count, in whole blocks (CAP-210)."""
    positions: list[Position] = []
    items: list[Item] = []
    base_items: list[Item] = []
    size_bytes = fetched_bytes = 0
    for position, item in entries:
        positions.append(position)
        items.append(item)
        size_bytes += item.size_bytes
        whole = base.get(request.table.position_of(item))
        assert whole is not None, "a local index entry has its item"
        base_items.append(whole)
        fetched_bytes += whole_blocks(whole.size_bytes)
        full = whole_blocks(size_bytes) + fetched_bytes >= limits.PAGE_BYTES
        if full or len(items) == request.limit:
            return _Walked(positions, items, base_items, size_bytes, cut=True)
    return _Walked(positions, items, base_items, size_bytes, cut=False)


def after(position: Position) -> Position:
    """Return the least bound above a position."""
    return (*position, TOP)


def _price(account: Account, request: PageRequest, walked: _Walked) -> tuple[Receipt, list[Charge]]:
    """Price a page: its bytes per partition, and the items it fetched (CAP-204, 210, 212)."""
    table, index = request.table, request.secondary
    factor = STRONG if request.consistent else EVENTUAL
    resource = table.resource if index is None else index.resource
    parts = _bytes_by_partition(resource, request, walked)
    if len(parts) > 1 and not account.settings.scan_partition_minimum:
        parts = [(parts[0][0], walked.size_bytes)]
    charges: list[Charge] = []
    total: float = 0
    lost_bytes = 0
    for partition, size_bytes in parts:
        blocks, loss = read_cost(size_bytes)
        total += blocks * factor
        lost_bytes += loss
        charges.append(Charge(resource.meter, partition.id, READ, blocks * factor, request.key))
    read_bytes, count = walked.size_bytes, len(walked.items)
    receipt = Receipt(READ, 0.0, read_bytes, read_bytes, count, count, lost_bytes)
    if index is None:
        receipt.table = total
    elif index.schema.is_global:
        receipt.gsi[index.schema.name] = total
    else:
        receipt.lsi[index.schema.name] = total
    if walked.base_items:
        receipt.table = fetch_units((item.size_bytes for item in walked.base_items), factor)
        for item in walked.base_items:
            units = fetch_units((item.size_bytes,), factor)
            charges.append(table.resource.charge(READ, units, table.position_of(item)))
    if not request.consistent and table.settings.eventual_read_factor != 1:
        charges = _spread(charges, table)
    return receipt, charges


def _spread(charges: list[Charge], table: Table) -> list[Charge]:
    """Return the charges of eventually consistent reads, which several copies share (CAP2-6).

    Observed: 1.5 times a partition's rate, once (MEA-10). Assumed: that a mixture of reads is
    linear, and by default that nothing is shared (``Settings.eventual_read_factor``).
    """
    factor = table.settings.eventual_read_factor
    return [charge._replace(partition_units=charge.units / factor) for charge in charges]


def _bytes_by_partition(
    resource: Resource, request: PageRequest, walked: _Walked
) -> list[tuple[Partition, int]]:
    """Return the partitions a page touched, in order, with the bytes evaluated in each.

    Touched are those from the start position to where the page ended (CAP-212).
    """
    low, high, partitions = request.low, request.high, resource.partitions
    touched = partitions.between(low, high)
    if len(touched) == 1:  # the whole range lies in it, as that of nearly every Query does
        return [(touched[0], walked.size_bytes)]
    if request.start is not None:
        low, high = (low, request.start) if request.reverse else (request.start, high)
    if walked.cut:
        end = walked.positions[-1]
        low, high = (end, high) if request.reverse else (low, after(end))
    touched = partitions.between(low, high)
    if len(touched) == 1:
        return [(touched[0], walked.size_bytes)]
    sizes = {partition.id: 0 for partition in touched}
    for position, item in zip(walked.positions, walked.items, strict=True):
        sizes[partitions.at(position).id] += item.size_bytes
    return [(partition, sizes[partition.id]) for partition in touched]
