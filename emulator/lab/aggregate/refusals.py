"""Refusals: what was refused of a crowd's calls, by row, until the tally takes it.

The rows of a crowd are the same for many seconds; adding up over them once is enough.
"""

from __future__ import annotations

import numpy as np

from emulator.lab.aggregate.admission import Admitted, Crowd
from emulator.lab.aggregate.buckets import Buckets
from emulator.lab.aggregate.retries import RowPolicies
from emulator.lab.aggregate.tally import Tally
from emulator.lab.inputs.distributions import Floats


class Refusals:
    """What a crowd was refused.

    Attributes:
        crowd: Whose calls.
        policies: How they retry.
        hot: By column and row, the units that partitions themselves refused (CAP2-2).
    """

    def __init__(
        self, crowd: Crowd, policies: RowPolicies, buckets: Buckets, attempts: int
    ) -> None:
        self.crowd = crowd
        self.policies = policies
        self._reasons = buckets.reasons[crowd.numbers][crowd.buckets]
        rows = len(crowd.rows)
        self._refused = np.zeros((attempts, rows))
        self._retried = np.zeros((attempts - 1, rows))
        self._first = np.zeros(crowd.buckets.shape)
        self.hot = np.zeros(crowd.buckets.shape)

    def add(self, by_number: Floats, admitted: Admitted, retried: Floats) -> None:
        """Count refused attempts, and those of them that are tried again."""
        self._refused += by_number * (1 - admitted.passed)
        self._retried += retried

    def add_first(self, arriving: Floats, admitted: Admitted) -> None:
        """Count new calls that are refused at once, and the heat that they are."""
        crowd, open_shares = self.crowd, admitted.open_shares
        self._first += arriving * crowd.first_refusals(open_shares, admitted.passed)
        self.hot += crowd.heat(arriving, open_shares)

    def tell(self, tally: Tally) -> None:
        """Hand what was counted on to the tally, and begin anew."""
        crowd = self.crowd
        own = crowd.distinct_segments
        tally.refused[:, own] += crowd.by_segment(self._refused)
        tally.retried[:, own] += crowd.by_segment(self._retried)
        tally.add_first_refused(crowd.segments, self._reasons, self._first)
        for amounts in (self._refused, self._retried, self._first, self.hot):
            amounts[...] = 0.0
