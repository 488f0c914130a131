"""The exact engine: the real emulator, driven in virtual time."""

import pytest

from emulator.lab import (
    Capacity,
    Design,
    Field,
    Index,
    Key,
    Pattern,
    Preload,
    Workload,
    exact,
)
from emulator.lab.outcome.summarise import pattern_results, resource_results
from emulator.lab.planning.layout import Layout
from emulator.settings import Settings

USERS = Field("userId", count=10)


def run(patterns, design, *, fields=(USERS,), seed=0, settings=None, **workload):
    options = {"duration": 10} | workload
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

    load = Workload(fields=[USERS], patterns=[PUT], duration=5)
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
