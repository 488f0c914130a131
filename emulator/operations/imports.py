"""ImportTable, DescribeImport and ListImports (S3X-20 to S3X-23, OTH-12).

The texts, unless said otherwise. Observed: another project's probes of the service, October 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from emulator.capacity import prices
from emulator.engine import Account, Table, Transfer, writes
from emulator.objects import ObjectStore, StoreFault, lines_of, needed_store
from emulator.operations import definitions, descriptions, shapes, transfers
from emulator.operations.create_table import RULES, free_name, load_encryption, make_table
from emulator.operations.import_records import CsvForm, read_records
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import tables as rules
from emulator.service import errors, limits

WRONG_OPTIONS: Final = (
    "Invalid Request: Unsupported InputFormatOptions for the given input format: {format}."
)
#: Assumed: the text.
TOO_MANY: Final = "Subscriber limit exceeded: There are already {most} imports in progress"
BAD_ITEMS_CODE: Final = "ItemValidationError"
BAD_ITEMS: Final = (
    "Some of the items failed validation checks and were not imported. Please check CloudWatch "
    "error logs for more details."
)
# Assumed: code and texts; the service reads both.
UNSUPPORTED_CODE: Final = "UnsupportedFormat"
NO_ION: Final = "This emulator imports DYNAMODB_JSON and CSV, and nothing in the format ION"
NO_ZSTD: Final = "This emulator imports plain and GZIP files, and none that ZSTD has compressed"
#: Where the service says what was wrong with records (S3X-23).
LOG_GROUP: Final = "arn:aws:logs:{region}:{account}:log-group:/aws-dynamodb/imports:*"

SHAPE = shapes.structure(
    ClientToken=transfers.TOKEN,
    S3BucketSource=shapes.structure(
        "S3BucketSource",
        S3BucketOwner=transfers.OWNER,
        S3Bucket=transfers.BUCKET.required,
        S3KeyPrefix=transfers.PREFIX,
    ).required,
    InputFormat=shapes.String(enum=("DYNAMODB_JSON", "ION", "CSV")).required,
    InputFormatOptions=shapes.structure(
        "InputFormatOptions",
        Csv=shapes.structure(
            "CsvOptions",
            Delimiter=shapes.String(1, 1, "[,;:|\\t ]"),
            HeaderList=shapes.List(
                shapes.String(1, 65_536, "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*"), least=1, most=255
            ),
        ),
    ),
    InputCompressionType=shapes.String(enum=("GZIP", "ZSTD", "NONE")),
    TableCreationParameters=shapes.structure(
        "TableCreationParameters",
        TableName=shapes.INDEX_NAME.required,
        AttributeDefinitions=definitions.ATTRIBUTE_DEFINITIONS.required,
        KeySchema=definitions.KEY_SCHEMA.required,
        BillingMode=definitions.BILLING_MODE,
        ProvisionedThroughput=definitions.PROVISIONED_THROUGHPUT,
        OnDemandThroughput=definitions.ON_DEMAND_THROUGHPUT,
        SSESpecification=definitions.SSE_SPECIFICATION,
        GlobalSecondaryIndexes=shapes.List(definitions.GLOBAL_INDEX),
        VectorIndexes=shapes.List(definitions.VECTOR_INDEX),
    ).required,
)


@dataclass(slots=True)
class _Work:
    """The counts of an import, and the errors of records that it refused."""

    size_bytes: int = 0
    processed: int = 0
    imported: int = 0
    errors: list[Mapping[str, Any]] = field(default_factory=list)

    def counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines, and count their bytes, ends included."""
        for line in lines:
            self.size_bytes += len(line) + 1
            yield line

    def counts(self) -> Response:
        """Return the counts of a description (S3X-22)."""
        return {
            "ErrorCount": len(self.errors),
            "ProcessedSizeBytes": self.size_bytes,
            "ProcessedItemCount": self.processed,
            "ImportedItemCount": self.imported,
        }


@operation("ImportTable", shape=SHAPE)
def import_table(account: Account, request: Request) -> Response:
    """Create a table from the objects of a bucket; it is CREATING until the import ends."""
    asked = transfers.asked_of(request, SHAPE)
    _options_fit(asked)
    known = transfers.begun_with(account, account.archive.imports, asked.get("ClientToken"))
    if known is not None:
        if _table_name(known.asked) != _table_name(asked):
            raise errors.ImportConflictException(transfers.CONFLICT.format(kind="Import"))
        return {"ImportTableDescription": transfers.description(account, known)}
    begun = _begin(account, asked)
    account.archive.imports[begun.arn] = begun
    processed_bytes = begun.outcome.get("ProcessedSizeBytes", 0)
    if processed_bytes:
        account.bill("ImportTable", _table_name(asked), prices.IMPORTS, processed_bytes)
    return {"ImportTableDescription": deepcopy(dict(begun.described))}


@operation("DescribeImport", shape=shapes.structure(ImportArn=transfers.ARN.required))
def describe_import(account: Account, request: Request) -> Response:
    """Return an import."""
    known = transfers.known_transfer(account, _imports(account), request["ImportArn"], "Import")
    return {"ImportTableDescription": transfers.description(account, known)}


