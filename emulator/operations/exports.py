"""ExportTableToPointInTime, DescribeExport and ListExports (S3X-1 to S3X-10, OTH-10, OTH-11).

The texts, unless said otherwise. Observed: another project's probes of the service, October 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

from emulator.capacity import prices
from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table, Transfer
from emulator.engine.history import ItemDifference
from emulator.model.wire import INVALID, dump_item
from emulator.objects import ObjectStore, StoreFault, needed_store
from emulator.operations import (
    backup_source,
    descriptions,
    export_files,
    export_filters,
    recovery,
    shapes,
    transfers,
)
from emulator.operations.export_filters import ExportFilter
from emulator.operations.registry import Request, Response, operation
from emulator.service import errors
from emulator.storage import TOP, OrderedStore

NOT_AN_ARN: Final = INVALID + "tableArn is not a valid ARN"
NOT_A_TABLE: Final = "Invalid Request: Table ARN is invalid."
NO_KEY: Final = "Invalid Request: KMS Key Id is not supported for this encryption type"
NOT_INCREMENTAL: Final = (
    "Invalid Request: Export Type expected to be Incremental Export when incremental export "
    "specification is provided"
)
# The blank before the comma is the service's own.
NOT_FULL: Final = (
    "Invalid Request: When Export Type is Full Export , Incremental Export Specification should "
    "not be provided"
)
NO_SPECIFICATION: Final = (
    "Invalid Request: Incremental Export Specification expected when export type is set as "
    "Incremental Export"
)
NO_BEGINNING: Final = (
    "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"
)
BAD_TIME: Final = "Export Time is invalid"
TIME_NOT_KNOWN: Final = "Point in Time Recovery is not available for specified export time"
BEFORE_THE_TABLE: Final = (
    "Incremental export period from time cannot be less than the table creation time : {moment}"
)
IN_THE_FUTURE: Final = (
    "Incremental export period to time cannot be greater than the current time : {moment}"
)
TOO_SHORT: Final = (
    "Difference between export period from time and export period to time is less than 15 minutes"
)
#: Assumed: the text.
TOO_LONG: Final = (
    "Difference between export period from time and export period to time is greater than 24 hours"
)
#: Assumed: code and text; the service writes Ion.
ION_CODE: Final = "UnsupportedFormat"
NO_ION: Final = "This emulator writes exports in the format DYNAMODB_JSON, and none in ION"

_SHORTEST_SECONDS: Final = 15 * 60
_LONGEST_SECONDS: Final = 24 * 3600
#: The least that an incremental export is billed for.
_LEAST_BILLED_BYTES: Final = 10_000_000
_FULL: Final = "FULL_EXPORT"
_INCREMENTAL: Final = "INCREMENTAL_EXPORT"

SHAPE = shapes.structure(
    TableArn=transfers.TABLE_ARN.required,
    ExportTime=shapes.TIMESTAMP,
    ClientToken=transfers.TOKEN,
    S3Bucket=transfers.BUCKET.required,
    S3BucketOwner=transfers.OWNER,
    S3Prefix=transfers.PREFIX,
    S3SseAlgorithm=shapes.String(enum=("AES256", "KMS")),
    S3SseKmsKeyId=shapes.String(1, 2048),
    ExportFormat=shapes.String(enum=("DYNAMODB_JSON", "ION")),
    ExportType=shapes.String(enum=(_FULL, _INCREMENTAL)),
    IncrementalExportSpecification=shapes.structure(
        "IncrementalExportSpecification",
        ExportFromTime=shapes.TIMESTAMP,
        ExportToTime=shapes.TIMESTAMP,
        ExportViewType=shapes.String(enum=("NEW_IMAGE", "NEW_AND_OLD_IMAGES")),
    ),
    FilterSpecification=export_filters.SHAPE,
)


class _Content(NamedTuple):
    """The content of an export.

    Attributes:
        partitions: The records of each partition.
        billed_bytes: The bytes to bill.
        described: The members of its description that say which moments it is of.
        summary: The members of its summary that say so.
    """

    partitions: list[list[Mapping[str, Any]]]
    billed_bytes: int
    described: Mapping[str, Any]
    summary: Mapping[str, Any]


@operation("ExportTableToPointInTime", shape=SHAPE)
def export_table(account: Account, request: Request) -> Response:
    """Write a table as it was at a moment, or the changes of a period, to S3."""
    asked = transfers.asked_of(request, SHAPE)
    table = _source(account, asked["TableArn"])
    _members_fit(asked)
    known = transfers.begun_with(account, account.archive.exports, asked.get("ClientToken"))
    if known is not None:
        if known.asked != asked:
            raise errors.ExportConflictException(transfers.CONFLICT.format(kind="Export"))
        return {"ExportDescription": transfers.description(account, known)}
    begun = _begin(account, table, asked)
    account.archive.exports[begun.arn] = begun
    billed_bytes = begun.outcome.get("BilledSizeBytes", 0)
    if billed_bytes:
        account.bill("ExportTableToPointInTime", table.name, prices.EXPORTS, billed_bytes)
    return {"ExportDescription": deepcopy(dict(begun.described))}


@operation("DescribeExport", shape=shapes.structure(ExportArn=transfers.ARN.required))
def describe_export(account: Account, request: Request) -> Response:
    """Return an export."""
    known = transfers.known_transfer(account, _exports(account), request["ExportArn"], "Export")
    return {"ExportDescription": transfers.description(account, known)}


@operation(
    "ListExports",
    shape=shapes.structure(
        TableArn=transfers.TABLE_ARN, MaxResults=transfers.PAGE_SIZE, NextToken=shapes.STRING
    ),
)
def list_exports(account: Account, request: Request) -> Response:
    """Return a page of exports; those of one table only while it exists (S3X-5)."""
    known = _exports(account)
    if request.get("TableArn") is not None:
        tables = account.visible_tables().values()
        present = {table.id for table in tables if table.deleted_at_ns is None}
        known = {arn: export for arn, export in known.items() if export.table_id in present}
    page, token = transfers.page_of(account, known, request, request.get("MaxResults"), "Export")
    summaries = [
        {
            "ExportArn": export.arn,
            "ExportStatus": transfers.description(account, export)["ExportStatus"],
            "ExportType": export.described.get("ExportType", _FULL),
        }
        for export in page
    ]
    return {"ExportSummaries": summaries} | token


def _exports(account: Account) -> dict[str, Transfer]:
    """Return all exports that the account sees, by ARN."""
    return {arn: known for archive in account.archives() for arn, known in archive.exports.items()}


# What is asked for


def _source(account: Account, arn: str) -> Table:
    """Return the table of an export (S3X-2)."""
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[0] != "arn":
        raise errors.ValidationException(NOT_AN_ARN)
    if not parts[5].startswith("table/") or "/" in parts[5][len("table/") :]:
        raise errors.ValidationException(NOT_A_TABLE)
    if parts[4] != account.account_id:
        raise errors.AccessDeniedException(transfers.DENIED)
    return backup_source.source_table(account, arn)


def _members_fit(asked: Request) -> None:
    """Refuse members that contradict one another (S3X-8)."""
    kind, specification = asked.get("ExportType"), asked.get("IncrementalExportSpecification")
    if asked.get("S3SseKmsKeyId") is not None and asked.get("S3SseAlgorithm") != "KMS":
        raise errors.ValidationException(NO_KEY)
    if kind == _INCREMENTAL:
        if specification is None:
            raise errors.ValidationException(NO_SPECIFICATION)
        if specification.get("ExportFromTime") is None:
            raise errors.ValidationException(NO_BEGINNING)
    elif specification is not None:
        raise errors.ValidationException(NOT_INCREMENTAL if kind is None else NOT_FULL)


def _begin(account: Account, table: Table, asked: Request) -> Transfer:
    chosen = export_filters.load_filter(asked.get("FilterSpecification"), table)
    if asked.get("ExportType") == _INCREMENTAL:
        content = _changes(account, table, chosen, asked["IncrementalExportSpecification"])
    else:
        content = _state(account, table, chosen, asked.get("ExportTime"))
    store = needed_store(account.settings.s3, "ExportTableToPointInTime")
    export_id = transfers.new_transfer_id(account)
    described = {
        "ExportFormat": "DYNAMODB_JSON",
        "S3SseAlgorithm": "AES256",
        "ClientToken": account.new_id("export"),
        **asked,
        **content.described,
        "ExportArn": f"{table.arn}/export/{export_id}",
        "ExportStatus": "IN_PROGRESS",
        "StartTime": descriptions.seconds(account.now_ns),
        "TableArn": table.arn,
        "TableId": table.id,
    }
    ends_ns = transfers.end_of(account)
    return Transfer(
        described["ExportArn"],
        table.arn,
        table.id,
        asked,
        described,
        _outcome(store, described, content, (account.now_ns, ends_ns)),
        account.now_ns,
        ends_ns,
    )


# What is written


def _state(account: Account, table: Table, chosen: ExportFilter, moment: float | None) -> _Content:
    """Return a table as it was at a moment: every item that the filter takes (S3X-10)."""
    window = recovery.recovery_window(account, table)
    at_ns, items = account.now_ns, table.store
    if moment is not None:
        known_ns = window.clamped(moment)
        if known_ns is None:
            is_ahead = window.latest_ns < round(moment * NANOSECONDS) <= account.now_ns
            raise errors.InvalidExportTimeException(TIME_NOT_KNOWN if is_ahead else BAD_TIME)
        at_ns, items = known_ns, recovery.state_at(table, known_ns)
    partitions = table.resource.partitions
    records: list[list[Mapping[str, Any]]] = [
        [
            {"Item": chosen.shown(item)}
            for position, item in items.walk(*partitions.range_of(partition))
            if chosen.takes(position, item)
        ]
        for partition in partitions
    ]
    exported = descriptions.seconds(at_ns) if moment is None else moment
    return _Content(
        records,
        _billed_bytes(items, chosen),
        {"ExportTime": exported},
        {"exportTime": export_files.written_moment(at_ns)},
    )


def _billed_bytes(items: OrderedStore, chosen: ExportFilter) -> int:
    """Return the size of the table, or of the item collection that a key condition names."""
    if chosen.bounds is None:
        return items.size_bytes
    collection = chosen.bounds[0][:2]
    return sum(item.size_bytes for _, item in items.walk(collection, (*collection, TOP)))


def _changes(
    account: Account, table: Table, chosen: ExportFilter, specification: Mapping[str, Any]
) -> _Content:
    """Return the items that a stretch of time has changed, one record each (S3X-8)."""
    begins = specification["ExportFromTime"]
    ends = specification.get("ExportToTime")
    if ends is None:
        ends = account.now_ns // 1_000_000 / 1000
    _period_fits(account, table, begins, ends)
    assert table.history is not None, "a period that fits is one of recovery"
    view = specification.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    differences = [
        difference
        for difference in table.history.between(table.store, _start_of(begins), _start_of(ends))
        if chosen.takes(difference.position, _judged(difference))
    ]
    records = [_record(table, chosen, difference, view) for difference in differences]
    sizes = sum(_judged(difference).size_bytes for difference in differences)
    period = {"ExportFromTime": begins, "ExportToTime": ends, "ExportViewType": view}
    moments = [export_files.written_moment(_start_of(moment)) for moment in (begins, ends)]
    return _Content(
        list(_by_partition(table, differences, records)),
        max(sizes, _LEAST_BILLED_BYTES),
        {"IncrementalExportSpecification": period},
        {"exportFromTime": moments[0], "exportToTime": moments[1], "outputView": view}
        | {"exportType": _INCREMENTAL},
    )


def _start_of(seconds: float) -> int:
    """Return the start of the microsecond that a request names."""
    return round(seconds * 1_000_000) * 1000


def _period_fits(account: Account, table: Table, begins: float, ends: float) -> None:
    """Refuse a period that is too short or too long, or of which too little is known."""
    refused = errors.InvalidExportTimeException
    if begins < table.created_ns // NANOSECONDS:
        raise refused(BEFORE_THE_TABLE.format(moment=recovery.written_time(begins)))
    if ends > account.now_seconds:
        raise refused(IN_THE_FUTURE.format(moment=recovery.written_time(ends)))
    window = recovery.recovery_window(account, table)
    if ends - begins < _SHORTEST_SECONDS:
        raise refused(TOO_SHORT)
    if ends - begins > _LONGEST_SECONDS:
        raise refused(TOO_LONG)
    if int(begins) < window.earliest_ns // NANOSECONDS:
        raise refused(TIME_NOT_KNOWN)


def _judged(difference: ItemDifference) -> Any:
    """Return the image that a filter judges: the new one, or the old of a deleted item (S3X-9)."""
    return difference.old if difference.new is None else difference.new


def _record(
    table: Table, chosen: ExportFilter, difference: ItemDifference, view: str
) -> Mapping[str, Any]:
    position, old, new, written_ns = difference
    key = dict(zip(table.key.names, position[1:], strict=True))
    record: dict[str, Any] = {
        "Metadata": {"WriteTimestampMicros": {"N": str(written_ns // 1000)}},
        "Keys": dump_item(key),
    }
    if old is not None and view == "NEW_AND_OLD_IMAGES":
        record["OldImage"] = chosen.shown(old)
    if new is not None:
        record["NewImage"] = chosen.shown(new)
    return record


def _by_partition(
    table: Table, differences: list[ItemDifference], records: list[Mapping[str, Any]]
) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the records of each partition."""
    placed = list(zip(differences, records, strict=True))
    for partition in table.resource.partitions:
        low, high = table.resource.partitions.range_of(partition)
        yield [record for difference, record in placed if low <= difference.position < high]


