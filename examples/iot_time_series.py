"""A global index over natural dates: readings of sensors.

Scenario: a sensor is known by device and location; dashboards ask for a year, a month, a day or
part of a day. The index key is partition (deviceId, locationId), sort (year, month, day,
timestamp); year, month and day are numbers, so 2 comes before 10 without padding.

Each question is one contiguous run of the index and costs what it returns. The last one shows the
limit of the idea: only the last sort attribute named may have a range, so a stretch across two
months is two questions.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from emulator import Emulator, ManualClock

DEVICE, LOCATION = "sensor-7", "plant-1"
FIRST_DAY = datetime(2024, 1, 31, tzinfo=UTC)
DAYS = 300
HOURS = (6, 14, 22)
SORT = {"year": "N", "month": "N", "day": "N", "timestamp": "S"}
PARTITION = {"deviceId": "S", "locationId": "S"}


def create(emu: Emulator) -> None:
    types = {"readingId": "S", **PARTITION, **SORT}
    emu.client().create_table(
        TableName="readings",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        KeySchema=[{"AttributeName": "readingId", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byTime",
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in PARTITION]
                + [{"AttributeName": name, "KeyType": "RANGE"} for name in SORT],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def fill(emu: Emulator) -> None:
    table = emu.table("readings")
    for day in range(DAYS):
        for hour in HOURS:
            moment = FIRST_DAY + timedelta(days=day, hours=hour)
            table.put_item(
                Item={
                    "readingId": f"{day:04}-{hour:02}",
                    "deviceId": DEVICE,
                    "locationId": LOCATION,
                    "year": moment.year,
                    "month": moment.month,
                    "day": moment.day,
                    "timestamp": moment.isoformat(),
                    "celsius": 20 + hour % 5,
                }
            )


def ask(emu: Emulator, condition: str, values: dict[str, Any]) -> dict[str, Any]:
    names = {f"#{name}": name for name in SORT if f"#{name}" in condition}
    return emu.table("readings").query(
        IndexName="byTime",
        KeyConditionExpression=f"deviceId = :device AND locationId = :location AND {condition}",
        ExpressionAttributeNames=names,
        ExpressionAttributeValues={":device": DEVICE, ":location": LOCATION, **values},
        ReturnConsumedCapacity="TOTAL",
    )


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    fill(emu)
    april = {":y": 2024, ":m": 4}
    questions: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("the year", "#year = :y", {":y": 2024}),
        ("April", "#year = :y AND #month = :m", april),
        (
            "February to April",
            "#year = :y AND #month BETWEEN :a AND :b",
            {":y": 2024, ":a": 2, ":b": 4},
        ),
        (
            "April 9 to 10",
            "#year = :y AND #month = :m AND #day BETWEEN :a AND :b",
            {**april, ":a": 9, ":b": 10},
        ),
        ("April 9", "#year = :y AND #month = :m AND #day = :d", {**april, ":d": 9}),
        (
            "April 9, from noon on",
            "#year = :y AND #month = :m AND #day = :d AND #timestamp >= :t",
            {**april, ":d": 9, ":t": "2024-04-09T12:00:00+00:00"},
        ),
    )
    print(f"{'question':<24}{'readings':>9}{'read units':>12}")
    for question, condition, values in questions:
        page = ask(emu, condition, values)
        units = page["ConsumedCapacity"]["CapacityUnits"]
        print(f"{question:<24}{page['Count']:>9}{units:>12}")

    months = ask(emu, "#year = :y", {":y": 2024})["Items"]
    print("months in order:", *dict.fromkeys(int(reading["month"]) for reading in months))

    crossing = "#year = :y AND #month BETWEEN :a AND :b AND #day >= :d"
    try:
        ask(emu, crossing, {":y": 2024, ":a": 4, ":b": 5, ":d": 29})
    except emu.client().exceptions.ClientError as error:
        print(f"April 29 to May 2 in one question: {error.response['Error']['Message']}")
    late = ask(emu, "#year = :y AND #month = :m AND #day >= :d", {**april, ":d": 29})
    early = ask(emu, "#year = :y AND #month = :m AND #day <= :d", {":y": 2024, ":m": 5, ":d": 2})
    print(f"April 29 to May 2 in two: {late['Count']} + {early['Count']} readings")


if __name__ == "__main__":
    main()
