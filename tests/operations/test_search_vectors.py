"""SearchVectors: its parser's faults, its rules in order, and what it answers."""

import pytest

from emulator import Emulator, ManualClock, Settings
from emulator.capacity.prices import STANDARD, STANDARD_IA, Bill
from tests.tables import (
    ARN,
    described,
    emulator,
    nearest,
    nearest_keys,
    refusal,
    table,
    vector,
    vector_index,
    vector_table,
)

SEARCH = {
    "TableName": "tab",
    "IndexName": "vix",
    "SearchVector": [{"N": "1"}, {"N": "0"}],
    "TopK": 3,
}
TENANT = {
    "SearchConditionExpression": "tenant = :t",
    "ExpressionAttributeValues": {":t": {"S": "t"}},
}
COMPACT = '{"TableName":"tab","IndexName":"vix","SearchVector":[{"N":"1"},{"N":"0"}],"TopK":3}'


def made(*indexes, items=(), capacity="observe", **members):
    emu = Emulator(clock=ManualClock(), capacity=capacity)
    emu.call("CreateTable", vector_table(*indexes, **members))
    for name, numbers, *more in items:
        attributes = more[0] if more else {}
        item = {"pk": {"S": name}, "emb": vector(*numbers)} | attributes
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    return emu


def refused(emu, without=(), **changes):
    request = {name: value for name, value in (SEARCH | changes).items() if name not in without}
    return refusal(emu, "SearchVectors", request)


# Shape


@pytest.mark.parametrize(
    ("member", "value", "given", "wanted", "until"),
    [
        ("TableName", None, "null", "a string", '{"TableName":null'),
        ("SearchVector", None, "null", "a sequence", COMPACT[: COMPACT.index("[")] + "null"),
        ("TopK", None, "null", "i32", COMPACT[:-2] + "null"),
        ("TopK", 3.5, "floating point `3.5`", "i32", COMPACT[:-2] + "3.5"),
        ("TopK", True, "boolean `true`", "i32", COMPACT[:-2] + "true"),
        ("IndexName", 5, "integer `5`", "a string", '{"TableName":"tab","IndexName":5'),
        ("SearchVector", "x", 'string "x"', "a sequence", COMPACT[: COMPACT.index("[")] + '"x"'),
        ("SearchVector", {}, "map", "a sequence", COMPACT[: COMPACT.index("[")] + "{}"),
    ],
)
def test_a_wrong_type_is_told_by_its_column(member, value, given, wanted, until):
    """VIX-44, number 1."""
    assert refused(made(), **{member: value}) == (
        "SerializationException",
        f"invalid type: {given}, expected {wanted} at line 1 column {len(until)}",
    )


def test_a_null_that_may_be_absent_is():
    """WIR-15."""
    assert nearest(made(), 1, 0, ProjectionExpression=None) == {"SearchResults": []}


@pytest.mark.parametrize("member", ["TableName", "IndexName", "SearchVector", "TopK"])
def test_a_missing_member_is_told_before_any_constraint(member):
    """VIX-44, number 2."""
    code, message = refused(made(), without=[member])
    assert code == "ValidationException"
    assert message.startswith(f"missing field `{member}` at line 1 column ")
    if member != "IndexName":
        assert refused(made(), without=[member], IndexName="ab")[1].startswith("missing field")


@pytest.mark.parametrize(
    ("member", "value", "rule"),
    [
        ("IndexName", "ab", "have length greater than or equal to 3"),
        ("SearchVector", [], "have length greater than or equal to 1"),
        ("SearchVector", [{"N": "1"}] * 4097, "have length less than or equal to 4096"),
        ("TopK", 0, "have value greater than or equal to 1"),
    ],
)
def test_a_broken_constraint_is_told_without_the_value(member, value, rule):
    """VIX-40, VIX-44, number 3."""
    assert refused(made(), **{member: value}) == (
        "ValidationException",
        f"1 validation error detected: Value at '{member}' failed to satisfy constraint: "
        f"Member must {rule}",
    )


# Rules

LADDER = [
    (
        {"TopK": 101},
        "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 "
        "inclusive",
    ),
    (
        {
            "SearchConditionExpression": "tenant < :t",
            "ExpressionAttributeValues": {":t": {"S": ""}},
        },
        "Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression",
    ),
    ({"TableName": "nobody"}, "Requested resource not found"),
    ({"IndexName": "nobody"}, "The table does not have the specified index: nobody"),
    (
        {"SearchVector": [{"S": "x"}]},
        "Search vector contains invalid values. All values in the search vector must be a 32-bit "
        "floating-point number attribute",
    ),
    (
        {"SearchVector": [{"N": "1"}]},
        "Input search vector dimension 1 does not match vector index dimension 2",
    ),
    (
        {"SearchConditionExpression": None, "ExpressionAttributeValues": None},
        "SearchConditionExpression must be provided when SearchSchema has a HASH key",
    ),
]


