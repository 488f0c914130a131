"""Placement and positions: CAP-503, CAP-211, MAK-71."""

from decimal import Decimal
from operator import eq, ge, gt, le, lt

import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model import KeyRange, parse_number
from emulator.storage import (
    HASH_SPACE,
    TOP,
    PartitionMap,
    bounds,
    key_position,
    placement_hash,
    segment_bounds,
)


@pytest.mark.parametrize(
    ("partition", "hashed"),
    [
        (("abc",), b"Sabc"),
        (("é",), "Sé".encode()),
        ((parse_number("1.50"),), b"N1.5"),
        ((parse_number("1E3"),), b"N1000"),
        ((b"\x00\xff",), b"B\x00\xff"),
        (("ab", "c"), b"S\0\0\0\2abS\0\0\0\1c"),
        (("a", "bc"), b"S\0\0\0\1aS\0\0\0\2bc"),  # MAK-28: not the concatenation
        (("a", Decimal(7), b"x"), b"S\0\0\0\1aN\0\0\0\x017B\0\0\0\1x"),
    ],
)
def test_the_hash_is_the_specified_one(partition, hashed):
    """CAP-503: the same on every machine."""
    assert placement_hash(partition, 0) == mmh3.hash64(hashed, seed=0, signed=False)[0]


def test_a_position_is_the_hash_and_the_values_behind_it():
    """MAK-70, MAK-72, and the worked example of docs/explanation/design.md."""
    position = key_position(("d1", "2026", "tie"), salt=0)
    assert position == (7244619036449326603, "d1", "2026", "tie")
    assert key_position(("d1",), salt=0) == position[:2]
    assert PartitionMap(4).at(position).id == 1


def test_two_hashes_are_pinned():
    assert placement_hash(("abc",), 0) == 16748430526252140965
    assert 0 <= placement_hash((Decimal(5),), 0) < HASH_SPACE


@pytest.mark.parametrize("partition", [("\ud800",), ("a", "\ud800")])
def test_text_that_is_no_unicode_is_refused_before_it_is_hashed(partition):
    """Mmh3 itself ends the process; found by the fuzz."""
    with pytest.raises(UnicodeEncodeError):
        placement_hash(partition, 0)


@given(st.integers(1, 1000), st.integers(0, HASH_SPACE - 1))
def test_segments_tile_the_hash_space(total, value):
    """CAP-211: floor(h * total / 2**64) == segment."""
    segment = value * total // HASH_SPACE
    low, high = segment_bounds(segment, total)
    assert low <= (value,) < high


keys = st.tuples(st.sampled_from("abc"), st.integers(0, 3).map(Decimal))
bound = st.none() | st.sampled_from("abc")


@given(
    st.lists(st.tuples(st.sampled_from("pq"), keys), max_size=20),
    bound,
    bound,
    st.booleans(),
    st.booleans(),
    st.sampled_from([(), ("a",), ("b",)]),
)
def test_bounds_enclose_exactly_what_the_range_holds(items, lower, upper, low_in, up_in, equal):
    """MAK-71: a key range is one interval of positions."""
    convert = (lambda text: Decimal("abc".index(text))) if equal else (lambda text: text)
    key_range = KeyRange(
        ("p",),
        equal,
        None if lower is None else convert(lower),
        None if upper is None else convert(upper),
        low_in,
        up_in,
    )
    low, high = bounds(key_range, 0)
    for partition, sort in items:
        position = (placement_hash((partition,), 0), partition, *sort, "tie")
        inside = partition == "p" and key_range.holds(sort)
        assert (low <= position < high) == inside


@pytest.mark.parametrize("value", ["", "\U0010ffff", Decimal("9E125"), b"\xff" * 5, 2**64])
def test_top_lies_above_every_key_value(value):
    below, above = (value,), (TOP,)
    comparisons = [compare(above, below) for compare in (lt, le, eq, ge, gt)]
    assert comparisons == [False, False, False, True, True]
    assert [compare(below, above) for compare in (lt, le, eq, ge, gt)] == comparisons[::-1]


def test_top_equals_itself():
    assert [compare(TOP, TOP) for compare in (lt, le, eq, ge, gt)] == [
        False,
        True,
        True,
        True,
        False,
    ]
