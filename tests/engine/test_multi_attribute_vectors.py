"""The verified vectors of multi-attribute keys (MAK-V1 to MAK-V14), and those near them."""

import pytest

from emulator import ApiError
from tests.engine.conftest import Bench, wire

ROWS = {
    "p1": ("T", "live", "b", "r1"),
    "p2": ("T", "live", "a", "r2"),
    "p3": ("T", "live", "a", "r1"),
    "p4": ("T", "draft", "c", "r1"),
    "p5": ("F", "live", "a", "r0"),
    "p6": ("T", "live", None, "r1"),
}
VALUES = {"h": "o1", "a": "T", "b": "live", "c": "a", "d": "r", "x": "r1", "y": "r1"}


@pytest.fixture(scope="module")
def bench():
    bench = Bench(capacity="off")
    bench.table(indexes={"gsi": ("h", ("a", "b", "c", "d"))})
    for pk, values in ROWS.items():
        named = {name: v for name, v in zip("abcd", values, strict=True) if v is not None}
        bench.put(pk=pk, h="o1", **named)
    return bench


def query(bench, condition, index="gsi", values=VALUES, **more):
    used = {
        f":{name}": value if isinstance(value, dict) else {"S": value}
        for name, value in values.items()
        if f":{name}" in condition
    }
    return bench.emu.call(
        "Query",
        {
            "TableName": "tab",
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": used,
            **more,
        },
    )


def found(answer):
    return " ".join(item["pk"]["S"] for item in answer["Items"])


@pytest.mark.parametrize(
    ("vector", "condition", "result"),
    [
        ("MAK-V1", "h = :h", "p5 p4 p3 p2 p1"),
        ("MAK-V2", "h = :h AND a = :a", "p4 p3 p2 p1"),
        ("MAK-V4", "h = :h AND a = :a AND b = :b", "p3 p2 p1"),
        ("MAK-V5", "h = :h AND a = :a AND b = :b AND c = :c", "p3 p2"),
        ("MAK-V6", "h = :h AND a = :a AND b = :b AND c > :c", "p1"),
        ("MAK-V7", "h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)", "p3 p2"),
        ("MAK-V8", "h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :y", "p3"),
        ("MAK-V9", "h = :h AND a = :a AND b < :b", "p4"),
        ("MAK-V10", "b = :b AND h = :h AND a = :a", "p3 p2 p1"),
    ],
)
def test_verified_vectors(bench, vector, condition, result):
    assert found(query(bench, condition)) == result


def test_mak_v3_backwards(bench):
    answer = query(bench, "h = :h AND a = :a", ScanIndexForward=False)
    assert found(answer) == "p1 p2 p3 p4"


