"""Bins: values of like popularity, in numbers that do not depend on how many there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab import Design, Field, Hotspot, Pattern, Uniform, Workload, Zipf
from emulator.lab.inputs.key_templates import parse
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.lab.world.bins import Bins, Existing, bins_of, cells_of
from emulator.lab.world.plan import Plan
from emulator.settings import Settings

shapes = st.sampled_from([Uniform(), Zipf(0.8), Zipf(1.3), Hotspot(0.1, 0.7)])


@given(shapes, st.integers(1, 3_000), st.floats(1e-4, 0.5))
def test_bins_have_every_value_once_and_popular_ones_alone(shape, count, least):
    bins = Bins.of(Field("user", count=count), [shape], least, is_rough=False)
    shares = shape.probabilities(count)

    assert bins.counts.sum() == count
    assert bins.shares(shape) == pytest.approx(np.add.reduceat(shares, bins.firsts))
    alone = bins.firsts[bins.counts == 1]
    assert np.isin(np.flatnonzero(shares >= least * (1 + 1e-9)), alone).all()


def test_a_hundred_million_values_have_as_many_bins_as_a_million():
    """Those that are alike are one."""
    sizes = [
        len(Bins.of(Field("user", count=count), [Zipf(1.1)], 1e-4, is_rough=False).edges)
        for count in (10**6, 10**8)
    ]
    assert sizes[1] < 1.2 * sizes[0] < 3_000


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=60), st.floats(0.01, 1))
def test_values_that_exist_keep_their_shares_and_popular_ones_are_alone(weights, least):
    shares = np.sort(weights)[::-1] / np.sum(weights)
    numbers = np.arange(len(shares))

    found = Existing.of(numbers, shares, least)

    assert found.shares.sum() == pytest.approx(1)
    assert found.counts.sum() == len(shares)
    assert sorted(found.firsts.tolist()) == found.firsts.tolist()
    heavy = np.flatnonzero(shares >= least)
    assert np.isin(heavy, found.firsts[found.counts == 1]).all()


def test_cells_stand_for_all_combinations():
    """Of a field per another one, too; a calculated suffix is that of its value."""
    put = Pattern("put", "PutItem", rate=1)
    fields = [Field("a", count=10, distribution=Zipf(1.0)), Field("b", count=50, per="a")]
    load = Workload(fields=fields, patterns=[put])
    template = parse("{a}#{hash(a) % 4}")

    cells = cells_of(load, bins_of(load, {"a": 1e-3, "b": 2.0}), put, ["b"], template.shards)

    assert cells.shares.sum() == pytest.approx(1)
    assert cells.multiples((parse("{b}"),)).sum() == pytest.approx(500)
    of_a = {}
    for share, row in zip(cells.shares, cells.rows, strict=True):
        text = row[cells.columns["a"]]
        of_a[text] = of_a.get(text, 0.0) + share
    expected = Zipf(1.0).probabilities(10)
    assert sorted(of_a.values(), reverse=True) == pytest.approx(expected.tolist())
    keys = set(template.texts(cells.columns, cells.rows, 0.0))
    assert len(keys) == 10


def test_a_filter_makes_no_cells():
    fields = [Field("kind", count=3), Field("deviceId", count=5000)]
    find = Pattern("find", "Query", rate=1, by=("kind", "deviceId"))
    load = Workload(fields=fields, patterns=[find], duration=10, warm_up=0)
    design = Design("d", partition="{kind}", sort="{timestamp}#{deviceId}")
    layout = Layout(design, load)

    [model] = Plan(layout, RunEmulator(layout, Settings())).models

    assert model.path.filters == ("deviceId",)
    assert len(model.placements[0].cells) == 3
