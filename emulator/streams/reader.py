"""The pointer into a stream, and whose turn it is (EVS-3, EVS-16, EVS-27)."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Set
from typing import Any, Final, TypeAlias

from emulator.clock import NANOSECONDS, Clock, ManualClock
from emulator.engine import Account, Stream, StreamRecord
from emulator.engine.shards import Shard
from emulator.observe import table_of
from emulator.service.errors import EmulatorError, EventSourceWarning
from emulator.streams.filters import predicate_of
from emulator.streams.lanes import Lane
from emulator.streams.mapping import BAD_POSITION, EventSourceMapping
from emulator.streams.metrics import SourceMetrics

NO_STREAM: Final = (
    "table {table!r} has no stream: create it with StreamSpecification={{'StreamEnabled': True, "
    "'StreamViewType': 'NEW_AND_OLD_IMAGES'}}"
)
MISSED: Final = (
    "{count} records of table {table!r} had left its stream before they were read, and are lost"
)

#: What makes a record into what a handler gets.
Form: TypeAlias = Callable[[Account, Stream, Shard, StreamRecord], dict[str, Any]]


class StreamReader:
    """Reads a stream of an account into lanes.

    Args:
        account_of: Returns the account that the table is in.
        clock: Where time comes from.
        table: The table's name.
        mapping: The settings.
        form: Turns a record into the form that the handler gets.
        metrics: Where it counts.

    Raises:
        EmulatorError: there is no such table, or it has no stream.
        ValueError: the starting position is none of a stream, or a filter is wrong.
    """

    def __init__(
        self,
        account_of: Callable[[], Account],
        clock: Clock,
        table: str,
        mapping: EventSourceMapping,
        form: Form,
        metrics: SourceMetrics,
    ) -> None:
        self._account_of = account_of
        self._clock = clock
        self._table = table
        self._mapping = mapping
        self._form = form
        self._metrics = metrics
        self._matches = predicate_of(mapping.filters)
        self._lanes: dict[tuple[int, int], Lane] = {}
        self._next_number = 0
        self._active_ns = 0
        self.stream = self._find_stream()

    def begin(self) -> None:
        """Read from here on, as the starting position says."""
        self.stream = stream = self._find_stream()
        is_latest = self._mapping.starting_position == "LATEST"
        self._next_number = stream.next_number if is_latest else stream.first_number
        delay_ns = round(self._mapping.activation_delay * NANOSECONDS)
        self._active_ns = self._clock.now_ns() + delay_ns

    def set_aside(self) -> Callable[[], None]:
        """Read a copy of the stream from its end on; return what goes back to where it stands."""
        kept = self.stream, self._next_number, self._active_ns, self._lanes
        self._lanes = {}

        def put_back() -> None:
            self.stream, self._next_number, self._active_ns, self._lanes = kept

        return put_back

    def _find_stream(self) -> Stream:
        stream = table_of(self._account_of(), self._table).stream
        if stream is None or not stream.is_open:
            raise EmulatorError(NO_STREAM.format(table=self._table))
        if self._mapping.starting_position == "AT_TIMESTAMP":
            raise ValueError(BAD_POSITION.format(arn=stream.arn))
        return stream

    def next_lane(self) -> tuple[int, Lane] | None:
        """Return the lane whose batch is due first, and when; parents come before children."""
        self._pull()
        busy = {number for number, _ in self._lanes}
        first: tuple[int, int, int] | None = None
        for place, lane in list(self._lanes.items()):
            if _has_ancestor(self.stream, lane.shard, busy):
                continue
            due_ns = lane.due_ns()
            if due_ns is None:
                del self._lanes[place]  # everything in it was filtered out
            elif first is None or (due_ns, *place) < first:
                first = (due_ns, *place)
        return None if first is None else (max(first[0], self._active_ns), self._lanes[first[1:]])

    def leave(self, lane: Lane) -> None:
        """Forget a lane if nothing is left in it: its shard's children may go on."""
        if lane.is_idle:
            self._lanes.pop((lane.shard.number, lane.slot), None)

    def event_of(self, shard: Shard, record: StreamRecord) -> dict[str, Any]:
        """Return a record in the form that the handler gets."""
        return self._form(self._account_of(), self.stream, shard, record)

    def check(self) -> None:
        """Assert the invariants between two deliveries."""
        held = 0
        for place, lane in self._lanes.items():
            records = lane.records()
            numbers = [record.number for record in records]
            assert numbers == sorted(set(numbers)), "a lane is out of order"
            assert {(r.shard, self._slot(r)) for r in records} <= {place}, "a stranger in a lane"
            held += len(records)
        known = self._metrics
        left = known.polled - known.filtered - known.dropped - known.delivered
        assert left == held, f"{left} records are not settled, and {held} are held"

    def _pull(self) -> None:
        """Take the new records of the stream into the lanes."""
        account, now_ns = self._account_of(), self._clock.now_ns()
        if not isinstance(self._clock, ManualClock):
            account.reach(now_ns)
        stream = account.visible_streams().get(self.stream.arn)
        if stream is not self.stream:  # the emulator went back to a snapshot, or was reset
            self._metrics.dropped += sum(len(lane.records()) for lane in self._lanes.values())
            self._lanes.clear()
            if stream is None:
                return
            self.stream = stream
            self._next_number = min(self._next_number, stream.copied_number)
        if stream.next_number == self._next_number:
            return
        with account.lock:
            records = stream.since(self._next_number, now_ns)
            missed = stream.next_number - self._next_number - len(records)
            self._next_number = stream.next_number
        since_ns = self._active_ns if self._mapping.starting_position == "LATEST" else 0
        for record in records:
            if record.created_ns >= since_ns:
                self._lane_of(record).waiting.append(record)
                self._metrics.polled += 1
        if missed:
            text = MISSED.format(count=missed, table=self._table)
            warnings.warn(text, EventSourceWarning, stacklevel=2)

    def _lane_of(self, record: StreamRecord) -> Lane:
        place = (record.shard, self._slot(record))
        lane = self._lanes.get(place)
        if lane is None:
            shard = self.stream.shards.by_number(record.shard)
            assert shard is not None, "a shard is kept as long as its records"
            lane = self._lanes[place] = Lane(shard, place[1], self._mapping, self._filtered)
        return lane

    def _slot(self, record: StreamRecord) -> int:
        """Return which lane of its shard an item's records are in."""
        slots = self._mapping.parallelization_factor
        if slots == 1:
            return 0
        return zlib.crc32(repr(sorted(record.keys.attributes.items())).encode()) % slots

    def _filtered(self, shard: Shard, record: StreamRecord) -> dict[str, Any] | None:
        """Return the event of a record, or None if it matches no filter."""
        event = self.event_of(shard, record)
        if self._matches is None or self._matches(event):
            return event
        self._metrics.filtered += 1
        return None


def _has_ancestor(stream: Stream, shard: Shard, busy: Set[int]) -> bool:
    """Return whether an ancestor of a shard is among the busy ones."""
    parent = shard.parent
    while parent is not None:
        if parent in busy:
            return True
        known = stream.shards.by_number(parent)
        parent = None if known is None else known.parent
    return False
