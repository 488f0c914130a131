"""Findings: calls that the service would serve better if they were made otherwise, with the cure.

A finding is of one kind of call at one line of the caller's code. It is advice, and never wrong
by itself: who reports it lets users choose what fails and what may stay (ICH-112).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emulator.capacity import READ, Receipt
from emulator.observe.advice import cure_of_limit, cures_of_indexes, cures_of_units
from emulator.observe.call_finding import CallFinding
from emulator.observe.places import Place, where
from emulator.observe.slow_harm import SlowHarm
from emulator.service import limits
from emulator.service.catalogue import Kind, names_of
from emulator.storage import Position

if TYPE_CHECKING:
    from types import FrameType

    from emulator.engine.events import RequestServed
    from emulator.observe.ledger import Ledger, LedgerEntry

#: The kinds of findings, in the order in which they are listed. Source: ICH-112.
KINDS: Final = (
    "would-throttle",
    "scan",
    "filter-waste",
    "repeated-get",
    "write-loop",
    "read-before-write",
    "consistent-read",
    "expiry-format",
    "large-item",
    "all-pages",
)
#: How often a call is made at one line until it counts as repeated. Source: ICH-112.
REPEAT_THRESHOLD: Final = 5

_READ_ONCE: Final = "read it once and pass it on"
_QUERY: Final = "one Query reads the items of a partition key together"
_BATCH_GET: Final = f"BatchGetItem reads up to {limits.BATCH_GET_KEYS} items in one request"
_BATCH_WRITE: Final = (
    f"BatchWriteItem, Table.batch_writer() in boto3, writes up to {limits.BATCH_WRITE_REQUESTS} "
    "items in one request"
)
_CONDITION: Final = (
    "a ConditionExpression on the write checks the item without the read, and nobody can change "
    "the item in between"
)
_INDEX: Final = "a Query of the table or of an index with the right key reads only what is kept"
_EVENTUAL: Final = (
    "an eventually consistent read costs half as much; the test had not written these items"
)

_CONSISTENT: Final = (
    "{operation} {name} at {where} asks for ConsistentRead, which doubles its units: leave it out "
    "where an answer may be a moment old"
)
_FEWER_CALLS: Final = "make fewer of the calls above, or raise the budget"
_MOST_ADVICE: Final = 5

#: How much of a position names an item collection of a table: the hash and the partition key.
_COLLECTION: Final = 2
_SINGLE_WRITES: Final = names_of(Kind.WRITE)
_BATCHABLE: Final = frozenset({"PutItem", "DeleteItem"})

Item: TypeAlias = tuple[str, Position]
#: Whether a place is not worth reporting: it is a test, and not the code under test.
IsExempt: TypeAlias = Callable[[Place], bool]


class _Reads:
    """GetItem calls of one table at one line."""

    __slots__ = ("calls", "items")

    def __init__(self) -> None:
        self.calls = 0
        self.items: set[Position] = set()


class CallHistory:
    """What the calls of a piece of code have in common; a ledger keeps one.

    Calls are repeated, and a read comes before a write, within one call of the code under test: a
    test may call that as often as it likes. It remembers keys, no items and no requests.
    """

    def __init__(self) -> None:
        #: Kept only for comparison with the next; the id of a dead frame may be reused.
        self._entry_point: FrameType | None = None
        self._reads: dict[tuple[Place, str], _Reads] = {}
        self._writes: dict[tuple[Place, str, str], int] = {}
        self._read_at: dict[Item, Place] = {}
        self._most_reads: dict[tuple[Place, str], _Reads] = {}
        self._most_writes: dict[tuple[Place, str, str], int] = {}
        self._read_first: dict[tuple[Place, str, Place], int] = {}
        #: What was written: items, the item collections they are in, and tables.
        self._written: set[Item] = set()
        self._written_collections: set[Item] = set()
        self._written_tables: set[str] = set()
        #: Strongly consistent reads: how many, and how many of what was written before.
        self._consistent: dict[tuple[str, Place, str, str | None], list[int]] = {}
        self._harm = SlowHarm()

    def note(self, event: RequestServed, place: Place, entry_point: FrameType | None) -> None:
        """Remember what a request was for; one that was refused did nothing.

        Args:
            event: The request.
            place: The line that made it.
            entry_point: The call of the code under test in which it was made.
        """
        if event.error is not None and event.error != "ConditionalCheckFailedException":
            return
        if entry_point is not self._entry_point:
            self._leave()
            self._entry_point = entry_point
        self._harm.note(event, place)
        for table, receipt in event.receipts:
            if receipt.charges:
                self._note_receipt(event, place, table, receipt)

    def _note_receipt(
        self, event: RequestServed, place: Place, table: str, receipt: Receipt
    ) -> None:
        position = receipt.charges[0].position
        if receipt.axis == READ:
            if event.operation == "GetItem" and position is not None:
                reads = self._reads.setdefault((place, table), _Reads())
                reads.calls += 1
                reads.items.add(position)
                self._read_at[table, position] = place
            if event.request.get("ConsistentRead") is True:
                self._note_consistent(event.operation, place, table, receipt)
            return
        assert position is not None, "a write has a position"
        if event.operation in _SINGLE_WRITES:
            self._note_write(event.operation, event.request, place, (table, position))
        self._written.add((table, position))
        self._written_collections.add((table, position[:_COLLECTION]))
        self._written_tables.add(table)

    def _note_write(self, operation: str, request: Any, place: Place, item: Item) -> None:
        table = item[0]
        read_at = self._read_at.pop(item, None)
        if request.get("ConditionExpression") or request.get("Expected"):
            return
        if read_at is not None:
            pair = (read_at, table, place)
            self._read_first[pair] = self._read_first.get(pair, 0) + 1
        if operation in _BATCHABLE and request.get("ReturnValues", "NONE") == "NONE":
            call = (place, operation, table)
            self._writes[call] = self._writes.get(call, 0) + 1

    def _note_consistent(self, operation: str, place: Place, table: str, receipt: Receipt) -> None:
        index = next(iter(receipt.lsi), None)
        counts = self._consistent.setdefault((operation, place, table, index), [0, 0])
        counts[0] += 1
        position = receipt.charges[0].position
        if position is None:
            counts[1] += table in self._written_tables
        elif operation == "GetItem":
            counts[1] += (table, position) in self._written
        else:
            counts[1] += (table, position[:_COLLECTION]) in self._written_collections

    def _leave(self) -> None:
        """Forget what belongs to one call of the code under test, except where it did most."""
        self._entry_point = None
        for read, reads in self._reads.items():
            if read not in self._most_reads or reads.calls > self._most_reads[read].calls:
                self._most_reads[read] = reads
        for write, calls in self._writes.items():
            self._most_writes[write] = max(calls, self._most_writes.get(write, 0))
        self._reads, self._writes, self._read_at = {}, {}, {}

    def findings(self, threshold: int, expiries: Mapping[str, str]) -> Iterator[CallFinding]:
        """Yield what was found, in the order in which it was met."""
        self._leave()
        yield from self._harm.findings(expiries)
        for (place, table), reads in self._most_reads.items():
            if reads.calls >= threshold:
                what = f"GetItem {table} {reads.calls} times, {_items(len(reads.items))}"
                cure = _cure_of_reads(reads.items)
                yield CallFinding("repeated-get", table, None, place, reads.calls, what, cure)
        for (place, operation, table), calls in self._most_writes.items():
            if calls >= threshold:
                what = f"{operation} {table} {calls} times, one by one"
                yield CallFinding("write-loop", table, None, place, calls, what, _BATCH_WRITE)
        for (read_at, table, place), times in self._read_first.items():
            what = f"an item of {table} is read and then written at {where(place)}, {_times(times)}"
            yield CallFinding("read-before-write", table, None, read_at, times, what, _CONDITION)
        for (operation, place, table, index), (calls, needed) in self._consistent.items():
            if not needed:
                what = f"{operation} {_name(table, index)} with ConsistentRead, {_times(calls)}"
                yield CallFinding("consistent-read", table, index, place, calls, what, _EVENTUAL)

    def cures_of_consistent_reads(self) -> Iterator[str]:
        """Yield what strongly consistent reads of what was written cost; others are findings."""
        for (operation, place, table, index), (_, needed) in self._consistent.items():
            if needed:
                name = _name(table, index)
                yield _CONSISTENT.format(operation=operation, name=name, where=where(place))


def findings_of(
    ledger: Ledger,
    *,
    threshold: int = REPEAT_THRESHOLD,
    is_exempt: IsExempt = lambda _: False,
    expiries: Mapping[str, str] = MappingProxyType({}),
) -> list[CallFinding]:
    """Return the findings of what a ledger heard, by kind, then by place.

    Args:
        ledger: What was called.
        threshold: From how many calls at one line a call is repeated.
        is_exempt: Which places are not reported; what throttles there is.
        expiries: By table, the attribute that says when an item expires.
    """
    findings: list[CallFinding] = []
    for entry in ledger.entries:
        findings += _findings_of_entry(entry, ledger)
    findings += ledger.history.findings(threshold, expiries)
    kept = [
        finding
        for finding in findings
        if finding.kind == "would-throttle" or not is_exempt(finding.place)
    ]
    return sorted(kept, key=lambda finding: (KINDS.index(finding.kind), _order(finding.place)))


def advice_for(ledger: Ledger) -> list[str]:
    """Return the remedies for calls that consume too much, most useful first."""
    lines = [str(finding) for finding in findings_of(ledger)]
    lines += cures_of_units(ledger)
    lines += ledger.history.cures_of_consistent_reads()
    if not lines:
        lines = [*cures_of_indexes(ledger, above=0.0), _FEWER_CALLS]
    return lines[:_MOST_ADVICE]


def _findings_of_entry(entry: LedgerEntry, ledger: Ledger) -> Iterator[CallFinding]:
    read, kept = entry.items_evaluated, entry.items_returned
    name = _name(entry.table, entry.index)
    if entry.throttles:
        what = f"{entry.operation} {name}, {_times(entry.throttles)} of {entry.calls} calls"
        cure = "; ".join(dict.fromkeys(cure_of_limit(reason, ledger) for reason in entry.reasons))
        yield CallFinding(
            "would-throttle", entry.table, entry.index, entry.place, entry.throttles, what, cure
        )
    if entry.operation == "Scan":
        what = f"Scan {name}, {_items(read)} read, {kept} kept"
        yield CallFinding("scan", entry.table, entry.index, entry.place, entry.calls, what, _INDEX)
    elif entry.filtered * 2 > read:
        what = f"{entry.operation} {name}, {_items(read)} read, {entry.filtered} thrown away"
        yield CallFinding(
            "filter-waste", entry.table, entry.index, entry.place, entry.calls, what, _INDEX
        )


def _cure_of_reads(items: Iterable[Position]) -> str:
    positions = list(items)
    if len(positions) == 1:
        return _READ_ONCE
    return _QUERY if len({position[:_COLLECTION] for position in positions}) == 1 else _BATCH_GET


def _order(place: Place) -> tuple[str, int]:
    return ("", 0) if place is None else place[:2]


def _name(table: str, index: str | None) -> str:
    return table if index is None else f"{table}.{index}"


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
