"""Why a request was throttled: the limit behind an error, what allows it, and what helps.

The causes and cures themselves stand beside the limits, in ``service/throttling``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, assert_never

from emulator.designs import DeclaredTable
from emulator.mcp.answers import Cure, ExplainAnswer
from emulator.service import throttling
from emulator.service.errors import DocumentError
from emulator.service.limits import PARTITION_READ_UNITS, PARTITION_WRITE_UNITS
from emulator.service.throttling import (
    THROTTLE_CODES,
    ReasonParts,
    ThrottlingLimit,
    cause_of,
    cures_of,
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
    name = resource or ("the index" if parts.is_index else "the table")
    return ExplainAnswer(
        reason=reason[0],
        resource=resource,
        axis=parts.axis.lower(),
        limit=limit,
        meaning=_capital(
            cause_of(parts.limit, parts.axis, is_index=parts.is_index, name=name, units=limit)
        ),
        cures=_shown(cures_of(parts.limit, parts.axis, is_index=parts.is_index, name=name)),
    )


def _untold(text: str, resource: str | None) -> ExplainAnswer:
    """Return the answer for an error that names no reason."""
    if not any(code in text for code in THROTTLE_CODES):
        raise DocumentError(NO_THROTTLE.format(codes=", ".join(sorted(THROTTLE_CODES))))
    name = resource or "the table"
    told = (ThrottlingLimit.MAX_ON_DEMAND, ThrottlingLimit.ACCOUNT)
    limit = next((limit for limit in told if limit.sentences[0][:60] in text), None)
    if limit is None:
        meaning = _UNTOLD
        cures = (
            *cures_of(ThrottlingLimit.PROVISIONED, None, is_index=False, name=name)[:1],
            *cures_of(ThrottlingLimit.KEY_RANGE, None, is_index=False, name=name),
        )
    else:
        meaning = _capital(cause_of(limit, None, is_index=False, name=name))
        cures = cures_of(limit, None, is_index=False, name=name)
    return ExplainAnswer(
        reason=None,
        resource=resource,
        axis=None,
        limit=None,
        meaning=meaning,
        cures=_shown(cures),
    )


def _limit(parts: ReasonParts, resource: str | None, declared: list[DeclaredTable]) -> float | None:
    units: float | None
    described = _described(parts, resource, declared)
    match parts.limit:
        case ThrottlingLimit.KEY_RANGE:
            units = PARTITION_READ_UNITS if parts.axis == "Read" else PARTITION_WRITE_UNITS
        case ThrottlingLimit.PROVISIONED:
            units = described.get("ProvisionedThroughput", {}).get(f"{parts.axis}CapacityUnits")
        case ThrottlingLimit.MAX_ON_DEMAND:
            units = described.get("OnDemandThroughput", {}).get(f"Max{parts.axis}RequestUnits")
        case ThrottlingLimit.ACCOUNT:
            units = None
        case _:
            assert_never(parts.limit)
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


def _capital(meaning: str) -> str:
    """Return a sentence with a capital, unless it begins with a name.

    >>> _capital("the table is full."), _capital("orders is full.")
    ('The table is full.', 'orders is full.')
    """
    return f"T{meaning[1:]}" if meaning.startswith("the ") else meaning


def _shown(cures: Iterable[throttling.Cure]) -> list[Cure]:
    return [
        Cure(change=f"{cure.change[0].upper()}{cure.change[1:]}", effect=cure.effect)
        for cure in cures
    ]
