"""Advice: each check at its bounds, on cases of which only what it looks at is there."""

from types import SimpleNamespace as Part

import pytest

from emulator.designs import Finding
from emulator.designs.pattern_rules import BIG_ITEM, FREQUENT, SAVING
from emulator.lab.analysis import advice
from emulator.lab.analysis.offered_load import Offered
from emulator.lab.outcome.thresholds import UNEVEN
from emulator.service import limits

DAY_BYTES = 1_000_000


def case(resource=None, load=None, *, pattern=None, **more):
    """Return a case of one resource or one pattern."""
    resource = Part(name="table", backlog=None, **(resource or {}))
    return Part(
        resources=[resource],
        resource=lambda _name: resource,
        offered={"table": load or Offered()},
        patterns=[] if pattern is None else [pattern],
        **more,
    )


def severities(found):
    return [finding.severity for finding in found]


def test_the_most_serious_comes_first_and_each_is_said_once(monkeypatch):
    def check(*severities):
        return lambda _: (Finding(one, one, "table", text, "") for one, text in severities)

    first = check(("info", "1"), ("warning", "2"), ("problem", "3"))
    again = check(("problem", "again"), ("info", "again"))
    monkeypatch.setattr(advice, "CHECKS", (first, again))
    assert [(one.severity, one.message) for one in advice.advise(None)] == [
        ("problem", "3"),
        ("warning", "2"),
        ("info", "1"),
    ]


@pytest.mark.parametrize(
    ("write", "keys", "found"),
    [(4_000, 7, ["problem"]), (4_000, 8, []), (1_000, 1, []), (1_001, 3, ["problem"])],
)
def test_there_are_twice_as_many_keys_as_partitions(write, keys, found):
    made = case({"distinct_keys": keys, "partitions_per_minute": (4,)}, Offered(write=write))
    assert severities(advice.cardinality(made)) == found


@pytest.mark.parametrize(
    ("share", "counts", "write", "found"),
    [
        (0.2, (20, 7), 9_000, []),
        (0.2, (20,), 2_500, []),
        (0.2, (20,), 2_501, ["warning"]),
        (0.2, (20,), 5_000, ["warning"]),
        (0.2, (20,), 5_001, ["problem"]),
        (0.1, (100,), 20_000, []),
        (UNEVEN / 4, (4,), 9_000, []),
        (0.9, (), 9_000, []),
    ],
)
def test_a_partition_is_hot_that_is_uneven_and_busy(share, counts, write, found):
    resource = {"hottest_partition_share": share, "partitions_per_minute": counts}
    assert severities(advice.hot_partition(case(resource, Offered(write=write)))) == found


@pytest.mark.parametrize(
    ("share", "load", "keys", "found"),
    [
        (0.3, Offered(write=3_000), 7, ["warning"]),
        (0.3, Offered(write=3_000), 6, []),
        (0.4, Offered(write=3_000), 7, ["problem"]),
        (0.5, Offered(write=1_000), 7, []),
        (0.1, Offered(write=9_000), 99, []),
        (0.5, Offered(read=3_000), 7, []),
        (0.5, Offered(read=3_001), 7, ["warning"]),
    ],
)
def test_a_key_is_popular_that_alone_makes_a_partition_busy(share, load, keys, found):
    resource = {"hottest_key_share": share, "distinct_keys": keys, "top_keys": [Part(key="k")]}
    assert severities(advice.popularity(case(resource, load))) == found
    assert severities(advice.popularity(case(resource | {"top_keys": []}, load))) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (86_400 * 365, "a year"),
        (86_400 * 364, "a month"),
        (86_400 * 30, "a month"),
        (86_400 * 29, "a day"),
        (86_400, "a day"),
        (3_600, "an hour"),
        (60, "a minute"),
        (1, "a second"),
        (90, "90 s"),
    ],
)
def test_a_span_is_told_in_one_word(seconds, text):
    assert advice._span(seconds) == text


def test_what_waits_for_an_index_is_a_share_of_the_calls():
    reasons = {
        "IndexWriteKeyRangeThroughputExceeded": 3,
        "IndexReadKeyRangeThroughputExceeded": 4,
        "TableWriteKeyRangeThroughputExceeded": 5,
    }
    pattern = Part(name="put", calls=10, throttled_by_reason=reasons)
    (found,) = advice.index_throttling(case(pattern=pattern))
    assert (found.severity, found.message.partition(" ")[0]) == ("problem", "30.0%")
    calm = Part(name="put", calls=10, throttled_by_reason={})
    assert list(advice.index_throttling(case(pattern=calm))) == []


@pytest.mark.parametrize(
    ("closes_after", "has_closed", "found"),
    [(60.0, False, ["index-falls-behind"]), (60.0, True, []), (None, False, [])],
)
def test_an_index_that_will_refuse_is_told_until_it_does(closes_after, has_closed, found):
    made = case()
    made.resources[0].backlog = Part(
        closes_after=closes_after, has_closed=has_closed, units=5.0, buffer=9.0
    )
    assert [one.check for one in advice.index_throttling(made)] == found


