"""On-demand growth and warm throughput: what a resource can serve at once, and when it can more."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from emulator.capacity.units import READ, WRITE, on_demand_start
from emulator.service import limits

_MINUTE_SECONDS: Final = 60
#: A minute counts as previous traffic this long after its end. Source: CAP-510.
PEAK_AGE_SECONDS: Final = 30 * 60
#: Of a new table, by default.
_START: Final = on_demand_start(limits.ON_DEMAND_PARTITIONS)


class GrowthState(NamedTuple):
    """The state of a ``Growth``.

    Attributes:
        warm: Warm read and write units per second.
        recent: Of each minute that does not count yet: its end, read units, write units.
    """

    warm: tuple[int, int]
    recent: tuple[tuple[int, float, float], ...]


class Growth:
    """The warm throughput of one table or global index, and the traffic that raises it.

    Warm throughput only rises: by setting it, by provisioning more than ever before, and on
    demand by traffic, up to double the previous peak.

    Args:
        read: Warm read units per second at the start.
        write: Warm write units per second at the start.
        quota: The most that traffic can raise either to (``Settings.table_quota``).

    >>> growth = Growth(12_000, 4_000, quota=40_000)
    >>> for minute in range(31):
    ...     growth.on_minute(minute * 60, read_units=0.0, write_units=4_000 * 60.0)
    >>> growth.warm
    (12000, 8000)
    """

    __slots__ = ("_quota", "_recent", "_warm")

    def __init__(
        self,
        read: int = _START[READ],
        write: int = _START[WRITE],
        *,
        quota: int = limits.TABLE_QUOTA_UNITS,
    ) -> None:
        self._quota = quota
        self._warm = [read, write]
        self._recent: deque[tuple[int, float, float]] = deque()

    @property
    def warm(self) -> tuple[int, int]:
        """Warm read and write units per second."""
        return self._warm[READ], self._warm[WRITE]

    @property
    def is_idle(self) -> bool:
        """Whether minutes without traffic change nothing here."""
        return not self._recent

    def is_settled(self, read: float, write: float) -> bool:
        """Whether minutes at this rate at most, in units per second, change nothing here.

        >>> Growth(12_000, 4_000).is_settled(6_000, 2_000)
        True
        """
        minutes = [*self._recent, (0, read * _MINUTE_SECONDS, write * _MINUTE_SECONDS)]
        return all(
            self._doubled(own[1 + axis]) <= self._warm[axis]
            for own in minutes
            for axis in (READ, WRITE)
        )

    def raise_to(self, read: int, write: int) -> None:
        """Raise warm throughput to at least these."""
        self._warm[READ] = max(self._warm[READ], read)
        self._warm[WRITE] = max(self._warm[WRITE], write)

    def on_minute(self, start_s: int, read_units: float, write_units: float) -> None:
        """Count a closed on-demand minute.

        Assumed: CAP-510. AWS documents that double the previous peak is served at once and
        that more than that within 30 minutes may throttle.
        """
        now_s = start_s + _MINUTE_SECONDS
        if read_units or write_units:
            self._recent.append((now_s, read_units, write_units))
        while self._recent and self._recent[0][0] <= now_s - PEAK_AGE_SECONDS:
            _, read, write = self._recent.popleft()
            self.raise_to(self._doubled(read), self._doubled(write))

    def _doubled(self, units: float) -> int:
        """Return twice a minute's rate, in whole units per second, within the quota."""
        return min(int(-(-2 * units // _MINUTE_SECONDS)), self._quota)

    def save(self) -> GrowthState:
        """Return the state, for ``restore``."""
        return GrowthState(self.warm, tuple(self._recent))

    def restore(self, state: GrowthState) -> None:
        """Go back to a saved state."""
        self._warm = list(state.warm)
        self._recent = deque(state.recent)

    def copy(self) -> Growth:
        """Return an independent state of the same."""
        twin = Growth(*self.warm, quota=self._quota)
        twin._recent = self._recent.copy()
        return twin

    def check(self) -> None:
        """Assert the invariants."""
        ends = [end_s for end_s, _, _ in self._recent]
        assert ends == sorted(set(ends)), ends
        assert len(ends) <= PEAK_AGE_SECONDS // _MINUTE_SECONDS, ends


def prewarm_seconds(partitions: int, wanted: int, doubling_seconds: float) -> float:
    """Return how long it takes to grow from ``partitions`` to ``wanted`` by doubling.

    Assumed: that it doubles, and how long that takes (``Settings.prewarm_doubling_seconds``,
    CAP-509).

    >>> prewarm_seconds(4, 10, 60), prewarm_seconds(4, 4, 60)
    (120, 0)
    """
    doublings = 0
    while partitions < wanted:
        partitions *= 2
        doublings += 1
    return doublings * doubling_seconds
