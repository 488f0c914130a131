"""The page of a test session: every section, in the order of what is grave."""

import json
import re

from emulator.observe import findings_of
from emulator.observe.ledger import Ledger
from emulator.sessions.session_page import as_html
from emulator.sessions.session_report import record_of
from tests.sessions.test_session_report import hot_index, looped

WHEN = 1_795_000_000.0  # 18 November 2026, 11:06:40


def page_of_a_hot_index():
    """Return the page of one test whose index was short of room."""
    emu, ledger = hot_index()
    findings = findings_of(ledger)
    return as_html([record_of("test_orders.py::test_close", ledger, [emu], findings)], WHEN)


def sections(page):
    """Return id, whether it is open, and the number at its title."""
    form = r'<details id="([\w-]+)" class="panel section[ \w]*"( open)?>.*?class="badge">(\d+)<'
    return [(name, bool(state), int(count)) for name, state, count in re.findall(form, page)]


def test_what_is_grave_comes_first_and_is_open():
    assert sections(page_of_a_hot_index()) == [
        ("throttled", True, 1),
        ("findings", True, 2),
        ("hot-keys", True, 2),
        ("limits-table", False, 0),
        ("waste", False, 1),
        ("tests", True, 1),
        ("calls", False, 2),
    ]


def test_a_session_without_tests_says_so_in_every_section():
    page = as_html([], WHEN)
    assert [(state, count) for _, state, count in sections(page)] == [(False, 0)] * 7
    assert "No test would have throttled." in page
    assert "0 tests with a database, 18 November 2026, 11:06 UTC" in page


def test_the_summary_has_findings_calls_and_units():
    tiles = re.findall(
        r'<div class="tile"><b[^>]*>(.*?)</b><span>(.*?)</span>', page_of_a_hot_index()
    )
    assert tiles == [
        ("1", "would throttle"),
        ("2", "findings"),
        ("5", "calls"),
        ("0.5", "read units"),
        ("8", "write units"),
    ]


def test_cells_sort_by_their_numbers():
    page = as_html([looped(600, 500)], WHEN)
    assert '<td class="n" data-value="821.25">$821</td>' in page


def test_charts_have_their_data():
    page = page_of_a_hot_index()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert list(data["charts"]) == ["expensive", "operations", "kinds"]
    assert [row["name"] for row in data["charts"]["operations"]["rows"]] == ["PutItem", "Scan"]
    figures = re.findall(r'<figure id="(\w+)" data-chart>', page)
    assert figures == list(data["charts"])


def test_what_people_write_cannot_become_markup():
    hostile = "<img src=x onerror=alert(1)></script>"
    page = as_html([record_of(hostile, Ledger(), []) | {"read_units": 1.0}], WHEN)
    assert hostile not in page
    assert "<code>&lt;img src=x onerror=alert(1)&gt;&lt;/script&gt;</code>" in page


def test_a_test_over_a_limit_that_a_reserve_hides_is_counted_as_one_that_would_throttle():
    page = as_html([looped(600, 1_500), looped(600, 500)], WHEN)
    assert '<b class="m-bad">1</b><span>would throttle</span>' in page
    assert "throttles at 1,500 requests a second once the reserve is used up, and from" in page
    assert "holds at 500 requests a second, and throttles from 1,000 on" in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert list(data["charts"]) == ["expensive", "operations", "limits"]
