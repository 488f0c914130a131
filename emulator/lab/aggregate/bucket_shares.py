"""Bucket shares: how much of a second's demand passes, over all limits at once.

The buckets are the emulator's own; here it is only worked out how much each of them lets pass
when many calls compete within one second. Within a second every bucket is open for a share of
the attempts; a call passes where all its buckets are open. The shares are such that no bucket
gives more than it has, found by proportional fitting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from emulator.capacity import ONE, READ, WRITE, TokenBucket
from emulator.engine.feed import TrafficFeed
from emulator.lab.aggregate.call_groups import CallGroups
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.outcome.run_log import ResourceRecord

#: Rounds of fitting at most, and how close is close enough.
_ROUNDS: Final = 40
_CLOSE: Final = 2e-3
_LEAST: Final = 1e-6
#: What the bucket that is always open has.
_PLENTY: Final = 1e18


class BucketTable:
    """All buckets of a design, by number; number 0 is always open.

    Attributes:
        rates: Units per second.
        reasons: What a refusal by each is called.
        above: By resource and axis, the buckets that all its calls meet before a partition's.
        partitions: By resource and axis, the buckets of its partitions in key order.
        gates: By table, a bucket that lets all of its writes through, or none of them.
    """

    def __init__(self, records: list[ResourceRecord]) -> None:
        self._buckets: list[TokenBucket | None] = [None]
        self.reasons: list[str] = [""]
        self._numbers: dict[int, int] = {}
        self.above: dict[tuple[str, int], list[int]] = {}
        self.partitions: dict[tuple[str, int], Integers] = {}
        for record in records:
            meter = record.resource.meter
            for axis in (READ, WRITE):
                reasons = meter.reasons[axis]
                self.above[meter.arn, axis] = [
                    self._add(bucket, reason.reason)
                    for bucket, reason in zip(meter.limits[axis], reasons, strict=False)
                ]
                own = [
                    self._add(meter.partitions[partition.id][axis], reasons[-1].reason)
                    for partition in record.resource.partitions
                ]
                self.partitions[meter.arn, axis] = np.asarray(own, dtype=np.int64)
        self.gates: dict[str, int] = {}
        for record in records:
            if record.is_table:
                self.gates[record.resource.arn] = len(self._buckets)
                self._buckets.append(None)
                self.reasons.append("")
        self._closed: list[int] = []
        self._is_partition = np.zeros(len(self._buckets), dtype=np.bool_)
        self._is_partition[np.concatenate(list(self.partitions.values()))] = True
        self.rates = np.asarray(
            [_PLENTY if bucket is None else float(bucket.rate) for bucket in self._buckets]
        )
        self._full = 2 * self.rates
        self._above = [
            number
            for number, bucket in enumerate(self._buckets)
            if bucket is not None and not self._is_partition[number]
        ]
        self._short: set[int] = {
            number
            for number, bucket in enumerate(self._buckets)
            if bucket is not None and bucket.base < bucket.base_cap
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
        """Return whether every bucket is full, reserves aside, and every gate open."""
        if self._closed or self._short:
            return False
        return all(self._is_full(number) for number in self._above)

    def _is_full(self, number: int) -> bool:
        bucket = self._buckets[number]
        return bucket is None or bucket.base >= bucket.base_cap

    def available(self) -> Floats:
        """Return what each bucket can give within the next second.

        That is what it holds and what comes in meanwhile.
        """
        units = self._full.copy()
        for number in (*self._above, *self._short):
            bucket = self._buckets[number]
            assert bucket is not None, "the open bucket is never short"
            units[number] = (bucket.base + bucket.burst) / ONE + bucket.rate
        units[self._closed] = 0.0
        return units

    def close_gates(self, reasons: Mapping[str, str]) -> None:
        """Refuse all writes to some tables, each for a reason, and let those of others through."""
        self._closed = [self.gates[arn] for arn in reasons]
        for arn, reason in reasons.items():
            self.reasons[self.gates[arn]] = reason

    def carry(self, old: BucketTable, values: Floats) -> Floats:
        """Return values of another table's buckets for those that are still there."""
        carried = np.zeros(len(self))
        for bucket_id, number in self._numbers.items():
            before = old._numbers.get(bucket_id)
            if before is not None:
                carried[number] = values[before]
        return carried

    def take(self, consumed: Floats, end_ns: int) -> None:
        """Draw a second's consumption and let the second pass.

        A partition's bucket that is full and gives no more than its rate is full again after.
        """
        over = np.flatnonzero((consumed > self.rates) & self._is_partition).tolist()
        for number in {*self._above, *self._short, *over}:
            bucket = self._buckets[number]
            assert bucket is not None, "nothing is drawn from the open bucket"
            TrafficFeed.draw(bucket, int(consumed[number] * ONE), end_ns)
            if self._is_partition[number]:
                if bucket.base < bucket.base_cap:
                    self._short.add(number)
                else:
                    self._short.discard(number)


class Attempts:
    """The attempts of one second, by number of the attempt: first ones and retries.

    A refused attempt comes again, in the same second with the chance ``same_second``.

    Attributes:
        arriving: Those that did not begin in this second as another's retry.
    """

    def __init__(self, same_second: Floats) -> None:
        self.arriving = np.zeros((len(same_second) + 1, same_second.shape[1]))
        self._same_second = same_second
        self._retried = (np.flatnonzero(same_second.any(axis=1)) + 1).tolist()

    def by_number(self, again: Floats) -> Floats:
        """Return the attempts in the second, if such shares of them are tried again."""
        attempts = self.arriving.copy()
        comes = again * self._same_second
        for number in self._retried:
            attempts[number] += attempts[number - 1] * comes[number - 1]
        return attempts


def fit_shares(
    groups: CallGroups,
    attempts: Attempts,
    *,
    affordable: float,
    available: Floats,
    start: Floats,
) -> Floats:
    """Return for each bucket the share of attempts that it lets pass.

    Args:
        groups: The calls.
        attempts: What arrives.
        affordable: The share of retries that the clients' quotas allow.
        available: What each bucket can give.
        start: Where to begin, such as the answer of the second before.
    """
    shares = np.where(available > 0, np.clip(start, _LEAST, 1.0), 0.0)
    shares[0] = 1.0
    steps = [_Steps(level[available[level] > 0]) for level in groups.levels]
    loads, asked = available, None
    for _ in range(_ROUNDS):
        before = shares
        # One level after the other: if all were corrected at once, two that are short on the
        # same calls would both make up for the whole of it.
        for step in steps:
            if shares is not asked:
                open_shares = groups.open_shares(shares)
                passed = groups.passed(open_shares)
                again = groups.again(open_shares, passed) * affordable
                total = attempts.by_number(again).sum(axis=0)
                loads, asked = groups.loads(total * passed), shares
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
