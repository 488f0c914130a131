"""Sampling: the rows of field values that the requests of a pattern carry.

The same seed gives the same rows whatever the design, so designs are compared on the same
requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import mmh3
import numpy as np

from emulator.lab.inputs.distributions import (
    Distribution,
    Integers,
    Latest,
    Zipf,
    draw,
    moves_of,
)
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.patterns import TIMESTAMP, Field, Pattern
from emulator.lab.inputs.workload import Workload

#: How many of the newest items a ``latest`` distribution tells apart.
LATEST_WINDOW: Final = 10_000
#: Texts of fields up to this size are made once.
_MOST_TEXTS: Final = 1_000_000


class Values:
    """The texts of field values, and how many values of unique fields exist.

    Listed values are written as field and number, so that their spelling decides nothing (CAP2-7).
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.created = {field.name: 0 for field in workload.fields if field.unique}
        #: Values that requests may ask for; new ones are among them from the next second on.
        self.existing = dict(self.created)
        self._texts: dict[str, list[str]] = {}

    def settle(self) -> None:
        """Let what was created so far be asked for."""
        self.existing = dict(self.created)

    def texts(self, field: Field, numbers: Integers, parents: Sequence[str] | None) -> list[str]:
        """Return the texts of drawn value numbers."""
        if parents is not None:
            text = field.text
            pairs = zip(numbers.tolist(), parents, strict=True)
            return [text(number, parent) for number, parent in pairs]
        if field.unique or field.size > _MOST_TEXTS:
            return [field.identity(number) for number in numbers.tolist()]
        known = self._texts.get(field.name)
        if known is None:
            known = self._texts[field.name] = list(map(field.identity, range(field.size)))
        return [known[number] for number in numbers.tolist()]


def with_parents(workload: Workload, names: Iterable[str]) -> list[str]:
    """Return these fields and those they belong to, parents first.

    >>> workload = Workload(
    ...     fields=[Field("order", count=9, per="tenant"), Field("tenant", count=2)],
    ...     patterns=[Pattern("put", "PutItem", rate=1)])
    >>> with_parents(workload, ["order"])
    ['tenant', 'order']
    """
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name == TIMESTAMP or name in ordered:
            return
        parent = workload.field(name).per
        if parent is not None:
            add(parent)
        ordered[name] = None

    for name in names:
        add(name)
    return list(ordered)


class Drawer:
    """Draws rows for one pattern.

    Args:
        values: Texts and counters, shared by the patterns of a run.
        pattern: Whose requests to draw.
        names: The fields wanted; those they belong to come along.
        shards: Random suffixes wanted besides.

    Attributes:
        columns: Field or suffix label to its place in a row.
        moment: In seconds since the epoch, when the next requests arrive.
    """

    def __init__(
        self, values: Values, pattern: Pattern, names: Iterable[str], shards: Iterable[ShardPart]
    ) -> None:
        self._values = values
        self._pattern = pattern
        workload = values.workload
        self._fields = [workload.field(name) for name in with_parents(workload, names)]
        self._shards = [shard for shard in shards if not shard.fields]
        labels = [field.name for field in self._fields] + [shard.label for shard in self._shards]
        self.columns = {label: number for number, label in enumerate(labels)}
        self._drawn = 0
        self.moment = 0.0

    def rewind(self) -> None:
        """Begin again with the first request, as recorded traffic does when it is warmed up."""
        self._drawn = 0

    def rows(self, count: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """Return the rows of the next ``count`` requests."""
        if not count:
            return []
        if not self.columns:
            return [()] * count
        texts: dict[str, list[str]] = {}
        for field in self._fields:
            numbers = self._numbers(field, count, rng)
            parents = texts[field.per] if field.per is not None else None
            texts[field.name] = self._values.texts(field, numbers, parents)
        for shard in self._shards:
            texts[shard.label] = [str(n) for n in rng.integers(0, shard.count, count).tolist()]
        self._drawn += count
        return list(zip(*texts.values(), strict=True))

    def _numbers(self, field: Field, count: int, rng: np.random.Generator) -> Integers:
        recorded = self._pattern.recorded
        if recorded is not None and field.name in recorded.values:
            return recorded.numbers(field.name, self._drawn, count)
        if not field.unique:
            pick = self._pattern.pick(field)
            numbers = draw(pick, field.size, count, rng, self._drawn)
            moves = moves_of(pick)
            if moves is None:
                return numbers
            period = int(self.moment // moves)
            return (numbers + mmh3.hash(f"{field.name}{period}", signed=False)) % field.size
        if self._pattern.is_put:
            first = self._values.created[field.name]
            self._values.created[field.name] = first + count
            return np.arange(first, first + count, dtype=np.int64)
        existing = self._values.existing[field.name]
        return _existing(self._pattern.pick(field), existing, count, rng, self._drawn)


def _existing(
    distribution: Distribution, existing: int, count: int, rng: np.random.Generator, first: int
) -> Integers:
    """Return numbers of values that exist, the newest or the first being the popular ones."""
    if not existing:
        return np.zeros(count, dtype=np.int64)
    if isinstance(distribution, Latest | Zipf):
        window = min(existing, LATEST_WINDOW)
        ranks = draw(Zipf(distribution.s), window, count, rng, first)
        return existing - 1 - ranks if isinstance(distribution, Latest) else ranks
    return draw(distribution, existing, count, rng, first)
