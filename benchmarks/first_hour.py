"""The first hour of a new user, timed: ``python -m benchmarks.first_hour [--without-suite]``.

Follows what is printed, in empty folders and new virtual environments: the shell blocks of the
README in a copy of the project, then a test and a lab file of the how-to and the tutorial's red
check, each from nothing but an installer. Prints what each took, on the clock and of processor
time, and what it may take: of a busy machine, the processor time tells more. The second command of
the README runs the whole suite; ``--without-suite`` leaves it out.
"""

import argparse
import re
import resource
import subprocess
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEST_PAGE = ROOT / "docs" / "how-to" / "pytest.md"
LAB_PAGE = ROOT / "docs" / "how-to" / "lab.md"
CHECK_PAGE = ROOT / "docs" / "tutorial" / "two-minutes.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SUITE = "bin/pytest"


class Step(NamedTuple):
    """Something a new user does: what, within how many seconds, and how."""

    what: str
    limit: float
    do: Callable[[Path], str]


class Failed(Exception):
    """A command did not end as the page says."""


def main() -> int:
    """Take every step, print its time, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without-suite", action="store_true", help="leave out the whole suite")
    without_suite = parser.parse_args().without_suite
    is_good = True
    print(f"{'seconds':>8} {'cpu':>6} {'limit':>6}  what")
    for step in steps(without_suite=without_suite):
        with tempfile.TemporaryDirectory() as folder:
            started, used = time.monotonic(), processor_seconds()
            try:
                outcome = step.do(Path(folder))
            except Failed as failure:
                outcome, is_good = f"FAILED: {failure}", False
            seconds, used = time.monotonic() - started, processor_seconds() - used
        is_good = is_good and seconds <= step.limit
        figures = f"{seconds:8.1f} {used:6.1f} {step.limit:6.0f}"
        print(f"{figures}  {step.what}: {outcome}", flush=True)
    return int(not is_good)


def processor_seconds() -> float:
    """Return what the commands so far have taken of a processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def steps(*, without_suite: bool) -> Iterator[Step]:
    """Yield what a new user does, in order."""
    for command in blocks(README, "sh"):
        is_suite = SUITE in command
        if is_suite and without_suite:
            continue
        what, limit = (
            ("the suite, by the README", 600) if is_suite else ("a command of the README", 180)
        )
        yield Step(what, limit, partial(in_a_copy, command=command))
    yield Step("your first test", 180, first_test)
    yield Step("your first answer of the lab", 300, first_lab_answer)
    yield Step("the verdict on your own tables", 120, own_verdict)
    yield Step("your first red check", 120, first_red_check)


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [body for kind, _, body in found if kind == language]


def file_of(page: Path, name: str) -> str:
    """Return the first file of that name that a page shows."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return next(str(body) for _, file, body in found if file == name)


def in_a_copy(folder: Path, command: str) -> str:
    """Run a command of the README in a fresh copy of the project."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive.stdout, check=True)
    return last_line(run(["bash", "-c", command], folder))


def installed(folder: Path, extra: str) -> Path:
    """Return the folder of programs of a new environment with the package and an extra."""
    venv.create(folder / ".venv", with_pip=True)
    programs = folder / ".venv" / "bin"
    run([str(programs / "pip"), "install", "-q", f"{ROOT}{extra}"], folder)
    return programs


def first_test(folder: Path) -> str:
    """Install, copy the first test of the how-to, run it."""
    programs = installed(folder, "[pytest]")
    test = next(block for block in blocks(TEST_PAGE, "python") if "def test_" in block)
    (folder / "test_mine.py").write_text(test)
    return last_line(run([str(programs / "pytest"), "-q", "test_mine.py"], folder))


def own_verdict(folder: Path) -> str:
    """Install, copy the Terraform file of the tutorial, and state a load."""
    programs = installed(folder, "[lab]")
    (folder / "main.tf").write_text(file_of(CHECK_PAGE, "main.tf"))
    command = [str(programs / "dynamometer"), "lab", ".", "--rate", "500", "--no-html"]
    return next(line for line in run(command, folder).splitlines() if line.startswith("["))


def first_lab_answer(folder: Path) -> str:
    """Install, copy the first lab file of the how-to, ask."""
    programs = installed(folder, "[lab]")
    (folder / "lab.yaml").write_text(file_of(LAB_PAGE, "lab.yaml"))
    command = [str(programs / "dynamometer"), "lab", "lab.yaml", "--quick"]
    return next(line for line in run(command, folder).splitlines() if line.startswith("["))


def first_red_check(folder: Path) -> str:
    """Install, copy the table of the tutorial, and see the check fail."""
    programs = installed(folder, "")
    (folder / "main.tf").write_text(file_of(CHECK_PAGE, "main.tf"))
    command = [str(programs / "dynamometer"), "check", "main.tf", "--fail-on", "warning"]
    return run(command, folder, expected=1).splitlines()[0]


def run(command: list[str], folder: Path, expected: int = 0) -> str:
    """Run a command, and return what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != expected:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def last_line(printed: str) -> str:
    """Return the last line that says something."""
    lines = [line for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "done"


if __name__ == "__main__":
    raise SystemExit(main())
