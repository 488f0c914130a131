"""Kinesis streaming destinations."""

import warnings

import pytest

from emulator.errors import UnservedMemberWarning
from tests.tables import described, emulator, refusal, table

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
ACTIVE = {
    "StreamArn": ARN,
    "DestinationStatus": "ACTIVE",
    "DestinationStatusDescription": "Nothing is delivered: this emulator has no Kinesis",
}
BOTH = {"TableName": "tab", "StreamArn": ARN}
MICRO = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
UPDATE = BOTH | {"UpdateKinesisStreamingConfiguration": MICRO}
NO_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
STATE = NO_STATE + "KinesisStreamingDestination must be {} to perform {} operation."

pytestmark = pytest.mark.filterwarnings("ignore::emulator.errors.UnservedMemberWarning")


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
    """OTH-16, OTH-24."""
    emu = created()
    assert destinations(emu) == []
    assert emu.call("EnableKinesisStreamingDestination", BOTH) == BOTH | {
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {},
    }
    assert destinations(emu) == [ACTIVE]
    assert emu.call("UpdateKinesisStreamingDestination", UPDATE) == UPDATE | {
        "DestinationStatus": "UPDATING"
    }
    assert destinations(emu) == [ACTIVE | MICRO]
    assert emu.call("DisableKinesisStreamingDestination", BOTH) == BOTH | {
        "DestinationStatus": "DISABLING"
    }
    assert destinations(emu) == [{"StreamArn": ARN, "DestinationStatus": "DISABLED", **MICRO}]


def test_a_disabled_destination_is_enabled_again():
    """OTH-16."""
    emu = enabled()
    emu.call("DisableKinesisStreamingDestination", BOTH)
    request = BOTH | {"EnableKinesisStreamingConfiguration": MICRO}
    emu.call("EnableKinesisStreamingDestination", request)
    assert destinations(emu) == [ACTIVE | MICRO]


def test_one_warning_says_that_nothing_is_delivered():
    """OTH-24; it does not depend on what the settings say of unknown members."""
    emu = emulator(unknown_members="refuse")
    for name in ("tab", "other"):
        emu.call("CreateTable", table() | {"TableName": name})
    with warnings.catch_warnings(record=True, action="always") as caught:
        for name in ("tab", "other"):
            emu.call("EnableKinesisStreamingDestination", BOTH | {"TableName": name})
    assert [(warning.category, str(warning.message)) for warning in caught] == [
        (
            UnservedMemberWarning,
            "EnableKinesisStreamingDestination: nothing is delivered, since this emulator has no "
            "Kinesis: see docs/reference/fidelity.md#not-there",
        )
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
