"""ListStreams, DescribeStream, GetShardIterator and GetRecords (STM-1 to STM-10, ERR-OTH-8).

A stream has one shard, or one for each partition of its table (STM-12).
"""

from __future__ import annotations

import re
import uuid
from typing import Any, Final

from emulator.capacity import prices
from emulator.clock import NANOSECONDS
from emulator.engine import Account, Stream, StreamRecord
from emulator.engine.shards import Shard
from emulator.model.wire import dump_item, dump_key
from emulator.operations import descriptions, responses, shapes, tokens
from emulator.operations.registry import Request, Response, operation
from emulator.service import errors, limits

# Assumed: the texts (STM-9, ERR-OTH-8). Observed: ScyllaDB's tests, run against the service, for
# what is refused: a malformed ARN, an unwanted sequence number, an incomplete filter.
BAD_ARN: Final = "Invalid StreamArn: {arn}"
UNWANTED_SEQUENCE_NUMBER: Final = "SequenceNumber must not be given for ShardIteratorType {kind}"
HALF_A_FILTER: Final = "Both Type and ShardId are required in ShardFilter"
NO_STREAM: Final = "Requested resource not found: Stream: {arn} not found"
NO_SHARD: Final = "Requested resource not found: Shard does not exist"
BAD_ITERATOR: Final = "Invalid ShardIterator."
BAD_SEQUENCE_NUMBER: Final = "Invalid SequenceNumber in request"
NO_SEQUENCE_NUMBER: Final = "SequenceNumber is required for ShardIteratorType {kind}"
NO_TIMESTAMP: Final = "Timestamp is required for ShardIteratorType AT_TIMESTAMP"
EXPIRED: Final = (
    "Iterator expired. The iterator was created at time {then} while right now it is {now} which "
    "is further in the future than the tolerated delay of 900000 milliseconds."
)
TRIMMED: Final = "The operation attempted to read past the oldest stream record in a shard."

_STREAM_ARN = shapes.String(37, 1024)
_ARN_FORM: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/[^/]+/stream/.+")
_SHARD_ID = shapes.String(28, 65)
_MOST_STREAMS: Final = 100
_MOST_SHARDS: Final = 100
#: Source: TTL-5.
_EXPIRY: Final = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def arn_names_a_stream(arn: str) -> None:
    """Refuse an ARN that is no stream's (STM-11)."""
    if _ARN_FORM.fullmatch(arn) is None:
        raise errors.ValidationException(BAD_ARN.format(arn=arn))


def stream_of(account: Account, arn: str) -> Stream:
    """Return a stream that can still be read (STM-9)."""
    arn_names_a_stream(arn)
    stream = account.visible_streams().get(arn)
    if stream is None or stream.expired(account.now_ns):
        raise errors.ResourceNotFoundException(NO_STREAM.format(arn=arn))
    stream.catch_up(account.now_ns)
    return stream


def shard_of(stream: Stream, shard_id: str) -> Shard:
    """Return a shard of a stream by its name."""
    shard = stream.shards.by_id(shard_id)
    if shard is None:
        raise errors.ResourceNotFoundException(NO_SHARD)
    return shard


@operation(
    "ListStreams",
    shape=shapes.structure(
        TableName=shapes.INDEX_NAME,
        Limit=shapes.Integer(least=1, most=_MOST_STREAMS),
        ExclusiveStartStreamArn=_STREAM_ARN,
    ),
)
def list_streams(account: Account, request: Request) -> Response:
    """Return a page of streams, by ARN; those of deleted tables stay for a day (STM-2)."""
    after = request.get("ExclusiveStartStreamArn", "")
    if after:
        arn_names_a_stream(after)
    most = request.get("Limit", _MOST_STREAMS)
    name = request.get("TableName")
    visible = account.visible_streams()
    arns = sorted(
        arn
        for arn, stream in visible.items()
        if arn > after
        and not stream.expired(account.now_ns)
        and (name is None or stream.table_name == name)
    )
    streams = [visible[arn] for arn in arns[:most]]
    response: Response = {
        "Streams": [
            {"StreamArn": stream.arn, "TableName": stream.table_name, "StreamLabel": stream.label}
            for stream in streams
        ]
    }
    if len(arns) > most:
        response["LastEvaluatedStreamArn"] = arns[most - 1]
    return response


