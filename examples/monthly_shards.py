"""Time in the partition key: one collection for each month, and old months expire.

Scenario: a device reports every six hours. Under deviceId#month a collection never grows beyond a
month; a question over three months is three Queries, which may run side by side; and since whole
months are forgotten, each reading carries the time at which its month ends plus 90 days.

The same readings under the device alone need one Query, and one collection that grows for ever.
"""

from datetime import UTC, datetime, timedelta

from emulator import Emulator, ManualClock

DEVICE = "device-7"
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
DAYS = 182
EVERY_HOURS = 6
KEPT_DAYS = 90
READING_BYTES = 200
SPRING = ("2024-03", "2024-04", "2024-05")


def create(emu: Emulator, name: str) -> None:
    client = emu.client()
    client.create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "at", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )


def month_end(moment: datetime) -> datetime:
    return (moment.replace(day=28, hour=0) + timedelta(days=4)).replace(day=1)


def fill(emu: Emulator) -> None:
    monthly, single = emu.table("monthly").batch_writer(), emu.table("single").batch_writer()
    with monthly, single:
        for number in range(DAYS * 24 // EVERY_HOURS):
            moment = FIRST + timedelta(hours=number * EVERY_HOURS)
            expires = int((month_end(moment) + timedelta(days=KEPT_DAYS)).timestamp())
            reading = {"at": moment.isoformat(), "expires": expires, "body": "x" * READING_BYTES}
            monthly.put_item(Item={"PK": f"{DEVICE}#{moment:%Y-%m}", **reading})
            single.put_item(Item={"PK": DEVICE, **reading})


def main() -> None:
    clock = ManualClock(start=FIRST.timestamp())
    emu = Emulator(clock=clock)
    create(emu, "monthly")
    create(emu, "single")
    fill(emu)

    counts, units = 0, 0.0
    for month in SPRING:
        page = emu.table("monthly").query(
            KeyConditionExpression="PK = :month",
            ExpressionAttributeValues={":month": f"{DEVICE}#{month}"},
            ReturnConsumedCapacity="TOTAL",
        )
        counts += page["Count"]
        units += page["ConsumedCapacity"]["CapacityUnits"]
    page = emu.table("single").query(
        KeyConditionExpression="PK = :device AND #at BETWEEN :from AND :to",
        ExpressionAttributeNames={"#at": "at"},
        ExpressionAttributeValues={":device": DEVICE, ":from": "2024-03", ":to": "2024-06"},
        ReturnConsumedCapacity="TOTAL",
    )
    print(f"{'March to May':<18}{'queries':>8}{'readings':>10}{'read units':>12}")
    print(f"{'device#month':<18}{len(SPRING):>8}{counts:>10}{units:>12}")
    print(f"{'device':<18}{1:>8}{page['Count']:>10}{page['ConsumedCapacity']['CapacityUnits']:>12}")

    print(f"{'on':<12}{'readings left':>14}   months left")
    for day in ("2024-04-30", "2024-05-01", "2024-06-01", "2024-07-01"):
        clock.advance(datetime.fromisoformat(f"{day}T00:02:00+00:00").timestamp() - clock.now())
        items = list(emu.table("monthly").scan_all())
        months = sorted({item["PK"].rpartition("#")[2] for item in items})
        print(f"{day:<12}{len(items):>14}   {' '.join(months)}")


if __name__ == "__main__":
    main()
