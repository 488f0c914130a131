"""Transactions: what a client token stands for, and what a transaction consumes."""

import sys

import pytest

from emulator import ApiError
from emulator.clock import NANOSECONDS
from emulator.engine import transactions
from emulator.engine.holds import Tokens
from emulator.engine.transactions import fingerprint_of
from emulator.service.errors import IdempotentParameterMismatchException
from tests.engine.conftest import Bench, wire

TEN_MINUTES = 600 * NANOSECONDS


def lines_run(function):
    """Return how many lines of transactions.py run in a call."""
    lines = 0

    def note(frame, event, _argument):
        nonlocal lines
        lines += event == "line" and frame.f_code.co_filename == transactions.__file__
        return note

    sys.settrace(note)
    try:
        function()
    finally:
        sys.settrace(None)
    return lines


def test_a_token_costs_the_same_however_many_are_kept():
    """TXW-9."""
    tokens = Tokens()
    costs = [
        lines_run(lambda token=token: tokens.keep(str(token), b"", [], 0)) for token in range(3000)
    ]
    assert set(costs[1:]) == {costs[1]}
    assert len(tokens) == 3000


def test_tokens_leave_as_they_expire():
    """TXW-9: after ten minutes, the oldest first; one that comes again counts from then."""
    tokens = Tokens()
    for second, token in enumerate("abc"):
        tokens.keep(token, b"1", [], second * NANOSECONDS)
    later = TEN_MINUTES + NANOSECONDS
    assert tokens.replay("a", b"2", later) is None
    tokens.keep("a", b"2", [], later)
    assert len(tokens) == 2
    assert tokens.replay("c", b"1", later) == []
    with pytest.raises(IdempotentParameterMismatchException):
        tokens.replay("a", b"1", later)


def test_a_copy_keeps_its_own_tokens():
    tokens = Tokens()
    tokens.keep("a", b"1", [], 0)
    twin = tokens.copy()
    twin.keep("b", b"1", [], 0)
    assert (len(tokens), len(twin)) == (1, 2)


def test_a_fingerprint_is_short_whatever_it_stands_for():
    """A token may not keep 4 MB of a transaction alive for ten minutes."""
    assert len(fingerprint_of("t", [{"Put": {"Item": {"a": {"S": "x" * 10_000}}}}])) == 16
    assert fingerprint_of(None, object) == b""


def consumed(bench, table="tab"):
    return bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table=table)


def put(pk, table="tab", **item):
    return {"Put": {"TableName": table, "Item": wire({"pk": pk, **item})}}


def transact(bench, *actions):
    return bench.emu.call("TransactWriteItems", {"TransactItems": list(actions)})


def codes(bench, *actions):
    with pytest.raises(ApiError) as caught:
        transact(bench, *actions)
    return [reason["Code"] for reason in caught.value.members["CancellationReasons"]]


def test_a_transaction_that_passes_is_consumed():
    """CAP-305, CAP-801."""
    bench = Bench()
    bench.table()
    transact(bench, put("a"), put("b", v="x" * 1500))
    assert consumed(bench) == 2 * (1 + 2)


@pytest.mark.parametrize(("size", "units"), [(10, 1), (2500, 3)])
def test_a_transaction_that_fails_costs_one_table_arm_for_each_action(size, units):
    """CAP-308: not doubled, and at least one unit."""
    bench = Bench()
    bench.table()
    bench.put(pk="there")
    before = consumed(bench)
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    failing = {"Put": put("there")["Put"] | condition}
    assert codes(bench, put("a", v="x" * size), failing) == ["None", "ConditionalCheckFailed"]
    assert consumed(bench) - before == units + 1


def test_a_transaction_that_is_throttled_consumes_nothing():
    """CAP-308, CAP-611: not even of the table that had room."""
    bench = Bench()
    bench.table("roomy", read=1, write=100)
    bench.table("starved", read=1, write=1)
    bench.put("starved", pk="a")
    assert codes(bench, put("a", "roomy"), put("b", "starved")) == [
        "None",
        "ProvisionedThroughputExceeded",
    ]
    assert bench.emu.last_receipts == []
    events = {
        name: bench.emu.metrics.sum("WriteThrottleEvents", table=name)
        for name in ("roomy", "starved")
    }
    assert events == {"roomy": 0, "starved": 1}
    assert (consumed(bench, "roomy"), consumed(bench, "starved")) == (0, 1)
    account = bench.emu.account()
    loads = {
        name: account.tables[name].resource.meter.traffic.throttled(1)
        for name in ("roomy", "starved")
    }
    assert loads == {"roomy": 0, "starved": 2}
