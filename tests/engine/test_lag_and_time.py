"""What time does: lag, expiry, tokens, metrics, snapshots. CAP-1101 to CAP-1105, CAP-613."""

import pytest

from emulator import ApiError
from tests.engine.conftest import Bench, gsi, lsi, wire


def count(bench, **request):
    request = {"TableName": "tab", "Select": "COUNT", **request}
    return bench.emu.call("Scan", request)["Count"]


def get(bench, pk, **more):
    return bench.emu.call("GetItem", {"TableName": "tab", "Key": wire({"pk": pk}), **more})


def test_a_global_index_shows_the_past_it_should():
    """CAP-1104, IDX-4."""
    bench = Bench(capacity="off", gsi_lag=0.1)
    bench.table(GlobalSecondaryIndexes=[gsi("gsi", "g")])
    bench.put(pk="a", g="x")
    assert count(bench, IndexName="gsi") == 0
    bench.clock.advance(0.05)
    bench.put(pk="b", g="x")
    bench.clock.advance(0.05)
    assert count(bench, IndexName="gsi") == 1
    bench.clock.advance(0.05)
    assert count(bench, IndexName="gsi") == 2
    bench.put(pk="a", g="y")  # a key change is seen whole
    query = {
        "TableName": "tab",
        "IndexName": "gsi",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "x"}},
    }
    assert bench.emu.call("Query", query)["Count"] == 2
    bench.clock.advance(0.1)
    assert bench.emu.call("Query", query)["Count"] == 1
    assert count(bench, IndexName="gsi") == 2


def test_an_eventually_consistent_read_shows_the_past():
    """CAP-1105: price and image are those of the past."""
    bench = Bench(capacity="off", ec_lag=1.0)
    bench.table()
    bench.put(pk="a", v="x" * 5000)
    assert get(bench, "a") == {}
    assert "Item" in get(bench, "a", ConsistentRead=True)
    bench.clock.advance(1)
    answer = get(bench, "a", ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 1.0
    bench.put(pk="a", v="y")
    assert get(bench, "a")["Item"]["v"] == {"S": "x" * 5000}


def test_a_local_index_follows_the_table():
    bench = Bench(capacity="off", ec_lag=1.0)
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    bench.put(pk="a", sk="b", l="x")
    assert count(bench, IndexName="local") == 0
    assert count(bench, IndexName="local", ConsistentRead=True) == 1
    bench.clock.advance(1)
    assert count(bench, IndexName="local") == 1


def test_a_lean_local_index_fetches_from_the_same_past():
    """CAP-210 with CAP-1105."""
    bench = Bench(capacity="off", ec_lag=1.0)
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("lean", "pk", "l", kind="KEYS_ONLY")])
    bench.put(pk="a", sk="b", l="x", v="1")
    bench.clock.advance(1)
    bench.emu.call("DeleteItem", {"TableName": "tab", "Key": wire({"pk": "a", "sk": "b"})})
    query = {
        "TableName": "tab",
        "IndexName": "lean",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        "Select": "ALL_ATTRIBUTES",
    }
    assert bench.emu.call("Query", query)["Items"][0]["v"] == {"S": "1"}
    assert bench.emu.call("Query", {**query, "ConsistentRead": True})["Count"] == 0


