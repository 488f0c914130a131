"""A view of a store as it was some time ago (CAP-1104, CAP-1105).

Changes wait until the moment from which readers see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Generic, Protocol, Self, TypeVar

from emulator.storage.routing import Position

T = TypeVar("T")


class SharedStore(Protocol[T]):
    """Entries by position, shared until written: items of a table, entries of an index."""

    def get(self, position: Position) -> T | None:
        """Return the entry at a position."""

    def put(self, position: Position, entry: T, /) -> object:
        """Store an entry, replacing the one at its position; the result is not used."""

    def remove(self, position: Position) -> None:
        """Remove the entry at a position, which must be there."""

    def share(self) -> Self:
        """Return a store of the same content that is independent from now on."""


StoreT = TypeVar("StoreT", bound=SharedStore[Any])
#: A position and what lies there from now on, None for nothing.
Change = tuple[Position, Any]


class LaggedView(Generic[StoreT]):
    """A view of a store whose changes reach readers late.

    >>> from emulator.model import Item
    >>> from emulator.storage import OrderedStore
    >>> view = LaggedView(OrderedStore())
    >>> view.record([((1, "a"), Item.of({"pk": "a"}))], visible_ns=1_100)
    >>> len(view.at(1_099)), len(view.at(1_100))
    (0, 1)
    """

    __slots__ = ("_recorded", "_visible", "_waiting")

    def __init__(self, store: StoreT) -> None:
        self._visible = store.share()
        self._recorded = 0
        #: By the moment at which they are seen, then in the order they were recorded.
        self._waiting: list[tuple[int, int, Sequence[Change]]] = []

    def record(self, changes: Sequence[Change], visible_ns: int) -> None:
        """Note the changes of one commit; readers see all of them or none."""
        self._recorded += 1
        heappush(self._waiting, (visible_ns, self._recorded, changes))

    def at(self, now_ns: int) -> StoreT:
        """Return the store as a reader at ``now_ns`` sees it."""
        while self._waiting and self._waiting[0][0] <= now_ns:
            for position, entry in heappop(self._waiting)[-1]:
                if entry is not None:
                    self._visible.put(position, entry)
                elif self._visible.get(position) is not None:
                    self._visible.remove(position)
        return self._visible

    def copy(self) -> LaggedView[StoreT]:
        """Return an independent view of the same state."""
        twin = LaggedView(self._visible)
        twin._recorded, twin._waiting = self._recorded, self._waiting.copy()
        return twin
