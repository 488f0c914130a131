"""An index that falls behind, in both engines (CAP2-4)."""

from functools import cache

import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Pattern,
    Workload,
    compare,
    exact,
    load,
    world,
)
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

ENGINES = pytest.mark.parametrize("engine", [exact, world], ids=["exact", "aggregate"])


def starved(*, index_write=10, write=200):
    index = Index("byKind", partition="{kind}", capacity=Capacity(read=1, write=index_write))
    return Design(
        "starved",
        partition="{id}",
        indexes=[index],
        capacity=Capacity(read=1, write=write),
    )


def workload(*, rate=100, duration=120):
    return Workload(
        fields=[Field("id", count=500), Field("kind", values=("a", "b"))],
        patterns=[Pattern("put", "PutItem", rate=rate)],
        duration=duration,
        warm_up=0,
    )


@cache
def closing(engine):
    """Return the outcome of 100 units a second over five seconds of buffer, played once."""
    design = starved(index_write=5, write=100)
    return outcome(engine, design, workload(rate=50, duration=30), gsi_buffer_seconds=5)


def outcome(engine, design, load, **settings):
    log = engine.run(Layout(design, load), settings=Settings(**settings))
    table, index = resource_results(log)
    return log, table, index, pattern_results(log)[0]


@ENGINES
def test_base_writes_pass_and_the_index_falls_behind(engine):
    """CAP2-4.1: the backlog is what came in less what the index could apply."""
    _, table, index, put = outcome(engine, starved(), workload(duration=30))
    assert put.throttled_by_reason == {}
    assert table.write.consumed_units == pytest.approx(3_000, rel=0.01)
    entered = put.units[1].write
    assert index.write.consumed_units == pytest.approx(10 * 31, rel=0.02)
    assert index.backlog.units == pytest.approx(entered - 310, rel=0.02)
    assert index.backlog.reason == "IndexWriteProvisionedThroughputExceeded"
    assert not index.backlog.has_closed
    growth = entered / 30 - 10
    assert index.backlog.closes_after == pytest.approx(300 * 200 / growth, rel=0.05)


@ENGINES
def test_a_full_buffer_refuses_with_the_reason_of_the_index(engine):
    """CAP2-4.4: 200 units a second over 0.2 s of buffer."""
    log, table, index, put = closing(engine)
    assert set(put.throttled_by_reason) == {"IndexWriteProvisionedThroughputExceeded"}
    assert index.backlog.has_closed
    assert index.backlog.closes_after == pytest.approx(10, abs=3)
    assert log.first_throttle == pytest.approx(index.backlog.closes_after, abs=1)
    assert table.write.throttled_units == 0


def test_the_engines_agree_on_a_queue_that_opens_and_closes():
    runs = [closing(engine) for engine in (exact, world)]
    shares = [log.throttled_share for log, *_ in runs]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)
    applied = [index.write.consumed_units for _, _, index, _ in runs]
    assert applied[0] == pytest.approx(applied[1], rel=0.02)


@ENGINES
def test_without_a_buffer_writes_are_refused_at_once(engine):
    """CAP2-4.6."""
    _, _, index, put = outcome(engine, starved(), workload(duration=3), gsi_buffer_seconds=0)
    assert set(put.throttled_by_reason) == {"IndexWriteProvisionedThroughputExceeded"}
    assert index.backlog is None


@ENGINES
def test_a_hot_index_partition_falls_behind_alone(engine):
    """CAP2-4.2: one lane waits; the others, and the table, do not."""
    design = starved(index_write=3_000, write=3_000)
    fields = [Field("id", count=5_000), Field("kind", values=("a",))]
    load = Workload(
        fields=fields,
        patterns=[Pattern("put", "PutItem", rate=1_500)],
        duration=3,
        warm_up=0,
    )
    _, _, index, put = outcome(engine, design, load)
    assert put.throttled_by_reason == {}
    assert index.backlog.reason == "IndexWriteKeyRangeThroughputExceeded"


