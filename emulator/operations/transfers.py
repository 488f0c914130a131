"""Exports and imports: described from beginning to end, nothing is moved (OTH-10 to OTH-12).

Both answer IN_PROGRESS and are COMPLETED when next looked at. A token makes a repeated
request return what the first one began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Transfer
from emulator.operations import backup_source, definitions, descriptions, shapes, tokens
from emulator.operations.create_table import RULES, free_name, load_encryption, make_table
from emulator.operations.recovery import recovery_window
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import tables as rules
from emulator.service import errors

# Assumed: the texts.
EXPORT_NOT_FOUND: Final = "Export not found: {arn}"
IMPORT_NOT_FOUND: Final = "Import not found: {arn}"
TOKEN_REUSED: Final = (
    "The client token {token} was used before, with other parameters than those of this request"
)
BAD_TIME: Final = "Export time is outside the recoverable window"
_PAGE: Final = 25

_ARN = shapes.String(37, 1024)
_TOKEN = shapes.String(pattern="^[^\\$]+$")
# The model's pattern says the same with a repeated first and last class, and in cubic time.
_BUCKET = shapes.String(0, 255, "^[a-z0-9A-Z][\\.\\-\\w]*[a-z0-9A-Z]$")
_OWNER = shapes.String(pattern="[0-9]{12}")
_PREFIX = shapes.String(0, 1024)
_PAGE_SIZE = shapes.Integer(least=1, most=_PAGE)
_TABLE_ARN = shapes.String(1, 1024)

EXPORT_SHAPE = shapes.structure(
    TableArn=_TABLE_ARN.required,
    ExportTime=shapes.TIMESTAMP,
    ClientToken=_TOKEN,
    S3Bucket=_BUCKET.required,
    S3BucketOwner=_OWNER,
    S3Prefix=_PREFIX,
    S3SseAlgorithm=shapes.String(enum=("AES256", "KMS")),
    S3SseKmsKeyId=shapes.String(1, 2048),
    ExportFormat=shapes.String(enum=("DYNAMODB_JSON", "ION")),
    ExportType=shapes.String(enum=("FULL_EXPORT", "INCREMENTAL_EXPORT")),
    IncrementalExportSpecification=shapes.structure(
        "IncrementalExportSpecification",
        ExportFromTime=shapes.TIMESTAMP,
        ExportToTime=shapes.TIMESTAMP,
        ExportViewType=shapes.String(enum=("NEW_IMAGE", "NEW_AND_OLD_IMAGES")),
    ),
)
IMPORT_SHAPE = shapes.structure(
    ClientToken=_TOKEN,
    S3BucketSource=shapes.structure(
        "S3BucketSource",
        S3BucketOwner=_OWNER,
        S3Bucket=_BUCKET.required,
        S3KeyPrefix=_PREFIX,
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
    ).required,
)


@operation("ExportTableToPointInTime", shape=EXPORT_SHAPE)
def export_table(account: Account, request: Request) -> Response:
    """Begin an export of a table that can be restored to a point in time (OTH-10)."""
    asked = _asked(request, EXPORT_SHAPE)
    known = _begun_once(
        account, account.archive.exports, asked, _begin_export, errors.ExportConflictException
    )
    return {"ExportDescription": _description(known) | {"ExportStatus": "IN_PROGRESS"}}


def _begin_export(account: Account, asked: Request) -> Transfer:
    table = backup_source.source_table(account, asked["TableArn"])
    earliest_ns, latest_ns = recovery_window(account, table)
    moment = asked.get("ExportTime")
    if moment is not None and not earliest_ns <= round(moment * NANOSECONDS) <= latest_ns:
        raise errors.InvalidExportTimeException(BAD_TIME)
    arn = f"{table.arn}/export/{_transfer_id(account)}"
    described = {
        "ExportFormat": "DYNAMODB_JSON",
        "ExportType": "FULL_EXPORT",
        "ClientToken": account.new_id("export"),
        **asked,
        "ExportArn": arn,
        "StartTime": descriptions.seconds(account.now_ns),
        "ExportTime": descriptions.seconds(account.now_ns) if moment is None else moment,
        "TableArn": table.arn,
        "TableId": table.id,
        "ItemCount": len(table.store),
        "BilledSizeBytes": table.store.size_bytes,
    }
    return Transfer(arn, table.arn, asked, described, started_ns=account.now_ns)


@operation("DescribeExport", shape=shapes.structure(ExportArn=_ARN.required))
def describe_export(account: Account, request: Request) -> Response:
    """Return an export, complete by now (OTH-11)."""
    known = account.archive.exports.get(request["ExportArn"])
    if known is None:
        raise errors.ExportNotFoundException(EXPORT_NOT_FOUND.format(arn=request["ExportArn"]))
    prefix = known.asked.get("S3Prefix")
    folder = f"AWSDynamoDB/{known.arn.rpartition('/')[2]}/manifest-summary.json"
    return {
        "ExportDescription": _description(known)
        | {
            "ExportStatus": "COMPLETED",
            "EndTime": descriptions.seconds(known.started_ns),
            "ExportManifest": folder if prefix is None else f"{prefix}/{folder}",
        }
    }


@operation(
    "ListExports",
    shape=shapes.structure(TableArn=_TABLE_ARN, MaxResults=_PAGE_SIZE, NextToken=shapes.STRING),
)
def list_exports(account: Account, request: Request) -> Response:
    """Return a page of exports, the oldest first (OTH-11)."""
    page, token = _page(account.archive.exports, request, request.get("MaxResults", _PAGE))
    summaries = [
        {
            "ExportArn": export.arn,
            "ExportStatus": "COMPLETED",
            "ExportType": export.described["ExportType"],
        }
        for export in page
    ]
    return {"ExportSummaries": summaries} | token


@operation("ImportTable", shape=IMPORT_SHAPE)
def import_table(account: Account, request: Request) -> Response:
    """Make the table of an import; there is no bucket to read, so it is empty (OTH-12)."""
    asked = _asked(request, IMPORT_SHAPE)
    known = _begun_once(
        account, account.archive.imports, asked, _begin_import, errors.ImportConflictException
    )
    return {"ImportTableDescription": _description(known) | {"ImportStatus": "IN_PROGRESS"}}


def _begin_import(account: Account, asked: Request) -> Transfer:
    parameters = asked["TableCreationParameters"]
    for rule in RULES:
        rule(parameters)
    rules.maxima_and_warm_throughput_fit(parameters, account.settings.table_quota)
    rules.encryption_is_consistent(parameters)
    name = free_name(account, parameters["TableName"])
    table = make_table(account, name, parameters)
    throughputs = [resource.throughput for resource in table.resources()]
    rules.units_are_within_the_quotas(account, name, throughputs)
    table.options.sse = load_encryption(account, parameters.get("SSESpecification"))
    account.tables[name] = table
    account.watch(table)
    arn = f"{table.arn}/import/{_transfer_id(account)}"
    described = {
        "InputCompressionType": "NONE",
        "ClientToken": account.new_id("import"),
        **asked,
        "ImportArn": arn,
        "TableArn": table.arn,
        "TableId": table.id,
        "StartTime": descriptions.seconds(account.now_ns),
    }
    return Transfer(arn, table.arn, asked, described, started_ns=account.now_ns)


@operation("DescribeImport", shape=shapes.structure(ImportArn=_ARN.required))
def describe_import(account: Account, request: Request) -> Response:
    """Return an import, complete by now (OTH-12)."""
    known = account.archive.imports.get(request["ImportArn"])
    if known is None:
        raise errors.ImportNotFoundException(IMPORT_NOT_FOUND.format(arn=request["ImportArn"]))
    counts = ("ErrorCount", "ProcessedSizeBytes", "ProcessedItemCount", "ImportedItemCount")
    return {
        "ImportTableDescription": _description(known)
        | {"ImportStatus": "COMPLETED", "EndTime": descriptions.seconds(known.started_ns)}
        | dict.fromkeys(counts, 0)
    }


@operation(
    "ListImports",
    shape=shapes.structure(
        TableArn=_TABLE_ARN,
        PageSize=_PAGE_SIZE,
        NextToken=shapes.String(112, 1024, "([0-9a-f]{16})+"),
    ),
)
def list_imports(account: Account, request: Request) -> Response:
    """Return a page of imports, the oldest first (OTH-12)."""
    page, token = _page(account.archive.imports, request, request.get("PageSize", _PAGE))
    summaries = [
        {
            "ImportArn": begun.arn,
            "ImportStatus": "COMPLETED",
            "TableArn": begun.table_arn,
            "S3BucketSource": dict(begun.asked["S3BucketSource"]),
            "InputFormat": begun.asked["InputFormat"],
            "StartTime": descriptions.seconds(begun.started_ns),
            "EndTime": descriptions.seconds(begun.started_ns),
        }
        for begun in page
    ]
    return {"ImportSummaryList": summaries} | token


def _asked(request: Request, shape: shapes.Structure) -> Request:
    """Return a copy of the members that the shape knows (WIR-15)."""
    return deepcopy({name: request[name] for name in shape.members if name in request})


def _description(transfer: Transfer) -> Response:
    return deepcopy(dict(transfer.described))


def _transfer_id(account: Account) -> str:
    return f"{account.now_ns // 1_000_000:014}-{account.new_id('transfer')[:8]}"


def _begun_once(
    account: Account,
    transfers: dict[str, Transfer],
    asked: Request,
    begin: Callable[[Account, Request], Transfer],
    conflict: type[errors.ApiError],
) -> Transfer:
    """Begin a transfer, unless the request's token has begun it before; return it.

    Raises:
        ApiError: ``conflict``, because the request of that token was another.
    """
    token = asked.get("ClientToken")
    for transfer in transfers.values():
        if token is not None and transfer.asked.get("ClientToken") == token:
            if transfer.asked != asked:
                raise conflict(TOKEN_REUSED.format(token=token))
            return transfer
    begun = begin(account, asked)
    transfers[begun.arn] = begun
    return begun


def _page(
    known: Mapping[str, Transfer], request: Request, most: int
) -> tuple[list[Transfer], Response]:
    """Return a page of transfers, of one table if asked, and the token of the next page."""
    table_arn, token = request.get("TableArn"), request.get("NextToken")
    arns = [arn for arn, transfer in known.items() if table_arn in (None, transfer.table_arn)]
    if token is not None:
        after = tokens.open_token(token)[0]
        arns = arns[arns.index(after) + 1 :] if after in arns else []
    page = [known[arn] for arn in arns[:most]]
    return page, {"NextToken": tokens.seal(page[-1].arn)} if len(arns) > most else {}
