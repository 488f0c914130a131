"""DescribeContinuousBackups and UpdateContinuousBackups (OTH-8, OTH-9, ERR-OTH-7)."""

from __future__ import annotations

from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.engine.options import Recovery
from emulator.operations import backup_source, definitions, descriptions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.service.errors import PointInTimeRecoveryUnavailableException, ValidationException

NOT_ENABLED: Final = "Point in time recovery is not enabled for table '{name}'"
DAYS_WITHOUT_RECOVERY: Final = (
    "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
)
_MOST_DAYS: Final = 35
_DAY_NS: Final = 24 * 3600 * NANOSECONDS

SHAPE = definitions.table_request(
    PointInTimeRecoverySpecification=shapes.structure(
        "PointInTimeRecoverySpecification",
        PointInTimeRecoveryEnabled=shapes.BOOLEAN.required,
        RecoveryPeriodInDays=shapes.Integer(least=1, most=_MOST_DAYS),
    ).required
)


@operation("DescribeContinuousBackups", shape=definitions.table_request())
def describe_continuous_backups(account: Account, request: Request) -> Response:
    """Return whether, and how far back, a table can be restored to a point in time."""
    return _describe(account, backup_source.source_table(account, request["TableName"]))


@operation("UpdateContinuousBackups", shape=SHAPE)
def update_continuous_backups(account: Account, request: Request) -> Response:
    """Switch point-in-time recovery on or off; switching it on again keeps its start."""
    specification = request["PointInTimeRecoverySpecification"]
    days = specification.get("RecoveryPeriodInDays")
    if not specification["PointInTimeRecoveryEnabled"] and days is not None:
        raise ValidationException(DAYS_WITHOUT_RECOVERY)
    table = backup_source.source_table(account, request["TableName"])
    known = table.options.recovery
    if specification["PointInTimeRecoveryEnabled"]:
        since_ns = account.now_ns if known is None else known.since_ns
        kept = _MOST_DAYS if known is None else known.days
        table.options.recovery = Recovery(since_ns, days or kept)
    else:
        table.options.recovery = None
    return _describe(account, table)


def _describe(account: Account, table: Table) -> Response:
    described: Response = {"PointInTimeRecoveryStatus": "DISABLED"}
    recovery = table.options.recovery
    if recovery is not None:
        earliest_ns, latest_ns = recovery_window(account, table)
        described = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": recovery.days,
            "EarliestRestorableDateTime": descriptions.seconds(earliest_ns),
            "LatestRestorableDateTime": descriptions.seconds(latest_ns),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": described,
        }
    }


def recovery_window(account: Account, table: Table) -> tuple[int, int]:
    """Return from when to when a table can be restored, in nanoseconds.

    Raises:
        PointInTimeRecoveryUnavailableException: point-in-time recovery is off (OTH-7).
    """
    recovery = table.options.recovery
    if recovery is None:
        raise PointInTimeRecoveryUnavailableException(NOT_ENABLED.format(name=table.name))
    return max(recovery.since_ns, account.now_ns - recovery.days * _DAY_NS), account.now_ns
