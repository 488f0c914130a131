"""A bulk put beside live traffic: its rate, a condition for each record, and what it refuses.

Scenario: a catalogue of 2,000 products of 2 KB is loaded from S3 into the table that the shop
reads, at 1,024 write units a second, so that it takes four seconds. Each record may only replace an
older version of its product: ten products were changed by hand this morning and stay as they are.
Three records are no products; the last is no JSON, which would end its file. The table's own
capacity is not touched.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from emulator import Emulator, ManualClock, Settings

PRODUCTS = 2_000
NEWER = 10
VERSION = 7


def record(number: int) -> str:
    item = {
        "id": {"S": f"p-{number:04}"},
        "version": {"N": str(VERSION)},
        "text": {"S": "x" * 2_000},
    }
    return json.dumps(
        {
            "Item": item,
            "ConditionExpression": "attribute_not_exists(id) OR version < :v",
            "ExpressionAttributeValues": {":v": {"N": str(VERSION)}},
        }
    )


def broken() -> list[str]:
    return ['{"Item": {"name": {"S": "no id"}}}', '{"Item": {"id": {"N": "7"}}}', "{"]


def described(emu: Emulator, job: dict[str, Any]) -> dict[str, Any]:
    request = {"BulkOperationArn": job["BulkOperationArn"]}
    told: dict[str, Any] = emu.call("DescribeBulkOperation", request)["BulkOperationDescription"]
    return told


def reports(bucket: Path, name: str) -> list[dict[str, Any]]:
    (path,) = bucket.rglob(f"{name}.json")
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(folder: Path) -> None:
    (folder / "catalogue").mkdir()
    (folder / "reports").mkdir()
    lines = [record(number) for number in range(PRODUCTS)] + broken()
    (folder / "catalogue" / "products.json").write_text("\n".join(lines))
    emu = Emulator(clock=ManualClock(), capacity="enforce", settings=Settings(s3=folder))
    emu.call(
        "CreateTable",
        {
            "TableName": "products",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    for number in range(NEWER):
        item = {"id": {"S": f"p-{number:04}"}, "version": {"N": str(VERSION + 1)}}
        emu.call("PutItem", {"TableName": "products", "Item": item})
    job = emu.call(
        "StartBulkPutItems",
        {
            "TableName": "products",
            "InputS3Configuration": {"S3Bucket": "catalogue", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {
                "S3Bucket": "reports",
                "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
            },
            "MaxWriteRequestUnits": 1_024,
        },
    )["BulkOperationDescription"]
    for second in range(5):
        told = described(emu, job)
        print(f"{second} s: {told['ProcessedItemCount']:5} records, {told['BulkOperationStatus']}")
        emu.clock.advance(1)
    told = described(emu, job)
    usage = told["BulkOperationUsage"][0]["BulkPutBytes"]
    print(
        f"{told['FailedItemCount']} failed; {usage / 1024:,.0f} KB used, units of the table:",
        end=" ",
    )
    print(f"{emu.metrics.sum('ConsumedWriteCapacityUnits', table='products'):g}")
    print("first refused for its condition:")
    kept = reports(folder / "reports", "condition_check_failure")
    print("  ", len(kept), "of them,", kept[0]["ExistingItem"])
    print("refused for what they are:")
    for line in reports(folder / "reports", "error"):
        print("  ", line["itemS3Pointer"]["itemIndex"], line["errorMessages"][0])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder))


if __name__ == "__main__":
    main()
