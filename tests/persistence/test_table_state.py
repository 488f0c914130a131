"""A loaded emulator goes on as the saved one would have: what time has made is in the file."""

import random
from dataclasses import replace

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.capacity import ScalingPolicy
from emulator.clock import DEFAULT_START, NANOSECONDS, PacedClock
from tests.tables import index, schema, table

#: Everything happens soon: a partition is hot at one unit a second, an index closes early.
SETTINGS = Settings(
    heat_threshold=0.001,
    heat_minutes=2,
    split_delay=400,
    gsi_buffer_seconds=30,
    table_delay=5,
    ttl_change_interval=3_600,
)
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
#: What is not counted of a partition: counts start anew.
SEEN = (
    *("id", "low", "high", "size_bytes", "items", "read_tokens", "write_tokens", "splits"),
    *("waiting_write", "oldest_wait"),
)
GSI_UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}


def emulator():
    emu = Emulator(clock=ManualClock(), capacity="enforce", settings=SETTINGS)
    emu.call("CreateTable", table("pk", "sk", TableName="hot", StreamSpecification=STREAM))
    slow = index("gsi", schema("g"), "ALL", ProvisionedThroughput=GSI_UNITS)
    emu.call(
        "CreateTable",
        table("pk", TableName="scaled", provisioned=(2, 5), GlobalSecondaryIndexes=[slow]),
    )
    emu.auto_scale("scaled", read=ScalingPolicy(minimum=1, maximum=100))
    emu.clock.advance(60)
    return emu


def reloaded(emu, path, later=0):
    emu.save(path)
    clock = ManualClock(emu.clock.now() + later)
    return Emulator.load(path, clock=clock, capacity="enforce", settings=SETTINGS)


def request(chance):
    """Return some operation with its request."""
    key = f"k{chance.randrange(6)}"
    kind = chance.random()
    if kind < 0.5:
        item = {"pk": {"S": key}, "sk": {"S": str(chance.randrange(40))}, "v": {"S": "x" * 3_000}}
        return "PutItem", {"TableName": "hot", "Item": item}
    if kind < 0.65:
        return "Scan", {"TableName": "scaled", "ConsistentRead": True}
    if kind < 0.95:
        item = {"pk": {"S": key}, "g": {"S": f"g{chance.randrange(3)}"}, "v": {"S": "x" * 6_000}}
        return "PutItem", {"TableName": "scaled", "Item": item}
    return "DeleteItem", {"TableName": "scaled", "Key": {"pk": {"S": key}}}


def answer(emu, operation, asked):
    try:
        return emu.call(operation, asked | {"ReturnConsumedCapacity": "INDEXES"})
    except ApiError as error:
        return error.code, error.message


def play(emu, seed, minutes=2):
    """Return the answers to some minutes of traffic, and what is seen at the end of each."""
    chance = random.Random(seed)
    seen = []
    for _ in range(minutes):
        for _ in range(6):
            seen += [answer(emu, *request(chance)) for _ in range(25)]
            emu.clock.advance(10)
        seen.append(state(emu))
    return seen


def state(emu):
    """Return what an emulator is, as far as anybody can see it."""
    tables = emu.account().tables
    views = [
        [tuple(getattr(view, field) for field in SEEN) for view in emu.partitions(name, index_name)]
        for name, index_name in (("hot", None), ("scaled", None), ("scaled", "gsi"))
    ]
    return {
        "views": views,
        "pending": [tables[name].resource.heat.pending for name in ("hot", "scaled")],
        "reserves": [bucket.tokens for bucket in tables["scaled"].resource.meter.own],
        "backlog": emu.backlog("scaled", "gsi"),
        "described": [emu.call("DescribeTable", {"TableName": name}) for name in tables],
        "entries": emu.call("Scan", {"TableName": "scaled", "IndexName": "gsi"}),
        "stream": records(emu),
    }


def records(emu):
    arn = emu.call("DescribeTable", {"TableName": "hot"})["Table"]["LatestStreamArn"]
    asked = {"StreamArn": arn, "ShardIteratorType": "TRIM_HORIZON"}
    shards = emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
    asked["ShardId"] = shards[0]["ShardId"]
    iterator = emu.call("GetShardIterator", asked)["ShardIterator"]
    read = emu.call("GetRecords", {"ShardIterator": iterator})["Records"]
    return [(record["eventName"], record["dynamodb"]["SequenceNumber"]) for record in read]


def test_a_file_of_more_hot_minutes_is_loaded_with_fewer(tmp_path):
    """CAP2-3: its partitions have been hot for long enough, so their splits are decided."""
    patient = replace(SETTINGS, heat_minutes=5)
    emu = Emulator(clock=ManualClock(), capacity="enforce", settings=patient)
    emu.call("CreateTable", table("pk", "sk", TableName="hot"))
    emu.clock.advance(60)
    for _ in range(3):
        for number in range(200):
            item = {"pk": {"S": f"k{number}"}, "sk": {"S": "s"}, "v": {"S": "x" * 3_000}}
            emu.call("PutItem", {"TableName": "hot", "Item": item})
        emu.clock.advance(60)
    assert emu.account().tables["hot"].resource.heat.pending == {}
    before = len(emu.partitions("hot"))

    loaded = reloaded(emu, tmp_path / "file")

    resource = loaded.account().tables["hot"].resource
    resource.check()
    assert resource.heat.pending
    loaded.clock.advance(400)
    assert len(loaded.partitions("hot")) > before


