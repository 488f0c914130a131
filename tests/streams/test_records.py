"""Events and failure documents, held beside recorded ones."""

import json
from datetime import datetime

import pytest

from tests.streams.sources import Handler, put, streamed

#: The members of events that others recorded, with the JSON types of their values (EVS-7, EVS-8).
RECORDED = {
    "eventID": str,
    "eventName": str,
    "eventVersion": "1.1",
    "eventSource": "aws:dynamodb",
    "awsRegion": "us-east-1",
    "dynamodb": {
        "ApproximateCreationDateTime": int,
        "Keys": dict,
        "NewImage": dict,
        "OldImage": dict,
        "SequenceNumber": str,
        "SizeBytes": int,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    },
    "eventSourceARN": str,
}


def events_of(emu):
    handler = Handler()
    with emu.event_source("tab", handler) as source:
        source.drain()
    return [record for event in handler.events for record in event["Records"]]


def assert_has_form(record, form):
    assert list(record) == list(form)
    for name, kind in form.items():
        if isinstance(kind, dict):
            assert_has_form(record[name], kind)
        elif isinstance(kind, type):
            assert type(record[name]) is kind
        else:
            assert record[name] == kind


def test_a_record_has_the_members_of_recorded_ones_in_their_form():
    """EVS-7."""
    emu = streamed()
    put(emu, "a", n=1)
    put(emu, "a", n=2)
    modified = events_of(emu)[1]
    assert_has_form(
        {name: modified[name] for name in RECORDED}
        | {"dynamodb": {name: modified["dynamodb"][name] for name in RECORDED["dynamodb"]}},
        RECORDED,
    )
    assert set(modified) == set(RECORDED)
    assert set(modified["dynamodb"]) == set(RECORDED["dynamodb"])
    assert len(modified["eventID"]) == 32
    assert json.loads(json.dumps(modified)) == modified


def test_an_event_is_json_equal_to_the_whole_of_one():
    """EVS-7."""
    emu = streamed(view="NEW_IMAGE")
    put(emu, "a", data=b"\x00\xff", tags={"x"}, total=129)
    [record] = events_of(emu)
    arn = emu.table("tab").latest_stream_arn
    assert record == {
        "eventID": record["eventID"],
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_767_225_600,
            "Keys": {"pk": {"S": "a"}},
            "NewImage": {
                "pk": {"S": "a"},
                "data": {"B": "AP8="},
                "tags": {"SS": ["x"]},
                "total": {"N": "129"},
            },
            "SequenceNumber": "100000000000000000001",
            "SizeBytes": 25,
            "StreamViewType": "NEW_IMAGE",
        },
        "eventSourceARN": arn,
    }


def test_a_delete_by_time_to_live_says_so_in_small_letters():
    """EVS-8: GetRecords writes them large (TTL-5)."""
    emu = streamed(ttl_delay=0)
    emu.call(
        "UpdateTimeToLive",
        {
            "TableName": "tab",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
    )
    put(emu, "a", ttl=int(emu.clock.now()) + 60)
    handler = Handler()
    with emu.event_source("tab", handler):
        emu.clock.advance(600)
    removed = handler.events[-1]["Records"][-1]
    assert removed["eventName"] == "REMOVE"
    assert removed["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    assert "userIdentity" not in handler.events[0]["Records"][0]


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_a_record_shows_the_images_of_its_view(view, images):
    """EVS-7, STM-7."""
    emu = streamed(view=view)
    put(emu, "a", n=1)
    put(emu, "a", n=2)
    assert {"NewImage", "OldImage"} & set(events_of(emu)[1]["dynamodb"]) == images


def test_the_document_on_failure_is_json_equal_to_a_recorded_one_but_for_names_and_numbers():
    """EVS-25: a document of June 2025, with this emulator's ids and times in it."""
    emu = streamed()
    put(emu, "a")
    documents = []
    with emu.event_source(
        "tab", Handler(bad="a"), retries=3, on_failure=documents.append
    ) as source:
        source.drain()
    [document] = documents
    stream = emu.account().tables["tab"].stream
    [shard] = stream.shards
    assert document == {
        "requestContext": {
            "requestId": document["requestContext"]["requestId"],
            "functionArn": "arn:aws:lambda:us-east-1:000000000000:function:Handler",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 4,
        },
        "responseContext": {
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": "Unhandled",
        },
        "version": "1.0",
        "timestamp": "2026-01-01T00:00:07.000Z",
        "DDBStreamBatchInfo": {
            "shardId": shard.id,
            "startSequenceNumber": "100000000000000000001",
            "endSequenceNumber": "100000000000000000001",
            "approximateArrivalOfFirstRecord": "2026-01-01T00:00:00Z",
            "approximateArrivalOfLastRecord": "2026-01-01T00:00:00Z",
            "batchSize": 1,
            "streamArn": stream.arn,
        },
    }
    datetime.fromisoformat(document["timestamp"])
