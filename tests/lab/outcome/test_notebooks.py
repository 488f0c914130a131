"""Results in a notebook: markup without a script, and a frame of pandas where there is one."""

import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.lab.report.comparisons import afternoon

HOSTILE = "<img src=x onerror=alert(1)></script>"


class Texts(HTMLParser):
    """Collects the texts of markup, and fails on elements that are not closed."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_comparison_shows_verdicts_figures_and_all_measures():
    shown = Texts(afternoon()._repr_html_())
    assert shown.texts[0] == afternoon().title
    grades = [text for text in shown.texts if text in ("throttles", "fine", "risky", "tight")]
    assert grades == ["throttles", "fine", "risky"]
    assert "0.39\u00d7" in shown.texts
    assert "1.62\u00d7 \u2713" in shown.texts
    assert "script" not in shown.tags


def test_a_design_shows_itself():
    shown = Texts(afternoon().designs[0]._repr_html_())
    assert shown.texts[:3] == ["by hour", " ", "throttles"]


def test_an_older_result_without_worlds_is_shown():
    old = replace(afternoon().designs[0], risk=None, worlds=(), headroom=None, costs=(), fix=None)
    assert "Smallest fix" not in old._repr_html_()
    assert replace(afternoon(), designs=(old,))._repr_html_()


def test_what_people_write_cannot_become_markup():
    design = replace(afternoon().designs[0], name=HOSTILE, verdict=HOSTILE, fix=HOSTILE)
    markup = replace(afternoon(), title=HOSTILE, designs=(design,))._repr_html_()
    assert "img" not in Texts(markup).tags


def test_a_frame_has_a_row_for_each_design():
    pytest.importorskip("pandas")
    frame = afternoon().to_frame()
    assert list(frame.index) == ["by hour", "by device", "by device, index on type"]
    assert frame.loc["by hour", "risk"] == 1.0
    assert frame.loc["by device", "headroom"] == 1.62
    assert frame.loc["by device, index on type", "splits"] == 2
    assert list(frame.sort_values("month_usd").index)[-1] == "by device, index on type"


def test_without_pandas_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="needs pandas: pip install pandas"):
        afternoon().to_frame()
