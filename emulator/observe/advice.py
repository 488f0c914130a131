"""Advice: what to change about code that throttles, or that consumes more than it may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emulator.capacity import Reason
from emulator.capacity.units import write_units
from emulator.service.throttling import AXES, ThrottlingLimit

if TYPE_CHECKING:
    from emulator.observe.concentration import KeyLoad
    from emulator.observe.ledger import Ledger

#: From this part of a resource's units on, a partition key is hot by itself.
HOT_SHARE: Final = 0.5

_RAISE: Final = "raise the provisioned {axis} units of {name}, or choose on-demand billing"
_RAISE_INDEX: Final = (
    "raise the provisioned {axis} units of {name} to what its table's writes ask of it, or "
    "project and key it so that fewer writes reach it"
)
_SPREAD: Final = (
    "key {key} takes {share} of the {axis} units of {name}: spread them over more partition "
    "keys, for example with a suffix to the key"
)
_WARM: Final = (
    "no single key of {name} is hot: raise its WarmThroughput before such a load, or let the load "
    "grow slowly"
)
_MAXIMUM: Final = "raise the on-demand maximum (OnDemandThroughput) of {name}"
_QUOTA: Final = "ask for a higher table quota in this region, or spread the load over tables"
_INDEX_SHARE: Final = (
    "{units:g} of {total:g} write units go to the index {name}: project less into it, or "
    "leave its key out of items that are never looked up there"
)
_LARGE_ITEMS: Final = (
    "{operation} {name} at {where} writes {size:,.0f} bytes at a time, {units:g} units: keep what "
    "seldom changes in an item of its own"
)


def cure_of_limit(reason: Reason, ledger: Ledger) -> str:
    """Return what helps against a limit that a ledger's calls ran into."""
    parts = reason.parts
    name = reason.resource.partition(":table/")[2].replace("/index/", ".") or reason.resource
    axis = parts.axis.lower()
    if parts.limit is ThrottlingLimit.PROVISIONED:
        sentence = _RAISE_INDEX if parts.is_index and parts.axis == "Write" else _RAISE
        return sentence.format(axis=axis, name=name)
    if parts.limit is ThrottlingLimit.MAX_ON_DEMAND:
        return _MAXIMUM.format(name=name)
    if parts.limit is ThrottlingLimit.ACCOUNT:
        return _QUOTA
    load = _load_of(reason.resource, parts.axis, ledger)
    if load is None or load.key_share < HOT_SHARE:
        return _WARM.format(name=name)
    share = f"{load.key_share * 100:.0f} %"
    return _SPREAD.format(key=", ".join(load.hottest_key), share=share, axis=axis, name=name)


def _load_of(resource: str, axis: str, ledger: Ledger) -> KeyLoad | None:
    loads = ledger.concentration.loads
    return next((load for load in loads if (load.resource, load.axis) == (resource, axis)), None)


def cures_of_units(ledger: Ledger) -> Iterator[str]:
    """Yield what makes a ledger's writes cheaper: less in indexes, smaller items."""
    yield from cures_of_indexes(ledger, above=0.5)
    for entry in ledger.entries:
        if entry.write_units and entry.items_evaluated:
            size = entry.bytes_evaluated / entry.items_evaluated
            units = write_units(round(size))
            if units > 1:
                yield _LARGE_ITEMS.format(
                    operation=entry.operation,
                    name=entry.resource,
                    where=entry.where,
                    size=size,
                    units=units,
                )


def cures_of_indexes(ledger: Ledger, *, above: float) -> Iterator[str]:
    """Yield the indexes that take more than this share of a ledger's write units."""
    total = ledger.write_units
    for load in ledger.concentration.loads:
        _, is_index, index = load.resource.partition("/index/")
        if is_index and load.axis == AXES[1] and load.units > above * total:
            yield _INDEX_SHARE.format(units=load.units, total=total, name=index)
