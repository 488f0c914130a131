"""Crashes: kills at random points of saving and of serving, and disks that are full.

    python -m benchmarks.reliability.crashes [--kills 100] [--seed 0]

Three experiments, each many times over:

- a process saves again and again, and says so after each time; it is killed somewhere in between;
- a server with a snapshot file is filled over HTTP, told to stop, and killed while it saves;
- saving meets a disk on which there is room for some bytes only (a limit on the size of files).

What must hold every time: the file can be loaded, it has everything that was said to be saved, and
the next save leaves nothing beside it. A kill takes the process and not the disk: what a loss of
power does to data that was synced is the disk's promise, not ours.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import table as print_table
from benchmarks.servers import HEADERS
from emulator import Emulator
from emulator.testing.table_notation import create_request

#: Enough items that most of the time is spent inside a save.
ITEMS = 400
TABLE = create_request("kept", "pk")
PATIENCE_SECONDS = 60
MODULE = "benchmarks.reliability.crashes"
ROOT = Path(__file__).parents[2]


Call = Callable[[str, dict[str, Any]], Any]


class Outcome(NamedTuple):
    """What one crash left behind.

    Attributes:
        kept: The generation that the file has.
        promised: The last that was said to be saved.
        leftovers: Temporary files beside it.
    """

    kept: int
    promised: int
    leftovers: int

    @property
    def is_lost(self) -> bool:
        """Whether something is missing that was said to be saved."""
        return self.kept < self.promised


# A database that says which generation it is


def fill(call: Call, generation: int, items: int) -> None:
    """Write a generation: every item carries its number."""
    padding = "x" * 500
    for number in range(items):
        item = {
            "pk": {"S": str(number)},
            "generation": {"N": str(generation)},
            "padding": {"S": padding},
        }
        call("PutItem", {"TableName": "kept", "Item": item})


def generation_of(path: Path, items: int) -> int:
    """Return the generation that a file has, all of it.

    Raises:
        EmulatorError: it cannot be loaded.
        AssertionError: it has parts of several generations.
    """
    kept = Emulator.load(path).call("Scan", {"TableName": "kept"})["Items"]
    generations = {int(item["generation"]["N"]) for item in kept}
    assert len(kept) == items, f"{path} has {len(kept)} items of {items}"
    assert len(generations) == 1, f"{path} has parts of {generations}"
    return generations.pop()


def leftovers(path: Path) -> int:
    """Return how many temporary files lie beside a file."""
    return sum(other != path for other in path.parent.iterdir())


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Give a folder with the file of generation 0."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / "data.snapshot"


def first_generation(path: Path, items: int) -> None:
    """Save generation 0."""
    emulator = Emulator()
    emulator.call("CreateTable", TABLE)
    fill(emulator.call, 0, items)
    emulator.save(path)


# Saving


def save_for_ever(path: Path, items: int, generation: int) -> None:
    """Save one generation after the other, and say so after each; runs in a process of its own."""
    emulator = Emulator.load(path)
    while True:
        generation += 1
        fill(emulator.call, generation, items)
        emulator.save(path)
        print(generation, flush=True)


def kill_a_save(path: Path, chance: random.Random, items: int = ITEMS) -> Outcome:
    """Kill a process that saves, at a random moment after it has begun."""
    promised = generation_of(path, items)
    command = [sys.executable, "-m", MODULE, "--save", str(path)]
    command += ["--items", str(items), "--generation", str(promised)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        promised = int(process.stdout.readline())
        time.sleep(chance.random() * 0.2)
        process.kill()
        said = process.stdout.read().split()
    promised = max([promised, *map(int, said)])
    return Outcome(generation_of(path, items), promised, leftovers(path))


# Serving


@contextlib.contextmanager
def server(path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a server with a snapshot file; give its process and its port."""
    command = [sys.executable, "-m", "emulator", "serve", "--port", "0", "--snapshot", str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().partition("http://")[2].split()[0]
            yield process, int(url.rpartition(":")[2])
        finally:
            process.kill()


@contextlib.contextmanager
def client(port: int) -> Iterator[Call]:
    """Give what sends a request over one connection; its answer must be a success."""
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    ) as connection:

        def call(operation: str, request: dict[str, Any]) -> None:
            headers = HEADERS | {"X-Amz-Target": f"DynamoDB_20120810.{operation}"}
            connection.request("POST", "/", json.dumps(request), headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == http.HTTPStatus.OK, answer.status

        yield call


def kill_a_server(path: Path, chance: random.Random, items: int = ITEMS) -> Outcome:
    """Fill a server, tell it to stop, and kill it once it has begun to save."""
    promised = generation_of(path, items)
    with server(path) as (process, port):
        with client(port) as call:
            fill(call, promised + 1, items)
        before = set(path.parent.iterdir())
        process.send_signal(signal.SIGTERM)
        ends = time.monotonic() + PATIENCE_SECONDS
        while set(path.parent.iterdir()) == before and process.poll() is None:
            assert time.monotonic() < ends, "the server does not stop"
            time.sleep(0.0002)
        time.sleep(chance.choice([0, chance.random() * 0.02]))
        process.kill()
        assert process.stdout is not None
        said = process.stdout.read()
    if said.startswith("saved"):
        promised += 1
    return Outcome(generation_of(path, items), promised, leftovers(path))


# Full disks


def save_within(path: Path, items: int, generation: int, room: int) -> None:
    """Save a generation where files can have so many bytes; runs in a process of its own."""
    emulator = Emulator.load(path)
    fill(emulator.call, generation, items)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        emulator.save(path)
    except OSError as error:
        sys.exit(f"refused: {error}")
    print(generation, flush=True)


def fill_a_disk(path: Path, chance: random.Random, items: int = ITEMS) -> Outcome:
    """Save where there is room for a random part of the file, or just for all of it."""
    promised = generation_of(path, items)
    room = chance.choice([chance.randrange(path.stat().st_size), 2 * path.stat().st_size])
    command = [sys.executable, "-m", MODULE, "--save", str(path), "--room", str(room)]
    command += ["--items", str(items), "--generation", str(promised + 1)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode == 0:
        promised = int(run.stdout)
    else:
        assert run.stderr.startswith("refused: "), run.stderr
    return Outcome(generation_of(path, items), promised, leftovers(path))


EXPERIMENTS = {
    "a save is killed": kill_a_save,
    "a server is killed while it saves": kill_a_server,
    "the disk is full": fill_a_disk,
}


# The command


def repeat(name: str, times: int, seed: int, items: int = ITEMS) -> Counter[str]:
    """Repeat an experiment on one file; return what was counted."""
    chance = random.Random(f"{seed}/{name}")
    counts: Counter[str] = Counter()
    with folder() as path:
        first_generation(path, items)
        for _ in range(times):
            before = generation_of(path, items)
            outcome = EXPERIMENTS[name](path, chance, items)
            counts["crashes"] += 1
            counts["lost"] += outcome.is_lost
            counts["the new file"] += outcome.kept > before
            counts["the old file"] += outcome.kept == before
            counts["leftovers"] += outcome.leftovers
        first_generation(path, items)
        counts["left after the next save"] = leftovers(path)
    return counts


COLUMNS = (
    "crashes",
    "the new file",
    "the old file",
    "lost",
    "leftovers",
    "left after the next save",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="of each experiment")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--items", type=int, default=ITEMS)
    for name in ("--save", "--generation", "--room"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.room is not None:
        save_within(Path(given.save), given.items, int(given.generation), int(given.room))
        return 0
    if given.save is not None:
        save_for_ever(Path(given.save), given.items, int(given.generation))
    rows, lost = [], 0
    for name in EXPERIMENTS:
        counts = repeat(name, given.kills, given.seed, given.items)
        rows.append([name, *(str(counts[column]) for column in COLUMNS)])
        lost += counts["lost"] + counts["left after the next save"]
    print_table("What crashes leave behind", ["", *COLUMNS], rows)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