def _outcome(
    store: ObjectStore, described: Mapping[str, Any], content: _Content, times_ns: tuple[int, int]
) -> Response:
    """Write the files; return the members that describe the export when it has ended."""
    ended = {"EndTime": descriptions.seconds(times_ns[1])}
    if described["ExportFormat"] == "ION":
        return ended | _failed(ION_CODE, NO_ION)
    is_incremental = described.get("ExportType") == _INCREMENTAL
    files = export_files.ExportFiles(
        described["S3Bucket"],
        described.get("S3Prefix"),
        described["ExportArn"].rpartition("/")[2],
        is_incremental,
    )
    count = sum(len(records) for records in content.partitions)
    summary = {
        "version": export_files.INCREMENTAL_VERSION
        if is_incremental
        else export_files.FULL_VERSION,
        "exportArn": described["ExportArn"],
        "startTime": export_files.written_moment(times_ns[0]),
        "endTime": export_files.written_moment(times_ns[1]),
        "tableArn": described["TableArn"],
        "tableId": described["TableId"],
        **content.summary,
        "s3Bucket": described["S3Bucket"],
        "s3Prefix": described.get("S3Prefix"),
        "s3SseAlgorithm": described["S3SseAlgorithm"],
        "s3SseKmsKeyId": described.get("S3SseKmsKeyId"),
        "manifestFilesS3Key": files.manifest_files,
        "billedSizeBytes": content.billed_bytes,
        "itemCount": count,
        "outputFormat": described["ExportFormat"],
    }
    try:
        files.write(store, content.partitions, summary)
    except StoreFault as fault:
        return ended | _failed(fault.code, fault.message)
    return ended | {
        "ExportStatus": "COMPLETED",
        "ExportManifest": files.manifest,
        "ItemCount": count,
        "BilledSizeBytes": content.billed_bytes,
    }


def _failed(code: str, message: str) -> Response:
    return {"ExportStatus": "FAILED", "FailureCode": code, "FailureMessage": message}
