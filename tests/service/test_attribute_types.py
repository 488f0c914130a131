"""The types of attributes against what is done with them."""

from decimal import Decimal

import pytest

from emulator.clients.conversion import natural_value, wire_value
from emulator.model import type_name, value_size
from emulator.model.wire import dump_value, load_value
from emulator.service.attribute_types import (
    ATTRIBUTE_TYPES,
    ORDERED,
    SETS,
    SIZED,
    BinarySet,
    NumberSet,
    StringSet,
)

EXAMPLES = {
    "S": "a",
    "N": Decimal(1),
    "B": b"a",
    "BOOL": True,
    "NULL": None,
    "SS": StringSet({"a"}),
    "NS": NumberSet({Decimal(1)}),
    "BS": BinarySet({b"a"}),
    "L": ("a",),
    "M": {"a": "a"},
}


def test_the_groups_of_types_are_those_of_the_rules():
    assert ORDERED == ("S", "N", "B")
    assert SETS == ("SS", "NS", "BS")
    assert set(SIZED) == set(EXAMPLES) - {"N", "BOOL", "NULL"}


@pytest.mark.parametrize("row", ATTRIBUTE_TYPES, ids=lambda row: row.letters)
def test_every_type_is_measured_loaded_and_dumped(row):
    value = EXAMPLES[row.letters]
    written = dump_value(value)
    assert type(value) is row.python_class
    assert type_name(value) == row.letters
    assert list(written) == [row.letters]
    assert load_value(written) == value
    assert value_size(value) > 0
    assert wire_value(natural_value(written)).keys() == written.keys()
