"""Fault rules: which requests an injected fault hits, how often, and what they are answered.

Loaded with the first rule: most emulators are never given one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from emulator.capacity import Reason, cancellation, throttle_error
from emulator.clock import NANOSECONDS
from emulator.engine.faults import actions_of, tables_of
from emulator.engine.holds import CONFLICT
from emulator.engine.replicas import CONFLICT as REGION_CONFLICT
from emulator.engine.transactions import Failure, cancelled
from emulator.service.catalogue import ON_ITEMS, OPERATIONS, Kind, names_of
from emulator.service.errors import (
    ApiError,
    InternalServerError,
    ReplicatedWriteConflictException,
    TransactionConflictException,
)
from emulator.service.throttling import AXES, Axis, ThrottlingLimit

if TYPE_CHECKING:
    from emulator.engine.account import Account
    from emulator.engine.namespaces import Namespace

FaultKind = Literal[
    "throttle",
    "internal_error",
    "latency",
    "unprocessed",
    "conflict",
    "replication_conflict",
    "outage",
]
_KINDS: Final = get_args(FaultKind)
#: Kinds that hit operations on items only.
_OF_ITEMS: Final = ("throttle", "conflict", "replication_conflict")
#: The longest delay: a server that sleeps for real answers no other request meanwhile.
MOST_LATENCY_SECONDS: Final = 3600
_NUMBERS: Final = ("share", "times", "after", "until", "latency", "seed")
_OPTIONAL: Final = ("times", "after", "until")
#: Source: the service model: what may answer ReplicatedWriteConflictException (GTB-7).
REPLICATED_WRITES: Final = frozenset(("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"))
_INTERNAL: Final = (
    "The request processing has failed because of an unknown error, exception or failure."
)
_WRITES: Final = names_of(Kind.WRITE, Kind.STATEMENT)


@dataclass(slots=True, kw_only=True)
class FaultRule:
    """A fault to inject, into which requests, how often.

    Args:
        kind: ``throttle``, ``internal_error``, ``latency``, ``unprocessed``, ``conflict``,
            ``replication_conflict`` or ``outage``; in an outage a region refuses every request,
            and nothing is replicated from or to it.
        operations: Operation names it hits, such as ``PutItem``; all when empty, or for
            ``throttle`` and ``conflict`` all on items, for ``replication_conflict`` those that the
            service refuses for it.
        tables: Table names it hits; all when empty.
        key: Attribute values (wire form) that the request's key or item must carry.
        share: Share of the matching requests that it hits; for ``unprocessed`` the share of
            a batch's items that stay undone.
        times: Most requests it hits, or None.
        after: Seconds since the epoch from which it is in force, or None.
        until: Seconds since the epoch at which it ends, or None.
        latency: Seconds that a ``latency`` fault adds on the clock, at most an hour.
        seed: Seeds the choice among matching requests.
        namespace: Only requests of this namespace, as ``local/us-east-1`` or ``local``; or None.
        regions: Only requests in these regions; all when empty. An outage needs some.

    >>> FaultRule(kind="throttle", share=2)
    Traceback (most recent call last):
    ValueError: a fault's share lies between 0 and 1, not 2
    """

    kind: FaultKind
    operations: str | tuple[str, ...] = ()
    tables: str | tuple[str, ...] = ()
    key: Mapping[str, Any] | None = None
    share: float = 1.0
    times: int | None = None
    after: float | None = None
    until: float | None = None
    latency: float = 0.0
    seed: int = 0
    namespace: str | None = None
    regions: str | tuple[str, ...] = ()
    hits: int = field(default=0, init=False)
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"a fault's kind is one of {', '.join(_KINDS)}, not {self.kind!r}")
        for name in _NUMBERS:
            _judge_number(name, getattr(self, name))
        if not 0 <= self.share <= 1:
            raise ValueError(f"a fault's share lies between 0 and 1, not {self.share!r}")
        if not 0 <= self.latency <= MOST_LATENCY_SECONDS:
            raise ValueError(
                f"a fault's latency lies between 0 and {MOST_LATENCY_SECONDS} seconds, "
                f"not {self.latency!r}"
            )
        self.operations = _names("operations", self.operations)
        for operation in self.operations:
            if operation not in OPERATIONS:
                raise ValueError(f"a fault's operations are such as PutItem, not {operation!r}")
        self.tables = _names("tables", self.tables)
        self.regions = _names("regions", self.regions)
        if self.kind == "outage":
            self._judge_outage()
        _judge_key(self.key)
        self._random = random.Random(self.seed)

    def _judge_outage(self) -> None:
        """Refuse what an outage, which spares no request of its regions, cannot be narrowed to."""
        if not self.regions:
            raise ValueError("an outage needs regions, such as regions='us-east-1'")
        narrowing = (self.operations, self.tables, self.key, self.times, self.namespace)
        if any(narrowing) or self.share != 1:
            raise ValueError("an outage takes regions, after and until, and nothing else")

    def ends_ns(self, region: str, time_ns: int) -> float | None:
        """Return when the outage of a region that is under way at a moment ends, or None."""
        if self.kind != "outage" or region not in self.regions:
            return None
        start_ns = 0 if self.after is None else round(self.after * NANOSECONDS)
        end_ns = math.inf if self.until is None else round(self.until * NANOSECONDS)
        return end_ns if start_ns <= time_ns < end_ns else None

    def hit(
        self, operation: str, request: Mapping[str, Any], now: float, namespace: Namespace
    ) -> bool:
        """Return whether this request is hit, and count it."""
        if self.namespace is not None and not namespace.is_called(self.namespace):
            return False
        if self.regions and namespace.region not in self.regions:
            return False
        if not self._matches(operation, request, now):
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        if self.kind != "unprocessed" and self._random.random() >= self.share:
            return False
        self.hits += 1
        return True

    def _matches(self, operation: str, request: Mapping[str, Any], now: float) -> bool:
        if operation not in self.operations and (self.operations or not self._may_hit(operation)):
            return False
        if self.after is not None and now < self.after:
            return False
        if self.until is not None and now >= self.until:
            return False
        if self.tables and not any(table in self.tables for table in tables_of(request)):
            return False
        return self.key is None or _carries(request, self.key)

    def _may_hit(self, operation: str) -> bool:
        if self.kind == "replication_conflict":
            return operation in REPLICATED_WRITES
        return operation in ON_ITEMS or self.kind not in _OF_ITEMS

    def undone(self, count: int) -> set[int]:
        """Return which of ``count`` batch items stay undone."""
        return {number for number in range(count) if self._random.random() < self.share}

    def error(self, account: Account, operation: str, request: Mapping[str, Any]) -> ApiError:
        """Return the error for a request that it hits, of a kind that refuses."""
        if self.kind in ("internal_error", "outage"):
            return InternalServerError(_INTERNAL)
        if self.kind == "replication_conflict":
            return ReplicatedWriteConflictException(REGION_CONFLICT)
        if self.kind == "conflict":
            return _conflict(operation, request)
        return _throttle(account, operation, request)


def _judge_number(name: str, value: object) -> None:
    if value is None and name in _OPTIONAL:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a fault's {name} is a number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a fault's {name} is a number, not {value!r}")
    if name == "times" and value < 0:
        raise ValueError(f"a fault's times are at least 0, not {value!r}")


def _names(member: str, names: object) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, list | tuple | set | frozenset):
        raise TypeError(f"a fault's {member} are a name or a list of names, not {names!r}")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a fault's {member} are a name or a list of names, not {names!r}")
    return tuple(names)


def _judge_key(key: object) -> None:
    if key is None:
        return
    if not isinstance(key, Mapping) or not all(
        isinstance(value, Mapping) for value in key.values()
    ):
        raise ValueError(f"a fault's key is in wire form, as {{'pk': {{'S': 'a'}}}}, not {key!r}")


def _carries(request: object, key: Mapping[str, Any]) -> bool:
    """Return whether a request's key or item has these values; one that is neither has none."""
    if not isinstance(request, Mapping):
        return False
    attributes = request.get("Key") or request.get("Item")
    return isinstance(attributes, Mapping) and all(
        attributes.get(name) == value for name, value in key.items()
    )


