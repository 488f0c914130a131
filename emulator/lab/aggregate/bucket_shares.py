"""Admission in numbers: how much of a second's demand passes, over all limits at once.

The buckets are the emulator's own; here it is only worked out how much each of them lets pass
when many calls compete within one second. Within a second every bucket is open for a share of
the attempts; a call passes where all its buckets are open. The shares are such that no bucket
gives more than it has, found by proportional fitting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import ONE, TokenBucket
from emulator.engine.feed import TrafficFeed
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import ResourceRecord

#: Rounds of fitting at most, and how close is close enough.
_ROUNDS: Final = 40
_CLOSE: Final = 2e-3
_LEAST: Final = 1e-6
#: What the bucket that is always open has.
_PLENTY: Final = 1e18


class BucketBoard:
    """All buckets of a design, by number; number 0 is always open.

    Attributes:
        rates: Units per second.
        reasons: What each says when it is short.
        is_partition: For each whether it is a partition's.
    """

    def __init__(self, records: list[ResourceRecord]) -> None:
        self._buckets: list[TokenBucket | None] = [None]
        self.reasons: list[str] = [""]
        self._numbers: dict[int, int] = {}
        #: By resource number and axis: the buckets above the partition's, then the partitions'.
        self.above: dict[tuple[int, int], list[int]] = {}
        self.partitions: dict[tuple[int, int], Integers] = {}
        for number, record in enumerate(records):
            meter = record.resource.meter
            for axis in (0, 1):
                labels = meter.reasons[axis]
                above = [
                    self._add(bucket, label.reason)
                    for bucket, label in zip(meter.limits[axis], labels, strict=False)
                ]
                own = [
                    self._add(meter.partitions[partition.id][axis], labels[-1].reason)
                    for partition in record.resource.partitions
                ]
                self.above[number, axis] = above
                self.partitions[number, axis] = np.asarray(own, dtype=np.int64)
        self.is_partition = np.zeros(len(self._buckets), dtype=np.bool_)
        self.is_partition[np.concatenate(list(self.partitions.values()))] = True
        self.rates = np.asarray(
            [_PLENTY, *(float(one.rate) for one in self._buckets if one is not None)]
        )
        self._full = 2 * self.rates
        self._alike = [n for n in range(1, len(self._buckets)) if not self.is_partition[n]]
        self._short: set[int] = {
            n for n, one in enumerate(self._buckets) if one is not None and one.base < one.base_cap
        }

    def __len__(self) -> int:
        return len(self._buckets)

    def _add(self, bucket: TokenBucket, reason: str) -> int:
        number = self._numbers.get(id(bucket))
        if number is None:
            number = self._numbers[id(bucket)] = len(self._buckets)
            self._buckets.append(bucket)
            self.reasons.append(reason)
        return number

    @property
    def is_full(self) -> bool:
        """Say whether every bucket is full, its reserve for bursts aside."""
        return not self._short and all(self._is_full(number) for number in self._alike)

    def _is_full(self, number: int) -> bool:
        bucket = self._buckets[number]
        return bucket is None or bucket.base >= bucket.base_cap

    def available(self) -> Floats:
        """Return what each bucket can give within the next second.

        That is what it holds and what comes in meanwhile.
        """
        units = self._full.copy()
        for number in (*self._alike, *self._short):
            bucket = self._buckets[number]
            assert bucket is not None, "the open bucket is never short"
            units[number] = (bucket.base + bucket.burst) / ONE + bucket.rate
        return units

    def take(self, consumed: Floats, end_ns: int) -> None:
        """Draw a second's consumption and let the second pass.

        A partition's bucket that is full and gives no more than its rate is full again after.
        """
        over = np.flatnonzero((consumed > self.rates) & self.is_partition).tolist()
        for number in {*self._alike, *self._short, *over}:
            bucket = self._buckets[number]
            assert bucket is not None, "nothing is drawn from the open bucket"
            TrafficFeed.draw(bucket, int(consumed[number] * ONE), end_ns)
            if self.is_partition[number]:
                if bucket.base < bucket.base_cap:
                    self._short.add(number)
                else:
                    self._short.discard(number)


@dataclass(slots=True)
class Cells:
    """All groups of calls that meet the same buckets.

    Attributes:
        buckets: For each cell and slot the number of a bucket, 0 where there is none.
        units: What a call asks of it.
        owner: For each slot which of the call's resources it belongs to.
        actions: How many items of the cell's kind are admitted all or none.
        touch: How likely a call draws on the bucket at all.
        patience: For each cell 1 where a refusal is tried again, else 0.
        final: For each cell and slot whether a refusal there is never tried again.
    """

    buckets: Integers
    units: Floats
    owner: Integers
    actions: Floats
    touch: Floats
    patience: Floats
    final: NDArray[np.bool_]
    has_many: bool = field(init=False)
    has_final: bool = field(init=False)
    slots_of: list[Integers] = field(init=False)

    def __post_init__(self) -> None:
        self.has_many = bool((self.actions > 1).any())
        self.has_final = bool(self.final.any())
        self.slots_of = [
            np.flatnonzero(self.owner == owner) for owner in np.unique(self.owner).tolist()
        ]

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def slots(self) -> int:
        """How many buckets a call may meet."""
        return int(self.buckets.shape[1])

    def loads(self, calls: Floats, count: int) -> Floats:
        """Return what so many calls per cell ask of each bucket."""
        return sums(self.buckets.ravel(), (calls[:, None] * self.units).ravel(), count)

    def loads_by_second(self, calls: Floats, count: int) -> Floats:
        """Return the loads of several seconds, each with so many calls per cell."""
        seconds = len(calls)
        places = np.arange(seconds)[:, None] * count + self.buckets.ravel()
        units = (calls[:, :, None] * self.units).reshape(seconds, -1)
        return sums(places.ravel(), units.ravel(), seconds * count).reshape(seconds, count)

    def doors(self, shares: Floats) -> Floats:
        """Return, for each cell and slot, the share of attempts that the bucket lets pass."""
        return np.asarray(1 - self.touch * (1 - shares[self.buckets]))

    def openness(self, doors: Floats) -> Floats:
        """Return the share of attempts that pass in each cell."""
        passed = doors.prod(axis=1)
        if self.has_many:
            passed = passed**self.actions
        return np.asarray(passed)

    def again(self, doors: Floats, passed: Floats) -> Floats:
        """Return the share of attempts that are refused and tried again."""
        if not self.has_final:
            return np.asarray((1 - passed) * self.patience)
        patient = np.where(self.final, doors, 1.0).prod(axis=1)
        return np.asarray(np.maximum(0.0, patient - passed) * self.patience)

    def refusals(self, doors: Floats, passed: Floats) -> Floats:
        """Return, for each cell and slot, the share of attempts that it is first to refuse."""
        reached = np.ones_like(doors)
        np.cumprod(doors[:, :-1], axis=1, out=reached[:, 1:])
        found = reached * (1 - doors)
        total = found.sum(axis=1)
        scale = np.divide(1 - passed, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(found * scale[:, None])

    def short_shares(self, doors: Floats) -> Floats:
        """Return, for each cell and slot, how often its resource had a short bucket."""
        found = np.zeros_like(doors)
        for slots in self.slots_of:
            found[:, slots] = 1 - doors[:, slots].prod(axis=1, keepdims=True)
        return found


class Attempts:
    """The attempts of one second, by number of the attempt: first ones and retries.

    A refused attempt comes again, in the same second with the chance ``same``.

    Attributes:
        arriving: Those that did not begin in this second as another's retry.
    """

    def __init__(self, same: Floats) -> None:
        self.arriving = np.zeros((len(same) + 1, same.shape[1]))
        self._same = same
        self._retried = (np.flatnonzero(same.any(axis=1)) + 1).tolist()

    def by_number(self, again: Floats) -> Floats:
        """Return the attempts in the second, if such shares of them are tried again."""
        found = self.arriving.copy()
        comes = again * self._same
        for number in self._retried:
            found[number] += found[number - 1] * comes[number - 1]
        return found


def fit(
    cells: Cells,
    levels: list[Integers],
    attempts: Attempts,
    affordable: float,
    available: Floats,
    start: Floats,
) -> Floats:
    """Return for each bucket the share of attempts that it lets pass.

    Args:
        cells: The groups of calls.
        levels: Their buckets, one level after the other.
        attempts: What arrives.
        affordable: The share of retries that the clients' quotas allow.
        available: What each bucket can give.
        start: Where to begin, such as the answer of the second before.
    """
    shares = np.where(available > 0, np.clip(start, _LEAST, 1.0), 0.0)
    shares[0] = 1.0
    count = len(available)
    steps = [_Steps(level[available[level] > 0]) for level in levels]
    loads, asked = available, None
    for _ in range(_ROUNDS):
        before = shares
        # One level after the other: if all were corrected at once, two that are short on the
        # same calls would both make up for the whole of it.
        for step in steps:
            if shares is not asked:
                doors = cells.doors(shares)
                passed = cells.openness(doors)
                again = cells.again(doors, passed) * affordable
                total = attempts.by_number(again).sum(axis=0)
                loads, asked = cells.loads(total * passed, count), shares
            shares = step.correct(shares, loads, available)
        if (np.abs(shares - before) / np.maximum(shares, _CLOSE)).max() <= _CLOSE:
            break
    return shares


class _Steps:
    """The corrections of one level's buckets.

    A bucket that lets more pass sees fewer retries, so its load grows less than its share does.
    How much less is learned from the last correction and made up for in the next.
    """

    def __init__(self, level: Integers) -> None:
        self._level = level
        self._last: tuple[Floats, Floats] | None = None

    def correct(self, shares: Floats, loads: Floats, available: Floats) -> Floats:
        """Return the shares with those of this level brought closer to what there is."""
        level = self._level
        own, load, most = shares[level], loads[level], available[level]
        if (own == 1).all() and (load <= most).all():
            return shares
        log_own = np.log(own)
        log_load = np.log(np.maximum(load, _LEAST))
        wanted = np.log(most) - log_load
        growth = np.ones(len(level))
        if self._last is not None:
            moved = log_own - self._last[0]
            known = np.abs(moved) > _CLOSE / 10
            np.divide(log_load - self._last[1], moved, out=growth, where=known)
        self._last = log_own, log_load
        better = np.exp(np.minimum(0.0, log_own + wanted / np.clip(growth, 0.25, 1.0)))
        corrected = shares.copy()
        corrected[level] = np.where(load > 0, np.maximum(better, _LEAST), 1.0)
        return corrected


def levels_of(cells: Cells, count: int) -> list[Integers]:
    """Return the buckets of each slot that no earlier slot has."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[0] = True
    found = []
    for slot in range(cells.buckets.shape[1]):
        level = np.zeros(count, dtype=np.bool_)
        level[cells.buckets[:, slot]] = True
        level &= ~seen
        seen |= level
        if level.any():
            found.append(np.flatnonzero(level))
    return found
