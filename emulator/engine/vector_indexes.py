"""The vector indexes of a table: their entries, their life, and what passes them in a second.

A write is planned with all its vector entries before anything is changed, as with other indexes;
its bytes are counted apart from units (VIX-62, VIX-63). Entries are in place with their write;
``Settings.gsi_lag`` says when searches see them (VIX-33).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Final, NamedTuple

from emulator.capacity import (
    ONE,
    READ,
    WRITE,
    Reason,
    Receipt,
    TokenBucket,
    throttle_error,
    units,
)
from emulator.clock import NANOSECONDS
from emulator.engine.events import Throttled
from emulator.engine.lifetime import Lifetime
from emulator.model import Item, KeyValue, text_size, value_size
from emulator.model.vectors import VectorEntry, VectorSchema
from emulator.service import limits
from emulator.service.throttling import ThrottlingLimit
from emulator.storage import HASH_SPACE, LaggedView, Position
from emulator.storage.vectors import Hit, VectorSearch, VectorStore

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table
    from emulator.settings import Settings

SEARCHED: Final = "VectorSearchRequestBytes"
WRITTEN: Final = "VectorWriteRequestBytes"
#: How long the phases of an index last where statuses take time at all. Source: VIX-22.
ALLOCATION_SECONDS: Final = 30.0
BACKFILL_SECONDS: Final = 510.0
#: Partitions metered before those that have had their rest are forgotten.
_MOST_METERS: Final = 1024


class VectorChange(NamedTuple):
    """The change of one vector index by a write; the sides differ."""

    vector_index: VectorIndex
    before: VectorEntry | None
    after: VectorEntry | None

    @property
    def written_bytes(self) -> int:
        """The bytes charged for it (VIX-63)."""
        sides = [side.size_bytes for side in (self.before, self.after) if side is not None]
        return units.vector_write_bytes(max(sides))

    @property
    def partition(self) -> KeyValue | None:
        """The partition it is written to."""
        side = self.before if self.after is None else self.after
        assert side is not None, "a change has at least one side"
        return side.partition


class VectorPlan(NamedTuple):
    """The changes of all vector indexes of a table by a write.

    Attributes:
        changes: Every entry that changes, by the names of the indexes.
        old_saved: Bytes that the stored item's vectors save in the table (VIX-64).
        new_saved: Those that the new item's will.
    """

    changes: Sequence[VectorChange]
    old_saved: int
    new_saved: int

    @property
    def written_bytes(self) -> dict[str, int]:
        """The bytes charged, by index; one whose entry stays as it was is not there (VIX-63)."""
        return {change.vector_index.schema.name: change.written_bytes for change in self.changes}


class VectorIndex(Lifetime):
    """A vector index of a table.

    Attributes:
        schema: Its definition.
        arn: Its resource name.
        store: All entries, as of now.
        view: The entries that searches see, when a lag is set; None when they see ``store``.
        backfill_at_ns: When the table is ACTIVE again and the backfill begins; None for an index
            that was made with its table, and has neither (VIX-20).
        searchable_at_ns: When the search side knows that it is ACTIVE (VIX-22).
    """

    __slots__ = (
        "_lag_ns", "_meters", "arn", "backfill_at_ns", "schema", "searchable_at_ns", "store",
        "view",
    )  # fmt: skip

    def __init__(self, schema: VectorSchema, arn: str, *, settings: Settings, now_ns: int) -> None:
        super().__init__(now_ns)
        self.schema = schema
        self.arn = arn
        self.store = VectorStore(schema.dimensions)
        self._lag_ns = round(settings.gsi_lag * NANOSECONDS)
        self.view = LaggedView(self.store) if self._lag_ns else None
        self.backfill_at_ns: int | None = None
        self.searchable_at_ns = now_ns + round(settings.vector_search_delay * NANOSECONDS)
        self._meters: dict[KeyValue | None, _Meter] = {}

    def is_backfilling(self, now_ns: int) -> bool | None:
        """Return the value of ``Backfilling``, None to leave it out (VIX-20, VIX-21)."""
        if self.backfill_at_ns is None or self.status(now_ns) != "CREATING":
            return None
        return now_ns >= self.backfill_at_ns

    def visible(self, now_ns: int) -> VectorStore:
        """Return the entries that a search sees now."""
        return self.store if self.view is None else self.view.at(now_ns)

    def apply(self, position: Position, after: VectorEntry | None, now_ns: int) -> None:
        """Hold this entry of an item from now on, or none."""
        if after is not None:
            self.store.put(position, after)
        elif position in self.store:
            self.store.remove(position)
        if self.view is not None:
            self.view.record([(position, after)], now_ns + self._lag_ns)

    def show_everything(self) -> None:
        """Let searches see at once what is stored, whatever the lag."""
        if self.view is not None:
            self.view = LaggedView(self.store)

    def meter(self, partition: KeyValue | None, now_ns: int) -> _Meter:
        """Return the meter of one partition, as of now."""
        meter = self._meters.get(partition)
        if meter is None:
            if len(self._meters) >= _MOST_METERS:
                self._meters = {
                    value: kept for value, kept in self._meters.items() if not kept.rests(now_ns)
                }
            meter = self._meters[partition] = _Meter(now_ns)
        for bucket in meter.buckets:
            bucket.refill(now_ns)
        return meter

    def copy(self) -> VectorIndex:
        """Return an independent index of the same content, sharing until written."""
        twin = copy(self)
        twin.store = self.store.share()
        twin.view = None if self.view is None else self.view.copy()
        twin._meters = {value: meter.copy() for value, meter in self._meters.items()}
        return twin


class _Meter:
    """The bytes to search and write in a second under one value of the HASH attribute.

    Attributes:
        buckets: Of bytes searched and of bytes written; their axes are ``READ`` and ``WRITE``.

    Source: VIX-45. Assumed: nothing is saved up for bursts.
    """

    __slots__ = ("buckets",)

    def __init__(self, now_ns: int) -> None:
        self.buckets = tuple(
            TokenBucket(rate, now_ns, burst_seconds=0)
            for rate in (limits.VECTOR_SEARCH_BYTES, limits.VECTOR_WRITE_BYTES)
        )

    def has_room(self, axis: int) -> bool:
        """Return whether a request passes; it may take more than is there, and others wait then.

        Assumed: as in a partition of a table (CAP-603).
        """
        return self.buckets[axis].can_take(ONE)

    def take(self, axis: int, size_bytes: int) -> None:
        """Pay for a request."""
        self.buckets[axis].take(size_bytes * ONE)

    def rests(self, now_ns: int) -> bool:
        """Return whether everything that was taken has come back."""
        return all(bucket.refill(now_ns) == bucket.base_cap for bucket in self.buckets)

    def copy(self) -> _Meter:
        twin = copy(self)
        twin.buckets = tuple(bucket.copy() for bucket in self.buckets)
        return twin


class VectorIndexes:
    """All vector indexes of one table.

    Attributes:
        live: Name to index, in the order they were declared.
        leaving: Deleted ones that are still DELETING; nothing searches or writes them.
        saved_bytes: By how much the items are smaller than their true lists (VIX-64).
    """

    __slots__ = ("_by_name", "leaving", "live", "saved_bytes")

    def __init__(self) -> None:
        self.live: dict[str, VectorIndex] = {}
        self.leaving: list[VectorIndex] = []
        self.saved_bytes = 0
        self._by_name: list[VectorIndex] = []

    def __iter__(self) -> Iterator[VectorIndex]:
        return iter(self.live.values())

    @property
    def schemas(self) -> list[VectorSchema]:
        """Their definitions, in name order."""
        return [index.schema for index in self._by_name]

    def attribute_names(self) -> set[str]:
        """Return the attributes of their search schemas, which are defined by type (VIX-5)."""
        return {element.name for index in self for element in index.schema.search}

    def add(self, table: Table, schema: VectorSchema, now_ns: int) -> None:
        """Add an index with all entries that the table's items have (VIX-24)."""
        arn = f"{table.arn}/index/{schema.name}"
        index = VectorIndex(schema, arn, settings=table.settings, now_ns=now_ns)
        self.live[schema.name] = index
        self._note()
        for position, item in _everything(table):
            entry = schema.entry(item)
            if entry is not None:
                index.store.put(position, entry)
        index.show_everything()
        self._measure(table)

    def build(self, table: Table, name: str, now_ns: int) -> None:
        """Let an index that was added to a table pass through its phases (VIX-21)."""
        index, settings = self.live[name], table.settings
        takes_time = bool(settings.table_delay or settings.index_delay)
        allocation = settings.vector_allocation_delay
        if allocation is None:
            allocation = ALLOCATION_SECONDS if takes_time else 0.0
        backfill = settings.vector_backfill_delay
        if backfill is None:
            backfill = BACKFILL_SECONDS if takes_time else 0.0
        index.backfill_at_ns = now_ns + round(allocation * NANOSECONDS)
        index.active_at_ns = index.backfill_at_ns + round(backfill * NANOSECONDS)
        index.searchable_at_ns += index.active_at_ns - now_ns

    def drop(self, table: Table, name: str, gone_at_ns: int) -> None:
        """Take an index out of use."""
        index = self.live.pop(name)
        index.deleted_at_ns = gone_at_ns
        self.leaving.append(index)
        self._note()
        self._measure(table)

    def forget_deleted(self, now_ns: int) -> None:
        """Drop the indexes whose deletion is complete."""
        self.leaving = [index for index in self.leaving if (index.deleted_at_ns or 0) > now_ns]

    def changing(self, now_ns: int) -> list[VectorIndex]:
        """Return those that are being made or deleted."""
        making = [index for index in self if index.status(now_ns) == "CREATING"]
        return making + [index for index in self.leaving if (index.deleted_at_ns or 0) > now_ns]

    @property
    def allocated_at_ns(self) -> int:
        """When the last allocation is complete; until then the table is UPDATING (VIX-21)."""
        return max((index.backfill_at_ns or 0 for index in self), default=0)

    def _note(self) -> None:
        self._by_name = sorted(self, key=lambda index: index.schema.name)

    def _measure(self, table: Table) -> None:
        self.saved_bytes = sum(
            self._saved(item, self._holding(position)) for position, item in _everything(table)
        )

    def show_everything(self) -> None:
        """Let searches see at once what is stored, whatever the lag."""
        for index in self:
            index.show_everything()

    # Writes

    def plan(self, position: Position, old: Item | None, new: Item | None) -> VectorPlan:
        """Return the plan of a write from ``old`` to ``new``, changing nothing."""
        changes = []
        holding: list[VectorIndex] = []
        for index in self._by_name:
            before = index.store.get(position)
            after = None if new is None else index.schema.entry(new)
            if after is not None:
                holding.append(index)
            if before is None and after is None:
                continue
            if before is None or after is None or not before.same_as(after):
                changes.append(VectorChange(index, before, after))
        return VectorPlan(changes, self.saved(position, old), self._saved(new, holding))

    def saved(self, position: Position, item: Item | None) -> int:
        """Return by how much a stored item is smaller than its true lists (VIX-64)."""
        return self._saved(item, self._holding(position))

    def _holding(self, position: Position) -> list[VectorIndex]:
        return [index for index in self._by_name if position in index.store]

    def _saved(self, item: Item | None, holding: Iterable[VectorIndex]) -> int:
        if item is None:
            return 0
        counted = {index.schema.attribute: index.schema.vector_bytes for index in holding}
        return sum(
            text_size(name) + value_size(item.attributes[name]) - vector_bytes
            for name, vector_bytes in counted.items()
        )

    def refusal(self, planned: VectorPlan, now_ns: int) -> tuple[Reason, ...]:
        """Return why a write is refused for what its partitions take in a second (VIX-45).

        Assumed: that the write is refused, and not delayed as for a global index; and the reason.
        """
        return tuple(
            Reason(
                ThrottlingLimit.KEY_RANGE.reason("Write", is_index=True), change.vector_index.arn
            )
            for change in planned.changes
            if not change.vector_index.meter(change.partition, now_ns).has_room(WRITE)
        )

    def count(self, account: Account, table: Table, planned: VectorPlan) -> None:
        """Charge a write, and put its bytes among the metrics (VIX-63, VIX-66)."""
        metrics = account.owner_of(table).metrics
        for change in planned.changes:
            written, name = change.written_bytes, change.vector_index.schema.name
            change.vector_index.meter(change.partition, account.throughput_ns).take(WRITE, written)
            metrics.add(WRITTEN, written, table=table.name, index=name)

    def commit(self, position: Position, planned: VectorPlan, now_ns: int) -> None:
        """Carry out what was planned."""
        self.saved_bytes += planned.new_saved - planned.old_saved
        for change in planned.changes:
            change.vector_index.apply(position, change.after, now_ns)

    def copy(self) -> VectorIndexes:
        """Return independent indexes of the same content, sharing until written."""
        twin = VectorIndexes()
        twin.live = {name: index.copy() for name, index in self.live.items()}
        twin.leaving = list(self.leaving)
        twin.saved_bytes = self.saved_bytes
        twin._note()
        return twin


