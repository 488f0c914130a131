"""A month as it is said to be, under each billing mode, and never cheaper for failing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from emulator.capacity import ScalingPolicy
from emulator.capacity.prices import STANDARD, STANDARD_IA
from emulator.lab import Capacity, Design, Field, Index, Pattern, Ramp, Workload, exact, world
from emulator.lab.analysis.costs import Month, Usage, break_even, costs, usages, year
from emulator.lab.inputs.extras import Extras, Reserved
from emulator.lab.inputs.history import Units
from emulator.lab.outcome.run_log import Collections, PatternRecord, RunLog
from emulator.lab.outcome.summarise import resource_results
from emulator.lab.planning.key_traits import most_items
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.run_emulator import RunEmulator
from emulator.settings import Settings

READ, WRITE = 0, 1
SETTINGS = Settings()
HOUR = 3600
SECONDS = 120
MONTH = 730 * HOUR


def make_log(*, seconds=SECONDS, capacity=None, retention=None, **design):
    """Return the log of a run in which nothing happened yet."""
    put = Pattern("put", "PutItem", rate=1)
    workload = Workload(
        fields=[Field("userId", count=10)], patterns=[put], duration=seconds, retention=retention
    )
    keys = {"partition": "{userId}", "sort": "{timestamp}"}
    made = Design("d", capacity=capacity or Capacity(), **keys | design)
    return RunLog(RunEmulator(Layout(made, workload), SETTINGS))


def use_of(log, *, read=0.0, write=0.0, provisioned=1.0, collections=None):
    """Return what the table uses: rates and settings are numbers, or one a second."""
    [record] = log.resources.values()
    for axis, rate in ((READ, read), (WRITE, write)):
        taken, there = (_series(own, log) for own in (rate, provisioned))
        record.consumed[axis][:] = (taken * log.step).tolist()
        record.provisioned[axis][:] = there.tolist()
    record.collect = lambda: collections or Collections([], [], [], [], [])
    [usage] = usages(log, SETTINGS)
    return usage


def stored_bytes(log, collections):
    """Return what a month is billed to hold on average."""
    made = costs([use_of(log, collections=collections)], log.layout, SETTINGS)
    return sum(line.quantity for line in made[0].lines if line.item == "storage") * 1024**3


def _series(rate, log):
    """Return the mean rate of each point of a log's series."""
    rates = rate if isinstance(rate, list) else [float(rate)] * log.seconds
    starts = np.arange(0, log.seconds, log.step)
    return np.add.reduceat(rates, starts) / np.diff(np.append(starts, log.seconds))


def test_units_are_those_of_the_run_and_of_its_busiest_minute():
    """The peak is rounded up to whole units and never under one; a minute cut short counts."""
    busy = [1.0] * 60 + [4.5] * 60 + [9.5] * 30
    usage = use_of(make_log(seconds=150), write=busy)
    assert usage.units == (0.0, pytest.approx(sum(busy)))
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
    """Without scaling it would have to be provisioned for its busiest minute."""
    scaling = Capacity(read=5, write=5, scaling=ScalingPolicy())
    log = make_log(capacity=scaling)
    usage = use_of(log, write=12.0, provisioned=17.0)
    assert (usage.billing, usage.settings, usage.scaled) == ("auto-scaled", (1, 12), (17, 17))
    assert usage.times(1.0, 1.5).settings == (1, 18)
    [row] = break_even([usage], log.layout)
    assert row.utilisation == pytest.approx(12 / 17)


#: Two collections alike of 1,000 bytes in 4 items, of which 100 bytes are new.
COLLECTIONS = Collections(["a"], [4.0], [1000.0], [100.0], [2.0])
BILLED = 2 * (1000 + 4 * 100)


def test_data_that_is_kept_for_ever_grows_by_half_a_month_on_average():
    """CAP-110, CAP-1004: what was there, and half of what a month brings at this pace."""
    grown = BILLED * 0.1
    stored = stored_bytes(make_log(seconds=100), COLLECTIONS)
    assert stored == pytest.approx(BILLED - grown + grown / 100 * MONTH / 2)


