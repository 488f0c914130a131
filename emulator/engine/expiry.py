"""Time to live: which items expire when (TTL-4, CAP-1101).

The queue is ordered by expiry, so a sweep touches only what is due and an idle stretch of
any length costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from heapq import merge
from itertools import islice
from typing import Any, Final

from sortedcontainers import SortedList

from emulator.model import Item
from emulator.service import limits
from emulator.storage import TOP, Position, copied

#: How many expired items are found before others may have a turn: about a millisecond of work.
_FOUND_AT_ONCE: Final = 1000


class ExpiryQueue:
    """The items of one table by the time in their TTL attribute.

    >>> queue = ExpiryQueue("ttl", [((1, "a"), Item.of({"ttl": Decimal(50)}))])
    >>> list(queue.due(50)), list(queue.due(51))
    ([], [None, (1, 'a')])
    """

    __slots__ = ("_is_shared", "_queue", "attribute")

    def __init__(self, attribute: str, items: Iterable[tuple[Position, Item]] = ()) -> None:
        self.attribute = attribute
        self._is_shared = False
        self._queue: SortedList[tuple[Decimal, Position]] = SortedList(
            (expiry, position)
            for position, item in items
            if (expiry := self._expiry(item)) is not None
        )

    def _expiry(self, item: Item | None) -> Decimal | None:
        """Return the epoch seconds an item expires at; other types never do."""
        value = None if item is None else item.attributes.get(self.attribute)
        return value if isinstance(value, Decimal) else None

    def replace(self, position: Position, old: Item | None, new: Item | None) -> None:
        """Note that an item was written. O(log n)."""
        before, after = self._expiry(old), self._expiry(new)
        if before == after:
            return
        if self._is_shared:
            self._queue, self._is_shared = copied(self._queue), False
        if before is not None:
            self._queue.remove((before, position))
        if after is not None:
            self._queue.add((after, position))

    def due(self, now_seconds: float) -> Iterator[Position | None]:
        """Yield the positions of expired items, in position order.

        Expired means before ``now``, yet not more than five years (TTL-4). Whoever takes them may
        stop and go on later: None comes when some time was spent on finding them. What is written
        in between may be due or not (``is_due``).
        """
        latest = Decimal(now_seconds)
        first: tuple[Any, ...] = (latest - limits.TTL_PAST_SECONDS, (TOP,))
        runs = []
        while True:
            expired = self._queue.irange(first, (latest,), inclusive=(False, False))
            found = list(islice(expired, _FOUND_AT_ONCE))
            if not found:
                break
            runs.append(sorted(position for _, position in found))
            first = found[-1]
            yield None
        yield from merge(*runs)

    def is_due(self, item: Item | None, now_seconds: float) -> bool:
        """Return whether an item has expired."""
        expiry, latest = self._expiry(item), Decimal(now_seconds)
        return expiry is not None and latest - limits.TTL_PAST_SECONDS < expiry < latest

    def next_due(self, now_seconds: float) -> float | None:
        """Return the first expiry time after which something is due, or None."""
        earliest = Decimal(now_seconds) - limits.TTL_PAST_SECONDS
        following = next(self._queue.irange((earliest,)), None)
        return None if following is None else float(following[0])

    def share(self) -> ExpiryQueue:
        """Return a queue of the same content that is independent from now on. O(1)."""
        self._is_shared = True
        twin = ExpiryQueue(self.attribute)
        twin._queue, twin._is_shared = self._queue, True
        return twin