@operation(
    "DescribeStream",
    shape=shapes.structure(
        StreamArn=_STREAM_ARN.required,
        Limit=shapes.Integer(least=1, most=_MOST_STREAMS),
        ExclusiveStartShardId=_SHARD_ID,
        ShardFilter=shapes.structure(
            "ShardFilter", Type=shapes.String(enum=("CHILD_SHARDS",)), ShardId=_SHARD_ID
        ),
    ),
)
def describe_stream(account: Account, request: Request) -> Response:
    """Return a stream and a page of its shards, oldest first (STM-3, STM-12)."""
    stream = stream_of(account, request["StreamArn"])
    wanted = request.get("ShardFilter")
    if wanted is not None and not (wanted.get("Type") and wanted.get("ShardId")):
        raise errors.ValidationException(HALF_A_FILTER)
    shards = list(stream.shards)
    if wanted is not None:
        parent = stream.shards.by_id(wanted["ShardId"])
        shards = [s for s in shards if parent is not None and s.parent == parent.number]
    if "ExclusiveStartShardId" in request:
        start = stream.shards.by_id(request["ExclusiveStartShardId"])
        shards = [s for s in shards if start is not None and s.number > start.number]
    most = request.get("Limit", _MOST_SHARDS)
    description: dict[str, Any] = {
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED" if stream.is_open else "DISABLED",
        "StreamViewType": stream.view,
        "CreationRequestDateTime": descriptions.seconds(stream.created_ns),
        "TableName": stream.table_name,
        "KeySchema": dump_key(stream.key),
        "Shards": [_describe_shard(stream, shard) for shard in shards[:most]],
    }
    if len(shards) > most:
        description["LastEvaluatedShardId"] = shards[most - 1].id
    return {"StreamDescription": description}


def _describe_shard(stream: Stream, shard: Shard) -> dict[str, Any]:
    # It starts below its first record (STM-13).
    numbers = {"StartingSequenceNumber": shard.sequence_number(shard.first_number - 1)}
    if shard.closed_ns is not None:
        numbers["EndingSequenceNumber"] = shard.sequence_number(shard.last_number)
    described: dict[str, Any] = {"ShardId": shard.id, "SequenceNumberRange": numbers}
    if shard.parent is not None:
        parent = stream.shards.by_number(shard.parent)
        # A parent that has left the retention window is not named any more.
        if parent is not None:
            described["ParentShardId"] = parent.id
    return described


@operation(
    "GetShardIterator",
    shape=shapes.structure(
        StreamArn=_STREAM_ARN.required,
        ShardId=_SHARD_ID.required,
        ShardIteratorType=shapes.String(
            enum=(
                "AT_SEQUENCE_NUMBER",
                "AFTER_SEQUENCE_NUMBER",
                "TRIM_HORIZON",
                "LATEST",
                "AT_TIMESTAMP",
            )
        ).required,
        SequenceNumber=shapes.String(21, 40),
        Timestamp=shapes.TIMESTAMP,
    ),
)
def get_shard_iterator(account: Account, request: Request) -> Response:
    """Return an iterator that says where to start reading a shard (STM-4)."""
    stream = stream_of(account, request["StreamArn"])
    shard = shard_of(stream, request["ShardId"])
    number = _first_number(account, stream, shard, request)
    return {"ShardIterator": _iterator(account, stream, shard, number)}


def _first_number(account: Account, stream: Stream, shard: Shard, request: Request) -> int:
    kind, now_ns = request["ShardIteratorType"], account.now_ns
    written = request.get("SequenceNumber")
    if kind in ("LATEST", "TRIM_HORIZON") and written is not None:
        raise errors.ValidationException(UNWANTED_SEQUENCE_NUMBER.format(kind=kind))
    if kind == "LATEST":
        return stream.next_number
    if kind == "TRIM_HORIZON":
        return stream.oldest_number(shard, now_ns)
    if kind == "AT_TIMESTAMP":
        if request.get("Timestamp") is None:
            raise errors.ValidationException(NO_TIMESTAMP)
        moment_ns = round(request["Timestamp"] * NANOSECONDS)
        return max(shard.first_number, stream.number_at(moment_ns, now_ns))
    if written is None:
        raise errors.ValidationException(NO_SEQUENCE_NUMBER.format(kind=kind))
    number = _number_of(stream, shard, written)
    number = number + 1 if kind == "AFTER_SEQUENCE_NUMBER" else max(number, shard.first_number)
    if number < stream.oldest_number(shard, now_ns):
        raise errors.TrimmedDataAccessException(TRIMMED)
    return number


