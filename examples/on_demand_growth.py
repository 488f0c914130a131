"""On demand is not without limits: how a new table grows into its load.

Scenario: a new on-demand table has four partitions: 4,000 write units a second. A launch sends
8,000 at once. Half of it is refused until hot partitions have split, 3 to 12 minutes later. A
table that was warmed before the launch serves it from the first second.

Half an hour after the launch the first table has grown again, to twice the peak it has served: a
second launch, of 12,000, meets a table that takes most of it at once.

A write of 400 KB costs 400 units, so 20 writes a second do for 8,000; that keeps the run short.
Such writes come in bunches, which is why a little is refused even where the rate would fit.
How fast tables really grow is assumed (rules CAP2-1, CAP2-3); the start rates are published.
"""

import random
from contextlib import suppress
from typing import Any

from emulator import Emulator, ManualClock

SEED = 11
UNITS_PER_WRITE = 400
KEYS = 10_000
LAUNCH, SECOND_LAUNCH = 20, 30  # writes a second
MINUTES = 12
PAUSE_MINUTES = 30


def create(emu: Emulator, table: str) -> None:
    request: dict[str, Any] = {
        "TableName": table,
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if table == "warmed":
        warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 16_000}
        request["WarmThroughput"] = warm
    emu.client().create_table(**request)


def load(emu: Emulator, clock: ManualClock, table: str, writes: int, minutes: int) -> list[int]:
    """Write for some minutes; return the accepted write units a second, minute by minute."""
    client = emu.client()
    dice = random.Random(SEED)
    body = {"S": "x" * (UNITS_PER_WRITE * 1024 - 100)}
    start = clock.now()
    for _ in range(minutes * 60):
        for _ in range(writes):
            item = {"id": {"S": f"{dice.randrange(KEYS):06}"}, "body": body}
            with suppress(client.exceptions.ThrottlingException):
                client.put_item(TableName=table, Item=item)
        clock.advance(1)
    points = emu.metrics.get("ConsumedWriteCapacityUnits", table, start=start)
    return [round(value / 60) for _, value in points]


def show(emu: Emulator, clock: ManualClock, table: str, writes: int, minutes: int) -> None:
    partitions = len(emu.partitions(table))
    rates = load(emu, clock, table, writes, minutes)
    row = f"{partitions:>12}{writes * UNITS_PER_WRITE:>9,}{rates[0]:>15,}{rates[-1]:>17,}"
    print(f"{table:<8}{minutes:>8}{row}")


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    create(emu, "cold")
    create(emu, "warmed")
    columns = f"{'partitions':>12}{'offered':>9}{'first accepted':>15}{'finally accepted':>17}"
    print(f"{'table':<8}{'minutes':>8}{columns}")
    show(emu, clock, "warmed", LAUNCH, 2)
    show(emu, clock, "cold", LAUNCH, MINUTES)
    clock.advance(PAUSE_MINUTES * 60)
    show(emu, clock, "cold", SECOND_LAUNCH, 2)
    print("offered, accepted: write units a second; partitions: at the start")


if __name__ == "__main__":
    main()
