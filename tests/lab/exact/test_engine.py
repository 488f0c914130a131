"""The exact engine: the real emulator, driven in virtual time."""

import pytest

from emulator.lab import (
    Capacity,
    Clients,
    Design,
    Field,
    Index,
    Key,
    Pattern,
    Preload,
    Weights,
    Workload,
    exact,
)
from emulator.lab.inputs.arrival_rates import Series
from emulator.lab.inputs.patterns import Recorded
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

USERS = Field("userId", count=10)


def run(patterns, design, *, fields=(USERS,), seed=0, settings=None, **workload):
    options = {"duration": 10, "warm_up": 0} | workload
    load = Workload(fields=fields, patterns=patterns, **options)
    return exact.run(Layout(design, load), seed=seed, settings=settings)


def pattern_of(log, name):
    return next(one for one in pattern_results(log) if one.name == name)


PUT = Pattern("put", "PutItem", rate=20)
ROOMY = Capacity(read=1000, write=1000)


def test_requests_become_items_in_the_real_table():
    log = run([PUT], Design("d", partition="{userId}", sort="{timestamp}", capacity=ROOMY))

    [table] = log.emulator.account.tables.values()
    assert len(table.store) == 200
    assert pattern_of(log, "put").units[0].write == 200
    table.resource.meter.check()


def test_a_new_table_admits_its_rate_and_one_second_more():
    """CAP-602: the base starts full, the burst reserve empty."""
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=10)
    )

    [table] = resource_results(run([PUT], design, retry="standard"))

    assert table.write.consumed_units == pytest.approx(10 * 10 + 10, abs=1)
    assert table.write.peak <= 20


def test_the_same_seed_gives_the_same_run():
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=10)
    )

    first, again, other = (run([PUT], design, seed=seed) for seed in (1, 1, 2))

    assert pattern_results(first) == pattern_results(again)
    assert resource_results(first) == resource_results(again)
    assert pattern_results(first) != pattern_results(other)


def test_legacy_retries_wait_as_botocore_does():
    """CAP-707: ten attempts, 50 ms doubling."""
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=10)
    )

    result = pattern_of(run([PUT], design, duration=60), "put")

    assert len(result.attempts_histogram) == 10
    assert result.added_latency_seconds.p99 <= 25.55
    assert result.attempts == pytest.approx(result.refusals + result.units[0].write)


def test_standard_retries_stop_when_the_quota_is_empty():
    """CAP-708: 500 tokens per client, five a retry."""
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=1)
    )

    patient = pattern_of(run([PUT], design, duration=60, retry="standard", clients=100), "put")
    single = pattern_of(run([PUT], design, duration=60, retry="standard", clients=1), "put")

    assert patient.attempts > 1.5 * single.attempts


def test_an_account_limit_is_not_retried_in_legacy_mode():
    """CAP-707: RequestLimitExceeded is no code of the legacy list."""
    from emulator.settings import Settings

    load = Workload(fields=[USERS], patterns=[PUT], duration=5, warm_up=0)
    layout = Layout(Design("d", partition="{userId}", sort="{timestamp}"), load)
    log = exact.run(layout, settings=Settings(table_quota=10))

    result = pattern_of(log, "put")
    assert set(result.throttled_by_reason) == {"TableWriteAccountLimitExceeded"}
    assert result.attempts == result.calls


def test_an_index_that_is_too_small_holds_back_the_table():
    """CAP-609, CAP2-4.6."""
    index = Index("byUser", partition="{userId}", capacity=Capacity(read=1, write=5))
    design = Design("d", partition="{timestamp}", indexes=[index], capacity=ROOMY)

    result = pattern_of(run([PUT], design, settings=Settings(gsi_buffer_seconds=0)), "put")

    assert set(result.throttled_by_reason) == {"IndexWriteProvisionedThroughputExceeded"}
    assert {units.resource: units.write for units in result.units} == {"table": 54, "byUser": 54}


def test_a_query_pays_for_what_it_reads_and_a_filter_changes_nothing():
    """CAP-204."""
    fields = [USERS, Field("status", values=("a", "b"))]
    patterns = [
        PUT,
        Pattern("all", "Query", by=("userId",), rate=5),
        Pattern("some", "Query", by=("userId", "status"), rate=5),
    ]
    design = Design("d", partition="{userId}", sort="{timestamp}", capacity=ROOMY)

    log = run(patterns, design, fields=fields)

    everything, some = (pattern_of(log, name) for name in ("all", "some"))
    assert everything.filter_waste_share == 0
    assert some.filter_waste_share == pytest.approx(0.5, abs=0.1)
    assert some.units[0].read == pytest.approx(everything.units[0].read, rel=0.15)


