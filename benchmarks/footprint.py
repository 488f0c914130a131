"""(d) Memory per item and (e) the cost of importing, each in a process of its own.

    python -m benchmarks.footprint [--items 1000000]

Targets: 2 KB per small item with one GSI, and a million of them within 2 GB; ``import emulator``
under 60 ms, and under 1.5 times ``import json, decimal, sortedcontainers, mmh3`` plus 30 ms.
"""

import argparse
import os
import statistics
import subprocess
import sys

from benchmarks.measure import table

SMALL = """{
    "pk": {"S": f"user#{n % 1000}"},
    "sk": {"S": f"order#{n:09}"},
    "g0": {"S": f"v{n % 5000}"},
    "status": {"S": "open"},
    "total": {"N": str(n)},
}"""
FILL = f"""
import os
from pathlib import Path
from benchmarks.workbench import definition
from emulator import Emulator
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
emulator = Emulator()
emulator.call("CreateTable", definition())
before = resident()
for n in range(ITEMS):
    emulator.call("PutItem", {{"TableName": "bench", "Item": {SMALL}}})
print(resident() - before)
"""
IMPORTS = {
    "nothing": "pass",
    "json, decimal, sortedcontainers, mmh3": "import json, decimal, sortedcontainers, mmh3",
    "emulator": "import emulator",
    "emulator.Emulator": "from emulator import Emulator",
    "first call": "from emulator import Emulator; Emulator().call('ListTables', {})",
}


def resident_bytes(items):
    """Return what so many small items take of a fresh process, as Linux counts it."""
    script = FILL.replace("ITEMS", str(items))
    return int(subprocess.check_output([sys.executable, "-c", script], text=True))


def import_milliseconds(rounds=15):
    """Return the median wall time of each statement in a fresh interpreter, taken in turns."""
    taken = {name: [] for name in IMPORTS}
    # Compiled files are written as they are for anybody who imports a module twice.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(rounds):
        for name, code in IMPORTS.items():
            script = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
            command = [sys.executable, "-c", script]
            output = subprocess.check_output(command, text=True, env=environment)
            taken[name].append(float(output) * 1000)
    return {name: statistics.median(times) for name, times in taken.items()}


def main(items=1_000_000):
    taken = resident_bytes(items)
    table(
        "Memory: small items with one GSI",
        ["items", "GB", "bytes per item"],
        [[f"{items:,}", f"{taken / 1e9:.2f}", f"{taken / items:.0f}"]],
    )
    imports = import_milliseconds()
    rows = [[name, f"{milliseconds:.1f}"] for name, milliseconds in imports.items()]
    table("Importing, in a fresh interpreter", ["what", "ms"], rows)
    return {"items": items, "bytes": taken, "imports_ms": imports}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    main(parser.parse_args().items)
