"""Items that writes have replaced, for point-in-time recovery, as lines of a snapshot file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from emulator.engine import Account, Table
from emulator.engine.history import ChangeLog
from emulator.model import Item
from emulator.model.wire import dump_item, load_item
from emulator.operations.recovery import DAY_NS
from emulator.operations.rules.keys import key_of_item
from emulator.persistence.written import Moments


def dump_head(table: Table) -> dict[str, Any] | None:
    """Return since when the history of a table is known, and how many changes follow."""
    history = table.history
    if history is None:
        return None
    return {"since": history.complete_since_ns, "changes": len(history.changes)}


def dump(table: Table) -> Iterator[dict[str, Any]]:
    """Yield the changes of a table's history, oldest first."""
    for change in () if table.history is None else table.history.changes:
        key = dict(zip(table.key.names, change.position[1:], strict=True))
        yield {
            "at": change.at_ns,
            "key": dump_item(key),
            "old": None if change.old is None else dump_item(change.old.attributes),
        }


def load(
    account: Account,
    table: Table,
    head: Mapping[str, Any] | None,
    lines: Iterable[Mapping[str, Any]],
    moments: Moments,
) -> None:
    """Give a table with recovery its history; where a file has none, it begins now."""
    recovery = table.options.recovery
    if recovery is None:
        return
    since_ns = account.now_ns if head is None else moments.ns(head["since"])
    table.history = history = ChangeLog(
        since_ns, period_ns=recovery.days * DAY_NS, most_bytes=account.settings.recovery_log_bytes
    )
    for line in lines:
        old = None if line["old"] is None else load_item(line["old"])
        key: Item = load_item(line["key"])
        history.record(table.position(key_of_item(key, table.key)), old, moments.ns(line["at"]))
    history.check()
