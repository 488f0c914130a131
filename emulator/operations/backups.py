"""CreateBackup, DescribeBackup, DeleteBackup and ListBackups (OTH-3 to OTH-5, ERR-OTH-7)."""

from __future__ import annotations

from typing import Any, Final

from emulator.engine import Account, Backup, Index, Table
from emulator.model.wire import dump_key
from emulator.operations import backup_source, definitions, descriptions, shapes
from emulator.operations.recovery import DAY_NS
from emulator.operations.registry import Request, Response, operation
from emulator.operations.time_to_live import describe as describe_time_to_live
from emulator.service.errors import BackupNotFoundException, ValidationException

BACKUP_NOT_FOUND: Final = "Backup not found: {arn}"
BAD_ARN: Final = "Invalid Backup ARN"
#: Assumed: the text.
KEPT_BY_SERVICE: Final = "Backup of type SYSTEM cannot be deleted: {arn}"
#: How long the service keeps its backup of a deleted table.
SYSTEM_BACKUP_NS: Final = 35 * DAY_NS
BACKUP_ARN: Final = shapes.String(37, 1024)
_PAGE: Final = 100


@operation("CreateBackup", shape=definitions.table_request(BackupName=shapes.INDEX_NAME.required))
def create_backup(account: Account, request: Request) -> Response:
    """Back up a table as it is now; the backup is available at once."""
    table = backup_source.source_table(account, request["TableName"])
    mark = account.new_id(f"backup/{table.name}")[:8]
    return {"BackupDetails": _details(_keep(account, table, request["BackupName"], mark))}


def keep_deleted_table(account: Account, table: Table) -> None:
    """Keep a table that is being deleted and could be restored, for 35 days (S3X-31).

    Observed: another project's probes of the service, October 2026, for its name and ARN.
    """
    if table.options.recovery is not None:
        expires_ns = account.now_ns + SYSTEM_BACKUP_NS
        _keep(account, table, f"{table.name}$DeletedTableBackup", "0" * 8, expires_ns)


def _keep(
    account: Account, table: Table, name: str, mark: str, expires_ns: int | None = None
) -> Backup:
    kept = table.copy()
    kept.history = None
    arn = f"{table.arn}/backup/{account.now_ns // 1_000_000:014}-{mark}"
    backup = Backup(arn, name, kept, account.now_ns, expires_ns)
    account.archive.backups[arn] = backup
    return backup


@operation("DescribeBackup", shape=shapes.structure(BackupArn=BACKUP_ARN.required))
def describe_backup(account: Account, request: Request) -> Response:
    """Return a backup and what it was made of."""
    return {"BackupDescription": _description(existing_backup(account, request["BackupArn"]))}


@operation("DeleteBackup", shape=shapes.structure(BackupArn=BACKUP_ARN.required))
def delete_backup(account: Account, request: Request) -> Response:
    """Drop a backup."""
    backup = existing_backup(account, request["BackupArn"])
    if backup.expires_ns is not None:
        raise ValidationException(KEPT_BY_SERVICE.format(arn=backup.arn))
    for archive in account.archives():
        archive.backups.pop(backup.arn, None)
    described = _description(backup)
    described["BackupDetails"]["BackupStatus"] = "DELETED"
    return {"BackupDescription": described}