def test_suffixes_are_asked_one_by_one():
    fields = [USERS, Field("orderId", unique="random")]
    patterns = [PUT, Pattern("list", "Query", by=("userId",), items=5, rate=2)]
    design = Design("d", partition="{userId}#{hash(orderId) % 4}", sort="{orderId}", capacity=ROOMY)

    result = pattern_of(run(patterns, design, fields=fields), "list")

    assert (result.fan_out, result.calls, result.units[0].read) == (4, 80, 40)


def test_a_long_read_takes_pages():
    patterns = [
        Pattern("put", "PutItem", rate=0, size=100_000),
        Pattern("read", "Query", by=("userId",), rate=1, size=100_000),
    ]
    design = Design("d", partition="{userId}", sort="{timestamp}", capacity=ROOMY)
    preload = [Preload(pattern="put", items=25, span=100.0)]

    log = run(patterns, design, fields=[Field("userId", count=1)], preload=preload)

    result = pattern_of(log, "read")
    # 2.5 MB: two full pages of 11 items (CAP-206) and one with the rest; the run may end between
    # the last ones.
    assert result.requests == 10
    assert 28 <= result.calls <= 30


@pytest.mark.parametrize(
    ("operation", "options", "units"),
    [
        ("UpdateItem", {"by": ("userId",)}, (0, 2)),
        ("DeleteItem", {"by": ("userId",)}, (0, 2)),
        ("GetItem", {"by": ("userId",)}, (0.5, 0)),
        ("GetItem", {"by": ("userId",), "consistent": True}, (1, 0)),
        ("BatchGetItem", {"by": ("userId",), "actions": 4}, (2, 0)),
        ("BatchWriteItem", {"actions": 4}, (0, 8)),
    ],
)
def test_an_operation_costs_what_the_rules_say(operation, options, units):
    """CAP-201, CAP-202, CAP-301, CAP-304."""
    patterns = [
        Pattern("put", "PutItem", rate=0, size=1500),
        Pattern("do", operation, rate=1, size=1500, **options),
    ]
    fields = [Field("userId", count=500)]
    design = Design("d", partition="{userId}", sort="#X", capacity=ROOMY)

    log = run(patterns, design, fields=fields, preload=[Preload(pattern="put", items=9999)])

    [found] = pattern_of(log, "do").units
    assert (found.read / 10, found.write / 10) == pytest.approx(units, abs=0.11)


def test_a_transaction_costs_twice_and_is_not_retried():
    """CAP-305, CAP-709."""
    patterns = [Pattern("tx", "TransactWriteItems", rate=5, actions=2, size=500)]
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=8)
    )

    result = pattern_of(run(patterns, design, fields=[Field("userId", count=9999)]), "tx")

    assert result.attempts == result.calls == 50
    assert result.failed == result.throttled > 10
    assert result.units[0].write == 4 * (50 - result.failed)


def test_entities_share_a_collection_and_a_prefix_reads_them_apart():
    patterns = [
        Pattern("profile", "PutItem", rate=1, entity="profile", fields=("userId",)),
        Pattern("device", "PutItem", rate=5, entity="device"),
        Pattern("devices", "Query", rate=1, entity="device", by=("userId",)),
    ]
    fields = [Field("userId", count=1), Field("deviceId", count=3, per="userId")]
    design = Design(
        "d",
        entities={
            "profile": Key(partition="{userId}", sort="#PROFILE"),
            "device": Key(partition="{userId}", sort="DEVICE#{deviceId}"),
        },
        capacity=ROOMY,
    )

    log = run(patterns, design, fields=fields)

    [table] = log.emulator.account.tables.values()
    assert len(table.store) == 4
    assert pattern_of(log, "devices").evaluated_bytes == pytest.approx(10 * 900, rel=0.4)


def test_hot_partitions_split_and_are_recorded():
    """CAP2-3."""
    heavy = Pattern("put", "PutItem", rate=3, size=300_000)
    design = Design("d", partition="{userId}", capacity=Capacity(read=1, write=900))

    users, settings = [Field("userId", count=40)], Settings(split_delay=580)
    log = run([heavy], design, fields=users, duration=660, settings=settings)

    [table] = resource_results(log)
    assert [(split.time, split.cause) for split in table.splits] == [(580.0, "heat")]
    assert table.partitions_per_minute[-1] == 2
    assert [span.died for span in table.heat.partitions] == [580.0, None, None]


