"""Keys that items tell of: deduced where they leave no doubt, and nowhere else."""

from decimal import Decimal

import pytest

from emulator import EmulatorError
from emulator.model import Item
from emulator.persistence.deduced_keys import deduced_request


def key_of(*items, named=()):
    """Return the deduced key: pairs of name and type."""
    request = deduced_request("tab", [Item.of(item) for item in items], named)
    types = {one["AttributeName"]: one["AttributeType"] for one in request["AttributeDefinitions"]}
    return [(part["AttributeName"], types[part["AttributeName"]]) for part in request["KeySchema"]]


@pytest.mark.parametrize(
    ("items", "key"),
    [
        ([{"PK": "a", "SK": Decimal(1), "n": "x"}], [("PK", "S"), ("SK", "N")]),
        ([{"pk": "a", "n": "x"}, {"pk": "b", "sk": "y"}], [("pk", "S")]),
        ([{"Id": b"a", "n": "x"}], [("Id", "B")]),
        ([{"partition_key": "a", "sort_key": "b", "id": "c"}], None),
        ([{"device": "a"}, {"device": "b", "n": "x"}], [("device", "S")]),
    ],
)
def test_usual_names_and_lonely_ones_are_keys(items, key):
    expected = [("partition_key", "S"), ("sort_key", "S")] if key is None else key
    assert key_of(*items) == expected


def test_increments_name_the_key():
    assert key_of({"device": "a", "n": "x"}, named={"device"}) == [("device", "S")]
    assert key_of({"sk": "a", "pk": "x", "id": "y"}, named={"pk", "sk"}) == [
        ("pk", "S"),
        ("sk", "S"),
    ]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"device": "a", "time": "b"}],
        [{"pk": "a"}, {"pk": "a"}],
        [{"pk": "a"}, {"pk": Decimal(1)}],
        [{"pk": ""}],
        [{"pk": True}],
    ],
)
def test_where_there_is_doubt_somebody_has_to_say(items):
    with pytest.raises(
        EmulatorError, match=r"the key of table tab is not in its export.*tab\.json"
    ):
        key_of(*items)


def test_of_two_names_without_an_order_none_comes_first():
    with pytest.raises(EmulatorError, match=r"\(device, time may be part of it\)"):
        key_of({"device": "a", "time": "b"}, named={"device", "time"})
