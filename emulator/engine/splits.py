"""Splits: partitions are divided for size, for heat and for growth, and never merged.

The capacity room decides where a hot partition is cut; here the cut is made: the map gets
children, the meter gives each full buckets, and what lies in them is counted.
"""

from __future__ import annotations

from heapq import heapify, heappush, heapreplace
from typing import TYPE_CHECKING

from emulator.engine.events import Split
from emulator.storage import OrderedStore, Partition, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.resource import Resource
    from emulator.engine.table import Table


def divide(
    account: Account,
    table: Table,
    resource: Resource,
    partition: Partition,
    lows: list[Position],
    cause: str,
    now_ns: int,
) -> list[Partition]:
    """Replace a partition by children that begin at its low end and at each of ``lows``."""
    children = resource.partitions.split(partition, lows)
    resource.meter.close_partition(partition.id)
    resource.heat.forget(partition.id)
    for child in children:
        resource.meter.open_partition(child.id, now_ns)
        _count(table, resource, child)
    if not resource.is_table:
        table.indexes[resource.name].recharge_queue()
    elif table.stream is not None:
        table.stream.split_shard(partition.id, [child.id for child in children], account.now_ns)
    if account.events.wanted:
        ids = tuple(child.id for child in children)
        account.events.publish(Split(now_ns, resource.arn, partition.id, ids, cause))
    return children


def _count(table: Table, resource: Resource, partition: Partition) -> None:
    """Count the items in a new partition, and the local index entries with them."""
    low, high = resource.partitions.range_of(partition)
    for position, item in store_of(table, resource).walk(low, high):
        resource.partitions.count(position, item.size_bytes, 1)
        if resource.is_table:
            for index in table.local_indexes:
                entry = index.schema.entry(item)
                if entry is not None:
                    resource.partitions.count(position, entry.size_bytes, 1)


def store_of(table: Table, resource: Resource) -> OrderedStore:
    """Return the items or entries that a resource holds."""
    return table.store if resource.is_table else table.indexes[resource.name].store


def split_for_size(account: Account, table: Table, resource: Resource, now_ns: int) -> None:
    """Split every partition that has outgrown its size, where its bytes halve (CAP-504).

    A partition that is many times too large, such as that of an index which was just built, is
    split until its children fit.
    """
    waiting = list(resource.partitions)
    while waiting:
        partition = waiting.pop()
        if partition.size_bytes >= account.settings.partition_bytes:
            low = _halving_position(table, resource, partition)
            if low is not None:
                children = divide(account, table, resource, partition, [low], "size", now_ns)
                waiting.extend(children)


def _halving_position(table: Table, resource: Resource, partition: Partition) -> Position | None:
    """Return where to cut a partition in half; with local indexes, between collections only."""
    low, high = resource.partitions.range_of(partition)
    bound = resource.is_table and table.has_local_indexes
    held = list(store_of(table, resource).walk(low, high))
    total = sum(item.size_bytes for _, item in held)
    before = 0
    best: tuple[int, Position] | None = None
    for number, (position, item) in enumerate(held):
        if number and (not bound or position[:2] != held[number - 1][0][:2]):
            distance = abs(2 * before - total)
            if best is None or distance < best[0]:
                cut = position[:2] if bound else position
                best = (distance, cut)
        before += item.size_bytes
    return None if best is None else best[1]


def grow(account: Account, table: Table, resource: Resource, now_ns: int, least: int = 1) -> None:
    """Halve the widest range of hashes until every partition can serve its share of the promise.

    A resource then serves the units per second that it promises, for evenly spread keys and
    whatever its history (CAP2-1). Its size may ask for more partitions: ``least`` (CAP-502).

    Source: DG, warm throughput. Assumed: that it is cut in the middle.
    """
    most = resource.widest_range
    if max(resource.partitions.widths()) <= most and len(resource.partitions) >= least:
        return
    ranges = [_by_width(resource, partition) for partition in resource.partitions]
    heapify(ranges)
    while -ranges[0][0] > most or len(ranges) < least:
        partition = ranges[0][-1]
        low, high = resource.partitions.range_of(partition)
        middle = (low[0] + high[0] + 1) // 2
        if middle <= low[0]:
            return
        children = divide(account, table, resource, partition, [(middle,)], "growth", now_ns)
        heapreplace(ranges, _by_width(resource, children[0]))
        heappush(ranges, _by_width(resource, children[1]))


def finish_prewarm(account: Account, table: Table, resource: Resource) -> None:
    """Raise the warm throughput that was asked for, if it is time."""
    pending = resource.prewarm
    if pending is not None and pending.due_ns <= account.now_ns:
        resource.prewarm = None
        resource.growth.raise_to(pending.read, pending.write)
        grow(account, table, resource, account.throughput_ns)


def _by_width(resource: Resource, partition: Partition) -> tuple[int, int, int, Partition]:
    """Return a partition behind its place in the order: the widest first, then the lowest."""
    width = resource.partitions.width(partition)
    return -width, partition.low[0], partition.id, partition
