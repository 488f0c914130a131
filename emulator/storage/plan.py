"""Plans: every entry that a write changes, found before anything is changed.

Pricing and admission work on the plan; a refused write therefore has nothing to undo.
"""

from __future__ import annotations

from typing import NamedTuple

from emulator.model import IndexSchema, Item, KeyValue
from emulator.storage.routing import Position, key_position


class IndexEntry(NamedTuple):
    """An index entry and where it lies."""

    position: Position
    item: Item


class EntryChange(NamedTuple):
    """The change of one index by a write: at least one side is there, and they differ."""

    schema: IndexSchema
    before: IndexEntry | None
    after: IndexEntry | None

    @property
    def moves(self) -> bool:
        """Whether the entry's key changes: a removal and an insertion (CAP-309)."""
        return (
            self.before is not None
            and self.after is not None
            and self.before.position != self.after.position
        )


def entry_of(
    schema: IndexSchema,
    item: Item,
    salt: int,
    table_key: tuple[KeyValue, ...] | None = None,
    before: IndexEntry | None = None,
) -> IndexEntry | None:
    """Return the entry an item has in an index, or None.

    Args:
        schema: The index.
        item: The item.
        salt: The table's ``placement_salt``.
        table_key: The item's key in the table, if that is known.
        before: The entry that the item had, if any.
    """
    entry = schema.entry(item)
    if entry is None:
        return None
    if table_key is None:
        table_key = schema.table_key.values(item)
    key = schema.key.values(item) + table_key
    if before is not None and before.position[1:] == key:
        return IndexEntry(before.position, entry)
    return IndexEntry(key_position(key, salt, len(schema.key.partition)), entry)


def plan_index_change(
    schema: IndexSchema,
    old: Item | None,
    new: Item | None,
    salt: int,
    table_key: tuple[KeyValue, ...] | None = None,
) -> EntryChange | None:
    """Return how a write from ``old`` to ``new`` changes an index, or None if it does not."""
    before = None if old is None else entry_of(schema, old, salt, table_key)
    after = None if new is None else entry_of(schema, new, salt, table_key, before)
    if before is None and after is None:
        return None
    if (
        before is not None
        and after is not None
        and before.position == after.position
        and before.item.same_as(after.item)
    ):
        return None
    return EntryChange(schema, before, after)
