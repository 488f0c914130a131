"""Key texts: the keys of key groups on one table or index, spelled out.

They are the same in every world and under every load, so the last few are kept for whoever asks
for the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_groups import KeyGroups
from emulator.lab.aggregate.partition_keys import KEPT, PartitionKeys, partition_keys_of
from emulator.lab.inputs.distributions import Integers
from emulator.lab.inputs.key_templates import KeyTemplate

#: A partition key, whether it stands for keys that are new every time, and the fixed beginning
#: of the sort key.
EntryKey: TypeAlias = tuple[str, bool, str]
Templates: TypeAlias = tuple[KeyTemplate, ...]
Flags: TypeAlias = NDArray[np.bool_]

#: Between the attributes of one key.
JOINT: Final = "\x1f"


class KeyTexts:
    """The keys of some key groups.

    Args:
        groups: The key groups.
        partition_keys: Their partition keys.
        sort: The templates of the sort key.
        fixed_sort: The beginning of it that no moment and no new value changes.
        moment: When the order of keys is looked at; the same moment stands in all of them, so
            another one does not change it.
        is_new: Whether the keys stand for such that are new every time.

    Attributes:
        partition_keys: Their partition keys.
    """

    def __init__(
        self,
        groups: KeyGroups,
        partition_keys: PartitionKeys,
        sort: Templates,
        fixed_sort: Templates,
        moment: float,
        *,
        is_new: bool = False,
    ) -> None:
        self.partition_keys = partition_keys
        self._groups = groups
        self._sort = sort
        self._fixed_sort = fixed_sort
        self._moment = moment
        self._is_new = is_new
        self._renders = [template.bind(groups.columns) for template in sort]

    @property
    def partitions(self) -> Sequence[tuple[str, ...]]:
        """For each key group its partition key."""
        return self.partition_keys.texts

    @cached_property
    def entry_keys(self) -> list[EntryKey]:
        """For each key group what its items are found by."""
        is_new = self._is_new
        joined = {text: JOINT.join(text) for text in self.partition_keys.distinct}
        return [
            (joined[text], is_new, sort)
            for text, sort in zip(self.partitions, self._fixed_sorts(), strict=True)
        ]

    def _fixed_sorts(self) -> list[str]:
        texts = self._sorts_by_attribute(self._fixed_sort)
        if len(texts) == 1:
            return texts[0]
        if not texts:
            return [""] * len(self.partitions)
        return [JOINT.join(own) for own in zip(*texts, strict=True)]

    def _sorts_by_attribute(self, templates: Templates) -> list[list[str]]:
        groups, moment = self._groups, self._moment
        return [template.texts(groups.columns, groups.rows, moment) for template in templates]

    def sorts(self, group: int, moment: float) -> list[str]:
        """Return the sort values of a key group at a moment."""
        row = self._groups.rows[group]
        return [render(row, moment) for render in self._renders]

    @cached_property
    def _order(self) -> list[int]:
        """The key groups in the order of their keys."""
        sorts = self._sorts_by_attribute(self._sort)
        keys = list(zip(self.partitions, *sorts, strict=True))
        return sorted(range(len(keys)), key=keys.__getitem__)

    @cached_property
    def ranks(self) -> Integers:
        """The place of each key group among all, by partition and sort key."""
        ranks = np.empty(len(self._order), dtype=np.int64)
        ranks[self._order] = np.arange(len(self._order))
        return ranks

    def are_below(self, groups: Integers, key: Sequence[object], moment: float) -> Flags:
        """Return for some key groups whether they lie below a key at a moment."""
        ranks = self.ranks[groups]
        rank = bisect_left(
            self._order,
            tuple(key),
            int(ranks.min()),
            int(ranks.max()) + 1,
            key=lambda group: (*self.partitions[group], *self.sorts(group, moment)),
        )
        return ranks < rank


@lru_cache(KEPT)
def key_texts_of(
    groups: KeyGroups, partition: Templates, sort: Templates, fixed_sort: Templates, moment: float
) -> KeyTexts:
    """Return the keys of key groups; the templates of the partition key have no moments."""
    return KeyTexts(groups, partition_keys_of(groups, partition), sort, fixed_sort, moment)
