"""An event loop of asyncio on virtual time: when nothing is ready, the clock advances.

Callbacks, futures and streams are asyncio's own; only its clock and its waiting are replaced. What
other threads do takes real time, of which virtual time knows nothing: a timeout may pass before
they are done.
"""

from __future__ import annotations

import asyncio
import selectors

from emulator.clock import NANOSECONDS, Clock, ManualClock

#: The least that a clock advances by: one step of a nanosecond.
_STEP_SECONDS = 1 / NANOSECONDS


class _ClockSelector(selectors.DefaultSelector):
    """Looks for input and output; instead of waiting for it, it advances a clock."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout else timeout)
        if timeout and not ready:
            self._clock.advance(max(timeout, _STEP_SECONDS))
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time is that of a ``ManualClock``, counted from where it was made."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(_ClockSelector(clock))
        self._virtual = clock
        self._start_ns = clock.now_ns()

    def time(self) -> float:
        """Return seconds since the loop was made."""
        return (self._virtual.now_ns() - self._start_ns) / NANOSECONDS


def new_loop(clock: Clock) -> asyncio.AbstractEventLoop:
    """Return a loop on the time of a clock.

    >>> new_loop(ManualClock()).close()
    """
    return VirtualLoop(clock) if isinstance(clock, ManualClock) else asyncio.new_event_loop()
