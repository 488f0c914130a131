"""RestoreTableFromBackup and RestoreTableToPointInTime."""

import pytest

from emulator import ApiError
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


def switch_recovery_on(emu, **members):
    spec = {"PointInTimeRecoveryEnabled": True, **members}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)


def recoverable():
    emu, _ = source()
    switch_recovery_on(emu)
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
    assert "RestoreSummary" not in found
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
    """OTH-6, CT-15: it says where it comes from until it is there."""
    emu = emulator(table_delay=10)
    emu.call("CreateTable", table())
    emu.clock.advance(10)
    arn = emu.call("CreateBackup", {"TableName": "tab", "BackupName": "one"})
    backup = arn["BackupDetails"]["BackupArn"]
    restore(emu, backup)
    assert described(emu, "new")["RestoreSummary"]["RestoreInProgress"] is True
    request = {"TargetTableName": "new", "BackupArn": backup}
    assert refusal(emu, "RestoreTableFromBackup", request) == (
        "TableInUseException",
        f"Table: new is already being restored from backup: {backup}",
    )
    emu.clock.advance(10)
    assert "RestoreSummary" not in described(emu, "new")


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
    assert "TableClassSummary" not in found
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
    restore(emu, arn, GlobalSecondaryIndexOverride=[GSI | {"IndexName": "renamed"}])
    names = [one["IndexName"] for one in described(emu, "new")["GlobalSecondaryIndexes"]]
    assert names == ["renamed"]


