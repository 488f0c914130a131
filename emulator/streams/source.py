"""Event sources: the call, its outcome, and the thread that makes it (EVS-17 to EVS-31)."""

from __future__ import annotations

import asyncio
import math
import threading
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, replace
from random import Random
from typing import Any, Final, NamedTuple, Self, TypeAlias

from emulator.clock import NANOSECONDS, Clock, ManualClock
from emulator.engine import Account, StreamRecord
from emulator.observe import table_of
from emulator.service.errors import EmulatorError, EventSourceWarning
from emulator.streams import answers
from emulator.streams.handlers import (
    Handler,
    Invocation,
    InvocationRefused,
    LambdaContext,
    Outcome,
    call,
    call_async,
    name_of,
    resolved,
)
from emulator.streams.lanes import Batch, Lane
from emulator.streams.mapping import EventSourceMapping
from emulator.streams.metrics import Delivery, SourceMetrics
from emulator.streams.reader import Form, StreamReader
from emulator.streams.records import failure_document, lambda_record, window_bounds

#: How often a shard is polled on real time. Source: EVS-28.
POLLS_PER_SECOND: Final = 4
#: Rounds in which a handler's own writes come back to it, after which it is taken for a loop.
MOST_ROUNDS: Final = 16
#: Errors in a row after which a batch is said to block its shard.
_BLOCKED_AFTER: Final = 3
#: One batch in this many is sent twice, if that is asked for.
_REPEATED_ONE_IN: Final = 4
#: How long a source that ends waits for the handler that runs.
_PATIENCE_SECONDS: Final = 5.0

ONE_CONSUMER: Final = "an event source has a handler, or kinesis=..., and not both"
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
NO_STATE: Final = "with a tumbling window, a handler has to return its state: {'state': ...}"


class Consumer(NamedTuple):
    """The receiver of a stream.

    Attributes:
        handler: Gets Lambda's events; None if ``kinesis`` gets records.
        kinesis: A callable of a record, or a Kinesis client.
        on_failure: Takes the document about records that are given up.
    """

    handler: Handler | None
    kinesis: Any = None
    on_failure: Callable[[dict[str, Any]], object] | None = None


#: A call to be made, or seconds to pass until the next batch is due.
_Step: TypeAlias = Invocation | float
_Steps: TypeAlias = Generator[_Step, Outcome, None]


