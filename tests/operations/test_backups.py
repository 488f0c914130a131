"""CreateBackup, DescribeBackup, DeleteBackup and ListBackups."""

import re

import pytest

from tests.tables import (
    ARN,
    UNITS,
    described,
    emulator,
    index,
    put,
    refusal,
    schema,
    table,
)

START = 1_767_225_600.0
TAB = {"TableName": "tab"}


def created(emu=None, **members):
    emu = emu or emulator()
    emu.call("CreateTable", table(**members))
    return emu


def backup(emu, name="first", table_name="tab"):
    request = {"TableName": table_name, "BackupName": name}
    return emu.call("CreateBackup", request)["BackupDetails"]


def listed(emu, **members):
    return [one["BackupName"] for one in emu.call("ListBackups", members)["BackupSummaries"]]


def test_a_backup_is_available_at_once():
    """OTH-3, TBL-2."""
    emu = created()
    put(emu, pk="a")
    details = backup(emu)
    assert re.fullmatch(re.escape(ARN) + "/backup/[0-9]{14}-[0-9a-f]{8}", details["BackupArn"])
    assert details == {
        "BackupArn": details["BackupArn"],
        "BackupName": "first",
        "BackupSizeBytes": 3,
        "BackupStatus": "AVAILABLE",
        "BackupType": "USER",
        "BackupCreationDateTime": START,
    }


def test_a_backup_is_described_with_its_table_as_it_was():
    """OTH-3, OTH-4: later writes and the table's deletion do not reach it."""
    emu = created(
        partition="pk",
        sort="sk",
        names="pk sk g",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[index("gsi", schema("g"), ProvisionedThroughput=UNITS)],
        LocalSecondaryIndexes=[index("lsi", schema("pk", "g"), "KEYS_ONLY")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    )
    put(emu, pk="a", sk="b")
    details = backup(emu)
    was = described(emu)
    put(emu, pk="c", sk="d")
    emu.call("DeleteTable", TAB)
    found = emu.call("DescribeBackup", {"BackupArn": details["BackupArn"]})
    assert found == {
        "BackupDescription": {
            "BackupDetails": details,
            "SourceTableDetails": {
                "TableName": "tab",
                "TableId": was["TableId"],
                "TableArn": ARN,
                "TableSizeBytes": 6,
                "KeySchema": schema("pk", "sk"),
                "TableCreationDateTime": START,
                "ProvisionedThroughput": UNITS,
                "ItemCount": 1,
                "BillingMode": "PROVISIONED",
            },
            "SourceTableFeatureDetails": {
                "GlobalSecondaryIndexes": [
                    {**index("gsi", schema("g")), "ProvisionedThroughput": UNITS}
                ],
                "LocalSecondaryIndexes": [index("lsi", schema("pk", "g"), "KEYS_ONLY")],
                "StreamDescription": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
                "SSEDescription": was["SSEDescription"],
                "TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"},
            },
        }
    }


def test_a_backup_is_deleted():
    """OTH-4."""
    emu = created()
    arn = {"BackupArn": backup(emu)["BackupArn"]}
    before = emu.call("DescribeBackup", arn)
    before["BackupDescription"]["BackupDetails"]["BackupStatus"] = "DELETED"
    assert emu.call("DeleteBackup", arn) == before
    not_found = ("BackupNotFoundException", f"Backup not found: {arn['BackupArn']}")
    assert refusal(emu, "DescribeBackup", arn) == not_found
    assert refusal(emu, "DeleteBackup", arn) == not_found


@pytest.mark.parametrize("operation", ["DescribeBackup", "DeleteBackup"])
def test_an_arn_of_something_else_is_refused(operation):
    """ERR-OTH-7."""
    request = {"BackupArn": "arn:aws:dynamodb:us-east-1:000000000000:table/tab"}
    assert refusal(emulator(), operation, request) == ("ValidationException", "Invalid Backup ARN")


def test_an_unknown_table_is_named():
    """OTH-3."""
    request = {"TableName": "none", "BackupName": "first"}
    assert refusal(emulator(), "CreateBackup", request) == (
        "TableNotFoundException",
        "Table not found: none",
    )


