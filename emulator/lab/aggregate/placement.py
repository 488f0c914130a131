"""Placement: where the key groups of a pattern fall on one table or index.

What keys are asked for is the same in every world; where they lie is not. Keys are rendered once
and hashed for each world's salt as the emulator does it, so both engines agree on the partition
of every key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from emulator.engine.resource import Resource
from emulator.lab.aggregate.key_groups import NEW_VALUE, KeyGroups
from emulator.lab.aggregate.key_texts import EntryKey, KeyTexts, Templates, key_texts_of
from emulator.lab.aggregate.partition_keys import Hashes, PartitionKeys
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.key_traits import fixed_parts, is_in_order, is_unbounded
from emulator.lab.planning.layout import KeyLayout
from emulator.storage import HASH_SPACE, Position

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

    Args:
        ties: What puts those with the same key in order: of an index, the key of their items.
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
        ties: Templates = (),
    ) -> None:
        self.resource = resource
        self.axis = axis
        self.is_spread = is_spread
        # Entries of an index that have the same key lie in the order of their items' keys.
        ordered = KeyLayout(key.partition, (*key.sort, *ties))
        self.in_order = is_in_order(ordered, workload)
        self.is_unbounded = is_unbounded(ordered, workload)
        steps = [template.step_seconds for template in key.partition]
        self.step = min((step for step in steps if step is not None), default=None)
        self.groups = groups
        self._partition = key.partition
        self._sort = ordered.sort
        self._fixed_sort = _fixed_templates(key, workload)
        self._start = float(workload.start)
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
        return PlacedKeys(self, self._key_texts(moment), step)

    def _key_texts(self, moment: float) -> KeyTexts:
        """Return the keys as of a moment, spelled out."""
        groups, rest = self.groups, (self._sort, self._fixed_sort, self._start)
        if self.is_spread:
            return KeyTexts(groups, PartitionKeys([(NEW_VALUE,)] * len(groups)), *rest, is_new=True)
        if self._ages is None:
            partition = tuple(own.at(moment) for own in self._partition)
            return key_texts_of(groups, partition, *rest)
        partitions: list[tuple[str, ...]] = [()] * len(groups)
        for age in np.unique(self._ages).tolist():
            numbers = np.flatnonzero(self._ages == age).tolist()
            rows = [groups.rows[number] for number in numbers]
            texts = [own.texts(groups.columns, rows, moment - age) for own in self._partition]
            for number, text in zip(numbers, zip(*texts, strict=True), strict=True):
                partitions[number] = text
        return KeyTexts(groups, PartitionKeys(partitions), *rest)

    def spread_hashes(self) -> Hashes:
        """Return the stretch of the hash space of each key group, where keys are new."""
        strata = self.groups.strata
        assert strata is not None, "key groups with new keys have strata"
        spread = (strata + self._number * _GOLDEN) % 1.0
        return (spread * float(HASH_SPACE)).astype(np.uint64)


class PlacedKeys:
    """The keys of a pattern's key groups on one table or index, until they change.

    Attributes:
        placement: By which key.
        key_texts: The keys, spelled out.
        step: Of keys that have a time, which step of it.
    """

    def __init__(self, placement: Placement, key_texts: KeyTexts, step: float | None) -> None:
        self.placement = placement
        self.key_texts = key_texts
        self.step = step
        self._hashes: dict[int, Hashes] = {}
        #: By salt, and whether sort keys count: the key groups in the order of their places.
        self._places: dict[tuple[int, bool], Integers] = {}

    @property
    def texts(self) -> Sequence[tuple[str, ...]]:
        """For each key group its partition key."""
        return self.key_texts.partitions

    @property
    def entry_keys(self) -> list[EntryKey]:
        """For each key group what its items are found by."""
        return self.key_texts.entry_keys

    def hashes(self, salt: int, groups: Integers | None = None) -> Hashes:
        """Return the hash of the partition key of some key groups, or all, under a salt."""
        hashes = self._distinct_hashes(salt)
        if not self.placement.is_spread:
            numbers = self.key_texts.partition_keys.numbers
            return hashes[numbers if groups is None else numbers[groups]]
        return hashes if groups is None else hashes[groups]

    def _distinct_hashes(self, salt: int) -> Hashes:
        """Return the hashes of distinct partition keys; of all key groups, where keys are new."""
        hashes = self._hashes.get(salt)
        if hashes is None:
            if self.placement.is_spread:
                hashes = self.placement.spread_hashes()
            else:
                hashes = self.key_texts.partition_keys.hashes(salt)
            self._hashes[salt] = hashes
        return hashes

    def count_keys(self, groups: Integers) -> int:
        """Return how many distinct partition keys some key groups have."""
        if self.placement.is_spread:
            return int(np.unique(self.placement.spread_hashes()[groups]).size)
        numbers = self.key_texts.partition_keys.numbers[groups]
        return int(np.count_nonzero(np.bincount(numbers)))

    def forget_hashes(self) -> None:
        """Drop the hashes of worlds that have been played."""
        self._hashes.clear()
        self._places.clear()

    def partitions_of(self, resource: Resource, salt: int, moment: float) -> Integers:
        """Return for each key group its partition, by number in key order."""
        lows = [partition.low for partition in resource.partitions]
        if self.placement.is_spread or any(len(low) > 1 for low in lows):
            return self.bounds_below(lows, None, salt, moment) - 1
        return (_below(lows, self._distinct_hashes(salt)) - 1)[
            self.key_texts.partition_keys.numbers
        ]

    def bounds_below(
        self, lows: Sequence[Position], groups: Integers | None, salt: int, moment: float
    ) -> Integers:
        """Return for some key groups, or all, how many of ascending bounds are not above them."""
        hashes = self.hashes(salt, groups)
        below = _below(lows, hashes)
        for low in lows:
            if len(low) > 1:
                same = np.flatnonzero(hashes == np.uint64(low[0]))
                if len(same):
                    inside = same if groups is None else groups[same]
                    below[same] -= self.key_texts.are_below(inside, low[1:], moment)
        return below

    def by_hash(self, salt: int) -> Integers:
        """Return all key groups in the order of their hashes, in worlds with that salt."""
        order = self._places.get((salt, False))
        if order is None:
            order = np.argsort(self.hashes(salt), kind="stable")
            self._places[salt, False] = order
        return order

    def by_place(self, salt: int) -> Integers:
        """Return all key groups in the order of their positions, in worlds with that salt."""
        order = self._places.get((salt, True))
        if order is None:
            order = np.lexsort((self.key_texts.ranks, self.hashes(salt)))
            self._places[salt, True] = order
        return order

    def positions(self, groups: Integers, salt: int, moment: float) -> list[Position]:
        """Return the position of an item of each of some key groups at a moment."""
        hashes = self.hashes(salt, groups).tolist()
        return [
            (own, *self.texts[group], *self.key_texts.sorts(group, moment))
            for own, group in zip(hashes, groups.tolist(), strict=True)
        ]


class WholePartitions(PlacedKeys):
    """What a Scan asks for: one key group for each partition."""

    def partitions_of(self, resource: Resource, salt: int, moment: float) -> Integers:  # noqa: ARG002 - the partitions themselves
        """Return every partition."""
        return np.arange(len(resource.partitions))


def _below(lows: Sequence[Position], hashes: Hashes) -> Integers:
    """Return how many of ascending bounds begin at a hash that is not above each of some."""
    firsts = np.asarray([low[0] for low in lows], dtype=np.uint64)
    return np.searchsorted(firsts, hashes, side="right").astype(np.int64)


def _fixed_templates(key: KeyLayout, workload: Workload) -> Templates:
    """Return the beginning of the sort key that no moment or new value changes."""
    templates = []
    for template in key.sort:
        parts, whole = fixed_parts(template, workload)
        if parts:
            templates.append(KeyTemplate("", parts))
        if not whole:
            break
    return tuple(templates)
