"""Costs: a month of this load, under every billing mode and table class, and a year of growth.

A month is this load all the time, unless the workload says how often its run happens, or what the
mean load is. What was
refused is not paid for, so a design that gives up calls looks cheap: its costs are shown for each
million requests served, too, and for the whole load that was offered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from emulator.capacity import READ, WRITE, Scaler, ScalingPolicy
from emulator.capacity.prices import STANDARD, TABLE_CLASSES, Bill, PriceList, UnitHours
from emulator.capacity.units import billed_bytes, on_demand_start
from emulator.lab.inputs.distributions import weighted
from emulator.lab.inputs.extras import Extras
from emulator.lab.inputs.workload import Workload
from emulator.lab.outcome.result_types import BreakEven, Cost, CostLine, MonthCost
from emulator.lab.outcome.run_log import MINUTE, PatternRecord, ResourceRecord, RunLog
from emulator.lab.planning.key_traits import most_items
from emulator.lab.planning.layout import Layout, TableLayout
from emulator.settings import DEFAULT_SETTINGS, Settings

ON_DEMAND: Final = "on-demand"
PROVISIONED: Final = "provisioned"
AUTO_SCALED: Final = "auto-scaled"
SCHEDULED: Final = "scheduled"
AS_DESIGNED: Final = "as designed"
PREWARMING: Final = "pre-warming, once"

_HOUR: Final = 3600
_MONTHS: Final = 12
_MILLION: Final = 1_000_000
_AXES: Final = ((READ, "read"), (WRITE, "write"))


@dataclass(frozen=True)
class Month:
    """How much of a run a month has.

    Attributes:
        hours: Of the month.
        runs: How often the run happens in it; of a load that runs all the time, how often its
            duration fits in, times the mean load.
        run_hours: Hours of the month in which there is load.
    """

    hours: float
    runs: float
    run_hours: float

    @classmethod
    def of(cls, workload: Workload, settings: Settings) -> Month:
        """Return the month of a workload."""
        seconds = settings.hours_per_month * _HOUR
        if workload.every is None:
            runs = seconds / workload.duration * workload.mean
            return cls(settings.hours_per_month, runs, settings.hours_per_month * workload.mean)
        runs = seconds / workload.every
        # Capacity is paid by the hour, so a run of ten minutes takes one (CAP-1007).
        hours = runs * -(-workload.duration // _HOUR)
        return cls(settings.hours_per_month, runs, min(hours, settings.hours_per_month))


@dataclass(frozen=True)
class Usage:
    """What one table or index uses, as far as money is concerned.

    Attributes:
        table: The table it belongs to.
        index: The result's name of the index; None for the table itself.
        billing: How the design pays for it.
        units: By axis, units of one run.
        peaks: By axis, the busiest minute's units per second.
        settings: By axis, provisioned units per second on average; what the busiest minute
            needs if the design is on demand or scales.
        scaled: By axis, what auto scaling at 70 % would provision on average.
        held: Billed bytes at the end of a run.
        grown: Of those the bytes that the run added.
        most_held: Billed bytes with an item under every key that writes can have; infinite if a
            key has a moment or a unique value in it.
        partitions: How many there are at the end.
    """

    table: str
    index: str | None
    billing: str
    units: tuple[float, float]
    peaks: tuple[float, float]
    settings: tuple[float, float]
    scaled: tuple[float, float]
    held: float
    grown: float
    most_held: float
    partitions: int

    def times(self, read: float, write: float) -> Usage:
        """Return the use at a multiple of the units taken; what is set or held stays."""
        factors = read, write
        needs_more = self.billing != PROVISIONED
        return replace(
            self,
            units=_each_times(self.units, factors),
            peaks=_each_times(self.peaks, factors),
            settings=_each_times(self.settings, factors) if needs_more else self.settings,
            scaled=_each_times(self.scaled, factors),
        )

    def grown_by(self, factor: float) -> Usage:
        """Return the use under a multiple of the load."""
        return replace(
            self,
            units=_times(self.units, factor),
            peaks=_times(self.peaks, factor),
            settings=_times(self.settings, factor),
            scaled=_times(self.scaled, factor),
            grown=self.grown * factor,
        )


def _times(pair: tuple[float, float], factor: float) -> tuple[float, float]:
    return _each_times(pair, (factor, factor))


def _each_times(pair: tuple[float, float], factors: tuple[float, float]) -> tuple[float, float]:
    return pair[0] * factors[0], pair[1] * factors[1]


def usages(log: RunLog, settings: Settings) -> list[Usage]:
    """Return the use of every table and index of a run."""
    room = {table.name: _room_to_grow(log, table) for table in log.layout.tables}
    return [_usage(record, settings, room[record.table.name]) for record in log.resources.values()]


def _room_to_grow(log: RunLog, table: TableLayout) -> float:
    """Return how many times its present items a table can hold."""
    items = sum(
        float(np.dot(record.collections.items, record.collections.counts))
        for record in log.resources.values()
        if record.is_table and record.table is table
    )
    return max(1.0, most_items(table, log.layout) / items) if items else math.inf


def _usage(record: ResourceRecord, settings: Settings, room: float) -> Usage:
    table = record.table
    if not table.design.capacity.is_provisioned:
        billing = ON_DEMAND
    else:
        billing = AUTO_SCALED if record.resource.scalers else PROVISIONED
    pairs = [_axis_use(record, axis, settings) for axis in (READ, WRITE)]
    units, peaks, provisioned, scaled = zip(*pairs, strict=True)
    held, grown = _held(record)
    return Usage(
        table=table.name,
        index=None if record.is_table else record.name,
        billing=billing,
        units=units,
        peaks=peaks,
        settings=provisioned if billing == PROVISIONED else peaks,
        scaled=provisioned if billing == AUTO_SCALED else scaled,
        held=held,
        grown=grown,
        most_held=held * room if held else math.inf,
        partitions=len(record.resource.partitions),
    )


def _axis_use(
    record: ResourceRecord, axis: int, settings: Settings
) -> tuple[float, float, float, float]:
    """Return units, busiest minute, mean setting, and what auto scaling would set."""
    rates, points = np.asarray(record.consumed[axis]) / record.step, max(1, MINUTE // record.step)
    minutes = [
        float(rates[first : first + points].mean()) for first in range(0, len(rates), points)
    ]
    peak = float(np.ceil(max(minutes)))
    provisioned = _mean_hours(record.provisioned[axis], record.step)
    scaled = _scaled(minutes, points * record.step, settings)
    return float(rates.sum()) * record.step, max(peak, 1.0), provisioned, scaled


def _mean_hours(rates: list[float], step: int) -> float:
    """Return the units paid per hour: each hour at its highest setting (CAP-1007)."""
    hours = UnitHours(0, round(rates[0]))
    for point, rate in enumerate(rates):
        if point and rate != rates[point - 1]:
            hours.set(point * step, round(rate))
    whole = -(-len(rates) * step // _HOUR)
    return hours.until(whole * _HOUR) / whole


def _scaled(minutes: list[float], length: int, settings: Settings) -> float:
    """Return the units that auto scaling at its defaults would provision on average.

    Args:
        minutes: The units per second of each minute.
        length: How many seconds it has: more than 60 if it stands for several.
        settings: The constants of scaling.
    """
    policy = ScalingPolicy()
    scaler = Scaler(policy, settings)
    units = max(policy.minimum, int(np.ceil(minutes[0] * 100 / policy.target)))
    hours = UnitHours(0, units)
    for number, rate in enumerate(minutes, 1):
        now_s = number * length
        scaler.on_minute(rate, units, now_s, decrease_allowed=True)
        wanted = scaler.due(now_s)
        if wanted is not None:
            units = wanted
            hours.set(now_s, units)
    whole = max(1, -(-len(minutes) * length // _HOUR))
    return hours.until(whole * _HOUR) / whole


def _held(record: ResourceRecord) -> tuple[float, float]:
    """Return the billed bytes at the end of a run, and how many of them it added."""
    collections = record.collections
    counts = np.asarray(collections.counts)
    size = weighted(np.asarray(collections.sizes), counts)
    growth = weighted(np.asarray(collections.growth), counts)
    # An entry of a local index is billed as an item is (CAP-110).
    items = sum(
        weighted(np.asarray(column), counts)
        for column in (collections.items, collections.entries)
        if column
    )
    total = float(billed_bytes(round(size), round(items)))
    return total, total * growth / size if size else 0.0


def _stored(usage: Usage, workload: Workload, month: Month, settings: Settings) -> float:
    """Return the billed bytes held on average over a month.

    Without a retention data only grows, until there is an item under every key; with one it is
    what the retention keeps, and what time to live has not deleted yet (CAP-1101).
    """
    per_month = usage.grown * month.runs
    if workload.retention is not None and usage.grown:
        kept = workload.retention + settings.ttl_delay
        return min(per_month * kept / (month.hours * _HOUR), usage.most_held)
    start = usage.held - usage.grown
    end = min(start + per_month, usage.most_held)
    growing = (end - start) / per_month if per_month else 0.0  # the part of the month that it takes
    return end - (end - start) * growing / 2


# Bills


@dataclass(frozen=True)
class _Payer:
    """What every bill of a design has in common."""

    layout: Layout
    settings: Settings
    month: Month

    def bill(self, usages: Iterable[Usage], billing: str | None, prices: PriceList | None) -> Bill:
        """Return the bill of a month; None pays as the design says."""
        bill = Bill(self.settings)
        for usage in usages:
            table = next(table for table in self.layout.tables if table.name == usage.table)
            own = prices or TABLE_CLASSES[table.design.table_class]
            self._add(bill, usage, billing or usage.billing, own, table.design.extras)
        return bill

    def _add(
        self, bill: Bill, usage: Usage, billing: str, prices: PriceList, extras: Extras
    ) -> None:
        regions = 1 + extras.replicas
        read, write = usage.units
        if billing == ON_DEMAND:
            runs = self.month.runs
            writes = {"writes": write * runs}
            if extras.replicas:  # every write is a replicated one, in every region (CAP-312)
                writes = {"replicated_writes": write * runs * regions}
            bill.on_demand(prices, usage.table, usage.index, reads=read * runs, **writes)
        else:
            self._add_hours(bill, usage, billing, prices, extras)
        stored = _stored(usage, self.layout.workload, self.month, self.settings)
        bill.storage(prices, usage.table, usage.index, billed_bytes=stored * regions)
        if usage.index is None:
            self._add_extras(bill, usage, extras, stored)

    def _add_hours(
        self, bill: Bill, usage: Usage, billing: str, prices: PriceList, extras: Extras
    ) -> None:
        """Add provisioned unit-hours, those that are reserved by themselves."""
        read, write = self._unit_hours(usage, billing)
        reserved = extras.reserved
        if usage.index is None and prices is STANDARD and not extras.replicas:
            hours = [units * self.month.hours for units in reserved.units]
            bill.reserved(
                usage.table, reserved.years, read_hours=hours[READ], write_hours=hours[WRITE]
            )
            read, write = max(0.0, read - hours[READ]), max(0.0, write - hours[WRITE])
        writes = {"write_hours": write}
        if extras.replicas:
            writes = {"replicated_write_hours": write * (1 + extras.replicas)}
        bill.provisioned(prices, usage.table, usage.index, read_hours=read, **writes)

    def _unit_hours(self, usage: Usage, billing: str) -> tuple[float, float]:
        """Return the unit-hours of a month by axis.

        Provisioned capacity stands all month. Capacity that is scaled goes down to one unit
        while there is no load.
        """
        month = self.month
        if billing == PROVISIONED:
            return _times(usage.settings, month.hours)
        high = usage.settings if billing == SCHEDULED else usage.scaled
        idle = month.hours - month.run_hours
        return (
            high[READ] * month.run_hours + idle,
            high[WRITE] * month.run_hours + idle,
        )

    def _add_extras(self, bill: Bill, usage: Usage, extras: Extras, stored: float) -> None:
        recovery = stored if extras.point_in_time_recovery else 0.0
        bill.copies(usage.table, recovery_bytes=recovery, backup_bytes=stored * extras.backups)
        polls = extras.stream_consumers * usage.partitions * extras.stream_polls
        bill.stream_reads(usage.table, polls * self.month.hours * _HOUR)


def costs(
    usages: list[Usage],
    layout: Layout,
    settings: Settings,
    patterns: Iterable[PatternRecord] = (),
) -> tuple[Cost, ...]:
    """Return a month under each billing mode and table class, what the design asks for marked.

    Args:
        usages: What every table and index uses.
        layout: The design under its workload.
        settings: The constants of money.
        patterns: What was served and given up, for the cost of what was served.
    """
    payer = _Payer(layout, settings, Month.of(layout.workload, settings))
    served = _Served.of(patterns)
    offered = served.offered(usages)
    paid = served.paid(usages)
    billings = {usage.billing for usage in usages}
    classes = {table.design.table_class for table in layout.tables}
    chosen = (billings.pop(), classes.pop()) if len(billings) == len(classes) == 1 else None
    modes = [ON_DEMAND, PROVISIONED, AUTO_SCALED]
    if layout.workload.every is not None:
        modes.append(SCHEDULED)
    made = [
        _cost(payer, paid, offered, served, billing, prices, is_chosen=(billing, name) == chosen)
        for billing in modes
        for name, prices in TABLE_CLASSES.items()
    ]
    if chosen is None:
        made.append(_cost(payer, paid, offered, served, None, None, is_chosen=True))
    return tuple(made)


@dataclass(frozen=True)
class _Served:
    """What was served of the requests of a run, and what all of them would have taken.

    Attributes:
        requests: Requests served in a run: a read that asks eight keys is one, so that a design
            is not cheaper for making more calls of it.
        has_given_up: Whether any call was given up.
        taken: By resource and axis, the units of calls that were answered; an index pays for some
            of them later.
        whole: Likewise, what all calls would have taken; None where nothing was served that
            could tell.
    """

    requests: float
    has_given_up: bool
    taken: dict[tuple[str, int], float]
    whole: dict[tuple[str, int], float] | None

    @classmethod
    def of(cls, patterns: Iterable[PatternRecord]) -> _Served:
        """Return the use that the records of a run show."""
        records = [record for record in patterns if record.calls]
        taken: dict[tuple[str, int], float] = {}
        whole: dict[tuple[str, int], float] = {}
        for record in records:
            factor = record.calls / record.answered if record.answered else 0.0
            for resource, units in record.units.items():
                for axis in (READ, WRITE):
                    key = resource, axis
                    taken[key] = taken.get(key, 0.0) + units[axis]
                    whole[key] = whole.get(key, 0.0) + units[axis] * factor
        return cls(
            requests=sum(record.requests * record.answered / record.calls for record in records),
            has_given_up=any(record.failed for record in records),
            taken=taken,
            whole=whole if all(record.answered for record in records) else None,
        )

    def paid(self, usages: list[Usage]) -> list[Usage]:
        """Return the use with what indexes owe for the run's own writes, and for no earlier ones.

        An index takes in some of them after the run, and during it some from before.
        """
        return [self._with_units(usage, self.taken) for usage in usages]

    def offered(self, usages: list[Usage]) -> list[Usage] | None:
        """Return the use if every call had been served; None if that is not known."""
        if self.whole is None:
            return None
        made = []
        for usage in usages:
            key = usage.index or usage.table, WRITE
            taken = self.taken.get(key)
            grown = usage.grown * self.whole[key] / taken if taken else usage.grown
            made.append(replace(self._with_units(usage, self.whole), grown=grown))
        return made

    def _with_units(self, usage: Usage, units: dict[tuple[str, int], float]) -> Usage:
        """Return a use that takes other units, of a table at least as many as it did."""
        factors = [1.0, 1.0]
        for axis in (READ, WRITE):
            key = usage.index or usage.table, axis
            consumed = usage.units[axis]
            if consumed and key in units:
                is_late = usage.index is not None and axis == WRITE
                factors[axis] = max(units[key] / consumed, 0.0 if is_late else 1.0)
        return usage.times(*factors)


def _cost(
    payer: _Payer,
    usages: list[Usage],
    offered: list[Usage] | None,
    served: _Served,
    billing: str | None,
    prices: PriceList | None,
    *,
    is_chosen: bool,
) -> Cost:
    bill = payer.bill(usages, billing, prices)
    requests = served.requests * payer.month.runs
    whole = None
    if served.has_given_up and offered is not None and billing in (ON_DEMAND, AUTO_SCALED):
        whole = payer.bill(offered, billing, prices).total
    once = prewarming(payer.layout)
    total = bill.total + math.fsum(once.values())
    return Cost(
        billing=billing or AS_DESIGNED,
        table_class=AS_DESIGNED if prices is None else prices.name,
        lines=tuple(
            CostLine(
                resource=line.index or line.table or "account",
                item=line.item,
                quantity=line.quantity,
                price=line.price,
                amount=line.amount,
            )
            for line in bill.lines
        )
        + tuple(
            CostLine(resource=name, item=PREWARMING, quantity=1.0, price=dollars, amount=dollars)
            for name, dollars in once.items()
        ),
        total=total,
        chosen=is_chosen,
        per_million_served=bill.total / requests * _MILLION if requests else None,
        whole_load=whole,
    )


def year(usages: list[Usage], layout: Layout, settings: Settings) -> tuple[MonthCost, ...]:
    """Return twelve months of a load that grows, paid as the design says; none if it does not.

    Capacity that is provisioned grows with the load. What is stored adds up, until there is an
    item under every key, and makes partitions where it outgrows those that throughput needs.
    """
    growth = layout.workload.growth
    if not growth:
        return ()
    payer = _Payer(layout, settings, Month.of(layout.workload, settings))
    keeps = layout.workload.retention is None
    months = []
    held = {(usage.table, usage.index): usage.held - usage.grown for usage in usages}
    for number in range(1, _MONTHS + 1):
        factor = (1 + growth) ** (number - 1)
        grown = [usage.grown_by(factor) for usage in usages]
        now = [replace(usage, held=held[usage.table, usage.index] + usage.grown) for usage in grown]
        stored = sum(_stored(usage, layout.workload, payer.month, settings) for usage in now)
        for usage in grown:
            if keeps:
                name = usage.table, usage.index
                held[name] = min(held[name] + usage.grown * payer.month.runs, usage.most_held)
        months.append(
            MonthCost(
                month=number,
                load=factor,
                total=payer.bill(now, None, None).total,
                stored_bytes=stored,
                partitions=sum(
                    max(
                        usage.partitions,
                        -(-int(held[usage.table, usage.index]) // settings.partition_bytes),
                    )
                    for usage in usages
                ),
            )
        )
    return tuple(months)


def prewarming(layout: Layout) -> dict[str, float]:
    """Return by table and index the dollars, once, for the warm throughput that it asks for."""
    dollars = {}
    for name, capacity in layout.capacities.items():
        start = on_demand_start(DEFAULT_SETTINGS.on_demand_partitions)
        if capacity.is_provisioned:
            start = capacity.read or 0, capacity.write or 0
        warm = capacity.warm_read or 0, capacity.warm_write or 0
        if any(own > least for own, least in zip(warm, start, strict=True)):
            dollars[name] = STANDARD.prewarming(start, warm)
    return dollars


def break_even(usages: list[Usage], layout: Layout) -> tuple[BreakEven, ...]:
    """Return provisioned against on demand for each axis that is used (CAP-1008)."""
    classes = {table.name: table.design.table_class for table in layout.tables}
    seconds = layout.workload.every or layout.workload.duration
    rows = []
    for usage in usages:
        prices = TABLE_CLASSES[classes[usage.table]]
        for axis, name in _AXES:
            if not usage.units[axis]:
                continue
            paid = usage.scaled if usage.billing == AUTO_SCALED else usage.settings
            utilisation = usage.units[axis] / seconds / paid[axis]
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
