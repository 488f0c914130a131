"""Which tests execute which lines, and how long each takes: measured once, and kept in a folder."""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from coverage import Coverage
from coverage.sqldata import CoverageData

from benchmarks.mutants.mutations import Mutant

LINES = "lines.sqlite"
INDEX = "index.json"
KILLERS = "killers.json"


class CoveringTests:
    """The map from lines to tests, in a folder.

    A test file that has changed since is measured again, and everything is if a mutated file has.

    Args:
        folder: Where the map is kept.
        root: The root of the project.
        sources: The mutated files, from the root.
    """

    def __init__(self, folder: Path, root: Path, sources: Iterable[str]) -> None:
        self._folder = folder
        self._root = root
        self._sources = sorted(sources)
        self._lines: dict[str, dict[int, list[str]]] = {}
        self.seconds: dict[str, float] = {}
        #: By the name of a mutant, the test that killed it last, which is asked first.
        self.killers: dict[str, str] = {}

    def measure(self, session: pytest.Session, run: Callable[[pytest.Item], bool]) -> None:
        """Run the tests that the map does not know, and write down what they execute.

        Args:
            session: What pytest has collected.
            run: Runs one test, and returns whether it passed.
        """
        index = self._index()
        prints = {path: _print(self._root / path) for path in _test_files(session.items)}
        stale = {path for path in prints if prints[path] != index["tests"].get(path)}
        coverage = Coverage(
            data_file=str(self._folder / LINES),
            include=[str(self._root / path) for path in self._sources],
            config_file=False,
        )
        coverage.load()
        seconds = {
            test: took for test, took in index["seconds"].items() if _file(test) not in stale
        }
        failed = set(index["failed"]) - {test for test in index["failed"] if _file(test) in stale}
        known = {path: mark for path, mark in index["tests"].items() if path not in stale}
        for path in sorted(stale):
            coverage.start()
            for item in [item for item in session.items if _file(item.nodeid) == path]:
                if sys.gettrace() is None:  # a test has traced for itself
                    coverage.stop()
                    coverage.start()
                coverage.switch_context(item.nodeid)
                began = time.process_time()
                if not run(item):
                    failed.add(item.nodeid)
                seconds[item.nodeid] = round(time.process_time() - began, 4)
            coverage.stop()
            coverage.save()
            # Written file by file, so that a run that was ended goes on where it was.
            known[path] = prints[path]
            index |= {"tests": known, "seconds": seconds, "failed": sorted(failed)}
            (self._folder / INDEX).write_text(json.dumps(index))

    def is_complete(self, items: list[pytest.Item]) -> bool:
        """Return whether every test file is in the map as it is now."""
        known = self._index()["tests"]
        return all(_print(self._root / path) == known.get(path) for path in _test_files(items))

    def load(self, paths: Iterable[str]) -> None:
        """Read the map of these files."""
        index = self._index()
        failed = set(index["failed"])
        self.seconds = {test: s for test, s in index["seconds"].items() if test not in failed}
        data = CoverageData(str(self._folder / LINES))
        data.read()
        for path in paths:
            self._lines[path] = data.contexts_by_lineno(str(self._root / path))
        if (self._folder / KILLERS).exists():
            self.killers = json.loads((self._folder / KILLERS).read_text())

    def note_killer(self, mutant: Mutant, test: str) -> None:
        """Keep which test killed a mutant."""
        self.killers[mutant.name] = test
        (self._folder / KILLERS).write_text(json.dumps(self.killers, indent=0))

    @property
    def failed(self) -> list[str]:
        """The tests that fail on the code as it is, and therefore kill nothing."""
        failed: list[str] = self._index()["failed"]
        return failed

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute a mutant, the likeliest to notice first.

        That which noticed last time comes first, then those of the file's own test file, then the
        quickest; a test of another room counts as four times as slow as it is.
        """
        first, last = mutant.lines
        known = self._lines[mutant.path]
        tests = {test for line in range(first, last + 1) for test in known.get(line, ())}
        source = Path(mutant.path).relative_to("emulator")
        own = f"tests/{source.parent}/test_{source.stem}.py"
        room = f"tests/{source.parts[0]}/"
        killer = self.killers.get(mutant.name)

        def rank(test: str) -> tuple[bool, bool, float, str]:
            weight = 1 if test.startswith(room) else 4
            seconds = self.seconds[test] * weight
            return test != killer, not test.startswith(own), seconds, test

        return sorted((test for test in tests if test in self.seconds), key=rank)

    def _index(self) -> dict:
        """Return the index of the map, empty if it is of other sources."""
        sources = {path: _print(self._root / path) for path in self._sources}
        path = self._folder / INDEX
        if path.exists():
            index: dict = json.loads(path.read_text())
            if index["sources"] == sources:
                return index
            (self._folder / LINES).unlink(missing_ok=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        return {"sources": sources, "tests": {}, "seconds": {}, "failed": []}


def _file(test: str) -> str:
    return test.split("::", 1)[0]


def _test_files(items: Iterable[pytest.Item]) -> list[str]:
    return sorted({_file(item.nodeid) for item in items})


def _print(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