@pytest.mark.parametrize("seed", [1])
def test_a_loaded_emulator_goes_on_as_the_saved_one_would_have(tmp_path, seed):
    emu = emulator()
    met = {"throttled": 0, "pending": 0, "split": 0, "waiting": 0, "scaled": 0}
    for part in range(4):
        log = play(emu, 10 * seed + part)
        loaded = reloaded(emu, tmp_path / "file")
        assert state(loaded) == state(emu)
        assert play(loaded, seed) == play(emu, seed)
        met["throttled"] += sum(type(seen) is tuple for seen in log)
        for seen in (seen for seen in log if "views" in seen):
            met["pending"] += len(seen["pending"][0])
            met["split"] += len(seen["views"][0]) > 4
            met["waiting"] += seen["backlog"].units > 0
            units = seen["described"][1]["Table"]["ProvisionedThroughput"]["ReadCapacityUnits"]
            met["scaled"] += units != 2
    assert all(met.values()), met  # else the law was proved of nothing


@pytest.mark.parametrize("later", [1, 90, 100_000])
def test_what_fell_due_meanwhile_happens_on_loading(tmp_path, later):
    """Splits that were decided, scaling, queues, streams past their retention."""
    emu = emulator()
    play(emu, 1, minutes=3)
    assert emu.account().tables["hot"].resource.heat.pending
    loaded = reloaded(emu, tmp_path / "file", later)
    emu.clock.advance(later)
    assert state(loaded) == state(emu)
    assert play(loaded, 2) == play(emu, 2)


def test_on_a_clock_that_is_behind_ages_are_kept(tmp_path):
    """Everything is moved back by whole minutes: a split of a minute from now still is one."""
    emu = emulator()
    play(emu, 1, minutes=3)
    loaded = reloaded(emu, tmp_path / "file", -1_000_000.5)
    moved = emu.clock.now() - loaded.clock.now() - 0.5
    before, after = state(emu), state(loaded)
    pending = {number: due_s - moved for number, due_s in before["pending"][0].items()}
    assert after["pending"][0] == pytest.approx(pending, abs=60)
    assert len(after["views"][0]) == len(before["views"][0])
    emu.clock.advance(600)
    loaded.clock.advance(600)
    positions = [[view[1] for view in seen["views"][0]] for seen in (state(emu), state(loaded))]
    assert positions[0] == positions[1]


@pytest.mark.filterwarnings("ignore:EnableKinesis")
def test_what_the_control_plane_set_is_kept(tmp_path):
    emu = emulator()
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/scaled"
    calls = {
        "UpdateContinuousBackups": {
            "PointInTimeRecoverySpecification": {
                "PointInTimeRecoveryEnabled": True,
                "RecoveryPeriodInDays": 7,
            }
        },
        "UpdateContributorInsights": {"ContributorInsightsAction": "ENABLE", "IndexName": "gsi"},
        "EnableKinesisStreamingDestination": {
            "StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/s"
        },
        "UpdateTable": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        "UpdateTimeToLive": {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}},
    }
    for operation, members in calls.items():
        emu.call(operation, {"TableName": "scaled", **members})
    emu.call("PutResourcePolicy", {"ResourceArn": arn, "Policy": '{"Statement": []}'})
    emu.clock.advance(1)
    loaded = reloaded(emu, tmp_path / "file")
    for operation, asked in {
        "DescribeTable": {},
        "DescribeContinuousBackups": {},
        "DescribeContributorInsights": {"IndexName": "gsi"},
        "DescribeKinesisStreamingDestination": {},
        "DescribeTimeToLive": {},
    }.items():
        asked = {"TableName": "scaled", **asked}
        assert loaded.call(operation, asked) == emu.call(operation, asked)
    asked = {"ResourceArn": arn}
    assert loaded.call("GetResourcePolicy", asked) == emu.call("GetResourcePolicy", asked)
    off = {"Enabled": False, "AttributeName": "t"}
    with pytest.raises(ApiError, match="multiple times"):
        loaded.call("UpdateTimeToLive", {"TableName": "scaled", "TimeToLiveSpecification": off})


def test_warm_throughput_that_is_on_its_way_arrives(tmp_path):
    emu = emulator()
    warm = {"ReadUnitsPerSecond": 40_000, "WriteUnitsPerSecond": 20_000}
    emu.call("UpdateTable", {"TableName": "hot", "WarmThroughput": warm})
    loaded = reloaded(emu, tmp_path / "file")
    for _ in range(2):
        assert state(loaded) == state(emu)
        emu.clock.advance(600)
        loaded.clock.advance(600)
    assert len(loaded.partitions("hot")) > 4


@pytest.mark.parametrize("rates", [(50, None), (None, 50), (50, 50)])
def test_a_pace_is_no_part_of_a_file(tmp_path, rates):
    """Tokens and queues are as they were, wherever the loading emulator's throughput begins."""
    saving, loading = (ManualClock() if rate is None else PacedClock(rate) for rate in rates)
    emu = Emulator(clock=saving)
    emu.call("CreateTable", table("pk", provisioned=(5, 5)))
    for number in range(20):
        emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": str(number)}}})
    emu.save(tmp_path / "file")
    tokens = [bucket.tokens for bucket in emu.account().tables["tab"].resource.meter.own]
    loaded = Emulator.load(tmp_path / "file", clock=loading)
    meter = loaded.account().tables["tab"].resource.meter
    assert [bucket.tokens for bucket in meter.own] == tokens
    if rates[1] is not None:
        assert loaded.account().throughput_ns == DEFAULT_START * NANOSECONDS
    loaded.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "x"}}})
    assert loaded.call("Scan", {"TableName": "tab"})["Count"] == 21
