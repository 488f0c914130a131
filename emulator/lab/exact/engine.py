"""The exact engine: the real emulator in virtual time, request by request.

Requests enter below the wire (``calls``); minute work, splits, scaling and admission are the
emulator's own. Refused calls are tried again as the SDK would (CAP-707, CAP-708), on the
virtual clock. What is bypassed: request dictionaries, expression texts, answers, CloudWatch
tallies per operation.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from functools import partial
from heapq import heappop, heappush
from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy, RetryQuota
from emulator.clock import NANOSECONDS
from emulator.lab.exact.calls import ExactContext, Reasons, Row, Runner, Work
from emulator.lab.exact.reads import Getter, Pager
from emulator.lab.exact.writes import Writer
from emulator.lab.inputs import arrival_rates
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.outcome.run_log import (
    MINUTE,
    Collections,
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

#: How long a call takes before its client waits, or asks for the next page: least and most.
#: Assumed: single-digit milliseconds; without it, clients that wait without jitter would come
#: back in the very beat in which they were refused.
CALL_SECONDS: Final = (0.002, 0.010)


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RunLog:
    """Run a workload on a design, request by request."""
    # What a run makes has no cycles, and the collector would walk all items again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _Drive(layout, seed, settings or Settings()).run(progress, stop)
    finally:
        if collecting:
            gc.enable()


class _Call:
    """A call on its way: how often it was tried, and how long it waited."""

    __slots__ = ("attempts", "client", "source", "waited", "work")

    def __init__(self, source: _Source, work: Work, client: int) -> None:
        self.source = source
        self.work = work
        self.client = client
        self.attempts = 0
        self.waited = 0.0


class _Source:
    """One pattern with its runner, its arrivals and its retry policy."""

    __slots__ = ("_times", "actions", "counts", "policy", "record", "runner")

    def __init__(self, runner: Runner, layout: Layout, rng: np.random.Generator) -> None:
        pattern = runner.pattern
        workload = layout.workload
        self.runner = runner
        self.record = runner.record
        self.actions = pattern.actions
        self.policy: RetryPolicy = workload.policy(pattern)
        times = pattern.recorded.times if pattern.recorded is not None else ()
        self._times = np.asarray(times, dtype=np.float64)
        self.counts = arrival_rates.counts(workload.rates(pattern), pattern.arrivals, rng)

    def moments(self, second: int, count: int, rng: np.random.Generator) -> list[float]:
        """Return when, within a second, its requests arrive.

        Even arrivals are even from second to second; within one they fall at random, because a
        perfect beat would lock phases with refills and retries.
        """
        first, last = np.searchsorted(self._times, (second, second + 1))
        if last - first == count:
            times = self._times[first:last] - second
        else:
            times = np.sort(rng.random(count))
        moments: list[float] = times.tolist()
        return moments


class _Drive:
    """One run."""

    def __init__(self, layout: Layout, seed: int, settings: Settings) -> None:
        self._layout = layout
        workload = layout.workload
        self._emulator = RunEmulator(layout, settings)
        self._account = self._emulator.account
        self._log = RunLog(self._emulator)
        self._context = ExactContext(self._emulator, self._log, seed)
        self._arrivals = np.random.default_rng([seed, 1_000_003])
        self._jitter = random.Random(seed)
        self._sources = [
            _Source(self._runner(number, pattern, seed), layout, self._arrivals)
            for number, pattern in enumerate(workload.patterns)
        ]
        self._quotas = [RetryQuota() for _ in range(workload.callers.count)]
        self._waiting: list[tuple[int, int, _Call]] = []
        self._made = 0
        self._first_ns = workload.start * NANOSECONDS

    def _runner(self, number: int, pattern: Pattern, seed: int) -> Runner:
        path = find_path(self._layout, pattern)
        rng = np.random.default_rng([seed, number])
        if path.kind == "write":
            return Writer(self._context, path, rng)
        return (Getter if path.kind == "get" else Pager)(self._context, path, rng)

    def run(self, progress: Progress | None, stop: Stop | None) -> RunLog:
        self._load()
        log = self._log
        before = {arn: _sizes(record) for arn, record in log.resources.items()}
        for second in range(log.seconds):
            self._second(second)
            end_ns = self._first_ns + (second + 1) * NANOSECONDS
            log.sample(second, end_ns)
            if (second + 1) % MINUTE == 0 or second + 1 == log.seconds:
                log.close_minute()
                self._emulator.feed.forget_receipts()
            self._account.catch_up(end_ns)
            if progress is not None:
                progress(second + 1, log.seconds)
            if stop is not None and stop(log):
                break
        self._give_up_waiting()
        for arn, record in log.resources.items():
            record.collect = partial(_collections, record, self._store(record), before[arn])
        log.finish()
        return log

    def _load(self) -> None:
        for preload in self._layout.workload.preload:
            for source in self._sources:
                runner = source.runner
                if runner.pattern.name == preload.pattern and isinstance(runner, Writer):
                    runner.load(preload.items, preload.span)
        self._emulator.feed.fit_partitions()

    def _store(self, record: ResourceRecord) -> OrderedStore:
        for table in self._account.tables.values():
            if table.resource is record.resource:
                return table.store
            for index in table.indexes.values():
                if index.resource is record.resource:
                    return index.store
        raise AssertionError(record.name)

    # One second

    def _second(self, second: int) -> None:
        start_ns = self._first_ns + second * NANOSECONDS
        self._context.values.settle()
        for time_ns, source, rows in self._arriving(second, start_ns):
            if self._waiting and self._waiting[0][0] <= time_ns:
                self._retry_until(time_ns, second)
            self._account.catch_up(time_ns)
            self._request(source, rows, time_ns, second)
        self._retry_until(start_ns + NANOSECONDS - 1, second)

    def _arriving(self, second: int, start_ns: int) -> Iterator[tuple[int, _Source, list[Row]]]:
        """Return the requests of a second in the order they arrive."""
        requests: list[tuple[float, int, _Source, list[Row]]] = []
        for number, source in enumerate(self._sources):
            count = int(source.counts[second])
            if not count:
                continue
            rows = source.runner.rows(count)
            moments = source.moments(second, count, self._arrivals)
            many = source.actions
            if many == 1:
                requests += [
                    (moment, number, source, [row])
                    for moment, row in zip(moments, rows, strict=True)
                ]
            else:
                requests += [
                    (moment, number, source, rows[place * many : (place + 1) * many])
                    for place, moment in enumerate(moments)
                ]
        if len(self._sources) > 1:
            requests.sort(key=lambda entry: entry[:2])
        for moment, _, source, rows in requests:
            yield start_ns + int(moment * NANOSECONDS), source, rows

    def _request(self, source: _Source, rows: list[Row], time_ns: int, second: int) -> None:
        record = source.record
        record.requests += 1
        self._made += 1
        client = self._made % len(self._quotas)
        works = source.runner.works(rows, time_ns / NANOSECONDS)
        record.fan_out += len(works)
        for work in works:
            self._go(_Call(source, work, client), time_ns, second)

    def _retry_until(self, time_ns: int, second: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] <= time_ns:
            due_ns, _, call = heappop(waiting)
            self._account.catch_up(due_ns)
            self._go(call, due_ns, second)

    def _go(self, call: _Call, time_ns: int, second: int) -> None:
        """Try a call; if it is done, the page that follows comes when its answer is there."""
        call.attempts += 1
        call.source.record.attempts += 1
        reasons = call.work.attempt(second)
        if reasons:
            self._refused(call, reasons, time_ns)
            return
        self._done(call)
        following = call.work.following()
        if following is not None:
            self._wait(_Call(call.source, following, call.client), time_ns, 0.0)

    def _wait(self, call: _Call, time_ns: int, delay: float) -> None:
        """Queue a call: the one before it takes some milliseconds, and then comes the delay."""
        took = CALL_SECONDS[0] + self._jitter.random() * (CALL_SECONDS[1] - CALL_SECONDS[0])
        self._made += 1
        due_ns = time_ns + int((delay + took) * NANOSECONDS)
        heappush(self._waiting, (due_ns, self._made, call))

    def _done(self, call: _Call) -> None:
        record = call.source.record
        record.calls += 1
        record.histogram[call.attempts - 1] += 1
        quota = self._quotas[call.client]
        if call.attempts > 1:
            record.latencies.append(call.waited)
            record.latency_weights.append(1.0)
            quota.refund(call.source.policy.cost() or 1)
        elif quota.tokens < _FULL:
            quota.refund()

    def _refused(self, call: _Call, reasons: Reasons, time_ns: int) -> None:
        source = call.source
        record = source.record
        record.refusals += 1
        if call.attempts == 1:
            first = reasons[0].reason
            counts = record.throttled_by_reason
            counts[first] = counts.get(first, 0.0) + 1
            if self._log.first_throttle is None:
                self._log.first_throttle = (time_ns - self._first_ns) / NANOSECONDS
        policy = source.policy
        if (
            call.attempts >= policy.attempts
            or not policy.is_retryable(source.runner.error_code(reasons))
            or not self._quotas[call.client].take(policy.cost())
        ):
            self._failed(call)
            return
        delay = policy.delay(call.attempts, self._jitter)
        call.waited += delay
        self._wait(call, time_ns, delay)

    def _failed(self, call: _Call) -> None:
        record = call.source.record
        record.calls += 1
        record.failed += 1
        record.histogram[call.attempts - 1] += 1

    def _give_up_waiting(self) -> None:
        """Count the calls that the end of the run finds waiting, as far as they came."""
        for _, _, call in self._waiting:
            if not call.attempts:
                continue  # a page that nobody came to ask for
            call.source.record.calls += 1
            call.source.record.histogram[call.attempts - 1] += 1


_FULL = RetryQuota().tokens


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
