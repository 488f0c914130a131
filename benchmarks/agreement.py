"""How far the lab's two engines agree, over workloads drawn at random.

    python -m benchmarks.agreement               200 workloads, some minutes
    python -m benchmarks.agreement 20 --first 7  20 workloads, from seed 7 on
    python -m benchmarks.agreement --clients     with callers that give up, and batches
    python -m benchmarks.agreement --held-back   and with calls that wait in their clients

Retries, prices on one bucket, indexes and reads of them are mixed. Clients are mixed too if
asked for: how long their callers wait, and batches with what becomes of their unprocessed items;
and apart from these `concurrency` and `adaptive` retries, which only the exact engine plays.
Printed is the aggregate engine less the exact one: the mean, and of its size the 95th percentile
and the worst case with its seed.
Targets: a mean throttled share within 0.01, its size at most 0.05 in 95 of 100, a mean share of
calls given up within 0.02.
"""

import argparse
import multiprocessing
import os
import platform
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.measure import table
from emulator.lab import (
    Capacity,
    Clients,
    Design,
    Field,
    Hotspot,
    Index,
    Pattern,
    Uniform,
    Workload,
    Zipf,
    exact,
    world,
)
from emulator.lab.analysis.costs import costs, usages
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

MEASURES = [
    "throttled share",
    "share given up",
    "attempts",
    "first throttle, s",
    "units",
    "cost of a month on demand",
]


@dataclass(frozen=True)
class Figures:
    """What one engine says of a workload."""

    throttled: float
    failed: float
    attempts: float
    first: float
    units: float
    cost: float


