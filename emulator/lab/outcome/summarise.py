"""Summaries: from what a run left behind to the measures that reports show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from emulator.capacity.units import billed_bytes
from emulator.lab.inputs.distributions import Floats
from emulator.lab.outcome import result_types, run_log
from emulator.lab.outcome.iterator_age import iterator_ages
from emulator.service.limits import PARTITION_UNITS

#: Points of a fine series, and rows of a heat map, at most.
_MOST_POINTS: Final = 240
_MOST_ROWS: Final = 120
_TOP_KEYS: Final = 10
_CURVE: Final = 50
_DAY: Final = 86_400
_ROUNDING: Final = 1e-9


def pattern_results(log: run_log.RunLog) -> tuple[result_types.PatternResult, ...]:
    """Return the result of each pattern, in the workload's order."""
    patterns = log.layout.workload.patterns
    return tuple(_pattern(log.patterns[pattern.name]) for pattern in patterns)


def _pattern(record: run_log.PatternRecord) -> result_types.PatternResult:
    throttled = {reason: count for reason, count in record.throttled_by_reason.items() if count > 0}
    return result_types.PatternResult(
        name=record.pattern.name,
        operation=record.pattern.operation,
        resource=record.resource,
        requests=record.requests,
        fan_out=_whole(record.fan_out / record.requests) if record.requests else 1.0,
        calls=record.calls,
        attempts=record.attempts,
        throttled=sum(throttled.values()),
        throttled_by_reason=dict(sorted(throttled.items(), key=lambda entry: -entry[1])),
        refusals=record.refusals,
        failed=record.failed,
        attempts_per_call=_attempts_spread(record.histogram, record.failed_histogram),
        added_latency_seconds=_latency_spread(record),
        attempts_histogram=_trimmed(record.histogram),
        failed_histogram=_trimmed(record.failed_histogram),
        units=tuple(
            result_types.ResourceUnits(resource=name, read=read, write=write)
            for name, (read, write) in record.units.items()
        ),
        evaluated_bytes=record.evaluated_bytes,
        filtered_bytes=max(0.0, record.filtered_bytes),
    )


def _whole(quantity: float) -> float:
    """Return a quantity that misses a whole one only by rounding as the whole one (CAP2-13).

    >>> _whole(9.999999999999085), _whole(9.9)
    (10.0, 9.9)
    """
    nearest = float(round(quantity))
    return nearest if abs(quantity - nearest) <= _ROUNDING * abs(nearest) else quantity


