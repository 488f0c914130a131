"""The queue of a global index, against a naive one (CAP2-4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import ONE, WRITE, Charge, IndexQueue, Meter

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/t/index/i"
LANES = 3


def meter(rate, lanes=LANES):
    made = Meter(ARN, is_table=False, quota=None)
    if rate is None:
        made.on_demand(None, None, 0)
    else:
        made.provision(1, rate, 0)
    for partition_id in range(lanes):
        made.open_partition(partition_id, 0)
    return made


def charges(index, *lanes, units=1.0):
    return [Charge(index, lane, WRITE, units, (lane, f"k{lane}")) for lane in lanes]


def names(reasons):
    return None if reasons is None else [reason.reason for reason in reasons]


def passed(queue, until_s):
    """Let everything pass that is due; return what, with its second."""
    done = []
    while (due := queue.next_due()) is not None and due.time_ns <= until_s * ONE:
        due = queue.apply_next()
        queue.check()
        done.append((due.time_ns / ONE, due.waiting.change))
    return done


def test_what_has_room_passes_at_once():
    """CAP2-4.2."""
    queue, index = IndexQueue(30), meter(2)
    assert queue.accept(1, "a", "a", charges(index, 0), 0) is None
    assert queue.accept(2, "b", "b", charges(index, 1), 0) is None
    assert queue.is_empty
    assert index.traffic.consumed(WRITE) == 2


def test_what_has_no_room_waits_and_is_consumed_when_it_passes():
    """CAP2-4.1, CAP2-4.2."""
    queue, index = IndexQueue(30), meter(1)
    answers = [queue.accept(n, n, n, charges(index, 0), 0) for n in range(4)]
    assert [names(answer) for answer in answers] == [
        None,
        *[["IndexWriteProvisionedThroughputExceeded"]] * 3,
    ]
    assert queue.backlog == 3
    assert index.traffic.consumed(WRITE) == 1
    assert passed(queue, 2) == [(1.0, 1), (2.0, 2)]
    assert queue.backlog == 1
    assert index.traffic.consumed(WRITE) == 3


def test_a_lane_that_waits_holds_up_no_other():
    """CAP2-4.2: across lanes the oldest change that has room goes first."""
    queue, index = IndexQueue(30), meter(10_000)
    assert queue.accept(1, "big", "big", charges(index, 0, units=1_500.0), 0) is None  # a debt
    assert names(queue.accept(2, "x", "x", charges(index, 0), 0)) == [
        "IndexWriteKeyRangeThroughputExceeded"
    ]
    assert queue.accept(3, "y", "y", charges(index, 1), 0) is None
    assert names(queue.accept(4, "z", "z", charges(index, 0), 0)) is not None
    assert [change for _, change in passed(queue, 9)] == ["x", "z"]


def test_a_change_of_key_stands_in_two_lanes_and_passes_as_one():
    """CAP2-4.2."""
    queue, index = IndexQueue(30), meter(1)
    queue.accept(1, "first", "first", charges(index, 2), 0)
    queue.accept(2, "a", "put a", charges(index, 0), 0)
    queue.accept(3, "a", "move a", charges(index, 0, 1), 0)
    queue.accept(4, "b", "put b", charges(index, 1), 0)
    queue.check()
    assert [change for _, change in passed(queue, 9)] == ["put a", "move a", "put b"]


def test_an_item_keeps_its_order_across_lanes():
    """CAP2-4.8: a deletion in one lane is not overtaken by the insertion in another."""
    queue, index = IndexQueue(30), meter(None)
    queue.accept(1, "big", "big", charges(index, 0, units=3_000.0), 0)
    queue.accept(2, "a", "remove a", charges(index, 0), 0)
    assert queue.accept(3, "a", "insert a", charges(index, 1), 0) is not None
    assert passed(queue, 9) == [(2.001, "remove a"), (2.001, "insert a")]


def test_a_change_that_has_no_room_says_so_for_itself():
    """CAP2-4.2: the oldest change lacks room in its partition as well; this one does not."""
    queue, index = IndexQueue(30), meter(1_000)
    assert queue.accept(1, "big", "big", charges(index, 0, units=1_500.0), 0) is None  # a debt
    provisioned = "IndexWriteProvisionedThroughputExceeded"
    assert names(queue.accept(2, "x", "x", charges(index, 0), 0)) == [
        provisioned,
        "IndexWriteKeyRangeThroughputExceeded",
    ]
    assert names(queue.accept(3, "x", "moved", charges(index, 1), 0)) == [provisioned]


def test_what_is_free_waits_for_its_turn_and_for_no_room():
    """CAP2-4.8: deletions by time to live."""
    queue, index = IndexQueue(30), meter(1)
    assert queue.accept(1, "a", "put a", charges(index, 0), 0) is None
    queue.accept(2, "b", "put b", charges(index, 0), 0)
    queue.accept(3, "b", "expire b", charges(index, 0, units=0.0), 0)
    assert queue.backlog == 1
    assert passed(queue, 1) == [(1.0, "put b"), (1.0, "expire b")]


def test_a_full_buffer_closes_the_index_for_a_while():
    """CAP2-4.4: for so many seconds, and until there is room in the buffer again."""
    queue, index = IndexQueue(30), meter(1)
    for number in range(1, 6):
        queue.accept(number, number, number, charges(index, 0), 0)
        assert queue.close_if_full(4.0, 0) == (number == 5)
    assert queue.is_closed(4.0, 0)
    assert not queue.close_if_full(4.0, 0)  # once
    assert names(queue.reasons(0)) == ["IndexWriteProvisionedThroughputExceeded"]
    passed(queue, 10)
    assert queue.is_closed(4.0, 30 * ONE - 1)
    assert names(queue.reasons(29 * ONE)) == ["IndexWriteProvisionedThroughputExceeded"]
    assert not queue.is_closed(4.0, 30 * ONE)


def test_an_index_stays_closed_while_its_buffer_is_full():
    """CAP2-4.4."""
    queue, index = IndexQueue(2), meter(1)
    for number in range(10):
        queue.accept(number, number, number, charges(index, 0), 0)
    assert queue.close_if_full(4.0, 0)
    passed(queue, 5)
    assert queue.backlog == 4
    assert queue.is_closed(4.0, 5 * ONE)
    passed(queue, 6)
    assert not queue.is_closed(4.0, 6 * ONE)


def test_a_copy_goes_its_own_way():
    """CAP2-4.8."""
    queue, index = IndexQueue(30), meter(1)
    for number in range(5):
        queue.accept(number, "a", number, charges(index, number % LANES), 0)
    queue.close_if_full(1.0, 0)
    other = meter(1)
    other.own[WRITE].take(ONE)
    twin = queue.copy(lambda charge: charge._replace(meter=other))
    twin.check()
    assert passed(queue, 9) == passed(twin, 9)
    assert twin.is_closed(1.0, 29 * ONE)


class NaiveQueue:
    """A list; the first change that nothing earlier holds back, by looking at all of them."""

    def __init__(self, rate):
        self.index = meter(rate)
        self.waiting = []

    def drain(self, until_ns):
        done = []
        while True:
            found = []
            for place, (number, item, lanes, units, accepted_ns) in enumerate(self.waiting):
                held_back = any(
                    other[1] == item or set(other[2]) & set(lanes) for other in self.waiting[:place]
                )
                if not held_back:
                    found.append((self._room(lanes, units, accepted_ns, until_ns), number, place))
            if not found or min(found)[0] > until_ns:
                return done
            time_ns, number, place = min(found)
            _, _, lanes, units, _ = self.waiting.pop(place)
            for bucket, cost in self._costs(lanes, units):
                bucket.refill(time_ns)
                bucket.take(cost)
            self.time_ns = time_ns
            done.append((time_ns, number))

    time_ns = 0

    def _costs(self, lanes, units):
        if not units:
            return []
        cost = int(units * ONE)
        own = self.index.own[WRITE]
        partitions = [(self.index.partitions[lane][WRITE], cost) for lane in lanes]
        return partitions if own is None else [(own, cost * len(lanes)), *partitions]

    def _room(self, lanes, units, accepted_ns, until_ns):
        """Search for the first nanosecond at which every bucket lets the change pass."""

        def has_room(time_ns):
            for bucket, cost in self._costs(lanes, units):
                copied = bucket.copy()
                copied.refill(time_ns)
                if not copied.can_take(cost):
                    return False
            return True

        low = max(self.time_ns, accepted_ns)
        high = until_ns + 1
        if low > until_ns or not has_room(high):
            return high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if has_room(middle) else (middle + 1, high)
        return low


offers = st.tuples(
    st.sampled_from([0, 1, 250_000_000, ONE, 7 * ONE]),  # pause
    st.integers(0, 3),  # item
    st.sampled_from([(0,), (1,), (2,), (0, 1), (2, 0)]),
    st.sampled_from([0.0, 1.0, 1.0, 3.0, 1_500.0]),
)


@pytest.mark.parametrize("rate", [1, 40, 5_000, None])
@given(st.lists(offers, max_size=25), st.integers(1, 5))
def test_the_queue_is_the_naive_queue_in_any_steps(rate, run, steps):
    """CAP2-4.2, CAP2-4.8: order, times and tokens, whatever the cutting of time."""
    queue, index, naive = IndexQueue(30), meter(rate), NaiveQueue(rate)
    now_ns = 0
    for number, (pause, item, lanes, units) in enumerate(run):
        before_ns, now_ns = now_ns, now_ns + pause
        done = []
        for step in range(1, steps + 1):
            until = before_ns + pause * step // steps
            while (due := queue.next_due()) is not None and due.time_ns <= until:
                due = queue.apply_next()
                done.append((due.time_ns, due.number))
                queue.check()
        assert done == naive.drain(now_ns)
        reasons = queue.accept(number, item, number, charges(index, *lanes, units=units), now_ns)
        naive.waiting.append((number, item, lanes, units, now_ns))
        assert naive.drain(now_ns) == ([(now_ns, number)] if reasons is None else [])
        assert reasons is None or reasons
        queue.check()
    assert queue.backlog == sum(units * len(lanes) for _, _, lanes, units, _ in naive.waiting)
    assert tokens(index, now_ns) == tokens(naive.index, now_ns)


def tokens(index, now_ns):
    buckets = [*(pair[WRITE] for pair in index.partitions.values()), index.own[WRITE]]
    for bucket in filter(None, buckets):
        bucket.refill(now_ns)
    return [bucket and bucket.save() for bucket in buckets]


def test_a_copy_is_closed_for_the_same_reasons_and_as_far_in_time():
    """CAP2-4.8."""
    queue, index = IndexQueue(30), meter(1)
    for number in range(8):  # the reserve lets the first pass at once
        queue.accept(number, number, number, charges(index, 0), 5 * ONE)
    assert queue.close_if_full(1.0, 5 * ONE)
    passed(queue, 9)
    assert queue.is_empty
    twin = queue.copy(lambda charge: charge)
    assert names(twin.reasons(9 * ONE)) == names(queue.reasons(9 * ONE)) != []
    # What is free passes as soon as it is asked for, and not before what has passed already.
    for each in (queue, twin):
        each.enqueue(9, "free", "free", charges(index, 0, units=0.0), 9 * ONE)
    assert twin.next_due().time_ns == queue.next_due().time_ns == 7 * ONE


def test_nothing_passes_before_it_was_accepted():
    """CAP2-4.2: a change that takes nothing and has to wait for its turn."""
    queue, index = IndexQueue(30), meter(1_000)
    assert queue.accept(1, "big", "big", charges(index, 0, units=1_500.0), 0) is None  # a debt
    assert queue.accept(2, "x", "x", charges(index, 0), 0) is not None
    assert queue.accept(3, "x", "free", charges(index, 1, units=0.0), ONE // 4) is not None
    times = [time for time, _ in passed(queue, 9)]
    assert times == sorted(times)
    assert times[0] >= 0.25


def test_a_gate_that_comes_from_a_later_clock_stays_closed_no_longer_than_another():
    """CAP2-4.4: and one that opens sooner is left as it is."""
    gate = IndexQueue(30).gate
    gate.closed_until_ns = 500 * ONE
    gate.begin_at(100 * ONE)
    assert gate.closed_until_ns == 130 * ONE
    gate.begin_at(110 * ONE)
    assert gate.closed_until_ns == 130 * ONE


def test_nothing_passes_before_it_was_accepted_though_it_is_charged_anew():
    """CAP2-4.2: the partition that a split has made may have had room before."""
    queue, index = IndexQueue(30), meter(1)
    for number in range(8):
        queue.accept(number, number, number, charges(index, 0), 5 * ONE)
    twin = queue.copy(lambda charge: charge._replace(meter=meter(1_000)))
    assert queue.next_due().time_ns == 6 * ONE
    assert twin.next_due().time_ns == 5 * ONE


@pytest.mark.parametrize(("now_s", "accepted_s"), [(5, 5), (50, 20)])
def test_a_queue_from_a_later_clock_has_waited_for_nothing_yet(now_s, accepted_s):
    """What was accepted before the moment has waited since then."""
    queue, index = IndexQueue(30), meter(1)
    for name in "abc":
        queue.accept(name, name, name, charges(index, 0, units=500.0), 20 * ONE)
    queue.begin_at(now_s * ONE)
    assert {waiting.accepted_ns for waiting in queue} == {accepted_s * ONE}
