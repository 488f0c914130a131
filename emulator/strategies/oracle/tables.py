"""The naive model: what a table does, as plainly as it can be said, in under a hundred lines.

A dict, a sort and a linear filter, nothing shared with the engine; slow, and easy to believe. It
is the oracle of ``DynamoDBMachine``; what conditions and updates mean is said in ``expressions``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from emulator.model import type_name
from emulator.service.errors import ConditionalCheckFailedException, ValidationException
from emulator.strategies.expression_trees import Action, Tree
from emulator.strategies.oracle.expressions import ABSENT, Attributes, Stored, holds, updated
from emulator.strategies.table_schema import TableSchema

Key = tuple[Any, ...]


class NaiveTable:
    """A table: its items by key, and every index computed each time that it is read.

    >>> from emulator.testing.table_notation import create_request
    >>> table = NaiveTable(TableSchema.of(create_request("orders", indexes={"all": "kind"})))
    >>> table.put({"pk": "b", "kind": "x"}), table.put({"pk": "a", "kind": "x"})
    (None, None)
    >>> [item["pk"] for item in table.read("all", ("=", ("kind",), "x"))]
    ['a', 'b']
    """

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.items: dict[Key, Attributes] = {}

    def key_of(self, item: Attributes) -> Key:
        """Return an item's key values."""
        return tuple(item[name] for name in self.schema.key.names)

    def put(self, item: Attributes, condition: Tree | None = None) -> Stored:
        """Store an item, and return the one it replaces."""
        return self._write(item, condition, lambda _: item)[0]

    def delete(self, key: Attributes, condition: Tree | None = None) -> Stored:
        """Remove an item, and return it."""
        return self._write(key, condition, lambda _: None)[0]

    def update(
        self, key: Attributes, actions: Sequence[Action], condition: Tree | None = None
    ) -> tuple[Stored, Stored]:
        """Change an item, and return it before and after."""
        return self._write(key, condition, lambda old: updated(actions, old, key))

    def _write(
        self, attributes: Attributes, condition: Tree | None, change: Callable[[Stored], Stored]
    ) -> tuple[Stored, Stored]:
        self._check_keys({}, attributes)
        old = self.items.get(self.key_of(attributes))
        if condition is not None and not holds(condition, old or {}):
            raise ConditionalCheckFailedException
        new = change(old)
        self._check_keys(old or {}, attributes if new is None else new)
        if new is None:
            self.items.pop(self.key_of(attributes), None)
        else:
            self.items[self.key_of(attributes)] = new
        return old, new

    def _check_keys(self, old: Attributes, new: Attributes) -> None:
        for name, letters in self.schema.key_types.items():
            value = new.get(name, ABSENT)
            if value is ABSENT and name not in self.schema.key.names:
                continue
            is_key = value is not ABSENT and type_name(value) == letters and value not in ("", b"")
            if not is_key and value is not old.get(name):
                raise ValidationException

    def read(
        self, index: str | None = None, condition: Tree | None = None, *, reverse: bool = False
    ) -> list[Attributes]:
        """Return all that a table or index holds and that fulfils a condition, in key order."""
        items = [
            item for item in self.items.values() if condition is None or holds(condition, item)
        ]
        if index is None:
            return sorted(items, key=self.key_of, reverse=reverse)
        schema = self.schema.index(index)
        for key in schema.key.attributes:
            items = [item for item in items if type_name(item.get(key.name)) == key.type]
        order = schema.key.names + self.schema.key.names
        items.sort(key=lambda item: [item[name] for name in order], reverse=reverse)
        if schema.projection.kind == "ALL":
            return items
        kept = {*order, *schema.projection.names}
        return [{name: item[name] for name in item if name in kept} for item in items]