def _trimmed(histogram: Sequence[float]) -> tuple[float, ...]:
    last = max((number for number, count in enumerate(histogram) if count > 0), default=0)
    return tuple(histogram[: last + 1])


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value under which ``share`` of the weight lies.

    >>> weighted_quantile(np.array([3.0, 1.0]), np.array([1.0, 99.0]), 0.99)
    1.0
    """
    total = float(weights.sum())
    if total <= 0:
        return 0.0
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    rank = int(np.searchsorted(reached, share * total * (1 - 1e-12)))
    return float(values[order][min(rank, len(values) - 1)])


def _attempts_spread(
    histogram: Sequence[float], failed_histogram: Sequence[float]
) -> result_types.Spread:
    """Return the attempts of the calls that were answered, as of those that waited."""
    values = np.arange(1, len(histogram) + 1, dtype=np.float64)
    weights = np.maximum(np.asarray(histogram) - np.asarray(failed_histogram), 0.0)
    p50, p99 = (weighted_quantile(values, weights, share) for share in (0.5, 0.99))
    return result_types.Spread(p50=max(p50, 1.0), p99=max(p99, 1.0))


def _latency_spread(record: run_log.PatternRecord) -> result_types.Spread:
    """Return the added latency over all calls that were answered, most of them at once."""
    at_once = max(0.0, record.answered - sum(record.latency_weights))
    values = np.asarray([0.0, *record.latencies])
    weights = np.asarray([at_once, *record.latency_weights])
    p50, p99 = (weighted_quantile(values, weights, share) for share in (0.5, 0.99))
    return result_types.Spread(p50=p50, p99=p99)


# Resources


def resource_results(log: run_log.RunLog) -> tuple[result_types.ResourceResult, ...]:
    """Return the result of each table and global index."""
    return tuple(_resource(log, record) for record in log.resources.values())


def _resource(log: run_log.RunLog, record: run_log.ResourceRecord) -> result_types.ResourceResult:
    minutes = _demands(record)
    totals = _partition_totals(minutes)
    shares = _lifetime_shares(minutes, totals)
    keys = record.keys()
    partition_weights = np.asarray(list(totals.values()))
    top = _top_keys(keys)
    reason = record.waiting_reason
    return result_types.ResourceResult(
        name=record.name,
        kind="table" if record.is_table else "index",
        read=_axis(record, 0),
        write=_axis(record, 1),
        partitions_per_minute=tuple(record.partition_counts),
        heat=_heat(record, log),
        splits=tuple(split for split in log.splits if split.resource == record.name),
        distinct_keys=float(keys.counts.sum()),
        hottest_partition_share=max(shares.values(), default=0.0),
        hottest_key_share=top[0].share if top else 0.0,
        top_keys=top,
        key_concentration=_concentration(keys.offered, keys.counts),
        partition_concentration=_concentration(partition_weights, np.ones(len(totals))),
        collections=_collection_sizes(record.collections, log.seconds),
        backlog=None if reason is None else _backlog(log, record, reason),
        iterator_age=_iterator_age(log, record),
    )


def _iterator_age(
    log: run_log.RunLog, record: run_log.ResourceRecord
) -> result_types.IteratorAge | None:
    """Return how far a consumer is behind the writes of a table, if its speed is known."""
    rate = record.table.design.extras.stream_records
    if not record.is_table or not rate:
        return None
    parents = {
        child: split.partition_id
        for split in log.splits
        if split.resource == record.name
        for child in split.children
    }
    minutes = [{name: cell[1] for name, cell in minute.items()} for minute in record.minutes]
    ages = iterator_ages(
        minutes, parents, records_per_second=rate, seconds=log.seconds, length=log.cell
    )
    return result_types.IteratorAge(longest=max(ages), at_the_end=ages[-1]) if ages else None


def _backlog(
    log: run_log.RunLog, record: run_log.ResourceRecord, reason: str
) -> result_types.BacklogResult:
    return result_types.BacklogResult(
        units=record.backlog[-1],
        buffer=log.emulator.table(record.table).index_buffer,
        reason=reason,
        closes_after=log.closes_after(record),
        has_closed=record.closed_at is not None,
    )


def _axis(record: run_log.ResourceRecord, axis: int) -> result_types.AxisResult:
    each = record.step
    consumed = np.asarray(record.consumed[axis])
    throttled = np.asarray(record.throttled[axis])
    provisioned = np.asarray(record.provisioned[axis])
    burst = np.asarray(record.burst[axis])
    on_demand = record.resource.throughput.on_demand
    allowed = float(provisioned.sum()) * each

    def series(width: int) -> result_types.MinuteSeries:
        return result_types.MinuteSeries(
            step_seconds=float(width * each),
            consumed=_steps(consumed / each, width, np.mean),
            provisioned=_steps(provisioned, width, np.mean),
            burst=_steps(burst, width, lambda values: values[-1]),
            throttled=_steps(throttled / each, width, np.mean),
        )

    return result_types.AxisResult(
        consumed_units=float(consumed.sum()),
        throttled_units=float(throttled.sum()),
        peak=float(consumed.max(initial=0.0)) / each,
        utilisation=None if on_demand else float(consumed.sum()) / allowed if allowed else 0.0,
        per_minute=series(max(1, run_log.MINUTE // each)),
        fine=series(max(1, -(-len(consumed) // _MOST_POINTS))),
    )


def _steps(values: Floats, width: int, reduce: Callable[[Floats], float]) -> tuple[float, ...]:
    return tuple(
        round(float(reduce(values[first : first + width])), 3)
        for first in range(0, len(values), width)
    )


def _demands(record: run_log.ResourceRecord) -> list[dict[int, float]]:
    """Return the units asked of each partition in every minute, retries apart.

    They are weighed as Contributor Insights does. Of an engine that does not tell first attempts
    from others, they are the units admitted and refused.
    """
    if any(record.offered):
        pairs = zip(record.minutes, record.offered, strict=True)
        return [dict.fromkeys(cells, 0.0) | offered for cells, offered in pairs]
    return [
        {partition_id: _weight(cell) for partition_id, cell in minute.items()}
        for minute in record.minutes
    ]


def _weight(cell: run_log.Cell) -> float:
    """Return the demand of a cell, refused included, as Contributor Insights weighs it."""
    read, write, read_refused, write_refused = cell
    return read + read_refused + 3 * (write + write_refused)


def _partition_totals(minutes: Sequence[dict[int, float]]) -> dict[int, float]:
    totals: dict[int, float] = {}
    for minute in minutes:
        for partition_id, demand in minute.items():
            totals[partition_id] = totals.get(partition_id, 0.0) + demand
    return totals


def _lifetime_shares(
    minutes: Sequence[dict[int, float]], totals: dict[int, float]
) -> dict[int, float]:
    """Return each partition's share of the demand while it existed."""
    while_there = dict.fromkeys(totals, 0.0)
    for minute in minutes:
        everything = sum(minute.values())
        for partition_id in minute:
            while_there[partition_id] += everything
    shares = ((partition_id, demand) for partition_id, demand in while_there.items() if demand)
    return {partition_id: totals[partition_id] / demand for partition_id, demand in shares}


