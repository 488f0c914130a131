"""Sources: where the requests of a pattern come from, and when."""

from __future__ import annotations

import numpy as np

from emulator.capacity.retries import RetryPolicy
from emulator.lab.exact.calls import Reasons, Runner
from emulator.lab.inputs import arrival_rates
from emulator.lab.planning.layout import Layout


class RequestSource:
    """One pattern with its runner, its arrivals and its retry policy.

    Attributes:
        is_batch: Whether the items of a request go in one call, and may be done in part.
    """

    __slots__ = (
        "_retried",
        "_times",
        "actions",
        "counts",
        "is_batch",
        "policy",
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
        self._retried: dict[Reasons, bool] = {}
        times = pattern.recorded.times if pattern.recorded is not None else ()
        self._times = np.asarray(times, dtype=np.float64)
        draws = arrival_rates.request_draws(seed, pattern.name)
        warming = np.full(workload.warm_up, workload.warm_up_rate(pattern))
        self.warm_up_counts = arrival_rates.counts(warming, pattern.arrivals, draws)
        self.counts = arrival_rates.counts(workload.rates(pattern), pattern.arrivals, draws)

    def retries(self, reasons: Reasons) -> bool:
        """Return whether the SDK tries again what was refused for these reasons."""
        retried = self._retried.get(reasons)
        if retried is None:
            retried = self.policy.is_retryable(self.runner.error_code(reasons))
            self._retried[reasons] = retried
        return retried

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
