"""Arrivals: how many calls of each row newly come in each second."""

from __future__ import annotations

from typing import Final

import numpy as np

from emulator.lab.aggregate.call_rows import CallRows
from emulator.lab.aggregate.grouping import Grouping
from emulator.lab.aggregate.pattern_model import PatternKeys, PatternModel
from emulator.lab.aggregate.plan import Plan
from emulator.lab.inputs.distributions import Floats, Integers

#: From so many rows and so many calls for each, draws follow the normal law: the difference is
#: far below the noise itself, and a thousand rows cost what ten did.
_MANY_ROWS: Final = 64
_MANY_CALLS: Final = 25.0


class Arrivals:
    """The requests of one pattern in one world.

    Draws belong to the world, the pattern and the second: they are the same wherever the pattern
    stands among the others, and whatever other worlds are played.

    """

    def __init__(self, plan: Plan, model: PatternModel, keys: PatternKeys, seed: int) -> None:
        self._warm_up = plan.workload.warm_up
        self._requests = plan.requests(model, seed)
        self._rng = plan.key_draws(model, seed)
        self._model = model
        self._recorded_groups = _recorded_groups(model, keys)

    def requests(self, first: int, last: int) -> Integers:
        """Return how many requests arrive in each of some seconds; the warm-up's are negative."""
        return self._requests[first + self._warm_up : last + self._warm_up]

    def end(self) -> None:
        """Let nobody come any more."""
        self._requests = np.zeros_like(self._requests)
        self._recorded_groups = None

    def draw(self, first: int, last: int, grouping: Grouping, shares: Floats) -> Floats:
        """Return the requests that arrive, by second and live row.

        Args:
            first: The first second.
            last: The second after the last.
            grouping: The call groups.
            shares: Of the pattern's requests, by live row.
        """
        requests = self.requests(first, last)
        if self._recorded_groups is not None and first >= 0:
            return self._recorded(first, last, grouping)
        if grouping.keys.groups.steady or len(shares) == 1:
            return np.outer(requests, shares)
        shares = shares / shares.sum()
        least = float(requests.min(initial=0)) * float(shares.min())
        if len(shares) >= _MANY_ROWS and least >= _MANY_CALLS:
            return self._normal(requests, shares)
        return self._rng.multinomial(requests, shares).astype(np.float64)

    def _normal(self, requests: Integers, shares: Floats) -> Floats:
        """Draw from the normal law that a multinomial one comes close to."""
        noise = self._rng.standard_normal((len(requests), len(shares)))
        roots = np.sqrt(shares)
        noise -= (noise * roots).sum(axis=1, keepdims=True) * roots
        counts = np.sqrt(requests.astype(np.float64))[:, None]
        return np.maximum(0.0, requests[:, None] * shares + noise * roots * counts)

    def _recorded(self, first: int, last: int, grouping: Grouping) -> Floats:
        recorded = self._model.pattern.recorded
        assert recorded is not None, "found only for recorded patterns"
        assert self._recorded_groups is not None, "asked only where they were found"
        times = np.asarray(recorded.times)
        low, high = np.searchsorted(times, (first, last))
        seconds = times[low:high].astype(np.int64) - first
        rows = grouping.rows[self._recorded_groups[low:high]]
        live = np.searchsorted(grouping.live, rows)
        count, length = len(grouping.live), last - first
        flat = np.bincount(seconds * count + live, minlength=length * count)
        return np.asarray(flat.reshape(length, count), dtype=np.float64)


def arriving_calls(arrivals: list[list[Arrivals]], rows: CallRows, first: int, last: int) -> Floats:
    """Return the calls that newly arrive, by second and row."""
    arriving = np.zeros((last - first, len(rows)))
    for world, own in enumerate(arrivals):
        for pattern, pattern_arrivals in enumerate(own):
            if not pattern_arrivals.requests(first, last).any():
                continue
            grouping = rows.groupings[world][pattern]
            live = rows.rows(world, pattern).start + grouping.live
            drawn = pattern_arrivals.draw(first, last, grouping, rows.shares[live])
            arriving[:, live] = drawn * rows.calls[live]
    return arriving


def _recorded_groups(model: PatternModel, keys: PatternKeys) -> Integers | None:
    """Return the key group of each recorded request, if the recording can be followed."""
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
    return np.asarray(numbers, dtype=np.int64)
