"""Laws of the question: what a grade may depend on, and what it may not."""

from dataclasses import replace

import pytest

from emulator.lab import Capacity, Design, Field, Hotspot, Pattern, Workload, Zipf, compare
from emulator.lab.planning.layout import Layout
from emulator.lab.planning.worlds import Known, draw_worlds
from emulator.lab.world import Worlds
from emulator.settings import Settings

FEW = {"headroom": False, "sensitivity": False, "fix": False}
DAY = 86_400


def answer(workload, design, **options):
    [found] = compare(workload, [design], **{**FEW, "quick": True, **options}).designs
    return found


def hot_key(**options):
    """One key of a thousand gets 30 % of 3,000 writes a second: its partition is split for it."""
    fields = [
        Field("user", count=1_000, distribution=Hotspot(keys=0.001, traffic=0.3)),
        Field("id", unique="random"),
    ]
    put = Pattern("put", "PutItem", rate=3_000, size=500)
    return Workload(**{"fields": fields, "patterns": [put], "duration": 900, **options})


BY_USER = Design("by user", partition="{user}", sort="{id}")


def risks(found):
    return found.ages.first.risk.chance, found.ages.lived.risk.chance


@pytest.mark.parametrize("warm_up", [60, 900, 3_600])
def test_the_warm_up_decides_no_grade(warm_up):
    found = answer(hot_key(warm_up=warm_up), BY_USER)
    assert (found.grade, risks(found)) == ("heals", (1, 0))


@pytest.mark.parametrize("duration", [30, 120, 600])
def test_how_long_one_looks_decides_no_grade(duration):
    assert answer(hot_key(duration=duration, warm_up=60), BY_USER).grade == "heals"


def test_tables_that_heal_say_until_when_and_what_to_do_before():
    [found] = compare(hot_key(), [BY_USER], headroom=False, sensitivity=False, quick=True).designs
    assert 180 < found.ages.first.calm_after_seconds < 1_500
    assert (found.fix or found.fix_note).startswith("before launch, ")


@pytest.mark.parametrize("start", [0, 12 * 3600 + 7 * 60, 23 * 3600 + 58 * 60])
def test_the_beginning_of_the_run_decides_no_risk(start):
    workload = Workload(
        fields=[Field("device", count=1_000)],
        patterns=[Pattern("put", "PutItem", rate=2_800, size=500)],
        duration=120,
        start=1_767_225_600 + start,
    )
    capacity = Capacity(read=100, write=5_000)
    key = "{timestamp:day}#{random(40)}"
    design = Design("day", partition=key, sort="{device}#{timestamp}", capacity=capacity)
    found = answer(workload, design, worlds=100)
    assert found.risk.chance == pytest.approx(0.3, abs=0.2)
    assert found.grade == "risky"


@pytest.mark.parametrize(
    "values", [("OPEN", "PAID", "SHIPPED"), ("a", "b", "c"), ("1", "22", "333")]
)
def test_values_are_placed_by_what_they_are_and_not_by_how_they_are_spelled(values):
    """Three even keys, each 80 % of a partition: what decides is which of them meet."""
    workload = Workload(
        fields=[Field("status", values=values)],
        patterns=[Pattern("put", "PutItem", rate=2_400, size=500)],
        duration=60,
        warm_up=0,
    )
    design = Design(
        "d", partition="{status}", sort="{timestamp}", capacity=Capacity(read=10, write=3_000)
    )
    worlds = draw_worlds(0, 40, Known(Settings(burst_start=0.0)))
    shares = [own.throttled_share for own in Worlds(Layout(design, workload)).play(worlds)]
    assert sum(share > 0.001 for share in shares) == SPELLED
    assert 0 < SPELLED < 40


