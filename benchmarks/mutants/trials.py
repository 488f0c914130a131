"""Run tests on mutants: pytest collects once, and each mutant lives in a forked process."""

import contextlib
import importlib
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks.mutants.covering import CoveringTests
from benchmarks.mutants.mutations import Mutant, tree_of
from benchmarks.mutants.swap import Functions, live_functions, swap

#: CPU seconds that a test may take on a mutant, beyond ten times what it takes without one.
PATIENCE_SECONDS = 4.0
#: Seconds of the clock without any work after which a mutant counts as hanging.
HANGING_SECONDS = 60.0
MEMORY_BYTES = 6 * 1024**3
#: How the process of a mutant ends.
SURVIVED, KILLED, NOT_APPLIED = 0, 1, 3


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Args:
        mutant: Which.
        outcome: ``killed``, ``timed out`` (also a kill), ``survived``, or ``not applied`` when no
            function in memory has the code.
        test: The test that noticed; of a survivor how many tests ran.
    """

    mutant: Mutant
    outcome: str
    test: str

    @property
    def is_killed(self) -> bool:
        """Whether a test noticed the mutant."""
        return self.outcome in ("killed", "timed out")


class _Running:
    """The process of a mutant, and when it was last seen to work."""

    def __init__(self, pid: int, mutant: Mutant) -> None:
        self.pid = pid
        self.mutant = mutant
        self._work = ""
        self._seen = time.monotonic()

    def is_hanging(self) -> bool:
        """Return whether it waits for something that does not come.

        Seconds of the clock alone do not tell: on a busy machine a process that works may get
        little of the processor.
        """
        stat = Path(f"/proc/{self.pid}/stat")
        work = stat.read_text().rpartition(")")[2] if stat.exists() else ""
        ticks = " ".join(work.split()[11:15])  # user and system time, its children's included
        if ticks != self._work:
            self._work, self._seen = ticks, time.monotonic()
        return time.monotonic() > self._seen + HANGING_SECONDS


class Trials:
    """A plugin of pytest that runs mutants in the place of tests.

    Args:
        root: The root of the project.
        mutants: What is tried.
        covering: Which tests execute which lines.
        budget_seconds: CPU seconds of tests for one mutant; whoever lives longer has survived.
        jobs: How many mutants are tried at a time.
        report: Called with each verdict.
    """

    def __init__(
        self,
        root: Path,
        mutants: list[Mutant],
        covering: CoveringTests,
        budget_seconds: float,
        jobs: int,
        report: Callable[[Verdict], None],
    ) -> None:
        self._root = root
        self._mutants = mutants
        self._covering = covering
        self._budget_seconds = budget_seconds
        self._jobs = jobs
        self._report = report
        self._has_failed = False
        self._failure_pipe: int | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let hypothesis draw the same examples each time and not look for the smallest failure."""
        # Imported late, so that pytest can rewrite the assertions of hypothesis's own plugin.
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutants",
            settings.get_profile("ci"),
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure; in the process of a mutant, say it and end."""
        if report.failed:
            self._has_failed = True
            if self._failure_pipe is not None:
                os.write(self._failure_pipe, report.nodeid.encode())
                os._exit(KILLED)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure what the map lacks, then try every mutant."""
        if not self._covering.is_complete(session.items):
            self._measure(session)
        self._covering.load({mutant.path for mutant in self._mutants})
        items = {item.nodeid: item for item in session.items}
        self._try_all(items)
        return True

    def _measure(self, session: pytest.Session) -> None:
        """Measure in a process of its own, since running tests fills the caches of the code."""
        pid = os.fork()
        if pid == 0:
            _silence()
            status = 1
            try:
                self._covering.measure(session, self._run_alone)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(pid, 0)
        if status:
            pytest.exit("the tests could not be measured", returncode=2)

    def _run_alone(self, item: pytest.Item) -> bool:
        self._has_failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self._has_failed

    def _try_all(self, items: dict[str, pytest.Item]) -> None:
        paths = {mutant.path for mutant in self._mutants}
        for path in sorted(paths):  # what is loaded late has no functions yet
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
        files = {str(self._root / path) for path in paths}
        functions = live_functions(files)
        running: dict[int, _Running] = {}
        waiting = iter(self._mutants)
        while True:
            for mutant in _some(waiting, self._jobs - len(running)):
                pid, pipe = self._start(mutant, items, functions)
                running[pipe] = _Running(pid, mutant)
            if not running:
                return
            ready, _, _ = select.select(list(running), [], [], 1.0)
            for pipe in list(running):
                if pipe in ready or running[pipe].is_hanging():
                    self._end(running.pop(pipe), pipe)

    def _end(self, ended: _Running, pipe: int) -> None:
        """Collect what a process said, and report it."""
        if ended.is_hanging():
            os.killpg(ended.pid, signal.SIGKILL)
        said = os.read(pipe, 4096).decode()
        os.close(pipe)
        _, status = os.waitpid(ended.pid, 0)
        verdict = Verdict(ended.mutant, *_outcome(status, said))
        if verdict.outcome == "killed":
            self._covering.note_killer(ended.mutant, verdict.test)
        self._report(verdict)

    def _start(
        self, mutant: Mutant, items: dict[str, pytest.Item], functions: Functions
    ) -> tuple[int, int]:
        """Fork a process for the mutant; return its id and the pipe on which it reports."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reading)
            self._be_the_process_of(mutant, items, functions, writing)
        os.close(writing)
        return pid, reading

    def _be_the_process_of(
        self, mutant: Mutant, items: dict[str, pytest.Item], functions: Functions, pipe: int
    ) -> NoReturn:
        os.setsid()
        self._failure_pipe = pipe
        _silence()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        try:
            outcome = self._live(mutant, items, functions)
        except BaseException as error:  # the mutant broke pytest itself
            os.write(pipe, repr(error).encode()[:1000])
            os._exit(KILLED)
        os.write(pipe, outcome.encode())
        os._exit(SURVIVED if outcome else NOT_APPLIED)

    def _live(self, mutant: Mutant, items: dict[str, pytest.Item], functions: Functions) -> str:
        """Put the mutant in and run its tests; return how many did not notice, or nothing.

        A test that fails ends the process.
        """
        file = self._root / mutant.path
        try:
            tree = tree_of(mutant, self._root)
            is_applied = swap(tree, file.read_text(), str(file), functions)
        except (ValueError, SyntaxError):
            return ""
        if not is_applied:
            return ""
        chosen = [test for test in self._covering.tests(mutant) if test in items]
        spent = 0.0
        number = 0
        for number, test in enumerate(chosen, 1):
            if spent > self._budget_seconds:
                break
            seconds = self._covering.seconds[test]
            spent += seconds
            signal.setitimer(signal.ITIMER_PROF, PATIENCE_SECONDS + 10 * seconds)
            following = items[chosen[number]] if number < len(chosen) else None
            items[test].config.hook.pytest_runtest_protocol(item=items[test], nextitem=following)
        return f"{number} of {len(chosen)} tests, {spent:.1f} s"


def _some(mutants: Iterator[Mutant], number: int) -> list[Mutant]:
    return [mutant for _, mutant in zip(range(number), mutants, strict=False)]


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError):
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


def _outcome(status: int, said: str) -> tuple[str, str]:
    """Return outcome and test of a process that ended."""
    if os.WIFSIGNALED(status):
        return "timed out", signal.Signals(os.WTERMSIG(status)).name
    names = {SURVIVED: "survived", KILLED: "killed", NOT_APPLIED: "not applied"}
    return names[os.WEXITSTATUS(status)], said
