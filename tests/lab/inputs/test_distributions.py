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


@pytest.mark.parametrize(
    ("distribution", "count", "shares"),
    [
        (Uniform(), 4, [0.25] * 4),
        (Sequential(), 4, [0.25] * 4),
        (Zipf(2.0), 3, [36 / 49, 9 / 49, 4 / 49]),
        (Latest(2.0), 3, [4 / 49, 9 / 49, 36 / 49]),
        (Hotspot(0.25, 0.7), 4, [0.7, 0.1, 0.1, 0.1]),
        (Hotspot(0.01, 0.7), 4, [0.7, 0.1, 0.1, 0.1]),  # one value at least
        (Hotspot(0.4, 0.8), 5, [0.4, 0.4, 0.2 / 3, 0.2 / 3, 0.2 / 3]),
        (Hotspot(1.0, 0.5), 4, [0.25] * 4),  # all values are hot
        (Hotspot(0.5, 0.9), 1, [1.0]),
        (Weights((3, 1)), 2, [0.75, 0.25]),
        (Weights((3, 1)), 3, [0.75, 0.25, 0.0]),
        (Weights((3, 1, 6)), 2, [0.75, 0.25]),
    ],
)
def test_probabilities_are_those_of_the_formula(distribution, count, shares):
    assert distribution.probabilities(count).tolist() == pytest.approx(shares)


def test_values_in_turn_go_on_where_they_stopped():
    drawn = draw(Sequential(), 3, 5, np.random.default_rng(0), first=7)

    assert drawn.tolist() == [1, 2, 0, 1, 2]


def test_the_largest_number_below_one_draws_the_last_value():
    """Ten tenths add up to less than 1, as floats do."""

    class Highest:
        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    assert draw(Weights((1,) * 10), 10, 2, Highest(), first=0).tolist() == [9, 9]


@pytest.mark.parametrize("distribution", ALL)
def test_draws_stay_within_the_values(distribution):
    for count in (3, 7):
        drawn = draw(distribution, count, 2_000, np.random.default_rng(2), first=0)
        assert (drawn.min(), drawn.max()) == (
            0,
            2 if isinstance(distribution, Weights) else count - 1,
        )


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"zipf": 0}, "expected a number above 0"),
        ({"latest": 0}, "expected a number above 0"),
        ({"hotspot": {"keys": 0, "traffic": 1}}, "expected a number above 0"),
        ({"hotspot": {"keys": 1.1, "traffic": 1}}, "at most 1"),
        ({"hotspot": {"keys": 1, "traffic": 1.1}}, "at most 1"),
        ({"weights": [0, 0]}, "expected at least one weight above 0"),
        ({"weights": []}, "at least"),
        ({"zipf": 1, "latest": 1}, "expected uniform"),
        (5, "expected uniform"),
    ],
)
def test_what_is_no_distribution_is_refused(written, message):
    with pytest.raises(DocumentError, match=message):
        from_entry(Entry.of(written, "doc"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"hotspot": {"keys": 1, "traffic": 0}}, Hotspot(1, 0)),
        ({"weights": [0, 0.5]}, Weights((0, 0.5))),
        ("zipf", Zipf()),
        ("latest", Latest()),
    ],
)
def test_the_bounds_of_a_distribution_belong_to_it(written, read):
    assert from_entry(Entry.of(written, "doc")) == read


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


def test_rows_without_a_key_are_passed_over(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("id,x\n,1\nb,1\n")

    assert keys_from_csv(path, "id") == (("b",), Weights((1.0,)))
    path.write_text("id,x\n,1\n")
    with pytest.raises(ValueError, match="column 'id' is empty"):
        keys_from_csv(path, "id")


def test_a_file_of_keys_that_is_empty_has_no_column(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("")
    with pytest.raises(ValueError, match="no column 'id'"):
        keys_from_csv(path, "id")
