"""ListStreams, DescribeStream, GetShardIterator and GetRecords."""

import re

import pytest

from emulator.service.catalogue import OPERATIONS, STREAMS
from tests.tables import ARN, described, emulator, refusal, schema, table

TAB = {"TableName": "tab"}
LABEL = "2026-01-01T00:00:00.000"
STREAM = f"{ARN}/stream/{LABEL}"
NUMBER = "10000000000000000000{}"
DAY = 24 * 3600


def streaming(view="NEW_AND_OLD_IMAGES", emu=None, name="tab"):
    emu = emu or emulator()
    spec = {"StreamEnabled": True, "StreamViewType": view}
    emu.call("CreateTable", table(TableName=name, StreamSpecification=spec))
    return emu


def put(emu, key, **attributes):
    item = {"pk": {"S": key}} | {name: {"S": text} for name, text in attributes.items()}
    emu.call("PutItem", {**TAB, "Item": item})


def delete(emu, key):
    emu.call("DeleteItem", {**TAB, "Key": {"pk": {"S": key}}})


def shard_of(emu, arn=STREAM):
    return emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]


def iterator(emu, kind="TRIM_HORIZON", **members):
    request = {
        "StreamArn": STREAM,
        "ShardId": shard_of(emu)["ShardId"],
        "ShardIteratorType": kind,
        **members,
    }
    return emu.call("GetShardIterator", request)["ShardIterator"]


def read(emu, kind="TRIM_HORIZON", **members):
    return emu.call("GetRecords", {"ShardIterator": iterator(emu, kind, **members)})


def keys(answer):
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]


# Streams


def test_streams_are_listed_by_table():
    """STM-1, STM-2, TBL-2."""
    emu = streaming(emu=streaming(name="other"))
    assert emu.call("ListStreams", TAB) == {
        "Streams": [{"StreamArn": STREAM, "TableName": "tab", "StreamLabel": LABEL}]
    }
    assert emu.call("ListStreams", {"TableName": "none"}) == {"Streams": []}


def test_streams_are_listed_page_by_page():
    """STM-2."""
    emu = emulator()
    for name in ("aaa", "bbb", "ccc"):
        streaming(emu=emu, name=name)
    names, request = [], {"Limit": 2}
    while True:
        page = emu.call("ListStreams", request)
        names.append([one["TableName"] for one in page["Streams"]])
        if "LastEvaluatedStreamArn" not in page:
            break
        request["ExclusiveStartStreamArn"] = page["LastEvaluatedStreamArn"]
    assert names == [["aaa", "bbb"], ["ccc"]]


def test_a_stream_is_described_whole():
    """STM-3: one open shard, without an end."""
    found = streaming("KEYS_ONLY").call("DescribeStream", {"StreamArn": STREAM})
    shard = found["StreamDescription"]["Shards"][0]
    assert re.fullmatch("shardId-[0-9]{20}-[0-9a-f]{8}", shard["ShardId"])
    assert found == {
        "StreamDescription": {
            "StreamArn": STREAM,
            "StreamLabel": LABEL,
            "StreamStatus": "ENABLED",
            "StreamViewType": "KEYS_ONLY",
            "CreationRequestDateTime": 1_767_225_600.0,
            "TableName": "tab",
            "KeySchema": schema("pk"),
            "Shards": [
                {
                    "ShardId": shard["ShardId"],
                    "SequenceNumberRange": {"StartingSequenceNumber": NUMBER.format(0)},
                }
            ],
        }
    }


def test_a_closed_stream_has_an_end():
    """STM-3, UT-14."""
    emu = streaming()
    put(emu, "a")
    put(emu, "b")
    emu.call("UpdateTable", {**TAB, "StreamSpecification": {"StreamEnabled": False}})
    found = emu.call("DescribeStream", {"StreamArn": STREAM})["StreamDescription"]
    assert found["StreamStatus"] == "DISABLED"
    assert found["Shards"][0]["SequenceNumberRange"] == {
        "StartingSequenceNumber": NUMBER.format(0),
        "EndingSequenceNumber": NUMBER.format(2),
    }


def test_a_closed_stream_without_records_ends_where_it_starts():
    """STM-13."""
    emu = streaming()
    emu.call("UpdateTable", {**TAB, "StreamSpecification": {"StreamEnabled": False}})
    found = emu.call("DescribeStream", {"StreamArn": STREAM})["StreamDescription"]
    assert found["Shards"][0]["SequenceNumberRange"] == {
        "StartingSequenceNumber": NUMBER.format(0),
        "EndingSequenceNumber": NUMBER.format(0),
    }