@pytest.mark.parametrize("step", range(len(LADDER)))
def test_faults_come_in_this_order(step):
    """VIX-44: a request with this fault and all later ones tells of this one."""
    emu = made(vector_index(partition="tenant"), names="pk tenant")
    request = SEARCH | TENANT
    for change, _ in reversed(LADDER[step:]):
        request = request | change
    assert refusal(emu, "SearchVectors", request)[1] == LADDER[step][1]


@pytest.mark.parametrize("element", [{"N": "1e39"}, {"N": "x"}, {"S": "1"}, {"NULL": True}])
def test_an_element_that_is_no_number_of_32_bits_is_refused(element):
    """VIX-44, number 8."""
    assert refused(made(), SearchVector=[element] * 9)[1].startswith("Search vector contains")


def test_unused_placeholders_are_refused_as_by_query():
    """VIX-44, number 5."""
    emu = made(vector_index(partition="tenant"), names="pk tenant")
    values = {":t": {"S": "t"}, ":u": {"S": "u"}}
    assert refused(emu, **TENANT | {"ExpressionAttributeValues": values})[1] == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}"
    )


def test_a_table_is_named_by_its_arn_too():
    """VIX-40."""
    emu = made(items=[("a", (1, 0))])
    assert nearest_keys(emu, 1, 0, TableName=ARN) == ["a"]