def test_what_belongs_to_the_source_alone_is_not_restored():
    """S3X-30: settings that somebody has to make again."""
    emu, _ = source(
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        Tags=[{"Key": "a", "Value": "b"}],
        OnDemandThroughput={"MaxReadRequestUnits": 100},
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    )
    ttl = {"Enabled": True, "AttributeName": "t"}
    emu.call("UpdateTimeToLive", {"TableName": "tab", "TimeToLiveSpecification": ttl})
    switch_recovery_on(emu)
    emu.call("RestoreTableToPointInTime", to_time(UseLatestRestorableTime=True))
    found = described(emu, "new")
    for member in ("TableClassSummary", "StreamSpecification", "LatestStreamArn"):
        assert member not in found
    assert found["DeletionProtectionEnabled"] is False
    assert found["OnDemandThroughput"] == {"MaxReadRequestUnits": 100}
    assert found["SSEDescription"]["KMSMasterKeyArn"].endswith("key/k")
    new = {"TableName": "new"}
    status = emu.call("DescribeTimeToLive", new)["TimeToLiveDescription"]["TimeToLiveStatus"]
    assert status == "DISABLED"
    recovery = emu.call("DescribeContinuousBackups", new)["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}
    assert emu.call("ListTagsOfResource", {"ResourceArn": found["TableArn"]}) == {"Tags": []}


NO_INDEX = (
    "Invalid Request: Index {} does not match a secondary index that existed in the source table "
    "and cannot be created during the restore operation"
)
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
        "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to "
        "PROVISIONED",
    ),
    "units on demand": (
        {"ProvisionedThroughputOverride": MORE},
        "ValidationException",
        "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
    ),
    "no index units": (
        {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": MORE},
        "ValidationException",
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    "another index": (
        {"GlobalSecondaryIndexOverride": [index("other", schema("g"), "KEYS_ONLY")]},
        "ValidationException",
        NO_INDEX.format("other"),
    ),
    "another key": (
        {"LocalSecondaryIndexOverride": [index("lsi", schema("pk", "sk"))]},
        "ValidationException",
        NO_INDEX.format("lsi"),
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
    """OTH-7, S3X-30: the latest moment lies five minutes ago."""
    emu = recoverable()
    emu.clock.advance(360)
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
OUTSIDE = (
    "RestoreDateTime '{}' must be within EarliestRestorableDateTime '2026-01-01T00:00:00Z' and "
    "LatestRestorableDateTime '2026-01-01T00:00:00Z'"
)
LATEST = {"UseLatestRestorableTime": True}
TO_TIME = {
    "no time": ({}, "ValidationException", EITHER),
    "two times": (
        LATEST | {"RestoreDateTime": START},
        "ValidationException",
        "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for "
        "point-in-time restore request. Please specify either RestoreDateTime time or "
        "UseLatestRestorableTime",
    ),
    "two sources": (
        LATEST | {"SourceTableArn": ARN},
        "ValidationException",
        "Invalid Request: Must provide exactly one of: sourceTableArn, sourceTableName",
    ),
    "no source": (
        LATEST | {"SourceTableName": None},
        "ValidationException",
        "The parameter 'TableName' is required but was not present in the request",
    ),
    "too early": (
        {"RestoreDateTime": START - 1},
        "InvalidRestoreTimeException",
        OUTSIDE.format("2025-12-31T23:59:59Z"),
    ),
    "too late": (
        {"RestoreDateTime": START + 1},
        "InvalidRestoreTimeException",
        OUTSIDE.format("2026-01-01T00:00:01Z"),
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


def at_second(emu, second):
    """Return the texts that ``tab`` had under its key at a second after the start."""
    name = f"at-{second}"
    request = to_time(TargetTableName=name, RestoreDateTime=START + second)
    emu.call("RestoreTableToPointInTime", request)
    items = emu.call("Scan", {"TableName": name})["Items"]
    return [item["text"]["S"] for item in items]


def written_at(*seconds, **settings):
    """Return an emulator whose one item was written at these seconds, and its text is the second.

    Recovery is on from the beginning, and everything can be restored.
    """
    emu = emulator(recovery_lag=0, **settings)
    emu.call("CreateTable", table())
    switch_recovery_on(emu)
    for second in seconds:
        emu.clock.advance(START + second - emu.clock.now())
        put(emu, pk="p", text=str(second))
    return emu


def test_a_restore_has_the_state_of_its_second():
    """S3X-30: writes of that very moment are part of it."""
    emu = written_at(10, 20, 30)
    emu.clock.advance(60)
    seen = {second: at_second(emu, second) for second in (0, 9, 10, 19, 20, 29, 30, 90)}
    assert seen == {0: [], 9: [], 10: ["10"], 19: ["10"], 20: ["20"], 29: ["20"]} | {
        30: ["30"],
        90: ["30"],
    }


def test_what_the_log_has_dropped_cannot_be_restored():
    """S3X-30: its bound is a setting, and the earliest moment tells what is left."""
    emu = written_at(10, 20, 30, recovery_log_bytes=2 * 2100)
    described = emu.call("DescribeContinuousBackups", {"TableName": "tab"})
    window = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert window["EarliestRestorableDateTime"] == START + 10
    assert at_second(emu, 10) == ["10"]
    request = to_time(RestoreDateTime=START + 9)
    assert refusal(emu, "RestoreTableToPointInTime", request)[0] == "InvalidRestoreTimeException"


def test_a_shorter_period_forgets_for_good():
    """S3X-30, OTH-9."""
    emu = written_at(10, 20)
    emu.clock.advance(3 * 24 * 3600)
    for days in (1, 35):
        switch_recovery_on(emu, RecoveryPeriodInDays=days)
    request = to_time(RestoreDateTime=START + 15)
    assert refusal(emu, "RestoreTableToPointInTime", request)[0] == "InvalidRestoreTimeException"


def test_recovery_that_was_off_begins_anew():
    """S3X-30."""
    emu = written_at(10)
    spec = {"PointInTimeRecoveryEnabled": False}
    emu.call(
        "UpdateContinuousBackups",
        {"TableName": "tab", "PointInTimeRecoverySpecification": spec},
    )
    emu.clock.advance(10)
    switch_recovery_on(emu)
    request = to_time(RestoreDateTime=START + 10)
    assert refusal(emu, "RestoreTableToPointInTime", request)[0] == "InvalidRestoreTimeException"
    assert at_second(emu, 20) == ["10"]


# From another region

ELSEWHERE = "eu-west-1"


def in_region(emu, operation, region=ELSEWHERE, **request):
    return emu.call(operation, request, region=region)


def test_a_backup_of_another_region_becomes_a_table_where_it_is_asked_for():
    """S3X-32: it takes nothing with it that belongs to its region."""
    emu, arn = source(SSESpecification={"Enabled": True, "SSEType": "KMS"})
    request = {"TargetTableName": "new", "BackupArn": arn}
    made = in_region(emu, "RestoreTableFromBackup", **request)["TableDescription"]
    assert made["TableArn"] == ARN.replace("us-east-1", ELSEWHERE)[:-3] + "new"
    assert made["RestoreSummary"]["SourceTableArn"] == ARN
    assert made["RestoreSummary"]["SourceBackupArn"] == arn
    assert in_region(emu, "Scan", TableName="new")["Items"] == [ITEM]
    assert in_region(emu, "Scan", TableName="new", IndexName="gsi")["Items"] == [ITEM]
    assert "SSEDescription" not in in_region(emu, "DescribeTable", TableName="new")["Table"]
    assert emu.call("ListTables", {}) == {"TableNames": ["tab"]}


def test_a_table_of_another_region_is_restored_to_a_point_in_time():
    """S3X-32: by its ARN, to its moments."""
    emu = recoverable()
    emu.clock.advance(600)
    put(emu, pk="later", sk="s")
    request = {"SourceTableArn": ARN, "TargetTableName": "new"}
    made = in_region(emu, "RestoreTableToPointInTime", **request, RestoreDateTime=START + 100)[
        "TableDescription"
    ]
    assert made["RestoreSummary"]["SourceTableArn"] == ARN
    assert in_region(emu, "Scan", TableName="new")["Items"] == [ITEM]
    made = in_region(
        emu,
        "RestoreTableToPointInTime",
        region="ap-south-1",
        **request,
        UseLatestRestorableTime=True,
    )
    outside = {**request, "TargetTableName": "other", "RestoreDateTime": START + 6000}
    with pytest.raises(ApiError, match="must be within") as caught:
        in_region(emu, "RestoreTableToPointInTime", **outside)
    assert caught.value.code == "InvalidRestoreTimeException"


ABSENT = {
    "a region without anything": (ARN.replace("us-east-1", "sa-east-1"), "TableNotFoundException"),
    "no table": (ARN + "le", "TableNotFoundException"),
    "another account": (ARN.replace("000000000000", "111111111111"), "TableNotFoundException"),
}


@pytest.mark.parametrize("case", ABSENT)
def test_what_is_not_in_another_region_is_not_found_and_leaves_nothing(case):
    """S3X-32."""
    arn, code = ABSENT[case]
    emu = recoverable()
    request = {"TargetTableName": "new", "SourceTableArn": arn, "UseLatestRestorableTime": True}
    for region in (ELSEWHERE, "sa-east-1"):
        with pytest.raises(ApiError) as caught:
            in_region(emu, "RestoreTableToPointInTime", region=region, **request)
        assert caught.value.code == code
    backup = f"{arn}/backup/01767225600000-00000000"
    with pytest.raises(ApiError) as caught:
        in_region(emu, "RestoreTableFromBackup", TargetTableName="new", BackupArn=backup)
    assert caught.value.code == "BackupNotFoundException"
    assert [str(view.namespace) for view in emu.namespaces()] == ["*/us-east-1"]


def test_a_region_in_an_outage_gives_nothing_away():
    """S3X-32."""
    emu, arn = source()
    emu.faults.add(kind="outage", regions="us-east-1", until=START + 60)
    request = {"TargetTableName": "new", "BackupArn": arn}
    with pytest.raises(ApiError, match="cannot be reached") as caught:
        in_region(emu, "RestoreTableFromBackup", **request)
    assert caught.value.code == "InternalServerError"
    emu.clock.advance(60)
    in_region(emu, "RestoreTableFromBackup", **request)


def test_backups_that_every_key_sees_are_found_by_each():
    """OTH-3 to OTH-6: as their tables are; an own one stays one's own."""
    emu, arn = source()
    for key in ("ann", "bob"):
        assert emu.call("DescribeBackup", {"BackupArn": arn}, access_key=key)
        listed = emu.call("ListBackups", {}, access_key=key)["BackupSummaries"]
        assert [backup["BackupArn"] for backup in listed] == [arn]
    request = {"TargetTableName": "new", "BackupArn": arn}
    emu.call("RestoreTableFromBackup", request, access_key="ann", region=ELSEWHERE)
    assert in_region(emu, "ListTables") == {"TableNames": []}
    own = {"TableName": "tab", "BackupName": "own"}
    emu.call("CreateBackup", own, access_key="ann")
    counts = [
        len(emu.call("ListBackups", {}, access_key=key)["BackupSummaries"])
        for key in (None, "ann", "bob")
    ]
    assert counts == [1, 2, 1]
    emu.call("DeleteBackup", {"BackupArn": arn}, access_key="ann")
    assert emu.call("ListBackups", {})["BackupSummaries"] == []
