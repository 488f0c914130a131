"""Many worlds at once: each is what it would be alone."""

from dataclasses import replace
from functools import cache

import pytest

from emulator.engine.feed import TrafficFeed
from emulator.lab import (
    Capacity,
    Clients,
    Design,
    Field,
    Index,
    Pattern,
    Preload,
    Workload,
    aggregate,
    exact,
)
from emulator.lab.aggregate import WorldsEngine
from emulator.lab.aggregate.engine_feed import EngineFeed
from emulator.lab.outcome.thresholds import THRESHOLD
from emulator.lab.outcome.world_outcome import outcome_of
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.settings import Settings
from tests.lab.aggregate.worlds import (
    KNOWN,
    MANY,
    close,
    events,
    orders,
    played,
    scaling,
    splitting,
)


def with_clients(retry, **clients):
    """Return orders whose clients have limits of their own."""
    design, workload = orders(retry=retry)
    return design, replace(workload, clients=Clients(count=20, **clients), duration=100)


CASES = {
    "an index, reads, standard retries": orders,
    "few calls at a time, and a timeout": lambda: with_clients(
        "legacy", concurrency=4, timeout=3.0
    ),
    "adaptive clients": lambda: with_clients("adaptive"),
    "auto scaling": scaling,
    "splits for heat": splitting,
}
EVERY = pytest.mark.parametrize("name", CASES)
#: The one of many worlds that is also played alone, and logged.
NUMBER = 2
WORLDS = draw_worlds(0, MANY, KNOWN)
WORLD = WORLDS[NUMBER]


@cache
def together(name):
    """Return the outcomes of four worlds that were played together, and the engine."""
    engine = WorldsEngine(Layout(*CASES[name]()))
    return engine.play(WORLDS[:4]), engine


@cache
def logged(name):
    """Return the outcome of one world by its log, of which no other was played before."""
    log = aggregate.run(Layout(*CASES[name]()), seed=WORLD.arrivals, settings=WORLD.settings)
    return outcome_of(WORLD, log)


@EVERY
def test_a_world_is_the_same_whatever_others_are_played(name):
    layout = Layout(*CASES[name]())
    all_four, _ = together(name)

    [alone] = played(layout, [NUMBER])

    assert close(alone, all_four[NUMBER])
    assert all(map(close, played(layout, [3, 1]), (all_four[3], all_four[1])))
    assert len({outcome.throttled_share for outcome in all_four}) > 1


@EVERY
def test_a_log_does_not_change_a_world(name):
    all_four, _ = together(name)
    assert close(logged(name), all_four[NUMBER])


def test_the_same_worlds_again_give_the_same_outcomes():
    layout = Layout(*orders())
    engine = WorldsEngine(layout)
    worlds = draw_worlds(0, 4, Known())

    first = engine.play(worlds)

    assert engine.play(worlds) == first
    assert all(map(close, engine.play(worlds[2:]), first[2:]))


def test_the_order_of_patterns_changes_no_figure():
    design, workload = orders()
    turned = replace(workload, patterns=tuple(reversed(workload.patterns)))

    assert played(Layout(design, turned), range(4)) == played(Layout(design, workload), range(4))


def test_worlds_without_queues_are_played_beside_those_with():
    """CAP2-4.6: calls meet the index's limits at once."""
    layout = Layout(*orders())
    world = draw_worlds(0, 1, Known())[0]
    without = replace(world, settings=replace(world.settings, gsi_buffer_seconds=0))

    both = WorldsEngine(layout).play([without, world])

    alone = [*WorldsEngine(layout).play([without]), *WorldsEngine(layout).play([world])]
    assert all(map(close, both, alone))
    assert both[0].closes_after is None
    assert both[1].closes_after is not None


def test_a_world_that_surely_throttles_ends_early():
    design, workload = events(rate=5_000, duration=300, capacity=Capacity(read=1, write=500))
    layout = Layout(design, workload)
    worlds = draw_worlds(0, 4, Known())
    done = []

    ended = WorldsEngine(layout).play(
        worlds, stop_over=THRESHOLD, progress=lambda second, _: done.append(second)
    )

    assert max(done) < workload.duration
    assert all(outcome.throttled_share > THRESHOLD for outcome in ended)


