"""(g) How long a server keeps others waiting while it makes somebody a page of 1 MB.

    python -m benchmarks.page_latency [--pages 40]

One connection asks for whole pages of a Query, with pauses; a second asks for one item at a time,
as fast as it is answered, and the longest that it waited beside each page counts. CPU is the
processor time that the server takes for a page. The lanes are ours with the extra ``fast``
(orjson), ours without it, and the servers that are installed. Then, of ours in this process: the
processor time of the longest turn of its loop while a page is made, in which it looks at nobody
else. That is the wait on a machine where nobody else is at work; on a busy one the first table
tells more of the neighbours. The same of a page while requests are logged, and of other answers
that may be long. Targets: a wait of 20 ms with ``fast``, of 60 ms without.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import sys
import threading
import time
from functools import partial
from importlib.util import find_spec
from typing import Any
from unittest import mock

from benchmarks.measure import table
from benchmarks.server_load import is_whole, message, processor_seconds
from benchmarks.servers import Server, commands, installed, running
from benchmarks.workbench import definition, item
from emulator import Emulator
from emulator.http.server import HttpServer, ServerOptions, _rare_collections
from emulator.protocol import bodies

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
            fill(server.call)
            alone = processor_seconds_of_a_page(server, pages)
            usual, waits = waits_beside_pages(server, pages)
            figures = alone, usual, statistics.median(waits), max(waits)
            rows.append([name, *(f"{seconds * 1e3:.1f}" for seconds in figures)])
    table(
        "One item, asked for while pages of 1 MB are made: ms",
        ["server", "CPU of a page", "usual wait", "wait beside a page", "longest"],
        rows,
    )
    turns = []
    for name, hidden in (("dynamometer, fast", {}), ("dynamometer", {"orjson": None})):
        if find_spec("orjson") is None and not hidden:
            continue
        with mock.patch.dict(sys.modules, hidden):
            bodies._encoder.cache_clear()
            for answer, (prepare, options) in ANSWERS.items():
                emulator = Emulator()
                request = prepare(partial(emulator.call, access_key="local"))
                taken = asyncio.run(turns_of_answers(emulator, request, options, pages))
                longest = [max(turns_of_one) for turns_of_one in taken]
                figures = min(longest), statistics.median(longest), max(longest)
                turns.append([name, answer, *(f"{seconds * 1e3:.1f}" for seconds in figures)])
    bodies._encoder.cache_clear()
    columns = ["server", "answer", "least", "median", "most"]
    table("The longest turn of the loop while an answer is made: ms of CPU", columns, turns)
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


def fill(call) -> None:
    """Make the table, all in one item collection."""
    call("CreateTable", definition(indexes=0))
    while call("DescribeTable", {"TableName": "bench"})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.1)
    for start in range(0, ITEMS, 25):
        numbers = range(start, start + 25)
        puts = [{"PutRequest": {"Item": item(number, 0, "all")}} for number in numbers]
        call("BatchWriteItem", {"RequestItems": {"bench": puts}})


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


class Sink:
    """A transport that counts what is written."""

    def __init__(self) -> None:
        self.written_bytes = 0

    def write(self, data: bytes) -> None:
        self.written_bytes += len(data)

    def is_closing(self) -> bool:
        return False

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def a_page(call) -> bytes:
    """Return the request for a page, and fill the table."""
    fill(call)
    return PAGE


def a_transaction(call) -> bytes:
    """Return a request for 4 MB, a hundred orders of 1,100 lines each."""
    call("CreateTable", definition(indexes=0))
    line = {"M": {"sku": {"S": "sku-1"}, "price": {"N": "12.5"}, "count": {"N": "2"}}}
    keys = [{"pk": {"S": "all"}, "sk": {"S": f"{number:03}"}} for number in range(100)]
    for key in keys:
        call("PutItem", {"TableName": "bench", "Item": key | {"lines": {"L": [line] * 1_100}}})
    gets = [{"Get": {"TableName": "bench", "Key": key}} for key in keys]
    return message("TransactGetItems", {"TransactItems": gets})


def some_records(call) -> bytes:
    """Return a request for the first thousand records of a stream."""
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    with_stream = definition(indexes=0) | {"StreamSpecification": stream}
    arn = call("CreateTable", with_stream)["TableDescription"]["LatestStreamArn"]
    for number in range(1_000):
        call("PutItem", {"TableName": "bench", "Item": item(number, 0, "all")})
    [shard] = call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
    first = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    iterator = call("GetShardIterator", {"StreamArn": arn} | first)["ShardIterator"]
    asked = message("GetRecords", {"ShardIterator": iterator})
    return asked.replace(b"DynamoDB_20120810", b"DynamoDBStreams_20120810")


#: What may be long: who fills the tables and returns the request, and what the server is told.
ANSWERS = {
    "Query, 1 MB": (a_page, {}),
    "Query, 1 MB, with a log": (a_page, {"log": lambda _line: None}),
    "GetRecords, 1,000": (some_records, {}),
    "TransactGetItems, 4 MB": (a_transaction, {}),
}


async def turns_of_answers(
    emulator: Emulator, request: bytes, options: dict[str, Any], answers: int
) -> list[list[float]]:
    """Return the processor time of each turn of the loop, answer by answer."""
    server = HttpServer(emulator, ServerOptions(keys_apart=True, **options))
    connection: Any = server.accept()
    sink = Sink()
    connection.connection_made(sink)
    taken: list[list[float]] = []
    with _rare_collections():
        for _ in range(answers):
            before = sink.written_bytes
            turns: list[float] = []
            connection.get_buffer(-1)[: len(request)] = request
            while sink.written_bytes == before:
                begun = time.process_time()
                if turns:
                    await asyncio.sleep(0)
                else:
                    connection.buffer_updated(len(request))
                turns.append(time.process_time() - begun)
            taken.append(turns)
    return taken


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
