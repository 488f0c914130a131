"""The rate limit that a client puts on itself in adaptive retry mode."""

from __future__ import annotations

import math
from typing import Final

#: The share of the rate that is left after throttling.
_BETA: Final = 0.7
#: How fast the cubic curve rises.
_SCALE: Final = 0.4
#: The rate is measured in steps of this many seconds, and smoothed.
_STEP_SECONDS: Final = 0.5
_SMOOTHING: Final = 0.8
_LEAST_RATE: Final = 0.5
#: No more than this multiple of what was measured.
_MOST_MEASURED: Final = 2.0


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
        "_inflection",
        "_last_step",
        "_measured",
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
        self._inflection = 0.0

    def wait(self, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one at this rate.

        A caller who waits has taken nothing: he asks again, or gives up.
        """
        if self.limit is None:
            return 0.0
        self._fill(now)
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self.limit
        self._tokens -= 1.0
        return 0.0

    def answered(self, now: float, *, throttled: bool) -> None:
        """Hear of an answer, and set the rate anew."""
        self._measure(now)
        if throttled:
            rate = self._measured if self.limit is None else min(self._measured, self.limit)
            self._top = rate
            self._throttled_at = now
            self._inflection = math.cbrt(rate * (1 - _BETA) / _SCALE)
            self._limit_to(rate * _BETA, now)
        elif self.limit is not None:
            past = now - self._throttled_at - self._inflection
            self._limit_to(_SCALE * past**3 + self._top, now)

    def _measure(self, now: float) -> None:
        step = math.floor(now / _STEP_SECONDS) * _STEP_SECONDS
        if self._last_step is None:
            self._last_step = step
        self._count += 1
        if step > self._last_step:
            rate = self._count / (step - self._last_step)
            self._measured = rate * _SMOOTHING + self._measured * (1 - _SMOOTHING)
            self._count = 0
            self._last_step = step

    def _limit_to(self, rate: float, now: float) -> None:
        if self.limit is None:
            self._filled_at = now
        else:
            self._fill(now)
        self.limit = max(min(rate, _MOST_MEASURED * self._measured), _LEAST_RATE)
        self._tokens = min(self._tokens, max(self.limit, 1.0))

    def _fill(self, now: float) -> None:
        assert self.limit is not None, "there is a limit to fill up to"
        most = max(self.limit, 1.0)
        self._tokens = min(most, self._tokens + (now - self._filled_at) * self.limit)
        self._filled_at = now
