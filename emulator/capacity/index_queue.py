"""The queue between a table and one of its global indexes (CAP2-4).

A base write is accepted without asking the index for room. What it changes in the index passes at
once if the index has room, and waits here if not. There is one lane per index partition. A lane
keeps its order, so does every item, and across lanes the oldest change that has room goes first.
A change that moves an entry stands in two lanes and passes as one.

When too much waits the index closes, and every write to the table is refused until it opens.

Assumed: the lanes, and how long it stays closed at least (``Settings.gsi_closed_seconds``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from emulator.capacity.meter import Charge, consume, refusals, room_ns
from emulator.capacity.refusal import Reason
from emulator.clock import NANOSECONDS

ChangeT = TypeVar("ChangeT")
#: From a charge of before to the one that holds now.
ChargeOf: TypeAlias = Callable[[Charge], Charge]

_OPEN: Final = -1


class WaitingChange(Generic[ChangeT]):
    """A change that was accepted and is not applied yet.

    Attributes:
        number: Its place among all changes of the table.
        item: The item that it belongs to.
        change: The change of the index when it passes.
        charges: The charges on each index partition it touches; a deletion by time to live
            touches partitions for no units.
        accepted_ns: When the base write was accepted.
        previous: The change of the same item that it waits behind, if any.
        is_applied: Whether it has passed.
    """

    __slots__ = ("accepted_ns", "change", "charges", "is_applied", "item", "number", "previous")

    def __init__(
        self,
        number: int,
        item: Hashable,
        change: ChangeT,
        charges: Sequence[Charge],
        accepted_ns: int,
        previous: WaitingChange[ChangeT] | None,
    ) -> None:
        self.number = number
        self.item = item
        self.change = change
        self.charges = charges
        self.accepted_ns = accepted_ns
        self.previous = previous
        self.is_applied = False

    @property
    def lanes(self) -> frozenset[int]:
        """The index partitions it touches."""
        return frozenset(charge.partition_id for charge in self.charges)

    @property
    def units(self) -> float:
        """The index write units it takes."""
        return sum(charge.units for charge in self.charges)

    def units_of(self, partition_id: int) -> float:
        """Return the units it takes of one partition."""
        return sum(charge.units for charge in self.charges if charge.partition_id == partition_id)


class Due(NamedTuple, Generic[ChangeT]):
    """The change that passes next, and when, if nothing else draws on the index before."""

    time_ns: int
    number: int
    waiting: WaitingChange[ChangeT]


class IndexGate:
    """Whether a global index lets writes to its table through (CAP2-4.4).

    Args:
        closed_seconds: How long it stays closed at least.

    >>> gate = IndexGate(closed_seconds=30)
    >>> gate.close_if_full(backlog=10.0, buffer=10.0, now_ns=0)
    True
    >>> [gate.is_closed(9.0, 10.0, second * NANOSECONDS) for second in (0, 29, 30)]
    [True, True, False]
    """

    __slots__ = ("_closed_ns", "closed_until_ns")

    def __init__(self, closed_seconds: float) -> None:
        self._closed_ns = round(closed_seconds * NANOSECONDS)
        #: When it may open again, or ``_OPEN``.
        self.closed_until_ns = _OPEN

    def close_if_full(self, backlog: float, buffer: float, now_ns: int) -> bool:
        """Close if ``buffer`` units or more wait; return whether it closes now."""
        if backlog < buffer or self.is_closed(backlog, buffer, now_ns):
            return False
        self.closed_until_ns = now_ns + self._closed_ns
        return True

    def begin_at(self, now_ns: int) -> None:
        """Stay closed no longer than a gate that closes at a moment."""
        self.closed_until_ns = min(self.closed_until_ns, now_ns + self._closed_ns)

    def is_closed(self, backlog: float, buffer: float, now_ns: int) -> bool:
        """Return whether base writes are refused now."""
        if self.closed_until_ns == _OPEN:
            return False
        if now_ns >= self.closed_until_ns and backlog < buffer:
            self.closed_until_ns = _OPEN
            return False
        return True


class IndexQueue(Generic[ChangeT]):
    """The changes that wait for one global index.

    Args:
        closed_seconds: How long the index stays closed once its buffer is full
            (``Settings.gsi_closed_seconds``).

    >>> from emulator.capacity import WRITE, Meter
    >>> meter = Meter("arn:aws:dynamodb:::table/t/index/i", is_table=False, quota=None)
    >>> meter.provision(1, 1, now_ns=0)
    >>> meter.open_partition(0, now_ns=0)
    >>> queue = IndexQueue(closed_seconds=30)
    >>> for number, key in enumerate("ab"):
    ...     charges = [Charge(meter, 0, WRITE, 1.0, (17, key))]
    ...     reasons = queue.accept(number, key, f"put {key}", charges, now_ns=0)
    >>> [reason.reason for reason in reasons], queue.backlog
    (['IndexWriteProvisionedThroughputExceeded'], 1.0)
    >>> queue.next_due().time_ns
    1000000000
    >>> queue.apply_next().waiting.change
    'put b'
    """

    __slots__ = (
        "_closed_reasons",
        "_last_of_item",
        "_time_ns",
        "backlog",
        "gate",
        "lanes",
        "last_ns",
        "since_ns",
    )

    def __init__(self, closed_seconds: float) -> None:
        #: Whether base writes are let through.
        self.gate = IndexGate(closed_seconds)
        self._closed_reasons: tuple[Reason, ...] = ()
        #: The latest waiting change of each item that has one.
        self._last_of_item: dict[Hashable, WaitingChange[ChangeT]] = {}
        #: Whatever was due up to here has passed.
        self._time_ns = 0
        #: Index write units that wait, all lanes together.
        self.backlog = 0.0
        #: Since when something waits, and when the last change had to.
        self.since_ns = self.last_ns = 0
        #: Partition to the changes that wait for it, oldest first; no lane is empty.
        self.lanes: dict[int, deque[WaitingChange[ChangeT]]] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return not self.lanes

    @property
    def has_closed(self) -> bool:
        """Return whether the index has closed and was not seen open since."""
        return self.gate.closed_until_ns != _OPEN

    @property
    def oldest(self) -> WaitingChange[ChangeT] | None:
        """The change that has waited longest, or None."""
        heads = (lane[0] for lane in self.lanes.values())
        return min(heads, key=lambda waiting: waiting.number, default=None)

    def __iter__(self) -> Iterator[WaitingChange[ChangeT]]:
        """Yield the waiting changes, oldest first."""
        by_number = {waiting.number: waiting for lane in self.lanes.values() for waiting in lane}
        return (by_number[number] for number in sorted(by_number))

    # Accepting and passing

    def accept(
        self,
        number: int,
        item: Hashable,
        change: ChangeT,
        charges: Sequence[Charge],
        now_ns: int,
    ) -> tuple[Reason, ...] | None:
        """Let a change pass at once, or make it wait; return why it waits, None if it passes.

        Changes due before ``now_ns`` must have passed already.
        """
        if not self.lanes or not self._holds_back(item, charges):
            reasons = _pass(charges, now_ns)
            if not reasons:
                return None
        else:
            reasons = refusals(charges, now_ns) or self.reasons(now_ns)
        self.enqueue(number, item, change, charges, now_ns)
        self._time_ns = max(self._time_ns, now_ns)
        return reasons

    def _holds_back(self, item: Hashable, charges: Sequence[Charge]) -> bool:
        """Return whether a change of an item has to wait behind another."""
        return item in self._last_of_item or any(
            charge.partition_id in self.lanes for charge in charges
        )

    def enqueue(
        self,
        number: int,
        item: Hashable,
        change: ChangeT,
        charges: Sequence[Charge],
        accepted_ns: int,
    ) -> None:
        """Put a change behind all others."""
        if not self.lanes:
            self.since_ns = accepted_ns
        self.last_ns = accepted_ns
        previous = self._last_of_item.get(item)
        waiting = WaitingChange(number, item, change, charges, accepted_ns, previous)
        for partition_id in waiting.lanes:
            self.lanes.setdefault(partition_id, deque()).append(waiting)
        self._last_of_item[item] = waiting
        self.backlog += waiting.units

    def next_due(self) -> Due[ChangeT] | None:
        """Return the change that passes next and when, or None if nothing waits."""
        first: Due[ChangeT] | None = None
        for lane in self.lanes.values():
            waiting = lane[0]
            if self._is_in_front(waiting):
                time_ns = self._time_ns
                if waiting.units:
                    time_ns = max(time_ns, room_ns(waiting.charges))
                if first is None or (time_ns, waiting.number) < (first.time_ns, first.number):
                    first = Due(time_ns, waiting.number, waiting)
        return first

    def _is_in_front(self, waiting: WaitingChange[ChangeT]) -> bool:
        """Return whether nothing accepted earlier holds a change back."""
        if waiting.previous is not None and not waiting.previous.is_applied:
            return False
        return all(self.lanes[partition_id][0] is waiting for partition_id in waiting.lanes)

    def apply_next(self) -> Due[ChangeT]:
        """Take the change that passes next out of the queue, and draw on the index for it."""
        due = self.next_due()
        assert due is not None, "something waits"
        waiting = due.waiting
        reasons = _pass(waiting.charges, due.time_ns)
        assert not reasons, reasons
        for partition_id in waiting.lanes:
            self.lanes[partition_id].popleft()
            if not self.lanes[partition_id]:
                del self.lanes[partition_id]
        if self._last_of_item[waiting.item] is waiting:
            del self._last_of_item[waiting.item]
        waiting.is_applied = True
        waiting.previous = None
        self.backlog -= waiting.units
        self._time_ns = due.time_ns
        return due

    # Closing

    def close_if_full(self, buffer: float, now_ns: int) -> bool:
        """Close the index if ``buffer`` units or more wait; return whether it closes now."""
        if not self.gate.close_if_full(self.backlog, buffer, now_ns):
            return False
        self._closed_reasons = self.reasons(now_ns)
        return True

    def close(self, until_ns: int, reasons: tuple[Reason, ...]) -> None:
        """Refuse base writes until a moment and while the buffer is full, for these reasons."""
        self.gate.closed_until_ns = until_ns
        self._closed_reasons = reasons

    def is_closed(self, buffer: float, now_ns: int) -> bool:
        """Return whether base writes are refused now."""
        return self.gate.is_closed(self.backlog, buffer, now_ns)

    def reasons(self, now_ns: int) -> tuple[Reason, ...]:
        """Return the reasons for which the oldest change waits, or did when the index closed."""
        oldest = self.oldest
        if oldest is None or not oldest.units:
            return self._closed_reasons
        return refusals(oldest.charges, now_ns) or self._closed_reasons

    # Moving

    def begin_at(self, now_ns: int) -> None:
        """Let nothing be ahead of a moment: the queue has come from a clock that is later."""
        self._time_ns = min(self._time_ns, now_ns)
        self.since_ns, self.last_ns = min(self.since_ns, now_ns), min(self.last_ns, now_ns)
        for waiting in self:
            waiting.accepted_ns = min(waiting.accepted_ns, now_ns)
        self.gate.begin_at(now_ns)

    def recharge(self, charge_of: ChargeOf) -> None:
        """Replace the charges of every change, after partitions were split."""
        twin = self.copy(charge_of)
        self.lanes, self._last_of_item = twin.lanes, twin._last_of_item

    def copy(self, charge_of: ChargeOf) -> IndexQueue[ChangeT]:
        """Return an independent queue of the same changes, with new charges."""
        twin: IndexQueue[ChangeT] = IndexQueue(0)
        twin.gate = copy(self.gate)
        twin._closed_reasons = self._closed_reasons
        twin._time_ns = self._time_ns
        for waiting in self:
            charges = [charge_of(charge) for charge in waiting.charges]
            twin.enqueue(waiting.number, waiting.item, waiting.change, charges, waiting.accepted_ns)
        twin.since_ns, twin.last_ns = self.since_ns, self.last_ns
        return twin

    def check(self) -> None:
        """Assert the invariants."""
        everything = list(self)
        assert self.backlog == sum(waiting.units for waiting in everything), self.backlog
        for partition_id, lane in self.lanes.items():
            numbers = [waiting.number for waiting in lane]
            assert numbers == sorted(set(numbers)), (partition_id, numbers)
            assert all(partition_id in waiting.lanes for waiting in lane), partition_id
        assert {waiting.item for waiting in everything} == self._last_of_item.keys()
        assert not any(waiting.is_applied for waiting in everything)
        assert self.is_empty or self.next_due() is not None, "the oldest change is never held back"


def _pass(charges: Sequence[Charge], now_ns: int) -> tuple[Reason, ...]:
    """Draw on the index, and put on record what was drawn; what is free always passes."""
    return consume(charges, now_ns) if charges[0].units else ()
