"""A month at the pace of a run: what is used, and what it costs under each billing mode."""

import pytest

from emulator.capacity import ScalingPolicy
from emulator.capacity.prices import STANDARD, STANDARD_IA
from emulator.lab import Capacity, Design, Field, Index, Pattern, Workload
from emulator.lab.analysis.costs import Usage, break_even, costs, usages
from emulator.lab.outcome.run_log import Collections, RunLog
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

READ, WRITE = 0, 1
SETTINGS = Settings()
HOUR = 3600
MONTH = 730 * HOUR


def make_log(*, seconds=120, capacity=None, retention=None, **design):
    """Return the log of a run in which nothing happened yet."""
    put = Pattern("put", "PutItem", rate=1)
    workload = Workload(
        fields=[Field("userId", count=10)], patterns=[put], duration=seconds, retention=retention
    )
    made = Design("d", partition="{userId}", capacity=capacity or Capacity(), **design)
    return RunLog(RunEmulator(Layout(made, workload), SETTINGS))


def use_of(log, *, read=0.0, write=0.0, provisioned=1.0, collections=None):
    """Return what the table uses: rates and settings are numbers, or one a second."""
    [record] = log.resources.values()
    for axis, rate in ((READ, read), (WRITE, write)):
        record.consumed[axis][:] = _series(rate, log.seconds)
        record.provisioned[axis][:] = _series(provisioned, log.seconds)
    record.collect = lambda: collections or Collections([], [], [], [], [])
    [usage] = usages(log, SETTINGS)
    return usage


def _series(rate, seconds):
    return rate if isinstance(rate, list) else [float(rate)] * seconds


def test_units_are_the_mean_and_the_busiest_minute():
    """The peak is rounded up to whole units and never under one; a minute cut short counts."""
    busy = [1.0] * 60 + [4.5] * 60 + [9.5] * 30
    usage = use_of(make_log(seconds=150), write=busy)
    assert usage.units == (0.0, pytest.approx(sum(busy) / 150))
    assert usage.peaks == (1.0, 10.0)
    assert usage.settings == usage.peaks  # on demand, as what the busiest minute needs
    assert (usage.table, usage.index, usage.billing) == ("table", None, "on-demand")


def test_an_hour_is_paid_at_its_highest_setting():
    """CAP-1007; an hour that has begun is a whole one."""
    provisioned = Capacity(read=1, write=1)
    rates = [10.0] * 1800 + [30.0] * 900 + [20.0] * 900 + [20.0] * 60
    usage = use_of(make_log(seconds=3660, capacity=provisioned), provisioned=rates)
    assert usage.billing == "provisioned"
    assert usage.settings == (25.0, 25.0)  # thirty in the first hour, twenty in the second
    usage = use_of(make_log(seconds=3600, capacity=provisioned), provisioned=rates[:3600])
    assert usage.settings == (30.0, 30.0)


def test_auto_scaling_is_followed_minute_by_minute():
    """CAP-904: twelve units at 70 % are eighteen; two busy minutes bring 93, two minutes later."""
    log = make_log(seconds=HOUR)
    assert use_of(log, write=12.0).scaled == (5, 18)
    assert use_of(log, write=[12.0] * 1800 + [65.0] * 1800).scaled == (5, 93)
    late = [12.0] * 3480 + [65.0] * 120
    assert use_of(log, write=late).scaled == (5, 18)


def test_a_design_that_scales_pays_what_it_was_set_to():
    scaling = Capacity(read=5, write=5, scaling=ScalingPolicy())
    usage = use_of(make_log(capacity=scaling), write=12.0, provisioned=7.0)
    assert (usage.billing, usage.settings, usage.scaled) == ("auto-scaled", (7, 7), (7, 7))


#: Two collections alike of 1,000 bytes in 4 items, of which 100 bytes are new.
COLLECTIONS = Collections(["a"], [4.0], [1000.0], [100.0], [2.0])
BILLED = 2 * (1000 + 4 * 100)


