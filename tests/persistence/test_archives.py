"""Backups, exports and imports in snapshot files."""

import pytest

from emulator import Emulator, ManualClock, Settings
from tests.objects.memory_s3 import MemoryS3
from tests.tables import ARN, emulator, index, put, schema, table

MINUTE = 60


@pytest.fixture
def emu():
    """Return an emulator with a backup, an export, a failed import and one that still runs."""
    s3 = MemoryS3("bucket")
    s3.put_object(Bucket="bucket", Key="data.json", Body=b'{"Item":{"pk":{"S":"a"}}}\n{}\n')
    emu = emulator(s3=s3, transfer_seconds=MINUTE)
    by_g = index("gsi", schema("g"))
    emu.call("CreateTable", table(names="pk g", GlobalSecondaryIndexes=[by_g]))
    put(emu, pk="a", g="b")
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    emu.call("CreateBackup", {"TableName": "tab", "BackupName": "first"})
    values = {":b": {"B": b"\x00"}}
    chosen = {"FilterExpression": "pk <> :b", "ExpressionAttributeValues": values}
    export = {"TableArn": ARN, "S3Bucket": "bucket", "FilterSpecification": chosen}
    emu.call("ExportTableToPointInTime", export)
    import_table(emu, "bad")
    emu.call("DeleteTable", {"TableName": "tab"})
    emu.call("CreateTable", table())
    emu.clock.advance(MINUTE)
    import_table(emu, "running", prefix="none")
    return emu


def import_table(emu, name, prefix=""):
    request = {
        "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": table(TableName=name),
    }
    emu.call("ImportTable", request)


def told(emu):
    """Return everything that is described of what outlives its table."""
    backups = emu.call("ListBackups", {"BackupType": "ALL"})["BackupSummaries"]
    exports = emu.call("ListExports", {})["ExportSummaries"]
    imports = emu.call("ListImports", {})["ImportSummaryList"]
    return [
        *(emu.call("DescribeBackup", {"BackupArn": one["BackupArn"]}) for one in backups),
        *(emu.call("DescribeExport", {"ExportArn": one["ExportArn"]}) for one in exports),
        *(emu.call("DescribeImport", {"ImportArn": one["ImportArn"]}) for one in imports),
        *(emu.import_errors(one["ImportArn"]) for one in imports),
    ]


def loaded(emu, path, clock):
    emu.save(path)
    return Emulator.load(path, clock=clock, settings=emu.settings)


def test_what_outlives_its_table_outlives_the_process(emu, tmp_path):
    """OTH-3, S3X-4, S3X-22, S3X-31."""
    again = loaded(emu, tmp_path / "file", ManualClock(emu.clock.now()))
    assert told(again) == told(emu)
    assert again.call("ListTables", {})["TableNames"] == ["bad", "running", "tab"]
    backups = again.call("ListBackups", {"BackupType": "ALL"})["BackupSummaries"]
    assert sorted(one["BackupType"] for one in backups) == ["SYSTEM", "USER"]
    for number, backup in enumerate(backups):
        request = {"BackupArn": backup["BackupArn"], "TargetTableName": f"new{number}"}
        again.call("RestoreTableFromBackup", request)
        found = again.call("Scan", {"TableName": f"new{number}", "IndexName": "gsi"})["Items"]
        assert found == [{"pk": {"S": "a"}, "g": {"S": "b"}}]


def test_what_is_made_after_loading_has_names_of_its_own(tmp_path):
    """OTH-3: no backup takes the place of another, even if no time has passed."""
    emu = emulator()
    for name in ("one", "two", "tab"):
        emu.call("CreateTable", table(TableName=name))
    names = [f"backup-{number}" for number in range(6)]
    emu.call("CreateBackup", {"TableName": "tab", "BackupName": names[0]})
    for name in ("one", "two"):
        emu.call("DeleteTable", {"TableName": name})
    emu = loaded(emu, tmp_path / "file", ManualClock(emu.clock.now()))
    for name in names[1:]:
        emu.call("CreateBackup", {"TableName": "tab", "BackupName": name})
    told = emu.call("ListBackups", {})["BackupSummaries"]
    assert sorted(backup["BackupName"] for backup in told) == names


def test_an_import_ends_after_it_was_loaded(emu, tmp_path):
    """S3X-20."""
    again = loaded(emu, tmp_path / "file", ManualClock(emu.clock.now()))
    states = []
    for _ in range(2):
        status = again.call("DescribeTable", {"TableName": "running"})["Table"]["TableStatus"]
        (newest, _) = again.call("ListImports", {})["ImportSummaryList"]
        states.append((status, newest["ImportStatus"]))
        again.clock.advance(MINUTE)
    assert states == [("CREATING", "IN_PROGRESS"), ("ACTIVE", "COMPLETED")]


def test_moments_move_with_the_clock(emu, tmp_path):
    """A clock that is behind the file moves everything back by whole minutes."""
    emu.clock.advance(30 * MINUTE)
    again = loaded(emu, tmp_path / "file", ManualClock())
    shift = emu.clock.now() - again.clock.now()
    before, after = (
        one.call("ListImports", {})["ImportSummaryList"][0]["StartTime"] for one in (emu, again)
    )
    assert 0 < before - after <= shift + MINUTE


def test_an_emulator_without_a_store_still_tells(emu, tmp_path):
    """S3X-5."""
    emu.save(tmp_path / "file")
    clock = ManualClock(emu.clock.now())
    assert told(Emulator.load(tmp_path / "file", clock=clock, settings=Settings())) == told(emu)
