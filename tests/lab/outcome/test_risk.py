"""The risk: Wilson's interval, and when enough worlds were played."""

import pytest

from emulator.lab.outcome.risk import interval, is_decided, is_near_the_line, next_worlds, risk_of
from emulator.lab.outcome.thresholds import CERTAIN, MOST_WORLDS, UNLIKELY


@pytest.mark.parametrize(
    ("hits", "worlds", "low", "high"),
    [
        (0, 20, 0.0, 0.1611),
        (20, 20, 0.8389, 1.0),
        (10, 20, 0.2993, 0.7007),
        (50, 60, 0.7197, 0.9069),
        (0, 73, 0.0, 0.0500),
    ],
)
def test_the_interval_is_wilsons(hits, worlds, low, high):
    """Figures from Wilson's formula as tables give it."""
    assert interval(hits, worlds) == pytest.approx((low, high), abs=1e-4)


def test_none_of_73_is_the_least_that_is_surely_fine():
    assert next(worlds for worlds in range(1, 200) if is_decided(0, worlds)) == 73
    assert next(worlds for worlds in range(1, 200) if is_decided(worlds, worlds)) == 73


def test_worlds_are_played_until_the_chance_is_known_or_200_are_played():
    """Whatever comes, the number grows, ends, and is no larger than it has to be."""
    for share in [number / 100 for number in range(101)]:
        played = 0
        for _ in range(20):
            hits = round(share * played)
            wanted = next_worlds(hits, played)
            if wanted == played:
                break
            assert played < wanted <= MOST_WORLDS
            played = wanted
        assert is_decided(round(share * played), played) or played == MOST_WORLDS


def test_the_line_is_near_while_the_interval_has_a_threshold_in_it():
    for hits, worlds in [(0, 20), (0, 73), (4, 60), (10, 20), (19, 20), (73, 73)]:
        risk = risk_of([True] * hits + [False] * (worlds - hits))
        assert is_near_the_line(risk) == (
            risk.low <= UNLIKELY <= risk.high or risk.low <= CERTAIN <= risk.high
        )
        assert risk.worlds == worlds
        assert risk.chance == hits / worlds
