"""How the reports say numbers: one home for percent, money, time and size.

A reader compares figures down a column, so every function keeps three significant digits or so,
never says zero of something that happened, and puts a no-break space before its unit.
"""

from __future__ import annotations

from typing import Final

from emulator.designs.findings import sentence as sentence
from emulator.service.throttling import parse_reason

SPACE: Final = "\u202f"
NONE: Final = "\u2013"
TIMES: Final = "\u00d7"
#: Shares are sums of many; their last digits say nothing.
_ROUNDING: Final = 1e-12
_THOUSANDS: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_BYTES: Final = ((1024**4, "TB"), (1024**3, "GB"), (1024**2, "MB"), (1024.0, "KB"))


def significant(value: float, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits, and commas.

    >>> significant(1234.5), significant(0.01234), significant(12.0), significant(0)
    ('1,234', '0.0123', '12', '0')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{rounded:.10f}".rstrip("0").rstrip(".")


def count(value: float) -> str:
    """Return how many, shortened from ten thousand on.

    >>> count(9_999), count(3_600_000_000).replace(SPACE, " ")
    ('9,999', '3.6 B')
    """
    if abs(value) < 10_000:
        return significant(value)
    for size, suffix in _THOUSANDS:
        if abs(value) >= size * 0.9995:
            return f"{significant(value / size)}{SPACE}{suffix}"
    raise AssertionError(value)


def counted(value: float, noun: str) -> str:
    """Return how many of something.

    >>> counted(1, "split"), counted(3, "split")
    ('1 split', '3 splits')
    """
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share as percent; never 0 or 100 unless it is.

    >>> [percent(share).replace(SPACE, " ") for share in (0, 1, 0.5, 0.0123, 0.99951)]
    ['0 %', '100 %', '50 %', '1.23 %', '99.95 %']
    >>> [percent(share).replace(SPACE, " ") for share in (0.000123, 0.000001, 0.99999)]
    ['0.012 %', '<0.001 %', '>99.99 %']
    >>> percent(0.9999 + 1e-16).replace(SPACE, " "), percent(1.349).replace(SPACE, " ")
    ('99.99 %', '135 %')
    """
    if 0 < share < 0.00001:
        text = "<0.001"
    elif 0.9999 + _ROUNDING < share < 1:
        text = ">99.99"
    elif share >= 1:
        text = f"{share * 100:,.0f}"
    elif share < 0.01:
        text = significant(share * 100, 2)
    else:
        digits = 2 if share < 0.1 or share > 0.999 else 1
        text = f"{share * 100:.{digits}f}".rstrip("0").rstrip(".")
    return f"{text}{SPACE}%"


def of_calls(share: float) -> str:
    """Return a share of calls as people count them.

    >>> of_calls(1), of_calls(0.9999), of_calls(0.955), of_calls(0.0034), of_calls(0.0004)
    ('all calls', 'nearly all calls', '96 of 100 calls', '3 of 1,000 calls', '4 of 10,000 calls')
    """
    if share >= 1:
        return "all calls"
    for total in (100, 1_000, 10_000):
        number = round(share * total)
        if number >= total:
            return "nearly all calls"
        if number >= (1 if total == 100 else 2):
            return f"{number} of {total:,} calls"
    return "fewer than 1 of 10,000 calls"


def dollars(amount: float) -> str:
    """Return money, cents only where they matter.

    >>> dollars(0), dollars(0.001), dollars(12.345), dollars(1234.5)
    ('$0', '<$0.01', '$12.35', '$1,234')
    """
    if amount == 0:
        return "$0"
    if 0 < amount < 0.01:
        return "<$0.01"
    return f"${amount:,.2f}" if amount < 100 else f"${amount:,.0f}"


def duration(seconds: float) -> str:
    """Return a time span in its two largest units.

    >>> [duration(seconds).replace(SPACE, " ") for seconds in (0, 1e-12, 0.0254, 0.9999, 1.5)]
    ['0 s', '0 s', '25 ms', '1 s', '1.5 s']
    >>> [duration(seconds).replace(SPACE, " ") for seconds in (59.96, 200, 3900, 200_000)]
    ['1 min', '3 min 20 s', '1 h 5 min', '2 d 8 h']
    """
    if seconds < 1e-6:
        return f"0{SPACE}s"
    if seconds < 0.9995:
        return f"{significant(seconds * 1000, 2)}{SPACE}ms"
    if seconds < 59.95:
        return f"{significant(seconds)}{SPACE}s"
    for large, small, names in (
        (86_400, 3600, ("d", "h")),
        (3600, 60, ("h", "min")),
        (60, 1, ("min", "s")),
    ):
        whole, rest = divmod(round(seconds / small), large // small)
        if whole:
            tail = f"{SPACE}{rest}{SPACE}{names[1]}" if rest else ""
            return f"{whole}{SPACE}{names[0]}{tail}"
    raise AssertionError(seconds)


def size(size_bytes: float) -> str:
    """Return a size in bytes.

    >>> [size(b).replace(SPACE, " ") for b in (0, 300, 2048, 5.5 * 1024**3)]
    ['0 B', '300 B', '2 KB', '5.5 GB']
    """
    for unit, suffix in _BYTES:
        if size_bytes >= unit:
            return f"{significant(size_bytes / unit)}{SPACE}{suffix}"
    return f"{significant(size_bytes)}{SPACE}B"


def multiple(value: float, *, at_least: bool = False) -> str:
    """Return a multiple of the load.

    >>> multiple(3.456) == f"3.46{TIMES}", multiple(64, at_least=True) == f"≥ 64{TIMES}"
    (True, True)
    """
    return f"{'≥ ' if at_least else ''}{significant(value)}{TIMES}"


def reason(name: str) -> str:
    """Return a throttling reason in words.

    >>> reason("TableWriteKeyRangeThroughputExceeded")
    'table writes: one partition is full'
    """
    try:
        is_index, axis, limit = parse_reason(name)
    except KeyError:
        return name
    return f"{'index' if is_index else 'table'} {axis.lower()}s: {limit.words}"


def resource(name: str) -> str:
    """Return a table or index as it stands in a sentence; a design's only table has no name.

    >>> resource("table"), resource("orders.by_status")
    ('the table', 'orders.by_status')
    """
    return "the table" if name == "table" else name