def _number_of(stream: Stream, shard: Shard, written: str) -> int:
    """Return the record that a sequence number names, if it is one of the shard's, or its start."""
    if not (written.isascii() and written.isdigit()):
        raise errors.ValidationException(BAD_SEQUENCE_NUMBER)
    number = shard.record_number(int(written))
    last = stream.next_number - 1 if shard.closed_ns is None else shard.last_number
    if not shard.first_number - 1 <= number <= max(shard.first_number, last):
        raise errors.ValidationException(BAD_SEQUENCE_NUMBER)
    return number


def _iterator(account: Account, stream: Stream, shard: Shard, number: int) -> str:
    sealed = tokens.seal(stream.arn, str(number), str(account.now_ns), str(shard.number))
    return f"{stream.arn}|1|{sealed}"


@operation(
    "GetRecords",
    shape=shapes.structure(
        ShardIterator=shapes.String(1, 2048).required,
        Limit=shapes.Integer(least=1, most=limits.STREAM_RECORDS),
    ),
)
def get_records(account: Account, request: Request) -> Response:
    """Return records from an iterator, and the iterator to continue with (STM-5)."""
    stream, shard, number = _open_iterator(account, request["ShardIterator"])
    if number < stream.oldest_number(shard, account.now_ns):
        raise errors.TrimmedDataAccessException(TRIMMED)
    most = request.get("Limit", limits.STREAM_RECORDS)
    records = stream.read(shard, number, most, account.now_ns)
    page = _page(stream, records)
    sizes = [stream.size_bytes(record) for record in page]
    _count(account, stream, sizes)

    def shown(some: list[StreamRecord]) -> list[dict[str, Any]]:
        return [dump_record(account, stream, shard, record) for record in some]

    response = responses.listing("Records", page, sizes, shown)
    is_whole = len(page) == len(records) < most
    following = stream.next_number if is_whole else page[-1].number + 1
    if shard.closed_ns is None or following <= shard.last_number:
        response["NextShardIterator"] = _iterator(account, stream, shard, following)
    return response


def _count(account: Account, stream: Stream, sizes: list[int]) -> None:
    """Count the records that a GetRecords call returned (CAP-801), and bill it (CAP-1004)."""
    returned = {"ReturnedRecordsCount": len(sizes), "ReturnedBytes": sum(sizes)}
    account.bill("GetRecords", stream.table_name, prices.STREAM_READS, 1)
    for metric, value in returned.items():
        account.metrics.add(
            metric, value, table=stream.table_name, stream=stream.label, operation="GetRecords"
        )


def _open_iterator(account: Account, iterator: str) -> tuple[Stream, Shard, int]:
    parts = tokens.open_token(iterator.rpartition("|")[2], BAD_ITERATOR)
    if len(parts) != 4 or not all(part.isdigit() for part in parts[1:]):
        raise errors.ValidationException(BAD_ITERATOR)
    stream = stream_of(account, parts[0])
    then_ns = int(parts[2])
    if account.now_ns - then_ns > limits.ITERATOR_SECONDS * NANOSECONDS:
        raise errors.ExpiredIteratorException(
            EXPIRED.format(then=then_ns // 1_000_000, now=account.now_ns // 1_000_000)
        )
    shard = stream.shards.by_number(int(parts[3]))
    if shard is None:
        raise errors.TrimmedDataAccessException(TRIMMED)
    return stream, shard, int(parts[1])


def _page(stream: Stream, records: list[StreamRecord]) -> list[StreamRecord]:
    """Return as many records as fit into a page of 1 MB, one at the least."""
    size_bytes = 0
    for count, record in enumerate(records):
        size_bytes += stream.size_bytes(record)
        if count and size_bytes > limits.PAGE_BYTES:
            return records[:count]
    return records


def dump_record(
    account: Account, stream: Stream, shard: Shard, record: StreamRecord
) -> dict[str, Any]:
    """Return the wire form of a record (STM-6, STM-7)."""
    change: dict[str, Any] = {
        "ApproximateCreationDateTime": record.created_ns // NANOSECONDS,
        "Keys": dump_item(record.keys.attributes),
        "SequenceNumber": shard.sequence_number(record.number),
        "SizeBytes": stream.size_bytes(record),
        "StreamViewType": stream.view,
    }
    if record.new is not None and stream.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        change["NewImage"] = dump_item(record.new.attributes)
    if record.old is not None and stream.view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
        change["OldImage"] = dump_item(record.old.attributes)
    dumped: dict[str, Any] = {
        "eventID": uuid.uuid5(uuid.NAMESPACE_URL, f"{stream.arn}/{record.number}").hex,
        "eventName": record.event_name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": account.region,
        "dynamodb": change,
    }
    if record.by_service:
        dumped["userIdentity"] = dict(_EXPIRY)
    return dumped
