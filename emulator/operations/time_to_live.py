"""UpdateTimeToLive and DescribeTimeToLive (TTL-1 to TTL-3, ERR-OTH-4)."""

from __future__ import annotations

from typing import Final

from emulator.clock import NANOSECONDS
from emulator.engine import Account, Table
from emulator.engine.expiry import ExpiryQueue
from emulator.engine.updates import EVERYWHERE
from emulator.operations import definitions, shapes
from emulator.operations.registry import Request, Response, operation
from emulator.operations.replica_updates import other_replicas, share_time_to_live
from emulator.operations.rules.replicas import is_not_strong
from emulator.service.errors import ValidationException

IS_ENABLED: Final = "TimeToLive is already enabled"
IS_DISABLED: Final = "TimeToLive is already disabled"
OTHER_ATTRIBUTE: Final = (
    "TimeToLive is active on a different AttributeName: current AttributeName is {name}"
)
TOO_OFTEN: Final = "Time to live has been modified multiple times within a fixed interval"
NOT_YET: Final = (
    "Cannot describe time to live while table is in CREATING state: Current table state is CREATING"
)

SHAPE = definitions.table_request(
    TimeToLiveSpecification=shapes.structure(
        "TimeToLiveSpecification",
        Enabled=shapes.BOOLEAN.required,
        AttributeName=shapes.String(1, 255).required,
    ).required
)


@operation("UpdateTimeToLive", shape=SHAPE)
def update_time_to_live(account: Account, request: Request) -> Response:
    """Make items expire by an attribute, or stop that; here the change takes effect at once."""
    specification = request["TimeToLiveSpecification"]
    name, is_enabled = specification["AttributeName"], specification["Enabled"]
    table = _existing_table(account, request)
    time_to_live_changes(table, name, is_enabled=is_enabled)
    changes_are_not_too_frequent(account, table)

    if table.replica is not None:
        is_not_strong([table], "time to live")
        other_replicas(account, table)
    table.expiry = ExpiryQueue(name, table.store.walk(*EVERYWHERE)) if is_enabled else None
    table.expiry_changed_ns = account.now_ns
    if table.replica is not None:
        share_time_to_live(account, table)
    return {"TimeToLiveSpecification": {"Enabled": is_enabled, "AttributeName": name}}


@operation("DescribeTimeToLive", shape=definitions.table_request())
def describe_time_to_live(account: Account, request: Request) -> Response:
    """Return by which attribute items expire, if they do (TTL-2)."""
    return {"TimeToLiveDescription": describe(_existing_table(account, request))}


def describe(table: Table) -> Response:
    """Return a TimeToLiveDescription."""
    if table.expiry is None:
        return {"TimeToLiveStatus": "DISABLED"}
    return {"TimeToLiveStatus": "ENABLED", "AttributeName": table.expiry.attribute}


def _existing_table(account: Account, request: Request) -> Table:
    table = account.described_table(request["TableName"])
    if table.status(account.now_ns) == "CREATING":
        raise ValidationException(NOT_YET)
    return table


def time_to_live_changes(table: Table, name: str, *, is_enabled: bool) -> None:
    """Refuse a change that changes nothing, or names another attribute (TTL-3)."""
    if table.expiry is None:
        if not is_enabled:
            raise ValidationException(IS_DISABLED)
    elif table.expiry.attribute != name:
        raise ValidationException(OTHER_ATTRIBUTE.format(name=table.expiry.attribute))
    elif is_enabled:
        raise ValidationException(IS_ENABLED)


def changes_are_not_too_frequent(account: Account, table: Table) -> None:
    """Refuse a second change soon after the first, if the settings say so (TTL-3)."""
    interval_ns = round(account.settings.ttl_change_interval * NANOSECONDS)
    changed_ns = table.expiry_changed_ns
    if changed_ns is not None and account.now_ns - changed_ns < interval_ns:
        raise ValidationException(TOO_OFTEN)
