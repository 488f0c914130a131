"""The lab's report in a browser: what a pointer, a finger and a key do to it."""

from dataclasses import replace

import pytest

from emulator.lab.report import html_page
from tests.lab.report.comparisons import afternoon

HOSTILE = "<img src=x onerror=document.title='owned'></script><script>document.title='owned'"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of three designs as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_page(afternoon()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    """The page in a wide window."""
    browser.open(address)
    return browser


def tip(browser):
    """Return the text at the pointer, with plain spaces."""
    return browser.find(".tip").text.replace("\u202f", " ")


def plot(browser, figure):
    """Return the live chart of a figure."""
    return browser.find(f"#{figure} svg.chart.live")


def test_the_page_fits_and_follows_the_scheme(every_view, address):
    every_view.open(address)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert every_view.run(wide) == 0
    ground = every_view.run("return getComputedStyle(document.body).backgroundColor")
    is_dark = every_view.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert ground == ("rgb(11, 16, 21)" if is_dark else "rgb(244, 246, 248)")


def test_no_letter_of_a_chart_is_too_small_to_read(every_view, address):
    every_view.open(address)
    every_view.run("for (const d of document.querySelectorAll('details')) d.open = true")
    every_view.wait_until("document.querySelectorAll('svg.live text').length > 300")
    smallest = every_view.run("""
        return Math.min(...[...document.querySelectorAll("svg.live text")].map((text) =>
          parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a));
    """)
    assert smallest >= 11
    outside = every_view.run("""
        return [...document.querySelectorAll("svg.live text")].filter((text) => {
          const inner = text.getBoundingClientRect();
          const outer = text.ownerSVGElement.getBoundingClientRect();
          return inner.left < outer.left - 2 || inner.right > outer.right + 2;
        }).map((text) => text.textContent);
    """)
    assert outside == []


@pytest.mark.parametrize(
    ("figure", "x", "y", "said"),
    [
        ("comparison-risk", 0.5, 0.2, "by hour\n100 %\n95 % interval\n95 % to 100 %"),
        ("comparison-headrooms", 0.5, 0.5, "by device\nheadroom\n1.62×"),
        ("comparison-units", 0.2, 0.2, "by hour\nconsumed\n12.4 M\nrefused\n15.4 M"),
        ("comparison-costs", 0.2, 0.2, "by hour\nwrites\n$2,372\nreads\n$474"),
        ("comparison-worlds", 0.01, 0.5, "by device\n0 %\n73 of 73 worlds"),
        (
            "comparison-unknowns",
            0.5,
            0.3,
            "by hour: times of splits\ncalls throttled\n56 % to 61 %",
        ),
        ("comparison-over-time", 0.5, 0.5, "by hour\n56.5 %\nby device\n0 %"),
        ("by-hour-events-heat", 0.2, 0.68, "partition 3\nload\n100 %\nalso refused\n1"),
        ("by-hour-events-writes", 0.5, 0.5, "consumed\n1,000\nrefused attempts\n"),
        ("by-hour-events-concentration", 0.5, 0.2, "5 partitions\nthe busiest\n"),
        ("by-hour-attempts", 0.5, 0.1, "1 attempt\nshare of calls\n42.2 %"),
        ("by-hour-cost", 0.2, 0.3, "provisioned (this design)\nwrites\n$2,372"),
        ("by-hour-headroom", 0.9, 0.2, "calls throttled\nmultiple of the load\n8×"),
    ],
)
def test_every_chart_tells_values_under_the_pointer(page, figure, x, y, said):
    chart = plot(page, figure)
    page.point_at(chart, x, y)
    assert said in tip(page)
    page.point_at(page.find(f"#{figure} figcaption"), 0.1, 0.1)
    assert tip(page) == ""
    assert page.run("return arguments[0].querySelectorAll('.overlay > *').length", chart) == 0


def test_one_cursor_runs_through_the_charts_of_a_design(page):
    page.point_at(plot(page, "by-hour-events-writes"), 0.5, 0.5)
    for figure in ("by-hour-events-heat", "by-hour-events-reads", "comparison-over-time"):
        assert len(plot(page, figure).all(".cross")) == 1
    value = page.find("#by-hour-events-reads .legend .value")
    assert value.text == "120"


def test_dragging_zooms_all_charts_over_time_and_a_button_shows_the_whole_run(page):
    ticks = lambda: plot(page, "by-hour-events-heat").text  # noqa: E731
    whole = ticks()
    assert page.find("#by-hour-events-heat .reset").text == ""
    page.drag(plot(page, "by-hour-events-writes"), 0.4, 0.6)
    assert ticks() != whole
    reset = page.find("#by-hour-events-heat .reset")
    assert reset.text == "Show the whole run"
    reset.click()
    assert ticks() == whole


def test_a_finger_zooms_by_drawing_across_a_chart(page):
    page.show(width=390)
    chart = plot(page, "by-hour-events-writes")
    whole = chart.text
    page.drag(chart, 0.3, 0.7, kind="touch")
    assert chart.text != whole
    assert page.find("#by-hour-events-writes .reset").text == "Show the whole run"


def test_keys_move_the_cursor_and_zoom(page):
    chart = plot(page, "by-hour-events-writes")
    whole = chart.text
    chart.type("Home")
    chart.type("ArrowRight")
    said = chart.attribute("aria-valuetext").replace("\u202f", " ")
    assert said.startswith("0:01:00, consumed 2,4")
    live = page.run("return document.querySelector('[role=status]').textContent")
    assert live.replace("\u202f", " ") == said
    chart.type("+")
    assert chart.text != whole
    chart.type("0")
    assert chart.text == whole
    assert [chart.attribute(name) for name in ("role", "tabindex")] == ["slider", "0"]


def test_a_legend_switches_lines_off_and_the_scale_follows(page):
    chart = plot(page, "by-hour-events-writes")
    assert len(chart.all("path.stroke")) == 3
    refused = page.all("#by-hour-events-writes .legend button")[1]
    assert refused.text == "refused attempts"
    refused.click()
    assert refused is not None
    assert len(chart.all("path.stroke")) == 2
    pressed = page.all("#by-hour-events-writes .legend button")[1].attribute("aria-pressed")
    assert pressed == "false"


def test_the_chart_over_time_shows_another_measure(page):
    page.all("#comparison-over-time .choice button")[1].click()
    assert "units consumed per second" in plot(page, "comparison-over-time").text
    page.point_at(plot(page, "comparison-over-time"), 0.5, 0.5)
    assert "by device\n2," in tip(page)


def test_healthy_sections_are_folded_and_the_burning_one_is_open(page):
    state = "return [...document.querySelectorAll(arguments[0])].map((node) => node.open)"
    assert page.run(state, ".design") == [True, False, True]
    assert page.run(state, "#design-3 .resource") == [False, True]
    page.all("nav a")[4].click()
    page.wait_until("document.getElementById('design-2').open")
    page.wait_until("document.querySelector('#by-device-events-heat svg.live path') !== null")


def test_tables_sort_and_filter(page):
    column = lambda: [  # noqa: E731
        cell.text for cell in page.all("#design-1 .scroll tbody td:nth-child(4)")
    ]
    assert column() == ["26.5\u202fM", "100\u202fk"]
    heads = page.all("#design-1 .scroll th")
    heads[3].find("button").click()
    assert heads[3].attribute("aria-sort") == "descending"
    assert column() == ["26.5\u202fM", "100\u202fk"]
    heads[3].find("button").click()
    assert column() == ["100\u202fk", "26.5\u202fM"]
    assert heads[3].attribute("aria-sort") == "ascending"

    page.find("#checks input[type=search]").type("back-pressure")
    assert len(page.all("#checks tbody tr:not([hidden])")) == 1
    assert page.find("#checks .told").text == "1 of 3"


def test_the_best_of_a_row_is_marked(page):
    rows = {row.find("th").text: row for row in page.all(".compare tbody tr:not(.group)")}
    best = lambda label: [  # noqa: E731
        "best" in page.run("return arguments[0].textContent", cell)
        for cell in rows[label].all("td")
    ]
    assert best("headroom") == [False, True, False]
    assert best("worlds that throttle") == [False, True, False]
    assert best("partitions at the end") == [False, False, False]
    assert [mark.text for mark in page.all("#comparison-costs .best")] == ["✓ best"]


def test_compact_cells_have_a_legend(page):
    said = page.find(".reading").text
    assert "5 + 6" in page.find(".compare").text
    assert "6 + 6\nthe table, then each index" in said
    assert "1 / 9\nmedian and 99th percentile" in said
    assert "three indexes" not in said


def test_explanations_come_by_pointer_and_by_tap(page):
    hint, note = page.find(".compare .hint"), page.find(".compare .explanation")
    assert note.text == ""
    page.point_at(hint)
    assert note.text.startswith("in how many of the worlds")
    page.show(width=390)
    other = page.all(".compare .hint")[4]
    page.tap(other)
    said = page.run("return document.querySelector('.explanation:popover-open').textContent")
    assert said == "calls that were refused at every attempt"


def test_on_a_phone_a_tap_shows_values_and_wide_tables_say_so(page):
    page.show(width=390)
    page.tap(plot(page, "by-hour-events-heat"), 0.3, 0.5)
    assert "partition" in tip(page)
    note = page.find("#design-1 .scroll-note")
    page.wait_until("arguments[0].nextElementSibling.classList.contains('more-right')", note)
    assert note.text == "more to the right →"
    page.run("arguments[0].nextElementSibling.scrollLeft = 5000", note)
    page.wait_until("!arguments[0].nextElementSibling.classList.contains('more-right')", note)
    assert note.text == ""


def test_pictures_and_data_can_be_saved(page):
    page.run("""
        window.saved = [];
        HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };
    """)
    for kind in ("svg", "png", "json"):
        page.run("document.querySelector(`[data-save=${arguments[0]}]`).click()", kind)
    page.wait_until("saved.length === 3")
    names = page.run("return saved.map(([name]) => name)")
    assert sorted(names) == ["comparison-risk.png", "comparison-risk.svg", "report.json"]


def test_without_a_script_every_picture_is_there(browser, address):
    browser.without_scripts()
    browser.open(address)
    browser.without_scripts(disabled=False)
    assert browser.all("svg.live") == []
    figures = browser.all("figure[data-chart]")
    assert len(figures) > 25
    pictures = "return [...document.querySelectorAll('figure[data-chart] svg[role=img]')].length"
    assert browser.run(pictures) == len(figures)


def test_what_people_write_stays_text(browser, tmp_path):
    design = afternoon().designs[0]
    keys = tuple(
        replace(key, key=f"{HOSTILE}{number}") for number, key in enumerate(design.table.top_keys)
    )
    table = replace(design.table, name=HOSTILE, top_keys=keys)
    patterns = tuple(replace(pattern, name=HOSTILE) for pattern in design.patterns)
    hostile = replace(
        design, name=HOSTILE, verdict=HOSTILE, fix=HOSTILE, resources=(table,), patterns=patterns
    )
    comparison = replace(afternoon(), title=HOSTILE, designs=(hostile, afternoon().designs[1]))
    path = tmp_path / "report.html"
    path.write_text(html_page(comparison), encoding="utf-8")
    browser.open(path.as_uri())
    browser.point_at(plot(browser, "comparison-headrooms"), 0.5, 0.2)
    assert HOSTILE in tip(browser)
    assert browser.run("return document.title") == HOSTILE
    assert browser.all("img") == []
    assert browser.run("return document.scripts.length") == 2
