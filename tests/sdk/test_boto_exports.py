"""Exports, imports and restores through boto3: waiters, and an S3 client as the store."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from emulator import ManualClock, Settings, mock_dynamodb
from emulator.strategies import create_request
from tests.objects.memory_s3 import MemoryS3

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
START = datetime(2026, 1, 1, tzinfo=UTC)


def client():
    return boto3.client("dynamodb", region_name="us-east-1")


def with_recovery(dynamodb):
    """Create a table of one item, whose recovery is on."""
    dynamodb.create_table(**create_request("orders"))
    dynamodb.put_item(TableName="orders", Item={"pk": {"S": "a"}, "b": {"B": b"\x00"}})
    dynamodb.update_continuous_backups(
        TableName="orders", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


def round_trip(dynamodb):
    """Export the table, import it under another name, and return what that one holds."""
    begun = dynamodb.export_table_to_point_in_time(TableArn=ARN, S3Bucket="bucket")
    arn = begun["ExportDescription"]["ExportArn"]
    dynamodb.get_waiter("export_completed").wait(ExportArn=arn)
    folder = f"AWSDynamoDB/{arn.rpartition('/')[2]}/data/"
    begun = dynamodb.import_table(
        S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": folder},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters=create_request("copy"),
    )
    arn = begun["ImportTableDescription"]["ImportArn"]
    dynamodb.get_waiter("import_completed").wait(ImportArn=arn)
    dynamodb.get_waiter("table_exists").wait(TableName="copy")
    return dynamodb.scan(TableName="copy")["Items"]


def test_waiters_wait_on_the_clock_for_exports_and_imports():
    """S3X-4, S3X-20: minutes pass in no time on a manual clock."""
    settings = Settings(s3=MemoryS3("bucket"), transfer_seconds=600)
    with mock_dynamodb(clock=ManualClock(), settings=settings) as emu:
        dynamodb = client()
        with_recovery(dynamodb)
        assert round_trip(dynamodb) == [{"pk": {"S": "a"}, "b": {"B": b"\x00"}}]
        assert emu.clock.now() - START.timestamp() >= 1200
        listed = dynamodb.list_exports(TableArn=ARN)["ExportSummaries"]
        assert [one["ExportStatus"] for one in listed] == ["COMPLETED"]
        (summary,) = dynamodb.list_imports()["ImportSummaryList"]
        assert summary["EndTime"] - summary["StartTime"] == timedelta(minutes=10)


def test_a_failed_export_fails_its_waiter():
    """S3X-1."""
    with mock_dynamodb(clock=ManualClock(), settings=Settings(s3=MemoryS3())):
        dynamodb = client()
        with_recovery(dynamodb)
        begun = dynamodb.export_table_to_point_in_time(TableArn=ARN, S3Bucket="bucket")
        arn = begun["ExportDescription"]["ExportArn"]
        with pytest.raises(Exception, match="terminal failure state"):
            dynamodb.get_waiter("export_completed").wait(ExportArn=arn)


def test_dates_are_those_of_the_clock():
    """S3X-30: boto3 sends whole seconds, and names bounds as it was told them."""
    with mock_dynamodb(clock=ManualClock(START.timestamp() + 0.5)) as emu:
        dynamodb = client()
        with_recovery(dynamodb)
        emu.clock.advance(3600)
        dynamodb.put_item(TableName="orders", Item={"pk": {"S": "later"}})
        emu.clock.advance(600)
        told = dynamodb.describe_continuous_backups(TableName="orders")
        window = told["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        for name, moment in (("first", "Earliest"), ("last", "Latest")):
            dynamodb.restore_table_to_point_in_time(
                SourceTableName="orders",
                TargetTableName=name,
                RestoreDateTime=window[f"{moment}RestorableDateTime"],
            )
        counts = [dynamodb.scan(TableName=name)["Count"] for name in ("first", "last")]
        assert counts == [1, 2]


def test_moto_s_s3_is_a_store():
    """S3X-1: beside the emulator, in the same process."""
    moto = pytest.importorskip("moto", reason="moto is not installed")
    with moto.mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="bucket")
        with mock_dynamodb(clock=ManualClock(), settings=Settings(s3=s3)):
            dynamodb = client()
            with_recovery(dynamodb)
            assert round_trip(dynamodb) == [{"pk": {"S": "a"}, "b": {"B": b"\x00"}}]
            listed = s3.list_objects_v2(Bucket="bucket")["Contents"]
            assert any(one["Key"].endswith("manifest-summary.json") for one in listed)
            begun = dynamodb.export_table_to_point_in_time(TableArn=ARN, S3Bucket="other")
            arn = begun["ExportDescription"]["ExportArn"]
            told = dynamodb.describe_export(ExportArn=arn)["ExportDescription"]
            assert told["FailureCode"] == "S3NoSuchBucket"
