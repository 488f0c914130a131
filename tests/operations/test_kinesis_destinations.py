"""Kinesis streaming destinations."""

import pytest

from tests.tables import described, emulator, refusal, table

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
BOTH = {"TableName": "tab", "StreamArn": ARN}
MICRO = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
UPDATE = BOTH | {"UpdateKinesisStreamingConfiguration": MICRO}
NO_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
STATE = NO_STATE + "KinesisStreamingDestination must be {} to perform {} operation."


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
        "EnableKinesisStreamingConfiguration": {},
    }
    active = {"StreamArn": ARN, "DestinationStatus": "ACTIVE"}
    assert destinations(emu) == [active]
    assert emu.call("UpdateKinesisStreamingDestination", UPDATE) == UPDATE | {
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
    ],
)
def test_a_destination_in_the_wrong_state_is_refused(made, operation, message):
    """OTH-16."""
    assert refusal(made(), operation, BOTH) == ("ValidationException", message)


@pytest.mark.parametrize("configuration", [{}, {"UpdateKinesisStreamingConfiguration": {}}])
def test_an_update_of_nothing_is_refused(configuration):
    """OTH-21."""
    assert refusal(enabled(), "UpdateKinesisStreamingDestination", BOTH | configuration) == (
        "ValidationException",
        "Streaming destination cannot be updated with given parameters: "
        "UpdateKinesisStreamingConfiguration cannot be null or contain only null values",
    )


def test_an_update_to_the_same_precision_is_refused():
    """OTH-21."""
    emu = enabled()
    emu.call("UpdateKinesisStreamingDestination", UPDATE)
    table_id = described(emu)["TableId"]
    assert refusal(emu, "UpdateKinesisStreamingDestination", UPDATE) == (
        "ValidationException",
        "Invalid Request: Precision is already set to the desired value of MICROSECOND "
        f"for tableId: {table_id}, kdsArn: {ARN}",
    )


def test_an_update_names_the_destination_that_is_not_there():
    """OTH-21; one that is switched off is in the wrong state."""
    message = f"No streaming destination with streamArn: {ARN} found for table with tableName: tab"
    assert refusal(created(), "UpdateKinesisStreamingDestination", UPDATE) == (
        "ValidationException",
        NO_STATE + message,
    )
    emu = enabled()
    emu.call("DisableKinesisStreamingDestination", BOTH)
    assert refusal(emu, "UpdateKinesisStreamingDestination", UPDATE) == (
        "ValidationException",
        STATE.format("ACTIVE", "UPDATE"),
    )


@pytest.mark.parametrize(
    ("verb", "request_of"),
    [
        ("Enable", BOTH),
        ("Disable", BOTH),
        ("Update", UPDATE),
        ("Describe", {"TableName": "tab"}),
    ],
)
def test_an_unknown_table_is_named(verb, request_of):
    """OTH-16, TBL-4."""
    assert refusal(emulator(), f"{verb}KinesisStreamingDestination", request_of) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )
