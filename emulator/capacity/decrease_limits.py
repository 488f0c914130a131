"""How often capacity may be lowered and the billing mode switched."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from emulator.service.errors import LimitExceededException

_DAY_SECONDS: Final = 24 * 3600
_NOON: Final = 12
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: Source: CAP-618.
FREE_DECREASES: Final = 4
DECREASE_INTERVAL_SECONDS: Final = 3600
#: Switches to on demand in 24 hours. Source: CAP-617.
MAX_SWITCHES: Final = 4

# Observed: CAP-618, field reports. Assumed: how the times are written.
TOO_MANY_DECREASES = (
    "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC "
    "day. After the first 4 decreases, each subsequent decrease in the same UTC day can be "
    "performed at most once every 3600 seconds. Number of decreases today: {count}. Last decrease "
    "at {last}. Next decrease can be made at {next}"
)
# Assumed: the wording, which follows that of decreases.
TOO_MANY_SWITCHES = (
    "Subscriber limit exceeded: Updates to PAY_PER_REQUEST mode are limited to 4 in 24 hours. "
    "Last update at {last}. Next update can be made at {next}"
)


class DecreasesState(NamedTuple):
    """The state of ``Decreases``: how many on the day of the last one, and the last changes."""

    today: int
    last_decrease_s: float | None
    last_increase_s: float | None


class Decreases:
    """The changes of one resource's provisioned throughput; times are epoch seconds.

    Assumed: CAP-618, four decreases a UTC day, then one after each hour without a decrease.

    >>> history = Decreases()
    >>> for second in range(4):
    ...     history.decrease(second)
    >>> history.is_allowed(3602), history.is_allowed(3603), history.today(5), history.today(86_400)
    (False, True, 4, 0)
    """

    __slots__ = ("_count", "last_decrease_s", "last_increase_s")

    def __init__(self) -> None:
        self._count = 0
        self.last_decrease_s: float | None = None
        self.last_increase_s: float | None = None

    def today(self, now_s: float) -> int:
        """Return ``NumberOfDecreasesToday``."""
        last_s = self.last_decrease_s
        is_today = last_s is not None and now_s // _DAY_SECONDS == last_s // _DAY_SECONDS
        return self._count if is_today else 0

    def is_allowed(self, now_s: float) -> bool:
        """Return whether a decrease passes now."""
        return now_s >= self._next_s(now_s)

    def verify(self, now_s: float) -> None:
        """Refuse a decrease that comes too early; nothing is counted.

        Raises:
            LimitExceededException: Four decreases today, the last within the hour.
        """
        if not self.is_allowed(now_s):
            raise LimitExceededException(
                TOO_MANY_DECREASES.format(
                    count=self.today(now_s),
                    last=_moment(self.last_decrease_s or 0),
                    next=_moment(self._next_s(now_s)),
                )
            )

    def decrease(self, now_s: float) -> None:
        """Count a decrease; ``verify`` comes first, for every resource of the request."""
        self._count = self.today(now_s) + 1
        self.last_decrease_s = now_s

    def increase(self, now_s: float) -> None:
        """Note an increase; they are unlimited."""
        self.last_increase_s = now_s

    def save(self) -> DecreasesState:
        """Return the state, for ``restore``."""
        return DecreasesState(self._count, self.last_decrease_s, self.last_increase_s)

    def restore(self, state: DecreasesState) -> None:
        """Go back to a saved state."""
        self._count, self.last_decrease_s, self.last_increase_s = state

    def copy(self) -> Decreases:
        """Return an independent history of the same changes."""
        twin = Decreases()
        twin.restore(self.save())
        return twin

    def _next_s(self, now_s: float) -> float:
        """Return when the next decrease may come: an hour after the last, or tomorrow."""
        if self.today(now_s) < FREE_DECREASES or self.last_decrease_s is None:
            return now_s
        tomorrow_s = (now_s // _DAY_SECONDS + 1) * _DAY_SECONDS
        return min(self.last_decrease_s + DECREASE_INTERVAL_SECONDS, tomorrow_s)


class ModeSwitches:
    """The switches of one table to on demand; those to provisioned are free.

    Source: CAP-617.

    >>> switches = ModeSwitches()
    >>> for hour in range(4):
    ...     switches.to_on_demand(hour * 3600)
    >>> switches.to_on_demand(4 * 3600)
    Traceback (most recent call last):
    emulator.service.errors.LimitExceededException: Subscriber limit exceeded: ...
    >>> switches.to_on_demand(24 * 3600)
    """

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MAX_SWITCHES)

    def to_on_demand(self, now_s: float) -> None:
        """Count a switch to on demand.

        Raises:
            LimitExceededException: It would be the fifth within 24 hours.
        """
        if len(self._times) == MAX_SWITCHES and now_s < self._times[0] + _DAY_SECONDS:
            raise LimitExceededException(
                TOO_MANY_SWITCHES.format(
                    last=_moment(self._times[-1]), next=_moment(self._times[0] + _DAY_SECONDS)
                )
            )
        self._times.append(now_s)

    @property
    def times(self) -> tuple[float, ...]:
        """When the last few switches were made, in epoch seconds."""
        return tuple(self._times)

    def restore(self, times: Iterable[float]) -> None:
        """Go back to a history of switches."""
        self._times = deque(times, maxlen=MAX_SWITCHES)

    def copy(self) -> ModeSwitches:
        """Return an independent history of the same switches."""
        twin = ModeSwitches()
        twin._times.extend(self._times)
        return twin


def _moment(seconds: float) -> str:
    """Return a time as the service writes it in sentences, whatever the locale.

    >>> _moment(1_532_551_694)
    'Wednesday, July 25, 2018 8:48:14 PM UTC'
    """
    from datetime import UTC, datetime  # asked of few requests, if any

    moment = datetime.fromtimestamp(int(seconds), UTC)
    day, month = _DAYS[moment.weekday()], _MONTHS[moment.month - 1]
    half = "PM" if moment.hour >= _NOON else "AM"
    clock = f"{moment.hour % _NOON or _NOON}:{moment.minute:02}:{moment.second:02} {half}"
    return f"{day}, {month} {moment.day}, {moment.year} {clock} UTC"
