"""Exports and imports."""

import re

import pytest

from tests.tables import (
    ARN,
    INVALID,
    described,
    emulator,
    index,
    put,
    refusal,
    schema,
    table,
)

START = 1_767_225_600.0
EXPORT = {"TableArn": ARN, "S3Bucket": "bucket"}
IMPORT = {
    "S3BucketSource": {"S3Bucket": "bucket"},
    "InputFormat": "CSV",
    "TableCreationParameters": table(),
}


def recoverable():
    emu = emulator()
    emu.call("CreateTable", table())
    put(emu, pk="a")
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    return emu


def export(emu, **members):
    answer = emu.call("ExportTableToPointInTime", EXPORT | members)
    return answer["ExportDescription"]


def import_table(emu, **members):
    return emu.call("ImportTable", IMPORT | members)["ImportTableDescription"]


def test_an_export_is_in_progress_and_then_complete():
    """OTH-10, OTH-11, TBL-2."""
    emu = recoverable()
    begun = export(emu, S3Prefix="into", ClientToken="once", Unknown="ignored")
    arn = begun["ExportArn"]
    assert re.fullmatch(re.escape(ARN) + "/export/[0-9]{14}-[0-9a-f]{8}", arn)
    common = {
        "ExportArn": arn,
        "StartTime": START,
        "ExportTime": START,
        "TableArn": ARN,
        "TableId": described(emu)["TableId"],
        "ClientToken": "once",
        "S3Bucket": "bucket",
        "S3Prefix": "into",
        "ExportFormat": "DYNAMODB_JSON",
        "ExportType": "FULL_EXPORT",
        "ItemCount": 1,
        "BilledSizeBytes": 3,
    }
    assert begun == common | {"ExportStatus": "IN_PROGRESS"}
    found = emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
    name = arn.rpartition("/")[2]
    assert found == common | {
        "ExportStatus": "COMPLETED",
        "EndTime": START,
        "ExportManifest": f"into/AWSDynamoDB/{name}/manifest-summary.json",
    }


def test_a_token_returns_the_first_export():
    """OTH-10."""
    emu = recoverable()
    assert export(emu, ClientToken="once") == export(emu, ClientToken="once")
    assert len(emu.call("ListExports", {})["ExportSummaries"]) == 1
    request = EXPORT | {"ClientToken": "once", "S3Bucket": "other"}
    code, _ = refusal(emu, "ExportTableToPointInTime", request)
    assert code == "ExportConflictException"


def test_exports_are_listed_page_by_page():
    """OTH-11."""
    emu = recoverable()
    arns = [export(emu)["ExportArn"] for _ in range(3)]
    seen, request = [], {"TableArn": ARN, "MaxResults": 2}
    while True:
        page = emu.call("ListExports", request)
        seen += page["ExportSummaries"]
        if "NextToken" not in page:
            break
        request["NextToken"] = page["NextToken"]
    assert seen == [
        {"ExportArn": arn, "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"} for arn in arns
    ]
    assert emu.call("ListExports", {"TableArn": ARN + "x"}) == {"ExportSummaries": []}


UNKNOWN = f"{ARN}/export/01767225600000-aaaaaaaa"
BY_EXPORT = {
    "no table": (
        {"TableArn": ARN + "x"},
        "TableNotFoundException",
        f"Table not found: {ARN}x",
    ),
    "too early": (
        {"ExportTime": START - 1},
        "InvalidExportTimeException",
        "Export time is outside the recoverable window",
    ),
    "no bucket": (
        {"S3Bucket": None},
        "ValidationException",
        "1 validation error detected: Value null at 's3Bucket' failed to satisfy constraint: "
        "Member must not be null",
    ),
}


@pytest.mark.parametrize("case", BY_EXPORT)
def test_an_export_that_cannot_be_is_refused(case):
    """OTH-10."""
    members, code, message = BY_EXPORT[case]
    assert refusal(recoverable(), "ExportTableToPointInTime", EXPORT | members) == (code, message)


def test_recovery_must_be_on():
    """OTH-10, OTH-7."""
    emu = emulator()
    emu.call("CreateTable", table())
    assert refusal(emu, "ExportTableToPointInTime", EXPORT) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'tab'",
    )


