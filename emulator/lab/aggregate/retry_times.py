"""Retry times: when refused calls come again, as far as their callers wait for it.

A caller with a timeout gives up when its time is over, and part of that time may have passed in
the client's queues before the first attempt. So the chances of a retry are a table over the share
of the timeout that was over at the first attempt.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy
from emulator.lab.aggregate.retries import FixedChance, delay_offsets
from emulator.lab.inputs.clients import CALL_SECONDS
from emulator.lab.inputs.distributions import Floats

#: How long an attempt takes on average.
ATTEMPT_SECONDS: Final = sum(CALL_SECONDS) / 2
#: Shares of the timeout, one after the other, at which chances are looked at.
_SHARES: Final = np.linspace(0.0, 1.0, 17)
#: Sequences of random waits that are looked at.
_SEQUENCES: Final = 1024


class RetryTimes:
    """When the calls of one policy come again, and how long they are under way meanwhile.

    Attributes:
        chances: By share of the timeout that was over at the first attempt, retry and second
            ahead: the chance that a refused attempt comes again then.
        held: Likewise, the part of that second for which the call is under way: it waits, or
            its caller has not given it up yet.
        waits: By retry, how long the wait before it is on average.
        still_waiting: By attempt, the share of callers who still wait, of those who did when the
            first was made; nobody knows when that was.

    Args:
        policy: The policy.
        timeout: When callers give up, if they do.
        resends: Whether callers send the unprocessed items of a batch again after the waits of
            the policy, besides what the SDK retries: each wait may come twice.
    """

    def __init__(
        self, policy: RetryPolicy, timeout: float | None, *, resends: bool = False
    ) -> None:
        times = 2 if resends else 1
        waits = np.repeat(_waits(policy), times, axis=0)
        self.waits = [policy.delay(1 + retry // times) for retry in range(len(waits))]
        over = np.cumsum([ATTEMPT_SECONDS, *self.waits]) / (timeout or np.inf)
        self.still_waiting = np.exp(-over)
        seconds = int(policy.longest) + 3
        if timeout is None:
            self.chances = np.repeat(delay_offsets(policy), times, axis=0)[None]
            self.held = _mean_overlaps(waits, seconds)[None]
            return
        tables = [_within(waits, timeout * (1 - share), seconds) for share in _SHARES]
        self.chances = np.stack([chances for chances, _ in tables])
        self.held = np.stack([held for _, held in tables])


@lru_cache(maxsize=32)
def retry_times_of(policy: RetryPolicy, timeout: float | None, *, resends: bool) -> RetryTimes:
    """Return the retry times of a policy, worked out once for all blocks; nobody writes in them.

    >>> from emulator.capacity.retries import STANDARD
    >>> retry_times_of(STANDARD, None, resends=False).held.flags.writeable
    False
    """
    times = RetryTimes(policy, timeout, resends=resends)
    for shared in (times.chances, times.held, times.still_waiting):
        shared.setflags(write=False)
    return times


def _waits(policy: RetryPolicy) -> Floats:
    """Return the waits of a policy, by retry and sequence: all parts of a schedule are as likely.

    Each wait of a schedule with jitter goes through its range, in an order of its own.
    """
    order = np.random.default_rng(0)
    points = (np.arange(_SEQUENCES) + 0.5) / _SEQUENCES
    waits = np.zeros((policy.attempts - 1, _SEQUENCES))
    for retry in range(1, policy.attempts):
        whole = policy.delay(retry, FixedChance(1.0))  # type: ignore[arg-type]  # random() is all it asks
        waits[retry - 1] = whole * order.permutation(points) if policy.jitter else whole
    return waits


def _within(waits: Floats, timeout: float, seconds: int) -> tuple[Floats, Floats]:
    """Return by retry and second ahead the chance to come, and how long a call is under way."""
    chances, held = np.zeros((len(waits), seconds)), np.zeros((len(waits), seconds))
    left = np.full(waits.shape[1], timeout)
    for retry in range(len(waits)):
        wait = waits[retry]
        left = left - ATTEMPT_SECONDS
        held[retry] = _overlaps(np.clip(left, 0.0, wait), seconds).mean(axis=0)
        left = left - wait
        comes = left >= 0
        if not comes.any():
            break
        whole = wait[comes].astype(np.int64)
        rest = wait[comes] - whole
        for ahead, chance in ((whole, 1 - rest), (whole + 1, rest)):
            np.add.at(chances[retry], ahead, chance / len(comes))
        left, waits = left[comes], waits[:, comes]
    return chances, held


def _mean_overlaps(waits: Floats, seconds: int) -> Floats:
    held = np.zeros((len(waits), seconds))
    for retry, own in enumerate(waits):
        held[retry] = _overlaps(own, seconds).mean(axis=0)
    return held


def _overlaps(waits: Floats, seconds: int) -> Floats:
    """Return by wait and second ahead the part of it that falls there; it begins anywhere in 0.

    >>> _overlaps(np.array([1.5]), 4).round(3).tolist()
    [[0.5, 0.875, 0.125, 0.0]]
    """
    ends = np.arange(seconds + 2) - 1.0
    reached = np.maximum(ends, 0.0)[None]
    own = waits[:, None]
    areas = np.where(reached < own, reached**2 / 2, own * reached - own**2 / 2)
    return np.diff(areas, n=2, axis=1)
