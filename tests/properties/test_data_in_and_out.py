"""Exports and imports: what goes out comes in again.

The table that an export's files make is the one that was exported (S3X-6, S3X-20), and a full
export with the increments after it gives the later state (S3X-8).
"""

import gzip
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator import Emulator, ManualClock, Settings
from emulator.strategies import create_request, items
from tests.objects.memory_s3 import MemoryS3
from tests.tables import ARN

SCHEMA = create_request(
    "tab", "pk", "sk:N", indexes={"by-kind": ("kind", "sk:N"), "by-bytes": "raw:B"}
)
FEW_KEYS = {"pk": st.sampled_from("abc"), "sk": st.integers(0, 2)}
HOUR = 3600


def recoverable(s3):
    emu = Emulator(clock=ManualClock(), settings=Settings(s3=s3, recovery_lag=0))
    emu.call("CreateTable", SCHEMA)
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    return emu


def export(emu, **members):
    """Return the id and the description of a completed export."""
    request = {"TableArn": ARN, "S3Bucket": "bucket", **members}
    arn = emu.call("ExportTableToPointInTime", request)["ExportDescription"]["ExportArn"]
    told = emu.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
    assert told["ExportStatus"] == "COMPLETED"
    return arn.rpartition("/")[2], told


def contents(emu, name, index=None):
    request = {"TableName": name} | ({} if index is None else {"IndexName": index})
    return sorted(json.dumps(item, sort_keys=True) for item in emu.call("Scan", request)["Items"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(written=st.lists(items(SCHEMA), max_size=6))
def test_an_export_that_is_imported_gives_an_equal_table(written):
    emu = recoverable(MemoryS3("bucket"))
    for item in written:
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    export_id, _ = export(emu, S3Prefix="into")
    source = {
        "S3Bucket": "bucket",
        "S3KeyPrefix": f"into/AWSDynamoDB/{export_id}/data/",
    }
    request = {
        "S3BucketSource": source,
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": SCHEMA | {"TableName": "new"},
    }
    arn = emu.call("ImportTable", request)["ImportTableDescription"]["ImportArn"]
    told = emu.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]
    assert told["ImportStatus"] == "COMPLETED"
    for index in (None, "by-kind", "by-bytes"):
        assert contents(emu, "new", index) == contents(emu, "tab", index)


STEPS = st.lists(
    st.one_of(
        items(SCHEMA, attributes=FEW_KEYS | {"n": "N"}),
        st.sampled_from([HOUR // 2, HOUR, 3 * HOUR]),
    ),
    max_size=12,
)


def apply_records(bucket, told, state):
    """Bring a state, by key, to the end of an increment; its old images must be what was there."""
    summary = json.loads(bucket[told["ExportManifest"]])
    for line in bucket[summary["manifestFilesS3Key"]].splitlines():
        packed = bucket[json.loads(line)["dataFileS3Key"]]
        for record in map(json.loads, gzip.decompress(packed).splitlines()):
            if "Item" in record:
                state[key_of(record["Item"])] = record["Item"]
                continue
            key = key_of(record["Keys"])
            assert state.pop(key, None) == record.get("OldImage")
            if "NewImage" in record:
                state[key] = record["NewImage"]


def key_of(item):
    return item["pk"]["S"], item["sk"]["N"]


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, deleted=st.sets(st.integers(0, 11)))
def test_increments_lead_from_one_full_export_to_the_next(steps, deleted):
    s3, state = MemoryS3("bucket"), {}
    emu, bucket = recoverable(s3), s3.buckets["bucket"]
    since = emu.clock.now()
    apply_records(bucket, export(emu)[1], state)
    for number, step in enumerate([*steps, HOUR]):
        if isinstance(step, int):
            emu.clock.advance(step)
            period = {"ExportFromTime": since, "ExportToTime": emu.clock.now()}
            told = export(
                emu, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period
            )[1]
            apply_records(bucket, told, state)
            since = emu.clock.now()
        elif number in deleted:
            key = {name: step[name] for name in ("pk", "sk")}
            emu.call("DeleteItem", {"TableName": "tab", "Key": key})
        else:
            emu.call("PutItem", {"TableName": "tab", "Item": step})
    found = emu.call("Scan", {"TableName": "tab"})["Items"]
    assert state == {key_of(item): item for item in found}
