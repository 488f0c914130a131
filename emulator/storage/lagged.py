"""A view of a store as it was some time ago (CAP-1104, CAP-1105).

Changes wait in commit order and are applied when a reader comes late enough to see them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from emulator.model import Item
from emulator.storage.ordered import OrderedStore
from emulator.storage.routing import Position

#: A position and what lies there from now on, None for nothing.
Change = tuple[Position, Item | None]


class LaggedView:
    """What readers see of a store that reaches them late.

    >>> view = LaggedView(OrderedStore(), lag_ns=100)
    >>> view.record([((1, "a"), Item.of({"pk": "a"}))], now_ns=1_000)
    >>> len(view.at(1_099)), len(view.at(1_100))
    (0, 1)
    """

    __slots__ = ("_lag_ns", "_visible", "_waiting")

    def __init__(self, store: OrderedStore, lag_ns: int) -> None:
        self._visible = store.share()
        self._lag_ns = lag_ns
        self._waiting: deque[tuple[int, Sequence[Change]]] = deque()

    def record(self, changes: Sequence[Change], now_ns: int) -> None:
        """Note the changes of one commit; readers see all of them or none."""
        self._waiting.append((now_ns, changes))

    def at(self, now_ns: int) -> OrderedStore:
        """Return the store as a reader at ``now_ns`` sees it."""
        horizon = now_ns - self._lag_ns
        while self._waiting and self._waiting[0][0] <= horizon:
            for position, item in self._waiting.popleft()[1]:
                if item is not None:
                    self._visible.put(position, item)
                elif self._visible.get(position) is not None:
                    self._visible.remove(position)
        return self._visible

    def copy(self) -> LaggedView:
        """Return an independent view of the same state."""
        twin = LaggedView(self._visible, self._lag_ns)
        twin._waiting = self._waiting.copy()
        return twin
