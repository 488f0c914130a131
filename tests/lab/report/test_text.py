"""The terminal view: the same words with colours or without."""

import io
import re
from dataclasses import replace

import pytest

from emulator.lab.report import print_report, text_report
from emulator.lab.report.heat_map import hottest
from emulator.lab.report.markdown import markdown_report
from emulator.lab.report.text import dependence, explanations
from tests.lab.report.comparisons import afternoon, effect


class Stream(io.StringIO):
    """A stream that says what it is."""

    def __init__(self, *, terminal=False, encoding="utf-8"):
        super().__init__()
        self._terminal, self._encoding = terminal, encoding

    def isatty(self):
        return self._terminal

    @property
    def encoding(self):
        return self._encoding


def printed(**options):
    stream = Stream(**options)
    print_report(afternoon(), stream)
    return stream.getvalue()


def test_a_pipe_gets_plain_text():
    text = printed()
    assert text == text_report(afternoon())
    assert "\x1b" not in text


def test_a_stream_without_unicode_gets_ascii():
    text = printed(encoding="ascii")
    assert text.isascii()
    assert re.search(r"^  headroom +0\.39x +1\.62x", text, re.M)


def test_a_terminal_gets_the_same_figures_in_colour(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm-256color")
    text = printed(terminal=True)
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    for figure in ("57.8\u202f%", "0.39×", "$3,724", "throttles", "smallest fix:"):
        assert figure in plain


def test_verdicts_come_first_each_with_its_fix():
    lines = text_report(afternoon()).splitlines()
    assert lines[3].startswith("[throttles] 58 % of calls are throttled")
    assert lines[5] == (
        "  smallest fix: Use {deviceId} as the partition key; or spread each hour over 4 suffixes."
    )


def test_the_small_map_shows_where_it_is_hot():
    text = text_report(afternoon())
    rows = text.partition("by hour (events)\n")[2].splitlines()[:6]
    assert rows == [
        "  " + "·" * 20 + "X" * 20 + "·" * 20,
        "  " + "·" * 60,
        "  " + "·" * 40 + "X" * 20,
        "  " + "X" * 20 + "·" * 40,
        "  " + "·" * 60,
        "  0" + " " * 56 + "3 h",
    ]


def test_columns_are_aligned():
    table = text_report(afternoon()).partition("\nThrottling\n")[2].partition("\n\n")[0]
    ends = {len(line) for line in table.splitlines() if line.startswith("  ")}
    assert len(ends) == 1


def test_no_designs_is_no_table():
    text = text_report(replace(afternoon(), designs=()))
    assert text.splitlines()[0] == afternoon().title
    assert "Throttling" not in text


def test_a_design_that_throttles_says_when_no_fix_was_looked_for():
    throttling = replace(afternoon().designs[0], fix=None, fix_note=None)
    healthy = replace(throttling, grade="fine")

    assert ("smallest fix", "Not looked for in this run.") in explanations(throttling)
    assert "smallest fix" not in dict(explanations(healthy))


@pytest.mark.parametrize(
    ("low", "high", "is_named"),
    [(0.602, 0.604, False), (0.602, 0.607, True), (0.0, 0.002, True), (0.0, 0.0009, False)],
)
def test_an_unknown_that_moves_the_answer_is_named(low, high, is_named):
    """By half a point at least, or from a world that does not throttle to one that does."""
    design = afternoon().designs[0]
    moved = replace(design, unknowns=(effect("arrivals", "", low, high, 1.0),))

    assert dependence(moved).startswith("arrivals (") is is_named


def test_an_unknown_that_decides_whether_an_index_closes_is_named():
    """CAP2-4: no call is refused in the run, so the share of throttled calls is the same."""
    design = afternoon().designs[2]
    closes = replace(design, unknowns=(effect("times of splits", "CAP2-3", 0.0, 0.0, 0.3),))
    never = replace(design, unknowns=(effect("arrivals", "", 0.0, 0.0, 0.0),))

    assert design.grade == "risky"
    assert dependence(closes) == "times of splits (an index closes in 6 of 20 worlds)"
    assert dependence(never) == "no unknown by itself changes the share of throttled calls"


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [("table", "throttled"), ("index", "throttled (in an index: writes wait)")],
)
def test_writes_that_wait_for_an_index_are_not_called_throttled(kind, meaning):
    """CAP2-4: the map of an index shows them as refused."""
    comparison = afternoon()
    design = comparison.designs[0]
    shown = replace(design, resources=(replace(hottest(design), kind=kind),))

    text = text_report(replace(comparison, designs=(shown,)))

    assert f"Load of partitions over time: · idle, █ full, X {meaning}\n" in text


def test_markdown_says_what_the_text_says():
    comparison = afternoon()

    said = markdown_report(comparison, [])

    for design in comparison.designs:
        for label, text in explanations(design):
            assert f"  - {label}: {text}".replace("\u202f", " ") in said
    assert "smallest fix" in said
    assert "depends on: Placement of keys (0 to 21 of 100 calls)" in said
