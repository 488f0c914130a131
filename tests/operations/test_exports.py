"""ExportTableToPointInTime, DescribeExport and ListExports."""

import base64
import gzip
import hashlib
import json
import re

import pytest

from tests.objects.memory_s3 import MemoryS3
from tests.tables import ARN, described, emulator, put, refusal, table

START = 1_767_225_600.0
EXPORT = {"TableArn": ARN, "S3Bucket": "bucket"}
HOUR = 3600


@pytest.fixture
def bucket(tmp_path):
    """Return the folder of the one bucket that there is."""
    (tmp_path / "bucket").mkdir()
    return tmp_path / "bucket"


def recoverable(bucket, **settings):
    """Return an emulator with a table of one item, whose recovery is on."""
    emu = emulator(s3=bucket.parent, **settings)
    emu.call("CreateTable", table("pk", "sk"))
    put(emu, pk="a", sk="1")
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    return emu


def export(emu, **members):
    answer = emu.call("ExportTableToPointInTime", EXPORT | members)
    return answer["ExportDescription"]


def ended(emu, **members):
    """Return an export as it is described when it has ended."""
    request = {"ExportArn": export(emu, **members)["ExportArn"]}
    return emu.call("DescribeExport", request)["ExportDescription"]


def incremental(emu, since, until=None, **members):
    period = {"ExportFromTime": START + since, **members}
    if until is not None:
        period["ExportToTime"] = START + until
    return ended(emu, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period)


def records(bucket, told):
    """Return all records of an export, checked against its manifests and their checksums."""
    summary_file = bucket / told["ExportManifest"]
    summary = json.loads(summary_file.read_bytes())
    files = bucket / summary["manifestFilesS3Key"]
    for manifest in (summary_file, files):
        assert manifest.with_suffix(".md5").read_bytes() == md5(manifest.read_bytes())
    found = []
    for line in map(json.loads, files.read_text().splitlines()):
        packed = (bucket / line["dataFileS3Key"]).read_bytes()
        assert line["md5Checksum"].encode() == md5(packed)
        assert re.fullmatch("[0-9a-f]{32}-1", line["etag"])
        lines = [json.loads(one) for one in gzip.decompress(packed).splitlines()]
        assert len(lines) == line["itemCount"]
        found += lines
    assert summary["itemCount"] == told["ItemCount"] == len(found)
    return found


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest())


# The job


def test_an_export_is_in_progress_and_then_complete(bucket):
    """S3X-4, S3X-6, OTH-10, OTH-11, TBL-2."""
    emu = recoverable(bucket, transfer_seconds=60)
    begun = export(emu, S3Prefix="into", ClientToken="once")
    arn = begun["ExportArn"]
    assert re.fullmatch(re.escape(ARN) + "/export/0[0-9]{13}-[0-9a-f]{8}", arn)
    assert begun == {
        "ExportArn": arn,
        "ExportStatus": "IN_PROGRESS",
        "StartTime": START,
        "ExportTime": START,
        "TableArn": ARN,
        "TableId": described(emu)["TableId"],
        "ClientToken": "once",
        "S3Bucket": "bucket",
        "S3Prefix": "into",
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
    }
    emu.clock.advance(59)
    assert emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"] == begun
    emu.clock.advance(1)
    assert emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"] == begun | {
        "ExportStatus": "COMPLETED",
        "EndTime": START + 60,
        "ExportManifest": f"into/AWSDynamoDB/{arn.rpartition('/')[2]}/manifest-summary.json",
        "ItemCount": 1,
        "BilledSizeBytes": 6,
    }


