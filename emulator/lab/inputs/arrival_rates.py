"""How often an access pattern is used, second by second.

A rate is requests per second at each moment of the run, and one before it, at which the table is
warmed up (CAP2-10). Arrivals are ``even`` (as close to the
rate as whole requests allow) or ``poisson`` (independent callers).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from emulator.lab.inputs import forms
from emulator.lab.inputs.distributions import Floats, Integers
from emulator.lab.inputs.documents import Entry
from emulator.lab.inputs.forms import Form, FormMember, Record

Arrivals: TypeAlias = Literal["even", "poisson"]
ARRIVALS: Final[dict[str, Arrivals]] = {"even": "even", "poisson": "poisson"}
_DAY: Final = 86_400.0
_HOUR: Final = 3600.0


@dataclass(frozen=True)
class Constant:
    """The same rate all the time.

    >>> Constant(20).per_second(3).tolist()
    [20.0, 20.0, 20.0]
    """

    rate: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate >= 0):
            raise ValueError(f"a rate is a number from 0, not {self.rate}")

    @property
    def before_run(self) -> float:
        """The rate before the run."""
        return self.rate

    @property
    def highest(self) -> float:
        """The most that it comes to."""
        return self.rate

    def per_second(self, seconds: int) -> Floats:
        """Return the rate in each second of the run."""
        return np.full(seconds, float(self.rate))

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return self.rate


@dataclass(frozen=True)
class Daily:
    """A smooth day: ``peak`` at ``peak_hour``, ``low`` twelve hours off.

    >>> Daily(low=0, peak=100, peak_hour=0).per_second(2).round().tolist()
    [100.0, 100.0]
    """

    low: float
    peak: float
    peak_hour: float = 14.0

    @property
    def before_run(self) -> float:
        """The rate before the run."""
        return float(self.per_second(1)[0])

    @property
    def highest(self) -> float:
        """The most that it comes to."""
        return max(self.low, self.peak)

    def per_second(self, seconds: int) -> Floats:
        """Return the rate in each second of a run that starts at midnight."""
        angle = 2 * math.pi * (np.arange(seconds) + 0.5 - self.peak_hour * _HOUR) / _DAY
        return np.asarray(self.low + (self.peak - self.low) * (1 + np.cos(angle)) / 2)

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"daily": {"low": self.low, "peak": self.peak, "peak_hour": self.peak_hour}}


@dataclass(frozen=True)
class Ramp:
    """From one rate to another in ``over`` seconds, then on at that rate.

    >>> Ramp(start=0, end=10, over=5).per_second(6).tolist()
    [1.0, 3.0, 5.0, 7.0, 9.0, 10.0]
    """

    start: float
    end: float
    over: float

    @property
    def before_run(self) -> float:
        """The rate before the run."""
        return self.start

    @property
    def highest(self) -> float:
        """The most that it comes to."""
        return max(self.start, self.end)

    def per_second(self, seconds: int) -> Floats:
        """Return the rate in each second of the run."""
        done = np.minimum(1.0, (np.arange(seconds) + 0.5) / self.over)
        return np.asarray(self.start + (self.end - self.start) * done)

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"ramp": {"start": self.start, "end": self.end, "over": self.over}}


@dataclass(frozen=True)
class Spikes:
    """A base rate with a spike every ``every`` seconds that lasts ``lasting`` seconds.

    >>> Spikes(base=1, peak=9, every=4, lasting=2, first=1).per_second(6).tolist()
    [1.0, 9.0, 9.0, 1.0, 1.0, 9.0]
    """

    base: float
    peak: float
    every: float
    lasting: float
    #: When the first one comes.
    first: float = 0.0

    @property
    def before_run(self) -> float:
        """The rate before the run: that between spikes."""
        return self.base

    @property
    def highest(self) -> float:
        """The most that it comes to."""
        return max(self.base, self.peak)

    def per_second(self, seconds: int) -> Floats:
        """Return the rate in each second of the run."""
        moments = np.arange(seconds) + 0.5 - self.first
        spiking = (moments >= 0) & (moments % self.every < self.lasting)
        return np.where(spiking, self.peak, self.base).astype(np.float64)

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {
            "spikes": {
                "base": self.base,
                "peak": self.peak,
                "every": self.every,
                "lasting": self.lasting,
                "first": self.first,
            }
        }


@dataclass(frozen=True)
class Series:
    """Listed rates, one per second; zero after the last."""

    rates: tuple[float, ...]

    @property
    def before_run(self) -> float:
        """The rate before the run."""
        return self.rates[0] if self.rates else 0.0

    @property
    def highest(self) -> float:
        """The most that it comes to."""
        return max(self.rates, default=0.0)

    def per_second(self, seconds: int) -> Floats:
        """Return the rate in each second of the run."""
        rates = np.zeros(seconds)
        known = np.asarray(self.rates[:seconds], dtype=np.float64)
        rates[: len(known)] = known
        return rates

    def to_document(self) -> Any:
        """Return the document that ``from_entry`` reads."""
        return {"series": list(self.rates)}


Rate: TypeAlias = Constant | Daily | Ramp | Spikes | Series


def on_clock(rate: Rate, start: float) -> Rate:
    """Return a rate as a run has it that begins at ``start``, in seconds since the epoch.

    The hours of a day are those of the clock (UTC); all else counts from the start of the run.

    >>> on_clock(Daily(low=0, peak=100, peak_hour=14), start=13.5 * 3600).peak_hour
    0.5
    """
    if isinstance(rate, Daily):
        return replace(rate, peak_hour=rate.peak_hour - start % _DAY / _HOUR)
    return rate


EXPECTED: Final = "a number per second, or one of daily, ramp, spikes, series with its fields"


_RATE: Final = forms.number(least=0)
DAILY: Final = Record(
    "daily",
    "A smooth day, by the run's clock (UTC), which begins at the workload's `start`.",
    {
        "low": FormMember(_RATE, "Requests per second at the quietest moment.", required=True),
        "peak": FormMember(_RATE, "Requests per second at the busiest moment.", required=True),
        "peak_hour": FormMember(
            forms.number(least=0, most=24),
            "The hour of the busiest moment; the quietest is twelve hours off.",
            default=Daily.peak_hour,
            example=20,
        ),
    },
)
RAMP: Final = Record(
    "ramp",
    "From one rate to another, which then stays.",
    {
        "start": FormMember(_RATE, "Requests per second at the beginning.", required=True),
        "end": FormMember(_RATE, "Requests per second at the end.", required=True),
        "over": FormMember(forms.duration(), "How long the change takes.", required=True),
    },
)
SPIKES: Final = Record(
    "spikes",
    "A base rate, with spikes.",
    {
        "base": FormMember(_RATE, "Requests per second between spikes.", required=True),
        "peak": FormMember(_RATE, "Requests per second in a spike.", required=True),
        "every": FormMember(forms.duration(), "From one spike to the next.", required=True),
        "lasting": FormMember(forms.duration(), "How long a spike lasts.", required=True),
        "first": FormMember(
            forms.duration(zero=True), "When the first one comes.", default=Spikes.first
        ),
    },
)
_CHANGING: Final = forms.kinds(
    {
        "daily": DAILY.form.made(lambda _, values: Daily(**values)),
        "ramp": RAMP.form.made(lambda _, values: Ramp(**values)),
        "spikes": SPIKES.form.made(lambda _, values: Spikes(**values)),
        "series": forms.many(_RATE, least=1).made(lambda _, rates: Series(rates)),
    },
    EXPECTED,
)
_CONSTANT: Final = _RATE.made(lambda _, rate: Constant(rate))


def _suited(entry: Entry) -> Form:
    if isinstance(entry.value, str):
        entry.fail(EXPECTED)
    return _CHANGING if isinstance(entry.value, dict) else _CONSTANT


FORM: Final = forms.either(_CONSTANT, _CHANGING, select=_suited)


def from_entry(entry: Entry) -> Rate:
    """Read a rate.

    >>> from_entry(Entry.of({"ramp": {"start": 0, "end": 10, "over": "5m"}}, "doc"))
    Ramp(start=0.0, end=10.0, over=300.0)
    """
    rate: Rate = FORM.read(entry)
    return rate


def counts(rates: Floats, arrivals: Arrivals, rng: np.random.Generator) -> Integers:
    """Return how many requests arrive in each second.

    >>> counts(np.full(4, 2.5), "even", np.random.default_rng(0)).tolist()
    [2, 3, 2, 3]
    """
    if arrivals == "poisson":
        return rng.poisson(rates).astype(np.int64)
    return np.diff(np.floor(np.cumsum(rates) + 1e-9), prepend=0.0).astype(np.int64)


def request_draws(seed: int, pattern: str) -> np.random.Generator:
    """Return the random generator of a pattern's requests, wherever it stands among others.

    Both engines draw from it, so they play the same requests.

    >>> [int(request_draws(0, name).integers(100)) for name in ("put", "get", "put")]
    [77, 97, 77]
    """
    return np.random.default_rng([seed, *pattern.encode()])
