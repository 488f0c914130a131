"""Heat: when a partition is split, where, and when not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import WRITE, Decision, Heat, Minute, Traffic
from emulator.capacity.heat import NO_BOUNDARY, NO_TRAFFIC, QUERIED, SEQUENTIAL, SINGLE_ITEM, decide
from emulator.capacity.traffic import MAX_POSITIONS, merge_neighbours
from emulator.settings import Settings

LOW, HIGH, TOP = (0,), (1_000,), "\U0010ffff"
FULL_WRITES = (0.0, 60_000.0)


def minute(*accesses, start_s=0):
    """Build a minute from (position, write units) pairs, in order."""
    traffic = Traffic()
    for position, wanted in accesses:
        traffic.consume(0, WRITE, wanted, position, second=0)
    return traffic.end_minute(start_s)


def decision(*minutes, low=LOW, high=HIGH, key_length=2, has_local_index=False, settings=None):
    return decide(
        minutes,
        low,
        high,
        prefix_length=2,
        key_length=key_length,
        has_local_index=has_local_index,
        top=TOP,
        settings=settings or Settings(),
    )


def run(heat, first, demands):
    """Report one minute per demand; return the second at which each split was scheduled."""
    scheduled = []
    for number, demand in enumerate(demands, first):
        closed = Minute(number * 60)
        scheduled += [((number + 1) * 60, p) for p in heat.on_minute(closed, demand)]
        heat.check()
    return scheduled


def test_two_hot_minutes_decide_a_split_that_comes_after_its_delay():
    """CAP2-3, EX-49: the delay counts from the start of the heat."""
    heat = Heat(Settings(split_delay=500), "t")
    assert run(heat, 1, [{7: FULL_WRITES}] * 2) == [(180, 7)]
    assert heat.pending == {7: 560}
    assert heat.next_due_s == 560
    assert run(heat, 3, [{7: FULL_WRITES}] * 5) == []  # at most one pending split
    assert heat.due(559) == []
    assert heat.due(560) == [7]
    assert heat.due(560) == []


def test_a_decided_split_comes_even_if_the_load_stops():
    """CAP2-3: and its place is found in the last minutes that had traffic."""
    heat = Heat(Settings(split_delay=500), "t")
    busy = [minute(((10, "a"), 1.0), start_s=start) for start in (0, 60)]
    for closed in busy:
        heat.on_minute(closed, {7: FULL_WRITES})
    run(heat, 2, [{}] * 6)
    assert heat.minutes == busy
    assert heat.due(500) == [7]


def split_seconds(seed, *, resource="t", partition=7, began=0):
    heat = Heat(Settings(seed=seed), resource)
    run(heat, began, [{partition: FULL_WRITES}] * 2)
    return heat.pending[partition] - began * 60


def test_delays_are_drawn_from_a_triangle():
    """CAP2-3: 3 to 12 minutes, median 8, 87 % under 10; whole seconds."""
    drawn = sorted(split_seconds(seed) for seed in range(2_000))
    assert 180 <= drawn[0] < drawn[-1] <= 720
    assert 470 <= drawn[1_000] <= 490
    assert 0.85 <= sum(delay < 600 for delay in drawn) / 2_000 <= 0.89


def test_a_delay_follows_from_seed_resource_partition_and_minute_alone():
    """CAP2-3: a pure function of these, so equal seeds give equal runs."""
    first = split_seconds(1)
    assert split_seconds(1) == first
    others = [
        split_seconds(2),
        split_seconds(1, resource="u"),
        split_seconds(1, partition=8),
        split_seconds(1, began=3),
    ]
    assert first not in others
    assert len(set(others)) == 4


@pytest.mark.parametrize(
    ("read", "write", "is_hot"),
    [
        (0.0, 48_000.0, True),
        (0.0, 47_999.5, False),
        (144_000.0, 0.0, True),
        (143_999.5, 0.0, False),
        (143_999.0, 47_999.0, False),
    ],
)
def test_heat_is_four_fifths_of_either_axis(read, write, is_hot):
    """CAP-505, HEAT_THRESHOLD."""
    heat = Heat(Settings(heat_minutes=1), "t")
    assert run(heat, 0, [{1: (read, write)}]) == ([(60, 1)] if is_hot else [])


@pytest.mark.parametrize("pause", [{7: (0.0, 0.0)}, {}])
def test_a_cool_minute_begins_the_count_again(pause):
    """CAP2-3: consecutive minutes."""
    heat = Heat(Settings(heat_minutes=5), "t")
    assert run(heat, 0, [{7: FULL_WRITES}] * 4 + [pause] + [{7: FULL_WRITES}] * 4) == []
    assert run(heat, 9, [{7: FULL_WRITES}]) == [(600, 7)]


def test_minutes_left_out_count_as_cool():
    heat = Heat(Settings(heat_minutes=5), "t")
    assert run(heat, 0, [{7: FULL_WRITES}] * 4) == []
    assert run(heat, 100, [{7: FULL_WRITES}] * 4) == []
    assert run(heat, 104, [{7: FULL_WRITES}]) == [(105 * 60, 7)]


def test_the_window_is_kept_only_while_something_is_hot():
    """CAP-505: five minutes."""
    heat = Heat(Settings(split_delay=480), "t")
    for number in range(8):
        heat.on_minute(minute(((10, "a"), 1.0), start_s=number * 60), {7: FULL_WRITES})
    assert [kept.start_s for kept in heat.minutes] == [180, 240, 300, 360, 420]
    assert heat.due(480) == [7]
    run(heat, 8, [{7: (0.0, 0.0)}])
    assert heat.minutes == []
    assert heat.is_idle


@pytest.mark.parametrize("window", [1, 3, 7])
def test_the_window_is_as_long_as_its_setting(window):
    """CAP-505, split_window_minutes."""
    heat = Heat(Settings(split_delay=600, split_window_minutes=window), "t")
    for number in range(8):
        heat.on_minute(minute(((10, "a"), 1.0), start_s=number * 60), {7: FULL_WRITES})
        heat.check()
    starts = [kept.start_s for kept in heat.minutes]
    assert starts == [number * 60 for number in range(8 - window, 8)]
    heat.forget_old(8 * 60 + 30)
    assert [kept.start_s for kept in heat.minutes] == starts[1:]


def test_of_a_longer_window_the_last_minutes_are_restored():
    """CAP-505: a file may have been saved with another split_window_minutes."""
    longer = Heat(Settings(), "t")
    for number in range(4):
        longer.keep(minute(((10, "a"), 1.0), start_s=number * 60))
    shorter = Heat(Settings(split_window_minutes=2), "t")
    shorter.restore(longer.save())
    shorter.check()
    assert [kept.start_s for kept in shorter.minutes] == [120, 180]


@pytest.mark.parametrize(("minutes", "pending"), [(4, {}), (3, {7: 480}), (1, {7: 480})])
def test_who_was_hot_for_long_enough_is_split_when_restored(minutes, pending):
    """CAP2-3: a file may have been saved with more heat_minutes; the heat began at 60 s."""
    saved = Heat(Settings(heat_minutes=5, split_delay=420), "t")
    run(saved, 0, [{}] + [{7: FULL_WRITES}] * 3)
    loaded = Heat(Settings(heat_minutes=minutes, split_delay=420), "t")

    loaded.restore(saved.save())

    loaded.check()
    assert loaded.pending == pending
    run(loaded, 4, [{7: FULL_WRITES}])
    assert loaded.pending == {7: 480}


def test_splits_come_due_in_order_and_a_partition_can_be_forgotten():
    heat = Heat(Settings(heat_minutes=1, split_delay=120), "t")
    run(heat, 0, [{9: FULL_WRITES}, {9: FULL_WRITES, 3: FULL_WRITES, 4: FULL_WRITES}])
    heat.forget(4)
    assert heat.due(1_000) == [9, 3]
    assert heat.is_idle
    several = Heat(Settings(), "t")
    run(several, 0, [{5: FULL_WRITES}])
    assert not several.is_idle
    several.forget(5)
    assert several.is_idle


def test_the_cut_is_the_weighted_median():
    """CAP-505: the first position at which the sum reaches half."""
    even = minute(*(((n, f"k{n}"), 1.0) for n in range(10, 20)))
    assert decision(even) == Decision(((14, "k14"),))
    skewed = minute(((10, "a"), 2.0), ((20, "b"), 3.0), ((30, "c"), 4.0))
    assert decision(skewed) == Decision(((20, "b"),))


def test_the_median_is_taken_over_the_window():
    early = minute(((10, "a"), 5.0), ((20, "b"), 1.0))
    late = minute(((20, "b"), 3.0), ((30, "c"), 2.0), ((40, "d"), 2.0))
    assert decision(early, late) == Decision(((20, "b"),))


def test_other_partitions_do_not_count():
    window = minute(((10, "a"), 90.0), ((20, "b"), 1.0), ((30, "c"), 1.0), ((40, "d"), 1.0))
    assert decision(window, low=(15,), high=(40,)) == Decision(((20, "b"), (20, "b", TOP)))
    assert decision(window, low=(500,), high=(600,)) == Decision(refusal=NO_TRAFFIC)


def test_the_left_end_is_no_cut():
    """CAP-505: take the next accessed position; none, no split."""
    window = minute(((10, "a"), 4.0), ((20, "b"), 3.0), ((30, "c"), 3.0))
    assert decision(window, low=(10, "a")) == Decision(((20, "b"),))
    heavy = minute(((10, "a"), 1.0), ((10, "a"), 1.0))
    never_single = Settings(single_item_share=2.0)
    assert decision(heavy, low=(10, "a"), high=(10, "a", TOP), settings=never_single) == Decision(
        refusal=SINGLE_ITEM
    )
    assert decision(heavy, low=(10, "a"), has_local_index=True, settings=never_single) == Decision(
        refusal=SINGLE_ITEM
    )


def test_one_hot_item_is_never_split():
    """CAP-506, EX-48."""
    window = minute(((10, "a"), 90.0), ((20, "b"), 5.0), ((30, "c"), 5.0))
    assert decision(window) == Decision(refusal=SINGLE_ITEM)


def test_queries_of_one_collection_are_not_called_one_item():
    """CAP-506, CAP-805: a Query counts for its collection, at the position before its items."""
    window = minute(((10, "a"), 95.0), ((10, "a", "s1"), 2.0), ((10, "a", "s2"), 3.0))
    assert decision(window, key_length=3) == Decision(refusal=QUERIED)


@pytest.mark.parametrize(
    ("low", "high", "cuts"),
    [
        (LOW, HIGH, ((20, "b"), (20, "b", TOP))),
        ((20, "b"), HIGH, ((20, "b", TOP),)),
        (LOW, (20, "b", TOP), ((20, "b"),)),
    ],
)
def test_an_item_with_most_of_the_traffic_is_isolated(low, high, cuts):
    """CAP-506: up to three children."""
    window = minute(((10, "a"), 20.0), ((20, "b"), 60.0), ((30, "c"), 20.0))
    assert decision(window, low=low, high=high) == Decision(cuts)


@pytest.mark.parametrize(("share", "is_isolated"), [(0.6, True), (0.61, False), (0.1, True)])
def test_the_share_that_isolates_an_item_is_a_setting(share, is_isolated):
    """CAP-506, isolation_share: else the cut is the median."""
    window = minute(((10, "a"), 20.0), ((20, "b"), 60.0), ((30, "c"), 20.0))
    cuts = ((20, "b"), (20, "b", TOP)) if is_isolated else ((20, "b"),)
    assert decision(window, settings=Settings(isolation_share=share)) == Decision(cuts)


def collection(name, place, sorts, wanted=1.0):
    return [((place, name, sort), wanted) for sort in sorts]


def test_a_collection_may_be_cut_at_a_sort_key():
    """CAP-506, last rule."""
    window = minute(*collection("hot", 10, [5, 1, 9, 3, 7, 0, 8, 2, 6, 4]))
    assert decision(window) == Decision(((10, "hot", 4),))


@pytest.mark.parametrize("sorts", [range(100), range(100, 0, -1), [*range(1, 95), *[0] * 6]])
def test_a_collection_written_in_order_is_not_cut(sorts):
    """CAP-506, sequential access."""
    assert decision(minute(*collection("hour", 10, sorts))) == Decision(refusal=SEQUENTIAL)


def test_nearly_sequential_is_not_sequential():
    """CAP-506: under 90 % of the writes that follow another."""
    window = minute(*collection("hour", 10, [*range(1, 89), *[0.5 + n / 100 for n in range(12)]]))
    assert decision(window).refusal is None


def test_order_is_followed_through_the_window_and_through_merging():
    minutes = []
    for number in range(5):
        sorts = range(number * 40, number * 40 + 40)
        closed = minute(*collection("hour", 10, sorts))
        if number % 2:
            merge_neighbours(closed, 2)
        minutes.append(closed)
    assert decision(*minutes) == Decision(refusal=SEQUENTIAL)


def test_a_read_collection_is_not_sequential():
    traffic = Traffic()
    for sort in range(100):
        traffic.consume(0, 0, 1.0, (10, "hour", sort), second=0)
    assert decision(traffic.end_minute(0)) == Decision(((10, "hour", 49),))


def test_the_cut_moves_beside_a_minor_collection_that_is_written_in_order():
    """CAP-506: each device writes in time order, and none of them is the heat."""
    devices = minute(*(a for n in range(10) for a in collection(f"d{n}", 10 + n, range(10))))
    assert decision(devices) == Decision(((15, "d5"),))


def test_the_share_at_which_a_collection_is_the_heat_is_a_setting():
    """CAP-506, isolation_share."""
    devices = minute(*(a for n in range(10) for a in collection(f"d{n}", 10 + n, range(10))))
    never_one_item = {"single_item_share": 2.0, "isolation_share": 0.02}
    assert decision(devices, settings=Settings(isolation_share=0.11)) == Decision(((15, "d5"),))
    assert decision(devices, settings=Settings(**never_one_item)) == Decision(refusal=SEQUENTIAL)


@pytest.mark.parametrize(
    ("before", "after", "cuts"),
    [
        (30, 10, ((20, "big"),)),
        (10, 30, ((30, "after"),)),
        (20, 20, ((20, "big"),)),
        (0, 10, ((30, "after"),)),
        (10, 0, ((20, "big"),)),
    ],
)
def test_with_a_local_index_the_cut_is_the_nearest_collection_boundary(before, after, cuts):
    """CAP-506."""
    accesses = collection("big", 20, [5, 1, 9, 3, 7, 0, 8, 2, 6, 4], wanted=6.0)
    accesses += [((10, "before", n), 1.0) for n in range(before)]
    accesses += [((30, "after", n), 1.0) for n in range(after)]
    assert decision(minute(*accesses), has_local_index=True) == Decision(cuts)


def test_with_a_local_index_one_collection_is_never_cut():
    """CAP-506: none, no split."""
    window = minute(*collection("big", 20, [5, 1, 9, 3]))
    assert decision(window, has_local_index=True) == Decision(refusal=NO_BOUNDARY)


def test_with_a_local_index_an_item_is_not_isolated():
    window = minute(((20, "big", 1), 60.0), ((20, "big", 2), 30.0), ((30, "z", 1), 10.0))
    assert decision(window, has_local_index=True) == Decision(((30, "z"),))


positions = st.tuples(
    st.integers(min_value=0, max_value=8), st.sampled_from("ab"), st.integers(0, 8)
)


@given(
    st.lists(st.tuples(positions, st.integers(min_value=1, max_value=9)), max_size=40),
    st.tuples(st.integers(min_value=0, max_value=4)),
    st.tuples(st.integers(min_value=5, max_value=9)),
    st.booleans(),
)
def test_cuts_lie_inside_the_partition_and_leave_traffic_on_both_sides(
    accesses, low, high, has_local_index
):
    """CAP-505, CAP-506: boundaries are ordered, inside, and respect collections with an LSI."""
    window = minute(*((position, float(wanted)) for position, wanted in accesses))
    answer = decision(window, low=low, high=high, has_local_index=has_local_index)
    inside = {p: a[0] for p, a in window.accesses.items() if low <= p < high}
    assert (answer.refusal is None) == bool(answer.boundaries)
    assert list(answer.boundaries) == sorted(set(answer.boundaries))
    assert all(low < cut < high for cut in answer.boundaries)
    if len(answer.boundaries) == 1:
        cut = answer.boundaries[0]
        assert any(position < cut for position in inside)
        assert any(position >= cut for position in inside)
    if has_local_index:
        assert all(len(cut) == 2 for cut in answer.boundaries)
    if not inside:
        assert answer == Decision(refusal=NO_TRAFFIC)
    elif max(inside.values()) >= 0.9 * sum(inside.values()):
        assert answer == Decision(refusal=SINGLE_ITEM)


@pytest.mark.parametrize(("stride", "refusal"), [(1, SEQUENTIAL), (7_919, None)])
def test_order_is_recognised_beyond_the_bound_on_positions(stride, refusal):
    """CAP-506: a hot partition is written at more positions than a minute tells apart."""
    count = 3 * MAX_POSITIONS
    sorts = [number * stride % count for number in range(count)]
    answer = decision(minute(*collection("hour", 10, sorts)))
    assert answer.refusal == refusal
    if answer.boundaries:
        ((_, _, sort),) = answer.boundaries
        assert abs(sort - count / 2) < count / 100


def test_what_comes_after_merging_is_judged_by_the_order_of_its_first_writes():
    """CAP-506: the record of a merged position says nothing about those that came later."""
    traffic = Traffic()
    for position, wanted in collection("hour", 10, range(20)):
        traffic.consume(0, WRITE, wanted, position, second=0)
    merge_neighbours(traffic.running, 2)
    for position, wanted in collection("hour", 10, [20 + 37 * n % 200 for n in range(200)]):
        traffic.consume(0, WRITE, wanted, position, second=1)
    assert decision(traffic.end_minute(0)).refusal is None
