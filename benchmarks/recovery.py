"""What point-in-time recovery costs: memory for each change that is kept, and time for each write.

    python -m benchmarks.recovery [--changes 50000]

One item after the other is overwritten in a table of a hundred, with recovery off and on, in turns.
The bound of ``Settings.recovery_log_bytes`` counts a change as 2 KiB and the item it has replaced.
"""

import argparse
import statistics
import time
import tracemalloc

from benchmarks.measure import table
from benchmarks.workbench import definition, item
from emulator import Emulator, Settings
from emulator.engine.history import CHANGE_BYTES

ITEMS = 100
KEPT = Settings(recovery_log_bytes=10**12)


def recoverable(*, on):
    emulator = Emulator(capacity="off", settings=KEPT)
    emulator.call("CreateTable", definition())
    name = definition()["TableName"]
    if on:
        spec = {"PointInTimeRecoveryEnabled": True}
        request = {"TableName": name, "PointInTimeRecoverySpecification": spec}
        emulator.call("UpdateContinuousBackups", request)
    for number in range(ITEMS):
        emulator.call("PutItem", {"TableName": name, "Item": item(number)})
    return emulator, name


def bytes_kept(changes, *, on):
    """Return by how much memory grows with so many changes."""
    emulator, name = recoverable(on=on)
    tracemalloc.start()
    for number in range(changes):
        emulator.call("PutItem", {"TableName": name, "Item": item(number % ITEMS)})
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return grown


def microseconds(changes, *, on):
    """Return how long a write takes."""
    emulator, name = recoverable(on=on)
    requests = [{"TableName": name, "Item": item(number)} for number in range(ITEMS)]
    started = time.perf_counter()
    for number in range(changes):
        emulator.call("PutItem", requests[number % ITEMS])
    return (time.perf_counter() - started) * 1e6 / changes


def main(changes=50_000, rounds=5):
    kept = (bytes_kept(changes, on=True) - bytes_kept(changes, on=False)) / changes
    emulator, name = recoverable(on=True)
    size = emulator.account().tables[name].store.size_bytes / ITEMS
    taken = {on: [] for on in (False, True)}
    for _ in range(rounds):
        for on, times in taken.items():
            times.append(microseconds(changes // rounds, on=on))
    off, on = (statistics.median(times) for times in taken.values())
    rows = [
        ["memory for a change, bytes", f"{kept:.0f}"],
        ["what it counts against the bound", f"{CHANGE_BYTES + size:.0f}"],
        ["PutItem with recovery off, us", f"{off:.1f}"],
        ["PutItem with recovery on, us", f"{on:.1f}"],
    ]
    table(f"Point-in-time recovery, {changes:,} changes", ["what", "value"], rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--changes", type=int, default=50_000, help="default: 50000")
    main(parser.parse_args().changes)
