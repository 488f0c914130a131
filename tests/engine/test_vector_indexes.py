"""Vector indexes over time: their phases, what writes to them cost, and what is kept of them."""

import json

import pytest

from emulator import ApiError, Emulator, ManualClock, Settings
from emulator.service import limits
from tests.tables import (
    ARN,
    described,
    nearest,
    nearest_keys,
    refusal,
    table,
    vector,
    vector_index,
    vector_table,
)

UNKNOWN = "The table does not have the specified index: vix"
CREATE = {"TableName": "tab", "VectorIndexUpdates": [{"Create": vector_index()}]}
DELETE = {"TableName": "tab", "VectorIndexUpdates": [{"Delete": {"IndexName": "vix"}}]}


def made(request, *, capacity="observe", **settings):
    emu = Emulator(clock=ManualClock(), capacity=capacity, settings=Settings(**settings))
    emu.call("CreateTable", request)
    return emu


def put(emu, name, *numbers, **attributes):
    """Put an item, and return what that cost."""
    item = {"pk": {"S": name}} | {member: {"S": text} for member, text in attributes.items()}
    if numbers:
        item["emb"] = vector(*numbers)
    request = {"TableName": "tab", "Item": item, "ReturnConsumedCapacity": "INDEXES"}
    return emu.call("PutItem", request)["ConsumedCapacity"]


def update(emu, name, expression, **values):
    request = {
        "TableName": "tab",
        "Key": {"pk": {"S": name}},
        "UpdateExpression": expression,
        "ReturnConsumedCapacity": "INDEXES",
    }
    if values:
        named = {f":{key}": value for key, value in values.items()}
        request["ExpressionAttributeValues"] = named
    return emu.call("UpdateItem", request)["ConsumedCapacity"]


def state(emu):
    """Return the states of table and index, Backfilling, and what a search says."""
    shown = described(emu)
    (index,) = shown["VectorIndexes"]
    try:
        nearest(emu, 1, 0)
        told = "served"
    except ApiError as error:
        told = error.message
    return shown["TableStatus"], index["IndexStatus"], index.get("Backfilling"), told


# Life


def test_an_index_that_is_made_with_its_table_is_active_with_it():
    """VIX-20."""
    emu = made(vector_table(), table_delay=15.0)
    assert state(emu) == ("CREATING", "CREATING", None, "Requested resource not found")
    emu.clock.advance(15)
    assert state(emu) == ("ACTIVE", "ACTIVE", None, "served")


def test_an_index_that_is_added_passes_through_two_phases():
    """VIX-21, VIX-22, VIX-23."""
    emu = made(table(), table_delay=1.0)
    emu.clock.advance(1)
    answer = emu.call("UpdateTable", CREATE)["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    emu.clock.advance(29.9)
    assert state(emu) == ("UPDATING", "CREATING", False, UNKNOWN)
    assert refusal(emu, "UpdateTable", DELETE) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Index creation is in resource "
        "allocation phase. Retry deletion during backfilling phase or when the index is active. "
        "Table: tab Index: vix",
    )
    in_use = (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Cannot delete table while indexes are "
        "being created, updated, or deleted.",
    )
    assert refusal(emu, "DeleteTable", {"TableName": "tab"}) == in_use
    emu.clock.advance(0.1)
    backfilling = "Cannot search backfilling vector index: vix"
    assert state(emu) == ("ACTIVE", "CREATING", True, backfilling)
    assert refusal(emu, "DeleteTable", {"TableName": "tab"}) == in_use
    emu.clock.advance(510)
    assert state(emu) == ("ACTIVE", "ACTIVE", None, "served")
    emu.call("UpdateTable", DELETE)
    assert state(emu) == ("UPDATING", "DELETING", None, UNKNOWN)
    emu.clock.advance(1)
    assert "VectorIndexes" not in described(emu)
    emu.call("DeleteTable", {"TableName": "tab"})


def test_a_backfill_is_cancelled_by_deleting_its_index():
    """VIX-21."""
    emu = made(table(), vector_backfill_delay=60.0)
    emu.call("UpdateTable", CREATE)
    assert state(emu)[1:3] == ("CREATING", True)
    emu.call("UpdateTable", DELETE)
    assert "VectorIndexes" not in described(emu)
    emu.call("UpdateTable", CREATE)


