"""Splits: partitions are divided for size, for heat and for growth, and never merged.

The capacity room decides where a hot partition is cut; here the cut is made: the map gets
children, the meter gives each full buckets, and what lies in them is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.engine.events import Split
from emulator.storage import HASH_SPACE, OrderedStore, Partition, Position

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
) -> None:
    """Replace a partition by children that begin at its low end and at each of ``lows``."""
    children = resource.partitions.split(partition, lows)
    resource.meter.close_partition(partition.id)
    resource.heat.forget(partition.id)
    for child in children:
        resource.meter.open_partition(child.id, now_ns)
        _count(table, resource, child)
    if account.events.wanted:
        ids = tuple(child.id for child in children)
        account.events.publish(Split(now_ns, resource.arn, partition.id, ids, cause))


def _count(table: Table, resource: Resource, partition: Partition) -> None:
    """Count what lies in a new partition: items, and the local index entries with them."""
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
    """Split every partition that has outgrown its size, where its bytes halve (CAP-504)."""
    for partition in list(resource.partitions):
        if partition.size_bytes >= account.settings.partition_bytes:
            low = _halving_position(table, resource, partition)
            if low is not None:
                divide(account, table, resource, partition, [low], "size", now_ns)


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


def grow(account: Account, table: Table, resource: Resource, count: int, now_ns: int) -> None:
    """Split until there are ``count`` partitions: hottest first, then widest, then lowest.

    Source: CAP-508, CAP-510.
    """
    demands = resource.meter.traffic.demands()
    while len(resource.partitions) < count:
        partition = max(
            resource.partitions,
            key=lambda candidate: (
                _weight(demands, candidate),
                _width(resource, candidate),
                -candidate.low[0],
            ),
        )
        low, high = resource.partitions.range_of(partition)
        middle = (low[0] + high[0] + 1) // 2
        if not low[0] < middle < high[0] + (len(high) > 1):
            return
        divide(account, table, resource, partition, [(middle,)], "growth", now_ns)


def _weight(demands: dict[int, tuple[float, float]], partition: Partition) -> float:
    """Return a partition's traffic of the last minute as Contributor Insights weighs it."""
    read, write = demands.get(partition.id, (0.0, 0.0))
    return 3 * write + read


def _width(resource: Resource, partition: Partition) -> int:
    low, high = resource.partitions.range_of(partition)
    width: int = min(high[0], HASH_SPACE) - low[0]
    return width
