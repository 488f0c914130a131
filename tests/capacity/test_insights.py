"""Contributor Insights: the right keys, their shares, and bounded memory."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import WRITE, Contributor, Insights, Traffic
from emulator.capacity.insights import MAX_REMEMBERED, MAX_SHOWN


def test_a_busy_partition_is_worth_180000_a_minute():
    """CAP-805."""
    traffic = Traffic()
    for second in range(60):
        traffic.consume(0, WRITE, 1_000.0, (1, "hot"), second)
    insights = Insights()
    insights.fold(traffic.end_minute(0))
    assert insights.report().accessed_partition_keys == [
        Contributor(("hot",), 180_000, 180_000, 1.0)
    ]


def test_a_query_counts_for_its_partition_key_only():
    """CAP-805."""
    traffic = Traffic()
    traffic.consume(0, 0, 2.0, (1, "d"), second=0)
    traffic.consume(0, 0, 6.0, (1, "d", "s", "tie"), second=0)
    insights = Insights(prefix_length=2, key_length=3)
    report = insights.report(traffic.running)
    assert report.accessed_partition_keys == [Contributor(("d",), 8.0, 8.0, 1.0)]
    assert report.accessed_keys == [Contributor(("d", "s"), 6.0, 6.0, 0.75)]
    assert report.throttled_partition_keys == report.throttled_keys == []


def test_without_a_sort_key_there_are_no_key_pairs():
    """CAP-804."""
    traffic = Traffic()
    traffic.refuse(0, WRITE, 1.0, (1, "d"), 1.0)
    insights = Insights()
    insights.fold(traffic.end_minute(0))
    report = insights.report()
    assert report.throttled_partition_keys == [Contributor(("d",), 1.0, 1.0, 1.0)]
    assert report.accessed_keys == report.throttled_keys == []


def test_the_running_minute_is_shown_and_not_kept():
    traffic, insights = Traffic(), Insights()
    traffic.consume(0, WRITE, 1.0, (1, "d"), second=0)
    first = insights.report(traffic.running)
    assert insights.report(traffic.running) == first
    assert insights.report().accessed_partition_keys == []
    insights.fold(traffic.end_minute(0))
    assert insights.report(traffic.running) == first


def test_heavy_keys_survive_a_flood_of_light_ones():
    insights = Insights()
    for start in range(5):
        traffic = Traffic()
        for number in range(MAX_REMEMBERED):
            traffic.consume(0, WRITE, 1.0, (number, f"light{start}-{number}"), second=0)
        traffic.consume(0, WRITE, 50.0, (9, "heavy"), second=0)
        traffic.refuse(0, WRITE, 1.0, (8, "refused"), 1.0)
        insights.fold(traffic.end_minute(start * 60))
        insights.check()
    report = insights.report()
    assert len(report.accessed_partition_keys) == MAX_SHOWN
    assert report.accessed_partition_keys[0][:3] == (("heavy",), 750.0, 150.0)
    assert report.throttled_partition_keys == [Contributor(("refused",), 5.0, 1.0, 1.0)]


def test_half_of_the_room_is_for_the_most_accessed_keys():
    insights = Insights()
    heavy = [f"heavy{number}" for number in range(MAX_REMEMBERED // 2)]
    for minute in range(9):
        traffic = Traffic()
        for number in range(200):
            key = f"light{minute}-{number}"
            traffic.consume(0, WRITE, 1.0, (number, key), second=0)
            traffic.refuse(0, WRITE, 1.0, (number, key), 1.0)
        for number, key in enumerate(heavy[minute * 100 : minute * 100 + 100]):
            traffic.consume(0, WRITE, 9.0, (number, key), second=0)
        insights.fold(traffic.end_minute(minute * 60))
    assert {(key,) for key in heavy} <= {position[1:] for position in insights._partition_keys}


minutes = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(1, 9), st.booleans())
    ),
    max_size=4,
)


@given(minutes)
def test_the_report_equals_plain_counting(windows):
    """CAP-804, CAP-805."""
    insights = Insights(2, 3)
    accessed: Counter = Counter()
    throttled: Counter = Counter()
    peaks: Counter = Counter()
    for number, window in enumerate(windows):
        traffic = Traffic()
        now: Counter = Counter()
        for name, sort, wanted, refused in window:
            if refused:
                traffic.refuse(0, WRITE, float(wanted), (1, name, sort), 0.0)
                throttled[name, sort] += 1
            else:
                traffic.consume(0, WRITE, float(wanted), (1, name, sort), second=0)
                now[name, sort] += 3 * wanted
        accessed += now
        peaks |= now
        insights.fold(traffic.end_minute(number * 60))
    insights.check()
    report = insights.report()
    assert {c.key: c.value for c in report.accessed_keys} == accessed
    assert {c.key: c.peak for c in report.accessed_keys} == peaks
    assert {c.key: c.value for c in report.throttled_keys} == throttled
    values = [c.value for c in report.accessed_keys]
    assert values == sorted(values, reverse=True)
    for rule in report:
        assert not rule or abs(sum(c.share for c in rule) - 1) < 1e-9


def test_the_running_minute_changes_nothing_of_what_is_known():
    """CAP-804: partition keys and keys alike, shown twice."""
    insights = Insights(prefix_length=2, key_length=3)
    for _ in range(2):
        traffic = Traffic()
        traffic.consume(0, WRITE, 1.0, (1, "d", "s"), second=0)
        insights.fold(traffic.end_minute(0))
    before = insights.report()
    running = Traffic()
    running.consume(0, WRITE, 5.0, (1, "d", "s"), second=0)
    running.refuse(0, WRITE, 5.0, (1, "d", "t"), 5.0)
    shown = insights.report(running.running)
    assert shown.accessed_keys == [Contributor(("d", "s"), 21.0, 15.0, 1.0)]
    assert shown.accessed_partition_keys == [Contributor(("d",), 21.0, 15.0, 1.0)]
    assert shown.throttled_keys == [Contributor(("d", "t"), 1.0, 1.0, 1.0)]
    assert insights.report() == before


def test_as_many_keys_are_remembered_as_there_is_room_for():
    insights = Insights()
    traffic = Traffic()
    for number in range(MAX_REMEMBERED):
        traffic.consume(0, WRITE, 1.0, (number, f"k{number}"), second=0)
    minute = traffic.end_minute(0)
    insights.fold(minute)
    remembered = len(minute.accesses)
    assert len(insights._partition_keys) == remembered <= MAX_REMEMBERED
