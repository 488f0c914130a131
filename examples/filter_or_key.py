"""A filter does not make a read cheaper; a key condition does.

Scenario: an organisation has a thousand members, twenty of them active. The page of active members
is asked for in two ways. With the state among the other attributes, a filter throws most of what
was read away, after it was paid for. With the state at the head of the sort key, only what is
wanted is read. Limit, projection and COUNT do not change the price of what is evaluated either.
"""

from typing import Any

from emulator import Emulator, ManualClock

ORG = "ORG#acme"
MEMBERS = 1_000
EVERY = 50  # one member in fifty is active
MEMBER_BYTES = 400
ACTIVE = {":org": ORG, ":state": "active"}


def create(emu: Emulator) -> None:
    emu.client().create_table(
        TableName="members",
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
    with emu.table("members").batch_writer() as batch:
        for number in range(MEMBERS):
            state = "active" if number % EVERY == 0 else "idle"
            member = {"state": state, "profile": "x" * MEMBER_BYTES}
            batch.put_item(Item={"PK": ORG, "SK": f"USER#{number:05}", **member})
            key = {"PK": f"{ORG}/by-state", "SK": f"STATUS#{state}#USER#{number:05}"}
            batch.put_item(Item={**key, **member})


def show(emu: Emulator, question: str, **query: Any) -> None:
    page = emu.table("members").query(ReturnConsumedCapacity="TOTAL", **query)
    receipt = emu.last_receipt
    units = page["ConsumedCapacity"]["CapacityUnits"]
    wasted = receipt.bytes_evaluated - receipt.bytes_returned
    print(f"{question:<26}{page['Count']:>6}{page['ScannedCount']:>6}{units:>12}{wasted:>14}")


def main() -> None:
    emu = Emulator(clock=ManualClock())
    create(emu)
    everyone = {
        "KeyConditionExpression": "PK = :org",
        "ExpressionAttributeValues": {":org": ORG},
    }
    filtered = {
        "KeyConditionExpression": "PK = :org",
        "FilterExpression": "#state = :state",
        "ExpressionAttributeNames": {"#state": "state"},
        "ExpressionAttributeValues": ACTIVE,
    }
    print(f"{'question':<26}{'kept':>6}{'read':>6}{'read units':>12}{'wasted bytes':>14}")
    show(emu, "all members", **everyone)
    show(emu, "all, names only", **everyone, ProjectionExpression="SK")
    show(emu, "all, counted", **everyone, Select="COUNT")
    show(emu, "active, by a filter", **filtered)
    show(emu, "active, filter, Limit 20", **filtered, Limit=20)
    show(
        emu,
        "active, by the sort key",
        KeyConditionExpression="PK = :org AND begins_with(SK, :state)",
        ExpressionAttributeValues={":org": f"{ORG}/by-state", ":state": "STATUS#active#"},
    )
    print("Limit counts what is read, before the filter: one active member in the first twenty.")


if __name__ == "__main__":
    main()
