"""dynamometer lab: what they print, write and answer."""

import math
import os
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from xml.etree import ElementTree

import pytest

from emulator.__main__ import main
from emulator.lab import Pattern, Workload, command, progress
from emulator.lab.analysis import fixes, headroom
from emulator.lab.analysis.world_runs import WorldCount
from emulator.lab.outcome.result_types import Comparison
from emulator.lab.report import charts

SHOP = """\
title: Orders
worlds: 2
settings: {burst_start: 0}
workload:
  duration: 10
  warm_up: 0
  fields: {customerId: {count: 500},
    status: {values: [open, paid, sent]}}
  patterns:
    - {name: order, operation: PutItem, rate: 40, size: 300}
    - {name: orders of a customer, operation: Query, rate: 5, by: [customerId], items: 10}
designs:
  - {name: by status, partition: "{status}", sort: "{timestamp}#{customerId}", read: 100, write: 10}
  - {name: by customer, partition: "{customerId}", sort: "{timestamp}", read: 100, write: 100}
"""
EXPECT = """\
expect:
  by customer: {grade: fine, throttled: 0.001, headroom: 1.5, monthly_cost: 500}
"""
BROKEN_PROMISES = """\
expect:
  all: {grade: tight}
  by customer: {headroom: 50, monthly_cost: 1}
  by status: {throttled: 0.001}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with the files above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_PAUSE", math.inf)  # nothing is told, however slow it runs
    monkeypatch.setattr(headroom, "FIRST_WORLDS", 2)
    monkeypatch.setattr(fixes, "FIRST_WORLDS", 2)
    monkeypatch.setattr(fixes, "WorldCount", lambda: WorldCount(exactly=2))
    (tmp_path / "shop.yaml").write_text(SHOP, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("cores", "designs", "wanted"), [(64, 3, 6), (2, 3, 2), (1, 3, None)])
def test_each_design_is_worth_two_processes_if_there_are_as_many(
    monkeypatch, cores, designs, wanted
):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(import_module("emulator.lab.processes"), "processes", nullcontext)
    options = {
        "designs": [None] * designs,
        "workload": Workload(patterns=[Pattern("p", "PutItem", rate=1)], duration=1e9),
        "engine": "auto",
    }
    with command._cores(options) as count:
        assert count == wanted


def test_a_file_is_compared_and_the_page_written(place, capsys):
    assert main(["lab", "shop.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(
        "Orders\n2 designs under 450 requests in 10 s; aggregate engine, "
        "up to 2 worlds; new tables\n"
    )
    assert "[throttles] By status throttles" in out
    assert "[fine] By customer holds" in out
    assert out.endswith("\nwrote report.html\n")
    assert err == ""
    assert "<title>Orders</title>" in (place / "report.html").read_text(encoding="utf-8")


def test_data_and_pictures_are_written_where_they_are_wanted(place, capsys):
    arguments = ["shop.yaml", "--quick", "--no-html", "--json", "shop.json", "--svg", "pictures"]
    assert main(["lab", *arguments]) == 0
    assert capsys.readouterr().out.endswith("\nwrote shop.json\nwrote pictures/*.svg\n")
    assert not (place / "report.html").exists()
    comparison = Comparison.from_json((place / "shop.json").read_text(encoding="utf-8"))
    assert [design.name for design in comparison.designs] == ["by status", "by customer"]
    pictures = sorted(path.name for path in (place / "pictures").iterdir())
    assert pictures == sorted(f"{chart.name}.svg" for chart in charts(comparison))
    for path in (place / "pictures").iterdir():
        ElementTree.parse(path)


def test_options_override_the_file(place, capsys):
    arguments = ["--quick", "--no-html", "--engine", "aggregate", "--seed", "7", "--duration", "2m"]
    arguments += ["--worlds", "2"]
    assert main(["lab", "shop.yaml", *arguments]) == 0
    assert (
        "5,400 requests in 2 min; aggregate engine, up to 2 worlds, from seed 7"
        in capsys.readouterr().out
    )


def test_promises_that_are_kept_are_fine(place, capsys):
    (place / "shop.yaml").write_text(SHOP + EXPECT, encoding="utf-8")
    assert main(["lab", "shop.yaml", "--no-html"]) == 0
    assert capsys.readouterr().err == ""


def test_a_promise_that_a_quick_run_does_not_look_at_is_not_kept(place, capsys):
    (place / "shop.yaml").write_text(SHOP + EXPECT, encoding="utf-8")
    assert main(["lab", "shop.yaml", "--no-html", "--quick"]) == 1
    assert capsys.readouterr().err == (
        "dynamometer: by customer was run without looking for its headroom, which is promised\n"
    )


def test_promises_that_are_not_kept_fail(place, capsys):
    (place / "shop.yaml").write_text(SHOP + BROKEN_PROMISES, encoding="utf-8")
    assert main(["lab", "shop.yaml", "--no-html"]) == 1
    lines = capsys.readouterr().err.replace("\u202f", " ").splitlines()
    assert lines[0] == "dynamometer: by status is graded throttles, not tight"
    assert lines[1].startswith("dynamometer: by customer carries ")
    assert lines[1].endswith("this load, under 50\u00d7")
    assert lines[2].startswith("dynamometer: by customer costs $")
    assert lines[3].startswith("dynamometer: by status throttles ")
    assert lines[3].endswith(" of calls in the median world, over 0.1 %")
    assert len(lines) == 4


WRONG = {
    "no such file": (["none.yaml"], "none.yaml: cannot be read: No such file or directory"),
    "bad duration": (
        ["shop.yaml", "--duration", "soon"],
        "command line: --duration: expected a duration such as 90s, 15m, 1h or 30d, found 'soon'",
    ),
    "bad seed": (
        ["shop.yaml", "--seed", "-1"],
        "argument --seed: a whole number from 0, not '-1'; see 'dynamometer lab --help'",
    ),
    "word for a seed": (
        ["shop.yaml", "--seed", "x"],
        "argument --seed: a whole number from 0, not 'x'; see 'dynamometer lab --help'",
    ),
    "no place for the page": (
        ["shop.yaml", "--html", "nowhere/report.html"],
        "nowhere/report.html: there is no directory to write it in",
    ),
    "a page that is a directory": (["shop.yaml", "--quick", "--html", "."], ".: Is a directory"),
}


@pytest.mark.parametrize(("arguments", "complaint"), WRONG.values(), ids=WRONG)
def test_wrong_usage_is_one_sentence(place, capsys, arguments, complaint):
    assert main(["lab", *arguments]) == 2
    assert capsys.readouterr().err == f"dynamometer: {complaint}\n"


FAULTS = {
    "unknown design": (
        "expect: {by nobody: {grade: fine}}",
        "15: expect.by nobody: no design is called 'by nobody'; there are by status, by customer",
    ),
    "unknown promise": (
        "expect:\n  all: {speed: 1}",
        "16: expect.all.speed: unknown field. Known here: grade, risk, throttled, headroom, "
        "monthly_cost; 'dynamometer schema lab' describes them",
    ),
    "unknown grade": (
        "expect: {all: {grade: good}}",
        "15: expect.all.grade: expected one of throttles, risky, heals, tight, fine, found 'good'",
    ),
    "share over one": (
        "expect: {all: {throttled: 5}}",
        "15: expect.all.throttled: expected a number of at most 1, found 5",
    ),
    "not a mapping": ("expect: [1]", "15: expect: expected a mapping, found a list"),
}


@pytest.mark.parametrize(("text", "complaint"), FAULTS.values(), ids=FAULTS)
def test_a_broken_promise_section_names_line_and_field(place, capsys, text, complaint):
    (place / "shop.yaml").write_text(SHOP + text, encoding="utf-8")
    assert main(["lab", "shop.yaml"]) == 2
    assert capsys.readouterr().err == f"dynamometer: shop.yaml:{complaint}\n"


def test_a_missing_package_is_named(place, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert main(["lab", "shop.yaml"]) == 2
    assert capsys.readouterr().err == (
        "dynamometer: this needs the module yaml: pip install 'dynamometer[lab]'\n"
    )


def test_a_fault_of_the_workload_names_its_line(place, capsys):
    (place / "shop.yaml").write_text(SHOP.replace("size: 300", "actions: 2"), encoding="utf-8")
    assert main(["lab", "shop.yaml"]) == 2
    assert capsys.readouterr().err.startswith("dynamometer: shop.yaml:10: workload.patterns[0]")


def test_a_reader_who_leaves_early_is_no_error(place):
    command = [sys.executable, "-m", "emulator", "lab", "shop.yaml", "--quick"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        complaints = process.stderr.read()  # a slow machine is told how far it is
    assert process.returncode == 0
    assert b"dynamometer:" not in complaints
    assert b"Traceback" not in complaints
    assert (place / "report.html").exists()
