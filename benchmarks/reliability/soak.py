"""The soak: mixed load for half an hour, and memory that stays where it is.

    python -m benchmarks.reliability.soak [--minutes 30]

Four parts of equal length: a server with 64 connections, the same with 256, and one process that
calls the emulator itself, from 16 threads and from 64 tasks of asyncio. The load is two thirds
reads and one third writes over 1,000 keys: single items, batches, transactions, queries of an index
and pages of a scan. Each part is cut into slices; memory is read after each. A part is flat if the
median of its last third is at most 5 % and 2 MiB above that of its second third: the first third
fills caches.

Transactions carry no token. With tokens, memory also holds those of the last ten minutes; with a
stream, its records of the last day, up to 128 MiB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import table as print_table
from benchmarks.server_load import apply_load, message, resident_mib
from benchmarks.servers import running
from emulator import Emulator
from emulator.testing.table_notation import create_request

KEYS = 1_000
SLICES = 12
THREADS = 16
TASKS = 64
TIMED_EVERY = 16
ROOT = Path(__file__).parents[2]
TABLE = create_request("soak", "pk", indexes={"by_group": "group"})
Request = tuple[str, dict[str, Any]]


class Slice(NamedTuple):
    """What happened in a slice of a part: requests, errors, latency, and memory at its end."""

    requests: int
    errors: int
    seconds: float
    p50: float
    p99: float
    mib: float


# The load


def requests() -> list[Request]:
    """Return the mixed load, in an order of its own."""
    chance = random.Random(0)
    load: list[Request] = []
    for number in range(KEYS):
        key = {"pk": {"S": f"user#{number}"}}
        item = key | {
            "group": {"S": f"group#{number % 50}"},
            "name": {"S": "Ada Lovelace"},
            "score": {"N": str(number)},
            "tags": {"SS": ["a", "b"]},
        }
        one = {"TableName": "soak"}
        load += [
            ("GetItem", one | {"Key": key}),
            ("GetItem", one | {"Key": key, "ConsistentRead": True}),
            ("PutItem", one | {"Item": item}),
            ("UpdateItem", one | {"Key": key, **_increment()}),
            ("Query", one | _query(number)),
            ("BatchGetItem", {"RequestItems": {"soak": {"Keys": _others(chance)}}}),
        ]
        if number % 10 == 0:
            load += [
                ("Scan", one | {"Limit": 20}),
                ("TransactWriteItems", {"TransactItems": [{"Put": one | {"Item": item}}]}),
            ]
    chance.shuffle(load)
    return load


def _increment() -> dict[str, Any]:
    return {
        "UpdateExpression": "ADD score :one SET seen = :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def _query(number: int) -> dict[str, Any]:
    return {
        "IndexName": "by_group",
        "KeyConditionExpression": "#group = :group",
        "ExpressionAttributeNames": {"#group": "group"},
        "ExpressionAttributeValues": {":group": {"S": f"group#{number % 50}"}},
        "Limit": 10,
    }


def _others(chance: random.Random) -> list[dict[str, Any]]:
    return [{"pk": {"S": f"user#{number}"}} for number in chance.sample(range(KEYS), 5)]


def filled(call: Any) -> None:
    """Make the table, with every key."""
    call("CreateTable", TABLE)
    for operation, request in requests():
        if operation == "PutItem":
            call(operation, request)


# The parts


def over_http(connections: int, seconds: float) -> Iterator[Slice]:
    """Load a server over many connections."""
    messages = [message(operation, request) for operation, request in requests()]
    with running("dynamometer") as server:
        filled(server.call)
        for _ in range(SLICES):
            load = apply_load(server.port, connections, seconds / SLICES, messages)
            load.latencies.sort()
            yield _slice(load.latencies, load.errors, load.seconds, resident_mib(server.pid))


def in_process(kind: str, seconds: float) -> Iterator[Slice]:
    """Load an emulator within a process of its own."""
    command = [sys.executable, "-m", "benchmarks.reliability.soak", "--inside", kind]
    command += ["--seconds", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Slice(*json.loads(line))
    assert process.returncode == 0, f"{kind} ended with {process.returncode}"


def inside(kind: str, seconds: float) -> None:
    """Call an emulator from threads or tasks; print each slice. Runs in a process of its own."""
    emulator = Emulator()
    filled(emulator.call)
    load = requests()
    for _ in range(SLICES):
        workers = [Worker(emulator, load, number * 31) for number in range(THREADS)]
        started = time.perf_counter()
        ends = started + seconds / SLICES
        if kind == "threads":
            threads = [threading.Thread(target=worker.run, args=(ends,)) for worker in workers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            workers = [Worker(emulator, load, number * 31) for number in range(TASKS)]
            asyncio.run(_tasks(workers, ends))
        latencies = sorted(latency for worker in workers for latency in worker.latencies)
        part = _slice(latencies, 0, time.perf_counter() - started, resident_mib("self"))._replace(
            requests=sum(worker.requests for worker in workers),
            errors=sum(worker.errors for worker in workers),
        )
        print(json.dumps(part), flush=True)


class Worker:
    """Sends one request after the other, and notes how long each took."""

    def __init__(self, emulator: Emulator, load: list[Request], number: int) -> None:
        self._emulator = emulator
        self._load = load
        self._number = number
        self.requests = 0
        self.errors = 0
        #: Of some requests, so that the measuring itself does not fill memory.
        self.latencies: list[float] = []

    def run(self, ends: float) -> None:
        """Send requests until a moment."""
        while time.perf_counter() < ends:
            self.call()

    async def run_aside(self, ends: float) -> None:
        """Send requests until a moment, each in a thread of the loop's pool."""
        while time.perf_counter() < ends:
            await asyncio.to_thread(self.call)

    def call(self) -> None:
        """Send the next request."""
        self._number += 997  # a step prime to the number of requests
        operation, request = self._load[self._number % len(self._load)]
        started = time.perf_counter()
        try:
            self._emulator.call(operation, request)
        except Exception:  # whatever it is, it is counted
            self.errors += 1
        self.requests += 1
        if self.requests % TIMED_EVERY == 1:
            self.latencies.append(time.perf_counter() - started)


