"""How many requests the HTTP server answers, how fast, and whether it grows.

    python -m benchmarks.server_load                    64 connections for 10 seconds
    python -m benchmarks.server_load --seconds 60       the soak
    python -m benchmarks.server_load --beside http://127.0.0.1:8001   another server as well

Everything stays on the loopback. The load is half GetItem, half PutItem, over 1,000 keys; each
connection waits for its answer before it asks again, so a latency is what one caller of many
sees. The client is one process that takes about half as much time per request as the server:
on two idle cores it is not the bottleneck. Every server is warmed up first.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import selectors
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

KEYS = 1_000
MOST_SECONDS = 300
WARM_UP_SECONDS = 3.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TABLE = {
    "TableName": "load",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def main() -> int:
    given = _arguments()
    with _server() as (url, process):
        errors = _measure("dynamometer", url, given, process.pid)
        process.terminate()
        print(f"dynamometer ended with exit code {process.wait(10)}")
    for url in given.beside:
        errors += _measure(url, url, given, None)
    return 1 if errors else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--beside", action="append", default=[], metavar="URL")
    given = parser.parse_args()
    given.seconds = min(given.seconds, MOST_SECONDS)
    if any(urlsplit(url).hostname not in LOOPBACK for url in given.beside):
        parser.error("only the loopback is loaded")
    return given


@contextlib.contextmanager
def _server():
    command = [sys.executable, "-m", "emulator", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        urls = [word for word in process.stdout.readline().split() if word.startswith("http://")]
        if not urls:
            raise SystemExit("the server did not start")
        yield urls[0], process


def _measure(name: str, url: str, given: argparse.Namespace, pid: int | None) -> int:
    _call(url, "CreateTable", TABLE)
    for number in range(KEYS):
        _call(url, "PutItem", _item(number))
    _load(url, given.connections, min(given.seconds, WARM_UP_SECONDS))
    _load(url, 1, min(given.seconds, 5.0)).report(f"{name}, one connection")
    before = _resident_kib(pid)
    load = _load(url, given.connections, given.seconds)
    after = _resident_kib(pid)
    load.report(f"{name}, {given.connections} connections")
    if before is not None and after is not None:
        print(f"{name}, memory: {before:,} KiB, then {after:,} KiB ({after - before:+,} KiB)")
    _call(url, "DeleteTable", {"TableName": "load"})
    return load.errors


def _resident_kib(pid) -> int | None:
    if pid is None:
        return None
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
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


def _message(operation: str, request: dict) -> bytes:
    body = json.dumps(request).encode()
    head = (
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
        "User-Agent: benchmarks.server_load\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=K/20260101/us-east-1/dynamodb/aws4_request, "
        f"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={'0' * 64}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _call(url: str, operation: str, request: dict) -> None:
    head, _, body = _message(operation, request).partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    urllib.request.urlopen(urllib.request.Request(url, body, fields), timeout=10).read()


# Load


@dataclass
class Load:
    seconds: float = 0.0
    errors: int = 0
    latencies: list[float] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]

    def report(self, name: str) -> None:
        self.latencies.sort()
        shown = "  ".join(
            f"p{share:g} {self.percentile(share / 100) * 1e6:,.0f} us" for share in (50, 90, 99)
        )
        rate = len(self.latencies) / self.seconds
        print(f"{name}: {rate:,.0f} requests/s  {shown}  errors {self.errors}")


def _load(url: str, connections: int, seconds: float) -> Load:
    messages = [_message("GetItem", _key(number)) for number in range(KEYS)]
    messages += [_message("PutItem", _item(number)) for number in range(KEYS)]
    address = urlsplit(url)
    load = Load()
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        callers = []
        for number in range(connections):
            connection = socket.create_connection((address.hostname, address.port), timeout=10)
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
        if end and len(body) >= _length(head):
            load.latencies.append(time.perf_counter() - self.asked_at)
            load.errors += not head.startswith(b"HTTP/1.1 200")
            self.ask()


def _length(head: bytes) -> int:
    return int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


if __name__ == "__main__":
    sys.exit(main())
