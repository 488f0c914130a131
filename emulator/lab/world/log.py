"""The log of one world, written while it is played."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from emulator.capacity import READ, WRITE
from emulator.capacity.traffic import WEIGHTS
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import (
    MINUTE,
    MOST_CELLS,
    Cell,
    KeyTally,
    PatternRecord,
    ResourceRecord,
    RunLog,
    step_of,
)
from emulator.lab.world.admission import ColumnRow
from emulator.lab.world.families import Columns
from emulator.lab.world.limits import AXES, WorldBucket
from emulator.lab.world.rows import WorldRow
from emulator.lab.world.run import Run
from emulator.service.limits import PARTITION_UNITS

#: The only world that is played.
_ONE = np.zeros(1, dtype=np.int64)
#: What stands for a backlog among the axes of reserves.
_BACKLOG = 2
#: Keys of a group that a report may name.
_EXAMPLES = 10
#: Calls that are none.
_LEAST = 1e-9
#: A share of calls that is rounding.
_IN_STEP = 1e-3


class _Keys:
    """The units asked of the keys of one family, while they are the same.

    Attributes:
        units: Consumed, refused and offered, by column.
        calls: First attempts, by column.
        written: Those of them that write.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.units = np.zeros((3, len(columns)))
        self.calls = np.zeros(len(columns))
        self.written = 0.0

    def write(self, record: ResourceRecord) -> None:
        """Add what was asked for to the record of the resource."""
        columns, keys = self._columns, len(self._columns.keys)
        for text, own in zip(columns.keys, self.units[:, :keys].T.tolist(), strict=True):
            tally = record.key(" / ".join(text))
            tally.consumed += own[0]
            tally.throttled += own[1]
            tally.offered += own[2]
        sizes, calls = columns.sizes, self.calls[keys:]
        for group, own in enumerate(self.units[:, keys:].T.tolist()):
            size = float(sizes[group])
            # Of keys that are asked for at random, some are asked several times and some never.
            if size == np.inf:
                record.new_written += self.written
                record.new_read += float(calls[group]) - self.written
            used = size if size == np.inf else -size * np.expm1(-calls[group] / size)
            names = [" / ".join(key) for key in columns.some_of(group, _EXAMPLES)]
            record.add_group(used, KeyTally(*own), names)


