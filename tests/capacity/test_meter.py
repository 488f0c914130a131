"""Admission: all or nothing over every limit, as CAP-606 is written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.capacity import (
    ONE,
    READ,
    WRITE,
    Charge,
    Meter,
    Metrics,
    Quota,
    Reason,
    TokenBucket,
    admit,
    admit_all,
    record,
    units,
)
from emulator.capacity.meter import refusals
from emulator.capacity.refusal import throttle_error

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/t"
INDEX = TABLE + "/index/byStatus"


def table(read=0, write=0, partitions=1, quota=None):
    """Return a provisioned table, or an on-demand one without rates."""
    meter = Meter(TABLE, is_table=True, quota=quota)
    if read or write:
        meter.provision(read, write, 0)
    else:
        meter.on_demand(None, None, 0)
    for partition_id in range(partitions):
        meter.open_partition(partition_id, 0)
    return meter


def index(read, write, quota=None):
    meter = Meter(INDEX, is_table=False, quota=quota)
    meter.provision(read, write, 0)
    meter.open_partition(0, 0)
    return meter


def put(meter, partition_id=0, wanted=1.0):
    return Charge(meter, partition_id, WRITE, wanted, (partition_id, "key"))


def serve(charges, seconds):
    """Ask each request of ``charges`` at every whole second; return admitted counts and reasons."""
    admitted: list[int] = []
    reasons: set[Reason] = set()
    for second in range(seconds):
        answers = [admit(request, second * ONE) for request in charges]
        admitted.append(answers.count(()))
        reasons.update(reason for answer in answers for reason in answer)
    return admitted, reasons


def test_uneven_load_within_the_table_rate_is_not_throttled():
    """CAP-601, CAP-606, EX-47: adaptive capacity."""
    meter = table(1, 400, partitions=4)
    loads = [50, 50, 50, 150]
    requests = [[put(meter, number)] for number, load in enumerate(loads) for _ in range(load)]
    assert serve(requests, 10) == ([300] * 10, set())


def test_one_hot_item_is_held_to_its_partition():
    """CAP-501, EX-48."""
    meter = table(1, 10_000, partitions=10)
    admitted, reasons = serve([[put(meter, 3)]] * 1_500, 3)
    assert admitted == [1_000] * 3
    assert reasons == {Reason("TableWriteKeyRangeThroughputExceeded", TABLE)}
    error = throttle_error(tuple(reasons), on_demand=meter._on_demand)
    assert error.code == "ProvisionedThroughputExceededException"


def test_a_new_on_demand_table_serves_4000_writes():
    """CAP-502, EX-49."""
    meter = table(partitions=4, quota=Quota(40_000, 0))
    admitted, reasons = serve([[put(meter, number % 4)] for number in range(5_000)], 2)
    assert admitted == [4_000] * 2
    assert reasons == {Reason("TableWriteKeyRangeThroughputExceeded", TABLE)}
    error = throttle_error(tuple(reasons), on_demand=meter._on_demand)
    assert error.code == "ThrottlingException"


def test_a_starved_index_throttles_the_base_write():
    """CAP-609, EX-50."""
    base, starved = table(1, 100), index(1, 10)
    insert = [put(base), put(starved)]
    admitted, reasons = serve([insert] * 50, 4)
    assert admitted == [10] * 4
    assert reasons == {Reason("IndexWriteProvisionedThroughputExceeded", INDEX)}
    assert base.own[WRITE].tokens > 90  # refused writes took nothing from the table


def test_an_index_that_is_not_touched_cannot_throttle():
    """CAP-609."""
    base, starved = table(1, 100), index(1, 1)
    assert admit([put(starved)], 0) == ()
    assert admit([put(base)], 0) == ()


def test_a_batch_on_a_small_table_is_processed_in_part():
    """CAP-610, EX-51."""
    meter = table(1, 10)
    answers = [admit([put(meter)], 0) for _ in range(25)]
    assert answers == [()] * 10 + [(Reason("TableWriteProvisionedThroughputExceeded", TABLE),)] * 15


def test_a_throttled_transaction_takes_nothing():
    """CAP-611, EX-52."""
    meter = table(1, 2)
    actions = [[put(meter, wanted=2.0)], [put(meter, wanted=2.0)]]
    before = meter.own[WRITE].save()
    assert admit_all(actions, 0) == [
        (),
        (Reason("TableWriteProvisionedThroughputExceeded", TABLE),),
    ]
    assert meter.own[WRITE].save() == before
    assert admit_all(actions[:1], 0) == [()]
    assert meter.own[WRITE].tokens == 0


def test_several_actions_of_a_transaction_can_be_marked():
    """CAP-611: a throttled action takes nothing, so a later one is judged on its own."""
    meter = table(1, 1, partitions=2)
    actions = [[put(meter)], [put(meter)], [Charge(meter, 0, READ, 0.5, None)], [put(meter, 1)]]
    marked = [bool(reasons) for reasons in admit_all(actions, 0)]
    assert marked == [False, True, False, True]


def test_every_violated_limit_is_named_once_in_order():
    """CAP-606."""
    quota = Quota(10, 0)
    base = table(partitions=1, quota=quota)
    base.on_demand(None, 5, 0)
    side = Meter(INDEX, is_table=False, quota=quota)
    side.on_demand(None, 1, 0)
    side.open_partition(0, 0)
    drain = [put(base, wanted=1_000.0), put(side, wanted=1_000.0), put(side, wanted=1.0)]
    assert admit(drain, 0) == ()
    assert admit(drain, 0) == (
        Reason("TableWriteMaxOnDemandThroughputExceeded", TABLE),
        Reason("TableWriteAccountLimitExceeded", TABLE),
        Reason("TableWriteKeyRangeThroughputExceeded", TABLE),
        Reason("IndexWriteMaxOnDemandThroughputExceeded", INDEX),
        Reason("IndexWriteKeyRangeThroughputExceeded", INDEX),
    )


def test_the_quota_is_shared_by_a_table_and_its_indexes():
    """CAP-615."""
    quota = Quota(2, 0)
    base = table(quota=quota)
    side = Meter(INDEX, is_table=False, quota=quota)
    side.on_demand(None, None, 0)
    side.open_partition(0, 0)
    assert admit([put(side, wanted=2.0)], 0) == ()
    assert admit([put(base)], 0) == (Reason("TableWriteAccountLimitExceeded", TABLE),)


def test_axes_are_independent():
    """CAP-501."""
    meter = table(1, 1)
    assert admit([put(meter)], 0) == ()
    assert admit([Charge(meter, 0, READ, 1.0, None)], 0) == ()
    assert admit([Charge(meter, 0, READ, 1.0, None)], 0) == (
        Reason("TableReadProvisionedThroughputExceeded", TABLE),
    )


def test_no_charges_are_always_admitted():
    assert admit([], 0) == ()
    assert admit_all([[], []], 0) == [(), ()]


def test_a_rate_change_keeps_the_burst_and_a_mode_change_begins_anew():
    """CAP-604, CAP-617."""
    meter = table(1, 100)
    meter.provision(1, 50, 10 * ONE)
    assert meter.own[WRITE].tokens == 50 + 1_000
    meter.on_demand(None, None, 10 * ONE)
    assert meter.own == (None, None)
    meter.provision(1, 50, 10 * ONE)
    assert meter.own[WRITE].tokens == 50
    meter.check()


def test_an_on_demand_maximum_is_set_changed_and_removed():
    """CAP-616."""
    meter = table()
    meter.on_demand(7, 5, 0)
    read = meter.own[READ]
    meter.on_demand(3, None, ONE)
    assert meter.own == (read, None)
    assert (read.rate, read.tokens) == (3, 3 + 7)
    assert [reason.reason for reason in meter.reasons[READ]] == [
        "TableReadMaxOnDemandThroughputExceeded",
        "TableReadKeyRangeThroughputExceeded",
    ]
    meter.check()


def test_an_opened_partition_is_full_and_a_closed_one_is_gone():
    """CAP-505, CAP-613: children of a split start with full buckets."""
    meter = table()
    assert admit([put(meter, wanted=1_000.0)], 0) == ()
    meter.close_partition(0)
    meter.open_partition(1, 0)
    assert meter.tokens(1, 0) == (3_000.0, 1_000.0)
    assert meter.partitions.keys() == meter.traffic.loads.keys() == {1}


def test_partitions_have_no_burst():
    """CAP-602, PART."""
    meter = table()
    assert admit([put(meter, wanted=1_000.0)], 0) == ()
    assert meter.tokens(0, 500 * ONE) == (3_000.0, 1_000.0)


@pytest.mark.parametrize("count", [1, 2])
def test_consumed_charges_are_recorded(count):
    """CAP-805, CAP-806."""
    meter = table(partitions=2)
    charges = [put(meter, number, 2.0) for number in range(count)]
    record(charges, 5 * ONE)
    assert meter.traffic.consumed(WRITE) == 2.0 * count
    assert meter.traffic.running.accesses == {(n, "key"): [6.0, 0.0, 1, 0] for n in range(count)}


def test_refusals_are_what_admission_would_answer_taking_nothing():
    """CAP-606: as of the moment that is asked about."""
    meter = table(1, 1)
    assert admit([put(meter)], 0) == ()
    assert [reason.reason for reason in refusals([put(meter)], ONE - 1)] == [
        "TableWriteProvisionedThroughputExceeded"
    ]
    assert refusals([put(meter)], ONE) == refusals([put(meter)], ONE) == ()
    assert admit([put(meter)], ONE) == ()


def test_the_peak_is_the_busiest_second_of_a_partition():
    """CAP-805: seconds begin at whole ones."""
    meter = table()
    peaks = []
    for now_ns in (12 * ONE // 10, 19 * ONE // 10, 2 * ONE, 29 * ONE // 10, 3 * ONE):
        record([put(meter, wanted=2.0)], now_ns)
        peaks.append(meter.traffic.loads[0][WRITE].peak)
    assert peaks == [2.0, 4.0, 4.0, 4.0, 4.0]
    record([put(meter, wanted=3.0)], 3 * ONE)
    assert meter.traffic.loads[0][WRITE].peak == 5.0


@pytest.mark.parametrize(
    ("limits", "heat"),
    [
        (["TableWriteKeyRangeThroughputExceeded"], 2.0),
        (
            [
                "TableWriteProvisionedThroughputExceeded",
                "TableWriteKeyRangeThroughputExceeded",
            ],
            0.0,
        ),
    ],
)
def test_what_a_limit_above_refused_heats_no_partition(limits, heat):
    """CAP2-2: even if the partition had been short as well."""
    meter = table(1, 1_000)
    while admit([put(meter, wanted=100.0)], 0) == ():
        pass
    charge = put(meter, wanted=2.0)
    record([charge], 0, tuple(Reason(limit, TABLE) for limit in limits))
    assert meter.traffic.loads[0][WRITE].heat == heat
    assert meter.traffic.throttled(WRITE) == 2.0


def test_consumed_charges_are_counted_where_the_meter_says():
    """CAP-801."""
    meter, metrics = table(), Metrics()
    meter.series = (
        metrics.series("ConsumedReadCapacityUnits", table="t"),
        metrics.series("ConsumedWriteCapacityUnits", table="t"),
    )
    record([put(meter, wanted=3.0)], 0)
    record([put(meter, wanted=9.0)], 0, (Reason("TableWriteKeyRangeThroughputExceeded", TABLE),))
    assert metrics.sum("ConsumedWriteCapacityUnits", table="t") == 3.0
    assert metrics.sum("ConsumedReadCapacityUnits", table="t") == 0.0


def test_a_copy_has_the_same_tokens_and_goes_its_own_way():
    quota = Quota(40_000, 0)
    meter = table(partitions=2, quota=quota)
    meter.on_demand(None, 10, 0)
    record([put(meter)], 0)
    assert admit([put(meter, wanted=4.0)], 0) == ()
    twin = meter.copy(quota.copy())
    twin.check()
    assert (twin.arn, twin.is_table, twin._on_demand, twin.reasons) == (
        meter.arn,
        meter.is_table,
        True,
        meter.reasons,
    )
    assert [b.save() for b in every_bucket([twin])] == [b.save() for b in every_bucket([meter])]
    assert twin.traffic.is_idle
    assert admit([put(twin, wanted=6.0)], 0) == ()
    assert (twin.own[WRITE].tokens, meter.own[WRITE].tokens) == (0.0, 6.0)
    assert quota.buckets[WRITE].tokens == 40_000 - 4.0


def test_only_the_resource_that_was_short_is_recorded_as_throttled():
    """CAP-803, CAP-805: write throttling caused by an index is not the table's."""
    base, starved = table(1, 100), index(1, 10)
    charges = [put(base), put(starved)]
    record(charges, 0, (Reason("IndexWriteProvisionedThroughputExceeded", INDEX),))
    assert (base.traffic.consumed(WRITE), base.traffic.throttled(WRITE)) == (0.0, 0.0)
    assert (starved.traffic.consumed(WRITE), starved.traffic.throttled(WRITE)) == (0.0, 1.0)
    assert base.traffic.is_idle
    assert not starved.traffic.is_idle


