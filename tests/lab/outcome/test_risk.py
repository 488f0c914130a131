"""The risk: the interval of Clopper and Pearson over four looks, and when a grade is decided."""

import math

import pytest

from emulator.lab.outcome.risk import (
    at_most,
    interval,
    is_decided,
    is_near_the_line,
    next_look,
    risk_of,
)
from emulator.lab.outcome.thresholds import CERTAIN, LOOKS, UNLIKELY

MISSED = 0.05 / len(LOOKS) / 2


def chance(hits, worlds):
    return risk_of([True] * hits + [False] * (worlds - hits))


@pytest.mark.parametrize(("hits", "worlds"), [(0, 20), (20, 20), (10, 20), (3, 100), (60, 1_600)])
def test_a_bound_is_the_chance_at_which_such_a_count_is_as_rare_as_it_may_be(hits, worlds):
    """Clopper and Pearson 1934; naive sums of the binomial distribution are the oracle."""
    low, high = interval(hits, worlds)

    def naive(numbers, chance):
        return math.fsum(
            math.exp(
                math.log(math.comb(worlds, number))
                + number * math.log(chance)
                + (worlds - number) * math.log1p(-chance)
            )
            for number in numbers
        )

    if hits < worlds:
        assert naive(range(hits + 1), high) == pytest.approx(MISSED, rel=1e-3)
    if hits:
        assert naive(range(hits, worlds + 1), low) == pytest.approx(MISSED, rel=1e-3)
    assert (hits == 0) == (low == 0)
    assert (hits == worlds) == (high == 1)


@pytest.mark.parametrize("true", [0.02, 0.05, 0.08, 0.3, 0.5, 0.95, 0.97])
def test_the_interval_covers_the_truth_over_the_first_looks(true):
    """By enumeration: of all that can be seen at two looks, how likely the truth is left out."""
    first, second = LOOKS[0], LOOKS[1]
    covered = 0.0
    for hits in range(first + 1):
        seen = math.comb(first, hits) * true**hits * (1 - true) ** (first - hits)
        if is_decided(chance(hits, first), chance(hits, first)):
            low, high = interval(hits, first)
            covered += seen * (low <= true <= high)
            continue
        more = second - first
        for later in range(more + 1):
            low, high = interval(hits + later, second)
            if low <= true <= high:
                covered += (
                    seen * math.comb(more, later) * true**later * (1 - true) ** (more - later)
                )
    assert covered >= 0.94


def test_none_of_a_hundred_is_surely_fine_and_all_of_them_surely_throttle():
    assert not is_decided(chance(0, 20), chance(0, 20))
    assert is_decided(chance(0, 100), chance(0, 100))
    assert is_decided(chance(100, 100), chance(100, 100))


def test_the_chance_of_new_tables_decides_nothing_once_lived_ones_throttle():
    assert is_decided(chance(5, 100), chance(50, 100))
    assert not is_decided(chance(5, 100), chance(0, 100))


def test_looks_come_one_after_the_other():
    played, looks = 0, []
    while played != LOOKS[-1]:
        played = next_look(played)
        looks.append(played)
    assert tuple(looks) == LOOKS


def test_the_line_is_near_while_the_interval_has_a_threshold_in_it():
    for hits, worlds in [(0, 20), (0, 100), (4, 60), (10, 20), (19, 20), (100, 100)]:
        risk = chance(hits, worlds)
        assert is_near_the_line(risk) == (
            risk.low <= UNLIKELY <= risk.high or risk.low <= CERTAIN <= risk.high
        )


def test_sums_of_the_binomial_distribution_end_at_one():
    assert at_most(7, 7, 0.3) == pytest.approx(1.0)
