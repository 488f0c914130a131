"""The pictures: all of them, each well-formed, from any result that an engine may give."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from emulator.lab.outcome.result_types import Concentration, Cost, CostLine, MinuteSeries
from emulator.lab.report import charts, standalone
from emulator.lab.report.charts import _MAX_ATTEMPTS as MOST
from emulator.lab.report.charts import (
    attempts_shares,
    concentration,
    cost_parts,
    headroom,
    throughput,
    traffic_of,
)
from emulator.lab.report.drawing import draw
from tests.each import each
from tests.lab.report.comparisons import afternoon

NAMES = [
    "comparison-risk",
    "comparison-headrooms",
    "comparison-over-time",
    "comparison-units",
    "comparison-costs",
    "comparison-worlds",
    "comparison-unknowns",
    "by-hour-events-heat",
    "by-hour-events-writes",
    "by-hour-events-reads",
    "by-hour-events-concentration",
    "by-hour-attempts",
    "by-hour-cost",
    "by-hour-headroom",
]


def test_every_design_has_its_pictures():
    assert [chart.name for chart in charts(afternoon())][: len(NAMES)] == NAMES


def test_an_axis_without_traffic_has_no_picture():
    names = [chart.name for chart in charts(afternoon())]
    assert "by-device-index-on-type-eventtypeindex-writes" in names
    assert "by-device-index-on-type-eventtypeindex-reads" not in names


@each("chart", list(charts(afternoon())), ids=lambda chart: chart.name)
def test_a_picture_is_xml_inside_its_frame(chart):
    root = ElementTree.fromstring(standalone(chart.svg, chart.title).encode())
    _, _, width, height = (float(part) for part in root.get("viewBox").split())
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= width, element.attrib
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, 0)) <= height, element.attrib


def test_names_are_unique():
    names = [chart.name for chart in charts(afternoon())]
    assert len(set(names)) == len(names)


def test_what_is_available_leaves_the_picture_when_it_dwarfs_the_demand():
    flow = MinuteSeries(
        step_seconds=60.0,
        consumed=(10.0, 10.0),
        provisioned=(4000.0, 4000.0),
        burst=(0.0, 0.0),
        throttled=(0.0, 0.0),
    )
    [panel] = throughput(flow, "write").panels
    assert [series.name for series in panel.series] == ["consumed"]
    assert panel.note == "off the chart: 4,000 available"


def test_a_storm_of_retries_does_not_press_the_rest_against_the_floor():
    flow = MinuteSeries(
        step_seconds=60.0,
        consumed=(1000.0, 1000.0),
        provisioned=(5000.0, 5000.0),
        burst=(0.0, 0.0),
        throttled=(0.0, 90_000.0),
    )
    assert "off the chart: refused attempts up to 91" in draw(throughput(flow, "write"))


def test_an_empty_run_can_be_drawn():
    flow = MinuteSeries(step_seconds=60.0, consumed=(), provisioned=(), burst=(), throttled=())
    ElementTree.fromstring(draw(throughput(flow, "read")))
    still = replace(flow, consumed=(0.0,), provisioned=(0.0,), throttled=(0.0,))
    ElementTree.fromstring(draw(throughput(still, "read")))


def test_the_busiest_part_of_the_traffic_is_read_between_points():
    curve = Concentration(population=(0.0, 0.1, 1.0), traffic=(0.0, 0.5, 1.0))
    assert [traffic_of(curve, share) for share in (0.05, 0.1, 0.55, 1.0)] == [0.25, 0.5, 0.75, 1.0]


def test_attempts_are_shares_of_all_calls():
    shares, failed = attempts_shares(afternoon().designs[0])
    assert [name for name, _ in shares] == ["1", "2", "3", "4", "5", "6", "7", "8", "9 or more"]
    assert sum(share for _, share in shares) == pytest.approx(1.0)
    assert failed == pytest.approx(0.5778 / 256, rel=1e-3)


def test_the_last_row_of_attempts_is_for_more_than_there_is_room_for():
    pattern = afternoon().designs[0].patterns[0]
    for count, last in ((MOST, str(MOST)), (MOST + 1, f"{MOST + 1} or more")):
        histogram = (1.0,) * count
        whole = replace(
            pattern, calls=float(count), attempts_histogram=histogram, failed_histogram=()
        )
        rows, _ = attempts_shares(replace(afternoon().designs[0], patterns=(whole,)))
        assert rows[-1] == (last, pytest.approx(1 / count))


def test_splits_that_did_not_happen_are_told_with_their_causes():
    design = afternoon().designs[0]
    split = design.resources[0].splits or afternoon().designs[2].resources[1].splits
    refused = replace(split[0], children=(), cause="sequential")
    table = replace(design.resources[0], splits=(refused, refused))
    heat = next(
        chart
        for chart in charts(replace(afternoon(), designs=(replace(design, resources=(table,)),)))
        if chart.name.endswith("heat")
    )
    assert heat.caption.endswith(" 2 splits did not happen: sequential.")


def test_a_bill_is_divided_without_loss():
    items = (
        "read capacity",
        "write capacity",
        "replicated writes",
        "storage",
        "stream reads",
        "tax",
    )
    lines = tuple(
        CostLine(resource="t", item=item, quantity=1, price=1, amount=amount)
        for amount, item in enumerate(items, 1)
    )
    cost = Cost(billing="provisioned", table_class="STANDARD", lines=lines, total=21, chosen=True)
    parts = {part.name: part.value for part in cost_parts(cost)}
    assert parts == {"writes": 5, "reads": 6, "storage": 4, "other": 6}


def test_a_curve_of_one_point_can_be_drawn():
    resource = afternoon().designs[0].table
    one = Concentration(population=(1.0,), traffic=(1.0,))
    ElementTree.fromstring(
        draw(concentration(replace(resource, key_concentration=one, partition_concentration=one)))
    )


def test_headroom_of_nothing_can_be_drawn():
    found = afternoon().designs[0].headroom
    ElementTree.fromstring(draw(headroom(replace(found, multiple=0.0, curve=found.curve[:1]))))
