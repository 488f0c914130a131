"""Global tables come back from a file with their groups and with what was on its way."""

import pytest

from emulator import Emulator, EmulatorError, ManualClock
from tests.tables import table

REGIONS = ("us-east-1", "eu-west-1", "ap-south-1")


def saved(path):
    """Save a world in which every region has written something, and give it."""
    emu = Emulator(clock=ManualClock())
    emu.call("CreateTable", table("pk", "sk:N", indexes={"by_v": "v"}))
    overrides = {"TableClassOverride": "STANDARD_INFREQUENT_ACCESS"}
    creations = [{"Create": {"RegionName": region, **overrides}} for region in REGIONS[1:]]
    emu.call("UpdateTable", {"TableName": "tab", "ReplicaUpdates": creations})
    for number, region in enumerate(REGIONS):
        key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
        item = key | {"v": {"S": region}}
        emu.call("PutItem", {"TableName": "tab", "Item": item}, region=region)
        emu.clock.advance(0.1)
        other = {"pk": {"S": "b"}, "sk": {"N": str(number)}}
        emu.call("PutItem", {"TableName": "tab", "Item": other}, region=region)
        emu.call("DeleteItem", {"TableName": "tab", "Key": other}, region=region)
    emu.save(path)
    return emu


def test_a_file_has_groups_and_what_is_on_its_way(tmp_path):
    """GTB-1, GTB-4."""
    emu = saved(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=ManualClock(emu.clock.now()))
    for region in REGIONS:
        name = {"TableName": "tab"}
        described = loaded.call("DescribeTable", name, region=region)
        assert described == emu.call("DescribeTable", name, region=region)
    for either in (emu, loaded):
        either.clock.advance(1)
        contents = [either.call("Scan", {"TableName": "tab"}, region=r) for r in REGIONS]
        assert contents[0] == contents[1] == contents[2]
        assert [item["v"]["S"] for item in contents[0]["Items"]] == ["ap-south-1"]


@pytest.mark.parametrize("clock", [ManualClock, lambda: ManualClock(0)])
def test_a_file_goes_on_whatever_the_time_is(tmp_path, clock):
    """GTB-1: what was due while nobody ran it is there with the first call."""
    saved(tmp_path / "file")
    loaded = Emulator.load(tmp_path / "file", clock=clock())
    loaded.clock.advance(100)
    counts = [loaded.call("Scan", {"TableName": "tab"}, region=r)["Count"] for r in REGIONS]
    assert counts == [1, 1, 1]


def test_a_damaged_group_is_told(tmp_path):
    path = tmp_path / "file"
    saved(path)
    _, body = path.read_bytes().split(b"\n", 1)
    body = body.replace(b'"EVENTUAL"', b'"PERHAPS"')
    import hashlib
    import json

    header = {"format": "dynamometer-snapshot", "version": 3}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    with pytest.raises(EmulatorError, match="no such consistency"):
        Emulator.load(path)
