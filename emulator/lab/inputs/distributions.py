"""How often each value of a field is used: distributions over ``count`` ranked values.

Value 0 is the most popular one. Placement is by hash, so the rank of a value says nothing
about the partition it lies in.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs import forms
from emulator.lab.inputs.documents import Entry, traffic_lines
from emulator.lab.inputs.forms import Form, FormMember, Record

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def sums(places: NDArray[np.integer[Any]], weights: Floats, count: int) -> Floats:
    """Return for each of ``count`` places the sum of the weights that fall there.

    >>> sums(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    return np.bincount(places, weights, count).astype(np.float64, copy=False)


def weighted(values: Floats, weights: Floats) -> float:
    """Return the sum of values times weights.

    Not ``@``: the threads it starts for a few thousand numbers cost more than the sum, and its
    answer depends on how many there are.

    >>> weighted(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float((values * weights).sum())


@dataclass(frozen=True)
class Uniform:
    """Every value as often as any other.

    >>> Uniform().probabilities(4).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Uniform().probabilities(4).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        return np.full(count, 1.0 / count)

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return "uniform"


@dataclass(frozen=True)
class Zipf:
    """Value r is used ``1 / (r + 1) ** s`` as often as the first.

    >>> Zipf(1.0).probabilities(2).round(2).tolist()
    [0.67, 0.33]
    """

    s: float = 0.99

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Zipf(1.0).probabilities(2).round(3).tolist()
        [0.667, 0.333]
        """
        weights = np.arange(1, count + 1, dtype=np.float64) ** -self.s
        return np.asarray(weights / weights.sum())

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return {"zipf": self.s}


@dataclass(frozen=True)
class Hotspot:
    """A share of the values gets a share of the traffic, each part evenly.

    >>> Hotspot(0.25, 0.7).probabilities(4).round(2).tolist()
    [0.7, 0.1, 0.1, 0.1]
    """

    keys: float
    traffic: float

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Hotspot(keys=0.25, traffic=0.7).probabilities(4).round(2).tolist()
        [0.7, 0.1, 0.1, 0.1]
        """
        hot = min(count, max(1, round(count * self.keys)))
        if hot == count:
            return Uniform().probabilities(count)
        weights = np.full(count, (1 - self.traffic) / (count - hot))
        weights[:hot] = self.traffic / hot
        return weights

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return {"hotspot": {"keys": self.keys, "traffic": self.traffic}}


@dataclass(frozen=True)
class Latest:
    """The newest values are the popular ones, by Zipf over their age.

    >>> Latest().probabilities(2).round(2).tolist()
    [0.33, 0.67]
    """

    s: float = 0.99

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value; the last one is the newest."""
        return Zipf(self.s).probabilities(count)[::-1]

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return {"latest": self.s}


@dataclass(frozen=True)
class Sequential:
    """One value after the other, again and again.

    >>> Sequential().probabilities(2).tolist()
    [0.5, 0.5]
    """

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value."""
        return Uniform().probabilities(count)

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return "sequential"


@dataclass(frozen=True)
class Weights:
    """Each value as often as its weight says; values without one are not used.

    >>> Weights((3, 1)).probabilities(2).tolist()
    [0.75, 0.25]
    """

    weights: tuple[float, ...]

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Weights((3, 1)).probabilities(2).tolist()
        [0.75, 0.25]
        """
        weights = np.zeros(count)
        listed = np.asarray(self.weights[:count], dtype=np.float64)
        weights[: len(listed)] = listed
        return np.asarray(weights / weights.sum())

    def to_document(self) -> Any:
        """Return what ``from_entry`` reads."""
        return {"weights": list(self.weights)}


Distribution: TypeAlias = Uniform | Zipf | Hotspot | Latest | Sequential | Weights

_WORDS: Final[Mapping[str, Distribution]] = {
    "uniform": Uniform(),
    "zipf": Zipf(),
    "latest": Latest(),
    "sequential": Sequential(),
}
EXPECTED: Final = (
    "uniform, sequential, latest, zipf, {zipf: s}, {latest: s}, {weights: [...]} or "
    "{hotspot: {keys: share, traffic: share}}"
)


def _weights(entry: Entry, weights: tuple[float, ...]) -> Weights:
    if not sum(weights):
        entry.complain("expected at least one weight above 0")
    return Weights(weights)


_SHARE: Final = forms.number(least=0, most=1)
HOTSPOT: Final = Record(
    "hotspot",
    "A share of the values gets a share of the traffic, each part evenly.",
    {
        "keys": FormMember(
            forms.number(above=0, most=1), "The share of the values that are hot.", required=True
        ),
        "traffic": FormMember(_SHARE, "The share of the traffic that they get.", required=True),
    },
)
_SHAPED: Final = forms.kinds(
    {
        "zipf": forms.number(above=0).made(lambda _, s: Zipf(s)),
        "latest": forms.number(above=0).made(lambda _, s: Latest(s)),
        "hotspot": HOTSPOT.form.made(lambda _, values: Hotspot(**values)),
        "weights": forms.many(forms.number(least=0), least=1).made(_weights),
    },
    EXPECTED,
)
_NAMED: Final = forms.choice(_WORDS)


def _suited(entry: Entry) -> Form:
    return _NAMED if isinstance(entry.value, str) and entry.value in _WORDS else _SHAPED


FORM: Final = forms.either(_NAMED, _SHAPED, select=_suited)


def from_entry(entry: Entry) -> Distribution:
    """Read a distribution.

    >>> from_entry(Entry.of({"zipf": 1.2}, "doc"))
    Zipf(s=1.2)
    """
    distribution: Distribution = FORM.read(entry)
    return distribution


def draw(
    distribution: Distribution, count: int, size: int, rng: np.random.Generator, first: int
) -> Integers:
    """Return ``size`` value numbers; ``first`` counts the draws made before.

    >>> draw(Sequential(), 3, 4, np.random.default_rng(0), first=2).tolist()
    [2, 0, 1, 2]
    """
    if isinstance(distribution, Sequential):
        return np.arange(first, first + size, dtype=np.int64) % count
    if isinstance(distribution, Uniform):
        return rng.integers(0, count, size)
    cumulative = _cumulative(distribution, count)
    return np.searchsorted(cumulative, rng.random(size), side="right").astype(np.int64)


_CUMULATIVE: dict[tuple[Distribution, int], Floats] = {}
_MOST_KEPT: Final = 32


def _cumulative(distribution: Distribution, count: int) -> Floats:
    summed = _CUMULATIVE.get((distribution, count))
    if summed is None:
        if len(_CUMULATIVE) >= _MOST_KEPT:
            _CUMULATIVE.clear()
        summed = np.cumsum(distribution.probabilities(count))
        summed[-1] = 1.0
        _CUMULATIVE[distribution, count] = summed
    return summed


def keys_from_csv(path: Path, column: str) -> tuple[tuple[str, ...], Weights]:
    """Return the values of a column of real keys, and how often each occurs.

    Raises:
        ValueError: There is no such column, or nothing in it.
    """
    with traffic_lines(path) as lines:
        rows = csv.DictReader(lines)
        if column not in (rows.fieldnames or ()):
            raise ValueError(f"no column {column!r}; it has {', '.join(rows.fieldnames or ())}")
        counts = Counter(row[column] for row in rows if row[column])
    if not counts:
        raise ValueError(f"column {column!r} is empty")
    values, weights = zip(*counts.most_common(), strict=True)
    return tuple(values), Weights(tuple(float(weight) for weight in weights))
