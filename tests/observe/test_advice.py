"""Advice: what to change about calls that throttle, or that cost too much."""

import pytest

from emulator import Emulator, ManualClock
from emulator.capacity import Reason
from emulator.observe import Ledger, advice_for
from emulator.observe.advice import cure_of_limit
from emulator.testing.table_notation import create_request

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"


@pytest.fixture
def emulator():
    return Emulator(clock=ManualClock())


def ledger_of(emulator, items, **options):
    emulator.call("CreateTable", create_request("orders", **options))
    ledger = Ledger()
    emulator.events.subscribe(ledger.hear)
    for item in items:
        emulator.table("orders").put_item(Item=item)
    return ledger


@pytest.mark.parametrize(
    ("keys", "reason", "cure"),
    [
        ("aaab", "TableWriteKeyRangeThroughputExceeded", "key a takes 75 % of the write units of"),
        ("abcd", "TableWriteKeyRangeThroughputExceeded", "no single key of orders is hot"),
        ("a", "TableWriteProvisionedThroughputExceeded", "raise the provisioned write units"),
        ("a", "TableReadMaxOnDemandThroughputExceeded", "raise the on-demand maximum"),
        ("a", "TableWriteAccountLimitExceeded", "ask for a higher table quota"),
    ],
)
def test_every_limit_has_its_cure(emulator, keys, reason, cure):
    ledger = ledger_of(emulator, [{"pk": key} for key in keys])
    assert cure_of_limit(Reason(reason, ARN), ledger).startswith(cure)


def test_an_index_is_named_with_its_table(emulator):
    ledger = ledger_of(emulator, [])
    reason = Reason("IndexWriteProvisionedThroughputExceeded", f"{ARN}/index/by_day")
    cure = cure_of_limit(reason, ledger)
    assert "of orders.by_day to what its table's writes ask" in cure


def test_indexes_that_cost_most_and_large_items_are_named(emulator):
    items = [{"pk": str(number), "day": "d", "text": "x" * 2_000} for number in range(2)]
    wide = {"by_day": "day", "by_text": ("day", "pk")}
    ledger = ledger_of(emulator, items, indexes=wide)
    advice = advice_for(ledger)
    assert any("writes 2,0" in line and "at a time, 2 units" in line for line in advice)
    small = ledger_of(Emulator(clock=ManualClock()), items, indexes={"by_day": "day"})
    assert not any("of the index" in line for line in advice_for(small))


def test_an_index_with_more_units_than_its_table(emulator):
    ledger = ledger_of(emulator, [{"pk": "a", "day": "d"}], indexes={"by_day": "day"})
    for day in "xyz":
        emulator.table("orders").put_item(Item={"pk": "a", "day": day})
    sentence = "7 of 11 write units go to the index by_day"
    assert any(sentence in line for line in advice_for(ledger))


def test_a_consistent_read_of_what_was_written_is_named_with_its_price(emulator):
    """ICH-112: it may be needed, so it is no finding; of a broken budget it may be the cause."""
    ledger = ledger_of(emulator, [{"pk": "a"}])
    emulator.table("orders").get_item(Key={"pk": "a"}, ConsistentRead=True)
    [line] = advice_for(ledger)
    assert line.startswith("GetItem orders at ")
    assert "asks for ConsistentRead, which doubles its units" in line


def test_where_nothing_can_be_done_better_the_budget_is_the_question(emulator):
    ledger = ledger_of(emulator, [{"pk": "a"}])
    assert advice_for(ledger) == ["make fewer of the calls above, or raise the budget"]


def test_where_nothing_else_can_be_done_the_share_of_an_index_is_told(emulator):
    """A budget of one unit is broken by one put, because of the index."""
    ledger = ledger_of(emulator, [{"pk": "a", "day": "d"}], indexes={"by_day": "day"})
    index, budget = advice_for(ledger)
    assert index.startswith("1 of 2 write units go to the index by_day: project less")
    assert budget == "make fewer of the calls above, or raise the budget"
