"""Kinesis streaming destinations: kept and described, nothing is delivered (OTH-16, OTH-24)."""

from __future__ import annotations

from typing import Final

from emulator.engine import Account, Table
from emulator.engine.option_values import Destination
from emulator.operations import definitions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.unserved import warn_once
from emulator.service.catalogue import NOT_THERE
from emulator.service.errors import ValidationException

_STATE: Final = "Table is not in a valid state to enable Kinesis Streaming Destination: "
NOT_ACTIVE: Final = (
    _STATE + "KinesisStreamingDestination must be ACTIVE to perform {verb} operation."
)
#: Assumed: the text, after that of NOT_ACTIVE.
IS_ACTIVE: Final = (
    _STATE + "KinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE "
    "operation."
)
# Observed: the three below, in LocalStack's recordings of the service, 2025.
NOTHING_TO_UPDATE: Final = (
    "Streaming destination cannot be updated with given parameters: "
    "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
)
NO_DESTINATION: Final = (
    _STATE + "No streaming destination with streamArn: {arn} found for table with tableName: {name}"
)
SAME_PRECISION: Final = (
    "Invalid Request: Precision is already set to the desired value of {precision} for tableId: "
    "{id}, kdsArn: {arn}"
)
#: What an active destination says of itself, since it gets nothing (OTH-24).
NOT_DELIVERED: Final = "Nothing is delivered: this emulator has no Kinesis"
_WARNING: Final = (
    "EnableKinesisStreamingDestination: nothing is delivered, since this emulator has no Kinesis: "
    f"see docs/{NOT_THERE}"
)
_PRECISION_MEMBER: Final = "ApproximateCreationDateTimePrecision"
_PRECISION = shapes.String(enum=("MILLISECOND", "MICROSECOND"))
_STREAM_ARN = shapes.String(37, 1024)
_ENABLE: Final = "EnableKinesisStreamingConfiguration"
_UPDATE: Final = "UpdateKinesisStreamingConfiguration"

SHAPE = definitions.table_request(
    StreamArn=_STREAM_ARN.required,
    EnableKinesisStreamingConfiguration=shapes.structure(
        _ENABLE, ApproximateCreationDateTimePrecision=_PRECISION
    ),
)
UPDATE_SHAPE = definitions.table_request(
    StreamArn=_STREAM_ARN.required,
    UpdateKinesisStreamingConfiguration=shapes.structure(
        _UPDATE, ApproximateCreationDateTimePrecision=_PRECISION
    ),
)


@operation("EnableKinesisStreamingDestination", shape=SHAPE)
def enable(account: Account, request: Request) -> Response:
    """Add a destination, or switch one on again; the answer says ENABLING."""
    table = account.described_table(request["TableName"])
    arn = request["StreamArn"]
    known = table.options.destinations.get(arn)
    if known is not None and known.is_active:
        raise ValidationException(IS_ACTIVE)
    precision = _precision(request, _ENABLE)
    table.options.destinations[arn] = Destination(is_active=True, precision=precision)
    warn_once(account, _WARNING)
    return {
        "TableName": table.name,
        "StreamArn": arn,
        "DestinationStatus": "ENABLING",
        _ENABLE: _described(precision),
    }


@operation("DisableKinesisStreamingDestination", shape=SHAPE)
def disable(account: Account, request: Request) -> Response:
    """Switch a destination off; it stays on the list as DISABLED."""
    table, arn, known = _active(account, request, "DISABLE")
    table.options.destinations[arn] = known._replace(is_active=False)
    return {"TableName": table.name, "StreamArn": arn, "DestinationStatus": "DISABLING"}


@operation("UpdateKinesisStreamingDestination", shape=UPDATE_SHAPE)
def update(account: Account, request: Request) -> Response:
    """Change the precision of a destination's times."""
    precision = _precision(request, _UPDATE)
    if precision is None:
        raise ValidationException(NOTHING_TO_UPDATE)
    table, arn, known = _active(account, request, "UPDATE")
    if precision == known.precision:
        raise ValidationException(SAME_PRECISION.format(precision=precision, id=table.id, arn=arn))
    table.options.destinations[arn] = known._replace(precision=precision)
    return {
        "TableName": table.name,
        "StreamArn": arn,
        "DestinationStatus": "UPDATING",
        _UPDATE: _described(precision),
    }


@operation("DescribeKinesisStreamingDestination", shape=definitions.table_request())
def describe(account: Account, request: Request) -> Response:
    """Return the destinations of a table, including those switched off."""
    table = account.described_table(request["TableName"])
    return {
        "TableName": table.name,
        "KinesisDataStreamDestinations": [
            {"StreamArn": arn, **_status(known), **_described(known.precision)}
            for arn, known in table.options.destinations.items()
        ],
    }


def _status(destination: Destination) -> dict[str, str]:
    if not destination.is_active:
        return {"DestinationStatus": "DISABLED"}
    return {"DestinationStatus": "ACTIVE", "DestinationStatusDescription": NOT_DELIVERED}


def _active(account: Account, request: Request, verb: str) -> tuple[Table, str, Destination]:
    """Return the table, the stream and the destination to change, which is active."""
    table = account.described_table(request["TableName"])
    arn = request["StreamArn"]
    known = table.options.destinations.get(arn)
    if known is None and verb == "UPDATE":
        raise ValidationException(NO_DESTINATION.format(arn=arn, name=table.name))
    if known is None or not known.is_active:
        raise ValidationException(NOT_ACTIVE.format(verb=verb))
    return table, arn, known


def _precision(request: Request, member: str) -> str | None:
    precision: str | None = (request.get(member) or {}).get(_PRECISION_MEMBER)
    return precision


def _described(precision: str | None) -> dict[str, str]:
    """Return the precision as it is described: left out until it is set."""
    return {} if precision is None else {_PRECISION_MEMBER: precision}
