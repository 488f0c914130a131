"""(d) Memory per item and (e) the cost of importing, each in a process of its own.

    python -m benchmarks.footprint [--items 1000000]

Targets: 2 KB per small item with one GSI; import under 60 ms and under 1.5 times
``import json, decimal, sortedcontainers, mmh3`` plus 30 ms.
"""

import argparse
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
import resource
from benchmarks.workbench import definition
from emulator import Emulator
emulator = Emulator(capacity="off")
emulator.call("CreateTable", definition())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for n in range(ITEMS):
    emulator.call("PutItem", {{"TableName": "bench", "Item": {SMALL}}})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / ITEMS)
"""
IMPORTS = {
    "nothing": "pass",
    "json, decimal, sortedcontainers, mmh3": "import json, decimal, sortedcontainers, mmh3",
    "emulator": "import emulator",
    "emulator.Emulator": "from emulator import Emulator",
    "first call": "from emulator import Emulator; Emulator().call('ListTables', {})",
}


def bytes_per_item(items):
    """Return resident bytes per small item, in a fresh process."""
    script = FILL.replace("ITEMS", str(items))
    return float(subprocess.check_output([sys.executable, "-c", script], text=True))


def import_milliseconds(statement, rounds=15):
    """Return the median wall time of a fresh interpreter running a statement, in ms."""
    script = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    taken = [
        float(subprocess.check_output([sys.executable, "-c", script], text=True))
        for _ in range(rounds)
    ]
    return statistics.median(taken) * 1000


def main(items=200_000):
    per_item = bytes_per_item(items)
    table("Memory", ["small item with one GSI", "bytes"], [[f"{items:,} items", f"{per_item:.0f}"]])
    rows = [[name, f"{import_milliseconds(code):.1f}"] for name, code in IMPORTS.items()]
    table("Importing, in a fresh interpreter", ["what", "ms"], rows)
    return {"bytes_per_item": per_item, "imports_ms": rows}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200_000)
    main(parser.parse_args().items)
