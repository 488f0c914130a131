"""The kit by itself: charts, tables and explanations on a page made for the purpose."""

import pytest

from emulator import web
from emulator.lab.outcome import words

KIT = """
import { element } from "./kit/dom.js";
import { bars, intervals } from "./kit/bars.js";
import { curve } from "./kit/curve.js";
import { distribution } from "./kit/distribution.js";
import { heatMap } from "./kit/heat_map.js";
import { timeLink } from "./kit/plot.js";
import { dataTable, filterBox, markScrolling } from "./kit/table.js";
import { explained } from "./kit/explain.js";
import { timeSeries } from "./kit/time_series.js";
import {
  bytes, clock, count, dollars, duration, multiple, percent, significant,
} from "./kit/format.js";
window.kit = {
  element, bars, intervals, curve, distribution, heatMap, timeLink, dataTable, filterBox,
  markScrolling, explained, timeSeries,
  format: { bytes, clock, count, dollars, duration, multiple, percent, significant },
};
"""
HOSTILE = "<img src=x onerror=document.title='owned'></script><script>document.title='owned'"


@pytest.fixture
def kit(browser, tmp_path, monkeypatch):
    """A page with all of the kit, and one empty figure."""
    real = web.files.read
    monkeypatch.setattr(
        "emulator.web.pages.read", lambda name: KIT if name == "all.js" else real(name)
    )
    page = web.page(
        title="kit",
        generator="test",
        body="<main class=panel><figure id=host></figure></main>",
        data={},
        styles=("kit/chart.css", "kit/base.css"),
        module="all.js",
    )
    path = tmp_path / "kit.html"
    path.write_text(page, encoding="utf-8")
    browser.open(path.as_uri())
    return browser


def test_time_series_share_a_cursor_a_zoom_and_a_legend(kit):
    kit.run("""
        const host = document.getElementById("host"), link = kit.timeLink(0, 600);
        for (const name of ["first", "second"]) {
          const div = host.appendChild(kit.element("div", { id: name }));
          kit.timeSeries(div, { label: name, step: 60, link, title: "units per second", series: [
            { name: "consumed", color: "blue", shape: "area",
              values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
            { name: "refused", color: "red", shape: "stack",
              values: [0, 0, 0, 0, 0, 90, 0, 0, 0, 0] },
          ] });
        }
    """)
    first, second = kit.all("svg.chart")
    kit.point_at(first, 0.5)
    assert kit.find(".tip").text == "0:04:00\nconsumed\n5\nrefused\n0"
    assert len(second.all(".cross")) == 1
    assert [value.text for value in kit.all("#second .legend .value")] == ["5", "0"]

    assert "100" in second.text
    kit.all("#second .legend button")[1].click()
    assert kit.all("#second .legend button")[1].attribute("aria-pressed") == "false"
    assert "100" not in second.text

    kit.drag(first, 0.5, 0.9)
    ticks = [tick.text for tick in second.all(".tick.mid")]
    assert "0\u202fs" not in ticks
    first.type("0")
    assert "0\u202fs" in [tick.text for tick in second.all(".tick.mid")]
    first.type("ArrowRight")
    first.type("ArrowRight")
    assert first.attribute("aria-valuetext") == "0:01:00, consumed 2, refused 0"
    assert kit.find("[role=status]").attribute("aria-live") == "polite"


def test_a_heat_map_divides_its_rows_where_a_partition_splits(kit):
    kit.run("""
        const partition = (id, low, high, born, died) =>
          ({ partition_id: id, low, high, born, died });
        kit.heatMap(document.getElementById("host"), {
          label: "partitions",
          heat: {
            step_seconds: 60,
            partitions: [partition(0, 0, 0.5, 0, null), partition(1, 0.5, 1, 0, 120),
              partition(2, 0.5, 0.75, 120, null), partition(3, 0.75, 1, 120, null)],
            load: [[0.1, 1, null, null], [0.1, 1, null, null], [0.1, null, 0.5, 0.4]],
            throttled: [[0, 0.5, null, null], [0, 0.5, null, null], [0, null, 0, 0]],
          },
          splits: [{ time: 120, partition_id: 1, children: [2, 3] }],
        });
    """)
    chart = kit.find("svg.chart")
    labels = [label.text for label in chart.all(".tick.end")][:3]
    assert labels == ["P0", "P2", "P3"]
    assert len(chart.all(".splitdot")) == 1
    kit.point_at(chart, 0.2, 0.6)
    assert (
        kit.find(".tip").text == "0:00:00, partition 1\nload\n100\u202f%\nalso refused\n50\u202f%"
    )
    chart.type("ArrowRight")
    chart.type("ArrowRight")
    assert chart.attribute("aria-valuetext") == "0:02:00, partition 3, load 40\u202f%"


