"""Pattern state: whose calls wait for a retry, and what happened to those of a stretch.

Key groups that meet the same partitions form a call group: to admission its calls are all alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.capacity.retries import RetryPolicy
from emulator.lab.aggregate.pattern_model import PatternModel
from emulator.lab.aggregate.placement import Placement
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.lab.outcome.run_log import KeyColumns

#: Points at which a jittered delay is looked at.
_JITTER_POINTS: Final = 16
#: Keeps a share of nothing from being a division by zero.
_TINY: Final = 1e-300
#: Fewer calls than this are rounding, and not worth a round of admission.
_NO_CALLS: Final = 1e-9


class _FixedChance:
    """The same number every time, where a policy asks for a random one."""

    def __init__(self, value: float) -> None:
        self._value = value

    def random(self) -> float:
        return self._value


def delay_offsets(policy: RetryPolicy) -> Floats:
    """Return the chance that retry r comes so many seconds later: rows are retries.

    An attempt falls anywhere within its second.

    >>> from emulator.capacity.retries import LEGACY
    >>> delay_offsets(LEGACY)[0, :2].round(3).tolist()
    [0.95, 0.05]
    """
    longest = int(policy.longest) + 3
    offsets = np.zeros((policy.attempts - 1, longest))
    points = (np.arange(_JITTER_POINTS) + 0.5) / _JITTER_POINTS if policy.jitter else [0.5]
    for retry in range(1, policy.attempts):
        for point in points:
            delay = policy.delay(retry, _FixedChance(float(point)))  # type: ignore[arg-type]  # random() is all it asks
            whole = int(delay)
            rest = delay - whole
            offsets[retry - 1, whole] += (1 - rest) / len(points)
            offsets[retry - 1, whole + 1] += rest / len(points)
    return offsets


@dataclass(frozen=True)
class Grouping:
    """Which call group each key group of a pattern belongs to.

    Attributes:
        group_of: For each key group the number of its call group.
        partitions: For each placement the partition that each call group meets there.
        weights: For each key group its share of the requests at the time.
    """

    group_of: Integers
    partitions: list[Integers]
    weights: Floats

    @classmethod
    def of(cls, model: PatternModel) -> Grouping:
        """Group key groups by the partitions that they meet now."""
        met = np.stack([placement.partitions() for placement in model.placements])
        distinct, group_of = np.unique(met, axis=1, return_inverse=True)
        return cls(group_of.reshape(-1), list(distinct), model.groups.weights)

    def __len__(self) -> int:
        return len(self.partitions[0])

    def sums(self, values: Floats) -> Floats:
        """Return the sum over the key groups of each call group."""
        return sums(self.group_of, values, len(self))


@dataclass(frozen=True)
class CallMix:
    """What the calls of a pattern's call groups are like during one stretch.

    Attributes:
        shares: Of the pattern's requests, by call group.
        calls: Calls per request, by call group.
        key_shares: For each key group its share of its call group's calls.
        units: For each placement the units of one call, by call group.
        evaluated: Bytes read per call, by call group.
        filtered: Of those the bytes that a filter throws away.
    """

    shares: Floats
    calls: Floats
    key_shares: Floats
    units: list[Floats]
    evaluated: Floats
    filtered: Floats

    @classmethod
    def of(cls, model: PatternModel, grouping: Grouping) -> CallMix:
        """Weigh the key groups of each call group, as the model prices them now."""
        weights = model.groups.weights
        calls = weights * model.calls
        shares = grouping.sums(weights)
        by_group = grouping.sums(calls)
        key_shares = calls / np.maximum(by_group[grouping.group_of], _TINY)

        def mean(values: Floats) -> Floats:
            if len(values) != len(key_shares):
                return np.zeros(len(grouping))
            return grouping.sums(key_shares * values)

        return cls(
            shares=shares,
            calls=by_group / np.maximum(shares, _TINY),
            key_shares=key_shares,
            units=[
                grouping.sums(calls * placement.units) / np.maximum(by_group, _TINY)
                for placement in model.placements
            ],
            evaluated=mean(model.evaluated),
            filtered=mean(model.filtered),
        )


@dataclass(slots=True)
class Tally:
    """What happened to a pattern's calls in one stretch.

    Attributes:
        accepted: Calls that passed, by call group.
        answered: Calls that passed, by number of the attempt.
        failed: Calls given up, by number of the attempt.
        refused: Attempts refused, by number of the attempt.
        first_refused: Calls refused at first, by call group and bucket met.
        refused_units: For each placement the units refused, by call group.
        hot_units: Of those what the partition itself refused, each call once.
    """

    accepted: Floats
    answered: Floats
    failed: Floats
    refused: Floats
    first_refused: Floats
    refused_units: list[Floats]
    hot_units: list[Floats]

    @classmethod
    def empty(cls, groups: int, attempts: int, buckets: int, placements: int) -> Tally:
        """Return a tally of nothing, for so many of each."""
        return cls(
            accepted=np.zeros(groups),
            answered=np.zeros(attempts),
            failed=np.zeros(attempts),
            refused=np.zeros(attempts),
            first_refused=np.zeros((groups, buckets)),
            refused_units=[np.zeros(groups) for _ in range(placements)],
            hot_units=[np.zeros(groups) for _ in range(placements)],
        )


@dataclass(slots=True)
class _KeyUnits:
    """What the keys of one placement consumed, and were refused, since they are what they are."""

    placement: Placement
    texts: list[tuple[str, ...]]
    is_new: bool
    consumed: Floats
    throttled: Floats

    @classmethod
    def of(cls, placement: Placement) -> _KeyUnits:
        """Start counting for the keys of now."""
        count = len(placement.units)
        texts, is_new = placement.texts, placement.is_new
        return cls(placement, texts, is_new, np.zeros(count), np.zeros(count))

    def flush(self) -> None:
        """Write the units down."""
        columns = KeyColumns(
            self.placement.axis,
            self.is_new,
            self.texts,
            self.consumed.tolist(),
            self.throttled.tolist(),
        )
        self.placement.record.add_keys(columns)


class PatternState:
    """What one pattern carries from stretch to stretch: who waits, and what its keys consumed.

    Attributes:
        requests: How many arrive in each second of the run.
        attempts: How often a call is tried at most.
        offsets: From ``delay_offsets``.
    """

    def __init__(self, model: PatternModel, requests: Integers) -> None:
        self.model = model
        self.requests = requests
        self.attempts = model.policy.attempts
        self.offsets = delay_offsets(model.policy)
        #: Seconds that are looked ahead; a ring, so that no second has to be moved.
        self._ring = self.offsets.shape[1]
        #: For each second of the ring, and each retry, where in the ring it comes by what chance.
        later = self.offsets.copy()
        later[:, 0] = 0.0
        self._later = [np.roll(later, second, axis=1) for second in range(self._ring)]
        #: By retry, second of the ring and call group: calls that come then.
        self._waiting = np.zeros((self.attempts - 1, self._ring, 1))
        self._recorded_groups = _recorded_groups(model)
        self._keys: list[_KeyUnits] = []

    # Who waits

    @property
    def has_waiting(self) -> bool:
        """Return whether any call waits for its retry."""
        return bool(self._waiting.any())

    def waiting_by_retry(self) -> list[float]:
        """Return how many calls wait for their first retry, their second, and so on."""
        return [float(self._waiting[retry].sum()) for retry in range(self.attempts - 1)]

    def regroup(self, old: Grouping | None, new: Grouping) -> None:
        """Let those who wait go where the keys they ask for now lie, and count anew by key."""
        self.flush_keys()
        if old is None or not self._waiting.any():
            self._waiting = np.zeros((self.attempts - 1, self._ring, len(new)))
        elif len(old.group_of) == len(new.group_of):
            totals = old.sums(old.weights)
            shares = old.weights / np.maximum(totals[old.group_of], _TINY)
            order = np.argsort(new.group_of, kind="stable")
            starts = np.searchsorted(new.group_of[order], np.arange(len(new)))
            carried = self._waiting[:, :, old.group_of[order]] * shares[order]
            self._waiting = np.add.reduceat(carried, starts, axis=2)
        else:
            even = new.sums(new.weights)
            self._waiting = self._waiting.sum(axis=2)[:, :, None] * even
        self._keys = [_KeyUnits.of(placement) for placement in self.model.placements]

    def due(self, second: int) -> Floats | None:
        """Take out and return who comes again in a second, by retry and call group, if any."""
        at = second % self._ring
        due = self._waiting[:, at]
        if due.max(initial=0.0) <= _NO_CALLS:
            return None
        taken = due.copy()
        self._waiting[:, at] = 0.0
        return taken

    def settle(
        self, tally: Tally, second: int, by_number: Floats, passed: Floats, again: Floats
    ) -> float:
        """Answer who passed, and let who was refused wait or give up; return how many wait.

        Args:
            tally: Where it is counted.
            second: When.
            by_number: Attempts by number of the attempt and call group.
            passed: The share of attempts that pass, by call group.
            again: The share of attempts that are refused and tried again.
        """
        by_number = by_number[: self.attempts]
        answered = by_number * passed
        tally.accepted += answered.sum(axis=0)
        tally.answered += answered.sum(axis=1)
        refused = by_number.sum(axis=1) - answered.sum(axis=1)
        tally.refused += refused
        waits = by_number[:-1] * again
        lost = refused.copy()
        lost[:-1] -= waits.sum(axis=1)
        tally.failed += lost
        self._waiting += waits[:, None, :] * self._later[second % self._ring][:, :, None]
        return float(waits.sum())

    # Who arrives

    def arrivals(
        self, first: int, last: int, grouping: Grouping, mix: CallMix, rng: np.random.Generator
    ) -> Floats:
        """Return the calls that newly arrive, by second and call group."""
        requests = self.requests[first:last]
        if self._recorded_groups is not None:
            return self._recorded_arrivals(first, last, grouping) * mix.calls
        if self.model.groups.steady or len(grouping) == 1:
            return np.outer(requests, mix.shares * mix.calls)
        shares = mix.shares / mix.shares.sum()
        return np.asarray(rng.multinomial(requests, shares) * mix.calls)

    def _recorded_arrivals(self, first: int, last: int, grouping: Grouping) -> Floats:
        recorded = self.model.pattern.recorded
        assert recorded is not None, "found only for recorded patterns"
        assert self._recorded_groups is not None, "asked only where they were found"
        times = np.asarray(recorded.times)
        low, high = np.searchsorted(times, (first, last))
        seconds = times[low:high].astype(np.int64) - first
        groups = grouping.group_of[self._recorded_groups[low:high]]
        count, length = len(grouping), last - first
        flat = np.bincount(seconds * count + groups, minlength=length * count)
        return np.asarray(flat.reshape(length, count), dtype=np.float64)

    # What is written down

    def close(self, grouping: Grouping, mix: CallMix, tally: Tally) -> None:
        """Hand on what happened in a stretch: units, bytes, items, keys."""
        model, record = self.model, self.model.record
        self._log_calls(tally)
        accepted = tally.accepted[grouping.group_of] * mix.key_shares
        for number, (placement, keys) in enumerate(zip(model.placements, self._keys, strict=True)):
            units = tally.accepted * mix.units[number] * model.actions
            record.consume(placement.record.name, placement.axis, float(units.sum()))
            keys.consumed += accepted * placement.units * model.actions
            refused = tally.refused_units[number]
            if refused.any():
                keys.throttled += refused[grouping.group_of] * mix.key_shares
        record.evaluated_bytes += float((tally.accepted * mix.evaluated).sum())
        record.filtered_bytes += float((tally.accepted * mix.filtered).sum())
        model.absorb(accepted)

    def _log_calls(self, tally: Tally) -> None:
        record, policy = self.model.record, self.model.policy
        record.calls += float(tally.answered.sum() + tally.failed.sum())
        record.attempts += float(tally.answered.sum() + tally.refused.sum())
        record.refusals += float(tally.refused.sum())
        record.failed += float(tally.failed.sum())
        waited = 0.0
        for number, (done, lost) in enumerate(
            zip(tally.answered.tolist(), tally.failed.tolist(), strict=True)
        ):
            record.histogram[number] += done + lost
            if number:
                waited += policy.delay(number)
                if done:
                    record.latencies.append(waited)
                    record.latency_weights.append(done)

    def flush_keys(self) -> None:
        """Write down what keys consumed; also to be called at the end."""
        if self.model.path.kind != "scan":
            for keys in self._keys:
                keys.flush()
        self._keys = []


def _recorded_groups(model: PatternModel) -> Integers | None:
    """Return the key group of each recorded request, if the recording can be followed."""
    recorded, groups, workload = model.pattern.recorded, model.groups, model.context.workload
    if recorded is None or groups.sampled or workload.load != 1:
        return None
    fields = [field for field in workload.fields if field.name in groups.columns]
    if not {field.name for field in fields} <= set(recorded.values):
        return None
    if len(fields) != len(groups.columns):
        return None
    ordered = sorted(fields, key=lambda field: groups.columns[field.name])
    texts = [[field.text(number) for number in recorded.values[field.name]] for field in ordered]
    group_of = {row: group for group, row in enumerate(groups.rows)}
    numbers = [group_of.get(row, -1) for row in zip(*texts, strict=True)] if texts else []
    if len(numbers) != len(recorded.times) or min(numbers, default=-1) < 0:
        return None
    return np.asarray(numbers, dtype=np.int64)
