"""Spending: what a table and its global indexes consumed, what refused them, and what that costs.

It reads CloudWatch's own counts, so it begins where they do and survives splits of partitions.
Prices are those of us-east-1. What is stored and kept is paid by the month and listed
separately: a table on a developer's machine does not have the size that it will have.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from emulator.capacity import units
from emulator.capacity.metrics import GAUGE_SECONDS
from emulator.capacity.prices import (
    BACKUP_MONTH,
    BACKUPS,
    RECOVERY,
    RECOVERY_MONTH,
    STANDARD,
    STORAGE,
    TABLE_CLASSES,
    TARIFFS,
    VECTOR_SEARCHES,
    VECTOR_WRITES,
    PriceList,
)
from emulator.service.throttling import AXES, Axis, ThrottlingLimit

if TYPE_CHECKING:
    from emulator.capacity import Metrics
    from emulator.engine.account import Account
    from emulator.engine.resource import Resource
    from emulator.engine.table import Table
    from emulator.settings import Settings

_HOUR_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The units that one table or global index consumed, and their price.

    Attributes:
        table: The table.
        index: The global index, or None for the table itself.
        is_deleted: Whether it is there no more; its prices by unit and hour are then 0.
        is_on_demand: Whether units are paid; else capacity is, used or not.
        read_units: Read units consumed.
        write_units: Write units consumed.
        throttles: Refusals, or in "observe" those that would have been: reason to times.
        usd: Dollars so far, ``usd_billed`` included.
        usd_read_unit: The price of a read unit on demand, 0 if capacity is provisioned.
        usd_write_unit: The price of a write unit, likewise.
        usd_hour: The price of an hour of the provisioned capacity, 0 on demand.
        usd_billed: Dollars so far for what is no units, by cost item: exports, imports, restores,
            bulk puts, stream reads, vector searches and writes (CAP-1004, VIX-66).
        usd_kept_month: Dollars of a month of what is kept now, by cost item: storage with vector
            indexes, point-in-time recovery, backups (CAP-1001, CAP-1004).
    """

    table: str
    index: str | None
    is_deleted: bool
    is_on_demand: bool
    read_units: float
    write_units: float
    throttles: dict[str, int]
    usd: float
    usd_read_unit: float = 0.0
    usd_write_unit: float = 0.0
    usd_hour: float = 0.0
    usd_billed: dict[str, float] = field(default_factory=dict)
    usd_kept_month: dict[str, float] = field(default_factory=dict)


def spending_of(account: Account) -> list[Spending]:
    """Return the spending of every table of an account, each followed by its global indexes.

    Deleted tables come last: their units are still counted.

    >>> from emulator import Emulator
    >>> emu = Emulator()
    >>> _ = emu.call("CreateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST",
    ...     "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    ...     "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})
    >>> for number in range(8):
    ...     _ = emu.table("tab").put_item(Item={"pk": str(number)})
    >>> [spent] = spending_of(emu.account())
    >>> spent.write_units, spent.usd
    (8.0, 5e-06)
    """
    metrics, tables = account.metrics, account.tables
    settings = account.settings
    spent = []
    for name, table in sorted(tables.items()):
        prices = TABLE_CLASSES[table.options.table_class or STANDARD.name]
        for resource in table.resources():
            of_resource = _spending(metrics, name, resource, prices, settings)
            kept = dict(_kept(account, table, resource, prices))
            spent.append(replace(of_resource, usd_kept_month=kept))
    for name, index in _gone(account, tables):
        kept = dict(_kept_backups(account, name)) if index is None else {}
        of_gone = _spent(metrics, name, index, settings)
        spent.append(replace(of_gone, usd_kept_month=kept))
    return spent


def _gone(account: Account, tables: Container[str]) -> list[tuple[str, str | None]]:
    """Return the tables and indexes that consumed something, or cost something, and are gone."""
    metrics = account.metrics
    names = [f"Consumed{axis}CapacityUnits" for axis in AXES]
    counted = {
        (dimensions.table, dimensions.index)
        for metric in (*names, *(tariff.metric for tariff in TARIFFS.values()))
        for dimensions in metrics.dimensions(metric)
        if dimensions.table is not None and dimensions.table not in tables
    }
    backed_up = {backup.table.name for backup in account.archive.backups.values()}
    counted |= {(name, None) for name in backed_up if name not in tables}
    return sorted(counted, key=lambda name: (name[0], name[1] or ""))


