"""Lanes: pauses between sendings, and what they hold."""

from emulator.clock import NANOSECONDS
from emulator.engine import StreamRecord
from emulator.engine.shards import Shard
from emulator.model import Item
from emulator.streams.lanes import Lane
from emulator.streams.mapping import EventSourceMapping


def lane(count, **settings):
    """Return a lane of records that were written a second apart."""
    shard = Shard("shard", 0, None, None, 1, 0, 0, 0)
    made = Lane(shard, 0, EventSourceMapping(**settings), lambda shard, record: {})
    item = Item.of({"pk": "a"})
    for number in range(1, count + 1):
        made.waiting.append(StreamRecord(number, number * NANOSECONDS, item, None, item, False))
    return made


def numbers(entries):
    return [entry.record.number for entry in entries]


def test_pauses_double_up_to_a_minute():
    """EVS-18."""
    made, pauses, now_ns = lane(1), [], 0
    for _ in range(9):
        batch = made.take(made.due_ns())
        assert made.fail(batch, 0, now_ns) == []
        pauses.append((made.due_ns() - now_ns) // NANOSECONDS)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_batch_is_due_with_its_last_record_if_it_is_full_else_with_its_first_and_the_window():
    """EVS-9."""
    assert lane(5, batch_size=3, batch_window=100).due_ns() == 3 * NANOSECONDS
    assert lane(5, batch_size=6, batch_window=100).due_ns() == 101 * NANOSECONDS
    assert lane(5, batch_size=6).due_ns() == NANOSECONDS
    assert lane(0).due_ns() is None


def test_the_next_window_begins_when_the_batch_before_it_is_settled():
    """EVS-9."""
    made = lane(3, batch_size=2, batch_window=100)
    made.due_ns()
    made.succeed(made.take(0), None, 50 * NANOSECONDS)
    assert made.due_ns() == 150 * NANOSECONDS


def test_halves_come_in_order_before_what_waits():
    """EVS-17."""
    made = lane(6, batch_size=5, bisect_on_error=True)
    made.due_ns()
    assert made.fail(made.take(0), 0, 0) == []
    assert [record.number for record in made.records()] == [1, 2, 3, 4, 5, 6]
    assert numbers(made.take(0).entries) == [1, 2]
    assert numbers(made.take(0).entries) == [3, 4, 5]


def test_what_is_given_up_is_returned_and_the_lane_goes_on():
    """EVS-17."""
    made = lane(3, batch_size=2, retries=0)
    made.due_ns()
    given_up = made.fail(made.take(0), 1, 0)
    assert [record.number for record in given_up] == [2]
    assert not made.is_idle
    made.due_ns()
    made.take(0)
    assert made.is_idle
