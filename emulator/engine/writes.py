"""Writes: plan, price, admit, judge, apply, in this order.

Nothing is changed before everything that can refuse the write has had its say, so a refused
write has nothing to undo (CAP-607).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from emulator.capacity import WRITE, Charge, Receipt
from emulator.capacity.units import (
    failed_condition_units,
    failed_put_units,
    index_arm,
    table_arm,
    write_loss,
)
from emulator.expressions import Condition
from emulator.model import Item
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

CONDITION_FAILED: Final = "The conditional request failed"
COLLECTION_FULL: Final = "Collection size exceeded."
ITEM_TOO_LARGE: Final = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE: Final = "Item size to update has exceeded the maximum allowed size"


class Write(NamedTuple):
    """A write of one item, ready to be carried out.

    Attributes:
        table: Where.
        position: Which item.
        change: From the stored item to the new one; None stands for no item.
        condition: What must hold of the stored item.
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
    """A write with its images, its index changes and its price."""

    write: Write
    old: Item | None
    new: Item | None
    changes: list[EntryChange]
    receipt: Receipt
    charges: list[Charge]
    failure: ConditionalCheckFailedException | None = None


def execute(account: Account, write: Write) -> Planned:
    """Carry out a single write.

    Raises:
        ConditionalCheckFailedException: the condition does not hold; it was charged.
        ApiError: the write is refused for throughput or size; nothing was charged.
    """
    account.holds.check(account, write.table, write.position)
    planned = plan(write)
    account.admit(write.table, planned.charges, planned.receipt)
    if planned.failure is not None:
        raise planned.failure
    apply(account, planned)
    return planned


def plan(write: Write, *, factor: int = 1) -> Planned:
    """Return what a write would do and cost, changing nothing.

    Args:
        write: The write.
        factor: What the table arm is multiplied with; 2 in a transaction (CAP-305).
    """
    table = write.table
    old = table.store.get(write.position)
    if write.condition is not None and not write.condition.holds(
        {} if old is None else old.attributes
    ):
        return _failed(write, old, factor)
    new = write.change(old)
    changes = table.plan(old, new) if table.indexes else []
    old_bytes = None if old is None else old.size_bytes
    new_bytes = None if new is None else new.size_bytes
    units = table_arm(old_bytes, new_bytes) * factor
    receipt = Receipt(WRITE, units, transactional=factor > 1)
    larger = max(old_bytes or 0, new_bytes or 0)
    receipt.bytes_evaluated = larger
    receipt.items_evaluated = 1
    receipt.rounding_loss_bytes = write_loss(larger)
    if not changes:
        charges = [table.resource.charge(WRITE, units, write.position)]
        return Planned(write, old, new, changes, receipt, charges)
    _check_local_sizes(table, write.position, old, new, changes)
    charges = _index_charges(table, write.position, units, changes, receipt)
    return Planned(write, old, new, changes, receipt, charges)


def _failed(write: Write, old: Item | None, factor: int) -> Planned:
    """Price a write whose condition does not hold: the table only (CAP-303)."""
    old_bytes = None if old is None else old.size_bytes
    if write.new is not None:
        units = failed_put_units(old_bytes, write.new.size_bytes)
    else:
        units = failed_condition_units(old_bytes)
    receipt = Receipt(WRITE, units * factor, transactional=factor > 1)
    charges = [write.table.resource.charge(WRITE, units * factor, write.position)]
    shown = {"Item": old} if write.shows_old and old is not None else None
    failure = ConditionalCheckFailedException(CONDITION_FAILED, shown)
    return Planned(write, old, old, [], receipt, charges, failure)


def _index_charges(
    table: Table, position: Position, units: float, changes: list[EntryChange], receipt: Receipt
) -> list[Charge]:
    """Price every index arm and return the charges, table first, then GSIs by name (CAP-605)."""
    table_units = units
    charges: list[Charge] = []
    if len(changes) > 1:
        changes = sorted(changes, key=lambda change: change.schema.name)
    for change in changes:
        before, after = change.before, change.after
        arm = index_arm(
            None if before is None else before.item.size_bytes,
            None if after is None else after.item.size_bytes,
            moved=change.moves,
            identical=False,
        )
        name = change.schema.name
        if not change.schema.is_global:
            receipt.lsi[name] = arm
            table_units += arm
            continue
        resource = table.indexes[name].resource
        receipt.gsi[name] = arm
        if before is not None and after is not None and change.moves:
            removed = index_arm(before.item.size_bytes, None, moved=False, identical=False)
            charges.append(resource.charge(WRITE, removed, before.position))
            charges.append(resource.charge(WRITE, arm - removed, after.position))
        else:
            entry = after if after is not None else before
            assert entry is not None, "a change has at least one side"
            charges.append(resource.charge(WRITE, arm, entry.position))
    return [table.resource.charge(WRITE, table_units, position), *charges]


def _check_local_sizes(
    table: Table,
    position: Position,
    old: Item | None,
    new: Item | None,
    changes: list[EntryChange],
) -> None:
    """Hold the limits of item and collection that local indexes bring (CAP-109, CAP-111)."""
    if not table.has_local_indexes:
        return
    if new is not None:
        entries = (index.schema.entry(new) for index in table.local_indexes)
        together = new.size_bytes + sum(entry.size_bytes for entry in entries if entry)
        if together > limits.ITEM_BYTES:
            raise ValidationException(ITEM_TOO_LARGE if old is None else UPDATE_TOO_LARGE)
    growth = table.collection_growth(old, new, changes)
    if growth > 0:
        size = table.collection_bytes.get(position[1], 0) + growth
        if size > table.settings.item_collection_bytes:
            raise ItemCollectionSizeLimitExceededException(COLLECTION_FULL)


def apply(account: Account, planned: Planned, *, by_service: bool = False) -> None:
    """Carry out a planned write: items, indexes, stream, sizes."""
    table = planned.write.table
    now_ns = account.now_ns
    table.commit(planned.write.position, planned.old, planned.new, planned.changes, now_ns)
    if table.stream is not None and table.stream.is_open:
        table.stream.record(planned.old, planned.new, now_ns, by_service=by_service)
    account.after_write(table, planned)
