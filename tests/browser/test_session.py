"""The report of a test session in a browser: charts, sorting, one filter for all tables."""

import pytest

from emulator import Emulator, ManualClock
from emulator.observe import findings_of
from emulator.observe.ledger import Ledger
from emulator.sessions.session_page import as_html
from emulator.sessions.session_report import record_of
from emulator.testing.table_notation import create_request

HOSTILE = "<img src=x onerror=document.title='owned'></script><script>document.title='owned'"


def record(name, writes, reads):
    """Return what a test did that wrote and read so often."""
    emu = Emulator(clock=ManualClock(), capacity="observe")
    emu.call("CreateTable", create_request("orders", provisioned=(50, 50)))
    ledger = Ledger()
    emu.events.subscribe(ledger.hear)
    for number in range(writes):
        emu.table("orders").put_item(Item={"pk": f"{name}{number % 3}", "n": number})
    for _ in range(reads):
        emu.table("orders").scan()
    return record_of(name, ledger, [emu], findings_of(ledger))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of three tests as a file."""
    records = [
        record("tests/test_orders.py::test_import", 1600, 0),
        record("tests/test_orders.py::test_list", 4, 30),
        record(f"tests/test_names.py::test_it[{HOSTILE}]", 10, 0),
    ]
    path = tmp_path_factory.mktemp("session") / "session.html"
    path.write_text(as_html(records, 1_795_000_000.0), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    """The page in a wide window."""
    browser.open(address)
    return browser


def names_by_cost(page):
    """Return the names of tests that the table shows, in its order."""
    return [
        cell.text.partition("::")[2][:11]
        for cell in page.all("#tests tbody tr:not([hidden]) td:last-child")
    ]


def test_the_page_fits_and_follows_the_scheme(every_view, address):
    every_view.open(address)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert every_view.run(wide) == 0
    ground = every_view.run("return getComputedStyle(document.body).backgroundColor")
    is_dark = every_view.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert ground == ("rgb(11, 16, 21)" if is_dark else "rgb(244, 246, 248)")


def test_the_summary_and_what_would_throttle_come_first(page):
    tiles = dict(reversed(tile.text.split("\n")) for tile in page.all(".tile"))
    assert tiles["would throttle"] == "1"
    assert tiles["calls"] == "1,644"
    state = "return [...document.querySelectorAll('.section')].map((node) => node.open)"
    assert page.run(state) == [True, True, True, False, False, True, False]


def test_charts_tell_values_under_the_pointer(page):
    page.point_at(page.find("#expensive svg.live"), 0.2, 0.1)
    assert page.find(".tip").text == (
        "tests/test_orders.py::test_import\nread units\n0\nwrite units\n1,600\ntogether\n1,600"
    )
    page.point_at(page.find("#limits svg.live"), 0.2, 0.2)
    assert "rate" in page.find(".tip").text


def test_tests_are_sorted_by_any_figure(page):
    assert names_by_cost(page) == ["test_import", "test_list", "test_it[<im"]
    heads = {head.text: head for head in page.all("#tests th")}
    heads["RCU"].find("button").click()
    assert names_by_cost(page)[0] == "test_list"
    heads["calls"].find("button").click()
    heads["calls"].find("button").click()
    assert names_by_cost(page) == ["test_it[<im", "test_list", "test_import"]


def test_one_field_filters_all_tables(page):
    page.find("nav input").type("test_list")
    assert names_by_cost(page) == ["test_list"]
    assert page.find("#tests .badge").text == "1 of 3"
    assert page.find("#throttled .badge").text == "0 of 1"
    page.run(
        "const f = document.querySelector('nav input'); f.value = ''; "
        "f.dispatchEvent(new Event('input'))"
    )
    assert page.find("#tests .badge").text == "3"


def test_a_link_opens_the_folded_section_that_it_leads_to(page):
    page.find("nav a[href='#calls']").click()
    page.wait_until("document.getElementById('calls').open")


def test_without_a_script_the_tables_are_there(browser, address):
    browser.without_scripts()
    browser.open(address)
    browser.without_scripts(disabled=False)
    assert len(browser.all("#tests tbody tr")) == 3
    assert browser.find(".pictures").text == ""


def test_names_of_tests_stay_text(page):
    page.point_at(page.find("#expensive svg.live"), 0.2, 0.85)
    assert HOSTILE in page.find(".tip").text
    assert page.all("img") == []
    assert page.run("return document.title") == "What the tests consumed"
