"""Key groups: the distinct combinations of field values that a pattern's requests carry.

The aggregate engine works with key groups and not with requests. Where the combinations are few
they are all listed; where they are too many a sample stands for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from emulator.lab.inputs.distributions import Distribution, Floats, Integers, Latest, Sequential
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.patterns import Field, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.sampling import LATEST_WINDOW, with_parents

#: Beyond so many combinations a sample of as many stands for all.
MOST_GROUPS: Final = 200_000
#: With more key groups than this, random values in sort keys are not told apart.
FEW_GROUPS: Final = 10_000
#: So many key groups are kept for others that ask for the same: designs, loads and fixes.
_KEPT: Final = 8
#: New keys are told apart by so many stretches of the hash space.
STRATA: Final = 512
_STRATUM: Final = "(stratum)"
#: What a report shows for a value that is new every time; nothing is decided by this text.
NEW_VALUE: Final = "(new)"
#: Random unique values in a sort key are told apart by their first hexadecimal digit.
SORT_STRATA: Final = 16


def sort_label(field: str) -> str:
    """Return what tells the random values of a unique field in a sort key apart."""
    return f"(first digit of {field})"


@dataclass(frozen=True, eq=False)
class KeyGroups:
    """Combinations of values with their shares of a pattern's requests.

    Attributes:
        columns: Field or suffix label to its place in a row.
        weights: The share of each group; they sum to 1.
        rows: The texts of each group, laid out as ``columns`` says.
        strata: For each group where in the hash space (0 to 1) its new keys fall, if the
            partition key has a unique field; else None.
        steady: Whether values come in turn, so that nothing is left to chance.
        sampled: Whether a sample stands for more combinations.
    """

    columns: dict[str, int]
    weights: Floats
    rows: list[tuple[str, ...]]
    strata: Floats | None
    steady: bool
    sampled: bool

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class Existing:
    """Values of a unique field that exist and are asked for: their numbers and shares."""

    numbers: Integers
    shares: Floats


def key_groups_of(
    workload: Workload,
    pattern: Pattern,
    names: Iterable[str],
    shards: Sequence[ShardPart],
    *,
    is_new: bool,
    seed: int,
    existing: Mapping[str, Existing] | None = None,
) -> KeyGroups:
    """Return the key groups of a pattern.

    Args:
        workload: Its workload.
        pattern: The pattern.
        names: The fields that matter.
        shards: Suffixes to tell apart as if they were fields.
        is_new: The partition key takes a new value every time.
        seed: For the sample, where one is needed.
        existing: Of unique fields, which values are asked for; the others are new every time.
    """
    fields = tuple(workload.field(name) for name in with_parents(workload, names))
    picks = tuple(pattern.pick(field) for field in fields)
    asked = _Asked(fields, picks, tuple(shards), is_new, seed)
    if existing:
        return _made(asked, existing)
    try:
        return _made_once(asked)
    except TypeError:  # values in a list, which has no hash
        return _made(asked, {})


@dataclass(frozen=True)
class _Asked:
    """All that decides on key groups, existing values of unique fields aside."""

    fields: tuple[Field, ...]
    picks: tuple[Distribution, ...]
    shards: tuple[ShardPart, ...]
    is_new: bool
    seed: int


@lru_cache(_KEPT)
def _made_once(asked: _Asked) -> KeyGroups:
    """Return the key groups; the same again for another design, load or pattern that has them."""
    return _made(asked, {})


def _made(asked: _Asked, known: Mapping[str, Existing]) -> KeyGroups:
    fields, shards, is_new = asked.fields, asked.shards, asked.is_new
    finite = [field for field in fields if not field.unique]
    chosen = [pick for pick, field in zip(asked.picks, fields, strict=True) if not field.unique]
    axes = [
        (field.name, pick.probabilities(field.size))
        for field, pick in zip(finite, chosen, strict=True)
    ]
    axes += [(name, values.shares) for name, values in known.items()]
    axes += [(shard.label, np.full(shard.count, 1.0 / shard.count)) for shard in shards]
    if is_new:
        axes.append((_STRATUM, np.full(STRATA, 1.0 / STRATA)))
    sampled = float(np.prod([float(len(shares)) for _, shares in axes])) > MOST_GROUPS
    numbers, weights = _sampled(axes, asked.seed) if sampled else _listed(axes)
    texts = _finite_texts(finite, numbers) | _unique_texts(fields, numbers, known)
    for field in fields:
        texts.setdefault(field.name, [NEW_VALUE] * len(weights))
    for shard in shards:
        texts[shard.label] = [str(number) for number in numbers[shard.label].tolist()]
    labels = [field.name for field in fields] + [shard.label for shard in shards]
    rows: list[tuple[str, ...]] = [()] * len(weights)
    if labels:
        rows = list(zip(*(texts[label] for label in labels), strict=True))
    steady = bool(finite) and all(isinstance(pick, Sequential) for pick in chosen)
    return KeyGroups(
        columns={label: column for column, label in enumerate(labels)},
        weights=weights,
        rows=rows,
        strata=(numbers[_STRATUM] + 0.5) / STRATA if is_new else None,
        steady=steady and not shards,
        sampled=sampled,
    )


def _finite_texts(finite: Sequence[Field], numbers: dict[str, Integers]) -> dict[str, list[str]]:
    """Return the texts of fields with a fixed number of values."""
    texts: dict[str, list[str]] = {}
    for field in finite:
        drawn = numbers[field.name]
        if field.per is None:
            known = {number: field.text(number) for number in np.unique(drawn).tolist()}
            texts[field.name] = [known[number] for number in drawn.tolist()]
        else:
            pairs = zip(drawn.tolist(), texts[field.per], strict=True)
            texts[field.name] = [field.text(number, parent) for number, parent in pairs]
    return texts


def _unique_texts(
    fields: Sequence[Field], numbers: dict[str, Integers], known: Mapping[str, Existing]
) -> dict[str, list[str]]:
    """Return the texts of unique fields, as far as their values are told apart."""
    texts: dict[str, list[str]] = {}
    for field in fields:
        label = sort_label(field.name)
        if field.unique and field.name in known:
            existing = known[field.name].numbers[numbers[field.name]]
            texts[field.name] = [field.text(number) for number in existing.tolist()]
        elif field.unique and label in numbers:
            texts[field.name] = [format(number, "x") for number in numbers[label].tolist()]
        elif field.unique == "random" and _STRATUM in numbers:
            texts[field.name] = [format(number, "03x") for number in numbers[_STRATUM].tolist()]
    return texts


Axes: TypeAlias = list[tuple[str, Floats]]


def _listed(axes: Axes) -> tuple[dict[str, Integers], Floats]:
    """Return every combination, with its share."""
    if not axes:
        return {}, np.ones(1)
    grids = np.meshgrid(*(np.arange(len(shares)) for _, shares in axes), indexing="ij")
    weights = np.ones(grids[0].shape)
    for grid, (_, shares) in zip(grids, axes, strict=True):
        weights *= shares[grid]
    used = weights.ravel() > 0
    numbers = {name: grid.ravel()[used] for grid, (name, _) in zip(grids, axes, strict=True)}
    flat = weights.ravel()[used]
    return numbers, flat / flat.sum()


def _sampled(axes: Axes, seed: int) -> tuple[dict[str, Integers], Floats]:
    """Return the combinations that as many draws hit, with their shares of the draws."""
    rng = np.random.default_rng([seed, MOST_GROUPS])
    drawn = []
    for _, shares in axes:
        summed = np.cumsum(shares)
        drawn.append(np.searchsorted(summed / summed[-1], rng.random(MOST_GROUPS), side="right"))
    widths = tuple(len(shares) for _, shares in axes)
    if math.prod(widths) < 2**63:  # a combination is one whole number, which sorts fast
        code, counts = np.unique(np.ravel_multi_index(drawn, widths), return_counts=True)
        distinct = list(np.unravel_index(code, widths))
    else:
        columns, counts = np.unique(np.stack(drawn), axis=1, return_counts=True)
        distinct = list(columns)
    numbers = {name: numbers for (name, _), numbers in zip(axes, distinct, strict=True)}
    return numbers, counts / counts.sum()


def latest_weights(distribution: Distribution, existing: float, arrivals: float) -> Floats | None:
    """Return the shares of the newest values, newest first, averaged over some time.

    While ``arrivals`` new values come in, each takes its turn at being the newest; the first
    share is that of the last one to come. None unless the distribution is about the newest.
    """
    if not isinstance(distribution, Latest) or existing < 1:
        return None
    window = int(min(existing, LATEST_WINDOW))
    shares = Latest(distribution.s).probabilities(window)[::-1]
    turns = max(1, round(arrivals))
    summed = np.concatenate([[0.0], np.cumsum(shares)])
    ages = np.arange(window + turns - 1)
    high = np.minimum(ages + 1, window)
    low = np.clip(ages + 1 - turns, 0, window)
    return np.asarray((summed[high] - summed[low]) / turns)
