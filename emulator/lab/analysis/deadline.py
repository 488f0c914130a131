"""A time limit for a search that could go on for long."""

from __future__ import annotations

import time


class Deadline:
    """Some seconds from now, or never.

    >>> Deadline(None).has_passed(), Deadline(0).has_passed()
    (False, True)
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def has_passed(self) -> bool:
        """Return whether the time is up."""
        return self._end is not None and time.monotonic() >= self._end
