"""Iterator age: a consumer's queue per shard, held against a second-by-second model."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Design, Field, Pattern, Workload, compare, exact, world
from emulator.lab.inputs.extras import Extras
from emulator.lab.outcome.iterator_age import iterator_ages
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.layout import Layout
from emulator.lab.report.text import text_report


def hot(records):
    """Return a design whose one hot key has a consumer of some speed."""
    return Design(f"at {records:g}", partition="{id}", extras=Extras(stream_records=records))


def writes():
    return Workload(
        fields=[Field("id", count=1)],
        patterns=[Pattern("put", "PutItem", rate=20)],
        duration=120,
        warm_up=0,
    )


def test_a_consumer_that_keeps_up_is_never_behind():
    """STM-12."""
    minutes = [{1: 300.0, 2: 0.0}] * 5
    assert iterator_ages(minutes, {}, records_per_second=5, seconds=300) == [0.0] * 5


def test_a_consumer_at_half_the_rate_is_half_of_the_time_behind():
    """STM-12: and catches up when the writes stop."""
    minutes = [{1: 600.0}] * 4 + [{1: 0.0}] * 4
    ages = iterator_ages(minutes, {}, records_per_second=5, seconds=480)
    assert ages == [30.0, 60.0, 90.0, 120.0, 150.0, 180.0, 210.0, 0.0]


def test_shards_are_read_side_by_side():
    """STM-12: the slowest is told."""
    minutes = [{1: 600.0, 2: 60.0}] * 2
    assert iterator_ages(minutes, {}, records_per_second=5, seconds=120) == [30.0, 60.0]


def test_children_wait_for_their_parent():
    """STM-12: what it left unread comes first."""
    minutes = [{1: 900.0}, {2: 30.0, 3: 30.0}, {2: 0.0, 3: 0.0}, {2: 0.0, 3: 0.0}]
    ages = iterator_ages(minutes, {2: 1, 3: 1}, records_per_second=5, seconds=240)
    assert ages == [40.0, 80.0, 120.0, 0.0]


def test_the_last_minute_may_be_short():
    """STM-12."""
    assert iterator_ages([{1: 600.0}], {}, records_per_second=5, seconds=30) == [22.5]


@given(st.lists(st.integers(0, 40).map(lambda n: 60.0 * n), max_size=8), st.integers(1, 20))
def test_the_queue_agrees_with_one_that_is_counted_second_by_second(records, rate):
    """STM-12."""
    queue: deque[float] = deque()
    expected = []
    for number, written in enumerate(records):
        for second in range(60):
            queue.extend([number * 60 + second] * round(written / 60))
        for _ in range(min(len(queue), rate * 60)):
            queue.popleft()
        expected.append((number + 1) * 60 - queue[0] if queue else 0.0)
    minutes = [{1: written} for written in records]
    ages = iterator_ages(minutes, {}, records_per_second=rate, seconds=60 * len(records))
    assert ages == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize("engine", [exact, world], ids=["exact", "aggregate"])
def test_a_run_says_how_far_a_consumer_is_behind(engine):
    """STM-12: 20 writes a second of one key, of which 5 are read."""
    (table,) = resource_results(engine.run(Layout(hot(5), writes())))
    assert table.iterator_age.longest == pytest.approx(90, abs=3)
    assert table.iterator_age.at_the_end == table.iterator_age.longest
    (fast,) = resource_results(engine.run(Layout(hot(50), writes())))
    assert fast.iterator_age.longest == 0
    (unasked,) = resource_results(engine.run(Layout(hot(0), writes())))
    assert unasked.iterator_age is None


def test_a_report_has_a_row_for_it():
    """STM-12: if somebody asks."""
    plain = {"worlds": 1, "headroom": False, "sensitivity": False, "fix": False}
    report = text_report(compare(writes(), [hot(5), hot(50)], **plain))
    (row,) = [line.split() for line in report.splitlines() if "iterator age" in line]
    assert row[-5:] == ["30", "s,", "and", "growing", "none"]
    assert "iterator age" not in text_report(compare(writes(), [hot(0)], **plain))
