"""The exact engine: the real emulator in virtual time, request by request.

Requests enter below the wire (``calls``); minute work, splits, scaling and admission are the
emulator's own. Refused calls are tried again as the SDK would (CAP-707, CAP-708), and clients
wait, give up and resend batches as the workload says (CAP2-9), on the virtual clock. What the
warm-up writes is stored before (CAP2-10). What is bypassed: request dictionaries, expression texts,
answers, CloudWatch tallies per operation.
"""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np

from emulator.capacity.retries import RetryQuota
from emulator.clock import NANOSECONDS
from emulator.lab.exact.calls import ExactContext, Reasons, Runner, Work
from emulator.lab.exact.clients import ClientCall, SimulatedClient
from emulator.lab.exact.reads import Getter, Pager
from emulator.lab.exact.sources import RequestSource
from emulator.lab.exact.writes import ItemWriter
from emulator.lab.inputs.clients import CALL_SECONDS
from emulator.lab.inputs.patterns import Field, Pattern
from emulator.lab.outcome.run_log import (
    MINUTE,
    Collections,
    PatternRecord,
    Progress,
    ResourceRecord,
    RunLog,
    Stop,
    key_text,
)
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings
from emulator.storage import OrderedStore

_LEAST: Final = CALL_SECONDS[0]
_SPREAD: Final = CALL_SECONDS[1] - CALL_SECONDS[0]
_MINUTE_NS: Final = MINUTE * NANOSECONDS


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    emulator: RunEmulator | None = None,
    is_new: bool = True,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RunLog:
    """Run a workload on a design, request by request.

    Args:
        layout: The design under the workload.
        seed: For what chance decides of the requests.
        settings: The constants that hold.
        emulator: The tables; made by default.
        is_new: Whether they hold nothing yet; what is there before the run is stored then.
        progress: Called with the seconds done and the seconds in all.
        stop: Asked after every second whether that is enough.
    """
    # What a run makes has no cycles, and the collector would walk all items again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        tables = emulator or RunEmulator(layout, settings or Settings())
        return _Drive(layout, seed, tables).run(progress, stop, is_new=is_new)
    finally:
        if collecting:
            gc.enable()


#: What happens at a moment: a step of the drive, and the call or client it is about.
_Step: TypeAlias = Callable[[Any, int, int], None]
#: When in its second a request arrives, the number of its source, when that is in nanoseconds,
#: its source, and whence its calls come.
_Arrival: TypeAlias = tuple[float, int, int, RequestSource, Iterator[Sequence[Work]]]


