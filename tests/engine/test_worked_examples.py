"""The worked examples of capacity, through the API: EX-8 to EX-43, EX-58."""

import pytest

from emulator import ApiError
from tests.engine.conftest import Bench, gsi, lsi, sized, wire

KIB = 1024


@pytest.fixture
def plain():
    bench = Bench(capacity="off")
    bench.table()
    return bench


def read_units(bench, operation="GetItem", **request):
    request.setdefault("ReturnConsumedCapacity", "TOTAL")
    answer = bench.emu.call(operation, request)
    consumed = answer["ConsumedCapacity"]
    return (consumed[0] if isinstance(consumed, list) else consumed)["CapacityUnits"]


def all_reads(bench, item_key):
    """Return SC, EC and TX units of reading one key."""
    key = wire(item_key)
    return (
        read_units(bench, TableName="tab", Key=key, ConsistentRead=True),
        read_units(bench, TableName="tab", Key=key),
        read_units(
            bench,
            "TransactGetItems",
            TransactItems=[{"Get": {"TableName": "tab", "Key": key}}],
        ),
    )


def test_ex_8_one_byte_more_costs_one_unit_more(plain):
    item = {
        "a": {"S": "k" * 500},
        "b": {"S": "x" * 509},
        "c": {"N": "12.3456"},
        "d": {"B": "AQI="},
        "e": {"BS": ["AQI=", "Ag==", "AQ=="]},
    }
    bench = Bench(capacity="off")
    bench.table(key=("a",))
    assert bench.put(**item)["CapacityUnits"] == 1.0
    item["b"] = {"S": "x" * 510}
    assert bench.put(**item)["CapacityUnits"] == 2.0


def test_ex_9_an_entry_is_priced_by_its_own_size():
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        GlobalSecondaryIndexes=[gsi("gsi", "gsiPk", kind="INCLUDE", include=["proj"])],
    )
    consumed = bench.put(pk="s1", sk="1", gsiPk="g", proj="p", other="x" * 3000)
    assert consumed == {
        "TableName": "tab",
        "CapacityUnits": 4.0,
        "Table": {"CapacityUnits": 3.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0}},
    }
    description = bench.emu.call("DescribeTable", {"TableName": "tab"})["Table"]
    assert description["TableSizeBytes"] == 3023
    assert description["GlobalSecondaryIndexes"][0]["IndexSizeBytes"] == 18


@pytest.mark.parametrize(
    ("size", "units"),
    [(3500, (1.0, 0.5, 2.0)), (20 * KIB, (5.0, 2.5, 10.0)), (None, (1.0, 0.5, 2.0))],
)
def test_ex_11_12_13_reading_one_item(plain, size, units):
    if size is not None:
        plain.put(**sized(size))
    assert all_reads(plain, {"pk": "k"}) == units


def test_ex_14_a_batch_rounds_per_item(plain):
    plain.put(**sized(KIB * 3 // 2, value="a"))
    plain.put(**sized(KIB * 13 // 2, value="b"))
    keys = [wire({"pk": name}) for name in ("a", "b", "none")]
    for consistent, units in ((True, 4.0), (False, 2.0)):
        request = {"tab": {"Keys": keys, "ConsistentRead": consistent}}
        assert read_units(plain, "BatchGetItem", RequestItems=request) == units


@pytest.fixture
def collection():
    """Ten items in one partition, 40.8 KB together (EX-15)."""
    bench = Bench(capacity="off")
    bench.table(key=("pk", "sk:N"))
    total = 41779  # 40.8 KB, rounded down to whole bytes
    for number in range(10):
        size = total // 10 + (number < total % 10)
        marked = {"f": "1"} if number == 0 else {}
        fixed = len("pkp") + len("sk") + (1 if number == 0 else 2) + len("v") + 2 * len(marked)
        bench.put(pk="p", sk=number, v="x" * (size - fixed), **marked)
    return bench


QUERY = {
    "TableName": "tab",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "p"}},
}


def test_ex_15_a_query_rounds_once(collection):
    assert read_units(collection, "Query", **QUERY, ConsistentRead=True) == 11.0
    assert read_units(collection, "Query", **QUERY) == 5.5


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ({"FilterExpression": "attribute_exists(f)"}, 1),
        ({"FilterExpression": "attribute_exists(absent)"}, 0),
        ({"Select": "COUNT"}, 10),
        ({"ProjectionExpression": "sk"}, 10),
    ],
)
def test_ex_17_neither_filter_nor_projection_lowers_the_price(collection, more, count):
    answer = collection.emu.call("Query", {**QUERY, **more, "ReturnConsumedCapacity": "TOTAL"})
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 5.5
    assert (answer["Count"], answer["ScannedCount"]) == (count, 10)


