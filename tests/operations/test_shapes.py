"""Shapes: the faults of members, and how many of them are worded."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.operations import shapes

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