class _Drive:
    """One run."""

    def __init__(self, layout: Layout, seed: int, emulator: RunEmulator) -> None:
        self._layout = layout
        workload = layout.workload
        self._emulator = emulator
        self._account = self._emulator.account
        self._log = RunLog(self._emulator)
        self._context = ExactContext(self._emulator, self._log, seed)
        self._arrivals = np.random.default_rng([seed, 1_000_003])
        self._jitter = random.Random(seed)
        self._sources = [
            RequestSource(self._runner(number, pattern, seed), layout, seed)
            for number, pattern in enumerate(workload.patterns)
        ]
        callers = workload.callers
        self._clients = [SimulatedClient(callers.concurrency) for _ in range(callers.count)]
        self._batch_retry = callers.batch_retry
        self._timeout_ns = None if callers.timeout is None else int(callers.timeout * NANOSECONDS)
        self._coming: list[tuple[int, int, _Step, ClientCall | SimulatedClient]] = []
        self._made = 0
        self._sending: tuple[_Step, ...] = (self._send, self._attempt)

    def _runner(self, number: int, pattern: Pattern, seed: int) -> Runner:
        path = find_path(self._layout, pattern)
        rng = np.random.default_rng([seed, number])
        if path.kind == "write":
            return ItemWriter(self._context, path, rng)
        return (Getter if path.kind == "get" else Pager)(self._context, path, rng)

    def run(self, progress: Progress | None, stop: Stop | None, *, is_new: bool) -> RunLog:
        log = self._log
        if is_new:
            self._load()
            self._warm_up()
        before = {arn: _sizes(record) for arn, record in log.resources.items()}
        for second in range(log.seconds):
            counts = [int(source.counts[second]) for source in self._sources]
            self._second(second, counts)
            if progress is not None:
                progress(second + 1, log.seconds)
            if stop is not None and stop(log):
                break
        self._give_up_waiting()
        spelled = _Spelling(self._layout.workload.fields)
        for arn, record in log.resources.items():
            record.collect = partial(self._collections, record, before[arn], spelled)
            record.named_keys = {spelled(key): own for key, own in record.named_keys.items()}
        log.finish()
        return log

    def _load(self) -> None:
        for preload in self._layout.workload.preload:
            for source in self._sources:
                runner = source.runner
                if runner.pattern.name == preload.pattern and isinstance(runner, ItemWriter):
                    runner.load(preload.items, preload.span)
        self._emulator.feed.fit_partitions()

    def _warm_up(self) -> None:
        """Store what is written before the run (CAP2-10)."""
        workload, emulator = self._layout.workload, self._emulator.emulator
        emulator.set_capacity("off")
        for second in range(workload.warm_up):
            for source in self._sources:
                count = int(source.warm_up_counts[second])
                if count and isinstance(source.runner, ItemWriter):
                    source.runner.warm_up(count, workload.start - workload.warm_up + second)
            self._context.values.settle()
        for source in self._sources:
            if isinstance(source.runner, ItemWriter):
                source.runner.rewind()
        emulator.set_capacity("enforce")

    def _collections(
        self, record: ResourceRecord, before: float, spelled: _Spelling
    ) -> Collections:
        """Return the item collections of a table, with its local indexes, or of a global index."""
        own, *local = self._stores(record)
        collections = _collections(record, own, before)
        for store in local:
            collections.add_local(_collections(record, store, before))
        collections.keys = list(map(spelled, collections.keys))
        return collections

    def _stores(self, record: ResourceRecord) -> list[OrderedStore]:
        """Return where a table and its local indexes, or a global index, keep what they hold."""
        for table in self._account.tables.values():
            indexes = table.indexes.values()
            if table.resource is record.resource:
                local = [index.store for index in indexes if not index.schema.is_global]
                return [table.store, *local]
            for index in indexes:
                if index.resource is record.resource:
                    return [index.store]
        raise AssertionError(record.name)

    # One second

    def _second(self, second: int, counts: Sequence[int]) -> None:
        """Run one second of the log; ``counts`` are the requests that arrive from each source."""
        log = self._log
        start_ns = log.start_ns + second * NANOSECONDS
        end_ns, point = start_ns + NANOSECONDS, second // log.step
        self._context.values.settle()
        coming = self._coming
        catch_up, forget_receipts = self._account.catch_up, self._emulator.feed.forget_receipts
        for _, _, time_ns, source, requests in self._arriving(second, start_ns, counts):
            if coming and coming[0][0] <= time_ns:
                self._go_on_until(time_ns, point)
            catch_up(time_ns)
            self._request(source, next(requests), time_ns, point)
            # At once, so that the next receipt is written where this one was: memory that the
            # processor has at hand.
            forget_receipts()
        self._go_on_until(end_ns - 1, point)
        log.sample(second, end_ns)
        if end_ns % _MINUTE_NS == 0 or second + 1 == log.seconds:
            log.close_minute()
        self._account.catch_up(end_ns)

    def _arriving(self, second: int, start_ns: int, counts: Sequence[int]) -> Iterable[_Arrival]:
        """Return the arrivals of a second, in their order."""
        arrivals: list[Iterable[_Arrival]] = []
        for number, (source, count) in enumerate(zip(self._sources, counts, strict=True)):
            if count:
                moments = source.moments(second, count, self._arrivals)
                times_ns = [start_ns + int(moment * NANOSECONDS) for moment in moments]
                requests = repeat(source.requests(times_ns))
                same = (repeat(number), times_ns, repeat(source), requests)
                arrivals.append(zip(moments, *same, strict=False))
        if len(arrivals) == 1:
            return arrivals[0]
        return sorted(chain.from_iterable(arrivals), key=itemgetter(0, 1))

    def _request(
        self, source: RequestSource, works: Sequence[Work], time_ns: int, second: int
    ) -> None:
        record = source.runner.record
        record.requests += 1
        record.fan_out += len(works)
        self._made += 1
        client = self._clients[self._made % len(self._clients)]
        if source.is_batch:
            self._arrive(ClientCall(source, works, client, time_ns), time_ns, second)
            return
        if client.free is not None or source.policy.limits_rate:
            for work in works:
                self._arrive(ClientCall(source, (work,), client, time_ns), time_ns, second)
            return
        # Nothing limits the client: most calls of most runs begin and end here.
        for work in works:
            record.attempts += 1
            reasons = work.attempt(second, 1)
            if reasons or work.following is not None:
                self._go_on(ClientCall(source, (work,), client, time_ns), reasons, time_ns)
                continue
            record.calls += 1
            record.histogram[0] += 1
            if client.quota.tokens < _FULL:
                client.quota.refund()

    def _go_on(self, call: ClientCall, reasons: Reasons, time_ns: int) -> None:
        """Go on with a call that is not over with its first attempt."""
        call.attempts = 1
        if reasons:
            call.record.refusals += 1
            self._count_throttled(call.record, reasons, time_ns)
            self._refused(call, reasons, time_ns)
        else:
            self._count_done(call, 1)
            self._answered(call, time_ns)

    # A call: it arrives, is sent, and ends

    def _arrive(self, call: ClientCall, time_ns: int, second: int) -> None:
        """Send a call, or let it wait in its client until another has ended."""
        client = call.client
        if client.free is not None:
            if not client.free:
                client.queue.append(call)
                return
            client.free -= 1
        self._send(call, time_ns, second)

    def _send(self, call: ClientCall, time_ns: int, second: int) -> None:
        """Send a call, as soon as the client's own limit allows it."""
        client = call.client
        if call.source.policy.limits_rate:
            delay = 0.0 if client.unsent else client.rate.wait(time_ns / NANOSECONDS)
            if client.unsent or delay:
                call.unsent_ns = time_ns
                client.unsent.append(call)
                if self._timeout_ns is not None:
                    self._schedule(call.arrived_ns + self._timeout_ns, self._give_up_unsent, call)
                if len(client.unsent) == 1:
                    self._schedule(_after(time_ns, delay), self._send_next, client)
                return
        self._attempt(call, time_ns, second)

    def _send_next(self, client: SimulatedClient, time_ns: int, second: int) -> None:
        """Send what a client's limit lets pass, of the calls whose callers still wait."""
        while client.unsent:
            call = client.unsent[0]
            if call.unsent_ns is not None:
                delay = client.rate.wait(time_ns / NANOSECONDS)
                if delay:
                    self._schedule(_after(time_ns, delay), self._send_next, client)
                    return
                call.waited += (time_ns - call.unsent_ns) / NANOSECONDS
                call.unsent_ns = None
                self._attempt(call, time_ns, second)
            client.unsent.popleft()

    def _give_up_unsent(self, call: ClientCall, time_ns: int, _second: int) -> None:
        """Give a call up whose caller has waited long enough for its client's limit."""
        if call.unsent_ns is not None:
            call.unsent_ns = None
            self._give_up(call, time_ns)

    def _attempt(self, call: ClientCall, time_ns: int, second: int) -> None:
        call.attempts += 1
        if call.source.is_batch:
            self._attempt_batch(call, time_ns, second)
            return
        record = call.record
        record.attempts += 1
        reasons = call.works[0].attempt(second, call.attempts)
        if call.source.policy.limits_rate:
            call.client.rate.answered(time_ns / NANOSECONDS, throttled=bool(reasons))
        if reasons:
            record.refusals += 1
            if call.attempts == 1:
                self._count_throttled(record, reasons, time_ns)
            self._refused(call, reasons, time_ns)
        else:
            self._count_done(call, 1)
            self._answered(call, time_ns)

    def _attempt_batch(self, call: ClientCall, time_ns: int, second: int) -> None:
        """Try the items of a batch, of which some may be refused (CAP-610)."""
        number, works, record = call.attempts, call.works, call.record
        record.attempts += len(works)
        undone: list[Work] = []
        reasons: Reasons = ()
        for work in works:
            refused = work.attempt(second, number)
            if refused:
                undone.append(work)
                reasons = refused
                record.refusals += 1
                if number == 1:
                    self._count_throttled(record, refused, time_ns)
        if call.source.policy.limits_rate:
            throttled = len(undone) == len(works)
            call.client.rate.answered(time_ns / NANOSECONDS, throttled=throttled)
        if not undone:
            self._count_done(call, len(works))
            self._answered(call, time_ns)
        elif len(undone) == len(works):
            self._refused(call, reasons, time_ns)
        else:
            self._count_done(call, len(works) - len(undone))
            call.works = undone
            self._done_in_part(call, time_ns)

    def _answered(self, call: ClientCall, time_ns: int) -> None:
        """End a call that is done; the page that follows comes when its answer is there."""
        self._refund(call)
        following = call.works[0].following
        if following is None:
            self._end(call, time_ns)
            return
        due_ns = time_ns + self._took_ns()
        page = ClientCall(call.source, [following], call.client, due_ns)
        page.record = call.record
        self._schedule(due_ns, self._send, page)

    def _refused(self, call: ClientCall, reasons: Reasons, time_ns: int) -> None:
        """Let the SDK wait and try again, if it does (CAP-707, CAP-708)."""
        source, tries = call.source, call.attempts - call.earlier
        if (
            tries >= source.most_attempts
            or not source.retries(reasons)
            or (source.retry_cost and not call.client.quota.take(source.retry_cost))
        ):
            self._give_up(call, time_ns)
            return
        self._send_again(call, time_ns, source.policy.delay(tries, self._jitter))

    def _done_in_part(self, call: ClientCall, time_ns: int) -> None:
        """Do with the unprocessed items of a batch what the caller does (CAP2-9)."""
        self._refund(call)
        policy = call.source.policy
        call.rounds += 1
        call.earlier = call.attempts
        if self._batch_retry == "requeue":
            self._send_again(call, time_ns, 0.0)
        elif self._batch_retry == "backoff" and call.rounds < policy.attempts:
            self._send_again(call, time_ns, policy.delay(call.rounds, self._jitter))
        else:
            self._give_up(call, time_ns)

    def _send_again(self, call: ClientCall, time_ns: int, delay: float) -> None:
        """Send a call again after its last attempt has ended and a delay has passed."""
        due_ns = time_ns + self._took_ns() + int(delay * NANOSECONDS)
        if self._is_late(call, due_ns):
            self._give_up_late(call)
            return
        call.waited += delay
        step = self._send if call.source.policy.limits_rate else self._attempt
        self._schedule(due_ns, step, call)

    def _give_up(self, call: ClientCall, time_ns: int) -> None:
        self._count_failed(call)
        self._end(call, time_ns)

    def _end(self, call: ClientCall, time_ns: int) -> None:
        """Let the next call of a client begin when this one's answer is there."""
        client = call.client
        if client.free is None:
            return
        self._schedule(time_ns + self._took_ns(), self._begin_next, client)

    def _begin_next(self, client: SimulatedClient, time_ns: int, second: int) -> None:
        """Send the call that has waited longest in a client, of those whose callers still wait."""
        assert client.free is not None, "its calls under way are limited"
        client.free += 1
        while client.queue:
            call = client.queue.popleft()
            if self._timeout_ns is None or time_ns <= call.arrived_ns + self._timeout_ns:
                call.waited += (time_ns - call.arrived_ns) / NANOSECONDS
                self._arrive(call, time_ns, second)
                return
            self._count_failed(call)

    # Time

    def _took_ns(self) -> int:
        """Return how long a call takes until its answer is there."""
        return int((_LEAST + self._jitter.random() * _SPREAD) * NANOSECONDS)

    def _schedule(self, due_ns: int, step: _Step, subject: ClientCall | SimulatedClient) -> None:
        self._made += 1
        heappush(self._coming, (due_ns, self._made, step, subject))

    def _is_late(self, call: ClientCall, due_ns: int) -> bool:
        """Return whether a caller does not wait so long."""
        return self._timeout_ns is not None and due_ns > call.arrived_ns + self._timeout_ns

    def _give_up_late(self, call: ClientCall) -> None:
        """Give a call up when its caller's patience ends."""
        assert self._timeout_ns is not None, "there is a time after which it is late"
        self._give_up(call, call.arrived_ns + self._timeout_ns)

    def _go_on_until(self, time_ns: int, second: int) -> None:
        """Do everything that is due by a moment."""
        coming, forget_receipts = self._coming, self._emulator.feed.forget_receipts
        while coming and coming[0][0] <= time_ns:
            due_ns, _, step, subject = heappop(coming)
            self._account.catch_up(due_ns)
            step(subject, due_ns, second)
            forget_receipts()

    # Counting

    def _refund(self, call: ClientCall) -> None:
        """Give back what a successful call took of its client's quota (CAP-708)."""
        quota = call.client.quota
        if call.attempts - call.earlier > 1:
            quota.refund(call.source.retry_cost or 1)
        elif quota.tokens < _FULL:
            quota.refund()

    def _count_done(self, call: ClientCall, count: int) -> None:
        self._count_calls(call, count)
        if call.attempts > 1 or call.waited:
            call.record.latencies.append(call.waited)
            call.record.latency_weights.append(count)

    def _count_failed(self, call: ClientCall) -> None:
        self._count_calls(call, len(call.works))
        call.record.failed += len(call.works)
        last = min(max(call.attempts, 1), len(call.record.failed_histogram))
        call.record.failed_histogram[last - 1] += len(call.works)

    def _count_calls(self, call: ClientCall, count: int) -> None:
        record = call.record
        record.calls += count
        if call.attempts:
            record.histogram[min(call.attempts, len(record.histogram)) - 1] += count

    def _count_throttled(self, record: PatternRecord, reasons: Reasons, time_ns: int) -> None:
        """Count a call, or an item of a batch, whose first attempt was refused."""
        first = reasons[0].reason
        counts = record.throttled_by_reason
        counts[first] = counts.get(first, 0.0) + 1
        log = self._log
        log.last_throttle = (time_ns - log.start_ns) / NANOSECONDS
        if log.first_throttle is None:
            log.first_throttle = log.last_throttle

    def _give_up_waiting(self) -> None:
        """Count the calls that the end of the run finds waiting, as far as they came."""
        for _, _, step, subject in self._coming:
            # A page that nobody came to ask for, and a call not sent yet, have no attempts.
            if isinstance(subject, ClientCall) and subject.attempts and step in self._sending:
                self._count_waiting(subject)
        for client in self._clients:
            for call in client.unsent:
                if call.attempts and call.unsent_ns is not None:
                    self._count_waiting(call)

    def _count_waiting(self, call: ClientCall) -> None:
        self._count_calls(call, len(call.works))
        call.record.waiting += len(call.works)


