"""The history of a table that can be restored to a point in time (S3X-30).

A log of what writes have replaced, oldest first: going back from the present along it gives the
table as it was at any moment since. It is kept while point-in-time recovery is on, and bounded: the
oldest changes are dropped first, and with them the moments before them.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Final, NamedTuple

from emulator.model import Item
from emulator.storage import OrderedStore, Position

#: What a change counts beside the item it has replaced; measured by ``benchmarks.recovery``.
CHANGE_BYTES: Final = 2048


class ItemChange(NamedTuple):
    """A write: when, which item, and what was there before."""

    at_ns: int
    position: Position
    old: Item | None

    @property
    def size_bytes(self) -> int:
        """The bytes that it counts against the bound."""
        return CHANGE_BYTES + (0 if self.old is None else self.old.size_bytes)


class ItemDifference(NamedTuple):
    """One item before and after a stretch of time; None stands for no item.

    ``written_ns`` is the moment of its last write in that time.
    """

    position: Position
    old: Item | None
    new: Item | None
    written_ns: int


class ChangeLog:
    """The items that the writes of one table have replaced.

    Attributes:
        complete_since_ns: The earliest moment whose state is known.
        period_ns: How long a change is kept.

    >>> history, store = ChangeLog(0, period_ns=10**9, most_bytes=10_000), OrderedStore()
    >>> store.put((1, "a"), Item.of({"pk": "a"}))
    >>> history.record((1, "a"), None, 50)
    >>> len(history.state_at(store, 49)), len(history.state_at(store, 50)), len(store)
    (0, 1, 1)
    """

    __slots__ = (
        "_changes",
        "_is_shared",
        "_most_bytes",
        "_size_bytes",
        "complete_since_ns",
        "period_ns",
    )

    def __init__(self, since_ns: int, *, period_ns: int, most_bytes: int) -> None:
        self._changes: deque[ItemChange] = deque()
        self._is_shared = False
        self._most_bytes = most_bytes
        self._size_bytes = 0
        self.complete_since_ns = since_ns
        self.period_ns = period_ns

    @property
    def changes(self) -> tuple[ItemChange, ...]:
        """The changes, oldest first."""
        return tuple(self._changes)

    def record(self, position: Position, old: Item | None, now_ns: int) -> None:
        """Note what a write has replaced; what is too much or too old is dropped. O(1)."""
        if self._is_shared:
            self._changes, self._is_shared = self._changes.copy(), False
        change = ItemChange(now_ns, position, old)
        self._changes.append(change)
        self._size_bytes += change.size_bytes
        while self._changes and (
            self._size_bytes > self._most_bytes or self._changes[0].at_ns < now_ns - self.period_ns
        ):
            oldest = self._changes.popleft()
            self._size_bytes -= oldest.size_bytes
            self.complete_since_ns = oldest.at_ns

    def state_at(self, store: OrderedStore, moment_ns: int) -> OrderedStore:
        """Return the items as they were at a moment, writes of that moment included.

        O(n) for n items, and one step for each change since.
        """
        state = store.share()
        for position, old in self._replaced_since(moment_ns + 1).items():
            if old is not None:
                state.put(position, old)
            elif state.get(position) is not None:
                state.remove(position)
        return state

    def between(self, store: OrderedStore, from_ns: int, to_ns: int) -> list[ItemDifference]:
        """Return the items changed from a moment (inclusive) to another (exclusive), by position.

        An item that came and went in between is left out (S3X-8).
        """
        at_end = self._replaced_since(to_ns)
        written: dict[Position, tuple[Item | None, int]] = {}
        for at_ns, position, old in self._changes:
            if from_ns <= at_ns < to_ns:
                first, _ = written.get(position, (old, 0))
                written[position] = (first, at_ns)
        differences = (
            ItemDifference(
                position,
                old,
                at_end[position] if position in at_end else store.get(position),
                written_ns,
            )
            for position, (old, written_ns) in sorted(written.items())
        )
        return [item for item in differences if item.old is not None or item.new is not None]

    def _replaced_since(self, moment_ns: int) -> dict[Position, Item | None]:
        """Return the earlier item of every position that was written at a moment or later."""
        replaced: dict[Position, Item | None] = {}
        for at_ns, position, old in reversed(self._changes):
            if at_ns < moment_ns:
                break
            replaced[position] = old
        return replaced

    def share(self) -> ChangeLog:
        """Return a history of the same content that is independent from now on. O(1)."""
        self._is_shared = True
        twin = ChangeLog(
            self.complete_since_ns, period_ns=self.period_ns, most_bytes=self._most_bytes
        )
        twin._changes, twin._is_shared = self._changes, True
        twin._size_bytes = self._size_bytes
        return twin

    def check(self) -> None:
        """Assert the invariants; O(n)."""
        moments = [change.at_ns for change in self._changes]
        later = islice(moments, 1, None)
        assert all(first <= second for first, second in zip(moments, later, strict=False)), moments
        assert self._size_bytes == sum(change.size_bytes for change in self._changes)
        assert self._size_bytes <= self._most_bytes
        assert not moments or self.complete_since_ns <= moments[0]
