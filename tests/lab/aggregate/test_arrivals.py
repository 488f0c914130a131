"""Arrivals: draws are those of the second, however seconds are asked for."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emulator.lab.aggregate.arrivals import Arrivals
from emulator.lab.aggregate.call_rows import LiveRows
from emulator.lab.aggregate.plan import Plan
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings
from tests.lab.aggregate.worlds import events

DURATION = 130
LAYOUT = Layout(*events(rate=40, duration=DURATION))
EMULATOR = RunEmulator(LAYOUT, Settings())
PLAN = Plan(LAYOUT, EMULATOR)
[KEYS] = [model.keys(EMULATOR.resource(model.path.table, None)) for model in PLAN.models]
#: The shares of the rows before a split, and after it.
BEFORE = 0.5, 0.3, 0.2
AFTER = 0.5, 0.1, 0.2, 0.2
cuts = st.lists(st.integers(min_value=1, max_value=DURATION - 1), unique=True).map(sorted)


class Rows(SimpleNamespace):
    """Rows of one pattern in one world, as after a split in another one: laid out anew."""

    def __init__(self, shares):
        live = LiveRows(slice(0, len(shares)), np.array(shares))
        super().__init__(live=[live], groupings=[[SimpleNamespace(keys=KEYS)]])
        self.calls, self.shares = 1.0, np.zeros(4)

    def __len__(self):
        return 4


def arriving(stops, split):
    """Return what arrives in each second, asked for up to each stop; rows change at one second."""
    arrivals = Arrivals(PLAN, [KEYS], [7])
    bounds = sorted({0, *stops, split, *range(60, DURATION, 60), DURATION})
    return np.concatenate(
        [
            arrivals.calls(Rows(BEFORE), first, last, [split])
            if first < split
            else arrivals.calls(Rows(AFTER), first, last, [np.inf])
            for first, last in pairwise(bounds)
        ]
    )


@given(stops=cuts, split=st.integers(min_value=1, max_value=DURATION - 1))
def test_draws_do_not_depend_on_where_stretches_end(stops, split):
    every_second = arriving(range(1, DURATION), split)

    drawn = arriving(stops, split)

    assert (drawn == every_second).all()
    assert (drawn.sum(axis=1) == 40).all()
