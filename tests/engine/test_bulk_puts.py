"""Bulk puts on the clock: their rate, what happens between records, and what is kept of them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator, ManualClock, Settings
from emulator.clients import WaiterError
from tests.tables import described, table

REQUEST = {
    "TableName": "tab",
    "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
    "OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ERROR"]},
}


@pytest.fixture
def folder(tmp_path):
    for bucket in ("in", "out"):
        (tmp_path / bucket).mkdir()
    return tmp_path


def made(folder, sizes, **settings):
    lines = [
        json.dumps({"Item": {"pk": {"S": f"{number:06}"}, "x": {"S": "x" * size}}})
        for number, size in enumerate(sizes)
    ]
    (folder / "in" / "items").write_text("\n".join(lines))
    emu = Emulator(clock=ManualClock(), settings=Settings(s3=folder, **settings))
    emu.call("CreateTable", table())
    return emu


def started(emu, **members):
    answer = emu.call("StartBulkPutItems", REQUEST | members)
    return {"BulkOperationArn": answer["BulkOperationDescription"]["BulkOperationArn"]}


def told(emu, job):
    return emu.call("DescribeBulkOperation", job)["BulkOperationDescription"]


def test_records_are_written_as_fast_as_the_rate_allows(folder):
    """BLK-1, BLK-7: two kilobytes take two units."""
    emu = made(folder, [1500] * 1024)
    job = started(emu, MaxWriteRequestUnits=1024)
    seen = []
    for pause in (0, 0.5, 0.5, 0.999, 0.001):
        emu.clock.advance(pause)
        seen.append(told(emu, job)["ProcessedItemCount"])
    assert seen == [1, 257, 513, 1024, 1024]
    assert told(emu, job)["BulkOperationStatus"] == "COMPLETED"


@settings(max_examples=10)
@given(
    sizes=st.lists(st.sampled_from([10, 1500, 5000]), min_size=1, max_size=60),
    steps=st.lists(st.floats(0, 0.05), max_size=8),
)
def test_never_more_than_the_rate_whoever_looks_when(tmp_path_factory, sizes, steps):
    """BLK-1: the same records are there at the same moment, however often one looks."""
    counts = []
    for looks in (steps, [sum(steps)]):
        folder = tmp_path_factory.mktemp("s3")
        for bucket in ("in", "out"):
            (folder / bucket).mkdir()
        emu = made(folder, sizes)
        job = started(emu, MaxWriteRequestUnits=1024)
        for pause in looks:
            emu.clock.advance(pause)
            told(emu, job)
        elapsed = emu.clock.now() - told(emu, job)["StartTime"]
        usage = told(emu, job)["BulkOperationUsage"][0]["BulkPutBytes"] // 1024
        assert usage <= 1024 * elapsed + max(-(-(size + 9) // 1024) for size in sizes)
        counts.append(described(emu)["ItemCount"])
    assert abs(counts[0] - counts[1]) <= 1  # sums of steps differ in their last bits
    emu.clock.advance(60)
    assert told(emu, job)["BulkOperationStatus"] == "COMPLETED"


def test_it_ends_when_transfers_do_at_the_earliest(folder):
    emu = made(folder, [1], transfer_seconds=30.0)
    job = started(emu)
    emu.clock.advance(29)
    assert told(emu, job)["BulkOperationStatus"] == "IN_PROGRESS"
    emu.clock.advance(1)
    ended = told(emu, job)
    assert ended["BulkOperationStatus"] == "COMPLETED"
    assert ended["EndTime"] == ended["StartTime"] + 30


def test_a_table_that_goes_fails_its_operation(folder):
    """BLK-3."""
    emu = made(folder, [4000] * 1024)
    job = started(emu, MaxWriteRequestUnits=1024)
    emu.call("DeleteTable", {"TableName": "tab"})
    emu.clock.advance(1)
    ended = told(emu, job)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "TableNotFound")


def test_reports_that_cannot_be_written_fail_it_and_the_items_stay(folder):
    """BLK-3, S3X-1."""
    emu = made(folder, [4000] * 512)
    with (folder / "in" / "items").open("a") as file:
        file.write("\nno JSON")
    job = started(emu, MaxWriteRequestUnits=1024)
    (folder / "out").rmdir()
    emu.clock.advance(9)
    ended = told(emu, job)
    assert (ended["BulkOperationStatus"], ended["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert described(emu)["ItemCount"] == 512


def test_items_expire_while_others_are_put(folder):
    """BLK-6: what falls due on the way happens on the way."""
    emu = made(folder, [4000] * 1024)
    emu.call(
        "UpdateTimeToLive",
        {"TableName": "tab", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
    )
    item = {"pk": {"S": "old"}, "ttl": {"N": str(int(emu.clock.now()) + 1)}}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    job = started(emu, MaxWriteRequestUnits=1024)
    emu.clock.advance(3600)
    assert told(emu, job)["EndTime"] == told(emu, job)["StartTime"] + 4
    assert described(emu)["ItemCount"] == 1024


def test_a_snapshot_holds_it_where_it_is(folder):
    emu = made(folder, [4000] * 512)
    job = started(emu, MaxWriteRequestUnits=1024)
    emu.clock.advance(1)
    assert told(emu, job)["ProcessedItemCount"] == 257
    kept = emu.snapshot()
    emu.call("CancelBulkOperation", job)
    assert told(emu, job)["BulkOperationStatus"] == "CANCELLED"
    for _ in range(2):
        emu.restore(kept)
        assert told(emu, job)["BulkOperationStatus"] == "IN_PROGRESS"
        assert described(emu)["ItemCount"] == 257
    emu.clock.advance(1)
    assert told(emu, job)["BulkOperationStatus"] == "COMPLETED"
    assert described(emu)["ItemCount"] == 512


def test_a_waiter_sleeps_on_the_clock(folder):
    emu = made(folder, [4000] * 1024)
    job = started(emu, MaxWriteRequestUnits=1024)
    before = emu.clock.now()
    emu.client().get_waiter("bulk_operation_completed").wait(**job)
    assert emu.clock.now() - before == 20
    other = started(emu, MaxWriteRequestUnits=1024)
    emu.call("CancelBulkOperation", other)
    with pytest.raises(WaiterError, match="terminal failure"):
        emu.client().get_waiter("bulk_operation_completed").wait(**other)