# The procedure of CAP-606, written out; buckets are looked at through their public state.


def oracle_buckets(charge):
    meter = charge.meter
    kind = "Table" if meter.is_table else "Index"
    axis = ("Read", "Write")[charge.axis]
    if not meter._on_demand:
        yield meter.own[charge.axis], kind + axis + "ProvisionedThroughputExceeded"
    else:
        if meter.own[charge.axis] is not None:
            yield meter.own[charge.axis], kind + axis + "MaxOnDemandThroughputExceeded"
        yield meter.quota.buckets[charge.axis], kind + axis + "AccountLimitExceeded"
    partition = meter.partitions[charge.partition_id]
    yield partition[charge.axis], kind + axis + "KeyRangeThroughputExceeded"


def oracle_state(bucket, now):
    """Return base and burst after a refill, without touching the bucket."""
    base = bucket.base + bucket.rate * (now - bucket.updated_ns)
    spilled = max(0, base - bucket.base_cap)
    return min(base, bucket.base_cap), min(bucket.burst_cap, bucket.burst + spilled)


def oracle_admit(charges, now):
    """Return the reasons and the expected (base, burst) of every bucket met."""
    need: dict[TokenBucket, list] = {}
    for charge in charges:
        for bucket, name in oracle_buckets(charge):
            entry = need.setdefault(bucket, [0, Reason(name, charge.meter.arn)])
            entry[0] += int(charge.units * ONE)
    states = {bucket: oracle_state(bucket, now) for bucket in need}
    reasons = [why for b, (cost, why) in need.items() if sum(states[b]) < min(cost, ONE)]
    if not reasons:
        for bucket, (cost, _) in need.items():
            base, burst = states[bucket]
            base -= cost
            if base < 0 and burst > 0:
                used = min(burst, -base)
                base, burst = base + used, burst - used
            states[bucket] = base, burst
    return tuple(dict.fromkeys(reasons)), states


