"""Budgets: what may be consumed, and what is said when it is not enough."""

import pytest

from emulator import Emulator, ManualClock
from emulator.observe.budget import Budget, BudgetExceeded


@pytest.fixture
def emu():
    emu = Emulator(clock=ManualClock())
    emu.call(
        "CreateTable",
        {
            "TableName": "tab",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        },
    )
    return emu


def put(emu, key):
    emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": key}}})


def scan(emu):
    values = {":a": {"S": "a"}}
    emu.call(
        "Scan",
        {"TableName": "tab", "FilterExpression": "pk = :a", "ExpressionAttributeValues": values},
    )


def work(emu):
    put(emu, "a")
    put(emu, "b")
    scan(emu)


def work_and_fail(emu):
    put(emu, "a")
    raise KeyError


def test_a_budget_that_is_kept_says_nothing(emu):
    with emu.budget(wcu=1, rcu=0, throttles=0, scans=0, filtered=0) as ledger:
        put(emu, "a")
    assert ledger.write_units == 1.0


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"wcu": 1}, "2 write units were consumed, and the budget is 1"),
        ({"rcu": 0.25}, "0.5 read units were consumed, and the budget is 0.25"),
        (
            {"throttles": 0},
            "1 item operation was or would be throttled, and the budget is 0",
        ),
        ({"calls": 2}, "3 calls were made, and the budget is 2"),
        (
            {"usd": 1.25},
            "1.3125 dollars are the price of a million runs, and the budget is 1.25",
        ),
        ({"scans": 0}, "1 page of Scan was read, and the budget is 0"),
        ({"filtered": 0}, "1 item was read and thrown away by filters, and the budget is 0"),
    ],
)
def test_a_budget_that_is_passed_names_the_limit(emu, limit, sentence):
    with pytest.raises(BudgetExceeded) as caught, emu.budget(**limit):
        work(emu)
    assert str(caught.value).splitlines()[0] == sentence


def test_the_message_lists_calls_reasons_and_waste(emu):
    with pytest.raises(BudgetExceeded) as caught, emu.budget(wcu=1, rcu=0):
        work(emu)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("0.5 read units")
    assert lines[1].startswith("2 write units")
    assert [line.split()[:6] for line in lines[3:6]] == [
        ["rcu", "wcu", "calls", "throttled", "what", "where"],
        ["0", "2", "2", "1", "PutItem", "tab"],
        ["0.5", "0", "1", "0", "Scan", "tab"],
    ]
    assert "test_budget.py:" in lines[4]
    assert lines[7:9] == ["throttled 1 x: TableWriteProvisionedThroughputExceeded on tab", ""]
    assert lines[9] == "thrown away by filters, and paid for:"
    assert lines[11].split()[:5] == ["2", "1", "3", "Scan", "tab"]
    assert lines[13] == "what to change:"
    assert "raise the provisioned write units of tab" in lines[14]
    assert lines[15].startswith("  scan at ")


def test_the_ledger_comes_with_the_error(emu):
    with pytest.raises(BudgetExceeded) as caught, emu.budget(wcu=0):
        put(emu, "a")
    assert caught.value.ledger.write_units == 1.0


def test_another_error_is_not_hidden_by_the_budget(emu):
    with pytest.raises(KeyError), emu.budget(wcu=0):
        work_and_fail(emu)


def test_nothing_is_counted_after_the_block(emu):
    with emu.budget(wcu=1) as ledger:
        put(emu, "a")
    put(emu, "b")
    assert ledger.write_units == 1.0
    assert not emu.events.wanted


def test_injected_throttles_are_not_counted(emu):
    emu.faults.add(kind="throttle", times=1)
    with emu.budget(throttles=0) as ledger, pytest.raises(Exception, match="throughput"):
        put(emu, "a")
    assert ledger.throttles == 0


@pytest.mark.parametrize(
    ("limit", "error", "message"),
    [
        (
            {},
            TypeError,
            "a budget limits at least one of rcu, wcu, calls, usd, throttles, scans, filtered",
        ),
        ({"rcu": True}, TypeError, "a budget's rcu is a number, not True"),
        ({"wcu": -1}, ValueError, "a budget's wcu cannot be negative, and -1 is"),
    ],
)
def test_a_budget_that_is_none_is_refused(limit, error, message):
    with pytest.raises(error) as caught:
        Budget(**limit)
    assert str(caught.value) == message
