"""Call groups: the calls of all patterns, grouped by the buckets that they meet.

A row is a call group; its columns are the buckets that its calls are asked by, in the order of
the limits of a request. All arithmetic of admission is on these arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs.distributions import Floats, Integers, sums


@dataclass(slots=True)
class BucketUnits:
    """What calls take of buckets, by call group.

    Attributes:
        bucket_count: How many buckets there are.
        buckets: For each group and column the number of a bucket, 0 where there is none.
        units: What a call takes of it.
    """

    bucket_count: int
    buckets: Integers
    units: Floats

    def loads(self, calls: Floats) -> Floats:
        """Return what so many calls per group take of each bucket."""
        taken = (calls[:, None] * self.units).ravel()
        return sums(self.buckets.ravel(), taken, self.bucket_count)

    def loads_by_second(self, calls: Floats) -> Floats:
        """Return the loads of several seconds, each with so many calls per group."""
        seconds, count = len(calls), self.bucket_count
        buckets = np.arange(seconds)[:, None] * count + self.buckets.ravel()
        units = (calls[:, :, None] * self.units).reshape(seconds, -1)
        return sums(buckets.ravel(), units.ravel(), seconds * count).reshape(seconds, count)


@dataclass(slots=True)
class CallGroups(BucketUnits):
    """All groups of calls that meet the same buckets.

    Attributes:
        owner: For each column which of the call's placements it belongs to.
        actions: How many items of the group's kind are admitted all or none.
        chance: How likely a call draws on the bucket at all.
        patience: For each group 1 where a refusal is tried again, else 0.
        final: For each group and column whether a refusal there is never tried again.
        levels: For each column its buckets that no earlier column has, where there are any.
    """

    owner: Integers
    actions: Floats
    chance: Floats
    patience: Floats
    final: NDArray[np.bool_]
    levels: list[Integers] = field(init=False)
    _has_many: bool = field(init=False)
    _has_final: bool = field(init=False)
    _columns_by_owner: list[Integers] = field(init=False)

    def __post_init__(self) -> None:
        """Work out what does not change with the second."""
        self.levels = _levels(self.buckets, self.bucket_count)
        self._has_many = bool((self.actions > 1).any())
        self._has_final = bool(self.final.any())
        self._columns_by_owner = [
            np.flatnonzero(self.owner == owner) for owner in np.unique(self.owner).tolist()
        ]

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def columns(self) -> int:
        """How many buckets a call may meet."""
        return int(self.buckets.shape[1])

    def open_shares(self, shares: Floats) -> Floats:
        """Return, for each group and column, the share of attempts that the bucket lets pass."""
        return np.asarray(1 - self.chance * (1 - shares[self.buckets]))

    def passed(self, open_shares: Floats) -> Floats:
        """Return the share of attempts that pass in each group."""
        passed = open_shares.prod(axis=1)
        if self._has_many:
            passed = passed**self.actions
        return np.asarray(passed)

    def again(self, open_shares: Floats, passed: Floats) -> Floats:
        """Return the share of attempts that are refused and tried again."""
        if not self._has_final:
            return np.asarray((1 - passed) * self.patience)
        patient = np.where(self.final, open_shares, 1.0).prod(axis=1)
        return np.asarray(np.maximum(0.0, patient - passed) * self.patience)

    def first_refusals(self, open_shares: Floats, passed: Floats) -> Floats:
        """Return, for each group and column, the share of attempts that it is first to refuse."""
        refused = self.reached(open_shares) * (1 - open_shares)
        total = refused.sum(axis=1)
        scale = np.divide(1 - passed, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(refused * scale[:, None])

    def reached(self, open_shares: Floats) -> Floats:
        """Return, for each group and column, the share of attempts that no earlier one refuses."""
        reached = np.ones_like(open_shares)
        np.cumprod(open_shares[:, :-1], axis=1, out=reached[:, 1:])
        return reached

    def short_shares(self, open_shares: Floats) -> Floats:
        """Return, for each group and column, how often its resource had a short bucket."""
        short = np.zeros_like(open_shares)
        for columns in self._columns_by_owner:
            short[:, columns] = 1 - open_shares[:, columns].prod(axis=1, keepdims=True)
        return short


def _levels(buckets: Integers, count: int) -> list[Integers]:
    seen = np.zeros(count, dtype=np.bool_)
    seen[0] = True
    levels = []
    for column in range(buckets.shape[1]):
        level = np.zeros(count, dtype=np.bool_)
        level[buckets[:, column]] = True
        level &= ~seen
        seen |= level
        if level.any():
            levels.append(np.flatnonzero(level))
    return levels
