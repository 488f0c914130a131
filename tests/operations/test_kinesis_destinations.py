"""Kinesis streaming destinations."""

import pytest

from tests.tables import emulator, refusal, table

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
BOTH = {"TableName": "tab", "StreamArn": ARN}
MICRO = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
STATE = (
    "Table is not in a valid state to enable Kinesis Streaming Destination: "
    "KinesisStreamingDestination must be {} to perform {} operation."
)


def created():
    emu = emulator()
    emu.call("CreateTable", table())
    return emu


def enabled():
    emu = created()
    emu.call("EnableKinesisStreamingDestination", BOTH)
    return emu


def destinations(emu):
    found = emu.call("DescribeKinesisStreamingDestination", {"TableName": "tab"})
    return found["KinesisDataStreamDestinations"]


def test_a_destination_is_enabled_updated_and_disabled():
    """OTH-16."""
    emu = created()
    assert destinations(emu) == []
    assert emu.call("EnableKinesisStreamingDestination", BOTH) == BOTH | {
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {
            "ApproximateCreationDateTimePrecision": "MILLISECOND"
        },
    }
    active = {
        "StreamArn": ARN,
        "DestinationStatus": "ACTIVE",
        "ApproximateCreationDateTimePrecision": "MILLISECOND",
    }
    assert destinations(emu) == [active]
    request = BOTH | {"UpdateKinesisStreamingConfiguration": MICRO}
    assert emu.call("UpdateKinesisStreamingDestination", request) == request | {
        "DestinationStatus": "UPDATING"
    }
    assert destinations(emu) == [active | MICRO]
    assert emu.call("DisableKinesisStreamingDestination", BOTH) == BOTH | {
        "DestinationStatus": "DISABLING"
    }
    assert destinations(emu) == [active | MICRO | {"DestinationStatus": "DISABLED"}]


def test_a_disabled_destination_is_enabled_again():
    """OTH-16."""
    emu = enabled()
    emu.call("DisableKinesisStreamingDestination", BOTH)
    request = BOTH | {"EnableKinesisStreamingConfiguration": MICRO}
    emu.call("EnableKinesisStreamingDestination", request)
    assert destinations(emu) == [
        {"StreamArn": ARN, "DestinationStatus": "ACTIVE", **MICRO},
    ]


@pytest.mark.parametrize(
    ("made", "operation", "message"),
    [
        (
            enabled,
            "EnableKinesisStreamingDestination",
            STATE.format("DISABLED or ENABLE_FAILED", "ENABLE"),
        ),
        (created, "DisableKinesisStreamingDestination", STATE.format("ACTIVE", "DISABLE")),
        (created, "UpdateKinesisStreamingDestination", STATE.format("ACTIVE", "UPDATE")),
    ],
)
def test_a_destination_in_the_wrong_state_is_refused(made, operation, message):
    """OTH-16."""
    assert refusal(made(), operation, BOTH) == ("ValidationException", message)


@pytest.mark.parametrize("verb", ["Enable", "Disable", "Update", "Describe"])
def test_an_unknown_table_is_named(verb):
    """OTH-16, TBL-4."""
    assert refusal(emulator(), f"{verb}KinesisStreamingDestination", BOTH) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )
