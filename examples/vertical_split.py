"""Counters do not belong into large items.

Scenario: a profile of 9.5 KB and 0.1 KB of counters, counted up at every visit. Together they are
one item of 9,830 bytes, and every count writes all of it: ten units. Apart, under one partition
key, a count writes the small item: one unit, the least there is.

Told: 100 times cheaper, as 0.1 KB is to 10 KB. By the rules 10 times: a write costs one unit at
least. What it costs in turn: reading profile and counters together is two items now.
"""

from typing import Any

from emulator import Emulator, ManualClock

PROFILE_BYTES = 9_728
COUNTER_BYTES = 102
VISITS = 1_000


def item_of(sort_key: str, size_bytes: int) -> dict[str, Any]:
    """Return an item of exactly so many bytes; a visit count of up to 99 takes two of them."""
    item: dict[str, Any] = {"PK": "u-1", "SK": sort_key, "body": "", "visits": 1}
    used = sum(len(name) for name in item) + len("u-1") + len(sort_key) + 2
    return item | {"body": "x" * (size_bytes - used)}


def main() -> None:
    emu = Emulator(clock=ManualClock())
    emu.client().create_table(
        TableName="users",
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
    table = emu.table("users")
    table.put_item(Item=item_of("WHOLE", PROFILE_BYTES + COUNTER_BYTES))
    table.put_item(Item=item_of("PROFILE", PROFILE_BYTES))
    table.put_item(Item=item_of("COUNTERS", COUNTER_BYTES))

    def count(sort_key: str) -> float:
        answer = table.update_item(
            Key={"PK": "u-1", "SK": sort_key},
            UpdateExpression="SET visits = visits + :one",
            ExpressionAttributeValues={":one": 1},
            ReturnConsumedCapacity="TOTAL",
        )
        units: float = answer["ConsumedCapacity"]["CapacityUnits"]
        return units

    def read(*sort_keys: str) -> float:
        units = 0.0
        for sort_key in sort_keys:
            answer = table.get_item(
                Key={"PK": "u-1", "SK": sort_key},
                ConsistentRead=True,
                ReturnConsumedCapacity="TOTAL",
            )
            units += answer["ConsumedCapacity"]["CapacityUnits"]
        return units

    whole, split = count("WHOLE"), count("COUNTERS")
    print(f"{'':<24}{'one item':>9}{'two items':>11}")
    print(f"{'count a visit':<24}{whole:>9}{split:>11}")
    print(f"{'read the counters':<24}{read('WHOLE'):>9}{read('COUNTERS'):>11}")
    print(f"{'read everything':<24}{read('WHOLE'):>9}{read('PROFILE', 'COUNTERS'):>11}")
    print(f"{f'{VISITS:,} visits, units':<24}{VISITS * whole:>9.0f}{VISITS * split:>11.0f}")
    print(f"told 100 x, by the rules {whole / split:.0f} x: no write costs less than one unit")


if __name__ == "__main__":
    main()
