"""What tables consumed, what refused them, and what it costs (CAP-1001, CAP-802)."""

import pytest

from emulator import Emulator, ManualClock
from emulator.engine.namespaces import Namespace
from emulator.settings import Settings

KEY = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "byKind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
ITEM = {"pk": {"S": "a"}, "kind": {"S": "x"}}


def made(**table):
    emulator = Emulator(clock=ManualClock(), settings=Settings(free_tier=False))
    emulator.call("CreateTable", {"TableName": "orders", **KEY, **table})
    return emulator


def test_units_on_demand_are_paid_by_arm_at_the_price_of_the_class():
    emulator = made(BillingMode="PAY_PER_REQUEST", TableClass="STANDARD_INFREQUENT_ACCESS")
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    emulator.call(
        "GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}, "ConsistentRead": True}
    )
    table, index = emulator.spending()
    assert (table.read_units, table.write_units, table.index) == (1.0, 1.0, None)
    assert table.usd == (0.155 + 0.78) / 1_000_000
    assert (index.index, index.write_units, index.usd) == ("byKind", 1.0, 0.78 / 1_000_000)
    assert (table.usd_write_unit, table.usd_hour) == (0.78 / 1_000_000, 0.0)


def test_provisioned_capacity_is_paid_by_the_hour_used_or_not():
    units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
    index = KEY["GlobalSecondaryIndexes"][0] | {"ProvisionedThroughput": units}
    emulator = made(ProvisionedThroughput=units, GlobalSecondaryIndexes=[index])
    emulator.clock.advance(3600 - 300)
    table = emulator.spending()[0]
    assert round(table.usd, 6) == round(10 * (0.00013 + 0.00065), 6)
    assert (table.usd_read_unit, table.usd_hour) == (0.0, 10 * (0.00013 + 0.00065))


def test_refusals_are_counted_by_reason():
    emulator = made(BillingMode="PAY_PER_REQUEST", OnDemandThroughput={"MaxWriteRequestUnits": 1})
    for _ in range(3):
        emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    assert emulator.spending()[0].throttles == {"TableWriteMaxOnDemandThroughputExceeded": 2}


def test_a_deleted_table_is_still_counted():
    emulator = made(BillingMode="PAY_PER_REQUEST")
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    emulator.call("DeleteTable", {"TableName": "orders"})
    table, index = emulator.spending()
    assert (table.is_deleted, table.write_units, table.usd) == (True, 1.0, 0.625 / 1_000_000)
    assert index.index == "byKind"


# What is no units

GIB = 2**30
VECTOR = {
    "IndexName": "near",
    "VectorAttribute": {"AttributeName": "v"},
    "Dimensions": 2,
    "DistanceFunction": "EUCLIDEAN",
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}


def with_files(tmp_path, **table):
    (tmp_path / "bucket").mkdir()
    emulator = Emulator(clock=ManualClock(), settings=Settings(s3=str(tmp_path)))
    emulator.call("CreateTable", {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", **KEY})
    recovery = {"PointInTimeRecoveryEnabled": True}
    emulator.call(
        "UpdateContinuousBackups",
        {"TableName": "orders", "PointInTimeRecoverySpecification": recovery},
    )
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM | {"pad": {"S": "x" * 2000}}})
    return emulator


def row(emulator, name):
    """Return the row of a table, not of its indexes."""
    [found] = [r for r in emulator.spending() if r.table == name and r.index is None]
    return found


def size_of(emulator, name="orders"):
    return emulator.call("DescribeTable", {"TableName": name})["Table"]["TableSizeBytes"]


def test_an_export_costs_ten_cents_a_gigabyte_of_the_table(tmp_path):
    """CAP-1004, S3X-10."""
    emulator = with_files(tmp_path)
    before = row(emulator, "orders").usd
    arn = emulator.call("DescribeTable", {"TableName": "orders"})["Table"]["TableArn"]
    with emulator.budget(usd=10**9) as ledger:
        emulator.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket"})
        failed = {"TableArn": arn, "S3Bucket": "nowhere"}
        emulator.call("ExportTableToPointInTime", failed)
    dollars = size_of(emulator) / GIB * 0.10
    assert row(emulator, "orders").usd_billed == {"exports": dollars}
    assert round(row(emulator, "orders").usd - before, 12) == round(dollars, 12)
    assert round(ledger.usd, 6) == round(1_000_000 * dollars, 6)
    [entry] = [entry for entry in ledger.entries if entry.billed]
    assert (entry.operation, entry.table) == ("ExportTableToPointInTime", "orders")