def test_the_name_of_another_index_is_none():
    """VIX-44, number 7."""
    request = vector_table(names="pk x")
    request["GlobalSecondaryIndexes"] = [
        {
            "IndexName": "gsi",
            "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ]
    emu = emulator()
    emu.call("CreateTable", request)
    assert refused(emu, IndexName="gsi")[1] == "The table does not have the specified index: gsi"


# Behaviour

PLANE = [("east", (1, 0)), ("north", (0, 1)), ("west", (-1, 0)), ("far", (9, 0))]


@pytest.mark.parametrize(
    ("distance", "found"),
    [
        ("COSINE", {"east": 0, "far": 0, "north": 1, "west": 2}),
        ("EUCLIDEAN", {"east": 0, "north": 2**0.5, "west": 2, "far": 8}),
        ("DOT_PRODUCT", {"far": 9, "east": 1, "north": 0, "west": -1}),
    ],
)
def test_the_nearest_come_first(distance, found):
    """VIX-40, VIX-42."""
    emu = made(vector_index(distance=distance), items=PLANE)
    answer = nearest(emu, 1, 0)
    assert list(answer) == ["SearchResults"]
    seen = {hit["Item"]["pk"]["S"]: hit["Score"] for hit in answer["SearchResults"]}
    assert seen == pytest.approx(found)
    assert list(seen.values()) == pytest.approx(list(found.values()))
    assert len(nearest(emu, 1, 0, most=2)["SearchResults"]) == 2


def test_only_what_the_index_has_is_shown_and_the_vector_when_it_is_named():
    """VIX-41."""
    items = [("a", (1, "0.10"), {"x": {"S": "y"}, "z": {"S": "w"}})]
    emu = made(
        vector_index("all"),
        vector_index("keys", project="KEYS_ONLY"),
        vector_index("some", project=["x"]),
        vector_index("with", project=["emb"]),
        items=items,
    )

    def shown(index, **members):
        return nearest(emu, 1, 0, index=index, **members)["SearchResults"][0]["Item"]

    key = {"pk": {"S": "a"}}
    assert shown("all") == key | {"x": {"S": "y"}, "z": {"S": "w"}}
    assert shown("keys") == key
    assert shown("some") == key | {"x": {"S": "y"}}
    assert shown("with") == key
    assert shown("all", ProjectionExpression="emb, x") == {
        "emb": {"L": [{"N": "1.0"}, {"N": "0.1"}]},
        "x": {"S": "y"},
    }
    assert shown("with", ProjectionExpression="#e[1]", ExpressionAttributeNames={"#e": "emb"}) == {
        "emb": {"L": [{"N": "0.1"}]}
    }
    assert shown("some", ProjectionExpression="emb, z, pk") == key


def test_partition_and_filters_narrow_a_search():
    """VIX-43."""
    here = {"tenant": {"S": "t"}}
    items = [
        ("a", (1, 0), here | {"kind": {"N": "1.0"}}),
        ("b", (1, 0), here | {"kind": {"N": "2"}}),
        ("c", (1, 0), here),
        ("d", (1, 0), {"tenant": {"S": "u"}, "kind": {"N": "1"}}),
        ("e", (1, 0)),
    ]
    index = vector_index(partition="tenant", filters="kind")
    emu = made(index, names="pk tenant kind:N", items=items)
    assert sorted(nearest_keys(emu, 1, 0, **TENANT)) == ["a", "b", "c"]
    values = TENANT["ExpressionAttributeValues"] | {":k": {"N": "1"}}
    filtered = {
        "SearchConditionExpression": ":k = kind AND tenant = :t",
        "ExpressionAttributeValues": values,
    }
    assert nearest_keys(emu, 1, 0, **filtered) == ["a"]
    assert described(emu)["VectorIndexes"][0]["ItemCount"] == 4


def test_an_answer_beyond_16_mb_is_refused():
    """VIX-40."""
    large = {"x": {"S": "x" * 380_000}}
    emu = made(items=[(f"k{number}", (1, 0), large) for number in range(46)], capacity="off")
    assert len(nearest(emu, 1, 0, most=44)["SearchResults"]) == 44
    assert refused(emu, TopK=46)[1].startswith("Search results exceed the maximum size of 16 MB")


# Other operations


def test_other_reads_of_a_vector_index_are_refused():
    """VIX-50."""
    emu = made(items=PLANE)
    query = {
        "TableName": "tab",
        "IndexName": "vix",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert refusal(emu, "Query", query)[1] == "Query operation not supported on this index type."
    assert refusal(emu, "Query", query | {"ConsistentRead": True})[1] == (
        "Consistent reads are not supported on global secondary indexes"
    )
    scan = {"TableName": "tab", "IndexName": "vix", "ConsistentRead": True}
    assert refusal(emu, "Scan", scan)[1] == "Scan operation not supported on this index type"
    statement = {"Statement": 'SELECT * FROM "tab"."vix" WHERE pk = \'a\''}
    assert refusal(emu, "ExecuteStatement", statement)[1] == (
        "Scan operation not supported on this index type"
    )


def test_the_table_shows_a_vector_as_any_list():
    """VIX-30, VIX-51."""
    emu = made(items=[("a", (1, "0.123456789123"))])
    item = emu.call("GetItem", {"TableName": "tab", "Key": {"pk": {"S": "a"}}})["Item"]
    assert item["emb"] == vector(1, "0.123456789123")


# Capacity


@pytest.mark.parametrize(("mode", "shown"), [("TOTAL", True), ("INDEXES", True), ("NONE", False)])
def test_a_search_reports_its_bytes_and_nothing_else(mode, shown):
    """VIX-60, VIX-61."""
    emu = made(vector_index(size=64), items=[("a", [0.5] * 64)])
    answer = nearest(emu, *[1] * 64, ReturnConsumedCapacity=mode)
    expected = 1964 + 65 + len("pk") + len("a")
    assert ("ConsumedCapacity" in answer) == shown
    if shown:
        assert answer["ConsumedCapacity"] == {"VectorSearchRequestBytes": expected}
        carrying = nearest(emu, *[1] * 64, ProjectionExpression="emb", ReturnConsumedCapacity=mode)
        assert carrying["ConsumedCapacity"] == {"VectorSearchRequestBytes": expected + 4 * 64}


def test_searches_and_writes_are_metered_and_priced():
    """VIX-66."""
    emu = made(items=[("a", (1, 0)), ("b", (0, 1))])
    with emu.budget(calls=9) as ledger:
        nearest(emu, 1, 0)
        emu.call("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "c"}, "emb": vector(1, 1)}})
    assert emu.metrics.sum("VectorSearchRequestBytes", table="tab", index="vix") == 1024
    assert emu.metrics.sum("VectorWriteRequestBytes", table="tab", index="vix") == 3 * 1024
    search, write = sorted(ledger.entries, key=lambda entry: entry.operation == "PutItem")
    assert (search.index, search.searched_bytes, write.vector_bytes) == ("vix", 1024, 1024)
    dollars = 1_000_000 * (1024 * (0.002 + 0.52) / 2**30 + 0.625 / 1_000_000)
    assert ledger.usd == pytest.approx(dollars)
    bill = Bill(Settings())
    bill.vectors(STANDARD, "tab", "vix", searched_bytes=2**30, written_bytes=2**31)
    assert [(line.item, line.amount) for line in bill.lines] == [
        ("vector searches", 0.002),
        ("vector writes", 1.04),
    ]
    assert STANDARD_IA.vector_write_gb == pytest.approx(1.25 * STANDARD.vector_write_gb)
    assert STANDARD_IA.vector_search_gb == pytest.approx(1.25 * STANDARD.vector_search_gb)


def test_a_partition_is_searched_up_to_a_gigabyte_a_second():
    """VIX-45."""
    emu = made(items=[("a", (1, 0))], capacity="enforce")
    index = emu.account().tables["tab"].vectors.live["vix"]
    index.meter(None, emu.account().throughput_ns).take(0, 2**30)
    with pytest.raises(Exception, match="Throughput exceeds the current capacity") as caught:
        nearest(emu, 1, 0)
    assert caught.value.code == "ThrottlingException"
    assert caught.value.members["throttlingReasons"] == [
        {"reason": "IndexReadKeyRangeThroughputExceeded", "resource": f"{ARN}/index/vix"}
    ]
    emu.clock.advance(1)
    assert nearest_keys(emu, 1, 0) == ["a"]
    assert emu.metrics.sum("ReadThrottleEvents", table="tab", index="vix") == 1


def test_a_plain_table_has_no_index_to_search():
    emu = emulator()
    emu.call("CreateTable", table())
    assert refused(emu)[1] == "The table does not have the specified index: vix"
