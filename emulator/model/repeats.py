"""Repeats: what comes twice in a list that must not say anything twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def first_repeat(members: Iterable[Hashable]) -> int | None:
    """Return the index of the first member that equals an earlier one; None if all differ.

    Costs one look at each member, however many there are.

    >>> first_repeat(["a", "b", "a"])
    2
    >>> first_repeat(["a", "b"]) is None
    True
    """
    seen: set[Hashable] = set()
    for index, member in enumerate(members):
        if member in seen:
            return index
        seen.add(member)
    return None
