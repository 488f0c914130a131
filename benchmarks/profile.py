"""(a) Where the time of one operation goes, and how many instructions it takes.

    python -m benchmarks.profile [--operation PutItem] [--calls 3000]

The first table is cProfile's: the functions with the largest share of their own, which a
profiler makes look larger the more they call. The second counts instructions with callgrind, if
valgrind is installed: unlike seconds, they do not change with the machine's mood.
"""

import argparse
import cProfile
import pstats
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import table
from benchmarks.workbench import filled, requests

FEW, MANY = 50, 450
SCRIPT = """
import gc, json
from benchmarks.workbench import ITEM, filled, requests
emulator = filled(60, partition="user#1")
make = requests(at=45).get({operation!r})
call = (lambda: json.loads(json.dumps(ITEM))) if make is None else (
    lambda: emulator.call({operation!r}, make())
)
gc.disable()
for _ in range({calls}):
    call()
"""


def shares(operation, calls, most=15):
    """Return the functions with the largest share of an operation's time."""
    emulator = filled(100, partition="user#1")
    make = requests(at=50)[operation]
    emulator.call(operation, make())
    profile = cProfile.Profile()
    for _ in range(calls):
        request = make()
        profile.enable()
        emulator.call(operation, request)
        profile.disable()
    found = pstats.Stats(profile).stats
    whole = sum(own for _, _, own, _, _ in found.values())
    heaviest = sorted(found.items(), key=lambda one: -one[1][2])[:most]
    return [
        [f"{Path(path).name} {name}" if line else name, f"{count / calls:g}", f"{own / whole:.1%}"]
        for (path, line, name), (_, count, own, _, _) in heaviest
    ]


def instructions(operation):
    """Return the instructions of one call, as the difference between many calls and few."""
    few, many = (_counted(operation, calls) for calls in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _counted(operation, calls):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    script = SCRIPT.format(operation=operation, calls=calls)
    ended = subprocess.run([*command, "-c", script], check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", ended.stderr)[1])


def main(operation="PutItem", calls=3000):
    rows = shares(operation, calls)
    table(f"{operation}, one GSI, profiled", ["function", "calls", "share"], rows)
    results = {"shares": rows}
    if shutil.which("valgrind") is None:
        print("  valgrind: not installed, instructions are not counted")
        return results
    unit = instructions("J")
    counted = {name: instructions(name) for name in ("GetItem", "PutItem", "Query")}
    results["instructions"] = [
        [name, f"{count:,.0f}", f"{count / unit:.2f}"] for name, count in counted.items()
    ]
    table(
        f"Instructions of one call; J = {unit:,.0f}",
        ["operation", "instructions", "J"],
        results["instructions"],
    )
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operation", default="PutItem")
    parser.add_argument("--calls", type=int, default=3000)
    main(**vars(parser.parse_args()))
