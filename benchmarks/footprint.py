"""(d) Memory per item and (e) the cost of importing and starting, each in a process of its own.

    python -m benchmarks.footprint [--items 1000000]

Targets: 750 bytes per small item with one GSI, so a million of them in 0.75 GB; ``import emulator``
under 60 ms, and under 1.5 times ``import json, decimal, sortedcontainers, mmh3`` plus 30 ms;
``from emulator import Emulator`` 3.5 times those imports and a first call 4 times;
``dynamometer --version`` under 120 ms; nothing for a run of pytest that does not use the plugin.
Importing is told in processor time, net of the bare interpreter; commands likewise, but whole.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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
BARE = "json, decimal, sortedcontainers, mmh3"
IMPORTS = {
    BARE: f"import {BARE}",
    "emulator": "import emulator",
    "emulator.Emulator": "from emulator import Emulator",
    "first call": "from emulator import Emulator; Emulator().call('ListTables', {})",
}


COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "dynamometer --version": ["-m", "emulator", "--version"],
    "pytest, one empty test": ["-m", "pytest", "-q", "-p", "no:cacheprovider"],
    "pytest, one empty test, without the plugin": [
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:dynamometer")
    ],
}


def resident_bytes(items):
    """Return what so many small items take of a fresh process, as Linux counts it."""
    script = FILL.replace("ITEMS", str(items))
    return int(subprocess.check_output([sys.executable, "-c", script], text=True))


def import_milliseconds(rounds=15):
    """Return the processor time of each statement in a fresh interpreter, in turns.

    Each as its median in milliseconds, and as the median ratio to the bare imports.
    """
    taken = {name: [] for name in IMPORTS}
    # Compiled files are written as they are for anybody who imports a module twice.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(rounds):
        for name, code in IMPORTS.items():
            script = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
            command = [sys.executable, "-c", script]
            output = subprocess.check_output(command, text=True, env=environment)
            taken[name].append(float(output) * 1000)
    ratios = {
        name: statistics.median(one / unit for one, unit in zip(times, taken[BARE], strict=True))
        for name, times in taken.items()
    }
    return {name: (statistics.median(times), ratios[name]) for name, times in taken.items()}


def command_milliseconds(rounds=10):
    """Return the least processor time of each command, in turns."""
    taken = {name: [] for name in COMMANDS}
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_empty.py").write_text("def test_nothing():\n    pass\n")
        for _ in range(rounds):
            for name, words in COMMANDS.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [sys.executable, *words]
                subprocess.run(
                    command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL
                )
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                taken[name].append(used * 1000)
    return {name: min(times) for name, times in taken.items()}


def main(items=1_000_000, rounds=15):
    taken = resident_bytes(items)
    table(
        "Memory: small items with one GSI",
        ["items", "GB", "bytes per item"],
        [[f"{items:,}", f"{taken / 1e9:.2f}", f"{taken / items:.0f}"]],
    )
    imports = import_milliseconds(rounds)
    rows = [[name, f"{one:.1f}", f"{ratio:.2f}"] for name, (one, ratio) in imports.items()]
    table("Importing, in a fresh interpreter", ["what", "ms", "ratio"], rows)
    commands = command_milliseconds(rounds)
    rows = [[name, f"{milliseconds:.0f}"] for name, milliseconds in commands.items()]
    table("Starting", ["command", "ms"], rows)
    return {"items": items, "bytes": taken, "imports": imports, "commands_ms": commands}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    main(**vars(parser.parse_args()))