@pytest.mark.parametrize(
    "members",
    [
        {"ExclusiveStartShardId": "s" * 28},
        {"ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": "s" * 28}},
    ],
)
def test_no_shard_follows_the_only_one(members):
    """STM-3."""
    found = streaming().call("DescribeStream", {"StreamArn": STREAM, **members})
    assert found["StreamDescription"]["Shards"] == []


# Records


def test_a_record_has_all_its_parts():
    """STM-6, STM-10: keys 3, new image 9, old image 6 bytes."""
    emu = streaming()
    put(emu, "a", x="1")
    emu.clock.advance(90.5)
    put(emu, "a", x="1", y="2")
    record = read(emu)["Records"][1]
    assert re.fullmatch("[0-9a-f]{32}", record["eventID"])
    assert record == {
        "eventID": record["eventID"],
        "eventName": "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_767_225_690,
            "Keys": {"pk": {"S": "a"}},
            "NewImage": {"pk": {"S": "a"}, "x": {"S": "1"}, "y": {"S": "2"}},
            "OldImage": {"pk": {"S": "a"}, "x": {"S": "1"}},
            "SequenceNumber": NUMBER.format(2),
            "SizeBytes": 15,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


IMAGES = {
    "KEYS_ONLY": [set(), set(), set()],
    "NEW_IMAGE": [{"NewImage"}, {"NewImage"}, set()],
    "OLD_IMAGE": [set(), {"OldImage"}, {"OldImage"}],
    "NEW_AND_OLD_IMAGES": [{"NewImage"}, {"NewImage", "OldImage"}, {"OldImage"}],
}


@pytest.mark.parametrize("view", IMAGES)
def test_the_view_decides_which_images_are_told(view):
    """STM-7: of an INSERT, a MODIFY and a REMOVE."""
    emu = streaming(view)
    put(emu, "a")
    put(emu, "a", x="1")
    delete(emu, "a")
    records = read(emu)["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    told = [{name for name in record["dynamodb"] if "Image" in name} for record in records]
    assert told == IMAGES[view]


def test_a_write_that_changes_nothing_is_not_told():
    """STM-8, UPD-22: it succeeds, and costs what it costs (CAP-302)."""
    emu = streaming()
    put(emu, "a", x="1")
    put(emu, "a", x="1")
    same = {
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": {"S": "1"}},
        "ReturnValues": "UPDATED_NEW",
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert emu.call("UpdateItem", TAB | same) == {
        "Attributes": {"x": {"S": "1"}},
        "ConsumedCapacity": {"TableName": "tab", "CapacityUnits": 1.0},
    }
    delete(emu, "none")
    assert keys(read(emu)) == ["a"]


def test_a_transaction_tells_each_item_once():
    """STM-8."""
    emu = streaming()
    puts = [{"Put": {**TAB, "Item": {"pk": {"S": key}}}} for key in "abc"]
    emu.call("TransactWriteItems", {"TransactItems": puts})
    assert keys(read(emu)) == ["a", "b", "c"]


def test_an_expired_item_is_removed_by_the_service():
    """TTL-5, CAP-1102."""
    emu = streaming()
    spec = {"Enabled": True, "AttributeName": "ttl"}
    emu.call("UpdateTimeToLive", {**TAB, "TimeToLiveSpecification": spec})
    past = {"N": str(int(emu.clock.now()) - 1)}
    emu.call("PutItem", {**TAB, "Item": {"pk": {"S": "a"}, "ttl": past}})
    emu.clock.advance(60)
    records = read(emu)["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "REMOVE"]
    assert records[1]["userIdentity"] == {
        "PrincipalId": "dynamodb.amazonaws.com",
        "Type": "Service",
    }
    assert "userIdentity" not in records[0]


# Iterators


@pytest.mark.parametrize(
    ("kind", "members", "found"),
    [
        ("TRIM_HORIZON", {}, ["a", "b", "c"]),
        ("LATEST", {}, []),
        # STM-13: where the shard starts, before its first record.
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": NUMBER.format(0)}, ["a", "b", "c"]),
        ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": NUMBER.format(0)}, ["a", "b", "c"]),
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": NUMBER.format(2)}, ["b", "c"]),
        ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": NUMBER.format(2)}, ["c"]),
        ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": NUMBER.format(3)}, []),
        ("AT_TIMESTAMP", {"Timestamp": 1_767_225_601}, ["b", "c"]),
        ("AT_TIMESTAMP", {"Timestamp": 1_767_225_603.5}, []),
    ],
)
def test_an_iterator_begins_where_it_was_told(kind, members, found):
    """STM-4. Source of AT_TIMESTAMP: the service model of 2026."""
    emu = streaming()
    for key in "abc":
        put(emu, key)
        emu.clock.advance(1)
    assert keys(read(emu, kind, **members)) == found


def test_an_iterator_goes_on_where_it_stopped():
    """STM-5: an open shard always has a next iterator."""
    emu = streaming()
    for key in "abc":
        put(emu, key)
    first = emu.call("GetRecords", {"ShardIterator": iterator(emu), "Limit": 2})
    second = emu.call("GetRecords", {"ShardIterator": first["NextShardIterator"]})
    third = emu.call("GetRecords", {"ShardIterator": second["NextShardIterator"]})
    put(emu, "d")
    fourth = emu.call("GetRecords", {"ShardIterator": third["NextShardIterator"]})
    assert [keys(page) for page in (first, second, third, fourth)] == [
        ["a", "b"],
        ["c"],
        [],
        ["d"],
    ]


def test_a_closed_and_exhausted_shard_has_no_next_iterator():
    """STM-5."""
    emu = streaming()
    put(emu, "a")
    put(emu, "b")
    emu.call("DeleteTable", TAB)
    first = emu.call("GetRecords", {"ShardIterator": iterator(emu), "Limit": 1})
    last = emu.call("GetRecords", {"ShardIterator": first["NextShardIterator"]})
    assert (keys(last), "NextShardIterator" in last) == (["b"], False)


def test_a_page_holds_a_megabyte_and_one_record_at_the_least():
    """STM-5."""
    emu = streaming()
    for key in "abcd":
        put(emu, key, text="x" * 390_000)
    assert keys(read(emu)) == ["a", "b"]


def test_a_page_holds_a_thousand_records():
    """STM-5."""
    emu = streaming("KEYS_ONLY")
    for n in range(1_001):
        put(emu, str(n))
    assert len(read(emu)["Records"]) == 1_000


def test_an_iterator_lasts_fifteen_minutes():
    """STM-4."""
    emu = streaming()
    begun = iterator(emu)
    emu.clock.advance(15 * 60)
    emu.call("GetRecords", {"ShardIterator": begun})
    emu.clock.advance(0.001)
    code, message = refusal(emu, "GetRecords", {"ShardIterator": begun})
    assert code == "ExpiredIteratorException"
    assert message.startswith("Iterator expired.")


def test_records_last_a_day():
    """STM-9."""
    emu = streaming()
    put(emu, "a")
    emu.clock.advance(DAY)
    put(emu, "b")
    begun = iterator(emu)
    assert keys(read(emu)) == ["a", "b"]
    emu.clock.advance(1)
    assert keys(read(emu)) == ["b"]
    assert refusal(emu, "GetRecords", {"ShardIterator": begun})[0] == "TrimmedDataAccessException"
    request = {
        "StreamArn": STREAM,
        "ShardId": shard_of(emu)["ShardId"],
        "ShardIteratorType": "AT_SEQUENCE_NUMBER",
        "SequenceNumber": NUMBER.format(1),
    }
    assert refusal(emu, "GetShardIterator", request) == (
        "TrimmedDataAccessException",
        "The operation attempted to read past the oldest stream record in a shard.",
    )


# Refusals

AT = {"StreamArn": STREAM, "ShardIteratorType": "AT_SEQUENCE_NUMBER"}
ENUM = (
    "1 validation error detected: Value 'SOMEWHERE' at 'shardIteratorType' failed to satisfy "
    "constraint: Member must satisfy enum value set: [AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, "
    "TRIM_HORIZON, LATEST, AT_TIMESTAMP]"
)
REFUSED = {
    "unknown stream": (
        "DescribeStream",
        {"StreamArn": STREAM + "x"},
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {STREAM}x not found",
    ),
    "unknown shard": (
        "GetShardIterator",
        {**AT, "ShardId": "s" * 28},
        "ResourceNotFoundException",
        "Requested resource not found: Shard does not exist",
    ),
    "no ARN": (
        "DescribeStream",
        {"StreamArn": "x" * 37},
        "ValidationException",
        f"Invalid StreamArn: {'x' * 37}",
    ),
    "a filter without its type": (
        "DescribeStream",
        {"StreamArn": STREAM, "ShardFilter": {"ShardId": "s" * 28}},
        "ValidationException",
        "Both Type and ShardId are required in ShardFilter",
    ),
    "a filter without its shard": (
        "DescribeStream",
        {"StreamArn": STREAM, "ShardFilter": {"Type": "CHILD_SHARDS"}},
        "ValidationException",
        "Both Type and ShardId are required in ShardFilter",
    ),
    "a number nobody asked for": (
        "GetShardIterator",
        {**AT, "ShardIteratorType": "LATEST", "SequenceNumber": NUMBER.format(1)},
        "ValidationException",
        "SequenceNumber must not be given for ShardIteratorType LATEST",
    ),
    "no such type": (
        "GetShardIterator",
        {**AT, "ShardIteratorType": "SOMEWHERE"},
        "ValidationException",
        ENUM,
    ),
    "no number": (
        "GetShardIterator",
        AT,
        "ValidationException",
        "SequenceNumber is required for ShardIteratorType AT_SEQUENCE_NUMBER",
    ),
    "no time": (
        "GetShardIterator",
        {**AT, "ShardIteratorType": "AT_TIMESTAMP"},
        "ValidationException",
        "Timestamp is required for ShardIteratorType AT_TIMESTAMP",
    ),
    "letters": (
        "GetShardIterator",
        {**AT, "SequenceNumber": "x" * 21},
        "ValidationException",
        "Invalid SequenceNumber in request",
    ),
    "a number to come": (
        "GetShardIterator",
        {**AT, "SequenceNumber": NUMBER.format(9)},
        "ValidationException",
        "Invalid SequenceNumber in request",
    ),
    "no iterator": (
        "GetRecords",
        {"ShardIterator": "no"},
        "ValidationException",
        "Invalid ShardIterator.",
    ),
    "half an iterator": (
        "GetRecords",
        {"ShardIterator": f"{STREAM}|1|00"},
        "ValidationException",
        "Invalid ShardIterator.",
    ),
    "too many records": (
        "GetRecords",
        {"ShardIterator": "x", "Limit": 1_001},
        "ValidationException",
        "1 validation error detected: Value '1001' at 'limit' failed to satisfy constraint: "
        "Member must have value less than or equal to 1000",
    ),
    "a page after no stream": (
        "ListStreams",
        {"ExclusiveStartStreamArn": STREAM.replace("/stream/", "/backup/")},
        "ValidationException",
        f"Invalid StreamArn: {STREAM.replace('/stream/', '/backup/')}",
    ),
    "too many streams": (
        "ListStreams",
        {"Limit": 101},
        "ValidationException",
        "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: "
        "Member must have value less than or equal to 100",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused(case):
    """STM-2, STM-4, STM-5, STM-9, STM-11, ERR-OTH-8."""
    operation, request, code, message = REFUSED[case]
    emu = streaming()
    if operation == "GetShardIterator":
        request = {"ShardId": shard_of(emu)["ShardId"], **request}
    assert refusal(emu, operation, request) == (code, message)


def test_streams_belong_to_their_own_service():
    """STM-1."""
    names = {name for name, one in OPERATIONS.items() if one.api == STREAMS}
    assert names == {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}


def test_a_stream_comes_with_the_table_it_is_described_by():
    """DS-1."""
    assert described(streaming())["LatestStreamArn"] == STREAM


def test_what_a_reader_takes_is_counted():
    """CAP-801: by table, stream label and operation."""
    emu = streaming("KEYS_ONLY")
    for key in "ab":
        put(emu, key)
    read(emu)
    read(emu, "LATEST")
    counted = {"table": "tab", "stream": LABEL, "operation": "GetRecords"}
    assert emu.metrics.sum("ReturnedRecordsCount", **counted) == 2
    assert emu.metrics.sum("ReturnedBytes", **counted) == 6
    samples = emu.metrics.get("ReturnedBytes", **counted, stat="SampleCount")
    assert [count for _, count in samples] == [2]