def test_the_search_side_may_learn_late_that_an_index_is_active():
    """VIX-22."""
    emu = made(vector_table(), vector_search_delay=5.0)
    assert state(emu) == ("ACTIVE", "ACTIVE", None, UNKNOWN)
    emu.clock.advance(5)
    assert state(emu)[-1] == "served"


def test_a_backfill_passes_over_what_a_write_would_be_refused_for():
    """VIX-24."""
    emu = made(table(), vector_backfill_delay=60.0)
    put(emu, "short", 1)
    put(emu, "none")
    put(emu, "text", emb="x")
    put(emu, "good", 1, 0)
    emu.call("UpdateTable", CREATE)
    put(emu, "later", 0, 1)
    emu.clock.advance(60)
    assert nearest_keys(emu, 1, 0) == ["good", "later"]


@pytest.mark.parametrize("override", [None, [vector_index()], []])
def test_a_restored_table_has_the_indexes_of_its_source_or_those_chosen(override):
    """VIX-4, VIX-25."""
    other = vector_index("other", partition="tenant", project="KEYS_ONLY")
    emu = made(vector_table(vector_index(), other, names="pk tenant"))
    put(emu, "a", 1, 0, tenant="t")
    arn = emu.call("CreateBackup", {"TableName": "tab", "BackupName": "kept"})["BackupDetails"][
        "BackupArn"
    ]
    kept = emu.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    assert kept["SourceTableFeatureDetails"]["VectorIndexes"] == [vector_index(), other]
    request = {"TargetTableName": "again", "BackupArn": arn}
    if override is not None:
        request["VectorIndexOverride"] = override
    answer = emu.call("RestoreTableFromBackup", request)["TableDescription"]
    wanted = ["vix", "other"] if override is None else [index["IndexName"] for index in override]
    shown = answer.get("VectorIndexes", [])
    assert [(index["IndexName"], index["IndexStatus"]) for index in shown] == [
        (name, "CREATING") for name in wanted
    ]
    assert all("Backfilling" not in index for index in shown)
    if "vix" in wanted:
        assert nearest_keys(emu, 1, 0, TableName="again") == ["a"]


def test_a_restored_index_must_be_one_of_the_source():
    """VIX-25."""
    emu = made(vector_table())
    arn = emu.call("CreateBackup", {"TableName": "tab", "BackupName": "kept"})["BackupDetails"][
        "BackupArn"
    ]
    request = {"TargetTableName": "again", "BackupArn": arn}
    for strange in (vector_index("nobody"), vector_index(size=3)):
        code, message = refusal(
            emu, "RestoreTableFromBackup", request | {"VectorIndexOverride": [strange]}
        )
        assert code == "ValidationException"
        assert f"Index {strange['IndexName']} does not match a secondary index" in message


def test_an_imported_table_has_its_indexes_and_passes_over_no_fault(tmp_path):
    """VIX-1, VIX-31: a record that an index cannot hold is refused."""
    (tmp_path / "bucket").mkdir()
    items = [{"pk": {"S": "a"}, "emb": vector(1, 0)}, {"pk": {"S": "b"}, "emb": vector(1)}]
    lines = "".join(json.dumps({"Item": item}) + "\n" for item in items)
    (tmp_path / "bucket" / "items.json").write_text(lines)
    emu = Emulator(clock=ManualClock(), settings=Settings(s3=tmp_path))
    request = {
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": vector_table(),
    }
    arn = emu.call("ImportTable", request)["ImportTableDescription"]["ImportArn"]
    emu.clock.advance(3600)
    told = emu.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]
    assert (told["ImportedItemCount"], told["ErrorCount"]) == (1, 1)
    assert nearest_keys(emu, 1, 0) == ["a"]


# Writes


