"""How a refusal is said: exception, reasons and sentence by mode and cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from emulator.service.errors import (
    ApiError,
    ProvisionedThroughputExceededException,
    ThrottlingException,
)
from emulator.service.throttling import (
    PROVISIONED_SENTENCES,
    THROTTLED_ACTION,
    ReasonParts,
    ThrottlingLimit,
    parse_reason,
)

KEY_RANGE = ThrottlingLimit.KEY_RANGE.suffix
PROVISIONED = ThrottlingLimit.PROVISIONED.suffix
MAX_ON_DEMAND = ThrottlingLimit.MAX_ON_DEMAND.suffix


class Reason(NamedTuple):
    """One violated limit: ``<Table|Index><Read|Write><LimitType>`` and the resource's ARN."""

    reason: str
    resource: str

    @property
    def parts(self) -> ReasonParts:
        """The parts of the reason: table or index, axis and limit."""
        return parse_reason(self.reason)


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
    error = _deciding(reasons).limit.error if on_demand else ProvisionedThroughputExceededException
    member = "throttlingReasons" if error is ThrottlingException else "ThrottlingReasons"
    unique = dict.fromkeys(reasons)
    listed = [{"reason": reason, "resource": resource} for reason, resource in unique]
    return error(message, {member: listed})


def batch_write_error(reasons: Sequence[Reason]) -> ApiError:
    """Return the error of a BatchWriteItem of which nothing was processed.

    The batch may span tables of both modes, so the cause alone decides.

    Source: CAP-610. Assumed: a key-range refusal uses the on-demand sentence in either mode,
    because it is a ThrottlingException in either.

    >>> batch_write_error([Reason("TableWriteKeyRangeThroughputExceeded", "arn")]).code
    'ThrottlingException'
    """
    unique = tuple(dict.fromkeys(reasons))
    provisioned = any(reason.parts.limit is ThrottlingLimit.PROVISIONED for reason in unique)
    return throttle_error(unique, on_demand=not provisioned)


def cancellation(reasons: Sequence[Reason], *, on_demand: bool) -> tuple[str, str]:
    """Return code and message of a throttled action's CancellationReason.

    Source: CAP-706.

    >>> cancellation([Reason("TableWriteMaxOnDemandThroughputExceeded", "arn")], on_demand=True)
    ('ThrottlingError',
     'Throughput exceeds the maximum OnDemandThroughput configured on table or index')
    """
    code = THROTTLED_ACTION if on_demand else ThrottlingLimit.PROVISIONED.suffix
    return code, _sentence(reasons, on_demand=on_demand)


def _sentence(reasons: Sequence[Reason], *, on_demand: bool) -> str:
    deciding = _deciding(reasons)
    return (deciding.limit.sentences if on_demand else PROVISIONED_SENTENCES)[deciding.is_index]


def _deciding(reasons: Iterable[Reason]) -> ReasonParts:
    """Return the reason that words a refusal: the first, unless another outranks it."""
    named = [reason.parts for reason in reasons]
    outranking = (parts for parts in named if parts.limit.error is not ThrottlingException)
    return next(outranking, named[0])
