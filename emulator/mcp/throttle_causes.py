"""Why a request was throttled: the limit behind the reason, and what helps against it.

Source: CAP-501 to CAP-508, CAP-601, CAP-702, CAP-705, CAP2-4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from emulator.designs import DeclaredTable
from emulator.mcp.answers import Cure, ExplainAnswer
from emulator.service.errors import DocumentError
from emulator.service.limits import BURST_SECONDS, PARTITION_READ_UNITS, PARTITION_WRITE_UNITS
from emulator.service.throttling import (
    THROTTLE_CODES,
    Axis,
    ReasonParts,
    ThrottlingLimit,
    parse_reason,
)

_REASON: Final = re.compile(
    rf"(?:Table|Index)(?:Read|Write)(?:{'|'.join(limit.suffix for limit in ThrottlingLimit)})"
)
_RESOURCE: Final = re.compile(r"arn:aws[\w-]*:dynamodb:[^\s\"']*:table/([^\s\"',}]+)")

NO_THROTTLE: Final = (
    "this is no throttling error: expected one of {codes}, or a reason such as "
    "TableWriteKeyRangeThroughputExceeded"
)
_UNTOLD: Final = (
    "The error does not say which limit was reached: provisioned capacity or one partition's "
    "throughput. SDKs since 2025 show ThrottlingReasons in the error; CloudWatch tells the two "
    "apart by WriteKeyRangeThroughputThrottleEvents and WriteProvisionedThroughputThrottleEvents."
)
_MEANINGS: Final = {
    ThrottlingLimit.PROVISIONED: (
        "{resource} used more {axis} units in a second than are provisioned{limit}, and the "
        f"reserve of unused capacity, {BURST_SECONDS} seconds at most, was empty."
    ),
    ThrottlingLimit.KEY_RANGE: (
        "One partition of {resource} was asked for more than it carries, {limit_value:,} {axis} "
        "units a second, while others may be idle: a few partition keys get much of the traffic, "
        "or the table is new and has too few partitions for the load."
    ),
    ThrottlingLimit.MAX_ON_DEMAND: (
        "{resource} reached the on-demand maximum that its owner set for {axis} units{limit}."
    ),
    ThrottlingLimit.ACCOUNT: (
        "The account's quota of {axis} units in this region, for one table or for all, is reached."
    ),
}
_INDEX_WRITES: Final = (
    " Writes to the table are refused because its index cannot take them: the index fell behind "
    "until its buffer was full."
)
_SPREAD: Final = Cure(
    change="Spread the hot keys over more partition keys, such as with a calculated suffix",
    effect="the load is divided by the number of suffixes; a read of all asks each of them",
)
_BETTER_KEY: Final = Cure(
    change="Choose a partition key with many values that are used alike, such as an id, and put "
    "time or status into the sort key",
    effect="no single partition gets most of the traffic",
)
_WARM: Final = Cure(
    change="Set WarmThroughput before a load that is known to come",
    effect="the partitions are there at once; of no use against a single hot key",
)
_CACHE: Final = Cure(
    change="Cache the hot items, or read them eventually consistent",
    effect="fewer read units fall on their partition; eventual reads cost half",
)
_RETRY: Final = Cure(
    change="Retry with exponential backoff and jitter",
    effect="bridges seconds, not a lasting overload",
)
_PROVISION: Final = Cure(
    change="Provision more {axis} units, or scale them automatically with a target of 70 %",
    effect="auto scaling takes minutes, so it does not help against short spikes",
)
_ON_DEMAND: Final = Cure(
    change="Choose on-demand billing (PAY_PER_REQUEST)",
    effect="no provisioned limit; what one partition carries stays the same",
)
_LEAN_INDEX: Final = Cure(
    change="Give the index as many write units as its table, or let fewer writes reach it: a "
    "sparse key, a narrower projection",
    effect="the index keeps up, so the table's writes pass",
)
_CURES: Final[Mapping[ThrottlingLimit, tuple[Cure, ...]]] = {
    ThrottlingLimit.PROVISIONED: (_PROVISION, _ON_DEMAND, _RETRY),
    ThrottlingLimit.KEY_RANGE: (_SPREAD, _BETTER_KEY, _WARM, _RETRY),
    ThrottlingLimit.MAX_ON_DEMAND: (
        Cure(
            change="Raise or remove OnDemandThroughput.Max{Axis}RequestUnits",
            effect="the limit was set to bound costs; a higher one costs more",
        ),
        _RETRY,
    ),
    ThrottlingLimit.ACCOUNT: (
        Cure(change="Ask for a higher quota (Service Quotas)", effect="it is granted per region"),
        Cure(change="Divide the load among tables or regions", effect="each has a quota"),
        _RETRY,
    ),
}


def explain(
    error: Mapping[str, Any] | str, table: str | None, declared: list[DeclaredTable]
) -> ExplainAnswer:
    """Return why a request was throttled and what helps.

    Args:
        error: The error as an object or as text, with whatever the SDK showed of it.
        table: The table's name, if the error does not say it.
        declared: The tables of the design, for their limits.

    Raises:
        DocumentError: The error is no throttling error.
    """
    text = error if isinstance(error, str) else json.dumps(error)
    match = _RESOURCE.search(text)
    resource = match[1].replace("/index/", ".") if match else table
    reason = _REASON.search(text)
    if reason is None:
        return _untold(text, resource)
    parts = parse_reason(reason[0])
    limit = _limit(parts, resource, declared)
    return ExplainAnswer(
        reason=reason[0],
        resource=resource,
        axis=parts.axis.lower(),
        limit=limit,
        meaning=_meaning(parts, resource, limit),
        cures=_cures(parts),
    )


def _untold(text: str, resource: str | None) -> ExplainAnswer:
    """Return the answer for an error that names no reason."""
    if not any(code in text for code in THROTTLE_CODES):
        raise DocumentError(NO_THROTTLE.format(codes=", ".join(sorted(THROTTLE_CODES))))
    for limit in (ThrottlingLimit.MAX_ON_DEMAND, ThrottlingLimit.ACCOUNT):
        if limit.sentences[0][:60] in text:
            meaning = _capital(
                _MEANINGS[limit].format(
                    resource=resource or "the table", axis="read or write", limit=""
                )
            )
            cures = [_worded(cure, "Read") for cure in _CURES[limit]]
            return ExplainAnswer(
                reason=None, resource=resource, axis=None, limit=None, meaning=meaning, cures=cures
            )
    cures = [_worded(_PROVISION, None), _SPREAD, _BETTER_KEY, _RETRY]
    return ExplainAnswer(
        reason=None, resource=resource, axis=None, limit=None, meaning=_UNTOLD, cures=cures
    )


def _limit(parts: ReasonParts, resource: str | None, declared: list[DeclaredTable]) -> float | None:
    if parts.limit is ThrottlingLimit.KEY_RANGE:
        return PARTITION_READ_UNITS if parts.axis == "Read" else PARTITION_WRITE_UNITS
    described = _described(parts, resource, declared)
    if parts.limit is ThrottlingLimit.PROVISIONED:
        units = described.get("ProvisionedThroughput", {}).get(f"{parts.axis}CapacityUnits")
    elif parts.limit is ThrottlingLimit.MAX_ON_DEMAND:
        units = described.get("OnDemandThroughput", {}).get(f"Max{parts.axis}RequestUnits")
    else:
        units = None
    return None if units is None else float(units)


def _described(
    parts: ReasonParts, resource: str | None, declared: list[DeclaredTable]
) -> Mapping[str, Any]:
    """Return the table or index that a reason is about, as CreateTable has it; else nothing."""
    name, _, index = (resource or "").partition(".")
    requests = [table.request for table in declared]
    mine = [request for request in requests if request.get("TableName") == name] or requests
    if len(mine) != 1:
        return {}
    if not parts.is_index:
        return mine[0]
    indexes = mine[0].get("GlobalSecondaryIndexes", [])
    named = [
        definition for definition in indexes if definition.get("IndexName") == index
    ] or indexes
    return named[0] if len(named) == 1 else {}


def _meaning(parts: ReasonParts, resource: str | None, limit: float | None) -> str:
    kind = "the index" if parts.is_index else "the table"
    meaning = _MEANINGS[parts.limit].format(
        resource=resource or kind,
        axis=parts.axis.lower(),
        limit="" if limit is None else f" ({limit:g})",
        limit_value=0 if limit is None else int(limit),
    )
    return _capital(meaning) + (_INDEX_WRITES if parts.is_index and parts.axis == "Write" else "")


def _capital(meaning: str) -> str:
    """Return a sentence with a capital, unless it begins with a name.

    >>> _capital("the table is full."), _capital("orders is full.")
    ('The table is full.', 'orders is full.')
    """
    return f"T{meaning[1:]}" if meaning.startswith("the ") else meaning


def _cures(parts: ReasonParts) -> list[Cure]:
    cures = [_worded(cure, parts.axis) for cure in _CURES[parts.limit]]
    if parts.limit is ThrottlingLimit.KEY_RANGE and parts.axis == "Read":
        cures.insert(0, _CACHE)
    if parts.is_index and parts.axis == "Write":
        cures.insert(0 if parts.limit is ThrottlingLimit.PROVISIONED else 1, _LEAN_INDEX)
    return cures


def _worded(cure: Cure, axis: Axis | None) -> Cure:
    words = axis or "Read"
    lower = words.lower() if axis else "read or write"
    return Cure(change=cure.change.format(axis=lower, Axis=words), effect=cure.effect)
