"""Families: keys that matter are followed by themselves, all others together."""

import numpy as np
import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Hotspot,
    Index,
    Pattern,
    Uniform,
    Workload,
    Zipf,
    exact,
    world,
)
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds, families
from emulator.lab.world.families import Cut, Places, _drawn
from emulator.lab.world.plan import Plan
from emulator.settings import Settings
from emulator.storage import HASH_SPACE

ROOMY = Capacity(read=1000, write=5000)
BOTH = pytest.mark.parametrize("engine", [exact, world], ids=["exact", "aggregate"])

# What reports show of keys


def results(engine, fields, **design):
    """Return the results of table and indexes after a minute of 100 puts a second."""
    put = Pattern("put", "PutItem", rate=100)
    load = Workload(fields=fields, patterns=[put], duration=60, warm_up=0)
    return resource_results(engine.run(Layout(Design("d", capacity=ROOMY, **design), load)))


@BOTH
def test_values_that_look_like_the_mark_of_new_ones_are_values(engine):
    values = ("(new) a", "(new) b", "(new) c")
    fields = [Field("kind", values=values)]

    [table] = results(engine, fields, partition="{kind}", sort="{timestamp}")

    assert table.distinct_keys == 3
    assert sorted(key.key for key in table.top_keys) == list(values)
    assert table.collections.count == 3


def test_a_value_that_is_the_mark_itself_is_a_value():
    fields = [Field("kind", values=("(new)", "old"))]

    [table] = results(world, fields, partition="{kind}", sort="{timestamp}")

    assert table.distinct_keys == 2
    assert sorted(key.key for key in table.top_keys) == ["(new)", "old"]


def test_keys_that_are_new_every_time_are_counted_and_not_named():
    [table] = results(world, [Field("id", unique="random")], partition="{id}")

    assert table.distinct_keys == pytest.approx(6000)
    assert table.top_keys == ()
    assert table.collections.count == pytest.approx(6000)


@BOTH
def test_the_attributes_of_a_key_are_shown_side_by_side(engine):
    fields = [Field("a", values=("x",)), Field("b", values=("y",))]
    index = Index("both", partition=("{a}", "{b}"), sort="{timestamp}")

    _, both = results(engine, fields, partition="{a}", sort="{timestamp}", indexes=(index,))

    assert both.collections.largest_key == "x / y"


# Where they lie


def layout_of(count, shape, *, rate=3_000, duration=60, write=5_000, partition="{user}"):
    put = Pattern("put", "PutItem", rate=rate)
    load = Workload(
        fields=[Field("user", count=count, distribution=shape)],
        patterns=[put],
        duration=duration,
        warm_up=0,
    )
    capacity = Capacity(read=100, write=write)
    design = Design("d", partition=partition, sort="{timestamp}", capacity=capacity)
    return Layout(design, load)


def family_of(layout):
    """Return the only family of a design, with its placement and columns."""
    made = Plan(layout, RunEmulator(layout, Settings()))
    [family] = made.families()
    return family, family.placements[0], family.columns(0.0)


