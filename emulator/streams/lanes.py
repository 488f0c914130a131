"""Lanes: what waits to be sent of one shard, in order, in batches (EVS-9, EVS-16 to EVS-24).

A shard has one lane, or as many as the parallelization factor says; an item's records are all in
the same. A lane knows no clock and makes no calls: it says when its next batch is due, and
what becomes of a batch that was sent.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emulator.clock import NANOSECONDS
from emulator.engine import StreamRecord
from emulator.engine.shards import Shard
from emulator.service import limits
from emulator.streams.mapping import EventSourceMapping

#: The most bytes of a batch. Source: EVS-9.
BATCH_BYTES: Final = 6 * limits.MIB
#: The most bytes of a window's state. Source: EVS-24.
STATE_BYTES: Final = limits.MIB
#: Between two sendings of a batch: the first pause, which doubles, and the longest.
#: Assumed: EVS-18.
FIRST_PAUSE_SECONDS: Final = 1
LONGEST_PAUSE_SECONDS: Final = 60


class Entry(NamedTuple):
    """A record with the event that shows it."""

    record: StreamRecord
    event: dict[str, Any]


@dataclass(slots=True)
class Window:
    """A tumbling window that is open, and what the function keeps of it."""

    start_ns: int
    end_ns: int
    state: Any = field(default_factory=dict)
    #: Whether its state has become too large.
    ends_early: bool = False


@dataclass(slots=True)
class Batch:
    """Records to be sent together, or none: the last call for a window.

    Attributes:
        entries: They, in order.
        due_ns: When they are to be sent.
        window: The tumbling window that they are in, if there is one.
        is_final: Whether it is the last call for its window.
        failures: Errors that used a retry.
        refusals: Calls that were refused since one was not.
        invocations: How often it was sent, or the batch that it is a piece of.
        was_repeated: Whether it was sent again though it had succeeded.
    """

    entries: list[Entry]
    due_ns: int
    window: Window | None = None
    is_final: bool = False
    failures: int = 0
    refusals: int = 0
    invocations: int = 0
    was_repeated: bool = False

    def is_over(self, horizon_ns: int) -> bool:
        """Return whether it is not worth sending: empty, or the last call for an old window."""
        is_call = self.is_final and self.window is not None and self.window.end_ns >= horizon_ns
        return not self.entries and not is_call


class Lane:
    """The records of a shard, or of some of its items, that were not delivered yet.

    Args:
        shard: The shard.
        slot: Which of its lanes it is.
        mapping: The settings of the source.
        event_of: Returns the event of a record, or None if it is filtered out.
    """

    def __init__(
        self,
        shard: Shard,
        slot: int,
        mapping: EventSourceMapping,
        event_of: Callable[[Shard, StreamRecord], dict[str, Any] | None],
    ) -> None:
        self.shard = shard
        self.slot = slot
        #: Records that no batch has been looked for yet.
        self.waiting: deque[StreamRecord] = deque()
        self._mapping = mapping
        self._event_of = event_of
        self._gathered: list[Entry] = []
        self._gathered_bytes = 0
        self._is_full = False
        self._batches: deque[Batch] = deque()
        self._free_ns = 0
        self._window: Window | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to send."""
        return not (self.waiting or self._gathered or self._batches or self._window)

    def records(self) -> list[StreamRecord]:
        """Return every record that it holds, in the order in which they are sent."""
        batched = [entry.record for batch in self._batches for entry in batch.entries]
        return [*batched, *(entry.record for entry in self._gathered), *self.waiting]

    def due_ns(self) -> int | None:
        """Return when the next batch is due, or None if there is none."""
        if self._batches:
            return self._batches[0].due_ns
        self._gather()
        window = self._window
        if window is not None and not self._goes_on(window):
            return max(self._free_ns, 0 if window.ends_early else window.end_ns)
        if not self._gathered:
            return None
        if self._is_full:
            return max(self._gathered[-1].record.created_ns, self._free_ns)
        first_ns = max(self._gathered[0].record.created_ns, self._free_ns)
        due_ns = first_ns + self._mapping.batch_window * NANOSECONDS
        if not self._mapping.tumbling_window:
            return due_ns
        return max(first_ns, min(due_ns, self._window_of(self._gathered[0].record).end_ns))

    def take(self, now_ns: int) -> Batch:
        """Take out the batch that is due; ``due_ns`` has said that there is one."""
        if self._batches:
            return self._batches.popleft()
        if self._window is not None and not self._goes_on(self._window):
            return Batch([], now_ns, self._window, is_final=True)
        entries, self._gathered = self._gathered, []
        self._gathered_bytes, self._is_full = 0, False
        if self._mapping.tumbling_window and self._window is None:
            self._window = self._window_of(entries[0].record)
        return Batch(entries, now_ns, self._window)

    def put_back(self, batch: Batch) -> None:
        """Keep a batch that was taken and not sent; it is due at once."""
        if batch.entries:
            self._batches.appendleft(batch)

    def refuse(self, batch: Batch, now_ns: int) -> None:
        """Keep a batch for later that the function had no room for: no retry is used (EVS-19)."""
        batch.refusals += 1
        batch.due_ns = now_ns + _pause_ns(batch.refusals)
        self._batches.appendleft(batch)

    def repeat(self, batch: Batch, due_ns: int) -> None:
        """Send a batch once more, though it has succeeded (EVS-26)."""
        batch.was_repeated, batch.due_ns = True, due_ns
        self._batches.appendleft(batch)

    def succeed(self, batch: Batch, answer: Any, now_ns: int) -> None:
        """Go on after a batch, all or some of which has succeeded (EVS-24)."""
        self._free_ns = now_ns
        window = batch.window
        if window is None:
            return
        if not batch.is_final:
            written = json.dumps(answer["state"])
            window.state = json.loads(written)
            window.ends_early = len(written) > STATE_BYTES
        elif window.ends_early:
            window.state, window.ends_early = {}, False
        else:
            self._window = None

    def fail(self, batch: Batch, first_failed: int, now_ns: int) -> list[StreamRecord]:
        """Keep the failed records of a batch for later, and return those given up (EVS-17).

        Args:
            batch: The batch; everything before ``first_failed`` has succeeded.
            first_failed: The index of the first record to be sent again.
            now_ns: The moment.
        """
        rest = batch.entries[first_failed:]
        splits = self._mapping.bisect_on_error and (first_failed > 0 or len(rest) > 1)
        failures = batch.failures + (not splits)
        if 0 <= self._mapping.retries < failures:
            self.give_up(batch, now_ns)
            return [entry.record for entry in rest]
        half = len(rest) // 2 if splits and not first_failed else 0
        due_ns = now_ns if splits else now_ns + _pause_ns(failures)
        for piece in (rest[half:], rest[:half]) if half else (rest,):
            again = Batch(piece, due_ns, batch.window, batch.is_final, failures)
            again.invocations = batch.invocations
            self._batches.appendleft(again)
        return []

    def give_up(self, batch: Batch, now_ns: int) -> None:
        """Go on after a batch that was dropped; the state of a last call is dropped with it."""
        self._free_ns = now_ns
        if batch.is_final:
            self._window = None

    def _gather(self) -> None:
        """Look for records until a batch is full, or nothing waits."""
        waiting, gathered = self.waiting, self._gathered
        while waiting and not self._is_full:
            record = waiting[0]
            event = self._event_of(self.shard, record)
            if event is not None:
                if not self._has_room(record, event):
                    self._is_full = True
                    return
                gathered.append(Entry(record, event))
                self._is_full = len(gathered) >= self._mapping.batch_size
            waiting.popleft()

    def _has_room(self, record: StreamRecord, event: dict[str, Any]) -> bool:
        """Return whether a record fits into the batch that is gathered, and count its bytes."""
        size_bytes = len(json.dumps(event))
        if self._gathered:
            if self._gathered_bytes + size_bytes > BATCH_BYTES:
                return False
            first = self._gathered[0].record
            if self._mapping.tumbling_window and self._window_of(first) != self._window_of(record):
                return False
        self._gathered_bytes += size_bytes
        return True

    def _goes_on(self, window: Window) -> bool:
        """Return whether the next batch belongs to a window, and its state is small enough."""
        is_next = bool(self._gathered) and self._gathered[0].record.created_ns < window.end_ns
        return is_next and not window.ends_early

    def _window_of(self, record: StreamRecord) -> Window:
        length_ns = self._mapping.tumbling_window * NANOSECONDS
        start_ns = record.created_ns // length_ns * length_ns
        return Window(start_ns, start_ns + length_ns)


def _pause_ns(failures: int) -> int:
    """Return the pause before a batch is sent again, after a number of errors."""
    seconds = FIRST_PAUSE_SECONDS << min(failures - 1, 10)
    return min(seconds, LONGEST_PAUSE_SECONDS) * NANOSECONDS
