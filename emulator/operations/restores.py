"""RestoreTableFromBackup and RestoreTableToPointInTime (OTH-6, OTH-7, S3X-30, ERR-OTH-7).

The source may lie in another region of the account; the table is made where the request is sent
(S3X-32).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator.capacity import prices
from emulator.clock import NANOSECONDS
from emulator.engine import Account, Index, RegionsNeeded, Table, Throughput
from emulator.engine.namespaces import Namespace
from emulator.engine.updates import EVERYWHERE
from emulator.engine.writes import place
from emulator.model.wire import dump_key, dump_types
from emulator.operations import backup_source, definitions, descriptions, shapes
from emulator.operations.backups import BACKUP_ARN, BACKUP_NOT_FOUND, existing_backup
from emulator.operations.create_table import TABLE_EXISTS, load_encryption, make_table
from emulator.operations.recovery import (
    RecoveryWindow,
    recovery_window,
    state_at,
    written_time,
)
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import tables as rules
from emulator.operations.rules import vectors
from emulator.service import errors
from emulator.storage import OrderedStore

# Observed: another project's probes of the service, October 2026. Assumed: how they begin.
_REQUEST: Final = "Invalid Request: "
EITHER_TIME: Final = (
    _REQUEST + "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but "
    "not both"
)
BOTH_TIMES: Final = (
    _REQUEST + "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
    "restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime"
)
BOTH_SOURCES: Final = _REQUEST + "Must provide exactly one of: sourceTableArn, sourceTableName"
BAD_TIME: Final = (
    "RestoreDateTime '{moment}' must be within EarliestRestorableDateTime '{earliest}' and "
    "LatestRestorableDateTime '{latest}'"
)
NO_SUCH_INDEX: Final = (
    _REQUEST + "Index {index} does not match a secondary index that existed in the source table "
    "and cannot be created during the restore operation"
)
NOT_PROVISIONED: Final = (
    _REQUEST + "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"
)
NO_UNITS: Final = (
    _REQUEST + "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"
)
#: Assumed: the text.
NOT_REACHED: Final = "The Region of the source cannot be reached: {region}"
BEING_RESTORED: Final = "Table: {name} is already being restored from backup: {source}"

_OVERRIDES: Final = {
    "BillingModeOverride": definitions.BILLING_MODE,
    "GlobalSecondaryIndexOverride": shapes.List(definitions.GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": shapes.List(definitions.LOCAL_INDEX),
    "VectorIndexOverride": shapes.List(definitions.VECTOR_INDEX),
    "ProvisionedThroughputOverride": definitions.PROVISIONED_THROUGHPUT,
    "OnDemandThroughputOverride": definitions.ON_DEMAND_THROUGHPUT,
    "SSESpecificationOverride": definitions.SSE_SPECIFICATION,
}


@operation(
    "RestoreTableFromBackup",
    shape=shapes.structure(
        TargetTableName=shapes.INDEX_NAME.required, BackupArn=BACKUP_ARN.required, **_OVERRIDES
    ),
)
def restore_from_backup(account: Account, request: Request) -> Response:
    """Create a table from a backup."""
    arn = request["BackupArn"]
    holder = _source_account(account, arn)
    if holder is None:
        raise errors.BackupNotFoundException(BACKUP_NOT_FOUND.format(arn=arn))
    backup = existing_backup(holder, arn)
    summary = {
        "SourceBackupArn": backup.arn,
        "RestoreDateTime": descriptions.seconds(backup.created_ns),
    }
    return _restore(account, request, backup.table, backup.table.store, summary)


@operation(
    "RestoreTableToPointInTime",
    shape=shapes.structure(
        SourceTableArn=shapes.String(1, 1024),
        SourceTableName=shapes.INDEX_NAME,
        TargetTableName=shapes.INDEX_NAME.required,
        UseLatestRestorableTime=shapes.BOOLEAN,
        RestoreDateTime=shapes.TIMESTAMP,
        **_OVERRIDES,
    ),
)
def restore_to_point_in_time(account: Account, request: Request) -> Response:
    """Create a table as another was at a moment, including writes at that moment (S3X-30)."""
    source_name = _source_name(request)
    is_latest, moment = request.get("UseLatestRestorableTime"), request.get("RestoreDateTime")
    if bool(is_latest) == (moment is not None):
        raise errors.ValidationException(BOTH_TIMES if is_latest else EITHER_TIME)
    holder = _source_account(account, source_name)
    if holder is None:
        name = backup_source.TABLE_NOT_FOUND.format(name=source_name)
        raise errors.TableNotFoundException(name)
    source = backup_source.source_table(holder, source_name)
    window = recovery_window(holder, source)
    at_ns = window.latest_ns if moment is None else _moment(window, moment)
    restored = descriptions.seconds(at_ns) if moment is None else moment
    state = state_at(source, at_ns)
    return _restore(account, request, source, state, {"RestoreDateTime": restored})


def _source_account(account: Account, arn: str) -> Account | None:
    """Return the account of the region that a source lies in, or None if nothing is there (S3X-32).

    Assumed: a request to a region in an outage fails.

    Raises:
        RegionsNeeded: it is another region, and not held yet.
        InternalServerError: it cannot be reached.
    """
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[4] != account.account_id or parts[3] == account.region:
        return account
    own, other = account.namespace, Namespace(account.namespace.access_key, parts[3])
    if own not in account.held:
        raise RegionsNeeded([own, other], if_known=True)
    if account.faults.reachable_ns([other.region], account.now_ns) > account.now_ns:
        raise errors.InternalServerError(NOT_REACHED.format(region=other.region))
    return account.held.get(other)


def _moment(window: RecoveryWindow, moment: float) -> int:
    at_ns = window.clamped(moment)
    if at_ns is None:
        earliest, latest = (written_time(bound_ns / NANOSECONDS) for bound_ns in window)
        raise errors.InvalidRestoreTimeException(
            BAD_TIME.format(moment=written_time(moment), earliest=earliest, latest=latest)
        )
    return at_ns


def _source_name(request: Request) -> str:
    names = [request.get("SourceTableName"), request.get("SourceTableArn")]
    sources = [name for name in names if name is not None]
    if len(sources) > 1:
        raise errors.ValidationException(BOTH_SOURCES)
    if not sources:
        raise errors.ValidationException(definitions.TABLE_NAME_REQUIRED)
    return str(sources[0])


def _restore(
    account: Account,
    request: Request,
    source: Table,
    items: OrderedStore,
    summary: Mapping[str, Any],
) -> Response:
    """Make a table of a source's definition and of these items.

    Streams, time to live, recovery, tags, deletion protection, policies and the table class do
    not come with it (S3X-30).
    """
    name = request["TargetTableName"]
    _target_is_free(account, name)
    definition = _definition(source, request)
    encryption = {"SSESpecification": request.get("SSESpecificationOverride")}
    rules.encryption_is_consistent(encryption)
    vectors.new_indexes_are_well_formed(definition)
    rules.throughput_fits_the_billing_mode(definition)
    rules.index_throughput_fits_the_billing_mode(definition)
    rules.maxima_and_warm_throughput_fit(definition, account.settings)

    table = make_table(account, name, definition)
    if encryption["SSESpecification"] is not None:
        table.options.sse = load_encryption(account, encryption["SSESpecification"])
    elif _region(source.arn) == account.region:
        # Keys belong to a region. Assumed: in another, the table uses the service's own key.
        table.options.sse = source.options.sse
    table.options.extra["RestoreSummary"] = {"SourceTableArn": source.arn, **summary}
    for _, item in items.walk(*EVERYWHERE):
        place(account, table, table.position_of(item), item)
    account.tables[name] = table
    account.watch(table)
    _bill(account, table, is_from_elsewhere=_region(source.arn) != account.region)
    return {"TableDescription": descriptions.describe_table(account, table, status="CREATING")}


def _bill(account: Account, table: Table, *, is_from_elsewhere: bool) -> None:
    """Bill a restore: by the size of the table, local indexes included (CAP-1004).

    Source: Developer Guide, cross-Region restores: what leaves the source's Region is paid as well.
    """
    restored_bytes = sum(partition.size_bytes for partition in table.resource.partitions)
    items = [prices.RESTORES, *([prices.REGION_TRANSFERS] if is_from_elsewhere else [])]
    for item in items if restored_bytes else ():
        account.bill(account.operation, table.name, item, restored_bytes)


def _region(arn: str) -> str:
    return arn.split(":", 5)[3]


def _target_is_free(account: Account, name: str) -> None:
    """Refuse a name that is taken (OTH-6)."""
    account.forget_deleted()
    known = account.find_table(name)
    if known is None:
        return
    summary = known.options.extra.get("RestoreSummary")
    if summary is not None and known.status(account.now_ns) == "CREATING":
        source = summary.get("SourceBackupArn", summary["SourceTableArn"])
        raise errors.TableInUseException(BEING_RESTORED.format(name=name, source=source))
    raise errors.TableAlreadyExistsException(TABLE_EXISTS.format(name=name))


def _definition(source: Table, request: Request) -> dict[str, Any]:
    """Return the CreateTable request that describes the source, overrides applied."""
    throughput = source.resource.throughput
    mode = request.get("BillingModeOverride") or throughput.billing
    definition: dict[str, Any] = {
        "KeySchema": dump_key(source.key),
        "BillingMode": mode,
        "GlobalSecondaryIndexes": _indexes(source, request, mode, is_global=True),
        "LocalSecondaryIndexes": _indexes(source, request, mode, is_global=False),
    }
    vector_indexes = _vector_indexes(source, request)
    if vector_indexes:
        definition["VectorIndexes"] = vector_indexes
    units = request.get("ProvisionedThroughputOverride")
    if units is not None and mode != "PROVISIONED":
        raise errors.ValidationException(NOT_PROVISIONED)
    if units is None and mode == "PROVISIONED":
        units = _units(throughput)
        if units is None:
            raise errors.ValidationException(NO_UNITS)
    definition["ProvisionedThroughput"] = units
    definition["OnDemandThroughput"] = request.get("OnDemandThroughputOverride")
    if definition["OnDemandThroughput"] is None and mode != "PROVISIONED":
        definition["OnDemandThroughput"] = descriptions.describe_maxima(throughput) or None
    names = {
        name
        for holder in (definition, *rules.indexes(definition))
        for name in rules.names_of(holder["KeySchema"])
    }
    for index in vector_indexes:
        names.update(rules.names_of(index.get("SearchSchema") or ()))
    used = {name: kind for name, kind in source.attribute_types.items() if name in names}
    definition["AttributeDefinitions"] = dump_types(used)
    return definition


def _indexes(
    source: Table, request: Request, mode: str, *, is_global: bool
) -> list[dict[str, Any]]:
    """Return the indexes to restore: those of the source, or the ones chosen among them."""
    kind = "Global" if is_global else "Local"
    known = [
        _index(index, mode)
        for index in (source.global_indexes if is_global else source.local_indexes)
    ]
    chosen = request.get(f"{kind}SecondaryIndexOverride")
    if chosen is None:
        return known
    for index in chosen:
        if not any(_is_same_index(index, original) for original in known):
            raise errors.ValidationException(NO_SUCH_INDEX.format(index=index["IndexName"]))
        rules.projection_is_complete(index["Projection"])
    return list(chosen)


def _is_same_index(chosen: dict[str, Any], original: dict[str, Any]) -> bool:
    """Return whether an index is one of the source; it may have another name."""
    names = [
        sorted(index["Projection"].get("NonKeyAttributes", ())) for index in (chosen, original)
    ]
    return (
        chosen["KeySchema"] == original["KeySchema"]
        and chosen["Projection"].get("ProjectionType") == original["Projection"]["ProjectionType"]
        and names[0] == names[1]
    )


def _vector_indexes(source: Table, request: Request) -> list[dict[str, Any]]:
    """Return the vector indexes to restore: those of the source, or the chosen ones (VIX-25)."""
    known = {
        index.schema.name: descriptions.describe_vector_index(index.schema)
        for index in vectors.live_indexes(source)
    }
    chosen = request.get("VectorIndexOverride")
    if chosen is None:
        return list(known.values())
    for index in chosen:
        # Assumed: a mismatch is reported in the same way as for a global index.
        if known.get(index["IndexName"]) != {**index, "Dimensions": int(index["Dimensions"])}:
            raise errors.ValidationException(NO_SUCH_INDEX.format(index=index["IndexName"]))
    return list(chosen)


def _index(index: Index, mode: str) -> dict[str, Any]:
    definition = descriptions.describe_index(index.schema)
    if index.schema.is_global and mode == "PROVISIONED":
        definition["ProvisionedThroughput"] = _units(index.resource.throughput)
    return definition


def _units(throughput: Throughput) -> dict[str, int] | None:
    """Return provisioned units, or None for a source that was on demand and has none."""
    units = descriptions.describe_units(throughput)
    return units if all(units.values()) else None
