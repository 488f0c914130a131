"""Key groups: combinations of values, listed or sampled; and keys that are new every time."""

import pytest

from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload, aggregate, exact
from emulator.lab.aggregate.plan import Plan
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

ROOMY = Capacity(read=1000, write=5000)


def results(engine, fields, **design):
    """Return the results of table and indexes after a minute of 100 puts a second."""
    put = Pattern("put", "PutItem", rate=100)
    load = Workload(fields=fields, patterns=[put], duration=60, warm_up=0)
    return resource_results(engine.run(Layout(Design("d", capacity=ROOMY, **design), load)))


@pytest.mark.parametrize("engine", [exact, aggregate], ids=["exact", "aggregate"])
def test_values_that_look_like_the_mark_of_new_ones_are_values(engine):
    values = ("(new) a", "(new) b", "(new) c")
    fields = [Field("kind", values=values)]

    [table] = results(engine, fields, partition="{kind}", sort="{timestamp}")

    assert table.distinct_keys == 3
    assert sorted(key.key for key in table.top_keys) == list(values)
    assert table.collections.count == 3


def test_a_value_that_is_the_mark_itself_is_a_value():
    fields = [Field("kind", values=("(new)", "old"))]

    [table] = results(aggregate, fields, partition="{kind}", sort="{timestamp}")

    assert table.distinct_keys == 2
    assert sorted(key.key for key in table.top_keys) == ["(new)", "old"]


def test_keys_that_are_new_every_time_are_counted_and_not_named():
    [table] = results(aggregate, [Field("id", unique="random")], partition="{id}")

    assert table.distinct_keys == pytest.approx(6000)
    assert table.top_keys == ()
    assert table.collections.count == pytest.approx(6000)


@pytest.mark.parametrize("engine", [exact, aggregate], ids=["exact", "aggregate"])
def test_the_attributes_of_a_key_are_shown_side_by_side(engine):
    fields = [Field("a", values=("x",)), Field("b", values=("y",))]
    index = Index("both", partition=("{a}", "{b}"), sort="{timestamp}")

    _, both = results(engine, fields, partition="{a}", sort="{timestamp}", indexes=(index,))

    assert both.collections.largest_key == "x / y"


def test_a_filter_makes_no_key_groups():
    fields = [Field("kind", count=3), Field("deviceId", count=5000)]
    find = Pattern("find", "Query", rate=1, by=("kind", "deviceId"))
    load = Workload(fields=fields, patterns=[find], duration=10, warm_up=0)
    design = Design("d", partition="{kind}", sort="{timestamp}#{deviceId}")
    layout = Layout(design, load)

    [model] = Plan(layout, RunEmulator(layout, Settings())).models

    assert model.path.filters == ("deviceId",)
    assert len(model.keys(None).groups) == 3
