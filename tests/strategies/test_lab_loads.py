"""Loads: what is drawn is a workload of the lab within bounds, and small ones come first."""

import pytest
from hypothesis import find, given, settings
from hypothesis.errors import InvalidArgument

from emulator.lab import Capacity, Design, Field, Pattern, Uniform, Workload, play
from emulator.lab.planning.layout import Layout
from emulator.strategies import key_schemes, loads

FIELDS = [Field("device", count=1_000), Field("event", unique="random")]
BY_DEVICE = Design(
    "device", partition="{device}", sort="{event}", capacity=Capacity(read=5_000, write=5_000)
)
BY_HOUR = Design("hour", partition="{timestamp:hour}", sort="{timestamp}#{event}")


@given(loads(FIELDS, max_rate=900, max_item_size=700, max_seconds=60))
@settings(max_examples=30)
def test_a_load_stays_within_its_bounds(load):
    total = sum(load.rates(pattern) for pattern in load.patterns)
    assert total.max() <= 900
    assert load.duration <= 60
    assert {pattern.operation for pattern in load.patterns} <= {"PutItem", "GetItem"}
    assert all(pattern.sizes.mean <= 700 for pattern in load.patterns)


@given(loads(FIELDS, operations=("PutItem",), max_rate=900, max_seconds=20))
@settings(max_examples=15, deadline=None)
def test_the_device_key_never_throttles(load):
    """As in the documentation: three lines are a law."""
    assert not play(load, BY_DEVICE).throttled


def test_the_smallest_load_that_throttles_is_one_even_pattern_of_a_round_rate():
    smallest = find(
        loads(FIELDS, max_rate=5_000, max_seconds=20),
        lambda load: play(load, BY_HOUR).throttled > 0,
        settings=settings(max_examples=200, database=None),
    )
    [put] = smallest.patterns
    assert put.operation == "PutItem"
    assert put.distributions == {"device": Uniform()}
    assert put.pace.highest in (2_000.0, 5_000.0)


@given(key_schemes(FIELDS))
@settings(max_examples=30)
def test_a_key_scheme_is_a_design_of_these_fields(design):
    Layout(design, Workload(fields=FIELDS, patterns=[Pattern("put", "PutItem", rate=1)]))


@pytest.mark.parametrize("arguments", [{"fields": []}, {"operations": ()}, {"max_rate": 0}])
def test_wrong_arguments_are_reported_when_something_is_drawn(arguments):
    fields = arguments.pop("fields", FIELDS)
    with pytest.raises(InvalidArgument):
        find(loads(fields, **arguments), lambda _: True)
