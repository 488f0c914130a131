"""Placement: where the key groups of a pattern fall on one table or index.

What keys are asked for is the same in every world; where they lie is not. Keys are rendered once
and hashed for each world's salt as the emulator does it, so both engines agree on the partition
of every key.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.engine.resource import Resource
from emulator.lab.aggregate.key_groups import NEW_VALUE, KeyGroups
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.key_traits import fixed_parts, is_in_order, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.storage import HASH_SPACE, Position, hashed_bytes, placement_digests

#: A partition key, whether it stands for keys that are new every time, and the fixed beginning
#: of the sort key.
EntryKey: TypeAlias = tuple[str, bool, str]
Hashes: TypeAlias = NDArray[np.uint64]

#: Between the attributes of one key.
JOINT: Final = "\x1f"
#: Spreads the new keys of several indexes independently of each other.
_GOLDEN: Final = 0.6180339887498949


class Placement:
    """By which key the key groups of a pattern fall on one table or index.

    Attributes:
        resource: The number of the table or index among those of the design.
        axis: Reads or writes.
        is_spread: Whether the partition key is new every time, so that keys fall anywhere.
        in_order: Whether sort keys within one partition key are written in ascending order.
        is_unbounded: Whether a key group can stand for many items.
        step: How many seconds the partition keys stay the same; None for ever.
        groups: The key groups.
    """

    def __init__(
        self,
        resource: int,
        axis: int,
        key: KeyLayout,
        groups: KeyGroups,
        workload: Workload,
        *,
        is_spread: bool,
        number: int = 0,
        ages: Floats | None = None,
    ) -> None:
        self.resource = resource
        self.axis = axis
        self.is_spread = is_spread
        self.in_order = is_in_order(key, workload)
        self.is_unbounded = is_unbounded(key, workload)
        steps = [template.step_seconds for template in key.partition]
        self.step = min((step for step in steps if step is not None), default=None)
        self.groups = groups
        self._partition = key.partition
        self._sort = key.sort
        self._fixed_sort = _fixed_templates(key, workload)
        self._sorts = [template.bind(groups.columns) for template in key.sort]
        self._number = number
        #: Of requests that range over time, how many seconds ago each key group's stretch is.
        self._ages = ages

    def render(self, moment: float, last: PlacedKeys | None = None) -> PlacedKeys:
        """Return the keys as of a moment; the last ones again if they are the same."""
        step = None
        if self.step is not None and not self.is_spread:
            step = moment // max(self.step, 1.0)
        if last is not None and last.placement is self and last.step == step:
            return last
        if self.is_spread:
            return PlacedKeys(self, [(NEW_VALUE,)] * len(self.groups), step)
        return PlacedKeys(self, self._render(moment), step)

    def _render(self, moment: float) -> list[tuple[str, ...]]:
        columns, rows = self.groups.columns, self.groups.rows
        if self._ages is None:
            texts = [own.texts(columns, rows, moment) for own in self._partition]
            return list(zip(*texts, strict=True)) if texts else [()] * len(rows)
        renders = [own.bind(columns) for own in self._partition]
        moments = (moment - self._ages).tolist()
        return [
            tuple([render(row, at) for render in renders])
            for row, at in zip(rows, moments, strict=True)
        ]

    def spread_hashes(self) -> Hashes:
        """Return the stretch of the hash space of each key group, where keys are new."""
        strata = self.groups.strata
        assert strata is not None, "key groups with new keys have strata"
        spread = (strata + self._number * _GOLDEN) % 1.0
        return (spread * float(HASH_SPACE)).astype(np.uint64)

    def sorts(self, group: int, moment: float) -> list[str]:
        """Return the sort values of a key group at a moment."""
        row = self.groups.rows[group]
        return [render(row, moment) for render in self._sorts]

    def all_sorts(self, moment: float) -> list[list[str]]:
        """Return for each attribute of the sort key the value of every key group at a moment."""
        columns, rows = self.groups.columns, self.groups.rows
        return [template.texts(columns, rows, moment) for template in self._sort]

    def fixed_sorts(self, moment: float) -> list[str]:
        """Return for each key group the beginning of its sort key that no moment changes."""
        columns, rows = self.groups.columns, self.groups.rows
        texts = [template.texts(columns, rows, moment) for template in self._fixed_sort]
        if len(texts) == 1:
            return texts[0]
        return [JOINT.join(own) for own in zip(*texts, strict=True)] if texts else [""] * len(rows)


class PlacedKeys:
    """The keys of a pattern's key groups on one table or index, until they change.

    Attributes:
        placement: By which key.
        texts: For each key group its partition key.
        step: Of keys that have a time, which step of it.
    """

    def __init__(
        self, placement: Placement, texts: list[tuple[str, ...]], step: float | None
    ) -> None:
        self.placement = placement
        self.texts = texts
        self.step = step
        self._distinct: list[bytes] = []
        self._numbers: Integers | None = None
        self._hashes: dict[int, Hashes] = {}
        #: By salt, and whether sort keys count: the key groups in the order of their places.
        self._places: dict[tuple[int, bool], Integers] = {}
        self._order: list[int] = []
        self._ranks: Integers | None = None

    def hashes(self, salt: int) -> Hashes:
        """Return for each key group the hash of its partition key, in worlds with that salt."""
        hashes = self._hashes.get(salt)
        if hashes is None:
            if self.placement.is_spread:
                hashes = self.placement.spread_hashes()
            else:
                numbers = self._text_numbers()
                hashes = hash_keys(self._distinct, salt)[numbers]
            self._hashes[salt] = hashes
        return hashes

    def _text_numbers(self) -> Integers:
        """Return for each key group the number of its text among the distinct ones."""
        if self._numbers is None:
            distinct: dict[tuple[str, ...], int] = {}
            self._numbers = np.asarray(
                [distinct.setdefault(text, len(distinct)) for text in self.texts], dtype=np.int64
            )
            self._distinct = [hashed_bytes(text) for text in distinct]
        return self._numbers

    def forget_hashes(self) -> None:
        """Drop the hashes of worlds that have been played."""
        self._hashes.clear()
        self._places.clear()

    def entry_keys(self, moment: float) -> list[EntryKey]:
        """Return for each key group what its items are found by."""
        is_new = self.placement.is_spread
        sorts = self.placement.fixed_sorts(moment)
        return [
            (JOINT.join(text), is_new, sort) for text, sort in zip(self.texts, sorts, strict=True)
        ]

    def partitions_of(self, resource: Resource, salt: int, moment: float) -> Integers:
        """Return for each key group its partition, by number in key order."""
        lows = [partition.low for partition in resource.partitions]
        return self.bounds_below(lows, None, salt, moment) - 1

    def bounds_below(
        self, lows: Sequence[Position], groups: Integers | None, salt: int, moment: float
    ) -> Integers:
        """Return for some key groups, or all, how many of ascending bounds are not above them."""
        hashes = self.hashes(salt)
        if groups is not None:
            hashes = hashes[groups]
        firsts = np.asarray([low[0] for low in lows], dtype=np.uint64)
        below = np.searchsorted(firsts, hashes, side="right").astype(np.int64)
        for low in lows:
            if len(low) > 1:
                same = np.flatnonzero(hashes == np.uint64(low[0]))
                if len(same):
                    ranks = self.ranks(moment)[same if groups is None else groups[same]]
                    below[same] -= ranks < self._rank_of(low[1:], moment)
        return below

    def ranks(self, moment: float) -> Integers:
        """Return the place of each key group among all, by partition and sort key.

        The same moment stands in all sort keys, so it does not change their order.
        """
        if self._ranks is None:
            keys = list(zip(self.texts, *self.placement.all_sorts(moment), strict=True))
            self._order = sorted(range(len(keys)), key=keys.__getitem__)
            self._ranks = np.empty(len(self._order), dtype=np.int64)
            self._ranks[self._order] = np.arange(len(self._order))
        return self._ranks

    def by_hash(self, salt: int) -> Integers:
        """Return all key groups in the order of their hashes, in worlds with that salt."""
        order = self._places.get((salt, False))
        if order is None:
            order = np.argsort(self.hashes(salt), kind="stable")
            self._places[salt, False] = order
        return order

    def by_place(self, salt: int, moment: float) -> Integers:
        """Return all key groups in the order of their positions, in worlds with that salt."""
        order = self._places.get((salt, True))
        if order is None:
            order = np.lexsort((self.ranks(moment), self.hashes(salt)))
            self._places[salt, True] = order
        return order

    def _rank_of(self, key: tuple[object, ...], moment: float) -> int:
        """Return how many key groups lie below a key."""
        return bisect_left(self._order, key, key=lambda group: self._key(group, moment))

    def _key(self, group: int, moment: float) -> tuple[object, ...]:
        return (*self.texts[group], *self.placement.sorts(group, moment))

    def positions(self, groups: Integers, salt: int, moment: float) -> list[Position]:
        """Return the position of an item of each of some key groups at a moment."""
        hashes = self.hashes(salt)[groups].tolist()
        return [
            (own, *self.texts[group], *self.placement.sorts(group, moment))
            for own, group in zip(hashes, groups.tolist(), strict=True)
        ]


class WholePartitions(PlacedKeys):
    """What a Scan asks for: one key group for each partition."""

    def partitions_of(self, resource: Resource, salt: int, moment: float) -> Integers:  # noqa: ARG002 - the partitions themselves
        """Return every partition."""
        return np.arange(len(resource.partitions))


def hash_keys(hashed: Iterable[bytes], salt: int) -> Hashes:
    """Return the hash of each partition key in worlds with that salt, given what is hashed.

    >>> hash_keys([hashed_bytes(("abc",))], 0).tolist()
    [16748430526252140965]
    """
    return np.frombuffer(placement_digests(hashed, salt), dtype="<u8")[::2].astype(np.uint64)


def _fixed_templates(key: KeyLayout, workload: Workload) -> list[KeyTemplate]:
    """Return the beginning of the sort key that no moment or new value changes."""
    templates = []
    for template in key.sort:
        parts, whole = fixed_parts(template, workload)
        if parts:
            templates.append(KeyTemplate("", parts))
        if not whole:
            break
    return templates
