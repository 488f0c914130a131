"""The catalogue: every operation of the service that is served, with what others ask about it.

One row per operation is the whole registration: its name, the module under ``operations/`` that
serves it, what it does, how the SDKs page through it, and which request layer words its faults
under each message profile. Code that wants the page operations, the writes, or those of the
Streams API, asks here.

Source: service models dynamodb and dynamodbstreams, 2012-08-10. What they have and is not served
is listed at the end, with the page that says more.
"""

from enum import Enum
from typing import Final, Literal, NamedTuple

DYNAMODB: Final = "DynamoDB"
STREAMS: Final = "DynamoDBStreams"


class Kind(Enum):
    """The kind of an operation."""

    READ = "reads one item"
    WRITE = "writes one item"
    PAGE = "reads a page of items"
    SEARCH = "searches a vector index"
    BATCH = "acts on several items, each for itself"
    TRANSACTION = "acts on several items, all or none"
    STATEMENT = "runs one PartiQL statement"
    CONTROL = "acts on tables, streams, backups or the account"


class Layer(NamedTuple):
    """How a request layer words the faults of an operation (PRO-2).

    Attributes:
        wording: The column of a ``Wording`` that it speaks.
        is_enveloped: Whether it puts them inside ``1 validation error detected: ``.
    """

    wording: str
    is_enveloped: bool = False


OLDER: Final = Layer("older")
_CURRENT: Final = Layer("current")
_ENVELOPED: Final = Layer("current", is_enveloped=True)

#: The message profiles; where a row has no layer for one, the older layer answers.
MessageProfile = Literal["2026-10", "classic"]


class Paging(NamedTuple):
    """How an operation hands out pages.

    Attributes:
        start: The request member that says where a page starts.
        end: The response member that says where it ended.
        limit: The request member that bounds a page, if there is one.
        results: The response members that add up over pages; the first has the entries.
        once: Response members of which the first page's stands for all.
    """

    start: str
    end: str
    limit: str | None
    results: tuple[str, ...]
    once: tuple[str, ...] = ()


_ITEMS: Final = Paging(
    "ExclusiveStartKey",
    "LastEvaluatedKey",
    "Limit",
    ("Items", "Count", "ScannedCount"),
    ("ConsumedCapacity",),
)


class OperationFacts(NamedTuple):
    """The facts of an operation, known without loading its module.

    Attributes:
        name: Its name on the wire.
        module: The module under ``emulator.operations`` that serves it.
        kind: Its kind.
        api: Which of the two APIs it belongs to.
        paging: How the SDKs page through it, if they have a paginator for it.
        layers: Which layer words its faults, by message profile.
        has_output: Whether a success has a body at all (WIR-17).
    """

    name: str
    module: str
    kind: Kind
    api: str
    paging: Paging | None
    layers: dict[str, Layer]
    has_output: bool

    def layer(self, profile: str) -> Layer:
        """Return the layer that words its faults under a message profile.

        >>> OPERATIONS["PutItem"].layer("2026-10").is_enveloped
        True
        >>> OPERATIONS["PutItem"].layer("classic").is_enveloped
        False
        """
        return self.layers.get(profile, OLDER)


def _row(
    name: str,
    module: str,
    kind: Kind = Kind.CONTROL,
    *,
    api: str = DYNAMODB,
    paging: Paging | None = None,
    layers: dict[str, Layer] | None = None,
    has_output: bool = True,
) -> OperationFacts:
    return OperationFacts(name, module, kind, api, paging, layers or {}, has_output)