def _everything(table: Table) -> Iterator[tuple[Position, Item]]:
    return table.store.walk((0,), (HASH_SPACE,))


# Searches


def search(
    account: Account,
    table: Table,
    index: VectorIndex,
    wanted: VectorSearch,
    *,
    shows_vector: bool,
) -> tuple[list[Hit], Receipt]:
    """Search an index, charge for it, and return the hits and the receipt.

    Args:
        account: The account.
        table: The table.
        index: Its index.
        wanted: The search.
        shows_vector: Whether the answer has the vectors.

    Raises:
        ApiError: the partition has no room for more searches in this second (VIX-45).
    """
    hits = index.visible(account.now_ns).search(wanted)
    sizes = [hit.item.size_bytes for hit in hits]
    searched = units.vector_search_bytes(
        index.schema.dimensions, sizes, carried=len(hits) if shows_vector else 0
    )
    receipt = Receipt(READ)
    receipt.vectors = {index.schema.name: searched}
    receipt.items_evaluated = receipt.items_returned = len(hits)
    receipt.bytes_evaluated = receipt.bytes_returned = sum(sizes)
    _admit_search(account, table, index, wanted.partition, receipt)
    return hits, receipt


def _admit_search(
    account: Account,
    table: Table,
    index: VectorIndex,
    partition: KeyValue | None,
    receipt: Receipt,
) -> None:
    if account.capacity == "off":
        account.receipts.append((table.name, receipt))
        return
    searched = receipt.vectors[index.schema.name]
    metrics = account.owner_of(table).metrics
    meter = index.meter(partition, account.throughput_ns)
    if account.is_judged and not meter.has_room(READ):
        reason = ThrottlingLimit.KEY_RANGE.reason("Read", is_index=True)
        receipt.reasons = (Reason(reason, index.arn),)
        metrics.count_throttles(receipt.reasons)
        if account.events.wants(Throttled):
            account.events.publish(
                Throttled(
                    account.throughput_ns,
                    account.operation,
                    table.name,
                    None,
                    receipt.reasons,
                    receipt.total,
                )
            )
        if account.capacity == "enforce":
            raise throttle_error(receipt.reasons, on_demand=True)
    meter.take(READ, searched)
    metrics.add(SEARCHED, searched, table=table.name, index=index.schema.name)
    account.receipts.append((table.name, receipt))
