"""One finding: calls of one kind at one line, what they do and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.observe.places import Place, where


@dataclass(frozen=True, slots=True)
class CallFinding:
    """Calls of one kind at one line that could be made better.

    Attributes:
        kind: One of ``KINDS``.
        table: The table.
        index: The index that is read, or None.
        place: The line of the caller's code.
        count: How many calls.
        what: What they do, in words.
        cure: What to do instead.
    """

    kind: str
    table: str
    index: str | None
    place: Place
    count: int
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.kind} at {where(self.place)}: {self.what}; {self.cure}"