# What is there before the run

PROVISIONED = Design(
    "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=15)
)
MANY = (Field("userId", count=1_000),)


def test_the_warm_up_is_not_counted_and_the_run_begins_at_zero():
    """CAP2-10."""
    design = Design("d", partition="{userId}", sort="{timestamp}", capacity=ROOMY)

    log = run([PUT], design, warm_up=90)

    [put], [table] = pattern_results(log), resource_results(log)
    assert (put.requests, put.calls, put.attempts) == (200, 200, 200)
    assert table.write.consumed_units == 200
    assert len(table.write.fine.consumed) == 10
    assert sum(key.units for key in table.top_keys) == 200
    [stored] = log.emulator.account.tables.values()
    assert len(stored.store) == 20 * 100


def test_what_the_warm_up_writes_takes_no_capacity_and_splits_nothing():
    """CAP2-3, CAP2-10: the run meets the tables as their history leaves them."""
    heavy = Pattern("put", "PutItem", rate=3, size=300_000)
    design = Design("d", partition="{userId}", capacity=Capacity(read=1, write=900))

    users, settings = [Field("userId", count=40)], Settings(split_delay=580)
    log = run([heavy], design, fields=users, warm_up=660, duration=60, settings=settings)

    [table] = resource_results(log)
    assert table.splits == ()
    assert [(span.born, span.died) for span in table.heat.partitions] == [(0.0, None)]
    assert log.throttled_share == 0


def test_recorded_requests_of_the_run_are_those_recorded():
    values = tuple(range(10))
    recorded = Recorded(tuple(float(n) for n in values), {"userId": values}, (100,) * 9 + (5_000,))
    pattern = Pattern("put", "PutItem", rate=Series((1.0,) * 10), recorded=recorded)
    design = Design("d", partition="{userId}", capacity=ROOMY)

    [table] = resource_results(run([pattern], design, warm_up=33))

    assert {key.key: key.units for key in table.top_keys} == {
        f"userId-{n}": 5.0 if n == 9 else 1.0 for n in values
    }


# Clients that wait

