"""(g) Servers under load: requests per second and latencies, by connections and by operation.

    python -m benchmarks.server_load                    every server that is installed
    python -m benchmarks.server_load --seconds 60       longer; benchmarks.reliability.soak goes on
    python -m benchmarks.server_load --only dynoxide    ours and one other

Everything stays on the loopback. Each connection waits for its answer before it asks again, so a
latency is what one caller of many sees. The servers run side by side and take turns, so that all
share the machine's mood; the ratios are to ours in the same turn. CPU is the processor time that
the server took for a request: unlike a rate it does not depend on what else the machine does. The
client is one process of its own, which takes about half as much time per request as our server:
on two idle cores it is not the bottleneck, until a server is more than twice as fast. Memory is
what the server process holds afterwards. Processor time and memory are read from /proc. moto's
server takes no part: it ends the connection with every answer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import selectors
import socket
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import table
from benchmarks.servers import HEADERS, Server, installed, running

KEYS = 1_000
PARTITIONS = 100
CONNECTIONS = (1, 4, 16, 64)
MOST = CONNECTIONS[-1]
TURNS = 3
OURS = "dynamometer"
TABLE = {
    "TableName": "load",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def main(seconds=5.0, only=None):
    names = [name for name in installed() if name != "moto server"]
    if only is not None:
        names = [name for name in names if name in (OURS, only)]
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(running(name)) for name in names}
        for server in servers.values():
            fill(server)
        return {
            "by_connections": by_connections(servers, seconds),
            "by_operation": by_operation(servers, seconds),
        }


def fill(server: Server) -> None:
    """Create the table, put its items, and warm the server up."""
    server.call("CreateTable", TABLE)
    while server.call("DescribeTable", {"TableName": "load"})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.1)
    for number in range(KEYS):
        server.call("PutItem", _put(number))
    apply_load(server.port, 16, 1.0, reads_and_writes())


def by_connections(servers: dict[str, Server], seconds: float) -> list[list[str]]:
    """Put more and more connections on each server."""
    messages = reads_and_writes()
    rows = []
    for connections in CONNECTIONS:
        for name, turns in taken_in_turns(servers, connections, seconds, messages).items():
            mib = resident_mib(servers[name].pid)
            held = "-" if mib is None else f"{mib:.0f}"
            rows.append([name, str(connections), *turns.figures(), held])
    columns = ["server", "connections", *FIGURES, "MiB"]
    title = "Half GetItem, half PutItem (ratio to dynamometer)"
    table(title, columns, sorted(rows, key=lambda row: list(servers).index(row[0])))
    return rows


def by_operation(servers: dict[str, Server], seconds: float) -> list[list[str]]:
    """Put every operation on each server, over the most connections."""
    rows = []
    for title, (operation, make) in OPERATIONS.items():
        messages = [message(operation, make(number)) for number in range(KEYS)]
        serving = {
            name: server for name, server in servers.items() if serves(server, operation, make)
        }
        for name, turns in taken_in_turns(serving, MOST, seconds, messages).items():
            rows.append([title, name, *turns.figures()])
    title = f"{MOST} connections, by operation (ratio to dynamometer)"
    table(title, ["operation", "server", *FIGURES], rows)
    return rows


def serves(server: Server, operation: str, make: Callable[[int], dict]) -> bool:
    """Say whether a server has an operation at all."""
    try:
        server.call(operation, make(0))
    except RuntimeError:
        return False
    return True


def resident_mib(pid) -> float | None:
    """Return the memory that a process holds, where /proc tells."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return None


