"""Admission: which requests pass, all or nothing, over every limit that a request touches.

A meter is the throughput of one table or global index: its own limits, those it shares with the
table, and a pair of buckets for each of its partitions. Partition ids and positions are opaque.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from emulator.capacity.bucket import ONE, BucketState, TokenBucket
from emulator.capacity.metrics import MetricSeries
from emulator.capacity.refusal import Reason
from emulator.capacity.traffic import Position, Traffic
from emulator.capacity.units import READ, WRITE
from emulator.clock import NANOSECONDS
from emulator.service import limits
from emulator.service.throttling import AXES, ThrottlingLimit

Buckets = tuple[TokenBucket, TokenBucket]


class Quota:
    """The on-demand quota of a table, shared with its global indexes (CAP-602 QUOTA)."""

    __slots__ = ("buckets",)

    def __init__(self, units_per_second: int, now_ns: int) -> None:
        self.buckets: Buckets = (
            TokenBucket(units_per_second, now_ns, burst_seconds=0),
            TokenBucket(units_per_second, now_ns, burst_seconds=0),
        )

    def copy(self) -> Quota:
        """Return an independent quota with the same tokens."""
        twin = Quota.__new__(Quota)
        twin.buckets = (self.buckets[READ].copy(), self.buckets[WRITE].copy())
        return twin


#: What a write takes of a partition whose reads and writes are combined, in reads (CAP2-15).
_WRITE_COST: Final = limits.PARTITION_UNITS[READ] / limits.PARTITION_UNITS[WRITE]


class Meter:
    """The throughput of one table or global index.

    It admits nothing until ``provision`` or ``on_demand`` has said how, and only on partitions
    that are open.

    Args:
        arn: Named by the reasons of a refusal.
        is_table: False for a global index.
        quota: The table's on-demand quota; the same object for the table and its indexes.
        prefix_length: How many leading elements of a position name its item collection.

    >>> meter = Meter("arn:aws:dynamodb:::table/t", is_table=True, quota=None)
    >>> meter.provision(5, 1, now_ns=0)
    >>> meter.open_partition(0, now_ns=0)
    >>> put = Charge(meter, 0, WRITE, 1.0, (17, "d1"))
    >>> admit([put], 0)
    ()
    >>> [reason.reason for reason in admit([put], 0)]
    ['TableWriteProvisionedThroughputExceeded']
    """

    __slots__ = (
        "_on_demand",
        "arn",
        "is_combined",
        "is_table",
        "limits",
        "only_limit",
        "own",
        "partitions",
        "quota",
        "reasons",
        "series",
        "traffic",
    )

    def __init__(
        self,
        arn: str,
        *,
        is_table: bool,
        quota: Quota | None,
        prefix_length: int = 2,
        is_combined: bool = False,
    ) -> None:
        self.arn = arn
        #: Whether reads and writes of a partition take of one bucket (CAP2-15).
        self.is_combined = is_combined
        self.is_table = is_table
        self.quota = quota
        self._on_demand = False
        self.traffic = Traffic(prefix_length)
        #: By axis, where consumed units are counted besides (CAP-801).
        self.series: tuple[MetricSeries, MetricSeries] | None = None
        self.partitions: dict[int, Buckets] = {}
        #: By axis, the bucket of the provisioned rate or of the on-demand maximum.
        self.own: tuple[TokenBucket | None, TokenBucket | None] = (None, None)
        #: By axis, the buckets above the partition's, and what each says, the partition's last.
        self.limits: tuple[tuple[TokenBucket, ...], ...] = ((), ())
        #: By axis, the bucket above the partition's if there is exactly one, as nearly always.
        self.only_limit: tuple[TokenBucket | None, ...] = (None, None)
        self.reasons: tuple[tuple[Reason, ...], ...] = ((), ())

    def provision(self, read: int, write: int, now_ns: int) -> None:
        """Set the provisioned rates; tokens survive unless the mode changes (CAP-604, CAP-617)."""
        self._switch(on_demand=False)
        self._set_rates(read, write, now_ns)

    def on_demand(self, max_read: int | None, max_write: int | None, now_ns: int) -> None:
        """Serve on demand, up to the configured maxima if any (CAP-616, CAP-617)."""
        self._switch(on_demand=True)
        self._set_rates(max_read, max_write, now_ns)

    def fill_reserves(self, share: float) -> None:
        """Give a new table or index this share of the reserve for bursts (CAP2-5).

        Assumed: none of it, by default (``Settings.burst_start``); MEA-3 suggests all.
        """
        for bucket in self.own:
            if bucket is not None:
                bucket.fill_reserve(share)

    def open_partition(self, partition_id: int, now_ns: int) -> None:
        """Begin a partition, with full buckets."""
        read, write = limits.PARTITION_UNITS
        self.partitions[partition_id] = (
            TokenBucket(read, now_ns, burst_seconds=0),
            TokenBucket(write, now_ns, burst_seconds=0),
        )
        if self.is_combined:
            shared = self.partitions[partition_id][READ]
            self.partitions[partition_id] = (shared, shared)
        self.traffic.open(partition_id)

    def close_partition(self, partition_id: int) -> None:
        """Forget a partition, because it was split or its table is gone."""
        del self.partitions[partition_id]
        self.traffic.close(partition_id)

    def copy(self, quota: Quota | None) -> Meter:
        """Return an independent meter with the same tokens and no traffic."""
        twin = Meter(
            self.arn,
            is_table=self.is_table,
            quota=quota,
            prefix_length=self.traffic.prefix_length,
            is_combined=self.is_combined,
        )
        twin._on_demand = self._on_demand
        read, write = self.own
        twin.own = (read and read.copy(), write and write.copy())
        for partition_id, buckets in self.partitions.items():
            own = buckets[READ].copy()
            other = own if self.is_combined else buckets[WRITE].copy()
            twin.partitions[partition_id] = (own, other)
            twin.traffic.open(partition_id)
        twin._gather()
        return twin

    def begin_at(self, now_ns: int) -> None:
        """Let no bucket be ahead of a moment: the meter has come from a clock that is later."""
        buckets = [bucket for bucket in self.own if bucket is not None]
        if self.quota is not None:
            buckets += self.quota.buckets
        for pair in self.partitions.values():
            buckets += pair
        for bucket in buckets:
            bucket.updated_ns = min(bucket.updated_ns, now_ns)

    def tokens(self, partition_id: int, now_ns: int) -> tuple[float, float]:
        """Return the read and write units that a partition has at hand."""
        read, write = self.partitions[partition_id]
        read.refill(now_ns)
        write.refill(now_ns)
        return read.tokens, write.tokens / (_WRITE_COST if self.is_combined else 1)

    def check(self) -> None:
        """Assert the invariants."""
        for axis in (READ, WRITE):
            assert len(self.reasons[axis]) == len(self.limits[axis]) + 1, self.reasons
            assert self.only_limit[axis] in (None, *self.limits[axis]), self.only_limit
            for bucket in self.limits[axis]:
                bucket.check()
        for partition in self.partitions.values():
            for bucket in partition:
                bucket.check()
                assert bucket.burst == 0, bucket.burst
        assert self.partitions.keys() == self.traffic.loads.keys()
        self.traffic.check()

    def _switch(self, *, on_demand: bool) -> None:
        if self._on_demand != on_demand:
            self._on_demand = on_demand
            self.own = (None, None)

    def _set_rates(self, read: int | None, write: int | None, now_ns: int) -> None:
        self.own = (_rated(self.own[READ], read, now_ns), _rated(self.own[WRITE], write, now_ns))
        self._gather()

    def _gather(self) -> None:
        """Lay the limits out as admission walks them."""
        pairs = [self._limits(axis) for axis in (READ, WRITE)]
        self.limits = tuple(tuple(bucket for bucket, _ in pair) for pair in pairs)
        self.only_limit = tuple(
            above[0] if len(above) == 1 and not self.is_combined else None for above in self.limits
        )
        self.reasons = tuple(
            tuple(
                Reason(limit.reason(axis, is_index=not self.is_table), self.arn)
                for limit in (*(limit for _, limit in pair), ThrottlingLimit.KEY_RANGE)
            )
            for axis, pair in zip(AXES, pairs, strict=True)
        )

    def _limits(self, axis: int) -> list[tuple[TokenBucket, ThrottlingLimit]]:
        """Return the buckets above the partition's, in the order of CAP-606."""
        own = self.own[axis]
        if not self._on_demand:
            return [] if own is None else [(own, ThrottlingLimit.PROVISIONED)]
        above = [] if own is None else [(own, ThrottlingLimit.MAX_ON_DEMAND)]
        if self.quota is not None:
            above.append((self.quota.buckets[axis], ThrottlingLimit.ACCOUNT))
        return above


