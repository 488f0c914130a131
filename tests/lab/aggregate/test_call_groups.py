"""The arithmetic of admission, against plain loops over groups and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emulator.lab.aggregate.call_groups import CallGroups

BUCKETS = 5
#: Three groups; the second meets two buckets only, and 0 is always open.
ROWS = np.array([[1, 2, 3], [1, 0, 3], [4, 2, 3]])
UNITS = np.array([[1.0, 2.0, 0.5], [3.0, 0.0, 1.5], [2.0, 1.0, 4.0]])
shares = arrays(np.float64, BUCKETS, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def groups(**changes):
    members = {
        "bucket_count": BUCKETS,
        "buckets": ROWS,
        "units": UNITS,
        "owner": np.array([0, 0, 1]),
        "actions": np.ones(3),
        "chance": np.ones((3, 3)),
        "patience": np.ones(3),
        "final": np.zeros((3, 3), dtype=np.bool_),
    }
    return CallGroups(**members | changes)


def opened(made, values):
    values = values.copy()
    values[0] = 1.0
    return made.open_shares(values)


def test_a_load_is_calls_times_units_summed_by_bucket():
    calls = np.array([10.0, 1.0, 2.0])
    expected = np.zeros(BUCKETS)
    for row, units, count in zip(ROWS, UNITS, calls, strict=True):
        for bucket, unit in zip(row, units, strict=True):
            expected[bucket] += count * unit
    assert groups().loads(calls).tolist() == expected.tolist()
    by_second = groups().loads_by_second(np.array([calls, 2 * calls]))
    assert by_second.tolist() == [expected.tolist(), (2 * expected).tolist()]


@given(shares)
def test_a_call_passes_where_all_its_buckets_are_open(values):
    made = groups()
    open_shares = opened(made, values)
    for row, own, passed in zip(ROWS, open_shares, made.passed(open_shares), strict=True):
        expected = [1.0 if bucket == 0 else values[bucket] for bucket in row]
        assert own.tolist() == expected
        assert passed == pytest.approx(np.prod(expected))


def test_a_bucket_refuses_only_calls_that_draw_on_it():
    """CAP-609: an index whose entry does not change cannot hold a write back."""
    made = groups(chance=np.array([[1.0, 0.5, 0.0]] * 3))
    assert made.open_shares(np.array([1.0, 0.2, 0.2, 0.2, 1.0]))[0] == pytest.approx([0.2, 0.6, 1])


def test_a_transaction_passes_if_all_its_actions_do():
    """CAP-611: all or none; three actions pass with the third power of one's chance."""
    made = groups(actions=np.array([1.0, 3.0, 1.0]))
    half = np.full((3, 3), 0.5)
    assert made.passed(half) == pytest.approx([0.5**3, 0.5**9, 0.5**3])


def test_what_is_refused_comes_again_unless_nobody_is_patient():
    half = np.full((3, 3), 0.5)
    made = groups(patience=np.array([1.0, 0.0, 1.0]))
    assert made.again(half, made.passed(half)) == pytest.approx([7 / 8, 0, 7 / 8])


def test_what_a_final_bucket_refuses_does_not_come_again():
    """Half is refused for good; of the half that is left, a quarter passes."""
    half = np.full((3, 3), 0.5)
    made = groups(final=np.array([[True, False, False]] * 3))
    assert made.again(half, made.passed(half)) == pytest.approx([1 / 2 - 1 / 8] * 3)


@given(shares)
def test_every_refusal_has_one_first_bucket(values):
    made = groups(actions=np.array([1.0, 2.0, 1.0]))
    open_shares = opened(made, values)
    passed = made.passed(open_shares)
    first = made.first_refusals(open_shares, passed)
    assert first.sum(axis=1) == pytest.approx(1 - passed)
    assert (first[open_shares == 1] == 0).all()
    for own, refused in zip(open_shares, first, strict=True):
        reached = [np.prod(own[:column]) for column in range(3)]
        weights = [before * (1 - share) for before, share in zip(reached, own, strict=True)]
        # In proportion to how often each is the first that is short.
        assert refused * sum(weights) == pytest.approx(np.array(weights) * refused.sum())


def test_a_bucket_is_reached_by_what_no_earlier_one_refuses():
    own = np.array([[0.5, 0.2, 0.1]])
    assert groups().reached(own)[0] == pytest.approx([1, 0.5, 0.1])


def test_a_resource_is_short_if_any_of_its_buckets_is():
    """Columns 0 and 1 are of one resource, column 2 of another."""
    own = np.array([[0.5, 0.2, 0.1]])
    assert groups().short_shares(own)[0] == pytest.approx([0.9, 0.9, 0.9])
    own = np.array([[0.5, 1.0, 1.0]])
    assert groups().short_shares(own)[0] == pytest.approx([0.5, 0.5, 0.0])


def test_a_bucket_belongs_to_the_first_column_it_stands_in():
    made = groups(buckets=np.array([[1, 2, 3], [2, 0, 1], [4, 2, 3]]))
    assert [level.tolist() for level in made.levels] == [[1, 2, 4], [3]]
    assert (len(made), made.columns) == (3, 3)
