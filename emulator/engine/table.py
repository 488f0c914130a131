"""Tables and their indexes: stores, partitions and settings that belong together.

A table holds its items; every index holds entries derived from them and from nothing else.
Writes go through ``commit``, which keeps all of them in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING

from emulator.capacity import WRITE, Charge, IndexQueue, ModeSwitches, Quota, units
from emulator.clock import NANOSECONDS
from emulator.engine.expiry import ExpiryQueue
from emulator.engine.lifetime import Lifetime
from emulator.engine.options import TableOptions
from emulator.engine.resource import Resource, Throughput
from emulator.model import IndexSchema, Item, KeySchema, KeyValue
from emulator.settings import Settings
from emulator.storage import (
    Change,
    EntryChange,
    LaggedView,
    OrderedStore,
    Position,
    key_position,
    plan_index_change,
)

if TYPE_CHECKING:
    from emulator.engine.history import ChangeLog
    from emulator.engine.replicas import Replica
    from emulator.engine.streams import Stream
    from emulator.engine.vector_indexes import VectorIndexes
    from emulator.model.vectors import VectorSchema


class Index(Lifetime):
    """A secondary index: its entries, and what serves them.

    Attributes:
        schema: Key, projection and kind.
        store: All entries, as of now.
        view: The entries that readers see, when a lag is set; None when they see ``store``.
        resource: Throughput and partitions: its own if it is global, else its table's.
        queue: Changes that wait for room in a global index.
        lag_ns: How long after a change readers see it.
        backfill_at_ns: When the table is ACTIVE again and the backfill begins.
    """

    __slots__ = (
        "backfill_at_ns",
        "lag_ns",
        "queue",
        "resource",
        "schema",
        "store",
        "view",
    )

    def __init__(
        self, schema: IndexSchema, resource: Resource, *, lag_seconds: float, now_ns: int
    ) -> None:
        super().__init__(now_ns)
        self.schema = schema
        self.store = OrderedStore()
        self.lag_ns = round(lag_seconds * NANOSECONDS)
        self.view = LaggedView(self.store) if self.lag_ns else None
        self.resource = resource
        self.queue: IndexQueue[EntryChange] = IndexQueue(resource.settings.gsi_closed_seconds)
        self.backfill_at_ns = now_ns

    def visible(self, now_ns: int) -> OrderedStore:
        """Return the entries a reader sees now."""
        return self.store if self.view is None else self.view.at(now_ns)

    def fill(self, items: Iterable[Item], now_ns: int) -> None:
        """Enter every item that belongs; others are passed over (MAK-26)."""
        salt = self.resource.settings.placement_salt
        for item in items:
            change = plan_index_change(self.schema, None, item, salt)
            if change is not None:
                self.apply(change, now_ns, now_ns)

    def apply(self, change: EntryChange, accepted_ns: int, applied_ns: int) -> None:
        """Carry out what a plan says of this index; the write was accepted before (CAP2-4)."""
        before, after = change.before, change.after
        partitions = self.resource.partitions if self.schema.is_global else None
        leaves = before is not None and (after is None or before.position != after.position)
        if before is not None and leaves:
            self.store.remove(before.position)
            if partitions is not None:
                partitions.count(before.position, -before.item.size_bytes, -1)
        if after is not None:
            position, item = after
            # Equal, but one object for all entries of the collection.
            item.attributes[self.schema.key.names[0]] = position[1]
            old = self.store.put(position, item)
            if partitions is not None:
                old_bytes = 0 if old is None else old.size_bytes
                partitions.count(position, item.size_bytes - old_bytes, 1 if old is None else 0)
        if self.view is not None:
            seen: list[Change] = []
            if before is not None and leaves:
                seen.append((before.position, None))
            if after is not None:
                seen.append((after.position, after.item))
            self.view.record(seen, max(accepted_ns + self.lag_ns, applied_ns))

    def recharge_queue(self) -> None:
        """Charge what waits to the partitions that are there now."""
        if not self.queue.is_empty:
            self.queue.recharge(self._charge_anew)

    def charged_anew(self, charges: Sequence[Charge]) -> list[Charge]:
        """Return charges to the partitions that are there now."""
        return [self._charge_anew(charge) for charge in charges]

    def _charge_anew(self, charge: Charge) -> Charge:
        assert charge.position is not None, "a change of an index has a position"
        return self.resource.charge(WRITE, charge.units, charge.position)

    def copy(self, table: Table) -> Index:
        """Return an independent index of the same content for a copied table."""
        twin = copy(self)
        twin.store = self.store.share()
        twin.view = None if self.view is None else self.view.copy()
        is_global = self.schema.is_global
        twin.resource = self.resource.copy(table.quota) if is_global else table.resource
        twin.queue = self.queue.copy(twin._charge_anew)
        return twin


class Table(Lifetime):
    """A table: its items, indexes, stream, expiry and settings.

    Attributes:
        name: The table's name.
        arn: Its resource name.
        id: A UUID that a table re-created under the name does not share (TBL-8).
        key: The table's key schema.
        attribute_types: AttributeDefinitions, name to type letter.
        store: The items, as of now.
        resource: Throughput and partitions.
        indexes: Name to index, in the order they were declared.
        index_schemas: Their schemas, in name order.
        global_indexes: The global ones, in declared order.
        local_indexes: The local ones, in declared order.
        changes_accepted: How many changes of global indexes its writes have made.
        has_closed_index: Whether a global index closed and was not seen open since (CAP2-4).
        has_local_indexes: Whether a local index binds item collections together.
        leaving: Deleted global indexes that are still DELETING; nothing reads or writes them.
        on_demand_since_ns: When the table was last switched to on demand, or None for never.
        expiry_changed_ns: When time to live was last switched on or off, or None for never.
        history: The items that its writes have replaced, while point-in-time recovery is on.
        replica: Its side as one of several in different regions, or None.
        vectors: Its vector indexes, or None if it never had any.
    """

    # Slots: as in an account, there are more than thirty.
    __slots__ = (
        "_salt",
        "_shares_collections",
        "arn",
        "attribute_types",
        "changes_accepted",
        "collection_bytes",
        "expiry",
        "expiry_changed_ns",
        "global_indexes",
        "has_closed_index",
        "has_local_indexes",
        "history",
        "id",
        "index_schemas",
        "indexes",
        "key",
        "lag_ns",
        "leaving",
        "local_indexes",
        "name",
        "on_demand_since_ns",
        "options",
        "quota",
        "replica",
        "resource",
        "settings",
        "store",
        "stream",
        "switches",
        "vectors",
        "view",
    )

    def __init__(
        self,
        name: str,
        *,
        arn: str,
        table_id: str,
        key: KeySchema,
        attribute_types: dict[str, str],
        throughput: Throughput,
        settings: Settings,
        now_ns: int,
    ) -> None:
        super().__init__(now_ns)
        self.name = name
        self.arn = arn
        self.id = table_id
        self.key = key
        self.attribute_types = attribute_types
        self.settings = settings
        self._salt = settings.placement_salt
        self.active_at_ns = self._complete_at(now_ns)
        self.options = TableOptions()
        self.quota = Quota(settings.table_quota, now_ns)
        self.resource = Resource(
            arn,
            name,
            throughput,
            is_table=True,
            quota=self.quota,
            settings=settings,
            key_length=1 + len(key.attributes),
            now_ns=now_ns,
        )
        self.store = OrderedStore()
        self.lag_ns = round(settings.ec_lag * NANOSECONDS)
        self.view = LaggedView(self.store) if self.lag_ns else None
        self.indexes: dict[str, Index] = {}
        self.index_schemas: list[IndexSchema] = []
        self.global_indexes: list[Index] = []
        self.local_indexes: list[Index] = []
        self.has_local_indexes = False
        self.changes_accepted = 0
        self.has_closed_index = False
        self.leaving: list[Index] = []
        self.on_demand_since_ns = now_ns if throughput.on_demand else None
        self.switches = ModeSwitches()
        self.stream: Stream | None = None
        self.expiry: ExpiryQueue | None = None
        self.expiry_changed_ns: int | None = None
        self.history: ChangeLog | None = None
        self.replica: Replica | None = None
        self.collection_bytes: dict[KeyValue, int] = {}
        self._shares_collections = False
        self.vectors: VectorIndexes | None = None

    # Indexes

    def add_index(
        self, schema: IndexSchema, throughput: Throughput | None, *, now_ns: int
    ) -> Index:
        """Add an empty index; a global one brings its throughput.

        Assumed: how far it is behind its table: not at all, unless ``Settings.gsi_lag`` says so of
        a global index and ``Settings.ec_lag`` of a local one (CAP-1104, CAP-1105).
        """
        resource = self.resource
        lag = self.settings.ec_lag
        if schema.is_global:
            assert throughput is not None, "a global index has throughput"
            lag = self.settings.gsi_lag
            resource = Resource(
                f"{self.arn}/index/{schema.name}",
                schema.name,
                throughput,
                is_table=False,
                quota=self.quota,
                settings=self.settings,
                prefix_length=1 + len(schema.key.partition),
                key_length=1 + len(schema.key.attributes),
                now_ns=now_ns,
            )
        index = Index(schema, resource, lag_seconds=lag, now_ns=now_ns)
        self.indexes[schema.name] = index
        self._note_indexes()
        return index

    def remove_index(self, name: str) -> None:
        """Drop an index with all its entries."""
        del self.indexes[name]
        self._note_indexes()

    def _note_indexes(self) -> None:
        """Keep at hand what every write asks about the indexes."""
        schemas = [index.schema for index in self.indexes.values()]
        self.index_schemas = sorted(schemas, key=lambda schema: schema.name)
        indexes = self.indexes.values()
        self.global_indexes = [index for index in indexes if index.schema.is_global]
        self.local_indexes = [index for index in indexes if not index.schema.is_global]
        self.has_local_indexes = bool(self.local_indexes)

    def drop_index(self, name: str, *, now_ns: int) -> Index:
        """Delete a global index: it is out of use at once, and DELETING for a while (UT-9)."""
        index = self.indexes[name]
        self.remove_index(name)
        index.deleted_at_ns = self._complete_at(now_ns)
        self.leaving.append(index)
        self._forget_unused_types()
        return index

    def add_vector_index(self, schema: VectorSchema, *, now_ns: int) -> None:
        """Add an empty vector index."""
        if self.vectors is None:
            # Loaded by the first table that has one: most never do.
            from emulator.engine.vector_indexes import VectorIndexes

            self.vectors = VectorIndexes()
        self.vectors.add(self, schema, now_ns)

    def drop_vector_index(self, name: str, *, now_ns: int) -> None:
        """Delete a vector index: it is out of use at once, and DELETING for a while (VIX-21)."""
        assert self.vectors is not None, "the rules leave an index to delete"
        self.vectors.drop(self, name, self._complete_at(now_ns))
        self._forget_unused_types()

    def _forget_unused_types(self) -> None:
        """Keep the definitions of those attributes that a key or a search schema names."""
        used = {attribute for schema in self.index_schemas for attribute in schema.key.names}
        used.update(self.key.names)
        if self.vectors is not None:
            used.update(self.vectors.attribute_names())
        self.attribute_types = {
            name: kind for name, kind in self.attribute_types.items() if name in used
        }

    def forget_deleted_indexes(self, now_ns: int) -> None:
        """Drop the indexes whose deletion is complete."""
        self.leaving = [index for index in self.leaving if (index.deleted_at_ns or 0) > now_ns]
        if self.vectors is not None:
            self.vectors.forget_deleted(now_ns)

    @property
    def index_buffer(self) -> float:
        """The write units that may wait for a global index before it closes (CAP2-4).

        Assumed: it is the table's warm write throughput times ``Settings.gsi_buffer_seconds``.
        """
        return self.settings.gsi_buffer_seconds * self.resource.growth.warm[WRITE]

    def begin_throughput_at(self, now_ns: int) -> None:
        """Let none of its buckets and queues be ahead of a moment."""
        for resource in self.resources():
            resource.meter.begin_at(now_ns)
        for index in self.global_indexes:
            index.queue.begin_at(now_ns)

    def resources(self) -> list[Resource]:
        """Return the table's resource, then those of its global indexes by name (CAP-606)."""
        by_name = sorted(self.global_indexes, key=lambda index: index.schema.name)
        return [self.resource, *(index.resource for index in by_name)]

    # Items

    @property
    def size_bytes(self) -> int:
        """The bytes of its items, in which an indexed vector counts as 32-bit numbers (VIX-64)."""
        saved = 0 if self.vectors is None else self.vectors.saved_bytes
        return self.store.size_bytes - saved

    def position(self, key: tuple[KeyValue, ...]) -> Position:
        """Return where the item with these key values lies."""
        return key_position(key, self._salt)

    def position_of(self, item: Item) -> Position:
        """Return where an item lies."""
        return self.position(self.key.values(item))

    def visible(self, now_ns: int, *, consistent: bool) -> OrderedStore:
        """Return the items that a read sees now."""
        return self.store if consistent or self.view is None else self.view.at(now_ns)

    def plan(self, position: Position, old: Item | None, new: Item | None) -> list[EntryChange]:
        """Return every index entry that a write from ``old`` to ``new`` changes."""
        changes = []
        salt, key = self._salt, position[1:]
        for index in self.indexes.values():
            change = plan_index_change(index.schema, old, new, salt, key)
            if change is not None:
                changes.append(change)
        return changes

    def commit(
        self,
        position: Position,
        old: Item | None,
        new: Item | None,
        changes: list[EntryChange],
        now_ns: int,
    ) -> None:
        """Apply a planned write to the items, the sizes and the expiry queue.

        Args:
            position: Which item.
            old: The stored item.
            new: The item to store.
            changes: Index entries that change with it; others pass a queue.
            now_ns: The moment.
        """
        if new is not None:
            # Equal, but one object for all items of the collection.
            new.attributes[self.key.names[0]] = position[1]
            self.store.put(position, new)
        elif old is not None:
            self.store.remove(position)
        else:
            return
        if self.view is not None:
            self.view.record([(position, new)], now_ns + self.lag_ns)
        size_change = (0 if new is None else new.size_bytes) - (
            0 if old is None else old.size_bytes
        )
        item_change = (old is None) - (new is None)
        self.resource.partitions.count(position, size_change, item_change)
        for change in changes:
            self.indexes[change.schema.name].apply(change, now_ns, now_ns)
        if self.has_local_indexes:
            self._count_local(position, old, new, changes)
        if self.expiry is not None:
            self.expiry.replace(position, old, new)
        if self.history is not None:
            self.history.record(position, old, now_ns)

    def _count_local(
        self, position: Position, old: Item | None, new: Item | None, changes: list[EntryChange]
    ) -> None:
        """Count local index entries into their partition and their collection (CAP-111)."""
        for change in changes:
            if not change.schema.is_global:
                self.resource.partitions.count(position, *_entry_growth(change))
        if self._shares_collections:
            self.collection_bytes = self.collection_bytes.copy()
            self._shares_collections = False
        collection = position[1]
        size = self.collection_bytes.get(collection, 0) + self.collection_growth(old, new, changes)
        if size:
            self.collection_bytes[collection] = size
        else:
            self.collection_bytes.pop(collection, None)

    def collection_growth(
        self, old: Item | None, new: Item | None, changes: list[EntryChange]
    ) -> int:
        """Return the billed bytes by which a write grows its item collection (CAP-111)."""
        growth = _billed(new) - _billed(old)
        for change in changes:
            if not change.schema.is_global:
                size_change, entries = _entry_growth(change)
                growth += units.billed_bytes(size_change, entries)
        return growth

    def show_everything(self) -> None:
        """Let readers see at once what is stored, whatever the lag."""
        holders: list[Table | Index] = [self, *self.indexes.values()]
        for holder in holders:
            if holder.view is not None:
                holder.view = LaggedView(holder.store)
        if self.vectors is not None:
            self.vectors.show_everything()

    # Life

    def begin_update(self, now_ns: int) -> None:
        """Enter UPDATING for as long as the settings say."""
        self.updated_at_ns = self._complete_at(now_ns)

    def is_updating_since(self, moment_ns: int) -> bool:
        """Return whether the last change of the table began at this moment."""
        return self._complete_at(moment_ns) == self.updated_at_ns

    def _complete_at(self, now_ns: int) -> int:
        return now_ns + round(self.settings.table_delay * NANOSECONDS)

    def is_unchanged_since(self, earlier: Table) -> bool:
        """Return whether its items and those of its indexes are those of an earlier copy."""
        return self.store.is_unchanged_since(earlier.store) and all(
            name in earlier.indexes
            and index.queue.is_empty
            and index.store.is_unchanged_since(earlier.indexes[name].store)
            for name, index in self.indexes.items()
        )

    def copy(self) -> Table:
        """Return an independent table of the same content, sharing until written."""
        twin = copy(self)
        twin.attribute_types = dict(self.attribute_types)
        twin.options = self.options.copy()
        twin.leaving = list(self.leaving)
        twin.switches = self.switches.copy()
        twin.quota = self.quota.copy()
        twin.resource = self.resource.copy(twin.quota)
        twin.store = self.store.share()
        twin.view = None if self.view is None else self.view.copy()
        twin.indexes = {name: index.copy(twin) for name, index in self.indexes.items()}
        twin._note_indexes()
        twin.stream = None if self.stream is None else self.stream.share()
        twin.expiry = None if self.expiry is None else self.expiry.share()
        twin.history = None if self.history is None else self.history.share()
        twin.replica = None if self.replica is None else self.replica.copy()
        self._shares_collections = twin._shares_collections = True
        twin.vectors = None if self.vectors is None else self.vectors.copy()
        return twin


def _billed(item: Item | None) -> int:
    return 0 if item is None else units.billed_bytes(item.size_bytes)


def _entry_growth(change: EntryChange) -> tuple[int, int]:
    """Return by how many bytes and entries a change grows its index."""
    size_change = entries = 0
    if change.before is not None:
        size_change -= change.before.item.size_bytes
        entries -= 1
    if change.after is not None:
        size_change += change.after.item.size_bytes
        entries += 1
    return size_change, entries
