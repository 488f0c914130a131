"""Comparisons made by hand for report tests: three designs of one afternoon of device events.

The figures follow from a few lines of arithmetic (demand, what a partition carries, a reserve of
300 seconds), so pictures made of them look like those of a real run.
"""

from __future__ import annotations

import math
from functools import cache

from emulator.designs import Finding
from emulator.lab.outcome.result_types import (
    Assumption,
    AxisResult,
    BreakEven,
    CollectionSizes,
    Comparison,
    Concentration,
    Confidence,
    Cost,
    CostLine,
    DesignResult,
    Headroom,
    HeatMap,
    KeyShare,
    LoadPoint,
    MinuteSeries,
    PartitionSpan,
    PatternResult,
    ResourceResult,
    ResourceUnits,
    Risk,
    SplitResult,
    Spread,
    UnknownEffect,
    WorldResult,
)

SECONDS = 3 * 3600
STEP = 60.0
STEPS = int(SECONDS / STEP)
HOT = "TableWriteKeyRangeThroughputExceeded"
INDEX_HOT = "IndexWriteKeyRangeThroughputExceeded"


def demand_at(step: int) -> float:
    """Return writes per second: a slow wave and a spike in the second hour."""
    wave = 2400 + 500 * math.sin(step / STEPS * 2 * math.pi)
    return wave + (900 if 75 <= step < 85 else 0)


def series(demand: list[float], carried: float, provisioned: float) -> MinuteSeries:
    """Return what a reserve of 300 seconds makes of a demand."""
    burst, rows = 300 * carried, []
    for wanted in demand:
        spare = burst / STEP
        taken = min(wanted, carried + spare)
        burst = min(300 * carried, max(0.0, burst + (carried - taken) * STEP))
        rows.append((taken, provisioned, burst, wanted - taken))
    consumed, given, reserve, refused = (tuple(column) for column in zip(*rows, strict=True))
    return MinuteSeries(
        step_seconds=STEP, consumed=consumed, provisioned=given, burst=reserve, throttled=refused
    )


def axis(flow: MinuteSeries) -> AxisResult:
    """Return the summary of a series."""
    consumed = sum(flow.consumed) * STEP
    given = sum(flow.provisioned) * STEP
    return AxisResult(
        consumed_units=consumed,
        throttled_units=sum(flow.throttled) * STEP,
        peak=max(flow.consumed),
        utilisation=consumed / given if given else None,
        per_minute=flow,
        fine=flow,
    )


def quiet(provisioned: float, rate: float = 120.0) -> AxisResult:
    """Return an axis with a steady low rate."""
    return axis(series([rate] * STEPS, provisioned, provisioned))


def spans(
    count: int, cuts: dict[int, float] | None = None
) -> tuple[tuple[PartitionSpan, ...], tuple[SplitResult, ...]]:
    """Return equal partitions, some of which are cut in two at a time."""
    cuts = cuts or {}
    made, splits, next_id = [], [], count
    for number in range(count):
        low, high, died = number / count, (number + 1) / count, cuts.get(number)
        made.append(span(number, low, high, 0.0, died))
        if died is not None:
            middle = (low + high) / 2
            made += [
                span(next_id, low, middle, died, None),
                span(next_id + 1, middle, high, died, None),
            ]
            children = (next_id, next_id + 1)
            splits.append(
                SplitResult(
                    time=died,
                    resource="events",
                    partition_id=number,
                    children=children,
                    cause="heat",
                )
            )
            next_id += 2
    return tuple(made), tuple(splits)


def span(number: int, low: float, high: float, born: float, died: float | None) -> PartitionSpan:
    """Return one partition's life."""
    return PartitionSpan(
        partition_id=number, low=low, high=high, born=born, died=died, size_bytes=3e8, items=1e6
    )


def heat(partitions: tuple[PartitionSpan, ...], shares) -> HeatMap:
    """Return the map of a demand split by ``shares(step, partition) -> share``."""
    load, refused = [], []
    for step in range(STEPS):
        time = step * STEP
        loads, refusals = [], []
        for one in partitions:
            alive = one.born <= time and (one.died is None or time < one.died)
            wanted = demand_at(step) * shares(step, one) / 1000 if alive else None
            loads.append(None if wanted is None else min(1.0, wanted))
            refusals.append(None if wanted is None else max(0.0, wanted - 1.0))
        load.append(tuple(loads))
        refused.append(tuple(refusals))
    return HeatMap(
        step_seconds=STEP, partitions=partitions, load=tuple(load), throttled=tuple(refused)
    )


