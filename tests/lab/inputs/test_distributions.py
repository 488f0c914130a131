import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Hotspot, Latest, Sequential, Uniform, Weights, Zipf
from emulator.lab.inputs.distributions import draw, from_entry, keys_from_csv
from emulator.lab.inputs.documents import Entry
from emulator.service.errors import DocumentError

ALL = [Uniform(), Zipf(1.2), Hotspot(0.2, 0.8), Latest(0.9), Sequential(), Weights((3, 0, 1))]


@given(st.sampled_from(ALL), st.integers(min_value=3, max_value=300))
def test_probabilities_sum_to_one(distribution, count):
    shares = distribution.probabilities(count)

    assert len(shares) == count
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()


@pytest.mark.parametrize("distribution", ALL)
def test_draws_follow_the_probabilities(distribution):
    drawn = draw(distribution, 3, 20_000, np.random.default_rng(1), first=0)

    shares = np.bincount(drawn, minlength=3) / len(drawn)
    assert shares == pytest.approx(distribution.probabilities(3), abs=0.02)


def test_a_hotspot_gives_its_share_to_its_keys():
    assert Hotspot(0.1, 0.9).probabilities(100)[:10].sum() == pytest.approx(0.9)


@pytest.mark.parametrize("distribution", ALL)
def test_a_distribution_is_read_as_it_was_written(distribution):
    assert from_entry(Entry.of(distribution.to_document(), "doc")) == distribution


def test_an_unknown_distribution_says_what_there_is():
    with pytest.raises(DocumentError, match="expected uniform, sequential, latest, zipf"):
        from_entry(Entry.of({"gauss": 1}, "doc"))


def test_keys_of_a_csv_are_as_popular_as_they_are_frequent(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("id,x\na,1\nb,1\na,2\n")

    assert keys_from_csv(path, "id") == (("a", "b"), Weights((2.0, 1.0)))
    with pytest.raises(ValueError, match="no column 'nope'; it has id, x"):
        keys_from_csv(path, "nope")
