"""RestoreTableFromBackup and RestoreTableToPointInTime."""

import pytest

from tests.tables import (
    ARN,
    INVALID,
    UNITS,
    described,
    emulator,
    index,
    put,
    refusal,
    schema,
    table,
    types,
)

START = 1_767_225_600.0
GSI = index("gsi", schema("g"))
LSI = index("lsi", schema("pk", "g"), "KEYS_ONLY")
MORE = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}


def source(**members):
    """Return an emulator with a table of one item, and the ARN of its backup."""
    emu = emulator()
    definition = {
        "partition": "pk",
        "sort": "sk",
        "names": "pk sk g",
        "GlobalSecondaryIndexes": [GSI],
        "LocalSecondaryIndexes": [LSI],
        **members,
    }
    emu.call("CreateTable", table(**definition))
    put(emu, pk="p", sk="s", g="g", more="text")
    request = {"TableName": "tab", "BackupName": "first"}
    return emu, emu.call("CreateBackup", request)["BackupDetails"]["BackupArn"]


def provisioned():
    return source(
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[GSI | {"ProvisionedThroughput": UNITS}],
    )


def restore(emu, arn, **members):
    request = {"TargetTableName": "new", "BackupArn": arn, **members}
    return emu.call("RestoreTableFromBackup", request)["TableDescription"]


def recoverable():
    emu, _ = source()
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    return emu


def to_time(**members):
    return {"SourceTableName": "tab", "TargetTableName": "new", **members}


def scan(emu, **members):
    return emu.call("Scan", {"TableName": "new", **members})["Items"]


ITEM = {"pk": {"S": "p"}, "sk": {"S": "s"}, "g": {"S": "g"}, "more": {"S": "text"}}


def test_a_backup_becomes_a_table_with_items_and_indexes():
    """OTH-6, MAK-64: also when its table has changed or is gone."""
    emu, arn = source()
    put(emu, pk="later", sk="s")
    emu.call("DeleteTable", {"TableName": "tab"})
    answer = restore(emu, arn)
    assert answer["RestoreSummary"] == {
        "SourceBackupArn": arn,
        "SourceTableArn": ARN,
        "RestoreDateTime": START,
        "RestoreInProgress": True,
    }
    assert answer["TableStatus"] == "CREATING"
    assert scan(emu) == [ITEM]
    assert scan(emu, IndexName="gsi") == [ITEM]
    assert scan(emu, IndexName="lsi") == [{name: ITEM[name] for name in ("pk", "sk", "g")}]
    found = described(emu, "new")
    assert found["RestoreSummary"]["RestoreInProgress"] is False
    assert found["AttributeDefinitions"] == types("g pk sk")


def test_a_restored_table_goes_its_own_way():
    """OTH-6."""
    emu, arn = source()
    restore(emu, arn)
    emu.call("DeleteItem", {"TableName": "new", "Key": {"pk": {"S": "p"}, "sk": {"S": "s"}}})
    assert scan(emu) == []
    assert described(emu)["ItemCount"] == 1
    emu.call("DeleteTable", {"TableName": "new"})
    restore(emu, arn)
    assert scan(emu) == [ITEM]


def test_a_restore_takes_as_long_as_a_table_takes():
    """OTH-6, CT-15."""
    emu = emulator(table_delay=10)
    emu.call("CreateTable", table())
    emu.clock.advance(10)
    arn = emu.call("CreateBackup", {"TableName": "tab", "BackupName": "one"})
    restore(emu, arn["BackupDetails"]["BackupArn"])
    progress = [described(emu, "new")["RestoreSummary"]["RestoreInProgress"]]
    emu.clock.advance(10)
    progress.append(described(emu, "new")["RestoreSummary"]["RestoreInProgress"])
    assert progress == [True, False]


def test_units_are_those_of_the_source():
    """OTH-6."""
    emu, arn = provisioned()
    restore(emu, arn)
    found = described(emu, "new")
    held = [found, *found["GlobalSecondaryIndexes"]]
    assert [one["ProvisionedThroughput"]["ReadCapacityUnits"] for one in held] == [5, 5]


