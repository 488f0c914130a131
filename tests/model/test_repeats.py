"""Repeats: the first one, at the cost of one look at each member."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.model import first_repeat


class Looked:
    """A member that counts how often any of its kind is compared or hashed."""

    looks = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        Looked.looks += 1
        return hash(self.number)

    def __eq__(self, other):
        Looked.looks += 1
        return self.number == other.number


@given(st.lists(st.integers(0, 5)))
def test_it_is_the_first_that_comes_again(members):
    repeats = [index for index, member in enumerate(members) if member in members[:index]]
    assert first_repeat(members) == (repeats[0] if repeats else None)


def test_every_member_is_looked_at_once():
    """Twice, and compared once more where it repeats: never with all that came before."""
    Looked.looks = 0
    assert first_repeat([Looked(number % 999) for number in range(1000)]) == 999
    assert Looked.looks <= 2 * 1000