def _throttle(account: Account, operation: str, request: Mapping[str, Any]) -> ApiError:
    """Return the model's own throttling error for the first table that is named."""
    axis: Axis = "Write" if "Write" in operation or operation in _WRITES else "Read"
    named = (account.find_table(name) for name in tables_of(request))
    table = next((table for table in named if table is not None), None)
    limit, arn = ThrottlingLimit.PROVISIONED, account.arn("table/*")
    on_demand = False
    if table is not None:
        arn, on_demand = table.arn, table.resource.throughput.on_demand
    if table is not None and on_demand:
        own = table.resource.meter.own[AXES.index(axis)]
        limit = ThrottlingLimit.KEY_RANGE if own is None else ThrottlingLimit.MAX_ON_DEMAND
    reasons = [Reason(limit.reason(axis, is_index=False), arn)]
    if OPERATIONS[operation].kind is Kind.TRANSACTION:
        return _cancelled(Failure(*cancellation(reasons, on_demand=on_demand)), request)
    return throttle_error(reasons, on_demand=on_demand)


def _conflict(operation: str, request: Mapping[str, Any]) -> ApiError:
    if operation in ("TransactWriteItems", "TransactGetItems"):
        return _cancelled(Failure("TransactionConflict", CONFLICT), request)
    return TransactionConflictException(CONFLICT)


def _cancelled(failure: Failure, request: Mapping[str, Any]) -> ApiError:
    """Return the cancellation of a transaction whose first action fails."""
    return cancelled([failure, *[None] * (len(actions_of(request)) - 1)])
