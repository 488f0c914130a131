"""Schemas and key ranges: MAK-7, MAK-20, IDX-1, IDX-2, MAK-71."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model import (
    IndexSchema,
    Item,
    KeyAttribute,
    KeyRange,
    KeySchema,
    Projection,
    successor,
)

TABLE = KeySchema((KeyAttribute("pk", "S"),), (KeyAttribute("sk", "N"),))
TWO_BY_TWO = KeySchema(
    (KeyAttribute("h1", "S"), KeyAttribute("h2", "B")),
    (KeyAttribute("r1", "N"), KeyAttribute("pk", "S")),
)
FULL = {"pk": "p", "sk": Decimal(1), "h1": "a", "h2": b"b", "r1": Decimal(2), "x": "y", "z": None}


def index(kind, names=()):
    return IndexSchema("i", TWO_BY_TWO, Projection(kind, names), is_global=True, table_key=TABLE)


def test_an_entry_needs_every_key_attribute_with_its_type():
    """IDX-1, MAK-20."""
    assert index("ALL").entry(Item.of(FULL)) is not None
    for name in TWO_BY_TWO.names:
        without = {key: value for key, value in FULL.items() if key != name}
        assert index("ALL").entry(Item.of(without)) is None
        assert index("ALL").entry(Item.of({**FULL, name: None})) is None


@pytest.mark.parametrize(
    ("changes", "has_entry"),
    [
        ({"h1": "x" * 1048, "h2": b"x" * 1000}, True),
        ({"h1": "x" * 1049, "h2": b"x" * 1000}, False),
        ({"r1": Decimal(0), "pk": "x" * 1023}, True),
        ({"r1": Decimal(0), "pk": "x" * 1024}, False),
        ({"r1": Decimal(0), "pk": "x" * 1000}, True),
        ({"h1": "", "pk": "x" * 1000}, False),
        ({"h2": b"", "pk": "x" * 1000}, False),
    ],
)
def test_an_entry_needs_keys_that_are_not_empty_and_not_too_long(changes, has_entry):
    """MAK-20, IXV-6, MAK-27: up to 2,048 and 1,024 bytes; a zero is a number of one byte."""
    assert (index("ALL").entry(Item.of({**FULL, **changes})) is not None) is has_entry


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (index("ALL"), set(FULL)),
        (index("KEYS_ONLY"), {"pk", "sk", "h1", "h2", "r1"}),
        (index("INCLUDE", ("x", "absent", "pk")), {"pk", "sk", "h1", "h2", "r1", "x"}),
    ],
)
def test_an_entry_holds_the_keys_and_what_is_projected(schema, names):
    """IDX-2, CAP-108: each attribute once."""
    entry = schema.entry(Item.of(FULL))
    assert set(entry.attributes) == names
    assert entry.size_bytes == Item.of(entry.attributes).size_bytes


def test_the_keys_of_a_page_are_the_table_s_then_the_index_s():
    """QRY-5, MAK-52."""
    assert index("ALL").key_names == ("pk", "sk", "h1", "h2", "r1")


@given(st.text(max_size=4), st.text(max_size=4))
def test_the_successor_of_a_prefix_closes_its_interval(prefix, text):
    """MAK-71, for every code point, the surrogates' neighbours included."""
    after = successor(prefix)
    inside = text >= prefix and (after is None or text < after)
    assert inside == text.startswith(prefix)


@given(st.binary(max_size=3), st.binary(max_size=4))
def test_the_successor_of_a_binary_prefix_closes_its_interval(prefix, data):
    after = successor(prefix)
    inside = data >= prefix and (after is None or data < after)
    assert inside == data.startswith(prefix)


def test_successors_skip_what_utf_8_cannot_write():
    assert successor("\ud7ff") == "\ue000"
    assert successor("a\U0010ffff") == "b"
    assert successor("\U0010ffff") is None


@pytest.mark.parametrize(
    ("key_range", "inside", "outside"),
    [
        (KeyRange(("p",), lower=Decimal(5)), [5, 6], [4]),
        (KeyRange(("p",), lower=Decimal(5), lower_inclusive=False), [6], [4, 5]),
        (KeyRange(("p",), upper=Decimal(5)), [4, 5], [6]),
        (KeyRange(("p",), upper=Decimal(5), upper_inclusive=False), [4], [5, 6]),
        (KeyRange(("p",), (Decimal(5),)), [5], [4, 6]),
        (KeyRange(("p",)), [1], []),
    ],
)
def test_a_range_holds_what_lies_between_its_bounds(key_range, inside, outside):
    assert all(key_range.holds((Decimal(value),)) for value in inside)
    assert not any(key_range.holds((Decimal(value),)) for value in outside)