def test_ex_16_many_small_items(plain):
    bench = Bench(capacity="off")
    bench.table(key=("pk", "sk"))
    for number in range(1500):
        sort = f"{number:04}"
        bench.put(pk="p", sk=sort, v="x" * (64 - 3 - 6 - 1))
    assert read_units(bench, "Query", **QUERY, ConsistentRead=True) == 24.0
    assert read_units(bench, "Query", **QUERY) == 12.0


def test_ex_18_a_query_that_finds_nothing(collection):
    nothing = {**QUERY, "ExpressionAttributeValues": {":p": {"S": "none"}}}
    assert read_units(collection, "Query", **nothing, ConsistentRead=True) == 1.0
    answer = collection.emu.call("Query", nothing)
    assert "LastEvaluatedKey" not in answer


def test_ex_19_the_item_that_crosses_a_megabyte_ends_the_page():
    bench = Bench(capacity="off")
    bench.table(read=1, write=1)
    for number in range(1500):
        bench.put(**sized(1042, value=f"{number:04}"))
    answer = bench.emu.call("Scan", {"TableName": "tab", "ReturnConsumedCapacity": "TOTAL"})
    assert answer["Count"] == 1007
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 128.5
    assert "LastEvaluatedKey" in answer
    assert bench.emu.last_receipt.bytes_evaluated == 1_049_294


@pytest.mark.parametrize(("read", "eventual", "strong"), [(None, 2.0, 4.0), (1, 0.5, 1.0)])
def test_ex_21_an_empty_scan_touches_every_partition(read, eventual, strong):
    bench = Bench(capacity="off")
    bench.table(read=read, write=read)
    assert read_units(bench, "Scan", TableName="tab") == eventual
    assert read_units(bench, "Scan", TableName="tab", ConsistentRead=True) == strong


def test_cap_212_the_minimum_can_be_switched_off():
    bench = Bench(capacity="off", scan_partition_minimum=False)
    bench.table()
    assert read_units(bench, "Scan", TableName="tab") == 0.5


def test_ex_22_reading_a_global_index():
    bench = Bench(capacity="off")
    bench.table(GlobalSecondaryIndexes=[gsi("gsi", "g")])
    for number in range(8):
        item = sized(2000 - 2, value=str(number))
        bench.put(**item, g="x")
    answer = bench.emu.call(
        "Query",
        {
            "TableName": "tab",
            "IndexName": "gsi",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": {"S": "x"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    assert answer["ConsumedCapacity"] == {
        "TableName": "tab",
        "CapacityUnits": 2.0,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 2.0}},
    }


