"""The whole of it, on a project of one function."""

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = """
def fits(size):
    return size <= 10

def spin(count):
    while count > 0:
        count -= 1
    return count
"""
TESTS = """
from importlib import import_module

def sizes():  # loaded late, as some of ours is
    return import_module("emulator.room.sizes")

def test_small(): assert sizes().fits(3)
def test_large(): assert not sizes().fits(30)
def test_spin(): assert sizes().spin(3) == 0
"""
COMMAND = """
import json
from pathlib import Path
import pytest
from benchmarks.mutants.covering import CoveringTests
from benchmarks.mutants.mutations import of_file
from benchmarks.mutants import trials as module

root, path = Path.cwd(), "emulator/room/sizes.py"
mutants = of_file(path, Path(path).read_text())
covering = CoveringTests(root / "map", root, [path])
verdicts = []
module.PATIENCE_SECONDS = 0.3
trials = module.Trials(root, mutants, covering, 5.0, 2, verdicts.append)
pytest.main(["-q", "-s", "-p", "no:cacheprovider", "tests"], plugins=[trials])
print(json.dumps({f'{v.mutant.before} -> {v.mutant.after}': (v.outcome, v.test) for v in verdicts}))
"""
HERE = "tests/room/test_sizes.py"


def test_mutants_are_killed_hang_or_survive(tmp_path):
    for file, text in {
        "emulator/__init__.py": "",
        "emulator/room/__init__.py": "",
        "emulator/room/sizes.py": SOURCE,
        HERE: TESTS,
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    home = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{home}", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "return size <= 10 -> return None": ["killed", f"{HERE}::test_small"],
        "return size <= 10 -> return size < 10": ["survived", "2 of 2 tests, 0.0 s"],
        "return size <= 10 -> return size <= 11": ["survived", "2 of 2 tests, 0.0 s"],
        "while count > 0: -> while count >= 0:": ["killed", f"{HERE}::test_spin"],
        "while count > 0: -> while count > 1:": ["killed", f"{HERE}::test_spin"],
        "count -= 1 -> pass": ["timed out", "SIGPROF"],
        "count -= 1 -> count -= 2": ["killed", f"{HERE}::test_spin"],
        "return count -> return None": ["killed", f"{HERE}::test_spin"],
    }
