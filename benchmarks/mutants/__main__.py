"""The score of the tests: which small faults, put into the code on purpose, they notice.

    python -m benchmarks.mutants [--room storage | --file FILE] [--count 300] [--seed TEXT]

Prints the score of each room and every survivor; ends with 1 if less than 97 % are killed.
"""

import argparse
import hashlib
import subprocess
import sys
import time
import tomllib
from collections import Counter
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from benchmarks.mutants import LEFT_OUT, ROOMS, TESTS
from benchmarks.mutants.covering import CoveringTests
from benchmarks.mutants.mutations import Mutant, of_file
from benchmarks.mutants.trials import Trials, Verdict

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WANTED = 0.97


def files_of(room: str) -> list[str]:
    """Return the files of a room, from the root of the project."""
    paths = sorted(path for pattern in ROOMS[room] for path in (ROOT / "emulator").glob(pattern))
    return [str(path.relative_to(ROOT)) for path in paths]


@cache
def mutants_of(file: str) -> list[Mutant]:
    """Return every mutant of a file."""
    return of_file(file, (ROOT / file).read_text())


def chosen_files(chosen: argparse.Namespace) -> dict[str, list[str]]:
    """Return the files to mutate, by room: those that were named, or all of the rooms."""
    if not chosen.file:
        return {room: files_of(room) for room in chosen.room or ROOMS}
    rooms: dict[str, list[str]] = {}
    for file in chosen.file:
        rooms.setdefault(Path(file).parts[1], []).append(file)
    return rooms


def commit() -> str:
    """Return the hash of the commit: each one draws a sample of its own."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout[:-1]


def sample(files: list[str], count: int, seed: str) -> list[Mutant]:
    """Return a sample: with the same seed, an edit of the code changes only what it touches."""

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    everything = [mutant for file in files for mutant in mutants_of(file)]
    chosen = sorted(everything, key=lot)[:count]
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.lines, mutant.choice))


def equivalents() -> dict[str, str]:
    """Return the mutants that no test can notice, by name, each with the reason."""
    entries = tomllib.loads((HERE / "equivalent.toml").read_text())["mutant"]
    return {entry["name"]: entry["reason"] for entry in entries}


def room_of(mutant: Mutant) -> str:
    """Return the room of a mutant."""
    return Path(mutant.path).parts[1]


def score(verdicts: list[Verdict]) -> float:
    """Return the share of mutants that were noticed."""
    return sum(verdict.is_killed for verdict in verdicts) / len(verdicts) if verdicts else 1.0


def table(verdicts: list[Verdict], skipped: Counter[str]) -> str:
    """Return the scores as a table."""
    lines = ["| room | mutants | equivalent | killed | survived | score |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    rooms = sorted({room_of(verdict.mutant) for verdict in verdicts})
    for room in [*rooms, "all"]:
        own = [verdict for verdict in verdicts if room in (room_of(verdict.mutant), "all")]
        equivalent = skipped.total() if room == "all" else skipped[room]
        killed = sum(verdict.is_killed for verdict in own)
        lines.append(
            f"| {room} | {len(own) + equivalent} | {equivalent} | {killed} "
            f"| {len(own) - killed} | {score(own):.1%} |"
        )
    return "\n".join(lines)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="only this room")
    parser.add_argument(
        "--file", action="append", help="only this file, such as emulator/locks.py, of any room"
    )
    parser.add_argument("--count", type=int, default=300, help="mutants of all rooms together")
    parser.add_argument("--seed", default=commit(), help="of the sample; the commit's hash if none")
    parser.add_argument("--budget", type=float, default=20.0, help="CPU seconds of tests for one")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at a time")
    parser.add_argument(
        "--tests", action="append", help="ask only these, such as tests/engine: quicker, and less"
    )
    parser.add_argument("--names", type=Path, help="only mutants that this file names, one a line")
    parser.add_argument("--map", type=Path, default=ROOT / ".mutants", help="where the map is kept")
    return parser.parse_args()


def main() -> int:
    """Try the sample, print what became of it, and return the exit code."""
    chosen = options()
    rooms = chosen_files(chosen)
    excused = equivalents()
    everything = sample([*chain.from_iterable(rooms.values())], chosen.count, chosen.seed)
    wanted = set(chosen.names.read_text().splitlines()) if chosen.names else None
    tried = [m for m in everything if m.name not in excused and (not wanted or m.name in wanted)]
    skipped = Counter(room_of(mutant) for mutant in everything if mutant.name in excused)
    began = time.monotonic()
    verdicts = run(tried, chosen)
    applied = [verdict for verdict in verdicts if verdict.outcome != "not applied"]
    print("\nSurvivors:")
    for verdict in applied:
        if not verdict.is_killed:
            print(f"- {verdict.mutant.name}  [{verdict.test}]")
    print(f"\n{table(applied, skipped)}\n")
    print(f"Seed {chosen.seed}; {time.monotonic() - began:.0f} s; ", end="")
    print(f"{len(verdicts) - len(applied)} changes could not be put in")
    files = {name.split(":", 1)[0] for name in excused}
    known = {mutant.name for file in files if (ROOT / file).exists() for mutant in mutants_of(file)}
    gone = excused.keys() - known
    for name in sorted(gone):
        print(f"equivalent.toml names a mutant that is no more: {name}")
    return 1 if score(applied) < WANTED or gone else 0


def run(mutants: list[Mutant], chosen: argparse.Namespace) -> list[Verdict]:
    """Try mutants, printing what becomes of each."""
    verdicts: list[Verdict] = []

    def report(verdict: Verdict) -> None:
        verdicts.append(verdict)
        print(f"{verdict.outcome:11} {verdict.mutant.name}  [{verdict.test}]", flush=True)

    sources = {file for room in ROOMS for file in files_of(room)} | set(chosen.file or ())
    covering = CoveringTests(chosen.map, ROOT, sources)
    trials = Trials(ROOT, mutants, covering, chosen.budget, chosen.jobs, report)
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    arguments += [f"--deselect={path}" for path in LEFT_OUT]
    tests = [str(ROOT / path) for path in chosen.tests or TESTS]
    pytest.main([*arguments, *tests], plugins=[trials])
    for test in covering.failed:
        print(f"fails without a mutant, and was not asked: {test}")
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
