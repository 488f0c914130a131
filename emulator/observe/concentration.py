"""Concentration: how what was consumed lies on keys and partitions, and what that leads to.

It needs no time, so it is the same on every machine: the share of the hottest key and of the
hottest partition, the units per item collection, and the rate at which code that goes on like this
passes the first limit. What a table saves up for bursts is left aside: it puts that off, and ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from emulator.capacity import Meter, Reason, Receipt
from emulator.service import limits
from emulator.service.throttling import AXES, Axis
from emulator.storage import Position


class KeyLoad(NamedTuple):
    """The units consumed of one table or global index, reading or writing.

    Attributes:
        resource: Its resource name.
        axis: ``"Read"`` or ``"Write"``.
        units: All units.
        collections: How many item collections they were for; a Scan names none.
        units_per_collection: Their units in the mean, 0 if there are none.
        hottest_key: The partition key that took most, ``()`` if none was named.
        key_share: Its part of the units, from 0 to 1.
        partitions: How many partitions were drawn on.
        partition_share: The part of the units that the hottest partition took.
    """

    resource: str
    axis: Axis
    units: float
    collections: int
    units_per_collection: float
    hottest_key: tuple[str, ...]
    key_share: float
    partitions: int
    partition_share: float


class FirstLimit(NamedTuple):
    """The limit that is passed first if the same work is done more and more often.

    Attributes:
        reason: The reason in the refusal.
        units_per_second: Units that the limit allows in the long run.
        runs_per_second: How often a second the work may be done until then.
        requests_per_second: How many requests that is.
    """

    reason: Reason
    units_per_second: float
    runs_per_second: float
    requests_per_second: float


class _Tally:
    """Units of one resource on one axis; its meter is another after a restore."""

    __slots__ = ("by_collection", "by_partition", "meter", "units")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.units = 0.0
        self.by_partition: dict[int, float] = {}
        self.by_collection: dict[Position, float] = {}


class LoadConcentration:
    """Counts units by partition and by partition key.

    >>> from emulator import Emulator
    >>> from emulator.observe import Ledger
    >>> emu, ledger = Emulator(), Ledger()
    >>> _ = emu.call("CreateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST",
    ...     "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    ...     "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})
    >>> leave = emu.events.subscribe(ledger.hear)
    >>> for key in "aaab":
    ...     _ = emu.table("tab").put_item(Item={"pk": key})
    >>> [load] = ledger.concentration.loads
    >>> load.hottest_key, load.key_share, load.units_per_collection
    (('a',), 0.75, 2.0)
    >>> round(ledger.concentration.first_limit(requests=4).requests_per_second)
    1333
    """

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, int], _Tally] = {}

    def add(self, receipt: Receipt) -> None:
        """Count the units that a request drew."""
        for meter, partition_id, axis, units, position, partition_units in receipt.charges:
            tally = self._tallies.get((meter.arn, axis))
            if tally is None:
                tally = self._tallies[meter.arn, axis] = _Tally(meter)
            tally.meter = meter
            tally.units += units
            heat = units if partition_units is None else partition_units
            tally.by_partition[partition_id] = tally.by_partition.get(partition_id, 0.0) + heat
            if position is not None:
                key = position[: meter.traffic.prefix_length]
                tally.by_collection[key] = tally.by_collection.get(key, 0.0) + units

    @property
    def loads(self) -> list[KeyLoad]:
        """The units consumed of each resource, most first."""
        loads = (
            _load(AXES[axis], tally) for (_, axis), tally in self._tallies.items() if tally.units
        )
        return sorted(loads, key=lambda load: (-load.units, load.resource, load.axis))

    def first_limit(self, requests: int) -> FirstLimit | None:
        """Return the limit that throttles first if these requests are repeated ever faster."""
        first: FirstLimit | None = None
        for reason, allowed, used in self._limits():
            runs = allowed / used
            if first is None or runs < first.runs_per_second:
                first = FirstLimit(reason, allowed, runs, runs * requests)
        return first

    def _limits(self) -> Iterator[tuple[Reason, float, float]]:
        """Yield every limit that was drawn on: its reason, what it allows a second, what was used.

        A table and its global indexes share the bucket of their quota.
        """
        shared: dict[int, tuple[Reason, float, float]] = {}
        for (_, axis), tally in self._tallies.items():
            reasons = tally.meter.reasons[axis]
            for bucket, reason in zip(tally.meter.limits[axis], reasons, strict=False):
                known, _, used = shared.get(id(bucket), (reason, 0.0, 0.0))
                shared[id(bucket)] = known, bucket.rate, used + tally.units
            heat = max(tally.by_partition.values())
            if heat:
                yield reasons[-1], limits.PARTITION_UNITS[axis], heat
        yield from (limit for limit in shared.values() if limit[-1])


def _load(axis: Axis, tally: _Tally) -> KeyLoad:
    by_collection, heat = tally.by_collection, tally.by_partition.values()
    hottest = max(by_collection, key=lambda key: by_collection[key], default=None)
    named = sum(by_collection.values())
    return KeyLoad(
        resource=tally.meter.arn,
        axis=axis,
        units=tally.units,
        collections=len(by_collection),
        units_per_collection=named / len(by_collection) if by_collection else 0.0,
        hottest_key=() if hottest is None else tuple(str(value) for value in hottest[1:]),
        key_share=0.0 if hottest is None else by_collection[hottest] / tally.units,
        partitions=len(heat),
        partition_share=max(heat) / sum(heat) if sum(heat) else 0.0,
    )
