"""Tracks: a lane laid over the buckets of a design, in numbers.

Flows that meet the same partitions form a cell; a cell's calls are all alike to admission.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy
from emulator.lab.aggregate.write_model import Lane
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import KeyColumns

#: Points at which a jittered delay is looked at.
_JITTER_POINTS: Final = 16


class _Share:
    """Always the same chance, where a policy asks for a random one."""

    def __init__(self, value: float) -> None:
        self._value = value

    def random(self) -> float:
        return self._value


def delay_offsets(policy: RetryPolicy) -> Floats:
    """Return the chance that retry r comes so many seconds later: rows are retries.

    An attempt falls anywhere within its second.

    >>> from emulator.capacity.retries import LEGACY
    >>> delay_offsets(LEGACY)[0, :2].round(3).tolist()
    [0.95, 0.05]
    """
    longest = int(policy.longest) + 3
    offsets = np.zeros((policy.attempts - 1, longest))
    points = (np.arange(_JITTER_POINTS) + 0.5) / _JITTER_POINTS if policy.jitter else [0.5]
    for retry in range(1, policy.attempts):
        for point in points:
            delay = policy.delay(retry, _Share(float(point)))  # type: ignore[arg-type]  # random() is all it asks
            whole = int(delay)
            part = delay - whole
            offsets[retry - 1, whole] += (1 - part) / len(points)
            offsets[retry - 1, whole + 1] += part / len(points)
    return offsets


class Track:
    """A lane laid over the buckets: its cells, who waits there, and what happened to them."""

    def __init__(self, lane: Lane, counts: Integers) -> None:
        self.lane = lane
        self.counts = counts
        self.offsets = delay_offsets(lane.policy)
        #: For each second of the ring, and each retry, where in the ring it comes with what chance.
        later = self.offsets.copy()
        later[:, 0] = 0.0
        self.later = [np.roll(later, second, axis=1) for second in range(later.shape[1])]
        self.attempts = lane.policy.attempts
        self.ring = self.offsets.shape[1]
        self.cell_of: Integers = np.zeros(len(lane.flows), dtype=np.int64)
        self.cells = 1
        #: By retry, second (a ring) and cell: calls that come then.
        self.waiting = np.zeros((self.attempts - 1, self.ring, 1))
        self.shares: Floats = np.ones(1)
        self.calls: Floats = np.ones(1)
        self.flow_share: Floats = np.ones(len(lane.flows))
        self.parts: list[Integers] = []
        self.cell_units: list[Floats] = []
        self._weights: Floats = lane.flows.weights
        #: For each spot the slot of its partition's bucket.
        self.part_slots: list[int] = []
        self._consumed = [np.zeros(len(lane.flows)) for _ in lane.spots]
        self._throttled = [np.zeros(len(lane.flows)) for _ in lane.spots]
        self._texts = [spot.texts for spot in lane.spots]
        self._recorded_flows = self._find_recorded()

    def clear(self, slots: int) -> None:
        """Start the tallies of a stretch.

        They are calls that passed, by cell; calls answered, given up and refused by number of
        the attempt; calls refused at first, by cell and slot; units that each spot refused.
        """
        self.first_refused = np.zeros((self.cells, slots))
        self.accepted = np.zeros(self.cells)
        self.answered = np.zeros(self.attempts)
        self.failed = np.zeros(self.attempts)
        self.refused = np.zeros(self.attempts)
        self.refused_units = [np.zeros(self.cells) for _ in self.lane.spots]

    def lay(self, places: list[Integers]) -> None:
        """Group the flows into cells by the partitions that they meet."""
        lane = self.lane
        old_cell, old_weights = self.cell_of, self._weights
        stacked = np.stack(places)
        distinct, cell_of = np.unique(stacked, axis=1, return_inverse=True)
        self.cell_of = cell_of.reshape(-1)
        self.parts = list(distinct)
        same_flows = len(old_cell) == len(self.cell_of)
        cells = distinct.shape[1]
        if self.waiting.any():
            self._move_waiting(old_cell, old_weights, cells, same_flows=same_flows)
        else:
            self.waiting = np.zeros((self.attempts - 1, self.ring, cells))
        self.cells = cells
        self._weights = lane.flows.weights
        self._texts = [spot.texts for spot in lane.spots]

    def _move_waiting(
        self, old_cell: Integers, old_weights: Floats, cells: int, *, same_flows: bool
    ) -> None:
        """Let those who wait go where the keys they ask for now lie."""
        moved = np.zeros((self.attempts - 1, self.ring, cells))
        if same_flows:
            totals = sums(old_cell, old_weights, self.cells)
            shares = old_weights / np.maximum(totals[old_cell], 1e-300)
            order = np.argsort(self.cell_of, kind="stable")
            starts = np.searchsorted(self.cell_of[order], np.arange(cells))
            carried = self.waiting[:, :, old_cell[order]] * shares[order]
            moved = np.add.reduceat(carried, starts, axis=2)
        else:
            even = sums(self.cell_of, self.lane.flows.weights, cells)
            moved = self.waiting.sum(axis=2)[:, :, None] * even
        self.waiting = moved

    def weigh(self) -> None:
        """Set each cell's share of the requests, calls per request and units per call."""
        lane = self.lane
        weights = lane.flows.weights
        calls = weights * lane.calls
        count = self.cells
        self.shares = sums(self.cell_of, weights, count)
        by_cell = sums(self.cell_of, calls, count)
        self.calls = by_cell / np.maximum(self.shares, 1e-300)
        self.flow_share = calls / np.maximum(by_cell[self.cell_of], 1e-300)
        self.cell_units = [
            sums(self.cell_of, calls * spot.units, count) / np.maximum(by_cell, 1e-300)
            for spot in lane.spots
        ]
        self.cell_evaluated = self._mean(lane.evaluated)
        self.cell_filtered = self._mean(lane.filtered)

    def _mean(self, values: Floats) -> Floats:
        if len(values) != len(self.flow_share):
            return np.zeros(self.cells)
        return sums(self.cell_of, self.flow_share * values, self.cells)

    def arrivals(self, first: int, last: int, rng: np.random.Generator) -> Floats:
        """Return the calls that newly arrive, by second and cell."""
        counts = self.counts[first:last]
        if self._recorded_flows is not None:
            return self._recorded_arrivals(first, last) * self.calls
        if self.lane.flows.steady or self.cells == 1:
            return np.outer(counts, self.shares * self.calls)
        shares = self.shares / self.shares.sum()
        return np.asarray(rng.multinomial(counts, shares) * self.calls)

    def _find_recorded(self) -> Integers | None:
        """Return the flow of each recorded request, if the recording can be followed."""
        lane = self.lane
        recorded = lane.pattern.recorded
        if recorded is None or lane.flows.sampled or lane.ground.workload.load != 1:
            return None
        fields = [one for one in lane.ground.workload.fields if one.name in lane.flows.columns]
        if not {one.name for one in fields} <= set(recorded.values):
            return None
        if len(fields) != len(lane.flows.columns):
            return None
        order = sorted(fields, key=lambda one: lane.flows.columns[one.name])
        texts = [[one.text(number) for number in recorded.values[one.name]] for one in order]
        flows = {row: number for number, row in enumerate(lane.flows.rows)}
        found = [flows.get(row, -1) for row in zip(*texts, strict=True)] if texts else []
        if len(found) != len(recorded.times) or min(found, default=-1) < 0:
            return None
        return np.asarray(found, dtype=np.int64)

    def _recorded_arrivals(self, first: int, last: int) -> Floats:
        recorded = self.lane.pattern.recorded
        assert recorded is not None, "found only for recorded patterns"
        assert self._recorded_flows is not None, "asked only where they were found"
        times = np.asarray(recorded.times)
        low, high = np.searchsorted(times, (first, last))
        seconds = times[low:high].astype(np.int64) - first
        cells = self.cell_of[self._recorded_flows[low:high]]
        flat = np.bincount(seconds * self.cells + cells, minlength=(last - first) * self.cells)
        return np.asarray(flat.reshape(last - first, self.cells), dtype=np.float64)

    def close(self) -> None:
        """Hand on what happened since the last time: units, bytes, items, keys."""
        lane, record = self.lane, self.lane.record
        self._close_counts()
        accepted = self.accepted[self.cell_of] * self.flow_share
        for place, spot in enumerate(lane.spots):
            units = self.accepted * self.cell_units[place] * lane.actions
            record.consume(spot.record.name, spot.axis, float(units.sum()))
            self._consumed[place] += accepted * spot.units * lane.actions
            refused = self.refused_units[place]
            if refused.any():
                self._throttled[place] += refused[self.cell_of] * self.flow_share
        record.evaluated_bytes += float((self.accepted * self.cell_evaluated).sum())
        record.filtered_bytes += float((self.accepted * self.cell_filtered).sum())
        lane.absorb(accepted)

    def _close_counts(self) -> None:
        record, policy = self.lane.record, self.lane.policy
        record.calls += float(self.answered.sum() + self.failed.sum())
        record.attempts += float(self.answered.sum() + self.refused.sum())
        record.refusals += float(self.refused.sum())
        record.failed += float(self.failed.sum())
        waited = 0.0
        for number, (done, lost) in enumerate(
            zip(self.answered.tolist(), self.failed.tolist(), strict=True)
        ):
            record.histogram[number] += done + lost
            if number:
                waited += policy.delay(number)
                if done:
                    record.latencies.append(waited)
                    record.latency_weights.append(done)

    def settle(self, second: int, by_number: Floats, passed: Floats, again: Floats) -> float:
        """Answer who passed, send who was refused to wait or away; return how many wait."""
        by_number = by_number[: self.attempts]
        answered = by_number * passed
        self.accepted += answered.sum(axis=0)
        self.answered += answered.sum(axis=1)
        refused = by_number.sum(axis=1) - answered.sum(axis=1)
        self.refused += refused
        waits = by_number[:-1] * again
        lost = refused.copy()
        lost[:-1] -= waits.sum(axis=1)
        self.failed += lost
        self.waiting += waits[:, None, :] * self.later[second % self.ring][:, :, None]
        return float(waits.sum())

    def minute_of(self, place: int) -> tuple[Floats, Floats, Floats]:
        """Return for each flow calls accepted, units consumed and units refused since then."""
        lane = self.lane
        accepted = self.accepted[self.cell_of] * self.flow_share
        units = accepted * lane.spots[place].units * lane.actions
        return accepted, units, self.refused_units[place][self.cell_of] * self.flow_share

    def flush_keys(self) -> None:
        """Hand the keys' units on; to be called before keys change, and at the end."""
        for place, spot in enumerate(self.lane.spots):
            consumed, throttled = self._consumed[place], self._throttled[place]
            if self.lane.path.kind != "scan" and len(self._texts[place]) == len(consumed):
                spot.record.add_keys(
                    KeyColumns(spot.axis, self._texts[place], consumed.tolist(), throttled.tolist())
                )
        count = len(self.lane.flows)
        self._consumed = [np.zeros(count) for _ in self.lane.spots]
        self._throttled = [np.zeros(count) for _ in self.lane.spots]
        self._texts = [spot.texts for spot in self.lane.spots]
