"""Writing: puts, updates, deletes, batches and transactions on the real engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, repeat
from typing import Final, NamedTuple

import numpy as np

from emulator.capacity import TRANSACTIONAL
from emulator.engine import transactions, writes
from emulator.engine.reads import Found
from emulator.engine.table import Table
from emulator.engine.transactions import TransactionAction
from emulator.engine.writes import Planned, Write
from emulator.lab.exact.calls import ExactContext, Finder, Reasons, Row, Runner
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.items import FILLERS, ItemMaker, needed_fields, random_shards
from emulator.lab.planning.sampling import Drawer
from emulator.model import Item
from emulator.service.errors import (
    ItemCollectionSizeLimitExceededException,
    TransactionCanceledException,
)
from emulator.storage import Position


class ItemWriter(Runner):
    """Puts, updates, deletes, batches of puts and transactions of puts."""

    def __init__(self, context: ExactContext, path: AccessPath, rng: np.random.Generator) -> None:
        super().__init__(context, path, rng)
        layout, pattern = context.layout, path.pattern
        self.drawer = Drawer(
            context.values, pattern, needed_fields(layout, pattern), random_shards(layout, pattern)
        )
        salt = self.table.settings.placement_salt
        self.maker = ItemMaker(layout, pattern, self.drawer.columns, placement_salt=salt)
        self.finder = None if pattern.is_put else Finder(self, path, self.drawer.columns)
        #: What makes each payload differ from those before.
        self._salts = cycle([*range(1, len(FILLERS)), 0])
        sizes = pattern.sizes.sizes
        self._recorded_sizes = pattern.recorded.sizes if pattern.recorded is not None else ()
        self._one_size = sizes[0] if len(sizes) == 1 and not self._recorded_sizes else None
        self._sizes: Iterator[int] = iter(())
        self._recorded = 0

    def rows(self, count: int) -> list[Row]:
        """Draw the rows of the next requests, one for each item."""
        return self.drawer.rows(count * self.pattern.actions, self.rng)

    def size(self) -> int:
        """Return the size of the next item."""
        if self._recorded_sizes:
            self._recorded += 1
            return self._recorded_sizes[(self._recorded - 1) % len(self._recorded_sizes)]
        if self._one_size is not None:
            return self._one_size
        size = next(self._sizes, None)
        if size is None:
            self._sizes = iter(self.pattern.sizes.draw(1024, self.rng).tolist())
            size = next(self._sizes)
        return size

    def works(
        self, rows: Sequence[Row], moments: Sequence[float]
    ) -> Sequence[Sequence[_WriteWork | _ChangeWork | _TransactionWork]]:
        """Return the calls of each request: one per item, or one for all of a transaction.

        The items of a batch are admitted one by one (CAP-610), so each is a call of its own.
        """
        many = self.pattern.actions
        if many > 1:
            moments = [moment for moment in moments for _ in range(many)]
        if self.finder is not None:
            changes = map(self._change, rows, moments)
            if self.finder.is_free:
                return [(_WriteWork(self, self.found(change)),) for change in changes]
            return [(_ChangeWork(self, change),) for change in changes]
        puts = self._puts(rows, moments)
        if self.pattern.is_transaction:
            return [
                (_TransactionWork(self, puts[first : first + many]),)
                for first in range(0, len(puts), many)
            ]
        if many == 1:
            return [(_WriteWork(self, put),) for put in puts]
        works = [_WriteWork(self, put) for put in puts]
        return [works[first : first + many] for first in range(0, len(works), many)]

    def _puts(self, rows: Sequence[Row], moments: Sequence[float]) -> list[Write]:
        size = self._one_size
        sizes = (self.size() for _ in rows) if size is None else repeat(size)
        made = self.maker.make_all(rows, moments, sizes, self._salts)
        return [_put(self.table, position, item) for position, item in made]

    def _change(self, row: Row, moment: float) -> _Change:
        """Return an update or delete, whose item is still to be found."""
        if self.pattern.operation == "DeleteItem":
            return _Change(row, moment, 0, 0)
        return _Change(row, moment, self.size(), next(self._salts))

    def found(self, change: _Change) -> Write:
        """Return an update or delete of the item that there is."""
        assert self.finder is not None, "it is no put"
        position = self.finder.position(change.row, change.moment)
        if self.pattern.operation == "DeleteItem":
            return Write(self.table, position, lambda _: None)
        return Write(self.table, position, partial(self._updated, change, position))

    def _updated(self, change: _Change, position: Position, old: Item | None) -> Item:
        """Return the item after an update; one that was not there is made."""
        if old is not None:
            return self.maker.change(old, *change)
        made, item = self.maker.make(*change)
        return item if made == position else Item(dict(item.attributes), item.size_bytes)

    def count_write(self, planned: Planned, second: int, number: int) -> None:
        """Record a write that passed with the nth attempt."""
        for charge in planned.charges:
            self.count(charge, second, number)
        if planned.arms:
            self.count_arms(planned.arms, number)

    def count_refused_write(
        self, planned: Planned, reasons: Reasons, second: int, number: int
    ) -> None:
        """Record a write that was refused at the nth attempt, and what it asked of indexes."""
        self.count_refused(planned.charges, reasons, second, number)
        for arm in planned.arms or ():
            if number == 1:
                self.offer(arm.charges)
            self.count_short(arm.charges, reasons, second)

    def warm_up(self, count: int, second: int) -> None:
        """Carry out the requests of a second before the run; none is admitted, paid or counted."""
        moments = [second + number / count for number in range(count)]
        for works in self.works(self.rows(count), moments):
            for work in works:
                work.store()

    def rewind(self) -> None:
        """Begin a recording again with its first request."""
        if self.pattern.recorded is not None:
            self.drawer.rewind()
            self._recorded = 0

    def load(self, count: int, span: float) -> None:
        """Put items that are there before the warm-up; nothing is admitted or paid."""
        start = self.account.now_seconds - self.context.layout.workload.warm_up
        for number, row in enumerate(self.drawer.rows(count, self.rng)):
            moment = start - span * (count - number) / count
            position, item = self.maker.make(row, moment, self.size())
            self.context.emulator.feed.put(self.table, position, item)


class _Change(NamedTuple):
    """An update or delete whose item is found by its first attempt."""

    row: Row
    moment: float
    size: int
    salt: int


def _put(table: Table, position: Position, item: Item) -> Write:
    return Write(table, position, lambda _: item, None, item)


class _WriteWork:
    """One item to write."""

    __slots__ = ("_planned", "_runner", "_write")

    following: Final = None

    def __init__(self, runner: ItemWriter, write: Write) -> None:
        self._runner = runner
        self._write = write
        self._planned: Planned | None = None

    def attempt(self, second: int, number: int) -> Reasons:
        runner = self._runner
        planned = self._planned
        if planned is None or not self._still_holds(planned):
            try:
                planned = writes.plan(self._write)
            except ItemCollectionSizeLimitExceededException:
                return ()  # full for good: the application's loss, and no throttling
        reasons = runner.account.try_admit_write(planned)
        if reasons:
            self._planned = planned
            runner.count_refused_write(planned, reasons, second, number)
            return reasons
        writes.apply(runner.account, planned)
        runner.count_write(planned, second, number)
        return ()

    def store(self) -> None:
        """Write before the run: nothing is admitted, paid or counted."""
        with suppress(ItemCollectionSizeLimitExceededException):
            writes.apply(self._runner.account, writes.plan(self._write))

    def _still_holds(self, planned: Planned) -> bool:
        """Return whether a plan made earlier would be made again."""
        table, position = planned.write.table, planned.write.position
        return (
            not planned.changes
            and table.store.get(position) is planned.old
            and table.resource.partitions.at(position).id == planned.charges[0].partition_id
        )


class _ChangeWork:
    """One item to update or delete."""

    __slots__ = ("_change", "_found", "_runner")

    following: Final = None

    def __init__(self, runner: ItemWriter, change: _Change) -> None:
        self._runner = runner
        self._change = change
        self._found: _WriteWork | None = None

    def attempt(self, second: int, number: int) -> Reasons:
        work = self._found
        if work is None:
            work = self._found = _WriteWork(self._runner, self._runner.found(self._change))
        return work.attempt(second, number)

    def store(self) -> None:
        """Write before the run: nothing is admitted, paid or counted."""
        _WriteWork(self._runner, self._runner.found(self._change)).store()


class _TransactionWork:
    """Several items to write, all or none."""

    __slots__ = ("_runner", "_writes")

    following: Final = None

    def __init__(self, runner: ItemWriter, puts: Sequence[Write]) -> None:
        self._runner = runner
        #: A transaction names an item once.
        self._writes = list({write.position: write for write in puts}.values())

    def store(self) -> None:
        """Write before the run: nothing is admitted, paid or counted."""
        for write in self._writes:
            _WriteWork(self._runner, write).store()

    def attempt(self, second: int, number: int) -> Reasons:
        runner = self._runner
        planned: list[Planned] = []

        def preparing(write: Write) -> Callable[[], Planned | Found]:
            def prepare() -> Planned:
                planned.append(writes.plan(write, factor=TRANSACTIONAL))
                return planned[-1]

            return prepare

        actions = [
            TransactionAction(runner.table, write.position, preparing(write))
            for write in self._writes
        ]
        try:
            transactions.execute(runner.account, actions)
        except TransactionCanceledException:
            reasons = tuple(reason for action in planned for reason in action.receipt.reasons)
            for action in planned:
                runner.count_refused_write(action, action.receipt.reasons, second, number)
            return tuple(dict.fromkeys(reasons))
        for action in planned:
            runner.count_write(action, second, number)
        return ()
