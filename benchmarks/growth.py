"""(c) Whether cost grows with the table: 1 k to 1 M items, 0 to 20 indexes.

    python -m benchmarks.growth [--most 1000000]

Query and Scan must not: at most 1.5 times from 1 k to 1 M. One collection holds a tenth of
the items, and the query asks for ten from its middle.
"""

import argparse

from benchmarks.measure import interleave, table
from benchmarks.workbench import filled, requests

OPERATIONS = ("GetItem", "PutItem", "Query", "Scan")


def lanes(emulator, tag, **where):
    """Return one lane per operation on an emulator."""
    made = requests(**where)
    return {
        f"{name} {tag}": (lambda name=name: emulator.call(name, made[name]()))
        for name in OPERATIONS
    }


def by_size(sizes):
    """Time one table of each size against the smallest, in turns."""
    found = {}
    for size in sizes:
        emulator = filled(size, indexes=0, capacity="off")
        found |= lanes(emulator, size, indexes=0, partition="user#1", at=1)
    rows = []
    for name in OPERATIONS:
        chosen = {lane: call for lane, call in found.items() if lane.startswith(f"{name} ")}
        timings = interleave(chosen, yardstick=f"{name} {sizes[0]}", rounds=15)
        rows.append([name, *(f"{one.microseconds:.1f} ({one.ratio:.2f})" for one in timings)])
    table("Cost by items: us (ratio to the smallest)", ["operation", *map(str, sizes)], rows)
    return rows


def by_indexes(counts):
    """Time PutItem with more and more global indexes."""
    found = {}
    for count in counts:
        emulator = filled(200, indexes=count, capacity="off")
        put = requests(indexes=count)["PutItem"]
        found[f"{count}"] = lambda emulator=emulator, put=put: emulator.call("PutItem", put())
    timings = interleave(found, yardstick=f"{counts[0]}", rounds=15, batch=20)
    rows = [[one.name, f"{one.microseconds:.1f}", f"{one.ratio:.2f}"] for one in timings]
    table("PutItem by global indexes", ["indexes", "us", "ratio"], rows)
    return rows


def main(most=1_000_000):
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= most]
    return {"items": by_size(sizes), "indexes": by_indexes([0, 1, 5, 20])}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=1_000_000)
    main(parser.parse_args().most)
