"""The engine of many worlds: numbers instead of requests, the same rules."""

import numpy as np
import pytest

from emulator.capacity import ScalingPolicy
from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Pattern,
    Preload,
    Sequential,
    Table,
    Weights,
    Workload,
    world,
)
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings
from emulator.storage import PartitionMap, placement_hash

ROOMY = Capacity(read=1000, write=5000)


def run(patterns, design, *, fields, settings=None, **workload):
    options = {"duration": 60, "warm_up": 0} | workload
    load = Workload(fields=fields, patterns=patterns, **options)
    return world.run(Layout(design, load), settings=settings)


def test_followed_keys_lie_where_the_emulator_puts_them():
    """CAP-503: one hash for both engines."""
    put = Pattern("put", "PutItem", rate=1200, distributions={"userId": Sequential()})
    fields = [Field("userId", count=60)]

    [table] = resource_results(
        run([put], Design("d", partition="{userId}", capacity=ROOMY), fields=fields)
    )

    partitions = PartitionMap(6)
    expected = np.zeros(6)
    for number in range(60):
        text = f"userId-{number:02d}"
        expected[partitions.at((placement_hash((text,), 0), text)).id] += 20
    row = [cell * 1000 for cell in table.heat.load[0]]
    assert row == pytest.approx(expected.tolist(), rel=0.01)


def test_a_full_partition_is_split_and_then_serves_more():
    """CAP2-3: the engine's own heat decides; CAP-602: children start with full buckets."""
    put = Pattern("put", "PutItem", rate=1800)
    fields = [Field("deviceId", count=200)]
    design = Design("d", partition="{timestamp:day}", sort="{deviceId}", capacity=ROOMY)

    settings = Settings(split_delay=597)
    [table] = resource_results(run([put], design, fields=fields, duration=780, settings=settings))

    assert [(split.time, split.cause) for split in table.splits] == [(597.0, "heat")]
    consumed = table.write.per_minute.consumed
    assert consumed[5] == pytest.approx(1000, rel=0.01)
    assert consumed[12] == pytest.approx(1800, rel=0.05)


@pytest.mark.parametrize(
    ("sort", "cause"),
    [
        ("{timestamp}", "sort keys are written in order"),
        (None, "one item has nearly all traffic"),
    ],
)
def test_what_cannot_be_split_is_not(sort, cause):
    """CAP-506."""
    put = Pattern("put", "PutItem", rate=1800)
    design = Design("d", partition="{shop}", sort=sort, capacity=ROOMY)

    [table] = resource_results(
        run([put], design, fields=[Field("shop", values=("main",))], duration=660)
    )

    assert [split.cause for split in table.splits] == [cause]
    assert table.partitions_per_minute[-1] == 6


def test_on_demand_tables_grow():
    """CAP-510, CAP2-1: double the peak of half an hour ago, and every quarter is too wide."""
    put = Pattern("put", "PutItem", rate=3_000)
    fields = [Field("deviceId", count=500)]

    [table] = resource_results(
        run(
            [put],
            Design("d", partition="{deviceId}", sort="{timestamp}"),
            fields=fields,
            duration=1920,
        )
    )

    assert (table.partitions_per_minute[0], table.partitions_per_minute[-1]) == (4, 8)


def test_auto_scaling_follows_what_is_consumed():
    """CAP-904: two minutes over target, two more until it counts."""
    put = Pattern("put", "PutItem", rate=90)
    capacity = Capacity(read=5, write=100, scaling=ScalingPolicy(target=70))
    design = Design("d", partition="{deviceId}", capacity=capacity)

    [table] = resource_results(
        run([put], design, fields=[Field("deviceId", count=500)], duration=360)
    )

    assert table.write.per_minute.provisioned == (100, 100, 100, 100, 129, 129)


def test_much_data_has_many_partitions():
    """CAP-502, CAP-504."""
    put = Pattern("put", "PutItem", rate=1, size=4000)
    design = Design(
        "d", partition="{deviceId}", sort="{timestamp}", capacity=Capacity(read=1, write=10)
    )
    preload = [Preload(pattern="put", items=10_000_000)]

    [table] = resource_results(
        run([put], design, fields=[Field("deviceId", count=2000)], preload=preload, duration=60)
    )

    assert table.partitions_per_minute[-1] >= 4
    assert sum(span.size_bytes for span in table.heat.partitions if span.died is None) == (
        pytest.approx(10_000_060 * 4100, rel=0.01)
    )


def test_tables_that_outgrow_their_room_in_one_second_are_all_followed():
    """CAP-504: both split for size; the run once ended in an error of shapes."""
    tables = [Table(name=name, partition="{orderId}") for name in ("orders", "stock")]
    puts = [
        Pattern(table.name, "PutItem", rate=2_000, entity=table.name, size=1_000)
        for table in tables
    ]
    settings = Settings(partition_bytes=3_000_000, split_delay=60)

    results = resource_results(
        run(
            puts,
            Design("d", tables=tables),
            fields=[Field("orderId", unique="random")],
            settings=settings,
            duration=130,
        )
    )

    assert [table.partitions_per_minute[-1] > 12 for table in results] == [True, True]


