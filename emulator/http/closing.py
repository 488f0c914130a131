"""The last words of a server: the units consumed, the throttles, and the dollars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emulator.service.throttling import parse_reason

if TYPE_CHECKING:
    from emulator.api import Emulator
    from emulator.observe import Spending

NOTHING_COUNTED: Final = "capacity was off: nothing was counted"
_HARDLY: Final = 0.01


def closing_lines(emulator: Emulator) -> Iterator[str]:
    """Yield the last lines of a server; none if it consumed nothing.

    >>> from emulator import Emulator
    >>> list(closing_lines(Emulator()))
    []
    """
    if emulator.capacity == "off":
        if emulator.namespaces():
            yield NOTHING_COUNTED
        return
    spent = [
        (str(view.namespace), spending)
        for view in emulator.namespaces()
        for spending in emulator.within(view.namespace).spending()
        if spending.read_units or spending.write_units or spending.throttles or spending.usd_billed
    ]
    if not spent:
        return
    reads = sum(spending.read_units for _, spending in spent)
    writes = sum(spending.write_units for _, spending in spent)
    usd = sum(spending.usd for _, spending in spent)
    yield f"consumed {reads:,.10g} read and {writes:,.10g} write units: {_dollars(usd)}"
    throttled = [line for place, spending in spent for line in _throttles(place, spending)]
    if not throttled:
        yield "nothing throttled" if emulator.capacity == "enforce" else "nothing would throttle"
        return
    yield "throttled:" if emulator.capacity == "enforce" else "would have throttled:"
    yield from throttled


def _throttles(namespace: str, spending: Spending) -> Iterator[str]:
    name = spending.table if spending.index is None else f"{spending.table}.{spending.index}"
    for reason, times in spending.throttles.items():
        _, axis, limit = parse_reason(reason)
        what = "read" if axis == "Read" else "write"
        plural = "" if times == 1 else "s"
        yield f"  {times:,} {what}{plural} of {name} in {namespace}: {limit.words} ({reason})"


def _dollars(usd: float) -> str:
    """Return an amount; a developer's afternoon costs less than a cent.

    >>> _dollars(0.0000125), _dollars(12.3456)
    ('$0.0000125', '$12.35')
    """
    return f"${usd:.2f}" if usd >= _HARDLY else f"${usd:.10f}".rstrip("0").rstrip(".")
