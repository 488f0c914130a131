"""The ledger: what calls cost, and where in the caller's code they were made.

Calls of one kind from one line are one entry, so a ledger stays small however long it listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from emulator.capacity import READ, Reason, Receipt
from emulator.capacity.prices import STANDARD, TARIFFS
from emulator.engine.events import Billed, Event, Events, IndexDelayed, RequestServed, Throttled
from emulator.locks import Rank, new_lock
from emulator.observe.concentration import LoadConcentration
from emulator.observe.findings import CallHistory
from emulator.observe.places import Place, calling_place_and_entry, where
from emulator.service.catalogue import ON_ITEMS, Kind, names_of
from emulator.settings import Settings

if TYPE_CHECKING:
    from types import FrameType

    from emulator.engine.account import Account

#: A line of code, and the call of a function by which it was reached.
Locate: TypeAlias = Callable[[], tuple[Place, "FrameType | None"]]
#: How large a gigabyte is in a price list.
_PRICED: Final = Settings()
#: The operations that may read more than they return.
PAGES: Final = names_of(Kind.PAGE)
#: Those that name one index to read.
_OF_AN_INDEX: Final = PAGES | names_of(Kind.SEARCH)


@dataclass(slots=True, eq=False)
class LedgerEntry:
    """Calls of one operation on one table or index, made at one place.

    Attributes:
        operation: Its wire name.
        table: The table.
        index: The index it reads, or None.
        place: Where the nearest frame of the caller's own code stood.
        calls: How many were served.
        read_units: Read units, indexes included.
        write_units: Write units, indexes included.
        throttles: Item operations that were, or would have been, refused for throughput, and
            changes of global indexes that had to wait for it.
        items_evaluated: Items read, before filters.
        items_returned: Items that the filters left.
        bytes_evaluated: Sizes of the items read.
        bytes_returned: Sizes of the items that the filters left.
        reasons: Why some of the calls were, or would have been, refused.
        searched_bytes: Bytes searched in vector indexes (VIX-60).
        vector_bytes: Bytes written to vector indexes (VIX-62).
        billed: Dollars of what is paid for besides units, by cost item (CAP-1004).
    """

    operation: str
    table: str
    index: str | None
    place: Place
    calls: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    throttles: int = 0
    items_evaluated: int = 0
    items_returned: int = 0
    bytes_evaluated: int = 0
    bytes_returned: int = 0
    replicated_units: float = 0.0
    reasons: list[Reason] = field(default_factory=list)
    searched_bytes: int = 0
    vector_bytes: int = 0
    billed: dict[str, float] = field(default_factory=dict)

    @property
    def resource(self) -> str:
        """The table, or table and index."""
        return self.table if self.index is None else f"{self.table}.{self.index}"

    @property
    def where(self) -> str:
        """The place as ``file:line``, seen from the present directory."""
        return where(self.place)

    @property
    def filtered(self) -> int:
        """Items that were read and paid for, and thrown away by a filter."""
        return self.items_evaluated - self.items_returned if self.operation in PAGES else 0


class Ledger:
    """The calls since it began to listen.

    Args:
        locate: Returns the line that makes a call, and the call of code that led to it.

    Attributes:
        calls: Requests served, of every kind.
        requests: Those that read or write items.
        concentration: How their units lie on keys and partitions.
        history: Their common traits, for ``findings_of``.
        reasons: Refusals for throughput, or those that would have been: reason to times.

    >>> from emulator import Emulator
    >>> emu, ledger = Emulator(), Ledger()
    >>> leave = emu.events.subscribe(ledger.hear)
    >>> _ = emu.call("ListTables", {})
    >>> ledger.calls, ledger.read_units
    (1, 0.0)
    """

    def __init__(self, locate: Locate = calling_place_and_entry) -> None:
        self._locate = locate
        self.calls = 0
        self.requests = 0
        self.concentration = LoadConcentration()
        self.history = CallHistory()
        self.reasons: dict[Reason, int] = {}
        self._entries: dict[tuple[str, str, str | None, Place], LedgerEntry] = {}
        #: Calls that consume nothing: those that manage tables, and those refused as invalid.
        self._free: dict[tuple[str, str, Place], LedgerEntry] = {}
        self._lock = new_lock(Rank.LEDGER)

    def hear(self, event: Event) -> None:
        """Enter an event; this is what ``Events.subscribe`` takes."""
        if type(event) is RequestServed:
            with self._lock:
                self._enter_request(event)
        elif type(event) is Billed:
            with self._lock:
                entry = self._entry(event.operation, event.table, None, self._locate()[0])
                dollars = TARIFFS[event.item].usd(event.quantity, _PRICED)
                entry.billed[event.item] = entry.billed.get(event.item, 0.0) + dollars
        elif type(event) is Throttled or type(event) is IndexDelayed:
            with self._lock:
                self._enter_refusal(event)

    def _enter_request(self, event: RequestServed) -> None:
        self.calls += 1
        if event.operation in ON_ITEMS:
            self.requests += 1
        if not event.receipts:
            self._enter_free(event)
            return
        place, entry_point = self._locate()
        self.history.note(event, place, entry_point)
        self.concentration.add(event.receipts, place)
        operation = event.operation
        names_index = operation in _OF_AN_INDEX
        counted: list[LedgerEntry] = []
        for table, receipt in event.receipts:
            index = None
            if names_index:
                index = next(iter(receipt.gsi or receipt.lsi or receipt.vectors), None)
            entry = self._entry(operation, table, index, place)
            if entry not in counted:
                counted.append(entry)
                entry.calls += 1
            if receipt.axis == READ:
                entry.read_units += receipt.total
            else:
                entry.write_units += receipt.total
                entry.replicated_units += receipt.total * receipt.replicas
            if receipt.vectors:
                _add_vectors(entry, receipt)
            entry.items_evaluated += receipt.items_evaluated
            entry.items_returned += receipt.items_returned
            entry.bytes_evaluated += receipt.bytes_evaluated
            entry.bytes_returned += receipt.bytes_returned

    def _enter_free(self, event: RequestServed) -> None:
        request: object = event.request  # as it came: a refused one may be no structure at all
        named = request.get("TableName") if isinstance(request, Mapping) else None
        key = (event.operation, named if isinstance(named, str) else "", self._locate()[0])
        entry = self._free.setdefault(key, LedgerEntry(key[0], key[1], None, key[2]))
        entry.calls += 1

    def _enter_refusal(self, event: Throttled | IndexDelayed) -> None:
        for reason in event.reasons:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        index = None
        if event.operation in _OF_AN_INDEX:
            index = resource_names(event.reasons[0].resource)[1]
        entry = self._entry(event.operation, event.table, index, self._locate()[0])
        entry.throttles += 1
        entry.reasons += [reason for reason in event.reasons if reason not in entry.reasons]

    def _entry(self, operation: str, table: str, index: str | None, place: Place) -> LedgerEntry:
        key = (operation, table, index, place)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = LedgerEntry(operation, table, index, place)
        return entry

    @property
    def entries(self) -> list[LedgerEntry]:
        """All entries, the most expensive first."""
        return sorted(
            self._entries.values(),
            key=lambda entry: (
                -(entry.read_units + entry.write_units),
                -sum(entry.billed.values()),
            ),
        )

    @property
    def read_units(self) -> float:
        """Read units of all calls."""
        return sum((entry.read_units for entry in self._entries.values()), 0.0)

    @property
    def write_units(self) -> float:
        """Write units of all calls."""
        return sum((entry.write_units for entry in self._entries.values()), 0.0)

    @property
    def replicated_units(self) -> float:
        """Write units that the same writes consume in the other regions of global tables."""
        return sum((entry.replicated_units for entry in self._entries.values()), 0.0)

    @property
    def usd(self) -> float:
        """The dollars of a million runs of this, on demand in a table of class Standard."""
        units = STANDARD.on_demand(
            reads=self.read_units,
            writes=self.write_units,
            replicated_writes=self.replicated_units,
        )
        searched = sum(entry.searched_bytes for entry in self._entries.values())
        written = sum(entry.vector_bytes for entry in self._entries.values())
        vectors = STANDARD.vectors(_PRICED, searched=searched, written=written)
        billed = sum(sum(entry.billed.values()) for entry in self._entries.values())
        return 1_000_000 * (units + vectors + billed)

    @property
    def throttles(self) -> int:
        """Item operations that were, or would have been, refused for throughput."""
        return sum(entry.throttles for entry in self._entries.values())

    @property
    def scans(self) -> int:
        """Pages of Scan that were read."""
        return sum(entry.calls for entry in self._entries.values() if entry.operation == "Scan")

    @property
    def filtered(self) -> int:
        """Items that were read and paid for, and thrown away by a filter."""
        return sum(entry.filtered for entry in self._entries.values())

    def table(self, most: int = 10) -> str:
        """Return the most expensive entries as a table of text, and then calls that are free."""
        free = sorted(self._free.values(), key=lambda entry: -entry.calls)
        rows = [
            (
                f"{entry.read_units:g}",
                f"{entry.write_units:g}",
                str(entry.calls),
                str(entry.throttles),
                f"{entry.operation} {entry.resource}".rstrip(),
                entry.where,
            )
            for entry in [*self.entries, *free][:most]
        ]
        return as_table(("rcu", "wcu", "calls", "throttled", "what", "where"), rows)


def _add_vectors(entry: LedgerEntry, receipt: Receipt) -> None:
    size_bytes = sum(receipt.vectors.values())
    if receipt.axis == READ:
        entry.searched_bytes += size_bytes
    else:
        entry.vector_bytes += size_bytes


def resource_names(arn: str) -> tuple[str, str | None]:
    """Return the table and, of an index, the index that a resource name names.

    >>> resource_names("arn:aws:dynamodb:us-east-1:000000000000:table/orders/index/by_day")
    ('orders', 'by_day')
    """
    table, _, index = arn.partition(":table/")[2].partition("/index/")
    return table or arn, index or None


@contextmanager
def uncounted(account: Account) -> Iterator[None]:
    """Let what is done in a block cost nothing: admitted, unreported, struck by no fault."""
    with account.lock, account.faults.lifted():
        kept = account.capacity, account.events, account.last_receipts
        account.capacity, account.events = "off", Events()
        try:
            yield
        finally:
            account.capacity, account.events, account.last_receipts = kept


def as_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows as aligned text; columns whose cells are numbers are aligned to the right.

    >>> print(as_table(("units", "what"), [("12", "PutItem t"), ("3", "Query t")]))
    units  what
       12  PutItem t
        3  Query t
    """
    table = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    is_number = [_all_numbers(column[1:]) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = zip(row, widths, is_number, strict=True)
        padded = (text.rjust(width) if right else text.ljust(width) for text, width, right in cells)
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _all_numbers(cells: Iterable[str]) -> bool:
    return all(cell.replace(".", "", 1).isdigit() for cell in cells)
