"""The limits that can throttle a request: one member each, with all words on it.

A refused request names its reasons as ``<Table|Index><Read|Write><limit>`` (CAP-702). A new limit
is a member of ``ThrottlingLimit``; reasons, errors, sentences, metrics, reports and retries follow.
The causes of a refusal and the cures stand beside it: ``cause_of`` and ``cures_of``.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, NamedTuple, assert_never

from emulator.service.errors import (
    ApiError,
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    ThrottlingException,
    TransactionCanceledException,
)
from emulator.service.limits import BURST_SECONDS

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
        words: Its words in a report.
        sentences: The messages of an on-demand table and of an index of one.
        error: Their error; its code decides which clients try again (CAP-707, CAP-708). One
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
    """The parts of a reason."""

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
    """Return the parts of a reason; ``KeyError`` for text that is none.

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


class Cure(NamedTuple):
    """A change that helps against a limit, as a clause, and its effect."""

    change: str
    effect: str


SPREAD: Final = Cure(
    "spread the hot keys over more partition keys, for example with a suffix to the key",
    "the load is divided by the number of suffixes; a read of all asks each of them",
)
WARM: Final = Cure(
    "raise its WarmThroughput before such a load, or let the load grow slowly",
    "the partitions are there at once; of no use against a single hot key",
)
_BETTER_KEY: Final = Cure(
    "choose a partition key with many values that are used alike, such as an id, and put time or "
    "status into the sort key",
    "no single partition gets most of the traffic",
)
_CACHE: Final = Cure(
    "cache the hot items, or read them eventually consistent",
    "fewer read units fall on their partition; eventual reads cost half",
)
_RETRY: Final = Cure(
    "retry with exponential backoff and jitter", "bridges seconds, not a lasting overload"
)
_INDEX_KEEPS_UP: Final = "the index keeps up, so the table's writes pass"
_FEWER_INDEX_WRITES: Final = "let fewer writes reach {name}: a sparse key, a narrower projection"
_INDEX_WRITES: Final = (
    " Writes to the table are refused because its index cannot take them: the index fell behind "
    "until its buffer was full."
)


def _units_of(axis: Axis | None) -> str:
    return f"{'read or write' if axis is None else axis.lower()} units"


def cause_of(
    limit: ThrottlingLimit,
    axis: Axis | None,
    *,
    is_index: bool,
    name: str,
    units: float | None = None,
) -> str:
    """Return the cause of refusals by a limit, as a sentence or two.

    Source: CAP-501 to CAP-508, CAP-601, CAP-702, CAP-705, CAP2-4.

    Args:
        limit: The limit.
        axis: Which units; None if that is not known.
        is_index: Whether it is a limit of an index.
        name: The table or index.
        units: The units a second that the limit allows, if they are known.

    >>> cause_of(ThrottlingLimit.MAX_ON_DEMAND, "Read", is_index=False, name="orders", units=5)
    'orders reached the on-demand maximum that its owner set for read units (5).'
    """
    kind, allowed = _units_of(axis), "" if units is None else f" ({units:g})"
    match limit:
        case ThrottlingLimit.PROVISIONED:
            cause = (
                f"{name} used more {kind} in a second than are provisioned{allowed}, and the "
                f"reserve of unused capacity, {BURST_SECONDS} seconds at most, was empty."
            )
        case ThrottlingLimit.KEY_RANGE:
            carries = "" if units is None else f", {units:,g} {kind} a second"
            cause = (
                f"One partition of {name} was asked for more than it carries{carries}, while "
                "others may be idle: a few partition keys get much of the traffic, or the table "
                "is new and has too few partitions for the load."
            )
        case ThrottlingLimit.MAX_ON_DEMAND:
            cause = f"{name} reached the on-demand maximum that its owner set for {kind}{allowed}."
        case ThrottlingLimit.ACCOUNT:
            cause = (
                f"The account's quota of {kind} in this region, for one table or for all, is "
                "reached."
            )
        case _:
            assert_never(limit)
    return cause + (_INDEX_WRITES if is_index and axis == "Write" else "")


def cures_of(
    limit: ThrottlingLimit, axis: Axis | None, *, is_index: bool, name: str
) -> tuple[Cure, ...]:
    """Return the changes that help against a limit, the likeliest first.

    The arguments are those of ``cause_of``.

    >>> cures_of(ThrottlingLimit.PROVISIONED, "Write", is_index=False, name="orders")[0].change
    'raise the provisioned write units of orders, or choose on-demand billing'
    """
    is_index_write = is_index and axis == "Write"
    fewer = _FEWER_INDEX_WRITES.format(name=name)
    lean = (Cure(fewer, _INDEX_KEEPS_UP),) if is_index_write else ()
    match limit:
        case ThrottlingLimit.PROVISIONED:
            more = f"raise the provisioned {_units_of(axis)} of {name}"
            enough = f"{more} to what its table's writes ask of it, or {fewer}"
            return (
                *((Cure(enough, _INDEX_KEEPS_UP),) if is_index_write else ()),
                Cure(
                    f"{more}, or choose on-demand billing",
                    "auto scaling takes minutes, so it does not help against short spikes; on "
                    "demand, one partition carries the same",
                ),
                _RETRY,
            )
        case ThrottlingLimit.KEY_RANGE:
            cache = (_CACHE,) if axis == "Read" else ()
            return (*cache, SPREAD, *lean, _BETTER_KEY, WARM, _RETRY)
        case ThrottlingLimit.MAX_ON_DEMAND:
            maximum = Cure(
                f"raise the on-demand maximum (OnDemandThroughput) of {name}, or remove it",
                "the limit was set to bound costs; a higher one costs more",
            )
            return (maximum, *lean, _RETRY)
        case ThrottlingLimit.ACCOUNT:
            quota = Cure(
                "ask for a higher table quota in this region (Service Quotas), or divide the load "
                "among tables or regions",
                "each table in each region has a quota",
            )
            return (quota, *lean, _RETRY)
        case _:
            assert_never(limit)
