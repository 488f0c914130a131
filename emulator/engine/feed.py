"""Traffic that an engine did not serve: the one way to report it.

A simulation works out in numbers what partitions consumed, refused and hold. Reported here, it
makes the engine grow, split and scale by its own rules, as if it had served every request.
Nothing else outside this package writes into an account's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from emulator.capacity.traffic import CONSUMED, THROTTLED, THROTTLES, WRITES, Minute
from emulator.clock import NANOSECONDS
from emulator.engine.account import Account
from emulator.engine.resource import Resource
from emulator.engine.splits import grow, split_for_size, store_of
from emulator.engine.table import Table
from emulator.engine.writes import place
from emulator.model import Item
from emulator.storage import Position


class ReportedAccess(NamedTuple):
    """Accesses to one position.

    Attributes:
        position: Whose key was accessed.
        consumed: Units served, in the weight of ``capacity.traffic``.
        refused: Units that its partition refused, likewise.
        writes: How many writes were served.
        in_order: Whether each write lay above those before it in its item collection.
    """

    position: Position
    consumed: float
    refused: float
    writes: float
    in_order: bool


class TrafficFeed:
    """Reports traffic and contents to one account.

    >>> from emulator import Emulator
    >>> from emulator.capacity import WRITE
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST",
    ...     "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    ...     "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]})
    >>> account = emu.account()
    >>> resource = account.tables["tab"].resource
    >>> feed = TrafficFeed(account)
    >>> feed.report_loads(resource, WRITE, [60.0, 0, 0, 0], [6.0, 0, 0, 0], [60.0, 0, 0, 0])
    >>> resource.meter.traffic.consumed(WRITE), resource.meter.traffic.throttled(WRITE)
    (60.0, 6.0)
    """

    def __init__(self, account: Account) -> None:
        self._account = account

    def leave_metrics_out(self) -> None:
        """Stop counting units and refusals as metrics, which a simulation does not read."""
        for table in self._account.tables.values():
            for resource in table.resources():
                resource.meter.series = None

    # Contents

    def put(self, table: Table, position: Position, item: Item) -> None:
        """Store an item free of charge, with its index entries."""
        place(self._account, table, position, item)

    def report_contents(
        self, resource: Resource, sizes: Iterable[int], items: Iterable[int]
    ) -> None:
        """Set the billed bytes and the number of items of every partition, in key order."""
        for partition, size, count in zip(resource.partitions, sizes, items, strict=True):
            partition.size_bytes = size
            partition.items = count

    def split_for_size(
        self, table: Table, resource: Resource, stand_ins: Sequence[tuple[Position, float]]
    ) -> None:
        """Split what is too large, as if items of these sizes lay there.

        The stand-ins are gone afterwards, and so are the sizes of partitions that were split:
        report the contents again.
        """
        store = store_of(table, resource)
        for position, size in stand_ins:
            store.put(position, Item({}, round(size)))
        split_for_size(self._account, table, resource, self._account.throughput_ns)
        for position, _ in stand_ins:
            store.remove(position)

    def fit_partitions(self) -> None:
        """Give every table and index as many partitions as its contents and settings need."""
        for table in self._account.tables.values():
            for resource in table.resources():
                self._account.set_throughput(table, resource, resource.throughput)

    def give_history(
        self,
        table: Table,
        resource: Resource,
        *,
        partitions: int,
        warm: tuple[int, int],
        burst_share: float | None,
    ) -> None:
        """Let a new table or index be as its life so far has left it (CAP2-10).

        Args:
            table: The table.
            resource: It, or one of its global indexes.
            partitions: The least number of partitions.
            warm: Read and write units per second that it can serve at once.
            burst_share: The share of its reserve for bursts that it has; None for what it has.
        """
        resource.growth.raise_to(*warm)
        grow(self._account, table, resource, self._account.now_ns, least=partitions)
        if burst_share is not None:
            resource.meter.fill_reserves(burst_share)

    def set_reserve(self, resource: Resource, axis: int, share: float) -> None:
        """Set how much of its reserve for bursts a table or index has on an axis, if it has one."""
        bucket = resource.meter.own[axis]
        if bucket is not None:
            bucket.refill(self._account.throughput_ns)
            bucket.fill_reserve(share)

    # Traffic

    def report_loads(
        self,
        resource: Resource,
        axis: int,
        consumed: Iterable[float],
        refused: Iterable[float],
        demand: Iterable[float],
        partitions: Iterable[int] | None = None,
    ) -> None:
        """Set what partitions had to do in the running minute.

        Args:
            resource: The table or index.
            axis: ``READ`` or ``WRITE``.
            consumed: Units served.
            refused: Units refused, by whatever limit.
            demand: Units that reached the partition (CAP2-2).
            partitions: The ids of those partitions; by default all of them, in key order.
        """
        loads = resource.meter.traffic.loads
        if partitions is None:
            partitions = [partition.id for partition in resource.partitions]
        amounts = zip(partitions, consumed, refused, demand, strict=True)
        for partition_id, taken, lost, reached in amounts:
            load = loads[partition_id][axis]
            load.consumed = taken
            load.throttled = lost
            load.heat = reached - taken

    def report_accesses(self, resource: Resource, accesses: Iterable[ReportedAccess]) -> None:
        """Show where the traffic of hot partitions went lately, for splits that come later."""
        resource.heat.forget_old(self._account.now_ns // NANOSECONDS)
        resource.heat.keep(self._minute(accesses))

    def answer_for_accesses(
        self, resource: Resource, accesses_of: Callable[[int], Iterable[ReportedAccess]] | None
    ) -> None:
        """Show where the traffic of a partition went lately when it is to be split.

        Args:
            resource: The table or index.
            accesses_of: Called with the id of the partition; None to stop.
        """
        resource.heat.traffic_of = (
            None if accesses_of is None else lambda number: self._minute(accesses_of(number))
        )

    def _minute(self, accesses: Iterable[ReportedAccess]) -> Minute:
        minute = Minute(self._account.now_ns // NANOSECONDS)
        for position, consumed, refused, writes, in_order in accesses:
            amounts = minute.accesses.setdefault(position, [0.0, 0.0, 0.0, 0.0])
            amounts[CONSUMED] += consumed
            amounts[THROTTLED] += refused
            amounts[WRITES] += writes
            amounts[THROTTLES] += float(refused > 0)
            if writes:
                ups, downs = minute.records.get(position, (0, 0))
                minute.records[position] = (ups + round(writes) if in_order else ups, downs)
        return minute

    def advance(self, now_ns: int) -> None:
        """Move to a moment; minutes that end on the way are closed with what was reported."""
        self._account.reach(now_ns)

    def forget_receipts(self) -> None:
        """Drop the receipts of calls made below the API, which are never read."""
        self._account.receipts.clear()
