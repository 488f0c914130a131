"""Key values at their limits. KV-2, KV-3, MAK-27."""

import pytest

from emulator.model import Item, KeyAttribute, KeySchema
from emulator.model.keys import (
    LONG_PARTITION_KEY,
    LONG_SORT_KEY,
    key_values_are_not_empty,
    key_values_are_not_too_long,
)
from emulator.service.errors import ValidationException

SCHEMA = KeySchema(
    (KeyAttribute("h1", "S"), KeyAttribute("h2", "S")),
    (KeyAttribute("r1", "S"), KeyAttribute("r2", "B")),
)


def refusal(rule, **attributes):
    """Return what a rule says of an item, or None."""
    try:
        rule(Item.of(attributes), SCHEMA)
    except ValidationException as error:
        return error.message
    return None


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"h1": "x" * 1000, "h2": "é" * 524, "r1": "x"}, None),
        ({"h1": "x" * 1001, "h2": "é" * 524, "r1": "x"}, LONG_PARTITION_KEY),
        ({"h1": "x", "r1": "x" * 1000, "r2": b"x" * 24}, None),
        ({"h1": "x", "r1": "x" * 1001, "r2": b"x" * 24}, LONG_SORT_KEY),
        ({"h1": "x", "other": "x" * 9999}, None),
    ],
)
def test_each_side_of_a_key_has_its_bytes_in_total(attributes, message):
    """KV-2, MAK-27: 2,048 and 1,024, inclusive."""
    assert refusal(key_values_are_not_too_long, **attributes) == message


@pytest.mark.parametrize(
    ("attributes", "kind", "name"),
    [({"h1": "", "r2": b""}, "string", "h1"), ({"h1": "x", "r2": b""}, "binary", "r2")],
)
def test_the_first_empty_key_value_is_named(attributes, kind, name):
    """KV-3."""
    assert refusal(key_values_are_not_empty, **attributes) == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        f"cannot contain an empty {kind} value. Key: {name}"
    )
    assert refusal(key_values_are_not_empty, h1="x", other="") is None
