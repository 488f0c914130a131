"""What the explanations point at is there, and is called where they say: files, names, links."""

import ast
import inspect
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import boto3
import pytest

from emulator import ManualClock, mock_dynamodb
from emulator.__main__ import main
from tests.architecture.reference import PACKAGE
from tests.architecture.rules import ROOT
from tests.architecture.test_imports import MAY_IMPORT

DOCS = ROOT / "docs"
#: What is kept true; decisions keep the names of their day.
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "decisions"]
POINTER = re.compile(r"`([a-z_/]+\.py)(?:: ([\w.]+))?`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def names_in(file: Path) -> set[str]:
    """Return the functions, classes and methods of a file."""
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
            names |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return names


@pytest.mark.parametrize(
    "page",
    [*sorted(DOCS.glob("explanation/*.md")), ROOT / "CONTRIBUTING.md", ROOT / "tests/README.md"],
    ids=lambda page: page.name,
)
def test_an_explanation_names_what_exists(page):
    lost = []
    for file, name in POINTER.findall(page.read_text()):
        homes = [home for home in (PACKAGE / file, ROOT / file) if home.exists()]
        if not homes or (name and name not in names_in(homes[0])):
            lost.append(f"{file}: {name}")
    assert lost == []


def test_the_map_shows_every_room_below_those_it_imports():
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## The map")[2]
    shown = re.findall(r"^(\w+)(?:/|\.py) ", text, re.MULTILINE)
    rooms = {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))}
    assert rooms <= set(shown)
    for at, room in enumerate(shown):
        imported = MAY_IMPORT[room] & rooms if room != "lab" else set()
        assert imported - {room} <= set(shown[:at]), room


def test_every_folder_of_tests_has_its_line():
    text = (ROOT / "tests/README.md").read_text()
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("*.py"))}
    assert [name for name in folders - rooms if f"`tests/{name}/`" not in text] == []


@each_page
def test_a_link_leads_somewhere(page):
    links = LINK.findall(page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_front_page_leads_to_every_page():
    """The rules of the service and those of check have front pages of their own."""
    linked = {(DOCS / link).resolve() for link in LINK.findall((DOCS / "README.md").read_text())}
    rules = {
        page
        for folder in ("rules", "checks")
        for page in (DOCS / folder).glob("*.md")
        if page.name != "README.md"
    }
    assert set(PAGES) - linked - rules == {DOCS / "README.md"}


# The walk-through: what each life names is called on its way, in the order of the steps.

WALK = (DOCS / "explanation" / "walk-through.md").read_text()
STEP = re.compile(r"^\d+\. (.*(?:\n {2,}.*)*)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Life:
    """A section of the walk-through: its examples, and the names of its steps."""

    def __init__(self, title: str) -> None:
        section = WALK.split(f"## {title}\n")[1].split("\n## ")[0]
        self.blocks = [text for _, text in BLOCK.findall(section)]
        prose = BLOCK.sub("", section)
        self.steps = [POINTER.findall(step) for step in STEP.findall(prose)]

    def is_walked_by(self, calls: list[str]) -> None:
        """Hold that the calls contain every name of the steps, and begin each step in turn."""
        named = [f"{file}: {name}" for step in self.steps for file, name in step if name]
        assert [name for name in named if first_call(calls, name) is None] == []
        spine = [first_call(calls, ": ".join(step[0])) for step in self.steps]
        in_order = sorted(at for at in spine if at is not None)
        assert spine == in_order, [calls[at] for at in in_order]


def first_call(calls: list[str], name: str) -> int | None:
    """Return when a function, or any method of a class, was first called."""
    inside = f"{name}."
    found = (at for at, call in enumerate(calls) if call == name or call.startswith(inside))
    return next(found, None)


def calls_of(work: Callable[[], object]) -> list[str]:
    """Return the functions of the package that work calls, in the order of first calls."""
    calls: dict[str, None] = {}
    seen: dict[int, CodeType] = {}  # by id: hashing code reads all of it
    package = f"{PACKAGE}/"

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or id(code) in seen:
            return
        seen[id(code)] = code
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # and no class body
        if is_function and code.co_filename.startswith(package):
            calls[f"{code.co_filename.removeprefix(package)}: {code.co_qualname}"] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(calls)


def calls_of_request(life: Life, names: dict[str, object]) -> list[str]:
    """Run the first block of a life, and return the calls of the second."""
    prepare, request = life.blocks
    exec(prepare, names)
    return calls_of(lambda: exec(request, names))


def test_a_query_takes_the_way_that_is_told():
    life = Life("The life of one Query")
    with mock_dynamodb() as emu:
        calls = calls_of_request(life, {"boto3": boto3, "emu": emu})
    assert len(life.steps) == 11
    life.is_walked_by(calls)


def test_a_throttled_put_takes_the_way_that_is_told():
    life = Life("The life of one throttled PutItem")
    with mock_dynamodb(clock=ManualClock(), capacity="enforce") as emu:
        calls = calls_of_request(life, {"boto3": boto3, "emu": emu})
        assert emu.metrics.sum("WriteThrottleEvents", table="events") == 1
    assert len(life.steps) == 9
    life.is_walked_by(calls)


def test_a_run_of_the_lab_takes_the_way_that_is_told(tmp_path, monkeypatch, capsys):
    life = Life("The life of one run of the lab")
    file, command = life.blocks
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.yaml").write_text(file)
    program, *arguments = shlex.split(command.removeprefix("$ "))
    few = ("--worlds", "3", "--duration", "30s")  # who is called does not depend on it
    calls = calls_of(lambda: main([*arguments, *few]))
    assert program == "dynamometer"
    assert (tmp_path / "events.html").exists()
    assert "aggregate engine" in capsys.readouterr().out
    assert len(life.steps) == 9
    life.is_walked_by(calls)