class _Spelling:
    """Spells the listed values in a key as the workload does: they are played by number.

    Args:
        fields: Of the workload.
    """

    def __init__(self, fields: Iterable[Field]) -> None:
        self._texts = {
            field.identity(number): text
            for field in fields
            for number, text in enumerate(field.values or ())
        }
        names = sorted(map(re.escape, self._texts), key=len, reverse=True)
        self._pattern = re.compile("|".join(names)) if names else None

    def __call__(self, key: str) -> str:
        if self._pattern is None:
            return key
        return self._pattern.sub(lambda found: self._texts[found[0]], key)


_FULL = RetryQuota().tokens


def _after(time_ns: int, delay: float) -> int:
    """Return a moment at which a delay has passed for sure, rounding or not."""
    return time_ns + int(delay * NANOSECONDS) + 1


def _sizes(record: ResourceRecord) -> float:
    return float(sum(partition.size_bytes for partition in record.resource.partitions))


def _collections(record: ResourceRecord, store: OrderedStore, before: float) -> Collections:
    """Return the item collections that a store holds; growth is shared out by size."""
    length = record.resource.meter.traffic.prefix_length
    sizes: dict[str, list[float]] = {}
    for position, item in store.walk((0,), (1 << 64,)):
        entry = sizes.setdefault(key_text(position, length), [0.0, 0.0])
        entry[0] += 1
        entry[1] += item.size_bytes
    total = _sizes(record)
    grown = max(0.0, total - before) / total if total else 0.0
    return Collections(
        list(sizes),
        [items for items, _ in sizes.values()],
        [size for _, size in sizes.values()],
        [size * grown for _, size in sizes.values()],
        [1.0] * len(sizes),
    )
