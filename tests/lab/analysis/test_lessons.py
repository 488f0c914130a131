"""Figures that are often quoted: each is played or computed again, and says what is so."""

import re

import pytest

from emulator.__main__ import main
from emulator.lab.analysis.lessons import LESSONS, lesson


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("throttles-an-hour", r"refuses 9\.\d+\u202fM calls an hour, the device key 0"),
        ("monthly-cost", r"\$2,\d+ with the hour key, .* and \$2,8\d\d with the device key"),
        ("dashboard", r"cost \$12,\d+ at the prices before November 2024, \$6,\d+ today"),
        ("on-demand-premium", r"3\.46 times"),
        ("break-even", r"from 28\.9\u202f%"),
        ("infrequent-access", r"41\.3\u202f% of the throughput cost"),
        ("vertical-split", r"10 times"),
        ("scan", r"488 units to scan .* 0\.5 to query"),
    ],
)
def test_a_lesson_says_what_is_told_and_what_is_so(name, said):
    """L0, L3, L4."""
    told, so = lesson(name).split("\n")
    assert told.startswith("told: ")
    assert re.search(said, so), so


def test_every_lesson_is_listed(capsys):
    assert main(["lab", "--lessons"]) == 0
    listed = capsys.readouterr().out
    assert [line.split()[0] for line in listed.splitlines()] == [own.name for own in LESSONS]


def test_a_lesson_that_is_not_there_is_one_sentence(capsys):
    assert main(["lab", "--lesson", "none"]) == 2
    assert capsys.readouterr().err.startswith("dynamometer: --lesson: there is no lesson 'none'")