def test_an_export_has_the_files_of_the_service(bucket):
    """S3X-6, S3X-7: at least one data file for each partition, empty ones too."""
    emu = recoverable(bucket)
    told = ended(emu)
    name = told["ExportArn"].rpartition("/")[2]
    folder = bucket / "AWSDynamoDB" / name
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    data = {file for file in files if file.startswith("data/")}
    manifests = {"manifest-summary.json", "manifest-files.json"}
    checksums = {"manifest-summary.md5", "manifest-files.md5"}
    assert files - data == {"_started", *manifests, *checksums}
    assert len(data) == len(emu.partitions("tab"))
    assert all(re.fullmatch("data/[a-z0-9]{26}\\.json\\.gz", file) for file in data)
    assert (folder / "_started").read_bytes() == b""
    assert json.loads((folder / "manifest-summary.json").read_bytes()) == {
        "version": "2020-06-30",
        "exportArn": told["ExportArn"],
        "startTime": "2026-01-01T00:00:00.000Z",
        "endTime": "2026-01-01T00:00:00.000Z",
        "tableArn": ARN,
        "tableId": told["TableId"],
        "exportTime": "2026-01-01T00:00:00.000Z",
        "s3Bucket": "bucket",
        "s3Prefix": None,
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"AWSDynamoDB/{name}/manifest-files.json",
        "billedSizeBytes": 6,
        "itemCount": 1,
        "outputFormat": "DYNAMODB_JSON",
    }
    assert records(bucket, told) == [{"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}}}]


def test_a_prefix_may_end_in_a_slash(bucket):
    """S3X-6."""
    told = ended(recoverable(bucket), S3Prefix="daily/")
    assert told["S3Prefix"] == "daily/"
    assert told["ExportManifest"].startswith("daily/AWSDynamoDB/")


def test_an_export_costs_no_units(bucket):
    """S3X-10."""
    emu = recoverable(bucket)
    export(emu)
    assert emu.last_receipts == []


def test_an_export_is_of_its_moment(bucket):
    """S3X-10, S3X-30: and by default of now."""
    emu = recoverable(bucket, recovery_lag=0)
    emu.clock.advance(10)
    put(emu, pk="b", sk="1")
    emu.clock.advance(10)
    told = ended(emu, ExportTime=START + 9)
    assert told["ExportTime"] == START + 9
    assert [one["Item"]["pk"]["S"] for one in records(bucket, told)] == ["a"]
    assert len(records(bucket, ended(emu, ExportTime=START + 10))) == 2
    assert len(records(bucket, ended(emu))) == 2


def test_an_export_outlives_its_table(bucket):
    """S3X-4, S3X-5: but it is no longer listed under a table that is gone."""
    emu = recoverable(bucket)
    arn = export(emu)["ExportArn"]
    assert len(emu.call("ListExports", {"TableArn": ARN})["ExportSummaries"]) == 1
    emu.call("DeleteTable", {"TableName": "tab"})
    assert emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]["TableArn"] == ARN
    assert len(emu.call("ListExports", {})["ExportSummaries"]) == 1
    for _ in range(2):
        assert emu.call("ListExports", {"TableArn": ARN})["ExportSummaries"] == []
        if not emu.call("ListTables", {})["TableNames"]:
            emu.call("CreateTable", table("pk", "sk"))


FAILED = {
    "no bucket": ({"S3Bucket": "other"}, "S3NoSuchBucket", "The specified bucket does not exist"),
    "no file": ({"S3Prefix": "a/../b"}, "S3InternalError", "cannot be a file below the folder"),
    "Ion": ({"ExportFormat": "ION"}, "UnsupportedFormat", "none in ION"),
}


@pytest.mark.parametrize("case", FAILED)
def test_a_job_that_cannot_be_done_fails_and_says_why(bucket, case):
    """S3X-1: the call that began it did not."""
    members, code, message = FAILED[case]
    told = ended(recoverable(bucket), **members)
    assert (told["ExportStatus"], told["FailureCode"]) == ("FAILED", code)
    assert message in told["FailureMessage"]
    assert "ExportManifest" not in told
    assert [path for path in bucket.rglob("*") if path.is_file()] == []


def test_without_a_store_nothing_is_pretended():
    """S3X-1: one sentence says what to do."""
    emu = emulator()
    emu.call("CreateTable", table())
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    code, message = refusal(emu, "ExportTableToPointInTime", EXPORT)
    assert code == "ValidationException"
    assert "Settings(s3=FOLDER)" in message
    assert emu.call("ListExports", {}) == {"ExportSummaries": []}


# Increments


def test_an_incremental_export_has_old_and_new_images(bucket):
    """S3X-7, S3X-8: one record for each item, with its last state."""
    emu = recoverable(bucket)
    put(emu, pk="gone", sk="1")
    emu.clock.advance(HOUR)
    put(emu, pk="a", sk="1", n="between")
    put(emu, pk="a", sk="1", n="last")
    put(emu, pk="new", sk="1")
    put(emu, pk="brief", sk="1")
    for name in ("gone", "brief"):
        key = {"pk": {"S": name}, "sk": {"S": "1"}}
        emu.call("DeleteItem", {"TableName": "tab", "Key": key})
    emu.clock.advance(HOUR)
    told = incremental(emu, 60)
    found = {one["Keys"]["pk"]["S"]: one for one in records(bucket, told)}
    metadata = {"WriteTimestampMicros": {"N": str(int(START + HOUR) * 1_000_000)}}

    def images(name, **others):
        key = {"pk": {"S": name}, "sk": {"S": "1"}}
        return {"Metadata": metadata, "Keys": key} | {
            image: key | attributes for image, attributes in others.items()
        }

    assert found == {
        "a": images("a", OldImage={}, NewImage={"n": {"S": "last"}}),
        "gone": images("gone", OldImage={}),
        "new": images("new", NewImage={}),
    }
    summary = json.loads((bucket / told["ExportManifest"]).read_bytes())
    assert summary["version"] == "2023-08-01"
    assert "exportTime" not in summary
    assert summary["exportFromTime"] == "2026-01-01T00:01:00.000Z"
    assert summary["exportToTime"] == "2026-01-01T02:00:00.000Z"
    assert (summary["outputView"], summary["exportType"]) == (
        "NEW_AND_OLD_IMAGES",
        "INCREMENTAL_EXPORT",
    )
    assert len(list((bucket / "AWSDynamoDB" / "data").iterdir())) == len(emu.partitions("tab"))


def test_an_incremental_export_says_what_was_left_out_of_the_request(bucket):
    """S3X-8: it is billed for ten megabytes at least."""
    emu = recoverable(bucket)
    emu.clock.advance(HOUR)
    told = incremental(emu, 60)
    assert told["IncrementalExportSpecification"] == {
        "ExportFromTime": START + 60,
        "ExportToTime": START + HOUR,
        "ExportViewType": "NEW_AND_OLD_IMAGES",
    }
    assert "ExportTime" not in told
    assert (told["ItemCount"], told["BilledSizeBytes"]) == (0, 10_000_000)


def test_new_images_alone(bucket):
    """S3X-8."""
    emu = recoverable(bucket)
    emu.clock.advance(HOUR)
    put(emu, pk="a", sk="1", n="new")
    emu.clock.advance(HOUR)
    (found,) = records(bucket, incremental(emu, 60, ExportViewType="NEW_IMAGE"))
    assert set(found) == {"Metadata", "Keys", "NewImage"}


def test_a_period_begins_inclusive_and_ends_exclusive(bucket):
    """S3X-8."""
    emu = recoverable(bucket)
    for name in ("first", "second"):
        emu.clock.advance(HOUR)
        put(emu, pk=name, sk="1")
    emu.clock.advance(HOUR)
    found = records(bucket, incremental(emu, HOUR, 2 * HOUR))
    assert [one["Keys"]["pk"]["S"] for one in found] == ["first"]


def period(since, until=None):
    spec = {"ExportFromTime": START + since}
    if until is not None:
        spec["ExportToTime"] = START + until
    return {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": spec}


DIFFERENCE = "Difference between export period from time and export period to time is "
FROM_TIME = "Incremental export period from time cannot be less than the table creation time : "
PERIODS = {
    "before the table": (period(-1, HOUR), FROM_TIME + "2025-12-31T23:59:59Z"),
    "future": (
        period(0, 48 * HOUR + 1),
        "Incremental export period to time cannot be greater than the current time : "
        "2026-01-03T00:00:01Z",
    ),
    "short": (period(HOUR, HOUR + 899), DIFFERENCE + "less than 15 minutes"),
    "backwards": (period(2 * HOUR, HOUR), DIFFERENCE + "less than 15 minutes"),
    "long": (period(1, 24 * HOUR + 2), DIFFERENCE + "greater than 24 hours"),
    "full export ahead": (
        {"ExportTime": START + 48 * HOUR - 1},
        "Point in Time Recovery is not available for specified export time",
    ),
    "full export too early": ({"ExportTime": START - 1}, "Export Time is invalid"),
    "full export in the future": ({"ExportTime": START + 48 * HOUR + 5}, "Export Time is invalid"),
}


@pytest.mark.parametrize("case", PERIODS)
def test_a_time_that_is_not_known_is_refused(bucket, case):
    """S3X-8, S3X-10."""
    members, message = PERIODS[case]
    emu = recoverable(bucket)
    emu.clock.advance(48 * HOUR)
    assert refusal(emu, "ExportTableToPointInTime", EXPORT | members) == (
        "InvalidExportTimeException",
        message,
    )


def test_a_period_before_recovery_was_on_is_not_known(bucket):
    """S3X-8."""
    emu = emulator(s3=bucket.parent)
    emu.call("CreateTable", table())
    emu.clock.advance(HOUR)
    assert refusal(emu, "ExportTableToPointInTime", EXPORT | period(0))[0] == (
        "PointInTimeRecoveryUnavailableException"
    )
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    emu.clock.advance(HOUR)
    assert refusal(emu, "ExportTableToPointInTime", EXPORT | period(HOUR - 1))[1] == (
        "Point in Time Recovery is not available for specified export time"
    )
    assert incremental(emu, HOUR)["ExportStatus"] == "COMPLETED"


# Filters


def filtered(bucket):
    emu = recoverable(bucket)
    for number in range(4):
        put(emu, pk="b", sk=str(number), kind="odd" if number % 2 else "even", more="text")
    return emu


def chosen(bucket, emu, **specification):
    told = ended(emu, FilterSpecification=specification)
    assert told["FilterSpecification"] == specification
    items = [one["Item"] for one in records(bucket, told)]
    return [{name: value["S"] for name, value in item.items()} for item in items], told


VALUES = {":b": {"S": "b"}, ":1": {"S": "1"}}


def test_a_filter_chooses_items_and_attributes(bucket):
    """S3X-9."""
    emu = filtered(bucket)
    found, told = chosen(
        bucket,
        emu,
        KeyConditionExpression="pk = :b AND sk >= :1",
        FilterExpression="#k = :odd",
        ProjectionExpression="sk, #k",
        ExpressionAttributeNames={"#k": "kind"},
        ExpressionAttributeValues=VALUES | {":odd": {"S": "odd"}},
    )
    assert found == [{"sk": "1", "kind": "odd"}, {"sk": "3", "kind": "odd"}]
    assert told["BilledSizeBytes"] == described(emu)["TableSizeBytes"] - 6


def test_without_a_key_condition_a_filter_may_name_keys(bucket):
    """S3X-9."""
    values = {":1": {"S": "1"}}
    found, _ = chosen(
        bucket,
        filtered(bucket),
        FilterExpression="sk = :1",
        ProjectionExpression="pk",
        ExpressionAttributeValues=values,
    )
    assert sorted(item["pk"] for item in found) == ["a", "b"]


def test_increments_are_judged_by_their_new_image(bucket):
    """S3X-9: and what was deleted by its old one."""
    emu = filtered(bucket)
    emu.clock.advance(HOUR)
    put(emu, pk="b", sk="0", kind="odd")
    put(emu, pk="b", sk="1", kind="even")
    for sort in ("2", "3"):
        key = {"pk": {"S": "b"}, "sk": {"S": sort}}
        emu.call("DeleteItem", {"TableName": "tab", "Key": key})
    emu.clock.advance(HOUR)
    told = ended(
        emu,
        **period(60),
        FilterSpecification={
            "FilterExpression": "kind = :odd",
            "ExpressionAttributeValues": {":odd": {"S": "odd"}},
        },
    )
    assert sorted(one["Keys"]["sk"]["S"] for one in records(bucket, told)) == ["0", "3"]


BAD_FILTERS = {
    "empty": (
        {},
        "Invalid Request: Invalid FilterSpecification: The specification can not be empty",
    ),
    "key in filter": (
        {
            "KeyConditionExpression": "pk = :b",
            "FilterExpression": "sk = :1",
            "ExpressionAttributeValues": VALUES,
        },
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
    ),
    "no equality": (
        {
            "KeyConditionExpression": "pk > :b",
            "ExpressionAttributeValues": {":b": {"S": "b"}},
        },
        "Query key condition not supported",
    ),
    "unused": (
        {
            "FilterExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":b": {"S": "b"}},
        },
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}",
    ),
}


@pytest.mark.parametrize("case", BAD_FILTERS)
def test_a_filter_that_cannot_be_is_refused(bucket, case):
    """S3X-9: at once, in the words of a Query."""
    specification, message = BAD_FILTERS[case]
    request = EXPORT | {"FilterSpecification": specification}
    assert refusal(filtered(bucket), "ExportTableToPointInTime", request) == (
        "ValidationException",
        message,
    )


# Requests


OTHER = "arn:aws:dynamodb:us-east-1:111111111111:table/tab"
SPEC = {"IncrementalExportSpecification": {"ExportFromTime": START}}
NO_FROM = "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"
NO_KMS = "Invalid Request: KMS Key Id is not supported for this encryption type"
REFUSED = {
    "no table": ({"TableArn": ARN + "x"}, "TableNotFoundException", f"Table not found: {ARN}x"),
    "a name": (
        {"TableArn": "tab"},
        "ValidationException",
        "One or more parameter values were invalid: tableArn is not a valid ARN",
    ),
    "an index": (
        {"TableArn": f"{ARN}/index/a"},
        "ValidationException",
        "Invalid Request: Table ARN is invalid.",
    ),
    "other account": ({"TableArn": OTHER}, "AccessDeniedException", "Access is denied"),
    "no bucket": (
        {"S3Bucket": None},
        "ValidationException",
        "1 validation error detected: Value null at 's3Bucket' failed to satisfy constraint: "
        "Member must not be null",
    ),
    "key without KMS": ({"S3SseKmsKeyId": "k"}, "ValidationException", NO_KMS),
    "key for AES": (
        {"S3SseKmsKeyId": "k", "S3SseAlgorithm": "AES256"},
        "ValidationException",
        NO_KMS,
    ),
    "specification alone": (
        SPEC,
        "ValidationException",
        "Invalid Request: Export Type expected to be Incremental Export when incremental export "
        "specification is provided",
    ),
    "specification of a full one": (
        SPEC | {"ExportType": "FULL_EXPORT"},
        "ValidationException",
        "Invalid Request: When Export Type is Full Export , Incremental Export Specification "
        "should not be provided",
    ),
    "no specification": (
        {"ExportType": "INCREMENTAL_EXPORT"},
        "ValidationException",
        "Invalid Request: Incremental Export Specification expected when export type is set as "
        "Incremental Export",
    ),
    "no beginning": (
        {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": {}},
        "ValidationException",
        NO_FROM,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_export_that_cannot_be_is_refused(bucket, case):
    """S3X-2, S3X-8."""
    members, code, message = REFUSED[case]
    request = EXPORT | members
    assert refusal(recoverable(bucket), "ExportTableToPointInTime", request) == (code, message)


def test_recovery_must_be_on(bucket):
    """S3X-2, OTH-7: whatever the bucket."""
    emu = emulator(s3=bucket.parent)
    emu.call("CreateTable", table())
    request = EXPORT | {"S3Bucket": "other"}
    assert refusal(emu, "ExportTableToPointInTime", request) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'tab'",
    )


def test_a_type_that_was_not_sent_is_only_in_the_list(bucket):
    """S3X-4."""
    emu = recoverable(bucket)
    assert "ExportType" not in ended(emu)
    assert ended(emu, ExportType="FULL_EXPORT")["ExportType"] == "FULL_EXPORT"
    listed = emu.call("ListExports", {})["ExportSummaries"]
    assert [one["ExportType"] for one in listed] == ["FULL_EXPORT"] * 2


def test_any_client_with_three_methods_is_a_store():
    """S3X-1: such as boto3's, with moto behind it; it is asked for when it is needed."""
    s3 = MemoryS3("bucket")
    emu = emulator(s3=lambda: s3)
    emu.call("CreateTable", table())
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    assert ended(emu)["ExportManifest"] in s3.buckets["bucket"]
    assert ended(emu, S3Bucket="other")["FailureCode"] == "S3NoSuchBucket"