def test_a_table_in_creation_is_in_use():
    emu = created(emulator(table_delay=5))
    request = {**TAB, "BackupName": "first"}
    assert refusal(emu, "CreateBackup", request)[0] == "TableInUseException"


def test_a_name_of_a_backup_is_like_that_of_a_table():
    """OTH-3, ERR-SHAPE-1."""
    assert refusal(created(), "CreateBackup", {**TAB, "BackupName": "a"})[1] == (
        "1 validation error detected: Value 'a' at 'backupName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3"
    )


def test_backups_are_filtered_by_table_time_and_type():
    """OTH-5: the lower bound is in, the upper out."""
    emu = created(created(), TableName="other")
    backup(emu, "one")
    emu.clock.advance(10)
    backup(emu, "two", "other")
    emu.clock.advance(10)
    backup(emu, "three", ARN)
    assert listed(emu) == ["one", "two", "three"]
    assert listed(emu, TableName="tab") == ["one", "three"]
    assert listed(emu, TableName=ARN) == ["one", "three"]
    assert listed(emu, TimeRangeLowerBound=START + 10) == ["two", "three"]
    assert listed(emu, TimeRangeUpperBound=START + 10) == ["one"]
    assert listed(emu, BackupType="ALL") == ["one", "two", "three"]
    assert listed(emu, BackupType="SYSTEM") == []


def test_backups_are_listed_page_by_page():
    """OTH-5."""
    emu = created()
    for n in range(5):
        backup(emu, f"number{n}")
    names, request = [], {"Limit": 2}
    while True:
        page = emu.call("ListBackups", request)
        names += [one["BackupName"] for one in page["BackupSummaries"]]
        if "LastEvaluatedBackupArn" not in page:
            break
        request["ExclusiveStartBackupArn"] = page["LastEvaluatedBackupArn"]
    assert sorted(names) == [f"number{n}" for n in range(5)]


def test_a_summary_names_the_table():
    """OTH-5."""
    emu = created()
    details = backup(emu)
    assert emu.call("ListBackups", {}) == {
        "BackupSummaries": [
            {
                "TableName": "tab",
                "TableId": described(emu)["TableId"],
                "TableArn": ARN,
                **details,
            }
        ]
    }


def test_a_snapshot_keeps_the_backups():
    emu = created()
    backup(emu)
    saved = emu.snapshot()
    emu.reset()
    assert listed(emu) == []
    emu.restore(saved)
    assert listed(emu) == ["first"]


def test_the_service_keeps_a_deleted_table_that_could_be_restored():
    """S3X-31: for 35 days, listed only if asked for, and nobody deletes it."""
    emu = created()
    put(emu, pk="a")
    spec = {"PointInTimeRecoveryEnabled": True}
    emu.call("UpdateContinuousBackups", {**TAB, "PointInTimeRecoverySpecification": spec})
    emu.call("DeleteTable", TAB)
    assert listed(emu) == []
    assert listed(emu, BackupType="SYSTEM") == listed(emu, BackupType="ALL")
    (summary,) = emu.call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    arn = summary["BackupArn"]
    assert arn.endswith("-00000000")
    assert summary["BackupName"] == "tab$DeletedTableBackup"
    assert summary["BackupType"] == "SYSTEM"
    assert summary["BackupExpiryDateTime"] == START + 35 * 24 * 3600
    told = emu.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    assert told["SourceTableFeatureDetails"] == {}
    assert refusal(emu, "DeleteBackup", {"BackupArn": arn})[0] == "ValidationException"
    emu.call("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": "new"})
    assert described(emu, "new")["ItemCount"] == 1
    emu.clock.advance(35 * 24 * 3600)
    assert listed(emu, BackupType="ALL") == []
    assert refusal(emu, "DescribeBackup", {"BackupArn": arn})[0] == "BackupNotFoundException"


def test_a_table_without_recovery_is_gone_when_it_is_deleted():
    """S3X-31."""
    emu = created()
    emu.call("DeleteTable", TAB)
    assert listed(emu, BackupType="ALL") == []
