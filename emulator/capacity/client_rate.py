"""The rate limit that a client puts on itself in adaptive retry mode."""

from __future__ import annotations

import math
from typing import Any, Final

#: The share of the rate that is left after throttling.
THROTTLED_SHARE: Final = 0.7
#: How fast the cubic curve rises.
_SCALE: Final = 0.4
#: The rate is measured in steps of this many seconds, and smoothed.
STEP_SECONDS: Final = 0.5
_SMOOTHING: Final = 0.8
LEAST_RATE: Final = 0.5
#: No more than this multiple of what was measured.
MOST_MEASURED: Final = 2.0

# What follows takes and gives numbers, or arrays of them for many clients at once.


def smoothed(measured: Any, rate: Any) -> Any:
    """Return the measured rate after a step at ``rate`` requests a second."""
    return rate * _SMOOTHING + measured * (1 - _SMOOTHING)


def recovery_seconds(rate: Any) -> Any:
    """Return after how long the curve is back where it was throttled.

    >>> round(recovery_seconds(20.0), 3)
    2.466
    """
    return (rate * (1 - THROTTLED_SHARE) / _SCALE) ** (1 / 3)


def recovering_rate(top: Any, since: Any, recovery: Any) -> Any:
    """Return the rate some seconds after it was throttled at its top.

    >>> [round(recovering_rate(20.0, since, recovery_seconds(20.0)), 1) for since in (0, 2.466, 5)]
    [14.0, 20.0, 26.5]
    """
    return _SCALE * (since - recovery) ** 3 + top


class ClientRate:
    """A token bucket whose rate falls with every throttled answer and rises again on a cubic curve.

    It lets everything pass until the first throttled answer.

    Source: CAP-708; the constants are those of botocore's adaptive mode.

    >>> rate = ClientRate()
    >>> for number in range(40):
    ...     assert rate.wait(number / 20) == 0
    ...     rate.answered(number / 20, throttled=False)
    >>> rate.answered(2.0, throttled=True)
    >>> round(rate.limit, 1)
    14.0
    >>> round(rate.wait(2.0), 3), rate.wait(2.1), round(rate.wait(2.1), 3)
    (0.071, 0.0, 0.043)
    """

    __slots__ = (
        "_count",
        "_filled_at",
        "_last_step",
        "_measured",
        "_recovery",
        "_throttled_at",
        "_tokens",
        "_top",
        "limit",
    )

    def __init__(self) -> None:
        #: Requests per second; None until the first throttled answer.
        self.limit: float | None = None
        self._tokens = 0.0
        self._filled_at = 0.0
        self._measured = 0.0
        self._count = 0
        self._last_step: float | None = None
        self._top = 0.0
        self._throttled_at = 0.0
        self._recovery = 0.0

    def wait(self, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one at this rate.

        A caller that waits has taken no token: it asks again, or gives up.
        """
        if self.limit is None:
            return 0.0
        self._fill(now)
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self.limit
        self._tokens -= 1.0
        return 0.0

    def answered(self, now: float, *, throttled: bool) -> None:
        """Note an answer, and set a new rate."""
        self._measure(now)
        if throttled:
            rate = self._measured if self.limit is None else min(self._measured, self.limit)
            self._top = rate
            self._throttled_at = now
            self._recovery = recovery_seconds(rate)
            self._limit_to(rate * THROTTLED_SHARE, now)
        elif self.limit is not None:
            since = now - self._throttled_at
            self._limit_to(recovering_rate(self._top, since, self._recovery), now)

    def _measure(self, now: float) -> None:
        step = math.floor(now / STEP_SECONDS) * STEP_SECONDS
        if self._last_step is None:
            self._last_step = step
        self._count += 1
        if step > self._last_step:
            rate = self._count / (step - self._last_step)
            self._measured = smoothed(self._measured, rate)
            self._count = 0
            self._last_step = step

    def _limit_to(self, rate: float, now: float) -> None:
        if self.limit is None:
            self._filled_at = now
        else:
            self._fill(now)
        self.limit = max(min(rate, MOST_MEASURED * self._measured), LEAST_RATE)
        self._tokens = min(self._tokens, max(self.limit, 1.0))

    def _fill(self, now: float) -> None:
        assert self.limit is not None, "there is a limit to fill up to"
        most = max(self.limit, 1.0)
        self._tokens = min(most, self._tokens + (now - self._filled_at) * self.limit)
        self._filled_at = now
