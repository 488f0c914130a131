"""Reading: single items and pages on the real engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Final

import numpy as np

from emulator.capacity import EVENTUAL, STRONG, TRANSACTIONAL
from emulator.engine import reads, transactions
from emulator.engine.reads import Found, PageRequest
from emulator.engine.transactions import TransactionAction
from emulator.lab.exact.calls import LAST, ExactContext, Finder, Reasons, Row, Runner, Work
from emulator.lab.inputs.key_templates import KeyTemplate, Part, Renderer
from emulator.lab.inputs.patterns import TIMESTAMP
from emulator.lab.planning.access_paths import AccessPath
from emulator.lab.planning.sampling import Drawer
from emulator.model import Item
from emulator.service.errors import TransactionCanceledException
from emulator.storage import HASH_SPACE, TOP, Position, entry_of, key_position


class Getter(Runner):
    """Reads of single items, alone, in batches and in transactions."""

    def __init__(self, context: ExactContext, path: AccessPath, rng: np.random.Generator) -> None:
        super().__init__(context, path, rng)
        names = sorted(path.key.names - {TIMESTAMP})
        self.drawer = Drawer(context.values, self.pattern, names, ())
        labels = [shard.label for shard in path.shards]
        columns = dict(self.drawer.columns)
        for label in labels:
            columns[label] = len(columns)
        self._suffixes = _suffixes(path)
        self.finder = Finder(self, path, columns)
        self._consistent = self.pattern.consistent
        self._factor: float = STRONG if self._consistent else EVENTUAL
        if self.pattern.is_transaction:
            self._factor = TRANSACTIONAL

    def rows(self, count: int) -> list[Row]:
        """Draw the rows of the next requests, one for each item."""
        return self.drawer.rows(count * self.pattern.actions, self.rng)

    def works(self, rows: Sequence[Row], moments: Sequence[float]) -> Sequence[Sequence[Work]]:
        """Return the calls that look for each item under every suffix it may have.

        A transaction reads all of its items in one call.
        """
        suffixes = self._suffixes
        if suffixes != [()]:
            rows = [(*row, *suffix) for row in rows for suffix in suffixes]
        many = self.pattern.actions * len(suffixes)
        if many == 1 and not self.pattern.is_transaction:
            return [
                (_GetWork(self, row, moment),) for row, moment in zip(rows, moments, strict=True)
            ]
        firsts = range(0, len(rows), many)
        requests = zip(moments, (rows[first : first + many] for first in firsts), strict=True)
        if self.pattern.is_transaction:
            return [(_TransactionWork(self, wanted, moment),) for moment, wanted in requests]
        return [[_GetWork(self, row, moment) for row in wanted] for moment, wanted in requests]

    def find(self, position: Position) -> Found:
        """Look an item up and price the read."""
        consistent, factor = self._consistent, self._factor
        return reads.find(self.account, self.table, position, consistent=consistent, factor=factor)

    def count_read(self, read: Found, second: int, number: int) -> None:
        """Record a read that passed with the nth attempt."""
        self.count(read.charge, second, number)
        self.record.evaluated_bytes += read.receipt.bytes_evaluated


def _suffixes(path: AccessPath) -> list[Row]:
    return list(product(*([str(n) for n in range(shard.count)] for shard in path.shards)))


class _GetWork:
    """One item to read by its key."""

    __slots__ = ("_moment", "_position", "_row", "_runner")

    following: Final = None

    def __init__(self, runner: Getter, row: Row, moment: float) -> None:
        self._runner = runner
        self._row = row
        self._moment = moment
        self._position: Position | None = None

    def attempt(self, second: int, number: int) -> Reasons:
        runner = self._runner
        position = self._position
        if position is None:
            position = self._position = runner.finder.position(self._row, self._moment)
        read = runner.find(position)
        charges = [read.charge]
        reasons = runner.account.try_admit(runner.table, charges, read.receipt)
        if reasons:
            runner.count_refused(charges, reasons, second, number)
            return reasons
        runner.count_read(read, second, number)
        return ()


class _TransactionWork:
    """Items to read by their keys, all or none."""

    __slots__ = ("_moment", "_positions", "_rows", "_runner")

    following: Final = None

    def __init__(self, runner: Getter, rows: Sequence[Row], moment: float) -> None:
        self._runner = runner
        self._rows = rows
        self._moment = moment
        self._positions: list[Position] = []

    def attempt(self, second: int, number: int) -> Reasons:
        runner = self._runner
        if not self._positions:
            find = runner.finder.position
            self._positions = sorted({find(row, self._moment) for row in self._rows})
        prepared = [runner.find(position) for position in self._positions]
        reasons = self._all_or_none(prepared)
        if reasons:
            runner.count_refused([read.charge for read in prepared], reasons, second, number)
            return reasons
        for read in prepared:
            runner.count_read(read, second, number)
        return ()

    def _all_or_none(self, prepared: Sequence[Found]) -> Reasons:
        account, table = self._runner.account, self._runner.table
        if len(prepared) == 1:
            return account.try_admit(table, [prepared[0].charge], prepared[0].receipt)
        pairs = zip(self._positions, prepared, strict=True)
        actions = [TransactionAction(table, position, _handing(read)) for position, read in pairs]
        try:
            transactions.execute(account, actions)
        except TransactionCanceledException:
            return tuple(dict.fromkeys(why for read in prepared for why in read.receipt.reasons))
        return ()


def _handing(read: Found) -> Callable[[], Found]:
    return lambda: read


class Pager(Runner):
    """Queries and Scans, page by page."""

    def __init__(self, context: ExactContext, path: AccessPath, rng: np.random.Generator) -> None:
        super().__init__(context, path, rng)
        names = set(path.filters)
        if path.kind == "query":
            names |= set().union(*(template.names for template in path.key.partition))
            names |= {name for template in path.key.sort for name in template.names}
        self.drawer = Drawer(context.values, self.pattern, sorted(names - {TIMESTAMP}), ())
        self.columns = self.drawer.columns
        self.index = None if path.index is None else self.table.indexes[path.index.name]
        self._bounds = None if path.kind == "scan" else _Bounds(self, path)
        self._history = context.layout.workload.history + context.layout.workload.duration
        self.filters = [(name, self.columns[name]) for name in path.filters]
        self.fetches = (
            self.index is not None
            and not self.index.schema.is_global
            and self.index.schema.projection.kind != "ALL"
        )

    def rows(self, count: int) -> list[Row]:
        """Draw the rows of the next requests."""
        return self.drawer.rows(count, self.rng)

    def works(self, rows: Sequence[Row], moments: Sequence[float]) -> Sequence[Sequence[Work]]:
        """Return the first page of every key that each request has to ask."""
        if self._bounds is None:
            return [(_PageWork(self, self._scan(), row),) for row in rows]
        ranges = self._bounds.ranges
        return [
            [
                _PageWork(self, self._page(low, high, key), row)
                for low, high, key in ranges(row, moment, self._history)
            ]
            for row, moment in zip(rows, moments, strict=True)
        ]

    def _scan(self) -> PageRequest:
        low: Position = (0,)
        if self.path.has_limit:
            low = (int(self.rng.random() * HASH_SPACE),)
        return self._page(low, (HASH_SPACE,), None)

    def _page(self, low: Position, high: Position, key: Position | None) -> PageRequest:
        limit = self.pattern.items if self.path.has_limit else None
        return PageRequest(
            self.table,
            self.index,
            low,
            high,
            reverse=limit is not None and key is not None,
            limit=limit,
            consistent=self.pattern.consistent,
            fetch=self.fetches,
            key=key,
        )

    def next_start(self, last: Item) -> Position:
        """Return the position after which the next page begins."""
        if self.index is None:
            return self.table.position_of(last)
        entry = entry_of(self.index.schema, last, self.table.settings.placement_salt)
        assert entry is not None, "an item on a page of the index is in the index"
        return entry.position


class _Bounds:
    """The ranges of positions that a Query asks for."""

    def __init__(self, pager: Pager, path: AccessPath) -> None:
        self._salt = pager.table.settings.placement_salt
        labels = dict(pager.columns)
        for shard in path.shards:
            labels[shard.label] = len(labels)
        self._path = path
        self._suffixes = _suffixes(path)
        self._partitions = [template.bind(labels) for template in path.key.partition]
        self._known = [KeyTemplate("", parts).bind(labels) for parts in path.sort_parts]
        self._whole = sum(
            len(parts) == len(template.parts)
            for parts, template in zip(path.sort_parts, path.key.sort, strict=False)
        )
        self._time: Renderer | None = None
        if path.by_time:
            self._time = KeyTemplate("", (self._time_part(),)).bind(labels)

    def _time_part(self) -> Part:
        """Return the time that follows the known parts of the sort key."""
        partial = len(self._known) > self._whole
        template = self._path.key.sort[self._whole]
        return template.parts[len(self._path.sort_parts[self._whole]) if partial else 0]

    def ranges(
        self, row: Row, moment: float, history: float
    ) -> list[tuple[Position, Position, Position]]:
        """Return low, high and key of every collection to ask, of a request at a moment."""
        ranges = []
        span = self._path.pattern.span or 0.0
        for stretch in self._path.stretches(moment, history):
            for suffix in self._suffixes:
                values = (*row, *suffix)
                partition = tuple(render(values, stretch) for render in self._partitions)
                key = key_position(partition, self._salt, len(partition))
                known = [render(values, moment) for render in self._known]
                prefix = (*key, *known[: self._whole])
                partial = known[self._whole] if len(known) > self._whole else ""
                if self._time is not None:
                    low: Position = (*prefix, partial + self._time(values, moment - span))
                else:
                    low = (*prefix, partial) if partial else prefix
                high = (*prefix, partial + LAST) if partial else (*prefix, TOP)
                ranges.append((low, high, key))
        return ranges


class _PageWork:
    """One page to read."""

    __slots__ = ("_last", "_request", "_row", "_runner")

    def __init__(self, runner: Pager, request: PageRequest, row: Row) -> None:
        self._runner = runner
        self._request = request
        self._row = row
        self._last: Item | None = None

    def attempt(self, second: int, number: int) -> Reasons:
        runner = self._runner
        page, charges = reads.plan_page(runner.account, self._request)
        reasons = runner.account.try_admit(runner.table, charges, page.receipt)
        if reasons:
            runner.count_refused(charges, reasons, second, number)
            return reasons
        for charge in charges:
            runner.count(charge, second, number)
        self._last = page.last
        evaluated = float(page.receipt.bytes_evaluated)
        runner.record.evaluated_bytes += evaluated
        if runner.path.needs_filter:
            kept = _kept(page.items, runner.filters, self._row) if runner.filters else evaluated
            runner.record.filtered_bytes += evaluated - kept * runner.pattern.selectivity
        return ()

    @property
    def following(self) -> Work | None:
        """The next page, if there is one."""
        if self._last is None or self._request.limit is not None:
            return None
        start = self._runner.next_start(self._last)
        return _PageWork(self._runner, self._request._replace(start=start), self._row)


def _kept(items: Sequence[Item], filters: Sequence[tuple[str, int]], row: Row) -> float:
    """Return the bytes of the items that pass the filter."""
    return float(
        sum(
            item.size_bytes
            for item in items
            if all(item.attributes.get(name) == row[column] for name, column in filters)
        )
    )