# Source: botocore's paginators-1.json for dynamodb 2012-08-10, for paging.
# Observed: the public suite in October 2026, us-east-1 (PRO-2), for layers.
# Observed: live control-plane probes, October 2026 (ERR-UT-2), for UpdateTable's layer.
_ROWS: Final = (
    _row("BatchExecuteStatement", "batch_execute_statement", Kind.BATCH),
    _row("BatchGetItem", "batch_get_item", Kind.BATCH, layers={"2026-10": _CURRENT}),
    _row("BatchWriteItem", "batch_write_item", Kind.BATCH),
    _row("CancelBulkOperation", "bulk_puts"),
    _row("CreateBackup", "backups"),
    _row("CreateGlobalTable", "global_tables"),
    _row("CreateTable", "create_table"),
    _row("DeleteBackup", "backups"),
    _row("DeleteItem", "delete_item", Kind.WRITE, layers={"2026-10": _ENVELOPED}),
    _row("DeleteResourcePolicy", "resource_policies"),
    _row("DeleteTable", "delete_table"),
    _row("DescribeBackup", "backups"),
    _row("DescribeBulkOperation", "bulk_puts"),
    _row("DescribeContinuousBackups", "continuous_backups"),
    _row("DescribeContributorInsights", "contributor_insights"),
    _row("DescribeEndpoints", "account_limits"),
    _row("DescribeExport", "exports"),
    _row("DescribeGlobalTable", "global_tables"),
    _row("DescribeGlobalTableSettings", "global_tables"),
    _row("DescribeImport", "imports"),
    _row("DescribeKinesisStreamingDestination", "kinesis_destinations"),
    _row("DescribeLimits", "account_limits"),
    _row("DescribeStream", "streams", api=STREAMS),
    _row("DescribeTable", "describe_table"),
    _row("DescribeTableReplicaAutoScaling", "replicas"),
    _row("DescribeTimeToLive", "time_to_live"),
    _row("DisableKinesisStreamingDestination", "kinesis_destinations"),
    _row("EnableKinesisStreamingDestination", "kinesis_destinations"),
    _row("ExecuteStatement", "execute_statement", Kind.STATEMENT),
    _row("ExecuteTransaction", "execute_transaction", Kind.TRANSACTION),
    _row("ExportTableToPointInTime", "exports"),
    _row("GetItem", "get_item", Kind.READ, layers={"2026-10": _CURRENT}),
    _row("GetRecords", "streams", api=STREAMS),
    _row("GetResourcePolicy", "resource_policies"),
    _row("GetShardIterator", "streams", api=STREAMS),
    _row("ImportTable", "imports"),
    _row(
        "ListBackups",
        "backups",
        paging=Paging(
            "ExclusiveStartBackupArn", "LastEvaluatedBackupArn", "Limit", ("BackupSummaries",)
        ),
    ),
    _row(
        "ListBulkOperations",
        "bulk_puts",
        paging=Paging("NextToken", "NextToken", "MaxResults", ("BulkOperationsSummaryList",)),
    ),
    _row("ListContributorInsights", "contributor_insights"),
    _row("ListExports", "exports"),
    _row("ListGlobalTables", "global_tables"),
    _row("ListImports", "imports"),
    _row("ListStreams", "streams", api=STREAMS),
    _row(
        "ListTables",
        "list_tables",
        paging=Paging(
            "ExclusiveStartTableName", "LastEvaluatedTableName", "Limit", ("TableNames",)
        ),
    ),
    _row("ListTagsOfResource", "tags", paging=Paging("NextToken", "NextToken", None, ("Tags",))),
    _row("PutItem", "put_item", Kind.WRITE, layers={"2026-10": _ENVELOPED}),
    _row("PutResourcePolicy", "resource_policies"),
    _row("Query", "query", Kind.PAGE, paging=_ITEMS, layers={"2026-10": _CURRENT}),
    _row("RestoreTableFromBackup", "restores"),
    _row("RestoreTableToPointInTime", "restores"),
    _row("Scan", "scan", Kind.PAGE, paging=_ITEMS),
    _row("SearchVectors", "search_vectors", Kind.SEARCH, layers={"2026-10": _CURRENT}),
    _row("StartBulkPutItems", "bulk_puts"),
    _row("TagResource", "tags", has_output=False),
    _row("TransactGetItems", "transact_get_items", Kind.TRANSACTION),
    _row("TransactWriteItems", "transact_write_items", Kind.TRANSACTION),
    _row("UntagResource", "tags", has_output=False),
    _row("UpdateContinuousBackups", "continuous_backups"),
    _row("UpdateContributorInsights", "contributor_insights"),
    _row("UpdateGlobalTable", "global_tables"),
    _row("UpdateGlobalTableSettings", "global_tables"),
    _row("UpdateItem", "update_item", Kind.WRITE, layers={"2026-10": _ENVELOPED}),
    _row("UpdateKinesisStreamingDestination", "kinesis_destinations"),
    _row("UpdateTable", "update_table", layers={"2026-10": _CURRENT}),
    _row("UpdateTableReplicaAutoScaling", "replicas"),
    _row("UpdateTimeToLive", "time_to_live"),
)

OPERATIONS: Final = {row.name: row for row in _ROWS}


def names_of(*kinds: Kind) -> frozenset[str]:
    """Return the names of the operations of these kinds.

    >>> sorted(names_of(Kind.PAGE))
    ['Query', 'Scan']
    """
    return frozenset(row.name for row in _ROWS if row.kind in kinds)


#: Operations that read or write items, as opposed to tables and streams.
ON_ITEMS: Final = frozenset(row.name for row in _ROWS if row.kind is not Kind.CONTROL)


# What is not served


class Unserved(NamedTuple):
    """A part of the service that is known and not there.

    Attributes:
        subject: Its name, in a few words.
        page: Where more is said, below ``docs``.
        operations: Operations that are not served because of it.
        members: Members of requests that have no effect: operation, and dotted name.
    """

    subject: str
    page: str
    operations: tuple[str, ...] = ()
    members: tuple[tuple[str, str], ...] = ()


#: The page on most of it.
NOT_THERE: Final = "reference/fidelity.md#not-there"
UNSERVED: Final = (
    Unserved(
        "Amazon Ion and ZSTD in exports, imports and bulk puts",
        "how-to/data-in-and-out.md#export-and-import",
    ),
    Unserved("global tables of several accounts", NOT_THERE),
    Unserved("delivery to Kinesis", NOT_THERE),
    Unserved("IAM and DAX", NOT_THERE),
)

#: By operation; of members also by name.
UNSERVED_OPERATIONS: Final = {name: part for part in UNSERVED for name in part.operations}
UNSERVED_MEMBERS: Final = {member: part for part in UNSERVED for member in part.members}
