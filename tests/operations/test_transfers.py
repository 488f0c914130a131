"""What exports and imports have in common: tokens, ARNs and lists."""

import re

import pytest

from tests.objects.memory_s3 import MemoryS3
from tests.tables import ARN, emulator, refusal, table

HOUR = 3600
CONFLICT = " conflict: Duplicate request detected with conflicting parameters"


@pytest.fixture
def emu():
    """Return an emulator with a bucket, and a table whose recovery is on."""
    emu = emulator(s3=MemoryS3("bucket"), transfer_seconds=60)
    emu.call("CreateTable", table())
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    return emu


def export(emu, **members):
    request = {"TableArn": ARN, "S3Bucket": "bucket", **members}
    return emu.call("ExportTableToPointInTime", request)["ExportDescription"]["ExportArn"]


def import_request(name="new", **members):
    return {
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "CSV",
        "TableCreationParameters": table(TableName=name),
        **members,
    }


def import_table(emu, *arguments, **members):
    answer = emu.call("ImportTable", import_request(*arguments, **members))
    return answer["ImportTableDescription"]["ImportArn"]


# Tokens


def test_a_token_returns_the_export_that_it_has_begun(emu):
    """S3X-3: whatever else changes is a conflict, also when the first has failed."""
    first = export(emu, ClientToken="once", S3Bucket="missing")
    emu.clock.advance(HOUR)
    assert export(emu, ClientToken="once", S3Bucket="missing") == first
    request = {"TableArn": ARN, "S3Bucket": "bucket", "ClientToken": "once"}
    assert refusal(emu, "ExportTableToPointInTime", request) == (
        "ExportConflictException",
        "Export" + CONFLICT,
    )
    assert len(emu.call("ListExports", {})["ExportSummaries"]) == 1


def test_a_token_is_forgotten_after_eight_hours(emu):
    """S3X-3: counted from the end."""
    first = export(emu, ClientToken="once")
    emu.clock.advance(8 * HOUR + 59)
    assert export(emu, ClientToken="once") == first
    emu.clock.advance(1)
    assert export(emu, ClientToken="once") != first


def test_a_refused_request_does_not_use_up_its_token(emu):
    """S3X-3."""
    request = {"TableArn": ARN, "S3Bucket": "bucket", "ClientToken": "once", "ExportTime": 1}
    assert refusal(emu, "ExportTableToPointInTime", request)[0] == "InvalidExportTimeException"
    export(emu, ClientToken="once")


def test_without_a_token_every_request_is_new(emu):
    """S3X-3: a token is made up for each."""
    arns = [export(emu) for _ in range(2)]
    told = [emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"] for arn in arns]
    assert len({one["ClientToken"] for one in told}) == 2


def test_a_token_returns_the_import_that_it_has_begun(emu):
    """S3X-20: only another table is a conflict; the rest of the request is not looked at."""
    first = import_table(emu, ClientToken="once")
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "other"}
    assert import_table(emu, ClientToken="once", S3BucketSource=source) == first
    request = import_request("another", ClientToken="once")
    assert refusal(emu, "ImportTable", request) == (
        "ImportConflictException",
        "Import" + CONFLICT,
    )


def test_exports_and_imports_have_tokens_of_their_own(emu):
    """S3X-3."""
    export(emu, ClientToken="once")
    import_table(emu, ClientToken="once")


# Names


@pytest.mark.parametrize("kind", ["Export", "Import"])
def test_an_arn_is_checked_before_it_is_looked_up(emu, kind):
    """S3X-5, OTH-11, OTH-12."""
    unknown = f"{ARN}/{kind.lower()}/01767225600000-aaaaaaaa"
    cases = {
        ARN + "x" * 37: ("ValidationException", f"Invalid {kind} ARN"),
        "x" * 40: ("ValidationException", f"Invalid {kind} ARN"),
        unknown.replace("000000000000", "111111111111"): (
            "AccessDeniedException",
            "Access is denied",
        ),
        unknown.replace("us-east-1", "us-west-2"): (
            f"{kind}NotFoundException",
            f"{kind} not found: Invalid {kind.lower()} arn",
        ),
        unknown: (f"{kind}NotFoundException", f"{kind} not found: {kind} not found: {unknown}"),
    }
    for arn, fault in cases.items():
        assert refusal(emu, f"Describe{kind}", {f"{kind}Arn": arn}) == fault


# Lists


def pages(emu, operation, member, **request):
    """Return the pages of a list."""
    found = []
    while True:
        page = emu.call(operation, request)
        found.append(page[member])
        if "NextToken" not in page:
            return found
        request["NextToken"] = page["NextToken"]


def test_exports_are_listed_page_by_page_the_newest_first(emu):
    """S3X-5, OTH-11."""
    arns = []
    for _ in range(12):
        arns.append(export(emu))
        emu.clock.advance(10)
    arns.reverse()
    listed = pages(emu, "ListExports", "ExportSummaries")
    assert [len(page) for page in listed] == [10, 2]
    assert [one["ExportArn"] for page in listed for one in page] == arns
    states = [one["ExportStatus"] for page in listed for one in page]
    assert states == ["IN_PROGRESS"] * 5 + ["COMPLETED"] * 7
    of_table = pages(emu, "ListExports", "ExportSummaries", TableArn=ARN, MaxResults=5)
    assert [one["ExportArn"] for page in of_table for one in page] == arns
    assert pages(emu, "ListExports", "ExportSummaries", TableArn=ARN + "x") == [[]]


def test_imports_are_listed_with_their_tables_or_without(emu):
    """OTH-12: tokens are as the service model has them."""
    arns = [import_table(emu, f"table{number}") for number in range(3)]
    emu.clock.advance(60)
    emu.call("DeleteTable", {"TableName": "table0"})
    listed = pages(emu, "ListImports", "ImportSummaryList", PageSize=1)
    assert sorted(page[0]["ImportArn"] for page in listed) == sorted(arns)
    token = emu.call("ListImports", {"PageSize": 1})["NextToken"]
    assert re.fullmatch("([0-9a-f]{16})+", token)
    assert 112 <= len(token) <= 1024
    (summary,) = emu.call("ListImports", {"TableArn": ARN[:-3] + "table0"})["ImportSummaryList"]
    assert summary == {
        "ImportArn": arns[0],
        "ImportStatus": "COMPLETED",
        "TableArn": ARN[:-3] + "table0",
        "S3BucketSource": {"S3BucketOwner": "000000000000", "S3Bucket": "bucket"},
        "CloudWatchLogGroupArn": (
            "arn:aws:logs:us-east-1:000000000000:log-group:/aws-dynamodb/imports:*"
        ),
        "InputFormat": "CSV",
        "StartTime": 1_767_225_600.0,
        "EndTime": 1_767_225_660.0,
    }


def test_transfers_are_listed_for_ninety_days(emu):
    """S3X-5."""
    arn = export(emu)
    emu.clock.advance(90 * 24 * HOUR)
    assert emu.call("ListExports", {}) == {"ExportSummaries": []}
    emu.call("DescribeExport", {"ExportArn": arn})


def test_a_token_of_another_list_is_refused(emu):
    """S3X-5."""
    for _ in range(2):
        export(emu)
    token = emu.call("ListExports", {"MaxResults": 1})["NextToken"]
    assert refusal(emu, "ListImports", {"NextToken": token}) == (
        "ValidationException",
        f"Invalid Request: Provided nextToken is invalid: {token}",
    )
    assert refusal(emu, "ListExports", {"NextToken": "none"})[0] == "ValidationException"
