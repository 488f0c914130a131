"""Flows: the distinct combinations of field values that a pattern's requests carry.

The aggregate engine works with flows and not with requests. Where the combinations are few they
are all listed; where they are too many a sample stands for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from emulator.lab.inputs.distributions import Distribution, Floats, Integers, Latest, Sequential
from emulator.lab.inputs.key_templates import ShardPart
from emulator.lab.inputs.patterns import Field, Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.planning.sampling import LATEST_WINDOW, with_parents

#: Beyond so many combinations a sample of as many stands for all.
MOST_FLOWS: Final = 200_000
#: A unique field in a partition key is told apart by so many stretches of the hash space.
STRATA: Final = 512
STRATUM: Final = "(stratum)"
#: Stands for a value that is new every time.
FRESH: Final = "(new)"
#: Random unique values in a sort key are told apart by their first hexadecimal digit.
SORT_STRATA: Final = 16


def sort_label(field: str) -> str:
    """Return what tells the random values of a unique field in a sort key apart."""
    return f"(first digit of {field})"


@dataclass(frozen=True)
class Flows:
    """Combinations of values with their shares of a pattern's requests.

    Attributes:
        weights: The share of each flow; they sum to 1.
        rows: The texts of each flow, laid out as ``columns`` says.
        strata: For each flow where in the hash space (0 to 1) its new keys fall, if the
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


def flows_of(
    workload: Workload,
    pattern: Pattern,
    names: Iterable[str],
    shards: Sequence[ShardPart],
    *,
    fresh: bool,
    seed: int,
    existing: Mapping[str, Existing] | None = None,
) -> Flows:
    """Return the flows of a pattern.

    Args:
        workload: Its workload.
        pattern: The pattern.
        names: The fields that matter.
        shards: Suffixes to tell apart as if they were fields.
        fresh: The partition key takes a new value every time.
        seed: For the sample, where one is needed.
        existing: Of unique fields, which values are asked for; the others are new every time.
    """
    known = existing or {}
    fields = [workload.field(name) for name in with_parents(workload, names)]
    finite = [one for one in fields if not one.unique]
    picks = {one.name: pattern.distributions.get(one.name, one.distribution) for one in finite}
    axes = [(one.name, picks[one.name].probabilities(one.size)) for one in finite]
    axes += [(name, one.shares) for name, one in known.items()]
    axes += [(part.label, np.full(part.count, 1.0 / part.count)) for part in shards]
    if fresh:
        axes.append((STRATUM, np.full(STRATA, 1.0 / STRATA)))
    sampled = float(np.prod([float(len(shares)) for _, shares in axes])) > MOST_FLOWS
    numbers, weights = _sampled(axes, seed) if sampled else _listed(axes)
    texts = _texts(finite, numbers)
    for one in fields:
        if one.unique:
            texts[one.name] = _unique_texts(one, numbers, known.get(one.name), len(weights))
    for part in shards:
        texts[part.label] = [str(number) for number in numbers[part.label].tolist()]
    order = [one.name for one in fields] + [part.label for part in shards]
    columns = {name: place for place, name in enumerate(order)}
    rows: list[tuple[str, ...]] = [()] * len(weights)
    if order:
        rows = list(zip(*(texts[name] for name in order), strict=True))
    strata = (numbers[STRATUM] + 0.5) / STRATA if fresh else None
    steady = bool(finite) and all(isinstance(one, Sequential) for one in picks.values())
    return Flows(columns, weights, rows, strata, steady and not shards, sampled)


def _unique_texts(
    one: Field, numbers: dict[str, Integers], known: Existing | None, count: int
) -> list[str]:
    if known is not None:
        return [one.text(number) for number in known.numbers[numbers[one.name]].tolist()]
    label = sort_label(one.name)
    if label in numbers:
        return [format(number, "x") for number in numbers[label].tolist()]
    return [FRESH] * count


def _texts(finite: Sequence[Field], numbers: dict[str, Integers]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for one in finite:
        if one.per is None:
            known = {number: one.text(number) for number in np.unique(numbers[one.name]).tolist()}
            texts[one.name] = [known[number] for number in numbers[one.name].tolist()]
        else:
            pairs = zip(numbers[one.name].tolist(), texts[one.per], strict=True)
            texts[one.name] = [one.text(number, parent) for number, parent in pairs]
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
    rng = np.random.default_rng([seed, MOST_FLOWS])
    drawn = []
    for _, shares in axes:
        summed = np.cumsum(shares)
        drawn.append(np.searchsorted(summed / summed[-1], rng.random(MOST_FLOWS), side="right"))
    distinct, counts = np.unique(np.stack(drawn), axis=1, return_counts=True)
    numbers = {name: distinct[place] for place, (name, _) in enumerate(axes)}
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
