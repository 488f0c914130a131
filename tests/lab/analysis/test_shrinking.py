"""Shrinking: the smallest workload that still throttles is minimal, and can be played again."""

import subprocess
import sys

import pytest

from emulator.__main__ import main
from emulator.lab import Capacity, Design, Field, Hotspot, Pattern, Ramp, Workload, load, play
from emulator.lab.analysis.shrinking import _steps, shrink

FIELDS = [
    Field("kind", values=("a", "b")),
    Field("user", count=5_000, distribution=Hotspot(0.1, 0.9)),
]
BY_KIND = Design("by kind", partition="{kind}", sort="{timestamp}#{user}")
BY_USER = Design(
    "by user",
    partition="{user}",
    sort="{timestamp}",
    capacity=Capacity(warm_read=40_000, warm_write=16_000),
)


def busy(**options):
    patterns = [
        Pattern("put", "PutItem", rate=Ramp(start=100, end=4_321, over=60), size=400),
        Pattern("get", "GetItem", by=("kind", "user"), rate=17),
    ]
    return Workload(**{"fields": FIELDS, "patterns": patterns, "duration": 90, **options})


def test_what_is_left_is_minimal():
    """No step leaves a workload that still throttles."""
    small, design = shrink(busy(), [BY_USER, BY_KIND])
    assert design is BY_KIND
    assert play(small, design).throttled >= 0.001
    for smaller in _steps(small):
        assert play(smaller, design).throttled < 0.001
    assert [pattern.name for pattern in small.patterns] == ["put"]
    assert small.warm_up == 0


def test_a_design_that_holds_shrinks_nothing():
    assert shrink(busy(duration=5), [BY_USER]) is None


def test_the_command_writes_a_lab_file_and_a_test_that_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "--shrink", "small.yaml"]) == 0
    assert capsys.readouterr().out == "wrote small.yaml\nwrote test_small.py\n"
    file = load(tmp_path / "small.yaml")
    assert play(file.workload, file.designs[0]).throttled >= 0.001
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_small.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed" in done.stdout


def test_where_nothing_throttles_it_is_said_in_one_sentence(tmp_path, capsys):
    path = tmp_path / "calm.yaml"
    path.write_text(
        "workload: {duration: 5, patterns: [{name: put, operation: PutItem, rate: 1}]}\n"
        'designs: [{name: d, partition: "{timestamp}"}]\n'
    )
    assert main(["lab", str(path), "--shrink", str(tmp_path / "small.yaml")]) == 2
    assert capsys.readouterr().err.endswith("no design throttles at first\n")


@pytest.mark.parametrize("age", ["first", "lived"])
def test_an_outcome_says_where_it_is_hot_and_what_it_costs(age):
    outcome = play(busy(duration=30), BY_KIND, age=age)
    assert outcome.hottest.resource == "table"
    assert 0.2 < outcome.hottest.key_share < 0.8
    assert outcome.cost > 0
    assert outcome.units["table"][1] > 0
