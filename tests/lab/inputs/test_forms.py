"""Forms: the bounds of a number in a few words."""

import pytest

from emulator.lab.inputs import forms


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({}, "number"),
        ({"least": 0.5}, "number from 0.5"),
        ({"above": 0, "most": 1}, "number above 0 to 1"),
    ],
)
def test_bounds_are_told_in_words(bounds, words):
    assert forms.number(**bounds).words == words
