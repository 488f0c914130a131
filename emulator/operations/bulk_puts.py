"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation (BLK-1)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.engine.bulk_puts import BulkPut, BulkUsage
from emulator.objects import StoreFault, needed_store
from emulator.operations import definitions, descriptions, shapes, transfers
from emulator.operations.bulk_records import RecordWorker, read_input
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules.states import IN_USE, is_being_filled, table_is_active
from emulator.service import errors, limits

# Assumed: the texts.
TOKEN_REUSED: Final = (
    "Request uses the same client token as a previous, but non-identical request. "
    "Do not reuse a client token with different requests, unless the requests are identical"
)
INDEX_CHANGING: Final = IN_USE + "Index is being created.  Table: {table} Index: {index}"
GLOBAL_TABLE: Final = "Bulk operations are not supported on global tables: {name}"
ONE_AT_A_TIME: Final = (
    "Subscriber limit exceeded: Only 1 bulk operation can be in progress simultaneously per table"
)
NO_OUTPUT_BUCKET: Final = shapes.envelope(
    "Value null at 'outputS3Configuration.s3Bucket' failed to satisfy constraint: "
    "Member must not be null"
)
NO_OUTPUT_TYPE: Final = "OutputS3Configuration must have at least one OutputType"
NOT_FOUND: Final = "Requested resource not found: Bulk operation: {arn} not found"
UNSUPPORTED_CODE: Final = "UnsupportedFormat"
NO_ION: Final = "This emulator puts DYNAMODB_JSON, and nothing in the format ION"
NO_ZSTD: Final = "This emulator reads plain and GZIP files, and none that ZSTD has compressed"

_ARN: Final = shapes.String(37, 1024)
SHAPE = definitions.table_request(
    ClientToken=transfers.TOKEN,
    InputS3Configuration=shapes.structure(
        "InputS3Configuration",
        S3BucketOwner=transfers.OWNER,
        S3Bucket=transfers.BUCKET.required,
        S3KeyPrefix=transfers.PREFIX,
        InputFormat=shapes.String(enum=("DYNAMODB_JSON", "ION")).required,
        InputCompressionType=shapes.String(enum=("GZIP", "ZSTD", "NONE")),
    ).required,
    OutputS3Configuration=shapes.structure(
        "OutputS3Configuration",
        S3BucketOwner=transfers.OWNER,
        S3Bucket=transfers.BUCKET,
        S3KeyPrefix=transfers.PREFIX,
        S3SseAlgorithm=shapes.String(enum=("AES256", "KMS")),
        S3SseKmsKeyId=shapes.String(1, 2048),
        OutputType=shapes.List(shapes.String(enum=("ERROR", "CONDITION_CHECK_FAILURE"))).required,
    ).required,
    MaxWriteRequestUnits=shapes.Integer(least=1024, java="Long"),
    PerformanceTier=shapes.String(enum=("STANDARD", "ACCELERATED")),
)


@operation("StartBulkPutItems", shape=SHAPE)
def start_bulk_put_items(account: Account, request: Request) -> Response:
    """Begin to write the records of a bucket; the answer says IN_PROGRESS (BLK-3)."""
    asked = transfers.asked_of(request, SHAPE)
    if asked["OutputS3Configuration"].get("S3Bucket") is None:
        raise errors.ValidationException(NO_OUTPUT_BUCKET)
    if not asked["OutputS3Configuration"]["OutputType"]:
        raise errors.ValidationException(NO_OUTPUT_TYPE)
    known = _begun_with(account, asked)
    if known is not None:
        return {"BulkOperationDescription": _described(known)}
    table = account.described_table(asked["TableName"])
    _table_can_be_filled(account, table)
    job = _begin(account, table, asked)
    described = _described(job) | {"BulkOperationStatus": "IN_PROGRESS"}
    for member in ("EndTime", "FailureCode", "FailureMessage"):
        described.pop(member, None)
    return {"BulkOperationDescription": described}


@operation("DescribeBulkOperation", shape=shapes.structure(BulkOperationArn=_ARN.required))
def describe_bulk_operation(account: Account, request: Request) -> Response:
    """Return a bulk put and its progress."""
    return {"BulkOperationDescription": _described(_known(account, request))}


@operation(
    "ListBulkOperations",
    shape=shapes.structure(
        MaxResults=transfers.PAGE_SIZE, NextToken=shapes.String(1, 1024, "([0-9a-f]{16})+")
    ),
)
def list_bulk_operations(account: Account, request: Request) -> Response:
    """Return a page of the bulk puts of the last 90 days, the newest first (BLK-4)."""
    most = request.get("MaxResults")
    page, token = transfers.page_of(account, _visible(account), request, most, "BulkOperation")
    members = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")
    summaries = []
    for job in page:
        described = _described(job)
        summaries.append({name: described[name] for name in members if name in described})
    return {"BulkOperationsSummaryList": summaries} | token


@operation("CancelBulkOperation", shape=shapes.structure(BulkOperationArn=_ARN.required))
def cancel_bulk_operation(account: Account, request: Request) -> Response:
    """Stop a bulk put; what it has written stays. One that has ended returns its state (BLK-3)."""
    job = _known(account, request)
    job.cancel()
    return {"BulkOperationArn": job.arn, "BulkOperationStatus": job.status}


# What is asked for


def _visible(account: Account) -> dict[str, BulkPut]:
    """Return the bulk puts of an account, with those on tables that every key sees."""
    return {arn: job for archive in account.archives() for arn, job in archive.bulk_puts.items()}


