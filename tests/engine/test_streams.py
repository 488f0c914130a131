"""Streams: what is kept is bounded by age, by number and by size."""

import pytest

from emulator.clock import DEFAULT_START, NANOSECONDS
from emulator.engine import streams
from emulator.engine.streams import Stream
from emulator.model import KeyAttribute, KeySchema, wire

NOW_NS = DEFAULT_START * NANOSECONDS


def item(number, size_bytes=100):
    return wire.load_item({"pk": {"S": f"{number:04}"}, "pad": {"S": "x" * (size_bytes - 9)}})


def stream():
    return Stream(
        arn="arn",
        label="label",
        table_name="tab",
        key=KeySchema((KeyAttribute("pk", "S"),), ()),
        view="KEYS_ONLY",
        now_ns=NOW_NS,
    )


def read(made, now_ns):
    return made.read(made.shards.of_partition(None), 0, 1000, now_ns)


def oldest(made, now_ns):
    return made.oldest_number(made.shards.of_partition(None), now_ns)


def numbers(made):
    return [record.number for record in read(made, NOW_NS)]


def test_old_records_leave_when_their_items_take_too_many_bytes(monkeypatch):
    """Both images count, whatever the stream shows of them: both are kept alive."""
    monkeypatch.setattr(streams, "MOST_BYTES", 1000)
    made = stream()
    for number in range(20):
        made.record(None, item(number), NOW_NS)
    assert numbers(made) == list(range(11, 21))
    made.record(item(1, 300), item(1, 200), NOW_NS)
    assert numbers(made) == [*range(16, 21), 21]
    assert oldest(made, NOW_NS) == 16


def test_the_newest_record_stays_however_large_it_is(monkeypatch):
    monkeypatch.setattr(streams, "MOST_BYTES", 1000)
    made = stream()
    made.record(None, item(1), NOW_NS)
    made.record(None, item(2, 5000), NOW_NS)
    assert numbers(made) == [2]


def test_a_copy_counts_its_own_bytes(monkeypatch):
    monkeypatch.setattr(streams, "MOST_BYTES", 1000)
    made = stream()
    for number in range(10):
        made.record(None, item(number), NOW_NS)
    twin = made.share()
    twin.record(None, item(10), NOW_NS)
    assert (numbers(made), numbers(twin)) == (list(range(1, 11)), list(range(2, 12)))


def test_a_record_can_be_read_for_a_day():
    """STM-8: by whoever reads, asks for the oldest, or for a moment."""
    made = stream()
    made.record(None, item(1), NOW_NS)
    made.record(None, item(2), NOW_NS + NANOSECONDS)
    day_ns = 24 * 3600 * NANOSECONDS
    for ask in (
        lambda now_ns: [record.number for record in read(made.share(), now_ns)],
        lambda now_ns: [oldest(made.share(), now_ns)],
        lambda now_ns: [made.share().number_at(0, now_ns)],
    ):
        assert ask(NOW_NS + day_ns)[0] == 1
        assert ask(NOW_NS + day_ns + 1)[0] == 2


def test_records_are_restored_if_their_numbers_follow_each_other():
    made, other = stream(), stream()
    for number in range(3):
        made.record(None, item(number), NOW_NS)
    other.restore(made.records[1:], 4)
    assert numbers(other) == [2, 3]
    assert (other.next_number, oldest(other, NOW_NS)) == (4, 2)
    for records, next_number in (
        (made.records, 5),
        (made.records, 3),
        ((made.records[0], made.records[2]), 4),
        ((), 0),
    ):
        with pytest.raises(ValueError, match="numbered one after the other"):
            other.restore(records, next_number)
