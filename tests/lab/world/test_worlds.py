"""Laws across the room: worlds played at once are each what they would be alone."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from emulator.lab import (
    Capacity,
    Clients,
    Design,
    Field,
    Index,
    Pattern,
    Preload,
    Workload,
    Zipf,
    exact,
    world,
)
from emulator.lab.outcome.thresholds import THRESHOLD
from emulator.lab.outcome.world_outcome import outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings
from tests.lab.world.worlds import (
    KNOWN,
    MANY,
    close,
    events,
    figures,
    orders,
    played,
    scaling,
    seconds_played,
    splitting,
)


def with_clients(retry, **clients):
    """Return orders whose clients give up, or send batches."""
    design, workload = orders(retry=retry)
    return design, replace(workload, clients=Clients(count=20, **clients), duration=100)


def batches():
    design, workload = with_clients("standard", batch_retry="backoff")
    put = Pattern("put", "BatchWriteItem", rate=120, actions=10)
    get = Pattern("get", "TransactGetItems", by=("user",), rate=90, actions=3)
    return design, replace(workload, patterns=(put, get))


def growing():
    """Return a table that a Scan finds larger and larger, in partitions that differ by world."""
    workload = Workload(
        fields=[Field("user", count=40, distribution=Zipf(0.8))],
        patterns=[
            Pattern("put", "PutItem", rate=20, size=300),
            Pattern("scan", "Scan", rate=0.5),
        ],
        duration=400,
        warm_up=60,
        preload=[Preload(pattern="put", items=2_000)],
    )
    capacity = Capacity(read=1_000, write=4_500)
    return Design("d", partition="{user}", sort="{timestamp}", capacity=capacity), workload


CASES = {
    "an index, reads, standard retries": orders,
    "callers that give up": lambda: with_clients("legacy", timeout=3.0),
    "batches and transactions": batches,
    "auto scaling": scaling,
    "splits for heat": splitting,
    "growth on demand": lambda: events(rate=9_000, duration=180),
    "prices that grow": growing,
}
EVERY = pytest.mark.parametrize("name", CASES)
#: The one of many worlds that is also played alone, and logged.
NUMBER = 2
WORLDS = draw_worlds(0, MANY, KNOWN)
WORLD = WORLDS[NUMBER]


@cache
def layout_of(name):
    return Layout(*CASES[name]())


@cache
def together(name):
    """Return the outcomes of four worlds that were played together, and the engine."""
    engine = Worlds(layout_of(name))
    return engine.play(WORLDS[:4]), engine


@cache
def logged(name):
    """Return the outcome of one world by its log, of which no other was played before."""
    log = world.run(layout_of(name), seed=WORLD.arrivals, settings=WORLD.settings)
    return outcome_of(WORLD, log)


@EVERY
def test_a_world_is_the_same_whatever_others_are_played(name):
    all_four, _ = together(name)

    [alone] = played(layout_of(name), [NUMBER])

    assert close(alone, all_four[NUMBER])
    assert all(map(close, played(layout_of(name), [3, 1]), (all_four[3], all_four[1])))
    assert len({outcome.units["table"] for outcome in all_four}) > 1


@pytest.mark.parametrize("name", ["callers that give up", "splits for heat", "growth on demand"])
def test_the_order_of_worlds_changes_none(name):
    all_four, _ = together(name)
    turned = played(layout_of(name), [3, 1, 0, 2])
    assert all(
        close(outcome, all_four[number])
        for outcome, number in zip(turned, [3, 1, 0, 2], strict=True)
    )


@EVERY
def test_a_log_does_not_change_a_world(name):
    all_four, _ = together(name)
    assert close(logged(name), all_four[NUMBER])


@EVERY
def test_a_world_is_logged_alike_before_and_after_others(name):
    """What worlds share is worked out once; no run leaves anything in it."""
    _, engine = together(name)
    assert close(outcome_of(WORLD, engine.log(WORLD)), logged(name))


def test_the_same_worlds_again_give_the_same_outcomes():
    engine = Worlds(layout_of("an index, reads, standard retries"))
    worlds = draw_worlds(0, 4, Known())

    first = engine.play(worlds)

    assert engine.play(worlds) == first
    assert all(map(close, engine.play(worlds[2:]), first[2:]))


AGAIN = """
from emulator.lab.planning.layout import Layout
from tests.lab.world.worlds import orders, played, splitting
for case in (orders, splitting):
    for outcome in played(Layout(*case()), (0, 1)):
        print(repr(outcome))
