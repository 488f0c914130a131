"""Minutes: an emulator that sleeps, or is told of hot partitions only, does what it would do."""

from itertools import pairwise

import pytest

from emulator.engine.feed import TrafficFeed
from emulator.lab import Capacity
from emulator.lab.planning.layout import Layout
from emulator.lab.world.minutes import PlayedWorld, spread_positions
from emulator.storage import HASH_SPACE
from tests.lab.world.worlds import close, events, played, scaling, splitting


def layouts():
    return {
        "cold": Layout(*events(rate=500, duration=300, capacity=Capacity(read=1, write=5_000))),
        "splits": Layout(*splitting()),
        "scaling": Layout(*scaling()),
        "on demand": Layout(*events(rate=5_000, duration=300)),
    }


CASES = layouts()
EVERY = pytest.mark.parametrize("name", CASES)


@EVERY
def test_emulators_sleep_through_minutes_that_change_nothing(name, monkeypatch):
    """CAP2-3, CAP-510, CAP-904: being told of them changes nothing."""
    told, report = [], PlayedWorld.report_minute

    def counted(own, *figures):
        told.append(own)
        report(own, *figures)

    monkeypatch.setattr(PlayedWorld, "report_minute", counted)
    asleep = played(CASES[name], range(3))
    count = len(told)
    monkeypatch.setattr(PlayedWorld, "sleeps", lambda *_: False)
    monkeypatch.setattr(PlayedWorld, "is_fixed", property(lambda _: False))
    awake = played(CASES[name], range(3))

    assert all(map(close, asleep, awake))
    minutes = -(-CASES[name].workload.duration // 60)
    assert len(told) - count == 3 * minutes
    assert count < 3 * minutes or name in {"scaling", "on demand"}
    assert (count == 0) == (name == "cold")


@EVERY
def test_of_fixed_capacity_only_hot_partitions_are_reported(name, monkeypatch):
    """CAP2-2: being told of the cold ones changes nothing; growth and scaling are told of all."""
    told, report = [], TrafficFeed.report_loads

    def counted(feed, resource, axis, consumed, *others):
        told.append((len(consumed), len(resource.partitions)))
        report(feed, resource, axis, consumed, *others)

    monkeypatch.setattr(TrafficFeed, "report_loads", counted)
    some = played(CASES[name], range(2))
    few = sum(number < of for number, of in told)
    told.clear()
    monkeypatch.setattr(PlayedWorld, "hot_from", property(lambda _: 0.0))
    every = played(CASES[name], range(2))

    assert all(map(close, some, every))
    assert (few > 0) == (name == "splits")
    assert told
    assert all(number == of for number, of in told)


def test_positions_that_stand_for_keys_lie_evenly_in_their_partition():
    low, high = (HASH_SPACE // 4,), (HASH_SPACE // 2,)
    firsts = [position[0] for position in spread_positions(low, high)]
    gaps = {after - before for before, after in pairwise(firsts)}
    assert len(gaps) == 1
    assert low[0] < firsts[0] < firsts[-1] < high[0]
    assert firsts[0] - low[0] == high[0] - firsts[-1]
