"""Advice: what to change about code that throttles, or that consumes more than it may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emulator.capacity import Reason
from emulator.capacity.units import write_units
from emulator.service.throttling import AXES, SPREAD, WARM, ThrottlingLimit, cures_of

if TYPE_CHECKING:
    from emulator.observe.concentration import KeyLoad
    from emulator.observe.ledger import Ledger

#: From this part of a resource's units on, a partition key is hot by itself.
HOT_SHARE: Final = 0.5

_HOT_KEY: Final = "key {key} takes {share} of the {axis} units of {name}: {cure}"
_NO_HOT_KEY: Final = "no single key of {name} is hot: {cure}"
_INDEX_SHARE: Final = (
    "{units:g} of {total:g} write units go to the index {name}: project less into it, or "
    "leave its key out of items that are never looked up there"
)
_LARGE_ITEMS: Final = (
    "{operation} {name} at {where} writes {size:,.0f} bytes at a time, {units:g} units: keep what "
    "seldom changes in an item of its own"
)


def cure_of_limit(reason: Reason, ledger: Ledger) -> str:
    """Return the change that helps most against a limit that a ledger's calls ran into."""
    parts = reason.parts
    name = reason.resource.partition(":table/")[2].replace("/index/", ".") or reason.resource
    if parts.limit is not ThrottlingLimit.KEY_RANGE:
        return cures_of(parts.limit, parts.axis, is_index=parts.is_index, name=name)[0].change
    load = _load_of(reason.resource, parts.axis, ledger)
    if load is None or load.key_share < HOT_SHARE:
        return _NO_HOT_KEY.format(name=name, cure=WARM.change)
    return _HOT_KEY.format(
        key=", ".join(load.hottest_key),
        share=f"{load.key_share * 100:.0f} %",
        axis=parts.axis.lower(),
        name=name,
        cure=SPREAD.change,
    )


def _load_of(resource: str, axis: str, ledger: Ledger) -> KeyLoad | None:
    loads = ledger.concentration.loads
    return next((load for load in loads if (load.resource, load.axis) == (resource, axis)), None)


def cures_of_units(ledger: Ledger) -> Iterator[str]:
    """Yield ways to make a ledger's writes cheaper: less in indexes, smaller items."""
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
