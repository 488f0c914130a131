"""Prices in dollars: the price list as data, bills, and the break-even points.

Prices are those of us-east-1 in US dollars since 1 November 2024.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from emulator.capacity.units import READ, WRITE
from emulator.settings import Settings

_MILLION: Final = 1_000_000
_HOUR_SECONDS: Final = 3600

# Cost items, the words of CostLine.item.
READS: Final = "reads"
WRITES: Final = "writes"
REPLICATED_WRITES: Final = "replicated writes"
READ_HOURS: Final = "read capacity"
WRITE_HOURS: Final = "write capacity"
REPLICATED_WRITE_HOURS: Final = "replicated write capacity"
RESERVED_READ_HOURS: Final = "reserved read capacity"
RESERVED_WRITE_HOURS: Final = "reserved write capacity"
VECTOR_SEARCHES: Final = "vector searches"
VECTOR_WRITES: Final = "vector writes"
STORAGE: Final = "storage"
RECOVERY: Final = "point-in-time recovery"
BACKUPS: Final = "backups"
STREAM_READS: Final = "stream reads"
EXPORTS: Final = "exports"
IMPORTS: Final = "imports"
RESTORES: Final = "restores"
BULK_PUTS: Final = "bulk puts"
BULK_VECTORS: Final = "bulk puts of vectors"
REGION_TRANSFERS: Final = "transfer to another region"
FREE_TIER: Final = "free tier"

_WRITE_ITEMS: Final = frozenset({WRITES, REPLICATED_WRITES, WRITE_HOURS, REPLICATED_WRITE_HOURS})


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of one table class.

    Source: CAP-1001, VIX-66. Assumed: replicated writes in Standard-IA cost what its writes do.
    """

    name: str
    #: Per million units on demand.
    read_million: float
    write_million: float
    replicated_write_million: float
    #: Per provisioned unit and hour.
    read_hour: float
    write_hour: float
    replicated_write_hour: float
    #: Per gigabyte and month.
    storage_month: float
    #: Per gigabyte searched in, and written to, vector indexes.
    vector_search_gb: float
    vector_write_gb: float

    def vectors(self, settings: Settings, *, searched: float = 0, written: float = 0) -> float:
        """Return the cost of bytes searched and written in vector indexes.

        Source: VIX-66.

        >>> STANDARD.vectors(Settings(), searched=2**30, written=2**30)
        0.522
        """
        dollars = searched * self.vector_search_gb + written * self.vector_write_gb
        return dollars / settings.bytes_per_gb

    def on_demand(
        self, *, reads: float = 0, writes: float = 0, replicated_writes: float = 0
    ) -> float:
        """Return the cost of units on demand.

        >>> STANDARD.on_demand(writes=4_000_000)
        2.5
        """
        return (
            reads * self.read_million
            + writes * self.write_million
            + replicated_writes * self.replicated_write_million
        ) / _MILLION

    def provisioned(
        self, *, read_hours: float = 0, write_hours: float = 0, replicated_write_hours: float = 0
    ) -> float:
        """Return the cost of provisioned unit-hours.

        >>> round(STANDARD.provisioned(write_hours=100 * 730), 2)
        47.45
        """
        return (
            read_hours * self.read_hour
            + write_hours * self.write_hour
            + replicated_write_hours * self.replicated_write_hour
        )

    def prewarming(self, before: tuple[float, float], after: tuple[float, float]) -> float:
        """Return the cost, once, of more warm throughput: reads and writes a second.

        Assumed: an hour of the difference as provisioned capacity (CAP-1005).

        >>> round(STANDARD.prewarming((12_000, 4_000), (12_000, 10_000)), 2)
        3.9
        """
        more = [max(0.0, own - old) for old, own in zip(before, after, strict=True)]
        return self.provisioned(read_hours=more[0], write_hours=more[1])

    def storage(self, billed_bytes: float, settings: Settings, months: float = 1) -> float:
        """Return the cost of the average billed bytes held for some months.

        >>> round(STANDARD.storage(600_000_000, Settings()), 4)
        0.1397
        """
        return billed_bytes / settings.bytes_per_gb * self.storage_month * months

    def break_even(self, axis: int) -> float:
        """Return the utilisation above which provisioned capacity is the cheaper one.

        Source: CAP-1008.

        >>> round(STANDARD.break_even(READ), 4)
        0.2889
        """
        hour = self.read_hour if axis == READ else self.write_hour
        million = self.read_million if axis == READ else self.write_million
        return hour / (_HOUR_SECONDS * million / _MILLION)