class Charge(NamedTuple):
    """Units asked of one partition.

    Attributes:
        meter: The table or global index.
        partition_id: One of its open partitions.
        axis: ``READ`` or ``WRITE``.
        units: A positive multiple of one half.
        position: The accessed key (of a Query, its collection), or None for a Scan.
        partition_units: Units taken of the partition, where they are not ``units`` (CAP2-6).
    """

    meter: Meter
    partition_id: int
    axis: int
    units: float
    position: Position | None
    partition_units: float | None = None

    @property
    def partition_cost(self) -> int:
        """The nano-units that it takes of the partition's bucket."""
        units = self.units if self.partition_units is None else self.partition_units
        if self.axis == WRITE and self.meter.is_combined:
            units *= _WRITE_COST
        return int(units * ONE)


def admit(charges: Sequence[Charge], now_ns: int) -> tuple[Reason, ...]:
    """Take all charges or none; the answer names every violated limit, so ``()`` means admitted.

    Charges stand in the order of their reasons: the table first, then its indexes by name.

    Assumed: that it is all or none, and the order (CAP-606).
    """
    if _take_from_bases(charges, now_ns):
        return ()
    if len(charges) == 1:
        return _admit_one(_costs(charges[0]), charges[0].meter.reasons[charges[0].axis])
    needs = _needs(charges)
    short = [bucket for bucket, need in needs.items() if not bucket.can_take(need)]
    if short:
        return _reasons(charges, short)
    for bucket, need in needs.items():
        bucket.take(need)
    return ()


