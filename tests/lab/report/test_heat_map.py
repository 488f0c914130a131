"""The heat map: every partition has its rows, whatever was split."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.outcome.result_types import HeatMap, PartitionSpan, SplitResult
from emulator.lab.report.heat_map import MAX_COLUMNS, MAX_ROWS, Cells, MapLayout, heat_map, shade
from tests.lab.report.comparisons import afternoon


def resource_of(spans, splits, steps=4):
    """Return a table with these partitions, all of them idle."""
    idle = tuple(tuple(0.0 for _ in spans) for _ in range(steps))
    heat = HeatMap(step_seconds=60.0, partitions=tuple(spans), load=idle, throttled=idle)
    return replace(afternoon().designs[0].table, heat=heat, splits=tuple(splits))


def split_of(parent, *children):
    return SplitResult(
        time=60.0, resource="t", partition_id=parent, children=children, cause="heat"
    )


def span(number, low, high, died=None):
    return PartitionSpan(
        partition_id=number, low=low, high=high, born=0.0, died=died, size_bytes=0, items=0
    )


@st.composite
def families(draw):
    """Return partitions some of which were split, and their splits."""
    spans, splits = [span(0, 0.0, 0.5), span(1, 0.5, 1.0)], []
    for _ in range(draw(st.integers(min_value=0, max_value=12))):
        position = draw(st.integers(min_value=0, max_value=len(spans) - 1))
        one = spans[position]
        if one.died is None:
            spans[position] = replace(one, died=60.0)
            middle, number = (one.low + one.high) / 2, len(spans)
            spans += [span(number, one.low, middle), span(number + 1, middle, one.high)]
            splits.append(split_of(one.partition_id, number, number + 1))
    return spans, splits


@given(families())
def test_rows_go_to_those_that_live_and_ancestors_span_theirs(family):
    spans, splits = family
    layout = MapLayout.of(resource_of(spans, splits))
    alive = [n for n, one in enumerate(spans) if one.died is None]
    assert sorted(layout.first[n] for n in alive) == list(range(layout.rows))
    assert {layout.height[n] for n in alive} == {1}
    for one in splits:
        parent, (left, right) = one.partition_id, one.children
        assert layout.first[parent] == layout.first[left]
        assert layout.height[parent] == layout.height[left] + layout.height[right]


@given(families())
def test_rows_are_in_key_order(family):
    spans, splits = family
    layout = MapLayout.of(resource_of(spans, splits))
    alive = [n for n, one in enumerate(spans) if one.died is None]
    by_row = sorted(alive, key=lambda n: layout.first[n])
    assert [spans[n].low for n in by_row] == sorted(spans[n].low for n in alive)


def test_a_split_within_one_hash_keeps_siblings_apart():
    spans = [span(0, 0.5, 0.5, 60.0), span(1, 0.5, 0.5, 60.0), span(2, 0.5, 0.5)]
    spans += [span(3, 0.5, 0.5), span(4, 0.5, 0.5)]
    layout = MapLayout.of(resource_of(spans, [split_of(0, 1, 2), split_of(1, 3, 4)]))
    assert list(zip(layout.first, layout.height, strict=True)) == [
        (0, 3),
        (0, 2),
        (2, 1),
        (0, 1),
        (1, 1),
    ]


def test_a_refused_split_changes_nothing():
    spans = [span(0, 0.0, 0.5), span(1, 0.5, 1.0)]
    assert MapLayout.of(resource_of(spans, [split_of(0)])) == MapLayout.of(resource_of(spans, []))


def test_a_map_that_does_not_fit_shows_the_hottest_of_each_group():
    count, steps = MAX_ROWS * 3, MAX_COLUMNS * 2
    spans = [span(n, n / count, (n + 1) / count) for n in range(count)]
    hot = [[0.1] * count for _ in range(steps)]
    hot[5][7] = 0.9
    resource = resource_of(spans, [], steps)
    heat = replace(resource.heat, load=tuple(tuple(row) for row in hot))
    cells = Cells.of(heat, MapLayout.of(resource))
    assert (len(cells.load), cells.columns) == (MAX_ROWS, MAX_COLUMNS)
    assert cells.load[2][2] == 0.9
    assert sum(value > 0.5 for row in cells.load for value in row) == 1


def test_a_thousand_partitions_make_a_small_picture():
    count = 1000
    spans = [span(n, n / count, (n + 1) / count) for n in range(count)]
    resource = resource_of(spans, [], 60)
    load = tuple(tuple((n * 7 + step) % 10 / 10 for n in range(count)) for step in range(60))
    picture = heat_map(replace(resource, heat=replace(resource.heat, load=load)))
    assert len(picture) < 400_000
    assert "1000 partitions" in picture


def test_shades_tell_idle_busy_full_and_refused_apart():
    assert [shade(load, 0.0) for load in (None, 0.0, 0.001, 0.5, 1.0, 3.0)] == [
        "",
        "h0",
        "h1",
        "h4",
        "h7",
        "h7",
    ]
    assert [shade(1.0, refused) for refused in (0.01, 0.5, 2.0)] == ["t0", "t1", "t2"]


def test_shares_of_the_demand_are_of_what_was_asked_of_each_partition():
    resource = resource_of([span(0, 0.0, 0.5), span(1, 0.5, 1.0)], [], steps=2)
    heat = replace(resource.heat, load=((0.2, 0.1), (0.3, 0.1)), throttled=((0.0, 0.0), (0.1, 0.0)))
    picture = heat_map(replace(resource, heat=heat))
    assert re.findall(r">([0-9]+)[^0-9<]*%</text>", picture)[-2:] == ["75", "25"]