"""


def test_the_same_seed_gives_the_same_answer_in_another_process():
    """To the last bit, whatever the order of sets there."""
    own = "0" if os.environ.get("PYTHONHASHSEED") != "0" else "1"
    printed = subprocess.run(
        [sys.executable, "-c", AGAIN],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONHASHSEED": own},
    ).stdout

    here = [outcome for case in (orders, splitting) for outcome in played(Layout(*case()), (0, 1))]

    assert printed.splitlines() == list(map(repr, here))


def test_the_order_of_patterns_changes_no_figure():
    design, workload = orders()
    turned = replace(workload, patterns=tuple(reversed(workload.patterns)))

    assert played(Layout(design, turned), range(4)) == played(Layout(design, workload), range(4))


def test_worlds_without_queues_are_played_beside_those_with():
    """CAP2-4.6: calls meet the index's limits at once."""
    layout = Layout(*orders())
    world = draw_worlds(0, 1, Known())[0]
    without = replace(world, settings=replace(world.settings, gsi_buffer_seconds=0))

    both = Worlds(layout).play([without, world])

    alone = [*Worlds(layout).play([without]), *Worlds(layout).play([world])]
    assert all(map(close, both, alone))
    assert both[0].closes_after is None
    assert both[1].closes_after is not None


def test_worlds_may_have_settings_of_their_own():
    """Whatever a world decides, its neighbours are the same."""
    layout, worlds = Layout(*splitting()), draw_worlds(0, 3, KNOWN)
    other = replace(worlds[1], settings=replace(worlds[1].settings, split_delay=100, burst_start=1))

    first, changed, last = Worlds(layout).play([worlds[0], other, worlds[2]])

    before = Worlds(layout).play(worlds)
    assert close(first, before[0])
    assert close(last, before[2])
    assert figures(changed) != figures(before[1])


# Ending early


def test_a_world_that_surely_throttles_ends_early():
    design, workload = events(rate=5_000, duration=300, capacity=Capacity(read=1, write=500))
    layout = Layout(design, workload)
    worlds = draw_worlds(0, 4, Known())
    done = []

    ended = Worlds(layout).play(
        worlds, stop_over=THRESHOLD, progress=lambda second, _: done.append(second)
    )

    assert max(done) < workload.duration
    assert all(outcome.throttled_share > THRESHOLD for outcome in ended)


def test_worlds_that_end_early_leave_the_others_alone():
    layout = Layout(*events(rate=990, duration=300, capacity=Capacity(read=1, write=1000)))
    worlds = draw_worlds(0, 12, Known())
    whole = Worlds(layout).play(worlds)
    shares = sorted(outcome.throttled_share for outcome in whole)
    middle = (shares[5] + shares[6]) / 2

    stopped = Worlds(layout).play(worlds, stop_over=middle)

    for early, outcome in zip(stopped, whole, strict=True):
        if outcome.throttled_share < middle:
            assert close(early, outcome)
        else:
            assert early.throttled_share >= middle


def test_progress_ends_with_the_run():
    design, workload = events(rate=100, duration=300)
    done = []
    layout = Layout(design, replace(workload, warm_up=60))
    Worlds(layout).play(draw_worlds(0, 2, Known()), progress=lambda *own: done.append(own))
    assert done == sorted(done)
    assert done[-1] == (300, 300)


def test_nothing_to_play():
    assert Worlds(Layout(*orders())).play([]) == []


# What it costs, counted


def counted(layout, monkeypatch, worlds=3):
    """Return how many seconds were played one by one, those of all worlds at once as one."""
    seconds = seconds_played(monkeypatch)
    outcomes = Worlds(layout).play(draw_worlds(0, worlds, KNOWN))
    monkeypatch.undo()
    return len(seconds), outcomes


def provisioned(*, rate, write, count=1_000, items=0, duration=150):
    put = Pattern("put", "PutItem", rate=rate, size=100)
    workload = Workload(
        fields=[Field("deviceId", count=count)],
        patterns=[put],
        duration=duration,
        warm_up=0,
        preload=[Preload(pattern="put", items=items)] if items else [],
    )
    capacity = Capacity(read=1, write=write)
    return Layout(
        Design("d", partition="{deviceId}", sort="{timestamp}", capacity=capacity), workload
    )


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ({"rate": 100, "write": 500}, {"rate": 4_000, "write": 20_000}),
        ({"rate": 4_000, "write": 500}, {"rate": 4_000_000, "write": 500}),
        (
            {"rate": 4_000, "write": 500, "count": 1_000},
            {"rate": 4_000, "write": 500, "count": 100_000_000},
        ),
        (
            {"rate": 4_000, "write": 500, "items": 1_000},
            {"rate": 4_000, "write": 500, "items": 10_000_000},
        ),
        (
            {"rate": 100, "write": 500, "duration": 150},
            {"rate": 100, "write": 500, "duration": 30 * 86_400},
        ),
    ],
    ids=["requests that pass", "requests that are refused", "keys", "items", "days"],
)
def test_cost_does_not_grow_with(small, large, monkeypatch):
    """Steps are counted, not time; and every request is."""
    few, _ = counted(provisioned(**small), monkeypatch)
    many, outcomes = counted(provisioned(**large), monkeypatch)

    assert many <= 1.5 * few + 20
    duration = large.get("duration", 150)
    for outcome in outcomes:
        arrived = large["rate"] * duration
        refused = sum(outcome.throttled_by_reason.values())
        assert outcome.throttled_share == pytest.approx(refused / arrived)
        if not refused:
            assert outcome.units["table"][1] == pytest.approx(arrived)


