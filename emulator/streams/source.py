"""Event sources: a stream's pointer, whose turn it is, and the call (EVS-16 to EVS-32)."""

from __future__ import annotations

import asyncio
import threading
import uuid
import warnings
import zlib
from collections.abc import Callable, Generator, Iterator, Set
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, NamedTuple, Self, TypeAlias

from emulator.clock import NANOSECONDS, Clock, ManualClock
from emulator.engine import Account, Stream, StreamRecord, Table
from emulator.engine.shards import Shard
from emulator.observe import table_of
from emulator.service import limits
from emulator.service.errors import EmulatorError, EventSourceWarning
from emulator.streams.answers import first_failed, reports_failures
from emulator.streams.filters import predicate_of
from emulator.streams.handlers import (
    Handler,
    Invocation,
    LambdaContext,
    Outcome,
    call,
    call_async,
    name_of,
    resolved,
)
from emulator.streams.lanes import Batch, Lane
from emulator.streams.mapping import BAD_POSITION, EventSourceMapping
from emulator.streams.records import Failure, failure_document, lambda_record, window_bounds

#: How often a shard is polled on real time. Source: EVS-28.
POLLS_PER_SECOND: Final = 4
#: Rounds in which a handler's own writes come back to it, after which it is taken for a loop.
MOST_ROUNDS: Final = 16
#: Errors in a row after which a batch is said to block its shard.
_BLOCKED_AFTER: Final = 3
#: Of the batches that are sent twice on request, one in so many.
_REPEATED_ONE_IN: Final = 4
#: How long a source that ends waits for the handler that runs.
_PATIENCE_SECONDS: Final = 5.0

NO_STREAM: Final = (
    "table {table!r} has no stream: create it with StreamSpecification={{'StreamEnabled': True, "
    "'StreamViewType': 'NEW_AND_OLD_IMAGES'}}"
)
NOT_OPEN: Final = "this event source reads nothing: enter it, as in 'with emu.event_source(...)'"
NESTED: Final = "a handler cannot drain its own event source: it is being drained"
LOOPS: Final = (
    "the handler {name} of table {table!r} writes to its own table: its writes came back to it "
    "{rounds} times in a row, and would go on doing so; filter them out, or write elsewhere"
)
BLOCKED: Final = (
    "the handler {name} has failed {count} times on the batch that begins with {keys} "
    "(SequenceNumber {number}), with {error!r}; with retries=-1 and max_record_age=-1 it is sent "
    "again for 24 hours, and nothing behind it in {shard} before: set one of them, or "
    "bisect_on_error=True"
)
TOO_MANY_READERS: Final = (
    "the stream of table {table!r} has {count} readers: with more than {most}, the service may "
    "refuse their reads"
)
UNHEARD: Final = (
    "the handler {name} returned batchItemFailures, which count for nothing without "
    "report_item_failures=True: the records that it names are lost"
)
MISSED: Final = (
    "{count} records of table {table!r} had left its stream before they were read, and are lost"
)
NO_STATE: Final = "with a tumbling window, a handler has to return its state: {{'state': ...}}"

OnFailure: TypeAlias = Callable[[dict[str, Any]], object]


class Delivery(NamedTuple):
    """A call of the handler.

    Attributes:
        at: When, in seconds since the epoch.
        shard_id: The shard that its records are of.
        sequence_numbers: Those of its first and last record; empty if it had none.
        records: How many it had.
        iterator_age_ms: The age of its last record when it was sent.
        error: What the handler raised, or what was wrong with its answer.
    """

    at: float
    shard_id: str
    sequence_numbers: tuple[str, ...]
    records: int
    iterator_age_ms: int
    error: Exception | None


@dataclass(slots=True)
class SourceMetrics:
    """What a source has done so far; counts are of records unless said otherwise.

    Attributes:
        polled: Read from the stream.
        filtered: Matching no filter.
        invoked: Sent, each time that they were.
        delivered: Sent, with success.
        failed: Sent, with an error.
        dropped: Given up.
        invocations: Calls of the handler.
        iterator_age_ms: The age of the last record of the last batch, when that was sent.
        most_iterator_age_ms: The highest of them.
    """

    polled: int = 0
    filtered: int = 0
    invoked: int = 0
    delivered: int = 0
    failed: int = 0
    dropped: int = 0
    invocations: int = 0
    iterator_age_ms: int = 0
    most_iterator_age_ms: int = 0


