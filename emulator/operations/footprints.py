"""Footprints: which items a request names, as it is sent, to read or to write.

Two requests commute if neither writes what the other names: either order of them has the same
answers and leaves the same contents. What is not known to commute conflicts; a request is judged
before it is served, and by nothing but itself and the schema of its tables.

Everything is a name, from the narrow to the wide: an item, its collection, its table, all tables.
A write of an item is a write to all four; a read names the narrowest that it can see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from emulator.engine import Account, Table
from emulator.engine.minutes import expire
from emulator.model.wire import load_item
from emulator.operations.execute_statement import bind_alone, bind_loaded
from emulator.operations.query import key_condition_of
from emulator.operations.statements import reads, writes
from emulator.partiql import Bound, Exists, Select, load_parameters
from emulator.service.catalogue import OPERATIONS, Kind
from emulator.service.errors import ApiError, ResourceNotFoundException
from emulator.storage import Position, bounds

#: What is read or written; the longer, the narrower.
Name: TypeAlias = tuple[Any, ...]

#: What a Scan sees: any write.
ALL_ITEMS: Final[Name] = ()
#: What every request touches, and operations on tables write.
EVERYTHING: Final[Name] = ("*",)


class Footprint(NamedTuple):
    """The names that a request reads and writes.

    Attributes:
        touched: Names that it reads or writes.
        written: Names that change for readers if it writes.
        is_eventual: Whether it is an eventually consistent read.
    """

    touched: frozenset[Name]
    written: frozenset[Name] = frozenset()
    is_eventual: bool = False

    def conflicts(self, other: Footprint) -> bool:
        """Return whether the order of two requests can make a difference."""
        return not (
            self.written.isdisjoint(other.touched) and other.written.isdisjoint(self.touched)
        )

    @property
    def items(self) -> frozenset[Name]:
        """The items that it names by their whole key: table and position."""
        return frozenset(name for name in self.touched if _is_item(name))

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it names or writes to."""
        names = self.touched | self.written
        return frozenset(name[0] for name in names if len(name) < 3 and name and name[0] != "*")

    def expired(self, account: Account) -> Footprint | None:
        """Return the footprint of deleting the expired items that it names; None if there are none.

        Time to live may take an item at any moment after its time (TTL-4).
        """
        now_seconds = account.clock.now()
        found = {
            (table.name, position)
            for table in account.visible_tables().values()
            if table.expiry is not None
            for position in table.expiry.due(now_seconds)
            if position is not None
            and table.expiry.is_due(table.store.get(position), now_seconds)
            and not self.touched.isdisjoint(writes_of([(table.name, position)]))
        }
        if not found:
            return None
        return Footprint(self.touched | found, self.written | writes_of(found))

    def expire(self, account: Account) -> None:
        """Delete the expired items that it names."""
        gone = self.expired(account)
        for name, position in () if gone is None else sorted(gone.items - self.items | gone.items):
            table = account.find_table(name)
            if table is not None and table.expiry is not None:
                item = table.store.get(position)
                if table.expiry.is_due(item, account.clock.now()):
                    expire(account, table, position)


def _collection(table: str, position: Position) -> Name:
    """Return the name of an item collection, which is no item's."""
    return table, position[:2], "collection"


def _is_item(name: Name) -> bool:
    return len(name) == 2 and isinstance(name[1], tuple)


def writes_of(items: Iterable[Name]) -> frozenset[Name]:
    """Return every name under which a write of these items is seen."""
    written: set[Name] = set()
    for table, position in items:
        written |= {(table, position), _collection(table, position), (table,), ALL_ITEMS}
    return frozenset(written)


def footprint_of(account: Account, operation: str, request: Any) -> Footprint:
    """Return the footprint of a request; one that is refused whatever is stored writes nothing.

    >>> from emulator import Emulator
    >>> footprint_of(Emulator().account(), "Scan", {"TableName": "none"}).written
    frozenset()
    """
    facts = OPERATIONS.get(operation)
    if facts is None:
        return Footprint(frozenset((EVERYTHING,)))
    if (facts.kind is Kind.CONTROL and operation != "GetRecords") or account.faults.rules:
        return Footprint(frozenset((EVERYTHING,)), frozenset((EVERYTHING,)))
    try:
        named = _Reader(account).read(operation, request)
    except (ApiError, AttributeError, KeyError, TypeError, ValueError):
        return Footprint(frozenset((EVERYTHING,)))
    return named._replace(touched=named.touched | {EVERYTHING})


