"""How a refusal is said: exception, reasons and sentence by mode and cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from emulator.service.errors import (
    ApiError,
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    ThrottlingException,
)

PROVISIONED: Final = "ProvisionedThroughputExceeded"
KEY_RANGE: Final = "KeyRangeThroughputExceeded"
MAX_ON_DEMAND: Final = "MaxOnDemandThroughputExceeded"
ACCOUNT_LIMIT: Final = "AccountLimitExceeded"

# Source: CAP-705. Assumed: key-range throttling of a provisioned table uses its sentences.
PROVISIONED_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. Consider "
    "increasing your provisioning level with the UpdateTable API."
)
PROVISIONED_INDEX = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider increasing your provisioning level for the "
    "under-provisioned global secondary indexes with the UpdateTable API."
)
ON_DEMAND_TABLE = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if "
    "you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "bp-partition-key-design.html"
)
ON_DEMAND_INDEX = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB "
    "is automatically scaling your index so please try again shortly."
)
ON_DEMAND_MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. Please contact AWS "
    "Support at https://aws.amazon.com/support request a limit increase"
)


class Reason(NamedTuple):
    """One violated limit: ``<Table|Index><Read|Write><LimitType>`` and the resource's ARN."""

    reason: str
    resource: str


def throttle_error(reasons: Sequence[Reason], *, on_demand: bool) -> ApiError:
    """Return the error of a refused request.

    Source: CAP-702, CAP-703, CAP-705.

    >>> reason = Reason("TableReadKeyRangeThroughputExceeded", "arn")
    >>> error = throttle_error([reason], on_demand=True)
    >>> error.code, error.members
    ('ThrottlingException',
     {'throttlingReasons': [{'reason': 'TableReadKeyRangeThroughputExceeded', 'resource': 'arn'}]})
    """
    message = _sentence(reasons, on_demand=on_demand)
    if not on_demand:
        return ProvisionedThroughputExceededException(message, _members(reasons))
    if _some(reasons, ACCOUNT_LIMIT):
        return RequestLimitExceeded(message, _members(reasons))
    return ThrottlingException(message, _members(reasons, "throttlingReasons"))


def batch_write_error(reasons: Sequence[Reason]) -> ApiError:
    """Return the error of a BatchWriteItem of which nothing was processed.

    The batch may span tables of both modes, so the cause alone decides.

    Source: CAP-610. Assumed: a key-range refusal uses the on-demand sentence in either mode,
    because it is a ThrottlingException in either.

    >>> batch_write_error([Reason("TableWriteKeyRangeThroughputExceeded", "arn")]).code
    'ThrottlingException'
    """
    unique = tuple(dict.fromkeys(reasons))
    return throttle_error(unique, on_demand=not _some(unique, PROVISIONED))


def cancellation(reasons: Sequence[Reason], *, on_demand: bool) -> tuple[str, str]:
    """Return code and message of a throttled action's CancellationReason.

    Source: CAP-706.

    >>> cancellation([Reason("TableWriteMaxOnDemandThroughputExceeded", "arn")], on_demand=True)
    ('ThrottlingError',
     'Throughput exceeds the maximum OnDemandThroughput configured on table or index')
    """
    code = "ThrottlingError" if on_demand else PROVISIONED
    return code, _sentence(reasons, on_demand=on_demand)


def _sentence(reasons: Sequence[Reason], *, on_demand: bool) -> str:
    """Return the sentence for the first reason; the account's quota outranks the others."""
    first = reasons[0].reason
    is_index = first.startswith("Index")
    if not on_demand:
        return PROVISIONED_INDEX if is_index else PROVISIONED_TABLE
    if _some(reasons, ACCOUNT_LIMIT):
        return ACCOUNT
    if first.endswith(MAX_ON_DEMAND):
        return ON_DEMAND_MAXIMUM
    return ON_DEMAND_INDEX if is_index else ON_DEMAND_TABLE


def _some(reasons: Iterable[Reason], limit: str) -> bool:
    return any(reason.reason.endswith(limit) for reason in reasons)


def _members(
    reasons: Iterable[Reason], member: str = "ThrottlingReasons"
) -> dict[str, list[dict[str, str]]]:
    unique = dict.fromkeys(reasons)
    return {member: [{"reason": reason, "resource": resource} for reason, resource in unique]}
