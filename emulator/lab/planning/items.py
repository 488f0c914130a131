"""Items: what a pattern writes under a design, filled up to the size it states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Final, cast

from emulator.lab.inputs.key_templates import KeyTemplate, Renderer, ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP, Field, Pattern
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import PAYLOAD, Layout, TableLayout
from emulator.model import Item, Value, attributes_size
from emulator.storage import Position, key_position

#: Payloads of different updates differ.
FILLERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
#: Hashed partition keys that are kept; most keys come again.
_MOST_PREFIXES: Final = 50_000
#: Of fields with more values a change that draws the old one is too rare to matter.
_LISTED: Final = 1_000
#: Multiples of it lie evenly between whole numbers.
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def stored_fields(layout: Layout, pattern: Pattern) -> list[str]:
    """Return the fields that items carry as attributes, besides those in their keys.

    They are what filters look at, what indexes include, and what index keys are made of.
    """
    table = layout.table_of(pattern)
    wanted: set[str] = set()
    for other in layout.workload.patterns:
        if not other.is_write and layout.table_of(other) is table:
            wanted.update(find_path(layout, other).filters)
    for index in table.indexes:
        wanted.update(index.key.names)
        if not isinstance(index.design.projection, str):
            wanted.update(index.design.projection)
    return sorted((wanted & layout.item_fields(pattern)) - {TIMESTAMP})


def random_shards(layout: Layout, pattern: Pattern) -> list[ShardPart]:
    """Return the suffixes that are drawn for each item that a pattern writes."""
    table = layout.table_of(pattern)
    key = table.key(pattern.entity)
    held = [index for index in table.indexes if index.holds(layout.item_fields(pattern))]
    keys = (key, *(index.key for index in held))
    parts = {
        part.label: part
        for key in keys
        for template in (*key.partition, *key.sort)
        for part in template.shards
        if not part.fields
    }
    return list(parts.values())


def needed_fields(layout: Layout, pattern: Pattern) -> list[str]:
    """Return the fields to draw for an item that a pattern writes."""
    table = layout.table_of(pattern)
    held = [index for index in table.indexes if index.holds(layout.item_fields(pattern))]
    names = set(table.key(pattern.entity).names).union(*(index.key.names for index in held))
    names.update(stored_fields(layout, pattern), pattern.changes)
    return sorted(names - {TIMESTAMP})


class ItemMaker:
    """Makes the items of one pattern from rows of field values.

    Args:
        layout: The design under its workload.
        pattern: Whose items.
        columns: Where in a row each field stands.
        placement_salt: As of the settings of the run.
    """

    def __init__(
        self,
        layout: Layout,
        pattern: Pattern,
        columns: Mapping[str, int],
        *,
        placement_salt: int,
    ) -> None:
        self._placement_salt = placement_salt
        self.table: TableLayout = layout.table_of(pattern)
        key = self.table.key(pattern.entity)
        fields = layout.item_fields(pattern)
        self._partition = key.partition[0].bind(columns)
        self._sort = key.sort[0].bind(columns) if key.sort else None
        indexed = {
            name: template
            for name, template in self.table.index_attributes.items()
            if template.names <= fields
        }
        own = {self.table.partition_name, self.table.sort_name}
        self._rendered: list[tuple[str, Renderer]] = [
            (name, template.bind(columns)) for name, template in indexed.items()
        ]
        self._plain = [
            (name, columns[name])
            for name in stored_fields(layout, pattern)
            if name not in own and name not in indexed
        ]
        self._extras: dict[str, Value] = {
            name: "a" * size for name, size in layout.workload.attributes.items()
        }
        self._moved = {
            name: template
            for name, template in indexed.items()
            if template.names & set(pattern.changes)
        }
        self._changes = [(name, columns[name]) for name in pattern.changes if name in columns]
        self._columns = columns
        #: By field that changes, its values and how often each is drawn.
        self._choices = {
            name: _choices(layout.workload.field(name), pattern) for name, _ in self._changes
        }
        #: By salt, number of attributes, length of their texts and size wanted: the filler that
        #: such an item needs, "" for none, and the size that it then has.
        self._fillers: dict[tuple[int, int, int, int], tuple[str, int]] = {}
        self._prefixes: dict[str, Position] = {}

    def make(
        self, row: Sequence[str], moment: float, size_bytes: int, salt: int = 0
    ) -> tuple[Position, Item]:
        """Return a new item and where it lies."""
        position = self._collection(self._partition(row, moment))
        if self._sort is not None:
            position = (*position, self._sort(row, moment))
        return position, self._new(position, self._other(row, moment), size_bytes, salt)

    def make_all(
        self,
        rows: Sequence[Sequence[str]],
        moments: Sequence[float],
        sizes: Iterable[int],
        salts: Iterable[int],
    ) -> list[tuple[Position, Item]]:
        """Return new items and where they lie: what ``make`` does of each, in fewer calls."""
        known, collection = self._prefixes, self._collection
        partitions = map(self._partition, rows, moments)
        positions = [known.get(text) or collection(text) for text in partitions]
        if self._sort is not None:
            sorts = map(self._sort, rows, moments)
            positions = [(*position, sort) for position, sort in zip(positions, sorts, strict=True)]
        others: Iterable[Mapping[str, Value]] = repeat(self._extras)
        if self._rendered or self._plain:
            others = map(self._other, rows, moments)
        items = map(self._new, positions, others, sizes, salts)
        return list(zip(positions, items, strict=True))

    def _collection(self, partition: str) -> Position:
        """Return where an item collection begins."""
        prefix = self._prefixes.get(partition)
        if prefix is None:
            if len(self._prefixes) >= _MOST_PREFIXES:
                self._prefixes.clear()
            prefix = key_position((partition,), salt=self._placement_salt)
            self._prefixes[partition] = prefix
        return prefix

    def _other(self, row: Sequence[str], moment: float) -> Mapping[str, Value]:
        """Return the attributes of an item besides its key and its payload."""
        other: dict[str, Value] = {name: render(row, moment) for name, render in self._rendered}
        for name, column in self._plain:
            other[name] = row[column]
        other.update(self._extras)
        return other

    def _new(
        self, position: Position, other: Mapping[str, Value], size_bytes: int, salt: int
    ) -> Item:
        table = self.table
        attributes: dict[str, Value] = {table.partition_name: position[1]}
        if table.sort_name is not None:
            attributes[table.sort_name] = position[2]
        if other:
            attributes.update(other)
        return self._filled(attributes, size_bytes, salt)

    def change(
        self, old: Item, row: Sequence[str], moment: float, size_bytes: int, salt: int
    ) -> Item:
        """Return an item after an update: another payload, and new values of what changes."""
        attributes = dict(old.attributes)
        attributes.pop(PAYLOAD, None)
        row = self._with_new_values(row, old, salt)
        for name, column in self._changes:
            if name in attributes:
                attributes[name] = row[column]
        for name, template in self._moved.items():
            attributes[name] = self._rerendered(template, attributes, row, moment)
        return self._filled(attributes, size_bytes, salt)

    def _with_new_values(self, row: Sequence[str], old: Item, salt: int) -> Sequence[str]:
        """Return a row in which what changes is not as it was: another value, as often as drawn."""
        changed = list(row)
        for name, column in self._changes:
            texts, weights = self._choices.get(name, ((), ()))
            if old.attributes.get(name) != row[column] or len(texts) < 2:
                continue
            others = [own for own in zip(texts, weights, strict=True) if own[0] != row[column]]
            place = salt * _GOLDEN % 1.0 * math.fsum(weight for _, weight in others)
            for text, weight in others:
                changed[column], place = text, place - weight
                if place < 0:
                    break
        return changed

    def _rerendered(
        self,
        template: KeyTemplate,
        attributes: Mapping[str, Value],
        row: Sequence[str],
        moment: float,
    ) -> str:
        """Return an index key of changed values; what did not change comes from the item."""
        merged = list(row)
        for name, column in self._columns.items():
            value = attributes.get(name)
            if isinstance(value, str):
                merged[column] = value
        for _, column in self._changes:
            merged[column] = row[column]
        return template.bind(self._columns)(merged, moment)

    def _filled(self, attributes: dict[str, Value], size_bytes: int, salt: int) -> Item:
        """Return an item filled up to a size; plain texts of one length need the same filler.

        The names of a pattern's attributes are always the same.
        """
        text = "".join(cast("Iterable[str]", attributes.values()))
        key = (salt, len(attributes), len(text), size_bytes)
        known = self._fillers.get(key) if text.isascii() else None
        if known is None:
            known = _filler(attributes, size_bytes, salt)
            if text.isascii():
                self._fillers[key] = known
        filler, size = known
        if filler:
            attributes[PAYLOAD] = filler
        return Item(attributes, size)


def _choices(field: Field, pattern: Pattern) -> tuple[list[str], list[float]]:
    """Return the values of a field with their weights; none of fields with many, or of others'."""
    if field.unique or field.per is not None or field.size > _LISTED:
        return [], []
    weights = pattern.pick(field).probabilities(field.size).tolist()
    return list(map(field.identity, range(field.size))), weights


def _filler(attributes: dict[str, Value], size_bytes: int, salt: int) -> tuple[str, int]:
    """Return the text that fills an item up, "" if it is full, and its size with it."""
    size = attributes_size(attributes)
    room = size_bytes - size - len(PAYLOAD)
    if room <= 0:
        return "", size
    return FILLERS[salt] * room, size_bytes