def test_settings_of_the_source_may_be_overridden():
    """OTH-6."""
    emu, arn = source(TableClass="STANDARD_INFREQUENT_ACCESS")
    restore(
        emu,
        arn,
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=MORE,
        GlobalSecondaryIndexOverride=[],
        LocalSecondaryIndexOverride=[],
        SSESpecificationOverride={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    )
    found = described(emu, "new")
    assert found["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **MORE}
    assert found["SSEDescription"]["KMSMasterKeyArn"].endswith("key/k")
    assert found["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert found["AttributeDefinitions"] == types("pk sk")
    assert "GlobalSecondaryIndexes" not in found
    assert "LocalSecondaryIndexes" not in found


def test_a_provisioned_table_is_restored_on_demand():
    """OTH-6."""
    emu, arn = provisioned()
    maximum = {"MaxReadRequestUnits": 7}
    restore(emu, arn, BillingModeOverride="PAY_PER_REQUEST", OnDemandThroughputOverride=maximum)
    found = described(emu, "new")
    assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert found["OnDemandThroughput"] == maximum


def test_an_index_may_be_chosen():
    """OTH-6."""
    emu, arn = source()
    restore(emu, arn, GlobalSecondaryIndexOverride=[GSI])
    assert len(described(emu, "new")["GlobalSecondaryIndexes"]) == 1


BACKUP = f"{ARN}/backup/01767225600000-aaaaaaaa"
REFUSED = {
    "exists": (
        {"TargetTableName": "tab"},
        "TableAlreadyExistsException",
        "Table already exists: tab",
    ),
    "no backup": (
        {"BackupArn": BACKUP},
        "BackupNotFoundException",
        f"Backup not found: {BACKUP}",
    ),
    "no ARN": ({"BackupArn": "b" * 37}, "ValidationException", "Invalid Backup ARN"),
    "no units": (
        {"BillingModeOverride": "PROVISIONED"},
        "ValidationException",
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
        "BillingMode is PROVISIONED",
    ),
    "no index units": (
        {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": MORE},
        "ValidationException",
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    "another index": (
        {"GlobalSecondaryIndexOverride": [index("other", schema("g"))]},
        "ValidationException",
        INVALID + "Index is not part of the source table: other",
    ),
    "another key": (
        {"LocalSecondaryIndexOverride": [index("lsi", schema("pk", "sk"))]},
        "ValidationException",
        INVALID + "Index is not part of the source table: lsi",
    ),
    "encryption": (
        {"SSESpecificationOverride": {"Enabled": True, "SSEType": "AES256"}},
        "ValidationException",
        INVALID + "SSEType AES256 is not supported",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_restore_that_cannot_be_is_refused(case):
    """OTH-6, ERR-OTH-7."""
    members, code, message = REFUSED[case]
    emu, arn = source()
    request = {"TargetTableName": "new", "BackupArn": arn, **members}
    assert refusal(emu, "RestoreTableFromBackup", request) == (code, message)
    assert emu.call("ListTables", {}) == {"TableNames": ["tab"]}


def test_quotas_hold_for_restores_too():
    """CAP-615."""
    emu, arn = source(GlobalSecondaryIndexes=None)
    request = {
        "TargetTableName": "new",
        "BackupArn": arn,
        "BillingModeOverride": "PROVISIONED",
        "ProvisionedThroughputOverride": {"ReadCapacityUnits": 40_001, "WriteCapacityUnits": 1},
    }
    assert refusal(emu, "RestoreTableFromBackup", request)[0] == "LimitExceededException"


# To a point in time


@pytest.mark.parametrize(
    ("members", "moment"),
    [({"UseLatestRestorableTime": True}, START + 60), ({"RestoreDateTime": START}, START)],
)
def test_a_table_is_restored_from_a_living_one(members, moment):
    """OTH-7."""
    emu = recoverable()
    emu.clock.advance(60)
    answer = emu.call("RestoreTableToPointInTime", to_time(**members))["TableDescription"]
    assert answer["RestoreSummary"] == {
        "SourceTableArn": ARN,
        "RestoreDateTime": moment,
        "RestoreInProgress": True,
    }
    assert scan(emu) == [ITEM]


def test_a_source_is_named_by_its_arn():
    """OTH-7."""
    emu = recoverable()
    request = {"SourceTableArn": ARN, "TargetTableName": "new", "UseLatestRestorableTime": True}
    emu.call("RestoreTableToPointInTime", request)
    assert scan(emu) == [ITEM]


EITHER = (
    "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, "
    "but not both"
)
LATEST = {"UseLatestRestorableTime": True}
TO_TIME = {
    "no time": ({}, "ValidationException", EITHER),
    "two times": (LATEST | {"RestoreDateTime": START}, "ValidationException", EITHER),
    "two sources": (
        LATEST | {"SourceTableArn": ARN},
        "ValidationException",
        "Invalid Request: Either one of SourceTableName or SourceTableArn must be specified, "
        "but not both",
    ),
    "too early": (
        {"RestoreDateTime": START - 1},
        "InvalidRestoreTimeException",
        "Restore time is outside the recoverable window",
    ),
    "too late": (
        {"RestoreDateTime": START + 1},
        "InvalidRestoreTimeException",
        "Restore time is outside the recoverable window",
    ),
    "no table": (
        LATEST | {"SourceTableName": "none"},
        "TableNotFoundException",
        "Table not found: none",
    ),
    "exists": (
        LATEST | {"TargetTableName": "tab"},
        "TableAlreadyExistsException",
        "Table already exists: tab",
    ),
}


@pytest.mark.parametrize("case", TO_TIME)
def test_a_moment_that_cannot_be_restored_is_refused(case):
    """OTH-7, ERR-OTH-7."""
    members, code, message = TO_TIME[case]
    assert refusal(recoverable(), "RestoreTableToPointInTime", to_time(**members)) == (
        code,
        message,
    )


def test_recovery_must_be_on():
    """OTH-7."""
    emu, _ = source()
    assert refusal(emu, "RestoreTableToPointInTime", to_time(**LATEST)) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'tab'",
    )