def test_an_index_shares_the_table_s_quota():
    """CAP-615."""
    put = Pattern("put", "PutItem", rate=100)
    index = Index("byType", partition="{type}#{random(20)}", projection="KEYS_ONLY")
    design = Design("d", partition="{deviceId}", sort="{timestamp}", indexes=[index])
    fields = [Field("deviceId", count=100), Field("type", values=("a",))]

    settings = Settings(table_quota=100, gsi_buffer_seconds=0)
    log = run([put], design, fields=fields, settings=settings)

    [result] = pattern_results(log)
    assert set(result.throttled_by_reason) == {"TableWriteAccountLimitExceeded"}
    assert result.units[0].write == pytest.approx(50 * 61, rel=0.02)


def test_an_overwrite_moves_its_index_entry_only_if_the_key_changes():
    """CAP-309."""
    fields = [Field("orderId", count=50), Field("status", values=("a", "b"))]
    put = Pattern("put", "PutItem", rate=0, distributions={"orderId": Sequential()})
    index = Index("byStatus", partition="{status}", projection="KEYS_ONLY")
    design = Design("d", partition="{orderId}", indexes=[index])

    def index_units(changes):
        update = Pattern("update", "UpdateItem", rate=10, by=("orderId",), changes=changes)
        log = run([put, update], design, fields=fields, preload=[Preload(pattern="put", items=50)])
        return log.patterns["update"].units["byStatus"][1] / 600

    assert index_units(()) == pytest.approx(0)
    assert index_units(("status",)) == pytest.approx(2.0, abs=0.01)  # all move, at two units


def test_what_the_warm_up_writes_is_there_and_takes_nothing():
    """CAP2-10: it fills the table, and refuses, splits and uses up nothing, however long it is."""
    put = Pattern("put", "PutItem", rate=200)
    get = Pattern("get", "GetItem", rate=50, size=8_000)
    design = Design("d", partition="{deviceId}", capacity=Capacity(read=5, write=150))
    fields = [Field("deviceId", count=20_000)]

    logs = [run([put, get], design, fields=fields, warm_up=seconds) for seconds in (0, 60, 3_600)]

    first, *_ = (own.patterns["put"] for own in logs)
    for log in logs:
        record = log.patterns["put"]
        assert record.requests == first.requests
        assert record.throttled == pytest.approx(first.throttled, rel=0.01)
    read = [own.patterns["get"].evaluated_bytes for own in logs]
    assert read[0] < read[1] < read[2]


@pytest.mark.parametrize("seconds", [60, 90])
def test_every_call_of_the_run_is_answered_given_up_or_waits(seconds):
    """CAP2-10: whatever was written before."""
    put = Pattern("put", "PutItem", rate=200)
    design = Design("d", partition="{deviceId}", capacity=Capacity(read=5, write=150))

    log = run([put], design, fields=[Field("deviceId", count=200)], warm_up=seconds)

    record = log.patterns["put"]
    assert record.calls == record.requests
    assert sum(record.histogram) == pytest.approx(record.calls)
    answered = record.calls - record.failed - record.waiting
    assert record.attempts - record.refusals == pytest.approx(answered)


def test_shares_are_those_of_first_attempts():
    """A key that is refused again and again gets no more of the traffic for it."""
    put = Pattern("put", "PutItem", rate=3_000)
    weights = Weights((8, 1, 1))
    fields = [Field("shop", values=("a", "b", "c"), distribution=weights)]
    design = Design("d", partition="{shop}", sort="{timestamp}", capacity=ROOMY)

    [table] = resource_results(run([put], design, fields=fields, duration=120))

    assert table.hottest_key_share == pytest.approx(0.8, abs=0.01)


def test_a_write_over_an_item_costs_what_the_larger_one_does():
    """CAP-301: a put of 300 bytes over what an update has made large."""
    fields = [Field("userId", count=100)]
    put = Pattern("put", "PutItem", rate=30, size=300)
    update = Pattern("update", "UpdateItem", by=("userId",), rate=10, size=3_000)
    design = Design("d", partition="{userId}", capacity=ROOMY)

    log = run([put, update], design, fields=fields, duration=300)

    record = log.patterns["put"]
    # A quarter of all items was last written by an update.
    assert record.units["table"][1] / record.calls == pytest.approx(0.75 + 0.25 * 3, abs=0.03)


def test_a_quota_allows_the_retries_that_it_has_tokens_for():
    """CAP-708: five tokens for a retry, one back for each call that passes at first."""
    put = Pattern("put", "PutItem", rate=200)
    design = Design("d", partition="{deviceId}", capacity=Capacity(read=5, write=100))
    fields = [Field("deviceId", count=200)]

    log = run([put], design, fields=fields, duration=600, retry="standard", clients=1)

    record = log.patterns["put"]
    retries = record.attempts - record.calls
    passed_later = sum(record.latency_weights)
    passed_at_first = record.calls - record.throttled
    assert 5 * retries == pytest.approx(500 + passed_at_first + 5 * passed_later, rel=0.02)
