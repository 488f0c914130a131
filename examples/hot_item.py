"""A hot item never splits; a hot item collection does, unless its sort keys only grow.

Scenario: three tables get the same 1,500 write units a second, all under one partition key, for
13 minutes. A partition serves 1,000, so a third is refused at first. After two hot minutes the
service decides to split and, 3 to 12 minutes after the heat began, looks for a point that halves
the traffic:
  one item       all traffic has one position: there is nothing to halve
  random keys    a sort key in the middle halves it; each half serves 1,000 again
  growing keys   every write is newer than all before, so the upper half would get all of it

A write of 250 KB costs 250 units, so 6 writes a second do for 1,500; that keeps the run short.
Threshold, delay and place of the split are assumed (Settings.heat_threshold, heat_minutes,
split_delay, single_item_share, sequential_share): AWS does not publish them. The delay is drawn
from Settings.seed, so that another seed shows another minute.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from emulator import Emulator, ManualClock

SEED = 3
WRITES_PER_SECOND = 6
ITEM_BYTES = 255_900
MINUTES = 13
SHOWN = (1, 5, 9, 11, 13)


def one_item(_: random.Random, __: int) -> str:
    return "counter"


def random_keys(dice: random.Random, _: int) -> str:
    return f"{dice.randrange(1_000):03}"


def growing_keys(_: random.Random, number: int) -> str:
    return f"{number:08}"


def run(
    emu: Emulator, clock: ManualClock, table: str, key_of: Callable[[random.Random, int], str]
) -> list[int]:
    """Write for some minutes; return the accepted write units a second, minute by minute."""
    client = emu.client()
    client.create_table(
        TableName=table,
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    dice = random.Random(SEED)
    item = {"PK": {"S": "hot"}, "body": {"S": "x" * ITEM_BYTES}}
    number = 0
    start = clock.now()
    for _ in range(MINUTES * 60):
        for _ in range(WRITES_PER_SECOND):
            number += 1
            with suppress(client.exceptions.ThrottlingException):
                client.put_item(TableName=table, Item=item | {"SK": {"S": key_of(dice, number)}})
        clock.advance(1)
    minutes = emu.metrics.get("ConsumedWriteCapacityUnits", table, start=start)
    return [round(units / 60) for _, units in minutes]


def main() -> None:
    clock = ManualClock()
    emu = Emulator(clock=clock, capacity="enforce")
    news: dict[str, str] = {}

    def hear(event: Any) -> None:
        kind = type(event).__name__
        if kind in ("Split", "SplitRefused"):
            table = event.resource.rpartition("/")[2]
            minute = (event.time_ns / 1e9 - starts[table]) / 60
            word = "split" if kind == "Split" else "no split"
            news.setdefault(table, f"{word} in minute {minute:.0f}: {event.cause}")

    emu.events.subscribe(hear)
    starts: dict[str, float] = {}
    print("accepted write units a second, of 1,500")
    print(f"{'minute':<14}" + "".join(f"{minute:>6}" for minute in SHOWN) + f"{'partitions':>12}")
    for table, key_of in (
        ("one-item", one_item),
        ("random-keys", random_keys),
        ("growing-keys", growing_keys),
    ):
        starts[table] = clock.now()
        rates = run(emu, clock, table, key_of)
        row = "".join(f"{rates[minute - 1]:>6,}" for minute in SHOWN)
        print(f"{table:<14}{row}{len(emu.partitions(table)):>12}   {news.get(table, '')}")


if __name__ == "__main__":
    main()
