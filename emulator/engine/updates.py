"""Changes of a table's throughput and indexes, as they take effect in the engine.

A change of a table (by UpdateTable or auto scaling) calls ``verify`` for everything first, so
that a refused change leaves nothing behind (CAP-618).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emulator.capacity import ONE, WRITE, prewarm_seconds, units
from emulator.clock import NANOSECONDS
from emulator.engine.resource import Prewarm, Resource, Throughput
from emulator.engine.splits import finish_prewarm, split_for_size
from emulator.storage import HASH_SPACE, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Index, Table

#: The bounds of a walk over a whole store.
EVERYWHERE: Final[tuple[Position, Position]] = ((0,), (HASH_SPACE,))


def verify_throughput(account: Account, resource: Resource, wanted: Throughput) -> None:
    """Refuse a decrease that comes too early; nothing is counted yet (CAP-618).

    Raises:
        LimitExceededException: see ``Decreases.verify``.
    """
    if _is_decrease(resource.throughput, wanted):
        resource.decreases.verify(account.now_seconds)


def change_throughput(
    account: Account, table: Table, resource: Resource, wanted: Throughput
) -> None:
    """Set what a table or index may consume, and grow its partitions (CAP-508, CAP-617)."""
    current = resource.throughput
    if _is_decrease(current, wanted):
        resource.decreases.decrease(account.now_seconds)
    elif not current.on_demand and not wanted.on_demand:
        resource.decreases.increase(account.now_seconds)
    account.set_throughput(table, resource, wanted)


def _is_decrease(current: Throughput, wanted: Throughput) -> bool:
    """Return whether either rate falls; a change of mode is none."""
    if current.on_demand or wanted.on_demand:
        return False
    return wanted.read < current.read or wanted.write < current.write


def prewarm(account: Account, table: Table, resource: Resource, read: int, write: int) -> None:
    """Begin to raise the warm throughput; it is there when the partitions are (CAP-509)."""
    wanted = units.partitions_for_warm(read, write)
    doubling_seconds = account.settings.prewarm_doubling_seconds
    seconds = prewarm_seconds(len(resource.partitions), wanted, doubling_seconds)
    resource.prewarm = Prewarm(account.now_ns + round(seconds * NANOSECONDS), read, write)
    finish_prewarm(account, table, resource)


def build_index(account: Account, table: Table, index: Index) -> None:
    """Fill an index that was added to a table, and say when it can be read (UT-10, UT-11).

    Assumed: entries are in place at once and cost nothing; with ``Settings.simulate_backfill`` the
    index owes their cost, and is ACTIVE when it has repaid it (CAP-1106).
    """
    settings, now_ns = account.settings, account.now_ns
    index.fill((item for _, item in table.store.walk(*EVERYWHERE)), now_ns)
    split_for_size(account, table, index.resource, account.throughput_ns)
    index.backfill_at_ns = now_ns + round(settings.table_delay * NANOSECONDS)
    index.active_at_ns = index.backfill_at_ns + round(settings.index_delay * NANOSECONDS)
    if settings.simulate_backfill:
        owed = _backfill_units(index, index.resource)
        index.active_at_ns += _owe(index.resource, owed, account.throughput_ns)
        account.metrics.add(
            "OnlineIndexConsumedWriteCapacity",
            sum(owed.values()),
            table=table.name,
            index=index.schema.name,
        )


def _backfill_units(index: Index, resource: Resource) -> dict[int, float]:
    """Return the units that writing every entry of a new index costs, by partition (CAP-1106)."""
    owed: dict[int, float] = {}
    for position, entry in index.store.walk(*EVERYWHERE):
        partition_id = resource.partitions.at(position).id
        arm = units.index_arm(None, entry.size_bytes, moved=False, identical=False)
        owed[partition_id] = owed.get(partition_id, 0) + arm
    return owed


def _owe(resource: Resource, owed: dict[int, float], now_ns: int) -> int:
    """Charge a backfill to the index's buckets, and return the nanoseconds to repay it."""
    buckets = [
        (resource.meter.partitions[partition_id][WRITE], due) for partition_id, due in owed.items()
    ]
    own = resource.meter.own[WRITE]
    if own is not None:
        buckets.append((own, sum(owed.values())))
    longest_ns = 0
    for bucket, due in buckets:
        bucket.refill(now_ns)
        bucket.take(int(due * ONE))
        longest_ns = max(longest_ns, -bucket.base // bucket.rate)
    return longest_ns
