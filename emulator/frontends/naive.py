"""The naive model: what the service does, as plainly as it can be said.

A dict, a sort and a linear filter, nothing shared with the engine; slow, and easy to believe. It
is the oracle of ``DynamoDBMachine``. Conditions and updates are trees (``phrases``), judged as
``naive_phrases`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from emulator.errors import ConditionalCheckFailedException, ValidationException
from emulator.frontends.naive_phrases import ABSENT, Attributes, holds, updated
from emulator.frontends.phrases import Action, Tree
from emulator.frontends.schemas import TableSchema
from emulator.model import type_name

Key = tuple[Any, ...]


class NaiveTable:
    """A table: its items by key, and every index computed anew when it is read.

    >>> from emulator.frontends.table_notation import create_request
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

    def put(self, item: Attributes, condition: Tree | None = None) -> Attributes | None:
        """Store an item, and return the one it replaces."""
        for attribute in self.schema.key.attributes:
            _check_key(item.get(attribute.name, ABSENT), attribute.type)
        self._check_index_keys({}, item)
        return self._write(self.key_of(item), lambda _: item, condition)[0]

    def delete(self, key: Attributes, condition: Tree | None = None) -> Attributes | None:
        """Remove an item, and return it."""
        return self._write(self.key_of(key), lambda _: None, condition)[0]

    def update(
        self, key: Attributes, actions: Sequence[Action], condition: Tree | None = None
    ) -> tuple[Attributes | None, Attributes | None]:
        """Change an item, and return it before and after."""
        return self._write(self.key_of(key), lambda old: updated(actions, old, key), condition)

    def _write(
        self, key: Key, change: Callable[[Attributes | None], Any], condition: Tree | None
    ) -> tuple[Attributes | None, Attributes | None]:
        old = self.items.get(key)
        if condition is not None and not holds(condition, old or {}):
            raise ConditionalCheckFailedException
        new = change(old)
        self._check_index_keys(old or {}, new or {})
        if new is None:
            self.items.pop(key, None)
        else:
            self.items[key] = new
        return old, new

    def _check_index_keys(self, old: Attributes, new: Attributes) -> None:
        for index in self.schema.indexes:
            for attribute in index.key.attributes:
                value = new.get(attribute.name, ABSENT)
                if value is not ABSENT and value is not old.get(attribute.name, ABSENT):
                    _check_key(value, attribute.type)

    def read(
        self, index: str | None = None, condition: Tree | None = None, *, reverse: bool = False
    ) -> list[Attributes]:
        """Return all that a table or index holds and that fulfils a condition, in key order."""
        found = [one for one in self.items.values() if condition is None or holds(condition, one)]
        if index is None:
            return sorted(found, key=self.key_of, reverse=reverse)
        schema = self.schema.index(index)
        found = [item for item in found if _has_types(item, schema.key.attributes)]
        order = schema.key.names + self.schema.key.names
        found.sort(key=lambda item: [item[name] for name in order], reverse=reverse)
        if schema.projection.kind == "ALL":
            return found
        kept = {*order, *schema.projection.names}
        return [{name: item[name] for name in item if name in kept} for item in found]


def _check_key(value: Any, letters: str) -> None:
    if value is ABSENT or type_name(value) != letters or value in ("", b""):
        raise ValidationException


def _has_types(item: Attributes, attributes: Sequence[Any]) -> bool:
    return all(type_name(item.get(one.name)) == one.type for one in attributes)