class LogWriter:
    """Writes the log of the only world that is played.

    Args:
        log: Where to.
        run: The run.
    """

    def __init__(self, log: RunLog, run: Run) -> None:
        self._log, self._run = log, run
        plan = run.plan
        log.cell = max(MINUTE, step_of(plan.workload.duration, MOST_CELLS))
        self._records = [log.record_of(*layout) for layout in plan.context.resources]
        self._patterns = [
            PatternRecord(model.pattern, self._records[model.resource].name)
            for model in plan.models
        ]
        #: By pattern, calls that were answered; none of Scans.
        self._answered = [0.0] * len(self._patterns)
        log.patterns.update((record.pattern.name, record) for record in self._patterns)
        #: By resource and the columns of a family, what its keys were asked for.
        self._keys: dict[tuple[int, Columns], _Keys] = {}
        #: By resource, and axis of a reserve or ``_BACKLOG``: seconds, and what there was then.
        self._levels: dict[tuple[int, int], list[tuple[int, float]]] = {}
        #: By resource and cell of time, by partition: units given, refused, and asked for first.
        self._cells: list[dict[int, dict[int, Floats]]] = [{} for _ in self._records]
        #: By column and row, units refused in the present stretch.
        self._refused: Annotated[Floats, "column", "row"] = np.zeros((0, 0))
        self._note_levels(0)

    # Points of time

    def span(
        self,
        first: int,
        last: int,
        accepted: WorldRow,
        applied: WorldBucket,
        refused: ColumnRow,
        delayed: WorldBucket,
    ) -> None:
        """Note seconds that were alike, with what happened in one of them (``Watch``)."""
        table, count = self._run.routing.table, self._run.state.numbers.count
        seconds = last - first
        consumed = (table.metered(accepted, _ONE, count) + applied)[0] * seconds
        lost = np.bincount(table.buckets.ravel(), refused.ravel(), count) + delayed[0]
        lost += self._shut_out(refused)
        if self._refused.shape != refused.shape:
            self._refused = np.zeros_like(refused)
        self._refused += refused * seconds
        self._add(first, last, consumed, lost * seconds, np.diff(self._edges(first, last)))

    def _shut_out(self, refused: ColumnRow) -> Annotated[Floats, "bucket"]:
        """Return the units that refused writes would have brought to closed indexes."""
        state, table = self._run.state, self._run.routing.table
        found = np.zeros(state.numbers.count)
        for queue in state.queues:
            if queue.is_closed[0]:
                gate = table.buckets == state.numbers.gates[queue.table]
                calls = np.where(gate, refused, 0.0).sum(axis=0)[None]
                partitions, _ = queue.buckets(state.numbers)
                for part in queue.entering:
                    found[partitions] += part.of(calls, table.shares, _ONE)[0]
        return found

    def calm(self, first: int, last: int, accepted: WorldRow) -> None:
        """Note seconds that passed in closed form, with the calls of all of them."""
        run = self._run
        table, count = run.routing.table, run.state.numbers.count
        edges = self._edges(first, last)
        for rows in table.patterns:
            own = np.zeros_like(accepted)
            own[:, rows.all] = accepted[:, rows.all]
            requests = run.plan.context.requests[rows.model.pattern.name]
            consumed = table.metered(own, _ONE, count)[0] + run.entering(own, _ONE)[0]
            self._add(first, last, consumed, np.zeros(count), requests.shares(edges))

    def _edges(self, first: int, last: int) -> Integers:
        """Return the seconds at which points begin and end, between two."""
        step = self._log.step
        inner = np.arange(first // step + 1, -(-last // step)) * step
        return np.concatenate([[first], inner, [last]])

    def _add(
        self, first: int, last: int, consumed: Floats, throttled: Floats, weights: Floats
    ) -> None:
        """Add units of buckets to the points between two seconds, by weight."""
        run, step = self._run, self._log.step
        total = float(weights.sum())
        parts = weights / total if total else np.full(len(weights), 1 / len(weights))
        points = range(first // step, first // step + len(parts))
        for number, record in enumerate(self._records):
            for axis in AXES:
                own = run.state.numbers.partitions(number, axis)
                given, lost = float(consumed[own].sum()), float(throttled[own].sum())
                for point, part in zip(points, parts.tolist(), strict=True):
                    record.consumed[axis][point] += given * part
                    record.throttled[axis][point] += lost * part
        self._note_limits(points)
        self._note_levels(last)
        self._note_cells(first, last, consumed, throttled, 0)

    def _note_limits(self, points: range) -> None:
        """Note what tables and indexes may use in a second."""
        state = self._run.state
        for number, record in enumerate(self._records):
            meter, throughput = record.resource.meter, record.resource.throughput
            for axis in AXES:
                above = state.numbers.above[number, axis]
                rate = len(meter.partitions) * float(PARTITION_UNITS[axis])
                if not throughput.on_demand:
                    rate = float(throughput.read if axis == READ else throughput.write)
                elif above:
                    rate = min(rate, *(float(state.tokens.rates[0, own]) for own in above))
                for point in points:
                    record.provisioned[axis][point] = rate

    def _note_levels(self, second: int) -> None:
        """Note what reserves hold at a second, and what waits for indexes."""
        state = self._run.state
        for number, record in enumerate(self._records):
            for axis in AXES:
                if record.resource.meter.own[axis] is not None:
                    bucket = state.numbers.above[number, axis][0]
                    own = self._levels.setdefault((number, axis), [])
                    own.append((second, float(state.tokens.burst[0, bucket])))
        for queue in state.queues:
            own = self._levels.setdefault((queue.resource, _BACKLOG), [])
            own.append((second, float(queue.backlog[0])))

    def _write_levels(self) -> None:
        """Write reserves and backlogs at the end of every point, even in between."""
        for (number, kind), noted in self._levels.items():
            record, step = self._records[number], self._log.step
            series = record.backlog if kind == _BACKLOG else record.burst[kind]
            ends = np.minimum((np.arange(len(series)) + 1) * step, self._log.seconds)
            times, values = np.asarray(noted).T
            series[:] = np.interp(ends, times, values).tolist()

    def _note_cells(self, first: int, last: int, given: Floats, lost: Floats, column: int) -> None:
        """Add units of buckets to the cells of the partitions that are there.

        Args:
            first: The first second.
            last: The second after the last.
            given: By bucket, what is added to the two figures from ``column`` on, by axis.
            lost: And to the two after these.
            column: 0 for what is served and refused, 4 for what first attempts ask for.
        """
        run, each = self._run, self._log.cell
        for number, cells in enumerate(self._cells):
            ids = run.state.slots[number].ids(0)
            own = [run.state.numbers.partitions(number, axis) for axis in AXES]
            amounts = np.stack([*(given[part] for part in own), *(lost[part] for part in own)])
            for cell in range(first // each, -(-last // each)):
                part = (min(last, (cell + 1) * each) - max(first, cell * each)) / (last - first)
                found = cells.setdefault(cell, {})
                for partition, slot in ids.items():
                    known = found.setdefault(partition, np.zeros(8))
                    known[column : column + 4] += amounts[:, slot] * part

    # Calls

    def count(self, first: int, last: int, arrived: WorldRow) -> None:
        """Note the calls that came between two seconds."""
        table, count = self._run.routing.table, self._run.state.numbers.count
        asked = table.metered(arrived, _ONE, count) + self._run.entering(arrived, _ONE)
        self._note_cells(first, last, asked[0], np.zeros(count), 4)

    def stretch(self, accepted: WorldRow, arrived: WorldRow) -> None:
        """Note the end of a stretch, with the calls of its rows."""
        routing = self._run.routing
        if self._refused.shape != routing.table.buckets.shape:
            self._refused = np.zeros(routing.table.buckets.shape)
        for number, record in enumerate(self._patterns):
            rows = routing.table.patterns[number]
            if not rows.model.placements:
                self._note_scan(number, record, accepted)
                continue
            for at, placement in enumerate(rows.model.placements):
                given, asked = (routing.by_column(number, at, own) for own in (accepted, arrived))
                each = routing.units_by_column(number, at) * rows.model.actions
                record.consume(
                    self._records[placement.resource].name,
                    placement.axis,
                    float((given * each).sum()),
                )
                lost = np.zeros_like(given)
                if at in rows.asked:
                    column = rows.partition_column(at)
                    lost = routing.by_column(number, at, self._refused[column][None])
                self._note_keys(number, at, np.stack([given * each, lost, asked * each]), asked)
                if at == 0:
                    self._answered[number] += float(given.sum())
                    read = routing.cells(number, given) * rows.model.actions
                    price = routing.price(number)
                    record.evaluated_bytes += float((read * price.evaluated[0]).sum())
                    record.filtered_bytes += float((read * price.filtered[0]).sum())
        self._refused = np.zeros_like(self._refused)

    def _note_scan(self, number: int, record: PatternRecord, accepted: WorldRow) -> None:
        rows, price = self._run.routing.table.patterns[number], self._run.routing.price(number)
        own = accepted[0, rows.all]
        units = self._run.routing.table.units[rows.partition_column(0), 0, rows.all]
        metering = self._run.routing.table.metering[0, rows.all]
        record.consume(
            self._records[rows.model.resource].name, READ, float((own * units * metering).sum())
        )
        record.evaluated_bytes += float((own * price.evaluated[0]).sum())
        record.filtered_bytes += float((own * price.filtered[0]).sum())

    def _note_keys(self, number: int, at: int, units: Floats, calls: Floats) -> None:
        """Note the units of the keys of a pattern: given, refused and asked for."""
        columns = self._run.routing.columns(number)[at]
        placement = self._run.routing.table.patterns[number].model.placements[at]
        known = self._keys.setdefault((placement.resource, columns), _Keys(columns))
        units[2] *= WEIGHTS[placement.axis]
        known.units += units
        known.calls += calls
        known.written += float(calls.sum()) if placement.axis == WRITE else 0.0

    # The end

    def finish(self) -> RunLog:
        """Write down the sums of the run."""
        run, log = self._run, self._log
        for (resource, _), keys in self._keys.items():
            keys.write(self._records[resource])
        left = run.state.waiting.of_rows(slice(0, run.routing.table.shares.shape[1]))
        for number, record in enumerate(self._patterns):
            rows = run.routing.table.patterns[number]
            self._note_calls(number, record, left[:, rows.all].sum(axis=1))
        self._write_levels()
        first = float(run.tally.first_throttle[0])
        log.first_throttle = first if np.isfinite(first) else None
        last = float(run.tally.last_throttle[0])
        log.last_throttle = last if np.isfinite(last) else None
        for queue in run.state.queues:
            index = self._records[queue.resource]
            closed = float(queue.closed_at[0])
            index.closed_at = closed if np.isfinite(closed) else None
            if queue.reason[0] >= 0:
                index.waiting_reason = run.reason_names[queue.reason[0]]
        for number, own in enumerate(self._records):
            self._write_cells(own, self._cells[number], log.cell)
            run.routing.report_contents(number, 0)
            own.collect = partial(run.routing.collections, number, 0)
        log.finish()
        return log

    @staticmethod
    def _write_cells(
        record: ResourceRecord, cells: dict[int, dict[int, Floats]], each: int
    ) -> None:
        for cell in sorted(cells):
            minute: dict[int, Cell] = {}
            offered: dict[int, float] = {}
            for partition, own in cells[cell].items():
                read, write, lost_read, lost_write, asked_read, asked_write, _, _ = own.tolist()
                minute[partition] = read, write, lost_read, lost_write
                offered[partition] = asked_read * WEIGHTS[0] + asked_write * WEIGHTS[1]
            record.minutes.append(minute)
            record.offered.append(offered)
            end = (cell + 1) * each
            there = [own for own in record.spans.values() if own.born <= end]
            living = [own for own in there if own.died is None or own.died > end]
            record.partition_counts.append(len(living))

    def _note_calls(self, number: int, record: PatternRecord, left: Floats) -> None:
        """Note what became of the calls of a pattern.

        Args:
            number: The pattern.
            record: Its record.
            left: By retry, the calls that wait for it at the end.
        """
        tally = self._run.tally
        refused, retried = tally.refused[:, 0, number], tally.retried[:, 0, number]
        begun_anew, sent = tally.begun_anew[:, 0, number], float(tally.arrived[0, number])
        attempts = np.concatenate([[sent], retried - left])
        attempts[1:2] += begun_anew.sum()
        answered = np.maximum(attempts - refused, 0.0)
        failed = np.maximum(refused - begun_anew - np.concatenate([retried, [0.0]]), 0.0)
        record.requests = float(tally.requests[0, number])
        record.fan_out = record.calls = sent
        # What is sent again at once finds nothing yet that would let it pass.
        record.refusals = float(refused.sum() + begun_anew.sum())
        record.attempts = float(attempts.sum() + begun_anew.sum())
        self._in_step(record, self._answered[number])
        record.failed = float(failed.sum())
        record.waiting = float(left.sum())
        for reason, calls in enumerate(tally.first_refused[0, number].tolist()):
            if calls > 0:
                record.throttled_by_reason[self._run.reason_names[reason]] = calls
        waited = 0.0
        delays = [0.0, *self._run.clients.times[number].waits]
        for attempt, delay in enumerate(delays):
            waited += delay
            waits = float(left[attempt]) if attempt < len(left) else 0.0
            at = min(attempt, len(record.histogram) - 1)
            record.histogram[at] += float(answered[attempt] + failed[attempt]) + waits
            record.failed_histogram[at] += float(failed[attempt])
            if attempt and answered[attempt] > _LEAST:
                longest = self._run.plan.workload.callers.timeout or np.inf
                record.latencies.append(min(waited, longest))
                record.latency_weights.append(float(answered[attempt]))

    @staticmethod
    def _in_step(record: PatternRecord, answered: float) -> None:
        """Let units and bytes be those of the calls that were answered.

        Leaps over seconds that are nearly alike count calls and units by themselves.
        """
        share = (record.attempts - record.refusals) / answered if answered > _LEAST else 1.0
        if abs(share - 1.0) < _IN_STEP:
            return
        record.units = {
            name: [units * share for units in taken] for name, taken in record.units.items()
        }
        record.evaluated_bytes *= share
        record.filtered_bytes *= share
