"""Fixes: the smallest change that holds is found, and few are tried for it."""

from types import SimpleNamespace as Part

import pytest

from emulator.lab.analysis.changes import Change, Family
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.fixes import _Size, _Trial


class Sized(_Trial):
    """A trial in which changes hold from a size on."""

    def __init__(self, wanted, hits=0):
        self._wanted = wanted
        self._hits = hits
        self._deadline = Deadline(None)
        self.tried = []

    def _size(self, change, few):
        self.tried.append(change.size)
        return _Size.TOO_SMALL if change.size < self._wanted else _Size.MAY_HOLD

    def _may_hold(self, change, few):
        return change.size >= self._wanted

    def _holds(self, change):
        return change.size >= self._wanted

    def _sentence(self, family, number, change):
        return change.sentence

    def _first(self, change, count):
        return [Part(throttles=number < self._hits) for number in range(count)]


def family(count, *, has_size=True):
    return Family(
        [
            Change(f"{number} suffixes", None, number if has_size else None)
            for number in range(count)
        ]
    )


@pytest.mark.parametrize("count", [1, 2, 5, 64, 100])
def test_the_smallest_that_holds_is_found_in_few_steps(count):
    for wanted in range(count + 1):
        trial = Sized(wanted)
        found = trial.smallest(family(count))
        assert found == (None if wanted == count else f"{wanted} suffixes")
        assert len(trial.tried) <= 2 * count.bit_length() + 2


@pytest.mark.parametrize(
    ("number", "hits", "has_size", "said"),
    [
        (3, 4, True, "; 2 would throttle in 4 of 20 worlds"),
        (3, 0, True, ""),
        (3, 4, False, ""),
        (0, 4, True, ""),
    ],
)
def test_the_next_smaller_one_is_told_where_it_would_not_do(number, hits, has_size, said):
    trial = Sized(0, hits)
    assert trial._smaller(family(5, has_size=has_size), number) == said
