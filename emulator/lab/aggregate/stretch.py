"""A stretch: some seconds in which no key and hardly any price changes, as values.

Everything that holds throughout a stretch is worked out once, here; the engine then runs its
seconds, and what happens in them is added to the tallies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emulator.capacity import READ, throttle_error
from emulator.capacity.refusal import Reason
from emulator.lab.aggregate.bucket_shares import Attempts, BucketTable
from emulator.lab.aggregate.call_groups import BucketUnits, CallGroups
from emulator.lab.aggregate.index_queues import IndexQueues
from emulator.lab.aggregate.pattern_model import PatternModel
from emulator.lab.aggregate.pattern_state import CallMix, Grouping, PatternState, Tally
from emulator.lab.inputs.distributions import Floats, Integers, sums
from emulator.service.errors import TransactionCanceledException
from emulator.service.throttling import ThrottlingLimit

#: Stands for the gate of a table, which is no limit of a resource's own.
_NO_PLACEMENT: Final = -1


@dataclass(frozen=True)
class PatternStretch:
    """One pattern during a stretch.

    Attributes:
        rows: Its call groups among those of all patterns.
        partition_columns: For each placement the column of its partitions' buckets.
        other_columns: The columns of all other buckets.
    """

    state: PatternState
    grouping: Grouping
    mix: CallMix
    rows: slice
    partition_columns: list[int]
    other_columns: list[int]
    tally: Tally

    @property
    def model(self) -> PatternModel:
        """The pattern in numbers."""
        return self.state.model

    def use_of(self, placement: int) -> tuple[Floats, Floats, Floats]:
        """Return for each key group calls accepted, units, and units its partition refused."""
        group_of, key_shares = self.grouping.group_of, self.mix.key_shares
        accepted = self.tally.accepted[group_of] * key_shares
        units = accepted * self.model.placements[placement].units * self.model.actions
        return accepted, units, self.tally.hot_units[placement][group_of] * key_shares

    def close(self) -> None:
        """Hand on what happened."""
        self.state.close(self.grouping, self.mix, self.tally)


@dataclass(frozen=True)
class Stretch:
    """All patterns during a stretch, and the buckets that their calls meet.

    Attributes:
        buckets: All buckets.
        groups: What admission asks of them.
        arms: What accepted calls add to the queues of global indexes.
        served: What accepted calls take of partitions, as it is metered.
        attempts: Who tries, and tries again.
        patterns: Each pattern's own.
    """

    buckets: BucketTable
    groups: CallGroups
    arms: BucketUnits
    served: BucketUnits
    attempts: Attempts
    patterns: list[PatternStretch]

    @classmethod
    def of(
        cls,
        states: Sequence[PatternState],
        groupings: Sequence[Grouping],
        buckets: BucketTable,
        queues: IndexQueues,
    ) -> Stretch:
        """Price the calls as of now, and lay them over the buckets."""
        mixes = []
        for state, grouping in zip(states, groupings, strict=True):
            state.model.price()
            mixes.append(CallMix.of(state.model, grouping))
        starts = np.cumsum([0, *(len(grouping) for grouping in groupings)]).tolist()
        rows = [slice(first, last) for first, last in pairwise(starts)]
        every = [
            _buckets_met(state.model, grouping, mix, buckets, queues)
            for state, grouping, mix in zip(states, groupings, mixes, strict=True)
        ]
        met = [[bucket for bucket in some if bucket.arn not in queues] for some in every]
        arms = [[bucket for bucket in some if bucket.arn in queues] for some in every]
        partitions = [[bucket for bucket in some if bucket.is_partition] for some in met]
        groups = _call_groups(states, rows, met, buckets)
        patterns = [
            PatternStretch(
                state,
                grouping,
                mix,
                own,
                [column for column, bucket in enumerate(met_here) if bucket.is_partition],
                [column for column, bucket in enumerate(met_here) if not bucket.is_partition],
                Tally.empty(
                    len(grouping), state.attempts, groups.columns, len(state.model.placements)
                ),
            )
            for state, grouping, mix, own, met_here in zip(
                states, groupings, mixes, rows, met, strict=True
            )
        ]
        attempts = Attempts(_same_second(states, rows, len(groups)))
        return cls(
            buckets,
            groups,
            _bucket_units(states, rows, arms, buckets),
            _bucket_units(states, rows, partitions, buckets),
            attempts,
            patterns,
        )

    def arrivals(self, first: int, last: int, rng: np.random.Generator) -> Floats:
        """Return the calls that newly arrive, by second and call group, and log the requests."""
        arriving = np.concatenate(
            [
                pattern.state.arrivals(first, last, pattern.grouping, pattern.mix, rng)
                for pattern in self.patterns
            ],
            axis=1,
        )
        for pattern in self.patterns:
            record = pattern.model.record
            record.requests += float(pattern.state.requests[first:last].sum())
            record.fan_out += float(arriving[:, pattern.rows].sum())
        return arriving

    def due(self, second: int) -> Floats | None:
        """Take out and return who comes again in a second, by retry and call group, if any."""
        due: Floats | None = None
        for pattern in self.patterns:
            waiting = pattern.state.due(second)
            if waiting is not None:
                if due is None:
                    due = np.zeros((len(self.attempts.arriving) - 1, len(self.groups)))
                due[: len(waiting), pattern.rows] = waiting
        return due

    def refuse(self, attempts: Floats, short: Floats) -> Floats:
        """Count the units of refused attempts where a limit of their resource was short.

        Returns:
            The units by bucket.
        """
        refused = np.zeros(len(self.buckets))
        for pattern in self.patterns:
            for placement, column in enumerate(pattern.partition_columns):
                asked = self.groups.units[pattern.rows, column]
                units = attempts[pattern.rows] * short[pattern.rows, column] * asked
                pattern.tally.refused_units[placement] += units
                refused += sums(self.groups.buckets[pattern.rows, column], units, len(refused))
        return refused

    def heat(self, arriving: Floats, open_shares: Floats) -> Floats:
        """Count the units that partitions themselves refused, of calls that reached them.

        A call that comes again within the minute counts once (CAP2-2).

        Returns:
            The units by bucket.
        """
        hot = np.zeros(len(self.buckets))
        for part in self.patterns:
            shares = open_shares[part.rows]
            reached = shares[:, part.other_columns].prod(axis=1)
            for placement, column in enumerate(part.partition_columns):
                asked = self.groups.units[part.rows, column]
                units = arriving[part.rows] * reached * (1 - shares[:, column]) * asked
                part.tally.hot_units[placement] += units
                hot += sums(self.groups.buckets[part.rows, column], units, len(hot))
        return hot

    def close(self) -> None:
        """Hand on what happened to the calls of every pattern."""
        for pattern in self.patterns:
            throttled = pattern.model.record.throttled_by_reason
            buckets = self.groups.buckets[pattern.rows]
            by_bucket = sums(
                buckets.ravel(), pattern.tally.first_refused.ravel(), len(self.buckets)
            )
            for number in np.flatnonzero(by_bucket > 0).tolist():
                reason = self.buckets.reasons[number]
                throttled[reason] = throttled.get(reason, 0.0) + float(by_bucket[number])
            pattern.close()


@dataclass(slots=True)
class _BucketMet:
    """A bucket that the calls of a pattern meet: its number and their units, by call group.

    Attributes:
        arn: The table or index that it belongs to.
        full_units: What is metered, where an eventual read takes less of its partition (CAP2-6).
    """

    arn: str
    placement: int
    numbers: Integers
    units: Floats
    full_units: Floats
    is_partition: bool = False


def _buckets_met(
    model: PatternModel,
    grouping: Grouping,
    mix: CallMix,
    buckets: BucketTable,
    queues: IndexQueues,
) -> list[_BucketMet]:
    """Return the buckets that a pattern's calls meet, in the order they are asked.

    Those above the partitions may be shared by table and indexes; they are asked once.
    """
    met: list[_BucketMet] = []
    shared: dict[int, _BucketMet] = {}
    count = len(grouping)

    def meet(arn: str, placement: int, bucket: int, units: Floats) -> None:
        shared[bucket] = _BucketMet(arn, placement, np.full(count, bucket), units, units)
        met.append(shared[bucket])

    if model.pattern.is_write:
        table = model.placements[0].record.resource.arn
        meet(table, _NO_PLACEMENT, buckets.gates[table], np.ones(count))
    for number, placement in enumerate(model.placements):
        resource = placement.record.resource
        key = (resource.arn, placement.axis)
        units = mix.units[number]
        for bucket in buckets.above[key]:
            if bucket in shared and resource.arn not in queues:
                shared[bucket].units = shared[bucket].units + units
            else:
                meet(resource.arn, number, bucket, units)
        own = buckets.partitions[key][grouping.partitions[number]]
        is_eventual = placement.axis == READ and not model.pattern.consistent
        taken = units / resource.settings.eventual_read_factor if is_eventual else units
        met.append(_BucketMet(resource.arn, number, own, taken, units, is_partition=True))
    return met


def _bucket_units(
    states: Sequence[PatternState],
    rows: Sequence[slice],
    met: Sequence[list[_BucketMet]],
    table: BucketTable,
) -> BucketUnits:
    """Lay what calls take, as it is metered, over buckets."""
    shape = rows[-1].stop, max(len(met_here) for met_here in met)
    buckets, units = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    for state, own, met_here in zip(states, rows, met, strict=True):
        for column, bucket in enumerate(met_here):
            buckets[own, column] = bucket.numbers
            units[own, column] = bucket.full_units * state.model.actions
    return BucketUnits(len(table), buckets, units)


def _call_groups(
    states: Sequence[PatternState],
    rows: Sequence[slice],
    met: Sequence[list[_BucketMet]],
    table: BucketTable,
) -> CallGroups:
    """Lay the call groups of every pattern over the buckets that their calls meet."""
    total, columns = rows[-1].stop, max(len(met_here) for met_here in met)
    buckets = np.zeros((total, columns), dtype=np.int64)
    units = np.zeros((total, columns))
    owner = np.full(columns, _NO_PLACEMENT, dtype=np.int64)
    actions = np.ones(total)
    chance = np.ones((total, columns))
    patience = np.zeros(total)
    for state, own, met_here in zip(states, rows, met, strict=True):
        actions[own] = state.model.actions
        patience[own] = _is_retried(state.model, ThrottlingLimit.KEY_RANGE)
        for column, bucket in enumerate(met_here):
            buckets[own, column] = bucket.numbers
            units[own, column] = bucket.units
            if bucket.placement != _NO_PLACEMENT:
                chance[own, column] = state.model.placements[bucket.placement].chance
            owner[column] = max(owner[column], bucket.placement)
    return CallGroups(
        len(table),
        buckets,
        units * actions[:, None],
        owner,
        actions,
        chance,
        patience,
        _final(states, rows, buckets, table),
    )


def _is_retried(model: PatternModel, limit: ThrottlingLimit) -> bool:
    """Return whether the policy tries again after a refusal by a limit."""
    if model.pattern.is_transaction:
        return model.policy.is_retryable(TransactionCanceledException.__name__)
    on_demand = model.placements[0].record.resource.throughput.on_demand
    reason = Reason(limit.reason("Write", is_index=False), "")
    return model.policy.is_retryable(throttle_error((reason,), on_demand=on_demand).code)


def _final(
    states: Sequence[PatternState], rows: Sequence[slice], buckets: Integers, table: BucketTable
) -> NDArray[np.bool_]:
    """Return for each call group and column whether a refusal is final for the policy."""
    quotas = [
        bool(reason) and ThrottlingLimit.of(reason) is ThrottlingLimit.ACCOUNT
        for reason in table.reasons
    ]
    final = np.asarray(quotas)[buckets]
    for state, own in zip(states, rows, strict=True):
        if _is_retried(state.model, ThrottlingLimit.ACCOUNT):
            final[own] = False
    return final


def _same_second(states: Sequence[PatternState], rows: Sequence[slice], groups: int) -> Floats:
    """Return for each retry and call group the chance that it comes in the second of refusal."""
    depth = max(state.attempts for state in states)
    chances = np.zeros((depth - 1, groups))
    for state, own in zip(states, rows, strict=True):
        chances[: state.attempts - 1, own] = state.offsets[:, :1]
    return chances
