"""An account in one region: its tables, its clock, its lock, and admission.

Every operation runs under the account's one lock, at one moment of the clock (``now_ns``).
Whatever fell due since the last operation happens first, in order. What throughput it finds is
decided at ``throughput_ns``: the same moment, unless requests are taken to arrive at a stated pace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from emulator.capacity import Charge, Metrics, Reason, Receipt, consume, record, throttle_error
from emulator.clock import NANOSECONDS, Clock, PacedClock, give_way
from emulator.engine import propagation
from emulator.engine.archive import Archive
from emulator.engine.events import NO_REQUEST, Billed, Events, RequestServed, Throttled
from emulator.engine.holds import Holds, Tokens
from emulator.engine.minutes import CalendarMinutes, Minutes, ThroughputMinutes
from emulator.engine.namespaces import Namespace
from emulator.engine.network import Network
from emulator.engine.request_metrics import RequestMetrics
from emulator.engine.splits import grow
from emulator.locks import Rank, new_lock
from emulator.service.catalogue import ON_ITEMS
from emulator.service.errors import ResourceNotFoundException, ValidationException
from emulator.settings import Settings

if TYPE_CHECKING:
    from threading import RLock

    from emulator.engine.faults import Faults
    from emulator.engine.resource import Resource, Throughput
    from emulator.engine.streams import Stream, ViewType
    from emulator.engine.table import Table
    from emulator.engine.writes import Planned

CapacityMode = Literal["off", "observe", "enforce"]

NOT_FOUND: Final = "Requested resource not found"
TABLE_NOT_FOUND: Final = "Requested resource not found: Table: {name} not found"
BAD_TABLE_ARN: Final = "Invalid TableArn: Invalid ResourceArn provided as input {arn}"


class Account:
    """One account in one region.

    Attributes:
        tables: Name to table, DELETING ones included.
        streams: ARN to stream; a stream outlives its table by a day.
        archive: Backups, exports, imports and bulk puts; they outlive their table for good.
        now_ns: The moment of the operation that is running.
        throughput_ns: The moment at which it arrives, for all that concerns throughput.
        pace: The pace at which requests arrive, if not by the clock; in "observe" only.
        is_judged: Whether admission is asked at all; not where no pace is stated.
        metrics: The metrics that CloudWatch would show (CAP-801).
        request: The request of the running operation, in wire form.
        receipts: Its receipts, table by table.
        ids_made: How many ids it has made, so that no two are the same.
        mentioned: Sentences said of members of requests that have no effect.
        has_backlog: Whether some change waits for room in a global index.
        common: The account of the region whose tables every access key sees, if this is a key's.
        network: The link to the other regions.
        replicated: Those of its tables that are replicas, by name.
        reaching: How many callers move this account, or one that has its lock, to a moment, a
            slice at a time.
        held: The accounts that are held for an operation on several regions, by namespace.
    """

    # Slots: an object of more than thirty attributes in its dictionary is slow to read.
    __slots__ = (
        "_named",
        "_throughput_minutes",
        "account_id",
        "archive",
        "capacity",
        "clock",
        "common",
        "events",
        "faults",
        "has_backlog",
        "held",
        "holds",
        "ids_made",
        "is_judged",
        "last_receipts",
        "lock",
        "mentioned",
        "metrics",
        "minutes",
        "namespace",
        "network",
        "now_ns",
        "operation",
        "pace",
        "reaching",
        "receipts",
        "region",
        "replicated",
        "request",
        "request_metrics",
        "settings",
        "streams",
        "tables",
        "throughput_ns",
        "tokens",
    )

    def __init__(
        self,
        *,
        clock: Clock,
        settings: Settings,
        capacity: CapacityMode,
        region: str,
        account_id: str,
        events: Events,
        faults: Faults,
        network: Network,
        access_key: str | None = None,
        common: Account | None = None,
    ) -> None:
        self.clock = clock
        self.settings = settings
        self.capacity = capacity
        self.region = region
        self.account_id = account_id
        self.events = events
        self.faults = faults
        self.now_ns = self.throughput_ns = clock.now_ns()
        self.pace: PacedClock | None = None
        self.is_judged = True
        self.namespace = Namespace(access_key, region)
        self.common = common
        self.reaching = 0
        self.lock: RLock = new_lock(Rank.ACCOUNT) if common is None else common.lock
        self.network = network
        self.replicated: dict[str, Table] = {}
        self.held: Mapping[Namespace, Account] = {}
        self.tables: dict[str, Table] = {}
        self.streams: dict[str, Stream] = {}
        self.archive = Archive()
        self.tokens = Tokens()
        self.holds = Holds()
        self.minutes = Minutes(self.now_ns)
        self._throughput_minutes = self.minutes
        if capacity == "observe" and isinstance(clock, PacedClock):
            self.follow(clock)
        self.receipts: list[tuple[str, Receipt]] = []
        self.last_receipts: tuple[tuple[str, Receipt], ...] = ()
        self.operation = ""
        self.request = NO_REQUEST
        self._named: list[str] = []
        self.ids_made = 0
        self.has_backlog = False
        self.mentioned: set[str] = set()
        self.metrics = Metrics(self.now_seconds)
        self.request_metrics = RequestMetrics(self.metrics)

    def begin_observing(self) -> None:
        """Reset everything that is counted."""
        self.receipts = []
        self.last_receipts = ()
        self.metrics = Metrics(self.now_seconds)
        self.request_metrics = RequestMetrics(self.metrics)
        for table in self.tables.values():
            self.watch(table)

    # Time

    def follow(self, pace: PacedClock) -> None:
        """Take the time of throughput from a pace from now on; in "observe" only."""
        self.clock = pace
        self.pace, self.is_judged = pace, pace.rate is not None
        self.throughput_ns = pace.start_ns
        self.minutes = CalendarMinutes(self.now_ns)
        self._throughput_minutes = ThroughputMinutes(pace.start_ns)
        for table in self.tables.values():
            table.begin_throughput_at(self.throughput_ns)

    def begin_at(self, now_ns: int) -> None:
        """Start at a past moment; what has fallen due since happens with the next operation."""
        self.now_ns = now_ns
        if self.pace is None:
            self.throughput_ns = now_ns
            self.minutes = self._throughput_minutes = Minutes(now_ns)
        else:
            self.minutes = CalendarMinutes(now_ns)
        self.begin_observing()

    def look_ahead(self) -> None:
        """Recompute when the next split is due, after tables with pending splits were added."""
        self._throughput_minutes.look_ahead(self)

    def begin(self, operation: str, request: Mapping[str, Any] = NO_REQUEST) -> bool:
        """Start an operation: fix its moment, and do first what fell due before it.

        Returns:
            False if there is more to do than fits between two operations; then this one is as of
            the moment at which the account stands. What another thread does is left to it.
        """
        holder = self.common or self
        is_there = holder.reaching > 0 or self.catch_up(self.clock.now_ns())
        if self.pace is not None and is_there:
            self._arrive(self.pace, operation)
        self.operation = operation
        self.request = request
        self.receipts = []
        self._named = []
        return is_there

    def reach(self, now_ns: int) -> None:
        """Move to a moment; if that takes long, other threads have turns in between."""
        for _ in self.reach_in_turns(now_ns):
            give_way()

    def reach_in_turns(self, now_ns: int) -> Iterator[None]:
        """Move to a moment, and yield whenever the lock is free for others.

        Operations that come in between are as of the moment at which the account stands.
        """
        holder = self.common or self
        with self.lock:
            if self.catch_up(now_ns):
                return
            holder.reaching += 1
        try:
            is_there = False
            while not is_there:
                yield
                with self.lock:
                    is_there = self.catch_up(now_ns)
        finally:
            with self.lock:
                holder.reaching -= 1

    def catch_up(self, now_ns: int) -> bool:
        """Move towards a moment, doing on the way what falls due; time never runs back.

        Returns:
            Whether it is there; if not, items expire, and there are more than a slice of time has
            room for.
        """
        if self.minutes.expiring is not None and not self.minutes.catch_up(self, self.now_ns):
            return False
        if self.archive.running_puts and not self.archive.advance(self, now_ns):
            return False
        if self.replicated:
            self.network.regions.deliver(self, now_ns)
        if now_ns > self.now_ns:
            is_due = self.has_backlog or now_ns >= self.minutes.next_ns
            if is_due and not self.minutes.catch_up(self, now_ns):
                return False
            self.now_ns = now_ns
            if self.pace is None:
                self.throughput_ns = now_ns
        if self.common is None:
            return True
        is_there = self.common.catch_up(now_ns)
        self.has_backlog = self.has_backlog or self.common.has_backlog
        return is_there

    def arrive_at(self, now_ns: int) -> None:
        """Move to a moment, unless it is in the past; what is due then happens afterwards."""
        self.now_ns = max(self.now_ns, now_ns)
        if self.pace is None:
            self.throughput_ns = self.now_ns

    def _arrive(self, pace: PacedClock, operation: str) -> None:
        """Let time pass for throughput; set-up and calls that touch no items take none."""
        if self.capacity != "off" and operation in ON_ITEMS:
            arrival_ns = pace.arrival_ns()
            if arrival_ns > self.throughput_ns:
                if self.has_backlog or arrival_ns >= self._throughput_minutes.next_ns:
                    self._throughput_minutes.catch_up(self, arrival_ns)
                self.throughput_ns = arrival_ns

    def end(self, error: str | None = None) -> None:
        """Finish an operation: keep its receipts, and notify listeners."""
        self.last_receipts = tuple(self.receipts)
        if self.capacity != "off":
            if error is None:
                self.request_metrics.success(self.operation, self.receipts)
            else:
                self.request_metrics.failure(self.operation, self._named, error)
        if self.events.requests_wanted:
            self.events.publish(
                RequestServed(self.now_ns, self.operation, self.last_receipts, error, self.request)
            )

    @property
    def now_seconds(self) -> float:
        """The moment of the running operation, in seconds since the epoch."""
        return self.now_ns / NANOSECONDS

    # Names

    def arn(self, kind_and_name: str) -> str:
        """Return a resource name of this account (TBL-2)."""
        return f"arn:aws:dynamodb:{self.region}:{self.account_id}:{kind_and_name}"

    def new_id(self, seed: str) -> str:
        """Return a UUID that no other call returns, the same in every run (TBL-8)."""
        import uuid  # an emulator without tables needs none

        self.ids_made += 1
        return str(
            uuid.uuid5(uuid.NAMESPACE_URL, f"{self.arn(seed)}/{self.now_ns}/{self.ids_made}")
        )

    def table(self, name: str) -> Table:
        """Return a table for reading and writing, by name or ARN.

        Raises:
            ResourceNotFoundException: it does not exist or is not ready (TBL-4, CT-15).
        """
        table = self.tables.get(name)
        self._named.append(name)
        if table is None:
            table = self.find_table(self.table_name(name) if name.startswith("arn:") else name)
            if table is None:
                raise ResourceNotFoundException(NOT_FOUND)
        if table.deleted_at_ns is not None or self.now_ns < table.active_at_ns:
            self._forget_deleted(table)
            raise ResourceNotFoundException(NOT_FOUND)
        return table

    def described_table(self, name: str) -> Table:
        """Return a table for the control plane, in whatever state, by name or ARN."""
        table_name = self.table_name(name) if name.startswith("arn:") else name
        table = self.find_table(table_name)
        if table is not None:
            self._forget_deleted(table)
            table = self.find_table(table_name)
        if table is None:
            raise ResourceNotFoundException(TABLE_NOT_FOUND.format(name=table_name))
        return table

    def find_table(self, name: str) -> Table | None:
        """Return a table in whatever state, its own before one that every key sees, or None."""
        table = self.tables.get(name)
        if table is None and self.common is not None:
            table = self.common.tables.get(name)
        return table

    def visible_tables(self) -> dict[str, Table]:
        """Return its tables by name, with those that every key sees."""
        return self.tables if self.common is None else self.common.tables | self.tables

    def visible_streams(self) -> dict[str, Stream]:
        """Return its streams by ARN, with those that every key sees."""
        return self.streams if self.common is None else self.common.streams | self.streams

    def archives(self) -> list[Archive]:
        """Return its archive, after the one that every key sees if it belongs to a key."""
        return [self.archive] if self.common is None else [self.common.archive, self.archive]

    def owner_of(self, table: Table) -> Account:
        """Return the account that a table is in: this one, or the one that every key sees."""
        common = self.common
        return self if common is None or common.tables.get(table.name) is not table else common

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing that would be lost."""
        archive = self.archive
        return not (
            self.tables
            or self.streams
            or archive.backups
            or archive.exports
            or archive.imports
            or archive.bulk_puts
        )

    def table_name(self, arn: str) -> str:
        """Return the table's name in a table ARN (TBL-3)."""
        parts = arn.split(":", 5)
        if len(parts) != 6 or not parts[5].startswith("table/") or "/" in parts[5][6:]:
            raise ValidationException(BAD_TABLE_ARN.format(arn=arn))
        if parts[2:5] != ["dynamodb", self.region, self.account_id]:
            raise ResourceNotFoundException(NOT_FOUND)
        return parts[5][6:]

    def _forget_deleted(self, table: Table) -> None:
        if table.deleted_at_ns is not None and table.deleted_at_ns <= self.now_ns:
            self.owner_of(table).tables.pop(table.name, None)

    def forget_deleted(self) -> None:
        """Drop every table whose deletion is complete, and every stream past its retention."""
        for table in list(self.tables.values()):
            self._forget_deleted(table)
        for stream in list(self.streams.values()):
            if stream.expired(self.now_ns):
                del self.streams[stream.arn]
        if self.common is not None:
            self.common.forget_deleted()

    def open_stream(self, table: Table, view: ViewType) -> None:
        """Give a table a new stream, labelled with the moment (TBL-2, UT-14)."""
        # Most tables have none.
        from emulator.engine.streams import Stream, stream_label

        time_ns, streams = self.now_ns, self.owner_of(table).streams
        while (arn := f"{table.arn}/stream/{stream_label(time_ns)}") in streams:
            time_ns += NANOSECONDS // 1000
        partition_ids = None
        if self.settings.stream_shards == "partitions":
            partition_ids = [partition.id for partition in table.resource.partitions]
        table.stream = streams[arn] = Stream(
            arn=arn,
            label=stream_label(time_ns),
            table_name=table.name,
            key=table.key,
            view=view,
            now_ns=self.now_ns,
            partition_ids=partition_ids,
            shard_seconds=self.settings.stream_shard_seconds,
        )

    def bill(self, operation: str, table: str, item: str, quantity: float) -> None:
        """Count a cost item that is paid for besides units.

        Args:
            operation: Which operation it is for.
            table: The table's name.
            item: A cost item that has a tariff.
            quantity: Bytes, or times.
        """
        # Only those who move data pay so: most never load prices.
        from emulator.capacity.prices import TARIFFS

        if self.capacity != "off":
            common = self.common
            is_shared = common is not None and table in common.tables and table not in self.tables
            owner = common if is_shared and common is not None else self
            owner.metrics.add(TARIFFS[item].metric, quantity, table=table)
        if self.events.wanted:
            self.events.publish(Billed(self.now_ns, operation, table, item, quantity))

    # Throughput

    def watch(self, table: Table) -> None:
        """Count the units of a table and its global indexes from now on."""
        if self.pace is not None:
            table.begin_throughput_at(self.throughput_ns)
        metrics = self.owner_of(table).metrics
        for resource in table.resources():
            index = None if resource.is_table else resource.name
            resource.meter.series = (
                metrics.series("ConsumedReadCapacityUnits", table=table.name, index=index),
                metrics.series("ConsumedWriteCapacityUnits", table=table.name, index=index),
            )
            self._note_throughput(table, resource)

    def set_throughput(self, table: Table, resource: Resource, throughput: Throughput) -> None:
        """Change what a resource may consume, and grow it if it never had as much (CAP2-1)."""
        resource.set_throughput(throughput, self.throughput_ns)
        resource.growth.raise_to(*throughput.warm(self.settings))
        size_bytes = sum(partition.size_bytes for partition in resource.partitions)
        least = -(-size_bytes // self.settings.partition_bytes)
        grow(self, table, resource, self.throughput_ns, least)
        self._note_throughput(table, resource)

    def _note_throughput(self, table: Table, resource: Resource) -> None:
        """Put the settings in force among the metrics (CAP-801)."""
        throughput = resource.throughput
        provisioned = not throughput.on_demand
        gauges = {
            "ProvisionedReadCapacityUnits": throughput.read if provisioned else None,
            "ProvisionedWriteCapacityUnits": throughput.write if provisioned else None,
            "OnDemandMaxReadRequestUnits": throughput.max_read,
            "OnDemandMaxWriteRequestUnits": throughput.max_write,
        }
        index = None if resource.is_table else resource.name
        metrics = self.owner_of(table).metrics
        for metric, value in gauges.items():
            metrics.set(metric, value, self.now_seconds, table=table.name, index=index)

    # Admission

    def admit(self, table: Table, charges: Sequence[Charge], receipt: Receipt) -> None:
        """Let an item operation pass, or raise what the service would.

        In "observe" the refusal is recorded and the operation goes on.
        """
        reasons = self.try_admit(table, charges, receipt)
        if reasons:
            raise throttle_error(reasons, on_demand=table.resource.throughput.on_demand)

    def admit_write(self, planned: Planned) -> None:
        """Let a write pass, or raise what the service would."""
        reasons = self.try_admit_write(planned)
        if reasons:
            on_demand = planned.write.table.resource.throughput.on_demand
            raise throttle_error(reasons, on_demand=on_demand)

    def try_admit_write(self, planned: Planned) -> tuple[Reason, ...]:
        """Ask for admission of a write; return why it is refused, if it is and is enforced.

        An index that is closed refuses every write to its table (CAP2-4).
        """
        table = planned.write.table
        closed: tuple[Reason, ...] = ()
        if table.has_closed_index or planned.vectors is not None:
            closed = propagation.write_refusal(self, planned)
        if not closed:
            return self.try_admit(table, planned.charges, planned.receipt)
        self.note_refusal(table, planned.charges, closed, planned.receipt)
        if self.capacity == "enforce":
            return closed
        self.receipts.append((table.name, planned.receipt))
        return ()

    def try_admit(
        self, table: Table, charges: Sequence[Charge], receipt: Receipt
    ) -> tuple[Reason, ...]:
        """Ask for admission; return why it is refused, if it is and is enforced."""
        self.receipts.append((table.name, receipt))
        if self.capacity == "off":
            return ()
        if not self.is_judged:
            record(charges, self.throughput_ns)
            return ()
        reasons = consume(charges, self.throughput_ns)
        if not reasons:
            return ()
        record(charges, self.throughput_ns, reasons)
        self.note_refusal(table, charges, reasons, receipt)
        if self.capacity == "observe":
            return ()
        self.receipts.pop()
        return reasons

    def note_refusal(
        self,
        table: Table,
        charges: Sequence[Charge],
        reasons: tuple[Reason, ...],
        receipt: Receipt,
    ) -> None:
        """Record that an item operation was, or would have been, refused."""
        receipt.reasons = reasons
        if table.resource.meter.series is not None:
            self.owner_of(table).metrics.count_throttles(reasons)
        if self.events.wants(Throttled):
            self.events.publish(
                Throttled(
                    self.throughput_ns,
                    self.operation,
                    table.name,
                    charges[0].position,
                    reasons,
                    receipt.total,
                )
            )