rates = st.integers(min_value=1, max_value=3_000)
wanted_units = st.integers(min_value=1, max_value=4_000).map(lambda halves: halves / 2)
pauses = st.sampled_from([0, 1, ONE // 3, ONE, 7 * ONE, 400 * ONE])


@st.composite
def worlds(draw):
    """A table and two indexes, each provisioned or on demand, with two partitions each."""
    quota = Quota(draw(st.sampled_from([1, 500, 40_000])), 0)
    meters = []
    for number in range(3):
        meter = Meter(f"arn/{number}", is_table=number == 0, quota=quota)
        if draw(st.booleans()):
            meter.provision(draw(rates), draw(rates), 0)
        else:
            meter.on_demand(draw(st.none() | rates), draw(st.none() | rates), 0)
        for partition_id in range(2):
            meter.open_partition(partition_id, 0)
        meters.append(meter)
    return meters


requests = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=2),
        st.integers(min_value=0, max_value=1),
        st.sampled_from([READ, WRITE]),
        wanted_units,
    ),
    min_size=1,
    max_size=4,
)


def charges_of(meters, request):
    return [Charge(meters[m], p, axis, wanted, None) for m, p, axis, wanted in request]


def every_bucket(meters):
    found = [bucket for meter in meters for above in meter.limits for bucket in above]
    found += [b for meter in meters for pair in meter.partitions.values() for b in pair]
    return dict.fromkeys(found)


