"""Looking inside: tables, live partitions and the keys that load them (CAP-804, CAP-806)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emulator.capacity import READ, WRITE, InsightsReport, WaitingChange
from emulator.capacity.traffic import CONSUMED, THROTTLES
from emulator.clock import NANOSECONDS
from emulator.engine.snapshot import Snapshot
from emulator.service.errors import EmulatorError
from emulator.storage import Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.namespaces import Namespace
    from emulator.engine.resource import Resource
    from emulator.engine.table import Index, Table


_MINUTE_SECONDS: Final = 60


class PartitionView(NamedTuple):
    """One partition as it is now; units are of its whole life unless said otherwise.

    Attributes:
        id: Unique within its table or index, in order of creation.
        low: The first position it holds: hash, then key values.
        high: The first position after it.
        size_bytes: Billed bytes.
        items: Items and local index entries.
        read_tokens: Read units at hand.
        write_tokens: Write units at hand; negative while in debt.
        consumed_read: Read units admitted.
        consumed_write: Write units admitted.
        throttled_read: Read units refused, or in "observe" to be refused.
        throttled_write: Write units refused, likewise.
        peak_read: Most read units admitted within one second.
        peak_write: Most write units admitted within one second.
        splits: Splits between it and the first partitions.
        waiting_write: Write units that wait for it; of a global index only (CAP2-4).
        oldest_wait: Seconds that the oldest of them has waited, 0 if none does.
    """

    id: int
    low: Position
    high: Position
    size_bytes: int
    items: int
    read_tokens: float
    write_tokens: float
    consumed_read: float
    consumed_write: float
    throttled_read: float
    throttled_write: float
    peak_read: float
    peak_write: float
    splits: int
    waiting_write: float = 0.0
    oldest_wait: float = 0.0


class Backlog(NamedTuple):
    """The changes that wait for a global index, and their effect (CAP2-4).

    Attributes:
        units: Write units that wait.
        buffer: Write units at which the index closes, and refuses every write to its table.
        oldest_wait: Seconds that the oldest change has waited: how far behind the index is.
        is_closed: Whether writes are refused now.
        closes_in: Seconds until the index closes if the backlog grows as it did since something
            began to wait; None if it has not had the time to, or nothing came in the last minute.
    """

    units: float
    buffer: float
    oldest_wait: float
    is_closed: bool
    closes_in: float | None


class HotKey(NamedTuple):
    """A partition key of the running minute.

    Attributes:
        key: Its values.
        accessed: ``3 * write units + read units`` that were admitted, as in Contributor Insights.
        throttled: Operations that were, or in "observe" would have been, refused.
    """

    key: tuple[Any, ...]
    accessed: float
    throttled: int


class NamespaceView(NamedTuple):
    """Whose data it is, and how much.

    Attributes:
        namespace: An access key in a region; the key is None for what every key sees.
        tables: The names of its tables.
        entries: Items, and entries of indexes.
        size_bytes: Billed bytes of the tables and of their global indexes.
    """

    namespace: Namespace
    tables: list[str]
    entries: int
    size_bytes: int


def namespace_of(account: Account) -> NamespaceView:
    """Return the tables, items and bytes of an account."""
    partitions = [
        partition
        for table in account.tables.values()
        for resource in table.resources()
        for partition in resource.partitions
    ]
    return NamespaceView(
        account.namespace,
        sorted(account.tables),
        sum(partition.items for partition in partitions),
        sum(partition.size_bytes for partition in partitions),
    )


def table_of(account: Account, name: str) -> Table:
    """Return a table.

    Raises:
        EmulatorError: there is none of that name.
    """
    table = account.tables.get(name)
    if table is None:
        raise EmulatorError(f"there is no table {name!r} in {account.region}: create it first")
    return table


def index_of(account: Account, table: str, index: str) -> Index:
    """Return a global index.

    Raises:
        EmulatorError: there is no such table or global index.
    """
    secondary = table_of(account, table).indexes.get(index)
    if secondary is None or not secondary.schema.is_global:
        raise EmulatorError(
            f"table {table!r} has no global index {index!r}: local indexes share the table's "
            "partitions"
        )
    return secondary


def resource_of(account: Account, table: str, index: str | None) -> Resource:
    """Return the resource of a table, or of one of its global indexes.

    Raises:
        EmulatorError: there is no such table or global index.
    """
    if index is None:
        return table_of(account, table).resource
    return index_of(account, table, index).resource


def partitions_of(account: Account, table: str, index: str | None) -> list[PartitionView]:
    """Return the partitions of a table or global index, in position order.

    Raises:
        EmulatorError: there is no such table or global index.
    """
    resource = resource_of(account, table, index)
    lanes = {} if index is None else index_of(account, table, index).queue.lanes
    views = []
    for partition in resource.partitions:
        low, high = resource.partitions.range_of(partition)
        read_tokens, write_tokens = resource.meter.tokens(partition.id, account.throughput_ns)
        loads = resource.meter.traffic.loads[partition.id]
        read, write = loads[READ], loads[WRITE]
        waiting = lanes.get(partition.id, ())
        views.append(
            PartitionView(
                id=partition.id,
                low=low,
                high=high,
                size_bytes=partition.size_bytes,
                items=partition.items,
                read_tokens=read_tokens,
                write_tokens=write_tokens,
                consumed_read=read.total_consumed + read.consumed,
                consumed_write=write.total_consumed + write.consumed,
                throttled_read=read.total_throttled + read.throttled,
                throttled_write=write.total_throttled + write.throttled,
                peak_read=read.peak,
                peak_write=write.peak,
                splits=partition.splits,
                waiting_write=sum(change.units_of(partition.id) for change in waiting),
                oldest_wait=_wait(account, waiting[0]) if waiting else 0.0,
            )
        )
    return views


def backlog_of(account: Account, table: str, index: str) -> Backlog:
    """Return the backlog of a global index.

    Raises:
        EmulatorError: there is no such table or global index.
    """
    queue = index_of(account, table, index).queue
    buffer = table_of(account, table).index_buffer
    oldest = queue.oldest
    elapsed = (account.throughput_ns - queue.since_ns) / NANOSECONDS
    closes_in = None
    idle = (account.throughput_ns - queue.last_ns) / NANOSECONDS
    if queue.backlog and elapsed and idle < _MINUTE_SECONDS:
        closes_in = max(0.0, (buffer - queue.backlog) * elapsed / queue.backlog)
    return Backlog(
        units=queue.backlog,
        buffer=buffer,
        oldest_wait=0.0 if oldest is None else _wait(account, oldest),
        is_closed=queue.is_closed(buffer, account.throughput_ns),
        closes_in=closes_in,
    )


def _wait(account: Account, waiting: WaitingChange[Any]) -> float:
    return (account.throughput_ns - waiting.accepted_ns) / NANOSECONDS


def insights_of(resource: Resource) -> InsightsReport:
    """Return the heaviest keys of a resource, the running minute included."""
    return resource.insights.report(resource.meter.traffic.running)


def running_keys_of(resource: Resource, most: int) -> list[HotKey]:
    """Return the heaviest partition keys of the running minute, heaviest first.

    Costs time with the positions accessed in that minute, of which there are a bounded number.
    """
    traffic = resource.meter.traffic
    length = traffic.prefix_length
    tallies: dict[Position, list[float]] = {}
    for position, access in traffic.running.accesses.items():
        tally = tallies.setdefault(position[:length], [0.0, 0.0])
        tally[0] += access[CONSUMED]
        tally[1] += access[THROTTLES]
    heaviest = sorted(tallies.items(), key=lambda entry: (-entry[1][0], -entry[1][1]))[:most]
    return [HotKey(key[1:], accessed, int(throttled)) for key, (accessed, throttled) in heaviest]


def tables_by_region(snapshot: Snapshot) -> dict[str, list[str]]:
    """Return the names of the tables in every region that was asked for anything."""
    return {region: sorted(state["tables"]) for region, state in snapshot.regions.items()}


def changed_tables(before: Snapshot, after: Snapshot, region: str) -> set[str]:
    """Return the tables of a region that were written between two snapshots of an emulator.

    A table is changed, too, while something waits for one of its indexes.
    """
    then = before.regions.get(region, {"tables": {}})["tables"]
    now = after.regions.get(region, {"tables": {}})["tables"]
    return {
        name
        for name in now.keys() | then.keys()
        if name not in then or name not in now or not now[name].is_unchanged_since(then[name])
    }


def expiries_of(snapshot: Snapshot) -> dict[str, str]:
    """Return the attribute by which items expire, of every table that has one."""
    return {
        name: table.expiry.attribute
        for state in snapshot.regions.values()
        for name, table in state["tables"].items()
        if table.expiry is not None
    }


def last_moment(snapshot: Snapshot) -> float:
    """Return the last moment that a snapshot's tables know of, in seconds since the epoch."""
    moments = [
        max(table.active_at_ns, table.updated_at_ns)
        for state in snapshot.regions.values()
        for table in state["tables"].values()
    ]
    return max(moments, default=0) / NANOSECONDS
