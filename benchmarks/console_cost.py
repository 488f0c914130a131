"""What an open console costs the server, at 64 connections.

    python -m benchmarks.console_cost                   ten rounds of three seconds each way
    python -m benchmarks.console_cost --partitions 0    on demand, where such a load throttles
    python -m benchmarks.console_cost --instructions    counted with callgrind instead

The load is that of ``benchmarks.server_load``. Rounds with the console closed and with one open
take turns; the open one asks as the page does, watching the table that the load is on. What counts
is the processor time of the server for one request, from /proc, which neighbours do not stretch,
as the ratio within a pair of rounds; requests per second are told besides. Then: what an answer to
a console takes, and what of it a pushed event would save, which is reading the request. On a
busy machine only instructions tell: those of a request from its bytes to the answer's, without the
event loop and the system, so the share that they give is above the one of the whole server.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import table
from benchmarks.server_load import KEYS, TABLE, apply_load, reads_and_writes
from benchmarks.servers import running
from emulator import Emulator, ManualClock
from emulator.http.http_protocol import HttpRequest, RequestParser
from emulator.http.server import HttpServer, ServerOptions

CONNECTIONS = 64
NAMESPACE = "local/us-east-1"
COUNTED = (500, 2500)
TICKS = os.sysconf("SC_CLK_TCK")


def main(rounds: int = 10, seconds: float = 3.0, partitions: int = 24) -> None:
    """Compare the server with a console closed and open."""
    with running("dynamometer") as server:
        server.call("CreateTable", _table(partitions))
        messages = reads_and_writes()
        apply_load(server.port, 16, seconds, messages)
        pairs = []
        for number in range(rounds):
            lanes = [False, True] if number % 2 else [True, False]
            pairs.append({is_open: _round(server, is_open, seconds, messages) for is_open in lanes})
    rows = []
    for is_open, name in ((False, "closed"), (True, "open")):
        cpu = statistics.median(pair[is_open][0] for pair in pairs)
        rate = statistics.median(pair[is_open][1] for pair in pairs)
        rows.append([name, f"{cpu * 1e6:.1f}", f"{rate:,.0f}"])
    table(
        f"A console at {CONNECTIONS} connections, {rounds} rounds of {seconds:g} s each way",
        ["console", "server us/request", "requests/s"],
        rows,
    )
    dearer = [pair[True][0] / pair[False][0] for pair in pairs]
    slower = [pair[True][1] / pair[False][1] for pair in pairs]
    print(f"processor time, open to closed: {_spread(dearer)}")
    print(f"requests/s, open to closed:     {_spread(slower)}")
    _answers(partitions)


def _spread(ratios: list[float]) -> str:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} (half of the rounds between {low:.3f} and {high:.3f})"


def _table(partitions: int) -> dict:
    """Return the table of the load; many partitions come with as much provisioned capacity."""
    if not partitions:
        return TABLE
    units = {"ReadCapacityUnits": partitions * 900, "WriteCapacityUnits": partitions * 700}
    without_mode = {name: value for name, value in TABLE.items() if name != "BillingMode"}
    return without_mode | {"ProvisionedThroughput": units}


def _round(server, is_open: bool, seconds: float, messages) -> tuple[float, float]:
    """Return the server's processor time for a request, and the requests of a second."""
    with _console(server.port) if is_open else _nobody(server.port):
        before = _processor_seconds(server.pid)
        load = apply_load(server.port, CONNECTIONS, seconds, messages)
        spent = _processor_seconds(server.pid) - before
    return spent / len(load.latencies), len(load.latencies) / load.seconds


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def _nobody(_port: int):
    yield


@contextmanager
def _console(port: int):
    """Ask as an open page does, until the block ends."""
    ended = threading.Event()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask() -> None:
        since = since_event = number = 0
        while not ended.is_set():
            spending = {"spending": 1} if number % 3 == 0 else {}
            query = {"since": since, "since_event": since_event, **spending}
            answer = _fed(connection, query)
            since = answer["last"]
            since_event = max((event["number"] for event in answer["events"]), default=since_event)
            number += 1
            ended.wait(answer["again"])
        connection.request("DELETE", "/_emulator/console/feed?console=benchmark")
        connection.getresponse().read()
        connection.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