def test_bars_intervals_curves_and_distributions_tell_values(kit):
    kit.run("""
        const host = document.getElementById("host");
        const put = (id) => host.appendChild(kit.element("div", { id }));
        const { percent, dollars } = kit.format;
        kit.bars(put("bars"), { label: "cost", format: dollars, rows: [
          { name: "a", isBest: true, parts: [{ name: "writes", value: 3, color: "blue" },
            { name: "reads", value: 1, color: "teal" }] },
          { name: "b", parts: [{ name: "writes", value: 9, color: "blue" }] } ] });
        kit.intervals(put("intervals"), { label: "risk", format: percent, rows: [
          { name: "a", low: 0.1, value: 0.2, high: 0.4, text: "20 %", color: "d1" } ] });
        kit.distribution(put("distribution"), { label: "worlds", format: percent, noun: "worlds",
          rows: [{ name: "a", values: [0, 0, 0.5], color: "d1" }] });
        kit.curve(put("curve"), { label: "headroom", series: [
          { name: "a", color: "d1", points: [[1, 0], [2, 1]] }],
          x: { low: 1, high: 2, format: String, title: "load" },
          y: { low: 0, high: 1, format: percent, title: "throttled" } });
    """)
    tip = lambda: kit.find(".tip").text.replace("\u202f", " ")  # noqa: E731
    kit.point_at(kit.find("#bars svg"), 0.1, 0.2)
    assert tip() == "a\nwrites\n$3.00\nreads\n$1.00\ntogether\n$4.00"
    assert kit.find("#bars .best").text == "✓ best"
    kit.point_at(kit.find("#intervals svg"), 0.1, 0.5)
    assert tip() == "a\n20 %\n95 % interval\n10 % to 40 %"
    kit.point_at(kit.find("#distribution svg"), 0.02, 0.3)
    assert tip() == "a\n0 %\n2 of 3 worlds"
    kit.point_at(kit.find("#curve svg"), 0.95, 0.2)
    assert tip() == "a\nload\n2\nthrottled\n100 %"


NUMBERS = [
    *(0, 1e-7, 0.00001, 0.000123, 0.0099, 0.01, 0.0123, 0.05, 0.0999, 0.1, 0.333, 0.5, 0.999),
    *(0.99951, 0.99991, 0.9999999, 1, 1.5, 9.99, 12.345, 59.94, 59.96, 61, 99.5, 100, 200.5, 999.9),
    *(1000, 1234.5, 3599.7, 3600, 3900, 9999, 9999.9, 10_000, 99_960, 200_000, 1e6, 3.6e9, 7e12),
]
FORMATS = {
    "bytes": words.size,
    "count": words.count,
    "dollars": words.dollars,
    "duration": words.duration,
    "multiple": words.multiple,
    "percent": words.percent,
    "significant": words.significant,
}


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_said_as_the_lab_says_them(kit, name):
    numbers = [n for n in NUMBERS if n <= 1] if name == "percent" else NUMBERS
    said = kit.run(
        "const [name, numbers] = arguments; return numbers.map((n) => kit.format[name](n))",
        name,
        numbers,
    )
    assert said == [FORMATS[name](number) for number in numbers]


def test_tables_are_sorted_and_filtered(kit):
    kit.run("""
        const rows = [{ key: "b", units: 10 }, { key: "a", units: 9 }, { key: "c", units: 100 }];
        const made = kit.dataTable({ label: "keys", rows, columns: [
          { name: "key", text: (row) => row.key },
          { name: "units", isNumber: true, text: (row) => `${row.units} WCU`,
            value: (row) => row.units },
        ] });
        const table = made.node.querySelector("table");
        document.getElementById("host").append(kit.filterBox(table), made.node);
    """)
    keys = lambda: [cell.text for cell in kit.all("tbody tr:not([hidden]) td:first-child")]  # noqa: E731
    kit.all("th button")[1].click()
    assert keys() == ["c", "b", "a"]
    assert kit.all("th")[1].attribute("aria-sort") == "descending"
    kit.all("th button")[0].click()
    assert keys() == ["a", "b", "c"]
    kit.find("input").type("10")
    assert keys() == ["b", "c"]
    assert kit.find(".told").text == "2 of 3"


def test_an_explanation_is_shown_by_the_pointer_a_tap_and_a_key(kit):
    kit.run("""
        document.getElementById("host").append(...kit.explained("headroom", "how much more"));
    """)
    button, note = kit.find("button.hint"), kit.find(".explanation")
    kit.point_at(button)
    assert note.text == "how much more"
    kit.point_at(kit.find("main"), 0.9, 0.9)
    assert note.text == ""
    button.type("Enter")
    assert note.text == "how much more"
    button.type("Escape")
    assert note.text == ""
    kit.show(width=390)
    kit.tap(button)
    assert note.text == "how much more"


def test_hostile_names_stay_text(kit):
    kit.run(
        """
        const name = arguments[0], host = document.getElementById("host");
        const put = () => host.appendChild(kit.element("div"));
        kit.timeSeries(put(), { label: name, step: 1, title: name, note: name,
          series: [{ name, values: [1, 2], color: "blue" }] });
        const parts = [{ name, value: 1, color: "blue" }];
        kit.bars(put(), { label: name, rows: [{ name, text: name, parts }] });
        const columns = [{ name, text: () => name }];
        host.append(kit.dataTable({ label: name, rows: [{}], columns }).node);
        host.append(...kit.explained(name, name));
        """,
        HOSTILE,
    )
    kit.point_at(kit.find("svg.chart"))
    assert HOSTILE in kit.find(".tip").text
    assert kit.all("img") == []
    assert kit.run("return document.title") == "kit"
