"""Advice: what the rules of thumb say about a design under a workload.

Each check is one function from the case to its findings; the order is that of the report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from emulator.capacity import READ, WRITE
from emulator.capacity.prices import STANDARD, STANDARD_IA
from emulator.capacity.units import read_loss, read_units, write_loss, write_units
from emulator.designs import Finding, Severity
from emulator.designs.pattern_rules import AMPLIFICATION, BIG_ITEM, FREQUENT, SAVING
from emulator.lab.analysis.case import Case
from emulator.lab.analysis.costs import ON_DEMAND
from emulator.lab.analysis.offered_load import units_per_request
from emulator.lab.outcome.risk import at_most
from emulator.lab.outcome.thresholds import UNEVEN, UNLIKELY
from emulator.lab.planning.key_traits import is_in_order
from emulator.service import limits
from emulator.service.throttling import parse_reason

#: Source: L0, the rules of thumb for partition keys.
KEYS_PER_PARTITION: Final = 2
HOT_SHARE: Final = 0.10
#: Of a partition's limit: from here on uneven traffic is trouble and not only untidy.
BUSY: Final = 0.5
WASTE: Final = 0.5
#: Bytes paid for and not used, as a share of what is paid, in items of a few units.
ROUNDING_LOSS: Final = 0.30
_FEW_UNITS: Final = 3
_YEAR_DAYS: Final = 365
#: How many even keys are enough is looked for this closely, and no further.
_CLOSE: Final = 1.1
_MOST_KEYS: Final = 2_000


Check = Callable[[Case], Iterator[Finding]]


def advise(case: Case) -> tuple[Finding, ...]:
    """Return all findings, the most serious first."""
    unique: dict[tuple[str, str], Finding] = {}
    for check in CHECKS:
        for finding in check(case):
            unique.setdefault((finding.check, finding.subject), finding)
    order: dict[Severity, int] = {"problem": 0, "warning": 1, "info": 2}
    return tuple(sorted(unique.values(), key=lambda finding: order[finding.severity]))


# Keys


def cardinality(case: Case) -> Iterator[Finding]:
    """Key values against twice the partitions that the load needs.

    Source: L0.
    """
    for resource in case.resources:
        load = case.offered[resource.name]
        needed = load.partitions
        if needed > 1 and resource.distinct_keys < KEYS_PER_PARTITION * needed:
            count = max(needed, *resource.partitions_per_minute[:1])
            enough = max(_enough_keys(load.axis(axis), axis, count) for axis in (READ, WRITE))
            yield Finding(
                "cardinality",
                "problem",
                resource.name,
                f"{resource.distinct_keys:.0f} key values for a load that needs {needed} "
                f"partitions; even ones would do from about {enough} on",
                "choose a partition key with more values, or add a suffix",
            )


def _enough_keys(units: float, axis: int, partitions: int) -> int:
    """Return how many even keys rarely put more on a partition than it serves, as fixes do.

    A fix has to hold in 95 % of worlds, so this is the number for which no partition is full in
    as many.
    """
    keys = KEYS_PER_PARTITION * partitions
    while keys < _MOST_KEYS:
        most = math.floor(keys * limits.PARTITION_UNITS[axis] / max(units, 1.0))
        if most >= keys or partitions * (1 - at_most(most, keys, 1 / partitions)) <= UNLIKELY:
            break
        keys = math.ceil(keys * _CLOSE)
    return keys


def hot_partition(case: Case) -> Iterator[Finding]:
    """No partition above a tenth of the traffic.

    Its share is that of the time it existed, so what is fair goes by the fewest there were.
    """
    for resource in case.resources:
        count = min(resource.partitions_per_minute, default=1)
        share = resource.hottest_partition_share
        load = case.offered[resource.name]
        use = max(load.axis(axis) * share / limits.PARTITION_UNITS[axis] for axis in (READ, WRITE))
        if share > HOT_SHARE and share > UNEVEN / count and use > BUSY:
            yield Finding(
                "hot-partition",
                "problem" if use > 1 else "warning",
                resource.name,
                f"one of {count} partitions gets {share:.0%} of the traffic, "
                f"{use:.0%} of what a partition carries",
                "spread the busiest keys, or choose a key with even access",
            )


def popularity(case: Case) -> Iterator[Finding]:
    """Keys that are much more popular than others."""
    for resource in case.resources:
        share = resource.hottest_key_share
        load = case.offered[resource.name]
        use = max(load.axis(axis) * share / limits.PARTITION_UNITS[axis] for axis in (READ, WRITE))
        few = resource.distinct_keys <= KEYS_PER_PARTITION * max(1, load.partitions)
        if share > HOT_SHARE and use > BUSY and not few and resource.top_keys:
            yield Finding(
                "popular-key",
                "problem" if use > 1 else "warning",
                resource.name,
                f"the key {resource.top_keys[0].key!r} alone gets {share:.0%} of the traffic, "
                f"{use:.0%} of what a partition carries",
                "add suffixes to the popular keys, and query all of them when reading",
            )


def time_key(case: Case) -> Iterator[Finding]:
    """Partition keys made of time alone."""
    for resource, _, partition in case.partition_keys():
        made_of_time = any(template.times for template in partition) and not any(
            template.fields or template.shards for template in partition
        )
        step = min((t.step_seconds for t in partition if t.step_seconds), default=None)
        if made_of_time and step:
            yield Finding(
                "time-key",
                "problem"
                if case.offered[resource.name].write > BUSY * limits.PARTITION_UNITS[WRITE]
                else "warning",
                resource.name,
                f"the partition key {partition[0].text!r} is the same for every write of "
                f"{_span(step)}: all of them go to one partition",
                "put an id before the time, and the time into the sort key",
            )


def low_cardinality(case: Case) -> Iterator[Finding]:
    """Partition keys with a handful of values.

    What one partition carries is not throttled for them.
    Source: L2.
    """
    workload = case.layout.workload
    for resource, _, partition in case.partition_keys():
        names = [name for template in partition for name in template.fields]
        if not names or any(t.times or t.shards for t in partition):
            continue
        values = 1
        for name in names:
            field = workload.field(name)
            parents = workload.field(field.per).size if field.per is not None else 1
            values *= limits.GIB if field.unique else field.size * parents
        partitions = case.offered[resource.name].partitions
        needed = KEYS_PER_PARTITION * partitions if partitions > 1 else 1
        if values <= max(10, needed):
            yield Finding(
                "low-cardinality-key",
                "problem" if values < needed else "warning",
                resource.name,
                f"the partition key {partition[0].text!r} has {values} values",
                "combine it with an id, or keep it for the sort key",
            )


def sequential_key(case: Case) -> Iterator[Finding]:
    """Sequential ids as partition keys, and ascending sort keys under a hot one."""
    workload = case.layout.workload
    for resource, table, partition in case.partition_keys():
        names = [name for template in partition for name in template.fields]
        if any(workload.field(name).unique == "sequential" for name in names):
            yield Finding(
                "sequential-key",
                "info",
                resource.name,
                "sequential ids are spread by their hash; only if the newest are read most do "
                "they heat their partitions",
                "watch the hottest key's share, not the ids",
            )
        ordered = any(is_in_order(key, workload) for key in table.keys.values())
        load = case.offered[resource.name].write * resource.hottest_key_share
        if resource.kind == "table" and ordered and load > limits.PARTITION_UNITS[WRITE]:
            yield Finding(
                "ascending-sort-key",
                "problem",
                resource.name,
                "the busiest key gets more writes than a partition carries, and its sort keys "
                "ascend: adaptive capacity cannot split it",
                "give the key a suffix",
            )


def _span(seconds: float) -> str:
    for size, name in ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day")):
        if seconds >= size:
            return f"a {name}"
    return {3600: "an hour", 60: "a minute", 1: "a second"}.get(int(seconds), f"{seconds:g} s")


# Indexes


def amplification(case: Case) -> Iterator[Finding]:
    """Indexes that multiply the cost of writes."""
    for result in case.patterns:
        if not case.pattern(result).is_write:
            continue
        table = case.layout.resource_name(case.layout.table_of(case.pattern(result)), None)
        own = units_per_request(result, table, WRITE)
        total = sum(units_per_request(result, resource.name, WRITE) for resource in case.resources)
        if own and total / own > AMPLIFICATION:
            yield Finding(
                "index-amplification",
                "warning",
                result.name,
                f"every write costs {total:.1f} units, {total / own:.1f} times the table's own",
                "drop or narrow indexes, or make them sparse",
            )


def index_throttling(case: Case) -> Iterator[Finding]:
    """Indexes that hold back the table."""
    for result in case.patterns:
        held = sum(
            count
            for reason, count in result.throttled_by_reason.items()
            if parse_reason(reason)[:2] == (True, "Write")
        )
        if held:
            yield Finding(
                "index-throttles-table",
                "problem",
                result.name,
                f"{held / max(result.calls, 1):.1%} of the writes wait for an index and not for "
                "the table",
                "give the index a key with more values, or more capacity",
            )
    for resource in case.resources:
        backlog = resource.backlog
        if backlog is not None and backlog.closes_after is not None and not backlog.has_closed:
            yield Finding(
                "index-falls-behind",
                "problem",
                resource.name,
                f"{backlog.units:,.0f} write units wait at the end and more every minute; at "
                f"{backlog.buffer:,.0f} every write to the table is refused",
                "give the index a key with more values, or more capacity",
            )


def wide_projection(case: Case) -> Iterator[Finding]:
    """Indexes that copy whole items where keys would do."""
    for table in case.layout.tables:
        for index in table.indexes:
            if index.design.projection != "ALL" or not index.is_global:
                continue
            name = case.layout.resource_name(table, index.name)
            resource = case.resource(name)
            items = resource.collections.items
            size = round(resource.collections.total_bytes / items) if items else 0
            if write_units(size) > 1:
                yield Finding(
                    "wide-projection",
                    "warning",
                    name,
                    f"the index copies items of {size:,} bytes whole: {write_units(size)} units "
                    "a write, 1 with KEYS_ONLY",
                    "project the keys, or the few attributes that are read",
                )


def collection_growth(case: Case) -> Iterator[Finding]:
    """Item collections of tables with local indexes near their limit."""
    for table in case.layout.tables:
        if not table.design.local_indexes:
            continue
        name = case.layout.resource_name(table, None)
        sizes = case.resource(name).collections
        growth = sizes.largest_growth_bytes_per_day
        left = limits.COLLECTION_BYTES - sizes.largest_bytes
        if growth and left / growth < _YEAR_DAYS:
            yield Finding(
                "collection-growth",
                "problem" if left / growth < 30 else "warning",
                name,
                f"the collection {sizes.largest_key!r} reaches the 10 GB of a table with local "
                f"indexes in {left / growth:.0f} days",
                "use a global index, or a partition key with more values",
            )


# Reads


def frequent_scan(case: Case) -> Iterator[Finding]:
    """Scans in patterns that are used often."""
    for result in case.patterns:
        rate = result.requests / case.layout.workload.duration
        path = case.path(result)
        if path.kind != "scan" or path.has_limit:
            continue
        if rate > FREQUENT:
            yield Finding(
                "frequent-scan",
                "problem",
                result.name,
                f"no key of the design answers it: {rate * 3600:,.0f} whole Scans an hour, "
                f"{result.evaluated_bytes / max(result.requests, 1) / 1024:,.0f} KB each",
                "add an index whose key is what the caller knows",
            )


def filter_waste(case: Case) -> Iterator[Finding]:
    """Filters that do a key's work."""
    for result in case.patterns:
        if result.filter_waste_share > WASTE and case.path(result).kind != "scan":
            fields = ", ".join(case.path(result).filters) or "what it selects"
            yield Finding(
                "filter-instead-of-key",
                "problem" if result.filter_waste_share > 0.9 else "warning",
                result.name,
                f"{result.filter_waste_share:.0%} of what is read is thrown away by the filter "
                f"on {fields}",
                f"put {fields} into the sort key, or into an index",
            )