def test_worlds_share_their_steps(monkeypatch):
    """Nothing is called once per world and second."""
    layout = Layout(*splitting())
    few, _ = counted(layout, monkeypatch, worlds=3)
    many, _ = counted(layout, monkeypatch, worlds=12)
    assert many < 2 * few


def test_a_second_costs_no_more_with_more_worlds_that_have_ended(monkeypatch):
    layout = Layout(*events(rate=990, duration=300, capacity=Capacity(read=1, write=1000)))
    seconds = seconds_played(monkeypatch)
    Worlds(layout).play(draw_worlds(0, 12, Known()), stop_over=1e-4)
    assert sum(seconds) < 12 * 300 / 2


# Keys and contents


def test_scans_ask_the_partitions_of_their_world():
    """A Scan's calls are partitions, which differ by world once they split."""
    design, workload = splitting()
    scan = Pattern("scan", "Scan", rate=0.05)
    layout = Layout(design, replace(workload, patterns=(*workload.patterns, scan)))

    outcomes = played(layout, range(2))

    assert all(outcome.splits for outcome in outcomes)
    assert close(outcomes[0], played(layout, [0])[0])


def test_scans_go_on_when_several_worlds_have_more_partitions_than_there_was_room_for():
    """In the same minute, on demand."""
    design, workload = events(rate=12_000, duration=150)
    scan = Pattern("scan", "Scan", rate=0.05)
    layout = Layout(design, replace(workload, patterns=(*workload.patterns, scan)))

    outcomes = played(layout, [3, 2], Known(Settings(heat_minutes=1, split_delay=60)))

    assert all(outcome.splits > 8 for outcome in outcomes)


def test_partitions_that_are_too_large_are_split_in_every_world():
    """CAP-504."""
    put = Pattern("put", "PutItem", rate=5, size=400_000)
    workload = Workload(
        fields=[Field("deviceId", count=40)],
        patterns=[put],
        preload=[Preload(pattern="put", items=140_000)],
        duration=120,
        warm_up=0,
    )
    design = Design(
        "d", partition="{deviceId}", sort="{timestamp}", capacity=Capacity(read=1, write=2_000)
    )
    known = Known(Settings(partition_bytes=10 * 2**30))

    outcomes = played(Layout(design, workload), range(4), known)

    assert all(outcome.splits > 0 for outcome in outcomes)


@pytest.mark.parametrize("engine", [world, exact])
@pytest.mark.parametrize(("is_indexed", "splits"), [(False, 3), (True, 7)])
def test_entries_of_local_indexes_make_partitions_too_large(engine, is_indexed, splits):
    """CAP-504: 6.6 MB of items in partitions of 2 MB take four, and eight with their entries."""
    workload = Workload(
        fields=[Field("userId", count=200), Field("kind", values=("a", "b"))],
        patterns=[Pattern("put", "PutItem", rate=50, size=1_000)],
        duration=120,
        warm_up=0,
    )
    local = Index("byKind", partition="{userId}", sort="{kind}", local=True)
    design = Design(
        "d",
        partition="{userId}",
        sort="{timestamp}",
        indexes=[local] if is_indexed else [],
        capacity=Capacity(read=10, write=200),
    )

    log = engine.run(Layout(design, workload), settings=Settings(partition_bytes=2_000_000))

    assert [split.cause for split in log.splits] == ["size"] * splits


@pytest.mark.parametrize("key", ["{orderId}", "order#{orderId}"])
def test_updates_of_new_values_are_spread(key):
    """What is new every time meets every partition, wherever it stands in the key."""
    workload = Workload(
        fields=[Field("orderId", unique="random")],
        patterns=[
            Pattern("put", "PutItem", rate=100),
            Pattern("pay", "UpdateItem", by=("orderId",), rate=2_500),
        ],
        duration=60,
        warm_up=0,
    )
    design = Design("d", partition=key, capacity=Capacity(read=100, write=4_000))

    [outcome] = played(Layout(design, workload), [0])

    assert outcome.throttled_share == 0


def test_reads_of_one_collection_meet_many_positions():
    """CAP-505: random sort keys tell the items of a collection apart, so their heat can be cut."""
    workload = Workload(
        fields=[Field("shop", values=("main",)), Field("orderId", unique="random")],
        patterns=[
            Pattern("put", "PutItem", rate=10),
            Pattern("get", "GetItem", by=("shop", "orderId"), rate=5_000, consistent=True),
        ],
        duration=900,
        warm_up=0,
    )
    design = Design(
        "d", partition="{shop}", sort="{orderId}", capacity=Capacity(read=9_000, write=1_000)
    )

    [outcome] = played(Layout(design, workload), [0])

    assert outcome.splits >= 1


def test_keys_of_several_patterns_change_at_once():
    """At a full hour, with a hot partition: writes, and reads that ask for one more key."""
    design, workload = splitting()
    query = Pattern("look", "Query", by=("deviceId",), span=7_200, rate=5)
    two = (*workload.patterns, query, replace(query, name="again"))
    layout = Layout(design, replace(workload, patterns=two, start=workload.start + 3_600 - 660))

    [alone], [first, _] = played(layout, [0]), played(layout, [0, 1])

    assert close(first, alone)