def _heat(record: run_log.ResourceRecord, log: run_log.RunLog) -> result_types.HeatMap:
    minutes, seconds, each = record.minutes, log.seconds, log.cell
    lengths = [min(each, seconds - number * each) for number in range(len(minutes))]
    width = max(1, -(-len(minutes) // _MOST_ROWS))
    spans = sorted(record.spans.values(), key=lambda span: (span.low, span.born, span.partition_id))
    load, throttled = [], []
    for first in range(0, len(minutes), width):
        rows = list(zip(minutes, lengths, strict=True))[first : first + width]
        load.append(tuple(_fill(rows, span.partition_id, 0) for span in spans))
        throttled.append(tuple(_fill(rows, span.partition_id, 2) for span in spans))
    return result_types.HeatMap(
        step_seconds=float(min(width * each, seconds)),
        partitions=tuple(spans),
        load=tuple(load),
        throttled=tuple(throttled),
    )


def _fill(
    rows: Sequence[tuple[dict[int, run_log.Cell], int]], partition_id: int, first: int
) -> float | None:
    """Return how full a partition was over some minutes, on its fuller axis."""
    present = [(row[partition_id], length) for row, length in rows if partition_id in row]
    if not present:
        return None
    seconds = sum(length for _, length in present)
    use = [
        sum(cell[first + axis] for cell, _ in present) / (rate * seconds)
        for axis, rate in enumerate(PARTITION_UNITS)
    ]
    return round(max(use), 4)


def _top_keys(keys: run_log.KeyTotals) -> tuple[result_types.KeyShare, ...]:
    total, named = float(keys.offered.sum()), len(keys.texts)
    rows = [(text, row) for row, text in enumerate(keys.texts)] + [
        (text, named + row) for row, texts in enumerate(keys.examples) for text in texts
    ]
    each = keys.offered / keys.counts
    heaviest = sorted(rows, key=lambda own: -each[own[1]])[:_TOP_KEYS]
    return tuple(
        result_types.KeyShare(
            key=text,
            share=float(each[row]) / total,
            units=float(keys.consumed[row] / keys.counts[row]),
            throttled_units=float(keys.throttled[row] / keys.counts[row]),
        )
        for text, row in heaviest
        if each[row] > 0
    )


def _concentration(weights: Floats, counts: Floats) -> result_types.Concentration:
    """Return the curve of traffic over population.

    Args:
        weights: Of each row.
        counts: How many each row stands for.
    """
    if not weights.sum():
        return result_types.Concentration(population=(0.0, 1.0), traffic=(0.0, 1.0))
    order = np.argsort(-weights / counts, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weights[order]) / weights.sum()])
    passed = np.concatenate([[0.0], np.cumsum(counts[order])])
    total = float(passed[-1])
    ranks = np.linspace(0, total, _CURVE + 1).round()
    ranks = np.unique(np.concatenate([ranks, np.arange(min(10, int(total)) + 1), [total]]))
    return result_types.Concentration(
        population=tuple((ranks / total).tolist()),
        traffic=tuple(np.minimum(1.0, np.interp(ranks, passed, reached)).tolist()),
    )


def _collection_sizes(
    collections: run_log.Collections, seconds: int
) -> result_types.CollectionSizes:
    sizes, counts = np.asarray(collections.sizes), np.asarray(collections.counts)
    if not len(sizes):
        return result_types.CollectionSizes(
            count=0.0,
            items=0.0,
            total_bytes=0.0,
            p50_bytes=0.0,
            p99_bytes=0.0,
            largest_bytes=0.0,
            largest_key="",
            largest_growth_bytes_per_day=0.0,
        )
    largest = int(np.argmax(sizes))
    counted = _counted_bytes(collections, largest)
    growth = collections.growth[largest] * counted / max(sizes[largest], 1.0)
    return result_types.CollectionSizes(
        count=float(counts.sum()),
        items=float((np.asarray(collections.items) * counts).sum()),
        total_bytes=float((sizes * counts).sum()),
        p50_bytes=weighted_quantile(sizes, counts, 0.5),
        p99_bytes=weighted_quantile(sizes, counts, 0.99),
        largest_bytes=counted,
        largest_key=collections.keys[largest],
        largest_growth_bytes_per_day=float(growth) * _DAY / seconds,
    )


def _counted_bytes(collections: run_log.Collections, row: int) -> float:
    """Return the bytes of a collection, as its limit counts them if the table has one (CAP-111)."""
    size = float(collections.sizes[row])
    if not collections.entries or not size:
        return size
    mean = max(1, round(size / (collections.items[row] + collections.entries[row])))
    return size * billed_bytes(mean) / mean
