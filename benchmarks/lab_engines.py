"""(h) How fast the lab's engines are: requests per second, and cost per key and second.

    python -m benchmarks.lab_engines            both engines, about a minute
    python -m benchmarks.lab_engines exact      request by request
    python -m benchmarks.lab_engines aggregate  in numbers

Targets: the exact engine at 3.3 J per attempt for single items without an index; the aggregate
engine with 10,000 devices of 100 events a second each for one hour (3.6 billion requests) in under
20 seconds and 2 GB on two cores, and a cost that grows with keys and seconds, not with requests.

Seconds advise and do not block: they are those of the machine at hand. ``J`` is one
``json.dumps`` and ``json.loads`` of a small item, for comparison between machines.
"""

import json
import resource
import sys
import time

from benchmarks.measure import table
from emulator.lab import Capacity, Design, Field, Pattern, Workload, aggregate, exact
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

ITEM = {
    "deviceId": {"S": "device-0001"},
    "timestamp": {"S": "2026-01-01T00:00:00Z"},
    "n": {"N": "1"},
}


def main(which="both"):
    print(f"\nJ = {json_microseconds():.1f} us")
    results = {}
    if which in ("both", "exact"):
        results["exact"] = measure_exact()
    if which in ("both", "aggregate"):
        results["aggregate"] = measure_aggregate()
    return results


def json_microseconds(count=20_000):
    start = time.perf_counter()
    for _ in range(count):
        json.loads(json.dumps(ITEM))
    return (time.perf_counter() - start) / count * 1e6


def events(devices, rate, duration):
    return Workload(
        fields=[Field("deviceId", count=devices)],
        patterns=[Pattern("record event", "PutItem", rate=rate)],
        duration=duration,
        warm_up=0,
    )


def measure_exact():
    rows = []
    roomy = Capacity(read=100, write=5000)
    cases = {
        "puts, nothing refused": (roomy, events(10_000, 2000, 30), "{timestamp}"),
        "puts, two thirds refused": (
            Capacity(read=10, write=500),
            events(10_000, 1500, 10),
            "{timestamp}",
        ),
    }
    for name, (capacity, workload, sort) in cases.items():
        design = Design("d", partition="{deviceId}", sort=sort, capacity=capacity)
        seconds, log = timed(exact, design, workload)
        attempts = sum(record.attempts for record in log.patterns.values())
        rates = (workload.requests / seconds, attempts / seconds)
        cost = 1e6 * seconds / attempts / json_microseconds()
        rows.append([name, *(f"{rate:,.0f}" for rate in rates), f"{cost:.2f}"])
    table("Exact engine", ["workload", "requests/s", "attempts/s", "J per attempt"], rows)
    return rows


def measure_aggregate():
    rows = []
    device = {"partition": "{deviceId}", "sort": "{timestamp}"}
    huge = Settings(table_quota=2_000_000, account_quota=4_000_000)
    cases = [
        ("an hour, 2,800/s, fine", device, 5000, events(10_000, 2_800, 3600)),
        ("an hour, 1,000,000/s, too much", device, 5000, events(10_000, 1_000_000, 3600)),
        ("an hour, 1,000,000/s, fine", device, 1_300_000, events(10_000, 1_000_000, 3600)),
        ("twice the keys", device, 5000, events(20_000, 2_800, 3600)),
        ("twice the seconds", device, 5000, events(10_000, 2_800, 7200)),
        ("ten times the requests", device, 50_000, events(10_000, 28_000, 3600)),
    ]
    for name, key, write, workload in cases:
        design = Design("d", **key, capacity=Capacity(read=100, write=write))
        seconds, _ = timed(aggregate, design, workload, settings=huge)
        rows.append(
            [name, f"{workload.requests:,.0f}", f"{seconds:.2f}", f"{peak_gigabytes():.2f}"]
        )
    table("Aggregate engine", ["workload", "requests", "s", "GB at most so far"], rows)
    return rows


def timed(engine, design, workload, **options):
    start = time.perf_counter()
    log = engine.run(Layout(design, workload), **options)
    return time.perf_counter() - start, log


def peak_gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    main(*sys.argv[1:])
