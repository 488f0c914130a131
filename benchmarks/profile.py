"""(a) Where the time of one operation goes, and how many instructions it takes.

    python -m benchmarks.profile [--operation PutItem] [--calls 3000]

The first two tables are cProfile's: the rooms and the functions with the largest share of their
own, which a profiler makes look larger the more they call. The third counts what every operation
executes, bytecodes and calls of Python functions, without admission and with it: unlike seconds,
they do not change with the machine's mood. The fourth counts instructions with callgrind, if
valgrind is installed, which takes minutes. Its last rows are what no operation can do without,
reading the item and writing it out again, and what it would take to copy a wire form that was kept.
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
COUNTED = (
    "GetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "Query",
    "TransactWriteItems",
    "PutItem, all new",
    "load the item",
    "dump the item",
    "copy a wire form",
)
SCRIPT = """
import gc, json, marshal
from itertools import count
from benchmarks.workbench import ITEM, all_new, filled, requests
from emulator.model.wire import dump_item, load_item
emulator = filled(60, partition="user#1")
loaded = load_item(ITEM).attributes
kept = marshal.dumps(dump_item(loaded))
numbers = count()
calls = {{
    name: (lambda name=name, make=make: emulator.call(name, make()))
    for name, make in requests(at=45).items()
}}
call = calls.get({operation!r}) or {{
    "J": lambda: json.loads(json.dumps(ITEM)),
    "load the item": lambda: load_item(ITEM),
    "dump the item": lambda: dump_item(loaded),
    "copy a wire form": lambda: marshal.loads(kept),
    "PutItem, all new": lambda: emulator.call("PutItem", all_new(next(numbers))),
}}[{operation!r}]
gc.disable()
for _ in range({calls}):
    call()
"""


def shares(operation, calls, most=15):
    """Return the functions with the largest share of an operation's time."""
    found = profiled(operation, calls)
    whole = sum(own for _, _, own, _, _ in found.values())
    heaviest = sorted(found.items(), key=lambda one: -one[1][2])[:most]
    return [
        [f"{Path(path).name} {name}" if line else name, f"{count / calls:g}", f"{own / whole:.1%}"]
        for (path, line, name), (_, count, own, _, _) in heaviest
    ]


def rooms(operation, calls):
    """Return the share of each room in an operation's time, and how many calls it makes there."""
    found = profiled(operation, calls)
    whole = sum(own for _, _, own, _, _ in found.values())
    by_room = {}
    for (path, line, _), (_, count, own, _, _) in found.items():
        parts = Path(path).parts
        room = "other Python" if line else "built-in functions"
        if "emulator" in parts:
            room = parts[parts.index("emulator") + 1].removesuffix(".py")
        counted, taken = by_room.get(room, (0, 0.0))
        by_room[room] = counted + count, taken + own
    heaviest = sorted(by_room.items(), key=lambda one: -one[1][1])
    return [
        [room, f"{counted / calls:.0f}", f"{own / whole:.0%}"]
        for room, (counted, own) in heaviest
        if own / whole >= 0.005
    ]


def profiled(operation, calls):
    """Return cProfile's figures of so many calls of an operation."""
    emulator = filled(100, partition="user#1")
    make = requests(at=50)[operation]
    emulator.call(operation, make())
    profile = cProfile.Profile()
    for _ in range(calls):
        request = make()
        profile.enable()
        emulator.call(operation, request)
        profile.disable()
    return pstats.Stats(profile).stats


def executed(operation, capacity):
    """Return how many bytecodes one call executes, and how many functions it calls."""
    emulator = filled(100, partition="user#1", capacity=capacity)
    make = requests(at=50)[operation]
    for _ in range(3):  # what is cached comes from the cache
        emulator.call(operation, make())
    request, counts = make(), {"call": 0, "opcode": 0}

    def note(frame, event, _):
        if event in counts:
            counts[event] += 1
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return note

    sys.settrace(note)
    emulator.call(operation, request)
    sys.settrace(None)
    return counts["opcode"], counts["call"]


def bytecodes():
    """Return what each operation executes, without admission and with it."""
    rows = []
    for operation in COUNTED[:6]:
        off, observe = executed(operation, "off"), executed(operation, "observe")
        more = f"{observe[0] / off[0]:.2f}"
        rows.append([operation, *(f"{count:,}" for count in (*off, *observe)), more])
    return rows


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
    by_room = rooms(operation, calls)
    table(f"{operation}, one GSI, by room", ["room", "calls", "share"], by_room)
    rows = shares(operation, calls)
    table(f"{operation}, one GSI, profiled", ["function", "calls", "share"], rows)
    counts = bytecodes()
    header = ["operation", "off", "calls", "observe", "calls", "observe/off"]
    table("Bytecodes of one call", header, counts)
    results = {"rooms": by_room, "shares": rows, "bytecodes": counts}
    if shutil.which("valgrind") is None:
        print("  valgrind: not installed, instructions are not counted")
        return results
    unit = instructions("J")
    counted = {name: instructions(name) for name in COUNTED}
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
