import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Constant, Daily, Ramp, Spikes
from emulator.lab.inputs.arrival_rates import Series, counts, from_entry
from emulator.lab.inputs.documents import Entry
from emulator.service.errors import DocumentError

ALL = [
    Constant(2.5),
    Daily(low=1, peak=10, peak_hour=12),
    Ramp(start=1, end=5, over=30),
    Spikes(base=1, peak=50, every=20, lasting=3, first=5),
    Series((1.0, 2.0, 3.0)),
]


@pytest.mark.parametrize("rate", ALL)
def test_a_rate_is_read_as_it_was_written(rate):
    assert from_entry(Entry.of(rate.to_document(), "doc")) == rate


@given(st.sampled_from(ALL), st.integers(min_value=1, max_value=500))
def test_even_arrivals_keep_to_the_rate(rate, seconds):
    rates = rate.per_second(seconds)

    made = counts(rates, "even", np.random.default_rng(0))

    assert np.abs(np.cumsum(made) - np.cumsum(rates)).max() < 1.001


def test_poisson_arrivals_vary_around_the_rate():
    made = counts(np.full(10_000, 9.0), "poisson", np.random.default_rng(0))

    assert made.mean() == pytest.approx(9, rel=0.02)
    assert made.var() == pytest.approx(9, rel=0.05)


def test_a_day_peaks_at_its_hour():
    day = Daily(low=10, peak=100, peak_hour=14).per_second(86_400)

    assert int(day.argmax()) // 3600 in (13, 14)
    assert day.max() == pytest.approx(100)
    assert day.min() == pytest.approx(10)


@pytest.mark.parametrize(
    ("rate", "per_second"),
    [
        (Constant(2.5), [2.5] * 6),
        (Ramp(start=10, end=20, over=5), [11, 13, 15, 17, 19, 20]),
        (Ramp(start=20, end=10, over=2), [17.5, 12.5, 10, 10, 10, 10]),
        (Spikes(base=1, peak=9, every=4, lasting=2, first=1), [1, 9, 9, 1, 1, 9]),
        (Spikes(base=1, peak=9, every=3, lasting=1), [9, 1, 1, 9, 1, 1]),
        (Spikes(base=1, peak=9, every=2, lasting=1.5), [9, 1, 9, 1, 9, 1]),
        (Spikes(base=1, peak=9, every=1, lasting=1, first=0.5), [9] * 6),
        (Series((1, 2)), [1, 2, 0, 0, 0, 0]),
        (Series(tuple(range(9))), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_a_rate_is_what_it_says_in_the_middle_of_each_second(rate, per_second):
    assert rate.per_second(6).tolist() == pytest.approx(per_second)


def test_a_day_is_a_cosine_from_midnight():
    """The peak at its hour, the low twelve hours off, the mean six hours off."""
    day = Daily(low=10, peak=110, peak_hour=6).per_second(86_400)

    assert day[6 * 3600] == pytest.approx(110)
    assert day[18 * 3600] == pytest.approx(10)
    assert day[12 * 3600] == pytest.approx(60, abs=0.01)
    assert day[9 * 3600] == pytest.approx(60 + 50 * 0.5**0.5, abs=0.01)
    assert Daily(low=1, peak=2).peak_hour == 14


def test_even_arrivals_are_whole_requests_as_they_fall_due():
    made = counts(np.array([2.5, 2.5, 0.1, 0.9, 3.0]), "even", np.random.default_rng(0))

    assert made.tolist() == [2, 3, 0, 1, 3]
    tenths = counts(np.full(30, 0.1), "even", np.random.default_rng(0))
    assert [int(second) for second in np.flatnonzero(tenths)] == [9, 19, 29]


@pytest.mark.parametrize("rate", [-1, float("nan"), float("inf")])
def test_a_rate_is_a_number_from_zero(rate):
    with pytest.raises(ValueError, match="a rate is a number from 0"):
        Constant(rate)
    assert Constant(0).per_second(2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0, Constant(0)),
        ({"daily": {"low": 0, "peak": 0}}, Daily(0, 0)),
        ({"daily": {"low": 1, "peak": 2, "peak_hour": 24}}, Daily(1, 2, 24)),
        ({"daily": {"low": 1, "peak": 2, "peak_hour": 0}}, Daily(1, 2, 0)),
        ({"ramp": {"start": 0, "end": 0, "over": "1m"}}, Ramp(0, 0, 60)),
        (
            {"spikes": {"base": 0, "peak": 0, "every": 2, "lasting": 1, "first": 0}},
            Spikes(0, 0, 2, 1, 0),
        ),
        ({"spikes": {"base": 1, "peak": 5, "every": 2, "lasting": 1}}, Spikes(1, 5, 2, 1)),
        ({"series": [0, 1]}, Series((0, 1))),
    ],
)
def test_the_bounds_of_a_rate_belong_to_it(written, read):
    assert from_entry(Entry.of(written, "doc")) == read


@pytest.mark.parametrize(
    "written",
    [
        -1,
        "x",
        {},
        {"ramp": {}, "daily": {}},
        {"waves": 1},
        {"daily": {"low": -1, "peak": 1}},
        {"daily": {"low": 1, "peak": -1}},
        {"daily": {"low": 1, "peak": 1, "peak_hour": 25}},
        {"daily": {"low": 1, "peak": 1, "peak_hour": -1}},
        {"ramp": {"start": -1, "end": 1, "over": 1}},
        {"ramp": {"start": 1, "end": -1, "over": 1}},
        {"ramp": {"start": 1, "end": 1, "over": 0}},
        {"spikes": {"base": -1, "peak": 1, "every": 2, "lasting": 1}},
        {"spikes": {"base": 1, "peak": -1, "every": 2, "lasting": 1}},
        {"spikes": {"base": 1, "peak": 1, "every": 0, "lasting": 1}},
        {"series": [-1]},
        {"series": []},
    ],
)
def test_what_is_no_rate_is_refused(written):
    with pytest.raises(DocumentError):
        from_entry(Entry.of(written, "doc"))


def test_a_word_is_answered_with_what_a_rate_can_be():
    with pytest.raises(DocumentError, match="one of daily, ramp, spikes, series"):
        from_entry(Entry.of("fast", "doc"))