def test_data_with_a_retention_is_what_the_retention_keeps():
    log = make_log(seconds=100, retention=5000)
    assert stored_bytes(log, COLLECTIONS) == pytest.approx(BILLED * 0.1 / 100 * 5000)
    still = Collections(["a"], [4.0], [1000.0], [0.0], [2.0])
    assert stored_bytes(make_log(seconds=100, retention=5000), still) == pytest.approx(BILLED)


def test_bytes_are_billed_whole():
    half = Collections(["a"], [4.4], [1000.4], [0.0], [1.0])
    assert use_of(make_log(), collections=half).held == 1000 + 4 * 100


def test_an_empty_table_stores_nothing():
    assert stored_bytes(make_log(), None) == 0


def used(**members):
    usual = {
        "table": "table",
        "index": None,
        "billing": "on-demand",
        "units": (2.0 * SECONDS, 3.0 * SECONDS),
        "peaks": (5.0, 6.0),
        "settings": (5.0, 6.0),
        "scaled": (3.0, 5.0),
        "held": 5e9,
        "grown": 0.0,
        "most_held": math.inf,
        "partitions": 1,
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
    low = used(units=(0.0, 6.0 * STANDARD.break_even(WRITE) * SECONDS))
    [row] = break_even([low], layout())
    assert (row.resource, row.axis, row.cheaper) == ("table", "write", "on-demand")
    assert row.utilisation == pytest.approx(row.break_even)
    high = used(index="byStatus", units=(5.0 * SECONDS, 5.9 * SECONDS))
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


def billed(usage, *records, extras=None, table_class="STANDARD"):
    """Return the bills of a month by billing mode; records are calls, failed, units."""
    log = make_log(extras=extras or Extras())
    [pattern] = log.layout.workload.patterns
    patterns = [
        PatternRecord(pattern, "table", calls=calls, failed=failed, units=units)
        for calls, failed, units in records
    ]
    made = costs([usage], log.layout, SETTINGS, patterns)
    return {cost.billing: cost for cost in made if cost.table_class == table_class}


def amounts(cost):
    return {line.item: line.amount for line in cost.lines}


RESERVED = Reserved(years=3, units=Units(write=100))


def test_capacity_is_reserved_for_tables_and_not_for_indexes():
    """CAP-1003."""
    month = amounts(billed(used(index="byUser"), extras=Extras(reserved=RESERVED))["provisioned"])
    assert "reserved write capacity" not in month
    assert month["write capacity"] == pytest.approx(6 * 730 * 0.00065)


def test_replicated_writes_are_not_reserved():
    """CAP-1003, CAP-312."""
    both = Extras(reserved=RESERVED, replicas=1)
    month = amounts(billed(used(), extras=both)["provisioned"])
    assert "reserved write capacity" not in month
    alone = amounts(billed(used(), extras=Extras(replicas=1))["provisioned"])
    assert month == alone


def test_each_reader_of_a_stream_asks_each_partition():
    month = amounts(
        billed(used(partitions=3), extras=Extras(stream_consumers=2, stream_polls=4))["on-demand"]
    )
    assert month["stream reads"] == pytest.approx(2 * 3 * 4 * MONTH * 0.20e-6)


@pytest.mark.parametrize(("calls", "failed"), [(2.0, 1.0), (400.0, 300.0)])
def test_the_whole_load_is_what_was_served_times_what_was_asked(calls, failed):
    """Units and what scaling sets are taken in proportion; half of the reads were all served."""
    units = {"table": [1.0 * SECONDS, 3.0 * SECONDS]}
    served = {"table": [1.0 * SECONDS, 0.0]}
    factor = calls / (calls - failed)
    reads = (factor + 1) / 2
    month = billed(used(grown=1e6), (calls, failed, units), (0.0, 0.0, {}), (5.0, 0.0, served))
    grown = 1e6 * factor
    storage = STANDARD.storage(5e9 - grown + grown * MONTH / SECONDS / 2, SETTINGS)
    on_demand = STANDARD.on_demand(reads=2 * MONTH * reads, writes=3 * MONTH * factor)
    assert month["on-demand"].whole_load == pytest.approx(storage + on_demand)
    scaled = STANDARD.provisioned(read_hours=3 * 730 * reads, write_hours=5 * 730 * factor)
    assert month["auto-scaled"].whole_load == pytest.approx(storage + scaled)


def test_the_whole_load_is_not_known_where_nothing_of_a_pattern_was_served():
    units = {"table": [0.0, 3.0 * SECONDS]}
    month = billed(used(), (10.0, 10.0, {}), (20.0, 10.0, units))
    assert month["on-demand"].whole_load is None


def test_capacity_is_reserved_in_the_standard_class():
    """CAP-1003."""
    extras = Extras(reserved=RESERVED)
    month = amounts(billed(used(), extras=extras, table_class=STANDARD_IA.name)["provisioned"])
    assert "reserved write capacity" not in month


def test_a_multiple_of_the_load_is_a_multiple_of_all_but_what_is_there():
    once = used(grown=7.0)
    twice = once.grown_by(2.0)
    doubled = {
        name: tuple(2 * units for units in getattr(once, name))
        for name in ("units", "peaks", "settings", "scaled")
    }
    assert twice == replace(once, grown=14.0, **doubled)


def test_auto_scaling_begins_with_what_the_first_minute_needs():
    """CAP-904: a minute is too short to be followed."""
    assert use_of(make_log(seconds=60), write=12.0).scaled == (5, 18)


def test_auto_scaling_is_paid_by_each_hour():
    """CAP-1007: fifty-eight units for the first hour, and its least for most of the second."""
    busy = [40.0] * HOUR + [1.0] * HOUR
    first, both = (
        use_of(make_log(seconds=len(rates)), write=rates).scaled[WRITE]
        for rates in (busy[:HOUR], busy)
    )
    assert (first, both) == (58, 58)
    third = use_of(make_log(seconds=3 * HOUR), write=busy + [1.0] * HOUR).scaled[WRITE]
    assert third == pytest.approx((58 + 58 + 5) / 3)


# Whole runs

PUT = Pattern("put", "PutItem", rate=50, size=300)
WORKLOAD = Workload(fields=[Field("userId", count=500)], patterns=[PUT], duration=120, warm_up=0)
ROOMY = Capacity(read=10, write=100)


def bills(workload, partition="{userId}", engine=world, **design):
    """Return the month by billing mode, Standard class."""
    layout = Layout(Design("d", partition=partition, sort="{timestamp}", **design), workload)
    log = engine.run(layout)
    used = usages(log, SETTINGS)
    made = costs(used, layout, SETTINGS, log.patterns.values())
    return {cost.billing: cost for cost in made if cost.table_class == "STANDARD"}


def lines(cost):
    return {line.item: line.amount for line in cost.lines}


def test_a_load_that_runs_all_the_time_is_paid_for_all_hours():
    """CAP-1001, CAP-1007."""
    month = bills(WORKLOAD, capacity=ROOMY)

    assert lines(month["on-demand"])["writes"] == pytest.approx(50 * MONTH * 0.625e-6, rel=1e-3)
    assert lines(month["provisioned"])["write capacity"] == pytest.approx(100 * 730 * 0.00065)
    assert "scheduled" not in month


def test_a_run_once_a_month_is_paid_for_once():
    """A sale of two minutes: on demand its units, provisioned the whole month, or one hour."""
    month = bills(replace(WORKLOAD, every=MONTH), capacity=ROOMY)

    assert lines(month["on-demand"])["writes"] == pytest.approx(50 * 120 * 0.625e-6, rel=1e-3)
    assert lines(month["provisioned"])["write capacity"] == pytest.approx(100 * 730 * 0.00065)
    scheduled = lines(month["scheduled"])
    assert scheduled["write capacity"] == pytest.approx((100 + 729) * 0.00065)
    assert scheduled["read capacity"] == pytest.approx((10 + 729) * 0.00013)


def test_a_design_that_gives_up_calls_is_no_bargain():
    """What was refused is not billed (CAP-608); for a call served, and for all calls, it is."""
    kept = replace(WORKLOAD, retry="none")
    small, large = (bills(kept, capacity=Capacity(read=10, write=write)) for write in (20, 100))

    assert small["on-demand"].total < large["on-demand"].total * 0.6
    assert small["on-demand"].whole_load == pytest.approx(large["on-demand"].total, rel=0.02)
    assert large["on-demand"].whole_load is None
    per_call = [month["on-demand"].per_million_served for month in (small, large)]
    assert per_call[0] == pytest.approx(per_call[1], rel=0.01)
    assert small["provisioned"].whole_load is None


@pytest.mark.parametrize("retry", ["none", "legacy"])
def test_the_whole_load_has_the_calls_that_still_wait_at_the_end(retry):
    """A caller who tries again for half a minute is not served yet."""
    kept = replace(WORKLOAD, retry=retry)
    small, large = (bills(kept, capacity=Capacity(read=10, write=write)) for write in (20, 100))

    assert small["on-demand"].whole_load == pytest.approx(large["on-demand"].total, rel=0.02)


@pytest.mark.parametrize("engine", [world, exact])
def test_an_index_that_falls_behind_is_no_bargain(engine):
    """CAP2-4: what waits for an index has been accepted, so it is paid for later."""
    slow, quick = (
        bills(
            replace(WORKLOAD, duration=60),
            engine=engine,
            capacity=Capacity(read=10, write=100),
            indexes=[Index("byUser", partition="{userId}", capacity=Capacity(write=write, read=1))],
        )
        for write in (20, 100)
    )

    written = [
        {item: sum(line.amount for line in bill[mode].lines if line.item == item)
         for mode, item in (("on-demand", "writes"), ("auto-scaled", "write capacity"))}
        for bill in (slow, quick)
    ]  # fmt: skip
    assert written[1]["writes"] == pytest.approx(2 * 50 * MONTH * 0.625e-6, rel=0.01)
    assert written[0]["writes"] == pytest.approx(written[1]["writes"], rel=0.001)
    assert written[0]["write capacity"] > 0.99 * written[1]["write capacity"]


@pytest.mark.parametrize("engine", [world, exact])
def test_what_an_index_owes_from_before_the_run_is_not_paid_again(engine):
    """CAP2-4: it takes in during the run what was written in the warm-up."""
    put = Pattern("put", "PutItem", rate=Ramp(start=50, end=10, over=1))
    bill = bills(
        replace(WORKLOAD, patterns=[put], warm_up=20, duration=70),
        engine=engine,
        capacity=Capacity(read=10, write=100),
        indexes=[Index("byUser", partition="{userId}", capacity=Capacity(write=20, read=1))],
    )

    table, index = (
        next(
            line.amount
            for line in bill["on-demand"].lines
            if line.item == "writes" and line.resource == resource
        )
        for resource in ("table", "byUser")
    )
    assert index == pytest.approx(table, rel=0.001)


@pytest.mark.parametrize("engine", [world, exact])
def test_a_local_index_is_stored_in_the_collections_of_its_table(engine):
    """CAP-110, CAP-111: an entry takes its bytes, and 100 more on the bill, as an item does."""
    fields = [*WORKLOAD.fields, Field("kind", values=("a", "b"))]
    local = Index("byKind", partition="{userId}", sort="{kind}", local=True)
    plain, indexed = (
        engine.run(
            Layout(
                Design("d", partition="{userId}", sort="{timestamp}", indexes=indexes),
                replace(WORKLOAD, fields=fields),
            )
        )
        for indexes in ((), (local,))
    )

    sizes = [
        [resource.collections for resource in resource_results(log)] for log in (plain, indexed)
    ]
    [[alone], [both]] = sizes
    assert both.items == pytest.approx(alone.items)
    assert both.total_bytes == pytest.approx(2 * alone.total_bytes)
    as_billed = 2 * (300 + 100) / 300
    assert both.largest_bytes == pytest.approx(as_billed * alone.largest_bytes)
    assert both.largest_growth_bytes_per_day == pytest.approx(
        as_billed * alone.largest_growth_bytes_per_day
    )
    [before], [after] = (usages(log, SETTINGS) for log in (plain, indexed))
    assert before.held == pytest.approx(alone.items * (300 + 100))
    assert after.held == pytest.approx(2 * before.held)
    assert after.grown == pytest.approx(2 * before.grown)


def test_a_read_that_asks_several_keys_is_one_request():
    """More calls for the same answer do not make a design look cheaper."""
    read = Pattern("read", "Query", rate=50, by=("userId",), items=1)
    workload = replace(WORKLOAD, patterns=[PUT, read])
    plain, suffixed = (
        bills(workload, partition)["on-demand"]
        for partition in ("{userId}", "{userId}#{random(8)}")
    )

    assert suffixed.total > plain.total * 1.2
    ratio = suffixed.per_million_served / plain.per_million_served
    assert ratio == pytest.approx(suffixed.total / plain.total, rel=1e-6)


def test_replicas_pay_every_write_in_every_region():
    """CAP-312."""
    alone, copied = (
        bills(WORKLOAD, capacity=ROOMY, extras=extras) for extras in (Extras(), Extras(replicas=2))
    )

    for billing, single, replicated in (
        ("on-demand", "writes", "replicated writes"),
        ("provisioned", "write capacity", "replicated write capacity"),
    ):
        assert single not in lines(copied[billing])
        thrice = pytest.approx(3 * lines(alone[billing])[single])
        assert lines(copied[billing])[replicated] == thrice
    assert lines(copied["on-demand"])["storage"] == pytest.approx(
        3 * lines(alone["on-demand"])["storage"]
    )


def test_recovery_backups_and_stream_readers_have_their_lines():
    """CAP-1004."""
    extras = Extras(point_in_time_recovery=True, backups=3, stream_consumers=2, stream_polls=2)
    month = lines(bills(WORKLOAD, capacity=ROOMY, extras=extras)["on-demand"])

    assert month["point-in-time recovery"] == pytest.approx(month["storage"] / 0.25 * 0.20)
    assert month["backups"] == pytest.approx(3 * month["storage"] / 0.25 * 0.10)
    assert month["stream reads"] == pytest.approx(2 * 1 * 2 * MONTH * 0.20e-6)


def test_reserved_capacity_is_paid_whether_it_is_used_or_not():
    """CAP-1003: 100 WCU for three years are 0.000149 a unit-hour."""
    reserved = Extras(reserved=Reserved(years=3, units=Units(write=100)))
    over, under = (
        lines(
            bills(WORKLOAD, capacity=Capacity(read=10, write=write), extras=reserved)["provisioned"]
        )
        for write in (150, 60)
    )

    assert over["reserved write capacity"] == under["reserved write capacity"]
    assert over["reserved write capacity"] == pytest.approx(100 * 730 * 0.000149, rel=0.01)
    assert over["write capacity"] == pytest.approx(50 * 730 * 0.00065)
    assert "write capacity" not in under


def test_a_year_grows_in_load_and_in_what_is_stored():
    growing = replace(WORKLOAD, growth=0.05)
    layout = Layout(
        Design("d", partition="{userId}", sort="{timestamp}", capacity=Capacity()), growing
    )
    log = world.run(layout)

    months = year(usages(log, SETTINGS), layout, SETTINGS)

    assert [month.month for month in months] == list(range(1, 13))
    assert months[-1].load == pytest.approx(1.05**11)
    stored = [month.stored_bytes for month in months]
    assert stored == sorted(stored)
    assert stored[-1] > 12 * stored[0]
    # 50 items of 400 bytes a second are 52 GB in the first month, and 16 times that in a year.
    assert months[-1].partitions == pytest.approx(stored[-1] / 10 / 1024**3, rel=0.15)
    assert year(usages(log, SETTINGS), Layout(layout.design, WORKLOAD), SETTINGS) == ()


def test_overwritten_items_take_no_more_room_than_there_are_keys():
    """2,000 devices that overwrite their one item do not become 45 GB a month."""
    workload = Workload(
        fields=[Field("deviceId", count=2_000), Field("kind", values=("a", "b"))],
        patterns=[Pattern("report", "PutItem", rate=100, size=400)],
        duration=120,
        growth=0.05,
    )
    index = Index("byKind", partition="{kind}", sort="{deviceId}")
    layout = Layout(Design("latest", partition="{deviceId}", indexes=(index,)), workload)

    used = usages(world.run(layout), SETTINGS)

    full = {usage.index: usage.most_held for usage in used}
    assert full == {None: pytest.approx(1e6, rel=0.01), "byKind": pytest.approx(1e6, rel=0.01)}
    months = year(used, layout, SETTINGS)
    assert max(month.stored_bytes for month in months) == pytest.approx(2e6, rel=0.01)
    assert {month.partitions for month in months} == {sum(usage.partitions for usage in used)}


@pytest.mark.parametrize(
    ("partition", "sort", "most"),
    [
        ("{userId}", None, 10),
        ("{userId}", "{kind}", 20),
        ("{userId}#{hash(userId) % 4}", "{kind}", 20),
        ("{userId}#{hash(kind) % 4}", None, 40),
        ("{userId}#{random(4)}", None, 40),
        ("{tenant}", "{order}", 30),
        ("{userId}", "{timestamp}", math.inf),
        ("{userId}", "{id}", math.inf),
    ],
)
def test_a_table_holds_at_most_an_item_for_each_key(partition, sort, most):
    workload = Workload(
        fields=[
            Field("userId", count=10),
            Field("kind", values=("a", "b")),
            Field("tenant", count=3),
            Field("order", count=30, per="tenant"),
            Field("id", unique="random"),
        ],
        patterns=[Pattern("put", "PutItem", rate=1), Pattern("get", "GetItem", rate=1)],
        duration=60,
    )
    layout = Layout(Design("d", partition=partition, sort=sort), workload)
    assert most_items(layout.tables[0], layout) == most


def test_growth_ends_within_a_month_when_every_key_has_its_item():
    log = make_log(sort="{timestamp}")
    fills = used(held=3e9, grown=1e9, most_held=4e9)  # two more runs fill it
    month = Month.of(log.layout.workload, SETTINGS)
    growing = 2e9 / (1e9 * month.runs)
    expected = 4e9 - 2e9 * growing / 2
    made = costs([fills], log.layout, SETTINGS)[0]
    stored = sum(line.quantity for line in made.lines if line.item == "storage") * 1024**3
    assert stored == pytest.approx(expected)


def test_auto_scaling_goes_down_between_runs():
    scaled = Capacity(read=10, write=100, scaling=ScalingPolicy(minimum=1, maximum=200))
    month = bills(replace(WORKLOAD, every=MONTH), capacity=scaled)

    assert lines(month["auto-scaled"])["write capacity"] < 0.02 * 100 * 730 * 0.00065 + 1


def test_a_minute_begins_with_its_first_second():
    """Six hundred units in the first second of a run are ten a second of its first minute."""
    usage = use_of(make_log(seconds=120), write=[600.0] + [0.0] * 119)
    assert usage.peaks == (1.0, 10.0)


def test_units_are_provisioned_whole():
    """CAP-1007: the setting of a run that never changes is rounded, too."""
    provisioned = Capacity(read=1, write=1)
    usage = use_of(make_log(seconds=60, capacity=provisioned), provisioned=10.4)
    assert usage.settings == (10.0, 10.0)


def test_auto_scaling_is_paid_by_the_hour_of_its_highest_setting():
    """CAP-904, CAP-1007: what it gives back within the hour was paid for."""
    busy = [100.0] * 300 + [1.0] * 2700
    usage = use_of(make_log(seconds=3000), write=busy)
    assert usage.scaled[WRITE] == 143.0  # a hundred at 70 %