def _known(account: Account, request: Request) -> BulkPut:
    arn = request["BulkOperationArn"]
    job = _visible(account).get(arn)
    if job is None:
        raise errors.ResourceNotFoundException(NOT_FOUND.format(arn=arn))
    return job


def _begun_with(account: Account, asked: Request) -> BulkPut | None:
    """Return the bulk put that the same token began in the last eight hours (BLK-1).

    Raises:
        IdempotentParameterMismatchException: with other parameters (BLK-5).
    """
    token = asked.get("ClientToken")
    if token is None:
        return None
    for job in _visible(account).values():
        lasts_until_ns = job.started_ns + limits.BULK_TOKEN_SECONDS * NANOSECONDS
        if job.asked.get("ClientToken") == token and account.now_ns < lasts_until_ns:
            if _completed(account, asked) != job.asked:
                raise errors.IdempotentParameterMismatchException(TOKEN_REUSED)
            return job
    return None


def _table_can_be_filled(account: Account, table: Table) -> None:
    """Refuse a table that is not ready, has replicas, or is being filled already (BLK-5)."""
    now_ns = account.now_ns
    indexes: list[Any] = list(table.global_indexes)
    indexes += [] if table.vectors is None else list(table.vectors)
    if table.status(now_ns) != "UPDATING":
        table_is_active(table, now_ns)
    for index in indexes:
        if index.status(now_ns) == "CREATING":
            message = INDEX_CHANGING.format(table=table.name, index=index.schema.name)
            raise errors.ResourceInUseException(message)
    if table.replica is not None:
        raise errors.ValidationException(GLOBAL_TABLE.format(name=table.name))
    if is_being_filled(account, table):
        raise errors.LimitExceededException(ONE_AT_A_TIME)


def _completed(account: Account, asked: Request) -> Request:
    """Return a request with what is taken for members that it lacks."""
    owner = {"S3BucketOwner": account.account_id}
    source = owner | {"InputCompressionType": "NONE"} | asked["InputS3Configuration"]
    return {
        "PerformanceTier": "STANDARD",
        **asked,
        "InputS3Configuration": source,
        "OutputS3Configuration": owner | asked["OutputS3Configuration"],
    }


def _begin(account: Account, table: Table, asked: Request) -> BulkPut:
    store = needed_store(account.settings.s3, "StartBulkPutItems")
    completed = _completed(account, asked)
    completed.setdefault("ClientToken", account.new_id("bulk"))
    job = BulkPut(
        arn=f"{table.arn}/bulk-operation/{transfers.new_transfer_id(account)}",
        table_arn=table.arn,
        table_name=table.name,
        table_id=table.id,
        asked=completed,
        records=(),
        total_bytes=0,
        # Assumed: without a limit it takes no time, in any tier.
        rate=completed.get("MaxWriteRequestUnits"),
        started_ns=account.now_ns,
        least_ns=transfers.end_of(account),
        worker=RecordWorker(),
    )
    try:
        _can_be_read(completed["InputS3Configuration"])
        store.keys(completed["OutputS3Configuration"]["S3Bucket"], job.arn)
        job.records, job.total_bytes = read_input(store, completed)
    except StoreFault as fault:
        job.fail(account.now_ns, fault.code, fault.message)
    account.owner_of(table).archive.begin(job)
    return job


def _can_be_read(source: Mapping[str, Any]) -> None:
    """Fail an input in a form that needs a library which is not there."""
    if source["InputFormat"] == "ION":
        raise StoreFault(UNSUPPORTED_CODE, NO_ION)
    if source["InputCompressionType"] == "ZSTD":
        raise StoreFault(UNSUPPORTED_CODE, NO_ZSTD)


# Descriptions


def _described(job: BulkPut) -> Response:
    """Return a BulkOperationDescription (BLK-2)."""
    members = ("ClientToken", "MaxWriteRequestUnits", "PerformanceTier")
    described: Response = {
        "BulkOperationArn": job.arn,
        "BulkOperationStatus": job.status,
        "TableDetails": [{"TableName": job.table_name, "TableId": job.table_id}],
        **{member: job.asked[member] for member in members if member in job.asked},
        "InputS3Configuration": deepcopy(job.asked["InputS3Configuration"]),
        "OutputS3Configuration": deepcopy(job.asked["OutputS3Configuration"]),
        "StartTime": descriptions.seconds(job.started_ns),
        "ProcessedItemCount": job.done,
        "ProcessedInputBytes": job.processed_bytes,
        "TotalInputBytes": job.total_bytes,
        "FailedItemCount": job.failed,
        "BulkOperationUsage": [{"TableName": job.table_name} | _usage(job.usage)],
    }
    if job.ended_ns is not None:
        described["EndTime"] = descriptions.seconds(job.ended_ns)
    if job.failure is not None:
        described["FailureCode"], described["FailureMessage"] = job.failure
    return described


def _usage(usage: BulkUsage) -> Response:
    """Return BulkPutBytes of table and indexes, and those of vectors apart (BLK-2, BLK-7)."""
    local, globally = usage.lsi, usage.gsi
    description: Response = {
        "BulkPutBytes": usage.table + sum(local.values()) + sum(globally.values()),
        "Table": {"BulkPutBytes": usage.table},
    }
    for member, arms in (("LocalSecondaryIndexes", local), ("GlobalSecondaryIndexes", globally)):
        if arms:
            description[member] = {name: {"BulkPutBytes": size} for name, size in arms.items()}
    if usage.vectors:
        description["VectorIndexes"] = {
            name: {"BulkPutVectorBytes": size} for name, size in usage.vectors.items()
        }
    return description
