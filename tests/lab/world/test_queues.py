"""What waits for indexes: it passes as the index lets it, and nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload, world
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, World, draw_worlds
from emulator.lab.world import Worlds
from emulator.lab.world.families import Cut
from emulator.lab.world.queues import IndexQueue
from emulator.settings import Settings
from tests.lab.world.worlds import run_of

WORLDS, SLOTS = 2, 3


def behind(*, rate=100, write=60, duration=60, **options):
    """Return a design whose index takes in less than its table."""
    put = Pattern("put", "PutItem", rate=rate, size=300)
    workload = Workload(
        fields=[Field("user", count=500), Field("kind", count=60)],
        patterns=[put],
        duration=duration,
        warm_up=0,
        **options,
    )
    index = Index("byKind", partition="{kind}", capacity=Capacity(read=5, write=write))
    capacity = Capacity(read=5, write=2 * rate)
    keys = {"partition": "{user}", "sort": "{timestamp}"}
    return Layout(Design("d", **keys, indexes=[index], capacity=capacity), workload)


def queue_of(worlds=WORLDS):
    run = run_of(behind(), draw_worlds(0, worlds, Known(Settings(gsi_buffer_seconds=100))))
    return run.state.queues[0], run.state.numbers


QUEUE, NUMBERS = queue_of()
tables = [QUEUE._tables[0], QUEUE._tables[1]]
units = arrays(np.float64, (WORLDS, SLOTS), elements=st.floats(0, 500))


@given(st.lists(st.tuples(units, units, st.floats(0, 900)), min_size=1, max_size=6))
def test_what_enters_passes_or_waits(seconds):
    """CAP2-4: against plain sums; no limit gives more than it has, and none keeps what waits."""
    queue = IndexQueue(1, 0, tables, NUMBERS)
    queue.waits = np.zeros((WORLDS, SLOTS))
    worlds = np.arange(WORLDS)
    for entering, room, above in seconds:
        before = queue.waits.copy()

        passed, delayed, is_over = queue.let_pass(
            worlds, entering, room, np.full((WORLDS, 1), above)
        )

        assert before + entering == pytest.approx(passed + queue.waits, abs=1e-5)
        assert (passed <= room + 1e-9).all()
        assert (passed.sum(axis=1) <= above + 1e-6).all()
        assert (delayed >= 0).all()
        assert (delayed <= entering + 1e-9).all()
        assert (delayed[before > 1e-6] == entering[before > 1e-6]).all()
        for row in np.flatnonzero(~is_over):
            full = passed[row] == pytest.approx(np.minimum(room[row], (before + entering)[row]))
            assert full
        for row in np.flatnonzero(is_over):
            assert passed[row].sum() == pytest.approx(above, abs=1e-6)


def test_a_split_hands_on_what_waits_and_nothing_else():
    """CAP2-4: half to each child."""
    queue, numbers = queue_of()
    queue.waits[1, 0], queue.waits[1, 1] = 9.0, 5.0

    queue.split(Cut(1, 1, 0, [2, 3], [(0,), (1,)], (2,)))

    assert queue.waits[1, :4].tolist() == [0.0, 5.0, 4.5, 4.5]
    assert queue.backlog.tolist() == [0.0, 14.0]
    queue.grow(numbers.rooms[1] + 4)
    assert queue.backlog.tolist() == [0.0, 14.0]


@pytest.mark.parametrize("seconds", [20, 200])
def test_an_index_that_falls_behind_closes_its_table_when_its_buffer_is_full(seconds):
    """CAP2-4: of 100 units a second 40 wait, until as many wait as the buffer has room for."""
    layout, settings = behind(duration=150), Settings(gsi_buffer_seconds=seconds)
    [buffer] = run_of(layout, [World(0, 0, settings)]).state.queues[0].buffers

    log = world.run(layout, settings=settings)

    _, index = log.resources.values()
    if buffer / 40 < 150:
        assert index.closed_at == pytest.approx(buffer / 40, abs=2)
        assert log.throttled_share > 0
    else:
        assert (index.closed_at, log.throttled_share) == (None, 0)
        assert index.backlog[-1] == pytest.approx(40 * 150, rel=0.02)


def test_when_an_index_would_close_is_told_before_it_does():
    """CAP2-4: a longer run shows that it does."""
    worlds = draw_worlds(0, 2, Known(Settings(gsi_buffer_seconds=40, burst_start=0.01)))

    short = Worlds(behind(duration=100)).play(worlds)
    long = Worlds(behind(duration=300)).play(worlds)

    for before, after in zip(short, long, strict=True):
        assert before.closes_after > 100
        assert after.closes_after == pytest.approx(before.closes_after, abs=3)
        assert after.throttled_share > before.throttled_share == 0
