"""Kinesis destinations, held beside recorded records."""

import json

import pytest

from emulator import EmulatorError
from emulator.service.errors import UnservedMemberWarning
from tests.streams.sources import Handler, put, streamed

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
#: The members of records of July 2024 (EVS-32).
RECORDED = [
    *("awsRegion", "eventID", "eventName", "userIdentity", "recordFormat", "tableName"),
    *("dynamodb", "eventSource"),
]


def with_destination(precision=None, view="KEYS_ONLY"):
    emu = streamed(view=view)
    request = {"TableName": "tab", "StreamArn": ARN}
    if precision is not None:
        member = "ApproximateCreationDateTimePrecision"
        request["EnableKinesisStreamingConfiguration"] = {member: precision}
    with pytest.warns(UnservedMemberWarning, match="nothing is delivered"):
        emu.call("EnableKinesisStreamingDestination", request)
    return emu


def delivered(emu, **settings):
    records = []
    with emu.event_source("tab", kinesis=records.append, **settings) as source:
        source.drain()
    return records


def test_a_record_has_the_members_of_recorded_ones():
    """EVS-32: all images, whatever the view of the stream."""
    emu = with_destination()
    put(emu, "a", n=1)
    put(emu, "a", n=2)
    record = max(delivered(emu), key=lambda record: len(record["dynamodb"]))
    assert list(record) == RECORDED
    assert record == {
        "awsRegion": "us-east-1",
        "eventID": record["eventID"],
        "eventName": "MODIFY",
        "userIdentity": None,
        "recordFormat": "application/json",
        "tableName": "tab",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_767_225_600_000,
            "Keys": {"pk": {"S": "a"}},
            "NewImage": {"pk": {"S": "a"}, "n": {"N": "2"}},
            "OldImage": {"pk": {"S": "a"}, "n": {"N": "1"}},
            "SizeBytes": 15,
            "ApproximateCreationDateTimePrecision": "MILLISECOND",
        },
        "eventSource": "aws:dynamodb",
    }
    assert [len(part) for part in record["eventID"].split("-")] == [8, 4, 4, 4, 12]


def test_times_are_as_precise_as_the_destination_wants_them():
    """EVS-32."""
    emu = with_destination("MICROSECOND")
    emu.clock.advance(0.123456)
    put(emu, "a")
    change = delivered(emu)[0]["dynamodb"]
    assert change["ApproximateCreationDateTime"] == 1_767_225_600_123_456
    assert change["ApproximateCreationDateTimePrecision"] == "MICROSECOND"


def test_records_come_in_no_order_the_same_in_every_run_and_twice_on_request():
    """EVS-32."""

    def keys(**settings):
        emu = with_destination()
        put(emu, *range(30))
        return [record["dynamodb"]["Keys"]["pk"]["S"] for record in delivered(emu, **settings)]

    inserted = [str(number) for number in range(30)]
    assert sorted(keys()) == sorted(inserted) != keys()
    assert keys() == keys() != inserted
    twice = keys(at_least_once=3, batch_size=2)
    assert set(twice) == set(inserted)
    assert len(twice) > 30


def test_a_client_gets_records_as_bytes_under_their_key():
    class Client:
        def __init__(self):
            self.calls = []

        def put_record(self, **call):
            self.calls.append(call)

    emu, client = with_destination(), Client()
    put(emu, "a")
    with emu.event_source("tab", kinesis=client) as source:
        source.drain()
    [call] = client.calls
    assert (call["StreamARN"], call["PartitionKey"]) == (ARN, '{"pk": {"S": "a"}}')
    assert json.loads(call["Data"])["eventName"] == "INSERT"


def test_what_kinesis_refuses_is_sent_again():
    emu, calls = with_destination(), []

    def refuse_once(record):
        calls.append(record)
        if len(calls) == 1:
            raise ConnectionError

    put(emu, "a")
    with emu.event_source("tab", kinesis=refuse_once) as source:
        source.drain()
        assert source.metrics.delivered == 1
    assert len(calls) == 2


def test_a_destination_that_was_switched_off_gets_nothing():
    emu, records = with_destination(), []
    with emu.event_source("tab", kinesis=records.append) as source:
        emu.call("DisableKinesisStreamingDestination", {"TableName": "tab", "StreamArn": ARN})
        put(emu, "a")
        source.drain()
    assert records == []


def test_bad_input_is_refused_when_the_source_is_made():
    emu = streamed()
    with pytest.raises(EmulatorError, match="'tab' has no active Kinesis destination: call Enable"):
        emu.event_source("tab", kinesis=print)
    with pytest.raises(TypeError, match="kinesis is a callable of a record, or a client"):
        emu.event_source("tab", kinesis=5)
    with pytest.raises(TypeError, match=r"a handler, or kinesis=\.\.\., and not both"):
        emu.event_source("tab", Handler(), kinesis=print)
