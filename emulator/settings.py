"""Settings that a user may adjust: every constant that the service does not publish.

Each field names the rule it belongs to. ``docs/reference/fidelity.md`` lists them with the
reason for the default.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

from emulator.service import limits
from emulator.service.catalogue import MessageProfile

#: Seconds: a number is fixed; three numbers are least, mode and most of a delay that is drawn.
Delay: TypeAlias = float | tuple[float, float, float]

_CHOICES = {
    "messages": get_args(MessageProfile),
    "update_size_rule": ("request", "item"),
    "index_key_check": ("changed", "all"),
    "unknown_members": ("warn", "refuse"),
    "partition_throughput": ("independent", "combined"),
    "stream_shards": ("one", "partitions"),
}
#: How many placements of keys there are: the hash has a seed of 32 bits.
SALTS: Final = 2**32
_DELAYS: Final = ("split_delay", "autoscaling_delay")
#: Settings that put a moment off, in seconds.
_SECONDS: Final = (
    *("vector_allocation_delay", "vector_backfill_delay", "vector_search_delay"),
    *("table_delay", "index_delay", "transaction_seconds", "ttl_change_interval", "split_delay"),
    *("split_seconds", "gsi_closed_seconds", "gsi_lag", "ec_lag", "ttl_delay", "autoscaling_delay"),
    *("transfer_seconds", "recovery_lag", "replication_lag", "stream_shard_seconds"),
    "prewarm_doubling_seconds",
)
#: Settings that count something of which there is at least one, and the most of it.
_COUNTS: Final = ("on_demand_partitions", "split_window_minutes")
_MOST_COUNTED: Final = 10_000
#: The longest of them: 100 years; what lies further ahead has no date that can be written.
_MOST_SECONDS: Final = 100 * 366 * 86_400

NOT_A_DELAY: Final = (
    "Settings.{name} is a number of seconds, or three (least, mode, most), not {value!r}"
)
SPLIT_SECONDS: Final = (
    "Settings.split_seconds is deprecated: write split_delay={delay:g}, the time from the start of "
    "the heat to the split"
)
UNKNOWN: Final = "there is no setting {name!r}; there are: {known}"
NOT_A_COUNT: Final = "Settings.{name} is a whole number from 1 to {most:,}, not {value!r}"
NOT_A_STORE: Final = (
    "Settings.s3 is a folder, an S3 client as boto3 makes them, or a function that returns one, "
    "not {value!r}"
)
#: Rule OTH-22.
POLICIES_NOT_ENFORCED: Final = (
    "Settings.enforce_policies is gone since 0.3.0, because no emulator decides about policies as "
    "IAM does: policies are still checked and kept; leave the setting out, and test permissions "
    "with IAM's policy simulator"
)
NOT_A_LINE: Final = "a setting is written as name=value, not {line!r}"


class Unset(float):
    """The default of a setting that a world of the lab draws unless it is given.

    >>> Settings().burst_start, isinstance(Settings(burst_start=0.0).burst_start, Unset)
    (0.0, False)
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The adjustable constants of one emulator; durations are seconds.

    >>> Settings(gsi_lag=0.1).gsi_lag
    0.1
    >>> Settings(messages="modern")
    Traceback (most recent call last):
    ValueError: Settings.messages must be one of '2026-10', 'classic', not 'modern'
    """

    #: Which request layer's wording errors have. Rules PRO-1 to PRO-7.
    messages: MessageProfile = "2026-10"

    #: A member of a request that has no effect here: "warn" says so once, "refuse" refuses the
    #: request. Rule WIR-15.
    unknown_members: Literal["warn", "refuse"] = "warn"

    #: How long CREATING, UPDATING and DELETING last. Rules CT-15, UT-10.
    table_delay: float = 0.0
    #: How long an index added by UpdateTable stays CREATING after the table is ACTIVE again.
    index_delay: float = 0.0
    #: How long UpdateTable allocates a vector index while the table is UPDATING. If not given:
    #: 30 s if ``table_delay`` or ``index_delay`` is set, else 0. Rules VIX-21, VIX-22.
    vector_allocation_delay: float | None = None
    #: How long its backfill takes after that. If not given: 510 s if ``table_delay`` or
    #: ``index_delay`` is set, else 0. Rules VIX-21, VIX-22.
    vector_backfill_delay: float | None = None
    #: How long SearchVectors does not know a vector index that is ACTIVE. Rule VIX-22.
    vector_search_delay: float = 0.0
    #: Backfill writes draw on the new index's capacity. Rule CAP-1106.
    simulate_backfill: bool = False
    #: Standalone UpdateItem: "request" adds the statement's cost (us-east-1), "item" does not.
    update_size_rule: Literal["request", "item"] = "request"
    #: UpdateItem checks the index keys it changes, or all of them. Rule IXV-4.
    index_key_check: Literal["changed", "all"] = "changed"
    #: UpdateItem that only removes creates a missing item, as in DynamoDB Local. Rule UPD-20.
    removal_creates_item: bool = False
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
    #: Partitions of a new on-demand table or global index, and of one that is switched to on
    #: demand, at least; its warm throughput begins with what they serve. Rules CAP-502, CAP-509.
    on_demand_partitions: int = limits.ON_DEMAND_PARTITIONS
    #: How long it takes to double the partitions when pre-warming; the end is noticed at a full
    #: minute. Rule CAP-509.
    prewarm_doubling_seconds: float = 60.0
    #: An item collection of a table with LSIs may not outgrow this. Rule CAP-111.
    item_collection_bytes: int = limits.COLLECTION_BYTES

    #: A stream has one shard, as in DynamoDB Local, or one for each partition of its table, as in
    #: the service: it ends when the partition splits, and two others begin. Rule STM-12.
    stream_shards: Literal["one", "partitions"] = "one"
    #: A shard of a partition ends at this age, and a child follows it; with 0 it ends only with its
    #: partition. Rule STM-12.
    stream_shard_seconds: float = 4 * 3600.0

    #: Every draw of an unknown follows from it: the same seed gives the same run.
    seed: int = 0
    #: The seed of the hash that places partition keys; the service's hash is secret. Rule CAP2-7.
    placement_salt: int = 0
    #: Share of the 300 s burst reserve that a new table or global index has. Rule CAP2-5.
    burst_start: float = Unset(0.0)
    #: An eventually consistent read takes ``units / factor`` from its partition. Rule CAP2-6.
    eventual_read_factor: float = Unset(1.0)

    #: Whether the 3,000 reads and 1,000 writes a second of a partition are there independently of
    #: each other, or "combined": a write then takes what three reads take. Rule CAP2-15.
    partition_throughput: Literal["independent", "combined"] = "independent"

    #: Share of a partition's throughput that counts as hot. Rule CAP2-2.
    heat_threshold: float = 0.8
    #: Consecutive hot minutes after which a split is decided. Rule CAP2-3.
    heat_minutes: int = 2
    #: Time from the start of the heat to the split. Rule CAP2-3.
    split_delay: Delay = (180.0, 513.0, 720.0)
    #: Deprecated: a fixed ``split_delay`` of ``60 * heat_minutes + split_seconds``. Rule CAP2-3.
    split_seconds: float | None = None
    #: Minutes whose traffic decides where a hot partition is cut. Rule CAP-505.
    split_window_minutes: int = 5
    #: One item with this share of the traffic, and less than ``single_item_share``, gets a
    #: partition of its own; ascending sort keys prevent a split only in an item collection with
    #: this share. Rule CAP-506.
    isolation_share: float = 0.5
    #: One item with this share of the traffic prevents a split. Rule CAP-506.
    single_item_share: float = 0.9
    #: This share of ascending (or descending) sort keys prevents a split. Rule CAP-506.
    sequential_share: float = 0.9

    #: Units per second, per axis: on demand, of a table with its GSIs; provisioned, of a table or a
    #: GSI. Also the most that warm throughput may be. Rule CAP-615.
    table_quota: int = limits.TABLE_QUOTA_UNITS
    #: Provisioned units per second of an account, per axis. Rule CAP-615.
    account_quota: int = limits.ACCOUNT_QUOTA_UNITS

    #: A GSI lets base writes pass until it is this many seconds of the table's warm write
    #: throughput behind; 0 refuses at once what its index has no room for. Rule CAP2-4.
    gsi_buffer_seconds: float = Unset(300.0)
    #: How long a GSI whose buffer is full refuses every base write. Rule CAP2-4.
    gsi_closed_seconds: float = 30.0
    #: A GSI shows the table as it was this long ago. Rule CAP-1104.
    gsi_lag: float = 0.0
    #: An eventually consistent read shows the table as it was this long ago. Rule CAP-1105.
    ec_lag: float = 0.0
    #: An expired item is removed this long after its time. Rule CAP-1101.
    ttl_delay: float = Unset(0.0)

    #: A write to a global table arrives in the other regions after this time; if the table is
    #: strongly consistent, the write conflicts with writes there for that long. Rule GTB-1.
    replication_lag: float = 1.0

    #: Time from the alarm to the new capacity. Rule CAP2-8.
    autoscaling_delay: Delay = Unset(120.0)  # noqa: RUF009 - a number, and immutable
    #: The scale-in alarm lies this far under the target. Rule CAP-904.
    low_alarm_offset: float = 0.20

    #: Where the files of exports, imports and bulk puts are: a folder with a folder for each
    #: bucket, an S3 client, or a function that returns one; without it they are refused.
    #: Rule S3X-1.
    s3: Any = None

    #: How long exports and imports are IN_PROGRESS. Rules S3X-4, S3X-20.
    transfer_seconds: float = 0.0
    #: The latest moment to which a table can be restored is this long ago. Rule S3X-30.
    recovery_lag: float = 300.0
    #: How much a table keeps for restores to earlier moments: a change counts 2 KiB plus the item
    #: it replaced. When changes are dropped, the earliest moment moves forward. Rule S3X-30.
    recovery_log_bytes: int = 64 * 2**20

    #: Costs deduct the free tier. Rule CAP-1002.
    free_tier: bool = False
    #: Hours of a month in cost figures. Rule CAP-1007.
    hours_per_month: int = 730
    #: Bytes of a gigabyte in cost figures. Rule CAP-1007.
    bytes_per_gb: int = limits.GIB

    #: Gone since 0.3.0: True is refused with a reason. Rule OTH-22.
    enforce_policies: InitVar[bool] = False

    def __post_init__(self, enforce_policies: bool) -> None:
        if enforce_policies:
            raise ValueError(POLICIES_NOT_ENFORCED)
        for name in _DELAYS:
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        _check_store(self.s3)
        for field in fields(self):
            if field.name == "s3":
                continue
            _check(field.name, field.default, getattr(self, field.name))
        if self.eventual_read_factor <= 0:
            raise ValueError("Settings.eventual_read_factor must be above 0")
        if self.burst_start > 1:
            raise ValueError(f"Settings.burst_start is a share up to 1, not {self.burst_start!r}")
        if self.placement_salt >= SALTS:
            raise ValueError(f"Settings.placement_salt is below {SALTS}")
        if self.split_seconds is not None:
            delay = 60 * self.heat_minutes + self.split_seconds
            warnings.warn(SPLIT_SECONDS.format(delay=delay), DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "split_delay", delay)
            object.__setattr__(self, "split_seconds", None)


def _check(name: str, default: object, value: object) -> None:
    """Refuse a value that a setting cannot have."""
    choices = _CHOICES.get(name)
    if choices is not None:
        if value not in choices:
            listed = ", ".join(repr(choice) for choice in choices)
            raise ValueError(f"Settings.{name} must be one of {listed}, not {value!r}")
    elif isinstance(default, bool):
        if not isinstance(value, bool):
            raise TypeError(f"Settings.{name} must be True or False, not {value!r}")
    elif name in _DELAYS and isinstance(value, tuple):
        _check_range(name, value)
    elif value is None and default is None:
        return
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"Settings.{name} must be a number, not {value!r}")
    else:
        _check_number(name, value)


def _check_number(name: str, value: float) -> None:
    if not value >= 0:
        raise ValueError(f"Settings.{name} must be at least 0, not {value!r}")
    if name in _COUNTS and not (isinstance(value, int) and 1 <= value <= _MOST_COUNTED):
        raise ValueError(NOT_A_COUNT.format(name=name, most=_MOST_COUNTED, value=value))
    if name in _SECONDS and value > _MOST_SECONDS:
        raise ValueError(f"Settings.{name} is at most 100 years, in seconds, not {value!r}")


def _check_store(value: object) -> None:
    is_client = callable(value) or hasattr(value, "list_objects_v2")
    if value is not None and not is_client and not isinstance(value, str | os.PathLike):
        raise TypeError(NOT_A_STORE.format(value=value))


def _check_range(name: str, value: tuple[Any, ...]) -> None:
    numbers = all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in value
    )
    bounds = (0, *value, _MOST_SECONDS)
    if not numbers or len(value) != 3 or any(not low <= high for low, high in pairwise(bounds)):
        raise ValueError(NOT_A_DELAY.format(name=name, value=value))


def setting_values(lines: Iterable[str]) -> dict[str, Any]:
    """Return settings by name from lines of ``name=value``, as command lines and ini files write.

    A delay may be three numbers with commas between them.

    Raises:
        ValueError: a line is none, or its name is no setting's.

    >>> setting_values(["split_delay=180,513,720", "seed = 7", "free_tier=true"])
    {'split_delay': (180.0, 513.0, 720.0), 'seed': 7, 'free_tier': True}
    """
    defaults = {field.name: field.default for field in fields(Settings)}
    values: dict[str, Any] = {}
    for line in lines:
        name, equals, text = (piece.strip() for piece in line.partition("="))
        if not equals:
            raise ValueError(NOT_A_LINE.format(line=line))
        if name == "enforce_policies":
            raise ValueError(POLICIES_NOT_ENFORCED)
        if name not in defaults:
            raise ValueError(UNKNOWN.format(name=name, known=", ".join(defaults)))
        values[name] = _value(name, defaults[name], text)
    return values


def _value(name: str, default: object, text: str) -> Any:
    """Return a value of a setting's kind; text that is none is left to ``Settings`` to refuse."""
    if name in _CHOICES:
        return text
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        if name in _DELAYS and "," in text:
            return tuple(float(number) for number in text.strip("[]()").split(","))
        return int(text) if isinstance(default, int) else float(text)
    except ValueError:
        return text


#: Those of an emulator that is given none: made and checked once.
DEFAULT_SETTINGS: Final = Settings()
