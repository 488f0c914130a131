"""Results go to JSON and come back, also those that 0.1.0 wrote."""

import json
from pathlib import Path

import pytest

from emulator.lab import Comparison
from emulator.lab.outcome import words
from emulator.lab.report import html_page
from emulator.lab.report.diff import changes_of
from emulator.lab.report.text import text_report
from tests.lab.report.comparisons import afternoon

OLD = (Path(__file__).parent / "results" / "0.1.0.json").read_text(encoding="utf-8")


def test_a_result_of_0_1_0_still_reads():
    [design] = Comparison.from_json(OLD).designs

    assert (design.name, design.grade) == ("small", "throttles")
    assert (design.risk, design.worlds, design.unknowns, design.shown_world) == (None, (), (), None)
    assert design.throttled_share == pytest.approx(0.917, abs=0.001)


def test_reports_show_what_an_older_result_has_and_leave_the_rest_open():
    old = Comparison.from_json(OLD)

    text = text_report(old)
    assert "[throttles] Small throttles 91.7% of calls" in text
    assert "worlds that throttle" not in text
    assert "A result of 0.1.0" in html_page(old)
    first, *_ = changes_of(old.designs[0], old.designs[0])
    assert first == ("worlds that throttle", "–", "–")


def test_a_result_goes_to_json_and_comes_back():
    old = Comparison.from_json(OLD)
    assert Comparison.from_json(old.to_json()) == old
    assert json.loads(old.to_json())["designs"][0]["risk"] is None


def test_units_are_compared_by_resource_and_axis():
    old, new = afternoon().designs[0], afternoon().designs[2]
    named = {change.measure: (change.before, change.after) for change in changes_of(old, new)}
    sides = [{each.name: each for each in design.resources} for design in (old, new)]
    for unit, axis in (("WCU", "write"), ("RCU", "read")):
        consumed = [getattr(side["events"], axis).consumed_units for side in sides]
        assert named[f"{unit} on events"] == tuple(map(words.count, consumed))
