"""Costs: a month at the pace of the run, under every billing mode and table class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from emulator.capacity import READ, WRITE, Scaler, ScalingPolicy
from emulator.capacity.prices import TABLE_CLASSES, Bill, PriceList, UnitHours
from emulator.capacity.units import billed_bytes
from emulator.lab.outcome.result_types import BreakEven, Cost, CostLine
from emulator.lab.outcome.run_log import MINUTE, ResourceRecord, RunLog
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

ON_DEMAND: Final = "on-demand"
PROVISIONED: Final = "provisioned"
AUTO_SCALED: Final = "auto-scaled"
AS_DESIGNED: Final = "as designed"

_HOUR: Final = 3600
_AXES: Final = ((READ, "read"), (WRITE, "write"))


@dataclass(frozen=True)
class Usage:
    """What one table or index uses, as far as money is concerned.

    Attributes:
        table: The table it belongs to.
        index: The result's name of the index; None for the table itself.
        billing: How the design pays for it.
        units: By axis, units per second on average.
        peaks: By axis, the busiest minute's units per second.
        settings: By axis, provisioned units per second on average; what the busiest minute
            needs if the design is on demand.
        scaled: By axis, what auto scaling at 70 % would provision on average.
        stored: Billed bytes on average over the month.
    """

    table: str
    index: str | None
    billing: str
    units: tuple[float, float]
    peaks: tuple[float, float]
    settings: tuple[float, float]
    scaled: tuple[float, float]
    stored: float


def usages(log: RunLog, settings: Settings) -> list[Usage]:
    """Return what every table and index of a run uses."""
    layout = log.layout
    return [_usage(layout, record, log.seconds, settings) for record in log.resources.values()]


def _usage(layout: Layout, record: ResourceRecord, seconds: int, settings: Settings) -> Usage:
    table = record.table
    if not table.design.capacity.is_provisioned:
        billing = ON_DEMAND
    else:
        billing = AUTO_SCALED if record.resource.scalers else PROVISIONED
    pairs = [_axis_use(record, axis, settings) for axis in (READ, WRITE)]
    means, peaks, provisioned, scaled = zip(*pairs, strict=True)
    return Usage(
        table=table.name,
        index=None if record.is_table else record.name,
        billing=billing,
        units=means,
        peaks=peaks,
        settings=provisioned if billing != ON_DEMAND else peaks,
        scaled=provisioned if billing == AUTO_SCALED else scaled,
        stored=_stored(layout, record, seconds, settings),
    )


def _axis_use(
    record: ResourceRecord, axis: int, settings: Settings
) -> tuple[float, float, float, float]:
    """Return mean rate, busiest minute, mean setting, and what auto scaling would set."""
    consumed = np.asarray(record.consumed[axis])
    minutes = [
        float(consumed[first : first + MINUTE].mean()) for first in range(0, len(consumed), MINUTE)
    ]
    peak = float(np.ceil(max(minutes)))
    provisioned = _mean_hours(record.provisioned[axis])
    return float(consumed.mean()), max(peak, 1.0), provisioned, _scaled(minutes, settings)


def _mean_hours(rates: list[float]) -> float:
    """Return the units paid per hour: each hour at its highest setting (CAP-1007)."""
    hours = UnitHours(0, round(rates[0]))
    for second, rate in enumerate(rates):
        if second and rate != rates[second - 1]:
            hours.set(second, round(rate))
    whole = -(-len(rates) // _HOUR)
    return hours.until(whole * _HOUR) / whole


def _scaled(minutes: list[float], settings: Settings) -> float:
    """Return what auto scaling at its defaults would provision on average."""
    policy = ScalingPolicy()
    scaler = Scaler(policy, settings)
    units = max(policy.minimum, int(np.ceil(minutes[0] * 100 / policy.target)))
    hours = UnitHours(0, units)
    for number, rate in enumerate(minutes, 1):
        now_s = number * MINUTE
        scaler.on_minute(rate, units, now_s, decrease_allowed=True)
        wanted = scaler.due(now_s)
        if wanted is not None:
            units = wanted
            hours.set(now_s, units)
    whole = max(1, -(-len(minutes) * MINUTE // _HOUR))
    return hours.until(whole * _HOUR) / whole


def _stored(layout: Layout, record: ResourceRecord, seconds: int, settings: Settings) -> float:
    """Return the billed bytes held on average over a month at the run's pace.

    Without a retention data only grows; with one it is what the retention keeps.
    """
    collections = record.collections
    counts = np.asarray(collections.counts)
    size = float((np.asarray(collections.sizes) * counts).sum())
    items = float((np.asarray(collections.items) * counts).sum())
    growth = float((np.asarray(collections.growth) * counts).sum())
    total = float(billed_bytes(round(size), round(items)))
    grown = total * growth / size if size else 0.0
    month = settings.hours_per_month * _HOUR
    retention = layout.workload.retention
    if retention is not None:
        return grown / seconds * retention if grown else total
    return total - grown + grown / seconds * month / 2


def costs(usages: list[Usage], layout: Layout, settings: Settings) -> tuple[Cost, ...]:
    """Return a month under each billing mode and table class, what the design asks for marked."""
    billings = {usage.billing for usage in usages}
    classes = {table.design.table_class for table in layout.tables}
    chosen = (billings.pop(), classes.pop()) if len(billings) == len(classes) == 1 else None
    made = [
        _cost(usages, billing, prices, settings, is_chosen=(billing, prices.name) == chosen)
        for billing in (ON_DEMAND, PROVISIONED, AUTO_SCALED)
        for prices in TABLE_CLASSES.values()
    ]
    if chosen is None:
        made.append(_as_designed(usages, layout, settings))
    return tuple(made)


def _cost(
    usages: list[Usage], billing: str, prices: PriceList, settings: Settings, *, is_chosen: bool
) -> Cost:
    bill = Bill(settings)
    for usage in usages:
        _add(bill, usage, billing, prices, settings)
    return _closed(bill, billing, prices.name, is_chosen=is_chosen)


def _as_designed(usages: list[Usage], layout: Layout, settings: Settings) -> Cost:
    classes = {table.name: table.design.table_class for table in layout.tables}
    bill = Bill(settings)
    for usage in usages:
        prices = TABLE_CLASSES[classes[usage.table]]
        _add(bill, usage, usage.billing, prices, settings)
    return _closed(bill, AS_DESIGNED, AS_DESIGNED, is_chosen=True)


def _add(bill: Bill, usage: Usage, billing: str, prices: PriceList, settings: Settings) -> None:
    hours = settings.hours_per_month
    read, write = usage.units
    if billing == ON_DEMAND:
        seconds = hours * _HOUR
        bill.on_demand(
            prices, usage.table, usage.index, reads=read * seconds, writes=write * seconds
        )
    else:
        read, write = usage.settings if billing == PROVISIONED else usage.scaled
        bill.provisioned(
            prices, usage.table, usage.index, read_hours=read * hours, write_hours=write * hours
        )
    bill.storage(prices, usage.table, usage.index, billed_bytes=usage.stored)


def _closed(bill: Bill, billing: str, table_class: str, *, is_chosen: bool) -> Cost:
    lines = tuple(
        CostLine(
            resource=line.index or line.table or "account",
            item=line.item,
            quantity=line.quantity,
            price=line.price,
            amount=line.amount,
        )
        for line in bill.lines
    )
    return Cost(
        billing=billing, table_class=table_class, lines=lines, total=bill.total, chosen=is_chosen
    )


def break_even(usages: list[Usage], layout: Layout) -> tuple[BreakEven, ...]:
    """Return provisioned against on demand for each axis that is used (CAP-1008)."""
    classes = {table.name: table.design.table_class for table in layout.tables}
    rows = []
    for usage in usages:
        prices = TABLE_CLASSES[classes[usage.table]]
        for axis, name in _AXES:
            if not usage.units[axis]:
                continue
            utilisation = usage.units[axis] / usage.settings[axis]
            point = prices.break_even(axis)
            rows.append(
                BreakEven(
                    resource=usage.index or usage.table,
                    axis="read" if name == "read" else "write",
                    utilisation=utilisation,
                    break_even=point,
                    cheaper="provisioned" if utilisation > point else "on-demand",
                )
            )
    return tuple(rows)