def test_entries_come_and_go_with_what_they_need():
    """VIX-30: an item without vector or partition is stored, and in no index."""
    scoped = vector_index("scoped", partition="tenant")
    emu = made(vector_table(vector_index(), scoped, names="pk tenant"))

    def counts():
        return [index["ItemCount"] for index in described(emu)["VectorIndexes"]]

    put(emu, "a", 1, 0)
    assert counts() == [1, 0]
    update(emu, "a", "SET tenant = :t", t={"S": "t"})
    assert counts() == [1, 1]
    update(emu, "a", "REMOVE tenant")
    assert counts() == [1, 0]
    update(emu, "a", "REMOVE emb")
    assert counts() == [0, 0]
    put(emu, "a", 1, 0, tenant="t")
    emu.call("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": "a"}}})
    assert counts() == [0, 0]
    assert described(emu)["TableSizeBytes"] == 0


def test_an_expired_item_leaves_its_entries():
    """VIX-30."""
    emu = made(vector_table())
    specification = {"Enabled": True, "AttributeName": "ttl"}
    request = {"TableName": "tab", "TimeToLiveSpecification": specification}
    emu.call("UpdateTimeToLive", request)
    expiry = {"N": str(int(emu.clock.now()) + 10)}
    item = {"pk": {"S": "a"}, "emb": vector(1, 0), "ttl": expiry}
    emu.call("PutItem", {"TableName": "tab", "Item": item})
    emu.clock.advance(3600)
    assert nearest_keys(emu, 1, 0) == []


def test_entries_are_seen_after_the_lag_of_indexes():
    """VIX-33."""
    emu = made(vector_table(), gsi_lag=2.0)
    put(emu, "a", 1, 0)
    assert nearest_keys(emu, 1, 0) == []
    emu.clock.advance(2)
    assert nearest_keys(emu, 1, 0) == ["a"]
    emu.call("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": "a"}}})
    assert nearest_keys(emu, 1, 0) == ["a"]
    emu.clock.advance(2)
    assert nearest_keys(emu, 1, 0) == []


def test_a_write_counts_the_bytes_of_every_entry_that_changes():
    """VIX-62, VIX-63."""
    size = 300
    keys = vector_index("keys", size=size, project="KEYS_ONLY")
    emu = made(vector_table(vector_index(size=size), keys))
    least = len("emb") + 4 * size + len("pk") + 1
    cost = put(emu, "a", *[1] * size, x="yy")
    assert cost["VectorIndexes"] == {
        "vix": {"VectorWriteRequestBytes": least + 3},
        "keys": {"VectorWriteRequestBytes": least},
    }
    assert cost["CapacityUnits"] == cost["Table"]["CapacityUnits"] == 2.0
    # An unprojected attribute is free, and so is what stays as it was.
    cost = update(emu, "a", "SET x = :x", x={"S": "y"})
    assert cost["VectorIndexes"] == {"vix": {"VectorWriteRequestBytes": least + 3}}
    assert "VectorIndexes" not in put(emu, "a", *[1] * size, x="y")
    # A difference that 32 bits do not show is none.
    assert "VectorIndexes" not in put(emu, "a", "1.00000000001", *[1] * (size - 1), x="y")
    request = {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "ReturnConsumedCapacity": "INDEXES"}
    cost = emu.call("DeleteItem", request)["ConsumedCapacity"]
    assert cost["VectorIndexes"]["vix"] == {"VectorWriteRequestBytes": least + 2}


def test_every_write_operation_counts_them_and_transactions_do_not_double_them():
    """VIX-62, VIX-63."""
    emu = made(vector_table())
    item = {"pk": {"S": "a"}, "emb": vector(1, 0)}
    counted = {"ReturnConsumedCapacity": "INDEXES"}
    entries = {"vix": {"VectorWriteRequestBytes": 1024}}
    batch = {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}}
    (cost,) = emu.call("BatchWriteItem", batch | counted)["ConsumedCapacity"]
    assert cost["VectorIndexes"] == entries
    action = {"Put": {"TableName": "tab", "Item": item | {"emb": vector(0, 1)}}}
    transaction = {"TransactItems": [action]} | counted
    (cost,) = emu.call("TransactWriteItems", transaction)["ConsumedCapacity"]
    assert (cost["VectorIndexes"], cost["CapacityUnits"]) == (entries, 2.0)
    statement = {"Statement": "UPDATE tab SET emb=[1, 1] WHERE pk='a'"} | counted
    assert emu.call("ExecuteStatement", statement)["ConsumedCapacity"]["VectorIndexes"] == entries
    request = {"TableName": "tab", "Item": item, "ReturnConsumedCapacity": "TOTAL"}
    cost = emu.call("PutItem", request)["ConsumedCapacity"]
    assert cost == {"TableName": "tab", "CapacityUnits": 1.0}