@pytest.mark.parametrize(
    ("items", "size", "consistent", "table", "index"),
    [
        (4, 300, False, 2.0, 0.5),  # EX-23
        (3, 9 * KIB, False, 4.5, 0.5),  # EX-24
        (3, 9 * KIB, True, 9.0, 1.0),
    ],
)
def test_ex_23_24_a_lean_local_index_fetches(items, size, consistent, table, index):
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        LocalSecondaryIndexes=[lsi("lean", "pk", "l", kind="KEYS_ONLY")],
    )
    for number in range(items):
        bench.put(pk="p", sk=str(number), l="x", v="x" * (size - 20))
    answer = bench.emu.call(
        "Query",
        {
            **QUERY,
            "IndexName": "lean",
            "Select": "ALL_ATTRIBUTES",
            "ConsistentRead": consistent,
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    assert answer["Count"] == items
    assert answer["ConsumedCapacity"] == {
        "TableName": "tab",
        "CapacityUnits": table + index,
        "Table": {"CapacityUnits": table},
        "LocalSecondaryIndexes": {"lean": {"CapacityUnits": index}},
    }


def test_ex_26_27_28_writing_and_deleting(plain):
    assert plain.put(**sized(10 * KIB))["CapacityUnits"] == 10.0
    plain.put(**sized(3 * KIB, value="b"))
    assert plain.put(**sized(100, value="b"))["CapacityUnits"] == 3.0
    plain.put(**sized(2017, value="c"))
    request = {
        "TableName": "tab",
        "Key": wire({"pk": "c"}),
        "UpdateExpression": "SET #pad = :v",
        "ExpressionAttributeNames": {"#pad": "pad"},
        "ExpressionAttributeValues": {":v": {"S": "x" * (117 - 6)}},
    }
    assert read_units(plain, "UpdateItem", **request) == 2.0
    plain.put(**sized(1639, value="d"))
    for units in (2.0, 1.0):
        assert read_units(plain, "DeleteItem", TableName="tab", Key=wire({"pk": "d"})) == units


def indexed(*indexes, **more):
    bench = Bench(capacity="off")
    bench.table(GlobalSecondaryIndexes=list(indexes), **more)
    return bench


def update(bench, expression, **values):
    request = {
        "TableName": "tab",
        "Key": wire({"pk": "k"}),
        "UpdateExpression": expression,
        "ReturnConsumedCapacity": "INDEXES",
    }
    if values:
        request["ExpressionAttributeValues"] = {f":{n}": {"S": v} for n, v in values.items()}
    return bench.emu.call("UpdateItem", request)["ConsumedCapacity"]


def test_ex_29_an_update_that_changes_nothing_leaves_the_index_alone():
    bench = indexed(gsi("gsi", "g"))
    bench.put(**sized(5 * KIB - 2), g="x")
    consumed = update(bench, "SET g = :g", g="x")
    assert consumed == {
        "TableName": "tab",
        "CapacityUnits": 5.0,
        "Table": {"CapacityUnits": 5.0},
    }


def test_ex_30_a_batch_write_rounds_per_item(plain):
    puts = [{"PutRequest": {"Item": wire(sized(size, value=str(size)))}} for size in (500, 3584)]
    assert read_units(plain, "BatchWriteItem", RequestItems={"tab": puts}) == 5.0


def test_ex_31_three_indexes_are_four_writes():
    bench = indexed(gsi("one", "a"), gsi("two", "b"), gsi("six", "c"))
    assert bench.put(pk="k", a="1", b="2", c="3")["CapacityUnits"] == 4.0


def test_ex_32_a_sparse_index_costs_nothing():
    bench = indexed(gsi("one", "a"), gsi("two", "b"))
    assert bench.put(pk="k", a="1")["CapacityUnits"] == 2.0


def test_ex_33_an_attribute_outside_a_projection():
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        GlobalSecondaryIndexes=[gsi("gsi", "g", kind="INCLUDE", include=["a"])],
        LocalSecondaryIndexes=[lsi("local", "pk", "l")],
    )
    bench.put(pk="k", sk="s", g="x", l="y", plain="1")
    answer = bench.emu.call(
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": wire({"pk": "k", "sk": "s"}),
            "UpdateExpression": "SET plain = :v",
            "ExpressionAttributeValues": {":v": {"S": "2"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    assert answer["ConsumedCapacity"] == {
        "TableName": "tab",
        "CapacityUnits": 2.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 1.0}},
    }


def test_ex_34_moving_an_entry_is_two_writes():
    bench = indexed(gsi("gsi", "g"))
    bench.put(**sized(1517 - 2), g="a")
    consumed = update(bench, "SET g = :g", g="b")
    assert consumed["Table"] == {"CapacityUnits": 2.0}
    assert consumed["GlobalSecondaryIndexes"] == {"gsi": {"CapacityUnits": 4.0}}


def test_ex_35_each_side_of_a_move_is_rounded_by_itself():
    bench = indexed(gsi("gsi", "g"))
    item = {"pk": "k", "g": "a", "v": "x" * (3017 - 6)}
    bench.put(**item)
    consumed = update(bench, "SET g = :g, v = :v", g="b", v="x" * (18 - 6))
    assert consumed["GlobalSecondaryIndexes"] == {"gsi": {"CapacityUnits": 4.0}}


def test_ex_36_removing_an_index_key():
    bench = indexed(gsi("gsi", "g"))
    bench.put(pk="k", g="a", v="x" * (3017 - 6))
    consumed = update(bench, "REMOVE g")
    assert consumed["GlobalSecondaryIndexes"] == {"gsi": {"CapacityUnits": 3.0}}


def transact(bench, *actions, mode="INDEXES", **more):
    request = {"TransactItems": list(actions), "ReturnConsumedCapacity": mode, **more}
    return bench.emu.call("TransactWriteItems", request)["ConsumedCapacity"]


def put_action(**item):
    return {"Put": {"TableName": "tab", "Item": wire(item)}}


def test_ex_37_a_transaction_costs_twice(plain):
    puts = [put_action(**sized(500, value=name)) for name in "abc"]
    assert transact(plain, *puts, mode="TOTAL") == [
        {"TableName": "tab", "CapacityUnits": 6.0, "WriteCapacityUnits": 6.0}
    ]


def test_ex_38_but_its_indexes_do_not():
    bench = Bench(capacity="off")
    bench.table(
        key=("pk", "sk"),
        GlobalSecondaryIndexes=[gsi("gsi", "g")],
        LocalSecondaryIndexes=[lsi("local", "pk", "l")],
    )
    consumed = transact(bench, put_action(pk="p", sk="s", g="x", l="y"))
    one = {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}
    two = {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    assert consumed == [
        {
            "TableName": "tab",
            "CapacityUnits": 4.0,
            "WriteCapacityUnits": 4.0,
            "Table": two,
            "LocalSecondaryIndexes": {"local": one},
            "GlobalSecondaryIndexes": {"gsi": one},
        }
    ]


@pytest.mark.parametrize(
    ("size", "condition", "units"),
    [(3 * KIB, "attribute_exists(pk)", 6.0), (None, "attribute_not_exists(pk)", 2.0)],
)
def test_ex_39_a_check_costs_a_write(plain, size, condition, units):
    if size is not None:
        plain.put(**sized(size))
    check = {
        "ConditionCheck": {
            "TableName": "tab",
            "Key": wire({"pk": "k"}),
            "ConditionExpression": condition,
        }
    }
    assert transact(plain, check, mode="TOTAL")[0]["CapacityUnits"] == units


def test_ex_40_a_repeat_is_a_read(plain):
    plain.put(**sized(9 * KIB))
    delete = {"Delete": {"TableName": "tab", "Key": wire({"pk": "k"})}}
    first = transact(plain, delete, mode="TOTAL", ClientRequestToken="t")
    again = transact(plain, delete, mode="TOTAL", ClientRequestToken="t")
    assert first == [{"TableName": "tab", "CapacityUnits": 18.0, "WriteCapacityUnits": 18.0}]
    assert again == [{"TableName": "tab", "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}]


def test_ex_41_a_failed_condition_is_consumed():
    bench = Bench(capacity="observe")
    bench.table()
    bench.put(**sized(300 * KIB))
    bench.clock.advance(60)
    failed = bench.attempt(
        "PutItem",
        TableName="tab",
        Item=wire(sized(310 * KIB)),
        ConditionExpression="attribute_not_exists(pk)",
    )
    assert failed.code == "ConditionalCheckFailedException"
    assert "ConsumedCapacity" not in failed.members  # CAP-408
    start = bench.clock.now()
    assert bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab", start=start) == 310.0
    bench.attempt(
        "UpdateItem",
        TableName="tab",
        Key=wire({"pk": "none"}),
        UpdateExpression="SET a = b",
        ConditionExpression="attribute_exists(pk)",
    )
    assert bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab", start=start) == 311.0
    assert bench.emu.metrics.sum("ConditionalCheckFailedRequests", table="tab") == 2.0


def test_ex_42_a_vertical_split(plain):
    plain.put(**sized(9830, value="one"))
    assert all_reads(plain, {"pk": "one"})[0] == 3.0
    counter = {
        "TableName": "tab",
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    assert read_units(plain, "UpdateItem", Key=wire({"pk": "one"}), **counter) == 10.0
    plain.put(**sized(9728, value="static"))
    plain.put(**sized(102, value="count"))
    assert read_units(plain, "UpdateItem", Key=wire({"pk": "count"}), **counter) == 1.0
    assert all_reads(plain, {"pk": "static"})[0] + all_reads(plain, {"pk": "count"})[0] == 4.0


def test_ex_43_expiry_is_free():
    """CAP-311, where it happens."""
    bench = Bench(capacity="observe")
    bench.table(GlobalSecondaryIndexes=[gsi("gsi", "g")])
    bench.emu.call(
        "UpdateTimeToLive",
        {
            "TableName": "tab",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
    )
    item = sized(2 * KIB - 20)
    bench.put(**item, g="x", ttl=int(bench.clock.now()) + 30)
    before = bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab")
    bench.clock.advance(120)
    assert bench.emu.call("Scan", {"TableName": "tab", "Select": "COUNT"})["Count"] == 0
    assert bench.emu.metrics.sum("ConsumedWriteCapacityUnits", table="tab") == before
    assert bench.emu.metrics.sum("TimeToLiveDeletedItemCount", table="tab") == 1.0


@pytest.mark.parametrize(("size", "accepted"), [(409_600, True), (409_601, False)])
def test_ex_58_the_largest_put(plain, size, accepted):
    error = plain.try_put(**sized(size))
    assert (error is None) is accepted
    if error is not None:
        assert error.message == "Item size has exceeded the maximum allowed size"


@pytest.mark.parametrize(
    ("size", "rule", "accepted"),
    [(409_581, "request", True), (409_582, "request", False), (409_600, "item", True)],
)
def test_ex_58_the_largest_update(size, rule, accepted):
    """SIZ-5, and the setting that measures the finished item alone."""
    bench = Bench(capacity="off", update_size_rule=rule)
    bench.table()
    text = "x" * (size - len("pk") - len("k") - len("b"))
    request = {
        "TableName": "tab",
        "Key": wire({"pk": "k"}),
        "UpdateExpression": "SET b = :v",
        "ExpressionAttributeValues": {":v": {"S": text}},
    }
    error = bench.attempt("UpdateItem", **request)
    assert (error is None) is accepted
    if error is not None:
        assert error.message == "Item size to update has exceeded the maximum allowed size"


def test_cap_107_an_oversized_update_cancels_a_transaction(plain):
    """SIZ-4."""
    update_action = {
        "Update": {
            "TableName": "tab",
            "Key": wire({"pk": "k"}),
            "UpdateExpression": "SET b = :v",
            "ExpressionAttributeValues": {":v": {"S": "x" * 409_600}},
        }
    }
    with pytest.raises(ApiError) as caught:
        transact(plain, update_action)
    assert caught.value.members["CancellationReasons"] == [
        {
            "Code": "ValidationError",
            "Message": "Item size to update has exceeded the maximum allowed size",
        }
    ]


def test_cap_111_a_collection_has_its_limit():
    """ERR-TYPE-15; writes that shrink it pass, other collections are unaffected."""
    bench = Bench(capacity="off", item_collection_bytes=2000)
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.put(pk="p", sk="1", l="x", v="x" * 600)
    error = bench.try_put(pk="p", sk="2", l="x", v="x" * 600)
    assert (error.code, error.message) == (
        "ItemCollectionSizeLimitExceededException",
        "Collection size exceeded.",
    )
    assert bench.try_put(pk="q", sk="2", l="x", v="x" * 600) is None
    assert bench.try_put(pk="p", sk="1", l="x", v="x") is None
    assert bench.try_put(pk="p", sk="2", l="x", v="x" * 600) is None


def test_cap_109_local_entries_count_towards_the_item():
    bench = Bench(capacity="off")
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    assert bench.try_put(pk="p", sk="1", l="x", v="x" * 204_000) is None
    error = bench.try_put(pk="p", sk="2", l="x", v="x" * 205_000)
    assert error.message == "Item size has exceeded the maximum allowed size"