def test_mak_v11_a_page_and_its_key(bench):
    answer = query(bench, "h = :h AND a = :a", Limit=2)
    assert found(answer) == "p4 p3"
    assert sorted(answer["LastEvaluatedKey"]) == ["a", "b", "c", "d", "h", "pk"]
    rest = query(bench, "h = :h AND a = :a", ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert found(rest) == "p2 p1"


@pytest.mark.parametrize(
    ("vector", "condition", "lacking", "given"),
    [
        ("MAK-V12", "h = :h AND a = :a AND c = :c", "b", "c"),
        ("MAK-V13", "h = :h AND a = :a AND b > :b AND c = :c", "b", "c"),
        ("MAK-V14", "h = :h AND b = :b", "a", "b"),
    ],
)
def test_verified_refusals(bench, vector, condition, lacking, given):
    """MAK-34, ERR-QUERY-12."""
    error = bench.attempt(
        "Query",
        TableName="tab",
        IndexName="gsi",
        KeyConditionExpression=condition,
        ExpressionAttributeValues={
            f":{name}": {"S": VALUES[name]} for name in "habc" if f":{name}" in condition
        },
    )
    assert error.message == (
        f"RANGE key attributes {lacking} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {given}"
    )


@pytest.fixture
def tournaments():
    """The tournament example: two partition attributes, three sort attributes."""
    bench = Bench(capacity="off")
    bench.table(
        indexes={"matches": (("tournament", "area"), ("round:N", "bracket", "match"))},
    )
    for number, (round_number, bracket) in enumerate([(10, "u"), (2, "u"), (2, "l"), (1, "u")]):
        bench.put(
            pk=f"p{number}",
            tournament="t",
            area="eu",
            round=round_number,
            bracket=bracket,
            match=f"m{number}",
        )
    return bench


T = {"t": "t", "e": "eu", "r": {"N": "2"}, "b": "u"}


def test_numbers_order_as_numbers(tournaments):
    """MAK-50: 1 < 2 < 10, and brackets within a round."""
    answer = query(tournaments, "tournament = :t AND area = :e", "matches", T)
    assert found(answer) == "p3 p2 p1 p0"


def test_every_partition_attribute_is_needed(tournaments):
    """MAK-30: those that are missing are named."""
    for condition, missing in (("tournament = :t", "area"), ("area = :e", "tournament")):
        values = {key: {"S": T[key[1]]} for key in (":t", ":e") if key in condition}
        error = tournaments.attempt(
            "Query",
            TableName="tab",
            IndexName="matches",
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
        )
        assert error.message == (
            f"HASH key attributes {missing} must have equality conditions specified in the query"
        )


def test_an_inequality_on_a_partition_attribute_is_refused(tournaments):
    """MAK-31."""
    error = tournaments.attempt(
        "Query",
        TableName="tab",
        IndexName="matches",
        KeyConditionExpression="tournament = :t AND area > :e",
        ExpressionAttributeValues={":t": {"S": "t"}, ":e": {"S": "eu"}},
    )
    assert error.message == (
        "HASH key attributes area must have equality conditions specified in the query"
    )


def test_removing_any_key_attribute_removes_the_entry(tournaments):
    """MAK-20, MAK-23."""
    tournaments.emu.call(
        "UpdateItem",
        {"TableName": "tab", "Key": wire({"pk": "p1"}), "UpdateExpression": "REMOVE bracket"},
    )
    answer = query(tournaments, "tournament = :t AND area = :e", "matches", T)
    assert found(answer) == "p3 p2 p0"


def test_changing_a_key_attribute_moves_the_entry_and_costs_two_writes(tournaments):
    """MAK-23, MAK-63."""
    answer = tournaments.emu.call(
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": wire({"pk": "p1"}),
            "UpdateExpression": "SET round = :r",
            "ExpressionAttributeValues": {":r": {"N": "11"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    assert answer["ConsumedCapacity"]["GlobalSecondaryIndexes"] == {
        "matches": {"CapacityUnits": 2.0}
    }
    order = found(query(tournaments, "tournament = :t AND area = :e", "matches", T))
    assert order == "p3 p2 p0 p1"


def test_parts_are_not_concatenated():
    """MAK-28."""
    bench = Bench(capacity="off")
    bench.table(indexes={"gsi": (("x", "y"), ())})
    bench.put(pk="1", x="ab", y="c")
    bench.put(pk="2", x="a", y="bc")
    answer = query(bench, "x = :x AND y = :y", values={"x": "a", "y": "bc"})
    assert found(answer) == "2"


def test_ties_are_ordered_by_the_table_key():
    """MAK-25, IDX-3, IDX-5."""
    bench = Bench(capacity="off")
    bench.table(indexes={"gsi": ("x", "y"), "bare": "x"})
    for pk in "cab":
        bench.put(pk=pk, x="1", y="2")
    for index in ("gsi", "bare"):
        assert found(query(bench, "x = :x", index, {"x": "1"})) == "a b c"


def test_an_index_of_four_and_four():
    """MAK-2, MAK-52, MAK-54."""
    bench = Bench(capacity="off")
    hashes, ranges = ("h1", "h2", "h3", "h4"), ("r1", "r2", "r3", "r4")
    bench.table(indexes={"gsi": (hashes, ranges)}, projections={"gsi": "KEYS_ONLY"})
    values = dict.fromkeys(hashes + ranges, "v")
    bench.put(pk="p", other="x", **values)
    answer = bench.emu.call("Scan", {"TableName": "tab", "IndexName": "gsi", "Limit": 1})
    assert answer["Items"] == [wire({"pk": "p", **values})]
    assert answer["LastEvaluatedKey"] == answer["Items"][0]


def test_pages_begin_with_the_key_that_the_last_one_ended_with(bench):
    """MAK-53, MAK-52, ESK-1: all key attributes of table and index, no more and no less."""
    whole = query(bench, "h = :h")["Items"]
    pages, start = [], {}
    while True:
        page = query(bench, "h = :h", Limit=1, **start)
        pages += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        last = page["LastEvaluatedKey"]
        assert set(last) == {"pk", "h", "a", "b", "c", "d"}
        start = {"ExclusiveStartKey": last}
    assert pages == whole
    for name in last:
        short = {key: value for key, value in last.items() if key != name}
        with pytest.raises(ApiError, match="The provided starting key is invalid"):
            query(bench, "h = :h", ExclusiveStartKey=short)


def test_such_an_index_is_read_like_any_other_global_one(bench):
    """MAK-44, QRY-12, SEL-7."""
    with pytest.raises(ApiError, match="Consistent reads are not supported on global secondary"):
        query(bench, "h = :h", ConsistentRead=True)
    counted = query(bench, "h = :h", Select="COUNT")
    assert (counted["Count"], "Items" in counted) == (5, False)
    shown = query(bench, "h = :h", Limit=1, ProjectionExpression="d")["Items"]
    assert shown == [wire({"d": "r0"})]


@pytest.mark.parametrize("name", ["h", "d"])
def test_no_part_of_its_key_may_be_empty(bench, name):
    """MAK-22, IXV-2, IXV-3: said of the index by PutItem, and without it by UpdateItem."""
    empty = "The AttributeValue for a key attribute cannot contain an empty string value."
    put = bench.attempt("PutItem", TableName="tab", Item=wire({"pk": "e", name: ""}))
    assert put.message == (
        "One or more parameter values are not valid. A value specified for a secondary index key "
        f"is not supported. {empty} IndexName: gsi, IndexKey: {name}"
    )
    update = bench.attempt(
        "UpdateItem",
        TableName="tab",
        Key=wire({"pk": "e"}),
        UpdateExpression=f"SET {name} = :empty",
        ExpressionAttributeValues=wire({":empty": ""}),
    )
    assert update.message == (
        "One or more parameter values are not valid. The update expression attempted to update a "
        f"secondary index key to a value that is not supported. {empty}"
    )