class _Reader:
    """Reads requests on items, in whatever shape they come."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._tables: set[str] = set()
        self._read: set[Name] = set()
        self._written: set[Name] = set()

    def read(self, operation: str, request: dict[str, Any]) -> Footprint:
        is_eventual = False
        match operation:
            case "GetItem" | "Query" | "Scan" | "SearchVectors" | "BatchGetItem":
                is_eventual = self._read_items(operation, request)
            case "GetRecords":
                self._read.add(ALL_ITEMS)
            case "ExecuteStatement" | "BatchExecuteStatement" | "ExecuteTransaction":
                is_eventual = self._read_statements(operation, request)
            case "TransactGetItems" | "TransactWriteItems":
                self._act_together(request)
            case "BatchWriteItem":
                self._write_batch(request)
            case _:
                self._written.add(self._item(request))
        touched, written = self._read | self._written, writes_of(self._written)
        shared = self._shared(request)
        return Footprint(frozenset(touched | shared), written | shared, is_eventual)

    def _shared(self, request: Mapping[str, Any]) -> frozenset[Name]:
        """Return the names that a request uses besides items: its token, the throughput."""
        token = request.get("ClientRequestToken")
        shared: set[Name] = set() if token is None else {("token", "", token)}
        if self._account.capacity == "enforce":
            shared |= {("units", "", table) for table in self._tables}
        return frozenset(shared)

    def _table(self, name: str) -> Table:
        account = self._account
        table = account.find_table(account.table_name(name) if name.startswith("arn:") else name)
        if table is None:
            raise ResourceNotFoundException
        self._tables.add(table.name)
        return table

    def _item(self, body: Mapping[str, Any]) -> Name:
        table = self._table(body["TableName"])
        attributes = body["Item"] if "Item" in body else body["Key"]
        key = load_item({name: attributes[name] for name in table.key.names})
        return table.name, table.position(table.key.values(key))

    def _read_items(self, operation: str, request: dict[str, Any]) -> bool:
        if operation == "BatchGetItem":
            for name, wanted in request["RequestItems"].items():
                for key in wanted["Keys"]:
                    self._read.add(self._item({"TableName": name, "Key": key}))
            return not any(one.get("ConsistentRead") for one in request["RequestItems"].values())
        if operation == "GetItem":
            self._read.add(self._item(request))
        else:
            self._read.add(self._page(operation, request))
        return not request.get("ConsistentRead", False)

    def _page(self, operation: str, request: dict[str, Any]) -> Name:
        table = self._table(request["TableName"])
        if operation == "Scan":
            return ALL_ITEMS
        if "IndexName" in request:
            return (table.name,)
        key_range = key_condition_of(request).range(table.key)
        low, _ = bounds(key_range, table.settings.placement_salt)
        return _collection(table.name, low)

    def _act_together(self, request: Mapping[str, Any]) -> None:
        is_held = self._account.settings.transaction_seconds > 0  # whatever a transaction names
        for action in request["TransactItems"]:
            [(kind, body)] = action.items()
            only_reads = kind in ("Get", "ConditionCheck") and not is_held
            names = self._read if only_reads else self._written
            names.add(self._item(body))

    def _write_batch(self, request: Mapping[str, Any]) -> None:
        for table, members in request["RequestItems"].items():
            for member in members:
                [body] = member.values()
                self._written.add(self._item(body | {"TableName": table}))

    # Statements

    def _read_statements(self, operation: str, request: Mapping[str, Any]) -> bool:
        members = request.get("Statements") or request.get("TransactStatements") or (request,)
        is_eventual = operation != "ExecuteTransaction"
        for member in members:
            if operation == "ExecuteTransaction":
                bound = bind_loaded(member, load_parameters(member.get("Parameters")))
            else:
                bound = bind_alone(member)
            consistent = member.get("ConsistentRead", False)
            self._read_statement(bound, consistent=consistent)
            is_eventual = is_eventual and bound.reads and not consistent
        return is_eventual

    def _read_statement(self, bound: Bound, *, consistent: bool) -> None:
        table = self._table(bound.table_name)
        if isinstance(bound.statement, Select):
            self._read |= self._selected(bound, bound.statement, table, consistent=consistent)
            return
        write = writes.write_of(bound, table, shows_old=False)
        names = self._read if isinstance(bound.statement, Exists) else self._written
        names.add((table.name, write.position))

    def _selected(
        self, bound: Bound, select: Select, table: Table, *, consistent: bool
    ) -> set[Name]:
        """Return the items of a SELECT that gives their whole keys; any other sees every write."""
        reading = reads.reading_of(self._account, bound, select, consistent=consistent)
        width = len(table.key.names)
        named: set[Name] = set()
        for branch in reading.ranges or ():
            key_range = branch.key_range
            key = (*key_range.partition, *key_range.equal)
            if select.source.index is not None or len(key) < width:
                return {ALL_ITEMS}
            named.add((table.name, table.position(key)))
        return named or {ALL_ITEMS}
