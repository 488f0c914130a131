"""The worlds of a design, played as far as a question needs them."""

import pytest

from emulator.lab import Capacity, Design, Field, Pattern, Workload, compare
from emulator.lab.analysis import study
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.outcome.thresholds import FIRST_WORLDS
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import REPLICA_READS, Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings
from tests.lab.world.worlds import KNOWN, events, orders, scaling, splitting


def runs(case, *, whole):
    return WorldRuns(Layout(*case), "aggregate", 0, KNOWN, whole=whole)


def near_the_limit():
    """Return a design that throttles where too many of its eight keys share a partition."""
    workload = Workload(
        fields=[Field("shop", count=8)],
        patterns=[Pattern("put", "PutItem", rate=2_400)],
        duration=60,
        warm_up=0,
    )
    capacity = Capacity(read=100, write=4_000)
    return Design("d", partition="{shop}", sort="{timestamp}", capacity=capacity), workload


@pytest.mark.parametrize("case", [orders, scaling, splitting, near_the_limit])
def test_a_world_that_ends_early_is_judged_as_it_would_be_at_its_end(case):
    whole = runs(case(), whole=12).play(12)
    until_sure = runs(case(), whole=0).play(12)

    assert [outcome.throttles for outcome in until_sure] == [outcome.throttles for outcome in whole]
    assert {outcome.is_whole for outcome in whole} == {True}
    assert {outcome.is_whole for outcome in until_sure} == {False}


def test_some_worlds_near_the_limit_throttle():
    assert 0 < sum(outcome.throttles for outcome in runs(near_the_limit(), whole=0).play(12)) < 12


def test_only_the_first_worlds_are_played_to_the_end():
    own = runs(events(rate=1_500, duration=30, partition="one"), whole=FIRST_WORLDS)

    outcomes = own.play_until_known(WorldCount())

    assert len(outcomes) == 73
    assert own.hits == 73
    assert len(own.whole_outcomes) == FIRST_WORLDS
    assert own.whole_outcomes == outcomes[:FIRST_WORLDS]


def test_a_number_of_worlds_that_was_asked_for_is_played_to_the_end():
    assert (WorldCount(exactly=50).whole, WorldCount().whole) == (50, FIRST_WORLDS)
    design, workload = events(rate=1_500, duration=5, partition="one")

    few = {"headroom": False, "sensitivity": False, "fix": False}
    result = compare(workload, [design], engine="aggregate", worlds=22, **few)

    assert [world.whole for world in result.designs[0].worlds] == [True] * 22


def test_a_result_tells_which_worlds_were_played_to_the_end():
    design, workload = events(rate=1_500, duration=5, partition="one")

    result = compare(
        workload, [design], engine="aggregate", headroom=False, sensitivity=False, fix=False
    )

    [own] = result.designs
    assert [world.whole for world in own.worlds] == [True] * 20 + [False] * 53
    assert len(own.whole_worlds) == 20
    assert all(world.throttled_share >= 0.001 for world in own.worlds)


def test_what_happens_in_a_late_world_is_told_from_all_of_it():
    """None of the first worlds throttles, one of the further ones does."""
    layout = Layout(*near_the_limit())
    options = study.StudyOptions(
        engine="aggregate",
        first=0,
        count=WorldCount(most=8),
        known=Known(Settings()),
        headroom=False,
        sensitivity=False,
        fix=False,
        time_limit=None,
    )
    own = runs(near_the_limit(), whole=0)
    throttling = [outcome.throttles for outcome in own.play(12)]
    late = throttling.index(True)
    calm = throttling.index(False)
    # The calm world stands for the first ones, the other comes late.
    first = runs(near_the_limit(), whole=12).play(12)[calm]
    played = study.play_on(layout, options, [first] * FIRST_WORLDS + [own.outcomes[late]])

    assert played.typical is not None
    assert played.typical.is_whole
    assert played.typical.world == own.outcomes[late].world
    assert played.throttling is not None
    assert played.throttling.throttled_share == pytest.approx(played.typical.throttled_share)


def test_worlds_that_are_alike_in_all_that_was_drawn_are_played_once(monkeypatch):
    """Half of the worlds in which replica reads alone are drawn have the same draw."""
    own = runs(near_the_limit(), whole=0)
    worlds = draw_worlds(0, 6, Known(), only=REPLICA_READS)
    asked = []
    play = Worlds.play
    monkeypatch.setattr(
        Worlds, "play", lambda engine, few: asked.append(list(few)) or play(engine, few)
    )

    outcomes = own.estimates_in(worlds)

    assert [outcome.world for outcome in outcomes] == worlds
    assert [len(few) for few in asked] == [len({world.settings for world in worlds})] == [2]
    assert len({outcome.throttled_share for outcome in outcomes}) <= 2


def test_a_change_that_throttles_at_once_is_tried_in_few_worlds(monkeypatch):
    """Of many changes, those that cannot be among the answers are ruled out by two worlds."""
    workload = Workload(
        fields=[Field("kind", values=("a", "b")), Field("userId", count=5_000)],
        patterns=[Pattern("put", "PutItem", rate=3_000)],
        duration=20,
        warm_up=0,
    )
    design = Design(
        "d", partition="{kind}", sort="{userId}", capacity=Capacity(read=100, write=9_000)
    )
    played = []
    play = Worlds.play

    def counted(engine, worlds, **options):
        outcomes = play(engine, worlds, **options)
        played.append((len(worlds), sum(outcome.throttles for outcome in outcomes)))
        return outcomes

    monkeypatch.setattr(Worlds, "play", counted)

    result = compare(workload, [design], worlds=1, headroom=False, sensitivity=False)

    assert (2, 2) in played, "ruled out by the first two worlds"
    assert result.designs[0].fix is not None
    assert "5 would throttle in 2 of 20 worlds" in result.designs[0].fix