def processor_seconds(pid) -> float:
    """Return the processor time that a process has taken; 0 where /proc does not tell."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# Requests


def _key(number: int) -> dict:
    return {
        "pk": {"S": f"user#{number % PARTITIONS}"},
        "sk": {"N": str(number % KEYS // PARTITIONS)},
    }


def _item(number: int) -> dict:
    return {
        **_key(number),
        "name": {"S": "Ada Lovelace"},
        "score": {"N": str(number)},
        "tags": {"SS": ["a", "b"]},
    }


def _get(number: int) -> dict:
    return {"TableName": "load", "Key": _key(number)}


def _put(number: int) -> dict:
    return {"TableName": "load", "Item": _item(number)}


def _update(number: int) -> dict:
    return {
        **_get(number),
        "UpdateExpression": "SET score = score + :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def _delete(number: int) -> dict:
    return {"TableName": "load", "Key": {**_key(number), "sk": {"N": str(KEYS + number)}}}


def _query(number: int) -> dict:
    return {
        "TableName": "load",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": _key(number)["pk"]},
    }


def _scan(number: int) -> dict:
    return {"TableName": "load", "Limit": 100, "ExclusiveStartKey": _key(number)}


def _batch_get(number: int) -> dict:
    keys = [_key(number + other) for other in range(25)]
    return {"RequestItems": {"load": {"Keys": keys}}}


def _batch_write(number: int) -> dict:
    puts = [{"PutRequest": {"Item": _item(number + other)}} for other in range(25)]
    return {"RequestItems": {"load": puts}}


def _transact_write(number: int) -> dict:
    return {"TransactItems": [{"Put": _put(number + other)} for other in range(4)]}


#: What is measured by itself: the operation, and the request of each number.
OPERATIONS: dict[str, tuple[str, Callable[[int], dict]]] = {
    "GetItem": ("GetItem", _get),
    "PutItem": ("PutItem", _put),
    "UpdateItem": ("UpdateItem", _update),
    "DeleteItem": ("DeleteItem", _delete),
    "Query, 10 items": ("Query", _query),
    "Scan, 100 items": ("Scan", _scan),
    "BatchGetItem, 25": ("BatchGetItem", _batch_get),
    "BatchWriteItem, 25": ("BatchWriteItem", _batch_write),
    "TransactWriteItems, 4": ("TransactWriteItems", _transact_write),
}


def reads_and_writes() -> list[bytes]:
    """Return half GetItem, half PutItem."""
    messages = [message("GetItem", _get(number)) for number in range(KEYS)]
    return messages + [message("PutItem", _put(number)) for number in range(KEYS)]


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
    """What came of sending messages for a while."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    errors: int = 0
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.latencies) / self.seconds

    @property
    def processor_us(self) -> float:
        """Processor time of a request, in microseconds."""
        return self.processor_seconds / max(1, len(self.latencies)) * 1e6

    def percentile_ms(self, share: float) -> float:
        """Return the latency that so many requests stay below."""
        return sorted(self.latencies)[int(len(self.latencies) * share)] * 1e3


#: What a row says of a load.
FIGURES = ["requests/s", "p50 ms", "p99 ms", "CPU us", "errors"]


@dataclass
class Turns:
    """A server's turns under one load, and ours of the same rounds."""

    loads: list[Load]
    ours: list[Load]

    def figures(self) -> list[str]:
        """Return the cells of ``FIGURES``: medians of the turns, with ratios to ours."""
        return [
            self._cell(lambda load: load.rate, ",.0f"),
            self._cell(lambda load: load.percentile_ms(0.5), ".2f"),
            self._cell(lambda load: load.percentile_ms(0.99), ".2f"),
            self._cell(lambda load: load.processor_us, ".0f"),
            f"{sum(load.errors for load in self.loads)}",
        ]

    def _cell(self, figure: Callable[[Load], float], form: str) -> str:
        values, units = [figure(load) for load in self.loads], [figure(load) for load in self.ours]
        if not all(units):
            return "-"
        ratio = statistics.median(one / unit for one, unit in zip(values, units, strict=True))
        return f"{statistics.median(values):{form}} ({ratio:.2f})"


def taken_in_turns(
    servers: dict[str, Server], connections: int, seconds: float, messages: list[bytes]
) -> dict[str, Turns]:
    """Send the same messages to every server for so long, in turns."""
    loads: dict[str, list[Load]] = {name: [] for name in servers}
    for _ in range(TURNS):
        for name, server in servers.items():
            before = processor_seconds(server.pid)
            load = apply_load(server.port, connections, seconds / TURNS, messages)
            load.processor_seconds = processor_seconds(server.pid) - before
            loads[name].append(load)
    return {name: Turns(taken, loads[OURS]) for name, taken in loads.items()}


def apply_load(port: int, connections: int, seconds: float, messages: list[bytes]) -> Load:
    """Send messages over many connections for a while, at least until one is answered."""
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
        while time.perf_counter() < start + seconds or not load.latencies:
            for key, _ in selector.select(timeout=1):
                key.data.listen(load)
        load.seconds = time.perf_counter() - start
    return load


_LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


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
        received = self.connection.recv(262_144)
        if not received:
            raise ConnectionError("the server closed a connection in use")
        self.received = self.received + received if self.received else received
        if is_whole(self.received):
            load.latencies.append(time.perf_counter() - self.asked_at)
            load.errors += not self.received.startswith(b"HTTP/1.1 200")
            self.ask()


def is_whole(received: bytes | bytearray) -> bool:
    """Say whether an answer has arrived to its end."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return False
    length = _LENGTH.search(received, 0, end)
    if length is None:
        return received.endswith(b"0\r\n\r\n")
    return len(received) - end - 4 >= int(length[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each step")
    parser.add_argument("--only", metavar="SERVER", help="beside ours")
    main(**vars(parser.parse_args()))