@settings(max_examples=60)
@given(worlds(), st.lists(st.tuples(pauses, requests), max_size=12))
def test_admission_is_the_written_procedure(meters, steps):
    """CAP-606, and: a refused request changes nothing but the time of the last refill."""
    now = 0
    for pause, request in steps:
        now += pause
        charges = charges_of(meters, request)
        untouched = {bucket: oracle_state(bucket, now) for bucket in every_bucket(meters)}
        reasons, expected = oracle_admit(charges, now)
        assert admit(charges, now) == reasons
        for bucket in untouched:
            wanted = untouched[bucket] if reasons else expected.get(bucket, untouched[bucket])
            assert oracle_state(bucket, now) == wanted
        for meter in meters:
            meter.check()


@settings(max_examples=60)
@given(worlds(), pauses, st.lists(requests, max_size=5))
def test_a_transaction_takes_everything_or_nothing(meters, now, actions):
    """CAP-611."""
    charges = [charges_of(meters, action) for action in actions]
    before = {bucket: oracle_state(bucket, now) for bucket in every_bucket(meters)}
    answers = admit_all(charges, now)
    after = {bucket: oracle_state(bucket, now) for bucket in before}
    if any(answers):
        assert after == before
    else:
        taken = sum(c.units * len(list(oracle_buckets(c))) for action in charges for c in action)
        assert sum(map(sum, before.values())) - sum(map(sum, after.values())) == taken * ONE