# Money and sizes


def billing(case: Case) -> Iterator[Finding]:
    """Provisioned against on demand, where a month is that of all calls."""
    chosen = case.chosen_cost
    if chosen is None or case.throttles:
        return
    others = [cost for cost in case.costs if cost.table_class == chosen.table_class]
    best = min(others, key=lambda cost: cost.total, default=chosen)
    if best.total < chosen.total * (1 - SAVING):
        use = max((row.utilisation for row in case.break_even), default=0.0)
        point = case.break_even[0].break_even if case.break_even else 0.0
        yield Finding(
            "billing-mode",
            "info",
            case.layout.design.name,
            f"{best.billing} would cost ${best.total:,.2f} a month instead of "
            f"${chosen.total:,.2f}; utilisation is {use:.0%}, the break-even {point:.1%}",
            f"choose {best.billing} billing"
            + (" and leave room for peaks" if best.billing != ON_DEMAND else ""),
        )


def table_class(case: Case) -> Iterator[Finding]:
    """Standard against Standard-IA, where a month is that of all calls."""
    chosen = case.chosen_cost
    if chosen is None or case.throttles:
        return
    other = STANDARD_IA.name if chosen.table_class == STANDARD.name else STANDARD.name
    rival = next(
        cost for cost in case.costs if (cost.billing, cost.table_class) == (chosen.billing, other)
    )
    if rival.total < chosen.total * (1 - SAVING):
        yield Finding(
            "table-class",
            "info",
            case.layout.design.name,
            f"{other} would cost ${rival.total:,.2f} a month instead of ${chosen.total:,.2f}",
            f"use the table class {other}",
        )


