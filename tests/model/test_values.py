"""Equality and order: CMP-1, CMP-2, CMP-3; paths: CND-1."""

from decimal import Decimal

import pytest

from emulator.model import MISSING, NumberSet, StringSet, equal, format_path, is_below, resolve
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
    ],
)
def test_equality_is_within_a_type(left, right, same):
    """CMP-1."""
    assert equal(left, right) is same
    assert equal(right, left) is same


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