def shares_by_partition(layout, partitions=4, worlds=2_000):
    """Return by world and partition the share of the requests that falls there."""
    family, placement, columns = family_of(layout)
    lows = [(number * HASH_SPACE // partitions,) for number in range(partitions)]
    places = Places.of(
        family,
        columns,
        range(worlds),
        [0] * worlds,
        lambda _: (np.arange(partitions), lows),
        partitions,
    )
    mass = columns.mass(placement)[None]
    return places.by_slot(placement, mass, np.arange(worlds))


SHAPES = {
    "uniform": (64, Uniform()),
    "twice the keys": (128, Uniform()),
    "popular ones followed, others lumped": (500, Zipf(0.8)),
    "hot ones": (400, Hotspot(0.05, 0.5)),
}


@pytest.mark.parametrize(("count", "shape"), SHAPES.values(), ids=SHAPES)
def test_requests_are_as_uneven_as_the_sum_of_squared_shares_says(count, shape):
    """CAP2-7: and so, with twice the keys of a uniform field, half as uneven."""
    partitions, squares = 4, (shape.probabilities(count) ** 2).sum()

    shares = shares_by_partition(layout_of(count, shape), partitions)

    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares.mean(axis=0) == pytest.approx(1 / partitions, abs=0.01)
    uneven = ((shares - 1 / partitions) ** 2).sum(axis=1).mean()
    assert uneven == pytest.approx((1 - 1 / partitions) * squares, rel=0.06)


@pytest.mark.parametrize("size", [200, 400])
def test_keys_taken_together_fall_as_keys_do(size):
    """The law of many throws, in stretches of any width."""
    widths, rng = np.array([0.5, 0.3, 0.2]), np.random.default_rng(1)
    drawn = np.stack([_drawn(size, widths, rng) for _ in range(4_000)])
    assert drawn.mean(axis=0) == pytest.approx(widths, abs=0.003)
    assert drawn.var(axis=0) == pytest.approx(widths * (1 - widths) / size, rel=0.1)
    assert _drawn(np.inf, widths, rng) is widths


def test_a_split_hands_on_every_key_and_all_of_the_others():
    """CAP-602: what lay in the parent lies in the children, and nothing else moves."""
    family, placement, columns = family_of(layout_of(500, Zipf(0.8)))
    lows, half = [(0,), (HASH_SPACE // 2,)], HASH_SPACE // 4
    places = Places.of(family, columns, range(5), [0] * 5, lambda _: (np.arange(2), lows), 4)
    mass, worlds = columns.mass(placement)[None], np.arange(5)
    before = places.by_slot(placement, mass, worlds)

    places.divide(Cut(3, 0, 0, [2, 3], [(0,), (half,)], (HASH_SPACE // 2,)))

    after = places.by_slot(placement, mass, worlds)
    others = [0, 1, 2, 4]
    assert after[others].tolist() == before[others].tolist()
    assert after[3, 1] == before[3, 1]
    assert after[3, 0] == 0
    assert after[3, 2:].sum() == pytest.approx(before[3, 0])
    assert (after[3, 2:] > 0.1 * before[3, 0]).all()


# How many are followed, and what the others add up to


def test_keys_are_followed_that_can_fill_a_share_of_a_partition():
    """Each of the popular ones, however many others there are; and ten in any case."""
    for count in (1_000, 100_000, 100_000_000):
        shape = Zipf(1.1)
        _, placement, columns = family_of(layout_of(count, shape))
        heavy = len(shape.heavy(count, families.FOLLOWED_SHARE * 1_000 / 3_000))
        assert heavy == max(heavy, families.REPORTED_KEYS) == len(columns.keys)
        assert len(columns.sizes) <= families.MOST_GROUPS
        assert columns.mass(placement).sum() == pytest.approx(1)
    _, _, columns = family_of(layout_of(10_000, Uniform()))
    assert columns.sizes.sum() + len(columns.keys) == 10_000


LUMPED = {
    "many of like popularity": (1_200, Uniform(), 10_850),
    "some of every popularity": (4_000, Zipf(0.7), 9_600),
}


@pytest.mark.parametrize(("count", "shape", "rate"), LUMPED.values(), ids=LUMPED)
def test_taking_keys_together_moves_risk_by_chance_only(count, shape, rate, monkeypatch):
    """CAP2-7: a hundredth of the threshold follows every key; 200 worlds tell no difference."""
    layout = layout_of(count, shape, rate=rate, duration=6, write=10_900)
    worlds, risks, followed = draw_worlds(0, 200, Known(Settings(split_delay=600))), [], []
    for share in (families.FOLLOWED_SHARE, families.FOLLOWED_SHARE / 100):
        monkeypatch.setattr(families, "FOLLOWED_SHARE", share)
        outcomes = Worlds(layout).play(worlds)
        risks.append(np.mean([outcome.throttled_share > 0.001 for outcome in outcomes]))
        followed.append(len(family_of(layout)[2].keys))

    assert followed[1] == count > 10 * followed[0]
    assert min(risks) > 0.05
    assert max(risks) < 0.95
    error = np.sqrt(sum(risk * (1 - risk) / len(worlds) for risk in risks))
    assert abs(risks[0] - risks[1]) <= 2 * error + 0.02


def test_keys_with_a_time_are_others_when_it_changes():
    family, _, _ = family_of(layout_of(30, Uniform(), partition="{timestamp:hour}#{user}"))

    first, same, later = (family.columns(moment) for moment in (10.0, 3000.0, 3610.0))

    assert first is same
    assert {key[0].split("#")[0] for key in first.keys} == {"1970-01-01T00"}
    assert {key[0].split("#")[0] for key in later.keys} == {"1970-01-01T01"}
