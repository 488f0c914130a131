import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Constant, Daily, Ramp, Spikes
from emulator.lab.inputs.arrival_rates import Series, counts, from_entry
from emulator.lab.inputs.documents import Entry

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