SCARCE = Design("d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=10))


def test_a_client_has_no_more_calls_under_way_than_it_may():
    """Two calls at a time: what arrives meanwhile waits, and is sent in its turn."""
    free = pattern_of(run([PUT], SCARCE, fields=MANY, duration=60), "put")
    clients = Clients(count=1, concurrency=2)
    bound = pattern_of(run([PUT], SCARCE, fields=MANY, duration=60, clients=clients), "put")

    assert bound.requests == free.requests == 1_200
    assert bound.calls < 0.7 * free.calls
    assert bound.attempts < 0.6 * free.attempts
    assert bound.added_latency_seconds.p50 > 5


def test_enough_room_in_the_clients_changes_nothing():
    open_loop = pattern_of(run([PUT], SCARCE, clients=Clients(count=5)), "put")
    bound = pattern_of(run([PUT], SCARCE, clients=Clients(count=5, concurrency=1_000)), "put")

    assert bound.calls == open_loop.calls
    assert bound.throttled_share == pytest.approx(open_loop.throttled_share, abs=0.02)


def test_a_caller_gives_up_after_its_timeout():
    """Waits of 50, 100 and 200 ms fit into half a second, 400 ms do not."""
    clients = Clients(timeout=0.5)

    put = pattern_of(run([PUT], SCARCE, clients=clients, duration=30), "put")

    assert len(put.attempts_histogram) == 4
    assert put.failed > 200
    assert put.added_latency_seconds.p99 <= 0.5


def test_a_call_that_waits_in_its_client_beyond_the_timeout_is_never_sent():
    clients = Clients(count=1, concurrency=1, timeout=1.0)

    put = pattern_of(run([PUT], SCARCE, clients=clients, duration=30), "put")

    assert put.failed > 100
    assert sum(put.attempts_histogram) < put.calls - 20


def test_a_client_without_retries_tries_once():
    put = pattern_of(run([PUT], SCARCE, retry="none"), "put")

    assert put.attempts == put.calls == 200
    assert put.failed == put.throttled == put.refusals > 50


def test_an_adaptive_client_slows_down_to_what_is_served():
    """CAP-708: fewer refusals than without the limit, and as much work done."""
    options = {"fields": MANY, "duration": 120, "clients": Clients(count=1)}

    standard = run([PUT], SCARCE, retry="standard", **options)
    adaptive = run([PUT], SCARCE, retry="adaptive", **options)

    plain, slowed = pattern_of(standard, "put"), pattern_of(adaptive, "put")
    assert slowed.refusals < 0.5 * plain.refusals
    assert slowed.units[0].write > 0.6 * plain.units[0].write


def test_impatient_callers_of_adaptive_clients_do_not_shut_those_who_come_later_out():
    """CAP-708. Pinned: once throttled, such clients never sent anything again."""
    clients = Clients(count=2, timeout=2.0)
    log = run([PUT], SCARCE, retry="adaptive", fields=MANY, duration=60, clients=clients)

    late = log.resources[next(iter(log.resources))].consumed[1][30:]
    assert sum(late) > 0.5 * 10 * 30
    assert log.patterns["put"].failed > 0


def test_jitter_is_the_clients_choice():
    spread, steady = (
        run([PUT], SCARCE, clients=Clients(jitter=jitter)).patterns["put"].latencies
        for jitter in (True, False)
    )

    assert len(set(steady)) < 9 < len(set(spread))


# Batches

BATCH = Pattern("batch", "BatchWriteItem", rate=2, actions=10)


def batches(how, **options):
    clients = Clients(batch_retry=how, **options)
    return pattern_of(run([BATCH], SCARCE, fields=MANY, duration=30, clients=clients), "batch")


def test_unprocessed_items_are_lost_unless_the_caller_sends_them_again():
    """CAP2-9: no SDK resends them."""
    lost = batches("none")

    assert (lost.requests, lost.fan_out) == (60, 10)
    assert lost.failed > 0.3 * lost.calls
    done = lost.calls - lost.failed
    assert lost.units[0].write == pytest.approx(done, abs=20)


def test_the_batch_writer_sends_unprocessed_items_again_at_once():
    """CAP2-9: at once and as often as it takes."""
    lost, requeued = batches("none"), batches("requeue")

    assert requeued.failed == 0
    assert requeued.attempts > 3 * lost.attempts
    assert len(requeued.attempts_histogram) == 16


def test_a_batch_may_be_given_up_after_more_attempts_than_are_told_apart():
    """CAP2-9. Pinned: a resent batch that was given up after sixteen attempts ended the run."""
    batch = Pattern("batch", "BatchWriteItem", rate=6, actions=10)
    options = {"fields": MANY, "duration": 60, "clients": Clients(count=20, batch_retry="requeue")}

    given_up = pattern_of(run([batch], SCARCE, **options), "batch")

    assert given_up.failed > 0


def test_a_caller_may_wait_before_it_sends_unprocessed_items_again():
    """CAP2-9: with the waits of the retry mode, as often as it tries."""
    lost, waited, requeued = batches("none"), batches("backoff"), batches("requeue")

    assert waited.attempts < requeued.attempts
    assert lost.added_latency_seconds.p99 < waited.added_latency_seconds.p99
    assert waited.failed < lost.failed


def test_a_batch_that_is_refused_in_whole_is_retried_by_the_sdk():
    """CAP2-9."""
    pair = Pattern("batch", "BatchWriteItem", rate=30, actions=2)
    clients = Clients(batch_retry="none")
    log = run([pair], SCARCE, fields=MANY, clients=clients)

    result = pattern_of(log, "batch")
    assert result.attempts > 1.5 * result.calls
    once = pattern_of(run([pair], SCARCE, fields=MANY, clients=clients, retry="none"), "batch")
    assert once.attempts == once.calls == 600


# Shares


def test_shares_are_of_what_is_offered_however_often_it_is_tried():
    """A key with 80 % of the workload gets 80 % of the traffic; retries stand apart."""
    fields = [Field("userId", values=("a", "b"), distribution=Weights((8, 2)))]
    design = Design(
        "d", partition="{userId}", sort="{timestamp}", capacity=Capacity(read=1, write=5_000)
    )
    put = Pattern("put", "PutItem", rate=100, size=30_000)

    log = run([put], design, fields=fields, duration=20)

    [table] = resource_results(log)
    assert pattern_of(log, "put").throttled_share > 0.5
    assert table.hottest_key_share == pytest.approx(0.8, abs=0.03)
    assert table.hottest_partition_share in (pytest.approx(table.hottest_key_share), 1.0)
    assert table.key_concentration.traffic[1] == table.hottest_key_share
    [hottest, _] = table.top_keys
    assert hottest.throttled_units > hottest.units