async def _tasks(workers: list[Worker], ends: float) -> None:
    await asyncio.gather(*(worker.run_aside(ends) for worker in workers))


def _slice(latencies: list[float], errors: int, seconds: float, mib: float | None) -> Slice:
    """Return a slice from latencies in order."""
    p50, p99 = (latencies[int(len(latencies) * share)] for share in (0.5, 0.99))
    return Slice(len(latencies), errors, seconds, p50, p99, mib or 0.0)


# The command


def is_flat(slices: list[Slice]) -> bool:
    """Return whether memory stays where it is, after a first third that fills caches."""
    third = len(slices) // 3
    middle, last = (
        statistics.median(one.mib for one in part)
        for part in (slices[third : 2 * third], slices[2 * third :])
    )
    return last <= middle * 1.05 + 2


def row(name: str, slices: list[Slice]) -> list[str]:
    """Return the figures of a part."""
    count = sum(one.requests for one in slices)
    seconds = sum(one.seconds for one in slices)
    return [
        name,
        f"{seconds / 60:.1f}",
        f"{count:,}",
        f"{sum(one.errors for one in slices)}",
        f"{count / seconds:,.0f}",
        f"{statistics.median(one.p50 for one in slices) * 1e3:.1f}",
        f"{max(one.p99 for one in slices) * 1e3:.1f}",
        *(f"{slices[at].mib:.1f}" for at in (0, len(slices) // 2, -1)),
        "flat" if is_flat(slices) else "grows",
    ]


COLUMNS = (
    *("", "minutes", "requests", "errors", "requests/s", "p50 ms", "worst p99 ms"),
    *("MiB at first", "half-way", "at the end", ""),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30, help="of all parts together")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        inside(given.inside, given.seconds)
        return 0
    seconds = given.minutes * 60 / 4
    parts = {
        "64 connections": lambda: over_http(64, seconds),
        "256 connections": lambda: over_http(256, seconds),
        f"{THREADS} threads": lambda: in_process("threads", seconds),
        f"{TASKS} tasks": lambda: in_process("tasks", seconds),
    }
    rows, failed = [], False
    for name, part in parts.items():
        slices = list(part())
        rows.append(row(name, slices))
        failed = failed or not is_flat(slices) or any(one.errors for one in slices)
    print_table(f"Mixed load, {given.minutes:g} minutes in all", list(COLUMNS), rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
