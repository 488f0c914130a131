import pytest

from emulator.clock import DEFAULT_START
from emulator.lab import (
    Capacity,
    Daily,
    Design,
    DocumentError,
    Field,
    Index,
    Latest,
    Pattern,
    Preload,
    Ramp,
    Sizes,
    Spikes,
    Weights,
    Workload,
    Zipf,
)
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.extras import Extras, Reserved
from emulator.lab.inputs.history import Units
from emulator.lab.inputs.patterns import Recorded


def full() -> Workload:
    return Workload(
        fields=[
            Field("tenantId", count=5, distribution=Zipf(1.1)),
            Field("orderId", count=20, per="tenantId"),
            Field("status", values=("open", "done"), distribution=Weights((3, 1))),
            Field("id", unique="random", distribution=Latest(0.5)),
        ],
        patterns=[
            Pattern("put", "PutItem", rate=Spikes(1, 9, 60, 5), size=Sizes.uniform(100, 900)),
            Pattern(
                "list",
                "Query",
                rate=3,
                by=("tenantId", "status"),
                items=5,
                span=60.0,
                distributions={"tenantId": Zipf(0.5)},
                retry="standard",
            ),
            Pattern("tx", "TransactWriteItems", rate=1, actions=4, fields=("tenantId",)),
            Pattern(
                "replayed",
                "UpdateItem",
                rate=2,
                changes=("status",),
                recorded=Recorded((0.5, 1.5), {"tenantId": (0, 1)}, (10, 20)),
            ),
        ],
        duration=120,
        preload=[Preload(pattern="put", items=10, span=50.0)],
        attributes={"value": 20},
        retention=86_400.0,
        clients=7,
        warm_up=90,
    )


def test_a_workload_is_read_as_it_was_written():
    assert Workload.from_document(full().to_document()) == full()


def test_a_design_is_read_as_it_was_written():
    design = Design(
        "d",
        partition="{a}",
        sort="{timestamp}",
        capacity=Capacity(read=1, write=2, warm_read=9),
        indexes=[
            Index("near", partition="{a}", sort="{b}", local=True),
            Index("far", partition="{b}"),
        ],
        extras=Extras(backups=1, reserved=Reserved(years=3, units=Units(read=500))),
    )

    assert Design.from_document(design.to_document()) == design


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"patterns": []}, "needs at least one pattern"),
        ({"duration": 0}, "at least one second"),
        ({"start": 61}, "must be a whole minute"),
        ({"retry": "never"}, "must be one of none, legacy, standard, adaptive, standard-2026"),
        ({"warm_up": -1}, "warm_up must not be negative"),
        ({"patterns": [Pattern("a", "GetItem", rate=1, by=("x",))]}, "names no field: 'x'"),
        ({"preload": [Preload(pattern="x", items=1)]}, "names no pattern that puts items"),
        ({"fields": [Field("a", count=1, per="b")]}, "per names no other field"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(changes, complaint):
    options = {"patterns": [Pattern("put", "PutItem", rate=1)]} | changes

    with pytest.raises(ValueError, match=complaint):
        Workload(**options)


def test_the_time_is_a_field_of_every_workload():
    changing = Pattern("p", "UpdateItem", rate=1, changes=("timestamp",))
    assert Workload(patterns=[changing]).patterns == (changing,)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"operation": "PutItems"}, "operation must be one of BatchGetItem"),
        ({"operation": "PutItem", "actions": 2}, "PutItem carries 1 to 1 items, not 2"),
        ({"operation": "PutItem", "retry": "x"}, "retry must be one of none, legacy"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        Pattern("p", rate=1, **options)


@pytest.mark.parametrize("options", [{}, {"count": 3, "unique": "random"}, {"values": ()}])
def test_a_field_has_values_in_one_way(options):
    with pytest.raises(ValueError, match="needs"):
        Field("f", **options)


def test_a_multiple_of_the_load_multiplies_every_rate():
    assert full().scaled(3).requests == pytest.approx(3 * full().requests)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (4, 4),
        (Ramp(1, 9, 60), 1),
        (Spikes(2, 9, 60, 10), 2),
        (Daily(low=5, peak=5), 5),
        (Series((3.0, 8.0)), 3),
    ],
)
def test_the_warm_up_is_at_the_first_rate_and_between_spikes(rate, expected):
    """CAP2-10."""
    pattern = Pattern("put", "PutItem", rate=rate)
    workload = Workload(patterns=[pattern], load=2.0)

    assert workload.warm_up == 300
    assert workload.warm_up_rate(pattern) == 2 * expected


