"""Arrivals: how many requests of each pattern come in each second, and for which keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, TypeAlias

import numpy as np

from emulator.lab.inputs import arrival_rates
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.patterns import Pattern
from emulator.lab.inputs.workload import Workload
from emulator.lab.world.bins import Cells

BySecond: TypeAlias = Annotated[Floats, "second"]
WorldPattern: TypeAlias = Annotated[Floats, "world", "pattern"]

#: Tells the draws of keys from other draws of the same seed; no name of a pattern begins so.
_KEYS: Final = 2
_NOISE: Final = 3
#: A rate that changes more often than once in this number of seconds is a curve.
_RARELY: Final = 10


@dataclass(frozen=True, eq=False)
class Requests:
    """The requests of one pattern, second by second, the warm-up's first.

    Attributes:
        pattern: The pattern.
        warm_up: Seconds of the warm-up.
        rates: Requests per second.
    """

    pattern: Pattern
    warm_up: int
    rates: BySecond

    @classmethod
    def of(cls, workload: Workload, pattern: Pattern) -> Requests:
        """Return the requests of a pattern."""
        warming = np.full(workload.warm_up, workload.warm_up_rate(pattern))
        return cls(pattern, workload.warm_up, np.concatenate([warming, workload.rates(pattern)]))

    @cached_property
    def _reached(self) -> BySecond:
        """Requests before each second, as many as the rates say."""
        return np.concatenate([[0.0], np.cumsum(self.rates)])

    @cached_property
    def _counted(self) -> BySecond:
        """Whole requests before each second, if they come evenly (see ``counts``)."""
        parts = self.rates[: self.warm_up], self.rates[self.warm_up :]
        counts = [arrival_rates.counts(own, "even", np.random.default_rng(0)) for own in parts]
        return np.concatenate([[0.0], np.cumsum(np.concatenate(counts))])

    def at(self, first: int, last: int) -> BySecond:
        """Return the rates of some seconds of the run."""
        return self.rates[first + self.warm_up : last + self.warm_up]

    def expected(self, first: int, last: int) -> float:
        """Return how many requests to expect from one second of the run up to another."""
        return float(self._reached[last + self.warm_up] - self._reached[first + self.warm_up])

    def even(self, first: int, last: int) -> BySecond:
        """Return the requests of some seconds, if they come evenly."""
        return np.diff(self._counted[first + self.warm_up : last + self.warm_up + 1])

    @cached_property
    def _changes(self) -> Integers:
        """The seconds at which the rate becomes another."""
        return np.flatnonzero(np.diff(self.rates)) + 1 - self.warm_up

    @cached_property
    def _is_curve(self) -> bool:
        """Whether the rate becomes another more often than rarely."""
        return len(self._changes) * _RARELY > len(self.rates)

    def next_breaks(self, seconds: Integers) -> Floats:
        """Return the next second at which the rate becomes another, if it does so rarely."""
        changes = self._changes[:0] if self._is_curve else self._changes
        ends = np.append(changes.astype(np.float64), np.inf)
        return np.asarray(ends[np.searchsorted(changes, seconds, side="right")])

    def most(self, first: Integers, last: Integers) -> tuple[Floats, Floats]:
        """Return the largest and the mean rate between seconds of the run, in order."""
        if not self._is_curve:
            own = self.rates[first + self.warm_up]
            return own, own
        spans, place = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
        rates = [self.at(*span) for span in spans.T.tolist()]
        largest = np.asarray([own.max(initial=0.0) for own in rates])
        mean = np.asarray([own.mean() if own.min() < own.max() else own[0] for own in rates])
        return largest[place.reshape(-1)], mean[place.reshape(-1)]

    def shares(self, edges: Integers) -> Floats:
        """Return how many requests to expect between seconds of the run, in order."""
        return np.diff(self._reached[np.asarray(edges) + self.warm_up])


class Arrivals:
    """The random part of the requests of all patterns, in every world.

    Numbers of requests belong to the world, the pattern and the second: they are the same
    whatever else is played, and those of the exact engine.

    Args:
        requests: Of every pattern.
        seeds: By world.

    Attributes:
        is_even: By pattern, whether the number of requests of a second is certain.
    """

    def __init__(self, requests: Sequence[Requests], seeds: Sequence[int]) -> None:
        self._requests = requests
        self.is_even = np.asarray([own.pattern.arrivals == "even" for own in requests])
        names = [own.pattern.name for own in requests]
        self._numbers = [
            [arrival_rates.request_draws(seed, name) for name in names] for seed in seeds
        ]
        self._keys = [
            [np.random.default_rng([seed, _KEYS, *name.encode()]) for name in names]
            for seed in seeds
        ]
        self._noise = [np.random.default_rng([seed, _NOISE]) for seed in seeds]
        self._first = 0
        self._counts: Annotated[Floats, "world", "pattern", "second"] = np.zeros(
            (len(seeds), len(requests), 0)
        )
        self._reached = np.zeros((len(seeds), len(requests), 1))
        self._expected = np.zeros((len(requests), 1))

    def draw(self, first: int, last: int) -> None:
        """Draw the requests of a stretch, which begins where the last one ended."""
        self._first = first
        shape = *self._counts.shape[:2], last - first
        self._counts = np.zeros(shape)
        for number, requests in enumerate(self._requests):
            if self.is_even[number]:
                self._counts[:, number] = requests.even(first, last)
                continue
            rates = requests.at(first, last)
            for world, draws in enumerate(self._numbers):
                self._counts[world, number] = draws[number].poisson(rates)
        self._reached = np.zeros((*shape[:2], last - first + 1))
        np.cumsum(self._counts, axis=2, out=self._reached[:, :, 1:])
        rates = np.stack([requests.at(first, last) for requests in self._requests])
        self._expected = np.concatenate(
            [np.zeros((len(rates), 1)), np.cumsum(rates, axis=1)], axis=1
        )

    def total(self, worlds: Integers, first: Integers, last: Integers) -> WorldPattern:
        """Return the requests of some worlds between two seconds of the stretch."""
        own = self._reached[worlds]
        at = np.arange(len(worlds))
        return np.asarray(own[at, :, last - self._first] - own[at, :, first - self._first])

    def mean(self, worlds: Integers, first: Integers, last: Integers) -> WorldPattern:
        """Return the requests of the mean second of some worlds between two seconds."""
        drawn = self.total(worlds, first, last)
        even = (self._expected[:, last - self._first] - self._expected[:, first - self._first]).T
        return np.asarray(
            np.where(self.is_even, even, drawn) / np.maximum(last - first, 1)[:, None]
        )

    def counts(self, world: int, pattern: int, first: int, last: int) -> BySecond:
        """Return the requests of some seconds of the stretch."""
        return self._counts[world, pattern, first - self._first : last - self._first]

    def among(
        self, world: int, pattern: int, counts: BySecond, shares: Floats
    ) -> Annotated[Floats, "second", "row"]:
        """Return how many of the requests of each second fall on each of some rows.

        Args:
            world: The world.
            pattern: Whose requests.
            counts: The requests of each second.
            shares: Of each row; what is missing to 1 falls on none of them.
        """
        if len(shares) == 1 and shares[0] >= 1.0:
            return counts[:, None]
        chances = np.append(shares, max(0.0, 1.0 - float(shares.sum())))
        drawn = self._keys[world][pattern].multinomial(
            counts.astype(np.int64), chances / chances.sum()
        )
        return drawn[:, :-1].astype(np.float64)

    def noise(self, worlds: Integers, count: int) -> Floats:
        """Return independent normal numbers for some worlds."""
        return np.stack([self._noise[world].standard_normal(count) for world in worlds.tolist()])


@dataclass(frozen=True)
class Recording:
    """The requests of a recording: when each came, and of which cell."""

    times: Floats
    cells: Integers

    @classmethod
    def of(cls, pattern: Pattern, cells: Cells, load: float) -> Recording | None:
        """Return the requests that were recorded, if they can be followed one by one.

        Args:
            pattern: The pattern.
            cells: Its cells.
            load: The multiple of the load that is played.
        """
        recorded = pattern.recorded
        names = list(cells.columns)
        if recorded is None or load != 1 or not names or not set(names) <= set(recorded.values):
            return None
        # A value belongs to the bin that begins at it or last before it.
        bins = [np.unique(firsts) for firsts in cells.firsts]
        asked = [
            own[np.searchsorted(own, np.asarray(recorded.values[name]), side="right") - 1]
            for own, name in zip(bins, names, strict=True)
        ]
        cell_of = {tuple(firsts): cell for cell, firsts in enumerate(cells.firsts.T.tolist())}
        found = [
            cell_of.get(firsts, -1) for firsts in zip(*(own.tolist() for own in asked), strict=True)
        ]
        if len(found) != len(recorded.times) or min(found, default=-1) < 0:
            return None
        return cls(np.asarray(recorded.times), np.asarray(found, dtype=np.int64))

    def counts(self, first: int, last: int, cells: int) -> Annotated[Floats, "second", "cell"]:
        """Return how many requests came of each cell in some seconds."""
        low, high = np.searchsorted(self.times, (first, last))
        seconds = self.times[low:high].astype(np.int64) - first
        places = seconds * cells + self.cells[low:high]
        found = np.bincount(places, minlength=(last - first) * cells)
        return found.reshape(last - first, cells).astype(np.float64)
