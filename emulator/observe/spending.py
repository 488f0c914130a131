"""Spending: what a table and its global indexes consumed, what refused them, and what that costs.

It reads CloudWatch's own counts, so it begins where they do and survives splits of partitions.
Prices are those of us-east-1. Storage is left aside: it is paid by the month, and a table on a
developer's machine does not have the size it will have.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from emulator.capacity.metrics import GAUGE_SECONDS
from emulator.capacity.prices import STANDARD, TABLE_CLASSES, PriceList
from emulator.service.throttling import AXES, Axis, ThrottlingLimit

if TYPE_CHECKING:
    from emulator.capacity import Metrics
    from emulator.engine.account import Account
    from emulator.engine.resource import Resource

_HOUR_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What one table or global index consumed, and its price.

    Attributes:
        table: The table.
        index: The global index, or None for the table itself.
        is_deleted: Whether it is there no more; its prices by unit and hour are then 0.
        is_on_demand: Whether units are paid; else capacity is, used or not.
        read_units: Read units consumed.
        write_units: Write units consumed.
        throttles: What was, or in "observe" would have been, refused: reason to times.
        usd: Dollars so far.
        usd_read_unit: The price of a read unit on demand, 0 if capacity is provisioned.
        usd_write_unit: The price of a write unit, likewise.
        usd_hour: The price of an hour of the provisioned capacity, 0 on demand.
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


def spending_of(account: Account) -> list[Spending]:
    """Return what every table of an account consumed, each followed by its global indexes.

    Tables that were deleted come last: what they consumed is still counted.

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
    spent = [
        _spending(
            metrics, name, resource, TABLE_CLASSES[table.options.table_class or STANDARD.name]
        )
        for name, table in sorted(tables.items())
        for resource in table.resources()
    ]
    return spent + [_spent(metrics, *gone) for gone in _gone(metrics, tables)]


def _gone(metrics: Metrics, tables: Container[str]) -> list[tuple[str, str | None]]:
    """Return the tables and indexes that consumed something and were deleted since."""
    counted = {
        (dimensions.table, dimensions.index)
        for axis in AXES
        for dimensions in metrics.dimensions(f"Consumed{axis}CapacityUnits")
        if dimensions.table is not None and dimensions.table not in tables
    }
    return sorted(counted, key=lambda name: (name[0], name[1] or ""))


def _spending(metrics: Metrics, table: str, resource: Resource, prices: PriceList) -> Spending:
    """Return what a resource consumed that is there."""
    throughput = resource.throughput
    index = None if resource.is_table else resource.name
    spent = _spent(metrics, table, index, prices)
    if throughput.on_demand:
        return replace(
            spent,
            is_deleted=False,
            usd_read_unit=prices.on_demand(reads=1),
            usd_write_unit=prices.on_demand(writes=1),
        )
    hour = prices.provisioned(read_hours=throughput.read, write_hours=throughput.write)
    return replace(spent, is_deleted=False, usd_hour=hour)


def _spent(
    metrics: Metrics, table: str, index: str | None, prices: PriceList = STANDARD
) -> Spending:
    """Return what a table or index consumed, by its counts alone.

    Units that were consumed while capacity was provisioned are not paid: in a life of both modes
    they cannot be told apart, and those on demand are then left out, too.
    """
    units = {axis: _sum(metrics, f"Consumed{axis}CapacityUnits", table, index) for axis in AXES}
    hours = {axis: _unit_hours(metrics, axis, table, index) for axis in AXES}
    is_on_demand = not any(hours.values())
    usd = prices.provisioned(read_hours=hours["Read"], write_hours=hours["Write"])
    if is_on_demand:
        usd = prices.on_demand(reads=units["Read"], writes=units["Write"])
    return Spending(
        table=table,
        index=index,
        is_deleted=True,
        is_on_demand=is_on_demand,
        read_units=units["Read"],
        write_units=units["Write"],
        throttles=dict(_throttles(metrics, table, index)),
        usd=usd,
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
