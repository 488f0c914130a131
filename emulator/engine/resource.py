"""A resource: a table or a global index as throughput sees it.

It joins the partitions (where keys lie) with the meter (what may pass), so that a split
gives every child its own buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from emulator import limits
from emulator.capacity import Charge, Meter, Quota, units
from emulator.settings import Settings
from emulator.storage import PartitionMap, Position

BillingMode = Literal["PROVISIONED", "PAY_PER_REQUEST"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What a table or global index may consume, as its owner set it.

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
        """Say whether the resource is billed per request."""
        return self.billing == "PAY_PER_REQUEST"

    @property
    def warm(self) -> tuple[int, int]:
        """Read and write units per second that are served at once (DS-6)."""
        if self.on_demand:
            return (
                max(self.warm_read or 0, limits.ON_DEMAND_READ_UNITS),
                max(self.warm_write or 0, limits.ON_DEMAND_WRITE_UNITS),
            )
        return max(self.warm_read or 0, self.read), max(self.warm_write or 0, self.write)

    def partitions(self, settings: Settings, size_bytes: int = 0) -> int:
        """Return how many partitions this calls for (CAP-502)."""
        return units.partition_count(
            provisioned=None if self.on_demand else (self.read, self.write),
            warm=self.warm if self.on_demand or self.warm_read or self.warm_write else None,
            size_bytes=size_bytes,
            partition_bytes=settings.partition_bytes,
        )


class Resource:
    """The partitions and the meter of one table or global index.

    Attributes:
        arn: Its resource name.
        name: The table's or the index's name.
        throughput: What its owner set.
        partitions: Where its keys lie.
        meter: What may pass.
    """

    __slots__ = ("arn", "is_table", "meter", "name", "partitions", "settings", "throughput")

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
    ) -> None:
        self.arn = arn
        self.name = name
        self.is_table = is_table
        self.settings = settings
        self.partitions = PartitionMap(throughput.partitions(settings))
        self.meter = Meter(arn, is_table=is_table, quota=quota, prefix_length=prefix_length)
        self.set_throughput(throughput, now_ns)
        for partition in self.partitions:
            self.meter.open_partition(partition.id, now_ns)

    def set_throughput(self, throughput: Throughput, now_ns: int) -> None:
        """Switch mode or rates; partitions are grown by the caller (CAP-508, CAP-617)."""
        self.throughput = throughput
        if throughput.on_demand:
            self.meter.on_demand(throughput.max_read, throughput.max_write, now_ns)
        else:
            self.meter.provision(throughput.read, throughput.write, now_ns)

    def charge(self, axis: int, units: float, position: Position) -> Charge:
        """Return the charge of one item operation at a position."""
        return Charge(self.meter, self.partitions.at(position).id, axis, units, position)
