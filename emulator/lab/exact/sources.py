"""Sources: where the requests of a pattern come from, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy
from emulator.clock import NANOSECONDS
from emulator.lab.exact.calls import Reasons, Row, Runner, Work
from emulator.lab.inputs import arrival_rates
from emulator.lab.planning.layout import Layout

#: Requests that are made ready together: what they weigh is small, and the calls before them
#: have changed nothing that they hang on.
_AT_ONCE: Final = 64


class RequestSource:
    """One pattern with its runner, its arrivals and its retry policy.

    Attributes:
        is_batch: Whether the items of a request go in one call, and may be done in part.
        most_attempts: Attempts of a call in all, the first included.
        retry_cost: Tokens that a retry takes from its client's quota (CAP-708).
    """

    __slots__ = (
        "_retried",
        "_times",
        "actions",
        "counts",
        "is_batch",
        "most_attempts",
        "policy",
        "retry_cost",
        "runner",
        "warm_up_counts",
    )

    def __init__(self, runner: Runner, layout: Layout, seed: int) -> None:
        pattern = runner.pattern
        workload = layout.workload
        self.runner = runner
        self.actions = pattern.actions
        self.is_batch = pattern.actions > 1 and not pattern.is_transaction
        self.policy: RetryPolicy = workload.policy(pattern)
        self.most_attempts = self.policy.attempts
        self.retry_cost = self.policy.cost()
        self._retried: dict[Reasons, bool] = {}
        times = pattern.recorded.times if pattern.recorded is not None else ()
        self._times = np.asarray(times, dtype=np.float64)
        draws = arrival_rates.request_draws(seed, pattern.name)
        self.counts = arrival_rates.counts(workload.rates(pattern), pattern.arrivals, draws)
        warming = np.full(workload.warm_up, workload.warm_up_rate(pattern))
        self.warm_up_counts = arrival_rates.counts(warming, pattern.arrivals, draws)

    def retries(self, reasons: Reasons) -> bool:
        """Return whether the SDK tries again what was refused for these reasons."""
        retried = self._retried.get(reasons)
        if retried is None:
            retried = self.policy.is_retryable(self.runner.error_code(reasons))
            self._retried[reasons] = retried
        return retried

    def requests(self, times_ns: Sequence[int]) -> Iterator[Sequence[Work]]:
        """Return the calls of each of the next requests, which arrive at these moments."""
        self.runner.drawer.moment = times_ns[0] / NANOSECONDS
        return self._ready(self.runner.rows(len(times_ns)), times_ns)

    def _ready(self, rows: Sequence[Row], times_ns: Sequence[int]) -> Iterator[Sequence[Work]]:
        runner, actions = self.runner, self.actions
        for first in range(0, len(times_ns), _AT_ONCE):
            last = first + _AT_ONCE
            moments = [time_ns / NANOSECONDS for time_ns in times_ns[first:last]]
            yield from runner.works(rows[first * actions : last * actions], moments)

    def moments(self, second: int, count: int, rng: np.random.Generator) -> list[float]:
        """Return when, within a second of the run, its requests arrive.

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