@operation(
    "ListImports",
    shape=shapes.structure(
        TableArn=transfers.TABLE_ARN,
        PageSize=transfers.PAGE_SIZE,
        NextToken=shapes.String(112, 1024, "([0-9a-f]{16})+"),
    ),
)
def list_imports(account: Account, request: Request) -> Response:
    """Return a page of imports, including those of deleted tables."""
    imports = _imports(account)
    page, token = transfers.page_of(account, imports, request, request.get("PageSize"), "Import")
    members = (
        *("ImportArn", "ImportStatus", "TableArn", "S3BucketSource", "CloudWatchLogGroupArn"),
        *("InputFormat", "StartTime", "EndTime"),
    )
    descriptions = [transfers.description(account, begun) for begun in page]
    summaries = [
        {name: description[name] for name in members if name in description}
        for description in descriptions
    ]
    return {"ImportSummaryList": summaries} | token


def _imports(account: Account) -> dict[str, Transfer]:
    """Return all imports that the account sees, by ARN."""
    return {arn: known for archive in account.archives() for arn, known in archive.imports.items()}


# What is asked for


def _table_name(asked: Mapping[str, Any]) -> str:
    return str(asked["TableCreationParameters"]["TableName"])


def _options_fit(asked: Request) -> None:
    options = asked.get("InputFormatOptions") or {}
    if options.get("Csv") is not None and asked["InputFormat"] != "CSV":
        raise errors.ValidationException(WRONG_OPTIONS.format(format=asked["InputFormat"]))


def _begin(account: Account, asked: Request) -> Transfer:
    parameters = asked["TableCreationParameters"]
    for rule in RULES:
        rule(parameters)
    rules.maxima_and_warm_throughput_fit(parameters, account.settings)
    rules.encryption_is_consistent(parameters)
    name = free_name(account, parameters["TableName"])
    table = make_table(account, name, parameters)
    table.options.sse = load_encryption(account, parameters.get("SSESpecification"))
    _imports_are_not_too_many(account)
    store = needed_store(account.settings.s3, "ImportTable")

    described = _described(account, table, asked)
    ends_ns = transfers.end_of(account)
    work = _Work()
    outcome = {"EndTime": descriptions.seconds(ends_ns)}
    try:
        outcome |= _run(account, store, table, described, work)
    except StoreFault as fault:
        outcome |= _failed(fault.code, fault.message) | _Work().counts()
    else:
        table.active_at_ns = max(table.active_at_ns, ends_ns)
        account.tables[name] = table
        account.watch(table)
    return Transfer(
        described["ImportArn"],
        table.arn,
        table.id,
        asked,
        described,
        outcome,
        account.now_ns,
        ends_ns,
        tuple(work.errors),
    )


def _imports_are_not_too_many(account: Account) -> None:
    """Refuse a 51st import at a time (S3X-20)."""
    imports = account.archive.imports.values()
    running = sum(account.now_ns < begun.ends_ns for begun in imports)
    if running >= limits.IMPORTS_AT_ONCE:
        raise errors.LimitExceededException(TOO_MANY.format(most=limits.IMPORTS_AT_ONCE))


def _described(account: Account, table: Table, asked: Request) -> Response:
    owner = {"S3BucketOwner": account.account_id}
    return {
        "InputCompressionType": "NONE",
        "ClientToken": account.new_id("import"),
        **asked,
        "S3BucketSource": owner | asked["S3BucketSource"],
        "ImportArn": f"{table.arn}/import/{transfers.new_transfer_id(account)}",
        "ImportStatus": "IN_PROGRESS",
        "TableArn": table.arn,
        "TableId": table.id,
        "CloudWatchLogGroupArn": LOG_GROUP.format(
            region=account.region, account=account.account_id
        ),
        "StartTime": descriptions.seconds(account.now_ns),
    }


# What is read


def _run(
    account: Account, store: ObjectStore, table: Table, described: Response, work: _Work
) -> Response:
    """Fill the table from all objects under the prefix, in the order of their keys.

    Nothing is admitted or charged, and the table has no stream (S3X-22).
    """
    source, compression = described["S3BucketSource"], described["InputCompressionType"]
    keys = store.keys(source["S3Bucket"], source.get("S3KeyPrefix", ""))
    _can_be_read(described)
    form = _csv_form(described)
    for key in keys:
        data = store.read(source["S3Bucket"], key)
        lines = work.counted(lines_of(data, compression))
        for read in read_records(lines, form, table):
            work.processed += 1
            if read.placed is None:
                pointer = {"bucket": source["S3Bucket"], "key": key, "itemIndex": read.number}
                work.errors.append(
                    {
                        "itemS3Pointer": pointer,
                        "importArn": described["ImportArn"],
                        "errorMessages": [read.fault],
                    }
                )
                continue
            writes.place(account, table, *read.placed)
            work.imported += 1
    if work.errors:
        return _failed(BAD_ITEMS_CODE, BAD_ITEMS) | work.counts()
    return {"ImportStatus": "COMPLETED"} | work.counts()


def _can_be_read(described: Mapping[str, Any]) -> None:
    """Fail an import in a form that needs a library which is not there (S3X-21)."""
    if described["InputFormat"] == "ION":
        raise StoreFault(UNSUPPORTED_CODE, NO_ION)
    if described["InputCompressionType"] == "ZSTD":
        raise StoreFault(UNSUPPORTED_CODE, NO_ZSTD)


def _csv_form(described: Mapping[str, Any]) -> CsvForm | None:
    if described["InputFormat"] != "CSV":
        return None
    options = (described.get("InputFormatOptions") or {}).get("Csv") or {}
    return CsvForm(options.get("Delimiter", ","), options.get("HeaderList"))


def _failed(code: str, message: str) -> Response:
    return {"ImportStatus": "FAILED", "FailureCode": code, "FailureMessage": message}