def expiring(**settings):
    bench = Bench(capacity="off", **settings)
    bench.table(
        GlobalSecondaryIndexes=[gsi("gsi", "g")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    bench.emu.call(
        "UpdateTimeToLive",
        {
            "TableName": "tab",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
    )
    return bench


def test_expired_items_go_at_the_next_minute():
    """TTL-4, CAP-1101, CAP-1102: until then they are read as ever (CAP-214)."""
    bench = expiring()
    now = int(bench.clock.now())
    bench.put(pk="soon", g="x", ttl=now + 30)
    bench.put(pk="text", g="x", ttl=str(now + 30))
    bench.put(pk="old", g="x", ttl=now - 6 * 365 * 24 * 3600)
    bench.put(pk="later", g="x", ttl=now + 3600)
    bench.clock.advance(59)
    assert count(bench) == 4
    bench.clock.advance(1)
    assert count(bench) == 3
    assert count(bench, IndexName="gsi") == 3
    assert get(bench, "soon") == {}
    bench.clock.advance(24 * 3600)
    assert count(bench) == 2


def test_an_update_rescues_an_item():
    bench = expiring(ttl_delay=3600)
    now = int(bench.clock.now())
    bench.put(pk="a", ttl=now + 30)
    bench.clock.advance(1800)
    bench.put(pk="a", ttl=now + 10**6)
    bench.clock.advance(7200)
    assert count(bench) == 1


def test_the_stream_tells_who_removed_it():
    """TTL-5."""
    bench = expiring()
    bench.put(pk="a", ttl=int(bench.clock.now()) + 1)
    bench.clock.advance(60)
    (arn,) = bench.emu.account().streams
    (shard,) = bench.emu.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
    iterator = bench.emu.call(
        "GetShardIterator",
        {
            "StreamArn": arn,
            "ShardId": shard["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        },
    )["ShardIterator"]
    records = bench.emu.call("GetRecords", {"ShardIterator": iterator})["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "REMOVE"]
    assert "userIdentity" not in records[0]
    assert records[1]["userIdentity"] == {
        "PrincipalId": "dynamodb.amazonaws.com",
        "Type": "Service",
    }


@pytest.mark.parametrize("steps", [1, 7, 1440])
def test_a_day_in_steps_is_a_day_at_once(steps):
    """CAP-613: the state is a function of what happened when."""
    bench = expiring()
    now = int(bench.clock.now())
    for number in range(50):
        bench.put(pk=f"{number}", g="x", ttl=now + number * 1800)
    for _ in range(steps):
        bench.clock.advance(86_400 / steps)
    assert count(bench) == 2
    assert bench.emu.metrics.sum("TimeToLiveDeletedItemCount", table="tab") == 48
    removed = bench.emu.account().tables["tab"].stream.records[50:]
    assert len(removed) == 48
    minutes = {record.created_ns % (60 * 10**9) for record in removed}
    assert minutes == {0}


def test_a_token_stands_for_ten_minutes():
    """TXW-9, ERR-TX-8."""
    bench = Bench(capacity="off")
    bench.table()

    def transact(pk):
        return bench.attempt(
            "TransactWriteItems",
            TransactItems=[
                {
                    "Update": {
                        "TableName": "tab",
                        "Key": wire({"pk": pk}),
                        "UpdateExpression": "ADD n :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}},
                    }
                }
            ],
            ClientRequestToken="t",
        )

    assert transact("a") is None
    assert transact("a") is None
    assert get(bench, "a")["Item"]["n"] == {"N": "1"}
    assert transact("b").code == "IdempotentParameterMismatchException"
    bench.clock.advance(600)
    assert transact("b") is None


def test_counts_fall_into_their_minutes():
    """CAP-801; an idle stretch moves the running minute on."""
    bench = Bench(capacity="observe")
    bench.table()
    start = int(bench.clock.now())
    bench.put(pk="a")
    bench.clock.advance(7200)
    bench.put(pk="b")
    consumed = bench.emu.metrics.get("ConsumedWriteCapacityUnits", table="tab")
    assert consumed == [(start, 1.0), (start + 7200, 1.0)]


def test_requests_are_counted_by_outcome():
    """CAP-801, CAP-803."""
    bench = Bench(capacity="enforce")
    bench.table(read=1, write=2)
    bench.put(pk="a")
    bench.put(pk="b")
    bench.try_put(pk="c")
    bench.attempt("PutItem", TableName="tab", Item={})
    bench.attempt("Query", TableName="tab")
    metrics = bench.emu.metrics
    assert metrics.sum("ThrottledRequests", table="tab", operation="PutItem") == 1
    assert metrics.sum("UserErrors") == 2
    answered = metrics.get("SuccessfulRequestLatency", table="tab", stat="SampleCount")
    assert sum(samples for _, samples in answered) == 2


def test_a_snapshot_is_a_moment_and_stays_one():
    bench = Bench(capacity="enforce")
    bench.table(read=1, write=5, GlobalSecondaryIndexes=[gsi("gsi", "g", read=1, write=5)])
    bench.put(pk="a", g="x")
    snapshot = bench.emu.snapshot()
    bench.put(pk="b", g="x")
    bench.emu.call("DeleteItem", {"TableName": "tab", "Key": wire({"pk": "a"})})
    for _ in range(2):
        bench.emu.restore(snapshot)
        assert (count(bench), count(bench, IndexName="gsi")) == (1, 1)
        assert bench.try_put(pk="c", g="y") is None
    other = Bench(capacity="enforce")
    other.emu.restore(snapshot)
    assert count(other) == 1
    # Tokens are part of it: one of five was taken.
    assert [other.try_put(pk=f"n{n}") is None for n in range(5)] == [True] * 4 + [False]
    bench.emu.reset()
    assert bench.emu.call("ListTables", {}) == {"TableNames": []}


def test_one_receipt_or_several():
    bench = Bench(capacity="off")
    bench.table()
    bench.put(pk="a", v="x" * 100)
    assert bench.emu.last_receipt.total == 1
    keys = [wire({"pk": name}) for name in "ab"]
    bench.emu.call("BatchGetItem", {"RequestItems": {"tab": {"Keys": keys}}})
    assert [receipt.total for _, receipt in bench.emu.last_receipts] == [0.5, 0.5]
    with pytest.raises(Exception, match="2 receipts"):
        _ = bench.emu.last_receipt


def test_a_filter_s_waste_is_on_the_receipt():
    bench = Bench(capacity="off")
    bench.table(key=("pk", "sk"))
    for number in range(10):
        bench.put(pk="p", sk=f"{number}", v="x" * 100)
    bench.emu.call(
        "Query",
        {
            "TableName": "tab",
            "KeyConditionExpression": "pk = :p",
            "FilterExpression": "contains(v, :y)",
            "ExpressionAttributeValues": {":p": {"S": "p"}, ":y": {"S": "y"}},
        },
    )
    receipt = bench.emu.last_receipt
    assert (receipt.items_evaluated, receipt.items_returned) == (10, 0)
    assert (receipt.bytes_evaluated, receipt.bytes_returned) == (1070, 0)
    assert receipt.rounding_loss_bytes == 4096 - 1070


def test_inspecting_what_is_not_there():
    bench = Bench()
    bench.table(key=("pk", "sk"), LocalSecondaryIndexes=[lsi("local", "pk", "l")])
    with pytest.raises(Exception, match="there is no table 'none'"):
        bench.emu.partitions("none")
    with pytest.raises(Exception, match="has no global index 'local'"):
        bench.emu.insights("tab", "local")


def test_unknown_operations_and_requests_that_are_none():
    bench = Bench()
    with pytest.raises(ApiError) as caught:
        bench.emu.call("FlyToTheMoon", {})
    assert (caught.value.code, caught.value.message) == (
        "UnknownOperationException",
        "FlyToTheMoon is no operation that this emulator knows",
    )
    with pytest.raises(ApiError) as caught:
        bench.emu.call("ListTables", [])
    assert caught.value.code == "SerializationException"
