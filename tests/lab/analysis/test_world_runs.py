"""The worlds of a design, played as far as a question needs them."""

import pytest

from emulator.lab import Capacity, Design, Field, Pattern, Workload, compare
from emulator.lab.analysis import study
from emulator.lab.analysis.deadline import Deadline
from emulator.lab.analysis.world_runs import WorldCount, WorldRuns
from emulator.lab.outcome.thresholds import FIRST_WORLDS, THRESHOLD
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import REPLICA_READS, Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings
from tests.lab.world.worlds import KNOWN, events, orders, scaling, splitting


def runs(case):
    return WorldRuns(Layout(*case), "aggregate", 0, KNOWN)


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
    engine, worlds = Worlds(Layout(*case())), draw_worlds(0, 12, KNOWN)

    whole, until_sure = (engine.play(worlds, stop_over=over) for over in (None, THRESHOLD))

    assert [outcome.throttles for outcome in until_sure] == [outcome.throttles for outcome in whole]


def test_some_worlds_near_the_limit_throttle():
    assert 0 < sum(outcome.throttles for outcome in runs(near_the_limit()).play(12)) < 12


def test_playing_ends_at_the_first_look_at_which_the_grade_is_decided():
    own = runs(events(rate=1_500, duration=30, partition="one"))

    assert own.play_until_known(WorldCount()) is None
    outcomes = own.outcomes

    assert len(outcomes) == 100
    assert own.risk("first").chance == own.risk("lived").chance == 1


def test_a_number_of_worlds_that_was_asked_for_is_played():
    design, workload = events(rate=1_500, duration=5, partition="one")

    few = {"headroom": False, "sensitivity": False, "fix": False}
    result = compare(workload, [design], engine="aggregate", worlds=22, **few)

    assert len(result.designs[0].worlds) == 22


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
        deadline=Deadline(None),
    )
    own = runs(near_the_limit())
    throttling = [outcome.throttles for outcome in own.play(12)]
    late = throttling.index(True)
    calm = throttling.index(False)
    # The calm world stands for the first ones, the other comes late.
    first = runs(near_the_limit()).play(12)[calm]
    played = study.play_on(layout, options, [first] * FIRST_WORLDS + [own.outcomes[late]])

    assert played.typical is not None
    assert played.typical.world == own.outcomes[late].world
    assert played.throttling is not None
    assert played.throttling.throttled_share == pytest.approx(played.typical.throttled_share)


def test_worlds_that_are_alike_in_all_that_was_drawn_are_played_once(monkeypatch):
    """Half of the worlds in which replica reads alone are drawn have the same draw."""
    own = runs(near_the_limit())
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
        "d", partition="{kind}", sort="{timestamp}", capacity=Capacity(read=100, write=9_000)
    )
    played = []
    live = Worlds.live

    def counted(engine, worlds, **options):
        outcomes = live(engine, worlds, **options)
        played.append((len(worlds), sum(outcome.throttles for outcome in outcomes)))
        return outcomes

    monkeypatch.setattr(Worlds, "live", counted)

    result = compare(workload, [design], worlds=1, headroom=False, sensitivity=False)

    assert (18, 18) not in played, "what throttles in the first two worlds is not played on"
    assert result.designs[0].fix is not None
    assert "6 would throttle in 2 of 20 worlds" in result.designs[0].fix


def test_the_time_limit_is_that_of_all_and_leaves_the_first_worlds():
    design, workload = near_the_limit()
    result = compare(workload, [design], time_limit=1e-9)
    [design] = result.designs
    assert len(design.worlds) == FIRST_WORLDS
    [note, *_] = result.notes
    assert note.startswith("the time limit of ")
    assert "the grade is not decided of " in note
    assert note.endswith("--time-limit allows more")


def test_a_decided_grade_leaves_nothing_undone():
    design, workload = near_the_limit()
    result = compare(workload, [design], time_limit=600, worlds=2, fix=False, headroom=False)
    assert not [note for note in result.notes if "time limit" in note]
