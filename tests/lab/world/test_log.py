"""The log of one world: few points however long it is, and sums that are those of the run."""

import numpy as np
import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Pattern,
    Preload,
    Sequential,
    Workload,
    Zipf,
    world,
)
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

DAY = 86_400
MOST_POINTS = 2_000


def devices(*, rate=20, duration=120, write=100, warm_up=0, **options):
    workload = Workload(
        fields=[Field("deviceId", count=300, distribution=Zipf(0.8))],
        patterns=[
            Pattern("put", "PutItem", rate=rate),
            Pattern("look", "Query", by=("deviceId",), items=3, rate=1),
        ],
        duration=duration,
        warm_up=warm_up,
        preload=[Preload(pattern="put", items=1_000)],
        **options,
    )
    capacity = Capacity(read=50, write=write)
    return Layout(
        Design("d", partition="{deviceId}", sort="{timestamp}", capacity=capacity), workload
    )


@pytest.mark.parametrize("duration", [120, 5_000, 30 * DAY])
def test_a_series_has_few_points_however_long_the_run_is(duration):
    [table] = world.run(devices(duration=duration)).resources.values()
    for axis in (0, 1):
        for series in (table.consumed, table.throttled, table.provisioned, table.burst):
            assert len(series[axis]) <= MOST_POINTS
    assert len(table.minutes) <= MOST_POINTS
    assert sum(table.consumed[1]) == pytest.approx(20 * duration)
    assert set(table.provisioned[1]) == {100.0}


@pytest.mark.parametrize("rate", [20, 300])
@pytest.mark.parametrize("warm_up", [0, 60])
def test_the_figures_of_a_log_add_up(rate, warm_up):
    """CAP2-10: by point, by partition and minute, by key and by pattern they are the same."""
    log = world.run(devices(rate=rate, warm_up=warm_up), settings=Settings())
    [table] = log.resources.values()
    put, look = log.patterns["put"], log.patterns["look"]

    consumed = sum(table.consumed[1])
    by_partition = sum(cell[1] for minute in table.minutes for cell in minute.values())
    assert by_partition == pytest.approx(consumed)
    assert sum(own.requests for own in (put, look)) == pytest.approx(120 * (rate + 1))
    if not warm_up or rate == 20:
        assert put.units["table"][1] == pytest.approx(consumed)
        assert put.units["table"][1] == pytest.approx(put.attempts - put.refusals, rel=1e-3)
    assert look.units["table"][0] == pytest.approx(sum(table.consumed[0]))
    assert (put.refusals > 0) == (sum(table.throttled[1]) > 0) == (rate == 300)
    assert sum(put.throttled_by_reason.values()) == pytest.approx(put.throttled)


def test_what_is_refused_is_told_in_its_second():
    """The reserve is empty at first: what is above the rate is refused from second 0 on."""
    log = world.run(devices(rate=300, duration=60), settings=Settings())
    [table] = log.resources.values()
    assert log.first_throttle <= 1
    assert all(lost > 0 for lost in table.throttled[1][2:])
    assert table.consumed[1][2:58] == pytest.approx([100.0] * 56, rel=0.01)


def drained(**capacities):
    """Return the log of 150 writes a second in turn, of a table with an index."""
    workload = Workload(
        fields=[Field("deviceId", count=300, distribution=Sequential()), Field("kind", count=4)],
        patterns=[Pattern("put", "PutItem", rate=150)],
        duration=110,
        warm_up=0,
    )
    own = {name: Capacity(read=5, write=write) for name, write in capacities.items()}
    index = Index("byKind", partition="{kind}", capacity=own["index"])
    design = Design(
        "d",
        partition="{deviceId}",
        sort="{timestamp}",
        indexes=[index],
        capacity=own["table"],
    )
    settings = Settings(burst_start=0.2, gsi_buffer_seconds=600)
    return world.run(Layout(design, workload), settings=settings).resources.values()


def test_a_reserve_is_shown_as_it_falls():
    """CAP2-5: by 50 units in every second, of 6,000."""
    table, _ = drained(table=100, index=200)
    expected = 6_000 - 50.0 * np.arange(1, 111)
    assert table.burst[1][:105] == pytest.approx(expected[:105], abs=60)


def test_what_waits_is_shown_as_it_grows():
    """CAP2-4: by 100 units in every second, once the reserve of 3,000 is gone."""
    _, index = drained(table=200, index=50)
    expected = np.maximum(0, 100.0 * np.arange(1, 111) - 3_000)
    assert index.backlog == pytest.approx(expected, abs=110)
