"""Unread answers: waves of clients that ask for pages and never read, and the server's memory.

    python -m benchmarks.reliability.unread [--waves 10] [--connections 1000]

Every client of a wave opens a connection, sends six requests at once and reads nothing. The waves
take turns: pages of 1 MB; the same, asking to close; pages of 300 KB; and requests of which the
last byte never comes. When the server has nothing left to do, all connections are closed.

What must hold: at no time does the process have more than 64 MiB above what it had at first and
the bytes that it may hold for its clients; after each wave it comes back to within 64 MiB of what
it had at first; and a client that reads is answered after each wave.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import table as print_table
from benchmarks.server_load import message, resident_mib
from benchmarks.servers import Server, running
from emulator.http.server import ServerOptions
from emulator.service import limits
from emulator.testing.table_notation import create_request

#: What the process may have above the limit, and above its beginning after a wave.
MARGIN_MIB = 64
LIMIT_MIB = ServerOptions().held_bytes / limits.MIB
PIPELINED = 6
#: A wave is over when the server has slept at every look for this time; it gets this time at most.
QUIET_SECONDS = 1.0
PATIENCE_SECONDS = 60.0
SAMPLED_EVERY_SECONDS = 0.01
RECEIVED_BYTES = 4_096

ITEMS, ITEM_BYTES = 45, 23_000
SCAN = {"TableName": "large"}


def _closing(request: bytes) -> bytes:
    return request.replace(b"\r\nHost:", b"\r\nConnection: close\r\nHost:", 1)


def attacks() -> dict[str, bytes]:
    """Return what the clients of each kind of wave send."""
    page = message("Scan", SCAN)
    short = message("Scan", SCAN | {"Limit": 13})
    upload = message("PutItem", SCAN | {"Item": {"pk": {"S": "x" * limits.MIB}}})
    return {
        "1 MB": page * PIPELINED,
        "1 MB, then close": _closing(page) * PIPELINED,
        "300 KB": short * PIPELINED,
        "unfinished": upload[:-1],
    }


class Wave(NamedTuple):
    """What a wave did to the process: its memory at most and afterwards, and clients it kept."""

    attack: str
    most_mib: float
    after_mib: float
    kept: int


def fill(server: Server) -> None:
    """Make a table whose pages have about 1 MB."""
    server.call("CreateTable", create_request("large", "pk"))
    for number in range(ITEMS):
        item = {"pk": {"S": str(number)}, "text": {"S": "x" * ITEM_BYTES}}
        server.call("PutItem", {"TableName": "large", "Item": item})
    server.call("Scan", SCAN)


def memory_mib(server: Server) -> float:
    """Return the memory of the server's process.

    Raises:
        OSError: the system does not tell.
    """
    mib = resident_mib(server.pid)
    if mib is None:
        raise OSError("the memory of a process is read from /proc, which is not there")
    return mib


def play(server: Server, attack: str, sent: bytes, connections: int) -> Wave:
    """Send a wave, and return what it did."""
    most, others = memory_mib(server), _open_files(server)
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            client = stack.enter_context(socket.socket())
            # The system would keep an answer of 1 MB for the client.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
            client.connect(("127.0.0.1", server.port))
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                client.sendall(sent)
            most = max(most, memory_mib(server))
        for mib in _until_idle(server):
            most = max(most, mib)
        kept = _open_files(server) - others
    after = [*_until_idle(server)]
    server.call("Scan", SCAN)
    return Wave(attack, max(most, *after), after[-1], kept)


def _until_idle(server: Server) -> Iterator[float]:
    """Yield the memory of the process until it has had nothing to do for a while."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    idle_from = time.monotonic()
    while time.monotonic() < min(idle_from + QUIET_SECONDS, ends_at):
        time.sleep(SAMPLED_EVERY_SECONDS)
        yield memory_mib(server)
        if not _sleeps(server):  # it works, or waits for a processor that others use
            idle_from = time.monotonic()


def _sleeps(server: Server) -> bool:
    status = Path(f"/proc/{server.pid}/stat").read_text(encoding="utf-8")
    return status.rpartition(")")[2].split()[0] == "S"


def _open_files(server: Server) -> int:
    return sum(1 for _ in Path(f"/proc/{server.pid}/fd").iterdir())


def judged(waves: Sequence[Wave], first_mib: float) -> list[str]:
    """Return a sentence for each wave that did what must not be."""
    complaints = []
    for number, wave in enumerate(waves, 1):
        if wave.most_mib > first_mib + LIMIT_MIB + MARGIN_MIB:
            complaints.append(f"wave {number}: {wave.most_mib:.0f} MiB at most")
        if wave.after_mib > first_mib + MARGIN_MIB:
            complaints.append(f"wave {number}: {wave.after_mib:.0f} MiB afterwards")
    return complaints


def run(waves: int, connections: int) -> tuple[float, list[Wave]]:
    """Attack a server; return its memory at first, and what each wave did."""
    kinds = list(attacks().items())
    with running("dynamometer") as server, contextlib.closing(server.call.connection):
        fill(server)
        first = memory_mib(server)
        played = [
            play(server, *kinds[number % len(kinds)], connections=connections)
            for number in range(waves)
        ]
    return first, played


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--waves", type=int, default=10)
    parser.add_argument("--connections", type=int, default=1_000)
    given = parser.parse_args()
    first, waves = run(given.waves, given.connections)
    rows = [
        [
            str(number),
            wave.attack,
            f"{wave.most_mib:.0f}",
            f"{wave.after_mib:.0f}",
            str(wave.kept),
        ]
        for number, wave in enumerate(waves, 1)
    ]
    print_table(
        f"{given.connections:,} clients that read nothing, in each wave; {first:.0f} MiB at first",
        ["wave", "answers", "MiB at most", "MiB afterwards", "clients kept"],
        rows,
    )
    complaints = judged(waves, first)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
