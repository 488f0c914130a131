"""Budgets: how much a piece of code may consume, and the account of where it went over.

Counted is what was asked of the tables: read and write units with their index arms, what a million
such runs cost, calls, item operations that were or would have been throttled, pages of Scan, and
items that filters threw away. Injected faults are the test's own doing and are not counted as
throttles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final

from emulator.observe.findings import advice_for
from emulator.observe.ledger import Ledger, LedgerEntry, as_table, resource_names

NOT_A_NUMBER: Final = "a budget's {name} is a number, not {value!r}"
NEGATIVE: Final = "a budget's {name} cannot be negative, and {value!r} is"
EMPTY: Final = "a budget limits at least one of {names}"
EXCEEDED: Final = "{used:g} {unit}, and the budget is {limit:g}"
#: What was used, of one and of several.
_UNITS: Final = {
    "rcu": ("read unit was consumed", "read units were consumed"),
    "wcu": ("write unit was consumed", "write units were consumed"),
    "calls": ("call was made", "calls were made"),
    "usd": ("dollar is the price of a million runs", "dollars are the price of a million runs"),
    "throttles": (
        "item operation was or would be throttled",
        "item operations were or would be throttled",
    ),
    "scans": ("page of Scan was read", "pages of Scan were read"),
    "filtered": (
        "item was read and thrown away by filters",
        "items were read and thrown away by filters",
    ),
}
#: The names of all limits.
LIMITS: Final = tuple(_UNITS)


class BudgetExceeded(AssertionError):
    """More was consumed than the budget allows; the message lists the most expensive calls.

    Attributes:
        ledger: The calls.

    >>> from emulator import Emulator
    >>> emu = Emulator()
    >>> with emu.budget(calls=0):
    ...     _ = emu.call("ListTables", {})
    Traceback (most recent call last):
    emulator.observe.budget.BudgetExceeded: 1 call was made, and the budget is 0...
    """

    def __init__(self, message: str, ledger: Ledger) -> None:
        super().__init__(message)
        self.ledger = ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that may be consumed; None is no limit.

    Args:
        rcu: Read units, indexes included.
        wcu: Write units, indexes included.
        calls: Requests of every kind.
        usd: Dollars for a million runs, on demand in tables of class Standard.
        throttles: Item operations refused, or to be refused, for throughput.
        scans: Pages of Scan.
        filtered: Items read and thrown away by filters.

    >>> Budget(wcu=10).faults(Ledger())
    []
    >>> Budget(wcu="ten")
    Traceback (most recent call last):
    TypeError: a budget's wcu is a number, not 'ten'
    """

    rcu: float | None = None
    wcu: float | None = None
    calls: int | None = None
    usd: float | None = None
    throttles: int | None = None
    scans: int | None = None
    filtered: int | None = None

    def __post_init__(self) -> None:
        for name, value in self._limits():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(NOT_A_NUMBER.format(name=name, value=value))
            if value < 0:
                raise ValueError(NEGATIVE.format(name=name, value=value))
        if not list(self._limits()):
            raise TypeError(EMPTY.format(names=", ".join(LIMITS)))

    def _limits(self) -> Iterator[tuple[str, float]]:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None:
                yield field.name, limit

    def faults(self, ledger: Ledger) -> list[str]:
        """Return a sentence for every limit that was passed."""
        used = {
            "rcu": ledger.read_units,
            "wcu": ledger.write_units,
            "calls": ledger.calls,
            "usd": ledger.usd,
            "throttles": ledger.throttles,
            "scans": ledger.scans,
            "filtered": ledger.filtered,
        }
        return [
            EXCEEDED.format(used=used[name], unit=_UNITS[name][used[name] != 1], limit=limit)
            for name, limit in self._limits()
            if used[name] > limit
        ]

    def verdict(self, ledger: Ledger) -> str | None:
        """Return the limits exceeded, the calls, the waste and advice as text, or None."""
        faults = self.faults(ledger)
        if not faults:
            return None
        parts = [*faults, "", ledger.table()]
        if ledger.reasons:
            parts += ["", *_throttle_lines(ledger)]
        wasteful = [entry for entry in ledger.entries if entry.filtered]
        if wasteful:
            parts += ["", "thrown away by filters, and paid for:", _waste(wasteful)]
        parts += ["", "what to change:", *(f"  {line}" for line in advice_for(ledger))]
        return "\n".join(parts)

    def check(self, ledger: Ledger) -> None:
        """Raise if a limit was passed.

        Raises:
            BudgetExceeded: with a table of the most expensive calls.
        """
        verdict = self.verdict(ledger)
        if verdict is not None:
            raise BudgetExceeded(verdict, ledger)


def _throttle_lines(ledger: Ledger) -> Iterator[str]:
    for (reason, resource), times in ledger.reasons.items():
        name = ".".join(filter(None, resource_names(resource)))
        yield f"throttled {times} x: {reason} on {name}"


def _waste(entries: list[LedgerEntry]) -> str:
    rows = [
        (
            str(entry.items_evaluated),
            str(entry.items_returned),
            str(entry.bytes_evaluated - entry.bytes_returned),
            f"{entry.operation} {entry.resource}",
            entry.where,
        )
        for entry in entries
    ]
    return as_table(("read", "kept", "bytes wasted", "what", "where"), rows)
