"""Time, as a collaborator: everything reads it from one clock.

A clock answers in integer nanoseconds since the epoch, so that admission is exact. On a
``ManualClock`` no time passes until it is advanced; listeners (an emulator's minute
work: expiry, metrics, growth, splits, scaling) run before ``advance`` returns. A ``PacedClock``
is real time for everything but throughput, which sees requests arrive at a stated rate.
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Protocol

from emulator.locks import Rank, new_lock
from emulator.service.errors import EmulatorError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

NANOSECONDS: Final = 1_000_000_000

#: Where a ManualClock starts by default: 2026-01-01T00:00:00Z, a whole minute, hour and day.
DEFAULT_START: Final = 1_767_225_600
#: How late it may become: 9999-01-01T00:00:00Z. Dates end with that year, and what the service
#: writes down may lie some time ahead.
LATEST: Final = 253_370_764_800

#: About so long takes a thread to wake.
_WAKING_SECONDS: Final = 0.0001
#: The sleep that takes real time, also where an experiment lets ``time.sleep`` move a clock.
_sleep: Final = time.sleep

NOT_MANUAL: Final = (
    "real time cannot be advanced by {seconds} seconds: give the emulator a ManualClock(), or ask "
    "for the fixture ddb_clock"
)
NOT_SECONDS: Final = "{what} takes a number of seconds, not {kind}"
NOT_FINITE: Final = "{what} takes a finite number of seconds"
BACKWARDS: Final = "the clock cannot go back: advance() takes seconds >= 0"
TOO_LATE: Final = (
    "the clock ends with the year 9998: advance() takes at most {most:g} more seconds from here"
)
BAD_START: Final = "a ManualClock starts between the years 1970 and 9998, in epoch seconds"


class Timer(Protocol):
    """A moment that a ``ManualClock`` stops at."""

    def due_ns(self) -> int | None:
        """Return when it is due, or None for never; the past means at once."""

    def fire(self) -> None:
        """Do one thing that is due."""


class Clock(Protocol):
    """The methods that the emulator needs of a clock.

    ``SystemClock`` and ``ManualClock`` have it, and any object with these methods will do:

    >>> from emulator import Emulator
    >>> class Stopped:
    ...     def now(self): return 0.0
    ...     def now_ns(self): return 0
    ...     def sleep(self, seconds): pass
    ...     def advance(self, seconds): pass
    >>> Emulator(clock=Stopped()).call("ListTables", {})
    {'TableNames': []}
    """

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
        now_ns = time.time_ns()
        if now_ns > self._latest:
            self._latest = now_ns
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


class PacedClock(SystemClock):
    """Real time, except for throughput: for that, requests arrive at a stated rate.

    How fast a machine runs a test says nothing about production. So in "observe" an account with
    this clock takes the time of admission, of growth and of splits from here; "enforce" and
    everything else (time to live, dates, waiters) go by real time.

    Args:
        rate: Requests a second; None if no rate is stated, and then nothing is refused.

    >>> clock = PacedClock(rate=4)
    >>> [(clock.arrival_ns() - clock.start_ns) / NANOSECONDS for _ in range(3)]
    [0.25, 0.5, 0.75]
    """

    def __init__(self, rate: float | None) -> None:
        super().__init__()
        self.rate = rate
        #: Where the time of throughput starts: the same moment on every machine.
        self.start_ns = DEFAULT_START * NANOSECONDS
        self._requests = count(1)

    def arrival_ns(self) -> int:
        """Return when the next request arrives; without a rate, no time passes."""
        if self.rate is None:
            return self.start_ns
        return self.start_ns + round(next(self._requests) * NANOSECONDS / self.rate)


class ManualClock:
    """Virtual time: it passes only by ``advance``, or by a sleep that it stands in for.

    >>> clock = ManualClock(start=1_000)
    >>> clock.advance(2.5)
    >>> clock.now()
    1002.5
    """

    def __init__(self, start: float = DEFAULT_START) -> None:
        _check_seconds(start, "ManualClock()")
        if not 0 <= start <= LATEST:
            raise ValueError(BAD_START)
        self._now_ns = _nanoseconds(start)
        self._listeners: list[weakref.WeakMethod[Callable[[int], Iterator[None]]]] = []
        self._timers: list[Timer] = []
        self._lock = new_lock(Rank.CLOCK)

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
        Time that a timer spends on the way, as the handler of a stream may, is part of the step.

        >>> thrice, once = ManualClock(0), ManualClock(0)
        >>> for _ in range(3):
        ...     thrice.advance(1 / 3600)
        >>> once.advance(1 / 1200)
        >>> thrice.now_ns(), once.now_ns()
        (833334, 833333)

        Raises:
            TypeError: ``seconds`` is no number.
            EmulatorError: ``seconds`` is negative, not finite or leads past the last year.
        """
        for _ in self.advance_in_turns(seconds):
            give_way()

    def advance_in_turns(self, seconds: float) -> Iterator[None]:
        """Let ``seconds`` pass as ``advance`` does, and yield whenever others may be served.

        >>> clock = ManualClock(start=1_000)
        >>> list(clock.advance_in_turns(2.5)), clock.now()
        ([], 1002.5)
        """
        _check_seconds(seconds, "advance()")
        if seconds < 0:
            raise EmulatorError(BACKWARDS)
        with self._lock:
            # Judged before anything moves, and before a large number is multiplied.
            most = LATEST - self._now_ns / NANOSECONDS
            if seconds > most:
                raise EmulatorError(TOO_LATE.format(most=most))
            end_ns = self._now_ns + _nanoseconds(seconds)
            if not self._timers:
                yield from self._move_to(end_ns)
                return
        yield from self._stop_for_timers(end_ns)

    def _move_to(self, now_ns: int) -> Iterator[None]:
        """Move to a moment, unless it is past, and call the listeners."""
        self._now_ns = max(self._now_ns, now_ns)
        for reference in list(self._listeners):
            listener = reference()
            if listener is None:
                self._listeners.remove(reference)
            else:
                yield from listener(self._now_ns)

    def _stop_for_timers(self, end_ns: int) -> Iterator[None]:
        """Move to a moment, and stop on the way wherever a timer is due; none runs in a lock."""
        while True:
            first = self.next_timer()
            if first is not None and first[0] <= self._now_ns:
                first[1].fire()
            elif self._now_ns >= end_ns:
                return
            else:
                with self._lock:
                    yield from self._move_to(end_ns if first is None else min(first[0], end_ns))

    def next_timer(self) -> tuple[int, Timer] | None:
        """Return the timer that is due first, and when; None if none is ever due.

        >>> ManualClock().next_timer() is None
        True
        """
        due = [(due_ns, timer) for timer in self._timers if (due_ns := timer.due_ns()) is not None]
        return min(due, key=itemgetter(0), default=None)

    def sleep(self, seconds: float) -> None:
        """Advance by ``seconds``: on virtual time a sleep takes no time at all."""
        self.advance(seconds)

    def set_aside(self) -> Callable[[], None]:
        """Go on from the same moment without listeners; returns how to put both back.

        >>> clock = ManualClock(start=1_000)
        >>> put_back = clock.set_aside()
        >>> clock.advance(5)
        >>> put_back()
        >>> clock.now()
        1000.0
        """
        kept, self._listeners = (self._now_ns, self._listeners), []

        def put_back() -> None:
            self._now_ns, self._listeners = kept

        return put_back

    def subscribe(self, listener: Callable[[int], Iterator[None]]) -> None:
        """Call the bound method ``listener`` with the time after each advance.

        It does what falls due, and yields whenever others may be served.

        Only a weak reference is kept, so a clock never keeps an emulator alive.
        """
        self._listeners.append(weakref.WeakMethod(listener))

    def attach(self, timer: Timer) -> None:
        """Stop for a timer whenever it is due; of several, the one attached first comes first.

        >>> class Once:
        ...     moment_ns = 5 * NANOSECONDS
        ...     def due_ns(self): return self.moment_ns
        ...     def fire(self): self.moment_ns = print("at", clock.now())
        >>> clock = ManualClock(start=0)
        >>> clock.attach(Once())
        >>> clock.advance(10)
        at 5.0
        """
        self._timers.append(timer)

    def detach(self, timer: Timer) -> None:
        """Stop for a timer no longer."""
        self._timers.remove(timer)


