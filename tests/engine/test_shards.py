"""Shards of a stream follow partitions; a consumer misses and reorders nothing (STM-12)."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.engine import streams
from tests.tables import table

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


def world(partition_bytes=3000, **members):
    settings = Settings(stream_shards="partitions", partition_bytes=partition_bytes, **members)
    emu = Emulator(clock=ManualClock(), settings=settings)
    emu.call("CreateTable", table(StreamSpecification=STREAM))
    return emu


def put(emu, pk, number, size=0):
    item = {"pk": {"S": pk}, "n": {"N": str(number)}, "pad": {"S": "x" * size}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})


def arn_of(emu):
    return emu.call("DescribeTable", {"TableName": "tab"})["Table"]["LatestStreamArn"]


def shards(emu, **request):
    request = {"StreamArn": arn_of(emu), **request}
    return emu.call("DescribeStream", request)["StreamDescription"]["Shards"]


def iterator(emu, shard, kind="TRIM_HORIZON", **request):
    where = {"StreamArn": arn_of(emu), "ShardId": shard["ShardId"], "ShardIteratorType": kind}
    return emu.call("GetShardIterator", where | request)["ShardIterator"]


def page(emu, at, **request):
    return emu.call("GetRecords", {"ShardIterator": at, **request})


def drain(emu, shard, limit=1000):
    """Return all records of a shard, and whether it has ended."""
    at, records = iterator(emu, shard), []
    while at is not None:
        answer = page(emu, at, Limit=limit)
        records += answer["Records"]
        at = answer.get("NextShardIterator")
        if at is not None and not answer["Records"]:
            return records, False
    return records, True


def history(emu, limit=1000):
    """Return what each item was, in the order of a consumer that reads parents first."""
    seen = defaultdict(list)
    done = set()
    waiting = shards(emu)
    known = {shard["ShardId"] for shard in waiting}
    while waiting:
        shard = next(s for s in waiting if s.get("ParentShardId") not in known - done)
        waiting.remove(shard)
        done.add(shard["ShardId"])
        for record in drain(emu, shard, limit)[0]:
            image = record["dynamodb"]["NewImage"]
            seen[image["pk"]["S"]].append(int(image["n"]["N"]))
    return seen


def test_a_stream_has_a_shard_for_each_partition_and_children_name_their_parent():
    """STM-12."""
    emu = world()
    first = shards(emu)
    assert len(first) == len(emu.partitions("tab")) == 4
    assert all("EndingSequenceNumber" not in shard["SequenceNumberRange"] for shard in first)
    for number in range(40):
        put(emu, str(number), 0, 500)
    later = shards(emu)
    assert len([s for s in later if "EndingSequenceNumber" not in s["SequenceNumberRange"]]) == len(
        emu.partitions("tab")
    )
    ranges = {shard["ShardId"]: shard["SequenceNumberRange"] for shard in later}
    children = [shard for shard in later if "ParentShardId" in shard]
    assert children
    for child in children:
        parent = ranges[child["ParentShardId"]]
        start = int(ranges[child["ShardId"]]["StartingSequenceNumber"])
        assert int(parent["EndingSequenceNumber"]) + 1 < start
        assert child in shards(
            emu, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": child["ParentShardId"]}
        )


def test_a_closed_shard_ends_and_says_so():
    """STM-5, STM-12: only its children go on."""
    emu = world()
    iterators = {shard["ShardId"]: iterator(emu, shard) for shard in shards(emu)}
    number = 0
    while len(emu.partitions("tab")) == 4:
        put(emu, str(number), 0, 900)
        number += 1
    (closed,) = [s for s in shards(emu) if "EndingSequenceNumber" in s["SequenceNumberRange"]]
    answer = page(emu, iterators.pop(closed["ShardId"]))
    first = answer["Records"][0]["dynamodb"]["SequenceNumber"]
    assert int(closed["SequenceNumberRange"]["StartingSequenceNumber"]) < int(first)  # STM-13
    assert "NextShardIterator" not in answer
    last = answer["Records"][-1]["dynamodb"]["SequenceNumber"]
    assert last == closed["SequenceNumberRange"]["EndingSequenceNumber"]
    assert all("NextShardIterator" in page(emu, at) for at in iterators.values())


def test_iterators_begin_anywhere_in_a_shard():
    """STM-4, STM-12."""
    emu = world(partition_bytes=10**6)
    for number in range(8):
        put(emu, "a", number)
        put(emu, f"other {number}", 0)
        emu.clock.advance(10)
    shard = next(s for s in shards(emu) if "a" in _keys(drain(emu, s)[0]))
    own = [r for r in drain(emu, shard)[0] if r["dynamodb"]["Keys"]["pk"]["S"] == "a"]
    third = own[3]["dynamodb"]["SequenceNumber"]
    ats = {
        "AT_SEQUENCE_NUMBER": {"SequenceNumber": third},
        "AFTER_SEQUENCE_NUMBER": {"SequenceNumber": third},
        "AT_TIMESTAMP": {"Timestamp": own[3]["dynamodb"]["ApproximateCreationDateTime"]},
        "LATEST": {},
    }
    values = {}
    for kind, where in ats.items():
        records = page(emu, iterator(emu, shard, kind, **where))["Records"]
        values[kind] = [
            int(r["dynamodb"]["NewImage"]["n"]["N"])
            for r in records
            if r["dynamodb"]["Keys"]["pk"]["S"] == "a"
        ]
    assert values == {
        "AT_SEQUENCE_NUMBER": [3, 4, 5, 6, 7],
        "AFTER_SEQUENCE_NUMBER": [4, 5, 6, 7],
        "AT_TIMESTAMP": [3, 4, 5, 6, 7],
        "LATEST": [],
    }


def _keys(records):
    return {record["dynamodb"]["Keys"]["pk"]["S"] for record in records}


def test_a_quiet_shard_is_not_trimmed_by_others(monkeypatch):
    """STM-9, STM-12: its iterators go on however much is written elsewhere."""
    monkeypatch.setattr(streams, "MOST_RECORDS", 5)
    emu = world(partition_bytes=10**6)
    for number in range(3):
        put(emu, "a", number)
    busy = next(s for s in shards(emu) if drain(emu, s)[0])
    quiet = next(s for s in shards(emu) if s != busy)
    iterators = [iterator(emu, quiet), iterator(emu, quiet, "LATEST")]
    iterators.append(page(emu, iterators[0])["NextShardIterator"])
    trimmed = iterator(emu, busy)
    for number in range(20):
        put(emu, "a", number)
    for at in iterators:
        answer = page(emu, at)
        assert not answer["Records"]
        assert "NextShardIterator" in answer
    with pytest.raises(ApiError, match="read past the oldest stream record"):
        page(emu, trimmed)
    first = answer["NextShardIterator"]
    number = 0
    while not page(emu, first)["Records"]:
        put(emu, f"other {number}", 0)
        number += 1


def test_shards_come_in_pages():
    """STM-3."""
    emu = world()
    described = emu.call("DescribeStream", {"StreamArn": arn_of(emu), "Limit": 3})
    stream = described["StreamDescription"]
    assert len(stream["Shards"]) == 3
    rest = shards(emu, ExclusiveStartShardId=stream["LastEvaluatedShardId"])
    assert [*stream["Shards"], *rest] == shards(emu)


def test_a_shard_that_was_closed_a_day_ago_is_gone():
    """STM-9, STM-12: its children name no parent then."""
    emu = world(stream_shard_seconds=0)
    for number in range(40):
        put(emu, str(number), 0, 500)
    closed = [s for s in shards(emu) if "EndingSequenceNumber" in s["SequenceNumberRange"]]
    at = iterator(emu, closed[0])
    emu.clock.advance(24 * 3600 + 1)
    left = shards(emu)
    assert closed
    assert not {s["ShardId"] for s in closed} & {s["ShardId"] for s in left}
    assert all("ParentShardId" not in shard for shard in left)
    with pytest.raises(ApiError):
        page(emu, at)


HOURS = 3600


def test_a_shard_ends_by_its_age_and_has_one_child():
    """STM-12: after four hours, whether something was written or not."""
    emu = world(partition_bytes=10**6)
    put(emu, "a", 0)
    first = shards(emu)
    at = iterator(emu, next(s for s in first if drain(emu, s)[0]))
    emu.clock.advance(4 * HOURS - 1)
    assert shards(emu) == first
    at = iterator(emu, next(s for s in first if drain(emu, s)[0]))
    emu.clock.advance(1)
    put(emu, "a", 1)
    closed, children = shards(emu)[:4], shards(emu)[4:]
    assert [s["ShardId"] for s in closed] == [s["ShardId"] for s in first]
    assert all("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in closed)
    assert [s["ParentShardId"] for s in children] == [s["ShardId"] for s in closed]
    answer = page(emu, at)
    assert len(answer["Records"]) == 1
    assert "NextShardIterator" not in answer
    assert history(emu) == {"a": [0, 1]}
    assert len(emu.partitions("tab")) == 4


@pytest.mark.parametrize("seconds", [0, 6 * HOURS, 24 * HOURS])
def test_how_old_shards_grow_is_a_setting(seconds):
    """STM-12: 0 is for ever."""
    emu = world(partition_bytes=10**6, stream_shard_seconds=seconds)
    emu.clock.advance(24 * HOURS - 1)
    assert len(shards(emu)) == (16 if seconds == 6 * HOURS else 4)
    emu.clock.advance(1)
    assert len(shards(emu)) == {0: 4, 6 * HOURS: 20, 24 * HOURS: 8}[seconds]


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.integers(1, 40 * HOURS), max_size=6),
    st.lists(st.integers(0, 3), max_size=6),
)
def test_shards_do_not_depend_on_who_looks_when(pauses, splits):
    """STM-12: looked at often or once after years, they are the same."""
    looked, left = (world(partition_bytes=1500) for _ in range(2))
    for emu in (looked, left):
        for number, pause in enumerate(pauses):
            emu.clock.advance(pause)
            for split in splits[number : number + 1]:
                for key in range(2 * split):
                    put(emu, f"{number} {key}", 0, 700)
            if emu is looked:
                shards(emu)
        for _ in range(8 if emu is looked else 1):
            emu.clock.advance(25 * HOURS if emu is looked else 200 * HOURS)
            shards(emu)
    assert shards(looked) == shards(left)


def test_a_long_time_costs_no_more_than_what_can_be_seen_of_it():
    """STM-12."""
    emu = world()
    emu.clock.advance(90 * 366 * 24 * HOURS)
    assert len(shards(emu)) == 4 * (1 + 7)
    put(emu, "a", 1)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 900)), max_size=60),
    st.integers(1, 7),
)
def test_a_consumer_that_reads_parents_first_sees_each_item_in_order(writes, limit):
    """STM-8, STM-12: complete, in order, however often partitions split."""
    emu = world(partition_bytes=2500, stream_shard_seconds=7)
    expected = defaultdict(list)
    for number, (pk, size) in enumerate(writes):
        put(emu, pk, number, size)
        expected[pk].append(number)
        emu.clock.advance(1)
    assert history(emu, limit) == expected
    state = emu.snapshot()
    put(emu, "a", -1)
    emu.restore(state)
    assert history(emu, limit) == expected


def test_a_file_has_the_shards_of_a_stream(tmp_path):
    """STM-12."""
    emu = world()
    for number in range(60):
        put(emu, f"{number % 20}", number, 500)
        emu.clock.advance(600)
    emu.save(tmp_path / "file")
    settings = Settings(stream_shards="partitions", partition_bytes=3000)
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock(emu.clock.now()), settings=settings)
    for either in (emu, loaded):
        for number in range(60, 90):
            put(either, f"{number % 20}", number, 700)
    assert history(loaded) == history(emu)
    assert shards(loaded) == shards(emu)


def test_a_stream_whose_shards_are_all_over_keeps_them():
    """STM-12: one that was disabled can be described until it is gone itself."""
    emu = world()
    put(emu, "a", 1)
    before = [shard["ShardId"] for shard in shards(emu)]
    off = {"StreamEnabled": False}
    emu.call("UpdateTable", {"TableName": "tab", "StreamSpecification": off})
    [stream] = emu.account().streams.values()
    stream.shards.forget_before(2**62)
    assert [shard.id for shard in stream.shards] == before
