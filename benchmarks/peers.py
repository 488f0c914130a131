"""(b) The same requests to every emulator there is, in turns.

    python -m benchmarks.peers [--items 10000]

Two runs: in-process through boto3 (ours, and moto's ``mock_aws``), and over HTTP with one
keep-alive connection and no SDK (ours, moto's server, dynalite, DynamoDB Local, dynoxide).
A peer that is not installed is skipped with a note. Where they are found:

- moto: importable; its server by ``moto_server`` on the PATH (``pip install moto[server]``)
- dynalite: ``dynalite`` on the PATH, or the command in DYNALITE (``npm install dynalite``)
- DynamoDB Local: the folder with DynamoDBLocal's jar and its libraries in DYNAMODB_LOCAL (Maven)
- dynoxide: ``dynoxide`` on the PATH, or the command in DYNOXIDE (``cargo install dynoxide-rs``)

What it does not show: throughput under many connections (``benchmarks.server_load``), and
anything about correctness.
"""

import argparse
import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

from benchmarks.measure import interleave, table
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
HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands(port):
    """Return the command that starts each peer on a port, None for those not found."""
    local = os.environ.get("DYNAMODB_LOCAL")
    dynalite = os.environ.get("DYNALITE") or shutil.which("dynalite")
    dynoxide = os.environ.get("DYNOXIDE") or shutil.which("dynoxide")
    moto = shutil.which("moto_server")
    return {
        "dynamometer": [sys.executable, "-m", "emulator", "serve", "--port", str(port)],
        "dynoxide": dynoxide and [*shlex.split(dynoxide), "--port", str(port)],
        "dynalite": dynalite
        and [*shlex.split(dynalite), "--port", str(port), "--createTableMs", "0"],
        "DynamoDB Local": local
        and [
            "java",
            f"-Djava.library.path={local}",
            "-cp",
            f"{local}/*",
            "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
            "-inMemory",
            "-port",
            str(port),
        ],
        "moto server": moto and [moto, "-p", str(port)],
    }


class HttpCaller:
    """One keep-alive connection that posts requests and reads answers."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __call__(self, operation, request):
        try:
            answer, body = self._post(operation, request)
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self.connection.close()  # a server may close what was idle
            answer, body = self._post(operation, request)
        if answer.status != 200:
            raise RuntimeError(f"{operation}: {answer.status} {body[:300]!r}")
        return json.loads(body)

    def _post(self, operation, request):
        headers = {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        self.connection.request("POST", "/", json.dumps(request), headers)
        answer = self.connection.getresponse()
        return answer, answer.read()


@contextmanager
def running(name, command, port):
    """Run a peer until the block ends; yields its caller once it answers."""
    # Some leave files where they are started.
    with tempfile.TemporaryDirectory() as folder:
        yield from _started(name, command, port, folder)


def _started(name, command, port, folder):
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    )
    try:
        for _ in range(300):
            try:
                caller = HttpCaller(port)
                caller("ListTables", {})
                break
            except (OSError, RuntimeError, http.client.HTTPException):
                time.sleep(0.1)
        else:
            raise RuntimeError(f"{name} did not answer on port {port}")
        yield caller
    finally:
        process.kill()
        process.wait(10)


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
        for name in commands(0):
            port = free_port()
            command = commands(port)[name]
            if not command:
                print(f"  {name}: not installed, skipped")
                continue
            callers[name] = stack.enter_context(running(name, command, port))
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
