"""Data out and in: a full export, a day's changes, and a table made of the files.

Scenario: orders go to S3 every night, in full once and then as increments, and a CSV file from the
shop comes in as a new table. Buckets are folders, so that the files can be looked at; an export
takes twelve minutes, which a waiter passes on virtual time.

What an import refuses it counts, and says why; what it could read stays.
"""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

from emulator import Emulator, ManualClock, Settings

HOUR = 3_600
TABLE = {
    "TableName": "orders",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
CSV = """\
pk,status,total
o-7,paid,12
o-8,open,
,lost,3
"""


def create(emu: Emulator) -> str:
    client = emu.client()
    arn: str = client.create_table(**TABLE)["TableDescription"]["TableArn"]
    client.update_continuous_backups(
        TableName="orders", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    return arn


def export(emu: Emulator, arn: str, **members: Any) -> dict[str, Any]:
    client = emu.client()
    begun = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="nightly", **members)
    name = begun["ExportDescription"]["ExportArn"]
    client.get_waiter("export_completed").wait(ExportArn=name)
    told: dict[str, Any] = client.describe_export(ExportArn=name)["ExportDescription"]
    minutes = (told["EndTime"] - told["StartTime"]).total_seconds() / 60
    kind = told.get("ExportType", "FULL_EXPORT")
    print(f"{kind}: {told['ItemCount']} records in {minutes:g} minutes")
    return told


def show_records(bucket: Path, told: dict[str, Any]) -> None:
    summary = json.loads((bucket / told["ExportManifest"]).read_text())
    lines = []
    for listed in (bucket / summary["manifestFilesS3Key"]).read_text().splitlines():
        data = bucket / json.loads(listed)["dataFileS3Key"]
        lines += gzip.decompress(data.read_bytes()).decode().splitlines()
    for line in sorted(lines):
        record = json.loads(line)
        record.pop("Metadata", None)
        print("  " + json.dumps(record))


def import_file(emu: Emulator, name: str, key: str, **members: Any) -> None:
    client = emu.client()
    begun = client.import_table(
        S3BucketSource={"S3Bucket": "nightly", "S3KeyPrefix": key},
        TableCreationParameters=TABLE | {"TableName": name},
        **members,
    )
    arn = begun["ImportTableDescription"]["ImportArn"]
    emu.clock.sleep(12 * 60)
    told = client.describe_import(ImportArn=arn)["ImportTableDescription"]
    print(
        f"{name}: {told['ImportStatus']}, {told['ImportedItemCount']} of "
        f"{told['ProcessedItemCount']} records"
    )
    for error in emu.import_errors(arn):
        print(f"  record {error['itemS3Pointer']['itemIndex']}: {error['errorMessages'][0]}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bucket = Path(folder) / "nightly"
        bucket.mkdir()
        clock = ManualClock()
        emu = Emulator(clock=clock, settings=Settings(s3=folder, transfer_seconds=12 * 60))
        arn = create(emu)
        table = emu.table("orders")
        for number in range(3):
            table.put_item(Item={"pk": f"o-{number}", "status": "open"})
        clock.advance(60)
        full = export(emu, arn)
        show_records(bucket, full)

        clock.advance(HOUR)
        table.put_item(Item={"pk": "o-0", "status": "paid"})
        table.delete_item(Key={"pk": "o-1"})
        clock.advance(HOUR)
        period = {"ExportFromTime": full["ExportTime"]}
        changes = export(
            emu, arn, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period
        )
        show_records(bucket, changes)

        data = full["ExportManifest"].replace("manifest-summary.json", "data/")
        import_file(emu, "copy", data, InputFormat="DYNAMODB_JSON", InputCompressionType="GZIP")
        (bucket / "shop.csv").write_text(CSV)
        import_file(emu, "shop", "shop.csv", InputFormat="CSV")
        print("shop holds", sorted(item["pk"] for item in emu.table("shop").scan()["Items"]))

        seeded = Emulator()
        for filled in seeded.import_exports(bucket):
            print(f"seeded: {filled.items} items in {filled.name}")


if __name__ == "__main__":
    main()
