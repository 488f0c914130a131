"""What can throttle a request: one member per limit, with all that is said of it.

A refused request names its reasons as ``<Table|Index><Read|Write><limit>`` (CAP-702). A new limit
is a member of ``ThrottlingLimit``; reasons, messages, metrics, reports and retries follow.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

Axis = Literal["Read", "Write"]
AXES: Final[tuple[Axis, Axis]] = ("Read", "Write")

#: Codes of errors that throttle a request. Source: CAP-702, CAP-703.
THROTTLE_CODES: Final = frozenset(
    ("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded")
)


class ThrottlingLimit(Enum):
    """A limit that a request can run into.

    Attributes:
        suffix: How the reason of a refusal ends.
        metric: What stands between axis and ``ThrottleEvents`` in the metric's name (CAP-802).
        words: What a report calls it.

    >>> ThrottlingLimit.of("TableWriteKeyRangeThroughputExceeded")
    <ThrottlingLimit.KEY_RANGE: 'KeyRangeThroughputExceeded'>
    >>> ThrottlingLimit.KEY_RANGE.reason("Write", is_index=True)
    'IndexWriteKeyRangeThroughputExceeded'
    """

    PROVISIONED = (
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughput",
        "provisioned throughput",
    )
    KEY_RANGE = ("KeyRangeThroughputExceeded", "KeyRangeThroughput", "one partition's throughput")
    MAX_ON_DEMAND = (
        "MaxOnDemandThroughputExceeded",
        "MaxOnDemandThroughput",
        "the on-demand maximum",
    )
    ACCOUNT = ("AccountLimitExceeded", "AccountLimit", "the account's quota")

    suffix: str
    metric: str
    words: str

    def __new__(cls, suffix: str, metric: str, words: str) -> ThrottlingLimit:
        """Make the suffix the value, so that a member is found by it."""
        limit = object.__new__(cls)
        limit._value_ = limit.suffix = suffix
        limit.metric = metric
        limit.words = words
        return limit

    @classmethod
    def of(cls, reason: str) -> ThrottlingLimit:
        """Return the limit that a reason names."""
        return next(limit for limit in cls if reason.endswith(limit.suffix))

    def reason(self, axis: Axis, *, is_index: bool) -> str:
        """Return the reason of a refusal by this limit, as the wire names it."""
        return f"{'Index' if is_index else 'Table'}{axis}{self.suffix}"
