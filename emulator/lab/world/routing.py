"""Routing: on which rows the requests of each pattern fall in every world, and what they cost.

It joins the plan, which is the same in all worlds, with the places of keys, which are not, and
follows both: keys that have a time, prices that grow with what is stored, partitions that split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import Collections
from emulator.lab.world.arrivals import Recording
from emulator.lab.world.bins import Cells
from emulator.lab.world.calm import Loads
from emulator.lab.world.contents import JOINT, Contents
from emulator.lab.world.families import (
    Columns,
    Cut,
    Family,
    Placement,
    Places,
    WorldSlot,
    hash_keys,
)
from emulator.lab.world.limits import Numbers
from emulator.lab.world.minutes import PlayedWorld, Shown, spread_positions
from emulator.lab.world.patterns import PatternModel, Price
from emulator.lab.world.plan import Plan
from emulator.lab.world.queues import Entering, IndexQueue
from emulator.lab.world.reads import Keys, ScanModel
from emulator.lab.world.rows import TINY, Joint, PatternRows, RowTable, WorldRow, joint_shares
from emulator.lab.world.state import Lately, State
from emulator.storage import HASH_SPACE, Position, hashed_bytes


@dataclass(eq=False)
class _Routed:
    """A pattern while its keys stay the same.

    Attributes:
        model: The pattern.
        keys: By placement, the partition key of each cell.
        columns: By placement, those of its family.
        price: The price of calls.
    """

    model: PatternModel
    keys: Keys
    columns: tuple[Columns, ...]
    price: Price

    def mass(self, number: int) -> Annotated[Floats, "column"]:
        """Return the share of the requests that each column of a placement has."""
        return self.columns[number].mass(self.model.placements[number])


class Routing:
    """Where requests go, in every world.

    Args:
        plan: The part that is the same in all worlds.
        worlds: The worlds.
        state: Their state.
        queued: The numbers of the indexes that have a queue.

    Attributes:
        table: The rows of all patterns.
        loads: Units that a request of each pattern takes of each bucket.
    """

    def __init__(
        self, plan: Plan, worlds: Sequence[PlayedWorld], state: State, queued: Sequence[int]
    ) -> None:
        self._plan = plan
        self._worlds = worlds
        self._state = state
        self._queued = queued
        self._all = np.arange(len(worlds))
        self._places: dict[Family, Places] = {}
        #: By family and contents: the columns, how many entries there were, and those found.
        self._entries: dict[tuple[Family, Contents], tuple[Columns, int, Integers, Integers]] = {}
        self._recordings: dict[Cells, Recording | None] = {}
        #: By the text of a key that is not followed any more, its hash in every world.
        self._former: dict[str, Integers] = {}
        self._routed: list[_Routed] = []
        self.table = self._new_table(state.numbers)
        shape = self.table.shares.shape
        width = len(self.table.buckets)
        state.lately = Lately(np.zeros(shape), np.zeros((width, *shape)), np.zeros(shape))
        self.loads = Loads.of(len(worlds), len(plan.models), state.numbers.count)

    def _new_table(self, numbers: Numbers) -> RowTable:
        factors = [world.world.settings.eventual_read_factor for world in self._worlds]
        resources = self._worlds[0].resources
        return RowTable(
            self._plan.models, resources, self._queued, numbers, np.asarray(factors, dtype=float)
        )

    # Following time

    def refresh(self) -> None:
        """Follow keys and prices to the context's moment.

        Calls that wait for a retry ask for the keys of before, and so stay where these lie.
        """
        for model in self._plan.models:
            model.refresh()
        self._follow_families()
        before, self._routed = self._routed, [self._route(model) for model in self._plan.models]
        for number, (old, own) in enumerate(zip(before, self._routed, strict=False)):
            if old.columns != own.columns:
                self._state.lately.forget(self.table.patterns[number].all)
        self._write_all()

    def keys_end(self, moment: float) -> bool:
        """Return whether some keys have a time, and are others at a moment."""
        return any(
            family.columns(moment) is not places.columns
            for family, places in self._places.items()
            if family.step is not None
        )

    def steps(self) -> list[tuple[float, bool]]:
        """Return how many seconds keys with a time stay the same, and whether they are read."""
        return [
            (family.step, own.axis == READ)
            for family in self._places
            for own in family.placements
            if family.step
        ]

    def _follow_families(self) -> None:
        moment = self._plan.context.moment
        salts = [own.world.settings.placement_salt for own in self._worlds]
        shifts = [own.shift for own in self._worlds]
        places: dict[Family, Places] = {}
        for family in self._plan.families():
            columns, known = family.columns(moment), self._places.get(family)
            if known is None or known.columns is not columns:
                resource = family.resource
                slots_of = partial(self._partitions, resource)
                room = self._state.numbers.rooms[resource]
                known = Places.of(family, columns, salts, shifts, slots_of, room)
            places[family] = known
        self._places = places

    def _partitions(self, resource: int, world: int) -> tuple[Integers, Sequence[Position]]:
        """Return the slots of a world's partitions in key order, and where these begin."""
        lows = [partition.low for partition in self._worlds[world].resources[resource].partitions]
        return self._state.slots[resource].in_order(world), lows

    def _route(self, model: PatternModel) -> _Routed:
        known = next((own for own in self._routed if own.model is model), None)
        columns = tuple(self._places_of(placement).columns for placement in model.placements)
        keys: Keys = tuple(
            own.partitions[placement]
            for own, placement in zip(columns, model.placements, strict=True)
        )
        if known is not None and known.columns == columns:
            keys = known.keys
        return _Routed(model, keys, columns, model.price(keys))

    def _places_of(self, placement: Placement) -> Places:
        return next(own for family, own in self._places.items() if placement in family.placements)

    # Rows

    def _write(self, number: int, worlds: Integers) -> None:
        """Set the rows of a pattern in some worlds."""
        routed, rows = self._routed[number], self.table.patterns[number]
        if isinstance(routed.model, ScanModel):
            held, widths = self._held(routed.model.resource, worlds)
            shares, price = routed.model.price_parts(worlds, held[0], widths)
            calls = shares * price.calls
            self.table.write(number, price, shares, [calls, calls * price.units[0]], worlds)
            return
        shares = self._shares(routed, rows, worlds)
        price = routed.price
        calls = self._weighed(routed, price.calls, shares, worlds)
        units = []
        for placement in rows.asked:
            own = price.units[placement]
            if own.shape[1] == 1:
                units.append(calls * (own[worlds] if len(own) > 1 else own))
            else:
                units.append(self._weighed(routed, price.calls * own, shares, worlds))
        self.table.write(number, price, shares, [calls, *units], worlds)

    def _shares(self, routed: _Routed, rows: PatternRows, worlds: Integers) -> WorldRow:
        placements = [routed.model.placements[number] for number in rows.asked]
        places = [self._places_of(placement) for placement in placements]
        if len(placements) == 1:
            return places[0].by_slot(placements[0], routed.mass(0)[None], worlds)
        return joint_shares(placements, places, worlds)

    def _weighed(
        self, routed: _Routed, values: Floats, shares: WorldRow, worlds: Integers
    ) -> WorldRow:
        """Return shares of requests times what each has, by world and row.

        Args:
            routed: The pattern.
            values: By world, or one row for all, and cell, or one column for all.
            shares: By world and row.
            worlds: The worlds.
        """
        own = values[worlds] if len(values) > 1 else values
        if own.shape[1] == 1:
            return shares * own
        placement = routed.model.placements[0]
        amounts = routed.columns[0].sums(placement, placement.cells.shares * own)
        return self._places_of(placement).by_slot(placement, amounts, worlds)

    def _write_entering(self, worlds: Integers) -> None:
        """Work out what writes bring to indexes in some worlds."""
        for queue in self._state.queues:
            known = {own.pattern: own for own in queue.entering}
            queue.entering = [
                self._entering(queue, number, placement, worlds, known.get(number))
                for number, routed in enumerate(self._routed)
                if routed.model.pattern.is_write
                for placement, own in enumerate(routed.model.placements)
                if own.resource == queue.resource
            ]

    def _entering(
        self, queue: IndexQueue, number: int, at: int, worlds: Integers, known: Entering | None
    ) -> Entering:
        routed, rows = self._routed[number], self.table.patterns[number]
        first, own = routed.model.placements[0], routed.model.placements[at]
        table, index = self._places_of(first), self._places_of(own)
        price = routed.price.units[at][: len(self._worlds), 0] * routed.model.actions
        units = np.broadcast_to(price, (len(self._worlds),))
        parts = np.zeros((len(self._worlds), queue.waits.shape[1]))
        joint = Joint.of(table.columns, index.columns, first, own)
        pairs = None
        if joint is not None:
            pairs = np.zeros((len(self._worlds), rows.all.stop - rows.first, parts.shape[1]))
        if known is not None and known.parts.shape == parts.shape:
            parts = known.parts
            if pairs is not None and known.pairs is not None and known.pairs.shape == pairs.shape:
                pairs = known.pairs
        parts[worlds] = index.by_slot(own, routed.mass(at)[None], worlds)
        if joint is not None and pairs is not None:
            for world in worlds.tolist():
                pairs[world] = joint.by_slots(table, index, world)
        return Entering(number, rows.all, units, parts, pairs)

    # Splits

    def split(self, cut: Cut) -> None:
        """Let the children of a partition have its keys, and the calls that wait for them."""
        world = np.asarray([cut.world])
        for family, places in self._places.items():
            if family.resource == cut.resource:
                places.divide(cut)
        for number, rows in enumerate(self.table.patterns):
            at = [
                place
                for place, placement in enumerate(rows.asked)
                if self._resource_of(rows, placement) == cut.resource
            ]
            if at or isinstance(rows.model, ScanModel):
                self._write(number, world)
            for place in at:
                self._move(rows, place, cut)
        self._write_entering(world)
        self.loads.write(self.table, self._state.queues, self._state, world)

    @staticmethod
    def _resource_of(rows: PatternRows, placement: int) -> int:
        placements = rows.model.placements
        return placements[placement].resource if placements else rows.model.resource

    def _move(self, rows: PatternRows, place: int, cut: Cut) -> None:
        """Let what belongs to the rows of a partition follow its keys."""
        slots = rows.slots(rows.asked[place])
        old = np.flatnonzero(slots == cut.parent)
        stride = int(np.prod(rows.rooms[place + 1 :]))
        steps = (np.asarray(cut.children) - cut.parent) * stride
        new = (old[:, None] + steps).ravel() + rows.first
        shares = self.table.shares[cut.world, new].reshape(len(old), len(steps))
        totals = shares.sum(axis=1, keepdims=True)
        parts = np.divide(
            shares, totals, out=np.full_like(shares, 1 / len(steps)), where=totals > 0
        )
        came = np.repeat(old + rows.first, len(steps))
        first = cut.world * self.table.shares.shape[1]
        self._state.waiting.move(first + came, first + new, parts.ravel())
        lately = self._state.lately
        for amounts in (
            lately.accepted[cut.world],
            lately.attempted[cut.world],
            *lately.hot[:, cut.world],
        ):
            moved = amounts[came] * parts.ravel()
            amounts[came] = 0.0
            amounts[new] = moved

    def grow(self) -> Integers:
        """Follow the room of the state for partitions; return the new numbers of old rows."""
        old, state = self.table, self._state
        for family, places in self._places.items():
            places.grow(state.numbers.rooms[family.resource])
        self.table = self._new_table(state.numbers)
        number_of = np.concatenate(
            [
                after.first
                + np.ravel_multi_index(
                    np.unravel_index(np.arange(np.prod(before.rooms)), before.rooms), after.rooms
                )
                for before, after in zip(old.patterns, self.table.patterns, strict=True)
            ]
        )
        count = self.table.shares.shape[1]
        state.waiting.widen(number_of, len(self._worlds), count)
        state.lately.widen(number_of, count)
        self.loads = Loads.of(len(self._worlds), len(self._plan.models), state.numbers.count)
        self._write_all()
        return number_of

    def _write_all(self) -> None:
        """Set the rows of all patterns in all worlds."""
        for number in range(len(self._routed)):
            self._write(number, self._all)
        self._write_entering(self._all)
        self.loads.write(self.table, self._state.queues, self._state, self._all)

    def recording(self, number: int) -> Recording | None:
        """Return the requests of a pattern that were recorded, if they are followed one by one."""
        model = self._routed[number].model
        if model.pattern.recorded is None or not model.placements:
            return None
        cells = model.placements[0].cells
        if cells not in self._recordings:
            found = Recording.of(model.pattern, cells, self._plan.workload.load)
            self._recordings[cells] = found
        return self._recordings[cells]

    def rows_of_cells(self, number: int, world: int) -> Annotated[Floats, "cell", "row"]:
        """Return by cell of a pattern the share of its requests that falls on each row."""
        routed, rows = self._routed[number], self.table.patterns[number]
        placement = routed.model.placements[0]
        places, count = self._places_of(placement), len(routed.columns[0])
        by_column = np.stack(
            [places.by_slot(placement, own[None], np.asarray([world]))[0] for own in np.eye(count)]
        )
        by_cell = by_column[routed.columns[0].of_cells[placement]]
        if len(rows.asked) > 1:
            shares = self.table.shares[world, rows.all].reshape(rows.rooms[0], -1)
            within = shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY)
            by_cell = (by_cell[:, :, None] * within).reshape(len(by_cell), -1)
        return np.asarray(by_cell)

    # What was written

    def accepted_by_column(
        self, number: int, accepted: WorldRow, worlds: Integers
    ) -> Annotated[Floats, "world", "column"]:
        """Return the accepted calls of a pattern by column of the keys that it asks for first.

        Args:
            number: The pattern.
            accepted: Calls, by world and row of all patterns.
            worlds: The worlds of ``accepted``.
        """
        routed, rows, table = self._routed[number], self.table.patterns[number], self.table
        places = self._places_of(routed.model.placements[0])
        own = accepted[:, rows.all]
        offered = (table.shares * table.calls)[worlds, rows.all]
        if len(rows.asked) > 1:
            own = own.reshape(len(worlds), rows.rooms[0], -1).sum(axis=2)
            offered = offered.reshape(len(worlds), rows.rooms[0], -1).sum(axis=2)
        ratios = np.divide(own, offered, out=np.zeros_like(own), where=offered > 0)
        return places.by_column(ratios, worlds) * self._calls(routed, 0, worlds)

    def _calls(self, routed: _Routed, at: int, worlds: Integers) -> Floats:
        """Return by world, or for all, and column the calls that a request makes."""
        placement, calls = routed.model.placements[at], routed.price.calls
        own = calls[worlds] if len(calls) > 1 else calls
        if own.shape[1] == 1:
            return own * routed.mass(at)
        return routed.columns[at].sums(placement, placement.cells.shares * own)

    def cells(self, number: int, by_column: Floats) -> Floats:
        """Return amounts by column of a pattern's first placement as amounts by cell."""
        routed = self._routed[number]
        placement = routed.model.placements[0]
        mass = np.maximum(routed.mass(0), TINY)
        at = routed.columns[0].of_cells[placement]
        return np.asarray((by_column / mass)[..., at] * placement.cells.shares)

    def absorb(self, number: int, by_column: Floats, requests: float) -> None:
        """Store what accepted calls of a pattern have written.

        Args:
            number: The pattern.
            by_column: Calls, by world and column.
            requests: The requests to expect: what is written where nothing is refused.
        """
        routed = self._routed[number]
        shares, calls = routed.model.placements[0].cells.shares, routed.price.calls[-1]
        written = np.concatenate([self.cells(number, by_column), [requests * calls * shares]])
        routed.model.absorb(written, routed.keys)

    def levels(self) -> Annotated[Floats, "pattern"]:
        """Return the cost of a request of each pattern where nothing is refused."""
        return np.asarray([self._level_of(routed) for routed in self._routed])

    def _level_of(self, routed: _Routed) -> float:
        if not routed.model.placements:
            held = self._plan.context.all_of(routed.model.resource)
            return sum(float(own.total_bytes[-1]) for own in held)
        shares, calls = routed.model.placements[0].cells.shares, routed.price.calls[-1]
        return sum(float((shares * calls * own[-1]).sum()) for own in routed.price.units)

    def price(self, number: int) -> Price:
        """Return the price of the calls of a pattern now."""
        return self._routed[number].price

    def columns(self, number: int) -> tuple[Columns, ...]:
        """Return by placement the columns of a pattern's keys."""
        return self._routed[number].columns

    def by_column(self, number: int, at: int, amounts: WorldRow) -> Annotated[Floats, "column"]:
        """Return amounts of the rows of the first world by column of one of a pattern's keys."""
        first = self.accepted_by_column(number, amounts, self._all[:1])[0]
        if not at:
            return np.asarray(first)
        placement = self._routed[number].model.placements[at]
        return self._routed[number].columns[at].sums(placement, self.cells(number, first))

    def units_by_column(self, number: int, at: int, world: int = 0) -> Annotated[Floats, "column"]:
        """Return the units of one call by column of one of a pattern's keys, in a world."""
        routed = self._routed[number]
        placement, price = routed.model.placements[at], routed.price
        units, calls = (
            own[world] if len(own) > 1 else own[0] for own in (price.units[at], price.calls)
        )
        if len(units) == 1:
            return np.full(len(routed.columns[at]), units[0])
        shares = placement.cells.shares * calls
        taken = routed.columns[at].sums(placement, shares * units)
        return np.asarray(taken / np.maximum(routed.columns[at].sums(placement, shares), TINY))

    # What lies in partitions

    def _held(
        self, resource: int, worlds: Integers
    ) -> tuple[tuple[WorldSlot, WorldSlot], WorldSlot]:
        """Return the billed bytes and items of every partition, and its share of the hashes."""
        room = self._state.numbers.rooms[resource]
        widths = np.zeros((len(worlds), room))
        for at, world in enumerate(worlds.tolist()):
            own, lows = self._partitions(resource, world)
            firsts = np.asarray([*(low[0] for low in lows), HASH_SPACE], dtype=np.float64)
            widths[at, own] = np.maximum(np.diff(firsts) / HASH_SPACE, 1e-300)
        sizes, items = np.zeros_like(widths), np.zeros_like(widths)
        for held in self._plan.context.all_of(resource):
            for found, column in ((sizes, held.billed()), (items, held.items * held.counts)):
                found += self._by_slot(resource, held, column[worlds], worlds, widths)
        return (sizes, items), widths

    def _by_slot(
        self, resource: int, held: Contents, amounts: Floats, worlds: Integers, widths: WorldSlot
    ) -> WorldSlot:
        """Return amounts by entry as amounts by partition; unknown keys lie anywhere."""
        found = np.zeros_like(widths)
        anywhere = np.ones(len(held), dtype=np.bool_)
        for family, places in self._places.items():
            if family.resource == resource:
                entries, columns = self._entries_of(family, places, held)
                fresh = anywhere[entries]
                entries, columns = entries[fresh], columns[fresh]
                anywhere[entries] = False
                if len(entries):
                    width = len(places.columns)
                    by_column = [sums(columns, own[entries], width) for own in amounts]
                    found += places.by_slot(family.placements[0], np.stack(by_column), worlds)
        keys, alone = held.keys, np.flatnonzero(anywhere & (held.counts == 1)).tolist()
        former = [entry for entry in alone if not keys[entry][1]]
        if former:
            anywhere[former] = False
            hashes = self._hashes([keys[entry][0] for entry in former])
            for at, world in enumerate(worlds.tolist()):
                own, lows = self._partitions(resource, world)
                firsts = np.asarray([low[0] for low in lows], dtype=np.uint64)
                slots = own[np.searchsorted(firsts, hashes[world], side="right") - 1]
                found[at] += sums(slots, amounts[at, former], found.shape[1])
        return np.asarray(found + amounts[:, anywhere].sum(axis=1, keepdims=True) * widths)

    def _hashes(self, texts: Sequence[str]) -> Annotated[Integers, "world", "key"]:
        """Return the hashes of keys that are not followed any more."""
        salts = [own.world.settings.placement_salt for own in self._worlds]
        missing = [text for text in dict.fromkeys(texts) if text not in self._former]
        hashed = [hashed_bytes(tuple(text.split(JOINT))) for text in missing]
        if missing:
            by_world = np.stack([hash_keys(hashed, salt) for salt in salts])
            self._former.update(zip(missing, by_world.T, strict=True))
        return np.stack([self._former[text] for text in texts], axis=1)

    def _entries_of(
        self, family: Family, places: Places, held: Contents
    ) -> tuple[Integers, Integers]:
        """Return the entries of a family's keys, and the column of each."""
        known = self._entries.get((family, held))
        if known is None or known[:2] != (places.columns, len(held)):
            known = places.columns, len(held), *self._found_entries(family, places, held)
            self._entries[family, held] = known
        return known[2:]

    @staticmethod
    def _found_entries(family: Family, places: Places, held: Contents) -> tuple[Integers, Integers]:
        column_of: dict[tuple[str, bool], int] = {}
        for placement in family.placements:
            texts = places.columns.partitions[placement]
            own = places.columns.of_cells[placement].tolist()
            for text, column in zip(texts, own, strict=True):
                column_of[JOINT.join(text), placement.is_spread] = column
        found = [
            (entry, column_of[text, new])
            for entry, (text, new, _) in enumerate(held.keys)
            if (text, new) in column_of
        ]
        pairs = np.asarray(found, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def held(self, resource: int, world: int) -> float:
        """Return the billed bytes of a table or index in a world."""
        held = self._plan.context.all_of(resource)
        return sum(float(own.billed()[world].sum()) for own in held)

    def report_contents(self, resource: int, world: int) -> None:
        """Report what the partitions of a world hold, and let those split that hold too much."""
        one, played = np.asarray([world]), self._worlds[world]
        (sizes, items), _ = self._held(resource, one)
        own, _ = self._partitions(resource, world)
        if played.report_contents(resource, sizes[0, own], items[0, own]):
            stand_ins = self._stand_ins(resource, world, sizes[0])
            played.report_contents(resource, sizes[0, own], items[0, own], stand_ins)

    def _stand_ins(
        self, resource: int, world: int, sizes: Annotated[Floats, "slot"]
    ) -> Iterable[tuple[Position, float]]:
        """Return positions and bytes that lie in full partitions of a world as its items do."""
        left, one = sizes.copy(), np.asarray([world])
        is_full = sizes >= self._worlds[world].world.settings.partition_bytes
        found: dict[Position, float] = {}
        length = self._worlds[world].resources[resource].key_length
        for family, places in self._places.items():
            if family.resource != resource or not places.columns.keys:
                continue
            keys, writer = len(places.columns.keys), _writer(family)
            by_column = np.zeros(len(places.columns))
            for held in self._plan.context.all_of(resource):
                entries, columns = self._entries_of(family, places, held)
                np.add.at(by_column, columns, held.billed()[world, entries])
            by_column[keys:] = 0.0
            left -= places.by_slot(writer, by_column[None], one)[0]
            is_wanted = is_full[places.slots[world]] & (by_column[:keys] > 0)
            is_wanted[[key for other, key in places.divided if other == world]] = True
            for key in np.flatnonzero(is_wanted).tolist():
                begin = places.position(world, key)
                sorts, shares = places.profile(writer, key)
                for sort, share in zip(sorts, shares.tolist(), strict=True):
                    position = (*begin, *sort)[:length]
                    found[position] = found.get(position, 0.0) + by_column[key] * share
        partitions = self._worlds[world].resources[resource].partitions
        for slot, partition in zip(self._partitions(resource, world)[0], partitions, strict=True):
            if is_full[slot] and left[slot] > 0:
                spread = spread_positions(*partitions.range_of(partition))
                for position in spread:
                    found[position[:length]] = left[slot] / len(spread)
        return found.items()

    def collections(self, resource: int, world: int) -> Collections:
        """Return the item collections of a table or global index in a world."""
        own, *local = self._plan.context.all_of(resource)
        collections = own.collections(world)
        for held in local:
            collections.add_local(held.collections(world))
        return collections

    # What is shown

    def shown(self, world: int, resource: int, slot: int) -> list[Shown]:
        """Return the calls of all patterns to one partition lately."""
        shown = []
        for number, routed in enumerate(self._routed):
            for at, placement in enumerate(routed.model.placements):
                if placement.resource == resource:
                    own = self._shown(number, at, world, slot)
                    shown += [] if own is None else [own]
        return shown

    def _shown(self, number: int, at: int, world: int, slot: int) -> Shown | None:
        """Return the calls of a pattern to a partition that one of its placements has."""
        routed, rows, one = self._routed[number], self.table.patterns[number], np.asarray([world])
        placement, lately = routed.model.placements[at], self._state.lately
        places = self._places_of(placement)
        calls = self._calls(routed, at, one)[0]
        columns, there = places.in_slot(placement, world, slot)
        parts = calls[columns] * there
        if not parts.any():
            return None
        hot = 0.0
        if at in rows.asked:
            own = rows.first + np.flatnonzero(rows.slots(at) == slot)
            accepted = float(lately.accepted[world, own].sum())
            hot = float(lately.hot[rows.partition_column(at), world, own].sum())
            parts = parts / parts.sum()
        else:
            accepted = float(lately.accepted[world, rows.all].sum())
            parts = parts / calls.sum()
        weight = WEIGHTS[placement.axis]
        units = self.units_by_column(number, at, world)[columns] * (routed.model.actions * weight)
        consumed = accepted * parts * units
        return Shown(placement, places, columns, accepted * parts, consumed, hot * parts * weight)


def _writer(family: Family) -> Placement:
    """Return a placement of a family that writes, if any does."""
    writers = [own for own in family.placements if own.axis == WRITE]
    return writers[0] if writers else family.placements[0]
