"""How often each value of a field is used: distributions over ``count`` ranked values.

Value 0 is the most popular one. Placement is by hash, so the rank of a value says nothing
about the partition it lies in.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emulator.lab.inputs import forms
from emulator.lab.inputs.documents import Entry, traffic_lines
from emulator.lab.inputs.forms import Form, FormMember, Record

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_ROUNDING: Final = 1e-9
#: Stretches that a distribution is divided into, each of values of like popularity.
_BENDS: Final = 64


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


#: Of more values than these, sums of powers are not added up one by one.
_ADDED: Final = 10_000


@cache
def _added_powers(s: float) -> Floats:
    """Return the sums of ``k ** -s`` over the first 0, 1, 2, ... whole numbers."""
    return np.concatenate([[0.0], np.cumsum(np.arange(1, _ADDED + 1, dtype=np.float64) ** -s)])


def _power_sums(numbers: Integers, s: float) -> Floats:
    """Return the sum of ``k ** -s`` for k from 1 to each number, by Euler and Maclaurin.

    >>> _power_sums(np.array([2, 100_000_000]), 1.0).round(6).tolist()
    [1.5, 18.997896]
    """
    added = _added_powers(s)
    low, high = float(_ADDED), np.maximum(numbers, _ADDED).astype(np.float64)
    area = np.log(high / low) if s == 1.0 else (high ** (1 - s) - low ** (1 - s)) / (1 - s)
    ends = (high**-s - low**-s) / 2 + s / 12 * (low ** (-s - 1) - high ** (-s - 1))
    return np.asarray(added[np.minimum(numbers, _ADDED)] + area + ends)


def _geometric(count: int) -> Integers:
    """Return places that lie ever further apart: popularity falls by about as much in between."""
    return np.unique(np.geomspace(1, count, _BENDS).round().astype(np.int64))


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

    def below(self, count: int, numbers: Integers) -> Floats:
        """Return the probability of the values below each number."""
        return numbers / count

    def heavy(self, count: int, least: float) -> Integers:
        """Return the numbers of the values that are at least so probable."""
        return np.arange(count if least * count <= 1.0 else 0)

    def bends(self, count: int) -> Integers:  # noqa: ARG002 - all values are alike
        """Return the numbers at which popularity changes."""
        return np.zeros(0, dtype=np.int64)

    def repeated(self, count: int) -> float:
        """Return how likely two picks are of one value."""
        return 1.0 / count

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return "uniform"


@dataclass(frozen=True)
class Zipf:
    """Value r is used ``1 / (r + 1) ** s`` as often as the first.

    >>> Zipf(1.0).probabilities(2).round(2).tolist()
    [0.67, 0.33]
    """

    s: float = 0.99
    #: After how many seconds other values are the popular ones; None for never.
    moves: float | None = None

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Zipf(1.0).probabilities(2).round(3).tolist()
        [0.667, 0.333]
        """
        weights = np.arange(1, count + 1, dtype=np.float64) ** -self.s
        return np.asarray(weights / weights.sum())

    def below(self, count: int, numbers: Integers) -> Floats:
        """Return the probability of the values below each number.

        >>> Zipf(1.0).below(2, np.array([0, 1, 2])).round(3).tolist()
        [0.0, 0.667, 1.0]
        """
        return _power_sums(numbers, self.s) / _power_sums(np.asarray([count]), self.s)

    def heavy(self, count: int, least: float) -> Integers:
        """Return the numbers of the values that are at least so probable.

        >>> Zipf(1.0).heavy(1_000_000, 0.02).tolist()
        [0, 1, 2]
        """
        total = float(_power_sums(np.asarray([count]), self.s)[0])
        return np.arange(min(count, math.floor((least * total) ** (-1 / self.s) * (1 + _ROUNDING))))

    def bends(self, count: int) -> Integers:
        """Return the numbers at which popularity has changed by much."""
        return _geometric(count)

    def repeated(self, count: int) -> float:
        """Return how likely two picks are of one value.

        >>> round(Zipf(1.0).repeated(2), 4)
        0.5556
        """
        squares, whole = (_power_sums(np.asarray([count]), s)[0] for s in (2 * self.s, self.s))
        return float(squares / whole**2)

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"zipf": {"exponent": self.s, "moves": self.moves} if self.moves else self.s}


