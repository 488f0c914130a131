"""Back to the second before the mistake.

Scenario: a job sets every price to zero at 12:00:05, and is noticed ten minutes later. With
point-in-time recovery on, the table is restored as a new one, to any second since it was switched
on, up to five minutes ago. Streams, time to live and tags do not come with it.

A test of such a runbook takes no time: the clock is virtual.
"""

from datetime import UTC, datetime, timedelta

from emulator import Emulator, ManualClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def create(emu: Emulator) -> None:
    client = emu.client()
    client.create_table(
        TableName="prices",
        AttributeDefinitions=[{"AttributeName": "sku", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "sku", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    for number in range(3):
        emu.table("prices").put_item(Item={"sku": f"s-{number}", "cents": 100 * (number + 1)})
    client.update_continuous_backups(
        TableName="prices", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


def restore(emu: Emulator, name: str, moment: datetime) -> None:
    client = emu.client()
    try:
        client.restore_table_to_point_in_time(
            SourceTableName="prices", TargetTableName=name, RestoreDateTime=moment
        )
    except client.exceptions.InvalidRestoreTimeException as error:
        print(f"{moment:%H:%M:%S}  {error.response['Error']['Message']}")
        return
    items = emu.table(name).scan()["Items"]
    print(f"{moment:%H:%M:%S}  {sorted(int(item['cents']) for item in items)}")


def main() -> None:
    clock = ManualClock(NOON.timestamp())
    emu = Emulator(clock=clock)
    create(emu)
    clock.advance(2)
    emu.table("prices").put_item(Item={"sku": "s-0", "cents": 90})
    clock.advance(3)
    for number in range(3):
        emu.table("prices").put_item(Item={"sku": f"s-{number}", "cents": 0})
    clock.advance(600)

    for name, second in (("first", 0), ("offer", 2), ("before", 4), ("after", 5), ("late", 400)):
        restore(emu, name, NOON + timedelta(seconds=second))

    restored = emu.client().describe_table(TableName="before")["Table"]
    print("stream of the restored table:", restored.get("StreamSpecification"))
    emu.client().delete_table(TableName="prices")
    kept = emu.client().list_backups(BackupType="SYSTEM")["BackupSummaries"]
    print("kept for 35 days:", [backup["BackupName"] for backup in kept])


if __name__ == "__main__":
    main()
