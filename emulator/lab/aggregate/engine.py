"""The aggregate engine: the same rules on numbers of calls, second by second.

Its cost grows with keys and seconds and not with requests. The emulator underneath is real and
empty: its buckets, partitions, growth, heat, splits and scaling do their own work; only the
requests are not made one by one. What differs from the exact engine, and how much, is said in
``docs/explanation/lab.md`` and held by a property test.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import READ, throttle_error
from emulator.capacity.refusal import ACCOUNT_LIMIT, KEY_RANGE, Reason
from emulator.capacity.retries import RetryQuota
from emulator.clock import NANOSECONDS
from emulator.lab.aggregate.bucket_shares import Attempts, BucketBoard, Cells, fit, levels_of
from emulator.lab.aggregate.heat_feed import write_heat
from emulator.lab.aggregate.pattern_state import Track
from emulator.lab.aggregate.read_model import GetLane, QueryLane, ScanLane
from emulator.lab.aggregate.size_feed import hold, split_large
from emulator.lab.aggregate.write_model import Ground, Lane, WriteLane
from emulator.lab.inputs import arrival_rates
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.outcome.run_log import (
    MINUTE,
    PARTITION_RATES,
    Progress,
    Recording,
    ResourceRecord,
    Stop,
)
from emulator.lab.planning.access_paths import find
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import Stage
from emulator.service.errors import TransactionCanceledException
from emulator.settings import Settings

_LANES: Final[dict[str, type[Lane]]] = {
    "write": WriteLane,
    "get": GetLane,
    "query": QueryLane,
    "scan": ScanLane,
}
#: Less than this many calls waiting is nobody.
_NOBODY: Final = 1e-9


def run(
    layout: Layout,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Recording:
    """Run a workload on a design, in numbers."""
    return _Simulation(layout, seed, settings or Settings()).run(progress, stop)


@dataclass(slots=True)
class _Met:
    """A bucket that the calls of a track meet: its number and their units, by cell."""

    place: int
    numbers: Integers
    units: Floats
    is_partition: bool = False


class _Simulation:
    """One run."""

    def __init__(self, layout: Layout, seed: int, settings: Settings) -> None:
        workload = layout.workload
        self._stage = Stage(layout, settings)
        self._account = self._stage.account
        self._recording = Recording(self._stage)
        self._records = list(self._recording.resources.values())
        self._numbers = {id(record): number for number, record in enumerate(self._records)}
        self._ground = Ground(self._stage, self._recording, seed)
        self._rng = np.random.default_rng([seed, 1_000_003])
        patterns = sorted(workload.patterns, key=lambda one: not one.is_write)
        paths = [find(layout, pattern) for pattern in patterns]
        lanes = [_LANES[path.kind](self._ground, path) for path in paths]
        self._tracks = [Track(lane, self._arrivals(lane.pattern)) for lane in lanes]
        self._depth = max(track.attempts for track in self._tracks)
        self._first_ns = workload.start * NANOSECONDS
        self._tokens = float(RetryQuota().tokens * workload.clients)
        self._token_cap = self._tokens
        self._last_retries = 0.0
        self._changes = -1
        self._consumed: Floats = np.zeros(0)
        self._refused: Floats = np.zeros(0)
        self._load()
        self._lay()

    def _arrivals(self, pattern: Pattern) -> Integers:
        """Return how many requests of a pattern arrive in each second."""
        rates = self._stage.layout.workload.rates(pattern)
        return arrival_rates.counts(rates, pattern.arrivals, self._rng)

    # The run

    def run(self, progress: Progress | None, stop: Stop | None) -> Recording:
        recording = self._recording
        first = 0
        while first < recording.seconds:
            last = self._next_stop(first)
            self._refresh(first, last)
            self._stretch(first, last)
            if last % MINUTE == 0 or last == recording.seconds:
                self._close_minute(last)
            if progress is not None:
                progress(last, recording.seconds)
            if stop is not None and stop(recording):
                break
            first = last
        self._finish()
        return recording

    def _next_stop(self, first: int) -> int:
        """Return the end of a stretch in which no key and hardly any price changes.

        That is a minute at most, and less while what is read fills quickly: in the beginning,
        and when a key that has a time begins.
        """
        age = first
        last = min(self._recording.seconds, (first // MINUTE + 1) * MINUTE)
        now = self._stage.layout.workload.start + first
        for track in self._tracks:
            for spot in track.lane.spots:
                if not spot.step or spot.fresh:
                    continue
                step = max(1, int(spot.step))
                if step < MINUTE:
                    last = min(last, first + step - now % step)
                if spot.axis == READ:
                    age = min(age, now % step)
        return max(first + 1, min(last, first + max(1, age // 8)))

    def _load(self) -> None:
        """Store what is there before the run, and give the tables partitions for it."""
        ground = self._ground
        for track in self._tracks:
            track.lane.refresh()
        for preload in ground.workload.preload:
            for track in self._tracks:
                lane = track.lane
                if lane.pattern.name == preload.pattern and isinstance(lane, WriteLane):
                    lane.load(preload.items, preload.span)
        for table in ground.layout.tables:
            for index in (None, *(one.name for one in table.indexes)):
                ground.population(table, index).settle()
        self._hold_sizes()
        self._stage.feed.fit_partitions()

    # Laying flows over buckets

    def _refresh(self, first: int, last: int) -> None:
        self._ground.elapsed = float(first)
        self._ground.until = float(last)
        moved = [track.lane.refresh() for track in self._tracks]
        changes = len(self._recording.splits) + len(self._recording.scalings)
        if any(moved) or changes != self._changes:
            for track in self._tracks:
                track.flush_keys()
            self._lay()
        else:
            self._weigh()

    def _lay(self) -> None:
        """Number the buckets, group the flows, and lay the groups over the buckets."""
        self._changes = len(self._recording.splits) + len(self._recording.scalings)
        self._board = BucketBoard(self._records)
        self._openness = np.ones(len(self._board))
        self._consumed, self._refused = self._carried()
        for track in self._tracks:
            track.lane.refresh()
            track.lay([spot.places() for spot in track.lane.spots])
        starts = np.cumsum([0, *(track.cells for track in self._tracks)])
        self._slices = [slice(a, b) for a, b in pairwise(starts.tolist())]
        self._weigh()

    def _carried(self) -> tuple[Floats, Floats]:
        """Return the minute's units so far, by bucket; keys may change within a minute."""
        count = len(self._board)
        if len(self._consumed) == count:
            return self._consumed, self._refused
        return np.zeros(count), np.zeros(count)

    def _weigh(self) -> None:
        for track in self._tracks:
            track.lane.price()
            track.weigh()
        self._cells = self._make_cells()
        for track in self._tracks:
            track.clear(self._cells.slots)
        self._levels = levels_of(self._cells, len(self._board))
        self._attempts = Attempts(self._same_second())

    def _same_second(self) -> Floats:
        """Return for each retry and cell the chance that it comes in the second of its refusal."""
        found = np.zeros((self._depth - 1, len(self._cells)))
        for track, part in zip(self._tracks, self._slices, strict=True):
            found[: track.attempts - 1, part] = track.offsets[:, :1]
        return found

    def _make_cells(self) -> Cells:
        """Lay every track's cells over the buckets that their calls meet, one in each slot."""
        meets = [self._buckets_met(track) for track in self._tracks]
        slots = max(len(one) for one in meets)
        total = self._slices[-1].stop
        buckets = np.zeros((total, slots), dtype=np.int64)
        units = np.zeros((total, slots))
        owner = np.zeros(slots, dtype=np.int64)
        actions = np.ones(total)
        touch = np.ones((total, slots))
        for track, part, met in zip(self._tracks, self._slices, meets, strict=True):
            actions[part] = track.lane.actions
            track.part_slots = []
            for slot, one in enumerate(met):
                buckets[part, slot] = one.numbers
                units[part, slot] = one.units
                touch[part, slot] = track.lane.spots[one.place].chance
                owner[slot] = max(owner[slot], one.place)
                if one.is_partition:
                    track.part_slots.append(slot)
        patience = np.concatenate(
            [np.full(track.cells, self._retries(track, KEY_RANGE)) for track in self._tracks]
        )
        return Cells(
            buckets,
            units * actions[:, None],
            owner,
            actions,
            touch,
            patience,
            self._final(buckets),
        )

    def _buckets_met(self, track: Track) -> list[_Met]:
        """Return the buckets that a track's calls meet, in the order they are asked.

        Those above the partitions may be shared by table and indexes; they are asked once.
        """
        found: list[_Met] = []
        shared: dict[int, _Met] = {}
        for place, spot in enumerate(track.lane.spots):
            key = (self._numbers[id(spot.record)], spot.axis)
            asked = track.cell_units[place]
            for number in self._board.above[key]:
                if number in shared:
                    shared[number].units = shared[number].units + asked
                else:
                    shared[number] = _Met(place, np.full(track.cells, number), asked)
                    found.append(shared[number])
            own = self._board.partitions[key][track.parts[place]]
            found.append(_Met(place, own, asked, is_partition=True))
        return found

    def _retries(self, track: Track, limit: str) -> float:
        """Return 1 if the policy tries again after such a refusal, else 0."""
        lane = track.lane
        if lane.pattern.is_transaction:
            return float(lane.policy.is_retryable(TransactionCanceledException.__name__))
        on_demand = lane.spots[0].record.resource.throughput.on_demand
        reason = Reason(f"TableWrite{limit}", "")
        return float(lane.policy.is_retryable(throttle_error((reason,), on_demand=on_demand).code))

    def _final(self, buckets: Integers) -> NDArray[np.bool_]:
        """Return for each cell and slot whether its refusal is final for the policy."""
        quotas = np.asarray([reason.endswith(ACCOUNT_LIMIT) for reason in self._board.reasons])
        found = quotas[buckets]
        for track, part in zip(self._tracks, self._slices, strict=True):
            if self._retries(track, ACCOUNT_LIMIT):
                found[part] = False
        return found

    # Seconds

    def _stretch(self, first: int, last: int) -> None:
        """Run the seconds of a stretch in which no key and no price changes."""
        arriving = np.concatenate(
            [track.arrivals(first, last, self._rng) for track in self._tracks], axis=1
        )
        for track, part in zip(self._tracks, self._slices, strict=True):
            record = track.lane.record
            requests = float(track.counts[first:last].sum())
            record.requests += requests
            fans = float(arriving[:, part].sum())
            record.fan_out += fans
        loads = self._cells.loads_by_second(arriving, len(self._board))
        refused = np.zeros_like(loads)
        if self._is_calm(loads):
            self._all_pass(arriving.sum(axis=0), None)
            for second in range(first, last):
                self._end_second(second, loads[second - first])
        else:
            for second in range(first, last):
                number = second - first
                self._second(second, arriving[number], loads[number], refused[number])
        self._consumed += loads.sum(axis=0)
        self._refused += refused.sum(axis=0)
        self._note_series(first, loads, [record.consumed for record in self._records])
        self._note_series(first, refused, [record.throttled for record in self._records])
        if last % MINUTE == 0:
            self._heat_minute(last)
        for track, part in zip(self._tracks, self._slices, strict=True):
            self._note_reasons(track, part)
            track.close()

    def _is_calm(self, loads: Floats) -> bool:
        """Say whether nobody waits and no second of a stretch asks more than flows in."""
        return (
            self._board.is_full
            and not any(track.waiting.any() for track in self._tracks)
            and bool((loads <= self._board.rates).all())
        )

    def _second(self, second: int, arriving: Floats, loads: Floats, refused: Floats) -> None:
        """Run one second; set what each bucket gave, and what was refused for its sake.

        Args:
            second: Which.
            arriving: New calls by cell.
            loads: What these ask of each bucket.
            refused: Zero so far.
        """
        waiting = self._due(second)
        available = self._board.available()
        if waiting is not None:
            loads[:] = self._cells.loads(arriving + waiting.sum(axis=0), len(self._board))
        if (loads <= available).all():
            self._all_pass(arriving, waiting)
        else:
            loads[:] = self._some_pass(second, arriving, waiting, available, refused)
        self._end_second(second, loads)

    def _end_second(self, second: int, loads: Floats) -> None:
        end_ns = self._first_ns + (second + 1) * NANOSECONDS
        self._board.take(loads, end_ns)
        self._recording.sample(second, end_ns)

    def _due(self, second: int) -> Floats | None:
        """Return who comes again in a second, by retry and cell, and strike them off."""
        found: Floats | None = None
        for track, part in zip(self._tracks, self._slices, strict=True):
            place = second % track.ring
            due = track.waiting[:, place]
            if due.max(initial=0.0) > _NOBODY:
                if found is None:
                    found = np.zeros((self._depth - 1, len(self._cells)))
                found[: track.attempts - 1, part] = due
                track.waiting[:, place] = 0.0
        return found

    def _all_pass(self, arriving: Floats, waiting: Floats | None) -> None:
        for track, part in zip(self._tracks, self._slices, strict=True):
            here = arriving[part]
            track.accepted += here
            track.answered[0] += here.sum()
            if waiting is not None:
                retried = waiting[: track.attempts - 1, part]
                track.accepted += retried.sum(axis=0)
                track.answered[1:] += retried.sum(axis=1)
                self._refund(track, float(retried.sum()) * track.lane.policy.cost())
            self._refund(track, float(here.sum()))

    def _refund(self, track: Track, tokens: float) -> None:
        """Give the clients' retry quotas back what an answer gives (CAP-708)."""
        if track.lane.policy.cost():
            self._tokens = min(self._token_cap, self._tokens + tokens)

    def _some_pass(
        self,
        second: int,
        arriving: Floats,
        waiting: Floats | None,
        available: Floats,
        refused: Floats,
    ) -> Floats:
        """Let pass what the buckets have; return what they give, and add to what they refuse."""
        cells, board = self._cells, self._board
        attempts = self._attempts
        attempts.arriving[0] = arriving
        attempts.arriving[1:] = 0.0 if waiting is None else waiting
        affordable = self._affordable()
        shares = fit(cells, self._levels, attempts, affordable, available, self._openness)
        self._openness = shares
        doors = cells.doors(shares)
        passed = cells.openness(doors)
        first_refusals = cells.refusals(doors, passed)
        again = cells.again(doors, passed) * affordable
        by_number = attempts.by_number(again)
        total = by_number.sum(axis=0)
        refused += self._refused_units(total, cells.short_shares(doors))
        self._last_retries = 0.0
        for track, part in zip(self._tracks, self._slices, strict=True):
            before = track.answered.copy()
            waits = track.settle(second, by_number[:, part], passed[part], again[part])
            self._pay(track, track.answered - before, waits)
            track.first_refused += arriving[part, None] * first_refusals[part]
        if self._recording.first_throttle is None and float((arriving * (1 - passed)).sum()) > 0.5:
            self._recording.first_throttle = float(second)
        return cells.loads(total * passed, len(board))

    def _affordable(self) -> float:
        """Return the share of retries that the clients' quotas allow."""
        cost = max(track.lane.policy.cost() for track in self._tracks)
        if not cost:
            return 1.0
        wanted = self._last_retries * cost
        return 1.0 if wanted <= self._tokens else max(0.0, self._tokens / wanted)

    def _pay(self, track: Track, answered: Floats, waits: float) -> None:
        """Take the tokens of retries from the clients' quotas, and refund answers (CAP-708)."""
        cost = track.lane.policy.cost()
        if cost:
            self._last_retries += waits
            self._tokens = max(0.0, self._tokens - waits * cost)
            self._refund(track, float(answered[0] + answered[1:].sum() * cost))

    def _note_reasons(self, track: Track, part: slice) -> None:
        """Count a stretch's calls that were refused at first, by the reason of it."""
        throttled = track.lane.record.throttled
        buckets = self._cells.buckets[part]
        by_bucket = sums(buckets.ravel(), track.first_refused.ravel(), len(self._board))
        for number in np.flatnonzero(by_bucket > 0).tolist():
            reason = self._board.reasons[number]
            throttled[reason] = throttled.get(reason, 0.0) + float(by_bucket[number])

    def _refused_units(self, total: Floats, short: Floats) -> Floats:
        """Return the units of refused attempts, where a limit of their resource was short."""
        refused = np.zeros(len(self._board))
        cells = self._cells
        for track, part in zip(self._tracks, self._slices, strict=True):
            for place, slot in enumerate(track.part_slots):
                units = total[part] * short[part, slot] * cells.units[part, slot]
                track.refused_units[place] += units
                refused += sums(cells.buckets[part, slot], units, len(refused))
        return refused

    def _note_series(
        self, first: int, units: Floats, series: list[tuple[list[float], list[float]]]
    ) -> None:
        """Write down a stretch's units, by second and bucket, as those of tables and indexes."""
        last = first + len(units)
        for number, axes in enumerate(series):
            for axis, one in enumerate(axes):
                one[first:last] = (
                    units[:, self._board.partitions[number, axis]].sum(axis=1).tolist()
                )

    # Minutes

    def _close_minute(self, second: int) -> None:
        """Hand the minute to the engine: it grows, splits and scales by its own rules."""
        for number, record in enumerate(self._records):
            for axis in (0, 1):
                places = self._board.partitions[number, axis]
                consumed, refused = self._consumed[places], self._refused[places]
                self._stage.feed.report_loads(
                    record.resource, axis, consumed.tolist(), refused.tolist()
                )
        self._recording.close_minute()
        self._stage.feed.advance(self._first_ns + second * NANOSECONDS)
        self._consumed = np.zeros(len(self._board))
        self._refused = np.zeros(len(self._board))
        self._hold_sizes()

    def _heat_minute(self, second: int) -> None:
        """Write down where the traffic of partitions went that are hot, as the engine would."""
        moment = float(self._stage.layout.workload.start + second)
        for number, record in enumerate(self._records):
            hot = self._hot_partitions(number, record)
            if not len(hot):
                continue
            for track in self._tracks:
                for place, spot in enumerate(track.lane.spots):
                    if spot.record is record:
                        write_heat(self._stage.feed, track, place, hot, moment)

    def _hot_partitions(self, number: int, record: ResourceRecord) -> Integers:
        """Return the partitions whose traffic the engine may want to look at, by number."""
        use = np.zeros(len(record.resource.partitions))
        for axis, rate in enumerate(PARTITION_RATES):
            places = self._board.partitions[number, axis]
            demand = self._consumed[places] + self._refused[places]
            use = np.maximum(use, demand / (rate * MINUTE))
        pending = record.resource.heat.pending
        waits = [partition.id in pending for partition in record.resource.partitions]
        return np.flatnonzero((use >= self._account.settings.heat_threshold) | waits)

    # Sizes

    def _hold_sizes(self) -> None:
        """Tell every partition what it holds, and let those split that hold too much."""
        for table in self._ground.layout.tables:
            for index in (None, *(one for one in table.indexes if one.is_global)):
                record = self._recording.record_of(table, index)
                name = None if index is None else index.name
                population = self._ground.population(table, name)
                sizes = hold(self._stage.feed, record, population)
                if sizes and max(sizes) >= self._account.settings.partition_bytes:
                    engine_table = self._stage.table(table)
                    split_large(self._stage.feed, engine_table, record, population)

    def _finish(self) -> None:
        for track in self._tracks:
            track.flush_keys()
            record = track.lane.record
            for retry in range(track.attempts - 1):
                left = float(track.waiting[retry].sum())
                record.calls += left
                record.histogram[retry] += left
        for table in self._ground.layout.tables:
            for index in (None, *(one for one in table.indexes if one.is_global)):
                name = None if index is None else index.name
                population = self._ground.population(table, name)
                self._recording.record_of(table, index).collect = population.collections
        self._recording.finish()
