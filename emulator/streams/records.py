"""Events: a stream's record as a function gets it, and what is kept of records that failed.

A record has the form of GetRecords (STM-6) but for three things (EVS-7): it names its stream, the
deleter of an expired item is written in small letters, and nothing else is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

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


def failure_document(
    stream: Stream,
    shard: Shard,
    records: Sequence[StreamRecord],
    *,
    request: Mapping[str, Any],
    is_error: bool | None,
    now_ns: int,
) -> dict[str, Any]:
    """Return the document about records that are given up: their place, not they (EVS-25).

    Args:
        stream: Where they are.
        shard: Its part that they are in.
        records: The records, in order; at least one.
        request: The context of the last call.
        is_error: Whether the answer to it was an error; None if there was no call.
        now_ns: The moment.
    """
    first, last = records[0], records[-1]
    response = {} if is_error is None else {"responseContext": _response(is_error=is_error)}
    return {
        "requestContext": dict(request),
        **response,
        "version": "1.0",
        "timestamp": _moment(now_ns, "milliseconds"),
        "DDBStreamBatchInfo": {
            "shardId": shard.id,
            "startSequenceNumber": shard.sequence_number(first.number),
            "endSequenceNumber": shard.sequence_number(last.number),
            "approximateArrivalOfFirstRecord": _moment(first.created_ns, "seconds"),
            "approximateArrivalOfLastRecord": _moment(last.created_ns, "seconds"),
            "batchSize": len(records),
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