def test_the_exact_engine_places_values_so_too_and_shows_them_as_they_are_spelled():
    """CAP2-7."""
    shares, keys = set(), []
    for values in (("OPEN", "PAID"), ("a", "bbb")):
        workload = Workload(
            fields=[Field("status", values=values), Field("id", count=50, per="status")],
            patterns=[Pattern("put", "PutItem", rate=60, size=30_000)],
            duration=20,
            warm_up=0,
        )
        design = Design("d", partition="{status}", sort="{id}")
        found = compare(workload, [design], engine="exact", worlds=1, **FEW).designs[0]
        shares.add(found.throttled_share)
        keys.append({own.key for own in found.table.top_keys})
    assert len(shares) == 1
    assert keys == [{"OPEN", "PAID"}, {"a", "bbb"}]


#: Of forty worlds, those in which two of three keys meet.
SPELLED = 25


@pytest.mark.parametrize(
    ("operation", "rate", "grade"),
    [("PutItem", 3_800, "tight"), ("PutItem", 4_000, "tight"), ("PutItem", 4_600, "heals")],
)
def test_what_is_promised_is_at_the_limit_and_not_beyond_it(operation, rate, grade):
    """CAP-509: 4,000 writes a second of a new on-demand table, however even keys are hashed."""
    workload = Workload(
        fields=[Field("id", unique="random")],
        patterns=[Pattern("put", operation, rate=rate, size=500)],
        duration=120,
        warm_up=0,
    )
    [found] = compare(
        workload, [Design("d", partition="{id}")], sensitivity=False, fix=False, quick=True
    ).designs
    assert found.grade == grade
    if rate <= 4_000:
        assert found.margin.percent == pytest.approx(100 * (1 - rate / 4_000), abs=0.2)
        assert found.margin.limit == "TableWriteKeyRangeThroughputExceeded"
    else:
        assert found.margin.percent < 0


@pytest.mark.parametrize(
    ("suffixes", "least", "most"), [(10, 0.8, 1), (40, 0.1, 0.7), (100, 0, 0.03)]
)
def test_a_month_of_daily_keys_is_thirty_draws_of_one_day(suffixes, least, most):
    workload = Workload(
        fields=[Field("device", count=1_000)],
        patterns=[Pattern("put", "PutItem", rate=2_800, size=500)],
        duration=60,
    )
    capacity = Capacity(read=100, write=5_000)
    key = f"{{timestamp:day}}#{{random({suffixes})}}"
    design = Design("day", partition=key, sort="{device}#{timestamp}", capacity=capacity)
    found = answer(workload, design, worlds=100)
    assert least <= found.risk.chance <= most
    own = found.horizon
    assert (own.seconds, own.bucket_seconds, own.buckets) == (30 * DAY, DAY, 30)
    # Independent draws: the month's chance is that of any of thirty.
    expected = 1 - (1 - own.risk_per_bucket) ** 29
    assert found.ages.lived.risk.chance == pytest.approx(expected, abs=0.25)


def test_heat_that_moves_is_not_healed_by_splits():
    still = hot_key(duration=1_800)
    moving = hot_key(
        duration=1_800,
        fields=[
            Field("user", count=1_000, distribution=Hotspot(0.001, 0.3, moves=600)),
            Field("id", unique="random"),
        ],
    )
    assert answer(still, BY_USER).grade == "heals"
    found = answer(moving, BY_USER)
    assert found.grade == "throttles"
    assert found.horizon.bucket_seconds == 600


def test_a_load_that_a_reserve_carries_throttles_once_the_table_has_lived():
    """CAP-601: 120 of 100 units a second; nothing is refused in a minute, and all of it later."""
    workload = Workload(
        fields=[Field("id", unique="random")],
        patterns=[Pattern("put", "PutItem", rate=120, size=500)],
        duration=60,
    )
    design = Design("d", partition="{id}", capacity=Capacity(read=10, write=100))
    found = answer(workload, design, settings=Settings(burst_start=1.0))
    assert (found.grade, risks(found)) == ("throttles", (0, 1))
    assert answer(replace(workload, age="lived"), design).risk.chance == 1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"horizon": 30.0}, "Workload.horizon is 30 s: it must not be shorter than the run"),
        ({"age": "old"}, "Workload takes .first. or .lived. as age, not .old."),
        (
            {"fields": [Field("user", count=9, distribution=Zipf(1.0, moves=3_600))]},
            "Field 'user': what is popular moves every 3600 s",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        hot_key(**changes)
