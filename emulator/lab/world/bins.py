"""Bins: the values of a field, those of like popularity taken together.

Requests carry combinations of values. A combination of bins is a *cell*: it stands for all
combinations of its values, which are as popular as each other in every pattern. A value that is
popular enough to be followed by itself has a bin of its own. What it costs to list the cells does
not depend on how many values a field has.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from emulator.lab.inputs.distributions import Distribution, Floats, Integers, Sequential
from emulator.lab.inputs.key_templates import KeyTemplate, ShardPart, shard
from emulator.lab.inputs.patterns import Field, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.sampling import with_parents

#: The most values of a field, and the most suffixes, that have a bin each.
FEW_VALUES: Final = 8
MANY_SUFFIXES: Final = 1_000
#: Cells of one pattern at most, or this many times the values of its widest field; beyond it
#: fewer values are told apart.
MOST_CELLS: Final = 8_192
_MOST_TIMES: Final = 4
#: Of a field with more values, a calculated suffix is taken as evenly spread.
_MOST_SUFFIXED: Final = 100_000
#: A value of a sort key with this share of the calls has a bin of its own.
_HEAVY: Final = 0.1
#: Where rough bins are enough, one in this number of the stretches of popularity has one.
_ROUGHLY: Final = 8
#: Values whose popularity differs by less than this, in its logarithm, may share a bin.
_ALIKE: Final = 0.1
#: What a report shows for a value that is new every time; nothing is decided by this text.
NEW_VALUE: Final = "(new)"


@dataclass(frozen=True)
class Bins:
    """The values of one field in bins; a bin has the values from one edge up to the next.

    >>> Bins(Field("user", count=9), np.array([0, 1, 9])).counts.tolist()
    [1, 8]
    """

    field: Field
    edges: Integers

    @cached_property
    def firsts(self) -> Integers:
        """The first value of each bin."""
        return self.edges[:-1]

    @cached_property
    def counts(self) -> Integers:
        """How many values each bin has."""
        return np.diff(self.edges)

    def shares(self, pick: Distribution) -> Floats:
        """Return the probability of each bin."""
        return np.diff(pick.below(self.field.size, self.edges))

    @classmethod
    def of(
        cls, field: Field, picks: Iterable[Distribution], least: float, *, is_rough: bool
    ) -> Bins:
        """Return the bins of a field.

        Args:
            field: The field.
            picks: How patterns pick its values.
            least: A value that some pattern picks with this probability has a bin of its own.
            is_rough: Whether it is enough to tell very different popularity apart.
        """
        size = field.size
        if size <= FEW_VALUES:
            return cls(field, np.arange(size + 1))
        marks = [np.asarray([0, size])]
        for pick in set(picks):
            heavy = pick.heavy(size, least)
            marks += [heavy, heavy + 1, pick.bends(size)[:: _ROUGHLY if is_rough else 1]]
        return cls(field, np.unique(np.concatenate(marks)))


def bins_of(workload: Workload, least: Mapping[str, float]) -> dict[str, Bins]:
    """Return the bins of every field with a fixed number of values.

    Args:
        workload: The fields, and how patterns pick their values.
        least: By field of a partition key, from which probability on a value is followed.
    """
    return {
        field.name: Bins.of(
            field,
            [field.distribution, *(pattern.pick(field) for pattern in workload.patterns)],
            least.get(field.name, _HEAVY),
            is_rough=least.get(field.name, np.inf) > 1,
        )
        for field in workload.fields
        if not field.unique
    }


def fitting_bins(
    workload: Workload, least: dict[str, float], together: Iterable[tuple[Sequence[str], int]]
) -> dict[str, Bins]:
    """Return the bins of every field, few enough for the combinations of every pattern.

    Args:
        workload: See ``bins_of``.
        least: See ``bins_of``.
        together: Of each pattern, the fields whose combinations count, and how many of other
            things there are of each.
    """
    bins = bins_of(workload, least)
    for names, others in together:
        while names and not _fit([len(bins[name].counts) for name in names], others):
            widest = max(names, key=lambda name: len(bins[name].counts))
            if least.get(widest, 0.0) > 1:
                break
            least = {**least, widest: 2 * least.get(widest, _HEAVY)}
            bins = bins_of(workload, least)
    return bins


def _fit(counts: Sequence[int], others: int) -> bool:
    return others * math.prod(counts) <= max(MOST_CELLS, _MOST_TIMES * max(counts))


@dataclass(frozen=True)
class Existing:
    """Values of a unique field that exist and are asked for, in bins.

    Attributes:
        firsts: The first value of each bin.
        counts: How many values each bin has.
        shares: How likely each is asked for.
    """

    firsts: Integers
    counts: Floats
    shares: Floats

    @classmethod
    def of(cls, numbers: Integers, shares: Floats, least: float) -> Existing:
        """Return values in bins: those of like popularity, or too rare to be followed, together.

        Args:
            numbers: Consecutive values, in ascending or descending order.
            shares: How likely each is asked for.
            least: From which probability on a value has a bin of its own.

        >>> some = Existing.of(np.array([9, 8, 7]), np.array([0.8, 0.1, 0.1]), least=0.5)
        >>> some.firsts.tolist(), some.counts.tolist(), some.shares.tolist()
        ([9, 7], [1.0, 2.0], [0.8, 0.2])
        """
        kinds = np.floor(np.log(np.maximum(shares, np.finfo(np.float64).tiny)) / _ALIKE)
        starts = np.concatenate([[True], (np.diff(kinds) != 0) | (shares[1:] >= least)])
        starts[1:] |= shares[:-1] >= least
        at = np.flatnonzero(starts)
        counts = np.diff(np.append(at, len(shares))).astype(np.float64)
        return cls(np.minimum.reduceat(numbers, at), counts, np.add.reduceat(shares, at))


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a pattern's requests.

    Attributes:
        shares: The share of each cell in the requests; they sum to 1.
        columns: Field or suffix to its column in ``rows``.
        rows: Of each cell, the texts of its first combination.
        firsts: By column and cell, the number of the first value; -1 for values that are new
            every time.
        counts: By column and cell, how many values there are of it.
        fields: The field of each column; None for a suffix.
        steady: Whether values come in turn, so that nothing is left to chance.
    """

    shares: Floats
    columns: dict[str, int]
    rows: list[tuple[str, ...]]
    firsts: Integers
    counts: Floats
    fields: tuple[Field | None, ...]
    steady: bool

    def __len__(self) -> int:
        return len(self.shares)

    def multiples(self, templates: Iterable[KeyTemplate]) -> Floats:
        """Return how many different keys of some templates each cell stands for."""
        names: set[str] = set()
        for template in templates:
            names.update(template.fields)
            for part in template.shards:
                names.update((part.label,) if part.label in self.columns else part.fields)
        parents = {field.per for field in self.fields if field is not None and field.name in names}
        at = [self.columns[name] for name in names | {own for own in parents if own}]
        return np.asarray(np.maximum(1.0, self.counts[sorted(at)].prod(axis=0)))

    @cached_property
    def identified(self) -> Cells:
        """The same cells with values named by field and number, however they are spelled."""
        if not any(field is not None and field.values for field in self.fields):
            return self
        texts = [list(own) for own in zip(*self.rows, strict=True)]
        for at, field in enumerate(self.fields):
            if field is not None and (field.values or field.per):
                parents = texts[self.columns[field.per]] if field.per else [""] * len(self)
                numbers = self.firsts[at].tolist()
                texts[at] = list(map(field.identity, numbers, parents))
        return replace(self, rows=list(zip(*texts, strict=True)))

    def members(self, cell: int, count: int) -> list[tuple[str, ...]]:
        """Return the texts of some combinations of a cell, evenly chosen, in ascending order.

        Random values that are new every time are told apart by their first digits.
        """
        rows = []
        for number in range(count):
            texts = list(self.rows[cell])
            for at, field in enumerate(self.fields):
                if field is None:
                    continue
                first, values = int(self.firsts[at, cell]), float(self.counts[at, cell])
                if field.unique == "random" and first < 0:
                    texts[at] = format(number * 0x1000 // count, "03x")
                elif values > 1:
                    parent = texts[self.columns[field.per]] if field.per is not None else ""
                    texts[at] = field.text(first + int(number * values) // count, parent)
            rows.append(tuple(texts))
        return rows


@dataclass(frozen=True)
class _Axis:
    """One thing by which cells differ."""

    name: str
    firsts: Integers
    counts: Floats
    shares: Floats


def cells_of(
    workload: Workload,
    bins: Mapping[str, Bins],
    pattern: Pattern,
    names: Collection[str],
    shards: Sequence[ShardPart],
    existing: Mapping[str, Existing] | None = None,
) -> Cells:
    """Return the cells of a pattern.

    Args:
        workload: Its workload.
        bins: Of every field.
        pattern: The pattern.
        names: The fields that matter; those they belong to come along.
        shards: Suffixes to tell apart: drawn ones, or such as are calculated from fields.
        existing: Of unique fields, which values are asked for; the others are new every time.
    """
    fields = [workload.field(name) for name in with_parents(workload, names)]
    known = existing or {}
    axes = [_axis(field, bins, pattern, known) for field in fields]
    calculated = [part for part in shards if part.fields and _is_finite(part, workload, fields)]
    axes += [_shard_axis(part) for part in shards if part not in calculated]
    places = np.meshgrid(*(np.arange(len(axis.shares)) for axis in axes), indexing="ij")
    at = [place.ravel() for place in places] or [np.zeros(1, dtype=np.int64)]
    shares = np.ones(len(at[0]))
    for own, axis in zip(at, axes, strict=False):
        shares = shares * axis.shares[own]
    used = np.flatnonzero(shares > 0)
    firsts = [axis.firsts[own[used]] for own, axis in zip(at, axes, strict=False)]
    counts = [axis.counts[own[used]] for own, axis in zip(at, axes, strict=False)]
    picks = [pattern.pick(field) for field in fields if not field.unique]
    steady = bool(picks) and all(isinstance(pick, Sequential) for pick in picks) and not shards
    labels = [axis.name for axis in axes]
    cells = _Listed(labels, shares[used] / shares[used].sum(), firsts, counts)
    for part in calculated:
        cells = cells.suffixed(part, {field.name: field for field in fields})
    return cells.spelled({field.name: field for field in fields}, steady=steady)


def _axis(
    field: Field, bins: Mapping[str, Bins], pattern: Pattern, known: Mapping[str, Existing]
) -> _Axis:
    if field.name in known:
        values = known[field.name]
        return _Axis(field.name, values.firsts, values.counts, values.shares)
    if field.unique:
        return _Axis(field.name, np.asarray([-1]), np.ones(1), np.ones(1))
    own = bins[field.name]
    shares = own.shares(pattern.pick(field))
    return _Axis(field.name, own.firsts, own.counts.astype(np.float64), shares)


def _shard_axis(part: ShardPart) -> _Axis:
    """Return a suffix that any value may have as likely as any other."""
    count = part.count
    if count > MANY_SUFFIXES:
        return _Axis(part.label, np.zeros(1, dtype=np.int64), np.full(1, float(count)), np.ones(1))
    return _Axis(part.label, np.arange(count), np.ones(count), np.full(count, 1 / count))


def _is_finite(part: ShardPart, workload: Workload, fields: Sequence[Field]) -> bool:
    """Return whether a suffix follows from values that are told apart."""
    own = [workload.field(name) for name in part.fields]
    return all(field in fields and not field.unique for field in own)


@dataclass(frozen=True)
class _Listed:
    """Cells while they are made; for the members see ``Cells``."""

    labels: list[str]
    shares: Floats
    firsts: list[Integers]
    counts: list[Floats]

    def suffixed(self, part: ShardPart, fields: Mapping[str, Field]) -> _Listed:
        """Return the cells told apart by a suffix that is calculated from their values."""
        chances = self._chances(part, fields)
        cell, suffix = np.nonzero(chances)
        chance = chances[cell, suffix]
        # Of the values of a bin only some have the suffix.
        some = chance if len(part.fields) == 1 else np.ones(len(cell))
        return _Listed(
            [*self.labels, part.label],
            self.shares[cell] * chance,
            [*(own[cell] for own in self.firsts), suffix],
            [*(own[cell] for own in self.counts), some],
        )

    def _chances(self, part: ShardPart, fields: Mapping[str, Field]) -> Floats:
        """Return by cell and suffix the share of the cell's combinations that have it."""
        at = [self.labels.index(name) for name in part.fields]
        chances = np.full((len(self.shares), part.count), 1.0 / part.count)
        single = np.all([self.counts[own] == 1 for own in at], axis=0)
        if len(at) == 1 and fields[part.fields[0]].per is None:
            field = fields[part.fields[0]]
            if field.size <= _MOST_SUFFIXED:
                return self._counted(part, field, at[0])
        texts = self.spelled(fields, steady=False).identified
        renders = KeyTemplate("", (part,)).texts(texts.columns, texts.rows, 0.0)
        chances[single] = 0.0
        for cell in np.flatnonzero(single).tolist():
            chances[cell, int(renders[cell])] = 1.0
        return chances

    def _counted(self, part: ShardPart, field: Field, at: int) -> Floats:
        suffixes = np.asarray([shard(field.identity(n), part.count) for n in range(field.size)])
        chances = np.zeros((len(self.shares), part.count))
        edges = {}
        for cell, (first, count) in enumerate(zip(self.firsts[at], self.counts[at], strict=True)):
            span = int(first), int(first) + math.ceil(count)
            if span not in edges:
                own = suffixes[span[0] : span[1]]
                edges[span] = np.bincount(own, minlength=part.count) / len(own)
            chances[cell] = edges[span]
        return chances

    def spelled(self, fields: Mapping[str, Field], *, steady: bool) -> Cells:
        """Return the finished cells."""
        texts: list[list[str]] = []
        own = tuple(fields.get(label) for label in self.labels)
        for field, firsts in zip(own, self.firsts, strict=True):
            if field is None:
                texts.append([str(number) for number in firsts.tolist()])
            elif field.per is not None:
                pairs = zip(firsts.tolist(), texts[self.labels.index(field.per)], strict=True)
                texts.append([field.text(number, parent) for number, parent in pairs])
            else:
                known = {
                    number: field.text(number) if number >= 0 else NEW_VALUE
                    for number in np.unique(firsts).tolist()
                }
                texts.append([known[number] for number in firsts.tolist()])
        count = len(self.shares)
        return Cells(
            shares=self.shares,
            columns={label: at for at, label in enumerate(self.labels)},
            rows=list(zip(*texts, strict=True)) if texts else [()] * count,
            firsts=np.asarray(self.firsts).reshape(len(texts), count),
            counts=np.asarray(self.counts, dtype=np.float64).reshape(len(texts), count),
            fields=own,
            steady=steady,
        )