STANDARD: Final = PriceList(
    name="STANDARD",
    read_million=0.125,
    write_million=0.625,
    replicated_write_million=0.625,
    read_hour=0.00013,
    write_hour=0.00065,
    replicated_write_hour=0.00065,
    storage_month=0.25,
    vector_search_gb=0.002,
    vector_write_gb=0.52,
)
STANDARD_IA: Final = PriceList(
    name="STANDARD_INFREQUENT_ACCESS",
    read_million=0.155,
    write_million=0.78,
    replicated_write_million=0.78,
    read_hour=0.00016,
    write_hour=0.00081,
    replicated_write_hour=0.00081,
    storage_month=0.10,
    vector_search_gb=0.0025,
    vector_write_gb=0.65,
)
TABLE_CLASSES: Final = {prices.name: prices for prices in (STANDARD, STANDARD_IA)}


@dataclass(frozen=True, slots=True)
class ReservedPrice:
    """The price of capacity that is paid for some years ahead, by axis and hundred units.

    Source: CAP-1003. For Standard tables in one region.
    """

    years: int
    upfront: tuple[float, float]
    hour: tuple[float, float]

    def unit_hour(self, axis: int) -> float:
        """Return the price of one unit and hour, the payment in advance spread evenly.

        >>> round(RESERVED_PRICES[3].unit_hour(READ), 7)
        2.97e-05
        """
        hours = self.years * _YEAR_HOURS
        return (self.upfront[axis] / hours + self.hour[axis]) / RESERVED_STEP


_YEAR_HOURS: Final = 8760
#: Units in one step of reserved capacity.
RESERVED_STEP: Final = 100
#: By years.
RESERVED_PRICES: Final = {
    price.years: price
    for price in (
        ReservedPrice(1, (30.0, 150.0), (0.0025, 0.0128)),
        ReservedPrice(3, (36.0, 180.0), (0.0016, 0.0081)),
    )
}
#: Source: CAP-1004, per gigabyte and month.
RECOVERY_MONTH: Final = 0.20
BACKUP_MONTH: Final = 0.10
#: Source: CAP-1004, per GetRecords call.
STREAM_READ: Final = 0.20 / _MILLION


class Tariff(NamedTuple):
    """The price of a cost item that is paid as it happens, besides units, and its metric.

    >>> round(TARIFFS[EXPORTS].usd(5 * 2**30, Settings()), 6)
    0.5
    """

    metric: str
    #: Dollars for one, or for a gigabyte.
    price: float
    is_by_size: bool = True

    def usd(self, quantity: float, settings: Settings) -> float:
        """Return the price in dollars of ``quantity`` bytes, or times."""
        return quantity * self.price / (settings.bytes_per_gb if self.is_by_size else 1)


#: By cost item. Source: CAP-1004: by the size of the table that is exported or restored, and of
#: the uncompressed files that are imported. Assumed: a kilobyte that a bulk put writes costs what a
#: unit on demand does, and vectors what they cost in other writes; no price was found (BLK-8).
TARIFFS: Final = {
    EXPORTS: Tariff("BilledExportBytes", 0.10),
    IMPORTS: Tariff("BilledImportBytes", 0.15),
    RESTORES: Tariff("BilledRestoreBytes", 0.15),
    REGION_TRANSFERS: Tariff("BilledTransferBytes", 0.02),
    BULK_PUTS: Tariff("BilledBulkPutBytes", STANDARD.write_million * 2**20 / _MILLION),
    BULK_VECTORS: Tariff("BilledBulkPutVectorBytes", STANDARD.vector_write_gb),
    STREAM_READS: Tariff("BilledStreamReads", STREAM_READ, is_by_size=False),
}

