"""Events: a stream's record as a function gets it, and what is kept of records that failed.

A record has the form of GetRecords (STM-6) but for three things (EVS-7): it names its stream, who
deleted an expired item is written in small letters, and nothing else is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Stream, StreamRecord
from emulator.engine.shards import Shard
from emulator.operations.streams import dump_record

#: Who deleted an expired item. Source: EVS-8.
IDENTITY: Final = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def lambda_record(
    account: Account, stream: Stream, shard: Shard, record: StreamRecord
) -> dict[str, Any]:
    """Return a record as an event has it (EVS-7, EVS-8)."""
    event = dump_record(account, stream, shard, record)
    if record.by_service:
        event["userIdentity"] = dict(IDENTITY)
    event["eventSourceARN"] = stream.arn
    return event


class Failure(NamedTuple):
    """Records that were given up, and why.

    Attributes:
        condition: RetryAttemptsExhausted or RecordAgeExceeded.
        shard: The shard that they are of.
        records: They, in order; at least one.
        invocations: How often they were sent.
        function_error: Whether the last answer was an error; None if there was none.
        request_id: That of the last call.
        function_arn: Which function they were for.
    """

    condition: str
    shard: Shard
    records: list[StreamRecord]
    invocations: int
    function_error: bool | None
    request_id: str
    function_arn: str


def failure_document(failure: Failure, stream: Stream, now_ns: int) -> dict[str, Any]:
    """Return the document about a failure: the place of the records in the stream (EVS-25)."""
    first, last = failure.records[0], failure.records[-1]
    document: dict[str, Any] = {
        "requestContext": {
            "requestId": failure.request_id,
            "functionArn": failure.function_arn,
            "condition": failure.condition,
            "approximateInvokeCount": failure.invocations,
        }
    }
    if failure.function_error is not None:
        document["responseContext"] = _response(is_error=failure.function_error)
    return document | {
        "version": "1.0",
        "timestamp": _moment(now_ns, "milliseconds"),
        "DDBStreamBatchInfo": {
            "shardId": failure.shard.id,
            "startSequenceNumber": failure.shard.sequence_number(first.number),
            "endSequenceNumber": failure.shard.sequence_number(last.number),
            "approximateArrivalOfFirstRecord": _moment(first.created_ns, "seconds"),
            "approximateArrivalOfLastRecord": _moment(last.created_ns, "seconds"),
            "batchSize": len(failure.records),
            "streamArn": stream.arn,
        },
    }


def _response(*, is_error: bool) -> Mapping[str, Any]:
    context: dict[str, Any] = {"statusCode": 200, "executedVersion": "$LATEST"}
    return context | {"functionError": "Unhandled"} if is_error else context


def window_bounds(start_ns: int, end_ns: int) -> dict[str, str]:
    """Return a tumbling window as an event has it.

    >>> window_bounds(0, 60 * NANOSECONDS)
    {'start': '1970-01-01T00:00:00Z', 'end': '1970-01-01T00:01:00Z'}
    """
    return {"start": _moment(start_ns, "seconds"), "end": _moment(end_ns, "seconds")}


def _moment(time_ns: int, precision: str) -> str:
    moment = datetime.fromtimestamp(time_ns // NANOSECONDS, UTC)
    moment = moment.replace(microsecond=time_ns % NANOSECONDS // 1000)
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"