def test_data_that_is_kept_for_ever_grows_by_half_a_month_on_average():
    """CAP-110, CAP-1004: what was there, and half of what a month brings at this pace."""
    usage = use_of(make_log(seconds=100), collections=COLLECTIONS)
    grown = BILLED * 0.1
    assert usage.stored == pytest.approx(BILLED - grown + grown / 100 * MONTH / 2)


def test_data_with_a_retention_is_what_the_retention_keeps():
    usage = use_of(make_log(seconds=100, retention=5000), collections=COLLECTIONS)
    assert usage.stored == pytest.approx(BILLED * 0.1 / 100 * 5000)
    still = Collections(["a"], [4.0], [1000.0], [0.0], [2.0])
    assert use_of(make_log(seconds=100, retention=5000), collections=still).stored == BILLED


def test_an_empty_table_stores_nothing():
    assert use_of(make_log()).stored == 0


def used(**members):
    usual = {
        "table": "table",
        "index": None,
        "billing": "on-demand",
        "units": (2.0, 3.0),
        "peaks": (5.0, 6.0),
        "settings": (5.0, 6.0),
        "scaled": (3.0, 5.0),
        "stored": 5e9,
    }
    return Usage(**usual | members)


def layout(**design):
    return make_log(**design).layout


def test_a_month_is_paid_by_units_by_settings_or_by_what_scaling_sets():
    """CAP-1001."""
    made = costs([used()], layout(), SETTINGS)
    totals = {(cost.billing, cost.table_class): cost.total for cost in made}
    expected = {}
    for prices in (STANDARD, STANDARD_IA):
        storage = prices.storage(5e9, SETTINGS)
        on_demand = prices.on_demand(reads=2 * MONTH, writes=3 * MONTH)
        provisioned = prices.provisioned(read_hours=5 * 730, write_hours=6 * 730)
        scaled = prices.provisioned(read_hours=3 * 730, write_hours=5 * 730)
        expected["on-demand", prices.name] = storage + on_demand
        expected["provisioned", prices.name] = storage + provisioned
        expected["auto-scaled", prices.name] = storage + scaled
    assert totals == {key: pytest.approx(total) for key, total in expected.items()}
    assert [cost.billing for cost in made if cost.chosen] == ["on-demand"]
    assert [cost.table_class for cost in made if cost.chosen] == ["STANDARD"]


def test_a_design_with_several_modes_gets_a_line_of_its_own():
    """What is asked for is none of the uniform ones."""
    uses = [used(), used(index="byStatus", billing="provisioned")]
    made = costs(uses, layout(), SETTINGS)
    [chosen] = [cost for cost in made if cost.chosen]
    storage = 2 * STANDARD.storage(5e9, SETTINGS)
    on_demand = STANDARD.on_demand(reads=2 * MONTH, writes=3 * MONTH)
    provisioned = STANDARD.provisioned(read_hours=5 * 730, write_hours=6 * 730)
    assert (chosen.billing, chosen.table_class) == ("as designed", "as designed")
    assert chosen.total == pytest.approx(storage + on_demand + provisioned)
    assert len(made) == 7
    assert {line.resource for line in chosen.lines} == {"table", "byStatus"}


def test_provisioned_is_cheaper_above_the_break_even_point():
    """CAP-1008: an axis that is not used has none."""
    low = used(units=(0.0, 6.0 * STANDARD.break_even(WRITE)))
    [row] = break_even([low], layout())
    assert (row.resource, row.axis, row.cheaper) == ("table", "write", "on-demand")
    assert row.utilisation == pytest.approx(row.break_even)
    high = used(index="byStatus", units=(5.0, 5.9))
    read, write = break_even([high], layout())
    assert (read.axis, read.utilisation, read.cheaper) == ("read", 1.0, "provisioned")
    assert (write.axis, write.resource, write.cheaper) == ("write", "byStatus", "provisioned")
    assert write.break_even == pytest.approx(STANDARD.break_even(WRITE))


def test_indexes_are_used_and_paid_by_their_own_name():
    log = make_log(indexes=(Index("byUser", partition="{userId}"),))
    assert [usage.index for usage in usages(log, SETTINGS)] == [
        None,
        *(record.name for record in log.resources.values() if not record.is_table),
    ]
