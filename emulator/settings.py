"""What a user may adjust: every constant that the service does not publish.

Each field names the rule it belongs to. ``docs/reference/fidelity.md`` lists them with the
reason for the default.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from emulator.service import limits
from emulator.service.catalogue import MessageProfile

_CHOICES = {
    "messages": get_args(MessageProfile),
    "update_size_rule": ("request", "item"),
    "index_key_check": ("changed", "all"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The adjustable constants of one emulator; durations are seconds.

    >>> Settings(gsi_lag=0.1).gsi_lag
    0.1
    >>> Settings(messages="modern")
    Traceback (most recent call last):
    ValueError: Settings.messages must be one of '2026-10', 'classic', not 'modern'
    """

    #: Which request layer words the errors. Rules PRO-1 to PRO-7.
    messages: MessageProfile = "2026-10"

    #: How long CREATING, UPDATING and DELETING last. Rules CT-15, UT-10.
    table_delay: float = 0.0
    #: How long an index added by UpdateTable stays CREATING after the table is ACTIVE again.
    index_delay: float = 0.0
    #: Backfill writes draw on the new index's capacity. Rule CAP-1106.
    simulate_backfill: bool = False
    #: Standalone UpdateItem: "request" adds the statement's cost (us-east-1), "item" does not.
    update_size_rule: Literal["request", "item"] = "request"
    #: UpdateItem checks the index keys it changes, or all of them. Rule IXV-4.
    index_key_check: Literal["changed", "all"] = "changed"
    #: How long a transaction keeps its items to itself. Rule TXW-6, TransactionConflict.
    transaction_seconds: float = 0.0
    #: Refuse a second TTL change within this time. Rule TTL-3.
    ttl_change_interval: float = 0.0

    #: A Scan pays the minimum for every partition it touches. Rule CAP-212.
    scan_partition_minimum: bool = True
    #: BatchGetItem also stops at 1 MB per partition. Rule CAP-213.
    batch_get_partition_limit: bool = False
    #: A partition splits at this size. Rule CAP-504.
    partition_bytes: int = limits.PARTITION_BYTES
    #: An item collection of a table with LSIs may not outgrow this. Rule CAP-111.
    item_collection_bytes: int = limits.COLLECTION_BYTES

    #: Share of a partition's throughput that counts as hot. Rule CAP-505.
    heat_threshold: float = 0.8
    #: Consecutive hot minutes before a split is scheduled. Rule CAP-505.
    heat_minutes: int = 5
    #: How long a scheduled split takes. Rule CAP-505.
    split_seconds: float = 300.0
    #: One item with this share of the traffic prevents a split. Rule CAP-506.
    single_item_share: float = 0.9
    #: This share of ascending (or descending) sort keys prevents a split. Rule CAP-506.
    sequential_share: float = 0.9

    #: On-demand units per second of a table with its GSIs, per axis. Rule CAP-615.
    table_quota: int = limits.TABLE_QUOTA_UNITS
    #: Provisioned units per second of an account, per axis. Rule CAP-615.
    account_quota: int = limits.ACCOUNT_QUOTA_UNITS

    #: A GSI shows the table as it was this long ago. Rule CAP-1104.
    gsi_lag: float = 0.0
    #: An eventually consistent read shows the table as it was this long ago. Rule CAP-1105.
    ec_lag: float = 0.0
    #: An expired item is removed this long after its time. Rule CAP-1101.
    ttl_delay: float = 0.0

    #: Time from the alarm to the new capacity. Rule CAP-904.
    autoscaling_delay: float = 120.0
    #: The scale-in alarm lies this far under the target. Rule CAP-904.
    low_alarm_offset: float = 0.20

    #: Costs deduct the free tier. Rule CAP-1002.
    free_tier: bool = False
    #: Hours of a month in cost figures. Rule CAP-1007.
    hours_per_month: int = 730
    #: Bytes of a gigabyte in cost figures. Rule CAP-1007.
    bytes_per_gb: int = limits.GIB

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            choices = _CHOICES.get(field.name)
            if choices is not None:
                if value not in choices:
                    listed = ", ".join(repr(choice) for choice in choices)
                    raise ValueError(
                        f"Settings.{field.name} must be one of {listed}, not {value!r}"
                    )
            elif isinstance(field.default, bool):
                if not isinstance(value, bool):
                    raise TypeError(f"Settings.{field.name} must be True or False, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"Settings.{field.name} must be a number, not {value!r}")
            elif value < 0:
                raise ValueError(f"Settings.{field.name} must not be negative, not {value!r}")