def consume(charges: Sequence[Charge], now_ns: int) -> tuple[Reason, ...]:
    """Admit charges and record them; refused ones are left to the caller to record.

    Nearly every request has one charge, under one limit and its partition's, and passes.
    """
    if len(charges) == 1:
        meter, partition_id, axis, units, position, partition_units = charges[0]
        limit = meter.only_limit[axis]
        if limit is not None and partition_units is None:
            cost = int(units * ONE)
            partition = meter.partitions[partition_id][axis]
            base = limit.refill(now_ns) - cost
            partition_base = partition.refill(now_ns) - cost
            if base >= 0 and partition_base >= 0:
                limit.base = base
                partition.base = partition_base
                second = now_ns // NANOSECONDS
                meter.traffic.consume(partition_id, axis, units, position, second)
                if meter.series is not None:
                    meter.series[axis].add(units)
                return ()
            reasons = _admit_one(((limit, cost), (partition, cost)), meter.reasons[axis])
            if not reasons:
                record(charges, now_ns)
            return reasons
    reasons = admit(charges, now_ns)
    if not reasons:
        record(charges, now_ns)
    return reasons


def _admit_one(
    costs: Sequence[tuple[TokenBucket, int]], words: Sequence[Reason]
) -> tuple[Reason, ...]:
    """Take the costs of one charge from buckets that are refilled, or say which are short."""
    short: tuple[Reason, ...] = ()
    for (bucket, cost), reason in zip(costs, words, strict=True):
        if not bucket.can_take(cost):
            short += (reason,)
    if short:
        return short
    for bucket, cost in costs:
        bucket.take(cost)
    return ()


def refusals(charges: Sequence[Charge], now_ns: int) -> tuple[Reason, ...]:
    """Return the reasons that ``admit`` would answer, taking nothing."""
    needs = _needs(charges)
    for bucket in needs:
        bucket.refill(now_ns)
    short = [bucket for bucket, need in needs.items() if not bucket.can_take(need)]
    return _reasons(charges, short) if short else ()


def room_ns(charges: Sequence[Charge]) -> int:
    """Return when all charges can be taken, if nothing else is taken before."""
    return max(bucket.room_ns(need) for bucket, need in _needs(charges).items())


def admit_all(actions: Sequence[Sequence[Charge]], now_ns: int) -> list[tuple[Reason, ...]]:
    """Admit the actions of a transaction in order; if any is refused, none has taken anything.

    Assumed: CAP-611, a later action sees what the earlier ones took.

    Returns:
        One tuple of reasons per action, all empty when the transaction passes.
    """
    if len(actions) == 1:
        return [admit(actions[0], now_ns)]  # all or nothing by itself
    saved = _save(charge for action in actions for charge in action)
    answers = [admit(action, now_ns) for action in actions]
    if any(answers):
        for bucket, state in saved.items():
            bucket.restore(state)
    return answers


