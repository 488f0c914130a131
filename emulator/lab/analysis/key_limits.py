"""What declared keys hold at most: computed from prices and limits, before anything is played.

A table or index serves what its partitions serve, and one key value never more than one partition.
The peak rate is enough to say how uneven key values may be; without a rate the same limit says how
much one value may be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from emulator.capacity import EVENTUAL, READ, WRITE
from emulator.capacity.prices import STANDARD, TABLE_CLASSES
from emulator.capacity.units import on_demand_start, read_units, write_units
from emulator.designs.declared import DeclaredTable, Wire
from emulator.lab.inputs.agent_models import time_step
from emulator.lab.inputs.drafted_lab_file import key_of
from emulator.lab.inputs.stated_load import StatedLoad, TableLoad
from emulator.lab.outcome import words
from emulator.service import limits
from emulator.settings import DEFAULT_SETTINGS

_HOUR: Final = 3600
#: The size of an index entry that has only keys; any size up to a write block costs the same.
_KEYS_BYTES: Final = 100


@dataclass(frozen=True)
class KeyLimit:
    """What one table or index holds.

    Attributes:
        name: ``orders``, or ``orders.byStatus``.
        key: The attributes of its partition key, as a text.
        is_timed: Whether a key value is a stretch of time, so that one of them gets all writes.
        is_index: Whether it is an index.
        write_units: What one write takes of it; in a table its local indexes included.
        read_units: What reading one item takes, eventually consistent.
        provided: Read and write units a second; of on demand what a new table serves.
        most: Read and write units a second that it can grow to.
        item_bytes: The size of an item.
        load: None if no rate is stated.
        month: Dollars a month at the mean load; None if no rate is stated.
        is_provisioned: Whether its units are set.
    """

    name: str
    key: str
    is_timed: bool
    is_index: bool
    write_units: int
    read_units: float
    provided: tuple[float, float]
    most: tuple[float, float]
    item_bytes: int
    load: TableLoad | None
    month: float | None
    is_provisioned: bool

    @property
    def value_writes(self) -> float:
        """Writes a second that one key value holds."""
        return min(limits.PARTITION_WRITE_UNITS, self.most[WRITE]) / self.write_units

    @property
    def value_reads(self) -> float:
        """Reads a second, of one item each, that one key value holds."""
        return min(limits.PARTITION_READ_UNITS, self.most[READ]) / self.read_units

    def sentence(self) -> str:
        """Return the limit as one sentence."""
        subject = f"{self.name} ({self.key})"
        if self.load is None:
            return (
                f"{subject}: one value of {self.key} holds at most {self.value_writes:,.0f} "
                f"writes/s or {self.value_reads:,.0f} reads/s of {words.size(self.item_bytes)}; "
                "no rate is stated"
            )
        return f"{subject}: {'; '.join([*self._holds(self.load), self._cost(self.load)])}"

    def holds_in_one_value(self) -> bool:
        """Return whether it holds all writes even if one key value gets them."""
        return self.load is not None and self.load.writes_a_second <= self.value_writes

    def _holds(self, load: TableLoad) -> Iterator[str]:
        """Yield whether it holds the writes of a load, and then the reads."""
        writes, reads = (
            f"{words.significant(load.writes_a_second)} writes/s",
            f"{words.significant(load.reads_a_second)} reads/s",
        )
        if self.is_index or not load.reads_a_second:
            yield self._of(writes, WRITE, load.writes_a_second, self.write_units)
        elif not load.writes_a_second:
            yield self._of(reads, READ, load.reads_a_second, self.read_units)
        elif self.holds_in_one_value() and load.reads_a_second <= self.value_reads:
            yield f"holds {writes} and {reads}, even if one value of {self.key} gets all of them"
        else:
            yield self._of(writes, WRITE, load.writes_a_second, self.write_units)
            yield self._of(reads, READ, load.reads_a_second, self.read_units)

    def _of(self, asked: str, axis: int, rate: float, units: float) -> str:
        """Return whether a rate of calls is held, and how uneven the key values may be."""
        needed = rate * units
        if needed > self.most[axis]:
            return (
                f"does not hold {asked}: they take {needed:,.0f} units a second, and it has "
                f"{self.most[axis]:,.0f} at most"
            )
        share = min(limits.PARTITION_UNITS[axis], self.most[axis]) / needed if needed else 1.0
        if axis == WRITE and self.is_timed and share < 1:
            return (
                f"does not hold {asked}: {self.key} follows the clock, so one value gets all of "
                f"them, and holds {self.value_writes:,.0f}"
            )
        held = f"holds {asked}"
        if needed > self.provided[axis]:
            held += f" once it has grown (new, it serves {self.provided[axis] / units:,.0f})"
        if share >= 1:
            return f"{held}, even if one value of {self.key} gets all of them"
        return f"{held} while no value of {self.key} gets over {words.percent(share)} of them"

    def _cost(self, load: TableLoad) -> str:
        assert self.month is not None, "a load has a price"
        dollars = words.dollars(self.month)
        if self.is_provisioned:
            return f"as provisioned {dollars} a month"
        return f"on demand {dollars} a month at a mean of {words.percent(load.mean)}"


def key_limits(tables: Sequence[DeclaredTable], load: StatedLoad) -> list[KeyLimit]:
    """Return the limits of every table and global index, if each write changes every index.

    >>> from emulator.lab.inputs.stated_load import read_load
    >>> from emulator.strategies import create_request
    >>> orders = DeclaredTable(resource="orders", request=create_request("orders", "id"))
    >>> flags = {"rate": ["20000"], "writes": ["0.3"]}
    >>> [limit] = key_limits([orders], read_load(flags, {"orders": ()}))
    >>> limit.value_writes, limit.load.writes_a_second
    (1000.0, 6000.0)
    """
    return [
        _limit(table.request, holder, load.of(name), load.size_of(name))
        for table in tables
        for name in [str(table.request["TableName"])]
        for holder in (table.request, *table.request.get("GlobalSecondaryIndexes", ()))
    ]


def _limit(table: Wire, holder: Wire, load: TableLoad | None, item_bytes: int) -> KeyLimit:
    index, partition = holder.get("IndexName"), key_of(holder, "HASH")
    entries = [holder, *table.get("LocalSecondaryIndexes", ())] if index is None else [holder]
    capacity = _capacity(holder)
    limit = KeyLimit(
        name=str(table["TableName"]) + ("" if index is None else f".{index}"),
        key=" + ".join(partition),
        is_timed=all(time_step(name) is not None for name in partition),
        is_index=index is not None,
        write_units=sum(write_units(_entry_bytes(entry, item_bytes)) for entry in entries),
        read_units=read_units(_entry_bytes(holder, item_bytes)) * EVENTUAL,
        provided=capacity or _on_demand(holder, on_demand_start(limits.ON_DEMAND_PARTITIONS)),
        most=capacity or _on_demand(holder, (limits.TABLE_QUOTA_UNITS, limits.TABLE_QUOTA_UNITS)),
        item_bytes=item_bytes,
        load=load,
        month=None,
        is_provisioned=capacity is not None,
    )
    return limit if load is None else replace(limit, month=_month(limit, load, table))


def _entry_bytes(holder: Wire, item_bytes: int) -> int:
    """Return the bytes of an item, or of an index entry that may not have all of it."""
    has_all = holder.get("Projection", {}).get("ProjectionType", "ALL") == "ALL"
    return item_bytes if has_all else min(item_bytes, _KEYS_BYTES)


def _capacity(holder: Wire) -> tuple[float, float] | None:
    """Return the provisioned units; None on demand."""
    units = holder.get("ProvisionedThroughput") or {}
    read, write = units.get("ReadCapacityUnits"), units.get("WriteCapacityUnits")
    return None if not (read and write) else (float(read), float(write))


def _on_demand(holder: Wire, units: tuple[int, int]) -> tuple[float, float]:
    """Return units that on demand would give, under the limits that a table sets itself."""
    own = holder.get("OnDemandThroughput") or {}
    most = own.get("MaxReadRequestUnits", -1), own.get("MaxWriteRequestUnits", -1)
    read, write = (
        min(unit, stated) if stated > 0 else unit for unit, stated in zip(units, most, strict=True)
    )
    return float(read), float(write)


def _month(limit: KeyLimit, load: TableLoad, table: Wire) -> float:
    """Return the dollars a month; all reads are taken as reads of the table."""
    prices = TABLE_CLASSES[table.get("TableClass", STANDARD.name)]
    hours = DEFAULT_SETTINGS.hours_per_month
    if limit.is_provisioned:
        read, write = limit.provided
        return prices.provisioned(read_hours=read * hours, write_hours=write * hours)
    calls = load.mean * hours * _HOUR
    reads = 0.0 if limit.is_index else load.reads_a_second * limit.read_units
    return prices.on_demand(
        reads=reads * calls, writes=load.writes_a_second * limit.write_units * calls
    )
