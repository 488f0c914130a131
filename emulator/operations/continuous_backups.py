"""DescribeContinuousBackups and UpdateContinuousBackups (OTH-8, OTH-9, ERR-OTH-7)."""

from __future__ import annotations

from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.engine.history import ChangeLog
from emulator.engine.option_values import Recovery
from emulator.operations import backup_source, definitions, shapes
from emulator.operations.recovery import DAY_NS, recovery_window
from emulator.operations.registry import Request, Response, operation
from emulator.service.errors import ValidationException

DAYS_WITHOUT_RECOVERY: Final = (
    "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
)
_MOST_DAYS: Final = 35

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
    if not specification["PointInTimeRecoveryEnabled"]:
        table.options.recovery = table.history = None
        return _describe(account, table)
    known = table.options.recovery
    if known is None or table.history is None:
        known = Recovery(account.now_ns, _MOST_DAYS)
        table.history = ChangeLog(
            account.now_ns,
            period_ns=known.days * DAY_NS,
            most_bytes=account.settings.recovery_log_bytes,
        )
    period_ns = (days or known.days) * DAY_NS
    # What a shorter period has left out does not come back with a longer one.
    since_ns = max(known.since_ns, account.now_ns - min(period_ns, known.days * DAY_NS))
    table.options.recovery = Recovery(since_ns, days or known.days)
    table.history.period_ns = period_ns
    return _describe(account, table)


def _describe(account: Account, table: Table) -> Response:
    described: Response = {"PointInTimeRecoveryStatus": "DISABLED"}
    recovery = table.options.recovery
    if recovery is not None:
        window = recovery_window(account, table)
        described = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": recovery.days,
            "EarliestRestorableDateTime": float(window.earliest_ns // NANOSECONDS),
            "LatestRestorableDateTime": float(window.latest_ns // NANOSECONDS),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": described,
        }
    }
