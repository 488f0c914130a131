"""Shapes: the faults of members, and how many of them are worded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import Emulator
from emulator.operations import shapes
from tests.tables import refusal

KEY = shapes.Structure(
    {"AttributeName": shapes.String(least=1).required, "KeyType": shapes.String().required}
)
ELEMENTS: tuple[dict[str, str] | None, ...] = (
    None,
    {},
    {"AttributeName": ""},
    {"AttributeName": "a"},
    {"AttributeName": "a", "KeyType": "HASH"},
)


@given(st.lists(st.sampled_from(ELEMENTS), max_size=20))
def test_of_a_long_list_ten_faults_are_worded_and_all_are_counted(elements):
    """ERR-SHAPE-1."""
    wanted = []
    for number, element in enumerate(elements, start=1):
        faults = shapes.List(KEY).problems([element], "keys")
        wanted += [fault.replace("keys.1.", f"keys.{number}.") for fault in faults]
    told = list(shapes.List(KEY).problems(elements, "keys"))
    assert len(told) == len(wanted)
    assert told[: shapes.MOST_FAULTS] == wanted[: shapes.MOST_FAULTS]


def test_faults_that_are_not_listed_are_not_worded():
    """Found by fuzzing: 200 KB of empty structures have 250,000 faults."""
    faults = list(shapes.List(KEY).problems([{}] * 100, "keys"))
    assert faults[shapes.MOST_FAULTS :] == [""] * 190


@pytest.mark.parametrize(
    ("value", "is_accepted"),
    [(2, True), (2.9, True), (0.9, False), (float("inf"), False), (float("nan"), False)],
)
def test_a_fraction_is_cut_off_a_whole_number(value, is_accepted):
    """VIX-10: what is not finite has none."""
    assert shapes.TruncatedInteger(least=1).accepts(value) is is_accepted


def test_every_key_of_a_map_is_judged():
    names = shapes.Map(shapes.BOOLEAN, key=shapes.String(least=3))
    assert names.accepts({"one": True, "three": True})
    assert not names.accepts({"one": True, "x": True})


def test_an_incomplete_request_hides_no_fault():
    """ERR-UPD-2, as it is with Query."""
    wrong = {"ConditionalOperator": "X"}
    assert refusal(Emulator(), "Query", wrong) == (
        "ValidationException",
        "2 validation errors detected: Value 'X' at 'conditionalOperator' failed to satisfy "
        "constraint: Member must satisfy enum value set: [OR, AND]; Value null at 'tableName' "
        "failed to satisfy constraint: Member must not be null",
    )
    assert refusal(Emulator(), "Query", wrong | {"TableName": "tab"}) == (
        "ValidationException",
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
    )
