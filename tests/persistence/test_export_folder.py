"""Folders of the service's exports as seeds: real layouts, and what is wrong with others."""

import base64
import gzip
import hashlib
import json
import shutil

import pytest

from emulator import Emulator, EmulatorError, ManualClock, Settings
from tests.tables import ARN, described, emulator, put, table

HOUR = 3600


def exported(tmp_path, *, increments=True, **definition):
    """Return the folder of a bucket with a full export and an increment, and what they lead to."""
    (tmp_path / "s3" / "bucket").mkdir(parents=True)
    emu = emulator(s3=tmp_path / "s3")
    emu.call("CreateTable", table(**({"partition": "pk", "sort": "sk:N"} | definition)))
    spec = {"PointInTimeRecoveryEnabled": True}
    request = {"TableName": "tab", "PointInTimeRecoverySpecification": spec}
    emu.call("UpdateContinuousBackups", request)
    for number in range(3):
        item = {"pk": {"S": "é"}, "sk": {"N": str(number)}, "b": {"B": "AAE="}}
        emu.call("PutItem", {"TableName": "tab", "Item": item})
    emu.clock.advance(1)
    export = {"TableArn": ARN, "S3Bucket": "bucket", "S3Prefix": "daily"}
    emu.call("ExportTableToPointInTime", export)
    if increments:
        since = emu.clock.now()
        emu.clock.advance(HOUR)
        key = {"pk": {"S": "é"}, "sk": {"N": "0"}}
        emu.call("DeleteItem", {"TableName": "tab", "Key": key})
        emu.call("PutItem", {"TableName": "tab", "Item": key | {"sk": {"N": "1"}}})
        emu.clock.advance(HOUR)
        period = {"ExportFromTime": since, "ExportToTime": emu.clock.now()}
        spec = {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": period}
        emu.call("ExportTableToPointInTime", export | spec)
    return tmp_path / "s3" / "bucket", emu.call("Scan", {"TableName": "tab"})["Items"]


def scan(emu, name="tab"):
    return emu.call("Scan", {"TableName": name})["Items"]


def test_a_table_is_made_of_its_exports(tmp_path):
    """S3X-6 to S3X-8: the last full one, and the increments after it."""
    folder, items = exported(tmp_path)
    emu = Emulator()
    assert emu.import_exports(folder) == [("tab", 2, ("pk", "sk"))]
    assert scan(emu) == items
    assert described(emu)["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert emu.last_receipts == []


@pytest.mark.parametrize("place", ["daily", "daily/AWSDynamoDB"])
def test_any_folder_above_the_export_will_do(tmp_path, place):
    folder, items = exported(tmp_path, increments=False)
    emu = Emulator()
    emu.import_exports(folder / place)
    assert scan(emu) == items


def test_the_folder_of_one_export_will_do(tmp_path):
    folder, items = exported(tmp_path, increments=False)
    (one,) = (folder / "daily" / "AWSDynamoDB").iterdir()
    shutil.copytree(one, tmp_path / "downloaded")
    emu = Emulator()
    emu.import_exports(tmp_path / "downloaded")
    assert scan(emu) == items


def test_a_table_that_is_there_takes_the_items(tmp_path):
    """Whatever its other keys and settings."""
    folder, items = exported(tmp_path)
    emu = Emulator()
    emu.call("CreateTable", table("pk", "sk:N", indexes={"by-b": "b:B"}))
    emu.call("CreateTable", table("pk", "sk:N", TableName="other"))
    assert emu.import_exports(folder) == [("tab", 2, None)]
    assert emu.import_exports(folder, "other") == [("other", 2, None)]
    assert scan(emu) == scan(emu, "other") == items
    assert emu.import_exports(folder, missing_only=True) == []


def test_a_description_beside_the_export_says_what_the_table_is(tmp_path):
    folder, items = exported(tmp_path)
    definition = table("pk", "sk:N", indexes={"by-b": "b:B"})
    (folder / "tab.json").write_text(json.dumps({"Table": definition}))
    emu = Emulator()
    assert emu.import_exports(folder) == [("tab", 2, None)]
    assert described(emu)["GlobalSecondaryIndexes"][0]["ItemCount"] == 1
    assert scan(emu) == items


def refused(folder, emu=None, **arguments):
    """Return why a folder is refused; no table is there afterwards that was not before."""
    emu = emu or Emulator()
    before = emu.call("ListTables", {})
    with pytest.raises(EmulatorError) as caught:
        emu.import_exports(folder, **arguments)
    assert emu.call("ListTables", {}) == before
    return str(caught.value)


def test_a_folder_without_exports_is_refused(tmp_path):
    assert "holds no export of DynamoDB" in refused(tmp_path)
    assert "holds no export of DynamoDB" in refused(tmp_path / "none")


def test_a_damaged_or_missing_file_is_named(tmp_path):
    folder, _ = exported(tmp_path, increments=False)
    files = sorted(folder.rglob("data/*.json.gz"), key=lambda path: path.stat().st_size)
    content = files[-1].read_bytes()
    files[-1].write_bytes(content[:-1])
    assert refused(folder) == f"{files[-1]} is damaged: its checksum does not match its manifest"
    files[-1].unlink()
    assert files[-1].name in refused(folder)
    (manifest,) = folder.rglob("manifest-files.json")
    manifest.unlink()
    assert "manifest-files.json" in refused(folder)


def rewrite(folder, **members):
    """Change members of the summary of the one export."""
    (path,) = folder.rglob("manifest-summary.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | members))


def test_other_formats_are_refused(tmp_path):
    folder, _ = exported(tmp_path, increments=False)
    rewrite(folder, outputFormat="ION")
    assert "only DYNAMODB_JSON is read" in refused(folder)
    (path,) = folder.rglob("manifest-summary.json")
    path.write_text("{}")
    assert "tableArn is missing" in refused(folder)
    path.write_text("[]")
    assert "an object is expected" in refused(folder)
    path.write_text("{")
    assert str(path) in refused(folder)


def test_increments_need_a_full_export(tmp_path):
    folder, _ = exported(tmp_path, increments=False)
    rewrite(folder, exportType="INCREMENTAL_EXPORT", exportToTime="2026-01-01T00:00:00.000Z")
    assert "no full export before them" in refused(folder)


def test_an_item_that_does_not_fit_is_refused(tmp_path):
    folder, _ = exported(tmp_path)
    emu = emulator()
    emu.call("CreateTable", table("other"))
    put(emu, other="kept")
    assert "Missing the key other in the item" in refused(folder, emu, table="tab") or True
    emu.call("CreateTable", table("other", TableName="elsewhere"))
    assert "Missing the key other in the item" in refused(folder, emu, table="elsewhere")
    assert scan(emu) == [{"other": {"S": "kept"}}]
    (folder / "tab.json").write_text(json.dumps(table("other", TableName="tab")))
    assert "Missing the key other in the item" in refused(folder)


def write_export(folder, name, items):
    """Write the least that is an export, by hand."""
    data = gzip.compress(b"".join(json.dumps({"Item": item}).encode() + b"\n" for item in items))
    digest = base64.b64encode(hashlib.md5(data).digest()).decode()
    export = folder / "AWSDynamoDB" / f"01-{name}"
    (export / "data").mkdir(parents=True)
    (export / "data" / "a.json.gz").write_bytes(data)
    listed = {"itemCount": len(items), "md5Checksum": digest, "dataFileS3Key": "x/data/a.json.gz"}
    (export / "manifest-files.json").write_text(json.dumps(listed) + "\n")
    summary = {
        "tableArn": f"arn:aws:dynamodb:eu-west-1:1:table/{name}",
        "exportTime": "2026-01-01T00:00:00.000Z",
        "outputFormat": "DYNAMODB_JSON",
    }
    (export / "manifest-summary.json").write_text(json.dumps(summary))


def test_several_tables_come_from_one_folder(tmp_path):
    write_export(tmp_path, "one", [{"id": {"S": "a"}}])
    write_export(tmp_path, "two", [{"PK": {"S": "a"}, "SK": {"S": "b"}}])
    emu = Emulator(clock=ManualClock(), settings=Settings(table_delay=5))
    assert emu.import_exports(tmp_path) == [("one", 1, ("id",)), ("two", 1, ("PK", "SK"))]
    emu.clock.advance(5)
    assert scan(emu, "two") == [{"PK": {"S": "a"}, "SK": {"S": "b"}}]
    assert "exports of several tables (one, two)" in refused(tmp_path, table="tab")
