"""A resource: a table or a global index as throughput sees it.

It joins the partitions (where keys lie) with the meter (what may pass), so that a split
gives every child its own buckets.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Literal, NamedTuple

from emulator.capacity import (
    READ,
    WRITE,
    Charge,
    Decreases,
    Growth,
    Heat,
    Insights,
    Meter,
    Quota,
    units,
)
from emulator.service import limits
from emulator.settings import Settings
from emulator.storage import HASH_SPACE, PartitionMap, Position

if TYPE_CHECKING:
    from emulator.capacity.scaling import Scaler, ScalingPolicy

BillingMode = Literal["PROVISIONED", "PAY_PER_REQUEST"]


class Throughput(NamedTuple):
    """The throughput of a table or global index, as its owner set it.

    ``warm_*`` is what it can serve at once (CAP-509); None means the default of its mode.
    """

    billing: BillingMode
    read: int = 0
    write: int = 0
    max_read: int | None = None
    max_write: int | None = None
    warm_read: int | None = None
    warm_write: int | None = None

    @property
    def on_demand(self) -> bool:
        """Whether the resource is billed per request."""
        return self.billing == "PAY_PER_REQUEST"

    def warm(self, settings: Settings) -> tuple[int, int]:
        """Return read and write units per second that are served at once (DS-6)."""
        read, write = self.read, self.write
        if self.on_demand:
            read, write = units.on_demand_start(settings.on_demand_partitions)
        return max(self.warm_read or 0, read), max(self.warm_write or 0, write)

    def partitions(self, settings: Settings, size_bytes: int = 0) -> int:
        """Return how many partitions this calls for (CAP-502)."""
        is_warmed = self.on_demand or self.warm_read or self.warm_write
        return units.partition_count(
            provisioned=None if self.on_demand else (self.read, self.write),
            warm=self.warm(settings) if is_warmed else None,
            size_bytes=size_bytes,
            partition_bytes=settings.partition_bytes,
            on_demand_partitions=settings.on_demand_partitions,
        )


class Prewarm(NamedTuple):
    """Warm throughput on its way: what it will be, and when (CAP-509)."""

    due_ns: int
    read: int
    write: int


class Replaced(NamedTuple):
    """Provisioned throughput that a change under way replaces (UT-17)."""

    read: int
    write: int
    decreases_today: int


class Resource:
    """The partitions and the meter of one table or global index, and what watches them.

    Attributes:
        arn: Its resource name.
        name: The table's or the index's name.
        throughput: The throughput that its owner set.
        partitions: Where its keys lie.
        meter: The meter that admits its units.
        growth: Its warm throughput (CAP-509, CAP-510).
        heat: Its hot partitions (CAP-505).
        insights: Its most accessed and most throttled keys (CAP-804).
        scalers: Auto scaling by axis (CAP-901).
        decreases: How often its capacity was lowered (CAP-618).
        prewarm: Warm throughput that was asked for and is not there yet.
        replaced: The units that the table's last change replaced; described until that is complete.
    """

    __slots__ = (
        "arn",
        "decreases",
        "growth",
        "heat",
        "insights",
        "is_table",
        "key_length",
        "meter",
        "name",
        "partitions",
        "prewarm",
        "replaced",
        "scalers",
        "settings",
        "throughput",
    )

    def __init__(
        self,
        arn: str,
        name: str,
        throughput: Throughput,
        *,
        is_table: bool,
        quota: Quota,
        settings: Settings,
        now_ns: int,
        prefix_length: int = 2,
        key_length: int = 2,
    ) -> None:
        self.arn = arn
        self.name = name
        self.is_table = is_table
        self.settings = settings
        self.key_length = key_length
        self.partitions = PartitionMap(throughput.partitions(settings))
        self.meter = Meter(
            arn,
            is_table=is_table,
            quota=quota,
            prefix_length=prefix_length,
            is_combined=settings.partition_throughput == "combined",
        )
        self.growth = Growth(*throughput.warm(settings), quota=settings.table_quota)
        self.scalers: dict[int, Scaler] = {}
        self.decreases = Decreases()
        self.prewarm: Prewarm | None = None
        self.replaced: Replaced | None = None
        self.heat = Heat(settings, arn)
        self.insights = Insights(prefix_length, key_length)
        self.throughput = throughput
        self.set_throughput(throughput, now_ns)
        self.meter.fill_reserves(settings.burst_start)
        for partition in self.partitions:
            self.meter.open_partition(partition.id, now_ns)

    def set_throughput(self, throughput: Throughput, now_ns: int) -> None:
        """Switch mode or rates; partitions are grown by the caller (CAP-508, CAP-617)."""
        self.throughput = throughput
        if throughput.on_demand:
            self.meter.on_demand(throughput.max_read, throughput.max_write, now_ns)
        else:
            self.meter.provision(throughput.read, throughput.write, now_ns)

    def set_partitions(self, partitions: PartitionMap, now_ns: int) -> None:
        """Replace the partitions by others with full buckets; the caller fills them."""
        for partition in self.partitions:
            self.meter.close_partition(partition.id)
        self.partitions = partitions
        for partition in partitions:
            self.meter.open_partition(partition.id, now_ns)

    def check(self) -> None:
        """Assert the invariants."""
        self.partitions.check()
        self.meter.check()
        self.growth.check()
        self.heat.check()
        assert self.meter.partitions.keys() == {partition.id for partition in self.partitions}
        assert self.heat.pending.keys() <= self.meter.partitions.keys(), self.heat.pending

    def charge(self, axis: int, units: float, position: Position) -> Charge:
        """Return the charge of one item operation at a position."""
        return Charge(self.meter, self.partitions.at(position).id, axis, units, position)

    def scale(self, read: ScalingPolicy | None, write: ScalingPolicy | None) -> None:
        """Let auto scaling follow an axis, or leave it alone where None (CAP-901)."""
        from emulator.capacity.scaling import Scaler

        for axis, policy in ((READ, read), (WRITE, write)):
            if policy is not None:
                self.scalers[axis] = Scaler(policy, self.settings, f"{self.arn} {axis}")

    @property
    def widest_range(self) -> int:
        """How many hashes a partition may cover at most, so that it can serve its share (CAP2-1).

        One of several equal slices may be one hash wider than the others.
        """
        warm_read, warm_write = self.growth.warm
        reads, writes = limits.PARTITION_READ_UNITS, limits.PARTITION_WRITE_UNITS
        widths = [HASH_SPACE]
        if warm_read > reads:
            widths.append(HASH_SPACE * reads // warm_read)
        if warm_write > writes:
            widths.append(HASH_SPACE * writes // warm_write)
        if not self.throughput.on_demand:
            units = self.throughput.read * writes + self.throughput.write * reads
            widths.append(HASH_SPACE * reads * writes // units)
        return min(widths) + 1

    @property
    def is_idle(self) -> bool:
        """Whether a minute without requests would change nothing here."""
        throughput = self.throughput
        return (
            self.heat.is_idle
            and self.growth.is_idle
            and self.prewarm is None
            and self.meter.traffic.is_idle
            and all(
                scaler.is_idle(throughput.write if axis else throughput.read)
                for axis, scaler in self.scalers.items()
            )
        )

    def copy(self, quota: Quota) -> Resource:
        """Return an independent resource in the same state, with nothing observed yet."""
        twin = Resource.__new__(Resource)
        twin.arn, twin.name, twin.is_table = self.arn, self.name, self.is_table
        twin.settings, twin.key_length = self.settings, self.key_length
        twin.throughput = self.throughput
        twin.partitions = self.partitions.copy()
        twin.meter = self.meter.copy(quota)
        twin.growth = self.growth.copy()
        twin.scalers = deepcopy(self.scalers)
        twin.decreases = self.decreases.copy()
        twin.prewarm, twin.replaced = self.prewarm, self.replaced
        twin.heat = Heat(self.settings, self.arn)
        twin.insights = Insights(self.meter.traffic.prefix_length, self.key_length)
        return twin