def test_an_unknown_export_or_import_is_named():
    """OTH-11, OTH-12."""
    emu = emulator()
    assert refusal(emu, "DescribeExport", {"ExportArn": UNKNOWN}) == (
        "ExportNotFoundException",
        f"Export not found: {UNKNOWN}",
    )
    assert refusal(emu, "DescribeImport", {"ImportArn": UNKNOWN}) == (
        "ImportNotFoundException",
        f"Import not found: {UNKNOWN}",
    )


def test_an_import_makes_its_table():
    """OTH-12, MAK-64: there is nothing to read, so it is empty."""
    emu = emulator()
    parameters = table(
        names="pk a b",
        GlobalSecondaryIndexes=[index("gsi", schema("a b"))],
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    )
    begun = import_table(emu, TableCreationParameters=parameters)
    found = described(emu)
    common = {
        **IMPORT,
        "TableCreationParameters": parameters,
        "ImportArn": begun["ImportArn"],
        "TableArn": ARN,
        "TableId": found["TableId"],
        "ClientToken": begun["ClientToken"],
        "InputCompressionType": "NONE",
        "StartTime": START,
    }
    assert begun == common | {"ImportStatus": "IN_PROGRESS"}
    assert found["GlobalSecondaryIndexes"][0]["KeySchema"] == schema("a b")
    assert found["SSEDescription"]["KMSMasterKeyArn"].endswith("key/k")
    told = emu.call("DescribeImport", {"ImportArn": begun["ImportArn"]})["ImportTableDescription"]
    assert told == common | {
        "ImportStatus": "COMPLETED",
        "EndTime": START,
        "ErrorCount": 0,
        "ProcessedSizeBytes": 0,
        "ProcessedItemCount": 0,
        "ImportedItemCount": 0,
    }


def test_a_token_returns_the_first_import():
    """OTH-12."""
    emu = emulator()
    assert import_table(emu, ClientToken="once") == import_table(emu, ClientToken="once")
    request = IMPORT | {"ClientToken": "once", "InputFormat": "ION"}
    assert refusal(emu, "ImportTable", request)[0] == "ImportConflictException"


def test_imports_are_listed_page_by_page():
    """OTH-12: tokens are as the service model has them."""
    emu = emulator()
    names = [f"table{n}" for n in range(3)]
    for name in names:
        import_table(emu, TableCreationParameters=table(TableName=name))
    seen, request = [], {"PageSize": 1}
    while True:
        page = emu.call("ListImports", request)
        seen += page["ImportSummaryList"]
        if "NextToken" not in page:
            break
        assert re.fullmatch("([0-9a-f]{16})+", page["NextToken"])
        assert 112 <= len(page["NextToken"]) <= 1024
        request["NextToken"] = page["NextToken"]
    assert [one["TableArn"].rpartition("/")[2] for one in seen] == names
    assert seen[0] == {
        "ImportArn": seen[0]["ImportArn"],
        "ImportStatus": "COMPLETED",
        "TableArn": ARN.removesuffix("tab") + "table0",
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "CSV",
        "StartTime": START,
        "EndTime": START,
    }


def test_an_import_obeys_the_rules_of_tables():
    """OTH-12, CT-3, CT-14."""
    emu = emulator()
    import_table(emu)
    assert refusal(emu, "ImportTable", IMPORT) == (
        "ResourceInUseException",
        "Table already exists: tab",
    )
    request = IMPORT | {"TableCreationParameters": table(names="pk other")}
    assert refusal(emu, "ImportTable", request) == (
        "ValidationException",
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
        "defined in AttributeDefinitions",
    )


def test_what_is_told_is_nobody_s_to_change():
    """A caller that changes its request, or an answer, changes nothing here."""
    emu = emulator()
    source = {"S3Bucket": "bucket"}
    begun = import_table(emu, S3BucketSource=source)
    source["S3Bucket"] = "changed"
    begun["S3BucketSource"]["S3Bucket"] = "changed"
    told = emu.call("DescribeImport", {"ImportArn": begun["ImportArn"]})["ImportTableDescription"]
    assert told["S3BucketSource"] == {"S3Bucket": "bucket"}