def test_the_table_counts_an_indexed_vector_as_32_bit_numbers():
    """VIX-64, VIX-65: reads count the true list."""
    numbers = [f"0.{'1' * 20}"] * 256
    true_bytes = len("emb") + 3 + 256 * (1 + 11) + len("pk") + 1
    counted = len("emb") + 4 * 256 + len("pk") + 1
    for request, units, stored in (
        (table(), 4.0, true_bytes),
        (vector_table(vector_index(size=256)), 2.0, counted),
    ):
        emu = made(request)
        assert put(emu, "a", *numbers)["CapacityUnits"] == units
        assert put(emu, "a", *numbers)["CapacityUnits"] == units
        assert described(emu)["TableSizeBytes"] == stored
        get = {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "ReturnConsumedCapacity": "TOTAL"}
        read = emu.call("GetItem", get | {"ConsistentRead": True})
        assert read["ConsumedCapacity"]["CapacityUnits"] == 1.0
    assert described(emu)["VectorIndexes"][0]["IndexSizeBytes"] == counted
    emu.call("UpdateTable", DELETE)
    assert described(emu)["TableSizeBytes"] == true_bytes
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    item = {"pk": {"S": "a"}}
    emu.call("UpdateTable", {"TableName": "tab"} | {
        "VectorIndexUpdates": [{"Create": vector_index(size=256)}]
    })  # fmt: skip
    request = {"TableName": "tab", "Item": item} | condition
    assert refusal(emu, "PutItem", request)[0] == "ConditionalCheckFailedException"
    assert emu.last_receipt.total == 2


def test_a_partition_is_written_up_to_ten_megabytes_a_second():
    """VIX-45."""
    scoped = vector_index(partition="tenant")
    emu = made(vector_table(scoped, names="pk tenant"), capacity="enforce")
    put(emu, "a", 1, 0, tenant="t")
    index = emu.account().tables["tab"].vectors.live["vix"]
    index.meter("t", emu.account().throughput_ns).take(1, 10 * 2**20)
    item = {"pk": {"S": "b"}, "tenant": {"S": "t"}, "emb": vector(1, 0)}
    delete = {"Delete": {"TableName": "tab", "Key": {"pk": {"S": "a"}}}}
    for operation, request in (
        ("PutItem", {"TableName": "tab", "Item": item}),
        ("TransactWriteItems", {"TransactItems": [delete]}),
    ):
        code = refusal(emu, operation, request)[0]
        assert code in ("ThrottlingException", "TransactionCanceledException")
    assert emu.metrics.sum("WriteThrottleEvents", table="tab", index="vix") == 2
    put(emu, "c", 1, 0, tenant="u")
    put(emu, "d", 1, 0)
    emu.clock.advance(1)
    put(emu, "b", 1, 0, tenant="t")


def test_a_partition_is_searched_up_to_what_a_second_gives(monkeypatch):
    """VIX-45: a search may take more than is there, and the next one waits."""
    monkeypatch.setattr(limits, "VECTOR_SEARCH_BYTES", 2)
    emu = made(vector_table(), capacity="enforce")
    put(emu, "a", 1, 0)
    assert nearest_keys(emu, 1, 0) == ["a"]
    with pytest.raises(ApiError) as caught:
        nearest(emu, 1, 0)
    assert caught.value.code == "ThrottlingException"
    emu.clock.advance(10_000)
    assert nearest_keys(emu, 1, 0) == ["a"]


def test_an_index_is_changing_until_it_is_gone():
    """UT-13, VIX-23."""
    emu = made(vector_table(), table_delay=10.0)
    emu.clock.advance(10)
    emu.call("UpdateTable", DELETE)
    account = emu.account()
    vectors, now_ns = account.tables["tab"].vectors, account.now_ns
    assert [index.schema.name for index in vectors.changing(now_ns)] == ["vix"]
    assert refusal(emu, "DeleteTable", {"TableName": "tab"})[0] == "ResourceInUseException"
    assert vectors.changing(now_ns + 10 * 10**9) == []


