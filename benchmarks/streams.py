"""(c) Streams: what it costs to deliver a table's stream to a handler.

    python -m benchmarks.streams [--most 100000]

Wanted: 100,000 records in at most 4 s of processor time, and a cost that is linear in the records.
Writing them is not counted.
"""

import argparse
import time

from benchmarks.measure import table
from emulator import Emulator, ManualClock
from emulator.testing.table_notation import create_request

WANTED_SECONDS = 4.0
PAID = {"dynamodb": {"NewImage": {"status": {"S": ["paid"]}}}}
SETTINGS = {
    "100 a batch": {},
    "1 a batch": {"batch_size": 1},
    "10,000 a batch": {"batch_size": 10_000},
    "a filter that half pass": {"filters": [PAID]},
    "10 parts a shard": {"parallelization_factor": 10},
}


def written(records):
    """Return an emulator whose stream has so many records."""
    emulator = Emulator(clock=ManualClock(), capacity="off")
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    emulator.call("CreateTable", create_request("orders", "id", StreamSpecification=stream))
    for number in range(records):
        item = {
            "id": {"S": f"order-{number}"},
            "status": {"S": "paid" if number % 2 else "new"},
            "total": {"N": str(number)},
            "customer": {"M": {"name": {"S": "x" * 40}, "city": {"S": "Ghent"}}},
        }
        emulator.call("PutItem", {"TableName": "orders", "Item": item})
    return emulator


def seconds(emulator, settings):
    """Return the processor seconds that a drain takes."""
    with emulator.event_source("orders", lambda *_: None, **settings) as source:
        started = time.process_time()
        source.drain()
        return time.process_time() - started


def main(most=100_000):
    sizes = [most // 10, most]
    emulators = [written(size) for size in sizes]
    rows = []
    for name, settings in SETTINGS.items():
        few, many = (seconds(emulator, settings) for emulator in emulators)
        rows.append([name, f"{few:.2f}", f"{many:.2f}", f"{many / few:.1f}"])
    headings = ["settings", *(f"{size:,} records, s" for size in sizes), "ratio"]
    table(f"Streams to a handler; at most {WANTED_SECONDS:g} s wanted", headings, rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=100_000)
    main(parser.parse_args().most)
