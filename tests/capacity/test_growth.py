"""On-demand growth and warm throughput."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import Growth, prewarm_seconds

PER_MINUTE = 60.0


def grow(growth, first, rates):
    """Serve write rates, one per minute; return the warm write throughput after each."""
    warm = []
    for number, rate in enumerate(rates, first):
        growth.on_minute(number * 60, 0.0, rate * PER_MINUTE)
        warm.append(growth.warm[1])
    growth.check()
    return warm


def test_a_new_on_demand_table_can_serve_what_four_partitions_can():
    """CAP-509, CAP-510."""
    growth = Growth()
    assert growth.warm == (12_000, 4_000)
    assert growth.is_idle
    assert grow(growth, 0, [0] * 5) == [4_000] * 5


def test_a_peak_counts_double_half_an_hour_later():
    """CAP-510: on-demand doubling."""
    growth = Growth()
    assert grow(growth, 0, [4_000] * 31) == [4_000] * 30 + [8_000]
    assert growth.warm == (12_000, 8_000)
    assert grow(growth, 31, [8_000] * 30)[-1] == 8_000
    assert grow(growth, 61, [8_000])[-1] == 16_000
    assert growth.warm == (12_000, 16_000)


def test_growth_ends_at_the_quota():
    """CAP-510, TABLE_QUOTA."""
    growth = Growth(quota=5_000)
    assert grow(growth, 0, [4_000] * 40)[-1] == 5_000
    assert growth.warm == (12_000, 5_000)


def test_reads_count_by_their_own_limit():
    growth = Growth()
    for minute in range(31):
        growth.on_minute(minute * 60, 10_000.0 * PER_MINUTE, 0.0)
    assert growth.warm == (20_000, 4_000)


def test_warm_throughput_is_raised_and_never_lowered():
    """CAP-509, CAP-617."""
    growth = Growth(100, 100)
    growth.raise_to(30_000, 50)
    growth.raise_to(1, 200)
    assert growth.warm == (30_000, 200)


def test_prewarming_takes_a_minute_per_doubling():
    """CAP-509: 60 s * ceil(log2(new / old))."""
    wanted = (3, 4, 5, 8, 9, 16, 17)
    assert [prewarm_seconds(4, n, 60) for n in wanted] == [0, 0, 60, 60, 120, 120, 180]
    assert [prewarm_seconds(4, n, 2.5) for n in wanted] == [0, 0, 2.5, 2.5, 5, 5, 7.5]


def test_a_copy_goes_its_own_way():
    growth = Growth()
    grow(growth, 0, [4_000] * 30)
    twin = growth.copy()
    assert grow(twin, 30, [0]) == [8_000]
    assert (twin.warm, growth.warm) == ((12_000, 8_000), (12_000, 4_000))


rates = st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.5, 1_000.0, 3_999.5, 9_000.0]), max_size=80)


@given(rates)
def test_growth_equals_the_written_rule_and_only_rises(served):
    """CAP-510, with the whole history kept."""
    growth, warm = Growth(), 4_000.0
    for number, rate in enumerate(served):
        growth.on_minute(number * 60, 0.0, rate * PER_MINUTE)
        old = served[: max(0, number + 1 - 30)]
        warm = max(warm, min(2 * max(old, default=0), 40_000))
        assert growth.warm[1] == -(-warm // 1)


@given(rates)
def test_idle_minutes_may_be_left_out_while_idle(served):
    """CAP-614: the same state, in fewer steps."""
    every, some = Growth(), Growth()
    for number, rate in enumerate([*served, *[0.0] * 31]):
        every.on_minute(number * 60, rate * PER_MINUTE, 0.0)
        if rate or not some.is_idle:
            some.on_minute(number * 60, rate * PER_MINUTE, 0.0)
    assert some.warm == every.warm
    assert some.is_idle
    assert every.is_idle


def test_minutes_that_do_not_count_yet_are_restored_too():
    """CAP-510: the peak of before counts half an hour later."""
    first = Growth()
    first.on_minute(0, 0.0, 60 * 5_000.0)
    second = Growth()
    second.restore(first.save())
    for minute in range(1, 32):
        for growth in (first, second):
            growth.on_minute(60 * minute, 0.0, 0.0)
    assert first.warm == second.warm == (12_000, 10_000)
