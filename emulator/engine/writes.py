"""Writes: plan, price, admit, judge, apply, in this order.

Nothing is changed before everything that can refuse the write has had its say, so a refused
write has nothing to undo (CAP-607).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from emulator.capacity import WRITE, Charge, Receipt
from emulator.capacity.units import (
    failed_condition_units,
    failed_put_units,
    index_arm,
    write_cost,
)
from emulator.engine.propagation import IndexArm, free_arms, propagate
from emulator.engine.splits import split_for_size
from emulator.model import ITEM_TOO_LARGE, UPDATE_TOO_LARGE, Item
from emulator.service import limits
from emulator.service.errors import (
    ConditionalCheckFailedException,
    ItemCollectionSizeLimitExceededException,
    ValidationException,
)
from emulator.storage import EntryChange, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Table
    from emulator.engine.vector_indexes import VectorPlan
    from emulator.expressions import Condition

CONDITION_FAILED: Final = "The conditional request failed"
COLLECTION_FULL: Final = "Collection size exceeded."


class Write(NamedTuple):
    """A write of one item, ready to be carried out.

    Attributes:
        table: Where.
        position: Which item.
        change: From the stored item to the new one; None stands for no item.
        condition: The condition on the stored item.
        new: The new item, when the request carries it whole (a put).
        shows_old: Whether a failed condition shows the stored item (OPC-3).
    """

    table: Table
    position: Position
    change: Callable[[Item | None], Item | None]
    condition: Condition | None = None
    new: Item | None = None
    shows_old: bool = False


class Planned(NamedTuple):
    """A write with its images, its index changes and its price.

    Attributes:
        write: The write.
        old: The stored item.
        new: The item to store.
        changes: Every index entry that changes.
        receipt: The receipt of the write.
        charges: The charges to admit before it is carried out.
        arms: Its changes in global indexes behind their queues; nothing where admission
            asks the indexes as well (``Settings.gsi_buffer_seconds=0``).
        failure: Why it is not carried out, though it is charged.
        vectors: Its changes in vector indexes, or None for a table without any.
    """

    write: Write
    old: Item | None
    new: Item | None
    changes: list[EntryChange]
    receipt: Receipt
    charges: list[Charge]
    arms: Sequence[IndexArm] = ()
    failure: ConditionalCheckFailedException | None = None
    vectors: VectorPlan | None = None


def execute(account: Account, write: Write) -> Planned:
    """Carry out a single write.

    Raises:
        ConditionalCheckFailedException: the condition does not hold; it was charged.
        ApiError: the write is refused for throughput or size; nothing was charged.
    """
    table = write.table
    account.holds.check(account, table, write.position)
    if table.replica is not None:
        account.network.regions.check_write(account, table.replica, write.position)
    planned = plan(write)
    account.admit_write(planned)
    if planned.failure is not None:
        raise planned.failure
    apply(account, planned)
    return planned


def plan(write: Write, *, factor: int = 1, is_limited: bool = True) -> Planned:
    """Return a write's changes and cost, and apply nothing.

    Args:
        write: The write.
        factor: The factor of the table arm; 2 in a transaction (CAP-305).
        is_limited: Whether the limits that local indexes bring are held; not of what another
            region has accepted.
    """
    table = write.table
    old = table.store.get(write.position)
    if write.condition is not None and not write.condition.holds(
        {} if old is None else old.attributes
    ):
        return _failed(write, old, factor)
    new = write.change(old)
    changes = table.plan(write.position, old, new) if table.indexes else []
    old_bytes = None if old is None else old.size_bytes
    new_bytes = None if new is None else new.size_bytes
    vectors = None
    if table.vectors is not None:
        vectors = table.vectors.plan(write.position, old, new)
        old_bytes = None if old_bytes is None else old_bytes - vectors.old_saved
        new_bytes = None if new_bytes is None else new_bytes - vectors.new_saved
    larger = max(old_bytes or 0, new_bytes or 0)
    blocks, loss = write_cost(larger)
    units = blocks * factor
    receipt = Receipt(WRITE, units, larger, 0, 1, 0, loss)
    receipt.transactional = factor > 1
    if table.replica is not None:
        receipt.replicas = len(table.replica.members) - 1
    if is_limited and table.has_local_indexes:
        _check_local_sizes(write, old, new, changes)
    if vectors is not None:
        if vectors.changes:
            receipt.vectors = vectors.written_bytes
    elif not changes:
        receipt.charges = charges = [table.resource.charge(WRITE, units, write.position)]
        return Planned(write, old, new, changes, receipt, charges)
    local_units, arms = _index_arms(table, changes, receipt)
    charges = [table.resource.charge(WRITE, units + local_units, write.position)]
    receipt.charges = all_charges = charges.copy()
    for arm in arms:
        all_charges += arm.charges
    if not table.settings.gsi_buffer_seconds:
        charges, arms = all_charges, []
    return Planned(write, old, new, changes, receipt, charges, arms, None, vectors)


def _failed(write: Write, old: Item | None, factor: int) -> Planned:
    """Price a write whose condition does not hold: the table only (CAP-303)."""
    old_bytes = None if old is None else old.size_bytes
    if old_bytes is not None and write.table.vectors is not None:
        old_bytes -= write.table.vectors.saved(write.position, old)
    if write.new is not None:
        units = failed_put_units(old_bytes, write.new.size_bytes)
    else:
        units = failed_condition_units(old_bytes)
    receipt = Receipt(WRITE, units * factor, transactional=factor > 1)
    charges = [write.table.resource.charge(WRITE, units * factor, write.position)]
    receipt.charges = charges
    shown = {"Item": old} if write.shows_old and old is not None else None
    failure = ConditionalCheckFailedException(CONDITION_FAILED, shown)
    return Planned(write, old, old, [], receipt, charges, failure=failure)


def _index_arms(
    table: Table, changes: list[EntryChange], receipt: Receipt
) -> tuple[float, list[IndexArm]]:
    """Price what changes in indexes: units of the local ones, arms of the global ones (CAP-605).

    Arms stand in the order of their names.
    """
    local_units = 0.0
    arms: list[IndexArm] = []
    if len(changes) > 1:
        changes = sorted(changes, key=lambda change: change.schema.name)
    for change in changes:
        schema, before, after = change
        moves = before is not None and after is not None and change.moves
        units = index_arm(
            None if before is None else before.item.size_bytes,
            None if after is None else after.item.size_bytes,
            moved=moves,
            identical=False,
        )
        index = table.indexes[schema.name]
        if not schema.is_global:
            receipt.lsi[schema.name] = units
            local_units += units
            continue
        receipt.gsi[schema.name] = units
        charge = index.resource.charge
        if before is not None and after is not None and moves:
            removed = index_arm(before.item.size_bytes, None, moved=False, identical=False)
            charges = [
                charge(WRITE, removed, before.position),
                charge(WRITE, units - removed, after.position),
            ]
        else:
            entry = after if after is not None else before
            assert entry is not None, "a change has at least one side"
            charges = [charge(WRITE, units, entry.position)]
        arms.append(IndexArm(index, change, charges))
    return local_units, arms


def _check_local_sizes(
    write: Write, old: Item | None, new: Item | None, changes: list[EntryChange]
) -> None:
    """Hold the limits of item and collection that local indexes bring (CAP-109, CAP-111).

    The item may grow without any change to an entry, so this is asked of every write.
    """
    table = write.table
    if new is not None:
        entries = (index.schema.entry(new) for index in table.local_indexes)
        together = new.size_bytes + sum(entry.size_bytes for entry in entries if entry)
        if together > limits.ITEM_BYTES:
            raise ValidationException(UPDATE_TOO_LARGE if write.new is None else ITEM_TOO_LARGE)
    growth = table.collection_growth(old, new, changes)
    if growth > 0:
        size = table.collection_bytes.get(write.position[1], 0) + growth
        if size > table.settings.item_collection_bytes:
            raise ItemCollectionSizeLimitExceededException(COLLECTION_FULL)


def place(account: Account, table: Table, position: Position, new: Item) -> None:
    """Put an item into a table and its indexes; nothing is admitted or charged."""
    old = table.store.get(position)
    changes = table.plan(position, old, new) if table.indexes else []
    if table.replica is not None:
        account.network.regions.send(account, table, position, new)
    if table.vectors is not None:
        table.vectors.commit(position, table.vectors.plan(position, old, new), account.now_ns)
    if not account.has_backlog or account.capacity != "enforce":
        table.commit(position, old, new, changes, account.now_ns)
        return
    local = [change for change in changes if not change.schema.is_global]
    table.commit(position, old, new, local, account.now_ns)
    propagate(account, table, position, free_arms(table, changes), Receipt(WRITE))


def apply(
    account: Account,
    planned: Planned,
    *,
    by_service: bool = False,
    is_replicated: bool = False,
    is_bulk: bool = False,
) -> None:
    """Carry out a planned write: items, indexes, stream, sizes.

    Args:
        account: The account.
        planned: The write.
        by_service: Whether time to live deletes, which takes nothing of the indexes.
        is_replicated: Whether the write was made in another region, which has sent it here.
        is_bulk: Whether a bulk put writes, which takes nothing of the indexes either (BLK-7).
    """
    write, old, new, changes, receipt, _, arms, _, vectors = planned
    table, now_ns = write.table, account.now_ns
    if arms and account.capacity == "enforce":
        if by_service or is_bulk:
            arms = free_arms(table, changes)
        changes = [change for change in changes if not change.schema.is_global]
    table.commit(write.position, old, new, changes, now_ns)
    if vectors is not None:
        is_free = by_service or is_bulk
        _apply_vectors(account, table, write.position, vectors, is_free=is_free)
    if table.stream is not None and table.stream.is_open:
        stream, partition_id = table.stream, None
        if stream.shards.follows_partitions:
            partition_id = table.resource.partitions.at(write.position).id
        stream.record(old, new, now_ns, by_service=by_service, partition_id=partition_id)
    if table.replica is not None and not is_replicated and (old is not None or new is not None):
        account.network.regions.send(account, table, write.position, new)
    _split_full_partitions(account, table, write.position, changes)
    if not arms or account.capacity == "off":
        return
    # What would have been refused, or is free and applied already, passes no queue.
    if account.capacity == "enforce" or not (by_service or is_bulk or receipt.reasons):
        propagate(account, table, write.position, arms, receipt)


def _apply_vectors(
    account: Account, table: Table, position: Position, vectors: VectorPlan, *, is_free: bool
) -> None:
    """Carry a write to the vector indexes; what is free elsewhere takes nothing of them."""
    assert table.vectors is not None, "it was planned with them"
    if account.capacity != "off" and not is_free:
        table.vectors.count(account, table, vectors)
    table.vectors.commit(position, vectors, account.now_ns)


def _split_full_partitions(
    account: Account, table: Table, position: Position, changes: list[EntryChange]
) -> None:
    """Split the partitions that a write has made outgrow their size (CAP-504)."""
    most_bytes = account.settings.partition_bytes
    if table.resource.partitions.at(position).size_bytes >= most_bytes:
        split_for_size(account, table, table.resource, account.throughput_ns)
    for schema, _, after in changes:
        if after is not None and schema.is_global:
            resource = table.indexes[schema.name].resource
            if resource.partitions.at(after.position).size_bytes >= most_bytes:
                split_for_size(account, table, resource, account.throughput_ns)