def test_a_file_is_searched_whole_whatever_the_lag(tmp_path):
    """VIX-33: what was stored before the file was read is not late."""
    emu = made(vector_table())
    put(emu, "a", 1, 0)
    emu.save(tmp_path / "file")
    again = Emulator.load(
        tmp_path / "file",
        clock=ManualClock(emu.clock.now()),
        settings=Settings(gsi_lag=10.0),
    )
    assert nearest_keys(again, 1, 0) == ["a"]


def test_what_is_only_observed_is_not_refused():
    """VIX-45."""
    emu = made(vector_table())
    index = emu.account().tables["tab"].vectors.live["vix"]
    index.meter(None, emu.account().throughput_ns).take(1, 2**30)
    put(emu, "a", 1, 0)
    assert [reason.resource for reason in emu.last_receipt.reasons] == [f"{ARN}/index/vix"]


def test_meters_that_have_had_their_rest_are_forgotten():
    emu = made(vector_table())
    index = emu.account().tables["tab"].vectors.live["vix"]
    for number in range(3000):
        index.meter(str(number), number * 10**9).take(1, 1)
    assert len(index._meters) <= 1024


def test_every_replica_has_the_indexes_of_its_group():
    """VIX-51."""
    emu = made(vector_table())
    put(emu, "a", 1, 0)
    create = {"TableName": "tab", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
    emu.call("UpdateTable", create)
    there = emu.client(region="eu-west-1")
    search = {
        "TableName": "tab",
        "IndexName": "vix",
        "SearchVector": [{"N": "1"}, {"N": "0"}],
        "TopK": 5,
    }
    assert len(there.search_vectors(**search)["SearchResults"]) == 1
    put(emu, "b", 0, 1)
    emu.clock.advance(10)
    assert len(there.search_vectors(**search)["SearchResults"]) == 2
    update = {"TableName": "tab", "VectorIndexUpdates": [{"Create": vector_index("more")}]}
    emu.call("UpdateTable", update)
    names = [
        index["IndexName"]
        for index in there.describe_table(TableName="tab")["Table"]["VectorIndexes"]
    ]
    assert names == ["vix", "more"]


# What is kept


def test_a_snapshot_is_independent_of_what_happens_next():
    emu = made(vector_table())
    put(emu, "a", 1, 0)
    kept = emu.snapshot()
    put(emu, "a", 0, 1)
    put(emu, "b", 1, 0)
    assert nearest_keys(emu, 1, 0) == ["b", "a"]
    for _ in range(2):
        emu.restore(kept)
        assert nearest_keys(emu, 1, 0) == ["a"]
        assert (
            described(emu)["TableSizeBytes"] == described(emu)["VectorIndexes"][0]["IndexSizeBytes"]
        )
        emu.call("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": "a"}}})
        assert nearest_keys(emu, 1, 0) == []


def test_a_file_brings_back_indexes_phases_and_entries(tmp_path):
    scoped = vector_index("scoped", partition="tenant", filters="kind", distance="DOT_PRODUCT")
    emu = made(vector_table(scoped, names="pk tenant kind"), vector_backfill_delay=100.0)
    put(emu, "a", 1, 0, tenant="t")
    emu.call("UpdateTable", CREATE)
    emu.clock.advance(40)
    emu.save(tmp_path / "file")
    settings = Settings(vector_backfill_delay=100.0)
    again = Emulator.load(tmp_path / "file", clock=ManualClock(emu.clock.now()), settings=settings)
    assert described(again) == described(emu)
    again.clock.advance(59)
    assert state_of(again, "vix") == ("CREATING", True)
    again.clock.advance(1)
    assert state_of(again, "vix") == ("ACTIVE", None)
    assert nearest_keys(again, 1, 0) == ["a"]


def state_of(emu, name):
    index = {shown["IndexName"]: shown for shown in described(emu)["VectorIndexes"]}[name]
    return index["IndexStatus"], index.get("Backfilling")
