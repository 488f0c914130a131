"""Margin: how far a load is from the nearest limit, so that 3,999 of 4,000 reads as what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emulator.lab.analysis.case import Case
from emulator.lab.analysis.offered_load import ROUNDING
from emulator.lab.outcome.result_types import Margin, ResourceResult
from emulator.service.limits import PARTITION_UNITS
from emulator.service.throttling import AXES, ThrottlingLimit, parse_reason

#: A resource whose hottest key asks for less than this part of a partition has even keys.
_EVEN: Final = 0.05


def margin_of(case: Case) -> Margin | None:
    """Return how far a load is from the nearest limit; None if nothing is asked for.

    Of even keys partitions are held against the mean load: the hash alone makes some busier.
    """
    margins = [margin for resource in case.resources for margin in _margins(case, resource)]
    return min(margins, key=lambda margin: margin.percent, default=None)


def has_even_keys(case: Case, resource: ResourceResult, axis: int) -> bool:
    """Return whether no key of a table or index asks for a noticeable part of a partition."""
    asked = case.offered[resource.name].axis(axis)
    return asked * resource.hottest_key_share < _EVEN * PARTITION_UNITS[axis]


def is_short_by_hash(case: Case) -> bool:
    """Return whether calls are refused because even keys are hashed unevenly, and only so."""
    reason = case.reasons[0]
    _, axis, limit = parse_reason(reason)
    if limit is not ThrottlingLimit.KEY_RANGE:
        return False
    return has_even_keys(case, case.refusing_resource(reason), AXES.index(axis))


def _margins(case: Case, resource: ResourceResult) -> Iterator[Margin]:
    for axis in range(len(AXES)):
        asked = case.offered[resource.name].axis(axis)
        if asked <= ROUNDING:
            continue
        share = 1 / min(resource.partitions_per_minute, default=1)
        if not has_even_keys(case, resource, axis):
            share = max(share, resource.hottest_partition_share)
        yield _margin(
            resource, axis, ThrottlingLimit.KEY_RANGE, asked * share / PARTITION_UNITS[axis]
        )
        capacity, word = case.layout.capacities[resource.name], AXES[axis].lower()
        for limit, units in (
            (ThrottlingLimit.PROVISIONED, getattr(capacity, word)),
            (ThrottlingLimit.MAX_ON_DEMAND, getattr(capacity, f"max_{word}")),
            (ThrottlingLimit.ACCOUNT, not capacity.is_provisioned and case.settings.table_quota),
        ):
            if units:
                yield _margin(resource, axis, limit, asked / units)


def _margin(resource: ResourceResult, axis: int, limit: ThrottlingLimit, used: float) -> Margin:
    reason = limit.reason(AXES[axis], is_index=resource.kind == "index")
    return Margin(resource=resource.name, limit=reason, percent=round(100 * (1 - used), 2))
