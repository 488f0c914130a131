"""What was accessed: weights, order of writes, loads, and the bound on positions."""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.capacity import READ, WRITE, Minute, Traffic
from emulator.capacity.traffic import MAX_POSITIONS, MERGED_NEIGHBOURS, merge_neighbours, weight


def test_a_position_gathers_weights_and_counts():
    """CAP-805: 3 * write units + read units."""
    traffic = Traffic()
    traffic.consume(0, WRITE, 2.0, (1, "a"), second=0)
    traffic.consume(0, WRITE, 1.0, (1, "a"), second=0)
    traffic.consume(0, READ, 0.5, (1, "a"), second=0)
    traffic.refuse(0, READ, 2.0, (1, "a"), 2.0)
    traffic.refuse(0, WRITE, 2.0, (9, "b"), 2.0)
    assert traffic.running.accesses == {(1, "a"): [9.5, 2.0, 2, 1], (9, "b"): [0.0, 6.0, 0, 1]}


def test_a_scan_loads_its_partition_and_no_position():
    """CAP-805."""
    traffic = Traffic()
    traffic.consume(4, READ, 8.0, None, second=0)
    traffic.refuse(4, READ, 1.0, None, 1.0)
    assert traffic.running.accesses == {}
    assert (traffic.consumed(READ), traffic.throttled(READ)) == (8.0, 1.0)
    assert not traffic.is_idle


def test_positions_stand_in_the_order_of_their_first_writes():
    """CAP-506: a read, or a refused write, before the first write does not count."""
    traffic = Traffic()
    traffic.consume(0, READ, 1.0, (1, "a", 3), second=0)
    traffic.refuse(0, WRITE, 1.0, (1, "a", 2), 1.0)
    traffic.consume(0, WRITE, 1.0, (1, "a", 1), second=0)
    for sort in (2, 3, 1):
        traffic.consume(0, WRITE, 1.0, (1, "a", sort), second=0)
    assert [position[2] for position in traffic.running.accesses] == [1, 2, 3]


def test_loads_follow_the_minute_and_the_second():
    """CAP-806."""
    traffic = Traffic()
    for second, admitted in ((0, 5.0), (0, 2.0), (1, 6.0)):
        traffic.consume(0, WRITE, admitted, None, second)
    traffic.refuse(0, WRITE, 4.0, None, 4.0)
    traffic.consume(1, READ, 3.0, None, second=1)
    load = traffic.loads[0][WRITE]
    assert (load.consumed, load.throttled, load.peak) == (13.0, 4.0, 7.0)
    minute = traffic.end_minute(600)
    assert minute.start_s == 600
    assert traffic.is_idle
    assert (load.consumed, load.total_consumed) == (0.0, 13.0)
    assert (load.throttled, load.last_demand, load.total_throttled) == (0.0, 17.0, 4.0)
    assert traffic.demands() == {0: (0.0, 17.0), 1: (3.0, 0.0)}
    traffic.end_minute(660)
    assert (load.last_demand, load.total_consumed) == (0.0, 13.0)


def test_a_closed_partition_has_no_load():
    traffic = Traffic()
    traffic.open(3)
    traffic.close(3)
    traffic.close(3)
    assert traffic.demands() == {}


def test_positions_are_bounded_and_the_hot_one_keeps_its_name():
    traffic = Traffic()
    hot = (5_000_000, "hot", 0)
    for number in range(3 * MAX_POSITIONS):
        traffic.consume(0, WRITE, 1.0, (number * 1_000, "k", 0), second=0)
        traffic.consume(0, WRITE, 2.0, hot, second=0)
        if number % 1_000 == 0:
            traffic.check()
    traffic.check()
    accesses = traffic.running.accesses
    assert sum(map(weight, accesses.values())) == 3 * (1 + 2) * 3 * MAX_POSITIONS
    assert sum(access[2] for access in accesses.values()) == 2 * 3 * MAX_POSITIONS
    assert max(accesses, key=lambda position: weight(accesses[position])) == hot


writes = st.lists(st.integers(min_value=0, max_value=50), min_size=1, max_size=80)


@given(writes)
def test_merging_keeps_weights_and_what_it_counted_of_the_order(sorts):
    traffic = Traffic(prefix_length=2)
    for sort in sorts:
        traffic.consume(0, WRITE, 1.0, (7, "d", sort), second=0)
    rises = sum(1 for i, s in enumerate(sorts) if i and s > max(sorts[:i]))
    falls = sum(1 for i, s in enumerate(sorts) if i and s < min(sorts[:i]))
    before = len(traffic.running.accesses)
    merge_neighbours(traffic.running, 2)
    minute = traffic.running
    assert len(minute.accesses) == -(-before // MERGED_NEIGHBOURS)
    assert sum(map(weight, minute.accesses.values())) == 3.0 * len(sorts)
    assert sum(up for up, _ in minute.records.values()) == rises
    assert sum(down for _, down in minute.records.values()) == falls


@settings(max_examples=30)
@given(writes)
def test_merging_twice_forgets_no_count(sorts):
    minute = Minute()
    for sort in sorted(set(sorts)):
        minute.accesses[(7, "d", sort)] = [3.0, 0.0, 1, 0]
    merge_neighbours(minute, 2)
    merge_neighbours(minute, 2)
    assert sum(up for up, _ in minute.records.values()) == len(set(sorts)) - 1
    assert sum(access[2] for access in minute.accesses.values()) == len(set(sorts))


def test_positions_that_were_only_read_have_no_record():
    minute = Minute()
    minute.accesses = {(7, "d", sort): [1.0, 0.0, 0, 0] for sort in range(4)}
    merge_neighbours(minute, 2)
    assert (len(minute.accesses), minute.records) == (1, {})


def test_no_minute_has_been_asked_for_anything_before_it_ends():
    """CAP2-2."""
    traffic = Traffic()
    traffic.open(3)
    traffic.consume(3, WRITE, 5.0, None, second=0)
    assert traffic.demands() == {3: (0.0, 0.0)}
    traffic.end_minute(0)
    assert traffic.demands() == {3: (0.0, 5.0)}


def test_the_weight_of_an_access_is_what_passed_and_what_was_refused():
    assert weight([3.0, 2.0, 1, 1]) == 5.0


def test_merging_keeps_what_was_refused():
    minute = Minute()
    count = 4 * MERGED_NEIGHBOURS
    minute.accesses = {(number, "k"): [1.0, 2.0, 1, 3] for number in range(count)}
    merge_neighbours(minute, 2)
    totals = [sum(access[column] for access in minute.accesses.values()) for column in range(4)]
    assert totals == [count, 2 * count, count, 3 * count]