def record(charges: Iterable[Charge], now_ns: int, reasons: Sequence[Reason] = ()) -> None:
    """Put charges on record, as consumed or, given the ``reasons`` of a refusal, as throttled."""
    if reasons:
        _record_refusal(charges, reasons)
        return
    second = now_ns // NANOSECONDS
    for meter, partition_id, axis, units, position, partition_units in charges:
        meter.traffic.consume(partition_id, axis, units, position, second)
        if meter.series is not None:
            meter.series[axis].add(units)
        if partition_units is not None:
            meter.traffic.spare(partition_id, axis, units - partition_units)


def _record_refusal(charges: Iterable[Charge], reasons: Sequence[Reason]) -> None:
    """Put charges on record as throttled.

    A request that a limit above the partitions refused has reached no partition, and heats none
    (CAP2-2).

    Assumed: CAP-803, of a refused request only the resources count whose limits were short.
    """
    short = []
    reached = True
    for reason in reasons:
        short.append(reason.resource)
        if reason.parts.limit is not ThrottlingLimit.KEY_RANGE:
            reached = False
    for charge in charges:
        meter, partition_id, axis, units, position, _ = charge
        if meter.arn in short:
            heat_units = 0.0
            if reached:
                cost = charge.partition_cost
                if not meter.partitions[partition_id][axis].can_take(cost):
                    heat_units = min(cost / ONE, units)
            meter.traffic.refuse(partition_id, axis, units, position, heat_units)


def _rated(bucket: TokenBucket | None, rate: int | None, now_ns: int) -> TokenBucket | None:
    """Return the bucket at its new rate: kept, begun or given up."""
    if rate is None:
        return None
    if bucket is None:
        return TokenBucket(rate, now_ns)
    bucket.set_rate(rate, now_ns)
    return bucket


def _take_from_bases(charges: Sequence[Charge], now_ns: int) -> bool:
    """Refill every bucket met; take all charges if the bases alone hold them, else nothing.

    Most requests end here: neither reserves nor debts nor sums per bucket matter.
    """
    taken = []
    enough = True
    for charge in charges:
        for bucket, cost in _costs(charge):
            bucket.base = base = bucket.refill(now_ns) - cost
            taken.append((bucket, cost))
            if base < 0:
                enough = False
    if not enough:
        for bucket, cost in taken:
            bucket.base += cost
    return enough


def _needs(charges: Iterable[Charge]) -> dict[TokenBucket, int]:
    """Return the tokens asked of each bucket in all, in the order of CAP-606."""
    needs: dict[TokenBucket, int] = {}
    for charge in charges:
        for bucket, cost in _costs(charge):
            needs[bucket] = needs.get(bucket, 0) + cost
    return needs


def _costs(charge: Charge) -> list[tuple[TokenBucket, int]]:
    """Return the buckets that a charge draws on and what it takes of each, the partition last."""
    meter, partition_id, axis, units, _, partition_units = charge
    cost = int(units * ONE)
    costs = [(bucket, cost) for bucket in meter.limits[axis]]
    if partition_units is not None or meter.is_combined:
        cost = charge.partition_cost
    costs.append((meter.partitions[partition_id][axis], cost))
    return costs


def _reasons(charges: Iterable[Charge], short: Sequence[TokenBucket]) -> tuple[Reason, ...]:
    """Return each short bucket's reason, once, in the words of the first charge to meet it."""
    words: dict[TokenBucket, Reason] = {}
    for meter, partition_id, axis, *_ in charges:
        buckets = (*meter.limits[axis], meter.partitions[partition_id][axis])
        for bucket, reason in zip(buckets, meter.reasons[axis], strict=True):
            words.setdefault(bucket, reason)
    return tuple(dict.fromkeys(words[bucket] for bucket in short))


def _save(charges: Iterable[Charge]) -> dict[TokenBucket, BucketState]:
    saved: dict[TokenBucket, BucketState] = {}
    for meter, partition_id, axis, *_ in charges:
        for bucket in (*meter.limits[axis], meter.partitions[partition_id][axis]):
            saved[bucket] = bucket.save()
    return saved