@settings(max_examples=40)
@given(
    worlds(),
    st.lists(st.tuples(st.integers(min_value=0, max_value=5), requests), max_size=10),
    st.lists(st.integers(min_value=1, max_value=10**9), min_size=1, max_size=5),
)
def test_looking_in_between_changes_no_answer(meters, steps, odd_steps):
    """CAP-614: a run in one-second steps equals a run in other steps."""
    states = [bucket.save() for bucket in every_bucket(meters)]
    answers = []
    for watched in (False, True):
        for bucket, state in zip(every_bucket(meters), states, strict=True):
            bucket.restore(state)
        now, run = 0, []
        for seconds, request in steps:
            later = now + seconds * ONE
            if watched:
                moment = now
                for odd in odd_steps:
                    moment = min(later, moment + odd)
                    for bucket in every_bucket(meters):
                        bucket.refill(moment)
            now = later
            run.append(admit(charges_of(meters, request), now))
        answers.append(run)
    assert answers[0] == answers[1]


def test_a_filled_page_of_20_kb_reads_is_held_to_the_partition():
    """EX-12: one partition sustains 600 strongly consistent reads of 20 KB per second."""
    meter = table(40_000, 1)
    read = [Charge(meter, 0, READ, float(units.read_units(20 * 1024)), (0, "key"))]
    assert serve([read] * 700, 2)[0] == [600, 600]


def test_what_several_copies_share_takes_less_of_the_partition():
    """CAP2-6: the table is charged in full, the partition with its part, and is heated by that."""
    meter = table(1_000, 1_000)
    before = meter.tokens(0, 0)[READ]
    read = Charge(meter, 0, READ, 3.0, (0, "key"), partition_units=2.0)
    assert read.partition_cost == 2 * ONE
    assert admit([read], 0) == ()
    record([read], 0)
    assert meter.tokens(0, 0)[READ] == before - 2.0
    assert meter.own[READ].tokens == 1_000 - 3.0
    load = meter.traffic.loads[0][READ]
    assert (load.consumed, load.heat) == (3.0, -1.0)
    both = [read, put(meter)]
    assert admit(both, 0) == ()
    assert meter.tokens(0, 0)[READ] == before - 4.0


def test_only_the_partition_that_was_short_is_heated():
    """CAP2-2: a page over two partitions, of which one had no room."""
    meter = table(partitions=2)
    while admit([put(meter, 0, 100.0)], 0) == ():
        pass
    charges = [put(meter, 0, 2.0), put(meter, 1, 2.0)]
    reasons = admit(charges, 0)
    assert [reason.reason for reason in reasons] == ["TableWriteKeyRangeThroughputExceeded"]
    record(charges, 0, reasons)
    assert [loads[WRITE].heat for loads in meter.traffic.loads.values()] == [2.0, 0.0]