def _fed(connection, query: dict) -> dict:
    connection.request("GET", _target(query))
    answer: dict = json.loads(connection.getresponse().read())
    return answer


def _target(query: dict) -> str:
    watched = {"console": "benchmark", "namespace": NAMESPACE, "table": TABLE["TableName"]}
    return f"/_emulator/console/feed?{urllib.parse.urlencode(watched | query)}"


def _answers(partitions: int) -> None:
    """Tell what one answer takes after a busy second, and what of that is reading the request."""
    emulator = Emulator()
    server = HttpServer(emulator, ServerOptions(keys_apart=True))
    emulator.call("CreateTable", _table(partitions), access_key="local")
    asked = HttpRequest("GET", _target({"spending": 1}), {})
    server.answer(asked, keep_alive=True)
    requests = [_read(text) for text in reads_and_writes()]
    whole, reading = [], []
    for number in range(30):
        for request in requests:
            server.answer(request, keep_alive=True)
        text = _get(_target({"spending": 1, "since": 0 if number else 1}))
        started = time.process_time()
        parsed = _read(text)
        reading.append(time.process_time() - started)
        server.answer(parsed, keep_alive=True)
        whole.append(time.process_time() - started)
    took, read = statistics.median(whole) * 1e3, statistics.median(reading) * 1e3
    print(
        f"one answer after {2 * KEYS:,} requests: {took:.2f} ms, of which reading the request "
        f"{read:.3f} ms ({read / took:.1%})"
    )


def count_instructions() -> None:
    """Tell the instructions of a request, with the console closed and with one open."""
    if shutil.which("valgrind") is None:
        print("valgrind: not installed, instructions are not counted")
        return
    runs = {name: [_counted(name, requests) for requests in COUNTED] for name in ("closed", "open")}
    each = {name: (many - few) / (COUNTED[1] - COUNTED[0]) for name, (few, many) in runs.items()}
    for name, instructions in each.items():
        print(f"console {name}: {instructions:,.0f} instructions a request")
    print(f"open to closed: {each['open'] / each['closed']:.3f}")


def _counted(console: str, requests: int) -> int:
    """Return the instructions of a run with so many requests."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    arguments = ["-m", "benchmarks.console_cost", "--console", console, "--requests", str(requests)]
    done = subprocess.run(
        command + arguments,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    return int(done.stderr.rpartition("Collected : ")[2].split()[0])


def answer_some(console: str, requests: int) -> None:
    """Answer requests from their bytes, in this process; a console asks once, at the start."""
    clock = ManualClock()
    emulator = Emulator(clock=clock)
    server = HttpServer(emulator, ServerOptions(keys_apart=True))
    emulator.call("CreateTable", _table(24), access_key="local")
    texts = reads_and_writes()
    for text in texts:
        server.answer(_read(text), keep_alive=True)
    if console == "open":
        server.answer(_read(_get(_target({"spending": 1}))), keep_alive=True)
    for number, text in enumerate(itertools.islice(itertools.cycle(texts), requests)):
        if number % 20 == 0:
            clock.advance(0.02)
        server.answer(_read(text), keep_alive=True)


def _get(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n".encode()


def _read(text: bytes) -> HttpRequest:
    parser = RequestParser()
    parser.feed(text)
    request = parser.take()
    assert request is not None, text
    return request


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="each way")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a round")
    parser.add_argument("--partitions", type=int, default=24, help="of the table; 0: on demand")
    parser.add_argument("--instructions", action="store_true", help="count them with callgrind")
    parser.add_argument("--console", choices=("closed", "open"), help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.console is not None:
        answer_some(chosen.console, chosen.requests)
    elif chosen.instructions:
        count_instructions()
    else:
        main(chosen.rounds, chosen.seconds, chosen.partitions)
