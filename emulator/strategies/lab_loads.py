"""Loads: what an application asks of a design, and key schemes for it, for the lab to play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy

from emulator.strategies.values import checked_when_drawn

if TYPE_CHECKING:
    from emulator.lab import Design, Field, Workload

#: The scale of rates, sizes and durations: round numbers shrink to round numbers.
_SCALE: Final = (1, 2, 5)
_SHORTEST: Final = 10
_SMALLEST: Final = 100
_SUFFIXES: Final = (2, 5, 10)
_TIMES: Final = ("day", "hour", "minute")


@checked_when_drawn
def loads(
    fields: Sequence[Field],
    *,
    operations: Sequence[str] = ("PutItem", "GetItem"),
    max_rate: float = 5_000,
    max_item_size: int = 1_024,
    max_seconds: int = 120,
) -> SearchStrategy[Workload]:
    """Strategy for workloads of the lab over some fields.

    Smaller is, in this order: fewer patterns, even keys, smaller items, lower and rounder rates,
    shorter.

    Args:
        fields: The fields that identify things; their values are drawn evenly or unevenly.
        operations: The operations that patterns are of.
        max_rate: Requests a second of all patterns together, at most, in every second.
        max_item_size: Bytes of an item, at most.
        max_seconds: Seconds of a run, at most.

    >>> from emulator.lab import Field
    >>> loads([Field("device", count=100)], max_rate=900)
    deferred(...)
    """
    if not fields or not operations:
        raise InvalidArgument("loads() needs at least one field and one operation")
    if max_rate < 1 or max_item_size < 1 or max_seconds < 1:
        raise InvalidArgument("max_rate, max_item_size and max_seconds are 1 or more")
    return _loads(
        tuple(fields), tuple(operations), float(max_rate), int(max_item_size), int(max_seconds)
    )


@st.composite
def _loads(
    draw: DrawFn,
    fields: tuple[Field, ...],
    operations: tuple[str, ...],
    max_rate: float,
    max_item_size: int,
    max_seconds: int,
) -> Workload:
    from emulator.lab import Pattern, Workload

    # In the order in which failing examples are made smaller: see the docstring.
    wanted = draw(
        st.lists(st.sampled_from(operations), min_size=1, max_size=len(operations), unique=True)
    )
    skews = {field.name: draw(_skews()) for field in fields if field.unique is None}
    size = draw(st.sampled_from(_round_numbers(min(_SMALLEST, max_item_size), max_item_size)))
    left, patterns = max_rate, []
    for number, operation in enumerate(wanted):
        share = left if number == len(wanted) - 1 else left / 2
        rate = draw(_rates(max(1.0, share)))
        left = max(1.0, left - share)
        patterns.append(
            Pattern(
                f"{operation} {number + 1}",
                operation,
                rate=rate,
                size=size,
                by=_known(fields, operation),
                distributions=skews,
            )
        )
    seconds = draw(st.sampled_from(_round_numbers(min(_SHORTEST, max_seconds), max_seconds)))
    return Workload(fields=fields, patterns=patterns, duration=seconds, warm_up=0)


def _known(fields: Sequence[Field], operation: str) -> tuple[str, ...]:
    """Return the fields that a caller knows: all for one item, the first for several."""
    if operation in ("Query", "Scan"):
        return tuple(field.name for field in fields[: 1 if operation == "Query" else 0])
    return () if operation == "PutItem" else tuple(field.name for field in fields)


def _skews() -> SearchStrategy[Any]:
    """Strategy for how often each value is used, even ones first."""
    from emulator.lab import Hotspot, Uniform, Zipf

    return st.sampled_from(
        [Uniform(), Hotspot(keys=0.2, traffic=0.8), Zipf(1.0), Hotspot(keys=0.001, traffic=0.5)]
    )


def _rates(most: float) -> SearchStrategy[Any]:
    """Strategy for rates that never come to more than the most: constant ones first."""
    from emulator.lab import Constant, Ramp, Spikes

    rates = st.sampled_from(_round_numbers(1, int(most)))
    return st.one_of(
        rates.map(lambda rate: Constant(float(rate))),
        rates.map(lambda rate: Ramp(start=1.0, end=float(rate), over=60.0)),
        rates.map(lambda rate: Spikes(base=1.0, peak=float(rate), every=60.0, lasting=10.0)),
    )


def _round_numbers(least: int, most: int) -> list[int]:
    """Return the numbers 1, 2, 5, 10 and so on between two, and both.

    >>> _round_numbers(100, 1_024)
    [100, 200, 500, 1000, 1024]
    """
    found = {least, most}
    scale = 1
    while scale <= most:
        found.update(own * scale for own in _SCALE if least <= own * scale <= most)
        scale *= 10
    return sorted(found)


@checked_when_drawn
def key_schemes(fields: Sequence[Field]) -> SearchStrategy[Design]:
    """Strategy for designs of the lab with one table, keyed by some fields.

    Smaller is: fewer parts of keys, no suffix, no time, on demand.

    Args:
        fields: The fields that keys are made of.

    >>> from emulator.lab import Field
    >>> key_schemes([Field("device", count=100)])
    deferred(...)
    """
    if not fields:
        raise InvalidArgument("key_schemes() needs at least one field")
    return _key_schemes(tuple(fields))


@st.composite
def _key_schemes(draw: DrawFn, fields: tuple[Field, ...]) -> Design:
    from emulator.lab import Capacity, Design

    names = [field.name for field in fields]
    of_partition = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    parts = [f"{{{name}}}" for name in of_partition]
    suffixes = draw(st.none() | st.sampled_from(_SUFFIXES))
    if suffixes is not None:
        parts.append(f"{{random({suffixes})}}")
    time = draw(st.none() | st.sampled_from(_TIMES))
    if time is not None:
        parts.append(f"{{timestamp:{time}}}")
    others = [f"{{{name}}}" for name in names if name not in of_partition]
    sort = "#".join([*others, "{timestamp}"]) if draw(st.booleans()) else "#".join(others) or None
    units = draw(st.none() | st.sampled_from(_round_numbers(10, 10_000)))
    capacity = Capacity() if units is None else Capacity(read=units, write=units)
    return Design("scheme", partition="#".join(parts), sort=sort, capacity=capacity)
