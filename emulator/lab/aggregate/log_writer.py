"""The log of one world, written while it is played."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.lab.aggregate.admission import Admitted, Crowd
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.call_rows import CallRows, PatternColumns
from emulator.lab.aggregate.client_queues import LEAST, ClientQueue
from emulator.lab.aggregate.index_queues import IndexQueues
from emulator.lab.aggregate.pattern_model import CallPrices, ModelContext, PatternKeys
from emulator.lab.aggregate.retry_times import RetryTimes
from emulator.lab.aggregate.tally import Tally
from emulator.lab.inputs.distributions import Floats, sums
from emulator.lab.outcome.run_log import KeyColumns, PatternRecord, ResourceRecord, RunLog


class _KeyUnits:
    """What the keys of one pattern consumed, were refused and offered, while they are the same."""

    def __init__(self, keys: PatternKeys) -> None:
        self.keys = keys
        count = len(keys.groups)
        self.consumed = [np.zeros(count) for _ in keys.placed]
        self.throttled = [np.zeros(count) for _ in keys.placed]
        self.offered = [np.zeros(count) for _ in keys.placed]


class LogWriter:
    """Writes the log of the only world that is played.

    Args:
        log: Where to.
        context: What the models share.
        rows: The call groups.
        buckets: The buckets.
        queues: The queues of indexes.
        retry_times: Of each pattern.
    """

    def __init__(
        self,
        log: RunLog,
        context: ModelContext,
        rows: CallRows,
        buckets: Buckets,
        queues: IndexQueues,
        retry_times: Sequence[RetryTimes],
    ) -> None:
        self._log = log
        self._retry_times = retry_times
        self._context = context
        self._rows = rows
        self._buckets = buckets
        self._queues = queues
        self._records = [log.record_of(table, index) for table, index in context.resources]
        self._patterns = [
            PatternRecord(own.model.pattern, self._records[own.model.resource].name)
            for own in rows.patterns
        ]
        for record in self._patterns:
            log.patterns[record.pattern.name] = record
        self._keys: list[_KeyUnits | None] = [None] * len(rows.patterns)
        #: By pattern, the calls that were accepted, those from before the run with them.
        self._accepted = [0.0] * len(rows.patterns)
        #: How the last second was answered, and the units refused in it.
        self._last: tuple[Admitted, tuple[Floats, Floats]] | None = None
        #: By column and row, units refused in the present stretch.
        self._refused_units = np.zeros_like(rows.units)

    # Seconds

    def note_refusals(self, crowd: Crowd, admitted: Admitted) -> Floats:
        """Count the units of refused attempts where a limit of their resource was short.

        Returns:
            The units by bucket.
        """
        if self._last is None or self._last[0] is not admitted:
            self._last = admitted, self._refusals(crowd, admitted)
        by_row, by_bucket = self._last[1]
        self._refused_units += by_row
        return by_bucket

    def _refusals(self, crowd: Crowd, admitted: Admitted) -> tuple[Floats, Floats]:
        """Return the units that are refused, by column and row, and by bucket."""
        rows, total = self._rows, admitted.total
        by_row = np.zeros_like(rows.units)
        open_shares = np.ones((len(rows.units), len(crowd.rows)))
        open_shares[crowd.columns] = admitted.open_shares
        refused = np.zeros(len(self._buckets))
        patterns = rows.pattern[crowd.rows]
        for number, own in enumerate(rows.patterns):
            is_own = patterns == number
            if not is_own.any():
                continue
            at = crowd.rows[is_own]
            for column, others in _owned_columns(own):
                short = 1 - open_shares[np.ix_(others, is_own)].prod(axis=0)
                units = total[is_own] * short * rows.units[column, at]
                by_row[column, at] += units
                refused += sums(rows.buckets[column, at], units, len(refused))
        return by_row, refused

    def note_second(self, second: int, end_ns: int, metered: Floats, refused: Floats) -> None:
        """Note what partitions gave and refused in a second, and the limits at its end."""
        buckets = self._buckets
        consumed = buckets.units_by_axis(metered)[0]
        throttled = buckets.units_by_axis(refused)[0]
        for number, record in enumerate(self._records):
            for axis in (READ, WRITE):
                record.consumed[axis][second] = float(consumed[number, axis])
                record.throttled[axis][second] = float(throttled[number, axis])
                self._show_tokens(number, record, axis, end_ns)
        self._log.sample(second, end_ns)
        for queue in self._queues.queues:
            self._records[queue.resource].backlog[second] = queue.backlog(0, second)

    def _show_tokens(self, number: int, record: ResourceRecord, axis: int, end_ns: int) -> None:
        """Let the engine's own bucket hold what the arrays say."""
        meter = record.resource.meter
        own = meter.own[axis]
        if own is not None:
            at = self._buckets.above(0, number, axis)[meter.limits[axis].index(own)]
            base, burst = float(self._buckets.base[at]), float(self._buckets.burst[at])
            self._log.emulator.feed.set_tokens(own, base, burst, end_ns)

    # Stretches

    def begin_stretch(self) -> None:
        """Count anew, in rows that may be others."""
        self._refused_units = np.zeros_like(self._rows.units)

    def note_offered(self, arrived: Floats) -> None:
        """Note what so many first attempts by row asked of each partition."""
        buckets = self._buckets
        units = self._rows.metered(arrived) + self._rows.arm_loads(arrived)
        for number, record in enumerate(self._records):
            slots = buckets.slots(0, number)
            for axis in (READ, WRITE):
                own = units[buckets.of_slots(0, number, axis, slots)].tolist()
                for partition, asked in zip(record.resource.partitions, own, strict=True):
                    if asked:
                        record.offer(partition.id, axis, asked)

    def note_stretch(
        self, pattern: int, accepted: Floats, arrived: Floats, prices: CallPrices
    ) -> None:
        """Note what the calls of a pattern, by key group, have asked for, read and consumed."""
        rows, record = self._rows, self._patterns[pattern]
        grouping = rows.groupings[0][pattern]
        model = rows.patterns[pattern].model
        keys = self._keys[pattern]
        if keys is None or keys.keys is not grouping.keys:
            self._flush(pattern)
            keys = self._keys[pattern] = _KeyUnits(grouping.keys)
        key_shares = grouping.key_shares(prices.calls)
        own_rows = rows.rows(0, pattern)
        for number, placed in enumerate(grouping.keys.placed):
            resource = self._records[placed.placement.resource]
            units = accepted * prices.units[number] * model.actions
            record.consume(resource.name, placed.placement.axis, float(units.sum()))
            keys.consumed[number] += units
            keys.offered[number] += arrived * prices.units[number] * model.actions
            for column, limit in enumerate(rows.patterns[pattern].met):
                if limit.is_partition and limit.placements == (number,):
                    refused = self._refused_units[column, own_rows]
                    keys.throttled[number] += refused[grouping.rows] * key_shares
        self._accepted[pattern] += float(accepted.sum())
        read = accepted * model.actions
        record.evaluated_bytes += float((read * prices.evaluated).sum())
        record.filtered_bytes += float((read * prices.filtered).sum())

    def _flush(self, pattern: int) -> None:
        """Write down what keys consumed."""
        units = self._keys[pattern]
        if units is None or self._rows.patterns[pattern].model.path.kind == "scan":
            return
        for number, placed in enumerate(units.keys.placed):
            placement = placed.placement
            offered = units.offered[number] * WEIGHTS[placement.axis]
            columns = np.asarray([units.consumed[number], units.throttled[number], offered])
            record = self._records[placement.resource]
            record.add_keys(KeyColumns(placed.texts, columns), is_new=placement.is_spread)

    # Minutes and the end

    def close_minute(self) -> None:
        """Note the running minute; to be called before the engine closes it."""
        self._log.close_minute()

    def finish(self, tally: Tally, left: Floats, queues: ClientQueue | None) -> RunLog:
        """Write down the sums of the run.

        Args:
            tally: What became of the calls.
            left: By number of the retry and pattern, how many calls wait for it.
            queues: What waits in the clients, if anything may.
        """
        log = self._log
        for number, record in enumerate(self._patterns):
            self._flush(number)
            self._note_calls(number, record, tally, left[:, number], queues)
        if np.isfinite(tally.first_throttle[0]):
            log.first_throttle = float(tally.first_throttle[0])
        for queue in self._queues.queues:
            index = self._records[queue.resource]
            index.closed_at = queue.closed_at[0]
            if queue.waiting_reason[0] >= 0:
                index.waiting_reason = self._buckets.reason_names[queue.waiting_reason[0]]
        for number, resource in enumerate(self._records):
            resource.collect = partial(self._context.collections_of, number)
        log.finish()
        return log

    def _note_calls(
        self,
        number: int,
        record: PatternRecord,
        tally: Tally,
        left: Floats,
        queues: ClientQueue | None,
    ) -> None:
        refused, retried = tally.refused[:, number], tally.retried[:, number]
        unsent = np.zeros(len(left) + 1) if queues is None else queues.left()[:, number]
        left = left + unsent[1:]
        never_sent = float(tally.never_sent[number])
        sent = tally.arrived[number] - unsent[0] - never_sent
        begun_anew = tally.begun_anew[:, number]
        attempts = np.concatenate([[sent], retried - left])
        attempts[1:2] += begun_anew.sum()
        answered = attempts - refused
        failed = refused - begun_anew - np.concatenate([retried, [0.0]])
        if queues is not None:
            # Which attempts were those of calls from before the run is known in sum only.
            answered, failed = np.maximum(answered, 0.0), np.maximum(failed, 0.0)
        record.requests = float(tally.requests[number])
        record.fan_out = float(tally.arrived[number])
        record.calls = float(sent) + never_sent
        # What is sent again at once finds nothing yet that would let it pass.
        record.attempts = float(attempts.sum() + begun_anew.sum())
        record.refusals = float(refused.sum() + begun_anew.sum())
        record.failed = float(failed.sum()) + never_sent
        record.waiting = float(left.sum())
        record.failed_histogram[0] += never_sent
        self._leave_out_earlier(number, record)
        for reason, calls in enumerate(tally.first_refused[number].tolist()):
            if calls > 0:
                record.throttled_by_reason[self._buckets.reason_names[reason]] = calls
        delays = self._retry_times[number].waits
        for attempt in range(len(delays) + 1):
            waits = float(left[attempt]) if attempt < len(left) else 0.0
            at = min(attempt, len(record.histogram) - 1)
            record.histogram[at] += float(answered[attempt] + failed[attempt]) + waits
            record.failed_histogram[at] += max(0.0, float(failed[attempt]))
        self._note_latencies(record, [0.0, *delays], answered, queues)

    def _leave_out_earlier(self, number: int, record: PatternRecord) -> None:
        """Leave out what calls from before the run consumed and read: they are not counted.

        Of tables and indexes it stays, since it was taken from them during the run.
        """
        accepted, own = self._accepted[number], record.attempts - record.refusals
        if accepted > own + LEAST:
            share = own / accepted
            record.units = {
                name: [units * share for units in taken] for name, taken in record.units.items()
            }
            record.evaluated_bytes *= share
            record.filtered_bytes *= share

    def _note_latencies(
        self,
        record: PatternRecord,
        delays: Sequence[float],
        answered: Floats,
        queues: ClientQueue | None,
    ) -> None:
        """Note how long calls waited that were answered with each of their attempts.

        Args:
            record: Where.
            delays: Before each attempt.
            answered: With each attempt, so many.
            queues: What waits in the clients, if anything may.
        """
        waits = np.zeros(1) if queues is None else queues.waits_of(record.pattern)
        waited, longest = 0.0, self._context.workload.callers.timeout or np.inf
        for attempt, (delay, calls) in enumerate(zip(delays, answered.tolist(), strict=False)):
            if attempt:
                waited += delay + (0.0 if queues is None else queues.later_wait)
            if calls <= 0:
                continue
            for wait in waits.tolist():
                if attempt or wait:
                    record.latencies.append(min(waited + wait, longest))
                    record.latency_weights.append(calls / len(waits))


def _owned_columns(own: PatternColumns) -> list[tuple[int, list[int]]]:
    """Return the columns of partitions, each with all columns of its resource."""
    return [
        (
            column,
            [
                other
                for other, shared in enumerate(own.met)
                if shared.placements[:1] == limit.placements[:1]
            ],
        )
        for column, limit in enumerate(own.met)
        if limit.is_partition
    ]
