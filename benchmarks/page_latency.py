"""(g) How long a server keeps others waiting while it makes somebody a page of 1 MB.

    python -m benchmarks.page_latency [--pages 40]

One connection asks for whole pages of a Query, with pauses; a second asks for one item at a time,
as fast as it is answered, and the longest that it waited beside each page counts. CPU is the
processor time that the server takes for a page. Our server does one thing at a time, so that is
how long a page holds up the others on a machine where nobody else is at work. The lanes are ours
with the extra ``fast`` (orjson), ours without it, and the servers that are installed.
Targets: a wait of 20 ms with ``fast``, of 60 ms without.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import sys
import threading
import time
from importlib.util import find_spec

from benchmarks.measure import table
from benchmarks.server_load import is_whole, message, processor_seconds
from benchmarks.servers import Server, commands, installed, running
from benchmarks.workbench import definition, item

ITEMS = 3_000  # of 350 bytes: a page of 1 MB, and some more
PAUSE_SECONDS = 0.02  # between two pages
#: Ours, as ``dynamometer`` starts it, where nothing finds orjson.
WITHOUT_FAST = (
    "import sys; sys.modules['orjson'] = None; from emulator.__main__ import main; main()"
)
ONE = message(
    "GetItem",
    {"TableName": "bench", "Key": {"pk": {"S": "all"}, "sk": {"S": "order#000000001"}}},
)
PAGE = message(
    "Query",
    {
        "TableName": "bench",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "all"}},
    },
)


def main(pages=40):
    rows = []
    for name, command in lanes().items():
        with running(name, command) as server:
            fill(server)
            alone = processor_seconds_of_a_page(server, pages)
            usual, waits = waits_beside_pages(server, pages)
            figures = alone, usual, statistics.median(waits), max(waits)
            rows.append([name, *(f"{seconds * 1e3:.1f}" for seconds in figures)])
    table(
        "One item, asked for while pages of 1 MB are made: ms",
        ["server", "CPU of a page", "usual wait", "wait beside a page", "longest"],
        rows,
    )
    return rows


def lanes():
    """Return by name what takes a port and returns a command; ours is there twice."""
    plain = [sys.executable, "-c", WITHOUT_FAST, "serve", "--port"]
    found = {"dynamometer, fast": lambda port: commands(port)["dynamometer"]}
    if find_spec("orjson") is None:
        print("  orjson: not installed, skipped")
        found = {}
    found["dynamometer"] = lambda port: [*plain, str(port)]
    for name in installed():
        if name not in ("dynamometer", "moto server"):
            found[name] = lambda port, name=name: commands(port)[name]
    return found


def fill(server: Server) -> None:
    """Make the table, all in one item collection."""
    server.call("CreateTable", definition(indexes=0))
    while server.call("DescribeTable", {"TableName": "bench"})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.1)
    for start in range(0, ITEMS, 25):
        numbers = range(start, start + 25)
        puts = [{"PutRequest": {"Item": item(number, 0, "all")}} for number in numbers]
        server.call("BatchWriteItem", {"RequestItems": {"bench": puts}})


def processor_seconds_of_a_page(server: Server, pages: int) -> float:
    """Return what the server takes for a page when nobody else asks."""
    with connected(server) as connection:
        exchange(connection, PAGE)
        before = processor_seconds(server.pid)
        for _ in range(pages):
            exchange(connection, PAGE)
        return (processor_seconds(server.pid) - before) / pages


def waits_beside_pages(server: Server, pages: int) -> tuple[float, list[float]]:
    """Return how long an item takes usually, and the longest beside each page, in seconds."""
    spans: list[tuple[float, float]] = []

    def turn_pages() -> None:
        with connected(server) as connection:
            for _ in range(pages):
                time.sleep(PAUSE_SECONDS)
                begun = time.perf_counter()
                exchange(connection, PAGE)
                spans.append((begun, time.perf_counter()))

    turner = threading.Thread(target=turn_pages)
    turner.start()
    asked: list[tuple[float, float]] = []
    with connected(server) as connection:
        while turner.is_alive():
            begun = time.perf_counter()
            exchange(connection, ONE)
            asked.append((begun, time.perf_counter()))
    waits = [
        max((end - start for start, end in asked if end > begun and start < done), default=0.0)
        for begun, done in spans
    ]
    return statistics.median(end - start for start, end in asked), waits


def connected(server: Server) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def exchange(connection: socket.socket, request: bytes) -> None:
    """Ask, and wait for the whole answer."""
    connection.sendall(request)
    pieces = bytearray()
    while not is_whole(pieces):
        received = connection.recv(2**20)
        if not received:
            raise ConnectionError("the server closed a connection in use")
        pieces += received


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=40)
    main(parser.parse_args().pages)
