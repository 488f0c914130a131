"""What lies below an upper bound: profile and devices, and more.

Scenario: a user's profile (#PROFILE), devices (DEVICE#id) and their events (DEVICE#id#EVENT#time)
share a partition key. "Profile and devices, no events" is told to be one Query with the upper bound
SK < 'DEVICE#~'. It is not: DEVICE#1#EVENT#... begins with DEVICE#1 and sorts right behind it, far
below the tilde, so every event comes along. No range of this sort key has the devices alone.

The cure is a sort key in which kinds of things are neighbours: events under EVENT#id#time.
"""

from typing import Any

from emulator import Emulator, ManualClock

USER = "u-1"
DEVICES, EVENTS = 3, 4
NESTED = "DEVICE#{device}#EVENT#2024-04-0{day}"
APART = "EVENT#{device}#2024-04-0{day}"


def fill(emu: Emulator, table: str, event_key: str) -> None:
    emu.client().create_table(
        TableName=table,
        AttributeDefinitions=[
            {"AttributeName": "userId", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "userId", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    keys = ["#PROFILE"]
    for device in range(1, DEVICES + 1):
        keys.append(f"DEVICE#{device}")
        keys += [event_key.format(device=device, day=day) for day in range(1, EVENTS + 1)]
    for key in keys:
        emu.table(table).put_item(Item={"userId": USER, "SK": key})


def ask(emu: Emulator, table: str, condition: str, **values: str) -> list[str]:
    page: dict[str, Any] = emu.table(table).query(
        KeyConditionExpression=f"userId = :user AND {condition}",
        ExpressionAttributeValues={":user": USER} | {f":{n}": v for n, v in values.items()},
    )
    return [item["SK"] for item in page["Items"]]


def show(question: str, keys: list[str]) -> None:
    events = sum("EVENT#" in key for key in keys)
    devices = sum(key.startswith("DEVICE#") for key in keys if "EVENT#" not in key)
    profiles = keys.count("#PROFILE")
    print(f"{question:<36}{profiles:>8}{devices:>8}{events:>7}")


def main() -> None:
    emu = Emulator(clock=ManualClock())
    fill(emu, "nested", NESTED)
    fill(emu, "apart", APART)

    print(f"{'sort key condition':<36}{'profile':>8}{'devices':>8}{'events':>7}")
    print("events under DEVICE#id#EVENT#time")
    show("  SK < 'DEVICE#~'", ask(emu, "nested", "SK < :top", top="DEVICE#~"))
    show("  begins_with(SK, 'DEVICE#')", ask(emu, "nested", "begins_with(SK, :d)", d="DEVICE#"))
    show("  SK <= 'DEVICE#1'", ask(emu, "nested", "SK <= :top", top="DEVICE#1"))
    print("events under EVENT#id#time")
    show("  SK < 'EVENT#'", ask(emu, "apart", "SK < :top", top="EVENT#"))
    show("  begins_with(SK, 'DEVICE#')", ask(emu, "apart", "begins_with(SK, :d)", d="DEVICE#"))
    show("  begins_with(SK, 'EVENT#2#')", ask(emu, "apart", "begins_with(SK, :d)", d="EVENT#2#"))
    print("told: SK < 'DEVICE#~' leaves the events out; by the order of strings it does not")


if __name__ == "__main__":
    main()
