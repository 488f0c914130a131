"""Streams come back with their records, those of deleted tables too."""

from emulator import Emulator, ManualClock
from tests.tables import table

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def records(emu, arn):
    """Return what a stream holds and shows of itself."""
    described = emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    asked = {"StreamArn": arn, "ShardId": described["Shards"][0]["ShardId"]}
    asked["ShardIteratorType"] = "TRIM_HORIZON"
    iterator = emu.call("GetShardIterator", asked)["ShardIterator"]
    return described, emu.call("GetRecords", {"ShardIterator": iterator})["Records"]


def put(emu, name, value):
    item = {"pk": {"S": "a"}, "v": {"N": str(value)}}
    emu.call("PutItem", {"TableName": name, "Item": item})


def test_a_stream_goes_on_where_it_was(tmp_path):
    emu = Emulator(clock=ManualClock())
    arns = {}
    for name in ("kept", "gone"):
        created = emu.call("CreateTable", table("pk", TableName=name, StreamSpecification=STREAM))
        arns[name] = created["TableDescription"]["LatestStreamArn"]
        for value in range(3):
            put(emu, name, value)
            emu.clock.advance(1)
    emu.call("DeleteTable", {"TableName": "gone"})
    emu.save(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock(emu.clock.now()))
    for either in (emu, loaded):
        either.call("DeleteItem", {"TableName": "kept", "Key": {"pk": {"S": "a"}}})
    for arn in arns.values():
        described, read = records(loaded, arn)
        assert (described, read) == records(emu, arn)
        assert len(read) in (3, 4)
    assert loaded.call("ListStreams", {}) == emu.call("ListStreams", {})
    either.clock.advance(100_000)
    assert [s["StreamArn"] for s in either.call("ListStreams", {})["Streams"]] == [arns["kept"]]