class _Pause(NamedTuple):
    """Time to pass before the next batch is due."""

    seconds: float


_Step: TypeAlias = _Pause | Invocation
_Steps: TypeAlias = Generator[_Step, Outcome, None]


class EventSource:
    """A table's stream, delivered to a handler; made by ``Emulator.event_source``.

    Args:
        account_of: Returns the account that the table is in.
        clock: Where time comes from.
        table: The table's name.
        handler: Whom records are delivered to.
        mapping: How.
        on_failure: Takes the document about records that are given up.
        readers: The open sources of the emulator, of which it becomes one.
    """

    def __init__(
        self,
        account_of: Callable[[], Account],
        clock: Clock,
        table: str,
        handler: Handler,
        mapping: EventSourceMapping,
        *,
        on_failure: OnFailure | None,
        readers: list[EventSource],
    ) -> None:
        self._account_of = account_of
        self._clock = clock
        self._table = table
        self._handler = resolved(handler)
        self._name = name_of(self._handler)
        self._mapping = mapping
        self._matches = predicate_of(mapping.filters)
        self._on_failure = on_failure
        self._readers = readers
        self._metrics = SourceMetrics()
        self._deliveries: list[Delivery] = []
        self._stream = self._find_stream()
        self._next_number = 0
        self._active_ns = 0
        self._lanes: dict[tuple[int, int], Lane] = {}
        self._rounds: dict[int, int] = {}
        self._repeats = None if mapping.at_least_once is None else Random(mapping.at_least_once)
        self._has_warned = False
        self._delivering = threading.Lock()
        self._deliverer: int | None = None
        self._closing = threading.Event()
        self._poller: threading.Thread | None = None
        self._broken: Exception | None = None
        self._is_open = False

    def __repr__(self) -> str:
        return f"EventSource(table={self._table!r}, handler={self._name})"

    # Life

    def __enter__(self) -> Self:
        account = self._account_of()
        with account.lock:
            self._stream = stream = self._find_stream()
            is_latest = self._mapping.starting_position == "LATEST"
            self._next_number = stream.next_number if is_latest else stream.first_number
        delay_ns = round(self._mapping.activation_delay * NANOSECONDS)
        self._active_ns = self._clock.now_ns() + delay_ns
        self._closing.clear()
        self._is_open = True
        self._readers.append(self)
        self._count_readers(table_of(account, self._table))
        if isinstance(self._clock, ManualClock):
            self._clock.attach(self)
        else:
            self._poller = threading.Thread(target=self._poll, name=repr(self), daemon=True)
            self._poller.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._closing.set()
        self._is_open = False
        self._readers.remove(self)
        if isinstance(self._clock, ManualClock):
            self._clock.detach(self)
        elif self._poller is not None and self._poller is not threading.current_thread():
            self._poller.join(_PATIENCE_SECONDS)
        if raised[0] is None:
            self._raise_if_broken()

    @property
    def metrics(self) -> SourceMetrics:
        """What it has done so far."""
        return replace(self._metrics)

    def drain(self) -> list[Delivery]:
        """Deliver until nothing is left, and return the calls that were made.

        On a ``ManualClock`` time passes until each batch is due; on real time it is waited for.

        Raises:
            EmulatorError: the handler keeps writing to its own table, or is the one that drains;
                on real time, also that a batch blocks its shard.
        """
        with self._holding():
            self._run(self._steps())
            return self._taken()

    async def adrain(self) -> list[Delivery]:
        """Deliver as ``drain`` does, and await the handler in the loop that runs.

        Raises:
            EmulatorError: as ``drain`` does.
        """
        self._judge_draining()
        while not self._delivering.acquire(blocking=False):
            await asyncio.sleep(1 / POLLS_PER_SECOND)
        try:
            self._deliveries.clear()
            await self._run_async(self._steps())
            return self._taken()
        finally:
            self._delivering.release()

    def check(self) -> None:
        """Assert what always holds of a source that nobody is draining."""
        held = [record.number for lane in self._lanes.values() for record in lane.records()]
        assert len(held) == len(set(held)), "a record is in two lanes"
        for (shard, slot), lane in self._lanes.items():
            numbers = [record.number for record in lane.records()]
            assert numbers == sorted(numbers), "a lane is out of order"
            assert {record.shard for record in lane.records()} <= {shard}, "another shard's record"
            assert {self._slot(record) for record in lane.records()} <= {slot}, "another slot's"
        known = self._metrics
        left = known.polled - known.filtered - known.dropped - known.delivered
        assert left == len(held), "a record is neither held nor settled"

    # Timer of a ManualClock

    def due_ns(self) -> int | None:
        """Return when the next batch is due; None if there is none, or one is being delivered."""
        if self._delivering.locked():
            return None
        lane = self._next_lane()
        return None if lane is None else lane[0]

    def fire(self) -> None:
        """Deliver the batch that is due."""
        with self._holding():
            lane = self._next_lane()
            if lane is not None:
                self._run(self._deliver(lane[1]))

    # Drivers

    def _run(self, steps: _Steps) -> None:
        """Make the calls, and let the time pass, that some steps ask for."""
        with closing(steps), suppress(StopIteration):
            step = next(steps)
            while True:
                step = steps.send(self._taken_step(step))

    def _taken_step(self, step: _Step) -> Outcome:
        if isinstance(step, Invocation):
            return call(self._handler, step)
        self._clock.sleep(step.seconds)
        return Outcome()

    async def _run_async(self, steps: _Steps) -> None:
        with closing(steps), suppress(StopIteration):
            step = next(steps)
            while True:
                step = steps.send(await self._taken_step_async(step))

    async def _taken_step_async(self, step: _Step) -> Outcome:
        if isinstance(step, Invocation):
            return await call_async(self._handler, step)
        if isinstance(self._clock, ManualClock):
            self._clock.advance(step.seconds)
        else:
            await asyncio.sleep(step.seconds)
        return Outcome()

    def _poll(self) -> None:
        """Deliver what is due, some times a second, until the source ends or breaks."""
        while not self._closing.wait(1 / POLLS_PER_SECOND):
            try:
                with self._holding():
                    self._run(self._steps(is_patient=False))
            except Exception as error:  # it is raised where somebody sees it
                self._broken = error
                return

    @contextmanager
    def _holding(self) -> Iterator[None]:
        """Be the one that delivers."""
        self._judge_draining()
        with self._delivering:
            self._deliverer = threading.get_ident()
            self._deliveries.clear()
            try:
                yield
            finally:
                self._deliverer = None

    def _judge_draining(self) -> None:
        if self._deliverer == threading.get_ident():
            raise EmulatorError(NESTED)
        if not self._is_open:
            raise EmulatorError(NOT_OPEN)
        if threading.current_thread() is not self._poller:
            self._raise_if_broken()

    def _raise_if_broken(self) -> None:
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken

    def _taken(self) -> list[Delivery]:
        taken, self._deliveries = self._deliveries, []
        return taken

    # Reading

    def _find_stream(self) -> Stream:
        """Return the stream to read.

        Raises:
            EmulatorError: there is no such table, or it has no stream.
            ValueError: the starting position is none of a stream.
        """
        account = self._account_of()
        stream = table_of(account, self._table).stream
        if stream is None or not stream.is_open:
            raise EmulatorError(NO_STREAM.format(table=self._table))
        if self._mapping.starting_position == "AT_TIMESTAMP":
            raise ValueError(BAD_POSITION.format(arn=stream.arn))
        return stream

    def _pull(self) -> Stream | None:
        """Take what is new in the stream into the lanes; return the stream if it is there."""
        account = self._account_of()
        if not isinstance(self._clock, ManualClock):
            account.reach(self._clock.now_ns())
        stream = account.visible_streams().get(self._stream.arn)
        if stream is not self._stream:  # the emulator went back to a snapshot, or was reset
            self._metrics.dropped += sum(len(lane.records()) for lane in self._lanes.values())
            self._lanes.clear()
            if stream is None:
                return None
            self._stream, self._next_number = stream, stream.next_number
        if stream.next_number == self._next_number:
            return stream
        with account.lock:
            records = stream.since(self._next_number, self._clock.now_ns())
            missed = stream.next_number - self._next_number - len(records)
            self._next_number = stream.next_number
        for record in records:
            if record.created_ns >= self._active_ns or self._mapping.starting_position != "LATEST":
                self._lane_of(stream, record).waiting.append(record)
                self._metrics.polled += 1
        if missed:
            warnings.warn(
                MISSED.format(count=missed, table=self._table), EventSourceWarning, stacklevel=2
            )
        return stream

    def _lane_of(self, stream: Stream, record: StreamRecord) -> Lane:
        place = (record.shard, self._slot(record))
        lane = self._lanes.get(place)
        if lane is None:
            shard = stream.shards.by_number(record.shard)
            assert shard is not None, "a shard is kept as long as its records"
            lane = self._lanes[place] = Lane(shard, place[1], self._mapping, self._event_of)
        return lane

    def _slot(self, record: StreamRecord) -> int:
        """Return which lane of its shard an item's records are in (EVS-16)."""
        slots = self._mapping.parallelization_factor
        if slots == 1:
            return 0
        return zlib.crc32(repr(sorted(record.keys.attributes.items())).encode()) % slots

    def _event_of(self, record: StreamRecord) -> dict[str, Any] | None:
        stream = self._stream
        shard = self._lanes[record.shard, self._slot(record)].shard
        event = lambda_record(self._account_of(), stream, shard, record)
        if self._matches is None or self._matches(event):
            return event
        self._metrics.filtered += 1
        return None

    def _next_lane(self) -> tuple[int, Lane] | None:
        """Return the lane whose batch is due first, and when; parents come before children."""
        stream = self._pull()
        if stream is None:
            return None
        best: tuple[int, int, int] | None = None
        busy = {number for number, _ in self._lanes}
        for place, lane in list(self._lanes.items()):
            if _waits_for_parent(stream, lane.shard, busy):
                continue
            due_ns = lane.due_ns()
            if due_ns is None:
                del self._lanes[place]  # everything in it was filtered out
            elif best is None or (due_ns, *place) < best:
                best = (due_ns, *place)
        if best is None:
            return None
        return max(best[0], self._active_ns), self._lanes[best[1:]]

    def _count_readers(self, table: Table) -> None:
        """Warn of more readers than the service recommends (EVS-30)."""
        count = sum(reader._stream.arn == self._stream.arn for reader in self._readers)
        most = 2 if table.replica is None else 1
        if count > most:
            text = TOO_MANY_READERS.format(table=self._table, count=count, most=most)
            warnings.warn(text, EventSourceWarning, stacklevel=3)

    # Delivering

    def _steps(self, *, is_patient: bool = True) -> _Steps:
        """Deliver one batch after the other; if not patient, those that are due now."""
        while (found := self._next_lane()) is not None:
            due_ns, lane = found
            wait_ns = due_ns - self._clock.now_ns()
            if wait_ns > 0:
                if not is_patient:
                    return
                yield _Pause(wait_ns / NANOSECONDS)
            else:
                yield from self._deliver(lane)

    def _deliver(self, lane: Lane) -> _Steps:
        """Send the batch of a lane that is due, and settle what comes of it."""
        now_ns = self._clock.now_ns()
        batch = lane.take(now_ns)
        self._drop_expired(lane, batch, now_ns)
        if not batch.entries and not batch.is_final:
            lane.give_up(batch, now_ns)
            return
        batch.invocations += 1
        before = self._stream.next_number
        round_number = self._round_of(batch)
        try:
            outcome = yield self._invocation(lane, batch, now_ns)
        except GeneratorExit:  # interrupted: it was not sent
            lane.put_back(batch)
            raise
        outcome = self._judged(batch, outcome)
        self._note(lane, batch, outcome, now_ns)
        self._settle(lane, batch, outcome)
        self._note_rounds(before, round_number)

    def _invocation(self, lane: Lane, batch: Batch, now_ns: int) -> Invocation:
        if batch.invocations > 1:  # the handler may have changed what it got
            account, stream, shard = self._account_of(), self._stream, lane.shard
            batch.entries = [
                entry._replace(event=lambda_record(account, stream, shard, entry.record))
                for entry in batch.entries
            ]
        event: dict[str, Any] = {"Records": [entry.event for entry in batch.entries]}
        window = batch.window
        if window is not None:
            event |= {
                "window": window_bounds(window.start_ns, window.end_ns),
                "state": window.state,
                "shardId": lane.shard.id,
                "eventSourceARN": self._stream.arn,
                "isFinalInvokeForWindow": batch.is_final,
                "isWindowTerminatedEarly": batch.is_final and window.ends_early,
            }
        self._metrics.invocations += 1
        self._metrics.invoked += len(batch.entries)
        timeout = self._mapping.timeout
        context = LambdaContext(
            function_name=self._name,
            invoked_function_arn=self._function_arn(),
            aws_request_id=self._request_id(),
            clock=self._clock,
            timeout=timeout,
            deadline_ns=now_ns + timeout * NANOSECONDS,
        )
        return Invocation(event, context)

    def _function_arn(self) -> str:
        account = self._account_of()
        return f"arn:aws:lambda:{account.region}:{account.account_id}:function:{self._name}"

    def _request_id(self) -> str:
        """Return the id of the call that is made, or was made last; the same in every run."""
        return str(
            uuid.uuid5(uuid.NAMESPACE_URL, f"{self._stream.arn}/{self._metrics.invocations}")
        )

    def _judged(self, batch: Batch, outcome: Outcome) -> Outcome:
        """Return the outcome of a call; without a state, a call for a window has failed."""
        answer = outcome.answer
        has_state = isinstance(answer, dict) and "state" in answer
        if batch.window is None or outcome.error is not None or has_state:
            return outcome
        return Outcome(answer, ValueError(NO_STATE.format()))

    def _note(self, lane: Lane, batch: Batch, outcome: Outcome, sent_ns: int) -> None:
        """Keep what is known of a call."""
        age_ms = 0
        numbers: tuple[str, ...] = ()
        if batch.entries:
            first, last = batch.entries[0].record, batch.entries[-1].record
            age_ms = (sent_ns - last.created_ns) // 1_000_000
            numbers = tuple(lane.shard.sequence_number(r.number) for r in (first, last))
        metrics = self._metrics
        metrics.iterator_age_ms = age_ms
        metrics.most_iterator_age_ms = max(metrics.most_iterator_age_ms, age_ms)
        at = sent_ns / NANOSECONDS
        self._deliveries.append(
            Delivery(at, lane.shard.id, numbers, len(batch.entries), age_ms, outcome.error)
        )

    def _settle(self, lane: Lane, batch: Batch, outcome: Outcome) -> None:
        """Let a batch leave, come again, or be given up."""
        now_ns = self._clock.now_ns()
        if outcome.is_refused:
            lane.refuse(batch, now_ns)
            return
        failed = self._first_failed(lane, batch, outcome)
        if failed is None and self._is_repeated(batch):
            lane.repeat(batch, now_ns + self._mapping.timeout * NANOSECONDS)
            return
        succeeded = len(batch.entries) if failed is None else failed
        self._metrics.delivered += succeeded
        if outcome.error is None and (failed is None or failed > 0):
            lane.succeed(batch, outcome.answer, now_ns)
        if failed is not None:
            self._metrics.failed += len(batch.entries) - failed
            given_up = lane.fail(batch, failed, now_ns)
            self._drop("RetryAttemptsExhausted", lane, batch, given_up, outcome)
            self._say_if_blocked(lane, batch, outcome)
        if lane.is_idle:
            self._lanes.pop((lane.shard.number, lane.slot), None)

    def _first_failed(self, lane: Lane, batch: Batch, outcome: Outcome) -> int | None:
        """Return the index of the first record that failed, or None if none has."""
        if outcome.error is not None:
            return 0
        if self._mapping.report_item_failures:
            numbers = [lane.shard.sequence_number(e.record.number) for e in batch.entries]
            return first_failed(outcome.answer, numbers)
        if reports_failures(outcome.answer) and not self._has_warned:
            self._has_warned = True
            warnings.warn(UNHEARD.format(name=self._name), EventSourceWarning, stacklevel=2)
        return None

    def _is_repeated(self, batch: Batch) -> bool:
        """Return whether a batch that has succeeded is sent once more (EVS-26)."""
        if self._repeats is None or batch.was_repeated or batch.window is not None:
            return False
        return self._repeats.randrange(_REPEATED_ONE_IN) == 0

    def _drop_expired(self, lane: Lane, batch: Batch, now_ns: int) -> None:
        """Give up the records of a batch that are too old, or trimmed (EVS-18)."""
        age = self._mapping.max_record_age
        kept = limits.STREAM_RETENTION_SECONDS
        horizon_ns = now_ns - min(kept, kept if age == -1 else age) * NANOSECONDS
        first_number = self._stream.first_number
        count = 0
        for entry in batch.entries:
            record = entry.record
            if record.created_ns >= horizon_ns and record.number >= first_number:
                break
            count += 1
        expired = [entry.record for entry in batch.entries[:count]]
        del batch.entries[:count]
        self._drop("RecordAgeExceeded", lane, batch, expired, None)

    def _drop(
        self,
        condition: str,
        lane: Lane,
        batch: Batch,
        records: list[StreamRecord],
        outcome: Outcome | None,
    ) -> None:
        """Count records that are given up, and send the document about them (EVS-25)."""
        if not records:
            return
        self._metrics.dropped += len(records)
        if self._on_failure is None:
            return
        is_error = True if outcome is None and batch.invocations else None
        if outcome is not None:
            is_error = outcome.error is not None
        failure = Failure(
            condition,
            lane.shard,
            records,
            batch.invocations,
            is_error,
            self._request_id(),
            self._function_arn(),
        )
        self._on_failure(failure_document(failure, self._stream, self._clock.now_ns()))

    def _say_if_blocked(self, lane: Lane, batch: Batch, outcome: Outcome) -> None:
        """Name the batch that blocks its shard for a day, once it has failed some times.

        Raises:
            EmulatorError: it would be waited for on real time.
        """
        count = batch.failures + 1
        if not self._mapping.retries_for_ever or count != _BLOCKED_AFTER or not batch.entries:
            return
        record, event = batch.entries[0]
        text = BLOCKED.format(
            name=self._name,
            count=count,
            keys=event["dynamodb"]["Keys"],
            number=lane.shard.sequence_number(record.number),
            error=outcome.error or outcome.answer,
            shard=lane.shard.id,
        )
        is_waited_for = threading.current_thread() is not self._poller
        if is_waited_for and not isinstance(self._clock, ManualClock):
            raise EmulatorError(text)
        warnings.warn(text, EventSourceWarning, stacklevel=2)

    # Loops

    def _round_of(self, batch: Batch) -> int:
        """Return in how many rounds in a row a handler's own writes led to a batch."""
        if not self._rounds:
            return 0
        return max((self._rounds.pop(e.record.number, 0) for e in batch.entries), default=0)

    def _note_rounds(self, before: int, round_number: int) -> None:
        """Note the records that came while the handler ran; on virtual time it has written them.

        Raises:
            EmulatorError: it goes on for too many rounds (EVS-31).
        """
        written = range(before, self._stream.next_number)
        if not written or not isinstance(self._clock, ManualClock):
            return
        if round_number >= MOST_ROUNDS:
            text = LOOPS.format(name=self._name, table=self._table, rounds=MOST_ROUNDS)
            raise EmulatorError(text)
        self._rounds.update(dict.fromkeys(written, round_number + 1))


def _waits_for_parent(stream: Stream, shard: Shard, busy: Set[int]) -> bool:
    """Return whether an ancestor of a shard is among the busy ones (EVS-27)."""
    parent = shard.parent
    while parent is not None:
        if parent in busy:
            return True
        known = stream.shards.by_number(parent)
        parent = None if known is None else known.parent
    return False
