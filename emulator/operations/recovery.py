"""Point-in-time recovery: which moments of a table are known, and what it held then (S3X-30)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.service.errors import PointInTimeRecoveryUnavailableException
from emulator.storage import OrderedStore

NOT_ENABLED: Final = "Point in time recovery is not enabled for table '{name}'"
DAY_NS: Final = 24 * 3600 * NANOSECONDS
#: The calendar repeats after 400 years.
_CYCLE_SECONDS: Final = 146_097 * 24 * 3600
#: Seconds on the wire are numbers of 53 bits: exact to the microsecond, and no further.
_MICROSECOND_NS: Final = 1000


class RecoveryWindow(NamedTuple):
    """The moments that a table can be restored to.

    Their bounds are reported in whole seconds, and some clients send no others: a request for the
    second of a bound means the bound.

    >>> window = RecoveryWindow(1_500_000_000, 9_000_000_000)
    >>> window.clamped(1.0), window.clamped(2.5), window.clamped(0.9)
    (1500000000, 2500000999, None)
    """

    earliest_ns: int
    latest_ns: int

    def clamped(self, seconds: float) -> int | None:
        """Return the moment that a request means, or None if it lies outside."""
        if not self.earliest_ns // NANOSECONDS <= int(seconds) <= self.latest_ns // NANOSECONDS:
            return None
        return min(max(moment_ns(seconds), self.earliest_ns), self.latest_ns)


def moment_ns(seconds: float) -> int:
    """Return the end of the microsecond that a request names."""
    return round(seconds * 1_000_000) * _MICROSECOND_NS + _MICROSECOND_NS - 1


def recovery_window(account: Account, table: Table) -> RecoveryWindow:
    """Return from when to when a table can be restored.

    Observed: another project's probes of the service, October 2026: right after recovery is
    switched on both bounds are that moment, and the later one waits for the lag to pass.

    Raises:
        PointInTimeRecoveryUnavailableException: point-in-time recovery is off (OTH-7).
    """
    recovery, history = table.options.recovery, table.history
    if recovery is None or history is None:
        raise PointInTimeRecoveryUnavailableException(NOT_ENABLED.format(name=table.name))
    earliest_ns = max(
        recovery.since_ns, account.now_ns - recovery.days * DAY_NS, history.complete_since_ns
    )
    lag_ns = round(account.settings.recovery_lag * NANOSECONDS)
    return RecoveryWindow(earliest_ns, max(earliest_ns, account.now_ns - lag_ns))


def state_at(table: Table, at_ns: int) -> OrderedStore:
    """Return the items that a table with recovery held at a moment of its window."""
    assert table.history is not None, "recovery is on"
    return table.history.state_at(table.store, at_ns)


def written_time(seconds: float) -> str:
    """Return a moment as messages write it, whatever its year (S3X-33).

    >>> written_time(1_767_225_600.5), written_time(1e14)
    ('2026-01-01T00:00:00Z', '3170843-11-07T09:46:40Z')
    """
    cycles, rest_s = divmod(int(seconds), _CYCLE_SECONDS)
    moment = datetime.fromtimestamp(rest_s, UTC)
    return f"{moment.year + 400 * cycles:04}-{moment:%m-%dT%H:%M:%SZ}"
