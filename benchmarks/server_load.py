"""(g) Servers under load: requests per second and latencies, from one connection to 64.

    python -m benchmarks.server_load                    every server that is installed
    python -m benchmarks.server_load --seconds 60       longer; benchmarks.reliability.soak goes on

Everything stays on the loopback. The load is half GetItem, half PutItem, over 1,000 keys; each
connection waits for its answer before it asks again, so a latency is what one caller of many
sees. The client is one process that takes about half as much time per request as our server:
on two idle cores it is not the bottleneck, until a server is more than twice as fast. Servers
run one after the other, each warmed up first. Memory is what the server process holds after
each step, where /proc tells. moto's server takes no part: it ends the connection with every answer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import selectors
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import table
from benchmarks.servers import HEADERS, installed, running

KEYS = 1_000
CONNECTIONS = (1, 4, 16, 64)
WARM_UP_SECONDS = 3.0
TABLE = {
    "TableName": "load",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def main(seconds=5.0):
    rows = []
    for name in installed():
        if name == "moto server":
            continue
        with running(name) as server:
            server.call("CreateTable", TABLE)
            _wait_for(server.call)
            for number in range(KEYS):
                server.call("PutItem", _item(number))
            messages = reads_and_writes()
            apply_load(server.port, 16, min(seconds, WARM_UP_SECONDS), messages)
            for connections in CONNECTIONS:
                load = apply_load(server.port, connections, seconds, messages)
                mib = resident_mib(server.pid)
                held = "-" if mib is None else f"{mib:.0f}"
                rows.append([name, connections, *load.figures(), held])
    table(
        f"Half GetItem, half PutItem, {seconds:g} s each",
        ["server", "connections", "requests/s", "p50 us", "p90 us", "p99 us", "errors", "MiB"],
        rows,
    )
    return rows


def _wait_for(call):
    while call("DescribeTable", {"TableName": "load"})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.1)


def resident_mib(pid) -> float | None:
    """Return the memory that a process holds, where /proc tells."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return None


# Requests


def _item(number: int) -> dict:
    return {
        "TableName": "load",
        "Item": {
            "pk": {"S": f"user#{number % KEYS}"},
            "name": {"S": "Ada Lovelace"},
            "score": {"N": str(number)},
            "tags": {"SS": ["a", "b"]},
        },
    }


def _key(number: int) -> dict:
    return {"TableName": "load", "Key": {"pk": {"S": f"user#{number % KEYS}"}}}


def reads_and_writes() -> list[bytes]:
    """Return half GetItem, half PutItem."""
    messages = [message("GetItem", _key(number)) for number in range(KEYS)]
    return messages + [message("PutItem", _item(number)) for number in range(KEYS)]


def message(operation: str, request: dict) -> bytes:
    """Return a request as it goes over a connection."""
    body = json.dumps(request).encode()
    fields = {
        "Host": "127.0.0.1",
        "Accept-Encoding": "identity",
        "User-Agent": "benchmarks.server_load",
        **HEADERS,
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        "Content-Length": len(body),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


# Load


@dataclass
class Load:
    seconds: float = 0.0
    errors: int = 0
    latencies: list[float] = field(default_factory=list)

    def figures(self) -> list[str]:
        """Return requests per second, three percentiles in microseconds, and the errors."""
        self.latencies.sort()
        rate = len(self.latencies) / self.seconds
        at = [self.latencies[int(len(self.latencies) * share)] for share in (0.5, 0.9, 0.99)]
        return [f"{rate:,.0f}", *(f"{one * 1e6:,.0f}" for one in at), f"{self.errors}"]


def apply_load(port: int, connections: int, seconds: float, messages: list[bytes]) -> Load:
    """Send messages over many connections for a while, and return what came of it."""
    load = Load()
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        callers = []
        for number in range(connections):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            caller = Caller(stack.enter_context(connection), messages, number * 31)
            selector.register(connection, selectors.EVENT_READ, caller)
            callers.append(caller)
        start = time.perf_counter()
        for caller in callers:
            caller.ask()
        while time.perf_counter() < start + seconds:
            for key, _ in selector.select(timeout=1):
                key.data.listen(load)
        load.seconds = time.perf_counter() - start
    return load


class Caller:
    """One connection: asks, waits for the whole answer, asks again."""

    def __init__(self, connection, messages, number) -> None:
        self.connection = connection
        self.messages = messages
        self.number = number
        self.received = b""
        self.asked_at = 0.0

    def ask(self) -> None:
        self.number += 997  # a step prime to the number of messages
        self.received = b""
        self.asked_at = time.perf_counter()
        self.connection.sendall(self.messages[self.number % len(self.messages)])

    def listen(self, load: Load) -> None:
        received = self.connection.recv(65536)
        if not received:
            raise ConnectionError("the server closed a connection in use")
        self.received += received
        head, end, body = self.received.partition(b"\r\n\r\n")
        if end and _is_whole(head, body):
            load.latencies.append(time.perf_counter() - self.asked_at)
            load.errors += not head.startswith(b"HTTP/1.1 200")
            self.ask()


def _is_whole(head: bytes, body: bytes) -> bool:
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return len(body) >= int(length) if length else body.endswith(b"0\r\n\r\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each step")
    main(parser.parse_args().seconds)
