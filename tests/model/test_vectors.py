"""Vectors: numbers of 32 bits, and the entries that items have in an index."""

import struct
from array import array
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model import Item, KeyAttribute, KeySchema, Projection
from emulator.model.vectors import (
    LARGEST_FLOAT,
    SearchAttribute,
    VectorSchema,
    is_single,
    single,
    to_vector,
    vector_value,
)

KEY = KeySchema((KeyAttribute("pk", "S"),))
TENANT = SearchAttribute("tenant", "S", "HASH")
KIND = SearchAttribute("kind", "N", "INLINE_FILTER")
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)


def schema(projection=None, *search):
    return VectorSchema("v", "emb", 2, "COSINE", projection or Projection("ALL"), search, KEY)


def item(**attributes):
    return Item.of({"pk": "a", "emb": (Decimal(1), Decimal("0.5"))} | attributes)


@given(singles)
def test_a_vector_is_shown_by_the_shortest_decimals_that_are_read_back_the_same(number):
    """VIX-41."""
    (shown,) = vector_value(array("f", [number]))
    assert "E" not in str(shown) or "E" not in format(shown, "f")
    assert struct.unpack("f", struct.pack("f", float(shown)))[0] == number
    assert "." in format(shown, "f")


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1.0"), (0.1, "0.1"), (16777216, "16777216.0"), (1e30, "1" + "0" * 30 + ".0")],
)
def test_large_exponents_are_written_out(number, text):
    """VIX-41."""
    (shown,) = vector_value(array("f", [number]))
    assert single(float(text)) == single(number)
    assert format(shown, "f") == text


def test_numbers_finer_than_32_bits_are_rounded():
    """VIX-30."""
    assert to_vector([Decimal(16777217)]) == array("f", [16777216])


def test_what_rounds_to_no_finite_number_is_no_single():
    """VIX-31."""
    assert is_single(Decimal("-3.4028235E38"))
    assert not is_single(Decimal("3.40282357E38"))
    assert single(1e39) == LARGEST_FLOAT


def test_an_entry_carries_keys_search_attributes_and_what_is_projected():
    """VIX-33."""
    whole = item(tenant="t", kind=Decimal(1), x="y", z="")
    assert set(schema().entry(whole).item.attributes) == {"pk", "tenant", "kind", "x", "z"}
    keys_only = schema(Projection("KEYS_ONLY"), TENANT, KIND).entry(whole)
    assert set(keys_only.item.attributes) == {"pk", "tenant", "kind"}
    assert keys_only.partition == "t"
    including = schema(Projection("INCLUDE", ("emb", "x"))).entry(whole)
    assert set(including.item.attributes) == {"pk", "x"}


def test_an_entry_counts_its_vector_as_32_bit_numbers():
    """VIX-63."""
    entry = schema(Projection("KEYS_ONLY")).entry(item(x="y"))
    assert entry.size_bytes == len("emb") + 4 * 2 + len("pk") + len("a")


@pytest.mark.parametrize(
    "attributes",
    [
        {"emb": None},
        {"emb": (Decimal(1),)},
        {"emb": (Decimal(1), "x")},
        {"emb": (Decimal(1), Decimal("1e39"))},
        {"tenant": Decimal(1)},
        {"tenant": ""},
        {"kind": "text"},
    ],
)
def test_what_a_write_would_be_refused_for_has_no_entry(attributes):
    """VIX-24."""
    assert schema(None, TENANT, KIND).entry(item(**{"tenant": "t"} | attributes)) is None


def test_only_the_partition_must_be_there():
    """VIX-30."""
    assert schema(None, TENANT, KIND).entry(item()) is None
    assert schema(None, TENANT, KIND).entry(item(tenant="t")) is not None


def test_half_way_to_the_next_power_of_two_is_no_number_of_32_bits():
    """VIX-42: it would be rounded up, to infinity."""
    half_way = Decimal(2**128 - 2**103)
    assert not is_single(half_way)
    assert is_single(half_way - 2**100)
    assert to_vector([half_way])[0] == float("inf")


def test_the_smallest_number_is_shown_with_one_digit():
    """VIX-41: the shortest text that is read back the same."""
    assert vector_value(array("f", [2.0**-149])) == (Decimal("1E-45"),)