def _spending(
    metrics: Metrics, table: str, resource: Resource, prices: PriceList, settings: Settings
) -> Spending:
    """Return the spending of a resource that is there."""
    throughput = resource.throughput
    index = None if resource.is_table else resource.name
    spent = _spent(metrics, table, index, settings, prices)
    if throughput.on_demand:
        return replace(
            spent,
            is_deleted=False,
            usd_read_unit=prices.on_demand(reads=1),
            usd_write_unit=prices.on_demand(writes=1),
        )
    hour = prices.provisioned(read_hours=throughput.read, write_hours=throughput.write)
    return replace(spent, is_deleted=False, usd_hour=hour)


def _billed(
    metrics: Metrics, table: str, prices: PriceList, settings: Settings
) -> Iterator[tuple[str, float]]:
    """Yield the dollars of what a table had that is no units."""
    for item, tariff in TARIFFS.items():
        yield item, tariff.usd(_sum(metrics, tariff.metric, table, None), settings)
    searched, written = (
        sum(
            _sum(metrics, metric, table, dimensions.index)
            for dimensions in metrics.dimensions(metric)
            if dimensions.table == table
        )
        for metric in ("VectorSearchRequestBytes", "VectorWriteRequestBytes")
    )
    yield VECTOR_SEARCHES, prices.vectors(settings, searched=searched)
    yield VECTOR_WRITES, prices.vectors(settings, written=written)


def _kept(
    account: Account, table: Table, resource: Resource, prices: PriceList
) -> Iterator[tuple[str, float]]:
    """Yield the dollars of a month of what a table or global index keeps.

    Source: CAP-110, CAP-1004: recovery is paid by the size of table and local indexes. Assumed:
    and not by that of global and vector indexes; a backup likewise.
    """
    settings = account.settings
    stored = billed = _billed_bytes(resource)
    if resource.is_table and table.vectors is not None:
        for index in table.vectors:
            billed += units.billed_bytes(index.store.size_bytes, len(index.store))
    if billed:
        yield STORAGE, prices.storage(billed, settings)
    if not resource.is_table:
        return
    if stored and table.options.recovery is not None:
        yield RECOVERY, stored / settings.bytes_per_gb * RECOVERY_MONTH
    yield from _kept_backups(account, table.name)


def _kept_backups(account: Account, name: str) -> Iterator[tuple[str, float]]:
    kept = [
        _billed_bytes(backup.table.resource)
        for backup in account.archive.backups.values()
        # The service keeps its own for nothing.
        if backup.table.name == name and backup.expires_ns is None
    ]
    if any(kept):
        yield BACKUPS, sum(kept) / account.settings.bytes_per_gb * BACKUP_MONTH


def _billed_bytes(resource: Resource) -> int:
    return sum(partition.size_bytes for partition in resource.partitions)


def _spent(
    metrics: Metrics,
    table: str,
    index: str | None,
    settings: Settings,
    prices: PriceList = STANDARD,
) -> Spending:
    """Return the spending of a table or index, by its counts alone.

    Units that were consumed while capacity was provisioned are not paid: in a life of both modes
    they cannot be separated, and those on demand are then left out, too.
    """
    consumed = {axis: _sum(metrics, f"Consumed{axis}CapacityUnits", table, index) for axis in AXES}
    hours = {axis: _unit_hours(metrics, axis, table, index) for axis in AXES}
    is_on_demand = not any(hours.values())
    usd = prices.provisioned(read_hours=hours["Read"], write_hours=hours["Write"])
    if is_on_demand:
        usd = prices.on_demand(reads=consumed["Read"], writes=consumed["Write"])
    billed: dict[str, float] = {}
    if index is None:
        items = _billed(metrics, table, prices, settings)
        billed = {item: dollars for item, dollars in items if dollars}
    return Spending(
        table=table,
        index=index,
        is_deleted=True,
        is_on_demand=is_on_demand,
        read_units=consumed["Read"],
        write_units=consumed["Write"],
        throttles=dict(_throttles(metrics, table, index)),
        usd=usd + sum(billed.values()),
        usd_billed=billed,
    )


def _unit_hours(metrics: Metrics, axis: Axis, table: str, index: str | None) -> float:
    """Return the provisioned unit-hours so far; a setting counts for whole five minutes."""
    points = _sum(metrics, f"Provisioned{axis}CapacityUnits", table, index)
    return points * GAUGE_SECONDS / _HOUR_SECONDS


def _throttles(metrics: Metrics, table: str, index: str | None) -> Iterator[tuple[str, int]]:
    for axis in AXES:
        for limit in ThrottlingLimit:
            times = int(_sum(metrics, limit.metric(axis), table, index))
            if times:
                yield limit.reason(axis, is_index=index is not None), times


def _sum(metrics: Metrics, metric: str, table: str, index: str | None) -> float:
    return metrics.sum(metric, table=table, index=index)
