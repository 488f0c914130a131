"""(a) What Emulator.call costs on every interpreter that the machine has.

    python -m benchmarks.interpreters [--rounds 3] [PYTHON ...]

CPython from 3.11 on: what the PATH has as ``python3.N`` or ``python3.N-any-name``, and pyenv's
versions, or those that are named. One that has what we depend on is taken as it is, so it may be a
script that runs an interpreter elsewhere, as in a chroot; others get an environment of their own in
a folder that goes away, so packages are downloaded.

In a round each interpreter has a fresh process. They live side by side and take turns of a few
milliseconds, as a machine's speed changes within seconds: a figure is the median turn, in
microseconds of processor time, with the median of its ratios to the first column in the same turn.
How an interpreter was built matters as much as its version: one without profile-guided optimisation
is an eighth slower.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import table

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
TURNS = 30
WORKER = """
import gc, json, sys, time
from benchmarks.workbench import filled, requests
emulator = filled(100, partition="user#1")
gc.disable()
requests = requests(at=50)
print(json.dumps(list(requests)), flush=True)
for line in sys.stdin:
    operation = line.strip()
    asked = [requests[operation]() for _ in range(8 if operation == "BatchWriteItem" else 150)]
    gc.collect()
    began = time.process_time_ns()
    for request in asked:
        emulator.call(operation, request)
    print((time.process_time_ns() - began) / len(asked) / 1000, flush=True)
"""
VERSION = "import sys; print(json.dumps([*sys.version_info[:3], sys.implementation.name]))"


def main(rounds=3, pythons=()):
    with tempfile.TemporaryDirectory() as folder:
        environments = {}
        for label, python in named(pythons or found()).items():
            made = environment(python, Path(folder) / label)
            if made is None:
                print(f"  {label}: no environment could be made for {python}, skipped")
            else:
                environments[label] = made
        turns: dict[str, list[dict[str, float]]] = {}
        for _ in range(rounds):
            for operation, taken in measured(environments):
                turns.setdefault(operation, []).append(taken)
    rows = [
        [operation, *(_cell(taken, label, next(iter(environments))) for label in environments)]
        for operation, taken in turns.items()
    ]
    title = "Emulator.call by interpreter: us (ratio to the first)"
    table(title, ["operation", *environments], rows)
    return {"names": list(environments), "rows": rows}


def _cell(turns: list[dict[str, float]], label: str, first: str) -> str:
    median = statistics.median(taken[label] for taken in turns)
    ratio = statistics.median(taken[label] / taken[first] for taken in turns)
    return f"{median:.1f} ({ratio:.2f})"


def found() -> list[str]:
    """Return the interpreters of the PATH and of pyenv, this one first."""
    folders = map(Path, os.get_exec_path())
    files = [file for folder in folders for file in sorted(folder.glob("python3.*"))]
    name = re.compile(r"python3\.\d+(-(?!config$)[\w-]+)?")
    on_path = [str(file) for file in files if name.fullmatch(file.name)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = sorted(map(str, pyenv.glob("*/bin/python3")))
    return [sys.executable, *on_path, *installed]


def named(pythons) -> dict[str, str]:
    """Return the interpreters that run and are new enough: of each version the first."""
    versions: dict[tuple[int, ...], str] = {}
    for python in pythons:
        with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
            command = [python, "-c", f"import json; {VERSION}"]
            answer = subprocess.run(command, check=True, capture_output=True, timeout=60)
            *version, implementation = json.loads(answer.stdout)
            if implementation == "cpython" and tuple(version) >= OLDEST:
                versions.setdefault(tuple(version), python)
    ordered = sorted(versions)
    return {".".join(map(str, version)): versions[version] for version in ordered}


def environment(python: str, folder: Path) -> str | None:
    """Return the interpreter with what we depend on, or that of a new environment, or None."""
    project = (ROOT / "pyproject.toml").read_text()
    needed = re.findall(r'"([^"]+)"', project.partition("\ndependencies = [")[2].partition("]")[0])
    modules = ", ".join(re.findall(r"\w+", name)[0] for name in needed)
    if not subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode:
        return python
    inside = str(folder / "bin" / "python")
    try:
        # Not all systems have ``venv`` for each of their interpreters.
        subprocess.run(
            [sys.executable, "-m", "virtualenv", "-q", "-p", python, str(folder)],
            check=True,
            timeout=120,
        )
        subprocess.run([inside, "-m", "pip", "install", "-q", *needed], check=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        return None
    return inside


def measured(pythons: dict[str, str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the microseconds of one turn after the other: an operation, and label to figure."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with contextlib.ExitStack() as stack:
        workers = {
            label: stack.enter_context(
                subprocess.Popen(
                    [python, "-c", WORKER],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment,
                )
            )
            for label, python in pythons.items()
        }
        operations, *_ = [json.loads(_answer(worker)) for worker in workers.values()]
        for operation in operations:
            for turn in range(TURNS + 1):
                taken = {label: float(_answer(workers[label], operation)) for label in workers}
                if turn:  # the first warms up
                    yield operation, taken


def _answer(worker: subprocess.Popen[str], asked: str | None = None) -> str:
    assert worker.stdin is not None
    assert worker.stdout is not None
    if asked is not None:
        print(asked, file=worker.stdin, flush=True)
    return worker.stdout.readline()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    main(**vars(parser.parse_args()))
