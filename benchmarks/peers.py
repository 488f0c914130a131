"""(b) The same requests to every emulator there is, in turns.

    python -m benchmarks.peers [--items 10000]

Two runs: in-process through boto3 (ours, and moto's ``mock_aws``), and over HTTP with one
keep-alive connection and no SDK (ours, moto's server, dynalite, DynamoDB Local, dynoxide).
A batch writes 25 items, a page has ten. A peer that is not installed is skipped with a note;
``benchmarks.servers`` says where they are looked for.

What it does not show: throughput under many connections (``benchmarks.server_load``), and
anything about correctness.
"""

import argparse
import time
from contextlib import ExitStack

from benchmarks.in_process import backends
from benchmarks.measure import in_milliseconds, interleave, table
from benchmarks.servers import installed, running
from benchmarks.workbench import definition, item, requests

#: Of an operation; moto copies whole tables for some.
PATIENCE_SECONDS = 20
OPERATIONS = (
    "GetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "Query",
    "Scan",
    "BatchWriteItem",
    "TransactWriteItems",
)


# In-process


def in_process(items, rounds, batch):
    """Time boto3 in-process, backends in turns."""
    found = backends()
    for backend in found.values():
        with backend.entered():
            fill(backend.call, items)
    rows = []
    for operation in OPERATIONS:
        timings = interleave(
            {name: lane(backend.call, operation) for name, backend in found.items()},
            yardstick="dynamometer",
            rounds=rounds,
            batch=batch,
            around={name: backend.entered for name, backend in found.items()},
            patience=PATIENCE_SECONDS,
        )
        rows.append([operation, *map(in_milliseconds, timings)])
    table(
        f"boto3 in-process, {items:,} items: ms (ratio to dynamometer)",
        ["operation", *found],
        rows,
    )
    return {"names": list(found), "rows": rows}


# Over HTTP


def fill(call, items):
    """Create the table and put its items, twenty-five at a time."""
    call("CreateTable", definition())
    for _ in range(100):
        if call("DescribeTable", {"TableName": "bench"})["Table"]["TableStatus"] == "ACTIVE":
            break
        time.sleep(0.1)
    for start in range(0, items, 25):
        puts = [{"PutRequest": {"Item": item(n)}} for n in range(start, min(start + 25, items))]
        call("BatchWriteItem", {"RequestItems": {"bench": puts}})


def lane(call, operation):
    """Return what asks one operation of a caller, again and again."""
    make = requests(at=1)[operation]
    return lambda: call(operation, make())


def answers(call, operation):
    """Say whether a peer has an operation at all."""
    try:
        lane(call, operation)()
    except RuntimeError:
        return False
    return True


def over_http(items, rounds, batch):
    """Time every server that can be started, lanes in turns."""
    with ExitStack() as stack:
        callers = {}
        for name in installed():
            callers[name] = stack.enter_context(running(name)).call
            fill(callers[name], items)
            time.sleep(0.5)
        rows = []
        for operation in OPERATIONS:
            lanes = {
                name: lane(call, operation)
                for name, call in callers.items()
                if answers(call, operation)
            }
            timings = interleave(
                lanes,
                yardstick="dynamometer",
                rounds=rounds,
                batch=batch,
                clock=time.perf_counter,
                patience=PATIENCE_SECONDS,
            )
            cells = {one.name: in_milliseconds(one) for one in timings}
            rows.append([operation, *(cells.get(name, "-") for name in callers)])
    table(
        f"Over HTTP, one connection, {items:,} items: ms (ratio to dynamometer)",
        ["operation", *callers],
        rows,
    )
    return {"names": list(callers), "rows": rows}


def main(items=10_000, rounds=15, batch=10):
    return {
        "in_process": in_process(items, rounds, batch),
        "over_http": over_http(items, rounds, batch),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=10_000)
    main(parser.parse_args().items)