def rounding(case: Case) -> Iterator[Finding]:
    """Items just over a unit's edge."""
    for result in case.patterns:
        pattern = case.pattern(result)
        size = round(pattern.sizes.mean)
        units, loss = (
            (write_units(size), write_loss(size))
            if pattern.is_write
            else (read_units(size), read_loss(size))
        )
        if 1 < units <= _FEW_UNITS and loss / (size + loss) > ROUNDING_LOSS:
            yield Finding(
                "size-rounding",
                "info",
                result.name,
                f"items of {size:,} bytes pay {units} units; {loss:,} of the bytes paid for are "
                "not used",
                f"save {size - (size + loss) // units * (units - 1):,} bytes and pay "
                f"{units - 1}: shorter names, compressed values",
            )


def vertical_split(case: Case) -> Iterator[Finding]:
    """Small updates of large items."""
    for result in case.patterns:
        pattern = case.pattern(result)
        size = round(pattern.sizes.mean)
        if pattern.operation == "UpdateItem" and size >= BIG_ITEM:
            yield Finding(
                "vertical-split",
                "warning",
                result.name,
                f"every update pays for the whole item of {size:,} bytes: {write_units(size)} "
                "units, however little changes",
                "keep what changes often in a separate item: 1 unit per update",
            )


CHECKS: Final[tuple[Check, ...]] = (
    cardinality,
    hot_partition,
    popularity,
    time_key,
    low_cardinality,
    sequential_key,
    index_throttling,
    frequent_scan,
    filter_waste,
    collection_growth,
    amplification,
    wide_projection,
    vertical_split,
    billing,
    table_class,
    rounding,
)