def loop(clock: Clock) -> AbstractEventLoop:
    """Return an event loop of asyncio whose sleeps and timeouts run on a ``ManualClock``.

    Time passes as soon as nothing is ready to run, so a test waits for nothing. With any other
    clock it is a loop of real time.

    >>> import asyncio
    >>> clock = ManualClock(start=0)
    >>> with asyncio.Runner(loop_factory=lambda: loop(clock)) as runner:
    ...     runner.run(asyncio.sleep(3600, "an hour later"))
    'an hour later'
    >>> clock.now()
    3600.0
    """
    from emulator.virtual_loop import new_loop  # asyncio is loaded by those who use it

    return new_loop(clock)


def give_way() -> None:
    """Let a thread that waits for a lock wake and take it.

    >>> give_way()
    """
    _sleep(_WAKING_SECONDS)


def _check_seconds(seconds: object, what: str) -> None:
    """Refuse seconds that are no finite number.

    Raises:
        TypeError: it is no number.
        EmulatorError: it is infinite or not a number at all.
    """
    if isinstance(seconds, int) and not isinstance(seconds, bool):
        return  # finite, and perhaps too large to be asked
    if isinstance(seconds, bool) or not isinstance(seconds, Real | Decimal):
        raise TypeError(NOT_SECONDS.format(what=what, kind=type(seconds).__name__))
    if not math.isfinite(seconds):
        raise EmulatorError(NOT_FINITE.format(what=what))


def _nanoseconds(seconds: float) -> int:
    """Return ``seconds`` in whole nanoseconds, exact for integers."""
    if isinstance(seconds, int):
        return seconds * NANOSECONDS
    return round(seconds * NANOSECONDS)
