"""Contents: the range of a key is what begins like it, and every world has its own items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.world.contents import Contents

TEXTS = st.text("ab#", max_size=3)
KEYS = st.tuples(st.sampled_from(["k", "k1", "l"]), st.booleans(), TEXTS)


def entries(contents, keys, counts=None):
    """Return the entries of some keys, each of which stands for one or for ``counts``."""
    each = np.ones(len(keys)) if counts is None else np.asarray(counts, dtype=float)
    return contents.entries(keys, each, each)


@given(st.lists(KEYS, max_size=12), st.lists(KEYS, min_size=1, max_size=12))
def test_a_range_has_the_entries_that_begin_like_a_key(there, asked):
    contents = Contents(1)
    entries(contents, there)
    distinct = contents.keys
    column = np.arange(1.0, len(distinct) + 1)[None]

    [counted] = contents.ranges(asked, np.ones(len(asked))).sums(column)

    for (text, is_new, prefix), count in zip(asked, counted.tolist(), strict=True):
        begin_alike = [
            amount
            for key, amount in zip(distinct, column[0].tolist(), strict=True)
            if key[:2] == (text, is_new) and key[2].startswith(prefix)
        ]
        assert count == pytest.approx(sum(begin_alike))


@given(st.lists(KEYS, min_size=1, max_size=12), st.lists(KEYS, min_size=1, max_size=12))
def test_sums_by_entry_are_the_same_whether_entries_are_in_turn_or_not(before, keys):
    contents = Contents(1)
    entries(contents, before)
    own = entries(contents, keys)
    amounts = np.arange(1.0, len(keys) + 1)[None]

    contents.add(own, amounts, 10 * amounts, (0.0, 1.0))

    assert contents.total_items == pytest.approx(amounts.sum())
    for key, items in zip(contents.keys, contents.items[0].tolist(), strict=True):
        mine = [part for other, part in zip(keys, amounts[0].tolist(), strict=True) if other == key]
        assert items == pytest.approx(sum(mine))


def test_entries_alike_are_as_good_as_one_by_one():
    """A thousand devices with a kind each: one entry that stands for all."""
    together, apart = Contents(1), Contents(1)
    one = entries(together, [("d0", False, "")], [1_000])
    each = entries(apart, [(f"d{number}", False, "") for number in range(1_000)])

    together.add(one, np.array([[5_000.0]]), np.array([[5e6]]), (0.0, 9.0))
    apart.add(each, np.full((1, 1_000), 5.0), np.full((1, 1_000), 5e3), (0.0, 9.0))

    for name in ("total_items", "total_bytes"):
        assert getattr(together, name).tolist() == getattr(apart, name).tolist()
    assert together.billed().sum() == apart.billed().sum()
    asked = ("d0", False, "")
    found = [own.ranges([asked], np.array([count])) for own, count in ((together, 1e3), (apart, 1))]
    assert found[0].sums(together.items).tolist() == found[1].sums(apart.items).tolist()
    kinds, keys = together.collections(0), apart.collections(0)
    assert (len(kinds.keys), len(keys.keys)) == (1, 1_000)
    assert (kinds.counts, kinds.items, kinds.sizes) == ([1_000.0], keys.items[:1], keys.sizes[:1])


def test_every_world_has_its_own_items():
    one = Contents(1)
    own = entries(one, [("k", False, "a")])
    one.add(own, np.array([[1.0]]), np.array([[10.0]]), (0.0, 1.0))
    two = one.copy(2)

    added = entries(two, [("l", False, "a")])
    two.add(added, np.array([[0.0], [2.0]]), np.array([[0.0], [20.0]]), (0.0, 1.0))

    assert (one.total_items.tolist(), one.keys) == ([1.0], [("k", False, "a")])
    assert (two.total_items.tolist(), two.total_bytes.tolist()) == ([1.0, 3.0], [10.0, 30.0])
    assert [two.collections(world).keys for world in (0, 1)] == [["k"], ["k", "l"]]


def test_items_that_are_written_anew_have_the_sizes_of_all_who_write():
    """Whoever comes first: the writes of a stretch of time have no order."""
    sizes = []
    for order in (1, -1):
        contents = Contents(1)
        own = entries(contents, [("u1", False, ""), ("u2", False, "")])
        contents.add(own, np.ones((1, 2)), np.full((1, 2), 100.0), (0.0, 1.0))
        for count, size in [(30.0, 300.0), (10.0, 900.0)][::order]:
            contents.rewrite(own, np.asarray([[count, 0.0]]), size)
        contents.settle()
        contents.settle()
        sizes.append(contents.sizes[0].tolist())

    assert sizes[0] == pytest.approx(sizes[1])
    assert sizes[0] == pytest.approx([450.0, 100.0])


def test_items_of_a_time_are_those_that_were_written_in_it():
    """CAP-206: what a Query by time finds; half of the run's, and none of what was loaded."""
    contents = Contents(1)
    own = entries(contents, [("k", False, "")])
    contents.add(own, np.array([[40.0]]), np.array([[40.0]]), (-200.0, -100.0))
    contents.close_preload()
    contents.add(own, np.array([[10.0]]), np.array([[10.0]]), (0.0, 20.0))

    assert contents.recent(10.0, 20.0).tolist() == [[5.0]]
    assert contents.recent(20.0 + 150.0, 20.0).tolist() == [[10.0 + 20.0]]
    assert contents.recent(1e9, 20.0).tolist() == [[50.0]]
