"""Arrivals: how many calls of each row newly come in each second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emulator.lab.aggregate.call_rows import CallRows, LiveRows
from emulator.lab.aggregate.grouping import Grouping
from emulator.lab.aggregate.pattern_model import PatternKeys, PatternModel
from emulator.lab.aggregate.plan import Plan
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import MINUTE


class Arrivals:
    """The requests of all patterns in all worlds.

    Draws belong to the world, the pattern and the second: they are the same wherever the pattern
    stands among the others, and whatever other worlds are played. They are made for a minute at
    once, or up to the world's next split, and anew if the shares of its rows change earlier.

    Args:
        plan: The patterns.
        keys: Of each pattern.
        seeds: Of the arrivals in each world.
    """

    def __init__(self, plan: Plan, keys: Sequence[PatternKeys], seeds: Sequence[int]) -> None:
        self._warm_up = plan.workload.warm_up
        self._end = plan.workload.duration
        self._models = plan.models
        own = [(seed, model) for seed in seeds for model in plan.models]
        #: By world and pattern, as one, and second, the warm-up's first.
        self._requests: Integers = np.stack([plan.requests(model, seed) for seed, model in own])
        self._draws = [plan.key_draws(model, seed) for seed, model in own]
        self._drawn: list[_Drawn | None] = [None] * len(own)
        self._recordings = [
            _recording(model, own) for model, own in zip(plan.models, keys, strict=True)
        ]

    def requests(self, first: int, last: int) -> Integers:
        """Return the requests by world and pattern, as one, and second."""
        return self._requests[:, first + self._warm_up : last + self._warm_up]

    def end(self, world: int) -> None:
        """Let nobody come any more in a world."""
        count = len(self._models)
        self._requests[world * count : (world + 1) * count] = 0

    def calls(self, rows: CallRows, first: int, last: int, splits: Sequence[float]) -> Floats:
        """Return the calls that newly arrive, by second and row.

        Args:
            rows: The rows.
            first: The first second.
            last: The second to end before.
            splits: By world, the second of its next split.
        """
        requests = self.requests(first, last)
        arriving = np.zeros((last - first, len(rows)))
        alone: dict[int, int] = {}
        for segment in np.flatnonzero(requests.any(axis=1)).tolist():
            world, pattern = divmod(segment, len(self._models))
            recording, live = self._recordings[pattern], rows.live[segment]
            grouping = rows.groupings[world][pattern]
            if recording is not None and first >= 0:
                arriving[:, live.at] = recording.requests(first, last, grouping)
            elif live.only is not None:
                alone[segment] = live.only
            elif grouping.keys.groups.steady:
                arriving[:, live.at] = requests[segment][:, None] * rows.shares[live.at]
            else:
                drawn = self._drawn_from(segment, live, first, splits[world])
                arriving[:, live.at] = drawn.requests[first - drawn.first : last - drawn.first]
        at = list(alone.values())
        arriving[:, at] = requests[list(alone)].T * rows.shares[at]
        arriving *= rows.calls
        return arriving

    def _drawn_from(self, segment: int, live: LiveRows, first: int, split: float) -> _Drawn:
        """Return how many requests fall on each live row of a segment, from a second on."""
        drawn = self._drawn[segment]
        if drawn is None or first >= drawn.last or not np.array_equal(drawn.shares, live.shares):
            last = int(min((first // MINUTE + 1) * MINUTE, self._end, split))
            requests = self.requests(first, last)[segment]
            numbers = self._draws[segment].multinomial(requests, live.shares)
            self._drawn[segment] = drawn = _Drawn(live.shares, first, last, numbers)
        return drawn


@dataclass(frozen=True)
class _Drawn:
    """The requests of a segment that were drawn ahead.

    Attributes:
        shares: Of the rows that they fall on.
        first: The second that they begin with.
        last: The second that they end before.
        requests: Their number, by second and row.
    """

    shares: Floats
    first: int
    last: int
    requests: Integers


@dataclass(frozen=True)
class _Recording:
    """The requests of a recording: when each came, and of which key group."""

    times: Floats
    groups: Integers

    def requests(self, first: int, last: int, grouping: Grouping) -> Integers:
        """Return how many came, by second and live row."""
        low, high = np.searchsorted(self.times, (first, last))
        seconds = self.times[low:high].astype(np.int64) - first
        live = np.searchsorted(grouping.live, grouping.rows[self.groups[low:high]])
        count, length = len(grouping.live), last - first
        return np.bincount(seconds * count + live, minlength=length * count).reshape(length, count)


def _recording(model: PatternModel, keys: PatternKeys) -> _Recording | None:
    """Return the requests that were recorded, if they can be followed one by one."""
    recorded, groups, workload = model.pattern.recorded, keys.groups, model.context.workload
    if recorded is None or groups.sampled or workload.load != 1:
        return None
    fields = [field for field in workload.fields if field.name in groups.columns]
    if not {field.name for field in fields} <= set(recorded.values):
        return None
    if len(fields) != len(groups.columns):
        return None
    ordered = sorted(fields, key=lambda field: groups.columns[field.name])
    texts = [[field.text(number) for number in recorded.values[field.name]] for field in ordered]
    group_of = {row: group for group, row in enumerate(groups.rows)}
    numbers = [group_of.get(row, -1) for row in zip(*texts, strict=True)] if texts else []
    if len(numbers) != len(recorded.times) or min(numbers, default=-1) < 0:
        return None
    return _Recording(np.asarray(recorded.times), np.asarray(numbers, dtype=np.int64))
