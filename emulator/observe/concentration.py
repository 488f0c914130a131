"""Concentration: how what was consumed lies on keys and partitions, and what that leads to.

It needs no time, so it is the same on every machine: the share of the hottest key and of the
hottest partition, the units per item collection, and the rate at which code that goes on like this
passes the first limit. What a table saves up for bursts is left aside: it puts that off, and ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from emulator.capacity import Meter, Reason, Receipt
from emulator.observe.places import Place
from emulator.service import limits
from emulator.service.throttling import AXES, Axis, ThrottlingLimit
from emulator.storage import Position

#: From how many calls on, beside how many other values, a key shows how uneven keys are.
#: Assumed: a test that uses a fixture's one user stays below both.
_SHOWING_CALLS: Final = 20
_OTHER_VALUES: Final = 10
#: From how many calls of one line on, a key shows it by itself.
_LOOP_CALLS: Final = 200


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

    __slots__ = ("by_collection", "by_partition", "calls", "loops", "meter", "units")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.units = 0.0
        self.by_partition: dict[int, float] = {}
        self.by_collection: dict[Position, float] = {}
        #: Calls by partition key, and by line as well.
        self.calls: dict[Position, int] = {}
        self.loops: dict[tuple[Position, Place], int] = {}

    @property
    def hottest(self) -> Position | None:
        """The partition key that took most; None if none was named."""
        return max(self.by_collection, key=self.by_collection.__getitem__, default=None)

    def count_call(self, key: Position, place: Place) -> None:
        """Count a call that used a key."""
        self.calls[key] = self.calls.get(key, 0) + 1
        self.loops[key, place] = self.loops.get((key, place), 0) + 1

    def shows_how_uneven(self) -> bool:
        """Return whether there were enough calls to say that its hottest key is hot."""
        hottest = self.hottest
        if hottest is None:
            return False
        others = len(self.by_collection) - 1
        return (self.calls[hottest] >= _SHOWING_CALLS and others >= _OTHER_VALUES) or any(
            calls >= _LOOP_CALLS for (key, _), calls in self.loops.items() if key == hottest
        )


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

    def add(self, receipts: Iterable[tuple[str, Receipt]], place: Place = None) -> None:
        """Count the units that a request drew.

        Args:
            receipts: The tables of the request, each with a receipt.
            place: The line that made it.
        """
        used: set[tuple[str, int, Position]] = set()
        for _, receipt in receipts:
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
                    used.add((meter.arn, axis, key))
        for arn, axis, key in used:
            self._tallies[arn, axis].count_call(key, place)

    @property
    def loads(self) -> list[KeyLoad]:
        """The units consumed of each resource, most first."""
        loads = (
            _load(AXES[axis], tally) for (_, axis), tally in self._tallies.items() if tally.units
        )
        return sorted(loads, key=lambda load: (-load.units, load.resource, load.axis))

    def first_limit(self, requests: int, *, shown_only: bool = False) -> FirstLimit | None:
        """Return the limit that throttles first if these requests are repeated ever faster.

        Args:
            requests: How many there were.
            shown_only: Leave out what so few calls do not show: a hot key that a few of them used,
                capacity that hardly any needed, and quotas.
        """
        first: FirstLimit | None = None
        for reason, allowed, used, is_shown in self._limits(requests):
            if shown_only and not is_shown:
                continue
            runs = allowed / used
            if first is None or runs < first.runs_per_second:
                first = FirstLimit(reason, allowed, runs, runs * requests)
        return first

    def _limits(self, requests: int) -> Iterator[tuple[Reason, float, float, bool]]:
        """Yield every limit that was drawn on, and whether the requests suffice to show it.

        Each with its reason, what it allows a second, and what was used. A table and its global
        indexes share the bucket of their quota.
        """
        shared: dict[int, tuple[Reason, float, float]] = {}
        for (_, axis), tally in self._tallies.items():
            reasons = tally.meter.reasons[axis]
            for bucket, reason in zip(tally.meter.limits[axis], reasons, strict=False):
                known, _, used = shared.get(id(bucket), (reason, 0.0, 0.0))
                shared[id(bucket)] = known, bucket.rate, used + tally.units
            heat = max(tally.by_partition.values())
            if heat:
                is_shown = tally.shows_how_uneven()
                yield reasons[-1], limits.PARTITION_UNITS[axis], heat, is_shown
        for reason, allowed, used in shared.values():
            if used:
                is_quota = reason.parts.limit is ThrottlingLimit.ACCOUNT
                yield reason, allowed, used, requests >= _SHOWING_CALLS and not is_quota


def _load(axis: Axis, tally: _Tally) -> KeyLoad:
    by_collection, heat = tally.by_collection, tally.by_partition.values()
    hottest = tally.hottest
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
