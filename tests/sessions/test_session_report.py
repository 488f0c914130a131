"""The report of a test session."""

import json

from emulator import Emulator, ManualClock
from emulator.clock import PacedClock
from emulator.observe import findings_of
from emulator.observe.ledger import Ledger
from emulator.sessions.session_report import as_json, record_of, summary
from emulator.testing.table_notation import create_request


def hot_index(capacity="observe"):
    """Return an emulator whose index has too little room for the table's writes, and its ledger."""
    emu = Emulator(clock=ManualClock(), capacity=capacity)
    request = create_request("orders", indexes={"by_status": "status"}, provisioned=(50, 50))
    throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] = throughput
    emu.call("CreateTable", request)
    ledger = Ledger()
    emu.events.subscribe(ledger.hear)
    for number in range(4):
        emu.table("orders").put_item(Item={"pk": str(number), "status": "open"})
    emu.table("orders").scan(IndexName="by_status")
    return emu, ledger


def test_the_hottest_key_is_that_of_the_resource_that_was_short():
    emu, ledger = hot_index()
    record = record_of("test", ledger, [emu])
    assert record["throttles"] == [
        {
            "reason": "IndexWriteProvisionedThroughputExceeded",
            "table": "orders",
            "index": "by_status",
            "times": 3,
            "hottest_key": ["open"],
            "share": 1.0,
            "waiting": {"units": 3.0, "buffer": 15_000.0, "closes_in": None},
        }
    ]
    assert list(summary([record], with_costs=False))[:3] == [
        "1 test would have throttled:",
        "  test",
        "    3 x IndexWriteProvisionedThroughputExceeded on orders.by_status, "
        "hottest key open (100 %); 3 of 15,000 write units wait for it",
    ]


def test_a_test_that_enforces_throttling_is_not_news():
    emu, ledger = hot_index()
    emu.clock.advance(60)
    record = record_of("test", ledger, [emu], findings_of(ledger)) | {"capacity": "enforce"}
    assert next(summary([record], with_costs=False)) == "could be improved in 1 place:"


def test_the_findings_of_a_place_are_one_line_with_the_cure():
    emu, ledger = hot_index()
    findings = findings_of(ledger)
    records = [
        record_of(test, ledger, [emu], findings) | {"throttles": []} for test in ("one", "two")
    ]
    (title, line, cure) = summary(records, with_costs=False)
    assert title == "could be improved in 1 place:"
    assert line.startswith("  scan at ")
    assert line.endswith(" (2 tests): Scan orders.by_status, 4 items read, 4 kept")
    assert cure == f"    {findings[-1].cure}"


def test_a_table_that_is_gone_has_no_hottest_key():
    emu, ledger = hot_index()
    emu.reset()
    record = record_of("test", ledger, [emu])
    assert [(one["hottest_key"], one["share"]) for one in record["throttles"]] == [([], None)]
    assert list(summary([record], with_costs=False))[2] == (
        "    3 x IndexWriteProvisionedThroughputExceeded on orders.by_status"
    )


def test_records_are_plain_data():
    emu, ledger = hot_index()
    record = record_of("test", ledger, [emu])
    assert json.loads(as_json([record])) == {"form": 1, "tests": [record]}


def test_nothing_is_said_of_nothing():
    assert list(summary([], with_costs=True)) == []


def test_an_index_that_falls_behind_is_reported_with_the_time_it_takes():
    """CAP2-4.5: base writes still pass, so a test that enforces capacity does not meet it."""
    emu, ledger = hot_index("enforce")
    emu.clock.advance(1)

    record = record_of("test_it", ledger, [emu])

    [throttle] = record["throttles"]
    assert throttle["waiting"] == {"units": 2.0, "buffer": 15_000.0, "closes_in": 7_499.0}
    [_, name, line] = list(summary([record], with_costs=False))[:3]
    assert name == "  test_it"
    assert line.endswith(
        "2 of 15,000 write units wait for it, and at this pace every write to orders is refused "
        "in 7,499 s"
    )


def looped(calls, rate):
    """Return the record of a test that writes under one key, its requests at a rate."""
    emu = Emulator(clock=PacedClock(rate=rate), capacity="observe")
    emu.call("CreateTable", create_request("orders"))
    ledger = Ledger()
    emu.events.subscribe(ledger.hear)
    for _ in range(calls):
        emu.table("orders").put_item(Item={"pk": "a"})
    return record_of("test_it", ledger, [emu])


def test_a_test_says_once_how_it_does_at_the_stated_rate_and_from_which_on_it_throttles():
    """600 calls fit into what a partition saves for one second, so none of them is refused."""
    title, line, _ = list(summary([looped(600, 1_500)], with_costs=True))[:3]
    assert title == "first to throttle, if it kept using these keys:"
    assert line == (
        "  throttles at 1,500 requests a second once the reserve is used up, and from 1,000 on: "
        "test_it"
    )
    _, line, _ = list(summary([looped(600, 500)], with_costs=True))[:3]
    assert line == "  holds at 500 requests a second, and throttles from 1,000 on: test_it"


def test_a_test_that_was_refused_is_listed_once():
    lines = list(summary([looped(4_000, 5_000)], with_costs=True))
    assert lines[:2] == [
        "1 test would have throttled:",
        "  test_it (at 5,000 requests a second; it does from 1,000 on)",
    ]
    assert not [line for line in lines if line.startswith("first to throttle")]


def test_the_cost_is_that_of_a_month_at_the_stated_rate():
    """CAP-1001: 500 writes a second are 1,314 million a month of 730 hours, $821.25."""
    assert round(looped(600, 500)["usd_month"], 2) == 821.25
