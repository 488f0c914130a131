"""Equality and order: CMP-1, CMP-2, CMP-3; paths: CND-1."""

import copy
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model import (
    MISSING,
    NumberSet,
    StringSet,
    equal,
    format_path,
    frozen,
    is_below,
    resolve,
)
from emulator.model.values import nesting_levels


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Decimal(1), Decimal("1.0"), True),
        (True, Decimal(1), False),
        ((True,), (Decimal(1),), False),
        ({"a": False}, {"a": Decimal(0)}, False),
        (None, None, True),
        (None, False, False),
        ("a", b"a", False),
        ((1, 2), (1,), False),
        ({"a": "x"}, {"b": "x"}, False),
        ({"a": None}, {"a": None}, True),
        (StringSet({"a", "b"}), StringSet({"b", "a"}), True),
        (StringSet({"1"}), NumberSet({Decimal(1)}), False),
        (MISSING, MISSING, True),
        (MISSING, None, False),
        (((), (True,)), ((), (Decimal(1),)), False),
        (({"a": ()}, {"a": True}), ({"a": ()}, {"a": Decimal(1)}), False),
    ],
)
def test_equality_is_within_a_type(left, right, same):
    """CMP-1."""
    assert equal(left, right) is same
    assert equal(right, left) is same


scalars = st.sampled_from(["", "a", b"", b"a", True, False, Decimal(0), Decimal(1), None])
sets = st.sampled_from([StringSet({"a"}), StringSet(()), NumberSet({Decimal(1)}), NumberSet(())])
values = st.recursive(
    scalars | sets,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)


def is_same(left, right):
    """Compare member by member."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            is_same(left[name], right[name]) for name in left
        )
    return left == right


@given(values, values)
def test_values_are_equal_if_all_their_members_are(left, right):
    """CMP-1; what stands for a value in a look-up is equal just as values are."""
    assert equal(left, right) is is_same(left, right)
    assert (frozen(left) == frozen(right)) is is_same(left, right)
    twin = copy.deepcopy(left)
    assert equal(left, twin)
    assert hash(frozen(left)) == hash(frozen(twin))


@pytest.mark.parametrize(
    ("left", "right", "below"),
    [
        ("a", "b", True),
        ("", "a", True),
        ("Z", "a", True),
        ("\uffff", "\U00010000", True),  # CMP-3: UTF-8 order, which UTF-16 would reverse
        (Decimal(9), Decimal(10), True),
        (b"\x7f", b"\x80", True),  # TXT-2: unsigned
        (b"a", b"ab", True),
        (Decimal(1), "2", False),  # CMP-2: no order between types
        (True, False, False),
        (None, None, False),
        ((), (1,), False),
        (MISSING, "a", False),
    ],
)
def test_order_is_within_strings_numbers_and_binaries(left, right, below):
    assert is_below(left, right) is below


def test_paths_lead_to_values_or_nowhere():
    """CND-1."""
    item = {"a": {"b": ("x", {"c": None})}, "s": "text"}
    assert resolve(item, ("a", "b", 0)) == "x"
    assert resolve(item, ("a", "b", 1, "c")) is None
    for path in (("z",), ("a", "z"), ("a", "b", 2), ("a", 0), ("s", "x"), ("a", "b", "x")):
        assert resolve(item, path) is MISSING


def test_nothing_at_all_is_false():
    assert not MISSING


def test_paths_are_written_with_brackets():
    """UPD-3."""
    assert format_path(("a", 0, "b")) == "[a, [0], b]"


def test_nesting_counts_containers():
    assert [nesting_levels(value) for value in ("x", (), ({},), {"a": ("x",)})] == [1, 1, 2, 3]
