"""What can throttle a request: one member per limit, with all that is said of it.

A refused request names its reasons as ``<Table|Index><Read|Write><limit>`` (CAP-702). A new limit
is a member of ``ThrottlingLimit``; reasons, errors, sentences, metrics, reports and retries follow.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, NamedTuple

from emulator.service.errors import (
    ApiError,
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    ThrottlingException,
    TransactionCanceledException,
)

Axis = Literal["Read", "Write"]
AXES: Final[tuple[Axis, Axis]] = ("Read", "Write")

#: Codes of errors that throttle a request. Source: CAP-702, CAP-703.
THROTTLE_CODES: Final = frozenset(
    error.__name__
    for error in (ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded)
)

#: What a throttled action of a transaction says, except on provisioned tables. Source: CAP-706.
THROTTLED_ACTION: Final = "ThrottlingError"

# Sentences come in pairs: of a table, and of a global index. Source: CAP-705.
# Assumed: provisioned tables and indexes report every limit this way, a partition's too.
PROVISIONED_SENTENCES: Final = (
    "The level of configured provisioned throughput for the table was exceeded. Consider "
    "increasing your provisioning level with the UpdateTable API.",
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider increasing your provisioning level for the "
    "under-provisioned global secondary indexes with the UpdateTable API.",
)
_ON_DEMAND: Final = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if "
    "you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "bp-partition-key-design.html",
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB "
    "is automatically scaling your index so please try again shortly.",
)
_MAXIMUM: Final = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
_ACCOUNT: Final = (
    "Throughput exceeds the current throughput limit for your account. Please contact AWS "
    "Support at https://aws.amazon.com/support request a limit increase"
)


class ThrottlingLimit(Enum):
    """A limit that a request can run into.

    Attributes:
        suffix: How the reason of a refusal ends; without ``Exceeded`` it is part of the name of
            a metric (CAP-802).
        words: What a report says of it.
        sentences: What an on-demand table and an index of one say of it.
        error: What they answer with; its code decides who tries again (CAP-707, CAP-708). One
            of its own outranks the limits that share ThrottlingException.

    >>> ThrottlingLimit.KEY_RANGE.reason("Write", is_index=True)
    'IndexWriteKeyRangeThroughputExceeded'
    >>> ThrottlingLimit.KEY_RANGE.metric("Write")
    'WriteKeyRangeThroughputThrottleEvents'
    """

    PROVISIONED = ("ProvisionedThroughputExceeded", "provisioned capacity is used up", _ON_DEMAND)
    KEY_RANGE = ("KeyRangeThroughputExceeded", "one partition is full", _ON_DEMAND)
    MAX_ON_DEMAND = (
        "MaxOnDemandThroughputExceeded",
        "the on-demand maximum is reached",
        (_MAXIMUM, _MAXIMUM),
    )
    ACCOUNT = (
        "AccountLimitExceeded",
        "the account's quota is reached",
        (_ACCOUNT, _ACCOUNT),
        RequestLimitExceeded,
    )

    suffix: str
    words: str
    sentences: tuple[str, str]
    error: type[ApiError]

    def __new__(
        cls,
        suffix: str,
        words: str,
        sentences: tuple[str, str],
        error: type[ApiError] = ThrottlingException,
    ) -> ThrottlingLimit:
        """Make the suffix the value, so that a member is found by it."""
        limit = object.__new__(cls)
        limit._value_ = limit.suffix = suffix
        limit.words, limit.sentences = words, sentences
        limit.error = error
        return limit

    @classmethod
    def of(cls, reason: str) -> ThrottlingLimit:
        """Return the limit that a reason names.

        >>> ThrottlingLimit.of("TableWriteKeyRangeThroughputExceeded")
        <ThrottlingLimit.KEY_RANGE: 'KeyRangeThroughputExceeded'>
        """
        return parse_reason(reason).limit

    def reason(self, axis: Axis, *, is_index: bool) -> str:
        """Return the reason of a refusal by this limit, as the wire names it."""
        return f"{'Index' if is_index else 'Table'}{axis}{self.suffix}"

    def metric(self, axis: Axis) -> str:
        """Return the name of the metric that counts refusals by this limit (CAP-802)."""
        return f"{axis}{self.suffix.removesuffix('Exceeded')}ThrottleEvents"


class ReasonParts(NamedTuple):
    """What a reason names."""

    is_index: bool
    axis: Axis
    limit: ThrottlingLimit


_PARTS: Final = {
    limit.reason(axis, is_index=is_index): ReasonParts(is_index, axis, limit)
    for limit in ThrottlingLimit
    for axis in AXES
    for is_index in (False, True)
}


def parse_reason(reason: str) -> ReasonParts:
    """Return what a reason names; ``KeyError`` for text that is none.

    >>> parse_reason("IndexReadAccountLimitExceeded")[:2]
    (True, 'Read')
    """
    return _PARTS[reason]


def is_throttle(error: ApiError) -> bool:
    """Return whether a request was refused for throughput and for nothing else.

    A transaction is, if that is why its actions were cancelled (CAP-706).

    >>> reasons = [{"Code": "None"}, {"Code": "ThrottlingError"}]
    >>> is_throttle(TransactionCanceledException("", {"CancellationReasons": reasons}))
    True
    """
    if error.code != TransactionCanceledException.__name__:
        return error.code in THROTTLE_CODES
    reasons = error.members.get("CancellationReasons", ())
    codes = {reason["Code"] for reason in reasons} - {"None"}
    return bool(codes) and codes <= {THROTTLED_ACTION, ThrottlingLimit.PROVISIONED.suffix}
