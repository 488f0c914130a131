"""Entries: the range of a key is what begins like it, and copies of a population share numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.aggregate.entries import EntryNumbers
from emulator.lab.aggregate.population import Population
from emulator.lab.inputs.distributions import weighted

TEXTS = st.text("ab#", max_size=3)
KEYS = st.tuples(st.sampled_from(["k", "k1", "l"]), st.booleans(), TEXTS)


@given(st.lists(KEYS, max_size=12), st.lists(KEYS, min_size=1, max_size=12))
def test_a_range_has_the_entries_that_begin_like_a_key(there, asked):
    numbers = EntryNumbers()
    numbers.of(there)
    distinct = numbers.keys()
    column = np.arange(1.0, len(distinct) + 1)

    counted = numbers.ranges(asked).sums(column)

    for (text, is_new, prefix), count in zip(asked, counted.tolist(), strict=True):
        begin_alike = [
            amount
            for key, amount in zip(distinct, column.tolist(), strict=True)
            if key[:2] == (text, is_new) and key[2].startswith(prefix)
        ]
        assert count == pytest.approx(sum(begin_alike))


@given(st.lists(KEYS, min_size=1, max_size=12), st.sampled_from([0.5, float("inf")]))
def test_entries_that_are_asked_for_often_count_as_often(asked, most):
    numbers = EntryNumbers()
    numbers.of(asked)
    column = np.linspace(0.1, 1.0, len(numbers))
    weights = np.arange(1.0, len(asked) + 1)
    ranges = numbers.ranges(asked)

    counted = ranges.weighed(column, weights, most)

    assert counted == pytest.approx(weighted(np.minimum(ranges.sums(column), most), weights))


@given(st.lists(KEYS, min_size=1, max_size=12), st.lists(KEYS, min_size=1, max_size=12))
def test_sums_by_entry_are_the_same_whether_entries_are_in_turn_or_not(before, keys):
    numbers = EntryNumbers()
    numbers.of(before)
    entries = numbers.of(keys)
    amounts = np.arange(1.0, len(keys) + 1)

    summed = entries.sums(amounts, len(numbers))

    assert summed.sum() == pytest.approx(amounts.sum())
    for key, amount in zip(numbers.keys(), summed.tolist(), strict=True):
        own = [part for other, part in zip(keys, amounts.tolist(), strict=True) if other == key]
        assert amount == pytest.approx(sum(own))


def test_copies_share_the_numbers_and_not_the_items():
    first = Population()
    entries = first.entries([("k", False, "a")])
    twin = first.copy()

    first.add(entries, np.array([1.0]), np.array([10.0]))
    added = first.entries([("l", False, "a")])
    first.add(added, np.array([2.0]), np.array([20.0]))

    assert twin.numbers is first.numbers
    assert (first.total_items, twin.total_items) == (3.0, 0.0)
    assert first.collections().keys == ["k", "l"]
    assert twin.collections().keys == []
    assert first.copy().total_bytes == 30.0
