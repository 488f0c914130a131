"""RestoreTableFromBackup and RestoreTableToPointInTime (OTH-6, OTH-7, ERR-OTH-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Index, Table, Throughput
from emulator.engine.updates import EVERYWHERE
from emulator.engine.writes import place
from emulator.model.wire import INVALID, dump_key, dump_types
from emulator.operations import backup_source, definitions, descriptions, shapes
from emulator.operations.backups import BACKUP_ARN, existing_backup
from emulator.operations.continuous_backups import recovery_window
from emulator.operations.create_table import TABLE_EXISTS, load_encryption, make_table
from emulator.operations.registry import Request, Response, operation
from emulator.operations.rules import tables as rules
from emulator.service import errors

EITHER_TIME: Final = (
    "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be "
    "specified, but not both"
)
# Assumed: the texts.
EITHER_SOURCE: Final = (
    "Invalid Request: Either one of SourceTableName or SourceTableArn must be specified, "
    "but not both"
)
BAD_TIME: Final = "Restore time is outside the recoverable window"
NO_SUCH_INDEX: Final = INVALID + "Index is not part of the source table: {index}"

_OVERRIDES: Final = {
    "BillingModeOverride": definitions.BILLING_MODE,
    "GlobalSecondaryIndexOverride": shapes.List(definitions.GLOBAL_INDEX),
    "LocalSecondaryIndexOverride": shapes.List(definitions.LOCAL_INDEX),
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
    """Make a table of what a backup holds."""
    backup = existing_backup(account, request["BackupArn"])
    summary = {
        "SourceBackupArn": backup.arn,
        "RestoreDateTime": descriptions.seconds(backup.created_ns),
    }
    return _restore(account, request, backup.table, summary)


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
    """Make a table of what another holds.

    Assumed: the present state stands for every moment that can be restored (OTH-7).
    """
    names = [request.get("SourceTableName"), request.get("SourceTableArn")]
    sources = [name for name in names if name is not None]
    if len(sources) != 1:
        raise errors.ValidationException(EITHER_SOURCE)
    is_latest, moment = request.get("UseLatestRestorableTime"), request.get("RestoreDateTime")
    if bool(is_latest) == (moment is not None):
        raise errors.ValidationException(EITHER_TIME)
    source = backup_source.source_table(account, sources[0])
    earliest_ns, latest_ns = recovery_window(account, source)
    if moment is not None and not earliest_ns <= round(moment * NANOSECONDS) <= latest_ns:
        raise errors.InvalidRestoreTimeException(BAD_TIME)
    restored = descriptions.seconds(latest_ns) if moment is None else moment
    return _restore(account, request, source, {"RestoreDateTime": restored})


def _restore(
    account: Account, request: Request, source: Table, summary: Mapping[str, Any]
) -> Response:
    name = request["TargetTableName"]
    account.forget_deleted()
    if account.find_table(name) is not None:
        raise errors.TableAlreadyExistsException(TABLE_EXISTS.format(name=name))
    definition = _definition(source, request)
    encryption = {"SSESpecification": request.get("SSESpecificationOverride")}
    rules.encryption_is_consistent(encryption)
    rules.throughput_fits_the_billing_mode(definition)
    rules.index_throughput_fits_the_billing_mode(definition)
    rules.maxima_and_warm_throughput_fit(definition, account.settings.table_quota)

    table = make_table(account, name, definition)
    throughputs = [resource.throughput for resource in table.resources()]
    rules.units_are_within_the_quotas(account, name, throughputs)
    table.options.table_class = source.options.table_class
    table.options.sse = (
        load_encryption(account, encryption["SSESpecification"]) or source.options.sse
    )
    table.options.extra["RestoreSummary"] = {"SourceTableArn": source.arn, **summary}
    fill(account, table, source)
    account.tables[name] = table
    account.watch(table)
    return {"TableDescription": descriptions.describe_table(account, table, status="CREATING")}


def fill(account: Account, table: Table, source: Table) -> None:
    """Put every item of the source into a new table, unpaid for."""
    for _, item in source.store.walk(*EVERYWHERE):
        place(account, table, table.position_of(item), item)


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
    units = request.get("ProvisionedThroughputOverride")
    if units is None and mode == "PROVISIONED":
        units = _units(throughput)
    definition["ProvisionedThroughput"] = units
    definition["OnDemandThroughput"] = request.get("OnDemandThroughputOverride")
    names = {
        name
        for holder in (definition, *rules.indexes(definition))
        for name in rules.names_of(holder["KeySchema"])
    }
    used = {name: kind for name, kind in source.attribute_types.items() if name in names}
    definition["AttributeDefinitions"] = dump_types(used)
    return definition


def _indexes(
    source: Table, request: Request, mode: str, *, is_global: bool
) -> list[dict[str, Any]]:
    """Return the indexes to restore: those of the source, or the ones chosen among them."""
    kind = "Global" if is_global else "Local"
    known = {
        index.schema.name: _index(index, mode)
        for index in (source.global_indexes if is_global else source.local_indexes)
    }
    chosen = request.get(f"{kind}SecondaryIndexOverride")
    if chosen is None:
        return list(known.values())
    for index in chosen:
        original = known.get(index["IndexName"])
        if original is None or original["KeySchema"] != index["KeySchema"]:
            raise errors.ValidationException(NO_SUCH_INDEX.format(index=index["IndexName"]))
        rules.projection_is_complete(index["Projection"])
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