def test_a_design_whose_index_falls_behind_is_not_fine():
    """The load that does no harm within a run does so later, and the verdict says when."""
    [result] = compare(
        workload(), [starved()], engine="aggregate", headroom=False, sensitivity=False
    ).designs
    assert result.throttled_share == 0
    assert result.grade == "throttles"
    assert "byKind falls behind" in result.verdict
    assert "refuses every write to its table after" in result.verdict
    assert "index-falls-behind" in {finding.check for finding in result.findings}


@pytest.mark.parametrize(("sort", "may_split"), [("{id}", True), ("{timestamp}", False)])
def test_a_hot_index_partition_may_split_before_the_index_closes(sort, may_split):
    """CAP2-4, CAP2-1: heat splits it later than the run is long, and before the index closes.

    CAP-506: it does not where sort keys are written in order.
    """
    kinds = [Field("id", unique="random"), Field("kind", values=("a",))]
    load = Workload(
        fields=kinds, patterns=[Pattern("put", "PutItem", rate=1_500)], duration=30, warm_up=0
    )
    index = Index("byKind", partition="{kind}", sort=sort, capacity=Capacity(write=3_000, read=1))
    design = Design("d", partition="{id}", capacity=Capacity(read=1, write=3_000), indexes=[index])
    [result] = compare(
        load, [design], engine="aggregate", worlds=3, headroom=False, sensitivity=False, fix=False
    ).designs

    assert result.grade == ("fine" if may_split else "throttles")
    assert ("refuses every write to its table after" in result.verdict) is not may_split


@ENGINES
@pytest.mark.parametrize(
    ("base", "sort"),
    [
        ({"partition": "{id}"}, "{id}"),
        ({"partition": "{user}", "sort": "{timestamp}"}, "{id}"),
        ({"partition": "{user}", "sort": "{id}"}, ()),
    ],
)
def test_a_hot_index_partition_that_splits_serves_twice_as_much(engine, base, sort):
    """CAP2-1, CAP-506: entries fall on both sides of the cut, by sort key or by their item's."""
    load = Workload(
        fields=[
            Field("id", unique="random"),
            Field("user", count=50),
            Field("kind", values=("a",)),
        ],
        patterns=[Pattern("put", "PutItem", rate=8, size=200_000)],
        duration=300,
        warm_up=0,
    )
    capacity = Capacity(write=3_000, read=1)
    index = Index("byKind", partition="{kind}", sort=sort, capacity=capacity)
    design = Design("d", **base, capacity=capacity, indexes=[index])
    _, _, index, _ = outcome(engine, design, load, split_delay=130)
    served = index.write.per_minute.consumed
    assert served[1] == pytest.approx(1_000, rel=0.02)
    assert served[3] > 1_450
    assert served[4] > 1_450


def test_a_read_that_may_be_stale_spares_its_partition():
    """CAP2-6: the engines take less of the partition, and meter all of it."""
    load = Workload(
        fields=[Field("id", values=("one",))],
        patterns=[
            Pattern("put", "PutItem", rate=1),
            Pattern("get", "GetItem", rate=8_000, by=("id",)),
        ],
        duration=20,
        warm_up=0,
    )
    design = Design("d", partition="{id}")
    shares = {}
    for factor in (1.0, 1.5):
        log = world.run(Layout(design, load), settings=Settings(eventual_read_factor=factor))
        [table] = resource_results(log)
        shares[factor] = log.throttled_share, table.read.consumed_units / 20
    assert shares[1.0][0] > 0.2
    assert shares[1.5] == (0, pytest.approx(4_000, rel=0.02))


def test_a_lab_file_gives_a_delay_as_one_number_or_three(tmp_path):
    """CAP2-3: as a command line and an ini file do."""
    text = """
workload:
  duration: 10s
  fields: {id: {count: 10}}
  patterns: [{name: put, operation: PutItem, rate: 1}]
designs: [{name: d, partition: "{id}"}]
settings: {split_delay: DELAY, seed: 3}
"""
    delays = []
    for written in ("[180, 513, 720]", "400"):
        path = tmp_path / "lab.yaml"
        path.write_text(text.replace("DELAY", written))
        delays.append(load(path).settings.split_delay)
    assert delays == [(180, 513, 720), 400]
