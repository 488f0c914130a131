"""Time, as a collaborator: everything reads it from one clock.

A clock answers in integer nanoseconds since the epoch, so that admission is exact. On a
``ManualClock`` nothing passes until somebody advances it; listeners (an emulator's minute
work: expiry, metrics, growth, splits, scaling) run before ``advance`` returns.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Final, Protocol

from emulator.service.errors import EmulatorError

NANOSECONDS: Final = 1_000_000_000

#: Where a ManualClock starts by default: 2026-01-01T00:00:00Z, a whole minute, hour and day.
DEFAULT_START: Final = 1_767_225_600


NOT_MANUAL: Final = (
    "real time cannot be advanced by {seconds} seconds: give the emulator a ManualClock(), or ask "
    "for the fixture ddb_clock"
)


class Clock(Protocol):
    """What the emulator needs of a clock."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    def now_ns(self) -> int:
        """Return nanoseconds since the epoch; never less than before."""

    def sleep(self, seconds: float) -> None:
        """Let ``seconds`` pass."""

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass at once; a clock that runs by itself refuses."""


class SystemClock:
    """Real time.

    >>> clock = SystemClock()
    >>> clock.now() <= clock.now()
    True
    """

    def __init__(self) -> None:
        self._latest = 0

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self.now_ns() / NANOSECONDS

    def now_ns(self) -> int:
        """Return nanoseconds since the epoch; a clock set back stands still instead."""
        self._latest = max(self._latest, time.time_ns())
        return self._latest

    def sleep(self, seconds: float) -> None:
        """Sleep for real."""
        time.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Refuse: real time passes by itself.

        Raises:
            EmulatorError: always.
        """
        raise EmulatorError(NOT_MANUAL.format(seconds=seconds))


class ManualClock:
    """Virtual time: it passes only by ``advance``, or by a sleep that it stands in for.

    >>> clock = ManualClock(start=1_000)
    >>> clock.advance(2.5)
    >>> clock.now()
    1002.5
    """

    def __init__(self, start: float = DEFAULT_START) -> None:
        self._now_ns = _nanoseconds(start)
        self._listeners: list[weakref.WeakMethod[Callable[[int], None]]] = []
        self._lock = threading.RLock()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._now_ns / NANOSECONDS

    def now_ns(self) -> int:
        """Return nanoseconds since the epoch."""
        return self._now_ns

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass, and run everything that falls due, in order.

        Each step is rounded to whole nanoseconds (CAP2-14), so three steps of 1/3600 s are not
        one of 1/1200 s. Steps of whole nanoseconds that sum up to the same lead to the same state.

        >>> thrice, once = ManualClock(0), ManualClock(0)
        >>> for _ in range(3):
        ...     thrice.advance(1 / 3600)
        >>> once.advance(1 / 1200)
        >>> thrice.now_ns(), once.now_ns()
        (833334, 833333)

        Raises:
            EmulatorError: ``seconds`` is negative.
        """
        step = _nanoseconds(seconds)
        if step < 0:
            raise EmulatorError("the clock cannot go back: advance() takes seconds >= 0")
        with self._lock:
            self._now_ns += step
            for reference in list(self._listeners):
                listener = reference()
                if listener is None:
                    self._listeners.remove(reference)
                else:
                    listener(self._now_ns)

    def sleep(self, seconds: float) -> None:
        """Advance by ``seconds``: on virtual time a sleep takes no time at all."""
        self.advance(seconds)

    def subscribe(self, listener: Callable[[int], None]) -> None:
        """Call the bound method ``listener`` with the time after each advance.

        Only a weak reference is kept, so a clock never keeps an emulator alive.
        """
        self._listeners.append(weakref.WeakMethod(listener))


def _nanoseconds(seconds: float) -> int:
    """Return ``seconds`` in whole nanoseconds, exact for integers of any size."""
    if isinstance(seconds, int):
        return seconds * NANOSECONDS
    return round(seconds * NANOSECONDS)