class EventSource:
    """A table's stream, delivered to a handler; made by ``Emulator.event_source``.

    Args:
        account_of: Returns the account that the table is in.
        clock: Where time comes from.
        table: The table's name.
        consumer: Receives the records.
        mapping: The settings.
        readers: The open sources of the emulator, of which it becomes one.

    >>> from emulator import Emulator
    >>> from emulator.strategies import create_request
    >>> emu = Emulator(clock=ManualClock())
    >>> stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    >>> request = create_request("orders", "id") | {"StreamSpecification": stream}
    >>> _ = emu.call("CreateTable", request)
    >>> with emu.event_source("orders", print, batch_window=60) as source:
    ...     source.drain(), source.metrics.invocations
    ([], 0)
    """

    def __init__(
        self,
        account_of: Callable[[], Account],
        clock: Clock,
        table: str,
        consumer: Consumer,
        mapping: EventSourceMapping,
        readers: list[EventSource],
    ) -> None:
        self._account_of = account_of
        self._clock = clock
        self._table = table
        self._handler, form = _handler_of(account_of, table, consumer, mapping)
        self._name = name_of(self._handler)
        self._on_failure = consumer.on_failure
        self._mapping = mapping
        self._metrics = SourceMetrics()
        self._reader = StreamReader(account_of, clock, table, mapping, form, self._metrics)
        self._readers = readers
        self._deliveries: list[Delivery] = []
        self._rounds: dict[int, int] = {}
        self._repeats = Random(mapping.at_least_once or 0)
        self._has_warned = False
        self._delivering = threading.Lock()
        self._deliverer: int | None = None
        self._closing = threading.Event()
        self._poller: threading.Thread | None = None
        self._broken: Exception | None = None

    def set_aside(self) -> Callable[[], None]:
        """Begin a trial of the emulator; return what undoes all that is delivered in it."""
        metrics, rounds = replace(self._metrics), dict(self._rounds)
        deliveries, repeats = list(self._deliveries), self._repeats.getstate()
        put_reader_back = self._reader.set_aside()

        def put_back() -> None:
            put_reader_back()
            for member in fields(metrics):
                setattr(self._metrics, member.name, getattr(metrics, member.name))
            self._rounds, self._deliveries = rounds, deliveries
            self._repeats.setstate(repeats)

        return put_back

    def __repr__(self) -> str:
        return f"EventSource(table={self._table!r}, handler={self._name})"

    def __enter__(self) -> Self:
        account = self._account_of()
        with account.lock:
            self._reader.begin()
        self._count_readers()
        self._readers.append(self)
        if isinstance(self._clock, ManualClock):
            self._clock.attach(self)
        else:
            self._closing.clear()
            self._poller = threading.Thread(target=self._poll, name=repr(self), daemon=True)
            self._poller.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._closing.set()
        if isinstance(self._clock, ManualClock):
            self._clock.detach(self)
        elif self._poller is not None:
            self._poller.join(_PATIENCE_SECONDS)
        self._readers.remove(self)
        if raised[0] is None:
            self._raise_if_broken()

    def _count_readers(self) -> None:
        """Warn of more readers than the service recommends (EVS-30)."""
        arn = self._reader.stream.arn
        count = 1 + sum(reader._reader.stream.arn == arn for reader in self._readers)
        most = 2 if table_of(self._account_of(), self._table).replica is None else 1
        if count > most:
            self._warn(TOO_MANY_READERS.format(table=self._table, count=count, most=most))

    @staticmethod
    def _warn(text: str) -> None:
        warnings.warn(text, EventSourceWarning, stacklevel=3)

    @property
    def metrics(self) -> SourceMetrics:
        """Its work so far."""
        return replace(self._metrics)

    def check(self) -> None:
        """Assert the invariants while nothing is being delivered."""
        self._reader.check()

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
        while self._delivering.locked():  # by the thread that polls
            await asyncio.sleep(1 / POLLS_PER_SECOND)
        with self._holding():
            await self._run_async(self._steps())
            return self._taken()

    # As a timer of a ManualClock

    def due_ns(self) -> int | None:
        """Return when the next batch is due; None if there is none, or one is being delivered."""
        if not self._delivering.acquire(blocking=False):
            return None
        try:
            found = self._reader.next_lane()
        finally:
            self._delivering.release()
        return None if found is None else found[0]

    def fire(self) -> None:
        """Deliver the batch that is due."""
        with self._holding():
            found = self._reader.next_lane()
            if found is not None and found[0] <= self._clock.now_ns():
                self._run(self._deliver(found[1]))

    # Who makes the calls

    def _run(self, steps: _Steps) -> None:
        """Make the calls, and let the time pass, that some steps ask for."""
        with closing(steps), suppress(StopIteration):
            step = next(steps)
            while True:
                if isinstance(step, Invocation):
                    step = steps.send(call(self._handler, step))
                else:
                    self._clock.sleep(step)
                    step = steps.send(Outcome())

    async def _run_async(self, steps: _Steps) -> None:
        with closing(steps), suppress(StopIteration):
            step = next(steps)
            while True:
                if isinstance(step, Invocation):
                    step = steps.send(await call_async(self._handler, step))
                elif isinstance(self._clock, ManualClock):
                    self._clock.advance(step)
                    step = steps.send(Outcome())
                else:
                    await asyncio.sleep(step)
                    step = steps.send(Outcome())

    def _poll(self) -> None:
        """Deliver what is due, some times a second, until the source ends or breaks."""
        while not self._closing.wait(1 / POLLS_PER_SECOND):
            try:
                with self._holding():
                    self._run(self._steps(is_patient=False))
            except Exception as error:  # raised by the next drain, or when the source ends
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
        if self not in self._readers:
            raise EmulatorError(NOT_OPEN)
        self._raise_if_broken()

    def _raise_if_broken(self) -> None:
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken

    def _taken(self) -> list[Delivery]:
        taken, self._deliveries = self._deliveries, []
        return taken

    # Delivering

    def _steps(self, *, is_patient: bool = True) -> _Steps:
        """Deliver one batch after the other; if not patient, those that are due now."""
        while (found := self._reader.next_lane()) is not None:
            due_ns, lane = found
            wait_ns = due_ns - self._clock.now_ns()
            if wait_ns <= 0:
                yield from self._deliver(lane)
            elif not is_patient:
                return
            else:
                yield min(wait_ns, self._time_of_others_ns()) / NANOSECONDS

    def _time_of_others_ns(self) -> float:
        """Return how long nothing else happens: another source may write to this table."""
        if not isinstance(self._clock, ManualClock):
            return NANOSECONDS / POLLS_PER_SECOND
        following = self._clock.next_timer()
        return math.inf if following is None else max(0, following[0] - self._clock.now_ns())

    def _deliver(self, lane: Lane) -> _Steps:
        """Send the batch of a lane that is due, and settle what comes of it."""
        now_ns = self._clock.now_ns()
        batch = lane.take(now_ns)
        horizon_ns = now_ns - self._mapping.kept_seconds * NANOSECONDS
        before = self._reader.stream.next_number
        round_number = self._round_of(batch)
        try:
            self._drop_expired(lane, batch, horizon_ns)
            if batch.is_over(horizon_ns):
                lane.give_up(batch, now_ns)
                self._reader.leave(lane)
                return
            outcome = yield self._invocation(lane, batch, now_ns)
        except BaseException:  # interrupted: the batch was not sent
            lane.put_back(batch)
            raise
        outcome = _judged(batch, outcome)
        self._deliveries.append(self._delivery(lane, batch, outcome, now_ns))
        self._settle(lane, batch, outcome)
        self._reader.leave(lane)
        self._note_rounds(before, round_number)
        self._say_if_unheard(outcome)

    def _invocation(self, lane: Lane, batch: Batch, now_ns: int) -> Invocation:
        if batch.invocations:  # the handler may have changed what it got
            event_of = self._reader.event_of
            batch.entries = [
                e._replace(event=event_of(lane.shard, e.record)) for e in batch.entries
            ]
        batch.invocations += 1
        last_ns = batch.entries[-1].record.created_ns if batch.entries else now_ns
        self._metrics.send(len(batch.entries), (now_ns - last_ns) // 1_000_000)
        event: dict[str, Any] = {"Records": [entry.event for entry in batch.entries]}
        window = batch.window
        if window is not None:
            event |= {
                "window": window_bounds(window.start_ns, window.end_ns),
                "state": deepcopy(window.state),
                "shardId": lane.shard.id,
                "eventSourceARN": self._reader.stream.arn,
                "isFinalInvokeForWindow": batch.is_final,
                "isWindowTerminatedEarly": batch.is_final and window.ends_early,
            }
        context = LambdaContext(
            function_name=self._name,
            invoked_function_arn=self._function_arn(),
            aws_request_id=self._request_id(),
            clock=self._clock,
            timeout=self._mapping.timeout,
            deadline_ns=now_ns + self._mapping.timeout * NANOSECONDS,
        )
        return Invocation(event, context)

    def _function_arn(self) -> str:
        account = self._account_of()
        return f"arn:aws:lambda:{account.region}:{account.account_id}:function:{self._name}"

    def _request_id(self) -> str:
        """Return the id of the call that was made last; the same in every run."""
        name = f"{self._reader.stream.arn}/{self._metrics.invocations}"
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))

    def _delivery(self, lane: Lane, batch: Batch, outcome: Outcome, sent_ns: int) -> Delivery:
        numbers = [lane.shard.sequence_number(e.record.number) for e in batch.entries]
        return Delivery(
            sent_ns / NANOSECONDS,
            lane.shard.id,
            (numbers[0], numbers[-1]) if numbers else (),
            len(numbers),
            self._metrics.iterator_age_ms,
            outcome.error,
        )

    def _settle(self, lane: Lane, batch: Batch, outcome: Outcome) -> None:
        """Let a batch leave, come again, or be given up."""
        now_ns = self._clock.now_ns()
        if isinstance(outcome.error, InvocationRefused):
            lane.refuse(batch, now_ns)
            return
        failed = self._first_failed(lane, batch, outcome)
        if failed is None and self._is_repeated(batch):
            lane.repeat(batch, now_ns + self._mapping.timeout * NANOSECONDS)
            return
        self._metrics.delivered += len(batch.entries) if failed is None else failed
        if failed != 0:
            lane.succeed(batch, outcome.answer, now_ns)
        if failed is not None:
            self._metrics.failed += len(batch.entries) - failed
            given_up = lane.fail(batch, failed, now_ns)
            if given_up:
                is_error = outcome.error is not None
                self._drop("RetryAttemptsExhausted", lane, batch, given_up, is_error=is_error)
            self._say_if_blocked(lane, batch, outcome)

    def _first_failed(self, lane: Lane, batch: Batch, outcome: Outcome) -> int | None:
        """Return the index of the first record that failed, or None if none has."""
        if outcome.error is not None:
            return 0
        if self._mapping.report_item_failures:
            numbers = [lane.shard.sequence_number(e.record.number) for e in batch.entries]
            return answers.first_failed(outcome.answer, numbers)
        return None

    def _say_if_unheard(self, outcome: Outcome) -> None:
        """Warn once of reports that count for nothing (EVS-23)."""
        if self._mapping.report_item_failures or self._has_warned:
            return
        if answers.reports_failures(outcome.answer):
            self._has_warned = True
            self._warn(UNHEARD.format(name=self._name))

    def _is_repeated(self, batch: Batch) -> bool:
        """Return whether a batch that has succeeded is sent once more (EVS-26)."""
        if self._mapping.at_least_once is None or batch.was_repeated or batch.window is not None:
            return False
        return self._repeats.randrange(_REPEATED_ONE_IN) == 0

    def _drop_expired(self, lane: Lane, batch: Batch, horizon_ns: int) -> None:
        """Give up the records of a batch that are too old, or trimmed (EVS-18)."""
        first_number = self._reader.stream.first_number
        expired = [
            entry.record
            for entry in batch.entries
            if entry.record.created_ns < horizon_ns or entry.record.number < first_number
        ]
        if expired:
            del batch.entries[: len(expired)]  # the oldest come first
            is_error = True if batch.invocations else None
            self._drop("RecordAgeExceeded", lane, batch, expired, is_error=is_error)

    def _drop(
        self,
        condition: str,
        lane: Lane,
        batch: Batch,
        records: list[StreamRecord],
        *,
        is_error: bool | None,
    ) -> None:
        """Count records that are given up, and send the document about them (EVS-25)."""
        self._metrics.dropped += len(records)
        if self._on_failure is None:
            return
        request = {
            "requestId": self._request_id(),
            "functionArn": self._function_arn(),
            "condition": condition,
            "approximateInvokeCount": batch.invocations,
        }
        stream, now_ns = self._reader.stream, self._clock.now_ns()
        self._on_failure(
            failure_document(
                stream, lane.shard, records, request=request, is_error=is_error, now_ns=now_ns
            )
        )

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
        if self._poller is not None and threading.current_thread() is not self._poller:
            raise EmulatorError(text)
        self._warn(text)

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
        written = range(before, self._reader.stream.next_number)
        if not written or not isinstance(self._clock, ManualClock):
            return
        if round_number >= MOST_ROUNDS:
            text = LOOPS.format(name=self._name, table=self._table, rounds=MOST_ROUNDS)
            raise EmulatorError(text)
        self._rounds.update(dict.fromkeys(written, round_number + 1))


def _handler_of(
    account_of: Callable[[], Account], table: str, consumer: Consumer, mapping: EventSourceMapping
) -> tuple[Callable[[dict[str, Any], Any], Any], Form]:
    """Return the callable that gets events, and the form of the records in them."""
    if (consumer.handler is None) is (consumer.kinesis is None):
        raise TypeError(ONE_CONSUMER)
    if consumer.handler is not None:
        return resolved(consumer.handler), lambda_record
    from emulator.streams import kinesis  # few tables have a destination

    seed = mapping.at_least_once or 0
    return kinesis.KinesisWriter(account_of, table, consumer.kinesis, seed), kinesis.kinesis_record


def _judged(batch: Batch, outcome: Outcome) -> Outcome:
    """Return the outcome of a call; without a state, a call for a window has failed (EVS-24)."""
    answer = outcome.answer
    has_state = isinstance(answer, dict) and "state" in answer
    if batch.window is None or outcome.error is not None or has_state:
        return outcome
    return Outcome(answer, ValueError(NO_STATE))
