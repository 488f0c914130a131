"""(f) Snapshots: taking one, going back to it, and the first write after.

    python -m benchmarks.snapshots

Target: going back to 10,000 items under a millisecond.
"""

import argparse
import statistics
import time

from benchmarks.measure import table
from benchmarks.workbench import filled, item


def timed(function, *arguments):
    """Return a call's time in microseconds."""
    started = time.perf_counter()
    function(*arguments)
    return (time.perf_counter() - started) * 1e6


def main(sizes=(100, 10_000, 100_000), rounds=20):
    rows = []
    for size in sizes:
        emulator = filled(size, capacity="off")
        snapshot = emulator.snapshot()
        put = {"TableName": "bench", "Item": item(1)}
        taken, restored, written = [], [], []
        for _ in range(rounds):
            taken.append(timed(emulator.snapshot))
            restored.append(timed(emulator.restore, snapshot))
            written.append(timed(emulator.call, "PutItem", put))
        medians = (statistics.median(one) for one in (taken, restored, written))
        rows.append([f"{size:,}", *(f"{one:.0f}" for one in medians)])
    table("Snapshots, us", ["items", "snapshot", "restore", "first write after"], rows)
    return rows


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    main()
