"""Rules about resource ARNs (ERR-OTH-5)."""

from __future__ import annotations

from typing import Final, NamedTuple

from emulator.engine import Account, Stream, Table
from emulator.engine.account import BAD_TABLE_ARN
from emulator.model.wire import INVALID
from emulator.operations.shapes import String
from emulator.service import errors

NO_ARN: Final = INVALID + "ARNs must start with 'arn:': {arn}"
NOT_OURS: Final = INVALID + "Provided Arn is not a DynamoDB resource arn: {arn}"
WRONG_KIND: Final = (
    INVALID + "Invalid resource arn provided, only table or stream is accepted. "
    "Provided resource arn: {arn}"
)
#: Assumed: the text.
OTHER_ACCOUNT: Final = (
    "User: arn:aws:iam::{account}:root is not authorized to perform: dynamodb:{operation} on "
    "resource: {arn}"
)

#: The missing letter is the service's own (TAG-3).
NOT_FOUND: Final = "Requested resource not found: ResourcArn: {arn} not found"

RESOURCE_ARN: Final = String(1, 1283)
_PARTS: Final = 6


class NamedResource(NamedTuple):
    """The resource that an ARN names: a table, or a stream of it by its label."""

    table: str
    stream: str | None


def resource_of(account: Account, arn: str) -> NamedResource:
    """Return the table or stream that an ARN of this account and region names.

    Raises:
        ValidationException: it is no such ARN.
        AccessDeniedException: it belongs to another account (TAG-3).
    """
    if not arn.startswith("arn:"):
        raise errors.ValidationException(NO_ARN.format(arn=arn))
    parts = arn.split(":", _PARTS - 1)
    if len(parts) < _PARTS or parts[2] != "dynamodb":
        raise errors.ValidationException(NOT_OURS.format(arn=arn))
    match parts[-1].split("/"):
        case ["table", table] if table:
            resource = NamedResource(table, None)
        case ["table", table, "stream", label] if table and label:
            resource = NamedResource(table, label)
        case _:
            raise errors.ValidationException(WRONG_KIND.format(arn=arn))
    if parts[3] != account.region:
        raise errors.ValidationException(BAD_TABLE_ARN.format(arn=arn))
    if parts[4] != account.account_id:
        raise errors.AccessDeniedException(
            OTHER_ACCOUNT.format(account=account.account_id, operation=account.operation, arn=arn)
        )
    return resource


def existing_resource(account: Account, arn: str) -> Table | Stream:
    """Return the table or stream that an ARN names.

    Raises:
        ResourceNotFoundException: there is none (TAG-3).
    """
    resource = resource_of(account, arn)
    account.forget_deleted()
    existing: Table | Stream | None
    if resource.stream is None:
        existing = account.find_table(resource.table)
    else:
        existing = account.visible_streams().get(arn)
    if existing is None:
        raise errors.ResourceNotFoundException(NOT_FOUND.format(arn=arn))
    return existing
