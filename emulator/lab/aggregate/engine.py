"""The loop of the aggregate engine: stretches, seconds, minutes.

Its cost grows with keys and seconds and not with requests. The emulator underneath is real and
empty: its buckets, partitions, growth, heat, splits and scaling do their own work; only the
requests are not made one by one. What differs from the exact engine, and how much, is said in
``docs/explanation/lab.md`` and held by a property test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.clock import NANOSECONDS
from emulator.lab.aggregate.bucket_shares import BucketTable, fit_shares
from emulator.lab.aggregate.engine_feed import EngineFeed
from emulator.lab.aggregate.index_queues import IndexQueues
from emulator.lab.aggregate.pattern_model import PatternModel, RunContext
from emulator.lab.aggregate.pattern_state import Grouping, PatternState
from emulator.lab.aggregate.read_model import GetModel, QueryModel, ScanModel
from emulator.lab.aggregate.retry_tokens import RetryTokens
from emulator.lab.aggregate.stretch import Stretch
from emulator.lab.aggregate.write_model import WriteModel
from emulator.lab.inputs import arrival_rates
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.outcome.run_log import MINUTE, Progress, RunLog, Stop
from emulator.lab.planning.access_paths import find_path
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

_MODELS: Final[dict[str, type[PatternModel]]] = {
    "write": WriteModel,
    "get": GetModel,
    "query": QueryModel,
    "scan": ScanModel,
}


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RunLog:
    """Run a workload on a design, in numbers."""
    return _Run(layout, seed, settings or Settings()).run(progress, stop)


@dataclass
class _Arrangement:
    """Key groups over buckets, until a key changes, a partition splits or capacity scales.

    Attributes:
        buckets: The buckets by number.
        groupings: For each pattern its call groups.
        changes: Splits and scalings until then.
        shares: The share of attempts that each bucket let pass in the last crowded second.
        consumed: Units that each bucket gave in the running minute, as they are metered.
        refused: Units that were refused for its sake, or wait for an index.
        demand: Units that reached each partition (CAP2-2).
    """

    buckets: BucketTable
    groupings: list[Grouping]
    changes: int
    shares: Floats
    consumed: Floats
    refused: Floats
    demand: Floats


@dataclass(frozen=True)
class _Second:
    """What happened in a second.

    Attributes:
        accepted: Calls by call group.
        taken: What each bucket gave.
        applied: Of that what index queues took.
        refused: Units refused for each bucket's sake, or waiting for an index.
        hot: Units that partitions themselves refused.
    """

    accepted: Floats
    taken: Floats
    applied: Floats
    refused: Floats
    hot: Floats


class _Run:
    """One run."""

    def __init__(self, layout: Layout, seed: int, settings: Settings) -> None:
        self._workload = layout.workload
        self._emulator = RunEmulator(layout, settings)
        self._log = RunLog(self._emulator)
        self._context = RunContext(self._emulator, self._log, seed)
        self._feed = EngineFeed(self._context)
        self._rng = np.random.default_rng([seed, 1_000_003])
        patterns = sorted(self._workload.patterns, key=lambda pattern: not pattern.is_write)
        paths = [find_path(layout, pattern) for pattern in patterns]
        models = [_MODELS[path.kind](self._context, path) for path in paths]
        self._states = [PatternState(model, self._requests(model.pattern)) for model in models]
        self._tokens = RetryTokens(self._workload.callers.count)
        self._queues = IndexQueues(self._log)
        self._load()
        self._arrangement = self._arrange(None)

    def _requests(self, pattern: Pattern) -> Integers:
        """Return how many requests of a pattern arrive in each second."""
        rates = self._workload.rates(pattern)
        return arrival_rates.counts(rates, pattern.arrivals, self._rng)

    def _load(self) -> None:
        """Store what is there before the run, and give the tables partitions for it."""
        models = [state.model for state in self._states]
        for model in models:
            model.refresh()
        for preload in self._workload.preload:
            for model in models:
                if model.pattern.name == preload.pattern and isinstance(model, WriteModel):
                    model.load(preload.items, preload.span)
        for table in self._context.layout.tables:
            for index in (None, *(index.name for index in table.indexes)):
                self._context.population(table, index).settle()
        self._feed.report_contents()
        self._emulator.feed.fit_partitions()

    def run(self, progress: Progress | None, stop: Stop | None) -> RunLog:
        log = self._log
        first = 0
        while first < log.seconds:
            last = self._end_of_stretch(first)
            self._run_stretch(self._begin_stretch(first, last), first, last)
            if last % MINUTE == 0 or last == log.seconds:
                self._close_minute(last)
            else:
                self._emulator.feed.advance(self._time_ns(last))
            if progress is not None:
                progress(last, log.seconds)
            if stop is not None and stop(log):
                break
            first = last
        self._finish()
        return log

    # Stretches

    def _end_of_stretch(self, first: int) -> int:
        """Return the end of a stretch in which no key and hardly any price changes.

        That is a minute at most, and less while what is read fills quickly: in the beginning,
        and when a key that has a time begins.
        """
        age = first
        last = min(self._log.seconds, (first // MINUTE + 1) * MINUTE)
        now = self._workload.start + first
        for state in self._states:
            for placement in state.model.placements:
                if not placement.step or placement.is_spread:
                    continue
                step = max(1, int(placement.step))
                if step < MINUTE:
                    last = min(last, first + step - now % step)
                if placement.axis == READ:
                    age = min(age, now % step)
        for record in self._log.resources.values():
            due = record.resource.heat.next_due_s - self._workload.start
            if due > first:
                last = int(min(last, due))
        return max(first + 1, min(last, first + max(1, age // 8)))

    def _begin_stretch(self, first: int, last: int) -> Stretch:
        self._context.elapsed, self._context.until = float(first), float(last)
        changed = [state.model.refresh() for state in self._states]
        if any(changed) or self._changes() != self._arrangement.changes:
            self._arrangement = self._arrange(self._arrangement)
        arrangement = self._arrangement
        return Stretch.of(self._states, arrangement.groupings, arrangement.buckets, self._queues)

    def _changes(self) -> int:
        return len(self._log.splits) + len(self._log.scalings)

    def _arrange(self, old: _Arrangement | None) -> _Arrangement:
        """Number the buckets, and group the key groups by the partitions that they meet."""
        buckets = BucketTable(list(self._log.resources.values()))
        groupings = []
        for number, state in enumerate(self._states):
            state.model.refresh()
            grouping = Grouping.of(state.model)
            state.regroup(None if old is None else old.groupings[number], grouping)
            groupings.append(grouping)
        self._queues.follow_splits()
        count = len(buckets)
        amounts = [np.zeros(count) for _ in range(3)]
        if old is not None:  # keys change and partitions split within a minute
            before = (old.consumed, old.refused, old.demand)
            amounts = [buckets.carry(old.buckets, amount) for amount in before]
        return _Arrangement(buckets, groupings, self._changes(), np.ones(count), *amounts)

    def _run_stretch(self, stretch: Stretch, first: int, last: int) -> None:
        arriving = stretch.arrivals(first, last, self._rng)
        loads, arms = (taken.loads_by_second(arriving) for taken in (stretch.groups, stretch.arms))
        if self._is_calm(stretch, loads + arms):
            self._all_pass(stretch, arriving.sum(axis=0), None)
            none = np.zeros(len(stretch.buckets))
            seconds = [
                _Second(calls, taken, applied, refused=none, hot=none)
                for calls, taken, applied in zip(arriving, loads + arms, arms, strict=True)
            ]
            for number, second in enumerate(seconds, first):
                self._end_second(number, second.taken)
        else:
            seconds = [
                self._run_second(stretch, second, arriving[second - first], loads[second - first])
                for second in range(first, last)
            ]
        self._log_seconds(stretch, first, last, seconds)
        if last % MINUTE == 0:
            moment = float(self._workload.start + last)
            self._feed.report_heat(stretch, self._arrangement.demand, moment)
        stretch.close()

    def _log_seconds(self, stretch: Stretch, first: int, last: int, seconds: list[_Second]) -> None:
        """Add what happened to the minute's amounts and to the log."""
        arrangement = self._arrangement
        applied = np.stack([second.applied for second in seconds])
        refused = np.stack([second.refused for second in seconds])
        accepted = np.stack([second.accepted for second in seconds])
        consumed = stretch.served.loads_by_second(accepted) + applied
        arrangement.consumed += consumed.sum(axis=0)
        arrangement.refused += refused.sum(axis=0)
        arrangement.demand += sum(second.taken + second.hot for second in seconds)
        for record in self._log.resources.values():
            for axis in (READ, WRITE):
                own = stretch.buckets.partitions[record.resource.arn, axis]
                record.consumed[axis][first:last] = consumed[:, own].sum(axis=1).tolist()
                record.throttled[axis][first:last] = refused[:, own].sum(axis=1).tolist()

    # Seconds

    def _is_calm(self, stretch: Stretch, loads: Floats) -> bool:
        """Return whether nobody waits and no second of a stretch asks more than flows in."""
        return (
            stretch.buckets.is_full
            and self._queues.is_empty
            and not any(state.has_waiting for state in self._states)
            and bool((loads <= stretch.buckets.rates).all())
        )

    def _run_second(
        self, stretch: Stretch, second: int, arriving: Floats, loads: Floats
    ) -> _Second:
        """Run one second.

        Args:
            stretch: Whose second it is.
            second: Which.
            arriving: New calls by call group.
            loads: What these ask of each bucket.
        """
        buckets = stretch.buckets
        buckets.close_gates(self._queues.closed_tables(self._time_ns(second)))
        waiting = stretch.due(second)
        available = buckets.available()
        accepted = arriving
        if waiting is not None:
            accepted = arriving + waiting.sum(axis=0)
            loads = stretch.groups.loads(accepted)
        refused = hot = np.zeros(len(buckets))
        if (loads <= available).all():
            self._all_pass(stretch, arriving, waiting)
        else:
            accepted, refused, hot = self._some_pass(stretch, second, arriving, waiting, available)
            loads = stretch.groups.loads(accepted)
        end_ns = self._time_ns(second + 1)
        entering = stretch.arms.loads(accepted)
        applied, delayed = self._queues.run_second(
            buckets, entering, available - loads, second, end_ns
        )
        self._end_second(second, loads + applied)
        return _Second(accepted, loads + applied, applied, refused + delayed, hot)

    def _end_second(self, second: int, loads: Floats) -> None:
        end_ns = self._time_ns(second + 1)
        self._arrangement.buckets.take(loads, end_ns)
        self._log.sample(second, end_ns)

    def _time_ns(self, second: int) -> int:
        return (self._workload.start + second) * NANOSECONDS

    def _all_pass(self, stretch: Stretch, arriving: Floats, waiting: Floats | None) -> None:
        for pattern in stretch.patterns:
            policy, tally = pattern.model.policy, pattern.tally
            here = arriving[pattern.rows]
            tally.accepted += here
            tally.answered[0] += here.sum()
            if waiting is not None:
                retried = waiting[: pattern.state.attempts - 1, pattern.rows]
                tally.accepted += retried.sum(axis=0)
                tally.answered[1:] += retried.sum(axis=1)
                self._tokens.refund(policy, float(retried.sum()) * policy.cost())
            self._tokens.refund(policy, float(here.sum()))

    def _some_pass(
        self,
        stretch: Stretch,
        second: int,
        arriving: Floats,
        waiting: Floats | None,
        available: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Let pass what the buckets have.

        Returns:
            Calls accepted by call group; by bucket units refused, and those of them that the
            partition itself refused.
        """
        groups, attempts = stretch.groups, stretch.attempts
        attempts.arriving[0] = arriving
        attempts.arriving[1:] = 0.0 if waiting is None else waiting
        affordable = self._tokens.affordable(pattern.model.policy for pattern in stretch.patterns)
        shares = self._arrangement.shares = fit_shares(
            groups,
            attempts,
            affordable=affordable,
            available=available,
            start=self._arrangement.shares,
        )
        open_shares = groups.open_shares(shares)
        passed = groups.passed(open_shares)
        first_refusals = groups.first_refusals(open_shares, passed)
        again = groups.again(open_shares, passed) * affordable
        by_number = attempts.by_number(again)
        total = by_number.sum(axis=0)
        refused = stretch.refuse(total, groups.short_shares(open_shares))
        hot = stretch.heat(arriving, open_shares)
        self._tokens.begin_second()
        for pattern in stretch.patterns:
            rows, tally = pattern.rows, pattern.tally
            before = tally.answered.copy()
            waits = pattern.state.settle(
                tally, second, by_number[:, rows], passed[rows], again[rows]
            )
            self._tokens.pay(pattern.model.policy, tally.answered - before, waits)
            tally.first_refused += arriving[rows, None] * first_refusals[rows]
        if self._log.first_throttle is None and float((arriving * (1 - passed)).sum()) > 0.5:
            self._log.first_throttle = float(second)
        return total * passed, refused, hot

    # Minutes

    def _close_minute(self, second: int) -> None:
        """Hand the minute to the engine: it grows, splits and scales by its own rules."""
        arrangement = self._arrangement
        end_ns = self._time_ns(second)
        self._feed.report_minute(
            arrangement.buckets,
            arrangement.consumed,
            arrangement.refused,
            arrangement.demand,
            end_ns,
        )
        for amounts in (arrangement.consumed, arrangement.refused, arrangement.demand):
            amounts[:] = 0.0
        self._feed.report_contents()

    def _finish(self) -> None:
        for state in self._states:
            state.flush_keys()
            record = state.model.record
            for retry, waiting in enumerate(state.waiting_by_retry()):
                record.calls += waiting
                record.histogram[retry] += waiting
        for table in self._context.layout.tables:
            for index in (None, *table.global_indexes):
                population = self._context.population(table, None if index is None else index.name)
                self._log.record_of(table, index).collect = population.collections
        self._log.finish()