#: Source: CAP-1002, per month.
FREE_STORAGE_GB: Final = 25
FREE_UNIT_HOURS: Final = 18_600


#: Item, the list price it is free at (Standard only), quantity per month. Source: CAP-1002.
_FREE_TIER: Final = (
    (STORAGE, STANDARD.storage_month, FREE_STORAGE_GB),
    (READ_HOURS, STANDARD.read_hour, FREE_UNIT_HOURS),
    (WRITE_HOURS, STANDARD.write_hour, FREE_UNIT_HOURS),
)


@dataclass(frozen=True, slots=True)
class PriceLine:
    """One line of a bill; an index of None is the table itself, a table of None the account."""

    table: str | None
    index: str | None
    item: str
    quantity: float
    price: float

    @property
    def amount(self) -> float:
        """Dollars."""
        return self.quantity * self.price


class Bill:
    """A month's cost, per table and per index, writes by arm.

    Assumed: which lines it has (CAP-1010).

    >>> bill = Bill(Settings())
    >>> bill.on_demand(STANDARD, "orders", writes=1_000_000)
    >>> for name in ("a", "b", "c"):
    ...     bill.on_demand(STANDARD, "orders", name, writes=1_000_000)
    >>> bill.total, bill.amplification("orders")
    (2.5, 4.0)
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lines: list[PriceLine] = []

    @property
    def lines(self) -> list[PriceLine]:
        """All lines; the free tier, if it is on, comes last and is negative (CAP-1002)."""
        return [*self._lines, *self._deductions()]

    @property
    def total(self) -> float:
        """Dollars."""
        return sum(line.amount for line in self.lines)

    def amount(
        self, table: str | None = None, index: str | None = None, item: str | None = None
    ) -> float:
        """Return the dollars of one item, one table (with its indexes) or one index."""
        return sum(
            line.amount
            for line in self.lines
            if table in (None, line.table)
            and index in (None, line.index)
            and item in (None, line.item)
        )

    def amplification(self, table: str) -> float:
        """Return the cost of all writes divided by that of the table arm alone; 1 if none."""
        writes = [line for line in self._lines if line.table == table and line.item in _WRITE_ITEMS]
        arm = sum(line.amount for line in writes if line.index is None)
        return sum(line.amount for line in writes) / arm if arm else 1.0

    def on_demand(
        self,
        prices: PriceList,
        table: str,
        index: str | None = None,
        *,
        reads: float = 0,
        writes: float = 0,
        replicated_writes: float = 0,
    ) -> None:
        """Add units consumed on demand."""
        self._add(table, index, READS, reads, prices.read_million / _MILLION)
        self._add(table, index, WRITES, writes, prices.write_million / _MILLION)
        replicated = prices.replicated_write_million / _MILLION
        self._add(table, index, REPLICATED_WRITES, replicated_writes, replicated)

    def vectors(
        self,
        prices: PriceList,
        table: str,
        index: str,
        *,
        searched_bytes: float = 0,
        written_bytes: float = 0,
    ) -> None:
        """Add bytes searched and written in a vector index (VIX-66)."""
        gigabyte = self._settings.bytes_per_gb
        searched, written = searched_bytes / gigabyte, written_bytes / gigabyte
        self._add(table, index, VECTOR_SEARCHES, searched, prices.vector_search_gb)
        self._add(table, index, VECTOR_WRITES, written, prices.vector_write_gb)

    def provisioned(
        self,
        prices: PriceList,
        table: str,
        index: str | None = None,
        *,
        read_hours: float = 0,
        write_hours: float = 0,
        replicated_write_hours: float = 0,
    ) -> None:
        """Add provisioned unit-hours."""
        self._add(table, index, READ_HOURS, read_hours, prices.read_hour)
        self._add(table, index, WRITE_HOURS, write_hours, prices.write_hour)
        replicated = prices.replicated_write_hour
        self._add(table, index, REPLICATED_WRITE_HOURS, replicated_write_hours, replicated)

    def storage(
        self,
        prices: PriceList,
        table: str,
        index: str | None = None,
        *,
        billed_bytes: float,
        months: float = 1,
    ) -> None:
        """Add the average billed bytes of some months."""
        gb_months = billed_bytes / self._settings.bytes_per_gb * months
        self._add(table, index, STORAGE, gb_months, prices.storage_month)

    def reserved(
        self, table: str, years: int, *, read_hours: float = 0, write_hours: float = 0
    ) -> None:
        """Add unit-hours of reserved capacity; they are paid whether they are used or not."""
        price = RESERVED_PRICES[years]
        self._add(table, None, RESERVED_READ_HOURS, read_hours, price.unit_hour(READ))
        self._add(table, None, RESERVED_WRITE_HOURS, write_hours, price.unit_hour(WRITE))

    def copies(self, table: str, *, recovery_bytes: float = 0, backup_bytes: float = 0) -> None:
        """Add a month of point-in-time recovery and of backups that are kept."""
        gigabyte = self._settings.bytes_per_gb
        self._add(table, None, RECOVERY, recovery_bytes / gigabyte, RECOVERY_MONTH)
        self._add(table, None, BACKUPS, backup_bytes / gigabyte, BACKUP_MONTH)

    def stream_reads(self, table: str, calls: float) -> None:
        """Add calls of GetRecords."""
        self._add(table, None, STREAM_READS, calls, STREAM_READ)

    def _deductions(self) -> Iterator[PriceLine]:
        """Yield the deductions of the free tier: the free units of each item, at list price."""
        if not self._settings.free_tier:
            return
        for item, price, free in _FREE_TIER:
            used = sum(
                line.quantity for line in self._lines if (line.item, line.price) == (item, price)
            )
            if used:
                yield PriceLine(None, None, FREE_TIER, -min(used, free), price)

    def _add(
        self, table: str | None, index: str | None, item: str, quantity: float, price: float
    ) -> None:
        if quantity:
            self._lines.append(PriceLine(table, index, item, quantity, price))


class UnitHours:
    """Provisioned unit-hours of one resource and axis: each clock hour at its highest setting.

    Assumed: that a part of an hour counts as a whole one (CAP-1007).

    >>> hours = UnitHours(now_s=0, units=10)
    >>> hours.set(5400, 40)
    >>> hours.set(5500, 20)
    >>> hours.until(3 * 3600)
    70
    """

    __slots__ = ("_closed", "_highest", "_hour", "_units")

    def __init__(self, now_s: float, units: int) -> None:
        self._hour = int(now_s // _HOUR_SECONDS)
        self._closed = 0
        self._highest = self._units = units

    def set(self, now_s: float, units: int) -> None:
        """Change the setting."""
        hour = int(now_s // _HOUR_SECONDS)
        self._closed = self._until_hour(hour)
        if hour > self._hour:
            self._hour = hour
            self._highest = self._units
        self._units = units
        self._highest = max(self._highest, units)

    def until(self, now_s: float) -> int:
        """Return the unit-hours so far; an hour counts from its beginning."""
        return self._until_hour(-int(-now_s // _HOUR_SECONDS))

    def _until_hour(self, hour: int) -> int:
        """Return the unit-hours of all clock hours before ``hour``."""
        if hour <= self._hour:
            return self._closed
        return self._closed + self._highest + (hour - self._hour - 1) * self._units
