"""Results are drawn from what a run leaves behind."""

import numpy as np
import pytest

from emulator.lab import Capacity, Design, Field, Pattern, Workload, Zipf, world
from emulator.lab.outcome.summarise import pattern_results, resource_results, weighted_quantile
from emulator.lab.planning.layout import Layout


@pytest.fixture(scope="module")
def log():
    workload = Workload(
        fields=[Field("id", count=100, distribution=Zipf(1.2))],
        patterns=[Pattern("put", "PutItem", rate=1200)],
        duration=300,
        warm_up=0,
    )
    design = Design(
        "d", partition="{id}", sort="{timestamp}", capacity=Capacity(read=1, write=5000)
    )
    return world.run(Layout(design, workload))


def test_whole_quantities_are_whole(log):
    """CAP2-13: ten calls a request are 10, however they were added up."""
    record = log.patterns["put"]
    before = record.fan_out
    try:
        record.fan_out = record.requests * 9.999999999999085
        assert pattern_results(log)[0].fan_out == 10
        record.fan_out = record.requests * 2.5
        assert pattern_results(log)[0].fan_out == 2.5
    finally:
        record.fan_out = before


def test_calls_that_wait_at_the_end_were_not_answered_at_once():
    """Of ten calls two were answered after five seconds; seven still wait."""
    workload = Workload(
        fields=[Field("id", count=5)], patterns=[Pattern("put", "PutItem", rate=5)], duration=30
    )
    log = world.run(Layout(Design("d", partition="{id}"), workload))
    record = log.patterns["put"]
    record.calls, record.failed, record.waiting = 10.0, 1.0, 7.0
    record.latencies.append(5.0)
    record.latency_weights.append(2.0)

    assert pattern_results(log)[0].added_latency_seconds.p50 == 5.0


def test_a_run_shorter_than_a_minute_has_a_map_as_long_as_it():
    workload = Workload(
        fields=[Field("id", count=5)],
        patterns=[Pattern("put", "PutItem", rate=5)],
        duration=30,
        warm_up=0,
    )
    [table] = resource_results(world.run(Layout(Design("d", partition="{id}"), workload)))

    assert (table.heat.step_seconds, len(table.heat.load)) == (30, 1)


def test_series_sum_to_the_units(log):
    [table] = resource_results(log)
    for axis in (table.read, table.write):
        assert sum(axis.per_minute.consumed) * 60 == pytest.approx(axis.consumed_units, rel=0.001)
        width = axis.fine.step_seconds
        assert sum(axis.fine.consumed) * width == pytest.approx(axis.consumed_units, rel=0.001)
        assert len(axis.fine.consumed) <= 240


def test_the_heat_map_has_a_column_for_every_partition(log):
    [table] = resource_results(log)

    assert len(table.heat.load) == 5
    assert all(len(row) == len(table.heat.partitions) == 6 for row in table.heat.load)
    total = sum(cell or 0 for cell in table.heat.load[0]) * 1000
    assert total == pytest.approx(1200, rel=0.01)
    assert table.heat.partitions[0].low == 0
    assert table.heat.partitions[-1].high == 1


def test_top_keys_are_in_order_and_concentration_ends_at_one(log):
    [table] = resource_results(log)

    shares = [key.share for key in table.top_keys]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == 10
    assert shares[0] == table.hottest_key_share == pytest.approx(0.277, abs=0.01)
    for curve in (table.key_concentration, table.partition_concentration):
        assert (curve.population[0], curve.traffic[0]) == (0, 0)
        assert (curve.population[-1], curve.traffic[-1]) == pytest.approx((1, 1))
        assert list(curve.traffic) == sorted(curve.traffic)


def test_reasons_sum_to_the_throttled_share(log):
    [put] = pattern_results(log)

    assert sum(put.throttled_share_by_reason.values()) == pytest.approx(put.throttled_share)
    assert sum(put.attempts_histogram) == pytest.approx(put.calls)


def test_collections_are_counted(log):
    [table] = resource_results(log)

    sizes = table.collections
    assert sizes.count == 100
    assert sizes.items == pytest.approx(300 * 1200, rel=0.01)
    assert sizes.largest_key == "id-00"
    assert sizes.p50_bytes < sizes.p99_bytes <= sizes.largest_bytes


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.0), (0.9, 2.0), (1.0, 3.0)])
def test_quantiles_are_weighted(share, value):
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0])

    assert weighted_quantile(values, weights, share) == value