@pytest.mark.parametrize(
    ("days", "found"), [(29.9, ["problem"]), (30, ["warning"]), (364.9, ["warning"]), (365, [])]
)
def test_a_collection_has_a_year_to_its_limit(days, found):
    largest = limits.COLLECTION_BYTES - DAY_BYTES * days
    sizes = Part(largest_growth_bytes_per_day=DAY_BYTES, largest_bytes=largest, largest_key=("k",))
    tables = [Part(design=Part(local_indexes=("local",)))]
    layout = Part(tables=tables, resource_name=lambda *_: "table")
    assert (
        severities(advice.collection_growth(case({"collections": sizes}, layout=layout))) == found
    )
    tables[0].design.local_indexes = ()
    assert not list(advice.collection_growth(case({"collections": sizes}, layout=layout)))


@pytest.mark.parametrize(
    ("kind", "has_limit", "requests", "found"),
    [
        ("scan", False, 100 * FREQUENT + 1, ["problem"]),
        ("scan", False, 100 * FREQUENT, []),
        ("scan", True, 100 * FREQUENT + 1, []),
        ("query", False, 100 * FREQUENT + 1, []),
    ],
)
def test_a_scan_is_told_that_is_frequent_and_whole(kind, has_limit, requests, found):
    pattern = Part(name="all", requests=requests, evaluated_bytes=2_048 * requests)
    made = case(
        pattern=pattern,
        layout=Part(workload=Part(duration=100)),
        path=lambda _: Part(kind=kind, has_limit=has_limit),
    )
    told = list(advice.frequent_scan(made))
    assert severities(told) == found
    assert all(one.message.endswith(" 2 KB each") for one in told)


@pytest.mark.parametrize(
    ("share", "kind", "found"),
    [
        (0.5, "query", []),
        (0.51, "query", ["warning"]),
        (0.9, "query", ["warning"]),
        (0.91, "query", ["problem"]),
        (0.91, "scan", []),
    ],
)
def test_a_filter_is_told_that_throws_more_than_half_away(share, kind, found):
    pattern = Part(name="list", filter_waste_share=share)
    made = case(pattern=pattern, path=lambda _: Part(kind=kind, filters=("status",)))
    assert severities(advice.filter_waste(made)) == found


@pytest.mark.parametrize(("rival", "is_told"), [(100 * (1 - SAVING), False), (50.0, True)])
@pytest.mark.parametrize("throttles", [False, True])
def test_what_saves_little_or_throttles_is_not_advised(rival, is_told, throttles):
    chosen = Part(billing="provisioned", table_class="STANDARD", total=100.0)
    billing = Part(billing="on-demand", table_class="STANDARD", total=rival)
    cheaper = Part(billing="provisioned", table_class="STANDARD_INFREQUENT_ACCESS", total=rival)
    made = case(
        chosen_cost=chosen,
        costs=[chosen, billing, cheaper],
        throttles=throttles,
        break_even=[Part(utilisation=0.2, break_even=0.3)],
        layout=Part(design=Part(name="d")),
    )
    wanted = is_told and not throttles
    assert [one.fix for one in advice.billing(made)] == ["choose on-demand billing"] * wanted
    assert severities(advice.table_class(made)) == ["info"] * wanted
    made.chosen_cost = None
    assert not list(advice.billing(made)) + list(advice.table_class(made))


@pytest.mark.parametrize(
    ("operation", "size", "saved"),
    [
        ("PutItem", 1_025, "save 1 bytes and pay 1: "),
        ("PutItem", 1_024, None),
        ("PutItem", 2_049, "save 1 bytes and pay 2: "),
        ("PutItem", 3_073, None),
        ("PutItem", 2_000, None),
        ("GetItem", 4_097, "save 1 bytes and pay 1: "),
        ("GetItem", 4_096, None),
    ],
)
def test_an_item_just_over_the_edge_of_a_unit_is_told(operation, size, saved):
    stated = Part(operation=operation, is_write=operation == "PutItem", sizes=Part(mean=size))
    made = case(pattern=Part(name="p"))
    made.pattern = lambda _: stated
    told = [one.fix for one in advice.rounding(made)]
    assert [fix.startswith(saved or "never") for fix in told] == [True] * (saved is not None)


@pytest.mark.parametrize(
    ("operation", "size", "found"),
    [
        ("UpdateItem", BIG_ITEM, ["warning"]),
        ("UpdateItem", BIG_ITEM - 1, []),
        ("PutItem", BIG_ITEM, []),
    ],
)
def test_updates_of_large_items_are_told(operation, size, found):
    made = case(pattern=Part(name="p"))
    made.pattern = lambda _: Part(operation=operation, sizes=Part(mean=size))
    assert severities(advice.vertical_split(made)) == found
