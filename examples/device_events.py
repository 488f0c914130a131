"""The classic mistake: device events under the hour, against under the device.

Scenario: 10,000 devices report 900 events a second, each of 5 KB, so 4,500 write units a second;
the table has 5,000 provisioned. With the hour as partition key all of them go to the one partition
that holds this hour, which takes 1,000 units a second whatever the table has. With the device as
partition key they spread over all partitions. Same load, same bill, same table size.

Then one device's recent events are asked for. Under the hour only a filter finds them, after every
event of the hour was read.

Told: 2,450 throttles an hour, $237 against $140 a month. By the rules a fifth of the load passes
for as long as it lasts, and the bill is the same: provisioned capacity is paid for, used or not.
"""

import random
from typing import Any

from emulator import Emulator, ManualClock

SEED = 1
DEVICES = 10_000
EVENTS_PER_SECOND = 900
EVENT_BYTES = 5_000
SECONDS = 10
PROVISIONED = 5_000
WATCHED = "device-00042"
WATCHED_EVENTS = 10


def create(emu: Emulator, name: str, partition_key: str, sort_key: str) -> None:
    emu.client().create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": partition_key, "AttributeType": "S"},
            {"AttributeName": sort_key, "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": partition_key, "KeyType": "HASH"},
            {"AttributeName": sort_key, "KeyType": "RANGE"},
        ],
        ProvisionedThroughput={"ReadCapacityUnits": 1_000, "WriteCapacityUnits": PROVISIONED},
    )


def by_hour(device: str, when: str, number: int) -> dict[str, Any]:
    return {
        "hour": {"S": when[:13]},
        "event": {"S": f"{device}#{when}#{number}"},
        "device": {"S": device},
    }


def by_device(device: str, when: str, number: int) -> dict[str, Any]:
    return {"device": {"S": device}, "event": {"S": f"{when}#{number}"}}


def load(emu: Emulator, clock: ManualClock, table: str, key_of: Any) -> int:
    """Offer the events of some seconds; return how many were refused."""
    client = emu.client()
    dice = random.Random(SEED)
    body = {"body": {"S": "x" * (EVENT_BYTES - 60)}}
    refused = 0
    for second in range(SECONDS):
        when = f"2024-04-09T12:00:{second:02}"
        for number in range(EVENTS_PER_SECOND):
            device = f"device-{dice.randrange(DEVICES):05}"
            try:
                client.put_item(TableName=table, Item=key_of(device, when, number) | body)
            except client.exceptions.ProvisionedThroughputExceededException:
                refused += 1
        clock.advance(1)
    clock.advance(60)
    small = {"body": {"S": "x" * 100}}
    for number in range(WATCHED_EVENTS):
        client.put_item(TableName=table, Item=key_of(WATCHED, "2024-04-09T12:30", number) | small)
    return refused


def find(emu: Emulator, table: str, **query: Any) -> tuple[int, int, float]:
    """Return how many items were found, how many were read, and the read units."""
    found, read, units = 0, 0, 0.0
    pages = emu.client().get_paginator("query")
    for page in pages.paginate(TableName=table, ReturnConsumedCapacity="TOTAL", **query):
        found += page["Count"]
        read += page["ScannedCount"]
        units += page["ConsumedCapacity"]["CapacityUnits"]
    return found, read, units


def report(emu: Emulator, table: str, refused: int) -> None:
    offered = SECONDS * EVENTS_PER_SECOND
    partitions = emu.partitions(table)
    used = emu.metrics.sum("ConsumedWriteCapacityUnits", table) / (SECONDS * PROVISIONED)
    busiest = max(part.peak_write for part in partitions)
    throttles = emu.metrics.sum("WriteThrottleEvents", table)
    hottest = emu.insights(table).accessed_partition_keys[0]
    print(
        f"{table:<10}{offered:>8,}{refused:>9,}{refused / offered:>7.0%}{used:>12.0%}"
        f"{len(partitions):>12}{busiest:>10,.0f}{throttles:>10,.0f}{hottest.share:>9.1%}"
    )


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    create(emu, "hours", "hour", "event")
    create(emu, "devices", "device", "event")

    print(
        f"{'key':<10}{'offered':>8}{'refused':>9}{'':>7}{'used':>12}"
        f"{'partitions':>12}{'busiest/s':>10}{'throttles':>10}{'top key':>9}"
    )
    report(emu, "hours", load(emu, clock, "hours", by_hour))
    report(emu, "devices", load(emu, clock, "devices", by_device))
    print(f"read throttles: {emu.metrics.sum('ReadThrottleEvents'):.0f}")

    print(f"{'one device, 12:30 on':<24}{'found':>6}{'read':>8}{'read units':>12}")
    clock.advance(300)
    wrong = find(
        emu,
        "hours",
        KeyConditionExpression="#hour = :hour",
        FilterExpression="device = :device",
        ExpressionAttributeNames={"#hour": "hour"},
        ExpressionAttributeValues={":hour": {"S": "2024-04-09T12"}, ":device": {"S": WATCHED}},
    )
    right = find(
        emu,
        "devices",
        KeyConditionExpression="device = :device AND event >= :noon",
        ExpressionAttributeValues={":device": {"S": WATCHED}, ":noon": {"S": "2024-04-09T12:30"}},
    )
    for name, (found, read, units) in (("filter over the hour", wrong), ("key condition", right)):
        print(f"{name:<24}{found:>6}{read:>8}{units:>12}")


if __name__ == "__main__":
    main()
