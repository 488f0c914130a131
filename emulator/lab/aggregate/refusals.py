"""Refusals: what was refused of a crowd's calls, by row, until the tally takes it.

The rows of a crowd are the same for many seconds; adding up over them once is enough. Of seconds
that are answered alike one is worked out, and counted as often as there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.lab.aggregate.admission import Admitted, Crowd
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.retries import RowPolicies
from emulator.lab.aggregate.tally import Tally
from emulator.lab.inputs.distributions import Floats

#: No amount, in place of an array of any shape.
_NOTHING: Final[Floats] = np.zeros(())


class Refusals:
    """What a crowd was refused.

    Attributes:
        crowd: Whose calls.
        policies: How they retry.
    """

    def __init__(
        self, crowd: Crowd, policies: RowPolicies, buckets: Buckets, attempts: int
    ) -> None:
        self.crowd = crowd
        self.policies = policies
        self._reasons = buckets.reasons[crowd.numbers][crowd.buckets]
        rows = len(crowd.rows)
        self._sums = _Amounts(
            refused=np.zeros((attempts, rows)),
            retried=np.zeros((attempts - 1, rows)),
            first=np.zeros(crowd.buckets.shape),
            hot=np.zeros(crowd.buckets.shape),
            begun_anew=np.zeros((attempts, rows)),
        )
        #: How the last second was answered, what was refused in it, and how many were like it.
        self._last: tuple[Admitted, _Amounts] | None = None
        self._seconds = 0

    def retry_with(self, policies: RowPolicies) -> None:
        """Let calls retry in another way from now on."""
        self.policies = policies
        self.crowd.forget_last()

    def count(self, admitted: Admitted, arriving: Floats) -> Floats:
        """Count what is refused in a second.

        Args:
            admitted: What became of the attempts; of a second like the last one, the same.
            arriving: New calls, by row.

        Returns:
            By retry and row, calls that wait for it.
        """
        if self._last is None or self._last[0] is not admitted:
            self._add_up()
            heat = self.crowd.heat(arriving, admitted.open_shares)
            self._last = admitted, self._amounts(admitted, admitted.by_number, arriving, heat)
        self._seconds += 1
        return self._last[1].waiting

    def leave_out(self, admitted: Admitted, by_number: Floats, arriving: Floats) -> Floats:
        """Do not count some of the attempts of a second, nor those of them that are new calls.

        The heat that they make is real.

        Returns:
            By retry and row, how many of them wait for it.
        """
        amounts = self._amounts(admitted, by_number, arriving, _NOTHING)
        self._sums.add(amounts, -1.0)
        return amounts.waiting

    def _amounts(
        self, admitted: Admitted, by_number: Floats, arriving: Floats, hot: Floats
    ) -> _Amounts:
        """Return what was refused of some attempts, some of which are new calls."""
        crowd, open_shares = self.crowd, admitted.open_shares
        begun_anew = admitted.begun_anew(by_number, self.policies)
        return _Amounts(
            refused=by_number * (1 - admitted.passed),
            retried=admitted.retried(by_number, self.policies),
            first=arriving * crowd.first_refusals(open_shares, admitted.first_passed),
            hot=hot,
            begun_anew=_NOTHING if begun_anew is None else begun_anew,
        )

    def _add_up(self) -> None:
        """Add the last seconds, which were alike, to those before."""
        if self._last is not None and self._seconds:
            self._sums.add(self._last[1], float(self._seconds))
        self._seconds = 0

    def tell(self, tally: Tally) -> Floats:
        """Hand what was counted on to the tally, and begin anew.

        Returns:
            By column and row, the units that partitions themselves refused (CAP2-2).
        """
        self._add_up()
        crowd, counted = self.crowd, self._sums
        own = crowd.distinct_segments
        tally.refused[:, own] += crowd.by_segment(counted.refused)
        tally.retried[:, own] += crowd.by_segment(counted.retried)
        tally.add_first_refused(crowd.segments, self._reasons, counted.first)
        if counted.begun_anew.any():
            tally.begun_anew[:, own] += crowd.by_segment(counted.begun_anew)
        self._sums = counted.nothing()
        return counted.hot


@dataclass
class _Amounts:
    """What was refused, in one second or several.

    Attributes:
        refused: Attempts, by number of the attempt and row.
        retried: Those of them that try again.
        first: By column and row, new calls that it was first to refuse.
        hot: By column and row, the units that partitions themselves refused.
        begun_anew: By number of the attempt and row, calls that begin anew after it.
    """

    refused: Floats
    retried: Floats
    first: Floats
    hot: Floats
    begun_anew: Floats

    @property
    def waiting(self) -> Floats:
        """By retry and row, calls that wait for it; a call that begins anew, for the first."""
        if self.begun_anew is _NOTHING:
            return self.retried
        waiting = self.retried.copy()
        waiting[0] += self.begun_anew.sum(axis=0)
        return waiting

    def add(self, other: _Amounts, times: float) -> None:
        """Add what was refused in a second, so many times."""
        for own, more in zip(self._columns(), other._columns(), strict=True):
            own += more if times == 1 else more * times

    def _columns(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        return self.refused, self.retried, self.first, self.hot, self.begun_anew

    def nothing(self) -> _Amounts:
        """Return as many noughts."""
        return _Amounts(*map(np.zeros_like, self._columns()))
