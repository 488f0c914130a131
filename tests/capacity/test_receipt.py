"""Receipts: the shapes of ConsumedCapacity, and sums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.capacity import READ, WRITE, Reason, Receipt, merged


def receipt(axis, table, lsi=None, gsi=None, transactional=False):
    made = Receipt(axis, table, transactional=transactional)
    made.lsi.update(lsi or {})
    made.gsi.update(gsi or {})
    return made


@pytest.mark.parametrize("mode", [None, "NONE"])
def test_nothing_is_reported_unless_asked(mode):
    """CAP-401."""
    assert Receipt(READ, 1.0).report(mode, "t") is None


@pytest.mark.parametrize(
    ("made", "total", "indexes"),
    [
        pytest.param(
            receipt(WRITE, 3, gsi={"g": 1}),
            {"TableName": "t", "CapacityUnits": 4.0},
            {
                "Table": {"CapacityUnits": 3.0},
                "GlobalSecondaryIndexes": {"g": {"CapacityUnits": 1.0}},
            },
            id="EX-9",
        ),
        pytest.param(
            receipt(READ, 0.0, gsi={"g": 2.0}),
            {"TableName": "t", "CapacityUnits": 2.0},
            {
                "Table": {"CapacityUnits": 0.0},
                "GlobalSecondaryIndexes": {"g": {"CapacityUnits": 2.0}},
            },
            id="EX-22",
        ),
        pytest.param(
            receipt(READ, 2.0, lsi={"l": 0.5}),
            {"TableName": "t", "CapacityUnits": 2.5},
            {
                "Table": {"CapacityUnits": 2.0},
                "LocalSecondaryIndexes": {"l": {"CapacityUnits": 0.5}},
            },
            id="EX-23",
        ),
        pytest.param(
            receipt(READ, 6, transactional=True),
            {"TableName": "t", "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0},
            {"Table": {"CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}},
            id="EX-25",
        ),
        pytest.param(
            receipt(WRITE, 2, lsi={"l": 1}, gsi={"g": 1}, transactional=True),
            {"TableName": "t", "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0},
            {
                "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
                "LocalSecondaryIndexes": {"l": {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}},
                "GlobalSecondaryIndexes": {"g": {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}},
            },
            id="EX-38",
        ),
    ],
)
def test_the_report(made, total, indexes):
    """CAP-402, CAP-403, CAP-406."""
    assert made.report("TOTAL", "t") == total
    assert made.report("INDEXES", "t") == total | indexes
    assert isinstance(made.report("TOTAL", "t")["CapacityUnits"], float)


def test_merging_adds_everything():
    """CAP-404: index arms are summed over the request."""
    first = receipt(WRITE, 2, gsi={"g": 1}, transactional=True)
    second = receipt(WRITE, 3, lsi={"l": 1}, gsi={"g": 2, "h": 1}, transactional=True)
    busy, hot = Reason("TableWriteX", "arn"), Reason("IndexWriteX", "arn/i")
    first.reasons, second.reasons = (busy,), (hot, busy)
    for number, name in enumerate(
        ("bytes_evaluated", "bytes_returned", "items_evaluated", "items_returned"), 1
    ):
        setattr(first, name, number)
        setattr(second, name, number * 10)
    first.rounding_loss_bytes = second.rounding_loss_bytes = 7
    whole = merged([first, second])
    assert whole is not None
    assert (whole.axis, whole.table, whole.lsi, whole.gsi) == (
        WRITE,
        5.0,
        {"l": 1},
        {"g": 3, "h": 1},
    )
    assert (whole.transactional, whole.total, whole.reasons) == (True, 10.0, (busy, hot))
    assert (whole.bytes_evaluated, whole.bytes_returned) == (11, 22)
    assert (whole.items_evaluated, whole.items_returned) == (33, 44)
    assert whole.rounding_loss_bytes == 14
    assert first.total == 3  # the parts are left as they were


def test_no_receipts_merge_to_none():
    assert merged([]) is None


def test_a_receipt_prints_its_arms():
    assert repr(receipt(WRITE, 3.0, gsi={"g": 1.0})) == (
        "<Receipt WriteCapacityUnits=4.0 table=3.0, g=1.0>"
    )
    assert repr(Receipt(READ, 0.5)) == "<Receipt ReadCapacityUnits=0.5 table=0.5>"


arms = st.dictionaries(st.sampled_from("abc"), st.integers(1, 50).map(lambda n: n / 2))


@given(st.lists(st.tuples(st.integers(0, 50).map(lambda n: n / 2), arms, arms), min_size=1))
def test_the_total_is_the_sum_of_the_arms_however_merged(parts):
    """CAP-402: total = x + sum(y) + sum(z)."""
    whole = merged([receipt(READ, *part) for part in parts])
    assert whole is not None
    expected = sum(t + sum(lsi.values()) + sum(gsi.values()) for t, lsi, gsi in parts)
    report = whole.report("INDEXES", "t")
    assert report is not None
    assert report["CapacityUnits"] == whole.total == expected
    shown = [report["Table"]]
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        shown += report.get(member, {}).values()
    assert sum(arm["CapacityUnits"] for arm in shown) == expected