def test_an_import_is_paid_by_what_is_read_also_if_it_is_refused(tmp_path):
    """CAP-1004, S3X-22."""
    emulator = with_files(tmp_path)
    text = '{"Item":{"pk":{"S":"a"}}}\n{"Item":{"pk":{"N":"1"}}}\n'
    (tmp_path / "bucket" / "data.json").write_text(text)
    keys = {name: KEY[name] for name in ("KeySchema",)}
    types = [{"AttributeName": "pk", "AttributeType": "S"}]
    made = {"TableName": "new", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": types}
    request = {"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON"}
    emulator.call("ImportTable", request | {"TableCreationParameters": made | keys})
    assert row(emulator, "new").usd_billed == {"imports": len(text) / GIB * 0.15}
    assert row(emulator, "new").write_units == 0


def test_a_restore_is_paid_by_the_size_of_its_table_and_from_afar_for_the_way(tmp_path):
    """CAP-1004, S3X-32."""
    emulator = with_files(tmp_path)
    request = {"TableName": "orders", "BackupName": "first"}
    backup = emulator.call("CreateBackup", request)["BackupDetails"]["BackupArn"]
    restore = {"TargetTableName": "new", "BackupArn": backup}
    emulator.call("RestoreTableFromBackup", restore)
    billed = size_of(emulator) + 100
    assert row(emulator, "new").usd_billed == {"restores": billed / GIB * 0.15}
    emulator.call("RestoreTableFromBackup", restore, region="eu-west-1")
    elsewhere = emulator.within(Namespace(None, "eu-west-1"))
    assert row(elsewhere, "new").usd_billed == {
        "restores": billed / GIB * 0.15,
        "transfer to another region": billed / GIB * 0.02,
    }


def test_what_is_kept_has_a_price_by_the_month(tmp_path):
    """CAP-1001, CAP-1004: also when the table is gone."""
    emulator = with_files(tmp_path)
    stored = (size_of(emulator) + 100) / GIB
    assert row(emulator, "orders").usd_kept_month == {
        "storage": stored * 0.25,
        "point-in-time recovery": stored * 0.20,
    }
    for name in ("first", "second"):
        emulator.call("CreateBackup", {"TableName": "orders", "BackupName": name})
    assert row(emulator, "orders").usd_kept_month["backups"] == 2 * stored * 0.10
    [index] = [r for r in emulator.spending() if r.index]
    assert set(index.usd_kept_month) == {"storage"}
    emulator.call("DeleteTable", {"TableName": "orders"})
    assert row(emulator, "orders").usd_kept_month == {"backups": 2 * stored * 0.10}


def test_a_bulk_put_is_paid_by_whole_kilobytes(tmp_path):
    """BLK-7, BLK-8: and no units of the table."""
    emulator = with_files(tmp_path)
    before = row(emulator, "orders")
    lines = [f'{{"Item":{{"pk":{{"S":"{n}"}},"pad":{{"S":"{"x" * 1500}"}}}}}}\n' for n in range(3)]
    (tmp_path / "bucket" / "in.json").write_text("".join(lines))
    where = {"S3Bucket": "bucket"}
    request = {
        "TableName": "orders",
        "InputS3Configuration": where | {"S3KeyPrefix": "in", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": where | {"OutputType": ["ERROR"]},
    }
    with emulator.budget(usd=10**9) as ledger:
        emulator.call("StartBulkPutItems", request)
        emulator.clock.advance(60)
    after = row(emulator, "orders")
    assert after.write_units == before.write_units
    assert after.usd_billed == pytest.approx({"bulk puts": 6 * 0.625 / 1_000_000})
    assert ledger.usd == pytest.approx(6 * 0.625)


def test_stream_reads_and_vectors_are_paid():
    """CAP-1004, VIX-66."""
    emulator = made(
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        VectorIndexes=[VECTOR],
    )
    stream = emulator.call("DescribeTable", {"TableName": "orders"})["Table"]["LatestStreamArn"]
    shards = emulator.call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]
    where = {"StreamArn": stream, "ShardId": shards[0]["ShardId"]}
    at = emulator.call("GetShardIterator", where | {"ShardIteratorType": "LATEST"})
    vector = {"v": {"L": [{"N": "1"}, {"N": "2"}]}}
    with emulator.budget(usd=10**9) as ledger:
        emulator.call("PutItem", {"TableName": "orders", "Item": ITEM | vector})
        search = {"TableName": "orders", "IndexName": "near", "TopK": 1}
        emulator.call("SearchVectors", search | {"SearchVector": vector["v"]["L"]})
        for _ in range(2):
            emulator.call("GetRecords", {"ShardIterator": at["ShardIterator"]})
    billed = row(emulator, "orders").usd_billed
    assert billed == pytest.approx(
        {
            "stream reads": 2 * 0.20 / 1_000_000,
            "vector searches": 1024 / GIB * 0.002,
            "vector writes": 1024 / GIB * 0.52,
        }
    )
    units = 2 * 0.625 / 1_000_000
    assert ledger.usd / 1_000_000 == pytest.approx(units + sum(billed.values()))
    assert row(emulator, "orders").usd_kept_month["storage"] > 0


def test_a_table_that_is_gone_costs_what_its_backups_do():
    """CAP-1001: also where nothing was read or written since counting began."""
    emulator = made(BillingMode="PAY_PER_REQUEST")
    emulator.call("PutItem", {"TableName": "orders", "Item": ITEM})
    emulator.call("CreateBackup", {"TableName": "orders", "BackupName": "kept"})
    emulator.call("DeleteTable", {"TableName": "orders"})
    emulator.clock.advance(60)
    assert {spent.is_deleted for spent in emulator.spending()} == {True}
    emulator.account().begin_observing()
    (gone,) = emulator.spending()
    assert (gone.table, gone.is_deleted, gone.usd) == ("orders", True, 0.0)
    assert list(gone.usd_kept_month) == ["backups"]