@operation(
    "ListBackups",
    shape=shapes.structure(
        TableName=definitions.TABLE_NAME,
        Limit=shapes.Integer(least=1, most=_PAGE),
        TimeRangeLowerBound=shapes.TIMESTAMP,
        TimeRangeUpperBound=shapes.TIMESTAMP,
        ExclusiveStartBackupArn=BACKUP_ARN,
        BackupType=shapes.String(enum=("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    ),
)
def list_backups(account: Account, request: Request) -> Response:
    """Return a page of backups, the oldest first; those of users, unless others are asked for."""
    _forget_expired(account)
    listed = [
        backup
        for archive in account.archives()
        for backup in archive.backups.values()
        if _is_asked(account, backup, request)
    ]
    after = request.get("ExclusiveStartBackupArn")
    if after is not None:
        started = existing_backup(account, after)
        listed = [backup for backup in listed if (backup.created_ns, backup.arn) > _place(started)]
    listed.sort(key=_place)
    most = request.get("Limit", _PAGE)
    response: Response = {"BackupSummaries": [_summary(backup) for backup in listed[:most]]}
    if len(listed) > most:
        response["LastEvaluatedBackupArn"] = listed[most - 1].arn
    return response


def existing_backup(account: Account, arn: str) -> Backup:
    """Return a backup by its ARN.

    Raises:
        ValidationException: the text is no ARN of a backup.
        BackupNotFoundException: there is none.
    """
    if not arn.startswith("arn:") or "/backup/" not in arn:
        raise ValidationException(BAD_ARN)
    _forget_expired(account)
    for archive in account.archives():
        if arn in archive.backups:
            return archive.backups[arn]
    raise BackupNotFoundException(BACKUP_NOT_FOUND.format(arn=arn))


def _forget_expired(account: Account) -> None:
    for archive in account.archives():
        for backup in list(archive.backups.values()):
            if backup.expires_ns is not None and backup.expires_ns <= account.now_ns:
                del archive.backups[backup.arn]


def _type(backup: Backup) -> str:
    return "USER" if backup.expires_ns is None else "SYSTEM"


def _place(backup: Backup) -> tuple[int, str]:
    return backup.created_ns, backup.arn


def _is_asked(account: Account, backup: Backup, request: Request) -> bool:
    """Return whether a backup passes the filters; the upper bound is exclusive (OTH-5)."""
    name = request.get("TableName")
    if name is not None and name.startswith("arn:"):
        name = account.table_name(name)
    created = descriptions.seconds(backup.created_ns)
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    return (
        (name is None or backup.table.name == name)
        and (low is None or created >= low)
        and (high is None or created < high)
        and request.get("BackupType", "USER") in (_type(backup), "ALL")
    )


def _details(backup: Backup) -> dict[str, Any]:
    details: dict[str, Any] = {
        "BackupArn": backup.arn,
        "BackupName": backup.name,
        "BackupSizeBytes": backup.table.size_bytes,
        "BackupStatus": "AVAILABLE",
        "BackupType": _type(backup),
        "BackupCreationDateTime": descriptions.seconds(backup.created_ns),
    }
    if backup.expires_ns is not None:
        details["BackupExpiryDateTime"] = descriptions.seconds(backup.expires_ns)
    return details


def _summary(backup: Backup) -> dict[str, Any]:
    table = backup.table
    named = {"TableName": table.name, "TableId": table.id, "TableArn": table.arn}
    return named | _details(backup)


def _description(backup: Backup) -> dict[str, Any]:
    table = backup.table
    throughput = table.resource.throughput
    return {
        "BackupDetails": _details(backup),
        "SourceTableDetails": {
            "TableName": table.name,
            "TableId": table.id,
            "TableArn": table.arn,
            "TableSizeBytes": table.size_bytes,
            "KeySchema": dump_key(table.key),
            "TableCreationDateTime": descriptions.seconds(table.created_ns),
            "ProvisionedThroughput": descriptions.describe_units(throughput),
            "ItemCount": len(table.store),
            "BillingMode": throughput.billing,
        },
        "SourceTableFeatureDetails": {} if backup.expires_ns is not None else _features(table),
    }


def _features(table: Table) -> dict[str, Any]:
    features: dict[str, Any] = {"TimeToLiveDescription": describe_time_to_live(table)}
    if table.global_indexes:
        features["GlobalSecondaryIndexes"] = [_index(index) for index in table.global_indexes]
    if table.local_indexes:
        features["LocalSecondaryIndexes"] = [_index(index) for index in table.local_indexes]
    if table.vectors is not None and table.vectors.live:
        features["VectorIndexes"] = [
            descriptions.describe_vector_index(index.schema) for index in table.vectors
        ]
    if table.stream is not None and table.stream.is_open:
        features["StreamDescription"] = {
            "StreamEnabled": True,
            "StreamViewType": table.stream.view,
        }
    if table.options.sse is not None:
        features["SSEDescription"] = dict(table.options.sse)
    return features


def _index(index: Index) -> dict[str, Any]:
    described = descriptions.describe_index(index.schema)
    if index.schema.is_global:
        units = descriptions.describe_units(index.resource.throughput)
        described["ProvisionedThroughput"] = units
    return described
