"""The records of a bulk put: lines of a bucket become writes, and reports of it (BLK-6, BLK-7)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from emulator.engine import Account, Table
from emulator.engine.bulk_puts import BulkOutcome, BulkPut, BulkRecord, JobFault
from emulator.engine.writes import Write, apply, plan
from emulator.expressions import Condition
from emulator.model import Item, wire
from emulator.objects import DamagedObject, ObjectStore, StoreFault, lines_of, needed_store
from emulator.operations import responses
from emulator.operations.import_records import NO_ITEM, UNEXPECTED_TOKEN
from emulator.operations.put_item import CURRENT, position_to_put
from emulator.operations.rules import conditions, expressions, items
from emulator.service import limits
from emulator.service.errors import ApiError

# Assumed: codes and texts.
LIMIT_CODE: Final = "InputLimitExceeded"
TOO_MANY_OBJECTS: Final = "The input has more than {most} objects"
OBJECT_TOO_LARGE: Final = "The object {key} is larger than 5 GB"
NOT_A_RECORD: Final = "The record has a member that is none: {member}"
#: What may stand in a record: a put with its condition.
_MEMBERS: Final = (
    "Item",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
)
#: The file of each kind of report, below that of the operation (BLK-7).
_REPORTS: Final[dict[str, str]] = {
    "ERROR": "error.json",
    "CONDITION_CHECK_FAILURE": "condition_check_failure.json",
}


def read_input(store: ObjectStore, asked: Mapping[str, Any]) -> tuple[list[BulkRecord], int]:
    """Return all records under the prefix, in the order of their keys, and their bytes.

    Raises:
        StoreFault: the bucket cannot be read, or holds too much.
    """
    source = asked["InputS3Configuration"]
    bucket, compression = source["S3Bucket"], source["InputCompressionType"]
    keys = store.keys(bucket, source.get("S3KeyPrefix", ""))
    if len(keys) > limits.BULK_OBJECTS:
        raise StoreFault(LIMIT_CODE, TOO_MANY_OBJECTS.format(most=limits.BULK_OBJECTS))
    records: list[BulkRecord] = []
    total_bytes = 0
    for key in keys:
        data = store.read(bucket, key)
        if len(data) > limits.BULK_OBJECT_BYTES:
            raise StoreFault(LIMIT_CODE, OBJECT_TOO_LARGE.format(key=key))
        total_bytes += len(data)
        records += _records(key, data, compression)
    return records, total_bytes


def _records(key: str, data: bytes, compression: str) -> list[BulkRecord]:
    """Return the records of an object, which share its bytes; the last may be damage."""
    read = list(_lines(data, compression))
    shares = _shares(len(data), len(read))
    return [
        BulkRecord(key, number, size_bytes, line, fault)
        for number, ((line, fault), size_bytes) in enumerate(zip(read, shares, strict=True))
    ]


def _lines(data: bytes, compression: str) -> Iterator[tuple[str, str | None]]:
    """Yield the lines of an object, each with what is wrong with it; what is no record ends it.

    Source: Developer Guide, input formats, validation errors that stop an object. Assumed: that
    the same errors stop an object of an import (S3X-22).
    """
    try:
        for line in lines_of(data, compression):
            if line.strip():
                text, fault = _judged(line)
                yield text, fault
                if fault is not None:
                    return
    except DamagedObject as error:
        yield "", str(error)


def _judged(line: bytes) -> tuple[str, str | None]:
    """Return a line as text, and why it is no record, if it is none."""
    text = ""
    try:
        text = line.decode()
        _parsed(text)
    except UnicodeDecodeError:
        return text, UNEXPECTED_TOKEN
    except _NoRecord as fault:
        return text, str(fault)
    return text, None


def _shares(total: int, count: int) -> list[int]:
    """Return whole numbers that add up to a total, as equal as can be.

    >>> _shares(7, 3)
    [2, 2, 3]
    """
    return [total * (number + 1) // count - total * number // count for number in range(count)]


class RecordWorker:
    """Writes records as PutItem would, and reports those that it does not write."""

    def put(self, account: Account, table: Table, job: BulkPut, record: BulkRecord) -> BulkOutcome:
        """Write a record, unless it is none, or its condition does not hold."""
        bucket = job.asked["InputS3Configuration"]["S3Bucket"]
        pointer = {"bucket": bucket, "key": record.key, "itemIndex": record.number}
        try:
            written = _load(record)
            item, condition = _loaded(written)
            position = position_to_put(table, item)
            conditions.keys_are_scalars(condition, table)
            planned = plan(Write(table, position, lambda _: item, condition, new=item))
        except (_NoRecord, ApiError) as fault:
            message = fault.message if isinstance(fault, ApiError) else str(fault)
            report = {"itemS3Pointer": pointer, "errorMessages": [message]}
            return BulkOutcome(None, "ERROR", report)
        if planned.failure is None:
            apply(account, planned, is_bulk=True)
            return BulkOutcome(planned.receipt)
        report = {"itemS3Pointer": pointer, "Item": written["Item"]}
        if planned.old is not None:
            report["ExistingItem"] = responses.item(planned.old)
        return BulkOutcome(planned.receipt, "CONDITION_CHECK_FAILURE", report)

    def report(self, account: Account, job: BulkPut) -> None:
        """Write the reports that were asked for and have something in them."""
        target = job.asked["OutputS3Configuration"]
        prefix = target.get("S3KeyPrefix")
        folder = f"AWSDynamoDB/{job.arn.rpartition('/')[2]}"
        try:
            store = needed_store(account.settings.s3, "StartBulkPutItems")
            for output, listed in job.reports.items():
                if output in target["OutputType"]:
                    lines = (json.dumps(line, separators=(",", ":")) + "\n" for line in listed)
                    key = f"{folder}/{_REPORTS[output]}"
                    key = f"{prefix}/{key}" if prefix else key
                    store.write(target["S3Bucket"], key, "".join(lines).encode())
        except StoreFault as fault:
            raise JobFault(fault.code, fault.message) from None
        except ApiError as fault:
            raise JobFault(fault.code, str(fault.message)) from None


class _NoRecord(Exception):
    """A line is no record."""


def _parsed(line: str) -> dict[str, Any]:
    """Return a line as JSON, if it has an item."""
    try:
        written = json.loads(line)
    except (ValueError, RecursionError):
        raise _NoRecord(UNEXPECTED_TOKEN) from None
    if not isinstance(written, dict) or not isinstance(written.get("Item"), dict):
        raise _NoRecord(NO_ITEM)
    return written


def _load(record: BulkRecord) -> dict[str, Any]:
    """Return a record as JSON; one that is at fault spoils no other."""
    if record.fault is not None:
        raise _NoRecord(record.fault)
    written = _parsed(record.line)
    for member in written:
        if member not in _MEMBERS:
            raise _NoRecord(NOT_A_RECORD.format(member=member))
    return written


def _loaded(written: Mapping[str, Any]) -> tuple[Item, Condition | None]:
    """Return the item and the condition of a record, judged as PutItem judges them."""
    if not all(_has_type(member, value) for member, value in written.items()):
        raise _NoRecord(UNEXPECTED_TOKEN)
    expressions.placeholders_come_with_expressions(written, CURRENT)
    item = wire.load_item(written["Item"])
    condition = conditions.load_condition(written)
    items.item_fits(item)
    return item, condition


def _has_type(member: str, value: Any) -> bool:
    if member == "ConditionExpression":
        return isinstance(value, str)
    if member == "ExpressionAttributeNames":
        return isinstance(value, dict) and all(isinstance(name, str) for name in value.values())
    return isinstance(value, dict)
