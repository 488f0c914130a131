"""An account in one region: its moment only moves forward; what it counts, and for whom."""

import pytest

from emulator import ApiError, Emulator, ManualClock
from emulator.clock import PacedClock
from tests.engine.conftest import wire


def test_time_never_runs_back_within_an_account():
    """A slow thread that read the clock before another must not set the account back."""
    emu = Emulator(clock=ManualClock(1_000))
    account = emu.account()
    emu.clock.advance(100)
    emu.call("ListTables", {})
    now_ns = account.now_ns
    account.catch_up(now_ns - 1)
    assert account.now_ns == now_ns
    account.arrive_at(now_ns - 1)  # as a write of another region does that comes late
    assert account.now_ns == now_ns


def test_a_failure_counts_for_the_tables_that_its_own_request_named(bench):
    """CAP-801: those of the request before are none of its business."""
    made = bench("observe")
    made.table("first")
    made.table("second")
    made.put("first", pk="a")
    made.put("second", pk="a")
    request = {
        "TableName": "second",
        "Item": wire({"pk": "a"}),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    with pytest.raises(ApiError):
        made.emu.call("PutItem", request)
    failures = {
        name: made.emu.metrics.sum("ConditionalCheckFailedRequests", table=name)
        for name in ("first", "second")
    }
    assert failures == {"first": 0, "second": 1}


def test_the_settings_in_force_are_metrics_until_the_mode_changes(bench):
    """CAP-801: provisioned units every five minutes, and none on demand."""
    made = bench("observe")
    made.table(read=5, write=7)
    made.clock.advance(600)
    made.emu.call("UpdateTable", {"TableName": "tab", "BillingMode": "PAY_PER_REQUEST"})
    made.clock.advance(3600)
    metrics = made.emu.metrics
    for metric, units in (
        ("ProvisionedReadCapacityUnits", 5),
        ("ProvisionedWriteCapacityUnits", 7),
    ):
        assert [value for _, value in metrics.get(metric, table="tab")] == [units, units]
    assert "OnDemandMaxReadRequestUnits" not in metrics.names()


def test_an_operation_happens_at_the_moment_of_the_clock(bench):
    made = bench("off")
    account = made.emu.account()
    made.clock.advance(90)
    made.emu.call("ListTables", {})
    assert account.now_ns == made.clock.now_ns()


def test_what_was_counted_starts_anew(bench):
    made = bench("observe")
    made.table()
    account = made.emu.account()
    for start_anew in (account.begin_observing, lambda: account.begin_at(account.now_ns - 1)):
        made.put(pk="a")
        assert made.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 1
        start_anew()
        assert made.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == 0
        assert made.emu.last_receipts == []


@pytest.mark.parametrize("kind", ["backups", "exports", "imports"])
def test_an_account_that_has_an_archive_is_not_empty(bench, kind):
    account = bench("off").emu.account()
    assert account.is_empty
    getattr(account.archive, kind)["arn"] = "anything"
    assert not account.is_empty


@pytest.mark.parametrize(
    ("before", "batch", "throttled"),
    [(0, 1, 0), (0, 25, 0), (10, 25, 1)],
    ids=["fits", "in part", "not at all"],
)
def test_a_batch_would_have_been_refused_only_if_wholly(bench, before, batch, throttled):
    """CAP-803, in observe: a batch of which something passes is no throttled request."""
    made = bench("observe")
    made.table(read=1, write=10)
    for number in range(before):
        made.put(pk=f"before {number}")
    puts = [{"PutRequest": {"Item": wire({"pk": f"{number}"})}} for number in range(batch)]
    made.emu.call("BatchWriteItem", {"RequestItems": {"tab": puts}})
    metrics = made.emu.metrics
    assert metrics.sum("ThrottledRequests", table="tab", operation="BatchWriteItem") == throttled


def test_a_single_write_that_would_have_been_refused_is_counted(bench):
    """CAP-803, in observe."""
    made = bench("observe")
    made.table(read=1, write=1)
    for key in "abc":
        made.put(pk=key)
    assert made.emu.metrics.sum("ThrottledRequests", table="tab", operation="PutItem") == 2


@pytest.mark.parametrize("rate", [None, 4])
def test_what_comes_from_another_region_passes_no_time_of_a_pace(rate):
    """GTB-2: where a rate is stated, only requests let time pass for throughput."""
    paced = PacedClock(rate) if rate else ManualClock()
    account = Emulator(clock=paced).account()
    before_ns = account.throughput_ns
    account.arrive_at(account.now_ns + 5)
    account.arrive_at(account.now_ns - 5)
    assert account.throughput_ns == (before_ns if rate else account.now_ns)
