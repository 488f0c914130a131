"""Advice on the access patterns of a model, by its own figures."""

import pytest

from emulator.designs.declared import DeclaredPattern, DeclaredTable, Reading
from emulator.designs.pattern_rules import check_patterns, units_of

KEY = [{"AttributeName": "id", "KeyType": "HASH"}]


def index(name, kind="ALL"):
    return {"IndexName": name, "KeySchema": KEY, "Projection": {"ProjectionType": kind}}


def table(*indexes, billing="PAY_PER_REQUEST"):
    request = {"TableName": "orders", "KeySchema": KEY, "BillingMode": billing}
    if indexes:
        request["GlobalSecondaryIndexes"] = list(indexes)
    return DeclaredTable(resource="orders", request=request)


def pattern(operation, **members):
    return DeclaredPattern(name="P", operation=operation, table="orders", **members)


def rules(given, declared=None):
    reading = Reading(tables=(declared or table(),), patterns=(given,), files=("model.json",))
    return [(one.rule, one.severity, one.subject) for one in check_patterns(reading)]


WIDE = table(index("a"), index("b"))
FOUND = {
    "a scan with a rate": (
        pattern("Scan", rate=1, average=1),
        None,
        [("frequent-scan", "problem", "P")],
    ),
    "a scan without": (pattern("Scan"), None, [("frequent-scan", "warning", "P")]),
    "a nightly scan": (pattern("Scan", rate=0.001, average=0.001), None, []),
    "a filter": (
        pattern("Query", has_filter=True),
        None,
        [("filter-instead-of-key", "warning", "P")],
    ),
    "wide indexes": (
        pattern("PutItem", size_bytes=3000),
        WIDE,
        [("index-amplification", "warning", "P")],
    ),
    "narrow indexes": (
        pattern("PutItem", size_bytes=3000),
        table(index("a", "KEYS_ONLY"), index("b", "INCLUDE")),
        [],
    ),
    "a large item": (
        pattern("UpdateItem", size_bytes=9000),
        None,
        [("vertical-split", "warning", "P")],
    ),
    "a small one": (pattern("UpdateItem", size_bytes=900), None, []),
    "idle capacity": (
        pattern("PutItem", rate=1000, average=10),
        table(billing="PROVISIONED"),
        [("billing-mode", "info", "orders")],
    ),
    "an even load": (
        pattern("PutItem", rate=1000, average=1000),
        None,
        [("billing-mode", "info", "orders")],
    ),
    "peaks": (pattern("PutItem", rate=1000, average=10), None, []),
}  # fmt: skip


@pytest.mark.parametrize(("given", "declared", "expected"), FOUND.values(), ids=FOUND)
def test_a_rule_speaks_of_what_it_is_about(given, declared, expected):
    assert rules(given, declared) == expected


@pytest.mark.parametrize(
    ("given", "units"),
    [
        (pattern("GetItem", size_bytes=5000), (1, 0)),
        (pattern("GetItem", size_bytes=5000, consistent=True), (2, 0)),
        (pattern("Query", size_bytes=400, items=25), (1.5, 0)),
        (pattern("BatchGetItem", size_bytes=400, items=10), (5, 0)),
        (pattern("TransactGetItems", size_bytes=400, items=2), (4, 0)),
        (pattern("PutItem", size_bytes=3000), (0, 9)),
        (pattern("BatchWriteItem", size_bytes=900, items=4), (0, 12)),
        (pattern("TransactWriteItems", size_bytes=3000), (0, 12)),
    ],
)
def test_units_are_those_of_the_engines_formulas(given, units):
    """CAP-201, CAP-203, CAP-301, CAP-306, CAP-309: an item in two wide indexes."""
    assert units_of(given, WIDE) == units
