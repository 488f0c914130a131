"""Prices: the list, bills, break-even points."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import READ, WRITE, units
from emulator.capacity.prices import (
    FREE_TIER,
    STANDARD,
    STANDARD_IA,
    STORAGE,
    TABLE_CLASSES,
    WRITES,
    Bill,
    PriceLine,
    UnitHours,
)
from emulator.settings import Settings

GB = 2**30
MILLION = 1_000_000


def near(value):
    return pytest.approx(value, rel=1e-3)


def test_storage_of_a_million_small_items():
    """CAP-110, CAP-1001, EX-10."""
    billed = units.billed_bytes(500 * MILLION, items=MILLION)
    assert billed / GB == near(0.5588)
    assert STANDARD.storage(billed, Settings()) == near(0.1397)
    assert STANDARD_IA.storage(10 * GB, Settings(), months=2) == near(2.0)
    assert STANDARD.storage(10**9, Settings(bytes_per_gb=10**9)) == 0.25


def test_a_million_inserts_with_three_indexes():
    """CAP-310, EX-55."""
    arm = units.index_arm(None, 500, moved=False, identical=False)
    per_insert = units.table_arm(None, 1_000) + 3 * arm
    assert STANDARD.on_demand(writes=per_insert * MILLION) == 2.5


def test_a_scan_of_a_large_table_with_or_without_a_filter():
    """CAP-204, EX-56."""
    read_units = units.page_units(100 * GB, units.EVENTUAL)
    assert read_units == 13_107_200
    assert STANDARD.on_demand(reads=read_units) == near(1.6384)


def test_provisioned_against_on_demand():
    """CAP-1007, CAP-1008, EX-57."""
    hours = Settings().hours_per_month
    assert STANDARD.provisioned(write_hours=100 * hours) == near(47.45)
    assert STANDARD.on_demand(writes=100 * 3600 * hours) == near(164.25)


@pytest.mark.parametrize(
    ("prices", "axis", "expected"),
    [
        (STANDARD, READ, 0.2889),
        (STANDARD, WRITE, 0.2889),
        (STANDARD_IA, WRITE, 0.2885),
        (STANDARD_IA, READ, 0.2867),
        (replace(STANDARD, write_million=1.25), WRITE, 0.1444),
    ],
)
def test_the_break_even_utilisation(prices, axis, expected):
    """CAP-1008."""
    assert prices.break_even(axis) == near(expected)


def test_table_classes_go_by_the_wire_name():
    assert TABLE_CLASSES == {"STANDARD": STANDARD, "STANDARD_INFREQUENT_ACCESS": STANDARD_IA}
    assert STANDARD.on_demand(replicated_writes=MILLION) == 0.625
    assert STANDARD.provisioned(replicated_write_hours=1_000) == near(0.65)


def test_a_bill_has_lines_by_table_index_and_item():
    """CAP-1010."""
    bill = Bill(Settings())
    bill.on_demand(STANDARD, "t", reads=2 * MILLION, writes=MILLION)
    bill.on_demand(STANDARD, "t", "i", writes=3 * MILLION)
    bill.provisioned(STANDARD_IA, "u", read_hours=730, write_hours=730)
    bill.provisioned(STANDARD_IA, "u", "j", replicated_write_hours=730)
    bill.storage(STANDARD, "t", billed_bytes=4 * GB)
    assert bill.lines[0] == PriceLine("t", None, "reads", 2 * MILLION, 0.125 / MILLION)
    assert bill.amount("t") == near(0.25 + 0.625 + 1.875 + 1.0)
    assert bill.amount("t", "i") == near(1.875)
    assert bill.amount(item=WRITES) == near(2.5)
    assert bill.amount("u", item="read capacity") == near(0.1168)
    assert bill.total == near(bill.amount("t") + bill.amount("u"))
    assert (bill.amplification("t"), bill.amplification("u")) == (near(4.0), near(2.0))
    assert bill.amplification("unknown") == 1.0


def test_reserved_capacity_is_paid_in_advance_and_by_the_hour():
    """CAP-1004: the payment in advance is spread over the years, in steps of a hundred units."""
    bill = Bill(Settings())
    bill.reserved("t", 1, read_hours=100 * 8760, write_hours=200 * 8760)
    reads, writes = bill.lines
    assert reads.amount == near(30.0 + 0.0025 * 8760)
    assert writes.amount == near(2 * (150.0 + 0.0128 * 8760))
    assert (reads.table, writes.table, reads.item != writes.item) == ("t", "t", True)


def test_storage_is_paid_by_the_month():
    """CAP-1001."""
    bill = Bill(Settings())
    bill.storage(STANDARD, "t", billed_bytes=4 * GB, months=3)
    assert bill.total == near(STANDARD.storage(4 * GB, Settings(), months=3)) == near(3.0)


def test_the_free_tier_takes_off_at_most_what_was_used():
    """CAP-1002: account-wide, Standard only."""
    bill = Bill(Settings(free_tier=True))
    bill.storage(STANDARD, "t", billed_bytes=20 * GB)
    bill.storage(STANDARD, "u", billed_bytes=20 * GB)
    bill.storage(STANDARD_IA, "v", billed_bytes=20 * GB)
    bill.provisioned(STANDARD, "t", write_hours=600)
    assert bill.lines[-2:] == [
        PriceLine(None, None, FREE_TIER, -25, 0.25),
        PriceLine(None, None, FREE_TIER, -600, 0.00065),
    ]
    assert bill.total == near(15 * 0.25 + 20 * 0.10)
    assert bill.amount(item=STORAGE) == near(40 * 0.25 + 20 * 0.10)


def test_each_clock_hour_is_billed_at_its_highest_setting():
    """CAP-1007."""
    hours = UnitHours(now_s=1_800, units=10)
    assert hours.until(1_800) == 10
    hours.set(2_000, 50)
    hours.set(2_100, 5)
    assert hours.until(3_600) == 50
    assert hours.until(3_601) == 55
    hours.set(4 * 3_600, 20)
    assert hours.until(4 * 3_600) == 50 + 3 * 5
    assert hours.until(6 * 3_600) == 50 + 3 * 5 + 2 * 20


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 50)), max_size=12),
    st.integers(0, 9_000),
)
def test_unit_hours_equal_a_walk_over_the_hours(changes, rest):
    """CAP-1007, with every hour looked at."""
    hours, now, settings = UnitHours(0, 7), 0, [(0, 7)]
    for pause, wanted in changes:
        now += pause
        hours.set(now, wanted)
        settings.append((now, wanted))
    end = now + rest
    expected = 0
    for start in range(0, end, 3_600):
        before = [wanted for at, wanted in settings if at <= start]
        within = [wanted for at, wanted in settings if start < at < start + 3_600]
        # A setting that is replaced in the instant the hour begins was in force before it.
        at_start = [wanted for at, wanted in settings if at == start]
        earlier = [wanted for at, wanted in settings if at < start]
        expected += max([before[-1], *within, *at_start, *earlier[-1:]])
    assert hours.until(end) == expected
