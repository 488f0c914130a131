"""Contributor Insights: the most accessed and the most throttled keys of a table or index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emulator.capacity.traffic import CONSUMED, THROTTLES, Minute, Position

#: Source: CAP-804.
MAX_SHOWN: Final = 25
#: Assumed: how many keys a rule remembers of a resource; the lighter half is dropped first.
MAX_REMEMBERED: Final = 1024

_PEAK: Final = 2  # a tally is [accessed, throttled, peak accessed, peak throttled]

Tally = list[float]


class Contributor(NamedTuple):
    """One key and its part.

    Attributes:
        key: Partition values, and for a key pair also sort values.
        value: Accessed: ``3 * write units + read units``. Throttled: refusals.
        peak: The most within one minute.
        share: Part of the resource's whole, from 0 to 1.
    """

    key: tuple[Any, ...]
    value: float
    peak: float
    share: float


class InsightsReport(NamedTuple):
    """The four rules of Contributor Insights, heaviest contributor first (CAP-804)."""

    accessed_partition_keys: list[Contributor]
    throttled_partition_keys: list[Contributor]
    accessed_keys: list[Contributor]
    throttled_keys: list[Contributor]


class Insights:
    """The Contributor Insights of one resource, in bounded memory.

    Args:
        prefix_length: How many leading elements of a position name its item collection.
        key_length: How many name its key; the rest of a position breaks ties only.

    >>> minute = Minute()
    >>> minute.accesses = {(7, "d1", "a"): [30.0, 0.0, 10, 0], (7, "d1", "b"): [10.0, 3.0, 3, 1]}
    >>> insights = Insights(prefix_length=2, key_length=3)
    >>> insights.fold(minute)
    >>> insights.report().accessed_partition_keys
    [Contributor(key=('d1',), value=40.0, peak=40.0, share=1.0)]
    >>> insights.report().throttled_keys
    [Contributor(key=('d1', 'b'), value=1.0, peak=1.0, share=1.0)]
    """

    __slots__ = ("_key_length", "_keys", "_partition_keys", "_prefix_length", "_totals")

    def __init__(self, prefix_length: int = 2, key_length: int = 2) -> None:
        self._prefix_length = prefix_length
        self._key_length = key_length
        self._partition_keys: dict[Position, Tally] = {}
        self._keys: dict[Position, Tally] = {}
        self._totals = [0.0, 0.0]

    def fold(self, minute: Minute) -> None:
        """Add a closed minute."""
        for which in (CONSUMED, THROTTLES):
            self._totals[which > 0] += sum(a[which] for a in minute.accesses.values())
        _add(self._partition_keys, _minute_tallies(minute, 1, self._prefix_length))
        if self._key_length > self._prefix_length:
            _add(self._keys, _minute_tallies(minute, self._prefix_length + 1, self._key_length))

    def report(self, running: Minute | None = None) -> InsightsReport:
        """Return the top contributors so far, the running minute included if given."""
        if running is not None and running.accesses:
            ahead = self._copy()
            ahead.fold(running)
            return ahead.report()
        return InsightsReport(
            _top(self._partition_keys, self._totals, 0),
            _top(self._partition_keys, self._totals, 1),
            _top(self._keys, self._totals, 0),
            _top(self._keys, self._totals, 1),
        )

    def _copy(self) -> Insights:
        copy = Insights(self._prefix_length, self._key_length)
        copy._partition_keys = {key: list(tally) for key, tally in self._partition_keys.items()}
        copy._keys = {key: list(tally) for key, tally in self._keys.items()}
        copy._totals = list(self._totals)
        return copy

    def check(self) -> None:
        """Assert the invariants."""
        for tallies in (self._partition_keys, self._keys):
            assert len(tallies) <= MAX_REMEMBERED, len(tallies)
            assert all(
                tally[which] >= tally[which + _PEAK]
                for tally in tallies.values()
                for which in (0, 1)
            )


def _minute_tallies(minute: Minute, shortest: int, length: int) -> dict[Position, Tally]:
    """Return accessed weight and refusals of a minute by key; a Query names no key pair."""
    tallies: dict[Position, Tally] = {}
    for position, access in minute.accesses.items():
        if len(position) < shortest:
            continue
        tally = tallies.setdefault(position[:length], [0.0, 0.0])
        tally[0] += access[CONSUMED]
        tally[1] += access[THROTTLES]
    return tallies


def _add(tallies: dict[Position, Tally], minute: Mapping[Position, Tally]) -> None:
    for key, (accessed, throttled) in minute.items():
        tally = tallies.get(key)
        if tally is None:
            tallies[key] = [accessed, throttled, accessed, throttled]
        else:
            tally[0] += accessed
            tally[1] += throttled
            tally[2] = max(tally[2], accessed)
            tally[3] = max(tally[3], throttled)
    if len(tallies) > MAX_REMEMBERED:
        _forget_the_light(tallies)


def _forget_the_light(tallies: dict[Position, Tally]) -> None:
    """Keep the heavier keys of either measure; ties go to the key seen first."""
    kept: set[Position] = set()
    for which in (0, 1):
        kept.update(sorted(tallies, key=lambda key: -tallies[key][which])[: MAX_REMEMBERED // 2])
    for key in [key for key in tallies if key not in kept]:
        del tallies[key]


def _top(tallies: Mapping[Position, Tally], totals: list[float], which: int) -> list[Contributor]:
    ranked = sorted(tallies.items(), key=lambda entry: -entry[1][which])[:MAX_SHOWN]
    return [
        Contributor(key[1:], tally[which], tally[which + _PEAK], tally[which] / totals[which])
        for key, tally in ranked
        if tally[which]
    ]