def concentration(count: int, s: float) -> Concentration:
    """Return the curve of a Zipf distribution over so many values."""
    weights = [1 / (rank + 1) ** s for rank in range(count)]
    total, running, curve = sum(weights), 0.0, [(0.0, 0.0)]
    for rank, weight in enumerate(weights):
        running += weight
        curve.append(((rank + 1) / count, running / total))
    kept = curve if count <= 200 else [*curve[:: count // 100], curve[-1]]
    return Concentration(population=tuple(x for x, _ in kept), traffic=tuple(y for _, y in kept))


def resource(name, kind, write, partitions, splits, shares, keys, s, top) -> ResourceResult:
    """Return one table or index."""
    live = [sum(1 for one in partitions if one.died is None)]
    traffic = concentration(keys, s)
    return ResourceResult(
        name=name,
        kind=kind,
        read=quiet(1000.0, 120.0 if kind == "table" else 0.0),
        write=write,
        partitions_per_minute=tuple(live * STEPS),
        heat=heat(partitions, shares),
        splits=splits,
        distinct_keys=keys,
        hottest_partition_share=1.0 if keys < 10 else 1 / len(partitions) * 1.07,
        hottest_key_share=top[0].share,
        top_keys=tuple(top),
        key_concentration=traffic,
        partition_concentration=concentration(live[0], 0.1 if keys > 10 else 3.0),
        collections=CollectionSizes(
            count=keys,
            items=26e6,
            total_bytes=8e9,
            p50_bytes=8e9 / keys,
            p99_bytes=9e9 / keys,
            largest_bytes=9e9 / keys,
            largest_key=top[0].key,
            largest_growth_bytes_per_day=7e10,
        ),
    )


def pattern(name, operation, where, requests, throttled, reason, fan_out=1.0) -> PatternResult:
    """Return one access pattern."""
    calls = requests * fan_out
    late = [throttled * 0.5**n for n in range(1, 9)]
    failed = throttled - sum(late)
    write = operation == "PutItem"
    return PatternResult(
        name=name,
        operation=operation,
        resource=where,
        requests=requests,
        fan_out=fan_out,
        calls=calls,
        attempts=calls + throttled * 2,
        throttled=throttled,
        throttled_by_reason={reason: throttled} if throttled else {},
        refusals=throttled * 2,
        failed=failed,
        attempts_per_call=Spread(
            p50=2.0 if throttled > calls / 2 else 1.0, p99=9.0 if throttled else 1.0
        ),
        added_latency_seconds=Spread(
            p50=0.05 if throttled > calls / 2 else 0.0, p99=21.4 if throttled else 0.0
        ),
        attempts_histogram=(calls - throttled, *late, failed),
        units=(
            ResourceUnits(
                resource=where, read=0.0 if write else calls * 0.5, write=calls if write else 0.0
            ),
        ),
        evaluated_bytes=0.0 if write else calls * 4000,
        filtered_bytes=0.0 if write or "recent" not in name else calls * 3960,
    )


def costs(write: float, storage: float, chosen: str) -> tuple[Cost, ...]:
    """Return a bill for every billing mode, and one in the other class."""
    made = []
    for billing, factor, table_class in (
        ("on-demand", 2.3, "STANDARD"),
        ("provisioned", 1.0, "STANDARD"),
        ("auto-scaled", 0.8, "STANDARD"),
        ("provisioned", 1.25, "STANDARD_INFREQUENT_ACCESS"),
    ):
        bills = (
            CostLine(
                resource="events", item="writes", quantity=1e9, price=1e-6, amount=write * factor
            ),
            CostLine(
                resource="events",
                item="reads",
                quantity=1e8,
                price=1e-7,
                amount=write * factor * 0.2,
            ),
            CostLine(
                resource="events",
                item="storage",
                quantity=storage * 4,
                price=0.25,
                amount=storage * (0.4 if "INFREQUENT" in table_class else 1.0),
            ),
        )
        made.append(
            Cost(
                billing=billing,
                table_class=table_class,
                lines=bills,
                total=sum(line.amount for line in bills),
                chosen=billing == chosen and table_class == "STANDARD",
            )
        )
    return tuple(made)


def headroom(multiple: float, limited_by: str | None) -> Headroom:
    """Return a searched headroom."""
    points = sorted({0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, multiple, multiple * 1.1})
    curve = tuple(
        LoadPoint(multiple=m, throttled_share=max(0.0, 1 - multiple / m) if m > multiple else 0.0)
        for m in points
    )
    return Headroom(
        multiple=multiple, at_least=False, threshold=0.001, limited_by=limited_by, curve=curve
    )


HEAT_THRESHOLD = Assumption(
    setting="heat_threshold",
    value=0.8,
    rule="CAP-505",
    meaning="Share of a partition's throughput that counts as hot",
)
NAMES = {"by hour": "{timestamp:hour}", "by device": "{deviceId}"}


def worlds(*shares: float) -> tuple[WorldResult, ...]:
    """Return worlds with these shares of throttled calls."""
    return tuple(
        WorldResult(seed=seed, throttled_share=share, failed_share=share / 10, closes_after=None)
        for seed, share in enumerate(shares)
    )


def effect(name: str, rule: str, low: float, high: float, chance: float) -> UnknownEffect:
    """Return how far one unknown moves the answer."""
    return UnknownEffect(name=name, rule=rule, chance=chance, low=low, high=high, worlds=20)


def document(name: str) -> dict:
    """Return a design as a document."""
    given = {
        "name": name,
        "partition": NAMES.get(name, "{deviceId}"),
        "sort": "{timestamp}",
        "read": 1000,
        "write": 5000,
    }
    if "index" in name:
        given["indexes"] = [
            {
                "name": "EventTypeIndex",
                "partition": ["{eventType}"],
                "sort": ["{timestamp}"],
                "projection": ["deviceId", "value"],
            }
        ]
    return given


def by_hour() -> DesignResult:
    """Return the classic mistake."""
    demand = [demand_at(step) for step in range(STEPS)]
    write = axis(series(demand, 1000.0, 5000.0))
    partitions, _ = spans(5)

    def shares(step: int, one: PartitionSpan) -> float:
        return 1.0 if one.partition_id == (3, 0, 2)[step // 60] else 0.0

    calls = sum(demand) * STEP
    top = [
        KeyShare(
            key=f"2026-01-01T{13 + n}", share=0.36 - 0.02 * n, units=3.9e6, throttled_units=1.2e7
        )
        for n in range(3)
    ]
    return DesignResult(
        name="by hour",
        design=document("by hour"),
        resources=(resource("events", "table", write, partitions, (), shares, 3, 0.1, top),),
        patterns=(
            pattern("event", "PutItem", "events", calls, calls * 0.58, HOT),
            pattern("recent events", "Query", "events", 1e5, 0.0, HOT),
        ),
        time_to_first_throttle=184.0,
        splits=(),
        costs=costs(2372.0, 2.1, "provisioned"),
        break_even=(
            BreakEven(
                resource="events",
                axis="write",
                utilisation=0.2,
                break_even=0.289,
                cheaper="on-demand",
            ),
        ),
        headroom=headroom(0.39, HOT),
        confidence=(
            Confidence(
                measure="throttled_share", mean=0.58, low=0.57, high=0.59, values=(0.57, 0.58, 0.59)
            ),
        ),
        grade="throttles",
        verdict="58 % of calls are throttled: every write of an hour has the same partition key, "
        "so one partition takes all of them and the other four stand idle.",
        fix="Use {deviceId} as the partition key; or spread each hour over 4 suffixes.",
        findings=(
            Finding(
                check="time-key",
                severity="problem",
                subject="events",
                message="The partition key is an hour: all writes of an hour share one key.",
                fix="Put the time into the sort key.",
            ),
            Finding(
                check="cardinality",
                severity="warning",
                subject="events",
                message="3 key values were used; 5 partitions want at least 10.",
                fix="Choose a key with more values.",
            ),
        ),
        assumptions=(HEAT_THRESHOLD,),
        risk=Risk(chance=1.0, low=0.9501, high=1.0, worlds=73),
        worlds=worlds(*[0.55 + number / 1000 for number in range(73)]),
        shown_world=36,
        unknowns=(
            effect("times of splits", "CAP2-3", 0.56, 0.61, 1.0),
            effect("placement of keys", "CAP2-7", 0.58, 0.58, 1.0),
        ),
    )


def by_device() -> DesignResult:
    """Return the cure."""
    demand = [demand_at(step) for step in range(STEPS)]
    partitions, _ = spans(5)
    tilt = (0.19, 0.205, 0.2, 0.195, 0.21)
    calls = sum(demand) * STEP
    top = [
        KeyShare(
            key=f"device-{n * 997 % 10000:04d}",
            share=0.00012 - n * 1e-6,
            units=3100.0,
            throttled_units=0.0,
        )
        for n in range(10)
    ]
    return DesignResult(
        name="by device",
        design=document("by device"),
        resources=(
            resource(
                "events",
                "table",
                axis(series(demand, 5000.0, 5000.0)),
                partitions,
                (),
                lambda _step, one: tilt[one.partition_id],
                10_000,
                0.05,
                top,
            ),
        ),
        patterns=(
            pattern("event", "PutItem", "events", calls, 0.0, HOT),
            pattern("recent events", "Query", "events", 1e5, 0.0, HOT),
        ),
        time_to_first_throttle=None,
        splits=(),
        costs=costs(2372.0, 2.1, "provisioned"),
        break_even=(),
        headroom=headroom(1.62, "TableWriteProvisionedThroughputExceeded"),
        confidence=(),
        grade="fine",
        verdict="Nothing is throttled; the table carries 1.6 times this load.",
        fix=None,
        findings=(),
        assumptions=(),
        risk=Risk(chance=0.0, low=0.0, high=0.0499, worlds=73),
        worlds=worlds(*[0.0] * 73),
        shown_world=0,
        unknowns=(effect("placement of keys", "CAP2-7", 0.0, 0.0, 0.0),),
    )


def with_index() -> DesignResult:
    """Return a design whose index on few event types is hot and splits."""
    demand = [demand_at(step) for step in range(STEPS)]
    partitions, _ = spans(5)
    cut, splits = spans(4, {1: 3000.0, 3: 6000.0})

    def shares(step: int, one: PartitionSpan) -> float:
        width = 0.5 if one.partition_id > 3 else 1.0
        return width * (0.5 if 0.25 <= one.low < 0.5 else 0.16)

    calls = sum(demand) * STEP
    top = [
        KeyShare(key=f"device-{n}", share=0.00012, units=3100.0, throttled_units=0.0)
        for n in range(10)
    ]
    types = [
        KeyShare(key=name, share=share, units=share * 2.5e7, throttled_units=share * 4e6)
        for name, share in (("temperature", 0.5), ("humidity", 0.3), ("alarm", 0.2))
    ]
    return DesignResult(
        name="by device, index on type",
        design=document("by device, index on type"),
        resources=(
            resource(
                "events",
                "table",
                axis(series(demand, 5000.0, 5000.0)),
                partitions,
                (),
                lambda _s, _o: 0.2,
                10_000,
                0.05,
                top,
            ),
            resource(
                "EventTypeIndex",
                "index",
                axis(series(demand, 2300.0, 5000.0)),
                cut,
                splits,
                shares,
                3,
                0.8,
                types,
            ),
        ),
        patterns=(
            pattern("event", "PutItem", "events", calls, calls * 0.004, INDEX_HOT),
            pattern("by type", "Query", "EventTypeIndex", 3e4, 0.0, HOT, fan_out=4.0),
        ),
        time_to_first_throttle=4512.0,
        splits=splits,
        costs=costs(3100.0, 4.0, "provisioned"),
        break_even=(),
        headroom=headroom(1.02, INDEX_HOT),
        confidence=(),
        grade="risky",
        verdict="0.4 % of calls are throttled in the spike, by the index and not by the table.",
        fix="Use {eventType}#{timestamp:day} as the key of EventTypeIndex.",
        findings=(
            Finding(
                check="index-back-pressure",
                severity="warning",
                subject="EventTypeIndex",
                message="The index throttles writes to its table.",
                fix="Spread its partition key.",
            ),
        ),
        assumptions=(HEAT_THRESHOLD,),
        risk=Risk(chance=0.6, low=0.387, high=0.781, worlds=20),
        worlds=worlds(*[0.0] * 8, *[0.004] * 12),
        shown_world=8,
        unknowns=(effect("placement of keys", "CAP2-7", 0.0, 0.21, 0.55),),
    )


@cache
def afternoon() -> Comparison:
    """Return the three designs side by side."""
    return Comparison(
        title="Device events: partition by hour or by device?",
        workload={
            "duration": SECONDS,
            "seed": 7,
            "fields": {"deviceId": {"count": 10000}, "eventType": {"count": 3}},
            "patterns": [
                {"name": "event", "operation": "PutItem", "rate": 2400},
                {"name": "recent events", "operation": "Query", "rate": 9},
            ],
        },
        engine="aggregate",
        duration_seconds=float(SECONDS),
        seeds=tuple(range(7, 80)),
        designs=(by_hour(), by_device(), with_index()),
    )
