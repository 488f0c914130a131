"""DeleteTable: what may be deleted, and what is left of it."""

import pytest

from tests.tables import (
    ARN,
    described,
    emulator,
    index,
    put,
    refusal,
    schema,
    table,
    types,
)

TAB = {"TableName": "tab"}
IN_USE = "Attempt to change a resource which is still in use: "
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


def created(emu=None, **members):
    emu = emu or emulator()
    emu.call("CreateTable", table(**members))
    return emu


def test_the_answer_says_deleting_and_then_the_table_is_unknown():
    """DT-1, TBL-4, DS-10: keys, definitions, indexes and times are not told again."""
    emu = created()
    untold = {"AttributeDefinitions", "CreationDateTime", "KeySchema", "WarmThroughput"}
    before = {name: told for name, told in described(emu).items() if name not in untold}
    answer = emu.call("DeleteTable", TAB)
    assert answer == {"TableDescription": before | {"TableStatus": "DELETING"}}
    unknown = ("ResourceNotFoundException", "Requested resource not found: Table: tab not found")
    assert refusal(emu, "DescribeTable", TAB) == unknown
    assert refusal(emu, "DeleteTable", TAB) == unknown


def test_items_tags_and_time_to_live_vanish():
    """DT-1."""
    emu = created(Tags=[{"Key": "k", "Value": "v"}])
    put(emu, pk="x")
    spec = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {**TAB, "TimeToLiveSpecification": spec})
    emu.call("DeleteTable", TAB)
    created(emu)
    assert described(emu)["ItemCount"] == 0
    assert emu.call("ListTagsOfResource", {"ResourceArn": ARN}) == {"Tags": []}
    assert emu.call("DescribeTimeToLive", TAB) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}
    }


def test_the_answer_still_has_the_stream():
    """DT-1."""
    emu = created(StreamSpecification=STREAM)
    assert emu.call("DeleteTable", TAB)["TableDescription"]["StreamSpecification"] == STREAM


def test_the_stream_stays_readable_for_a_day():
    """DT-1."""
    emu = created(StreamSpecification=STREAM)
    emu.call("DeleteTable", TAB)
    stream = emu.call("ListStreams", TAB)["Streams"][0]["StreamArn"]
    found = emu.call("DescribeStream", {"StreamArn": stream})["StreamDescription"]
    assert found["StreamStatus"] == "DISABLED"
    emu.clock.advance(24 * 3600)
    assert len(emu.call("ListStreams", TAB)["Streams"]) == 1
    emu.clock.advance(1)
    assert emu.call("ListStreams", TAB) == {"Streams": []}


def test_a_protected_table_stays():
    """DT-2, ERR-OTH-1."""
    emu = created(DeletionProtectionEnabled=True)
    assert refusal(emu, "DeleteTable", TAB) == (
        "ValidationException",
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first.",
    )
    emu.call("UpdateTable", {**TAB, "DeletionProtectionEnabled": False})
    emu.call("DeleteTable", TAB)
    assert emu.call("ListTables", {}) == {"TableNames": []}


def test_a_table_in_creation_or_deletion_is_in_use():
    """DT-4."""
    emu = created(emulator(table_delay=5))
    assert refusal(emu, "DeleteTable", TAB) == (
        "ResourceInUseException",
        IN_USE + "Table is being created: tab",
    )
    emu.clock.advance(5)
    emu.call("DeleteTable", TAB)
    assert refusal(emu, "DeleteTable", TAB) == (
        "ResourceInUseException",
        IN_USE + "Table is being deleted: tab",
    )


@pytest.mark.parametrize("seconds", [0, 6])
def test_a_table_whose_index_is_being_made_is_in_use(seconds):
    """DT-3: while the table is UPDATING, and while the index is backfilled."""
    emu = created(emulator(table_delay=5, index_delay=5))
    emu.clock.advance(5)
    create = {"Create": index("gsi", schema("g"))}
    emu.call(
        "UpdateTable",
        {**TAB, "AttributeDefinitions": types("g"), "GlobalSecondaryIndexUpdates": [create]},
    )
    emu.clock.advance(seconds)
    assert refusal(emu, "DeleteTable", TAB) == (
        "ResourceInUseException",
        IN_USE + "Cannot delete table while indexes are being created, updated, or deleted.",
    )
    emu.clock.advance(10 - seconds)
    emu.call("DeleteTable", TAB)


def test_a_table_whose_index_is_being_deleted_is_in_use():
    """DT-3."""
    request = table(names="pk g", GlobalSecondaryIndexes=[index("gsi", schema("g"))])
    emu = emulator(table_delay=5)
    emu.call("CreateTable", request)
    emu.clock.advance(5)
    delete = {"Delete": {"IndexName": "gsi"}}
    emu.call("UpdateTable", {**TAB, "GlobalSecondaryIndexUpdates": [delete]})
    assert refusal(emu, "DeleteTable", TAB)[1] == (
        IN_USE + "Cannot delete table while indexes are being created, updated, or deleted."
    )
    emu.clock.advance(5)
    emu.call("DeleteTable", TAB)


def test_a_name_is_taken_until_the_deletion_is_complete():
    """CT-14, DT-1."""
    emu = created(emulator(table_delay=5))
    emu.clock.advance(5)
    emu.call("DeleteTable", TAB)
    assert refusal(emu, "CreateTable", table())[0] == "ResourceInUseException"
    emu.clock.advance(5)
    created(emu)