@dataclass(frozen=True)
class Hotspot:
    """A share of the values gets a share of the traffic, each part evenly.

    >>> Hotspot(0.25, 0.7).probabilities(4).round(2).tolist()
    [0.7, 0.1, 0.1, 0.1]
    """

    keys: float
    traffic: float
    #: After how many seconds other values are the hot ones; None for never.
    moves: float | None = None

    def probabilities(self, count: int) -> Floats:
        """Return the probability of each value.

        >>> Hotspot(keys=0.25, traffic=0.7).probabilities(4).round(2).tolist()
        [0.7, 0.1, 0.1, 0.1]
        """
        hot = self._hot(count)
        if hot == count:
            return Uniform().probabilities(count)
        weights = np.full(count, (1 - self.traffic) / (count - hot))
        weights[:hot] = self.traffic / hot
        return weights

    def _hot(self, count: int) -> int:
        return min(count, max(1, round(count * self.keys)))

    def below(self, count: int, numbers: Integers) -> Floats:
        """Return the probability of the values below each number.

        >>> Hotspot(keys=0.25, traffic=0.7).below(4, np.array([1, 4])).tolist()
        [0.7, 1.0]
        """
        hot = self._hot(count)
        if hot == count:
            return numbers / count
        cold = np.maximum(numbers - hot, 0) / (count - hot)
        return np.asarray(self.traffic * np.minimum(numbers / hot, 1.0) + (1 - self.traffic) * cold)

    def heavy(self, count: int, least: float) -> Integers:
        """Return the numbers of the values that are at least so probable."""
        hot = self._hot(count)
        ends = np.asarray([0, hot, count])
        each = np.diff(self.below(count, ends)) / np.maximum(np.diff(ends), 1)
        return (
            np.flatnonzero(np.repeat(each >= least, np.diff(ends)))
            if each.max() >= least
            else (np.zeros(0, dtype=np.int64))
        )

    def bends(self, count: int) -> Integers:
        """Return the number at which popularity changes."""
        return np.asarray([self._hot(count)])

    def repeated(self, count: int) -> float:
        """Return how likely two picks are of one value."""
        hot = self._hot(count)
        cold = count - hot
        return 1.0 / count if not cold else self.traffic**2 / hot + (1 - self.traffic) ** 2 / cold

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        moves = {"moves": self.moves} if self.moves else {}
        return {"hotspot": {"keys": self.keys, "traffic": self.traffic, **moves}}


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

    def below(self, count: int, numbers: Integers) -> Floats:
        """Return the probability of the values below each number."""
        return 1.0 - Zipf(self.s).below(count, count - numbers)

    def heavy(self, count: int, least: float) -> Integers:
        """Return the numbers of the values that are at least so probable."""
        return count - 1 - Zipf(self.s).heavy(count, least)[::-1]

    def bends(self, count: int) -> Integers:
        """Return the numbers at which popularity has changed by much."""
        return count - _geometric(count)

    def repeated(self, count: int) -> float:
        """Return how likely two picks are of one value."""
        return Zipf(self.s).repeated(count)

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"latest": self.s}


@dataclass(frozen=True)
class Sequential(Uniform):
    """One value after the other, again and again.

    >>> Sequential().probabilities(2).tolist()
    [0.5, 0.5]
    """

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
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

    def _summed(self, count: int) -> Floats:
        summed = np.concatenate([[0.0], np.cumsum(self.weights[:count])])
        return np.asarray(summed / summed[-1])

    def below(self, count: int, numbers: Integers) -> Floats:
        """Return the probability of the values below each number.

        >>> Weights((3, 1)).below(3, np.array([1, 2, 3])).tolist()
        [0.75, 1.0, 1.0]
        """
        summed = self._summed(count)
        return np.asarray(summed[np.minimum(numbers, len(summed) - 1)])

    def heavy(self, count: int, least: float) -> Integers:
        """Return the numbers of the values that are at least so probable."""
        return np.flatnonzero(np.diff(self._summed(count)) >= least)

    def bends(self, count: int) -> Integers:
        """Return numbers between which popularity changes little, if weights are in order."""
        listed = min(count, len(self.weights))
        return np.union1d(_geometric(listed), [listed])

    def repeated(self, count: int) -> float:
        """Return how likely two picks are of one value."""
        return float((np.diff(self._summed(count)) ** 2).sum())

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"weights": list(self.weights)}


Distribution: TypeAlias = Uniform | Zipf | Hotspot | Latest | Sequential | Weights


def moves_of(distribution: Distribution) -> float | None:
    """Return after how many seconds other values are the popular ones; None for never.

    >>> moves_of(Zipf(1.0, moves=600)), moves_of(Uniform())
    (600, None)
    """
    return distribution.moves if isinstance(distribution, Zipf | Hotspot) else None


_WORDS: Final[Mapping[str, Distribution]] = {
    "uniform": Uniform(),
    "zipf": Zipf(),
    "latest": Latest(),
    "sequential": Sequential(),
}
EXPECTED: Final = (
    "uniform, sequential, latest, zipf, {zipf: s}, {latest: s}, {weights: [...]}, "
    "{hotspot: {keys: share, traffic: share}} or {zipf: {exponent: s, moves: 1h}}"
)


def _weights(entry: Entry, weights: tuple[float, ...]) -> Weights:
    if not sum(weights):
        entry.complain("expected at least one weight above 0")
    return Weights(weights)


_SHARE: Final = forms.number(least=0, most=1)
_MOVES: Final = FormMember(
    forms.duration(), "After how long other values are the popular ones; by default never."
)
HOTSPOT: Final = Record(
    "hotspot",
    "A share of the values gets a share of the traffic, each part evenly.",
    {
        "keys": FormMember(
            forms.number(above=0, most=1), "The share of the values that are hot.", required=True
        ),
        "traffic": FormMember(_SHARE, "The share of the traffic that they get.", required=True),
        "moves": _MOVES,
    },
)
ZIPF: Final = Record(
    "zipf",
    "Value r is used 1 / (r + 1) ** exponent as often as the first.",
    {
        "exponent": FormMember(forms.number(above=0), "How uneven.", required=True),
        "moves": _MOVES,
    },
)
_STILL: Final = forms.number(above=0).made(lambda _, s: Zipf(s))
_MOVING: Final = ZIPF.form.made(lambda _, values: Zipf(values["exponent"], values.get("moves")))


def _suited_zipf(entry: Entry) -> Form:
    return _MOVING if isinstance(entry.value, Mapping) else _STILL


_SHAPED: Final = forms.kinds(
    {
        "zipf": forms.either(_STILL, _MOVING, select=_suited_zipf),
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
    Zipf(s=1.2, moves=None)
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
