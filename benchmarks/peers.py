"""(b) The same requests to every emulator there is, in turns.

    python -m benchmarks.peers [--items 10000]

Two runs: in-process through boto3 (ours, and moto's ``mock_aws``), and over HTTP with one
keep-alive connection and no SDK (ours, moto's server, dynalite, DynamoDB Local, dynoxide).
A peer that is not installed is skipped with a note; ``benchmarks.servers`` says where they are
looked for.

What it does not show: throughput under many connections (``benchmarks.server_load``), and
anything about correctness.
"""

import argparse
import json
import os
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

from benchmarks.measure import interleave, table
from benchmarks.servers import installed, running
from benchmarks.workbench import definition, item, requests

OPERATIONS = (
    "GetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "Query",
    "Scan",
    "TransactWriteItems",
)


# In-process


@contextmanager
def boto3_client(backend):
    """Yield a boto3 client served in-process by ours or by moto."""
    import boto3

    os.environ.setdefault("AWS_ACCESS_KEY_ID", "local")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "local")
    if backend == "moto":
        from moto import mock_aws

        context = mock_aws()
    else:
        from emulator import mock_dynamodb

        context = mock_dynamodb(fast=backend == "dynamometer, fast lane")
    with context:
        yield boto3.client("dynamodb", region_name="us-east-1")


def in_process(items):
    """Time boto3 in-process; contexts are entered for each batch, since they exclude each other."""
    backends = ["dynamometer", "dynamometer, fast lane"]
    if find_spec("moto") is not None:
        backends.append("moto")
    timings = {}
    for backend in backends:
        with boto3_client(backend) as client:
            fill(lambda operation, request: client._make_api_call(operation, request), items)
            lanes = {
                name: (lambda name=name, make=make: client._make_api_call(name, make()))
                for name, make in requests(at=1).items()
                if name in OPERATIONS
            }
            lanes["json"] = lambda: json.loads(json.dumps(item(1)))
            rounds = 5 if backend == "moto" else 15
            for one in interleave(lanes, yardstick="json", rounds=rounds, batch=10):
                timings[one.name, backend] = one.ratio
    rows = []
    for operation in OPERATIONS:
        ours = timings[operation, "dynamometer"]
        cells = [f"{timings[operation, backend]:.1f}" for backend in backends]
        theirs = timings.get((operation, "moto"))
        rows.append([operation, *cells, "-" if theirs is None else f"{theirs / ours:.1f}"])
    table(
        f"boto3 in-process, {items:,} items, in units of one JSON round trip",
        ["operation", *backends, "moto / ours"],
        rows,
    )
    return rows


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


def over_http(items):
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
                lanes, yardstick="dynamometer", rounds=15, batch=10, clock=time.perf_counter
            )
            cells = {one.name: f"{one.microseconds:.0f} ({one.ratio:.2f})" for one in timings}
            rows.append([operation, *(cells.get(name, "-") for name in callers)])
    table(
        f"Over HTTP, one connection, {items:,} items: us (ratio to dynamometer)",
        ["operation", *callers],
        rows,
    )
    return {"names": list(callers), "rows": rows}


def main(items=10_000):
    return {"in_process": in_process(items), "over_http": over_http(items)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    main(parser.parse_args().items)
