"""An ordered store: items by position, read in order, shared until written.

Order comes from the store and never from sorting at read time. ``share`` hands out a second
store over the same containers in O(1); whichever is written first copies them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sortedcontainers import SortedList

from emulator.model import Item
from emulator.storage.routing import Position

T = TypeVar("T")


class OrderedStore:
    """Items of a table, or entries of an index, in position order.

    >>> store = OrderedStore()
    >>> store.put((7, "b"), Item.of({"pk": "b"}))
    >>> store.put((3, "a"), Item.of({"pk": "a"}))
    >>> [position for position, _ in store.walk((0,), (9,))]
    [(3, 'a'), (7, 'b')]
    """

    __slots__ = ("_items", "_order", "_shared", "size_bytes")

    def __init__(self) -> None:
        self._items: dict[Position, Item] = {}
        self._order: SortedList[Position] = SortedList()
        self._shared = False
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, position: Position) -> Item | None:
        """Return the item at a position. O(1)."""
        return self._items.get(position)

    def put(self, position: Position, item: Item) -> Item | None:
        """Store an item and return the one at its position that it replaces. O(log n)."""
        if self._shared:
            self._unshare()
        items = self._items
        count = len(items)
        old = items.setdefault(position, item)
        if len(items) > count:
            self._order.add(position)
            self.size_bytes += item.size_bytes
            return None
        items[position] = item
        self.size_bytes += item.size_bytes - old.size_bytes
        return old

    def remove(self, position: Position) -> None:
        """Remove the item at a position, which must be there. O(log n)."""
        if self._shared:
            self._unshare()
        self.size_bytes -= self._items.pop(position).size_bytes
        self._order.remove(position)

    def walk(
        self, low: Position, high: Position, *, reverse: bool = False
    ) -> Iterator[tuple[Position, Item]]:
        """Yield positions and items of ``[low, high)`` in order. O(log n) to start, O(1) each."""
        items = self._items
        for position in self._order.irange(low, high, (True, False), reverse):
            yield position, items[position]

    def positions(self, low: Position, high: Position, *, reverse: bool) -> Iterator[Position]:
        """Yield the positions of ``[low, high)`` in order. O(log n) to start, O(1) each."""
        positions: Iterator[Position] = self._order.irange(low, high, (True, False), reverse)
        return positions

    def items_at(self, positions: list[Position]) -> list[Item]:
        """Return the items at positions that ``positions`` yielded."""
        return list(map(self._items.__getitem__, positions))

    def rank(self, position: Position) -> int:
        """Return how many items lie before a position. O(log n)."""
        rank: int = self._order.bisect_left(position)
        return rank

    def share(self) -> OrderedStore:
        """Return a store of the same content that is independent from now on. O(1)."""
        self._shared = True
        twin = OrderedStore()
        twin._items, twin._order = self._items, self._order
        twin._shared, twin.size_bytes = True, self.size_bytes
        return twin

    def is_unchanged_since(self, earlier: OrderedStore) -> bool:
        """Return whether nothing was written since this store, or what it became, was shared. O(1).

        >>> store = OrderedStore()
        >>> earlier = store.share()
        >>> store.is_unchanged_since(earlier)
        True
        """
        return self._items is earlier._items

    def _unshare(self) -> None:
        self._items = self._items.copy()
        self._order = copied(self._order)
        self._shared = False

    def check(self) -> None:
        """Assert the invariants; O(n)."""
        self._order._check()
        assert list(self._order) == sorted(self._items), "order and items differ"
        total = sum(item.size_bytes for item in self._items.values())
        assert total == self.size_bytes, f"size is {self.size_bytes}, items sum to {total}"


def copied(order: SortedList[T]) -> SortedList[T]:
    """Return a copy of a sorted list without comparing anything. O(n), but a memory copy.

    ``SortedList.copy`` sorts again: twenty times slower, and felt by the first write of every
    test that starts from a snapshot. The fields are those of sortedcontainers 2; ``check``
    asserts that they still fit together.
    """
    twin: SortedList[T] = SortedList()
    twin._lists = [sublist.copy() for sublist in order._lists]
    twin._maxes = order._maxes.copy()
    twin._index = order._index.copy()
    twin._len, twin._offset, twin._load = order._len, order._offset, order._load
    return twin
