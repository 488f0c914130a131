"""Propagation: how the writes of a table reach its global indexes (CAP2-4).

A write is accepted by its table alone. What it changes in a global index passes the index's queue:
at once where the index has room, later where it has not. An index with too much waiting closes,
and closes its table's writes with it. Only "enforce" delays anything; in "observe" the queue is
kept as a book, and every change is applied at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from emulator.capacity import WRITE, Charge, Reason, Receipt, record
from emulator.engine.events import IndexApplied, IndexClosed, IndexDelayed
from emulator.engine.splits import split_for_size
from emulator.storage import EntryChange, Position

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.table import Index, Table
    from emulator.engine.writes import Planned


class IndexArm(NamedTuple):
    """The change of a write in one global index, and its charges there."""

    secondary: Index
    change: EntryChange
    charges: Sequence[Charge]


def free_arms(table: Table, changes: Sequence[EntryChange]) -> list[IndexArm]:
    """Return arms that take nothing: deletions by time to live, imports."""
    arms = []
    for change in changes:
        index = table.indexes[change.schema.name]
        if index.schema.is_global:
            sides = [side for side in (change.before, change.after) if side is not None]
            charges = [index.resource.charge(WRITE, 0.0, side.position) for side in sides]
            arms.append(IndexArm(index, change, charges))
    return arms


def propagate(
    account: Account, table: Table, item: Position, arms: Sequence[IndexArm], receipt: Receipt
) -> None:
    """Carry the changes of an accepted write to the global indexes, in order.

    Args:
        account: The account.
        table: The table that was written.
        item: Where the written item lies.
        arms: The change in each global index.
        receipt: Notes which of them have to wait.
    """
    delays = account.capacity == "enforce"
    now_ns = account.throughput_ns
    for index, change, charges in arms:
        table.changes_accepted += 1
        partitions = index.resource.meter.partitions
        for charge in charges:
            if charge.partition_id not in partitions:
                # It was split since the write was planned: by this write, or by one before it.
                charges = index.charged_anew(charges)
                break
        if account.is_judged:
            reasons = index.queue.accept(table.changes_accepted, item, change, charges, now_ns)
            if reasons is not None:
                _note_delay(account, table, index, charges, reasons, receipt)
                continue
        else:
            record(charges, now_ns)
        if account.events.wanted:
            _tell_applied(account, index, charges, now_ns)
        if delays:
            apply_change(account, table, index, change, account.now_ns, account.now_ns)


def _note_delay(
    account: Account,
    table: Table,
    index: Index,
    charges: Sequence[Charge],
    reasons: tuple[Reason, ...],
    receipt: Receipt,
) -> None:
    """Count a change that has to wait, once and at once; close the index if too much waits."""
    now_ns, resource, queue = account.throughput_ns, index.resource, index.queue
    owner = account.owner_of(table)
    account.has_backlog = owner.has_backlog = True
    receipt.delayed += reasons[:1]
    owner.metrics.count_throttles(reasons)
    for charge in charges:
        resource.meter.traffic.refuse(charge.partition_id, WRITE, charge.units, charge.position, 0)
    is_closing = queue.close_if_full(table.index_buffer, now_ns)
    table.has_closed_index = table.has_closed_index or is_closing
    if account.events.wanted:
        position = charges[0].position
        units = sum(charge.units for charge in charges)
        account.events.publish(
            IndexDelayed(
                now_ns, account.operation, table.name, resource.arn, position, reasons, units
            )
        )
        if is_closing:
            account.events.publish(IndexClosed(now_ns, resource.arn, queue.backlog))


def _tell_applied(
    account: Account, index: Index, charges: Sequence[Charge], applied_ns: int
) -> None:
    units = sum(charge.units for charge in charges)
    account.events.publish(IndexApplied(applied_ns, index.resource.arn, units))


def apply_change(
    account: Account,
    table: Table,
    index: Index,
    change: EntryChange,
    accepted_ns: int,
    applied_ns: int,
) -> None:
    """Apply a change to its index, and split the partition that it fills up (CAP-504)."""
    index.apply(change, accepted_ns, applied_ns)
    if change.after is not None:
        resource = index.resource
        size_bytes = resource.partitions.at(change.after.position).size_bytes
        if size_bytes >= account.settings.partition_bytes:
            split_for_size(account, table, resource, applied_ns)


def refusal(table: Table, now_ns: int) -> tuple[Reason, ...]:
    """Return why a table's writes are refused for an index that is closed, ``()`` if none is."""
    if not table.has_closed_index:
        return ()
    for index in table.global_indexes:
        if index.queue.is_closed(table.index_buffer, now_ns):
            return index.queue.reasons(now_ns)
    table.has_closed_index = False
    return ()


def write_refusal(account: Account, planned: Planned) -> tuple[Reason, ...]:
    """Return why a write is refused by an index of its table, ``()`` if by none (VIX-45)."""
    table, now_ns = planned.write.table, account.throughput_ns
    reasons = refusal(table, now_ns)
    if not reasons and table.vectors is not None and planned.vectors is not None:
        may_refuse = account.capacity != "off" and account.is_judged
        reasons = table.vectors.refusal(planned.vectors, now_ns) if may_refuse else ()
    return reasons


def drain(account: Account, until_ns: int) -> None:
    """Apply every waiting change that finds room until a moment, in order of time."""
    delays = account.capacity == "enforce"
    for table in list(account.tables.values()):
        while True:
            first = min(
                (
                    (due.time_ns, due.number, index)
                    for index in table.global_indexes
                    if (due := index.queue.next_due()) is not None
                ),
                default=None,
                key=lambda due: due[:2],
            )
            if first is None or first[0] > until_ns:
                break
            index = first[2]
            due = index.queue.apply_next()
            if account.events.wanted:
                _tell_applied(account, index, due.waiting.charges, due.time_ns)
            if delays:
                change, accepted_ns = due.waiting.change, due.waiting.accepted_ns
                apply_change(account, table, index, change, accepted_ns, due.time_ns)
    account.has_backlog = has_backlog(account)


def has_backlog(account: Account) -> bool:
    """Return whether some change waits for room in a global index."""
    return any(
        not index.queue.is_empty
        for table in account.tables.values()
        for index in table.global_indexes
    )
