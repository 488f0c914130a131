"""The model of writes: puts, updates and deletes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.capacity import WRITE
from emulator.lab.inputs.distributions import Floats
from emulator.lab.inputs.distributions import Sequential as InTurn
from emulator.lab.inputs.key_templates import DAY
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.items import ItemMaker, needed_fields, random_shards
from emulator.lab.planning.key_traits import is_new_every_time, is_unbounded
from emulator.lab.planning.layout import IndexLayout
from emulator.lab.planning.sampling import with_parents
from emulator.lab.world.bins import MOST_CELLS, Cells, cells_of
from emulator.lab.world.contents import Entries, WorldCell
from emulator.lab.world.families import Placement
from emulator.lab.world.patterns import Context, PatternModel, PerWorld, Price
from emulator.lab.world.prices import Mixed, Overwritten, WritePricer, between, mean_size

#: The most pieces of time by which items written before the run are told apart.
_MOST_PIECES: Final = 400

Keys = Sequence[Sequence[tuple[str, ...]]]


class WriteModel(PatternModel):
    """Puts, updates and deletes of one pattern."""

    def __init__(self, context: Context, path: AccessPath) -> None:
        super().__init__(context, path)
        workload, fields = context.workload, context.layout.item_fields(self.pattern)
        held = [index for index in path.table.indexes if index.holds(fields)]
        #: The table, its global indexes, then its local ones.
        self._indexes: list[IndexLayout | None] = [
            None,
            *(index for index in held if index.is_global),
            *(index for index in held if not index.is_global),
        ]
        keys = [path.key if index is None else index.key for index in self._indexes]
        cells = self._make_cells()
        placed = [
            Placement(
                context.number_of(path.table, index),
                WRITE,
                key,
                cells,
                workload,
                is_spread=is_new_every_time(key, workload, creates=True),
                ties=() if index is None else (*path.key.partition, *path.key.sort),
            )
            for index, key in zip(self._indexes, keys, strict=True)
        ]
        self._global = 1 + sum(index.is_global for index in held)
        self.placements, self._local = tuple(placed[: self._global]), placed[self._global :]
        self._pricer = self._make_pricer(cells)
        context.pricers[self.pattern.name] = self._pricer
        self._unbounded = is_unbounded(path.key, workload)
        #: The keys that entries were found for, and the entries of the table and of each index.
        self._entries_of: tuple[Keys, list[Entries]] | None = None

    @property
    def _is_growing(self) -> bool:
        """Whether every write makes an item, and none is written over."""
        return self._unbounded and self.pattern.is_put

    @property
    def is_fixed(self) -> bool:
        """Whether calls cost the same, whatever is stored: every write makes an item."""
        return self._is_growing

    @property
    def _removes(self) -> bool:
        return self.pattern.operation == "DeleteItem"

    def begin(self) -> None:
        """Go back to the beginning of the run."""
        self._entries_of = None

    def _make_cells(self) -> Cells:
        """Return the combinations of values that the keys of table and indexes tell apart."""
        layout, workload = self.context.layout, self.context.workload
        keys = [self.path.key if own is None else own.key for own in self._indexes]
        templates = [template for key in keys for template in (*key.partition, *key.sort)]
        parts = [
            *random_shards(layout, self.pattern),
            *(part for template in templates for part in template.shards if part.fields),
        ]
        shards = list({part.label: part for part in parts}.values())
        names = {name for key in keys for name in key.names} - {TIMESTAMP}
        return cells_of(workload, self.context.bins, self.pattern, names, shards)

    def _make_pricer(self, cells: Cells) -> WritePricer:
        layout = self.context.layout
        # Only sizes are asked for, and those are the same wherever an item lies.
        workload, columns = self.context.workload, dict(cells.columns)
        row = list(cells.rows[0])
        for name in with_parents(workload, needed_fields(layout, self.pattern)):
            if name not in columns:
                field = workload.field(name)
                parent = row[columns[field.per]] if field.per is not None else ""
                columns[name] = len(row)
                row.append(field.text(0, parent))
        maker = ItemMaker(layout, self.pattern, columns, placement_salt=0)
        schemas = self.context.schemas[self.path.table.name]
        return WritePricer(layout, self.pattern, maker, row, schemas)

    def _entries(self, keys: Keys) -> list[Entries]:
        """Return the entries of the cells in the table and in each index."""
        if self._entries_of is None or self._entries_of[0] is not keys:
            local = [placement.partitions(self.context.moment) for placement in self._local]
            found = []
            for index, placement, own in zip(
                self._indexes, (*self.placements, *self._local), (*keys, *local), strict=True
            ):
                held = self.context.contents(self.path.table, None if index is None else index.name)
                entries = placement.entry_keys(own)
                found.append(held.entries(entries, placement.entries, placement.collections))
            self._entries_of = keys, found
        return self._entries_of[1]

    # Prices

    def price(self, keys: Keys) -> Price:
        """Return the units of a write from how likely it meets an item."""
        entries = self._entries(keys)
        price, exists = self._pricer.price(self._stored(entries)), self._exists(entries[0])
        names = [index.name for index in self._indexes[1 : self._global] if index is not None]
        nothing = np.zeros((1, 1))
        return Price(
            calls=np.full((1, 1), float(self.per_request)),
            units=tuple(
                between(pair, exists)[:, None]
                for pair in (price.table, *(price.indexes[name] for name in names))
            ),
            touches=(
                np.ones(1),
                *(between(price.touches[name], exists) for name in names),
            ),
            evaluated=nothing,
            filtered=nothing,
        )

    def _stored(self, entries: list[Entries]) -> Overwritten | None:
        """Return the items that writes meet: where keys are fixed or have a time, the last ones."""
        names = [index.name for index in self._indexes if index is not None]
        meets_newest = not self.pattern.is_put and TIMESTAMP in self.path.key.names
        if not self._unbounded or meets_newest:
            table, entity = self.path.table, self.pattern.entity
            shares = self.context.last_shares(table, entity, newest=self._unbounded)
            pricers = self.context.pricers
            left = [(share, pricers[name]) for name, share in shares.items()]
            if not left:
                return None
            return Overwritten(
                _mixed([(share, pricer.item_sizes) for share, pricer in left]),
                {
                    name: _mixed([(share, pricer.entry_sizes(name)) for share, pricer in left])
                    for name in names
                },
            )
        sizes = [float(own[-1]) for own in self._sizes_met(entries)]
        if self.pattern.is_put or not sizes[0]:
            return None
        met = zip(names, sizes[1:], strict=True)
        return Overwritten(
            [(1.0, round(sizes[0]))], {name: [(1.0, round(size))] for name, size in met}
        )

    def _sizes_met(self, entries: list[Entries]) -> list[PerWorld]:
        """Return by world the mean size of what lies under the cells, in table and indexes."""
        sizes, shares = [], self.placements[0].cells.shares
        for index, own in zip(self._indexes, entries, strict=True):
            held = self.context.contents(self.path.table, None if index is None else index.name)
            items, total = (
                (own.of(column) * shares).sum(axis=1) for column in (held.items, held.sizes)
            )
            sizes.append(np.divide(total, items, out=np.zeros_like(items), where=items > 0))
        return sizes

    def _exists(self, entries: Entries) -> PerWorld:
        """Return by world the chance that there is an item already."""
        held = self.context.contents(self.path.table, None)
        if self._is_growing:
            return np.zeros(len(held.items))
        there = np.minimum(1.0, entries.of(held.items)) * self.placements[0].cells.shares
        return np.asarray(np.minimum(1.0, there.sum(axis=1)))

    # Contents

    def load(self, count: int, span: float) -> None:
        """Store items that are there before the warm-up, written over ``span`` seconds.

        Where keys have a time they are stored in pieces, each under the keys of its time.
        """
        context, cells = self.context, self.placements[0].cells
        pieces, begin = self._pieces(span), context.elapsed
        for piece in range(pieces):
            context.elapsed = begin - span * (pieces - piece) / pieces
            context.until = begin - span * (pieces - piece - 1) / pieces
            writes = np.tile(cells.shares * (count / pieces), (context.worlds + 1, 1))
            keys = [placement.partitions(context.moment) for placement in self.placements]
            self._store(writes, keys, in_turn=self._is_in_turn())
            for held in context.every():
                held.settle()
        context.elapsed = context.until = begin

    def _pieces(self, span: float) -> int:
        """Return in how many pieces of time items are told apart by their keys."""
        steps = [min(own.step, DAY) for own in (*self.placements, *self._local) if own.step]
        if not steps:
            return 1
        most = max(1, min(_MOST_PIECES, 10 * MOST_CELLS // len(self.placements[0].cells)))
        return min(most, math.ceil(span / min(steps)) or 1)

    def _is_in_turn(self) -> bool:
        """Return whether the values that make an item's key come one after the other."""
        names = self.path.key.names - {TIMESTAMP}
        picks = [self.pattern.pick(self.context.workload.field(name)) for name in names]
        return bool(picks) and all(isinstance(pick, InTurn) for pick in picks)

    def absorb(self, accepted: WorldCell, keys: Keys) -> None:
        """Store what accepted calls have written."""
        self._store(accepted * self.actions, keys, in_turn=False)

    def _store(self, writes: WorldCell, keys: Keys, *, in_turn: bool) -> None:
        entries = self._entries(keys)
        held = self.context.contents(self.path.table, None)
        changed = self._changed_items(held.items, entries[0], writes, in_turn=in_turn)
        met = [None] * len(entries) if not self._removes else self._sizes_met(entries)
        if not self._removes:
            writers = self.context.last_writers(self.path.table, self.pattern.entity)
            writers.write(self.pattern.name, float(writes[-1].sum()))
        during = self.context.elapsed, self.context.until
        for index, own, gone in zip(self._indexes, entries, met, strict=True):
            name = None if index is None else index.name
            size: float | Floats = self._pricer.item_bytes
            if name is not None:
                size = mean_size(self._pricer.entry_sizes(name))
            if gone is not None:
                size = gone[:, None]
            contents = self.context.contents(self.path.table, name)
            contents.add(own, changed, changed * size, during)
            if gone is None and not self._is_growing:
                contents.rewrite(own, writes, size)

    def _changed_items(
        self, there: WorldCell, entries: Entries, writes: WorldCell, *, in_turn: bool
    ) -> WorldCell:
        """Return for each cell how many items come into being, or go."""
        if self._is_growing:
            return writes
        there, at_entry = entries.touched(there), entries.each(writes)
        if self._removes:
            gone = np.minimum(there, at_entry) if self._unbounded else there * -np.expm1(-at_entry)
            change = -gone
        elif self._unbounded:
            change = np.where(there < 1, np.minimum(1.0 - there, at_entry), 0.0)
        else:
            met = np.minimum(1.0, at_entry) if in_turn else -np.expm1(-at_entry)
            change = (1.0 - np.minimum(1.0, there)) * met
        each = np.divide(change, at_entry, out=np.zeros_like(change), where=at_entry > 0)
        return writes * entries.by_cell(each)


def _mixed(left: Sequence[tuple[float, Mixed]]) -> Mixed:
    """Return sizes with their shares, from what several patterns have left.

    >>> _mixed([(0.25, [(1.0, 300)]), (0.5, [(1.0, 900)])])
    [(0.3333333333333333, 300), (0.6666666666666666, 900)]
    """
    total = sum(share for share, sizes in left if sizes)
    return [(share * own / total, size) for share, sizes in left for own, size in sizes]
