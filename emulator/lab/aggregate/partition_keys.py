"""Partition keys: those of key groups, spelled out, and where they fall in a world.

They are the same under every load, for every pattern that asks for the same values, and whatever
the sort key is; where they fall differs from world to world. A study plays the same worlds again
and again, so the last hashes are kept with the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.aggregate.key_groups import MOST_GROUPS, KeyGroups
from emulator.lab.inputs.distributions import Integers
from emulator.lab.inputs.key_templates import KeyTemplate
from emulator.lab.outcome.thresholds import FIRST_WORLDS
from emulator.storage import hashed_bytes, placement_digests

Hashes: TypeAlias = NDArray[np.uint64]

#: So many are kept: those of one design, and of one that is compared with it.
KEPT: Final = 6
#: Of one, so many hashes: those of the worlds that searches play, for the most key groups there
#: can be.
_KEPT_HASHES: Final = FIRST_WORLDS * MOST_GROUPS


class PartitionKeys:
    """The partition keys of some key groups.

    Attributes:
        texts: The partition key of each key group.

    >>> keys = PartitionKeys([("a",), ("b",), ("a",)])
    >>> keys.numbers.tolist(), len(keys.hashes(salt=0))
    ([0, 1, 0], 2)
    """

    def __init__(self, texts: Sequence[tuple[str, ...]]) -> None:
        self.texts = texts
        #: By salt, the one that was asked for last at the end.
        self._hashes: dict[int, Hashes] = {}

    @cached_property
    def distinct(self) -> dict[tuple[str, ...], int]:
        """The distinct partition keys, numbered."""
        numbers: dict[tuple[str, ...], int] = {}
        for text in self.texts:
            numbers.setdefault(text, len(numbers))
        return numbers

    @cached_property
    def numbers(self) -> Integers:
        """For each key group the number of its partition key among the distinct ones."""
        return np.asarray(list(map(self.distinct.__getitem__, self.texts)), dtype=np.int64)

    @cached_property
    def _hashed(self) -> list[bytes]:
        """What is hashed of each distinct partition key."""
        return [hashed_bytes(text) for text in self.distinct]

    def hashes(self, salt: int) -> Hashes:
        """Return the hash of each distinct partition key in worlds with that salt."""
        kept = self._hashes
        hashes = kept.pop(salt, None)
        if hashes is None:
            hashes = hash_keys(self._hashed, salt)
            if kept and (len(kept) + 1) * len(hashes) > _KEPT_HASHES:
                del kept[next(iter(kept))]
        kept[salt] = hashes
        return hashes


@lru_cache(KEPT)
def partition_keys_of(groups: KeyGroups, templates: tuple[KeyTemplate, ...]) -> PartitionKeys:
    """Return the partition keys of key groups; the templates have no moments."""
    columns, rows = groups.columns, groups.rows
    texts = [own.texts(columns, rows, 0.0) for own in templates]
    return PartitionKeys(list(zip(*texts, strict=True)) if texts else [()] * len(rows))


def hash_keys(hashed: Iterable[bytes], salt: int) -> Hashes:
    """Return the hash of each partition key in worlds with that salt, given what is hashed.

    >>> hash_keys([b"Sabc"], 0).tolist()
    [16748430526252140965]
    """
    return np.frombuffer(placement_digests(hashed, salt), dtype="<u8")[::2].astype(np.uint64)
