"""(a) What Emulator.call costs on every interpreter that the machine has.

    python -m benchmarks.interpreters [--rounds 3] [PYTHON ...]

CPython from 3.11 on, on the PATH and among pyenv's versions, or those that are named. Each gets an
environment of its own with what we depend on, in a folder that goes away, so packages are
downloaded. The interpreters take turns in fresh processes; a figure is the best of all batches, in
microseconds of processor time, with its ratio to the first column. How an interpreter was built
matters as much as its version: one without profile-guided optimisation is a quarter slower.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import table

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
SCRIPT = """
import gc, json, time
from benchmarks.workbench import filled, requests
emulator = filled(100, partition="user#1")
gc.disable()
best = {}
for operation, make in requests(at=50).items():
    for _ in range(12):
        asked = [make() for _ in range(20)]
        began = time.process_time_ns()
        for request in asked:
            emulator.call(operation, request)
        taken = (time.process_time_ns() - began) / 20_000
        best[operation] = min(taken, best.get(operation, taken))
    gc.collect()
print(json.dumps(best))
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
        best: dict[str, dict[str, float]] = {label: {} for label in environments}
        for _ in range(rounds):
            for label, python in environments.items():
                for operation, taken in measured(python).items():
                    best[label][operation] = min(taken, best[label].get(operation, taken))
    first = next(iter(best.values()))
    rows = [
        [operation, *(_cell(taken[operation], unit) for taken in best.values())]
        for operation, unit in first.items()
    ]
    title = "Emulator.call by interpreter: us (ratio to the first)"
    table(title, ["operation", *best], rows)
    return {"names": list(best), "rows": rows}


def _cell(taken: float, unit: float) -> str:
    return f"{taken:.1f} ({taken / unit:.2f})"


def found() -> list[str]:
    """Return the interpreters of the PATH and of pyenv, this one first."""
    minors = range(OLDEST[1], OLDEST[1] + 10)
    on_path = [shutil.which(f"python3.{minor}") for minor in minors]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = sorted(map(str, pyenv.glob("*/bin/python3")))
    return [sys.executable, *filter(None, on_path), *installed]


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
    """Return the interpreter of a new environment with what we depend on, or None."""
    project = (ROOT / "pyproject.toml").read_text()
    needed = re.findall(r'"([^"]+)"', project.partition("\ndependencies = [")[2].partition("]")[0])
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


def measured(python: str) -> dict[str, float]:
    """Return the microseconds of each operation in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    output = subprocess.check_output([python, "-c", SCRIPT], text=True, env=environment)
    found: dict[str, float] = json.loads(output)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    main(**vars(parser.parse_args()))
