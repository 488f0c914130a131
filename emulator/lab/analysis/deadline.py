"""A time limit for work that could go on for long."""

from __future__ import annotations

import time


class Deadline:
    """Some seconds from now, or never; processes of one machine may share it.

    >>> Deadline(None).has_passed(), Deadline(0).has_passed(), Deadline(60).allows(90)
    (False, True, False)
    """

    def __init__(self, seconds: float | None) -> None:
        self._begin = time.monotonic()
        self._end = None if seconds is None else self._begin + seconds

    def elapsed(self) -> float:
        """Return how many seconds have passed since it was set."""
        return time.monotonic() - self._begin

    def has_passed(self) -> bool:
        """Return whether the time is up."""
        return not self.allows(0.0)

    def allows(self, seconds: float) -> bool:
        """Return whether work that takes so long would end before."""
        return self._end is None or time.monotonic() + seconds < self._end
