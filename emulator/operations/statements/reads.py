"""SELECT: which table or index, which ranges of keys, and one page of them.

Rules PQL-5, PQL-6 and PQL-13 to PQL-17. A statement is charged as the queries or the scan that
it becomes (CAP-215).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import compress
from typing import Any, Final, NamedTuple

from emulator import expressions, partiql
from emulator.capacity import READ, Receipt
from emulator.engine import Account, Table
from emulator.engine.reads import PageRequest, read_page
from emulator.model import Attributes, Item, Missing, Value, resolve, wire
from emulator.operations import paging, responses
from emulator.operations.statements import next_token
from emulator.service import errors, limits
from emulator.storage import Position, bounds, segment_bounds

NO_INDEX: Final = "The table does not have the specified index"
SEVERAL_ATTRIBUTES: Final = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
    "or multi-attribute RANGE keys."
)
CONSISTENT_GSI: Final = "Strongly consistent read is not supported on Global Secondary Indexes"

_FEWEST_BUCKETS: Final = 16


class StatementRead(NamedTuple):
    """A SELECT that knows its table and its keys.

    Attributes:
        source: The table or index.
        ranges: The key ranges in the order they are read, or None for a scan.
        backwards: Whether each range is read towards lower keys.
        condition: The filter, or None if the ranges say it all.
        columns: The columns of each item to answer, or None for all of it.
    """

    source: paging.PagedSource
    ranges: list[partiql.Range] | None
    backwards: bool
    condition: expressions.Condition | None
    columns: partiql.Columns | None

    def spans(self) -> list[tuple[Position, Position]]:
        """Return the positions that are read, span after span."""
        if self.ranges is None:
            return [segment_bounds(0, 1)]
        salt = self.source.table.settings.placement_salt
        return [bounds(key_range.key_range, salt) for key_range in self.ranges]


def reading_of(
    account: Account, bound: partiql.Bound, select: partiql.Select, *, consistent: bool
) -> StatementRead:
    """Return the read of a SELECT; the order of the checks is observable (ERR-PQL-1).

    Raises:
        ResourceNotFoundException: there is no such table.
        ValidationException: there is no such index, or the statement does not suit it.
    """
    source = _source_of(account, select, consistent=consistent)
    columns = select.columns
    if columns is not None and columns.fault is not None:
        raise errors.ValidationException(columns.fault)
    if select.order and select.where is None:
        raise errors.ValidationException(partiql.ORDER_WITHOUT_WHERE)
    program = partiql.where_program(bound.parsed)
    condition = None if program is None else program.condition(bound.values)
    paging.keys_are_scalars(source, condition)
    branches = partiql.branches_of(bound.parsed, source.key.names)
    ranges = None if branches is None else partiql.ranges_of(branches, bound.values, source.key)
    ranges, backwards = partiql.in_order(ranges, select.order, source.key)
    if columns is not None:
        paging.index_projects(source, {}, columns.projection)
    if branches is not None and ranges is not None:
        if source.secondary is not None:
            _index_projects_filters(source, branches, ranges)
        if not any(branch.is_filtered for branch in branches):
            condition = None
    return StatementRead(source, ranges, backwards, condition, columns)


def key_of_read(bound: partiql.Bound, select: partiql.Select, table: Table, refusal: str) -> Item:
    """Return the key of a SELECT that names one item by its key, and says nothing else.

    Raises:
        ValidationException: with ``refusal``, if it is another kind of SELECT.
    """
    branches = partiql.branches_of(bound.parsed, table.key.names)
    if branches is None or select.source.index is not None:
        raise errors.ValidationException(refusal)
    ranges = partiql.ranges_of(branches, bound.values, table.key)
    if ranges is None or len(ranges) != 1 or ranges[0].is_filtered:
        raise errors.ValidationException(refusal)
    named = ranges[0].key_range
    values = named.partition + named.equal
    if len(values) < len(table.key.names):
        raise errors.ValidationException(refusal)
    return Item.of(dict(zip(table.key.names, values, strict=True)))


def _source_of(account: Account, select: partiql.Select, *, consistent: bool) -> paging.PagedSource:
    """Return the table or index, or say why it cannot be read (PQL-13, PQL-14, PQL-16, VIX-50)."""
    table = account.table(select.source.table)
    name = select.source.index
    if name is None:
        return paging.PagedSource(table, None, table.key, table.key.names)
    index = table.indexes.get(name)
    if index is None:
        if table.vectors is not None and name in table.vectors.live:
            raise errors.ValidationException(paging.SCAN_OF_VECTORS)
        raise errors.ValidationException(NO_INDEX)
    schema = index.schema
    if len(schema.key.partition) > 1 or len(schema.key.sort) > 1:
        raise errors.ValidationException(SEVERAL_ATTRIBUTES)
    if schema.is_global and index.status(account.now_ns) == "CREATING":
        raise errors.ValidationException(paging.BACKFILLING.format(index=name))
    if schema.is_global and consistent:
        raise errors.ValidationException(CONSISTENT_GSI)
    return paging.PagedSource(table, index, schema.key, schema.key_names)


def _index_projects_filters(
    source: paging.PagedSource, branches: partiql.Branches, ranges: list[partiql.Range]
) -> None:
    """Refuse a keyed read that filters on what the index does not hold (PQL-15).

    Observed: another emulator's capture of eu-west-2, September 2026: the statement is refused
    only if every branch is, those that nothing can match among them, and then for the one with
    the highest partition key; the attributes come in the order of a Java set.
    """
    assert source.secondary is not None, "asked of an index"
    projects = source.secondary.schema.projects
    if any(all(map(projects, branch.filters)) for branch in branches):
        return
    if ranges:
        last = max(ranges, key=lambda key_range: key_range.partition)
        absent = [name for name in last.filters if not projects(name)]
        names = ", ".join(_in_java_order(absent))
        schema = source.secondary.schema
        raise errors.ValidationException(
            paging.FILTER_NOT_PROJECTED.format(index=schema.name, names=names)
        )


def _in_java_order(names: list[str]) -> list[str]:
    """Return names in the order of a Java HashSet that they were put into."""
    buckets = _FEWEST_BUCKETS
    while len(names) * 4 > buckets * 3:
        buckets *= 2
    return sorted(names, key=lambda name: _java_hash(name) % buckets)


def _java_hash(text: str) -> int:
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    code = 0
    for unit in units:
        code = (31 * code + unit) % 2**32
    return code ^ code >> 16


def select_page(
    account: Account, request: Mapping[str, Any], bound: partiql.Bound
) -> dict[str, Any]:
    """Return one page of a SELECT, filtered after it was read and paid for (PQL-1)."""
    select = bound.statement
    assert isinstance(select, partiql.Select), "asked of a SELECT"
    start = next_token.load_next_token(request)
    consistent = request.get("ConsistentRead", False)
    reading = reading_of(account, bound, select, consistent=consistent)

    read = _Read(account, reading, request.get("Limit"), consistent=consistent)
    stop = read.from_start(start)

    show = partial(_all_shown, columns=reading.columns)
    response: dict[str, Any]
    if read.receipt.bytes_returned > responses.LONG_BYTES:
        response = responses.LongAnswer(Items=responses.in_pieces(read.kept, show))
    else:
        response = {"Items": show(read.kept)}
    if stop is not None:
        key = {name: stop.key.attributes[name] for name in reading.source.key_names}
        response["LastEvaluatedKey"] = wire.dump_item(key)
        response["NextToken"] = next_token.next_token(
            request, stop.number, response["LastEvaluatedKey"]
        )
    mode = request.get("ReturnConsumedCapacity")
    response.update(responses.consumed(mode, select.source.table, read.receipt))
    return response


class _Read:
    """The reading of one page, which may go through several ranges."""

    def __init__(
        self, account: Account, reading: StatementRead, limit: int | None, *, consistent: bool
    ) -> None:
        self._account = account
        self._reading = reading
        self._limit = limit
        self._consistent = consistent
        source, columns = reading.source, reading.columns
        projection = None if columns is None else columns.projection
        self._fetch = paging.needs_fetch(source, {}, projection)
        self.kept: list[Item] = []
        self.receipt = Receipt(READ)

    def from_start(self, start: next_token.Start | None) -> next_token.Start | None:
        """Read range after range to the end of the page; return where the next one begins."""
        spans = self._reading.spans()
        first, after = 0, None
        if start is not None:
            first, after = start.number, self._position(start, len(spans))
        for number, span in enumerate(spans[first:], start=first):
            stop = self._span(span, after)
            after = None
            if stop is not None:
                return next_token.Start(number, stop)
        return None

    def _position(self, start: next_token.Start, count: int) -> Position:
        if start.number >= count:
            raise errors.ValidationException(next_token.INVALID_TOKEN)
        try:
            return paging.start_position(self._reading.source, start.key)
        except errors.ValidationException:
            raise errors.ValidationException(next_token.INVALID_TOKEN) from None

    def _span(self, span: tuple[Position, Position], after: Position | None) -> Item | None:
        """Read one span as far as the page goes; return the item that the page ends with."""
        source = self._reading.source
        low, high = span
        page = read_page(
            self._account,
            PageRequest(
                source.table,
                source.secondary,
                low,
                high,
                start=after,
                reverse=self._reading.backwards,
                limit=self._limit,
                consistent=self._consistent,
                fetch=self._fetch,
                key=None if self._reading.ranges is None else low[:2],
            ),
        )
        if self._limit is not None:
            self._limit -= len(page.items)
        self._keep(page.items, page.receipt)
        is_full = self.receipt.bytes_evaluated >= limits.PAGE_BYTES
        return page.items[-1] if page.last is None and page.items and is_full else page.last

    def _keep(self, items: list[Item], receipt: Receipt) -> None:
        condition = self._reading.condition
        if condition is not None:
            items = list(compress(items, condition.holding(list(map(self._seen, items)))))
            receipt.items_returned = len(items)
            receipt.bytes_returned = sum(item.size_bytes for item in items)
        self.kept += items
        self.receipt.merge(receipt)

    def _seen(self, item: Item) -> Attributes:
        """Return the attributes of an item that a filter sees: in an index, those it holds.

        Observed: another emulator's capture of eu-west-2, September 2026.
        """
        secondary = self._reading.source.secondary
        if not self._fetch or secondary is None or secondary.schema.entry_names is None:
            return item.attributes
        return item.pick(secondary.schema.entry_names).attributes


def _all_shown(items: list[Item], columns: partiql.Columns | None) -> list[wire.WireItem]:
    return [shown(item, columns) for item in items]


def shown(item: Item, columns: partiql.Columns | None) -> wire.WireItem:
    """Return the columns of an item that a SELECT answers; missing ones are left out (PQL-6)."""
    if columns is None:
        return wire.dump_item(item.attributes)
    assert columns.projection is not None, "its faults were reported"
    columns_shown: dict[str, Value] = {}
    for name, path in zip(columns.names, columns.projection.paths, strict=True):
        value = resolve(item.attributes, path)
        if not isinstance(value, Missing):
            columns_shown[name] = value
    return wire.dump_item(columns_shown)
