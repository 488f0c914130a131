"""CloudWatch metrics: names, dimensions, minutes, statistics, retention."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import Dimensions, Metrics, Reason
from emulator.capacity.metrics import COUNTERS, GAUGES, RETENTION_SECONDS
from emulator.capacity.prices import TARIFFS
from emulator.service.throttling import ThrottlingLimit

WRITES = "ConsumedWriteCapacityUnits"
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/t"
INDEX = TABLE + "/index/i"


def test_the_metrics_of_cloudwatch_are_known_by_name():
    """CAP-801, VIX-66."""
    assert len(COUNTERS) == 2 + 2 * (1 + len(ThrottlingLimit)) + 15 + 2 + 2 + len(TARIFFS)
    assert {
        "ReadThrottleEvents",
        "WriteProvisionedThroughputThrottleEvents",
        "ReadKeyRangeThroughputThrottleEvents",
        "WriteMaxOnDemandThroughputThrottleEvents",
        "ReadAccountLimitThrottleEvents",
    } <= COUNTERS
    assert {
        "ProvisionedReadCapacityUnits",
        "ProvisionedWriteCapacityUnits",
        "OnDemandMaxReadRequestUnits",
        "OnDemandMaxWriteRequestUnits",
        "AccountMaxReads",
        "AccountMaxWrites",
        "AccountMaxTableLevelReads",
        "AccountMaxTableLevelWrites",
        "AccountProvisionedReadCapacityUtilization",
        "AccountProvisionedWriteCapacityUtilization",
        "MaxProvisionedTableReadCapacityUtilization",
        "MaxProvisionedTableWriteCapacityUtilization",
        "OnlineIndexPercentageProgress",
    } == GAUGES


def test_a_table_series_never_includes_its_indexes():
    """CAP-801."""
    metrics = Metrics()
    metrics.add(WRITES, 2.0, table="t")
    metrics.add(WRITES, 3.0, table="t", index="i")
    metrics.add(WRITES, 5.0, table="u")
    assert metrics.sum(WRITES, table="t") == 2.0
    assert metrics.sum(WRITES, table="t", index="i") == 3.0
    assert metrics.sum(WRITES) == 7.0
    assert metrics.dimensions(WRITES) == [
        Dimensions("t"),
        Dimensions("t", "i"),
        Dimensions("u"),
    ]


def test_an_omitted_operation_adds_up_all():
    metrics = Metrics()
    metrics.add("ThrottledRequests", table="t", operation="PutItem")
    metrics.add("ThrottledRequests", table="t", operation="GetItem")
    assert metrics.sum("ThrottledRequests", table="t") == 2.0
    assert metrics.sum("ThrottledRequests", table="t", operation="GetItem") == 1.0
    assert metrics.sum("ThrottledRequests", table="x") == 0.0


def test_streams_are_told_apart():
    metrics = Metrics()
    metrics.add("ReturnedBytes", 10, table="t", stream="one", operation="GetRecords")
    metrics.add("ReturnedBytes", 20, table="t", stream="two", operation="GetRecords")
    assert metrics.sum("ReturnedBytes", table="t", stream="two") == 20.0


def test_minutes_are_kept_apart_and_the_running_one_is_shown():
    metrics = Metrics(now_s=119.9)
    series = metrics.series(WRITES, table="t")
    series.add(4.0)
    metrics.roll(119.95)
    assert metrics.get(WRITES, table="t") == [(60, 4.0)]
    metrics.roll(600)
    series.add(1.0)
    assert metrics.get(WRITES, table="t") == [(60, 4.0), (600, 1.0)]
    assert metrics.get(WRITES, table="t", start=61) == [(600, 1.0)]
    assert metrics.get(WRITES, table="t", end=600) == [(60, 4.0)]
    metrics.check()


@pytest.mark.parametrize(
    ("stat", "expected"),
    [("Sum", 12.0), ("SampleCount", 4), ("Average", 3.0), ("Minimum", 1.0), ("Maximum", 6.0)],
)
def test_statistics_are_over_samples(stat, expected):
    metrics = Metrics()
    for value in (2.0, 6.0, 3.0):
        metrics.add(WRITES, value, table="t")
    metrics.add(WRITES, 1.0, table="u")
    for _ in range(2):  # running, then closed
        assert metrics.get(WRITES, stat=stat) == [(0, expected)]
        metrics.roll(60)


def test_the_smallest_sample_may_come_last():
    metrics = Metrics()
    for value in (2.0, 1.0):
        metrics.add(WRITES, value)
    assert metrics.get(WRITES, stat="Minimum") == [(0, 1.0)]


def test_reasons_are_counted_per_cause_and_once_per_resource():
    """CAP-802, CAP-803."""
    metrics = Metrics()
    metrics.count_throttles(
        [
            Reason("TableWriteProvisionedThroughputExceeded", TABLE),
            Reason("TableWriteKeyRangeThroughputExceeded", TABLE),
            Reason("IndexWriteMaxOnDemandThroughputExceeded", INDEX),
        ]
    )
    metrics.count_throttles([Reason("TableReadAccountLimitExceeded", TABLE)])
    counted = {
        (name, each.table, each.index): metrics.sum(name, each.table, each.index)
        for name in metrics.names()
        for each in metrics.dimensions(name)
    }
    assert counted == {
        ("WriteThrottleEvents", "t", None): 1.0,
        ("WriteThrottleEvents", "t", "i"): 1.0,
        ("WriteProvisionedThroughputThrottleEvents", "t", None): 1.0,
        ("WriteKeyRangeThroughputThrottleEvents", "t", None): 1.0,
        ("WriteMaxOnDemandThroughputThrottleEvents", "t", "i"): 1.0,
        ("ReadThrottleEvents", "t", None): 1.0,
        ("ReadAccountLimitThrottleEvents", "t", None): 1.0,
    }


def test_fifteen_throttled_puts_are_fifteen_events():
    """CAP-803, EX-51; EX-50 on the index series."""
    metrics = Metrics()
    for _ in range(15):
        metrics.count_throttles([Reason("TableWriteProvisionedThroughputExceeded", TABLE)])
    metrics.count_throttles([Reason("IndexWriteProvisionedThroughputExceeded", INDEX)])
    assert metrics.sum("WriteThrottleEvents", table="t") == 15.0
    assert metrics.sum("WriteThrottleEvents", table="t", index="i") == 1.0
    assert metrics.sum("ThrottledRequests", table="t") == 0.0


def test_a_setting_is_a_five_minute_series():
    """CAP-801."""
    metrics, name = Metrics(now_s=300), "ProvisionedWriteCapacityUnits"
    metrics.set(name, 5, 301, table="t")
    metrics.set(name, 10, 599, table="t")
    metrics.roll(1_000)
    assert metrics.get(name, table="t") == [(300, 10), (600, 10), (900, 10)]
    metrics.set(name, 20, 1_000, table="t")
    metrics.roll(1_500)
    metrics.set(name, None, 1_500, table="t")
    metrics.roll(9_000)
    assert metrics.get(name, table="t") == [(300, 10), (600, 10), (900, 20), (1200, 20)]
    assert metrics.get(name, table="t", start=901, end=1_200) == [(900, 20)]
    assert metrics.get(name, table="x") == []
    assert metrics.names() == [name]


def test_the_last_setting_of_five_minutes_is_the_only_one():
    """CAP-801: a setting that ends in the period in which it began was never there."""
    metrics, name = Metrics(now_s=300), "ProvisionedWriteCapacityUnits"
    metrics.set(name, 5, 301, table="t")
    metrics.set(name, None, 302, table="t")
    metrics.roll(1_000)
    assert metrics.get(name, table="t") == []


def test_a_setting_that_never_was_does_not_end():
    """CAP-801: a table on demand has no provisioned capacity among its metrics."""
    metrics, name = Metrics(now_s=300), "ProvisionedWriteCapacityUnits"
    metrics.set(name, None, 301, table="t")
    assert metrics.names() == []
    metrics.set(name, 5, 301, table="u")
    metrics.set(name, None, 302, table="t")
    assert [dimensions.table for dimensions in metrics.dimensions(name)] == ["u"]


def test_settings_before_the_retention_leave_their_last_value():
    metrics, name, day = Metrics(), "AccountMaxReads", 24 * 3600
    for number in range(40):
        metrics.set(name, number, number * day)
        metrics.roll(number * day)
    points = metrics.get(name)
    assert (points[0], points[-1]) == ((24 * day, 24), (39 * day, 39))
    assert len(points) == RETENTION_SECONDS // 300 + 1
    assert len(metrics._gauges[name][None, None, None, None]) <= 17


def test_points_are_kept_for_fifteen_days():
    metrics, minutes = Metrics(), 20 * 24 * 60
    series = metrics.series(WRITES, table="t")
    for minute in range(minutes):
        metrics.roll(minute * 60)
        series.add()
    points = metrics.get(WRITES, table="t")
    kept = RETENTION_SECONDS // 60
    assert points == [(minute * 60, 1.0) for minute in range(minutes - kept, minutes)]
    assert len(series._starts) <= kept + 24 * 60
    metrics.check()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "ConsumedWriteUnits",
            "there is no metric 'ConsumedWriteUnits'; did you mean ConsumedWriteCapacityUnits?",
        ),
        ("zzz", "there is no metric 'zzz'"),
    ],
)
def test_a_misspelt_metric_is_refused(name, message):
    metrics = Metrics()
    for ask in (metrics.get, metrics.sum, metrics.add, metrics.series, metrics.dimensions):
        with pytest.raises(ValueError) as caught:
            ask(name)
        assert str(caught.value) == message
    with pytest.raises(ValueError):
        metrics.set(name, 1, 0)


def test_an_unknown_statistic_is_refused():
    with pytest.raises(ValueError) as caught:
        Metrics().get(WRITES, stat="p99")
    assert str(caught.value) == (
        "stat must be one of Sum, SampleCount, Average, Minimum, Maximum, not 'p99'"
    )


@given(
    st.lists(
        st.tuples(
            st.integers(0, 200),
            st.sampled_from("tu"),
            st.sampled_from([None, "i"]),
            st.integers(1, 9),
        )
    )
)
def test_get_equals_a_filter_over_the_samples(samples):
    metrics, now, seen = Metrics(), 0, []
    for pause, table, index, value in samples:
        now += pause
        metrics.roll(now)
        metrics.add(WRITES, value, table=table, index=index)
        seen.append((now - now % 60, table, index, value))
        metrics.check()
    for table in (None, "t", "u"):
        for index in (None, "i"):
            expected: dict[int, float] = {}
            for minute, t, i, value in seen:
                if table in (None, t) and index == i:
                    expected[minute] = expected.get(minute, 0) + value
            assert metrics.get(WRITES, table, index) == sorted(expected.items())