def draw(seed):
    """Return a workload and a design of a seed."""
    rng = np.random.default_rng([seed, 20])

    def one_of(*values):
        return values[int(rng.integers(len(values)))]

    rate = one_of(30, 60)
    sizes = [one_of(300, 1_500), one_of(300, 3_000, 9_000)]
    patterns = [
        Pattern("put", "PutItem", rate=rate, size=sizes[0], arrivals=one_of("even", "poisson")),
        Pattern("update", "UpdateItem", by=("user",), rate=rate / one_of(2, 4), size=sizes[1]),
    ]
    if rng.random() < 0.5:
        patterns.append(Pattern("get", "GetItem", by=("user",), rate=rate, consistent=True))
    fields = [
        Field(
            "user",
            count=one_of(20, 300),
            distribution=one_of(Uniform(), Zipf(0.9), Hotspot(0.1, 0.7)),
        ),
        Field("kind", values=("a", "b", "c")),
    ]
    workload = Workload(
        fields=fields,
        patterns=patterns,
        duration=60,
        warm_up=one_of(0, 30),
        retry=one_of("legacy", "standard", "standard"),
        clients=one_of(2, 20, 100),
        seed=seed,
    )
    units = sum(
        float(pattern.pace.per_second(1)[0]) * -(-size // 1024)
        for pattern, size in zip(patterns[:2], sizes, strict=True)
    )
    room = one_of(0.4, 0.6, 0.8, 0.95, 1.1, 1.5)
    index_write = None
    if rng.random() < 0.5:
        index_write = max(1, int(units * one_of(0.5, 1.5, 3.0)))
    sort = one_of("{timestamp}", None)
    capacity = Capacity(read=max(1, int(rate * one_of(0.7, 2.0))), write=max(1, int(units * room)))
    indexes = []
    if index_write is not None:
        # Drawn last, so that a workload without such reads is that of before.
        index_read = 10
        if rng.random() < 0.6:
            query, asked = _index_read(one_of, rate, sizes)
            workload = replace(workload, patterns=(*patterns, query))
            index_read = max(1, int(asked * one_of(0.4, 0.7, 1.0, 1.5)))
        own = Capacity(read=index_read, write=index_write)
        indexes = [Index("byKind", partition="{kind}", capacity=own)]
    design = Design("d", partition="{user}", sort=sort, indexes=indexes, capacity=capacity)
    return workload, design


def _index_read(one_of, rate, sizes):
    """Return a pattern that reads the index, and about how many units a second of it asks for."""
    items, rate = one_of(1, 4, 20), rate / one_of(1, 3)
    operation = "GetItem" if items == 1 else "Query"
    pattern = Pattern("by kind", operation, by=("kind",), items=items, rate=rate)
    return pattern, rate * -(-items * sum(sizes) // (2 * 4096)) / 2


def draw_clients(seed, *, held_back=False):
    """Return a workload and a design of a seed, with clients that give up and send batches."""
    rng = np.random.default_rng([seed, 21])

    def one_of(*values):
        return values[int(rng.integers(len(values)))]

    workload, design = draw(seed)
    clients = Clients(
        count=one_of(2, 5, 20, 100),
        concurrency=one_of(None, None, 1, 4),
        timeout=one_of(None, None, 0.5, 2.0, 8.0),
        batch_retry=one_of("none", "requeue", "backoff"),
    )
    patterns = list(workload.patterns)
    if rng.random() < 0.5:
        items = one_of(2, 5, 20)
        rate = float(patterns[0].pace.per_second(1)[0]) / items
        patterns[0] = replace(patterns[0], operation="BatchWriteItem", rate=rate, actions=items)
    retry = one_of("legacy", "standard", "adaptive")
    if not held_back:
        clients = replace(clients, concurrency=None)
        retry = "standard" if retry == "adaptive" else retry
    return replace(workload, patterns=patterns, clients=clients, retry=retry), design


def figures(log):
    """Return what a run says."""
    records = list(log.patterns.values())
    calls = sum(record.calls for record in records)
    return Figures(
        throttled=log.throttled_share,
        failed=sum(record.failed for record in records) / calls,
        attempts=sum(record.attempts for record in records) / calls,
        first=float(
            log.layout.workload.duration if log.first_throttle is None else log.first_throttle
        ),
        units=sum(sum(series) for record in log.resources.values() for series in record.consumed)
        / calls,
        cost=_month_on_demand(log),
    )


def _month_on_demand(log):
    """Return what a month of a run costs, in dollars."""
    settings = Settings()
    bills = costs(usages(log, settings), log.layout, settings, log.patterns.values())
    return next(
        bill.total
        for bill in bills
        if (bill.billing, bill.table_class) == ("on-demand", "STANDARD")
    )


def differences(seed, drawn=draw):
    """Return the aggregate engine's figures less the exact one's."""
    workload, design = drawn(seed)
    layout = Layout(design, workload)
    ours, theirs = (figures(engine.run(layout, seed=seed)) for engine in (world, exact))
    return [
        ours.throttled - theirs.throttled,
        ours.failed - theirs.failed,
        ours.attempts / theirs.attempts - 1,
        ours.first - theirs.first,
        ours.units / theirs.units - 1,
        ours.cost / theirs.cost - 1,
    ]


def main(count=200, first=0, *, clients=False, held_back=False):
    seeds = range(first, first + count)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=context) as pool:
        drawn = partial(draw_clients, held_back=held_back) if clients or held_back else draw
        compared = partial(differences, drawn=drawn)
        found = np.asarray(list(pool.map(compared, seeds, chunksize=5)))
    rows = []
    for name, column in zip(MEASURES, found.T, strict=True):
        size = np.abs(column)
        worst = int(size.argmax())
        rows.append(
            [
                name,
                f"{column.mean():+.4f}",
                f"{np.percentile(size, 95):.4f}",
                f"{column[worst]:+.4f}",
                str(seeds[worst]),
            ]
        )
    print(f"\n{platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores")
    title = f"Aggregate less exact, {count} workloads"
    table(title, ["of", "mean", "95 % within", "worst", "its seed"], rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=200, help="workloads; default: 200")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--clients", action="store_true", help="with callers that give up, and batches"
    )
    parser.add_argument(
        "--held-back", action="store_true", help="and with calls that wait in their clients"
    )
    options = parser.parse_args()
    main(options.count, options.first, clients=options.clients, held_back=options.held_back)