def test_worlds_that_end_early_leave_the_others_alone():
    """The first world goes on for the others' prices, with the outcome that it ended with."""
    layout = Layout(*events(rate=990, duration=300, capacity=Capacity(read=1, write=1000)))
    worlds = draw_worlds(0, 12, Known())
    whole = WorldsEngine(layout).play(worlds)
    shares = sorted(outcome.throttled_share for outcome in whole)
    middle = (shares[5] + shares[6]) / 2

    stopped = WorldsEngine(layout).play(worlds, stop_over=middle)

    for early, outcome in zip(stopped, whole, strict=True):
        if outcome.throttled_share < middle:
            assert close(early, outcome)
        else:
            assert early.throttled_share >= middle


def test_scans_ask_the_partitions_of_their_world():
    """A Scan's calls are partitions, which differ by world once they split."""
    design, workload = splitting()
    scan = Pattern("scan", "Scan", rate=0.05)
    layout = Layout(design, replace(workload, patterns=(*workload.patterns, scan)))

    outcomes = played(layout, range(3))

    assert all(outcome.splits for outcome in outcomes)
    assert close(outcomes[0], played(layout, [0])[0])


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


@pytest.mark.parametrize("engine", [aggregate, exact])
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
    """Random sort keys tell the items of a collection apart, so their heat can be cut."""
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


def test_nothing_to_play():
    assert WorldsEngine(Layout(*orders())).play([]) == []


def test_keys_of_several_patterns_change_at_once():
    """At a full hour, with a hot partition: writes, and reads that ask for one more key."""
    design, workload = splitting()
    query = Pattern("look", "Query", by=("deviceId",), span=7_200, rate=5)
    two = (*workload.patterns, query, replace(query, name="again"))
    layout = Layout(design, replace(workload, patterns=two, start=workload.start + 3_600 - 660))

    [alone], [first, _] = played(layout, [0]), played(layout, [0, 1])

    assert close(first, alone)


def test_engines_sleep_through_minutes_that_leave_every_partition_cold(monkeypatch):
    """Being told of them changes nothing; a minute with a hot partition wakes them."""
    layout = Layout(*splitting())
    cold = Layout(*events(rate=500, duration=300, capacity=Capacity(read=1, write=5_000)))
    told = []
    report = EngineFeed.report_minute
    monkeypatch.setattr(
        EngineFeed, "report_minute", lambda feed, **how: told.append(feed) or report(feed, **how)
    )

    asleep = played(layout, range(3)), played(cold, range(3))
    count = len(told)
    monkeypatch.setattr(EngineFeed, "is_asleep", lambda feed, busiest: False)
    awake = played(layout, range(3)), played(cold, range(3))

    assert asleep == awake
    assert 0 < count < len(told) - count


def test_of_fixed_capacity_only_hot_partitions_are_reported(monkeypatch):
    """Being told of the cold ones changes nothing; growth and scaling are told of all."""
    layouts = [Layout(*splitting()), Layout(*scaling()), Layout(*events(rate=5_000, duration=300))]
    told, report = [], TrafficFeed.report_loads

    def count(feed, resource, axis, *loads, partitions):
        told.append((len(partitions), len(resource.partitions), bool(resource.scalers)))
        report(feed, resource, axis, *loads, partitions=partitions)

    monkeypatch.setattr(TrafficFeed, "report_loads", count)
    some = [played(layout, range(2)) for layout in layouts]
    few = sum(number < of for number, of, _ in told)
    minute = EngineFeed.report_minute
    monkeypatch.setattr(
        EngineFeed, "report_minute", lambda feed, is_shown: minute(feed, is_shown=True)
    )
    told.clear()
    every = [played(layout, range(2)) for layout in layouts]

    assert some == every
    assert few
    assert all(number == of for number, of, _ in told)


@EVERY
def test_a_world_is_logged_alike_before_and_after_others(name):
    """What worlds share is worked out once; no run leaves anything in it."""
    _, engine = together(name)

    assert close(outcome_of(WORLD, engine.log(WORLD)), logged(name))
