"""An account in one region: its moment only moves forward; what it counts, and for whom."""

import pytest

from emulator import ApiError, Emulator, ManualClock
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