def test_the_hours_of_a_day_are_those_of_the_clock():
    """A run that begins at one o'clock in the afternoon has the peak of two o'clock."""
    put = Pattern("put", "PutItem", rate=Daily(low=200, peak=2_500, peak_hour=14))
    day = Workload(patterns=[put], duration=86_400, start=DEFAULT_START)
    hours = Workload(patterns=[put], duration=7_200, start=day.start + 13 * 3600)

    assert day.rates(put).argmax() == pytest.approx(14 * 3600, abs=1)
    assert hours.rates(put).tolist() == pytest.approx(
        day.rates(put)[13 * 3600 : 15 * 3600].tolist(), rel=1e-9
    )
    assert hours.warm_up_rate(put) == pytest.approx(hours.rates(put)[0])


@pytest.mark.parametrize(
    ("rate", "missed"),
    [
        (4, None),
        (Daily(low=0, peak=100, peak_hour=12), (1.7, 100)),
        (Daily(low=0, peak=100, peak_hour=0.5), None),
        (Ramp(1, 9, 60), None),
        (Ramp(0, 100, 36_000), (10, 100)),
        (Spikes(2, 9, 60, 10, first=4000), (2, 9)),
        (Spikes(2, 9, 60, 10), None),
        (Series((3.0, 8.0)), None),
    ],
)
def test_a_peak_outside_of_the_run_is_told(rate, missed):
    pattern = Pattern("put", "PutItem", rate=rate)

    found = Workload(patterns=[pattern], duration=3600, start=DEFAULT_START).missed_peaks()

    assert list(found) == ([] if missed is None else ["put"])
    if missed is not None:
        assert found["put"] == pytest.approx(missed, rel=0.1)


def test_recorded_traffic_is_warmed_up_at_the_mean_of_its_first_minute():
    recorded = Recorded(tuple(float(n) for n in range(30)), {})
    pattern = Pattern("put", "PutItem", rate=Series((1.0,) * 30), recorded=recorded)

    assert Workload(patterns=[pattern]).warm_up_rate(pattern) == 0.5


def test_operations_count_the_warm_up_and_what_is_loaded_before():
    workload = Workload(
        patterns=[Pattern("put", "PutItem", rate=3)],
        duration=60,
        warm_up=100,
        preload=[Preload(pattern="put", items=20_000_000)],
    )

    assert workload.requests == 180
    assert workload.operations == 20_000_000 + 180 + 300


def test_a_file_without_a_warm_up_means_the_default():
    document = full().to_document()
    del document["warm_up"]

    assert Workload.from_document(document).warm_up == 300
    assert Workload.from_document(document | {"warm_up": "2m"}).warm_up == 120
    assert Workload.from_document(document | {"warm_up": 0}).warm_up == 0
    with pytest.raises(DocumentError, match="warm_up: expected a number of at least 0, found -1"):
        Workload.from_document(document | {"warm_up": -1})


def test_a_field_that_belongs_to_none_is_named_with_its_place():
    document = full().to_document()
    document["fields"]["orderId"]["per"] = "tenant"

    with pytest.raises(DocumentError, match=r"fields\.orderId\.per: expected another field \(id, "):
        Workload.from_document(document)


def test_skew_reaches_every_zipf_distribution():
    skewed = full().skewed(2.0)

    assert skewed.field("tenantId").distribution == Zipf(2.0)
    assert skewed.field("id").distribution == Latest(2.0)
    assert skewed.pattern("list").distributions == {"tenantId": Zipf(2.0)}
    assert skewed.field("status") == full().field("status")


def test_values_of_a_field_that_belongs_to_another_carry_its_name():
    assert Field("order", count=20, per="tenant").text(3, "tenant-1") == "tenant-1.order-03"


def test_sizes_with_a_long_tail_have_the_quantiles_asked_for():
    sizes = Sizes.lognormal(1000, 20_000)

    assert sizes.sizes[15] < 1000 < sizes.sizes[16]
    assert sizes.sizes[-1] > 10_000


@pytest.mark.parametrize(
    ("letter", "mix"),
    [
        ("A", {"GetItem": 500, "UpdateItem": 500}),
        ("B", {"GetItem": 950, "UpdateItem": 50}),
        ("C", {"GetItem": 1000}),
        ("D", {"GetItem": 950, "PutItem": 50}),
        ("E", {"Scan": 950, "PutItem": 50}),
        ("F", {"GetItem": 1000, "UpdateItem": 500}),
    ],
)
def test_ycsb_has_its_mix(letter, mix):
    workload = Workload.ycsb(letter, rate=1000, duration=10)

    rates = {one.operation: one.pace.rate for one in workload.patterns if one.pace.rate}
    assert rates == pytest.approx(mix)


def test_ycsb_has_no_other_letters():
    with pytest.raises(ValueError, match="YCSB has workloads A, B, C, D, E, F, not 'G'"):
        Workload.ycsb("G")
