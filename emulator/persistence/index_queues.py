"""Changes that wait for global indexes, as lines of a snapshot file (CAP2-4.8).

A file has the items of a table as they are, so its indexes come back with everything applied that
was accepted. What had not been applied is taken back, and waits again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from emulator.capacity import WRITE, Reason
from emulator.engine.account import Account
from emulator.engine.table import Index, Table
from emulator.model.wire import dump_item, load_item
from emulator.persistence.written import integer, number, text
from emulator.storage import EntryChange, IndexEntry, entry_of


def dump(table: Table, now_ns: int) -> Iterator[dict[str, Any]]:
    """Yield every change that waits for an index of the table, oldest first.

    Then come the queues: since when something waits, and until when an index is closed.
    """
    waiting = [(index, queued) for index in table.global_indexes for queued in index.queue]
    for index, queued in sorted(waiting, key=lambda pair: pair[1].number):
        yield {
            "index": index.schema.name,
            "before": _dump_entry(queued.change.before),
            "after": _dump_entry(queued.change.after),
            "units": [charge.units for charge in queued.charges],
            "waited_ns": now_ns - queued.accepted_ns,
        }
    for index in table.global_indexes:
        if not index.queue.is_empty:
            yield {
                "index": index.schema.name,
                "since_ns": now_ns - index.queue.since_ns,
                "last_ns": now_ns - index.queue.last_ns,
            }
        if index.queue.has_closed:
            yield {
                "index": index.schema.name,
                "closed_ns": index.queue.gate.closed_until_ns - now_ns,
                "reasons": [reason.reason for reason in index.queue.reasons(now_ns)],
            }


def _dump_entry(entry: IndexEntry | None) -> dict[str, Any] | None:
    return None if entry is None else dump_item(entry.item.attributes)


def load(account: Account, table: Table, lines: Iterable[Mapping[str, Any]]) -> None:
    """Let wait what waited when the file was written; elsewhere than in "enforce" nothing does."""
    if account.capacity != "enforce":
        return
    now_ns = account.throughput_ns
    waiting, queues = [], []
    for line in lines:
        index = table.indexes[line["index"]]
        if "closed_ns" in line:
            reasons = tuple(Reason(text(name), index.resource.arn) for name in line["reasons"])
            index.queue.close(now_ns + integer(line["closed_ns"], least=None), reasons)
            table.has_closed_index = True
        elif "since_ns" in line:
            queues.append((line, index))
        else:
            before, after = (_load_entry(table, index, line[side]) for side in ("before", "after"))
            waiting.append((line, index, EntryChange(index.schema, before, after)))
    for _, index, change in reversed(waiting):
        taken_back = EntryChange(index.schema, change.after, change.before)
        index.apply(taken_back, now_ns, now_ns)
    for line, index, change in waiting:
        _enqueue(account, table, index, change, line)
    for line, index in queues:
        index.queue.since_ns = now_ns - integer(line["since_ns"])
        index.queue.last_ns = now_ns - integer(line["last_ns"])


def _load_entry(table: Table, index: Index, written: Mapping[str, Any] | None) -> IndexEntry | None:
    if written is None:
        return None
    return entry_of(index.schema, load_item(written), table.settings.placement_salt)


def _enqueue(
    account: Account, table: Table, index: Index, change: EntryChange, line: Mapping[str, Any]
) -> None:
    sides = [side for side in (change.before, change.after) if side is not None]
    entry = sides[-1]
    if len(line["units"]) < len(sides):
        sides = [entry]
    charges = [
        index.resource.charge(WRITE, number(units), side.position)
        for units, side in zip(line["units"], sides, strict=True)
    ]
    table.changes_accepted += 1
    account.has_backlog = True
    index.queue.enqueue(
        table.changes_accepted,
        table.position_of(entry.item),
        change,
        charges,
        account.throughput_ns - integer(line["waited_ns"]),
    )
